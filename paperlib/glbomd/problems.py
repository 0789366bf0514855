"""Generalized linear bandits to play on: fresh arms each round, one fixed set, and Covertype.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments and Appendix F; the synthetic instance is that of
RS-GLinCB's public code (Sawarni et al., 2024), recognized by the kappas that the paper quotes.
Letters: R trials, T rounds, K arms, d dimensions, S norm of theta*; mu the link's mean.

The regret of a round is mu(best arm) - mu(played arm), free of noise. One uniform a trial and round,
purpose "reward", makes the reward, whatever the arm: all learners hear the same noise.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..datasets_covertype import covertype_arms, table_checksum
from ..linalg import inner
from ..streams import Draw
from .links import LARGEST_Z, Bernoulli, Link, Poisson
from .validation import known_link, one_of, positive, whole
from .worlds import Bandit, Known, Moment, Redrawn, World, sphere_instance


def _check(problem) -> None:
    """Fields that the synthetic problems share.

    Raises:
        ValueError: out of range, or Poisson rewards whose mean would overflow.
    """
    known_link(problem.link)
    positive("norm", problem.norm)
    if isinstance(problem.link, Poisson) and problem.norm > LARGEST_Z:
        raise ValueError(f"norm={problem.norm!r}; allowed: at most {LARGEST_Z:g} with Poisson rewards, whose mean e^z would overflow")
    whole("dim", problem.dim)
    whole("arms", problem.arms)
    whole("seed", problem.seed, least=0)


@dataclass(frozen=True)
class SphereArms(Known):
    """K fresh arms each round, uniform in the unit ball, and theta* on the sphere of radius S.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figures 1-3. One instance serves all trials, which differ in
    their reward noise alone; its draws do not depend on S, and a shorter horizon is a prefix.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d.
        arms: K.
        seed: of the instance.
        redraw: draw theta* and the arms afresh in every trial, from the trial's own streams: ours, because
            one instance cannot support a general claim. Oracle quantities are then undefined.
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = 5
    arms: int = 20
    seed: int = 109832
    redraw: bool = False

    def __post_init__(self):
        _check(self)

    def natural(self, horizon: int) -> np.ndarray:
        """z = x^T theta* of all arms, T x K.

        Raises:
            ValueError: ``redraw`` is on: every trial has its own.
        """
        if self.redraw:
            raise ValueError("redraw=True; allowed: False, for quantities of one instance that all trials share")
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        return arms @ (self.norm * theta)

    def longest_regret(self, horizon: int) -> float:
        """Total regret of always playing the longest arm."""
        _, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        means = self.means(horizon)
        return float((means.max(1) - means[np.arange(horizon), (arms * arms).sum(2).argmax(1)]).sum())

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The instance, or R of them, for ``horizon`` rounds."""
        if self.redraw:
            rounds = Redrawn(self.link, self.norm, self.dim, self.arms, draw.streams, horizon)
            return World(rounds.theta, rounds)
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        arms = torch.tensor(arms, **tkwargs)
        means = torch.tensor(self.means(horizon), **tkwargs)
        moments = zip(arms.split(1), means.split(1), means.amax(1).split(1))
        return World(torch.tensor(self.norm * theta, **tkwargs).unsqueeze(0), tuple(Moment(*moment) for moment in moments))


@dataclass(frozen=True)
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
    dim: int = 5
    arms: int = 20
    shape: str = "ball"
    seed: int = 0
    per_trial: bool = False

    def __post_init__(self):
        _check(self)
        one_of("shape", self.shape, ("ball", "sphere"))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
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
        means = self.link.mean(inner(arms, theta))
        return World(theta, (Moment(arms, means, means.amax(1)),) * horizon)


@dataclass(frozen=True)
class Covertype(Known):
    """Sixty clusters of forest cover as arms, in 11 dimensions; the reward is 1 where a tree is a lodgepole pine.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figure 4. No logistic model fits the clusters' mean rewards, so
    no guarantee applies, and the regret is against the best cluster. A cluster's mean reward stands for
    drawing one of its members: the same law.

    Attributes:
        checksum: SHA-256 of the table of clusters; results are kept, and figures labeled, under it.

    Raises:
        ValueError: another table's checksum.
    """

    checksum: str = field(default_factory=table_checksum)
    link = Bernoulli()

    def __post_init__(self):
        one_of("checksum", self.checksum, [table_checksum()])

    def natural(self, horizon: int) -> np.ndarray:
        """ln(m / (1 - m)) of the clusters' mean rewards m, T x K: what a perfect model would need, not x^T theta*."""
        mean = covertype_arms().mean
        return np.broadcast_to(np.log(mean / (1 - mean)), (horizon, len(mean)))

    def means(self, horizon: int) -> np.ndarray:
        mean = covertype_arms().mean
        return np.broadcast_to(mean, (horizon, len(mean)))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The sixty arms, largest norm 1, with their mean rewards."""
        table = covertype_arms()
        arms, means = (torch.tensor(x, **tkwargs).unsqueeze(0) for x in (table.arms, table.mean))
        return World(None, (Moment(arms, means, means.amax(1)),) * horizon)


@dataclass(frozen=True, eq=False)
class GivenUniforms:
    """A problem whose reward uniforms are given: rows are the trials of a run, by position.

    Attributes:
        problem: any problem of this module.
        uniforms: trials x rounds in [0, 1); a run may be shorter, not longer.
    """

    problem: Any
    uniforms: Tensor

    def __post_init__(self):
        object.__setattr__(self, "uniforms", torch.as_tensor(self.uniforms, dtype=torch.float64))
        if self.uniforms.dim() != 2 or not bool(((self.uniforms >= 0) & (self.uniforms < 1)).all()):
            raise ValueError(f"uniforms: shape {tuple(self.uniforms.shape)}; allowed: trials x rounds, numbers in [0, 1)")

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The problem's world with these uniforms.

        Raises:
            ValueError: not one row per trial, or fewer columns than rounds.
        """
        rows, columns = self.uniforms.shape
        if rows != trials or columns < horizon:
            raise ValueError(f"uniforms: shape {rows} x {columns}; allowed for this run: {trials} x at least {horizon}")
        world = self.problem.init(trials, horizon, draw, **tkwargs)
        return world._replace(uniforms=self.uniforms[:, :horizon].to(**tkwargs).T.contiguous().unbind(0))

    def context(self, world: World, t: int) -> Tensor:
        """As the problem's."""
        return self.problem.context(world, t)

    def respond(self, world: World, t: int, action: Tensor, wants: str, draw: Draw) -> tuple[Tensor, Tensor]:
        """As the problem's, from the given uniforms."""
        return self.problem.respond(world, t, action, wants, draw)
