"""What a probe receives of a round, and the probes that all papers share."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor

REDUCE = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum}


class Round(NamedTuple):
    """What a probe sees of one round: ``before`` chose the action, ``after`` has heard the feedback."""

    t: int  # 0, 1, ...; the paper's round t + 1
    instance: Any
    before: Any
    context: Any
    action: Tensor
    feedback: Tensor
    after: Any


@dataclass(frozen=True)
class Probe:
    """A quantity to record. ``of(round)`` returns R or R x k.

    ``reduce``: "last", the value at recorded rounds; "sum", "max", "min", over every round so far
    (coverage uniform in time), shown at recorded rounds; "final", the value after the last round.
    """

    of: Callable[[Round], Tensor]
    reduce: str = "last"

    def __post_init__(self):
        if self.reduce not in ("last", "final", *REDUCE):
            raise ValueError(f"reduce={self.reduce!r}; allowed: last, sum, max, min, final")
        if not callable(self.of):
            raise ValueError(f"of={self.of!r}; allowed: a function of a Round")


def played_action(seen: Round) -> Tensor:
    """Return the round's action, R indices or R x d."""
    return seen.action


def observed_feedback(seen: Round) -> Tensor:
    """Return the round's feedback, R, or R x d for gradients."""
    return seen.feedback


def innermost_state(state: Any) -> Any:
    """Return the state of the learner itself, below wrappers; below a ``Multiscale`` that of the thread that plays."""
    return innermost_state(state.base) if hasattr(state, "base") else state


@dataclass(frozen=True)
class StateField:
    """A field of the learner's state, such as "s2" or "tally.effective", as it is after the round, or "before" it."""

    field: str
    when: str = "after"

    def __call__(self, seen: Round) -> Tensor:
        return attrgetter(self.field)(innermost_state(getattr(seen, self.when)))
