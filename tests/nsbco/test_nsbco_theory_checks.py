"""Tests of the checks along runs: they pass for the learner on every problem, and fail on deliberately wrong runs."""

from dataclasses import replace

import numpy as np
import pytest

from companion.nsbco.experiments import stationary
from companion.nsbco.experiments import theory as checked
from companion.nsbco.proofs import ascent, reduction, schedule
from companion.nsbco.proofs import weakly_non_stationary as weakly
from paperlib.core.rounds import observed_feedback, played_action
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco import Abrupt, Level, QuadraticDrift, Rotation
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg
from paperlib.nsbco.probes import Optimistic, active_order, live_windows, restarts
from paperlib.nsbco.theory import constants as theory
from paperlib.play import play

T = 1200


def recorded(problem, learner, horizon=T, trials=4):
    probes = {
        "x": played_action,
        "y": observed_feedback,
        "rbar": Optimistic(learner),
        "z": lambda seen: seen.after.z,
        "g": lambda seen: seen.after.g,
    }
    return play(learner, problem, horizon, trials, record="all", probes=probes)


@pytest.mark.parametrize(
    "problem, learner",
    [
        (QuadraticDrift(), GradientAscent()),
        (QuadraticDrift(dim=1, amplitude=0.0), GradientAscent(clip=False)),
        (QuadraticDrift(dim=3, amplitude=0.05), GradientAscent(h=0.5, bonus=1.0)),
    ],
    ids=["plane", "line, no noise", "space"],
)
def test_what_holds_on_every_run(problem, learner):
    run = checked.AscentRun(recorded(problem, learner), problem, learner)
    verdicts = {check.statement: check.verdict for check in run.checks()}
    assert set(verdicts.values()) == {"holds"}, verdicts
    assert ("Regret, noise-free" in verdicts) == (problem.amplitude == 0)
    assert len(verdicts) == (12 if problem.amplitude == 0 else 10)


def broken(along):
    """Return checks of a run, a ``checked.AscentRun``, with one deliberate error each."""
    trace, s, run = along.trace, along.setting, along.run
    t = np.arange(1, trace["y"].shape[1] + 1)
    b0, clip = along.learner.bonus, along.learner.clip
    weak, mean = theory.practical(b0), trace["y"].cumsum(1) / t
    lagging = np.concatenate([trace["rbar"][:, :1], trace["rbar"][:, :-1]], 1)
    stuck = np.repeat(along.z[:, :1], along.z.shape[1], 1)
    centers = run.z[:, np.searchsorted(run.ends, t - 1, side="right")]  # centers in every round
    printed = stationary.PRINTED
    outside = stationary.first_query(printed, along.problem), np.array(printed.start)
    return {
        "half the width": ascent.queries((trace["x"] + centers) / 2, run),
        "r-bar a round late": ascent.optimistic_value(lagging, run),
        "N_0 as printed": ascent.feasibility(*outside, along.task),
        "gradients down the hill": ascent.gradient_error(-along.g, along.slopes, s, len(t)),
        "no step": ascent.contraction(stuck, along.star, run.g, along.slopes, s),
        "a lost reward": ascent.regret_adds_up(trace["regret"] - 1.0, 0.5, along.values),
        "no bonus": weakly.optimism(mean, 0.5, 0.0, weak),
        "three times the bonus": weakly.closeness(
            mean + 3 * b0 / np.sqrt(t), trace["y"], 0.0, weak, clip=clip
        ),
    }


def test_deliberate_errors_fail():
    problem, learner = QuadraticDrift(), GradientAscent()
    trace = recorded(problem, learner, 2048, 10)
    found = broken(checked.AscentRun(trace, problem, learner))
    assert len(found) == 8 and {check.verdict for check in found.values()} == {"fails"}
    assert len({check.statement for check in found.values()}) == 8


def test_wrong_learner_fails():
    """For rewards of a run with another h, the queries differ from Algorithm 2's queries with this h."""
    problem = QuadraticDrift()
    trace = recorded(problem, GradientAscent(h=0.3))
    checks = checked.AscentRun(trace, problem, GradientAscent()).checks()
    failed = {check.statement for check in checks if check.verdict == "fails"}
    assert "Algorithm 2, queries" in failed and "Algorithm 2, r-bar" not in failed


@pytest.mark.parametrize("path", [Abrupt(3), Rotation(0.5), Level()], ids=str)
def test_variation(path, monkeypatch):
    problem = QuadraticDrift(path, environment=1, amplitude=0.05)
    assert checked.budget(problem, 300).verdict == "holds"
    moves = QuadraticDrift.moves
    monkeypatch.setattr(QuadraticDrift, "moves", lambda *args: 0.95 * moves(*args))
    assert checked.budget(problem, 300).verdict == "fails"


def forgetful(trace, base):
    """Check threads that restart whenever they become active."""
    order, y = trace["order"].astype(int), trace["y"]
    turn = np.diff(order, axis=1, prepend=-1) != 0
    since = np.maximum.accumulate(np.where(turn, np.arange(order.shape[1]), 0), 1)
    rbar = schedule.own_estimates(y, order, since, base.bonus, base.clip)
    return schedule.threads(y, rbar, order, base.bonus, base.clip)


