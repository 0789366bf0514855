"""Test that no learner depends on the unit or the origin of the observed values, except by definition."""

import dataclasses
import functools
import math

import numpy as np
import pytest
import torch

from companion.goucb.cases import CASES
from paperlib.asktell import AskTell
from paperlib.core.linalg import Rows
from paperlib.goucb.learners import turbo
from paperlib.goucb.learners.acquisition import Linearized
from paperlib.goucb.learners.goucb import GOUCB, TrustRegion
from paperlib.goucb.learners.gp import GP
from paperlib.goucb.learners.oracle import LevenbergMarquardt
from paperlib.goucb.learners.presets import algorithm1, practical
from paperlib.goucb.learners.search import mean_and_std, unit_of_evaluations
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.maths.bounds import Bounds
from paperlib.samplers import GOUCBSampler, TuRBOSampler

F64 = torch.float64
# Few steps and points in the searches: a run takes about a second.
SMALL = {"oracle": LevenbergMarquardt(2, 8, 3), "acquisition": Linearized(12, 4, 2, 3)}
FEWER = {"fit_steps": 3, "candidates": 20}
ABSOLUTE = {  # learners that depend on the unit of the observed values by definition
    "GO-UCB": "lambda, beta and the largest |f| are the paper's numbers, for answers as they are",
    "GO-UCB, uniform start": "the same",
    "GO-UCB, proof": "the theorems' noise and curvature are declared in units of the answers",
    **dict.fromkeys(
        ("GP-UCB, raw", *(f"GP-{name}, optimize_acqf" for name in ("UCB", "EI", "PI"))),
        "the prior's scale and noise are for answers as they are",
    ),
}


def smaller(learner):
    return dataclasses.replace(learner, **SMALL if isinstance(learner, GOUCB) else FEWER)


# The learners of the samplers, and two that their users may choose instead.
CHOSEN = {
    "sampler TuRBO": smaller(TuRBOSampler(n_startup_trials=4)._learner()),
    "sampler GO-UCB": smaller(GOUCBSampler(n_startup_trials=4)._learner()),
    "algorithm1": smaller(algorithm1(4)),
    "GP-EI": smaller(GP(4, "modern", "EI")),
}
LEARNERS = {name: case.learner for name, case in CASES.items()} | CHOSEN
# Learners that take 3 to 9 s per run.
SECONDS = ("BoTorch, default", "GO-UCB, function", "MAP-SAAS", "scikit-optimize")


def with_each(*values):
    """Return a parameter set for every learner that must not depend on the unit, combined with each of the values."""
    slow = lambda name: [pytest.mark.slow] if name in SECONDS else []
    names = sorted(LEARNERS.keys() - ABSOLUTE.keys())
    return [pytest.param(name, value, marks=slow(name)) for name in names for value in values]


def bowl(x):
    return -float(((x - 0.3) ** 2).sum())


@functools.cache
def once(name):
    """Return the points with unscaled values."""
    return points(LEARNERS[name])


def points(learner, scale=1.0, shift=0.0, f=bowl, dim=2, rounds=7):
    """Return the proposed points, rounds x d, when the observed values are scale (f + shift)."""
    zero = torch.zeros(dim, dtype=F64)
    user, asked = AskTell(learner, Bounds(zero, zero + 1), horizon=rounds), []
    for _ in range(rounds):
        asked.append(user.ask())
        user.tell(asked[-1], scale * (f(asked[-1]) + shift))
    return np.array(asked)


def origin_free(learner):
    """Return the learner with a trust region that counts every improvement. TuRBO's rule is relative to the incumbent's absolute value."""
    if isinstance(learner, TuRBO):
        return dataclasses.replace(learner, gain=0.0)
    if isinstance(getattr(learner, "trust", None), TrustRegion):
        return dataclasses.replace(learner, trust=dataclasses.replace(learner.trust, gain=0.0))
    return learner


@pytest.mark.parametrize("name, power", with_each(-100, 80))
def test_rewards_times_a_power_of_two_give_the_same_points_to_the_bit(name, power):
    np.testing.assert_array_equal(points(LEARNERS[name], 2.0**power), once(name))


@pytest.mark.parametrize("power", [-100, -41, -27, -1, 3, 55, 80])
@pytest.mark.parametrize("name", [name for name in CHOSEN if name != "GP-EI"])
def test_rewards_times_a_power_of_two_give_the_same_points_in_longer_runs(name, power):
    expected = points(CHOSEN[name], rounds=14)
    np.testing.assert_array_equal(points(CHOSEN[name], 2.0**power, rounds=14), expected)


@pytest.mark.parametrize("name, shift", with_each(-37.0, 1000.0))
def test_rewards_from_another_origin_give_the_same_points_to_rounding(name, shift):
    learner = origin_free(LEARNERS[name])
    same = learner == LEARNERS[name]
    expected = once(name) if same else points(learner)
    np.testing.assert_allclose(points(learner, 1.0, shift), expected, atol=1e-6)


