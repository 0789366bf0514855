"""Statements of ours about the arena, declared before any run at the sizes of the paper profile.

Known at that time, finite arms: a run of 200 rounds with 10 trials, whose scales were chosen by 5 other trials (seed 0), and an earlier
try in which OFUL and BKB with a linear kernel had less regret than GLB-OMD with the constants of its theorem on logistic rewards, and
more than GLB-OMD with a tenth of its radius; and a run of the other libraries of the same size, which had shown N12, and N13 for the
library's UCB. Convex sets: the track "theory" with 200 rounds and 10 trials, which had shown N15. N17 and N18 are rows of the
guide to choosing a learner; N22 follows the comparison of Optuna's samplers, where GPSampler was the best on smooth functions. Before
any result was read, the rounds of the paper profile with finite arms were halved to 1,000, because 2,000 rounds would take more than
two hours. A run of the finite arms with 10 trials of BKB, OFUGLB and the learners of other libraries was then read. It was repeated with
100 trials of BKB and OFUGLB and 30 of the other libraries, because 10 trials were too few; no statement or threshold was changed.
After their run the sentences of N19, N20 and N22 were completed by the number of choices.

All learners of a problem receive the same noise. Unless a claim says otherwise, "less regret" is a ratio of mean final regrets
below 1, with a 95 % bootstrap interval over trials.
"""

from collections.abc import Mapping
from typing import NamedTuple

from paperlib import stats

from ..study import Study
from ..verdicts import Claim, Finding, Verdict
from .field import Traces

ARMS, SETS = "arena_1_arms", "arena_2_continuous"


class Comparison(NamedTuple):
    """Statement that the ratio of the mean final regrets of two learners is below a threshold."""

    id: str
    sentence: str
    track: str
    problem: str
    a: str
    b: str
    threshold: float = 1.0
    notebook: str = ARMS

    def claim(self) -> Claim:
        """Return the claim with its test."""
        test = f"{self.a} over {self.b}, {self.problem}, {self.track}: ratio of mean final regrets, 95 % bootstrap interval over trials"
        return Claim(self.id, "ours", self.sentence, test, "below", self.threshold, self.notebook)


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
    Comparison(
        "arena.N12",
        "With linear rewards of fixed arms, LinUCB of the library MABWiser with its default settings has less regret than OFUL with the constants of its theorem",
        "theory",
        "linear",
        "MABWiser LinUCB",
        "OFUL",
    ),
    Comparison(
        "arena.N13",
        "With logistic rewards of fixed arms, Thompson sampling of the library bayesianbandits has less regret than GLB-OMD with the constants of its theorem",
        "theory",
        "logistic",
        "bayesianbandits",
        "GLB-OMD",
    ),
    Comparison(
        "arena.N14",
        "With the constants of the theorem and a linear function on the simplex, PF has at most 0.9 times the regret of a learner that stays at the center",
        "theory",
        "linear, simplex",
        "PF",
        "static baseline",
        0.9,
        SETS,
    ),
    *(
        Comparison(
            f"arena.N15.{path}",
            f"With a maximizer that {moves} and the constants of the theorems, a learner that stays at the center has less regret than MASTER",
            "theory",
            f"{path}, ball",
            "static baseline",
            "MASTER",
            notebook=SETS,
        )
        for path, moves in (("rotation", "rotates"), ("jumps", "jumps"))
    ),
    Comparison(
        "arena.N16",
        "With tuned scales and a quadratic function on the ball, FKM has less regret than PF",
        "tuned",
        "quadratic, ball",
        "FKM",
        "PF",
        notebook=SETS,
    ),
    Comparison(
        "arena.N17",
        "With tuned scales and a maximizer that rotates, discounted least squares has less regret than GLR",
        "tuned",
        "rotation, ball",
        "D-LS",
        "GLR",
        notebook=SETS,
    ),
    Comparison(
        "arena.N18",
        "With tuned scales and a maximizer that jumps, GLR has less regret than Kiefer-Wolfowitz",
        "tuned",
        "jumps, ball",
        "GLR",
        "KW",
        notebook=SETS,
    ),
    Comparison(
        "arena.N19",
        "With a tuned scale and a network that its model contains, GO-UCB has less regret than TuRBO, if both repeat their best point after 50 of 2,000 rounds",
        "tuned",
        "network",
        "GO-UCB",
        "TuRBO",
        notebook=SETS,
    ),
    Comparison(
        "arena.N20",
        "On Rastrigin's function, TuRBO has less regret than GO-UCB with a tuned scale, if both repeat their best point after 50 of 2,000 rounds",
        "tuned",
        "Rastrigin",
        "TuRBO",
        "GO-UCB",
        notebook=SETS,
    ),
    Comparison(
        "arena.N21",
        "With tuned scales and a linear function on the simplex, PF has less regret than a learner that stays at the center",
        "tuned",
        "linear, simplex",
        "PF",
        "static baseline",
        notebook=SETS,
    ),
    Comparison(
        "arena.N22",
        "On the Styblinski-Tang function, Optuna's GPSampler has less regret than TuRBO, if both repeat their best point after 50 of 2,000 rounds",
        "theory",
        "Styblinski-Tang",
        "Optuna GP",
        "TuRBO",
        notebook=SETS,
    ),
)

