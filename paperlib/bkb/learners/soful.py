"""SOFUL: linear bandits whose covariance is sketched by Frequent Directions.

Source: Kuzborskij, Cella & Cesa-Bianchi (2019), "Efficient Linear Bandits through Matrix Sketching"; Ghashami,
Liberty, Phillips & Woodruff (2016) for Frequent Directions.
Letters: R trials, A arms, d dimensions, m rows of the sketch; S the sketch, rho the sum of the squared singular values
that it has dropped, V~ = S^T S + lambda I.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import arm_dot, take_arm
from ...core.streams import Draw
from ...maths.gp import Linear
from ..model.confidence import Confidence, RoundSums
from .ucb import KernelUCB, PullCounts


class SOFULState(NamedTuple):
    """Pull counts, the sketch, and the ridge regression that uses it."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mu: Tensor  # R x A
    s2: Tensor  # R x A, ||x||^2 in the norm of V~^{-1}
    sketch: Tensor  # R x m x d, S
    moment: Tensor  # R x d, sum of x y
    rho: Tensor  # R, sum of the squared singular values dropped
    log_det: Tensor  # R, ln det(V~ / lambda)
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm


@frozen_dataclass
class SOFUL(KernelUCB):
    """OFUL with m rows of Frequent Directions instead of the covariance, and a radius that covers the sketching error.

    The scaled variance s2 is a difference of terms of size ||x||^2 / lambda. Therefore no correct digit of it remains if
    lambda is near rounding (1e-16 ||x||^2).

    Source: Kuzborskij, Cella & Cesa-Bianchi (2019), Section 3.
    Departure: the radius contains the observed ln det(V~ / lambda) instead of its worst case m ln(1 + t L^2 / (m lambda)),
    and the sketch has m instead of m - 1 nonzero rows.

    Attributes:
        confidence: noise, norm bound S, ridge, delta and scale; its rule is not used, because SOFUL has a separate radius.
        size: m, rows of the sketch.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.bkb import SOFUL, Confidence, LinearArms, LinearGPUCB
        >>> from paperlib.play import play
        >>> confidence, problem = Confidence(noise=0.1, norm_bound=1.0), LinearArms(arms=50, dim=5)
        >>> exact, full, small = (
        ...     play(learner, problem, horizon=100, trials=2)["regret"][:, -1]
        ...     for learner in (LinearGPUCB(confidence), SOFUL(confidence, size=5), SOFUL(confidence, size=3))
        ... )
        >>> np.allclose(full, exact), bool(small.mean() > exact.mean())  # five rows drop nothing, three do
        (True, True)
    """

    confidence: Confidence
    size: int = fields.size(10)
    kernel = Linear()

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> SOFULState:
        """Return the initial state with an empty sketch; the horizon is not used."""
        d, shared = arms.shape[2], self.prior(trials, arms)
        zero = shared["tally"].information
        sketch = torch.zeros(trials, min(self.size, d), d, **tkwargs)
        return SOFULState(**shared, sketch=sketch, moment=sketch[:, 0], rho=zero, log_det=zero)

    def update(
        self, state: SOFULState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> SOFULState:
        """Append the pulled arm to the sketch, shrink it to m rows, and refit with V~. ``arm``, ``reward``: R."""
        lam, m = self.confidence.lam, state.sketch.shape[1]
        x = take_arm(arms, arm)
        # The sketch has m rows; with the new arm it has m + 1, and an SVD reduces it to m again.
        rows = torch.cat([state.sketch, x.unsqueeze(1)], 1)
        _, sigma, V = torch.linalg.svd(rows, full_matrices=False)
        square = sigma.square()
        # Frequent Directions subtracts sigma_{m+1}^2 from every squared singular value.
        dropped = square[:, m] if square.shape[1] > m else torch.zeros_like(state.rho)
        h, V = (square[:, :m] - dropped.unsqueeze(1)).clamp(min=0.0), V[:, :m]
        weight = h / (h + lam)  # V~^{-1} = (I - V^T diag(weight) V) / lambda
        moment = torch.addcmul(state.moment, x, reward.unsqueeze(1))
        weighted = torch.bmm(V, moment.unsqueeze(2)) * weight.unsqueeze(2)
        theta = (moment - torch.bmm(weighted.mT, V).squeeze(1)) / lam
        # ||x||^2 in the norm of V~^{-1} is (||x||^2 - sum_j weight_j (v_j^T x)^2) / lambda.
        seen = torch.matmul(V, arms.mT)  # R x m x A
        known = (weight.unsqueeze(2) * seen.square()).sum(1)
        s2 = ((arms.square().sum(2) - known) / lam).clamp(min=0.0)
        return self.heard(
            state,
            arm,
            PullCounts(state.n, state.ysum).add(arm, reward),
            arm_dot(arms, theta),
            s2,
            sketch=h.sqrt().unsqueeze(2) * V,
            moment=moment,
            rho=state.rho + dropped,
            log_det=(h / lam).log1p().sum(1),
        )

    def radius(self, state: SOFULState) -> Tensor:
        """Return beta, R: the self-normalized bound in V~, widened by the dropped part of the covariance, plus the bias.

        xi sqrt(ln det(V~ / lambda) + 2 ln(1 / delta) + d ln(1 + rho / lambda)) sqrt(1 + rho / lambda) + S sqrt(lambda) (1 + rho / lambda).
        The noise term follows from V~ <= V <= V~ + rho I <= (1 + rho / lambda) V~. The bias is at most
        (rho + lambda) S / sqrt(lambda).
        """
        c, lost = self.confidence, state.rho / self.confidence.lam
        L, dim = math.log(1 / c.delta), state.sketch.shape[2]
        # ln det V <= ln det V~ + d ln(1 + rho / lambda) bounds the determinant of the exact covariance.
        width = (state.log_det + 2 * L + dim * lost.log1p()).sqrt() * (1 + lost).sqrt()
        return c.scale * (c.noise * width + c.norm_bound * math.sqrt(c.lam) * (1 + lost))
