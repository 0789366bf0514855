"""Ask/tell interface for optimization: batches, existing data, and failed evaluations."""

import math
import os
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
    """Ask/tell interface of a learner for optimization. See ``AskTell`` for the arguments.

    Each call succeeds or leaves the optimizer unchanged, even if it is interrupted. For example, a batch with one
    invalid entry is not used at all, and a damaged file restores nothing.

    Examples:
        >>> import numpy as np
        >>> from paperlib.asktell import Optimizer
        >>> from paperlib.glbomd import GLBOMD, Gaussian
        >>> search = Optimizer(GLBOMD(Gaussian(), norm_bound=1.0), np.eye(3))
        >>> search.observe([0, 1, 2], [0.1, 0.5, 0.2])  # existing data
        >>> arm = search.ask()
        >>> try:
        ...     search.tell(arm, float("nan"))
        ... except ValueError as error:  # the evaluation raised, or its result is not finite
        ...     search.fail(arm, error)
        >>> search.rounds, len(search.failures)
        (3, 1)
    """

    @property
    def failures(self) -> list[Failure]:
        """Failed evaluations in the order of the calls, each with its round, action and reason."""
        return list(self._now.failures)

    def tell(self, action: Any, feedback: Any, context: Any = None) -> None:
        """Update the learner with the feedback of an action or of a batch of actions.

        Args:
            action: index of an arm or a point (d). For a batch n indices, or n x d, in a list, an array or a table.
            feedback: one number, or n numbers for a batch. For a learner that wants a gradient d, or n x d.
            context: as for `AskTell.tell`; one context for the whole batch.

        Raises:
            ValueError: as `AskTell.tell`, or the numbers of actions and of feedback differ. A batch with one invalid
                entry is not used at all. Report results that are not finite with ``fail``.
            RuntimeError: the learner reports failure; its state is unchanged.
        """
        if not self._many(action):
            super().tell(action, feedback, context)
        else:
            hear = lambda now: self._all_heard(now, ("action", "feedback"), action, feedback)
            self._now = self._within(context, hear)

    def observe(self, actions: Any, feedback: Any, context: Any = None) -> None:
        """Update the learner with existing data, before the first ask or later.

        Args:
            actions: n actions; each counts as a round: indices of arms, or n x d, in a list, an array or a table.
            feedback: their feedback, n numbers.
            context: as for `AskTell.tell`; one context for all actions.

        Raises:
            ValueError: as `tell`, or the learner can learn only from actions that it chose itself.
            RuntimeError: as `tell`.
        """
        if not tags_of(self.learner).own_actions:
            raise ValueError(
                f"actions must be the ones that ask() returned, because {type(self.learner).__name__} learns "
                f"only from actions that it chose itself, got {short_repr(actions)}. Use ask() and tell()"
            )
        heard = lambda now: self._all_heard(now, ("actions", "feedback"), actions, feedback)
        # Existing data does not answer an ask, so the pending actions remain pending.
        self._now = self._within(context, lambda now: heard(now)._replace(untold=now.untold))

    def fail(
        self, action: Any, reason: Any, instead: float | None = None, context: Any = None
    ) -> None:
        """Record an evaluation that raised an exception or returned no finite number.

        By default the learner receives no feedback, and the round does not count. The pending ask is dropped and the
        random draws advance by one round. Therefore a randomized learner asks for another action next. A deterministic
        learner asks for the same action again, which is right if the failure is temporary. If it is permanent, pass a
        number ``instead`` (for example the worst result so far) or observe another action. The learner uses ``instead``
        like any other feedback, and the round counts.

        Args:
            action: index of an arm, or a point (d).
            reason: the exception, the feedback that is not a finite number (nan, None, ...), or a message.
            instead: feedback that the learner receives in place of the missing one; None means no feedback.
            context: as for `AskTell.tell`.

        Raises:
            ValueError: an unknown action, a reason that is a finite number, or an ``instead`` that `tell` would reject;
                the failure is not recorded.
            RuntimeError: the learner reports failure; the failed evaluation is not recorded.
        """
        self._now = self._within(context, lambda now: self._recorded(now, action, reason, instead))

    def _recorded(
        self, now: TrialState, action: Any, reason: Any, instead: float | None
    ) -> TrialState:
        """Return the trial's state after a failed evaluation in the state ``now``; ``self`` does not change."""
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
                    f"instead={short_repr(instead)} is not valid feedback: {error}"
                ) from error
        return now._replace(failures=(*now.failures, failure))

    def _counts(self) -> dict[str, int | None]:
        return {"rounds": self.rounds, "failures": len(self._now.failures), "horizon": self.horizon}

    def _many(self, action: Any) -> bool:
        """Return whether ``action`` is a batch. An arm has no dimension, and a point has one."""
        return count_dimensions(action) > (0 if isinstance(self.context, Tensor) else 1)

    def _all_heard(
        self, now: TrialState, names: tuple[str, str], actions: Any, feedback: Any
    ) -> TrialState:
        """Return the trial's state after a batch in the state ``now``; ``self`` does not change.

        All entries are checked before the first update. ``names``: names of the two arguments in messages.
        """
        told, heard = list_entries(actions), list_entries(feedback)
        if not told:
            raise ValueError(
                f"{names[0]} must be a list of at least one entry, got {short_repr(actions)}"
            )
        if len(told) != len(heard):
            raise ValueError(
                f"{names[1]} must have {len(told)} entries, as many as {names[0]}, got {short_repr(feedback)}"
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
        """Raise ValueError for an entry of a batch that ``_heard`` would reject; the message contains ``names``."""
        try:
            self._read(now, action, feedback, names)
        except ValueError as error:
            if any(name in str(error) for name in names):
                raise
            raise ValueError(f"{names[0]}, {names[1]}: {error}") from error  # of the model

    def _updates(self, count: int) -> list[Callable | None]:
        """Return one update function per entry of a batch; None means the learner's ``update``."""
        return [None] * count


class SequentialOptimizer(Optimizer, ABC):
    """Base class of optimizers that evaluate one point at a time. Feedback belongs to the point that ``ask`` returned last.

    The constructor builds the learner and its context. Points are in the user's coordinates.
    """

    def ask(self) -> Any:
        """Return the next point to evaluate, in the user's coordinates. Until `tell` it stays the same."""
        return self._native(super().ask())

    @abstractmethod
    def _native(self, point: np.ndarray) -> np.ndarray:
        """Return a point of the learner in the user's coordinates."""

    def tell(self, feedback: Any) -> None:
        """Update the learner with the feedback of the last point, one number.

        The first round beyond the horizon causes a warning.

        Raises:
            ValueError: feedback that is not a finite number or is outside the declared range; the learner is not updated.
            RuntimeError: ``ask`` was not called since the last ``tell``, or the learner fails; the learner is not updated.
        """
        super().tell(self._asked("tell"), feedback)

    def fail(self, reason: Any, instead: float | None = None) -> None:
        """Record that the evaluation of the last point failed.

        Args:
            reason: the exception, the feedback that is not a finite number, or a message.
            instead: feedback that the learner receives in place of the missing one; None means no feedback.

        Raises:
            ValueError: a reason that is a finite number, or an ``instead`` that `tell` would reject.
            RuntimeError: as `tell`.
        """
        super().fail(self._asked("fail"), reason, instead)

    def _asked(self, call: str) -> np.ndarray:
        """Return the last point in the learner's coordinates."""
        if self._now.proposed is None:
            raise RuntimeError(
                f"{call} must follow a call of ask(), but ask() was not called since the last tell"
            )
        return to_numpy(self._now.proposed[0])

    def _shown(self, action: Tensor) -> tuple[float, ...]:
        return tuple(self._native(to_numpy(action[0])).tolist())

    @classmethod
    def load(cls, path: str | os.PathLike, *arguments: Any, **named: Any) -> Self:
        """Build an optimizer and restore the trial that ``save`` wrote, on any device.

        Args:
            arguments, named: the constructor's arguments, including the seed, as at the save; only ``device`` may differ.
                The file cannot replace them, but other arguments are rejected.

        Raises:
            ValueError: as the constructor or ``restore``.
            OSError: the file cannot be read.
        """
        return cls(*arguments, **named).restore(path)


def failure_reason(reason: Any) -> str:
    """Return the reason of a failed evaluation as a string; for an exception it includes the class.

    Args:
        reason: an exception, a message, or the value that was returned in place of a number.

    Raises:
        ValueError: a number that is valid feedback, or a Boolean.
    """
    if isinstance(reason, BaseException):
        return format_error(reason)
    if isinstance(reason, str):
        return reason
    try:
        is_feedback = math.isfinite(real_number("reason", reason))
    except ValueError:  # not a number
        # A Boolean is not a real number either, but it does not explain a failure.
        is_feedback = isinstance(reason, (bool, np.bool_))
    if is_feedback:
        raise_invalid("reason", reason, "an exception, a message, or feedback that is not finite")
    return short_repr(reason)
