"""GLB-OMD against values computed by hand, dense references and constrained solvers (A3-A7, A12-A15, A17)."""

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
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer
from torch.utils._python_dispatch import TorchDispatchMode

from companion.datasets.covertype import covertype_arms
from companion.glbomd.problems.covertype import Covertype
from paperlib.asktell import AskTell
from paperlib.core.streams import Streams
from paperlib.core.trees import list_leaves, tree_take
from paperlib.glbomd.learners.glbomd import GLBOMD, SHARP, GLBOMDState
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson
from paperlib.glbomd.problems import SphereArms
from paperlib.glbomd.theory.bounds import sharp_width
from paperlib.learners.reference import UniformArm
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
DRAW = Streams(0, [0]).at(0)  # not used, because the learner is deterministic
X3 = torch.tensor([[[0.6, 0.8], [1.0, 0.0], [-0.5, 0.5]]], **TKWARGS)
LOGISTIC_REWARDS = (1, 0, 0, 1, 1, 0)


def run(learner, arms, rewards):
    """Return pulled arms, theta after each round, and the final state, for one trial or for one per column of ``rewards``."""
    rewards = torch.as_tensor(np.asarray(rewards, float))
    rewards = rewards.unsqueeze(1) if rewards.dim() == 1 else rewards
    state, arms_played, thetas = learner.init(rewards.shape[1], arms, None, DRAW, **TKWARGS), [], []
    for reward in rewards:
        arm, state = learner.select(state, arms, DRAW)
        state = learner.update(state, arms, arm, reward, DRAW)
        arms_played.append(arm[0].item()), thetas.append(state.theta)
    return arms_played, torch.stack(thetas)[:, 0].numpy(), state


def random_state(rows, d, S, seed, ridge=2.0, weight=3.0):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(rows, d))
    theta *= S * rng.uniform(size=(rows, 1)) ** 0.2 / np.linalg.norm(theta, axis=1, keepdims=True)
    rows_x = rng.normal(size=(rows, 3 * d, d))
    H = ridge * np.eye(d) + weight * rows_x.transpose(0, 2, 1) @ rows_x / d
    return GLBOMDState(torch.tensor(theta), torch.tensor(H), torch.tensor(np.linalg.inv(H)), 0)


def test_one_dimension_by_hand():
    """Compare with values computed by hand in one dimension (A4)."""
    learner = GLBOMD(Bernoulli(), norm_bound=3.0, delta=0.01, ridge=5.0)
    one = torch.ones(1, 1, 1, **TKWARGS)
    _, theta, state = run(learner, one, (1, 0, 1))
    np.testing.assert_allclose(theta[:, 0], [0.3333333333, -0.0415563488, 0.2728842387], atol=1e-9)
    np.testing.assert_allclose(state.precision[0, 0, 0], 5.7384773045, atol=1e-9)
    p = 1 / (1 + math.exp(-1 / 3))
    np.testing.assert_allclose(
        run(learner, one, (1,))[2].precision[0, 0, 0], 5 + p * (1 - p), atol=1e-12
    )
    radii = [learner.radius(t, 1) for t in (1, 2, 3)]
    np.testing.assert_allclose(radii, [16.9725468502, 17.1036039501, 17.2279028698], atol=1e-9)
    np.testing.assert_allclose(radii[0] / math.sqrt(5), 7.590353702, atol=1e-9)
    small = GLBOMD(Bernoulli(), norm_bound=0.25, delta=0.05, ridge=0.1)  # every step is projected
    _, theta, state = run(small, one, (1, 1, 0))
    np.testing.assert_allclose(theta[:, 0], [0.25, 0.25, -0.25], atol=1e-12)
    np.testing.assert_allclose(state.precision[0, 0, 0], 0.8384022482, atol=1e-9)
    np.testing.assert_allclose(
        [small.radius(t, 1) for t in (1, 2, 3)],
        [5.0751589464, 5.5507054079, 5.8374400026],
        atol=1e-9,
    )


