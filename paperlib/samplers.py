"""The papers' methods as samplers of Optuna: GO-UCB, TuRBO, and BKB for finite search spaces.

A sampler needs a completed trial for each of its first ``n_startup_trials`` points, which are uniform. After that it proposes
all parameters that every completed trial has (Optuna's intersection search space); other parameters are drawn uniformly.

How the states of trials are used:

- A completed trial is an observation. A pruned trial is one, too, with its last intermediate value; without such a value it
  counts as failed.
- A failed trial counts as an observation of the worst value so far, so that the search avoids its neighborhood.
- A running trial counts as an observation of the median value so far, for this proposal only. If not all of its parameters are
  in the storage yet, the proposal for this trial is computed in their place. A proposal equal to the point of a running trial is
  replaced by a point near it (by ``BKBSampler``: by any arm). Therefore workers that search in parallel usually propose
  different points.

The random numbers of a proposal depend on the seed and on the number of the trial. Therefore a study that one process runs is
reproducible. Workers should start with the same seed. They draw different numbers, and each can compute the others' proposals.
"""

import copy
import itertools
import math
import threading
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from .asktell.inputs import warn_caller
from .asktell.optimizer import Optimizer
from .bkb.learners.lazy import LazyBKB
from .bkb.model.confidence import Confidence
from .bkb.optimizer import Optimizer as ArmOptimizer
from .core.extras import extra
from .core.streams import Streams
from .core.validation import LARGEST, check_integer, check_size, raise_invalid
from .goucb.learners.goucb import TrustRegion
from .goucb.learners.presets import practical
from .goucb.learners.turbo import TuRBO
from .maths.bounds import Bounds
from .maths.gp import RBF

with extra("optuna", "paperlib.samplers"):
    from optuna import Study
    from optuna._transform import _SearchSpaceTransform
    from optuna.distributions import BaseDistribution, CategoricalDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import StudyDirection
    from optuna.trial import FrozenTrial, TrialState

__all__ = ["BKBSampler", "GOUCBSampler", "TuRBOSampler"]

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
CLIP = 2.0  # largest absolute value of a standardized observation; the norm bound of BKBSampler
SCALE = 0.2  # of the confidence radius of BKBSampler, with less exploration than the theory; chosen on three toy problems
NEAR = 0.05  # largest change of a coordinate of a point that a running trial evaluates already
TRIES = 10  # changes of such a point
MOST_ARMS = 10_000  # combinations of parameters that BKBSampler accepts


@dataclass
class Search:
    """The observations of one study that a sampler keeps, so that each trial is observed once."""

    space: dict[str, BaseDistribution]
    optimizer: Optimizer  # maximizes
    used: set[int] = field(default_factory=set)  # numbers of the observed trials
    points: list[Any] = field(default_factory=list)
    values: list[float] = field(default_factory=list)  # larger is better
    scaled: int = 0  # number of values that determine the unit of the learner's feedback


