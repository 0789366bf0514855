"""The vocabulary: learners, problems, traces, and trees of tensors.

A tree is a tensor, ``Rows``, int, float, bool, str, None, or a tuple or NamedTuple of trees. Every
tensor in it has leading dimension R (trials), or 1 where the trials share it.
"""

import dataclasses
import enum
import functools
import inspect
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from .linalg import Rows
from .streams import Draw

PLAIN = (bool, int, float, str, type(None))


class Learner(Protocol):
    """A frozen dataclass of hyper-parameters with three pure methods on a state.

    Optional: ``report(state) -> {name: R}`` (the name ``failed`` makes ``play`` raise);
    ``validate(context, action, feedback)`` raises ValueError for values outside the model (``action`` and
    ``feedback`` may be None); ``caution(context)`` returns a sentence to warn a user with, or None;
    ``syncs``, "per round" or "host", says that the learner has to look at its tensors.
    """

    wants: str  # "reward" | "loss" | "gradient"

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> Any: ...
    def select(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]: ...
    def update(self, state: Any, context: Any, action: Tensor, feedback: Tensor, draw: Draw) -> Any: ...


class Problem(Protocol):
    """A frozen description of an environment. ``gap`` is the instantaneous regret, R."""

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> Any: ...
    def context(self, world: Any, t: int) -> Any: ...
    def respond(self, world: Any, t: int, action: Tensor, wants: str, draw: Draw) -> tuple[Tensor, Tensor]: ...


class Case(NamedTuple):
    """A learner with a problem it can be tested on; ``refused``: values that a field must not take, by field."""

    learner: Learner
    problem: Problem
    refused: dict[str, list] = {}


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


def describe(x: Any) -> Any:
    """JSON form of a configuration: what enters content keys, checkpoints and provenance."""
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {"kind": f"{type(x).__module__}.{type(x).__qualname__}", **{f.name: describe(getattr(x, f.name)) for f in dataclasses.fields(x)}}
    if isinstance(x, (Tensor, np.ndarray)):
        return {"kind": str(x.dtype), "values": x.tolist()}
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, dict):
        return {str(key): describe(value) for key, value in x.items()}
    if isinstance(x, (list, tuple, range)):
        return [describe(value) for value in x]
    if isinstance(x, functools.partial):
        return {"kind": "partial", "function": describe(x.func), "args": describe(x.args), "keywords": describe(x.keywords)}
    if isinstance(x, enum.Enum):
        return str(x)
    if hasattr(x, "__qualname__"):  # a function written in a notebook, or a lambda, is known by its text
        known = x.__module__ != "__main__" and "<" not in x.__qualname__
        try:
            return f"{x.__module__}.{x.__qualname__}" if known else inspect.getsource(x)
        except (OSError, TypeError) as error:  # typed at Python's own prompt
            raise ValueError(f"{x!r} has no source to be known by; allowed: functions of a file or of a notebook's cell") from error
    if isinstance(x, PLAIN):
        return x
    raise ValueError(f"{x!r} cannot stand in a configuration; allowed: numbers, strings, tensors, functions, frozen dataclasses and containers of these")


def write_atomically(path: str | os.PathLike, write: Callable[[Any], None]) -> None:
    """Let ``write`` fill a binary file under a temporary name, then move it to ``path``."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What ``play`` returns: every trial, every recorded round.

    Attributes:
        rounds: T', the recorded rounds, counted from 1.
        series: name -> R x T' (x k); "regret" is the cumulative regret.
        final: name -> R (x k), taken once after the last round.
        seconds: T', cumulative seconds in ``select`` and ``update`` for all trials of a chunk together,
            summed over chunks; apart from equality.
        trials: the trials, in the order of the rows.
        about: learner, problem, horizon, seed, device, versions.
    """

    rounds: np.ndarray
    series: dict[str, np.ndarray]
    final: dict[str, np.ndarray]
    seconds: np.ndarray
    trials: list[int]
    about: dict

    def __getitem__(self, name: str) -> np.ndarray:
        return self.series[name] if name in self.series else self.final[name]

    def __repr__(self) -> str:
        learner = self.about.get("learner", {}).get("kind", "?").rsplit(".", 1)[-1]
        regret = f", regret {self['regret'][:, -1].mean():.6g}" if "regret" in self.series else ""
        return f"Trace({learner}, {len(self.trials)} trials, {self.rounds[-1]} rounds{regret})"

    def equal(self, other: "Trace") -> bool:
        """Same trials, rounds and numbers, bit for bit; seconds do not count."""
        same = lambda a, b: a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)
        return (self.trials == other.trials and np.array_equal(self.rounds, other.rounds)
                and same(self.series, other.series) and same(self.final, other.final))

    def to_numpy(self) -> dict[str, np.ndarray]:
        """Rounds, seconds, trials and all series in one dictionary."""
        return {"rounds": self.rounds, "seconds": self.seconds, "trials": np.array(self.trials), **self.series, **self.final}

    def with_best(self, f: Callable[["Trace"], np.ndarray]) -> "Trace":
        """Regret against a comparator known only afterwards: ``f(trace)``, cumulative value R x T', minus what was lost."""
        return dataclasses.replace(self, series={**self.series, "regret": f(self) - self["regret"]})

    def save(self, path: str | os.PathLike) -> None:
        """Write one npz without pickle."""
        arrays = {f"series.{k}": v for k, v in self.series.items()} | {f"final.{k}": v for k, v in self.final.items()}
        head = np.array(json.dumps({"about": self.about, "trials": self.trials}))
        write_atomically(path, lambda file: np.savez(file, head=head, rounds=self.rounds, seconds=self.seconds, **arrays))

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Trace":
        """Read what ``save`` wrote."""
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            part = lambda prefix: {k.removeprefix(prefix): file[k] for k in file.files if k.startswith(prefix)}
            return cls(file["rounds"], part("series."), part("final."), file["seconds"], head["trials"], head["about"])

    @classmethod
    def merge(cls, parts: Sequence["Trace"]) -> "Trace":
        """Chunks of the same run, one after the other."""
        first, about = parts[0], {k: v for k, v in parts[0].about.items() if k != "trials"}
        for part in parts[1:]:
            if {k: v for k, v in part.about.items() if k != "trials"} != about or not np.array_equal(part.rounds, first.rounds):
                raise ValueError(f"parts={list(parts)!r}; allowed: chunks of one run, with equal learner, problem, horizon, seed and rounds")
        join = lambda kind: {k: np.concatenate([getattr(p, kind)[k] for p in parts]) for k in getattr(first, kind)}
        return cls(first.rounds, join("series"), join("final"), sum(p.seconds for p in parts), sum((p.trials for p in parts), []), about)
