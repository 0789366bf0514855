"""All learners on all paths: the table, the dots, what adapting costs where nothing moves, and what simpler rules save.

Letters: R trials, T rounds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paperlib import stats
from paperlib.core.text import number
from paperlib.core.trace import Trace

from .regret import SMOOTH, Runs, changes, kind, ratio, variation
from .settings import learners

RULES = ("GLR", "KWtrack", "D-LS")  # simpler than MASTER, and without its theorem
REFERENCES = ("full information", "static baseline")
RIVALS = tuple(  # that hear rewards and do not know V_T
    name for name in learners() if name not in REFERENCES and "oracle" not in name
)


def kinds(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths with abrupt changes, and those on which the maximizer moves all the time."""
    abrupt = [path for path in paths if kind(path) == "abrupt"]
    return abrupt, [path for path in paths if kind(path) in SMOOTH]


def played(runs: Runs, path: str, horizon: int) -> dict[str, Trace]:
    """The learners of the figures on a path, without those that another figure had there."""
    found = runs[path, horizon]
    return {name: found[name] for name in learners() if name in found}


def restarts(trace: Trace, horizon: int) -> str:
    """How often a learner began anew in a run, in a table's words; "" where it never does, or not as a whole."""
    if "report.restarts" in trace.final:
        return f"{number(float(trace['report.restarts'].mean()))} by tests"
    if "report.batch" in trace.final:
        counts = np.ceil(horizon / trace["report.batch"]) - 1
        return f"{number(float(counts.mean()))} by plan"
    return ""


def table(runs: Runs, path: str, horizon: int, seed: int) -> list[str]:
    """Lines of table T3 for one path: a head with V_T and the number of changes, then a learner a line."""
    found = played(runs, path, horizon)
    n = min(len(trace.trials) for trace in found.values())
    V = variation(path, horizon, n, seed)
    lines = [f"{path}: V_T {number(float(V.mean()))}, {changes(path)}"]
    for name, trace in found.items():
        x, scale = stats.mean(trace.last()), horizon ** (2 / 3)
        each = f"{number(x.estimate)} [{number(x.low)}, {number(x.high)}]"
        said = restarts(trace, horizon)
        lines.append(f"  {name:20s} {number(x.estimate / scale):>7s}  {each:26s} {said}".rstrip())
    return lines


def rules(runs: Runs, paths: Sequence[str], horizon: int) -> dict[str, dict[str, stats.Interval]]:
    """MASTER's mean regret over that of each simpler rule, by path."""
    return {
        rule: {path: ratio(runs, (path, horizon), "MASTER", rule) for path in paths}
        for rule in RULES
    }


def within(found: dict[str, stats.Interval]) -> str:
    """Ratios over several paths in words, "2.1 to 9.3 times" or "2.1 times"."""
    ends = sorted({number(x.estimate) for x in found.values()}, key=float)
    return " to ".join([ends[0], ends[-1]] if len(ends) > 1 else ends) + " times"


def limits(samples: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Ends of a log axis for means of many panels: at most three decades below the largest."""
    means = [float(np.mean(x)) for panel in samples.values() for x in panel.values()]
    high = 1.5 * max(means)
    low = min((mean for mean in means if mean > 0), default=high)
    return max(low / 1.5, high / 1e3), high


def frontier(runs: Runs, still: str, moving: str, horizon: int) -> dict[str, tuple[Any, Any]]:
    """R_T on the path that does not change and on the one that does, of all learners that hear rewards; R each."""
    last = lambda path, name: runs[path, horizon][name].last()
    names = [name for name in played(runs, moving, horizon) if name != "full information"]
    return {name: (last(still, name), last(moving, name)) for name in names}


def best(runs: Runs, cell: tuple[str, int], names: Sequence[str]) -> str:
    """Which of the learners has the least mean regret in a cell."""
    return min(names, key=lambda name: runs[cell][name].last().mean())


def dominated(runs: Runs, still: str, moving: str, horizon: int, name: str) -> list[str]:
    """Learners that hear rewards and have less mean regret than this one on both paths."""
    mean = lambda path, other: runs[path, horizon][other].last().mean()
    below = lambda other: all(mean(path, other) < mean(path, name) for path in (still, moving))
    return [
        other for other in played(runs, moving, horizon) if other not in REFERENCES and below(other)
    ]


def listed(names: Sequence[str]) -> str:
    """Learners in a caption: those that know V_T with that word in brackets, so that commas part names alone."""
    return ", ".join(name.replace(", oracle", " (oracle)") for name in names) or "none"


def variations(paths: Sequence[str], horizon: int, trials: int, seed: int) -> str:
    """V_T and the number of changes of each path, in words."""
    V = {path: float(variation(path, horizon, trials, seed).mean()) for path in paths}
    return "; ".join(f"{path} {number(V[path])}, {changes(path)}" for path in paths)
