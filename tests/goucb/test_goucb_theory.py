"""Tests of the theory: its numbers agree with an independent computation, its statements hold on correct runs and fail on wrong ones."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from companion.goucb.experiments.theory import DELTA, SAFE, RecordedRun, learner, learners, proved
from companion.goucb.proofs import feasibility, lemmas, printed
from companion.goucb.proofs.growth import (
    Landscape,
    Risk,
    closest_equivalent,
    equivalents,
    figure_1,
    growth_condition,
    permute_units,
    self_concordance,
)
from companion.goucb.proofs.phase_2 import Replay
from companion.verdicts import statements
from paperlib.checks import ByConstruction, Reported, Vacuous
from paperlib.goucb.learners.goucb import GOUCB
from paperlib.goucb.learners.radius import Simulated
from paperlib.goucb.learners.search import draw_uniform
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.probes import recording_probes
from paperlib.goucb.problems.reference import Reference
from paperlib.goucb.theory import bounds, constants
from paperlib.play import play

N, T, R = 20, 40, 10


def recorded(problem, played, n=N, horizon=N + T, trials=R):
    trace = play(
        played,
        problem,
        horizon=horizon,
        trials=trials,
        seed=0,
        record="all",
        probes=recording_probes(played),
    )
    return RecordedRun(trace, problem, played)


@pytest.fixture(scope="module")
def run_a():
    problem = Reference(name="A")
    return recorded(problem, learner(problem, N, T**0.5))


@pytest.fixture(scope="module")
def risk_a():
    return Risk(Reference(name="A"))


@pytest.fixture(scope="module")
def c_a(risk_a):
    return constants.Constants.of(risk_a.problem, risk_a.on_box.mu)


def holds(check):
    return check.verdict == "holds"


def fails(check):
    return check.verdict == "fails"


# Numbers --------------------------------------------------------------------------------------------------


def test_figure_1():
    shape, v = Landscape(), np.array([0.01, 0.0625, 0.125, 0.3, 0.5])
    expected = [0.005672579347, 0.275, 0.251486685937, 0.930369853655, 0.587729468041]
    lower = [0.0032, 0.125, 0.176776695297, 0.273861278753, 0.353553390593]
    assert shape.risk(0.5 + v) == pytest.approx(expected, abs=5e-13)
    assert shape.risk(0.5 - v) == pytest.approx(expected, abs=5e-13)
    assert shape.lower(0.5 + v) == pytest.approx(lower, abs=5e-13)
    minima = shape.minima()
    assert minima == pytest.approx(
        [0.00069, 0.125955, 0.25157, 0.379595, 0.5, 0.620405, 0.74843, 0.874045, 0.99931], abs=2e-5
    )
    assert shape.bend(0.5) == pytest.approx(107.63, abs=5e-3)
    assert shape.convex_within == pytest.approx(0.0481, abs=5e-5)
    assert shape.switch == pytest.approx(0.0625)
    grid = np.linspace(0, 1, 4001)
    assert holds(figure_1(shape, grid))
    steeper = dataclasses.replace(shape, tau=2.0)
    check = figure_1.statement.check("", {}, steeper.lower(grid), shape.risk(grid))
    assert fails(check)  # the lower bound with another tau must fail


@pytest.mark.parametrize("gamma, wave", [(0.5, 0.6), (1.0, 0.0), (1.5, 2.0)])
def test_derivatives_of_the_landscape(gamma, wave):
    shape, w, h = Landscape(gamma=gamma, wave=wave), np.linspace(0.01, 0.99, 57), 1e-6
    assert shape.slope(w) == pytest.approx(
        (shape.risk(w + h) - shape.risk(w - h)) / (2 * h), rel=1e-6, abs=1e-6
    )
    assert shape.bend(w) == pytest.approx(
        (shape.slope(w + h) - shape.slope(w - h)) / (2 * h), rel=1e-5, abs=1e-4
    )
    assert holds(figure_1(shape, w))


@pytest.mark.parametrize(
    "hidden, norm2, slope, slope_at, curvature, curvature_at",
    [
        (25, 500.0, 28.1084960519, 0.00802, 48.4968479452, -1.310085),
        (25, 20.0, 6.3815770558, None, 2.2964939069, None),
        (1, 25.0, 1.7017382014, 0.168346, 2.7799753171, -1.197652),
    ],
)
def test_bounds_on_the_network(hidden, norm2, slope, slope_at, curvature, curvature_at):
    C_g, C_h = constants.slope_bound(hidden, norm2), constants.curvature_bound(norm2)
    assert C_g.value == pytest.approx(slope, rel=5e-11)
    assert C_h.value == pytest.approx(curvature, rel=5e-11)
    if slope_at is not None:
        assert C_g.at == pytest.approx(slope_at, abs=5e-6)
        assert C_h.at == pytest.approx(curvature_at, abs=5e-6)


def test_the_bounds_are_attained():
    """The network's derivatives attain C_g and C_h at the argument of the maximum."""
    model, x = TwoLayerNet(1), torch.tensor([[[5.0]]], dtype=torch.float64)
    at = lambda z: torch.tensor([[0.0, z, 1.0, 0.0]], dtype=torch.float64)
    C_g, C_h = constants.slope_bound(1, 25.0), constants.curvature_bound(25.0)
    g = model.gradient(model.features(at(C_g.at), x))
    assert float(g.norm()) == pytest.approx(C_g.value, rel=1e-10)
    H = torch.linalg.eigvalsh(model.hessian(at(C_h.at), x))
    assert float(H.abs().max()) == pytest.approx(C_h.value, rel=1e-10)


