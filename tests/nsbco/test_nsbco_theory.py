"""Tests of the theory: its numbers to all expected digits, and its checks on correct and on deliberately wrong runs."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from ns_simulated import ascend

from companion.nsbco.advice import advice
from companion.nsbco.proofs import ascent, reduction, schedule
from companion.nsbco.proofs import weakly_non_stationary as weakly
from companion.nsbco.proofs.ascent import replay
from paperlib.checks import Vacuous
from paperlib.core.rounds import Probe
from paperlib.maths.sets import Ball
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import printed
from paperlib.nsbco.model.task import Task
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.nsbco.theory import bounds
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import Setting, literal, practical, reference
from paperlib.play import play


def one(x):
    return torch.tensor([float(x)], dtype=torch.float64)


def task(d=2, margin=0.5, L=2.0):
    return Task(Ball.of(d, dtype=torch.float64), one(margin), one(L), one(1), one(0))


def fails(check):
    return check.verdict == "fails"


def holds(check):
    return check.verdict == "holds"


# T1 to T5 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "T, d, value",
    [
        (1e4, 1, 2.21067426e7),
        (1e4, 2, 8.35832501e7),
        (1e6, 1, 1.11915233e8),
        (1e6, 2, 3.85012898e8),
    ],
)
def test_kappa_0_as_printed(T, d, value):
    assert sum(theory.kappa_0(literal(d), T)) == pytest.approx(value, rel=5e-9)


def test_terms_of_kappa_0_and_what_follows():
    terms = theory.kappa_0(literal(), 1e6)
    assert terms == pytest.approx((3.8090232, 2, 110.52408, 1.2833759e8, 2.5667519e8), rel=5e-8)
    weak = theory.weak_printed(literal(), 1e6)
    assert weak.rho == weak.lam == pytest.approx(2.310077390e9, rel=5e-10)
    assert weak.bonus == weak.rho / 3
    assert weak.hat(2**10, 1e6) == pytest.approx(9.066289367e9, rel=5e-10)


@pytest.mark.parametrize(
    "gap, values, digits",
    [
        (2.0, [1.675048e31, 1.20e22, 1.635419e7, 3.38e6, 1.0], [5e-7, 5e-3, 5e-7, 5e-3, 0]),
        (0.5, [4.13e32, 3.57e23, 3.639122e8, 7.77e7, 4.0], [5e-3, 5e-3, 5e-7, 5e-3, 1e-12]),
    ],
)
def test_first_horizon_at_which_test_1_can_trigger(gap, values, digits):
    found = schedule.first_firing(gap=gap)
    for value, expected, rel in zip(found.values(), values, digits, strict=True):
        assert value == pytest.approx(expected, rel=rel)
    for name, threshold in schedule.test_1_thresholds().items():
        # the threshold is above the gap before the first T, and below it afterwards
        first = found[name]
        x = np.exp(np.linspace(0, math.log(first) - 1e-6, 200)) if first > 1 else []
        assert all(threshold(t) > gap for t in x) and threshold(first * 1.001) < gap


def test_which_test_can_trigger_first():
    """Test 2 can trigger from 1.3e30 and Test 1 from 1.675e31; the guide to choosing and the notebook on the constants name both."""
    found = schedule.first_of_any(schedule.WEAK["printed"])
    assert list(found) == ["Test 2", "Test 1"]
    assert (
        found["Test 1"]
        == pytest.approx(schedule.first_firing()["printed"])
        == pytest.approx(1.675048e31, rel=5e-7)
    )
    assert found["Test 2"] == pytest.approx(1.30055e30, rel=1e-5)
    text = advice({})
    assert (
        "Test 2 can trigger from T = 1.3e+30 on and Test 1 can trigger from T = 1.68e+31 on" in text
    )
    assert (
        "Test 2 can trigger from T = 7.86e+20 on and Test 1 can trigger from T = 1.2e+22 on" in text
    )


@pytest.mark.parametrize("n, interval", [(None, None), (100, [0.58, 0.66])])
def test_advice_names_trials_and_interval(n, interval):
    claim = {"statistic": 0.62, "n": n, "interval": interval}
    text = advice({"nsbco.N1": claim, "nsbco.N2": {"statistic": 0.5}})
    assert "MASTER has 0.62" in text and "it has 0.5 times its regret without one (N2)" in text
    assert ("[0.58, 0.66]" in text and "over 100 trials" in text) == (n is not None)


def test_thresholds_equal_the_presets():
    """9 rho-hat and 3 rho-hat are 162 b_0 (log2 T + 1) and 54 b_0 (log2 T + 1), divided by the square root."""
    T, weak, learner = 2**14, practical(2.0), printed(GradientAscent(bonus=2.0))
    assert (learner.A1, learner.A2, learner.logarithmic) == (162 * 2, 54 * 2, ("A1", "A2"))
    assert schedule.threshold(lambda T: weak)(T) == pytest.approx(162 * 2 * 15 / 2**7)
    assert schedule.threshold(lambda T: weak, schedule.TEST_2)(T) == pytest.approx(
        54 * 2 * 15 / 2**7
    )


def test_vacuity():
    found = schedule.first_informative()
    assert found["printed"] == pytest.approx(3.0e21, rel=0.02)
    assert found["corrected"] == pytest.approx(8.0e11, rel=0.005)
    assert found["numeric"] == pytest.approx(1.2e6, rel=0.05)
    ratios = [theory.bonus_numeric(literal(), T) / (2 * T**0.5) for T in (1e6, 1.2e6, 1.4e6)]
    assert ratios == pytest.approx([1.036, 1.004, 0.981], abs=5e-4)
    regret = schedule.first_regret()
    assert regret["printed constants, lambda^{1/3}"] == pytest.approx(2.3e36, rel=0.02)
    assert regret["printed constants, lambda^{2/3}"] == pytest.approx(1.4e51, rel=0.02)
    assert 1e22 < regret["corrected constants, lambda^{1/3}"] < 1e23
    assert theory.first_horizon(lambda T: 3.0, 2.0) == math.inf


@pytest.mark.parametrize("T, value", [(1e4, 4.08406023e4), (1e6, 1.55764200e5)])
def test_corrected_closed_form(T, value):
    assert theory.bonus_corrected(literal(), T) == pytest.approx(value, rel=5e-9)
    weak = theory.weak_corrected(literal(), T)
    assert weak.rho == weak.lam == pytest.approx(3 * value + 4 * math.log(2 * T) ** 0.5 + 1)


@pytest.mark.parametrize(
    "d, values, rel",
    [
        (2, [409.496, 2072.11, 7453.87, 1.61014e4], 5e-6),
        (1, [353.4, 1277, 3262, 7923], 5e-4),
    ],
)
def test_numeric_version(d, values, rel):
    s = literal(d)
    found = [theory.bonus_numeric(s, T) for T in (1e4, 1e6, 1e8, 1e10)]
    assert found == pytest.approx(values, rel=rel)


@pytest.mark.parametrize("h, N0", [(1.0, 16), (0.25, 1), (0.5, 3), (2.0, None)])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 1.9])
def test_the_closed_form_is_above_the_numeric_one_in_every_round(h, N0, sigma):
    for d, T in itertools.product((1, 2, 5), (10, 1000, 10**6)):
        s = Setting(d, concavity=sigma, h=h, N0=N0)
        t = np.unique(np.geomspace(1, T, 100).round())
        closed = np.sqrt(t) * theory.bonus_corrected(s, T, t)
        assert (theory.deviation(s, T, t, t**-0.5) <= closed).all()
        assert theory.bonus_numeric(s, T) <= theory.bonus_corrected(s, T)
        assert s.epochs(T) <= theory.largest_epoch_count(s, T)


def test_deviation_is_monotone_and_sharper_with_what_is_known():
    s, t = reference(), np.arange(1, 2000)
    base = theory.deviation(s, 2000, t, 0.0)
    assert (theory.deviation(s, 2000, t, 0.01) > base).all()
    for more in ({"noise": 0.1}, {"slope": 1.5}, {"curvature": 1.0}, {"start": 0.5}):
        assert (theory.deviation(replace(s, **more), 2000, t, 0.0) <= base).all()
        assert (theory.deviation(replace(s, **more), 2000, t, 0.0) < base).any()
    quiet = replace(s, noise=0.0, curvature=1.0, slope=1.5, start=0.5, quadratic=True)
    exact = ascent.noise_free_regret(s, [0.5, 0.0], 1999)
    assert (exact <= theory.deviation(quiet, 2000, t, 0.0)).all()


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"concavity": 2.0}, "concavity / smoothness must be below 1, because.*, got 1"),
        ({"concavity": 0.0}, "concavity"),
        ({"N0": 5}, r"N0 must be a positive number from 16 to 1e\+30, got 5"),
        ({"h": 0.0}, r"h must be a positive number from 1e-30 to 1e\+30, got 0.0"),
        ({"noise": -0.1}, "noise"),
        ({"dim": 0}, r"dim must be an integer from 1 to 2\^63 - 1, got 0"),
    ],
)
def test_settings_out_of_range(arguments, text):
    with pytest.raises(ValueError, match=text):
        Setting(**{"dim": 2} | arguments)


def test_settings_of_a_task():
    assert Setting.of(task(), N0=1) == reference()
    assert Setting.of(task(), 1.0).first == 16
    varying = task()._replace(smoothness=torch.tensor([2.0, 3.0]))
    with pytest.raises(
        ValueError,
        match=r"smoothness must be the same number in all trials, got tensor\(\[2., 3.\]\)",
    ):
        Setting.of(varying)
    learner = GradientAscent()
    for s in range(4):
        n, delta = learner.batch(task(), torch.tensor([s]))
        assert (n.item(), delta.item()) == (reference().length(s), reference().width(s))


def test_lemma_2_2():
    weak = theory.weak_printed(literal(), 1e6)
    assert theory.theorem_3_4(weak).C1 == pytest.approx(weak.rho)
    assert theory.theorem_3_4(weak, theory.PRINTED).C1 == pytest.approx(weak.rho ** (4 / 3))
    C1, C2 = theory.lemma_2_2(8.0, 16.0, 27.0, theory.PRINTED)
    assert (C1, C2) == pytest.approx(((4 + 16 / 16) * 9, 10.0))
    assert [schedule.dimension_power(p) for p in (theory.PRINTED, theory.CORRECTED)] == [2.0, 1.5]


# T9 -------------------------------------------------------------------------------------------------------


def test_shares():
    assert schedule.expected_shares(1) == pytest.approx([0.70711, 0.29289], abs=5e-6)
    assert schedule.expected_shares(2) == pytest.approx([0.5, 0.353553, 0.146447], abs=5e-7)
    assert schedule.expected_shares(3) == pytest.approx(
        [0.353553, 0.323223, 0.228553, 0.094670], abs=5e-7
    )
    of_14 = [0.0382, 0.0923, 0.1305, 0.1428, 0.1346, 0.1156]
    assert schedule.expected_shares(14)[::-1][:6] == pytest.approx(of_14, abs=5e-5)
    limit = [0.0375, 0.0906, 0.1281, 0.1401, 0.1321, 0.1135]
    assert schedule.expected_shares(60)[::-1][:6] == pytest.approx(limit, abs=5e-5)
    places = 2.0 ** (6 - np.arange(7))
    assert places * schedule.window_chances(6) == pytest.approx(
        [2 ** ((6 - m) / 2) for m in range(7)]
    )
    for n in range(12):
        assert schedule.expected_shares(n).sum() == pytest.approx(1.0)
        assert schedule.expected_runs(n) <= schedule.most_runs(n)


def test_shares_and_runs_over_all_schedules():
    """Enumerate all 2^14 combinations of scheduled windows in a block of 8 rounds."""
    n, p = 3, schedule.window_chances(3)
    windows = [(m, z) for m in (2, 1, 0) for z in range(2 ** (n - m))]
    first, second, runs = np.zeros(n + 1), np.zeros(n + 1), 0.0
    for coins in itertools.product((False, True), repeat=len(windows)):
        thread, chance = np.full(8, -1), 1.0
        for i, ((m, z), hit) in enumerate(zip(windows, coins)):
            chance *= p[m] if hit else 1 - p[m]
            if hit:
                thread[z * 2**m : (z + 1) * 2**m] = i
        orders = np.array([n if i < 0 else windows[i][0] for i in thread])
        share = np.bincount(orders, minlength=n + 1) / 8
        first, second = first + chance * share, second + chance * share**2
        runs += chance * (1 + (np.diff(thread) != 0).sum())
    assert first == pytest.approx(schedule.expected_shares(n))
    assert np.sqrt(second - first**2) == pytest.approx(schedule.share_deviations(n))
    assert runs == pytest.approx(schedule.expected_runs(n))


def test_the_runs_of_two_blocks_by_hand():
    """In the block of two rounds, ten trials have one thread with a window of two rounds, and ten have two with one round each."""
    order = np.array([[0, 1, 1]] * 10 + [[0, 0, 0]] * 10)
    check = schedule.runs(order)
    np.testing.assert_allclose(np.ravel(check.observed), [0, abs(1.5 - schedule.expected_runs(1))])
    deviation = 0.5 * np.sqrt(20 / 19)
    np.testing.assert_allclose(np.ravel(check.bound), [1e-12, 5 * deviation / np.sqrt(20) + 1e-12])


def test_runs_of_a_horizon():
    """The formula is within 4 % of independent single measurements."""
    for power, measured in ((13, 1037), (15, 2295), (17, 5118), (19, 10712)):
        assert sum(map(schedule.expected_runs, range(power))) == pytest.approx(measured, rel=0.05)


# T10 ------------------------------------------------------------------------------------------------------


def test_rates_of_exp3_ix():
    T = 2**14
    t, rate = np.arange(1, T + 1), reduction.exp3_ix(5, T)
    assert [rate.at(1), rate.at(T)] == pytest.approx([204.61665511, 1.28693907], rel=5e-9)
    rho = reduction.rho(rate.at(t), reduction.off(t, T))
    assert rho[-1] == pytest.approx(4.11728728, rel=5e-9) and rate.rho(T) == pytest.approx(rho[-1])
    assert reduction.rho_printed(rate.at(T), T) == pytest.approx(2.64945166, rel=5e-9)
    late = theory.first_horizon(lambda t: float(reduction.exp3_ix(5, 1e5).at(t)), 2.0)
    assert late == pytest.approx(9.0e3, rel=0.01)
    assert 1e12 < reduction.first_below(5)["9 rho-hat"] < 1e13
    with pytest.raises(ValueError, match=r"arms must be an integer from 2 to 2\^63 - 1, got 1"):
        reduction.exp3_ix(1, T)


@pytest.mark.parametrize("T, error", [(64, 1e-9), (256, 1e-11), (2 * 10**6, 1e-13)])
def test_sums_of_large_horizons(T, error):
    t = np.arange(1, T + 1)
    assert reduction.root_sum(T) == pytest.approx((t**-0.5).sum(), rel=error)
    rate = reduction.Rate(0.0, 1.0)
    rho = reduction.rho(rate.at(t), reduction.off(t, T))[-1]
    assert rate.rho(T) == pytest.approx(rho, rel=error)


def test_rho_for_a_rate_of_order_one_over_root_t():
    """For rt = c / sqrt(t), rho <= 3 rt + 5 e."""
    t = np.arange(1, 5001)
    rt, e = 7 / np.sqrt(t), reduction.off(t, 5000)
    assert (reduction.rho(rt, e) <= 3 * rt + 5 * e + 1e-12).all()


# Algorithm 2: correct runs --------------------------------------------------------------------------------

KNOWN = {"slope": 1.5, "curvature": 1.0, "start": 0.5, "quadratic": True}


def recorded(d=2, T=1200, R=6, noise=0.1, **settings):
    """Return a run of the learner: x, y, r-bar, z and g in every round, and the regret."""
    learner = GradientAscent(**settings)
    probes = {
        "x": Probe(lambda r: r.action),
        "y": Probe(lambda r: r.feedback),
        "rbar": Probe(lambda r: learner.optimistic(r.after)),
        "z": Probe(lambda r: r.after.z),
        "g": Probe(lambda r: r.after.g),
    }
    problem = QuadraticDrift(dim=d, amplitude=noise)
    return play(learner, problem, T, R, record="all", probes=probes)


@pytest.mark.parametrize(
    "d, h, N0, clip, noise",
    [(2, 0.25, 1, True, 0.1), (1, 0.25, 1, False, 0.0), (3, 0.5, None, True, 0.05)],
)
def test_statements_hold_for_the_learner(d, h, N0, clip, noise):
    trace = recorded(d, h=h, N0=N0, clip=clip, noise=noise)
    s = Setting.of(task(d), h, N0=N0, noise=noise, **KNOWN)
    run = replay(trace["y"], task(d), s, clip=clip)
    z = np.concatenate([np.zeros((6, 1, d)), run.at_ends(trace["z"])], 1)
    g, star = run.at_ends(trace["g"]), 0.5 * np.eye(d)[0]
    slopes, T = star - z[:, :-1], trace["y"].shape[1]
    f = 0.5 - ((trace["x"] - star) ** 2).sum(2) / 2
    checks = [
        ascent.queries(trace["x"], run),
        ascent.optimistic_value(trace["rbar"], run),
        ascent.feasibility(trace["x"], trace["z"], task(d)),
        ascent.contraction(z, star, run.g, slopes, s),
        weakly.lemma_3_1_numeric(trace["y"], 0.5, 0.0, s),
        weakly.optimism(trace["rbar"], 0.5, 0.0, practical(2.0)),
        weakly.closeness(trace["rbar"], trace["y"], 0.0, practical(2.0), clip=clip),
        ascent.regret_adds_up(trace["regret"], 0.5, f),
        bounds.assumption_1(f, trace["y"]),
        bounds.assumption_4(star, task(d)),
        ascent.gradient_error(g, slopes, s, T),
    ]
    if noise == 0:
        checks += [
            ascent.contraction_exact(z, star, s),
            ascent.noise_free(trace["regret"], star, s),
        ]
    assert [str(c) for c in checks if not holds(c)] == []
    assert len(run.ends) == run.g.shape[1] == z.shape[1] - 1 >= 2


def test_noise_free_closed_form():
    """Acceptance test A3: regret at the ends of epochs for d = 1 and 2, and distances that halve per epoch."""
    for d, rows in (
        (1, [(2, 0.3125), (34, 1.5625), (546, 6.5625)]),
        (2, [(4, 0.625), (68, 3.125), (1092, 13.125)]),
    ):
        regret = ascent.noise_free_regret(reference(d), 0.5 * np.eye(d)[0], 1200)
        assert [regret[t - 1] for t, _ in rows] == pytest.approx([r for _, r in rows], rel=1e-14)


def test_replay_follows_the_simulation():
    run = ascend(3, 1000, 2, h=0.5, N0=2, L=3.0)
    again = replay(run.y, task(L=3.0), Setting(2, 3.0, h=0.5, N0=2))
    for mine, theirs in zip(
        (again.x, again.z, again.g, again.rbar), (run.x, run.z, run.g, run.rbar)
    ):
        assert mine == pytest.approx(theirs, abs=1e-12)
    assert again.ends[0] == 8


# Algorithm 2: wrong runs ----------------------------------------------------------------------------------

BREAKS = {
    "whole": {},
    "wrong sign": {"sign": -1.0},
    "twice the gradient": {"factor": 2.0},
    "no step": {"factor": 0.0},
    "delta as n^{-1/2}": {"power": -0.5},
    "delta as n^{-1/8}": {"power": -0.125},
    "lengths double": {"growth": 1},
    "a round early": {"early": 1},
    "half the bonus": {"bonus": 1.0},
    "twice the bonus": {"bonus": 4.0},
    "no bonus": {"bonus": 0.0},
}


def found_broken(how, noise, T=2200, R=40):
    """Return the names of the checks that fail on a wrong run, each compared with the values of a correct learner."""
    run = ascend(R, T, 2, noise=noise, clip=False, **BREAKS[how])
    s = reference(noise=noise, **KNOWN)
    again = replay(run.y, task(), s, clip=False)
    regret, delta = (0.5 - run.f).cumsum(1), 0.1 if noise else None
    E = min(run.g.shape[1], again.g.shape[1])
    checks = [
        ascent.queries(run.x, again),
        ascent.optimistic_value(run.rbar, again),
        ascent.gradient_error(run.g[:, :E], run.slopes[:, :E], s, T),
        ascent.contraction(run.z[:, : E + 1], run.star, again.g[:, :E], run.slopes[:, :E], s),
        weakly.lemma_3_1_numeric(run.y, 0.5, 0.0, s),
        weakly.optimism(run.rbar, 0.5, 0.0, practical(), delta),
        weakly.closeness(run.rbar, run.y, 0.0, practical(), delta, clip=False),
    ]
    if noise == 0:
        checks.append(ascent.contraction_exact(run.z, run.star, s))
        checks.append(ascent.noise_free(regret, run.star, s))
    assert not any(isinstance(c, Vacuous) for c in checks)
    return {c.statement for c in checks if fails(c)}


QUERIES, RBAR, ERROR = "Algorithm 2, queries", "Algorithm 2, r-bar", "Gradient error"
STEP, EXACT, REGRET = "Contraction", "Contraction, exact", "Regret, noise-free"
NUMERIC, FIRST, SECOND = (
    "Lemma 3.1, numeric",
    "Definition 2.1, optimism",
    "Definition 2.1, closeness",
)
WITH_NOISE = {
    "whole": set(),
    "wrong sign": {QUERIES, ERROR, STEP, NUMERIC, FIRST},
    "twice the gradient": {QUERIES, ERROR, STEP},
    "no step": {QUERIES, STEP, FIRST},
    "delta as n^{-1/2}": {QUERIES, STEP},
    "delta as n^{-1/8}": {QUERIES, STEP},
    "lengths double": {QUERIES, STEP},
    "a round early": {RBAR},
    "half the bonus": {RBAR},
    "twice the bonus": {RBAR, SECOND},
    "no bonus": {RBAR, FIRST},
}
WITHOUT = {
    "whole": set(),
    "wrong sign": {QUERIES, ERROR, STEP, NUMERIC, FIRST, EXACT, REGRET},
    "twice the gradient": {QUERIES, ERROR, EXACT, REGRET},
    "no step": {QUERIES, ERROR, STEP, NUMERIC, FIRST, EXACT, REGRET},
    "delta as n^{-1/2}": {QUERIES, REGRET},
    "delta as n^{-1/8}": {QUERIES, NUMERIC, REGRET},
    "lengths double": {QUERIES, REGRET},
    "a round early": {RBAR},
    "half the bonus": {RBAR},
    "twice the bonus": {RBAR, SECOND},
    "no bonus": {RBAR, FIRST},
}


@pytest.mark.parametrize("how", BREAKS)
def test_broken_learners_are_flagged(how):
    assert found_broken(how, 0.1) == WITH_NOISE[how]


@pytest.mark.parametrize("how", BREAKS)
def test_broken_learners_are_flagged_without_noise(how):
    assert found_broken(how, 0.0, R=2) == WITHOUT[how]
