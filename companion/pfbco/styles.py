"""Line styles of the learners in every figure, and the curves of the overview."""

from ..styles import Cover, Style

STYLES = {
    "PF": Style("vermilion", "o", emphasis=True),
    # drawn in front, because it often coincides with PF's curve
    "PF, sham": Style("black", "x", linestyle="--", label="PF, sign-flipped feedback", zorder=4),
    "PF, practical": Style("vermilion", "d", linestyle="-."),
    "PF, warm": Style("vermilion", "*", label="PF, practical, warm"),
    "PF, vertex": Style("vermilion", "<", linestyle=":", label="PF, vertex at ties"),
    "FKM": Style("blue", "s"),
    "FKM 2005": Style("blue", "h", linestyle=":", label="FKM, 2005"),
    "FKM, sham": Style("blue", "X", linestyle="--", label="FKM, sign-flipped feedback"),
    "FKM, M=1": Style("blue", "p", linestyle="-.", label="FKM, $M=1$"),
    "Unregularized": Style("orange", "^"),
    "StochOCG": Style("green", "D"),
    "Leader": Style("sky", "v", label="exact leader"),
    "Block": Style("purple", "P", label="block variant"),
}
COVER = Cover(
    "figure_1a",
    "c=0.1",
    "one loss per round",
    ("PF", "PF, sham", "FKM", "Unregularized"),
    ylabel="average loss",
)
