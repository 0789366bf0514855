"""The statements that hold on every run of Algorithm 2 and of its schedule, the same on what is wrong on purpose, and counterexamples.

Letters: R trials, T rounds, d dimensions, E epochs.
"""

import numpy as np

from paperlib.checks import Check
from paperlib.core.trace import Trace
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.nsbco.theory import bounds
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import Setting

from ..proofs import lemmas, reduced, reduction, schedule, weakly
from ..proofs.replay import Replay
from .coverage import KNOWN
from .stationary import PRINTED, first_query, task_of


class Along:
    """A recorded run of Algorithm 2 where nothing moves, and what its answers lead to.

    Args:
        trace: every round, with "x", "y", "rbar", "g" and "z", the last two after the round.
        problem: that was played, stationary.
        learner: that played.
    """

    def __init__(self, trace: Trace, problem: QuadraticDrift, learner: GradientAscent):
        self.trace, self.problem, self.learner = trace, problem, learner
        self.task, d = task_of(problem), problem.dim
        known = KNOWN | {"noise": problem.amplitude}
        self.setting = Setting.of(self.task, learner.h, N0=learner.N0, **known)
        self.run = Replay.of(
            trace["y"], self.task, self.setting, bonus=learner.bonus, clip=learner.clip
        )
        R = len(trace["y"])
        self.z = np.concatenate([np.zeros((R, 1, d)), self.run.at_ends(trace["z"])], 1)
        self.g, self.star = self.run.at_ends(trace["g"]), (1 - problem.margin) * np.eye(d)[0]
        self.slopes = self.star - self.z[:, :-1]  # gradients at the centers, Hessian -I
        self.values = 0.5 - ((trace["x"] - self.star) ** 2).sum(2) / 2

    def checks(self) -> list[Check]:
        """All that holds on every run, and without noise the closed forms."""
        trace, s, best = self.trace, self.setting, 0.5
        T = trace["y"].shape[1]
        norms = np.linalg.norm(trace["x"] - self.star, axis=2)
        found = [
            bounds.assumption_1(self.values, trace["y"]),
            bounds.assumption_2(norms, [1.0], Setting.of(self.task, s.h, N0=s.N0)),
            bounds.assumption_3([1.0], s),
            bounds.assumption_4(self.star, self.task),
            lemmas.queries(trace["x"], self.run),
            lemmas.optimistic_value(trace["rbar"], self.run),
            lemmas.feasibility(trace["x"], trace["z"], self.task),
            lemmas.gradient_error(self.g, self.slopes, s, T),
            lemmas.contraction(self.z, self.star, self.run.g, self.slopes, s),
            lemmas.regret_adds_up(trace["regret"], best, self.values),
        ]
        if self.problem.amplitude == 0:
            found += [
                lemmas.contraction_exact(self.z, self.star, s),
                lemmas.noise_free(trace["regret"], self.star, s),
            ]
        return found

    def broken(self) -> dict[str, Check]:
        """Statements on the same run with one thing wrong; all must fail."""
        trace, s, run = self.trace, self.setting, self.run
        T = trace["y"].shape[1]
        t, b0 = np.arange(1, T + 1), self.learner.bonus
        weak, clip = theory.practical(b0), self.learner.clip
        lagging = np.concatenate([trace["rbar"][:, :1], trace["rbar"][:, :-1]], 1)
        stuck = np.repeat(self.z[:, :1], self.z.shape[1], 1)
        mean = trace["y"].cumsum(1) / t
        centers = run.z[:, np.searchsorted(run.ends, np.arange(T), side="right")]  # of every round
        printed = first_query(PRINTED, self.problem), np.array(PRINTED.start)
        return {
            "half the width": lemmas.queries((trace["x"] + centers) / 2, run),
            "r-bar a round late": lemmas.optimistic_value(lagging, run),
            "N_0 as printed": lemmas.feasibility(*printed, self.task),
            "gradients down the hill": lemmas.gradient_error(-self.g, self.slopes, s, T),
            "no step": lemmas.contraction(stuck, self.star, run.g, self.slopes, s),
            "a lost reward": lemmas.regret_adds_up(trace["regret"] - 1.0, 0.5, self.values),
            "no bonus": weakly.optimism(mean, 0.5, 0.0, weak),
            "three times the bonus": weakly.closeness(
                mean + 3 * b0 / np.sqrt(t), trace["y"], 0.0, weak, clip=clip
            ),
        }


