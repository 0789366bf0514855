"""If a notebook is interrupted, one line states the reason, and it is retried only if that may help."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from companion.workflow import jobs, plan

CODE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CODE))
import run  # noqa: E402

PARAMETERS = 'profile: str = "quick"  # sizes\ndevice: str = "auto"  # where'


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, folder in (("ROOT", ""), ("RESULTS", "results"), ("FIGURES", "figures")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / folder))
    monkeypatch.setenv("PAPERLIB_PYTHON", sys.executable)
    monkeypatch.setattr(run, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "results/quick").mkdir(parents=True)
    return tmp_path


def write(root, *sources, profiles=""):
    notebook = new_notebook(cells=[new_code_cell(source) for source in (PARAMETERS, *sources)])
    notebook.cells[0].metadata.tags = ["parameters"]
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, root / "notebooks/toy_1.ipynb")
    (root / "notebooks/profiles.toml").write_text(profiles)


def job(*arguments):
    """Return the exit status and the output of one job, called as Snakemake calls it."""
    command = [sys.executable, "-m", "companion.workflow.jobs", "toy_1", "quick", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CODE)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


# ---- A cell that takes too long ----------------------------------------------------------------------------


def test_the_time_of_a_cell_is_set_in_profiles(root):
    write(root)
    assert (
        plan.cell_timeout("toy_1", "quick") == 3600
        and plan.cell_timeout("toy_1", "paper") == 172_800
    )
    write(root, profiles="[toy_1]\ntimeout = 7\n")
    assert plan.cell_timeout("toy_1", "quick") == plan.cell_timeout("toy_1", "paper") == 7


@pytest.mark.slow
def test_a_cell_that_takes_too_long_is_stopped_and_named(root):
    profiles = "[toy_1]\ntimeout = 2\n"
    write(root, "1", "import time\ntime.sleep(300)", "2", profiles=profiles)
    code, said = job()
    line = "cell 4: took longer than 2 s. Increase `timeout` in the notebook's section of profiles.toml"
    assert code == 1 and f"toy_1  failed, {line}" in said
    assert (root / "results/quick/toy_1.log").read_text().splitlines()[-1] == line


# ---- A killed kernel ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_kernel_is_reported(root):
    write(root, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "2")
    code, said = job()
    assert (
        code == 1
        and "toy_1  failed, cell 3: the kernel died, most often because the memory" in said
    )
    line = (root / "results/quick/toy_1.log").read_text().splitlines()[-1]
    assert line.startswith("cell 3: the kernel died, most often because the memory")
    assert not (root / "results/quick/toy_1.failed").exists()  # another attempt may succeed


def test_a_kernel_killed_for_memory_is_recognized(root, monkeypatch):
    counts = iter((4, 5))
    monkeypatch.setattr(jobs, "killed_for_memory", lambda: next(counts))
    write(root)

    def die(*args, **kwargs):
        raise DeadKernelError("Kernel died")

    monkeypatch.setattr("papermill.execute_notebook", die)
    with pytest.raises(
        jobs.Stopped, match="a cell: the kernel was killed because the memory was full"
    ):
        jobs.run_notebook("toy_1", {}, root, 10)


@pytest.mark.slow
def test_a_memory_error_may_be_retried(root):
    """MemoryError is an error of the machine, even if a cell raises it."""
    write(root, "raise MemoryError('no room')")
    code, said = job()
    assert code == 1 and "cell 3: MemoryError: no room" in said
    assert not (root / "results/quick/toy_1.failed").exists()


# ---- Failures that are retried -----------------------------------------------------------------------------


class Cell(Exception):
    def __init__(self, ename):
        self.ename = ename


@pytest.mark.parametrize(
    "error, again",
    [
        (Cell("ValueError"), False),
        (Cell("ZeroDivisionError"), False),
        (Cell("AssertionError"), False),
        (Cell("SomethingOfItsOwn"), False),
        (Cell("OSError"), True),
        (Cell("ConnectionError"), True),
        (Cell("MemoryError"), True),
        (Cell("OutOfMemoryError"), True),
        (ValueError("a parameter"), False),
        (RuntimeError("Kernel didn't respond in 120 seconds"), True),
        (OSError("a disk"), True),
        (jobs.Stopped("too long", again=False), False),
        (jobs.Stopped("killed", again=True), True),
    ],
)
def test_errors_of_the_machine_may_pass(error, again):
    assert jobs.may_pass_later(error) == again


@pytest.mark.slow
def test_errors_of_the_code_are_not_retried(root):
    write(root, "open('tries', 'a').write('x')\nraise ValueError('never')")
    tries = root / "notebooks/tries"
    assert job()[0] == 1 and tries.read_text() == "x"
    assert job("--attempt", "2") == (1, "") and tries.read_text() == "x"
    assert "ValueError: never" in (root / "results/quick/toy_1.log").read_text()
    assert job()[0] == 1 and tries.read_text() == "xx"  # a new call tries again


@pytest.mark.slow
def test_run_retries_a_killed_kernel_but_not_a_value_error(root):
    kill = "open('tries', 'a').write('x')\nimport os, signal\nlen(open('tries').read()) > 1 or os.kill(os.getpid(), signal.SIGKILL)"
    fail = "open('tries', 'a').write('x')\nraise ValueError('never')"
    for source, code, tries in ((kill, 0, "xx"), (fail, 1, "x")):
        (root / "notebooks/tries").unlink(missing_ok=True)
        write(root, source)
        done = subprocess.run(
            [sys.executable, CODE / "run.py", "figures"], capture_output=True, text=True
        )
        assert done.returncode == code, done.stdout
        assert (root / "notebooks/tries").read_text() == tries


# ---- A missing device --------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["True", "False", ""])
@pytest.mark.parametrize("command", ["figures", "bench"])
def test_cuda_without_a_device_is_rejected_first(root, monkeypatch, command, there):
    python = root / "python"
    python.write_text(f"#!/bin/sh\necho {there}\n")
    python.chmod(0o755)
    begun = []
    monkeypatch.setattr(run, "environment", lambda: str(python))
    monkeypatch.delenv("PAPERLIB_PYTHON", raising=False)
    monkeypatch.setattr(run.signal, "signal", lambda *_: None)
    monkeypatch.setattr(run, "figures", lambda *_: begun.append("figures") or 0)
    monkeypatch.setattr(run, "call", lambda *_, **__: begun.append("bench") or 0)
    if there == "False":
        with pytest.raises(
            SystemExit,
            match="--device must be auto or cpu, because torch finds no CUDA device, got cuda",
        ):
            run.main([command, "--device", "cuda"])
        assert not begun
        if command == "figures":  # the device belongs to the cluster's machines
            assert (
                run.main([command, "--device", "cuda", "--cluster", str(CODE / "profiles/slurm")])
                == 0
            )
        assert run.main([command, "--device", "cpu"]) == 0
    else:
        assert run.main([command, "--device", "cuda"]) == 0 and begun == [command]
