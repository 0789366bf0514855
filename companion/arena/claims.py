"""Statements of ours about the arena, declared before any run at the sizes of the paper profile.

Known at that time: a run of 200 rounds with 10 trials, whose scales were chosen by 5 other trials (seed 0), and an earlier try in which
OFUL and BKB with a linear kernel had less regret than GLB-OMD with the constants of its theorem on logistic rewards, and more than
GLB-OMD with a tenth of its radius.

All learners of a problem receive the same noise. Unless a claim says otherwise, "less regret" is a ratio of mean final regrets
below 1, with a 95 % bootstrap interval over trials.
"""

from ..verdicts import Claim, Finding

NOTEBOOK = "arena_1_arms"


def _ratio(id: str, sentence: str, a: str, b: str, where: str, threshold: float = 1.0) -> Claim:
    """Return the claim that the ratio of the mean regrets of a and b is below a threshold."""
    test = (
        f"{a} over {b}, {where}: ratio of mean final regrets, 95 % bootstrap interval over trials"
    )
    return Claim(f"arena.{id}", "ours", sentence, test, "below", threshold, NOTEBOOK)


CLAIMS = [
    _ratio(
        "N1",
        "With the constants of the theorems and logistic rewards of fixed arms, OFUL has less regret than GLB-OMD, although its model is wrong",
        "OFUL",
        "GLB-OMD",
        "logistic, theory",
    ),
    _ratio(
        "N2",
        "With tuned scales and logistic rewards of fixed arms, GLB-OMD has less regret than OFUL, whose model is wrong",
        "GLB-OMD",
        "OFUL",
        "logistic, tuned",
    ),
    _ratio(
        "N3",
        "With the constants of the theorems and logistic rewards of fixed arms, OFUGLB has less regret than GLB-OMD",
        "OFUGLB",
        "GLB-OMD",
        "logistic, theory",
    ),
    Claim(
        "arena.N4",
        "ours",
        "With the constants of the theorems, MASTER around Exp3-IX has at least 0.95 times the regret of uniform play on fixed arms",
        "MASTER, fixed arms, theory: interquartile mean of the normalized regret, 95 % stratified bootstrap interval",
        "above",
        0.95,
        NOTEBOOK,
    ),
    _ratio(
        "N5.1d",
        "With tuned scales and a smooth function of one variable, BKB has at most 1.1 times the regret of GP-UCB",
        "BKB",
        "GP-UCB",
        "smooth, 1-d, tuned",
        1.1,
    ),
    _ratio(
        "N5.2d",
        "With tuned scales and a smooth function of two variables, BKB has at most 1.1 times the regret of GP-UCB",
        "BKB",
        "GP-UCB",
        "smooth, 2-d, tuned",
        1.1,
    ),
    Claim(
        "arena.N5",
        "ours",
        "With tuned scales and smooth functions, BKB has at most 1.1 times the regret of GP-UCB",
        "its parts",
        "parts",
        parts=("arena.N5.1d", "arena.N5.2d"),
    ),
    _ratio(
        "N6",
        "With the constants of the theorems and arms without features, Beta Thompson sampling has less regret than UCB1",
        "Beta Thompson",
        "UCB1",
        "no features, theory",
    ),
    _ratio(
        "N7",
        "With linear rewards and fresh arms in every round, greedy play has less regret than OFUL with the constants of its theorem",
        "greedy",
        "OFUL",
        "linear, fresh, theory",
    ),
    _ratio(
        "N8",
        "With linear rewards and fixed arms, OFUL with a tuned scale has less regret than greedy play",
        "OFUL",
        "greedy",
        "linear, tuned",
    ),
    _ratio(
        "N9",
        "With linear rewards of 20 fixed arms in five dimensions and tuned scales, OFUL has less than half of the regret of UCB1, which does not use the features",
        "OFUL",
        "UCB1",
        "linear, tuned",
        0.5,
    ),
    _ratio(
        "N10",
        "With tuned scales and logistic rewards of fixed arms, OFUGLB has less regret than OFUL, whose model is wrong",
        "OFUGLB",
        "OFUL",
        "logistic, tuned",
    ),
    _ratio(
        "N11",
        "On the table of abalones, OFUL with a tuned scale has less regret than GP-UCB with a Gaussian kernel and a tuned scale",
        "OFUL",
        "GP-UCB",
        "abalone, tuned",
    ),
]

FINDINGS: tuple[Finding, ...] = ()
