"""Gaussian processes: kernels, the exact posterior, and the kernel of maximum likelihood.

A kernel is a frozen dataclass with ``kernel(X, Y)``, ``... x n x d`` and ``... x m x d`` to ``... x n x m``, and
``kernel.diag(X)``, ``... x n``. One of finite rank says so in ``kernel_rank(dim)``.
Source: Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006), chapters 2, 4 and 5.
Letters: R trials lead, U points, d dimensions; of the likelihood n observations, C = K + noise^2 I.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import torch
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize
from torch import Tensor

from ..core import fields
from ..core.describe import frozen_dataclass
from ..core.validation import LARGEST, SMALLEST, check_array, check_positive, raise_invalid

PROBE = 64  # points on which a kernel is looked at before it is used, evenly spaced
STARTS = (0.1, 0.3, 1.0)  # lengthscales to begin with, of the spread of the points
RANGE = (1e-3, 1e3)  # factors of the start within which is searched
JITTER = 1e-10  # Departure: added to the variance of the noise, so that equal points factor where there is none; absolute, as the prior's variance 1
LEAST = 1e-6  # standard deviation of rewards from which the noise's start is taken; absolute, as the prior's variance 1


class Kernel(Protocol):
    """A covariance function. ``kernel_rank(dim)`` is optional: the dimension of its feature space, None for infinite."""

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor: ...
    def diag(self, X: Tensor) -> Tensor: ...


@frozen_dataclass
class RBF:
    """exp(-gamma ||x - y||^2), of lengthscale 1 / sqrt(2 gamma); or exp(-sum_j gamma_j (x_j - y_j)^2).

    Attributes:
        gamma: > 0, half the inverse squared lengthscale; a tuple: one for each dimension.

    Raises:
        ValueError: gamma is none of both, or is for another number of dimensions than the points have.
    """

    gamma: float | tuple[float, ...]

    def __post_init__(self):
        # an empty tuple is refused as what is no number
        each = self.gamma if isinstance(self.gamma, tuple) and self.gamma else (self.gamma,)
        for value in each:
            check_positive("gamma", value)

    @classmethod
    def of(cls, *lengthscales: float) -> "RBF":
        """From one lengthscale, or from one for each dimension."""
        each = [check_positive("lengthscales", value) for value in lengthscales]
        gamma = tuple(0.5 / value**2 for value in each)
        return cls(gamma[0] if len(gamma) == 1 else gamma)

    def gammas(self, dim: int) -> tuple[float, ...]:
        """gamma of each of ``dim`` dimensions."""
        if not isinstance(self.gamma, tuple):
            return (self.gamma,) * dim
        if len(self.gamma) != dim:
            raise ValueError(
                f"gamma={self.gamma!r}; allowed for points of {dim} dimensions: as many numbers, or one for all"
            )
        return self.gamma

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        gammas = self.gammas(X.shape[-1])
        if len(gammas) < 8:  # by differences, dimension by dimension
            square = 0.0
            for j, gamma in enumerate(gammas):
                difference = X[..., j].unsqueeze(-1) - Y[..., j].unsqueeze(-2)
                square = difference.square_().mul_(-gamma).add_(square)
            return square.exp_()
        # products lose the digits that the points share
        X, Y = (X - (origin := Y.reshape(-1, Y.shape[-1])[:1]), Y - origin)
        root = torch.tensor(gammas, dtype=X.dtype, device=X.device).sqrt_()
        X, Y = X * root, Y * root
        square = (
            X.square().sum(-1).unsqueeze(-1) + Y.square().sum(-1).unsqueeze(-2) - 2 * (X @ Y.mT)
        )
        return square.clamp_(min=0).neg_().exp_()

    def diag(self, X: Tensor) -> Tensor:
        return torch.ones_like(X[..., 0])


@frozen_dataclass
class Matern:
    """Matern kernel of smoothness 1/2, 3/2 or 5/2.

    Attributes:
        nu: 0.5, 1.5 or 2.5.
        lengthscale: > 0.
    """

    nu: float = fields.one_of((0.5, 1.5, 2.5), 2.5)
    lengthscale: float = fields.positive(1.0)

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        # by differences: the faster form by products loses half of the digits near zero
        r = torch.cdist(X, Y, compute_mode="donot_use_mm_for_euclid_dist")
        r = r * (math.sqrt(2 * self.nu) / self.lengthscale)
        polynomial = {0.5: 1.0, 1.5: 1 + r, 2.5: 1 + r + r.square() / 3}[self.nu]
        return polynomial * torch.exp(-r)

    def diag(self, X: Tensor) -> Tensor:
        return torch.ones_like(X[..., 0])


@frozen_dataclass
class Linear:
    """x^T y: Gaussian-process bandits with it are linear bandits."""

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        return X @ Y.mT

    def diag(self, X: Tensor) -> Tensor:
        return X.square().sum(-1)

    def rank(self, dim: int) -> int:
        """d."""
        return dim


@frozen_dataclass
class FunctionKernel:
    """Any function ``... x n x d, ... x m x d -> ... x n x m`` as a kernel; its diagonal is taken point by point.

    Attributes:
        function: symmetric and positive semidefinite.
    """

    function: Callable[[Tensor, Tensor], Tensor]

    def __post_init__(self):
        if not callable(self.function):
            raise_invalid("function", self.function, "a function of two tensors of points")

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        return self.function(X, Y)

    def diag(self, X: Tensor) -> Tensor:
        points = X.unsqueeze(-2)
        return self.function(points, points).squeeze(-1).squeeze(-1)


def kernel_rank(kernel: Kernel, dim: int) -> int | None:
    """Dimension of the kernel's feature space where that is finite and known."""
    return kernel.rank(dim) if hasattr(kernel, "rank") else None


