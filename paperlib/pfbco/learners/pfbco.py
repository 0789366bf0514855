"""Projection-free bandit convex optimization.

Source: Chen, Zhang & Karbasi, "Projection-Free Bandit Convex Optimization" (2019), Algorithm 1. Algorithm 2 is
``Doubling(PFBCO(...))``.
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
    """Projection-free bandit convex optimization: one Frank-Wolfe step per round with a one-point gradient estimate.

    The learner tracks the regularized leader, the minimizer of F_t, without computing it. It needs a linear minimization
    oracle for the set, but no projection and no gradient.

    Source: Algorithm 1.

    Attributes:
        eta_rule: learning rate. "corrected" is c D / (sqrt(2) n M) T^{-4/5}; "paper" is the printed rate, which lacks the
            factor c (E1).
        tie: choice of v_t if the gradient is 0, for example in round 1. "stay" takes v_t = x_t, which is a valid argmin;
            "vertex" takes the oracle's minimizer for the zero vector.
        regularized: False drops the term ||x - x_1||^2; this is the paper's "unregularized" variant.

    Examples:
        >>> from paperlib.pfbco import PFBCO, BallLinear, Doubling
        >>> from paperlib.play import play
        >>> trace = play(Doubling(PFBCO(0.5)), BallLinear(2), horizon=255, trials=10)
        >>> round(float(trace.last().mean()) / 255, 1)  # regret per round; the center has 1.0
        0.8
    """

    eta_rule: str = fields.one_of(("corrected", "paper"), "corrected")
    tie: str = fields.one_of(("stay", "vertex"), "stay")
    regularized: bool = fields.one_of((False, True), True)

    def constants(self, task: Task, horizon: int, bound: Tensor) -> EpochConstants:
        """Return delta = c T^{-1/5}, alpha = delta / r, and eta of an epoch of T rounds."""
        # Theorem 1 sets delta, alpha and eta from the horizon T of the epoch.
        delta = self.c * horizon**-0.2
        # Departure: we add the factor c. Without it the proof needs c >= 1, and eta depends on the set's units (E1).
        factor = self.c if self.eta_rule == "corrected" else 1.0
        eta = factor * task.cset.D / (math.sqrt(2) * task.cset.dim * bound) * horizon**-0.8
        radius = torch.full_like(task.cset.D[:1], delta)
        return EpochConstants(radius, radius / task.cset.r, eta)

    def update(
        self, state: OnePointState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> OnePointState:
        """Take a Frank-Wolfe step on F_t, then add this round's estimate. ``y``: R x n, as proposed; ``loss``: R."""
        t = state.rounds + 1
        gradient = self.gradient(state)  # of F_t at x_t; it depends on g_1, ..., g_{t-1} only
        # Line 9 of Algorithm 1: the minimizer over (1 - alpha) K is (1 - alpha) times the minimizer over K.
        vertex = (1 - state.alpha).unsqueeze(1) * task.cset.lmo(gradient)
        v = keep_on_zero_gradient(self.tie, gradient, state.x, vertex)
        # Line 10 and (4): x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t.
        x = torch.lerp(state.x, v, step_size(t))
        # The estimate is added after the step, because v_t must not depend on g_t.
        step, heard = self.estimate(state, task, loss, draw)
        return state._replace(x=x, A=state.A + step, rounds=t, heard=heard)

    def gradient(self, state: OnePointState) -> Tensor:
        """Return the gradient of F_t at x_t, R x n."""
        return state.A + 2 * (state.x - state.x1) if self.regularized else state.A


def keep_on_zero_gradient(tie: str, gradient: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Return the oracle's minimizers ``v``; with ``tie="stay"`` return x where the gradient is 0. All R x n."""
    # In round 1 the gradient is exactly 0 and sigma_1 = 1, so with "vertex" an arbitrary vertex becomes the center (E8).
    return torch.where((gradient == 0).all(-1, keepdim=True), x, v) if tie == "stay" else v


@frozen_dataclass
class RegularizedLeader(PFBCO):
    """Follow the exact regularized leader: play x*_t + delta u, where x*_t minimizes F_t over (1 - alpha) K.

    The leader is the projection of x_1 - A / 2. It is the minimizer of (5), which Algorithm 1 tracks. The authors do not use it,
    because computing it is no cheaper than a projection. The learner takes no Frank-Wolfe step, so it has no ties to break.

    Raises:
        ValueError: ``regularized=False`` or ``tie="vertex"``.

    Examples:
        >>> from paperlib.pfbco import BallLinear, Doubling, RegularizedLeader
        >>> from paperlib.play import play
        >>> trace = play(Doubling(RegularizedLeader(0.5)), BallLinear(2), horizon=255, trials=10)
        >>> round(float(trace.last().mean()) / 255, 1)  # regret per round; the center has 1.0
        0.8
    """

    projects = True

    def __post_init__(self):
        super().__post_init__()
        if not self.regularized:
            raise ValueError(
                "regularized must be True, because F_t has no unique minimizer without the regularizer, got False"
            )
        check_in("tie", self.tie, ("stay",))

    def update(
        self, state: OnePointState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> OnePointState:
        """Add this round's estimate and compute the next leader. ``y``: R x n, as proposed; ``loss``: R."""
        step, heard = self.estimate(state, task, loss, draw)
        A = state.A + step
        # Minimizing F_{t+1} is a projection, because F_{t+1}(x) = ||x - (x_1 - A / 2)||^2 + const.
        x = task.cset.project(state.x1 - A / 2, 1 - state.alpha)
        return state._replace(x=x, A=A, rounds=state.rounds + 1, heard=heard)
