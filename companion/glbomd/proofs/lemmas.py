"""Lemmas of the proofs of GLB-OMD's theorems, Tables 1 and 2, and the integrals of the mix loss.

``play(..., record="all", probes=PROBES)`` records the required data. ``Replay.of`` recomputes every other quantity from
estimates, arms and rewards alone, so that an error in a learner's matrices becomes visible. Proposition 1 and Lemmas 1, 4
and 11 hold on every sequence of rewards, not only with high probability. Therefore a single violation means an error.
Lemmas 8, 9, 10, 12 and 13 need no run. A loss depends on theta through X_s^T theta only, and this number is Gaussian.
Therefore every expectation is a one-dimensional quadrature.
Source: Zhang, Xu, Zhao & Sugiyama (2025), with its appendices; Lemma 7' is our addition.
Letters: as in ``paperlib.glbomd.theory.bounds``; R trials in the leading dimension, T rounds, d dimensions.
S_D2 and S_DH are the sums up to t of ||theta_{s+1} - theta_s||^2 in the Euclidean norm and in the norm of H_s.
L* and L+ are the sums up to t of l_s(theta*) and l_s(theta_{s+1}).
kappa = 1 / c_mu over the ball, and kappa_opt is the paper's kappa_*.
P_s = N(theta_s, alpha H_s^{-1}) and Q_s = N(theta_{s+1}, alpha H_s^{-1}); m_s = -ln E_{P_s} e^{-l_s} is the mix loss.
M_s = lambda / 2 I + the sum over tau <= s of the Hessian of l_tau at theta_{tau+1}; D is the Bregman divergence of l_s.
Index t of a tensor is round t + 1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from paperlib import stats
from paperlib.checks import Check, statement
from paperlib.core.trace import Trace
from paperlib.glbomd.model.links import Link, kappa_ball, link_loss
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.probes import PROBES
from paperlib.glbomd.theory.bounds import PAPER, ROUNDING, ridge_shortfall, sharp_width

NODES, WEIGHTS = (torch.from_numpy(x) for x in np.polynomial.hermite.hermgauss(80))
LOG_WEIGHTS = WEIGHTS.log() - 0.5 * np.log(np.pi)
LEGENDRE = tuple(torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(64))
BLOCK = 1 << 15  # number of rounds, over all trials, that one block of ``_in_blocks`` contains


@dataclass(frozen=True, eq=False)
class Replay:
    """Estimates, arms and rewards of R trials over T rounds, and the quantities that follow from them."""

    setting: Setting
    theta: Tensor  # R x (T + 1) x d: theta_1, ..., theta_{T+1}
    arm: Tensor  # R x T x d
    reward: Tensor  # R x T
    truth: Tensor  # R x d, theta*
    best: Tensor  # R x T, max_x x^T theta*

    @classmethod
    def of(cls, trace: Trace, setting: Setting) -> "Replay":
        """Build a replay from a trace that was recorded with ``PROBES`` in every round.

        Raises:
            ValueError: rounds or probes are missing.
        """
        if missing := [name for name in PROBES if name not in trace.series]:
            raise ValueError(
                f"trace must be recorded with probes=PROBES, got a trace without {', '.join(missing)}"
            )
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace must contain all {trace.rounds[-1]} rounds, got {len(trace.rounds)}. Use record='all'"
            )
        get = lambda name: torch.from_numpy(trace[name])
        later = get("next_theta")
        theta = torch.cat([torch.zeros_like(later[:, :1]), later], 1)  # theta_1 = 0
        return cls(setting, theta, get("arm"), get("reward"), get("truth")[:, -1], get("best"))

    @property
    def rounds(self) -> Tensor:
        """The rounds 1, ..., T."""
        return torch.arange(1, self.arm.shape[1] + 1, dtype=torch.float64)

    @cached_property
    def start_z(self) -> Tensor:
        """X_t^T theta_t, R x T."""
        return (self.arm * self.theta[:, :-1]).sum(-1)

    @cached_property
    def next_z(self) -> Tensor:
        """X_t^T theta_{t+1}, R x T."""
        return (self.arm * self.theta[:, 1:]).sum(-1)

    @cached_property
    def true_z(self) -> Tensor:
        """X_t^T theta*, R x T."""
        return (self.arm * self.truth.unsqueeze(1)).sum(-1)

    @cached_property
    def curvature(self) -> Tensor:
        """mu'(X_t^T theta_{t+1}) / g, the weight of X_t X_t^T in H_{t+1} - H_t, R x T."""
        return self.setting.link.slope(self.next_z) / self.setting.link.dispersion

    @cached_property
    def precision(self) -> Tensor:
        """H_1, ..., H_{T+1}, R x (T + 1) x d x d, with H_1 = lambda I."""
        # H is recomputed from estimates and arms, and not taken from the learner, so that errors in its H are detected.
        first = self.setting.ridge * torch.eye(self.setting.dim, dtype=torch.float64).expand(
            len(self.arm), 1, -1, -1
        )
        gains = (self.curvature.unsqueeze(-1) * self.arm).unsqueeze(-1) * self.arm.unsqueeze(-2)
        return torch.cat([first, gains], 1).cumsum(1)

    def width_square(self, shift: float = 0.0) -> Tensor:
        """Return X_t^T (H_t - shift I)^{-1} X_t, R x T."""
        matrix = self.precision[:, :-1] - shift * torch.eye(self.setting.dim, dtype=torch.float64)
        half = torch.linalg.solve_triangular(
            torch.linalg.cholesky(matrix), self.arm.unsqueeze(-1), upper=False
        )
        return half.square().sum((-1, -2))

    @cached_property
    def width2(self) -> Tensor:
        """||X_t||_{H_t^{-1}}^2, R x T."""
        return self.width_square()

    def norm_square(self, vector: Tensor) -> Tensor:
        """Return ||v_t||^2 in the norm of H_t, R x T. ``vector``: R x T x d."""
        matrix = self.precision[:, : vector.shape[1]]
        return (vector * (matrix @ vector.unsqueeze(-1)).squeeze(-1)).sum(-1)

    @cached_property
    def error(self) -> Tensor:
        """||theta_t - theta*||_{H_t}^2 for t = 1, ..., T + 1, R x (T + 1)."""
        return self.norm_square(self.theta - self.truth.unsqueeze(1))

    @cached_property
    def move(self) -> Tensor:
        """theta_{t+1} - theta_t, R x T x d."""
        return self.theta[:, 1:] - self.theta[:, :-1]

    @cached_property
    def moved(self) -> Tensor:
        """Sum up to t of ||theta_{s+1} - theta_s||_{H_s}^2, R x T."""
        return self.norm_square(self.move).cumsum(1)

    def losses(self, z: Tensor) -> Tensor:
        """Return the sum up to t of the losses l_s at X_s^T theta = z_s, R x T. ``z``: R x T."""
        return link_loss(self.setting.link, z, self.reward).cumsum(1)


