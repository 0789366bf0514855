"""Learners that the arena adds: linear Thompson sampling, and a wrapper that changes the unit of the rewards.

Letters: R trials, d dimensions; V_t and theta_t as in ``paperlib.linear.learners``.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from paperlib.core import fields
from paperlib.core.contracts import Observed
from paperlib.core.describe import frozen_dataclass
from paperlib.core.linalg import argmax_first, arm_dot
from paperlib.core.streams import Draw
from paperlib.learners.wrapper import Wrapper
from paperlib.linear.learners import OFUL, OFULState


class RescaledState(NamedTuple):
    """State of the base."""

    base: Any


@frozen_dataclass
class Rescaled(Wrapper):
    """Pass (reward - center) / unit to the base, for learners that assume another range of the rewards.

    Attributes:
        base: a learner with ``wants = "reward"``.
        center: subtracted from the reward.
        unit: > 0, the reward is divided by it.
        clip: bound on the absolute value that the base receives.

    Examples:
        >>> from companion.arena.learners import Rescaled
        >>> from paperlib.linear import OFUL, Circle
        >>> from paperlib.play import play
        >>> learner = Rescaled(OFUL(noise=0.1, norm_bound=1.0), center=0.5)
        >>> play(learner, Circle(noise=0.1), horizon=20, trials=3)["regret"].shape
        (3, 20)
    """

    center: float = fields.number(0.0)
    unit: float = fields.positive(1.0)
    clip: float = fields.positive(math.inf, most=math.inf)

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> RescaledState:
        """Return the initial state of the base."""
        return RescaledState(self.base.init(trials, context, horizon, draw, **tkwargs))

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """Validate context, action and rescaled reward as the base does."""
        super().validate(context, action, None if feedback is None else self.rescale(feedback))

    def caution(
        self, context: Any, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return the warning of the base for the rescaled reward, or None."""
        if observed is not None:
            observed = observed._replace(feedback=self.rescale(observed.feedback))
        return super().caution(context, horizon, observed)

    def rescale(self, reward: Tensor) -> Tensor:
        """Return the reward in the unit of the base."""
        return ((reward - self.center) / self.unit).clamp(-self.clip, self.clip)

    def update(
        self, state: RescaledState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> RescaledState:
        """Update the base with the rescaled reward."""
        rescaled = self.rescale(feedback)
        return RescaledState(self.base.update(state.base, context, action, rescaled, draw))


@frozen_dataclass
class LinearThompson(OFUL):
    """Thompson sampling for linear bandits: pull the best arm of a parameter drawn around the ridge estimate.

    Source: Agrawal & Goyal (2013), "Thompson Sampling for Contextual Bandits with Linear Payoffs", Algorithm 1, with the factor
    v = R sqrt(9 d ln(t / delta)) of their theorem. The fields are those of ``OFUL``; ``norm_bound`` is not used.

    Examples:
        >>> from companion.arena.learners import LinearThompson
        >>> from paperlib.linear import FreshArms
        >>> from paperlib.play import play
        >>> learner = LinearThompson(noise=0.1, norm_bound=1.0, scale=0.1)
        >>> play(learner, FreshArms(dim=3), horizon=20, trials=3)["regret"].shape
        (3, 20)
    """

    def select(self, state: OFULState, arms: Tensor, draw: Draw) -> tuple[Tensor, OFULState]:
        """Return argmax_x x^T theta with theta ~ N(theta_t, v^2 V_t^{-1}), R indices; purpose "posterior"."""
        d = state.theta.shape[-1]
        v = self.scale * self.noise * math.sqrt(9 * d * math.log((state.rounds + 1) / self.delta))
        # With V = L L^T, the vector L^{-T} normal has the covariance V^{-1}.
        root = torch.linalg.cholesky_ex(state.precision).L
        normal = draw.normal("posterior", d).unsqueeze(2)
        noise = torch.linalg.solve_triangular(root.mT, normal, upper=True).squeeze(2)
        return argmax_first(arm_dot(arms, state.theta + v * noise)), state
