"""Linear bandits on features fixed before the first round: OFUL, CBRAP, random and quadrature Fourier features.

Letters: R trials, A arms, D features, d dimensions, q nodes per dimension; V = sum z z^T + lambda I.
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

MOST = 1 << 12  # largest number of quadrature nodes over all dimensions


class _Features(KernelUCB):
    """Ridge regression on features.

    A subclass is a frozen dataclass. Its ``features(arms, draw)`` returns the features of all arms, R x D x A or 1 x D x A.
    """

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> RegressionState:
        """Draw the features and return the initial state; the horizon is not used."""
        Z = self.features(arms, draw)
        shared = self.prior(trials, arms)
        # The prior variance is ||z||^2, because the features only approximate k(x, x).
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
        """Add one row to the ridge regression. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        inverse, mu, s2 = add_observation(state.Z, state.inverse, state.mu, state.s2, arm, reward)
        # Rank-one updates accumulate rounding errors, so the regression is recomputed from the counts regularly.
        if (state.tally.rounds + 1) % REFRESH == 0:
            *fresh, good = refit_features(state.Z, *pulls, self.confidence.lam)
            inverse, mu, s2 = tree_where(good, tuple(fresh), (inverse, mu, s2))
        return self.heard(state, arm, pulls, mu, s2, inverse=inverse)


@frozen_dataclass
class LinearGPUCB(_Features):
    """OFUL, optimism for linear bandits: exact GP-UCB with the linear kernel at O(A d + d^2) per round.

    Source: Abbasi-Yadkori, Pal & Szepesvari (2011); the rule ``practical`` is their Theorem 2.

    Attributes:
        confidence: radius rule and its constants; its norm bound is S >= ||theta*||.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import Confidence, LinearArms, LinearGPUCB, UniformArm
        >>> from paperlib.play import play
        >>> learner, problem = LinearGPUCB(Confidence(noise=0.1, norm_bound=1.0)), LinearArms(arms=50, dim=5)
        >>> trace = play(learner, problem, horizon=100, trials=2)
        >>> uniform = play(UniformArm(), problem, horizon=100, trials=2)
        >>> bool(trace["regret"][:, -1].mean() < 0.3 * uniform["regret"][:, -1].mean())
        True
    """

    confidence: Confidence
    kernel = Linear()

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """Return the arms themselves as features."""
        return arms.mT.contiguous()


@frozen_dataclass
class CBRAP(_Features):
    """OFUL on a random projection of the arms, without a correction for the error of the projection.

    Source: Yu, Lyu & King (2017), "CBRAP: Contextual Bandits with RAndom Projection".
    Departure: the radius is the radius of OFUL in m dimensions, not a constant, so that all methods share one rule.

    Attributes:
        confidence: as for ``LinearGPUCB``.
        size: m, dimension of the projection.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import CBRAP, Confidence, LinearArms, LinearGPUCB
        >>> from paperlib.play import play
        >>> confidence, problem = Confidence(noise=0.1, norm_bound=1.0), LinearArms(arms=50, dim=5)
        >>> projected = play(CBRAP(confidence, size=3), problem, horizon=100, trials=2)
        >>> exact = play(LinearGPUCB(confidence), problem, horizon=100, trials=2)
        >>> bool(projected["regret"][:, -1].mean() > exact["regret"][:, -1].mean())  # the projection has a cost
        True
    """

    confidence: Confidence
    size: int = fields.size(10)
    kernel = Linear()

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """Return X G, where G (d x m) has entries N(0, 1 / m) and is drawn once."""
        # Variance 1 / m preserves inner products in expectation.
        G = draw.normal("projection", arms.shape[2], self.size) / math.sqrt(self.size)
        return (arms @ G).mT.contiguous()


class _Fourier(_Features):
    """Fourier features of the RBF kernel; a subclass chooses the frequencies."""

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.kernel, RBF):
            raise ValueError(
                f"kernel must be an RBF, because its spectrum is Gaussian, got {self.kernel!r}"
            )

    def waves(self, arms: Tensor, frequencies: Tensor) -> Tensor:
        """Return [cos X W, sin X W] of all arms, R x D x A or 1 x D x A. ``frequencies``: W, d x D / 2 or R x d x D / 2."""
        phase = (arms @ frequencies).mT
        return torch.cat([phase.cos(), phase.sin()], 1)


