"""Evaluations of expensive functions, kept on disk: what was evaluated once is not evaluated again, by whichever run.

A file is append-only, a line of JSON an evaluation, written by the process that has made it as soon as it is made; of a process that is
killed no line is lost. A line that is torn or damaged is not used, nor one of other data or versions.
Nothing here imports torch, for worker processes import this file.
"""

import errno
import fcntl
import hashlib
import json
import logging
import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from paperlib.core.text import format_error

from ..output import project_dir

log = logging.getLogger(__name__)
Parameters = dict[str, Any]  # Python's own numbers and strings, by name


class Evaluation(NamedTuple):
    """One line of the file."""

    parameters: Parameters
    value: float  # 0 where the function raised
    seconds: float  # that the function took
    error: str | None  # what it raised


class Evaluations:
    """A deterministic function, and the file of what it has returned.

    Attributes:
        function: parameters -> number, of a module, or a partial of one: workers import it.
        path: of the file.
        about: what values hang on beside parameters (data, versions), plain: lines with another are not used.

    Raises:
        ValueError: what JSON does not give back as it was.
    """

    def __init__(self, function: Callable[[Parameters], float], name: str, about: dict[str, Any]):
        _refuse_unlike("about", about)
        self.function, self.path, self.about = function, folder() / f"{name}.jsonl", about
        self._known: dict[str, Evaluation] = {}
        self._read, self._inode = 0, None  # bytes of the file, and which it was

    def load(self) -> None:
        """Read the lines that have come since the last call, from whichever process."""
        with suppress(FileNotFoundError), open(self.path, "rb") as file:
            if (inode := os.fstat(file.fileno()).st_ino) != self._inode:  # removed and begun anew
                self._read, self._inode = 0, inode
            file.seek(self._read)
            *whole, _ = file.read().split(b"\n")  # the last is empty, or not finished
            self._read += sum(len(line) + 1 for line in whole)
            entries = [_parse(line) for line in whole]
            for about, evaluation in filter(None, entries):
                if about == self.about:
                    self._known.setdefault(_text(evaluation.parameters), evaluation)
            if damaged := entries.count(None):
                log.warning("%s: %d damaged lines are not used", self.path.name, damaged)

    def lookup(self, parameters: Parameters) -> Evaluation | None:
        """The evaluation of these parameters, None where there is none yet."""
        return self._known.get(_text(parameters))

    def entries(self) -> list[Evaluation]:
        """All that are known."""
        return list(self._known.values())


def evaluate(asked: Sequence[tuple[Evaluations, Parameters]]) -> list[float]:
    """Values of functions at parameters; what is not in their files is evaluated, in parallel, once each.

    As many workers as this process may have threads, each with one; they are kept from call to call. A function that raises or exits, or
    returns no finite number, has the value 0, and its file says why.

    Raises:
        OSError: a file that cannot be written; nothing has been evaluated then.
        ValueError: parameters that are no dictionary that JSON gives back as it was; likewise.
    """
    for _, parameters in asked:
        _refuse_unlike("parameters", parameters)
    files = {id(file): file for file, _ in asked}.values()
    for file in files:
        file.load()
    missing = {
        (file.path, _text(file.about), _text(parameters)): (file, parameters)
        for file, parameters in asked
        if file.lookup(parameters) is None
    }
    for path in {file.path for file, _ in missing.values()}:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab"):  # an error now is cheaper than after a fit
            pass
    _in_parallel([(file.function, x, file.path, file.about) for file, x in missing.values()])
    for file in files:
        file.load()
    return [file.lookup(parameters).value for file, parameters in asked]


def folder() -> Path:
    """Where the files are: ``cache/evaluations`` in the folder of results (PAPERLIB_RESULTS, else ``results`` in the project's folder)."""
    results = os.environ.get("PAPERLIB_RESULTS") or project_dir() / "results"
    return Path(results) / "cache" / "evaluations"


def workers() -> int:
    """How many processes evaluate: OMP_NUM_THREADS, else the processors that this process may use."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads) > 0:
        return int(threads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_parallel(calls: list[tuple]) -> None:
    count = workers()
    if min(count, len(calls)) < 2:
        with threadpool_limits(1):  # as in a worker: sums must not hang on the number of threads
            for call in calls:
                _evaluated(*call)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config("loky", n_jobs=count, inner_max_num_threads=1):
        Parallel(batch_size=1, pre_dispatch="all")(delayed(_evaluated)(*call) for call in calls)


def _evaluated(
    function: Callable[[Parameters], float], parameters: Parameters, path: Path, about: dict
) -> None:
    """Evaluate, and append the value to the file. Every process reads it from there."""
    value, error, begin = 0.0, None, time.perf_counter()
    try:
        found = function(dict(parameters))  # a copy: what is written is what was asked
        if isinstance(found, (str, bytes, bool)) or not math.isfinite(found):
            raise ValueError(f"value={found!r}; allowed: a finite number")
        value = float(found)
    except (MemoryError, OSError, ImportError):  # say nothing about the parameters
        raise
    except (Exception, SystemExit) as raised:
        error = format_error(raised)
    evaluation = Evaluation(parameters, value, time.perf_counter() - begin, error)
    entry = {"about": about, **evaluation._asdict()}
    _append(path, _text({**entry, "checksum": _checksum(entry)}).encode())


def _append(path: Path, line: bytes) -> None:
    """In one write, after all that stands there; what a killed process left unfinished becomes a line by itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab+", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        torn = file.seek(0, os.SEEK_END) and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
        whole = b"\n" * bool(torn) + line + b"\n"
        if file.write(whole) < len(whole):
            raise OSError(errno.ENOSPC, "no room for an evaluation, which is lost", str(path))


def _parse(line: bytes) -> tuple[dict, Evaluation] | None:
    """What a line says; None where it is not what was written."""
    try:
        entry = json.loads(line)
        intact = entry.pop("checksum") == _checksum(entry)
        return (entry.pop("about"), Evaluation(**entry)) if intact else None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def _refuse_unlike(name: str, x: Any) -> None:
    """Raise ValueError unless ``x`` is a dictionary that JSON gives back as it was."""
    with suppress(ValueError, TypeError):
        if isinstance(x, dict) and json.loads(_text(x)) == x:
            return
    raise ValueError(f"{name}={x!r}; allowed: a dictionary that JSON gives back as it was")


def _text(x: Any) -> str:
    return json.dumps(x, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(entry: dict) -> str:
    return hashlib.sha256(_text(entry).encode()).hexdigest()[:16]
