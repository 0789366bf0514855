"""Linear bandits to play on: directions of the plane, and fresh arms each round.

Source: Abbasi-Yadkori, Pal & Szepesvari (2011), experiments, in our reading: parameter and actions in the
unit ball of the plane, Gaussian noise. A linear function is largest on the sphere, so that arms on the sphere stand for the ball.
Letters: R trials, K arms, d dimensions, S norm of theta*.

The regret of a round is x*^T theta* - x^T theta*, free of noise. One normal a trial and round, purpose "noise",
makes the reward, whatever the arm: all learners hear the same noise.
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
    """A problem with theta* drawn; where arms are fresh, the trials' streams make them."""

    theta: Tensor  # R x d, theta*
    arms: Tensor | None  # 1 x K x d, or None: fresh each round
    streams: Streams | None  # of the trials, where arms are fresh


class _Linear:
    """What the problems share. Subclasses are frozen dataclasses with these fields, and make the world."""

    norm: float
    noise: float
    arms: int

    def context(self, instance: LinearInstance, t: int) -> Tensor:
        """The arms on offer in round t, R x K x d or 1 x K x d."""
        return instance.arms

    def respond(
        self, instance: LinearInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Reward and regret of the arms ``action`` (R indices), R each."""
        means = arm_dot(self.context(instance, t), instance.theta)
        mean = take_mean(means, action)
        return mean + self.noise * draw.normal("noise"), means.amax(1) - mean


@frozen_dataclass
class Circle(_Linear):
    """K directions of the plane, evenly spaced, the same in all rounds; a theta* per trial, uniform on the circle of radius S.

    Attributes:
        norm: S = ||theta*||_2.
        noise: standard deviation of the Gaussian noise.
        arms: K.
    """

    norm: float = fields.positive(1.0)
    noise: float = fields.nonnegative(0.1)
    arms: int = fields.size(100)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> LinearInstance:
        """The directions, and theta* from the trials' streams (purpose "problem theta")."""
        angle = torch.arange(self.arms, **tkwargs) * (2 * math.pi / self.arms)
        arms = torch.stack([angle.cos(), angle.sin()], -1).unsqueeze(0)
        return LinearInstance(self.norm * draw.sphere("problem theta", 2), arms, None)


@frozen_dataclass
class FreshArms(_Linear):
    """K fresh arms each round, uniform on the unit sphere; a theta* per trial, uniform on the sphere of radius S.

    Attributes:
        dim: d.
        norm: S = ||theta*||_2.
        noise: standard deviation of the Gaussian noise.
        arms: K.
    """

    dim: int = fields.size(5)
    norm: float = fields.positive(1.0)
    noise: float = fields.nonnegative(0.1)
    arms: int = fields.size(20)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> LinearInstance:
        """theta* from the trials' streams (purpose "problem theta")."""
        return LinearInstance(
            self.norm * draw.sphere("problem theta", self.dim), None, draw.streams
        )

    def context(self, instance: LinearInstance, t: int) -> Tensor:
        """The arms of round t, R x K x d (purpose "problem arms")."""
        arms = instance.streams.at(t).normal("problem arms", self.arms, self.dim)
        return arms / torch.linalg.vector_norm(arms, dim=-1, keepdim=True)
