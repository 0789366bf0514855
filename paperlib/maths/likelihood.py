"""The RBF kernel and the noise under which what was observed is likeliest.

Source: Rasmussen & Williams (2006), (5.8), (5.9).
Letters: n observations, d dimensions; C = K + noise^2 I.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize

from ..core.validation import LARGEST, SMALLEST, array, positive
from .gp import RBF

STARTS = (0.1, 0.3, 1.0)  # lengthscales to begin with, of the spread of the points
RANGE = (1e-3, 1e3)  # factors of the start within which is searched
JITTER = 1e-10  # Departure: added to the variance of the noise, so that equal points factor where there is none; absolute, as the prior's variance 1
LEAST = 1e-6  # standard deviation of rewards from which the noise's start is taken; absolute, as the prior's variance 1


class Likeliest(NamedTuple):
    """A kernel, the standard deviation of the noise, and the logarithm of the likelihood that they have."""

    kernel: RBF
    noise: float
    log_likelihood: float


def maximum_likelihood(points, rewards, noise: float | None = None) -> Likeliest:
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
    X, y = array("points", points), array("rewards", rewards)
    if X.ndim != 2 or len(X) < 2 or X.shape[1] < 1:
        raise ValueError(f"points={X.shape}; allowed: n x d with n at least 2")
    if y.shape != X.shape[:1]:
        raise ValueError(f"rewards={y.shape}; allowed: {X.shape[:1]}, one for each point")
    if noise is not None:
        noise = positive("noise", noise)
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
    return Likeliest(RBF(tuple(map(float, gammas))), sigma, -float(best.fun))
