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

PAPER = ["GO-UCB", "GP-UCB, raw", "GP-EI, raw", "GP-PI, raw", "TuRBO-1"]  # the paper's five
OWN = ["GP-UCB, optimize_acqf", "GP-EI, optimize_acqf", "GP-PI, optimize_acqf"]  # BoTorch's search
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
TWINS = {"GO-UCB": "repeat-best", "GO-UCB, uniform start": "uniform"}  # what each does, in effect
PACKAGES = {"TPE": "optuna", "scikit-optimize": "scikit-optimize"}  # of the extra "optimizers"
MODULES = {  # of the packages that the baselines use
    "botorch": "botorch",
    "gpytorch": "gpytorch",
    "scikit-learn": "sklearn",
    "optuna": "optuna",
    "scikit-optimize": "skopt",
}
ALONG = ["GO-UCB, practical", "GP-EI, modern", "uniform"]  # against the dimension


class Size(NamedTuple):
    """What the quick profile saves."""

    ascent: int = 2000  # steps of the literal ascent; their sizes multiply to .2
    fit: int | None = None  # steps of a GP's fit and of its acquisition's; None: the learner's own
    candidates: int | None = None  # TuRBO's; None: min(100 d, 5000)


class Setting(NamedTuple):
    """A function of Figure 2."""

    problem: Problem
    n: int  # points of Phase I
    T: int  # rounds of Phase II
    F: float  # the largest |f|, which is not printed


FULL = Size()


def chunk(name: str, trials: int) -> int:
    """Trials that are played as one batch: a round of most costs little more for twenty than for one, TuRBO's more for each the more there are."""
    return min(trials, 5) if name == "TuRBO-1" else trials


def functions(rounds: int) -> dict[str, Setting]:
    """Return f1 to f3 as printed, and the teacher. ``rounds``: T of f2, f3 and the teacher, which has at most 40.

    F is sup |f| over the box, which is not printed.
    """
    return {
        "f1": Setting(SigmoidSum(), 5, 25, 26.0),
        "f2": Setting(StyblinskiTang(), 8, rounds, 2500.0),
        "f3": Setting(Rastrigin(), 8, rounds, 807.066),
        "teacher": Setting(Teacher(), 10, min(rounds, 40), 5.0),
    }


def learners(n: int, F: float, size: Size = FULL) -> dict[str, Learner]:
    """All learners of the figures by name, with ``n`` points of Phase I and |f| at most ``F``."""
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
    """Which learners play which function; not ``full``: those that a minute allows."""
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
    """Return the printed settings with each start of the ascent, and with each initialization of the network from the uniform start."""
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
