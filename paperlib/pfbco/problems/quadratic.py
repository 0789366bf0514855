"""Convex quadratic losses over random polytopes: Figure 1a.

Source: Chen, Zhang & Karbasi (2019), quadratic programming; the paper does not state the dimension and the number of rows, so we
chose them.
Departure: the origin is a vertex of the paper's polytope. Therefore no ball around the origin fits inside, even after shrinking.
We move the polytope to its Chebyshev center instead (E9). M and G are computed from the losses of each trial (E12).
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

ROUNDS = 512  # coefficients are drawn in blocks of this many rounds
NUMBERS = 1 << 21  # largest number of entries of a table of vertices by rounds
KEPT = 8  # cached tasks


class PolytopeInstance(NamedTuple):
    """The polytopes of the trials, with M and G."""

    task: Task
    streams: Streams


@frozen_dataclass
class QuadraticPolytope:
    """Quadratic programming of Figure 1a: f_t(x) = x^T G_t^T G_t x / 2 + w_t^T x over {0 <= x <= 1, A x <= 1}.

    Points are in coordinates y with x = center + rho y. In each trial A is uniform on [0, 1] (purpose "problem"). G_t, n x n, and
    w_t are standard normal and drawn independently each round (purpose "loss", w_t in the last column). The expected loss is
    E f_t(x) = n ||x||^2 / 2, so its minimizer is the vertex x = 0. ``gap`` is the loss itself, not a regret.

    Attributes:
        dim: n.
        rows: m, the number of rows of A.
        most: largest number of vertices that are listed. With more, the oracle solves linear programs, and M and G are looser
            bounds, from norms instead of vertices.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.pfbco import Doubling, PFBCO, QuadraticPolytope
        >>> from paperlib.play import play
        >>> trace = play(Doubling(PFBCO(0.1)), QuadraticPolytope(3, 2), horizon=31, trials=2)
        >>> trace.last().shape  # summed loss per trial
        (2,)
    """

    dim: int = fields.size(10)
    rows: int = fields.size(10)
    most: int = fields.whole(MOST, least=0)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> PolytopeInstance:
        """Return the polytopes and the bounds on all losses of the horizon; the last ``KEPT`` results are cached."""
        seeds = tuple(draw.streams.seeds.tolist())
        dtype, device = tkwargs.get("dtype", torch.float64), str(tkwargs.get("device", "cpu"))
        return PolytopeInstance(_task(self, seeds, horizon, dtype, device), draw.streams)

    def context(self, instance: PolytopeInstance, t: int) -> Task:
        """Return the polytopes with M and G, the same in all rounds."""
        return instance.task

    def respond(
        self, instance: PolytopeInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the loss, R, or its gradient with respect to y, R x n, at the points ``action``, R x n; and the loss, R."""
        check_in("wants", wants, ("loss", "gradient"))
        G, w = self.coefficients(draw)
        x = instance.task.cset.to_native(action)
        image = matvec(G, x)
        loss = (image**2).sum(-1) / 2 + (w * x).sum(-1)
        if wants == "loss":
            return loss, loss
        # The factor rho is from the chain rule, because x = center + rho y.
        return instance.task.cset.rho.unsqueeze(1) * (matvec(G.mT, image) + w), loss

    def coefficients(self, draw: Draw) -> tuple[Tensor, Tensor]:
        """Return G_t, R x n x n, and w_t, R x n."""
        both = draw.normal("loss", self.dim, self.dim + 1)
        return both[..., : self.dim], both[..., self.dim]

    def total(self, instance: PolytopeInstance, horizon: int) -> tuple[Tensor, Tensor]:
        """Return Q, R x n x n, and w, R x n, of the sum of the first ``horizon`` losses, x^T Q x / 2 + w^T x, for ``comparators.best_quadratic``."""
        parts = [((G.mT @ G).sum(1), w.sum(1)) for G, w in self.losses(instance.streams, horizon)]
        return sum(Q for Q, _ in parts), sum(w for _, w in parts)

    def losses(self, streams: Streams, horizon: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield G_t and w_t in blocks of up to ``ROUNDS`` rounds, R x T x n x n and R x T x n."""
        for first in range(0, horizon, ROUNDS):
            found = [
                self.coefficients(streams.at(t)) for t in range(first, min(first + ROUNDS, horizon))
            ]
            yield torch.stack([G for G, _ in found], 1), torch.stack([w for _, w in found], 1)


@functools.lru_cache(maxsize=KEPT)
def _polytopes(
    problem: QuadraticPolytope, seeds: tuple[int, ...], dtype: torch.dtype, device: str
) -> Polytope:
    """Return {0 <= x <= 1, A x <= 1} of the trials with these seeds."""
    n, R = problem.dim, len(seeds)
    A = Streams(0, seeds).at(-1).uniform("problem", problem.rows, n).numpy()
    # The rows of C are -x <= 0, x <= 1 and A x <= 1.
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
    """Return polytopes and bounds, computed from copies of the trials' random streams.

    The result is cached, because every learner of a comparison needs it again.
    """
    cset = _polytopes(problem, seeds, dtype, device)
    # Each trial is computed alone and without the padding of its vertex list, so no trial's bounds depend on other trials.
    corners = [
        c + rho * v.unique_consecutive(dim=0)
        for c, rho, v in zip(cset.center, cset.rho, cset.vertices)
    ]
    tables = [_monomials(x) for x in corners]
    # The largest sum x bounds ||x||^2 from above, because 0 <= x <= 1.
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
    """Return x_i x_j for i <= j, followed by x, V x (n (n + 1) / 2 + n), and the indices i and j. ``x``: V x n."""
    i, j = torch.triu_indices(x.shape[1], x.shape[1], device=x.device)
    return torch.cat([x[:, i] * x[:, j], x], 1), i, j


def _bounds(G: Tensor, w: Tensor, table: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """Return bounds on |f_t| and on ||G_t^T G_t x + w_t|| over the polytope and all t, computed from the vertices of ``table``: 2.

    f_t and the gradient's norm are convex, so their maxima are at vertices. f_t is bounded from below by <w_t, x>, which is linear.
    Both f_t and the squared norm are quadratic in x, so each takes one product with the table.

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
    """Return upper bounds on the same two numbers from matrix norms, without vertices; ``reach``: largest ||x||^2."""
    most, length = torch.linalg.matrix_norm(G, 2) ** 2, torch.linalg.vector_norm(w, dim=1)
    return torch.stack(
        [(most * reach / 2 + length * reach.sqrt()).amax(), (most * reach.sqrt() + length).amax()]
    )
