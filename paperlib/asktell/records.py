"""State of an ask/tell trial between rounds, and its files.

A file is one npz without pickle, which is loaded as a whole or rejected. It has a checksum, which shows that its contents
are what ``save`` wrote. Therefore they are not validated one by one. Files of version 0.1.0 have no such checksum, but a zip archive has
one for each of its parts.
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

# A point within this fraction of an asked point's largest coordinate is regarded as a rounded copy of it.
NEAR = 1e-3
MOST = 64  # pending actions that are stored one by one; older ones are only counted
# Fields of ``TrialState`` that are written to a file without conversion.
COUNTS = ("rounds", "skipped", "failures", "asked", "untold", "edge")
FLAGS = ("warned", "cautioned", "late", "mixed")


def same_context(a: Any, b: Any) -> bool:
    """Return whether two contexts have equal numbers and the same functions."""
    if a is b:
        return True
    a, b = list_leaves(a, "context"), list_leaves(b, "context")
    equal = lambda x, y: torch.equal(x, y) if isinstance(x, Tensor) else x == y
    return len(a) == len(b) and all(p == q and equal(x, y) for (p, x), (q, y) in zip(a, b))


def to_python_action(action: Tensor) -> int | tuple[float, ...]:
    """Return an action (1 or 1 x d) as a Python integer or a tuple of floats."""
    return tuple(action[0].tolist()) if action.dim() > 1 else int(action[0])


def find_asked(action: int | tuple[float, ...], asked: dict) -> int | tuple[float, ...] | None:
    """Return the pending action that was played, or None. A point may be rounded, for example if it was read from a file."""
    if action in asked:
        return action
    apart = lambda x: max(abs(a - b) for a, b in zip(action, x))
    points = [x for x in asked if isinstance(x, tuple)] if isinstance(action, tuple) else []
    near = [x for x in points if apart(x) <= NEAR * max(map(abs, x))]
    return min(near, key=apart, default=None)


class Failure(NamedTuple):
    """A failed evaluation, which returned no finite number."""

    round: int  # number (1, 2, ...) that the round would have had
    action: Any  # index of the arm, or the point in the user's coordinates
    reason: str


class TrialState(NamedTuple):
    """The part of a trial that rounds change.

    It is replaced in one assignment, so that an interrupted call leaves either the old or the new state.
    """

    state: Any
    context: Any  # context of the round, with a leading trial dimension of 1
    rounds: int = 0  # rounds with feedback
    skipped: int = (
        0  # rounds of the draws that were skipped, by failures and by asks in a further context
    )
    proposed: Tensor | None = None  # action of the last ask, 1 or 1 x d; None after its feedback
    pending: Any = None  # state in which it was chosen
    warned: bool = False  # whether an overflow was warned of
    cautioned: bool = False  # whether a reward that contradicts the model was warned of
    late: bool = False  # whether rounds beyond the horizon were warned of
    edge: int = 0  # rounds with the center at the edge minus twice the others; -1 after a warning
    failures: tuple[Failure, ...] = ()
    waiting: tuple[int, ...] = ()  # arms under evaluation, for optimizers that use them
    # pairs of an action asked for in this context (None: unknown) and the number of its pending asks
    untold: tuple[tuple, ...] = ()
    asked: tuple[int, int] = (0, 0)  # round of the draws of the last ask, and its number of actions
    mixed: bool = False  # the context changed while actions were pending: ``tell`` needs a context

    def turned(self, context: Any) -> "TrialState":
        """Return the state with the context of the next ask, which skips to new draws if other actions are pending."""
        if not self.untold:
            return self._replace(context=context)
        if same_context(context, self.context):
            return self
        skipped = self.skipped + sum(count for _, count in self.untold)
        return self._replace(context=context, untold=(), mixed=True, skipped=skipped)

    def with_asked(self, actions: list) -> "TrialState":
        """Return the state with these actions pending. With the draws of the last ask they are the same ask, repeated."""
        draws = self.rounds + self.skipped
        known = self.asked[1] if self.asked[0] == draws else 0
        untold = dict(self.untold)
        for action in actions[known:]:
            untold[action] = untold.get(action, 0) + 1
        # A user who plays other actions than those asked for leaves ever more of them pending.
        while len(untold) > MOST:
            oldest = next(x for x in untold if x is not None)
            untold[None] = untold.get(None, 0) + untold.pop(oldest)
        asked = draws, max(known, len(actions))
        return self._replace(untold=tuple(untold.items()), asked=asked)

    def settled(self, played: Tensor) -> "TrialState":
        """Return the state with one pending evaluation of this action (1 or 1 x d) fewer, if it was asked for."""
        action, waiting = to_python_action(played), list(self.waiting)
        if action in waiting:
            waiting.remove(action)
        # An action that is not found answers one of the oldest actions, which are only counted, under None.
        told = find_asked(action, dict(self.untold))
        left = ((x, count - (x == told)) for x, count in self.untold)
        untold = tuple((x, count) for x, count in left if count)
        return self._replace(waiting=tuple(waiting), untold=untold)


def read_file(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """Return head and arrays of a file that ``save`` wrote.

    Raises:
        ValueError: the file was not written by ``save``, or is damaged, or ``path`` is invalid.
        OSError: the file cannot be read.
    """
    raw = Path(check_path(path)).read_bytes()
    try:
        return parse_npz(raw)
    # zipfile, numpy and json raise many kinds of errors for text, truncated files and flipped bits
    except Exception as error:
        raise load_error(path, error) from error


def check_path(path: str | os.PathLike) -> str | os.PathLike:
    """Return ``path``; raise ValueError unless it is a file name or a Path."""
    if not isinstance(path, (str, os.PathLike)) or str(path) == "" or "\0" in str(path):
        raise_invalid("path", path, "the name of a file or a Path")
    return path


def load_error(path: str | os.PathLike, error: Exception) -> ValueError:
    """Return the error for a file without a saved learner, with the reason."""
    return ValueError(
        f"path must be a complete file that save wrote, got {str(path)!r} ({format_error(error)})"
    )


def check_sizes(
    path: str | os.PathLike, state: Any, arrays: dict[str, np.ndarray], first: Any
) -> None:
    """Raise ValueError if a leaf has another shape in the file; histories may have other lengths.

    ``first``: sizes of the first context of the learner in the file, used in the message.
    """
    for name, leaf in list_leaves(state):
        if isinstance(leaf, PLAIN) or name not in arrays:
            continue
        grows = isinstance(leaf, Rows)
        shapes = arrays[name].shape, (leaf.view if grows else leaf).shape
        there, here = (tuple(shape[:1] + shape[2:] if grows else shape) for shape in shapes)
        if there != here:
            raise ValueError(
                f"path={str(path)!r} contains {name} of shape {there} from a first context of shape {first}, but the "
                f"context given here requires shape {here}. Load the file with a context of the first shape, and "
                "then ask with other contexts"
            )


def pack_trial(now: TrialState) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the head (counts, flags, failures and plain leaves) and the arrays of state and context.

    A function in a context, such as a set's oracle, is not written. You must pass it again when you load the file.
    """
    arrays, plain = pack(now.state)
    context = map_leaves(lambda path, x: None if callable(x) else x, now.context)
    offered, also = pack(context, "context")
    head = {name: getattr(now, name) for name in COUNTS + FLAGS}
    return head | {"plain": plain | also}, arrays | offered


