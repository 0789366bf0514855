"""Results on disk, keyed by content: what was computed once is not computed again.

A chunk, a fixed range of trials, is the unit of computation: stopped, resumed or repeated, the same chunks run,
so results are equal bit for bit. Files are moved into place whole; two processes that compute the same chunk
write the same file. A shard (PAPERLIB_SHARD=k/n) computes every n-th chunk of all its calls and reads none: a run
without that variable loads what the shards have left.
"""

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
_numbers = itertools.count()  # of the chunks that this process has been asked for, over all calls


def results_dir() -> Path:
    """The folder of results: PAPERLIB_RESULTS, else ``results/cache`` in the project's folder."""
    return Path(os.environ.get("PAPERLIB_RESULTS") or project_dir() / "results" / "cache")


def current_shard() -> tuple[int, int] | None:
    """(k, n) in shard k of n, counted from 1, as PAPERLIB_SHARD says; None in a run of everything."""
    text = os.environ.get("PAPERLIB_SHARD")
    if not text:
        return None
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    k, n = map(int, found.groups()) if found else (0, 0)
    if not 1 <= k <= n:
        raise ValueError(f"PAPERLIB_SHARD={text!r}; allowed: k/n with 1 <= k <= n")
    return k, n


class _Unread:
    """What a shard gets for a result: whole results are read in the notebook's own run alone."""

    def __init__(self, name: str):
        self._name = name

    def _refuse(self, *_):
        raise RuntimeError(
            f"{self._name} was looked at in a shard, which has no results; allowed there: problems, learners, store.run"
        )

    __getattr__ = __getitem__ = __iter__ = __len__ = _refuse


def split_chunks(trials: int | Sequence[int], chunk: int = 50) -> list[Sequence[int]]:
    """Trials 0 .. trials - 1, or those listed, ``chunk`` at a time."""
    ids, _ = normalize_trials(trials)
    chunk = check_integer("chunk", chunk)
    return [ids[first : first + chunk] for first in range(0, len(ids), chunk)]


def values_by_name(trials: Any, names: Iterable[Hashable]) -> dict[Hashable, Any]:
    """Trials by name, where they are given for all or by name.

    Raises:
        ValueError: other names.
    """
    found = dict(trials) if isinstance(trials, Mapping) else dict.fromkeys(names, trials)
    if found.keys() != {*names}:
        allowed = ", ".join(map(str, names))
        raise ValueError(f"trials={trials!r}; allowed: a number, or one for each of {allowed}")
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
    """Play every learner, or load what an equal run has left.

    Settings by trial (see ``core.trees``) have a row for each trial of their learner; those of the problem have one
    for each trial of the learner with most. All rows are in the key: a run with more trials, and so with more rows,
    computes all of them anew, while without such settings it computes only the new ones.

    Args:
        problem: the same for all learners, who hear the same noise.
        learners: name -> learner.
        horizon: rounds T.
        trials: how many, for all or by name; a learner with fewer has the first ones. Or a list of trials, see ``play``.
        seed, probes, record, every: see ``play``.
        device: see ``play``; auto chooses by ``chunk``, as if each batch had so many trials. A run with more trials
            therefore takes the same device, and loads the chunks that are stored.
        progress: see ``play``; None shows a line that says what runs, how far, and how long still (``store.progress``).
        chunk: trials that are played as one batch and stored as one file.

    Returns:
        name -> Trace of all its trials; in a shard, name -> something that raises RuntimeError when it is used.

    Raises:
        ValueError: what ``play`` refuses, settings by trial of another length, a learner without a number of trials,
            or a probe that uses something whose content cannot be told.
    """
    for what, given in (("learners", learners), ("probes", probes or {})):
        if not isinstance(given, dict):
            raise ValueError(f"{what}={short_repr(given)}; allowed: a dictionary, by name")
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
            known = content_key({**inputs, "device": device.split(":")[0]}, also=("paperlib.play",))
            # described once, for the key
            about = {of: known.content["inputs"][of] for of in ("learner", "problem")}
            say = progress or (lambda t, T, _: shown.tell(t, T))
            how = {"device": device, "every": every, "progress": say, "about": about}
            compute = functools.partial(play, **inputs, **how)
            begin = functools.partial(shown.begin, name)
            traces = []
            for rows in parts[name]:
                traces.append(_chunk(known, rows, compute, begin))
                shown.end()
            out[name] = Trace.merge(traces) if part is None else _Unread(name)
    return out


