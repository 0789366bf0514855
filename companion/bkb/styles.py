"""Line styles of the learners in every figure, and the curves of the overview."""

from ..styles import Cover, Style

STYLES = {
    "BKB": Style("vermilion", "o", emphasis=True),
    "BKB 1": Style("vermilion", "<", linestyle=":", label="BKB, $\\bar q=1$"),
    "BKB 2": Style("vermilion", ">", linestyle="-.", label="BKB, $\\bar q=2$"),
    "BKB 3": Style("vermilion", "d", linestyle="--", label="BKB, $\\bar q=3$"),
    "BKB 10": Style("vermilion", "p", linestyle="-", label="BKB, $\\bar q=10$"),
    "BKB, arms": Style("orange", "s", linestyle="--", label="BKB, one sample per arm"),
    "BKB, incremental": Style("orange", "^", linestyle="-."),
    "LazyBKB": Style("orange", "P"),
    "ContextualBKB": Style("orange", "X", linestyle=":"),
    "GP-UCB": Style("blue", "^", label="exact GP-UCB"),
    "GP-UCB, unique": Style("blue", "v", linestyle="--", label="exact, unique arms"),
    "GP-UCB, naive": Style("blue", "X", linestyle=":", label="exact, refitted"),
    "SoR": Style("purple", "v", label="SoR, adaptive"),
    "SoR, fixed": Style("purple", "h", linestyle=":", label="SoR, 20 fixed"),
    "DTC, fixed": Style("sky", "D", label="DTC, 20 fixed"),
    "RFF 20": Style("green", "1", linestyle=":"),
    "RFF 30": Style("green", "2", linestyle="-."),
    "RFF 50": Style("green", "3", linestyle="--"),
    "RFF 100": Style("green", "*"),
    "RFF 200": Style("green", "4", linestyle="-"),
    "QFF 25": Style("green", "p", linestyle="-."),
    "QFF 40": Style("green", "d", linestyle="--"),
    "QFF 80": Style("green", "h", linestyle="-."),
    "OFUL, ridge": Style("blue", "o", label="OFUL"),
    "CBRAP 6": Style("green", "s", linestyle="--"),
    "CBRAP 15": Style("green", "D"),
    "SOFUL 6": Style("black", "X", linestyle="--"),
    "SOFUL 15": Style("black", "P"),
}
COVER = Cover(
    "regret_parity",
    "regret, one dimension",
    "smooth function on many arms",
    ("GP-UCB", "BKB 1", "BKB 2", "BKB 3"),
)
