"""GLB-OMD: an optimistic bandit algorithm whose estimate is updated by one online mirror descent step per round.

Source: Zhang, Xu, Zhao & Sugiyama (2025), "Generalized Linear Bandits: Almost Optimal Regret with One-Pass
Update", Algorithm 1, Eqs. (3), (5), (42a), (42b), Theorem 1.
Letters in shapes: R trials, K arms, d dimensions. Letters in formulas: S norm bound, g dispersion, R the link's
self-concordance, eta = 1 + R S, mu the mean as a function of x^T theta, C_mu the largest slope of mu on [-S, S].
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Observed
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    add_outer,
    any_on_host,
    argmax_first,
    arm_dot,
    as_numpy_if_cpu,
    as_scalar,
    as_tensors,
    invert_spd,
    mahalanobis_norm,
    matmul,
    per_trial_column,
    take_arm,
)
from ...core.streams import Draw
from ...maths.sets import ball_projection
from ..model.links import Link, Poisson
from .glm import GLMLearner

RIDGES = ("sharp", "free", "theory", "dim")
# Lemma 7 does not need its factor d. If the integral in its proof is computed exactly, it holds for lambda >= alpha R^2 / x^2.
# Here alpha = 3 eta / 2, and x = 1.70437... solves 2 e^{x^2/2} Phi(x) - 1 - x sqrt(2/pi) = 2 x^2. Therefore the condition
# is lambda >= SHARP eta R^2 with SHARP = 3 / (2 x^2), rounded up in the last digit.
SHARP = 0.5163727965039491
# ``caution`` compares two standard deviations over the arms. The first is the standard deviation of the exploration
# bonus. The second is the standard deviation of the arms' values, shrunk towards 0 as the ridge shrinks the estimate at
# the horizon. It warns if the first exceeds this factor times the second. We chose the factor empirically. At ratios well
# above it, the regret was near that of random play, or larger, on Covertype's arms (where the arm with the largest norm
# is the worst one) and on rows of the breast cancer data. The ratio at which the regret reaches that of random play
# depends on S and on the horizon.
BONUS_WARNING_FACTOR = 8.0


class GLBOMDState(NamedTuple):
    """State of ``GLBOMD``; its size does not depend on the number of rounds."""

    theta: Tensor  # R x d, online mirror descent estimate, ||theta|| <= S
    precision: Tensor  # R x d x d, H_t = lambda I + sum of the losses' Hessians
    covariance: Tensor  # R x d x d, H_t^{-1}
    rounds: int  # t - 1, number of observed rounds


@frozen_dataclass
class GLBOMD(GLMLearner):
    """Generalized linear bandit with a single online mirror descent step per round.

    Its time and memory per round are constant. Per trial it stores one estimate and two d x d matrices, and no history.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Algorithm 1, with the confidence radius of Theorem 1.

    Attributes:
        link: family of the rewards, for example ``Bernoulli()`` for clicks or ``Poisson()`` for counts.
        norm_bound: S > 0, bound on ||theta*||_2.
        delta: in (0, 1], bound on the probability that theta* is outside the confidence set in some round.
        ridge: lambda > 0, or the name of a formula, see ``ridge_value``.
        scale: factor on the confidence radius: 1 is the theory, 0 is greedy, and values in between are heuristics. A
            number or one per trial, R. If you set it below 1, choose a small ridge. A large ridge pulls the estimate
            towards 0 by up to sqrt(lambda) S in the norm of H_t. If the radius does not cover this bias, the learner
            can get stuck on a suboptimal arm when the arm set is fixed. With fixed arms, ridge "dim" with scale 0.1
            was the best or nearly the best choice in two problem instances of the figure of fixed arms. On Covertype,
            its regret was twice the regret of the best choice. With Poisson rewards, ridge "sharp" had far more
            regret than "dim" at any scale.
        refresh: H_t is inverted from scratch every ``refresh`` rounds; in the other rounds its inverse is updated.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.asktell import AskTell
        >>> from paperlib.glbomd import GLBOMD, Bernoulli
        >>> learner = GLBOMD(Bernoulli(), norm_bound=3.0)
        >>> trial = AskTell(learner, [[0.5, 0.0], [0.0, 1.0]])  # two arms in dimension 2
        >>> trial.ask()  # the arm with the larger norm, because no reward is known yet
        1
        >>> trial.tell(1, 0.0)
        >>> trial.rounds, tuple(trial.state.theta.shape)
        (1, (1, 2))
    """

    link: Link
    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    ridge: str | float = "sharp"
    scale: float | Tensor = fields.nonnegative(1.0, by_trial=True)
    refresh: int = fields.whole(4096)
    ridges = RIDGES  # the strings that ``ridge`` accepts; with the first one, Theorem 1 holds

    def __post_init__(self):
        self.check_fields()
        slope = self.link.max_slope(self.norm_bound) / self.link.dispersion
        self.check_conditioned("ridge", self.ridge_value(1), slope)

    @property
    def step(self) -> float:
        """eta = 1 + R S, the step size of Eq. (3)."""
        return 1 + self.link.self_concordance * self.norm_bound

    def ridge_value(self, dim: int) -> float:
        """Return lambda in dimension d.

        "theory": 2 max{7 d eta R^2, max{3 eta R S, 1} C_mu / g}, the condition of Theorem 1 as printed.
        "free": the same without d. Theorem 1 still holds, because Lemma 7 needs a bound in one direction only (Lemma
        7' in the theory table of docs/papers/glbomd.md).
        "sharp": max{0.51637... eta R^2, 6 eta R S C_mu / g, 2 C_mu / g}, the smallest value for which our proof of
        Theorem 1 goes through.
        "dim": d. The paper's figures use it, but Theorem 1 does not cover it unless S is small; see ``caution``.
        """
        # Departure: the default is "sharp" and not the printed condition, because Theorem 1 does not need the printed
        # factor d (erratum E11).
        if isinstance(self.ridge, str) and self.ridge != "dim":
            return self._condition(self.ridge, dim)
        return super().ridge_value(dim)

    def _condition(self, name: str, dim: int) -> float:
        R, S, eta = self.link.self_concordance, self.norm_bound, self.step
        slope = self.link.max_slope(S) / self.link.dispersion
        curvature = {"theory": 14 * dim, "free": 14, "sharp": SHARP}[name] * eta * R * R
        return max(curvature, 6 * eta * R * S * slope, 2 * slope)

    def radius(self, t: int, dim: int) -> float:
        """Return the confidence radius beta_t of Eq. (5), not multiplied by ``scale``. Rounds are counted from ``t`` = 1."""
        S, eta, ridge = self.norm_bound, self.step, self.ridge_value(dim)
        # This is the bound of lambda ||theta_1 - theta*||^2 for an arbitrary theta_1 in the ball. For theta_1 = 0, as here,
        # a quarter of it would suffice, but we use the term of Eq. (5).
        start = 4 * ridge * S * S
        # The logarithm bounds the growth of ln det H_t per dimension: a round adds at most C_mu / g to the trace of H_t.
        growth = math.log(2 + 2 * self.link.max_slope(S) * t / (ridge * self.link.dispersion))
        return math.sqrt(start + 2 * eta * math.log(1 / self.delta) + 6 * dim * eta * eta * growth)

    def caution(
        self, context: Tensor, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return a warning if Theorem 1 does not cover lambda, or if the exploration bonus will dominate the choice of arms.

        Args:
            context: arms, ... x d.
            horizon: number of rounds. If it is None, the bonus is not checked.
            observed: reward of a round, or None before the first round. If it is given, only this reward is checked, by
                the rule that all learners share.
        """
        if observed is not None:
            return super().caution(context, horizon, observed)
        said = [self._uncovered(context.shape[-1])]
        if horizon is not None:
            said.append(self._led_by_length(context, horizon))
        return ". ".join(filter(None, said)) or None

    def _uncovered(self, dim: int) -> str | None:
        ridge, least = self.ridge_value(dim), self._condition(self.ridges[0], dim)
        if ridge >= least * (1 - 1e-12):
            return None
        poisson = isinstance(self.link, Poisson)
        lost = (
            " (with Poisson rewards they lose coverage if norm_bound is large)" if poisson else ""
        )
        return (
            f"ridge={self.ridge!r} gives lambda = {ridge:.6g}, but Theorem 1 requires {least:.6g}. Therefore the "
            f"confidence sets have no guarantee{lost}. ridge={self.ridges[0]!r} restores it"
        )

    def _led_by_length(self, arms: Tensor, horizon: int) -> str | None:
        # A horizon beyond 10^15 rounds is effectively infinite.
        S, d, rounds = self.norm_bound, arms.shape[-1], min(horizon, 10**15)
        length = torch.linalg.vector_norm(arms, dim=-1)
        # An upper estimate of the information per direction after the last round: the rounds are spread evenly over all d
        # directions, and every reward has the largest possible information.
        informed = self.link.max_slope(S) * rounds / (self.link.dispersion * d)
        total = self.ridge_value(d) + informed
        scale = float(torch.as_tensor(self.scale).max())
        # ``bonus`` is the standard deviation of the exploration bonus over the arms; it is due to their different norms.
        # ``value`` approximates the standard deviation of the arms' values x^T theta* for ||theta*|| = S. The last factor is
        # the one by which the ridge shrinks the estimate after ``rounds`` rounds.
        bonus = scale * self.radius(rounds, d) * float(length.std(correction=0)) / math.sqrt(total)
        value = S * float(length.square().mean().sqrt()) / math.sqrt(d) * informed / total
        if bonus <= BONUS_WARNING_FACTOR * value:
            return None
        return (
            f"With horizon={horizon} rounds, ridge={self.ridge!r} and scale={scale:g}, the bonus dominates the estimated "
            "values. The bonus prefers arms with large norms, whatever their rewards are. Therefore the regret may be near "
            "that of random play, and above it if arms with large norms have small rewards. ridge='dim' with scale=0.1 "
            "explores less, without a guarantee"
        )

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> GLBOMDState:
        """Return the initial state, theta_1 = 0 and H_1 = lambda I; the horizon is not used."""
        d, ridge = arms.shape[-1], self.ridge_value(arms.shape[-1])
        eye = torch.eye(d, **tkwargs).repeat(trials, 1, 1)
        return GLBOMDState(torch.zeros(trials, d, **tkwargs), ridge * eye, eye / ridge, 0)

    def select(self, state: GLBOMDState, arms: Tensor, draw: Draw) -> tuple[Tensor, GLBOMDState]:
        """Return Algorithm 1's arm, argmax_x x^T theta_t + beta_t ||x||_{H_t^{-1}} (Eq. (6)), ties to the lowest index.

        ``arms``: R x K x d or 1 x K x d. Returns R arm indices. Because mu is increasing, mu itself is not needed.
        """
        radius = per_trial_column(self.scale) * self.radius(state.rounds + 1, arms.shape[-1])
        arms, theta, C = as_numpy_if_cpu(arms, state.theta, state.covariance)
        # The optimistic value of an arm, the maximum of x^T theta over the confidence ellipsoid, has a closed form, Eq. (6).
        index = arm_dot(arms, theta) + radius * mahalanobis_norm(arms, C)
        (best,) = as_tensors(argmax_first(index, self.norm_bound))
        return best, state

    def update(
        self, state: GLBOMDState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> GLBOMDState:
        """Take one mirror descent step, Eq. (3), in its two parts (42a) and (42b). ``arm``: R; ``reward``: R."""
        g, eta, S, rounds = self.link.dispersion, self.step, self.norm_bound, state.rounds + 1
        theta, H, C, arms, arm, r = as_numpy_if_cpu(*state[:3], arms, arm, reward)
        # Vectors are rows, R x 1 x d, and numbers are R x 1 x 1, see ``as_scalar``.
        x, theta, r = take_arm(arms, arm)[:, None], theta[:, None], as_scalar(r[:, None, None])
        v = matmul(x, C)  # x^T H_t^{-1}
        z, q = as_scalar(matmul(x, theta.mT)), as_scalar(matmul(x, v.mT))
        mean, slope = self.link.mean_and_slope(z)
        # Eq. (42a): theta_t - eta H~_t^{-1} grad l_t(theta_t) with H~_t = H_t + (eta / g) mu'(z) x x^T. The
        # Sherman-Morrison formula expresses the step by H_t^{-1}, so that no linear system has to be solved.
        theta = theta + (r - mean) / (slope * q + g / eta) * v
        outside = matmul(theta, theta.mT) > S * S
        # Eq. (42b): project onto the ball in the norm of H~_t, which is rarely necessary.
        if any_on_host(outside):
            surrogate = add_outer(H, slope * (eta / g), x)
            theta = ball_projection(theta[:, 0], surrogate, S, outside[:, 0, 0]).point[:, None]
        # Algorithm 1, line 5: H_{t+1} = H_t + the Hessian of l_t at the new estimate theta_{t+1}, not at theta_t.
        _, slope = self.link.mean_and_slope(as_scalar(matmul(x, theta.mT)))
        H = add_outer(H, slope / g, x)
        C = add_outer(C, -slope / (slope * q + g), v)
        theta, H, C = as_tensors(theta[:, 0], H, C)
        # Rounding errors of the rank-one updates accumulate, so the inverse is recomputed every ``refresh`` rounds.
        return GLBOMDState(theta, H, invert_spd(H) if rounds % self.refresh == 0 else C, rounds)
