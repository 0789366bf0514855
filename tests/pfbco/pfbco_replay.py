"""Short runs of learners with one-point estimates, recorded round by round, and sets to run them on."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from companion.pfbco.proofs.replay import Replay
from paperlib.core.streams import Streams
from paperlib.maths.matrices import NuclearBall, Spectrahedron
from paperlib.maths.polytopes import polytope
from paperlib.maths.sets import Ball, SubSimplex
from paperlib.pfbco.model import Task

F64 = {"dtype": torch.float64}


def _polytope():
    """Return a random polytope in three dimensions for each of two trials."""
    A = np.random.default_rng(3).uniform(size=(2, 4, 3))
    C = np.concatenate(
        [np.broadcast_to(-np.eye(3), (2, 3, 3)), np.broadcast_to(np.eye(3), (2, 3, 3)), A], 1
    )
    return polytope(C, np.concatenate([np.zeros((2, 3)), np.ones((2, 7))], 1), **F64)


SETS = {
    "interval": lambda: Ball.of(1, **F64),
    "ball": lambda: Ball.of(3, **F64),
    "subsimplex": lambda: SubSimplex.of(4, **F64),
    "polytope": _polytope,
    "nuclear": lambda: NuclearBall.of(3, 2.0, **F64),
    "psd": lambda: Spectrahedron.of(3, 2.0, **F64),
}


class Played(NamedTuple):
    """A run: its replay, the loss vectors, the learner's context, and the learner's sums and centers."""

    run: Replay
    a: Tensor  # R x T x n
    task: Task
    A: Tensor  # R x T x n, the learner's sum before each round
    # R x (T + 1) x n, centers of the learner, the last one after the run; the leaders if it computes them
    star: Tensor


def linear_task(cset) -> Task:
    """Return the context of losses <a_t, y> with ||a_t|| = 1: G = 1 and M = R."""
    return Task(cset, cset.R.clone(), torch.ones(1, **F64))


def record(
    learner, cset, horizon: int, trials: int = 2, loss=None, seed: int = 0, task: Task | None = None
) -> Played:
    """Play linear losses with a new unit vector a_t per round; ``loss``, a function of a_t and y, replaces the loss."""
    task = task or linear_task(cset)
    streams = Streams(seed, range(trials))
    state = first = learner.init(trials, task, horizon, streams.at(-1), **F64)
    kept = {name: [] for name in ("x", "y", "loss", "a", "A")}
    for t in range(horizon):
        draw = streams.at(t)
        a = draw.sphere("loss", cset.dim)
        y, state = learner.select(state, task, draw)
        f = (a * y).sum(1) if loss is None else loss(a, y)
        for name, value in (("x", state.x), ("y", y), ("loss", f), ("a", a), ("A", state.A)):
            kept[name].append(value)
        state = learner.update(state, task, y, f, draw)
    x, y, f, a, A = (torch.stack(kept[name], 1) for name in ("x", "y", "loss", "a", "A"))
    return Played(
        Replay(cset, x, y, f, first.eta, first.delta, first.alpha),
        a,
        task,
        A,
        torch.cat([x, state.x.unsqueeze(1)], 1),
    )
