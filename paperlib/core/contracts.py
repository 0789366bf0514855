"""The vocabulary: learners, problems, traces, and trees of tensors.

A tree is a tensor, ``Rows``, int, float, bool, str, None, or a tuple or NamedTuple of trees. Every
tensor in it has leading dimension R (trials), or 1 where the trials share it.
"""

from typing import Any, NamedTuple, Protocol

from torch import Tensor

from .streams import Draw


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
