#!/usr/bin/env python3
"""One command from a bare machine to the figures: makes .venv from requirements.lock, then works in it.

    python3 run.py figures [--profile quick|paper] [--only NAME] [--jobs N] [--device auto|cpu|cuda]
                   [--cluster PROFILE] [--commit-notebooks]
    python3 run.py test [--slow | --changed] [pytest arguments]
    python3 run.py lab [JupyterLab arguments]
    python3 run.py docs [--profile quick|paper|custom]
    python3 run.py data [NAME ...]
    python3 run.py bench [--device auto|cpu|cuda] [--quick] [--only NAME]
    python3 run.py clean [--all]

Needs Linux or macOS, Python 3.11 or later, and nothing else. ``PAPERLIB_PYTHON`` names an interpreter whose
environment is used as it is, instead of .venv.
"""

import sys

if sys.platform == "win32":
    sys.exit("run.py needs Linux or macOS; on Windows, call it in the Windows Subsystem for Linux.")
if sys.version_info < (3, 11):  # before any import or syntax that an older Python lacks
    sys.exit(
        "run.py needs Python 3.11 or later, this is %d.%d; call it with a newer one, such as python3.12 run.py"
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
READ_ONLY = (
    " For a folder that is read-only PAPERLIB_RESULTS and PAPERLIB_FIGURES name others to write to."
)
GRACE = 20  # seconds that a command has to end when told to
HEARD = 5  # seconds that one has which the same Ctrl-C reached, before it is told to
OPENING = {  # at once, for what is started may take long to speak
    "figures": "Looking at data sets and notebooks ...",
    "test": "Starting pytest ...",
    "lab": "Starting JupyterLab ...",
    "docs": "Making pages ...",
    "data": "Looking at data sets ...",
    "bench": "Starting the benchmark ...",
    "clean": "Removing results, quick figures and caches ...",
}
FOLDERS = ("ROOT", "RESULTS", "FIGURES", "DATA", "LOCKS")  # PAPERLIB_..., which a user may set
NEEDS = {  # modules without which a command cannot start; an interpreter of the user's own may lack them
    "figures": ("torch", "matplotlib", "papermill", "ipykernel", "snakemake"),
    "test": ("torch", "pytest", "nbval", "xdist"),
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
STEM = r"[a-z0-9]+_\w+"  # a notebook of the project: a paper or a number first; not Untitled or a -Copy1 of JupyterLab's
NBVAL = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=900"]


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    figures = commands.add_parser(
        "figures", help="run the notebooks that changed, write figures and verdicts"
    )
    figures.add_argument(
        "--profile",
        choices=("quick", "paper"),
        default="quick",
        help="quick: a minute a notebook; paper: the papers' own sizes",
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
        help="notebooks or shards at a time (default: one per core; with --cluster what its profile says)",
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
        help="a Snakemake workflow profile, such as profiles/slurm: jobs go to its scheduler",
    )
    test = commands.add_parser(
        "test",
        help="the fast tests and two notebooks; further arguments go to pytest",
        allow_abbrev=False,
    )
    test.add_argument("--slow", action="store_true", help="all tests and notebooks")
    test.add_argument(
        "--changed",
        action="store_true",
        help="the tests that import a Python file which differs from the last commit; no notebooks",
    )
    commands.add_parser("lab", help="JupyterLab, open at the tour; further arguments go to it")
    docs = commands.add_parser(
        "docs", help="the site, to site/: figures, claims, guides, reference"
    )
    docs.add_argument(
        "--profile",
        choices=("quick", "paper", "custom"),
        default="paper",
        help="whose figures and verdicts; quick: of the last call of figures, to site-quick/",
    )
    data = commands.add_parser("data", help="fetch and check data sets")
    data.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
    bench = commands.add_parser(
        "bench",
        help="time and memory of every learner on this machine, to bench/ and figures/bench/",
    )
    bench.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    bench.add_argument("--quick", action="store_true", help="few and small points, under a minute")
    bench.add_argument(
        "--only",
        metavar="NAME",
        help="a paper (glbomd), which is renewed among the others, or a learner (GLB-OMD)",
    )
    clean = commands.add_parser(
        "clean",
        help="remove results, quick figures and caches; figures of the paper profile and of custom runs stay",
    )
    clean.add_argument("--all", action="store_true", help="the environment too")
    top.commands = commands.choices
    return top


def parse(argv: list[str]) -> argparse.Namespace:
    """Options of a call; ``rest`` holds what `test` and `lab` pass on."""
    top = parser()
    options, rest = top.parse_known_args(argv)
    own = top.commands[options.command]
    if rest and options.command not in ("test", "lab"):
        own.error(f"unrecognized arguments: {' '.join(rest)}")
    if getattr(options, "jobs", None) is not None and options.jobs < 1:
        own.error(f"--jobs is {options.jobs}; it must be at least 1")
    if getattr(options, "commit_notebooks", False) and (options.profile, options.device) != (
        "quick",
        "auto",
    ):
        own.error("--commit-notebooks goes with --profile quick and --device auto only")
    if getattr(options, "cluster", None) and not (Path(options.cluster) / "config.yaml").is_file():
        own.error(
            f"--cluster {options.cluster}: there is no config.yaml; it is a folder such as profiles/slurm"
        )
    options.rest = rest
    return options


def results() -> Path:
    """The folder of results."""
    return Path(os.environ.get("PAPERLIB_RESULTS") or ROOT / "results")


def desk() -> Path:
    """Where the lock, Snakemake's notes and a new .venv lie: the project's folder, or that of results where it is read-only."""
    if os.access(ROOT, os.W_OK):
        return ROOT
    results().mkdir(parents=True, exist_ok=True)
    return results()


@contextlib.contextmanager
def one_at_a_time():
    """Hold this folder's lock; a second call ends with a message. It is released when a process dies."""
    with open((place := desk()) / ".run.lock", "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # not any OSError: a file system without locks is another matter
            file.seek(0)
            sys.exit(
                f"Another run.py works in {place} ({file.read().strip() or 'just started'}); wait for it or end it."
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
    **kwargs,
) -> int:
    """Run a command to its end, with a call of `meanwhile` each second.

    When this process is told to stop, so is the command, with `group` its children too. One that `tidies` up after a
    Ctrl-C, which a terminal sends to both, has some seconds for that.
    """
    process = subprocess.Popen([str(a) for a in argv], start_new_session=group, **kwargs)
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(1 if meanwhile else None)
            meanwhile()
    except BaseException as stop:
        if tidies and isinstance(stop, KeyboardInterrupt):
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(HEARD)
        # Snakemake may hang when told to stop while a job ends
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(process.pid, number)
            # a second Ctrl-C is for what still runs
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(GRACE)
                break
        raise


def stamp() -> str:
    """What an environment was made from: the lock and the version of Python."""
    return hashlib.sha256(LOCK.read_bytes() + sys.version.split()[0].encode()).hexdigest()


def environment() -> str:
    """Path of the environment's Python; makes or remakes .venv where it is missing, stale or half-made."""
    # its kernels find the package here, installed there or not
    if os.environ.get("PAPERLIB_PYTHON"):
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, (str(CODE), os.environ.get("PYTHONPATH")))
        )
        return os.environ["PAPERLIB_PYTHON"]
    # another Python's packages would come before those of the lock
    for name in ("PYTHONPATH", "PYTHONHOME"):
        os.environ.pop(name, None)
    venv = VENV if made(VENV) else desk() / VENV.name
    python = venv / "bin/python"
    if not made(venv):
        make_environment(python)
        (venv / ".ready").write_text(stamp())  # written last
    # The package is used from this folder: one line on the environment's path, so that every
    # kernel finds it, with no build step and no network.
    where = next(venv.glob("lib/python*/site-packages")) / "paperlib.pth"
    if not where.exists() or where.read_text() != f"{ROOT}\n":
        try:
            where.write_text(f"{ROOT}\n")
        except OSError:  # a read-only one, made for another path
            os.environ["PYTHONPATH"] = str(ROOT)
    return str(python)


def check_own(python: str, command: str) -> None:
    """End the call with one line where the interpreter that PAPERLIB_PYTHON names cannot run a command."""
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
            " PAPERLIB_PYTHON and let run.py make .venv."
        )


