"""Simulation of a learner on a problem.

``play`` is the only place in the library that simulates the rounds of a bandit problem. A run is a pure function of (learner,
problem, horizon, trials, seed, device kind). Therefore a run that is repeated, or stopped and resumed from its checkpoint, ends in
the same trace, except for the measured run times. Three private classes divide the work: ``_Recorder`` stores the recorded
quantities, ``_Checkpoint`` the data for resuming, and ``_Run`` contains the loop over the rounds.
Shapes: the leading dimension is R, the number of trials; T' is the number of recorded rounds.
"""

import hashlib
import json
import logging
import math
import os
import time
from collections.abc import Callable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .core import contracts
from .core.contracts import Learner, Problem
from .core.describe import describe, short_repr
from .core.files import check_writable, parse_npz, write_npz
from .core.linalg import pick_device, synchronize
from .core.rounds import REDUCE, Probe, Round
from .core.streams import Streams
from .core.trace import Trace
from .core.trees import normalize_trials, pack, select_trials, unpack
from .core.validation import check_integer

__all__ = ["Probe", "Round", "play", "recorded_rounds"]

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.5  # minimum time between two reports of progress
# Maximum number of rounds between two checks. A check reads `failed` in the learner's report and, on a GPU, the feedback.
# Every save is also preceded by a check, even if fewer rounds have passed.
CHECK_EVERY = 64


def recorded_rounds(horizon: int, record: int | str | Sequence[int]) -> np.ndarray:
    """Return the rounds to record, counted from 1. The last round is always among them.

    Args:
        horizon: number of rounds T.
        record: "all", a number of evenly spaced rounds, or a list of rounds.

    Raises:
        ValueError: a round outside 1..horizon, or a number of rounds below 1.

    Examples:
        >>> recorded_rounds(100, 4).tolist()
        [25, 50, 75, 100]
        >>> recorded_rounds(100, [1, 10]).tolist()
        [1, 10, 100]
    """
    if isinstance(record, str):
        if record != "all":
            raise ValueError(
                f"record must be 'all', a number of rounds, or a list of rounds, got {record!r}"
            )
        return np.arange(1, horizon + 1)
    if isinstance(record, (int, np.integer)):
        if record < 1:
            raise ValueError(f"record must be at least 1 round, got {record}")
        return np.unique(
            np.ceil(np.arange(1, record + 1) * (horizon / record)).astype(int).clip(1, horizon)
        )
    rounds = np.unique(np.append(np.asarray(record, int), horizon))
    if rounds[0] < 1 or rounds[-1] > horizon:
        raise ValueError(f"record must contain rounds from 1 to {horizon}, got {record!r}")
    return rounds


