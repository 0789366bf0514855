"""Algorithm 2 that begins anew where what it hears has changed: a likelihood ratio test on pairs of answers.

Ours, of a known kind: the generalized likelihood ratio for a change of a Gaussian mean (Willsky & Jones 1976), at dyadic
places only.
Letters: R trials, P pairs so far.
"""

from dataclasses import field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.describe import frozen
from ...core.linalg import (
    Array,
    Rows,
    any_on_host,
    by_trial,
    filled,
    light,
    log,
    needed,
    places,
    tensors,
)
from ...core.streams import Draw
from ...core.trees import where
from ...core.validation import positive, probability, refuse
from ...learners.restarts import counted, logged, unlogged
from ...learners.wrapper import Wrapper
from ..model.task import Task
from .ascent import GradientAscent
from .ascent import State as Ascent


class State(NamedTuple):
    """Algorithm 2's state, and what the pairs of its epoch came to."""

    base: Ascent
    up: Tensor  # R, y_+ of a pair that is not complete
    sums: Rows  # R x (P + 1), sums of the means of the first 0, 1, ..., P pairs of all epochs
    first: Tensor  # R, pairs before this epoch; no integer's type, whose powers torch rounds
    before: Tensor  # R, their sum
    restarts: Tensor  # R int64
    log: Tensor  # R x LOGGED int64, rounds heard when a restart came
    rounds: int  # rounds heard


@frozen
class GLR(Wrapper):
    """Algorithm 2, begun anew when the last k pair means of an epoch of n differ from the n - k before, for a k = 1, 2, 4, ....

    A pair's mean (y_+ + y_-) / 2 has mean f(z) up to the curvature, whatever the coordinate. The alarm: k (n - k) / n times the
    squared difference of means over 2 v exceeds ln(3 n^{3/2} / delta). All epochs are of even length, therefore pairs end in the
    same rounds in all trials, and their sums fit one history; memory grows with the rounds.

    Attributes:
        base: Algorithm 2.
        variance: v > 0, of a pair's mean: a^2 / 6 where the noise is uniform on [-a, a], a^2 / 2 where it is +-a, at most 1/2
            for answers in [-1, 1]. A number or one a trial.
        delta: in (0, 1], at most about the probability of a false alarm in an epoch.

    Raises:
        ValueError: a value out of range, or another base.
    """

    base: GradientAscent = field(default_factory=GradientAscent)
    variance: float | Tensor = 0.1**2 / 6
    delta: float = 0.05
    syncs = (
        "per round"  # alarms are rare, and a restart dispatches more than a synchronization costs
    )

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.base, GradientAscent):
            refuse("base", self.base, "a GradientAscent, whose epochs the test knows")
        positive("variance", self.variance, by_trial=True)
        probability("delta", self.delta)

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """Before the first pair; the horizon is not used."""
        zero = torch.zeros(trials, **tkwargs)
        none, log = unlogged(trials, device=zero.device)
        base = self.base.init(trials, task, None, draw, **tkwargs)
        return State(base, zero, Rows.of(zero[:, None]), zero, zero, none, log, 0)

    def select(self, state: State, task: Task, draw: Draw) -> tuple[Tensor, State]:
        """Algorithm 2's query, R x d."""
        action, base = self.base.select(state.base, task, draw)
        return action, state._replace(base=base)

    def update(
        self, state: State, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> State:
        """Algorithm 2 hears; after each pair the test; where it alarms, Algorithm 2 begins anew. ``feedback``: R."""
        base = self.base.update(state.base, task, action, feedback, draw)
        rounds = state.rounds + 1
        if rounds % 2:
            return state._replace(base=base, up=feedback, rounds=rounds)
        up, y, first, before = light(state.up, feedback, state.first, state.before)
        sums, s, now = light(state.sums.view, state.base.s, base.s)
        total = sums[:, -1] + (up + y) / 2
        alarm = self._alarm(sums, total, first, before)
        restarts, log = state.restarts, state.log
        over = alarm | (now != s)  # the next pair is the first of an epoch
        if needed(over):
            xp = np if isinstance(over, np.ndarray) else torch
            first = filled(first, over, float(rounds // 2))
            before = xp.where(over, total, before)
        total, first, before, alarm = tensors(total, first, before, alarm)
        if any_on_host(alarm):
            base = where(alarm, self.base.restart(base, task, None, draw), base)
            entry = torch.full_like(restarts, rounds)
            restarts, log = logged(restarts, log, entry, alarm)
        return State(base, state.up, state.sums.append(total), first, before, restarts, log, rounds)

    def _alarm(self, sums: Array, total: Array, first: Array, before: Array) -> Array:
        """Whether the last k of the epoch's n pairs differ from those before, for any k = 1, 2, 4, ... < n; R bool.

        Args:
            sums: R x P, of the first 0, 1, ..., P - 1 pairs.
            total: R, of all P.
            first: R, pairs before this epoch.
            before: R, their sum.
        """
        P = sums.shape[1]
        k = 1 << places(P.bit_length(), sums)
        n = (P - first)[:, None]
        past, rest = sums[:, P - k], n - k
        late = (total[:, None] - past) / k
        early = (past - before[:, None]) / rest.clip(min=1)
        ratio = k * rest / n * (late - early) ** 2 / (2 * by_trial(self.variance))
        level = log(3 * n**1.5 / self.delta)
        return ((ratio > level) & (rest > 0)).any(1)

    def report(self, state: State) -> dict[str, Tensor]:
        """``restarts``, and whether they ``overflow`` the log, R each."""
        return super().report(state) | counted(state.restarts)
