#!/usr/bin/env python3
"""Run the notebooks, tests, pages and benchmarks in an environment that this script creates (.venv, from requirements.lock).

    python3 run.py figures [--profile quick|paper|replication] [--only NAME] [--jobs N]
                   [--device auto|cpu|cuda] [--cluster PROFILE] [--commit-notebooks]
    python3 run.py test [--slow | --changed] [pytest arguments]
    python3 run.py arena [--field arms|continuous] [--learner FILE:NAME] [--problem FILE:NAME]
                   [--on NAME] [--against NAME]
                   [--horizon N] [--trials N] [--tuning-trials N] [--peer-trials N] [--seed N]
    python3 run.py lab [JupyterLab arguments]
    python3 run.py docs [--profile quick|paper|custom]
    python3 run.py data [NAME ...]
    python3 run.py bench [--device auto|cpu|cuda] [--quick] [--only NAME]
    python3 run.py clean [--all]

Needs Linux or macOS and Python 3.11 or later, and no other software. If ``PAPERLIB_PYTHON`` names an
interpreter, run.py uses the environment of that interpreter unchanged, instead of .venv.
"""

import sys

if sys.platform == "win32":
    sys.exit(
        "run.py requires Linux or macOS. On Windows, call it in the Windows Subsystem for Linux."
    )
if sys.version_info < (3, 11):  # before any import or syntax that an older Python lacks
    sys.exit(
        "run.py requires Python 3.11 or later, got %d.%d. Call it with a newer one, for example python3.12 run.py"
        % sys.version_info[:2]
    )

import argparse
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

