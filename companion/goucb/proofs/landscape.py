"""A risk in one dimension that satisfies Assumption 3.3 and is far from convex: what Figure 1 sketches without a formula.

Ours: W = [0, 1], w* = 1/2, v = w - w*,
L(w) = 2^{(2 - gamma) / 2} (mu / 2) v^2 (1 + (v / r_0)^2)^{-(2 - gamma) / 2} (1 + A (1 - cos omega v)), r_0 = (tau / mu)^{1 / (2 - gamma)}.
It lies above min{(mu / 2) v^2, (tau / 2) |v|^gamma}, since (1 + y^2)^{(2 - gamma) / 2} <= 2^{(2 - gamma) / 2} max(1, |y|^{2 - gamma}).
Source: Liu & Wang (2023), Assumption 3.3 and Figure 1.
"""

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from paperlib.checks import Check, statement
from paperlib.core import fields
from paperlib.core.describe import frozen
from paperlib.goucb.theory.constants import PAPER

TRUTH = 0.5  # w*


@frozen
class Landscape:
    """The risk with these constants.

    Attributes:
        mu: > 0, growth near w*.
        tau: > 0, growth far from it.
        gamma: in (0, 2), its power.
        wave: A >= 0, size of the waves.
        frequency: omega >= 0.

    Raises:
        ValueError: a value out of range.
    """

    mu: float = fields.positive(64.0)
    tau: float = fields.positive(1.0)
    gamma: float = fields.number(0.5, least=0.001, most=2 - 0.001)
    wave: float = fields.nonnegative(0.6)
    frequency: float = fields.nonnegative(16 * math.pi)

    @property
    def switch(self) -> float:
        """r_0, where the two lower bounds meet."""
        return (self.tau / self.mu) ** (1 / (2 - self.gamma))

    def _derivatives(self, w):
        """L, L' and L'', any shape."""
        v = np.asarray(w, float) - TRUTH
        # s: without the waves
        p, r2 = (2 - self.gamma) / 2, self.switch**2
        scale, y = 2**p * self.mu / 2, 1 + v**2 / r2
        s = scale * v**2 * y**-p
        s1 = scale * (2 * v * y**-p - 2 * p / r2 * v**3 * y ** (-p - 1))
        s2 = 2 * y**-p - 10 * p / r2 * v**2 * y ** (-p - 1)
        s2 = scale * (s2 + 4 * p * (p + 1) / r2**2 * v**4 * y ** (-p - 2))
        # q: the waves
        A, omega = self.wave, self.frequency
        q = 1 + A * (1 - np.cos(omega * v))
        q1, q2 = A * omega * np.sin(omega * v), A * omega**2 * np.cos(omega * v)
        return s * q, s1 * q + s * q1, s2 * q + 2 * s1 * q1 + s * q2

    def risk(self, w):
        """L, any shape."""
        return self._derivatives(w)[0]

    def slope(self, w):
        """L'."""
        return self._derivatives(w)[1]

    def bend(self, w):
        """L''."""
        return self._derivatives(w)[2]

    def near(self, w):
        """(mu / 2) v^2."""
        return self.mu / 2 * (np.asarray(w, float) - TRUTH) ** 2

    def far(self, w):
        """(tau / 2) |v|^gamma."""
        return self.tau / 2 * np.abs(np.asarray(w, float) - TRUTH) ** self.gamma

    def lower(self, w):
        """The smaller of the two, which Assumption 3.3 has below L."""
        return np.minimum(self.near(w), self.far(w))

    def _roots(self, f, ends: np.ndarray) -> np.ndarray:
        at = f(ends)
        change = np.flatnonzero(at[:-1] * at[1:] < 0)
        return np.array([brentq(f, ends[i], ends[i + 1], xtol=1e-14) for i in change])

    def minima(self) -> np.ndarray:
        """Local minima on [0, 1], ascending; w* among them."""
        # an even number of steps would put a node on w*, where L' is 0
        roots = self._roots(self.slope, np.linspace(0.0, 1.0, 20002))
        found = [w for w in roots if self.bend(w) > 0]
        ends = [w for w, out in ((0.0, 1), (1.0, -1)) if out * self.slope(w) > 0]
        return np.sort(np.array(found + ends))

    @property
    def convex_within(self) -> float:
        """Largest r with L convex on |v| < r."""
        roots = self._roots(self.bend, TRUTH + np.linspace(0.0, TRUTH, 10001))
        return float(roots[0] - TRUTH) if len(roots) else TRUTH


@statement("Figure 1", f"{PAPER}, Figure 1 and Assumption 3.3")
def figure_1(landscape: Landscape, w: Any) -> Check:
    """min{(mu / 2) |v|^2, (tau / 2) |v|^gamma} <= L(w), v = w - w*. ``w``: in [0, 1], any shape."""
    return figure_1.statement.check(
        "min{(mu / 2) v^2, (tau / 2) |v|^gamma} <= L",
        {"mu": landscape.mu, "tau": landscape.tau, "gamma": landscape.gamma},
        landscape.lower(w),
        landscape.risk(w),
    )
