"""Projection-free bandit convex optimization.

Source: Chen, Zhang & Karbasi, "Projection-Free Bandit Convex Optimization" (2019), Algorithm 1; Algorithm 2 is
``Doubling`` around it.
Shapes: R trials, n dimensions.
"""

import math

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...core.validation import check_in
from ..model import Task, step_size
from .onepoint import EpochConstants, OnePoint, OnePointState


@frozen_dataclass
class PFBCO(OnePoint):
    """Follow the regularized leader by one Frank-Wolfe step a round, with a one-point gradient estimate.

    Source: Algorithm 1.

    Attributes:
        eta_rule: "corrected", c D / (sqrt(2) n M) T^{-4/5}; "paper", the printed one, which lacks c (E1).
        tie: where the gradient is 0, as in round 1: "stay" (v = x_t, an argmin as good as any) or "vertex" (the
            oracle's answer to 0).
        regularized: False drops ||x - x_1||^2, the paper's "unregularized" variant.
    """

    eta_rule: str = fields.one_of(("corrected", "paper"), "corrected")
    tie: str = fields.one_of(("stay", "vertex"), "stay")
    regularized: bool = fields.one_of((False, True), True)

    def constants(self, task: Task, horizon: int, bound: Tensor) -> EpochConstants:
        """delta = c T^{-1/5}, alpha = delta / r, and eta."""
        delta = self.c * horizon**-0.2
        # Departure: the factor c, without which the proof needs c >= 1 and eta depends on the set's units (E1).
        factor = self.c if self.eta_rule == "corrected" else 1.0
        eta = factor * task.cset.D / (math.sqrt(2) * task.cset.dim * bound) * horizon**-0.8
        radius = torch.full_like(task.cset.D[:1], delta)
        return EpochConstants(radius, radius / task.cset.r, eta)

    def update(
        self, state: OnePointState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> OnePointState:
        """Frank-Wolfe step on F_t, then the estimate of this round. ``y``: R x n, as proposed; ``loss``: R."""
        t = state.rounds + 1
        gradient = self.gradient(state)  # of F_t at x_t: g_1, ..., g_{t-1} only
        # the minimizer over (1 - alpha) K is 1 - alpha times that over K
        vertex = (1 - state.alpha).unsqueeze(1) * task.cset.lmo(gradient)
        v = keep_on_zero_gradient(self.tie, gradient, state.x, vertex)
        x = torch.lerp(state.x, v, step_size(t))  # x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t
        # after the step: g_t has no part in v_t
        step, heard = self.estimate(state, task, loss, draw)
        return state._replace(x=x, A=state.A + step, rounds=t, heard=heard)

    def gradient(self, state: OnePointState) -> Tensor:
        """Gradient of F_t at x_t, R x n."""
        return state.A + 2 * (state.x - state.x1) if self.regularized else state.A


def keep_on_zero_gradient(tie: str, gradient: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """The oracle's answers ``v``, but with "stay" x where the gradient is 0. All R x n."""
    return torch.where((gradient == 0).all(-1, keepdim=True), x, v) if tie == "stay" else v


@frozen_dataclass
class RegularizedLeader(PFBCO):
    """Plays x*_t + delta u with x*_t = argmin over (1 - alpha) K of F_t, the projection of x_1 - A / 2.

    The exact regularized leader, the minimizer of (5), which Algorithm 1 tracks and the authors leave aside as no cheaper than a
    projection. It takes no Frank-Wolfe step, so that it has no ties to break.

    Raises:
        ValueError: ``regularized=False`` or ``tie="vertex"``.
    """

    projects = True

    def __post_init__(self):
        super().__post_init__()
        if not self.regularized:
            raise ValueError(
                "regularized=False; allowed: True, for F_t has no single minimizer without"
            )
        check_in("tie", self.tie, ("stay",))

    def update(
        self, state: OnePointState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> OnePointState:
        """The estimate of this round, then the next leader. ``y``: R x n, as proposed; ``loss``: R."""
        step, heard = self.estimate(state, task, loss, draw)
        A = state.A + step
        # F_{t+1}(x) = ||x - (x_1 - A / 2)||^2 + const
        x = task.cset.project(state.x1 - A / 2, 1 - state.alpha)
        return state._replace(x=x, A=A, rounds=state.rounds + 1, heard=heard)
