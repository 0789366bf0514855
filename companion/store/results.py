"""Results on disk, keyed by content: a result that was computed before is loaded.

The unit of computation is a chunk, a fixed range of trials. A run that is stopped, resumed or repeated computes the
same chunks. Therefore its results are equal bit for bit. Files are moved into place whole; two processes that compute
the same chunk write the same file. A shard (PAPERLIB_SHARD=k/n) computes every n-th chunk of all its calls and reads
none. A run without that variable then loads the chunks that the shards have stored.

If PAPERLIB_USED names a file, as in a job of the workflow, the digests of all results that are used are appended to it, with the
CPU seconds of those that were computed. The latter are also appended to ``costs.txt`` next to the results.
``bench.notebooks`` sums them for each notebook.
"""

import contextlib
import errno
import functools
import itertools
import logging
import os
import re
import zipfile
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paperlib.core.contracts import Learner, Problem, declared_size
from paperlib.core.describe import short_repr
from paperlib.core.files import check_writable, parse_npz, write_atomically
from paperlib.core.linalg import pick_device
from paperlib.core.rounds import Probe
from paperlib.core.trace import Trace
from paperlib.core.trees import normalize_trials, select_trials
from paperlib.core.validation import check_integer
from paperlib.play import play

from ..output import project_dir
from .keys import Key, content_key
from .progress import progress_line
from .timing import shared_lock

log = logging.getLogger(__name__)
_numbers = itertools.count()  # index of the next chunk, over all calls of this process


def results_dir() -> Path:
    """Return the folder of results: PAPERLIB_RESULTS, otherwise ``results/cache`` in the project's folder."""
    return Path(os.environ.get("PAPERLIB_RESULTS") or project_dir() / "results" / "cache")


def current_shard() -> tuple[int, int] | None:
    """Return (k, n) for shard k of n, counted from 1, as given by PAPERLIB_SHARD; None without shards."""
    text = os.environ.get("PAPERLIB_SHARD")
    if not text:
        return None
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    k, n = map(int, found.groups()) if found else (0, 0)
    if not 1 <= k <= n:
        raise ValueError(f"PAPERLIB_SHARD must be k/n with 1 <= k <= n, got {text!r}")
    return k, n


class _Unread:
    """Placeholder that a shard returns for a result; only the notebook's own run reads results."""

    def __init__(self, name: str):
        self._name = name

    def _refuse(self, *_):
        raise RuntimeError(
            f"a shard has no results, but the code reads {self._name}. Use only problems, learners and store.run in cells that a shard runs"
        )

    __getattr__ = __getitem__ = __iter__ = __len__ = _refuse


def split_chunks(trials: int | Sequence[int], chunk: int = 50) -> list[Sequence[int]]:
    """Split the trials 0 .. trials - 1, or the listed ones, into chunks of at most ``chunk`` trials."""
    ids, _ = normalize_trials(trials)
    chunk = check_integer("chunk", chunk)
    return [ids[first : first + chunk] for first in range(0, len(ids), chunk)]


def values_by_name(trials: Any, names: Iterable[Hashable]) -> dict[Hashable, Any]:
    """Return the number of trials by name; ``trials`` is one value for all names, or a dictionary.

    Raises:
        ValueError: the keys of the dictionary differ from ``names``.
    """
    found = dict(trials) if isinstance(trials, Mapping) else dict.fromkeys(names, trials)
    if found.keys() != {*names}:
        listed = ", ".join(map(str, names))
        raise ValueError(
            f"trials must be a number or a dictionary with one number for each of {listed}, got {trials!r}"
        )
    return found


