"""OFUL-MLogB: one mirror descent step a round, with the wider radius of an earlier analysis.

Source: Zhang & Sugiyama (2023), "Online (Multinomial) Logistic Bandit: Improved Regret and Constant Computation
Cost", for two outcomes, in our reading; a baseline of Zhang, Xu, Zhao & Sugiyama (2025), Table 2 and Remark 2.
Constants are those of the analysis as Lee & Oh (2024), "Nearly Minimax Optimal Regret for Multinomial Logistic
Bandit", restate it. The paper at hand prints orders alone, and public code takes simpler ones: the order of the
radius is shown (C28), its constants are held against nothing.
Letters: d dimensions; S norm bound, eta step size, lambda ridge, t the round about to be played.
"""

import math
from dataclasses import field

from ...core.describe import frozen_dataclass
from ..model.links import Bernoulli, Link
from .glbomd import GLBOMD


@frozen_dataclass
class OFULMLogB(GLBOMD):
    """Logistic bandits with GLB-OMD's estimate and another confidence set.

    The estimate solves GLB-OMD's Eq. (3) with a step size of its own. The radius comes from following the losses of
    a mixing forecaster instead of the mix loss: it is wider, by an order of sqrt(ln t).

    Attributes:
        norm_bound: S > 0, bound on ||theta*||_2.
        delta: in (0, 1], failure probability of the confidence sets.
        ridge: lambda > 0; "theory" for 84 sqrt(2) d eta, or "dim" for d, which the theory does not cover.
        scale, refresh: as in GLB-OMD.
        link: the method is for logistic rewards only.

    Raises:
        ValueError: a value out of range, or another family.
    """

    ridge: str | float = "theory"
    link: Link = field(default=Bernoulli(), kw_only=True)
    families = (Bernoulli,)
    ridges = ("theory", "dim")

    # Departure: the arm is GLB-OMD's Eq. (6). The authors' bonus of first and second order serves several outcomes;
    # with two the mean grows along x^T theta, and the most optimistic arm of an ellipsoid is known exactly.

    @property
    def step(self) -> float:
        """eta = ln(2) / 2 + S + 1."""
        return math.log(2) / 2 + self.norm_bound + 1

    def _condition(self, name: str, dim: int) -> float:
        return 84 * math.sqrt(2) * dim * self.step

    def radius(self, t: int, dim: int) -> float:
        """beta_t, without ``scale``: the root of 2 eta (a + 2 + b) + 4 lambda S^2.

        a bounds how far the losses at theta* exceed the forecaster's, of order (ln t)^2; b bounds how far the
        forecaster's exceed the estimate's, of order ln t.
        """
        S, eta, ridge = self.norm_bound, self.step, self.ridge_value(dim)
        a = 11 * (3 * math.log1p(2 * t) + S + 2) * math.log(2 * math.sqrt(1 + 2 * t) / self.delta)
        b = 7 * math.sqrt(6) / 6 * dim * eta * math.log1p((t + 1) / (2 * ridge))
        return math.sqrt(2 * eta * (a + 2 + b) + 4 * ridge * S * S)
