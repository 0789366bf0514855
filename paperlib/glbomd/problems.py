"""Bandits whose rewards follow a generalized linear model: fresh arms in each round, or one arm set for all rounds.

The regret of a round is mu(best arm) - mu(played arm), free of noise. One uniform per trial and round,
purpose "reward", makes the reward, whatever the arm: all learners observe the same noise.
Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments; the instance is that of RS-GLinCB's public code
(Sawarni et al., 2024), recognized by the kappas that the paper quotes (erratum E21).
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

LARGEST_NORM = 27.0  # with Poisson rewards, of means up to e^S


class RoundInstance(NamedTuple):
    """One round as the problem knows it."""

    arms: Tensor  # R x K x d, or 1 x K x d where the trials share them
    means: Tensor  # R x K or 1 x K, expected rewards
    best: Tensor  # R or 1, the largest of them


class BanditInstance(NamedTuple):
    """A problem with its randomness settled; only rewards remain to be drawn."""

    theta: Tensor | None  # R x d or 1 x d, theta*; None where no linear model holds
    rounds: Sequence[RoundInstance]  # what round t = 0, 1, ... looks like


class Bandit:
    """What the problems share. Subclasses have the fields ``link`` and ``norm``, and make the world."""

    link: Link
    norm: float

    def __post_init__(self):
        known_link(self.link)
        # counts of a mean e^S stay below the largest that learners take
        counts = isinstance(self.link, Poisson)
        check_positive("norm", self.norm, most=LARGEST_NORM if counts else LARGEST)

    def context(self, instance: BanditInstance, t: int) -> Tensor:
        """The arms on offer in round t, R x K x d or 1 x K x d."""
        return instance.rounds[t].arms

    def respond(
        self, instance: BanditInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Reward and regret of the arms ``action`` (R indices), R each."""
        _, means, best = instance.rounds[t]
        mean = take_mean(means, action)
        return self.link.sample(mean, draw.uniform("reward")), best - mean


class KnownBandit(Bandit):
    """Arms and theta* that are the same in every trial and known before a run: oracle quantities.

    Subclasses define ``natural(horizon)``, z = x^T theta* of all arms, T x K; learners never see it.
    """

    def means(self, horizon: int) -> np.ndarray:
        """Expected rewards of all arms, T x K."""
        return self.link.mean(torch.tensor(self.natural(horizon))).numpy()

    def best_means(self, horizon: int) -> np.ndarray:
        """Expected reward of each round's best arm, T."""
        return self.means(horizon).max(1)

    def kappa_arms(self, horizon: int) -> float:
        """1 / min_{t,x} mu'(x^T theta*), the number that the paper quotes as kappa (erratum E21)."""
        return 1 / float(self.link.slope(torch.tensor(self.natural(horizon))).min())

    def kappa_opt(self, horizon: int) -> float:
        """kappa_*, the inverse of the mean slope at the rounds' best arms."""
        best = torch.tensor(self.natural(horizon).max(1))
        return 1 / float(self.link.slope(best).mean())


@lru_cache(maxsize=4)
def _instance(dim: int, arms: int, seed: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Direction of theta* (d) and arms (T x K x d) in the draw order of RS-GLinCB's public code.

    u ~ uniform(-1, 1)^d gives theta* = S u / ||u||; then, round by round and arm by arm, a direction
    v ~ normal(d) and a level rho ~ uniform: the arm v rho^{1/d} / ||v|| is uniform in the ball.
    """
    generator = np.random.default_rng(seed)
    u = generator.uniform(-1, 1, size=dim)
    v, rho = np.empty((horizon * arms, dim)), np.empty(horizon * arms)
    # the two kinds alternate in one stream: no block draw gives the same numbers
    for i in range(horizon * arms):
        generator.standard_normal(out=v[i])
        rho[i] = generator.random()
    v *= (rho ** (1 / dim) / np.linalg.norm(v, axis=1))[:, None]
    v.flags.writeable = False
    return u / np.linalg.norm(u), v.reshape(horizon, arms, dim)


def sphere_instance(dim: int, arms: int, seed: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """theta* / S (d) and arms (T x K x d); a shorter horizon is a prefix, so that longer ones are kept and cut."""
    theta, x = _instance(dim, arms, seed, 1 << max(9, (horizon - 1).bit_length()))
    return theta, x[:horizon]


@frozen_dataclass
class SphereArms(KnownBandit):
    """K fresh arms each round, uniform in the unit ball, and theta* on the sphere of radius S.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figures 1-3. One instance serves all trials, which differ in
    their reward noise alone; its draws do not depend on S, and a shorter horizon is a prefix.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d.
        arms: K.
        seed: of the instance.
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = fields.size(5)
    arms: int = fields.size(20)
    seed: int = fields.whole(109832, least=0)

    def natural(self, horizon: int) -> np.ndarray:
        """z = x^T theta* of all arms, T x K."""
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        return arms @ (self.norm * theta)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """The instance for ``horizon`` rounds."""
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        values = (self.norm * theta, arms, self.means(horizon))
        theta, arms, means = (torch.tensor(x, **tkwargs) for x in values)
        rounds = map(RoundInstance, arms.split(1), means.split(1), means.amax(1).split(1))
        return BanditInstance(theta.unsqueeze(0), tuple(rounds))


@frozen_dataclass
class FixedArms(Bandit):
    """One arm set for all rounds and a theta* per trial, uniform on the sphere of radius S.

    Fresh arms explore for whoever acts greedily; here exploring is the learner's own task.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d.
        arms: K.
        shape: "ball" or "sphere", where the arms are uniform.
        seed: of the arm set that the trials share.
        per_trial: every trial has an arm set of its own, from its streams; the context is then R x K x d.
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = fields.size(5)
    arms: int = fields.size(20)
    shape: str = fields.one_of(("ball", "sphere"), "ball")
    seed: int = fields.whole(0, least=0)
    per_trial: bool = fields.one_of((False, True), False)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """The arm set and the trials' theta*, drawn from their streams (purpose "problem theta")."""
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
        return BanditInstance(theta, (RoundInstance(arms, means, means.amax(1)),) * horizon)
