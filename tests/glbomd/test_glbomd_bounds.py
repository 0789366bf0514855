"""Bounds: known values, special cases, monotonicity, coverage."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from glbomd_replays import DETERMINISTIC, Share, WrongSign, replay_of
from scipy.integrate import quad

from companion.glbomd.proofs import lemmas
from companion.glbomd.proofs.lemmas import quadrature_ridge
from companion.verdicts import statements
from paperlib.checks import Check, Statement, Vacuous
from paperlib.core.describe import describe
from paperlib.core.rounds import Probe
from paperlib.glbomd.learners.glbomd import GLBOMD, SHARP
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson
from paperlib.glbomd.model.setting import Setting, setting_of
from paperlib.glbomd.probes import OptimismGap, RadiusRatio
from paperlib.glbomd.problems import SphereArms
from paperlib.glbomd.theory import bounds
from paperlib.glbomd.theory.bounds import regret_bound, regret_row
from paperlib.play import play

# Theorem 2: the numbers ------------------------------------------------------------------------------------

KAPPA_OPT = {
    ("logistic", 3): 9.220967,
    ("logistic", 5): 25.029822,
    ("logistic", 7): 69.838150,
    ("logistic", 9): 184.504981,
    ("Poisson", 3): 0.126607,
    ("Poisson", 5): 0.029558,
    ("Poisson", 7): 0.0065424,
    ("Gaussian", 2): 1.0,
}
LINKS = {"logistic": Bernoulli(), "Poisson": Poisson(), "Gaussian": Gaussian()}
ROWS = [
    ("logistic", 3, "theory", (280, 102.225, 105.237, 487.392, 226523, 1.73841e6, 2715.4), 1.42e8),
    ("logistic", 3, "free", (56, 48.8640, 60.5441, 488.596, 320321, 2.03462e6, 2715.4), 8.47e7),
    ("logistic", 5, "theory", (420, 206.892, 209.548, 818.823, 624334, 4.85836e6, 2959.8), 2.13e9),
    (
        "logistic",
        7,
        "theory",
        (560, 333.415, 335.851, 1156.93, 1.20795e6, 9.57627e6, 2994.5),
        3.3e10,
    ),
    (
        "logistic",
        9,
        "theory",
        (700, 478.511, 480.787, 1498.00, 1.98124e6, 1.59144e7, 2999.3),
        4.7e11,
    ),
    (
        "Poisson",
        3,
        "theory",
        (1446.16, 228.993, 232.880, 10107.8, 1.78935e7, 4.77581e8, 60107),
        1.46e9,
    ),
    (
        "Poisson",
        5,
        "theory",
        (26714.4, 1634.70, 1635.65, 153120, 3.56685e8, 9.5204e10, 445219),
        3.8e11,
    ),
    (
        "Poisson",
        7,
        "theory",
        (368469, 8498.31, 8498.57, 1.80244e6, 5.15897e9, 1.30158e13, 3.29e6),
        7.1e13,
    ),
    ("Gaussian", 2, "theory", (2, 8.61213, 16.7756, 358.453, 0, 39266.5, 12000), 6.6e4),
]


def at_theory(name, S, form="theory"):
    return Setting(LINKS[name], float(S), 5, bounds.ridge_condition(LINKS[name], float(S), 5, form))


@pytest.mark.parametrize(
    "name, S, form, numbers, informative", ROWS, ids=[f"{r[0]}-S{r[1]}-{r[2]}" for r in ROWS]
)
def test_regret_bound_in_numbers(name, S, form, numbers, informative):
    row = regret_row(at_theory(name, S, form), 3000, KAPPA_OPT[name, S])
    assert row[:-1] == pytest.approx(numbers, rel=2e-5, abs=1e-9) or row[:-1] == pytest.approx(
        numbers[:-1] + (row.trivial,), rel=6e-6
    )
    assert row.trivial == pytest.approx(numbers[-1], rel=2e-3)
    assert row.informative_from == pytest.approx(informative, rel=0.01)


@pytest.mark.parametrize(
    "name, S, form, bound, informative",
    [
        ("logistic", 3, "theory", 920830, 9.16e7),
        ("logistic", 3, "free", 1.16898e6, 5.44e7),
        ("Poisson", 3, "theory", 1.66043e8, 1.11e9),
        ("Gaussian", 2, "theory", 19633.3, 1.13e4),
    ],
)
def test_tight_regret_bound(name, S, form, bound, informative):
    row = regret_row(at_theory(name, S, form), 3000, KAPPA_OPT[name, S], tight=True)
    assert row.bound == pytest.approx(bound, rel=3e-6)
    assert row.informative_from == pytest.approx(informative, rel=5e-3)


class Half(Bernoulli):
    """The logistic model with R = 1/2, for formulas in which the powers of R = 1 are the same."""

    self_concordance = 0.5


def test_regret_bounds_solve_their_inequalities():
    """The bounds are the largest r with r <= G1 sqrt(T / kappa + R r) + 2 G2, with 2 G1 for two sets of rounds."""
    setting, T, kappa = setting_of(GLBOMD(Half(), 3.0), 5), 3000, 9.0
    for tight, times in ((True, 1), (False, 2)):
        found = regret_bound(setting, T, kappa, tight=tight)
        root = times * found.G1 * math.sqrt(T / kappa + found.bound / 2)
        assert found.bound == pytest.approx(root + 2 * found.G2, rel=1e-9)


def test_informative_from_is_the_first_round():
    setting, kappa = at_theory("Gaussian", 2), 1.0
    first = regret_row(setting, 3000, kappa).informative_from
    beats = lambda T: (
        regret_bound(setting, T, kappa).bound < bounds.trivial_regret(setting.link, 2.0, T)
    )
    assert beats(first) and not beats(first - 1)


def test_monotonicity_of_the_regret_bound():
    setting = at_theory("logistic", 3)
    bound = lambda s, T=3000, kappa=9.0: regret_bound(s, T, kappa).bound
    assert bound(setting) < bound(setting, T=3001)
    assert bound(setting, kappa=9.0) < bound(setting, kappa=8.0)
    assert bound(setting) < bound(replace(setting, delta=0.001)) and bound(setting) < bound(
        replace(setting, dim=6)
    )
    assert regret_bound(setting, 3000, 9.0, tight=True).bound < bound(setting)


def test_without_curvature_only_the_leading_term_is_left():
    row = regret_bound(at_theory("Gaussian", 2), 500, 1.0)
    assert row.G2 == 0 and row.bound == pytest.approx(2 * row.G1 * math.sqrt(500))


def test_printed_bound_differs_by_the_dispersion_only():
    for variance, factor in ((4.0, 4.0), (1.0, 1.0), (0.25, 0.25)):
        setting = Setting(Gaussian(variance), 2.0, 5, 2 / variance)
        printed, correct = (
            regret_bound(setting, 3000, 1.0, printed=p).bound for p in (True, False)
        )
        assert correct == pytest.approx(factor * printed)


# Ridge and radius ------------------------------------------------------------------------------------------


def test_sharp_constants_are_the_roots():
    assert bounds.sharp_width() == pytest.approx(1.7043702784, abs=5e-11)
    setting = Setting(Bernoulli(), 3.0, 5, 5.0)  # alpha = 6
    assert quadrature_ridge(setting, "sharp") == pytest.approx(6 * 0.3442485310, abs=3e-10)
    assert SHARP == pytest.approx(0.5163727965, abs=5e-11)


def test_sharp_constant_makes_the_integral_bound_an_equality():
    """Check the proof's E (e^{R|u|} - 1 - R|u|) <= 2 R^2 sigma^2 by quadrature, at, below and above x* = R sigma."""
    density = lambda n: math.exp(-n * n / 2) / math.sqrt(2 * math.pi)
    mean = lambda x: 2 * quad(lambda n: (math.exp(x * n) - 1 - x * n) * density(n), 0, 12)[0]
    x = bounds.sharp_width()
    assert mean(x) == pytest.approx(2 * x * x, rel=1e-8)
    assert mean(0.99 * x) < 2 * (0.99 * x) ** 2 and mean(1.01 * x) > 2 * (1.01 * x) ** 2


