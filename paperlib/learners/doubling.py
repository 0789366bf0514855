"""Learners around learners."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from ..core.contracts import Learner
from ..core.streams import Draw


class Epochs(NamedTuple):
    """The base's state within an epoch, and the clock that all trials share."""

    base: Any
    rounds: int  # rounds heard
    epoch: int   # m: rounds 2^m .. 2^{m+1} - 1, counted from 1


@dataclass(frozen=True)
class Doubling:
    """A learner of known horizon made anytime: epoch m = 0, 1, ... runs it with horizon 2^m.

    A base with the optional method ``restart(state, context, horizon, draw)``, which returns the state in which an epoch
    of that horizon begins, starts its epochs by it and may carry something over; any other is initialized anew. What
    ``core.Learner`` lists as optional, and ``fixed_arms`` and ``own_actions``, is the base's.
    Source: the doubling trick; Chen, Zhang & Karbasi (2019), Algorithm 2.

    Raises:
        ValueError: a base that is no learner.
    """

    base: Learner

    def __post_init__(self):
        if isinstance(self.base, type) or not (hasattr(self.base, "init") and hasattr(self.base, "update")):
            raise ValueError(f"base={self.base!r}; allowed: a learner")

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

    def caution(self, context: Any) -> str | None:
        """What the base would warn of."""
        return self.base.caution(context) if hasattr(self.base, "caution") else None

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base validates.

        Raises:
            ValueError: as the base.
        """
        if hasattr(self.base, "validate"):
            self.base.validate(context, action, feedback)

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> Epochs:
        """The base's with horizon 1."""
        return Epochs(self.base.init(trials, context, 1, draw, **tkwargs), 0, 0)

    def select(self, state: Epochs, context: Any, draw: Draw) -> tuple[Tensor, Epochs]:
        """The base's choice."""
        action, base = self.base.select(state.base, context, draw)
        return action, Epochs(base, state.rounds, state.epoch)

    def update(self, state: Epochs, context: Any, action: Tensor, feedback: Tensor, draw: Draw) -> Epochs:
        """The base hears; if the next round opens an epoch, the base begins it."""
        base, rounds, epoch = self.base.update(state.base, context, action, feedback, draw), state.rounds + 1, state.epoch
        if rounds + 1 == 2 << epoch:
            epoch += 1
            if hasattr(self.base, "restart"):
                base = self.base.restart(base, context, 1 << epoch, draw)
            else:
                base = self.base.init(len(feedback), context, 1 << epoch, draw, dtype=feedback.dtype, device=feedback.device)
        return Epochs(base, rounds, epoch)

    def report(self, state: Epochs) -> dict[str, Tensor]:
        """The base's, of this epoch and what it carries over."""
        return self.base.report(state.base) if hasattr(self.base, "report") else {}
