"""A linear function over a quadratic sublevel set and a ball: the step of sequential quadratic programming.

    maximize x^T p  subject to  q(p) = v + g^T (p - theta) + 1/2 (p - theta)^T H (p - theta) <= c,  ||p||_2 <= S.

Stationarity, with multipliers 1 of the objective, 1/s of q and nu/s of the ball:
    H (p - theta) + g + nu p = s x,  nu >= 0.
In the eigenbasis of H = Q diag(l) Q^T everything is a sum over d coordinates. These sums run over plain Python
floats: for the d of bandits that is several times faster than d-vectors of numpy.
"""

import math
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.linalg.lapack import dsyevd
from scipy.optimize import brentq

FLOOR = 1e-8  # smallest curvature used, where fewer than d directions have been seen
ACCURACY = 1e-9  # relative, of a multiplier: steps decide how fast bounds close, not if they hold


class Quadratic(NamedTuple):
    """q around a point, in the eigenbasis of its Hessian."""

    value: float  # v
    basis: ndarray  # Q, d x d, columns
    length: list  # l, d
    center: list  # Q^T theta, d
    slope: list  # Q^T g, d
    target: list  # Q^T (H theta - g), d: the unconstrained minimizer is target / l

    @classmethod
    def around(
        cls, theta: ndarray, value: float, gradient: ndarray, hessian: ndarray
    ) -> "Quadratic":
        """From value, gradient (d) and Hessian (d x d) at ``theta`` (d)."""
        length, basis, _ = dsyevd(hessian)
        length = np.maximum(length, FLOOR)
        center, slope = theta @ basis, gradient @ basis
        target = length * center - slope
        return cls(float(value), basis, *(a.tolist() for a in (length, center, slope, target)))

    def at(self, p: list) -> float:
        """q of a point given in the eigenbasis."""
        return self.value + sum(
            (g + 0.5 * l * (a - t)) * (a - t)
            for a, l, t, g in zip(p, self.length, self.center, self.slope)
        )

    def minimizer(self, ball: float | None) -> tuple[ndarray, float, float]:
        """The minimizer over the ball, the decrease -g^T (p - theta) to first order, and the decrease of q."""
        p = self.projected(self.target, ball)
        first = -sum(g * (a - t) for a, t, g in zip(p, self.center, self.slope))
        return self.basis @ p, first, self.value - self.at(p)

    def projected(self, target: list, ball: float | None) -> list:
        """(H + nu I)^{-1} target with the smallest nu >= 0 that brings it into the ball, in the eigenbasis.

        Newton on 1/||p(nu)|| = 1/S from nu = 0: concave and increasing, so it never overshoots.
        """
        pairs, nu = list(zip(target, self.length)), 0.0
        for _ in range(100):
            norm2 = slant = 0.0
            for b, l in pairs:
                shrink = 1 / (l + nu)
                square = (b * shrink) ** 2
                norm2 += square
                slant += square * shrink
            if ball is None or norm2 <= ball * ball:
                break
            step = (math.sqrt(norm2) / ball - 1) * norm2 / slant
            nu += step
            if step <= 1e-15 * nu:
                break
        return [b / (l + nu) for b, l in pairs]

    def maximizer(self, x: ndarray, level: float, ball: float | None) -> ndarray:
        """argmax of x^T p over {q <= level} and the ball; the minimizer of q where the set is empty. ``x``: d, not 0."""
        y = (x @ self.basis).tolist()
        p = self._along(y, level, 0.0)
        if p is None or (ball is not None and math.fsum(a * a for a in p) > ball * ball):
            p = self._on_sphere(y, level, ball)
        p = self.basis @ p
        size = 1.0 if ball is None else math.sqrt(p @ p) / ball
        return p / size if size > 1 else p

    def _along(self, y: list, level: float, nu: float) -> list | None:
        """p(s) = (H + nu I)^{-1} (H theta - g + s x) with the larger s at which q = level, or None."""
        a2 = a1 = 0.0
        a0 = self.value - level
        lines = []
        for l, b, t, g, x in zip(self.length, self.target, self.center, self.slope, y):
            u, w = b / (l + nu), x / (l + nu)
            e = u - t
            a2 += 0.5 * l * w * w
            a1 += (g + l * e) * w
            a0 += (g + 0.5 * l * e) * e
            lines.append((u, w))
        root = a1 * a1 - 4 * a2 * a0
        if root < 0:
            if nu > 0:
                return None
            root = 0.0  # q > level everywhere, by rounding: its minimizer
        s = (math.sqrt(root) - a1) / (2 * a2)
        return [u + s * w for u, w in lines]

    def _on_sphere(self, y: list, level: float, ball: float) -> list:
        """Both constraints active: the nu at which ||p|| = S, or, where that branch ends before, bisection on s."""

        def beyond(nu):  # 1/S - 1/||p(nu)||, nearly linear in nu; None where the branch has ended
            p = self._along(y, level, nu)
            return None if p is None else 1 / ball - 1 / math.sqrt(math.fsum(a * a for a in p))

        low, high = 0.0, 0.1 * self.length[-1]
        for _ in range(40):
            gap = beyond(high)
            if gap is None or gap <= 0:
                break
            low, high = high, 8 * high
        if gap is not None and gap <= 0:
            with suppress(TypeError):  # the branch ends in between
                nu = brentq(beyond, low, high, rtol=ACCURACY, maxiter=60, disp=False)
                return self._along(y, level, nu)
        return self._by_multiplier(y, level, ball)

    def _by_multiplier(self, y: list, level: float, ball: float) -> list:
        """p(s) = argmin over the ball of q - s x^T p: q(p(s)) grows with s, bisection on log s for q = level."""
        target = lambda s: [b + s * x for b, x in zip(self.target, y)]
        point = lambda log_s: self.projected(target(math.exp(log_s)), ball)
        excess = lambda log_s: self.at(point(log_s)) - level
        unit = math.log(self.length[-1] * ball / math.sqrt(math.fsum(x * x for x in y)))
        low, high = unit - 30.0, unit + 30.0
        if excess(low) >= 0:
            return self.projected(self.target, ball)
        if excess(high) <= 0:
            return point(high)
        return point(brentq(excess, low, high, rtol=ACCURACY, maxiter=100, disp=False))
