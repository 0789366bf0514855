"""Checks along runs of Algorithm 2 and of its schedule, the coverage of Definition 2.1, and the size of the bonus it needs.

The tests also apply every group of checks to deliberately wrong runs, where the checks must fail.
Letters: R trials, T rounds, d dimensions, E epochs, Delta_t variation up to t.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.trace import Trace
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.problems.paths import Ramp, Rotation
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.nsbco.theory import bounds
from paperlib.nsbco.theory import constants as theory

from ..proofs import ascent, schedule
from ..proofs import weakly_non_stationary as weakly
from .stationary import TAIL, task_of

B0 = 2.0  # the calibrated bonus
DELTA = 0.1  # fraction of trials where property 1 may fail
MARGIN = 1.25  # ratio of a calibrated bonus to the bonus that the trials need
QUANTILES = (0.0, 0.05, 0.5)  # quantiles of the slack over trials
SEGMENTS = 5  # segments of the path for the comparison of dimensions: V_T = 4, four changes

# Properties of the problem beyond the paper's assumptions. They sharpen only the numeric bound.
KNOWN = {"noise": 0.1, "slope": 1.5, "curvature": 1.0, "start": 0.5, "quadratic": True}

# Checks along a run -----------------------------------------------------------------------------------------


class AscentRun:
    """A recorded run of Algorithm 2 on a stationary problem, and its recomputation from the rewards.

    Args:
        trace: every round, with "x", "y", "rbar", "g" and "z", the last two after the round.
        problem: stationary problem of the run.
        learner: learner of the run.
    """

    def __init__(self, trace: Trace, problem: QuadraticDrift, learner: GradientAscent):
        self.trace, self.problem, self.learner = trace, problem, learner
        self.task, h, N0 = task_of(problem), learner.h, learner.N0
        self.assumed = theory.Setting.of(self.task, h, N0=N0)
        self.setting = s = theory.Setting.of(
            self.task, h, N0=N0, **KNOWN | {"noise": problem.amplitude}
        )
        self.run = ascent.replay(trace["y"], self.task, s, learner.bonus, learner.clip)
        # starts with z_0 = 0
        self.z = np.pad(self.run.at_ends(trace["z"]), ((0, 0), (1, 0), (0, 0)))
        self.g, self.star = self.run.at_ends(trace["g"]), (1 - problem.margin) * np.eye(s.dim)[0]
        # gradients at the centers, because the Hessian is -I
        self.slopes = self.star - self.z[:, :-1]
        self.values = 0.5 - ((trace["x"] - self.star) ** 2).sum(2) / 2

    def checks(self) -> list[Check]:
        """Return the checks that must pass on every run, and on runs without noise also the closed forms."""
        trace, s = self.trace, self.setting
        norms = np.linalg.norm(trace["x"] - self.star, axis=2)
        checks = [
            bounds.assumption_1(self.values, trace["y"]),
            bounds.assumption_2(norms, [1.0], self.assumed),
            bounds.assumption_3([1.0], s),
            bounds.assumption_4(self.star, self.task),
            ascent.queries(trace["x"], self.run),
            ascent.optimistic_value(trace["rbar"], self.run),
            ascent.feasibility(trace["x"], trace["z"], self.task),
            ascent.gradient_error(self.g, self.slopes, s, trace["y"].shape[1]),
            ascent.contraction(self.z, self.star, self.run.g, self.slopes, s),
            ascent.regret_adds_up(trace["regret"], 0.5, self.values),
        ]
        if self.problem.amplitude == 0:
            checks += [
                ascent.contraction_exact(self.z, self.star, s),
                ascent.noise_free(trace["regret"], self.star, s),
            ]
        return checks


def budget(problem: QuadraticDrift, horizon: int) -> Check:
    """Compare Delta(t) and V_T of a problem with the change of its functions at 400 points of the unit ball.

    Half of the points are on the unit sphere and half on the sphere of radius 1/2; they are the same in each call. ``problem``: on
    the ball, with a path that all trials share.
    """
    path, part = instance(problem, horizon), problem.part([problem.environment or 0], horizon)
    x = np.random.default_rng(0).normal(size=(200, problem.dim))
    x = np.concatenate([x, x / 2]) / np.linalg.norm(np.concatenate([x, x]), axis=1, keepdims=True)
    away = x - problem.centers(part, np.arange(horizon), horizon)[0][:, None]
    f = path.values[:, None] - (problem.diagonal * away**2).sum(2) / 2
    V = float(problem.variation(part, horizon)[0])
    return bounds.variation_budget(np.abs(np.diff(f, axis=0)), path.drift, V)


def of_schedule(trace: Trace, base: GradientAscent) -> list[Check]:
    """Check the windows of a run without restarts, the active thread, and the rewards that enter its r-bar.

    ``trace``: every round, with "y", "rbar", "order" and "live"; ``base``: base learner of the threads.
    """
    order, live = trace["order"].astype(int), trace["live"] > 0
    return [
        schedule.lowest_order(order, live),
        schedule.windows(live),
        schedule.shares(order),
        schedule.runs(order),
        schedule.threads(trace["y"], trace["rbar"], order, base.bonus, base.clip),
    ]


def of_tests(trace: Trace, A1: float, A2: float) -> Check:
    """Check that a run restarts exactly in the rounds where a test triggers. ``trace``: with "y", "rbar", "live" and "restarts"."""
    live = trace["live"] > 0
    return schedule.tests(trace["y"], trace["rbar"], live, trace["restarts"], A1, A2)


def proved(trace: Trace, horizon: int) -> dict[str, Check]:
    """Check property 2 with b_0 of the corrected Lemma 3.1 and rho of erratum ``E9``, in the paper's units, and with twice this bonus in r-bar.

    ``trace``: every round of a run with this b_0 and r-bar not clipped, with "y" and "rbar".
    """
    weak = theory.weak_corrected(theory.literal(), horizon)
    more = weak.bonus / np.sqrt(np.arange(1, horizon + 1))
    check = lambda rbar: weakly.closeness(rbar, trace["y"], 0.0, weak, clip=False)
    return {"as proved": check(trace["rbar"]), "twice the bonus": check(trace["rbar"] + more)}


# Coverage of Definition 2.1 ---------------------------------------------------------------------------------


def paths(horizon: int) -> dict[str, QuadraticDrift]:
    """Return two problems in the regime Delta_t <= 1 / sqrt(t) in all rounds, and two that leave it."""
    return {
        "stationary": QuadraticDrift(),
        "ramp": QuadraticDrift(Ramp(horizon**-0.5)),
        "rotation, V = 0.1": QuadraticDrift(Rotation(0.1)),
        "rotation, V = 1": QuadraticDrift(Rotation(1.0)),
    }


class World(NamedTuple):
    """Sequence of functions shared by all trials."""

    values: np.ndarray  # T, f*_t; on a grid of K points, T x K, their means
    drift: np.ndarray  # T - 1, Delta(t), the largest change of the value of a point
    changes: int  # number of rounds with a change

    @property
    def variation(self) -> float:
        """V_T."""
        return float(self.drift.sum())


def instance(problem: QuadraticDrift, horizon: int) -> World:
    """Return the functions of a problem whose path is the same in all trials."""
    t, part = np.arange(horizon), problem.part([problem.environment or 0], horizon)
    drift = problem.moves(part, t[:-1], horizon)[0]
    return World(problem.path.value(part, t, horizon)[0], drift, int((drift > 1e-15).sum()))


class Property(NamedTuple):
    """Summary of one of the two properties along runs."""

    check: dict  # check in the regime, in the format of the figures' data
    broken: int  # trials with a failure in some round of the regime
    first: np.ndarray  # R, the round of the first failure, inf without a failure
    bare: int  # trials that would have a failure in any round without the drift term
    # len(QUANTILES) x T', sqrt(t) (bound - observed), also outside the regime
    slack: np.ndarray


class Coverage(NamedTuple):
    """Both properties along the runs of a path."""

    regime: float  # fraction of rounds with Delta_t <= rho(t) / lambda
    trials: int
    optimism: Property
    closeness: Property
    gap: np.ndarray  # R, the largest sqrt(t) (1 / t) sum of r-bar - y


def _property(check: Check, slack: np.ndarray, drift: np.ndarray, at: np.ndarray) -> Property:
    """Summarize a check. ``slack``: R x T, in all rounds; ``drift``: lambda Delta_t, 1 x T; ``at``: ``rounds`` of ``covered``."""
    held = check.held
    failed, bare = ~held.all(1), (slack < drift - 1e-9).any(1)
    first = np.where(failed, (~held).argmax(1) + 1, math.inf)
    kept = np.quantile(np.sqrt(at) * slack[:, at - 1], QUANTILES, axis=0)
    return Property(check.to_json(), int(failed.sum()), first, int(bare.sum()), kept)


def covered(
    trace: Trace, path: World, rounds: np.ndarray, weak: theory.Weak | None = None
) -> Coverage:
    """Check Definition 2.1 in every round of every trial.

    Args:
        trace: every round, with "y" and "rbar".
        path: functions of the run.
        rounds: rounds of the stored slack, counted from 1.
        weak: b_0, rho and lambda; None: b_0 = 2, rho(t) = 6 / sqrt(t), lambda = 6.
    """
    weak, y, rbar = weak or theory.practical(B0), trace["y"], trace["rbar"]
    t, moved = np.arange(1, y.shape[1] + 1), ascent.variation(path.drift, y.shape[1])
    rho, drift = weak.rho / np.sqrt(t), weak.lam * moved
    check = weakly.optimism(rbar, path.values, path.drift, weak, DELTA)
    slack = rbar - (np.minimum.accumulate(path.values) - drift)
    optimism = _property(check, slack, drift, rounds)
    check = weakly.closeness(rbar, y, path.drift, weak, DELTA)
    closeness = _property(check, rho + drift - check.observed, drift, rounds)
    return Coverage(
        float((moved <= rho / weak.lam).mean()),
        len(y),
        optimism,
        closeness,
        (np.sqrt(t) * check.observed).max(1),
    )


def share_broken(found: Sequence[Coverage], name: str) -> stats.Interval:
    """Return the largest fraction of trials where a property fails, over paths."""
    shares = (stats.proportion(getattr(one, name).broken, one.trials) for one in found)
    return max(shares, key=lambda share: share.estimate)


def lemma_3_1(trace: Trace, path: World) -> list[Check]:
    """Check Lemma 3.1 as printed, corrected, and computed with the known properties of the problem, on runs with h = 1/4 and N_0 = 1."""
    y, best, s = trace["y"], float(path.values[0]), theory.reference()
    return [
        weakly.lemma_3_1_printed(y, best, path.drift, s),
        weakly.lemma_3_1(y, best, path.drift, s),
        weakly.lemma_3_1_numeric(y, best, path.drift, theory.reference(**KNOWN)),
    ]


# Size of the bonus ------------------------------------------------------------------------------------------


def shortfalls(trace: Trace, path: World, rounds: np.ndarray) -> np.ndarray:
    """Return the largest sqrt(tau) (f*_tau - mean of y) up to each round, R x T', the least b_0 with which r-bar was never below f*.

    ``trace``: every round, with "y"; ``rounds``: counted from 1.
    """
    t = np.arange(1, trace["y"].shape[1] + 1)
    short = np.sqrt(t) * (path.values - trace["y"].cumsum(1) / t)
    return np.maximum.accumulate(short, 1)[:, rounds - 1]


def needed(worst: np.ndarray) -> np.ndarray:
    """Return the least bonus with which r-bar was never below f* in 95 % of trials. ``worst``: R x ..., largest ``Shortfall``."""
    return np.quantile(worst, TAIL, axis=0)


def bonus_for(worst: np.ndarray) -> float:
    """Return b_0 = max(2, 1.25 times the needed bonus). ``worst``: R."""
    return max(B0, MARGIN * float(needed(worst)))


def bonuses(dims: Sequence[int], horizons: Sequence[float]) -> dict[str, np.ndarray]:
    """Return b_0 by the method that computes it, one number for each pair (d, T) of the two lists."""
    this_problem = lambda d, T: theory.bonus_numeric(theory.reference(d, **KNOWN), T)
    ways = schedule.BONUSES | {"numeric, this problem": this_problem}
    return {
        name: np.array([bonus(d, T) for d, T in zip(dims, horizons, strict=True)])
        for name, bonus in ways.items()
    }
