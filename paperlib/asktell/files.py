"""What ask and tell save: one npz without pickle, read whole or refused by name."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..core.describe import PLAIN
from ..core.files import write_atomically
from ..core.linalg import Rows
from ..core.trees import leaves, pack, unpack
from .records import Failure, Now


def write(path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
    """Settings and plain values as JSON, arrays by name; the file appears whole or not at all."""
    words = np.array(json.dumps(head))
    write_atomically(path, lambda file: np.savez(file, head=words, **arrays))


def read(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """Head and arrays of a file that ``write`` wrote, after the checksum of each of its parts.

    Raises:
        ValueError: the file is another one, or damaged.
        OSError: it cannot be read at all.
    """
    raw = io.BytesIO(Path(path).read_bytes())
    try:
        with zipfile.ZipFile(raw) as parts:
            torn = parts.testzip()  # numpy stops before the checksum if a header lies
            if torn is not None:
                raise ValueError(f"{torn} is damaged")
        raw.seek(0)
        with np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return dict(json.loads(str(arrays.pop("head")))), arrays
    except Exception as error:  # what zipfile, numpy and json make of text, halves, turned bits
        raise refusal(path, error) from error


def refusal(path: str | os.PathLike, reason: Exception | str) -> ValueError:
    """The error for a file that holds no learner, with the reason."""
    why = f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else reason
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
    kept = ("rounds", "skipped", "warned", "late", "failures")
    return {name: getattr(now, name) for name in kept} | {"plain": plain | also}, arrays | offered


def restored(path: str | os.PathLike, now: Now, head: dict, arrays: dict[str, np.ndarray]) -> Now:
    """What was packed, with nothing asked; ``now`` has the classes and the context's functions.

    Files from before failures were kept hold neither those nor flags, and older ones no context.

    Raises:
        ValueError: something is missing, or of another kind.
    """
    try:
        state, context = unpack(now.state, arrays, head["plain"]), now.context
        if any(name.split(".")[0] == "context" for name in arrays):
            functions = {path: x for path, x in leaves(context, "context") if callable(x)}
            context = unpack(context, arrays, head["plain"] | functions, "context")
        counts = {"rounds": head["rounds"], "skipped": head.get("skipped", 0)}
        if not all(type(count) is int and count >= 0 for count in counts.values()):
            raise ValueError(f"{counts}; allowed: integers, at least 0")
        flags = {name: bool(head.get(name, False)) for name in ("warned", "late")}
        failures = [  # JSON makes lists of tuples
            Failure(t, tuple(x) if isinstance(x, list) else x, why)
            for t, x, why in head.get("failures", ())
        ]
        return Now(state, context, **counts, **flags, failures=tuple(failures))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise refusal(path, error) from error


def _without_functions(tree: Any) -> Any:
    """The tree with None for each function, such as a set's oracle: it is given anew for a load."""
    if isinstance(tree, tuple):
        kids = [_without_functions(kid) for kid in tree]
        return type(tree)(*kids) if hasattr(tree, "_fields") else tuple(kids)
    return None if callable(tree) else tree
