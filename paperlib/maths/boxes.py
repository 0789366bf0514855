"""The cube, as a set of ``sets``: its linear oracle and projection.

Shapes: R trials, d dimensions; a leading 1 in a set's tensors means that the trials share it.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..core.validation import size
from .sets import scaled


class Box(NamedTuple):
    """[-1, 1]^d; scaled by s it is [-s, s]^d."""

    dim: int
    R: Tensor  # 1, sqrt(d), at the corners
    D: Tensor  # 1, 2 sqrt(d)
    r: float = 1.0
    exact: bool = True
    host = ()

    @classmethod
    def of(cls, dim: int, **tkwargs) -> "Box":
        """The cube of ``dim`` dimensions.

        Raises:
            ValueError: ``dim`` below 1.
        """
        dim = size("dim", dim)
        number = lambda x: torch.full((1,), x, **{"dtype": torch.float64} | tkwargs)
        return cls(dim, number(math.sqrt(dim)), number(2 * math.sqrt(dim)))

    def lmo(self, c: Tensor) -> Tensor:
        """-sign(c), and -1 where a coordinate of c is 0. ``c``: R x d."""
        return torch.where(c < 0, 1.0, -1.0).to(c)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Each coordinate clipped. ``z``: R x d."""
        return scaled(lambda z: z.clamp(-1.0, 1.0), z, scale)

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """R bool."""
        return y.abs().amax(-1) <= 1 + tolerance

    def to_native(self, y: Tensor) -> Tensor:
        """The same."""
        return y
