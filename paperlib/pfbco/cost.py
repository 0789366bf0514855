"""What a round costs: seconds of PF, FKM and StochOCG, by oracles made for a set and by generic solvers.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
Shapes: N repetitions, R trials, T rounds, n dimensions.
"""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from .. import stats, store, timing
from ..core import Learner, Problem
from ..sets import SubSimplex, scaled
from ..sets_matrix import NuclearBall, smat, svec
from ..sets_polytope import Polytope, Program
from ..streams import Draw, Streams
from ..validation import whole
from .experiments import RESAMPLES, learners
from .probes import own
from .task import Task

if TYPE_CHECKING:
    from ..play import Round

METHODS = ("PF", "FKM", "StochOCG")
ACCURACY = 1e-4  # of SCS, absolute and relative; Clarabel's is its own, about 1e-8
Runs = dict[tuple[str, str], tuple[Learner, Problem]]  # (learner, setting) -> what is played

# A set asked by solvers -----------------------------------------------------------------------------------


def has_solvers() -> bool:
    """Whether cvxpy and HiGHS are installed: both are optional."""
    return all(find_spec(name) is not None for name in ("cvxpy", "highspy"))


class SolverSet(NamedTuple):
    """A set as a user without formulas asks it: HiGHS for a linear function, cvxpy for the closest point, trial by trial.

    Each program is set up once and solved again with new numbers. On matrices the oracle stays the eigenvector, for a linear
    function over them is no linear program.
    """

    inner: Polytope | SubSimplex | NuclearBall
    dim: int
    R: Tensor
    D: Tensor
    r: float = 1.0
    exact: bool = True

    @classmethod
    def of(cls, cset: Polytope | SubSimplex | NuclearBall) -> "SolverSet":
        """The same set.

        Raises:
            ValueError: a set of another kind.
        """
        if not isinstance(cset, (Polytope, SubSimplex, NuclearBall)):
            raise ValueError(f"cset={type(cset).__name__}; allowed: Polytope, SubSimplex or NuclearBall")
        return cls(cset, cset.dim, cset.R, cset.D, cset.r, cset.exact)

    def lmo(self, c: Tensor) -> Tensor:
        """A minimizer of <c, .> by a linear program, a vertex. ``c``: R x n."""
        if isinstance(self.inner, NuclearBall):
            return self.inner.lmo(c)
        found = [Program.of(*self._rows(i), self.dim).solve(row) for i, row in enumerate(c.cpu().numpy())]
        return torch.from_numpy(np.stack(found)).to(c)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Closest point by a convex program: Clarabel, and SCS for matrices. ``z``: R x n."""
        return scaled(self._closest, z, scale)

    def _closest(self, z: Tensor) -> Tensor:
        if isinstance(self.inner, NuclearBall):
            p = self.inner.p
            solve = _onto_matrices(p, self.inner.k / self.inner.rho)
            return svec(torch.from_numpy(np.stack([solve(Z) for Z in smat(z, p).cpu().numpy()])).to(z))
        found = [_onto_polytope(*self._rows(i), self.dim)(row) for i, row in enumerate(z.cpu().numpy())]
        return torch.from_numpy(np.stack(found)).to(z)

    def _rows(self, i: int) -> tuple[bytes, bytes]:
        """C and e of a trial's {y: C y <= e}."""
        if isinstance(self.inner, SubSimplex):
            return _sub_simplex_rows(self.dim)
        shared = len(self.inner.normals) == 1
        return tuple(x[0 if shared else i].cpu().numpy().tobytes() for x in (self.inner.normals, self.inner.offsets))


@functools.lru_cache(maxsize=8)
def _sub_simplex_rows(n: int) -> tuple[bytes, bytes]:
    """y_i >= -1, sum y <= n."""
    return np.vstack([-np.eye(n), np.ones(n)]).tobytes(), np.append(np.ones(n), float(n)).tobytes()


@functools.lru_cache(maxsize=64)
def _onto_polytope(C: bytes, e: bytes, n: int) -> Callable[[np.ndarray], np.ndarray]:
    import cvxpy

    e = np.frombuffer(e)
    y, z = cvxpy.Variable(n), cvxpy.Parameter(n)
    rows = scipy.sparse.csr_array(np.frombuffer(C).reshape(len(e), n))
    return _solver(cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(y - z)), [rows @ y <= e]), y, z, solver="CLARABEL")


@functools.lru_cache(maxsize=8)
def _onto_matrices(p: int, k: float) -> Callable[[np.ndarray], np.ndarray]:
    import cvxpy

    X, Z = cvxpy.Variable((p, p), symmetric=True), cvxpy.Parameter((p, p))
    return _solver(cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(X - Z)), [cvxpy.normNuc(X) <= k]), X, Z, solver="SCS", eps_abs=ACCURACY, eps_rel=ACCURACY)


def _solver(problem: Any, variable: Any, parameter: Any, **options) -> Callable[[np.ndarray], np.ndarray]:
    def solve(value: np.ndarray) -> np.ndarray:
        parameter.value = value
        problem.solve(**options)
        if problem.status != "optimal":
            raise RuntimeError(f"{options['solver']}: the projection ends as {problem.status!r}")
        return np.asarray(variable.value)

    return solve


class SolvedWorld(NamedTuple):
    """The world of the problem itself, and the task with solvers."""

    inner: Any
    task: Task
    streams: Streams


