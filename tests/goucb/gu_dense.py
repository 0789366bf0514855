"""Reference implementation of an exact Gaussian process and its acquisitions, for one trial in numpy."""

import math

import numpy as np
from scipy import stats


def kernel(x, z, lengthscale, scale=1.0, family="matern"):
    """Return the Matern-5/2 or squared exponential kernel, n x m."""
    r2 = (((x[:, None] - z[None]) / lengthscale) ** 2).sum(2)
    if family == "rbf":
        return scale * np.exp(-r2 / 2)
    r = np.sqrt(5 * r2)
    return scale * (1 + r + r**2 / 3) * np.exp(-r)


def posterior(x, y, at, lengthscale, noise, mean, scale=1.0, family="matern"):
    """Return mean, m, and covariance, m x m, of f."""
    K = kernel(x, x, lengthscale, scale, family) + noise * np.eye(len(x))
    cross = kernel(x, at, lengthscale, scale, family)
    solved = np.linalg.solve(K, cross)
    covariance = kernel(at, at, lengthscale, scale, family) - cross.T @ solved
    return mean + solved.T @ (y - mean), covariance


def density(x, y, lengthscale, noise, mean, scale=1.0, family="matern"):
    """Return the log posterior density of the hyper-parameters, with the priors of their family."""
    K = kernel(x, x, lengthscale, scale, family) + noise * np.eye(len(x))
    found = stats.multivariate_normal(np.full(len(x), mean), K).logpdf(y)
    if family == "rbf":
        center = math.sqrt(2) + math.log(x.shape[1]) / 2
        found += stats.lognorm(math.sqrt(3), scale=math.exp(center)).logpdf(lengthscale).sum()
        return found + stats.lognorm(1.0, scale=math.exp(-4)).logpdf(noise)
    gamma = lambda shape, rate, value: stats.gamma(shape, scale=1 / rate).logpdf(value).sum()
    return found + gamma(3, 6, lengthscale) + gamma(2, 0.15, scale) + gamma(1.1, 0.05, noise)


def acquisitions(mean, variance, best, beta):
    """Return log EI, log PI and UCB."""
    sd = np.sqrt(variance)
    z = (mean - best) / sd
    EI = sd * (stats.norm.pdf(z) + z * stats.norm.cdf(z))
    return np.log(EI), stats.norm.logcdf(z), mean + math.sqrt(beta) * sd
