"""BoTorch with its default settings, one trial at a time: its default model, and an ensemble of models with sparse priors.

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
    """Maximize an acquisition with BoTorch's ``optimize_acqf``. Returns a point, d. ``lo``, ``hi``: d, the corners of the box."""
    from botorch.optim import optimize_acqf

    point, _ = optimize_acqf(
        acquisition, torch.stack([lo, hi]), q=1, num_restarts=restarts, raw_samples=raw_samples
    )
    return point[0]


@frozen_dataclass
class BoTorchDefault(AskTellLibrary):
    """BoTorch with its defaults: ``SingleTaskGP``, ``fit_gpytorch_mll`` and log expected improvement, maximized by ``optimize_acqf``.

    Attributes:
        n_init: n >= 1, points of Phase I; your own observations count towards it.
        restarts: >= 1, starting points of the acquisition's maximization.
        raw_samples: >= restarts, points that these starting points are selected from.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import BoTorchDefault
        >>> BoTorchDefault(4)  # only settings that differ from their defaults are shown
        BoTorchDefault(n_init=4)
    """

    needs = "botorch", "botorch"
    restarts: int = fields.size(10)
    raw_samples: int = fields.size(512)

    def __post_init__(self):
        check_increasing(restarts=self.restarts, raw_samples=self.raw_samples)

    def model(self, x: Tensor, y: Tensor) -> Module:
        """Return the model before its fit. It standardizes the observed values.

        Args:
            x: points of the unit cube, t x d.
            y: observed values, t x 1.
        """
        from botorch.models import SingleTaskGP

        return SingleTaskGP(x, y)

    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """Return the maximizer of log expected improvement. BoTorch's random numbers depend only on the seed."""
        from botorch import fit_gpytorch_mll
        from botorch.acquisition import LogExpectedImprovement
        from gpytorch.mlls import ExactMarginalLogLikelihood

        # BoTorch draws from torch's global generator, which must not change.
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            # BoTorch warns of failed fits and maximizations, which it then retries by itself.
            warnings.simplefilter("ignore")
            torch.manual_seed(seed)
            model = self.model((x + 1) / 2, y.unsqueeze(1))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            gain, zero = LogExpectedImprovement(model, y.max()), torch.zeros_like(x[0])
            point = maximize_acquisition(gain, zero, zero + 1, self.restarts, self.raw_samples)
        return (2 * point - 1).tolist()


@frozen_dataclass
class MAPSAAS(BoTorchDefault):
    """BoTorch with its defaults and an ensemble of models with sparse priors, which assume that few coordinates matter.

    Attributes:
        n_init, restarts, raw_samples: as in ``BoTorchDefault``.
        models: >= 1, models in the ensemble. Each has another degree of sparsity, which is drawn again in each round.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import MAPSAAS
        >>> MAPSAAS(4, models=2).restarts
        10
    """

    models: int = fields.size(4)

    def model(self, x: Tensor, y: Tensor) -> Module:
        """Return the ensemble before its fit."""
        from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP

        return EnsembleMapSaasSingleTaskGP(x, y, num_taus=int(self.models))
