"""The regret experiments: problems, learners with their constants, real data sets, and statistics of the regret.

The paper has no regret experiment, so that we chose all of them. Each problem comes with the factor on the confidence
radius that its figures use, if this factor is not 1. Learners take F and xi from the problem, lambda = xi^2 and delta = 0.1.
There are three experiments. The first compares BKB with exact GP-UCB and with the approximations that the paper warns of. In
the second the learners continue after a warm start on half of the arms. The third has real data sets as arms.
Letters: R trials, T rounds.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from paperlib import stats
from paperlib.bkb.learners.bkb import BKB, MERGES
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.features import QFFUCB, RFFUCB
from paperlib.bkb.learners.fixed import FixedDictionary
from paperlib.bkb.learners.incremental import IncrementalBKB
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.problems import RKHS, WarmRKHS
from paperlib.core.contracts import Learner
from paperlib.core.trace import Trace
from paperlib.core.validation import check_in
from paperlib.learners.reference import UniformArm
from paperlib.learners.wrapper import Scripted

from ...datasets import registry
from ..problems.real import BUNDLED, FETCHED, TableArms

NORM = 3.0  # F for the learners if f has no known norm
QBAR = 5.0  # default oversampling
RESAMPLES = 2000  # number of resamples of each bootstrap

# 200 arms in [0, 1], a rough f and little noise.
RKHS_1D = RKHS(200, 1, gamma=100.0, norm=3.0, noise=0.1)
# Functions of the same norm on the arms of ``RKHS_1D``; the last one is ``RKHS_1D``. A rougher f has more directions to learn.
SMOOTH_TO_ROUGH = {
    f"gamma = {gamma:g}": RKHS(200, 1, gamma=gamma, norm=3.0, noise=0.1)
    for gamma in (3.0, 10.0, 30.0, 100.0)
}
# 500 arms in the unit square, factor 0.3.
RKHS_2D = RKHS(500, 2, gamma=20.0, norm=3.0, noise=0.3)
# 64 arms on a grid of [0, 1], used to compare the bounds with runs.
REFERENCE = RKHS(64, 1, gamma=100.0, norm=3.0, noise=0.1, grid=True)


def dense_1d(arms: int) -> RKHS:
    """Return a problem with many arms in [0, 1], a smooth f and much noise: a large sample of few directions."""
    return RKHS(arms, 1, gamma=10.0, norm=3.0, noise=1.0)


def dense_2d_hard(arms: int) -> RKHS:
    """Return a problem with many arms in the unit square, a rough f and little noise; factor 0.2.

    There are nearly as many directions as pulled arms.
    """
    return RKHS(arms, 2, gamma=30.0, norm=3.0, noise=0.1)


def confidence(problem: RKHS | WarmRKHS | TableArms, scale: float = 1.0) -> Confidence:
    """Return the rule ``practical`` with xi and F of the problem, lambda = xi^2 and delta = 0.1.

    ``scale``: factor on the radius.
    """
    return Confidence(problem.noise, getattr(problem, "norm", NORM), scale=scale)


def regret_ratio(trace: Trace, exact: Trace) -> stats.Interval:
    """Return the ratio of mean final regrets, with a bootstrap interval over the trials that both runs have."""
    return stats.ratio(trace.last(), exact.last(), of="final regrets", resamples=RESAMPLES)


def exponent(trace: Trace) -> stats.Interval:
    """Return the log-log slope of the mean regret from round T / 4 on, with a bootstrap interval over trials."""
    return stats.growth(
        trace.rounds, trace["regret"], first=trace.rounds[-1] / 4, resamples=RESAMPLES
    )


# BKB compared with exact GP-UCB ---------------------------------------------------------------------------

QBARS = (1.0, 2.0, 3.0, 5.0, 10.0)  # oversampling
# Nodes of the quadrature by dimension. On the arms of ``RKHS_1D`` and ``RKHS_2D`` they approximate the kernel within 4e-4,
# whereas 60 and 15 nodes hardly approximate it at all.
NODES = {1: 80, 2: 25}


def sketch_name(qbar: float = QBAR, merge: str = "pulls") -> str:
    """Return the name of a BKB: with its qbar unless that is 5, and with "arms" for one Bernoulli sample per arm."""
    return ("BKB" if qbar == QBAR else f"BKB {qbar:g}") + (", arms" if merge == "arms" else "")


# Name -> qbar and the unit of sampling, pulls or arms.
SKETCHES = {sketch_name(qbar, merge): (qbar, merge) for merge in MERGES for qbar in QBARS}


def parity_learners(problem: RKHS, scale: float = 1.0) -> dict[str, Learner]:
    """Return exact GP-UCB, BKB for all qbar and both ways of sampling, approximations of the posterior, and uniform play.

    The paper names these approximations, or warns of them.
    """
    known = {"kernel": problem.kernel, "confidence": confidence(problem, scale)}
    return {
        "GP-UCB": ExactGPUCB(**known),
        **{name: BKB(**known, qbar=qbar, merge=merge) for name, (qbar, merge) in SKETCHES.items()},
        "BKB, incremental": IncrementalBKB(**known, qbar=QBAR),
        "SoR": BKB(**known, qbar=QBAR, variance="sor"),
        "SoR, fixed": FixedDictionary(**known, size=20, variance="sor"),
        "DTC, fixed": FixedDictionary(**known, size=20),
        **{f"RFF {size}": RFFUCB(**known, size=size) for size in (50, 200)},
        f"QFF {NODES[problem.dim]}": QFFUCB(**known, size=NODES[problem.dim]),
        "uniform": UniformArm(),
    }


def parity_ratios(traces: dict[str, Trace]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Return the final regret divided by the final regret of exact GP-UCB, for ``charts.dots_panel``.

    BKB has one row per qbar and one group per way of sampling. Every other learner is a group of one row.

    Returns:
        Group -> row -> geometric mean, low, high.
    """
    exact, found = traces["GP-UCB"].last(), {}
    for name in (name for name in traces if name != "GP-UCB"):
        group = row = name
        if name in SKETCHES:
            qbar, merge = SKETCHES[name]
            group, row = sketch_name(merge=merge), f"BKB, $\\bar q$ = {qbar:g}"
        ratio = stats.geometric_ratio(traces[name].last(), exact)
        found.setdefault(group, {})[row] = tuple(ratio[:3])
    return found


