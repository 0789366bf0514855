"""Optimism over a likelihood set by a generic solver: one constrained problem per arm, K + 1 problems per round.

The authors of likelihood-set methods compute their decisions in this way. The approach is implemented as well as
possible: with analytic gradients, vectorized over the history, and started at the estimate. Its decisions are not
certified. It measures the time that ``learners.likelihood_set`` saves, and it is an independent oracle for the decisions.
Run times are specific to this machine; ``python3 run.py clean`` deletes the cached ones.
Shapes: n observations, K arms, d dimensions; one trial, in NumPy.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray
from scipy.optimize import minimize
from torch import Tensor

from paperlib.core.contracts import Learner, Problem
from paperlib.core.rounds import Round
from paperlib.glbomd.learners.certified import CertifiedOptimism
from paperlib.glbomd.learners.likelihood_set import ConfidenceSet, argmax_parameter, family_terms
from paperlib.play import play

from ...store.results import cached_call
from ...store.seconds import Run, Seconds
from ...store.timing import exclusive_lock, time_rounds

TOLERANCE = 1e-9  # solver tolerance: absolute for values, relative to the budget for constraints
# The solver may evaluate L outside the ball. Beyond this multiple of S, L is extended linearly, so that e^z is finite.
FAR = 2.0
SLACK = 1e-6  # constraint violations up to this, relative to b or to S^2, count as rounding


class SLSQPDecision(NamedTuple):
    """The solver's decision of one round."""

    arm: int  # argmax of the values, ties to the lowest index
    values: ndarray  # K, UCB(x_k) up to the tolerance, from below or above
    margin: float  # best value minus second best
    estimate: ndarray  # d, maximum likelihood estimate


def slsqp_decision(
    inside: ConfidenceSet, arms: ndarray, start: ndarray | None = None
) -> SLSQPDecision:
    """Compute argmax_k UCB(x_k) over a likelihood set by sequential least squares programming.

    Args:
        inside: the set; only its data, budget, ball and ridge are used.
        arms: K x d, K at least 2.
        start: initial point of the solver, d; by default 0 for the estimate, and the estimate for the arms.

    Raises:
        RuntimeError: the solver ended outside the set from every start.
    """
    likelihood, ball, ridge = inside.likelihood, inside.ball, inside.ridge

    @lru_cache(maxsize=1)  # the solver requests the value and then the gradient at the same point
    def evaluated(numbers: bytes) -> tuple[float, ndarray]:
        theta = np.frombuffer(numbers)
        z = likelihood.points @ theta
        near = z if ball is None else np.minimum(z, FAR * ball)
        m, mu, _ = family_terms(likelihood.link, near)
        m = m + mu * (z - near)  # the extension by the tangent is convex and smooth, too
        if likelihood.weights is not None:
            m, mu = likelihood.weights * m, likelihood.weights * mu
        value = m.sum() - likelihood.moment @ theta + 0.5 * ridge * (theta @ theta)
        return value, mu @ likelihood.points - likelihood.moment + ridge * theta

    objective = lambda theta: evaluated(theta.tobytes())  # L and its gradient

    in_ball = {
        "type": "ineq",
        "fun": lambda theta: ball * ball - theta @ theta,
        "jac": lambda theta: -2 * theta,
    }
    constraints = [] if ball is None else [in_ball]
    estimate = minimize(
        objective,
        np.zeros(arms.shape[1]) if start is None else start,
        jac=True,
        method="SLSQP",
        constraints=constraints,
        options={"maxiter": 200, "ftol": 1e-12},
    ).x
    level, unit = objective(estimate)[0] + inside.budget, max(inside.budget, 1e-12)
    # The constraint is divided by b, because the solver's tolerance is absolute.
    likely = {
        "type": "ineq",
        "fun": lambda theta: (level - objective(theta)[0]) / unit,
        "jac": lambda theta: -objective(theta)[1] / unit,
    }
    constraints = [likely, *constraints]

    def solve(x: ndarray) -> ndarray:
        """Return the best feasible point for one arm; retry from the estimate if the given start leads outside the set."""
        for origin in (estimate if start is None else start, estimate):
            point = minimize(
                lambda theta: -(x @ theta),
                origin,
                jac=lambda theta: -x,
                method="SLSQP",
                constraints=constraints,
                options={"maxiter": 200, "ftol": TOLERANCE},
            ).x
            if all(constraint["fun"](point) >= -SLACK for constraint in constraints):
                return point
        raise RuntimeError(
            f"SLSQP returned the point {point!r} outside the set for the direction {x!r}"
        )

    values = np.einsum("kd,kd->k", arms, np.stack([solve(x) for x in arms]))
    second, best = np.sort(values)[-2:]
    return SLSQPDecision(argmax_parameter(values), values, float(best - second), estimate)


