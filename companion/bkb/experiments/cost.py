"""One large run in a separate process: ``python -m companion.bkb.experiments.cost ARMS ROUNDS``.

The command prints CPU time and peak memory of its whole process. It therefore imports only ``settings`` from this package.
This module caches no result; the notebook calls ``large_run`` through ``store.cached_call``.
"""

import json
import os
import subprocess
import sys
import time

import torch

from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.play import play

from ...store.timing import exclusive_lock, peak_bytes
from .settings import confidence, dense_1d


def large_run(arms: int, rounds: int) -> dict[str, float]:
    """Run one trial of LazyBKB on ``dense_1d(arms)`` while no other measurement uses the machine.

    Returns:
        "cpu", CPU seconds, and "bytes", peak memory, of the whole process; "seconds" of the learner; "dictionary", its
        number of arms, and "regret" after the last round.

    Raises:
        RuntimeError: the process failed.
    """
    command = [sys.executable, "-m", "companion.bkb.experiments.cost", str(arms), str(rounds)]
    # A separate process has its own peak memory, and the lock keeps other work from disturbing the times.
    with exclusive_lock():
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=one_thread)
    if done.returncode:
        raise RuntimeError(
            f"the measurement with {arms} arms and {rounds} rounds failed: {done.stderr[-500:]}"
        )
    return json.loads(done.stdout)


def _report(arms: int, rounds: int) -> dict[str, float]:
    torch.set_num_threads(1)
    problem = dense_1d(arms)
    learner = LazyBKB(problem.kernel, confidence(problem))
    trace = play(learner, problem, rounds, 1, record=1)
    return {
        "cpu": time.process_time(),
        "bytes": peak_bytes(),
        "seconds": float(trace.seconds[-1]),
        "dictionary": float(trace["report.dictionary"][0]),
        "regret": float(trace.last()[0]),
    }


if __name__ == "__main__":
    print(json.dumps(_report(*map(int, sys.argv[1:]))))