def play(
    learner: Learner,
    problem: Problem,
    horizon: int,
    trials: int | range,
    seed: int = 0,
    *,
    device: str = "cpu",
    record: int | str | Sequence[int] = 100,
    probes: dict[str, Probe | Callable] | None = None,
    checkpoint: str | os.PathLike | None = None,
    every: float = 30.0,
    progress: Callable[[int, int, float], None] | None = None,
    about: dict | None = None,
) -> Trace:
    """Simulate ``horizon`` rounds of ``trials`` independent trials at once.

    A field of the learner or the problem that is a tensor with at least one dimension holds per-trial settings, see
    ``core.trees``. Row i always belongs to trial i. If ``trials`` is a number, it must equal the number of rows. If ``trials`` is a
    list, only these trials of a larger run are simulated. For example, trials [3, 5] use rows 3 and 5, and there may be further rows.

    The learner's ``validate`` checks the first context only. Later contexts and the feedback may leave its model, because an experiment may
    study this; ask/tell checks them in every round.

    Args:
        learner: see ``core.contracts.Learner``. The return values of learner and problem are checked in the first round.
        problem: see ``core.contracts.Problem``.
        horizon: number of rounds T >= 1.
        trials: number of trials, which are then numbered 0, 1, ..., or a list or range of nonnegative trial numbers.
        seed: seed of the run. Trial i has the same random numbers as trial 0 of a run with ``seed + i``. Therefore two runs of R
            trials are independent only if their seeds differ by at least R.
        device: cpu, cuda, or auto. With auto, it is CUDA if we expect this number of trials of this problem to run faster
            there, see ``core.linalg.pick_device``.
        record: see ``recorded_rounds``.
        probes: name -> ``Probe``, or a function of a ``Round``, which becomes a ``Probe`` with reduce "last". Probes receive the states
            of the simulated trials only. However, if a probe stores a learner, the per-trial settings of this learner are not
            selected; they still have the rows of all trials.
        checkpoint: file from which the run resumes, if it exists. It is saved every ``every`` seconds, and before an error about
            feedback or ``failed`` (see below) is raised.
        every: time between two saves, in seconds. It is compared with the clock after every round.
        progress: called as ``progress(round, horizon, seconds)`` every half second, or every ``every`` seconds if that is less.
        about: {"learner": ..., "problem": ...} as returned by ``describe``, if already computed; None computes them.

    Returns:
        Trace with "regret" (cumulative, R x T'), the probes and the learner's report, named "report.*".

    Raises:
        ValueError: invalid arguments; per-trial settings of another length; arms that change, if the learner identifies arms by
            index; a checkpoint that is damaged or belongs to another run; feedback that is not finite; or a learner that reports
            ``failed``. For the last two errors, the message contains the round and the trial, and a state from before the failure is
            saved to ``checkpoint``.
        OSError: the folder of ``checkpoint`` is not writable. If a later save fails, the run continues with one warning.

    Examples:
        >>> from paperlib.glbomd import GLBOMD, Bernoulli, SphereArms
        >>> from paperlib.play import play
        >>> problem = SphereArms(Bernoulli(), arms=5, dim=2, norm=3.0)
        >>> trace = play(GLBOMD(Bernoulli(), norm_bound=3.0), problem, horizon=20, trials=3, record=10)
        >>> trace["regret"].shape
        (3, 10)
    """
    contracts.check_learner(learner)
    contracts.check_kind("problem", problem)
    horizon = check_integer("horizon", horizon)
    seed = check_integer("seed", seed, least=0)
    trials, total = normalize_trials(trials)
    if not isinstance(every, Real) or isinstance(every, bool) or not every >= 0:
        raise ValueError(f"every must be a number of seconds of at least 0, got {every!r}")
    if not isinstance(probes, (dict, type(None))):
        raise ValueError(
            f"probes must be a dictionary of a Probe or function by name, got {probes!r}"
        )
    probes = {name: p if isinstance(p, Probe) else Probe(p) for name, p in (probes or {}).items()}
    if "regret" in probes:
        raise ValueError("probes must not have the name 'regret', which is reserved")
    if about is None:
        about = {"learner": describe(learner), "problem": describe(problem)}
    # "auto" is resolved once for the whole run, because the trace depends on the kind of the device.
    device = pick_device(device, len(trials), *contracts.declared_size(problem))
    rounds = recorded_rounds(horizon, record)
    about = {
        **about,
        "horizon": horizon,
        "seed": seed,
        "trials": list(trials),
        "probes": describe(probes),
        "device": device.split(":")[0],
        "torch": torch.__version__.split("+")[0],
        "numpy": np.__version__,
    }
    learner = select_trials(learner, trials, total, "learner")
    problem = select_trials(problem, trials, total, "problem")
    with torch.no_grad():
        records = _Recorder(rounds, probes, len(trials), device)
        kept = _Checkpoint(checkpoint, about, rounds, device)
        run = _Run(
            learner, problem, horizon, trials, Streams(seed, trials, device), device, records, kept
        )
        run.loop(every, progress)
        report = contracts.call_optional(learner, "report", kept.state, default={})
        final = records.final | {f"report.{k}": v for k, v in report.items() if k != "failed"}
    host = lambda tree: {name: value.cpu().numpy() for name, value in tree.items()}
    return Trace(rounds, host(records.series), host(final), records.seconds, list(trials), about)