class PaperSampler(BaseSampler):
    """Base class of the samplers. A subclass defines ``_start`` and how points and parameters are converted.

    Args:
        n_startup_trials: number of completed trials before the model is used, at least 1.
        seed: seed of the proposals; None: a random one.
        device: device of the computations, for example "cuda"; None: the CPU.

    Raises:
        ValueError: a value is out of range. A study with several objectives or with constraints raises it at the first
            proposal.
    """

    def __init__(
        self,
        *,
        n_startup_trials: int = 8,
        seed: int | None = None,
        device: str | torch.device | None = None,
    ):
        self._n_startup_trials = check_size("n_startup_trials", n_startup_trials)
        self._device = device
        self._space = IntersectionSearchSpace()
        self._searches: dict[tuple[str, int], Search] = {}
        self._lock = threading.Lock()  # optimize(n_jobs=...) calls one sampler in several threads
        if seed is None:
            self.reseed_rng()
        else:
            self._seed = check_integer("seed", seed, least=0)

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings for pickle; a copy in another process observes the trials itself."""
        return {name: x for name, x in vars(self).items() if name != "_lock"} | {"_searches": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        """Choose a new seed. Optuna calls this in each thread of ``optimize(n_jobs=...)``."""
        self._seed = int(np.random.default_rng().integers(2**31))

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters that all completed trials have and that can take more than one value."""
        return {
            name: distribution
            for name, distribution in self._space.calculate(study).items()
            if not distribution.single()
        }

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Draw a parameter uniformly from its range."""
        _refuse(study)
        numbers = self._seed, trial.number, *param_name.encode()
        seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
        return RandomSampler(seed).sample_independent(study, trial, param_name, param_distribution)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the proposal of the model, or no parameters before the model is used."""
        _refuse(study)
        others = _others(study, trial)
        known = [other for other in others if _within(other, search_space)]
        if any(other.constraints for other in known):
            raise ValueError(
                "study must have no constraints for the samplers of paperlib, got trials with set_constraint; use another "
                "sampler, for example optuna.samplers.TPESampler"
            )
        completed = sum(other.state == TrialState.COMPLETE for other in known)
        if not search_space or completed < self._n_startup_trials:
            return {}
        with self._lock:
            search = self._observed(study, search_space, known)
            fork = copy.copy(search.optimizer)  # its state is replaced and never modified
        if not search.values:  # no trial had a finite value
            return self._parameters(search_space, self._ask(fork, trial.number))
        middle = self._feedback(search, float(np.median(search.values)))
        running = _running(known, search_space)
        for params in running:
            fork.observe([self._point(search_space, params)], [middle])
        for other in others:
            # A later trial takes this one into account in the same way, and not the other way round.
            if _is_choosing(other, search_space) and other.number < trial.number:
                point = self._ask(fork, other.number)
                running.append(self._distinct(fork, search_space, other.number, point, running))
                fork.observe([self._point(search_space, running[-1])], [middle])
        point = self._ask(fork, trial.number)
        # Other workers may have stored parameters meanwhile, which differ from the computed ones if they knew other trials.
        running += _running(_others(study, trial), search_space)
        return self._distinct(fork, search_space, trial.number, point, running)

    def _ask(self, optimizer: Optimizer, number: int) -> Any:
        """Return the action that the optimizer proposes for the trial with this number."""
        optimizer._streams = Streams(self._seed + 1 + number, [0], optimizer.device)
        return optimizer.ask()

    def _distinct(
        self, optimizer: Optimizer, space: dict, number: int, point: Any, running: list[dict]
    ) -> dict[str, Any]:
        """Return the parameters of an action, or of one near it where a running trial has the same parameters."""
        params, rng = self._parameters(space, point), np.random.default_rng([self._seed, number])
        taken = [{name: each[name] for name in space} for each in running]
        for _ in range(TRIES):
            if params not in taken:
                break
            params = self._parameters(space, self._near(point, rng, optimizer))
        return params

    def _observed(self, study: Study, space: dict, known: list[FrozenTrial]) -> Search:
        """Return the study's search after all finished trials."""
        # Studies in memory all have the same number, and names are unique only within a storage.
        key = study.study_name, id(study._storage)
        search = self._searches.get(key)
        if search is None or search.space != space:
            search = Search(space, self._start(space))
            self._searches[key] = search
        new = [each for each in known if each.state in FINISHED and each.number not in search.used]
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        # In the order of their numbers, so that a resumed study observes the same values as before.
        new.sort(key=lambda each: each.number)
        values = [None if (y := _value(each)) is None else sign * y for each in new]
        usable = lambda y: y is not None and abs(y) <= LARGEST  # False for NaN
        finite = filter(usable, [*search.values, *values])
        if new and (first := next(finite, None)) is not None:
            for y in values:
                # Before the first usable value, a failed trial takes this value.
                low, high = min(search.values, default=first), max(search.values, default=first)
                if not usable(y):
                    y = high if y is not None and y > LARGEST else low
                search.values.append(y)
            search.points += [self._point(space, each.params) for each in new]
            search.used.update(each.number for each in new)
            self._learn(search, len(new))
        return search

    def _learn(self, search: Search, new: int) -> None:
        """Let the optimizer observe the last ``new`` points."""
        # One at a time, because the state after a batch would depend on how the trials were grouped.
        for point, y in zip(search.points[-new:], search.values[-new:]):
            search.optimizer.observe([point], [self._feedback(search, y)])

    def _feedback(self, search: Search, value: float) -> float:
        """Return a value in the unit that the learner uses."""
        return value

    @abstractmethod
    def _start(self, space: dict[str, BaseDistribution]) -> Optimizer:
        """Return the optimizer of a search space, without observations."""

    @abstractmethod
    def _point(self, space: dict[str, BaseDistribution], params: dict[str, Any]) -> Any:
        """Return parameters as an action of the optimizer."""

    @abstractmethod
    def _parameters(self, space: dict[str, BaseDistribution], point: Any) -> dict[str, Any]:
        """Return an action of the optimizer as parameters."""

    @abstractmethod
    def _near(self, point: Any, rng: np.random.Generator, optimizer: Optimizer) -> Any:
        """Return a random action in place of one that a running trial evaluates already."""


