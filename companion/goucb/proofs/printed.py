"""Bounds as stated in the paper, with each universal constant set to 1. They are shown next to the observed values and get no verdict.

Source: Liu & Wang (2023), (7), (8), Theorems 4.1 and 5.2, Lemma 5.1, Appendix D.1; letters as in ``theory.constants``.
"""

import math
from typing import Any

from paperlib.checks import Check, Reported, informative_from, statement
from paperlib.goucb.theory.constants import CAP, PAPER, Constants, first_phase


def iota(c: Constants, n: float) -> float:
    """Return iota = ln(n C_h^2) + ln(2 / delta)."""
    return math.log(n * c.curvature**2) + math.log(2 / c.delta)


def risk_order(c: Constants, n: float) -> float:
    """Return dw F^2 iota / n, the bound of Lemma 5.1, without sigma (E6)."""
    return c.parameters * c.value**2 * iota(c, n) / n


def regret_order(c: Constants, T: float, beta: float, ridge: float, squared: bool = False) -> float:
    """Return the bound of Theorem 4.1, sqrt(T) F + sqrt(T beta_T dw + T beta_T^2 / lambda^2).

    ``squared``: with T^2 in the last term, as in the theorem's proof (E2).
    """
    last = T ** (2 if squared else 1) * (beta / ridge) ** 2
    return math.sqrt(T) * c.value + math.sqrt(T * beta * c.parameters + last)


def largest(c: Constants, zeta: float | None = None, radius: float = 0.5) -> float:
    """Return max{mu^{gamma / (2 - gamma)} / tau^{2 / (2 - gamma)}, zeta / (mu c^2)} of Theorem 5.2 and (8).

    Args:
        zeta: None omits the second term, which the proofs do not need (E9). Without tau and gamma the first term is omitted.
        radius: c of self-concordance.
    """
    parts = [0.0] if zeta is None else [zeta / (c.growth * radius**2)]
    if c.tau is not None:
        parts.append(c.growth ** (c.gamma / (2 - c.gamma)) / c.tau ** (2 / (2 - c.gamma)))
    return max(parts)


def horizon(c: Constants, n: float, zeta: float | None = None, radius: float = 0.5) -> float:
    """Return dw^2 F^4 iota^2 max{...}^2, which T must exceed by (8). Arguments: as in ``largest``."""
    return (c.parameters * c.value**2 * iota(c, n) * largest(c, zeta, radius)) ** 2


def condition_from(c: Constants, zeta: float | None, radius: float = 0.5) -> int | None:
    """Return the first T that condition (8) allows with n = sqrt(T) and constant 1. Arguments: as in ``largest``."""
    least = lambda T: horizon(c, first_phase(T), zeta, radius)
    return informative_from(least, lambda T: T, CAP)


@statement("Lemma 5.1, printed", f"{PAPER}, Lemma 5.1, with constant 1")
def lemma_5_1_printed(risk: Any, n: int, c: Constants) -> Check:
    """L(w_0) <= dw F^2 iota / n: reported, not judged.

    ``risk``: risk of w_0, R.
    """
    return lemma_5_1_printed.statement.check(
        "L(w_0) <= dw F^2 iota / n",
        {"n": n},
        risk,
        risk_order(c, n),
        c.delta / 2,
        kind=Reported,
    )


@statement("Theorem 5.2, printed", f"{PAPER}, Theorem 5.2, with constant 1")
def theorem_5_2_printed(far2: Any, n: int, c: Constants) -> Check:
    """||w_0 - w*||^2 <= dw F^2 iota / (mu n): reported, not judged.

    ``far2``: ||w_0 - w*||^2, R.
    """
    return theorem_5_2_printed.statement.check(
        "||w_0 - w*||^2 <= dw F^2 iota / (mu n)",
        {"n": n},
        far2,
        risk_order(c, n) / c.growth,
        c.delta / 2,
        kind=Reported,
    )


@statement("Condition (8)", f"{PAPER}, (8), with constant 1")
def condition_8(c: Constants, T: int, zeta: float, radius: float = 0.5) -> Check:
    """dw^2 F^4 iota^2 max{...}^2 < T for n = sqrt(T): reported, not judged, because the paper's constant is not given.

    The maximum contains zeta / (mu c^2), and no c passes "Assumption 3.3, self-concordance" on references A and B.

    Args:
        c: constants.
        T: rounds of Phase II.
        zeta: largest eigenvalue of Hess L(w*).
        radius: c of self-concordance.
    """
    first = condition_from(c, zeta, radius)
    return condition_8.statement.check(
        "dw^2 F^4 iota^2 max{...}^2 < T",
        {"T": T, "zeta": zeta, "c": radius, "least T": first},
        horizon(c, first_phase(T), zeta, radius),
        T,
        kind=Reported,
    )


@statement("Theorem 4.1, printed", f"{PAPER}, Theorem 4.1, with constant 1 and C_lambda = 1")
def theorem_4_1_printed(regret: Any, T: int, c: Constants) -> Check:
    """R <= sqrt(T) F + sqrt(T beta_T dw + T beta_T^2 / lambda^2) with beta_T of (7) and lambda = sqrt(T): reported, not judged (E2).

    ``regret``: R.
    """
    # (7): beta_t = dw sigma^2 + dw^3 / mu^2 + dw^3 t / (mu^2 T), at t = T
    beta = c.parameters * c.noise**2 + 2 * (c.parameters**3 / c.growth**2)
    return theorem_4_1_printed.statement.check(
        "R <= sqrt(T) F + sqrt(T beta_T dw + T beta_T^2 / lambda^2)",
        {"T": T},
        regret,
        regret_order(c, T, beta, T**0.5),
        c.delta,
        kind=Reported,
    )
