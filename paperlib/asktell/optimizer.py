"""Ask and tell for a search: batches, data of one's own, and evaluations that fail."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from torch import Tensor

from ..core.contracts import tags_of
from ..core.describe import short_repr
from ..core.text import format_error
from ..core.validation import raise_invalid
from .inputs import count_dimensions, list_entries, real_number, to_numpy
from .records import Failure, TrialState
from .trial import AskTell


class Optimizer(AskTell):
    """One trial of a learner that searches: see ``AskTell`` for the arguments.

    ::

        x = search.ask()
        try:
            search.tell(x, f(x))
        except Exception as error:  # f raised, or gave no finite number
            search.fail(x, error)

    Each call is done whole or not at all, also where it is interrupted: a batch of which one entry
    is refused, or a damaged file to restore from, leaves everything as it was.
    """

    _OBSERVED = ("actions", "feedback")  # what the arguments of ``observe`` are called

    @property
    def failures(self) -> list[Failure]:
        """Evaluations that gave no number, in the order told: round, action and reason each."""
        return list(self._now.failures)

    def tell(self, action: Any, feedback: Any, context: Any = None) -> None:
        """What an action earned, or what each of a batch did.

        Args:
            action: an arm's index or a point (d); a batch: n indices, or n x d, in a list, an array or a table.
            feedback: one number, of a batch n (of a learner that wants a gradient d, or n x d).
            context: as for ``AskTell.tell``, that of the whole batch.

        Raises:
            ValueError: as ``AskTell.tell``, or not as many numbers as actions; nothing is learned
                of a batch with one bad entry. What is no finite number can be told by ``fail``.
            RuntimeError: the learner reports failure; nothing is learned.
        """
        if not self._many(action):
            super().tell(action, feedback, context)
        else:
            hear = lambda now: self._all_heard(now, ("action", "feedback"), action, feedback)
            self._now = self._within(context, hear)

    def observe(self, actions: Any, feedback: Any, context: Any = None) -> None:
        """Data of one's own, before the first ask or later.

        Args:
            actions: n of them, each a round: indices of arms, or n x d, in a list, an array or a table.
            feedback: what they earned, n numbers.
            context: as for ``AskTell.tell``, that of all of them.

        Raises:
            ValueError: as ``tell``, or a learner that learns of its own actions only.
            RuntimeError: as ``tell``.
        """
        if not tags_of(self.learner).own_actions:
            raise ValueError(
                f"{self._OBSERVED[0]}={short_repr(actions)}; allowed for {type(self.learner).__name__}, which "
                "learns of its own actions only: none, tell what was asked for"
            )
        heard = lambda now: self._all_heard(now, self._OBSERVED, actions, feedback)
        # data of one's own answer no ask
        self._now = self._within(context, lambda now: heard(now)._replace(untold=now.untold))

    def fail(
        self, action: Any, reason: Any, instead: float | None = None, context: Any = None
    ) -> None:
        """An evaluation raised, or gave no finite number: it is recorded and the search goes on.

        By default the learner hears nothing, and the round does not count. What was asked is
        dropped, and the draws move on by a round: a learner that chooses at random asks for another
        action next. One whose choice is settled by what it knows asks for the same action again:
        right where a failure passes. Where it lasts, tell a number ``instead`` (such as the worst
        so far), of which it learns as of any other, in a round that counts; or observe another
        action.

        Args:
            action: an arm's index, or a point (d).
            reason: the exception, the feedback that is no finite number (nan, None, ...), or words.
            instead: the number that the learner hears in place of the missing one; None: nothing.
            context: as for ``AskTell.tell``.

        Raises:
            ValueError: an unknown action, a reason that is a finite number, or a number instead
                that ``tell`` would refuse; nothing is recorded.
            RuntimeError: the learner reports failure; nothing is recorded.
        """
        self._now = self._within(context, lambda now: self._recorded(now, action, reason, instead))

    def _recorded(
        self, now: TrialState, action: Any, reason: Any, instead: float | None
    ) -> TrialState:
        """What follows ``now`` when the action gave no number; nothing of ``self`` changes."""
        played, why = self._action(action, now.context), failure_reason(reason)
        self._validate(now.context, played, None)
        failure = Failure(now.rounds + 1, self._shown(played), why)
        if instead is None:
            now = now._replace(skipped=now.skipped + 1, proposed=None, pending=None)
            now = now.settled(played)
        else:
            try:
                now = self._heard(now, action, instead)
            except ValueError as error:
                raise ValueError(
                    f"instead={short_repr(instead)} is told as feedback: {error}"
                ) from error
        return now._replace(failures=(*now.failures, failure))

    def _counts(self) -> dict[str, int | None]:
        return {"rounds": self.rounds, "failures": len(self._now.failures), "horizon": self.horizon}

    def _many(self, action: Any) -> bool:
        """Whether it is a batch: arms are numbers, points are rows of them."""
        return count_dimensions(action) > (0 if isinstance(self.context, Tensor) else 1)

    def _all_heard(
        self, now: TrialState, names: tuple[str, str], actions: Any, feedback: Any
    ) -> TrialState:
        """What follows ``now`` when a batch is told; nothing of ``self`` changes, and nothing is computed before all is checked.

        ``names``: of the two arguments, for messages.
        """
        told, heard = list_entries(actions), list_entries(feedback)
        if not told:
            raise ValueError(f"{names[0]}={short_repr(actions)}; allowed: at least one, in a list")
        if len(told) != len(heard):
            raise ValueError(
                f"{names[1]}={short_repr(feedback)}; allowed: {len(told)} numbers, as many as {names[0]}"
            )
        for i, (action, number) in enumerate(zip(told, heard)):
            self._check_entry(now, action, number, tuple(f"{name}[{i}]" for name in names))
        updates = self._updates(len(told))
        for action, number, update in zip(told, heard, updates, strict=True):
            now = self._heard(now, action, number, update)
        return now

    def _check_entry(
        self, now: TrialState, action: Any, feedback: Any, names: tuple[str, str]
    ) -> None:
        """Raise ValueError for what ``_heard`` would refuse in a batch; it says ``names``."""
        try:
            self._read(now, action, feedback, names)
        except ValueError as error:
            if any(name in str(error) for name in names):
                raise
            raise ValueError(f"{names[0]}, {names[1]}: {error}") from error  # of the model

    def _updates(self, count: int) -> list[Callable | None]:
        """What updates the state with each of a batch, in turn; None: the learner."""
        return [None] * count


class PaperOptimizer(Optimizer, ABC):
    """Base of the papers' optimizers: the constructor makes learner and context, and points are in the user's coordinates."""

    def ask(self) -> Any:
        """Return the next point to evaluate, in the user's coordinates. Until ``tell`` it stays the same."""
        return self._native(super().ask())

    @abstractmethod
    def _native(self, point: np.ndarray) -> Any:
        """Return a point of the learner in the user's coordinates."""

    def _shown(self, action: Tensor) -> Any:
        return self._native(to_numpy(action[0]))

    @classmethod
    def load(cls, path: str | os.PathLike, *arguments: Any, **named: Any) -> Self:
        """The trial that ``save`` wrote, where it left off, on any device: built, then restored.

        Args:
            arguments, named: those of the constructor, as at the save, the seed among them; ``device`` may be
                another. A file tells them from others and cannot make them.

        Raises:
            ValueError: as the constructor or ``restore``.
            OSError: the file cannot be read at all.
        """
        return cls(*arguments, **named).restore(path)