def test_ridge_conditions():
    for S, sharp, free, full in ((3.0, 18, 56, 280), (5.0, 45, 84, 420), (7.0, 84, 112, 560)):
        forms = [
            bounds.ridge_condition(Bernoulli(), S, 5, form) for form in ("sharp", "free", "theory")
        ]
        assert forms == pytest.approx([sharp, free, full])
    assert bounds.ridge_condition(Poisson(), 3.0, 5, "sharp") == pytest.approx(
        6 * 4 * 3 * math.exp(3)
    )
    assert bounds.ridge_condition(Gaussian(0.25), 2.0, 5, "sharp") == 8.0
    with pytest.raises(ValueError, match="form"):
        bounds.ridge_condition(Bernoulli(), 3.0, 5, "dim")


@pytest.mark.parametrize(
    "link, S",
    [
        (Bernoulli(), 0.1),
        (Bernoulli(), 3.0),
        (Poisson(), 2.0),
        (Gaussian(0.25), 2.0),
        (Binomial(3), 1.0),
    ],
)
@pytest.mark.parametrize("ridge", ["theory", "free", "sharp"])
def test_setting_agrees_with_the_learner(link, S, ridge):
    learner = GLBOMD(link, S, 0.05, ridge)
    setting = setting_of(learner, 4)
    assert setting.ridge == pytest.approx(bounds.ridge_condition(link, S, 4, ridge), rel=1e-9)
    assert setting.ridge >= bounds.ridge_condition(link, S, 4) * (1 - 1e-9)
    assert setting.radius(np.array([1, 7])) == pytest.approx(
        [learner.radius(1, 4), learner.radius(7, 4)], rel=1e-9
    )