def cached_call(
    name: str, function: Callable[..., dict[str, np.ndarray]], **inputs: Any
) -> dict[str, np.ndarray]:
    """``function(**inputs)``, a dictionary of arrays and numbers, or what an equal call has left.

    Its code and inputs are the key, as for ``run``; randomness must come from the inputs. The function itself
    takes ``timing.shared_lock()`` or ``timing.exclusive_lock()`` where it should. Shards leave it to the run of everything:
    timings that are compared come from one process.

    Raises:
        ValueError: inputs whose content cannot be told, or a result that is no dictionary of numbers.
    """
    if current_shard():
        return _Unread(name)
    known = content_key({"name": name, "function": function, "inputs": inputs})
    path = results_dir() / f"{known.digest()}.npz"
    found = _load(path, _arrays)
    if found is None:
        check_writable(results_dir())
        result = function(**inputs)
        numbers = isinstance(result, dict)
        found = {k: np.asarray(v) for k, v in result.items()} if numbers else {}
        names = numbers and all(isinstance(k, str) and k != "file" for k in result)
        if not names or any(array.dtype.hasobject for array in found.values()):
            raise ValueError(
                f"{name} returned {short_repr(result)}; allowed: a dictionary of arrays, numbers and strings, by name"
            )
        _keep(known, path, lambda: write_atomically(path, lambda file: np.savez(file, **found)))
    return found


def _chunk(
    known: Key, ids: Sequence[int], compute: Callable[..., Trace], begin: Callable[[], None]
) -> Trace:
    """Trials ``ids``, loaded, or played after a call of ``begin``; a checkpoint stands beside the file until that is whole."""
    path = results_dir() / f"{known.digest(trials=ids)}.npz"
    checkpoint = path.with_suffix(".part.npz")
    read = functools.partial(_trace, ids, compute.keywords["horizon"])
    trace = _load(path, read)
    if trace is not None:
        # a kill came between the two last lines; asked first, for the folder may be read-only
        if checkpoint.exists():
            checkpoint.unlink(missing_ok=True)
        return trace
    with shared_lock():
        # another process was faster while this one waited
        if (trace := _load(path, read)) is not None:
            return trace
        check_writable(results_dir())
        begin()
        # the key speaks for the newer text: what the older computes must not lie beside it
        if known.edited():
            trace = compute(trials=ids)
        else:
            _load(checkpoint, _whole)  # a damaged one goes
            try:
                trace = compute(trials=ids, checkpoint=checkpoint)
            # another process finished and removed the checkpoint that was to be read
            except FileNotFoundError:
                trace = compute(trials=ids, checkpoint=checkpoint)
    if _keep(known, path, lambda: trace.save(path)):
        checkpoint.unlink(missing_ok=True)
    return trace


def _keep(known: Key, path: Path, save: Callable[[], None]) -> bool:
    """Whether the result was saved: not if it may come from code that is older than its key, or if the disk refuses it."""
    if edited := known.edited():
        text = "%s changed while this process ran: the result is not kept; restart it"
        log.warning(text, ", ".join(edited))
        return False
    try:
        save()
    except OSError as error:  # the caller has the result all the same
        log.warning("%s is not kept (%s): the next run computes it again", path, error.strerror)
        return False
    return True


def _trace(ids: Sequence[int], horizon: int, path: Path) -> Trace:
    """The trace in a file; an error where it is not that of these trials up to this round."""
    trace = Trace.load(path)
    every = [*trace.series.values(), *trace.final.values()]
    shapes = [x.shape[:2] for x in trace.series.values()]
    good = trace.trials == list(ids) and trace.rounds[-1] == horizon and "regret" in trace.series
    good &= all(shape == (len(ids), len(trace.rounds)) for shape in shapes)
    good &= all(len(x) == len(ids) and x.dtype.kind in "biuf" for x in every)
    if not good:
        raise ValueError(f"{trace} with series of {shapes}")
    return trace


def _whole(path: Path) -> None:
    """Nothing; an error where a checkpoint does not hold what was written."""
    if "checksum" not in parse_npz(path.read_bytes())[0]:
        raise ValueError("without a checksum")


def _load(path: Path, read: Callable[[Path], Any]) -> Any:
    """What stands at ``path``; None if nothing does, or if it is damaged: then it is removed, with a warning.

    A file that cannot be read for now (a disk, a network, too little memory) stays, and the error goes on.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if bad := archive.testzip():
                raise zipfile.BadZipFile(f"bad checksum in {bad}")
        return read(path)
    except FileNotFoundError:
        return None
    except Exception as error:  # flipped bytes make zipfile and numpy raise all sorts
        # and seek to places that no file has
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
