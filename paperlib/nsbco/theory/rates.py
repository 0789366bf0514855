"""Numbers of the regret bounds: coefficients of Lemma 2.2 as printed and corrected, and of Theorem 3.4.

Source: Wang (2025), Lemma 2.2 and Theorem 3.4.
Letters: T horizon, V variation, d dimensions; t rho(t) = c_1 sqrt(t) + c_2, lambda as in Definition 2.1.
"""

from typing import Any, NamedTuple

import numpy as np

from .constants import Setting, Weak


class Coefficients(NamedTuple):
    """C_1 V^{1/3} T^{2/3} + C_2 sqrt(T)."""

    C1: float
    C2: float

    def at(self, horizon: Any, variation: Any) -> Any:
        """The bound, logarithms left out as the paper does."""
        return self.C1 * np.cbrt(variation) * horizon ** (2 / 3) + self.C2 * np.sqrt(horizon)


PRINTED, CORRECTED = (
    2 / 3,
    1 / 3,
)  # power of lambda in C_1: Wei & Luo's bound with lambda Delta for Delta has V^{1/3} (E10)


def lemma_2_2(c1: float, c2: float, lam: float, power: float = CORRECTED) -> Coefficients:
    """C_1 = (c_1^{2/3} + c_2 c_1^{-4/3}) lambda^power and C_2 = c_1 + c_2 / c_1, for t rho(t) = c_1 sqrt(t) + c_2."""
    return Coefficients((c1 ** (2 / 3) + c2 * c1 ** (-4 / 3)) * lam**power, c1 + c2 / c1)


def theorem_3_4(weak: Weak, power: float = CORRECTED) -> Coefficients:
    """Those of Algorithm 1 around Algorithm 2: c_1 = rho(1), c_2 = 0."""
    return lemma_2_2(weak.rho, 0.0, weak.lam, power)


def dimension_power(power: float, constants: float = 1.5) -> float:
    """Power of d in C_1 where c_1 and lambda grow as d^{3/2}: 2 as printed, 3/2 corrected (E10)."""
    return constants * (2 / 3 + power)


def noise_free_regret(s: Setting, offset: Any, horizon: int) -> np.ndarray:
    """Cumulative regret of Algorithm 2 without noise or drift where the Hessian is -sigma I, T numbers.

    z_s = x* - q^s offset; a pair of rounds costs sigma (||z_s - x*||^2 + delta_s^2), its first half half of it minus
    sigma delta_s times a coordinate of x* - z_s. At the ends of epochs it is the sum of
    2 d n_s (sigma / 2) (||offset||^2 q^{2s} + delta_s^2).

    Args:
        offset: x* - z_0, d numbers.
        horizon: T.
    """
    offset, parts = np.asarray(offset, float), []
    played = epoch = 0
    while played < horizon:
        n, delta, away = s.length(epoch), s.width(epoch), s.q**epoch * offset
        last = min(2 * s.dim * n, horizon - played)
        i = np.arange(last)
        sign = 1.0 - 2.0 * (i % 2)
        even = s.concavity / 2 * (away @ away + delta**2)
        parts.append(even - s.concavity * sign * delta * away[i // (2 * n)])
        played, epoch = played + last, epoch + 1
    return np.concatenate(parts).cumsum()
