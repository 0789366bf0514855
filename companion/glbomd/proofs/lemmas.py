"""Lemmas about a run of GLB-OMD: steps of the proof of Theorem 2, Tables 1 and 2, and the lemmas about the one-pass update.

``PROBES`` records the needed numbers in ``play(..., record="all", probes=PROBES)``. ``Replay.of`` recomputes everything else from
estimates, arms and rewards alone, so that an error in a learner's matrices shows. Proposition 1 and Lemmas 1, 4 and 11
hold on every sequence of rewards, not just with high probability, so one violation means an error.
Source: Zhang, Xu, Zhao & Sugiyama (2025), with its appendices.
Letters: as in ``constants``; R trials lead, T rounds, d dimensions; S_D2 and S_DH are the sums up to t of
||theta_{s+1} - theta_s||^2 in the Euclidean norm and in the norm of H_s, L* and L+ those of l_s(theta*) and l_s(theta_{s+1});
kappa = 1 / c_mu over the ball, kappa_opt the paper's kappa_*. Index t of a tensor is round t + 1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paperlib import stats
from paperlib.checks import Check, statement
from paperlib.core.trace import Trace
from paperlib.glbomd.model.links import Link, kappa_ball, loss
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.probes import PROBES
from paperlib.glbomd.theory.constants import PAPER, ROUNDING, shortfall


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
        """From a trace recorded with ``PROBES`` in every round.

        Raises:
            ValueError: rounds or probes are missing.
        """
        if missing := [name for name in PROBES if name not in trace.series]:
            raise ValueError(
                f"trace lacks {', '.join(missing)}; allowed: one recorded with probes=PROBES"
            )
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace has {len(trace.rounds)} of {trace.rounds[-1]} rounds; allowed: record='all'"
            )
        get = lambda name: torch.from_numpy(trace[name])
        later = get("next_theta")
        theta = torch.cat([torch.zeros_like(later[:, :1]), later], 1)  # theta_1 = 0
        return cls(setting, theta, get("arm"), get("reward"), get("truth")[:, -1], get("best"))

    @property
    def rounds(self) -> Tensor:
        """1, ..., T."""
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
        first = self.setting.ridge * torch.eye(self.setting.dim, dtype=torch.float64).expand(
            len(self.arm), 1, -1, -1
        )
        gains = (self.curvature.unsqueeze(-1) * self.arm).unsqueeze(-1) * self.arm.unsqueeze(-2)
        return torch.cat([first, gains], 1).cumsum(1)

    def width_square(self, shift: float = 0.0) -> Tensor:
        """X_t^T (H_t - shift I)^{-1} X_t, R x T."""
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
        """||v_t||^2 in the norm of H_t, R x T. ``vector``: R x T x d."""
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

    @cached_property
    def true_loss(self) -> Tensor:
        """Sum up to t of l_s(theta*), R x T."""
        return loss(self.setting.link, self.true_z, self.reward).cumsum(1)

    @cached_property
    def next_loss(self) -> Tensor:
        """Sum up to t of l_s(theta_{s+1}), R x T."""
        return loss(self.setting.link, self.next_z, self.reward).cumsum(1)


# Theorem 2 and the tables ---------------------------------------------------------------------------------


@statement("Theorem 2, curvature along the run", f"{PAPER}, proof of Theorem 2")
def curvature_along(run: Replay) -> Check:
    """sum mu'(X_s^T theta*) <= t / kappa_opt + R Reg_t: from |mu'(a) - mu'(b)| <= R |mu(a) - mu(b)|. In every run."""
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
    """0 <= min(u_t, S) - X_t^T theta* <= 2 beta_t ||X_t||_{H_t^{-1}}, u_t the played arm's index.

    It follows where theta* is in the confidence set. The paper bounds mu' by C_mu at X_t^T theta~ with theta~ in
    that set, which may leave the ball; the minimum repairs it, and changes nothing in the algorithm (E15).

    Args:
        run: the run.
        scale: the learner's, which multiplies the radius.
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
    """sqrt(t) ln(1 + t): Theorem 2's leading term in the horizon, up to factors; 1 + t for a logarithm above 0."""
    return np.sqrt(t) * np.log1p(t)


