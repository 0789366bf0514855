"""OFUL-MLogB: one mirror descent step per round, with the larger confidence radius of an earlier analysis.

Source: Zhang & Sugiyama (2023), "Online (Multinomial) Logistic Bandit: Improved Regret and Constant Computation
Cost", for two outcomes, in our reading; a baseline of Zhang, Xu, Zhao & Sugiyama (2025), Table 2 and Remark 2.
The constants are taken from the analysis as Lee & Oh (2024), "Nearly Minimax Optimal Regret for Multinomial Logistic
Bandit", restate it. The 2025 paper states orders only, and the public code has simpler constants. Therefore only the
order of the radius is shown (claim C28); its constants are not compared with any source.
Letters: d dimensions; S norm bound, eta step size, lambda ridge, t the round about to be played.
"""

import math
from dataclasses import field

from ...core.describe import frozen_dataclass
from ..model.links import Bernoulli, Link
from .glbomd import GLBOMD


@frozen_dataclass
class OFULMLogB(GLBOMD):
    """Logistic bandit with the estimate of GLB-OMD and a different confidence set.

    The estimate solves Eq. (3) of GLB-OMD with another step size. The analysis bounds the losses of a mixing
    forecaster instead of the mix loss. Therefore the radius is larger, by a factor of order sqrt(ln t).

    Attributes:
        norm_bound: S > 0, bound on ||theta*||_2.
        delta: in (0, 1], failure probability of the confidence sets.
        ridge: lambda > 0; "theory" for 84 sqrt(2) d eta, or "dim" for d, which the theory does not cover.
        scale, refresh: as in GLB-OMD.
        link: the method is for logistic rewards only.

    Raises:
        ValueError: a value out of range, or another family.

    Examples:
        >>> from paperlib.glbomd import GLBOMD, Bernoulli, OFULMLogB
        >>> earlier, later = OFULMLogB(norm_bound=3.0), GLBOMD(Bernoulli(), norm_bound=3.0, ridge="theory")
        >>> earlier.radius(1000, dim=5) > later.radius(1000, dim=5)
        True
    """

    ridge: str | float = "theory"
    link: Link = field(default=Bernoulli(), kw_only=True)
    families = (Bernoulli,)
    ridges = ("theory", "dim")

    # Departure: the arm is chosen by GLB-OMD's Eq. (6). The authors' bonus has terms of first and second order because
    # it serves several outcomes. With two outcomes the mean increases in x^T theta, so the most optimistic arm over an
    # ellipsoid has a closed form.

    @property
    def step(self) -> float:
        """The step size, eta = ln(2) / 2 + S + 1."""
        return math.log(2) / 2 + self.norm_bound + 1

    def _condition(self, name: str, dim: int) -> float:
        return 84 * math.sqrt(2) * dim * self.step

    def radius(self, t: int, dim: int) -> float:
        """Return beta_t, without ``scale``: the square root of 2 eta (a + 2 + b) + 4 lambda S^2.

        Here a, of order (ln t)^2, bounds the losses at theta* minus the forecaster's losses. The term b, of order
        ln t, bounds the forecaster's losses minus the losses of the estimate.
        """
        # The term (ln t)^2 in a is the reason for the extra factor sqrt(ln t) compared with GLB-OMD's radius.
        S, eta, ridge = self.norm_bound, self.step, self.ridge_value(dim)
        a = 11 * (3 * math.log1p(2 * t) + S + 2) * math.log(2 * math.sqrt(1 + 2 * t) / self.delta)
        b = 7 * math.sqrt(6) / 6 * dim * eta * math.log1p((t + 1) / (2 * ridge))
        return math.sqrt(2 * eta * (a + 2 + b) + 4 * ridge * S * S)
