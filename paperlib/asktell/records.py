"""What ask and tell remember between rounds, and its files: one npz without pickle each, which is loaded as a whole or refused.

A file has a checksum. Therefore its contents are those that ``save`` wrote, and are not examined one by one. Files of version
0.1.0 have none; a zip archive has a checksum for each of its parts.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..core.describe import PLAIN
from ..core.files import parse_npz
from ..core.linalg import Rows
from ..core.text import format_error
from ..core.trees import list_leaves, map_leaves, pack, unpack
from ..core.validation import raise_invalid

NEAR = 1e-3  # of an asked point's largest coordinate: a point as near as this is taken for a rounded copy of it
MOST = 64  # entries of untold actions: the oldest become one entry, which is their number
# fields of ``TrialState`` that a file holds as they are
COUNTS = ("rounds", "skipped", "failures", "asked", "untold", "edge")
FLAGS = ("warned", "cautioned", "late", "mixed")


def same_context(a: Any, b: Any) -> bool:
    """Whether two contexts have equal numbers, and the same functions."""
    if a is b:
        return True
    a, b = list_leaves(a, "context"), list_leaves(b, "context")
    equal = lambda x, y: torch.equal(x, y) if isinstance(x, Tensor) else x == y
    return len(a) == len(b) and all(p == q and equal(x, y) for (p, x), (q, y) in zip(a, b))


def to_python_action(action: Tensor) -> int | tuple[float, ...]:
    """Return an action (1 or 1 x d) as an index or a point in Python's numbers."""
    return tuple(action[0].tolist()) if action.dim() > 1 else int(action[0])


def find_asked(action: int | tuple[float, ...], asked: dict) -> int | tuple[float, ...] | None:
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


class TrialState(NamedTuple):
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

    def turned(self, context: Any) -> "TrialState":
        """Return the same in the context of the next ask, which has draws of its own where others are untold."""
        if not self.untold:
            return self._replace(context=context)
        if same_context(context, self.context):
            return self
        skipped = self.skipped + sum(count for _, count in self.untold)
        return self._replace(context=context, untold=(), mixed=True, skipped=skipped)

    def with_asked(self, actions: list) -> "TrialState":
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

    def settled(self, played: Tensor) -> "TrialState":
        """Return the same with one evaluation of this action (1 or 1 x d) less to wait for, if it was asked for."""
        action, waiting = to_python_action(played), list(self.waiting)
        if action in waiting:
            waiting.remove(action)
        # another action answers one of those that are known by their number alone, under None
        told = find_asked(action, dict(self.untold))
        left = ((x, count - (x == told)) for x, count in self.untold)
        untold = tuple((x, count) for x, count in left if count)
        return self._replace(waiting=tuple(waiting), untold=untold)


def read_file(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """Head and arrays of a file that ``save`` wrote.

    Raises:
        ValueError: the file is another one, or damaged, or ``path`` is none.
        OSError: it cannot be read at all.
    """
    raw = Path(check_path(path)).read_bytes()
    try:
        return parse_npz(raw)
    except Exception as error:  # what they make of text, halves, turned bits
        raise load_error(path, error) from error


def check_path(path: str | os.PathLike) -> str | os.PathLike:
    """``path``; ValueError for what is none."""
    if not isinstance(path, (str, os.PathLike)) or str(path) == "" or "\0" in str(path):
        raise_invalid("path", path, "the name of a file, or a Path")
    return path


def load_error(path: str | os.PathLike, error: Exception) -> ValueError:
    """The error for a file that holds no learner, with the reason."""
    allowed = f"a file that save wrote, whole ({format_error(error)})"
    return ValueError(f"path={str(path)!r} holds no saved learner; allowed: {allowed}")


def check_sizes(
    path: str | os.PathLike, state: Any, arrays: dict[str, np.ndarray], first: Any
) -> None:
    """Raise ValueError where a leaf has another shape there; histories may have other lengths.

    ``first``: sizes of the context with which the file's learner began, to be named.
    """
    for name, leaf in list_leaves(state):
        if isinstance(leaf, PLAIN) or name not in arrays:
            continue
        grows = isinstance(leaf, Rows)
        shapes = arrays[name].shape, (leaf.view if grows else leaf).shape
        there, here = (tuple(shape[:1] + shape[2:] if grows else shape) for shape in shapes)
        if there != here:
            raise ValueError(
                f"path={str(path)!r} holds {name} of shape {there}, begun with a context "
                f"{first}; allowed: {here}, of the context given here: begin with one of that "
                "size, then ask about others"
            )


def pack_trial(now: TrialState) -> tuple[dict, dict[str, np.ndarray]]:
    """Counts, flags, failures and plain leaves for the head; arrays of state and context.

    A function in a context, such as a set's oracle, is not written. It has to be given again for a load.
    """
    arrays, plain = pack(now.state)
    context = map_leaves(lambda path, x: None if callable(x) else x, now.context)
    offered, also = pack(context, "context")
    head = {name: getattr(now, name) for name in COUNTS + FLAGS}
    return head | {"plain": plain | also}, arrays | offered


def saved_context(head: dict, arrays: dict[str, np.ndarray]) -> Any:
    """The context in a file, without its trial, of the sizes with which its learner began.

    None where it is not arrays alone: a file holds no functions and no classes of tuples.
    """
    parts = {name: x for name, x in arrays.items() if name.split(".")[0] == "context"}
    if parts.keys() == {"context"}:
        # arms may have become more or fewer since: sizes of the state hang on the first ones
        return np.resize(parts["context"][0], head.get("first") or parts["context"].shape[1:])
    listed = [f"context.{i}" for i in range(len(parts))]
    plain = any(name.startswith("context") for name in head["plain"])  # None may be a function
    if not parts or plain or parts.keys() != set(listed):
        return None
    return tuple(torch.from_numpy(parts[name][0]) for name in listed)


def unpack_trial(
    now: TrialState, head: dict, arrays: dict[str, np.ndarray], device: torch.device | str = "cpu"
) -> TrialState:
    """What was packed, with nothing asked, on a device.

    Files from before failures were kept hold neither those nor flags, and older ones no context.

    Args:
        now: as before the first round: it has the classes and the context's functions.

    Raises:
        Exception: something is missing.
    """
    context, plain = now.context, head["plain"]
    if any(name.split(".")[0] == "context" for name in arrays):
        functions = {name: x for name, x in list_leaves(context, "context") if callable(x)}
        context = unpack(context, arrays, plain | functions, "context", device)
    rounds, skipped = head["rounds"], head.get("skipped", 0)
    # a point is a list in JSON
    key = lambda action: tuple(action) if isinstance(action, list) else action
    failures = tuple(Failure(t, key(action), why) for t, action, why in head.get("failures", ()))
    told = head.get("untold", 0)
    # older files hold the number of all untold actions alone
    pairs = told if isinstance(told, list) else [[None, told]] if told else []
    untold = tuple((key(action), count) for action, count in pairs)
    asked = head.get("asked", (rounds + skipped, sum(count for _, count in untold)))
    flags = {name: head.get(name, False) for name in FLAGS}
    # older files have one flag for an overflow and for a loss beyond its bound
    flags["cautioned"] = head.get("cautioned", flags["warned"])
    return TrialState(
        unpack(now.state, arrays, plain, device=device),
        context,
        rounds=rounds,
        skipped=skipped,
        edge=head.get("edge", 0),
        failures=failures,
        untold=untold,
        asked=tuple(asked),
        **flags,
    )
