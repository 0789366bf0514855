"""A run that is killed continues from its checkpoint, with the same result as an uninterrupted run."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from toy import Coins, Index

from companion.store import results as store
from paperlib.core.files import parse_npz, write_npz
from paperlib.core.rounds import Probe
from paperlib.play import play

TESTS = Path(__file__).parent
HORIZON, TRIALS = 640, 4
CHILD = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from pathlib import Path
from toy import Coins, Index
from companion.store import results as store
from paperlib.core.rounds import Probe; from paperlib.play import play
from test_resume import PROBES
"""


def widest(round):
    return round.feedback + round.after.plays.amax(1)


def last_plays(round):
    return round.after.plays


def history(round):
    return round.after.rewards.view


def deadly(round):
    """Kill its process without warning in the round of the environment variable, counted from 0."""
    if os.environ.get("DEADLY_ROUND") == str(round.t):
        os.kill(os.getpid(), signal.SIGKILL)
    return round.feedback


PROBES = {"widest": Probe(widest, "max"), "plays": last_plays, "history": Probe(history, "final")}


def kill_when(there, code, environment):
    """Start ``code`` in a separate process and kill it without warning as soon as ``there()`` is true."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD + code],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while not there():
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline, "no checkpoint appeared"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stderr.close()


def rounds_kept(file):
    """Return the number of rounds after which the state in a checkpoint was saved."""
    with np.load(file) as kept:
        return json.loads(str(kept["head"]))["t"]


def rounds_at_first_report(call):
    """Return the first round that a run reports if it reports after every round; the run is stopped in this round."""
    seen = []

    def stop(t, horizon, seconds):
        seen.append(t)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(every=0, progress=stop)
    return seen[0]


@pytest.mark.slow
def test_play_resumes_bit_for_bit(tmp_path):
    file = tmp_path / "run.npz"
    arguments = f"Index(nap=.002), Coins(), {HORIZON}, {TRIALS}, 3, probes=PROBES, checkpoint={str(file)!r}, every=.05"
    kill_when(file.exists, f"play({arguments})", {})
    t = rounds_kept(file)
    assert 0 < t < HORIZON
    resume = functools.partial(
        play, Index(nap=0.002), Coins(), HORIZON, TRIALS, 3, probes=PROBES, checkpoint=file
    )
    assert rounds_at_first_report(resume) == t + 1  # it did not restart from round 1
    resumed = resume()
    straight = play(Index(nap=0.002), Coins(), HORIZON, TRIALS, 3, probes=PROBES)
    assert resumed.equal(straight)
    assert resumed["history"].shape == (TRIALS, HORIZON)


@pytest.mark.slow
def test_few_slow_rounds_are_saved_and_reported_too(tmp_path):
    """60 rounds of 0.1 s: if only the number of rounds counted, nothing would be saved before the end."""
    file, told = tmp_path / "run.npz", tmp_path / "told"
    call = f"play(Index(nap=.1), Coins(), 60, 1, 3, probes={{'x': deadly}}, checkpoint={str(file)!r}, every=.5, progress=tell)"
    tell = f"tell = lambda t, T, s: open({str(told)!r}, 'a').write(f'{{t}} ')"
    code = f"{CHILD}from test_resume import deadly\n{tell}\n{call}"
    child = subprocess.run([sys.executable, "-c", code], env={**os.environ, "DEADLY_ROUND": "44"})
    assert child.returncode == -signal.SIGKILL
    reported = [int(t) for t in told.read_text().split()]
    assert len(reported) >= 4 and max(y - x for x, y in zip([0, *reported], reported)) <= 5
    assert rounds_kept(file) == reported[-1] >= 40
    seen = []
    probes, progress = {"x": deadly}, lambda t, T, s: seen.append(t)
    resumed = play(
        Index(nap=0.1),
        Coins(),
        60,
        1,
        3,
        probes=probes,
        checkpoint=file,
        every=0,
        progress=progress,
    )
    assert seen == list(range(reported[-1] + 1, 61))
    assert resumed.equal(play(Index(), Coins(), 60, 1, 3, probes=probes))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [2])
def test_store_resumes_bit_for_bit(tmp_path, monkeypatch, chunk):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    # This test does not wait for timings of other processes on the machine.
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))
    call = f"Coins(), {{'a': Index(nap=.002)}}, {HORIZON}, {TRIALS}, 3, chunk={chunk}, probes=PROBES, every=.05"

    def second() -> bool:
        """Return whether the first chunk is complete and a part of the second is saved.

        The partial file of the first chunk is deleted shortly after its completion.
        """
        names = {path.name.removesuffix(".npz") for path in tmp_path.glob("results/*.npz")}
        parts = {name.removesuffix(".part") for name in names if name.endswith(".part")}
        return len(names - {f"{name}.part" for name in parts}) == 1 and not parts <= names

    kill_when(second, f"store.run({call})", {"PAPERLIB_RESULTS": str(tmp_path / "results")})
    first_chunk = next(
        path for path in tmp_path.glob("results/*.npz") if not path.name.endswith(".part.npz")
    )
    stamp, t = (
        first_chunk.stat().st_mtime_ns,
        rounds_kept(next(tmp_path.glob("results/*.part.npz"))),
    )
    resume = functools.partial(
        store.run, Coins(), {"a": Index(nap=0.002)}, HORIZON, TRIALS, 3, chunk=chunk, probes=PROBES
    )
    assert rounds_at_first_report(resume) == t + 1
    resumed = resume()["a"]
    assert first_chunk.stat().st_mtime_ns == stamp
    assert not list(tmp_path.glob("results/*.part.npz"))
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "fresh"))
    straight = store.run(
        Coins(), {"a": Index(nap=0.002)}, HORIZON, TRIALS, 3, chunk=chunk, probes=PROBES
    )["a"]
    assert resumed.equal(straight) and resumed.trials == list(range(TRIALS))


def test_a_checkpoint_without_a_checksum_counts_as_damaged(tmp_path):
    write_npz(path := tmp_path / "a.part.npz", {"t": 3}, {"x": np.ones(2)})
    store._whole(path)
    head, arrays = parse_npz(path.read_bytes())
    del head["checksum"]
    np.savez(path, head=np.array(json.dumps(head)), **arrays)
    with pytest.raises(ValueError, match="the checkpoint has no checksum"):
        store._whole(path)
