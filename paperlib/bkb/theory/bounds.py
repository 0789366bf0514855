"""Assumptions and theorems of the paper. Each one is a function that returns a ``Check``.

The lemmas of the proofs are in ``companion.bkb.proofs``. A bound reads states by field name and computes exact quantities
from the arms; this module imports no learner.
Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019).
Letters: as in ``constants``; R trials, T' recorded rounds.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...checks import Check, Reported, Vacuous, statement
from ...core.trace import Trace
from ...maths.gp import Kernel
from ..model.confidence import Confidence
from .constants import (
    CHERNOFF,
    PAPER,
    exact_horizon,
    failure,
    qbar_tight,
    regret_bound,
    regret_printed,
    size_expected,
    size_printed,
    size_tight,
    trivial_regret,
    validity,
)


def first_informative_round(rounds, bound, trivial) -> int | None:
    """Return the first recorded round such that there and later the bound is below the trivial bound in every trial, or None.

    Args:
        rounds: T'.
        bound: R x T'.
        trivial: T'.
    """
    # It is the round after the last one where the bound is not below the trivial bound in some trial.
    high = np.flatnonzero((np.atleast_2d(bound) >= np.asarray(trivial)).any(0))
    first = 0 if not len(high) else high[-1] + 1
    return int(rounds[first]) if first < len(rounds) else None


# Assumptions ----------------------------------------------------------------------------------------------


@statement("Section 2, kernel", f"{PAPER}, Section 2")
def assumption_kernel(kernel: Kernel, arms: Tensor, kappa2: float) -> Check:
    """The kernel is positive semidefinite on the arms, up to rounding, and k(x, x) <= kappa2.

    ``arms``: A x d or 1 x A x d.
    """
    points = arms.reshape(arms.shape[-2:])
    least = torch.linalg.eigvalsh(kernel(points, points))[:1]
    observed = torch.cat([-least, kernel.diag(points)])
    bound = torch.full_like(observed, kappa2)
    bound[0] = 1e-8 * kappa2  # The first entry is -lambda_min(K), which is 0 up to rounding.
    formula = "-lambda_min(K) <= 1e-8 kappa2, k(x, x) <= kappa2"
    return assumption_kernel.statement.check(formula, {"kappa2": kappa2}, observed, bound)


@statement("Section 4, norm", f"{PAPER}, Section 4")
def assumption_norm(
    kernel: Kernel, centers: Tensor, coefficients: Tensor, norm_bound: float
) -> Check:
    """||f|| <= F for f = sum_j c_j k(z_j, .), where ||f||^2 = c^T K c.

    ``centers``: 1 x n x d or R x n x d; ``coefficients``: R x n.
    """
    gram = kernel(centers, centers).expand(len(coefficients), -1, -1)
    square = torch.einsum("ri,rij,rj->r", coefficients, gram, coefficients)
    norm = square.clamp(min=0).sqrt()
    return assumption_norm.statement.check("||f|| <= F", {"F": norm_bound}, norm, norm_bound)


@statement("Section 2, noise", f"{PAPER}, Section 2")
def assumption_noise(noise, xi: float) -> Check:
    """The noise is xi-sub-Gaussian: E e^{s eta} <= e^{s^2 xi^2 / 2}, up to four standard errors of the sample mean.

    ``noise``: a sample.
    """
    noise = np.asarray(noise, float).ravel()
    s = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]) / xi
    moments = np.exp(np.outer(s, noise))
    # Four standard errors below the sample mean, so that a true statement is not rejected by chance.
    observed = moments.mean(1) - 4 * (moments.std(1) / math.sqrt(noise.size))
    inputs, formula = {"xi": xi, "n": noise.size}, "E e^{s eta} <= e^{s^2 xi^2 / 2}"
    return assumption_noise.statement.check(formula, inputs, observed, np.exp(s**2 * xi**2 / 2))


# Theorem 3.1 ----------------------------------------------------------------------------------------------


def _sketch(confidence: Confidence, qbar: float) -> dict[str, float]:
    return {"eps": confidence.eps, "delta": confidence.delta, "qbar": qbar}


def _shortfall(confidence: Confidence, qbar: float, horizon: int) -> str:
    least = qbar_tight(horizon, confidence.delta, confidence.eps, 2)
    return "" if qbar >= least else f"qbar = {qbar:g} below the theory's {least:.4g}"


@statement("Theorem 3.1, accuracy", f"{PAPER}, Theorem 3.1 (1)")
def theorem_3_1_accuracy(
    trace: Trace, confidence: Confidence, qbar: float, diagonal: Tensor
) -> Check:
    """With probability 1 - delta: s2 / alpha <= s2~ <= alpha s2 for all t and x.

    The check cannot fail while every pull is kept, because s2~ then equals s2. The input ``exact up to`` is the last round
    where every pull must be kept. The input ``rounds with pulls left out`` counts the recorded rounds where some pull was
    not kept. If this number is 0, the check is vacuous.

    Args:
        trace: with "ratio", the worst ratio of all arms and rounds so far, and "left out", R x T'.
        confidence: its eps and delta.
        qbar: the learner's oversampling; if it is below the theory's, the check has a remark.
        diagonal: k(x_i, x_i) of the arms.
    """
    # A round where every pull is kept cannot test the theorem, because s2~ = s2 there.
    horizon, without = int(trace.rounds[-1]), int((trace["left out"] > 0).sum())
    exact = exact_horizon(qbar, diagonal, confidence.lam)
    return theorem_3_1_accuracy.statement.check(
        "for all t, x: max(s2~ / s2, s2 / s2~) <= alpha, with probability 1 - delta",
        _sketch(confidence, qbar)
        | {"T": horizon, "exact up to": exact, "rounds with pulls left out": without},
        trace["ratio"],
        confidence.alpha,
        confidence.delta,
        tolerance=1e-6,
        remark=_shortfall(confidence, qbar, horizon),
        kind=Check if without else Vacuous,
    )


def _size(
    function: Callable,
    formula: str,
    trace: Trace,
    effective: Tensor,
    bound: Tensor,
    confidence: Confidence,
    qbar: float,
    extra: float = 0.0,
    series: str = "size",
) -> Check:
    """Return the check of a bound on the pulls in the dictionary, R x T'; the trivial bound is the t pulls so far."""
    rounds = trace.rounds
    first = first_informative_round(rounds, bound, rounds)
    return function.statement.check(
        formula,
        _sketch(confidence, qbar) | {"d_eff": float(effective[:, -1].mean())},
        trace[series],
        bound,
        min(confidence.delta + extra, 1 - 1e-12),
        trivial=float(rounds[-1]),
        informative_from=first,
        remark=_shortfall(confidence, qbar, int(rounds[-1])),
        kind=Vacuous if first is None else Check,  # The dictionary never has more than t pulls.
    )


