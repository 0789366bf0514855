"""Bayesian optimization with an exact Gaussian process: GP-UCB, GP-EI, GP-PI and qLogNEI, all trials in one batch of BoTorch.

Source: Srinivas et al., "Gaussian Process Optimization in the Bandit Setting" (2010), for UCB; Jones et al., "Efficient Global Optimization
of Expensive Black-Box Functions" (1998), for EI; Kushner, "A New Method of Locating the Maximum Point" (1964), for PI. They are baselines
of Liu & Wang (2023), who print neither prior, scaling, beta nor the search for the acquisition's maximum. Ament et al., "Unexpected
Improvements to Expected Improvement for Bayesian Optimization" (2023), for qLogNEI. Balandat et al., "BoTorch: A Framework for Efficient
Monte-Carlo Bayesian Optimization" (2020), for ``optimize_acqf``, by which ``GPOptimizeAcqf`` searches one trial after another.
Shapes: R trials, N points, t observations, d dimensions.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY

import torch
from torch import Tensor
from torch.nn import Module

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Rows
from ...core.streams import Draw
from ...core.validation import MOST, raise_invalid
from ...maths.bounds import Bounds
from .botorch_default import maximize_acquisition
from .climb import maximize_from_points
from .search import History, Search, check_increasing, incumbent, mean_and_std

PRIORS = ("legacy-raw", "legacy-scaled", "modern")
ACQUISITIONS = ("UCB", "EI", "PI")
LEARNING_RATE = 0.1  # of Adam on the logarithms of hyper-parameters
NOISE = 1e-4  # least variance of the noise; absolute: answers are standardized, except with "legacy-raw"
AT_ONCE = 32  # points of qLogNEI whose joint distributions with all observations are in memory
SPREAD = 0.1  # standard deviation of points around the incumbent, in units of half a side


@frozen_dataclass
class GaussianProcess(Search, ABC):
    """Fits a Gaussian process anew after every answer, and asks where an acquisition is largest.

    A subclass has a ``criterion``. Hyper-parameters are those of the largest posterior density that Adam finds from fixed first values.
    The acquisition is maximized as by ``acquisition.Linearized``: uniform points, with "modern" also points around the incumbent and the
    incumbent; the best are improved by Adam and compete again.

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

    @abstractmethod
    def criterion(self, model: Module) -> Callable[[Tensor], Tensor]:
        """The acquisition, N x R x 1 x d to N x R."""

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
            return maximize_from_points(score, self._raw(state, draw), box, self)

    def predict(self, state: History, bounds: Bounds, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of f in the user's units, R x N each. ``x``: R x N x d, of the box.

        Raises:
            ValueError: no observations.
        """
        from gpytorch.settings import max_cholesky_size

        if state.rounds == 0:
            raise_invalid("state", "0 rounds", "at least 1")
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
        mean, sd = mean_and_std(state.y.view)
        if self.prior == "legacy-raw":
            return torch.zeros_like(mean), torch.ones_like(sd)
        return mean, sd


@frozen_dataclass
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


@frozen_dataclass
class GPOptimizeAcqf(Search):
    """The model and the acquisition of ``gp``, maximized by ``optimize_acqf``. The search settings of ``gp`` are not used.

    The draws of BoTorch depend on the round, the trial and the seed of the run alone.

    Attributes:
        gp: GP-UCB, GP-EI or GP-PI.
        restarts: >= 1, points from which the acquisition is maximized.
        raw_samples: >= restarts, points among which these are chosen.

    Raises:
        ValueError: a value out of range.
    """

    needs = "botorch", "botorch"
    gp: GP
    restarts: int = fields.size(10)
    raw_samples: int = fields.size(512)

    def __post_init__(self):
        if not isinstance(self.gp, GP):
            raise_invalid("gp", self.gp, "a GP")
        check_increasing(restarts=self.restarts, raw_samples=self.raw_samples)

    @property
    def n_init(self) -> int:
        """n, points of Phase I."""
        return self.gp.n_init

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Where ``optimize_acqf`` finds the acquisition largest, R x d in [-1, 1]^d."""
        from gpytorch.settings import max_cholesky_size

        box = self.gp._frame(bounds)
        seeds = (draw.uniform("library") * 2**31).long().tolist()
        points = []
        with max_cholesky_size(MOST), warnings.catch_warnings(), torch.enable_grad():
            # BoTorch warns of equal values of the acquisition, which this learner is there to show
            warnings.simplefilter("ignore")
            # each trial has a model of its own, because the search amplifies the last bits of a batched fit
            for x, y, seed in zip(state.x.view, state.y.view, seeds):
                own = History(Rows.of(x[None]), Rows.of(y[None]), state.rounds)
                acquisition = self.gp.criterion(self.gp.fitted(own, bounds))
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(seed)
                    points.append(
                        maximize_acquisition(
                            acquisition, box.lo[0], box.hi[0], self.restarts, self.raw_samples
                        )
                    )
        return box.scaled(torch.stack(points)).clamp(-1.0, 1.0)


@frozen_dataclass
class QLogNEI(GaussianProcess):
    """Log noisy expected improvement: over the best of the noise-free values at the points so far, which are uncertain, too.

    The samples of the expectation are one quasi-random set for all trials and rounds.

    Attributes:
        n_init, prior, fit_steps, candidates, around, top, steps, rate: as of ``GaussianProcess``.
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
        value = qLogNoisyExpectedImprovement(
            model, model.train_inputs[0], sampler, prune_baseline=False
        )
        return lambda points: torch.cat([value(part) for part in points.split(AT_ONCE)])


def _legacy(x: Tensor) -> tuple[Module, Module]:
    """Kernel and likelihood: Matern-5/2 with a scale.

    By shape and rate, lengthscales are Gamma(3, 6), scale Gamma(2, .15), noise Gamma(1.1, .05).
    """
    from gpytorch import kernels, likelihoods, priors

    batch = x.shape[:1]
    matern = kernels.MaternKernel(
        nu=2.5,
        ard_num_dims=x.shape[2],
        batch_shape=batch,
        lengthscale_prior=priors.GammaPrior(3.0, 6.0),
        lengthscale_constraint=_above(0.0, math.log(2)),
    )
    kernel = kernels.ScaleKernel(
        matern,
        batch_shape=batch,
        outputscale_prior=priors.GammaPrior(2.0, 0.15),
        outputscale_constraint=_above(0.0, math.log(2)),
    )
    likelihood = likelihoods.GaussianLikelihood(
        batch_shape=batch,
        noise_prior=priors.GammaPrior(1.1, 0.05),
        noise_constraint=_above(NOISE, 2.0),
    )
    return kernel, likelihood


def _modern(x: Tensor) -> tuple[Module, Module]:
    """Kernel and likelihood: squared exponential of scale 1.

    By mean and variance, ln lengthscale is N(sqrt(2) + ln(d) / 2, 3), ln noise N(-4, 1).
    """
    from gpytorch import kernels, likelihoods, priors

    batch, dim = x.shape[:1], x.shape[2]
    center = math.sqrt(2) + math.log(dim) / 2
    kernel = kernels.RBFKernel(
        ard_num_dims=dim,
        batch_shape=batch,
        lengthscale_prior=priors.LogNormalPrior(center, math.sqrt(3)),
        lengthscale_constraint=_above(0.025, math.exp(center - 3)),  # the prior's mode
    )
    likelihood = likelihoods.GaussianLikelihood(
        batch_shape=batch,
        noise_prior=priors.LogNormalPrior(-4.0, 1.0),
        noise_constraint=_above(NOISE, math.exp(-5)),  # the prior's mode
    )
    return kernel, likelihood


def _above(least: float, first: float) -> Module:
    """least + exp(raw), so that Adam moves logarithms, from ``first``."""
    from gpytorch.constraints import GreaterThan

    return GreaterThan(least, transform=torch.exp, inv_transform=torch.log, initial_value=first)
