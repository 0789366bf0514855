"""Certified decisions over likelihood sets: values, bounds, steps, and a generic solver as oracle."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, minimize

from companion.glbomd.experiments import slsqp
from companion.glbomd.experiments.slsqp import slsqp_decision
from paperlib.glbomd.learners.likelihood_set import (
    TIE,
    Anchors,
    ConfidenceSet,
    Likelihood,
    QuadraticModel,
    UCBBounds,
    argmax_parameter,
    family_terms,
)
from paperlib.glbomd.model.links import Bernoulli, Poisson

CIRCLE = np.arange(1, 201)
POINTS = 0.9 * np.stack([np.cos(CIRCLE), np.sin(CIRCLE)], 1)
COINS = (np.sin(3 * CIRCLE) + np.cos(CIRCLE) > 0).astype(float)
COUNTS = np.floor(3 * np.abs(np.sin(CIRCLE**2.0)))
DIRECTIONS = np.array([(1, 0), (0, 1), (-0.5, 0.5), (0.3, -0.4)])
RIDGE = 2 * math.log(201)

# Acceptance A9: link, rewards, budget, ball, ridge -> estimate, lowest value, UCB of the four directions.
CASES = {
    "logistic": (
        Bernoulli(),
        COINS,
        8.0,
        2.0,
        0.0,
        (1.916688454, -0.571231449),
        101.341332398,
        (2, 0.352487266, -0.626779833, 0.985496652),
    ),
    "small": (
        Bernoulli(),
        COINS,
        2.0,
        2.0,
        0.0,
        (1.916688454, -0.571231449),
        101.341332398,
        (1.996657277, -0.115584248, -0.978776566, 0.918806021),
    ),
    "poisson": (
        Poisson(),
        COUNTS,
        6.0,
        1.0,
        0.0,
        (0.097284086, 0.055670417),
        199.491631983,
        (0.480123109, 0.436995813, 0.250509284, 0.198382130),
    ),
    "ridge": (
        Bernoulli(),
        COINS,
        8.0,
        None,
        RIDGE,
        (1.212509164, -0.362205392),
        115.744695575,
        (2.007038964, 0.374608374, -0.256573199, 0.899018363),
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def empty(dim, ring=48):
    return Anchors(
        np.zeros((ring, dim)), np.zeros(ring), np.zeros((ring, dim)), np.zeros((ring, dim, dim))
    )


def fitted(link, points, rewards, budget, ball, ridge, weights=None):
    """Return a fitted set from raw data; slot 0 starts at theta = 0 with the derivatives there."""
    likelihood, anchors = (
        Likelihood(link, points, weights, rewards @ points),
        empty(points.shape[1]),
    )
    for array, value in zip(
        anchors, (np.zeros(points.shape[1]), *likelihood.at(np.zeros(points.shape[1])))
    ):
        array[0] = value
    return ConfidenceSet(likelihood, anchors, 0, budget, ball, ridge).fit()


def support(inside, x, tolerance=TIE):
    """Return a lower and an upper bound of UCB(x), at most ``tolerance`` apart unless rounding prevents this."""
    bounds = UCBBounds(inside, x[None])
    for _ in range(200):
        if bounds.upper[0] - bounds.lower[0] <= tolerance:
            break
        bounds.refine(0)
    return float(bounds.lower[0]), float(bounds.upper[0])


@every_case
def test_estimate_and_values(case):
    link, rewards, budget, ball, ridge, estimate, lowest, values = case
    inside = fitted(link, POINTS, rewards, budget, ball, ridge)
    np.testing.assert_allclose(inside.estimate, estimate, atol=1e-7)
    np.testing.assert_allclose(inside.lowest, lowest, atol=1e-9)
    for x, value in zip(DIRECTIONS, values):
        lower, upper = support(inside, x)
        assert lower - 1e-9 <= value <= upper + 1e-9 and upper - lower <= 1e-6


@every_case
def test_bounds_hold_in_every_prefix_of_the_refinement(case):
    link, rewards, budget, ball, ridge, _, _, values = case
    bounds = UCBBounds(fitted(link, POINTS, rewards, budget, ball, ridge), DIRECTIONS)
    values, gaps = np.array(values), []
    for step in range(16):
        assert (bounds.lower <= values + 2e-9).all() and (values <= bounds.upper + 2e-9).all()
        gaps.append(bounds.upper - bounds.lower)
        bounds.refine(step % 4)
    assert (np.diff(gaps, axis=0) <= 0).all()  # bounds never loosen
    assert gaps[-1].max() < 1e-3 < gaps[0].min()


@every_case
def test_generic_solver_finds_the_same_values(case):
    link, rewards, budget, ball, ridge, estimate, _, values = case
    found = slsqp_decision(fitted(link, POINTS, rewards, budget, ball, ridge), DIRECTIONS)
    np.testing.assert_allclose(found.estimate, estimate, atol=1e-6)
    np.testing.assert_allclose(found.values, values, atol=1e-6)
    second, best = np.sort(values)[-2:]
    assert found.arm == 0 and found.margin == pytest.approx(best - second, abs=2e-6)
    again = slsqp_decision(
        fitted(link, POINTS, rewards, budget, ball, ridge), DIRECTIONS, start=found.estimate
    )
    np.testing.assert_allclose(again.values, values, atol=1e-6)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    dim=st.integers(1, 6),
    n=st.integers(1, 120),
    norm=st.floats(0.1, 6.0),
    poisson=st.booleans(),
)
def test_bounds_hold_on_random_histories(seed, dim, n, norm, poisson):
    g = np.random.default_rng(seed)
    link = Poisson() if poisson else Bernoulli()
    draw = lambda count: (
        (v := g.normal(size=(count, dim)))
        / np.linalg.norm(v, axis=1, keepdims=True)
        * g.uniform(0.1, 1, size=(count, 1))
    )
    points, arms, theta = draw(n), draw(5), norm * draw(1)[0]
    mean = family_terms(link, points @ theta)[1]
    rewards = g.poisson(mean).astype(float) if poisson else (g.uniform(size=n) < mean).astype(float)
    inside = fitted(link, points, rewards, 3.0, norm, 0.0)
    members = g.normal(size=(60, dim))
    members *= norm * g.uniform(size=(60, 1)) / np.linalg.norm(members, axis=1, keepdims=True)
    members = np.stack(
        [inside.estimate + 10.0**s * (m - inside.estimate) for m in members for s in (0, -1)]
    )
    members = members[[inside.likelihood.at(m)[0] <= inside.lowest + 3.0 for m in members]]
    bounds = UCBBounds(inside, arms)
    for _ in range(12):
        assert (bounds.upper >= (arms @ members.T).max(1, initial=-np.inf) - 1e-9).all()
        assert (bounds.lower <= bounds.upper + 1e-9).all()
        bounds.refine(argmax_parameter(bounds.upper))
    used = slice(0, 1 + inside.written)
    for point in bounds.feasible[used]:  # the points behind the lower bounds are in the set
        assert inside.likelihood.at(point)[0] <= inside.lowest + 3.0 + 1e-8 * (
            1 + abs(inside.lowest)
        )
        assert np.linalg.norm(point) <= norm * (1 + 1e-9)
    index, proved = inside.decide(arms)
    best = max(support(inside, x, 1e-7)[0] for x in arms)
    assert proved and support(inside, arms[index], 1e-7)[1] >= best - 2e-6


def test_generic_solver_refuses_points_outside_of_the_set(monkeypatch):
    inside = fitted(Bernoulli(), POINTS, COINS, 8.0, 2.0, 0.0)
    monkeypatch.setattr(
        slsqp, "minimize", lambda *args, **options: OptimizeResult(x=np.array([3.0, 0.0]))
    )
    with pytest.raises(RuntimeError, match="outside the set"):
        slsqp.slsqp_decision(inside, DIRECTIONS)


def test_anchors_stay_exact():
    """Check that adding an observation's term equals another pass over the longer history."""
    g = np.random.default_rng(0)
    for link in (Bernoulli(), Poisson()):
        anchors = Anchors(*(a[None] for a in empty(3, ring=8)))
        anchors.point[:] = g.normal(size=(1, 8, 3))
        points, rewards = g.normal(size=(30, 3)) / 3, g.integers(0, 2, size=30).astype(float)
        for x, r in zip(points, rewards):
            anchors = anchors.plus(link, x[None], r[None])
        likelihood = Likelihood(link, points, None, rewards @ points)
        for j in range(8):
            for array, exact in zip(anchors[1:], likelihood.at(anchors.point[0, j])):
                np.testing.assert_allclose(array[0, j], exact, rtol=1e-12, atol=1e-12)


