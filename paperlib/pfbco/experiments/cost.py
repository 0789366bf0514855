"""What a round costs: seconds of PF, FKM and StochOCG, by oracles made for a set and by solvers.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
"""

from collections.abc import Iterable

from ...core.contracts import Learner, Problem
from ...core.validation import whole
from ...stats import Interval
from ...store.results import once
from ...store.seconds import Run, Seconds
from .calls import time_oracles
from .losses import RESAMPLES
from .settings import learners

METHODS = ("PF", "FKM", "StochOCG")


def methods(
    problems: dict[str, Problem], names: tuple[str, ...] = METHODS, c: float = 0.1, suffix: str = ""
) -> dict[Run, tuple[Learner, Problem]]:
    """Learners of Figure 1 on each problem, as ``store.time_runs`` wants them.

    ``suffix`` goes behind the learners' names.
    """
    known = learners(c)
    played = [(name, setting) for setting in problems for name in names]
    return {(name + suffix, setting): (known[name], problems[setting]) for name, setting in played}


def time_calls(problems: dict[str, Problem], count: int, seed: int = 0) -> Seconds:
    """Seconds of ``count`` single calls, by ("lmo" or "project", problem), 1 x count each; kept.

    See ``calls.time_oracles``.

    Raises:
        ValueError: a count that is no whole number above 0.
    """
    whole("count", count)
    found = once("calls", time_oracles, problems=list(problems.values()), count=count, seed=seed)
    calls = {(call, name): found[call][[i]] for i, name in enumerate(problems) for call in found}
    return Seconds(calls, dict.fromkeys(calls, 1))


def microseconds(seconds: Seconds, setting: str, of: str = "median") -> str:
    """What a round of a trial costs each of ``METHODS``, and the others over the first, in words."""
    each = [seconds.overall((name, setting), of, scale=1e6) for name in METHODS]
    times = "  ".join(f"{value / each[0]:9.2f}" for value in each[1:])
    return " ".join(f"{value:8.1f}" for value in each) + "   " + times


def over_ours(seconds: Seconds, settings: Iterable[str]) -> dict[str, dict[str, Interval]]:
    """How many times FKM with a generic solver takes what ours does, where both were timed.

    Returns:
        Setting -> "PF" and "PF, solver" -> ratio of median seconds a round.
    """
    ratio = lambda setting, name: seconds.ratio(
        ("FKM, solver", setting), (name, setting), resamples=RESAMPLES
    )
    ours = ("PF", "PF, solver")
    timed = lambda setting: [name for name in ours if name in seconds.names(setting)]
    return {where: {name: ratio(where, name) for name in timed(where)} for where in settings}
