"""Bounds: known numbers, special cases, monotonicity, and broken learners that must be flagged."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from paperlib.checks import Check, Statement, statements
from paperlib.glbomd import bounds, theory
from paperlib.glbomd.bounds import PROBES, Path, RadiusRatio, Setting
from paperlib.glbomd.glbomd import GLBOMD
from paperlib.glbomd.inequalities import gaussian_kl, slope_integrals
from paperlib.glbomd.links import Bernoulli, Binomial, Gaussian, Poisson
from paperlib.glbomd.mixloss import expected_divergence, mix_loss
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.linalg import apply, chosen, rank_one
from paperlib.play import Probe, play
from paperlib.sets import project_ball

DETERMINISTIC = (bounds.proposition_1, bounds.lemma_1, bounds.lemma_4, bounds.lemma_4b, bounds.lemma_6, bounds.lemma_7, bounds.lemma_7_free,
                 bounds.lemma_7_sharp, bounds.lemma_11, bounds.curvature_along, bounds.optimism)
_traces = {}


def trace_of(learner, problem, horizon=300, trials=4):
    """A recorded run, kept for the tests of this file."""
    key = (learner, problem, horizon, trials)
    if key not in _traces:
        probes = PROBES | {"ratio": Probe(RadiusRatio(theory.setting(learner, problem.dim)), "max"), "precision": Probe(lambda r: r.after.precision, "final")}
        _traces[key] = play(learner, problem, horizon, trials, record="all", probes=probes)
    return _traces[key]


def path_of(link, norm, ridge, horizon=300, trials=4, kind=GLBOMD):
    learner = kind(link, norm, ridge=ridge)
    problem = SphereArms(link, norm)
    return Path.of(trace_of(learner, problem, horizon, trials), theory.setting(learner, problem.dim))


# Theorem 2: the numbers ------------------------------------------------------------------------------------

KAPPA_OPT = {("logistic", 3): 9.220967, ("logistic", 5): 25.029822, ("logistic", 7): 69.838150, ("logistic", 9): 184.504981,
             ("Poisson", 3): 0.126607, ("Poisson", 5): 0.029558, ("Poisson", 7): 0.0065424, ("Gaussian", 2): 1.0}
LINKS = {"logistic": Bernoulli(), "Poisson": Poisson(), "Gaussian": Gaussian()}
ROWS = [
    ("logistic", 3, "theory", (280, 102.225, 105.237, 487.392, 226523, 1.73841e6, 2715.4), 1.42e8),
    ("logistic", 3, "free", (56, 48.8640, 60.5441, 488.596, 320321, 2.03462e6, 2715.4), 8.47e7),
    ("logistic", 5, "theory", (420, 206.892, 209.548, 818.823, 624334, 4.85836e6, 2959.8), 2.13e9),
    ("logistic", 7, "theory", (560, 333.415, 335.851, 1156.93, 1.20795e6, 9.57627e6, 2994.5), 3.3e10),
    ("logistic", 9, "theory", (700, 478.511, 480.787, 1498.00, 1.98124e6, 1.59144e7, 2999.3), 4.7e11),
    ("Poisson", 3, "theory", (1446.16, 228.993, 232.880, 10107.8, 1.78935e7, 4.77581e8, 60107), 1.46e9),
    ("Poisson", 5, "theory", (26714.4, 1634.70, 1635.65, 153120, 3.56685e8, 9.5204e10, 445219), 3.8e11),
    ("Poisson", 7, "theory", (368469, 8498.31, 8498.57, 1.80244e6, 5.15897e9, 1.30158e13, 3.29e6), 7.1e13),
    ("Gaussian", 2, "theory", (2, 8.61213, 16.7756, 358.453, 0, 39266.5, 12000), 6.6e4),
]


def at_theory(name, S, form="theory"):
    return Setting(LINKS[name], float(S), 5, theory.ridge_condition(LINKS[name], float(S), 5, form))


@pytest.mark.parametrize("name, S, form, numbers, informative", ROWS, ids=[f"{r[0]}-S{r[1]}-{r[2]}" for r in ROWS])
def test_regret_bound_in_numbers(name, S, form, numbers, informative):
    row = bounds.regret_row(at_theory(name, S, form), 3000, KAPPA_OPT[name, S])
    assert row[:-1] == pytest.approx(numbers, rel=2e-5, abs=1e-9) or row[:-1] == pytest.approx(numbers[:-1] + (row.trivial,), rel=6e-6)
    assert row.trivial == pytest.approx(numbers[-1], rel=2e-3)
    assert row.informative_from == pytest.approx(informative, rel=0.01)


@pytest.mark.parametrize("name, S, form, bound, informative", [
    ("logistic", 3, "theory", 920830, 9.16e7), ("logistic", 3, "free", 1.16898e6, 5.44e7),
    ("Poisson", 3, "theory", 1.66043e8, 1.11e9), ("Gaussian", 2, "theory", 19633.3, 1.13e4),
])
def test_tight_regret_bound(name, S, form, bound, informative):
    row = bounds.regret_row(at_theory(name, S, form), 3000, KAPPA_OPT[name, S], tight=True)
    assert row.bound == pytest.approx(bound, rel=3e-6)
    assert row.informative_from == pytest.approx(informative, rel=5e-3)


def test_informative_from_is_the_first_round():
    setting, kappa = at_theory("Gaussian", 2), 1.0
    first = bounds.regret_row(setting, 3000, kappa).informative_from
    beats = lambda T: bounds.regret_bound(setting, T, kappa).bound < theory.trivial_regret(setting.link, 2.0, T)
    assert beats(first) and not beats(first - 1)


def test_regret_bound_grows_with_everything_that_hurts():
    setting = at_theory("logistic", 3)
    bound = lambda s, T=3000, kappa=9.0: bounds.regret_bound(s, T, kappa).bound
    assert bound(setting) < bound(setting, T=3001)
    assert bound(setting, kappa=9.0) < bound(setting, kappa=8.0)
    assert bound(setting) < bound(replace(setting, delta=0.001)) and bound(setting) < bound(replace(setting, dim=6))
    assert bounds.regret_bound(setting, 3000, 9.0, tight=True).bound < bound(setting)


def test_without_curvature_only_the_leading_term_is_left():
    row = bounds.regret_bound(at_theory("Gaussian", 2), 500, 1.0)
    assert row.G2 == 0 and row.bound == pytest.approx(2 * row.G1 * math.sqrt(500))


def test_printed_bound_differs_by_the_dispersion_only():
    for variance, factor in ((4.0, 4.0), (1.0, 1.0), (0.25, 0.25)):
        setting = Setting(Gaussian(variance), 2.0, 5, 2 / variance)
        printed, correct = (bounds.regret_bound(setting, 3000, 1.0, printed=p).bound for p in (True, False))
        assert correct == pytest.approx(factor * printed)


# Ridge and radius ------------------------------------------------------------------------------------------


def test_sharp_constants_are_the_roots():
    found = theory.sharp_constants()
    assert found.width == pytest.approx(1.7043702784, abs=5e-11)
    assert found.spread_factor == pytest.approx(0.3442485310, abs=5e-11)
    assert found.step_factor == pytest.approx(0.5163727965, abs=5e-11)
    assert found.free_spread_factor == pytest.approx(5.404829, abs=5e-7)
    assert found.free_step_factor == pytest.approx(8.107243, abs=5e-7)


def test_sharp_constant_makes_the_integral_bound_an_equality():
    """The proof's E (e^{R|u|} - 1 - R|u|) <= 2 R^2 sigma^2 by quadrature, at, below and above x* = R sigma."""
    density = lambda n: math.exp(-n * n / 2) / math.sqrt(2 * math.pi)
    mean = lambda x: 2 * quad(lambda n: (math.exp(x * n) - 1 - x * n) * density(n), 0, 12)[0]
    x = theory.sharp_constants().width
    assert mean(x) == pytest.approx(2 * x * x, rel=1e-8)
    assert mean(0.99 * x) < 2 * (0.99 * x) ** 2 and mean(1.01 * x) > 2 * (1.01 * x) ** 2


