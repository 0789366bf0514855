"""The field of finitely many arms: its problems, its learners, and the constants of both tracks.

Constants of the track "theory": those of the theorems, with failure probability 0.01. Departures are listed at the learners.
Constants of the track "tuned": the theory's confidence radius, or the standard deviation of Thompson sampling, times one scale.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch

from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.contextual import ContextualBKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.problems import RKHS
from paperlib.core.contracts import Learner, Problem, check_kind
from paperlib.core.streams import Streams
from paperlib.core.validation import raise_invalid
from paperlib.glbomd.learners.controls import UCB1, BetaThompson, LaplaceThompson
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.learners.ofuglb import OFUGLB
from paperlib.glbomd.model.links import Bernoulli, Gaussian, Link, Poisson
from paperlib.glbomd.problems import FixedArms
from paperlib.learners.multiscale import Multiscale
from paperlib.learners.reference import UniformArm
from paperlib.linear.learners import OFUL
from paperlib.maths.gp import Kernel, Linear
from paperlib.nsbco.learners.exp3 import Exp3IX, regret_bound
from paperlib.nsbco.learners.reduction import StationaryToWeak

from ..bkb.problems.real import TableArms
from ..glbomd.problems.covertype import Covertype
from .field import DELTA, OWN, UNIFORM, ArenaLearner, first_context
from .learners import LinearThompson, Rescaled
from .problems import FreshGLMArms, UnrelatedArms

FLAT = "no features"  # family without features, which learners with features cover too
FIXED, FRESH, SMOOTH = "fixed arms", "fresh arms", "functions and tables"
_noisy = Gaussian(0.25)  # standard deviation 0.5


@dataclass(frozen=True)
class Known:
    """Information about a problem; every learner receives the same.

    Attributes:
        link: family of the rewards. Gaussian for a function that is not linear in the features.
        norm_bound: bound on the norm of theta*, or on the norm of the function in the kernel's space.
        kernel: similarity of arms. Linear for rewards that depend on x^T theta*.
        fixed: True if the arms are the same in all rounds.
        arms: number of arms K.
        horizon: number of rounds T.
    """

    link: Link
    norm_bound: float
    kernel: Kernel
    fixed: bool
    arms: int
    horizon: int

    @property
    def noise(self) -> float:
        """Sub-Gaussian scale of the noise. Poisson noise is not sub-Gaussian; it gets the largest standard deviation."""
        if isinstance(self.link, Bernoulli):
            return 0.5
        if isinstance(self.link, Poisson):
            return math.exp(self.norm_bound / 2)
        return math.sqrt(self.link.dispersion)

    @property
    def center(self) -> float:
        """Expected reward of an arm without information, mu(0). Learners without a link receive rewards minus this number."""
        return float(self.link.mean(torch.zeros(())))

    @property
    def function_bound(self) -> float:
        """Bound on the norm of the centered mean reward as a linear function or a function of the kernel's space.

        A mean mu(z) - mu(0) is at most the largest slope times |z|.
        """
        return self.link.max_slope(self.norm_bound) * self.norm_bound

    @property
    def reach(self) -> float:
        """Half the width of an interval around ``center`` that contains nearly all rewards."""
        if isinstance(self.link, Bernoulli):
            return 0.5
        return self.function_bound + 3 * self.noise


class ArmsProblem(NamedTuple):
    """A problem with finitely many arms, see ``ArenaProblem``.

    Attributes:
        problem, family, group: see ``ArenaProblem``.
        link, norm_bound, kernel, fixed: see ``Known``.
    """

    problem: Problem
    family: str
    group: str
    link: Link
    norm_bound: float
    kernel: Kernel
    fixed: bool = True

    def known(self, horizon: int) -> Known:
        """Return the information that every learner receives."""
        return Known(*self[3:6], self.fixed, first_context(self.problem).shape[1], horizon)


def _model(link, norm: float, fresh: bool) -> ArmsProblem:
    """Return a generalized linear bandit with 20 arms in five dimensions."""
    family = {Gaussian: "linear", Bernoulli: "logistic", Poisson: "Poisson"}[type(link)]
    problem = FreshGLMArms(link, norm) if fresh else FixedArms(link, norm, per_trial=True)
    group = FRESH if fresh else FIXED
    return ArmsProblem(problem, family, group, link, norm, Linear(), fixed=not fresh)


def _table(name: str) -> ArmsProblem:
    """Return a table of real data as arms; the norm bound is a guess, because the function is not known."""
    problem = TableArms(name, noise=0.5)
    return ArmsProblem(problem, "table", SMOOTH, _noisy, 3.0, problem.kernel)


def _smooth(dim: int, gamma: float) -> ArmsProblem:
    problem = RKHS(arms=100, dim=dim, gamma=gamma, norm=3.0, noise=0.5)
    return ArmsProblem(problem, "smooth", SMOOTH, _noisy, 3.0, problem.kernel)


def _flat(arms: int) -> ArmsProblem:
    """Return arms without features."""
    problem = UnrelatedArms(arms)
    return ArmsProblem(problem, FLAT, FIXED, problem.link, problem.norm, Linear())


# Each problem is built when it is needed, because a table is read from disk or downloaded.
PROBLEMS = {
    "linear": partial(_model, _noisy, 1.0, fresh=False),
    "logistic": partial(_model, Bernoulli(), 3.0, fresh=False),
    "Poisson": partial(_model, Poisson(), 1.0, fresh=False),
    "no features": partial(_flat, 10),
    "Covertype": lambda: ArmsProblem(Covertype(), "Covertype", FIXED, Bernoulli(), 6.0, Linear()),
    "linear, fresh": partial(_model, _noisy, 1.0, fresh=True),
    "logistic, fresh": partial(_model, Bernoulli(), 3.0, fresh=True),
    "Poisson, fresh": partial(_model, Poisson(), 1.0, fresh=True),
    "smooth, 1-d": partial(_smooth, 1, 50.0),
    "smooth, 2-d": partial(_smooth, 2, 10.0),
    "diabetes": partial(_table, "diabetes"),
    "abalone": partial(_table, "abalone"),
}


def _factor(scale: float | None) -> float:
    return 1.0 if scale is None else scale


def _centered(learner: Learner, known: Known) -> Learner:
    return Rescaled(learner, known.center) if known.center else learner


def _linear(kind: type, known: Known, scale: float | None) -> Learner:
    """Return a linear learner of the centered rewards."""
    how = {"delta": DELTA, "scale": _factor(scale)}
    return _centered(kind(known.noise, known.function_bound, **how), known)


def _glbomd(known: Known, scale: float | None) -> Learner:
    """Return GLB-OMD; in the track "tuned" with ridge d, as in the paper's figures."""
    ridge = "sharp" if scale is None else "dim"
    return GLBOMD(known.link, known.norm_bound, DELTA, ridge, _factor(scale))