def test_risk_of_reference_a(risk_a, c_a):
    assert c_a.value == pytest.approx(1.9975273768, abs=5e-11)
    assert constants.sigmoid_sum().value == pytest.approx(26.0, abs=1e-12)
    assert risk_a.zeta == pytest.approx(2.6594, abs=5e-5)
    assert risk_a.local == pytest.approx(0.00909697, abs=5e-9)
    assert risk_a.on_box.mu == pytest.approx(0.00761981, abs=5e-9)
    assert risk_a.on_box.w == pytest.approx([1, 0.7470, 0.8377, 0.2020], abs=2e-4)
    assert float(risk_a.value(risk_a.truth)[0]) == 0.0
    w, h = np.array([[0.4, 0.6, 0.7, 0.3]]), 1e-6 * np.eye(4)
    numeric = (risk_a.value(w + h) - risk_a.value(w - h)) / 2e-6
    assert risk_a.gradient(w)[0] == pytest.approx(numeric, abs=1e-8)
    numeric = (risk_a.gradient(w + h) - risk_a.gradient(w - h)) / 2e-6
    assert risk_a.hessian(w)[0] == pytest.approx(numeric, abs=1e-7)


def test_the_risk_by_points():
    """The quadrature agrees with a mean over uniform points."""
    risk = Risk(Reference(name="B"))
    x = 10 * torch.rand(1, 200_000, 1, generator=torch.Generator().manual_seed(0)).double() - 5
    net, w = risk.problem.network, risk.truth + 0.3
    mean = (net.value(w, x) - net.value(risk.truth, x)).square().mean()
    assert float(risk.value(w)[0]) == pytest.approx(float(mean), rel=0.02)


def test_phase_1(c_a):
    f1 = constants.sigmoid_sum()
    found = [constants.risk_bound(c_a, n) for n in (20, 100, 1000)]
    assert found == pytest.approx([202.16, 56.42, 7.990], rel=1e-4)
    assert constants.trivial_risk(c_a) == pytest.approx(15.9605, abs=5e-5)
    assert constants.risk_informs_from(c_a) == pytest.approx(450, abs=1)
    assert constants.risk_informs_from(f1) == pytest.approx(1.32e5, rel=0.05)
    assert constants.risk_bound(f1, 5) == pytest.approx(1.99e7, rel=5e-3)
    assert constants.start_informs_from(c_a) == pytest.approx(1.02e6, rel=0.05)
    assert constants.start_informs_from(f1) == pytest.approx(4.3e9, rel=0.01)


