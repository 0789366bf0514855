"""Adapters for algorithms of other libraries: bandits of MABWiser, bayesianbandits and Vowpal Wabbit, and samplers of Optuna.

Each library is used through its public interface, with one object per trial on the host. Its random numbers come from one seed per trial.
Source: the manuals of mabwiser 2.7, bayesianbandits 1.5, vowpalwabbit 9.11 and optuna 5.
Letters: R trials, K arms, d dimensions.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from paperlib.core import fields
from paperlib.core.contracts import Tags
from paperlib.core.describe import frozen_dataclass
from paperlib.core.extras import check_installed
from paperlib.core.streams import Draw
from paperlib.core.validation import LARGEST, check_arms, check_finite, raise_invalid
from paperlib.glbomd.model.links import Bernoulli, Gaussian, Link, Poisson

from .sets import Region


class Trial(ABC):
    """Library object of one trial with arms."""

    @abstractmethod
    def show(self, arms: np.ndarray) -> None:
        """Receive the arms of the next rounds, K x d."""

    @abstractmethod
    def choose(self, uniform: float) -> int:
        """Return the index of the next arm. ``uniform``: a random number of the trial, for a library that does not draw the arm."""

    @abstractmethod
    def learn(self, arm: int, reward: float) -> None:
        """Receive the reward of an arm."""


class Trials:
    """Library objects of all trials, which ``select`` and ``update`` modify.

    Attributes:
        each: the objects, R.
        context: the context that they received last.
        rounds: number of rewards that they received.
    """

    def __init__(self, each: Sequence[Any]):
        self.each, self.context, self.rounds = each, None, 0


class PeerState(NamedTuple):
    """Library objects, and the number of observed rounds."""

    trials: Trials
    rounds: int


@frozen_dataclass
class Peer(ABC):
    """Base class of learners of other libraries. A subclass defines ``needs``, ``start`` and ``select``.

    Departure from the protocol of a learner: the state contains objects of the library, which change in place. Therefore a state can be
    continued only once, and it cannot be saved. Run peers with ``every=math.inf``, as ``field.compete`` does for entries with ``peer=True``.
    """

    wants = "reward"
    needs = ()  # the modules to import
    extra = "peers"  # the extra that installs them

    @classmethod
    def check_packages(cls, user: str) -> None:
        """Raise ImportError, with the name ``user``, if a package is not installed."""
        for module in cls.needs:
            check_installed(module, cls.extra, user)

    @abstractmethod
    def start(self, seed: int) -> Any:
        """Return the library object of a trial."""

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> PeerState:
        """Return new library objects, seeded with the stream "library".

        Raises:
            ImportError: the library is not installed.
        """
        self.check_packages(type(self).__name__)
        seeds = (draw.uniform("library") * 2**31).long().tolist()
        return PeerState(Trials([self.start(seed) for seed in seeds]), 0)

    def update(
        self, state: PeerState, context: Any, action: Tensor, reward: Tensor, draw: Draw
    ) -> PeerState:
        """Report the rewards to the library."""
        held = self._current(state)
        for trial, *seen in zip(held.each, action.tolist(), reward.tolist()):
            trial.learn(*seen)
        held.rounds += 1
        return PeerState(held, held.rounds)

    def _current(self, state: PeerState) -> Trials:
        if state.trials.rounds != state.rounds:
            raise ValueError(
                f"state must be the latest state of {type(self).__name__}, because its library objects change in place, "
                f"got the state of round {state.rounds} after round {state.trials.rounds}"
            )
        return state.trials


@frozen_dataclass
class ArmsPeer(Peer):
    """Base class of bandit algorithms. ``start`` returns a ``Trial``."""

    def select(self, state: PeerState, arms: Tensor, draw: Draw) -> tuple[Tensor, PeerState]:
        """Return the choices of the library, R indices."""
        held = self._current(state)
        if arms is not held.context:
            rows = arms.expand(len(held.each), -1, -1).cpu().numpy()
            for trial, row in zip(held.each, rows):
                trial.show(row)
            held.context = arms
        uniforms = draw.uniform("explore").tolist()
        chosen = [trial.choose(u) for trial, u in zip(held.each, uniforms)]
        return torch.tensor(chosen, device=arms.device), state

    def validate(self, arms: Tensor, arm: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError if arms or rewards are not finite, or the arm does not exist."""
        check_arms(arms, arm)
        if reward is not None:
            check_finite("reward", reward, LARGEST)


# MABWiser ---------------------------------------------------------------------------------------------------


