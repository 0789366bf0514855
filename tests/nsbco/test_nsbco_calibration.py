"""Tests of false alarms computed from runs without tests, and of the printed constants."""

import math
from dataclasses import replace

import pytest

from companion.nsbco.experiments import anatomy
from paperlib.nsbco import Abrupt, QuadraticDrift
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg, practical, single_scale
from paperlib.nsbco.probes import TestStatistics
from paperlib.nsbco.theory.bounds import no_false_alarm
from paperlib.play import Probe, play

T = 2**10


def compared(learner):
    return {"tests": Probe(TestStatistics(learner), "max")}


@pytest.mark.slow
@pytest.mark.parametrize("bonus, multiples", [(0.3, (0.1, 0.13, 0.2)), (0.5, (0.05, 0.08))])
def test_false_alarms_from_a_run_without_tests(bonus, multiples):
    problem, off = QuadraticDrift(), malg(GradientAscent(bonus=bonus))
    run = play(off, problem, T, 12, 0, record=1, probes=compared(off))
    shares = []
    for multiple in multiples:
        on = play(practical(GradientAscent(bonus=bonus), multiple), problem, T, 12, 0, record=1)
        share = anatomy.alarms(run, bonus, multiple, T).estimate
        assert share == (on["report.restarts"] > 0).mean()
        shares.append(share)
    assert shares == sorted(shares, reverse=True) and shares[0] > shares[-1]


def test_test_2_alone_counts_as_an_alarm():
    """With a small b_0 the threshold A_2 is reached on a stationary problem."""
    problem, off = QuadraticDrift(), malg(GradientAscent(bonus=0.01))
    run = play(off, problem, T, 4, 0, record=1, probes=compared(off))
    assert (anatomy.reached(run)[1] > 1.5 * 0.01 * 11).all()
    assert anatomy.alarms(run, 0.01, math.inf, T).estimate == 1.0


@pytest.mark.slow
def test_printed_constants_never_restart_and_tiny_constants_do():
    kinds = anatomy.as_printed(T)
    learner = kinds["printed"]
    kinds["times 1e-9"] = replace(learner, A1=1e-9 * learner.A1, A2=1e-9 * learner.A2)
    watch = compared(learner)
    runs = {
        name: play(learner, QuadraticDrift(Abrupt(5)), T, 3, 0, record="all", probes=watch)
        for name, learner in kinds.items()
    }
    assert (runs["printed"]["regret"] == runs["no tests"]["regret"]).all()
    assert not runs["printed"]["report.restarts"].any()
    assert (runs["times 1e-9"]["report.restarts"] > 0).all()
    assert (runs["times 1e-9"]["regret"] != runs["printed"]["regret"]).any()
    assert no_false_alarm(runs["printed"]["report.restarts"]).verdict == "holds"
    assert no_false_alarm(runs["times 1e-9"]["report.restarts"]).verdict == "fails"
    first, second = (most.max() / (math.log2(T) + 1) for most in anatomy.reached(runs["printed"]))
    assert first < 0.1 * learner.A1 and 0 < second < 0.1 * learner.A2


def test_settings_match_their_names():
    learner = practical(GradientAscent(bonus=1.5), 0.25)
    assert (learner.base.bonus, learner.A1, learner.A2) == (1.5, 0.25, 2.25)
    assert learner.logarithmic == ("A2",)
    one = single_scale(0.03)
    assert one.base.bonus == pytest.approx(0.01) and one.A1 == pytest.approx(54 * 0.03)
