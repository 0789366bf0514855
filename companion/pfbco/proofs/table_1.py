"""Table 1 as data, and when Theorem 1 informs at the earliest.

Source: Chen, Zhang & Karbasi (2019), Table 1, with attributions; ``since`` is ours.
Letters: as in ``constants``.
"""

import math
from typing import NamedTuple

import numpy as np

from paperlib.pfbco.theory.constants import Setting


class Kind(NamedTuple):
    """One kind of algorithm."""

    feedback: str  # "full information" or "bandit"
    projection_free: bool
    regret: str  # as a formula
    exponent: float  # of T, logarithms aside
    source: str
    note: str = ""
    since: str = ""  # what became known after the paper


TABLE_1 = (
    Kind("full information", False, "O(T^{1/2})", 1 / 2, "Zinkevich (2003)"),
    Kind(
        "bandit",
        False,
        "O(T^{3/4})",
        3 / 4,
        "Flaxman, Kalai & McMahan (2005)",
        "Lipschitz losses; O(T^{5/6}) without",
    ),
    Kind(
        "bandit",
        False,
        "O~(T^{1/2})",
        1 / 2,
        "Bubeck et al. (2015, 2017), Hazan & Li (2016)",
        "up to logarithms",
    ),
    Kind("full information", True, "O(T^{3/4})", 3 / 4, "Hazan & Kale (2012)"),
    Kind(
        "bandit",
        True,
        "O(T^{4/5})",
        4 / 5,
        "Chen, Zhang & Karbasi (2019)",
        "this paper",
        "O(T^{3/4}) expected regret with O(T) calls of the linear oracle (Garber & Kretzu, 2020)",
    ),
)


def rule_of_thumb(s: Setting) -> float:
    """(n D / (sqrt(2) c))^5: Theorem 1 is vacuous before, because of its first term alone."""
    return (s.dim * float(np.max(s.diameter)) / (math.sqrt(2) * s.c)) ** 5
