"""Experiments in shards store the same results as a single run."""

import itertools
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from test_workflow import CODE, PARAMETERS, call, root, run, write  # noqa: F401 (root is a fixture)
from toy import Coins, Index

from companion.store import results as store
from companion.workflow import declared, jobs
from companion.workflow import plan as workflow
from paperlib.core.trace import Trace

TESTS = Path(__file__).resolve().parents[1]
IMPORTS = f"""import sys
sys.path.insert(0, {str(TESTS)!r})
import numpy as np
from toy import Coins, Index
from companion.store import results as store
level = 2.0
def scaled(round):
    return level * round.feedback
"""
EXPERIMENT = """traces = {
    arms: store.run(Coins(arms), {"a": Index(), "b": Index(2.0)}, 40, {"a": trials, "b": 2}, chunk=2, probes={"scaled": scaled})
    for arms in (3, 4)
}
"""
REST = """open("rest", "a").write("x")
timed = store.cached_call("timed", lambda: {"seconds": 1.0})
for by_name in traces.values():
    for name, trace in by_name.items():
        print(name, trace.trials, trace["regret"].sum(), trace["scaled"].sum())
"""
SHARDED = [("", IMPORTS), ("experiment", EXPERIMENT), ("", REST)]


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    # Tests must not wait for timings of other processes on the machine.
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))
    monkeypatch.delenv("PAPERLIB_SHARD", raising=False)


def notebook(root, stem, cells, profiles=""):
    """Write a notebook with the parameters cell, followed by cells (tag or none, source)."""
    made = [new_code_cell(PARAMETERS, id="p", metadata={"tags": ["parameters"]})]
    made += [
        new_code_cell(source, id=f"c{i}", metadata={"tags": [tag] if tag else []})
        for i, (tag, source) in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(
        new_notebook(cells=made, metadata={"kernelspec": kernel}),
        root / "notebooks" / f"{stem}.ipynb",
    )
    (root / "notebooks" / "profiles.toml").write_text(profiles)


def printed(root, stem):
    """Return the text printed by the last cell of an executed copy."""
    return (
        nbformat.read(root / f"results/paper/{stem}.ipynb", as_version=4).cells[-1].outputs[0].text
    )


def chunks(root):
    return {path.name: path.stat().st_mtime_ns for path in (root / "results").glob("*.npz")}


# ---- The store ---------------------------------------------------------------------------------------------


def experiment(part, monkeypatch):
    """Make two calls in shard `part` (if any), of 3 + 1 chunks each."""
    monkeypatch.setattr(store, "_numbers", itertools.count())
    monkeypatch.setenv("PAPERLIB_SHARD", part)
    learners = {"a": Index(), "b": Index(2.0)}
    return [store.run(Coins(arms), learners, 30, {"a": 5, "b": 2}, chunk=2) for arms in (3, 4)]


@pytest.mark.parametrize("n, sizes", [(1, [8]), (2, [4, 4]), (3, [3, 3, 2]), (9, [1] * 8 + [0])])
def test_shards_compute_the_same_results_as_one_run(tmp_path, monkeypatch, n, sizes):
    left = []
    for k in range(1, n + 1):
        before = len(chunks(tmp_path))
        experiment(f"{k}/{n}", monkeypatch)
        left.append(len(chunks(tmp_path)) - before)
    kept = chunks(tmp_path)
    merged = experiment("", monkeypatch)
    # Each chunk was computed once, and no chunk is missing.
    assert left == sizes and chunks(tmp_path) == kept
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "fresh"))
    whole = experiment("", monkeypatch)
    assert all(
        one[name].equal(other[name])
        for one, other in zip(merged, whole, strict=True)
        for name in ("a", "b")
    )


def test_missing_chunks_of_shards_are_computed(tmp_path, monkeypatch):
    experiment("2/2", monkeypatch)
    assert len(chunks(tmp_path)) == 4
    assert all(
        isinstance(trace, Trace)
        for traces in experiment("", monkeypatch)
        for trace in traces.values()
    )
    assert len(chunks(tmp_path)) == 8


@pytest.mark.parametrize(
    "use", [lambda r: r["regret"], lambda r: r.seconds, len, list, lambda r: r.save("x")]
)
def test_results_of_a_shard_cannot_be_read(monkeypatch, use):
    traces = experiment("1/1", monkeypatch)[0]  # even if all results are stored already
    with pytest.raises(RuntimeError, match="a shard has no results, but the code reads a. "):
        use(traces["a"])