CODE = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("PAPERLIB_ROOT") or CODE).resolve()
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
READ_ONLY = " If a folder is read-only, set PAPERLIB_RESULTS and PAPERLIB_FIGURES to folders that can be written."
GRACE = 20  # seconds that a command has to end after SIGTERM
CTRL_C = 5  # seconds that a command with the same Ctrl-C has before SIGTERM
CANCELLING = 60  # seconds that Slurm has to end jobs that are cancelled
LONGEST_CHECK = 180  # the longest time in seconds between two checks of Slurm's jobs by Snakemake
SLURM = ("sbatch", "scancel", "scontrol", "sinfo", "squeue")  # the commands that are used
NOTICE = "Kernel is running over TCP"  # a line of ipykernel that stays in the log of a killed job
OPENING = {  # printed immediately, because the first output of the command may take long
    "figures": "Checking data sets and notebooks ...",
    "test": "Starting pytest ...",
    "arena": "Starting the arena's notebooks ...",
    "lab": "Starting JupyterLab ...",
    "docs": "Building the pages ...",
    "data": "Checking data sets ...",
    "bench": "Starting the benchmark ...",
    "clean": "Removing results, quick figures and caches ...",
}
# A user may set each folder by an environment variable, for example PAPERLIB_RESULTS.
FOLDERS = ("ROOT", "RESULTS", "FIGURES", "DATA", "LOCKS")
NEEDS = {  # modules that a command cannot start without; the user's interpreter may lack them
    "figures": ("torch", "matplotlib", "papermill", "ipykernel", "snakemake"),
    "test": ("torch", "pytest", "nbval", "xdist"),
    "arena": ("torch", "matplotlib", "papermill", "ipykernel"),
    "lab": ("jupyterlab", "ipykernel"),
    "docs": ("sphinx", "myst_nb"),
    "data": ("numpy", "pooch", "requests"),
    "bench": ("torch", "matplotlib", "psutil"),
}
LACKING = """import sys
from importlib.util import find_spec
lacks = [name for name in sys.argv[1:] if find_spec(name) is None]
if sys.version_info < (3, 11): lacks.insert(0, "Python 3.11 or later")
if lacks: sys.exit("it lacks " + ", ".join(lacks))
"""
# A notebook of the project starts with a paper or a number, unlike JupyterLab's Untitled and
# -Copy1.
STEM = r"[a-z0-9]+_\w+"
NBVAL = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=900"]


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    figures = commands.add_parser(
        "figures", help="run the notebooks whose inputs changed; write figures and verdicts"
    )
    figures.add_argument(
        "--profile",
        choices=("quick", "paper", "replication"),
        default="quick",
        help="quick: small and fast; paper: the papers' own sizes; replication: the paper profile with other seeds",
    )
    figures.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        help="a notebook, or a paper (glbomd); may be repeated",
    )
    figures.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="number of notebooks or shards at a time (default: one per core; with --cluster, the number in its profile)",
    )
    figures.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    figures.add_argument(
        "--commit-notebooks",
        action="store_true",
        help="write the quick outputs back into notebooks/",
    )
    figures.add_argument(
        "--cluster",
        metavar="PROFILE",
        help="submit jobs to the scheduler of a Snakemake workflow profile, for example profiles/slurm",
    )
    test = commands.add_parser(
        "test",
        help="run the fast tests and two notebooks; further arguments are passed to pytest",
        allow_abbrev=False,
    )
    test.add_argument("--slow", action="store_true", help="run all tests and notebooks")
    test.add_argument(
        "--changed",
        action="store_true",
        help="run only tests that import a Python file you changed since the last commit; no notebooks",
    )
    arena = commands.add_parser(
        "arena", help="compare the learners of all papers, and your own, on the same problems"
    )
    arena.add_argument(
        "--field",
        choices=("arms", "continuous"),
        help="finite arms, or convex sets and boxes; default: both, or finite arms if you name learners or problems",
    )
    for name in ("learner", "problem"):
        arena.add_argument(
            f"--{name}",
            metavar="FILE:NAME",
            action="append",
            help=f"a {name} of yours, for example my_file.py:MyName; may be repeated",
        )
    for flag, words in (
        ("on", "a problem of the arena, for example linear, instead of those of the notebook"),
        ("against", "a learner of the arena, for example OFUL, instead of all"),
    ):
        help_text = f"{words}; may be repeated"
        arena.add_argument(f"--{flag}", metavar="NAME", action="append", help=help_text)
    for name, words in (
        ("horizon", "number of rounds"),
        ("trials", "number of trials"),
        ("tuning-trials", "number of trials that choose the scales"),
        ("peer-trials", "number of trials of learners of other libraries; 0 leaves them out"),
        ("seed", "random seed"),
    ):
        arena.add_argument(f"--{name}", metavar="N", type=int, help=words)
    commands.add_parser(
        "lab", help="open JupyterLab at the tour; further arguments are passed to JupyterLab"
    )
    docs = commands.add_parser(
        "docs", help="build the site in site/: figures, claims, guides, reference"
    )
    docs.add_argument(
        "--profile",
        choices=("quick", "paper", "custom"),
        default="paper",
        help="profile of the figures and verdicts; quick: those of the last call of figures, to site-quick/",
    )
    data = commands.add_parser("data", help="download and check data sets")
    data.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
    bench = commands.add_parser(
        "bench",
        help="measure run time and memory of every learner on this machine; write bench/ and figures/bench/",
    )
    bench.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    bench.add_argument(
        "--quick", action="store_true", help="measure few and small sizes, in under a minute"
    )
    bench.add_argument(
        "--only",
        metavar="NAME",
        help="measure only one paper (glbomd) and keep the other papers' numbers, or only one learner (GLB-OMD)",
    )
    clean = commands.add_parser(
        "clean",
        help="remove results, quick figures and caches; figures of the paper profile and of custom runs stay",
    )
    clean.add_argument("--all", action="store_true", help="also remove the environment")
    top.commands = commands.choices
    return top


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the options of a call; ``rest`` contains the arguments that `test` and `lab` pass on."""
    top = parser()
    options, rest = top.parse_known_args(argv)
    own = top.commands[options.command]
    if rest and options.command not in ("test", "lab"):
        own.error(f"unrecognized arguments: {' '.join(rest)}")
    if getattr(options, "jobs", None) is not None and options.jobs < 1:
        own.error(f"--jobs must be at least 1, got {options.jobs}")
    if getattr(options, "commit_notebooks", False) and (options.profile, options.device) != (
        "quick",
        "auto",
    ):
        own.error("--commit-notebooks requires --profile quick and --device auto")
    if getattr(options, "cluster", None) and not (Path(options.cluster) / "config.yaml").is_file():
        own.error(
            f"--cluster must be a folder with a config.yaml, for example profiles/slurm, got {options.cluster}"
        )
    options.rest = rest
    return options


def results() -> Path:
    """Return the folder of results."""
    return Path(os.environ.get("PAPERLIB_RESULTS") or ROOT / "results")


def desk() -> Path:
    """Return the folder of the lock, Snakemake's files and a new .venv.

    It is the project's folder, or the folder of results if the project's folder is read-only.
    """
    if os.access(ROOT, os.W_OK):
        return ROOT
    results().mkdir(parents=True, exist_ok=True)
    return results()


@contextlib.contextmanager
def one_at_a_time():
    """Hold this folder's lock; a second call exits with a message. The lock is released when the process ends."""
    # The file is opened for appending, because truncating it would erase the text of the process
    # that holds the lock.
    with open((place := desk()) / ".run.lock", "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Only this error means that another process holds the lock; a file system without locks
        # raises another.
        except BlockingIOError:
            file.seek(0)
            sys.exit(
                f"Another run.py works in {place} ({file.read().strip() or 'just started'}). Wait for it or end it."
            )
        file.truncate(0)
        file.write(f"process {os.getpid()}: run.py {' '.join(sys.argv[1:])}")
        file.flush()
        yield
        file.truncate(0)


def call(
    argv: list,
    group: bool = False,
    meanwhile: Callable[[], None] | None = None,
    tidies: bool = False,
    ends: tuple[int, ...] = (signal.SIGTERM, signal.SIGKILL),
    **kwargs,
) -> int:
    """Run a command to its end, and call `meanwhile` each second; return the exit status.

    If this process is stopped, the command is stopped too by the signals `ends`, with `group` including its children. A
    terminal sends Ctrl-C to both processes. A command that `tidies` up after it has some seconds for that.
    """
    process = subprocess.Popen([str(a) for a in argv], start_new_session=group, **kwargs)
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(1 if meanwhile else None)
            meanwhile()
    # BaseException includes Ctrl-C and the exit after SIGTERM, which must stop the command too.
    except BaseException as stop:
        if tidies and isinstance(stop, KeyboardInterrupt):
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(CTRL_C)
        # SIGKILL follows, because Snakemake may hang after SIGTERM if a job ends at that moment.
        for number in ends:
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(process.pid, number)
            # A second Ctrl-C must not interrupt the cleanup; it reaches the processes that still
            # run.
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(GRACE)
                break
        raise


def stamp() -> str:
    """Return a hash of the inputs of an environment: the lock file and the version of Python."""
    return hashlib.sha256(LOCK.read_bytes() + sys.version.split()[0].encode()).hexdigest()


def environment() -> str:
    """Return the path of the environment's Python; create .venv again if it is missing, outdated or incomplete."""
    # With PAPERLIB_PYTHON, its kernels find the package through PYTHONPATH, whether or not it is
    # installed there.
    if os.environ.get("PAPERLIB_PYTHON"):
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, (str(CODE), os.environ.get("PYTHONPATH")))
        )
        return os.environ["PAPERLIB_PYTHON"]
    # The packages of another Python would precede those of the lock.
    for name in ("PYTHONPATH", "PYTHONHOME"):
        os.environ.pop(name, None)
    venv = VENV if made(VENV) else desk() / VENV.name
    python = venv / "bin/python"
    if not made(venv):
        make_environment(python)
        (venv / ".ready").write_text(stamp())  # written last, as the mark of a complete environment
    # Without compiled modules every process would compile torch and others for several seconds. They are kept in the
    # environment, because whoever sets this variable wants no files in the project's folders.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(venv / "pycache")
    # The package is used from this folder: one line on the environment's path lets every kernel
    # find it, without a build step or network.
    where = next(venv.glob("lib/python*/site-packages")) / "paperlib.pth"
    if not where.exists() or where.read_text() != f"{ROOT}\n":
        try:
            where.write_text(f"{ROOT}\n")
        except OSError:  # a read-only environment, made for another path
            os.environ["PYTHONPATH"] = str(ROOT)
    return str(python)


