"""Confidence radius of Phase II: sqrt(beta_t), in the norm of Sigma_t.

Source: Liu & Wang (2023), (7) and Appendix D.1.
Shapes: R trials, dw parameters.
"""

import math
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import argmax_first
from ...core.validation import check_array, raise_invalid
from .ellipsoid import Ellipsoid


class RadiusInputs(NamedTuple):
    """Quantities that a radius may depend on before query t + 1 of Phase II."""

    t: int  # completed queries
    T: int  # total number of queries; 0 if unknown
    w0: Tensor  # R x dw, estimate of Phase I
    farthest: Tensor  # R, maximum of ``Radius.error2`` over the estimates that selected the queries so far


class Radius(Protocol):
    """Interface of a confidence radius. ``needs_horizon``: whether it depends on T."""

    needs_horizon: bool

    def root(self, known: RadiusInputs, ellipsoid: Ellipsoid) -> Tensor: ...
    def error2(self, w: Tensor, w0: Tensor) -> Tensor: ...


class _Blind:
    needs_horizon = False

    def error2(self, w: Tensor, w0: Tensor) -> Tensor:
        """Return 0, R, because w* is unknown."""
        return torch.zeros_like(w[:, 0])


@frozen_dataclass
class Constant(_Blind):
    """Constant radius sqrt(beta) = kappa sqrt(lambda). In directions without any data, the ball has radius kappa.

    Attributes:
        kappa: >= 0, a number or one per trial; with 0 the learner follows the fit without exploration.

    Raises:
        ValueError: kappa is below 0.

    Examples:
        >>> from paperlib.goucb import Constant, practical
        >>> practical(8, kappa=0.5).radius == Constant(0.5)
        True
    """

    kappa: float | Tensor = fields.nonnegative(0.2, by_trial=True)

    def root(self, known: RadiusInputs, ellipsoid: Ellipsoid) -> Tensor:
        """Return sqrt(beta), R."""
        return self.kappa * ellipsoid.ridge.sqrt()


@frozen_dataclass
class Printed(_Blind):
    """The paper's radius in its experiments: beta_t = dw^3 F^4 t / T for t = 1..T.

    For example, for f1 (dw = 551, F = 26) beta_T is 7.6e13, and the ball constraint is never active.
    Source: Liu & Wang (2023), Appendix D.1, which drops the two terms of (7) without t (E13).

    Attributes:
        value_bound: F > 0, the largest |f|.

    Raises:
        ValueError: F is not above 0.

    Examples:
        >>> from paperlib.goucb import Printed
        >>> radius = Printed(value_bound=26.0)
        >>> f"{radius.beta(t=1, T=25, dw=551):.3e}"
        '3.058e+12'
    """

    value_bound: float = fields.positive(most=1000000.0)
    needs_horizon = True

    def beta(self, t: int, T: int, dw: int) -> float:
        """Return beta_t, t = 1..T."""
        return dw**3 * float(self.value_bound) ** 4 * t / T

    def root(self, known: RadiusInputs, ellipsoid: Ellipsoid) -> Tensor:
        """Return sqrt(beta_{t+1}), R."""
        # The paper counts queries from 1, ``known.t`` from 0.
        beta = self.beta(known.t + 1, known.T, known.w0.shape[1])
        return torch.full_like(ellipsoid.ridge, beta**0.5)


@frozen_dataclass
class Simulated:
    """Smallest radius that the proof of Lemma 5.3 yields if w* is known: a best case of the theory, for simulations.

    sqrt(beta_t) = sigma sqrt(l_t + 2 ln(2 / delta)) + sqrt(lambda) ||w_0 - w*|| + C_h / 2 max_i ||w_i - w*||^2 sqrt(t S_t), with l_t the
    growth of ln det Sigma and S_t = sum_i g_i^T Sigma_t^{-1} g_i <= min(t, dw, l_t).
    Source: Liu & Wang (2023), (13) and Lemma B.3, where we use the exact value of each term.

    Attributes:
        truths: E equivalent parameter vectors w* of one function, each a tuple of dw numbers; the one nearest to w_0 is used.
        noise: sigma > 0, in the model's units.
        curvature: C_h >= 0, the largest Hessian norm.
        delta: failure probability.

    Raises:
        ValueError: a value is out of range.
    """

    truths: tuple[tuple[float, ...], ...]
    noise: float = fields.positive()
    curvature: float = fields.nonnegative()
    delta: float = fields.probability(0.1)
    needs_horizon = False

    def __post_init__(self):
        if check_array("truths", self.truths).ndim != 2 or not isinstance(self.truths, tuple):
            raise_invalid("truths", self.truths, "a tuple of tuples, each of dw numbers")

    def truth(self, w0: Tensor) -> Tensor:
        """Return the equivalent of w* that is nearest to w_0, R x dw."""
        truths = w0.new_tensor(self.truths)
        nearest = argmax_first(-(w0.unsqueeze(1) - truths).square().sum(2))
        return truths[nearest]

    def error2(self, w: Tensor, w0: Tensor) -> Tensor:
        """Return ||w - w*||^2, R."""
        return (w - self.truth(w0)).square().sum(1)

    def root(self, known: RadiusInputs, ellipsoid: Ellipsoid) -> Tensor:
        """Return sqrt(beta_t), R."""
        t, growth = known.t, ellipsoid.growth()
        at_start = self.error2(known.w0, known.w0).sqrt()
        root = self.noise * (growth + 2 * math.log(2 / self.delta)).clamp(min=0).sqrt()
        root = root + ellipsoid.ridge.sqrt() * at_start
        if t == 0:
            return root
        # Taylor remainder of (13): |rho_i| <= C_h / 2 ||w_i - w*||^2, and Cauchy-Schwarz gives
        # sqrt(t S_t).
        S = ellipsoid.square(ellipsoid.features).sum(1)
        return root + self.curvature / 2 * known.farthest * (t * S).sqrt()
