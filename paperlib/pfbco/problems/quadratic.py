"""Convex quadratic losses over random polytopes: Figure 1a.

Source: Chen, Zhang & Karbasi (2019), quadratic programming; dimension and number of rows are ours, the paper does not say.
Departure: the origin is a vertex of the paper's polytope, so that no ball around it lies inside, however it is shrunk; the
polytope is moved to its Chebyshev center instead (E9). M and G are those of the very losses of a trial (E12).
Shapes: R trials, T rounds, n dimensions, m rows of A, V vertices.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import matvec
from ...core.streams import Draw, Streams
from ...core.validation import check_in
from ...maths.polytopes import MOST, Polytope, polytope
from ...maths.sets import support_function
from ..model import Task

ROUNDS = 512  # drawn at a time
NUMBERS = 1 << 21  # at a time in a table of vertices by rounds
KEPT = 8  # tasks


class PolytopeInstance(NamedTuple):
    """The polytopes with M and G."""

    task: Task
    streams: Streams


@frozen_dataclass
class QuadraticPolytope:
    """f_t(x) = x^T G_t^T G_t x / 2 + w_t^T x over {0 <= x <= 1, A x <= 1}, in coordinates y with x = center + rho y.

    Per trial A is uniform on [0, 1] (purpose "problem"); G_t, n x n, and w_t are standard normal, fresh each round (purpose
    "loss", w_t in the last column). E f_t(x) = n ||x||^2 / 2, least at the vertex x = 0. ``gap`` is the plain loss.

    Attributes:
        dim: n.
        rows: m, of A.
        most: vertices above which the oracle solves linear programs, and M and G are bounds instead of suprema.

    Raises:
        ValueError: a value out of range.
    """

    dim: int = fields.size(10)
    rows: int = fields.size(10)
    most: int = fields.whole(MOST, least=0)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> PolytopeInstance:
        """The polytopes and the bounds on all losses of the horizon; those of the last calls are kept."""
        seeds = tuple(draw.streams.seeds.tolist())
        dtype, device = tkwargs.get("dtype", torch.float64), str(tkwargs.get("device", "cpu"))
        return PolytopeInstance(_task(self, seeds, horizon, dtype, device), draw.streams)

    def context(self, instance: PolytopeInstance, t: int) -> Task:
        """The polytopes with M and G, the same in all rounds."""
        return instance.task

    def respond(
        self, instance: PolytopeInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Loss, R, or its gradient with respect to y, R x n, at the points ``action``, R x n; and the loss, R."""
        check_in("wants", wants, ("loss", "gradient"))
        G, w = self.coefficients(draw)
        x = instance.task.cset.to_native(action)
        image = matvec(G, x)
        loss = (image**2).sum(-1) / 2 + (w * x).sum(-1)
        if wants == "loss":
            return loss, loss
        return instance.task.cset.rho.unsqueeze(1) * (matvec(G.mT, image) + w), loss

    def coefficients(self, draw: Draw) -> tuple[Tensor, Tensor]:
        """G_t, R x n x n, and w_t, R x n."""
        both = draw.normal("loss", self.dim, self.dim + 1)
        return both[..., : self.dim], both[..., self.dim]

    def total(self, instance: PolytopeInstance, horizon: int) -> tuple[Tensor, Tensor]:
        """Q and w of the sum of the first losses, x^T Q x / 2 + w^T x: R x n x n and R x n, for ``comparators.best_quadratic``."""
        parts = [((G.mT @ G).sum(1), w.sum(1)) for G, w in self.losses(instance.streams, horizon)]
        return sum(Q for Q, _ in parts), sum(w for _, w in parts)

    def losses(self, streams: Streams, horizon: int) -> Iterator[tuple[Tensor, Tensor]]:
        """G_t and w_t by blocks of rounds, R x T x n x n and R x T x n."""
        for first in range(0, horizon, ROUNDS):
            found = [
                self.coefficients(streams.at(t)) for t in range(first, min(first + ROUNDS, horizon))
            ]
            yield torch.stack([G for G, _ in found], 1), torch.stack([w for _, w in found], 1)