@statement("Theorem 3.1, size", f"{PAPER}, Theorem 3.1 (2)")
def theorem_3_1_size(
    trace: Trace, effective: Tensor, confidence: Confidence, qbar: float, kappa2: float
) -> Check:
    """With probability 1 - delta: |S_t| <= 3 (1 + kappa2 / lambda) alpha qbar d_eff(t) for all t, counted with multiplicity.

    Args:
        trace: with "size", R x T'.
        effective: d_eff(t) of the exact posterior, R x T' (``Replay.effective``).
        confidence: its eps, delta and lambda.
        qbar: the learner's oversampling.
        kappa2: largest k(x, x).
    """
    bound = size_printed(effective, kappa2, confidence.lam, qbar, confidence.eps)
    formula = "for all t: |S_t| <= 3 (1 + kappa2 / lambda) alpha qbar d_eff(t), with probability 1 - delta"
    return _size(theorem_3_1_size, formula, trace, effective, bound, confidence, qbar)


@statement("Theorem 3.1, tight size", f"{PAPER}, Theorem 3.1 (2), tightened")
def theorem_3_1_tight(
    trace: Trace, effective: Tensor, confidence: Confidence, qbar: float
) -> Check:
    """With probability 1 - delta: |S_t| <= 3 (alpha qbar d_eff(t) + 1) for all t, without the factor 1 + kappa2 / lambda (E13).

    The arguments are as for ``theorem_3_1_size``. The failure probability of Proposition C.4 is added to delta.
    """
    bound = size_tight(effective, qbar, confidence.eps)
    formula = "for all t: |S_t| <= 3 (alpha qbar d_eff(t) + 1), with probability 1 - delta"
    # Proposition C.4 may fail in each round, so that its failure probabilities are summed over the rounds.
    extra = float(torch.exp(-CHERNOFF * bound / 3).sum(-1).max())
    return _size(theorem_3_1_tight, formula, trace, effective, bound, confidence, qbar, extra)


