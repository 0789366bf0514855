"""Bounds as printed, with 1 for each universal constant: they are shown beside what is observed, and judged by nobody.

Source: Liu & Wang (2023), (7), (8), Theorems 4.1 and 5.2, Lemma 5.1, Appendix D.1; letters as in ``constants``.
"""

import math

from .constants import Constants


def iota(c: Constants, n: float) -> float:
    """ln(n C_h^2) + ln(2 / delta)."""
    return math.log(n * c.curvature**2) + math.log(2 / c.delta)


def risk(c: Constants, n: float) -> float:
    """dw F^2 iota / n: Lemma 5.1, without sigma (E6)."""
    return c.parameters * c.value**2 * iota(c, n) / n


def start(c: Constants, n: float) -> float:
    """dw F^2 iota / (mu n) >= ||w_0 - w*||^2: Theorem 5.2."""
    return risk(c, n) / c.growth


def ridge(T: int) -> float:
    """lambda = sqrt(T) ln(T)^2, 0 at T = 1 (E13): Appendix D.1."""
    return math.sqrt(T) * math.log(T) ** 2


def beta(t: float, T: int, parameters: int, value: float) -> float:
    """beta_t = dw^3 F^4 t / T: Appendix D.1, which drops two terms of (7) (E13)."""
    return parameters**3 * value**4 * t / T


def beta_order(c: Constants, t: float, T: float) -> float:
    """dw sigma^2 + dw^3 / mu^2 + dw^3 t / (mu^2 T): (7)."""
    cube = c.parameters**3 / c.growth**2
    return c.parameters * c.noise**2 + cube * (1 + t / T)


def regret(c: Constants, T: float, beta: float, ridge: float, squared: bool = False) -> float:
    """sqrt(T) F + sqrt(T beta_T dw + T beta_T^2 / lambda^2): Theorem 4.1; ``squared``: with T^2 in the last term, as its proof has (E2)."""
    last = T ** (2 if squared else 1) * (beta / ridge) ** 2
    return math.sqrt(T) * c.value + math.sqrt(T * beta * c.parameters + last)


def largest(c: Constants, zeta: float | None = None, radius: float = 0.5) -> float:
    """max{mu^{gamma / (2 - gamma)} / tau^{2 / (2 - gamma)}, zeta / (mu c^2)} of Theorem 5.2 and (8).

    Args:
        zeta: None leaves out the second, which nothing needs (E9); without tau and gamma the first is left out.
        radius: c of self-concordance.
    """
    parts = [0.0] if zeta is None else [zeta / (c.growth * radius**2)]
    if c.tau is not None:
        parts.append(c.growth ** (c.gamma / (2 - c.gamma)) / c.tau ** (2 / (2 - c.gamma)))
    return max(parts)


def horizon(c: Constants, n: float, zeta: float | None = None, radius: float = 0.5) -> float:
    """dw^2 F^4 iota^2 max{...}^2, above which T has to be: (8). Arguments: as of ``largest``."""
    return (c.parameters * c.value**2 * iota(c, n) * largest(c, zeta, radius)) ** 2
