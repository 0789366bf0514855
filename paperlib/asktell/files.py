"""Files of saved ask/tell trials: one npz file without pickle, which is loaded as a whole or refused.

The file has a checksum. Therefore its contents are those that ``save`` wrote, and are not examined one by one. Files of version
0.1.0 have none; a zip archive has a checksum for each of its parts.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import saved
from ..core.describe import PLAIN
from ..core.errors import told
from ..core.linalg import Rows
from ..core.trees import leaves, map_leaves, pack, unpack
from ..core.validation import refuse
from .records import Failure, Now

# fields of ``Now`` that a file holds as they are
COUNTS = ("rounds", "skipped", "failures", "asked", "untold", "edge")
FLAGS = ("warned", "cautioned", "late", "mixed")


def read(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """Head and arrays of a file that ``save`` wrote.

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
    return path


def refusal(path: str | os.PathLike, error: Exception) -> ValueError:
    """The error for a file that holds no learner, with the reason."""
    allowed = f"a file that save wrote, whole ({told(error)})"
    return ValueError(f"path={str(path)!r} holds no saved learner; allowed: {allowed}")


def check_sizes(
    path: str | os.PathLike, state: Any, arrays: dict[str, np.ndarray], first: Any
) -> None:
    """Raise ValueError where a leaf has another shape there; histories may have other lengths.

    ``first``: sizes of the context with which the file's learner began, to be named.
    """
    for name, leaf in leaves(state):
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


def packed(now: Now) -> tuple[dict, dict[str, np.ndarray]]:
    """Counts, flags, failures and plain leaves for the head; arrays of state and context.

    A function in a context, such as a set's oracle, is not written. It has to be given again for a load.
    """
    arrays, plain = pack(now.state)
    context = map_leaves(lambda path, x: None if callable(x) else x, now.context)
    offered, also = pack(context, "context")
    head = {name: getattr(now, name) for name in COUNTS + FLAGS}
    return head | {"plain": plain | also}, arrays | offered


def offered(head: dict, arrays: dict[str, np.ndarray]) -> Any:
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


def restored(
    now: Now, head: dict, arrays: dict[str, np.ndarray], device: torch.device | str = "cpu"
) -> Now:
    """What was packed, with nothing asked, on a device.

    Files from before failures were kept hold neither those nor flags, and older ones no context.

    Args:
        now: as before the first round: it has the classes and the context's functions.

    Raises:
        Exception: something is missing.
    """
    context, plain = now.context, head["plain"]
    if any(name.split(".")[0] == "context" for name in arrays):
        functions = {name: x for name, x in leaves(context, "context") if callable(x)}
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
    return Now(
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
