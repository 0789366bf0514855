"""Any learner on a problem of one's own: ask for an action, tell what it earned."""

import hashlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.contracts import Learner
from ..core.describe import describe, same
from ..core.settings import for_trials
from ..core.streams import Draw, Streams
from ..core.trees import tree_map
from ..core.validation import whole
from .files import check_sizes, packed, read, restored, write
from .inputs import TKWARGS, number, warn
from .records import Now


class AskTell:
    """One trial of a learner that keeps its state.

    A refused context, action or feedback raises before anything changes: what was learned stays.
    So it does where a call is interrupted.

    Args:
        learner: any learner of the package.
        context: the first context, without the leading trial dimension (for bandits the arms, K x
            d); a tuple or NamedTuple of tensors, each without it, for learners that take several.
        horizon: rounds, for learners that need to know; None otherwise.
        seed: of the learner's own random numbers.
        prepare: maps a context before the learner sees it, for example to bring arms to norm at
            most 1.

    Raises:
        ValueError: a context outside the learner's model or of another dimension than the first, or
            a learner that needs a horizon, a horizon or seed that is none, or a learner with settings for more than one trial.
    """

    def __init__(
        self,
        learner: Learner,
        context: Any,
        horizon: int | None = None,
        seed: int = 0,
        prepare: Callable | None = None,
    ):
        self.learner = for_trials(learner, range(1), 1)  # settings by trial: of the one
        if horizon is not None:
            whole("horizon", horizon)
        whole("seed", seed, least=0)
        # numpy's integers are not JSON
        self.horizon, self.seed = None if horizon is None else int(horizon), int(seed)
        self._prepare = prepare
        self._streams, self._dim = Streams(self.seed, [0]), None
        self._fixed = None  # the arms of a learner whose ``fixed_arms`` says that they never change
        begin = self._lead(context)
        # sizes of parts of a state may hang on it
        self._first = list(begin.shape[1:]) if isinstance(begin, Tensor) else None
        with torch.no_grad():
            state = learner.init(1, begin, self.horizon, self._streams.at(-1), **TKWARGS)
        self._now = Now(state, begin)
        caution = learner.caution(begin) if hasattr(learner, "caution") else None
        if caution:
            warn(caution)

    @property
    def state(self) -> Any:
        """What was learned: the learner's state, of one trial."""
        return self._now.state

    @property
    def context(self) -> Any:
        """The context last asked about, led by the one trial."""
        return self._now.context

    @property
    def rounds(self) -> int:
        """Rounds told."""
        return self._now.rounds

    def __repr__(self) -> str:
        learner = " ".join(repr(self.learner).split())  # on one line, also with tensors in it
        counts = ", ".join(f"{name}={count}" for name, count in self._counts().items())
        return f"{type(self).__name__}({learner}, {counts})"

    def _counts(self) -> dict[str, int | None]:
        """What ``repr`` says beside the learner."""
        return {"rounds": self.rounds, "horizon": self.horizon}

    def ask(self, context: Any = None) -> int | np.ndarray:
        """The next action, an arm's index or a point (d). ``context``: the round's, if changed."""
        self._now = now = self._choosing(self._now, context)
        action = now.proposed
        return action[0].numpy().copy() if action.dim() > 1 else int(action[0])

    def _choosing(self, now: Now, context: Any) -> Now:
        """What follows ``now`` when an action is asked for; nothing of ``self`` changes."""
        lead = now.context if context is None else self._lead(context)
        with torch.no_grad():
            action, pending = self.learner.select(now.state, lead, self._draw(now))
        return now._replace(context=lead, pending=pending, proposed=action)

    def tell(self, action: int | np.ndarray, feedback: float | np.ndarray) -> None:
        """What the action earned in the context last asked about.

        It may be an action of one's own unless the learner's ``own_actions`` is False. The first
        round beyond the horizon is warned of.

        Raises:
            ValueError: feedback that is not finite, is not one number (unless the learner wants a
                gradient) or that the learner's model excludes, or an unknown action, or another
                than the one asked for where the learner credits feedback to what it drew.
            RuntimeError: the learner reports failure; the state stays as it was.
        """
        self._now = self._heard(self._now, action, feedback)

    def _heard(self, now: Now, action: Any, feedback: Any) -> Now:
        """What follows ``now`` when the action's feedback is told; nothing of ``self`` changes."""
        heard = number("feedback", feedback)
        # R x 1 would broadcast to R x R in the state
        if self.learner.wants != "gradient" and heard.dim() != 1:
            raise ValueError(f"feedback={feedback!r}; allowed: one number")
        played, draw = self._action(action), self._draw(now)
        self._validate(now.context, played, heard)
        with torch.no_grad():
            proposed, chosen = now.proposed, now.pending
            if proposed is None:  # not asked for: the choice still has to be prepared
                proposed, chosen = self.learner.select(now.state, now.context, draw)
            if not getattr(self.learner, "own_actions", True) and not torch.equal(played, proposed):
                raise ValueError(
                    f"action={action!r}; allowed for {type(self.learner).__name__}, which "
                    f"learns of its own actions only: the one asked for, {proposed[0].tolist()}"
                )
            after = self.learner.update(chosen, now.context, played, heard, draw)
        now = self._heeded(now, after)
        late = self.horizon is not None and now.rounds >= self.horizon
        if late and not now.late:
            warn(
                f"round {now.rounds + 1} is beyond horizon={self.horizon}: settings, and what is "
                f"proved of them, are for {self.horizon} rounds"
            )
        return now._replace(
            state=after, rounds=now.rounds + 1, proposed=None, pending=None, late=now.late or late
        )

    def _heeded(self, now: Now, state: Any) -> Now:
        """Raise RuntimeError for a state that reports "failed"; warn once of "overflow"."""
        report = self.learner.report(state) if hasattr(self.learner, "report") else {}
        said = {key: value[0].item() for key, value in report.items()}
        name = type(self.learner).__name__
        if said.get("failed"):
            raise RuntimeError(
                f"{name} fails in round {now.rounds + 1} and learns nothing of it: "
                f"its report is {said}"
            )
        if not said.get("overflow") or now.warned:
            return now
        warn(f"{name} reports an overflow of its capacity in round {now.rounds + 1}")
        return now._replace(warned=True)

    def _draw(self, now: Now, ahead: int = 0) -> Draw:
        """The key of the round that comes, or of one ``ahead`` of it."""
        return self._streams.at(now.rounds + now.skipped + ahead)

    def save(self, path: str | os.PathLike) -> None:
        """Write all but a pending ask to one npz, without pickle.

        Functions in a context are not written; what was asked is asked again after a load.
        """
        head, arrays = packed(self._now)
        write(path, self._settings() | {"first": self._first} | head, arrays)

    def load(self, path: str | os.PathLike) -> "AskTell":
        """Take up where ``save`` left off; returns itself, unchanged where it raises.

        Raises:
            ValueError: the file is none of ``save``'s or damaged, was saved by another learner,
                with another horizon or seed, or begun with a context of another size.
        """
        (head, arrays), own = read(path), self._settings()
        if other := _differing({name: head.get(name) for name in own}, own):
            there, here = (
                ", ".join(f"{name}={pair[i]!r}" for name, pair in other.items()) for i in (0, 1)
            )
            raise ValueError(
                f"path={str(path)!r} was saved by a learner with {there}; allowed: {here}"
            )
        first = head.get("first")
        if self._fixed is None:  # else the very same arms: parts may have grown since
            check_sizes(path, self.state, arrays, first)
        if self._dim is not None and first and first[-1] != self._dim:
            raise ValueError(
                f"path={str(path)!r} was begun with a context {first}; allowed: "
                f"{self._dim} dimensions, as the context given here"
            )
        self._now = restored(path, self._now, head, arrays)
        return self

    def _settings(self) -> dict:
        settings = {"learner": describe(self.learner), "horizon": self.horizon, "seed": self.seed}
        if self._fixed is not None:
            known = str(tuple(self._fixed.shape)).encode() + self._fixed.numpy().tobytes()
            settings["arms"] = hashlib.sha256(known).hexdigest()
        return settings

    def _validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        if hasattr(self.learner, "validate"):
            self.learner.validate(context, action, feedback)

    def _lead(self, context: Any) -> Any:
        if self._prepare is not None:
            context = self._prepare(context)
        if isinstance(context, tuple):  # a copy: the caller's stays the caller's
            context = tree_map(lambda x: x.detach().clone().unsqueeze(0), context)
        else:
            context = number("context", context)
        self._validate(context, None, None)
        if isinstance(context, Tensor):
            self._dim = self._dim or context.shape[-1]
            if context.shape[-1] != self._dim:
                raise ValueError(
                    f"context={tuple(context.shape[1:])}; allowed: d = {self._dim} as in the "
                    "first context, the number of arms may differ"
                )
        if getattr(self.learner, "fixed_arms", False):
            self._fixed = context if self._fixed is None else self._fixed
            if not torch.equal(context, self._fixed):
                raise ValueError(
                    f"context={tuple(context.shape[1:])}: other arms than the first; allowed for "
                    f"{type(self.learner).__name__}, which counts by index: the same arms in "
                    "all rounds"
                )
        return context

    def _action(self, action: Any) -> Tensor:
        if not isinstance(action, (int, np.integer)) or isinstance(action, bool):
            if isinstance(self.context, Tensor):
                raise ValueError(f"action={action!r}; allowed: the index of an arm, an integer")
            return number("action", action)
        if isinstance(self.context, Tensor) and not 0 <= action < self.context.shape[1]:
            raise ValueError(f"action={action!r}; allowed: 0..{self.context.shape[1] - 1}")
        return torch.tensor([int(action)])


def _differing(there: Any, here: Any, name: str = "") -> dict[str, tuple]:
    """The settings that differ, by dotted name."""
    if isinstance(there, dict) and isinstance(here, dict):
        inner = [
            _differing(there.get(key), here.get(key), f"{name}.{key}" if name else key)
            for key in {**here, **there}
        ]
        return {key: pair for found in inner for key, pair in found.items()}
    agree = same(there, here) if name.endswith("kind") else there == here
    return {} if agree else {name: (there, here)}