def run(
    problem: Problem,
    learners: dict[str, Learner],
    horizon: int,
    trials: int | Sequence[int] | dict[str, int | Sequence[int]],
    seed: int = 0,
    *,
    chunk: int = 50,
    probes: dict[str, Probe | Callable] | None = None,
    record: int | str | Sequence[int] = 100,
    device: str = "cpu",
    every: float = 30.0,
    progress: Callable[[int, int, float], None] | None = None,
) -> dict[str, Trace]:
    """Run every learner on ``problem``; load the chunks that an equal run has stored.

    Per-trial parameters (see ``core.trees``) have one row for each trial of their learner. Those of the problem have one
    row for each trial of the learner with the most trials. All rows are part of the key. Therefore a run with more trials,
    and so with more rows, recomputes all of them. Without per-trial parameters it computes only the new ones.

    Args:
        problem: the same for all learners; all of them receive the same noise.
        learners: name -> learner.
        horizon: rounds T.
        trials: number of trials, one for all learners or by name; a learner with fewer has the first ones. Or a list of
            trials, see ``play``.
        seed, probes, record, every: see ``play``.
        device: see ``play``. "auto" chooses by ``chunk``, as if each batch had that many trials. A run with more trials
            therefore uses the same device, and loads the chunks that are stored.
        progress: see ``play``. None shows a line with the learner, the progress and the remaining time
            (``store.progress``).
        chunk: trials that are played as one batch and stored as one file.

    Returns:
        name -> Trace of all its trials; in a shard, name -> a placeholder that raises RuntimeError when it is used.

    Raises:
        ValueError: an input that ``play`` rejects, per-trial parameters of another length, a learner without a number of
            trials, or a probe that uses a value that cannot be identified by content.

    Examples:
        The result is stored in the folder that PAPERLIB_RESULTS names. A second call with the same arguments loads it.

        >>> import os, tempfile
        >>> from unittest import mock
        >>> from companion import store
        >>> from paperlib.glbomd import GLBOMD, Bernoulli, SphereArms
        >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, PAPERLIB_RESULTS=folder):
        ...     learners = {"GLB-OMD": GLBOMD(Bernoulli(), 2.0)}
        ...     traces = store.run(SphereArms(norm=2.0, dim=3, arms=5), learners, horizon=20, trials=3, record="all")
        >>> traces["GLB-OMD"]["regret"].shape
        (3, 20)
    """
    for what, given in (("learners", learners), ("probes", probes or {})):
        if not isinstance(given, dict):
            raise ValueError(f"{what} must be a dictionary by name, got {short_repr(given)}")
    ids = {
        name: normalize_trials(count) for name, count in values_by_name(trials, learners).items()
    }
    chunk = check_integer("chunk", chunk)
    for name, (rows, total) in ids.items():
        select_trials(learners[name], rows, total, f"learners[{name!r}]")
    if ids:
        select_trials(problem, *max(ids.values(), key=lambda found: len(found[0])), "problem")
    part, out = current_shard(), {}
    device = pick_device(device, chunk, *declared_size(problem))
    parts = {name: split_chunks(rows, chunk) for name, (rows, _) in ids.items()}
    if part is not None:
        # Shard k of n computes the chunks with index k - 1 modulo n; the index counts over all
        # calls of the process.
        ours = lambda rows: next(_numbers) % part[1] == part[0] - 1
        parts = {name: [rows for rows in found if ours(rows)] for name, found in parts.items()}
    work = type(problem).__name__, sum(map(len, parts.values()))
    with progress_line(*work, shown=progress is None) as shown:
        for name, learner in learners.items():
            inputs = {
                "learner": learner,
                "problem": problem,
                "horizon": horizon,
                "seed": seed,
                "record": record,
                "probes": probes or {},
            }
            # The number of a GPU is not part of the key, but the kind of device is, because its
            # rounding differs.
            known = content_key({**inputs, "device": device.split(":")[0]}, also=("paperlib.play",))
            # Reuse the descriptions that were made for the key.
            about = {of: known.content["inputs"][of] for of in ("learner", "problem")}
            say = progress or (lambda t, T, _: shown.tell(t, T))
            how = {"device": device, "every": every, "progress": say, "about": about}
            compute = functools.partial(play, **inputs, **how)
            begin = functools.partial(shown.begin, name)
            traces = []
            for rows in parts[name]:
                path = results_dir() / f"{known.digest(trials=rows)}.npz"
                traces.append(_chunk(known, path, rows, compute, begin))
                _note_use(path)
                shown.end()
            out[name] = Trace.merge(traces) if part is None else _Unread(name)
    return out


def cached_call(
    name: str, function: Callable[..., dict[str, np.ndarray]], **inputs: Any
) -> dict[str, np.ndarray]:
    """Return ``function(**inputs)``, a dictionary of arrays and numbers, or the stored result of an equal call.

    The key consists of its code and inputs, as for ``run``; randomness must come from the inputs. The function itself
    takes ``timing.shared_lock()`` or ``timing.exclusive_lock()`` where it should. Shards do not call it; the run without
    shards does, because timings that are compared must come from one process.

    Raises:
        ValueError: inputs that cannot be identified by content, or a result that is not a dictionary of numbers.
    """
    if current_shard():
        return _Unread(name)
    known = content_key({"name": name, "function": function, "inputs": inputs})
    path = results_dir() / f"{known.digest()}.npz"
    found = _load(path, _arrays)
    if found is None:
        check_writable(results_dir())
        begun = cpu_seconds()
        result = function(**inputs)
        numbers = isinstance(result, dict)
        found = {k: np.asarray(v) for k, v in result.items()} if numbers else {}
        names = numbers and all(isinstance(k, str) and k != "file" for k in result)
        if not names or any(array.dtype.hasobject for array in found.values()):
            raise ValueError(
                f"{name} must return a dictionary of arrays, numbers and strings by name, except 'file', got {short_repr(result)}"
            )
        spent = cpu_seconds() - begun
        save = lambda: write_atomically(path, lambda file: np.savez(file, **found))
        if _keep(known, path, save):
            _note_use(path, max(spent, 0.001))
    _note_use(path)
    return found


