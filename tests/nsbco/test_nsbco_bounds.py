"""Checks of the theory on schedules, drifting problems, reductions and regrets: they pass on correct input and fail on wrong input."""

import math

import numpy as np
import pytest
import torch
from ns_simulated import ascend, schedule

from companion.nsbco.proofs import ascent, reduction
from companion.nsbco.proofs import schedule as scheduled
from companion.nsbco.proofs import weakly_non_stationary as weakly
from companion.verdicts import statements
from paperlib.checks import Expected, Statement, Vacuous
from paperlib.core.rounds import Probe
from paperlib.learners.multiscale import Multiscale
from paperlib.maths.sets import Box
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.exp3 import Exp3IX, regret_bound
from paperlib.nsbco.learners.presets import malg
from paperlib.nsbco.learners.reduction import StationaryToWeak
from paperlib.nsbco.model.task import Task
from paperlib.nsbco.problems.paths import Abrupt
from paperlib.nsbco.problems.quadratic import GridDrift, QuadraticDrift
from paperlib.nsbco.theory import bounds
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import Setting, Weak, literal, practical, reference
from paperlib.play import play


def fails(check):
    return check.verdict == "fails"


def holds(check):
    return check.verdict == "holds"


def test_statements_are_listed_and_named_once():
    found = statements("nsbco")
    names = [s.name for s in found]
    assert len(names) == len(set(names)) == 33 and "Algorithm 2, queries" in names
    assert all(isinstance(s, Statement) and s.source and s.summary for s in found)


# Assumptions ----------------------------------------------------------------------------------------------


def test_assumptions():
    s, one = reference(), torch.ones(1, dtype=torch.float64)
    assert holds(bounds.assumption_1([0.5, -1.0], [[1.0]]))
    assert fails(bounds.assumption_1([0.5], [1.1])) and fails(bounds.assumption_1([-1.1], [0.0]))
    assert holds(bounds.assumption_2([1.5], [1.0, 2.0], s))
    assert fails(bounds.assumption_2([2.1], [1.0], s)) and fails(bounds.assumption_2([1], [2.1], s))
    # `E17`: with separate bounds, the smaller one applies
    assert fails(bounds.assumption_2([1.5], [1.1], Setting(2, slope=1.5, curvature=1.0)))
    assert holds(bounds.assumption_3([1.0, 2.0], s)) and fails(bounds.assumption_3([0.9], s))
    box = Task(Box.of(2, dtype=torch.float64), 0.25 * one, 2 * one, one, 0 * one)
    assert holds(bounds.assumption_4([[0.75, -0.75]], box))
    assert fails(bounds.assumption_4([[[0.0, 0.76]]], box))


def test_variation():
    drift, changes = np.array([0.1, 0.2]), np.array([[0.1, 0.05], [0.0, 0.2]])
    assert holds(bounds.variation_budget(changes, drift, 0.3))
    assert fails(bounds.variation_budget(changes, drift, 0.29))
    assert fails(bounds.variation_budget(1.01 * changes, drift, 0.3))


def test_variation_of_the_problem():
    """Delta and V_T compared with the changes at points of the ball."""
    problem, T = QuadraticDrift(Abrupt(3), environment=0), 400
    path = problem.path.begin([0], T, 2, 0.5, None)
    t, x = np.arange(T), np.random.default_rng(0).normal(size=(300, 2))
    x = np.concatenate([x / np.linalg.norm(x, axis=1, keepdims=True), 0.5 * x[:50] / 3])
    f = -((x - problem.centers(path, t, T)[0][:, None]) ** 2).sum(2) / 2
    drift, V = problem.moves(path, t[:-1], T)[0], float(problem.variation(path, T)[0])
    assert holds(bounds.variation_budget(np.abs(np.diff(f, axis=0)), drift, V)) and V == 2.0
    assert fails(bounds.variation_budget(np.abs(np.diff(f, axis=0)), 0.9 * drift, V))


# Vacuous bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", [weakly.lemma_3_1, weakly.lemma_3_1_printed])
def test_constants_of_the_theory_are_vacuous(statement):
    run = ascend(3, 500, h=1.0, N0=16)
    check = statement(run.y, 0.5, 0.0, literal())
    assert check.verdict == "vacuous here"
    first = check.informative_from
    expected = 8.0e11 if statement is weakly.lemma_3_1 else 3.0e21
    assert first == pytest.approx(expected, rel=0.02) and "vacuous here" in str(check)


