"""What a round costs: the runs that are timed, and SLSQP's seconds.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
"""

from paperlib.core.contracts import Learner, Problem
from paperlib.glbomd.problems import SphereArms

from ...store.results import once
from ...store.seconds import Run, Seconds
from .settings import paper_learners, rules
from .slsqp import time_decisions

GROWTH = {"width": 100, "first": 300}  # bins and first round of a growth of seconds


def methods(
    problem: SphereArms, leave_out: tuple[str, ...] = ()
) -> dict[Run, tuple[Learner, Problem]]:
    """The paper's methods on a problem, by name and S, as ``store.time_runs`` wants them."""
    left = ("greedy", *rules(), *leave_out)
    learners = {name: x for name, x in paper_learners(problem).items() if name not in left}
    return {(name, problem.norm): (learner, problem) for name, learner in learners.items()}


def slsqp_seconds(
    runs: dict[Run, tuple[Learner, Problem]], horizon: int, every: int, repetitions: int
) -> Seconds:
    """Seconds of each ``every``-th round with SLSQP, see ``slsqp.time_decisions``; kept."""
    known = {"runs": list(runs.values()), "horizon": horizon, "every": every}
    found = once("slsqp_seconds", time_decisions, **known, repetitions=repetitions)
    return Seconds(dict(zip(runs, found["seconds"])), dict.fromkeys(runs, 1))
