"""Rules that learn nothing, to compare with.

Letters: R trials, K arms, d dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.describe import frozen_dataclass
from ..core.linalg import argmax_first
from ..core.streams import Draw
from ..core.validation import LARGEST, check_arms, check_finite, raise_invalid


class NoState(NamedTuple):
    """Nothing is learned."""

    total: Tensor  # R, sum of the rewards heard
    rounds: int  # rounds heard


class ReferenceRule:
    """What such rules share; a subclass is a frozen dataclass with ``select``."""

    wants = "reward"

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> NoState:
        """State before the first round."""
        return NoState(torch.zeros(trials, **tkwargs), 0)

    def update(
        self, state: NoState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> NoState:
        """Count what was heard."""
        return NoState(state.total + reward, state.rounds + 1)

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for arms or rewards that are not finite, or an unknown arm."""
        check_arms(arms, arm)
        if reward is not None:
            check_finite("reward", reward, LARGEST)


@frozen_dataclass
class UniformArm(ReferenceRule):
    """Draws an arm uniformly, with replacement, in each round.

    Attributes:
        count: draws among the first ``count`` arms alone, a warm start that leaves the others unseen; None: among all arms.

    Raises:
        ValueError: ``count`` is not an integer of at least 1.
    """

    count: int | None = fields.whole(None, optional=True)

    def select(self, state: NoState, arms: Tensor, draw: Draw) -> tuple[Tensor, NoState]:
        """R indices from the stream "arm"."""
        return (draw.uniform("arm") * (self.count or arms.shape[1])).long(), state

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for values that ``ReferenceRule`` refuses, or fewer arms than ``count``."""
        super().validate(arms, arm, reward)
        if self.count is not None and self.count > arms.shape[1]:
            raise_invalid("count", self.count, f"at most the {arms.shape[1]} arms there are")


@frozen_dataclass
class LongestArm(ReferenceRule):
    """Plays the longest arm, the lowest index among equals: what a pure bonus plays first."""

    def select(self, state: NoState, arms: Tensor, draw: Draw) -> tuple[Tensor, NoState]:
        """R indices. ``arms``: R x K x d or 1 x K x d."""
        return argmax_first(arms.square().sum(-1)).expand(state.total.shape[0]), state
