"""Losses on the unit ball with a known minimizer, used to test the regret theorems.

These problems are our addition; the paper has no such experiment. Each trial has one loss, the same in all rounds, drawn from
its streams (purpose "problem"). Therefore ``gap`` is the regret of the round.
Shapes: R trials, n dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw, Streams
from ...core.validation import check_in
from ...maths.sets import Ball
from ..model import Task


class BallInstance(NamedTuple):
    """The ball, and the vector that defines the loss."""

    task: Task
    streams: Streams
    vector: Tensor  # R x n, a or z
    least: Tensor  # 1 or R, minimum of the loss over the ball
    best: Tensor  # R x n, the minimizer


class _OnBall:
    """Base class of the two problems. Subclasses are frozen dataclasses with ``dim``, and define ``values``: loss and gradient."""

    def context(self, instance: BallInstance, t: int) -> Task:
        """Return the ball with M and G, the same in all rounds."""
        return instance.task

    def respond(
        self, instance: BallInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the loss, R, or its gradient, R x n, at the points ``action``, R x n; and f(y) - min f, R."""
        check_in("wants", wants, ("loss", "gradient"))
        loss, gradient = self.values(instance, action)
        return (loss if wants == "loss" else gradient), loss - instance.least


@frozen_dataclass
class BallLinear(_OnBall):
    """Linear loss f(y) = <a, y> on the unit ball, with a uniform on the unit sphere: M = G = 1, and the minimum is -1.

    Attributes:
        dim: n.

    Raises:
        ValueError: ``dim`` below 1.

    Examples:
        >>> from paperlib.pfbco import BallLinear, Doubling, PFBCO
        >>> from paperlib.play import play
        >>> trace = play(Doubling(PFBCO(0.5)), BallLinear(3), horizon=64, trials=2)
        >>> bool((trace.last() <= 2 * 64).all())  # regret is at most 2 M T
        True
    """

    dim: int = fields.size(2)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BallInstance:
        """Draw a, and return it with the ball."""
        a, one = draw.sphere("problem", self.dim), torch.ones(1, **tkwargs)
        return BallInstance(Task(Ball.of(self.dim, **tkwargs), one, one), draw.streams, a, -one, -a)

    def values(self, instance: BallInstance, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return <a, y>, R, and a, R x n. ``y``: R x n."""
        return (instance.vector * y).sum(-1), instance.vector


@frozen_dataclass
class BallQuadratic(_OnBall):
    """Quadratic loss f(y) = ||y - z||^2 / 2 on the unit ball, with z uniform on a sphere: M = (1 + ||z||)^2 / 2, G = 1 + ||z||.

    Attributes:
        dim: n.
        distance: ||z|| >= 0; above 1 the minimizer is on the ball's surface.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.pfbco import BallQuadratic, Doubling, PFBCO
        >>> from paperlib.play import play
        >>> trace = play(Doubling(PFBCO(0.5)), BallQuadratic(3, distance=0.0), horizon=64, trials=2)
        >>> bool((trace.last() <= 64 / 2).all())  # no point of the ball has a loss above 1/2
        True
    """

    dim: int = fields.size(2)
    distance: float = fields.nonnegative(0.5)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BallInstance:
        """Draw z, and return it with the ball."""
        cset, direction = Ball.of(self.dim, **tkwargs), draw.sphere("problem", self.dim)
        number = lambda x: torch.full((1,), x, **tkwargs)
        # The largest loss is at -z / ||z||, and the smallest at z or, if ||z|| > 1, at z / ||z||.
        reach, beyond = 1 + self.distance, max(self.distance - 1, 0.0)
        task = Task(cset, number(reach**2 / 2), number(reach))
        z, best = self.distance * direction, min(self.distance, 1.0) * direction
        return BallInstance(task, draw.streams, z, number(beyond**2 / 2), best)

    def values(self, instance: BallInstance, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return ||y - z||^2 / 2, R, and y - z, R x n. ``y``: R x n."""
        away = y - instance.vector
        return (away**2).sum(-1) / 2, away
