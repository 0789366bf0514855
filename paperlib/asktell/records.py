"""What ask and tell remember between rounds."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..core.trees import leaves

NEAR = 1e-3  # of an asked point's largest coordinate: a point as near as this is taken for a rounded copy of it
MOST = 64  # entries of untold actions: the oldest become one entry, which is their number


def same(a: Any, b: Any) -> bool:
    """Whether two contexts have equal numbers, and the same functions."""
    if a is b:
        return True
    a, b = leaves(a, "context"), leaves(b, "context")
    equal = lambda x, y: torch.equal(x, y) if isinstance(x, Tensor) else x == y
    return len(a) == len(b) and all(p == q and equal(x, y) for (p, x), (q, y) in zip(a, b))


def plain(action: Tensor) -> int | tuple[float, ...]:
    """Return an action (1 or 1 x d) as an index or a point in Python's numbers."""
    return tuple(action[0].tolist()) if action.dim() > 1 else int(action[0])


def matching(action: int | tuple[float, ...], asked: dict) -> int | tuple[float, ...] | None:
    """Return which of the actions asked for was played, or None. A point may come back rounded, for example from a file."""
    if action in asked:
        return action
    apart = lambda x: max(abs(a - b) for a, b in zip(action, x))
    points = [x for x in asked if isinstance(x, tuple)] if isinstance(action, tuple) else []
    near = [x for x in points if apart(x) <= NEAR * max(map(abs, x))]
    return min(near, key=apart, default=None)


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
    edge: int = 0  # rounds with the center at the edge, less twice the others; -1: warned
    failures: tuple[Failure, ...] = ()
    waiting: tuple[int, ...] = ()  # arms under evaluation, of an optimizer that heeds them
    # action asked for in this context (None: unknown), how often it is not told
    untold: tuple[tuple, ...] = ()
    asked: tuple[int, int] = (0, 0)  # round of the draws of the last ask, and its number of actions
    mixed: bool = False  # a context changed while actions were untold: tells need their context

    def turned(self, context: Any) -> "Now":
        """Return the same in the context of the next ask, which has draws of its own where others are untold."""
        if not self.untold:
            return self._replace(context=context)
        if same(context, self.context):
            return self
        skipped = self.skipped + sum(count for _, count in self.untold)
        return self._replace(context=context, untold=(), mixed=True, skipped=skipped)

    def with_asked(self, actions: list) -> "Now":
        """Return the same with these actions untold, which are those of the last ask if its draws are the same."""
        draws = self.rounds + self.skipped
        known = self.asked[1] if self.asked[0] == draws else 0
        untold = dict(self.untold)
        for action in actions[known:]:
            untold[action] = untold.get(action, 0) + 1
        while len(untold) > MOST:  # of a user who plays other actions than those asked for
            oldest = next(x for x in untold if x is not None)
            untold[None] = untold.get(None, 0) + untold.pop(oldest)
        asked = draws, max(known, len(actions))
        return self._replace(untold=tuple(untold.items()), asked=asked)

    def settled(self, played: Tensor) -> "Now":
        """Return the same with one evaluation of this action (1 or 1 x d) less to wait for, if it was asked for."""
        action, waiting = plain(played), list(self.waiting)
        if action in waiting:
            waiting.remove(action)
        # another action answers one of those that are known by their number alone, under None
        told = matching(action, dict(self.untold))
        left = ((x, count - (x == told)) for x, count in self.untold)
        untold = tuple((x, count) for x, count in left if count)
        return self._replace(waiting=tuple(waiting), untold=untold)
