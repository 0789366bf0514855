"""GLOC: a confidence set that is built from the predictions of an online Newton step learner.

Source: Jun, Bhargava, Nowak & Willett (2017), "Scalable Generalized Linear Bandits: Online Computation and
Hashing", Algorithm 1 and Theorem 1; a baseline of Zhang, Xu, Zhao & Sugiyama (2025), Figures 1, 2 and 4.
Letters: R trials, K arms, d dimensions; S norm bound, c = 1 / kappa the smallest slope, sigma the rewards'
sub-Gaussian constant, B the learner's regret bound.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Observed
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    Array,
    add_outer,
    argmax_first,
    arm_dot,
    as_numpy_if_cpu,
    as_tensors,
    dot,
    invert_spd,
    log,
    mahalanobis_norm,
    matmul,
    matvec,
    per_trial_column,
    safe_sqrt,
    take_arm,
)
from ...core.streams import Draw
from ...maths.sets import project_ball
from ..model.links import Bernoulli, Binomial, Link, Poisson
from .glm import KappaLearner


class GLOCState(NamedTuple):
    """State of ``GLOC``; its size does not depend on the number of rounds."""

    theta: Tensor  # R x d, the online Newton step learner's point
    precision: Tensor  # R x d x d, A = lambda I + sum x x^T
    covariance: Tensor  # R x d x d, A^{-1}
    predicted: Tensor  # R x d, y = sum z_s x_s with the learner's predictions z_s
    square: Tensor  # R, sum z_s^2
    regret: Tensor  # R, B, bound on the learner's regret
    rounds: int  # t - 1, rounds observed so far


@frozen_dataclass
class GLOC(KappaLearner):
    """Generalized linear online-to-confidence-set conversion.

    Attributes:
        link: the rewards' family.
        norm_bound: S > 0, bound on ||theta*||_2.
        delta: in (0, 1], failure probability.
        ridge: lambda > 0, or "dim" for d.
        kappa: 1 / the smallest slope of the mean, > 0. None: its value over unit arms and the ball of radius S.
        sub_gaussian: sigma > 0. None: 1/2 for Bernoulli rewards, sqrt(n)/2 for Binomial rewards (Hoeffding), sqrt(g)
            for Gaussian rewards, and e^{S/2} for Poisson rewards. Poisson rewards are not sub-Gaussian, so for them
            this value, the largest standard deviation, is a heuristic without guarantee.
        scale: practical, multiplies the radius; a number or one per trial, R.
        refresh: rounds between two inversions of A from scratch; in between, its inverse is updated.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.glbomd import GLOC, Bernoulli, FixedArms, UniformArm
        >>> from paperlib.play import play
        >>> problem = FixedArms(dim=2, arms=4)
        >>> trace = play(GLOC(Bernoulli(), norm_bound=3.0), problem, horizon=200, trials=2)
        >>> uniform = play(UniformArm(), problem, horizon=200, trials=2)
        >>> bool(trace["regret"][:, -1].mean() < 0.8 * uniform["regret"][:, -1].mean())
        True
    """

    link: Link
    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    ridge: str | float = "dim"
    kappa: float | None = fields.positive(None, optional=True)
    sub_gaussian: float | None = fields.positive(None, optional=True)
    scale: float | Tensor = fields.nonnegative(1.0, by_trial=True)
    refresh: int = fields.whole(4096)

    def __post_init__(self):
        self.check_fields()
        self.check_constant("sigma", self.noise)
        self.check_conditioned("ridge", self.ridge_value(1), 1.0)

    @property
    def curvature(self) -> float:
        """The strong convexity of the loss along an arm, c = 1 / kappa."""
        return 1 / self.kappa_value

    @property
    def noise(self) -> float:
        """The sub-Gaussian constant sigma, see ``sub_gaussian``."""
        if self.sub_gaussian is not None:
            return self.sub_gaussian
        if isinstance(self.link, (Bernoulli, Binomial)):
            return math.sqrt(getattr(self.link, "count", 1)) / 2
        if isinstance(self.link, Poisson):
            # The variance of a count is its mean, at most e^S.
            return math.exp(self.norm_bound / 2)
        return math.sqrt(self.link.dispersion)

    def caution(
        self, context: Tensor, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return a warning if the analysis does not cover the rewards or a reward contradicts the model, else None."""
        if observed is not None:
            return super().caution(context, horizon, observed)
        if self.sub_gaussian is None and isinstance(self.link, Poisson):
            return (
                f"Poisson rewards are not sub-Gaussian: sub_gaussian = {self.noise:.6g} is a heuristic, and "
                "the confidence sets have no guarantee"
            )
        return None

    def intervals(self, z: Tensor, observed: Observed) -> Iterator[tuple[Tensor, Tensor, str]]:
        """Yield the family's interval; if ``sub_gaussian`` is given, also the range of the means plus noise of that size."""
        yield from super().intervals(z, observed)
        if self.sub_gaussian is not None:
            half = observed.deviation(self.sub_gaussian)
            declared = f"sub_gaussian={self.sub_gaussian!r} and norm_bound={self.norm_bound!r}"
            yield self.link.mean(-z) - half, self.link.mean(z) + half, declared

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> GLOCState:
        """Return the initial state, theta = 0, A = lambda I, B = 2 c S^2 lambda; the horizon is not used."""
        d, ridge = arms.shape[-1], self.ridge_value(arms.shape[-1])
        eye, zero = torch.eye(d, **tkwargs).repeat(trials, 1, 1), torch.zeros(trials, d, **tkwargs)
        start = torch.full((trials,), 2 * self.curvature * self.norm_bound**2 * ridge, **tkwargs)
        return GLOCState(zero, ridge * eye, eye / ridge, zero, torch.zeros_like(start), start, 0)

    def radius(self, state: GLOCState, center: Array | None = None) -> Array:
        """Return the radius of the ellipsoid around ``center(state)``, R, without ``scale``; Jun et al. (2017), Theorem 1."""
        c, ratio = self.curvature, self.noise / self.curvature
        inside = (1 + 4 * ratio**4 / self.delta**2) + (2 / c) * state.regret
        # The leading terms of the squared radius are 1 + (4 / c) B + 8 ratio^2 ln((2 / delta) sqrt(inside)). The
        # logarithm is split, so that only ln(inside) depends on the state.
        rest = 1 + 8 * ratio**2 * math.log(2 / self.delta)
        rest += self.ridge_value(state.theta.shape[-1]) * self.norm_bound**2
        square = (4 / c) * state.regret + (4 * ratio**2) * log(inside)
        center = self.center(state) if center is None else center
        return safe_sqrt(square + dot(center, state.predicted) - state.square + rest)

    def center(self, state: GLOCState) -> Array:
        """Return the ridge regression estimate from the learner's predictions, A^{-1} y, R x d."""
        return matvec(state.covariance, state.predicted)

    def select(self, state: GLOCState, arms: Tensor, draw: Draw) -> tuple[Tensor, GLOCState]:
        """Return the optimistic arms, R indices; ties go to the lowest index. ``arms``: R x K x d or 1 x K x d."""
        theta, C, y, square, regret, x = as_numpy_if_cpu(
            state.theta, state.covariance, state.predicted, state.square, state.regret, arms
        )
        now = GLOCState(theta, state.precision, C, y, square, regret, state.rounds)
        # This is the paper's center. Public code uses the online Newton step point instead, rescaled to norm S.
        center = self.center(now)
        radius = per_trial_column(self.scale) * self.radius(now, center)[:, None]
        index = arm_dot(x, center) + radius * mahalanobis_norm(x, now.covariance)
        (best,) = as_tensors(argmax_first(index, self.norm_bound))
        return best, state

    def update(
        self, state: GLOCState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> GLOCState:
        """Take one online Newton step. ``arm``: R; ``reward``: R."""
        S, c, rounds = self.norm_bound, self.curvature, state.rounds + 1
        theta, A, C, y, square, regret, arms, arm, r = as_numpy_if_cpu(
            *state[:6], arms, arm, reward
        )
        # Vectors are rows, R x 1 x d, and numbers are R x 1 x 1.
        x, theta, r = take_arm(arms, arm)[:, None], theta[:, None], r[:, None, None]
        v = matmul(x, C)  # x^T A^{-1}
        z, q = matmul(x, theta.mT), matmul(x, v.mT)
        error, gain = self.link.mean_and_slope(z)[0] - r, 1 / (1 + q)
        A = A + x.mT * x
        # By the formula of Sherman and Morrison, v = x^T A^{-1} with the updated A, and C is its inverse.
        v, C = gain * v, add_outer(C, -gain, v)
        # B grows by the squared gradient in the norm of A^{-1}, the term of the round in the regret bound.
        regret = regret + (error * error * (gain * q))[:, 0, 0] / (2 * c)
        # The online Newton step has step size 1 / c, and its result is projected in the norm of A.
        theta = project_ball((theta - error / c * v)[:, 0], A, S)
        # The predictions z, made before the step, are the targets of the ridge regression in ``center``.
        y, square = y + (z * x)[:, 0], square + (z * z)[:, 0, 0]
        theta, A, C, y, square, regret = as_tensors(theta, A, C, y, square, regret)
        C = invert_spd(A) if rounds % self.refresh == 0 else C
        return GLOCState(theta, A, C, y, square, regret, rounds)
