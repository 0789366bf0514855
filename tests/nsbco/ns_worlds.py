"""Small problems for tests of learners, written independently of the package's problems."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from paperlib.maths.sets import Ball, Box
from paperlib.nsbco.model.task import Task


def changes(horizon, segments, environment):
    """Return the rounds in which theta changes sign, with gaps of at least T / (2 S) rounds."""
    share = np.random.default_rng(environment).dirichlet(np.ones(segments))
    gaps = horizon / (2 * segments) + horizon / 2 * share
    return np.floor(np.cumsum(gaps)[:-1]).astype(int)


class Line(NamedTuple):
    task: Task
    at: torch.Tensor  # R x (S - 1) or 1 x (S - 1), rounds in which theta changes sign
    horizon: int


@dataclass(frozen=True)
class Flips:
    """f_t(x) = 1/2 - sigma / 2 ||x - theta_t||^2 with theta_t = +-A e_1, A = 1 - c_0, and S - 1 sign changes; uniform noise.

    ``environment``: seed of the change points; None: the trial's seed. ``at``: the change points. ``V``: variation in the task, by
    seed. ``turn``: theta rotates with this variation instead. ``rows``: every number of the task has one row per trial.
    """

    d: int = 2
    S: int = 3
    environment: int | None = 0
    noise: float = 0.1
    margin: float = 0.5
    sigma: float = 1.0
    L: float = 2.0
    box: bool = False
    at: tuple[int, ...] | None = None
    V: tuple[float, ...] | None = None
    turn: float | None = None
    rows: bool = False

    def init(self, trials, horizon, draw, **tkwargs):
        one = lambda x: torch.full((1,), float(x), **tkwargs)
        V = one(
            2 * (1 - self.margin) * self.sigma * (self.S - 1) if self.turn is None else self.turn
        )
        if self.V is not None:
            V = torch.tensor(self.V, **tkwargs)[draw.seeds % len(self.V)]
        cset = (Box if self.box else Ball).of(self.d, **tkwargs)
        numbers = (one(self.margin), one(self.L), one(self.sigma), V)
        task = Task(cset, *(x.expand(trials) if self.rows else x for x in numbers))
        if self.at is not None:
            at = np.array([self.at], int).reshape(1, -1)
        else:
            seeds = [self.environment] if self.environment is not None else draw.seeds.tolist()
            at = np.stack([changes(horizon, self.S, seed) for seed in seeds])
        return Line(task, torch.from_numpy(at).to(tkwargs.get("device", "cpu")), horizon)

    def context(self, instance, t):
        return instance.task

    def theta(self, instance, t, like):
        A, theta = 1 - self.margin, torch.zeros_like(like)
        if self.turn is not None:
            phi = np.linspace(0.0, 1.0, instance.horizon)[t] * self.turn / A
            theta[:, 0], theta[:, 1] = A * np.cos(phi), A * np.sin(phi)
        else:
            theta[:, 0] = A * (1 - 2 * ((instance.at <= t).sum(1) % 2)).to(like)
        return theta

    def respond(self, instance, t, x, wants, draw):
        away = x - self.theta(instance, t, x)
        gap = self.sigma / 2 * away.square().sum(1)
        if wants == "gradient":
            return -self.sigma * away, gap
        return 0.5 - gap + self.noise * (2 * draw.uniform("reward") - 1), gap


class Points(NamedTuple):
    arms: torch.Tensor  # 1 x K x 1
    line: Line


@dataclass(frozen=True)
class Grid:
    """``Flips`` in one dimension on K points evenly spaced in [-1, 1]; actions are indices."""

    K: int = 5
    S: int = 3
    environment: int | None = 0

    def init(self, trials, horizon, draw, **tkwargs):
        line = Flips(1, self.S, self.environment).init(trials, horizon, draw, **tkwargs)
        return Points(torch.linspace(-1.0, 1.0, self.K, **tkwargs)[None, :, None], line)

    def context(self, instance, t):
        return instance.arms

    def respond(self, instance, t, arm, wants, draw):
        problem, best = Flips(1, self.S, self.environment), None
        for k in range(self.K):
            x = instance.arms[0, k].expand(len(arm), 1)
            gap = problem.respond(instance.line, t, x, wants, draw)[1]
            best = gap if best is None else torch.minimum(best, gap)
        y, gap = problem.respond(instance.line, t, instance.arms[0, arm], wants, draw)
        return y, gap - best
