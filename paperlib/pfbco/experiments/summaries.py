"""What the notebooks judge and print, of results that they have.

No run imports this module, so that its text is in no result's key.
Letters: R trials, T rounds, T' horizons, n dimensions, N repetitions.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from ... import stats
from ...verdicts.checks import Check
from ...core.contracts import Problem
from ...core.trace import Trace
from ...output import number
from ..theory import bounds, constants as theory
from . import cost, scaling
from .settings import RESAMPLES, final, ratio

# Figure 1 -----------------------------------------------------------------------------------------------


def mean_norms(found: dict[str, Trace]) -> tuple[float, float]:
    """Of PF's estimates, and of StochOCG's noise: over rounds and trials."""
    ours, theirs = (float(found[name][key][:, -1].mean() / found[name].rounds[-1]) for name, key in (("PF", "norm"), ("StochOCG", "noise")))
    return ours, theirs


# Growth ---------------------------------------------------------------------------------------------------


def falling(horizons: Sequence[int], regret: np.ndarray, doublings: int = 3) -> stats.Interval:
    """Log-log slope of mean regret over the last doublings less that over as many before. ``regret``: R x T', as in ``scaling.local_slopes``.

    Raises:
        ValueError: horizons that do not double, too few of them, or another number of columns.
    """
    T = np.asarray(horizons)
    if T.ndim != 1 or len(T) < 2 * doublings + 1 or (T[1:] != 2 * T[:-1]).any() or regret.shape[1:] != T.shape:
        raise ValueError(f"horizons={list(horizons)}, regret: shape {regret.shape}; allowed: at least {2 * doublings + 1}, each twice the one before, a column each")
    x = np.arange(doublings + 1) - doublings / 2
    slope = lambda mean: np.log2(mean) @ x / (x @ x)
    difference = lambda mean: slope(mean[..., doublings:]) - slope(mean[..., : doublings + 1])
    return stats.bootstrap(regret[:, -2 * doublings - 1 :], difference, of=f"log-log slope over {doublings} doublings less that over {doublings} before", resamples=RESAMPLES)


# Seconds --------------------------------------------------------------------------------------------------


class Seconds(NamedTuple):
    """Microseconds a round and trial by learner, and over those of the first learner."""

    each: dict[str, float]
    over: dict[str, float]

    def __str__(self) -> str:
        return " ".join(f"{x:8.1f}" for x in self.each.values()) + "   " + "  ".join(f"{x:9.2f}" for x in self.over.values())


def seconds(timed: dict[tuple[str, str], np.ndarray], setting: str, trials: int = 1, of: Callable = np.median, names: Sequence[str] = cost.METHODS) -> Seconds:
    """What a round costs in a setting: a statistic of all rounds of all repetitions.

    Args:
        timed: (learner, setting) -> N x T seconds of a round of all trials.
        trials: played at once.
        of: the statistic.
        names: learners; the first is what the others are held against.
    """
    each = {name: float(1e6 * of(timed[name, setting]) / trials) for name in names}
    return Seconds(each, {name: value / each[names[0]] for name, value in each.items() if name != names[0]})


def by_solvers(timed: dict[tuple[str, str], np.ndarray], settings: Sequence[str]) -> dict[str, dict[str, stats.Interval]]:
    """Setting -> "PF" and "PF, solver" -> seconds of FKM with a generic solver over those of that PF, where they were taken."""
    return {
        setting: {other: cost.median_ratio(timed["FKM, solver", setting], timed[other, setting]) for other in ("PF", "PF, solver") if (other, setting) in timed}
        for setting in settings
    }


# What the regret is made of, and what needs no run --------------------------------------------------------


def parted(recorded: dict[int, Trace], problem: Problem, trials: int, seed: int) -> tuple[dict[int, bounds.Split], list[Check], list[Check]]:
    """Parts of the regret by horizon, what holds throughout the runs, and the leader's regret at each horizon.

    Args:
        recorded: horizon -> a run of PF with the probes ``scaling.KEPT``.
        problem: ``BallLinear``.
        trials, seed: of the runs.
    """
    parts, throughout, ends, s = {}, [], [], theory.unit_ball(problem.dim)
    for T, trace in recorded.items():
        world = scaling.world(problem, T, trials, seed)
        run = scaling.replayed(trace, world.task.cset)
        parts[T] = bounds.split(run, world.vector.unsqueeze(1), world.best, trace["regret"][:, -1])
        throughout.append((bounds.decomposition(parts[T], s, T), bounds.accumulated(run, trace["A"])))
        ends.append(bounds.leader_regret(parts[T], s, T))
    return parts, [scaling.joined(checks) for checks in zip(*throughout)], ends


def of_problems(problems: dict[str, Problem], trials: int, seed: int, round: int = 3) -> list[Check]:
    """What is assumed of sets and losses: sets lie between their balls and have their diameters, the losses of a round are convex.

    Losses are looked at between vertices and other points of the set, in directions that are drawn the same way each time.
    """
    balls, diameters, convexity, draw = [], [], [], np.random.default_rng(0)
    for problem in problems.values():
        world = scaling.world(problem, 8, trials, seed)
        cset, at = world.task.cset, world.streams.at(round)
        point = lambda: cset.lmo(torch.from_numpy(draw.normal(size=(trials, cset.dim))))
        balls.append(bounds.assumption_balls(cset))
        diameters.append(bounds.assumption_diameter(cset))
        convexity.append(bounds.assumption_convex(lambda y: problem.loss(world, round, y, at), point(), 0.5 * point()))
    return [scaling.joined(checks) for checks in (balls, diameters, convexity)]


def averages(directions: int = 10**6) -> list[Check]:
    """What is said of averages over a ball in three dimensions: that they are close to the loss, and that estimates are unbiased."""
    x, a = (torch.tensor(values, dtype=torch.float64) for values in ([0.2, 0.1, -0.5], [0.6, -0.8, 0.0]))
    u = np.random.default_rng(0).normal(size=(directions, 3))
    u = torch.from_numpy(u / np.linalg.norm(u, axis=1, keepdims=True))
    square = np.linspace(0.0, 1.0, 11)
    losses = [(lambda y: y @ a, a), (lambda y: (y**2).sum(1) / 2, x)]
    return [
        bounds.smoothing(square / 2, theory.smoothed_quadratic(square, 0.3, 3), 0.3, 1.3),
        scaling.joined([bounds.unbiased_estimate(bounds.one_point(f, x, u, 0.4), gradient) for f, gradient in losses]),
    ]


# Practical constants --------------------------------------------------------------------------------------


def center_quarter(trace: Trace) -> np.ndarray:
    """What staying at the center loses on average over the last quarter of the rounds, R. ``trace``: with its summed loss as "center"."""
    return scaling.last_quarter(replace(trace, series={"regret": trace["center"]}))


def learns(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Mean loss over the last quarter, over that of the learner's own control, with a 90 % interval."""
    return ratio(scaling.last_quarter(traces[name]), scaling.last_quarter(traces[f"{name}, sham"]), "last quarters", level=0.9)


