"""Reference rules of this paper's figures; ``UniformArm`` is the one of all papers.

Letters: R trials, K arms, d dimensions.
"""

from dataclasses import dataclass

from torch import Tensor

from ..reference import Reference, State, UniformArm
from ..streams import Draw

__all__ = ["LongestArm", "UniformArm"]


@dataclass(frozen=True)
class LongestArm(Reference):
    """Plays the arm of largest Euclidean norm, the lowest index among equals: what a pure bonus plays first."""

    def select(self, state: State, arms: Tensor, draw: Draw) -> tuple[Tensor, State]:
        """R indices. ``arms``: R x K x d or 1 x K x d."""
        return arms.square().sum(-1).argmax(-1).expand(state.total.shape[0]), state
