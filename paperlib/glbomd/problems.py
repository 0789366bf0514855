"""Bandit problems whose rewards follow a generalized linear model, with new arms per round or one fixed arm set.

The regret of a round is mu(best arm) - mu(pulled arm), without noise. One uniform number per trial and round, with
purpose "reward", determines the reward. It does not depend on the arm, so all learners observe the same noise.
Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments. The problem instance comes from RS-GLinCB's public code
(Sawarni et al., 2024); we identified it by the values of kappa that the paper reports (erratum E21).
Letters: R trials, T rounds, K arms, d dimensions, S norm of theta*; mu the link's mean.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..core import fields
from ..core.describe import frozen_dataclass
from ..core.linalg import arm_dot, take_mean
from ..core.streams import Draw
from ..core.validation import LARGEST, check_positive
from .model.links import Bernoulli, Link, Poisson, known_link

LARGEST_NORM = 27.0  # largest S with Poisson rewards, whose means go up to e^S


class RoundInstance(NamedTuple):
    """Arms and expected rewards of one round."""

    arms: Tensor  # R x K x d, or 1 x K x d if the trials share them
    means: Tensor  # R x K or 1 x K, expected rewards
    best: Tensor  # R or 1, the largest expected reward


class BanditInstance(NamedTuple):
    """Problem instance in which everything but the rewards is drawn."""

    theta: Tensor | None  # R x d or 1 x d, theta*; None if no linear model holds
    rounds: Sequence[RoundInstance]  # round t = 0, 1, ...


class Bandit:
    """Base class of the bandit problems. Subclasses have the fields ``link`` and ``norm``, and draw the instance."""

    link: Link
    norm: float

    def __post_init__(self):
        known_link(self.link)
        # With this limit, counts with mean e^S stay below the largest count that learners accept.
        counts = isinstance(self.link, Poisson)
        check_positive("norm", self.norm, most=LARGEST_NORM if counts else LARGEST)

    def context(self, instance: BanditInstance, t: int) -> Tensor:
        """Return the arms available in round t, R x K x d or 1 x K x d."""
        return instance.rounds[t].arms

    def respond(
        self, instance: BanditInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return reward and regret of the arms ``action`` (R indices), R each."""
        _, means, best = instance.rounds[t]
        mean = take_mean(means, action)
        return self.link.sample(mean, draw.uniform("reward")), best - mean


class KnownBandit(Bandit):
    """Base class of problems whose arms and theta* are equal in all trials and known before a run.

    Its methods return oracle quantities. Subclasses define ``natural(horizon)``, which returns z = x^T theta* of all
    arms, T x K; learners have no access to it.
    """

    def means(self, horizon: int) -> np.ndarray:
        """Return the expected rewards of all arms, T x K."""
        return self.link.mean(torch.tensor(self.natural(horizon))).numpy()

    def best_means(self, horizon: int) -> np.ndarray:
        """Return the expected reward of each round's best arm, T."""
        return self.means(horizon).max(1)

    def kappa_arms(self, horizon: int) -> float:
        """Return 1 / min_{t,x} mu'(x^T theta*), the number that the paper reports as kappa (erratum E21)."""
        return 1 / float(self.link.slope(torch.tensor(self.natural(horizon))).min())

    def kappa_opt(self, horizon: int) -> float:
        """Return kappa_*, the inverse of the mean slope at the rounds' best arms."""
        best = torch.tensor(self.natural(horizon).max(1))
        return 1 / float(self.link.slope(best).mean())


