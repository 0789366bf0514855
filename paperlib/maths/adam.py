"""Adam as a pure function: the moment averages are a value that each step takes and returns.

Every entry has its own average. No branch depends on a value, so a step never synchronizes with a GPU.

Source: Kingma & Ba, "Adam: A Method for Stochastic Optimization" (2015), Algorithm 1.
"""

from typing import NamedTuple

import torch
from torch import Tensor

DECAY = 0.9, 0.999  # beta_1 and beta_2 of Algorithm 1


class Adam(NamedTuple):
    """Moment averages of Adam.

    ``torch.optim.Adam`` stores the same averages, but updates them in place and on the host.

    Examples:
        >>> import torch
        >>> from paperlib.maths.adam import Adam
        >>> x = torch.zeros(2)
        >>> averages = Adam.begun(x)
        >>> for _ in range(200):  # maximize -||x - 1||^2
        ...     direction, averages = averages.step(2 * (1 - x))
        ...     x = x + 0.05 * direction
        >>> x.round(decimals=1).tolist()
        [1.0, 1.0]
    """

    first: Tensor  # average of the gradients
    second: Tensor  # average of the squared gradients
    steps: int

    @classmethod
    def begun(cls, like: Tensor) -> "Adam":
        """Return the averages before the first step, all zero. ``like``: a tensor with the shape of the parameter."""
        return cls(torch.zeros_like(like), torch.zeros_like(like), 0)

    def step(self, gradient: Tensor, tiny: float = 1e-8) -> tuple[Tensor, "Adam"]:
        """Return an ascent direction with entries of size about 1, and the averages after the step.

        Args:
            gradient: gradient of the objective, with the shape of ``first``.
            tiny: constant added to the divisor.
        """
        first = torch.lerp(gradient, self.first, DECAY[0])
        second = torch.lerp(gradient.square(), self.second, DECAY[1])
        steps = self.steps + 1
        # Both averages start at zero. Dividing by 1 - beta^t removes the bias towards zero (Algorithm 1).
        stride = second.div(1 - DECAY[1] ** steps).sqrt_().add_(tiny)
        return first / (1 - DECAY[0] ** steps) / stride, Adam(first, second, steps)
