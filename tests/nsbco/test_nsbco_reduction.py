"""Tests of the reduction's experiment: its four problems, its counts, and the horizons at which a bound is non-vacuous."""

import numpy as np
import pytest
import torch

from companion.nsbco.experiments import reduction
from companion.nsbco.experiments.theory import World
from companion.nsbco.proofs import reduction as lemma
from paperlib.checks import Check
from paperlib.core.rounds import observed_feedback, played_action
from paperlib.core.streams import Streams
from paperlib.nsbco.probes import Optimistic
from paperlib.nsbco.problems.paths import Abrupt, Alternation
from paperlib.play import play

T = 512


@pytest.fixture(scope="module")
def instances():
    return {name: reduction.sequence(p, T) for name, p in reduction.sequences(T).items()}


@pytest.fixture(scope="module")
def trace():
    base = reduction.policy(T)
    probes = {"y": observed_feedback, "arm": played_action, "rbar": Optimistic(base)}
    return play(base, reduction.sequences(T)["one change"], T, 4, 3, record="all", probes=probes)


def test_problem_instances_have_the_stated_changes(instances):
    assert list(instances) == ["stationary", "drift", "one change", "alternation"]
    assert instances["stationary"].variation == 0 and instances["stationary"].changes == 0
    assert instances["drift"].variation == pytest.approx(T**-0.5, rel=1e-9)
    assert instances["drift"].changes == T - 1
    assert instances["one change"].changes == 1 and instances[
        "one change"
    ].variation == pytest.approx(1)
    assert instances["alternation"].changes == T // 64 - 1
    # theta = A in the first round: the best of -1, -1/2, 0, 1/2, 1 is the fourth, and its mean is the value
    for instance in instances.values():
        assert instance.values.shape == (T, 5) and instance.values[0].argmax() == 3
        assert instance.values[0, 3] == pytest.approx(0.5)


def test_no_change_falls_on_a_dyadic_fraction():
    for name, problem in reduction.sequences(2**14).items():
        if isinstance(problem.path, Abrupt):
            at = problem.path.changes(problem.environment, 2**14) / 2**14
            assert (abs(at * 8 - np.round(at * 8)) > 0.02).all(), name
        assert not isinstance(problem.path, Alternation) or problem.path.period == 64


def test_the_problem_is_the_same_in_all_trials(instances):
    for name, problem in reduction.sequences(T).items():
        draw = Streams(9, range(3)).at(-1)
        means = problem.init(3, T, draw, dtype=torch.float64).means
        assert means.shape == (1, T, 5) and (means[0].numpy() == instances[name].values).all()


def test_lemma_4_1_holds_on_a_run(trace, instances):
    checks = reduction.lemma_4_1(trace, instances["one change"], T)
    verdicts = {name: check.verdict for name, check in checks.items()}
    assert verdicts["statistic"] == "holds" and verdicts["printed rho, our e"] == "fails"
    assert {verdicts[k] for k in ("regret bound", "property 1", "property 2")} <= {
        "holds",
        "vacuous here",
    }
    # The printed e is half of the corrected e. Therefore r-bar is smaller, and in so few rounds the mean of r-bar - y does not exceed the
    # printed rho.
    assert verdicts["printed"] == "holds"
    # values of the pulled arms, recomputed from the recorded regret
    counted = instances["one change"].values.max(1) - np.diff(trace["regret"], prepend=0.0, axis=1)
    played = instances["one change"].values[np.arange(T), trace["arm"].astype(int)]
    assert counted == pytest.approx(played, abs=1e-9)


def test_the_printed_rho_fails_in_a_longer_run():
    """With each version of e, 3 sqrt(ln(2 T) / T) is finally below a mean of terms that decrease as 1 / sqrt(t)."""
    base, problem, rounds = reduction.policy(2**13), reduction.sequences(2**13)["stationary"], 2**13
    probes = {"y": observed_feedback, "arm": played_action, "rbar": Optimistic(base)}
    trace = play(base, problem, rounds, 2, 3, record="all", probes=probes)
    checks = reduction.lemma_4_1(trace, reduction.sequence(problem, rounds), rounds)
    assert checks["printed"].verdict == checks["printed rho, our e"].verdict == "fails"
    assert checks["property 2"].verdict == checks["with t"].verdict == "holds"
    assert checks["printed"].held.mean() > checks["printed rho, our e"].held.mean()


def test_deliberate_errors_fail(trace, instances):
    instance, t, y, rbar = instances["one change"], np.arange(1, T + 1), trace["y"], trace["rbar"]
    rt, e = lemma.exp3_ix(reduction.ARMS, T).at(t), lemma.off(t, T)
    smaller = rbar - lemma.off_printed(t, T)
    played, best = instance.values[t - 1, trace["arm"].astype(int)], instance.values.max(1)
    found = {
        "a hundredth of the regret bound": lemma.stationary_regret(
            played, instance.values, rt / 100
        ),
        "the printed e": lemma.lemma_4_1_statistic(smaller, y, rt),
        "r-bar a mean alone": lemma.lemma_4_1_optimism(rbar - rt - e, best, instance.drift, rt),
        "rt counted three times": lemma.lemma_4_1_closeness(rbar + 2 * rt, y, instance.drift, rt),
    }
    assert {name: check.verdict for name, check in found.items()} == dict.fromkeys(found, "fails")


def test_wrong_problem_instance_changes_the_ratio(trace, instances):
    """With the means of another problem, the ratio in the check of the regret bound is more than 1.3 times as large."""
    wrong = World(np.roll(instances["one change"].values, 1, 1), np.zeros(T - 1), 0)
    checks = reduction.lemma_4_1(trace, wrong, T)
    right = reduction.lemma_4_1(trace, instances["one change"], T)
    assert checks["regret bound"].ratio > 1.3 * right["regret bound"].ratio


def test_outcomes():
    observed = np.array([[0.5, 2.0, 0.0, 9.0], [0.5, 0.5, 1.5, 9.0]])
    bound = np.array([1.0, 1.0, 1.0, np.inf])
    found = reduction.outcome(Check("S", "", "", {}, observed, bound), [2, 3])
    assert found[:6] == ("fails", 2.0, 2, 2, 0.25, 0.75)
    assert found.worst.tolist() == [2.0, 1.5] and found.line["statement"] == "S"


def test_plotted_rounds():
    rounds = reduction.grid(1000)
    assert rounds[0] == 1 and rounds[-1] == 1000 and (np.diff(rounds) > 0).all()


def test_horizons():
    """The first T with each bound of T10 below 2, and rt(1) at T = 2^14."""
    first = lemma.first_below(reduction.ARMS)
    assert first["rt"] < first["rho"] < first["9 rho-hat"] and 1e12 < first["9 rho-hat"] < 1e13
    assert reduction.policy(2**14).rt(1.0) == pytest.approx(204.61665511, rel=1e-9)
