"""Drift paths: the maximizer theta_t and the optimal value b_t over time, with abrupt or with continuous changes.

All paths are our additions, because the paper has no experiment. Random paths use numpy's ``default_rng`` with a separate seed
instead of the project's random streams, so that a path can be reproduced from its seed.
Shapes: R trials or 1 where they share the path, n rounds, d dimensions; A is the largest norm of a center.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.validation import check_size, raise_invalid

VALUE = 0.5  # default of b_t, the value at the maximizer


class Path(ABC):
    """Base class of paths. A subclass is a frozen dataclass; its per-trial data is a tree of arrays with R rows or 1."""

    drawn = False  # whether the path is random, that is, differs by the generator's seed
    axis = True  # whether all centers are on the first axis
    values = (VALUE, VALUE)  # least and largest b_t

    def begin(self, seeds: list[int], horizon: int, dim: int, reach: float, vary: Callable) -> Any:
        """Return the data that ``theta`` is computed from: arrays with one row per seed, or with 1 row.

        Args:
            seeds: seeds of the trials.
            horizon, dim: T and d.
            reach: A, the largest norm of a center.
            vary: function that returns V_T for such data.
        """
        return np.zeros((1, 0))

    @abstractmethod
    def theta(self, part: Any, t: np.ndarray, horizon: int, dim: int, reach: float) -> np.ndarray:
        """Return the centers in the rounds ``t`` (n, counted from 0), R x n x d or 1 x n x d."""

    def value(self, part: Any, t: np.ndarray, horizon: int) -> np.ndarray:
        """Return b_t in the rounds ``t``, R x n or 1 x n."""
        return np.full((1, len(t)), VALUE)

    def limits(self, part: Any) -> np.ndarray:
        """Return the least and the largest b_t, R x 2 or 1 x 2."""
        return np.array([self.values])


@frozen_dataclass
class MixedPaths(Path):
    """Different paths in one batch: the first ``counts[0]`` trials have the first path, and so on.

    With few trials, the cost of a round is determined by the number of library calls. Therefore several runs that differ only in
    the path take hardly more time together than one of them. Each trial has the same numbers as in a separate run of its path, up
    to rounding in batched linear algebra.

    Attributes:
        paths: at least one path.
        counts: number of trials of each path, at least 1.

    Raises:
        ValueError: a number of counts other than the number of paths, or a count below 1.

    Examples:
        >>> from paperlib.nsbco import Abrupt, GradientAscent, QuadraticDrift, Rotation
        >>> from paperlib.nsbco.problems.paths import MixedPaths
        >>> from paperlib.play import play
        >>> both = QuadraticDrift(MixedPaths((Abrupt(5), Rotation(4.0)), (2, 2)))
        >>> play(GradientAscent(), both, 64, [0, 1, 0, 1])["regret"].shape
        (4, 64)
    """

    paths: tuple[Path, ...]
    counts: tuple[int, ...]
    drawn = True

    def __post_init__(self):
        single = lambda path: isinstance(path, Path) and not isinstance(path, MixedPaths)
        if not (isinstance(self.paths, tuple) and all(map(single, self.paths))):
            raise_invalid("paths", self.paths, "a tuple of paths other than MixedPaths")
        if not (isinstance(self.counts, tuple) and len(self.counts) == len(self.paths) > 0):
            raise_invalid(
                "counts", self.counts, f"a tuple of {len(self.paths)} counts, one for each path"
            )
        for count in self.counts:
            check_size("counts", count)

    def limits(self, part):
        """Return the limits of each trial's path."""
        return np.array([self.paths[i].values for i, _ in part])

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return R x 2 objects: the index of the trial's path, and that path's array with the row of this trial."""
        if len(seeds) != sum(self.counts):
            raise ValueError(
                f"trials of one batch must be {sum(self.counts)}, the sum of counts={self.counts}, got {len(seeds)}"
            )
        rows = np.empty((len(seeds), 2), object)
        ends = np.cumsum(self.counts)
        for i, (path, end, count) in enumerate(zip(self.paths, ends, self.counts)):
            single = lambda part: vary(self._row(i, part))  # vary expects the rows of this class
            part = path.begin(seeds[end - count : end], horizon, dim, reach, single)
            for k in range(count):
                own = k % len(part)  # all trials share the only row of a path that is not drawn
                rows[end - count + k] = self._row(i, part[own : own + 1])
        return rows

    def _row(self, i: int, part: np.ndarray) -> np.ndarray:
        """Return the data of one trial of path i, 1 x 2 objects."""
        row = np.empty((1, 2), object)
        row[0, 0], row[0, 1] = i, part
        return row

    def theta(self, part, t, horizon, dim, reach):
        """Return the centers of each trial's path."""
        return np.concatenate([self.paths[i].theta(row, t, horizon, dim, reach) for i, row in part])

    def value(self, part, t, horizon):
        """Return b_t of each trial's path."""
        return np.concatenate([self.paths[i].value(row, t, horizon) for i, row in part])


