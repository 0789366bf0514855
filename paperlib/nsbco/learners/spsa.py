"""Simultaneous perturbation stochastic approximation with constant gain: two rewards per step in any dimension.

Source: Spall (1992), "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation",
whose gains diminish; with a constant gain the iterate tracks a maximizer that moves.
Shapes: R trials, d dimensions.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.describe import frozen_dataclass
from ...core.linalg import Array, any_or_unknown, as_numpy_if_cpu, as_tensors, per_trial_values
from ...core.streams import Draw
from ..model.task import Task
from .kiefer import FiniteDifferences


class SPSAState(NamedTuple):
    """State with R separate rows in every leaf, so that trials can restart independently."""

    z: Tensor  # R x d
    u: Tensor  # R x d, direction of the pair: signs over sqrt(d)
    up: Tensor  # R, y_+, the reward at z + delta u
    k: Tensor  # R int64, rounds of this pair: 0 or 1


@frozen_dataclass
class SPSA(FiniteDifferences):
    """SPSA: z <- P(z + (1 / (sigma K)) g) with g = d (y_+ - y_-) / (2 delta) u, every two rounds; z starts at 0.

    u has entries +-1 / sqrt(d) with random signs, and delta = min(c_0, h K^{-1/4}) as in ``KieferWolfowitz``. In Spall's
    notation the perturbation is c = delta / sqrt(d) and the gain is a = 1 / (sigma K).

    Attributes:
        gain: K > 0, a number or one per trial; None: K = d L / sigma, that is a = 1 / (d L). Without noise the expected
            ascent of a step is at least (a - a^2 d L / 2) ||grad f||^2, which is largest for this a.
        h: > 0, scale of the width delta.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.nsbco import QuadraticDrift, SPSA, StaticBaseline
        >>> from paperlib.play import play
        >>> run = lambda learner: play(learner, QuadraticDrift(dim=5), 400, 2)["regret"][:, -1].mean()
        >>> bool(run(SPSA()) < 0.8 * run(StaticBaseline()))
        True
    """

    def rounds_before_step(self, task: Task, step: int = 1) -> int:
        """Return the number of rounds before the first or a later step of z: 2 per step, in any dimension."""
        return 2 * step

    def _begin(self, z: Tensor) -> SPSAState:
        """Return the state at ``z``, R x d, before a new pair."""
        zero = z.new_zeros(len(z))
        return SPSAState(z, z, zero, torch.zeros_like(zero, dtype=torch.int64))

    def _settings(self, task: Task) -> tuple[Array, Array]:
        """Return the step a and the width delta, R or 1 each."""
        c0, L, sigma = as_numpy_if_cpu(task.margin, task.smoothness, task.concavity)
        K = (
            task.cset.dim * L / sigma
            if self.gain is None
            else per_trial_values(self.gain) + 0.0 * sigma
        )
        return 1 / (sigma * K), c0.clip(max=self.h * K**-0.25)

    def select(self, state: SPSAState, task: Task, draw: Draw) -> tuple[Tensor, SPSAState]:
        """Return the query, R x d: z + delta u with a new direction u, then z - delta u."""
        z, u, k = as_numpy_if_cpu(state.z, state.u, state.k)
        xp = np if isinstance(z, np.ndarray) else torch
        first = (k == 0)[:, None]
        if any_or_unknown(first):
            d = z.shape[1]
            (coins,) = as_numpy_if_cpu(draw.uniform("explore", d))
            # a direction with independent random signs; it stays the same for both queries of a pair
            u = xp.where(first, (2 * xp.floor(2 * coins) - 1) / d**0.5, u)
        _, delta = self._settings(task)
        x, u = as_tensors(z + u * ((1 - 2 * k) * delta)[:, None], u)
        return x, state._replace(u=u)

    def update(self, state: SPSAState, task: Task, x: Tensor, y: Tensor, draw: Draw) -> SPSAState:
        """Store the first reward of a pair; after the second, take a step and project onto X^o(c_0). ``y``: R."""
        z, u, up, k, y = as_numpy_if_cpu(*state, y)
        xp = np if isinstance(z, np.ndarray) else torch
        second = k == 1
        if any_or_unknown(second):
            a, delta = self._settings(task)
            # Because E[u u^T] = I / d, the factor d makes g an unbiased estimate for quadratic f.
            step = a * z.shape[1] * (up - y) / (2 * delta)
            (moved,) = as_numpy_if_cpu(task.inside(*as_tensors(z + u * step[:, None])))
            z = xp.where(second[:, None], moved, z)
        return SPSAState(*as_tensors(z, u, xp.where(second, up, y), 1 - k))
