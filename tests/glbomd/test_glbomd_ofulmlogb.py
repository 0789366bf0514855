"""OFUL-MLogB against a dense, unbatched reference, and its radius against the formula and GLB-OMD's radius."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from paperlib.core.rounds import StateField, observed_feedback
from paperlib.glbomd import GLBOMD, Bernoulli, FixedArms, OFULMLogB, Poisson, SphereArms
from paperlib.glbomd.probes import played_arm
from paperlib.play import Probe, play

DIM, S, DELTA = 3, 2.0, 0.05
NUMBERS = {"ridge": 0.4, "delta": DELTA}  # with such a small ridge the estimate is projected


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def reference(arms, rewards, ridge, delta):
    """Run the method for two outcomes as the source states it, with dense matrices and a constrained solver for the step."""
    eta, theta, H = math.log(2) / 2 + S + 1, np.zeros(DIM), ridge * np.eye(DIM)
    chosen, estimates = [], []
    for t, reward in enumerate(rewards, 1):
        mixing = 11 * (3 * math.log(1 + 2 * t) + S + 2) * math.log(2 * math.sqrt(1 + 2 * t) / delta)
        moving = 7 * math.sqrt(6) / 6 * DIM * eta * math.log(1 + (t + 1) / (2 * ridge))
        beta = math.sqrt(2 * eta * (mixing + 2 + moving) + 4 * ridge * S * S)
        inverse = np.linalg.inv(H)
        x = max(arms, key=lambda x: x @ theta + beta * math.sqrt(x @ inverse @ x))
        p = sigmoid(x @ theta)
        gradient, curved = (p - reward) * x, H + eta * p * (1 - p) * np.outer(x, x)
        start = theta
        theta = minimize(
            lambda y: gradient @ (y - start) + (y - start) @ curved @ (y - start) / (2 * eta),
            start,
            jac=lambda y: gradient + curved @ (y - start) / eta,
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": lambda y: S * S - y @ y, "jac": lambda y: -2 * y}],
            options={"ftol": 1e-15, "maxiter": 500},
        ).x
        p = sigmoid(x @ theta)
        H = H + p * (1 - p) * np.outer(x, x)
        chosen.append(x)
        estimates.append(theta)
    return np.array(chosen), np.array(estimates)


def test_equals_a_dense_reference():
    probes = {"arm": played_arm, "theta": StateField("theta"), "reward": observed_feedback}
    problem = FixedArms(norm=S, dim=DIM, arms=6)
    trace = play(OFULMLogB(S, **NUMBERS), problem, 40, 1, 0, record="all", probes=probes)
    generator = np.random.default_rng(0)
    v, rho = generator.standard_normal((6, DIM)), generator.random(6)
    arms = v * (rho ** (1 / DIM) / np.linalg.norm(v, axis=1))[:, None]
    chosen, estimates = reference(arms, trace["reward"][0], **NUMBERS)
    np.testing.assert_allclose(trace["arm"][0], chosen, atol=1e-12)
    np.testing.assert_allclose(trace["theta"][0], estimates, atol=2e-6)
    assert np.linalg.norm(estimates, axis=1).max() > S * (1 - 1e-6)  # some rounds project


def test_ridge_and_step():
    assert OFULMLogB(3.0).step == pytest.approx(4 + math.log(2) / 2)
    assert OFULMLogB(3.0).ridge_value(5) == pytest.approx(84 * 2**0.5 * 5 * 4.346573590279973)
    assert OFULMLogB(3.0, ridge="dim").ridge_value(5) == 5.0
    assert OFULMLogB(3.0, ridge=7).ridge_value(5) == 7.0


def test_radius():
    """Compare the radius with a value computed by hand: S = 3, d = 5, delta = 0.01, t = 1000, lambda = 5."""
    eta = 4.346573590279973
    inner = 11 * (3 * math.log(2001) + 5) * math.log(200 * math.sqrt(2001)) + 2
    inner += 7 * 6**0.5 / 6 * 5 * eta * math.log(1 + 1001 / 10)
    learner = OFULMLogB(3.0, ridge="dim")
    assert learner.radius(1000, 5) == pytest.approx(math.sqrt(2 * eta * inner + 180))


def test_radius_exceeds_glbomds_by_the_root_of_a_logarithm():
    """Check Remark 2: the ratio of the radii grows like sqrt(ln t), at every ridge."""
    for ridge in (5.0, 300.0):
        ours, theirs = GLBOMD(Bernoulli(), 3.0, ridge=ridge), OFULMLogB(3.0, ridge=ridge)
        ratio = lambda t: theirs.radius(t, 5) / ours.radius(t, 5)
        assert all(ratio(t) > 1 for t in (1, 10, 1000, 10**6))
        growth = math.log(ratio(1e300) / ratio(1e150)) / math.log(2)  # ln t doubles
        assert growth == pytest.approx(0.5, abs=0.05)


def test_truth_stays_in_the_confidence_sets():
    """Check that theta* stays in the confidence sets with the theory's ridge, in every trial and round."""
    problem, learner = SphereArms(norm=S, dim=DIM, arms=5), OFULMLogB(S, delta=DELTA)

    def ratio(seen):
        error = (seen.before.theta - seen.instance.theta).unsqueeze(2)
        square = (error * torch.bmm(seen.before.precision, error)).sum((1, 2))
        return square.sqrt() / learner.radius(seen.t + 1, DIM)

    trace = play(learner, problem, 100, 80, 0, probes={"ratio": Probe(ratio, "max")})
    assert trace["ratio"].max() <= 1


def test_refusals_and_caution():
    with pytest.raises(
        ValueError, match=r"^link must be an instance of Bernoulli .*, got Poisson\(\)"
    ):
        OFULMLogB(2.0, link=Poisson())
    with pytest.raises(ValueError, match="^ridge must be one of 'theory', 'dim', got 'sharp'"):
        OFULMLogB(2.0, ridge="sharp")
    arms = torch.zeros(1, 4, 5)
    assert OFULMLogB(3.0).caution(arms) is None
    said = OFULMLogB(3.0, ridge="dim").caution(arms)
    assert "Theorem 1 requires 2581.7" in said and "ridge='theory' restores it" in said