# Theorem 2 and the tables ---------------------------------------------------------------------------------


@statement("Theorem 2, curvature along the run", f"{PAPER}, proof of Theorem 2")
def curvature_along(run: Replay) -> Check:
    """sum mu'(X_s^T theta*) <= t / kappa_* + R Reg_t for all t, in every run.

    It follows from |mu'(a) - mu'(b)| <= R |mu(a) - mu(b)|.
    """
    link, best = run.setting.link, run.best
    regret = (link.mean(best) - link.mean(run.true_z)).cumsum(1)
    return curvature_along.statement.check(
        "sum mu'(X_s^T theta*) <= t / kappa_opt + R Reg_t",
        run.setting.describe(),
        link.slope(run.true_z).cumsum(1),
        link.slope(best).cumsum(1) + link.self_concordance * regret,
    )


@statement("Theorem 2, optimism", f"{PAPER}, proof of Theorem 2, (35)")
def optimism(run: Replay, scale: float = 1.0) -> Check:
    """0 <= min(u_t, S) - X_t^T theta* <= 2 beta_t ||X_t||_{H_t^{-1}} if theta* is in the confidence set, where u_t is the upper confidence bound of X_t.

    The paper bounds mu' by C_mu at X_t^T theta~ with theta~ in the confidence set, which may extend beyond the ball.
    The minimum with S repairs this step and does not change the algorithm (erratum E15).

    Args:
        run: the run.
        scale: the learner's ``scale``, which multiplies the radius.
    """
    setting = run.setting
    bonus = scale * torch.from_numpy(setting.radius(run.rounds.numpy())) * run.width2.sqrt()
    gap = (run.start_z + bonus).clamp(max=setting.norm_bound) - run.true_z
    return optimism.statement.check(
        "0 <= min(u_t, S) - X_t^T theta* <= 2 beta_t ||X_t||_{H_t^-1}",
        setting.describe(),
        torch.stack([-gap, gap], -1),
        torch.stack([torch.zeros_like(gap), 2 * bonus], -1),
    )


def leading_order(t: np.ndarray) -> np.ndarray:
    """Return sqrt(t) ln(1 + t), the leading order of Theorem 2 in the horizon; 1 + t keeps the logarithm above 0."""
    return np.sqrt(t) * np.log1p(t)


@statement("Theorem 2, order", "ours, after Theorem 2: its leading term alone, with lambda = d")
def regret_order(trace: Trace) -> Check:
    """Reg_t grows no faster than Theorem 2's leading order, sqrt(t) ln(1 + t), over the last 90 % of the rounds.

    The test is on the slope of the log of the mean of regret / order on log t. The upper end of its bootstrap interval
    over trials has to be at most 0.
    """
    slope = stats.growth(trace.rounds, trace["regret"] / leading_order(trace.rounds))
    return regret_order.statement.check(
        "slope of ln(Reg_t / (sqrt(t) ln(1 + t))) on ln t <= 0",
        {"slope": slope.estimate, "trials": slope.n},
        slope.high,
        0.0,
    )


class Order(NamedTuple):
    """One row of a table: leading orders in the horizon T and the round t."""

    method: str
    regret: str
    time: str  # per round
    memory: str
    joint: str  # jointly efficient or not: low cost, and kappa_* instead of kappa in the regret


