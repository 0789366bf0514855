"""Tests of the probes against values recomputed from the rewards and the random numbers of the schedule."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from device_form import shortcuts

from paperlib.core import rounds
from paperlib.core.rounds import Probe, Round
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco import Abrupt, QuadraticDrift, probes
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg
from paperlib.play import play

LEARNER = Multiscale(GradientAscent(bonus=0.7), 0.3, 8.0)
PROBLEM = QuadraticDrift(Abrupt(5), environment=1)
WATCH = {
    "y": rounds.observed_feedback,
    "x": rounds.played_action,
    "z": probes.center,
    "rbar": probes.Optimistic(LEARNER),
    "tests": probes.TestStatistics(LEARNER),
    "order": probes.active_order,
    "live": probes.live_windows,
    "block": lambda seen: seen.before.n,
    "restarts": probes.restarts,
    "log": probes.LOG,
}


@pytest.fixture(scope="module")
def trace():
    run = play(LEARNER, PROBLEM, 3000, 3, 0, record="all", probes=WATCH)
    tests = run["tests"]
    assert (tests[:, :, 0] == run["rbar"]).all()
    apart = {"U": tests[:, :, 1], "second": tests[:, :, 2], "first": tests[:, :, 3:]}
    return replace(run, series=run.series | apart)


def anew(y, rbar, live, restarts):
    """Return U_t and the statistics of both tests for one trial, from their definitions."""
    T, O = live.shape
    U, first, second = np.zeros(T), np.full((T, O), -np.inf), np.zeros(T)
    begin = n = 0
    for t in range(T):
        if t - begin == 2**n:
            begin, n = t, n + 1
        U[t] = rbar[begin : t + 1].min()
        length = t + 1 - begin
        second[t] = np.mean(rbar[begin : t + 1] - y[begin : t + 1]) * length**0.5
        for m in range(O):
            if live[t, m] and length % 2**m == 0:
                mean = y[t + 1 - 2**m : t + 1].mean()
                first[t, m] = 2 ** (m / 2) * (mean - U[t])
        if restarts[t] > (restarts[t - 1] if t else 0):
            begin, n = t + 1, 0
    return U, first, second


def test_the_tests_statistics_are_those_of_the_definition(trace):
    fired = np.diff(trace["restarts"], axis=1, prepend=0) > 0
    assert fired.sum() >= 3
    for i in range(3):
        U, first, second = anew(*(trace[name][i] for name in ("y", "rbar", "live", "restarts")))
        assert trace["U"][i] == pytest.approx(U, abs=1e-12)
        assert np.isinf(trace["first"][i]).tolist() == np.isinf(first).tolist()
        ends = np.isfinite(first)
        assert trace["first"][i][ends] == pytest.approx(first[ends], abs=1e-9)
        assert trace["second"][i] == pytest.approx(second, abs=1e-9)
    reached = (trace["first"] >= 0.3).any(2) | (trace["second"] >= 8.0)
    assert (reached == fired).all()


def test_active_order_and_center(trace):
    assert (trace["order"] == trace["live"].argmax(2)).all()
    assert np.take_along_axis(trace["live"], trace["block"][..., None].astype(int), 2).all()
    apart = np.linalg.norm(trace["x"] - trace["z"], axis=2)
    assert (apart > 0).all() and (apart <= 0.25 + 1e-12).all()  # at most delta_s


def test_log_equals_the_learners_log(trace):
    for i in range(3):
        times = np.flatnonzero(np.diff(trace["restarts"][i], prepend=0)) + 1
        assert trace["log"][i, : len(times), 0].tolist() == times.tolist()
        for t, test, order in trace["log"][i, : len(times)]:
            failed = trace["first"][i, t - 1] >= 0.3
            assert (test, order) == ((1, failed.argmax() + 1) if failed.any() else (2, 0))
        assert not trace["log"][i, len(times) :].any()


def test_on_a_device_they_are_the_same():
    names = ("tests", "rbar")
    run = lambda: play(
        LEARNER, PROBLEM, 500, 3, 0, record="all", probes={k: WATCH[k] for k in names}
    )
    here = run()
    with shortcuts(False):
        there = run()
    for name in names:
        assert there[name] == pytest.approx(here[name], abs=1e-9)


def test_shortfall_equals_the_required_bonus():
    problem = QuadraticDrift()
    watch = {"y": rounds.observed_feedback, "now": probes.Shortfall(problem)}
    watch["worst"] = Probe(probes.Shortfall(problem), "max")
    for learner in (GradientAscent(bonus=0.4), GradientAscent(bonus=0.4, clip=False)):
        watch["rbar"] = probes.Optimistic(learner)
        run = play(learner, problem, 400, 8, 0, record="all", probes=watch)
        t = np.arange(1, 401)
        assert run["now"] == pytest.approx(np.sqrt(t) * (0.5 - run["y"].cumsum(1) / t), abs=1e-9)
        assert (run["worst"] == np.maximum.accumulate(run["now"], 1)).all()
        clear = np.abs(run["now"] - 0.4) > 1e-9
        assert ((run["rbar"] >= 0.5) == (run["now"] <= 0.4))[clear].all()
        assert 0 < (run["worst"][:, -1] > 0.4).sum() < 8


def test_distance_outside_flags_infeasible_points():
    problem = QuadraticDrift()
    watch = {"out": Probe(probes.distance_outside, "max")}
    assert play(malg(), problem, 200, 4, 0, probes=watch)["out"][:, -1].max() < 1e-12
    seen = []
    keep = lambda r: seen.append(r) or torch.zeros(1)
    play(GradientAscent(), problem, 2, 1, 0, record="all", probes={"": keep})
    far = seen[0]._replace(action=torch.tensor([[1.5, 0.0]], dtype=torch.float64))
    edge = far.before._replace(z=torch.tensor([[0.0, 0.7]], dtype=torch.float64))
    found = probes.distance_outside(Round(*far[:2], edge, *far[3:]))
    assert found[0].tolist() == pytest.approx([0.5, 0.2])
