"""Regret against a fixed point: on stationary problems, and on arbitrarily changing sequences as in the paper's conclusion.

The runs are of Algorithm 2 and of learners with diminishing steps. They show the effect of units and of wrong bounds, and the
dispersion of regret. The stationary regret, Eq. (26), is relative to the best fixed point in hindsight. For quadratics with one
curvature this point is the mean of all maximizers.
Letters: R trials, T rounds, T' recorded rounds.
"""

import numpy as np
import torch

from paperlib import stats
from paperlib.core.contracts import Learner
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.model.task import Task
from paperlib.nsbco.problems.paths import Alternation
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ..proofs.ascent import printed_first

TAIL = 0.95  # upper quantile; it is large if the regret is dispersed

# The paper's units, h = 1 and N_0 = 16, with two kinds of noise; L = 2, sigma = 1 and c_0 = 1/2 as elsewhere.
LITERAL = GradientAscent(h=1.0)
# starts at the edge of (1 - c_0) X, where the first query is farthest from the center
AT_THE_EDGE = GradientAscent(h=1.0, start=(0.5, 0.0))
# Algorithm 2 with N_0 as printed in Lemma 3.1, from the edge of X^o(c_0), where theta may be
PRINTED = GradientAscent(h=1.0, N0=printed_first(0.5), start=(0.5, 0.0))
LOUD = {
    "h = 1, noise ±0.375": QuadraticDrift(amplitude=0.375),
    "h = 1, coin flips": QuadraticDrift(noise="bernoulli"),
}


def octaves(last: int) -> list[int]:
    """Return rounds 1, ..., 2^last, four per octave, evenly spaced on a log axis and including the powers of two."""
    return sorted({round(2 ** (i / 4)) for i in range(4 * last + 1)})


def slope(trace: Trace, first: int, last: int) -> stats.Interval:
    """Return the log-log slope of mean regret at the powers of two from 2^first to 2^last."""
    at = trace.thin([2**k for k in range(first, last + 1)])
    return stats.growth(at.rounds, at["regret"], 2**first)


def spread(regret: np.ndarray) -> np.ndarray:
    """Return the ratio of the 95 % quantile to the median, along the first axis. ``regret``: R x ...."""
    return np.quantile(regret, TAIL, axis=0) / np.median(regret, axis=0)


def spread_ratio(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Return the ratio of ``spread`` of a to ``spread`` of b, with a bootstrap over paired trials. ``a``, ``b``: R each."""
    rows = np.random.default_rng(0).integers(0, len(a), (stats.RESAMPLES, len(a)))
    ratios = spread(a[rows].T) / spread(b[rows].T)
    low, high = np.quantile(ratios, [(1 - stats.LEVEL) / 2, (1 + stats.LEVEL) / 2])
    method = f"ratio of spreads, {100 * stats.LEVEL:g} % bootstrap over trials together"
    return stats.Interval(float(spread(a) / spread(b)), float(low), float(high), len(a), method)


def optimistic_in(worst: np.ndarray, bonus: float) -> stats.Interval:
    """Return the fraction of trials where r-bar with b_0 = ``bonus`` is never below f*. ``worst``: R, largest ``Shortfall``."""
    return stats.proportion(int((worst <= bonus).sum()), len(worst))


# Queries with the printed N_0 -------------------------------------------------------------------------------


def task_of(problem: QuadraticDrift) -> Task:
    """Return the task that a problem passes to a learner."""
    instance = problem.init(1, 2, Streams(0, [0]).at(-1), dtype=torch.float64)
    return problem.context(instance, 0)


def first_query(learner: Learner, problem: QuadraticDrift) -> np.ndarray:
    """Return the first query of a learner without a check of its settings, d numbers."""
    task, draw = task_of(problem), Streams(0, [0])
    state = learner.init(1, task, None, draw.at(-1), dtype=torch.float64)
    return learner.select(state, task, draw.at(0))[0][0].numpy()


# Arbitrarily changing sequences ------------------------------------------------------------------------------

PERIOD = 64  # rounds between two jumps of the fast sequence


# Problems by horizon. Fast: the maximizer jumps between e_1 / 2 and -e_1 / 2 every 64 rounds. The best fixed point is 0, where learners
# start. Slow: it jumps once, after three quarters of the rounds. The best fixed point is e_1 / 4.
SEQUENCES = {
    "fast": lambda T: QuadraticDrift(Alternation(PERIOD)),
    "slow": lambda T: QuadraticDrift(Alternation(3 * T // 4)),
}


def in_hindsight(problem: QuadraticDrift, horizon: int) -> float:
    """Return the dynamic regret of the best fixed point after T rounds.

    The path must be the same in all trials.
    """
    theta = problem.centers(problem.part([0], horizon), np.arange(horizon), horizon)[0]  # T x d
    return float((problem.diagonal * (theta - theta.mean(0)) ** 2).sum() / 2)


def stationary_regret(regret: np.ndarray, problem: QuadraticDrift, horizon: int) -> np.ndarray:
    """Return Eq. (26) of each trial, R, from the dynamic regret R_T, R."""
    return regret - in_hindsight(problem, horizon)
