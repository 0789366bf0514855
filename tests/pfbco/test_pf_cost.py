"""How seconds are taken, and how often FKM projects."""

import numpy as np
import pytest
import torch

from paperlib.learners.doubling import Doubling
from paperlib.pfbco import FKM, BallLinear, MatrixCompletion, QuadraticPolytope
from paperlib.pfbco.experiments import cost
from paperlib.core.rounds import Probe
from paperlib.play import play
from paperlib.maths.sets import Ball
from paperlib.core.streams import Streams

PROBLEM = QuadraticPolytope(3, 2)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


# ---- seconds -----------------------------------------------------------------------------------------------


def test_methods_by_learner_and_setting():
    runs = cost.methods({"a": PROBLEM}, ("PF", "FKM"), 0.2, suffix=", solver")
    assert list(runs) == [("PF, solver", "a"), ("FKM, solver", "a")]
    assert runs["FKM, solver", "a"] == (Doubling(FKM(0.2)), PROBLEM)
    assert list(cost.methods({"a": PROBLEM, "b": PROBLEM})) == [(name, setting) for setting in "ab" for name in cost.METHODS]


def test_timed_runs_are_kept():
    runs = cost.methods({"a": PROBLEM}, ("PF", "FKM"))
    first = cost.time_runs(runs, 12, 2, trials=3)
    assert list(first) == list(runs) and all(x.shape == (2, 12) and (x > 0).all() for x in first.values())
    again = cost.time_runs(runs, 12, 2, trials=3)
    assert all(np.array_equal(again[key], first[key]) for key in runs)
    assert not np.array_equal(cost.time_runs(runs, 12, 2, trials=3, seed=1)["PF", "a"], first["PF", "a"])


class Slow:
    """A set of which every call is known to take a while, and which notes what it is asked."""

    R = torch.tensor([2.0], dtype=torch.float64)
    dim = 2

    def __init__(self):
        self.asked = []

    def lmo(self, c):
        self.asked.append(c)

    def project(self, z):
        self.asked.append(z)
        cost.time.sleep(0.01)


class OnSlow:
    """A problem on that set."""

    def __init__(self):
        self.cset = Slow()

    def init(self, trials, horizon, draw, **tkwargs):
        return None

    def context(self, world, t):
        return self


def test_single_calls_are_timed_outside_the_set():
    problem = OnSlow()
    found = cost._calls({"slow": problem}, 4, 0)
    assert {key: len(x) for key, x in found.items()} == {"slow|lmo": 4, "slow|project": 4}
    assert (found["slow|project"] >= 0.01).all() and (found["slow|lmo"] < 0.01).any()
    assert all(torch.linalg.vector_norm(z).item() == pytest.approx(4.0) for z in problem.cset.asked)  # twice the radius


def test_single_calls_are_kept():
    problems = {"a": PROBLEM, "b": MatrixCompletion(3, 2)}
    first = cost.time_calls(problems, 3)
    assert {name: set(found) for name, found in first.items()} == {"a": {"lmo", "project"}, "b": {"lmo", "project"}}
    assert np.array_equal(cost.time_calls(problems, 3)["b"]["lmo"], first["b"]["lmo"])
    with pytest.raises(ValueError, match="count=0"):
        cost.time_calls(problems, 0)


TIMED = {("PF", "a"): np.array([[1e-3, 2e-3, 9e-3], [4e-3, 4e-3, 40e-3]]), ("FKM", "a"): np.array([[4e-3, 4e-3, 8e-3], [6e-3, 8e-3, 100e-3]])}


def test_medians_of_rounds_by_repetition():
    assert cost.typical(TIMED["PF", "a"]) == pytest.approx([2e-3, 4e-3])
    found = cost.bars(TIMED)
    assert found["PF"]["a"] == pytest.approx([2.0, 4.0]) and found["FKM"]["a"] == pytest.approx([4.0, 8.0])
    assert cost.diamonds(TIMED, 10) == {"PF": {"a": pytest.approx(0.3)}, "FKM": {"a": pytest.approx(0.6)}}


def test_ratios_over_repetitions():
    found = cost.median_ratio(TIMED["FKM", "a"], TIMED["PF", "a"])
    assert (found.estimate, found.low, found.high, found.n) == (pytest.approx(2), pytest.approx(2), pytest.approx(2), 2)
    assert found.method == "ratio of median seconds, 95 % bootstrap over repetitions together"
    mean = cost.mean_ratio(TIMED["FKM", "a"], TIMED["PF", "a"])  # means 4 and 16 against 16 / 3 and 38
    assert mean.estimate == pytest.approx((16 + 114) / (12 + 48)) and (mean.low, mean.high) == (pytest.approx(16 / 12), pytest.approx(114 / 48))
    assert mean.method.startswith("ratio of mean seconds")


# ---- how often ---------------------------------------------------------------------------------------------


class Point:
    """A state as far as the probe reads one."""

    def __init__(self, x):
        self.x, self.eta, self.delta, self.alpha = x, *(torch.tensor([value], dtype=torch.float64) for value in (0.5, 0.2, 0.1))


def test_steps_that_leave_the_set():
    streams, cset = Streams(0, range(200)), Ball.of(2)
    u = streams.at(3).sphere("direction", 2)
    seen = type("Round", (), {})()
    seen.context, seen.world, seen.t = type("T", (), {"cset": cset}), type("W", (), {"streams": streams}), 3
    seen.before, seen.feedback = Point(torch.zeros(200, 2, dtype=torch.float64)), torch.linspace(-0.4, 0.4, 200, dtype=torch.float64)
    # A step of length eta |f| n / delta = 5 |f| from 0, against a ball of radius 1 - alpha = .9.
    assert cost.Leaves()(seen).tolist() == (5 * seen.feedback.abs() > 0.9).tolist()
    seen.before = Point(-0.8 * u)
    assert cost.Leaves()(seen).tolist() == ((-0.8 - 5 * seen.feedback).abs() > 0.9).tolist()


def test_the_probe_counts_the_rounds_in_which_the_projection_moves():
    problem, learner = BallLinear(2), Doubling(FKM(0.5))
    trace = play(learner, problem, 40, 3, record="all", probes={"leaves": Probe(cost.Leaves(), "sum"), "far": Probe(lambda seen: torch.linalg.vector_norm(seen.after.base.x, dim=1) / (1 - seen.after.base.alpha))})
    steps, far = np.diff(trace["leaves"], axis=1, prepend=0), trace["far"]
    inside = np.array([t for t in range(40) if (t + 2) & (t + 1)])  # the last round of an epoch is followed by a new start
    assert 0 < trace["leaves"][:, -1].mean() < 40
    np.testing.assert_array_equal(steps[:, inside] == 1, far[:, inside] > 1 - 1e-9)
