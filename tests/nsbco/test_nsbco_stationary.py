"""Tests of stationary runs, of the printed N_0, of Remark 3.2, and of stationary regret on sequences computed by hand."""

import math

import numpy as np
import pytest
import torch

from companion.nsbco.experiments import stationary
from companion.nsbco.experiments.settings import Told, remark_3_2
from paperlib.core.trace import Trace
from paperlib.nsbco import QuadraticDrift
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.gradient import StaticBaseline
from paperlib.play import play


def trace_of(rounds, regret):
    rounds = np.asarray(rounds)
    return Trace(rounds, {"regret": regret}, {}, np.zeros(len(rounds)), [*range(len(regret))], {})


def test_recorded_rounds_include_the_powers_of_two():
    found = stationary.octaves(10)
    assert found == sorted(set(found)) and found[0] == 1 and found[-1] == 1024
    assert {2**k for k in range(11)} <= set(found)


def test_slope_of_the_mean_from_the_first_round_on():
    t = np.array(stationary.octaves(12), float)
    late = np.where(t < 64, 1.0, t**0.6 * 64**-0.6)
    trace = trace_of(t, np.outer([1.0, 3.0, 8.0], late))
    found = stationary.slope(trace, 6, 12)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.6, 0.6, 0.6))
    assert stationary.slope(trace, 0, 12).estimate < 0.5


def test_spread_is_scale_invariant():
    a = np.random.default_rng(0).lognormal(0.0, 1.0, 400)
    b = np.random.default_rng(1).lognormal(5.0, 0.2, 400)
    assert stationary.spread(a) == pytest.approx(stationary.spread(7 * a))
    found = stationary.spread_ratio(a, b)
    assert found.low < math.exp(1.645 * 0.8) < found.high and found.n == 400
    # trials are resampled in pairs, therefore this interval has no width
    same = stationary.spread_ratio(a, 3 * a)
    assert (same.low, same.high) == pytest.approx((1.0, 1.0))


def test_optimism_is_a_fraction_of_trials():
    found = stationary.optimistic_in(np.array([0.4, 0.9, 1.0, 1.1]), 1.0)
    assert found.estimate == 0.75 and found.low < 0.75 < found.high


def test_printed_n0_leaves_the_set_and_raises_an_error():
    problem, printed = QuadraticDrift(), stationary.PRINTED
    assert printed.N0 == 5
    norm = np.linalg.norm(stationary.first_query(printed, problem))
    assert norm == pytest.approx(0.5 + 5**-0.25, abs=1e-12)
    with pytest.raises(
        ValueError,
        match="N0 must be at least 16 with h=1, so that delta_0.*, got N0=5 with delta_0 = 0.66874",
    ):
        play(printed, problem, 4, 1)
    corrected = GradientAscent(h=1.0, start=(0.5, 0.0))
    assert np.linalg.norm(stationary.first_query(corrected, problem)) == pytest.approx(1.0)


def test_only_the_given_bounds_differ():
    for L in (1.2, 8.0):
        assert float(stationary.task_of(QuadraticDrift(smoothness=L)).smoothness) == L


def test_the_papers_units_are_feasible_with_their_noise():
    for problem in stationary.LOUD.values():
        play(stationary.LITERAL, problem, 8, 2)
    assert float(stationary.LITERAL.first(stationary.task_of(QuadraticDrift()))[0]) == 16


# ---- Remark 3.2 ---------------------------------------------------------------------------------------------


def test_remark_3_2_gives_powers_of_the_logarithm():
    learner = remark_3_2(2**20)
    told = learner.told(stationary.task_of(QuadraticDrift()))
    x = 20 * math.log(2)
    assert (float(told.smoothness), float(told.concavity), float(told.margin)) == (x, 1 / x, 1 / x)
    assert float(learner.first(told)[0]) == 36934
    growth = learner.batch(told, torch.tensor([1]))[0] / 36934
    assert float(growth) == pytest.approx(1.021, abs=5e-4)


def test_with_remark_3_2_the_center_stays_for_a_long_time():
    """The first batch is longer than the horizon, therefore all regret is due to the center 0 and the distance of the queries."""
    T = 2**10
    trace = play(remark_3_2(T), QuadraticDrift(amplitude=0.0), T, 2)
    width = math.ceil(math.log(T) ** 4) ** -0.25
    assert trace.last() == pytest.approx(T / 2 * (0.25 + width**2))


def test_true_bounds_give_algorithm_2():
    problem, base = QuadraticDrift(), GradientAscent()
    told = play(Told(), problem, 300, 3, 0)
    assert (told["regret"] == play(base, problem, 300, 3, 0)["regret"]).all()
    other = play(Told(smoothness=4.0), problem, 300, 3, 0)
    assert (told.last() != other.last()).all()
    with pytest.raises(
        ValueError, match=r"concavity must be a positive number from 1e-30 to 1e\+30, got 0.0"
    ):
        Told(concavity=0.0)
    with pytest.raises(
        ValueError, match="^concavity / smoothness must be above 0 and below 1, got 1"
    ):
        play(Told(smoothness=1.0), problem, 4, 1)


# ---- Arbitrarily changing sequences -----------------------------------------------------------------------


def test_the_best_fixed_point_by_hand():
    """The best fixed points are 0 for the fast sequence and e_1 / 4 for the slow one.

    Their regret is 1/8 per round, and 1/32 per round in three quarters of the rounds and 9/32 in the rest.
    """
    T, (fast, slow) = 256, stationary.SEQUENCES.values()
    assert stationary.in_hindsight(fast(T), T) == pytest.approx(T / 8)
    assert stationary.in_hindsight(slow(T), T) == pytest.approx(T * (0.75 / 32 + 0.25 * 9 / 32))


@pytest.mark.parametrize("sequence", stationary.SEQUENCES)
def test_best_fixed_point_is_optimal(sequence):
    T = 256
    problem = stationary.SEQUENCES[sequence](T)
    theta = problem.centers(np.zeros((1, 1)), np.arange(T), T)[0]
    points = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2), -1).reshape(-1, 1, 2)
    losses = ((theta - points) ** 2).sum((1, 2)) / 2
    assert losses.min() >= stationary.in_hindsight(problem, T) - 1e-9


def test_the_static_baseline():
    """The static baseline plays 0, the best fixed point of the fast sequence, which is 1/4 away from the slow sequence's."""
    T = 256
    for sequence, expected in (("fast", 0.0), ("slow", T / 32)):
        problem = stationary.SEQUENCES[sequence](T)
        regret = play(StaticBaseline(), problem, T, 2, record=1).last()
        found = stationary.stationary_regret(regret, problem, T)
        np.testing.assert_allclose(found, expected, atol=1e-9)
