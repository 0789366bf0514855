"""Concave quadratics whose maximizer moves along a path, with exactly known variation.

The objective is f_t(x) = b_t - (x - theta_t)^T H (x - theta_t) / 2 on a ball or a box, where H is diagonal and the same in all
rounds and theta_t is in X^o(c_0). Therefore the maximizer is theta_t and the optimal value b_t. The differences f_{t+1} - f_t are
affine, therefore their supremum over the set, which V_T sums up, has a closed form.
``GridDrift`` is the same problem on finitely many arms, where the best arm in hindsight is known exactly. It is an example for
Lemma 4.1, which makes any bandit algorithm for finitely many arms weakly non-stationary.
Both are our additions, because the paper has no experiment.
Shapes: R trials or 1 where they share a tensor, n rounds, d dimensions, K arms.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import as_numpy_if_cpu, as_tensors, dot, take_mean
from ...core.streams import Draw
from ...core.validation import check_in, check_integer, check_positive, is_number, raise_invalid
from ...maths.sets import Ball, Box
from ..model.task import Task
from .paths import STATIONARY, MixedPaths, Path

NOISES = ("uniform", "bernoulli", "rademacher")
SETS = {"ball": Ball, "box": Box}
BLOCK = 1 << 14  # rounds whose variation is computed at a time
AHEAD = 256  # rounds whose centers and values are computed at a time
ROUNDING = 1e-9
STORED = 1 << 24  # largest number of entries of a table of means


def _blocks(rounds: int) -> Iterator[np.ndarray]:
    """Return an iterator over 0, 1, ..., rounds - 1 in blocks."""
    return (np.arange(i, min(i + BLOCK, rounds)) for i in range(0, rounds, BLOCK))


class DriftInstance(NamedTuple):
    """Problem instance: the task, which is known to the learner, and the drift, which is not."""

    task: Task
    path: np.ndarray  # R or 1 x ..., data that the centers are computed from
    curvature: Tensor  # d, the diagonal of H
    horizon: int
    # Cache of theta and b for a block of rounds, computed in its first round. Computed in each round, they would cost as much as a
    # learner. block: its number, from 0, and -1 before the first; theta: a list of R or 1 x d per round; best: of R or 1 per round
    ahead: SimpleNamespace


@frozen_dataclass
class QuadraticDrift:
    """Drifting concave quadratic f_t(x) = b_t - (x - theta_t)^T H (x - theta_t) / 2 with noisy values in [-1, 1].

    Attributes:
        path: theta_t and b_t over time, see ``paths``.
        dim: d.
        curvature: diagonal of H, a number or d numbers; sigma is the least.
        noise: "uniform", y = f + a (2 u - 1); "rademacher", y = f +- a; "bernoulli", y = +-1 with mean f.
        amplitude: a.
        environment: seed of a random path that all trials share; None: each trial draws its path from the trial's seed.
        cset: "ball" or "box", of unit size.
        margin: c_0 in (0, 1); centers have norm at most 1 - c_0.
        smoothness: L, above sigma.

    Raises:
        ValueError: a value out of range, or functions and noise that could leave [-1, 1].

    Examples:
        >>> from paperlib.nsbco import QuadraticDrift, Rotation
        >>> problem = QuadraticDrift(Rotation(4.0))
        >>> problem.variation(problem.part([0], 1000), 1000).round(3)  # V_T
        array([4.])
    """

    path: Path = STATIONARY
    dim: int = fields.size(2)
    curvature: float | tuple[float, ...] = 1.0
    noise: str = fields.one_of(NOISES, "uniform")
    amplitude: float = fields.number(0.1, least=1e-09, most=1.0, zero=True)
    environment: int | None = None
    cset: str = fields.one_of(tuple(SETS), "ball")
    margin: float = fields.number(0.5, least=1e-06, most=1 - 1e-06)
    smoothness: float = fields.positive(2.0)

    def __post_init__(self):
        if not isinstance(self.path, Path):
            raise_invalid(
                "path", self.path, "a path of nsbco.problems.paths, for example Abrupt(5)"
            )
        if self.environment is not None:
            check_integer("environment", self.environment, 0)
            if isinstance(self.path, MixedPaths):
                raise_invalid(
                    "environment",
                    self.environment,
                    "None with MixedPaths, because it has several paths",
                )
        several = isinstance(self.curvature, tuple) and len(self.curvature) == self.dim
        if not (several or is_number(self.curvature)):
            raise_invalid("curvature", self.curvature, f"a number or a tuple of {self.dim} numbers")
        for h in self.curvature if several else [self.curvature]:
            check_positive("curvature", h)
        if not self.diagonal.min() < self.smoothness:
            requirement = (
                f"above sigma={self.diagonal.min():g}, so that gamma = sigma / L is below 1"
            )
            raise_invalid("smoothness", self.smoothness, requirement)
        for path in self.path.paths if isinstance(self.path, MixedPaths) else (self.path,):
            self._bounded(path)

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of H, d."""
        return np.broadcast_to(np.asarray(self.curvature, float), (self.dim,))

    def _bounded(self, path: Path) -> None:
        """Raise ValueError unless |f| + a <= 1 on the whole set; clipping f instead would destroy concavity."""
        (low, high), H, A = path.values, self.diagonal, 1 - self.margin
        a = 0.0 if self.noise == "bernoulli" else self.amplitude
        if self.cset == "ball":
            depth = H.max() / 2 * (1 + A) ** 2  # ||x - theta|| is at most 1 + A
        else:
            reach = np.full(self.dim, 0.0 if path.axis else A)
            reach[0] = A
            depth = (H * (1 + reach) ** 2).sum() / 2
        least, most = low - depth - a, high + a
        if not (least >= -1 - 1e-12 and most <= 1 + 1e-12):
            raise ValueError(
                "curvature and amplitude must be so small that f +- a is within [-1, 1], got "
                f"curvature={self.curvature!r} and amplitude={self.amplitude:g} with f +- a in [{least:g}, {most:g}]"
            )

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> DriftInstance:
        """Return the instance, with the path and V_T of each trial.

        Raises:
            ValueError: a path that leaves X^o(c_0) or the range of b_t that it declares.
        """
        shared = not self.path.drawn or self.environment is not None
        device = torch.device(tkwargs.get("device", "cpu"))
        if shared:
            seeds = [int(self.environment or 0)]
        elif device.type == "meta":
            seeds = [0] * trials
        else:
            # int64 wraps at 2^63, therefore the seeds are read as unsigned
            seeds = draw.seeds.cpu().numpy().view(np.uint64).tolist()
        part = self.part(seeds, horizon)
        self._check(part, horizon)
        one = lambda x: torch.full((1,), x, **tkwargs)
        sigma = float(self.diagonal.min())
        V = torch.from_numpy(self.variation(part, horizon)).to(**tkwargs)
        cset = SETS[self.cset].of(self.dim, **tkwargs)
        task = Task(cset, one(self.margin), one(self.smoothness), one(sigma), V)
        H = torch.tensor(self.diagonal, **tkwargs)
        return DriftInstance(task, part, H, horizon, SimpleNamespace(block=-1))

    def part(self, seeds: list[int], horizon: int) -> np.ndarray:
        """Return the data that the centers are computed from, one row per seed, or 1 row if the trials share the path."""
        vary = lambda part: float(self.variation(part, horizon)[0])
        return self.path.begin(seeds, horizon, self.dim, 1 - self.margin, vary)

    def context(self, instance: DriftInstance, t: int) -> Task:
        """Return the task, the set and the bounds, which is the same in all rounds."""
        return instance.task

    def centers(self, part: Any, t: np.ndarray, horizon: int) -> np.ndarray:
        """Return theta in the rounds ``t``, R x n x d or 1 x n x d."""
        return self.path.theta(np.asarray(part), t, horizon, self.dim, 1 - self.margin)

    def moves(self, part: Any, t: np.ndarray, horizon: int) -> np.ndarray:
        """Return Delta(t) = sup over the set of |f_{t+1} - f_t| = |c| + ||v||, dual norm, in the rounds ``t``, R x n or 1 x n."""
        H = self.diagonal
        value = lambda t: self.path.value(np.asarray(part), t, horizon)
        a, b = self.centers(part, t, horizon), self.centers(part, t + 1, horizon)
        # f_{t+1}(x) - f_t(x) = c + <v, x>, because the quadratic terms cancel.
        v = H * (b - a)
        c = value(t + 1) - value(t) - ((b * b - a * a) * H).sum(-1) / 2
        size = abs(v).sum(-1) if self.cset == "box" else np.sqrt((v * v).sum(-1))
        return abs(c) + size

    def variation(self, part: Any, horizon: int) -> np.ndarray:
        """Return V_T = sum of Delta(t), Eq. (2), R or 1."""
        part = np.asarray(part)
        total = np.zeros(len(part))
        for t in _blocks(horizon - 1):
            total += self.moves(part, t, horizon).sum(1)
        return total

    def _check(self, part: np.ndarray, horizon: int) -> None:
        """Raise ValueError for a path whose centers or values are outside the range that ``_bounded`` relied on."""
        reach, limits = 1 - self.margin, self.path.limits(part)
        for t in _blocks(horizon):
            theta = self.centers(part, t, horizon)
            norm, best = np.sqrt((theta * theta).sum(-1)), self.path.value(part, t, horizon)
            if not (norm <= reach * (1 + ROUNDING)).all():  # nan fails this comparison, too
                requirement = f"a path with centers of norm at most 1 - margin={reach:g}"
                raise_invalid("path", self.path, f"{requirement}, not {norm.max():g}")
            for (low, high), values in zip(limits.repeat(len(best) // len(limits), 0), best):
                if not (low - ROUNDING <= values.min() and values.max() <= high + ROUNDING):
                    requirement = f"a path with values b_t from {low:g} to {high:g}, its limits"
                    found = f"{values.min():g} to {values.max():g}"
                    raise_invalid("path", self.path, f"{requirement}, not from {found}")

    def theta(self, instance: DriftInstance, t: int) -> Tensor:
        """Return the maximizer of round t, R x d or 1 x d."""
        return self._ahead(instance, t).theta[t % AHEAD]

    def best(self, instance: DriftInstance, t: int) -> Tensor:
        """Return b_t, the optimal value of round t, R or 1."""
        return self._ahead(instance, t).best[t % AHEAD]

    def _ahead(self, instance: DriftInstance, t: int) -> SimpleNamespace:
        """Return the cache of the instance, filled for the block of rounds that contains t."""
        found = instance.ahead
        if found.block != t // AHEAD:
            begin = t - t % AHEAD
            rounds = np.arange(begin, max(min(begin + AHEAD, instance.horizon), t + 1))
            theta = self.centers(instance.path, rounds, instance.horizon).swapaxes(0, 1)
            best = self.path.value(instance.path, rounds, instance.horizon).T
            each = lambda x: torch.from_numpy(x.copy()).to(instance.curvature).unbind()
            found.block, found.theta, found.best = t // AHEAD, each(theta), each(best)
        return found

    def respond(
        self, instance: DriftInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the feedback at the points ``action``, R x d, and the regret f*_t - f_t(x_t), R.

        The feedback is y_t, R, or with ``wants="gradient"`` the gradient of f_t, R x d.
        """
        check_in("wants", wants, ("reward", "gradient"))
        x, H, theta, best = as_numpy_if_cpu(
            action, instance.curvature, self.theta(instance, t), self.best(instance, t)
        )
        away = x - theta
        pull = H * away
        gap = dot(pull, away) / 2  # f*_t - f_t(x_t), because f is quadratic
        if wants == "gradient":
            return as_tensors(-pull, gap)
        f, (u,) = best - gap, as_numpy_if_cpu(draw.uniform("reward"))
        if self.noise == "uniform":
            return as_tensors(f + self.amplitude * (2 * u - 1), gap)
        least = 0.5 if self.noise == "rademacher" else (1 + f) / 2
        sign = 2 * (u < least) - 1 + 0.0 * f
        return as_tensors(f + self.amplitude * sign if self.noise == "rademacher" else sign, gap)


class GridInstance(NamedTuple):
    """Problem instance: the arms, and their means in all rounds."""

    arms: Tensor  # 1 x K x 1
    means: Tensor  # R or 1 x T x K
    variation: Tensor  # R or 1, V_T = sum over t of max over arms of |f_{t+1} - f_t|


@frozen_dataclass
class GridDrift:
    """Drifting bandit with K arms: f_t(x) = b_t - (x - theta_t)^2 / 2 on K points evenly spaced in [-1, 1], with uniform noise.

    Attributes:
        path: theta_t and b_t over time.
        arms: K >= 1.
        amplitude: a, noise is uniform on [-a, a].
        environment: as for ``QuadraticDrift``.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> import torch
        >>> from paperlib.core.streams import Streams
        >>> from paperlib.nsbco import Abrupt, GridDrift
        >>> instance = GridDrift(Abrupt(2), arms=3).init(1, 100, Streams(0, range(1)).at(-1), dtype=torch.float64)
        >>> instance.means.shape
        torch.Size([1, 100, 3])
    """

    path: Path = STATIONARY
    arms: int = fields.size(5)
    amplitude: float = 0.1
    environment: int | None = None

    def __post_init__(self):
        self.line()  # validates the fields

    def line(self) -> QuadraticDrift:
        """Return the same problem on the whole interval."""
        return QuadraticDrift(self.path, 1, amplitude=self.amplitude, environment=self.environment)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> GridInstance:
        """Return the instance, with the means of all arms in all rounds.

        Raises:
            ValueError: more than 2^24 means, which would need too much memory.
        """
        paths = trials if self.path.drawn and self.environment is None else 1
        if horizon * int(self.arms) * paths > STORED:
            most = STORED // (self.arms * paths)
            raise_invalid(
                "horizon", horizon, f"at most {most} with {self.arms} arms and {paths} paths"
            )
        line, t = self.line(), np.arange(horizon)
        part = line.init(trials, horizon, draw, **tkwargs).path
        points = np.linspace(-1.0, 1.0, self.arms)
        theta = line.centers(part, t, horizon)  # R x T x 1
        means = line.path.value(part, t, horizon)[:, :, None] - (points - theta) ** 2 / 2
        V = abs(np.diff(means, axis=1)).max(2).sum(1)
        tensor = lambda x: torch.from_numpy(np.ascontiguousarray(x)).to(**tkwargs)
        return GridInstance(tensor(points[None, :, None]), tensor(means), tensor(V))

    def context(self, instance: GridInstance, t: int) -> Tensor:
        """Return the arms, 1 x K x 1."""
        return instance.arms

    def respond(
        self, instance: GridInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return y_t and the regret, the best arm's mean minus the pulled arm's, R each. ``action``: R indices."""
        check_in("wants", wants, ("reward",))
        means = instance.means[:, t]
        f = take_mean(means, action)
        return f + self.amplitude * (2 * draw.uniform("reward") - 1), means.amax(1) - f
