"""What ask and tell remember between rounds."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..core.trees import leaves


def same(a: Any, b: Any) -> bool:
    """Whether two contexts have equal numbers, and the same functions."""
    if a is b:
        return True
    a, b = leaves(a, "context"), leaves(b, "context")
    equal = lambda x, y: torch.equal(x, y) if isinstance(x, Tensor) else x == y
    return len(a) == len(b) and all(p == q and equal(x, y) for (p, x), (q, y) in zip(a, b))


class Failure(NamedTuple):
    """An evaluation that gave no number."""

    round: int  # that it would have been: 1, 2, ...
    action: Any  # index of the arm, or the point as its user writes it
    reason: str


class Now(NamedTuple):
    """All that rounds change, replaced in one assignment: an interrupt leaves old or new."""

    state: Any
    context: Any  # of the round, led by the one trial
    rounds: int = 0  # told
    skipped: int = (
        0  # rounds of the draws passed over: failures left out, asks in a further context
    )
    proposed: Tensor | None = None  # action asked for, 1 or 1 x d; None: none since the last tell
    pending: Any = None  # state in which it was chosen
    warned: bool = False  # of an overflow
    cautioned: bool = False  # of a reward that contradicts the declared model
    late: bool = False  # warned of rounds beyond the horizon
    edge: int = (
        0  # rounds with the optimizer's center at the edge, less twice the others; in no file
    )
    failures: tuple[Failure, ...] = ()
    waiting: tuple[int, ...] = ()  # arms under evaluation, of an optimizer that heeds them
    untold: int = 0  # actions asked for in this context and not told
    mixed: bool = False  # a context changed while actions were untold: tells need their context

    def turned(self, context: Any) -> "Now":
        """Return the same in the context of the next ask, which has draws of its own where others are untold."""
        if not self.untold:
            return self._replace(context=context)
        if same(context, self.context):
            return self
        return self._replace(context=context, untold=0, mixed=True, skipped=self.skipped + 1)

    def settled(self, played: Tensor) -> "Now":
        """The same with one evaluation of this arm (1) less to wait for."""
        if not self.waiting or int(played) not in self.waiting:
            return self
        at = self.waiting.index(int(played))
        return self._replace(waiting=self.waiting[:at] + self.waiting[at + 1 :])