def made(venv: Path) -> bool:
    """Whether an environment is whole, and of this lock and this Python."""
    ready = venv / ".ready"
    return ready.exists() and ready.read_text() == stamp() and (venv / "bin" / "python").exists()


def make_environment(python: Path) -> None:
    """A new .venv with exactly what the lock names."""
    print(
        "Making .venv from requirements.lock; this is done once and takes a few minutes.",
        flush=True,
    )
    venv = python.parents[1]
    start, log = time.monotonic(), results() / "setup.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if venv.is_symlink():
        venv.unlink()
    shutil.rmtree(venv, ignore_errors=True)
    # not a Python inside .venv itself
    base = getattr(sys, "_base_executable", None) or sys.executable
    # Compiling all 1.5 GB would double the time; Python compiles what it imports.
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
                    f"Making .venv failed at `{' '.join(map(str, step[1:3]))}`; the whole output is in {log}. Fix the cause and call again."
                )
    print(f"The environment is ready ({time.monotonic() - start:.0f} s).", flush=True)


def chosen(only: list[str] | None) -> list[str]:
    """Stems of the notebooks that ``--only`` names, all without it; an unknown name ends the call."""
    there = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    stems = [stem for stem in there if re.fullmatch(STEM, stem)]
    if others := [stem for stem in there if stem not in stems]:
        print(f"Not run, for their names are not like glbomd_1_logistic: {', '.join(others)}")
    papers = sorted({stem.split("_")[0] for stem in stems if not stem[0].isdigit()})
    wanted = []
    for name in only or []:
        name = Path(name).name.removesuffix(".ipynb")
        found = [stem for stem in stems if name in (stem, stem.split("_")[0])]
        if not found:
            sys.exit(
                f"--only {name}: no such paper or notebook. Papers: {', '.join(papers)}. Notebooks: {', '.join(stems)}."
            )
        wanted += [stem for stem in found if stem not in wanted]
    return wanted if only else stems


