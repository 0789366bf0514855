"""The context of a round, the moments of the observed losses, and the tracking error of the center.

Source: Chen, Zhang & Karbasi (2019), Algorithm 1 and the proof of Theorem 1.
Shapes: R trials, n dimensions.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

FEW = 5  # with fewer losses, the root mean square replaces the standard deviation


class Task(NamedTuple):
    """Context of a round: the set in normalized coordinates, and bounds on losses and gradients in these coordinates."""

    cset: Any  # sets.ConvexSet
    loss_bound: Tensor  # M, 1 or R: |f_t| <= M
    grad_bound: Tensor  # G, 1 or R: ||grad f_t|| <= G


class LossMoments(NamedTuple):
    """Moments of all losses of a run, across its epochs."""

    count: int
    mean: Tensor  # R
    deviation: Tensor  # R, sum of squared deviations from the mean
    above: Tensor  # R, number of losses with |f| > M so far

    @classmethod
    def none(cls, trials: int, **tkwargs) -> "LossMoments":
        """Return the moments before the first loss."""
        zero = torch.zeros(trials, **tkwargs)
        return cls(0, zero, zero, zero)

    def hear(self, loss: Tensor, bound: Tensor) -> "LossMoments":
        """Return the moments with one more loss per trial, by Welford's update. ``loss``: R; ``bound``: 1 or R."""
        step = loss - self.mean
        mean = self.mean + step / (self.count + 1)
        deviation, above = self.deviation + step * (loss - mean), self.above + (loss.abs() > bound)
        return LossMoments(self.count + 1, mean, deviation, above)

    def spread(self) -> Tensor:
        """Return the scale of the losses, R.

        It is the standard deviation, or the root mean square of fewer than five losses. It is 1 if there are no losses, or if
        this number is at most 1e-12 of their mean. For example, five equal losses have scale 1, because a standard deviation
        that small is rounding error in any unit.
        """
        if self.count == 0:
            return torch.ones_like(self.mean)
        # A few losses do not determine a standard deviation, so their root mean square replaces it.
        few = (self.deviation / self.count + self.mean**2).sqrt()
        found = few if self.count < FEW else (self.deviation / (self.count - 1)).sqrt()
        return torch.where(found <= 1e-12 * self.mean.abs(), 1.0, found)


def step_size(t: Any) -> Any:
    """Return the Frank-Wolfe step t^{-2/5}; t counts from 1 in every epoch. ``t``: a number, an array of floats or a tensor."""
    return t**-0.4


def tracking_error(x: Tensor, leader: Tensor, free: Tensor, diameter: Tensor, t: Any) -> Tensor:
    """Return h_t / (D^2 sigma_t) and ||x_t - x*_t|| / (D t^{-1/5}), ... x 2, where F_t(x) = ||x - free||^2 + const. Points: ... x n."""
    away, s = x - leader, step_size(t)
    # The difference of squares is factored, because |free| may be large and would cancel.
    gap = (away * (x + leader - 2 * free)).sum(-1)
    return torch.stack(
        [gap / (diameter**2 * s), torch.linalg.vector_norm(away, dim=-1) / (diameter * s**0.5)], -1
    )