class BoxSampler(PaperSampler):
    """Base class of the samplers on the unit cube: numbers have one coordinate, a categorical parameter one per choice."""

    @abstractmethod
    def _learner(self) -> Any:
        """Return the learner, which maximizes."""

    def _start(self, space: dict[str, BaseDistribution]) -> Optimizer:
        zero = torch.zeros(len(_cube(space).bounds), dtype=torch.float64)
        seed = self._seed
        return Optimizer(self._learner(), Bounds(zero, zero + 1), seed=seed, device=self._device)

    def _point(self, space: dict[str, BaseDistribution], params: dict[str, Any]) -> np.ndarray:
        cube = _cube(space)
        point = cube.transform({name: params[name] for name in space})
        # The one-hot vector of k choices is shrunk to k / (k + 1) and half of it, the center of the choice's region. A trust
        # region around one choice then contains points of the others.
        for columns in _categories(space, cube):
            point[columns] = (1 + point[columns]) * len(columns) / (2 * (len(columns) + 1))
        return np.clip(point, 0.0, 1.0)

    def _parameters(self, space: dict[str, BaseDistribution], point: np.ndarray) -> dict[str, Any]:
        found = _cube(space).untransform(point)
        return {name: x.item() if isinstance(x, np.generic) else x for name, x in found.items()}

    def _near(
        self, point: np.ndarray, rng: np.random.Generator, optimizer: Optimizer
    ) -> np.ndarray:
        return np.clip(point + rng.uniform(-NEAR, NEAR, len(point)), 0.0, 1.0)


class GOUCBSampler(BoxSampler):
    """GO-UCB in a trust region around the best trial, our practical variant of the paper's algorithm.

    It models the objective by a small neural network, and evaluates the best point under the most favorable parameters of an
    ellipsoid around the fit. It stays near the best trial, so it suits studies in which every evaluation counts (cumulative
    regret). To find the best point, ``TuRBOSampler`` is usually better.

    Source: Liu & Wang, "Global Optimization with Parametric Function Approximation" (ICML 2023).

    See ``PaperSampler`` for the arguments and the errors.

    Examples:
        >>> import optuna
        >>> from paperlib.samplers import GOUCBSampler
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=GOUCBSampler(n_startup_trials=4, seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=6)
        >>> len(study.trials)
        6
    """

    def _learner(self) -> Any:
        return practical(self._n_startup_trials, trust=TrustRegion(gain=0.0))


class TuRBOSampler(BoxSampler):
    """TuRBO-1: Thompson sampling from a Gaussian process in a trust region around the best trial.

    Source: Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization" (NeurIPS 2019).

    See ``PaperSampler`` for the arguments and the errors.

    Examples:
        >>> import optuna
        >>> from paperlib.samplers import TuRBOSampler
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=TuRBOSampler(n_startup_trials=4, seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=12)
        >>> study.best_value < 0.1
        True
    """

    def _learner(self) -> Any:
        # The authors require an improvement relative to the incumbent's value, which depends on the unit of the objective.
        return TuRBO(self._n_startup_trials, gain=0.0)


