"""Stored results are reused; different computations have different results; damaged files are recomputed."""

import dataclasses
import errno
import functools
import importlib
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toy import Coins, Index

import companion
import paperlib
from companion.store import keys as content
from companion.store import results as store
from paperlib.core.rounds import Probe
from paperlib.core.trace import Trace
from paperlib.play import play

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    # Tests must not wait for timings of other processes on the machine.
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))
    return tmp_path / "results"


def run(learner=Index(), problem=Coins(), horizon=20, trials=5, **more):
    return store.run(problem, {"a": learner}, horizon, trials, **{"chunk": 2, **more})["a"]


def files(results):
    return {path.name: path.stat().st_mtime_ns for path in results.glob("*")}


def twice(round):
    return 2 * round.feedback


def scaled(round, factor=1.0):
    return factor * round.feedback


def test_second_call_reads_the_first(results):
    first = run(probes={"twice": twice})
    kept = files(results)
    again = run(probes={"twice": twice})
    assert len(kept) == 3 and files(results) == kept  # 2 + 2 + 1 trials
    assert first.equal(again) and first.trials == [0, 1, 2, 3, 4]


def test_chunks_are_plays():
    pieces = [play(Index(), Coins(), 20, ids) for ids in store.split_chunks(5, 2)]
    assert run().equal(Trace.merge(pieces))
    assert [list(ids) for ids in store.split_chunks(5, 2)] == [[0, 1], [2, 3], [4]]


def test_listed_trials_are_played_as_listed_in_chunks():
    found = run(trials=[4, 1, 1, 0])
    assert found.trials == [4, 1, 1, 0]
    whole = run()
    for row, trial in enumerate(found.trials):
        np.testing.assert_array_equal(found["regret"][row], whole["regret"][trial])
    assert run(trials=range(4)).equal(whole.part(0, 4))
    assert found.part(1, 3).trials == [1, 1]


@pytest.mark.parametrize("trials", [[], [0, -1], [0, 1.5], "01", [True]])
def test_lists_of_other_than_trials_are_refused(results, trials):
    with pytest.raises(ValueError, match="trials"):
        run(trials=trials)
    assert files(results) == {}


