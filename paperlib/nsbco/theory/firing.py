"""From which horizon on a test can fail, and from which a bound says something.

Source: Wang (2025), Algorithm 1, Lemma 3.1, Theorem 3.4; letters as in ``constants``.
"""

import math
from collections.abc import Callable

from scipy.optimize import brentq

from .constants import (
    Setting,
    Weak,
    bonus_corrected,
    bonus_numeric,
    kappa_0,
    literal,
    weak_corrected,
    weak_printed,
)
from .rates import CORRECTED, PRINTED, theorem_3_4

LARGEST = 300.0  # ln T: up to there is looked
TEST_1, TEST_2 = 9, 3  # multiples of rho-hat
TRIVIAL = 2.0  # how far two numbers of [-1, 1] can be apart


def first_horizon(value: Callable[[float], float], level: float) -> float:
    """The T from which on ``value(T) <= level``, at least 1, by ``brentq`` in ln T; inf: not up to e^300.

    For values that grow at most once and then fall for good, as a power of ln T over a power of T does.
    """
    above = lambda x: math.log(value(math.exp(x)) / level)
    if above(LARGEST) > 0:
        return math.inf
    high = LARGEST
    while high > 1e-3 and above(high / 2) <= 0:
        high /= 2
    if high <= 1e-3:
        return 1.0
    return math.exp(brentq(above, high / 2, high, xtol=1e-14, rtol=1e-14))


def threshold_1(weak: Callable[[float], Weak]) -> Callable[[float], float]:
    """9 rho-hat(T), Test 1's for the longest window there is, as a function of T; ``weak``: constants at horizon T."""
    return lambda T: TEST_1 * float(weak(T).hat(T, T))


def threshold_2(weak: Callable[[float], Weak]) -> Callable[[float], float]:
    """3 rho-hat(T), Test 2's for the longest block."""
    return lambda T: TEST_2 * float(weak(T).hat(T, T))


def tight(bonus: float) -> Callable[[float], Weak]:
    """A b_0 for all T with the printed multiples: rho(t) = 3 b_0 / sqrt(t)."""
    return lambda T: Weak(bonus, 3 * bonus, 3 * bonus)


def rows(s: Setting | None = None) -> dict[str, Callable[[float], float]]:
    """Test 1's threshold at the longest window, by constants: printed, corrected, tight and practical."""
    s = s or literal()
    corrected = lambda T: tight(float(bonus_corrected(s, T)))(T)
    return {
        "printed": threshold_1(lambda T: weak_printed(s, T)),
        "corrected": threshold_1(corrected),
        "tight, b_0 = 2": threshold_1(tight(2.0)),
        "tight, b_0 = 1": threshold_1(tight(1.0)),
        "practical, A_1 = 1": lambda T: T**-0.5,
    }


def first_firing(s: Setting | None = None, gap: float = TRIVIAL) -> dict[str, float]:
    """The first T at which a window's mean can be so far above U that Test 1 fails: ``gap`` at most, of all changes 2."""
    return {name: first_horizon(value, gap) for name, value in rows(s).items()}


def first_of_any(weak: Callable[[float], Weak], gap: float = TRIVIAL) -> dict[str, float]:
    """The first T at which each test can fail, the earlier one first.

    Test 2 has the smaller multiple of rho-hat, therefore it can fail earlier than Test 1, whose T is that of ``first_firing``.
    """
    tests = {"Test 1": threshold_1(weak), "Test 2": threshold_2(weak)}
    found = {name: first_horizon(value, gap) for name, value in tests.items()}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def first_informative(s: Setting | None = None) -> dict[str, float]:
    """The first T at which b_0 / sqrt(T) < 2, so that r-bar_T says more than that rewards are at most 1."""
    s = s or literal()
    bonus = {
        "printed": lambda T: 2 * sum(kappa_0(s, T)),
        "corrected": lambda T: float(bonus_corrected(s, T)),
        "numeric": lambda T: bonus_numeric(s, T),
    }
    return {
        name: first_horizon(lambda T: of(T) / math.sqrt(T), TRIVIAL) for name, of in bonus.items()
    }


def first_regret(s: Setting | None = None, variation: float = 1.0) -> dict[str, float]:
    """The first T at which C_1 V^{1/3} T^{2/3} < 2 T, logarithms left out, by the power of lambda and the constants."""
    s = s or literal()
    cases = {
        "printed constants, lambda^{1/3}": (weak_printed, CORRECTED),
        "printed constants, lambda^{2/3}": (weak_printed, PRINTED),
        "corrected constants, lambda^{1/3}": (weak_corrected, CORRECTED),
    }
    share = lambda weak, power: (
        lambda T: theorem_3_4(weak(s, T), power).C1 * (variation / T) ** (1 / 3)
    )
    return {name: first_horizon(share(*case), TRIVIAL) for name, case in cases.items()}