def test_the_second_branch_of_growth():
    """Theorem 5.2 with tau and gamma: only the first branch applies if B_L is below the point where the branches switch."""
    c = constants.Constants(4, 2.0, 1.7, 2.8, 64.0, 0.1, tau=1.0, gamma=0.5)
    for n, near in ((10**9, True), (100, False)):
        B = constants.risk_bound(c, n)
        assert (B < 64 / 2 * 0.0625**2) == near
        expected = 2 * B / 64 if near else max(2 * B / 64, (2 * B) ** 4)
        assert constants.start_bound(c, n) == pytest.approx(expected)


def test_vacuity_calculator(c_a):
    """The numbers agree with independently computed values and with their break-even horizons."""
    p = constants.proof_constants(c_a, 20, 400)
    assert p.start2 == pytest.approx(53062, rel=5e-5)
    assert p.ridge == pytest.approx(1.30762e6, rel=5e-6)
    assert p.beta == pytest.approx(4.1631e11, rel=5e-5)
    assert p.ridge == pytest.approx(1.5 * c_a.curvature**2 * p.far2 * 400 * p.trace, rel=1e-9)
    assert constants.vacuity_ratio(c_a, 400) == pytest.approx(2.98387e5, rel=5e-6)
    f1 = constants.sigmoid_sum()
    rows = {25: (7.08e5, 5.24e11), 1e12: (24.07, 1.23e7), 1e15: (1.447, 4.73e5)}
    rows |= {400: (2.98e5, 1.99e11), 1e18: (0.1966, 1.76e4), 1e24: (1.07e-3, 23.6)}
    for horizon, row in (rows | {1e30: (1.95e-6, 0.224)}).items():
        found = [constants.vacuity_ratio(c, horizon) for c in (c_a, f1)]
        assert found == pytest.approx(row, rel=5e-3)
    assert math.log10(constants.regret_informs_from(c_a)) == pytest.approx(15.499, abs=5e-4)
    assert math.log10(constants.regret_informs_from(f1)) == pytest.approx(27.517, abs=5e-4)
    capped = constants.proof_constants(c_a, 20, 400, capped=True)
    assert capped.start2 == 4.0 and capped.ridge < p.ridge


# Test 10 --------------------------------------------------------------------------------------------------


def test_the_printed_potential_is_reported_as_violated():
    u2 = [[1.5**2 / 0.1]]
    growth = np.log1p(u2)
    check = lemmas.potential_printed(u2, growth)
    assert fails(check) and check.observed[0, 0] == 22.5
    assert check.bound[0, 0] == pytest.approx(6.314, abs=5e-4)
    assert holds(lemmas.potential(u2, growth, 22.5)) and fails(lemmas.potential(u2, growth, 20.0))
    assert constants.LARGEST_K == pytest.approx(2.5129, abs=5e-5)
    assert fails(lemmas.potential_step(u2, growth))
    small = np.array([[2.5]])
    assert holds(lemmas.potential_printed(small, np.log1p(small)))
    assert holds(lemmas.potential_step(small, np.log1p(small)))
    assert constants.kappa_factor(0.0) == 1.0 and constants.kappa_factor(1e-9) == pytest.approx(1.0)


def test_the_printed_potential_depends_on_the_dimension_not_on_the_determinant():
    """With two parameters and one gradient of norm 2 at lambda = 1: u^2 = 4, l_1 = ln 5, and the printed logarithm is 2 ln 3."""
    u2 = [[4.0]]
    assert fails(lemmas.potential_step(u2, [[np.log(5.0)]]))
    assert holds(lemmas.potential_printed(u2, [[2 * np.log(3.0)]]))


def test_the_printed_step_of_lemma_c6():
    assert fails(lemmas.lemma_c6_step([[0.5]], [[0.0]]))


# Equivalents ----------------------------------------------------------------------------------------------


def test_equivalents_are_the_same_function():
    generator = torch.Generator().manual_seed(1)
    for h, d in ((1, 1), (2, 1), (3, 2)):
        w = torch.randn(h * d + 2 * h + 1, generator=generator, dtype=torch.float64)
        found, model = torch.from_numpy(equivalents(w, h)), TwoLayerNet(h)
        x = torch.randn(1, 40, d, generator=generator, dtype=torch.float64)
        assert len(found) == 2**h * math.factorial(h)
        off = model.value(found, x) - model.value(w.unsqueeze(0), x)
        assert float(off.abs().max()) < 1e-14 and (found[0] == w).all()