def check_own(python: str, command: str) -> None:
    """Exit with one line if the interpreter that PAPERLIB_PYTHON names cannot run a command."""
    with tempfile.TemporaryFile("w+") as said:
        try:
            code = call([python, "-c", LACKING, *NEEDS[command]], stdout=said, stderr=said)
        except OSError as error:
            code, why = 1, f"it cannot be started: {error.strerror}"
        else:
            said.seek(0)
            why = (said.read().strip().splitlines() or [f"it ended with exit status {code}"])[-1]
    if code:
        sys.exit(
            f"PAPERLIB_PYTHON={python} cannot run `{command}`: {why}. Install requirements.lock there, or unset"
            " PAPERLIB_PYTHON, so that run.py makes .venv."
        )


def made(venv: Path) -> bool:
    """Return whether an environment is complete, and was made from this lock and this Python."""
    ready = venv / ".ready"
    return ready.exists() and ready.read_text() == stamp() and (venv / "bin" / "python").exists()


def make_environment(python: Path) -> None:
    """Create a new .venv with exactly the packages of the lock."""
    print(
        "Creating .venv from requirements.lock; this happens once and takes a few minutes.",
        flush=True,
    )
    venv = python.parents[1]
    start, log = time.monotonic(), results() / "setup.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if venv.is_symlink():
        venv.unlink()
    shutil.rmtree(venv, ignore_errors=True)
    # Use the base interpreter and not a Python inside .venv, which was just deleted.
    base = getattr(sys, "_base_executable", None) or sys.executable
    # Compiling all 1.5 GB would double the time; Python compiles the modules that it imports.
    steps = [
        [base, "-m", "venv", venv],
        [
            python,
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--progress-bar",
            "off",
            "--no-compile",
            "-r",
            LOCK,
        ],
    ]
    with open(log, "w") as out:
        for step in steps:
            if call(step, stdout=out, stderr=subprocess.STDOUT):
                out.flush()
                sys.stderr.write(
                    "".join(log.read_text(errors="replace").splitlines(keepends=True)[-15:])
                )
                sys.exit(
                    f"Making .venv failed at `{' '.join(map(str, step[1:3]))}`. The whole output is in {log}. Fix the cause and call run.py again."
                )
    print(f"The environment is ready ({time.monotonic() - start:.0f} s).", flush=True)


