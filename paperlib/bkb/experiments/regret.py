"""The settings of the regret experiments: which learners, with which constants, and what is read off their runs.

All are ours: the paper has no regret experiment. Learners that are compared share one ``Confidence``.
Letters: R trials, T rounds.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from ...datasets import registry as datasets
from ... import stats
from ...learners.scripted import Scripted
from ...core.contracts import Learner
from ...core.trace import Trace
from ...learners.reference import UniformArm
from ...core.validation import one_of
from ..learners.bkb import BKB, MERGES
from ..model.confidence import Confidence
from ..learners.exact import ExactGPUCB
from ..learners.features import RFFUCB
from ..learners.fixed import FixedDictionary
from ..learners.lazy import LazyBKB
from ..problems.synthetic import RKHS, WarmRKHS
from ..problems.real import BUNDLED, FETCHED, TableArms
from ..learners.uniform import UniformIn

NORM = 3.0                          # F for learners where f has no known norm
QBARS = (1.0, 2.0, 3.0, 5.0, 10.0)  # oversampling
QBAR = 5.0                          # where nothing else is said
WARM_SIZES = (20, 30, 50, 100)      # features after a warm start
LATE = 100                          # last rounds that tell whether a trial is stuck
RESAMPLES = 2000                    # of each bootstrap
DATA = ("bundled", "auto", "real")


class ArmSet(NamedTuple):
    """How a data set is played."""

    scale: float  # factor on the radius
    chunk: int    # trials at once: exact GP-UCB keeps 8 bytes for each trial, arm and round
    lazy: bool    # LazyBKB instead of BKB


ARM_SETS = {
    "diabetes": ArmSet(0.5, 5, False), "digits": ArmSet(0.2, 5, False),
    "abalone": ArmSet(0.5, 5, True), "california_housing": ArmSet(0.5, 2, True),
}


def confidence(problem: RKHS | WarmRKHS | TableArms, scale: float = 1.0) -> Confidence:
    """The rule ``practical`` with xi and F of the problem, lambda = xi^2, delta = .1. ``scale``: factor on the radius."""
    return Confidence(problem.noise, getattr(problem, "norm", NORM), scale=scale)


def sketch_name(qbar: float = QBAR, merge: str = "pulls") -> str:
    """How BKB is called: by its qbar unless that is 5, and "arms" where a coin is tossed an arm."""
    return ("BKB" if qbar == QBAR else f"BKB {qbar:g}") + (", arms" if merge == "arms" else "")


def parity_learners(problem: RKHS, scale: float = 1.0) -> dict[str, Learner]:
    """Exact GP-UCB, BKB with every qbar and both ways to toss coins, what the paper warns of, and uniform play."""
    known = {"kernel": problem.kernel, "confidence": confidence(problem, scale)}
    return {
        "GP-UCB": ExactGPUCB(**known),
        **{sketch_name(qbar, merge): BKB(**known, qbar=qbar, merge=merge) for merge in MERGES for qbar in QBARS},
        "SoR": BKB(**known, qbar=QBAR, variance="sor"),
        "SoR, fixed": FixedDictionary(**known, size=20, variance="sor"),
        "DTC, fixed": FixedDictionary(**known, size=20),
        **{f"RFF {size}": RFFUCB(**known, size=size) for size in (50, 200)},
        "uniform": UniformArm(),
    }


def warm_learners(problem: WarmRKHS, rounds: int, scale: float = 0.2) -> dict[str, Learner]:
    """Exact GP-UCB, BKB and what may starve, each after ``rounds`` rounds that draw from the left half of the arms."""
    known = {"kernel": problem.kernel, "confidence": confidence(problem, scale)}
    bases = {
        "GP-UCB": ExactGPUCB(**known),
        "BKB": BKB(**known, qbar=QBAR),
        "SoR": BKB(**known, qbar=QBAR, variance="sor"),
        **{f"RFF {size}": RFFUCB(**known, size=size) for size in WARM_SIZES},
    }
    return {name: Scripted(base, UniformIn(problem.left), rounds) for name, base in bases.items()}


def real_learners(problem: TableArms) -> dict[str, Learner]:
    """The learners on a data set, with the factor of ``ARM_SETS``; on the two large ones LazyBKB, threshold 2."""
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
    """The data sets of a run, and why others are left out, by name.

    Args:
        data: "bundled", those that scikit-learn ships; "auto", also the others where they are at hand or can be
            downloaded; "real", all.

    Raises:
        ValueError: another word, or a file that is not the registry's; FileNotFoundError: "real", and one cannot be had.
    """
    one_of("data", data, DATA)
    if data == "bundled":
        return list(BUNDLED), dict.fromkeys(FETCHED, "bundled data only")
    found, missing = list(BUNDLED), {}
    for name in FETCHED:
        try:
            datasets.fetch(name)
            found.append(name)
        except FileNotFoundError:
            if data == "real":
                raise
            missing[name] = "the file could not be had"
    return found, missing


def final(trace: Trace) -> np.ndarray:
    """Regret after the last round, R."""
    return trace["regret"][:, -1]


def regret_ratio(trace: Trace, exact: Trace) -> stats.Interval:
    """Ratio of mean final regrets, bootstrap over the trials that both have."""
    return stats.ratio(final(trace), final(exact), of="final regrets", resamples=RESAMPLES)


def parity_ratios(traces: dict[str, Trace]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Final regret against exact GP-UCB's as ``charts.dots_panel`` wants it: learner -> row -> geometric mean, low, high.

    BKB's rows are its values of qbar, in a group for each way to toss coins; every other learner has a row of its own.
    """
    exact, found = final(traces["GP-UCB"]), {}
    rows = {sketch_name(qbar, merge): (sketch_name(merge=merge), f"BKB, $\\bar q$ = {qbar:g}") for merge in MERGES for qbar in QBARS}
    for name in sorted(traces.keys() - {"GP-UCB"}, key=list(traces).index):
        group, row = rows.get(name, (name, name))
        found.setdefault(group, {})[row] = tuple(stats.geometric_ratio(final(traces[name]), exact)[:3])
    return found


