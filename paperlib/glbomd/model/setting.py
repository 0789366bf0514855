"""What the analysis assumes of a run, and the radius of its confidence sets.

Source: Zhang, Xu, Zhao & Sugiyama (2025), Theorem 1.
Letters: as in ``theory.bounds``.
"""

import math
from typing import Any

import numpy as np

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.validation import LARGEST, raise_invalid
from .links import Link, known_link


@frozen_dataclass
class Setting:
    """What enters the bounds: the model and the learner's hyper-parameters.

    Raises:
        ValueError: a number out of its range; a link without the properties that the analysis needs.
    """

    link: Link
    norm_bound: float = fields.positive()  # S > 0, with ||theta*|| <= S
    dim: int = fields.whole()  # d >= 1
    ridge: float = fields.positive()  # lambda > 0, as a number
    delta: float = fields.probability(0.01)  # failure probability, in (0, 1]

    def __post_init__(self):
        known_link(self.link)
        if not self.max_slope <= LARGEST:
            allowed = f"numbers for which C_mu is at most {LARGEST:g}"
            raise_invalid("norm_bound", self.norm_bound, allowed)

    @property
    def step(self) -> float:
        """eta = 1 + R S."""
        return 1 + self.link.self_concordance * self.norm_bound

    @property
    def spread(self) -> float:
        """alpha = 3 eta / 2, the factor of H_s^{-1} in the Gaussians P_s and Q_s."""
        return 1.5 * self.step

    @property
    def max_slope(self) -> float:
        """C_mu."""
        return self.link.max_slope(self.norm_bound)

    def radius(self, t: Any) -> Any:
        """beta_t, Theorem 1: error of theta_t in the norm of H_t, for every t >= 1 at once.

        Args:
            t: the round about to be played, a number or an array.
        """
        g, eta = self.link.dispersion, self.step
        start = 4 * self.ridge * self.norm_bound**2
        growth = np.log(2 + 2 * self.max_slope * np.asarray(t, float) / (self.ridge * g))
        beta = np.sqrt(start + 2 * eta * math.log(1 / self.delta) + 6 * self.dim * eta**2 * growth)
        return float(beta) if beta.ndim == 0 else beta

    def describe(self) -> dict[str, Any]:
        """The numbers as a dictionary, for ``Check.inputs``."""
        return {
            "link": type(self.link).__name__,
            "S": self.norm_bound,
            "d": self.dim,
            "ridge": self.ridge,
            "delta": self.delta,
        }


def setting_of(learner: Any, dim: int) -> Setting:
    """The setting of a learner that has fields link, norm_bound, delta and resolves its ridge by ``ridge_value(dim)``."""
    ridge = float(learner.ridge_value(dim))
    return Setting(learner.link, float(learner.norm_bound), dim, ridge, learner.delta)