@statement("Theorem 3.1, expected size", f"{PAPER}, Appendix C.4, tightened")
def theorem_3_1_expected(
    trace: Trace, effective: Tensor, confidence: Confidence, qbar: float
) -> Check:
    """If every variance is accurate within alpha: E |S_t| given the past is at most alpha qbar d_eff(t - 1) + 1 for all t.

    Args:
        trace: with "expected size", R x T, of every round.
        effective: d_eff(t), R x T.
        confidence: its eps and delta.
        qbar: the learner's oversampling.
    """
    # The bound of round t uses d_eff(t - 1), with d_eff(0) = 0.
    before = torch.cat([torch.zeros_like(effective[:, :1]), effective[:, :-1]], 1)
    bound = size_expected(before, qbar, confidence.eps)
    formula = "for all t: E |S_t| <= alpha qbar d_eff(t - 1) + 1, with probability 1 - delta"
    return _size(
        theorem_3_1_expected,
        formula,
        trace,
        effective,
        bound,
        confidence,
        qbar,
        series="expected size",
    )


# Theorems D.1 and 4.1 -------------------------------------------------------------------------------------


def _describe(confidence: Confidence) -> dict[str, float | str]:
    return {
        "xi": confidence.noise,
        "F": confidence.norm_bound,
        "lambda": confidence.lam,
        "eps": confidence.eps,
        "delta": confidence.delta,
        "rule": confidence.rule,
    }


@statement("Theorem D.1", f"{PAPER}, Theorem D.1")
def theorem_d1(
    trace: Trace, confidence: Confidence, sketched: bool = True, qbar: float | None = None
) -> Check:
    """With probability 1 - 2 delta: |f(x) - mu_t(x)| <= beta_t sqrt(s2_t(x)) for all t and x; 1 - delta for the exact posterior (E12).

    The theorem is proved for the rules ``corrected`` and ``online``, and for ``practical`` and ``gamma`` with the exact
    posterior. For other rules the check has a remark.

    Args:
        trace: with "error", the worst normalized error of all arms and rounds so far, R x T'.
        confidence: the learner's.
        sketched: whether the posterior is sketched.
        qbar: oversampling of a sketched learner; None to skip its comparison with the theory.
    """
    return theorem_d1.statement.check(
        "for all t, x: |f(x) - mu_t(x)| / (beta_t sqrt(s2_t(x))) <= 1, with probability 1 - 2 delta",
        _describe(confidence) | {"sketched": sketched},
        trace["error"],
        1.0,
        failure(confidence, sketched),
        remark=validity(confidence, sketched, qbar, int(trace.rounds[-1])),
    )


def _regret(
    function: Callable,
    formula: str,
    trace: Trace,
    bound: np.ndarray,
    confidence: Confidence,
    kappa2: float,
    **more: Any,
) -> Check:
    """Return the check of a bound on "regret", R x T'; it is vacuous if the bound is never below 2 kappa F T."""
    trivial = trivial_regret(confidence, kappa2, trace.rounds)
    first = first_informative_round(trace.rounds, bound, trivial)
    return function.statement.check(
        formula,
        _describe(confidence) | {"kappa2": kappa2},
        trace["regret"],
        bound,
        failure(confidence),
        trivial=float(trivial[-1]),
        informative_from=first,
        **({"kind": Vacuous if first is None else Check} | more),
    )


