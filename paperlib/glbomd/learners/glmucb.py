"""GLM-UCB: upper confidence bounds around the maximum likelihood estimate of all rounds.

Source: Filippi, Cappe, Garivier & Szepesvari (2010), "Parametric Bandits: The Generalized Linear Case",
Section 4; with the ridge of Zhang, Xu, Zhao & Sugiyama (2025), Appendix F, whose figures show it as a baseline.
Letters: R trials, K arms, d dimensions, n = t - 1 rounds observed so far; S norm bound, C_mu largest slope.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    add_rank_one,
    argmax_first,
    arm_dot,
    invert_spd,
    mahalanobis_norm,
    take_arm,
)
from ...core.streams import Draw
from ..model.links import Link
from .glm import BoundedLearner
from .mle import Fit, History, initial_fit, make_history, maximize_likelihood, predict_start


class GLMUCBState(NamedTuple):
    """State of ``GLMUCB``; it grows with the number of rounds, unless the history is stored as counts."""

    history: History  # every round
    fit: Fit  # after ``select``: the estimate that it used; after ``update``: a prediction of the next
    design: Tensor  # R x d x d, sum x x^T
    outside: Tensor  # R int64, rounds where the estimate's norm exceeded S
    horizon: int  # T
    rounds: int  # t - 1


@frozen_dataclass
class GLMUCB(BoundedLearner):
    """Upper confidence bounds mu(x^T theta) + rho_t ||x||_{V_t^{-1}} around the ridge estimate.

    Departure: Filippi et al. start with d independent arms and no ridge, and project the estimate onto the
    ball if it is outside. Here a ridge of d ln(1 + t) replaces both steps. ``report`` counts the rounds in
    which the projection would have mattered.

    Attributes:
        link: the rewards' family.
        norm_bound: S > 0, bound on ||theta*||_2.
        kappa: 1 / the smallest slope of the mean, > 0. None: its value over unit arms and the ball of radius S.
        reward_bound: R_max > 0, bound on the rewards. None: 1 for Bernoulli rewards, n for Binomial rewards and 100
            for unbounded rewards, which is the value that Zhang et al. (2025) use for Poisson rewards.
        delta: in (0, 1], failure probability.
        scale: practical, multiplies rho_t; a number or one per trial, R.
        counts: store pulls and sums of rewards per arm. The arms must be the same in all rounds; then the cost of a
            round is O(K d^2) instead of O(n d^2).

    Raises:
        ValueError: a value out of range; ``init`` without a horizon.

    Examples:
        >>> from paperlib.glbomd import GLMUCB, Bernoulli, FixedArms
        >>> from paperlib.play import play
        >>> learner = GLMUCB(Bernoulli(), norm_bound=3.0, counts=True)
        >>> play(learner, FixedArms(dim=2, arms=4), horizon=5, trials=2)["regret"].shape
        (2, 5)
    """

    link: Link
    norm_bound: float = fields.positive()
    kappa: float | None = fields.positive(None, optional=True)
    reward_bound: float | None = fields.positive(None, optional=True)
    delta: float = fields.probability(0.01)
    scale: float | Tensor = fields.nonnegative(1.0, by_trial=True)
    counts: bool = fields.one_of((False, True), False)

    def __post_init__(self):
        self.check_fields()
        self.check_conditioned("link", self.ridge_value(1, 1), self.most_added)

    def ridge_value(self, t: int, dim: int) -> float:
        """Return lambda_t = d ln(1 + t) of round t = 1, 2, ..."""
        return dim * math.log1p(t)

    def radius(self, t: int, dim: int, horizon: int) -> float:
        """Return rho_t of round t = 1, 2, ..., without ``scale``; Filippi et al. (2010), Proposition 1."""
        slack = 3 + 2 * math.log(1 + 2 / self.ridge_value(t, dim))
        confidence = 2 * dim * math.log(2 * dim * horizon / self.delta)
        # The factor sqrt(ln t) is part of the source's radius, although one public implementation omits it.
        root = math.sqrt(slack * confidence * max(math.log(t), 1.0))
        return 2 * self.link.max_slope(self.norm_bound) * self.kappa_value * self.bound * root

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> GLMUCBState:
        """Return the initial state, an empty history and theta = 0.

        Raises:
            ValueError: no horizon is given; rho_t depends on it.
        """
        self.check_horizon(horizon)
        d = arms.shape[-1]
        heard = make_history(trials, arms, self.counts, **tkwargs)
        fit = initial_fit(trials, d, self.ridge_value(1, d), **tkwargs)
        outside = torch.zeros_like(fit.converged, dtype=torch.int64)
        return GLMUCBState(heard, fit, torch.zeros_like(fit.hessian), outside, horizon, 0)

    def select(self, state: GLMUCBState, arms: Tensor, draw: Draw) -> tuple[Tensor, GLMUCBState]:
        """Return the optimistic arms, R indices; ties go to the lowest index. ``arms``: R x K x d or 1 x K x d."""
        t, d = state.rounds + 1, arms.shape[-1]
        ridge = self.ridge_value(t, d)
        fit = maximize_likelihood(self.link, state.history.sample(arms), state.fit.theta, ridge)
        theta = fit.theta
        # V_t = sum x x^T + lambda_t I. Because the ridge changes in every round, V_t^{-1} has no rank-one update.
        eye = torch.eye(d, dtype=theta.dtype, device=theta.device)
        # The design matrix has no weights mu', which is why kappa multiplies the radius.
        covariance = invert_spd(state.design + ridge * eye)
        bonus = self.radius(t, d, state.horizon) * mahalanobis_norm(arms, covariance)
        scale = self.scale.unsqueeze(1) if isinstance(self.scale, Tensor) else self.scale
        index = self.link.mean(arm_dot(arms, theta)) + scale * bonus
        # The estimate is not projected. Counting the rounds outside the ball shows whether this matters.
        outside = state.outside + (torch.linalg.vector_norm(theta, dim=1) > self.norm_bound)
        return argmax_first(index, self.norm_bound), state._replace(fit=fit, outside=outside)

    def update(
        self, state: GLMUCBState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> GLMUCBState:
        """Add the round to the history. ``arm``: R; ``reward``: R."""
        x, t, d = take_arm(arms, arm), state.rounds + 1, arms.shape[-1]
        growth = self.ridge_value(t + 1, d) - self.ridge_value(t, d)
        # The next fit starts from this prediction, so it usually needs a single pass over the history.
        start = predict_start(self.link, state.fit, x, reward, growth)
        design = add_rank_one(state.design, x, torch.ones_like(reward))
        heard = state.history.add(arms, arm, reward)
        return state._replace(history=heard, fit=start, design=design, rounds=t)

    def report(self, state: GLMUCBState) -> dict[str, Tensor]:
        """Return ``outside``, the number of rounds in which Filippi et al. would project the estimate onto the ball."""
        return {"outside": state.outside}
