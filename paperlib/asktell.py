"""Any learner on a problem of one's own: ask for an action, tell what it earned."""

import hashlib
import json
import os
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .core.describe import PLAIN, describe, same
from .core.contracts import Learner
from .core.trees import leaves, pack, tree_map, unpack
from .core.files import write_atomically
from .core.linalg import Rows
from .core.streams import Streams

TKWARGS = {"dtype": torch.float64, "device": "cpu"}


class AskTell:
    """One trial of a learner that keeps its state.

    A refused context, action or feedback raises before anything changes: what was learned stays.

    Args:
        learner: any learner of the package.
        context: the first context, without the leading trial dimension (for bandits the arms, K x d); a tuple or
            NamedTuple of tensors, each without it, for learners that take more than one.
        horizon: rounds, for learners that need to know; None otherwise.
        seed: of the learner's own random numbers.
        prepare: maps a context before the learner sees it, for example to bring arms to norm at most 1.

    Raises:
        ValueError: a context outside the learner's model or of another dimension than the first, or a learner that
            needs a horizon.
    """

    def __init__(self, learner: Learner, context: Any, horizon: int | None = None, seed: int = 0, prepare: Callable | None = None):
        self.learner, self.horizon, self.seed, self.prepare = learner, horizon, seed, prepare
        self.streams, self.rounds, self.pending, self.dim = Streams(seed, [0]), 0, None, None
        self.proposed = None  # the action that was asked for
        self.warned = False  # of an overflow
        self.late = False  # warned of rounds beyond the horizon
        self.fixed = None  # the arms of a learner whose ``fixed_arms`` says that they never change
        self.context = self._lead(context)
        self.first = list(self.context.shape[1:]) if isinstance(self.context, Tensor) else None  # sizes of parts of a state may hang on it
        with torch.no_grad():
            self.state = learner.init(1, self.context, horizon, self.streams.at(-1), **TKWARGS)
        caution = learner.caution(self.context) if hasattr(learner, "caution") else None
        if caution:
            warnings.warn(caution, stacklevel=2)

    def ask(self, context: Any = None) -> int | np.ndarray:
        """The next action: an arm's index, or a point (d). ``context``: the round's, if it changed."""
        lead = self.context if context is None else self._lead(context)
        with torch.no_grad():
            action, pending = self.learner.select(self.state, lead, self.streams.at(self.rounds))
        self.context, self.pending, self.proposed = lead, pending, action
        return action[0].numpy().copy() if action.dim() > 1 else int(action[0])

    def tell(self, action: int | np.ndarray, feedback: float | np.ndarray) -> None:
        """What the action earned in the context last asked about; it may be one's own unless the learner's ``own_actions`` is False.

        The first round beyond the horizon is warned of.

        Raises:
            ValueError: feedback that is not finite, is not one number (unless the learner wants a gradient) or that
                the learner's model excludes, or an unknown action, or another than the one asked for where the learner
                credits feedback to what it drew.
            RuntimeError: the learner reports failure; the state stays as it was.
        """
        heard = self._number("feedback", feedback)
        if self.learner.wants != "gradient" and heard.shape != (1,):  # R x 1 would broadcast to R x R in the state
            raise ValueError(f"feedback={feedback!r}; allowed: one number")
        played = self._action(action)
        self._validate(self.context, played, heard)
        draw = self.streams.at(self.rounds)
        with torch.no_grad():
            proposed, chosen = self.proposed, self.pending
            if chosen is None:  # told without having been asked: the choice still has to be prepared
                proposed, chosen = self.learner.select(self.state, self.context, draw)
            if not getattr(self.learner, "own_actions", True) and not torch.equal(played, proposed):
                raise ValueError(f"action={action!r}; allowed for {type(self.learner).__name__}, which learns of its own actions only: the one asked for, {proposed[0].tolist()}")
            after = self.learner.update(chosen, self.context, played, heard, draw)
        self._heed(after)
        if self.horizon is not None and self.rounds >= self.horizon and not self.late:
            self.late = True
            warnings.warn(f"round {self.rounds + 1} is beyond horizon={self.horizon}: settings, and what is proved of them, are for {self.horizon} rounds", stacklevel=2)
        self.state, self.rounds, self.pending = after, self.rounds + 1, None

    def _heed(self, state: Any) -> None:
        """Raise RuntimeError for a state whose report says "failed"; warn once where it says "overflow"."""
        report = self.learner.report(state) if hasattr(self.learner, "report") else {}
        said = {name: value[0].item() for name, value in report.items()}
        if said.get("failed"):
            raise RuntimeError(f"{type(self.learner).__name__} fails in round {self.rounds + 1} and learns nothing of it: its report is {said}")
        if said.get("overflow") and not self.warned:
            self.warned = True
            warnings.warn(f"{type(self.learner).__name__} reports an overflow of its capacity in round {self.rounds + 1}", stacklevel=3)

    def save(self, path: str | os.PathLike) -> None:
        """Write state and round to one npz, without pickle; functions in a context are not written."""
        arrays, plain = pack(self.state)
        offered, also = pack(_without_functions(self.context), "context")
        arrays, plain = arrays | offered, plain | also
        head = np.array(json.dumps({**self._settings(), "rounds": self.rounds, "plain": plain, "first": self.first}))
        write_atomically(path, lambda file: np.savez(file, head=head, **arrays))

    def load(self, path: str | os.PathLike) -> "AskTell":
        """Take up where ``save`` left off; returns itself.

        Raises:
            ValueError: the file is none of ``save``'s, was saved by another learner, with another horizon or seed, or begun with a
                context of another size.
        """
        head, own = _head(path), self._settings()
        if other := _differing({name: head.get(name) for name in own}, own):
            there, here = (", ".join(f"{name}={pair[i]!r}" for name, pair in other.items()) for i in (0, 1))
            raise ValueError(f"path={str(path)!r} was saved by a learner with {there}; allowed: {here}")
        with np.load(path, allow_pickle=False) as file:
            for name, leaf in leaves(self.state):
                if isinstance(leaf, PLAIN) or self.fixed is not None:  # the very same arms: parts may have grown since
                    continue
                grows = isinstance(leaf, Rows)
                there, here = (tuple(shape[:1] + shape[2:] if grows else shape) for shape in (file[name].shape, (leaf.view if grows else leaf).shape))
                if there != here:
                    raise ValueError(f"path={str(path)!r} holds {name} of shape {there}, begun with a context {head.get('first')}; allowed: {here}, of the context given here: begin with one of that size, then ask about others")
            self.state = unpack(self.state, file, head["plain"])
            if any(name == "context" or name.startswith("context.") for name in file.files):
                self.context = _with_functions(unpack(_without_functions(self.context), file, head["plain"], "context"), self.context)
        self.rounds, self.pending = head["rounds"], None
        return self

    def _settings(self) -> dict:
        arms = {} if self.fixed is None else {"arms": hashlib.sha256(str(tuple(self.fixed.shape)).encode() + self.fixed.numpy().tobytes()).hexdigest()}
        return {"learner": describe(self.learner), "horizon": self.horizon, "seed": self.seed, **arms}

    def _validate(self, context, action, feedback) -> None:
        if hasattr(self.learner, "validate"):
            self.learner.validate(context, action, feedback)

    def _lead(self, context: Any) -> Any:
        if self.prepare is not None:
            context = self.prepare(context)
        lead = lambda x: x.detach().clone().unsqueeze(0)  # a copy: the caller's stays the caller's
        context = tree_map(lead, context) if isinstance(context, tuple) else self._number("context", context)
        self._validate(context, None, None)
        if isinstance(context, Tensor):
            self.dim = self.dim or context.shape[-1]
            if context.shape[-1] != self.dim:
                raise ValueError(f"context={tuple(context.shape[1:])}; allowed: d = {self.dim} as in the first context, the number of arms may differ")
        if getattr(self.learner, "fixed_arms", False):
            self.fixed = context if self.fixed is None else self.fixed
            if not torch.equal(context, self.fixed):
                raise ValueError(f"context={tuple(context.shape[1:])}: other arms than the first; allowed for {type(self.learner).__name__}, which counts by index: the same arms in all rounds")
        return context

    def _number(self, name: str, value: Any) -> Tensor:
        if getattr(value, "dtype", None) in (np.float32, torch.float32):
            warnings.warn(f"{name} comes in float32 and is computed with in float64", stacklevel=4)
        try:
            x = torch.as_tensor(value.detach().clone() if isinstance(value, Tensor) else np.array(value, float), **TKWARGS)  # a copy: the caller's stays the caller's
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}={value!r}; allowed: numbers") from error
        if not bool(x.isfinite().all()):
            raise ValueError(f"{name}={value!r}; allowed: finite numbers")
        return x.unsqueeze(0)

    def _action(self, action: Any) -> Tensor:
        if not isinstance(action, (int, np.integer)) or isinstance(action, bool):
            if isinstance(self.context, Tensor):
                raise ValueError(f"action={action!r}; allowed: the index of an arm, an integer")
            return self._number("action", action)
        if isinstance(self.context, Tensor) and not 0 <= action < self.context.shape[1]:
            raise ValueError(f"action={action!r}; allowed: 0..{self.context.shape[1] - 1}")
        return torch.tensor([int(action)])


