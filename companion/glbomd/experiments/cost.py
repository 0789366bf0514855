"""What a round costs, and how regret and work grow: timed runs, SLSQP's seconds, who overtakes whom, rare rewards.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments and Table 1.
Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
"""

import math

import numpy as np
from scipy.special import gammainc

from paperlib.core.contracts import Learner, Problem
from paperlib.core.trace import Trace
from paperlib.glbomd.problems import SphereArms

from ...store.results import once
from ...store.seconds import Run, Seconds
from .settings import paper_learners, rules
from .slsqp import time_decisions

GROWTH = {"width": 100, "first": 300}  # bins and first round of a growth of seconds


def methods(
    problem: SphereArms, leave_out: tuple[str, ...] = ()
) -> dict[Run, tuple[Learner, Problem]]:
    """The paper's methods on a problem, by name and S, as ``store.time_runs`` wants them."""
    left = ("greedy", *rules(), *leave_out)
    learners = {name: x for name, x in paper_learners(problem).items() if name not in left}
    return {(name, problem.norm): (learner, problem) for name, learner in learners.items()}


def slsqp_seconds(
    runs: dict[Run, tuple[Learner, Problem]], horizon: int, every: int, repetitions: int
) -> Seconds:
    """Seconds of each ``every``-th round with SLSQP, see ``slsqp.time_decisions``; kept."""
    known = {"runs": list(runs.values()), "horizon": horizon, "every": every}
    found = once("slsqp_seconds", time_decisions, **known, repetitions=repetitions)
    return Seconds(dict(zip(runs, found["seconds"])), dict.fromkeys(runs, 1))


def crossing(slower_start: Trace, other: Trace) -> int | None:
    """Return the first recorded round after which the mean regret of ``slower_start`` stays below the regret of ``other``.

    None if this never happens.
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
