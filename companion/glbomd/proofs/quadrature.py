"""Expectations over one Gaussian number by Gauss-Hermite quadrature, and the loss they are taken of.

Source: Zhang, Xu, Zhao & Sugiyama (2025), the negative log-likelihood and its mix loss.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from paperlib.glbomd.model.links import Link, loss

NODES, WEIGHTS = (torch.from_numpy(x) for x in np.polynomial.hermite.hermgauss(80))
LOG_WEIGHTS = WEIGHTS.log() - 0.5 * np.log(np.pi)


def mixed(link: Link, reward: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """-ln E e^{-l(z)} for z ~ N(mean, deviation^2), l the loss of ``reward``; all of one shape.

    80 Gauss-Hermite points around the peak of e^{-l} times the density, in the width of the peak: a large reward
    makes it far narrower than the density. Exact for Gaussian rewards.
    """
    deviation = deviation.clamp(min=1e-150)  # the zero arm has none
    g, variance = link.dispersion, deviation.square()
    # The peak solves mu(z) - r + g (z - mean) / variance = 0, which increases; the root lies between these two.
    far = mean + variance * (reward - link.mean(mean)) / g
    low, high = torch.minimum(mean, far), torch.maximum(mean, far)
    for _ in range(64):
        middle = (low + high) / 2
        left = link.mean(middle) - reward + g * (middle - mean) / variance < 0
        low, high = torch.where(left, middle, low), torch.where(left, high, middle)
    width = (link.slope(high) / g + 1 / variance).rsqrt()
    z = high.unsqueeze(-1) + 2**0.5 * width.unsqueeze(-1) * NODES
    log_density = -0.5 * ((z - mean.unsqueeze(-1)) / deviation.unsqueeze(-1)).square()
    exponents = LOG_WEIGHTS + NODES**2 + log_density - loss(link, z, reward.unsqueeze(-1))
    return -(torch.logsumexp(exponents, -1) + (width / deviation).log())


def expectation(f: Callable[[Tensor], Tensor], mean: Tensor, deviation: Tensor) -> Tensor:
    """E f(z) for z ~ N(mean, deviation^2), the same points."""
    z = mean.unsqueeze(-1) + 2**0.5 * deviation.unsqueeze(-1) * NODES
    return (LOG_WEIGHTS.exp() * f(z)).sum(-1)