def saved_context(head: dict, arrays: dict[str, np.ndarray]) -> Any:
    """Return the context in a file, without the trial dimension and with the sizes of the learner's first context.

    The result is None unless the context consists of arrays alone, because a file contains no functions and no classes of tuples.
    """
    parts = {name: x for name, x in arrays.items() if name.split(".")[0] == "context"}
    if parts.keys() == {"context"}:
        # The number of arms may have changed since, but the sizes of the state depend on the first arms.
        return np.resize(parts["context"][0], head.get("first") or parts["context"].shape[1:])
    listed = [f"context.{i}" for i in range(len(parts))]
    # A plain leaf that is None may stand for a function.
    plain = any(name.startswith("context") for name in head["plain"])
    if not parts or plain or parts.keys() != set(listed):
        return None
    return tuple(torch.from_numpy(parts[name][0]) for name in listed)


def unpack_trial(
    now: TrialState, head: dict, arrays: dict[str, np.ndarray], device: torch.device | str = "cpu"
) -> TrialState:
    """Return the trial's state that was packed, without a pending ask, on a device.

    Old files contain neither failures nor flags, and still older ones no context.

    Args:
        now: the state before the first round, which provides the classes and the context's functions.

    Raises:
        Exception: an entry is missing.
    """
    context, plain = now.context, head["plain"]
    if any(name.split(".")[0] == "context" for name in arrays):
        functions = {name: x for name, x in list_leaves(context, "context") if callable(x)}
        context = unpack(context, arrays, plain | functions, "context", device)
    rounds, skipped = head["rounds"], head.get("skipped", 0)
    # JSON turns the tuple of a point into a list.
    key = lambda action: tuple(action) if isinstance(action, list) else action
    failures = tuple(Failure(t, key(action), why) for t, action, why in head.get("failures", ()))
    told = head.get("untold", 0)
    # Older files contain only the number of pending actions.
    pairs = told if isinstance(told, list) else [[None, told]] if told else []
    untold = tuple((key(action), count) for action, count in pairs)
    asked = head.get("asked", (rounds + skipped, sum(count for _, count in untold)))
    flags = {name: head.get(name, False) for name in FLAGS}
    # Older files have a single flag for an overflow and for a loss above its bound.
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
