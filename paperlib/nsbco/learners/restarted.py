"""A learner begun anew at fixed times, which nobody can choose well who does not know how much the world drifts.

Source: Besbes, Gur & Zeevi (2015), "Non-stationary stochastic optimization", batches of length (T / V_T)^{2/3}; baselines
rA2, rEGS and rKW of our figures are this around Algorithm 2, ``EGS`` and ``KieferWolfowitz``.
Shapes: R trials.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.linalg import any_or_unknown
from ...core.streams import Draw
from ...core.trees import tree_where
from ...core.validation import check_integer, raise_invalid
from ...learners.wrapper import Wrapper, check_restart
from ..model.task import Task, check_task

GUARD = 1e-6  # what rounding may add to a length that is rounded up


class RestartedState(NamedTuple):
    """The base's state, and where its batches end."""

    base: Any
    length: Tensor  # R int64, B, rounds of a batch
    rounds: int  # rounds heard


def batch_length(
    variation: Tensor, horizon: int | None, kappa: float | Tensor = 1.0, needs: str = "Restarted"
) -> Tensor:
    """B = ceil((T / (kappa V_T))^{2/3}), at most T, and T where nothing drifts; int64, R or 1.

    Args:
        variation: V_T, R or 1.
        horizon: T.
        kappa: how wrong V_T is taken to be, a number or R.
        needs: who asks, for the error.

    Raises:
        ValueError: no horizon.
    """
    if horizon is None:
        raise_invalid("horizon", horizon, f"a number of rounds: {needs} needs it")
    horizon = check_integer("horizon", horizon)
    drift = kappa * variation
    # Departure: less a guard, since V_T is a sum whose rounding would make 1025 rounds of 1024.
    length = torch.ceil((horizon / torch.where(drift > 0, drift, 1.0)) ** (2 / 3) - GUARD)
    length = torch.where(drift > 0, length, float(horizon))
    return length.clamp(1, horizon).to(torch.int64)


def fresh_state(base: Any, trials: int, context: Any, draw: Draw, **tkwargs) -> Any:
    """The base's state for R trials that begin anew apart, without a horizon: no epoch lasts for all rounds.

    Raises:
        ValueError: a base whose trials share something, or whose ``restart`` returns another kind of state.
    """
    state = base.init(trials, context, None, draw, **tkwargs)
    check_restart(base, state, trials, context, **tkwargs)
    return state


@frozen_dataclass
class Restarting(Wrapper):
    """A wrapper that restarts its base in ``select`` and asks for a ``Task``.

    Attributes:
        base: a learner with ``restart``, whose state holds tensors of R rows alone.

    Raises:
        ValueError: a base that cannot be restarted.
    """

    def __post_init__(self):
        super().__post_init__()
        if not hasattr(self.base, "restart"):
            kind = type(self.base).__name__
            raise_invalid("base", self.base, f"a learner with restart, which {kind} lacks")

    @property
    def tags(self) -> Tags:
        """The base's; a batch begins in ``select``."""
        return super().tags._replace(prepares=True)

    def validate(self, task: Task, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base validates, and the task, which sets the length of a batch.

        Raises:
            ValueError: a context that is no ``Task``, or as the base.
        """
        check_task(task)
        super().validate(task, action, feedback)


@frozen_dataclass
class Restarted(Restarting):
    """The base, begun anew every B = (T / (kappa V_T))^{2/3} rounds: with kappa = 1 an oracle's choice.

    A batch of B rounds costs order sqrt(B) where nothing drifts, and all batches together at most B V_T for drift: this B
    makes T / sqrt(B) equal to B V_T.

    Attributes:
        base: a learner with ``restart``, whose state holds tensors of R rows alone.
        kappa: > 0, how many times the true V_T is assumed. A number or one a trial.

    Raises:
        ValueError: a value out of range, or a base that cannot begin anew.
    """

    kappa: float | Tensor = fields.positive(1.0, by_trial=True)

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> RestartedState:
        """Before the first batch; V_T is ``task.variation``.

        Raises:
            ValueError: no horizon, or a base whose trials share something.
        """
        length = batch_length(task.variation, horizon, self.kappa).expand(trials)
        return RestartedState(fresh_state(self.base, trials, task, draw, **tkwargs), length, 0)

    def select(
        self, state: RestartedState, task: Task, draw: Draw
    ) -> tuple[Tensor, RestartedState]:
        """Begin a batch where one is over; the base's choice, R x d."""
        base, over = state.base, state.rounds % state.length == 0
        if any_or_unknown(over):
            base = tree_where(over, self.base.restart(base, task, None, draw), base)
        action, base = self.base.select(base, task, draw)
        return action, RestartedState(base, state.length, state.rounds)

    def update(
        self, state: RestartedState, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> RestartedState:
        """The base hears. ``feedback``: R."""
        base = self.base.update(state.base, task, action, feedback, draw)
        return RestartedState(base, state.length, state.rounds + 1)

    def report(self, state: RestartedState) -> dict[str, Tensor]:
        """The ``batch`` length, and what the base reports, R each."""
        return super().report(state) | {"batch": state.length}
