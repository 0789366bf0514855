"""What is sliced by trial: states, contexts and worlds as trees of tensors, and per-trial settings of learners and problems.

A tree is a tensor, ``Rows``, int, float, bool, str, None, or a tuple or NamedTuple of trees. Every
tensor in it has leading dimension R (trials), or 1 where the trials share it.

Per-trial settings: a field of a frozen dataclass that is a tensor with at least one dimension has one row per trial, and row i is
trial i's. The rule holds for the learner, the problem and every dataclass within their fields, for example a wrapper's base, also
in tuples, lists and dictionaries. What all trials share is a number or a tensor without dimensions.
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
    """``f`` of every tensor in a tree; plain leaves, shared by all trials, are kept."""

    def of_leaf(_: str, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return f(leaf)
        return leaf.map(f) if isinstance(leaf, Rows) else leaf

    return map_leaves(of_leaf, tree)


def tree_take(tree: Any, trials: Any) -> Any:
    """The given trials of a state, context or world.

    A tensor of leading dimension 1 is all trials' and stays; so does that of a run of one trial.

    Args:
        trials: anything that indexes a leading dimension.
    """
    return tree_map(lambda x: x if x.shape[0] == 1 else x[trials], tree)


def tree_where(mask: Tensor, a: Any, b: Any) -> Any:
    """The rows of ``a`` in trials where ``mask`` holds, else those of ``b``; looks at no value.

    Tensors that trials share in both trees come to have R rows, unless they are one and the same.

    Args:
        mask: bool, R.
        a, b: trees of one structure; tensors have R rows or 1, ``Rows`` the same length in both.

    Raises:
        ValueError: the trees differ in more than the tensors' values; with the path of the leaf.
    """
    # paths are compared first, because a leaf may be in the second tree alone
    others = dict(list_leaves(b))
    if odd := others.keys() ^ dict(list_leaves(a)).keys():
        raise ValueError(f"{min(odd)} is in one tree alone; allowed: trees of one structure")

    def pick(path: str, x: Any) -> Any:
        y = others[path]
        if type(x) is not type(y):
            kinds = f"{type(x).__name__} and {type(y).__name__}"
            raise ValueError(f"{path}={kinds}; allowed: trees of one structure")
        if isinstance(x, (Tensor, Rows)):
            joined = _joined(path, mask, _numbers(x), _numbers(y))
            return Rows.of(joined) if isinstance(x, Rows) else joined
        if repr(x) != repr(y):  # by its text a NaN is equal to itself
            raise ValueError(f"{path}={x!r} and {y!r}; allowed: one value, which all trials share")
        return x

    return map_leaves(pick, a)


def _joined(path: str, mask: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Rows of two tensors as one tensor.

    Raises:
        ValueError: they differ in dtype or a row's shape, or have neither R rows nor 1.
    """
    alike = (x.shape[1:], x.dtype) == (y.shape[1:], y.dtype)
    if not (alike and {len(x), len(y)} <= {1, len(mask)}):
        one, other = (f"{z.dtype} of shape {tuple(z.shape)}" for z in (x, y))
        allowed = f"one dtype and shape in both trees, with {len(mask)} rows or 1"
        raise ValueError(f"{path}={one} and {other}; allowed: {allowed}")
    # a view is an operation on a device, and most leaves are one number a trial
    rows = mask if x.dim() == 1 else mask.view(-1, *[1] * (x.dim() - 1))
    return x if x is y else torch.where(rows, x, y)


def check_unshared(base: str, state: Any, trials: int) -> None:
    """Check that a state can begin anew in some trials and go on in others.

    Args:
        base: what the state's learner is called.
        state: as ``init`` returns it for R = ``trials``; two trials tell more than one.

    Raises:
        ValueError: a leaf that is no tensor with R rows: a clock in Python, a shared tensor, ``Rows``. None holds nothing and may
            stand there. At R = 1 nobody can tell a shared row from its own.
    """
    own = lambda leaf: isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) == trials
    if paths := [path for path, leaf in list_leaves(state) if leaf is not None and not own(leaf)]:
        raise ValueError(
            f"base={base}, whose trials share {', '.join(paths)}; "
            f"allowed where trials restart apart: a learner whose state holds tensors of {trials} rows, "
            "one a trial, clocks among them"
        )