def chosen(only: list[str] | None) -> list[str]:
    """Return the stems of the notebooks that ``--only`` names, or of all notebooks; exit if a name is unknown."""
    there = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    stems = [stem for stem in there if re.fullmatch(STEM, stem)]
    if others := [stem for stem in there if stem not in stems]:
        print(
            f"Not run, because their names do not have the form glbomd_1_logistic: {', '.join(others)}"
        )
    papers = sorted({stem.split("_")[0] for stem in stems if not stem[0].isdigit()})
    wanted = []
    for name in only or []:
        name = Path(name).name.removesuffix(".ipynb")
        found = [stem for stem in stems if name in (stem, stem.split("_")[0])]
        if not found:
            sys.exit(
                f"--only must be a paper or a notebook, got {name}. Papers: {', '.join(papers)}. Notebooks: {', '.join(stems)}."
            )
        wanted += [stem for stem in found if stem not in wanted]
    return wanted if only else stems


def folder(profile: str) -> Path:
    """Return the folder of executed copies, logs and ``.done`` files of a profile, or of custom runs."""
    return results() / profile


def cuda(python: str) -> bool:
    """Return whether torch finds a CUDA device; True if that cannot be determined."""
    look = [python, "-c", "import torch; print(torch.cuda.is_available())"]
    return subprocess.run(look, capture_output=True, text=True).stdout.strip() != "False"


def asked(*argv: str) -> tuple[int, str, str]:
    """Return exit status, output and the last line of the errors of a command of the scheduler."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return 1, "", "no answer within 60 s"
    except OSError as error:
        return 1, "", f"{argv[0]}: {error.strerror}"
    return done.returncode, done.stdout, (done.stderr.strip().splitlines() or [""])[-1]


def slurm_options(cluster: str, mark: str) -> list[str]:
    """Check that Slurm answers, and return Snakemake's options for it; an empty list for another scheduler.

    The names of its jobs start with `mark`.

    Snakemake would wait without end for a job whose state it cannot read: `sacct` has no answer without accounting storage,
    and `squeue` forgets a job some time after its end.
    """
    profile = (Path(cluster) / "config.yaml").read_text()
    if not re.search(r"^executor: *[\"']?slurm[\"']?\s*(#|$)", profile, re.MULTILINE):
        return []
    if lacks := [name for name in SLURM if not shutil.which(name)]:
        sys.exit(
            f"--cluster {cluster} requires the commands of Slurm, and {', '.join(lacks)} cannot be found. Call run.py on a login node."
        )
    code, config, why = asked("scontrol", "show", "config")
    named = ["--slurm-jobname-prefix", mark]
    if code:
        sys.exit(f"--cluster {cluster} requires a Slurm controller that answers: {why}")
    if own := re.search(r"^slurm-status-command: *(.+?) *(?:#|$)", profile, re.MULTILINE):
        print(f"Slurm: job states are read by {own[1]}, as {cluster} requires.", flush=True)
        return named
    code, _, why = asked("sacct", "--noheader")
    if code == 0:
        print("Slurm: job states are read by sacct, because accounting answers.", flush=True)
        return [*named, "--slurm-status-command", "sacct"]
    first = re.search(r"^slurm-init-seconds-before-status-checks: *(\d+)", profile, re.MULTILINE)
    # Snakemake's longest time between two checks, and its executor's condition for using squeue.
    least = max(LONGEST_CHECK, 3 * int(first[1]) if first else 120)
    kept = re.search(r"^MinJobAge *= *(\d+)", config, re.MULTILINE)
    if kept and int(kept[1]) < least:
        sys.exit(
            f"--cluster {cluster} requires accounting ({why}), or MinJobAge of at least {least} s in slurm.conf, got {kept[1]} s."
        )
    print(
        f"Slurm: job states are read by squeue, because accounting does not answer ({why}).",
        flush=True,
    )
    return [*named, "--slurm-status-command", "squeue"]


@contextlib.contextmanager
def cancelled(mark: str):
    """Cancel the Slurm jobs whose names start with `mark` if the block is interrupted; do nothing if `mark` is empty."""
    try:
        yield
    except BaseException:
        if mark:
            cancel_jobs(mark)
        raise


def cancel_jobs(mark: str) -> None:
    """Cancel the Slurm jobs whose names start with `mark`, and wait until they have ended."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave jobs behind
    end, empty = time.monotonic() + CANCELLING, 0
    while empty < 2:  # a job whose submission was interrupted may appear a moment later
        code, queue, why = asked("squeue", "--noheader", "--format=%i %j", f"--user={os.getuid()}")
        jobs = [job for job, name in map(str.split, queue.splitlines()) if name.startswith(mark)]
        empty = 0 if jobs or code else empty + 1
        if time.monotonic() > end:
            left = f"jobs {' '.join(jobs)} are still in the queue" if jobs else why
            print(f"Slurm has not confirmed that the jobs ended: {left}", file=sys.stderr)
            return
        if jobs:
            asked("scancel", *jobs)
        time.sleep(1)


