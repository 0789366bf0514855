"""Per-round quantities of the confidence ellipsoid of Theorem 2.

The determinant is computed from V_t by a Cholesky factorization, independently of the learner's own updates. Estimates and
matrices are read from the state by field name.
Source: Abbasi-Yadkori, Pal & Szepesvari (2011), "Improved Algorithms for Linear Stochastic Bandits".
Letters: R trials, d dimensions; S norm bound, lambda the ridge, R also the scale of the noise.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.linalg import matvec
from ..core.rounds import Round


def _log_det(precision: Tensor) -> Tensor:
    """Return ln det V_t, R."""
    return 2 * torch.linalg.cholesky_ex(precision).L.diagonal(dim1=-2, dim2=-1).log().sum(-1)


@dataclass(frozen=True)
class Ellipsoid:
    """Confidence ellipsoid of Theorem 2. Its methods are probes for ``play`` and return R numbers per round.

    Attributes:
        noise: R, the noise is R-sub-Gaussian.
        norm_bound: S, bound on ||theta*||_2.
        delta: failure probability.
        ridge: lambda, regularization.

    Examples:
        >>> from paperlib.linear import OFUL, Circle
        >>> from paperlib.linear.probes import Ellipsoid
        >>> from paperlib.play import play
        >>> ellipsoid = Ellipsoid(noise=0.1, norm_bound=1.0, delta=0.01)
        >>> trace = play(OFUL(0.1, 1.0), Circle(), horizon=20, trials=2, probes={"ratio": ellipsoid.ratio})
        >>> bool((trace["ratio"] <= 1).all())  # theta* is inside in all rounds
        True
    """

    noise: float
    norm_bound: float
    delta: float
    ridge: float = 1.0

    def radius(self, seen: Round) -> Tensor:
        """Return the confidence radius R sqrt(2 ln(det(V_t)^{1/2} det(lambda I)^{-1/2} / delta)) + lambda^{1/2} S, R."""
        V = seen.after.precision
        # ln(det V_t / det(lambda I)), where det(lambda I) = lambda^d
        growth = _log_det(V) - V.shape[-1] * math.log(self.ridge)
        return (
            self.noise * (growth - 2 * math.log(self.delta)).sqrt()
            + math.sqrt(self.ridge) * self.norm_bound
        )

    def error(self, seen: Round) -> Tensor:
        """Return the estimation error ||theta_t - theta*|| in the norm of V_t, R."""
        difference = seen.after.theta - seen.instance.theta
        return (difference * matvec(seen.after.precision, difference)).sum(-1).sqrt()

    def ratio(self, seen: Round) -> Tensor:
        """Return the error divided by the radius, R; it is at most 1 if theta* is in the ellipsoid."""
        return self.error(seen) / self.radius(seen)

    def half_axis(self, seen: Round) -> Tensor:
        """Return the geometric mean of the ellipsoid's half axes, R, which is the radius of the ball of equal volume."""
        V = seen.after.precision
        # Half axis i is radius / sqrt(l_i) for the eigenvalue l_i of V_t, and the product of all l_i is det V_t.
        return self.radius(seen) * (_log_det(V) / (-2 * V.shape[-1])).exp()
