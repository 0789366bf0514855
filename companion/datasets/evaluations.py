"""Cache on disk for evaluations of expensive functions; each point is evaluated once, over all runs.

A file is append-only and has one line of JSON per evaluation. The process that computes an evaluation writes it at once, so
a process that is killed loses no finished evaluation. A torn or damaged line is ignored, and so is a line of other data or
versions. Nothing here imports torch, because worker processes import this file.
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
    """Evaluation of a function, which is one line of the file."""

    parameters: Parameters
    value: float  # 0 if the function raised an error
    seconds: float  # run time of the function
    error: str | None  # the error that it raised


class Evaluations:
    """Deterministic function with a file of the values it has returned.

    Attributes:
        function: parameters -> number; a function of a module, or a partial of one, because workers import it.
        path: path of the file.
        about: data and versions that the values depend on in addition to parameters. Lines with another value are ignored.

    Raises:
        ValueError: ``about`` changes when it is written as JSON and read again.
    """

    def __init__(self, function: Callable[[Parameters], float], name: str, about: dict[str, Any]):
        _refuse_unlike("about", about)
        self.function, self.path, self.about = function, folder() / f"{name}.jsonl", about
        self._known: dict[str, Evaluation] = {}
        # The number of bytes read so far, and the inode. A new file has another inode.
        self._read, self._inode = 0, None

    def load(self) -> None:
        """Read the lines that any process has written since the last call."""
        with suppress(FileNotFoundError), open(self.path, "rb") as file:
            # The file was removed and created again.
            if (inode := os.fstat(file.fileno()).st_ino) != self._inode:
                self._read, self._inode = 0, inode
            file.seek(self._read)
            *whole, _ = file.read().split(b"\n")  # the last part is empty, or an unfinished line
            self._read += sum(len(line) + 1 for line in whole)
            entries = [_parse(line) for line in whole]
            for about, evaluation in filter(None, entries):
                if about == self.about:
                    self._known.setdefault(_text(evaluation.parameters), evaluation)
            if damaged := entries.count(None):
                log.warning("%s has %d damaged lines, which are ignored", self.path.name, damaged)

    def lookup(self, parameters: Parameters) -> Evaluation | None:
        """Return the evaluation at these parameters, or None if it does not exist yet."""
        return self._known.get(_text(parameters))

    def entries(self) -> list[Evaluation]:
        """Return all known evaluations."""
        return list(self._known.values())


def evaluate(asked: Sequence[tuple[Evaluations, Parameters]]) -> list[float]:
    """Return the values of functions at parameters; missing ones are evaluated in parallel, each once.

    There are as many workers as this process may have threads, each with one thread; they are reused between calls. If a
    function raises an error, exits, or returns no finite number, its value is 0 and its file contains the error. Errors that
    do not depend on the parameters are raised instead.

    Raises:
        MemoryError, ImportError: the function raised it.
        OSError: the function raised it, or a file cannot be written; if that is noticed at the start, nothing has been evaluated.
        ValueError: parameters are not a dictionary that JSON returns unchanged; then nothing has been evaluated.

    Examples:
        >>> import operator, os, tempfile
        >>> from unittest import mock
        >>> from companion.datasets.evaluations import Evaluations, evaluate
        >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, PAPERLIB_RESULTS=folder):
        ...     log = Evaluations(operator.itemgetter("x"), "example", about={"version": 1})
        ...     values = evaluate([(log, {"x": 0.5}), (log, {"x": 0.5})])  # the function is called once
        ...     values, len(log.entries())
        ([0.5, 0.5], 1)
    """
    for _, parameters in asked:
        _refuse_unlike("parameters", parameters)
    files = {id(file): file for file, _ in asked}.values()
    for file in files:
        file.load()
    # Keys of this dictionary are unique, so that a point that is requested twice is evaluated once.
    missing = {
        (file.path, _text(file.about), _text(parameters)): (file, parameters)
        for file, parameters in asked
        if file.lookup(parameters) is None
    }
    for path in {file.path for file, _ in missing.values()}:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab"):  # an error before a fit costs less than one after it
            pass
    _in_parallel([(file.function, x, file.path, file.about) for file, x in missing.values()])
    for file in files:
        file.load()
    return [file.lookup(parameters).value for file, parameters in asked]


def folder() -> Path:
    """Return the folder of the files: ``cache/evaluations`` in the folder of results.

    That is PAPERLIB_RESULTS, otherwise ``results`` in the project's folder.
    """
    results = os.environ.get("PAPERLIB_RESULTS") or project_dir() / "results"
    return Path(results) / "cache" / "evaluations"


def workers() -> int:
    """Return the number of processes that evaluate: OMP_NUM_THREADS, otherwise the processors that this process may use."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads) > 0:
        return int(threads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_parallel(calls: list[tuple]) -> None:
    count = workers()
    if min(count, len(calls)) < 2:
        # One thread, as in a worker, because sums must not depend on the number of threads.
        with threadpool_limits(1):
            for call in calls:
                _evaluated(*call)
        return
    from joblib import Parallel, delayed, parallel_config

    # One call per batch, so that a slow evaluation does not hold up others of its batch.
    with parallel_config("loky", n_jobs=count, inner_max_num_threads=1):
        Parallel(batch_size=1, pre_dispatch="all")(delayed(_evaluated)(*call) for call in calls)


def _evaluated(
    function: Callable[[Parameters], float], parameters: Parameters, path: Path, about: dict
) -> None:
    """Evaluate the function and append the value to the file, where every process reads it."""
    value, error, begin = 0.0, None, time.perf_counter()
    try:
        # The function gets a copy, so that it cannot change the parameters that are written.
        found = function(dict(parameters))
        if isinstance(found, (str, bytes, bool)) or not math.isfinite(found):
            raise ValueError(f"value must be a finite number, got {found!r}")
        value = float(found)
    except (MemoryError, OSError, ImportError):  # such an error does not depend on the parameters
        raise
    except (Exception, SystemExit) as raised:
        error = format_error(raised)
    evaluation = Evaluation(parameters, value, time.perf_counter() - begin, error)
    entry = {"about": about, **evaluation._asdict()}
    _append(path, _text({**entry, "checksum": _checksum(entry)}).encode())


def _append(path: Path, line: bytes) -> None:
    """Append a line in one write; an unfinished line of a killed process is ended first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab+", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        torn = file.seek(0, os.SEEK_END) and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
        whole = b"\n" * bool(torn) + line + b"\n"
        if file.write(whole) < len(whole):
            raise OSError(errno.ENOSPC, "the disk is full, an evaluation was not stored", str(path))


def _parse(line: bytes) -> tuple[dict, Evaluation] | None:
    """Return the content of a line, or None if it is damaged."""
    try:
        entry = json.loads(line)
        intact = entry.pop("checksum") == _checksum(entry)
        return (entry.pop("about"), Evaluation(**entry)) if intact else None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def _refuse_unlike(name: str, x: Any) -> None:
    """Raise ValueError unless ``x`` is a dictionary that JSON returns unchanged."""
    with suppress(ValueError, TypeError):
        if isinstance(x, dict) and json.loads(_text(x)) == x:
            return
    raise ValueError(f"{name} must be a dictionary that JSON stores without changes, got {x!r}")


def _text(x: Any) -> str:
    return json.dumps(x, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(entry: dict) -> str:
    return hashlib.sha256(_text(entry).encode()).hexdigest()[:16]
