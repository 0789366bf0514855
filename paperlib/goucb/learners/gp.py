"""Bayesian optimization with an exact Gaussian process: GP-UCB, GP-EI, GP-PI and qLogNEI, with all trials in one batch of BoTorch.

Source: Srinivas et al., "Gaussian Process Optimization in the Bandit Setting" (2010), for UCB; Jones et al., "Efficient Global Optimization
of Expensive Black-Box Functions" (1998), for EI; Kushner, "A New Method of Locating the Maximum Point" (1964), for PI. They are baselines
of Liu & Wang (2023), who state neither prior, scaling, beta nor the maximization of the acquisition. Ament et al., "Unexpected
Improvements to Expected Improvement for Bayesian Optimization" (2023), for qLogNEI. Balandat et al., "BoTorch: A Framework for Efficient
Monte-Carlo Bayesian Optimization" (2020), for ``optimize_acqf``, which ``GPOptimizeAcqf`` calls for one trial at a time.
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
NOISE = 1e-4  # smallest noise variance; absolute, because observed values are standardized, except with "legacy-raw"
AT_ONCE = 32  # points per batch of qLogNEI, because their joint distributions with all observations need memory
SPREAD = 0.1  # standard deviation of points around the incumbent, in units of half a side


@frozen_dataclass
class GaussianProcess(Search, ABC):
    """Base class: refit a Gaussian process after every observation, then evaluate the maximizer of an acquisition.

    A subclass defines ``criterion``. The hyper-parameters maximize the posterior density, with Adam from fixed initial values.
    The acquisition is maximized as in ``acquisition.Linearized``: the search evaluates uniform points and, with "modern", also points around
    the incumbent and the incumbent itself. Adam improves the best of them, and the best point overall is selected.

    Attributes:
        n_init: n >= 1, points of Phase I; your own observations count towards it.
        prior: "legacy-raw": BoTorch's default before version 0.12 (2024), on unscaled points and observed values, so that the result depends on their units;
            "legacy-scaled": the same prior on the unit cube and standardized values; "modern": on the same scaled data, the
            dimension-scaled prior of Hvarfner et al., "Vanilla Bayesian Optimization Performs Great in High Dimensions" (2024).
        fit_steps: >= 0, Adam steps of the fit; None: 200 for "legacy-raw", else 100.
        candidates: >= 1, uniform points.
        around: >= 0, normal points around the incumbent, used with "modern" only.
        top: >= 1, points that Adam improves.
        steps: >= 0, Adam steps of the improvement.
        rate: > 0, their step size, in units of half a side.

    Raises:
        ValueError: a value is out of range.
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
        """Return the acquisition, a function from N x R x 1 x d to N x R."""

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Return the maximizer of the acquisition, R x d."""
        from gpytorch.settings import max_cholesky_size
        from linear_operator.utils.warnings import NumericalWarning

        x, frame = state.x.view, self._frame(bounds)
        box = Bounds.cube(bounds.dim, dtype=x.dtype, device=x.device)
        # Force Cholesky at every size; it adds jitter if points coincide, and the warning about
        # that is expected.
        with max_cholesky_size(MOST), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            value = self.criterion(self.fitted(state, bounds))
            score = lambda u: value(frame.native(u).transpose(0, 1).unsqueeze(2)).T
            return maximize_from_points(score, self._raw(state, draw), box, self)

    def predict(self, state: History, bounds: Bounds, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the posterior mean and standard deviation of f in the user's units, R x N each. ``x``: R x N x d, points of the box.

        Raises:
            ValueError: there are no observations.
        """
        from gpytorch.settings import max_cholesky_size

        if state.rounds == 0:
            raise_invalid("state.rounds", 0, "at least 1")
        mean, sd = self._units(state)
        points = self._frame(bounds).native(bounds.scaled(x))
        with max_cholesky_size(MOST), torch.no_grad():
            posterior = self.fitted(state, bounds).posterior(points)
            f, variance = posterior.mean.squeeze(2), posterior.variance.squeeze(2)
        return mean + sd * f, sd * variance.sqrt()

    def fitted(self, state: History, bounds: Bounds) -> Module:
        """Return BoTorch's model of all observations, with separate hyper-parameters per trial."""
        from gpytorch.mlls import ExactMarginalLogLikelihood

        model = self.begun(state, bounds)
        steps = 200 if self.prior == "legacy-raw" else 100
        with torch.enable_grad():
            density = ExactMarginalLogLikelihood(model.likelihood, model)
            # Every fit starts at the same values, so that a state does not have to store
            # hyper-parameters.
            adam = torch.optim.Adam(model.parameters(), LEARNING_RATE)
            for _ in range(steps if self.fit_steps is None else self.fit_steps):
                adam.zero_grad()
                # The trials are independent, so the gradient of the sum is the gradient of each.
                density(model(*model.train_inputs), model.train_targets).sum().neg().backward()
                adam.step()
        return model.eval().requires_grad_(False)

    def begun(self, state: History, bounds: Bounds) -> Module:
        """Return the model before its fit."""
        from botorch.models import SingleTaskGP
        from botorch.settings import validate_input_scaling
        from gpytorch.means import ConstantMean

        mean, sd = self._units(state)
        x, y = self._frame(bounds).native(state.x.view), (state.y.view - mean) / sd
        kernel, likelihood = (_modern if self.prior == "modern" else _legacy)(x)
        # BoTorch warns of unscaled data, which "legacy-raw" uses on purpose.
        with validate_input_scaling(False):
            return SingleTaskGP(
                x,
                y.unsqueeze(2),
                likelihood=likelihood,
                covar_module=kernel,
                mean_module=ConstantMean(batch_shape=x.shape[:1]),
                outcome_transform=None,
            )

    def _raw(self, state: History, draw: Draw) -> Tensor:
        """Return the initial points of the search, R x N x d in [-1, 1]^d."""
        x, y = state.x.view, state.y.view
        points = 2 * draw.uniform("candidates", self.candidates, x.shape[2]) - 1
        # BoTorch's default search has no points around the incumbent. With an uninformative
        # process, such points alone turn random search into repeating the incumbent.
        if self.prior != "modern" or self.around == 0:
            return points
        best = incumbent(x, y).unsqueeze(1)
        near = best + SPREAD * draw.normal("jitter", self.around, x.shape[2])
        return torch.cat([points, near, best], 1).clamp(-1.0, 1.0)

    def _frame(self, bounds: Bounds) -> Bounds:
        """Return the box in the model's coordinates."""
        if self.prior == "legacy-raw":
            return bounds
        return Bounds(torch.zeros_like(bounds.lo), torch.ones_like(bounds.hi))

    def _units(self, state: History) -> tuple[Tensor, Tensor]:
        """Return the mean and standard deviation that standardize the observed values for the model, R x 1 each."""
        mean, sd = mean_and_std(state.y.view)
        if self.prior == "legacy-raw":
            return torch.zeros_like(mean), torch.ones_like(sd)
        return mean, sd


