"""Statements along Phase II of a run: the quantities that Algorithm 1 computes, and Lemmas B.3 and C.4 to C.6.

``feasibility`` has Lemmas 5.3 to 5.5. A statement without a failure probability holds on every run of the algorithm, therefore a single
violation means an error. We chose the names of statements that the paper does not number.
Source: Liu & Wang (2023).
Letters: as in ``phase_2``; l_t = ln(det Sigma_t / det lambda I), u_t = ||g_t|| in the norm of Sigma_t^{-1}, S_t = sum_{i < t} g_i^T Sigma_t^{-1} g_i,
K = C_g^2 / lambda, kappa_K = K / ln(1 + K).
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check, Statement, statement
from paperlib.goucb.theory import constants
from paperlib.goucb.theory.constants import PAPER, ROUNDING, kappa_factor

from .phase_2 import Replay

# Phase I, and constants at the estimates ----------------------------------------------------------------


@statement("Eq. (2), oracle", f"{PAPER}, (2)")
def oracle(found: Any, at_truth: Any) -> Check:
    """sum (f_{w_0}(x_i) - y_i)^2 <= sum (f_{w*}(x_i) - y_i)^2, which is all that Lemma 5.1 as corrected uses of w_0.

    Detects a fit that ends in a worse minimum, or does not move.

    Args:
        found: squared error of w_0, R.
        at_truth: squared error of w*, R.
    """
    bound = np.asarray(at_truth, float) + 1e-10
    return oracle.statement.check(
        "squared error of w_0 <= that of w*", {"trials": len(bound)}, found, bound
    )


@statement("Assumption 3.2, where the estimates are", "ours, required by the proofs")
def assumption_3_2_along(run: Replay, slope: float, curvature: float) -> Check:
    """The bounds on the network between w* and the estimates, which leave W, are at most C_g and C_h (E5).

    Detects constants that hold only on W, where the paper assumes them.
    """
    return assumption_3_2_along.statement.check(
        "C_g, C_h of |w2| along the run",
        {"C_g": slope, "C_h": curvature},
        run.reached,
        [slope, curvature],
    )


# Quantities that Algorithm 1 computes ---------------------------------------------------------------------


@statement("Eq. (5), estimate", f"{PAPER}, (3) to (5)")
def estimate(run: Replay) -> Check:
    """w_t = Sigma_t^{-1} R_t, R_t = lambda w_0 + sum g_i (g_i^T w_i + y_i - f_{x_i}(w_i)), with gradients taken at the time of each query.

    Detects a gradient of another round, a missing ridge and observations of another round.
    """
    return estimate.statement.check(
        "||w_t - Sigma_t^{-1} R_t|| <= 1e-8 (1 + ||w_t||)",
        run.inputs,
        torch.linalg.vector_norm(run.w - run.along.center, dim=2),
        ROUNDING * (1 + torch.linalg.vector_norm(run.w, dim=2)),
    )


@statement("Ball_t", f"{PAPER}, Algorithm 1; beta_t of Lemma 5.3")
def ball(run: Replay, root: Tensor) -> Check:
    """The learner's l_t, u_t and sqrt(beta_t) u_t equal the values recomputed from its gradients and from ``root``.

    Detects a halved bonus, and a matrix of another round.

    ``root``: sqrt(beta_t), R x T, as in ``Replay.root``.
    """
    u, (growth, width, seen) = run.along.u2.sqrt(), run.ball.unbind(2)
    expected = torch.stack([run.along.growth[:, : run.rounds], u, root * u], 2)
    return ball.statement.check(
        "|l_t, u_t, sqrt(beta_t) u_t minus the recomputed values| <= 1e-8 (1 + size)",
        run.inputs,
        (torch.stack([growth, width, seen * width], 2) - expected).abs(),
        ROUNDING * (1 + expected.abs()),
    )


@statement("Query", f"{PAPER}, Algorithm 1, argmax")
def query(run: Replay, x: Tensor, off: float = 0.1) -> Check:
    """a(x_t) is nearly the largest of a(x) = f_x(w_t) + sqrt(beta_t) u_t(x) on a grid: it is lower by at most a fraction ``off`` of a's range.

    Detects a missing bonus, and a search that stops early.

    Args:
        run: Phase II, with the learner's sqrt(beta_t).
        x: the grid, N x d.
        off: largest fraction of the range that the search may miss.
    """
    found, at_query = [], run.value + run.radius * run.along.u2.sqrt()
    for t in range(run.rounds):
        a = torch.stack(run.surface(t, x.unsqueeze(0))).sum(0)
        found.append((a.amax(1) - at_query[:, t]) / (a.amax(1) - a.amin(1)).clamp(min=1e-12))
    return query.statement.check(
        "max a - a(x_t) <= off (max a - min a)",
        run.inputs | {"points": len(x), "off": off},
        torch.stack(found, 1),
        off,
    )


# Lemmas B.3 and C.4 to C.6 --------------------------------------------------------------------------------


@statement("Lemma C.4", f"{PAPER}, Lemma C.4")
def lemma_c4(run: Replay) -> Check:
    """det Sigma_t = det Sigma_0 prod_{i < t} (1 + u_i^2): the learner's l_t is compared with the sum of ln(1 + u_i^2).

    Detects a potential with one round less.
    """
    total = torch.log1p(run.along.u2).cumsum(1)
    total = torch.cat([torch.zeros_like(total[:, :1]), total[:, :-1]], 1)
    return lemma_c4.statement.check(
        "|l_t - sum_{i < t} ln(1 + u_i^2)| <= 1e-8 (1 + l_t)",
        run.inputs,
        (run.ball[:, :, 0] - total).abs(),
        ROUNDING * (1 + total),
    )


@statement("Lemma C.5", f"{PAPER}, Lemma C.5")
def lemma_c5(run: Replay, slope: float) -> Check:
    """l_t <= dw ln(1 + t C_g^2 / (dw lambda)).

    Detects a C_g that the run exceeds. ``slope``: C_g.
    """
    return lemma_c5.statement.check(
        "l_t <= dw ln(1 + t C_g^2 / (dw lambda))",
        run.inputs | {"C_g": slope},
        run.along.growth[:, 1:],
        potential_bound(run, slope) + 1e-12,
    )


def potential_bound(run: Replay, slope: float) -> np.ndarray:
    """Return dw ln(1 + t C_g^2 / (dw lambda)) for t = 1, ..., T, 1 x T."""
    t = np.arange(1, run.rounds + 1)[None]
    return constants.potential(run.w.shape[2], slope, t, run.ridge)


@statement("Lemma C.6", f"{PAPER}, Lemma C.6, with 1 for 2")
def lemma_c6(run: Replay) -> Check:
    """S_t = dw - lambda tr Sigma_t^{-1} <= min{t, dw, l_t}, because x / (1 + x) <= ln(1 + x) (E3).

    Detects an S_t computed with another matrix.
    """
    along, dw = run.along, run.w.shape[2]
    S, growth = along.trace[:, 1:], along.growth[:, 1:]
    t = torch.arange(1, run.rounds + 1, dtype=S.dtype)
    least = torch.minimum(growth, t.clamp(max=dw))
    return lemma_c6.statement.check(
        "S_t <= min{t, dw, l_t}, |S_t - (dw - lambda tr Sigma_t^{-1})| <= 1e-8",
        run.inputs,
        torch.stack([S, (S - along.resolvent[:, 1:]).abs()], 2),
        torch.stack([least + 1e-12, torch.full_like(least, ROUNDING)], 2),
    )


@statement("Lemma C.6, printed", f"{PAPER}, Lemma C.6")
def lemma_c6_printed(run: Replay, slope: float) -> Check:
    """S_t <= 2 dw ln(1 + t C_g^2 / (dw lambda)), which is true.

    ``slope``: C_g.
    """
    return lemma_c6_printed.statement.check(
        "S_t <= 2 dw ln(1 + t C_g^2 / (dw lambda))",
        run.inputs,
        run.along.trace[:, 1:],
        2 * potential_bound(run, slope),
    )


@statement("Lemma C.6, printed step", f"{PAPER}, proof of Lemma C.6")
def lemma_c6_step(trace: Any, growth: Any) -> Check:
    """S_t <= 2 l_{t-1}: false, because at t = 1 the right side is 0 (E3).

    Args:
        trace: S_t for t = 1, ..., T, R x T.
        growth: l_0, ..., l_{T-1}, R x T.
    """
    bound = 2 * np.asarray(growth, float)
    return lemma_c6_step.statement.check("S_t <= 2 l_{t-1}", {"T": bound.shape[1]}, trace, bound)


@statement("Elliptical potential", f"{PAPER}, proof of Lemma 5.5, corrected")
def potential(u2: Any, growth: Any, K: float) -> Check:
    """sum_{i < t} u_i^2 <= kappa_K l_t (E4).

    Detects widths computed without the ridge.

    Args:
        u2: u_0^2, ..., u_{T-1}^2, R x T.
        growth: l_1, ..., l_T, R x T.
        K: C_g^2 / lambda.
    """
    factor = float(kappa_factor(K))
    return potential.statement.check(
        "sum u_i^2 <= kappa_K l_t",
        {"kappa_K": factor},
        np.asarray(u2, float).cumsum(1),
        factor * np.asarray(growth, float),
        tolerance=ROUNDING,
    )


def _doubled(of: Statement, formula: str, u2: Any, half: Any) -> Check:
    """Compare sum_{i < t} u_i^2, R x T, with twice ``half``."""
    u2, bound = np.asarray(u2, float), 2 * np.asarray(half, float)
    return of.check(formula, {"largest u^2": float(u2.max())}, u2.cumsum(1), bound)


@statement("Elliptical potential, printed", f"{PAPER}, proof of Lemma 5.5")
def potential_printed(u2: Any, bound: Any) -> Check:
    """sum_{i < t} u_i^2 <= 2 dw ln(1 + t C_g^2 / (dw lambda)), for every t as the horizon: Lemma C.6 where it does not apply (E4).

    It is false if few large u_i^2 come first.

    Args:
        u2: u_0^2, ..., u_{T-1}^2, R x T.
        bound: dw ln(1 + t C_g^2 / (dw lambda)), see ``potential_bound``, 1 x T.
    """
    return _doubled(
        potential_printed.statement,
        "sum u_i^2 <= 2 dw ln(1 + t C_g^2 / (dw lambda))",
        u2,
        bound,
    )


@statement("Elliptical potential, with 2", f"{PAPER}, proof of Lemma 5.5, by Lemma C.4")
def potential_step(u2: Any, growth: Any) -> Check:
    """sum_{i < t} u_i^2 <= 2 l_t, which the proof would need from x <= 2 ln(1 + x): false where u_i^2 exceeds 2.51 (E4).

    Arguments: as in ``potential``.
    """
    return _doubled(potential_step.statement, "sum u_i^2 <= 2 l_t", u2, growth)


@statement("Lemma B.3", f"{PAPER}, Lemma B.3")
def lemma_b3(run: Replay, noise: float, delta: float) -> Check:
    """With probability 1 - delta, here half of Algorithm 1's delta: ||sum_{i < t} g_i eta_i||^2 <= sigma^2 (l_t + 2 ln(1 / delta)) in the norm of Sigma_t^{-1} for all t.

    No union over t is needed (E3). Detects noise that is larger than sigma.
    """
    return lemma_b3.statement.check(
        "||sum g_i eta_i||^2_{Sigma_t^{-1}} <= sigma^2 (l_t + 2 ln(1 / delta))",
        run.inputs | {"sigma": noise},
        run.along.noise2[:, 1:],
        noise**2 * (run.along.growth[:, 1:] + 2 * math.log(1 / delta)),
        delta,
    )


# Regret of the rounds -------------------------------------------------------------------------------------


@statement("Theorem 4.1, sum", f"{PAPER}, proof of Theorem 4.1")
def square_sum(regret: Any, run: Replay, n: int, value: float) -> Check:
    """R_{n + T} <= 2 F n + sqrt(T sum r_t^2): a step of the proof.

    Detects regret that counts rounds twice, or |f| above F.

    Args:
        regret: regret of both phases, R.
        run: Phase II.
        n: rounds of Phase I.
        value: F.
    """
    return square_sum.statement.check(
        "R_{n + T} <= 2 F n + sqrt(T sum r_t^2)",
        run.inputs | {"n": n},
        regret,
        2 * value * n + (run.rounds * run.gaps.square().sum(1)).sqrt(),
    )


@statement("Remark 4.2", f"{PAPER}, Remark 4.2")
def remark_4_2(run: Replay, best: float) -> Check:
    """The expected gap of a query drawn uniformly from Phase II is sum r_t / T, and no r_t is below 0.

    Detects an f* that is not the maximum, and missing rounds.

    ``best``: f*.
    """
    gaps = best - run.true
    off = (run.gaps.mean(1) - gaps.mean(1)).abs()
    return remark_4_2.statement.check(
        "|E[f* - f(x^)] - sum r_t / T| <= 1e-8, r_t >= -1e-8",
        run.inputs,
        torch.cat([off.unsqueeze(1), -gaps], 1),
        ROUNDING,
    )


@statement("Remark 4.3", f"{PAPER}, Remark 4.3; the inequality is ours, from (4)")
def remark_4_3(run: Replay) -> Check:
    """||w_t - w_0||^2 <= sum_{i < t} e_i^2 / lambda, where e_i is the error of the linear model of query i at w_0.

    The inequality follows from (4) for every lambda > 0, because w_t minimizes (4) and the ridge is centered at w_0. The check detects a
    ridge that is centered elsewhere. It does not test whether lambda of order sqrt(T) is needed, as the remark claims.
    """
    moved = run.w - run.w[:, :1]
    error = run.y - run.value + (run.g * moved[:, :-1]).sum(2)
    return remark_4_3.statement.check(
        "||w_t - w_0||^2 <= sum_{i < t} e_i^2 / lambda",
        run.inputs,
        moved[:, 1:].square().sum(2),
        error.square().cumsum(1) / run.ridge + ROUNDING,
    )