def test_ridge_conditions():
    for S, sharp, free, full in ((3.0, 18, 56, 280), (5.0, 45, 84, 420), (7.0, 84, 112, 560)):
        forms = [theory.ridge_condition(Bernoulli(), S, 5, form) for form in ("sharp", "free", "theory")]
        assert forms == pytest.approx([sharp, free, full])
    assert theory.ridge_condition(Poisson(), 3.0, 5, "sharp") == pytest.approx(6 * 4 * 3 * math.exp(3))
    assert theory.ridge_condition(Gaussian(0.25), 2.0, 5, "sharp") == 8.0
    with pytest.raises(ValueError, match="form"):
        theory.ridge_condition(Bernoulli(), 3.0, 5, "dim")


@pytest.mark.parametrize("link, S", [(Bernoulli(), 0.1), (Bernoulli(), 3.0), (Poisson(), 2.0), (Gaussian(0.25), 2.0), (Binomial(3), 1.0)])
@pytest.mark.parametrize("ridge", ["theory", "free", "sharp"])
def test_setting_agrees_with_the_learner(link, S, ridge):
    learner = GLBOMD(link, S, 0.05, ridge)
    setting = theory.setting(learner, 4)
    assert setting.ridge == pytest.approx(theory.ridge_condition(link, S, 4, ridge), rel=1e-9)
    assert setting.covered
    assert setting.radius(np.array([1, 7])) == pytest.approx([learner.radius(1, 4), learner.radius(7, 4)], rel=1e-9)
    started = GLBOMD(link, S, 0.05, ridge, start_at_zero=True)
    assert theory.setting(started, 4).radius(3) == pytest.approx(started.radius(3, 4), rel=1e-9)


