"""How regret grows with the horizon, and the statements of the theory along runs on the sets of all problems.

Letters: R trials, T rounds, T' horizons, n dimensions.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from ... import stats
from ...verdicts.checks import Check, Expected
from ...learners.doubling import Doubling
from ..probes import KEPT, Own, Steepness, ended, heard, played, recording  # handed on
from ..problems.loud import Loud  # handed on
from ...core.contracts import Problem
from ...core.trace import Trace
from ...core.streams import Streams
from ..theory import bounds
from ..learners.block import BlockPFBCO
from ..theory.bounds import Replay, Setting
from .settings import RESAMPLES, between, thin
from ..learners.fkm import FKM
from ..learners.onepoint import practical
from ..learners.pfbco import PFBCO
from ..problems import BallLinear, BallQuadratic, MatrixCompletion, Portfolio, QuadraticPolytope

# Growth ---------------------------------------------------------------------------------------------------


def columns(runs: dict[int, Trace]) -> np.ndarray:
    """Final regret of runs of their own horizons, R x T', in the order of the horizons."""
    return np.stack([runs[T]["regret"][:, -1] for T in sorted(runs)], 1)


def local_slopes(horizons: Sequence[int], regret: np.ndarray) -> list[stats.Interval]:
    """log2(R_2T / R_T) of the mean regrets, one for each doubling. ``regret``: R x T', trials that shared their draws over all horizons.

    Raises:
        ValueError: horizons that do not double, or another number of columns.
    """
    T = np.asarray(horizons)
    if T.ndim != 1 or len(T) < 2 or (T[1:] != 2 * T[:-1]).any() or regret.shape[1:] != T.shape:
        raise ValueError(f"horizons={list(horizons)}, regret: shape {regret.shape}; allowed: each twice the one before, a column each")
    slope = lambda mean: np.log2(mean[..., 1] / mean[..., 0])
    return [stats.bootstrap(regret[:, i : i + 2], slope, of="local slope", resamples=RESAMPLES) for i in range(len(T) - 1)]


class Line(NamedTuple):
    """A straight line in the dimension."""

    intercept: float
    slope: float

    def at(self, dim):
        """Its height. ``dim``: a number or an array."""
        return self.intercept + self.slope * np.asarray(dim, float)


def line(dims: Sequence[int], regret: np.ndarray) -> Line:
    """Least squares through the mean regrets. ``regret``: R x len(dims).

    Raises:
        ValueError: fewer than two dimensions, or another number of columns.
    """
    if len(set(dims)) < 2 or regret.shape[1:] != (len(dims),):
        raise ValueError(f"dims={list(dims)}, regret: shape {regret.shape}; allowed: two dimensions or more, a column each")
    slope, intercept = np.polyfit(np.asarray(dims, float), regret.mean(0), 1)
    return Line(float(intercept), float(slope))


# Statements along a run -----------------------------------------------------------------------------------


def small_problems(c: float) -> dict[str, Problem]:
    """One of each kind, small enough to project in every round; ``c``: of the learner, which the portfolio's M and G depend on."""
    return {
        "ball, linear": BallLinear(3), "ball, quadratic": BallQuadratic(3), "polytope": QuadraticPolytope(4, 4), "sub-simplex": Portfolio(8, "synthetic", c),
        "nuclear ball": MatrixCompletion(4, 3, "nuclear"), "spectrahedron": MatrixCompletion(4, 3, "psd"),
    }


def world(problem: Problem, horizon: int, trials: int, seed: int) -> Any:
    """What the problem of a run was, which a trace does not keep."""
    return problem.init(trials, horizon, Streams(seed, range(trials)).at(-1), dtype=torch.float64, device="cpu")


