"""What learners around one learner have in common: its optional members, a check that its trials can restart apart, and a log.

Letters: R trials, k numbers of an entry of the log.
"""

from typing import Any

import torch
from torch import Tensor

from ..core.contracts import Learner, Tags, optional, tags_of
from ..core.describe import frozen
from ..core.linalg import places
from ..core.plausible import Observed
from ..core.settings import for_trials
from ..core.streams import Draw, Streams
from ..core.trees import refuse_shared, take, where
from ..core.validation import refuse

LOGGED = 64  # restarts that are logged by trial; the count goes on


def plays(x: Any) -> bool:
    """Whether ``x`` is an instance that chooses actions."""
    return not isinstance(x, type) and hasattr(x, "init") and hasattr(x, "select")


def within(part: str, learner: Any) -> tuple[str, ...]:
    """The ``derived`` fields of a learner whose state is the field ``part`` of another state."""
    return tuple(f"{part}.{name}" for name in tags_of(learner).derived)


@frozen
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
        if not (plays(self.base) and hasattr(self.base, "update")):
            refuse("base", self.base, "a learner")

    @property
    def wants(self) -> str:
        """What the base hears."""
        return self.base.wants

    @property
    def tags(self) -> Tags:
        """The base's; derived fields are within the state of the wrapper."""
        return tags_of(self.base)._replace(derived=within("base", self.base))

    @property
    def optimistic(self):
        """The base's ``optimistic(state) -> R``; like the base, the wrapper may have none."""
        bound = self.base.optimistic
        return lambda state: bound(state.base)

    def caution(
        self, context: Any, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """What the base would warn of."""
        return optional(self.base, "caution", context, horizon, observed)

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base validates.

        Raises:
            ValueError: as the base.
        """
        optional(self.base, "validate", context, action, feedback)

    def report(self, state: Any) -> dict[str, Tensor]:
        """The base's, R each."""
        return self.base.report(state.base) if hasattr(self.base, "report") else {}


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
    base, context, count = for_trials(base, rows, name="base"), take(context, rows), len(rows)
    device, dtype = tkwargs.get("device", "cpu"), tkwargs.get("dtype", torch.float64)
    streams = Streams(0, range(count), device, dtype)
    probe = base.init(count, context, None, streams.at(-1), **tkwargs)
    refuse_shared(name, probe, count)
    refuse_shared(name, state, trials)
    draw = streams.at(0)
    fresh = base.restart(probe, context, None, draw)
    refuse_shared(name, fresh, count)
    try:
        where(torch.ones(count, dtype=torch.bool, device=device), fresh, probe)
    except ValueError as error:
        raise ValueError(f"base={name}, whose restart returns another state: {error}") from error
    return base, context, fresh, draw


def unlogged(trials: int, *entry: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return an empty log: the count, R int64, and the log, R x LOGGED (x k) int64."""
    zeros = lambda *shape: torch.zeros(trials, *shape, dtype=torch.int64, device=device)
    return zeros(), zeros(LOGGED, *entry)


def logged(count: Tensor, log: Tensor, entry: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Count and log after a restart in the trials of ``mask``, R bool. ``entry``: R (x k)."""
    here = (places(LOGGED, log) == count[:, None]) & mask[:, None]
    here = here.reshape(*here.shape, *[1] * (log.dim() - 2))
    return count + mask, torch.where(here, entry[:, None], log)


def counted(count: Tensor) -> dict[str, Tensor]:
    """``restarts``, and whether they ``overflow`` the log, R each."""
    return {"restarts": count, "overflow": count > LOGGED}
