"""The cluster profile on a real Slurm without accounting: a killed job, interruptions, and the next call."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import nbformat
import psutil
import pytest
import slurm
import yaml
from test_shards import EXPERIMENT, IMPORTS, REST, alone, expected, notebook  # noqa: F401
from test_workflow import CODE, call, root, run  # noqa: F401 (root is a fixture)
from waiting import wait

PROFILE = yaml.safe_load((CODE / "profiles/slurm/config.yaml").read_text())
# The second shard waits until the test opens the gate.
GATE = """import os, pathlib, time
if os.environ.get("PAPERLIB_SHARD") == "2/2":
    pathlib.Path("waits").touch()
    while not pathlib.Path("gate").exists():
        time.sleep(0.1)
"""
NUMBERS = "print(os.environ['OMP_NUM_THREADS'], 'SLURM_JOB_ID' in os.environ)"


@pytest.fixture
def project(root):  # noqa: F811
    """Write a notebook with two shards, and the project's profile with short waiting times."""
    cells = [("", IMPORTS), ("", GATE), ("experiment", EXPERIMENT), ("", REST), ("", NUMBERS)]
    notebook(root, "toy_1", cells, "[toy_1]\nshards = 2\n[toy_1.paper]\ntrials = 6\n")
    quick = {"slurm-init-seconds-before-status-checks": 1, "latency-wait": 5}
    write_profile(root, quick)
    return root


def write_profile(root, entries):  # noqa: F811
    (root / "profile").mkdir(exist_ok=True)
    (root / "profile/config.yaml").write_text(yaml.safe_dump(PROFILE | entries))
    return root / "profile"


@contextlib.contextmanager
def figures(project):
    """Start the command; when the block ends, end what is left of it."""
    process = call("figures", "--profile", "paper", "--cluster", str(project / "profile"))
    try:
        yield process
    finally:
        for one in (*children(process), process):
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                one.kill()
        process.communicate()


def children(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def finish(process, project, seconds):
    """Return the output of the command; fail with Snakemake's log if it does not end in time."""
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        log = (project / "results/paper/snakemake.log").read_text()
        pytest.fail(f"run.py did not end within {seconds} s. The log of Snakemake:\n{log}")


def queued(name="paperlib", states="pending,running,completing"):
    """Return the numbers of the jobs whose names start with `name`, and their comments."""
    text = slurm.output("squeue", "--noheader", f"--states={states}", "--format=%i %j %k")
    found = (line.split(maxsplit=2) for line in text.splitlines())
    return {job: comment for job, own, comment in found if own.startswith(name)}


def second_shard(seen=()):
    """Return the number of a running job of the second shard that is not in `seen`; "" if there is none."""
    jobs = queued(states="running").items()
    return next((job for job, comment in jobs if comment.endswith("_2") and job not in seen), "")


@pytest.mark.slow
def test_a_killed_job_is_reported_and_the_next_call_resumes(project, monkeypatch):
    first = project / "results/paper/toy_1.shard1of2.done"
    with slurm.one_node():
        with figures(project) as process:
            waits = project / "notebooks/waits"
            wait(120, "one shard ends, one waits", lambda: waits.exists() and first.exists())
            job = second_shard()
            slurm.output("scancel", job)
            # Snakemake tries each job twice.
            slurm.output("scancel", wait(120, "it is retried", lambda: second_shard([job])))
            text = finish(process, project, 120)
        assert process.returncode == 1, text
        assert "job states are read by squeue, because accounting does not answer" in text
        assert re.search(
            r"toy_1 has no result: Slurm ended job \d+ with the status CANCELLED", text
        )
        stamp = first.stat().st_mtime_ns
        waits.with_name("gate").touch()
        with figures(project) as process:
            text = finish(process, project, 400)
        log = (project / "results/paper/snakemake.log").read_text()
        assert process.returncode == 0, text + log
        assert first.stat().st_mtime_ns == stamp and "toy_1.shard1of2" not in jobs_started(log)
    *_, numbers, job = nbformat.read(project / "results/paper/toy_1.ipynb", as_version=4).cells
    assert numbers.outputs[0].text == expected(project, monkeypatch)
    assert job.outputs[0].text == "1 True\n"


def jobs_started(log):
    return [match["path"].split("/")[-1] for match in run.re.finditer(run.STARTED, log, run.re.M)]


@pytest.mark.slow
def test_an_interrupted_call_leaves_no_job_and_the_next_one_starts(project):
    with slurm.one_node():
        other = slurm.output("sbatch", "--parsable", "--output=/dev/null", "--wrap=sleep 600")
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            # The second call starts jobs, so the first one did not keep its lock.
            with figures(project) as process:
                wait(120, "the second shard runs", second_shard)
                left = children(process)
                process.send_signal(number)
                text = finish(process, project, 120)
            assert process.returncode == status, text
            assert not queued() and not psutil.wait_procs(left, 5)[1]
        assert list(queued("wrap")) == [other.strip()]


@pytest.mark.slow
def test_the_status_command_is_chosen_before_the_first_job(project, monkeypatch, capsys):
    with slurm.one_node() as daemons:
        named = ["--slurm-jobname-prefix", "mark"]
        choose = lambda entries: run.slurm_options(str(write_profile(project, entries)), "mark")
        assert choose({}) == [*named, "--slurm-status-command", "squeue"]
        assert "accounting does not answer (Slurm accounting storage is disabled)" in (
            capsys.readouterr().out
        )
        assert choose({"slurm-status-command": "sacct"}) == named
        assert "read by sacct, as" in capsys.readouterr().out
        assert choose({"executor": "local"}) == []
        with pytest.raises(SystemExit, match="MinJobAge of at least 360 s in slurm.conf, got 300"):
            choose({"slurm-init-seconds-before-status-checks": 120})
        asked = run.asked
        answers = lambda *argv: (0, "", "") if argv[0] == "sacct" else asked(*argv)
        with monkeypatch.context() as patch:
            patch.setattr(run, "asked", answers)
            assert choose({}) == [*named, "--slurm-status-command", "sacct"]
        slurm.stop(daemons["slurmctld"])
        with pytest.raises(SystemExit, match="requires a Slurm controller that answers: .*contact"):
            choose({})


def test_a_machine_without_slurm_is_named(root, monkeypatch):  # noqa: F811
    (root / "bin").mkdir()
    monkeypatch.setenv("PATH", str(root / "bin"))
    command = [sys.executable, CODE / "run.py", "figures", "--cluster", CODE / "profiles/slurm"]
    (root / "notebooks/toy_1.ipynb").touch()
    done = subprocess.run(
        command,
        env={**os.environ, "PAPERLIB_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "requires the commands of Slurm, and sbatch, scancel, scontrol" in done.stderr
