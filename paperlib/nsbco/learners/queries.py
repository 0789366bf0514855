"""What learners have in common that make their own queries and hear the values of f_t there."""

from typing import Any

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen
from ...core.streams import Draw
from ..model.task import Task, check_round


class OwnQueries:
    """An answer is credited to the query that was made, and no other can be told."""

    wants = "reward"
    tags = Tags(own_actions=False)

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task, points and answers against the model.

        Raises:
            ValueError: what is no task, a point outside the set, or answers outside [-1, 1].
        """
        check_round(task, action, y)


class FromZero(OwnQueries):
    """Begins and restarts at 0; ``_begin`` of a subclass makes the state that stands at a point."""

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> Any:
        """Return the state at 0; the horizon is not used."""
        return self._begin(torch.zeros(trials, task.cset.dim, **tkwargs))

    def restart(self, state: Any, task: Task, horizon: int | None, draw: Draw) -> Any:
        """Return the state at 0; a difference that is not complete is lost."""
        return self._begin(torch.zeros_like(state.z))


@frozen
class FiniteDifferences(FromZero):
    """Stochastic approximation by finite differences.

    Attributes:
        gain: K > 0, a number or one per trial; None: what the subclass takes in its place.
        h: > 0, of the width of a difference.

    Raises:
        ValueError: a value out of range.
    """

    gain: float | Tensor | None = fields.positive(None, by_trial=True, optional=True)
    h: float = fields.positive(0.25)
