"""Measurements of a learner: run time per round in ``select`` and ``update``, size of the state, peak memory.

The learners come from the papers' ``CASES``. A case is measured if it has a registered line style and is not
``UNMEASURED``. The other cases are variants for the contract tests.
Shapes: R trials, K arms, d dimensions.
"""

import dataclasses
import multiprocessing
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from paperlib.core.contracts import ContractCase
from paperlib.core.linalg import synchronize
from paperlib.core.streams import Draw, Streams
from paperlib.core.trees import state_bytes, tree_map

from ..papers import paper_module, papers
from ..store.timing import peak_bytes
from ..styles import REFERENCES


class Point(NamedTuple):
    """Sizes of one measurement of a learner."""

    trials: int  # R, in one batch
    played: int  # t, rounds played before the timed ones
    arms: int | None  # K; None if the problem has no such field
    dim: int | None  # d; None if the problem has no such field


class Plan(NamedTuple):
    """Points of a bench: one field of ``base`` at a time takes the values that ``along`` lists for it."""

    base: Point
    along: dict[str, tuple[int, ...]]
    block: int  # rounds that are timed together
    seconds: float  # a block is repeated for this time, and at least five times


FULL = Plan(
    Point(100, 200, 20, 5),
    {
        "trials": (1, 10, 100, 1000),
        "played": (100, 200, 1000, 3000),
        "arms": (5, 20, 80),
        "dim": (2, 5, 10, 20),
    },
    20,
    0.5,
)
# On a device a round takes about the same time for 1 and for 1,000 trials, and hardly depends on the rounds before it. Therefore
# its axes cross at 1,000 trials, and fewer rounds are played.
DEVICE = Plan(
    Point(1000, 100, 20, 5),
    {
        "trials": (1, 10, 100, 1000, 10000),
        "played": (50, 100, 300),
        "arms": (5, 20, 80),
        "dim": (2, 5, 10, 20),
    },
    10,
    0.1,
)
QUICK = Plan(
    Point(10, 40, 20, 5),
    {"trials": (1, 10), "played": (20, 40), "arms": (5, 20), "dim": (2, 5)},
    5,
    0.01,
)


PATIENCE = 60.0  # seconds to play until a point; a point that takes longer is left out


class Subject(NamedTuple):
    """Learner to measure, with a problem for it."""

    paper: str
    name: str
    case: ContractCase

    @property
    def on_host(self) -> bool:
        """Whether the learner works on the host, where a batch may cost R times as much as one trial.

        Its other axes are then measured at one trial.
        """
        return self.case.syncs == "host"


def subjects(only: str | None = None) -> list[Subject]:
    """Return the learners of every paper, of one paper, or one learner by name.

    Raises:
        ValueError: ``only`` names neither a paper nor a learner.
    """
    packages = {paper: paper_module(paper, "cases") for paper in papers()}
    known = {*REFERENCES}.union(
        *(getattr(paper_module(paper, "styles"), "STYLES", {}) for paper in packages)
    )
    found = [
        Subject(paper, name, case)
        for paper, package in packages.items()
        for name, case in package.CASES.items()
        if name in known and name not in getattr(package, "UNMEASURED", {})
    ]
    wanted = [subject for subject in found if only in (None, subject.paper, subject.name)]
    if not wanted:
        names = dict.fromkeys([s.paper for s in found] + [s.name for s in found])
        why = {*getattr(packages.get(only), "UNMEASURED", {}).values()}
        left_out = f" ({only} is not measured: {', '.join(sorted(why))})" if why else ""
        raise ValueError(
            f"only must be one of {', '.join(map(repr, names))}, got {only!r}{left_out}"
        )
    return wanted


def base(subject: Subject, plan: Plan) -> Point:
    """Return the point where the subject's axes cross."""
    own = plan.base._replace(**dict.fromkeys(lacking(subject)))
    return own._replace(trials=1) if subject.on_host else own


def points(subject: Subject, plan: Plan) -> list[Point]:
    """Return every point once, without the axes that the problem lacks.

    On a device there are no points for a learner that works on the host.
    """
    # Such a learner would copy its data between host and device in every round.
    if plan == DEVICE and subject.on_host:
        return []
    center, missing = base(subject, plan), lacking(subject)
    varied = {axis: values for axis, values in plan.along.items() if axis not in missing}
    found = [center._replace(**{axis: x}) for axis, values in varied.items() for x in values]
    return list(dict.fromkeys(found))


def lacking(subject: Subject) -> dict[str, str]:
    """Return axis -> the reason why the subject cannot be measured along it."""
    fields = {field.name for field in dataclasses.fields(subject.case.problem)}
    kind = type(subject.case.problem).__name__
    return {name: f"{kind} has no field {name!r}" for name in ("arms", "dim") if name not in fields}


Received = tuple[Draw, Any, Tensor]  # input of a learner in one round: draw, context, feedback