def test_setting_refuses_bad_numbers():
    for bad in (
        {"norm_bound": 0.0},
        {"ridge": -1.0},
        {"delta": 0.0},
        {"dim": 0},
        {"link": "logistic"},
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            replace(Setting(Bernoulli(), 3.0, 5, 5.0), **bad)


# Assumptions ----------------------------------------------------------------------------------------------


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
    arms, truth = (
        torch.eye(3, dtype=torch.float64),
        torch.tensor([[3.0, 0, 0]], dtype=torch.float64),
    )
    assert bounds.assumption_1(arms, truth, 3.0).verdict == "holds"
    assert bounds.assumption_1(1.1 * arms, truth, 3.0).verdict == "fails"
    assert bounds.assumption_1(arms, truth, 2.9).verdict == "fails"


# Theorems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link, S, ridge, covered, worst",
    [
        (Bernoulli(), 3.0, 5.0, 400, 0.286),
        (Bernoulli(), 3.0, "theory", 400, 0.492),
        (Poisson(), 9.0, 5.0, 0, 2.267),
        (Share(), 3.0, "theory", 400, 0.498),
        (Gaussian(4.0), 2.0, "theory", 400, 0.254),
    ],
    ids=[
        "logistic S=3 dim",
        "logistic S=3 theory",
        "Poisson S=9 dim",
        "share S=3 theory",
        "Gaussian g=4 theory",
    ],
)
def test_coverage_with_400_trials(link, S, ridge, covered, worst):
    learner = GLBOMD(link, S, 0.05, ridge)
    setting = setting_of(learner, 5)
    trace = play(
        learner,
        SphereArms(link, S),
        300,
        400,
        record=1,
        probes={"ratio": Probe(RadiusRatio(setting), "max")},
    )
    check = bounds.theorem_1(trace["ratio"], setting)
    count = int(check.by_trial.sum())
    assert count == 400 if covered else count <= 5
    assert check.verdict == ("holds" if covered else "fails")
    assert trace["ratio"].mean() == pytest.approx(worst, rel=0.03)
    assert ("below the condition" in check.remark) == (ridge == 5.0)


class HalfRadius(GLBOMD):
    """Choose arms with beta_t / 2."""

    def radius(self, t, dim):
        return super().radius(t, dim) / 2


class OneEarly(GLBOMD):
    """Choose arms with the radius of the previous round."""

    def radius(self, t, dim):
        return super().radius(max(t - 1, 1), dim)


class Pessimistic(GLBOMD):
    """Subtract the bonus instead of adding it."""

    def radius(self, t, dim):
        return -super().radius(t, dim)


@pytest.mark.parametrize("kind", [GLBOMD, HalfRadius, OneEarly, Pessimistic])
@pytest.mark.parametrize(
    "link, S, ridge",
    [
        (Bernoulli(), 3.0, "theory"),
        (Bernoulli(), 3.0, "dim"),
        (Gaussian(4.0), 2.0, "theory"),
        (Poisson(), 7.0, "dim"),
    ],
)
def test_a_choice_that_differs_from_algorithm_1_is_flagged(kind, link, S, ridge):
    learner = kind(link, S, ridge=ridge)
    setting = setting_of(learner, 5)
    probes = {"behind": OptimismGap(setting)}
    trace = play(learner, SphereArms(link, S), 1500, 4, record="all", probes=probes)
    check = bounds.assumption_choice(trace["behind"], setting)
    # With the theory's ridge the radius hardly changes per round, so the previous round's radius gives the same choices.
    good = kind is GLBOMD or (kind is OneEarly and ridge == "theory")
    assert check.verdict == ("holds" if good else "fails")


def test_theorem_2_on_a_run():
    learner, problem = GLBOMD(Gaussian(), 2.0, ridge="theory"), SphereArms(Gaussian(), 2.0)
    setting = setting_of(learner, 5)
    trace = play(learner, problem, 400, 60, record=10)
    check = bounds.theorem_2(trace, setting, problem.kappa_opt)
    assert (
        check.by_trial.all()
        and check.informative_from == 65765
        and check.trivial == pytest.approx(1600)
    )
    # No regret of so few rounds can exceed the bound. The same regret after 1000 times as many rounds could.
    assert check.remark == "" and check.verdict == "vacuous here"
    late = bounds.theorem_2(replace(trace, rounds=1000 * trace.rounds), setting, problem.kappa_opt)
    assert late.by_trial.all() and not isinstance(late, Vacuous)
    linear = replace(trace, series={"regret": 1e6 * trace["regret"]})
    assert bounds.theorem_2(linear, setting, 1.0).verdict == "fails"
    assert "g lambda" in bounds.theorem_2(trace, replace(setting, ridge=0.5), 1.0).remark