@pytest.mark.parametrize(
    "name, value",
    [
        ("trials", 1e2),
        ("trials", 0),
        ("chunk", 2.0),
        ("chunk", 0),
        ("chunk", "x"),
        ("horizon", 1e2),
    ],
)
def test_only_integers_are_accepted_by_run(results, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be an integer from 1 to .*, got {value!r}"):
        run(**{name: value})
    assert files(results) == {}


def test_more_trials_compute_only_what_is_new(results):
    first = run(trials=4)
    kept = files(results)
    more = run(trials=8)
    assert kept.items() < files(results).items() and len(files(results)) == 4
    assert np.array_equal(more["regret"][:4], first["regret"])


def test_learners_may_have_fewer_trials():
    traces = store.run(Coins(), {"a": Index(), "b": Index(2.0)}, 20, {"a": 4, "b": 2}, chunk=2)
    assert len(traces["a"].trials) == 4 and traces["b"].trials == [0, 1]
    for wrong in ([Index()], Index(), "a"):
        with pytest.raises(ValueError, match="^learners must be a dictionary by name, got "):
            store.run(Coins(), wrong, 20, 4)
    with pytest.raises(ValueError, match="one number for each of a, b"):
        store.run(Coins(), {"a": Index(), "b": Index(2.0)}, 20, {"a": 4})


@pytest.mark.parametrize(
    "change",
    [
        {"learner": Index(0.5)},
        {"problem": Coins(3)},
        {"horizon": 21},
        {"seed": 1},
        {"chunk": 4},
        {"record": 5},
        {"record": "all"},
        {"probes": {"x": twice}},
        {"probes": {"x": scaled}},
        {"probes": {"x": functools.partial(scaled, factor=2)}},
        {"probes": {"x": functools.partial(scaled, factor=3)}},
        {"probes": {"x": Probe(twice, "sum")}},
        {"probes": {"y": twice}},
    ],
)
def test_any_difference_gives_another_result(results, change):
    run(trials=1)
    run(**{"trials": 1, **({"trials": 4} if "chunk" in change else {}), **change})
    assert len(files(results)) == 2


def test_results_of_code_edited_during_a_run_are_not_stored(results, monkeypatch, caplog):
    monkeypatch.setattr(content.Key, "edited", lambda self: ["paperlib/play.py"])
    trace = run(trials=2)
    assert trace.trials == [0, 1] and files(results) == {}
    assert [record.levelno for record in caplog.records] == [
        logging.WARNING
    ] and "Restart the process" in caplog.text


def test_results_of_code_edited_before_its_first_run_are_not_stored(
    results, monkeypatch, tmp_path, caplog
):
    file = tmp_path / "mylearning.py"
    file.write_text("def probe(round):\n    return round.feedback\n")
    os.utime(file, (0, 0))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mylearning", raising=False)
    probe = importlib.import_module("mylearning").probe
    run(trials=2, probes={"x": probe})
    kept = files(results)
    assert len(kept) == 1 and not caplog.text
    file.write_text("def probe(round):\n    return 2 * round.feedback\n")
    content._first.pop(file)  # as if this process had not run the file before
    seen = []
    run(
        trials=2,
        horizon=200,
        probes={"x": probe},
        every=0,
        progress=lambda *_: seen.append(files(results)),
    )
    assert seen and all(found == kept for found in seen)  # no checkpoint was written either
    assert (
        files(results) == kept
        and f"{tmp_path.name}/mylearning.py changed during this process" in caplog.text
    )


@pytest.mark.slow
def test_results_of_a_package_edited_before_its_first_run_are_not_stored(results, tmp_path):
    for package in (paperlib, companion):
        shutil.copytree(
            Path(package.__file__).parent,
            tmp_path / package.__name__,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    code = f"""import os, sys
sys.path[:0] = [{str(tmp_path)!r}, {str(TESTS)!r}, {str(TESTS / "store")!r}]
from pathlib import Path
import companion.store, paperlib.play
from test_store import run
file = Path(paperlib.play.__file__)
assert file.is_relative_to({str(tmp_path)!r})
stamp = file.stat().st_mtime_ns
file.write_text(file.read_text() + "edited = True\\n")
os.utime(file, ns=(stamp, stamp))  # as cp -p leaves it
run(trials=2)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "paperlib/play.py changed during this process" in done.stderr, (
        done.stderr
    )
    assert files(results) == {}


def test_any_damage_is_detected_and_repaired(results, caplog):
    good = run(trials=4)
    first, second = sorted(results.glob("*.npz"))
    whole, kept = first.read_bytes(), second.stat().st_mtime_ns
    for position in np.linspace(0, len(whole) - 1, 60).astype(int):
        broken = bytearray(whole)
        broken[position] ^= 0xFF
        first.write_bytes(broken)
        assert run(trials=4).equal(good), position
    for broken in (b"", whole[: len(whole) // 2], b"no archive"):
        caplog.clear()
        first.write_bytes(broken)
        assert run(trials=4).equal(good)
        assert (
            len(caplog.records) == 1
            and first.name in caplog.text
            and "computed again" in caplog.text
        )
        assert "\n" not in caplog.records[0].getMessage()
    assert second.stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "I/O error"), MemoryError(), PermissionError(13, "no")]
)
def test_a_temporarily_unreadable_result_is_not_deleted(results, monkeypatch, error):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    whole = path.read_bytes()

    def broken(path):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Trace, "load", broken)
        with pytest.raises(type(error)):
            run(trials=2)
    assert path.read_bytes() == whole and run(trials=2).equal(good)


def test_auto_takes_one_device_however_many_trials(monkeypatch):
    """With one arm in 5 dimensions, 4,000 trials are expected to be faster on CUDA, but 400 trials are not."""
    devices, problem = [], type("Wide", (Coins,), {"dim": 5})()
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)

    def on_the_cpu(*given, device, **named):
        devices.append(device)
        return play(*given, device="cpu", **named)

    monkeypatch.setattr(store, "play", on_the_cpu)
    for chunk in (400, 4000):
        for trials in (2, 4000):
            run(Index(chunk), problem, trials=trials, chunk=chunk, device="auto")
    assert devices == ["cpu"] * 11 + ["cuda"] * 2


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_play(*_, **__):
    raise AssertionError("it was computed")


def test_an_unwritable_folder_is_detected_before_the_first_round(results, monkeypatch):
    monkeypatch.setattr(store, "play", no_play)
    call = lambda: store.cached_call("numbers", no_play)
    results.write_text("a file where the folder was to be")
    for compute in (run, call):
        with pytest.raises(OSError, match=str(results)):
            compute()
    results.unlink()
    monkeypatch.setattr(store.os, "fsync", full)
    for compute in (run, call):
        with pytest.raises(OSError, match=f"No space left on device: '{results}'"):
            compute()


def test_a_run_whose_result_cannot_be_saved_is_not_lost(results, monkeypatch, caplog):
    expected, once = run(), store.cached_call("squares", squares, count=4)
    shutil.rmtree(results)
    with monkeypatch.context() as patch:
        patch.setattr(Trace, "save", full)
        patch.setattr(store, "write_atomically", full)
        assert run().equal(expected)
        assert (
            store.cached_call("squares", squares, count=4)["squares"].tolist()
            == once["squares"].tolist()
        )
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 4 and all(str(results) in text for text in said)
    assert all("No space left on device" in text and "computes it again" in text for text in said)
    assert run().equal(expected) and len(files(results)) == 3  # there is space again


def test_a_checkpoint_that_cannot_be_saved_ends_no_run(tmp_path, monkeypatch, caplog):
    expected = play(Index(), Coins(), 200, 2)
    monkeypatch.setattr("paperlib.play.write_npz", full)
    found = play(Index(), Coins(), 200, 2, checkpoint=tmp_path / "part.npz", every=0)
    assert found.equal(expected)
    (said,) = caplog.records  # a single warning for 200 failed saves
    assert "part.npz cannot be written: No space left on device" in said.getMessage()


def test_a_checkpoint_that_cannot_be_written_is_refused_before_round_0(tmp_path, monkeypatch):
    learner = type("Unplayed", (Index,), {"select": no_play})()
    (tmp_path / "file").write_text("a file where the folder was to be")
    path = tmp_path / "file" / "part.npz"
    with pytest.raises(OSError, match=f"'{path}'$"):
        play(learner, Coins(), 20, 2, checkpoint=path)
    monkeypatch.setattr(store.os, "fsync", full)
    path = tmp_path / "part.npz"
    with pytest.raises(OSError, match=f"No space left on device: '{path}'$"):
        play(learner, Coins(), 20, 2, checkpoint=str(path))
    assert not path.exists()


def test_a_damaged_checkpoint_is_dropped(results, caplog):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    path.unlink()
    path.with_suffix(".part.npz").write_bytes(b"half a checkpoint")
    assert run(trials=2).equal(good) and [p.name for p in results.iterdir()] == [path.name]
    assert "computed again" in caplog.text


def test_a_checkpoint_with_other_contents_is_dropped(results, caplog):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    path.unlink()
    np.savez(path.with_suffix(".part.npz"), a=1)
    assert run(trials=2).equal(good) and [p.name for p in results.iterdir()] == [path.name]
    assert "computed again" in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        lambda trace: {"trials": [2, 3]},
        lambda trace: {"series": {}},
        lambda trace: {"series": {"regret": trace["regret"][:, :-1]}},
        lambda trace: {"series": {"regret": trace["regret"].astype(str)}},
        lambda trace: {"rounds": trace.rounds - 1},
        lambda trace: {"rounds": trace.rounds[:0]},
    ],
)
def test_a_result_of_other_trials_or_shapes_is_computed_again(results, caplog, change):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    dataclasses.replace(good, **change(good)).save(path)
    assert run(trials=2).equal(good) and "computed again" in caplog.text


def test_a_checkpoint_that_outlived_its_run_is_removed(results):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    path.with_suffix(".part.npz").write_bytes(b"whatever")
    assert run(trials=2).equal(good) and [p.name for p in results.iterdir()] == [path.name]


@pytest.mark.slow
def test_two_processes_may_compute_the_same(results):
    code = f"import sys; sys.path[:0] = [{str(TESTS)!r}, {str(TESTS / 'store')!r}, {str(TESTS.parent)!r}]; from test_store import run; run(horizon=300, trials=4, every=0)"
    both = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(2)
    ]
    assert [(p.communicate()[1].decode(), p.returncode) for p in both] == [("", 0), ("", 0)]
    kept = files(results)
    fresh = Trace.merge([play(Index(), Coins(), 300, ids) for ids in store.split_chunks(4, 2)])
    assert len(kept) == 2 and run(horizon=300, trials=4).equal(fresh) and files(results) == kept


calls = []


def squares(count, learner=None):
    calls.append(count)
    return {"squares": np.arange(count) ** 2, "mean": 0.5, "name": "x"}


def test_cached_call_computes_once(results):
    calls.clear()
    first, again = (store.cached_call("squares", squares, count=4) for _ in range(2))
    assert calls == [4] and first["squares"].tolist() == again["squares"].tolist() == [0, 1, 4, 9]
    assert float(again["mean"]) == 0.5 and str(again["name"]) == "x"
    store.cached_call("squares", squares, count=4, learner=Index())
    store.cached_call("others", squares, count=4)
    assert calls == [4, 4, 4]


@pytest.mark.parametrize("result, size", [(None, 1), (3.0, 1), (None, 2)])
def test_cached_call_rejects_results_that_are_no_dictionary_of_numbers(results, result, size):
    with pytest.raises(
        ValueError,
        match="must return a dictionary of arrays, numbers and strings by name, .*, got ",
    ):
        store.cached_call("wrong", lambda size: result if size < 2 else {"x": object()}, size=size)
    assert files(results) == {}