def _chunk(
    known: Key,
    path: Path,
    ids: Sequence[int],
    compute: Callable[..., Trace],
    begin: Callable[[], None],
) -> Trace:
    """Return the trace of the trials ``ids``, loaded from its file `path`, or played after a call of ``begin``.

    A checkpoint is stored next to the file until the file is complete.
    """
    checkpoint = path.with_suffix(".part.npz")
    read = functools.partial(_trace, ids, compute.keywords["horizon"])
    trace = _load(path, read)
    if trace is not None:
        # The process was killed between the last two lines of this function. Test for existence
        # first, because the folder may be read-only.
        if checkpoint.exists():
            checkpoint.unlink(missing_ok=True)
        return trace
    with shared_lock():
        # Another process may have computed the chunk while this one waited for the lock.
        if (trace := _load(path, read)) is not None:
            return trace
        check_writable(results_dir())
        begin()
        begun = cpu_seconds()
        # The key contains the newer source text. Results of the older text must not be stored under
        # it, not even as a checkpoint.
        if known.edited():
            trace = compute(trials=ids)
        else:
            _load(checkpoint, _whole)  # removes a damaged checkpoint
            try:
                trace = compute(trials=ids, checkpoint=checkpoint)
            # Another process has finished the chunk and removed the checkpoint before it could be
            # read.
            except FileNotFoundError:
                trace = compute(trials=ids, checkpoint=checkpoint)
        spent = cpu_seconds() - begun
    if _keep(known, path, lambda: trace.save(path)):
        checkpoint.unlink(missing_ok=True)
        _note_use(path, max(spent, 0.001))
    return trace


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _note_use(path: Path, seconds: float = 0.0) -> None:
    """Append a result's digest, and the CPU seconds that it took now, to the file that PAPERLIB_USED names.

    A run that raised an error has no result, so it is not noted. The cost of a computed result is also appended to
    ``costs.txt``. Only jobs of the workflow set PAPERLIB_USED. Errors of the disk are ignored.
    """
    if used := os.environ.get("PAPERLIB_USED"):
        for note in (Path(used), path.with_name("costs.txt"))[: 2 if seconds else 1]:
            with contextlib.suppress(OSError), open(note, "a") as file:
                file.write(f"{path.stem} {seconds:.3f}\n")


def _keep(known: Key, path: Path, save: Callable[[], None]) -> bool:
    """Return whether the result was saved.

    It is not saved if it may come from code that is older than its key, or if the disk rejects it.
    """
    if edited := known.edited():
        text = "%s changed during this process, therefore the result is not stored. Restart the process"
        log.warning(text, ", ".join(edited))
        return False
    try:
        save()
    except OSError as error:  # the caller still gets the result
        log.warning(
            "%s cannot be written (%s): the next run computes it again", path, error.strerror
        )
        return False
    return True


def _trace(ids: Sequence[int], horizon: int, path: Path) -> Trace:
    """Load the trace in a file; raise an error if it has other trials or another last round."""
    trace = Trace.load(path)
    every = [*trace.series.values(), *trace.final.values()]
    shapes = [x.shape[:2] for x in trace.series.values()]
    good = trace.trials == list(ids) and trace.rounds[-1] == horizon and "regret" in trace.series
    good &= all(shape == (len(ids), len(trace.rounds)) for shape in shapes)
    good &= all(len(x) == len(ids) and x.dtype.kind in "biuf" for x in every)
    if not good:
        raise ValueError(
            f"the stored trace must have the trials {list(ids)}, the horizon {horizon} and a row per trial in each series, got {trace} with series of shapes {shapes}"
        )
    return trace


def _whole(path: Path) -> None:
    """Raise an error if a checkpoint is damaged or has no checksum."""
    if "checksum" not in parse_npz(path.read_bytes())[0]:
        raise ValueError("the checkpoint has no checksum")


def _load(path: Path, read: Callable[[Path], Any]) -> Any:
    """Return the content of ``path``; None if it does not exist or is damaged. A damaged file is removed with a warning.

    A file that cannot be read at the moment (a disk, a network, too little memory) stays, and the error is raised.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if bad := archive.testzip():
                raise zipfile.BadZipFile(f"bad checksum in {bad}")
        return read(path)
    except FileNotFoundError:
        return None
    except Exception as error:  # zipfile and numpy raise many kinds of errors for flipped bytes
        # Flipped bytes can also make them seek to a position beyond the file, which is an OSError
        # with EINVAL.
        passing = isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)
        if passing or isinstance(error, MemoryError):
            raise
        why = (str(error) or type(error).__name__).splitlines()[0]
        log.warning("%s is damaged (%s): computed again", path.name, why)
        path.unlink(missing_ok=True)
        return None


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
