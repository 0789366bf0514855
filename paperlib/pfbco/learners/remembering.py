"""A learner that remembers where its last epoch ended, which a new epoch forgets.

Shapes: R trials, n dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core.describe import frozen
from ...core.streams import Draw
from ...learners.wrapper import Wrapper
from ..model.task import Task
from .onepoint import State


class Remembered(NamedTuple):
    """The base's state, and what its centers came to."""

    base: State
    total: Tensor  # R x n, sum of the centers of this epoch
    last: Tensor  # R x n, where the last finished epoch ended; before the first, x_1
    mean: Tensor  # R x n, mean of its centers; before the first, x_1

    def so_far(self) -> tuple[Tensor, Tensor]:
        """The center, and the mean of the centers, of the epoch that is running; R x n each."""
        rounds = self.base.rounds
        return self.base.x, self.total / rounds if rounds else self.base.x


@frozen
class Remembering(Wrapper):
    """Plays as its base and remembers the centers of its last finished epoch. To stand within ``Doubling``.

    Attributes:
        base: a learner whose state has a center ``x`` and counts the ``rounds`` of its epoch.
    """

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> Remembered:
        """The base's, with nothing finished."""
        state = self.base.init(trials, task, horizon, draw, **tkwargs)
        return Remembered(state, torch.zeros_like(state.x), state.x, state.x)

    def select(self, state: Remembered, task: Task, draw: Draw) -> tuple[Tensor, Remembered]:
        """The base's choice."""
        action, base = self.base.select(state.base, task, draw)
        return action, state._replace(base=base)

    def update(
        self, state: Remembered, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> Remembered:
        """The base hears; the center of the round is added up."""
        base = self.base.update(state.base, task, action, feedback, draw)
        return state._replace(base=base, total=state.total + state.base.x)

    def restart(self, state: Remembered, task: Task, horizon: int, draw: Draw) -> Remembered:
        """A new epoch of the base; what the old one came to is kept."""
        base = self.base.restart(state.base, task, horizon, draw)
        return Remembered(base, torch.zeros_like(state.total), *state.so_far())
