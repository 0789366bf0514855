"""The exact effective dimension along a run.

Source: Calandriello et al. (2019), (5). Letters: R trials, U arms pulled so far, n pulls.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...core.rounds import Round
from ...maths.gp import Kernel, exact_posterior
from ..model.slots import listed, points_at
from .state import own


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
