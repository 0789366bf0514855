"""Errata: their numbers, and the completeness of the list."""

import math

import pytest

from companion.glbomd import errata as numbers

EXPECTED = [
    (numbers.e2, {"range": 1.0, "constant": 2.0}, 1e-12),
    (numbers.e3, {"z=-1": 2.0, "z=-0.1": 20.0, "z=-0.001": 2000.0}, 1e-12),
    (numbers.e4, {"printed": 2.0, "proved": 6.0}, 1e-12),
    (numbers.e5, {"Lemma 3": 30.0, "Lemma 6": 60.0}, 1e-12),
    (
        numbers.e6,
        {
            "printed, g=4": 18777.4,
            "correct, g=4": 75109.7,
            "printed, g=0.25": 90946.7,
            "correct, g=0.25": 22736.7,
        },
        3e-6,
    ),
    (numbers.e7, {"factor": 2.0}, 1e-12),
    (numbers.e8, {"integral": 3.099884, "claimed for z_2": 9.099692, "for z_1": 1 / 6}, 2e-7),
    (numbers.e9, {"i = j": 3.0, "i != j": 1.0}, 1e-10),
    (numbers.e11, {"theory": 280.0, "free": 56.0, "sharp": 18.0}, 1e-12),
    (
        numbers.e14,
        {
            "Poisson, S=3": 229,
            "Poisson, S=5": 1635,
            "Poisson, S=7": 8498,
            "Poisson, S=9": 37653,
            "Gaussian, S=2": 8.61213,
        },
        2e-4,
    ),
    (numbers.e15, {"S": 3.0, "largest index": 16.3}, 2e-3),
    (numbers.e18, {"printed": 1.73841e6, "tight": 920830}, 3e-6),
    (numbers.e19, {"(42a)": 1 / 3, "printed": 2 / 7}, 1e-12),
    (numbers.e25, {"lambda": 0.5, "theory": 2.0, "lambda = 0.1": 0.4}, 1e-12),
    (numbers.e30, {"quoted": 200.0, "kappa": 405.43, "norm of the arms for 200": 0.88137}, 5e-5),
    (
        numbers.e31,
        {
            "left, d=1": 1.085853,
            "right, d=1, C=1": 0.479925,
            "right, d=1, C=2": 0.461281,
            "left, d=5": 0.700922,
            "right, d=5, C=1": 0.005718,
            "right, d=5, C=2": 0.0052354,
        },
        4e-5,
    ),
]


@pytest.mark.parametrize(
    "function, expected, tolerance", EXPECTED, ids=lambda x: getattr(x, "__name__", "")
)
def test_numbers(function, expected, tolerance):
    assert function() == pytest.approx(expected, rel=tolerance)


def test_all_are_listed():
    assert len(numbers.ERRATA) == 32


def test_regret_against_argmin_is_negative():
    found = numbers.e1()
    assert found["argmin"] < 0 < found["argmax"]


def test_symmetry_of_lemma_8_fails_at_small_distances_too():
    for distance in (0.1, 1.0, 4.0):
        found = numbers.e8(0.0, distance)
        assert found["for z_1"] <= found["integral"] < found["claimed for z_2"]


def test_logarithm_of_lemma_6():
    found = numbers.e10()
    assert found["by trace"] < found["enough"] < found["printed"]


def test_taylor_remainder_has_no_half():
    found = numbers.e16()
    assert found["integral"] == pytest.approx(found["remainder"], rel=1e-12)
    assert found["printed"] == pytest.approx(found["remainder"] / 2, rel=1e-12)


def test_elliptical_potential_needs_kappa():
    found = numbers.e17()
    assert found["printed"] < found["sum of widths"] <= found["with kappa"]


def test_warm_up_of_rsglincb_does_not_end_with_theory_constants():
    found = numbers.e20()
    assert found["gamma"] == pytest.approx(595, abs=1)
    assert found["threshold"] == pytest.approx(1.3e-7, rel=0.05)
    assert found["rounds"] > 1e6


def test_reported_kappas_are_over_the_arms():
    found = numbers.e21()
    quoted = {"Bernoulli": (21, 137, 963), "Poisson": (18, 127, 882)}
    for link, values in quoted.items():
        for S, value in zip((3, 5, 7), values):
            assert round(found[f"{link}, S={S}, arms"]) == value
            assert round(found[f"{link}, S={S}, ball"]) != value
    assert found["Bernoulli, S=3, ball"] == pytest.approx(2 + 2 * math.cosh(3))
    norms = {link: found[f"{link}, S=5, norm"] for link in quoted}
    assert norms == pytest.approx({"Bernoulli": 0.981, "Poisson": 0.969}, abs=6e-4)


def test_reward_bound_is_below_a_mean_in_some_rounds():
    found = numbers.e26()
    assert round(found["S=3, largest"]) == 19 and round(found["S=5, largest"]) == 135
    assert found["S=3, rounds above 100"] == 0 < found["S=5, rounds above 100"] < 100


def test_ridge_of_the_figures_misses_the_condition():
    found = numbers.e27()
    assert found["logistic, S=3"] == pytest.approx(56)
    assert found["Poisson, S=7"] == pytest.approx(7.4e4, rel=0.01)
    assert found["Poisson, S=9"] == pytest.approx(8.75e5, rel=0.01)
