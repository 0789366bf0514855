"""Bandit gradient descent with one projection per round.

Source: Flaxman, Kalai & McMahan, "Online convex optimization in the bandit setting: gradient descent without a gradient"
(SODA 2005); Hazan, Introduction to Online Convex Optimization, for the constants of the "book" variant.
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
    """Bandit gradient descent: x_{t+1} = Pi_{(1 - alpha) K}(x_t - eta g_t), with a one-point estimate g_t.

    The computation runs where the set computes projections. For polytopes this is the host, trial by trial.

    Attributes:
        variant: "book" uses delta = c T^{-1/4} and eta = c D / (n M) T^{-3/4}. "2005" uses the step and the delta of the
            2005 paper, which depend on M, G, R and r, but not on c.

    Examples:
        >>> from paperlib.pfbco import FKM, BallLinear, Doubling
        >>> from paperlib.play import play
        >>> trace = play(Doubling(FKM(0.5)), BallLinear(2), horizon=255, trials=10)
        >>> round(float(trace.last().mean()) / 255, 1)  # regret per round; the center has 1.0
        0.6
    """

    variant: str = fields.one_of(("book", "2005"), "book")
    projects = True

    def constants(self, task: Task, horizon: int, bound: Tensor) -> EpochConstants:
        """Return delta, alpha = delta / r and eta of an epoch of T rounds."""
        cset, n = task.cset, task.cset.dim
        if self.variant == "book":
            delta = torch.full_like(cset.D[:1], self.c * horizon**-0.25)
            return EpochConstants(
                delta, delta / cset.r, self.c * cset.D / (n * bound) * horizon**-0.75
            )
        # Departure: we cap delta at r. The 2005 paper instead assumes that T is large enough.
        square = cset.R * n * bound * cset.r / (3 * (task.grad_bound * cset.r + bound))
        delta = (horizon**-0.25 * square.sqrt()).clamp(max=cset.r)
        # The 2005 paper writes the step as x_{t+1} = Pi(x_t - nu f_t u_t); eta g_t is the same step.
        nu = cset.R / (bound * math.sqrt(horizon))
        return EpochConstants(delta, delta / cset.r, nu * delta / n)

    def restart(self, state: OnePointState, task: Task, horizon: int, draw: Draw) -> OnePointState:
        """Start a new epoch, as ``OnePoint.restart``, but project a warm start of the 2005 variant.

        The delta of 2005 may increase with an estimated M, so the last center may lie outside the new (1 - alpha) K.
        """
        state = super().restart(state, task, horizon, draw)
        if not (self.warm_start and self.variant == "2005"):
            return state
        x1 = task.cset.project(state.x1, 1 - state.alpha)
        return state._replace(x=x1, x1=x1)

    def update(
        self, state: OnePointState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> OnePointState:
        """Take a step against the estimate and project. ``y``: R x n, as proposed; ``loss``: R."""
        step, heard = self.estimate(state, task, loss, draw)
        # The shrunk set keeps the next point x + delta u in K, because (1 - alpha) K + delta B is a subset of K.
        x = task.cset.project(state.x - step, 1 - state.alpha)
        return state._replace(x=x, rounds=state.rounds + 1, heard=heard)
