"""How fast the center follows the leader: the Frank-Wolfe step, and how far behind the center is.

Source: Chen, Zhang & Karbasi (2019), Algorithm 1 and the proof of Theorem 1.
Shapes: R trials, n dimensions.
"""

from typing import Any

import torch
from torch import Tensor


def sigma(t: Any) -> Any:
    """Frank-Wolfe step t^{-2/5}; t counts from 1 in every epoch. ``t``: a number, an array of floats or a tensor."""
    return t**-0.4


def behind(x: Tensor, leader: Tensor, free: Tensor, diameter: Tensor, t: Any) -> Tensor:
    """h_t / (D^2 sigma_t) and ||x_t - x*_t|| / (D t^{-1/5}), ... x 2, where F_t(x) = ||x - free||^2 + const. Points: ... x n."""
    away, s = x - leader, sigma(t)
    # a difference of squares, factored: |free| may be large
    gap = (away * (x + leader - 2 * free)).sum(-1)
    return torch.stack(
        [gap / (diameter**2 * s), torch.linalg.vector_norm(away, dim=-1) / (diameter * s**0.5)], -1
    )
