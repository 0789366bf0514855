"""Adapters for optimizers of other libraries, which handle one trial at a time: Optuna and scikit-optimize.

Source: Watanabe, "Tree-Structured Parzen Estimator" (2023), for Optuna's; the manual of scikit-optimize.
Shapes: R trials, t observations, d dimensions.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...maths.bounds import Bounds
from .search import History, Search, mean_and_std


@frozen_dataclass
class AskTellLibrary(Search, ABC):
    """Base class of adapters. In each round and trial, a new optimizer of the library receives all observations and proposes one point.

    A subclass defines ``ask``. The seed differs between rounds and between trials.
    Departure: the observed values are standardized first, because some defaults of the libraries are in units of these values. For example,
    scikit-optimize looks for an improvement of 0.01, and BoTorch takes a standard deviation below 1e-8 for 1.

    Attributes:
        n_init: n >= 1, points of Phase I; your own observations count towards it.

    Raises:
        ValueError: a value is out of range.
    """

    n_init: int = fields.size()

    @abstractmethod
    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """Return the next point, d numbers in [-1, 1], from t x d points and t observed values, which are maximized."""

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Return the library's proposal in each trial, R x d."""
        x, (mean, sd) = state.x.view, mean_and_std(state.y.view)
        y = (state.y.view - mean) / sd
        seeds = (draw.uniform("library") * 2**31).long().tolist()
        # ``play`` and ask/tell run learners without gradients, which some libraries need for their
        # fits.
        with torch.enable_grad():
            points = [self.ask(*trial) for trial in zip(x.cpu(), y.cpu(), seeds)]
        return torch.tensor(points, dtype=x.dtype, device=x.device).clamp(-1.0, 1.0)


@frozen_dataclass
class Optuna(AskTellLibrary):
    """Optuna with its default sampler, the tree-structured Parzen estimator. Phase I replaces its random startup trials.

    Attributes:
        n_init: n >= 1, points of Phase I; your own observations count towards it.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import Optuna
        >>> Optuna(4).needs  # the package and the extra of paperlib that installs it
        ('optuna', 'optimizers')
    """

    needs = "optuna", "optimizers"

    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """Return the parameters of Optuna's next trial."""
        import optuna

        side = optuna.distributions.FloatDistribution(-1.0, 1.0)
        space = {f"x{j}": side for j in range(x.shape[1])}
        sampler = optuna.samplers.TPESampler(n_startup_trials=self.n_init, seed=seed)
        trial = lambda point, value: optuna.create_trial(
            params=dict(zip(space, point)), distributions=space, value=value
        )
        with _quiet(optuna):
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.add_trials(map(trial, x.tolist(), y.tolist()))
            return list(study.ask(space).params.values())


@frozen_dataclass
class ScikitOptimize(AskTellLibrary):
    """scikit-optimize with its defaults, a Gaussian process with one of three acquisitions. Phase I replaces its random initial points.

    Departure: the library weights its acquisitions by their past gains. Here each new optimizer receives all observations at once, therefore
    it selects each acquisition with probability 1/3.

    Attributes:
        n_init: n >= 1, points of Phase I; your own observations count towards it.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import ScikitOptimize
        >>> ScikitOptimize(4).needs  # the package and the extra of paperlib that installs it
        ('skopt', 'optimizers')
    """

    needs = "skopt", "optimizers"

    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """Return scikit-optimize's next point."""
        from skopt import Optimizer

        sides = [(-1.0, 1.0)] * x.shape[1]
        optimizer = Optimizer(sides, n_initial_points=self.n_init, random_state=seed)
        optimizer.tell(x.tolist(), (-y).tolist())  # the library minimizes
        return optimizer.ask()


@contextmanager
def _quiet(optuna) -> Iterator[None]:
    """Suppress the line that Optuna logs for each study."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
