"""Input of a probe, and the probes that all papers share."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor

REDUCE = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum}


class Round(NamedTuple):
    """One round as a probe receives it: the action was chosen in state ``before``; ``after`` is the state after the update."""

    t: int  # 0, 1, ...; the paper's round t + 1
    instance: Any  # the problem instance, with its unknown parameters
    before: Any
    context: Any
    action: Tensor
    feedback: Tensor
    after: Any


@dataclass(frozen=True)
class Probe:
    """Quantity to record in a simulation.

    Attributes:
        of: function of a ``Round`` that returns R or R x k.
        reduce: "last" records the value at the recorded rounds. "sum", "max" and "min" reduce over all rounds so far, for example
            for coverage uniform in time, and record the result at the recorded rounds. "final" records the value after the last round.

    Examples:
        >>> from paperlib.core.rounds import Probe, played_action
        >>> Probe(played_action, reduce="max").reduce
        'max'
    """

    of: Callable[[Round], Tensor]
    reduce: str = "last"

    def __post_init__(self):
        if self.reduce not in ("last", "final", *REDUCE):
            raise ValueError(
                f"reduce must be one of 'last', 'sum', 'max', 'min', 'final', got {self.reduce!r}"
            )
        if not callable(self.of):
            raise ValueError(f"of must be a function of a Round, got {self.of!r}")


def played_action(seen: Round) -> Tensor:
    """Return the round's action, R indices or R x d."""
    return seen.action


def observed_feedback(seen: Round) -> Tensor:
    """Return the round's feedback, R, or R x d for gradients."""
    return seen.feedback


def innermost_state(state: Any) -> Any:
    """Return the state of the innermost learner, below all wrappers; for ``Multiscale`` the state of the active copy."""
    return innermost_state(state.base) if hasattr(state, "base") else state


@dataclass(frozen=True)
class StateField:
    """Function for probes that returns a field of the learner's state, for example "s2" or "tally.effective".

    ``when`` is "after" (the state after the round) or "before".

    Examples:
        >>> from paperlib.core.rounds import Probe, StateField
        >>> Probe(StateField("theta")).of
        StateField(field='theta', when='after')
    """

    field: str
    when: str = "after"

    def __call__(self, seen: Round) -> Tensor:
        return attrgetter(self.field)(innermost_state(getattr(seen, self.when)))