CASES = {
    "logistic": (
        GLBOMD(Bernoulli(), 2.0, 0.05, ridge=2.0),
        LOGISTIC_REWARDS,
        [0, 1, 0, 1, 1, 0],
        [
            (0.3272727273, 0.4363636364),
            (-0.2935318913, 0.4685785662),
            (-0.5936389704, 0.0194800593),
            (0.0336660598, -0.0426170840),
            (0.4683253891, -0.0856441623),
            (0.2332041964, -0.5137839330),
        ],
        [[2.9908285107, 0.3459067774], [0.3459067774, 2.4612090365]],
    ),
    "Poisson": (
        GLBOMD(Poisson(), 1.0, 0.05, ridge=2.0),
        (3, 0, 2, 1, 5, 0),
        [0, 1, 1, 0, 1, 1],
        [
            (0.6, 0.8),
            (0.0103195825, 0.9999467517),
            (0.3666551464, 0.8756218624),
            (0.2674328615, 0.5810458973),
            (0.9827669744, 0.1848487867),
            (0.5760303269, 0.3662914538),
        ],
        [[10.5554240915, 2.2017992069], [2.2017992069, 4.9357322758]],
    ),
    "Gaussian": (
        GLBOMD(Gaussian(0.25), 2.0, 0.05, ridge="theory"),
        (1.5, -0.3, 0.2, 0.9),
        [0, 1, 0, 1],
        [
            (0.3, 0.4),
            (0.1166666667, 0.4333333333),
            (0.0936170213, 0.3872340426),
            (0.2752747253, 0.3340659341),
        ],
        [[18.88, 3.84], [3.84, 13.12]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_three_arms_by_hand(name):
    """Compare with values computed by hand for three arms (A5, A6)."""
    learner, rewards, arms, thetas, precision = CASES[name]
    played, theta, state = run(learner, X3, rewards)
    assert played == arms
    np.testing.assert_allclose(theta, thetas, atol=1e-9)
    np.testing.assert_allclose(state.precision[0], precision, atol=1e-9)


def test_radius_and_index_by_hand():
    learner = CASES["logistic"][0]
    radii = [learner.radius(t, 2) for t in range(1, 7)]
    np.testing.assert_allclose(
        radii,
        [11.7283782763, 12.2038433571, 12.6185297124, 12.9855504626, 13.3142455004, 13.6114949303],
        atol=1e-9,
    )
    state = run(learner, X3, (1,))[2]
    x, C = X3[0], state.covariance[0]
    index = x @ state.theta[0] + radii[1] * ((x @ C) * x).sum(-1).sqrt()
    np.testing.assert_allclose(index, [8.713560358, 8.793516085, 6.150114233], atol=1e-9)


def test_poisson_with_the_theorem_s_ridge():
    learner = GLBOMD(Poisson(), 1.0, 0.05, ridge="theory")
    assert learner.ridge_value(2) == pytest.approx(56)
    played, theta, _ = run(learner, X3, (3, 0, 2, 1))
    assert played == [0, 0, 1, 1] and learner.radius(1, 2) == pytest.approx(16.4781420837, abs=1e-9)
    np.testing.assert_allclose(theta[-1], (0.0511987256, 0.0256671340), atol=1e-9)


def test_gaussian_is_ridge_regression():
    learner, rewards, _, _, _ = CASES["Gaussian"]
    played, theta, _ = run(learner, X3, rewards)
    x, g = X3[0].numpy()[played], 0.25
    least_squares = np.linalg.solve(8 * np.eye(2) + x.T @ x / g, x.T @ np.array(rewards) / g)
    np.testing.assert_allclose(theta[-1], least_squares, atol=1e-12)


@pytest.mark.parametrize(
    "link, S, dim, ridge, delta, t, radius",
    [
        (Bernoulli(), 3, 5, "theory", 0.01, 1, 102.2251455777),
        (Bernoulli(), 3, 5, "theory", 0.01, 3000, 105.2367034719),
        (Bernoulli(), 3, 5, "dim", 0.01, 3000, 54.3860858109),
        (Bernoulli(), 7, 5, 5.0, 0.01, 3000, 109.6252826511),
        (Poisson(), 3, 5, "theory", 0.01, 3000, 232.8795919379),
        (Poisson(), 3, 5, "dim", 0.01, 3000, 71.1345068913),
        (Poisson(), 7, 5, "dim", 0.01, 1, 112.8855114194),
        (Gaussian(0.25), 2, 3, "theory", 0.05, 100, 14.7390968240),
        (Bernoulli(), 6, 11, "dim", 0.01, 1000, 118.8737820109),
    ],
)
def test_radius_values(link, S, dim, ridge, delta, t, radius):
    """Compare the confidence radius with known values (A7)."""
    assert GLBOMD(link, S, delta, ridge).radius(t, dim) == pytest.approx(radius, abs=1e-9)


def test_ridge_values():
    value = lambda ridge, S, link=Bernoulli(): GLBOMD(link, S, ridge=ridge).ridge_value(5)
    assert [value("theory", S) for S in (3, 5, 7, 9)] == pytest.approx([280, 420, 560, 700])
    assert [value("free", S) for S in (3, 5)] == pytest.approx([56, 84])
    assert [value("sharp", S) for S in (3, 5, 7)] == pytest.approx([18, 45, 84])
    assert (
        value("theory", 3, Poisson()) == pytest.approx(1446.158658)
        and value("dim", 3) == 5
        and value(7, 3) == 7
    )


def test_the_sharp_constant_solves_its_equation():
    """Check Lemma 7 in one direction: 2 e^{x^2/2} Phi(x) - 1 - x sqrt(2/pi) = 2 x^2 and lambda = (3/2) eta R^2 / x^2."""
    x = brentq(
        lambda x: 2 * math.exp(x * x / 2) * ndtr(x) - 1 - x * math.sqrt(2 / math.pi) - 2 * x * x,
        1,
        3,
        xtol=1e-14,
    )
    assert x == pytest.approx(1.7043702784, abs=1e-9) and SHARP == pytest.approx(
        1.5 / x**2, rel=1e-14
    )
    assert SHARP == pytest.approx(1.5 * sharp_width() ** -2, rel=1e-14)


def dense_update(learner, theta, H, x, r):
    """Solve Eq. (3) in NumPy: the quadratic's minimizer, and its minimizer over the ball by root finding."""
    g, eta, S, at = (
        learner.link.dispersion,
        learner.step,
        learner.norm_bound,
        lambda f, z: f(torch.tensor(z)).item(),
    )
    z = x @ theta
    A = H + eta * at(learner.link.slope, z) / g * np.outer(x, x)
    target = A @ theta - eta * (at(learner.link.mean, z) - r) / g * x
    point = lambda nu: np.linalg.solve(A + nu * np.eye(len(x)), target)
    new = point(0.0)
    if np.linalg.norm(new) > S:
        high = np.linalg.norm(target) / S
        new = point(
            brentq(lambda nu: np.linalg.norm(point(nu)) - S, 0, high, xtol=1e-14, rtol=1e-15)
        )
    return new, H + at(learner.link.slope, x @ new) / g * np.outer(x, x)


def one_update(learner, seed, rows=200, d=4):
    rng = np.random.default_rng(seed)
    state = random_state(rows, d, learner.norm_bound, seed)
    arms = rng.normal(size=(rows, 6, d))
    arms = torch.tensor(arms / np.linalg.norm(arms, axis=-1, keepdims=True))
    arm, mean = (
        torch.tensor(rng.integers(6, size=rows)),
        rng.integers(0, 2 if isinstance(learner.link, Bernoulli) else 12, size=rows),
    )
    reward = torch.tensor(mean, **TKWARGS)
    return state, arms, arm, reward, learner.update(state, arms, arm, reward, DRAW)


@pytest.mark.parametrize(
    "link, S", [(Bernoulli(), 1.5), (Poisson(), 1.5), (Gaussian(0.5), 1.5), (Binomial(12), 1.5)]
)
def test_update_is_the_constrained_minimizer(link, S):
    """Compare with the secular equation to 1e-10, on 200 random states (A3)."""
    learner = GLBOMD(link, S, ridge=2.0)
    state, arms, arm, reward, new = one_update(learner, seed=5)
    projected = 0
    for i in range(200):
        theta, H = dense_update(
            learner,
            state.theta[i].numpy(),
            state.precision[i].numpy(),
            arms[i, arm[i]].numpy(),
            reward[i].item(),
        )
        np.testing.assert_allclose(new.theta[i], theta, atol=1e-10)
        np.testing.assert_allclose(new.precision[i], H, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(new.covariance[i], np.linalg.inv(H), rtol=1e-12, atol=1e-12)
        projected += np.linalg.norm(theta) > S * (1 - 1e-12)
    assert 5 < projected < 195


def test_update_against_a_constrained_solver():
    """Compare with SLSQP on Eq. (3) as printed, to 5e-6 (A3)."""
    learner = GLBOMD(Bernoulli(), 1.0, ridge=2.0)
    state, arms, arm, reward, new = one_update(learner, seed=6, rows=30)
    for i in range(30):
        theta, H, x = state.theta[i].numpy(), state.precision[i].numpy(), arms[i, arm[i]].numpy()
        p = 1 / (1 + np.exp(-x @ theta))
        gradient, hessian = (p - reward[i].item()) * x, p * (1 - p) * np.outer(x, x)
        objective = lambda y: (
            gradient @ y
            + 0.5 * (y - theta) @ hessian @ (y - theta)
            + (y - theta) @ H @ (y - theta) / (2 * learner.step)
        )
        slope = lambda y: gradient + hessian @ (y - theta) + H @ (y - theta) / learner.step
        found = minimize(
            objective,
            theta,
            jac=slope,
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
            constraints={"type": "ineq", "fun": lambda y: 1 - y @ y, "jac": lambda y: -2 * y},
        )
        np.testing.assert_allclose(new.theta[i], found.x, atol=5e-6)


@pytest.mark.parametrize("ridge", ["sharp", "dim"])
def test_a_whole_run_against_dense_numpy(ridge):
    """Compare 300 rounds on the paper's instance with NumPy code that recomputes the inverse in each round."""
    learner, T = GLBOMD(Bernoulli(), 3.0, ridge=ridge), 300
    problem = GivenUniforms(
        SphereArms(Bernoulli(), 3.0), np.random.default_rng([0, 0]).random((1, T))
    )
    instance = problem.init(1, T, DRAW, **TKWARGS)
    theta, H, regret = np.zeros(5), learner.ridge_value(5) * np.eye(5), 0.0
    for t in range(T):
        arms = problem.context(instance, t)
        x = arms[0].numpy()
        width = np.sqrt(np.einsum("kd,de,ke->k", x, np.linalg.inv(H), x))
        arm = int(np.argmax(x @ theta + learner.radius(t + 1, 5) * width))
        reward, gap = problem.respond(instance, t, torch.tensor([arm]), "reward", DRAW)
        theta, H = dense_update(learner, theta, H, x[arm], reward.item())
        regret += gap.item()
    trace = play(learner, problem, T, 1)
    assert trace["regret"][0, -1] == pytest.approx(regret, rel=1e-9)


@pytest.mark.parametrize(
    "link, S, totals",
    [
        (Bernoulli(), 3.0, (173.1, 165.4, 158.5)),
        (Bernoulli(), 5.0, (122.2, 118.6, 117.2)),
        (Poisson(), 3.0, (2026.5, 2024.2, 2035.8)),
    ],
)
def test_regret_on_the_paper_s_instance(link, S, totals):
    """Compare the regret of the first three trials with known values, lambda = d = 5 (A17)."""
    uniforms = np.stack([np.random.default_rng([0, trial]).random(3000) for trial in range(3)])
    trace = play(
        GLBOMD(link, S, ridge="dim"), GivenUniforms(SphereArms(link, S), uniforms), 3000, 3
    )
    np.testing.assert_allclose(trace["regret"][:, -1], totals, atol=0.06)


def steps(learner, arms, rewards, state=None):
    """Return the final state after rewards (T x R) for the arms that the learner chooses; arms T x R x K x d."""
    state = (
        learner.init(rewards.shape[1], arms[0], None, DRAW, **TKWARGS) if state is None else state
    )
    chosen = []
    for x, r in zip(arms, rewards):
        arm, state = learner.select(state, x, DRAW)
        state = learner.update(state, x, arm, r, DRAW)
        chosen.append(arm)
    return torch.stack(chosen), state


def random_run(T, R, K, d, seed, top=2):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(T, R, K, d))
    arms *= rng.uniform(size=(T, R, K, 1)) / np.linalg.norm(arms, axis=-1, keepdims=True)
    return torch.tensor(arms), torch.tensor(rng.integers(top, size=(T, R)), **TKWARGS)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 6),
    K=st.integers(1, 8),
    S=st.floats(0.05, 8),
    poisson=st.booleans(),
)
def test_invariants(seed, d, K, S, poisson):
    """Check that theta_t is in the ball, H_t is symmetric and above lambda I, the radius grows, and Lemma 1 holds (A12)."""
    learner = GLBOMD(Poisson() if poisson else Bernoulli(), S, ridge="dim")
    arms, rewards = random_run(25, 3, K, d, seed, top=5 if poisson else 2)
    state, rng = learner.init(3, arms[0], None, DRAW, **TKWARGS), np.random.default_rng(seed)
    for t in range(25):
        arm, _ = learner.select(state, arms[t], DRAW)
        new = learner.update(state, arms[t], arm, rewards[t], DRAW)
        assert torch.linalg.vector_norm(new.theta, dim=-1).max() <= S * (1 + 1e-12)
        assert torch.allclose(
            new.precision, new.precision.mT, rtol=1e-14
        ) and torch.linalg.eigvalsh(new.precision).min() >= d * (1 - 1e-12)
        assert learner.radius(t + 2, d) > learner.radius(t + 1, d)
        # Lemma 1: ||theta' - u||_H^2 <= 2 eta <grad l~(theta'), u - theta'> + ||theta - u||_H^2 - ||theta - theta'||_H^2
        u = torch.tensor(rng.normal(size=(3, d)))
        u = S * u / torch.linalg.vector_norm(u, dim=-1, keepdim=True)
        x = arms[t][torch.arange(3), arm]
        z0, z1 = (x * state.theta).sum(-1), (x * new.theta).sum(-1)
        slope = learner.link.mean(z0) - rewards[t] + learner.link.slope(z0) * (z1 - z0)
        square = lambda v: torch.einsum("rd,rde,re->r", v, state.precision, v)
        right = (
            2 * learner.step * slope * (x * (u - new.theta)).sum(-1)
            + square(state.theta - u)
            - square(state.theta - new.theta)
        )
        assert torch.all(
            square(new.theta - u) <= right + 1e-10 * (1 + right.abs() + square(state.theta - u))
        )
        state = new


def test_rotation_and_permutation():
    """Check that rotated arms give the same decisions, and permuted arms the permuted decisions (A12)."""
    learner = GLBOMD(Bernoulli(), 2.0, ridge="dim")
    arms, rewards = random_run(60, 4, 7, 3, seed=8)
    rotation = torch.linalg.qr(torch.tensor(np.random.default_rng(9).normal(size=(3, 3))))[0]
    chosen, state = steps(learner, arms, rewards)
    turned, other = steps(learner, arms @ rotation, rewards)
    assert torch.equal(chosen, turned)
    torch.testing.assert_close(state.theta @ rotation, other.theta, rtol=1e-9, atol=1e-11)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    permuted, _ = steps(learner, arms[:, :, order], rewards)
    assert torch.equal(order[permuted], chosen)


def test_mirrored_data():
    """Check that x -> -x with r -> 1 - r gives the same logistic data (A12)."""
    learner = GLBOMD(Bernoulli(), 1.0, ridge=0.5)
    arms, rewards = random_run(40, 3, 1, 4, seed=10)
    _, a = steps(learner, arms, rewards)
    _, b = steps(learner, -arms, 1 - rewards)
    torch.testing.assert_close(a.theta, b.theta, rtol=0, atol=1e-12)
    torch.testing.assert_close(a.precision, b.precision, rtol=0, atol=1e-12)


def test_alone_equals_batched_and_device_form():
    """Compare single trials with the batch, and the host with the device form, including projections (A13)."""
    learner = GLBOMD(Poisson(), 1.5, ridge="dim")
    arms, rewards = random_run(200, 5, 6, 4, seed=11, top=6)
    chosen, state = steps(learner, arms, rewards)
    with shortcuts(False):
        same, masked = steps(learner, arms, rewards)
    assert torch.equal(chosen, same)
    for i in range(5):
        _, alone = steps(learner, arms[:, i : i + 1], rewards[:, i : i + 1])
        for mine, batched in zip(alone[:3], tree_take(state, [i])[:3]):
            torch.testing.assert_close(mine, batched, rtol=1e-12, atol=1e-12)
    for mine, device in zip(state[:3], masked[:3]):
        torch.testing.assert_close(mine, device, rtol=1e-11, atol=1e-12)


def test_shared_arms_equal_repeated_arms():
    learner = GLBOMD(Bernoulli(), 2.0, ridge="dim")
    arms, rewards = random_run(50, 1, 6, 4, seed=12)
    rewards = torch.cat([rewards, 1 - rewards, rewards.roll(3)], 1)
    chosen, shared = steps(learner, arms, rewards)
    repeated, own = steps(learner, arms.expand(-1, 3, -1, -1).contiguous(), rewards)
    assert torch.equal(chosen, repeated)
    torch.testing.assert_close(shared.theta, own.theta, rtol=1e-11, atol=1e-12)


class Looks(TorchDispatchMode):
    """Count the values of tensors that are transferred to Python."""

    number = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        names = ("_local_scalar_dense", "nonzero", "masked_select", "equal")
        self.number += any(name in function.__name__ for name in names)
        return function(*args, **(kwargs or {}))


def test_two_host_synchronizations_and_meta():
    """Check for two host synchronizations, with projections in both forms (A13).

    One checks whether a trial left the ball, the other whether its projection has converged.
    """
    learner = GLBOMD(Bernoulli(), 0.2, ridge=0.1, refresh=2)
    arms, rewards = random_run(3, 2, 4, 3, seed=13)
    _, state = steps(learner, arms, rewards)
    with shortcuts(False), Looks() as looks:
        arm, _ = learner.select(state, arms[0], DRAW)
        after = learner.update(state, arms[0], arm, rewards[0], DRAW)
    assert looks.number == 2 and (after.theta.norm(dim=1) > 0.2 * (1 - 1e-12)).any()
    state = learner.init(2, arms[0].to("meta"), None, DRAW, dtype=torch.float64, device="meta")
    for _ in range(2):
        arm, state = learner.select(state, arms[0].to("meta"), DRAW)
        state = learner.update(state, arms[0].to("meta"), arm, rewards[0].to("meta"), DRAW)
    assert (
        arm.shape == (2,)
        and state.theta.device.type == "meta"
        and state.covariance.shape == (2, 3, 3)
    )


def test_state_size_is_constant():
    """Check that the state has 8 (d + 2 d^2) bytes per trial in any round (A13, `C23`)."""
    learner = GLBOMD(Bernoulli(), 2.0)
    arms, rewards = random_run(70, 2, 5, 4, seed=14)
    size = lambda state: sum(
        x.numel() * x.element_size() for _, x in list_leaves(state) if isinstance(x, torch.Tensor)
    )
    sizes = {size(steps(learner, arms[:t], rewards[:t])[1]) for t in (1, 7, 70)}
    assert sizes == {2 * 8 * (4 + 2 * 16)}


def test_refresh_changes_nothing():
    """Check that the inverse is the same if it is recomputed at round 4096, every seven rounds, or never (A13)."""
    arms, rewards = random_run(4100, 1, 4, 3, seed=15)
    kept, often = (GLBOMD(Bernoulli(), 2.0, refresh=rounds) for rounds in (10**6, 7))
    _, before = steps(kept, arms[:4090], rewards[:4090])
    ends = [
        steps(learner, arms[4090:], rewards[4090:], before)
        for learner in (kept, often, GLBOMD(Bernoulli(), 2.0))
    ]
    for chosen, state in ends:
        assert torch.equal(chosen, ends[0][0]) and state.rounds == 4100
        torch.testing.assert_close(state.theta, ends[0][1].theta, rtol=0, atol=1e-10)
        torch.testing.assert_close(
            state.covariance @ state.precision, torch.eye(3, **TKWARGS)[None], rtol=0, atol=1e-12
        )
    # The default learner recomputed its inverse at round 4096, and the first one did not.
    assert not torch.equal(ends[0][1].covariance, ends[2][1].covariance)


def test_scale_is_a_factor_of_the_radius():
    """Check ``scale``, also with one value per trial: a batch of scales equals runs with one scale each, and 0 is greedy."""
    arms, rewards = random_run(40, 1, 6, 3, seed=16)
    rewards, scales = rewards.expand(-1, 3), torch.tensor([1.0, 0.1, 0.0], **TKWARGS)
    together, _ = steps(GLBOMD(Bernoulli(), 2.0, scale=scales), arms, rewards)
    for i, scale in enumerate(scales.tolist()):
        alone, _ = steps(GLBOMD(Bernoulli(), 2.0, scale=scale), arms, rewards[:, :1])
        assert torch.equal(together[:, i], alone[:, 0])
    _, state = steps(GLBOMD(Bernoulli(), 2.0, scale=0.0), arms, rewards[:, :1])
    greedy, _ = GLBOMD(Bernoulli(), 2.0, scale=0.0).select(state, arms[0], DRAW)
    assert greedy.item() == (arms[0, 0] @ state.theta[0]).argmax().item()
    assert len({tuple(row) for row in together.T.tolist()}) == 3


@pytest.mark.parametrize(
    "field, value",
    [
        ("norm_bound", 0.0),
        ("norm_bound", -1.0),
        ("norm_bound", math.inf),
        ("delta", 0.0),
        ("delta", 1.5),
        ("delta", math.nan),
        ("ridge", 0.0),
        ("ridge", -2),
        ("ridge", "ridge"),
        ("ridge", math.nan),
        ("scale", -0.1),
        ("refresh", 0),
        ("link", "logistic"),
    ],
)
def test_refused_settings(field, value):
    """Check that invalid hyper-parameters are rejected (A14)."""
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        dataclasses.replace(GLBOMD(Bernoulli(), 2.0), **{field: value})


def test_refused_data_leave_the_state():
    """Check that data rejected by ask/tell leave the state unchanged (A14)."""
    user = AskTell(GLBOMD(Bernoulli(), 2.0), X3[0].numpy())
    arm = user.ask()
    for reward in (0.5, -1, 2):
        with pytest.raises(
            ValueError, match=r"reward must be 0 or 1 \(a number from 0 to 1 with .*, got "
        ):
            user.tell(arm, reward)
    with pytest.raises(ValueError, match="feedback must be finite, got nan"):
        user.tell(arm, math.nan)
    with pytest.raises(ValueError, match="norm"):
        user.ask(np.array([[1.2, 0.0]]))
    with pytest.raises(ValueError, match="at least one arm and one dimension"):
        user.ask(np.zeros((0, 2)))
    assert user.rounds == 0
    user.tell(arm, 1)
    assert user.rounds == 1 and float(user.state.theta.norm()) > 0


@pytest.mark.parametrize(
    "link, ridge, words",
    [
        (Bernoulli(), "dim", "Theorem 1 requires 18"),
        (Poisson(), 5.0, "Poisson rewards they lose coverage"),
        (Bernoulli(), "sharp", None),
        (Bernoulli(), "free", None),
        (Poisson(), "theory", None),
        (Bernoulli(), 18.0, None),
        (Bernoulli(), 17.9, "17.9"),
    ],
)
def test_caution(link, ridge, words):
    """Check that a user is warned whenever the theorem does not cover lambda."""
    said = GLBOMD(link, 3.0, ridge=ridge).caution(torch.zeros(1, 4, 5))
    assert said is None if words is None else words in said
    if isinstance(link, Bernoulli) and said:
        assert "Poisson" not in said


def test_caution_if_the_bonus_favors_the_largest_norm():
    """Check that the warning about the bonus appears if and only if it should.

    It appears if the norms of the arms differ and the horizon is short for dimension and ridge. Without a horizon it does
    not appear.
    """
    learner, rng = GLBOMD(Bernoulli(), 3.0), np.random.default_rng(0)
    arms = torch.tensor(rng.normal(size=(1, 40, 30)))
    alike = arms / torch.linalg.vector_norm(arms, dim=-1, keepdim=True)
    uneven = alike * torch.linspace(0.2, 1, 40).reshape(1, 40, 1)
    assert (
        "With horizon=1500 rounds, ridge='sharp' and scale=1, the bonus dominates"
        in learner.caution(uneven, 1500)
    )
    assert learner.caution(uneven) is None and learner.caution(alike, 1500) is None
    assert learner.caution(uneven, 10**400) is None and learner.caution(uneven, 10**6) is None
    assert learner.caution(0 * uneven, 1500) is None
    assert GLBOMD(Bernoulli(), 3.0, scale=0.1).caution(uneven, 1500) is None
    assert GLBOMD(Bernoulli(), 3.0, scale=torch.tensor([0.1, 1.0])).caution(uneven, 1500)
    both = GLBOMD(Bernoulli(), 1.0, ridge=1.0).caution(uneven, 100)
    assert "Theorem 1 requires" in both and "whatever their rewards are" in both
    with pytest.warns(UserWarning, match="whatever their rewards are"):
        AskTell(learner, uneven[0].numpy(), horizon=1500)


@pytest.mark.parametrize(
    "ridge, scale, worse",
    [
        ("sharp", 1.0, True),  # the default
        ("theory", 0.3, True),
        ("theory", 0.1, True),
        ("sharp", 0.3, False),
        ("dim", 0.1, False),
    ],
)
def test_caution_is_borne_out_on_real_arms(ridge, scale, worse):
    """Check on Covertype's clusters that the regret exceeds that of random play with a warning, and is far below it without."""
    problem, learner = Covertype(), GLBOMD(Bernoulli(), 6.0, ridge=ridge, scale=scale)
    regret, random = (
        play(rule, problem, 1000, 6, 0, record=[1000])["regret"].mean()
        for rule in (learner, UniformArm())
    )
    arms = torch.tensor(covertype_arms().arms).unsqueeze(0)
    said = learner.caution(arms, 1000)
    assert ("whatever their rewards are" in (said or "")) == worse
    assert regret > random if worse else regret < 0.5 * random


@pytest.mark.slow
def test_caution_is_borne_out_on_breast_cancer_rows():
    """Check that the default earns less than chance: 1,500 rounds, two rows to choose from, reward 1 for a benign one."""
    rows, benign = load_breast_cancer(return_X_y=True)
    rows = (rows - rows.mean(0)) / rows.std(0)
    rows /= np.linalg.norm(rows, axis=1).max()
    earned = {}
    for scale in (1.0, 0.1):
        rng, learner = np.random.default_rng(0), GLBOMD(Bernoulli(), 3.0, scale=scale)
        said = learner.caution(torch.tensor(rows).unsqueeze(0), 1500)
        assert ("whatever their rewards are" in (said or "")) == (scale == 1.0)
        user, earned[scale] = AskTell(learner, rows[:2]), 0
        for _ in range(1500):
            offered = rng.choice(len(rows), 2, replace=False)
            arm = user.ask(rows[offered])
            user.tell(arm, int(benign[offered[arm]]))
            earned[scale] += int(benign[offered[arm]])
    chance = 1500 * benign.mean()
    assert earned[1.0] < chance - 40 and earned[0.1] > chance + 200


def test_degenerate_problems():
    """Check one arm, one dimension, one round, and duplicate arms (A15)."""
    learner = GLBOMD(Bernoulli(), 2.0)
    # One arm, one dimension, one round.
    assert run(learner, torch.ones(1, 1, 1, **TKWARGS), (1,))[0] == [0]
    twins = torch.tensor([[[0.3, 0.4], [0.8, 0.0], [0.8, 0.0]]], **TKWARGS)
    assert run(learner, twins, (0,))[0] == [1]  # ties go to the lowest index
    nothing = torch.zeros(1, 3, 2, **TKWARGS)
    state = run(learner, twins, (1, 0))[2]
    arm, _ = learner.select(state, nothing, DRAW)
    after = learner.update(state, nothing, arm, torch.ones(1, **TKWARGS), DRAW)
    assert (
        arm.item() == 0
        and torch.equal(after.theta, state.theta)
        and torch.equal(after.precision, state.precision)
    )
    _, theta, state = run(GLBOMD(Bernoulli(), 1e-6), X3, LOGISTIC_REWARDS)
    assert np.linalg.norm(theta, axis=1).max() <= 1e-6 * (1 + 1e-12) and torch.all(
        state.covariance.isfinite()
    )


def test_constant_rewards_end_on_the_sphere():
    """Check 2000 equal rewards, all 0 in one trial and all 1 in the other (A15)."""
    line = torch.tensor([[[1.0, 0.0], [0.5, 0.0]]], **TKWARGS)
    _, _, state = run(GLBOMD(Bernoulli(), 1.0, ridge="dim"), line, np.tile([0.0, 1.0], (2000, 1)))
    assert torch.all(state.covariance.isfinite())
    np.testing.assert_allclose(state.theta, [(-1, 0), (1, 0)], atol=1e-12)


def test_a_million_counts():
    """Check that after a reward of a million counts the step is projected and all values are finite (A15)."""
    _, theta, state = run(GLBOMD(Poisson(), 3.0, ridge="dim"), X3, (1e6, 0, 1e6))
    assert all(torch.all(x.isfinite()) for x in state[:3]) and np.linalg.norm(
        theta, axis=1
    ).max() <= 3 * (1 + 1e-12)
    assert np.linalg.norm(theta[0]) == pytest.approx(3)
