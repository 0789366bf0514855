"""The context of a round, the moments of the observed losses, and how far the center is behind the leader.

Source: Chen, Zhang & Karbasi (2019), Algorithm 1 and the proof of Theorem 1.
Shapes: R trials, n dimensions.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

FEW = 5  # losses below which their spread is measured from 0


class Task(NamedTuple):
    """A round's context: the set, in normalized coordinates, and bounds on losses and gradients in these."""

    cset: Any  # sets.ConvexSet
    loss_bound: Tensor  # M, 1 or R: |f_t| <= M
    grad_bound: Tensor  # G, 1 or R: ||grad f_t|| <= G


class LossMoments(NamedTuple):
    """Moments of all losses of a run, epochs included."""

    count: int
    mean: Tensor  # R
    deviation: Tensor  # R, sum of squared deviations from the mean
    above: Tensor  # R, losses with |f| > M so far

    @classmethod
    def none(cls, trials: int, **tkwargs) -> "LossMoments":
        """Before the first loss."""
        zero = torch.zeros(trials, **tkwargs)
        return cls(0, zero, zero, zero)

    def hear(self, loss: Tensor, bound: Tensor) -> "LossMoments":
        """One more loss of every trial, by Welford's update. ``loss``: R; ``bound``: 1 or R."""
        step = loss - self.mean
        mean = self.mean + step / (self.count + 1)
        deviation, above = self.deviation + step * (loss - mean), self.above + (loss.abs() > bound)
        return LossMoments(self.count + 1, mean, deviation, above)

    def spread(self) -> Tensor:
        """Standard deviation, of fewer than five losses their root mean square; 1 where there are none or all are equal. Returns R.

        Losses whose spread is within rounding of their mean, 1e-12 of it, count as equal, in any unit.
        """
        if self.count == 0:
            return torch.ones_like(self.mean)
        few = (self.deviation / self.count + self.mean**2).sqrt()
        found = few if self.count < FEW else (self.deviation / (self.count - 1)).sqrt()
        return torch.where(found <= 1e-12 * self.mean.abs(), 1.0, found)


def step_size(t: Any) -> Any:
    """Frank-Wolfe step t^{-2/5}; t counts from 1 in every epoch. ``t``: a number, an array of floats or a tensor."""
    return t**-0.4


def tracking_error(x: Tensor, leader: Tensor, free: Tensor, diameter: Tensor, t: Any) -> Tensor:
    """h_t / (D^2 sigma_t) and ||x_t - x*_t|| / (D t^{-1/5}), ... x 2, where F_t(x) = ||x - free||^2 + const. Points: ... x n."""
    away, s = x - leader, step_size(t)
    # a difference of squares, factored: |free| may be large
    gap = (away * (x + leader - 2 * free)).sum(-1)
    return torch.stack(
        [gap / (diameter**2 * s), torch.linalg.vector_norm(away, dim=-1) / (diameter * s**0.5)], -1
    )