def test_weights_equal_repeated_rows():
    g = np.random.default_rng(1)
    arms, index, theta = g.normal(size=(4, 2)), g.integers(0, 4, size=50), np.array([0.3, -1.0])
    rewards = g.integers(0, 2, size=50).astype(float)
    rows = Likelihood(Bernoulli(), arms[index], None, rewards @ arms[index])
    table = Likelihood(
        Bernoulli(), arms, np.bincount(index, minlength=4).astype(float), rewards @ arms[index]
    )
    for a, b in zip(rows.at(theta), table.at(theta)):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    dim=st.integers(1, 6),
    spread=st.floats(0.0, 6.0),
    tight=st.booleans(),
)
def test_step_beats_every_feasible_point(seed, dim, spread, tight):
    """Check that the step maximizes over {q <= c} and the ball: it is feasible, and no sampled member is better."""
    g = np.random.default_rng(seed)
    basis = np.linalg.qr(g.normal(size=(dim, dim)))[0]
    hessian = (basis * 10 ** g.uniform(-spread / 2, spread / 2, size=dim)) @ basis.T
    theta, gradient, x = g.normal(size=dim), g.normal(size=dim), g.normal(size=dim)
    ball = np.linalg.norm(theta) * (1.0 if tight else 3.0)
    model = QuadraticModel.around(theta, 1.0, gradient, hessian)
    least, first, decrease = model.minimizer(ball)
    q = lambda p: 1.0 + gradient @ (p - theta) + 0.5 * (p - theta) @ hessian @ (p - theta)
    assert math.isclose(q(least), 1.0 - decrease, abs_tol=1e-8) and first >= decrease - 1e-8
    level = q(least) + g.uniform(0.1, 2.0)
    found = model.maximizer(x, level, ball)
    assert q(found) <= level + 1e-5 * (1 + abs(level)) and np.linalg.norm(found) <= ball * (
        1 + 1e-9
    )
    begin = found + 0.0
    options = {"method": "SLSQP", "options": {"ftol": 1e-12, "maxiter": 300}}
    oracle = minimize(
        lambda p: -x @ p,
        begin,
        jac=lambda p: -x,
        **options,
        constraints=[
            {
                "type": "ineq",
                "fun": lambda p: level - q(p),
                "jac": lambda p: -gradient - hessian @ (p - theta),
            },
            {"type": "ineq", "fun": lambda p: ball**2 - p @ p, "jac": lambda p: -2 * p},
        ],
    ).x
    if q(oracle) <= level + 1e-9 and oracle @ oracle <= ball**2 + 1e-9:
        assert x @ found >= x @ oracle - 1e-4 * (1 + abs(x @ oracle))
    for member in least + np.linspace(0, 1, 9)[:, None] * (found - least):  # the set is convex
        assert x @ member <= x @ found + 1e-9


