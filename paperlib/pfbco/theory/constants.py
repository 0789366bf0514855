"""Numbers of the analysis of projection-free bandit convex optimization: tracking, coefficients of the regret bounds.

Where the printed constant differs from what its proof gives, both are here, and the erratum is named.
Source: Chen, Zhang & Karbasi (2019), Theorems 1 and 2 with their proofs.
Letters: T horizon, n dimensions, M and G bounds on losses and gradients, r B in K in R B, D diameter, c exploration scale,
sigma_t = t^{-2/5} Frank-Wolfe step, h_t = F_t(x_t) - F_t(x*_t), kappa with h_t <= kappa D^2 sigma_t.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.validation import one_of, positive, whole
from ..model.tracking import sigma

PAPER = "Chen, Zhang & Karbasi (2019)"

KAPPA = 2.3  # with which the induction on h_t goes through; the paper's 2 needs a smoothness that F_t has not (E2)
KAPPA_PRINTED = 2.0
TAIL = 11  # from this t on the induction is proved by one inequality, before it by evaluation


class Setting(NamedTuple):
    """What enters the bounds; each a number, or an array over trials where sets or losses vary by trial."""

    dim: int  # n
    loss_bound: Any  # M
    grad_bound: Any  # G
    diameter: Any  # D
    outer: Any  # R
    c: float = 1.0  # exploration scale, a length
    inner: float = 1.0  # r

    @classmethod
    def of(cls, task: Any, c: float) -> "Setting":
        """That of a learner's context (``task.Task``): numbers where the trials share them, else arrays over trials."""
        cset = task.cset
        values = [
            np.asarray(x.cpu(), float) for x in (task.loss_bound, task.grad_bound, cset.D, cset.R)
        ]
        shared = (float(x[0]) if x.size == 1 else x for x in values)
        return cls(cset.dim, *shared, c, float(cset.r))

    @classmethod
    def recorded(cls, constants: Any, dim: int, c: float) -> "Setting":
        """From M, G, D and R of each trial in normalized coordinates, R x 4 (``probes.Constants``)."""
        return cls(dim, *np.asarray(constants, float).T, c)

    @property
    def unit(self) -> float:
        """c in units of the inscribed radius."""
        return self.c / self.inner


def unit_ball(dim: int, c: float = 1.0) -> Setting:
    """Linear losses of norm 1 on the unit ball: M = G = R = r = 1, D = 2."""
    dim = whole("dim", dim)
    c = positive("c", c)
    return Setting(dim, 1.0, 1.0, 2.0, 1.0, c)


# Tracking -------------------------------------------------------------------------------------------------


def estimate_step(horizon: int, c: float = 1.0, rule: str = "corrected") -> float:
    """b = eta n M / (delta D), how far one estimate can move the leader, in units of D / 2.

    T^{-3/5} / sqrt(2), whatever c; with the printed learning rate T^{-3/5} / (sqrt(2) c), c in the unit of D and r (E1).
    """
    horizon = whole("horizon", horizon)
    c = positive("c", c)
    one_of("rule", rule, ("corrected", "paper"))
    return horizon**-0.6 / math.sqrt(2) / (c if rule == "paper" else 1.0)


def worst_tracking(horizon: int, c: float = 1.0, rule: str = "corrected") -> np.ndarray:
    """H_t / sigma_t for t = 1, ..., T: the largest that h_t / (D^2 sigma_t) can be by the one-step inequality, T numbers.

    sqrt(H_{t+1}) = b / 2 + sqrt((1 - sigma_t) H_t + sigma_t^2 + b^2 / 4), H_1 = 0 (E2).
    """
    b, H = estimate_step(horizon, c, rule), np.zeros(horizon)
    step = sigma(np.arange(1.0, horizon + 1))
    for t in range(horizon - 1):
        H[t + 1] = (b / 2 + math.sqrt((1 - step[t]) * H[t] + step[t] ** 2 + b**2 / 4)) ** 2
    return H / step


