"""Radius rules compared with values computed by hand and with each other, and the sums in a tally."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from paperlib.bkb.learners.soful import SOFUL
from paperlib.bkb.model.confidence import RULES, Confidence, RoundSums

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
REF = Confidence(0.1, 3.0, ridge=0.01)  # delta = 0.1 and eps = 0.5, so that alpha = 3
PAIRS = ((10, 5.0), (100, 20.0))
BIAS = (1 + math.sqrt(2)) * 0.1 * 3.0
L = math.log(10)


def tally(information=0.0, inflated=0.0, effective=0.0, kappa2=1.0, rounds=1):
    one = lambda x: torch.tensor([x], **TKWARGS)
    return RoundSums(one(information), one(inflated), one(effective), one(kappa2), rounds)


def radius(rule, scale=1.0, **sums):
    return replace(REF, rule=rule, scale=scale, gamma=PAIRS).radius(tally(**sums)).item()


@pytest.mark.parametrize(
    "rule, rounds, effective, value",
    [
        ("paper", 10, 4.0, 1.8184963331),
        ("corrected", 10, 4.0, 1.7218122006),
        ("paper", 300, 16.74, 4.1227728062),
        ("corrected", 300, 16.74, 3.1170499906),
    ],
)
def test_radii_of_an_independent_computation(rule, rounds, effective, value):
    assert radius(rule, rounds=rounds, effective=effective) == pytest.approx(value, abs=1e-9)


def test_radius_of_soful():
    one = lambda x: torch.tensor([x], **TKWARGS)
    learner, empty = SOFUL(Confidence(0.1, 1.0)), torch.zeros(1, 1, 30, **TKWARGS)
    value = learner.radius(SimpleNamespace(log_det=one(5.0), rho=one(0.2), sketch=empty))
    assert value.item() == pytest.approx(6.7040826553, abs=1e-9)
    # While the sketch has dropped no direction, the radius is the radius of OFUL.
    kept = learner.radius(SimpleNamespace(log_det=one(5.0), rho=one(0.0), sketch=empty))
    assert kept.item() == pytest.approx(0.1 * math.sqrt(5 + 2 * L) + 0.1, abs=1e-12)


FORMULAS = {  # kappa2 = 2, t = 7, Sig = 4, sums 3 and 5
    "paper": 0.2 * math.sqrt(3 * math.log(14) * 4 + L) + BIAS,
    "corrected": 0.1 * math.sqrt(3 * (1 + math.log(1401)) * 4 + 2 * L) + BIAS,
    "online": 0.1 * math.sqrt(5 + 2 * L) + BIAS,
    "practical": 0.1 * math.sqrt(3 + 2 * L) + 0.3,
    "reference": 0.1 * math.sqrt(4 * math.log(7) + L) + 0.3,
    "gamma": 0.1 * math.sqrt(2 * 5 + 2 * L) + 0.3,
    "const": 1.0,
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_its_formula_times_the_scale(rule):
    assert set(FORMULAS) == set(RULES)
    sums = {"information": 3.0, "inflated": 5.0, "effective": 4.0, "kappa2": 2.0, "rounds": 7}
    assert radius(rule, **sums) == pytest.approx(FORMULAS[rule], rel=1e-12)
    assert radius(rule, scale=0.2, **sums) == pytest.approx(0.2 * FORMULAS[rule], rel=1e-12)


def test_the_logarithm_of_the_paper_is_clamped():
    """For kappa2 t < 1 the printed formula would take the square root of a negative number."""
    assert radius("paper", kappa2=0.01, rounds=5, effective=1e6) == pytest.approx(
        0.2 * math.sqrt(L) + BIAS, rel=1e-12
    )
    assert radius("paper", kappa2=0.5, rounds=3, effective=1.0) == pytest.approx(
        0.2 * math.sqrt(3 * math.log(1.5) + L) + BIAS, rel=1e-12
    )


def test_gamma_is_taken_from_the_next_pair():
    confidence = replace(REF, rule="gamma", gamma=PAIRS)
    assert [confidence.gamma_at(t) for t in (1, 10, 11, 100)] == [5.0, 5.0, 20.0, 20.0]
    with pytest.raises(
        ValueError, match="gamma must contain a pair for t of at least 101, got pairs up to t = 100"
    ):
        confidence.radius(tally(rounds=101))


def test_a_tally_adds_up():
    """All variances are inflated except the first, which is known exactly; Sig is the latest value, not a sum."""
    sums = REF.start(torch.tensor([1.0], **TKWARGS), 2)
    assert sums.rounds == 0 and sums.information.shape == (2,) and not sums.information.any()
    for played, effective in (((9.0, 4.0), (1.0, 2.0)), ((1.0, 0.0), (3.0, 4.0))):
        sums = REF.add(sums, torch.tensor(played, **TKWARGS), torch.tensor(effective, **TKWARGS))
    torch.testing.assert_close(
        sums.information, torch.tensor([math.log(20), math.log(5)], **TKWARGS)
    )
    torch.testing.assert_close(sums.inflated, torch.tensor([math.log(40), math.log(5)], **TKWARGS))
    assert sums.effective.tolist() == [3.0, 4.0] and sums.rounds == 2


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(RULES[:-1]),
    st.floats(0.01, 5),
    st.floats(0.1, 5),
    st.floats(1e-3, 5),
    st.floats(1e-6, 0.5),
    st.floats(0.05, 0.9),
    st.floats(0, 50),
    st.integers(2, 100),
)
def test_radii_grow_with_noise_norm_and_confidence(
    rule, noise, norm, ridge, delta, eps, sums, rounds
):
    confidence = Confidence(noise, norm, ridge, delta, eps, rule, gamma=PAIRS)
    at = tally(sums, 2 * sums, sums / 2, rounds=rounds)
    here = confidence.radius(at)
    for harder in (
        replace(confidence, noise=2 * noise),
        replace(confidence, norm_bound=2 * norm),
        replace(confidence, delta=delta / 2),
    ):
        assert harder.radius(at) > here
    assert here > math.sqrt(ridge) * norm
    more = tally(sums + 1, 2 * sums + 1, sums / 2 + 1, rounds=rounds)
    assert (
        (confidence.radius(more) == here) if rule == "gamma" else (confidence.radius(more) > here)
    )


def test_the_ridge_is_the_noise_squared_unless_given():
    assert (
        Confidence(0.3, 1.0).lam == pytest.approx(0.09)
        and Confidence(0.0, 1.0, ridge=2.0).lam == 2.0
    )
    assert Confidence(0.1, 1.0, eps=0.1).alpha == pytest.approx(1.1 / 0.9)


NUMBER = [math.nan, math.inf, "large", True]
BAD = {
    "noise": NUMBER + [-0.1],
    "norm_bound": NUMBER + [-1.0],
    "ridge": NUMBER + [0.0, -1.0],
    "delta": NUMBER + [0.0, 1.0, -0.1],
    "eps": NUMBER + [0.0, 1.0],
    "rule": ["theory"],
    "scale": NUMBER + [-1.0],
}


@pytest.mark.parametrize(
    "field, value", [(field, value) for field, values in BAD.items() for value in values]
)
def test_fields_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        replace(REF, **{field: value})


def test_fields_that_need_another_field():
    with pytest.raises(
        ValueError, match=r"ridge must be a number from 1e-30 to 1e\+30.*, got 0.0"
    ):  # without noise the ridge has no default
        Confidence(0.0, 1.0)
    with pytest.raises(ValueError, match="^gamma must .*, got "):
        replace(REF, rule="gamma")
