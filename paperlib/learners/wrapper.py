"""What learners around one learner have in common."""

from typing import Any

from torch import Tensor

from ..core.contracts import Learner, Tags, optional, tags_of
from ..core.describe import frozen
from ..core.plausible import Observed
from ..core.validation import refuse


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
