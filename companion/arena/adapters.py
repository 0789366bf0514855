"""Adapters of the arena: let a paper's learner play on a ``Region``, with rewards in the range that the learner assumes.

An adapter knows the declared bounds alone. It divides rewards by half of their declared range, and it passes curvatures and slopes on
in the same unit. A maximum of rewards is a minimum of losses, so the reward is multiplied by -1 where a learner observes losses.
Shapes: R trials, d dimensions.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from paperlib.core import fields, validation
from paperlib.core.contracts import Observed
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Draw
from paperlib.learners.wrapper import Wrapper
from paperlib.maths.bounds import Bounds
from paperlib.nsbco.model.task import Task as ConcaveTask
from paperlib.pfbco.model import Task as LossTask

from .learners import Rescaled, RescaledState
from .sets import Region


class Adapter(Rescaled, ABC):
    """Base class of the adapters. A subclass defines ``translate``, which returns the base's context for a region."""

    wants = "reward"

    @abstractmethod
    def translate(self, region: Region) -> Any:
        """Return the context of the base."""

    def init(
        self, trials: int, region: Region, horizon: int | None, draw: Draw, **tkwargs
    ) -> RescaledState:
        """Return the initial state of the base."""
        return super().init(trials, self.translate(region), horizon, draw, **tkwargs)

    def validate(self, region: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """Validate the translated values as the base does.

        Raises:
            ValueError: a context that is not a ``Region``, or values that the base rejects.
        """
        if not isinstance(region, Region):
            validation.raise_invalid("context", region, "a Region of a set and its bounding box")
        super().validate(self.translate(region), action, feedback)

    def caution(
        self, region: Region, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return the warning of the base for the translated context, or None."""
        return super().caution(self.translate(region), horizon, observed)

    def select(
        self, state: RescaledState, region: Region, draw: Draw
    ) -> tuple[Tensor, RescaledState]:
        """Return the choice of the base, R x d."""
        return super().select(state, self.translate(region), draw)

    def update(
        self, state: RescaledState, region: Region, action: Tensor, feedback: Tensor, draw: Draw
    ) -> RescaledState:
        """Update the base with the rescaled feedback."""
        return super().update(state, self.translate(region), action, feedback, draw)


@frozen_dataclass
class LossAdapter(Adapter):
    """Let a pfbco learner play: losses in [-1, 1], in a ``Task`` with M = 1 and a bound on the gradient.

    Attributes:
        lipschitz: G > 0, bound on the gradient of the mean reward.

    Examples:
        >>> from companion.arena.adapters import LossAdapter
        >>> from companion.arena.sets import Concave
        >>> from paperlib.pfbco import PFBCO
        >>> from paperlib.play import play
        >>> learner = LossAdapter(PFBCO(0.5), unit=2.0)
        >>> play(learner, Concave("matrices", 3), horizon=20, trials=3)["regret"].shape
        (3, 20)
    """

    lipschitz: float = fields.positive(1.0)

    def translate(self, region: Region) -> LossTask:
        """Return the set, M and G in the unit of the base."""
        one = torch.ones_like(region.cset.D)
        return LossTask(region.cset, one, one * (self.lipschitz / self.unit))

    def rescale(self, reward: Tensor) -> Tensor:
        """Return the loss, R: the reward in the unit of the base, times -1."""
        return -super().rescale(reward)


@frozen_dataclass
class ConcaveAdapter(Adapter):
    """Let an nsbco learner play: rewards clipped to [-1, 1], in a ``Task`` with the declared curvatures.

    The variation in the task is 0. Only oracles, which know the drift, read it, and the arena has none.

    Attributes:
        clip: bound on the rescaled reward; Assumption 1 of Wang (2025) requires 1.
        smoothness: L > 0.
        concavity: sigma > 0, below L.
        margin: c_0 in (0, 1).

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from companion.arena.adapters import ConcaveAdapter
        >>> from companion.arena.sets import Concave
        >>> from paperlib.nsbco import SPSA
        >>> from paperlib.play import play
        >>> learner = ConcaveAdapter(SPSA(), unit=2.0, smoothness=0.2, concavity=0.1)
        >>> play(learner, Concave("simplex", 3, curvature=0.1), horizon=20, trials=3)["regret"].shape
        (3, 20)
    """

    clip: float = fields.positive(1.0)
    smoothness: float = fields.positive(2.0)
    concavity: float = fields.positive(1.0)
    margin: float = fields.number(0.5, least=1e-09, most=1 - 1e-09)

    def __post_init__(self):
        super().__post_init__()
        if not self.concavity < self.smoothness:
            requirement = f"below smoothness={self.smoothness:g}"
            validation.raise_invalid("concavity", self.concavity, requirement)

    def translate(self, region: Region) -> ConcaveTask:
        """Return the set with the bounds in the unit of the base."""
        numbers = self.margin, self.smoothness / self.unit, self.concavity / self.unit, 0.0
        D = region.cset.D
        return ConcaveTask(region.cset, *(D.new_full((1,), number) for number in numbers))


@frozen_dataclass
class BoxAdapter(Adapter):
    """Let a goucb learner play: it searches the smallest box around the set, and its points are projected onto the set.

    The learner observes the rewards of the projected points. On a box nothing is projected.

    Examples:
        >>> from companion.arena.adapters import BoxAdapter
        >>> from companion.arena.sets import Concave
        >>> from paperlib.goucb import RepeatBest
        >>> from paperlib.play import play
        >>> play(BoxAdapter(RepeatBest(4)), Concave("simplex", 3), horizon=10, trials=3)["regret"].shape
        (3, 10)
    """

    def translate(self, region: Region) -> Bounds:
        """Return the box."""
        return region.bounds

    def select(
        self, state: RescaledState, region: Region, draw: Draw
    ) -> tuple[Tensor, RescaledState]:
        """Return the projected choice of the base, R x d."""
        point, state = super().select(state, region, draw)
        return region.cset.project(point), state


class CommittedState(NamedTuple):
    """State of the base, the best observed point, and the clock."""

    base: Any
    best: Tensor | None  # R x d; None before the first round
    value: Tensor  # R, its reward
    rounds: int  # number of observed rounds


@frozen_dataclass
class Committed(Wrapper):
    """Explore, then commit: the base chooses the first points, and afterwards the point with the largest reward is repeated.

    It bounds the run time of a learner whose rounds become more expensive with every observation. The base receives the number of
    rounds in which it chooses as its horizon.

    Attributes:
        base: a learner with ``wants = "reward"``.
        explore: number of rounds in which the base chooses.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from companion.arena.adapters import Committed
        >>> from companion.arena.sets import Concave, UniformInSet
        >>> from paperlib.play import play
        >>> regret = play(Committed(UniformInSet(), 3), Concave("simplex", 3), horizon=6, trials=2)["regret"]
        >>> steps = regret[:, 1:] - regret[:, :-1]  # regret per round
        >>> bool(abs(steps[:, -1] - steps[:, -2]).max() < 1e-12)
        True
    """

    explore: int = fields.size(50)

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> CommittedState:
        """Return the initial state of the base, with the horizon ``explore``."""
        base = self.base.init(trials, context, self.explore, draw, **tkwargs)
        return CommittedState(base, None, torch.full((trials,), -torch.inf, **tkwargs), 0)

    def select(self, state: CommittedState, context: Any, draw: Draw) -> tuple[Tensor, Any]:
        """Return the choice of the base, or the point with the largest reward, R x d."""
        if state.rounds >= self.explore:
            return state.best, state
        return super().select(state, context, draw)

    def update(
        self, state: CommittedState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> CommittedState:
        """Update the base and the best point in the first rounds; later rewards are not used."""
        if state.rounds >= self.explore:
            return state._replace(rounds=state.rounds + 1)
        base = self.base.update(state.base, context, action, feedback, draw)
        better = feedback > state.value
        best = action if state.best is None else torch.where(better[:, None], action, state.best)
        return CommittedState(
            base, best, torch.where(better, feedback, state.value), state.rounds + 1
        )
