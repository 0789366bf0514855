"""What the figures and the theory need of a run, as probes for ``play``.

A state is read by field names: those of Algorithm 2 (z, r, t) below any learner around it, those of ``Multiscale`` (active,
live, n, played, least, excess, heard, log) at its top. "Before" is the state that chose the round's point, so that z is the
center that was played from, and ``live_windows`` holds the windows that cover the round; tests come after the answer, so that what
they compare is made of both states.
A probe that holds a learner takes one whose settings are numbers.
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

# What was played ---------------------------------------------------------------------------------------------


# z, from which the round's query was made, R x d; of a ``Multiscale`` the active thread's
center = StateField("z", "before")


def distance_outside(seen: Round) -> Tensor:
    """Distance of the query from X and of the center from X^o(c_0), R x 2: 0 but for rounding."""
    task, z = seen.context, innermost_state(seen.before).z
    distance = lambda x, inside: torch.linalg.vector_norm(x - inside, dim=1)
    x = seen.action
    return torch.stack([distance(x, task.cset.project(x, 1.0)), distance(z, task.inside(z))], 1)


# What a learner believes -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimistic:
    """r-bar_t, R: the estimate of the best value, after the round's answer, of the thread that played.

    Attributes:
        learner: the one that is played, with ``optimistic``.
    """

    learner: Any

    def __call__(self, seen: Round) -> Tensor:
        return self.learner.optimistic(seen.after)


@dataclass(frozen=True)
class Shortfall:
    """sqrt(t) (f*_t - mean of the answers so far) of Algorithm 2 alone, R.

    r-bar_t with a bonus of b_0 is at least f*_t exactly while this is at most b_0; as ``Probe(Shortfall(problem), "max")`` it says
    so of all rounds at once.

    Attributes:
        problem: the one that is played.
    """

    problem: Any

    def __call__(self, seen: Round) -> Tensor:
        after = innermost_state(seen.after)
        t, r, best = as_numpy_if_cpu(after.t, after.r, self.problem.best(seen.instance, seen.t))
        return as_tensors(t**0.5 * (best - r / t))[0]


# The schedule ------------------------------------------------------------------------------------------------


def active_order(seen: Round) -> Tensor:
    """Order of the window whose thread plays, R."""
    return seen.before.active


def live_windows(seen: Round) -> Tensor:
    """Whether the window of order m that covers the round is scheduled, R x O."""
    return seen.before.live


# The tests ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TestStatistics:
    """What the tests compare, R x (3 + O): r-bar_t, U_t, the largest A_2 and for every order the largest A_1 with which a test fails.

    U_t is the least r-bar of the block, this round's among them, also where the round ends in a restart. Test 2's statistic is
    sqrt(t') times the mean of r-bar - y over the block's t' rounds. Test 1's is sqrt(2^m) (mean over the window - U_t) for the
    scheduled windows that end in this round, -inf for others. As ``Probe(..., "max")`` on a run without tests both say of all
    thresholds at once which have no false alarm, because until the first restart they do not change the points that are played.

    Attributes:
        learner: the ``Multiscale`` that is played.
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
        # + 0.0: in the sums' type, for of whole numbers torch takes a root in float32
        second = (excess + bar - y) / (rounds + 0.0 * y) ** 0.5
        length = (1 << m) + 0.0 * y[:1]
        mean = ((heard + y)[:, None] - opened) / length
        ends = live & ((rounds[:, None] & ((1 << m) - 1)) == 0)
        first = xp.where(ends, (mean - least[:, None]) * length**0.5, -math.inf)
        join = np.concatenate if xp is np else torch.cat
        return as_tensors(join([xp.stack([bar, least, second], 1), first], 1))[0]


def restarts(seen: Round) -> Tensor:
    """How many restarts there were, this round's among them, R."""
    return seen.after.restarts


def _log(seen: Round) -> Tensor:
    return seen.after.log


# the first 64 restarts, R x 64 x 3: rounds heard, test 1 or 2, and 1 + the order of Test 1's window, 0 for Test 2
LOG = Probe(_log, "final")