class _Recorder:
    """Recorder of regret, probes and run time.

    Attributes:
        running: (name, function, reduction) of the probes that are reduced over all rounds, for example to a sum.
        next: the next round to record, counted from 1; the last round is always recorded.
        sums: name -> R (x k), the accumulated quantities: the values of the ``running`` probes and the cumulative "regret". The
            loop in ``_Run`` updates "regret"; ``add`` updates all other quantities.
        series: name -> R x T' (x k), the values at the recorded rounds; columns of later rounds are NaN.
        final: name -> R (x k), the values of the probes with reduce "final" after the last round.
        seconds: T', cumulative run time.
    """

    def __init__(self, rounds: np.ndarray, probes: dict[str, Probe], trials: int, device: str):
        chosen = lambda *kinds: [
            (name, p.of, p.reduce) for name, p in probes.items() if p.reduce in kinds
        ]
        self.rounds, self.last, self.at_end = rounds, chosen("last"), chosen("final")
        self.running = [(name, of, REDUCE[reduce]) for name, of, reduce in chosen(*REDUCE)]
        self.trials = trials
        self.sums = {"regret": torch.zeros(trials, dtype=torch.float64, device=device)}
        self.series: dict[str, Tensor] = {}
        self.final: dict[str, Tensor] = {}
        self.seconds = np.zeros(len(rounds))
        self.follow(0)

    def follow(self, t: int) -> None:
        """Set ``place``, the next column to fill, and ``next``, its round, for a run that has played ``t`` rounds."""
        self.place = int(np.searchsorted(self.rounds, t, side="right"))
        self.next = int(self.rounds[self.place]) if self.place < len(self.rounds) else -1

    def add(self, seen: Round, clock: float) -> None:
        """Update the ``running`` probes, and record the round if it is the ``next`` one.

        A recorded round fills one column of the series. The last round also sets the final values.

        Raises:
            ValueError: a probe's first value has neither one row per trial nor a single row for all trials.
        """
        for name, of, reduce in self.running:
            value, so_far = of(seen), self.sums.get(name)
            if so_far is None:
                value = self._rows(name, value)
            value = value.to(torch.float64)  # the sum of a Boolean probe then counts rounds
            self.sums[name] = value if so_far is None else reduce(so_far, value)
        if seen.t + 1 != self.next:
            return
        for name, of, _ in self.last:
            self._put(name, of(seen))
        if self.next == self.rounds[-1]:
            self.final |= {name: self._rows(name, of(seen)) for name, of, _ in self.at_end}
        for name, value in self.sums.items():
            self._put(name, value)
        self.seconds[self.place] = clock
        self.follow(self.next)

    def _rows(self, name: str, value: Any) -> Tensor:
        """Return a probe's value with one row per trial; a single row is repeated for all trials."""
        if not isinstance(value, Tensor) or value.dim() < 1 or len(value) not in (1, self.trials):
            requirement = f"a tensor with {self.trials} rows, one per trial, or with 1 row"
            raise ValueError(f"probes[{name!r}] must return {requirement}, got {short_repr(value)}")
        return value.expand(self.trials, *value.shape[1:])

    def _put(self, name: str, value: Tensor) -> None:
        if name not in self.series:
            value = self._rows(name, value)
            shape = (value.shape[0], len(self.rounds), *value.shape[1:])
            self.series[name] = value.new_full(shape, math.nan, dtype=torch.float64)
        self.series[name][:, self.place] = value


