"""Constants of the analysis: coefficients of the regret bounds, and the first horizons where the bounds are informative.

If a printed constant differs from the one that its proof gives, this module has both and names the erratum.
Source: Chen, Zhang & Karbasi (2019), Theorems 1 and 2 with their proofs.
Letters: T horizon, n dimensions, M and G bounds on losses and gradients, r B in K in R B, D diameter, c exploration scale,
sigma_t = t^{-2/5} Frank-Wolfe step, h_t = F_t(x_t) - F_t(x*_t), kappa the tracking constant in h_t <= kappa D^2 sigma_t (``companion.pfbco.proofs``).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...checks import informative_from
from ...core.validation import check_positive

PAPER = "Chen, Zhang & Karbasi (2019)"

# The induction on h_t works with 2.3. The paper's 2 needs a smoothness that F_t does not have (E2).
KAPPA = 2.3
KAPPA_PRINTED = 2.0
DOUBLING = 1 / (1 - 2**-0.8)  # factor of Theorem 2 on beta T^{4/5}
CAP = 10**40  # largest horizon of the search


class Setting(NamedTuple):
    """Inputs of the bounds; each is a number, or an array over trials if sets or losses vary between trials."""

    dim: int  # n
    loss_bound: Any  # M
    grad_bound: Any  # G
    diameter: Any  # D
    outer: Any  # R
    c: float = 1.0  # exploration scale, a length
    inner: float = 1.0  # r

    @classmethod
    def of(cls, task: Any, c: float) -> "Setting":
        """Return the setting of a learner's context (``model.Task``): numbers if all trials share them, else arrays over trials."""
        cset = task.cset
        values = [
            np.asarray(x.cpu(), float) for x in (task.loss_bound, task.grad_bound, cset.D, cset.R)
        ]
        shared = (float(x[0]) if x.size == 1 else x for x in values)
        return cls(cset.dim, *shared, c, float(cset.r))

    @classmethod
    def recorded(cls, constants: Any, dim: int, c: float) -> "Setting":
        """Return the setting with M, G, D and R of each trial in normalized coordinates, R x 4 (``probes.constants``)."""
        return cls(dim, *np.asarray(constants, float).T, c)

    @property
    def unit(self) -> float:
        """Exploration scale c in units of the inscribed radius."""
        return self.c / self.inner


def unit_ball(dim: int, c: float = 1.0) -> Setting:
    """Return the setting of linear losses of norm 1 on the unit ball: M = G = R = r = 1, D = 2."""
    return Setting(dim, 1.0, 1.0, 2.0, 1.0, c)


# Regret ---------------------------------------------------------------------------------------------------


class Coefficients(NamedTuple):
    """Coefficients of the bound A T^{4/5} + B T^{3/5}; numbers or arrays over trials."""

    A: Any
    B: Any

    def at(self, horizon):
        """Return the bound. ``horizon``: a number, or an array that broadcasts against A."""
        return self.A * horizon**0.8 + self.B * horizon**0.6


def leader_coefficients(s: Setting) -> Coefficients:
    """Return the coefficients of the leaders' expected regret against (1 - alpha) K: A = sqrt(2) n M D / c, B = n M D / (2 sqrt(2) c).

    They are the first part of ``coefficients``.
    """
    variance = s.dim * s.loss_bound * s.diameter / s.c
    return Coefficients(math.sqrt(2) * variance, variance / (2 * math.sqrt(2)))


def coefficients(s: Setting) -> Coefficients:
    """Theorem 1 corrected: A = sqrt(2) n M D / c + (5 sqrt(kappa) / 4) D G + 2 c G + c R G / r, B = n M D / (2 sqrt(2) c), kappa = 2.3.

    Let z be the projection of the comparator on (1 - alpha) K, and x*_t the leaders. The bound is the sum of four parts:

    - The leaders: sum of grad f^_t(x_t) (x*_t - z) <= D^2 / eta + (eta / 2) n^2 M^2 T / delta^2 in expectation.
    - Tracking: G sum ||x_t - x*_t|| <= G sqrt(kappa) D (5 / 4) T^{4/5}.
    - Smoothing and exploration: f <= f^ <= f + delta G and f(y) <= f(x) + delta G give 2 delta G T (E4).
    - Shrinking the set: alpha R G T.

    The theorem holds for c T^{-1/5} <= r and eta = c D / (sqrt(2) n M) T^{-4/5} (E1, E2).
    """
    check_positive("c", s.c)
    (A, B), D, G = leader_coefficients(s), s.diameter, s.grad_bound
    A = A + 1.25 * math.sqrt(KAPPA) * D * G + 2 * s.c * G + s.unit * s.outer * G
    return Coefficients(A, B)