@statement("Table 1", f"{PAPER}, Table 1")
def table_1() -> tuple[Order, ...]:
    """Generalized linear bandits: regret and cost per round; the regret orders differ by kappa_* <= kappa.

    The marks in the last column are our interpretation of the paper. For RS-GLinCB we read Table 1 as no, because its
    memory grows and some of its rounds cost t (Section 3.2). However, Section 5 counts it among the jointly efficient methods.
    """
    fast, slow = "log T sqrt(T / kappa_*)", "kappa log T sqrt(T)"
    return (
        Order("GLM-UCB", "kappa (log T)^(3/2) sqrt(T)", "t", "t", "no"),
        Order("GLOC", slow, "1", "1", "no"),
        Order("OFUGLB", fast, "t", "t", "no"),
        Order("RS-GLinCB", fast, "(log t)^2, amortized", "t", "no"),
        Order("GLB-OMD", fast, "1", "1", "yes"),
    )


@statement("Table 2", f"{PAPER}, Table 2")
def table_2() -> tuple[Order, ...]:
    """Jointly efficient methods for logistic bandits: regret and cost per round."""
    return (
        Order("ECOLog", "log T sqrt(T / kappa_*)", "log t", "1", "yes"),
        Order("OFUL-MLogB", "(log T)^(3/2) sqrt(T / kappa_*)", "1", "1", "yes"),
        Order("GLB-OMD", "log T sqrt(T / kappa_*)", "1", "1", "yes"),
    )


@statement("Table 1, kappa", f"{PAPER}, caption of Table 1")
def table_1_kappa(link: Link, norm_bound: float, kappa_opt: float) -> Check:
    """kappa_* <= kappa, because the slope at the best arms is at least the smallest slope over the ball.

    ``kappa_opt``: kappa_*.
    """
    return table_1_kappa.statement.check(
        "kappa_* <= kappa",
        {"link": type(link).__name__, "S": norm_bound},
        kappa_opt,
        kappa_ball(link, norm_bound),
    )


# The one-pass update --------------------------------------------------------------------------------------


def surrogate_gradient(run: Replay) -> Tensor:
    """Return the coefficient of X_t in grad l~_t(theta_{t+1}), where l~_t expands l_t to second order at theta_t. R x T."""
    link = run.setting.link
    change = link.slope(run.start_z) * (run.next_z - run.start_z)
    return (link.mean(run.start_z) - run.reward + change) / link.dispersion


@statement("Proposition 1", f"{PAPER}, proof of Proposition 1, Eqs. (3), (42a), (42b)")
def proposition_1(run: Replay) -> Check:
    """The two-step update (42a), (42b) yields the constrained minimizer of (3), because it satisfies its optimality conditions. (The proposition states the costs of this update, which are not checked.)

    theta_{t+1} is the minimizer of a strictly convex function over the ball. This holds if and only if it is in the ball
    and the gradient there is -nu theta_{t+1} with nu >= 0, where nu = 0 in the interior. Observed is the residual of these
    conditions, relative to the two terms whose sum is the gradient, R x T.
    """
    setting, H, point = run.setting, run.precision[:, :-1], run.theta[:, 1:]
    eta, S = setting.step, setting.norm_bound
    norm = lambda vector: torch.linalg.vector_norm(vector, dim=-1)
    pull = (H @ run.move.unsqueeze(-1)).squeeze(-1) / eta
    push = surrogate_gradient(run).unsqueeze(-1) * run.arm
    gradient, length = pull + push, norm(point)
    at_the_edge = length >= S * (1 - 1e-9)
    multiplier = (-(gradient * point).sum(-1) / S**2).clamp(min=0) * at_the_edge
    residual = norm(gradient + multiplier.unsqueeze(-1) * point)
    # If both terms are zero up to rounding, so is the residual. The scale then is H_t ||theta_{t+1}|| times a small factor.
    rounding = 1e-6 * torch.linalg.vector_norm(H, dim=(-2, -1)) * length / eta
    scale = norm(pull) + norm(push) + 1e-300 + rounding
    return proposition_1.statement.check(
        "grad l~_t(theta_{t+1}) + H_t (theta_{t+1} - theta_t) / eta = -nu theta_{t+1}, ||theta_{t+1}|| <= S",
        setting.describe(),
        residual / scale + (length / S - 1).clamp(min=0),
        1e-8,
    )


