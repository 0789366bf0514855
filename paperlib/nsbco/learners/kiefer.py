"""Kiefer-Wolfowitz stochastic approximation: two-sided finite differences, one step after all coordinates.

Source: Kiefer & Wolfowitz (1952), with step 1 / (sigma i) and width i^{-1/4} for concave f with noise. The version with constant
gain tracks a moving maximizer.
Shapes: R trials, d dimensions.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    Array,
    any_or_unknown,
    as_numpy_if_cpu,
    as_tensors,
    masked_fill,
    per_trial_values,
)
from ...core.streams import Draw
from ...core.validation import LARGEST
from ..model.task import OwnQueries, Task, unit


def tracking_gain(
    dim: int, concavity: float, smoothness: float, noise: float, drift: float, h: float
) -> float:
    """Return the constant gain K with the least regret if the maximizer moves by ``drift`` per round (our derivation).

    For curvature sigma in all directions the regret per round is A / sqrt(K) + B K^2. The first term is due to noise and
    exploration, A = d s^2 / (8 sigma h^2) + sigma h^2 / 2. The second is due to the lag of 2 d K rounds, B = 2 sigma (d drift)^2.
    The minimum is at K = (A / (4 B))^{2/5}. K is at least L / sigma, so that the step size is at most 1 / L.

    Args:
        dim: d.
        concavity, smoothness: sigma and L.
        noise: s, the standard deviation of a reward.
        drift: > 0, distance that the maximizer moves per round.
        h: > 0, scale of the width of a difference.

    Examples:
        >>> from paperlib.nsbco.learners.kiefer import tracking_gain
        >>> fast, slow = (tracking_gain(2, 1.0, 2.0, 0.1, drift, 0.25) for drift in (1e-3, 1e-4))
        >>> round(slow / fast, 2)  # K is proportional to drift^{-4/5}
        6.31
    """
    # Setting the derivative of A / sqrt(K) + B K^2 to 0 gives K^{5/2} = A / (4 B).
    A = dim * noise**2 / (8 * concavity * h**2) + concavity * h**2 / 2
    B = 2 * concavity * (dim * drift) ** 2
    return min(LARGEST, max(smoothness / concavity, (A / (4 * B)) ** 0.4))


class FromZero(OwnQueries):
    """Base class of learners that start and restart at 0; a subclass defines ``_begin``, the state at a given point."""

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> Any:
        """Return the state at 0; the horizon is not used."""
        return self._begin(torch.zeros(trials, task.cset.dim, **tkwargs))

    def restart(self, state: Any, task: Task, horizon: int | None, draw: Draw) -> Any:
        """Return the state at 0; an incomplete difference is discarded."""
        return self._begin(torch.zeros_like(state.z))


@frozen_dataclass
class FiniteDifferences(FromZero):
    """Stochastic approximation by finite differences.

    Attributes:
        gain: K > 0, a number or one per trial; None: the default of the subclass.
        h: > 0, scale of the width of a difference.

    Raises:
        ValueError: a value out of range.
    """

    gain: float | Tensor | None = fields.positive(None, by_trial=True, optional=True)
    h: float = fields.positive(0.25)


class KieferWolfowitzState(NamedTuple):
    """State with R separate rows in every leaf, so that trials can restart independently."""

    z: Tensor  # R x d
    g: Tensor  # R x d, the gradient estimate, complete up to the current coordinate
    up: Tensor  # R, y_+, the reward at z + delta_i e_j
    i: Tensor  # R, the iteration, 1, 2, ... since the start; a float, because torch computes powers of integers in float32
    k: Tensor  # R int64, rounds of this iteration, of 2 d


@frozen_dataclass
class KieferWolfowitz(FiniteDifferences):
    """Kiefer-Wolfowitz: z <- P(z + (1 / (sigma i)) g) with g_j = (y_+ - y_-) / (2 delta_i), every 2 d rounds.

    The width is delta_i = min(c_0, h i^{-1/4}), and z starts at 0. With ``gain`` K, step and width have i = K in every iteration
    ("KWtrack" in the figures). This version never converges and therefore follows a moving maximizer. It averages over 2 d K
    rounds, for example 200 d with K = 100. Faster drift needs a smaller K, see ``tracking_gain``.

    Attributes:
        gain: K > 0, a number or one per trial; None: diminishing steps.
        h: > 0, scale of the width delta_i.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.nsbco import KieferWolfowitz, QuadraticDrift, Rotation
        >>> from paperlib.play import play
        >>> run = lambda learner: play(learner, QuadraticDrift(Rotation(2.0)), 400, 2)["regret"][:, -1].mean()
        >>> bool(run(KieferWolfowitz(10.0)) < 0.5 * run(KieferWolfowitz()))  # constant and diminishing steps
        True
    """

    def rounds_before_step(self, task: Task, step: int = 1) -> int:
        """Return the number of rounds before the first or a later step of z: 2 d per step."""
        return 2 * task.cset.dim * step

    def _begin(self, z: Tensor) -> KieferWolfowitzState:
        """Return the state at ``z``, R x d, in iteration 1."""
        zero = z.new_zeros(len(z))
        return KieferWolfowitzState(z, z, zero, zero + 1, torch.zeros_like(zero, dtype=torch.int64))

    def _clock(self, i: Array) -> Array | float:
        """Return i, or K with constant gain."""
        if self.gain is None:
            return i
        K = per_trial_values(self.gain)
        whole = isinstance(self.gain, Tensor) and not self.gain.is_floating_point()
        return K + 0.0 * i if whole else K  # torch computes powers of integers in float32

    def _width(self, task: Task, i: Array) -> Array:
        """Return delta_i, R or 1."""
        return as_numpy_if_cpu(task.margin)[0].clip(max=self.h * self._clock(i) ** -0.25)

    def select(
        self, state: KieferWolfowitzState, task: Task, draw: Draw
    ) -> tuple[Tensor, KieferWolfowitzState]:
        """Return the query, R x d: z + delta_i e_1, z - delta_i e_1, z + delta_i e_2, ... in turn."""
        z, i, k = as_numpy_if_cpu(state.z, state.i, state.k)
        sign = 1 - 2 * (k & 1)  # the first query of a pair is z + delta_i e_j
        x = z + unit(k >> 1, z.shape[1]) * (sign * self._width(task, i))[:, None]
        return as_tensors(x)[0], state

    def update(
        self, state: KieferWolfowitzState, task: Task, x: Tensor, y: Tensor, draw: Draw
    ) -> KieferWolfowitzState:
        """Estimate one partial derivative every two rounds, and take a step every 2 d rounds. ``y``: R."""
        z, g, up, i, k, y, sigma = as_numpy_if_cpu(*state, y, task.concavity)
        xp = np if isinstance(z, np.ndarray) else torch
        # Store the first reward of a pair; the second one completes the difference quotient g_j.
        second = (k & 1) == 1
        here = unit(k >> 1, z.shape[1]) & second[:, None]
        slope = (up - y) / (2 * self._width(task, i))
        g, up, k = xp.where(here, slope[:, None], g), xp.where(second, up, y), k + 1
        done = k == 2 * z.shape[1]
        if any_or_unknown(done):  # all d quotients are known: take a step and start iteration i + 1
            step = 1 / (sigma * self._clock(i))
            moved = task.inside(as_tensors(z + g * step[:, None])[0])
            z = xp.where(done[:, None], as_numpy_if_cpu(moved)[0], z)
            i, k = i + done, masked_fill(k, done, 0)
        return KieferWolfowitzState(*as_tensors(z, g, up, i, k))