@frozen_dataclass
class RFFUCB(_Fourier):
    """GP-UCB on random Fourier features of the RBF kernel, which are drawn once.

    Source: Rahimi & Recht (2007), "Random Features for Large-Scale Kernel Machines".

    Attributes:
        kernel: the RBF kernel to approximate.
        confidence: radius rule and its constants.
        size: D, number of features, even.

    Raises:
        ValueError: a value out of range, or another kernel.

    Examples:
        >>> from paperlib.bkb import RKHS, RFFUCB, Confidence
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> learner = RFFUCB(problem.kernel, Confidence(noise=0.1, norm_bound=3.0), size=100)
        >>> play(learner, problem, horizon=20, trials=2)["regret"].shape
        (2, 20)
    """

    kernel: RBF
    confidence: Confidence
    size: int = fields.size(100, least=2)

    def __post_init__(self):
        super().__post_init__()
        if self.size % 2:
            raise ValueError(
                f"size must be an even number, because each frequency has a cosine and a sine, got {self.size!r}"
            )

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """Return [cos X W, sin X W] / sqrt(D / 2), of norm 1, where W is d x D / 2 with columns N(0, 2 diag(gamma))."""
        # The spectral density of exp(-gamma r^2) is Gaussian with variance 2 gamma (Bochner's theorem).
        root = [math.sqrt(2 * gamma) for gamma in self.kernel.gammas(arms.shape[2])]
        W = draw.normal("frequencies", arms.shape[2], self.size // 2)
        W = W * W.new_tensor(root).unsqueeze(1)
        return self.waves(arms, W) / math.sqrt(self.size // 2)


@frozen_dataclass
class QFFUCB(_Fourier):
    """GP-UCB on quadrature Fourier features of the RBF kernel, for arms of very few dimensions.

    The features approximate the kernel to many digits once the number of nodes exceeds a threshold, and not at all below
    it. The threshold grows with the frequencies of the kernel. For example, on [0, 1] with gamma = 100 the largest error
    is 0.16 with 64 nodes, 4.5e-4 with 80 and 3.5e-9 with 100.

    Source: Mutny & Krause (2018), "Efficient High Dimensional Bayesian Optimization with Additivity and Quadrature Fourier
    Features".

    Attributes:
        kernel: the RBF kernel to approximate.
        confidence: radius rule and its constants.
        size: q, nodes of Gauss-Hermite quadrature in each dimension, at most 150.

    Raises:
        ValueError: a value out of range, another kernel, or more than 4096 nodes over all dimensions.

    Examples:
        >>> import numpy as np
        >>> from paperlib.bkb import QFFUCB, RKHS, Confidence, ExactGPUCB
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> confidence = Confidence(noise=0.1, norm_bound=3.0)
        >>> features = play(QFFUCB(problem.kernel, confidence, size=100), problem, horizon=20, trials=2)
        >>> exact = play(ExactGPUCB(problem.kernel, confidence), problem, horizon=20, trials=2)
        >>> np.allclose(features["regret"], exact["regret"])  # 100 nodes suffice for gamma = 100
        True
    """

    kernel: RBF
    confidence: Confidence
    size: int = fields.whole(40, most=150)

    def features(self, arms: Tensor, draw: Draw) -> Tensor:
        """Return sqrt(weights) [cos X W, sin X W], with frequencies 2 sqrt(gamma) t and weights w / sqrt(pi) per dimension.

        t and w are the nodes and weights of Gauss-Hermite quadrature.
        """
        dim = arms.shape[2]
        if self.size**dim > MOST:
            raise ValueError(
                f"size must give at most {MOST} nodes, size^{dim} in {dim} dimensions, got {self.size!r}"
            )
        # Gauss-Hermite quadrature of the kernel's Fourier integral, on the product grid over the dimensions.
        nodes, weights = np.polynomial.hermite.hermgauss(self.size)
        grid = lambda x: np.stack(np.meshgrid(*[x] * dim, indexing="ij")).reshape(dim, -1)
        root = 2 * np.sqrt(np.array(self.kernel.gammas(dim)))[:, None]
        on = {"dtype": arms.dtype, "device": arms.device}
        W = torch.tensor(root * grid(nodes), **on)
        scale = torch.tensor(np.sqrt(grid(weights / math.sqrt(math.pi)).prod(0)), **on)
        return self.waves(arms, W) * scale.repeat(2).unsqueeze(1)
