"""States, contexts and worlds as trees of tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .linalg import Rows
from .describe import PLAIN


def tree_map(f: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """``f`` of every tensor in a tree; plain leaves, shared by all trials, are kept."""
    if isinstance(tree, Tensor):
        return f(tree)
    if isinstance(tree, Rows):
        return tree.map(f)
    if isinstance(tree, tuple):
        kids = [tree_map(f, kid) for kid in tree]
        return type(tree)(*kids) if hasattr(tree, "_fields") else tuple(kids)
    return tree


def take(tree: Any, trials: Any) -> Any:
    """The given trials (anything that indexes a leading dimension) of a state, context or world."""
    return tree_map(lambda x: x if x.shape[0] == 1 else x[trials], tree)


def leaves(tree: Any, name: str = "state") -> list[tuple[str, Any]]:
    """Every leaf with its path, ``state.base.theta``."""
    if isinstance(tree, tuple):
        names = getattr(tree, "_fields", range(len(tree)))
        return [leaf for key, kid in zip(names, tree) for leaf in leaves(kid, f"{name}.{key}")]
    return [(name, tree)]


def pack(tree: Any, name: str = "state") -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and plain leaves of a tree by path.

    Raises:
        ValueError: a leaf that has no portable form.
    """
    arrays, plain = {}, {}
    for path, leaf in leaves(tree, name):
        if isinstance(leaf, (Tensor, Rows)):
            arrays[path] = (leaf.view if isinstance(leaf, Rows) else leaf).detach().cpu().numpy()
        elif isinstance(leaf, PLAIN):
            plain[path] = leaf
        else:
            raise ValueError(f"{path}={leaf!r}; allowed in a state: tensor, Rows, int, float, bool, str, None, NamedTuple")
    return arrays, plain


def unpack(like: Any, arrays: dict, plain: dict, name: str = "state", device: str | torch.device = "cpu") -> Any:
    """The tree that was packed: classes from ``like`` (what ``init`` returns), values from the file."""
    if isinstance(like, tuple):
        names = getattr(like, "_fields", range(len(like)))
        kids = [unpack(kid, arrays, plain, f"{name}.{key}", device) for key, kid in zip(names, like)]
        return type(like)(*kids) if hasattr(like, "_fields") else tuple(kids)
    if not isinstance(like, (Tensor, Rows)):
        return plain[name]
    value = torch.from_numpy(np.array(arrays[name])).to(device)
    return Rows.of(value) if isinstance(like, Rows) else value


def state_bytes(state) -> int:
    """Bytes of the numbers that a state holds for all its trials; of a growing history the rows so far."""
    return sum(_bytes(leaf) for _, leaf in leaves(state))


def history_bytes(state) -> int:
    """The part of ``state_bytes`` that is a history of rounds, kept as rows."""
    return sum(_bytes(leaf) for _, leaf in leaves(state) if isinstance(leaf, Rows))


def _bytes(leaf) -> int:
    numbers = leaf.view if isinstance(leaf, Rows) else leaf
    return numbers.numel() * numbers.element_size() if isinstance(numbers, Tensor) else 0
