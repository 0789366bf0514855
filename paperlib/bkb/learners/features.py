"""Linear bandits on features that are fixed before the first round: OFUL, CBRAP, random and quadrature Fourier features.

Letters: R trials, A arms, D features, d dimensions, q nodes per dimension; P = V^{-1} with V = sum z z^T + lambda I.
"""

import math

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...core.trees import tree_where
from ...maths.gp import RBF, Linear
from ..model.confidence import Confidence
from .posterior import REFRESH, RegressionState, add_observation, refit_features
from .ucb import KernelUCB, PullCounts

MOST = 1 << 12  # quadrature nodes in all


class _Features(KernelUCB):
    """Ridge regression on features.

    A subclass is a frozen dataclass, and has a ``features(arms, draw)``: those of all arms, R x D x A or 1 x D x A.
    """

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> RegressionState:
        """Draws the features; the horizon is not used."""
        Z = self.features(arms, draw)
        shared = self.prior(trials, arms)
        # The prior variance is that of the features, which approximate k(x, x) only.
        square = Z.square().sum(1)
        shared |= {
            "s2": (square / self.confidence.lam).expand(trials, -1).contiguous(),
            "tally": self.confidence.start(square.amax(1), trials),
        }
        inverse = (torch.eye(Z.shape[1], **tkwargs) / self.confidence.lam).repeat(trials, 1, 1)
        return RegressionState(**shared, Z=Z, inverse=inverse)

    def update(
        self, state: RegressionState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> RegressionState:
        """Ridge regression with one more row. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        inverse, mu, s2 = add_observation(state.Z, state.inverse, state.mu, state.s2, arm, reward)
        if (state.tally.rounds + 1) % REFRESH == 0:
            *fresh, good = refit_features(state.Z, *pulls, self.confidence.lam)
            inverse, mu, s2 = tree_where(good, tuple(fresh), (inverse, mu, s2))
        return self.heard(state, arm, pulls, mu, s2, inverse=inverse)


@frozen_dataclass
class LinearGPUCB(_Features):
    """Optimism for linear bandits: exact GP-UCB with the linear kernel, at O(A d + d^2) a round.

    Source: Abbasi-Yadkori, Pal & Szepesvari (2011); the rule ``practical`` is their Theorem 2.

    Attributes:
        confidence: radius rule and its constants; its norm bound is S >= ||theta*||.

    Raises:
        ValueError: a value out of range.
    """

    confidence: Confidence
    kernel = Linear()

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """The arms themselves."""
        return arms.mT.contiguous()


@frozen_dataclass
class CBRAP(_Features):
    """OFUL on a random projection of the arms, as if nothing were lost by it.

    Source: Yu, Lyu & King (2017), "CBRAP: Contextual Bandits with RAndom Projection".
    Departure: the radius is OFUL's in m dimensions, not a constant, so that all methods are compared at one rule.

    Attributes:
        confidence: as for ``LinearGPUCB``.
        size: m, dimension of the projection.

    Raises:
        ValueError: a value out of range.
    """

    confidence: Confidence
    size: int = fields.size(10)
    kernel = Linear()

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """X G with G d x m, entries N(0, 1 / m), drawn once."""
        G = draw.normal("projection", arms.shape[2], self.size) / math.sqrt(self.size)
        return (arms @ G).mT.contiguous()


class _Fourier(_Features):
    """Fourier features of the RBF kernel; a subclass chooses their frequencies."""

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.kernel, RBF):
            raise ValueError(f"kernel={self.kernel!r}; allowed: RBF, whose spectrum is Gaussian")

    def waves(self, arms: Tensor, frequencies: Tensor) -> Tensor:
        """[cos X W, sin X W] of all arms, R x D x A or 1 x D x A. ``frequencies``: W, d x D / 2 or R x d x D / 2."""
        phase = (arms @ frequencies).mT
        return torch.cat([phase.cos(), phase.sin()], 1)


@frozen_dataclass
class RFFUCB(_Fourier):
    """GP-UCB on random Fourier features of the RBF kernel, drawn once.

    Source: Rahimi & Recht (2007), "Random Features for Large-Scale Kernel Machines".

    Attributes:
        kernel: the RBF kernel to approximate.
        confidence: radius rule and its constants.
        size: D, features, even.

    Raises:
        ValueError: a value out of range, or another kernel.
    """

    kernel: RBF
    confidence: Confidence
    size: int = fields.size(100, least=2)

    def __post_init__(self):
        super().__post_init__()
        if self.size % 2:
            raise ValueError(
                f"size={self.size!r}; allowed: an even number, a cosine and a sine for each frequency"
            )

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """[cos X W, sin X W] / sqrt(D / 2) with W d x D / 2, columns N(0, 2 diag(gamma)): of norm 1."""
        root = [math.sqrt(2 * gamma) for gamma in self.kernel.gammas(arms.shape[2])]
        W = draw.normal("frequencies", arms.shape[2], self.size // 2)
        W = W * W.new_tensor(root).unsqueeze(1)
        return self.waves(arms, W) / math.sqrt(self.size // 2)


@frozen_dataclass
class QFFUCB(_Fourier):
    """GP-UCB on quadrature Fourier features of the RBF kernel, for arms of very few dimensions.

    The kernel is met to many digits from some number of nodes on, which grows with its frequencies, and by fewer not at
    all: on [0, 1] with gamma = 100 the largest error is .16 with 64 nodes, 4.5e-4 with 80, 3.5e-9 with 100.

    Source: Mutny & Krause (2018), "Efficient High Dimensional Bayesian Optimization with Additivity and Quadrature Fourier
    Features".

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
        return self.waves(arms, W) * scale.repeat(2).unsqueeze(1)
