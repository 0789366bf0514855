"""The confidence ellipsoid of Theorem 2 along a run.

It is computed from V_t by Cholesky, apart from how a learner keeps its determinant; estimates and
matrices come from a state by field name.
Source: Abbasi-Yadkori, Pal & Szepesvari (2011), "Improved Algorithms for Linear Stochastic Bandits".
Letters: R trials, d dimensions; S norm bound, lambda the ridge, R also the noise's scale.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.linalg import matvec
from ..core.rounds import Round


def _log_det(precision: Tensor) -> Tensor:
    """ln det V_t, R."""
    return 2 * torch.linalg.cholesky_ex(precision).L.diagonal(dim1=-2, dim2=-1).log().sum(-1)


@dataclass(frozen=True)
class Ellipsoid:
    """Theorem 2's ellipsoid as a run goes on: its methods are probes, R numbers of a round each.

    Attributes:
        noise: R, the noise is R-sub-Gaussian.
        norm_bound: S, bound on ||theta*||_2.
        delta: failure probability.
        ridge: lambda.
    """

    noise: float
    norm_bound: float
    delta: float
    ridge: float = 1.0

    def radius(self, seen: Round) -> Tensor:
        """R sqrt(2 ln(det(V_t)^{1/2} det(lambda I)^{-1/2} / delta)) + lambda^{1/2} S, R."""
        V = seen.after.precision
        growth = _log_det(V) - V.shape[-1] * math.log(self.ridge)
        return (
            self.noise * (growth - 2 * math.log(self.delta)).sqrt()
            + math.sqrt(self.ridge) * self.norm_bound
        )

    def error(self, seen: Round) -> Tensor:
        """||theta_t - theta*|| in the norm of V_t, R."""
        difference = seen.after.theta - seen.instance.theta
        return (difference * matvec(seen.after.precision, difference)).sum(-1).sqrt()

    def ratio(self, seen: Round) -> Tensor:
        """Error over radius, R: at most 1 where theta* is inside."""
        return self.error(seen) / self.radius(seen)

    def half_axis(self, seen: Round) -> Tensor:
        """Geometric mean of the ellipsoid's half axes, R: the radius of the ball of the same volume."""
        V = seen.after.precision
        return self.radius(seen) * (_log_det(V) / (-2 * V.shape[-1])).exp()
