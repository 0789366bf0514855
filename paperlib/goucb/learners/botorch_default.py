"""BoTorch as its users call it, one trial after another: its default model, and an ensemble of sparse priors.

Source: Balandat et al., "BoTorch: A Framework for Efficient Monte-Carlo Bayesian Optimization" (2020), and the library's own example;
Eriksson & Jankowiak, "High-Dimensional Bayesian Optimization with Sparse Axis-Aligned Subspaces" (2021), for the prior of MAP-SAAS.
Shapes: t observations, d dimensions.
"""

import warnings
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import Module

from ...core import fields
from ...core.describe import frozen_dataclass
from .search import check_increasing
from .sequential import AskTellLibrary


def maximize_acquisition(
    acquisition: Module | Callable[[Tensor], Tensor],
    lo: Tensor,
    hi: Tensor,
    restarts: int,
    raw_samples: int,
) -> Tensor:
    """Return the point where BoTorch's own routine finds an acquisition largest, d. ``lo``, ``hi``: d, the ends of the box."""
    from botorch.optim import optimize_acqf

    point, _ = optimize_acqf(
        acquisition, torch.stack([lo, hi]), q=1, num_restarts=restarts, raw_samples=raw_samples
    )
    return point[0]


@frozen_dataclass
class BoTorchDefault(AskTellLibrary):
    """The library's default model, fitted by its own routine, and its log expected improvement, maximized by its own routine.

    Attributes:
        n_init: n >= 1, points of Phase I; a user's own observations count.
        restarts: >= 1, points from which the acquisition is maximized.
        raw_samples: >= restarts, points among which these are chosen.

    Raises:
        ValueError: a value out of range.
    """

    needs = "botorch", "botorch"
    restarts: int = fields.size(10)
    raw_samples: int = fields.size(512)

    def __post_init__(self):
        check_increasing(restarts=self.restarts, raw_samples=self.raw_samples)

    def model(self, x: Tensor, y: Tensor) -> Module:
        """The model before its fit, of points of the unit cube, t x d, and answers, t x 1, which it standardizes."""
        from botorch.models import SingleTaskGP

        return SingleTaskGP(x, y)

    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """Where log expected improvement is largest; the draws of BoTorch depend on the seed alone."""
        from botorch import fit_gpytorch_mll
        from botorch.acquisition import LogExpectedImprovement
        from gpytorch.mlls import ExactMarginalLogLikelihood

        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it then tries again
            torch.manual_seed(seed)
            model = self.model((x + 1) / 2, y.unsqueeze(1))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            gain, zero = LogExpectedImprovement(model, y.max()), torch.zeros_like(x[0])
            point = maximize_acquisition(gain, zero, zero + 1, self.restarts, self.raw_samples)
        return (2 * point - 1).tolist()


@frozen_dataclass
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