def test_order_of_regret():
    trace = play(
        GLBOMD(Bernoulli(), 3.0, ridge="dim"), SphereArms(Bernoulli(), 3.0), 600, 5, record=60
    )
    t = trace.rounds.astype(float)
    at = {"root": t**0.5, "order": t**0.5 * np.log1p(t), "steeper": t**0.7, "line": t}
    found = {
        name: lemmas.regret_order(
            replace(trace, series={"regret": curve * np.linspace(1, 2, 5)[:, None]})
        )
        for name, curve in at.items()
    }
    # The slope may have either sign by rounding, so the verdict of "order" is not tested.
    assert found["order"].inputs["slope"] == pytest.approx(0, abs=1e-12)
    assert {name: check.verdict for name, check in found.items() if name != "order"} == {
        "root": "holds",
        "steeper": "fails",
        "line": "fails",
    }


def test_tables_have_the_orders_of_the_paper():
    """Check rows, logarithms, amortized time, and the methods marked as jointly efficient."""
    fast = "log T sqrt(T / kappa_*)"
    assert [tuple(row) for row in lemmas.table_1()] == [
        ("GLM-UCB", "kappa (log T)^(3/2) sqrt(T)", "t", "t", "no"),
        ("GLOC", "kappa log T sqrt(T)", "1", "1", "no"),
        ("OFUGLB", fast, "t", "t", "no"),
        ("RS-GLinCB", fast, "(log t)^2, amortized", "t", "no"),
        ("GLB-OMD", fast, "1", "1", "yes"),
    ]
    assert [tuple(row) for row in lemmas.table_2()] == [
        ("ECOLog", fast, "log t", "1", "yes"),
        ("OFUL-MLogB", "(log T)^(3/2) sqrt(T / kappa_*)", "1", "1", "yes"),
        ("GLB-OMD", fast, "1", "1", "yes"),
    ]


def test_kappa_of_table_1():
    for link, S in ((Bernoulli(), 3.0), (Bernoulli(), 9.0), (Poisson(), 3.0)):
        assert lemmas.table_1_kappa(link, S, SphereArms(link, S).kappa_opt(300)).verdict == "holds"
    assert lemmas.table_1_kappa(Bernoulli(), 3.0, 22.2).verdict == "fails"


def test_every_statement_is_registered():
    found = {s.name: s for s in statements("glbomd")}
    expected = (
        [f"Assumption {i}" for i in (1, 2, 3)]
        + ["Algorithm 1, choice"]
        + [f"Lemma {i}" for i in ("1", "4", "4b", "5", "6", "7", "8", "9", "10", "11", "12", "13")]
        + [
            "Lemma 7', free of d",
            "Lemma 7', sharp",
            "Proposition 1",
            "Theorem 1",
            "Theorem 2",
            "Table 1",
            "Table 2",
            "Table 1, kappa",
            "Theorem 2, curvature along the run",
            "Theorem 2, optimism",
            "Theorem 2, order",
        ]
    )
    assert sorted(found) == sorted(expected)
    assert all(isinstance(s, Statement) and s.summary and s.source for s in found.values())
    run = replay_of(Bernoulli(), 3.0, "sharp")
    for lemma in DETERMINISTIC:
        check = lemma(run)
        assert (
            isinstance(check, Check)
            and check.statement == lemma.statement.name
            and check.formula
            and check.inputs["S"] == 3.0
        )


def test_wrong_sign_loses_the_confidence_set():
    verdicts = []
    for kind in (GLBOMD, WrongSign):
        learner = kind(Gaussian(), 2.0, 0.05, ridge="sharp")
        probe = {"ratio": Probe(RadiusRatio(setting_of(learner, 5)), "max")}
        trace = play(learner, SphereArms(Gaussian(), 2.0), 300, 80, record=1, probes=probe)
        verdicts.append(bounds.theorem_1(trace["ratio"], setting_of(learner, 5)).verdict)
    assert verdicts == ["holds", "fails"]


def test_probe_enters_a_configuration():
    setting = Setting(Poisson(), 3.0, 5, 5.0)
    assert describe(Probe(RadiusRatio(setting), "max"))["of"]["setting"]["ridge"] == 5.0
    assert describe(RadiusRatio(setting)) != describe(RadiusRatio(replace(setting, ridge=6.0)))
