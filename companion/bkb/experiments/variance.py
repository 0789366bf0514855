"""The three estimators of Figure 2 as probes, and statistics of the recorded numbers.

Source: Calandriello et al. (2019), Section 3 and Figure 2.
Letters: R trials, T' recorded rounds.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from paperlib import stats
from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.probes import (
    AccuracyProbes,
    Estimate,
    Estimator,
    arm_points,
    estimator_curve,
    mean_rewards,
    true_means,
)
from paperlib.core.rounds import StateField
from paperlib.maths.gp import Kernel

ALPHA = 3  # factor between the variances in the claims, alpha at eps = 1/2
BOOTSTRAP = {"seed": 0, "resamples": 2000}


def estimators(kernel: Kernel, confidence: Confidence) -> dict[str, Estimator]:
    """Return the estimators by name: "own", the learner's posterior; "sor", subset of regressors; "exact".

    "sor" uses the dictionary and the pull counts of the state, "exact" uses the pull counts alone.
    """
    return {
        "own": Estimator(confidence),
        "sor": Estimator(confidence, BKB(kernel, confidence, variance="sor")),
        "exact": Estimator(confidence, ExactGPUCB(kernel, confidence)),
    }


def measures(
    kernel: Kernel, confidence: Confidence, names: tuple[str, ...] | None = None
) -> AccuracyProbes:
    """Return the accuracy probes of the estimators ``names``, by default of all; "sor" needs a learner with a dictionary."""
    known = estimators(kernel, confidence)
    return AccuracyProbes(known["exact"], {name: known[name] for name in names or known})


def curves(kernel: Kernel, confidence: Confidence) -> dict[str, Callable]:
    """Return the probes for a panel of Figure 2, R x A each.

    They are "x", "f", "evaluations", "dictionary", and for each estimator its mean and sd, for example "own mean".
    """
    shown = {
        "x": arm_points,
        "f": true_means,
        "evaluations": mean_rewards,
        "dictionary": StateField("mask"),
    }
    return shown | {
        f"{name} {part}": partial(estimator_curve, estimator, part)
        for name, estimator in estimators(kernel, confidence).items()
        for part in Estimate._fields
    }


def worst_ratio(values: dict[str, np.ndarray], kind: str = "own") -> np.ndarray:
    """Return the largest factor between a variance and the exact one over all arms, in either direction, R x T'.

    ``values``: from ``AccuracyProbes.read``.
    """
    with np.errstate(divide="ignore"):
        return np.maximum(values[f"{kind} most"], 1 / values[f"{kind} least"])


FLOOR = 1e-6  # Smaller relative differences count as equal, because rounding differs between processors.


def worst_excess(values: dict[str, np.ndarray]) -> np.ndarray:
    """Return ``worst_ratio`` minus 1, but at least ``FLOOR``, R x T': variances that are equal up to 1e-6 are at the floor."""
    return (worst_ratio(values) - 1).clip(FLOOR)


def greatest_coverage(coverage: np.ndarray, rounds: Sequence[int]) -> stats.Interval:
    """Return the greatest mean coverage of f among ``rounds``, with a bootstrap interval over draws. ``coverage``: R x T'."""
    found = {
        f"t = {t}": stats.bootstrap_mean(sample, of="coverage", bounds=(0, 1), **BOOTSTRAP)
        for t, sample in zip(rounds, coverage.T)
    }
    return stats.largest(found)


def lost_coverage(coverage: np.ndarray) -> stats.Interval:
    """Return the mean decrease of the coverage of f from the first to the last round. ``coverage``: R x T'."""
    lost = coverage[:, 0] - coverage[:, -1]
    return stats.bootstrap_mean(lost, of="loss of coverage", bounds=(-1, 1), **BOOTSTRAP)
