"""Line styles of the learners in every figure, and the curves of the overview."""

from ..styles import Cover, Style

STYLES = {
    "MASTER": Style("vermilion", "o", emphasis=True),
    "MASTERw": Style("vermilion", "d", linestyle="-.", label="MASTER, warm"),
    "MALG": Style("orange", "^", label="MALG, no tests"),
    "Algorithm 2": Style("black", "s"),
    "Algorithm 2, oracle": Style(
        "black", "s", linestyle="--", label="Algorithm 2, oracle restarts"
    ),
    "EGS": Style("sky", "v"),
    "EGS, oracle": Style("sky", "v", linestyle="--", label="EGS, oracle restarts"),
    "KW": Style("blue", "P", label="Kiefer-Wolfowitz"),
    "KW, oracle": Style("blue", "P", linestyle="--", label="Kiefer-Wolfowitz, oracle restarts"),
    "KWtrack": Style("blue", "X", linestyle=":", label="Kiefer-Wolfowitz, constant gain"),
    "SPSA": Style("green", "X", linestyle=":", label="SPSA, constant gain"),
    "BoB": Style("purple", "D", label="bandit over bandit"),
    "GLR": Style("green", "*", label="GLR restarts"),
    "D-LS": Style("purple", "h", linestyle="-.", label="discounted least squares, W = 64"),
    "D-LS 256": Style("purple", "8", linestyle="-.", label="discounted, W = 256"),
    "D-LS 1024": Style("purple", "H", linestyle="-.", label="discounted, W = 1024"),
    "D-LS, oracle": Style("purple", "h", linestyle="--", label="discounted, oracle W"),
    "SW-LS": Style("purple", "p", linestyle=":", label="sliding least squares, W = 64"),
    "Exp3-IX": Style("sky", "<"),
    "full information": Style("gray", linestyle="-", zorder=1),
    "static baseline": Style("gray", linestyle=":", zorder=1),
}
COVER = Cover(
    "regret_against_T",
    "abrupt5",
    "four abrupt changes",
    ("MASTER", "MASTERw", "MALG", "BoB", "Algorithm 2"),
    xlabel="horizon T (rounds)",
    log=True,
)