def test_the_closest_equivalent():
    rng = np.random.default_rng(0)
    star = rng.normal(size=3 * 2 + 7)
    moves = [([2, 0, 1], [True, False, True]), ([1, 0, 2], [False, False, False])]
    expected = np.stack([permute_units(star, 3, order, flips) for order, flips in moves])
    near = expected + 0.01 * rng.normal(size=expected.shape)
    assert (closest_equivalent(star, near, 3) == expected).all()
    far = rng.normal(size=(20, len(star)))
    least = ((closest_equivalent(star, far, 3) - far) ** 2).sum(1)
    assert (least < ((far - star) ** 2).sum(1)).any()
    for row, distance2 in zip(far, least):
        assert ((equivalents(star, 3) - row) ** 2).sum(1).min() == pytest.approx(distance2)


# Statements along runs ------------------------------------------------------------------------------------


def test_every_statement_holds_on_a_whole_run(run_a):
    """The values are plausible: rounding errors, containment, a smallest slack above 0."""
    run, along = run_a.run, run_a.run.along
    assert float((run.apart - along.identity).abs().max()) < 1e-11
    assert float((run.w - along.center).abs().max()) < 1e-11
    assert holds(run_a.ball())
    false = {"Lemma C.6, printed step", "Assumption 3.3, self-concordance"}
    for check in [*run_a.assumptions(), *run_a.algorithm(), *run_a.regret_bounds()]:
        allowed = {"fails"} if check.statement in false else {"holds", "vacuous here", "reported"}
        allowed |= {"inconclusive"} if check.delta else set()
        allowed |= {"by construction"} if check.statement == "Assumption 3.3, growth" else set()
        assert check.verdict in allowed, check
    assert run_a.containment().by_trial.all() and run_a.functional().by_trial.all()
    assert not isinstance(run_a.containment(), Vacuous)
    printed_54 = feasibility.lemma_5_4_printed(run, 3.0, run_a.span)
    assert 0.05 < printed_54.slack.min() < 1.0
    start = run.distance2[:, 0].sqrt()
    assert 0.15 < float(start.mean()) < 0.5 and float(start.max()) < 1.2


def scaled(run, factor):
    """Return a run with the learner's radius multiplied by ``factor``."""
    scale = torch.tensor([1.0, 1.0, factor], dtype=torch.float64)
    return dataclasses.replace(run, ball=run.ball * scale)


def broken(found):
    """Return statements on the same run with one deliberate error each."""
    run, along, noise, truth = found.run, found.run.along, found.problem.noise, found.truth
    wrong = lambda **parts: dataclasses.replace(run, **parts)
    # The learner's l_t of the round before, as if Sigma were updated one round late.
    behind = run.ball.clone()
    behind[:, 1:, 0] = run.ball[:, :-1, 0]
    around_0 = torch.cat([run.w[:, :1], run.w[:, 1:] - run.w[:, :1]], 1)
    middle = torch.full_like(run.truth, (truth.lo + truth.hi) / 2)
    root = run.root(noise, found.curvature, DELTA)
    K = found.slope**2 / run.ridge
    local, c = found.risk.local, found.constants
    errors = found.squared_error(middle), found.squared_error(run.truth)
    return {
        "rewards one round late": lemmas.estimate(wrong(y=torch.roll(run.y, 1, 1))),
        "a tenth of the ridge": lemmas.estimate(wrong(ridge=run.ridge / 10)),
        "queries at the center": lemmas.query(wrong(x=0 * run.x), found.points(101)),
        "half the bonus": lemmas.ball(scaled(run, 0.5), root),
        "potential one round late": lemmas.lemma_c4(wrong(ball=behind)),
        "a tenth of C_g": lemmas.lemma_c5(run, found.slope / 10),
        "twice the width": lemmas.potential(4 * along.u2, along.growth[:, 1:], K),
        "twice the noise": lemmas.lemma_b3(run, noise / 2, DELTA / 2),
        "rewards without the noise": feasibility.identity_13(wrong(y=run.true)),
        "C_h of a linear model": feasibility.remainder(run, 0.0),
        "a hundredth of beta_t": feasibility.containment(scaled(run, 0.1), DELTA),
        "constants of W": lemmas.assumption_3_2_along(run, c.slope, c.curvature),
        "mu near w* alone": growth_condition(found.risk, local, found.inside, nearest=True),
        "an oracle that does not fit": lemmas.oracle(*errors),
        "a ridge centered at 0": lemmas.remark_4_3(wrong(w=around_0)),
        "an f* that is too low": lemmas.remark_4_2(run, found.problem.maximum - 0.1),
    }


