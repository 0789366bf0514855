"""Optimizers of other libraries, which play one trial at a time: Optuna's and scikit-optimize's.

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
    """Passes all observations of a trial to a new optimizer of its library, and asks it once; trial after trial, round after round.

    A subclass has an ``ask``. The seed is another one in each round of each trial.
    Departure: answers are standardized first, because some defaults of the libraries are in units of the answers. For example,
    scikit-optimize looks for an improvement of 0.01, and BoTorch takes a standard deviation below 1e-8 for 1.

    Attributes:
        n_init: n >= 1, points of Phase I; a user's own observations count.

    Raises:
        ValueError: a value out of range.
    """

    n_init: int = fields.size()

    @abstractmethod
    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """d numbers in [-1, 1], from t x d points and t answers, which are to be maximized."""

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """What the library asks for in each trial, R x d."""
        x, (mean, sd) = state.x.view, mean_and_std(state.y.view)
        y = (state.y.view - mean) / sd
        seeds = (draw.uniform("library") * 2**31).long().tolist()
        with torch.enable_grad():
            points = [self.ask(*trial) for trial in zip(x.cpu(), y.cpu(), seeds)]
        return torch.tensor(points, dtype=x.dtype, device=x.device).clamp(-1.0, 1.0)


@frozen_dataclass
class Optuna(AskTellLibrary):
    """Optuna's default, the tree-structured Parzen estimator; Phase I takes the place of its own random trials.

    Attributes:
        n_init: n >= 1, points of Phase I; a user's own observations count.

    Raises:
        ValueError: a value out of range.
    """

    needs = "optuna", "optimizers"

    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """The next trial's parameters."""
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
    """scikit-optimize's default, a Gaussian process with one of three acquisitions; Phase I takes the place of its own random points.

    Departure: the library weighs its acquisitions by what they have gained; told everything at once, it takes each with probability 1/3.

    Attributes:
        n_init: n >= 1, points of Phase I; a user's own observations count.

    Raises:
        ValueError: a value out of range.
    """

    needs = "skopt", "optimizers"

    def ask(self, x: Tensor, y: Tensor, seed: int) -> Sequence[float]:
        """The next point."""
        from skopt import Optimizer

        sides = [(-1.0, 1.0)] * x.shape[1]
        optimizer = Optimizer(sides, n_initial_points=self.n_init, random_state=seed)
        optimizer.tell(x.tolist(), (-y).tolist())  # it minimizes
        return optimizer.ask()


@contextmanager
def _quiet(optuna) -> Iterator[None]:
    """Without a line for each study."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
