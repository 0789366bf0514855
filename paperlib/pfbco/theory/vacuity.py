"""From which horizon on a regret bound says something: below it the largest possible regret, 2 M T, is smaller.

Source: Chen, Zhang & Karbasi (2019), Theorems 1 and 2; letters as in ``constants``.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.validation import whole
from ...maths.informative import informative_from
from .constants import Setting, theorem_1, trivial_regret

CAP = 10**40  # largest horizon to look at


Bound = Callable[[Setting, Any], Any]  # of a setting and a horizon


def excess(bound: Bound, s: Setting, horizon: int) -> float:
    """A bound over 2 M T, the largest over trials: from 1 on nothing can break it."""
    return float(np.max(bound(s, horizon) / trivial_regret(s, horizon)))


def first_informative(bound: Bound, s: Setting) -> int | None:
    """The first horizon at which a bound is below 2 M T in every trial, solved for; None: not up to ``CAP``."""
    return informative_from(lambda T: excess(bound, s, T), lambda T: 1.0, CAP)


def rule_of_thumb(s: Setting) -> float:
    """(n D / (sqrt(2) c))^5: Theorem 1 says nothing before, because of its first term alone."""
    return (s.dim * float(np.max(s.diameter)) / (math.sqrt(2) * s.c)) ** 5


class Vacuity(NamedTuple):
    """A bound at one horizon, the largest over trials, and when it says something."""

    horizon: int
    ratio: float  # bound / 2 M T
    informative_from: int | None


def vacuity(s: Setting, horizon: int, bound: Bound = theorem_1) -> Vacuity:
    """How far a bound is from the trivial one."""
    horizon = whole("horizon", horizon, most=CAP)
    return Vacuity(horizon, excess(bound, s, horizon), first_informative(bound, s))