def test_each_bound_flags_a_deliberate_error(run_a):
    for what, check in broken(run_a).items():
        assert fails(check), what


class AtFirst(GOUCB):
    """GO-UCB with gradients of another round: all are taken at w_0."""

    def update(self, state, bounds, action, reward, draw):
        at = state._replace(w=state.w0) if state.rounds >= self.n_init else state
        return super().update(at, bounds, action, reward, draw)


class Careless(GOUCB):
    """GO-UCB with points that do not maximize the acquisition."""

    def select(self, state, bounds, draw):
        return bounds.native(draw_uniform(bounds, draw)), state


class Half(Simulated):
    def root(self, known, ellipsoid):
        return super().root(known, ellipsoid) / 2


def fields(played):
    return {f.name: getattr(played, f.name) for f in dataclasses.fields(played)}


@pytest.mark.parametrize(
    "kind, flagged",
    [
        (AtFirst, ["Eq. (5), estimate", "Lemma C.4", "Lemma 5.3, identity (13)"]),
        (Careless, ["Query"]),
    ],
)
def test_learners_that_are_broken(kind, flagged):
    problem = Reference(name="A")
    found = recorded(problem, kind(**fields(learner(problem, N, T**0.5))), trials=3)
    verdicts = {check.statement: check.verdict for check in found.algorithm()}
    others = {"Lemma C.6, printed step", "Lemma B.3", *flagged}
    assert {verdicts[name] for name in flagged} == {"fails"}
    assert all(verdicts[name] == "holds" for name in verdicts if name not in others)


@pytest.mark.slow
def test_a_learner_with_half_the_bonus_and_one_that_forgets_the_ridge(run_a):
    problem = run_a.problem
    radius = Half(**fields(run_a.played.radius))
    half = recorded(problem, learner(problem, N, T**0.5, radius), trials=3)
    assert fails(half.ball()) and holds(lemmas.estimate(half.run))
    light = recorded(problem, learner(problem, N, 1.0), trials=3)
    truth = problem.truth.w
    thought = Replay.of(light.trace, problem.network, N, T**0.5, truth)
    assert fails(lemmas.estimate(thought)) and fails(lemmas.lemma_c4(thought))
    assert fails(feasibility.identity_13(thought)) and holds(lemmas.estimate(light.run))


def test_noise_beyond_sigma_is_flagged(run_a):
    loud = Reference(name="A", noise=0.3)
    found = recorded(loud, learner(Reference(name="A"), N, T**0.5))
    assert fails(lemmas.lemma_b3(found.run, 0.1, DELTA / 2))
    assert lemmas.lemma_b3(found.run, 0.3, DELTA / 2).verdict != "fails"
    assert holds(feasibility.identity_13(found.run))


def test_a_small_lambda_breaks_the_potential_with_2(run_a):
    problem = run_a.problem
    name, loose = list(learners(problem, N, T).items())[-1]
    found = recorded(problem, loose, trials=3)
    checks = {check.statement: check for check in found.algorithm()}
    assert "0.1" in name and holds(checks["Elliptical potential"])
    assert fails(checks["Elliptical potential, with 2"])
    printed = checks[
        "Elliptical potential, printed"
    ]  # its logarithm is larger than l_t, so the bound holds at the end of the run
    assert fails(printed) and printed.held[:, -1].all() and not printed.held[:, 0].all()
    assert float(found.run.along.u2.max()) == pytest.approx(19.95, abs=0.3)


