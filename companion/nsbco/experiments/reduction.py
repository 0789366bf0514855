"""The reduction of Lemma 4.1 around EXP3-IX on a grid of points: four sequences of functions, and a check of the lemma on each.

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

from ..proofs import reduction
from .theory import World

ARMS = 5  # K; with 5 points, theta = 1/2 is on the grid
PERIOD = 64  # rounds between two changes of the last sequence


def sequences(horizon: int) -> dict[str, GridDrift]:
    """Return four problems on the grid, shared by all trials: stationary, V_T = T^{-1/2}, one change, a change every 64 rounds."""
    paths = {
        "stationary": Stationary(),
        "drift": Ramp(horizon**-0.5),
        "one change": Abrupt(2),
        "alternation": Alternation(PERIOD),
    }
    return {name: GridDrift(path, ARMS, environment=0) for name, path in paths.items()}


def policy(horizon: int) -> StationaryToWeak:
    """Return EXP3-IX, which needs no horizon, with the regret bound that is valid with probability 1 - T^{-2}."""
    return StationaryToWeak(Exp3IX(), *regret_bound(ARMS, horizon), horizon)


def sequence(problem: GridDrift, horizon: int) -> World:
    """Return the functions of a problem of ``sequences``."""
    instance = problem.init(1, horizon, Streams(0, range(1)).at(-1), dtype=torch.float64)
    means = instance.means[0].numpy()
    drift = np.abs(np.diff(means, axis=0)).max(1)
    return World(means, drift, int((drift > 0).sum()))


def lemma_4_1(trace: Trace, instance: World, horizon: int) -> dict[str, Check]:
    """Check the lemma's condition on the policy, its statistic, and both properties, the second one with each version of rho.

    "printed" uses r-bar with the printed e(t), which is half of the corrected one. "with t" does the same, and its rho has t where the lemma
    has T. "printed rho, our e" uses r-bar with the corrected e(t).

    Args:
        trace: every round, with "y", "arm" and "rbar".
        instance: functions of the run.
        horizon: T.
    """
    t, y, rbar, drift = np.arange(1, horizon + 1), trace["y"], trace["rbar"], instance.drift
    rt = reduction.exp3_ix(ARMS, horizon).at(t)
    smaller = rbar - reduction.off_printed(t, horizon)  # our e(t) is twice the printed e(t)
    played = instance.values[t - 1, trace["arm"].astype(int)]
    return {
        "regret bound": reduction.stationary_regret(played, instance.values, rt),
        "statistic": reduction.lemma_4_1_statistic(rbar, y, rt),
        "property 1": reduction.lemma_4_1_optimism(rbar, instance.values.max(1), drift, rt),
        "property 2": reduction.lemma_4_1_closeness(rbar, y, drift, rt),
        "printed": reduction.lemma_4_1_printed(smaller, y, drift, rt),
        "with t": reduction.lemma_4_1_with_t(smaller, y, drift, rt),
        "printed rho, our e": reduction.lemma_4_1_printed(rbar, y, drift, rt),
    }


class Outcome(NamedTuple):
    """Summary of a check in every round, without its entries, which are 3 million numbers at T = 2^14."""

    verdict: str
    ratio: float  # the largest observed / bound
    broken: int  # trials with a failure in some round
    trials: int
    share: float  # fraction of all rounds of all trials with a failure
    regime: float  # fraction of rounds where the statement is non-vacuous
    worst: np.ndarray  # the largest observed / bound over trials, at the given rounds
    line: dict  # the check in the format of the figures' data


def outcome(check: Check, rounds: Any) -> Outcome:
    """Return the summary of a check, R x T, whose bound is infinite in excluded rounds. ``rounds``: counted from 1."""
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
    """Return the rounds of a plot, evenly spaced on a log axis and including T."""
    return np.unique(np.geomspace(1, horizon, 120).round().astype(int))
