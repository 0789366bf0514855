"""Constants of the analysis: bounds on the network, and the theorems with every constant (our addition), with the errata that change them.

The bounds as stated in the paper are in ``companion.goucb.proofs.printed``. n and T are the numbers of rounds of Phases I and II.
Source: Liu & Wang (2023), Assumptions 3.2 and 3.3, Section 5 and Appendices B and C.
Letters: dw parameters, F, C_g, C_h largest |f|, gradient norm and Hessian norm, mu growth of the risk, sigma noise, rho largest norm of a
point, lambda ridge, B_L bound on the risk of w_0, B_0 on ||w_0 - w*||, K = C_g^2 / lambda.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from ...checks import informative_from
from ...core import fields
from ...core.describe import frozen_dataclass
from ..problems.reference import HALF, Reference

PAPER = "Liu & Wang (2023)"
ROUNDING = 1e-8

CAP = 10**40  # largest horizon in searches for an informative one
WIDE = 40.0  # beyond it the derivatives of the logistic function are below 1e-17


# The network on a box ----------------------------------------------------------------------------------------


def logistic(z):
    """Return s(z), s'(z) and s''(z) of the logistic function s."""
    s = 0.5 * (1 + np.tanh(np.asarray(z, float) / 2))
    slope = s * (1 - s)
    return s, slope, slope * (1 - 2 * s)


class Extreme(NamedTuple):
    """The largest value of a function of one unit's argument, and its location."""

    value: float
    at: float


def _largest(f) -> Extreme:
    # A grid finds the interval of the global maximum, because the function may have several local
    # ones.
    z = np.linspace(-WIDE, WIDE, 80001)
    i = int(np.clip(np.argmax(f(z)), 1, len(z) - 2))
    near = (z[i - 1], z[i + 1])
    found = minimize_scalar(
        lambda x: -float(f(x)), bounds=near, method="bounded", options={"xatol": 1e-12}
    )
    return Extreme(-float(found.fun), float(found.x))


def slope_bound(hidden: int, norm2: float, weight: float = 1.0) -> Extreme:
    """Return C_g = sqrt(h max_z [w^2 s'(z)^2 (rho^2 + 1) + s(z)^2] + 1), the maximum over all W1, b1 and |w2| <= w.

    Args:
        hidden: h.
        norm2: rho^2, the largest ||x||^2.
        weight: w.
    """

    def unit(z):
        s, slope, _ = logistic(z)
        return weight**2 * slope**2 * (norm2 + 1) + s**2

    largest = _largest(unit)
    return largest._replace(value=math.sqrt(hidden * largest.value + 1))


def curvature_bound(norm2: float, weight: float = 1.0) -> Extreme:
    """Return C_h, the maximum over all W1, b1 and |w2| <= ``weight``. ``norm2``: rho^2.

    The Hessian has one block per unit, so C_h does not depend on the number of units. The norm of a block is (|A| + sqrt(A^2 + 4 B^2)) / 2
    with A = w s''(z) (||x||^2 + 1), B = s'(z) sqrt(||x||^2 + 1).
    """

    def unit(z):
        _, slope, bend = logistic(z)
        A, B = np.abs(weight * bend * (norm2 + 1)), slope * np.sqrt(norm2 + 1)
        return (A + np.sqrt(A**2 + 4 * B**2)) / 2

    return _largest(unit)


def value_bound(hidden: int, norm1: float, weight: float = 1.0) -> float:
    """Return F for parameters in [0, w] or [-w, w]: h w s(w (||x||_1 + 1)) + w. ``norm1``: largest ||x||_1."""
    return hidden * weight * float(logistic(weight * (norm1 + 1))[0]) + weight


# Inputs of the theorems --------------------------------------------------------------------------------------


