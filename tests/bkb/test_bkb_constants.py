"""Closed forms of the theory: known numbers, special cases, monotonicity."""

import math

import pytest
import torch
from bkb_runs import confidence

from companion.bkb.errata import reference_arms
from companion.bkb.proofs import run_lemmas
from paperlib.bkb.theory import constants as theory

GOLDEN = (math.sqrt(5) - 1) / 2  # the eps that minimizes qbar_theory


def test_oversampling_in_numbers():
    assert theory.qbar_theory(1000, 0.1) == pytest.approx(762.9577008, abs=1e-6)
    assert theory.qbar_tight(1000, 0.1) == pytest.approx(470.7427853, abs=1e-6)
    assert theory.qbar_tight(1000, 0.1, dimension=2) == pytest.approx(451.3, abs=0.05)
    assert theory.qbar_theory(1000, 0.1, GOLDEN) == pytest.approx(705.1108801, abs=1e-6)
    assert theory.inflation(GOLDEN) / GOLDEN**2 == pytest.approx(((1 + math.sqrt(5)) / 2) ** 5)


@pytest.mark.parametrize(
    "horizon, best, half",
    [(200, 598, 647), (10**3, 705, 763), (10**4, 858, 929), (10**6, 1165, 1260)],
)
def test_oversampling_of_the_theory_is_in_the_hundreds(horizon, best, half):
    assert (
        round(theory.qbar_theory(horizon, 0.1, GOLDEN)) == best
        and round(theory.qbar_theory(horizon, 0.1)) == half
    )
    assert all(
        theory.qbar_theory(horizon, 0.1, eps) >= theory.qbar_theory(horizon, 0.1, GOLDEN)
        for eps in (0.1, 0.3, 0.5, 0.61, 0.63, 0.9)
    )
    assert (
        theory.qbar_tight(horizon, 0.1, dimension=2)
        < theory.qbar_tight(horizon, 0.1)
        < theory.qbar_theory(horizon, 0.1)
    )


def test_tight_oversampling_makes_the_failures_sum_to_delta():
    """The tight q solves sum_t 4 t exp(-eps^2 q / (2 alpha (1 + eps / 3))) = delta."""
    T, delta, eps = 500, 0.05, 0.3
    q = theory.qbar_tight(T, delta, eps)
    total = sum(4 * t for t in range(1, T + 1)) * math.exp(
        -(eps**2) * q / (2 * theory.inflation(eps) * (1 + eps / 3))
    )
    assert total == pytest.approx(delta, rel=1e-9)


def test_horizon_up_to_which_bkb_is_exact():
    one = torch.ones(3, dtype=torch.float64)
    assert theory.exact_horizon(10.0, one, 1.0) == 9 and theory.exact_horizon(10.0, one, 0.5) == 9
    # The horizon does not change if k and lambda are multiplied by the same factor.
    assert theory.exact_horizon(10.0, 4 * one, 4.0) == 9
    assert theory.exact_horizon(10.0, torch.tensor([1.0, 0.5]), 1.0) == 4
    assert theory.exact_horizon(10.0, torch.tensor([1.0, 0.0]), 1.0) == 9
    assert theory.exact_horizon(0.5, one, 1.0) == 0
    assert (
        theory.exact_horizon_of_theory(0.1) == 741
        and theory.exact_horizon_of_theory(0.1, GOLDEN) == 679
    )
    for T in (740, 741, 742):
        assert (T + 0.01 <= theory.qbar_theory(T, 0.1)) == (T <= 741)
    with pytest.raises(ValueError, match="diagonal"):
        theory.exact_horizon(1.0, 0 * one, 1.0)


def test_sizes_of_the_dictionary():
    assert theory.size_printed(16.4, 1.0, 0.01, 5.0) == pytest.approx(74538)
    assert theory.size_tight(16.4, 5.0) == pytest.approx(741)
    assert theory.size_expected(0.0, 5.0) == 1.0
    assert -math.log(theory.size_failure(1.0)) == pytest.approx(1.29584, abs=5e-6)
    assert theory.size_failure(2.0, printed=True) == math.exp(-4)


def test_factor_of_the_potential():
    assert theory.potential_factor(1.0, 0.01) == pytest.approx(21.6679065336, abs=1e-9)
    assert theory.potential_factor(1.0, 1.0) == pytest.approx(1.442695, abs=1e-6)
    C = theory.potential_factor(3.0, 0.5)
    assert all(
        x <= C * math.log1p(x) * (1 + 1e-12) for x in (1e-6, 0.1, 1.0, 5.9, 6.0)
    ) and 6.1 > C * math.log1p(6.1)


def test_regret_bounds_in_numbers():
    reference = confidence()
    assert theory.regret_printed(reference, 1.0, 300, 16.737) == pytest.approx(
        6469.7824175, abs=1e-6
    )
    assert theory.regret_bound(reference, 1.0, 300, 79.1, 3.116) == pytest.approx(
        7746.0794371, abs=1e-6
    )
    assert theory.trivial_regret(reference, 1.0, 300) == 1800


