"""The vocabulary: learners, problems, and cases to test them on."""

from typing import Any, NamedTuple, Protocol

from torch import Tensor

from .streams import Draw


class Learner(Protocol):
    """A frozen dataclass of hyper-parameters with three pure methods on a state.

    Optional methods:
        report(state) -> {name: R}: numbers to record; the name ``failed`` makes ``play`` raise.
        optimistic(state) -> R: the optimistic estimate of the best mean reward, after an update.
        restart(state, context, horizon, draw) -> state: fresh rows for all R trials, with which an
            epoch of that horizon begins; they may carry over what was learned. A wrapper that
            restarts all trials together takes any base. One that restarts trials apart puts the
            fresh rows where it needs them (``trees.where``, ``take``, ``scatter``): every leaf of
            its base's state is a tensor with R rows of its own, clocks among them, and another
            base is refused by name when it is built or begun (``trees.refuse_shared``).
        validate(context, action, feedback): raises ValueError for values outside the model;
            ``action`` and ``feedback`` may be None.
        caution(context) -> str | None: a sentence to warn a user with.

    Optional attributes:
        syncs: "per round" or "host" where the learner has to look at its tensors; None by default.
        fixed_arms: True where it counts by index, so that the arms must be the same in all rounds;
            False by default.
        own_actions: False where it credits what it hears to what it drew, so that it can be told
            of no other action; True by default.
    """

    wants: str  # "reward" | "loss" | "gradient"

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> Any: ...
    def select(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]: ...
    def update(
        self, state: Any, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> Any: ...


class Problem(Protocol):
    """A frozen description of an environment. ``gap`` is the instantaneous regret, R."""

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> Any: ...
    def context(self, world: Any, t: int) -> Any: ...
    def respond(
        self, world: Any, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]: ...


class Case(NamedTuple):
    """A learner with a problem it can be tested on, in ``rounds`` rounds and at least two trials.

    ``refused``: values that a field must not take, by field.
    """

    learner: Learner
    problem: Problem
    refused: dict[str, list] = {}
    rounds: int = 50  # fewer for a learner that takes seconds a round
    trials: int = 3
