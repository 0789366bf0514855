"""The exact effective dimension, and which suboptimal arms a dictionary holds.

Source: Calandriello et al. (2019), Theorem 3.1 and Section 4. Letters: R trials, U arms pulled so far, n pulls.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...core.rounds import Round
from ...maths.gp import Kernel, exact_posterior
from ..model.slots import listed, points_at
from .state import own

OFTEN = 5  # pulls


@dataclass(frozen=True)
class ExactDimension:
    """d_eff(t) = sum_i n_i s2_t(x_i) of the exact posterior after the round, R; O(U^3), from the counters alone."""

    kernel: Kernel
    ridge: float

    def __call__(self, seen: Round) -> Tensor:
        n = own(seen.after).n
        slots = listed(n > 0, max(int((n > 0).sum(1).max()), 1))
        count, points = n.gather(1, slots.index) * slots.valid, points_at(seen.context, slots.index)
        found = exact_posterior(
            self.kernel, points, count, torch.zeros_like(count), self.ridge, points
        )
        return (count * found.variance).sum(1) / self.ridge


def entered(seen: Round) -> Tensor:
    """Suboptimal arms after the round, R x 6: how many were pulled at least ``OFTEN`` times, how many of them are in the
    dictionary, their n s2 together; then the same of those pulled once."""
    after, world = own(seen.after), seen.world
    worse = world.means < world.best.unsqueeze(1)
    groups = [worse & (after.n >= OFTEN), worse & (after.n == 1)]
    return torch.stack(
        [(group * of).sum(1) for group in groups for of in (1.0, after.mask, after.n * after.s2)], 1
    )
