"""BKB beside exact GP-UCB and what the paper warns of: who plays, and final regrets."""

from paperlib import stats
from paperlib.bkb.learners.bkb import BKB, MERGES
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.features import QFFUCB, RFFUCB
from paperlib.bkb.learners.fixed import FixedDictionary
from paperlib.bkb.learners.incremental import IncrementalBKB
from paperlib.bkb.problems import RKHS
from paperlib.core.contracts import Learner
from paperlib.core.trace import Trace
from paperlib.learners.reference import UniformArm

from .settings import QBAR, confidence

QBARS = (1.0, 2.0, 3.0, 5.0, 10.0)  # oversampling
# of quadrature, by dimension: the kernel is met within 4e-4, but hardly at all by 60 and 15
NODES = {1: 80, 2: 25}


def sketch_name(qbar: float = QBAR, merge: str = "pulls") -> str:
    """How BKB is called: by its qbar unless that is 5, and "arms" where a coin is tossed an arm."""
    return ("BKB" if qbar == QBAR else f"BKB {qbar:g}") + (", arms" if merge == "arms" else "")


# name -> qbar and how coins are tossed
SKETCHES = {sketch_name(qbar, merge): (qbar, merge) for merge in MERGES for qbar in QBARS}


def parity_learners(problem: RKHS, scale: float = 1.0) -> dict[str, Learner]:
    """Exact GP-UCB, BKB by qbar and its way to toss coins or to keep them, what the paper warns of or names, uniform play."""
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
    """Final regret against exact GP-UCB's, for ``charts.dots_panel``.

    BKB's rows are its values of qbar, in a group for each way to toss coins; every other learner
    has a row of its own.

    Returns:
        Group -> row -> geometric mean, low, high.
    """
    exact, found = traces["GP-UCB"].last(), {}
    for name, trace in traces.items():
        if name == "GP-UCB":
            continue
        group = row = name
        if name in SKETCHES:
            qbar, merge = SKETCHES[name]
            group, row = sketch_name(merge=merge), f"BKB, $\\bar q$ = {qbar:g}"
        found.setdefault(group, {})[row] = tuple(stats.geometric_ratio(trace.last(), exact)[:3])
    return found
