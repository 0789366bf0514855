"""What the bandit problems are built from: a round, a world, and the arms of the paper's synthetic instance.

The regret of a round is mu(best arm) - mu(played arm), free of noise. One uniform a trial and round,
purpose "reward", makes the reward, whatever the arm: all learners hear the same noise.
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

from ...core.linalg import chosen_mean
from ...core.streams import Draw, Streams
from ...core.validation import LARGEST, positive, size, whole
from ..model.links import Link, Poisson
from ..model.validation import known_link

LARGEST_NORM = 27.0  # with Poisson rewards, of means up to e^S
BLOCK = 1 << 18  # numbers of redrawn arms made at a time


class Moment(NamedTuple):
    """One round as the problem knows it."""

    arms: Tensor  # R x K x d, or 1 x K x d where the trials share them
    means: Tensor  # R x K or 1 x K, expected rewards
    best: Tensor  # R or 1, the largest of them


class World(NamedTuple):
    """A problem with its randomness settled; only rewards remain to be drawn."""

    theta: Tensor | None  # R x d or 1 x d, theta*; None where no linear model holds
    rounds: Sequence[Moment]  # what round t = 0, 1, ... looks like
    uniforms: tuple[Tensor, ...] | None = None  # R each, in place of the reward draws


class Bandit:
    """What the problems share. Subclasses have a field ``link`` and make the world."""

    link: Link

    def context(self, world: World, t: int) -> Tensor:
        """The arms on offer in round t, R x K x d or 1 x K x d."""
        return world.rounds[t].arms

    def respond(
        self, world: World, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Reward and regret of the arms ``action`` (R indices), R each."""
        _, means, best = world.rounds[t]
        mean = chosen_mean(means, action)
        uniform = draw.uniform("reward") if world.uniforms is None else world.uniforms[t]
        return self.link.sample(mean, uniform), best - mean


class Known(Bandit):
    """Arms and theta* that are the same in every trial and known before a run: oracle quantities.

    Subclasses define ``natural(horizon)``, z = x^T theta* of all arms, T x K; learners never see it.
    """

    def means(self, horizon: int) -> np.ndarray:
        """Expected rewards of all arms, T x K."""
        return self.link.mean(torch.tensor(self.natural(horizon))).numpy()

    def best_means(self, horizon: int) -> np.ndarray:
        """Expected reward of each round's best arm, T."""
        return self.means(horizon).max(1)

    def z_range(self, horizon: int) -> tuple[float, float]:
        """Smallest and largest natural parameter of an arm."""
        z = self.natural(horizon)
        return float(z.min()), float(z.max())

    def kappa_arms(self, horizon: int) -> float:
        """1 / min_{t,x} mu'(x^T theta*), the number that the paper quotes as kappa (erratum E21)."""
        return 1 / float(self.link.slope(torch.tensor(self.natural(horizon))).min())

    def kappa_opt(self, horizon: int) -> float:
        """kappa_*, the inverse of the mean slope at the rounds' best arms."""
        best = torch.tensor(self.natural(horizon).max(1))
        return 1 / float(self.link.slope(best).mean())

    def uniform_regret(self, horizon: int) -> float:
        """Expected total regret of drawing an arm uniformly each round."""
        means = self.means(horizon)
        return float((means.max(1) - means.mean(1)).sum())


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


class Redrawn:
    """Rounds of a problem that is drawn afresh in every trial, made a block at a time when asked for.

    A pure function of the trials' streams and t: only the last block is kept. Purposes "problem theta",
    "problem direction", "problem level".
    """

    def __init__(
        self, link: Link, norm: float, dim: int, arms: int, streams: Streams, horizon: int
    ):
        self.link, self.dim, self.arms = link, dim, arms
        self.streams, self.horizon = streams, horizon
        self.theta = norm * streams.at(-1).sphere("problem theta", dim)
        self.length = max(1, BLOCK // (self.theta.numel() * arms))
        self.start, self.block = -1, ()

    def __len__(self) -> int:
        return self.horizon

    def __getitem__(self, t: int) -> Moment:
        start = t - t % self.length
        if start != self.start:
            keys = [self.streams.at(s) for s in range(start, start + self.length)]
            self.start, self.block = start, self._make(keys)
        return self.block[t - start]

    def _make(self, keys: list[Draw]) -> tuple[Moment, ...]:
        v = torch.stack([key.normal("problem direction", self.arms, self.dim) for key in keys])
        rho = torch.stack([key.uniform("problem level", self.arms) for key in keys])
        arms = v * (rho ** (1 / self.dim) / torch.linalg.vector_norm(v, dim=-1)).unsqueeze(-1)
        means = self.link.mean((arms @ self.theta.unsqueeze(2)).squeeze(-1))
        return tuple(map(Moment, arms.unbind(0), means.unbind(0), means.amax(-1).unbind(0)))


def _check(problem) -> None:
    """Fields that the synthetic problems share.

    Raises:
        ValueError: out of range, or Poisson rewards whose mean would overflow.
    """
    known_link(problem.link)
    # counts of a mean e^S stay below the largest that learners take
    counts = isinstance(problem.link, Poisson)
    positive("norm", problem.norm, most=LARGEST_NORM if counts else LARGEST)
    size("dim", problem.dim)
    size("arms", problem.arms)
    whole("seed", problem.seed, least=0)