def on_first_axis(first: np.ndarray, dim: int) -> np.ndarray:
    """Return points on the first axis, ... x d. ``first``: ..., the first coordinates."""
    points = np.zeros((*first.shape, dim))
    points[..., 0] = first
    return points


@frozen_dataclass
class Stationary(Path):
    """Stationary path: theta = A e_1 in all rounds, V_T = 0.

    Examples:
        >>> import numpy as np
        >>> from paperlib.nsbco import Stationary
        >>> Stationary().theta(None, np.arange(3), horizon=3, dim=2, reach=0.5).tolist()
        [[[0.5, 0.0], [0.5, 0.0], [0.5, 0.0]]]
    """

    def theta(self, part, t, horizon, dim, reach):
        """Return A e_1."""
        return on_first_axis(np.full((1, len(t)), reach), dim)


@frozen_dataclass
class Abrupt(Path):
    """Abrupt changes: S segments, with theta = A e_1 and -A e_1 alternately.

    Half of T is divided equally among the segments, the other half at random (Dirichlet). Equal segments would put changes on
    dyadic fractions of T. Blocks of a multi-scale schedule start there, therefore a method that restarts its blocks would look
    perfect.

    Attributes:
        segments: S >= 1.

    Raises:
        ValueError: ``segments`` below 1.

    Examples:
        >>> from paperlib.nsbco import Abrupt
        >>> len(Abrupt(5).changes(seed=0, horizon=1000))
        4
    """

    segments: int = fields.size(5)
    drawn = True

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return the change points, R x (S - 1): the first round of each new segment."""
        return np.stack([self.changes(seed, horizon) for seed in seeds])

    def changes(self, seed: int, horizon: int) -> np.ndarray:
        """Return the change points of one seed, S - 1 integers."""
        S, rng = self.segments, np.random.default_rng(seed)
        gaps = horizon / (2 * S) * np.ones(S) + horizon / 2 * rng.dirichlet(np.ones(S))
        return np.floor(np.cumsum(gaps)[:-1]).astype(np.int64)

    def theta(self, part, t, horizon, dim, reach):
        """Return A e_1, or -A e_1 after an odd number of changes."""
        count = (part[:, :, None] <= t).sum(1)
        return on_first_axis(reach * (1.0 - 2.0 * (count & 1)), dim)


@frozen_dataclass
class Step(Path):
    """Single change: theta = A e_1 before round ``at``, counted from 0, and -A e_1 from this round on.

    Attributes:
        at: >= 1.

    Raises:
        ValueError: ``at`` below 1.
    """

    at: int = fields.whole()

    def theta(self, part, t, horizon, dim, reach):
        """Return A e_1 or -A e_1."""
        return on_first_axis(np.where(t < self.at, reach, -reach)[None], dim)


@frozen_dataclass
class Alternation(Path):
    """Periodic changes: theta = A e_1 and -A e_1 alternately, each for ``period`` rounds.

    Attributes:
        period: >= 1.

    Raises:
        ValueError: ``period`` below 1.

    Examples:
        >>> import numpy as np
        >>> from paperlib.nsbco import Alternation
        >>> Alternation(2).theta(None, np.arange(6), horizon=6, dim=1, reach=0.5)[0, :, 0].tolist()
        [0.5, 0.5, -0.5, -0.5, 0.5, 0.5]
    """

    period: int = fields.whole(64)

    def theta(self, part, t, horizon, dim, reach):
        """Return A e_1 or -A e_1."""
        return on_first_axis((reach * (1.0 - 2.0 * (t // self.period % 2)))[None], dim)


@frozen_dataclass
class Dyadic(Path):
    """Changes at the quarters of T, next to which blocks begin (2^n - 1). A bad example, used only to show the resulting bias."""

    def theta(self, part, t, horizon, dim, reach):
        """Return A e_1 or -A e_1, alternately by quarters."""
        return on_first_axis((reach * (1.0 - 2.0 * (4 * t // horizon % 2)))[None], dim)


@frozen_dataclass
class Level(Stationary):
    """Level drift: theta = A e_1 in all rounds, and b_t = 0.4 + amplitude sin(2 pi cycles t / T).

    The maximizer does not move, therefore every restart is unnecessary.

    Attributes:
        cycles: > 0, number of periods.
        amplitude: in (0, 0.5].

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.nsbco import Level
        >>> Level(amplitude=0.25).limits(None).round(2).tolist()
        [[0.15, 0.65]]
    """

    cycles: float = fields.positive(8.0)
    amplitude: float = fields.number(0.1, least=1e-09, most=0.5)

    @property
    def values(self):
        """The least and the largest b_t, 0.4 +- amplitude."""
        return 0.4 - self.amplitude, 0.4 + self.amplitude

    def value(self, part, t, horizon):
        """Return 0.4 + amplitude sin(2 pi cycles t / T)."""
        return 0.4 + self.amplitude * np.sin(2 * math.pi * self.cycles * t[None] / horizon)


STATIONARY = Stationary()


# Paths with a maximizer that moves continuously --------------------------------------------------------------


@frozen_dataclass
class Rotation(Path):
    """Rotation: theta = A (cos phi, sin phi) with phi from 0 to V / A at constant speed; d >= 2.

    Attributes:
        V: >= 0; V_T = (T - 1) 2 A sin(V / (2 A (T - 1))), which converges to V as T grows.

    Raises:
        ValueError: a negative V.

    Examples:
        >>> import numpy as np
        >>> from paperlib.nsbco import Rotation
        >>> quarter = Rotation(np.pi / 4).theta(None, np.array([0, 9]), horizon=10, dim=2, reach=0.5)  # phi = V / A = pi / 2
        >>> bool(np.allclose(quarter[0], [[0.5, 0.0], [0.0, 0.5]]))
        True
    """

    V: float = fields.number(4.0, least=0.0)
    axis = False

    def theta(self, part, t, horizon, dim, reach):
        """Return the centers, on a circle of radius A.

        Raises:
            ValueError: d = 1.
        """
        if dim < 2:
            raise ValueError(f"dim must be at least 2 with Rotation, got {dim}")
        phi = t / max(horizon - 1, 1) * (self.V / reach)
        points = np.zeros((1, len(t), dim))
        points[0, :, 0], points[0, :, 1] = reach * np.cos(phi), reach * np.sin(phi)
        return points


@frozen_dataclass
class Ramp(Path):
    """Linear ramp: theta_1 decreases from A at constant speed, by the amount, at most 2 A, that makes V_T equal to V.

    Attributes:
        V: >= 0, V_T.

    Raises:
        ValueError: V out of range.
    """

    V: float = fields.number(least=0.0)

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return the total decrease, 1 x 1, found by ``brentq``.

        Raises:
            ValueError: a V that is larger than V_T of the ramp from A to -A.
        """
        found = lambda fall: vary(np.full((1, 1), fall)) - self.V
        if found(2 * reach) < 0:
            raise_invalid(
                "V",
                self.V,
                f"at most {found(2 * reach) + self.V:g}, the variation of the ramp from A to -A",
            )
        return np.full((1, 1), brentq(found, 0.0, 2 * reach, xtol=1e-15))

    def theta(self, part, t, horizon, dim, reach):
        """Return the centers, on a line from A e_1."""
        return on_first_axis(reach - part * t / max(horizon - 1, 1), dim)


