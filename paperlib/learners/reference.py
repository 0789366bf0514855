"""Reference rules that do not learn, as baselines for comparison.

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
    """State of a rule that does not learn: the sum of its rewards and the number of rounds."""

    total: Tensor  # R, sum of the observed rewards
    rounds: int  # number of observed rounds


class ReferenceRule:
    """Base class of the reference rules. A subclass is a frozen dataclass with ``select``."""

    wants = "reward"

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> NoState:
        """Return the state before the first round."""
        return NoState(torch.zeros(trials, **tkwargs), 0)

    def update(
        self, state: NoState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> NoState:
        """Add the observed reward and count the round."""
        return NoState(state.total + reward, state.rounds + 1)

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError if arms or rewards are not finite, or the arm does not exist."""
        check_arms(arms, arm)
        if reward is not None:
            check_finite("reward", reward, LARGEST)


@frozen_dataclass
class UniformArm(ReferenceRule):
    """Uniform random play: in each round one arm is drawn uniformly, with replacement.

    Attributes:
        count: draw among the first ``count`` arms only; None to draw among all arms. As a warm start, ``count`` leaves the
            other arms unobserved.

    Raises:
        ValueError: ``count`` is not an integer of at least 1.

    Examples:
        >>> from paperlib.learners.reference import UniformArm
        >>> from paperlib.linear import FreshArms
        >>> from paperlib.play import play
        >>> play(UniformArm(count=2), FreshArms(dim=3), horizon=10, trials=4)["regret"].shape
        (4, 10)
    """

    count: int | None = fields.whole(None, optional=True)

    def select(self, state: NoState, arms: Tensor, draw: Draw) -> tuple[Tensor, NoState]:
        """Return R arm indices, drawn from the stream "arm"."""
        return (draw.uniform("arm") * (self.count or arms.shape[1])).long(), state

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for values that ``ReferenceRule`` rejects, or if there are fewer arms than ``count``."""
        super().validate(arms, arm, reward)
        if self.count is not None and self.count > arms.shape[1]:
            raise_invalid("count", self.count, f"at most {arms.shape[1]}, the number of arms")


@frozen_dataclass
class LongestArm(ReferenceRule):
    """Always play the arm with the largest norm; ties go to the lowest index.

    This is the first choice of a learner whose index is the exploration bonus alone.

    Examples:
        >>> from paperlib.learners.reference import LongestArm
        >>> from paperlib.linear import Circle
        >>> from paperlib.play import play
        >>> play(LongestArm(), Circle(arms=4), horizon=10, trials=1)["regret"].shape
        (1, 10)
    """

    def select(self, state: NoState, arms: Tensor, draw: Draw) -> tuple[Tensor, NoState]:
        """Return R arm indices. ``arms``: R x K x d or 1 x K x d."""
        return argmax_first(arms.square().sum(-1)).expand(state.total.shape[0]), state
