"""The paper's three 20-dimensional test functions, and a random network of the model's family.

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
    """Problem instance: the box, the maximum of f on it, and the parameters of f."""

    bounds: Bounds  # 1 x d
    best: Tensor  # 1 or R, f*
    w: Tensor  # R x dw, the teacher's parameters; R x 0 for a given function


@frozen_dataclass
class Objective:
    """Base class of noisy functions on a box. A subclass defines ``of(instance, x)``: noise-free values, R x N, at points R x N x d.

    Attributes:
        dim: d >= 1.
        noise: sigma >= 0, standard deviation of the Gaussian noise of an evaluation; regret is noise-free.

    Raises:
        ValueError: a value is out of range.
    """

    dim: int = fields.size(20)
    noise: float = fields.nonnegative(0.01)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BoxInstance:
        """Return an instance on [-5, 5]^d."""
        best = torch.full((1,), self.maximum, **tkwargs)
        return BoxInstance(Bounds.cube(self.dim, 5.0, **tkwargs), best, best.new_zeros(trials, 0))

    def context(self, instance: BoxInstance, t: int) -> Bounds:
        """Return the box."""
        return instance.bounds

    def value(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """Return f(x) without noise, R. ``x``: R x d."""
        return self.of(instance, x.unsqueeze(1)).squeeze(1)

    def respond(
        self, instance: BoxInstance, t: int, x: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the noisy evaluation of f(x), and the regret f* - f(x).

        Raises:
            ValueError: the learner wants feedback other than rewards.
        """
        if wants != "reward":
            raise_invalid("wants", wants, "'reward'")
        f = self.value(instance, x)
        # The learner observes f with noise; the regret is computed without noise.
        return f + self.noise * draw.normal("reward"), instance.best - f


@frozen_dataclass
class SigmoidSum(Objective):
    """f1 = 25 s(sum_i x_i + 1) + 1 on [-5, 5]^d: the network whose parameters are all 1.

    Examples:
        >>> import torch
        >>> from paperlib.goucb import SigmoidSum
        >>> problem = SigmoidSum(20)
        >>> round(problem.maximum, 6)
        26.0
        >>> round(problem.of(None, torch.zeros(1, 1, 20)).item(), 4)
        19.2765
    """

    @property
    def maximum(self) -> float:
        """Maximum, at the corner with all coordinates 5. In double precision it is a plateau."""
        return 25 * float(torch.sigmoid(torch.tensor(5.0 * self.dim + 1, dtype=torch.float64))) + 1

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """Return f(x) without noise, R x N."""
        return 25 * torch.sigmoid(x.sum(-1) + 1) + 1


@frozen_dataclass
class StyblinskiTang(Objective):
    """f2 = -1/2 sum_i (x_i^4 - 16 x_i^2 + 5 x_i) on [-5, 5]^d, with the parentheses that the paper omits (E14).

    Examples:
        >>> from paperlib.goucb import StyblinskiTang
        >>> round(StyblinskiTang(20).maximum, 4)
        783.3233
    """

    @property
    def maximum(self) -> float:
        """Maximum: d times the maximum over one coordinate, at the smallest root of 4 z^3 - 32 z + 5."""
        # The function is separable, and this root maximizes it over one coordinate.
        z = -2.903534027771177
        return -0.5 * self.dim * (z**4 - 16 * z**2 + 5 * z)

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """Return f(x) without noise, R x N."""
        square = x.square()
        return -0.5 * (square * (square - 16) + 5 * x).sum(-1)


@frozen_dataclass
class Rastrigin(Objective):
    """f3 = -10 d + sum_i (10 cos(2 pi x_i) - x_i^2) on [-5, 5]^d, with the parentheses that the paper omits (E14).

    Examples:
        >>> import torch
        >>> from paperlib.goucb import Rastrigin
        >>> Rastrigin(2).of(None, torch.tensor([[[0.0, 0.0], [5.0, 5.0]]])).tolist()
        [[0.0, -50.0]]
    """

    maximum = 0.0  # at 0

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """Return f(x) without noise, R x N."""
        return (10 * torch.cos(2 * torch.pi * x) - x.square() - 10).sum(-1)


@frozen_dataclass
class Teacher(Objective):
    """Random network of the learner's model family on [-1, 1]^d, drawn independently per trial. The maximizer may be in the interior or not.

    Our addition. f* is the best value that projected gradient ascent finds from many starts before the run. It is therefore a lower bound
    on the maximum.

    Attributes:
        hidden: number of hidden units.
        gain: > 0, scale of the first layer, which sets the steepness of the units.
        active: number of leading coordinates that f depends on; None: all. The same number gives the same function for any ``dim``.
        starts: >= 1, starting points of the ascent.
        steps: >= 1, Adam steps of the ascent.

    Examples:
        >>> from paperlib import play
        >>> from paperlib.goucb import Teacher, UniformPoint
        >>> problem = Teacher(dim=3, hidden=4, starts=16, steps=20)
        >>> trace = play.play(UniformPoint(n_init=1), problem, horizon=10, trials=2)
        >>> trace["regret"].shape
        (2, 10)
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
        """The network that defines the model family."""
        return TwoLayerNet(self.hidden)

    @property
    def inputs(self) -> int:
        """Number of coordinates that f depends on."""
        return self.dim if self.active is None else self.active

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BoxInstance:
        """Draw the parameters and search for f*."""
        net, k = self.network, self.inputs
        # Only the active inputs have weights, so the same draw gives the same function for any
        # ``dim``.
        w = net.start(draw.normal("teacher", net.parameters(k)), k, self.gain)
        x = self._ascend(w, 2 * draw.uniform("teacher starts", self.starts, k) - 1)
        return BoxInstance(Bounds.cube(self.dim, **tkwargs), net.value(w, x).amax(1), w)

    def _ascend(self, w: Tensor, x: Tensor) -> Tensor:
        """Maximize f from every starting point with Adam, whose step size decreases to 0. Returns R x N x d."""
        net = self.network
        adam = Adam.begun(x)
        for step in range(1, self.steps + 1):
            # Every start has its own Adam averages and its own projection onto the box.
            uphill, adam = adam.step(net.slope(w, x), 1e-12)
            x = (x + 0.1 * (1 - step / self.steps) * uphill).clamp(-1.0, 1.0)
        return x

    def of(self, instance: BoxInstance, x: Tensor) -> Tensor:
        """Return f(x) without noise, R x N."""
        return self.network.value(instance.w, x[..., : self.inputs])
