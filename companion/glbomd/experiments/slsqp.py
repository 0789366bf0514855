"""Optimism over a likelihood set by a generic solver: one constrained problem per arm, K + 1 per round.

The authors of likelihood-set methods compute their decisions in this way. It is written as well as the way allows: analytic
gradients, vectorized over the history, a start at the estimate. It proves nothing. It measures the time that
``learners.likelihood_set`` saves, and it is an independent oracle for its decisions.
Seconds are of this machine; ``python3 run.py clean`` forgets the cached ones.
Shapes: n observations, K arms, d dimensions; one trial, numpy.
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

TOLERANCE = 1e-9  # of the solver, absolute, on values and (relative to the budget) on constraints
FAR = 2.0  # times S, where the solver looks outside of the ball: L goes on so that e^z stays finite
SLACK = 1e-6  # violation of a constraint, relative to b or to S^2, that still counts as rounding


class SLSQPDecision(NamedTuple):
    """The solver's decision of one round."""

    arm: int  # argmax of the values, ties to the lowest index
    values: ndarray  # K, UCB(x_k) up to the tolerance, from below or above
    margin: float  # best value minus second best
    estimate: ndarray  # d, maximum likelihood estimate


def slsqp_decision(
    inside: ConfidenceSet, arms: ndarray, start: ndarray | None = None
) -> SLSQPDecision:
    """argmax_k UCB(x_k) over a likelihood set, by sequential least squares.

    Args:
        inside: the set, of which only data, budget, ball and ridge are used.
        arms: K x d, K at least 2.
        start: where the solver begins, d; by default 0 for the estimate and the estimate for the arms.

    Raises:
        RuntimeError: the solver ended outside of the set, from every start.
    """
    likelihood, ball, ridge = inside.likelihood, inside.ball, inside.ridge

    @lru_cache(maxsize=1)  # the solver asks for the value and then for the gradient
    def evaluated(numbers: bytes) -> tuple[float, ndarray]:
        theta = np.frombuffer(numbers)
        z = likelihood.points @ theta
        near = z if ball is None else np.minimum(z, FAR * ball)
        m, mu, _ = family_terms(likelihood.link, near)
        m = m + mu * (z - near)  # the tangent beyond: still convex and smooth
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
    likely = {
        "type": "ineq",
        "fun": lambda theta: (level - objective(theta)[0]) / unit,
        "jac": lambda theta: -objective(theta)[1] / unit,
    }
    constraints = [likely, *constraints]

    def solve(x: ndarray) -> ndarray:
        """The best feasible point for one arm; from the estimate where the given start leads outside of the set."""
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
        raise RuntimeError(f"SLSQP left the set at {point!r} for the direction {x!r}")

    values = np.einsum("kd,kd->k", arms, np.stack([solve(x) for x in arms]))
    second, best = np.sort(values)[-2:]
    return SLSQPDecision(argmax_parameter(values), values, float(best - second), estimate)


@dataclass(frozen=True)
class SLSQPDecisions:
    """Probe that repeats the decision of a certified learner by SLSQP, and times it.

    Returns 1 x 3: seconds, whether the arm is the same, and SLSQP's margin between its two best arms. The solver starts
    from the round's maximum likelihood estimate, so that it need not search for it.
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
    """Every ``every``-th round, but the first, in which there is no likelihood."""
    return [t for t in range(every, horizon + 1, every) if t > 1]


def decide_again(
    learner: CertifiedOptimism, problem: Problem, horizon: int, every: int
) -> dict[str, ndarray]:
    """SLSQP beside the certified decisions of one trial. Callers take the machine for themselves (``alone``).

    Returns:
        ``rounds``, every ``every``-th, and for each of them ``seconds`` of SLSQP, whether the arm
        is the ``same``, and SLSQP's ``margin`` between its two best arms.
    """
    probes = {"slsqp": SLSQPDecisions(learner)}
    trace = play(learner, problem, horizon, 1, record=sampled(horizon, every), probes=probes)
    seconds, same, margin = trace["slsqp"][0].T
    return {"rounds": trace.rounds, "seconds": seconds, "same": same, "margin": margin}


def own_seconds(learner: Learner, problem: Problem, horizon: int, every: int) -> ndarray:
    """The learner's own seconds in the rounds of ``sampled``, one trial, nothing beside it."""
    found = time_rounds([(learner, problem)], horizon, 1, [1])["seconds"]
    return found[0, 0, [t - 1 for t in sampled(horizon, every)]]


def against_certified(
    learner: CertifiedOptimism, problem: Problem, horizon: int, every: int
) -> dict[str, ndarray]:
    """``decide_again``, with the learner's own seconds in these rounds as ``certified``.

    They are the mean of a run before and one after.
    """
    with exclusive_lock():
        before = own_seconds(learner, problem, horizon, every)
        found = decide_again(learner, problem, horizon, every)
        after = own_seconds(learner, problem, horizon, every)
    return {**found, "certified": (before + after) / 2}


def time_decisions(
    runs: Sequence[tuple[Learner, Problem]], horizon: int, every: int, repetitions: int
) -> dict[str, ndarray]:
    """Seconds of each ``every``-th round of one trial; in each repetition all runs take turns.

    Of a learner over likelihood sets SLSQP's decision is timed, of another one its own round.

    Returns:
        "seconds": runs x N repetitions x rounds.
    """

    def seconds(learner: Learner, problem: Problem) -> ndarray:
        if isinstance(learner, CertifiedOptimism):
            return decide_again(learner, problem, horizon, every)["seconds"]
        return own_seconds(learner, problem, horizon, every)

    with exclusive_lock():
        # in turns, so that a slow spell of the machine meets all runs alike
        turns = [[seconds(*run) for run in runs] for _ in range(repetitions)]
    return {"seconds": np.stack(turns, 1)}


def slsqp_seconds(
    runs: dict[Run, tuple[Learner, Problem]], horizon: int, every: int, repetitions: int
) -> Seconds:
    """Seconds of each ``every``-th round with SLSQP, see ``time_decisions``; cached."""
    known = {"runs": list(runs.values()), "horizon": horizon, "every": every}
    found = cached_call("slsqp_seconds", time_decisions, **known, repetitions=repetitions)
    return Seconds(dict(zip(runs, found["seconds"])), dict.fromkeys(runs, 1))