def folder(profile: str) -> Path:
    """Where executed copies, logs and ``.done`` files lie of a profile, or of custom runs."""
    return results() / profile


def cuda(python: str) -> bool:
    """Whether torch finds a CUDA device; also where that cannot be found out."""
    look = [python, "-c", "import torch; print(torch.cuda.is_available())"]
    return subprocess.run(look, capture_output=True, text=True).stdout.strip() != "False"


def figures(python: str, options: argparse.Namespace) -> int:
    """Data, then Snakemake over the notebooks, then a table of what came out."""
    stems = chosen(options.only)
    if not stems:
        sys.exit(f"There is no notebook in {ROOT / 'notebooks'}.")
    profiles = ROOT / "notebooks" / "profiles.toml"
    try:
        known = tomllib.loads(profiles.read_text()) if profiles.exists() else {}
    except tomllib.TOMLDecodeError as error:
        sys.exit(f"{profiles} is no TOML: {error}.")
    names = sorted({name for stem in stems for name in known.get(stem, {}).get("datasets", [])})
    if names and call([python, "-m", "companion.datasets", *names], cwd=ROOT):
        print(
            "Some data cannot be used: notebooks go on without what is missing and say so, and refuse what is damaged."
            if options.profile == "quick"
            else "Some data cannot be used: the notebooks that need them will fail."
        )
    shared = options.profile == "paper" and any("shards" in known.get(stem, {}) for stem in stems)
    jobs = options.jobs or (cores() if shared else min(cores(), len(stems)))
    threads = 1 if options.cluster else max(1, cores() // jobs)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    where = f"by {options.cluster}" if options.cluster else f"{jobs} at a time"
    print(
        f"{len(stems)} notebook{'s' * (len(stems) > 1)}, {options.profile} profile, {where}:",
        flush=True,
    )
    begun, log = time.time(), folder(options.profile) / "snakemake.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    engine = ["--cores", jobs]
    if options.cluster:
        engine = [
            "--workflow-profile",
            Path(options.cluster).resolve(),
            *(["--jobs", jobs] if options.jobs else []),
        ]
    # each job and why it runs; what the user reads comes from the jobs
    with open(log, "w") as reasons:
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
            meanwhile=(
                lambda: draw(
                    progress(
                        log.read_text(errors="replace"),
                        time.time() - begun,
                        lambda path: told(desk() / f"{path}.progress", begun),
                    )
                )
            )
            if sys.stdout.isatty()
            else None,
            stderr=reasons,
        )
    if sys.stdout.isatty():
        draw("")
    # the Snakefile says which runs have other parameters than are declared
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
    if options.profile == "paper" and not os.environ.get("PAPERLIB_FIGURES"):
        page = call([python, "-m", "companion.pages.site", "write"], cwd=ROOT)
    for place in sorted({at[stem] for stem in stems if stem not in failed}):
        print(f"python3 run.py docs --profile {place} makes pages of them")
    if code and not any((folder(at[stem]) / f"{stem}.log").exists() for stem in failed):
        print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-8:]))
    if code:
        print(f"Snakemake ended with exit status {code}; what it did and why is in {log}")
    return 1 if code or failed or page else 0


