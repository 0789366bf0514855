"""Algorithm 2 with restarts where the observed rewards have changed: a likelihood ratio test on pairs of rewards.

Ours, of a known kind: the generalized likelihood ratio for a change of a Gaussian mean (Willsky & Jones 1976), at dyadic
places only.
Letters: R trials, d dimensions, P pairs so far, n pairs of the epoch so far, N pairs of the epoch before it.
"""

import math
from dataclasses import field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    Array,
    Rows,
    any_on_host,
    any_or_unknown,
    arange_like,
    as_numpy_if_cpu,
    as_tensors,
    log,
    per_trial_column,
    per_trial_values,
)
from ...core.streams import Draw
from ...core.trees import tree_where
from ...core.validation import raise_invalid
from ...learners.wrapper import Wrapper, count_restarts, empty_log, log_restart
from ..model.task import Task
from .ascent import AscentState as Ascent
from .ascent import GradientAscent


class GLRState(NamedTuple):
    """Algorithm 2's state, and the means of the pairs of its epoch and of the epoch before."""

    base: Ascent
    up: Tensor  # R, y_+ of a pair that is not complete
    sums: Rows  # R x (P + 1), sums of the means of the first 0, 1, ..., P pairs of all epochs
    first: Tensor  # R, pairs before this epoch; no integer's type, whose powers torch rounds
    before: Tensor  # R, their sum
    pairs: Tensor  # R, N; 0 in the first epoch after a restart
    low: Tensor  # R, the least mean that this epoch can have if nothing has changed since the epoch before
    high: Tensor  # R, the largest
    restarts: Tensor  # R int64
    log: Tensor  # R x LOGGED int64, rounds heard when a restart came
    rounds: int  # rounds heard


EPOCH = ("first", "before", "pairs", "low", "high")  # what the state stores of epochs