def kappa_infinity(c: float) -> float:
    """What ``worst_tracking`` of the printed rate goes to as T grows, c in the unit of D and r (E1).

    s^2 with s = (a + sqrt(a^2 + 4)) / 2, a = 1 / (sqrt(2) c): 2 for c = 1, and more below.
    """
    c = positive("c", c)
    a = 1 / (math.sqrt(2) * c)
    return ((a + math.sqrt(a**2 + 4)) / 2) ** 2


def psi(t, kappa: float = KAPPA):
    """[kappa (sigma_{t+1} - sigma_t) + (kappa - 1) sigma_t^2] / sqrt(kappa sigma_{t+1}): what b may be for one step of the induction. ``t``: a number or an array."""
    now, after = sigma(np.asarray(t, float)), sigma(np.asarray(t, float) + 1)
    return (kappa * (after - now) + (kappa - 1) * now**2) / np.sqrt(kappa * after)


def induction_margin(t, kappa: float = KAPPA):
    """psi(t) - (t + 1)^{-3/5} / sqrt(2): the induction goes from t to t + 1 where this is at least 0, since b <= (t + 1)^{-3/5} / sqrt(2)."""
    return psi(t, kappa) - (np.asarray(t, float) + 1) ** -0.6 / math.sqrt(2)


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
    horizon = whole("horizon", horizon)
    return float((np.arange(1, horizon + 1) ** -0.2).sum())


def steps_bound(horizon: int) -> float:
    """(5 / 4) T^{4/5}, at least ``steps_total``."""
    return 1.25 * horizon**0.8


def smoothed_quadratic(square, delta: float, dim: int):
    """Average of ||.||^2 / 2 over the ball of radius delta about x: ||x||^2 / 2 + delta^2 n / (2 (n + 2)); a linear loss is its own. ``square``: ||x||^2."""
    return 0.5 * square + 0.5 * delta**2 * dim / (dim + 2)


# Regret ---------------------------------------------------------------------------------------------------


class Coefficients(NamedTuple):
    """A T^{4/5} + B T^{3/5}; numbers or arrays over trials."""

    A: Any
    B: Any

    def at(self, horizon):
        """The bound. ``horizon``: a number, or an array that broadcasts against A."""
        return self.A * horizon**0.8 + self.B * horizon**0.6


def _of_leaders(s: Setting) -> Coefficients:
    variance = s.dim * s.loss_bound * s.diameter / s.c
    return Coefficients(math.sqrt(2) * variance, variance / (2 * math.sqrt(2)))


def leader_bound(s: Setting, horizon):
    """Expected regret of the leaders against (1 - alpha) K: sqrt(2) n M D / c T^{4/5} + n M D / (2 sqrt(2) c) T^{3/5}, the first part of ``coefficients``."""
    return _of_leaders(s).at(horizon)


def coefficients(s: Setting, kappa: float = KAPPA) -> Coefficients:
    """Theorem 1 corrected: A = sqrt(2) n M D / c + (5 sqrt(kappa) / 4) D G + 2 c G + c R G / r, B = n M D / (2 sqrt(2) c).

    For z the projection of the comparator on (1 - alpha) K, and x*_t the leaders:
    sum of grad f^_t(x_t) (x*_t - z) <= D^2 / eta + (eta / 2) n^2 M^2 T / delta^2 in expectation;
    G sum ||x_t - x*_t|| <= G sqrt(kappa) D (5 / 4) T^{4/5}; f <= f^ <= f + delta G and f(y) <= f(x) + delta G give 2 delta G T
    (E4); shrinking the set costs alpha R G T. Holds for c T^{-1/5} <= r and eta = c D / (sqrt(2) n M) T^{-4/5} (E1, E2).
    """
    positive("c", s.c)
    (A, B), D, G = _of_leaders(s), s.diameter, s.grad_bound
    A = A + 1.25 * math.sqrt(kappa) * D * G + 2 * s.c * G + s.unit * s.outer * G
    return Coefficients(A, B)