def check_kernel(kernel: Kernel, X: Tensor) -> None:
    """Look at the kernel's diagonal, and at all of it on some of the points. ``X``: ... x n x d.

    Raises:
        ValueError: values that are not finite, of the wrong shape or asymmetric, a negative or unequal diagonal, or a negative eigenvalue.
    """
    if X.device.type == "meta":
        return
    everywhere = _valued(kernel, kernel.diag, X)
    if everywhere.shape != X.shape[:-1]:
        raise ValueError(
            f"kernel={kernel!r} has a diagonal of shape {tuple(everywhere.shape)} on {X.shape[-2]} points; allowed: {tuple(X.shape[:-1])}"
        )
    X = X[..., torch.linspace(0, X.shape[-2] - 1, min(PROBE, X.shape[-2])).long(), :]
    K, diagonal, n = _valued(kernel, kernel, X, X), kernel.diag(X), X.shape[-2]
    if K.shape[-2:] != (n, n):
        raise ValueError(
            f"kernel={kernel!r} gives the shapes {tuple(K.shape)} on {n} points; allowed: ... x {n} x {n}"
        )
    size, apart = float(diagonal.max()), float((K - K.mT).abs().max())
    unequal = float((K.diagonal(dim1=-2, dim2=-1) - diagonal).abs().max())
    least, eigenvalue = float(everywhere.min()), float(torch.linalg.eigvalsh(K).min())
    for wrong, words in (
        (least < 0, f"has {least!r} on its diagonal; allowed: at least 0"),
        (apart > 1e-8 * size, f"is not symmetric, by {apart!r}; allowed: k(x, y) = k(y, x)"),
        (
            unequal > 1e-8 * size,
            "is inconsistent: diag differs from k(x, x); allowed: the same numbers",
        ),
        (
            eigenvalue < -1e-8 * size * n,
            f"has the eigenvalue {eigenvalue!r} on {n} points; allowed: a positive semidefinite kernel",
        ),
    ):
        if wrong:
            raise ValueError(f"kernel={kernel!r} {words}")


def _valued(kernel: Kernel, function: Callable, *points: Tensor) -> Tensor:
    """``function(*points)``, of a kernel, or ValueError where that is no tensor of numbers to compute with."""
    try:
        found = function(*points)
    except Exception as error:
        raise ValueError(
            f"kernel={kernel!r} raises {error!r}; allowed: one that does not"
        ) from error
    if not isinstance(found, Tensor) or not found.is_floating_point():
        kind = found.dtype if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(f"kernel={kernel!r} gives {kind}; allowed: tensors of float64")
    if not bool((found.abs() <= LARGEST).all()):
        raise ValueError(
            f"kernel={kernel!r} gives values that are not finite; allowed: finite numbers, up to {LARGEST:g}"
        )
    return found


class Posterior(NamedTuple):
    """Mean and variance of f."""

    mean: Tensor  # R x A
    variance: Tensor  # R x A
    failed: Tensor  # R bool: the points' covariance did not factor
    factor: Tensor  # R x U x U, Cholesky factor of sqrt(n) K sqrt(n) + lambda I