@statement("Lemma 1", f"{PAPER}, Lemma 1")
def lemma_1(run: Replay, comparator: Tensor | None = None, seed: int = 0) -> Check:
    """||theta_{t+1} - u||_{H_t}^2 <= 2 eta <grad l~_t(theta_{t+1}), u - theta_{t+1}> + ||theta_t - u||_{H_t}^2 - ||theta_t - theta_{t+1}||_{H_t}^2 for all u in the ball.

    This is the three-point inequality of mirror descent. An error in the update violates it, for example a projection in
    a wrong norm. The exception is an omitted projection, which only Proposition 1 detects.

    Args:
        run: the run.
        comparator: u, broadcasting to R x T x d; by default theta*, and in addition a random point with norm S.
        seed: seed of the random points.

    Returns:
        Check of the violation relative to the terms' sizes, R x T x comparators.
    """
    setting, comparators = run.setting, [comparator]
    if comparator is None:
        point = torch.from_numpy(np.random.default_rng(seed).normal(size=run.arm.shape))
        length = torch.linalg.vector_norm(point, dim=-1, keepdim=True)
        comparators = [run.truth.unsqueeze(1), point * setting.norm_bound / length]
    coefficient, moved, violations = surrogate_gradient(run), run.norm_square(run.move), []
    for u in comparators:
        left = run.norm_square(run.theta[:, 1:] - u)
        inner = 2 * setting.step * coefficient * (run.arm * (u - run.theta[:, 1:])).sum(-1)
        start = run.norm_square(run.theta[:, :-1] - u)
        violations.append((left - inner - start + moved) / (left + inner.abs() + start + moved))
    return lemma_1.statement.check(
        "(left - right) / (sum of the terms' sizes) <= rounding",
        setting.describe(),
        torch.stack(violations, -1),
        ROUNDING,
    )


@statement("Lemma 4", f"{PAPER}, Lemma 4, corrected (errata E4, E12)")
def lemma_4(run: Replay, *, printed: bool = False) -> Check:
    """||theta_{t+1} - theta*||_{H_{t+1}}^2 <= 2 eta (L* - L+) + ||theta_1 - theta*||_{H_1}^2 + (2 eta R S C_mu / g) S_D2 - S_DH for any ridge.

    L* and L+ are the cumulative losses at theta* and at theta_{s+1}. S_D2 and S_DH are the sums of the squared steps
    theta_{s+1} - theta_s in the Euclidean norm and in the norm of H_s.
    The lemma bounds the error of the estimate by the losses. It uses Assumption 2 in addition to the two assumptions that the
    paper lists (erratum E12).

    Args:
        run: the run.
        printed: use the printed coefficient C_mu (2 + 2 R S) / g, which lacks the factor R S of its proof (erratum E4).
    """
    setting, eta = run.setting, run.setting.step
    R, g, S = setting.link.self_concordance, setting.link.dispersion, setting.norm_bound
    # Departure: the printed coefficient lacks the factor R S of Eqs. (11) and (19) (erratum E4).
    coefficient = setting.max_slope * 2 * eta / g * (1 if printed else R * S)
    text = "C_mu (2 + 2 R S)" if printed else "2 eta R S C_mu"
    start = 2 * eta * (run.losses(run.true_z) - run.losses(run.next_z)) + run.error[:, :1]
    euclidean = run.move.square().sum(-1).cumsum(1)
    return lemma_4.statement.check(
        f"||theta_{{t+1}} - theta*||^2_{{H_{{t+1}}}} <= 2 eta (L* - L+) + ||theta_1 - theta*||^2_{{H_1}} + ({text} / g) S_D2 - S_DH",
        setting.describe(),
        run.error[:, 1:],
        start + coefficient * euclidean - run.moved,
    )


@statement("Lemma 4b", f"{PAPER}, Lemma 4 in the form that Theorem 1 uses")
def lemma_4b(run: Replay) -> Check:
    """||theta_{t+1} - theta*||_{H_{t+1}}^2 <= 2 eta (L* - L+) + ||theta_1 - theta*||_{H_1}^2 - (2/3) S_DH if lambda >= 6 eta R S C_mu / g.

    It follows from Lemma 4, because with this ridge a third of S_DH is at least the term with S_D2. It is computed for
    any ridge; below the condition it may fail, and it does in some runs.
    """
    setting, eta = run.setting, run.setting.step
    R, g, S = setting.link.self_concordance, setting.link.dispersion, setting.norm_bound
    least = 6 * eta * R * S * setting.max_slope / g
    return lemma_4b.statement.check(
        "||theta_{t+1} - theta*||^2_{H_{t+1}} <= 2 eta (L* - L+) + ||theta_1 - theta*||^2_{H_1} - (2/3) S_DH",
        setting.describe() | {"least ridge": least},
        run.error[:, 1:],
        2 * eta * (run.losses(run.true_z) - run.losses(run.next_z))
        + run.error[:, :1]
        - 2 / 3 * run.moved,
        remark=ridge_shortfall(setting.ridge, least),
    )


@statement("Lemma 11", f"{PAPER}, Lemma 11 (elliptical potential)")
def lemma_11(run: Replay, *, sharp: bool = False) -> Check:
    """sum ||z_s||_{V_s^{-1}}^2 <= 2 d (1 + Z^2) ln(1 + t Z^2 / (d lambda')) with Z^2 = C_mu, if lambda' = g lambda >= 1.

    Here z_t = sqrt(mu'(X_t^T theta_{t+1})) X_t and V_t = g H_t. The factor 2 is not needed (``sharp``), because
    x <= (1 + Z^2) ln(1 + x) for 0 <= x <= Z^2.

    Raises:
        ValueError: g lambda < 1 (erratum E25).
    """
    setting, d, square = run.setting, run.setting.dim, run.setting.max_slope
    initial = setting.link.dispersion * setting.ridge
    if initial < 1:
        raise ValueError(
            f"ridge must give g lambda of at least 1, got g lambda = {initial} from ridge={setting.ridge}"
        )
    growth = torch.log1p(run.rounds * square / (d * initial))
    return lemma_11.statement.check(
        f"sum ||z_s||^2_{{V_s^-1}} <= {'' if sharp else '2 '}d (1 + Z^2) ln(1 + t Z^2 / (d g lambda))",
        setting.describe(),
        (run.curvature * run.width2).cumsum(1),
        (1 if sharp else 2) * d * (1 + square) * growth,
    )