def _ofuglb(known: Known, scale: float | None) -> Learner:
    return OFUGLB(known.link, known.norm_bound, DELTA, _factor(scale), counts=known.fixed)


def _kernel(kind: type, known: Known, scale: float | None) -> Learner:
    """Return a kernel learner of the centered rewards, with the radius that is valid for the exact posterior."""
    confidence = Confidence(known.noise, known.function_bound, delta=DELTA, scale=_factor(scale))
    return _centered(kind(known.kernel, confidence), known)


def _bkb(known: Known, scale: float | None) -> Learner:
    """Return BKB. Departure in both tracks: qbar = 5; with the theorem's hundreds it is GP-UCB with fixed arms."""
    return _kernel(BKB if known.fixed else ContextualBKB, known, scale)


def _ucb1(known: Known, scale: float | None) -> Learner:
    """Return UCB1 of rewards divided by twice the noise, because its bonus is for a noise of 1/2."""
    return Rescaled(UCB1(_factor(scale)), known.center, 2 * known.noise)


def _laplace(known: Known, scale: float | None) -> Learner:
    """Return Laplace Thompson sampling with a standard normal prior; no theorem covers it in either track."""
    return LaplaceThompson(known.link, scale=_factor(scale))


def _master(known: Known, scale: float | None) -> Learner:
    """Return MASTER around Exp3-IX; the scale multiplies the thresholds of its tests, 9 rho-hat and 3 rho-hat."""
    weak = StationaryToWeak(Exp3IX(), *regret_bound(known.arms, known.horizon), known.horizon)
    # ``Multiscale`` adds the factor log2 T + 1 of rho-hat.
    hat = 6 * _factor(scale) * float(weak.rho(1))
    learner = Multiscale(weak, 9 * hat, 3 * hat, logarithmic=("A1", "A2"))
    return Rescaled(learner, known.center, known.reach, 1.0)