def figures(python: str, options: argparse.Namespace) -> int:
    """Fetch the data, run Snakemake over the notebooks, and print a table of the results."""
    stems = chosen(options.only)
    if not stems:
        sys.exit(f"{ROOT / 'notebooks'} contains no notebook.")
    mark = f"paperlib-{secrets.token_hex(4)}"
    slurm = slurm_options(options.cluster, mark) if options.cluster else []
    profiles = ROOT / "notebooks" / "profiles.toml"
    try:
        known = tomllib.loads(profiles.read_text()) if profiles.exists() else {}
    except tomllib.TOMLDecodeError as error:
        sys.exit(f"{profiles} is not valid TOML: {error}.")
    names = sorted({name for stem in stems for name in known.get(stem, {}).get("datasets", [])})
    if names and call([python, "-m", "companion.datasets", *names], cwd=ROOT):
        print(
            "Some data sets cannot be used: notebooks run without missing files and report them; damaged files raise an error."
            if options.profile == "quick"
            else "Some data sets cannot be used: the notebooks that need them will fail."
        )
    shared = options.profile != "quick" and any("shards" in known.get(stem, {}) for stem in stems)
    jobs = options.jobs or (cores() if shared else min(cores(), len(stems)))
    # The cores are divided among the jobs, because more threads than cores slow down all of them.
    threads = 1 if options.cluster else max(1, cores() // jobs)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    where = f"by {options.cluster}" if options.cluster else f"{jobs} at a time"
    print(
        f"{len(stems)} notebook{'s' * (len(stems) > 1)}, {options.profile} profile, {where}:",
        flush=True,
    )
    costs = Costs(options.profile, known, jobs)
    if expected := costs.expected(stems):
        print(expected, flush=True)
    begun, log = time.time(), folder(options.profile) / "snakemake.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    engine = ["--cores", jobs]
    if options.cluster:
        engine = [
            "--workflow-profile",
            Path(options.cluster).resolve(),
            *(["--jobs", jobs] if options.jobs else []),
            *slurm,
        ]
    # The log has each job and why it runs; the jobs themselves print the lines for the user.
    with open(log, "w") as reasons, cancelled(mark if slurm else ""):
        code = call(
            [
                python,
                "-m",
                "snakemake",
                "--snakefile",
                CODE / "Snakefile",
                "--directory",
                desk(),
                *engine,
            ]
            + ["--nolock", "--rerun-incomplete", "--keep-going", "--retries", "1", "--nocolor"]
            + [
                "--config",
                f"profile={options.profile}",
                f"device={options.device}",
                f"threads={threads}",
                "--",
                *stems,
            ],
            group=True,
            # After SIGTERM, Snakemake would wait for its jobs at the scheduler.
            ends=(signal.SIGKILL,) if slurm else (signal.SIGTERM, signal.SIGKILL),
            meanwhile=(
                lambda: draw(
                    progress(
                        log.read_text(errors="replace"),
                        time.time() - begun,
                        lambda path: read_progress(desk() / f"{path}.progress", begun),
                        costs,
                    )
                )
            )
            if sys.stdout.isatty()
            else None,
            stderr=reasons,
        )
    if sys.stdout.isatty():
        draw("")
    # The Snakefile lists the runs whose parameters differ from the declared ones.
    custom = read_json(folder(options.profile) / "custom.json")
    at = {stem: "custom" if stem in custom else options.profile for stem in stems}
    failed = table(stems, options.profile, begun, at)
    if options.commit_notebooks and len(failed) < len(stems):
        code = (
            call(
                [
                    python,
                    "-m",
                    "companion.workflow.canonical",
                    *(s for s in stems if s not in failed),
                ]
            )
            or code
        )
    page = 0
    if options.profile != "quick" and not os.environ.get("PAPERLIB_FIGURES"):
        page = call([python, "-m", "companion.pages.site", "write"], cwd=ROOT)
    for place in sorted({at[stem] for stem in stems if stem not in failed} - {"replication"}):
        print(f"To build pages with them: python3 run.py docs --profile {place}")
    if code and not any((folder(at[stem]) / f"{stem}.log").exists() for stem in failed):
        print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-8:]))
    if code:
        print(f"Snakemake ended with exit status {code}; its log is {log}")
    return 1 if code or failed or page else 0


def shown(profile: str) -> Path:
    """Return the folder of figures and verdicts of a profile, or of custom runs."""
    top = Path(os.environ.get("PAPERLIB_FIGURES") or ROOT / "figures")
    return top if profile == "paper" else top / profile


STARTED = r"^    output: (?P<path>.*/.+)\.done\n    jobid: (?P<job>\d+)"
ENDED = (
    r"^Finished jobid: (?P<done>\d+)|^Error in rule .*:\n(?:    .*\n)*?    jobid: (?P<failed>\d+)"
)


