"""The best fixed matrix in hindsight, the comparator of the regret in matrix completion.

Letters: R trials, p x p matrices.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from paperlib.maths.matrices import NuclearBall, Spectrahedron, smat, svec

STEPS = 20_000  # largest number of iterations before an error


class Best(NamedTuple):
    """A point that is optimal up to a certified gap."""

    point: Tensor  # R x p x p
    value: Tensor  # R
    gap: Tensor  # R, upper bound on the value minus the minimum


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
