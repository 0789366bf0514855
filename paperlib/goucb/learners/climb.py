"""Multi-start maximization of a function over a box: evaluate many points, improve the best with Adam, return the best overall.

Shapes: R trials, N points, d dimensions.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ...core.linalg import argmax_first, take_arm
from ...maths.adam import Adam


def adam_ascent(
    objective: Callable[[Tensor], Tensor],
    x: Tensor,
    steps: int,
    rate: float,
    project: Callable[[Tensor], Tensor] = lambda x: x,
) -> Tensor:
    """Maximize the sum of the entries of ``objective(x)`` with ``steps`` Adam steps from ``x``. ``project``: applied after each step."""
    adam = Adam.begun(x)
    for _ in range(steps):
        with torch.enable_grad():
            at = x.detach().requires_grad_()
            # Points are independent, so the gradient of the sum is the gradient of each.
            (gradient,) = torch.autograd.grad(objective(at).sum(), at)
        uphill, adam = adam.step(gradient)
        x = project(x + rate * uphill)
    return x


def maximize_from_points(
    score: Callable[[Tensor], Tensor], points: Tensor, box: Any, sizes: Any
) -> Tensor:
    """Improve the ``top`` best of ``points``, R x N x d, with Adam within the box, and return the best of all points, R x d.

    Args:
        score: R x N x d to R x N, differentiable.
        box: object with ``lo`` and ``hi``, R x d or 1 x d.
        sizes: object with ``top``, ``steps`` and ``rate``, see ``acquisition.Linearized``.
    """
    lo, hi = box.lo.unsqueeze(1), box.hi.unsqueeze(1)
    raw = score(points)
    top = raw.topk(min(sizes.top, raw.shape[1]), 1).indices
    u = points.gather(1, top.unsqueeze(2).expand(-1, -1, points.shape[2]))
    inside = lambda u: torch.minimum(torch.maximum(u, lo), hi)
    u = adam_ascent(score, u, sizes.steps, sizes.rate, inside)
    # Adam may end at a worse point than its start, so the initial points compete again.
    best = argmax_first(torch.cat([raw, score(u)], 1))
    return take_arm(torch.cat([points, u], 1), best)
