"""Two small realizable problems on which the theory can be held against numbers: the truth is a network of the learner's own family.

Ours. A has one unit, and all its weights are at least 0, so that its maximum is a corner; B has two, and its maximum is inside.
Shapes: R trials, N points, d dimensions, dw parameters.
"""

from dataclasses import field
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...maths.bounds import Bounds
from ..model.network import TwoLayerNet
from .synthetic import BoxInstance, Objective


class Truth(NamedTuple):
    """A network, the box W that it is known to lie in, and where it is largest on [-5, 5]."""

    hidden: int  # h
    w: tuple[float, ...]  # w*, dw numbers
    lo: float  # W = [lo, hi]^dw
    hi: float
    maximizer: float


TRUTHS = {
    "A": Truth(1, (0.8, 0.3, 0.9, 0.2), 0.0, 1.0, 5.0),
    # s(2 x + 2) - s(2 x - 2), even in x
    "B": Truth(2, (2.0, 2.0, 2.0, -2.0, 1.0, -1.0, 0.0), -3.0, 3.0, 0.0),
}
HALF = 5.0


@frozen_dataclass
class Reference(Objective):
    """f_{w*} on [-5, 5] with Gaussian noise.

    Attributes:
        name: "A" or "B".
        noise: sigma >= 0; regret is without it.
        dim: 1.

    Raises:
        ValueError: another name, or sigma below 0.
    """

    dim: int = field(default=1, init=False)
    noise: float = field(default=0.1, kw_only=True)
    name: str = fields.one_of(TRUTHS, "A")

    @property
    def truth(self) -> Truth:
        """w* and W."""
        return TRUTHS[self.name]

    @property
    def network(self) -> TwoLayerNet:
        """The family."""
        return TwoLayerNet(self.truth.hidden)

    @property
    def maximum(self) -> float:
        """f* at its maximizer."""
        row = lambda *values: torch.tensor([values], dtype=torch.float64)
        at = row(self.truth.maximizer).unsqueeze(2)
        return float(self.network.value(row(*self.truth.w), at))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BoxInstance:
        """[-5, 5], f* and w*."""
        best = torch.full((1,), self.maximum, **tkwargs)
        w = best.new_tensor(self.truth.w).expand(trials, -1)
        return BoxInstance(Bounds.cube(1, HALF, **tkwargs), best, w)

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """R x N."""
        return self.network.value(instance.w, x)