def coefficients_printed(s: Setting) -> Coefficients:
    """Theorem 1 as printed: A = sqrt(2) n M D + (5 sqrt(2) / 4) D G + 3 c G + c R G / r, B = sqrt(2) n M D / c^2.

    Raises:
        ValueError: c below 1, in the unit of length of D and r. The proof fails there for every r (E1).
    """
    if s.c < 1:
        raise ValueError(
            f"c must be at least 1, because the paper's bound is not proved for smaller c (erratum E1), got {s.c!r}"
        )
    D, G = s.diameter, s.grad_bound
    variance = math.sqrt(2) * s.dim * s.loss_bound * D
    A = variance + 1.25 * math.sqrt(2) * D * G + 3 * s.c * G + s.unit * s.outer * G
    return Coefficients(A, variance / s.c**2)


def theorem_1(s: Setting, horizon):
    """Return the bound on the expected regret of Algorithm 1 with the corrected learning rate."""
    return coefficients(s).at(horizon)


def theorem_1_printed(s: Setting, horizon):
    """Return the bound of Theorem 1 as printed. Raises: as ``coefficients_printed``."""
    return coefficients_printed(s).at(horizon)


def theorem_2(s: Setting, horizon):
    """Return the bound on the expected regret of Algorithm 2 after any t rounds: (A + B) (t + 1)^{4/5} / (1 - 2^{-4/5}).

    Raises:
        ValueError: c above the inscribed radius, because the first epoch has one round.
    """
    if s.unit > 1:
        raise ValueError(
            f"c must be at most the inscribed radius {s.inner:g}, because the first epoch has one round, got {s.c!r}"
        )
    return sum(coefficients(s)) * (horizon + 1) ** 0.8 * DOUBLING


def trivial_regret(s: Setting, horizon):
    """Return the largest possible regret of any learner, 2 M T."""
    return 2 * s.loss_bound * horizon


def fkm_bound(s: Setting, horizon):
    """Return the bound on the expected regret of ``FKM(variant="book")``: (n M D / c + 2 c G + c R G / r) T^{3/4}.

    It is for delta = c T^{-1/4} and eta = c D / (n M) T^{-3/4}.
    """
    variance = s.dim * s.loss_bound * s.diameter / s.c
    return (variance + (2 * s.c + s.unit * s.outer) * s.grad_bound) * horizon**0.75


def block_bound(s: Setting, horizon):
    """Return the bound on the expected regret of ``BlockPFBCO``: [sqrt(2) D Q + G D + 2 c G + c R G / r] T^{3/4} plus a rounding term.

    Here Q^2 = n^2 M^2 / c^2 + G^2. The additional term is for round(sqrt(T)) > sqrt(T). This analysis is our addition.

    A block of K rounds has E||sum of g||^2 <= K n^2 M^2 / delta^2 + K^2 G^2. Therefore the leaders' regret is at most
    D^2 / eta + (eta / 2) T (n^2 M^2 / delta^2 + K G^2). A gap of D^2 T^{-1/2} implies ||x - x*|| <= D T^{-1/4}. The other parts are
    as for ``coefficients``. With K = sqrt(T) the sum is the first form; the additional term is (eta / 2) T (K - sqrt(T)) G^2.
    """
    D, G = s.diameter, s.grad_bound
    Q = np.sqrt((s.dim * s.loss_bound / s.c) ** 2 + G**2)
    root = np.sqrt(np.asarray(horizon, float))
    # Where round(sqrt(T)) > sqrt(T), blocks are longer than the bound's first form assumes.
    longer = np.maximum(np.maximum(np.rint(root), 1) - root, 0.0)
    rate = math.sqrt(2) * D * Q + G * D + (2 * s.c + s.unit * s.outer) * G
    return rate * horizon**0.75 + D * G**2 / (math.sqrt(2) * Q) * longer * horizon**0.25


# Horizons where a bound is informative --------------------------------------------------------------------


Bound = Callable[[Setting, Any], Any]  # maps a setting and a horizon to a bound


def vacuity_ratio(bound: Bound, s: Setting, horizon: int) -> float:
    """Return the ratio of a bound to the largest possible regret, 2 M T, maximized over trials; the bound is vacuous if it is at least 1."""
    return float(np.max(bound(s, horizon) / trivial_regret(s, horizon)))


def first_informative(bound: Bound, s: Setting) -> int | None:
    """Return the first horizon where a bound is below 2 M T in every trial; None if there is none up to ``CAP``."""
    return informative_from(lambda T: vacuity_ratio(bound, s, T), lambda T: 1.0, CAP)
