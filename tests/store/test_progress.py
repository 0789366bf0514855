"""Progress of long computations: the current run, the part done, and the time left.

Short computations show no progress, and results do not depend on it.
"""

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from toy import Coins, Index

from companion.store import progress, timing
from companion.store import results as store
from companion.workflow.canonical import canonical
from paperlib.play import play

CODE = Path(__file__).resolve().parents[2]
SLOW = Index(nap=0.03)


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    for name, folder in (("RESULTS", "results"), ("LOCKS", "")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / folder))
    monkeypatch.delenv("PAPERLIB_PROGRESS", raising=False)


class Clock:
    """Fake clock that advances on request and triggers its timers."""

    def __init__(self):
        self.now, self.timers = 1000.0, []

    def monotonic(self):
        return self.now

    def Timer(self, seconds, function):
        timer = SimpleNamespace(start=lambda: None)
        self.timers.append((self.now + seconds, function, timer))
        timer.cancel = lambda: setattr(
            self, "timers", [t for t in self.timers if t[2] is not timer]
        )
        return timer

    def go(self, seconds):
        self.now += seconds
        due = [timer for timer in self.timers if timer[0] <= self.now]
        self.timers = [timer for timer in self.timers if timer not in due]
        for _, function, _ in due:
            function()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(progress.threading, "Timer", clock.Timer)
    return clock


class Stream(io.StringIO):
    """Fake stderr, which may be a terminal or not."""

    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal

    def screen(self):
        """Return the text that a terminal would show."""
        return self.getvalue().rpartition("\r\x1b[K")[2]


def stderr(monkeypatch, terminal):
    stream = Stream(terminal)
    # We replace sys in this module only, because pytest's capture also replaces stderr.
    own = SimpleNamespace(stderr=stream, modules=sys.modules)
    monkeypatch.setattr(progress, "sys", own)
    return stream


@pytest.fixture
def terminal(monkeypatch):
    return stderr(monkeypatch, True)


@pytest.fixture
def log(monkeypatch):
    return stderr(monkeypatch, False)


# ---- Text of the line --------------------------------------------------------------------------------------


def test_the_line_shows_part_progress_and_remaining_time(clock):
    line = progress.ProgressLine("Sphere", 8)
    assert line.words(clock.now) == "Sphere: loading or waiting, 1 of 8"
    line.begin("A")
    assert line.words(clock.now) == "Sphere: A, 1 of 8"
    clock.go(10)
    line.tell(250, 1000)
    assert line.words(clock.now) == "Sphere: A, 1 of 8, round 250 of 1000, about 5 min left"
    clock.go(30)
    line.end()
    line.begin("B")
    assert line.words(clock.now) == "Sphere: B, 2 of 8, about 5 min left"
    clock.go(20)
    line.tell(500, 1000)
    assert line.words(clock.now) == "Sphere: B, 2 of 8, round 500 of 1000, about 4 min left"


def test_the_remaining_time_is_estimated_from_computed_parts(clock):
    line = progress.ProgressLine("Sphere", 10)
    for _ in range(6):  # loaded from a slow disk
        clock.go(100)
        line.end()
    assert line.words(clock.now) == "Sphere: loading or waiting, 7 of 10"
    line.begin("A")
    clock.go(10)
    line.end()
    clock.go(1000)  # another process measures run times
    assert line.words(clock.now) == "Sphere: loading or waiting, 8 of 10, about 30 s left"


@pytest.mark.parametrize(
    "seconds, words",
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5940, "99 min"), (6000, "1 h 40 min")],
)
def test_durations_in_words(seconds, words):
    assert progress.format_duration(seconds) == words


# ---- When and where the line is shown ----------------------------------------------------------------------


def test_a_terminal_line_is_overwritten_and_removed(clock, terminal):
    with progress.progress_line("Sphere", 2) as line:
        line.begin("A")
        clock.go(0.4)
        line.tell(1, 10)
        assert not terminal.getvalue()
        clock.go(0.1)
        assert terminal.screen() == "Sphere: A, 1 of 2, round 1 of 10, about 10 s left"
        clock.go(0.4)
        line.tell(2, 10)
        assert "round 2" not in terminal.getvalue()  # the last line is too recent
        clock.go(0.1)
        line.tell(3, 10)
        assert "round 3 of 10" in terminal.screen()
    assert terminal.screen() == "" and "\n" not in terminal.getvalue()