def test_regret_bounds_grow_with_horizon_information_and_radius():
    c = confidence()
    for bound in (
        lambda **k: theory.regret_bound(
            **{"confidence": c, "kappa2": 1.0, "horizon": 300, "log_det": 79.0, "radius": 3.0} | k
        ),
    ):
        assert (
            bound() < bound(horizon=301)
            and bound() < bound(log_det=80.0)
            and bound() < bound(radius=3.1)
            and bound() < bound(kappa2=1.1)
        )
        assert bound() < bound(confidence=confidence(eps=0.6))
    assert theory.regret_printed(c, 1.0, 300, 16.0) < theory.regret_printed(c, 1.0, 300, 17.0)
    # The logarithm is clamped at 0 if kappa2 T < 1.
    assert theory.regret_printed(c, 1e-3, 300, 16.0) < theory.regret_printed(c, 1.0, 300, 16.0)
    worst = lambda gamma, c=c: theory.radius_worst(c, 1.0, 300, gamma)
    assert worst(50.0) < worst(60.0) < worst(60.0, confidence(eps=0.7))
    assert theory.regret_worst(c, 1.0, 300, 50.0) == theory.regret_bound(
        c, 1.0, 300, 100.0, worst(50.0)
    )


def test_each_rule_has_its_own_worst_radius():
    """With xi = 0.1, lambda = 0.01, alpha = 3 the sums are 2 alpha gamma = 300 and 2 alpha^2 gamma = 900."""
    inside = {
        "online": 900 + 2 * math.log(10),
        "corrected": 3 * (1 + math.log(1 + 100 * 300)) * 300 + 2 * math.log(10),
        "paper": 4 * (3 * math.log(300) * 300 + math.log(10)),
    }
    for rule, value in inside.items():
        expected = 0.1 * math.sqrt(value) + 0.3 * (1 + math.sqrt(2))
        assert theory.radius_worst(confidence(rule), 1.0, 300, 50.0) == pytest.approx(expected)


def test_worst_radius_without_sketching_error():
    """As eps goes to 0 the radius is xi sqrt(2 gamma + 2 L) + 2 sqrt(lambda) F."""
    assert theory.radius_worst(confidence("online", eps=1e-12), 1.0, 300, 50.0) == pytest.approx(
        0.1 * math.sqrt(100 + 2 * math.log(10)) + 0.6
    )


@pytest.mark.parametrize("eps, worst, printed", [(0.5, 4.9e4, 2.25e4), (0.1, 2.28e3, 431)])
def test_horizons_from_which_the_bounds_are_informative(eps, worst, printed):
    kernel, arms = reference_arms()
    c, gamma = confidence("online", eps=eps), run_lemmas.gamma_at(kernel, arms, 0.01)
    uniform = lambda T: run_lemmas.uniform_dimension(kernel, arms, T, 0.01)
    found = theory.informative_horizons(c, 1.0, gamma, uniform, cap=10**6)
    assert found == pytest.approx({"corrected": worst, "printed": printed}, rel=0.02)
    for bound, first in (
        (lambda T: theory.regret_worst(c, 1.0, T, gamma(T)), found["corrected"]),
        (lambda T: theory.regret_printed(c, 1.0, T, uniform(T)), found["printed"]),
    ):
        assert bound(first) < 6 * first and bound(first - 1) >= 6 * (first - 1)
    assert theory.informative_horizons(c, 1.0, gamma, uniform, cap=100)["corrected"] is None


def test_informative_for_good_ignores_an_early_dip():
    assert theory.informative_for_good(lambda T: 0.0 if T < 3 else 100.0, lambda T: T, 10**4) == 101
    assert theory.informative_for_good(lambda T: 0.0, lambda T: T, 100) == 1
    assert theory.informative_for_good(lambda T: 2.0 * T, lambda T: T, 100) is None


def test_validity_and_failure():
    assert (
        theory.failure(confidence()) == pytest.approx(0.2)
        and theory.failure(confidence(), sketched=False) == 0.1
    )
    assert theory.failure(confidence(delta=0.7)) < 1
    for rule, sketched, exact in (
        ("online", "", ""),
        ("corrected", "", ""),
        ("practical", "practical", ""),
        ("paper", "paper", "paper"),
        ("reference", "reference", "reference"),
    ):
        for word, kind in ((sketched, True), (exact, False)):
            remark = theory.validity(confidence(rule), kind)
            assert word in remark and bool(word) == bool(remark)
    assert "scaled" in theory.validity(
        confidence("online", scale=0.5)
    ) and "qbar" in theory.validity(confidence("online"), True, 5.0, 100)
    assert theory.validity(confidence("online"), True, 1000.0, 100) == ""


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda: theory.inflation(1.0), "eps"),
        (lambda: theory.qbar_theory(0, 0.1), "horizon"),
        (lambda: theory.qbar_theory(10, 1.0), "delta"),
        (lambda: theory.qbar_tight(10, 0.1, dimension=3), "dimension"),
    ],
)
def test_bad_numbers_are_refused(call, name):
    with pytest.raises(ValueError, match=name):
        call()