def test_reference_b_in_any_of_its_parameters():
    problem = Reference(name="B")
    assert problem.maximum == pytest.approx(0.76159415595, abs=1e-10)
    found = recorded(problem, learner(problem, 30, 6.0), 30, 40, 3)
    run = found.run
    assert holds(found.ball()) and float((run.apart - run.along.identity).abs().max()) < 1e-9
    assert found.containment().by_trial.all() and found.functional().by_trial.all()
    assert float(run.reached[:, 1].max()) < SAFE["B"]
    once = dataclasses.replace(run, truth=found.risk.truth.expand(3, -1))
    assert (once.distance2[:, 0] >= run.distance2[:, 0]).all()
    other = found.risk.stars[1:]
    assert fails(growth_condition(found.risk, 1e-6, other))
    # The check cannot fail for a mu that is at most the one found by the search.
    check = growth_condition(found.risk, 1e-6, other, nearest=True)
    assert isinstance(check, ByConstruction) and check.verdict == "by construction"
    (judged,) = [check for check in found.assumptions() if check.statement.endswith("growth")]
    assert judged.verdict == "by construction"
    above = growth_condition(found.risk, 2 * found.risk.on_box.mu, found.inside, True)
    assert fails(above) and not isinstance(above, ByConstruction)


def test_lambda_and_beta_of_the_proof(run_a, c_a):
    played, p = proved(run_a.problem, N, 20)
    found = recorded(run_a.problem, played, horizon=N + 20, trials=3)
    assert isinstance(found.containment(), Vacuous)
    assert isinstance(feasibility.localization(found.run, c_a, p), Vacuous)
    with pytest.raises(
        ValueError, match="ridge must be at least 564.1093306146826, because.*, got "
    ):
        feasibility.localization(run_a.run, c_a, p)


def test_bounds_of_phase_1_can_fail(c_a):
    small = np.full(100, 0.1)
    assert isinstance(bounds.lemma_5_1(small, 20, c_a), Vacuous)
    assert isinstance(bounds.theorem_5_2(small, 20, c_a), Vacuous)
    assert isinstance(printed.lemma_5_1_printed(small, 20, c_a), Reported)
    assert isinstance(printed.theorem_5_2_printed(small, 20, c_a), Reported)
    assert bounds.lemma_5_1(small, 20, c_a).delta == c_a.delta / 2
    check = bounds.lemma_5_1(small, 1000, c_a)
    assert holds(check) and check.informative_from == constants.risk_informs_from(c_a)
    assert fails(bounds.lemma_5_1(80 * small, 1000, c_a))
    assert holds(bounds.theorem_5_2(small, 10**7, c_a))
    assert fails(bounds.theorem_5_2(80 * small, 10**7, c_a))


def test_self_concordance_fails_for_every_c(risk_a):
    for c in (1e-4, 1e-2, 0.5):
        assert fails(self_concordance(risk_a, c))
    assert risk_a.third[0] == pytest.approx(62.19, abs=5e-3)
    assert risk_a.relative(risk_a.around(0.5)).min() < 0


def test_the_assumptions_of_a_run_hold_self_concordance_at_three_c(run_a):
    found = [check for check in run_a.assumptions() if "self-concordance" in check.statement]
    assert [check.inputs["c"] for check in found] == [1e-4, 1e-2, 0.5]
    assert all(map(fails, found))


def test_condition_8_by_hand():
    """dw = 2, F = 1, C_h = e, mu = 1, delta = 2 / e, zeta = 1, c = 1/2 give 2^2 iota^2 4^2 = 64 iota^2 with iota = ln n + 3."""
    c = constants.Constants(2, 1.0, 1.0, math.e, 1.0, 1.0, delta=2 / math.e)
    check = printed.condition_8(c, 10**4, 1.0)
    assert check.observed[0] == pytest.approx(64 * (math.log(100) + 3) ** 2)
    assert isinstance(check, Reported) and check.bound[0] == 10**4
    first = printed.condition_from(c, 1.0)
    asks = lambda T: 64 * (math.log(constants.first_phase(T)) + 3) ** 2
    assert asks(first) < first and asks(first - 1) >= first - 1
    assert printed.condition_from(c, 1.0, 0.01) > first