@frozen_dataclass
class GP(GaussianProcess):
    """GP-UCB, GP-EI or GP-PI: Bayesian optimization with one of three acquisitions.

    Attributes:
        n_init, prior, fit_steps, candidates, around, top, steps, rate: as in ``GaussianProcess``.
        acquisition: "UCB", "EI" or "PI"; EI and PI are maximized through their logarithms.
        beta: >= 0, of UCB, mean + sqrt(beta) sd; None: 0.2 d ln(2 t), as in Kandasamy et al., "High Dimensional Bayesian Optimisation and
            Bandits via Additive Models" (2015).

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import GP
        >>> learner = GP(8, "modern", "EI")  # use it with ``play`` or ``Optimizer``; it needs BoTorch
        >>> learner.candidates, learner.top, learner.steps
        (256, 8, 50)
    """

    acquisition: str = fields.one_of(ACQUISITIONS)
    beta: float | None = fields.nonnegative(None, optional=True)

    def criterion(self, model: Module) -> Callable[[Tensor], Tensor]:
        """Return the acquisition, a function from N x R x 1 x d to N x R."""
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
    """The model and the acquisition of ``gp``, maximized by BoTorch's ``optimize_acqf``. The search settings of ``gp`` are ignored.

    BoTorch's random numbers depend only on the round, the trial and the seed of the run.

    Attributes:
        gp: GP-UCB, GP-EI or GP-PI.
        restarts: >= 1, starting points of the acquisition's maximization.
        raw_samples: >= restarts, points that these starting points are selected from.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import GP, GPOptimizeAcqf
        >>> learner = GPOptimizeAcqf(GP(4, "legacy-raw", "UCB", beta=4.0))
        >>> learner.n_init, learner.restarts, learner.raw_samples
        (4, 10, 512)
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
        """Number of points of Phase I, n."""
        return self.gp.n_init

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Return the maximizer of the acquisition that ``optimize_acqf`` finds, R x d in [-1, 1]^d."""
        from gpytorch.settings import max_cholesky_size

        box = self.gp._frame(bounds)
        seeds = (draw.uniform("library") * 2**31).long().tolist()
        points = []
        with max_cholesky_size(MOST), warnings.catch_warnings(), torch.enable_grad():
            # BoTorch warns that the acquisition has equal values; this learner exists to show this
            # case.
            warnings.simplefilter("ignore")
            # Each trial has its own model, because the search amplifies rounding differences of a
            # batched fit.
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
    """Log noisy expected improvement over the best noise-free value at the evaluated points, which is itself uncertain.

    The expectation uses one set of quasi-random samples for all trials and rounds.

    Attributes:
        n_init, prior, fit_steps, candidates, around, top, steps, rate: as in ``GaussianProcess``.
        samples: >= 1, samples of the expectation.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import QLogNEI
        >>> learner = QLogNEI(4)
        >>> learner.prior, learner.samples
        ('modern', 128)
    """

    prior: str = fields.one_of(PRIORS, "modern")
    samples: int = fields.size(128)

    def criterion(self, model: Module) -> Callable[[Tensor], Tensor]:
        """Return the acquisition, a function from N x R x 1 x d to N x R."""
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.sampling import SobolQMCNormalSampler

        sampler = SobolQMCNormalSampler(torch.Size([self.samples]), seed=0)
        value = qLogNoisyExpectedImprovement(
            model, model.train_inputs[0], sampler, prune_baseline=False
        )
        # BoTorch forms a joint distribution of each point with all observations; parts bound its
        # memory.
        return lambda points: torch.cat([value(part) for part in points.split(AT_ONCE)])


def _legacy(x: Tensor) -> tuple[Module, Module]:
    """Return the kernel and likelihood of BoTorch's old default: Matern-5/2 with an output scale.

    In terms of shape and rate, the lengthscales have the prior Gamma(3, 6), the scale Gamma(2, 0.15) and the noise Gamma(1.1, 0.05).
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
    """Return the kernel and likelihood of the dimension-scaled prior: squared exponential with scale 1.

    In terms of mean and variance, ln lengthscale has the prior N(sqrt(2) + ln(d) / 2, 3) and ln noise N(-4, 1).
    """
    from gpytorch import kernels, likelihoods, priors

    batch, dim = x.shape[:1], x.shape[2]
    # Longer lengthscales in more dimensions keep typical distances, which grow with sqrt(d), at the
    # same scaled size.
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
    """Return a constraint with values least + exp(raw), so that Adam moves logarithms, starting at ``first``."""
    from gpytorch.constraints import GreaterThan

    return GreaterThan(least, transform=torch.exp, inv_transform=torch.log, initial_value=first)