@dataclass(frozen=True)
class Solved:
    """A problem with the same losses and bounds whose set is asked by solvers.

    Raises:
        ImportError: cvxpy or highspy is missing.
    """

    problem: Problem

    def __post_init__(self):
        if not has_solvers():
            raise ImportError("Solved needs cvxpy and highspy: the extra 'solvers' of paperlib")

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> SolvedWorld:
        """The problem's, and its set as solvers see it."""
        world = self.problem.init(trials, horizon, draw, **tkwargs)
        task = self.problem.context(world, 0)
        return SolvedWorld(world, task._replace(cset=SolverSet.of(task.cset)), world.streams)

    def context(self, world: SolvedWorld, t: int) -> Task:
        """The same set and bounds."""
        return world.task

    def respond(self, world: SolvedWorld, t: int, action: Tensor, wants: str, draw: Draw) -> tuple[Tensor, Tensor]:
        """The problem's."""
        return self.problem.respond(world.inner, t, action, wants, draw)

    def loss(self, world: SolvedWorld, t: int, y: Tensor, draw: Draw) -> Tensor:
        """The problem's, R."""
        return self.problem.loss(world.inner, t, y, draw)


# Seconds --------------------------------------------------------------------------------------------------


def methods(problems: dict[str, Problem], names: tuple[str, ...] = METHODS, c: float = 0.1, suffix: str = "") -> Runs:
    """Learners of Figure 1 on each problem, as ``time_runs`` wants them; ``suffix`` goes behind the learners' names."""
    return {(name + suffix, setting): (learners(c)[name], problem) for setting, problem in problems.items() for name in names}


def time_runs(runs: Runs, horizon: int, repetitions: int, trials: int = 1, seed: int = 0) -> dict[tuple[str, str], np.ndarray]:
    """Seconds of each round in one batch of trials, N x T, measured alone on the machine; all runs take turns; kept."""
    named = {"|".join(key): run for key, run in runs.items()}
    found = store.once("time_runs", timing.seconds, runs=named, horizon=horizon, repetitions=repetitions, trials=trials, seed=seed)
    return {key: found["|".join(key)] for key in runs}


def _calls(problems: dict[str, Problem], count: int, seed: int) -> dict[str, np.ndarray]:
    found: dict[str, list[float]] = {}
    with timing.alone(), torch.no_grad():
        streams = Streams(seed, [0])
        sets = {name: problem.context(problem.init(1, 1, streams.at(-1), dtype=torch.float64, device="cpu"), 0).cset for name, problem in problems.items()}
        for t in range(count):
            for name, cset in sets.items():
                z = 2 * cset.R.unsqueeze(1) * streams.at(t).sphere(f"call {cset.dim}", cset.dim)  # outside any set within the radius R
                for call, ask in (("lmo", cset.lmo), ("project", cset.project)):
                    ask(-z)  # what another set's call has pushed out of the caches is back
                    start = time.perf_counter()
                    ask(z)
                    found.setdefault(f"{name}|{call}", []).append(time.perf_counter() - start)
    return {key: np.array(values) for key, values in found.items()}


def time_calls(problems: dict[str, Problem], count: int, seed: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """Seconds of ``count`` single calls on the set of one trial: problem -> "lmo", "project" -> count; taken alone; kept.

    The points are random and lie at twice the radius R, so that every projection has something to do.
    """
    whole("count", count)
    found = store.once("calls", _calls, problems=problems, count=count, seed=seed)
    return {name: {call: found[f"{name}|{call}"] for call in ("lmo", "project")} for name in problems}


def typical(seconds: np.ndarray) -> np.ndarray:
    """Median seconds a round of each repetition, N. ``seconds``: N x T."""
    return np.median(seconds, axis=1)


def bars(timed: dict[tuple[str, str], np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """Learner -> setting -> median milliseconds a round of each repetition, for ``figures.time_panel``."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for (name, setting), seconds in timed.items():
        out.setdefault(name, {})[setting] = 1e3 * typical(seconds)
    return out


def diamonds(timed: dict[tuple[str, str], np.ndarray], trials: int) -> dict[str, dict[str, float]]:
    """Learner -> setting -> median milliseconds a round and trial of a batch of so many trials."""
    return {name: {setting: float(np.median(x)) / trials for setting, x in found.items()} for name, found in bars(timed).items()}


def median_ratio(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Ratio of typical seconds a round, bootstrap over the repetitions. ``a``, ``b``: N x T each."""
    return stats.ratio(typical(a), typical(b), of="median seconds", over="repetitions", resamples=RESAMPLES)


def mean_ratio(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Ratio of mean seconds a round, bootstrap over the repetitions. ``a``, ``b``: N x T each.

    The mean also sees the rounds in which numbers are drawn for many rounds to come and those in which an epoch begins.
    """
    return stats.ratio(a.mean(1), b.mean(1), of="mean seconds", over="repetitions", resamples=RESAMPLES)


# How often ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaves:
    """A probe of FKM: whether its step leads out of (1 - alpha) K, so that the projection moves it, R bool."""

    def __call__(self, seen: "Round") -> Tensor:
        before, cset = own(seen.before), seen.context.cset
        weight = before.eta * seen.feedback * (cset.dim / before.delta)
        z = before.x - weight.unsqueeze(1) * seen.world.streams.at(seen.t).sphere("direction", cset.dim)
        return ~cset.contains(z / (1 - before.alpha).unsqueeze(1))
