"""One job of the workflow: ``python -m companion.workflow.jobs NOTEBOOK PROFILE [--shard K/N]``.

A notebook is run by papermill in a kernel. A shard of a notebook fills the store beforehand: it runs the cells tagged
``experiment`` and the cells before the first of them (parameters, imports), and none of the plots, checks and timings.
Its experiment cells may not use results; see ``store.run``.
"""

import argparse
import builtins
import contextlib
import errno
import json
import os
import re
import resource
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# jsonschema, which nbformat imports, would build a grammar of URIs for two seconds, and no notebook contains one.
sys.modules.setdefault("rfc3987_syntax", None)
import nbformat

from paperlib.core.files import write_atomically

from ..output import figures_dir
from .declared import PROFILES, convert_all, notebook_path, output_place
from .plan import cell_timeout, injected_settings, list_products, notebook_stems, profile_results

# Endings of the store's warnings about a damaged file, and about a file that cannot be written.
MENDED = (": computed again", ": the next run computes it again")
ROOM = "free some space there"
RIGHTS = "make them writable, or set PAPERLIB_RESULTS and PAPERLIB_FIGURES to other folders"
REMEDY = {  # advice for errors of the machine, by the system's text for the error
    os.strerror(errno.ENOSPC): ROOM,
    os.strerror(errno.EDQUOT): ROOM,
    os.strerror(errno.EROFS): RIGHTS,
    os.strerror(errno.EACCES): RIGHTS,
}
NOISE = "Kernel is running over TCP without encryption"  # ipykernel 7 prints it at each start


class Stopped(Exception):
    """Error for a notebook that did not finish; ``again`` is True if another attempt may succeed."""

    def __init__(self, text: str, again: bool):
        super().__init__(text)
        self.again = again


def shard_cells(stem: str) -> nbformat.NotebookNode:
    """Return a notebook as a shard runs it: experiments and the cells before the first of them.

    The other cells are replaced by ``pass``.

    Raises:
        ValueError: no cell is tagged experiment.
    """
    found = nbformat.read(notebook_path(stem), as_version=4)
    found.cells = [cell for cell in found.cells if cell.cell_type == "code"]
    tags = [cell.metadata.get("tags", []) for cell in found.cells]
    experiments = [i for i, own in enumerate(tags) if "experiment" in own]
    if not experiments:
        raise ValueError(
            f"{stem} must have a cell with the tag 'experiment', because shards run only such cells"
        )
    for i, cell in enumerate(found.cells):
        before = i < experiments[0] and "timing" not in tags[i]
        if not (before or i in experiments):
            cell.source = "pass"  # keeps the numbers of the cells as in the notebook
    return found


def run_notebook(
    stem: str, values: dict, folder: Path, seconds: int, part: str | None = None
) -> tuple[dict[str, str], dict[str, float]]:
    """Run a notebook in a kernel, with its executed copy in `folder`; or run its shard `part` ("2/4"), which leaves no copy.

    Args:
        seconds: time limit per cell.

    Returns:
        ``list_products``: the figures and verdicts that it wrote; an empty dictionary for a shard. And digest -> CPU seconds of
        the results that it used, 0 for those that it loaded.

    Raises:
        Stopped: a cell exceeded its time limit, or the kernel died.
    """
    # Skip the import of a grammar for jsonschema, which is not needed here and takes 2 s to load.
    sys.modules.setdefault("rfc3987_syntax", None)
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    before, environment = killed_for_memory(), dict(os.environ)
    with tempfile.TemporaryDirectory() as scratch:
        written, used = Path(scratch) / "written", Path(scratch) / "used"
        os.environ.update(PAPERLIB_WRITTEN=str(written), PAPERLIB_USED=str(used))
        if part:
            os.environ.update(PAPERLIB_SHARD=part, PAPERLIB_FIGURES=scratch)
            folder = Path(scratch)
        copy = folder / f"{stem}.ipynb"
        try:
            papermill.execute_notebook(
                shard_cells(stem) if part else str(notebook_path(stem)),
                str(copy),
                parameters=values,
                kernel_name="python3",
                cwd=str(notebook_path(stem).parent),  # as in JupyterLab and nbval
                progress_bar=False,
                stderr_file=sys.stderr,
                start_timeout=120,
                execution_timeout=seconds,
            )
        except CellTimeoutError:
            text = f"took longer than {seconds} s. Increase `timeout` in the notebook's section of profiles.toml"
            raise Stopped(f"{last_cell(copy)}: {text}", again=False) from None
        except DeadKernelError:
            text = "the kernel died, most often because the memory is full"
            if killed_for_memory() > before:
                text = "the kernel was killed because the memory was full"
            text += ". Use more memory, or fewer jobs at a time (--jobs)"
            raise Stopped(f"{last_cell(copy)}: {text}", again=True) from None
        finally:  # the scratch folder is removed, so nothing may be written there later
            os.environ.clear()
            os.environ.update(environment)
        results: dict[str, float] = {}
        for line in used.read_text().splitlines() if used.exists() else ():
            digest, spent = line.split()
            results[digest] = results.get(digest, 0.0) + float(spent)
        return {} if part else list_products(written), results


