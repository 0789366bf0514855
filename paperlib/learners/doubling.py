"""A learner of known horizon made anytime."""

from typing import Any, NamedTuple

from torch import Tensor

from ..core.describe import frozen
from ..core.streams import Draw
from .wrapper import Wrapper


class Epochs(NamedTuple):
    """The base's state within an epoch, and the clock that all trials share."""

    base: Any
    rounds: int  # rounds heard
    epoch: int  # m: rounds 2^m .. 2^{m+1} - 1, counted from 1


@frozen
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

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> Epochs:
        """The base's with horizon 1."""
        return Epochs(self.base.init(trials, context, 1, draw, **tkwargs), 0, 0)

    def select(self, state: Epochs, context: Any, draw: Draw) -> tuple[Tensor, Epochs]:
        """The base's choice."""
        action, base = self.base.select(state.base, context, draw)
        return action, Epochs(base, state.rounds, state.epoch)

    def update(
        self, state: Epochs, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> Epochs:
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
        return Epochs(base, rounds, epoch)