def map_leaves(f: Callable[[str, Any], Any], tree: Any, name: str = "state") -> Any:
    """``f`` of the path and the value of every leaf, in a tree of the same structure."""
    if not isinstance(tree, tuple):
        return f(name, tree)
    names = getattr(tree, "_fields", range(len(tree)))
    kids = [map_leaves(f, kid, f"{name}.{key}") for key, kid in zip(names, tree)]
    return type(tree)(*kids) if hasattr(tree, "_fields") else tuple(kids)


def list_leaves(tree: Any, name: str = "state") -> list[tuple[str, Any]]:
    """Every leaf with its path, ``state.base.theta``."""
    if isinstance(tree, tuple):
        names = getattr(tree, "_fields", range(len(tree)))
        return [leaf for key, kid in zip(names, tree) for leaf in list_leaves(kid, f"{name}.{key}")]
    return [(name, tree)]


def pack(tree: Any, name: str = "state") -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and plain leaves of a tree by path.

    Raises:
        ValueError: a leaf that has no portable form.
    """
    arrays, plain = {}, {}
    for path, leaf in list_leaves(tree, name):
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

    def found(path: str, leaf: Any) -> Any:
        if not isinstance(leaf, (Tensor, Rows)):
            return plain[path]
        value = torch.from_numpy(np.array(arrays[path])).to(device)
        return Rows.of(value) if isinstance(leaf, Rows) else value

    return map_leaves(found, like, name)


def state_bytes(state: Any, kinds: type | tuple[type, ...] = (Tensor, Rows)) -> int:
    """Bytes of the numbers that a state holds for all its trials; of ``Rows``, a history of rounds, the rows so far.

    ``kinds``: of the leaves that count. For example, ``Rows`` counts histories alone.
    """
    return sum(_numbers(leaf).nbytes for _, leaf in list_leaves(state) if isinstance(leaf, kinds))


def _numbers(leaf: Tensor | Rows) -> Tensor:
    return leaf.view if isinstance(leaf, Rows) else leaf


# Settings by trial --------------------------------------------------------------------------------------------


def normalize_trials(trials: int | Sequence[int] | np.ndarray) -> tuple[Sequence[int], int | None]:
    """Which trials are played, as Python's integers, and of how many, where a number says so.

    Raises:
        ValueError: neither a number nor a list of numbers, none at all, or one below 0.
    """
    if not isinstance(trials, (Sequence, np.ndarray)) or isinstance(trials, (str, bytes)):
        trials = check_integer("trials", trials)
        return range(trials), trials
    if np.size(trials) < 1:
        raise ValueError(f"trials={trials!r}; allowed: at least one trial")
    return [check_integer("trials", trial, least=0) for trial in trials], None


def select_trials(config: Any, trials: Any, total: int | None = None, name: str = "learner") -> Any:
    """The configuration that the given trials play: of every setting by trial their rows, in their order.

    Args:
        config: learner or problem; itself is returned where nothing in it varies by trial.
        trials: R trial numbers, 0, 1, ...
        total: trials of the whole run, which is then the number of rows; None where only a part of the run is
            known: then every trial asked for needs its row, and there may be more.
        name: what ``config`` is called in errors.

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
        if not field.init:  # made from the other fields, and made again from their rows
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
    if min(trials) < 0:  # would count from the end
        raise ValueError(
            f"trials={trials!r}; allowed with {name}, which has a row a trial: 0, 1, ..."
        )
    rows, least = len(value), max(trials) + 1
    if rows < least if total is None else rows != total:
        allowed = f"at least {least}" if total is None else str(total)
        raise ValueError(
            f"{name}: {rows} rows; allowed: {allowed}, one for each trial of the run, or one number for all"
        )
    return value if list(trials) == list(range(rows)) else value[list(trials)]