@statement("Theorem 4.1", f"{PAPER}, Theorem 4.1")
def theorem_4_1_printed(
    trace: Trace, effective: Tensor, confidence: Confidence, kappa2: float
) -> Check:
    """With probability 1 - 2 delta (the paper: 1 - delta, E12): R_T <= 2 (2 alpha)^{3/2} sqrt(T) (xi D + sqrt(lambda F^2 D) + xi ln(1 / delta)), D = d_eff ln(kappa2 T).

    Its proof bounds the wrong sum (E11), and the bound is false for small lambda. Therefore the check only reports the
    numbers, without a decision, if kappa2 / lambda > 1.

    Args:
        trace: with "regret", R x T'.
        effective: d_eff(t) of the exact posterior at the recorded rounds, R x T'.
        confidence: the learner's.
        kappa2: largest k(x, x).
    """
    columns = [
        regret_printed(confidence, kappa2, int(T), effective[:, i])
        for i, T in enumerate(trace.rounds)
    ]
    bound, more = np.stack(columns, 1), {}
    if (ratio := kappa2 / confidence.lam) > 1:
        more = {"kind": Reported, "remark": f"not applicable: kappa2 / lambda = {ratio:.4g} > 1"}
    formula = "R_T <= 2 (2 alpha)^{3/2} sqrt(T) (xi D + sqrt(lambda F^2 D) + xi ln(1/delta))"
    return _regret(theorem_4_1_printed, formula, trace, bound, confidence, kappa2, **more)


@statement("Theorem 4.1, corrected", f"{PAPER}, Theorem 4.1, corrected")
def theorem_4_1(
    trace: Trace,
    log_det: Tensor,
    confidence: Confidence,
    kappa2: float,
    qbar: float | None = None,
) -> Check:
    """With probability 1 - 2 delta: R_T <= 2 kappa F + 2 beta_T sqrt(alpha T C_lambda ln det(I + K_T / lambda)) for all T.

    Args:
        trace: with "regret" and "radius", the largest radius so far, R x T'.
        log_det: ln det of the exact posterior at the recorded rounds, R x T'.
        confidence: the learner's.
        kappa2: largest k(x, x).
        qbar: the learner's oversampling.
    """
    rounds, radius = (torch.from_numpy(x).double() for x in (trace.rounds, trace["radius"]))
    bound = regret_bound(confidence, kappa2, rounds, log_det, radius).numpy()
    formula = "for all T: R_T <= 2 kappa F + 2 beta_T sqrt(alpha T C_lambda ln det)"
    remark = validity(confidence, True, qbar, int(trace.rounds[-1]))
    return _regret(theorem_4_1, formula, trace, bound, confidence, kappa2, remark=remark)


@statement("Theorem 4.1, certificate", f"{PAPER}, Appendix D.2, as computed in the run")
def certificate(
    trace: Trace, confidence: Confidence, kappa2: float, qbar: float | None = None
) -> Check:
    """With probability 1 - 2 delta: R_T <= 2 kappa F + sum_t 2 beta_t sqrt(s2_t(x_{t+1})) for all T, known from the run alone.

    Args:
        trace: with "regret" and "certificate" (``probes.confidence_width``, summed), R x T'.
        confidence: the learner's.
        kappa2: largest k(x, x).
        qbar: the learner's oversampling.
    """
    formula = "for all T: R_T <= 2 kappa F + sum 2 beta_t sqrt(s2_t(x_{t+1}))"
    bound, remark = trace["certificate"], validity(confidence, True, qbar, int(trace.rounds[-1]))
    return _regret(certificate, formula, trace, bound, confidence, kappa2, remark=remark)