def _greedy(known: Known, scale: float | None) -> Learner:
    """Return greedy play: the best arm of the ridge estimate or of the posterior mean."""
    if known.fixed:
        return _kernel(ExactGPUCB, known, 0.0)
    return _linear(OFUL, known, 0.0)


GLM = ("linear", "logistic", "Poisson")
FAMILIES = (*GLM, FLAT, "Covertype", "smooth", "table")

LEARNERS = {
    "OFUL": ArenaLearner(
        partial(_linear, OFUL),
        ("linear", FLAT),
        ("logistic", "Poisson", "Covertype", "table"),
        fresh=True,
    ),
    "linear Thompson": ArenaLearner(
        partial(_linear, LinearThompson),
        ("linear", FLAT),
        ("logistic", "Poisson", "Covertype", "table"),
        fresh=True,
    ),
    "GLB-OMD": ArenaLearner(_glbomd, (*GLM, FLAT), ("Covertype",), fresh=True),
    "OFUGLB": ArenaLearner(_ofuglb, ("logistic", "Poisson", FLAT), ("Covertype",), fresh=True),
    "GP-UCB": ArenaLearner(
        partial(_kernel, ExactGPUCB),
        ("linear", FLAT, "smooth"),
        ("logistic", "Poisson", "Covertype", "table"),
    ),
    "BKB": ArenaLearner(
        _bkb,
        ("linear", FLAT, "smooth"),
        ("logistic", "Poisson", "Covertype", "table"),
        fresh=True,
    ),
    "Laplace Thompson": ArenaLearner(_laplace, (*GLM, FLAT), ("Covertype",)),
    "Beta Thompson": ArenaLearner(
        lambda known, scale: BetaThompson(), ("logistic", FLAT, "Covertype"), scaled=False
    ),
    "UCB1": ArenaLearner(_ucb1, FAMILIES),
    "MASTER": ArenaLearner(_master, FAMILIES),
    "greedy": ArenaLearner(_greedy, FAMILIES, fresh=True, scaled=False),
    UNIFORM: ArenaLearner(lambda known, scale: UniformArm(), FAMILIES, fresh=True, scaled=False),
}


def own_problem(thing: Any) -> ArmsProblem:
    """Return the entry of a user's problem with arms.

    Its attributes, if it has them, are the information: ``link``, ``noise``, ``norm_bound`` or ``norm``, and ``kernel``. Without a link
    the rewards are Gaussian with standard deviation ``noise``, by default 1. The arms are fixed if the first two rounds have the same.

    Raises:
        ValueError: not a problem, or a context that is not a tensor of arms.
    """
    problem = thing() if callable(thing) else thing
    check_kind("problem", problem)
    link: Link = getattr(problem, "link", None) or Gaussian(getattr(problem, "noise", 1.0) ** 2)
    norm = getattr(problem, "norm_bound", getattr(problem, "norm", 1.0))
    kernel = getattr(problem, "kernel", None)
    family = {Bernoulli: "logistic", Poisson: "Poisson"}.get(type(link), "linear")
    draw = Streams(0, range(1)).at(-1)
    instance = problem.init(1, 2, draw, dtype=torch.float64)
    first, second = (problem.context(instance, t) for t in range(2))
    if not torch.is_tensor(first):
        raise_invalid("context", first, "a tensor of arms, which the field arms plays")
    family = "smooth" if kernel is not None else family
    return ArmsProblem(
        problem, family, OWN, link, norm, kernel or Linear(), torch.equal(first, second)
    )
