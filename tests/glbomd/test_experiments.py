"""What the notebooks share: settings, crossings, timings, and SLSQP's second opinion."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from paperlib.core.trace import Trace
from paperlib.glbomd import OFUGLB, Bernoulli, Poisson, SphereArms
from paperlib.glbomd import experiments as e
from paperlib.glbomd.experiments.slsqp import SLSQPDecisions


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def trace(curve):
    curve = np.asarray(curve, float)
    return Trace(np.arange(1, 1 + curve.shape[1]), {"regret": curve}, {}, np.zeros(curve.shape[1]), list(range(len(curve))), {})


@pytest.mark.parametrize("first, second, when", [
    ([[0, 3, 3, 3]], [[0, 1, 2, 4]], 4), ([[1, 1, 1, 1]], [[2, 2, 2, 2]], 1), ([[1, 9, 9, 9]], [[2, 2, 2, 2]], None),
    ([[1, 3, 1, 1]], [[2, 2, 2, 2]], 3), ([[0, 4], [0, 0], [9, 9]], [[1, 3], [1, 3]], 1),
])
def test_crossing(first, second, when):
    assert e.crossing(trace(first), trace(second)) == when


def test_settings_of_the_figures():
    logistic, counts = e.paper_learners(SphereArms(Bernoulli(), 3)), e.paper_learners(SphereArms(Poisson(), 3))
    assert list(logistic) == ["GLM-UCB", "GLOC", "RS-GLinCB", "OFUGLB", "OFULog-r", "ECOLog", "GLB-OMD", "greedy", "uniform", "longest"]
    assert logistic.keys() - counts.keys() == {"OFULog-r", "ECOLog"}
    assert round(logistic["GLM-UCB"].kappa) == 21 and round(counts["GLOC"].kappa) == 18
    assert counts["RS-GLinCB"].reward_bound == 100 and logistic["GLM-UCB"].reward_bound == 1
    assert logistic["GLB-OMD"].ridge == "dim" and logistic["greedy"].scale == 0
    assert e.trial_counts(logistic, 9, 5, 3) == {n: 5 if n in e.FITTED else 3 if n in e.ONE_TRIAL else 9 for n in logistic}
    assert all(learner.scale == 0.05 for learner in e.covertype_learners(0.05).values())


def test_exceedance_against_scipy():
    for S in (3, 5):
        problem = SphereArms(Poisson(), S)
        below = scipy_stats.poisson.cdf(100, problem.best_means(50)).prod()
        assert e.exceedance(problem, 100, 50) == pytest.approx(1 - below, rel=1e-9, abs=1e-15)
    assert e.exceedance(SphereArms(Poisson(), 3), 2, 50) > 0.9


def test_timed_runs_are_kept():
    runs = {("uniform", 3): (e.paper_learners(SphereArms(norm=3))["uniform"], SphereArms(norm=3))}
    first = e.time_runs(runs, 20, 2)
    assert first["uniform", 3].shape == (2, 20) and (first["uniform", 3] > 0).all()
    assert np.array_equal(e.time_runs(runs, 20, 2)["uniform", 3], first["uniform", 3])
    assert e.bars(first)["uniform"]["S = 3"].shape == (2,)
    assert e.diamonds({("uniform", 3): np.full((1, 4), 2.0)}, 10, trials=5) == {"uniform": {"S = 3": 4.0}}
    assert e.typical(np.array([[1.0, 2.0, 9.0]])).tolist() == [2]


def test_slsqp_agrees_with_the_certified_decisions():
    found = e.slsqp_rounds(OFUGLB(Bernoulli(), 3.0), SphereArms(norm=3.0), 40, every=4)
    assert found["rounds"].tolist() == list(range(4, 41, 4)) and np.median(found["seconds"]) > np.median(found["certified"]) > 0
    clear = found["margin"] > 1e-5
    assert clear.sum() > 5 and found["same"][clear].all()


def test_slsqp_is_timed_in_turns_with_another_learner():
    problem = SphereArms(norm=3.0)
    runs = {(name, 3): (learner, problem) for name, learner in e.paper_learners(problem).items() if name in ("OFUGLB", "GLB-OMD")}
    found = e.slsqp_seconds(runs, 40, 4, 3)
    assert all(seconds.shape == (3, 10) for seconds in found.values())
    assert (np.median(found["OFUGLB", 3], 1) > np.median(found["GLB-OMD", 3], 1)).all() and (found["GLB-OMD", 3] > 0).all()


def test_slsqp_sees_a_wrong_decision():
    """The probe must be able to disagree: it is handed a round with another arm."""
    from paperlib.play import play

    disagreements = []

    class Liar(SLSQPDecisions):
        def __call__(self, seen):
            out = super().__call__(seen._replace(action=(seen.action + 1) % 20))
            disagreements.append(float(out[0, 1]))
            return out

    play(OFUGLB(Bernoulli(), 3.0), SphereArms(norm=3.0), 10, 1, record=[5, 10], probes={"x": Liar(OFUGLB(Bernoulli(), 3.0))})
    assert disagreements == [0.0, 0.0]
