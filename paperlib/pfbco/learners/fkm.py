"""Bandit gradient descent with a projection a round.

Source: Flaxman, Kalai & McMahan, "Online convex optimization in the bandit setting: gradient descent without a gradient"
(SODA 2005); Hazan, Introduction to Online Convex Optimization, for the constants called "book".
Shapes: R trials, n dimensions.
"""

import math

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ..model import Task
from .onepoint import EpochConstants, OnePoint, OnePointState


@frozen_dataclass
class FKM(OnePoint):
    """x_{t+1} = Pi_{(1 - alpha) K}(x_t - eta g_t).

    It computes where the set projects: for polytopes on the host, trial by trial.

    Attributes:
        variant: "book": delta = c T^{-1/4}, eta = c D / (n M) T^{-3/4}; "2005": the step and delta of the paper of
            2005, with M, G, R and r, which do not use c.
    """

    variant: str = fields.one_of(("book", "2005"), "book")
    projects = True

    def constants(self, task: Task, horizon: int, bound: Tensor) -> EpochConstants:
        """delta, alpha = delta / r and eta."""
        cset, n = task.cset, task.cset.dim
        if self.variant == "book":
            delta = torch.full_like(cset.D[:1], self.c * horizon**-0.25)
            return EpochConstants(
                delta, delta / cset.r, self.c * cset.D / (n * bound) * horizon**-0.75
            )
        # Departure: delta is capped at r, which the paper of 2005 leaves to large T.
        square = cset.R * n * bound * cset.r / (3 * (task.grad_bound * cset.r + bound))
        delta = (horizon**-0.25 * square.sqrt()).clamp(max=cset.r)
        nu = cset.R / (bound * math.sqrt(horizon))  # x_{t+1} = Pi(x_t - nu f_t u_t)
        return EpochConstants(delta, delta / cset.r, nu * delta / n)

    def restart(self, state: OnePointState, task: Task, horizon: int, draw: Draw) -> OnePointState:
        """As ``OnePoint.restart``; delta of 2005 may rise with a measured M, so that a warm start is projected."""
        state = super().restart(state, task, horizon, draw)
        if not (self.warm_start and self.variant == "2005"):
            return state
        x1 = task.cset.project(state.x1, 1 - state.alpha)
        return state._replace(x=x1, x1=x1)

    def update(
        self, state: OnePointState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> OnePointState:
        """A step along the estimate and a projection. ``y``: R x n, as proposed; ``loss``: R."""
        step, heard = self.estimate(state, task, loss, draw)
        x = task.cset.project(state.x - step, 1 - state.alpha)
        return state._replace(x=x, rounds=state.rounds + 1, heard=heard)