class BKBSampler(PaperSampler):
    """BKB for a finite search space: a Gaussian process on all combinations of parameters, with a sketched posterior.

    Each combination is an arm. The objective is standardized by its median and standard deviation, which are computed again
    whenever the number of trials has doubled, and clipped at two standard deviations. The kernel is the RBF kernel on the
    unit cube, in which a categorical parameter has one coordinate per choice. The confidence radius is a fifth of the library's
    practical one, and no theorem covers it.

    Source: Calandriello et al., "Gaussian Process Optimization with Adaptive Sketching" (COLT 2019).

    Args:
        lengthscale: of the kernel, in units of the cube's side times the square root of the number of parameters.
        noise: standard deviation of the noise, in units of the standardized objective.
        n_startup_trials, seed, device: see ``PaperSampler``.

    Raises:
        ValueError: as ``PaperSampler``, or a search space that is infinite or has more than 10,000 combinations.

    Examples:
        >>> import optuna
        >>> from paperlib.samplers import BKBSampler
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=BKBSampler(n_startup_trials=4, seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_int("x", 0, 20) - 7) ** 2, n_trials=12)
        >>> study.best_params
        {'x': 7}
    """

    def __init__(self, *, lengthscale: float = 0.2, noise: float = 0.1, **options: Any):
        super().__init__(**options)
        for name, value in (("lengthscale", lengthscale), ("noise", noise)):
            if not (isinstance(value, (int, float)) and 0 < value < math.inf):
                raise_invalid(name, value, "a positive number")
        self._lengthscale, self._noise = float(lengthscale), float(noise)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters with finitely many values; warn of the others, which are drawn uniformly."""
        found = super().infer_relative_search_space(study, trial)
        finite = {name: each for name, each in found.items() if _is_finite(each)}
        if infinite := found.keys() - finite.keys():
            warn_caller(
                f"BKBSampler draws {', '.join(sorted(infinite))} uniformly, because only parameters with finitely many "
                "values are modelled; give them a step, or use TuRBOSampler"
            )
        return finite

    def _start(self, space: dict[str, BaseDistribution]) -> ArmOptimizer:
        choices = [_choices(name, distribution) for name, distribution in space.items()]
        count = math.prod(map(len, choices))
        if count > MOST_ARMS:
            raise_invalid(
                "search_space",
                f"{count} combinations",
                f"finite with at most {MOST_ARMS} combinations for BKBSampler",
            )
        cube = _cube(space)
        arms = [cube.transform(dict(zip(space, values))) for values in itertools.product(*choices)]
        gamma = 1 / (2 * len(space) * self._lengthscale**2)
        # Departure: the radius is scaled, because the theory explores far more than a study of some tens of trials can afford.
        learner = LazyBKB(
            RBF(gamma), Confidence(self._noise, norm_bound=CLIP, scale=SCALE), merge="arms"
        )
        return ArmOptimizer(learner, np.stack(arms), seed=self._seed, device=self._device)

    def _point(self, space: dict[str, BaseDistribution], params: dict[str, Any]) -> int:
        sizes = [len(_choices(name, distribution)) for name, distribution in space.items()]
        places = [_place(distribution, params[name]) for name, distribution in space.items()]
        return int(np.ravel_multi_index(places, sizes))

    def _parameters(self, space: dict[str, BaseDistribution], point: int) -> dict[str, Any]:
        choices = {name: _choices(name, distribution) for name, distribution in space.items()}
        places = np.unravel_index(point, [len(each) for each in choices.values()])
        return {name: each[place] for (name, each), place in zip(choices.items(), places)}

    def _near(self, point: int, rng: np.random.Generator, optimizer: ArmOptimizer) -> int:
        return int(rng.integers(optimizer.context.shape[-2]))  # any arm

    def _learn(self, search: Search, new: int) -> None:
        # The unit is determined again, and all trials are observed again, when the number of trials has doubled. It follows
        # from this number alone, so that a resumed study continues in the same way.
        doublings = int(math.log2(len(search.values) / self._n_startup_trials))
        if search.scaled != (scaled := self._n_startup_trials * 2**doublings):
            search.scaled, new = scaled, len(search.values)
            search.optimizer = self._start(search.space)
        super()._learn(search, new)

    def _feedback(self, search: Search, value: float) -> float:
        first = np.array(search.values[: search.scaled])
        standardized = (value - np.median(first)) / (first.std() or 1.0)
        return float(np.clip(standardized, -CLIP, CLIP))


def _refuse(study: Study) -> None:
    """Raise ValueError for a study that these samplers cannot use."""
    if study._is_multi_objective():
        raise ValueError(
            f"study must have one objective for the samplers of paperlib, got {len(study.directions)}; "
            "use another sampler, for example optuna.samplers.TPESampler"
        )


def _within(trial: FrozenTrial, space: dict[str, BaseDistribution]) -> bool:
    """Return whether a trial has all parameters of the space, with values inside of it."""
    return all(
        name in trial.params
        and distribution._contains(distribution.to_internal_repr(trial.params[name]))
        for name, distribution in space.items()
    )


def _others(study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
    """Return all other trials of the study as the storage has them now."""
    trials = study.get_trials(deepcopy=False)
    return [other for other in trials if other.number != trial.number]


def _running(trials: list[FrozenTrial], space: dict[str, BaseDistribution]) -> list[dict]:
    """Return the parameters of the trials that run and are within the space."""
    running = [trial for trial in trials if trial.state == TrialState.RUNNING]
    return [trial.params for trial in running if _within(trial, space)]


def _is_choosing(trial: FrozenTrial, space: dict[str, BaseDistribution]) -> bool:
    """Return whether a trial runs, and not all of its parameters are stored yet."""
    return trial.state == TrialState.RUNNING and not space.keys() <= trial.params.keys()


def _value(trial: FrozenTrial) -> float | None:
    """Return the value of a finished trial, the last intermediate value of a pruned one, or None."""
    if trial.state == TrialState.COMPLETE:
        return trial.value
    if trial.state == TrialState.PRUNED and trial.intermediate_values:
        last = trial.intermediate_values[max(trial.intermediate_values)]
        return None if math.isnan(last) else last
    return None


def _cube(space: dict[str, BaseDistribution]) -> _SearchSpaceTransform:
    """Return the map between parameters and the unit cube."""
    return _SearchSpaceTransform(space, transform_log=True, transform_step=True, transform_0_1=True)


def _categories(
    space: dict[str, BaseDistribution], cube: _SearchSpaceTransform
) -> list[np.ndarray]:
    """Return the columns of each categorical parameter in the unit cube."""
    return [
        columns
        for distribution, columns in zip(space.values(), cube.column_to_encoded_columns)
        if isinstance(distribution, CategoricalDistribution)
    ]


def _is_finite(distribution: BaseDistribution) -> bool:
    return isinstance(distribution, CategoricalDistribution) or distribution.step is not None


def _place(distribution: BaseDistribution, value: Any) -> int:
    """Return the index of a value among the values of a parameter; decimal steps may differ in the last digit."""
    if isinstance(distribution, CategoricalDistribution):
        return int(distribution.to_internal_repr(value))
    return round((value - distribution.low) / distribution.step)


def _choices(name: str, distribution: BaseDistribution) -> Sequence[Any]:
    """Return all values of a parameter.

    Raises:
        ValueError: there are infinitely many.
    """
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices
    if not _is_finite(distribution):
        raise_invalid(
            name,
            distribution,
            "a parameter with finitely many values for BKBSampler, for example with a step",
        )
    low, high, step = distribution.low, distribution.high, distribution.step
    count = round((high - low) / step) + 1
    kind = int if isinstance(step, int) else float
    return [kind(min(low + i * step, high)) for i in range(count)]
