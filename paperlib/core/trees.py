"""Operations along the trials: on states, contexts and problem instances (trees of tensors) and on per-trial settings.

A tree is a tensor, ``Rows``, int, float, bool, str, None, or a tuple or NamedTuple of trees. Every
tensor in it has leading dimension R (trials), or 1 if the trials share it.

Per-trial settings: if a field of a frozen dataclass is a tensor with at least one dimension, its row i is the setting of trial i. The
rule holds for the learner, the problem and every dataclass within their fields (for example a wrapper's base), also in tuples, lists
and dictionaries. A setting that all trials share is a number or a tensor without dimensions.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .describe import PLAIN
from .linalg import Rows
from .validation import check_integer


def tree_map(f: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """Apply ``f`` to every tensor in a tree; plain leaves, which all trials share, are unchanged."""

    def of_leaf(_: str, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return f(leaf)
        return leaf.map(f) if isinstance(leaf, Rows) else leaf

    return map_leaves(of_leaf, tree)


def tree_take(tree: Any, trials: Any) -> Any:
    """Return the given trials of a state, context or problem instance.

    A tensor with leading dimension 1 belongs to all trials and is unchanged. In a run of one trial every tensor is unchanged.

    Args:
        trials: any index of the leading dimension.

    Examples:
        >>> import torch
        >>> from paperlib.core.trees import tree_take
        >>> state = (torch.zeros(5, 3), torch.ones(1, 2), 7)
        >>> [getattr(x, "shape", x) for x in tree_take(state, [0, 4])]
        [torch.Size([2, 3]), torch.Size([1, 2]), 7]
    """
    return tree_map(lambda x: x if x.shape[0] == 1 else x[trials], tree)


def tree_where(mask: Tensor, a: Any, b: Any) -> Any:
    """Return the rows of ``a`` in trials where ``mask`` is true and the rows of ``b`` elsewhere, without a synchronization.

    The result has R rows even where both trees have shared tensors, unless they are the same object.

    Args:
        mask: bool, R.
        a, b: trees of the same structure. Tensors have R rows or 1; ``Rows`` have the same length in both.

    Raises:
        ValueError: the trees differ in more than the values of tensors. The message contains the path of the leaf.
    """
    # Compare the paths first, because a leaf may exist only in the second tree.
    others = dict(list_leaves(b))
    if odd := others.keys() ^ dict(list_leaves(a)).keys():
        raise ValueError(
            f"the two trees must have the same structure, but only one of them has {min(odd)}"
        )

    def pick(path: str, x: Any) -> Any:
        y = others[path]
        if type(x) is not type(y):
            kinds = f"{type(x).__name__} and {type(y).__name__}"
            raise ValueError(f"{path} must have the same type in both trees, got {kinds}")
        if isinstance(x, (Tensor, Rows)):
            joined = _joined(path, mask, _numbers(x), _numbers(y))
            return Rows.of(joined) if isinstance(x, Rows) else joined
        if repr(x) != repr(y):  # texts are compared, because a NaN does not equal itself
            raise ValueError(
                f"{path} must have one value, which all trials share, got {x!r} and {y!r}"
            )
        return x

    return map_leaves(pick, a)


def _joined(path: str, mask: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return the rows of ``x`` where ``mask`` is true and the rows of ``y`` elsewhere.

    Raises:
        ValueError: the tensors differ in dtype or in the shape of a row, or have neither R rows nor 1.
    """
    alike = (x.shape[1:], x.dtype) == (y.shape[1:], y.dtype)
    if not (alike and {len(x), len(y)} <= {1, len(mask)}):
        one, other = (f"{z.dtype} of shape {tuple(z.shape)}" for z in (x, y))
        raise ValueError(
            f"{path} must have the same dtype and shape in both trees, with {len(mask)} rows or 1, got {one} and {other}"
        )
    # Most leaves have one number per trial and need no view, which would be an extra operation on a GPU.
    rows = mask if x.dim() == 1 else mask.view(-1, *[1] * (x.dim() - 1))
    return x if x is y else torch.where(rows, x, y)


def check_unshared(base: str, state: Any, trials: int) -> None:
    """Check that a state can be restarted in some trials and continued in others.

    Args:
        base: name of the state's learner.
        state: the state that ``init`` returns for R = ``trials``. Use at least two trials, because for R = 1 a shared row cannot be
            distinguished from a per-trial row.

    Raises:
        ValueError: a leaf that is not a tensor with R rows, for example a Python counter, a shared tensor or ``Rows``. None is allowed.
    """
    own = lambda leaf: isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) == trials
    if paths := [path for path, leaf in list_leaves(state) if leaf is not None and not own(leaf)]:
        raise ValueError(
            f"base must be a learner whose state consists of tensors with {trials} rows, one per trial, because trials "
            f"restart independently, got {base}, whose trials share {', '.join(paths)}. "
            "Store counters, for example a clock, in such tensors too"
        )


def map_leaves(f: Callable[[str, Any], Any], tree: Any, name: str = "state") -> Any:
    """Apply ``f`` to the path and the value of every leaf; return a tree of the same structure."""
    if not isinstance(tree, tuple):
        return f(name, tree)
    names = getattr(tree, "_fields", range(len(tree)))
    kids = [map_leaves(f, kid, f"{name}.{key}") for key, kid in zip(names, tree)]
    return type(tree)(*kids) if hasattr(tree, "_fields") else tuple(kids)