class Costs:
    """CPU seconds of the notebooks in the paper profile, from ``bench/notebooks.json``; none for the quick profile.

    Args:
        sections: the sections of ``profiles.toml``, for the numbers of shards.
        jobs: number of jobs at a time.
    """

    def __init__(self, profile: str, sections: dict[str, dict], jobs: int):
        known = read_json(ROOT / "bench" / "notebooks.json") if profile != "quick" else {}
        self.known, self.sections, self.jobs = known, sections, jobs

    def of(self, job: str) -> float:
        """Return the seconds of a job, which is named as its output: a notebook, or a shard of one (``bkb_2.shard1of4``)."""
        stem, part, _ = job.partition(".shard")
        shards = self.sections.get(stem, {}).get("shards", 1)
        # A notebook with shards loads what they have computed.
        share = 1 / shards if part or shards == 1 else 0
        return share * self.known.get(stem, {}).get("seconds", 0)

    def expected(self, stems: list[str]) -> str:
        """Return a line about the run time of notebooks that have no stored results; "" if none of them was measured."""
        found = {stem: self.known[stem] for stem in stems if stem in self.known}
        if not found:
            return ""
        hours = sum(cost["seconds"] for cost in found.values()) / 3600
        where = ", ".join(sorted({cost["processor"] for cost in found.values()}))
        some = "" if len(found) == len(stems) else f" {len(found)} of"
        return f"Without stored results,{some} these notebooks take {hours:.1f} hours of CPU time ({where}), about {hours / self.jobs:.1f} hours with {self.jobs} at a time."

    def left(self, planned: dict[str, int], finished: list[str]) -> str:
        """Return the estimated time to the end, for example "about 2.5 h left"; "" if no planned job was measured.

        ``planned``: rule -> number of its jobs, where the rule ``bkb_2_shard`` has the shards of ``bkb_2``.
        """
        seconds = 0.0
        for rule, n in planned.items():
            stem = rule.removesuffix("_shard")
            seconds += n * self.of(f"{stem}.shard" if rule != stem else stem)
        seconds -= sum(self.of(job) for job in finished)
        if seconds <= 0:
            return ""
        hours = seconds / self.jobs / 3600
        return f"about {hours:.1f} h left" if hours >= 2 else f"about {60 * hours:.0f} min left"


def progress(
    log: str,
    seconds: float,
    far: Callable[[str], str] = lambda path: "",
    costs: Costs | None = None,
) -> str:
    """Return one line about a run from Snakemake's log: seconds, finished jobs, time left, and the running jobs with their progress.

    ``far`` is called with the path of a job's output, without its suffix, and returns its progress.
    """
    running, done = {}, []
    for event in re.finditer(f"{STARTED}|{ENDED}", log, re.MULTILINE):
        if event["job"]:
            running[event["job"]] = event["path"]
        else:
            path = running.pop(event["done"] or event["failed"], "")
            done += [Path(path).name] if event["done"] is not None else []
    total = re.search(r"^total +(\d+)$", log, re.MULTILINE)
    line = f"{seconds:.0f} s, " + (
        f"{len(done)} of {total[1]} done" if total else "checking for changes"
    )
    if costs and (left := costs.left(planned(log), done)):
        line += f", {left}"
    if not running:
        return line
    words = (
        Path(path).name + (f" ({said})" if (said := far(path)) else "") for path in running.values()
    )
    return f"{line}; running {', '.join(words)}"


def read_progress(path: Path, begun: float) -> str:
    """Return the progress line of a job of this call; "" if it has none, or if the line is from an earlier call."""
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_mtime >= begun else ""
    except OSError:
        return ""


def scheduled(log: Path, begun: float) -> set[str]:
    """Return the rules that a call planned to run, from its Snakemake log; empty if the log is older."""
    text = log.read_text(errors="replace") if log.exists() and log.stat().st_mtime >= begun else ""
    return {*planned(text)}


def planned(log: str) -> dict[str, int]:
    """Return the planned rules and the number of their jobs, from the table of jobs in a Snakemake log."""
    stats = re.search(r"^Job stats:\njob +count\n[- ]+\n((?:\S+ +\d+\n)+)", log, re.MULTILINE)
    rows = (line.split() for line in stats[1].splitlines()) if stats else ()
    return {rule: int(count) for rule, count in rows if rule not in ("all", "total")}


def draw(line: str) -> None:
    """Show a line that the next output overwrites."""
    print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}\r", end="", flush=True)


