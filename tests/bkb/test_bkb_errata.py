"""Numbers of the errata, and the completeness of the list."""

import math

import numpy as np
import pytest
import torch
from bkb_runs import confidence

from companion.bkb import errata
from paperlib.bkb import BKB, Linear
from paperlib.bkb.model.confidence import RoundSums
from paperlib.bkb.theory import constants as theory
from paperlib.play import play

EXPECTED = [
    (
        errata.e1,
        {
            "d_eff": 1.5238095238,
            "sum of scaled variances": 1.5238095238,
            "sum of variances of (2)": 0.7619047619,
        },
        1e-9,
    ),
    (errata.e3, {"q-bar s2": 500.0, "clipped": 1.0}, 1e-12),
    (errata.e5, {"s2": 100.0, "alpha min{s2~, 1}": 3.0, "alpha s2~": 300.0}, 1e-12),
    (
        errata.e6,
        {
            "left, newest arm": 0.5,
            "s2, newest arm": 0.5,
            "left, other arm": 0.5,
            "s2, other arm": 0.875,
        },
        1e-12,
    ),
    (errata.e7, {"s2_1(x_1)": 0.0909, "gamma_1": 0.0477, "2 gamma_1": 0.0953}, 2e-3),
    (
        errata.e14,
        {"theorem": 762.9577008, "prefactor 4 t": 470.7427853, "prefactor 2 t": 451.3346642},
        1e-9,
    ),
    (errata.e15, {"norm": 0.8, "identity": 0.8, "printed": 0.95}, 1e-12),
    (
        errata.e18,
        {"alpha / eps^2": 12.0, "q-bar": 762.9577008, "(2 alpha)^{3/2}": 14.6969385},
        1e-8,
    ),
    (errata.e19, {"d (d + 1)": 6 / 11, "d^2": 4 / 9}, 1e-12),
    (errata.e21, {"from scratch": 1e10 + 1e9 / 3, "rank one": 2e7}, 1e-12),
    (errata.e23, {"eps to 0": 2.0, "exact": 1.0}, 1e-8),
]


@pytest.mark.parametrize(
    "function, expected, tolerance", EXPECTED, ids=lambda x: getattr(x, "__name__", "")
)
def test_numbers(function, expected, tolerance):
    assert function() == pytest.approx(expected, rel=tolerance)


def test_determinant_and_dimension_of_arms_pulled_in_turn():
    """The numbers of ``e10`` and ``e13`` agree with the eigenvalues of the Gram matrix of all 300 pulls."""
    x = np.linspace(0, 1, 64)[np.arange(300) % 64]
    values = np.linalg.eigvalsh(np.exp(-100 * (x[:, None] - x) ** 2)).clip(0) / 0.01
    log_det, effective = np.log1p(values).sum(), (values / (1 + values)).sum()
    assert errata.e10() == pytest.approx(
        {"printed": 0.02 * (log_det + np.log(10)), "sharp": 0.01 * log_det + 0.02 * np.log(10)},
        rel=1e-9,
    )
    assert errata.e13() == pytest.approx(
        {"d_eff": effective, "printed": 45 * 101 * effective, "tight": 45 * effective + 3}, rel=1e-9
    )


def test_all_are_listed():
    assert len(errata.ERRATA) == 23


def test_tail_of_the_binomial():
    found = errata.e8()
    for d, tail, claimed in ((1, 0.0803, 0.0669), (3, 3.80e-3, 2.48e-3), (5, 2.26e-4, 4.5e-5)):
        assert found[f"P, d={d}"] == pytest.approx(tail, rel=2e-3)
        assert found[f"first printed, d={d}" if d == 1 else f"printed, d={d}"] == pytest.approx(
            claimed, rel=1e-2
        )
        assert (
            min(found[f"printed, d={d}"], found[f"first printed, d={d}"])
            < found[f"P, d={d}"]
            <= found[f"repaired, d={d}"]
        )


def test_first_rounds_of_the_printed_logarithm():
    found = errata.e9()
    assert [found[f"printed step, lambda={lam}"] for lam in ("1", "0.1", "0.01", "0.001")] == [
        4,
        28,
        272,
        2719,
    ]
    assert found["radius, lambda=0.01"] == 7
    one = lambda x: torch.tensor([x], dtype=torch.float64)
    radius = lambda rule, t, effective: float(
        confidence(rule).radius(RoundSums(one(0.0), one(0.0), one(effective), one(1.0), t))
    )
    assert all(radius("paper", t, float(t)) < radius("corrected", t, float(t)) for t in (1, 2, 3))
    assert all(
        radius("paper", t, x) > radius("corrected", t, x)
        for t in (7, 10, 300)
        for x in (0.5, 1.0, t / 2, float(t))
    )


def test_probability_of_theorem_4_1():
    found = errata.e12()
    assert found["in numbers"] == pytest.approx(0.1 + 8.85e-5, rel=1e-5) and found["proved"] == 0.2


def test_counterexample_to_theorem_4_1_as_printed():
    found = errata.e11()
    for noise, bound in ((0.01, 28.0), (0.001, 2.80), (0.0001, 0.280)):
        regret, _ = errata.counterexample(noise)
        assert regret.shape == (200,) and (regret == 9).all()
        c = confidence(noise=noise, norm_bound=1.0)
        qbar = theory.qbar_theory(10, c.delta, c.eps)
        # Every pull is kept, so that BKB equals the exact GP-UCB that runs in the counterexample.
        assert theory.exact_horizon(qbar, torch.ones(10), c.lam) >= 10
        assert (
            found[f"printed, xi={noise:g}"] == pytest.approx(bound, rel=2e-3)
            and found[f"regret, xi={noise:g}"] == 9.0
        )
        corrected = theory.regret_bound(
            c,
            1.0,
            10,
            10 * math.log1p(1 / noise**2),
            2 * noise,
        )
        assert corrected > 9


def test_bkb_plays_as_the_counterexample():
    c = confidence("paper", noise=1e-3, norm_bound=1.0)
    learner = BKB(Linear(), c, qbar=theory.qbar_theory(10, c.delta, c.eps))
    trace = play(
        learner,
        errata.OrthonormalArms(1e-3),
        10,
        20,
        record="all",
        probes={"out": lambda seen: ((seen.after.n > 0) & ~seen.after.mask).sum(1)},
    )
    assert (trace["regret"][:, -1] == 9).all() and (trace["out"] == 0).all()
    assert 9 > errata.counterexample(1e-3, 20)[1]