def killed_for_memory() -> int:
    """Return the number of processes that the system has killed since boot because the memory was full.

    Return 0 if the system does not count them.
    """
    try:
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) if found else 0


def cpu_of_children() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_of_children() -> int:
    """Return the largest memory that a child process had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def last_cell(copy: Path) -> str:
    """Return the last cell that was started according to an executed copy, for example "cell 3".

    Cells are counted as papermill counts them.
    """
    try:
        cells = json.loads(copy.read_bytes())["cells"]
    except (OSError, ValueError):
        return "a cell"
    begun = [
        bool(cell["metadata"].get("papermill", {}).get("start_time"))
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    return f"cell {sum(begun)}"


def may_pass_later(error: Exception) -> bool:
    """Return whether another attempt may succeed: after an error of the machine, but not after an error of the code."""
    if isinstance(error, Stopped):
        return error.again
    if hasattr(error, "ename"):  # an error in a cell
        kind = getattr(builtins, error.ename, Exception)
        machine = isinstance(kind, type) and issubclass(kind, (OSError, MemoryError))
        return machine or error.ename == "OutOfMemoryError"  # torch's error for the memory of a GPU
    return not isinstance(error, ValueError)


@contextlib.contextmanager
def output_to(path: Path) -> Iterator[Callable[[str], None]]:
    """Send the output of this process and of its kernel to `path`; yield a function that prints to the user."""
    sys.stdout.flush(), sys.stderr.flush()
    user, errors = os.dup(1), os.dup(2)
    clear = "\r\x1b[K" if os.isatty(user) else ""  # overwrites the progress line of run.py
    with open(path, "w") as log:
        # Redirect the file descriptors and not only sys.stdout, because the kernel's process
        # inherits the descriptors.
        os.dup2(log.fileno(), 1), os.dup2(log.fileno(), 2)

    def say(line: str) -> None:
        # A closed pipe or connection is no reason to fail, because the job does not depend on its
        # reader.
        with contextlib.suppress(OSError):
            os.write(user, f"{clear}{line}\n".encode())

    try:
        yield say
    finally:
        with contextlib.suppress(OSError):  # the disk may be full
            sys.stdout.flush(), sys.stderr.flush()
        os.dup2(user, 1), os.dup2(errors, 2), os.close(user), os.close(errors)
        with contextlib.suppress(OSError):
            lines = path.read_text(errors="replace").splitlines(keepends=True)
            path.write_text("".join(line for line in lines if NOISE not in line))


def failure_reason(error: Exception, profile: str, place: Path) -> str:
    """Return one line: the failed cell if there is one, the error, and advice if the machine is the cause.

    ``place`` is the folder of figures.
    """
    text = str(error) if isinstance(error, Stopped) else f"{type(error).__name__}: {error}"
    if hasattr(error, "ename"):
        text = f"cell {error.exec_count}: {error.ename}: {error.evalue}"
    if remedy := next((remedy for cause, remedy in REMEDY.items() if cause in text), ""):
        text += f" (results are written to {profile_results(profile).parent}, figures to {place}; {remedy} and run the command again: finished work is kept)"
    return " ".join(text.split())


def run_job(
    stem: str, profile: str, device: str = "auto", part: str | None = None, attempt: int = 1
) -> bool:
    """Run a notebook, or its shard `part`.

    Executed copy and log are written to ``results/<profile>/``, or to ``results/custom/`` for a custom run.

    Args:
        attempt: number of the attempt, from 1. From the second on, nothing is run if the first failed with an error that
            would occur again.

    Returns:
        True, with seconds and products in ``<stem>.done`` (for a shard, ``<stem>.shard2of4.done``). False if a cell fails;
        the log's last line then names the cell and the reason.
    """
    # Determine both before a shard gets its own scratch folder.
    folder, shown_in = profile_results(output_place(stem, profile)).resolve(), figures_dir()
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{stem}.shard{part.replace('/', 'of')}" if part else stem
    shown = f"{stem} {part}" if part else stem
    done, final = folder / f"{name}.done", folder / f"{name}.failed"
    if attempt > 1 and final.exists():
        return False
    final.unlink(missing_ok=True)
    done.unlink(missing_ok=True)
    far = folder / f"{name}.progress"  # read by run.py for its progress line
    far.unlink(missing_ok=True)  # left by an attempt that was killed
    os.environ["PAPERLIB_PROGRESS"] = str(far)
    with output_to(folder / f"{name}.log") as say:
        start, spent = time.perf_counter(), cpu_of_children()
        try:
            values = convert_all(stem, injected_settings(stem, profile, device))
            made, used = run_notebook(stem, values, folder, cell_timeout(stem, profile), part)
        except Exception as error:
            story, why = (
                re.sub(r"\x1b\[[0-9;]*m", "", str(error)),
                failure_reason(error, profile, shown_in),
            )
            # Written with os.write, because on a full disk Python's buffer would keep the text.
            with contextlib.suppress(OSError):
                os.write(2, f"{story}\n{why}\n".encode())
                if not may_pass_later(error):
                    final.touch()
            # The table of run.py shows the whole text.
            say(f"  {shown}  failed, {textwrap.shorten(why, 160, placeholder=' ...')}")
            return False
        seconds = round(time.perf_counter() - start, 1)
        kept = {"notebook": stem, "profile": profile, "seconds": seconds, "products": made}
        own = cpu_of_children() - spent - sum(used.values())
        kept |= {"own_cpu": round(own, 1), "peak_bytes": peak_of_children(), "used": [*used]}
        write_atomically(done, lambda file: file.write(json.dumps(kept).encode()))
        for line in (folder / f"{name}.log").read_text(errors="replace").splitlines():
            if line.endswith(MENDED):
                say(f"  {shown}  {line}")
        say(f"  {shown}  done in {seconds:.0f} s")
    return True


def main(argv: list[str] | None = None) -> int:
    """Run one notebook in one profile, or one shard of it."""
    parser = argparse.ArgumentParser(
        prog="python -m companion.workflow.jobs", description=main.__doc__
    )
    parser.add_argument("notebook", help="stem or path")
    parser.add_argument("profile", choices=PROFILES)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument(
        "--shard",
        metavar="K/N",
        help="compute every N-th chunk of its experiments, starting with the K-th",
    )
    parser.add_argument("--attempt", type=int, default=1, help="number of this attempt, from 1")
    options = parser.parse_args(argv)
    # Make the folders absolute, because a kernel works in notebooks/.
    for name in ("PAPERLIB_RESULTS", "PAPERLIB_FIGURES"):
        if given := os.environ.get(name):
            os.environ[name] = os.path.abspath(given)
    path = notebook_path(options.notebook)
    if not path.exists():
        parser.error(
            f"notebook must be one of {', '.join(notebook_stems()) or 'none'}, got {options.notebook!r}"
        )
    shown_in = figures_dir()
    how = (options.profile, options.device, options.shard, options.attempt)
    try:
        return 0 if run_job(path.stem, *how) else 1
    except OSError as error:  # results/ cannot be written, not even the log
        print(f"  {path.stem}  failed, {failure_reason(error, options.profile, shown_in)}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
