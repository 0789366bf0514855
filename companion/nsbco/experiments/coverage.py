"""Definition 2.1 as coverage: how often a bonus is too small along runs of Algorithm 2, how large it has to be, and how it grows with d.

Letters: R trials, T rounds, d dimensions, Delta_t variation up to t.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paperlib.checks import Check
from paperlib.core.trace import Trace
from paperlib.nsbco.problems.paths import Ramp, Rotation
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import Weak

from ..proofs import weakly
from ..proofs.lemmas import variation

B0 = 2.0  # the calibrated bonus
DELTA = 0.1  # share of trials in which property 1 may fail
TAIL = 0.95  # of what trials need
MARGIN = 1.25  # by which a calibrated bonus exceeds it
QUANTILES = (0.0, 0.05, 0.5)  # of slacks over trials
SEGMENTS = 5  # of the path on which dimensions are compared: V_T = 4, four changes

# What the problem is known to have beside the paper's assumptions: it sharpens the numeric bound alone.
KNOWN = {"noise": 0.1, "slope": 1.5, "curvature": 1.0, "start": 0.5, "quadratic": True}


# Runs of Algorithm 2 ----------------------------------------------------------------------------------------


def paths(horizon: int) -> dict[str, QuadraticDrift]:
    """Two that stay in the regime Delta_t <= 1 / sqrt(t) in all rounds, and two that leave it."""
    return {
        "stationary": QuadraticDrift(),
        "ramp": QuadraticDrift(Ramp(horizon**-0.5)),
        "rotation, V = 0.1": QuadraticDrift(Rotation(0.1)),
        "rotation, V = 1": QuadraticDrift(Rotation(1.0)),
    }


class World(NamedTuple):
    """A sequence of functions that all trials share."""

    values: np.ndarray  # T, f*_t; on a grid of points T x K, all their means
    drift: np.ndarray  # T - 1, Delta(t): the most that a point's value changes
    changes: int  # rounds in which one does

    @property
    def variation(self) -> float:
        """V_T."""
        return float(self.drift.sum())


def world(problem: QuadraticDrift, horizon: int) -> World:
    """Of a problem without a random path.

    Raises:
        ValueError: a path that is drawn.
    """
    if problem.path.drawn and problem.environment is None:
        raise ValueError(f"path={problem.path!r}; allowed: one that all trials share")
    t, part = np.arange(horizon), problem.part([problem.environment or 0], horizon)
    drift = problem.moves(part, t[:-1], horizon)[0]
    return World(problem.path.value(part, t, horizon)[0], drift, int((drift > 1e-15).sum()))


class Property(NamedTuple):
    """One of the two properties along runs."""

    check: dict  # in the regime, as figures keep it
    broken: int  # trials in which it fails in some round of the regime
    first: np.ndarray  # R, the round of the first failure, inf where there is none
    bare: int  # trials in which it fails in some round of all, were there no term for the drift
    slack: (
        np.ndarray
    )  # len(QUANTILES) x T', sqrt(t) times bound less observed, outside the regime too


class Coverage(NamedTuple):
    """Both properties along the runs of a path."""

    rounds: np.ndarray  # T', at which slacks are kept
    regime: float  # share of rounds with Delta_t <= rho(t) / lambda
    trials: int
    optimism: Property
    closeness: Property
    gap: np.ndarray  # R, the largest sqrt(t) (1 / t) sum of r-bar - y


def _property(check: Check, slack: np.ndarray, drift: np.ndarray, at: np.ndarray) -> Property:
    """``slack``: R x T, of all rounds; ``drift``: lambda Delta_t, T."""
    held = check.held
    failed, bare = ~held.all(1), (slack < drift - 1e-9).any(1)
    first = np.where(failed, (~held).argmax(1) + 1, math.inf)
    kept = np.quantile(np.sqrt(at) * slack[:, at - 1], QUANTILES, axis=0)
    return Property(check.to_json(), int(failed.sum()), first, int(bare.sum()), kept)


def covered(trace: Trace, path: World, rounds: np.ndarray, weak: Weak | None = None) -> Coverage:
    """Definition 2.1 held against every round of every trial.

    Args:
        trace: every round, with "y" and "rbar".
        path: of the run.
        rounds: at which slacks are kept, counted from 1.
        weak: b_0, rho and lambda; None is b_0 = 2, rho(t) = 6 / sqrt(t), lambda = 6.
    """
    weak = weak or theory.practical(B0)
    y, rbar = trace["y"], trace["rbar"]
    T = y.shape[1]
    t, moved = np.arange(1, T + 1), variation(path.drift, T)
    rho = weak.rho / np.sqrt(t)
    inside = float((moved <= rho / weak.lam).mean())
    first = weakly.optimism(rbar, path.values, path.drift, weak, DELTA)
    slack = rbar - (np.minimum.accumulate(path.values) - weak.lam * moved)
    optimism = _property(first, slack, weak.lam * moved[0], rounds)
    del first, slack
    second = weakly.closeness(rbar, y, path.drift, weak, DELTA)
    left = second.observed
    closeness = _property(second, rho + weak.lam * moved - left, weak.lam * moved[0], rounds)
    gap = (np.sqrt(t) * left).max(1)
    return Coverage(rounds, inside, len(y), optimism, closeness, gap)


def share_broken(found: Sequence[Coverage], name: str) -> tuple[float, int]:
    """The largest share over paths of trials in which a property fails, and of how many trials."""
    broken = [(getattr(one, name).broken / one.trials, one.trials) for one in found]
    return max(broken)


def lemma_3_1(trace: Trace, path: World, dim: int = 2) -> list[Check]:
    """Lemma 3.1 printed, corrected, and computed with what is known of the problem, on runs with h = 1/4 and N_0 = 1."""
    y, best, s = trace["y"], float(path.values[0]), theory.reference(dim)
    return [
        weakly.lemma_3_1_printed(y, best, path.drift, s),
        weakly.lemma_3_1(y, best, path.drift, s),
        weakly.lemma_3_1_numeric(y, best, path.drift, theory.reference(dim, **KNOWN)),
    ]


# How large a bonus has to be --------------------------------------------------------------------------------


def shortfalls(trace: Trace, path: World, rounds: np.ndarray) -> np.ndarray:
    """The largest sqrt(tau) (f*_tau - mean of y) up to each round, R x T': what b_0 has to be where the bound is the best value.

    ``trace``: every round, with "y"; ``rounds``: counted from 1.
    """
    y = trace["y"]
    t = np.arange(1, y.shape[1] + 1)
    short = np.sqrt(t) * (path.values - y.cumsum(1) / t)
    return np.maximum.accumulate(short, 1)[:, rounds - 1]


def needed(worst: np.ndarray) -> np.ndarray:
    """The bonus with which r-bar would never have been below f* in 95 % of trials. ``worst``: R x ..., largest ``Shortfall``."""
    return np.quantile(np.asarray(worst, float), TAIL, axis=0)


def bonus_for(worst: np.ndarray) -> float:
    """b_0 = max(2, 1.25 times what is needed). ``worst``: R."""
    return max(B0, MARGIN * float(needed(worst)))


BONUSES = {
    "printed": lambda d, T: 2 * sum(theory.kappa_0(theory.literal(d), T)),
    "corrected": lambda d, T: float(theory.bonus_corrected(theory.literal(d), T)),
    "numeric": lambda d, T: theory.bonus_numeric(theory.literal(d), T),
    "numeric, this problem": lambda d, T: theory.bonus_numeric(theory.reference(d, **KNOWN), T),
}


def bonuses(dims: Sequence[int], horizons: Sequence[float]) -> dict[str, np.ndarray]:
    """b_0 by how it is found, one number for each pair of the two lists, which go side by side."""
    pairs = list(zip(dims, horizons, strict=True))
    return {name: np.array([of(d, T) for d, T in pairs]) for name, of in BONUSES.items()}
