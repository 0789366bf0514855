"""Lemmas about the one-pass update, held against a run: Proposition 1 and Lemmas 1, 4 and 11.

They hold on every sequence of rewards, not just with high probability, so one violation means an error.
Source: Zhang, Xu, Zhao & Sugiyama (2025), with its appendices.
Letters: as in ``constants``; S_D2 and S_DH are the sums up to t of ||theta_{s+1} - theta_s||^2 in the Euclidean norm
and in the norm of H_s, L* and L+ those of l_s(theta*) and l_s(theta_{s+1}).
"""

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check, statement
from paperlib.glbomd.theory.bounds import PAPER, ROUNDING, shortfall

from .replay import Replay


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
    outside = (length / S - 1).clamp(min=0)
    return proposition_1.statement.check(
        "grad l~_t(theta_{t+1}) + H_t (theta_{t+1} - theta_t) / eta = -nu theta_{t+1}, ||theta_{t+1}|| <= S",
        setting.describe(),
        residual / scale + outside,
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
    euclidean = run.move.square().sum(-1).cumsum(1)
    start = 2 * eta * (run.true_loss - run.next_loss) + run.error[:, :1]
    bound = start + coefficient * euclidean - run.moved
    return lemma_4.statement.check(
        f"||theta_{{t+1}} - theta*||^2_{{H_{{t+1}}}} <= 2 eta (L* - L+) + ||theta_1 - theta*||^2_{{H_1}} + ({text} / g) S_D2 - S_DH",
        setting.describe(),
        run.error[:, 1:],
        bound,
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
    bound = 2 * eta * (run.true_loss - run.next_loss) + run.error[:, :1] - 2 / 3 * run.moved
    inputs = setting.describe() | {"least ridge": least}
    return lemma_4b.statement.check(
        "||theta_{t+1} - theta*||^2_{H_{t+1}} <= 2 eta (L* - L+) + ||theta_1 - theta*||^2_{H_1} - (2/3) S_DH",
        inputs,
        run.error[:, 1:],
        bound,
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
    observed = (run.curvature * run.width2).cumsum(1)
    growth = torch.log1p(run.rounds * square / (d * initial))
    bound = (1 if sharp else 2) * d * (1 + square) * growth
    return lemma_11.statement.check(
        f"sum ||z_s||^2_{{V_s^-1}} <= {'' if sharp else '2 '}d (1 + Z^2) ln(1 + t Z^2 / (d g lambda))",
        setting.describe(),
        observed,
        bound,
    )
