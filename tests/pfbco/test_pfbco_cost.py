"""Tests of the timed calls, of the printed run times, and of the number of FKM's projections."""

import time

import numpy as np
import pytest
import torch

from companion.pfbco.experiments.calls import time_answers, time_oracles
from companion.pfbco.experiments.cost import (
    METHODS,
    methods,
    microseconds,
    time_calls,
    with_answers,
)
from companion.store import Seconds
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.learners.wrapper import Doubling
from paperlib.maths.sets import Ball
from paperlib.pfbco import FKM, BallLinear, MatrixCompletion, QuadraticPolytope
from paperlib.pfbco.probes import leaves_set
from paperlib.play import play

PROBLEM = QuadraticPolytope(3, 2)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def test_methods_by_learner_and_setting():
    runs = methods({"a": PROBLEM}, ("PF", "FKM"), suffix=", solver")
    assert list(runs) == [("PF, solver", "a"), ("FKM, solver", "a")]
    assert runs["FKM, solver", "a"] == (Doubling(FKM(0.1)), PROBLEM)
    assert list(methods({"a": PROBLEM, "b": PROBLEM})) == [
        (name, setting) for setting in "ab" for name in METHODS
    ]


class Slow:
    """A set whose projection takes at least 10 ms and that records its arguments."""

    R = torch.tensor([2.0], dtype=torch.float64)
    dim = 2

    def __init__(self):
        self.asked = []

    def lmo(self, c):
        self.asked.append(c)

    def project(self, z):
        self.asked.append(z)
        time.sleep(0.01)


class OnSlow:
    """A problem on a slow set."""

    def __init__(self):
        self.cset = Slow()

    def init(self, trials, horizon, draw, **tkwargs):
        return None

    def context(self, instance, t):
        return self


def test_single_calls_are_timed_outside_the_set():
    problem = OnSlow()
    found = time_oracles([problem], 4, 0)
    assert {call: x.shape for call, x in found.items()} == {"lmo": (1, 4), "project": (1, 4)}
    assert (found["project"] >= 0.01).all() and (found["lmo"] < 0.01).any()
    # The points are at twice the radius R.
    assert all(torch.linalg.vector_norm(z).item() == pytest.approx(4.0) for z in problem.cset.asked)


def test_single_calls_are_cached():
    problems = {"a": PROBLEM, "b": MatrixCompletion(3, 2)}
    first = time_calls(problems, 3)
    assert set(first) == {(call, name) for call in ("lmo", "project") for name in problems}
    assert all(x.shape == (1, 3) and (x > 0).all() for x in first.values())
    assert np.array_equal(time_calls(problems, 3)["lmo", "b"], first["lmo", "b"])


class Steep:
    """A problem whose gradient takes at least 10 ms."""

    def __init__(self):
        self.asked = []
        self.cset = Slow()

    def init(self, trials, horizon, draw, **tkwargs):
        return None

    def context(self, instance, t):
        return self

    def respond(self, instance, t, action, wants, draw):
        self.asked.append((t, wants))
        if wants == "gradient":
            time.sleep(0.01)


def test_feedback_is_timed_after_the_round_is_drawn():
    problem = Steep()
    found = time_answers([problem], 3, 2, 0)
    assert {wants: x.shape for wants, x in found.items()} == {
        "loss": (1, 2, 3),
        "gradient": (1, 2, 3),
    }
    assert (found["gradient"] >= 0.01).all() and found["loss"].min() < 0.01
    assert problem.asked[:6] == [
        (t, wants) for t in (0, 1) for wants in ("loss", "loss", "gradient")
    ]


def test_rounds_with_the_feedback_of_the_problem():
    """PF's rounds include the loss, and StochOCG's the gradient; the results are cached."""
    problems = {"a": PROBLEM, "b": MatrixCompletion(3, 2)}
    rounds = {(name, setting): np.full((2, 4), 5.0) for name in METHODS for setting in problems}
    found = with_answers(Seconds(rounds, {}), problems, 4, 2)
    again = with_answers(Seconds(rounds, {}), problems, 4, 2)
    assert set(found) == set(rounds) and all(x.shape == (2, 1) for x in found.values())
    assert all((x > 5.0).all() and (x < 6.0).all() for x in found.values())
    assert all(np.array_equal(found[run], again[run]) for run in found)
    assert np.array_equal(found["PF", "a"], found["FKM", "a"])
    assert not np.array_equal(found["PF", "a"], found["StochOCG", "a"])


def test_microseconds_per_round():
    rounds = {
        ("PF", "a"): np.array([[1e-6, 2e-6, 90e-6], [4e-6, 4e-6, 1e-6]]),
        ("FKM", "a"): np.array([[3e-6, 6e-6, 9e-6], [6e-6, 6e-6, 60e-6]]),
        ("StochOCG", "a"): np.full((2, 3), 1.5e-6),
    }
    assert (
        microseconds(Seconds(rounds, {}), "a")
        == "     3.0      6.0      1.5        2.00       0.50"
    )
    assert microseconds(Seconds(rounds, {}), "a", "mean").split()[0] == f"{102 / 6:.1f}"
    assert microseconds(Seconds(rounds, dict.fromkeys(rounds, 50)), "a").split()[:2] == [
        "0.1",
        "0.1",
    ]


class Point:
    """A state with the fields that the probe reads."""

    def __init__(self, x):
        self.x, self.eta, self.delta, self.alpha = (
            x,
            *(torch.tensor([value], dtype=torch.float64) for value in (0.5, 0.2, 0.1)),
        )


def test_steps_that_leave_the_set():
    streams, cset = Streams(0, range(200)), Ball.of(2)
    u = streams.at(3).sphere("direction", 2)
    seen = type("Round", (), {})()
    seen.context, seen.instance, seen.t = (
        type("T", (), {"cset": cset}),
        type("W", (), {"streams": streams}),
        3,
    )
    seen.before, seen.feedback = (
        Point(torch.zeros(200, 2, dtype=torch.float64)),
        torch.linspace(-0.4, 0.4, 200, dtype=torch.float64),
    )
    # A step of length eta |f| n / delta = 5 |f| from 0 leaves the ball of radius 1 - alpha = 0.9 if it is longer than 0.9.
    assert leaves_set(seen).tolist() == (5 * seen.feedback.abs() > 0.9).tolist()
    seen.before = Point(-0.8 * u)
    assert leaves_set(seen).tolist() == ((-0.8 - 5 * seen.feedback).abs() > 0.9).tolist()


def test_the_probe_counts_the_rounds_in_which_the_projection_moves():
    problem, learner = BallLinear(2), Doubling(FKM(0.5))
    trace = play(
        learner,
        problem,
        40,
        3,
        record="all",
        probes={
            "leaves": Probe(leaves_set, "sum"),
            "far": Probe(
                lambda seen: (
                    torch.linalg.vector_norm(seen.after.base.x, dim=1) / (1 - seen.after.base.alpha)
                )
            ),
        },
    )
    steps, far = np.diff(trace["leaves"], axis=1, prepend=0), trace["far"]
    # The last round of an epoch is left out, because a new epoch starts after it.
    inside = np.array([t for t in range(40) if (t + 2) & (t + 1)])
    assert 0 < trace["leaves"][:, -1].mean() < 40
    np.testing.assert_array_equal(steps[:, inside] == 1, far[:, inside] > 1 - 1e-9)
