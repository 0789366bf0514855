"""GLOC and ECOLog against values computed by hand, dense NumPy code and constrained solvers (A8, A13-A15)."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from device_form import shortcuts
from given_uniforms import GivenUniforms
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from paperlib.core.streams import Streams
from paperlib.core.trees import list_leaves, tree_take
from paperlib.glbomd.learners import ecolog
from paperlib.glbomd.learners.ecolog import ECOLog
from paperlib.glbomd.learners.gloc import GLOC
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson
from paperlib.glbomd.problems import SphereArms
from paperlib.maths.sets import project_ball
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
DRAW = Streams(0, [0]).at(0)  # not used, because both learners are deterministic
X3 = torch.tensor([[[0.6, 0.8], [1.0, 0.0], [-0.5, 0.5]]], **TKWARGS)
LOGISTIC_REWARDS, COUNTS = (1, 0, 0, 1, 1, 0), (3, 0, 2, 1, 5, 0)
sigmoid = lambda z: 1 / (1 + np.exp(-z))


def by_hand(learner, rewards):
    """Return arms, radii before each round, and states after it, for one trial."""
    state, arms, radii, states = learner.init(1, X3, None, DRAW, **TKWARGS), [], [], []
    for reward in rewards:
        radii.append(learner.radius(state).item())
        arm, state = learner.select(state, X3, DRAW)
        state = learner.update(state, X3, arm, torch.tensor([float(reward)], **TKWARGS), DRAW)
        arms.append(arm.item()), states.append(state)
    return arms, radii, states


def random_run(T, R, K, d, seed, top=2, shortest=0.0):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(T, R, K, d))
    arms *= rng.uniform(shortest, 1, size=(T, R, K, 1)) / np.linalg.norm(
        arms, axis=-1, keepdims=True
    )
    return torch.tensor(arms), torch.tensor(rng.integers(top, size=(T, R)), **TKWARGS)


def steps(learner, arms, rewards):
    state, chosen = learner.init(rewards.shape[1], arms[0], None, DRAW, **TKWARGS), []
    for x, r in zip(arms, rewards):
        arm, state = learner.select(state, x, DRAW)
        state = learner.update(state, x, arm, r, DRAW)
        chosen.append(arm)
    return torch.stack(chosen), state


def test_gloc_by_hand():
    """Compare GLOC with values computed by hand (A8)."""
    arms, radii, states = by_hand(GLOC(Bernoulli(), 2.0, 0.05, ridge=2.0), LOGISTIC_REWARDS)
    assert arms == [0, 1, 1, 0, 0, 1]
    np.testing.assert_allclose(
        radii,
        [44.473013205, 44.642678481, 44.957834493, 44.968013469, 45.055371440, 45.077691445],
        atol=1e-8,
    )
    np.testing.assert_allclose(
        [s.regret.item() for s in states],
        [2.076747007, 2.834446548, 2.899733625, 3.107530038, 3.177425110, 3.297679721],
        atol=1e-9,
    )
    expected = [
        (0.9524391382, 1.269918851),
        (-1.141602234, 1.6421767077),
        (-1.4439336137, 1.3838553823),
        (-0.8565614113, 1.8072914952),
        (-0.5133944607, 1.932983737),
        (-0.945550191, 1.7623662606),
    ]
    np.testing.assert_allclose([s.theta[0].numpy() for s in states], expected, atol=1e-9)


def test_gloc_by_hand_with_counts():
    """Compare GLOC with values computed by hand for Poisson rewards (A8)."""
    learner = GLOC(Poisson(), 1.0, 0.05, ridge=2.0)
    arms, radii, states = by_hand(learner, COUNTS)
    assert arms == [0, 1, 1, 0, 0, 1] and 1 / learner.curvature == pytest.approx(math.e)
    np.testing.assert_allclose([radii[0], radii[5]], [41.067554079, 42.091275494], atol=1e-8)
    np.testing.assert_allclose(states[-1].theta[0], (-0.2345732087, 0.9720984568), atol=1e-9)


def test_ecolog_by_hand():
    """Compare ECOLog with values computed by hand (A8)."""
    arms, radii, states = by_hand(ECOLog(2.0, 0.05, ridge=2.0), LOGISTIC_REWARDS)
    assert arms == [0, 1, 0, 1, 0, 1]
    np.testing.assert_allclose(
        radii,
        [8.370501650, 8.415715688, 8.454020361, 8.489051191, 8.518998574, 8.549744443],
        atol=1e-7,
    )
    np.testing.assert_allclose(
        [s.slack.item() for s in states],
        [0.088462459, 0.128101908, 0.167894754, 0.167852667, 0.221025756, 0.248817992],
        atol=1e-7,
    )
    expected = [
        (0.1333940828, 0.1778587770),
        (-0.0952843405, 0.1904188336),
        (-0.2080935581, 0.0212476183),
        (-6.474e-5, -1.3185e-4),
        (0.0891162618, 0.1484694665),
        (-0.0869857154, 0.1738775456),
    ]
    np.testing.assert_allclose([s.theta[0].numpy() for s in states], expected, atol=1e-7)


def test_gloc_against_dense_numpy():
    """Compare with Jun et al. (2017), Algorithm 1, in NumPy code that recomputes the inverses."""
    S, ridge, delta, d, T = 1.5, 3.0, 0.02, 3, 80
    arms, rewards = random_run(T, 1, 6, d, seed=1)
    learner = GLOC(Bernoulli(), S, delta, ridge=ridge, scale=0.05)
    chosen, state = steps(learner, arms, rewards)
    c = 1 / (2 + 2 * math.cosh(S))
    sigma = 0.5
    A, theta, y, s2, B, played = (
        ridge * np.eye(d),
        np.zeros(d),
        np.zeros(d),
        0.0,
        2 * c * S**2 * ridge,
        [],
    )
    for x, r in zip(arms[:, 0].numpy(), rewards[:, 0].numpy()):
        inverse = np.linalg.inv(A)
        square = (
            1
            + 4 / c * B
            + 8
            * (sigma / c) ** 2
            * math.log(2 / delta * math.sqrt(1 + 2 / c * B + 4 * (sigma / c) ** 4 / delta**2))
        )
        square, mean = square + ridge * S**2 - s2 + y @ inverse @ y, x @ inverse @ y
        k = int(
            np.argmax(
                mean + 0.05 * math.sqrt(square) * np.sqrt(np.einsum("kd,de,ke->k", x, inverse, x))
            )
        )
        played.append(k)
        z = x[k] @ theta
        A += np.outer(x[k], x[k])
        v = np.linalg.solve(A, x[k])
        B += (sigmoid(z) - r) ** 2 * (x[k] @ v) / (2 * c)
        y, s2, theta = y + z * x[k], s2 + z * z, theta - (sigmoid(z) - r) / c * v
        theta = project_ball(torch.tensor(theta)[None], torch.tensor(A)[None], S)[0].numpy()
    assert chosen[:, 0].tolist() == played
    np.testing.assert_allclose(state.theta[0], theta, atol=1e-9)
    np.testing.assert_allclose(state.regret.item(), B, rtol=1e-10)
    np.testing.assert_allclose(state.covariance[0], np.linalg.inv(A), atol=1e-12)


@pytest.mark.parametrize(
    "link, sigma",
    [
        (Bernoulli(), 0.5),
        (Binomial(9), 1.5),
        (Poisson(), math.exp(1.5)),
        (Gaussian(4.0), 2.0),
    ],
)
def test_gloc_noise(link, sigma):
    assert GLOC(link, 3.0).noise == pytest.approx(sigma)
    assert GLOC(link, 3.0, sub_gaussian=0.7).noise == 0.7


def test_gloc_warns_of_counts():
    arms = torch.zeros(1, 2, 2)
    assert "heuristic" in GLOC(Poisson(), 1.0).caution(arms)
    assert GLOC(Bernoulli(), 1.0).caution(arms) is None


@settings(max_examples=60, deadline=None)
@given(
    z=st.floats(-50, 50), q=st.floats(0, 100), total=st.floats(0, 1), count=st.sampled_from([1, 2])
)
def test_scalar_problem(z, q, total, count):
    """Compare with a bracketing root finder."""
    total = total * count
    left, right = z + q * (total - count), z + q * total
    expected = brentq(
        lambda y: y - z + q * (count * sigmoid(y) - total),
        left - 1,
        right + 1,
        xtol=1e-14,
        rtol=1e-15,
    )
    found = ecolog.proximal_scalar(
        *(torch.tensor([a], **TKWARGS) for a in (z, q)), count, torch.tensor([total], **TKWARGS)
    )
    assert found.item() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def random_ball(rows, d, seed, S, ridge):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(rows, 2 * d, d))
    W = torch.tensor(
        ridge * np.eye(d) + design.transpose(0, 2, 1) @ design * rng.uniform(size=(rows, 1, 1))
    )
    x, center = (
        torch.tensor(a / np.linalg.norm(a, axis=1, keepdims=True))
        for a in rng.normal(size=(2, rows, d))
    )
    center = center * S * torch.tensor(rng.uniform(0.5, 1, size=(rows, 1)) ** 0.2)
    v = torch.linalg.solve(W, x)
    return (
        ecolog.BallConstraint(W, x, v, (x * v).sum(-1), S),
        center,
        torch.tensor(rng.integers(2, size=rows), **TKWARGS),
    )


def pulled(ball, center, count, total, y):
    """Return the negative gradient of the objective at y, R x d; at a minimizer it is nu y with nu >= 0."""
    slope = count * torch.sigmoid((ball.x * y).sum(-1)) - total
    return -(ball.precision @ (y - center).unsqueeze(2)).squeeze(2) - slope.unsqueeze(1) * ball.x


@settings(max_examples=40, deadline=None)
@given(
    d=st.integers(1, 12),
    seed=st.integers(0, 10**6),
    S=st.floats(0.05, 9),
    ridge=st.floats(0.01, 20),
    count=st.sampled_from([1, 2]),
)
def test_proximal_problem_is_solved_exactly(d, seed, S, ridge, count):
    """Check stationarity to 1e-11, and that every row alone equals the row of the batch."""
    ball, center, total = random_ball(8, d, seed, S, ridge)
    y = ecolog.proximal_point(ball, center, count, total)
    norm, force = torch.linalg.vector_norm(y, dim=-1), pulled(ball, center, count, total, y)
    active = norm > S * (1 - 1e-12)
    nu = torch.where(active, (force * y).sum(-1) / norm.square(), torch.zeros_like(norm))
    size = torch.linalg.matrix_norm(ball.precision, 2) * S + count
    assert torch.all(norm <= S * (1 + 1e-12)) and torch.all(nu >= -1e-11 * size / S)
    assert torch.all(torch.linalg.vector_norm(force - nu.unsqueeze(1) * y, dim=-1) <= 1e-11 * size)
    for i in range(8):
        part = ecolog.BallConstraint(*(field[i : i + 1] for field in ball[:4]), S)
        alone = ecolog.proximal_point(part, center[i : i + 1], count, total[i : i + 1])
        torch.testing.assert_close(alone[0], y[i], rtol=1e-12, atol=1e-12 * S)


def test_proximal_problem_against_a_constrained_solver():
    ball, center, total = random_ball(12, 3, 7, 0.8, 0.3)
    y = ecolog.proximal_point(ball, center, 1, total)
    active = 0
    for i in range(12):
        W, x, c, r = (
            ball.precision[i].numpy(),
            ball.x[i].numpy(),
            center[i].numpy(),
            total[i].item(),
        )
        objective = lambda u: 0.5 * (u - c) @ W @ (u - c) + np.logaddexp(0, x @ u) - r * (x @ u)
        slope = lambda u: W @ (u - c) + (sigmoid(x @ u) - r) * x
        found = minimize(
            objective,
            c,
            jac=slope,
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 300},
            constraints={"type": "ineq", "fun": lambda u: 0.64 - u @ u, "jac": lambda u: -2 * u},
        )
        np.testing.assert_allclose(y[i], found.x, atol=5e-6)
        active += np.linalg.norm(y[i]) > 0.8 * (1 - 1e-9)
    assert 0 < active < 12


def test_ecolog_against_dense_numpy():
    """Compare with Faury et al. (2022), where a generic minimizer solves both problems."""
    S, ridge, delta, T = 0.6, 1.5, 0.05, 25
    arms, rewards = random_run(T, 1, 5, 2, seed=3, shortest=0.7)
    chosen, state = steps(ECOLog(S, delta, ridge=ridge), arms, rewards)
    W, theta, slack, played = ridge * np.eye(2), np.zeros(2), 0.0, []
    ball = {"type": "ineq", "fun": lambda u: S * S - u @ u, "jac": lambda u: -2 * u}
    options = {"ftol": 1e-15, "maxiter": 500}
    for t, (x, r) in enumerate(zip(arms[:, 0].numpy(), rewards[:, 0].numpy())):
        gamma = math.sqrt(ridge) / 2 + 2 * math.log(
            2 * math.sqrt(1 + (t + 1) / (4 * ridge)) / delta
        ) / math.sqrt(ridge)
        radius = math.sqrt(max(0, 2 * ridge * S**2 + (1 + S) ** 2 * gamma + slack))
        k = int(
            np.argmax(
                sigmoid(x @ theta)
                + radius * np.sqrt(np.einsum("kd,de,ke->k", x, np.linalg.inv(W), x))
            )
        )
        played.append(k)
        a, old = x[k], theta
        loss = lambda u: np.logaddexp(0, a @ u) - r * (a @ u)
        theta = minimize(
            lambda u: 0.5 * (u - old) @ W @ (u - old) + loss(u),
            old,
            constraints=ball,
            method="SLSQP",
            options=options,
            jac=lambda u: W @ (u - old) + (sigmoid(a @ u) - r) * a,
        ).x
        both = lambda u: np.logaddexp(0, a @ u) + np.logaddexp(0, -a @ u)
        bar = minimize(
            lambda u: 0.5 * (u - theta) @ W @ (u - theta) + both(u),
            theta,
            constraints=ball,
            method="SLSQP",
            options=options,
            jac=lambda u: W @ (u - theta) + (2 * sigmoid(a @ u) - 1) * a,
        ).x
        slack += 2 * (1 + S) * (loss(bar) - loss(theta)) - 0.5 * math.sqrt(
            (theta - bar) @ W @ (theta - bar)
        )
        p = sigmoid(a @ theta)
        W = W + p * (1 - p) * np.outer(a, a)
    assert chosen[:, 0].tolist() == played
    np.testing.assert_allclose(state.theta[0], theta, atol=1e-5)
    np.testing.assert_allclose(state.slack.item(), slack, atol=1e-5)
    np.testing.assert_allclose(state.precision[0], W, atol=1e-5)


LEARNERS = {
    "gloc": GLOC(Bernoulli(), 1.0, refresh=9),
    "gloc-poisson": GLOC(Poisson(), 1.0, scale=0.1),
    "ecolog": ECOLog(1.0, ridge=0.5, scale=0.3, refresh=9),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_alone_equals_batched_and_device_form(name):
    """Compare single trials with the batch, and the host with the device form; the estimates reach the sphere (A13)."""
    learner = LEARNERS[name]
    arms, rewards = random_run(60, 4, 6, 3, seed=5)
    chosen, state = steps(learner, arms, rewards)
    with shortcuts(False):
        same, device = steps(learner, arms, rewards)
    assert torch.equal(chosen, same)
    for (path, x), (_, y) in zip(list_leaves(state), list_leaves(device)):
        if isinstance(x, torch.Tensor):
            torch.testing.assert_close(
                x, y, rtol=1e-10, atol=1e-11, msg=lambda text, path=path: f"{path}: {text}"
            )
    for i in range(4):
        _, alone = steps(learner, arms[:, i : i + 1], rewards[:, i : i + 1])
        for (path, x), (_, y) in zip(list_leaves(alone), list_leaves(tree_take(state, [i]))):
            if isinstance(x, torch.Tensor):
                torch.testing.assert_close(
                    x, y, rtol=1e-11, atol=1e-11, msg=lambda text, path=path: f"{path}: {text}"
                )


@pytest.mark.parametrize("name", LEARNERS)
def test_invariants_and_meta(name):
    """Check the ball, A or W above lambda I, a state of constant size, and a run on the meta device (A12, A13)."""
    learner = LEARNERS[name]
    arms, rewards = random_run(40, 3, 5, 4, seed=6)
    sizes = set()
    for t in (1, 40):
        _, state = steps(learner, arms[:t], rewards[:t])
        assert torch.linalg.vector_norm(state.theta, dim=-1).max() <= learner.norm_bound * (
            1 + 1e-12
        )
        assert torch.linalg.eigvalsh(state.precision).min() >= learner.ridge_value(4) * (1 - 1e-12)
        torch.testing.assert_close(
            state.precision @ state.covariance,
            torch.eye(4, **TKWARGS).expand(3, 4, 4),
            rtol=0,
            atol=1e-12,
        )
        sizes.add(sum(x.numel() for _, x in list_leaves(state) if isinstance(x, torch.Tensor)))
    assert len(sizes) == 1
    nowhere = arms[0].to("meta")
    state = learner.init(3, nowhere, None, DRAW, dtype=torch.float64, device="meta")
    for _ in range(2):
        arm, state = learner.select(state, nowhere, DRAW)
        state = learner.update(state, nowhere, arm, rewards[0].to("meta"), DRAW)
    assert arm.shape == (3,) and state.theta.device.type == "meta"


@pytest.mark.parametrize("name", LEARNERS)
def test_degenerate_arms(name):
    """Check that the zero arm gives no information, ties go to the lowest index, and a 1 x 1 problem works (A15)."""
    learner, zero, one = LEARNERS[name], torch.zeros(1, 3, 2, **TKWARGS), torch.ones(1, **TKWARGS)
    state = learner.init(1, zero, None, DRAW, **TKWARGS)
    arm, _ = learner.select(state, zero, DRAW)
    after = learner.update(state, zero, arm, one, DRAW)
    assert (
        arm.item() == 0
        and torch.equal(after.theta, state.theta)
        and torch.equal(after.precision, state.precision)
    )
    twins = torch.tensor([[[0.3, 0.4], [0.8, 0.0], [0.8, 0.0]]], **TKWARGS)
    assert learner.select(state, twins, DRAW)[0].item() == 1
    small = torch.ones(1, 1, 1, **TKWARGS)
    most = 1.0 if isinstance(learner.link, Bernoulli) else 9.0
    _, state = steps(learner, small.expand(300, 1, 1, 1), torch.full((300, 1), most, **TKWARGS))
    assert torch.all(state.theta.isfinite()) and torch.all(state.covariance.isfinite())
    assert state.theta.item() == pytest.approx(1.0)  # all rewards are 1, so it is on the sphere


def test_scales_in_one_batch():
    arms, rewards = random_run(40, 1, 6, 3, seed=8)
    scales = torch.tensor([1.0, 0.03, 0.0], **TKWARGS)
    for learner in (GLOC(Bernoulli(), 2.0), ECOLog(2.0)):
        together, _ = steps(dataclasses.replace(learner, scale=scales), arms, rewards.expand(-1, 3))
        for i, scale in enumerate(scales.tolist()):
            assert torch.equal(
                together[:, i],
                steps(dataclasses.replace(learner, scale=scale), arms, rewards)[0][:, 0],
            )


@pytest.mark.parametrize(
    "learner, field, value",
    [
        *[
            (kind, field, value)
            for kind in ("gloc", "ecolog")
            for field, value in [
                ("norm_bound", 0.0),
                ("delta", 0.0),
                ("delta", 2),
                ("ridge", -1.0),
                ("ridge", "theory"),
                ("scale", -1),
                ("refresh", 0.5),
            ]
        ],
        ("gloc", "kappa", 0.0),
        ("gloc", "sub_gaussian", -1.0),
        ("gloc", "link", None),
        ("ecolog", "link", Poisson()),
        ("ecolog", "link", Binomial(3)),
        ("ecolog", "link", Gaussian()),
    ],
)
def test_refused_settings(learner, field, value):
    """Check that invalid hyper-parameters are rejected (A14)."""
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        dataclasses.replace(LEARNERS[learner], **{field: value})


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner, low, high",
    [
        (GLOC(Bernoulli(), 3.0, kappa=21.035882), 205, 240),
        (ECOLog(3.0), 195, 220),
    ],
)
def test_regret_on_the_paper_s_instance(learner, low, high):
    """Compare three trials of 3000 rounds with the range of earlier, independent runs.

    ECOLog's condition never fails.
    """
    uniforms = np.stack([np.random.default_rng([0, trial]).random(3000) for trial in range(3)])
    trace = play(learner, GivenUniforms(SphereArms(Bernoulli(), 3.0), uniforms), 3000, 3)
    assert low < trace["regret"][:, -1].mean() < high
    if isinstance(learner, ECOLog):
        assert trace.final["report.violations"].tolist() == [0, 0, 0]
