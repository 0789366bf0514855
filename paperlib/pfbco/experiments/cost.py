"""What a round costs: seconds of PF, FKM and StochOCG, by oracles made for a set and by generic solvers.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
Shapes: N repetitions, R trials, T rounds, n dimensions.
"""

import time

import numpy as np
import torch

from ... import stats
from ...store import results as store, timing
from ..probes import Leaves  # handed on
from ...store.results import time_runs  # handed on
from ...core.contracts import Learner, Problem
from ...core.streams import Streams
from ...core.validation import whole
from .settings import RESAMPLES, learners

METHODS = ("PF", "FKM", "StochOCG")
Runs = dict[tuple[str, str], tuple[Learner, Problem]]  # (learner, setting) -> what is played

# Seconds --------------------------------------------------------------------------------------------------


def methods(problems: dict[str, Problem], names: tuple[str, ...] = METHODS, c: float = 0.1, suffix: str = "") -> Runs:
    """Learners of Figure 1 on each problem, as ``store.time_runs`` wants them; ``suffix`` goes behind the learners' names."""
    return {(name + suffix, setting): (learners(c)[name], problem) for setting, problem in problems.items() for name in names}


def _calls(problems: dict[str, Problem], count: int, seed: int) -> dict[str, np.ndarray]:
    found: dict[str, list[float]] = {}
    with timing.alone(), torch.no_grad():
        streams = Streams(seed, [0])
        sets = {name: problem.context(problem.init(1, 1, streams.at(-1), dtype=torch.float64, device="cpu"), 0).cset for name, problem in problems.items()}
        for t in range(count):
            for name, cset in sets.items():
                z = 2 * cset.R.unsqueeze(1) * streams.at(t).sphere(f"call {cset.dim}", cset.dim)  # outside any set within the radius R
                for call, ask in (("lmo", cset.lmo), ("project", cset.project)):
                    ask(-z)  # what another set's call has pushed out of the caches is back
                    start = time.perf_counter()
                    ask(z)
                    found.setdefault(f"{name}|{call}", []).append(time.perf_counter() - start)
    return {key: np.array(values) for key, values in found.items()}


def time_calls(problems: dict[str, Problem], count: int, seed: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """Seconds of ``count`` single calls on the set of one trial: problem -> "lmo", "project" -> count; taken alone; kept.

    The points are random and lie at twice the radius R, so that every projection has something to do.
    """
    whole("count", count)
    found = store.once("calls", _calls, problems=problems, count=count, seed=seed)
    return {name: {call: found[f"{name}|{call}"] for call in ("lmo", "project")} for name in problems}


def typical(seconds: np.ndarray) -> np.ndarray:
    """Median seconds a round of each repetition, N. ``seconds``: N x T."""
    return np.median(seconds, axis=1)


def bars(timed: dict[tuple[str, str], np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """Learner -> setting -> median milliseconds a round of each repetition, for ``figures.time_panel``."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for (name, setting), seconds in timed.items():
        out.setdefault(name, {})[setting] = 1e3 * typical(seconds)
    return out


def diamonds(timed: dict[tuple[str, str], np.ndarray], trials: int) -> dict[str, dict[str, float]]:
    """Learner -> setting -> median milliseconds a round and trial of a batch of so many trials."""
    return {name: {setting: float(np.median(x)) / trials for setting, x in found.items()} for name, found in bars(timed).items()}


def median_ratio(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Ratio of typical seconds a round, bootstrap over the repetitions. ``a``, ``b``: N x T each."""
    return stats.ratio(typical(a), typical(b), of="median seconds", over="repetitions", resamples=RESAMPLES)


def mean_ratio(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Ratio of mean seconds a round, bootstrap over the repetitions. ``a``, ``b``: N x T each.

    The mean also sees the rounds in which numbers are drawn for many rounds to come and those in which an epoch begins.
    """
    return stats.ratio(a.mean(1), b.mean(1), of="mean seconds", over="repetitions", resamples=RESAMPLES)