@frozen_dataclass
class GLR(Wrapper):
    """Algorithm 2, restarted when the last k pair means of an epoch differ from those before, for a k = 1, 2, 4, ....

    A pair's mean (y_+ + y_-) / 2 has mean f(z) up to the curvature, whatever the coordinate. The alarm: k m / (k + m) times
    the squared difference of two means over 2 v exceeds ln(3 n^{3/2} / delta). One is the mean of the last k of the epoch's
    n pairs. The other is the mean of its m = n - k pairs before, or of the m = N pairs of the epoch before. z moves between
    two epochs, therefore the second difference counts only where it leaves the range that ``_shift`` allows for that step.
    Without the second comparison a change just before an epoch's end is missed: the next epoch, 16 times as long with
    gamma = 1/2, has no pair from before the change.

    All epochs are of even length, therefore pairs end in the same rounds in all trials, and their sums fit one history.
    Memory is 8 bytes per pair and trial, and a pair costs O(log P) comparisons.

    Attributes:
        base: Algorithm 2.
        variance: v > 0, of a pair's mean: a^2 / 6 where the noise is uniform on [-a, a], a^2 / 2 where it is +-a, at most 1/2
            for answers in [-1, 1]. A number or one a trial.
        delta: in (0, 1], at most about the probability of a false alarm in an epoch.

    Raises:
        ValueError: a value out of range, or another base.
    """

    base: GradientAscent = field(default_factory=GradientAscent)
    variance: float | Tensor = fields.positive(0.1**2 / 6, by_trial=True)
    delta: float = fields.probability(0.05)

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.base, GradientAscent):
            raise_invalid("base", self.base, "a GradientAscent, whose epochs the test knows")

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> GLRState:
        """Before the first pair; the horizon is not used."""
        zero = torch.zeros(trials, **tkwargs)
        none, log = empty_log(trials, device=zero.device)
        base = self.base.init(trials, task, None, draw, **tkwargs)
        return GLRState(base, zero, Rows.of(zero[:, None]), *[zero] * 5, none, log, 0)

    def select(self, state: GLRState, task: Task, draw: Draw) -> tuple[Tensor, GLRState]:
        """Algorithm 2's query, R x d."""
        action, base = self.base.select(state.base, task, draw)
        return action, state._replace(base=base)

    def update(
        self, state: GLRState, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> GLRState:
        """Update Algorithm 2; after each pair test, and restart Algorithm 2 where the test alarms. ``feedback``: R."""
        base = self.base.update(state.base, task, action, feedback, draw)
        rounds = state.rounds + 1
        if rounds % 2:
            return state._replace(base=base, up=feedback, rounds=rounds)
        up, y, *epoch = as_numpy_if_cpu(
            state.up, feedback, *(getattr(state, name) for name in EPOCH)
        )
        sums, s, now = as_numpy_if_cpu(state.sums.view, state.base.s, base.s)
        total = sums[:, -1] + (up + y) / 2
        alarm = self._alarm(sums, total, *epoch)
        restarts, log = state.restarts, state.log
        over = alarm | (now != s)  # the next pair is the first of an epoch
        if any_or_unknown(over):
            xp = np if isinstance(over, np.ndarray) else torch
            first, before = epoch[:2]
            n, mean = rounds // 2 - first, (total - before) / (rounds // 2 - first)
            least, most = self._shift(task, state.base, base)
            # of the epoch that ended, see ``EPOCH``; N is 0 after an alarm
            ended = 0 * first + rounds // 2, total, n * ~alarm, mean + least, mean + most
            epoch = [xp.where(over, after, before) for after, before in zip(ended, epoch)]
        total, alarm, *epoch = as_tensors(total, alarm, *epoch)
        if any_on_host(alarm):
            base = tree_where(alarm, self.base.restart(base, task, None, draw), base)
            entry = torch.full_like(restarts, rounds)
            restarts, log = log_restart(restarts, log, entry, alarm)
        return GLRState(base, state.up, state.sums.append(total), *epoch, restarts, log, rounds)

    def _alarm(self, sums: Array, total: Array, first: Array, before: Array, *last: Array) -> Array:
        """Whether the mean of the epoch's last k pairs differs from one of the two before it, for any k = 1, 2, 4, ...; R bool.

        Args:
            sums: R x P, of the first 0, 1, ..., P - 1 pairs.
            total: R, of all P.
            first: R, pairs before this epoch.
            before: R, their sum.
            last: N, the least and the largest mean that the epoch before allows, R each.
        """
        P = sums.shape[1]
        k = 1 << arange_like(P.bit_length(), sums)
        n = (P - first)[:, None]
        past, rest = sums[:, P - k], n - k
        late = (total[:, None] - past) / k
        early = (past - before[:, None]) / rest.clip(min=1)
        N, low, high = (x[:, None] for x in last)
        beyond = late - late.clip(low, high)
        ratio = k * rest / n * (late - early) ** 2
        across = k * N / (k + N) * beyond**2
        level = 2 * per_trial_column(self.variance) * log(3 * n**1.5 / self.delta)
        return ((ratio > level) & (rest > 0) | (across > level) & (rest >= 0)).any(1)

    def _shift(self, task: Task, old: Ascent, new: Ascent) -> tuple[Array, Array]:
        """The least and the largest change of a pair's mean from one epoch to the next where f stands still, R each.

        With the step D = z_{s+1} - z_s, concavity and smoothness give <grad f, D> - L / 2 ||D||^2 <= f(z_{s+1}) - f(z_s) <=
        <grad f, D> - sigma / 2 ||D||^2. The estimate g is off by a Gaussian error of variance v / (delta_s^2 n_s) in each
        coordinate, and by (L - sigma) delta_s / 4 in each where f is not quadratic. A pair's mean lies below f(z) by
        sigma / 2 delta_s^2 to L / 2 delta_s^2.
        """
        z, moved, g, n, delta, width = as_numpy_if_cpu(
            old.z, new.z, new.g, old.n, old.delta, new.delta
        )
        sigma, L = as_numpy_if_cpu(task.concavity, task.smoothness)
        D, d = moved - z, z.shape[1]
        square = (D * D).sum(1)
        noise = (per_trial_values(self.variance) / n) ** 0.5 / delta
        error = (d**0.5 + (2 * math.log(1 / self.delta)) ** 0.5) * noise
        off = (error + d**0.5 * (L - sigma) * delta / 4) * square**0.5
        along = (g * D).sum(1)
        least = along - off - L / 2 * (square + width**2) + sigma / 2 * delta**2
        most = along + off - sigma / 2 * (square + width**2) + L / 2 * delta**2
        return least, most

    def spread(self, state: GLRState) -> tuple[Tensor, Tensor]:
        """The variance of a pair's mean by successive differences, and the least v that quiets the largest of them; R each.

        With D_i = P_i - P_{i-1} for pair means P_i, -D_i D_{i-1} has mean v for independent noise. A jump of f changes one
        difference alone and adds nothing. The second number is the v with which no outlier exceeds the level for two pairs by
        itself: heavy tails need it. At least four pairs.
        """
        D = state.sums.view.diff(dim=1).diff(dim=1)
        squares = -D[:, 1:] * D[:, :-1]
        return squares.mean(1), squares.amax(1) / (2 * math.log(3 * 2**1.5 / self.delta))

    def report(self, state: GLRState) -> dict[str, Tensor]:
        """``restarts``, and whether they ``overflow`` the log, R each."""
        return super().report(state) | count_restarts(state.restarts)
