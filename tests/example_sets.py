"""One convex set of each kind, for tests of the sets and of learners on them."""

import numpy as np
import torch

from paperlib.maths.matrices import NuclearBall, Spectrahedron
from paperlib.maths.polytopes import polytope
from paperlib.maths.sets import Ball, SubSimplex, oracle_set

TKWARGS = {"dtype": torch.float64, "device": "cpu"}


def packings(trials, n, rows, seed=0, most=20_000):
    """Return sets {x: 0 <= x <= 1, A x <= 1} with a different A in each trial."""
    A = np.random.default_rng(seed).random((trials, rows, n))
    axes = np.broadcast_to(np.eye(n), (trials, n, n))
    C = np.concatenate([-axes, axes, A], 1)
    return polytope(
        C,
        np.concatenate([np.zeros((trials, n)), np.ones((trials, n + rows))], 1),
        most=most,
        **TKWARGS,
    )


def l1_oracle(c):
    """Return argmin <c, x> over the l1 ball."""
    x = np.zeros(len(c))
    i = np.abs(c).argmax()
    x[i] = -np.sign(c[i])
    return x


def l1_ball(n):
    return oracle_set(l1_oracle, np.zeros(n), 1 / np.sqrt(n))


TRIANGLE = polytope([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [0.0, 0.0, 1.0])
SETS = {
    "ball": Ball.of(4),
    "interval": Ball.of(1),
    "sub-simplex": SubSimplex.of(5),
    "one stock": SubSimplex.of(1),
    "packings": packings(3, 4, 3),
    "triangle": TRIANGLE,
    "segment": polytope([[-2.0], [1.0]], [0.0, 3.0]),
    "packings by programs": packings(3, 4, 3, most=0),
    "nuclear": NuclearBall.of(4, 3.0),
    "one by one": NuclearBall.of(1, 2.0),
    "trace": Spectrahedron.of(4, 3.0),
    "one by one, trace": Spectrahedron.of(1, 2.0),
}
