"""Ridge regression on fixed features of all arms, one observation at a time.

Source: Sherman & Morrison (1950). With V = sum z z^T + lambda I, P = V^{-1} and u = P z of the arm played, every
arm's mean and width change by its g = z_i^T u alone, so that a round costs O(A M).
Letters: R trials, A arms, M features.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.linalg import Rows, apply, light, may_look, tensors
from ..model.confidence import Tally
from ..model.slots import apart, together
from .ucb import of_arm

TINY = 1e-300  # variances stay above 0, for ratios of them are taken
REFRESH = 256  # rounds after which learners compute anew what they update


class State(NamedTuple):
    """Counters, features that never change, and the ridge regression on them."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    Z: Tensor  # R x M x A or 1 x M x A, features
    inverse: Tensor  # R x M x M, P
    tally: Tally
    copies: Tensor | None  # 1 or R x A, first equal arm
    mask: Tensor | None = None  # R x A bool, the dictionary (FixedDictionary)
    failed: Tensor | None = None  # R bool, K_SS did not factor (FixedDictionary)
    eigh: bool = False  # the root (FixedDictionary)


def refitted(
    Z: Tensor, n: Tensor, ysum: Tensor, ridge: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """P, mu and z^T P z computed anew from the counters, against the drift of many updates, and whether V factored, R.

    ``n``, ``ysum``: R x A.
    """
    V = (Z * n.unsqueeze(1)) @ Z.mT
    V.diagonal(dim1=1, dim2=2).add_(ridge)
    C, info = torch.linalg.cholesky_ex(V)
    w = torch.cholesky_solve(Z @ ysum.unsqueeze(2), C).squeeze(2)
    half = torch.linalg.solve_triangular(C, Z.expand(len(n), -1, -1), upper=False)
    return torch.cholesky_inverse(C), along(Z, w), half.square_().sum(1), info == 0


def column(Z: Tensor, arm: Tensor) -> Tensor:
    """Features of each trial's arm, R x M. ``Z``: R x M x A or 1 x M x A; ``arm``: R."""
    if Z.shape[0] == 1:
        return Z[0].index_select(1, arm).mT
    return Z.gather(2, arm.view(-1, 1, 1).expand(-1, Z.shape[1], 1)).squeeze(2)


def along(Z: Tensor, vector: Tensor) -> Tensor:
    """z_i^T v for every arm, R x A. ``vector``: R x M."""
    return vector @ Z[0] if Z.shape[0] == 1 else torch.bmm(vector.unsqueeze(1), Z).squeeze(1)


def absorb(
    Z: Tensor | Rows, inverse: Tensor, mu: Tensor, s2: Tensor, arm: Tensor, reward: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """P, mu and s2 after one more observation.

    Args:
        Z: features, R x M x A or 1 x M x A; or apart by trial.
        inverse: P, R x M x M.
        mu, s2: R x A; of s2 only the part z^T P z changes.
        arm, reward: R.
    """
    if isinstance(Z, Rows) and may_look(mu):
        return _by_trial(apart(Z).parts, inverse, mu, s2, arm, reward)
    Z = together(Z, inverse.shape[1])
    z = column(Z, arm)
    u = apply(inverse, z)
    c = 1 + (z * u).sum(1)
    g = along(Z, u)
    mu = torch.addcmul(mu, g, ((reward - of_arm(mu, arm)) / c).unsqueeze(1))
    s2 = torch.addcdiv(s2, g.square(), -c.unsqueeze(1)).clamp_(min=TINY)
    # Sherman & Morrison: P - u u^T / (1 + z^T u)
    inverse = torch.addcmul(inverse, (u / -c.unsqueeze(1)).unsqueeze(2), u.unsqueeze(1))
    return inverse, mu, s2


def _by_trial(
    parts: list[Tensor], inverse: Tensor, mu: Tensor, s2: Tensor, arm: Tensor, reward: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """``absorb`` with the features of each trial, M x A, by themselves."""
    *old, arm, reward = light(inverse, mu, s2, arm, reward)
    P, mean, variance = (x.copy() for x in old)
    for i, Z in enumerate(light(*parts)):
        z, m = Z[:, arm[i]], len(Z)
        u = P[i, :m, :m] @ z
        c, g = 1 + z @ u, u @ Z
        mean[i] += g * ((reward[i] - mean[i, arm[i]]) / c)
        np.maximum(variance[i] - g * g / c, TINY, out=variance[i])
        P[i, :m, :m] -= u[:, None] * (u / c)
    return tensors(P, mean, variance)
