"""UCB on quadrature Fourier features: frequencies by a rule instead of by lot.

Source: Mutny & Krause (2018), "Efficient High Dimensional Bayesian Optimization with Additivity and Quadrature Fourier Features".
Letters: R trials, A arms, q nodes a dimension, d dimensions, D = 2 q^d features.
"""

import math

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from ...core.streams import Draw
from ...maths.gp import RBF
from ..model.confidence import Confidence
from .features import _Features

MOST = 1 << 12  # nodes in all


@frozen
class QFFUCB(_Features):
    """GP-UCB on quadrature Fourier features of the RBF kernel, for arms of very few dimensions.

    The kernel is met to many digits from some number of nodes on, which grows with its frequencies, and by fewer not at
    all: on [0, 1] with gamma = 100 the largest error is .16 with 64 nodes, 4.5e-4 with 80, 3.5e-9 with 100.

    Attributes:
        kernel: the RBF kernel to approximate.
        confidence: radius rule and its constants.
        size: q, nodes of Gauss-Hermite quadrature in each dimension, at most 150.

    Raises:
        ValueError: a value out of range, another kernel, or more than 4096 nodes in all.
    """

    kernel: RBF
    confidence: Confidence
    size: int = fields.whole(40, most=150)

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.kernel, RBF):
            raise ValueError(f"kernel={self.kernel!r}; allowed: RBF, whose spectrum is Gaussian")

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """sqrt(weights) [cos X W, sin X W], frequencies 2 sqrt(gamma) t and weights w / sqrt(pi) in each dimension."""
        dim = arms.shape[2]
        if self.size**dim > MOST:
            raise ValueError(
                f"size={self.size!r}; allowed in {dim} dimensions: at most {MOST} nodes in all"
            )
        nodes, weights = np.polynomial.hermite.hermgauss(self.size)
        grid = lambda x: np.stack(np.meshgrid(*[x] * dim, indexing="ij")).reshape(dim, -1)
        root = 2 * np.sqrt(np.array(self.kernel.gammas(dim)))[:, None]
        on = {"dtype": arms.dtype, "device": arms.device}
        W = torch.tensor(root * grid(nodes), **on)
        scale = torch.tensor(np.sqrt(grid(weights / math.sqrt(math.pi)).prod(0)), **on)
        phase = (arms @ W).mT
        return torch.cat([phase.cos(), phase.sin()], 1) * scale.repeat(2).unsqueeze(1)
