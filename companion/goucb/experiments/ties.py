"""Why GP-UCB, GP-EI and GP-PI choose the same points on points that are not scaled: their acquisitions are constant there.

Lengthscales of the prior are near 1/3, and points of a box of side 10 in 20 dimensions are some 18 apart. All of the box but the nearest
surroundings of the observations then has the prior's mean and variance, and the first of the candidates, which all three share, is taken.
Shapes: R trials, N points, d dimensions.
"""

import numpy as np
import torch

from paperlib.core.linalg import Rows
from paperlib.core.trace import Trace
from paperlib.goucb.learners.gp import GP
from paperlib.goucb.learners.search import History
from paperlib.maths.bounds import Bounds

POINTS = 256


def tied_fraction(learner: GP, trace: Trace, side: float, rounds: int) -> np.ndarray:
    """Fraction of 256 uniform points at which the acquisition has exactly its largest value among them, R.

    Args:
        learner: whose acquisition it is.
        trace: with the points "x", R x T' x d, and answers "y", R x T', of every round.
        side: half the side of the box around 0.
        rounds: observations that the learner has.
    """
    x, y = (torch.from_numpy(trace[name][:, :rounds].copy()) for name in ("x", "y"))
    bounds = Bounds.cube(x.shape[2], side, dtype=x.dtype)
    state = History(Rows.of(bounds.scaled(x)), Rows.of(y), rounds)
    u = 2 * torch.from_numpy(np.random.default_rng(0).random((POINTS, x.shape[2]))) - 1
    points = learner._frame(bounds).native(u).unsqueeze(1).expand(-1, len(x), -1).unsqueeze(2)
    with torch.no_grad():
        value = learner.criterion(learner.fitted(state, bounds))(points)
    return (value == value.amax(0)).double().mean(0).numpy()


def agreeing_fraction(traces: list[Trace], n: int) -> np.ndarray:
    """Fraction of the rounds of Phase II in which all learners choose the same point, R. ``traces``: with the points "x"."""
    points = [trace["x"][:, n:] for trace in traces]
    return np.all([x == points[0] for x in points], axis=(0, 3)).mean(1)