def shown(profile: str) -> Path:
    """Where figures and verdicts lie of a profile, or of custom runs."""
    top = Path(os.environ.get("PAPERLIB_FIGURES") or ROOT / "figures")
    return top if profile == "paper" else top / profile


STARTED = r"^    output: (?P<path>.*/.+)\.done\n    jobid: (?P<job>\d+)"
ENDED = (
    r"^Finished jobid: (?P<done>\d+)|^Error in rule .*:\n(?:    .*\n)*?    jobid: (?P<failed>\d+)"
)


def progress(log: str, seconds: float, far: Callable[[str], str] = lambda path: "") -> str:
    """One line on a run, from Snakemake's log so far: seconds, how much is done, what runs, and how ``far`` each is.

    ``far`` is asked for the path of a job's output, without its suffix.
    """
    running, done = {}, 0
    for event in re.finditer(f"{STARTED}|{ENDED}", log, re.MULTILINE):
        if event["job"]:
            running[event["job"]] = event["path"]
        else:
            running.pop(event["done"] or event["failed"], None)
            done += event["done"] is not None
    total = re.search(r"^total +(\d+)$", log, re.MULTILINE)
    line = f"{seconds:.0f} s, " + (
        f"{done} of {total[1]} done" if total else "looking at what changed"
    )
    if not running:
        return line
    words = (
        Path(path).name + (f" ({said})" if (said := far(path)) else "") for path in running.values()
    )
    return f"{line}; running {', '.join(words)}"


def told(path: Path, begun: float) -> str:
    """What a job of this call says of how far it is; "" for one that says nothing, or of a call before."""
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_mtime >= begun else ""
    except OSError:
        return ""


def scheduled(log: Path, begun: float) -> set[str]:
    """Rules that a call meant to run, from the table of jobs in its Snakemake log; none if the log is older."""
    text = log.read_text(errors="replace") if log.exists() and log.stat().st_mtime >= begun else ""
    stats = re.search(r"^Job stats:\njob +count\n[- ]+\n((?:\S+ +\d+\n)+)", text, re.MULTILINE)
    return {line.split()[0] for line in stats[1].splitlines()} if stats else set()


def draw(line: str) -> None:
    """Show a line that the next output overwrites."""
    print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}\r", end="", flush=True)


def read_json(path: Path) -> dict:
    """A JSON object; nothing if there is no such file or it is damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def verdicts(profile: str) -> dict[str, Counter]:
    """Notebook -> how often each verdict came out."""
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
    """Print notebook, seconds and claims, and where to look; returns the notebooks that failed or were not reached.

    ``at``: the profile to which each notebook's run belongs, or "custom"; by default the profile.
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
        if stem in due and not fresh:  # Snakemake keeps what it does not reach
            failed.append(stem)
            print(f"{stem:{width}}        -  no new result")
            continue
        counts = said[at[stem]].get(stem, {})
        words = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))
        if at[stem] != "paper" and counts:  # smaller sizes decide nothing
            words = f"{sum(counts.values())} without a verdict"
        words = words or "-"
        marks = "  (custom)" * (at[stem] != profile) + "  (unchanged)" * (not fresh)
        print(f"{stem:{width}}  {seconds:7.1f}  {words}{marks}")
    for stem in failed:
        tell(stem, folder(at[stem]), begun)
    for place in sorted({at[stem] for stem in stems if stem not in failed}):
        print(f"\nFigures and verdicts are in {shown(place)}")
    return failed


