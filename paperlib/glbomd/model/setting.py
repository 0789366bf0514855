"""The setting of the analysis: the model and the hyper-parameters, and the confidence radius that follows.

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
    """The inputs of the bounds: the model and the learner's hyper-parameters.

    Raises:
        ValueError: a number out of its range; a link without the properties that the analysis needs.

    Examples:
        >>> from paperlib.glbomd import Bernoulli
        >>> from paperlib.glbomd.model.setting import Setting
        >>> setting = Setting(Bernoulli(), norm_bound=3.0, dim=5, ridge=18.0)
        >>> setting.step, round(setting.radius(1), 2)
        (4.0, 32.0)
    """

    link: Link
    norm_bound: float = fields.positive()  # S > 0, with ||theta*|| <= S
    dim: int = fields.whole()  # d >= 1
    ridge: float = fields.positive()  # lambda > 0, as a number
    delta: float = fields.probability(0.01)  # failure probability, in (0, 1]

    def __post_init__(self):
        known_link(self.link)
        if not self.max_slope <= LARGEST:
            requirement = f"so small that C_mu is at most {LARGEST:g}"
            raise_invalid("norm_bound", self.norm_bound, requirement)

    @property
    def step(self) -> float:
        """The step size, eta = 1 + R S (Theorem 1)."""
        return 1 + self.link.self_concordance * self.norm_bound

    @property
    def spread(self) -> float:
        """The spread of the mix loss, alpha = 3 eta / 2: the factor of H_s^{-1} in the Gaussians P_s and Q_s."""
        return 1.5 * self.step

    @property
    def max_slope(self) -> float:
        """C_mu, the largest slope of the mean on [-S, S]."""
        return self.link.max_slope(self.norm_bound)

    def radius(self, t: Any) -> Any:
        """Return the confidence radius beta_t of Theorem 1.

        It bounds the error of theta_t in the norm of H_t for all t >= 1 simultaneously.

        Args:
            t: the round about to be played, a number or an array.
        """
        g, eta = self.link.dispersion, self.step
        start = 4 * self.ridge * self.norm_bound**2
        growth = np.log(2 + 2 * self.max_slope * np.asarray(t, float) / (self.ridge * g))
        beta = np.sqrt(start + 2 * eta * math.log(1 / self.delta) + 6 * self.dim * eta**2 * growth)
        return float(beta) if beta.ndim == 0 else beta

    def describe(self) -> dict[str, Any]:
        """Return the numbers as a dictionary, for ``Check.inputs``."""
        return {
            "link": type(self.link).__name__,
            "S": self.norm_bound,
            "d": self.dim,
            "ridge": self.ridge,
            "delta": self.delta,
        }


def setting_of(learner: Any, dim: int) -> Setting:
    """Return the setting of a learner in dimension ``dim``.

    The learner needs the fields link, norm_bound and delta, and a method ``ridge_value(dim)`` for its ridge.
    """
    ridge = float(learner.ridge_value(dim))
    return Setting(learner.link, float(learner.norm_bound), dim, ridge, learner.delta)
