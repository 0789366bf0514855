"""A timing has the machine for itself: locks between timings and experiments."""

import os
import select
import subprocess
import sys
import time

import pytest
import torch
from toy import Coins, Index

from companion.store import timing
from companion.store.timing import exclusive_lock, shared_lock, time_rounds
from paperlib.play import play

HOLD = """
import sys, time
from companion.store.timing import exclusive_lock, shared_lock
with {kind}():
    print("in", flush=True)
    sys.stdin.readline()
    print(time.monotonic(), flush=True)
"""


@pytest.fixture(autouse=True)
def own_locks(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def hold(kind):
    return subprocess.Popen(
        [sys.executable, "-c", HOLD.format(kind=kind)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


@pytest.mark.slow
def test_a_timing_waits_for_experiments_and_they_for_it():
    first = hold("shared_lock")
    assert first.stdout.readline() == "in\n"
    with shared_lock():  # a second experiment does not wait
        pass
    timing = hold("exclusive_lock")
    time.sleep(6.0)  # long enough for the timing to start and to wait for the lock
    late = hold("shared_lock")
    first.stdin.write("\n"), first.stdin.flush()
    left = float(first.stdout.readline())
    assert timing.stdout.readline() == "in\n" and time.monotonic() > left
    timing.stdin.write("\n"), timing.stdin.flush()
    timed = float(timing.stdout.readline())
    assert late.stdout.readline() == "in\n" and time.monotonic() > timed
    late.communicate("\n")
    assert first.wait() == timing.wait() == late.returncode == 0


@pytest.mark.slow
def test_a_timing_inside_shared_work_does_not_wait_for_itself():
    with shared_lock(), shared_lock():
        with exclusive_lock(), shared_lock(), exclusive_lock():
            pass
        blocked = hold("exclusive_lock")
        assert select.select([blocked.stdout], [], [], 5.0)[0] == []
    assert blocked.stdout.readline() == "in\n"
    blocked.communicate("\n")


def test_one_thread_inside_and_as_before_after():
    before = torch.get_num_threads()
    with exclusive_lock():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_seconds_of_each_round():
    runs = [(Index(), Coins()), (Index(2.0), Coins(3))]
    found = time_rounds(runs, 50, repetitions=2, trials=[1, 4])["seconds"]
    assert found.shape == (2, 2, 50) and (found > 0).all()


def test_repetitions_have_their_own_draws_on_request(monkeypatch):
    asked = []
    monkeypatch.setattr(
        timing, "play", lambda *args, **more: asked.append(args[2:5]) or play(*args, **more)
    )
    time_rounds([(Index(), Coins())], 3, 2, [5], seed=7)
    time_rounds([(Index(), Coins())], 3, 2, [5], seed=7, anew=True)
    warm = (3, 5, 7)
    assert asked == [warm, (3, 5, 7), (3, 5, 7), warm, (3, 5, 7), (3, 5, 8)]


def test_a_folder_for_locks_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path / "some/locks"))
    with shared_lock():
        assert (tmp_path / "some/locks").is_dir()
