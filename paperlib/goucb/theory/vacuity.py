"""From where on a bound says something: below it, what holds without any theory is smaller.

Source: Liu & Wang (2023), Lemma 5.1, Theorems 4.1 and 5.2; letters as in ``constants``.
"""

import math

from ...maths.informative import informative_from
from .constants import Constants, regret_bound, risk_bound, start_bound
from .printed import horizon

CAP = 10**40  # largest horizon to look at


def trivial_risk(c: Constants) -> float:
    """4 F^2, which no risk exceeds."""
    return 4 * c.value**2


def trivial_regret(c: Constants, n: float, T: float) -> float:
    """2 F (n + T)."""
    return 2 * c.value * (n + T)


def first_phase(T: float) -> float:
    """n = ceil(sqrt(T)), as Theorem 4.1 has it."""
    return math.isqrt(int(T) - 1) + 1


def vacuity(c: Constants, T: float, n: float | None = None) -> float:
    """Theorem 4.1 over 2 F (n + T): from 1 on it says nothing. ``n``: sqrt(T) if None."""
    n = first_phase(T) if n is None else n
    return regret_bound(c, n, T) / trivial_regret(c, n, T)


def regret_informs_from(c: Constants) -> int | None:
    """The first T at which Theorem 4.1 with n = sqrt(T) is below 2 F (n + T), None: not up to 1e40."""
    return informative_from(lambda T: vacuity(c, T), lambda T: 1.0, CAP)


def condition_from(c: Constants, zeta: float | None, radius: float = 0.5) -> int | None:
    """The first T that condition (8) allows with n = sqrt(T) and 1 for its constant. Arguments: as of ``printed.largest``."""
    least = lambda T: horizon(c, first_phase(T), zeta, radius)
    return informative_from(least, lambda T: T, CAP)


def risk_informs_from(c: Constants) -> int | None:
    """The first n at which B_L is below 4 F^2."""
    return informative_from(lambda n: risk_bound(c, n), lambda n: trivial_risk(c), CAP)


def start_informs_from(c: Constants) -> int | None:
    """The first n at which B_0^2 is below the diameter of W squared."""
    return informative_from(lambda n: start_bound(c, n), lambda n: c.diameter2, CAP)
