"""Paths on which the maximizer moves all the time.

Shapes: R trials or 1 where they share the path, n rounds, d dimensions; A is the largest norm of a center.
"""

import math

import numpy as np
from scipy.optimize import brentq

from ...core import fields
from ...core.describe import frozen
from ...core.validation import refuse
from .paths import Path, along


@frozen
class Rotation(Path):
    """theta = A (cos phi, sin phi) with phi from 0 to V / A at constant speed; d >= 2.

    Attributes:
        V: >= 0; V_T = (T - 1) 2 A sin(V / (2 A (T - 1))), which is V but for T's being finite.

    Raises:
        ValueError: a negative V.
    """

    V: float = fields.number(4.0, least=0.0)
    axis = False

    def theta(self, part, t, horizon, dim, reach):
        """On a circle of radius A.

        Raises:
            ValueError: one dimension.
        """
        if dim < 2:
            raise ValueError(f"dim={dim}; allowed with Rotation: at least 2")
        phi = t / max(horizon - 1, 1) * (self.V / reach)
        points = np.zeros((1, len(t), dim))
        points[0, :, 0], points[0, :, 1] = reach * np.cos(phi), reach * np.sin(phi)
        return points


@frozen
class Ramp(Path):
    """theta_1 falls from A at constant speed, by as much as makes V_T the number asked for, at most 2 A.

    Attributes:
        V: >= 0, V_T.

    Raises:
        ValueError: V out of range.
    """

    V: float = fields.number(least=0.0)

    def begin(self, seeds, horizon, dim, reach, vary):
        """How far it falls, 1 x 1.

        Raises:
            ValueError: a V that is not attained between A and -A.
        """
        found = lambda fall: vary(np.full((1, 1), fall)) - self.V
        if found(2 * reach) < 0:
            refuse("V", self.V, f"at most {found(2 * reach) + self.V:g}, what leads from A to -A")
        return np.full((1, 1), brentq(found, 0.0, 2 * reach, xtol=1e-15))

    def theta(self, part, t, horizon, dim, reach):
        """On a line."""
        return along(reach - part * t / max(horizon - 1, 1), dim)


class _Wave(Path):
    """A wave on the first axis with as many periods as make V_T the number asked for."""

    def begin(self, seeds, horizon, dim, reach, vary):
        """The number of traversals or periods, 1 x 1.

        Raises:
            ValueError: a V that no number of them below T / 8 attains.
        """
        found = lambda count: vary(np.full((1, 1), count)) - self.V
        most = horizon / 8
        if horizon < 16 or found(most) < 0:
            refuse("V", self.V, f"what a wave attains in {horizon} rounds, at least 8 a period")
        return np.full((1, 1), brentq(found, 0.0, most, xtol=1e-13, rtol=1e-14))


@frozen
class Triangle(_Wave):
    """theta_1 runs between A and -A at constant speed.

    Attributes:
        V: > 0, V_T.

    Raises:
        ValueError: V out of range.
    """

    V: float = fields.positive(8.0)

    def theta(self, part, t, horizon, dim, reach):
        """From A e_1 on."""
        phase = part * t / max(horizon - 1, 1) % 2
        return along(reach * (2 * abs(1 - phase) - 1), dim)


@frozen
class Sinusoid(_Wave):
    """theta_1 = A sin(2 pi K t / T).

    Attributes:
        V: > 0, V_T.

    Raises:
        ValueError: V out of range.
    """

    V: float = fields.positive(10.0)

    def theta(self, part, t, horizon, dim, reach):
        """From 0 on."""
        return along(reach * np.sin(2 * math.pi * part * t / horizon), dim)


@frozen
class Walk(Path):
    """A Gaussian random walk from 0, reflected at the sphere of radius A.

    Attributes:
        step: > 0, standard deviation of a coordinate's step.

    Raises:
        ValueError: a step out of range.
    """

    step: float = fields.positive(0.001, most=0.1)
    drawn, axis = True, False

    def begin(self, seeds, horizon, dim, reach, vary):
        """The path, R x T x d."""
        draws = [np.random.default_rng(1000 + s).standard_normal((horizon, dim)) for s in seeds]
        path = self.step * np.stack(draws)
        x = np.zeros_like(path[:, 0])
        for t in range(horizon):
            x = x + path[:, t]
            norm = np.sqrt((x * x).sum(1, keepdims=True))
            x = np.where(norm > reach, x * ((2 * reach - norm) / np.maximum(norm, reach)), x)
            path[:, t] = x
        return path

    def theta(self, part, t, horizon, dim, reach):
        """As drawn."""
        return part[:, t]