def test_the_chosen_learners_count_every_improvement():
    """Therefore the test above uses them unchanged."""
    assert all(origin_free(learner) == learner for learner in CHOSEN.values())


@pytest.mark.parametrize("name", ABSOLUTE)
def test_exempt_learners_do_depend_on_the_unit(name):
    """A learner that does not depend on the unit needs no exemption."""
    dim = 1 if name == "GO-UCB, proof" else 2  # the proof's network has four parameters
    learner = LEARNERS[name]
    assert not np.array_equal(points(learner, dim=dim), points(learner, 2.0**20, dim=dim))


# ---- equal values


@pytest.mark.parametrize("name", [name for name in CHOSEN if name != "GP-EI"])
def test_equal_rewards_give_the_same_points_whatever_they_are(name):
    """The mean of equal values has a rounding error, which no learner may treat as a signal."""
    zeros = points(CHOSEN[name], f=lambda x: 0.0, rounds=9)
    for level in (0.1, -1 / 3, 1e-25, 0.1 * 2.0**80):
        found = points(CHOSEN[name], f=lambda x: level, rounds=9)
        np.testing.assert_allclose(found, zeros, atol=1e-6)


@pytest.mark.parametrize("level", [0.0, 0.1])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("preset", [algorithm1, practical])
def test_first_rewards_may_be_equal_and_later_ones_not(preset, n, level):
    """The unit of the recursion is then the first nonzero distance."""
    learner = origin_free(preset(n, **SMALL))
    f = lambda x: level if x[0] < 0.7 else level + x[1]
    once = points(learner, f=f, rounds=9)
    assert len(np.unique(once, axis=0)) > n + 2
    for power in (-100, 80):
        np.testing.assert_array_equal(points(learner, 2.0**power, f=f, rounds=9), once)


def test_the_unit_is_the_deviation_or_the_first_distance_or_the_size():
    y = torch.tensor([[1.0, 2.0, 4.0, 9.0], [0.1, 0.1, 0.1, 0.6], [0.1] * 4, [0.0] * 4], dtype=F64)
    mean, sd = mean_and_std(y, 3)
    assert mean.squeeze(1).tolist() == pytest.approx([7 / 3, 0.1, 0.1, 0.0])
    assert sd.squeeze(1).tolist() == pytest.approx([math.sqrt(7 / 3), 0.5, 0.1, 1.0])
    assert torch.equal(mean_and_std(y[:, :3])[1][2:], sd[2:])
    assert torch.equal(
        mean_and_std(y[:, :1])[1].squeeze(1), torch.tensor([1.0, 0.1, 0.1, 1.0], dtype=F64)
    )
    _, whole = mean_and_std(y)
    np.testing.assert_allclose(whole[:, 0], [*y[:2].std(1), 0.1, 1.0])
    for power in (-100, 80):
        assert torch.equal(mean_and_std(y[:3] * 2.0**power, 3)[1], sd[:3] * 2.0**power)
    tiny = torch.tensor(
        [[1e-17]], dtype=F64
    )  # a rounding error for ten values of 0.1, but not for values of 1e-10
    assert unit_of_evaluations(tiny, torch.full_like(tiny, 0.1), 10).item() == 0.1
    assert unit_of_evaluations(10 * tiny, torch.full_like(tiny, 1e-10), 10) == 10 * tiny


def test_turbos_unit_is_the_unit_of_its_run():
    y = torch.tensor([[5.0, 5.0, 2.0, 3.0], [5.0, 1.0, 0.1, 0.1], [5.0, 1.0, 0.0, 0.0]], dtype=F64)
    x, zero = torch.zeros(3, 4, 2, dtype=F64), torch.zeros(3, dtype=torch.int64)
    state = turbo.TuRBOState(Rows.of(x), Rows.of(y), zero + 2, zero.double() + 0.8, zero, zero, 4)
    expected = [[0, 0, -1, 1], [0] * 4, [0] * 4]
    np.testing.assert_allclose(turbo._standardized(state), np.array(expected, float), atol=1e-12)
    seen = turbo._seen(state)
    assert bool((seen[:, :2] == -math.inf).all()) and torch.equal(seen[:, 2:], y[:, 2:])


def test_predictions_are_in_the_unit_of_the_rewards():
    """GO-UCB and the Gaussian process are tested at 2^-100 and at 1."""
    zero = torch.zeros(2, dtype=F64)
    at = torch.rand(1, 5, 2, generator=torch.Generator().manual_seed(0), dtype=F64)
    for learner in (CHOSEN["sampler GO-UCB"], CHOSEN["GP-EI"]):
        found = []
        for scale in (1.0, 2.0**-100):
            user = AskTell(learner, Bounds(zero, zero + 1))
            for _ in range(6):
                x = user.ask()
                user.tell(x, scale * bowl(x))
            with torch.no_grad():
                found.append(
                    [part / scale for part in learner.predict(user.state, user.context, at)]
                )
        for one, other in zip(*found, strict=True):
            assert torch.equal(one, other)
