"""Restart a learner at fixed times. A good restart interval requires knowing the total variation V_T.

Source: Besbes, Gur & Zeevi (2015), "Non-stationary stochastic optimization", batches of length (T / V_T)^{2/3}. The baselines
with oracle restarts in our figures are this wrapper around Algorithm 2, ``EGS`` and ``KieferWolfowitz``.
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

GUARD = 1e-6  # tolerance for the rounding error of a length that is rounded up


class RestartedState(NamedTuple):
    """State of the base, and the length of its batches."""

    base: Any
    length: Tensor  # R int64, B, rounds of a batch
    rounds: int  # observed rounds


def batch_length(
    variation: Tensor, horizon: int | None, kappa: float | Tensor = 1.0, needs: str = "Restarted"
) -> Tensor:
    """Return the batch length B = ceil((T / (kappa V_T))^{2/3}), at most T, and T in stationary trials; int64, R or 1.

    Args:
        variation: V_T, R or 1.
        horizon: T.
        kappa: ratio of the assumed to the true V_T, a number or R.
        needs: name of the caller in the error message.

    Raises:
        ValueError: no horizon.
    """
    if horizon is None:
        raise_invalid("horizon", horizon, f"a number of rounds, because {needs} requires it")
    horizon = check_integer("horizon", horizon)
    drift = kappa * variation
    # Departure: a guard is subtracted, because the rounding error of the sum V_T could turn 1024 rounds into 1025.
    length = torch.ceil((horizon / torch.where(drift > 0, drift, 1.0)) ** (2 / 3) - GUARD)
    length = torch.where(drift > 0, length, float(horizon))
    return length.clamp(1, horizon).to(torch.int64)


def fresh_state(base: Any, trials: int, context: Any, draw: Draw, **tkwargs) -> Any:
    """Return the base's state for R trials that restart independently. It gets no horizon, because batches are shorter than the run.

    Raises:
        ValueError: a base whose trials share a part of the state, or whose ``restart`` returns a state of another structure.
    """
    state = base.init(trials, context, None, draw, **tkwargs)
    check_restart(base, state, trials, context, **tkwargs)
    return state


@frozen_dataclass
class Restarting(Wrapper):
    """Base class of wrappers that restart their base in ``select`` and have a ``Task`` as context.

    Attributes:
        base: a learner with ``restart``, whose state consists of tensors with R rows.

    Raises:
        ValueError: a base that cannot be restarted.
    """

    def __post_init__(self):
        super().__post_init__()
        if not hasattr(self.base, "restart"):
            kind = type(self.base).__name__
            raise_invalid(
                "base", self.base, f"a learner with the method restart, which {kind} lacks"
            )

    @property
    def tags(self) -> Tags:
        """The base's tags with ``prepares=True``, because a batch begins in ``select``."""
        return super().tags._replace(prepares=True)

    def validate(self, task: Task, action: Tensor | None, feedback: Tensor | None) -> None:
        """Check the task, which determines the batch length, and run the checks of the base.

        Raises:
            ValueError: a context that is not a ``Task``, or an error of the base.
        """
        check_task(task)
        super().validate(task, action, feedback)


@frozen_dataclass
class Restarted(Restarting):
    """Restart the base every B = (T / (kappa V_T))^{2/3} rounds; kappa = 1 is the choice of an oracle that knows V_T.

    Without drift, the regret of a batch of B rounds is of order sqrt(B), which is T / sqrt(B) for all batches. Drift adds at most
    B V_T. The chosen B makes both terms equal.

    Attributes:
        base: a learner with ``restart``, whose state consists of tensors with R rows.
        kappa: > 0, ratio of the assumed to the true V_T. A number or one per trial.

    Raises:
        ValueError: a value out of range, or a base that cannot be restarted.

    Examples:
        >>> from paperlib.nsbco import Abrupt, GradientAscent, QuadraticDrift, Restarted
        >>> from paperlib.play import play
        >>> problem = QuadraticDrift(Abrupt(3))
        >>> run = lambda learner: play(learner, problem, 800, 4)["regret"][:, -1].mean()
        >>> bool(run(Restarted(GradientAscent())) < run(GradientAscent()))
        True
    """

    kappa: float | Tensor = fields.positive(1.0, by_trial=True)

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> RestartedState:
        """Return the state before the first batch; V_T is ``task.variation``.

        Raises:
            ValueError: no horizon, or a base whose trials share a part of the state.
        """
        length = batch_length(task.variation, horizon, self.kappa).expand(trials)
        return RestartedState(fresh_state(self.base, trials, task, draw, **tkwargs), length, 0)

    def select(
        self, state: RestartedState, task: Task, draw: Draw
    ) -> tuple[Tensor, RestartedState]:
        """Restart the base in trials whose batch is over, and return its action, R x d."""
        # This is also true in round 0, so that the first batch starts with a restart like all others.
        base, over = state.base, state.rounds % state.length == 0
        if any_or_unknown(over):
            base = tree_where(over, self.base.restart(base, task, None, draw), base)
        action, base = self.base.select(base, task, draw)
        return action, RestartedState(base, state.length, state.rounds)

    def update(
        self, state: RestartedState, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> RestartedState:
        """Update the base. ``feedback``: R."""
        base = self.base.update(state.base, task, action, feedback, draw)
        return RestartedState(base, state.length, state.rounds + 1)

    def report(self, state: RestartedState) -> dict[str, Tensor]:
        """Return the ``batch`` length and the base's report, R each."""
        return super().report(state) | {"batch": state.length}