@frozen_dataclass
class Constants:
    """Problem constants that enter the bounds.

    Attributes:
        parameters: dw >= 1.
        value: F.
        slope: C_g.
        curvature: C_h >= 0.
        growth: mu: L(w) >= (mu / 2) ||w - w*||^2 on W.
        noise: sigma.
        delta: failure probability.
        side: side of the box W.
        tau, gamma: if both are given, the bounds assume only L(w) >= min{(mu / 2) ||w - w*||^2, (tau / 2) ||w - w*||^gamma}.

    Raises:
        ValueError: a number is out of range.
    """

    parameters: int = fields.size()
    value: float = fields.positive()
    slope: float = fields.positive()
    curvature: float = fields.number(least=0.0)
    growth: float = fields.positive()
    noise: float = fields.positive()
    delta: float = fields.probability(0.1)
    side: float = fields.positive(1.0)
    tau: float | None = fields.positive(None, optional=True)
    gamma: float | None = fields.number(None, 1e-3, 2 - 1e-3, optional=True)

    @classmethod
    def of(cls, problem: Reference, growth: float, delta: float = 0.1) -> "Constants":
        """Return the constants of a reference problem. ``growth``: mu."""
        truth = problem.truth
        h, m = truth.hidden, max(abs(truth.lo), abs(truth.hi))
        return cls(
            len(truth.w),
            value_bound(h, HALF, m),
            slope_bound(h, HALF**2, m).value,
            curvature_bound(HALF**2, m).value,
            growth,
            problem.noise,
            delta,
            truth.hi - truth.lo,
        )

    @property
    def diameter2(self) -> float:
        """Largest ||w - w'||^2 on W."""
        return self.parameters * self.side**2


def sigmoid_sum(growth: float = 5e-4, noise: float = 0.01, delta: float = 0.1) -> Constants:
    """Return the constants of f1 in 20 dimensions with the paper's 25 units and W = [0, 1]^551. ``growth``: mu, which is 0 without the box (E10)."""
    slope, curvature = slope_bound(25, 500.0).value, curvature_bound(500.0).value
    return Constants(551, value_bound(25, 100.0), slope, curvature, growth, noise, delta)


# Phase I -----------------------------------------------------------------------------------------------------


def risk_bound(c: Constants, n: float) -> float:
    """Return B_L: E_x (f_x(w_0) - f_x(w*))^2 <= B_L with probability 1 - delta / 2, for exact least squares on W.

    This is Lemma 5.1 with sigma and all constants (E6, E7). The proof starts from the inequality that the minimizer satisfies against w*. It
    bounds deviations at the centers of cells with side eps = 2 F / (n C_g sqrt(dw)).
    """
    eps = 2 * c.value / (n * c.slope * math.sqrt(c.parameters))
    # Logarithm of the number of cells that cover W.
    cells = c.parameters * math.log(math.ceil(c.side / eps))
    # Each of three events has probability delta / 6, by a union bound over the cells.
    L, e = math.log(6 / c.delta) + cells, c.value / n
    b = 2 * c.noise * math.sqrt(2 * L * n) * e
    b += 2 * e * n * c.noise * math.sqrt(2 * math.log(12 * n / c.delta))
    return (64 * (c.noise**2 + c.value**2) * L + 16 * b) / n + 10 * e**2


def start_bound(c: Constants, n: float) -> float:
    """Return the bound of Theorem 5.2: ||w_0 - w*||^2 <= max{2 B_L / mu, (2 B_L / tau)^{2 / gamma}}.

    Only the first term applies if B_L is small enough for the quadratic branch of the growth condition. Neither zeta nor self-concordance
    is needed (E9).
    """
    B = risk_bound(c, n)
    near = 2 * B / c.growth
    if c.tau is None:
        return near
    # The distance r0 where the two branches of the growth condition are equal.
    switch = (c.tau / c.growth) ** (1 / (2 - c.gamma))
    if B < c.growth / 2 * switch**2:
        return near
    return max(near, (2 * B / c.tau) ** (2 / c.gamma))


# Phase II ----------------------------------------------------------------------------------------------------


def potential(parameters: int, slope: float, T, ridge: float):
    """Return dw ln(1 + T C_g^2 / (dw lambda)) >= ln(det Sigma_T / det Sigma_0), from Lemma C.5. ``T``: a number, or an array of numbers."""
    return parameters * np.log1p(T * slope**2 / (parameters * ridge))


def kappa_factor(K):
    """Return kappa_K = K / ln(1 + K), 1 at K = 0: x <= kappa_K ln(1 + x) on [0, K], where the paper uses 2 (E4).

    For example, kappa_1 = 1.44, so that the factor 2 is not tight for K = 1.
    """
    K = np.asarray(K, float)
    safe = np.where(K > 0, K, 1.0)
    return np.where(K > 0, safe / np.log1p(safe), 1.0)


# 2.5129, the largest K for which the factor 2 suffices.
LARGEST_K = brentq(lambda K: float(kappa_factor(K)) - 2, 1.0, 5.0)


class Proof(NamedTuple):
    """The quantities of Lemma 5.3 with all constants. With them w* is in every ball with probability 1 - delta."""

    start2: float  # B_0^2
    ridge: float  # lambda
    far2: float  # R^2: ||w_t - w*|| <= R in all rounds
    trace: float  # S >= sum_i g_i^T Sigma_t^{-1} g_i
    beta: float  # beta_T
    growth: float  # dw ln(1 + T C_g^2 / (dw lambda))