class SequentialOptimizer(PaperOptimizer):
    """Optimizer that evaluates one point at a time. Feedback belongs to the point that ``ask`` returned last."""

    def tell(self, feedback: Any) -> None:
        """Update the learner with the feedback of the last point, one number. The first round beyond the horizon is warned of.

        Raises:
            ValueError: feedback that is not a finite number or is outside the declared range; the learner is not updated.
            RuntimeError: ``ask`` was not called since the last ``tell``, or the learner fails; the learner is not updated.
        """
        super().tell(self._asked("tell"), feedback)

    def fail(self, reason: Any, instead: float | None = None) -> None:
        """Record that the evaluation of the last point failed.

        Args:
            reason: the exception, the feedback that is not a finite number, or a message.
            instead: the feedback that the learner receives in place of the missing one; None: no feedback.

        Raises:
            ValueError: a reason that is a finite number, or an ``instead`` that ``tell`` would refuse.
            RuntimeError: as ``tell``.
        """
        super().fail(self._asked("fail"), reason, instead)

    def _asked(self, call: str) -> np.ndarray:
        """The point in the learner's coordinates."""
        if self._now.proposed is None:
            raise RuntimeError(
                f"{call}: no point was asked for since the last tell; allowed: after ask()"
            )
        return to_numpy(self._now.proposed[0])

    def _shown(self, action: Tensor) -> tuple[float, ...]:
        return tuple(super()._shown(action).tolist())


def failure_reason(reason: Any, largest: float = sys.float_info.max) -> str:
    """Return the reason of a failed evaluation as a string, for an exception with its class.

    Args:
        reason: an exception, a message, or the value that came in place of a number.
        largest: numbers up to this size are feedback.

    Raises:
        ValueError: a number that is feedback, or a Boolean.
    """
    if isinstance(reason, BaseException):
        return format_error(reason)
    if isinstance(reason, str):
        return reason
    try:
        is_feedback = abs(real_number("reason", reason)) <= largest
    except ValueError:  # no number at all
        # a Boolean is not a real number, and does not explain a failure
        is_feedback = isinstance(reason, (bool, np.bool_))
    if is_feedback:
        allowed = "an exception, words, or feedback that is no finite number"
        raise_invalid("reason", reason, allowed)
    return short_repr(reason)