CLAIMS = [
    *(each.claim() for each in COMPARISONS),
    Claim(
        "arena.N4",
        "ours",
        "With the constants of the theorems, MASTER around Exp3-IX has at least 0.95 times the regret of uniform play on fixed arms, in the interquartile mean over the problems",
        "MASTER, fixed arms, theory: interquartile mean of the normalized regret, 95 % stratified bootstrap interval",
        "above",
        0.95,
        ARMS,
    ),
    Claim(
        "arena.N5",
        "ours",
        "With tuned scales and smooth functions, BKB has at most 1.1 times the regret of GP-UCB",
        "its parts",
        "parts",
        parts=("arena.N5.1d", "arena.N5.2d"),
    ),
    Claim(
        "arena.N15",
        "ours",
        "With the constants of the theorems, a learner that stays at the center has less regret than MASTER on paths that rotate or jump",
        "its parts",
        "parts",
        parts=("arena.N15.rotation", "arena.N15.jumps"),
    ),
]


def judge(study: Study, tracks: Mapping[str, Traces]) -> list[Verdict]:
    """Decide the comparisons of a notebook by the ratio of the mean final regrets over the common trials.

    ``tracks``: track -> problem -> learner -> trace.
    """
    found = []
    for each in COMPARISONS:
        if each.notebook != study.stem:
            continue
        traces = tracks[each.track].get(each.problem, {})
        if missing := [name for name in (each.a, each.b) if name not in traces]:
            reason = f"{missing[0]} did not play on {each.problem} in this run"
            found.append(study.not_run(each.id, reason))
        else:
            a, b = (traces[name].last() for name in (each.a, each.b))
            found.append(study.judge(each.id, stats.ratio(a, b, of="mean regret")))
    return found


FINDINGS: tuple[Finding | tuple[Finding, ...], ...] = (
    Finding(
        "On most problems with finite arms, the constants of the theorems explore too much for 1,000 rounds. With linear rewards and new arms in every round, greedy play has {N7} times OFUL's regret. With logistic rewards, Thompson sampling of the library bayesianbandits has {N13} times GLB-OMD's regret. MASTER around Exp3-IX plays nearly uniformly, with the constants of the theorems and with tuned thresholds of its tests: on fixed arms it has {N4} times the regret of uniform play (interquartile mean).",
        {"N7": "holds", "N13": "holds", "N4": "holds"},
    ),
    Finding(
        "In two runs of 30 trials with linear rewards of fixed arms, LinUCB of the library MABWiser has {N12} times the regret of OFUL with the constants of its theorem. A few trials have most of the variance, so 30 trials do not decide this comparison.",
        {"N12": "inconclusive"},
    ),
    Finding(
        "A right model need not give less regret in 1,000 rounds. With logistic rewards of fixed arms, OFUL, whose model is wrong, has {N1} times GLB-OMD's regret with the constants of the theorems. With tuned scales, GLB-OMD has {N2} times OFUL's regret.",
        {"N1": "holds", "N2": "fails"},
    ),
    Finding(
        "With tuned scales and linear rewards of fixed arms, OFUL has {N8} times the regret of greedy play. We expected at most half of the regret of UCB1, which does not use the features. The ratio of the means is {N9}, with a wide interval, and with other seeds OFUL has more regret than UCB1.",
        {"N8": "holds", "N9": "fails"},
    ),
    Finding(
        "Two runs with different seeds have different verdicts on OFUL against GP-UCB on the table of abalones, on BKB against GP-UCB with a smooth function of one variable, and on OFUGLB against OFUL with logistic rewards. Twenty trials choose the scales. Other trials can choose other scales, and our intervals do not contain this variation.",
        {"N11": "inconclusive", "N5.1d": "inconclusive", "N10": "inconclusive"},
    ),
    Finding(
        "With the constants of its theorem, PF hardly leaves the center of the simplex in 2,000 rounds: it has {N14} times the regret of a learner that stays there. If the maximizer rotates or jumps around the center, staying there has {N15.rotation} and {N15.jumps} times the regret of MASTER with the constants of its theorem.",
        {"N14": "fails", "N15.rotation": "holds", "N15.jumps": "holds"},
    ),
    Finding(
        "With one tuned scale, PF has {N21} times the regret of staying at the center on the simplex. On the ball, FKM has {N16} times PF's regret.",
        {"N21": "holds", "N16": "fails"},
    ),
    Finding(
        "With tuned scales and a maximizer that rotates, discounted least squares has {N17} times the regret of GLR. If it jumps four times, two runs with different seeds contradict each other on whether GLR, which detects changes, has less regret than Kiefer-Wolfowitz with a tuned constant step.",
        {"N17": "holds", "N18": "inconclusive"},
    ),
    Finding(
        "On Rastrigin's function TuRBO has {N20} times the regret of GO-UCB with a tuned scale. On the Styblinski-Tang function Optuna's GPSampler has {N22} times the regret of TuRBO. All three repeat their best point after 50 of 2,000 rounds.",
        {"N20": "holds", "N22": "holds"},
    ),
)