def _localized(c: Constants, start2: float, T: float, ridge: float) -> Proof:
    growth = float(potential(c.parameters, c.slope, T, ridge))
    log, S = growth + 2 * math.log(2 / c.delta), min(T, c.parameters, growth)
    # R^2 of the localization: ||w_t - w*|| <= R in all rounds.
    far2 = 6 * (start2 + c.noise**2 * log / ridge)
    # The Taylor remainder of (13), with ||w_i - w*|| <= R.
    taylor = c.curvature**2 * far2**2 * T * S / 4
    beta = 3 * (c.noise**2 * log + ridge * start2 + taylor)
    return Proof(start2, ridge, far2, S, beta, growth)


def proof_constants(
    c: Constants, n: float, T: float, ridge: float | None = None, capped: bool = False
) -> Proof:
    """Return lambda, R and beta_T of Lemma 5.3.

    Args:
        c: constants.
        n, T: rounds of the two phases.
        ridge: lambda; None: the smallest that localizes the estimates, lambda >= (3 / 2) C_h^2 R^2 T S.
        capped: whether to cap B_0^2 at the squared diameter of W, which is valid if w_0 is in W.
    """
    start2 = start_bound(c, n)
    start2 = min(start2, c.diameter2) if capped else start2
    if ridge is None:

        def excess(x: float) -> float:
            found = _localized(c, start2, T, 10**x)
            needed = 1.5 * c.curvature**2 * found.far2 * T * found.trace
            return x - math.log10(max(needed, 1e-300))

        # The right side decreases as lambda grows, therefore there is exactly one root.
        ridge = 10 ** brentq(excess, -30.0, 100.0, xtol=1e-14) if c.curvature else 1e-30
    return _localized(c, start2, T, ridge)


def square_sum(slope: float, curvature: float, T: float, beta, ridge, growth):
    """Return the bound of Lemma 5.5, corrected (E4, E12): sum r_t^2 <= 8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2.

    ``beta`` and ``growth``, beta_T and l_T, are numbers, or arrays over trials.
    """
    beta, ridge = np.asarray(beta, float), np.asarray(ridge, float)
    first = 8 * beta * kappa_factor(slope**2 / ridge) * growth
    return first + 2 * (beta * curvature / ridge) ** 2 * T


def regret_bound(c: Constants, n: float, T: float) -> float:
    """Return the bound of Theorem 4.1 with all constants: R_{n+T} <= 2 F n + sqrt(T sum r_t^2), with the constants of ``proof_constants``."""
    p = proof_constants(c, n, T)
    squares = square_sum(c.slope, c.curvature, T, p.beta, p.ridge, p.growth)
    return 2 * c.value * n + math.sqrt(T * squares)


# Trivial bounds, which hold without any theory, and the sizes from which on the theorems are below them ----------


def trivial_risk(c: Constants) -> float:
    """Return 4 F^2, which no risk exceeds."""
    return 4 * c.value**2


def trivial_regret(c: Constants, n: float, T: float) -> float:
    """Return 2 F (n + T), which no regret exceeds."""
    return 2 * c.value * (n + T)


def first_phase(T: float) -> float:
    """Return n = ceil(sqrt(T)), as in Theorem 4.1."""
    return math.isqrt(int(T) - 1) + 1


def vacuity_ratio(c: Constants, T: float) -> float:
    """Return the bound of Theorem 4.1 with n = sqrt(T), divided by 2 F (n + T). The bound is vacuous if the ratio is 1 or more.

    For example, on reference A the ratio is 3.0e5 at T = 400 and falls below 1 only at about T = 3e15.
    """
    n = first_phase(T)
    return regret_bound(c, n, T) / trivial_regret(c, n, T)


def regret_informs_from(c: Constants) -> int | None:
    """Return the first T at which Theorem 4.1 with n = sqrt(T) is below 2 F (n + T); None: at no T up to 1e40."""
    return informative_from(lambda T: vacuity_ratio(c, T), lambda T: 1.0, CAP)


def risk_informs_from(c: Constants) -> int | None:
    """Return the first n where B_L is below 4 F^2."""
    return informative_from(lambda n: risk_bound(c, n), lambda n: trivial_risk(c), CAP)


def start_informs_from(c: Constants) -> int | None:
    """Return the first n where B_0^2 is below the squared diameter of W."""
    return informative_from(lambda n: start_bound(c, n), lambda n: c.diameter2, CAP)
