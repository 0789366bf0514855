"""Numbers of Lemma 4.1: rho(t) from a bound on the stationary regret, as printed and corrected.

Source: Wang (2025), Lemma 4.1 and its proof; Neu, "Explore no more" (NeurIPS 2015), Theorem 1, for EXP3-IX.
Letters: T horizon, t round, rt(t) the bound on the stationary regret over t, e(t) what a mean of t answers is off, K arms.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paperlib.nsbco.learners.exp3 import regret_bound
from paperlib.nsbco.theory.constants import first_horizon

from .firing import TEST_1

EXACT = 10**6  # up to here sums are added up
ZETA = -1.4603545088095868  # zeta(1/2)


def off(t: Any, horizon: float) -> Any:
    """e(t) = 2 sqrt(ln(2 T) / t): of answers in [-1, 1], whose range is 2 (E3)."""
    return 2 * np.sqrt(math.log(2 * horizon) / np.asarray(t, float))


def off_printed(t: Any, horizon: float) -> Any:
    """sqrt(ln(2 T) / t), Eq. (28): right for a range of 1."""
    return off(t, horizon) / 2


def rho(rt: Any, e: Any) -> np.ndarray:
    """rt(t) + e(t) + (1 / t) sum_{tau <= t} [rt(tau) + 2 e(tau)] for t = 1, ..., T (E13). ``rt``, ``e``: T numbers each."""
    rt, e = np.asarray(rt, float), np.asarray(e, float)
    return rt + e + np.cumsum(rt + 2 * e) / np.arange(1, len(rt) + 1)


def rho_printed(rt: Any, horizon: float) -> Any:
    """2 rt(t) + 3 sqrt(ln(2 T) / T), as printed; the proof, Eq. (33), has the summation index tau for T in the root (E13). ``rt``: a number or an array."""
    return 2 * np.asarray(rt, float) + 3 * off_printed(horizon, horizon)


def rho_with_t(rt: Any, horizon: int) -> np.ndarray:
    """2 rt(t) + 3 sqrt(ln(2 T) / t) for t = 1, ..., T: the printed rho with t for T, our reading (E13). ``rt``: T numbers."""
    return 2 * np.asarray(rt, float) + 3 * off_printed(np.arange(1, horizon + 1), horizon)


def root_sum(t: float) -> float:
    """sum_{tau <= t} tau^{-1/2}, by Euler and Maclaurin where t is large."""
    if t <= EXACT:
        return float((np.arange(1, int(t) + 1) ** -0.5).sum())
    return 2 * math.sqrt(t) + ZETA + 0.5 / math.sqrt(t) - t**-1.5 / 24


def harmonic(t: float) -> float:
    """sum_{tau <= t} 1 / tau."""
    if t <= EXACT:
        return float((1 / np.arange(1, int(t) + 1)).sum())
    return math.log(t) + float(np.euler_gamma) + 0.5 / t


class Rate(NamedTuple):
    """rt(t) = root / sqrt(t) + over / t."""

    root: float
    over: float

    def at(self, t: Any) -> Any:
        """rt(t). ``t``: a number or an array."""
        t = np.asarray(t, float)
        return self.root / np.sqrt(t) + self.over / t

    def rho(self, horizon: float) -> float:
        """``rho`` at t = T, for any T."""
        e = float(off(1, horizon))
        total = (self.root + 2 * e) * root_sum(horizon) + self.over * harmonic(horizon)
        return float(self.at(horizon)) + e / math.sqrt(horizon) + total / horizon


def exp3_ix(arms: int, horizon: float) -> Rate:
    """With probability 1 - 1 / T^2 the regret of EXP3-IX after t rounds of rewards in [-1, 1] is at most t rt(t).

    Raises:
        ValueError: fewer than two arms, whose logarithm is 0.
    """
    return Rate(*regret_bound(arms, horizon))


def first_below(rate: Callable[[float], Rate], level: float = 2.0) -> dict[str, float]:
    """The first T at which rt(T), rho(T) and Test 1's 9 rho-hat(T) are below ``level``. ``rate``: that of horizon T."""
    hat = lambda T: TEST_1 * 6 * (math.log2(T) + 1) * rate(T).rho(T)
    return {
        "rt": first_horizon(lambda T: float(rate(T).at(T)), level),
        "rho": first_horizon(lambda T: rate(T).rho(T), level),
        "9 rho-hat": first_horizon(hat, level),
    }