def test_a_long_first_round_does_not_delay_the_line(clock, terminal):
    with progress.progress_line("Sphere", 2):
        clock.go(0.6)
        assert terminal.screen() == "Sphere: loading or waiting, 1 of 2"


def test_a_line_is_no_longer_than_the_terminal(clock, terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    with progress.progress_line("Sphere" * 10, 2):
        clock.go(1)
        assert len(terminal.screen()) == 19


@pytest.mark.parametrize("kind", ["terminal", "log"])
def test_quick_work_shows_no_line(clock, kind, request):
    stream = request.getfixturevalue(kind)
    with progress.progress_line("Sphere", 2) as line:
        for _ in range(2):
            line.begin("A")
            clock.go(0.2)
            line.tell(5, 10)
            line.end()
    assert not clock.timers
    clock.go(100)
    assert stream.getvalue() == ""


def test_a_log_has_a_line_every_half_minute(clock, log):
    with progress.progress_line("Sphere", 2) as line:
        line.begin("A")
        for t in range(1, 71):
            clock.go(1)
            line.tell(t, 100)
    assert [re.search(r"round (\d+)", text)[1] for text in log.getvalue().splitlines()] == [
        "29",  # the timer fires before the round is reported
        "60",
    ]


def test_timings_show_their_line_at_the_start_and_between_parts(clock, terminal):
    with progress.progress_line("timing", 2, still=True) as line:
        assert not clock.timers and terminal.screen() == "timing: loading or waiting, 1 of 2"
        clock.go(1)
        line.begin("A")
        assert terminal.screen() == "timing: A, 1 of 2"
    assert terminal.screen() == ""


def test_a_file_contains_the_progress_line_during_the_work(clock, terminal, monkeypatch, tmp_path):
    file = tmp_path / "toy_1.progress"
    monkeypatch.setenv("PAPERLIB_PROGRESS", str(file))
    with progress.progress_line("Sphere", 2) as line:
        line.begin("A−")
        clock.go(0.5)
        clock.go(0.5)
        line.tell(5, 10)
        assert file.read_text("utf-8") == "Sphere: A−, 1 of 2, round 5 of 10, about 3 s left"
    assert not file.exists() and terminal.getvalue() == ""
    file.write_text("another's")
    with progress.progress_line("Sphere", 2):  # a short computation does not own the file
        pass
    assert file.read_text() == "another's"
    monkeypatch.setenv("PAPERLIB_PROGRESS", str(tmp_path / "none/such"))
    with progress.progress_line("Sphere", 2):
        clock.go(1)


@pytest.mark.parametrize("kind", ["terminal", "file"])
def test_an_exception_closes_the_line(clock, terminal, monkeypatch, tmp_path, kind):
    file = tmp_path / "toy_1.progress"
    if kind == "file":
        monkeypatch.setenv("PAPERLIB_PROGRESS", str(file))
    seen = []

    def work():
        with progress.progress_line("Sphere", 2) as line:
            seen.append(line)
            clock.go(1)
            seen.append(file.exists() or terminal.screen())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    line, shown = seen
    assert shown
    clock.go(100)
    line.tell(1, 2)  # a timer may fire late
    assert not file.exists() and terminal.screen() == ""


def test_a_closed_stream_does_not_stop_the_work(clock, terminal):
    with progress.progress_line("Sphere", 2):
        terminal.close()
        clock.go(1)


class OnlyWrites:
    """Stream with ``write`` only, as some loggers put it in the place of stderr."""

    def write(self, text):
        pass


@pytest.mark.parametrize("gone", [None, "closed", OnlyWrites()], ids=["none", "closed", "shim"])
def test_a_missing_stream_does_not_stop_a_run(gone, monkeypatch):
    if gone == "closed":
        gone = io.StringIO()
        gone.close()
    monkeypatch.setattr(sys, "stderr", gone)
    trace = store.run(Coins(), {"a": Index()}, 10, 2)["a"]
    assert trace.equal(play(Index(), Coins(), 10, 2))


# ---- Runs and timings --------------------------------------------------------------------------------------


def spoken(monkeypatch, patience=0.0):
    """Return a list that collects every line shown from now on."""
    lines = []
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr("paperlib.play.PROGRESS_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_medium", lambda: lines.append)
    return lines


def test_a_run_shows_each_part_and_its_rounds(terminal, monkeypatch):
    lines = spoken(monkeypatch)
    learners = {"a": SLOW, "b": Index()}
    store.run(Coins(), learners, 30, {"a": 2, "b": 3}, chunk=2)
    text = "\n".join(lines)
    for part in ("a, 1 of 3", "a, 1 of 3, round ", "b, 2 of 3", "b, 3 of 3"):
        assert f"Coins: {part}" in text
    assert re.search(r"round \d+ of 30, about \d s left", text) and lines[-1] == ""
    lines.clear()
    store.run(Coins(), learners, 30, {"a": 2, "b": 3}, chunk=2)
    assert not re.search(": [ab],", "\n".join(lines))  # all results were stored already


def test_a_shard_counts_its_own_parts(terminal, monkeypatch):
    lines = spoken(monkeypatch)
    monkeypatch.setattr(store, "_numbers", iter(range(100)))
    monkeypatch.setenv("PAPERLIB_SHARD", "2/2")
    store.run(Coins(), {"a": SLOW, "b": Index()}, 10, 6, chunk=2)
    text = "\n".join(lines)
    # This shard has the parts 1, 3 and 5 of 0 to 5.
    assert all(said in text for said in ("a, 1 of 3", "b, 2 of 3", "b, 3 of 3")), text


def test_a_run_that_fails_closes_its_line(terminal, monkeypatch):
    lines = spoken(monkeypatch)
    with pytest.raises(ValueError, match="round"):
        store.run(Coins(broken=20), {"a": SLOW}, 30, 2)
    assert lines[-1] == ""


@pytest.mark.slow
def test_a_timing_shows_each_run_without_a_thread(terminal, monkeypatch):
    lines, threads = spoken(monkeypatch, patience=60.0), []
    monkeypatch.setattr(
        timing,
        "play",
        lambda *args, **more: (
            threads.append(progress.threading.active_count()) or play(*args, **more)
        ),
    )
    before = progress.threading.active_count()
    timing.time_rounds([(SLOW, Coins()), (Index(), Coins())], 20, 2, [1, 1])
    text = "\n".join(lines)
    assert all(f"timing: Index, {n} of 4" in text for n in (1, 2, 3, 4)) and lines[-1] == ""
    assert {*threads} == {before}


@pytest.mark.slow
def test_results_are_equal_bit_for_bit(terminal, monkeypatch, tmp_path):
    lines = spoken(monkeypatch)
    told = store.run(Coins(), {"a": SLOW}, 20, 4, chunk=2)["a"]
    assert any("round" in text for text in lines)
    assert told.equal(play(SLOW, Coins(), 20, 4))  # without a progress callback
    held = {path.name for path in (tmp_path / "results").iterdir()}
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "others"))
    store.run(Coins(), {"a": SLOW}, 20, 4, chunk=2, progress=lambda *_: None)
    assert {path.name for path in (tmp_path / "others").iterdir()} == held