class Late(NamedTuple):
    """A learner's average loss, and what became of it in the last quarter of the rounds."""

    average: float                     # over all rounds
    quarter: float                     # over the last quarter
    beyond: stats.Interval             # that less what staying at the center loses in the same rounds, paired
    above: int                         # trials in which it is above 0
    control: tuple[float, float] | None
    share: stats.Interval | None       # the quarter over the control's

    def __str__(self) -> str:
        line = f"{number(self.average):>6s} {number(self.quarter):>6s}   {self.beyond.estimate:+.3f} [{self.beyond.low:+.3f}, {self.beyond.high:+.3f}] {self.above:3d}"
        if self.share is not None:
            line += f"   {number(self.share.estimate)} [{number(self.share.low)}, {number(self.share.high)}]  " + " ".join(f"{number(x):>6s}" for x in self.control)
        return line


def late(traces: dict[str, Trace]) -> dict[str, Late]:
    """All learners but the controls. ``traces``: of one problem, trials and rounds; PF's has the summed loss of the center as "center"."""
    center, found = center_quarter(traces["PF"]), {}
    for name, trace in traces.items():
        if not name.endswith(", sham"):
            quarter, sham = scaling.last_quarter(trace), traces.get(f"{name}, sham")
            control = None if sham is None else (float(final(sham).mean()), float(scaling.last_quarter(sham).mean()))
            found[name] = Late(float(final(trace).mean()), float(quarter.mean()), stats.paired(quarter, center), int((quarter > center).sum()), control, learns(traces, name) if control else None)
    return found
