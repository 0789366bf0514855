"""The only loop over rounds.

A run is a pure function of (learner, problem, horizon, trials, seed, device kind): it may be stopped,
resumed from its checkpoint, or repeated, and ends in the same trace.
Three things, one class each: what is recorded, what is kept for resuming, and the rounds themselves.
Shapes: R trials lead; T' recorded rounds.
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

PROGRESS_SECONDS = 0.5  # seconds between two reports of progress, at least
CHECK_EVERY = 64  # rounds, at most, between looks at `failed` and, on a device, at the feedback; `every` seconds may come first


def recorded_rounds(horizon: int, record: int | str | Sequence[int]) -> np.ndarray:
    """The rounds to record, counted from 1: "all", that many evenly spaced, or as listed; the last is always in.

    Raises:
        ValueError: a round outside 1..horizon, or fewer than one.
    """
    if isinstance(record, str):
        if record != "all":
            raise ValueError(
                f"record={record!r}; allowed: 'all', a number of rounds, or a list of rounds"
            )
        return np.arange(1, horizon + 1)
    if isinstance(record, (int, np.integer)):
        if record < 1:
            raise ValueError(f"record={record}; allowed: at least 1 recorded round")
        return np.unique(
            np.ceil(np.arange(1, record + 1) * (horizon / record)).astype(int).clip(1, horizon)
        )
    rounds = np.unique(np.append(np.asarray(record, int), horizon))
    if rounds[0] < 1 or rounds[-1] > horizon:
        raise ValueError(f"record={record!r}; allowed: rounds in 1..{horizon}")
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
    """Play ``horizon`` rounds of ``trials`` independent trials at once.

    A field of the learner or the problem that is a tensor with at least one dimension holds settings by trial, see
    ``core.trees``: row i is trial i's, whichever trials are played together. A number of trials is the whole run
    and must be the number of rows; listed trials are a part of one, and each of them needs its row.

    Args:
        learner: see ``core.contracts.Learner``; what it and the problem return is looked at in the first round.
        problem: see ``core.contracts.Problem``.
        horizon: rounds T >= 1.
        trials: how many (0, 1, ...), or which, none below 0.
        seed: trial i draws what trial 0 of ``seed + i`` draws.
        device: cpu, cuda, or auto: CUDA where these trials of this problem are expected to be faster there, see
            ``core.linalg.pick_device``.
        record: see ``recorded_rounds``.
        probes: name -> ``Probe`` or a function of a ``Round`` (reduce "last"). They see states as they are; a learner
            that a probe holds by itself keeps the rows of all trials.
        checkpoint: file to resume from and to save to every ``every`` seconds and before an error is raised.
        every: seconds from one save to the next, looked at after every round.
        progress: called as ``progress(round, horizon, seconds)`` every half second, or every ``every`` seconds if that is less.
        about: {"learner": ..., "problem": ...} as ``describe`` writes them, where they are at hand; None describes them.

    Returns:
        Trace with "regret" (cumulative, R x T'), the probes and the learner's report, named "report.*".

    Raises:
        ValueError: bad arguments; settings by trial of another length; arms that change for a learner that counts by
            index; a checkpoint that is damaged or another run's; feedback that is not finite, or a learner's
            ``failed`` report: names round and trial. With ``checkpoint`` the state before that round is kept.
        OSError: the folder of ``checkpoint`` cannot be written. Where a later save fails, the run goes on with one warning.
    """
    contracts.check_learner(learner)
    contracts.check_kind("problem", problem)
    horizon = check_integer("horizon", horizon)
    seed = check_integer("seed", seed, least=0)
    trials, total = normalize_trials(trials)
    if not isinstance(every, Real) or isinstance(every, bool) or not every >= 0:
        raise ValueError(f"every={every!r}; allowed: seconds, at least 0")
    if not isinstance(probes, (dict, type(None))):
        raise ValueError(f"probes={probes!r}; allowed: a dictionary, name -> Probe or function")
    probes = {name: p if isinstance(p, Probe) else Probe(p) for name, p in (probes or {}).items()}
    if "regret" in probes:
        raise ValueError("probes: the name 'regret' is taken; allowed: any other")
    if about is None:
        about = {"learner": describe(learner), "problem": describe(problem)}
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
    """What is recorded.

    Attributes:
        running: running reductions, (name, function, reduction), which see every round.
        next: the round to be recorded next, counted from 1; the last is always recorded.
        sums: name -> R (x k), everything that accumulates: running reductions so far, and the cumulative "regret", to which the loop
            adds. Every other number comes with ``add``.
        series: name -> R x T' (x k), filled from the left.
        final: name -> R (x k), from the last round.
        seconds: T'.
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
        """Go on after ``t`` rounds."""
        self.place = int(np.searchsorted(self.rounds, t, side="right"))
        self.next = int(self.rounds[self.place]) if self.place < len(self.rounds) else -1

    def add(self, seen: Round, clock: float) -> None:
        """Reduce what runs along; in a round to be recorded write a column; after the last round the final values.

        Raises:
            ValueError: a probe's first value has neither a row a trial nor one for all.
        """
        for name, of, reduce in self.running:
            value, so_far = of(seen), self.sums.get(name)
            if so_far is None:
                value = self._rows(name, value)
            value = value.to(torch.float64)  # booleans are counted
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
        """A probe's value with a row a trial; where the trials share one, it is each one's."""
        if not isinstance(value, Tensor) or value.dim() < 1 or len(value) not in (1, self.trials):
            allowed = f"a tensor with {self.trials} rows, one a trial, or 1"
            raise ValueError(f"probes[{name!r}] returns {short_repr(value)}; allowed: {allowed}")
        return value.expand(self.trials, *value.shape[1:])

    def _put(self, name: str, value: Tensor) -> None:
        if name not in self.series:
            value = self._rows(name, value)
            shape = (value.shape[0], len(self.rounds), *value.shape[1:])
            self.series[name] = value.new_full(shape, math.nan, dtype=torch.float64)
        self.series[name][:, self.place] = value


class _Checkpoint:
    """What is kept for resuming: the last sound moment, all of which belongs together, and its file, if there is one.

    Attributes:
        state: the learner's, before round ``t``.
        t: rounds played.
        clock: seconds of ``select`` and ``update`` so far.
        sums: what had accumulated. Series may be further on: what they hold of later rounds is written again.
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
        """Remember this moment."""
        # the loop replaces entries of ``sums``, so that a copy stays as it is
        self.state, self.t, self.clock, self.sums = state, t, clock, dict(sums)

    def save(self, records: _Recorder) -> None:
        """Write the moment and what was recorded, whole or not at all; nothing to do without a file.

        A full disk is no reason to lose the run: it goes on, with one warning.
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
                text = "checkpoint %s is not kept: %s; later failures are not reported"
                log.warning(text, self.file, error.strerror)
            self.warned = True

    def resume(self, records: _Recorder) -> None:
        """Go to the moment in the file, if there is one.

        Raises:
            ValueError: the file of another run, or a damaged one.
        """
        if self.file is None or not os.path.exists(self.file):
            return
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
        except Exception as error:  # a flipped byte makes them raise all sorts
            why, allowed = f"{type(error).__name__}: {error}", "a whole file, or a new name"
            raise ValueError(f"{name} is damaged ({why}); allowed: {allowed}") from error
        if not ours:
            allowed = "the file of this run, or a new name"
            raise ValueError(f"{name} belongs to another run; allowed: {allowed}")
        self.keep(state, t, clock, sums)
        records.series, records.final, records.seconds, records.sums = series, final, seconds, sums
        records.follow(t)


class _Run:
    """The rounds themselves, from where they begin or go on to the last."""

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
        self.unheard: list[Tensor] = []  # feedback on a device, looked at together
        R, first, tkwargs = len(trials), streams.at(-1), {"dtype": torch.float64, "device": device}
        self.instance = problem.init(R, horizon, first, **tkwargs)
        context = problem.context(self.instance, 0)
        contracts.check_context(context, R)
        contracts.call_optional(learner, "validate", context, None, None)
        # of a learner that counts by index
        self.arms = context if contracts.tags_of(learner).fixed_arms else None
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
            if not on_host:  # looking is slow there: it is done later
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
                    # from here, lest a save of more than ``every`` seconds follow every round
                    due = now() + every
            if d > tell:
                progress(t + 1, horizon, clock)
                tell = now() + pulse

    def now(self) -> float:
        """Seconds on a device that has done its work."""
        synchronize(self.device)
        return time.perf_counter()

    def refuse_other(self, arms: Tensor, t: int) -> None:
        """Raise if the arms of round ``t`` are others than the first, which the learner has counted by index."""
        if self.device != "meta" and not torch.equal(arms, self.arms):
            learner, problem = (type(x).__name__ for x in (self.learner, self.problem))
            raise ValueError(
                f"problem={problem} has other arms in round {t + 1} than in the first; allowed for "
                f"{learner}, which counts by index: the same arms in all rounds"
            )

    def look(self, state: Any, t: int, clock: float) -> None:
        """Keep the moment after ``t`` rounds, unless it is unsound: that is not what a checkpoint resumes from."""
        if self.unheard:
            self.refuse(self.unheard, t)
            self.unheard = []
        failed = contracts.call_optional(self.learner, "report", state, default={}).get("failed")
        if failed is not None and self.device != "meta" and bool(failed.any()):
            self.kept.save(self.records)
            trial = self.trials[int(failed.nonzero()[0, 0])]
            raise ValueError(
                f"{type(self.learner).__name__} reports failure by round {t}, trial {trial}: {state!r}"
            )
        self.kept.keep(state, t, clock, self.records.sums)

    def refuse(self, feedback: list[Tensor], t: int) -> None:
        """Raise if feedback of the rounds up to ``t``, counted from 1, is not finite; the moment last kept is saved."""
        bad = torch.stack([~f.isfinite().reshape(len(f), -1).all(-1) for f in feedback])
        if self.device == "meta" or not bool(bad.any()):
            return
        k, row = (int(x) for x in bad.nonzero()[0])
        self.kept.save(self.records)
        raise ValueError(
            f"feedback={feedback[k][row].tolist()} in round {t + 1 - len(feedback) + k}, trial {self.trials[row]}; "
            "allowed: finite numbers"
        )
