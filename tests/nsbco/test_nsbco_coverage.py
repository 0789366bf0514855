"""Tests of the coverage of Definition 2.1: counts, slacks and regimes computed by hand, and bonuses by horizon and dimension."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from companion.nsbco.experiments import theory
from paperlib import stats
from paperlib.core.rounds import observed_feedback
from paperlib.core.trace import Trace
from paperlib.nsbco import Abrupt, QuadraticDrift, Ramp, Step
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.probes import Optimistic, Shortfall
from paperlib.nsbco.theory.constants import Weak
from paperlib.play import Probe, play

T = 600


def trace(y, rbar):
    y, rbar = np.atleast_2d(y).astype(float), np.atleast_2d(rbar).astype(float)
    series = {"y": y, "rbar": rbar, "regret": 0 * y}
    return Trace(np.arange(1, y.shape[1] + 1), series, {}, np.zeros(1), [*range(len(y))], {})


@pytest.fixture(scope="module")
def run():
    learner = GradientAscent()
    probes = {
        "y": observed_feedback,
        "rbar": Optimistic(learner),
        "worst": Probe(Shortfall(QuadraticDrift()), "max"),
    }
    return play(learner, QuadraticDrift(), T, 30, record="all", probes=probes)


def test_paths():
    found = {name: theory.instance(p, T) for name, p in theory.paths(T).items()}
    assert [round(w.variation, 6) for w in found.values()] == [0, round(T**-0.5, 6), 0.1, 1.0]
    assert [w.changes for w in found.values()] == [0, T - 1, T - 1, T - 1]
    assert all(w.values.shape == (T,) and (w.values == 0.5).all() for w in found.values())
    # Delta_t <= V_T = T^{-1/2} is at most 1 / sqrt(t) in all rounds
    assert theory.instance(QuadraticDrift(Step(200)), T).drift.nonzero()[0].tolist() == [199]


def test_changes_of_a_path_that_all_trials_share():
    assert theory.instance(QuadraticDrift(Abrupt(3), environment=1), T).changes == 2


def test_slacks_by_hand():
    """Four rounds with b_0 = 1, rho = 3 / sqrt(t), lambda = 2, f* = 0.5 and a drift of 0.3 after two rounds."""
    path = theory.World(np.full(4, 0.5), np.array([0.0, 0.3, 0.0]), 1)
    y = np.array([[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, -1.0, -1.0]])
    rbar = np.array([[1.0, 0.9, 0.9, 0.9], [0.4, 0.9, -0.2, -0.05]])
    found = theory.covered(trace(y, rbar), path, np.array([1, 2, 4]), Weak(1.0, 3.0, 2.0))
    # the regime: Delta_t <= 1.5 / sqrt(t)
    assert (found.regime, found.trials) == (1.0, 2)
    # trial 1 is below f* in round 1, and never below f* - 0.6 afterwards
    first = found.optimism
    assert first.broken == 1 and first.first.tolist() == [math.inf, 1.0] and first.bare == 1
    least = np.array([0.4 - 0.5, 2**0.5 * (0.9 - 0.5), 2 * (-0.05 - 0.5 + 0.6)])
    assert first.slack[0] == pytest.approx(least)
    # sums of r-bar - y: 0.5, 0.9, 1.3, 1.7 in trial 0 and -0.1, 0.3, 1.1, 2.05 in trial 1
    second = found.closeness
    assert (second.broken, second.bare) == (0, 0) and (second.first == math.inf).all()
    bound = np.array([3.0, 3 / 2**0.5, 1.5 + 0.6])
    left = np.array([0.5, 0.45, 2.05 / 4])
    assert second.slack[0] == pytest.approx(np.sqrt([1, 2, 4]) * (bound - left))
    assert found.gap == pytest.approx([max(0.5, 0.9 / 2**0.5, 1.3 / 3**0.5, 0.85), 2.05 / 2])
    clean = SimpleNamespace(optimism=SimpleNamespace(broken=0), trials=10)
    assert theory.share_broken([clean, found, clean], "optimism") == stats.proportion(1, 2)
    assert theory.share_broken([found], "closeness") == stats.proportion(0, 2)


def test_drift_term():
    """The drift term lowers the bound of property 1 after a change."""
    path = theory.World(np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.0, 0.1, 0.0]), 1)
    y = np.full((1, 4), 0.45)
    weak = Weak(1.0, 3.0, 2.0)
    found = theory.covered(trace(y, y), path, np.array([4]), weak)
    assert found.optimism.broken == 1 and found.optimism.first.tolist() == [1.0]
    rbar = np.array([[0.6, 0.6, 0.45, 0.45]])
    found = theory.covered(trace(y, rbar), path, np.array([4]), weak)
    assert (found.optimism.broken, found.optimism.bare) == (0, 1)


def test_rounds_outside_the_regime_are_not_checked():
    path = theory.World(np.full(4, 0.5), np.array([1.0, 0.0, 0.0]), 1)
    rbar = np.array([[0.9, -1.0, -1.0, -1.0]])
    found = theory.covered(trace(rbar - 0.1, rbar), path, np.array([2]), Weak(1.0, 1.0, 1.0))
    assert found.regime == 0.25 and found.optimism.broken == 0
    assert found.optimism.bare == 1 and found.optimism.slack[0, 0] == pytest.approx(-(2**0.5) / 2)


def test_a_learner_without_a_bonus_is_flagged(run):
    path, rounds = theory.instance(QuadraticDrift(), T), np.array([1, 10, T])
    found = theory.covered(run, path, rounds)
    assert found.optimism.broken <= 3 and found.closeness.broken == 0
    mean = run["y"].cumsum(1) / np.arange(1, T + 1)
    bare = theory.covered(trace(run["y"], mean), path, rounds)
    assert bare.optimism.broken == 30 and bare.optimism.check["verdict"] == "fails"


def test_lemma_3_1(run):
    printed, corrected, numeric = theory.lemma_3_1(run, theory.instance(QuadraticDrift(), T))
    assert [c.verdict for c in (printed, corrected, numeric)] == ["vacuous here"] * 2 + ["holds"]
    # rewards that stay far from f*
    low = trace(np.full((2, T), -0.5), np.zeros((2, T)))
    assert theory.lemma_3_1(low, theory.instance(QuadraticDrift(), T))[2].verdict == "fails"


def test_needed_bonus(run):
    """The shortfall from all rounds equals the result of the probe with the running maximum."""
    path, rounds = theory.instance(QuadraticDrift(), T), np.array([4, 100, T])
    short = theory.shortfalls(run, path, rounds)
    assert short[:, -1] == pytest.approx(run.last("worst"), abs=1e-9)
    assert (np.diff(short, axis=1) >= 0).all() and theory.needed(short).shape == (3,)
    # with a smaller bonus than needed, r-bar is below f* in some round
    t, worst = np.arange(1, T + 1), short[:, -1]
    mean = run["y"].cumsum(1) / t
    for factor, below in ((0.99, True), (1.01, False)):
        bar = mean + factor * worst[:, None] / np.sqrt(t)
        assert ((bar < 0.5 - 1e-12).any(1) == below).all()
    moving = theory.World(np.linspace(0.5, 0.4, T), np.zeros(T - 1), 0)
    assert (theory.shortfalls(run, moving, rounds) <= short + 1e-12).all()


def test_bonus_of_a_dimension():
    assert theory.bonus_for(np.full(20, 1.0)) == 2.0
    assert theory.bonus_for(np.full(20, 4.0)) == 5.0
    problem = QuadraticDrift(Abrupt(theory.SEGMENTS), 4)
    part = problem.part([5], T)
    assert problem.variation(part, T)[0] == pytest.approx(4.0) and part.shape == (1, 4)


def test_bonuses():
    """Numbers of T4 and T5: corrected and numeric bonus at T = 1e4 and 1e6, and the printed 2 kappa_0."""
    found = theory.bonuses([2, 2, 1], [1e4, 1e6, 1e4])
    assert found["printed"] == pytest.approx([2 * 8.35832501e7, 2 * 3.85012898e8, 2 * 2.21067426e7])
    assert found["corrected"][:2] == pytest.approx([4.08406023e4, 1.557642e5])
    assert found["numeric"] == pytest.approx([409.496, 2072.11, 353.4], rel=2e-4)
    assert (found["numeric, this problem"] < found["numeric"]).all()
    with pytest.raises(ValueError, match="zip"):
        theory.bonuses([1, 2], [1e4])


def test_ramp_has_the_stated_variation():
    assert theory.paths(100)["ramp"].path == Ramp(0.1)