def test_setting_refuses_bad_numbers():
    for bad in ({"norm_bound": 0.0}, {"ridge": -1.0}, {"delta": 0.0}, {"dim": 0}, {"link": "logistic"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            replace(Setting(Bernoulli(), 3.0, 5, 5.0), **bad)


# On a run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link, S, ridge", [
    (Bernoulli(), 3.0, "theory"), (Bernoulli(), 3.0, "free"), (Bernoulli(), 3.0, "sharp"), (Poisson(), 3.0, "theory"), (Gaussian(0.25), 2.0, "theory"),
], ids=str)
def test_every_lemma_holds_under_its_condition(link, S, ridge):
    path = path_of(link, S, ridge)
    for lemma in DETERMINISTIC:
        check = lemma(path)
        assert check.verdict == "holds", check
    assert bounds.lemma_6(path, tight=True).verdict == "holds"
    assert bounds.lemma_11(path, sharp=True).verdict == "holds"
    assert bounds.lemma_5(path).by_trial.all()


def test_worst_ratios_on_the_papers_instance():
    logistic, dim = path_of(Bernoulli(), 3.0, "theory", 1000, 2), path_of(Bernoulli(), 3.0, "dim", 1000, 2)
    poisson = path_of(Poisson(), 3.0, "dim")
    assert bounds.lemma_4(logistic).ratio == pytest.approx(0.9994, abs=1e-3)
    assert bounds.lemma_4b(logistic).ratio == pytest.approx(0.9994, abs=1e-3)
    assert bounds.lemma_4(dim).ratio == pytest.approx(0.963, abs=0.01)
    assert bounds.lemma_4(poisson).ratio == pytest.approx(0.280, abs=0.01)
    assert bounds.lemma_7(logistic).ratio == pytest.approx(0.149, abs=2e-3)
    assert bounds.lemma_7(dim).ratio == pytest.approx(0.241, abs=3e-3)
    assert bounds.lemma_6(logistic).slack.min() == pytest.approx(41.6, abs=0.3)
    assert bounds.lemma_6(dim).slack.min() == pytest.approx(44.4, abs=0.3)
    potential = bounds.lemma_11(dim)
    assert potential.bound[0, -1] == pytest.approx(29.974, abs=1e-3) and potential.observed[:, -1] == pytest.approx(10.1, abs=0.8)
    assert bounds.lemma_11(logistic).bound[0, -1] == pytest.approx(2.054, abs=1e-3)