class _Wave(Path):
    """Base class of waves on the first axis whose number of periods makes V_T equal to V."""

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return the number of traversals or periods, 1 x 1, found by ``brentq``.

        Raises:
            ValueError: a V that needs more than T / 8 of them, or a horizon below 16.
        """
        found = lambda count: vary(np.full((1, 1), count)) - self.V
        most = horizon / 8
        if horizon < 16 or found(most) < 0:
            raise_invalid(
                "V",
                self.V,
                f"a variation that a wave with at least 8 rounds per period attains in {horizon} rounds",
            )
        return np.full((1, 1), brentq(found, 0.0, most, xtol=1e-13, rtol=1e-14))


@frozen_dataclass
class Triangle(_Wave):
    """Triangle wave: theta_1 moves between A and -A at constant speed.

    Attributes:
        V: > 0, V_T.

    Raises:
        ValueError: V out of range.

    Examples:
        >>> from paperlib.nsbco import QuadraticDrift, Triangle
        >>> problem = QuadraticDrift(Triangle(8.0))
        >>> problem.variation(problem.part([0], 500), 500).round(6)
        array([8.])
    """

    V: float = fields.positive(8.0)

    def theta(self, part, t, horizon, dim, reach):
        """Return the centers, from A e_1 in round 0."""
        phase = part * t / max(horizon - 1, 1) % 2
        return on_first_axis(reach * (2 * abs(1 - phase) - 1), dim)


@frozen_dataclass
class Sinusoid(_Wave):
    """Sine wave: theta_1 = A sin(2 pi K t / T), with the number of periods K determined by V.

    Attributes:
        V: > 0, V_T.

    Raises:
        ValueError: V out of range.
    """

    V: float = fields.positive(10.0)

    def theta(self, part, t, horizon, dim, reach):
        """Return the centers, from 0 in round 0."""
        return on_first_axis(reach * np.sin(2 * math.pi * part * t / horizon), dim)


@frozen_dataclass
class Walk(Path):
    """Gaussian random walk from 0, reflected at the sphere of radius A.

    Attributes:
        step: > 0, at most 0.1; standard deviation of one step in each coordinate.

    Raises:
        ValueError: a step out of range.

    Examples:
        >>> from paperlib.nsbco import QuadraticDrift, Walk
        >>> QuadraticDrift(Walk(0.01)).part([0, 1], 100).shape  # one path of 100 rounds per seed
        (2, 100, 2)
    """

    step: float = fields.positive(0.001, most=0.1)
    drawn, axis = True, False

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return the path, R x T x d."""
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
        """Return the drawn centers."""
        return part[:, t]