class _Checkpoint:
    """Snapshot of the run after its last checked round, and the file in which it is saved, if there is one.

    Attributes:
        state: state of the learner before round ``t`` (counted from 0).
        t: number of rounds played.
        clock: cumulative run time of ``select`` and ``update`` in seconds.
        sums: accumulated quantities after ``t`` rounds. The recorded series may extend beyond ``t``; a resumed run overwrites these
            columns.
    """

    def __init__(
        self, file: str | os.PathLike | None, about: dict, rounds: np.ndarray, device: str
    ):
        self.file, self.device, self.warned = file, device, False
        if file is not None:
            check_writable(Path(file).parent, file)
        key = json.dumps({**about, "rounds": rounds.tolist()}, sort_keys=True)
        self.digest = hashlib.sha256(key.encode()).hexdigest()

    def keep(self, state: Any, t: int, clock: float, sums: dict[str, Tensor]) -> None:
        """Take a snapshot after ``t`` rounds."""
        # A shallow copy suffices, because the loop replaces entries of ``sums`` and never modifies a tensor.
        self.state, self.t, self.clock, self.sums = state, t, clock, dict(sums)

    def save(self, records: _Recorder) -> None:
        """Write the snapshot and the recorded series to the file, if there is one, in one atomic step.

        If the file cannot be written, for example because the disk is full, the run continues with one warning.
        """
        if self.file is None:
            return
        arrays, plain = pack(self.state)
        for kind, tree in (
            ("sums", self.sums),
            ("records", records.series),
            ("final", records.final),
        ):
            arrays |= {f"{kind}.{name}": value.cpu().numpy() for name, value in tree.items()}
        head = {"digest": self.digest, "t": self.t, "clock": self.clock, "plain": plain}
        try:
            write_npz(self.file, head, arrays | {"seconds": records.seconds})
        except OSError as error:
            if not self.warned:
                text = "checkpoint %s cannot be written: %s. Later failures are not reported"
                log.warning(text, self.file, error.strerror)
            self.warned = True

    def resume(self, records: _Recorder) -> None:
        """Restore the snapshot in the file, if there is one.

        Raises:
            ValueError: the file belongs to another run, or is damaged.
        """
        if self.file is None or not os.path.exists(self.file):
            return
        # The digest identifies the run. Without it, a file of another run could be resumed silently.
        name, raw = f"checkpoint={str(self.file)!r}", Path(self.file).read_bytes()
        try:
            head, arrays = parse_npz(raw)
            digest, t, clock = head["digest"], head["t"], head["clock"]
            tensors = {k: torch.from_numpy(x).to(self.device) for k, x in arrays.items()}
            part = lambda kind: {
                k.removeprefix(kind): x for k, x in tensors.items() if k.startswith(kind)
            }
            sums, series, final = part("sums."), part("records."), part("final.")
            seconds, ours = arrays["seconds"], digest == self.digest
            state = unpack(self.state, arrays, head["plain"], device=self.device) if ours else None
        except MemoryError:
            raise
        except Exception as error:  # a flipped byte may cause many kinds of errors
            why = f"{type(error).__name__}: {error}"
            raise ValueError(
                f"{name} is damaged ({why}). Give an undamaged file or a new name"
            ) from error
        if not ours:
            raise ValueError(
                f"{name} belongs to another run. Give the file of this run or a new name"
            )
        self.keep(state, t, clock, sums)
        records.series, records.final, records.seconds, records.sums = series, final, seconds, sums
        records.follow(t)