def test_matrices_are_rebuilt_from_estimates_alone():
    learner, problem = GLBOMD(Bernoulli(), 3.0, ridge="dim"), SphereArms(Bernoulli(), 3.0)
    trace = trace_of(learner, problem, 300, 4)
    path = Path.of(trace, theory.setting(learner, 5))
    assert np.allclose(path.precision[:, -1], trace["precision"], rtol=1e-12)
    ratio = (path.error[:, :-1].sqrt() / torch.from_numpy(path.setting.radius(path.rounds.numpy()))).numpy()
    assert np.allclose(np.maximum.accumulate(ratio, 1), trace["ratio"], rtol=1e-9)
    regret = (path.setting.link.mean(path.best) - path.setting.link.mean(path.true_z)).cumsum(1)
    assert np.allclose(regret, trace["regret"], rtol=1e-9)


def test_path_works_where_each_trial_has_its_own_arms():
    learner, problem = GLBOMD(Bernoulli(), 3.0), FixedArms(Bernoulli(), 3.0, dim=3, arms=4, per_trial=True)
    path = Path.of(trace_of(learner, problem, 40, 3), theory.setting(learner, 3))
    assert path.best.shape == (3, 40)
    assert all(lemma(path).verdict == "holds" for lemma in DETERMINISTIC)


def test_path_refuses_what_it_cannot_use():
    learner, problem = GLBOMD(Bernoulli(), 3.0), SphereArms(Bernoulli(), 3.0)
    setting = theory.setting(learner, 5)
    with pytest.raises(ValueError, match="record='all'"):
        Path.of(play(learner, problem, 20, 2, record=5, probes=PROBES), setting)
    with pytest.raises(ValueError, match="theta"):
        Path.of(play(learner, problem, 20, 2, record="all"), setting)
    path = path_of(Bernoulli(), 3.0, "sharp")
    with pytest.raises(ValueError, match="reward"):
        replace(path, reward=path.reward[:, :-1])
    with pytest.raises(ValueError, match="dimensions"):
        path.under(dim=4)
    with pytest.raises(ValueError, match="best"):
        bounds.curvature_along(replace(path, best=None))


def test_gaussian_mix_loss_and_divergence_in_closed_form():
    path = path_of(Gaussian(0.25), 2.0, "theory", 60, 2)
    g, variance = 0.25, path.setting.spread * path.width2
    # l = (z^2 / 2 - r z) / g, z ~ N(a, v): -ln E e^{-l} by completing the square
    a, r = path.start_z, path.reward
    exact = 0.5 * torch.log1p(variance / g) + a**2 / (2 * variance) - (a / variance + r / g) ** 2 / (2 * (1 / variance + 1 / g))
    assert torch.allclose(mix_loss(path), exact, rtol=1e-9, atol=1e-9)
    assert torch.allclose(expected_divergence(path), variance / (2 * g), rtol=1e-10)
    # first order: a quarter of Lemma 7's right side with M_s in place of H_s
    assert bounds.lemma_7(path).ratio < 0.25


