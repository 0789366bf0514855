"""Bayesian optimization with an exact Gaussian process: GP-UCB, GP-EI and GP-PI, all trials in one batch of BoTorch.

Source: Srinivas et al., "Gaussian Process Optimization in the Bandit Setting" (2010), for UCB; Jones et al., "Efficient Global Optimization
of Expensive Black-Box Functions" (1998), for EI; Kushner, "A New Method of Locating the Maximum Point" (1964), for PI. They are baselines
of Liu & Wang (2023), who print neither prior, scaling, beta nor the search for the acquisition's maximum.
Shapes: R trials, N points, t observations, d dimensions.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY

import torch
from torch import Tensor
from torch.nn import Module

from ...core import fields
from ...core.describe import frozen
from ...core.streams import Draw
from ...core.validation import MOST, refuse
from ...maths.bounds import Bounds
from .climb import climb
from .search import History, Search, incumbent, standardized

PRIORS = ("legacy-raw", "legacy-scaled", "modern")
ACQUISITIONS = ("UCB", "EI", "PI")
LEARNING_RATE = 0.1  # of Adam on the logarithms of hyper-parameters
NOISE = 1e-4  # least variance of the noise; absolute: answers are standardized, except with "legacy-raw"
SPREAD = 0.1  # standard deviation of points around the incumbent, in units of half a side


@frozen
class GaussianProcess(Search):
    """Fits a Gaussian process anew after every answer, and asks where an acquisition is largest.

    A subclass has ``criterion(model)``, which maps N x R x 1 x d to N x R. Hyper-parameters are those of the largest posterior density
    that Adam finds from fixed first values. The acquisition is maximized as by ``acquisition.Linearized``: uniform points, with "modern"
    also points around the incumbent and the incumbent; the best are improved by Adam and compete again.

    Attributes:
        n_init: n >= 1, points of Phase I; a user's own observations count.
        prior: "legacy-raw", what BoTorch took before 2024, on points and answers as they are, on whose units it depends; "legacy-scaled", the same on the unit cube
            and standardized answers; "modern", there the dimension-scaled prior of Hvarfner et al., "Vanilla Bayesian Optimization Performs
            Great in High Dimensions" (2024).
        fit_steps: >= 0, of Adam; None: 200 for "legacy-raw", else 100.
        candidates: >= 1, uniform points.
        around: >= 0, normal points around the incumbent, with "modern" alone.
        top: >= 1, points that are improved.
        steps: >= 0, of Adam in the improvement.
        rate: > 0, its step size, in units of half a side.

    Raises:
        ValueError: a value out of range.
    """

    needs = "botorch", "botorch"
    n_init: int = fields.size()
    prior: str = fields.one_of(PRIORS)
    _: KW_ONLY
    fit_steps: int | None = fields.size(None, least=0, optional=True)
    candidates: int = fields.size(256)
    around: int = fields.size(32, least=0)
    top: int = fields.size(8)
    steps: int = fields.size(50, least=0)
    rate: float = fields.positive(0.04)

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Where the acquisition is largest, R x d."""
        from gpytorch.settings import max_cholesky_size
        from linear_operator.utils.warnings import NumericalWarning

        x, frame = state.x.view, self._frame(bounds)
        box = Bounds.cube(bounds.dim, dtype=x.dtype, device=x.device)
        # always by Cholesky, with jitter for points that coincide
        with max_cholesky_size(MOST), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            value = self.criterion(self.fitted(state, bounds))
            score = lambda u: value(frame.native(u).transpose(0, 1).unsqueeze(2)).T
            return climb(score, self._raw(state, draw), box, self)

    def predict(self, state: History, bounds: Bounds, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of f in the user's units, R x N each. ``x``: R x N x d, of the box.

        Raises:
            ValueError: no observations.
        """
        from gpytorch.settings import max_cholesky_size

        if state.rounds == 0:
            refuse("state", "0 rounds", "at least 1")
        mean, sd = self._units(state)
        points = self._frame(bounds).native(bounds.scaled(x))
        with max_cholesky_size(MOST), torch.no_grad():
            posterior = self.fitted(state, bounds).posterior(points)
            f, variance = posterior.mean.squeeze(2), posterior.variance.squeeze(2)
        return mean + sd * f, sd * variance.sqrt()

    def fitted(self, state: History, bounds: Bounds) -> Module:
        """BoTorch's model of all observations, with hyper-parameters of its own for each trial."""
        from gpytorch.mlls import ExactMarginalLogLikelihood

        model = self.begun(state, bounds)
        steps = 200 if self.prior == "legacy-raw" else 100
        with torch.enable_grad():
            density = ExactMarginalLogLikelihood(model.likelihood, model)
            adam = torch.optim.Adam(model.parameters(), LEARNING_RATE)
            for _ in range(steps if self.fit_steps is None else self.fit_steps):
                adam.zero_grad()
                density(model(*model.train_inputs), model.train_targets).sum().neg().backward()
                adam.step()
        return model.eval().requires_grad_(False)

    def begun(self, state: History, bounds: Bounds) -> Module:
        """The same before its fit."""
        from botorch.models import SingleTaskGP
        from botorch.settings import validate_input_scaling
        from gpytorch.means import ConstantMean

        mean, sd = self._units(state)
        x, y = self._frame(bounds).native(state.x.view), (state.y.view - mean) / sd
        kernel, likelihood = (_modern if self.prior == "modern" else _legacy)(x)
        with validate_input_scaling(False):  # "legacy-raw" is what it warns of
            return SingleTaskGP(
                x,
                y.unsqueeze(2),
                likelihood=likelihood,
                covar_module=kernel,
                mean_module=ConstantMean(batch_shape=x.shape[:1]),
                outcome_transform=None,
            )

    def _raw(self, state: History, draw: Draw) -> Tensor:
        """The points that compete first, R x N x d in [-1, 1]^d."""
        x, y = state.x.view, state.y.view
        points = 2 * draw.uniform("candidates", self.candidates, x.shape[2]) - 1
        if self.prior != "modern" or self.around == 0:
            return points
        best = incumbent(x, y).unsqueeze(1)
        near = best + SPREAD * draw.normal("jitter", self.around, x.shape[2])
        return torch.cat([points, near, best], 1).clamp(-1.0, 1.0)

    def _frame(self, bounds: Bounds) -> Bounds:
        """The box in the model's coordinates."""
        if self.prior == "legacy-raw":
            return bounds
        return Bounds(torch.zeros_like(bounds.lo), torch.ones_like(bounds.hi))

    def _units(self, state: History) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation by which answers are standardized for the model, R x 1 each."""
        mean, sd = standardized(state.y.view)
        if self.prior == "legacy-raw":
            return torch.zeros_like(mean), torch.ones_like(sd)
        return mean, sd


@frozen
class GP(GaussianProcess):
    """GP-UCB, GP-EI or GP-PI.

    Attributes:
        n_init, prior, fit_steps, candidates, around, top, steps, rate: as of ``GaussianProcess``.
        acquisition: "UCB", or by their logarithms "EI" or "PI".
        beta: >= 0, of UCB, mean + sqrt(beta) sd; None: .2 d ln(2 t), as Kandasamy et al., "High Dimensional Bayesian Optimisation and
            Bandits via Additive Models" (2015), have it.

    Raises:
        ValueError: a value out of range.
    """

    acquisition: str = fields.one_of(ACQUISITIONS)
    beta: float | None = fields.nonnegative(None, optional=True)

    def criterion(self, model: Module) -> Callable[[Tensor], Tensor]:
        """The acquisition, N x R x 1 x d to N x R."""
        from botorch.acquisition import analytic

        t, d = model.train_inputs[0].shape[1:]
        best = model.train_targets.amax(1, keepdim=True)
        if self.acquisition == "UCB":
            beta = 0.2 * d * math.log(2 * t) if self.beta is None else self.beta
            return analytic.UpperConfidenceBound(model, beta)
        if self.acquisition == "EI":
            return analytic.LogExpectedImprovement(model, best)
        return analytic.LogProbabilityOfImprovement(model, best)


def _legacy(x: Tensor) -> tuple[Module, Module]:
    """Kernel and likelihood: Matern-5/2 with a scale.

    By shape and rate, lengthscales are Gamma(3, 6), scale Gamma(2, .15), noise Gamma(1.1, .05).
    """
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.priors import GammaPrior

    batch = x.shape[:1]
    matern = MaternKernel(
        nu=2.5,
        ard_num_dims=x.shape[2],
        batch_shape=batch,
        lengthscale_prior=GammaPrior(3.0, 6.0),
        lengthscale_constraint=_above(0.0, math.log(2)),
    )
    kernel = ScaleKernel(
        matern,
        batch_shape=batch,
        outputscale_prior=GammaPrior(2.0, 0.15),
        outputscale_constraint=_above(0.0, math.log(2)),
    )
    likelihood = GaussianLikelihood(
        batch_shape=batch,
        noise_prior=GammaPrior(1.1, 0.05),
        noise_constraint=_above(NOISE, 2.0),
    )
    return kernel, likelihood


def _modern(x: Tensor) -> tuple[Module, Module]:
    """Kernel and likelihood: squared exponential of scale 1.

    By mean and variance, ln lengthscale is N(sqrt(2) + ln(d) / 2, 3), ln noise N(-4, 1).
    """
    from gpytorch.kernels import RBFKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.priors import LogNormalPrior

    batch, dim = x.shape[:1], x.shape[2]
    center = math.sqrt(2) + math.log(dim) / 2
    kernel = RBFKernel(
        ard_num_dims=dim,
        batch_shape=batch,
        lengthscale_prior=LogNormalPrior(center, math.sqrt(3)),
        lengthscale_constraint=_above(0.025, math.exp(center - 3)),  # the prior's mode
    )
    likelihood = GaussianLikelihood(
        batch_shape=batch,
        noise_prior=LogNormalPrior(-4.0, 1.0),
        noise_constraint=_above(NOISE, math.exp(-5)),  # the prior's mode
    )
    return kernel, likelihood


def _above(least: float, first: float) -> Module:
    """least + exp(raw), so that Adam moves logarithms, from ``first``."""
    from gpytorch.constraints import GreaterThan

    return GreaterThan(least, transform=torch.exp, inv_transform=torch.log, initial_value=first)
