"""Algorithm 2: gradient ascent with a fixed step and estimated gradients, in batches of geometrically increasing length.

Source: Wang (2025), Section 3, Algorithm 2.
Shapes: R trials, d dimensions. The code runs on NumPy arrays (CPU) and torch tensors (GPU) alike, through ``xp``. On the CPU,
NumPy is faster because the cost of a round is dominated by the number of library calls.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    Array,
    any_or_unknown,
    argmax_first,
    as_numpy_if_cpu,
    as_tensors,
    divide_by_sqrt,
    masked_fill,
    per_trial_values,
)
from ...core.streams import Draw
from ...core.validation import check_coordinates, check_size, norm_slack, raise_invalid
from ..model.task import OwnQueries, Task, unit

GUARD = 1e-9  # tolerance for the rounding error of a number that is rounded up
FIRST = 1 << 40  # the largest N_0
BLOCK = 1 << 12  # batches whose lengths are computed together


class AscentState(NamedTuple):
    """One thread per trial. Every leaf has R separate rows, so that threads can start and pause independently."""

    z: Tensor  # R x d, z_s
    g: Tensor  # R x d, g_s, the gradient estimate, complete up to coordinate j
    up: Tensor  # R, u_+, sum of the rewards at z_s + delta_s e_j
    um: Tensor  # R, u_-, sum of the rewards at z_s - delta_s e_j
    r: Tensor  # R, r_t, sum of all rewards of this thread
    t: Tensor  # R, rounds of this thread; a float, because torch computes roots of integers in float32
    k: Tensor  # R int64, rounds of this coordinate
    j: Tensor  # R int64, coordinate
    s: Tensor  # R int64, batch
    n: Tensor  # R, n_s; a float, because it outgrows the integer types
    delta: Tensor  # R, delta_s
    first: Tensor  # R, n_0


def round_up(x: Array) -> Array:
    """Return ``x`` rounded up to whole numbers, for NumPy and torch."""
    return np.ceil(x) if isinstance(x, np.ndarray) else x.ceil()


@frozen_dataclass
class GradientAscent(OwnQueries):
    """Fixed-step gradient ascent; the error of its gradient estimates shrinks as fast as the distance to the maximizer.

    Batch s estimates each partial derivative at the center z_s from n_s pairs of queries z_s +- delta_s e_j. Then it takes one
    step, z_{s+1} = P(z_s + g_s / L).

    Source: Wang (2025), Algorithm 2, with N_0 corrected (E1).

    Attributes:
        h: > 0, unit of length: delta_s = h n_s^{-1/4}. The paper has h = 1, which ties a length to a count; the rate is the
            same for any h.
        N0: n_0, pairs of queries along each coordinate in the first batch, which lasts 2 d n_0 rounds; None: the smallest
            number with which all queries are in the set, ceil((h / c_0)^4).
        bonus: > 0, b_0 of r-bar_t = r_t / t + b_0 / sqrt(t); the paper has 2 kappa_0. A number or one per trial.
        clip: whether r-bar is clipped at 1, because no f exceeds 1 (E12).
        warm_start: whether a new thread starts at the center of the thread of the previous round.
        start: z_0, d numbers in X^o(c_0); None is 0.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.nsbco import GradientAscent, QuadraticDrift, StaticBaseline
        >>> from paperlib.play import play
        >>> regret = {x: play(x, QuadraticDrift(), 500, 8)["regret"][:, -1].mean() for x in (GradientAscent(), StaticBaseline())}
        >>> bool(regret[GradientAscent()] < 0.2 * regret[StaticBaseline()])
        True
    """

    h: float = fields.positive(0.25)
    N0: int | None = fields.whole(None, most=FIRST, optional=True)
    bonus: float | Tensor = fields.positive(2.0, by_trial=True)
    clip: bool = fields.one_of((False, True), True)
    warm_start: bool = fields.one_of((False, True), False)
    start: tuple[float, ...] | None = None

    def __post_init__(self):
        if self.start is not None:
            check_coordinates("start", self.start)

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task against h, N_0 and z_0, and points and rewards against the model.

        Raises:
            ValueError: queries that would leave the set, a start outside X^o(c_0), or rewards outside [-1, 1].
        """
        super().validate(task, action, y)
        if task.margin.device.type != "meta":
            self._feasible(task)

    def _feasible(self, task: Task) -> None:
        """Raise ValueError if the first queries would leave the set or the start is outside X^o(c_0)."""
        (first,) = as_tensors(self.first(task))
        # the trial with the largest delta_0 / c_0
        worst = int(argmax_first((first**-0.25 / task.margin)[None]))
        margin, reach = float(task.margin[worst]), self.h * float(first[worst]) ** -0.25  # delta_0
        if not reach <= margin * (1 + GUARD):
            least = math.ceil((self.h / margin) ** 4 - GUARD)
            raise ValueError(
                f"N0 must be at least {least} with h={self.h:g}, so that delta_0 is at most the margin "
                f"c_0 = {margin:g}, got N0={self.N0!r} with delta_0 = {reach:g}"
            )
        if self.start is None:
            return
        if len(self.start) != task.cset.dim:
            raise ValueError(f"start must have {task.cset.dim} numbers, got {self.start!r}")
        z = task.margin.new_tensor(self.start).expand(len(task.margin), -1)
        off = (z - task.inside(z)).abs().amax(1)
        if float(off.max()) > norm_slack(task.cset.dim):
            margin = float(task.margin[int(argmax_first(off[None]))])
            raise ValueError(
                f"start must be a point of (1 - c_0) X with c_0 = {margin:g}, got {self.start!r}"
            )

    def first(self, task: Task) -> Array:
        """Return N_0, 1 or R, as a NumPy array on the CPU."""
        (margin,) = as_numpy_if_cpu(task.margin)
        if self.N0 is not None:
            return 0.0 * margin + self.N0
        # Departure: with the paper's ceil(c_0^-2) + 1 queries leave the set, because delta_0 = N_0^{-1/4} must be at most c_0 (E1).
        return round_up((self.h / margin) ** 4 - GUARD).clip(min=1.0)

    def batch(self, task: Task, s: Tensor) -> tuple[Tensor, Tensor]:
        """Return n_s = ceil((1 - gamma)^{-4 s} N_0) and delta_s = h n_s^{-1/4}, R each. ``s``: R int64."""
        n = self._length(task, *as_numpy_if_cpu(s), self.first(task))
        return as_tensors(n, self._width(n))

    def _length(self, task: Task, s: Array, first: Array) -> Array:
        """Return n_s, R."""
        sigma, L = as_numpy_if_cpu(task.concavity, task.smoothness)
        return round_up((1 - sigma / L) ** (-4.0 * s) * first - GUARD)

    def _width(self, n: Array) -> Array:
        """Return delta_s, R."""
        return self.h * n**-0.25

    def rounds_before_step(self, task: Task, step: int = 1) -> Tensor:
        """Return the number of rounds before the first or a later step of z, 2 d (n_0 + ... + n_{step - 1}), 1 or R.

        Raises:
            ValueError: ``step`` below 1, or so large that it comes after 2^63 rounds or more.
        """
        step, rounds = check_size("step", step), torch.zeros_like(task.margin)
        for first in range(0, step, BLOCK):
            s = torch.arange(first, min(first + BLOCK, step), device=rounds.device)
            with np.errstate(over="ignore"):  # an overflow is reported as an error below
                lengths, _ = self.batch(task, s[:, None])
            counts = rounds + 2 * task.cset.dim * lengths.cumsum(0)
            few = (counts < 2.0**63).all(1)
            if not bool(few.all()):
                most = first + int(few.sum())
                raise_invalid("step", step, f"at most {most}, the last step within 2^63 rounds")
            rounds = counts[-1]
        return rounds

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> AscentState:
        """Return the state at z_0, before any reward; the horizon is not used."""
        (first,) = as_tensors(self.first(task))
        return self._begin(self._origin(torch.zeros(trials, task.cset.dim, **tkwargs)), first)

    def restart(
        self, state: AscentState, task: Task, horizon: int | None, draw: Draw
    ) -> AscentState:
        """Return a new thread at z_0, or at the center of ``state`` with ``warm_start``."""
        z = state.z if self.warm_start else self._origin(torch.zeros_like(state.z))
        return self._begin(z, state.first)

    def _origin(self, zero: Tensor) -> Tensor:
        """Return z_0, R x d."""
        return zero if self.start is None else zero + zero.new_tensor(self.start)

    def _begin(self, z: Tensor, first: Tensor) -> AscentState:
        """Return the state of a new thread with center ``z``, R x d, and N_0 = ``first``, 1 or R."""
        z, first = as_numpy_if_cpu(z, first)
        xp = np if isinstance(z, np.ndarray) else torch
        g = xp.zeros_like(z)
        zero = g[:, 0]
        none, n = xp.zeros_like(zero, dtype=xp.int64), zero + first
        z, g, zero, none, n, delta = as_tensors(z, g, zero, none, n, self._width(n))
        return AscentState(z, g, zero, zero, zero, zero, none, none, none, n, delta, n)

    def select(self, state: AscentState, task: Task, draw: Draw) -> tuple[Tensor, AscentState]:
        """Return the query x_t, R x d, alternately z_s + delta_s e_j and z_s - delta_s e_j."""
        z, k, j, delta = as_numpy_if_cpu(state.z, state.k, state.j, state.delta)
        sign = 1 - 2 * (k & 1)  # the first query of a pair is z_s + delta_s e_j
        x = z + unit(j, z.shape[1]) * (sign * delta)[:, None]
        return as_tensors(x)[0], state

    def update(
        self, state: AscentState, task: Task, x: Tensor, y: Tensor, draw: Draw
    ) -> AscentState:
        """Add y_t to the sum of its query. A coordinate is complete after 2 n_s rounds, a step follows d coordinates. ``y``: R."""
        up, um, r, t, k, n, y = as_numpy_if_cpu(
            state.up, state.um, state.r, state.t, state.k, state.n, y
        )
        odd = (k & 1) * y  # Algorithm 2, lines 9 and 12: even rounds add to u_+, odd rounds to u_-
        up, um, r, t, k = up + (y - odd), um + odd, r + y, t + 1, k + 1
        pairs = 2 * n
        done = k == pairs
        # Most rounds end here, because a coordinate is complete only every 2 n_s rounds.
        if not any_or_unknown(done):
            return AscentState(state.z, state.g, *as_tensors(up, um, r, t, k), *state[7:])
        z, g, j, s, delta = as_numpy_if_cpu(state.z, state.g, state.j, state.s, state.delta)
        xp = np if isinstance(z, np.ndarray) else torch
        here = unit(j, z.shape[1]) & done[:, None]
        # central difference: g_sj = (u_+ - u_-) / (2 delta_s n_s)
        g = xp.where(here, ((up - um) / (delta * pairs))[:, None], g)
        up, um, k = masked_fill(up, done, 0.0), masked_fill(um, done, 0.0), masked_fill(k, done, 0)
        j = j + done
        last = j == z.shape[1]
        if any_or_unknown(last):  # a batch ends: take the step and start the longer batch s + 1
            j, s = masked_fill(j, last, 0), s + last
            z = xp.where(last[:, None], self._step(task, z, g), z)
            n = xp.where(last, self._length(task, s, *as_numpy_if_cpu(state.first)), n)
            delta = self._width(n)
        return AscentState(*as_tensors(z, g, up, um, r, t, k, j, s, n, delta), state.first)

    def _step(self, task: Task, z: Array, g: Array) -> Array:
        """Return z_{s+1} = P(z_s + eta_0 g_s) with eta_0 = 1 / L (Algorithm 2, line 17)."""
        (L,) = as_numpy_if_cpu(task.smoothness)
        return as_numpy_if_cpu(task.inside(*as_tensors(z + g / L[:, None])))[0]

    def optimistic(self, state: AscentState) -> Tensor:
        """Return r-bar_t = r_t / t + b_0 / sqrt(t), R, clipped at 1 with ``clip``; before the first reward it is b_0, also clipped."""
        r, t = as_numpy_if_cpu(state.r, state.t)
        t = t.clip(min=1.0)  # avoids 0 / 0 before the first reward
        bar = r / t + divide_by_sqrt(per_trial_values(self.bonus), t)
        if self.clip:
            bar = bar.clip(max=1.0)
        return as_tensors(bar)[0]