def coefficients_printed(s: Setting) -> Coefficients:
    """Theorem 1 as printed: A = sqrt(2) n M D + (5 sqrt(2) / 4) D G + 3 c G + c R G / r, B = sqrt(2) n M D / c^2.

    Raises:
        ValueError: c below 1, in the unit of length that D and r are in, where its proof fails, whatever r is (E1).
    """
    positive("c", s.c)
    if s.c < 1:
        raise ValueError(
            f"c={s.c!r}; allowed: at least 1, since the printed bound is not proved below (E1)"
        )
    D, G = s.diameter, s.grad_bound
    variance = math.sqrt(2) * s.dim * s.loss_bound * D
    A = variance + 1.25 * math.sqrt(2) * D * G + 3 * s.c * G + s.unit * s.outer * G
    return Coefficients(A, variance / s.c**2)


def theorem_1(s: Setting, horizon):
    """Expected regret of Algorithm 1 with the corrected rate is at most this."""
    return coefficients(s).at(horizon)


def theorem_1_printed(s: Setting, horizon):
    """Theorem 1 as printed. Raises: as ``coefficients_printed``."""
    return coefficients_printed(s).at(horizon)


def doubling_factor(power: float = 0.8) -> float:
    """What doubling multiplies beta T^power by: 1 / (1 - 2^{-power})."""
    power = positive("power", power)
    return 1 / (1 - 2**-power)


def theorem_2(s: Setting, horizon):
    """Expected regret of Algorithm 2 after any t rounds: (A + B) (t + 1)^{4/5} / (1 - 2^{-4/5}).

    Raises:
        ValueError: c above the inscribed radius: the first epoch has one round.
    """
    if s.unit > 1:
        raise ValueError(
            f"c={s.c!r}; allowed: up to the inscribed radius {s.inner:g}, since the first epoch has one round"
        )
    return sum(coefficients(s)) * (horizon + 1) ** 0.8 * doubling_factor()


def trivial_regret(s: Setting, horizon):
    """What any learner suffers at most: 2 M T."""
    return 2 * s.loss_bound * horizon


def fkm_bound(s: Setting, horizon):
    """Expected regret of ``FKM`` in its book form: (n M D / c + 2 c G + c R G / r) T^{3/4}, delta = c T^{-1/4}, eta = c D / (n M) T^{-3/4}."""
    positive("c", s.c)
    variance = s.dim * s.loss_bound * s.diameter / s.c
    return (variance + (2 * s.c + s.unit * s.outer) * s.grad_bound) * horizon**0.75


def block_bound(s: Setting, horizon):
    """Expected regret of ``BlockPFBCO``: [sqrt(2) D Q + G D + 2 c G + c R G / r] T^{3/4}, Q^2 = n^2 M^2 / c^2 + G^2, plus a term for round(sqrt(T)) > sqrt(T).

    A block of K rounds has E||sum of g||^2 <= K n^2 M^2 / delta^2 + K^2 G^2, so that the leaders' regret is at most
    D^2 / eta + (eta / 2) T (n^2 M^2 / delta^2 + K G^2); a gap of D^2 T^{-1/2} means ||x - x*|| <= D T^{-1/4}; the rest as for
    ``coefficients``. With K = sqrt(T) the sum is the first form, and (eta / 2) T (K - sqrt(T)) G^2 the term. Ours.
    """
    positive("c", s.c)
    D, G = s.diameter, s.grad_bound
    Q = np.sqrt((s.dim * s.loss_bound / s.c) ** 2 + G**2)
    root = np.sqrt(np.asarray(horizon, float))
    longer = np.maximum(np.maximum(np.rint(root), 1) - root, 0.0)
    rate = math.sqrt(2) * D * Q + G * D + (2 * s.c + s.unit * s.outer) * G
    return rate * horizon**0.75 + D * G**2 / (math.sqrt(2) * Q) * longer * horizon**0.25
