"""Linear bandit problems: directions of the plane, and fresh random arms in each round.

Source: Abbasi-Yadkori, Pal & Szepesvari (2011), experiments, in our reading: parameter and actions are in the unit ball of
the plane, and the noise is Gaussian. A linear function is largest on the sphere, so arms on the sphere represent the ball.
Letters: R trials, K arms, d dimensions, S norm of theta*.

The regret of a round is x*^T theta* - x^T theta*, without noise. The noise of the reward is one normal sample per trial and
round (purpose "noise"), whatever the arm. Therefore all learners observe the same noise.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.describe import frozen_dataclass
from ..core.linalg import arm_dot, take_mean
from ..core.streams import Draw, Streams


class LinearInstance(NamedTuple):
    """A problem instance with its theta*. Fresh arms are drawn from the streams of the trials."""

    theta: Tensor  # R x d, theta*
    arms: Tensor | None  # 1 x K x d, or None if the arms are fresh in each round
    streams: Streams | None  # streams of the trials if the arms are fresh, else None


class _Linear:
    """Base class of the problems. Subclasses are frozen dataclasses with these fields, and draw the instance in ``init``."""

    norm: float
    noise: float
    arms: int

    def context(self, instance: LinearInstance, t: int) -> Tensor:
        """Return the available arms of round t, R x K x d or 1 x K x d."""
        return instance.arms

    def respond(
        self, instance: LinearInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the reward and the regret of the arms ``action`` (R indices), R each."""
        means = arm_dot(self.context(instance, t), instance.theta)
        mean = take_mean(means, action)
        return mean + self.noise * draw.normal("noise"), means.amax(1) - mean


@frozen_dataclass
class Circle(_Linear):
    """K evenly spaced directions of the plane, the same in all rounds.

    Each trial has its own theta*, uniform on the circle of radius S.

    Attributes:
        norm: S = ||theta*||_2.
        noise: standard deviation of the Gaussian noise.
        arms: K.

    Examples:
        >>> from paperlib.linear import OFUL, Circle
        >>> from paperlib.play import play
        >>> play(OFUL(0.1, 1.0), Circle(arms=12), horizon=30, trials=2)["regret"].shape
        (2, 30)
    """

    norm: float = fields.positive(1.0)
    noise: float = fields.nonnegative(0.1)
    arms: int = fields.size(100)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> LinearInstance:
        """Return the directions, and theta* drawn from the trials' streams (purpose "problem theta")."""
        angle = torch.arange(self.arms, **tkwargs) * (2 * math.pi / self.arms)
        arms = torch.stack([angle.cos(), angle.sin()], -1).unsqueeze(0)
        return LinearInstance(self.norm * draw.sphere("problem theta", 2), arms, None)


@frozen_dataclass
class FreshArms(_Linear):
    """K fresh arms in each round, uniform on the unit sphere.

    Each trial has its own theta*, uniform on the sphere of radius S.

    Attributes:
        dim: d, dimension of the arms.
        norm: S = ||theta*||_2.
        noise: standard deviation of the Gaussian noise.
        arms: K.

    Examples:
        >>> from paperlib.linear import OFUL, FreshArms
        >>> from paperlib.play import play
        >>> play(OFUL(0.1, 1.0), FreshArms(dim=3, arms=6), horizon=30, trials=2)["regret"].shape
        (2, 30)
    """

    dim: int = fields.size(5)
    norm: float = fields.positive(1.0)
    noise: float = fields.nonnegative(0.1)
    arms: int = fields.size(20)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> LinearInstance:
        """Return theta* drawn from the trials' streams (purpose "problem theta")."""
        return LinearInstance(
            self.norm * draw.sphere("problem theta", self.dim), None, draw.streams
        )

    def context(self, instance: LinearInstance, t: int) -> Tensor:
        """Return the arms of round t, R x K x d (purpose "problem arms")."""
        arms = instance.streams.at(t).normal("problem arms", self.arms, self.dim)
        return arms / torch.linalg.vector_norm(arms, dim=-1, keepdim=True)