def test_numeric_version_reports_when_it_is_informative():
    run = ascend(3, 500)
    assert weakly.lemma_3_1_numeric(run.y, 0.5, 0.0, reference()).verdict == "vacuous here"
    known = reference(noise=0.1, slope=1.5, curvature=1.0, start=0.5, quadratic=True)
    check = weakly.lemma_3_1_numeric(run.y, 0.5, 0.0, known)
    assert holds(check) and check.informative_from == 1


def test_gradient_errors_are_vacuous_in_short_epochs():
    run = ascend(3, 30)  # only the epoch with n_0 = 1 is complete
    s = reference(noise=0.1, quadratic=True)
    assert ascent.gradient_error(run.g, run.slopes, s, 30).verdict == "vacuous here"
    # ... but a wrong input is detected nevertheless
    assert fails(ascent.gradient_error(run.g + 9, run.slopes, s, 30))


def test_property_2_with_proved_constants():
    """`E9`: rho(t) = (3 b_0 + 4 sqrt(l) + 1) / sqrt(t) on a run with the corrected b_0; rewards cannot violate it, but the bonus can."""
    T, s = 800, literal()
    weak = theory.weak_corrected(s, T)
    kept = dict(h=1.0, N0=16, noise=0.3, clip=False)
    run = ascend(5, T, bonus=weak.bonus, **kept)
    proved = weakly.closeness(run.rbar, run.y, 0.0, weak, clip=False)
    first, roots = proved.informative_from, lambda t: (np.arange(1.0, t + 1) ** -0.5).sum()
    assert proved.verdict == "vacuous here" and first > T
    # contribution of arbitrary rewards plus the mean of the bonuses
    alone = 2 + weak.bonus * roots(10**6) / 10**6
    assert (weak.rho / 1e3 < alone) == (first <= 10**6)
    assert weakly.optimism(run.rbar, 0.5, 0.0, weak).verdict == "vacuous here"
    doubled = ascend(5, T, bonus=2 * weak.bonus, **kept)
    assert fails(weakly.closeness(doubled.rbar, doubled.y, 0.0, weak, clip=False))


# Definition 2.1 -------------------------------------------------------------------------------------------


def test_coverage_over_trials():
    run = ascend(60, 3000)
    for check in (
        weakly.optimism(run.rbar, 0.5, 0.0, practical(), delta=0.1),
        weakly.closeness(run.rbar, run.y, 0.0, practical(), delta=0.1),
    ):
        assert holds(check) and check.coverage.n == 60 and check.trivial == 2.0
    assert weakly.optimism(run.rbar, 0.5, 0.0, practical()).informative_from == 2
    assert weakly.closeness(run.rbar, run.y, 0.0, practical()).informative_from == 10
    # one round is enough to make a trial fail
    run.rbar[7, 1500] = 0.3
    check = weakly.optimism(run.rbar, 0.5, 0.0, practical(), delta=0.1)
    assert (~check.by_trial).nonzero()[0].tolist() == [7]
    assert fails(weakly.optimism(run.rbar, 0.5, 0.0, practical()))


def test_regime_ends_when_the_drift_is_too_large():
    T, R, drift = 400, 4, 1e-3
    t = np.arange(1, T + 1)
    inside = drift * (t - 1) <= t**-0.5
    rbar = np.full((R, T), 0.9)
    rbar[:, ~inside] = -1.0
    weak = practical()
    check = weakly.optimism(rbar, 0.9, drift, weak)
    assert holds(check) and check.inputs["rounds in the regime"] == pytest.approx(inside.mean())
    rbar[2, inside.sum() - 1] = 0.9 - weak.lam * drift * (inside.sum() - 1) - 1e-3
    assert fails(weakly.optimism(rbar, 0.9, drift, weak))
    rbar[2, inside.sum() - 1] += 2e-3
    assert holds(weakly.optimism(rbar, 0.9, drift, weak))
    # a decreasing f* lowers the bound
    falling = 0.9 - 1e-3 * (t - 1)
    assert holds(weakly.optimism(np.tile(falling, (R, 1)), falling, drift, Weak(2.0, 6.0, 1e-9)))
    # drift that differs by trial
    assert holds(weakly.optimism(rbar, 0.9, np.full((R, T - 1), drift), weak))
    gone = rbar.copy()
    gone[0, 1] = -1.0
    by_trial = np.zeros((R, T - 1)) + 10.0 * (np.arange(R) == 0)[:, None]
    assert weakly.optimism(gone[:, :2], 0.9, by_trial[:, :1], weak).by_trial.all()