def test_printed_bounds_by_hand():
    """dw = 2, F = 3, C_h = e, mu = 2, sigma = 1/2, delta = 2 / e and n = 4 give iota = ln 4 + 3."""
    c = constants.Constants(2, 3.0, 1.0, math.e, 2.0, 0.5, delta=2 / math.e)
    iota, seen = math.log(4) + 3, np.ones(3)
    assert printed.lemma_5_1_printed(seen, 4, c).bound == pytest.approx(2 * 9 * iota / 4)
    assert printed.theorem_5_2_printed(seen, 4, c).bound == pytest.approx(2 * 9 * iota / (2 * 4))
    # T = 16: beta_T = 2 / 4 + 2^3 / 2^2 + 2^3 / 2^2 = 4.5 and lambda = 4
    bound = 4 * 3 + math.sqrt(16 * 4.5 * 2 + 16 * 4.5**2 / 4**2)
    assert printed.theorem_4_1_printed(seen, 16, c).bound == pytest.approx(bound)
    assert printed.regret_order(c, 16, 4.5, 4, squared=True) == pytest.approx(
        4 * 3 + math.sqrt(16 * 4.5 * 2 + 16**2 * 4.5**2 / 4**2)
    )


def test_the_constants_of_lemma_5_3_by_hand():
    """dw = 1, C_g = 1, C_h = 2, sigma = 3, delta = 2 / e, lambda = T = 4: l_T = ln 2, and the logarithm is ln 2 + 2."""
    c = constants.Constants(1, 1.0, 1.0, 2.0, 1.0, 3.0, delta=2 / math.e)
    found, log = constants.proof_constants(c, 20, 4, ridge=4.0), math.log(2) + 2
    start2 = constants.start_bound(c, 20)
    far2 = 6 * (start2 + 9 * log / 4)
    taylor = 2**2 * far2**2 * 4 * math.log(2) / 4
    assert found.growth == pytest.approx(math.log(2)) and found.trace == found.growth
    assert found.far2 == pytest.approx(far2)
    assert found.beta == pytest.approx(3 * (9 * log + 4 * start2 + taylor))
    flat = dataclasses.replace(c, curvature=1e-9)  # without the remainder, which dominates above
    start2 = constants.start_bound(flat, 20)
    beta = constants.proof_constants(flat, 20, 4, ridge=4.0).beta
    assert beta == pytest.approx(3 * (9 * log + 4 * start2), rel=1e-12)


def test_bounds_along_a_run_by_hand(run_a):
    """At t = 3: sqrt(beta_3) u_3 + beta_3 C_h / (2 lambda), and 2 dw ln(1 + 3 C_g^2 / (dw lambda)) for C_h = 5 and C_g = 2."""
    run, x = run_a.run, torch.tensor([[0.3]], dtype=torch.float64)
    check = feasibility.functional(run, x, [3], 5.0, 100.0, DELTA)
    _, bonus = run.surface(3, x.unsqueeze(0))
    remainder = run.radius[:, 3].square() * 5 / (2 * run.ridge)
    np.testing.assert_allclose(np.squeeze(check.bound), bonus.squeeze() + remainder, rtol=1e-12)
    dw = run.w.shape[2]
    found = lemmas.lemma_c6_printed(run, 2.0).bound
    assert found[0, 2] == pytest.approx(2 * dw * math.log(1 + 3 * 4 / (dw * run.ridge)))
    # sigma = 3 and delta = 1 / e: 9 (l_3 + 2)
    growth = run.along.growth[:, 3]
    found = lemmas.lemma_b3(run, 3.0, 1 / math.e)
    np.testing.assert_allclose(found.bound[:, 2], 9 * (growth + 2), rtol=1e-12)
    assert found.delta == 1 / math.e
    found = feasibility.remainder(run, 5.0).bound[:, 3]
    np.testing.assert_allclose(found, 2.5 * run.distance2[:, 3], rtol=1e-9)
    # 2 sqrt(beta_3) u_3 + beta_3 C_h / lambda
    found = feasibility.lemma_5_4(run, 5.0, 100.0).bound[:, 3]
    twice = 2 * run.radius[:, 3] * run.along.u2[:, 3].sqrt() + 2 * remainder
    np.testing.assert_allclose(found, twice, rtol=1e-12)


