"""The best fixed point in hindsight, the comparator of the regret.

Letters: n dimensions, q constraints; R trials, T rounds, p x p matrices.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paperlib.maths.matrices import NuclearBall, Spectrahedron, smat, svec
from paperlib.maths.polytopes import project_polytope

STEPS = 20_000  # largest number of iterations before an error
FLOOR = 1e-30  # smallest weight of a stock; a weight of 0 would stay 0, because updates multiply


class Best(NamedTuple):
    """A point that is optimal up to a certified gap."""

    point: Tensor  # R x n, or R x p x p
    value: Tensor  # R
    gap: Tensor  # R, upper bound on the value minus the minimum


def best_quadratic(
    C: np.ndarray, d: np.ndarray, Q: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the minimizer over {x: C x <= d} of x^T Q x / 2 + w^T x, n, and the minimum; exact, by a projection.

    With Q = L L^T and u = L^T x + L^{-1} w the objective is ||u||^2 / 2 + const. Therefore the best u has the smallest norm.

    Args:
        C: q x n.
        d: q.
        Q: n x n, symmetric positive definite.
        w: n.
    """
    # The problem is divided by its scale, because Q and w are sums over many rounds. The projection's tolerance then has the
    # same meaning for every number of rounds.
    scale = np.trace(Q) / len(w)
    L = np.linalg.cholesky(Q / scale)
    shift, rows = np.linalg.solve(L, w / scale), np.linalg.solve(L, C.T).T  # C L^{-T}
    x = np.linalg.solve(L.T, project_polytope(rows, d + rows @ shift, np.zeros(len(w))) - shift)
    return x, float(x @ Q @ x / 2 + w @ x)


def bcrp(r: Tensor, tolerance: float = 1e-5) -> Best:
    """Return the best constant rebalanced portfolio: weights x >= 0 of sum 1 that minimize the mean loss, -mean_t log(r_t . x).

    The method is EM, x_i <- x_i mean_t(r_ti / r_t . x), from equal weights. The factor is raised to a power. The power increases
    while the loss decreases, and is reduced otherwise. The plain step, power 1, always improves, but it has not converged after
    4000 steps, because daily ratios are close to 1. The gap, max_i mean_t(r_ti / r_t . x) - 1, is the gap of the linearized loss.

    Args:
        r: ratios, R x T x n, above 0.
        tolerance: largest accepted gap, > 0.

    Raises:
        RuntimeError: the gap is not reached within 20000 steps.
    """
    x = torch.full_like(r[:, 0], 1 / r.shape[2])
    power = torch.ones_like(x[:, :1])
    value, factor = _mean_loss(r, x)
    for _ in range(STEPS):
        gap = factor.amax(1) - 1
        moves = (gap > tolerance).unsqueeze(1)
        if not bool(moves.any()):
            return Best(x, value, gap)
        z = (x * (power * factor.log()).clamp(-9.0, 9.0).exp()).clamp(min=FLOOR)
        z = z / z.sum(1, keepdim=True)
        lower, after = _mean_loss(r, z)
        gains = moves & (lower <= value).unsqueeze(1)
        x, factor = torch.where(gains, z, x), torch.where(gains, after, factor)
        value = torch.where(gains.squeeze(1), lower, value)
        power = torch.where(gains, 1.5 * power, (power / 4).clamp(min=1.0))
    raise RuntimeError(
        f"the gap of EM must be at most {tolerance:g} after {STEPS} steps, got {gap.max().item():.3g}"
    )


def _mean_loss(r: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return -mean_t log(r_t . x), R, and mean_t(r_t / r_t . x), R x n."""
    wealth = torch.bmm(r, x.unsqueeze(2)).squeeze(2)
    total = torch.bmm(wealth.reciprocal().unsqueeze(1), r).squeeze(1)
    return -wealth.log().mean(1), total / r.shape[1]


def best_completion(
    W: Tensor, S: Tensor, cset: NuclearBall | Spectrahedron, tolerance: float
) -> Best:
    """Minimize 1/2 <W, X o X> - <S, X> over a set of symmetric matrices by FISTA; ``value`` lacks the losses' constant.

    Args:
        W: R x p x p, symmetric, at least 0.
        S: R x p x p, symmetric.
        cset: the set of matrices; the gap is computed with the exact oracle, even if ``cset`` has another one.
        tolerance: largest accepted Frank-Wolfe gap <grad, X - lmo(grad)>, > 0; 1e-6 per round is sufficient.

    Raises:
        RuntimeError: the gap is not reached within 20000 steps.
    """
    p, rho = cset.p, cset.rho
    cset = cset if cset.exact else cset._replace(exact=True)
    native = lambda y: smat(cset.to_native(y), p)
    slope = lambda y: rho * svec(W * native(y) - S)
    # The Hessian in normalized coordinates is diagonal with entries rho^2 W, so its largest entry gives the step.
    step = 1 / (rho**2 * W.amax((1, 2))).unsqueeze(1)
    ratio = (W.amin((1, 2)) / W.amax((1, 2))).sqrt().unsqueeze(1)
    # The momentum is limited by W's condition number, because more would cause oscillations.
    most = (1 - ratio) / (1 + ratio)
    y = look = W.new_zeros(len(W), cset.dim)
    momentum, gradient = 1.0, slope(y)
    for _ in range(STEPS):
        gap = (gradient * (y - cset.lmo(gradient))).sum(-1)
        moves = (gap > tolerance).unsqueeze(1)
        if not bool(moves.any()):
            X = native(y)
            return Best(X, (W * X * X / 2 - S * X).sum((1, 2)), gap)
        after = cset.project(look - step * slope(look))
        rate = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        look = torch.where(moves, after + most.clamp(max=(momentum - 1) / rate) * (after - y), look)
        y, momentum = torch.where(moves, after, y), rate  # a converged trial is frozen
        gradient = slope(y)
    raise RuntimeError(
        f"the gap of FISTA must be at most {tolerance:g} after {STEPS} steps, got {gap.max().item():.3g}"
    )