def test_a_shard_skips_cached_calls(monkeypatch):
    monkeypatch.setenv("PAPERLIB_SHARD", "1/2")
    found = store.cached_call("timed", lambda: pytest.fail("a timing was taken in a shard"))
    with pytest.raises(RuntimeError, match="a shard has no results, but the code reads timed. "):
        found["seconds"]


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "1/0", "a/b", "1/2/3"])
def test_a_wrong_shard_is_refused(monkeypatch, text):
    monkeypatch.setenv("PAPERLIB_SHARD", text)
    with pytest.raises(ValueError, match="^PAPERLIB_SHARD must be k/n with 1 <= k <= n, got "):
        store.current_shard()


# ---- Cells of a notebook -----------------------------------------------------------------------------------


def test_the_number_of_shards_is_that_of_the_paper_profile(root):
    write(root, "toy_1", "", "[toy_1]\nshards = 4\n")
    write(root, "toy_2", "")
    counts = {profile: workflow.shard_count("toy_1", profile) for profile in declared.PROFILES}
    assert counts == {"quick": 1, "paper": 4, "replication": 4}
    assert workflow.shard_count("toy_2", "paper") == 1


def test_a_shard_runs_experiments_and_earlier_cells(root):
    cells = [
        ("", "1"),
        ("timing", "2"),
        ("claims", "3"),
        ("experiment", "4"),
        ("", "5"),
        ("timing", "6"),
        ("experiment", "7"),
        ("", "8"),
    ]
    notebook(root, "toy_1", cells)
    sources = [cell.source for cell in jobs.shard_cells("toy_1").cells]
    assert sources == [PARAMETERS, "1", "pass", "3", "4", "pass", "pass", "7", "pass"]
    notebook(root, "toy_1", [("", "1")])
    with pytest.raises(ValueError, match="toy_1 must have a cell with the tag 'experiment'"):
        jobs.shard_cells("toy_1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "stem", [x for x in workflow.notebook_stems() if workflow.shard_count(x, "paper") > 1]
)
def test_no_experiment_of_a_notebook_reads_results(stem, monkeypatch):
    # A shard with a number that no chunk has computes nothing.
    monkeypatch.setenv("PAPERLIB_SHARD", f"{10**6}/{10**6}")
    names = {"__name__": "notebook"}
    for cell in jobs.shard_cells(stem).cells:
        exec(cell.source, names)


def job(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "companion.workflow.jobs", *arguments],
        cwd=CODE,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_shards_cells_run_with_checked_parameters_in_the_notebooks_folder(root):
    source = """import os, sys
from dataclasses import dataclass
@dataclass
class Here:
    x: "Here | None" = None
assert Here.__module__ == "__main__" and sys.modules["__main__"].Here is Here
open("seen", "w").write(f"{trials} {delta} {os.environ['PAPERLIB_SHARD']}")
open(os.environ["PAPERLIB_FIGURES"] + "/figure.png", "w")
"""
    notebook(root, "toy_1", [("experiment", source)], "[toy_1.paper]\ntrials = 6\ndelta = 1\n")
    done = job("toy_1", "paper", "--shard", "2/3")
    assert done.returncode == 0 and done.stdout.startswith("  toy_1 2/3  done in "), done.stderr
    assert (root / "notebooks/seen").read_text() == "6 1.0 2/3"
    assert json.loads((root / "results/paper/toy_1.shard2of3.done").read_text())["products"] == {}
    assert not (root / "figures").exists()


@pytest.mark.slow
def test_a_shard_that_reads_results_fails_with_its_cell(root):
    notebook(
        root,
        "toy_1",
        [
            ("", IMPORTS),
            ("experiment", EXPERIMENT),
            ("experiment", "total = 0\ntotal += traces[3]['a']['regret'].sum()"),
        ],
    )
    done = job("toy_1", "quick", "--shard", "1/2")
    last = (root / "results/quick/toy_1.shard1of2.log").read_text().strip().splitlines()
    assert (
        done.returncode == 1
        and "toy_1 1/2  failed, cell 5: RuntimeError: a shard has no results, but the code reads a"
        in done.stdout
    )
    assert last[-1].startswith(
        "cell 5: RuntimeError: a shard has no results, but the code reads a."
    )
    assert any("line 2" in line for line in last if "[5]" in line)
    assert not (root / "results/quick/toy_1.shard1of2.done").exists()


@pytest.mark.slow
def test_a_shard_on_a_full_disk_names_the_folder_of_figures(root):
    notebook(
        root,
        "toy_1",
        [
            (
                "experiment",
                "import errno, os\nraise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))",
            )
        ],
    )
    job("toy_1", "quick", "--shard", "1/1")
    last = (root / "results/quick/toy_1.shard1of1.log").read_text().strip().splitlines()[-1]
    assert (
        f"results are written to {root / 'results'}, figures to {root / 'figures'}; free some space there"
        in last
    )


