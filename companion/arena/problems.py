"""Bandit problems of the arena that no paper has: fresh arms with rewards of any family, and arms without features.

Every trial has its own problem instance. Letters: R trials, K arms, d dimensions, S norm of theta*.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass
from paperlib.core.linalg import arm_dot, take_mean
from paperlib.core.streams import Draw, Streams
from paperlib.glbomd.model.links import Bernoulli, Link
from paperlib.glbomd.problems import Bandit


class FreshInstance(NamedTuple):
    """Parameter of every trial; the arms are drawn from the trials' streams."""

    theta: Tensor  # R x d, theta*
    streams: Streams


@frozen_dataclass
class FreshGLMArms(Bandit):
    """Rewards of a generalized linear model, K fresh arms in each round, uniform in the unit ball.

    Each trial has its own theta*, uniform on the sphere of radius S, and its own arms.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d, dimension of the arms.
        arms: K.

    Examples:
        >>> from companion.arena.problems import FreshGLMArms
        >>> from paperlib.glbomd import GLBOMD, Bernoulli
        >>> from paperlib.play import play
        >>> play(GLBOMD(Bernoulli(), 3.0), FreshGLMArms(dim=3, arms=6), horizon=30, trials=2)["regret"].shape
        (2, 30)
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = fields.size(5)
    arms: int = fields.size(20)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> FreshInstance:
        """Return theta*, drawn from the trials' streams (purpose "problem theta")."""
        return FreshInstance(self.norm * draw.sphere("problem theta", self.dim), draw.streams)

    def context(self, instance: FreshInstance, t: int) -> Tensor:
        """Return the arms of round t, R x K x d (purposes "problem direction" and "problem level")."""
        draw = instance.streams.at(t)
        v = draw.normal("problem direction", self.arms, self.dim)
        # A norm of rho^{1/d} with rho uniform in [0, 1] makes the point uniform in the ball.
        length = draw.uniform("problem level", self.arms) ** (1 / self.dim)
        return v * (length / torch.linalg.vector_norm(v, dim=-1)).unsqueeze(-1)

    def respond(
        self, instance: FreshInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return reward and regret of the arms ``action`` (R indices), R each."""
        means = self.link.mean(arm_dot(self.context(instance, t), instance.theta))
        mean = take_mean(means, action)
        return self.link.sample(mean, draw.uniform("reward")), means.amax(1) - mean


class UnrelatedInstance(NamedTuple):
    """Arms and their success probabilities."""

    arms: Tensor  # 1 x K x K, the identity matrix
    means: Tensor  # R x K


@frozen_dataclass
class UnrelatedArms:
    """Arms without features: K arms with rewards 0 or 1, whose success probabilities are uniform in [0.1, 0.9].

    The features are the rows of the identity matrix. Therefore learners with features can play too, but an arm's rewards teach them
    nothing about the other arms.

    Attributes:
        arms: K.

    Examples:
        >>> from companion.arena.problems import UnrelatedArms
        >>> from paperlib.glbomd import UCB1
        >>> from paperlib.play import play
        >>> play(UCB1(), UnrelatedArms(arms=4), horizon=30, trials=2)["regret"].shape
        (2, 30)
    """

    arms: int = fields.size(10)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> UnrelatedInstance:
        """Return the arms, and the success probabilities of every trial (purpose "problem means")."""
        arms = torch.eye(self.arms, **tkwargs).unsqueeze(0)
        return UnrelatedInstance(arms, 0.1 + 0.8 * draw.uniform("problem means", self.arms))

    def context(self, instance: UnrelatedInstance, t: int) -> Tensor:
        """Return the arms, 1 x K x K, the same in every round."""
        return instance.arms

    def respond(
        self, instance: UnrelatedInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return reward and regret of the arms ``action`` (R indices), R each."""
        mean = take_mean(instance.means, action)
        return Bernoulli().sample(mean, draw.uniform("reward")), instance.means.amax(1) - mean
