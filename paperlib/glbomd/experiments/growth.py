"""The settings of the paper's experiments that several notebooks share: which learners, with which constants.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments and Appendix F. What the paper leaves open is chosen here
and said in the docstrings.
"""

import math

import numpy as np
from scipy.special import gammainc

from ..problems.sphere import SphereArms


def crossing(slower_start, other) -> int | None:
    """First recorded round from which the mean regret of the first stays below the other's; None if it never does."""
    n = min(len(slower_start["regret"]), len(other["regret"]))
    below = slower_start["regret"][:n].mean(0) < other["regret"][:n].mean(0)
    if not below[-1]:
        return None
    above = np.flatnonzero(~below)
    return int(slower_start.rounds[above[-1] + 1]) if len(above) else int(slower_start.rounds[0])


def ecolog_iterations(norm_bound: float, t: int) -> float:
    """Gradient steps of ECOLog's public code in round t: (4/3) ceil((9/4 + S/8) ln(S t)), which grows like log t."""
    return 4 / 3 * math.ceil((9 / 4 + norm_bound / 8) * math.log(norm_bound * t))


def exceedance(problem: SphereArms, bound: int, horizon: int) -> float:
    """P(a Poisson reward of some round's best arm exceeds ``bound`` within the horizon), from the model."""
    means = problem.best_means(horizon)
    log_below = np.log1p(-gammainc(bound + 1, means))  # P(reward <= bound) = 1 - P(bound + 1, mean)
    return float(-np.expm1(log_below.sum()))