@pytest.mark.slow
def test_a_job_finishes_if_its_output_pipe_is_closed(root):
    notebook(root, "toy_1", [("experiment", "1")])
    end, pipe = os.pipe()
    os.close(end)
    process = subprocess.Popen(
        [sys.executable, "-m", "companion.workflow.jobs", "toy_1", "quick", "--shard", "1/1"],
        cwd=CODE,
        stdout=pipe,
        stderr=subprocess.PIPE,
    )
    os.close(pipe)
    said = process.communicate()[1].decode()
    assert process.returncode == 0 and (root / "results/quick/toy_1.shard1of1.done").exists(), said


# ---- Snakemake ---------------------------------------------------------------------------------------------


def expected(tmp_path, monkeypatch):
    """Return the expected output of the toy notebook, from unsharded runs in a separate store."""
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "fresh"))
    lines = []
    for arms in (3, 4):
        traces = store.run(
            Coins(arms),
            {"a": Index(), "b": Index(2.0)},
            40,
            {"a": 6, "b": 2},
            chunk=2,
            probes={"scaled": lambda r: 2.0 * r.feedback},
        )
        lines += [
            f"{name} {trace.trials} {trace['regret'].sum()} {trace['scaled'].sum()}\n"
            for name, trace in traces.items()
        ]
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    return "".join(lines)


@pytest.mark.slow
def test_shards_run_first_and_the_notebook_only_loads(root, monkeypatch):
    notebook(root, "toy_1", SHARDED, "[toy_1]\nshards = 2\n[toy_1.paper]\ntrials = 6\n")
    text = watched("figures", "--profile", "paper")
    shards = [(root / f"results/paper/toy_1.shard{k}of2.done").stat().st_mtime_ns for k in (1, 2)]
    kept = sorted(path.stat().st_mtime_ns for path in (root / "results").glob("*.npz"))
    assert (
        printed(root, "toy_1") == expected(root, monkeypatch)
        and (root / "notebooks/rest").read_text() == "x"
    )
    # The file of store.cached_call is the only one newer than the shards.
    assert len(kept) == 9 and kept[-2] <= max(shards) < kept[-1]
    assert "0 of 3 done; running toy_1.shard" in text and "\r\x1b[K  toy_1 1/2  done in " in text
    again = call("figures", "--profile", "paper")
    text = again.communicate(timeout=400)[0]
    assert (
        again.returncode == 0
        and "(unchanged)" in text
        and "\x1b" not in text
        and (root / "notebooks/rest").read_text() == "x"
    )


def watched(*arguments):
    """Return the text that run.py writes on a terminal."""
    mine, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, CODE / "run.py", *arguments],
        env={**os.environ, "PAPERLIB_PYTHON": sys.executable, "COLUMNS": "200"},
        stdout=its,
        stderr=its,
    )
    os.close(its)
    text = b""
    while True:
        try:
            new = os.read(mine, 4096)
        except OSError:  # the last process has closed its end; macOS returns no data instead
            break
        if not new:
            break
        text += new
    os.close(mine)
    assert process.wait(200) == 0, text.decode()
    return text.decode()


@pytest.fixture
def costs(tmp_path, monkeypatch):
    known = {
        "toy_1": {"seconds": 36000, "gib": 1.0, "processor": "Toy"},
        "toy_2": {"seconds": 3600, "gib": 1.0, "processor": "Toy"},
    }
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/notebooks.json").write_text(json.dumps(known))
    monkeypatch.setattr(run, "ROOT", tmp_path)
    return lambda profile="paper": run.Costs(profile, {"toy_1": {"shards": 4}}, jobs=2)


def test_the_expected_time_is_that_of_the_measured_notebooks(costs):
    assert costs().expected(["toy_1", "toy_2"]) == (
        "Without stored results, these notebooks take 11.0 hours of CPU time (Toy), about 5.5 hours with 2 at a time."
    )
    assert "results, 1 of these notebooks take 1.0 hours" in costs().expected(["toy_2", "toy_3"])
    assert costs().expected(["toy_3"]) == costs("quick").expected(["toy_2"]) == ""


def test_the_time_left_is_that_of_the_planned_jobs_that_have_not_finished(costs):
    rows = "toy_1_shard  4\ntoy_1   1\ntoy_2   1\nall   1\ntotal    7\n"
    log = f"Job stats:\njob  count\n---  ---\n{rows}\n"
    assert run.progress(log, 5, costs=costs()) == "5 s, 0 of 7 done, about 5.5 h left"
    for id, name in ((4, "toy_1.shard1of4"), (5, "toy_2"), (6, "toy_1.shard3of4")):
        log += f"[Mon]\nrule x:\n    input: a\n    output: /there/{name}.done\n    jobid: {id}\n"
        log += f"[Mon]\nFinished jobid: {id} (Rule: x)\n"
    assert run.progress(log, 60, costs=costs()) == "60 s, 3 of 7 done, about 2.5 h left"
    half = log.replace("toy_1_shard  4", "toy_1_shard  3")
    assert run.progress(half, 60, costs=costs()) == "60 s, 3 of 7 done, about 75 min left"
    assert run.progress(log, 60, costs=costs("quick")) == "60 s, 3 of 7 done"