def test_condition_8_is_far_from_feasible_horizons(run_a, c_a):
    (check,) = [check for check in run_a.first_phase() if check.statement == "Condition (8)"]
    assert check.verdict == "reported" and check.inputs["least T"] > 1e11 > T
    assert printed.condition_from(constants.sigmoid_sum(), 1580.0) > 1e28


def test_the_estimate_stays_nearer_to_w_0_with_a_larger_lambda(run_a):
    problem = run_a.problem
    loose = recorded(problem, list(learners(problem, N, T).values())[-1], trials=3)
    far = lambda found: (found.run.w - found.run.w[:, :1]).square().sum(2).amax()
    assert holds(lemmas.remark_4_3(run_a.run)) and holds(lemmas.remark_4_3(loose.run))
    assert far(loose) > 4 * far(run_a)
    forgotten = dataclasses.replace(run_a.run, ridge=10 * run_a.run.ridge)
    assert lemmas.remark_4_3(forgotten).ratio == pytest.approx(
        10 * lemmas.remark_4_3(run_a.run).ratio, rel=1e-4
    )


def test_the_regret_of_phase_1(run_a, c_a):
    regret = run_a.trace.at(N)
    assert holds(bounds.remark_4_4(regret, N, c_a.value))
    assert fails(bounds.remark_4_4(np.full(3, 2.01 * c_a.value * N), N, c_a.value))


def test_theorem_4_1(run_a, c_a):
    regret = run_a.trace.last()
    assert holds(lemmas.square_sum(regret, run_a.run, N, c_a.value))
    assert fails(lemmas.square_sum(regret + 4 * c_a.value * N, run_a.run, N, c_a.value))
    check = bounds.theorem_4_1(regret, N, T, c_a)
    assert isinstance(check, Vacuous) and check.informative_from > 3e15
    late = bounds.theorem_4_1(1e16 + 0 * regret, 10**8, 10**16, c_a)
    assert not isinstance(late, Vacuous) and late.bound[0] < constants.trivial_regret(
        c_a, 1e8, 1e16
    )
    assert printed.theorem_4_1_printed(regret, T, c_a).verdict == "reported"


def test_the_exponent():
    sizes, rng = [64, 128, 256, 512], np.random.default_rng(0)
    noisy = 1 + 0.1 * rng.normal(size=(30, 4))
    grows = lambda power: bounds.exponent(noisy * np.power(sizes, power), sizes)
    assert holds(grows(0.5)) and not holds(grows(1.0)) and fails(grows(1.3))
    with pytest.raises(ValueError, match="4 horizons"):
        bounds.exponent(noisy[:, :3], sizes[:3])


def test_all_statements_are_listed():
    names = [s.name for s in statements("goucb")]
    assert len(names) == len(set(names)) == 40
    for s in statements("goucb"):
        assert s.summary and s.source


# Bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value",
    [("parameters", 0), ("value", 0.0), ("noise", -1.0), ("delta", 0.0), ("tau", 0.0)],
)
def test_constants_refuse(name, value):
    good = constants.Constants(4, 2.0, 1.7, 2.8, 0.01, 0.1, tau=1.0, gamma=0.5)
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        dataclasses.replace(good, **{name: value})


def test_landscape_and_reference_refuse():
    for name, value in (("mu", 0.0), ("tau", -1.0), ("gamma", 2.0), ("wave", -1.0)):
        with pytest.raises(ValueError, match=f"^{name} must .*, got "):
            Landscape(**{name: value})
    with pytest.raises(ValueError, match="^name must be one of 'A', 'B', got 'C'"):
        Reference(name="C")


def test_the_simulated_radius_uses_the_nearest_parameters():
    problem = Reference(name="B")
    radius = learner(problem, 5, 1.0).radius
    w0 = torch.tensor(equivalents(problem.truth.w, 2)[[3, 6]]) + 0.1
    torch.testing.assert_close(radius.truth(w0), w0 - 0.1)
    assert radius.error2(w0, w0).tolist() == pytest.approx([0.07, 0.07])
    with pytest.raises(
        ValueError, match="truths must be a tuple of tuples, each of dw numbers, got "
    ):
        Simulated(problem.truth.w, 0.1, 1.0)
