"""What learners around one learner have in common."""

from typing import Any

from torch import Tensor

from ..core.contracts import Learner
from ..core.describe import frozen
from ..core.validation import refuse


def plays(x: Any) -> bool:
    """Whether ``x`` is an instance that chooses actions."""
    return not isinstance(x, type) and hasattr(x, "init") and hasattr(x, "select")


@frozen
class Wrapper:
    """A learner around ``base``, whose state it keeps as ``state.base``.

    Whatever is optional in a learner is the base's, but for ``restart``: how an epoch begins is
    for each wrapper to say.

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
    def syncs(self) -> str | None:
        """Whether the base has to look at its tensors."""
        return getattr(self.base, "syncs", None)

    @property
    def fixed_arms(self) -> bool:
        """Whether the base counts by index."""
        return getattr(self.base, "fixed_arms", False)

    @property
    def own_actions(self) -> bool:
        """Whether the base learns of other actions than its own."""
        return getattr(self.base, "own_actions", True)

    @property
    def optimistic(self):
        """The base's ``optimistic(state) -> R``; like the base, the wrapper may have none."""
        bound = self.base.optimistic
        return lambda state: bound(state.base)

    def caution(self, context: Any, horizon: int | None = None) -> str | None:
        """What the base would warn of."""
        return self.base.caution(context, horizon) if hasattr(self.base, "caution") else None

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base validates.

        Raises:
            ValueError: as the base.
        """
        if hasattr(self.base, "validate"):
            self.base.validate(context, action, feedback)

    def report(self, state: Any) -> dict[str, Tensor]:
        """The base's, R each."""
        return self.base.report(state.base) if hasattr(self.base, "report") else {}