# Integrals and inequalities that need no run --------------------------------------------------------------


def slope_integrals(link: Link, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Return int_0^1 mu'(z_1 + v (z_2 - z_1)) dv, and the same integral with weight 1 - v, in the shape of the ends.

    Both integrals are computed with 64 Gauss-Legendre points.
    """
    v, weight = (LEGENDRE[0] + 1) / 2, LEGENDRE[1] / 2
    slope = link.slope(start.unsqueeze(-1) + v * (end - start).unsqueeze(-1))
    return (slope * weight).sum(-1), (slope * weight * (1 - v)).sum(-1)


def mixed(link: Link, reward: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """Return -ln E e^{-l(z)} for z ~ N(mean, deviation^2), where l is the loss of ``reward``; all of one shape.

    The quadrature has 80 Gauss-Hermite points around the peak of e^{-l} times the density, scaled by the width of the
    peak. This matters because a large reward makes the peak far narrower than the density. The result is exact for
    Gaussian rewards.
    """
    deviation = deviation.clamp(min=1e-150)  # the zero arm has a deviation of 0
    g, variance = link.dispersion, deviation.square()
    # The peak solves mu(z) - r + g (z - mean) / variance = 0. Because the left side increases in z, bisection finds the
    # root between these two points.
    far = mean + variance * (reward - link.mean(mean)) / g
    low, high = torch.minimum(mean, far), torch.maximum(mean, far)
    for _ in range(64):
        middle = (low + high) / 2
        left = link.mean(middle) - reward + g * (middle - mean) / variance < 0
        low, high = torch.where(left, middle, low), torch.where(left, high, middle)
    # The curvature at the peak determines its width, by Laplace's approximation.
    width = (link.slope(high) / g + 1 / variance).rsqrt()
    z = high.unsqueeze(-1) + 2**0.5 * width.unsqueeze(-1) * NODES
    log_density = -0.5 * ((z - mean.unsqueeze(-1)) / deviation.unsqueeze(-1)).square()
    exponents = LOG_WEIGHTS + NODES**2 + log_density - link_loss(link, z, reward.unsqueeze(-1))
    return -(torch.logsumexp(exponents, -1) + (width / deviation).log())


def expectation(f: Callable[[Tensor], Tensor], mean: Tensor, deviation: Tensor) -> Tensor:
    """Return E f(z) for z ~ N(mean, deviation^2), with the same 80 Gauss-Hermite points."""
    z = mean.unsqueeze(-1) + 2**0.5 * deviation.unsqueeze(-1) * NODES
    return (LOG_WEIGHTS.exp() * f(z)).sum(-1)


@statement("Lemma 8", f"{PAPER}, Lemma 8, (37), corrected (erratum E8)")
def lemma_8(link: Link, norm_bound: float, points: int = 61, *, printed: bool = False) -> Check:
    """int mu' >= mu'(z) / (1 + R D), z = z_1, z_2; mu'(z_1) / (2 + R D) <= int (1 - v) mu' <= e^{R^2 D^2} mu'(z_1); D = |z_1 - z_2|.

    The integrals are over v in [0, 1], at z_1 + v (z_2 - z_1). The bounds follow from self-concordance. They are checked
    on all pairs of a grid of [-S, S].

    Args:
        link: the family.
        norm_bound: S.
        points: number of grid points.
        printed: check the lower bound of the weighted integral for z_2, too. The paper claims it "by symmetry", but the
            weight 1 - v is not symmetric, and the bound is false (erratum E8).
    """
    grid = torch.linspace(-norm_bound, norm_bound, points, dtype=torch.float64)
    start, end = (x.flatten() for x in torch.meshgrid(grid, grid, indexing="ij"))
    R, distance = link.self_concordance, (end - start).abs()
    plain, weighted = slope_integrals(link, start, end)
    sides = [
        (link.slope(start) / (1 + R * distance), plain),
        (link.slope(end) / (1 + R * distance), plain),
        (link.slope(start) / (2 + R * distance), weighted),
        (weighted, torch.exp((R * distance).square()) * link.slope(start)),
    ]
    if printed:
        sides.append((link.slope(end) / (2 + R * distance), weighted))
    observed, bound = (torch.stack(side, -1) for side in zip(*sides))
    lower = "mu'(z)/(2+RD)" if printed else "mu'(z_1)/(2+RD)"
    return lemma_8.statement.check(
        f"mu'(z)/(1+RD) <= int mu', {lower} <= int (1-v) mu' <= e^{{R^2 D^2}} mu'(z_1)",
        {"link": type(link).__name__, "S": norm_bound, "points": points},
        observed,
        bound,
    )


@statement("Lemma 9", f"{PAPER}, Lemma 9 (Ville)")
def lemma_9(log_martingale: Tensor, delta: float) -> Check:
    """P(exists t: M_t >= 1 / delta) <= delta for every nonnegative supermartingale M that starts at 1.

    Args:
        log_martingale: the logarithm ln M_t, R trials x T rounds.
        delta: in (0, 1).
    """
    return lemma_9.statement.check(
        "for all t: ln M_t <= ln(1/delta), with probability 1 - delta",
        {"delta": delta},
        log_martingale,
        math.log(1 / delta),
        delta,
    )


@statement("Lemma 10", f"{PAPER}, Lemma 10")
def lemma_10(eigenvalues: Sequence[float], step: float, exponent: float) -> Check:
    """E e^{c ||theta||_2^2} <= 4/3 for theta ~ N(0, eta H^{-1}), if H >= lambda I with lambda >= 32 d eta c / 7.

    The left side has a closed form, the product of (1 - 2 c eta / l_i)^{-1/2} over the eigenvalues l_i of H. It is
    infinite if a factor is not positive.

    Args:
        eigenvalues: eigenvalues of H, all > 0.
        step: eta.
        exponent: c.
    """
    factors = 1 - 2 * exponent * step / np.asarray(eigenvalues, float)
    observed = float(np.prod(factors) ** -0.5) if (factors > 0).all() else math.inf
    return lemma_10.statement.check(
        "prod (1 - 2 c eta / l_i)^{-1/2} <= 4/3",
        {
            "d": len(factors),
            "smallest eigenvalue": float(np.min(eigenvalues)),
            "eta": step,
            "c": exponent,
        },
        observed,
        4 / 3,
    )


@statement("Lemma 12", f"{PAPER}, Lemma 12")
def lemma_12(
    link: Link,
    reward: float,
    prior: tuple[float, float],
    other: tuple[float, float],
    points: int = 20001,
) -> Check:
    """-ln E_P e^{-l} = E_Q l + KL(Q || P) - KL(Q || P*) for all Gaussians P and Q, where P* is proportional to P e^{-l}.

    This change of measure rewrites the mix loss. It is checked in one dimension. The left side is computed by
    Gauss-Hermite quadrature around its peak. The right side is computed by the trapezoidal rule, with P* normalized on
    its grid. Therefore the two sides share no number.

    Args:
        link: the family, which determines the loss l(z) together with ``reward``.
        reward: r.
        prior: mean and standard deviation of P.
        other: mean and standard deviation of Q.
        points: number of grid points.

    Returns:
        Check of |left - right| against 1e-8.
    """
    span = [m + sign * 10 * s for m, s in (prior, other) for sign in (-1, 1)]
    z = torch.linspace(min(span), max(span), points, dtype=torch.float64)
    log_normal = lambda mean, sd: (
        -0.5 * ((z - mean) / sd) ** 2 - math.log(sd * math.sqrt(2 * math.pi))
    )
    log_p, log_q, l = (
        log_normal(*prior),
        log_normal(*other),
        link_loss(link, z, torch.tensor(reward)),
    )
    width = float(z[1] - z[0])
    log_star = log_p - l - (torch.logsumexp(log_p - l, 0) + math.log(width))
    integral = lambda f: float((log_q.exp() * f).sum()) * width
    left = mixed(link, *(torch.tensor(x, dtype=torch.float64) for x in (reward, *prior)))
    right = integral(l) + integral(log_q - log_p) - integral(log_q - log_star)
    return lemma_12.statement.check(
        "|mix loss - (E_Q l + KL(Q||P) - KL(Q||P*))|",
        {"link": type(link).__name__, "reward": reward, "P": prior, "Q": other},
        abs(float(left) - right),
        1e-8,
    )


@statement("Lemma 13", f"{PAPER}, Lemma 13")
def lemma_13(mean: Tensor, other_mean: Tensor, precision: Tensor, spread: float) -> Check:
    """KL between Gaussians of equal covariance alpha H^{-1} is ||mean - other_mean||_H^2 / (2 alpha).

    The check compares the general formula with this special one, which Lemma 6 uses. Means are ... x d, ``precision`` is
    H, ... x d x d, and ``spread`` is alpha.

    Returns:
        Check of the relative difference against 1e-9.
    """
    covariance = spread * torch.linalg.inv(precision)
    move = mean - other_mean
    special = (move * (precision @ move.unsqueeze(-1)).squeeze(-1)).sum(-1) / (2 * spread)
    normal, other = (MultivariateNormal(x, covariance) for x in (mean, other_mean))
    general = kl_divergence(normal, other)
    return lemma_13.statement.check(
        "|KL - ||theta_{s+1} - theta_s||_H^2 / (2 alpha)| / (1 + KL)",
        {"d": mean.shape[-1], "alpha": spread},
        (general - special).abs() / (1 + special),
        1e-9,
    )


# The mix loss along a run ---------------------------------------------------------------------------------


def _in_blocks(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Apply a function to a few trials at a time, because 80 quadrature nodes need 80 times the memory. ``tensors``: R x T."""
    parts = (x.split(max(1, BLOCK // x.shape[1])) for x in tensors)
    return torch.cat([function(*part) for part in zip(*parts)])


def mix_loss(run: Replay) -> Tensor:
    """Return the mix loss m_s of every round, R x T."""
    deviation = (run.setting.spread * run.width2).sqrt()
    return _in_blocks(partial(mixed, run.setting.link), run.reward, run.start_z, deviation)


def expected_divergence(run: Replay) -> Tensor:
    """Return E_{Q_s} D(theta, theta_{s+1}) of every round, R x T."""
    link, deviation = run.setting.link, (run.setting.spread * run.width2).sqrt()

    def divergence(center: Tensor, z: Tensor) -> Tensor:
        tangent = link.log_partition(center) + link.mean(center) * (z - center)
        return (link.log_partition(z) - tangent) / link.dispersion

    expected = lambda mean, sd: expectation(partial(divergence, mean.unsqueeze(-1)), mean, sd)
    return _in_blocks(expected, run.next_z, deviation)


def quadrature_ridge(setting: Setting, form: str) -> float:
    """Return the smallest ridge that Lemma 7 covers, max{k alpha R^2, 2 C_mu / g} with k = 64 d / 7, 64 / 7 or 0.344...."""
    R, g = setting.link.self_concordance, setting.link.dispersion
    factor = {"theory": 64 * setting.dim / 7, "free": 64 / 7, "sharp": sharp_width() ** -2}[form]
    return max(factor * setting.spread * R**2, 2 * setting.max_slope / g)


def log_martingale(run: Replay) -> Tensor:
    """Return L*_t - sum_{s<=t} m_s, R x T; its exponential is a nonnegative martingale with mean 1."""
    return run.losses(run.true_z) - mix_loss(run).cumsum(1)


@statement("Lemma 5", f"{PAPER}, Lemma 5")
def lemma_5(run: Replay) -> Check:
    """P(exists t: L*_t - sum_{s<=t} m_s >= ln(1/delta)) <= delta: the losses at theta* are not much larger than the mix losses.

    Here m_s = -ln E e^{-l_s} is the mix loss, with the expectation over P_s, and L* is the sum of the losses at theta*.
    e^{L* - sum m} is a nonnegative martingale with mean 1 for all estimates that depend on the past only. The bound
    follows by Lemma 9. Observed is L*_t - sum m_s, R x T; the bound has to hold in all rounds of a trial simultaneously.
    """
    setting, delta = run.setting, run.setting.delta
    return lemma_5.statement.check(
        "for all t: L*_t - sum_{s<=t} m_s <= ln(1/delta), with probability 1 - delta",
        setting.describe(),
        log_martingale(run),
        math.log(1 / delta),
        delta,
    )


@statement("Lemma 6", f"{PAPER}, Lemma 6, informally Lemma 3")
def lemma_6(run: Replay, *, tight: bool = False) -> Check:
    """sum m_s <= L+ + S_DH / (2 alpha) + 2 d alpha ln(2 + 2 C_mu t / (lambda g)) under Lemma 7's condition on the ridge.

    Here m_s = -ln E e^{-l_s} is the mix loss, with the expectation over P_s. L+ and S_DH are as in Lemma 4.
    The mix losses are not much larger than the losses of the updated estimates. With alpha = 3 eta / 2 the last term has
    the factor 3 d eta; the informal Lemma 3 prints half of it (erratum E5).

    Args:
        run: the run.
        tight: use ln(1 + 2 C_mu t / (d lambda g)) instead, which the proof gives by trace and determinant (erratum E10).
    """
    setting, d, alpha = run.setting, run.setting.dim, run.setting.spread
    growth = 2 * setting.max_slope * run.rounds / (setting.ridge * setting.link.dispersion)
    log, text = torch.log(2 + growth), "ln(2 + 2 C_mu t / (lambda g))"
    if tight:
        log, text = torch.log1p(growth / d), "ln(1 + 2 C_mu t / (d lambda g))"
    return lemma_6.statement.check(
        f"sum m_s <= L+ + S_DH / (2 alpha) + 2 d alpha {text}",
        setting.describe(),
        mix_loss(run).cumsum(1),
        run.losses(run.next_z) + run.moved / (2 * alpha) + 2 * d * alpha * log,
        remark=ridge_shortfall(setting.ridge, quadrature_ridge(setting, "sharp")),
    )


def _lemma_7(name: str, source: str, run: Replay, form: str, factor: float) -> Check:
    setting = run.setting
    # ln det M_s - ln det M_{s-1} follows from the matrix determinant lemma, where M_{s-1} = H_s - (lambda / 2) I.
    gain = torch.log1p(run.curvature * run.width_square(shift=setting.ridge / 2))
    least = quadrature_ridge(setting, form)
    return Check(
        name,
        source,
        f"E_Qs D(theta, theta_{{s+1}}) <= {factor:g} alpha (ln det M_s - ln det M_{{s-1}})",
        setting.describe() | {"least ridge": least},
        expected_divergence(run),
        factor * setting.spread * gain,
        remark=ridge_shortfall(setting.ridge, least),
    )


@statement("Lemma 7", f"{PAPER}, Lemma 7")
def lemma_7(run: Replay, *, printed: bool = False) -> Check:
    """E_{Q_s} D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}) if lambda >= max{64 d alpha R^2 / 7, 2 C_mu / g}.

    ``printed``: use the factor alpha of Eq. (22); the lemma and the sum over rounds have 2 alpha (erratum E7).
    """
    return _lemma_7("Lemma 7", lemma_7.statement.source, run, "theory", 1.0 if printed else 2.0)


@statement("Lemma 7', free of d", "ours, in place of Lemma 7")
def lemma_7_free(run: Replay) -> Check:
    """E_{Q_s} D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}) if lambda >= max{64 alpha R^2 / 7, 2 C_mu / g}.

    This is Lemma 7 without the factor d in its condition.

    Proof. D depends on theta through u = X_s^T (theta - theta_{s+1}) only. Under Q_s, u ~ N(0, sigma^2) with
    sigma^2 = alpha ||X_s||_{H_s^{-1}}^2 <= alpha / lambda. By Lemma 8 (b), D <= u^2 e^{R^2 u^2} mu'(z_1) / g with
    z_1 = X_s^T theta_{s+1}. By the Cauchy-Schwarz inequality, E u^2 e^{R^2 u^2} <= sqrt(E u^4) sqrt(E e^{2 R^2 u^2}) =
    sqrt(3) sigma^2 (1 - 4 R^2 sigma^2)^{-1/4}. Because R^2 sigma^2 <= 7/64, the last factor is at most
    (16/9)^{1/4} = sqrt(4/3). Hence E D <= 2 sigma^2 mu'(z_1) / g. The rest is as in ``lemma_7_sharp``. The paper
    bounds |u| by ||theta - theta_{s+1}||_2 first. This vector is a d-dimensional Gaussian, which brings the factor d
    in Lemma 10.
    """
    return _lemma_7("Lemma 7', free of d", "ours", run, "free", 2.0)


@statement("Lemma 7', sharp", "ours, in place of Lemma 7")
def lemma_7_sharp(run: Replay) -> Check:
    """E_{Q_s} D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}) if lambda >= max{0.344... alpha R^2, 2 C_mu / g}.

    This is Lemma 7 with the smallest constant that the one-dimensional integral allows; the constant is defined by a root.

    Claim. Let |mu''| <= R mu' on the line, ||X_s|| <= 1, theta ~ Q_s = N(theta_{s+1}, alpha H_s^{-1}). Let x* > 0
    solve psi(x) = 2 x^2 with psi(x) = 2 e^{x^2/2} Phi(x) - 1 - x sqrt(2/pi), where Phi is the normal distribution
    function. Then x* = 1.704.... If lambda >= max{alpha R^2 / x*^2, 2 C_mu / g} and ||theta_{s+1}|| <= S, then
    E D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}).

    Proof. (1) One dimension. With z_1 = X_s^T theta_{s+1} and u = X_s^T (theta - theta_{s+1}), Taylor's formula with
    integral remainder gives D = (u^2 / g) int_0^1 (1 - v) mu'(z_1 + v u) dv. Because |(ln mu')'| <= R, we have
    mu'(z_1 + w) <= mu'(z_1) e^{R |w|}, and hence

        D <= (mu'(z_1) / g) u^2 int_0^1 (1 - v) e^{R |u| v} dv = mu'(z_1) (e^{R|u|} - 1 - R|u|) / (g R^2),

    read as mu'(z_1) u^2 / (2 g) for R = 0.
    (2) Expectation. u ~ N(0, sigma^2) with sigma^2 = alpha ||X_s||_{H_s^{-1}}^2 <= alpha / lambda, because
    H_s >= lambda I. With N standard normal and x = R sigma, E e^{x|N|} = 2 e^{x^2/2} Phi(x) and E |N| = sqrt(2/pi).
    Therefore E D <= mu'(z_1) psi(x) / (g R^2).
    (3) The root. psi(x) / x^2 = sum over k >= 2 of E|N|^k x^{k-2} / k! is a power series with positive coefficients.
    It increases strictly from 1/2 at x = 0 to infinity and equals 2 at exactly one x*; psi(x) <= 2 x^2 iff x <= x*.
    Now x^2 = R^2 sigma^2 <= R^2 alpha / lambda <= x*^2 by the condition. Therefore E D <= 2 sigma^2 mu'(z_1) / g
    = 2 alpha tr(H_s^{-1} A) with A = mu'(z_1) X_s X_s^T / g, the Hessian of l_s at theta_{s+1}. (For R = 0, E D is a
    quarter of that, without a condition.)
    (4) Determinants. A <= (C_mu / g) I <= (lambda / 2) I because |z_1| <= S, so M_s = H_s - (lambda / 2) I + A <= H_s.
    Because ln det is concave, tr(H_s^{-1} A) <= tr(M_s^{-1} (M_s - M_{s-1})) <= ln det M_s - ln det M_{s-1}. QED.

    Summed over rounds this is Lemma 6; with Lemmas 4b and 5, Theorem 1 holds for
    lambda = max{0.516... eta R^2, 6 eta R S C_mu / g, 2 C_mu / g}.
    """
    return _lemma_7("Lemma 7', sharp", "ours", run, "sharp", 2.0)