def test_a_progress_callback_receives_all_rounds_and_replaces_the_line(terminal, monkeypatch):
    heard, lines = [], spoken(monkeypatch)
    store.run(Coins(), {"a": SLOW}, 40, 2, every=0.1, progress=lambda t, T, s: heard.append((t, T)))
    assert len(heard) >= 3 and {T for _, T in heard} == {40} and lines == []


def test_a_line_costs_microseconds_a_round(monkeypatch, terminal):
    """The hook and the line add little to a round, which takes about a millisecond.

    Their cost is measured separately, as the minimum of several measurements.
    """
    line = progress.ProgressLine("Sphere", 1)
    line.begin("A")
    line.due = float("inf")  # no line is due, as between two updates

    def cost():
        begun = time.perf_counter()
        for t in range(2000):
            line.tell(t, 2000)
        return (time.perf_counter() - begun) / 2000

    assert min(cost() for _ in range(5)) < 20e-6
    line.close()
    # ``play`` calls the hook at most twice per second.
    heard = []
    begun = time.perf_counter()
    play(Index(nap=0.001), Coins(), 600, 1, progress=lambda *_: heard.append(1))
    assert len(heard) <= (time.perf_counter() - begun) / 0.5


# ---- Notebooks ---------------------------------------------------------------------------------------------