@functools.lru_cache(maxsize=KEPT)
def _polytopes(
    problem: QuadraticPolytope, seeds: tuple[int, ...], dtype: torch.dtype, device: str
) -> Polytope:
    """{0 <= x <= 1, A x <= 1} of the trials with these seeds."""
    n, R = problem.dim, len(seeds)
    A = Streams(0, seeds).at(-1).uniform("problem", problem.rows, n).numpy()
    # rows: -x <= 0, x <= 1 and A x <= 1
    axes = np.broadcast_to(np.eye(n), (R, n, n))
    C, above = np.concatenate([-axes, axes, A], 1), np.ones((R, n + problem.rows))
    d = np.concatenate([np.zeros((R, n)), above], 1)
    return polytope(C, d, most=problem.most, dtype=dtype, device=device)


@functools.lru_cache(maxsize=KEPT)
def _task(
    problem: QuadraticPolytope,
    seeds: tuple[int, ...],
    horizon: int,
    dtype: torch.dtype,
    device: str,
) -> Task:
    """Polytopes and bounds, from streams that draw what the trials' draw: every learner of a comparison asks for them again."""
    cset = _polytopes(problem, seeds, dtype, device)
    # Trial by trial and without the rows that pad a list, so that no trial's bounds depend on the others.
    corners = [
        c + rho * v.unique_consecutive(dim=0)
        for c, rho, v in zip(cset.center, cset.rho, cset.vertices)
    ]
    tables = [_monomials(x) for x in corners]
    # ||x||^2 <= sum x, as 0 <= x <= 1
    reach = support_function(cset, torch.ones_like(cset.center)) * cset.rho + cset.center.sum(1)
    found = torch.zeros(2, len(seeds), dtype=dtype, device=device)
    for G, w in problem.losses(Streams(0, seeds, device, dtype), horizon):
        block = [
            _bounds(g, v, *table) if len(table[0]) else _norms(g, v, far)
            for g, v, table, far in zip(G, w, tables, reach)
        ]
        found = torch.maximum(found, torch.stack(block, 1))
    return Task(cset, found[0], cset.rho * found[1])


def _monomials(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x_i x_j for i <= j beside x, V x (n (n + 1) / 2 + n), and the indices i and j. ``x``: V x n."""
    i, j = torch.triu_indices(x.shape[1], x.shape[1], device=x.device)
    return torch.cat([x[:, i] * x[:, j], x], 1), i, j


def _bounds(G: Tensor, w: Tensor, table: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """max_t of max |f_t|, and of max ||G_t^T G_t x + w_t||, over the vertices of ``table``: 2.

    f_t and the gradient's norm are convex, so largest at a vertex; f_t is at least <w_t, x>. Both f_t and the squared norm
    are quadratic in x: one product with the table each.

    Args:
        G: T x n x n.
        w: T x n.
    """
    n, Q = w.shape[1], G.mT @ G
    twice = torch.where(i == j, 1.0, 2.0).to(table)
    square, linear = (Q @ Q)[:, i, j] * twice, 2 * (Q @ w.unsqueeze(2)).squeeze(2)
    found, step = [], max(1, NUMBERS // len(table))
    for some in (slice(k, k + step) for k in range(0, len(w), step)):
        high = (table @ torch.cat([Q[some][:, i, j] * (twice / 2), w[some]], 1).mT).amax()
        low = (table[:, -n:] @ w[some].mT).amin()
        form = (table @ torch.cat([square[some], linear[some]], 1).mT).amax(0)
        steep = (form + (w[some] ** 2).sum(1)).amax()
        found.append(torch.stack([torch.maximum(high, -low), steep.sqrt()]))
    return torch.stack(found).amax(0)


def _norms(G: Tensor, w: Tensor, reach: Tensor) -> Tensor:
    """Upper bounds on the same from norms, where no vertices are known; ``reach``: largest ||x||^2."""
    most, length = torch.linalg.matrix_norm(G, 2) ** 2, torch.linalg.vector_norm(w, dim=1)
    return torch.stack(
        [(most * reach / 2 + length * reach.sqrt()).amax(), (most * reach.sqrt() + length).amax()]
    )
