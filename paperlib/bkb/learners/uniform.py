"""Arms drawn among the first ones only: a warm start that leaves part of the arms unseen."""

from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from ...core.streams import Draw
from ...learners.reference import Reference, State


@frozen
class UniformIn(Reference):
    """Plays an arm drawn uniformly, with replacement, among the first ``count`` arms.

    Attributes:
        count: how many, at least 1.

    Raises:
        ValueError: ``count`` is no such integer.
    """

    count: int = fields.whole()

    def select(self, state: State | None, arms: Tensor, draw: Draw) -> tuple[Tensor, State | None]:
        """R indices from the stream "arm"."""
        return (draw.uniform("arm") * self.count).long(), state

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for arms or rewards that are not finite, an unknown arm, or fewer arms than ``count``."""
        super().validate(arms, arm, reward)
        if self.count > arms.shape[1]:
            raise ValueError(
                f"count={self.count!r}; allowed: at most the {arms.shape[1]} arms there are"
            )
