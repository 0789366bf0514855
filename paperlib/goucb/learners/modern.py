"""What the field takes beyond expected improvement: its noisy form, and sparse priors.

Source: Ament et al., "Unexpected Improvements to Expected Improvement for Bayesian Optimization" (2023), for qLogNEI; Eriksson & Jankowiak,
"High-Dimensional Bayesian Optimization with Sparse Axis-Aligned Subspaces" (2021), for the prior of MAP-SAAS; both as in BoTorch.
Shapes: R trials, N points, t observations, d dimensions.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import Module

from ...core import fields
from ...core.describe import frozen
from .botorch_default import BoTorchDefault
from .gp import PRIORS, GaussianProcess

AT_ONCE = 32  # points whose joint distributions with all observations are held in memory


@frozen
class QLogNEI(GaussianProcess):
    """Log noisy expected improvement: over the best of the noise-free values at the points so far, which are uncertain, too.

    The samples of the expectation are one quasi-random set for all trials and rounds.

    Attributes:
        n_init, prior, fit_steps, candidates, around, top, steps, rate: as of ``gp.GaussianProcess``.
        samples: >= 1, of the expectation.

    Raises:
        ValueError: a value out of range.
    """

    prior: str = fields.one_of(PRIORS, "modern")
    samples: int = fields.size(128)

    def criterion(self, model: Module) -> Callable[[Tensor], Tensor]:
        """The acquisition, N x R x 1 x d to N x R."""
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.sampling import SobolQMCNormalSampler

        sampler = SobolQMCNormalSampler(torch.Size([self.samples]), seed=0)
        x = model.train_inputs[0]
        value = qLogNoisyExpectedImprovement(model, x, sampler, prune_baseline=False)
        return lambda points: torch.cat([value(part) for part in points.split(AT_ONCE)])


@frozen
class MAPSAAS(BoTorchDefault):
    """BoTorch as its users call it, with an ensemble of sparse priors: few coordinates matter, and how few differs by model.

    Attributes:
        n_init, restarts, raw_samples: as of ``BoTorchDefault``.
        models: >= 1, each with another degree of sparsity, drawn anew each round.

    Raises:
        ValueError: a value out of range.
    """

    models: int = fields.size(4)

    def model(self, x: Tensor, y: Tensor) -> Module:
        """The ensemble before its fit."""
        from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP

        return EnsembleMapSaasSingleTaskGP(x, y, num_taus=int(self.models))
