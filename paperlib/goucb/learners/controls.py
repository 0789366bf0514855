"""What a search must beat: no model at all.

Ours, beside Liu & Wang (2023): both show what their figures reward.
Shapes: R trials, d dimensions.
"""

from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from ...core.streams import Draw
from ...maths.bounds import Bounds
from .search import History, Search, incumbent, uniform


@frozen
class UniformPoint(Search):
    """Uniform points, for ever.

    Attributes:
        n_init: n >= 1; Phase II is as Phase I.

    Raises:
        ValueError: a value out of range.
    """

    n_init: int = fields.size()

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Another uniform point, R x d."""
        return uniform(bounds, draw)


@frozen
class RepeatBest(Search):
    """Uniform points, then the best of them, for ever: what is heard afterwards changes nothing.

    Attributes:
        n_init: n >= 1, points of Phase I.

    Raises:
        ValueError: a value out of range.
    """

    n_init: int = fields.size()

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """The point of Phase I with the largest answer, the first of equals, R x d."""
        return incumbent(state.x.view[:, : self.n_init], state.y.view[:, : self.n_init])