@pytest.mark.parametrize("link, S", [(Poisson(), 3.0), (Poisson(), 7.0), (Bernoulli(), 3.0)], ids=str)
def test_mix_loss_against_adaptive_quadrature(link, S):
    path = path_of(link, S, "dim")
    found, sd = mix_loss(path), (path.setting.spread * path.width2).sqrt()
    m = (lambda z: math.exp(z)) if isinstance(link, Poisson) else (lambda z: math.log1p(math.exp(z)))
    for i, t in ((0, 0), (0, 1), (1, 2), (1, 5), (2, 299)):
        a, s, r = float(path.start_z[i, t]), float(sd[i, t]), float(path.reward[i, t])
        grid = np.linspace(a - 9 * s, a + 9 * s, 2001)
        exponent = lambda z: -(m(z) - r * z) - (z - a) ** 2 / (2 * s * s)
        values = [exponent(z) for z in grid]
        top, peak = max(values), grid[int(np.argmax(values))]
        near = [peak + k * s / 50 for k in range(-50, 51, 5)]
        value = quad(lambda z: math.exp(exponent(z) - top), grid[0], grid[-1], points=near, limit=500)[0] / (s * math.sqrt(2 * math.pi))
        assert float(found[i, t]) == pytest.approx(-math.log(value) - top, rel=1e-8, abs=1e-8)


# Broken input ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WrongSign(GLBOMD):
    """Steps up the loss."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        theta = project_ball(2 * state.theta - new.theta, new.precision, self.norm_bound)
        x = chosen(arms, arm)
        weight = self.link.slope((x * theta).sum(-1)) / self.link.dispersion
        return new._replace(theta=theta, precision=rank_one(state.precision, x, weight))


@dataclass(frozen=True)
class NoProjection(GLBOMD):
    """Leaves the ball."""

    def update(self, state, arms, arm, reward, draw):
        theta, H, C, rounds = state
        x = chosen(arms, arm)
        z, v = (x * theta).sum(-1), apply(C, x)
        q, eta = (x * v).sum(-1), self.step
        step = eta * (reward - self.link.mean(z)) / (1 + eta * self.link.slope(z) * q)
        theta = theta + step.unsqueeze(1) * v
        c = self.link.slope((x * theta).sum(-1))
        return type(state)(theta, rank_one(H, x, c), rank_one(C, v, -c / (1 + c * q)), rounds + 1)


@dataclass(frozen=True)
class WrongNorm(NoProjection):
    """Projects radially."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        theta = new.theta * (self.norm_bound / torch.linalg.vector_norm(new.theta, dim=-1, keepdim=True)).clamp(max=1)
        x = chosen(arms, arm)
        return new._replace(theta=theta, precision=rank_one(state.precision, x, self.link.slope((x * theta).sum(-1))))


def test_wrong_sign_is_flagged():
    path = path_of(Bernoulli(), 3.0, "sharp", 300, 4, WrongSign)
    for lemma in (bounds.proposition_1, bounds.lemma_1, bounds.lemma_4, bounds.lemma_4b):
        check = lemma(path)
        assert check.verdict == "fails", check


def test_wrong_sign_loses_the_confidence_set():
    verdicts = []
    for kind in (GLBOMD, WrongSign):
        learner = kind(Gaussian(), 2.0, 0.05, ridge="sharp")
        probe = {"ratio": Probe(RadiusRatio(theory.setting(learner, 5)), "max")}
        trace = play(learner, SphereArms(Gaussian(), 2.0), 300, 80, record=1, probes=probe)
        verdicts.append(bounds.theorem_1(trace["ratio"], theory.setting(learner, 5)).verdict)
    assert verdicts == ["holds", "fails"]


def test_optimism_flags_a_radius_that_is_too_small():
    assert bounds.optimism(path_of(Bernoulli(), 3.0, "sharp"), scale=0.02).verdict == "fails"


def test_missing_projection_is_flagged():
    path = path_of(Bernoulli(), 3.0, 5.0, 300, 4, NoProjection)
    assert bounds.proposition_1(path).verdict == "fails"
    assert bounds.lemma_1(path).verdict == "holds"  # the three-point inequality needs no ball