def _head(path: str | os.PathLike) -> dict:
    """What ``save`` wrote beside the arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(json.loads(str(file["head"])))
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:  # what numpy makes of text, arrays and halves of files
        raise ValueError(f"path={str(path)!r} holds no saved learner; allowed: a file that save wrote") from error


def _differing(there: Any, here: Any, name: str = "") -> dict[str, tuple]:
    """The settings that differ, by dotted name."""
    if isinstance(there, dict) and isinstance(here, dict):
        inner = [_differing(there.get(key), here.get(key), f"{name}.{key}" if name else key) for key in {**here, **there}]
        return {key: pair for found in inner for key, pair in found.items()}
    return {} if same(there, here) else {name: (there, here)}


def _without_functions(tree: Any) -> Any:
    """The tree with None for each function, such as a set's oracle: it is the user's own, given anew before a load."""
    if isinstance(tree, tuple):
        kids = [_without_functions(kid) for kid in tree]
        return type(tree)(*kids) if hasattr(tree, "_fields") else tuple(kids)
    return None if callable(tree) else tree


def _with_functions(tree: Any, like: Any) -> Any:
    """The tree with the functions of ``like`` back in their places."""
    if isinstance(like, tuple):
        kids = [_with_functions(kid, other) for kid, other in zip(tree, like)]
        return type(like)(*kids) if hasattr(like, "_fields") else tuple(kids)
    return like if callable(like) else tree
