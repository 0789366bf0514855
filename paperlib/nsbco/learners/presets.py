"""Algorithm 1 around Algorithm 2 with printed, calibrated and other constants.

Source: Wang (2025), Algorithm 1, Lemma 3.1; Wei & Luo (2021) for the multiples of the tests.
A base that is no ``GradientAscent``, and numbers out of range, raise ValueError.
"""

import math
from dataclasses import replace

from torch import Tensor

from ...core.validation import positive, refuse
from ...learners.multiscale import Multiscale
from .ascent import GradientAscent

BASE = GradientAscent()


def check_ascent(base: GradientAscent) -> None:
    """Raise ValueError for another base than Algorithm 2."""
    if not isinstance(base, GradientAscent):
        refuse("base", base, "a GradientAscent, of whose bonus tests are multiples")


def practical(base: GradientAscent = BASE, A1: float = 1.0, least_order: int = 0) -> Multiscale:
    """Calibrated constants: b_0 as the base has it, A_1 = 1, A_2 = 1.5 b_0 (log2 T + 1)."""
    check_ascent(base)
    return Multiscale(base, A1, 1.5 * base.bonus, ("A2",), least_order)


def malg(base: GradientAscent = BASE, least_order: int = 0) -> Multiscale:
    """The schedule alone: no test."""
    check_ascent(base)
    return Multiscale(base, math.inf, math.inf, (), least_order)


def printed(base: GradientAscent) -> Multiscale:
    """9 rho-hat and 3 rho-hat with rho-hat(t) = 6 (log2 T + 1) rho(t) and rho(t) = 6 kappa_0 / sqrt(t); ``base.bonus`` is 2 kappa_0.

    The multiples alone: Lemma 3.1's base is ``GradientAscent(h=1.0, bonus=2 * sum(kappa_0(literal(d), T)), clip=False)``, with
    both functions from ``theory.constants``; its N_0 is the corrected one (E1).
    """
    check_ascent(base)
    return Multiscale(base, 162 * base.bonus, 54 * base.bonus, ("A1", "A2"))


def single_scale(c: float | Tensor, base: GradientAscent = BASE) -> Multiscale:
    """The printed ratios with rho(t) = c / sqrt(t), so that b_0 = c / 3; c: > 0, a number or one a trial."""
    check_ascent(base)
    c = positive("c", c, 1e-29, 1e28, by_trial=True)  # of which the tests' constants are multiples
    if isinstance(c, Tensor) and not c.is_floating_point():
        c = c.double()  # torch would divide into float32
    return Multiscale(replace(base, bonus=c / 3), 54 * c, 18 * c, ("A1", "A2"))
