"""What a round costs: seconds of PF, FKM and StochOCG, by oracles made for a set and by solvers.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
"""

from paperlib.core.contracts import Learner, Problem

from ...store.results import once
from ...store.seconds import Run, Seconds
from .calls import time_answers, time_oracles
from .settings import learners

METHODS = ("PF", "FKM", "StochOCG")


def methods(
    problems: dict[str, Problem], names: tuple[str, ...] = METHODS, c: float = 0.1, suffix: str = ""
) -> dict[Run, tuple[Learner, Problem]]:
    """Learners of Figure 1 on each problem, as ``store.time_runs`` wants them.

    ``suffix`` goes behind the learners' names.
    """
    return {
        (name + suffix, setting): (learners(c)[name], problem)
        for setting, problem in problems.items()
        for name in names
    }


def time_calls(problems: dict[str, Problem], count: int, seed: int = 0) -> Seconds:
    """Seconds of ``count`` single calls, by ("lmo" or "project", problem), 1 x count each; kept.

    See ``calls.time_oracles``.
    """
    found = once("calls", time_oracles, problems=list(problems.values()), count=count, seed=seed)
    calls = {(call, name): found[call][[i]] for i, name in enumerate(problems) for call in found}
    return Seconds(calls, dict.fromkeys(calls, 1))


def with_answers(
    timed: Seconds, problems: dict[str, Problem], rounds: int, repetitions: int, seed: int = 0
) -> Seconds:
    """Mean seconds a round of ``METHODS`` with what the problem computes for them, N x 1; kept.

    That is the gradient for StochOCG, and the loss for PF and FKM; see ``calls.time_answers``.

    Args:
        timed: of one trial each, N x T.
        problems: the settings.
        rounds, repetitions: as in ``timed``.
    """
    found = once(
        "answers",
        time_answers,
        problems=list(problems.values()),
        rounds=rounds,
        repetitions=repetitions,
        seed=seed,
    )
    mean = lambda seconds: seconds.mean(1, keepdims=True)
    both = {
        (name, setting): mean(timed[name, setting])
        + mean(found["gradient" if name == "StochOCG" else "loss"][i])
        for i, setting in enumerate(problems)
        for name in METHODS
    }
    return Seconds(both, dict.fromkeys(both, 1))


def microseconds(seconds: Seconds, setting: str, of: str = "median") -> str:
    """A line of a table: what a round of a trial costs ``METHODS``, and that over the first's."""
    each = [seconds.overall((name, setting), of, scale=1e6) for name in METHODS]
    times = "  ".join(f"{value / each[0]:9.2f}" for value in each[1:])
    return " ".join(f"{value:8.1f}" for value in each) + "   " + times