def test_decreasing_rewards_violate_property_2():
    """After good rewards followed by bad ones, r-bar stays high and the check fails."""
    T = 4000
    run = ascend(4, T)
    y = run.y.copy()
    y[:, T // 2 :] -= 0.5
    rbar = np.minimum(1, y.cumsum(1) / np.arange(1, T + 1) + 2 / np.sqrt(np.arange(1, T + 1)))
    assert fails(weakly.closeness(rbar, y, 0.0, practical()))
    assert fails(weakly.optimism(rbar, 0.5, 0.0, practical()))


# Regret ---------------------------------------------------------------------------------------------------


def test_regret_adds_up():
    run = ascend(3, 300)
    regret = (0.5 - run.f).cumsum(1)
    assert holds(ascent.regret_adds_up(regret, 0.5, run.f))
    lost = regret.copy()
    lost[:, 100:] -= 1e-3
    assert fails(ascent.regret_adds_up(lost, 0.5, run.f))
    # f* that is not the maximum
    assert fails(ascent.regret_adds_up((0.4 - run.f).cumsum(1), 0.4, run.f))


HORIZONS = 2 ** np.arange(12, 21)


def growing(power, R=30, scale=1.0, seed=0):
    noise = np.random.default_rng(seed).lognormal(0, 0.1, (R, 1))
    return scale * noise * HORIZONS.astype(float) ** power


def test_exponents():
    T = HORIZONS
    assert holds(bounds.exponent(growing(2 / 3), T, 2 / 3 + 0.001, most=1.0))
    # exponent of bandit over bandit
    assert fails(bounds.exponent(growing(0.75), T, 2 / 3, most=1.0))
    # a learner that never restarts
    assert fails(bounds.exponent(growing(1.0), T, 2 / 3, logs=1, most=1.0))
    with_log = growing(2 / 3) * np.log(T)
    assert fails(bounds.exponent(with_log, T, 2 / 3))
    check = bounds.exponent(with_log, T, 2 / 3, logs=1.001)
    assert holds(check) and isinstance(check, Expected)
    assert bounds.exponent(growing(0.9), T, 2 / 3, logs=5, most=1.0).verdict == "vacuous here"
    few = growing(0.66)[:4] * np.random.default_rng(1).lognormal(0, 0.3, (4, 9))
    assert bounds.exponent(few, T, 0.66).verdict == "inconclusive"


def test_theorem_3_4():
    regret = growing(2 / 3, scale=1.5)
    check = bounds.theorem_3_4(regret, HORIZONS, 4.0, practical())
    assert holds(check) and check.trivial == 2.0**21 and check.informative_from < 2**12
    linear = 0.19 * growing(1.0)
    assert fails(bounds.theorem_3_4(linear, HORIZONS, 4.0, practical()))
    printed = lambda T: theory.weak_printed(literal(), T)
    vacuous = bounds.theorem_3_4(linear, HORIZONS, 1.0, printed)
    assert vacuous.verdict == "vacuous here" and isinstance(vacuous, Vacuous)
    assert vacuous.informative_from == pytest.approx(2.3e36, rel=0.02)
    with pytest.raises(
        ValueError,
        match=r"regret must have shape R x 8, one column per horizon, got shape \(30, 9\)",
    ):
        bounds.theorem_3_4(regret, HORIZONS[1:], 4.0, practical())


# Algorithm 1 ----------------------------------------------------------------------------------------------


def named(checks):
    """A set would have another order in each process, but text has the same order in all."""
    return set(checks.split(", ")) - {""}


def of_schedule(order, live):
    checks = [
        scheduled.lowest_order(order, live),
        scheduled.windows(live),
        scheduled.shares(order),
        scheduled.runs(order),
    ]
    return {c.statement.removeprefix("Algorithm 1, ") for c in checks if fails(c)}


def test_schedule_of_the_learner():
    probes = {
        "order": Probe(lambda r: r.after.active),
        "live": Probe(lambda r: r.after.live.double()),
    }
    trace = play(malg(), QuadraticDrift(dim=1), 255, 150, seed=5, record="all", probes=probes)
    assert of_schedule(trace["order"].astype(int), trace["live"] > 0) == set()


@pytest.mark.parametrize(
    "how, flagged",
    [
        ({}, ""),
        ({"power": 1.0}, "windows, shares, runs"),
        ({"power": 0.45}, "windows, shares, runs"),
        ({"highest": True}, "lowest order, shares, runs"),
    ],
    ids=str,
)
def test_schedules(how, flagged):
    order, live = schedule(200, 255, **how)
    assert of_schedule(order, live) == named(flagged)


def test_unfinished_windows():
    order, live = schedule(30, 31)
    live[4, 17, 4] = False  # in the middle of the window of the whole block
    assert fails(scheduled.lowest_order(live.argmax(2), live))
    with pytest.raises(ValueError, match="order must have at least 20 trials, from which.*, got 5"):
        scheduled.runs(order[:5])


@pytest.fixture(scope="module")
def restarting():
    """The two-dimensional runs of acceptance test A6: one with a restart by Test 1, and one with two restarts by Test 2."""
    found = {}
    for name, environment, A1, A2, b0 in (
        ("Test 1", 0, 1.0, 42.0, 2.0),
        ("Test 2", 1, 0.3, 8.0, 0.7),
    ):
        learner = Multiscale(GradientAscent(bonus=b0), A1, A2)
        probes = {
            "y": Probe(lambda r: r.feedback),
            "rbar": Probe(lambda r, base=learner.base: base.optimistic(r.after.base)),
            "live": Probe(lambda r: r.after.live.double()),
            "restarts": Probe(lambda r: r.after.restarts.double()),
        }
        problem = QuadraticDrift(Abrupt(3), environment=environment)
        trace = play(learner, problem, 8192, 1, environment, record="all", probes=probes)
        found[name] = (
            [trace[k] for k in ("y", "rbar")] + [trace["live"] > 0, trace["restarts"]],
            A1,
            A2,
        )
    return found


@pytest.mark.parametrize("name, restarts", [("Test 1", 1), ("Test 2", 2)])
def test_restarts_equal_the_recomputed_tests(restarting, name, restarts):
    run, A1, A2 = restarting[name]
    assert run[3][0, -1] == restarts
    assert holds(scheduled.tests(*run, A1, A2))


@pytest.mark.slow
def test_other_tests_are_flagged(restarting):
    run, A1, A2 = restarting["Test 1"]
    assert fails(scheduled.tests(*run, 0.1 * A1, A2)) and fails(scheduled.tests(*run, 2 * A1, A2))
    assert fails(scheduled.tests(*run, math.inf, A2))  # restarts although no test triggers
    # a triggered test without a restart
    assert fails(scheduled.tests(*run[:3], 0 * run[3], A1, A2))
    run, A1, A2 = restarting["Test 2"]
    assert fails(scheduled.tests(*run, A1, 1.05 * A2)) and fails(
        scheduled.tests(*run, A1, 0.95 * A2)
    )
    assert fails(scheduled.tests(*run, A1, math.inf))
    late = np.concatenate([np.zeros((1, 1)), run[3][:, :-1]], 1)
    assert fails(scheduled.tests(*run[:3], late, A1, A2))  # restarts that are one round late


# Lemma 4.1 ------------------------------------------------------------------------------------------------


def of_policy(T=600, R=6, rate=1.0, gap=0.0, late=0.0, e=1.0, twice=1.0):
    """Return a run of a policy with regret ``gap`` per round, or with all regret in late rounds, and r-bar for rt = rate / sqrt(t)."""
    rng, t = np.random.default_rng(0), np.arange(1, T + 1)
    f = np.full((R, T), 0.5 - gap)
    if late:
        f = np.where(t > late * T, 0.5 - gap, 0.5) + np.zeros((R, 1))
    y, rt = f + 0.1 * (2 * rng.random((R, T)) - 1), rate / np.sqrt(t)
    rbar = y.cumsum(1) / t + twice * rt + e * reduction.off(t, T)
    return f, y, rt, rbar


def of_lemma(f, y, rt, rbar, drift=0.0):
    T = len(rt)
    points = np.stack([np.full(T, 0.5), np.zeros(T)], 1)
    checks = [
        reduction.stationary_regret(f, points, rt),
        reduction.lemma_4_1_statistic(rbar, y, rt),
        reduction.lemma_4_1_optimism(rbar, 0.5, drift, rt),
        reduction.lemma_4_1_closeness(rbar, y, drift, rt),
        reduction.lemma_4_1_printed(rbar, y, drift, rt),
    ]
    return {c.statement.removeprefix("Lemma 4.1, ") for c in checks if fails(c)}


@pytest.mark.parametrize(
    "how, flagged",
    [
        ({"rate": 20.0}, "printed"),
        ({"rate": 1.0, "gap": 0.5}, "stationary regret, optimism, printed"),
        ({"rate": 20.0, "e": 0.5}, "statistic"),
        ({"rate": 60.0, "twice": 2.0}, "statistic, closeness, printed"),
        ({"rate": 1.0, "gap": 0.4, "late": 0.5}, "stationary regret, printed"),
        (
            {"rate": 1.0, "gap": 1.2, "late": 0.5, "T": 4000},
            "stationary regret, optimism, closeness, printed",
        ),
    ],
    ids=str,
)
def test_lemma_4_1(how, flagged):
    assert of_lemma(*of_policy(**how)) == named(flagged)


@pytest.mark.slow
def test_lemma_4_1_of_exp3_ix():
    """T10 at T = 2^14, stationary: the corrected rho is never exceeded, and the printed rho is exceeded in every trial."""
    T, R, K = 2**14, 4, 5
    a, c = regret_bound(K, T)
    rate = reduction.exp3_ix(K, T)
    assert rate == pytest.approx((a, c))
    learner, problem = StationaryToWeak(Exp3IX(), a, c, T), GridDrift(arms=K)
    probes = {
        "y": Probe(lambda r: r.feedback),
        "arm": Probe(lambda r: r.action.double()),
        "rbar": Probe(lambda r: learner.optimistic(r.after)),
    }
    trace = play(learner, problem, T, R, record="all", probes=probes)
    means = 0.5 - (np.linspace(-1, 1, K) - 0.5) ** 2 / 2
    y, rbar, played = trace["y"], trace["rbar"], means[trace["arm"].astype(int)]
    t = np.arange(1, T + 1)
    rt = rate.at(t)
    assert learner.rho(t) == pytest.approx(reduction.rho(rt, reduction.off(t, T)))
    checks = [
        reduction.stationary_regret(played, np.tile(means, (T, 1)), rt),
        reduction.lemma_4_1_statistic(rbar, y, rt),
        reduction.lemma_4_1_optimism(rbar, means.max(), 0.0, rt),
        reduction.lemma_4_1_closeness(rbar, y, 0.0, rt),
    ]
    assert all(map(holds, checks)) and checks[0].informative_from > 5000
    assert checks[3].ratio < 0.8
    assert all(5000 < check.informative_from < T for check in checks[2:])
    printed = reduction.lemma_4_1_printed(rbar, y, 0.0, rt)
    assert fails(printed) and not printed.by_trial.any()
    assert 1 - printed.held.mean() > 0.9
    # with the printed e in r-bar, the printed rho is exceeded in fewer rounds
    half = reduction.lemma_4_1_printed(rbar - reduction.off_printed(t, T), y, 0.0, rt)
    assert fails(half) and 0.15 < 1 - half.held.mean() < 0.22
    # with t in place of the printed T, rho is not exceeded
    proof = reduction.lemma_4_1_with_t(rbar - reduction.off_printed(t, T), y, 0.0, rt)
    assert holds(proof) and 0.9 < proof.ratio < 1
    # both versions of rho agree in round T
    assert proof.bound[0, -1] == pytest.approx(half.bound[0, -1])
    assert (proof.bound[0, :-1] > half.bound[0, :-1]).all()
