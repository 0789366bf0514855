"""Crossing times of regret curves, and the probability of a large reward."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from companion.glbomd.experiments.settings import crossing, exceedance
from paperlib.core.trace import Trace
from paperlib.glbomd.model.links import Poisson
from paperlib.glbomd.problems import SphereArms


def trace(curve):
    curve = np.asarray(curve, float)
    return Trace(
        np.arange(1, 1 + curve.shape[1]),
        {"regret": curve},
        {},
        np.zeros(curve.shape[1]),
        list(range(len(curve))),
        {},
    )


@pytest.mark.parametrize(
    "first, second, when",
    [
        ([[0, 3, 3, 3]], [[0, 1, 2, 4]], 4),
        ([[1, 1, 1, 1]], [[2, 2, 2, 2]], 1),
        ([[1, 9, 9, 9]], [[2, 2, 2, 2]], None),
        ([[1, 3, 1, 1]], [[2, 2, 2, 2]], 3),
        ([[0, 4], [0, 0], [9, 9]], [[1, 3], [1, 3]], 1),
    ],
)
def test_crossing(first, second, when):
    assert crossing(trace(first), trace(second)) == when


def test_exceedance_against_scipy():
    for S in (3, 5):
        problem = SphereArms(Poisson(), S)
        below = scipy_stats.poisson.cdf(100, problem.best_means(50)).prod()
        assert exceedance(problem, 100, 50) == pytest.approx(1 - below, rel=1e-9, abs=1e-15)
    assert exceedance(SphereArms(Poisson(), 3), 2, 50) > 0.9
