"""Theorem 2, the confidence ellipsoid, as a function that returns a ``Check``.

The ellipsoid is computed from V_t by Cholesky, apart from how a learner keeps its determinant; estimates and
matrices come from a state by field name.
Source: Abbasi-Yadkori, Pal & Szepesvari (2011), "Improved Algorithms for Linear Stochastic Bandits".
Letters: R trials, T' recorded rounds, d dimensions; S norm bound, lambda the ridge, R also the noise's scale.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..checks import Check, statement
from ..core import Trace
from ..linalg import apply

if TYPE_CHECKING:
    from ..play import Round

PAPER = "Abbasi-Yadkori, Pal & Szepesvari (2011)"


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

    def radius(self, seen: "Round") -> Tensor:
        """R sqrt(2 ln(det(V_t)^{1/2} det(lambda I)^{-1/2} / delta)) + lambda^{1/2} S, R."""
        V = seen.after.precision
        growth = _log_det(V) - V.shape[-1] * math.log(self.ridge)
        return self.noise * (growth - 2 * math.log(self.delta)).sqrt() + math.sqrt(self.ridge) * self.norm_bound

    def error(self, seen: "Round") -> Tensor:
        """||theta_t - theta*|| in the norm of V_t, R."""
        difference = seen.after.theta - seen.world.theta
        return (difference * apply(seen.after.precision, difference)).sum(-1).sqrt()

    def ratio(self, seen: "Round") -> Tensor:
        """Error over radius, R: at most 1 where theta* is inside."""
        return self.error(seen) / self.radius(seen)

    def half_axis(self, seen: "Round") -> Tensor:
        """Geometric mean of the ellipsoid's half axes, R: the radius of the ball of the same volume."""
        V = seen.after.precision
        return self.radius(seen) * (_log_det(V) / (-2 * V.shape[-1])).exp()


@statement("Theorem 2", f"{PAPER}, Theorem 2")
def theorem_2(trace: Trace, ellipsoid: Ellipsoid) -> Check:
    """With probability 1 - delta, for all t: theta* lies in the ellipsoid around the ridge estimate.

    It informs once it is smaller, in volume and in every trial, than the ball ||theta*|| <= S known beforehand.

    Args:
        trace: with "ratio", the largest of all rounds so far, and "half axis", both R x T' and of this ellipsoid.
        ellipsoid: with the noise and the norm of the problem.
    """
    large = np.flatnonzero((trace["half axis"] >= ellipsoid.norm_bound).any(0))
    first = 0 if not len(large) else large[-1] + 1
    return Check(
        "Theorem 2", theorem_2.statement.source, "for all t: ||theta_t - theta*||_{V_t} / radius_t <= 1, with probability 1 - delta",
        dataclasses.asdict(ellipsoid), trace["ratio"], 1.0, ellipsoid.delta, trivial=ellipsoid.norm_bound,
        informative_from=int(trace.rounds[first]) if first < len(trace.rounds) else None,
    )
