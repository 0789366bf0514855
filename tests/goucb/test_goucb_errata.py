"""Tests of the errata: their numbers agree with an independent computation, and the list is complete."""

import math

import numpy as np
import pytest
import torch

from companion.goucb import errata as numbers
from companion.goucb.errata import ERRATA
from companion.goucb.proofs import lemmas
from paperlib.goucb.problems.synthetic import StyblinskiTang

EXPECTED = [
    (
        numbers.e3,
        {"S_1": 0.5, "printed step": 0.0, "l_1": math.log(2), "printed lemma": 2 * math.log(2)},
        1e-12,
    ),
    (
        numbers.e4,
        {
            "sum u^2": 22.5,
            "printed": 6.314,
            "corrected": 22.5,
            "largest K": 2.5129,
            "K of f1, T=25": 15.25,
        },
        1e-4,
    ),
    (
        numbers.e8,
        {
            "third derivative": 62.19,
            "allowed": 2.0,
            "1 - least, c=1e-4": 0.006195,
            "1 - least allowed": 0.00019999,
            "largest - 1, c=1e-4": 0.006243,
            "largest allowed - 1": 0.00020003,
            "least, c=.5": -45.65,
        },
        2e-4,
    ),
    (
        numbers.e9,
        {"printed": 8.0, "proved": 2.0, "factor, printed": 6.727, "factor, without zeta": 4.0},
        1e-4,
    ),
    (
        numbers.e13,
        {
            "lambda, T=1": 0.0,
            "lambda, T=25": 51.8058078796,
            "beta_1": 3057793687495.04,
            "beta_25": 76444842187376.0,
            "beta of a bonus 2 F": 169.0,
        },
        1e-11,
    ),
    (numbers.e15, {"5 pairs": 0.0625, "20 pairs": 2.0**-19}, 1e-12),
]


@pytest.mark.parametrize(
    "function, expected, tolerance", EXPECTED, ids=lambda x: getattr(x, "__name__", "")
)
def test_numbers(function, expected, tolerance):
    assert function() == pytest.approx(expected, rel=tolerance, abs=1e-12)


def test_all_are_listed():
    assert [e.id for e in ERRATA] == [f"E{i}" for i in range(1, 19)]
    assert all(e.where and e.problem and e.resolution for e in ERRATA)
    computed = {f for name, f in vars(numbers).items() if name[0] == "e" and name[1:].isdigit()}
    assert {e.function for e in ERRATA if e.function} == computed
    for e in ERRATA:
        assert e.function is None or (e.function.__name__ == e.id.lower() and e.function.__doc__)
        assert e.function is None or all(math.isfinite(x) for x in e.function().values())


def test_the_last_term_of_theorem_4_1():
    """`E2`: divided by sqrt(T), the term is 100 sqrt(T) / sqrt(T) / sqrt(T) as printed, and 100 with T^2."""
    found = numbers.e2()
    for T in (1e4, 1e8):
        assert found[f"printed, T={T:g}"] == pytest.approx(100 / T**0.5, rel=1e-3)
        assert found[f"proof, T={T:g}"] == pytest.approx(100.0, rel=1e-3)


def test_counterexamples_as_statements():
    """`E3` and `E4`: the printed steps fail and the corrected ones hold."""
    e3, e4 = numbers.e3(), numbers.e4()
    assert lemmas.lemma_c6_step([[e3["S_1"]]], [[0.0]]).verdict == "fails"
    assert e3["S_1"] <= e3["l_1"] <= e3["printed lemma"]
    u2, growth = [[e4["sum u^2"]]], [[math.log1p(e4["sum u^2"])]]
    assert lemmas.potential_printed(u2, growth).verdict == "fails"
    assert lemmas.potential(u2, growth, e4["sum u^2"]).verdict == "holds"


def test_constants_grow_outside_w():
    found = numbers.e5()
    assert found["C_h, |w2| <= 1"] == pytest.approx(2.7799753171, rel=1e-10)
    assert found["C_h, |w2| <= 2"] > 1.8 * found["C_h, |w2| <= 1"]
    assert found["C_g, |w2| <= 2"] > 1.6 * found["C_g, |w2| <= 1"]


def test_a_bound_without_sigma():
    """`E6`: the risk of the clipped mean by simulation; the printed bound goes to 0, the corrected one does not."""
    found, rng = numbers.e6(), np.random.default_rng(0)
    risk = np.minimum(rng.normal(size=400_000) ** 2, 0.25).mean()
    assert found["risk"] == pytest.approx(risk, abs=1e-3)
    assert found["printed, n=100"] < found["risk"] < found["corrected, n=1e+06"]
    assert found["printed, n=1e+06"] < 1e-4


def test_covering():
    """`E7`: with C_h = 0 the printed discretization error is 0."""
    found = numbers.e7()
    assert found["squared error"] > found["printed"] == 0
    assert found["distance over half a side"] == pytest.approx(551**0.5)


def test_ranks_and_parameters_of_one_function():
    found = numbers.e10()
    assert (found["rank, f1"], found["dw, f1"]) == (23, 551)
    assert found["rank, A"] == found["dw, A"] == 4
    assert found["parameters, B"] == 8 and found["largest L of them, to 1e-12"] == 0
    assert found["distance to the next"] == pytest.approx(32**0.5)


def test_weights_of_at_least_0_put_the_maximum_into_a_corner():
    """`E17`: without the restriction, the same draws are never largest at the corner."""
    found = numbers.e17()
    for what in ("corner largest", "least slope at least 0"):
        assert found[f"{what}, W = [0, 1]^dw"] == found["draws"] == 200
        assert found[f"{what}, W = [-1, 1]^dw"] == 0


def test_a_c_of_order_t_to_the_minus_a_quarter_never_meets_condition_8():
    """`E18`: at T^(-1/4) only iota^2 in the condition depends on T, and it grows; at T^(-1/8) the condition is met."""
    found = numbers.e18()
    slow = [x for name, x in found.items() if "1/4" in name]
    fast = [x for name, x in found.items() if "1/8" in name]
    assert min(slow) > 1e9 and slow == sorted(slow)
    assert fast == sorted(fast, reverse=True) and fast[0] > 1 > fast[-1]


def test_f2_with_and_without_parentheses():
    found = numbers.e14()
    x = torch.full((1, 1, 20), -2.903534027771177, dtype=torch.float64)
    assert found["f2"] == pytest.approx(float(StyblinskiTang().of(None, x)))
    assert found["f2"] == pytest.approx(783.3233140754, abs=5e-11)
    assert found["as printed"] < 0
