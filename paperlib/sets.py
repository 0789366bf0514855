"""Convex sets: projections.

Shapes: R trials, d dimensions.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .linalg import may_look, needed

STEPS = 30  # Newton steps of the masked form


class Projected(NamedTuple):
    """A point of the ball and the multiplier of its constraint (0 inside)."""

    point: Tensor       # R x d
    multiplier: Tensor  # R


def project_ball(point: Tensor, metric: Tensor, radius: float) -> Tensor:
    """Closest point of the Euclidean ball in the norm of a matrix; see ``ball_projection``. Returns R x d."""
    outside = torch.linalg.vector_norm(point, dim=-1) > radius
    if not needed(outside):
        return point
    return ball_projection(point, metric, radius, outside).point


def ball_projection(point: Tensor, metric: Tensor, radius: float, outside: Tensor | None = None) -> Projected:
    """argmin over ||x||_2 <= radius of (x - point)^T A (x - point), by Newton on the secular equation.

    On the CPU only the rows outside are computed, each until it has converged, and by numpy, whose calls on
    matrices as small as these cost a third of torch's; elsewhere all rows take ``STEPS`` steps, of which the
    converged ones are fixed points.

    Args:
        point: R x d.
        metric: A, symmetric positive definite, R x d x d.
        radius: of the ball, > 0.
        outside: R bool, the rows to project; rows inside come back bitwise unchanged.
    """
    if outside is None:
        outside = torch.linalg.vector_norm(point, dim=-1) > radius
    if may_look(point):
        rows = outside.nonzero().squeeze(1)
        x, nu = _closest(point.detach()[rows].numpy(), metric.detach()[rows].numpy(), radius, np, 4 * STEPS)
        x, nu = torch.from_numpy(x), torch.from_numpy(nu)
        return Projected(point.index_put((rows,), x), torch.zeros_like(point[:, 0]).index_put((rows,), nu))
    x, nu = _closest(point, metric, radius, torch, STEPS)
    return Projected(torch.where(outside.unsqueeze(1), x, point), torch.where(outside, nu, torch.zeros_like(nu)))


def _closest(point, metric, radius: float, xp, steps: int):
    """The projection of rows outside the ball and their multipliers; ``xp``: numpy, or torch for a fixed number of steps.

    Stationarity: (A + nu I) x = A point with nu >= 0 and ||x|| = radius. With A = Q diag(l) Q^T, x(nu) has
    coordinates l w / (l + nu), and 1 / ||x(nu)|| is concave and increasing in nu, so Newton from nu = 0
    increases monotonically and never overshoots.
    """
    length, basis = xp.linalg.eigh(metric)
    weighted = length * (basis.mT @ point[..., None])[..., 0]
    nu = xp.zeros_like(length[:, :1])
    moves = nu == 0
    for _ in range(steps):
        square = (weighted / (length + nu)) ** 2
        norm = square.sum(-1, keepdims=True)
        # nu += (1/S - 1/n) / (p / n^3) with n = ||x(nu)||, p = sum x_i^2 / (l_i + nu)
        step = (norm**0.5 / radius - 1.0) * norm / (square / (length + nu)).sum(-1, keepdims=True)
        moves = moves & (step > 1e-15 * (1.0 + nu))  # a row that has stopped stays stopped: alone equals batched
        if xp is np and not moves.any():
            break
        nu = xp.where(moves, nu + step, nu)
    x = weighted / (length + nu)
    x = x * (radius / (x**2).sum(-1, keepdims=True) ** 0.5).clip(max=1.0)
    return (basis @ x[..., None])[..., 0], nu[:, 0]
