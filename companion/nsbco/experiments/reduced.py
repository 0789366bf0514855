"""The reduction of Lemma 4.1 around EXP3-IX on a grid of points: four sequences, and what the lemma says of each.

Letters: R trials, T rounds, K points.
"""

from typing import Any, NamedTuple

import numpy as np
import torch

from paperlib.checks import Check
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.nsbco.learners.exp3 import Exp3IX, regret_bound
from paperlib.nsbco.learners.reduction import StationaryToWeak
from paperlib.nsbco.problems.paths import Abrupt, Alternation, Ramp, Stationary
from paperlib.nsbco.problems.quadratic import GridDrift

from ..proofs import reduced, reduction
from .coverage import World

ARMS = 5  # K, at which theta = 1/2 is a point of the grid
PERIOD = 64  # rounds between two changes of the last sequence


def sequences(horizon: int) -> dict[str, GridDrift]:
    """Four worlds on the grid, each the same in all trials: nothing moves, V_T = T^{-1/2}, one change, one every 64 rounds."""
    paths = {
        "stationary": Stationary(),
        "drift": Ramp(horizon**-0.5),
        "one change": Abrupt(2),
        "alternation": Alternation(PERIOD),
    }
    return {name: GridDrift(path, ARMS, environment=0) for name, path in paths.items()}


def policy(horizon: int) -> StationaryToWeak:
    """EXP3-IX, which needs no horizon, with the bound on its regret that holds with probability 1 - T^{-2}."""
    return StationaryToWeak(Exp3IX(), *regret_bound(ARMS, horizon), horizon)


def sequence(problem: GridDrift, horizon: int) -> World:
    """What a world of ``sequences`` is, from the problem itself."""
    world = problem.init(1, horizon, Streams(0, range(1)).at(-1), dtype=torch.float64)
    means = world.means[0].numpy()
    drift = np.abs(np.diff(means, axis=0)).max(1)
    return World(means, drift, int((drift > 0).sum()))


def lemma_4_1(trace: Trace, world: World, horizon: int) -> dict[str, Check]:
    """What the lemma asks of the policy, its statistic, and the two properties, the second with either rho.

    "printed" takes from r-bar what e(t) has more than the printed one, and so does "with t", whose rho has t where the
    lemma prints T; "printed rho, our e" takes r-bar as it is here.

    Args:
        trace: every round, with "y", "arm" and "rbar".
        world: of the run.
        horizon: T.
    """
    t = np.arange(1, horizon + 1)
    rt = reduction.exp3_ix(ARMS, horizon).at(t)
    y, rbar, arm = trace["y"], trace["rbar"], trace["arm"].astype(int)
    played, best, drift = world.values[t - 1, arm], world.values.max(1), world.drift
    smaller = rbar - reduction.off_printed(t, horizon)  # e(t) is twice the printed one
    return {
        "regret bound": reduced.stationary_regret(played, world.values, rt),
        "statistic": reduced.lemma_4_1_statistic(rbar, y, rt),
        "property 1": reduced.lemma_4_1_optimism(rbar, best, drift, rt),
        "property 2": reduced.lemma_4_1_closeness(rbar, y, drift, rt),
        "printed": reduced.lemma_4_1_printed(smaller, y, drift, rt),
        "with t": reduced.lemma_4_1_with_t(smaller, y, drift, rt),
        "printed rho, our e": reduced.lemma_4_1_printed(rbar, y, drift, rt),
    }


class Outcome(NamedTuple):
    """What a check of every round comes to, without its entries: at T = 2^14 they are 3 million numbers each."""

    verdict: str
    ratio: float  # the largest observed / bound
    broken: int  # trials in which it fails in some round
    trials: int
    share: float  # of all rounds of all trials in which it fails
    regime: float  # share of rounds for which the statement says something
    worst: np.ndarray  # the largest observed / bound over trials, at the rounds asked for
    line: dict  # as figures keep it


def outcome(check: Check, rounds: Any) -> Outcome:
    """Of a check R x T, infinite where the statement leaves a round out. ``rounds``: counted from 1."""
    at, held = np.asarray(rounds, int) - 1, check.held
    return Outcome(
        check.verdict,
        check.ratio,
        int((~held.all(1)).sum()),
        len(held),
        float(1 - held.mean()),
        float(np.isfinite(check.bound).mean()),
        (check.observed[:, at] / check.bound[:, at]).max(0),
        check.to_json(),
    )


def grid(horizon: int) -> np.ndarray:
    """Rounds to draw at, evenly spaced on a log axis, T among them."""
    return np.unique(np.geomspace(1, horizon, 120).round().astype(int))


def along_horizons(horizons: Any) -> dict[str, Any]:
    """rt(T), rho(T) and Test 1's threshold 9 rho-hat(T) of EXP3-IX on ``ARMS`` points, and from where on each is below 2.

    ``horizons``: T', numbers.
    """
    rate = lambda T: reduction.exp3_ix(ARMS, T)
    T = np.asarray(horizons, float)
    rt, rho = np.array([float(rate(x).at(x)) for x in T]), np.array([rate(x).rho(x) for x in T])
    hat = 9 * 6 * (np.log2(T) + 1) * rho
    return {"T": T, "rt": rt, "rho": rho, "hat": hat, "first": reduction.first_below(rate)}


def first_round(horizon: int) -> int | None:
    """The first round in which rt(t) is below 2, which no regret exceeds; None: not within the horizon."""
    below = reduction.exp3_ix(ARMS, horizon).at(np.arange(1, horizon + 1)) < 2
    return int(below.argmax()) + 1 if below.any() else None


def broken(trace: Trace, world: World, horizon: int) -> dict[str, Check]:
    """The same statements on what is wrong on purpose: all of them must fail. Arguments as for ``lemma_4_1``."""
    t = np.arange(1, horizon + 1)
    rt, e = reduction.exp3_ix(ARMS, horizon).at(t), reduction.off(t, horizon)
    y, rbar, arm = trace["y"], trace["rbar"], trace["arm"].astype(int)
    played, best = world.values[t - 1, arm], world.values.max(1)
    return {
        "a hundredth of the regret bound": reduced.stationary_regret(
            played, world.values, rt / 100
        ),
        "the printed e": reduced.lemma_4_1_statistic(
            rbar - reduction.off_printed(t, horizon), y, rt
        ),
        "r-bar a mean alone": reduced.lemma_4_1_optimism(rbar - rt - e, best, world.drift, rt),
        "rt counted three times": reduced.lemma_4_1_closeness(rbar + 2 * rt, y, world.drift, rt),
    }
