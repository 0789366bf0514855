"""Gaussian processes: kernels, the exact posterior, and maximum-likelihood estimation of the kernel.

A kernel is a frozen dataclass with two methods. ``kernel(X, Y)`` maps ``... x n x d`` and ``... x m x d`` to
``... x n x m``, and ``kernel.diag(X)`` returns ``... x n``. A kernel of finite rank also has ``rank(dim)``.
Source: Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006), chapters 2, 4 and 5.
Letters: R trials (the leading dimension), U points, d dimensions. In the likelihood: n observations, C = K + noise^2 I.
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

PROBE = 64  # number of evenly spaced points that the check of a kernel uses
STARTS = (0.1, 0.3, 1.0)  # initial lengthscales, as fractions of the range of the points
RANGE = (1e-3, 1e3)  # search interval, as factors of the initial value
# Departure: this constant is added to the noise variance, so that the covariance of equal points can be factored without noise.
# It is absolute, because the prior variance is 1.
JITTER = 1e-10
# Lower limit on the rewards' standard deviation when the initial noise is computed; absolute, because the prior variance is 1.
LEAST = 1e-6


class Kernel(Protocol):
    """A covariance function. The optional ``rank(dim)`` returns the dimension of its feature space, None if it is infinite."""

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor: ...
    def diag(self, X: Tensor) -> Tensor: ...


@frozen_dataclass
class RBF:
    """Squared exponential kernel exp(-gamma ||x - y||^2), of lengthscale 1 / sqrt(2 gamma).

    With one gamma per dimension it is exp(-sum_j gamma_j (x_j - y_j)^2).

    Attributes:
        gamma: > 0, half the inverse squared lengthscale. A tuple has one value per dimension.

    Raises:
        ValueError: gamma is neither a number nor a tuple of numbers, or has another number of dimensions than the points.

    Examples:
        >>> import torch
        >>> from paperlib.maths.gp import RBF
        >>> X = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
        >>> RBF.of(0.5)(X, X).round(decimals=3).tolist()
        [[1.0, 0.135], [0.135, 1.0]]
    """

    gamma: float | tuple[float, ...]

    def __post_init__(self):
        # An empty tuple goes to the check for a number, which rejects it.
        each = self.gamma if isinstance(self.gamma, tuple) and self.gamma else (self.gamma,)
        for value in each:
            check_positive("gamma", value)

    @classmethod
    def of(cls, *lengthscales: float) -> "RBF":
        """Return the kernel of one lengthscale, or of one lengthscale per dimension."""
        each = [check_positive("lengthscales", value) for value in lengthscales]
        gamma = tuple(0.5 / value**2 for value in each)
        return cls(gamma[0] if len(gamma) == 1 else gamma)

    def gammas(self, dim: int) -> tuple[float, ...]:
        """Return gamma for each of ``dim`` dimensions."""
        if not isinstance(self.gamma, tuple):
            return (self.gamma,) * dim
        if len(self.gamma) != dim:
            raise ValueError(
                f"gamma must be one number or a tuple of {dim} numbers, because the points have {dim} dimensions, got {self.gamma!r}"
            )
        return self.gamma

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        gammas = self.gammas(X.shape[-1])
        # With few dimensions we compute exact differences, one dimension at a time.
        if len(gammas) < 8:
            square = 0.0
            for j, gamma in enumerate(gammas):
                difference = X[..., j].unsqueeze(-1) - Y[..., j].unsqueeze(-2)
                square = difference.square_().mul_(-gamma).add_(square)
            return square.exp_()
        # ||x||^2 + ||y||^2 - 2 x^T y loses the leading digits that all points share. Therefore we subtract one point first.
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
        nu: smoothness, 0.5, 1.5 or 2.5.
        lengthscale: > 0.

    Examples:
        >>> import torch
        >>> from paperlib.maths.gp import Matern
        >>> X = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
        >>> Matern(nu=0.5)(X, X).round(decimals=3).tolist()
        [[1.0, 0.368], [0.368, 1.0]]
    """

    nu: float = fields.one_of((0.5, 1.5, 2.5), 2.5)
    lengthscale: float = fields.positive(1.0)

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        # The faster form of cdist by matrix products loses half of the digits near zero.
        r = torch.cdist(X, Y, compute_mode="donot_use_mm_for_euclid_dist")
        r = r * (math.sqrt(2 * self.nu) / self.lengthscale)
        polynomial = {0.5: 1.0, 1.5: 1 + r, 2.5: 1 + r + r.square() / 3}[self.nu]
        return polynomial * torch.exp(-r)

    def diag(self, X: Tensor) -> Tensor:
        return torch.ones_like(X[..., 0])


@frozen_dataclass
class Linear:
    """Linear kernel x^T y; a Gaussian-process bandit with this kernel is a linear bandit.

    Examples:
        >>> from paperlib.maths.gp import Linear, kernel_rank
        >>> kernel_rank(Linear(), dim=3)
        3
    """

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        return X @ Y.mT

    def diag(self, X: Tensor) -> Tensor:
        return X.square().sum(-1)

    def rank(self, dim: int) -> int:
        """Return the rank, d."""
        return dim


