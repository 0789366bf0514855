"""Line styles of the learners, the same in every figure, and the curves of the overview figure."""

from ..styles import Cover, Style

STYLES = {
    "GO-UCB": Style("vermilion", "o", emphasis=True, label="GO-UCB, paper settings"),
    "GO-UCB, practical": Style("vermilion", "D", linestyle="--"),
    "GO-UCB, Algorithm 1": Style("vermilion", "s", linestyle="-."),
    "GO-UCB, uniform start": Style("vermilion", "x", linestyle=":"),
    "GO-UCB, no trust region": Style("orange", "d", linestyle="-."),
    "GP-UCB, raw": Style("green", "^"),
    "GP-EI, raw": Style("blue", "v"),
    "GP-PI, raw": Style("sky", "<"),
    "GP-EI, scaled": Style("blue", "v", linestyle=":"),
    "GP-EI, modern": Style("blue", "P", linestyle="--"),
    "GP-PI, modern": Style("sky", "X", linestyle="--"),
    "GP-UCB, modern": Style("green", "*", linestyle="--"),
    "GP-UCB, optimize_acqf": Style("green", "^", linestyle=":"),
    "GP-EI, optimize_acqf": Style("blue", "v", linestyle="-."),
    "GP-PI, optimize_acqf": Style("sky", "<", linestyle=":"),
    "qLogNEI, modern": Style("orange", "p"),
    "MAP-SAAS": Style("green", "h", linestyle=":"),
    "TuRBO-1": Style("purple", ">"),
    "TPE": Style("black", "1"),
    "scikit-optimize": Style("black", "2", linestyle="--"),
    "BoTorch, default": Style("black", "s", linestyle="-."),
    "repeat-best": Style("gray", linestyle="--", zorder=1),
}
COVER = Cover(
    "figure_2b",
    "the paper's methods/cumulative",
    "f2 in 20 dimensions",
    ("GO-UCB", "GP-EI, raw", "TuRBO-1", "repeat-best"),
)