def budget(problem: QuadraticDrift, horizon: int) -> Check:
    """How much functions change at 400 points of the unit ball, against Delta(t) and V_T of the problem.

    The points are on the sphere and within it, and the same in each call. ``problem``: on the ball, its path shared.
    """
    t, part = np.arange(horizon), problem.part([problem.environment or 0], horizon)
    x = np.random.default_rng(0).normal(size=(200, problem.dim))
    x = np.concatenate([x, x / 2]) / np.linalg.norm(np.concatenate([x, x]), axis=1, keepdims=True)
    away = x - problem.centers(part, t, horizon)[0][:, None]
    f = problem.path.value(part, t, horizon)[0][:, None] - (problem.diagonal * away**2).sum(2) / 2
    drift, V = problem.moves(part, t[:-1], horizon)[0], float(problem.variation(part, horizon)[0])
    return bounds.variation_budget(np.abs(np.diff(f, axis=0)), drift, V)


def of_schedule(trace: Trace, base: GradientAscent) -> list[Check]:
    """Which windows there are, which thread plays and what it knows, of a run without restarts.

    ``trace``: every round, with "y", "rbar", "order" and "live"; ``base``: what the threads are copies of.
    """
    order, live = trace["order"].astype(int), trace["live"] > 0
    return [
        schedule.lowest_order(order, live),
        schedule.windows(live),
        schedule.shares(order),
        schedule.runs(order),
        schedule.threads(trace["y"], trace["rbar"], order, base.bonus, base.clip),
    ]


def forgetful(trace: Trace, base: GradientAscent) -> Check:
    """The same of threads that begin anew whenever they come to play; it must fail. Arguments: as of ``of_schedule``."""
    order, y = trace["order"].astype(int), trace["y"]
    t = np.arange(order.shape[1])
    turn = np.diff(order, axis=1, prepend=-1) != 0
    since = np.maximum.accumulate(np.where(turn, t, 0), 1)
    total = np.concatenate([np.zeros((len(y), 1)), y.cumsum(1)], 1)
    own = t - since + 1
    bar = (total[:, 1:] - np.take_along_axis(total, since, 1)) / own + base.bonus / np.sqrt(own)
    bar = np.minimum(bar, 1.0) if base.clip else bar
    return schedule.threads(y, bar, order, base.bonus, base.clip)


def of_tests(trace: Trace, A1: float, A2: float) -> Check:
    """That a run restarts in exactly the rounds in which a test fails. ``trace``: with "y", "rbar", "live" and "restarts"."""
    series = [trace["y"], trace["rbar"], trace["live"] > 0, trace["restarts"]]
    return schedule.tests(*series, A1, A2)


def proved(trace: Trace, horizon: int) -> dict[str, Check]:
    """Property 2 with b_0 of the corrected Lemma 3.1 and rho of E9, in the paper's units; and with twice that bonus in r-bar.

    ``trace``: every round of a run with that b_0, r-bar not clipped, with "y" and "rbar".
    """
    weak = theory.weak_corrected(theory.literal(), horizon)
    y, more = trace["y"], weak.bonus / np.sqrt(np.arange(1, horizon + 1))
    check = lambda rbar: weakly.closeness(rbar, y, 0.0, weak, clip=False)
    return {"as proved": check(trace["rbar"]), "twice the bonus": check(trace["rbar"] + more)}


def counterexamples() -> dict[str, Check]:
    """Property 2 of Lemma 4.1 where the printed rho fails (E13): one point without noise, and regret at the end alone.

    "printed" has the printed e in r-bar, too.
    """
    T = 10**4
    t = np.arange(1, T + 1)
    small, e = reduction.off_printed(t, T), reduction.off(t, T)
    found = {}
    for name, y, rt in (
        ("one point", np.zeros((1, T)), np.zeros(T)),
        ("regret at the end", -(t > T - 2000).astype(float)[None], 20 / np.sqrt(t)),
    ):
        mean = y.cumsum(1) / t
        found[f"{name}, printed"] = reduced.lemma_4_1_printed(mean + rt + small, y, 0.0, rt)
        found[f"{name}, corrected"] = reduced.lemma_4_1_closeness(mean + rt + e, y, 0.0, rt)
    return found