@lru_cache(maxsize=4)
def _instance(dim: int, arms: int, seed: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the direction of theta* (d) and the arms (T x K x d) in the order of RS-GLinCB's public code.

    First u ~ uniform(-1, 1)^d gives theta* = S u / ||u||. Then, for each round and arm, a direction v ~ normal(d) and
    a level rho ~ uniform are drawn. The arm v rho^{1/d} / ||v|| is uniform in the ball.
    """
    generator = np.random.default_rng(seed)
    u = generator.uniform(-1, 1, size=dim)
    v, rho = np.empty((horizon * arms, dim)), np.empty(horizon * arms)
    # Normal and uniform numbers alternate in one stream, so drawing them in blocks would give other numbers.
    for i in range(horizon * arms):
        generator.standard_normal(out=v[i])
        rho[i] = generator.random()
    v *= (rho ** (1 / dim) / np.linalg.norm(v, axis=1))[:, None]
    v.flags.writeable = False
    return u / np.linalg.norm(u), v.reshape(horizon, arms, dim)


def sphere_instance(dim: int, arms: int, seed: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return theta* / S (d) and the arms (T x K x d).

    A shorter horizon is a prefix of a longer one. Therefore a longer instance is cached and cut to the horizon.
    """
    theta, x = _instance(dim, arms, seed, 1 << max(9, (horizon - 1).bit_length()))
    return theta, x[:horizon]


@frozen_dataclass
class SphereArms(KnownBandit):
    """Bandit with K new arms per round, uniform in the unit ball, and theta* on the sphere of radius S.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figures 1-3. All trials share one instance and differ only in
    their reward noise. The draws of the instance do not depend on S, and a shorter horizon is a prefix.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d, dimension of the arms.
        arms: K, number of arms.
        seed: seed of the instance.

    Examples:
        >>> from paperlib.glbomd import Bernoulli, SphereArms
        >>> problem = SphereArms(Bernoulli(), norm=3.0)
        >>> round(problem.kappa_arms(3000), 1)  # the paper reports kappa = 21
        21.0
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = fields.size(5)
    arms: int = fields.size(20)
    seed: int = fields.whole(109832, least=0)

    def natural(self, horizon: int) -> np.ndarray:
        """Return z = x^T theta* of all arms, T x K."""
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        return arms @ (self.norm * theta)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """Return the instance for ``horizon`` rounds."""
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        values = (self.norm * theta, arms, self.means(horizon))
        theta, arms, means = (torch.tensor(x, **tkwargs) for x in values)
        rounds = map(RoundInstance, arms.split(1), means.split(1), means.amax(1).split(1))
        return BanditInstance(theta.unsqueeze(0), tuple(rounds))


@frozen_dataclass
class FixedArms(Bandit):
    """Bandit with one arm set for all rounds, and a theta* per trial that is uniform on the sphere of radius S.

    New arms per round, as in ``SphereArms``, explore even for a greedy learner. Here the learner itself must explore.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d, dimension of the arms.
        arms: K, number of arms.
        shape: "ball" or "sphere", the set in which the arms are uniform.
        seed: seed of the arm set that the trials share.
        per_trial: draw a separate arm set for every trial, from its streams; the context is then R x K x d.

    Examples:
        >>> from paperlib.glbomd import FixedArms, Poisson, UniformArm
        >>> from paperlib.play import play
        >>> problem = FixedArms(Poisson(), norm=2.0, dim=3, arms=8)
        >>> play(UniformArm(), problem, horizon=50, trials=4)["regret"].shape
        (4, 50)
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = fields.size(5)
    arms: int = fields.size(20)
    shape: str = fields.one_of(("ball", "sphere"), "ball")
    seed: int = fields.whole(0, least=0)
    per_trial: bool = fields.one_of((False, True), False)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """Return the arm set, and theta* of every trial, drawn from its stream (purpose "problem theta")."""
        # A normal vector has a uniform direction; a norm of rho^{1/d} makes the point uniform in the ball.
        if self.per_trial:
            v = draw.normal("problem direction", self.arms, self.dim)
            rho = draw.uniform("problem level", self.arms)
        else:
            generator = np.random.default_rng(self.seed)
            v = torch.tensor(generator.standard_normal((1, self.arms, self.dim)), **tkwargs)
            rho = torch.tensor(generator.random((1, self.arms)), **tkwargs)
        length = rho ** (1 / self.dim) if self.shape == "ball" else torch.ones_like(rho)
        arms = v * (length / torch.linalg.vector_norm(v, dim=-1)).unsqueeze(-1)
        theta = self.norm * draw.sphere("problem theta", self.dim)
        means = self.link.mean(arm_dot(arms, theta))
        # All rounds share one object, so the arms are stored once.
        return BanditInstance(theta, (RoundInstance(arms, means, means.amax(1)),) * horizon)
