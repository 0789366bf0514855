"""Constants of Lemma 3.1, Lemma 2.2 and Theorem 3.4: as printed, corrected, and computed numerically.

If a printed constant differs from the result of its proof, this file has both and names the erratum.
Source: Wang (2025), Definition 2.1, Lemma 2.2, Lemma 3.1 with its proof, and Theorem 3.4.
Letters: T horizon, V variation, t round, d dimensions, L smoothness, sigma concavity, gamma = sigma / L, q = 1 - gamma, l = ln(d T),
B_X diameter, c_0 margin, n_s = ceil(q^{-4s} N_0) and delta_s = h n_s^{-1/4} of epoch s, which lasts 2 d n_s rounds, Delta
variation up to t, S number of epochs that the first t rounds touch.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...core import fields
from ...core.describe import frozen_dataclass, short_repr
from ...core.validation import check_number
from ..model.task import Task

PAPER = "Wang (2025)"
ROUNDING = 1e-9

GUARD = 1e-9  # tolerance for the rounding error of a number that is rounded up
GRID = 400  # number of rounds of the numeric version
LARGEST = 300.0  # largest ln T of a search for a first horizon
TRIVIAL = 2.0  # largest difference of two numbers in [-1, 1]
# Power of lambda in C_1. Wei & Luo's bound, with lambda Delta in place of Delta, gives lambda^{1/3} because V enters as V^{1/3} (E10).
PRINTED, CORRECTED = 2 / 3, 1 / 3


@frozen_dataclass
class Setting:
    """Quantities that enter the bounds. The last five sharpen only the numeric version, see ``deviation``.

    Raises:
        ValueError: a number out of range; gamma outside (0, 1), where epochs would not end (E18); delta_0 above c_0 (E1).
    """

    dim: int = fields.whole()  # d
    smoothness: float = fields.positive(2.0)  # L; the step is 1 / L
    concavity: float = fields.positive(1.0)  # sigma
    diameter: float = fields.positive(2.0)  # B_X
    margin: float = fields.positive(0.5)  # c_0
    h: float = fields.positive(1.0)  # unit of length; 1 in the paper
    N0: int | None = None  # None: ceil((h / c_0)^4)
    noise: float = fields.nonnegative(
        1.0
    )  # a, half the length of the interval of y_t given x_t; 1 follows from |y_t| <= 1
    slope: float | None = None  # bound on ||grad f_t||; None: L (E17)
    curvature: float | None = None  # largest eigenvalue of a Hessian; None: L (E17)
    start: float | None = None  # bound on ||z_0 - x*_1||; None: B_X
    quadratic: bool = False  # whether third derivatives, and the bias of differences, are 0

    def __post_init__(self):
        if not self.concavity < self.smoothness:
            raise ValueError(
                f"concavity / smoothness must be below 1, because otherwise epochs do not end, got {self.gamma:g}"
            )
        check_number("N0", self.first, (self.h / self.margin) ** 4 * (1 - 1e-6))

    @classmethod
    def of(cls, task: Task, h: float = 0.25, **more: Any) -> "Setting":
        """Return the setting of a learner's context. ``more``: other fields.

        Raises:
            ValueError: bounds that differ by trial.
        """
        found = []
        for name in ("smoothness", "concavity", "margin"):
            value = getattr(task, name)
            if len(value) != 1 and bool((value != value[0]).any()):
                raise ValueError(
                    f"{name} must be the same number in all trials, got {short_repr(value)}. Use one Setting per number"
                )
            found.append(float(value[0]))
        L, sigma, margin = found
        return cls(task.cset.dim, L, sigma, float(task.cset.D[0]), margin, h, **more)

    @property
    def gamma(self) -> float:
        """gamma = sigma / L."""
        return self.concavity / self.smoothness

    @property
    def q(self) -> float:
        """q = 1 - gamma."""
        return 1 - self.gamma

    @property
    def first(self) -> int:
        """N_0, pairs of queries per coordinate in the first epoch."""
        least = math.ceil((self.h / self.margin) ** 4 - GUARD)
        return max(least, 1) if self.N0 is None else int(self.N0)

    def length(self, s: int) -> int:
        """Return n_s, pairs of queries per coordinate in epoch s."""
        return math.ceil(self.q ** (-4 * s) * self.first - GUARD)

    def rounds_before_step(self, step: int = 1) -> int:
        """Return the number of rounds before the first or a later step, 2 d (n_0 + ... + n_{step - 1})."""
        return 2 * self.dim * sum(self.length(s) for s in range(step))

    def width(self, s: int) -> float:
        """Return delta_s, the width of the differences in epoch s."""
        return self.h * self.length(s) ** -0.25

    def epochs(self, horizon: float) -> int:
        """Return the number of epochs that T rounds touch."""
        s = played = 0
        while played < horizon:
            s, played = s + 1, played + 2 * self.dim * self.length(s)
        return s

    def logarithm(self, horizon: float) -> float:
        """Return l = ln(d T)."""
        return math.log(self.dim * horizon)


def literal(dim: int = 2, **more: Any) -> Setting:
    """Return the setting in the paper's units, h = 1 and N_0 = 16, on the unit ball with L = 2, sigma = 1, c_0 = 1/2."""
    return Setting(dim, **{"h": 1.0, "N0": 16} | more)


