"""Numbers of the proof of Theorem 1: how far the centers can be behind the leaders, and its sums.

Source: Chen, Zhang & Karbasi (2019), proof of Theorem 1; letters as in ``constants``.
"""

import math

import numpy as np

from paperlib.pfbco.model import sigma
from paperlib.pfbco.theory.constants import KAPPA

TAIL = 11  # from this t on the induction is proved by one inequality, before it by evaluation


def worst_tracking(horizon: int, c: float = 1.0, rule: str = "corrected") -> np.ndarray:
    """H_t / sigma_t for t = 1, ..., T: the largest that h_t / (D^2 sigma_t) can be by the one-step inequality, T numbers.

    sqrt(H_{t+1}) = b / 2 + sqrt((1 - sigma_t) H_t + sigma_t^2 + b^2 / 4), H_1 = 0 (E2). b is ``estimate_step``.
    """
    b, H = estimate_step(horizon, c, rule), np.zeros(horizon)
    step = sigma(np.arange(1.0, horizon + 1))
    for t in range(horizon - 1):
        H[t + 1] = (b / 2 + math.sqrt((1 - step[t]) * H[t] + step[t] ** 2 + b**2 / 4)) ** 2
    return H / step


def estimate_step(horizon: int, c: float, rule: str) -> float:
    """b = eta n M / (delta D), how far one estimate can move the leader, in units of D / 2.

    T^{-3/5} / sqrt(2), whatever c; with the printed learning rate, rule "paper", T^{-3/5} / (sqrt(2) c), c in the unit of D and r (E1).
    """
    return horizon**-0.6 / math.sqrt(2) / (c if rule == "paper" else 1.0)


def kappa_infinity(c: float) -> float:
    """What ``worst_tracking`` of the printed rate goes to as T grows, c in the unit of D and r (E1).

    s^2 with s = (a + sqrt(a^2 + 4)) / 2, a = 1 / (sqrt(2) c): 2 for c = 1, and more below.
    """
    a = 1 / (math.sqrt(2) * c)
    return ((a + math.sqrt(a**2 + 4)) / 2) ** 2


def induction_margin(t, kappa: float = KAPPA):
    """psi(t) - (t + 1)^{-3/5} / sqrt(2): the induction goes from t to t + 1 where this is at least 0, since b <= (t + 1)^{-3/5} / sqrt(2).

    psi(t) = [kappa (sigma_{t+1} - sigma_t) + (kappa - 1) sigma_t^2] / sqrt(kappa sigma_{t+1}) is what b may be for one step.
    ``t``: a number or an array.
    """
    now, after = sigma(np.asarray(t, float)), sigma(np.asarray(t, float) + 1)
    psi = (kappa * (after - now) + (kappa - 1) * now**2) / np.sqrt(kappa * after)
    return psi - (np.asarray(t, float) + 1) ** -0.6 / math.sqrt(2)


def tail_margin(t: float, kappa: float = KAPPA) -> float:
    """(kappa - 1) - .4 kappa t^{-3/5} - sqrt(kappa / 2): where at least 0, ``induction_margin`` is so from t on.

    By sigma_t - sigma_{t+1} <= .4 t^{-7/5}.
    """
    return kappa - 1 - 0.4 * kappa * t**-0.6 - math.sqrt(kappa / 2)


def polynomial(t, factor: float = 3.0):
    """-4 t^{2/5} (t+1)^{2/5} + 4 t^{4/5} - 2 t^{1/5} (t+1)^{1/5} + factor (t+1)^{2/5}, which the paper's induction needs to be at least 0.

    True with the printed 3; the right smoothness of F_t puts 2 there, with which it is below 0 for all t (E2). ``t``: a number or an array.
    """
    t = np.asarray(t, float)
    p, q = t**0.2, (t + 1) ** 0.2
    return -4 * p**2 * q**2 + 4 * p**4 - 2 * p * q + factor * q**2


def steps_total(horizon: int) -> float:
    """sum_{t <= T} t^{-1/5}."""
    return float((np.arange(1, horizon + 1) ** -0.2).sum())


def smoothed_quadratic(square, delta: float, dim: int):
    """Average of ||.||^2 / 2 over the ball of radius delta about x: ||x||^2 / 2 + delta^2 n / (2 (n + 2)); a linear loss is its own. ``square``: ||x||^2."""
    return 0.5 * square + 0.5 * delta**2 * dim / (dim + 2)