def replayed(trace: Trace, cset: Any) -> Replay:
    """The one epoch of a run with the probes ``KEPT``.

    Raises:
        ValueError: rounds that were not recorded.
    """
    if len(trace.rounds) != trace.rounds[-1]:
        raise ValueError(f"trace: {len(trace.rounds)} of {trace.rounds[-1]} rounds; allowed: record=\"all\"")
    return Replay(cset, *(torch.from_numpy(trace[name]) for name in ("x", "y", "loss", "eta", "delta", "alpha")))


def along(trace: Trace, task: Any, c: float) -> list[Check]:
    """Statements that hold on every run of Algorithm 1, and the printed tracking beside. ``task``: the run's set and bounds."""
    run, s = replayed(trace, task.cset), Setting.of(task, c)
    return [
        bounds.assumption_bounded(trace["loss"], s.loss_bound), bounds.assumption_gradient(trace["steepness"], s.grad_bound),
        bounds.estimate_norm(run.norms, s, float(run.delta[0])), bounds.feasibility(trace["distance"]),
        bounds.accumulated(run, trace["A"]), bounds.leader_step(run), bounds.tracking(run.ratios), bounds.tracking_printed(run.ratios),
    ]


def along_leader(trace: Trace, cset: Any) -> list[Check]:
    """Statements about leaders, of those that ``RegularizedLeader`` computed in a run with the probes ``KEPT``."""
    run = replayed(trace, cset)
    star = torch.cat([run.x, torch.from_numpy(trace["end"]).unsqueeze(1)], 1)
    return [bounds.accumulated(run, trace["A"]), bounds.be_the_leader(run, star), bounds.lemma_6(run, star), bounds.lemma_6_sharp(run, star)]


def joined(checks: Sequence[Check]) -> Check:
    """One statement, held against several runs, as one check.

    Raises:
        ValueError: none, several statements, or such as speak of a probability or a mean.
    """
    if len({check.statement for check in checks}) != 1 or any(check.delta is not None or isinstance(check, Expected) for check in checks):
        raise ValueError(f"checks={list(checks)}; allowed: at least one, all of one statement that holds on every run")
    flat = lambda name: np.concatenate([getattr(check, name).ravel() for check in checks])
    return replace(checks[0], inputs={"runs": len(checks)}, observed=flat("observed"), bound=flat("bound"))


# Practical constants --------------------------------------------------------------------------------------


def practical_learners(c: float = 1.0) -> dict[str, Doubling]:
    """PF with the theory's constants, with practical ones, and with a warm start besides, each with its sham control; and others.

    "FKM, practical" and "Block, practical" have a baseline, a warm start and M = 10 or 3: with the spread of the losses for M
    both step too far.
    """
    ours = {"PF": PFBCO(c), "PF, practical": practical(PFBCO(c), warm_start=False), "PF, warm": practical(PFBCO(c))}
    others = {
        "FKM": FKM(c), "Block": BlockPFBCO(c), "FKM, practical": FKM(c, baseline=True, scale=10.0, warm_start=True),
        "Block, practical": BlockPFBCO(c, baseline=True, scale=3.0, warm_start=True),
    }
    pairs = {key: learner for name, base in ours.items() for key, learner in ((name, base), (f"{name}, sham", replace(base, sham=True)))}
    return {name: Doubling(base) for name, base in (pairs | others).items()}


def last_quarter(trace: Trace) -> np.ndarray:
    """Mean loss over the last quarter of the rounds, R; T + 1 a power of two."""
    T = int(trace.rounds[-1])
    return between(trace, 3 * (T + 1) // 4, T)


def by_epoch(trace: Trace) -> Trace:
    """The same run at the last rounds of its epochs, 2^m - 1 for m = 1, 2, ..., with the mean loss in each as "epoch"."""
    ends = [2**m - 1 for m in range(1, (int(trace.rounds[-1]) + 1).bit_length())]
    loss = np.stack([between(trace, first, last) for first, last in zip([0, *ends], ends)], 1)
    return replace(thin(trace, ends), series={"epoch": loss})
