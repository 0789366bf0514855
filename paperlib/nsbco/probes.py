"""Probes for ``play`` that record the internal quantities needed by the figures and the theory.

Probes read a state by its field names. The fields of Algorithm 2 (z, r, t) are in the innermost state; the fields of
``Multiscale`` (active, live, opened, n, played, least, excess, `heard`, log) are in the outermost one. "Before" is the state that chose the
round's point. Therefore z is the center of the query, and ``live_windows`` returns the windows that cover the round. The tests are
run after the reward is observed, therefore their statistics combine both states.
A probe with a learner needs one whose hyper-parameters are numbers, not per-trial tensors.
Shapes: R trials, d dimensions, O orders m = 0, 1, ... of windows of 2^m rounds.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.linalg import as_numpy_if_cpu, as_tensors
from ..core.rounds import Probe, Round, StateField, innermost_state

# Queries -----------------------------------------------------------------------------------------------------


# z, the center of the round's query, R x d; for ``Multiscale``, the center of the active thread
center = StateField("z", "before")


def distance_outside(seen: Round) -> Tensor:
    """Return the distances of the query from X and of the center from X^o(c_0), R x 2: 0 up to rounding."""
    task, z = seen.context, innermost_state(seen.before).z
    distance = lambda x, inside: torch.linalg.vector_norm(x - inside, dim=1)
    x = seen.action
    return torch.stack([distance(x, task.cset.project(x, 1.0)), distance(z, task.inside(z))], 1)


# Optimistic estimates ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimistic:
    """r-bar_t, R: the active thread's optimistic estimate of the best value, after the round's reward.

    Attributes:
        learner: the learner of the run, with a method ``optimistic``.
    """

    learner: Any

    def __call__(self, seen: Round) -> Tensor:
        return self.learner.optimistic(seen.after)


@dataclass(frozen=True)
class Shortfall:
    """sqrt(t) (f*_t - mean of the rewards so far) in a run of Algorithm 2 alone, R.

    r-bar_t with bonus b_0 is at least f*_t if and only if this number is at most b_0. For example,
    ``Probe(Shortfall(problem), "max")`` records the smallest b_0 with which this is true in all rounds.

    Attributes:
        problem: the problem of the run.
    """

    problem: Any

    def __call__(self, seen: Round) -> Tensor:
        after = innermost_state(seen.after)
        t, r, best = as_numpy_if_cpu(after.t, after.r, self.problem.best(seen.instance, seen.t))
        return as_tensors(t**0.5 * (best - r / t))[0]


# The schedule ------------------------------------------------------------------------------------------------


def active_order(seen: Round) -> Tensor:
    """Return the order of the window whose thread plays, R."""
    return seen.before.active


def live_windows(seen: Round) -> Tensor:
    """Return whether the window of order m that covers the round is scheduled, R x O bool."""
    return seen.before.live


# The tests ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TestStatistics:
    """Statistics of the tests, R x (3 + O): r-bar_t, U_t, the largest A_2 and for every order the largest A_1 with which a test triggers.

    U_t is the least r-bar of the block including this round, even if the round ends in a restart. The statistic of Test 2 is
    sqrt(t') times the mean of r-bar - y over the block's t' rounds. The statistic of Test 1 is sqrt(2^m) (mean over the
    window - U_t) for the scheduled windows that end in this round, and -inf for other windows.

    The thresholds do not change the queries before the first restart. Therefore one run without tests, recorded with
    ``Probe(..., "max")``, shows for all thresholds whether they cause a false alarm.

    Attributes:
        learner: the ``Multiscale`` of the run.
    """

    learner: Any

    def __call__(self, seen: Round) -> Tensor:
        before, bar = seen.before, self.learner.optimistic(seen.after)
        live, opened, played, least, excess, heard = as_numpy_if_cpu(
            *(getattr(before, x) for x in ("live", "opened", "played", "least", "excess", "heard"))
        )
        bar, y = as_numpy_if_cpu(bar, seen.feedback)
        xp = np if isinstance(live, np.ndarray) else torch
        m = np.arange(live.shape[1]) if xp is np else torch.arange(live.shape[1]).to(played)
        rounds = played + 1  # t'
        least = least.clip(max=bar)
        # "+ 0.0 * y" casts to the type of the sums, because torch computes roots of integers in float32
        second = (excess + bar - y) / (rounds + 0.0 * y) ** 0.5
        length = (1 << m) + 0.0 * y[:1]
        mean = ((heard + y)[:, None] - opened) / length
        ends = live & ((rounds[:, None] & ((1 << m) - 1)) == 0)
        first = xp.where(ends, (mean - least[:, None]) * length**0.5, -math.inf)
        join = np.concatenate if xp is np else torch.cat
        return as_tensors(join([xp.stack([bar, least, second], 1), first], 1))[0]


def restarts(seen: Round) -> Tensor:
    """Return the number of restarts up to and including this round, R."""
    return seen.after.restarts


def _log(seen: Round) -> Tensor:
    return seen.after.log


# the first 64 restarts, R x 64 x 3: observed rounds, test 1 or 2, and 1 + the order of Test 1's window (0 for Test 2)
LOG = Probe(_log, "final")
