"""Rules that learn nothing, to compare with.

Letters: R trials, K arms, d dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.describe import frozen
from ..core.linalg import first_best
from ..core.streams import Draw
from ..core.validation import LARGEST, finite, menu, refuse


class State(NamedTuple):
    """Nothing is learned."""

    total: Tensor  # R, sum of the rewards heard
    rounds: int  # rounds heard


class Reference:
    """What such rules share; a subclass is a frozen dataclass with ``select``."""

    wants = "reward"

    def init(self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """State before the first round."""
        return State(torch.zeros(trials, **tkwargs), 0)

    def update(self, state: State, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw) -> State:
        """Count what was heard."""
        return State(state.total + reward, state.rounds + 1)

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for arms or rewards that are not finite, or an unknown arm."""
        menu(arms, arm)
        if reward is not None:
            finite("reward", reward, LARGEST)


@frozen
class UniformArm(Reference):
    """Draws an arm uniformly, with replacement, in each round.

    Attributes:
        count: draws among the first ``count`` arms alone, a warm start that leaves the others unseen; None: among all arms.

    Raises:
        ValueError: ``count`` is not an integer of at least 1.
    """

    count: int | None = fields.whole(None, optional=True)

    def select(self, state: State, arms: Tensor, draw: Draw) -> tuple[Tensor, State]:
        """R indices from the stream "arm"."""
        return (draw.uniform("arm") * (self.count or arms.shape[1])).long(), state

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for values that ``Reference`` refuses, or fewer arms than ``count``."""
        super().validate(arms, arm, reward)
        if self.count is not None and self.count > arms.shape[1]:
            refuse("count", self.count, f"at most the {arms.shape[1]} arms there are")


@frozen
class LongestArm(Reference):
    """Plays the longest arm, the lowest index among equals: what a pure bonus plays first."""

    def select(self, state: State, arms: Tensor, draw: Draw) -> tuple[Tensor, State]:
        """R indices. ``arms``: R x K x d or 1 x K x d."""
        return first_best(arms.square().sum(-1)).expand(state.total.shape[0]), state
