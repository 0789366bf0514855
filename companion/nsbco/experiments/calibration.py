"""Which b_0 and A_1 work: false alarms where nothing moves, changes found where something does, and one scale for all.

Letters: R trials, T rounds.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from paperlib import stats
from paperlib.core.trace import Trace
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg, printed
from paperlib.nsbco.theory.constants import kappa_0, literal

# False alarms -----------------------------------------------------------------------------------------------


def reached(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The largest A_1 and A_2 with which a test would have failed by the end, R each. ``trace``: with the largest of ``probes.Compared`` as "tests"."""
    most = trace["tests"][:, -1]
    return most[:, 3:].max(1), most[:, 2]


def alarms(trace: Trace, bonus: float, multiple: float, horizon: int) -> stats.Interval:
    """Share of trials in which MASTER with b_0 and A_1 would have restarted, exact.

    ``trace``: of the schedule alone with this b_0, with the same: it plays as MASTER does until its first restart,
    whatever A_1 is.
    """
    first, second = reached(trace)
    fired = (first >= multiple) | (second >= 1.5 * bonus * (math.log2(horizon) + 1))
    return stats.proportion(int(fired.sum()), len(fired))


# Constants as printed ---------------------------------------------------------------------------------------


def as_printed(horizon: int, dim: int = 2) -> dict[str, Multiscale]:
    """MASTER with the constants of Lemma 3.1 for this horizon; the same schedule without tests; the same with A_1 and A_2 times 1e-9.

    r-bar is not clipped, as printed (E12).
    """
    base = GradientAscent(bonus=2 * sum(kappa_0(literal(dim), horizon)), clip=False)
    learner = printed(base)
    small = replace(learner, A1=1e-9 * learner.A1, A2=1e-9 * learner.A2)
    return {"printed": learner, "no tests": malg(base), "times 1e-9": small}


def share_reached(trace: Trace, learner: Multiscale, horizon: int) -> dict[str, float]:
    """How much of its threshold each test's statistic reaches at most, over trials and rounds."""
    first, second = reached(trace)
    log = math.log2(horizon) + 1
    return {
        "Test 1": float(first.max() / (learner.A1 * log)),
        "Test 2": float(second.max() / (learner.A2 * log)),
    }


def table(
    rows: dict[float, dict[float, Any]], format: str = "{:6.2f}", corner: str = "b_0 \\ A_1"
) -> str:
    """Lines of a table of means: row -> column -> number."""
    columns = list(next(iter(rows.values())))
    lines = [f"{corner:>10s}" + "".join(f"{c:>9g}" for c in columns)]
    for row, values in rows.items():
        lines.append(f"{row:>10g}" + "".join(f"{format.format(values[c]):>9s}" for c in columns))
    return "\n".join(lines)