@frozen_dataclass
class MABWiser(ArmsPeer):
    """LinUCB or linear Thompson sampling of MABWiser, with one ridge regression that all arms share.

    MABWiser fits one regression per arm, and a context belongs to a user. An arm with features is therefore a context of a single arm: the
    expectations for the contexts x_1, ..., x_K are the indices of the K arms. With one regression per arm, the rewards of an arm would be
    useless for the other arms. Departure: the library draws a parameter for each context. Therefore Thompson sampling draws a parameter for
    each arm, and not one parameter for all arms.

    Attributes:
        policy: "LinUCB" or "LinTS".
        alpha: factor of the confidence width or of the standard deviation.

    Examples:
        >>> from companion.arena.libraries import MABWiser
        >>> MABWiser("LinUCB").alpha  # the default of the library
        1.0
    """

    needs = ("mabwiser",)
    policy: str = fields.one_of(("LinUCB", "LinTS"))
    alpha: float = fields.positive(1.0)

    def start(self, seed: int) -> Trial:
        """Return a bandit with a single arm."""
        from mabwiser.mab import MAB, LearningPolicy

        policy = getattr(LearningPolicy, self.policy)(alpha=self.alpha)
        return _MABWiserTrial(MAB([SHARED], policy, seed=seed))


SHARED = "shared"  # the single arm, whose contexts are the arms of the problem


class _MABWiserTrial(Trial):
    def __init__(self, bandit: Any):
        self.bandit, self.arms = bandit, None

    def show(self, arms: np.ndarray) -> None:
        if self.arms is None:  # a fit without data sets the prior
            self.bandit.fit(np.empty(0), np.empty(0), np.empty((0, arms.shape[1])))
        self.arms = arms

    def choose(self, uniform: float) -> int:
        indices = self.bandit.predict_expectations(self.arms)
        if isinstance(indices, dict):  # there is one arm
            return 0
        return int(np.argmax([index[SHARED] for index in indices]))

    def learn(self, arm: int, reward: float) -> None:
        self.bandit.partial_fit([SHARED], [reward], self.arms[arm : arm + 1])


# bayesianbandits --------------------------------------------------------------------------------------------


@frozen_dataclass
class BayesianBandits(ArmsPeer):
    """Thompson sampling of bayesianbandits with one model that all arms share, and the features of the arms.

    The model is Bayesian linear regression with known noise, or a generalized linear model with the Laplace approximation. The prior is
    standard normal, as in the library's examples.

    Attributes:
        link: family of the rewards.

    Examples:
        >>> from companion.arena.libraries import BayesianBandits
        >>> from paperlib.glbomd import Poisson
        >>> BayesianBandits(Poisson()).needs
        ('bayesianbandits',)
    """

    needs = ("bayesianbandits",)
    link: Link = Bernoulli()

    def start(self, seed: int) -> Trial:
        """Return a trial without an agent, which needs the number of arms."""
        from bayesianbandits import BayesianGLM, NormalRegressor

        if isinstance(self.link, Gaussian):
            model = NormalRegressor(alpha=1.0, beta=1 / self.link.dispersion)
        else:
            names = {Bernoulli: "logit", Poisson: "log"}
            model = BayesianGLM(link=names[type(self.link)])
        return _BayesianTrial(model, seed)


class _BayesianTrial(Trial):
    CONTEXT = np.zeros((1, 1))  # a round has no features besides those of the arms

    def __init__(self, model: Any, seed: int):
        self.agent, self.model, self.seed = None, model, seed

    def show(self, arms: np.ndarray) -> None:
        from bayesianbandits import (
            Arm,
            FunctionArmFeaturizer,
            LipschitzContextualAgent,
            ThompsonSampling,
        )

        self.arms = arms
        if self.agent is None:
            features = FunctionArmFeaturizer(lambda _, indices: self.arms[indices].T[None])
            indices = [Arm(k) for k in range(len(arms))]
            self.agent = LipschitzContextualAgent(
                indices, ThompsonSampling(), features, self.model, None, self.seed
            )

    def choose(self, uniform: float) -> int:
        return self.agent.pull(self.CONTEXT)[0]

    def learn(self, arm: int, reward: float) -> None:
        self.agent.select_for_update(arm).update(self.CONTEXT, np.array([reward]))


# Vowpal Wabbit ----------------------------------------------------------------------------------------------


