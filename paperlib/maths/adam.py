"""Adam's step, with its averages in the open: each entry by itself, and nothing that looks at a value.

Source: Kingma & Ba, "Adam: A Method for Stochastic Optimization" (2015), Algorithm 1.
"""

from typing import NamedTuple

import torch
from torch import Tensor

DECAY = 0.9, 0.999


class Adam(NamedTuple):
    """The averages so far; ``torch.optim.Adam`` keeps the same in place, and on the host."""

    first: Tensor  # of gradients
    second: Tensor  # of their squares
    steps: int

    @classmethod
    def begun(cls, like: Tensor) -> "Adam":
        """None yet. ``like``: of the shape of what is to be moved."""
        return cls(torch.zeros_like(like), torch.zeros_like(like), 0)

    def step(self, gradient: Tensor, tiny: float = 1e-8) -> tuple[Tensor, "Adam"]:
        """The direction of a step of length about 1 uphill in each entry, and the averages after it.

        Args:
            gradient: of the shape of ``first``.
            tiny: added to the divisor.
        """
        first = torch.lerp(gradient, self.first, DECAY[0])
        second = torch.lerp(gradient.square(), self.second, DECAY[1])
        steps = self.steps + 1
        stride = second.div(1 - DECAY[1] ** steps).sqrt_().add_(tiny)
        return first / (1 - DECAY[0] ** steps) / stride, Adam(first, second, steps)
