"""Algorithm 2 with restarts triggered by a generalized likelihood ratio (GLR) test on pairs of rewards.

Our addition, of a known kind: the GLR test for a change of a Gaussian mean (Willsky & Jones 1976), with the change point
restricted to dyadic lags.
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
    """State of Algorithm 2, and the cumulative sums of the pair means."""

    base: Ascent
    up: Tensor  # R, y_+ of the incomplete pair
    sums: Rows  # R x (P + 1), sums of the first 0, 1, ..., P pair means, over all epochs
    first: Tensor  # R, pairs before this epoch; a float, because torch computes powers of integers in float32
    before: Tensor  # R, sum of their means
    pairs: Tensor  # R, N, pairs of the previous epoch; 0 in the first epoch after a restart
    low: Tensor  # R, the least mean of this epoch that is consistent with no change since the previous epoch
    high: Tensor  # R, the largest such mean
    restarts: Tensor  # R int64
    log: Tensor  # R x LOGGED int64, observed rounds at each restart
    rounds: int  # observed rounds


# fields of the state that change with the epoch
EPOCH = ("first", "before", "pairs", "low", "high")


@frozen_dataclass
class GLR(Wrapper):
    """Algorithm 2, restarted when the last k pair means of an epoch differ from the earlier ones, for some k = 1, 2, 4, ....

    The pair mean (y_+ + y_-) / 2 has expectation f(z) up to the curvature, for every coordinate. The test raises an alarm if
    k m / (k + m) times the squared difference of two means, divided by 2 v, exceeds ln(3 n^{3/2} / delta). The first is the mean
    of the last k of the epoch's n pairs. The second is the mean of the epoch's earlier m = n - k pairs, or of the m = N pairs of
    the previous epoch. z moves between two epochs, therefore the second comparison counts only the part of the difference
    outside the range that ``_shift`` allows for that step. Without this comparison a change just before an epoch's end is missed:
    the next epoch, 16 times as long with gamma = 1/2, has no pair from before the change.

    All epochs have even length. Therefore pairs end in the same rounds in all trials, and one history stores their sums.
    Memory is 8 bytes per pair and trial, and a pair costs O(log P) comparisons.

    Attributes:
        base: Algorithm 2.
        variance: v > 0, variance of a pair mean. It is a^2 / 6 for noise uniform on [-a, a], a^2 / 2 for noise +-a, and at most
            1/2 for rewards in [-1, 1]. A number or one per trial.
        delta: in (0, 1], approximate upper bound on the probability of a false alarm in an epoch.

    Raises:
        ValueError: a value out of range, or a base other than Algorithm 2.

    Examples:
        >>> from paperlib.nsbco import Abrupt, GLR, QuadraticDrift
        >>> from paperlib.play import play
        >>> play(GLR(), QuadraticDrift(Abrupt(2)), 800, 4)["report.restarts"].tolist()  # one change per trial
        [1, 1, 1, 1]
    """

    base: GradientAscent = field(default_factory=GradientAscent)
    variance: float | Tensor = fields.positive(0.1**2 / 6, by_trial=True)
    delta: float = fields.probability(0.05)

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.base, GradientAscent):
            raise_invalid("base", self.base, "a GradientAscent, because the test uses its epochs")

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> GLRState:
        """Return the state before the first pair; the horizon is not used."""
        zero = torch.zeros(trials, **tkwargs)
        none, log = empty_log(trials, device=zero.device)
        base = self.base.init(trials, task, None, draw, **tkwargs)
        return GLRState(base, zero, Rows.of(zero[:, None]), *[zero] * 5, none, log, 0)

    def update(
        self, state: GLRState, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> GLRState:
        """Update Algorithm 2, test after each pair, and restart Algorithm 2 in trials with an alarm. ``feedback``: R."""
        base = self.base.update(state.base, task, action, feedback, draw)
        rounds = state.rounds + 1
        # The first reward of a pair is only stored; the test needs the pair mean.
        if rounds % 2:
            return state._replace(base=base, up=feedback, rounds=rounds)
        up, y, *epoch = as_numpy_if_cpu(
            state.up, feedback, *(getattr(state, name) for name in EPOCH)
        )
        sums, s, now = as_numpy_if_cpu(state.sums.view, state.base.s, base.s)
        total = sums[:, -1] + (up + y) / 2
        alarm = self._alarm(sums, total, *epoch)
        restarts, log = state.restarts, state.log
        # the next pair starts an epoch, after an alarm or after a step of z
        over = alarm | (now != s)
        if any_or_unknown(over):
            xp = np if isinstance(over, np.ndarray) else torch
            first, before = epoch[:2]
            n, mean = rounds // 2 - first, (total - before) / (rounds // 2 - first)
            least, most = self._shift(task, state.base, base)
            # values of ``EPOCH`` from the epoch that ended; N is 0 after an alarm, which disables the second comparison
            ended = 0 * first + rounds // 2, total, n * ~alarm, mean + least, mean + most
            epoch = [xp.where(over, after, before) for after, before in zip(ended, epoch)]
        total, alarm, *epoch = as_tensors(total, alarm, *epoch)
        if any_on_host(alarm):
            base = tree_where(alarm, self.base.restart(base, task, None, draw), base)
            entry = torch.full_like(restarts, rounds)
            restarts, log = log_restart(restarts, log, entry, alarm)
        return GLRState(base, state.up, state.sums.append(total), *epoch, restarts, log, rounds)

    def _alarm(self, sums: Array, total: Array, first: Array, before: Array, *last: Array) -> Array:
        """Return whether the mean of the last k pairs differs from one of the two earlier means for any k = 1, 2, 4, ...; R bool.

        Args:
            sums: R x P, sums of the first 0, 1, ..., P - 1 pair means.
            total: R, sum of all P pair means.
            first: R, number of pairs before this epoch.
            before: R, sum of their means.
            last: N, the least and the largest mean that the previous epoch allows, R each.
        """
        # Dyadic k only, because all k would cost O(P) comparisons per pair.
        P = sums.shape[1]
        k = 1 << arange_like(P.bit_length(), sums)
        n = (P - first)[:, None]
        past, rest = sums[:, P - k], n - k
        late = (total[:, None] - past) / k
        early = (past - before[:, None]) / rest.clip(min=1)
        N, low, high = (x[:, None] for x in last)
        # Only the part outside [low, high] cannot be explained by the step of z between the epochs.
        beyond = late - late.clip(low, high)
        ratio = k * rest / n * (late - early) ** 2
        across = k * N / (k + N) * beyond**2
        level = 2 * per_trial_column(self.variance) * log(3 * n**1.5 / self.delta)
        return ((ratio > level) & (rest > 0) | (across > level) & (rest >= 0)).any(1)

    def _shift(self, task: Task, old: Ascent, new: Ascent) -> tuple[Array, Array]:
        """Return the least and the largest change of a pair's mean between two epochs if f does not change, R each.

        With the step D = z_{s+1} - z_s, concavity and smoothness give <grad f, D> - L / 2 ||D||^2 <= f(z_{s+1}) - f(z_s) <=
        <grad f, D> - sigma / 2 ||D||^2. The estimate g has a Gaussian error of variance v / (delta_s^2 n_s) in each coordinate,
        and a bias of at most (L - sigma) delta_s / 4 in each if f is not quadratic. A pair's mean is below f(z) by
        sigma / 2 delta_s^2 to L / 2 delta_s^2.
        """
        z, moved, g, n, delta, width = as_numpy_if_cpu(
            old.z, new.z, new.g, old.n, old.delta, new.delta
        )
        sigma, L = as_numpy_if_cpu(task.concavity, task.smoothness)
        D, d = moved - z, z.shape[1]  # the step of z, and the dimension
        square = (D * D).sum(1)
        noise = (per_trial_values(self.variance) / n) ** 0.5 / delta
        # upper bound, with probability 1 - delta, on the norm of d independent Gaussian errors
        error = (d**0.5 + (2 * math.log(1 / self.delta)) ** 0.5) * noise
        off = (error + d**0.5 * (L - sigma) * delta / 4) * square**0.5
        along = (g * D).sum(1)
        least = along - off - L / 2 * (square + width**2) + sigma / 2 * delta**2
        most = along + off - sigma / 2 * (square + width**2) + L / 2 * delta**2
        return least, most

    def spread(self, state: GLRState) -> tuple[Tensor, Tensor]:
        """Return the variance of a pair mean, estimated by successive differences, and the least v without alarms by outliers, R each.

        With D_i = P_i - P_{i-1} for pair means P_i, -D_i D_{i-1} has mean v for independent noise. A jump of f changes only one
        difference and therefore adds no bias. The second number is the least v with which no single outlier exceeds the level
        for two pairs; it matters for heavy-tailed noise. The history must have at least four pairs.
        """
        D = state.sums.view.diff(dim=1).diff(dim=1)
        squares = -D[:, 1:] * D[:, :-1]
        return squares.mean(1), squares.amax(1) / (2 * math.log(3 * 2**1.5 / self.delta))

    def report(self, state: GLRState) -> dict[str, Tensor]:
        """Return ``restarts`` and whether they ``overflow`` the log, R each."""
        return super().report(state) | count_restarts(state.restarts)