def exact_posterior(
    kernel: Kernel, points: Tensor, count: Tensor, total: Tensor, ridge: float, at: Tensor
) -> Posterior:
    """Posterior of a Gaussian process from repeated observations of U points, with noise variance ``ridge``.

    Observations of one point enter by their number and sum: sqrt(n) scales its row, so that a point never observed
    drops out by itself. Source: Rasmussen & Williams (2006), (2.25), (2.26).

    Args:
        points: R x U x d or 1 x U x d.
        count: n, R x U, observations of each.
        total: R x U, their sums.
        ridge: lambda > 0.
        at: R x A x d or 1 x A x d.
    """
    weight = count.to(total.dtype).sqrt()  # the root of an integer would be float32
    gram = kernel(points, points) * weight.unsqueeze(1) * weight.unsqueeze(2)
    factor, info = torch.linalg.cholesky_ex(
        gram + ridge * torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    )
    cross = kernel(points, at) * weight.unsqueeze(2)
    half = torch.linalg.solve_triangular(factor, cross, upper=False)
    scaled = (total / weight.clamp(min=1.0)).unsqueeze(2)
    mean = (torch.linalg.solve_triangular(factor, scaled, upper=False) * half).sum(1)
    variance = (kernel.diag(at) - half.square().sum(1)).clamp(min=0.0)
    return Posterior(mean, variance, info != 0, factor)


# Maximum likelihood -------------------------------------------------------------------------------------------


class MaximumLikelihoodFit(NamedTuple):
    """A kernel, the standard deviation of the noise, and the logarithm of the likelihood that they have."""

    kernel: RBF
    noise: float
    log_likelihood: float


def maximum_likelihood(points, rewards, noise: float | None = None) -> MaximumLikelihoodFit:
    """The lengthscale of each dimension and the noise that maximize the marginal likelihood; O(n^3) a step.

    The prior has mean 0 and k(x, x) = 1: bring rewards to that scale first. A bound on the norm
    (``Confidence.norm_bound``) is for one kernel, and no theorem covers one that was fitted to the same data.

    Args:
        points: n x d, an array or tensor.
        rewards: n, what was observed there.
        noise: standard deviation where it is known; None: fitted too.

    Raises:
        ValueError: fewer than two points, shapes that do not fit, numbers that are not finite, or a noise out of range.
    """
    X, y = check_array("points", points), check_array("rewards", rewards)
    if X.ndim != 2 or len(X) < 2 or X.shape[1] < 1:
        raise ValueError(f"points={X.shape}; allowed: n x d with n at least 2")
    if y.shape != X.shape[:1]:
        raise ValueError(f"rewards={y.shape}; allowed: {X.shape[:1]}, one for each point")
    if noise is not None:
        noise = check_positive("noise", noise)
    # their squares are summed, and divided by
    for name, x in (("points", X), ("rewards", y)):
        most = float(np.abs(x).max())
        if most > LARGEST or 0 < np.ptp(x, axis=0).max() < SMALLEST:
            raise ValueError(
                f"{name}: up to {most:g} in size, {np.ptp(x, axis=0).max():g} apart; "
                f"allowed: up to {LARGEST:g}, and apart by 0 or at least {SMALLEST:g}"
            )
    squares = np.square(X.T[:, :, None] - X.T[:, None, :])  # d x n x n
    spread = np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)

    def cost(logs):
        """Minus the log likelihood and its gradient in the logarithms of gammas and of the noise's variance."""
        *gammas, variance = np.exp(logs if noise is None else [*logs, 2 * math.log(noise)])
        scaled = np.asarray(gammas)[:, None, None] * squares
        K = np.exp(-scaled.sum(0))
        try:
            L = cholesky(K + (variance + JITTER) * np.eye(len(y)), lower=True)
        except LinAlgError:
            return math.inf, np.zeros(len(logs))
        alpha, inverse = cho_solve((L, True), y), cho_solve((L, True), np.eye(len(y)))
        # minus (5.8)
        value = y @ alpha / 2 + np.log(L.diagonal()).sum() + len(y) / 2 * math.log(2 * math.pi)
        weight = np.outer(alpha, alpha) - inverse  # (5.9)
        slopes = [-(weight * -K * part).sum() / 2 for part in scaled]
        slopes += [-weight.trace() * variance / 2] if noise is None else []
        return value, np.asarray(slopes)

    found = []
    for start in STARTS:
        first = np.log(0.5 / (start * spread) ** 2)
        if noise is None:
            first = np.append(first, 2 * math.log(0.3 * max(float(y.std()), LEAST)))
        bounds = [tuple(x + 2 * np.log(RANGE)) for x in first]
        found.append(minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds))
    best = min(found, key=lambda result: result.fun)
    values = np.exp(best.x)
    gammas = values if noise is not None else values[:-1]
    sigma = float(noise) if noise is not None else math.sqrt(values[-1])
    return MaximumLikelihoodFit(RBF(tuple(map(float, gammas))), sigma, -float(best.fun))