def test_step_by_the_multiplier_agrees():
    """Check that the monotone fallback and the branch in nu solve the same problem."""
    model = QuadraticModel.around(
        np.array([1.0, 0.5]), 0.0, np.array([-1.0, 0.2]), np.diag([2.0, 0.5])
    )
    y = (np.array([1.0, 1.0]) @ model.basis).tolist()
    np.testing.assert_allclose(
        model._on_sphere(y, 0.5, 1.2), model._by_multiplier(y, 0.5, 1.2), atol=1e-6
    )


def test_ties_go_to_the_lowest_index():
    assert argmax_parameter(np.array([1.0, 2.0 - 1e-15, 2.0])) == 1
    assert argmax_parameter(np.array([1.0, 2.0 - 1e-9, 2.0])) == 2


def test_flat_likelihood_and_zero_arm():
    """Check the case without observations, and the zero arm.

    Without observations the set is the ball, and g = 0 excludes no point. The zero arm has UCB 0 and is not refined.
    """
    inside = ConfidenceSet(
        Likelihood(Bernoulli(), np.empty((0, 2)), None, np.zeros(2)), empty(2), 0, 1.0, ball=2.0
    ).fit()
    assert support(inside, np.array([0.6, 0.8])) == pytest.approx((2.0, 2.0))
    passes = inside.passes
    assert support(inside, np.zeros(2)) == (0.0, 0.0) and inside.passes == passes
    assert inside.decide(np.array([(0.0, 0.0), (0.1, 0.0), (0.6, 0.8)])) == (2, True)


def test_no_budget_is_greedy():
    inside = fitted(Bernoulli(), POINTS, COINS, 0.0, 2.0, 0.0)
    assert inside.decide(DIRECTIONS) == (int((DIRECTIONS @ inside.estimate).argmax()), True)


def test_an_estimate_that_did_not_converge_proves_nothing(monkeypatch):
    from paperlib.glbomd.learners import likelihood_set as confset

    generator = np.random.default_rng(0)
    points = generator.normal(size=(30, 2)) / 3
    rewards = (generator.random(30) < 0.5).astype(float)
    arms = np.array([[0.6, 0.8], [1.0, 0.0]])

    def decide():
        anchors = confset.Anchors(
            np.zeros((8, 2)), np.zeros(8), np.zeros((8, 2)), np.zeros((8, 2, 2))
        )
        inside = confset.ConfidenceSet(
            confset.Likelihood(Bernoulli(), points, None, rewards @ points), anchors, 0, 2.0, 3.0
        )
        inside._evaluate(0, np.zeros(2))
        return inside.fit().decide(arms)

    assert decide()[1]
    monkeypatch.setattr(confset, "ENOUGH", -1.0)
    assert not decide()[1]