def list_leaves(tree: Any, name: str = "state") -> list[tuple[str, Any]]:
    """Return every leaf with its path, for example ``state.base.theta``."""
    if isinstance(tree, tuple):
        names = getattr(tree, "_fields", range(len(tree)))
        return [leaf for key, kid in zip(names, tree) for leaf in list_leaves(kid, f"{name}.{key}")]
    return [(name, tree)]


def pack(tree: Any, name: str = "state") -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the plain leaves of a tree by path.

    Raises:
        ValueError: a leaf of a type that cannot be saved.
    """
    arrays, plain = {}, {}
    for path, leaf in list_leaves(tree, name):
        if isinstance(leaf, (Tensor, Rows)):
            arrays[path] = _numbers(leaf).detach().cpu().numpy()
        elif isinstance(leaf, PLAIN):
            plain[path] = leaf
        else:
            raise ValueError(
                f"{path} must be a tensor, Rows, int, float, bool, str, None or NamedTuple, because it is part of a state, got {leaf!r}"
            )
    return arrays, plain


def unpack(
    like: Any, arrays: dict, plain: dict, name: str = "state", device: str | torch.device = "cpu"
) -> Any:
    """Return the tree that was packed, with the classes of ``like`` (a result of ``init``) and the values of the file."""

    def found(path: str, leaf: Any) -> Any:
        if not isinstance(leaf, (Tensor, Rows)):
            return plain[path]
        value = torch.from_numpy(np.array(arrays[path])).to(device)
        return Rows.of(value) if isinstance(leaf, Rows) else value

    return map_leaves(found, like, name)


def state_bytes(state: Any, kinds: type | tuple[type, ...] = (Tensor, Rows)) -> int:
    """Return the size of the state of all trials in bytes. ``Rows``, a history of rounds, count with the rows so far.

    ``kinds``: types of the leaves that count. For example, ``Rows`` counts only histories.
    """
    return sum(_numbers(leaf).nbytes for _, leaf in list_leaves(state) if isinstance(leaf, kinds))


def _numbers(leaf: Tensor | Rows) -> Tensor:
    return leaf.view if isinstance(leaf, Rows) else leaf


# Per-trial settings -----------------------------------------------------------------------------------------


def normalize_trials(trials: int | Sequence[int] | np.ndarray) -> tuple[Sequence[int], int | None]:
    """Return the trial numbers as Python integers, and the number of trials if ``trials`` is a number (otherwise None).

    Raises:
        ValueError: neither a number nor a list of numbers, an empty list, or a negative number.
    """
    if not isinstance(trials, (Sequence, np.ndarray)) or isinstance(trials, (str, bytes)):
        trials = check_integer("trials", trials)
        return range(trials), trials
    if np.size(trials) < 1:
        raise ValueError(f"trials must contain at least one trial, got {trials!r}")
    return [check_integer("trials", trial, least=0) for trial in trials], None


def select_trials(config: Any, trials: Any, total: int | None = None, name: str = "learner") -> Any:
    """Return a configuration with every per-trial setting restricted to the rows of the given trials, in their order.

    Args:
        config: learner or problem. It is returned itself if it has no per-trial settings.
        trials: R trial numbers, 0, 1, ...
        total: number of trials of the whole run, which must then be the number of rows. None means that it is unknown. Then every
            given trial needs its row, and there may be more rows.
        name: name of ``config`` in error messages.

    Raises:
        ValueError: a setting with another number of rows.
    """
    if isinstance(config, dict):
        kids = {
            key: select_trials(kid, trials, total, f"{name}[{key!r}]")
            for key, kid in config.items()
        }
        return kids if any(kids[key] is not config[key] for key in kids) else config
    if isinstance(config, (tuple, list)):
        kids = [select_trials(kid, trials, total, f"{name}[{i}]") for i, kid in enumerate(config)]
        if all(new is old for new, old in zip(kids, config)):
            return config
        return type(config)(*kids) if hasattr(config, "_fields") else type(config)(kids)
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        return config
    changed = {}
    for field in dataclasses.fields(config):
        if not field.init:  # computed from the other fields, so the constructor recomputes it
            continue
        value, path = getattr(config, field.name), f"{name}.{field.name}"
        if isinstance(value, Tensor) and value.dim():
            part = _rows(value, trials, total, path)
        else:
            part = select_trials(value, trials, total, path)
        if part is not value:
            changed[field.name] = part
    return dataclasses.replace(config, **changed) if changed else config


def _rows(value: Tensor, trials: Any, total: int | None, name: str) -> Tensor:
    if min(trials) < 0:  # a negative index would count from the end
        raise ValueError(
            f"trials must be at least 0, because {name} has one row per trial, got {trials!r}"
        )
    rows, least = len(value), max(trials) + 1
    if rows < least if total is None else rows != total:
        required = f"at least {least}" if total is None else str(total)
        raise ValueError(
            f"{name} must have one row per trial of the run, which is {required}, or be one number for all trials, got {rows}"
        )
    # Return the tensor itself if all rows are used, so that `select_trials` can detect "no change".
    return value if list(trials) == list(range(rows)) else value[list(trials)]