# ---- Notebooks that run again ------------------------------------------------------------------------------


def test_progress_is_read_from_the_log():
    start = "[Mon]\nlocalrule toy_1:\n    input: a, b\n    output: /some where/{}.done\n    jobid: {}\n    reason: new\n"
    log = "Building DAG\n"
    assert run.progress(log, 2.7) == "3 s, checking for changes"
    log += (
        "Job stats:\njob  count\n---  ---\ntoy_1   1\ntotal    3\n\n"
        + start.format("toy_1.shard1of2", 4)
        + start.format("toy_2", 12)
    )
    assert run.progress(log, 5) == "5 s, 0 of 3 done; running toy_1.shard1of2, toy_2"
    far = {"/some where/toy_2": "Coins: a, 1 of 4, round 8 of 20"}
    assert (
        run.progress(log, 5, lambda path: far.get(path, ""))
        == "5 s, 0 of 3 done; running toy_1.shard1of2, toy_2 (Coins: a, 1 of 4, round 8 of 20)"
    )
    log += "[Mon]\nFinished jobid: 4 (Rule: toy_1_shard)\n1 of 3 steps (33%) done\n"
    assert run.progress(log, 60) == "60 s, 1 of 3 done; running toy_2"
    log += "[Mon]\nError in rule toy_2:\n    message: None\n    jobid: 12\n    output: /some where/toy_2.done\n"
    assert run.progress(log, 60) == "60 s, 1 of 3 done"
    assert (
        run.progress(log + "Trying to restart job 12.\n" + start.format("toy_2", 12), 61)
        == "61 s, 1 of 3 done; running toy_2"
    )


@pytest.mark.slow
def test_a_failed_notebook_is_tried_twice_and_the_others_continue(root):
    wait = "import time\nstart = time.monotonic()\nwhile len(open('tries').read()) < 2 and time.monotonic() < start + 200:\n    time.sleep(.1)"
    write(root, "toy_1", "open('tries', 'a').write('x')\nraise OSError('never')")
    write(root, "toy_2", f"open('tries', 'a')\n{wait}")
    write(
        root,
        "toy_3",
        "import os\nif not os.path.exists('tried'):\n    open('tried', 'w')\n    raise OSError('once')",
        '[toy_3]\nafter = ["toy_2"]\n',
    )
    process = call("figures", "--jobs", "2")
    text = process.communicate(timeout=400)[0]
    assert process.returncode == 1 and "toy_1 has no result: cell 3: OSError: never" in text
    assert (root / "notebooks/tries").read_text() == "xx"
    # The second attempt of toy_3 started after the last one of toy_1.
    assert {path.stem for path in root.glob("results/quick/*.done")} == {"toy_2", "toy_3"}


@pytest.mark.slow
def test_code_and_data_that_changed_run_their_notebooks_again(root):
    copy = root / "copy"
    for name in ("paperlib", "companion", "data"):
        shutil.copytree(CODE / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run.py", "Snakefile"):
        shutil.copy(CODE / name, copy)
    write(root, "toy_1", "from paperlib import stats")
    write(root, "toy_2", "from companion import datasets")
    write(root, "toy_3", "trials")

    def ran(begun):
        environment = {**os.environ, "PAPERLIB_PYTHON": sys.executable}
        process = subprocess.run(
            [sys.executable, copy / "run.py", "figures"],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert process.returncode == 0, process.stdout
        return {
            path.stem
            for path in root.glob("results/quick/*.done")
            if path.stat().st_mtime_ns > begun
        }

    assert ran(0) == {"toy_1", "toy_2", "toy_3"}
    begun = max(path.stat().st_mtime_ns for path in root.glob("results/quick/*.done"))
    stamp = (copy / "paperlib/stats.py").stat().st_mtime_ns
    with open(copy / "data/covtype_arms.csv", "a") as file:
        file.write("\n")
    with open(copy / "paperlib/stats.py", "a") as file:
        file.write("\n")
    # cp -p, rsync -a, or an edit during the notebook's run can leave a changed file with an old time stamp.
    os.utime(copy / "paperlib/stats.py", ns=(stamp, stamp))
    # test_a_change_affects_the_notebooks_that_use_the_file_and_no_others has which of the changes runs which notebook.
    assert ran(begun) == {"toy_1", "toy_2"}