# After a warm start ---------------------------------------------------------------------------------------

WARM_SIZES = (20, 30, 50, 100)  # features after a warm start
LATE = 100  # number of last rounds whose regret decides whether a trial is stuck


def warm_learners(problem: WarmRKHS, rounds: int, scale: float = 0.2) -> dict[str, Learner]:
    """Return exact GP-UCB, BKB and approximations with variance starvation, after ``rounds`` rounds in the left half of the arms."""
    known = {"kernel": problem.kernel, "confidence": confidence(problem, scale)}
    bases = {
        "GP-UCB": ExactGPUCB(**known),
        "BKB": BKB(**known, qbar=QBAR),
        "SoR": BKB(**known, qbar=QBAR, variance="sor"),
        **{f"RFF {size}": RFFUCB(**known, size=size) for size in WARM_SIZES},
    }
    return {name: Scripted(base, UniformArm(problem.left), rounds) for name, base in bases.items()}


def since(trace: Trace, rounds: int) -> Trace:
    """Return the run after round ``rounds``, with rounds and regret counted from there.

    Raises:
        ValueError: round ``rounds`` was not recorded.
    """
    later = trace.rounds > rounds
    return dataclasses.replace(
        trace,
        rounds=trace.rounds[later] - rounds,
        series={"regret": trace["regret"][:, later] - trace.at(rounds)[:, None]},
        seconds=trace.seconds[later],
    )


def watched(horizon: int, warm: int) -> list[int]:
    """Return the rounds to record: 100 evenly spaced ones, and the rounds that ``since(trace, warm)`` and ``late_loss`` need."""
    even = np.ceil(np.arange(1, 101) * horizon / 100).astype(int) + warm
    return sorted({*even.tolist(), *(t for t in (warm, warm + horizon - LATE) if t > 0)})


def late_loss(trace: Trace, rounds: int = LATE) -> np.ndarray:
    """Return the average regret of the last ``rounds`` rounds, R.

    Raises:
        ValueError: the round before them was not recorded.
    """
    return (trace.last() - trace.at(int(trace.rounds[-1]) - rounds)) / rounds


def stuck(trace: Trace, exact: Trace) -> np.ndarray:
    """Return the trials whose ``late_loss`` is above ten times the mean ``late_loss`` of exact GP-UCB, R bool."""
    return late_loss(trace) > 10.0 * late_loss(exact).mean()


# Real data as arms ----------------------------------------------------------------------------------------


class ArmSet(NamedTuple):
    """Settings of the runs on a data set."""

    scale: float  # factor on the radius
    chunk: int  # trials at once, because exact GP-UCB stores 8 bytes per trial, arm and round
    lazy: bool  # whether to run LazyBKB instead of BKB


ARM_SETS = {
    "diabetes": ArmSet(0.5, 5, False),
    "digits": ArmSet(0.2, 5, False),
    "abalone": ArmSet(0.5, 5, True),
    "california_housing": ArmSet(0.5, 2, True),
}


def real_learners(problem: TableArms) -> dict[str, Learner]:
    """Return the learners of a data set, with the radius factor of ``ARM_SETS``; LazyBKB replaces BKB on the two large sets."""
    how = ARM_SETS[problem.name]
    known = {"kernel": problem.kernel, "confidence": confidence(problem, how.scale)}
    sketch, name = (LazyBKB, "LazyBKB") if how.lazy else (BKB, "BKB")
    return {
        "GP-UCB": ExactGPUCB(**known),
        name: sketch(**known, qbar=QBAR),
        "SoR": sketch(**known, qbar=QBAR, variance="sor"),
        "RFF 100": RFFUCB(**known, size=100),
        "uniform": UniformArm(),
    }


def arm_sets(data: str) -> tuple[list[str], dict[str, str]]:
    """Return the data sets of a run, and the reason why each other set is left out, by name.

    Args:
        data: "bundled" for the sets that scikit-learn ships; "auto" also for the other sets, if they are on this machine
            or can be downloaded; "real" for all sets.

    Raises:
        ValueError: another string, or a file that differs from the registry's.
        FileNotFoundError: "real", and one set is not available.
    """
    check_in("data", data, ("bundled", "auto", "real"))
    if data == "bundled":
        return list(BUNDLED), dict.fromkeys(FETCHED, "bundled data only")
    found, missing = list(BUNDLED), {}
    for name in FETCHED:
        try:
            registry.fetch(name)
            found.append(name)
        except FileNotFoundError:
            if data == "real":
                raise
            missing[name] = "the file is not available"
    return found, missing
