"""The three estimators of Figure 2 as probes, and statistics of what they record.

Source: Calandriello et al. (2019), Section 3 and Figure 2.
Letters: R trials, T' recorded rounds.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

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


def estimators(kernel: Kernel, confidence: Confidence) -> dict[str, Estimator]:
    """By name: "own", as the learner has it; "sor", subset of regressors; "exact".

    "sor" has the state's dictionary and counters, "exact" the counters alone.
    """
    return {
        "own": Estimator(confidence),
        "sor": Estimator(confidence, BKB(kernel, confidence, variance="sor")),
        "exact": Estimator(confidence, ExactGPUCB(kernel, confidence)),
    }


def measures(
    kernel: Kernel, confidence: Confidence, names: tuple[str, ...] | None = None
) -> AccuracyProbes:
    """Numbers of estimators, of all without ``names``; "sor" needs a learner with a dictionary."""
    known = estimators(kernel, confidence)
    return AccuracyProbes(known["exact"], {name: known[name] for name in names or known})


def curves(kernel: Kernel, confidence: Confidence) -> dict[str, Callable]:
    """Probes of what a panel of Figure 2 shows, R x A each.

    "x", "f", "evaluations", "dictionary", and "own mean", "own sd", ... of each estimator.
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
    """Of all arms, the largest factor between a variance and the exact one, either way, R x T'.

    ``values``: from ``Measures.read``.
    """
    with np.errstate(divide="ignore"):
        return np.maximum(values[f"{kind} most"], 1 / values[f"{kind} least"])


FLOOR = 1e-6  # variances that differ by less are equal: rounding differs between processors


def worst_excess(values: dict[str, np.ndarray]) -> np.ndarray:
    """``worst_ratio`` minus 1, at least ``FLOOR``, R x T': what is equal up to 1e-6 is at the floor."""
    return (worst_ratio(values) - 1).clip(FLOOR)