IMPORTS = f"""import sys
sys.path[:0] = [{str(CODE)!r}, {str(CODE / "tests")!r}]
from toy import Coins, Index
from companion import store
from paperlib import play
from companion.store import progress
play.PROGRESS_SECONDS = progress.PROGRESS_SECONDS = progress.PATIENCE = 0.1"""
RUN = "traces = store.run(Coins(), {'a': Index(nap=0.05)}, 12, 1, seed=%d)"
CELLS = {
    "alone": RUN % 1,
    "twice": f"{RUN % 2}\n{RUN % 3}",
    "before": f"print('before')\n{RUN % 4}\n{RUN % 5}",
    "after": f"{RUN % 6}\nprint('after')",
    "amid": f"{RUN % 7}\nprint('amid')\n{RUN % 8}",
    "failed": f"try:\n    {(RUN % 9).replace('Coins()', 'Coins(broken=8)')}\nexcept ValueError:\n    pass",
}


class Watched(NotebookClient):
    """Client that records every message of a notebook's outputs while it runs."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data", "clear_output"):
            self.seen.setdefault(cell_index, []).append(
                (msg["msg_type"], msg["content"].get("data"))
            )
        return super().process_message(msg, cell, cell_index)


@pytest.fixture
def executed(tmp_path, monkeypatch):
    """Run a notebook with the cells above in a kernel; return it and its outputs during the run."""
    monkeypatch.delenv("PYTEST_VERSION", raising=False)  # this variable marks a kernel of nbval
    cells = [new_code_cell(source) for source in (IMPORTS, *CELLS.values())]
    notebook = new_notebook(cells=cells)
    client = Watched(notebook, kernel_name="python3", timeout=120)
    client.seen = {}
    client.execute()
    return notebook, client.seen


@pytest.mark.slow
def test_a_notebook_shows_the_line_and_removes_it(executed):
    notebook, seen = executed
    outputs = dict(zip(CELLS, (cell.outputs for cell in notebook.cells[1:])))
    shown = [data.get("text/plain", "") for _, data in seen[1] if data]
    assert any(
        re.fullmatch(r"Coins: a, 1 of 1, round \d+ of 12, about \d s left", s) for s in shown
    )
    for name in ("alone", "twice", "failed"):
        assert outputs[name] == [], name
    kinds = {name: [output.output_type for output in found] for name, found in outputs.items()}
    assert kinds["after"] == ["stream"] and outputs["after"][0].text == "after\n"
    # Jupyter cannot remove one of several outputs, so it is emptied.
    assert kinds["before"] == ["stream", "display_data"] and outputs["before"][1].data == {}
    assert kinds["amid"] == ["stream", "display_data"] and outputs["amid"][1].data == {}
    nbformat.validate(notebook)
    kept = canonical(notebook, notebook)
    assert all(output.output_type == "stream" for cell in kept.cells for output in cell.outputs)


@pytest.mark.slow
def test_nbval_does_not_compare_the_progress_line(tmp_path):
    tags = {"tags": ["nbval-check-output"]}
    cells = [new_code_cell(IMPORTS, execution_count=1)]
    for number, source in enumerate((CELLS["alone"], CELLS["after"]), 2):
        cells.append(new_code_cell(source, execution_count=number, metadata=tags))
    cells[2].outputs = [nbformat.v4.new_output("stream", name="stdout", text="after\n")]
    notebook = new_notebook(cells=cells)
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, tmp_path / "toy_1.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:benchmark", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--nbval", "--nbval-current-env", "toy_1.ipynb"],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout
