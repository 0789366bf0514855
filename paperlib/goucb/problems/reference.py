"""Two small realizable problems on which the theory is compared with numbers: f is a network of the learner's model family.

They are our addition. Problem A has one unit and weights of at least 0, so its maximizer is a corner. Problem B has two units, and its
maximizer is in the interior.
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
    """A network, the known box W that contains its parameters, and its maximizer on [-5, 5]."""

    hidden: int  # h
    w: tuple[float, ...]  # w*, dw numbers
    lo: float  # W = [lo, hi]^dw
    hi: float
    maximizer: float


TRUTHS = {
    "A": Truth(1, (0.8, 0.3, 0.9, 0.2), 0.0, 1.0, 5.0),
    # f(x) = s(2 x + 2) - s(2 x - 2), which is even in x and therefore has its maximum at 0
    "B": Truth(2, (2.0, 2.0, 2.0, -2.0, 1.0, -1.0, 0.0), -3.0, 3.0, 0.0),
}
HALF = 5.0


@frozen_dataclass
class Reference(Objective):
    """Reference problem: f_{w*} on [-5, 5], observed with Gaussian noise.

    Attributes:
        name: "A" or "B".
        noise: sigma >= 0; regret is noise-free.
        dim: 1.

    Raises:
        ValueError: another name, or sigma below 0.

    Examples:
        >>> from paperlib.goucb import Reference
        >>> problem = Reference(name="B")
        >>> len(problem.truth.w), problem.truth.maximizer, round(problem.maximum, 4)
        (7, 0.0, 0.7616)
    """

    dim: int = field(default=1, init=False)
    noise: float = field(default=0.1, kw_only=True)
    name: str = fields.one_of(TRUTHS, "A")

    @property
    def truth(self) -> Truth:
        """The true parameters w* and the box W."""
        return TRUTHS[self.name]

    @property
    def network(self) -> TwoLayerNet:
        """The network that defines the model family."""
        return TwoLayerNet(self.truth.hidden)

    @property
    def maximum(self) -> float:
        """The maximum f*, evaluated at the maximizer."""
        row = lambda *values: torch.tensor([values], dtype=torch.float64)
        at = row(self.truth.maximizer).unsqueeze(2)
        return float(self.network.value(row(*self.truth.w), at))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BoxInstance:
        """Return the box [-5, 5], f* and w*."""
        best = torch.full((1,), self.maximum, **tkwargs)
        w = best.new_tensor(self.truth.w).expand(trials, -1)
        return BoxInstance(Bounds.cube(1, HALF, **tkwargs), best, w)

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """Return f(x) without noise, R x N."""
        return self.network.value(instance.w, x)