@frozen_dataclass
class FunctionKernel:
    """Kernel from a function ``... x n x d, ... x m x d -> ... x n x m``; the diagonal is computed point by point.

    Attributes:
        function: a symmetric, positive semidefinite function.

    Examples:
        >>> import torch
        >>> from paperlib.maths.gp import FunctionKernel
        >>> kernel = FunctionKernel(lambda X, Y: (1 + X @ Y.mT) ** 2)  # polynomial kernel
        >>> kernel.diag(torch.tensor([[1.0], [2.0]])).tolist()
        [4.0, 25.0]
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
    """Return the dimension of the kernel's feature space, or None if it is infinite or unknown."""
    return kernel.rank(dim) if hasattr(kernel, "rank") else None


def check_kernel(kernel: Kernel, X: Tensor) -> None:
    """Check the kernel's diagonal on all points, and its matrix on up to 64 of them. ``X``: ... x n x d.

    Raises:
        ValueError: values are not finite, of the wrong shape or asymmetric; the diagonal is negative or inconsistent with the
            matrix; or an eigenvalue is negative.
    """
    if X.device.type == "meta":
        return
    everywhere = _valued(kernel, kernel.diag, X)
    if everywhere.shape != X.shape[:-1]:
        raise ValueError(
            f"kernel={kernel!r} must have a diagonal of shape {tuple(X.shape[:-1])} on {X.shape[-2]} points, got {tuple(everywhere.shape)}"
        )
    X = X[..., torch.linspace(0, X.shape[-2] - 1, min(PROBE, X.shape[-2])).long(), :]
    K, diagonal, n = _valued(kernel, kernel, X, X), kernel.diag(X), X.shape[-2]
    if K.shape[-2:] != (n, n):
        raise ValueError(
            f"kernel={kernel!r} must return a matrix of shape ... x {n} x {n} on {n} points, got {tuple(K.shape)}"
        )
    size, apart = float(diagonal.max()), float((K - K.mT).abs().max())
    unequal = float((K.diagonal(dim1=-2, dim2=-1) - diagonal).abs().max())
    least, eigenvalue = float(everywhere.min()), float(torch.linalg.eigvalsh(K).min())
    for wrong, words in (
        (least < 0, f"have a diagonal of at least 0, got {least!r}"),
        (
            apart > 1e-8 * size,
            f"be symmetric, k(x, y) = k(y, x), got values that differ by {apart!r}",
        ),
        (
            unequal > 1e-8 * size,
            f"be consistent, diag(x) = k(x, x), got values that differ by {unequal!r}",
        ),
        (
            eigenvalue < -1e-8 * size * n,
            f"be positive semidefinite, got the eigenvalue {eigenvalue!r} on {n} points",
        ),
    ):
        if wrong:
            raise ValueError(f"kernel={kernel!r} must {words}")


def _valued(kernel: Kernel, function: Callable, *points: Tensor) -> Tensor:
    """Return ``function(*points)``, a method of a kernel; raise ValueError unless it is a tensor of finite numbers."""
    try:
        found = function(*points)
    except Exception as error:
        raise ValueError(
            f"kernel={kernel!r} must not raise an error on two tensors of points, got {error!r}"
        ) from error
    if not isinstance(found, Tensor) or not found.is_floating_point():
        kind = found.dtype if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(f"kernel={kernel!r} must return tensors of float64, got {kind}")
    if not bool((found.abs() <= LARGEST).all()):
        raise ValueError(
            f"kernel={kernel!r} must return finite numbers of at most {LARGEST:g} in absolute value, got {float(found.abs().max()):g}"
        )
    return found


class Posterior(NamedTuple):
    """Posterior mean and variance of f at A points."""

    mean: Tensor  # R x A
    variance: Tensor  # R x A
    failed: Tensor  # R bool, True if the Cholesky factorization failed
    factor: Tensor  # R x U x U, Cholesky factor of sqrt(n) K sqrt(n) + lambda I