def test_schedules():
    learner = malg()
    probes = {
        "y": observed_feedback,
        "rbar": Optimistic(learner),
        "order": active_order,
        "live": live_windows,
    }
    trace = play(learner, QuadraticDrift(dim=1), 127, 60, record="all", probes=probes)
    checks = checked.of_schedule(trace, learner.base)
    assert [check.verdict for check in checks] == ["holds"] * 5
    assert forgetful(trace, learner.base).verdict == "fails"
    # the longest window is active instead
    longest = 6 - (trace["live"][:, :, ::-1] > 0).argmax(2)
    wrong = replace(trace, series=trace.series | {"order": longest.astype(float)})
    assert checked.of_schedule(wrong, learner.base)[0].verdict == "fails"


def test_threads_use_only_their_own_rewards():
    learner = malg(GradientAscent(bonus=0.5, clip=False))
    probes = {"y": observed_feedback, "rbar": Optimistic(learner), "order": active_order}
    trace = play(learner, QuadraticDrift(), 127, 20, record="all", probes=probes)
    y, rbar, order = trace["y"], trace["rbar"], trace["order"].astype(int)
    assert schedule.threads(y, rbar, order, 0.5, clip=False).verdict == "holds"
    late = np.concatenate([rbar[:, :1], rbar[:, :-1]], 1)
    everything = y.cumsum(1) / np.arange(1, 128) + 0.5 / np.sqrt(np.arange(1, 128))
    for wrong in (late, everything, rbar + 1e-6):
        assert schedule.threads(y, wrong, order, 0.5, clip=False).verdict == "fails"
    assert schedule.threads(y, rbar, order, 0.6, clip=False).verdict == "fails"


@pytest.mark.slow
def test_tests_of_a_run():
    learner = Multiscale(GradientAscent(bonus=0.7), 0.3, 7.0)
    probes = {
        "y": observed_feedback,
        "rbar": Optimistic(learner),
        "live": live_windows,
        "restarts": restarts,
    }
    problem = QuadraticDrift(Abrupt(3))
    trace = play(learner, problem, 2048, 4, record="all", probes=probes)
    assert trace["restarts"][:, -1].sum() > 0
    assert checked.of_tests(trace, 0.3, 7.0).verdict == "holds"
    assert checked.of_tests(trace, 0.15, 7.0).verdict == "fails"
    assert checked.of_tests(trace, 0.3, 7.7).verdict == "fails"
    silent = replace(trace, series=trace.series | {"restarts": 0 * trace["restarts"]})
    assert checked.of_tests(silent, 0.3, 7.0).verdict == "fails"


def test_a_proved_bonus():
    bonus = float(theory.bonus_corrected(theory.literal(), T))
    learner = GradientAscent(h=1.0, bonus=bonus, clip=False)
    probes = {"y": observed_feedback, "rbar": Optimistic(learner)}
    trace = play(learner, QuadraticDrift(amplitude=0.375), T, 3, record="all", probes=probes)
    found = checked.proved(trace, T)
    assert found["as proved"].verdict == "vacuous here"
    assert found["twice the bonus"].verdict == "fails"


def counterexamples():
    """Check property 2 of Lemma 4.1 on two counterexamples to the printed rho (E13).

    In the first X is one point and there is no noise. In the second all regret is at the end.
    The checks named "printed" have the printed e in r-bar as well.
    """
    t = np.arange(1, 10**4 + 1)
    small, e = reduction.off_printed(t, len(t)), reduction.off(t, len(t))
    found = {}
    for name, y, rt in (
        ("one point", np.zeros((1, len(t))), np.zeros(len(t))),
        ("regret at the end", -(t > len(t) - 2000).astype(float)[None], 20 / np.sqrt(t)),
    ):
        mean = y.cumsum(1) / t
        found[f"{name}, printed"] = reduction.lemma_4_1_printed(mean + rt + small, y, 0.0, rt)
        found[f"{name}, corrected"] = reduction.lemma_4_1_closeness(mean + rt + e, y, 0.0, rt)
    return found


def test_counterexamples():
    """`E13` and A14: the printed rho fails on the counterexamples, and the corrected rho does not."""
    found = counterexamples()
    one, late = found["one point, printed"], found["regret at the end, printed"]
    failed = np.flatnonzero(~one.held[0]) + 1
    assert failed[0] == 1 and failed[-1] == len(failed) == pytest.approx(4347, abs=1)
    assert late.observed[0, -1] == pytest.approx(0.6381, abs=5e-5)
    assert late.bound[0, -1] == pytest.approx(0.4944, abs=5e-5)
    corrected = found["regret at the end, corrected"]
    assert corrected.bound[0, -1] == pytest.approx(0.9100, abs=5e-5)
    assert {found[f"{name}, corrected"].verdict for name in ("one point", "regret at the end")} == {
        "holds"
    }