def test_projection_in_a_wrong_norm_is_flagged():
    path = path_of(Bernoulli(), 3.0, 5.0, 300, 4, WrongNorm)
    assert bounds.lemma_1(path).verdict == "fails" and bounds.proposition_1(path).verdict == "fails"
    assert path_of(Bernoulli(), 3.0, 5.0).theta.norm(dim=-1).max() > 3 - 1e-9  # the right one projects here too, and passes
    assert bounds.lemma_1(path_of(Bernoulli(), 3.0, 5.0)).verdict == "holds"


def test_small_ridge_breaks_lemma_4b():
    three, seven = path_of(Poisson(), 3.0, 5.0), path_of(Poisson(), 7.0, 5.0)
    check = bounds.lemma_4b(three)
    assert check.verdict == "fails" and check.ratio > 1 and "below the condition" in str(check)
    check = bounds.lemma_4b(seven)
    assert check.verdict == "fails" and (check.bound < 0).any() and check.ratio == math.inf
    assert bounds.lemma_4(three).verdict == bounds.lemma_4(seven).verdict == "holds"  # holds for any ridge


def test_small_ridge_breaks_lemma_7():
    path = path_of(Poisson(), 7.0, "dim")
    for lemma in (bounds.lemma_7, bounds.lemma_7_free, bounds.lemma_7_sharp):
        check = lemma(path)
        assert check.verdict == "fails" and check.ratio == pytest.approx(16.4, abs=0.1)
        assert "below the condition" in check.remark


def test_lemma_5_flags_estimates_that_look_ahead():
    path = path_of(Bernoulli(), 3.0, 0.5, 300, 4)
    ahead = torch.cat([path.theta[:, 1:], path.theta[:, -1:]], 1)
    sign = (2 * path.reward - 1).unsqueeze(-1) * path.arm
    peeking = replace(path, theta=torch.cat([3 * sign / sign.norm(dim=-1, keepdim=True), ahead[:, -1:]], 1))
    assert bounds.lemma_5(path).by_trial.all()
    assert not bounds.lemma_5(peeking).by_trial.any()


def test_lemma_6_flags_a_norm_bound_that_is_too_small():
    rounds, z = 20, 15.0
    setting = Setting(Poisson(), 0.1, 1, 1.0)
    still = torch.full((1, rounds + 1, 1), z, dtype=torch.float64)
    path = Path(setting, still, torch.ones(1, rounds, 1, dtype=torch.float64), torch.full((1, rounds), math.exp(z), dtype=torch.float64), still[:, 0])
    assert bounds.lemma_6(path).verdict == "fails"
    assert bounds.lemma_6(path.under(norm_bound=z)).verdict == "holds"


def test_lemma_11_flags_long_arms_and_refuses_a_small_ridge():
    path = path_of(Bernoulli(), 3.0, "sharp")
    assert bounds.lemma_11(replace(path, arm=20 * path.arm)).verdict == "fails"
    with pytest.raises(ValueError, match="ridge"):
        bounds.lemma_11(path.under(ridge=0.5))


def test_curvature_along_flags_a_wrong_oracle():
    path = path_of(Bernoulli(), 3.0, "sharp")
    assert bounds.curvature_along(replace(path, best=path.true_z - 3)).verdict == "fails"


def test_printed_forms():
    path = path_of(Bernoulli(), 3.0, "dim")
    assert (bounds.lemma_4(path, printed=True).bound < bounds.lemma_4(path).bound).all()  # R S > 1
    assert np.allclose(bounds.lemma_7(path, printed=True).bound, bounds.lemma_7(path).bound / 2)


