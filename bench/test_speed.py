"""Seconds of a block of rounds, for every learner at every point: ``python3 run.py bench`` runs and distills this.

``python -m pytest bench/test_speed.py --benchmark-autosave`` and ``--benchmark-compare`` compare two states of the code.
"""

import time

import pytest

from companion.bench import measure as speed
from paperlib.core.trees import state_bytes


def test_rounds(benchmark, subject, point, plan, device):
    learner = subject.case.learner
    try:
        run = speed.Run(subject.case, point, device, point.played + plan.block)
    except ValueError as error:  # a problem that refuses so many trials or rounds
        pytest.skip(str(error))
    began = time.perf_counter()
    for _ in range(point.played):
        run.step()
        if time.perf_counter() - began > speed.PATIENCE:
            pytest.skip(f"{point.played} rounds of {point.trials} trials take too long")
    start, began = run.state, time.perf_counter()
    heard = run.record(plan.block)
    repetitions = int(min(50, max(5, plan.seconds / (time.perf_counter() - began))))

    # Each repetition starts from a copy of the same state: the history does not grow from one to the next.
    def setup():
        fresh = speed.copy(start)
        speed.synchronize(device)  # else a GPU copies while the clock runs
        return (learner, fresh, heard, device), {}

    benchmark.pedantic(speed.replay, setup=setup, rounds=repetitions, warmup_rounds=1)
    benchmark.extra_info.update(
        paper=subject.paper,
        learner=subject.name,
        point=point._asdict(),
        block=plan.block,
        state_bytes=state_bytes(start) / point.trials,
    )
