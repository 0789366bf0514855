"""From which horizon on a test can fail, and from which a bound says something, in the paper's units and for d = 2.

Source: Wang (2025), Algorithm 1, Lemma 3.1, Theorem 3.4; letters as in ``constants``.
"""

import math
from collections.abc import Callable

from paperlib.nsbco.theory.constants import (
    CORRECTED,
    PRINTED,
    TRIVIAL,
    Weak,
    bonus_corrected,
    bonus_numeric,
    first_horizon,
    kappa_0,
    literal,
    practical,
    theorem_3_4,
    weak_corrected,
    weak_printed,
)

TEST_1, TEST_2 = 9, 3  # multiples of rho-hat
UNITS = literal()

# Constants of Definition 2.1 by horizon: as printed, and the corrected b_0 with the printed ratios.
WEAK = {
    "printed": lambda T: weak_printed(UNITS, T),
    "corrected": lambda T: practical(float(bonus_corrected(UNITS, T))),
}


def threshold(weak: Callable[[float], Weak], multiple: int = TEST_1) -> Callable[[float], float]:
    """A test's multiple of rho-hat(T), its threshold for the longest window or block, as a function of T.

    Args:
        weak: constants at horizon T.
        multiple: ``TEST_1`` or ``TEST_2``.
    """
    return lambda T: multiple * float(weak(T).hat(T, T))


def rows() -> dict[str, Callable[[float], float]]:
    """Test 1's threshold at the longest window, by constants: printed, corrected, tight and practical."""
    return {
        "printed": threshold(WEAK["printed"]),
        "corrected": threshold(WEAK["corrected"]),
        "tight, b_0 = 2": threshold(lambda T: practical(2.0)),
        "tight, b_0 = 1": threshold(lambda T: practical(1.0)),
        "practical, A_1 = 1": lambda T: T**-0.5,
    }


def first_firing(gap: float = TRIVIAL) -> dict[str, float]:
    """The first T at which a window's mean can be so far above U that Test 1 fails: ``gap`` at most, of all changes 2."""
    return {name: first_horizon(value, gap) for name, value in rows().items()}


def first_of_any(weak: Callable[[float], Weak]) -> dict[str, float]:
    """The first T at which each test can fail, the earlier one first.

    Test 2 has the smaller multiple of rho-hat, therefore it can fail earlier than Test 1, whose T is that of ``first_firing``.
    """
    tests = {"Test 1": threshold(weak, TEST_1), "Test 2": threshold(weak, TEST_2)}
    found = {name: first_horizon(value, TRIVIAL) for name, value in tests.items()}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def first_informative() -> dict[str, float]:
    """The first T at which b_0 / sqrt(T) < 2, so that r-bar_T says more than that rewards are at most 1."""
    bonus = {
        "printed": lambda T: 2 * sum(kappa_0(UNITS, T)),
        "corrected": lambda T: float(bonus_corrected(UNITS, T)),
        "numeric": lambda T: bonus_numeric(UNITS, T),
    }
    return {
        name: first_horizon(lambda T: of(T) / math.sqrt(T), TRIVIAL) for name, of in bonus.items()
    }


def first_regret() -> dict[str, float]:
    """The first T at which C_1 V^{1/3} T^{2/3} < 2 T with V = 1, logarithms left out, by the power of lambda and the constants."""
    cases = {
        "printed constants, lambda^{1/3}": (weak_printed, CORRECTED),
        "printed constants, lambda^{2/3}": (weak_printed, PRINTED),
        "corrected constants, lambda^{1/3}": (weak_corrected, CORRECTED),
    }
    share = lambda weak, power: lambda T: theorem_3_4(weak(UNITS, T), power).C1 * (1 / T) ** (1 / 3)
    return {name: first_horizon(share(*case), TRIVIAL) for name, case in cases.items()}


def dimension_power(power: float) -> float:
    """Power of d in C_1 where c_1 and lambda grow as d^{3/2}: 2 as printed, 3/2 corrected (E10)."""
    return 1.5 * (2 / 3 + power)