def tell(stem: str, where: Path, begun: float) -> None:
    """Print why a notebook has no result, and where to look."""
    log, copy = where / f"{stem}.log", where / f"{stem}.ipynb"
    # one that failed kept the notebook from running
    for shard in where.glob(f"{stem}.shard*.log"):
        if shard.stat().st_mtime >= begun and not shard.with_suffix(".done").exists():
            log, copy = shard, None
    ran = log.exists() and log.stat().st_mtime >= begun
    reason = (log.read_text(errors="replace").strip().splitlines() or [""])[-1] if ran else ""
    missed = "it was not reached"
    if (where / f"{stem}.done").exists():
        missed += ", since what it comes after failed or the call was stopped; what stands is of an earlier call"
    stopped = "it was stopped, or killed (as the system does when the memory is full), or its log could not be written"
    print(f"\n{stem} has no result: {reason or stopped if ran else missed}")
    if ran:
        print(f"  log {log}" + (f"\n  executed copy {copy}" if copy else ""))


def test(python: str, options: argparse.Namespace) -> int:
    """The suite in one pytest call, each notebook on one worker; pytest's summary comes last."""
    workers = min(cores(), 8)
    os.environ["OMP_NUM_THREADS"] = str(max(1, cores() // workers))
    if options.slow:  # compared cells have to hold on every processor, see tests/last_bit
        os.environ.setdefault("PAPERLIB_LAST_BIT", "1")
    # what is slow waits a third of its time, for processes that start and end
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


# a stored result, a checkpoint of one, or what a killed process left of either
STORED = r"\.?[0-9a-f]{64}(\.part)?\.npz(\..*partial)?"
OURS = rf"quick|paper|custom|site|cache|setup\.log|{STORED}"  # in a folder of results that a user named


def clean(everything: bool) -> int:
    """Remove what can be made again: results, quick figures and caches."""
    found = [ROOT / "results"]
    # a folder of the user's own may hold more
    if os.environ.get("PAPERLIB_RESULTS") or results().is_symlink():
        there = results().iterdir() if results().is_dir() else []
        found = sorted(path for path in there if re.fullmatch(OURS, path.name))
    caches = [".snakemake", ".pytest_cache", ".hypothesis", ".ruff_cache"]
    # measurements of an older state cannot be made again
    caches += [".venv", ".benchmarks"] * everything
    found += [
        shown("quick"),
        shown("paper") / "claims",
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
        except OSError as error:  # of a folder that is read-only
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
    """Where JupyterLab looks for settings, those of notebooks/.jupyter last: what a user has set comes first."""
    own = os.environ.get("JUPYTER_CONFIG_DIR") or str(Path.home() / ".jupyter")
    places = (os.environ.get("JUPYTER_CONFIG_PATH"), own, str(CODE / "notebooks" / ".jupyter"))
    return os.pathsep.join(filter(None, places))


def main(argv: list[str]) -> int:
    """Run one command; returns its exit status."""
    options = parse(argv)
    for name in (f"PAPERLIB_{folder}" for folder in FOLDERS):
        if os.environ.get(name):  # the folders that jobs work in are not the caller's
            os.environ[name] = os.path.abspath(os.environ[name])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # a connection that ends stops the call, unless nohup stands before it
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    # this environment's kernel, not the user's
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    # the debugger's warning at kernel start
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
            sys.exit("--device cuda: torch finds no CUDA device here; allowed: auto, cpu")
        if options.command == "figures":
            return figures(python, options)
        if options.command == "test":
            return test(python, options)
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
        stack.close()  # a JupyterLab that stays open keeps nobody from running
        os.environ["JUPYTER_CONFIG_PATH"] = configuration()
        # from the root, for notebooks link to docs/
        return call([python, "-m", "jupyterlab", *options.rest], cwd=ROOT)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\nStopped; the same call goes on where this one ended.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except OSError as error:  # a full disk, or a folder that cannot be written
        sys.exit(
            f"run.py cannot go on: {error}. Fix the cause and call again; what is finished is kept."
            + READ_ONLY * (error.errno in (errno.EROFS, errno.EACCES))
        )