# Assumptions and tools -------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [Bernoulli(), Poisson(), Gaussian(0.5), Binomial(4)], ids=str)
def test_assumptions_of_the_families(link):
    assert bounds.assumption_2(link, 4.0).verdict == "holds"
    assert bounds.assumption_3(link, 4.0).verdict == "holds"
    assert bounds.assumption_3(link, 30.0).verdict == "holds"


def test_assumptions_are_flagged():
    @dataclass(frozen=True)
    class Wrong(Bernoulli):
        self_concordance = 0.9

        def max_slope(self, norm_bound):
            return 0.2

    assert bounds.assumption_2(Wrong(), 3.0).verdict == "fails"
    assert bounds.assumption_3(Wrong(), 5.0).verdict == "fails"
    arms, truth = torch.eye(3, dtype=torch.float64), torch.tensor([[3.0, 0, 0]], dtype=torch.float64)
    assert bounds.assumption_1(arms, truth, 3.0).verdict == "holds"
    assert bounds.assumption_1(1.1 * arms, truth, 3.0).verdict == "fails"
    assert bounds.assumption_1(arms, truth, 2.9).verdict == "fails"


@pytest.mark.parametrize("link", [Bernoulli(), Poisson(), Gaussian()], ids=str)
def test_lemma_8(link):
    assert bounds.lemma_8(link, 3.0).verdict == "holds"
    assert bounds.lemma_8(link, 3.0, printed=True).verdict == ("holds" if isinstance(link, Gaussian) else "fails")
    plain, weighted = slope_integrals(Poisson(), torch.tensor(0.0), torch.tensor(4.0))
    assert float(plain) == pytest.approx((math.exp(4) - 1) / 4) and float(weighted) == pytest.approx((math.exp(4) - 5) / 16)


def test_lemma_9():
    rng = np.random.default_rng(0)
    walk = np.cumsum(0.3 * rng.normal(size=(2000, 100)) - 0.045, 1)
    assert bounds.lemma_9(torch.from_numpy(walk), 0.1).verdict == "holds"
    assert bounds.lemma_9(torch.from_numpy(walk + 0.06 * np.arange(100)), 0.1).verdict == "fails"


def test_lemma_10_at_equality():
    for d, value in ((1, 1.333333333), (5, 1.257238921), (20, 1.247545539)):
        check = bounds.lemma_10([32 * d * 4 * 1.0 / 7] * d, 4, 1.0)
        assert check.observed[0] == pytest.approx(value, abs=1e-9) and check.verdict == "holds"
    assert bounds.lemma_10([32 * 4 / 7 * 0.99], 4, 1.0).verdict == "fails"
    assert bounds.lemma_10([1.0], 4, 1.0).observed[0] == math.inf


@pytest.mark.parametrize("link, reward", [(Bernoulli(), 1.0), (Poisson(), 3.0), (Gaussian(0.5), -0.4)], ids=str)
def test_lemma_12(link, reward):
    assert bounds.lemma_12(link, reward, (0.3, 0.5), (0.6, 0.4)).verdict == "holds"
    assert bounds.lemma_12(link, reward, (0.3, 0.5), (0.3, 0.5)).verdict == "holds"


def test_lemma_13_and_the_general_divergence():
    rng = np.random.default_rng(1)
    A = torch.from_numpy(rng.normal(size=(6, 4, 4)))
    A = A @ A.mT + torch.eye(4, dtype=torch.float64)
    a, b = torch.from_numpy(rng.normal(size=(2, 6, 4)))
    assert bounds.lemma_13(a, b, A, 1.5).verdict == "holds"
    assert bounds.lemma_13(a, b, A, 1.5).observed.shape == (6,)
    normal = lambda m, C: torch.distributions.MultivariateNormal(m, C)
    other = torch.linalg.inv(A)
    expected = torch.distributions.kl_divergence(normal(a, A), normal(b, other))
    assert torch.allclose(gaussian_kl(a, A, b, other), expected, rtol=1e-9)


