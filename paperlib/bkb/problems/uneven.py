"""Arms of unequal size: where the theory's own oversampling leaves pulls out within hundreds of rounds.

With k(x, x) = 1 every pull is kept while t + lambda <= qbar, and a check of Theorem 3.1 could not fail. Here k(x, x) goes
down to .0025. Ours, beside Calandriello, Carratino, Lazaric, Valko & Rosasco (2019).
Letters: R trials, A arms.
"""

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from ...core.streams import Draw, Streams
from ...maths.gp import RBF
from .worlds import FixedArms, World


@frozen
class SizedRBF:
    """s(x) s(y) exp(-gamma ||x - y||^2); the last coordinate of a point is its size s.

    Attributes:
        gamma: > 0.
    """

    gamma: float = 30.0

    def __post_init__(self):
        RBF(self.gamma)

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        return (
            RBF(self.gamma)(X[..., :-1], Y[..., :-1])
            * X[..., -1].unsqueeze(-1)
            * Y[..., -1].unsqueeze(-2)
        )

    def diag(self, X: Tensor) -> Tensor:
        return X[..., -1].square()


@frozen
class UnevenArms(FixedArms):
    """Arms in the unit square with sizes uniform on [.05, 1], the same in all trials; f = 0, so that rewards are noise.

    Attributes:
        arms: A.
        noise: xi >= 0.
        instance: seed of the arms.

    Raises:
        ValueError: a value out of range.
    """

    arms: int = fields.size(300)
    noise: float = fields.nonnegative(1.0)
    instance: int = fields.whole(0, least=0)

    @property
    def kernel(self) -> SizedRBF:
        """The kernel of these arms."""
        return SizedRBF()

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The instance's arms, 1 x A x 3."""
        u = Streams(self.instance, [0], **tkwargs).at(-1).uniform("problem arms", self.arms, 3)
        arms = torch.cat([u[..., :2], 0.05 + 0.95 * u[..., 2:]], 2)
        zero = torch.zeros(1, self.arms, **tkwargs)
        return World(arms, zero, zero[:, 0], None, None)
