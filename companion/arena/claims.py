"""Statements of ours about the arena, declared before any run at the sizes of the paper profile.

Known at that time: a run of 200 rounds with 10 trials, whose scales were chosen by 5 other trials (seed 0), and an earlier try in which
OFUL and BKB with a linear kernel had less regret than GLB-OMD with the constants of its theorem on logistic rewards, and more than
GLB-OMD with a tenth of its radius.

All learners of a problem receive the same noise. Unless a claim says otherwise, "less regret" is a ratio of mean final regrets
below 1, with a 95 % bootstrap interval over trials.
"""

from typing import NamedTuple

from ..verdicts import Claim, Finding

NOTEBOOK = "arena_1_arms"


class Comparison(NamedTuple):
    """Statement that the ratio of the mean final regrets of two learners is below a threshold."""

    id: str
    sentence: str
    track: str
    problem: str
    a: str
    b: str
    threshold: float = 1.0

    def claim(self) -> Claim:
        """Return the claim with its test."""
        test = f"{self.a} over {self.b}, {self.problem}, {self.track}: ratio of mean final regrets, 95 % bootstrap interval over trials"
        return Claim(self.id, "ours", self.sentence, test, "below", self.threshold, NOTEBOOK)


COMPARISONS = (
    Comparison(
        "arena.N1",
        "With the constants of the theorems and logistic rewards of fixed arms, OFUL has less regret than GLB-OMD, although its model is wrong",
        "theory",
        "logistic",
        "OFUL",
        "GLB-OMD",
    ),
    Comparison(
        "arena.N2",
        "With tuned scales and logistic rewards of fixed arms, GLB-OMD has less regret than OFUL, whose model is wrong",
        "tuned",
        "logistic",
        "GLB-OMD",
        "OFUL",
    ),
    Comparison(
        "arena.N3",
        "With the constants of the theorems and logistic rewards of fixed arms, OFUGLB has less regret than GLB-OMD",
        "theory",
        "logistic",
        "OFUGLB",
        "GLB-OMD",
    ),
    Comparison(
        "arena.N5.1d",
        "With tuned scales and a smooth function of one variable, BKB has at most 1.1 times the regret of GP-UCB",
        "tuned",
        "smooth, 1-d",
        "BKB",
        "GP-UCB",
        1.1,
    ),
    Comparison(
        "arena.N5.2d",
        "With tuned scales and a smooth function of two variables, BKB has at most 1.1 times the regret of GP-UCB",
        "tuned",
        "smooth, 2-d",
        "BKB",
        "GP-UCB",
        1.1,
    ),
    Comparison(
        "arena.N6",
        "With the constants of the theorems and arms without features, Beta Thompson sampling has less regret than UCB1",
        "theory",
        "no features",
        "Beta Thompson",
        "UCB1",
    ),
    Comparison(
        "arena.N7",
        "With linear rewards and fresh arms in every round, greedy play has less regret than OFUL with the constants of its theorem",
        "theory",
        "linear, fresh",
        "greedy",
        "OFUL",
    ),
    Comparison(
        "arena.N8",
        "With linear rewards and fixed arms, OFUL with a tuned scale has less regret than greedy play",
        "tuned",
        "linear",
        "OFUL",
        "greedy",
    ),
    Comparison(
        "arena.N9",
        "With linear rewards of 20 fixed arms in five dimensions and tuned scales, OFUL has less than half of the regret of UCB1, which does not use the features",
        "tuned",
        "linear",
        "OFUL",
        "UCB1",
        0.5,
    ),
    Comparison(
        "arena.N10",
        "With tuned scales and logistic rewards of fixed arms, OFUGLB has less regret than OFUL, whose model is wrong",
        "tuned",
        "logistic",
        "OFUGLB",
        "OFUL",
    ),
    Comparison(
        "arena.N11",
        "On the table of abalones, OFUL with a tuned scale has less regret than GP-UCB with a Gaussian kernel and a tuned scale",
        "tuned",
        "abalone",
        "OFUL",
        "GP-UCB",
    ),
)

CLAIMS = [
    *(each.claim() for each in COMPARISONS),
    Claim(
        "arena.N4",
        "ours",
        "With the constants of the theorems, MASTER around Exp3-IX has at least 0.95 times the regret of uniform play on fixed arms",
        "MASTER, fixed arms, theory: interquartile mean of the normalized regret, 95 % stratified bootstrap interval",
        "above",
        0.95,
        NOTEBOOK,
    ),
    Claim(
        "arena.N5",
        "ours",
        "With tuned scales and smooth functions, BKB has at most 1.1 times the regret of GP-UCB",
        "its parts",
        "parts",
        parts=("arena.N5.1d", "arena.N5.2d"),
    ),
]

FINDINGS: tuple[Finding, ...] = ()
