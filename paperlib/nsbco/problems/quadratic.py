"""Concave quadratics whose maximizer moves along a path, with exactly known variation.

f_t(x) = b_t - (x - theta_t)^T H (x - theta_t) / 2 on a ball or a box, H diagonal and the same in all rounds, theta_t in
X^o(c_0): the maximizer is theta_t and the best value b_t. Differences f_{t+1} - f_t are affine, so that the supremum
over the set that makes up V_T has a closed form.
``GridDrift`` is the same on finitely many arms, where the best arm in hindsight is known exactly. It serves Lemma 4.1, by which
any bandit algorithm for finitely many arms can be made weakly non-stationary.
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
AHEAD = 256  # rounds whose centers and values are
ROUNDING = 1e-9
STORED = 1 << 24  # numbers, at most, of a table of means


def _blocks(rounds: int) -> Iterator[np.ndarray]:
    """0, 1, ..., rounds - 1, in blocks."""
    return (np.arange(i, min(i + BLOCK, rounds)) for i in range(0, rounds, BLOCK))


class DriftInstance(NamedTuple):
    """What the learner is told, and what it is not."""

    task: Task
    path: np.ndarray  # R or 1 x ..., what the centers are computed from
    curvature: Tensor  # d, the diagonal of H
    horizon: int
    # theta and b of a block of rounds, computed when the first of them is played: round by round it cost as much as a learner;
    # block: which one, counted from 0, -1 before the first; theta: R or 1 x d, of each round; best: R or 1, of each round
    ahead: SimpleNamespace


@frozen_dataclass
class QuadraticDrift:
    """A drifting quadratic.

    Attributes:
        path: how theta_t and b_t move, see ``paths``.
        dim: d.
        curvature: the diagonal of H, a number or d of them; sigma is the least.
        noise: "uniform", y = f + a (2 u - 1); "rademacher", y = f +- a; "bernoulli", y = +-1 with mean f.
        amplitude: a.
        environment: seed of a random path that all trials share; None: each trial's path has the trial's own seed.
        cset: "ball" or "box", of unit size.
        margin: c_0 in (0, 1); centers have norm at most 1 - c_0.
        smoothness: L, above sigma.

    Raises:
        ValueError: a value out of range, or functions and noise that leave [-1, 1].
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
            raise_invalid("path", self.path, "a path of nsbco.problems, such as Abrupt(5)")
        if self.environment is not None:
            check_integer("environment", self.environment, 0)
            if isinstance(self.path, MixedPaths):
                raise_invalid(
                    "environment", self.environment, "None with Several, which has several paths"
                )
        several = isinstance(self.curvature, tuple) and len(self.curvature) == self.dim
        if not (several or is_number(self.curvature)):
            raise_invalid("curvature", self.curvature, f"a number, or a tuple of {self.dim}")
        for h in self.curvature if several else [self.curvature]:
            check_positive("curvature", h)
        if not self.diagonal.min() < self.smoothness:
            above = f"above sigma={self.diagonal.min():g}, so that gamma = sigma / L lies in (0, 1)"
            raise_invalid("smoothness", self.smoothness, above)
        for path in self.path.paths if isinstance(self.path, MixedPaths) else (self.path,):
            self._bounded(path)

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of H, d."""
        return np.broadcast_to(np.asarray(self.curvature, float), (self.dim,))

    def _bounded(self, path: Path) -> None:
        """No f is clipped, which would spoil concavity: |f| + a <= 1 on the whole set is asked for instead."""
        (low, high), H, A = path.values, self.diagonal, 1 - self.margin
        a = 0.0 if self.noise == "bernoulli" else self.amplitude
        if self.cset == "ball":
            depth = H.max() / 2 * (1 + A) ** 2
        else:
            reach = np.full(self.dim, 0.0 if path.axis else A)
            reach[0] = A
            depth = (H * (1 + reach) ** 2).sum() / 2
        least, most = low - depth - a, high + a
        if not (least >= -1 - 1e-12 and most <= 1 + 1e-12):
            raise ValueError(
                f"curvature={self.curvature!r} with amplitude={self.amplitude:g}: f +- a in [{least:g}, {most:g}]; "
                "allowed: within [-1, 1]"
            )

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> DriftInstance:
        """The paths of all trials, and V_T of each.

        Raises:
            ValueError: a path that leaves X^o(c_0), or the values it says.
        """
        shared = not self.path.drawn or self.environment is not None
        device = torch.device(tkwargs.get("device", "cpu"))
        if shared:
            seeds = [int(self.environment or 0)]
        elif device.type == "meta":
            seeds = [0] * trials
        else:
            seeds = draw.seeds.cpu().numpy().view(np.uint64).tolist()  # from 2^63 on they wrap
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
        """The numbers from which the centers are computed, a row a seed, or 1 where the trials share the path."""
        vary = lambda part: float(self.variation(part, horizon)[0])
        return self.path.begin(seeds, horizon, self.dim, 1 - self.margin, vary)

    def context(self, instance: DriftInstance, t: int) -> Task:
        """The set and the bounds, the same in all rounds."""
        return instance.task

    def centers(self, part: Any, t: np.ndarray, horizon: int) -> np.ndarray:
        """theta in the rounds ``t``, R x n x d or 1 x n x d."""
        return self.path.theta(np.asarray(part), t, horizon, self.dim, 1 - self.margin)

    def moves(self, part: Any, t: np.ndarray, horizon: int) -> np.ndarray:
        """Delta(t) = sup over the set of |f_{t+1} - f_t| = |c| + ||v||, dual norm, in the rounds ``t``, R x n or 1 x n."""
        H = self.diagonal
        value = lambda t: self.path.value(np.asarray(part), t, horizon)
        a, b = self.centers(part, t, horizon), self.centers(part, t + 1, horizon)
        v = H * (b - a)
        c = value(t + 1) - value(t) - ((b * b - a * a) * H).sum(-1) / 2
        size = abs(v).sum(-1) if self.cset == "box" else np.sqrt((v * v).sum(-1))
        return abs(c) + size

    def variation(self, part: Any, horizon: int) -> np.ndarray:
        """V_T, R or 1."""
        part = np.asarray(part)
        total = np.zeros(len(part))
        for t in _blocks(horizon - 1):
            total += self.moves(part, t, horizon).sum(1)
        return total

    def _check(self, part: np.ndarray, horizon: int) -> None:
        """Raise ValueError for a path of which ``_bounded`` was told something else."""
        reach, limits = 1 - self.margin, self.path.limits(part)
        for t in _blocks(horizon):
            theta = self.centers(part, t, horizon)
            norm, best = np.sqrt((theta * theta).sum(-1)), self.path.value(part, t, horizon)
            if not (norm <= reach * (1 + ROUNDING)).all():  # nor is nan
                allowed = f"centers of norm at most 1 - margin={reach:g}"
                raise_invalid("path", self.path, f"{allowed}, not {norm.max():g}")
            for (low, high), values in zip(limits.repeat(len(best) // len(limits), 0), best):
                if not (low - ROUNDING <= values.min() and values.max() <= high + ROUNDING):
                    allowed = f"values b_t from {low:g} to {high:g}, as it declares"
                    found = f"{values.min():g} to {values.max():g}"
                    raise_invalid("path", self.path, f"{allowed}, not {found}")

    def theta(self, instance: DriftInstance, t: int) -> Tensor:
        """The maximizer of round t, R x d or 1 x d."""
        return self._ahead(instance, t).theta[t % AHEAD]

    def best(self, instance: DriftInstance, t: int) -> Tensor:
        """b_t, the best value, R or 1."""
        return self._ahead(instance, t).best[t % AHEAD]

    def _ahead(self, instance: DriftInstance, t: int) -> SimpleNamespace:
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
        """y_t, R, or the gradient of f_t, R x d, at the points ``action``, R x d; and f_t's best value less f_t's there, R."""
        check_in("wants", wants, ("reward", "gradient"))
        x, H, theta, best = as_numpy_if_cpu(
            action, instance.curvature, self.theta(instance, t), self.best(instance, t)
        )
        away = x - theta
        pull = H * away
        gap = dot(pull, away) / 2
        if wants == "gradient":
            return as_tensors(-pull, gap)
        f, (u,) = best - gap, as_numpy_if_cpu(draw.uniform("reward"))
        if self.noise == "uniform":
            return as_tensors(f + self.amplitude * (2 * u - 1), gap)
        least = 0.5 if self.noise == "rademacher" else (1 + f) / 2
        sign = 2 * (u < least) - 1 + 0.0 * f
        return as_tensors(f + self.amplitude * sign if self.noise == "rademacher" else sign, gap)


class GridInstance(NamedTuple):
    """Arms, and the means of all rounds."""

    arms: Tensor  # 1 x K x 1
    means: Tensor  # R or 1 x T x K
    variation: Tensor  # R or 1, V_T = sum over t of max over arms of |f_{t+1} - f_t|


@frozen_dataclass
class GridDrift:
    """f_t(x) = b_t - (x - theta_t)^2 / 2 on K points evenly spaced in [-1, 1], with uniform noise.

    Attributes:
        path: how theta_t and b_t move.
        arms: K >= 1.
        amplitude: of the noise.
        environment: as of ``QuadraticDrift``.

    Raises:
        ValueError: a value out of range.
    """

    path: Path = STATIONARY
    arms: int = fields.size(5)
    amplitude: float = 0.1
    environment: int | None = None

    def __post_init__(self):
        self.line()  # checks the rest

    def line(self) -> QuadraticDrift:
        """The same on the whole interval."""
        return QuadraticDrift(self.path, 1, amplitude=self.amplitude, environment=self.environment)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> GridInstance:
        """The means of all arms in all rounds.

        Raises:
            ValueError: more of them than memory should hold.
        """
        paths = trials if self.path.drawn and self.environment is None else 1
        if horizon * int(self.arms) * paths > STORED:
            most = STORED // (self.arms * paths)
            raise_invalid(
                "horizon", horizon, f"at most {most} with {self.arms} arms, {paths} paths"
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
        """The arms, 1 x K x 1."""
        return instance.arms

    def respond(
        self, instance: GridInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """y_t and the best arm's mean less the played one's, R each. ``action``: R indices."""
        check_in("wants", wants, ("reward",))
        means = instance.means[:, t]
        f = take_mean(means, action)
        return f + self.amplitude * (2 * draw.uniform("reward") - 1), means.amax(1) - f
