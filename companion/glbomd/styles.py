"""Line styles of the learners in every figure, and the curves of the overview."""

from ..styles import Cover, Style

STYLES = {
    "GLB-OMD": Style("vermilion", "o", emphasis=True),
    "GLM-UCB": Style("purple", "v"),
    "GLOC": Style("orange", "s"),
    "RS-GLinCB": Style("sky", "D"),
    "OFUGLB": Style("blue", "^"),
    "OFULog-r": Style("green", "P"),
    "ECOLog": Style("black", "X"),
    "OFUL-MLogB": Style("black", "<", linestyle="--"),
    "GLB-OMD, theory": Style(
        "vermilion", "<", linestyle="--", label="GLB-OMD, theory's $\\lambda$"
    ),
    "GLB-OMD, free": Style("vermilion", ">", linestyle="-.", label="GLB-OMD, free of d"),
    "GLB-OMD, sharp": Style("vermilion", "d", linestyle=":", label="GLB-OMD, sharp $\\lambda$"),
    "GLB-OMD, scale .1": Style(
        "vermilion", "p", linestyle="--", label="GLB-OMD, radius $\\times$ 0.1"
    ),
    "Beta Thompson": Style("gray", "*", linestyle="-"),
    "UCB1": Style("gray", "1", linestyle="-"),
    "Laplace Thompson": Style("gray", "h", linestyle="-"),
}
COVER = Cover(
    "figure_1",
    "regret S=3",
    "logistic rewards",
    ("GLB-OMD", "OFUGLB", "ECOLog", "GLOC", "RS-GLinCB"),
)