# Theorems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link, S, ridge, covered, worst", [
    (Bernoulli(), 3.0, 5.0, 400, 0.286), (Bernoulli(), 3.0, "theory", 400, 0.492), (Poisson(), 9.0, 5.0, 0, 2.267),
], ids=["logistic S=3 dim", "logistic S=3 theory", "Poisson S=9 dim"])
def test_coverage_with_400_trials(link, S, ridge, covered, worst):
    learner = GLBOMD(link, S, 0.05, ridge)
    setting = theory.setting(learner, 5)
    trace = play(learner, SphereArms(link, S), 300, 400, record=1, probes={"ratio": Probe(RadiusRatio(setting), "max")})
    check = bounds.theorem_1(trace["ratio"], setting)
    count = int(check.by_trial.sum())
    assert count == 400 if covered else count <= 5
    assert check.verdict == ("holds" if covered else "fails")
    assert trace["ratio"].mean() == pytest.approx(worst, rel=0.03)
    assert ("below the condition" in check.remark) == (ridge == 5.0)


def test_theorem_2_on_a_run():
    learner, problem = GLBOMD(Gaussian(), 2.0, ridge="theory"), SphereArms(Gaussian(), 2.0)
    setting = theory.setting(learner, 5)
    trace = play(learner, problem, 400, 60, record=10)
    check = bounds.theorem_2(trace, setting, problem.kappa_opt)
    assert check.by_trial.all() and check.informative_from == 65765 and check.trivial == pytest.approx(1600)
    assert check.remark == "" and not (bounds.theorem_2(trace, setting, 1.0, tight=True).bound >= check.bound).any()
    linear = replace(trace, series={"regret": 1e6 * trace["regret"]})
    assert bounds.theorem_2(linear, setting, 1.0).verdict == "fails"
    assert "g lambda" in bounds.theorem_2(trace, replace(setting, ridge=0.5), 1.0).remark


def test_order_of_regret():
    trace = play(GLBOMD(Bernoulli(), 3.0, ridge="dim"), SphereArms(Bernoulli(), 3.0), 600, 5, record=60)
    root = replace(trace, series={"regret": np.sqrt(trace.rounds) * np.linspace(1, 2, 5)[:, None]})
    line = replace(trace, series={"regret": trace.rounds * np.linspace(1, 2, 5)[:, None]})
    assert bounds.regret_order(root).verdict == "holds" and bounds.regret_order(line).verdict == "fails"


def test_kappa_of_table_1():
    for link, S in ((Bernoulli(), 3.0), (Bernoulli(), 9.0), (Poisson(), 3.0)):
        assert bounds.table_1_kappa(link, S, SphereArms(link, S).kappa_opt(300)).verdict == "holds"
    assert bounds.table_1_kappa(Bernoulli(), 3.0, 22.2).verdict == "fails"


def test_every_statement_is_registered():
    found = {s.name: s for s in statements("glbomd")}
    expected = ([f"Assumption {i}" for i in (1, 2, 3)] + [f"Lemma {i}" for i in ("1", "4", "4b", "5", "6", "7", "8", "9", "10", "11", "12", "13")]
                + ["Lemma 7', free of d", "Lemma 7', sharp", "Proposition 1", "Theorem 1", "Theorem 2", "Table 1", "Table 2", "Table 1, kappa",
                   "Theorem 2, curvature along the run", "Theorem 2, optimism", "Theorem 2, order"])
    assert sorted(found) == sorted(expected)
    assert all(isinstance(s, Statement) and s.summary and s.source for s in found.values())
    path = path_of(Bernoulli(), 3.0, "sharp")
    for lemma in DETERMINISTIC:
        check = lemma(path)
        assert isinstance(check, Check) and check.statement == lemma.statement.name and check.formula and check.inputs["S"] == 3.0
    assert {row.method for row in bounds.table_1()} & {row.method for row in bounds.table_2()} == {"OFUGLB", "GLB-OMD"}