class _Run:
    """The loop over rounds, from the first round or a checkpoint to the last."""

    def __init__(
        self,
        learner: Learner,
        problem: Problem,
        horizon: int,
        trials: Sequence[int],
        streams: Streams,
        device: str,
        records: _Recorder,
        kept: _Checkpoint,
    ):
        self.learner, self.problem, self.horizon, self.trials = learner, problem, horizon, trials
        self.streams, self.device, self.records, self.kept = streams, device, records, kept
        self.unheard: list[Tensor] = []  # on a GPU: feedback of the rounds since the last check
        R, first, tkwargs = len(trials), streams.at(-1), {"dtype": torch.float64, "device": device}
        self.instance = problem.init(R, horizon, first, **tkwargs)
        context = problem.context(self.instance, 0)
        contracts.check_context(context, R)
        contracts.call_optional(learner, "validate", context, None, None)
        # A learner that identifies arms by index requires the same arms in all rounds.
        self.arms = context if contracts.tags_of(learner).fixed_arms else None
        # This snapshot is needed before `resume`, which takes the classes of the state from it.
        kept.keep(learner.init(R, context, horizon, first, **tkwargs), 0, 0.0, records.sums)
        kept.resume(records)

    def loop(self, every: float, progress: Callable[[int, int, float], None] | None) -> None:
        learner, problem, instance, records, streams = (
            self.learner,
            self.problem,
            self.instance,
            self.records,
            self.streams,
        )
        wants, horizon, on_host = learner.wants, self.horizon, self.device == "cpu"
        now = self.now if self.device.startswith("cuda") else time.perf_counter
        state, clock, due = self.kept.state, self.kept.clock, now() + every
        pulse = min(every, PROGRESS_SECONDS) if progress is not None else math.inf
        tell = now() + pulse
        begin, arms = self.kept.t, self.arms
        for t in range(begin, horizon):
            draw = streams.at(t)
            context = problem.context(instance, t)
            if arms is not None and context is not arms:
                self.refuse_other(context, t)
            # Only `select` and `update` are timed; the problem, the probes and the checks are not.
            a = now()
            choice = learner.select(state, context, draw)
            b = now()
            if t == begin:
                contracts.check_selection(learner, choice, context, len(self.trials))
            action, chosen = choice
            answer = problem.respond(instance, t, action, wants, draw)
            if t == begin:
                contracts.check_response(problem, answer, action, wants)
            feedback, gap = answer
            # On a GPU, each check waits for the device. Therefore `look` checks the feedback of many rounds at once.
            if not on_host:
                self.unheard.append(feedback)
            elif not math.isfinite(feedback.sum().item()):
                self.kept.keep(state, t, clock, records.sums)
                self.refuse([feedback], t + 1)
            c = now()
            after = learner.update(chosen, context, action, feedback, draw)
            d = now()
            clock += (b - a) + (d - c)
            if t == begin:
                contracts.check_state(learner, after, chosen)
            records.sums["regret"] = records.sums["regret"] + gap
            if t + 1 == records.next or records.running:
                records.add(Round(t, instance, chosen, context, action, feedback, after), clock)
            state = after
            if d > due or (t + 1) % CHECK_EVERY == 0 or t + 1 == horizon:
                self.look(state, t + 1, clock)
                if d > due:
                    self.kept.save(records)
                    # The next period starts after the save. Otherwise, if a save took more than ``every``
                    # seconds, every round would end with a save.
                    due = now() + every
            if d > tell:
                progress(t + 1, horizon, clock)
                tell = now() + pulse

    def now(self) -> float:
        """Wait until the device has finished, and return the time in seconds."""
        synchronize(self.device)
        return time.perf_counter()

    def refuse_other(self, arms: Tensor, t: int) -> None:
        """Raise ValueError if the arms of round ``t`` differ from those of the first round.

        It is called only if the learner identifies arms by index.
        """
        if self.device != "meta" and not torch.equal(arms, self.arms):
            learner, problem = (type(x).__name__ for x in (self.learner, self.problem))
            raise ValueError(
                f"problem must have the same arms in all rounds, because {learner} counts pulls by index, got {problem} "
                f"with other arms in round {t + 1} than in the first"
            )

    def look(self, state: Any, t: int, clock: float) -> None:
        """Check the feedback and the learner's report, then take a snapshot after ``t`` rounds.

        The checks come first, so that a run never resumes from an invalid state.
        """
        if self.unheard:
            self.refuse(self.unheard, t)
            self.unheard = []
        failed = contracts.call_optional(self.learner, "report", state, default={}).get("failed")
        if failed is not None and self.device != "meta" and bool(failed.any()):
            self.kept.save(self.records)
            trial = self.trials[int(failed.nonzero()[0, 0])]
            raise ValueError(
                f"{type(self.learner).__name__} reports failure by round {t} in trial {trial}: {state!r}"
            )
        self.kept.keep(state, t, clock, self.records.sums)

    def refuse(self, feedback: list[Tensor], t: int) -> None:
        """Raise ValueError if the feedback of a round up to ``t`` (counted from 1) is not finite, after saving the last snapshot."""
        bad = torch.stack([~f.isfinite().reshape(len(f), -1).all(-1) for f in feedback])
        if self.device == "meta" or not bool(bad.any()):
            return
        k, row = (int(x) for x in bad.nonzero()[0])
        self.kept.save(self.records)
        raise ValueError(
            f"feedback must be finite, got {feedback[k][row].tolist()} in round {t + 1 - len(feedback) + k}, "
            f"trial {self.trials[row]}"
        )