def reference(dim: int = 2, **more: Any) -> Setting:
    """Return the setting of our runs: as ``literal``, with h = 1/4 and N_0 = 1."""
    return Setting(dim, **{"h": 0.25, "N0": 1} | more)


class Weak(NamedTuple):
    """Constants of Definition 2.1 for Algorithm 2; all but lambda are multiplied by 1 / sqrt(t)."""

    bonus: float  # b_0: r-bar_t = mean of the rewards + b_0 / sqrt(t)
    rho: float  # c_1: rho(t) = c_1 / sqrt(t)
    lam: float  # lambda

    def hat(self, t: Any, horizon: float) -> Any:
        """Return rho-hat(t) = 6 (log2 T + 1) rho(t)."""
        return 6 * (math.log2(horizon) + 1) * self.rho / np.sqrt(t)


def practical(bonus: float = 2.0) -> Weak:
    """Return the constants with the printed ratios and a calibrated b_0: rho(t) = 3 b_0 / sqrt(t), lambda = 3 b_0."""
    return Weak(bonus, 3 * bonus, 3 * bonus)


class Kappa(NamedTuple):
    """The five terms of kappa_0."""

    noise: float  # sqrt(l)
    edge: float  # L; it covers a difference that the last round cuts in half
    exploring: float  # 2 d ln T / q
    distance: float  # 16 B_X^2 d^{3/2} l^4 / (c_0 q^3)
    drift: float  # 2 L^2 d^{3/2} l^4 / (c_0 q^7)


def kappa_0(s: Setting, horizon: float) -> Kappa:
    """Return the terms of kappa_0 as printed in Lemma 3.1; kappa_0 is their sum. N_0, h and the last five fields are not used."""
    T, d, q = horizon, s.dim, s.q
    l = s.logarithm(T)
    common = d**1.5 * l**4 / s.margin
    return Kappa(
        math.sqrt(l),
        s.smoothness,
        2 * d * math.log(T) / q,
        16 * s.diameter**2 * common / q**3,
        2 * s.smoothness**2 * common / q**7,
    )


def weak_printed(s: Setting, horizon: float) -> Weak:
    """Return the printed constants: b_0 = 2 kappa_0, rho(t) = 6 kappa_0 / sqrt(t), lambda = 6 kappa_0."""
    k = sum(kappa_0(s, horizon))
    return Weak(2 * k, 6 * k, 6 * k)


def largest_epoch_count(s: Setting, t: Any) -> Any:
    """Return S = 2 + ln(max(1, t / (2 d N_0))) / (4 ln(1 / q)), an upper bound on ``s.epochs(t)`` (E6).

    ``t``: a number or an array.
    """
    full = np.maximum(1.0, np.asarray(t, float) / (2 * s.dim * s.first))
    return 2 + np.log(full) / (4 * math.log(1 / s.q))


def bonus_corrected(s: Setting, horizon: float, t: Any = None) -> Any:
    """Return B_0(t) with |sum_{tau <= t} (y_tau - f*_1)| <= sqrt(t) B_0(t) if Delta <= 1 / sqrt(t); ``t``: None is T.

    The terms are 2 sqrt(l) for the noise, 1 for the drift, L h for a difference that is cut in half, and (L / 2) h^2 sqrt(2 d) S for
    exploration. The last two terms are due to the distances ||z_s - x*_1|| <= K n_s^{-1/4} + S sqrt(d) Delta n_{s-1}^{1/4} / (L h),
    with K = (2 N_0)^{1/4} B_X + 2^{1/4} (S / q) sqrt(d) (2 sqrt(l) / h + L h / 2) / L (E3-E8). The paper's units have h = 1.
    """
    S = largest_epoch_count(s, horizon if t is None else t)
    d, L, h, root = s.dim, s.smoothness, s.h, math.sqrt(s.logarithm(horizon))
    noise = math.sqrt(d) * (2 * root / h + L * h / 2) / L
    K = (2 * s.first) ** 0.25 * s.diameter + 2**0.25 * (S / s.q) * noise
    exploring = L / 2 * h**2 * math.sqrt(2 * d) * S
    distance = math.sqrt(2 * d) * L * S * K**2 + math.sqrt(2 * d) * S**3 / (L * h**2)
    return 2 * root + 1 + L * h + exploring + distance


def weak_corrected(s: Setting, horizon: float) -> Weak:
    """Return proved constants of Definition 2.1: b_0 = B_0(T), rho(t) = (3 b_0 + 4 sqrt(l) + 1) / sqrt(t) and lambda = rho(1) (E9).

    The proof uses r-bar_tau <= f*_1 + Delta + (2 sqrt(l) + b_0) / sqrt(tau), -sum y_tau <= b_0 sqrt(t) - t f*_1, and
    sum 1 / sqrt(tau) <= 2 sqrt(t).
    """
    bonus = float(bonus_corrected(s, horizon))
    rho = 3 * bonus + 4 * math.sqrt(s.logarithm(horizon)) + 1
    return Weak(bonus, rho, rho)


