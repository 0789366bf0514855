"""ConfidenceBall: the same optimism with the ellipsoid that was known before.

Source: Dani, Hayes & Kakade (2008), "Stochastic Linear Optimization under Bandit Feedback"; the radius as
Abbasi-Yadkori, Pal & Szepesvari (2011) quote it beside their Theorem 2, in our reading.
Letters: R trials, d dimensions.
"""

import math

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from .oful import Optimist, State


@frozen
class ConfidenceBall(Optimist):
    """Optimism with the radius of Dani, Hayes & Kakade (2008), whose rule starts from ||theta*|| <= 1 and lambda = 1.

    Attributes:
        noise: R > 0, scale of the noise.
        delta: in (0, 1], failure probability.
        scale: practical, multiplies the radius.
        refresh: rounds between two inversions of V_t afresh.

    Raises:
        ValueError: a value out of range.
    """

    noise: float = fields.positive()
    delta: float = fields.probability(0.01)
    scale: float = fields.nonnegative(1.0)
    refresh: int = fields.whole(4096)
    ridge = 1.0
    norm_bound = 1.0  # as the source assumes; neither is a setting

    @property
    def declared(self) -> str:
        """The argument that bounds the rewards, and the norm that the method takes for granted."""
        return f"noise={self.noise!r} and ||theta*|| <= 1"

    def radius(self, state: State) -> Tensor:
        """R max{sqrt(128 d ln t ln(t^2 / delta)), (8/3) ln(t^2 / delta)} with t = 1, 2, ... the round about to be played, R.

        It is the same in all trials, because it depends on the number of rounds and not on the arms.
        """
        t, d = state.rounds + 1, state.theta.shape[-1]
        risk = math.log(t * t / self.delta)
        radius = self.noise * max(math.sqrt(128 * d * math.log(t) * risk), 8 / 3 * risk)
        return torch.full_like(state.log_det, radius)
