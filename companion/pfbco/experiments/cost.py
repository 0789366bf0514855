"""Run time per round of PF, FKM and StochOCG, with specialized oracles and with generic solvers.

Run times are cached with the results and are valid for the machine that measured them; ``python3 run.py clean`` deletes them.
"""

from paperlib.core.contracts import Learner, Problem

from ...store.results import cached_call
from ...store.seconds import Run, Seconds
from .calls import time_answers, time_oracles
from .settings import learners

METHODS = ("PF", "FKM", "StochOCG")


def methods(
    problems: dict[str, Problem], names: tuple[str, ...] = METHODS, suffix: str = ""
) -> dict[Run, tuple[Learner, Problem]]:
    """Return learners of Figure 1 on each problem, in the form that ``store.time_runs`` expects.

    ``suffix`` is appended to the learners' names.
    """
    return {
        (name + suffix, setting): (learners()[name], problem)
        for setting, problem in problems.items()
        for name in names
    }


def time_calls(problems: dict[str, Problem], count: int, seed: int = 0) -> Seconds:
    """Return the cached seconds of ``calls.time_oracles`` by ("lmo" or "project", problem), 1 x count each."""
    found = cached_call(
        "calls", time_oracles, problems=list(problems.values()), count=count, seed=seed
    )
    calls = {(call, name): found[call][[i]] for i, name in enumerate(problems) for call in found}
    return Seconds(calls, {})


def with_answers(
    timed: Seconds, problems: dict[str, Problem], rounds: int, repetitions: int, seed: int = 0
) -> Seconds:
    """Return mean seconds per round of ``METHODS``, including their feedback by ``calls.time_answers``, N x 1; cached.

    The feedback is the gradient for StochOCG, and the loss for PF and FKM.

    Args:
        timed: seconds of the learners alone, of one trial each, N x T.
        problems: the settings.
        rounds, repetitions: as in ``timed``.
    """
    how = {"rounds": rounds, "repetitions": repetitions, "seed": seed}
    found = cached_call("answers", time_answers, problems=list(problems.values()), **how)
    mean = lambda seconds: seconds.mean(1, keepdims=True)
    both = {
        (name, setting): mean(timed[name, setting])
        + mean(found["gradient" if name == "StochOCG" else "loss"][i])
        for i, setting in enumerate(problems)
        for name in METHODS
    }
    return Seconds(both, {})


def microseconds(seconds: Seconds, setting: str, of: str = "median") -> str:
    """Return a row of a table: microseconds per round and trial of ``METHODS``, and their ratios to PF's."""
    each = [seconds.overall((name, setting), of, scale=1e6) for name in METHODS]
    times = "  ".join(f"{value / each[0]:9.2f}" for value in each[1:])
    return " ".join(f"{value:8.1f}" for value in each) + "   " + times