def gradient_error(s: Setting, horizon: float, epoch: int, drift: Any = 0.0) -> Any:
    """Return e_s = sqrt(d) (Delta / delta + 2 a sqrt(l / n) / delta + bias), bias = curvature delta / 2, or 0 for quadratics.

    If n < l, the noise term is 2 a / delta, because the error of a mean of rewards never exceeds it. ``drift``: Delta, a number or
    an array.
    """
    n, delta = s.length(epoch), s.width(epoch)
    noise = 2 * s.noise * min(1.0, math.sqrt(s.logarithm(horizon) / n))
    bias = 0.0 if s.quadratic else (s.curvature or s.smoothness) * delta / 2
    return math.sqrt(s.dim) * ((drift + noise) / delta + bias)


def deviation(s: Setting, horizon: float, t: Any, drift: Any) -> np.ndarray:
    """Return a numeric upper bound on |sum_{tau <= t} (y_tau - f*_1)|, without a closed form and for any Delta.

    The bound is 2 a sqrt(t l) + t Delta + slope delta_0 + sum_s rounds_s(t) (curvature / 2) (D_s^2 + delta_s^2). Here D_0 bounds the
    distance of the start from the maximizer, and D_{s+1} = min(B_X, q D_s + e_s / L).

    Args:
        t: rounds, T'.
        drift: Delta up to each round, broadcasts against T'.
    """
    t, drift = np.broadcast_arrays(np.asarray(t, float), np.asarray(drift, float))
    H, l = s.curvature or s.smoothness, s.logarithm(horizon)
    # noise, drift, and a difference that the last round cuts in half; the loop adds the regret of each epoch
    total = 2 * s.noise * np.sqrt(t * l) + t * drift + (s.slope or s.smoothness) * s.width(0)
    D = np.full(t.shape, s.diameter if s.start is None else s.start)
    before = epoch = 0
    while before < t.max():
        rounds = np.clip(t - before, 0, 2 * s.dim * s.length(epoch))
        total = total + rounds * (H / 2) * (D**2 + s.width(epoch) ** 2)
        D = np.minimum(
            s.diameter, s.q * D + gradient_error(s, horizon, epoch, drift) / s.smoothness
        )
        before, epoch = before + 2 * s.dim * s.length(epoch), epoch + 1
    return total


def bonus_numeric(s: Setting, horizon: float) -> float:
    """Return the numeric b_0, the largest ``deviation`` / sqrt(t) on a logarithmic grid with Delta = 1 / sqrt(t).

    B_0 of ``bonus_corrected`` is an upper bound on it.
    """
    t = np.unique(np.round(np.logspace(0, math.log10(horizon), GRID)))
    return float((deviation(s, horizon, t, t**-0.5) / np.sqrt(t)).max())


# Regret ---------------------------------------------------------------------------------------------------


class Coefficients(NamedTuple):
    """Coefficients of the regret bound C_1 V^{1/3} T^{2/3} + C_2 sqrt(T)."""

    C1: float
    C2: float

    def at(self, horizon: Any, variation: Any) -> Any:
        """Return the bound, without logarithms as in the paper."""
        return self.C1 * np.cbrt(variation) * horizon ** (2 / 3) + self.C2 * np.sqrt(horizon)


def lemma_2_2(c1: float, c2: float, lam: float, power: float = CORRECTED) -> Coefficients:
    """Return C_1 = (c_1^{2/3} + c_2 c_1^{-4/3}) lambda^power and C_2 = c_1 + c_2 / c_1, for t rho(t) = c_1 sqrt(t) + c_2."""
    return Coefficients((c1 ** (2 / 3) + c2 * c1 ** (-4 / 3)) * lam**power, c1 + c2 / c1)


def theorem_3_4(weak: Weak, power: float = CORRECTED) -> Coefficients:
    """Return the coefficients of Algorithm 1 around Algorithm 2: c_1 = rho(1), c_2 = 0."""
    return lemma_2_2(weak.rho, 0.0, weak.lam, power)


def first_horizon(value: Callable[[float], float], level: float) -> float:
    """Return the T from which on ``value(T) <= level``, at least 1, by ``brentq`` in ln T; inf if there is none up to e^300.

    The function is correct for values that first increase, if at all, and then decrease, for example a power of ln T divided by a
    power of T.
    """
    above = lambda x: math.log(value(math.exp(x)) / level)
    if above(LARGEST) > 0:
        return math.inf
    high = LARGEST
    # Halve ln T while the value is at most the level; then [high / 2, high] brackets the crossing.
    while high > 1e-3 and above(high / 2) <= 0:
        high /= 2
    if high <= 1e-3:
        return 1.0
    return math.exp(brentq(above, high / 2, high, xtol=1e-14, rtol=1e-14))
