"""What ask and tell save: one npz without pickle, read whole or refused by name."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import saved
from ..core.describe import PLAIN
from ..core.errors import told
from ..core.linalg import Rows
from ..core.trees import leaves, pack, unpack
from ..core.validation import refuse
from .records import Failure, Now

MOST = 10**12  # rounds: the counters of draws stay within 64 bits
MOST_NUMBERS = 1 << 27  # of a context
KINDS = {bool: torch.bool, int: torch.int64, float: torch.float64}


def read(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """Head and arrays of a file that ``save`` wrote, after the checksum of each of its parts.

    Raises:
        ValueError: the file is another one, or damaged, or ``path`` is none.
        OSError: it cannot be read at all.
    """
    raw = Path(named(path)).read_bytes()
    try:
        return saved.parse(raw)
    except Exception as error:  # what they make of text, halves, turned bits
        raise refusal(path, error) from error


def named(path: str | os.PathLike) -> str | os.PathLike:
    """``path``; ValueError for what is none."""
    if not isinstance(path, (str, os.PathLike)) or str(path) == "" or "\0" in str(path):
        refuse("path", path, "the name of a file, or a Path")
    if str(path).endswith(os.sep):
        refuse("path", path, "the name of a file, not of a folder")
    return path


def refusal(path: str | os.PathLike, reason: Exception | str) -> ValueError:
    """The error for a file that holds no learner, with the reason."""
    why = told(reason) if isinstance(reason, Exception) else reason
    return ValueError(
        f"path={str(path)!r} holds no saved learner; allowed: a file that save wrote, whole ({why})"
    )


def check_sizes(
    path: str | os.PathLike, state: Any, arrays: dict[str, np.ndarray], first: Any
) -> None:
    """Raise ValueError where a leaf has another shape there; histories may have other lengths.

    ``first``: sizes of the context with which the file's learner began, to be named.
    """
    for name, leaf in leaves(state):
        if isinstance(leaf, PLAIN):
            continue
        if name not in arrays:
            raise refusal(path, f"without {name}")
        grows = isinstance(leaf, Rows)
        shapes = arrays[name].shape, (leaf.view if grows else leaf).shape
        there, here = (tuple(shape[:1] + shape[2:] if grows else shape) for shape in shapes)
        if there != here:
            raise ValueError(
                f"path={str(path)!r} holds {name} of shape {there}, begun with a context "
                f"{first}; allowed: {here}, of the context given here: begin with one of that "
                "size, then ask about others"
            )


def packed(now: Now) -> tuple[dict, dict[str, np.ndarray]]:
    """Counts, flags, failures and plain leaves for the head; arrays of state and context."""
    arrays, plain = pack(now.state)
    offered, also = pack(_without_functions(now.context), "context")
    kept = ("rounds", "skipped", "failures", "asked", "untold", "edge")
    flags = ("warned", "cautioned", "late", "mixed")
    head = {name: getattr(now, name) for name in kept + flags}
    return head | {"plain": plain | also}, arrays | offered


def offered(head: dict, arrays: dict[str, np.ndarray]) -> Any:
    """The context in a file, without its trial, of the sizes with which its learner began.

    None where it is not arrays alone: a file holds no functions and no classes of tuples.

    Raises:
        Exception: sizes that are none.
    """
    parts = {name: x for name, x in arrays.items() if name.split(".")[0] == "context"}
    if parts.keys() == {"context"}:
        first = head.get("first") or parts["context"].shape[1:]
        if not 0 < math.prod(first) <= MOST_NUMBERS:
            raise ValueError(f"first={first}; allowed: sizes of a context")
        # arms may have become more or fewer since: sizes of the state hang on the first ones
        return np.resize(parts["context"][0], first)
    listed = [f"context.{i}" for i in range(len(parts))]
    plain = any(name.startswith("context") for name in head["plain"])  # None may be a function
    if not parts or plain or parts.keys() != set(listed):
        return None
    return tuple(torch.from_numpy(parts[name][0]) for name in listed)


def restored(
    now: Now, head: dict, arrays: dict[str, np.ndarray], device: torch.device | str = "cpu"
) -> Now:
    """What was packed, with nothing asked, on a device.

    Files from before failures were kept hold neither those nor flags, and older ones no context.

    Args:
        now: as before the first round: it has the classes, the context's functions, and the kind of each leaf.

    Raises:
        Exception: something is missing, of another kind, or out of range; with what it is.
    """
    state, context, plain = now.state, now.context, dict(head["plain"])
    if any(name.split(".")[0] == "context" for name in arrays):
        plain |= {name: x for name, x in leaves(context, "context") if callable(x)}
        check_leaves(context, arrays, plain, "context")
        context = unpack(context, arrays, plain, "context", device)
    check_leaves(state, arrays, plain)
    counts = {"rounds": head["rounds"], "skipped": head.get("skipped", 0)}
    flags = {name: head.get(name, False) for name in ("warned", "late", "mixed")}
    # older files have one flag for an overflow and for a loss beyond its bound
    flags["cautioned"] = head.get("cautioned", flags["warned"])
    if not all(type(count) is int and 0 <= count <= MOST for count in counts.values()):
        raise ValueError(f"{counts}; allowed: integers in 0..{MOST}")
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise ValueError(f"{flags}; allowed: true or false")
    failures = tuple(_failure(x, counts["rounds"]) for x in head.get("failures", ()))
    if counts["skipped"] > len(failures) and not flags["mixed"]:
        raise ValueError(f"skipped={counts['skipped']}; allowed: up to {len(failures)} failures")
    untold = _untold(head.get("untold", 0))
    asked = head.get("asked", (sum(counts.values()), sum(count for _, count in untold)))
    if not (len(asked) == 2 and all(type(x) is int and 0 <= x <= MOST for x in asked)):
        raise ValueError(f"asked={asked!r}; allowed: two integers in 0..{MOST}")
    edge = head.get("edge", 0)
    if not (type(edge) is int and -1 <= edge <= MOST):
        raise ValueError(f"edge={edge!r}; allowed: integers in -1..{MOST}")
    rest = {"failures": failures, "untold": untold, "asked": tuple(asked), "edge": edge}
    return Now(unpack(state, arrays, plain, device=device), context, **counts, **flags, **rest)


def check_leaves(tree: Any, arrays: dict, plain: dict, name: str = "state") -> None:
    """Raise ValueError for a leaf that could not have come of the one in ``tree``, before the first round.

    It has the same kind and number of dimensions, and the one trial leads it. NaN is in none; infinities, and
    integers below 0, only where the first has them.
    """
    for path, leaf in leaves(tree, name):
        if callable(leaf):
            continue
        held = plain if isinstance(leaf, PLAIN) else arrays
        if path not in held:
            raise ValueError(f"without {path}")
        there = held[path]
        if held is plain:
            if type(there) is not type(leaf):
                raise ValueError(f"{path}={there!r}; allowed: {type(leaf).__name__}, like {leaf!r}")
            if not isinstance(leaf, (int, float)):
                continue
            there, leaf = np.array(there), torch.tensor(leaf, dtype=KINDS[type(leaf)])
        here = (leaf.view if isinstance(leaf, Rows) else leaf).cpu().numpy()
        kinds = [f"{x.dtype}, {x.ndim} dimensions, {x.shape[:1]}" for x in (there, here)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"{path}: {kinds[0]}; allowed: {kinds[1]}")
        _check_range(path, there, here)


def _check_range(path: str, there: np.ndarray, here: np.ndarray) -> None:
    if there.dtype.kind == "f":
        odd = there[~np.isfinite(there)]
        odd = odd[np.isnan(odd) | ~np.isin(odd, here)]
        if odd.size:
            raise ValueError(f"{path}={float(odd[0])!r}; allowed: finite numbers")
    elif there.dtype.kind == "i":
        least = here.min(initial=0)
        if there.min(initial=0) < least:
            raise ValueError(f"{path}={there.min()}; allowed: integers from {least} on")


def _failure(told: Any, rounds: int) -> Failure:
    """One of the list in the head, where JSON has made lists of tuples."""
    t, action, why = told
    if not (
        type(t) is int and 1 <= t <= rounds + 1 and isinstance(why, str) and _is_action(action)
    ):
        raise ValueError(f"failures: {told!r}; allowed: a round so far, an action and words")
    return Failure(t, _hashable(action), why)


def _untold(told: Any) -> tuple:
    """Untold actions of the head, with how often each was asked for; older files hold the number of all alone, under None."""
    pairs = told if isinstance(told, list) else [[None, told]] if told != 0 else []
    counts = [count for _, count in pairs]
    good = all(type(count) is int and count > 0 for count in counts) and sum(counts) <= MOST
    if not (good and all(action is None or _is_action(action) for action, _ in pairs)):
        raise ValueError(f"untold={told!r}; allowed: actions, and how often each was asked for")
    return tuple((_hashable(action), count) for action, count in pairs)


def _is_action(x: Any) -> bool:
    """Whether ``x`` is an index, or a point as JSON holds it."""
    if isinstance(x, list):
        return all(type(y) in (int, float) and math.isfinite(y) for y in x)
    return type(x) is int and x >= 0


def _hashable(action: Any) -> Any:
    """A point as a tuple, an index as it is."""
    return tuple(action) if isinstance(action, list) else action


def _without_functions(tree: Any) -> Any:
    """The tree with None for each function, such as a set's oracle: it is given anew for a load."""
    if isinstance(tree, tuple):
        kids = [_without_functions(kid) for kid in tree]
        return type(tree)(*kids) if hasattr(tree, "_fields") else tuple(kids)
    return None if callable(tree) else tree
