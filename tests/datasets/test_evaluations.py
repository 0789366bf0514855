"""Log of expensive evaluations: no point in it is evaluated twice, and no damaged or foreign line is used.

This file does not import torch, because worker processes import this file and a test asks them whether they have torch.
"""

import functools
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from companion.datasets import evaluations
from companion.datasets.evaluations import Evaluations, evaluate

ROOT = Path(__file__).resolve().parents[2]
ABOUT = {"data": "abc", "folds": 5, "versions": {"scikit-learn": "1.9.1"}}
CHILD = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(ROOT)!r}]
from test_evaluations import *
"""


def square(parameters, calls, seconds=0.0):
    """Return x^2, and append a line to a file for the call."""
    with open(calls, "a") as file:
        file.write(f"{parameters['x']}\n")
    time.sleep(seconds)
    return parameters["x"] ** 2


def answer(parameters):
    """Return the requested value, or raise the requested error."""
    found = parameters["found"]
    if isinstance(found, str) and found.endswith("Error"):
        raise {"ValueError": ValueError, "MemoryError": MemoryError}[found]("no")
    return float(found)


def process(parameters):
    """Return the id of this process, negative if torch is loaded."""
    return -os.getpid() if "torch" in sys.modules else os.getpid()


def threads(parameters):
    """Return the number of threads that NumPy's linear algebra uses here."""
    import numpy  # noqa: F401, that its libraries are loaded
    from threadpoolctl import threadpool_info

    return max(library["num_threads"] for library in threadpool_info())


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def counted(place, seconds=0.0, about=ABOUT):
    """Return a logged square function, and a function that counts the evaluations of each x."""
    calls = place / "calls"
    read = lambda: Counter(calls.read_text().split()) if calls.exists() else Counter()
    return Evaluations(functools.partial(square, calls=calls, seconds=seconds), "f", about), read


def at(file, *xs):
    return evaluate([(file, {"x": x}) for x in xs])


@pytest.mark.slow
@pytest.mark.parametrize("count", ["1", "2"])
def test_a_value_is_evaluated_once(place, monkeypatch, count):
    monkeypatch.setenv("OMP_NUM_THREADS", count)
    file, calls = counted(place)
    assert at(file, 3, 2, 3, 2.5, 3) == [9.0, 4.0, 9.0, 6.25, 9.0]
    assert calls() == {"3": 1, "2": 1, "2.5": 1}
    assert at(file, 2, 4) == [4.0, 16.0] and at(counted(place)[0], 4, 3) == [16.0, 9.0]
    assert calls() == {"3": 1, "2": 1, "2.5": 1, "4": 1}
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert sorted(line["parameters"]["x"] for line in lines) == [2, 2.5, 3, 4]
    assert all(line["about"] == ABOUT and line["seconds"] >= 0 for line in lines)
    assert all(line["error"] is None for line in lines)


def test_an_empty_request_returns_no_values(place):
    assert evaluate([]) == []


def test_types_of_values_are_distinguished(place):
    xs = [1, 1.0, True, 1.0 + 1e-15]
    file, calls = counted(place)
    assert at(file, *xs) == [x**2 for x in xs] and sum(calls().values()) == 4
    assert at(counted(place)[0], *xs) == [x**2 for x in xs] and sum(calls().values()) == 4


def test_functions_do_not_share_values(place):
    double = Evaluations(functools.partial(square, calls=place / "other"), "g", ABOUT)
    file, calls = counted(place)
    assert evaluate([(file, {"x": 2}), (double, {"x": 2})]) == [4.0, 4.0]
    assert calls() == {"2": 1} and file.path != double.path
    scaled, _ = counted(place, about={**ABOUT, "folds": 3})  # stored in the same file
    assert evaluate([(file, {"x": 3}), (scaled, {"x": 3})]) == [9.0, 9.0] and calls()["3"] == 2


