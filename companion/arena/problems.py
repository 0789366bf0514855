"""Bandit problems of the arena that no paper has: fresh arms with rewards of any family, and arms without features.

Every trial has its own problem instance. Letters: R trials, K arms, d dimensions, S norm of theta*.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass
from paperlib.core.linalg import arm_dot
from paperlib.core.streams import Draw, Streams
from paperlib.glbomd.model.links import Bernoulli, Link
from paperlib.glbomd.problems import Bandit, BanditInstance, RoundInstance

LEAST, MOST = 0.1, 0.9  # success probabilities of arms without features


@dataclass(frozen=True)
class FreshRounds:
    """Rounds whose arms are drawn from the trials' streams when they are needed; ``rounds[t]`` is round t = 0, 1, ..."""

    problem: "FreshGLMArms"
    theta: Tensor  # R x d, theta*
    streams: Streams

    def __getitem__(self, t: int) -> RoundInstance:
        """Return arms, R x K x d, and expected rewards (purposes "problem direction" and "problem level")."""
        draw, (K, d) = self.streams.at(t), (self.problem.arms, self.problem.dim)
        v = draw.normal("problem direction", K, d)
        # A norm of rho^{1/d} with rho uniform in [0, 1] makes the point uniform in the ball.
        length = draw.uniform("problem level", K) ** (1 / d)
        arms = v * (length / torch.linalg.vector_norm(v, dim=-1)).unsqueeze(-1)
        means = self.problem.link.mean(arm_dot(arms, self.theta))
        return RoundInstance(arms, means, means.amax(1))


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

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """Return theta*, drawn from the trials' streams (purpose "problem theta"), and the rounds."""
        theta = self.norm * draw.sphere("problem theta", self.dim)
        return BanditInstance(theta, FreshRounds(self, theta, draw.streams))


@frozen_dataclass
class UnrelatedArms(Bandit):
    """Arms without features: K arms with rewards 0 or 1, whose success probabilities are uniform in [0.1, 0.9].

    The features are the rows of the identity matrix. Therefore learners with features can play too, but an arm's rewards teach them
    nothing about the other arms. A logistic model with theta* = ln(m / (1 - m)) holds for the success probabilities m.

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
    link = Bernoulli()

    @property
    def norm(self) -> float:
        """Return sqrt(K) ln(0.9 / 0.1), the largest possible norm of theta*."""
        return math.sqrt(self.arms) * math.log(MOST / (1 - MOST))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """Return the arms, 1 x K x K, and the success probabilities of every trial (purpose "problem means")."""
        means = LEAST + (MOST - LEAST) * draw.uniform("problem means", self.arms)
        arms = torch.eye(self.arms, **tkwargs).unsqueeze(0)
        # All rounds share one object, so the arms are stored once.
        return BanditInstance(None, (RoundInstance(arms, means, means.amax(1)),) * horizon)
