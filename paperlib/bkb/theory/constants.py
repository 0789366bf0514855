"""Constants of the analysis of BKB: oversampling, size of the dictionary, regret bounds.

If a printed constant differs from the constant that its proof gives, this module has both and names the erratum.
Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019), Theorems 3.1 and 4.1 with Appendices C and D.
Letters: T horizon, xi noise level, F norm bound, lambda ridge, alpha = (1 + eps) / (1 - eps), kappa2 largest k(x, x),
d_eff = Tr K (K + lambda I)^{-1}, gamma_T the largest 1/2 ln det(I + K / lambda) over T arms, L = ln(1 / delta).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ...checks import informative_from
from ...core.validation import check_in, check_positive
from ..model.confidence import Confidence, RoundSums, check_open_interval

PAPER = "Calandriello, Carratino, Lazaric, Valko & Rosasco (2019)"
ROUNDING = 1e-8  # allowed relative difference of a quantity that is computed in two ways

# P(sum of independent Bernoulli variables >= 3 d) <= exp(-CHERNOFF d), where d is at least the mean of the sum.
CHERNOFF = 3 * math.log(3) - 2


def inflation(eps: float) -> float:
    """Return alpha = (1 + eps) / (1 - eps)."""
    eps = check_open_interval("eps", eps)
    return (1 + eps) / (1 - eps)


# Oversampling ---------------------------------------------------------------------------------------------


def qbar_theory(horizon: float, delta: float, eps: float = 0.5) -> float:
    """Return the oversampling of Theorem 3.1: 6 alpha ln(4 T / delta) / eps^2."""
    horizon = check_positive("horizon", horizon)
    delta = check_open_interval("delta", delta)
    return 6 * inflation(eps) / eps**2 * math.log(4 * horizon / delta)


def qbar_tight(horizon: float, delta: float, eps: float = 0.5, dimension: int = 4) -> float:
    """Return the oversampling that the proof of Theorem 3.1 needs: 2 alpha (1 + eps / 3) ln(c T (T + 1) / (2 delta)) / eps^2.

    It uses the exact exponent of Bernstein's inequality, and sums the failure probabilities over the rounds.

    Args:
        dimension: c, the factor of t in front of Bernstein's exponential: 4 as printed; 2 is enough (E14).
    """
    horizon = check_positive("horizon", horizon)
    delta = check_open_interval("delta", delta)
    dimension = check_in("dimension", dimension, (2, 4))
    # sum_{t <= T} c t = c T (T + 1) / 2, the union bound over the rounds.
    inside = dimension * horizon * (horizon + 1) / (2 * delta)
    return 2 * inflation(eps) * (1 + eps / 3) / eps**2 * math.log(inside)


def exact_horizon(qbar: float, diagonal: Tensor, ridge: float) -> int:
    """Return the largest horizon T where BKB is exact GP-UCB: while qbar >= (kappa2 T + lambda) / min_i k(x_i, x_i).

    By Cauchy-Schwarz, s2_t(x) >= k(x, x) / (kappa2 t + lambda), so that every pull is kept. Arms with k(x, x) = 0 are
    ignored, because they do not change the posterior. The horizon is 0 if BKB is not exact even at T = 1.

    Args:
        qbar: oversampling.
        diagonal: k(x_i, x_i), any shape, at least one above 0.
        ridge: lambda.
    """
    # An arm with k(x, x) = 0 has s2 = 0 in every posterior, so that it needs no pull in the dictionary.
    seen = diagonal[diagonal > 0]
    if not len(seen):
        raise ValueError("diagonal must be above 0 for at least one arm, got 0 for all arms")
    return max(math.floor((qbar * float(seen.min()) - ridge) / float(seen.max()) + 1e-9), 0)


def exact_horizon_of_theory(delta: float, eps: float = 0.5, ridge: float = 0.01) -> int:
    """Return the largest T with T + lambda <= ``qbar_theory(T)``: for k(x, x) = 1, BKB is exact GP-UCB up to this T."""
    return informative_from(lambda T: qbar_theory(T, delta, eps), lambda T: T + ridge) - 1


# The dictionary's size ------------------------------------------------------------------------------------


def size_printed(effective, kappa2: float, ridge: float, qbar: float, eps: float = 0.5):
    """Return the bound of Theorem 3.1 (2) on |S_t|, with multiplicity: 3 (1 + kappa2 / lambda) alpha qbar d_eff(t)."""
    return 3 * (1 + kappa2 / ridge) * inflation(eps) * qbar * effective


def size_expected(effective, qbar: float, eps: float = 0.5):
    """Return the bound on E |S_t| given the past: alpha qbar d_eff(t - 1) + 1, because the newest pull adds at most 1 (E13)."""
    return inflation(eps) * qbar * effective + 1


def size_tight(effective, qbar: float, eps: float = 0.5):
    """Return the tight bound on |S_t|: 3 (alpha qbar d_eff(t) + 1), without the factor 1 + kappa2 / lambda (E13)."""
    return 3 * size_expected(effective, qbar, eps)


def size_failure(expected: float, printed: bool = False) -> float:
    """Return the bound of Proposition C.4 on P(|S_t| >= 3 d) for E |S_t| <= d: exp(-(3 ln 3 - 2) d).

    With ``printed``, return exp(-2 d) as in the paper, which is false (E8).
    """
    return math.exp(-(2.0 if printed else CHERNOFF) * expected)


# Regret ---------------------------------------------------------------------------------------------------


def potential_factor(kappa2: float, ridge: float) -> float:
    """Return C_lambda = u / ln(1 + u), u = kappa2 / lambda: x <= C_lambda ln(1 + x) for all scaled variances x <= u."""
    u = kappa2 / ridge
    return u / math.log1p(u)


def trivial_regret(confidence: Confidence, kappa2: float, horizon: float) -> float:
    """Return the trivial regret bound of any algorithm: 2 kappa F T."""
    return 2 * math.sqrt(kappa2) * confidence.norm_bound * horizon


def regret_printed(confidence: Confidence, kappa2: float, horizon: float, effective):
    """Return Theorem 4.1 as printed: 2 (2 alpha)^{3/2} sqrt(T) (xi D + sqrt(lambda F^2 D) + xi ln(1 / delta)), D = d_eff ln(kappa2 T).

    The bound is false for small lambda (E11). ``effective``: d_eff(T), a number or an array.
    """
    xi, F, lam = confidence.noise, confidence.norm_bound, confidence.lam
    # As in the radius, the logarithm is clamped at 0, because it is negative for kappa2 T < 1.
    D = effective * max(math.log(kappa2 * horizon), 0.0)
    total = xi * D + math.sqrt(lam) * F * D**0.5 + xi * math.log(1 / confidence.delta)
    return 2 * (2 * confidence.alpha) ** 1.5 * math.sqrt(horizon) * total


def regret_bound(confidence: Confidence, kappa2: float, horizon: float, log_det, radius):
    """Return Theorem 4.1 corrected: 2 kappa F + 2 beta_T sqrt(alpha T C_lambda ln det(I + K_T / lambda)).

    The first arm loses at most 2 kappa F. Afterwards r_{t+1} <= 2 beta_t s~_t(x_{t+1}) <= 2 beta_t sqrt(alpha) s_t(x_{t+1}).
    The bound follows from Cauchy-Schwarz and sum_t s2_t(x_{t+1}) <= C_lambda ln det (E11). It holds with probability at
    least 1 - 2 delta (E12).

    Args:
        log_det: ln det of the exact posterior, a number or an array.
        radius: the largest beta_t so far, of a valid rule.
    """
    inside = confidence.alpha * horizon * potential_factor(kappa2, confidence.lam) * log_det
    return 2 * math.sqrt(kappa2) * confidence.norm_bound + 2 * radius * inside**0.5


def radius_worst(confidence: Confidence, kappa2: float, horizon: int, gamma: float) -> float:
    """Return an upper bound on the radius of the confidence's rule that is known before the run, if s2~ <= alpha s2.

    The sum of n s2~ is at most alpha d_eff <= 2 alpha gamma_T, and the sum of ln(1 + s2~) has the same bound. The sum of
    ln(1 + alpha s2~) is at most 2 alpha^2 gamma_T, because ln(1 + c x) <= c ln(1 + x) for c >= 1.
    ``gamma``: at least gamma_T.
    """
    alpha, one = confidence.alpha, torch.ones(1, dtype=torch.float64)
    first, both = 2 * alpha * gamma * one, 2 * alpha**2 * gamma * one
    return float(confidence.radius(RoundSums(first, both, first, kappa2 * one, horizon)))


def regret_worst(confidence: Confidence, kappa2: float, horizon: int, gamma: float) -> float:
    """Return Theorem 4.1 corrected as known before the run, by ln det <= 2 gamma_T and ``radius_worst``.

    ``gamma``: at least gamma_T.
    """
    radius = radius_worst(confidence, kappa2, horizon, gamma)
    return regret_bound(confidence, kappa2, horizon, 2 * gamma, radius)


def informative_for_good(
    bound: Callable[[int], float], trivial: Callable[[int], float], cap: int
) -> int | None:
    """Return the smallest horizon where ``bound(T) < trivial(T)`` holds and keeps holding, or None if there is none up to ``cap``.

    The search tries horizons that grow by a quarter, then bisects after the last failure. The first success does not
    suffice, because the printed bound is also below the trivial bound in a few early rounds, where ln(kappa2 T) is small.
    """
    times = [1]
    while times[-1] < cap:
        times.append(min(max(times[-1] + 1, times[-1] * 5 // 4), cap))
    below = lambda T: bound(T) < trivial(T)
    low = next((i for i in reversed(range(len(times))) if not below(times[i])), None)
    if low is None:
        return 1
    if low == len(times) - 1:
        return None
    low, high = times[low], times[low + 1]
    # Invariant: the bound is not below the trivial one at ``low``, and is below it at ``high``.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return high


def informative_horizons(
    confidence: Confidence,
    kappa2: float,
    gamma: Callable[[int], float],
    effective: Callable[[int], float],
    cap: int = 10**8,
) -> dict[str, int | None]:
    """Return the smallest horizons where Theorem 4.1, as known before a run, is below 2 kappa F T and stays below it.

    The keys are "printed", and "corrected" for ``regret_worst``.

    Args:
        gamma: an upper bound on gamma_T for every T.
        effective: d_eff(T) of the printed bound.
        cap: largest horizon to try.
    """
    trivial = lambda T: trivial_regret(confidence, kappa2, T)
    bounds = {
        "printed": lambda T: regret_printed(confidence, kappa2, T, effective(T)),
        "corrected": lambda T: regret_worst(confidence, kappa2, T, gamma(T)),
    }
    return {name: informative_for_good(bound, trivial, cap) for name, bound in bounds.items()}


def failure(confidence: Confidence, sketched: bool = True) -> float:
    """Return the failure probability: delta for the noise and, if the posterior is sketched, another delta for accuracy (E12)."""
    return min((2 if sketched else 1) * confidence.delta, 1 - 1e-12)


def validity(
    confidence: Confidence,
    sketched: bool = True,
    qbar: float | None = None,
    horizon: int | None = None,
) -> str:
    """Return a remark that states why the radius is not proved to be valid; empty if it is proved.

    Args:
        sketched: whether the posterior is sketched; ``practical`` and ``gamma`` are proved for the exact posterior only.
        qbar: oversampling of a sketched posterior; None to skip its comparison with the theory.
        horizon: T, needed with ``qbar``.
    """
    proved = ("corrected", "online") if sketched else ("corrected", "online", "practical", "gamma")
    kind = "a sketched" if sketched else "the exact"
    remarks = []
    if confidence.rule not in proved:
        remarks.append(f"rule {confidence.rule!r} is not proved for {kind} posterior")
    if confidence.scale < 1:
        remarks.append(f"radius scaled by {confidence.scale:g}")
    looked_at = sketched and qbar is not None
    if looked_at and qbar < qbar_tight(horizon, confidence.delta, confidence.eps, 2):
        remarks.append(f"qbar = {qbar:g} below the theory's")
    return "; ".join(remarks)
