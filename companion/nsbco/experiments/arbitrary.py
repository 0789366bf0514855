"""Stationary regret on sequences that change arbitrarily, as the paper's conclusion has it.

The stationary regret, Eq. (26), compares with the best fixed point in hindsight. For quadratics of one curvature that point is
the mean of all maximizers.
Letters: R trials, T rounds.
"""

import numpy as np
import torch

from paperlib import stats
from paperlib.core.streams import Streams
from paperlib.nsbco.problems.paths import Alternation
from paperlib.nsbco.problems.quadratic import QuadraticDrift

PERIOD = 64  # rounds between two jumps of the fast sequence


# By horizon. Fast: the maximizer jumps between e_1 / 2 and -e_1 / 2 every 64 rounds. The best fixed point is 0, where learners
# start. Slow: it jumps once, after three quarters of the rounds. The best fixed point is e_1 / 4.
SEQUENCES = {
    "fast": lambda T: QuadraticDrift(Alternation(PERIOD)),
    "slow": lambda T: QuadraticDrift(Alternation(3 * T // 4)),
}


def in_hindsight(problem: QuadraticDrift, horizon: int) -> float:
    """The dynamic regret of the best fixed point after T rounds.

    The path must be the same in all trials.
    """
    world = problem.init(1, horizon, Streams(0, range(1)).at(-1), dtype=torch.float64)
    theta = problem.centers(world.path, np.arange(horizon), horizon)[0]  # T x d
    return float((problem.diagonal * (theta - theta.mean(0)) ** 2).sum() / 2)


def stationary_regret(regret: np.ndarray, problem: QuadraticDrift, horizon: int) -> np.ndarray:
    """Eq. (26) of each trial, R, from the dynamic regret R_T, R."""
    return np.asarray(regret, float) - in_hindsight(problem, horizon)


def slope(regrets: dict[int, np.ndarray]) -> stats.Interval:
    """Log-log slope in T of the mean stationary regret, bootstrap over trials.

    ``regrets``: horizon T -> stationary regret, R each.
    """
    horizons = sorted(regrets)
    curves = np.stack([regrets[T] for T in horizons], 1)
    return stats.growth(horizons, curves, horizons[0], resamples=2000)
