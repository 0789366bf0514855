"""Learners around one learner: their base class, two of them, a check that trials can restart apart, and a log of restarts.

Letters: R trials, k numbers of an entry of the log.
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

LOGGED = 64  # restarts that are logged by trial; the count goes on


def is_learner(x: Any) -> bool:
    """Whether ``x`` is an instance that chooses actions."""
    return not isinstance(x, type) and hasattr(x, "init") and hasattr(x, "select")


def derived_fields_within(part: str, learner: Any) -> tuple[str, ...]:
    """The ``derived`` fields of a learner whose state is the field ``part`` of another state."""
    return tuple(f"{part}.{name}" for name in tags_of(learner).derived)


@frozen_dataclass
class Wrapper:
    """A learner around ``base``, whose state it keeps as ``state.base``.

    The optional members of a learner are the base's. ``restart`` is defined by each wrapper, because how an epoch begins depends
    on it. A wrapper whose ``select`` does more than its base's returns tags with ``prepares=True``.

    Attributes:
        base: any learner.

    Raises:
        ValueError: a base that is no learner.
    """

    base: Learner

    def __post_init__(self):
        if not (is_learner(self.base) and hasattr(self.base, "update")):
            raise_invalid("base", self.base, "a learner")

    @property
    def wants(self) -> str:
        """What the base hears."""
        return self.base.wants

    @property
    def tags(self) -> Tags:
        """The base's; derived fields are within the state of the wrapper."""
        return tags_of(self.base)._replace(derived=derived_fields_within("base", self.base))

    @property
    def optimistic(self):
        """The base's ``optimistic(state) -> R``; like the base, the wrapper may have none."""
        bound = self.base.optimistic
        return lambda state: bound(state.base)

    def caution(
        self, context: Any, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """What the base would warn of."""
        return call_optional(self.base, "caution", context, horizon, observed)

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base validates.

        Raises:
            ValueError: as the base.
        """
        call_optional(self.base, "validate", context, action, feedback)

    def report(self, state: Any) -> dict[str, Tensor]:
        """The base's, R each."""
        return self.base.report(state.base) if hasattr(self.base, "report") else {}


class DoublingState(NamedTuple):
    """The base's state within an epoch, and the clock that all trials share."""

    base: Any
    rounds: int  # rounds heard
    epoch: int  # m: rounds 2^m .. 2^{m+1} - 1, counted from 1


@frozen_dataclass
class Doubling(Wrapper):
    """A learner of known horizon made anytime: epoch m = 0, 1, ... runs it with horizon 2^m.

    A base with the optional method ``restart`` begins its epochs by it and may carry something
    over; any other is initialized anew. What it reports is of this epoch and what it carries over.
    Source: the doubling trick; Chen, Zhang & Karbasi (2019), Algorithm 2.

    Attributes:
        base: any learner.

    Raises:
        ValueError: a base that is no learner.
    """

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> DoublingState:
        """The base's with horizon 1."""
        return DoublingState(self.base.init(trials, context, 1, draw, **tkwargs), 0, 0)

    def select(
        self, state: DoublingState, context: Any, draw: Draw
    ) -> tuple[Tensor, DoublingState]:
        """The base's choice."""
        action, base = self.base.select(state.base, context, draw)
        return action, DoublingState(base, state.rounds, state.epoch)

    def update(
        self, state: DoublingState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> DoublingState:
        """The base hears; if the next round opens an epoch, the base begins it."""
        base = self.base.update(state.base, context, action, feedback, draw)
        rounds, epoch = state.rounds + 1, state.epoch
        if rounds + 1 == 2 << epoch:
            epoch += 1
            if hasattr(self.base, "restart"):
                base = self.base.restart(base, context, 1 << epoch, draw)
            else:
                tkwargs = {"dtype": feedback.dtype, "device": feedback.device}
                base = self.base.init(len(feedback), context, 1 << epoch, draw, **tkwargs)
        return DoublingState(base, rounds, epoch)


class Script(NamedTuple):
    """The base's state, the state in which the dictating learner started, and the clock."""

    base: Any
    script: Any
    rounds: int  # rounds heard


@frozen_dataclass
class Scripted(Wrapper):
    """The base learner hears every round, but another learner chooses its first actions: a warm start, or a fixed design.

    Attributes:
        base: any learner that learns of other actions than its own.
        actions: a learner whose choices are played. It hears nothing, so that one that draws its arms fits, such as ``UniformArm``.
        rounds: how many rounds are dictated.

    Raises:
        ValueError: a base that is no learner or learns of its own actions only, or actions that are no learner.
    """

    actions: Learner
    rounds: int = fields.whole(least=0)

    def __post_init__(self):
        super().__post_init__()
        if not self.tags.own_actions:
            raise ValueError(
                f"base={self.base!r}; allowed: a learner that learns of other actions than its own"
            )
        if not is_learner(self.actions):
            raise_invalid("actions", self.actions, "a learner")

    @property
    def tags(self) -> Tags:
        """The base's, with the derived fields of the learner that dictates. The arms are fixed where they are for one of both."""
        base = super().tags
        return base._replace(
            fixed_arms=base.fixed_arms or tags_of(self.actions).fixed_arms,
            derived=base.derived + derived_fields_within("script", self.actions),
        )

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base and the learner that dictates validate.

        Raises:
            ValueError: as those learners.
        """
        super().validate(context, action, feedback)
        call_optional(self.actions, "validate", context, None, None)

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> Script:
        """The base's, and that of the learner that dictates, which stays as it is."""
        begin = lambda learner: learner.init(trials, context, horizon, draw, **tkwargs)
        return Script(begin(self.base), begin(self.actions), 0)

    def select(self, state: Script, context: Any, draw: Draw) -> tuple[Tensor, Script]:
        """The dictated action while there is one, else the base's. Returns R indices."""
        # the base chooses in every round, because its update may need what its choice prepares
        action, base = self.base.select(state.base, context, draw)
        if state.rounds < self.rounds:
            action, _ = self.actions.select(state.script, context, draw)
        return action, Script(base, state.script, state.rounds)

    def update(
        self, state: Script, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> Script:
        """The base hears of every round."""
        base = self.base.update(state.base, context, action, feedback, draw)
        return Script(base, state.script, state.rounds + 1)


def check_restart(
    base: Any, state: Any, trials: int, context: Any, **tkwargs
) -> tuple[Any, Any, Any, Draw]:
    """Check that trials of a base can restart apart.

    One trial more than R restarts, with draws of its own, because with one trial a shared row looks like its own, and with two
    a tensor may have two rows by chance.

    Args:
        base: the learner.
        state: as its ``init`` returns it for R = ``trials``.
        trials: R.
        context: of the first round.

    Returns:
        The learner, the context, the fresh state and the draws, each of R + 1 trials.

    Raises:
        ValueError: a leaf that is no tensor of a row a trial, or a ``restart`` that returns another kind of state.
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
        raise ValueError(f"base={name}, whose restart returns another state: {error}") from error
    return base, context, fresh, draw


def empty_log(trials: int, *entry: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return an empty log: the count, R int64, and the log, R x LOGGED (x k) int64."""
    zeros = lambda *shape: torch.zeros(trials, *shape, dtype=torch.int64, device=device)
    return zeros(), zeros(LOGGED, *entry)


def log_restart(count: Tensor, log: Tensor, entry: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Count and log after a restart in the trials of ``mask``, R bool. ``entry``: R (x k)."""
    here = (arange_like(LOGGED, log) == count[:, None]) & mask[:, None]
    here = here.reshape(*here.shape, *[1] * (log.dim() - 2))
    return count + mask, torch.where(here, entry[:, None], log)


def count_restarts(count: Tensor) -> dict[str, Tensor]:
    """``restarts``, and whether they ``overflow`` the log, R each."""
    return {"restarts": count, "overflow": count > LOGGED}
