"""The only loop over rounds.

A run is a pure function of (learner, problem, horizon, trials, seed, device kind): it may be stopped,
resumed from its checkpoint, or repeated, and ends in the same trace.
Shapes: R trials lead; T' recorded rounds.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Sequence, Sized

import numpy as np
import torch
from torch import Tensor

from .core.contracts import Learner, Problem
from .core.trace import Trace
from .core.describe import describe
from .core.trees import pack, unpack
from .core.files import write_atomically
from .core.linalg import pick_device, synchronize
from .core.streams import Streams
from .core.validation import whole
from .core.rounds import Probe, REDUCE, Round

LOOK = 64  # rounds between looks at the clock, at `failed`, and, on a device, at the feedback


def recorded(horizon: int, record: int | str | Sequence[int]) -> np.ndarray:
    """The rounds to record, counted from 1: "all", that many evenly spaced, or as listed; the last is always in.

    Raises:
        ValueError: a round outside 1..horizon, or fewer than one.
    """
    if isinstance(record, str):
        if record != "all":
            raise ValueError(f"record={record!r}; allowed: 'all', a number of rounds, or a list of rounds")
        return np.arange(1, horizon + 1)
    if isinstance(record, (int, np.integer)):
        if record < 1:
            raise ValueError(f"record={record}; allowed: at least 1 recorded round")
        return np.unique(np.ceil(np.arange(1, record + 1) * (horizon / record)).astype(int).clip(1, horizon))
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
) -> Trace:
    """Play ``horizon`` rounds of ``trials`` independent trials at once.

    Args:
        learner: see ``core.Learner``.
        problem: see ``core.Problem``.
        horizon: rounds T >= 1.
        trials: how many (0, 1, ...), or which.
        seed: trial i draws what trial 0 of ``seed + i`` draws.
        device: auto, cpu, cuda.
        record: see ``recorded``.
        probes: name -> ``Probe`` or a function of a ``Round`` (reduce "last").
        checkpoint: file to resume from and to save to every ``every`` seconds and before an error is raised.
        progress: called as ``progress(round, horizon, seconds)`` every ``every`` seconds.

    Returns:
        Trace with "regret" (cumulative, R x T'), the probes and the learner's report, named "report.*".

    Raises:
        ValueError: bad arguments; feedback that is not finite, or a learner's ``failed`` report: names round
            and trial. With ``checkpoint`` the state before that round is kept.
    """
    whole("horizon", horizon)
    if not isinstance(trials, Sized):
        whole("trials", trials)
        trials = range(trials)
    if len(trials) < 1:
        raise ValueError(f"trials={trials!r}; allowed: at least one trial")
    horizon = int(horizon)  # numpy's integers are not JSON
    probes = {name: p if isinstance(p, Probe) else Probe(p) for name, p in (probes or {}).items()}
    if "regret" in probes:
        raise ValueError("probes: the name 'regret' is taken; allowed: any other")
    run = _Run(learner, problem, horizon, trials, seed, pick_device(device), recorded(horizon, record), probes, checkpoint)
    with torch.no_grad():
        run.start()
        run.loop(every, progress)
        return run.trace()


class _Run:
    """One call of ``play``: what it records and how it is saved."""

    def __init__(self, learner, problem, horizon, trials, seed, device, rounds, probes, checkpoint):
        self.learner, self.problem, self.horizon, self.trials = learner, problem, horizon, trials
        self.device, self.rounds, self.probes, self.checkpoint = device, rounds, probes, checkpoint
        self.streams = Streams(seed, trials, device)
        self.about = {
            "learner": describe(learner), "problem": describe(problem), "horizon": horizon, "seed": int(seed),
            "trials": list(trials), "probes": describe(probes), "device": device.split(":")[0],
            "torch": torch.__version__.split("+")[0], "numpy": np.__version__,
        }
        key = {**self.about, "rounds": rounds.tolist()}
        self.digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()

    def start(self) -> None:
        tkwargs, first = {"dtype": torch.float64, "device": self.device}, self.streams.at(-1)
        R = len(self.trials)
        self.world = self.problem.init(R, self.horizon, first, **tkwargs)
        context = self.problem.context(self.world, 0)
        if hasattr(self.learner, "validate"):
            self.learner.validate(context, None, None)
        self.state = self.learner.init(R, context, self.horizon, first, **tkwargs)
        self.sums = {"regret": torch.zeros(R, **tkwargs)}  # running reductions so far
        self.records: dict[str, Tensor] = {}               # name -> R x T' (x k), filled from the left
        self.final: dict[str, Tensor] = {}
        self.seconds = np.zeros(len(self.rounds))
        self.keep(self.state, 0, 0.0, self.sums["regret"])
        if self.checkpoint is not None and os.path.exists(self.checkpoint):
            self.resume()

    def loop(self, every: float, progress) -> None:
        learner, problem, world, streams, wants = self.learner, self.problem, self.world, self.streams, self.learner.wants
        on_host, on_cuda, now = self.device == "cpu", self.device.startswith("cuda"), time.perf_counter
        running = [(k, p.of, REDUCE[p.reduce]) for k, p in self.probes.items() if p.reduce in REDUCE]
        last = [(k, p.of) for k, p in self.probes.items() if p.reduce == "last"]
        final = [(k, p.of) for k, p in self.probes.items() if p.reduce == "final"]
        i = int(np.searchsorted(self.rounds, self.t, side="right"))
        next_record, saved = int(self.rounds[i]) if i < len(self.rounds) else -1, time.monotonic()
        state, regret, clock = self.state, self.sums["regret"], self.clock
        unseen: list[Tensor] = []  # feedback on a device, looked at once a block

        for t in range(self.t, self.horizon):
            draw = streams.at(t)
            context = problem.context(world, t)
            if on_cuda:
                synchronize(self.device)
            a = now()
            action, chosen = learner.select(state, context, draw)
            if on_cuda:
                synchronize(self.device)
            b = now()
            feedback, gap = problem.respond(world, t, action, wants, draw)
            if on_host:
                if not math.isfinite(feedback.sum().item()):
                    self.keep(state, t, clock, regret)
                    self.refuse([feedback], t)
            else:
                unseen.append(feedback)
            if on_cuda:
                synchronize(self.device)
            c = now()
            after = learner.update(chosen, context, action, feedback, draw)
            if on_cuda:
                synchronize(self.device)
            clock += (b - a) + (now() - c)
            regret = regret + gap

            ends = t + 1 == self.horizon
            if running or (last and t + 1 == next_record) or (final and ends):
                seen = Round(t, world, chosen, context, action, feedback, after)
                for name, of, reduce in running:
                    value = of(seen).to(torch.float64)  # booleans are counted
                    self.sums[name] = reduce(self.sums[name], value) if name in self.sums else value
                if t + 1 == next_record:
                    for name, of in last:
                        self.put(name, i, of(seen))
                if ends:
                    self.final |= {name: of(seen) for name, of in final}
            if t + 1 == next_record:
                self.put("regret", i, regret)
                for name, _, _ in running:
                    self.put(name, i, self.sums[name])
                self.seconds[i] = clock
                i += 1
                next_record = int(self.rounds[i]) if i < len(self.rounds) else -1
            state = after

            if ends or (t + 1) % LOOK == 0:
                if unseen:
                    self.refuse(unseen, t)
                    unseen = []
                self.heed_report(state, t + 1)  # before keeping: a failed state is not what a checkpoint resumes from
                self.keep(state, t + 1, clock, regret)
                if time.monotonic() - saved > every:
                    saved = time.monotonic()
                    if self.checkpoint is not None:
                        self.save()
                    if progress is not None:
                        progress(t + 1, self.horizon, clock)

    def keep(self, state, t: int, clock: float, regret: Tensor) -> None:
        """Remember a moment that belongs together: what a checkpoint holds."""
        self.state, self.t, self.clock, self.kept = state, t, clock, {**self.sums, "regret": regret}

    def put(self, name: str, i: int, value: Tensor) -> None:
        if name not in self.records:
            self.records[name] = value.new_full((value.shape[0], len(self.rounds), *value.shape[1:]), math.nan, dtype=torch.float64)
        self.records[name][:, i] = value

    def refuse(self, feedback: list[Tensor], t: int) -> None:
        """Raise if feedback of the rounds up to t is not finite; the moment last kept goes to the checkpoint."""
        bad = torch.stack([~f.isfinite().reshape(len(f), -1).all(-1) for f in feedback])
        if self.device == "meta" or not bool(bad.any()):
            return
        k, row = (int(x) for x in bad.nonzero()[0])
        if self.checkpoint is not None:
            self.save()
        raise ValueError(
            f"feedback={feedback[k][row].tolist()} in round {t + 2 - len(feedback) + k}, trial {self.trials[row]}; allowed: finite numbers"
        )

    def heed_report(self, state, t: int) -> None:
        failed = self.report(state).get("failed")
        if failed is not None and self.device != "meta" and bool(failed.any()):
            if self.checkpoint is not None:
                self.save()
            row = int(failed.nonzero()[0, 0])
            raise ValueError(f"{type(self.learner).__name__} reports failure by round {t}, trial {self.trials[row]}: {state!r}")

    def report(self, state) -> dict[str, Tensor]:
        return self.learner.report(state) if hasattr(self.learner, "report") else {}

    def save(self) -> None:
        arrays, plain = pack(self.state)
        arrays |= {f"sums.{k}": v.cpu().numpy() for k, v in self.kept.items()}
        arrays |= {f"records.{k}": v.cpu().numpy() for k, v in self.records.items()}
        arrays |= {f"final.{k}": v.cpu().numpy() for k, v in self.final.items()}
        head = np.array(json.dumps({"digest": self.digest, "t": self.t, "clock": self.clock, "plain": plain}))
        write_atomically(self.checkpoint, lambda file: np.savez(file, head=head, seconds=self.seconds, **arrays))

    def resume(self) -> None:
        with np.load(self.checkpoint, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            if head["digest"] != self.digest:
                raise ValueError(f"checkpoint={str(self.checkpoint)!r} belongs to another run; allowed: the file of this run, or a new name")
            part = lambda prefix: {k.removeprefix(prefix): torch.from_numpy(file[k]).to(self.device) for k in file.files if k.startswith(prefix)}
            self.state = unpack(self.state, file, head["plain"], device=self.device)
            self.sums, self.records, self.final = part("sums."), part("records."), part("final.")
            self.seconds = file["seconds"]
        self.keep(self.state, head["t"], head["clock"], self.sums["regret"])

    def trace(self) -> Trace:
        final = self.final | {f"report.{name}": value for name, value in self.report(self.state).items() if name != "failed"}
        host = lambda tree: {name: value.cpu().numpy() for name, value in tree.items()}
        return Trace(self.rounds, host(self.records), host(final), self.seconds, list(self.trials), self.about)
