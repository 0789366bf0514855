"""The paper's three functions of 20 dimensions, and a random network of the model's own family.

Source: Liu & Wang (2023), Section 6.1 and Appendix D.1.
Shapes: R trials, d dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...core.validation import check_integer, raise_invalid
from ...maths.adam import Adam
from ...maths.bounds import Bounds
from ..model.network import TwoLayerNet


class BoxInstance(NamedTuple):
    """The box, and what is largest in it."""

    bounds: Bounds  # 1 x d
    best: Tensor  # 1 or R, f*
    w: Tensor  # R x dw, the teacher's parameters; R x 0 for a given function


@frozen_dataclass
class Objective:
    """A subclass gives ``of(world, x)``, the noise-free value, R x N, of points R x N x d.

    Attributes:
        dim: d >= 1.
        noise: sigma >= 0, standard deviation of the Gaussian noise of an answer; regret is without it.

    Raises:
        ValueError: a value out of range.
    """

    dim: int = fields.size(20)
    noise: float = fields.nonnegative(0.01)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BoxInstance:
        """[-5, 5]^d."""
        best = torch.full((1,), self.maximum, **tkwargs)
        return BoxInstance(Bounds.cube(self.dim, 5.0, **tkwargs), best, best.new_zeros(trials, 0))

    def context(self, instance: BoxInstance, t: int) -> Bounds:
        """The box."""
        return instance.bounds

    def value(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """f(x), R. ``x``: R x d."""
        return self.of(instance, x.unsqueeze(1)).squeeze(1)

    def respond(
        self, instance: BoxInstance, t: int, x: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """f(x) with noise, and f* - f(x).

        Raises:
            ValueError: a learner that wants anything but rewards.
        """
        if wants != "reward":
            raise_invalid("wants", wants, "reward")
        f = self.value(instance, x)
        return f + self.noise * draw.normal("reward"), instance.best - f


@frozen_dataclass
class SigmoidSum(Objective):
    """f1 = 25 s(sum_i x_i + 1) + 1, the network with all parameters 1, on [-5, 5]^d."""

    @property
    def maximum(self) -> float:
        """At the corner of fives; to double precision on a plateau."""
        return 25 * float(torch.sigmoid(torch.tensor(5.0 * self.dim + 1, dtype=torch.float64))) + 1

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """R x N."""
        return 25 * torch.sigmoid(x.sum(-1) + 1) + 1


@frozen_dataclass
class StyblinskiTang(Objective):
    """f2 = -1/2 sum_i (x_i^4 - 16 x_i^2 + 5 x_i) on [-5, 5]^d, with the parentheses that the paper leaves out (E14)."""

    @property
    def maximum(self) -> float:
        """d times that of a coordinate, at the least root of 4 z^3 - 32 z + 5."""
        z = -2.903534027771177
        return -0.5 * self.dim * (z**4 - 16 * z**2 + 5 * z)

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """R x N."""
        square = x.square()
        return -0.5 * (square * (square - 16) + 5 * x).sum(-1)


@frozen_dataclass
class Rastrigin(Objective):
    """f3 = -10 d + sum_i (10 cos(2 pi x_i) - x_i^2) on [-5, 5]^d, with the parentheses that the paper leaves out (E14)."""

    maximum = 0.0  # at 0

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """R x N."""
        return (10 * torch.cos(2 * torch.pi * x) - x.square() - 10).sum(-1)


@frozen_dataclass
class Teacher(Objective):
    """A random network of the learner's own family on [-1, 1]^d, another in each trial: the model is right, and its maximum inside or out.

    Ours. f* is the best that projected gradient ascent finds from many starts: a lower bound of the maximum, found before the run.

    Attributes:
        hidden: units.
        gain: > 0, size of the first layer: how steep its units are.
        active: coordinates on which it depends, the first so many; None: all. With the same number it is the same function for any ``dim``.
        starts: >= 1, of the ascent.
        steps: >= 1, of Adam in the ascent.
    """

    hidden: int = fields.size(25)
    gain: float = fields.positive(3.0)
    active: int | None = None
    starts: int = fields.size(256)
    steps: int = fields.size(200)

    def __post_init__(self):
        super().__post_init__()
        if self.active is not None:
            check_integer("active", self.active, 1, self.dim)

    @property
    def network(self) -> TwoLayerNet:
        """The family."""
        return TwoLayerNet(self.hidden)

    @property
    def inputs(self) -> int:
        """How many coordinates it sees."""
        return self.dim if self.active is None else self.active

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BoxInstance:
        """Draw the parameters and look for f*."""
        net, k = self.network, self.inputs
        w = net.start(draw.normal("teacher", net.parameters(k)), k, self.gain)
        x = self._ascend(w, 2 * draw.uniform("teacher starts", self.starts, k) - 1)
        return BoxInstance(Bounds.cube(self.dim, **tkwargs), net.value(w, x).amax(1), w)

    def _ascend(self, w: Tensor, x: Tensor) -> Tensor:
        """Adam with a step that shrinks to 0, R x N x d; each start by itself."""
        net = self.network
        adam = Adam.begun(x)
        for step in range(1, self.steps + 1):
            uphill, adam = adam.step(net.slope(w, x), 1e-12)
            x = (x + 0.1 * (1 - step / self.steps) * uphill).clamp(-1.0, 1.0)
        return x

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """R x N."""
        return self.network.value(instance.w, x[..., : self.inputs])
