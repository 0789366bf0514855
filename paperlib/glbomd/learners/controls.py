"""Classical bandit algorithms for a fixed arm set: controls for the experiment on data, where no method's theory holds.

BetaThompson and UCB1 ignore the features and learn every arm separately. LaplaceThompson samples from the
Gaussian approximation of a generalized linear posterior. The paper contains none of the three. All three identify
an arm with its index, so the arm set must be the same in every round.
Letters: R trials, K arms, d dimensions.
"""

import math
from typing import NamedTuple

import torch
from scipy.special import betaincinv
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.linalg import argmax_first, arm_dot
from ...core.streams import CLIP, Draw
from ...core.validation import check_arms
from ..model.links import LARGEST_COUNT, Bernoulli, Link, known_link
from .glm import GLMLearner
from .mle import CountHistory, make_history, maximize_likelihood


class ArmCounts(NamedTuple):
    """State of an algorithm without features: pulls and sums of rewards per arm."""

    plays: Tensor  # R x K, how often each arm was played
    total: Tensor  # R x K, sum of its rewards
    rounds: int  # rounds observed so far


class _Tallied(GLMLearner):
    """Base class of the two algorithms without features; ``link`` determines the rewards that they accept."""

    tags = Tags(fixed_arms=True)

    def validate(
        self, context: Tensor, action: Tensor | None = None, feedback: Tensor | None = None
    ) -> None:
        """Raise ValueError for an unknown arm or a reward outside the family's support; arms may have any norm."""
        # The features are not used, so Assumption 1 on their norms is not needed.
        check_arms(context, action)
        if feedback is not None:
            self.link.validate(feedback)

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> ArmCounts:
        """Return counts of 0 for all arms."""
        zeros = torch.zeros(trials, arms.shape[1], **tkwargs)
        return ArmCounts(zeros, zeros, 0)

    def update(
        self, state: ArmCounts, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ArmCounts:
        """Add the pull of ``arm`` (R indices) and its ``reward`` (R) to the counts."""
        at = arm.unsqueeze(1)
        plays = state.plays.scatter_add(1, at, torch.ones_like(reward).unsqueeze(1))
        return ArmCounts(
            plays, state.total.scatter_add(1, at, reward.unsqueeze(1)), state.rounds + 1
        )


@frozen_dataclass
class BetaThompson(_Tallied):
    """Thompson sampling with a Beta posterior on each arm's mean reward; rewards are 0 or 1.

    Source: Chapelle & Li (2011), "An Empirical Evaluation of Thompson Sampling", Algorithm 2, uniform prior.

    Attributes:
        successes: a > 0 of the prior Beta(a, b).
        failures: b > 0 of the prior.

    Examples:
        >>> from paperlib.glbomd import BetaThompson, FixedArms, UniformArm
        >>> from paperlib.play import play
        >>> problem = FixedArms(dim=2, arms=4)
        >>> trace = play(BetaThompson(), problem, horizon=200, trials=2)
        >>> uniform = play(UniformArm(), problem, horizon=200, trials=2)
        >>> bool(trace["regret"][:, -1].mean() < 0.5 * uniform["regret"][:, -1].mean())
        True
    """

    # Smaller parameters would be lost to rounding when counts are added; for larger ones the quantiles of the Beta
    # distribution are not computed.
    successes: float = fields.positive(1.0, 1e-6, most=LARGEST_COUNT)
    failures: float = fields.positive(1.0, 1e-6, most=LARGEST_COUNT)
    link = Bernoulli()

    def select(self, state: ArmCounts, arms: Tensor, draw: Draw) -> tuple[Tensor, ArmCounts]:
        """Return the arms with the largest sampled mean, R indices; samples by inverse CDF, purpose "posterior"."""
        uniform = draw.uniform("posterior", arms.shape[1]).clamp(CLIP, 1 - CLIP).cpu().numpy()
        a = (self.successes + state.total).cpu().numpy()
        b = (self.failures + state.plays - state.total).cpu().numpy()
        sample = torch.from_numpy(betaincinv(a, b, uniform))
        return argmax_first(sample).to(state.plays.device), state


@frozen_dataclass
class UCB1(_Tallied):
    """Upper confidence bounds: mean reward plus sqrt(2 ln t / pulls), after one pull of each arm; rewards in [0, 1].

    Source: Auer, Cesa-Bianchi & Fischer (2002), "Finite-time Analysis of the Multiarmed Bandit Problem", Figure 1.

    Attributes:
        scale: practical, multiplies the bonus: 1 is the theory.

    Examples:
        >>> from paperlib.asktell import AskTell
        >>> from paperlib.glbomd import UCB1
        >>> trial = AskTell(UCB1(), [[1.0], [1.0]])
        >>> for reward in (1.0, 0.0):
        ...     trial.tell(trial.ask(), reward)
        >>> trial.ask()  # both arms were pulled once; the first one had the larger reward
        0
    """

    scale: float = fields.nonnegative(1.0)
    link = Bernoulli(fractional=True)

    def select(self, state: ArmCounts, arms: Tensor, draw: Draw) -> tuple[Tensor, ArmCounts]:
        """Return R arm indices, ties to the lowest index; arms that were never pulled come first."""
        bonus = self.scale * (2 * math.log(max(state.rounds, 1)) / state.plays.clamp(min=1)).sqrt()
        index = state.total / state.plays.clamp(min=1) + bonus
        return argmax_first(index.where(state.plays > 0, torch.finfo(index.dtype).max)), state


class Posterior(NamedTuple):
    """State of ``LaplaceThompson``: the Gaussian approximation of the posterior, around its mode."""

    history: CountHistory
    theta: Tensor  # R x d, mode
    precision: Tensor  # R x d x d, Hessian at the mode
    rounds: int  # rounds observed so far


@frozen_dataclass
class LaplaceThompson(GLMLearner):
    """Thompson sampling from the Laplace approximation of a generalized linear posterior.

    Source: Chapelle & Li (2011), Algorithm 3, with the full Hessian instead of its diagonal. All rounds are
    refitted in every round, instead of using a sequence of Gaussian priors.

    Attributes:
        link: family of the rewards.
        ridge: lambda > 0, precision of the Gaussian prior.
        scale: practical, multiplies the sample's deviation from the mode: 1 samples from the posterior, 0 is greedy.

    Examples:
        >>> from paperlib.glbomd import Bernoulli, FixedArms, LaplaceThompson, UniformArm
        >>> from paperlib.play import play
        >>> problem = FixedArms(dim=2, arms=4)
        >>> trace = play(LaplaceThompson(Bernoulli()), problem, horizon=200, trials=2)
        >>> uniform = play(UniformArm(), problem, horizon=200, trials=2)
        >>> bool(trace["regret"][:, -1].mean() < 0.5 * uniform["regret"][:, -1].mean())
        True
    """

    link: Link = Bernoulli()
    ridge: float = fields.positive(1.0)
    scale: float = fields.nonnegative(1.0)
    tags = Tags(fixed_arms=True)
    refits = True

    def __post_init__(self):
        known_link(self.link)
        slope = self.link.max_slope(0.0) / self.link.dispersion
        self.check_conditioned("ridge", self.ridge, slope)

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> Posterior:
        """Return the prior N(0, I / lambda)."""
        d = arms.shape[2]
        eye = torch.eye(d, **tkwargs).repeat(trials, 1, 1)
        past = make_history(trials, arms, counts=True, **tkwargs)
        return Posterior(past, torch.zeros(trials, d, **tkwargs), self.ridge * eye, 0)

    def select(self, state: Posterior, arms: Tensor, draw: Draw) -> tuple[Tensor, Posterior]:
        """Return argmax_x x^T theta with theta ~ N(mode, scale^2 H^{-1}), R indices; purpose "posterior"."""
        normal = draw.normal("posterior", arms.shape[2]).unsqueeze(2)
        # With H = L L^T, the vector L^{-T} normal has covariance H^{-1}, so no inverse is needed.
        root = torch.linalg.cholesky_ex(state.precision).L
        noise = torch.linalg.solve_triangular(root.mT, normal, upper=True).squeeze(2)
        return argmax_first(arm_dot(arms, state.theta + self.scale * noise)), state

    def update(
        self, state: Posterior, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> Posterior:
        """Refit the mode and its Hessian. ``arm``: R indices; ``reward``: R."""
        past = state.history.add(arms, arm, reward)
        sample = past.sample(arms)
        theta = maximize_likelihood(self.link, sample, state.theta, self.ridge).theta
        weight = sample.weights * self.link.slope(arm_dot(arms, theta)) / self.link.dispersion
        data = (arms.mT * weight.unsqueeze(1)) @ arms  # sum_k n_k mu'(z_k) / g x_k x_k^T
        eye = torch.eye(arms.shape[2], dtype=theta.dtype, device=theta.device)
        precision = torch.add(data, eye, alpha=self.ridge)
        return Posterior(past, theta, precision, state.rounds + 1)
