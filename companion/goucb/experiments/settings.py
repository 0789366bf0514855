"""The learners, their settings and their problems in all figures of this paper."""

from importlib import metadata
from importlib.util import find_spec
from typing import NamedTuple

from paperlib.core.contracts import Learner, Problem
from paperlib.goucb.learners.acquisition import Joint
from paperlib.goucb.learners.botorch_default import MAPSAAS, BoTorchDefault
from paperlib.goucb.learners.goucb import GOUCB
from paperlib.goucb.learners.gp import GP, GPOptimizeAcqf, QLogNEI
from paperlib.goucb.learners.oracle import GradientDescent
from paperlib.goucb.learners.presets import algorithm1, literal, practical
from paperlib.goucb.learners.search import RepeatBest, UniformPoint
from paperlib.goucb.learners.sequential import Optuna, ScikitOptimize
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.problems.synthetic import Rastrigin, SigmoidSum, StyblinskiTang, Teacher

PAPER = ["GO-UCB", "GP-UCB, raw", "GP-EI, raw", "GP-PI, raw", "TuRBO-1"]  # the paper's five methods
# GP-UCB, GP-EI and GP-PI (raw) with BoTorch's search.
OWN = ["GP-UCB, optimize_acqf", "GP-EI, optimize_acqf", "GP-PI, optimize_acqf"]
CONTROLS = ["repeat-best", "uniform"]
SECOND = [
    "GO-UCB, practical",
    "GO-UCB, Algorithm 1",
    "GO-UCB, uniform start",
    "GP-EI, scaled",
    "GP-EI, modern",
    "GP-PI, modern",
]
RIVALS = ["GP-EI, scaled", "GP-EI, modern", "GP-PI, modern", "GP-UCB, modern"]
# Each of these methods is compared with its control.
TWINS = {"GO-UCB": "repeat-best", "GO-UCB, uniform start": "uniform"}
PACKAGES = {"TPE": "optuna", "scikit-optimize": "scikit-optimize"}  # in the extra "optimizers"
MODULES = {  # of the packages that the baselines use
    "botorch": "botorch",
    "gpytorch": "gpytorch",
    "scikit-learn": "sklearn",
    "optuna": "optuna",
    "scikit-optimize": "skopt",
}
# The learners in the figure over the dimension.
ALONG = ["GO-UCB, practical", "GP-EI, modern", "uniform"]


class Size(NamedTuple):
    """Sizes of the internal optimizers, which the quick profile reduces."""

    ascent: int = 2000  # steps of the literal ascent; steps times step size is 0.2
    # Steps of a GP's fit and of its acquisition's maximization; None: the learner's default.
    fit: int | None = None
    candidates: int | None = None  # candidates of TuRBO; None: min(100 d, 5000)


class Setting(NamedTuple):
    """A function of Figure 2 with its budget."""

    problem: Problem
    n: int  # points of Phase I
    T: int  # rounds of Phase II
    F: float  # the largest |f|, which the paper does not state


FULL = Size()


def chunk(name: str, trials: int) -> int:
    """Return the number of trials per batch.

    For most learners a round costs little more for twenty trials than for one. For TuRBO the cost per trial increases with the batch.
    """
    return min(trials, 5) if name == "TuRBO-1" else trials


def functions(rounds: int) -> dict[str, Setting]:
    """Return f1 to f3 as in the paper, and the teacher. ``rounds``: T, but at most 25 for f1 and at most 40 for the teacher.

    F is sup |f| over the box, which the paper does not state.
    """
    return {
        "f1": Setting(SigmoidSum(), 5, min(rounds, 25), 26.0),
        "f2": Setting(StyblinskiTang(), 8, rounds, 2500.0),
        "f3": Setting(Rastrigin(), 8, rounds, 807.066),
        "teacher": Setting(Teacher(), 10, min(rounds, 40), 5.0),
    }


def learners(n: int, F: float, size: Size = FULL) -> dict[str, Learner]:
    """Return all learners of the figures by name, with ``n`` points of Phase I and |f| at most ``F``."""
    rate = 0.2 / size.ascent
    steps = {} if size.fit is None else {"fit_steps": size.fit, "steps": size.fit}
    gp = lambda prior, acquisition: GP(n, prior, acquisition, **steps)
    start = lambda name: literal(n, F, acquisition=Joint(size.ascent, rate, name))
    return {
        "GO-UCB": start("incumbent"),
        "GO-UCB, uniform start": start("uniform"),
        "GO-UCB, Algorithm 1": algorithm1(n),
        "GO-UCB, practical": practical(n),
        "GO-UCB, no trust region": practical(n, trust=None),
        "GP-UCB, raw": gp("legacy-raw", "UCB"),
        "GP-EI, raw": gp("legacy-raw", "EI"),
        "GP-PI, raw": gp("legacy-raw", "PI"),
        "GP-EI, scaled": gp("legacy-scaled", "EI"),
        "GP-EI, modern": gp("modern", "EI"),
        "GP-PI, modern": gp("modern", "PI"),
        "GP-UCB, modern": gp("modern", "UCB"),
        **{
            f"GP-{name}, optimize_acqf": GPOptimizeAcqf(gp("legacy-raw", name))
            for name in ("UCB", "EI", "PI")
        },
        "qLogNEI, modern": QLogNEI(n),
        "MAP-SAAS": MAPSAAS(n),
        "BoTorch, default": BoTorchDefault(n),
        "TuRBO-1": TuRBO(n, candidates=size.candidates),
        "TPE": Optuna(n),
        "scikit-optimize": ScikitOptimize(n),
        "uniform": UniformPoint(n),
        "repeat-best": RepeatBest(n),
    }


def versions() -> dict[str, str | None]:
    """Return the versions of the packages that the baselines use; None: not installed."""
    return {
        package: metadata.version(package) if find_spec(module) else None
        for package, module in MODULES.items()
    }


def lacking(names: list[str]) -> list[str]:
    """Return the learners whose optional package is not installed."""
    return [name for name in names if name in PACKAGES and versions()[PACKAGES[name]] is None]


def plan(full: bool) -> dict[str, list[str]]:
    """Return the learners that play each function. If not ``full``, only those that fit into one minute."""
    if full:
        every = [*PAPER, *SECOND, "GP-UCB, modern", "GO-UCB, no trust region", *CONTROLS]
        return dict.fromkeys(("f1", "f2", "f3", "teacher"), every)
    few = ["GO-UCB", "GP-EI, raw", "GO-UCB, practical", *CONTROLS]
    return {
        "f1": [*PAPER, "GO-UCB, practical", "GO-UCB, uniform start", *CONTROLS],
        "f2": [*few, "TuRBO-1"],
        "f3": few,
        "teacher": ["GO-UCB, practical", "GP-EI, modern", *CONTROLS],
    }


def starts(n: int, F: float, ascent: int) -> dict[str, GOUCB]:
    """Return the paper's settings with each start of the ascent, and from the uniform start with each initialization of the network."""
    search = {
        start: Joint(ascent, 0.2 / ascent, start)
        for start in ("incumbent", "uniform", "center", "last")
    }
    found = {start: literal(n, F, acquisition=joint) for start, joint in search.items()}
    for weights in ("ones", "uniform01"):
        oracle = GradientDescent(start=weights)
        label = f"uniform, weights {weights}"
        found[label] = literal(n, F, oracle=oracle, acquisition=search["uniform"])
    return found
