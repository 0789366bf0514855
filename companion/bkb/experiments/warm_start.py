"""After a warm start on half of the arms: learners, the run that is left, trials that are stuck.

Letters: R trials, T rounds.
"""

import dataclasses

import numpy as np

from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.features import RFFUCB
from paperlib.bkb.problems import WarmRKHS
from paperlib.core.contracts import Learner
from paperlib.core.trace import Trace
from paperlib.learners.reference import UniformArm
from paperlib.learners.wrapper import Scripted

from .settings import QBAR, confidence

WARM_SIZES = (20, 30, 50, 100)  # features after a warm start
LATE = 100  # last rounds that tell whether a trial is stuck


def warm_learners(problem: WarmRKHS, rounds: int, scale: float = 0.2) -> dict[str, Learner]:
    """Exact GP-UCB, BKB and what may starve, after ``rounds`` rounds in the left half of the arms."""
    known = {"kernel": problem.kernel, "confidence": confidence(problem, scale)}
    bases = {
        "GP-UCB": ExactGPUCB(**known),
        "BKB": BKB(**known, qbar=QBAR),
        "SoR": BKB(**known, qbar=QBAR, variance="sor"),
        **{f"RFF {size}": RFFUCB(**known, size=size) for size in WARM_SIZES},
    }
    return {name: Scripted(base, UniformArm(problem.left), rounds) for name, base in bases.items()}


def since(trace: Trace, rounds: int) -> Trace:
    """The run after round ``rounds``, as if it began there: rounds and regret are counted anew.

    Raises:
        ValueError: round ``rounds`` was not recorded, or none after it.
    """
    later = trace.rounds > rounds
    if not later.any():
        raise ValueError(
            f"rounds={rounds}; allowed: less than the last recorded round, {trace.rounds[-1]}"
        )
    regret = trace["regret"][:, later] - trace.at(rounds)[:, None]
    return dataclasses.replace(
        trace,
        rounds=trace.rounds[later] - rounds,
        series={"regret": regret},
        seconds=trace.seconds[later],
    )


def watched(horizon: int, warm: int) -> list[int]:
    """Rounds to record: 100 evenly spaced, and what ``since(trace, warm)`` and ``late_loss`` take."""
    even = np.ceil(np.arange(1, 101) * horizon / 100).astype(int) + warm
    return sorted({*even.tolist(), *(t for t in (warm, warm + horizon - LATE) if t > 0)})


def late_loss(trace: Trace, rounds: int = LATE) -> np.ndarray:
    """Average regret of the last ``rounds`` rounds, R.

    Raises:
        ValueError: the round before them was not recorded.
    """
    return (trace.last() - trace.at(int(trace.rounds[-1]) - rounds)) / rounds


def stuck(trace: Trace, exact: Trace, factor: float = 10.0) -> np.ndarray:
    """Trials whose ``late_loss`` is above ``factor`` times the mean of exact GP-UCB's, R bool."""
    return late_loss(trace) > factor * late_loss(exact).mean()
