"""How regret and work grow over the rounds: who overtakes whom and when, steps, rare rewards.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments and Table 1.
"""

import math

import numpy as np
from scipy.special import gammainc

from paperlib.core.trace import Trace
from paperlib.glbomd.problems import SphereArms


def crossing(slower_start: Trace, other: Trace) -> int | None:
    """First recorded round from which the mean regret of the first stays below the other's.

    None where it never does.
    """
    n = min(len(slower_start["regret"]), len(other["regret"]))
    below = slower_start["regret"][:n].mean(0) < other["regret"][:n].mean(0)
    above = np.flatnonzero(~below)
    first = above[-1] + 1 if len(above) else 0
    return int(slower_start.rounds[first]) if first < len(below) else None


def ecolog_iterations(norm_bound: float, t: int) -> float:
    """Gradient steps of ECOLog's public code in round t: (4/3) ceil((9/4 + S/8) ln(S t))."""
    return 4 / 3 * math.ceil((9 / 4 + norm_bound / 8) * math.log(norm_bound * t))


def exceedance(problem: SphereArms, bound: int, horizon: int) -> float:
    """P(a Poisson reward of some round's best arm exceeds ``bound`` within the horizon)."""
    means = problem.best_means(horizon)
    log_below = np.log1p(-gammainc(bound + 1, means))  # P(reward <= bound) = 1 - P(bound + 1, mean)
    return float(-np.expm1(log_below.sum()))
