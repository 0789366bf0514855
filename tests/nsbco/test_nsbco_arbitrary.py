"""Stationary regret against the best fixed point, on sequences whose best fixed point is known by hand."""

import numpy as np
import pytest

from companion.nsbco.experiments import arbitrary
from paperlib.nsbco.learners.gradient import Still
from paperlib.play import play


def test_the_best_fixed_point_by_hand():
    """Fast: 0, which loses 1/8 per round. Slow: e_1 / 4, which loses 1/32 in three quarters of the rounds and 9/32 in the last."""
    T, (fast, slow) = 256, arbitrary.SEQUENCES.values()
    assert arbitrary.in_hindsight(fast(T), T) == pytest.approx(T / 8)
    assert arbitrary.in_hindsight(slow(T), T) == pytest.approx(T * (0.75 / 32 + 0.25 * 9 / 32))


@pytest.mark.parametrize("sequence", arbitrary.SEQUENCES)
def test_no_fixed_point_is_better(sequence):
    T = 256
    problem = arbitrary.SEQUENCES[sequence](T)
    theta = problem.centers(np.zeros((1, 1)), np.arange(T), T)[0]
    points = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2), -1).reshape(-1, 1, 2)
    losses = ((theta - points) ** 2).sum((1, 2)) / 2
    assert losses.min() >= arbitrary.in_hindsight(problem, T) - 1e-9


def test_the_static_baseline():
    """It plays 0: the best fixed point of the fast sequence, and 1/4 away from that of the slow one."""
    T = 256
    for sequence, expected in (("fast", 0.0), ("slow", T / 32)):
        problem = arbitrary.SEQUENCES[sequence](T)
        regret = play(Still(), problem, T, 2, record=1).last()
        found = arbitrary.stationary_regret(regret, problem, T)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_slope_is_that_of_the_mean():
    found = arbitrary.slope({T: np.array([1.0, 3.0]) * T**0.5 for T in (64, 16, 256)})
    assert found.estimate == pytest.approx(0.5) and found.n == 2
