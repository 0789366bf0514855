"""Undisturbed timings: one thread, and no other paperlib process that computes on the same machine.

Experiments compute under ``shared_lock()`` (shared), timings under ``exclusive_lock()`` (exclusive). Every process first
passes a second lock, the turnstile. It guarantees that a waiting timing is not overtaken forever. The locks work between
processes and not between the threads of one process.
"""

import fcntl
import os
import re
import resource
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from paperlib.core.contracts import Learner, Problem
from paperlib.play import play

from .progress import progress_line


def _open(name: str) -> IO:
    folder = Path(os.environ.get("PAPERLIB_LOCKS") or tempfile.gettempdir())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"paperlib-{os.getuid()}.{name}"
    return os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR, 0o600), "w")


# Locks of this process, outermost first: LOCK_SH or LOCK_EX, and the open file that holds the lock.
_held: list[tuple[int, IO]] = []


@contextmanager
def _locked(kind: int) -> Iterator[None]:
    if any(held in (fcntl.LOCK_EX, kind) for held, _ in _held):
        yield  # nested in a lock that is at least as strong
        return
    # A timing inside shared work releases the shared lock meanwhile, because it would otherwise
    # wait for itself.
    shares = [file for _, file in _held]
    for share in shares:
        fcntl.flock(share, fcntl.LOCK_UN)
    try:
        # The system releases both locks when their files are closed, also if the process is killed.
        with _open("turnstile") as turnstile, _open("lock") as lock:
            fcntl.flock(turnstile, fcntl.LOCK_EX)  # a waiting timing holds the turnstile
            fcntl.flock(lock, kind)
            fcntl.flock(turnstile, fcntl.LOCK_UN)
            _held.append((kind, lock))
            try:
                yield
            finally:
                _held.pop()
    finally:
        for share in shares:
            fcntl.flock(share, fcntl.LOCK_SH)


def shared_lock() -> AbstractContextManager[None]:
    """Return a context for work that many processes may do at the same time, except while one of them times."""
    return _locked(fcntl.LOCK_SH)


@contextmanager
def exclusive_lock() -> Iterator[None]:
    """Reserve the machine for this process, with one thread; only other paperlib processes respect the lock."""
    threads = torch.get_num_threads()
    with _locked(fcntl.LOCK_EX), threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def time_rounds(
    runs: Sequence[tuple[Learner, Problem]],
    horizon: int,
    repetitions: int,
    trials: Sequence[int],
    seed: int = 0,
    anew: bool = False,
) -> dict[str, np.ndarray]:
    """Return the run time in seconds of each round in ``select`` and ``update``, without the time of the problem.

    In each repetition all runs take turns, so that a drift of the machine's speed affects all of
    them alike.

    Args:
        runs: learners and problems.
        horizon: rounds T.
        repetitions: N, after one short warm-up of each run.
        trials: number of trials of each run, played as one batch; seconds are of the batch, not per trial.
        seed: seed of all repetitions, or of the first one if ``anew``.
        anew: whether each repetition has its own draws; repetition n then has the seed ``seed + n``.

    Returns:
        "seconds": runs x N x T.
    """
    found = np.empty((len(runs), repetitions, horizon))
    with progress_line("timing", len(runs) * repetitions, still=True) as shown, exclusive_lock():
        for (learner, problem), R in zip(runs, trials, strict=True):
            # The warm-up compiles and fills caches.
            play(learner, problem, min(horizon, 20), R, seed)
        # Repetitions are the outer loop, so that the runs take turns.
        for n in range(repetitions):
            own = seed + n if anew else seed
            for i, ((learner, problem), R) in enumerate(zip(runs, trials)):
                shown.begin(type(learner).__name__)  # updated between the runs and not during them
                trace = play(learner, problem, horizon, R, own, record="all")
                found[i, n] = np.diff(trace.seconds, prepend=0.0)
                shown.end()
    return {"seconds": found}


def peak_bytes() -> int:
    """Return the largest resident set size that this process has had, in bytes."""
    status = Path("/proc/self/status")
    # On Linux, getrusage includes the memory that the parent process had when it started this one.
    if status.exists():
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS reports bytes