class Run:
    """Simulation of a learner on its problem at a point, advanced one round at a time.

    Args:
        case: learner and problem.
        point: the sizes.
        device: cpu or cuda.
        horizon: number of rounds that will be played.
    """

    def __init__(self, case: ContractCase, point: Point, device: str, horizon: int):
        sizes = {"arms": point.arms, "dim": point.dim}
        sizes = {name: size for name, size in sizes.items() if size is not None}
        self.learner, self.problem = case.learner, dataclasses.replace(case.problem, **sizes)
        self.t = 0
        self.new_streams = lambda: Streams(0, range(point.trials), device)
        self.streams = self.new_streams()
        tkwargs, draw = {"dtype": torch.float64, "device": device}, self.streams.at(-1)
        with torch.no_grad():
            self.instance = self.problem.init(point.trials, horizon, draw, **tkwargs)
            context = self.problem.context(self.instance, 0)
            self.state = self.learner.init(point.trials, context, horizon, draw, **tkwargs)

    def step(self) -> Received:
        """Play one round; return the draw, the context and the feedback that the learner received."""
        draw, context = self.streams.at(self.t), self.problem.context(self.instance, self.t)
        with torch.no_grad():
            action, chosen = self.learner.select(self.state, context, draw)
            feedback, _ = self.problem.respond(
                self.instance, self.t, action, self.learner.wants, draw
            )
            self.state = self.learner.update(chosen, context, action, feedback, draw)
        self.t += 1
        return draw, context, feedback

    def record(self, count: int) -> list[Received]:
        """Play ``count`` rounds; return the draw, the context and the feedback that the learner received in each of them.

        Their random numbers are drawn here, so that a replay draws none. If a round needs so many numbers that they exceed a
        block of ``Streams``, the replay draws them again, as in normal use.
        """
        self.streams = self.new_streams()
        return [self.step() for _ in range(count)]


def replay(learner: Any, state: Any, received: list[Received], device: str) -> Any:
    """Repeat only the learner's work in rounds that were played before, and return the state after them."""
    with torch.no_grad():
        for draw, context, feedback in received:
            action, chosen = learner.select(state, context, draw)
            state = learner.update(chosen, context, action, feedback, draw)
    synchronize(device)
    return state


class Timing(NamedTuple):
    """Measurement at one point."""

    seconds: list[float]  # of each repetition of the block
    state_bytes: float  # size of the state before the block, per trial


def time_block(case: ContractCase, point: Point, plan: Plan, device: str) -> Timing | None:
    """Time the block of rounds that follows ``point``.

    Returns:
        None if the problem does not allow such a point, or if reaching it takes longer than ``PATIENCE``.
    """
    try:
        run = Run(case, point, device, point.played + plan.block)
    except ValueError:  # the problem rejects this number of trials or rounds
        return None
    began = time.perf_counter()
    for _ in range(point.played):
        run.step()
        if time.perf_counter() - began > PATIENCE:
            return None
    start, began, seconds = run.state, time.perf_counter(), []
    received = run.record(plan.block)
    # Enough repetitions to fill the plan's seconds, but at least 5 for quartiles and at most 50.
    repetitions = int(min(50, max(5, plan.seconds / (time.perf_counter() - began))))
    for _ in range(1 + repetitions):  # the first repetition compiles and caches, and is dropped
        # Each repetition starts from a copy of the same state, so that its history does not grow
        # between repetitions.
        fresh = tree_map(Tensor.clone, start)
        synchronize(device)  # otherwise a GPU would still copy while the clock runs
        before = time.perf_counter()
        replay(run.learner, fresh, received, device)
        seconds.append(time.perf_counter() - before)
    return Timing(seconds[1:], state_bytes(start) / point.trials)


def device_name(device: str) -> str:
    """Return the name of the GPU, or of the processor if the system reports it."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _play(case: ContractCase, point: Point, device: str) -> None:
    run = Run(case, point, device, point.played)
    for _ in range(point.played):
        run.step()


def measure_memory(case: ContractCase, point: Point, device: str) -> dict[str, int | None]:
    """Return by how many bytes a run of ``point.played`` rounds raises this process's peak memory, as "process".

    "device" is the peak memory of tensors on a GPU, None on the CPU.
    """
    torch.set_num_threads(1)
    # A short run first, which loads everything that is loaded at first use.
    _play(case, point._replace(trials=1, played=5), device)
    before = peak_bytes()
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
    _play(case, point, device)
    return {
        "process": peak_bytes() - before,
        "device": torch.cuda.max_memory_allocated(device) if device.startswith("cuda") else None,
    }


def _in_child(paper: str, name: str, point: Point, device: str) -> dict[str, int | None]:
    return measure_memory(paper_module(paper, "cases").CASES[name], point, device)


def memory(subject: Subject, plan: Plan, device: str, most: int) -> dict[str, Any]:
    """Return the peak memory with ``most`` trials, measured in a process that has only loaded the package.

    Returns:
        trials, process and device: see ``measure_memory``.
    """
    point = base(subject, plan)._replace(trials=most)
    # The child is forked from a server that has loaded the package once, because its peak starts at
    # the server's memory.
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["companion.bench.measure"])
    with ProcessPoolExecutor(1, mp_context=server) as child:
        found = child.submit(_in_child, subject.paper, subject.name, point, device).result()
    return {"trials": most, **found}
