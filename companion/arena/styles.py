"""Line styles of the learners in the figures of the arena, where learners of several papers share a panel."""

from ..styles import Style

ARENA = {  # styles that differ from those in the paper's own figures, so that the lines of one panel differ
    "OFUL": Style("blue", "o"),
    "linear Thompson": Style("blue", "v", "--"),
    "GLB-OMD": Style("vermilion", "o"),
    "OFUGLB": Style("vermilion", "^", "--"),
    "GP-UCB": Style("orange", "s", "--", "GP-UCB"),
    "BKB": Style("orange", "D"),
    "Laplace Thompson": Style("green", "h", "--"),
    "Beta Thompson": Style("green", "*", ":"),
    "UCB1": Style("purple", "P"),
    "MASTER": Style("sky", "X"),
    "PF": Style("vermilion", "o"),
    "FKM": Style("vermilion", "^", "--"),
    "GLR": Style("green", "*"),
    "KW": Style("blue", "P", label="Kiefer-Wolfowitz"),
    "SPSA": Style("blue", "v", "--"),
    "D-LS": Style("purple", "h", "-.", "discounted LS"),
    "GO-UCB": Style("orange", "D"),
    "TuRBO": Style("orange", "s", "--"),
    "explore-then-commit": Style("black", "d", ":"),
    "MABWiser LinUCB": Style("black", "o"),
    "MABWiser LinTS": Style("black", "v", "--"),
    "bayesianbandits": Style("black", "h", ":"),
    "Vowpal Wabbit": Style("black", "D", "-."),
    "Optuna TPE": Style("black", "o"),
    "Optuna CmaEs": Style("black", "v", "--", "Optuna CMA-ES"),
    "Optuna GP": Style("black", "s", ":"),
}
