"""Losses on the unit ball whose best point is known: the setting in which the theorem is tested.

Ours: the paper has no experiment of this kind. Each trial has one loss, the same in all rounds, drawn from its streams
(purpose "problem"); ``gap`` is the regret of the round.
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
    """The ball, and the vector that makes the loss."""

    task: Task
    streams: Streams
    vector: Tensor  # R x n, a or z
    least: Tensor  # 1 or R, min over the ball of the loss
    best: Tensor  # R x n, where it is attained


class _OnBall:
    """What the two problems share. Subclasses are frozen dataclasses with ``dim``, and give ``values``: loss and gradient."""

    def context(self, instance: BallInstance, t: int) -> Task:
        """The ball with M and G, the same in all rounds."""
        return instance.task

    def respond(
        self, instance: BallInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Loss, R, or gradient, R x n, at the points ``action``, R x n; and f(y) - min f, R."""
        check_in("wants", wants, ("loss", "gradient"))
        loss, gradient = self.values(instance, action)
        return (loss if wants == "loss" else gradient), loss - instance.least


@frozen_dataclass
class BallLinear(_OnBall):
    """f(y) = <a, y> with a uniform on the unit sphere: M = G = 1, and the least value is -1.

    Attributes:
        dim: n.

    Raises:
        ValueError: ``dim`` below 1.
    """

    dim: int = fields.size(2)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BallInstance:
        """The ball, and a."""
        a, one = draw.sphere("problem", self.dim), torch.ones(1, **tkwargs)
        return BallInstance(Task(Ball.of(self.dim, **tkwargs), one, one), draw.streams, a, -one, -a)

    def values(self, instance: BallInstance, y: Tensor) -> tuple[Tensor, Tensor]:
        """<a, y>, R, and a, R x n. ``y``: R x n."""
        return (instance.vector * y).sum(-1), instance.vector


@frozen_dataclass
class BallQuadratic(_OnBall):
    """f(y) = ||y - z||^2 / 2 with z uniform on a sphere: M = (1 + ||z||)^2 / 2 and G = 1 + ||z||.

    Attributes:
        dim: n.
        distance: ||z|| >= 0; above 1 the best point lies on the ball's surface.

    Raises:
        ValueError: a value out of range.
    """

    dim: int = fields.size(2)
    distance: float = fields.nonnegative(0.5)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BallInstance:
        """The ball, and z."""
        cset, direction = Ball.of(self.dim, **tkwargs), draw.sphere("problem", self.dim)
        number = lambda x: torch.full((1,), x, **tkwargs)
        reach, beyond = 1 + self.distance, max(self.distance - 1, 0.0)
        task = Task(cset, number(reach**2 / 2), number(reach))
        z, best = self.distance * direction, min(self.distance, 1.0) * direction
        return BallInstance(task, draw.streams, z, number(beyond**2 / 2), best)

    def values(self, instance: BallInstance, y: Tensor) -> tuple[Tensor, Tensor]:
        """||y - z||^2 / 2, R, and y - z, R x n. ``y``: R x n."""
        away = y - instance.vector
        return (away**2).sum(-1) / 2, away
