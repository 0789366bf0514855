"""The Poisson quantile function on tensors, without a loop over trials; exact up to means of 2^20."""

import numpy as np
import torch
from scipy.special import ndtri, pdtr
from torch import Tensor

from ...core.linalg import may_look

CLIP = 2.0**-53  # uniforms stay in [CLIP, 1 - CLIP] where an inverse CDF is taken
# Poisson means from which three Cornish-Fisher terms are exact to .01 of a count even 8 deviations out; there the
# library's incomplete gamma function loses digits beyond 4.5 deviations.
NORMAL_FROM = 2.0**20
WALK = 16  # steps of the masked form


def poisson_quantile(mean: Tensor, uniform: Tensor) -> Tensor:
    """Smallest k >= 0 with F(k; mean) >= u, as ``scipy.stats.poisson.ppf``; from means of 2^20 on the start itself.

    Three Cornish-Fisher terms give a start that is right as a rule and at most 12 counts off, from which
    the CDF decides. On the CPU the walk ends once no row moves; elsewhere all rows take ``WALK`` steps, of
    which those after the answer change nothing, and no host synchronization happens.

    Args:
        mean: > 0, any shape.
        uniform: same shape, in [0, 1); clamped to [2^-53, 1 - 2^-53].
    """
    if may_look(mean):
        return torch.from_numpy(_poisson_walk(mean.numpy(), uniform.numpy()))
    u = uniform.clamp(CLIP, 1 - CLIP)
    w = torch.special.ndtri(u)
    k = (mean + mean.sqrt() * w + (w * w - 4) / 6).ceil().clamp(min=0)
    large = mean >= NORMAL_FROM
    # F(k; mean) = Q(k + 1, mean), the regularized upper incomplete gamma function
    for _ in range(WALK):
        up = torch.special.gammaincc(k + 1, mean) < u
        down = torch.special.gammaincc(k, mean) >= u  # F(-1) = 0 comes out of itself
        k = torch.where(large, k, k + up.to(k) - down.to(k))
    return k


def _poisson_walk(mean: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """The same on the host."""
    u = np.clip(uniform.astype(np.float64), CLIP, 1 - CLIP)
    w = ndtri(u)
    # Mean, deviation and skewness; half a count less because F jumps at the integers.
    k = np.maximum(np.ceil(mean + np.sqrt(mean) * w + (w * w - 4) / 6), 0.0)
    moves = small = mean < NORMAL_FROM
    while np.any(moves):
        up = small & (pdtr(k, mean) < u)
        down = small & (pdtr(k - 1, mean) >= u)  # F(-1) is NaN, which is no step down
        k, moves = k + up - down, up | down
    return k