@frozen_dataclass
class VowpalWabbit(ArmsPeer):
    """SquareCB of Vowpal Wabbit, a contextual bandit with features of the actions (``--cb_explore_adf --squarecb``).

    The loss is 1/2 minus the reward. Therefore rewards must be between -1/2 and 1/2, because the library expects losses between 0 and 1.

    Attributes:
        scale: divisor of ``--gamma_scale``, whose default is 10; a larger scale explores more.

    Examples:
        >>> from companion.arena.libraries import VowpalWabbit
        >>> VowpalWabbit(scale=0.1).options()
        '--cb_explore_adf --squarecb --gamma_scale 100'
    """

    needs = ("vowpalwabbit",)
    tags = Tags(own_actions=False)  # an update needs the probability of the chosen arm
    scale: float = fields.positive(1.0)

    def options(self) -> str:
        """Return the options of the command line."""
        return f"--cb_explore_adf --squarecb --gamma_scale {10 / self.scale:g}"

    def start(self, seed: int) -> Trial:
        """Return a workspace without data."""
        from vowpalwabbit import Workspace

        return _VowpalTrial(Workspace(f"{self.options()} --random_seed {seed} --quiet"))


class _VowpalTrial(Trial):
    def __init__(self, workspace: Any):
        self.workspace = workspace

    def show(self, arms: np.ndarray) -> None:
        lines = [[f"{j}:{x:.9g}" for j, x in enumerate(arm)] for arm in arms.tolist()]
        self.lines = ["| " + " ".join(line) for line in lines]

    def choose(self, uniform: float) -> int:
        self.examples = self.workspace.parse(self.lines)
        self.probabilities = np.array(self.workspace.predict(self.examples))
        total = self.probabilities.cumsum()
        return int(np.searchsorted(total, uniform * total[-1], side="right"))

    def learn(self, arm: int, reward: float) -> None:
        label = f"0:{0.5 - reward:.9g}:{self.probabilities[arm]:.9g}"
        self.examples[arm].set_label_string(label)
        self.workspace.learn(self.examples)
        self.workspace.finish_example(self.examples)


# Optuna -----------------------------------------------------------------------------------------------------

SAMPLERS = ("TPESampler", "CmaEsSampler", "GPSampler")


@frozen_dataclass
class OptunaSampler(Peer):
    """Sampler of Optuna with its default settings, on the smallest box around the set of the problem.

    Attributes:
        sampler: name of a class of ``optuna.samplers``.

    Examples:
        >>> from companion.arena.libraries import OptunaSampler
        >>> from companion.arena.sets import Placed
        >>> from paperlib.goucb import Rastrigin
        >>> from paperlib.play import play
        >>> play(OptunaSampler("TPESampler"), Placed(Rastrigin(2)), horizon=5, trials=2)["regret"].shape
        (2, 5)
    """

    needs = ("optuna", "cmaes")
    extra = "optimizers"
    sampler: str = fields.one_of(SAMPLERS)

    def start(self, seed: int) -> "_Study":
        """Return a study without trials."""
        import optuna

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = getattr(optuna.samplers, self.sampler)(seed=seed)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        return _Study(optuna.create_study(sampler=sampler, direction="maximize"))

    def select(self, state: PeerState, region: Region, draw: Draw) -> tuple[Tensor, PeerState]:
        """Return the suggestions of the sampler, R x d; a suggestion outside of the set is projected."""
        bounds, cset = region.bounds, region.cset
        ends = [*zip(bounds.lo[0].tolist(), bounds.hi[0].tolist())]
        points = [study.suggest(ends) for study in self._current(state).each]
        return cset.project(torch.tensor(points, dtype=cset.D.dtype, device=cset.D.device)), state

    def validate(self, region: Region, action: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for a context that is not a ``Region``, or numbers that are not finite."""
        if not isinstance(region, Region):
            raise_invalid("context", region, "a Region of a set and its bounding box")
        for name, value in (("action", action), ("reward", reward)):
            if value is not None:
                check_finite(name, value, LARGEST)


class _Study:
    """Study of one trial of the arena. Each round is a trial of the study."""

    def __init__(self, study: Any):
        self.study, self.trial = study, None

    def suggest(self, ends: list[tuple[float, float]]) -> list[float]:
        self.trial = self.study.ask()
        with torch.enable_grad():  # GPSampler computes gradients, which ``play`` turns off
            return [
                self.trial.suggest_float(f"x{j}", low, high) for j, (low, high) in enumerate(ends)
            ]

    def learn(self, point: list[float], reward: float) -> None:
        self.study.tell(self.trial, reward)
