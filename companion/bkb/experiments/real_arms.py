"""Real data as arms: which sets a run has, and which learners play them."""

from typing import NamedTuple

from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.features import RFFUCB
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.core.contracts import Learner
from paperlib.core.validation import one_of
from paperlib.learners.reference import UniformArm

from ...datasets import registry
from ..problems.real import BUNDLED, FETCHED, TableArms
from .settings import QBAR, confidence

DATA = ("bundled", "auto", "real")


class ArmSet(NamedTuple):
    """How a data set is played."""

    scale: float  # factor on the radius
    chunk: int  # trials at once: exact GP-UCB keeps 8 bytes for each trial, arm and round
    lazy: bool  # LazyBKB instead of BKB


ARM_SETS = {
    "diabetes": ArmSet(0.5, 5, False),
    "digits": ArmSet(0.2, 5, False),
    "abalone": ArmSet(0.5, 5, True),
    "california_housing": ArmSet(0.5, 2, True),
}


def real_learners(problem: TableArms) -> dict[str, Learner]:
    """Who plays a data set, with the factor of ``ARM_SETS``; LazyBKB on the two large ones."""
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
        data: "bundled", those that scikit-learn ships; "auto", also the others where they are at
            hand or can be downloaded; "real", all.

    Raises:
        ValueError: another word, or a file that is not the registry's.
        FileNotFoundError: "real", and one cannot be had.
    """
    one_of("data", data, DATA)
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
            missing[name] = "the file could not be had"
    return found, missing