def exact_posterior(
    kernel: Kernel, points: Tensor, count: Tensor, total: Tensor, ridge: float, at: Tensor
) -> Posterior:
    """Return the posterior of a Gaussian process from repeated observations of U points, with noise variance ``ridge``.

    The observations of a point enter through their number n and their sum. The point's row is scaled by sqrt(n).
    Therefore an unobserved point (n = 0) has no effect. Source: Rasmussen & Williams (2006), (2.25), (2.26).

    Args:
        kernel: the prior covariance.
        points: R x U x d or 1 x U x d.
        count: n, R x U, number of observations of each point.
        total: R x U, sum of the observations of each point.
        ridge: lambda > 0, the noise variance.
        at: R x A x d or 1 x A x d, the points where the posterior is evaluated.

    Examples:
        >>> import torch
        >>> from paperlib.maths.gp import RBF, exact_posterior
        >>> X = torch.tensor([[[0.0], [1.0]]], dtype=torch.float64)
        >>> count, total = torch.tensor([[4, 0]]), torch.tensor([[2.0, 0.0]]).double()
        >>> exact_posterior(RBF(0.5), X, count, total, ridge=0.1, at=X).mean.round(decimals=2).tolist()
        [[0.49, 0.3]]
    """
    # We cast first, because the square root of an integer tensor is float32.
    weight = count.to(total.dtype).sqrt()
    gram = kernel(points, points) * weight.unsqueeze(1) * weight.unsqueeze(2)
    factor, info = torch.linalg.cholesky_ex(
        gram + ridge * torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    )
    cross = kernel(points, at) * weight.unsqueeze(2)
    half = torch.linalg.solve_triangular(factor, cross, upper=False)
    scaled = (total / weight.clamp(min=1.0)).unsqueeze(2)
    # The mean is (2.25) and the variance is (2.26), both through the Cholesky factor.
    mean = (torch.linalg.solve_triangular(factor, scaled, upper=False) * half).sum(1)
    variance = (kernel.diag(at) - half.square().sum(1)).clamp(min=0.0)
    return Posterior(mean, variance, info != 0, factor)


# Maximum likelihood -----------------------------------------------------------------------------------------


class MaximumLikelihoodFit(NamedTuple):
    """A kernel, the standard deviation of the noise, and their log marginal likelihood."""

    kernel: RBF
    noise: float
    log_likelihood: float


def maximum_likelihood(points, rewards, noise: float | None = None) -> MaximumLikelihoodFit:
    """Fit the RBF lengthscale of each dimension and the noise by maximum marginal likelihood; O(n^3) per step.

    The prior has mean 0 and k(x, x) = 1, so you should bring the rewards to that scale first. A bound on the norm
    (``Confidence.norm_bound``) belongs to one kernel. No theorem covers a kernel that was fitted to the same data.

    Args:
        points: n x d, an array or tensor.
        rewards: n observed rewards, one per point.
        noise: standard deviation of the noise if it is known; None to fit it as well.

    Returns:
        The best of three local searches (L-BFGS-B) from different lengthscales.

    Raises:
        ValueError: there are fewer than two points, the shapes do not match, numbers are not finite, or the noise is out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.maths.gp import maximum_likelihood
        >>> x = np.linspace(0, 1, 20)
        >>> fit = maximum_likelihood(x[:, None], np.sin(6 * x), noise=0.1)
        >>> len(fit.kernel.gamma), fit.noise
        (1, 0.1)
    """
    X, y = check_array("points", points), check_array("rewards", rewards)
    if X.ndim != 2 or len(X) < 2 or X.shape[1] < 1:
        raise ValueError(f"points must have shape n x d with n at least 2, got shape {X.shape}")
    if y.shape != X.shape[:1]:
        raise ValueError(
            f"rewards must have shape {X.shape[:1]}, one number per point, got shape {y.shape}"
        )
    if noise is not None:
        noise = check_positive("noise", noise)
    # The squares of these numbers are summed and divided by, so they must neither overflow nor underflow.
    for name, x in (("points", X), ("rewards", y)):
        most = float(np.abs(x).max())
        if most > LARGEST or 0 < np.ptp(x, axis=0).max() < SMALLEST:
            raise ValueError(
                f"{name} must be at most {LARGEST:g} in absolute value and have a range of 0 or at least {SMALLEST:g}, "
                f"got an absolute value of {most:g} and a range of {np.ptp(x, axis=0).max():g}"
            )
    squares = np.square(X.T[:, :, None] - X.T[:, None, :])  # d x n x n
    spread = np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)

    def cost(logs):
        """Return the negative log likelihood and its gradient in the logarithms of the gammas and the noise variance."""
        *gammas, variance = np.exp(logs if noise is None else [*logs, 2 * math.log(noise)])
        scaled = np.asarray(gammas)[:, None, None] * squares
        K = np.exp(-scaled.sum(0))
        try:
            L = cholesky(K + (variance + JITTER) * np.eye(len(y)), lower=True)
        except LinAlgError:
            return math.inf, np.zeros(len(logs))  # C is not positive definite in floating point
        alpha, inverse = cho_solve((L, True), y), cho_solve((L, True), np.eye(len(y)))
        # The negative of the log marginal likelihood (5.8).
        value = y @ alpha / 2 + np.log(L.diagonal()).sum() + len(y) / 2 * math.log(2 * math.pi)
        weight = np.outer(alpha, alpha) - inverse  # alpha alpha^T - C^{-1} of the gradient (5.9)
        slopes = [-(weight * -K * part).sum() / 2 for part in scaled]
        slopes += [-weight.trace() * variance / 2] if noise is None else []
        return value, np.asarray(slopes)

    # The likelihood may have several local maxima, so we search from several lengthscales and take the best result.
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
