"""Losses as large as they may be. Letters: R trials, n dimensions."""

from typing import Any

import torch
from torch import Tensor

from ...core.contracts import Problem
from ...core.describe import frozen
from ...core.streams import Draw
from ...core.validation import one_of, refuse


@frozen
class Loud:
    """The sets of a problem under the constant loss M: the longest estimates that are legal, of which none says anything.

    Attributes:
        problem: whose world has ``task``.
    """

    problem: Problem

    def __post_init__(self):
        if isinstance(self.problem, type) or not hasattr(self.problem, "respond"):
            refuse("problem", self.problem, "a problem")

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> Any:
        """The problem's world."""
        return self.problem.init(trials, horizon, draw, **tkwargs)

    def context(self, world: Any, t: int) -> Any:
        """The problem's."""
        return self.problem.context(world, t)

    def respond(
        self, world: Any, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """M, R, or the gradient 0, R x n; and a regret of 0, for all points are alike."""
        one_of("wants", wants, ("loss", "gradient"))
        loss = world.task.loss_bound.expand(len(action)).clone()
        return (loss if wants == "loss" else torch.zeros_like(action)), torch.zeros_like(loss)
