"""The schedule, one run with two changes, and what is read off them.

Source of the schedule's picture: Wei & Luo (2021), Figure 1.
Letters: R trials, T rounds, O orders m of windows of 2^m rounds, n the order of a block of 2^n rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paperlib.core.contracts import Learner
from paperlib.core.rounds import Probe
from paperlib.core.streams import stream_number, uniform
from paperlib.core.trace import Trace
from paperlib.learners.multiscale import SCHEDULE, STEP
from paperlib.nsbco.learners.presets import practical
from paperlib.nsbco.probes import LOG, Compared, center, live
from paperlib.nsbco.problems.paths import Abrupt
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ..proofs.shares import chances

# ---- the run with two changes ------------------------------------------------------------------------------

RUN_HORIZON, RUN_SEED = 2**15, 8  # the path's seed is 8, too
RUN_PROBLEM = QuadraticDrift(Abrupt(3), 1, environment=8)
RUN_RESTARTS = [
    (9471, 1, 8),
    (24830, 1, 9),
]  # rounds heard, test, order; known from the specification


def watched(learner: Learner) -> dict[str, Probe]:
    """What the picture of a run shows, of every round."""
    return {"z": Probe(center), "live": Probe(live), "tests": Probe(Compared(learner)), "log": LOG}


@dataclass(frozen=True)
class Run:
    """One trial from inside, T rounds."""

    rounds: np.ndarray  # T, counted from 1
    z: np.ndarray  # T, first coordinate of the center of the thread that plays
    order: np.ndarray  # T, of its window
    block: np.ndarray  # T, order of the block
    rbar: np.ndarray  # T
    U: np.ndarray  # T
    second: np.ndarray  # T, what ``SecondTest`` says
    first: np.ndarray  # T x O, what ``FirstTest`` says
    restarts: list[tuple[int, int, int]]  # see ``logged``

    @classmethod
    def of(cls, trace: Trace, trial: int = 0) -> "Run":
        """From a run with ``watched``."""
        on, tests = trace["live"][trial] > 0, trace["tests"][trial]
        block = on.shape[1] - 1 - on[:, ::-1].argmax(1)  # its own window is always scheduled
        z, restarts = trace["z"][trial, :, 0], logged(trace)[trial]
        return cls(trace.rounds, z, on.argmax(1), block, *tests.T[:3], tests[:, 3:], restarts)


def logged(trace: Trace) -> list[list[tuple[int, int, int]]]:
    """Restarts by trial, as far as they were logged: rounds heard, test 1 or 2, order of Test 1's window, -1 for Test 2."""
    counts = np.minimum(trace["report.restarts"].astype(int), trace["log"].shape[1])
    rows = (log[:count].astype(int).tolist() for log, count in zip(trace["log"], counts))
    return [[(t, test, order - 1) for t, test, order in row] for row in rows]


@dataclass(frozen=True)
class Ends:
    """Windows that ended in a run of one trial."""

    rounds: np.ndarray  # N, counted from 1
    order: np.ndarray  # N
    margin: np.ndarray  # N, mean over the window - U_t - A_1 / sqrt(2^m): Test 1 fails from 0 on


def ended(first: np.ndarray, A1: float) -> Ends:
    """From what ``FirstTest`` recorded in every round, T x O."""
    at, order = np.isfinite(first).nonzero()
    return Ends(at + 1, order, (first[at, order] - A1) / 2.0 ** (order / 2))


def thresholds(horizon: int) -> tuple[float, float]:
    """A_1 and A_2 of ``practical`` for this horizon, logarithms included."""
    learner = practical()
    return float(learner.A1), float(learner.A2 * (np.log2(horizon) + 1))


# ---- the schedule ------------------------------------------------------------------------------------------


def scheduled(n: int, seeds: Sequence[int]) -> list[np.ndarray]:
    """Which windows of order m = 0, ..., n the block of order n has, R x 2^(n - m) bool each.

    The block is that of a run without restarts, from round 2^n - 1 on; the coins are those of ``Multiscale``.
    """
    seeds, first = np.asarray(seeds, np.uint64)[:, None], 2**n - 1
    found = []
    for m, p in enumerate(chances(n)):
        counter = STEP * (first + np.arange(2 ** (n - m)) * 2**m) + m
        found.append(uniform(seeds, stream_number(SCHEDULE), counter[None]) < p)
    return found


def orders(windows: list[np.ndarray]) -> np.ndarray:
    """Order of the window that plays, R x 2^n: the shortest that covers the round."""
    n, R = len(windows) - 1, len(windows[0])
    found = np.full((R, 2**n), n, np.int8)
    for m in range(n, -1, -1):
        found.reshape(R, -1, 2**m)[windows[m]] = m
    return found


def played(order: np.ndarray) -> np.ndarray:
    """Share of a block's rounds that each order plays, R x (n + 1). ``order``: R x 2^n."""
    n = int(order.shape[1]).bit_length() - 1
    return np.stack([(order == m).mean(1) for m in range(n + 1)], 1)


def spells(order: np.ndarray) -> list[tuple[int, int, int]]:
    """First round, rounds and order of each spell of one order. ``order``: T."""
    begins = np.flatnonzero(np.diff(order, prepend=-1))
    ends = np.append(begins[1:], len(order))
    return [(int(a), int(b - a), int(order[a])) for a, b in zip(begins, ends)]


# ---- where changes may not fall ----------------------------------------------------------------------------


def marks(horizon: int, depth: int = 2) -> np.ndarray:
    """Rounds, counted from 0, at which a change would favor the schedule: multiples of T / 2^depth, and first rounds 2^n - 1 of blocks."""
    parts = horizon * np.arange(1, 2**depth) / 2**depth
    return np.unique(np.append(parts, 2.0 ** np.arange(int(horizon).bit_length()) - 1))


def dyadic(changes: np.ndarray, horizon: int, depth: int = 2) -> np.ndarray:
    """Whether a change falls on one of the ``marks``. ``changes``: rounds counted from 0, any shape."""
    return np.isin(changes, marks(horizon, depth))


def change_points(segments: int, horizon: int, seeds: Sequence[int]) -> np.ndarray:
    """Change points of ``Abrupt`` by seed, R x (S - 1)."""
    return np.stack([Abrupt(segments).changes(seed, horizon) for seed in seeds])