def read_json(path: Path) -> dict:
    """Return a JSON object; an empty dictionary if the file does not exist or is damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def verdicts(profile: str) -> dict[str, Counter]:
    """Return notebook -> number of its claims by verdict."""
    found: dict[str, Counter] = {}
    for path in sorted(shown(profile).glob("claims/*.json")):
        claim = read_json(path)
        if isinstance(claim.get("verdict"), str):
            found.setdefault(claim.get("notebook", ""), Counter())[claim["verdict"]] += 1
        else:
            print(f"{path} is damaged: not counted")
    return found


def table(
    stems: list[str], profile: str, begun: float, at: dict[str, str] | None = None
) -> list[str]:
    """Print notebook, run time and claims, and the folders; return the notebooks that failed or were not reached.

    ``at`` is the profile that each notebook's run belongs to, or "custom"; by default it is ``profile``.
    """
    at = at or dict.fromkeys(stems, profile)
    said = {place: verdicts(place) for place in sorted({*at.values()})}
    due, failed, width = (
        scheduled(folder(profile) / "snakemake.log", begun),
        [],
        max(map(len, [*stems, "notebook"])),
    )
    print(f"\n{'notebook':{width}}  seconds  claims")
    for stem in stems:
        done = folder(at[stem]) / f"{stem}.done"
        kept = read_json(done)
        seconds = kept.get("seconds")
        if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or seconds != seconds:
            failed.append(stem)
            print(f"{stem:{width}}        -  no result")
            continue
        fresh = done.stat().st_mtime >= begun
        # Snakemake keeps the old file of a job that it does not reach.
        if stem in due and not fresh:
            failed.append(stem)
            print(f"{stem:{width}}        -  no new result")
            continue
        counts = said[at[stem]].get(stem, {})
        words = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))
        if at[stem] in ("quick", "custom") and counts:  # such runs decide no claim
            words = f"{sum(counts.values())} without a verdict"
        words = words or "-"
        marks = "  (custom)" * (at[stem] != profile) + "  (unchanged)" * (not fresh)
        print(f"{stem:{width}}  {seconds:7.1f}  {words}{marks}")
    for stem in failed:
        print_failure(stem, folder(at[stem]), begun)
    for place in sorted({at[stem] for stem in stems if stem not in failed}):
        print(f"\nFigures and verdicts are in {shown(place)}")
    return failed


def print_failure(stem: str, where: Path, begun: float) -> None:
    """Print why a notebook has no result, and the paths of its log and its executed copy."""
    log, copy = where / f"{stem}.log", where / f"{stem}.ipynb"
    # A shard that failed prevented the notebook from running.
    for shard in where.glob(f"{stem}.shard*.log"):
        if shard.stat().st_mtime >= begun and not shard.with_suffix(".done").exists():
            log, copy = shard, None
    ran = log.exists() and log.stat().st_mtime >= begun
    lines = log.read_text(errors="replace").strip().splitlines() if ran else []
    reason = next((line for line in reversed(lines) if NOTICE not in line), "")
    # A job that Slurm has ended could not write the reason into its log; after FAILED it could.
    reasons = where / "snakemake.log"
    ended = re.findall(
        r"^    message: SLURM-job '(\d+)' failed, SLURM status is: '((?!FAILED)[^']+)'.*\n(?:    .*\n)*?"
        rf"    output: .*/{re.escape(log.stem)}\.done$",
        reasons.read_text(errors="replace") if ran and reasons.exists() else "",
        re.MULTILINE,
    )
    if ended:
        reason = "Slurm ended job {} with the status {}".format(*ended[-1])
    missed = "it was not reached"
    if (where / f"{stem}.done").exists():
        missed += ", because a notebook before it failed or the call was stopped; its stored result is from an earlier call"
    stopped = "it was stopped or killed (for example because the memory was full), or its log could not be written"
    print(f"\n{stem} has no result: {reason or stopped if ran else missed}")
    if ran:
        print(f"  log {log}" + (f"\n  executed copy {copy}" if copy else ""))


def test(python: str, options: argparse.Namespace) -> int:
    """Run the suite in one pytest call, each notebook on one worker, so that pytest's summary is printed last."""
    workers = min(cores(), 8)
    os.environ["OMP_NUM_THREADS"] = str(max(1, cores() // workers))
    if options.slow:  # compared cells must be the same on every processor, see tests/last_bit
        os.environ.setdefault("PAPERLIB_LAST_BIT", "1")
    # Slow tests spend a third of their time waiting for processes that start and end, so one more
    # worker is used.
    workers += options.slow and workers > 1
    parallel = (
        ["-n", workers, "--dist", "loadscope", "--no-loadscope-reorder"] if workers > 1 else []
    )
    quick = [] if options.slow else ["-m", "not slow"]
    if options.changed:
        look = [python, "-m", "companion.workflow.changed"]
        found = subprocess.run(look, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        changed, _, affected = found.partition("\n\n")
        changed, affected = changed.split(), affected.split()
        if not affected:
            print("No test imports a Python file that differs from the last commit.")
            return 0
        print(f"{len(affected)} test files import {', '.join(changed)}", flush=True)
        os.environ["PAPERLIB_CHANGED"] = "\n".join(changed)
        quick += affected
    return call(
        [python, "-m", "pytest", "-p", "no:benchmark", *NBVAL, *parallel, *quick, *options.rest],
        tidies=True,
        cwd=ROOT,
    )


# A stored result, a checkpoint of one, or the remains of either from a process that was killed.
STORED = r"\.?[0-9a-f]{64}(\.part)?\.npz(\..*partial)?"
# Files of this project in a folder of results that a user has chosen.
OURS = rf"quick|paper|replication|custom|site|cache|costs\.txt|setup\.log|{STORED}"


def clean(everything: bool) -> int:
    """Remove files that can be made again: results, quick figures and caches."""
    found = [ROOT / "results"]
    # A folder that the user has chosen may contain other files.
    if os.environ.get("PAPERLIB_RESULTS") or results().is_symlink():
        there = results().iterdir() if results().is_dir() else []
        found = sorted(path for path in there if re.fullmatch(OURS, path.name))
    caches = [".snakemake", ".pytest_cache", ".hypothesis", ".ruff_cache"]
    # Benchmarks of an older state of the code cannot be measured again, so only --all removes them.
    caches += [".venv", ".benchmarks"] * everything
    found += [
        shown("quick"),
        shown("paper") / "claims",
        shown("replication") / "claims",
        *(ROOT / name for name in ("site", "site-quick", "site-custom", "jupyter_execute")),
        *(top / name for top in dict.fromkeys((ROOT, desk())) for name in caches),
    ]
    for top in ("paperlib", "companion", "tests", "notebooks", "bench", "docs"):
        found += (ROOT / top).rglob("__pycache__")
    stored = 0
    for path in found:
        if not path.exists():
            continue
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        try:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError as error:  # a read-only folder
            print(f"kept {name}: {error.strerror}")
            continue
        if re.fullmatch(STORED, path.name):
            stored += 1
        elif path.name != "__pycache__":
            print(f"removed {name}")
    if stored:
        print(f"removed {stored} stored results in {results()}")
    return 0


def configuration() -> str:
    """Return JupyterLab's search path for settings; notebooks/.jupyter is last, so that the user's own settings take precedence."""
    own = os.environ.get("JUPYTER_CONFIG_DIR") or str(Path.home() / ".jupyter")
    places = (os.environ.get("JUPYTER_CONFIG_PATH"), own, str(CODE / "notebooks" / ".jupyter"))
    return os.pathsep.join(filter(None, places))


def main(argv: list[str]) -> int:
    """Run one command; return its exit status."""
    options = parse(argv)
    for name in (f"PAPERLIB_{folder}" for folder in FOLDERS):
        if os.environ.get(name):  # make it absolute, because jobs do not run in the caller's folder
            os.environ[name] = os.path.abspath(os.environ[name])
    # A shell script starts its background commands with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A closed connection stops the call, unless it was started with nohup.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    # Use this environment's kernel and not the user's.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    # Suppress the debugger's warning at the start of a kernel.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    with contextlib.ExitStack() as stack:
        stack.enter_context(one_at_a_time())
        if options.command == "clean":
            print(OPENING["clean"], flush=True)
            return clean(options.all)
        python = environment()
        print(OPENING[options.command], flush=True)
        if os.environ.get("PAPERLIB_PYTHON"):
            check_own(python, options.command)
        here = not getattr(options, "cluster", None)
        if here and getattr(options, "device", None) == "cuda" and not cuda(python):
            sys.exit("--device must be auto or cpu, because torch finds no CUDA device, got cuda")
        if options.command == "figures":
            return figures(python, options)
        if options.command == "test":
            return test(python, options)
        if options.command == "arena":
            return call(
                [python, "-m", "companion.arena", *argv[argv.index("arena") + 1 :]], group=True
            )
        if options.command == "docs":
            pages = [python, "-m", "companion.pages.site", "build", options.profile]
            return call(pages, group=True, cwd=ROOT)
        if options.command == "data":
            return call([python, "-m", "companion.datasets", *options.names], cwd=ROOT)
        if options.command == "bench":
            only = ["--only", options.only] if options.only else []
            return call(
                [
                    python,
                    "-m",
                    "companion.bench",
                    "--device",
                    options.device,
                    *["--quick"] * options.quick,
                    *only,
                ],
                group=True,
                cwd=ROOT,
            )
        stack.close()  # release the lock, because a JupyterLab may stay open for long
        os.environ["JUPYTER_CONFIG_PATH"] = configuration()
        # Start in the root, because notebooks link to docs/.
        return call([python, "-m", "jupyterlab", *options.rest], cwd=ROOT)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\nStopped. The same call continues where this one ended.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except OSError as error:  # a full disk, or a folder that cannot be written
        sys.exit(
            f"run.py cannot continue: {error}. Fix the cause and call run.py again. Finished results are kept."
            + READ_ONLY * (error.errno in (errno.EROFS, errno.EACCES))
        )