@statement("Theorem 2, order", f"{PAPER}, Theorem 2")
def regret_order(trace: Trace) -> Check:
    """Regret grows no faster than Theorem 2's leading order, sqrt(t) ln(1 + t), over the last 90 % of the rounds.

    The slope of the log of the mean of regret / order on log t: the upper end of its bootstrap interval over trials
    has to be at most 0.
    """
    slope = stats.growth(trace.rounds, trace["regret"] / leading_order(trace.rounds))
    return regret_order.statement.check(
        "slope of ln(Reg_t / (sqrt(t) ln(1 + t))) on ln t <= 0",
        {"slope": slope.estimate, "trials": slope.n},
        slope.high,
        0.0,
    )


class Order(NamedTuple):
    """One line of a table: leading orders in the horizon T and the round t."""

    method: str
    regret: str
    time: str  # of a round
    memory: str
    joint: str  # whether it is jointly efficient: both cheap and with kappa_* for kappa


@statement("Table 1", f"{PAPER}, Table 1")
def table_1() -> tuple[Order, ...]:
    """Generalized linear bandits: regret and cost a round; kappa_* <= kappa makes the difference.

    The marks of the last column are our reading of the text. For RS-GLinCB we read Table 1 as no, because its
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
    """Jointly efficient methods for logistic bandits: regret and cost a round."""
    return (
        Order("ECOLog", "log T sqrt(T / kappa_*)", "log t", "1", "yes"),
        Order("OFUL-MLogB", "(log T)^(3/2) sqrt(T / kappa_*)", "1", "1", "yes"),
        Order("GLB-OMD", "log T sqrt(T / kappa_*)", "1", "1", "yes"),
    )


@statement("Table 1, kappa", f"{PAPER}, caption of Table 1")
def table_1_kappa(link: Link, norm_bound: float, kappa_opt: float) -> Check:
    """kappa_* <= kappa: the slope at the best arms is at least the smallest over the ball. ``kappa_opt``: kappa_*."""
    inputs = {"link": type(link).__name__, "S": norm_bound}
    bound = kappa_ball(link, norm_bound)
    return table_1_kappa.statement.check("kappa_* <= kappa", inputs, kappa_opt, bound)


# The one-pass update --------------------------------------------------------------------------------------


def surrogate_gradient(run: Replay) -> Tensor:
    """grad l~_t(theta_{t+1}) = coefficient times X_t: the gradient of l_t expanded to second order at theta_t. R x T."""
    link = run.setting.link
    slope = link.slope(run.start_z) * (run.next_z - run.start_z)
    return (link.mean(run.start_z) - run.reward + slope) / link.dispersion


@statement("Proposition 1", f"{PAPER}, Eqs. (3), (42a), (42b)")
def proposition_1(run: Replay) -> Check:
    """The two-step update (42a), (42b) is the constrained minimizer (3): its optimality conditions.

    theta_{t+1} minimizes a strictly convex function over the ball exactly if it lies in the ball and the gradient
    there is -nu theta_{t+1} with nu >= 0, and nu = 0 inside. Observed: the residual of these conditions, relative
    to the two terms that make up the gradient, R x T.
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
    # Where both terms are zero to rounding, so is the residual: measured against H_t ||theta_{t+1}|| eps.
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
    """Three-point inequality of mirror descent, for every comparator u in the ball.

    ||theta_{t+1} - u||_{H_t}^2 <= 2 eta <grad l~_t(theta_{t+1}), u - theta_{t+1}> + ||theta_t - u||_{H_t}^2
    - ||theta_t - theta_{t+1}||_{H_t}^2. Any error in the update shows here, also a projection in a wrong norm; an
    omitted projection shows in Proposition 1 alone.

    Args:
        run: the run.
        comparator: u, broadcasting to R x T x d; by default theta* and, beside it, a random point with norm S.
        seed: of the random points.

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


@statement("Lemma 4", f"{PAPER}, Lemma 4")
def lemma_4(run: Replay, *, printed: bool = False) -> Check:
    """Error of the estimate through the losses, for any ridge.

    ||theta_{t+1} - theta*||_{H_{t+1}}^2 <= 2 eta (L* - L+) + ||theta_1 - theta*||_{H_1}^2
    + (2 eta R S C_mu / g) S_D2 - S_DH. Uses Assumption 2 besides the two that the paper lists (erratum E12).

    Args:
        run: the run.
        printed: the statement's coefficient C_mu (2 + 2 R S) / g, which lacks its proof's R S (erratum E4).
    """
    setting, eta = run.setting, run.setting.step
    R, g, S = setting.link.self_concordance, setting.link.dispersion, setting.norm_bound
    # Departure: the printed coefficient lacks the factor R S of (11) and (19) (E4).
    coefficient = setting.max_slope * 2 * eta / g * (1 if printed else R * S)
    text = "C_mu (2 + 2 R S)" if printed else "2 eta R S C_mu"
    start = 2 * eta * (run.true_loss - run.next_loss) + run.error[:, :1]
    euclidean = run.move.square().sum(-1).cumsum(1)
    return lemma_4.statement.check(
        f"||theta_{{t+1}} - theta*||^2_{{H_{{t+1}}}} <= 2 eta (L* - L+) + ||theta_1 - theta*||^2_{{H_1}} + ({text} / g) S_D2 - S_DH",
        setting.describe(),
        run.error[:, 1:],
        start + coefficient * euclidean - run.moved,
    )


@statement("Lemma 4b", f"{PAPER}, Lemma 4 in the form that Theorem 1 uses")
def lemma_4b(run: Replay) -> Check:
    """Lemma 4 with lambda >= 6 eta R S C_mu / g: a third of S_DH pays for S_D2.

    ||theta_{t+1} - theta*||_{H_{t+1}}^2 <= 2 eta (L* - L+) + ||theta_1 - theta*||_{H_1}^2 - (2/3) S_DH. Computed
    for any ridge; below the condition it may fail, and does.
    """
    setting, eta = run.setting, run.setting.step
    R, g, S = setting.link.self_concordance, setting.link.dispersion, setting.norm_bound
    least = 6 * eta * R * S * setting.max_slope / g
    return lemma_4b.statement.check(
        "||theta_{t+1} - theta*||^2_{H_{t+1}} <= 2 eta (L* - L+) + ||theta_1 - theta*||^2_{H_1} - (2/3) S_DH",
        setting.describe() | {"least ridge": least},
        run.error[:, 1:],
        2 * eta * (run.true_loss - run.next_loss) + run.error[:, :1] - 2 / 3 * run.moved,
        remark=shortfall(setting.ridge, least),
    )


@statement("Lemma 11", f"{PAPER}, Lemma 11 (elliptical potential)")
def lemma_11(run: Replay, *, sharp: bool = False) -> Check:
    """Sum of squared widths, with z_t = sqrt(mu'(X_t^T theta_{t+1})) X_t and V_t = g H_t.

    sum ||z_s||_{V_s^{-1}}^2 <= 2 d (1 + Z^2) ln(1 + t Z^2 / (d lambda')), Z^2 = C_mu, lambda' = g lambda >= 1. The
    factor 2 is superfluous (``sharp``): x <= (1 + Z^2) ln(1 + x) for 0 <= x <= Z^2.

    Raises:
        ValueError: g lambda < 1 (erratum E25).
    """
    setting, d, square = run.setting, run.setting.dim, run.setting.max_slope
    initial = setting.link.dispersion * setting.ridge
    if initial < 1:
        raise ValueError(f"ridge={setting.ridge}: g lambda={initial}; allowed: at least 1")
    growth = torch.log1p(run.rounds * square / (d * initial))
    return lemma_11.statement.check(
        f"sum ||z_s||^2_{{V_s^-1}} <= {'' if sharp else '2 '}d (1 + Z^2) ln(1 + t Z^2 / (d g lambda))",
        setting.describe(),
        (run.curvature * run.width2).cumsum(1),
        (1 if sharp else 2) * d * (1 + square) * growth,
    )