@dataclass(frozen=True)
class SLSQPDecisions:
    """Probe that recomputes the decision of a certified learner by SLSQP, and measures the run time.

    Returns 1 x 3: seconds, whether the arm is the same, and SLSQP's margin between its two best arms. The solver starts
    from the round's maximum likelihood estimate, so that it does not have to search for it.
    """

    learner: CertifiedOptimism

    def __call__(self, seen: Round) -> Tensor:
        inside = self.learner.confidence_set(seen.before, seen.context)
        start = time.perf_counter()
        found = slsqp_decision(inside, seen.context[0].numpy(), seen.before.theta[0].numpy())
        seconds = time.perf_counter() - start
        same = found.arm == int(seen.action[0])
        return torch.tensor([[seconds, same, found.margin]], dtype=torch.float64)


def sampled(horizon: int, every: int) -> list[int]:
    """Return every ``every``-th round, except the first round, which has no likelihood."""
    return [t for t in range(every, horizon + 1, every) if t > 1]


def decide_again(
    learner: CertifiedOptimism, problem: Problem, horizon: int, every: int
) -> dict[str, ndarray]:
    """Compare SLSQP with the certified decisions of one trial. The caller must hold the ``exclusive_lock``.

    Returns:
        ``rounds``, every ``every``-th one. For each of them: the ``seconds`` of SLSQP, whether the arm is the ``same``,
        and SLSQP's ``margin`` between its two best arms.
    """
    probes = {"slsqp": SLSQPDecisions(learner)}
    trace = play(learner, problem, horizon, 1, record=sampled(horizon, every), probes=probes)
    seconds, same, margin = trace["slsqp"][0].T
    return {"rounds": trace.rounds, "seconds": seconds, "same": same, "margin": margin}


def own_seconds(learner: Learner, problem: Problem, horizon: int, every: int) -> ndarray:
    """Return the learner's run time in seconds in the rounds of ``sampled``, for one trial and without other work."""
    found = time_rounds([(learner, problem)], horizon, 1, [1])["seconds"]
    return found[0, 0, [t - 1 for t in sampled(horizon, every)]]


def against_certified(
    learner: CertifiedOptimism, problem: Problem, horizon: int, every: int
) -> dict[str, ndarray]:
    """Return the result of ``decide_again``, with the learner's run time in these rounds as ``certified``.

    This run time is the mean of a run before and a run after SLSQP.
    """
    with exclusive_lock():
        before = own_seconds(learner, problem, horizon, every)
        found = decide_again(learner, problem, horizon, every)
        after = own_seconds(learner, problem, horizon, every)
    return {**found, "certified": (before + after) / 2}


def time_decisions(
    runs: Sequence[tuple[Learner, Problem]], horizon: int, every: int, repetitions: int
) -> dict[str, ndarray]:
    """Measure the seconds of each ``every``-th round of one trial; in each repetition the runs take turns.

    For a learner with a likelihood set, the decision by SLSQP is timed; for any other learner, its own round.

    Returns:
        "seconds": runs x N repetitions x rounds.
    """

    def seconds(learner: Learner, problem: Problem) -> ndarray:
        if isinstance(learner, CertifiedOptimism):
            return decide_again(learner, problem, horizon, every)["seconds"]
        return own_seconds(learner, problem, horizon, every)

    with exclusive_lock():
        # The runs take turns, so that a slow period of the machine affects all of them alike.
        turns = [[seconds(*run) for run in runs] for _ in range(repetitions)]
    return {"seconds": np.stack(turns, 1)}


def slsqp_seconds(
    runs: dict[Run, tuple[Learner, Problem]], horizon: int, every: int, repetitions: int
) -> Seconds:
    """Return the cached seconds of each ``every``-th round with SLSQP, see ``time_decisions``."""
    known = {"runs": list(runs.values()), "horizon": horizon, "every": every}
    found = cached_call("slsqp_seconds", time_decisions, **known, repetitions=repetitions)
    return Seconds(dict(zip(runs, found["seconds"])), dict.fromkeys(runs, 1))