def test_lines_of_another_process_are_read(place):
    (first, calls), (second, _) = counted(place), counted(place)
    at(first, 1), at(second, 1, 2), at(first, 2, 3)
    assert calls() == {"1": 1, "2": 1, "3": 1}


def test_a_torn_last_line_is_evaluated_again(place):
    file, calls = counted(place)
    at(file, 1, 2)
    file.path.write_bytes(file.path.read_bytes()[:-5])
    assert at(counted(place)[0], 1, 2, 3) == [1.0, 4.0, 9.0]
    assert calls() == {"1": 1, "2": 2, "3": 1}
    assert at(counted(place)[0], 1, 2, 3) == [1.0, 4.0, 9.0]  # lines after the torn one can be read
    assert calls() == {"1": 1, "2": 2, "3": 1}


def test_an_unfinished_line_is_read_when_it_is_complete(place, caplog):
    file, calls = counted(place)
    at(file, 1, 2)
    text = file.path.read_bytes()
    file.path.write_bytes(text[:-20])
    late = counted(place)[0]
    late.load()
    assert late.lookup({"x": 1}) and not late.lookup({"x": 2})
    file.path.write_bytes(text)
    late.load()
    assert late.lookup({"x": 2}).value == 4.0 and not caplog.text


def test_a_flipped_byte_is_never_used(place, caplog):
    file, _ = counted(place)
    at(file, 3)
    text, known = file.path.read_bytes(), file.lookup({"x": 3})
    for i in range(len(text)):
        for flip in (1, 32, 128):
            file.path.write_bytes(text[:i] + bytes([text[i] ^ flip]) + text[i + 1 :])
            again = counted(place)[0]
            again.load()
            # A flip may leave the value unchanged, because 1e-5 may become 1E-5.
            assert again.entries() in ([], [known]), (i, flip)
    assert "damaged lines, which are ignored" in caplog.text


@pytest.mark.parametrize("line", ["[]", "1", "null", "{}", '{"checksum": "0"}', "", "\x00"])
def test_other_lines_are_not_used(place, line):
    file, calls = counted(place)
    at(file, 1)
    file.path.write_text(line + "\n" + file.path.read_text())
    assert at(counted(place)[0], 1) == [1.0] and calls() == {"1": 1}


@pytest.mark.parametrize(
    "about", [{**ABOUT, "data": "abd"}, {**ABOUT, "versions": {"scikit-learn": "1.10.0"}}]
)
def test_lines_of_other_data_or_versions_are_not_used(place, about):
    at(counted(place)[0], 1)
    other, calls = counted(place, about=about)
    at(other, 1)
    assert calls() == {"1": 2}
    at(counted(place)[0], 1), at(counted(place, about=about)[0], 1)
    assert calls() == {"1": 2} and len(other.entries()) == 1


@pytest.mark.parametrize("count", ["1", "2"])
@pytest.mark.parametrize("found", ["ValueError", "x", "nan", "inf"])
def test_a_failure_is_logged_and_not_tried_again(place, monkeypatch, count, found):
    monkeypatch.setenv("OMP_NUM_THREADS", count)
    asked = [{"found": found}, {"found": 0.5}]
    file = Evaluations(answer, "f", ABOUT)
    assert evaluate([(file, x) for x in asked]) == [0.0, 0.5]
    monkeypatch.setattr(evaluations, "_evaluated", None)
    again = Evaluations(answer, "f", ABOUT)
    assert evaluate([(again, x) for x in asked]) == [0.0, 0.5]
    assert again.lookup(asked[0]).error.startswith("ValueError: ")
    assert again.lookup(asked[1]).error is None and math.isfinite(again.lookup(asked[0]).value)


def test_a_memory_error_is_not_stored(place):
    file = Evaluations(answer, "f", ABOUT)
    with pytest.raises(MemoryError):
        evaluate([(file, {"found": "MemoryError"})])
    assert file.path.read_bytes() == b""


