"""Statements of the theory, checked on runs over all kinds of sets, and statements that need no run.

Letters: R trials, T rounds, n dimensions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from paperlib.checks import Check
from paperlib.core.contracts import Problem
from paperlib.core.trace import Trace
from paperlib.pfbco.problems.ball import BallLinear, BallQuadratic
from paperlib.pfbco.problems.completion import MatrixCompletion
from paperlib.pfbco.problems.quadratic import QuadraticPolytope
from paperlib.pfbco.theory import bounds
from paperlib.pfbco.theory.constants import Setting, unit_ball

from ..problems.portfolio import Portfolio
from ..proofs import lemmas, replay
from ..proofs.replay import Replay, Split, split
from .settings import instance

Case = tuple[str, bool, float, int]  # name of the set, whether the loss is the constant M, c, T


def small_problems(c: float) -> dict[str, Problem]:
    """Return one problem per kind of set, small enough for a projection in every round.

    ``c``: exploration scale of the learner, because the portfolio's M and G depend on it.
    """
    return {
        "ball, linear": BallLinear(3),
        "ball, quadratic": BallQuadratic(3),
        "polytope": QuadraticPolytope(4, 4),
        "sub-simplex": Portfolio(8, "synthetic", c),
        "nuclear ball": MatrixCompletion(4, 3, "nuclear"),
        "spectrahedron": MatrixCompletion(4, 3, "psd"),
    }


def along_run(trace: Trace, task: Any, c: float) -> list[Check]:
    """Check the statements that hold on every run of Algorithm 1, and the printed tracking bound, which is only reported.

    ``task``: set and bounds of the run.
    """
    run, s = Replay.of(trace, task.cset), Setting.of(task, c)
    return [
        bounds.assumption_bounded(trace["loss"], s.loss_bound),
        bounds.assumption_gradient(trace["steepness"], s.grad_bound),
        lemmas.estimate_norm(run.norms, s, float(run.delta[0])),
        lemmas.feasibility(trace["distance"]),
        replay.rates(run, s),
        replay.exploration_step(run),
        lemmas.accumulated(run, trace["A"]),
        replay.frank_wolfe_step(run, torch.from_numpy(trace["end"])),
        lemmas.leader_step(run),
        lemmas.tracking(run.ratios),
        lemmas.tracking_printed(run.ratios),
    ]


def along_leader(trace: Trace, cset: Any) -> list[Check]:
    """Check the statements about the leaders of a run of ``RegularizedLeader``, recorded with ``KEPT``."""
    run = Replay.of(trace, cset)
    star = torch.cat([run.x, torch.from_numpy(trace["end"]).unsqueeze(1)], 1)
    return [
        lemmas.accumulated(run, trace["A"]),
        lemmas.be_the_leader(run, star),
        lemmas.lemma_6(run, star),
        lemmas.lemma_6_sharp(run, star),
    ]


def by_statement(
    runs: Mapping[Case, tuple[Problem, Trace]],
    led: Mapping[Case, Trace],
    trials: int,
    seed: int,
) -> dict[str, dict[tuple[str, bool], list[Check]]]:
    """Check the statements along many runs.

    Args:
        runs: case -> problem, run of PF.
        led: case -> run of ``RegularizedLeader`` on the same problem.
        trials, seed: trials and random seed of the runs.

    Returns:
        statement -> (name of the set, whether the loss is the constant M) -> its checks.
    """
    found: dict[str, dict[tuple[str, bool], list[Check]]] = {}
    for (name, loud, c, T), (problem, trace) in runs.items():
        task = instance(problem, T, trials, seed).task
        for check in along_run(trace, task, c) + along_leader(led[name, loud, c, T], task.cset):
            found.setdefault(check.statement, {}).setdefault((name, loud), []).append(check)
    return found


def joined(checks: Sequence[Check]) -> Check:
    """Join the checks of one statement on several runs into one; not for checks of a probability or a mean."""
    flat = lambda name: np.concatenate([getattr(check, name).ravel() for check in checks])
    return replace(
        checks[0], inputs={"runs": len(checks)}, observed=flat("observed"), bound=flat("bound")
    )


def parted(
    runs: dict[int, Trace], problem: BallLinear, trials: int, seed: int
) -> tuple[dict[int, Split], list[Check], list[Check]]:
    """Return the parts of the regret by horizon, the checks joined over all horizons, and the check of the leader's regret at each.

    Args:
        runs: horizon -> a run of PF with the probes ``KEPT``.
        problem: the problem of the runs.
        trials, seed: trials and random seed of the runs.
    """
    parts, throughout, ends, s = {}, [], [], unit_ball(problem.dim)
    for T, trace in runs.items():
        played = instance(problem, T, trials, seed)
        run = Replay.of(trace, played.task.cset)
        parts[T] = split(run, played.vector.unsqueeze(1), played.best, trace.last())
        # A linear loss has the same gradient as its average over a ball.
        error = run.g - played.vector.unsqueeze(1)
        throughout.append(
            (
                lemmas.decomposition(parts[T], s, T),
                lemmas.accumulated(run, trace["A"]),
                lemmas.unbiased_estimate(error.flatten(0, 1), torch.zeros(problem.dim)),
            )
        )
        ends.append(lemmas.leader_regret(parts[T], s, T))
    return parts, [joined(checks) for checks in zip(*throughout)], ends


def of_problems(problems: dict[str, Problem], trials: int, seed: int) -> list[Check]:
    """Check the assumptions on sets and losses: balls, diameters, and convexity of the losses.

    Convexity is checked in round 3, between vertices and halved vertices of the set in directions from a fixed stream.
    """
    checks, draw = [], np.random.default_rng(0)
    for problem in problems.values():
        played = instance(problem, 8, trials, seed)
        cset, draw_3 = played.task.cset, played.streams.at(3)
        loss = lambda y: problem.respond(played, 3, y, "loss", draw_3)[0]
        point = lambda: cset.lmo(torch.from_numpy(draw.normal(size=(trials, cset.dim))))
        checks.append(
            (
                bounds.assumption_balls(cset),
                bounds.assumption_diameter(cset),
                bounds.assumption_convex(loss, point(), 0.5 * point()),
            )
        )
    return [joined(of_all) for of_all in zip(*checks)]


def averages() -> list[Check]:
    """Check averages over a ball in three dimensions: they are close to the loss, and the mean of the estimates is their gradient."""
    x, a = torch.tensor([[0.2, 0.1, -0.5], [0.6, -0.8, 0.0]], dtype=torch.float64)
    u = np.random.default_rng(0).normal(size=(10**6, 3))
    u = torch.from_numpy(u / np.linalg.norm(u, axis=1, keepdims=True))
    square = np.linspace(0.0, 1.0, 11)
    losses = [(lambda y: y @ a, a), (lambda y: (y**2).sum(1) / 2, x)]
    unbiased = [
        lemmas.unbiased_estimate(lemmas.one_point(f, x, u, 0.4), gradient) for f, gradient in losses
    ]
    smoothing = lemmas.smoothing(square / 2, lemmas.smoothed_quadratic(square, 0.3, 3), 0.3, 1.3)
    return [smoothing, joined(unbiased)]


# Tracking errors -------------------------------------------------------------------------------------------

Tracked = Mapping[tuple[str, float], Mapping[int, Trace]]  # (rule, c) -> horizon -> trace


def tracking_errors(tracked: Tracked) -> dict[tuple[str, float], np.ndarray]:
    """Return the largest h_t / (D^2 sigma_t) over rounds and trials at each horizon, by learning rate and c."""
    return {
        key: np.array([trace["ratios"][:, -1, 0].max() for trace in found.values()])
        for key, found in tracked.items()
    }


def allowed_tracking(tracked: Tracked) -> dict[tuple[str, float], np.ndarray]:
    """Return the worst h_t / (D^2 sigma_t) that the one-step inequality allows at each horizon, by learning rate and c."""
    return {
        (rule, c): np.array([lemmas.worst_tracking(T, c=c, rule=rule).max() for T in found])
        for (rule, c), found in tracked.items()
    }


def tracking_checks(tracked: Tracked) -> list[Check]:
    """Check the tracking bounds on the runs with the corrected rate, and the inequalities of their proof."""
    found = {key: runs for key, runs in tracked.items() if key[0] == "corrected"}
    ratios = [trace["ratios"] for runs in found.values() for trace in runs.values()]
    horizons = list(next(iter(found.values())))
    return [
        joined([lemmas.tracking(x) for x in ratios]),
        joined([lemmas.tracking_printed(x) for x in ratios]),
        lemmas.tracking_recursion([*horizons, 10**4]),
        lemmas.tracking_induction(),
        lemmas.polynomial(),
        lemmas.sum_of_steps([1, 2, 10, 10**3, 10**5]),
    ]


def unrepaired_checks(tracked: Tracked) -> list[Check]:
    """Check inequalities with constants of the printed proof that are too small, which are expected to fail."""
    printed = tracked["paper", 0.1]
    runs = joined([lemmas.tracking(trace["ratios"]) for trace in printed.values()])
    return [
        lemmas.tracking_recursion([*printed], kappa=2.0),
        lemmas.tracking_induction(2.2),
        lemmas.polynomial(factor=2.0),
        lemmas.tracking_recursion([*printed], 0.1, "paper"),
        runs,
    ]