def exponent(trace: Trace) -> stats.Interval:
    """Log-log slope of the mean regret over the recorded rounds from T / 4 on, bootstrap over trials."""
    return stats.growth(trace.rounds, trace["regret"], first=trace.rounds[-1] / 4, resamples=RESAMPLES)


def _at(trace: Trace, t: int) -> np.ndarray:
    """Regret after round ``t``, R; 0 before the first.

    Raises:
        ValueError: that round was not recorded.
    """
    if t == 0:
        return np.zeros(len(trace.trials))
    if t not in trace.rounds:
        raise ValueError(f"t={t}; allowed: 0 or a recorded round")
    return trace["regret"][:, np.searchsorted(trace.rounds, t)]


def after(trace: Trace, rounds: int) -> Trace:
    """The run from round ``rounds`` + 1 on, as if it began there: rounds and regret are counted anew.

    Raises:
        ValueError: round ``rounds`` was not recorded, or none after it.
    """
    later = trace.rounds > rounds
    if not later.any():
        raise ValueError(f"rounds={rounds}; allowed: less than the last recorded round, {trace.rounds[-1]}")
    regret = trace["regret"][:, later] - _at(trace, rounds)[:, None]
    return dataclasses.replace(trace, rounds=trace.rounds[later] - rounds, series={"regret": regret}, seconds=trace.seconds[later])


def watched(horizon: int, warm: int = 0, points: int = 100) -> list[int]:
    """Rounds to record so that ``after(trace, warm)`` and ``late_loss`` can be taken: evenly spaced ones, and theirs."""
    even = np.ceil(np.arange(1, points + 1) * horizon / points).astype(int) + warm
    return sorted({*even.tolist(), *(t for t in (warm, warm + horizon - LATE) if t > 0)})


def late_loss(trace: Trace, rounds: int = LATE) -> np.ndarray:
    """Average regret of the last ``rounds`` rounds, R.

    Raises:
        ValueError: the round before them was not recorded.
    """
    return (final(trace) - _at(trace, int(trace.rounds[-1]) - rounds)) / rounds


def stuck(trace: Trace, exact: Trace, factor: float = 10.0) -> np.ndarray:
    """Trials that still lose more than ``factor`` times what exact GP-UCB loses in the mean over trials, by ``late_loss``; R bool."""
    return late_loss(trace) > factor * late_loss(exact).mean()
