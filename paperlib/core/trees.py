"""States, contexts and worlds as trees of tensors: sliced, joined by trial, packed, weighed.

A tree is a tensor, ``Rows``, int, float, bool, str, None, or a tuple or NamedTuple of trees. Every
tensor in it has leading dimension R (trials), or 1 where the trials share it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .describe import PLAIN
from .linalg import Rows


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
    """The given trials of a state, context or world; ``scatter`` puts them back.

    A tensor of leading dimension 1 is all trials' and stays; so does that of a run of one trial.

    Args:
        trials: anything that indexes a leading dimension.
    """
    return tree_map(lambda x: x if x.shape[0] == 1 else x[trials], tree)


def where(mask: Tensor, a: Any, b: Any) -> Any:
    """The rows of ``a`` in trials where ``mask`` holds, else those of ``b``; looks at no value.

    Tensors that trials share in both trees come to have R rows, unless they are one and the same.

    Args:
        mask: bool, R.
        a, b: trees of one structure; tensors have R rows or 1, ``Rows`` the same length in both.

    Raises:
        ValueError: the trees differ in more than the tensors' values; with the path of the leaf.
    """

    def pick(path: str, x: Tensor, y: Tensor) -> Tensor:
        _alike(path, x, y, len(mask))
        rows = mask if x.dim() == 1 else mask.view(-1, *[1] * (x.dim() - 1))
        return x if x is y else torch.where(rows, x, y)

    return _joined(pick, a, b, "state")


def scatter(tree: Any, trials: Any, rows: Any) -> Any:
    """``tree`` with the given trials replaced by ``rows``, a tree of those trials alone.

    Tensors that trials share in ``tree`` come to have R rows, unless ``rows`` holds the very same,
    as after ``take``. Neither tree is changed.

    Args:
        trials: r different trials, as anything that indexes a leading dimension and keeps it.
        rows: a tree of one structure with ``tree``; tensors have r rows or 1, ``Rows`` the same
            length in both.

    Raises:
        ValueError: the trees differ in more than the tensors' values and number of rows; with the
            path of the leaf.
    """
    held = [_numbers(leaf) for _, leaf in leaves(tree) if isinstance(leaf, (Tensor, Rows))]
    count = max(map(len, held), default=1)

    def put(path: str, x: Tensor, y: Tensor) -> Tensor:
        if x is y and len(x) == 1:
            return x
        x = x.expand(count, *x.shape[1:]).clone()
        _alike(path, y, x[trials], len(x[trials]))
        x[trials] = y
        return x

    return _joined(put, tree, rows, "state")


def _joined(f: Callable[[str, Tensor, Tensor], Tensor], a: Any, b: Any, path: str) -> Any:
    """``f`` of every pair of tensors of two trees, by path.

    Raises:
        ValueError: structure, plain leaves or lengths of ``Rows`` differ.
    """
    if type(a) is not type(b):
        kinds = f"{type(a).__name__} and {type(b).__name__}"
        raise ValueError(f"{path}={kinds}; allowed: trees of one structure")
    if isinstance(a, tuple):
        if len(a) != len(b):
            raise ValueError(f"{path}={len(a)} and {len(b)} parts; allowed: trees of one structure")
        names = getattr(a, "_fields", range(len(a)))
        kids = [_joined(f, x, y, f"{path}.{key}") for key, x, y in zip(names, a, b)]
        return type(a)(*kids) if hasattr(a, "_fields") else tuple(kids)
    if isinstance(a, Rows):
        if a.n != b.n:
            raise ValueError(f"{path}={a.n} and {b.n} past rows; allowed: as many in both trees")
        return Rows.of(f(path, a.view, b.view))
    if isinstance(a, Tensor):
        return f(path, a, b)
    if repr(a) != repr(b):  # by its text a NaN is equal to itself
        raise ValueError(f"{path}={a!r} and {b!r}; allowed: one value, which all trials share")
    return a


def _alike(path: str, x: Tensor, y: Tensor, rows: int) -> None:
    """Check that two tensors could be rows of one.

    Raises:
        ValueError: they differ in dtype or a row's shape, or have neither ``rows`` rows nor 1.
    """
    if not {len(x), len(y)} <= {1, rows}:
        raise ValueError(f"{path}={len(x)} and {len(y)} rows; allowed: {rows}, one a trial, or 1")
    if (x.shape[1:], x.dtype) != (y.shape[1:], y.dtype):
        one, other = (f"{z.dtype} of shape {tuple(z.shape[1:])}" for z in (x, y))
        raise ValueError(f"{path}={one} and {other} a trial; allowed: the same in both trees")


def shared(tree: Any, trials: int, name: str = "state") -> list[str]:
    """Paths of leaves that are no tensors with R rows: clocks in Python, shared tensors, ``Rows``.

    None holds nothing and is not among them. At R = 1 nobody can tell a shared row from its own.
    """
    own = lambda leaf: isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) == trials
    return [path for path, leaf in leaves(tree, name) if leaf is not None and not own(leaf)]


def refuse_shared(base: str, state: Any, trials: int) -> None:
    """Check that a state can begin anew in some trials and go on in others.

    Args:
        base: what the state's learner is called.
        state: as ``init`` returns it for R = ``trials``; two trials tell more than one.

    Raises:
        ValueError: a leaf that is no tensor with R rows.
    """
    if paths := shared(state, trials):
        raise ValueError(
            f"base={base}, whose trials share {', '.join(paths)}; "
            f"allowed where trials restart apart: a learner whose state holds tensors of {trials} rows, "
            "one a trial, clocks among them"
        )


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
            arrays[path] = _numbers(leaf).detach().cpu().numpy()
        elif isinstance(leaf, PLAIN):
            plain[path] = leaf
        else:
            raise ValueError(
                f"{path}={leaf!r}; allowed in a state: tensor, Rows, int, float, bool, str, None, NamedTuple"
            )
    return arrays, plain


def unpack(
    like: Any, arrays: dict, plain: dict, name: str = "state", device: str | torch.device = "cpu"
) -> Any:
    """The tree that was packed: classes from ``like`` (what ``init`` returns), values from the file."""
    if isinstance(like, tuple):
        names = getattr(like, "_fields", range(len(like)))
        kids = [
            unpack(kid, arrays, plain, f"{name}.{key}", device) for key, kid in zip(names, like)
        ]
        return type(like)(*kids) if hasattr(like, "_fields") else tuple(kids)
    if not isinstance(like, (Tensor, Rows)):
        return plain[name]
    value = torch.from_numpy(np.array(arrays[name])).to(device)
    return Rows.of(value) if isinstance(like, Rows) else value


def state_bytes(state: Any) -> int:
    """Bytes of the numbers that a state holds for all its trials; of a growing history the rows so far."""
    return sum(_bytes(leaf) for _, leaf in leaves(state) if isinstance(leaf, (Tensor, Rows)))


def history_bytes(state: Any) -> int:
    """The part of ``state_bytes`` that is a history of rounds, kept as rows."""
    return sum(_bytes(leaf) for _, leaf in leaves(state) if isinstance(leaf, Rows))


def _numbers(leaf: Tensor | Rows) -> Tensor:
    return leaf.view if isinstance(leaf, Rows) else leaf


def _bytes(leaf: Tensor | Rows) -> int:
    return _numbers(leaf).numel() * _numbers(leaf).element_size()
