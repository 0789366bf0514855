"""Convex sets: projections.

Shapes: R trials, d dimensions.
"""

from typing import NamedTuple

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

    Stationarity: (A + nu I) x = A point with nu >= 0 and ||x|| = radius. With A = Q diag(l) Q^T, x(nu) has
    coordinates l w / (l + nu), and 1 / ||x(nu)|| is concave and increasing in nu, so Newton from nu = 0
    increases monotonically and never overshoots. On the CPU only the rows outside are computed and each stops
    when converged; elsewhere all rows take ``STEPS`` steps, of which the converged ones are fixed points.

    Args:
        point: R x d.
        metric: A, symmetric positive definite, R x d x d.
        radius: of the ball, > 0.
        outside: R bool, the rows to project; rows inside come back bitwise unchanged.
    """
    if outside is None:
        outside = torch.linalg.vector_norm(point, dim=-1) > radius
    look = may_look(point)
    rows = outside.nonzero().squeeze(1) if look else slice(None)
    length, basis = torch.linalg.eigh(metric[rows])
    weighted = length * (basis.mT @ point[rows].unsqueeze(2)).squeeze(2)
    nu = length.new_zeros(length.shape[0], 1)
    moves = torch.ones_like(nu, dtype=torch.bool)
    for _ in range(4 * STEPS if look else STEPS):
        damped = length + nu
        square = (weighted / damped).square()
        norm = square.sum(-1, keepdim=True)
        # nu += (1/S - 1/n) / (p / n^3) with n = ||x(nu)||, p = sum x_i^2 / (l_i + nu)
        step = (norm.sqrt() / radius - 1) * norm / (square / damped).sum(-1, keepdim=True)
        moves = moves & (step > 1e-15 * (1 + nu))  # a row that has stopped stays stopped: alone equals batched
        if look and not bool(moves.any()):
            break
        nu = torch.where(moves, nu + step, nu)
    x, nu = weighted / (length + nu), nu.squeeze(1)
    x = x * (radius / torch.linalg.vector_norm(x, dim=-1, keepdim=True)).clamp(max=1.0)
    x = (basis @ x.unsqueeze(2)).squeeze(2)
    if look:
        return Projected(point.index_put((rows,), x), torch.zeros_like(point[:, 0]).index_put((rows,), nu))
    return Projected(torch.where(outside.unsqueeze(1), x, point), torch.where(outside, nu, torch.zeros_like(nu)))
