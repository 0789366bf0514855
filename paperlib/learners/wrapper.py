"""Wrappers around a base learner: their base class, the doubling trick, and a scripted warm start.

The module also has a check that trials can restart separately, and a log of restarts.
Letters: R trials, k numbers per entry of the log.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.contracts import Learner, Observed, Tags, call_optional, tags_of
from ..core.describe import frozen_dataclass
from ..core.linalg import arange_like
from ..core.streams import Draw, Streams
from ..core.trees import check_unshared, select_trials, tree_take, tree_where
from ..core.validation import raise_invalid

LOGGED = 64  # number of restarts that are logged per trial; the count has no limit


def is_learner(x: Any) -> bool:
    """Return True if ``x`` is an instance (not a class) that chooses actions."""
    return not isinstance(x, type) and hasattr(x, "init") and hasattr(x, "select")


def derived_fields_within(part: str, learner: Any) -> tuple[str, ...]:
    """Return the ``derived`` fields of a learner whose state is stored in the field ``part`` of another state."""
    return tuple(f"{part}.{name}" for name in tags_of(learner).derived)


@frozen_dataclass
class Wrapper:
    """Base class of learners around a learner ``base``, whose state is stored in the field ``base`` of a NamedTuple.

    ``select`` and the optional members of a learner are forwarded to the base. Only ``restart`` is defined by each wrapper,
    because the start of an epoch depends on the wrapper. If a wrapper's ``select`` does more than the base's, its tags must
    have ``prepares=True``.

    Attributes:
        base: any learner.

    Raises:
        ValueError: ``base`` is not a learner.
    """

    base: Learner

    def __post_init__(self):
        if not (is_learner(self.base) and hasattr(self.base, "update")):
            raise_invalid("base", self.base, "a learner with the method update")

    @property
    def wants(self) -> str:
        """Kind of feedback that the base needs."""
        return self.base.wants

    @property
    def tags(self) -> Tags:
        """Tags of the base; its derived fields are renamed to fields of the wrapper's state."""
        return tags_of(self.base)._replace(derived=derived_fields_within("base", self.base))

    @property
    def optimistic(self):
        """The base's ``optimistic(state) -> R``; the wrapper has this method only if the base has it."""
        bound = self.base.optimistic
        return lambda state: bound(state.base)

    def caution(
        self, context: Any, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return the warning of the base, or None."""
        return call_optional(self.base, "caution", context, horizon, observed)

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """Validate the values as the base does.

        Raises:
            ValueError: the base rejects the values.
        """
        call_optional(self.base, "validate", context, action, feedback)

    def select(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]:
        """Return the choice of the base, and the state with the new state of the base."""
        action, base = self.base.select(state.base, context, draw)
        return action, state._replace(base=base)

    def report(self, state: Any) -> dict[str, Tensor]:
        """Return the report of the base, R each."""
        return self.base.report(state.base) if hasattr(self.base, "report") else {}


class DoublingState(NamedTuple):
    """State of the base within an epoch, and the clock that all trials share."""

    base: Any
    rounds: int  # number of observed rounds
    epoch: int  # m; it covers the rounds 2^m .. 2^{m+1} - 1, counted from 1


@frozen_dataclass
class Doubling(Wrapper):
    """Doubling trick: make a learner that needs the horizon anytime; epoch m = 0, 1, ... runs it with horizon 2^m.

    If the base has the optional method ``restart``, that method starts each epoch and may carry information over. Any other
    base is initialized again. Reports cover the current epoch and the information that was carried over.
    Source: the doubling trick; Chen, Zhang & Karbasi (2019), Algorithm 2.

    Attributes:
        base: any learner.

    Raises:
        ValueError: ``base`` is not a learner.

    Examples:
        >>> from paperlib.learners.wrapper import Doubling
        >>> from paperlib.linear import OFUL, Circle
        >>> from paperlib.play import play
        >>> learner = Doubling(OFUL(noise=0.1, norm_bound=1.0))
        >>> play(learner, Circle(noise=0.1), horizon=20, trials=3)["regret"].shape
        (3, 20)
    """

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> DoublingState:
        """Initialize the base with horizon 1."""
        return DoublingState(self.base.init(trials, context, 1, draw, **tkwargs), 0, 0)

    def update(
        self, state: DoublingState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> DoublingState:
        """Update the base. If the next round starts an epoch, restart the base with the epoch's horizon."""
        base = self.base.update(state.base, context, action, feedback, draw)
        rounds, epoch = state.rounds + 1, state.epoch
        if rounds + 1 == 2 << epoch:  # the next round is 2^{m+1}, the first of epoch m + 1
            epoch += 1
            if hasattr(self.base, "restart"):
                base = self.base.restart(base, context, 1 << epoch, draw)
            else:
                tkwargs = {"dtype": feedback.dtype, "device": feedback.device}
                base = self.base.init(len(feedback), context, 1 << epoch, draw, **tkwargs)
        return DoublingState(base, rounds, epoch)


class Script(NamedTuple):
    """State of the base, initial state of the learner that chooses the first actions, and the clock."""

    base: Any
    script: Any
    rounds: int  # number of observed rounds


@frozen_dataclass
class Scripted(Wrapper):
    """Warm start or fixed design: another learner chooses the first actions, and the base observes every round.

    Attributes:
        base: any learner that can learn from actions that it did not choose.
        actions: the learner that chooses the first actions. It receives no feedback; for example, use ``UniformArm``.
        rounds: number of rounds where ``actions`` chooses.

    Raises:
        ValueError: ``base`` or ``actions`` is not a learner, or ``base`` learns only from actions that it chose.

    Examples:
        >>> from paperlib.learners.reference import UniformArm
        >>> from paperlib.learners.wrapper import Scripted
        >>> from paperlib.linear import OFUL, Circle
        >>> from paperlib.play import play
        >>> learner = Scripted(OFUL(noise=0.1, norm_bound=1.0), UniformArm(count=3), rounds=5)
        >>> play(learner, Circle(noise=0.1), horizon=20, trials=2)["regret"].shape
        (2, 20)
    """

    actions: Learner
    rounds: int = fields.whole(least=0)

    def __post_init__(self):
        super().__post_init__()
        if not self.tags.own_actions:
            raise ValueError(
                f"base must be a learner that can learn from actions of other learners, got {self.base!r}"
            )
        if not is_learner(self.actions):
            raise_invalid("actions", self.actions, "a learner")

    @property
    def tags(self) -> Tags:
        """Tags of the base, with the derived fields of ``actions`` added.

        The arms must be fixed if either learner requires it.
        """
        base = super().tags
        return base._replace(
            fixed_arms=base.fixed_arms or tags_of(self.actions).fixed_arms,
            derived=base.derived + derived_fields_within("script", self.actions),
        )

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """Validate the values as the base and ``actions`` do.

        Raises:
            ValueError: one of the two learners rejects the values.
        """
        super().validate(context, action, feedback)
        call_optional(self.actions, "validate", context, None, None)

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> Script:
        """Return the states of the base and of ``actions``; the latter never changes."""
        begin = lambda learner: learner.init(trials, context, horizon, draw, **tkwargs)
        return Script(begin(self.base), begin(self.actions), 0)

    def select(self, state: Script, context: Any, draw: Draw) -> tuple[Tensor, Script]:
        """Return R arm indices, chosen by ``actions`` in the first ``rounds`` rounds and by the base afterwards."""
        # The base chooses in every round, because its update may need values that its choice computes.
        action, state = super().select(state, context, draw)
        if state.rounds < self.rounds:
            action, _ = self.actions.select(state.script, context, draw)
        return action, state

    def update(
        self, state: Script, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> Script:
        """Update the base in every round, whichever learner chose the action."""
        base = self.base.update(state.base, context, action, feedback, draw)
        return Script(base, state.script, state.rounds + 1)


def check_restart(
    base: Any, state: Any, trials: int, context: Any, **tkwargs
) -> tuple[Any, Any, Any, Draw]:
    """Check that the trials of a base learner can restart separately.

    The check restarts R + 1 trials with their own random streams. The reason is that with one trial a shared row cannot be
    distinguished from the trial's own row, and with two trials a tensor may have two rows by chance.

    Args:
        base: the learner.
        state: the state that ``init`` returns for R = ``trials``.
        trials: R.
        context: context of the first round.

    Returns:
        The learner, the context, the fresh state and the draws, each for R + 1 trials.

    Raises:
        ValueError: a leaf of the state is not a tensor with one row per trial, or ``restart`` returns another kind of state.
    """
    name, rows = type(base).__name__, [*range(trials), 0]
    base, context, count = (
        select_trials(base, rows, name="base"),
        tree_take(context, rows),
        len(rows),
    )
    device, dtype = tkwargs.get("device", "cpu"), tkwargs.get("dtype", torch.float64)
    streams = Streams(0, range(count), device, dtype)
    probe = base.init(count, context, None, streams.at(-1), **tkwargs)
    check_unshared(name, probe, count)
    check_unshared(name, state, trials)
    draw = streams.at(0)
    fresh = base.restart(probe, context, None, draw)
    check_unshared(name, fresh, count)
    try:
        tree_where(torch.ones(count, dtype=torch.bool, device=device), fresh, probe)
    except ValueError as error:
        raise ValueError(
            f"base.restart must return a state of the same structure as the current one, got base={name}: {error}"
        ) from error
    return base, context, fresh, draw


def empty_log(trials: int, *entry: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return an empty log: the count, R int64, and the log, R x LOGGED (x k) int64."""
    zeros = lambda *shape: torch.zeros(trials, *shape, dtype=torch.int64, device=device)
    return zeros(), zeros(LOGGED, *entry)


def log_restart(count: Tensor, log: Tensor, entry: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the count and the log after a restart in the trials of ``mask``, R bool. ``entry``: R (x k)."""
    # Entry number ``count`` is the next free one. Beyond LOGGED restarts no entry matches, and only the count goes on.
    here = (arange_like(LOGGED, log) == count[:, None]) & mask[:, None]
    here = here.reshape(*here.shape, *[1] * (log.dim() - 2))
    return count + mask, torch.where(here, entry[:, None], log)


def count_restarts(count: Tensor) -> dict[str, Tensor]:
    """Return the number of ``restarts``, and whether they ``overflow`` the log, R each."""
    return {"restarts": count, "overflow": count > LOGGED}