def test_parameters_that_json_does_not_know_are_refused(place):
    with pytest.raises(
        ValueError,
        match="^parameters must be a dictionary that JSON stores without changes, got .*1j",
    ):
        at(counted(place)[0], 1j)
    with pytest.raises(ValueError, match=r"^parameters must be a dictionary .*, got \[1\]"):
        evaluate([(counted(place)[0], [1])])
    with pytest.raises(ValueError, match="JSON"):
        at(counted(place)[0], math.nan)


# ---- processes --------------------------------------------------------------------------------------------


def test_as_many_workers_as_the_job_may_have_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert evaluations.workers() == 3
    for unset in ("", "0", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", unset)
        assert evaluations.workers() == len(os.sched_getaffinity(0))


def test_workers_are_reused_and_have_one_thread_and_no_torch(place, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    ask = lambda f, k: evaluate([(Evaluations(f, "f", {"round": k}), {"i": i}) for i in range(8)])
    rounds = [set(ask(process, k)) for k in range(3)]
    assert len(set().union(*rounds)) <= 2 and os.getpid() not in rounds[0] and min(rounds[0]) > 0
    assert set(ask(threads, 3)) == {1.0}
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert set(ask(process, 4)) <= {os.getpid(), -os.getpid()}  # no pool of workers
    assert set(ask(threads, 5)) == {1.0}


@pytest.mark.slow
def test_workers_spend_their_time_on_evaluations(place, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    file, _ = counted(place, seconds=0.1)
    at(file, -1, -2)  # start the workers
    begin = time.perf_counter()
    for k in range(3):
        at(file, *range(20 * k, 20 * k + 20))
    wall = time.perf_counter() - begin
    assert 0.9 < 60 * 0.1 / (2 * wall) <= 1


@pytest.mark.slow
def test_processes_may_append_at_once(place):
    code = "evaluate([(counted(Path({!r}))[0], {{'x': i}}) for i in range({}, {})])"
    numbers = [(k * 150, k * 150 + 150) for k in range(4)]
    running = [
        subprocess.Popen([sys.executable, "-c", CHILD + code.format(str(place), *pair)])
        for pair in numbers
    ]
    assert [process.wait() for process in running] == [0] * 4
    file, calls = counted(place)
    assert at(file, *range(600)) == [x**2 for x in range(600)]
    assert set(calls().values()) == {1} and len(file.path.read_bytes().splitlines()) == 600


@pytest.mark.slow
@pytest.mark.parametrize("count", ["1", "2"])
def test_evaluations_of_a_killed_process_are_reused(place, count):
    code = f"at(counted(Path({str(place)!r}), seconds=0.05)[0], *range(60))"
    environment = {**os.environ, "OMP_NUM_THREADS": count}
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD + code], env=environment, start_new_session=True
    )
    file, calls = counted(place)
    deadline = time.monotonic() + 60
    while len(file.entries()) < 8:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
        file.load()
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    file.load()
    logged = [str(entry.parameters["x"]) for entry in file.entries()]
    assert 8 <= len(logged) < 60
    assert at(counted(place)[0], *range(60)) == [x**2 for x in range(60)]
    assert all(calls()[x] == 1 for x in logged) and len(calls()) == 60
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the workers still wait for more work


def test_clean_removes_the_files(place):
    file, _ = counted(place)
    at(file, 1)
    (place / "home").mkdir()
    environment = {**os.environ, "PAPERLIB_ROOT": str(place / "home")}
    subprocess.run([sys.executable, ROOT / "run.py", "clean"], env=environment, check=True)
    assert not file.path.exists()


@pytest.mark.parametrize("module", ["evaluations", "classifiers"])
def test_workers_import_no_torch(module):
    code = f"import sys, companion.datasets.{module}; print({{'torch', 'sklearn', 'joblib'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


class Unprintable(Exception):
    """Exception whose text cannot be formatted."""

    def __str__(self):
        raise RuntimeError("no text")


def raises(parameters):
    """Raise the error that is named."""
    kinds = {
        "os": OSError(24, "too many files"),
        "import": ImportError("no"),
        "text": Unprintable(),
    }
    raise kinds[parameters["x"]]


def changes(parameters):
    """Change the given parameters."""
    found = parameters["x"]
    parameters["x"] = 99
    return found


@pytest.mark.parametrize("x", ["os", "import"])
def test_errors_of_the_machine_are_not_stored(x):
    file = Evaluations(raises, "f", ABOUT)
    with pytest.raises((OSError, ImportError)):
        at(file, x)
    assert file.path.read_bytes() == b""


def test_an_error_without_printable_text_is_stored_by_its_type():
    file = Evaluations(raises, "f", ABOUT)
    assert at(file, "text") == [0.0] and file.entries()[0].error == "Unprintable"


def test_a_function_that_changes_its_parameters_changes_no_entry():
    file = Evaluations(changes, "f", ABOUT)
    assert at(file, 1, 2) == [1.0, 2.0]
    again = Evaluations(changes, "f", ABOUT)
    again.load()
    assert [entry.parameters for entry in again.entries()] == [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize("about", [{"s": (1, 2)}, {1: "a"}, {"x": math.nan}])
def test_parameters_that_json_changes_are_rejected_first(about):
    with pytest.raises(ValueError, match="^about must .*, got "):
        Evaluations(changes, "f", about)


def test_a_line_nested_too_deep_is_not_used(place):
    file, calls = counted(place)
    at(file, 2)
    with open(file.path, "ab") as log:
        log.write(b"[" * 200_000 + b"\n")
    fresh, _ = counted(place)
    assert at(fresh, 2) == [4.0] and calls()["2"] == 1


def test_a_short_write_is_an_error(place, monkeypatch):
    """The write is short, as on a disk that is almost full."""
    file, _ = counted(place)
    at(file, 1)
    opened = open

    def short(*args, **kwargs):
        stream = opened(*args, **kwargs)
        if args[1:] != ("ab+",):
            return stream

        class Short:
            __enter__ = lambda self: self
            __exit__ = lambda self, *error: stream.close()
            __getattr__ = lambda self, name: getattr(stream, name)
            write = lambda self, line: stream.write(line[:5])

        return Short()

    monkeypatch.setattr(evaluations, "open", short, raising=False)
    with pytest.raises(OSError, match="the disk is full, an evaluation was not stored"):
        at(file, 2)


def leave(parameters):
    """End the process, or return a value that is not a number."""
    if parameters["x"] == 0:
        sys.exit(3)
    return {1: "2.5", 2: True}[parameters["x"]]


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_function_that_exits_or_returns_no_number_fails(place, monkeypatch, count):
    monkeypatch.setenv("OMP_NUM_THREADS", count)
    log = Evaluations(leave, "leave", ABOUT)
    assert evaluate([(log, {"x": x}) for x in range(3)]) == [0.0] * 3
    errors = [log.lookup({"x": x}).error for x in range(3)]
    assert errors[0] == "SystemExit: 3" and "'2.5'" in errors[1] and "True" in errors[2]


def test_an_unwritable_folder_is_detected_before_a_fit(place, tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    log = Evaluations(functools.partial(square, calls=str(calls)), "square", ABOUT)
    log.path.parent.parent.mkdir(parents=True, exist_ok=True)
    log.path.parent.write_text("no folder")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        evaluate([(log, {"x": 2})])
    assert not calls.exists()


def test_a_recreated_file_is_read_from_its_start(place, tmp_path):
    calls = tmp_path / "calls"
    make = lambda: Evaluations(functools.partial(square, calls=str(calls)), "square", ABOUT)
    reader, writer = make(), make()
    evaluate([(reader, {"x": x}) for x in (1, 2, 3)])
    reader.path.rename(reader.path.with_suffix(".old"))
    evaluate([(writer, {"x": 4})])
    assert evaluate([(reader, {"x": 4})]) == [16]
    assert len(calls.read_text().split()) == 4
