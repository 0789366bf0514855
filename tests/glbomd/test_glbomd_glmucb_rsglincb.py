"""GLM-UCB and RS-GLinCB: values computed by hand, dense references, both kinds of history, both forms of the loop."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from device_form import shortcuts

from companion.glbomd.problems.covertype import Covertype
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.glbomd.learners.glmucb import GLMUCB
from paperlib.glbomd.learners.rsglincb import RSGLinCB
from paperlib.glbomd.model.links import Bernoulli, Gaussian, Poisson, kappa_ball
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.learners.reference import LongestArm
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
X3 = torch.tensor([[[0.6, 0.8], [1.0, 0.0], [-0.5, 0.5]]], **TKWARGS)
LOGISTIC_REWARDS, POISSON_REWARDS = (1, 0, 0, 1, 1, 0), (3, 0, 2, 1, 5, 0)
ARM = {"arm": Probe(lambda seen: seen.action.double())}


def feed(learner, rewards, arms=X3):
    """Play with the given rewards; return the arms and the states after each ``select``, one more than there are rewards."""
    draw = Streams(0, [0]).at(0)
    state, chosen, actions = learner.init(1, arms, len(rewards), draw, **TKWARGS), [], []
    for reward in (*rewards, None):
        action, state = learner.select(state, arms, draw)
        chosen.append(state)
        if reward is not None:
            actions.append(int(action))
            state = learner.update(
                state, arms, action, torch.tensor([float(reward)], **TKWARGS), draw
            )
    return chosen, actions


def test_glmucb_logistic_numbers():
    learner = GLMUCB(Bernoulli(), 2.0, delta=0.05)
    states, actions = feed(learner, LOGISTIC_REWARDS)
    assert actions == [0, 1, 0, 1, 0, 1]
    radius = [learner.radius(t, 2, 6) for t in range(1, 7)]
    np.testing.assert_allclose(
        radius,
        [51.773630684, 49.041884534, 50.141329849, 55.493799841, 59.190839061, 61.989321585],
        atol=1e-9,
    )
    theta = [
        (0.1226312788, 0.1635083718),
        (-0.0696245897, 0.1392491794),
        (-0.1376600661, 0.0093318583),
        (0, 0),
        (0.0576634575, 0.0867595924),
        (-0.0448547881, 0.0897095761),
    ]
    np.testing.assert_allclose(torch.cat([s.fit.theta for s in states[1:]]), theta, atol=1e-10)


def test_glmucb_poisson_numbers():
    learner = GLMUCB(Poisson(), 1.0, delta=0.05)
    states, actions = feed(learner, POISSON_REWARDS)
    assert actions == [0, 1, 0, 1, 0, 1]
    assert learner.radius(1, 2, 6) == pytest.approx(16066.465403026, abs=1e-8)
    np.testing.assert_allclose(states[-1].fit.theta[0], (0.0650073592, 0.7924751560), atol=1e-10)


def indices(learner, state, arms=X3):
    """Return RS-GLinCB's index of every arm outside the warm-up."""
    _, beta, _ = learner.constants_value(arms.shape[2], state.horizon)
    center = (state.warm_fit.theta + state.fit.theta)[0] / 2
    return [float(x @ center + beta * (x @ state.covariance[0] @ x).sqrt()) for x in arms[0]]


def test_rsglincb_without_warm_up():
    learner = RSGLinCB(Bernoulli(), 2.0, delta=0.05)
    _, _, threshold = learner.constants_value(2, 6)
    assert threshold == pytest.approx(1.312419818, abs=1e-9)
    states, actions = feed(learner, LOGISTIC_REWARDS)
    assert actions[:4] == [0, 0, 0, 0]
    np.testing.assert_allclose(
        indices(learner, states[0]), [8.752135047, 8.752135047, 6.188694042], atol=1e-9
    )
    # On the empty history the determinant test triggers a switch without a fit. Later switches fit the observations.
    assert (
        states[0].switches == 1
        and states[0].fits == 0
        and learner.report(states[3])["warmups"] == 0
    )


def test_rsglincb_with_two_rounds_of_warm_up():
    learner = RSGLinCB(Bernoulli(), 2.0, kappa=30.0, delta=0.05)
    _, _, threshold = learner.constants_value(2, 6)
    assert threshold == pytest.approx(0.416666667, abs=1e-9)
    states, actions = feed(learner, LOGISTIC_REWARDS)
    assert actions[:3] == [0, 1, 0]
    for fit in (states[2].warm_fit, states[2].fit):
        np.testing.assert_allclose(fit.theta[0], (-0.0952415204, 0.1904830409), atol=1e-10)
    np.testing.assert_allclose(
        indices(learner, states[2]), [8.847376568, 8.656893527, 6.331556322], atol=1e-9
    )
    assert {k: int(v) for k, v in learner.report(states[2]).items()} == {
        "fits": 3,
        "warmups": 2,
        "switches": 1,
    }


def test_rsglincb_warms_up_to_the_end():
    learner = RSGLinCB(Bernoulli(), 2.0, kappa=60.0, delta=0.05)
    _, _, threshold = learner.constants_value(2, 6)
    assert threshold == pytest.approx(0.208333333, abs=1e-9)
    states, actions = feed(learner, LOGISTIC_REWARDS)
    assert actions[:4] == [0, 1, 0, 1]  # the fifth round is an exact tie
    # There is one fit per round, and the selection after the last round makes the first switch.
    report = learner.report(states[-1])
    assert report["warmups"] == 6 == report["fits"] - report["switches"]


# Dense, unbatched references, implemented from the papers.


def newton(link, x, y, ridge, ball=None):
    """Return the ridge estimate of one trial; the ball's multiplier acts as a larger ridge, and bisection finds it."""

    def solve(total):
        theta = np.zeros(x.shape[1])
        for _ in range(100):
            z = torch.from_numpy(x @ theta)
            gradient = x.T @ (link.mean(z).numpy() - y) / link.dispersion + total * theta
            hessian = (x.T * link.slope(z).numpy()) @ x / link.dispersion + total * np.eye(
                x.shape[1]
            )
            step = np.linalg.solve(hessian, gradient)
            theta = theta - step / max(1, np.linalg.norm(step))
            if np.linalg.norm(step) < 1e-13:
                break
        return theta

    theta = solve(ridge)
    if ball is None or np.linalg.norm(theta) <= ball:
        return theta
    low, high = ridge, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if np.linalg.norm(solve(middle)) > ball else (low, middle)
    return solve(high)


def dense_glmucb(learner, contexts, rewards, horizon):
    S, link, (_, d) = learner.norm_bound, learner.link, contexts[0].shape
    x, y, arms = np.zeros((0, d)), np.zeros(0), []
    for t, X in enumerate(contexts, 1):
        ridge = d * math.log(1 + t)
        theta, V = newton(link, x, y, ridge), x.T @ x + ridge * np.eye(d)
        rho = (
            2
            * link.max_slope(S)
            * learner.kappa
            * learner.reward_bound
            * math.sqrt(3 + 2 * math.log(1 + 2 / ridge))
        )
        rho *= math.sqrt(2 * d * math.log(2 * d * horizon / learner.delta)) * math.sqrt(
            max(math.log(t), 1)
        )
        width = np.sqrt(np.einsum("ki,ij,kj->k", X, np.linalg.inv(V), X))
        arms.append(
            int(
                np.argmax(
                    link.mean(torch.from_numpy(X @ theta)).numpy() + learner.scale * rho * width
                )
            )
        )
        x, y = np.vstack([x, X[arms[-1]]]), np.append(y, rewards[t - 1][arms[-1]])
    return arms


def dense_rsglincb(learner, contexts, rewards, horizon):
    S, B, link, kappa, s, (_, d) = (
        learner.norm_bound,
        learner.reward_bound,
        learner.link,
        learner.kappa,
        learner.scale,
        contexts[0].shape,
    )
    public, L = learner.constants == "public", math.sqrt(d * math.log(horizon / learner.delta))
    ridge = {"dim": d, "theory": d * math.log(horizon / learner.delta) / B**2}[learner.ridge]
    gamma, beta, factor, weight = (
        (B * S * L, 4 * L, 1.5, 1) if public else (25 * B * S * L, 150 * L, 2, math.exp(-1))
    )
    threshold = (
        1 / (0.01 * kappa * B**4 * S**2 * d) if public else 1 / (gamma**2 * kappa * B**2)
    ) / s**2
    V, H, H_tau = ridge * np.eye(d), ridge * np.eye(d), (0 if public else ridge) * np.eye(d)
    theta_o = theta_tau = np.zeros(d)
    x, y, warm, arms, switched = np.zeros((0, d)), np.zeros(0), np.zeros(0, bool), [], False
    for t, X in enumerate(contexts):
        square = np.einsum("ki,ij,kj->k", X, np.linalg.inv(V), X)
        warm = np.append(warm, square.max() >= threshold)
        if warm[-1]:
            k = int(square.argmax())
            V = V + np.outer(X[k], X[k])
        else:
            if np.linalg.det(H) >= factor * np.linalg.det(H_tau):
                H_tau, switched = H.copy(), True
                use = np.ones(t, bool) if public else ~warm[:-1]
                theta_tau = (
                    newton(link, x[use], y[use], ridge, None if public else S) if t else theta_tau
                )
            width, middle = s * gamma * np.sqrt(kappa * square), X @ theta_o
            kept = middle + width >= (middle - width).max()
            center = (theta_o + theta_tau) / 2 if public else theta_tau
            index = X @ center + s * beta * np.sqrt(
                np.einsum("ki,ij,kj->k", X, np.linalg.inv(H_tau), X)
            )
            k = int(np.where(kept, index, -np.inf).argmax())
            H += weight * float(link.slope(torch.tensor(X[k] @ theta_o))) * np.outer(X[k], X[k])
        arms.append(k)
        x, y = np.vstack([x, X[k]]), np.append(y, rewards[t][k])
        if warm[-1]:
            theta_o = newton(link, x[warm], y[warm], ridge)
    return arms, int(warm.sum()), switched


def instance(link, rounds, trials, dim=3, count=8, norm=2.5, seed=1):
    """Return random contexts T x R x K x d and the reward that each arm would give."""
    g = np.random.default_rng(seed)
    arms = g.normal(size=(rounds, trials, count, dim))
    arms *= (g.uniform(size=arms.shape[:3]) ** (1 / dim) / np.linalg.norm(arms, axis=3))[..., None]
    theta = g.normal(size=(trials, dim))
    z = np.einsum("trkd,rd->trk", arms, norm * theta / np.linalg.norm(theta, axis=1, keepdims=True))
    uniform = torch.from_numpy(g.uniform(size=(rounds, trials, 1))).expand(z.shape)
    return arms, link.sample(link.mean(torch.from_numpy(z)), uniform.contiguous()).numpy()


def batch(learner, arms, rewards):
    """Play all trials at once; return the actions R x T and the last state."""
    rounds, trials = arms.shape[:2]
    draw = Streams(0, range(trials)).at(0)
    state, actions = learner.init(trials, torch.from_numpy(arms[0]), rounds, draw, **TKWARGS), []
    for t in range(rounds):
        X = torch.from_numpy(arms[t])
        action, state = learner.select(state, X, draw)
        reward = torch.from_numpy(rewards[t]).gather(1, action.unsqueeze(1)).squeeze(1)
        state = learner.update(state, X, action, reward, draw)
        actions.append(action)
    return torch.stack(actions, 1).numpy(), state


GLMUCBS = {
    "logistic": GLMUCB(Bernoulli(), 2.5, kappa=12.0, reward_bound=1.0, scale=0.02),
    "poisson": GLMUCB(Poisson(), 2.5, kappa=12.0, reward_bound=100.0, scale=1e-4),
    "gaussian": GLMUCB(Gaussian(0.25), 2.5, kappa=1.0, reward_bound=3.0, scale=0.01),
}


@pytest.mark.parametrize("learner", GLMUCBS.values(), ids=GLMUCBS)
def test_glmucb_equals_dense_reference(learner):
    arms, rewards = instance(learner.link, 60, 2)
    actions, _ = batch(learner, arms, rewards)
    for trial in range(2):
        assert actions[trial].tolist() == dense_glmucb(
            learner, arms[:, trial], rewards[:, trial], 60
        )
    assert len(np.unique(actions)) > 4


RSGLINCBS = {
    "logistic": RSGLinCB(Bernoulli(), 2.5, kappa=60.0, reward_bound=1.0, scale=0.7),
    "poisson": RSGLinCB(Poisson(), 2.5, kappa=12.0, reward_bound=3.0, scale=0.4),
    "theory": RSGLinCB(
        Bernoulli(),
        2.5,
        kappa=12.0,
        reward_bound=2.0,
        scale=0.0009,
        constants="theory",
        ridge="theory",
        delta=0.5,
    ),
    "theory, Poisson": RSGLinCB(
        Poisson(), 1.0, kappa=3.0, reward_bound=2.0, scale=0.003, constants="theory"
    ),
}


@pytest.mark.parametrize("learner", RSGLINCBS.values(), ids=RSGLINCBS)
def test_rsglincb_equals_dense_reference(learner):
    arms, rewards = instance(learner.link, 120, 3)
    actions, state = batch(learner, arms, rewards)
    for trial in range(3):
        expected, warmups, switched = dense_rsglincb(
            learner, arms[:, trial], rewards[:, trial], 120
        )
        assert actions[trial].tolist() == expected
        assert int(state.warmups[trial]) == warmups and switched == bool(state.switches[trial] > 0)
    # The instance has both warm-up rounds and other rounds.
    assert (0 < state.warmups).all() and (state.warmups < 120).all() and (state.switches >= 1).all()
    if learner.constants == "public":
        assert (state.switches > 1).all()


LEARNERS = {"GLMUCB": GLMUCBS["logistic"], **RSGLINCBS}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


@every_learner
def test_alone_equals_batched_and_masked(learner):
    arms, rewards = instance(learner.link, 50, 4)
    actions, state = batch(learner, arms, rewards)
    with shortcuts(False):
        masked, after = batch(learner, arms, rewards)
    assert np.array_equal(actions, masked)
    for trial in range(4):
        alone, own = batch(learner, arms[:, [trial]], rewards[:, [trial]])
        assert np.array_equal(alone[0], actions[trial])
        for name in ("fit", "warm_fit"):
            if hasattr(state, name):
                torch.testing.assert_close(
                    getattr(own, name).theta,
                    tree_take(getattr(state, name).theta, [trial]),
                    rtol=0,
                    atol=1e-12,
                )
                torch.testing.assert_close(
                    getattr(after, name).theta, getattr(state, name).theta, rtol=0, atol=1e-9
                )


@pytest.mark.parametrize(
    "name, counts",
    [
        ("GLMUCB", False),
        ("GLMUCB", True),
        ("logistic", False),
        ("logistic", True),
        ("theory", False),
    ],
)
def test_runs_on_meta(name, counts):
    learner, draw = (
        dataclasses.replace(LEARNERS[name], counts=counts),
        Streams(0, range(2), "meta").at(0),
    )
    arms = torch.empty(1, 5, 3, dtype=torch.float64, device="meta")
    state = learner.init(2, arms, 10, draw, dtype=torch.float64, device="meta")
    arm, state = learner.select(state, arms, draw)
    state = learner.update(
        state, arms, arm, torch.empty(2, dtype=torch.float64, device="meta"), draw
    )
    assert arm.device.type == "meta" and state.fit.theta.shape == (2, 3)


COVERTYPE = {
    "GLMUCB": GLMUCB(Bernoulli(), 6.0, kappa=200.0, scale=3e-4),
    "RSGLinCB": RSGLinCB(Bernoulli(), 6.0, kappa=200.0, scale=0.05),
}


@pytest.mark.parametrize("learner", COVERTYPE.values(), ids=COVERTYPE)
def test_counts_play_the_same_arms_as_rows(learner):
    """Compare every round on the 60 arms of Covertype."""
    rows, counts = (
        play(
            dataclasses.replace(learner, counts=c),
            Covertype(),
            1000,
            1,
            0,
            record="all",
            probes=ARM,
            device="cpu",
        )
        for c in (False, True)
    )
    assert np.array_equal(rows["arm"], counts["arm"]) and len(np.unique(rows["arm"])) > 3


@pytest.mark.parametrize("make", [GLMUCB, RSGLinCB])
def test_counts_with_an_arm_set_per_trial(make):
    problem, learner = (
        FixedArms(Bernoulli(), 3.0, per_trial=True),
        make(Bernoulli(), 3.0, kappa=100.0, scale=0.2),
    )
    rows, counts = (
        play(
            dataclasses.replace(learner, counts=c),
            problem,
            150,
            3,
            0,
            record="all",
            probes=ARM,
            device="cpu",
        )
        for c in (False, True)
    )
    assert np.array_equal(rows["arm"], counts["arm"])


@pytest.mark.parametrize("learner", COVERTYPE.values(), ids=COVERTYPE)
def test_one_scale_per_trial(learner):
    """Check that a batch with one scale per trial plays the same arms as separate runs with these scales."""
    scales = (learner.scale, 0.0, 1.0)
    learner = dataclasses.replace(learner, counts=True)
    mixed = play(
        dataclasses.replace(learner, scale=torch.tensor(scales, **TKWARGS)),
        Covertype(),
        200,
        3,
        0,
        record="all",
        probes=ARM,
        device="cpu",
    )
    for trial, scale in enumerate(scales):
        alone = play(
            dataclasses.replace(learner, scale=scale),
            Covertype(),
            200,
            [trial],
            0,
            record="all",
            probes=ARM,
            device="cpu",
        )
        assert np.array_equal(mixed["arm"][trial], alone["arm"][0])


def test_neither_method_learns_in_the_poisson_figures():
    """Check that neither method learns in the Poisson figures, where the stated bound on the rewards is 100.

    Both choose arms by their norm, and have the regret of always pulling the arm with the largest norm.
    """
    problem = SphereArms(Poisson(), 3.0)
    kappa, length = (
        problem.kappa_arms(3000),
        {"length": Probe(lambda seen: seen.context[0, seen.action].norm(dim=1))},
    )
    rs, glm = (
        play(
            make(Poisson(), 3.0, kappa=kappa),
            problem,
            100,
            2,
            0,
            record="all",
            probes=length,
            device="cpu",
        )
        for make in (RSGLinCB, GLMUCB)
    )
    assert (rs["report.warmups"] == 100).all() and (rs["report.fits"] == 100).all()
    for trace in (rs, glm):
        # The mean norm of an arm is 5 / 6, and the largest norm of 20 arms is about 0.99.
        assert trace["length"].mean() > 0.93
        longest = play(LongestArm(), problem, 100, 2)["regret"][:, -1]
        np.testing.assert_allclose(trace["regret"][:, -1], longest, rtol=0.1)
    assert (glm["report.outside"] == 0).all()


def test_estimates_outside_the_ball_are_counted():
    learner = GLMUCB(Bernoulli(), 0.05, kappa=4.1)
    states, _ = feed(learner, [1, 1, 1, 1])
    norms = [float(s.fit.theta.norm()) for s in states]
    assert int(learner.report(states[-1])["outside"]) == sum(norm > 0.05 for norm in norms) > 0


def test_defaults():
    assert GLMUCB(Bernoulli(), 2.0).radius(5, 2, 6) == GLMUCB(
        Bernoulli(), 2.0, kappa=kappa_ball(Bernoulli(), 2.0), reward_bound=1.0
    ).radius(5, 2, 6)
    assert RSGLinCB(Poisson(), 2.0).bound == 100.0
    root = math.sqrt((3 + 2 * math.log(1 + 0.4 / math.log(2001))) * 10 * math.log(3e6))
    assert GLMUCB(Bernoulli(), 2.0, kappa=6.0).radius(2000, 5, 3000) == pytest.approx(
        3 * root * math.sqrt(math.log(2000))
    )
    # With the theory's constants the warm-up is longer than a million rounds (erratum `E20`).
    learner = RSGLinCB(Bernoulli(), 3.0, kappa=21.0, constants="theory")
    _, _, threshold = learner.constants_value(5, 3000)
    assert threshold < 1.4e-7


@pytest.mark.parametrize("make", [GLMUCB, RSGLinCB])
@pytest.mark.parametrize(
    "field, value",
    [
        ("norm_bound", 0.0),
        ("norm_bound", math.inf),
        ("kappa", 0.0),
        ("reward_bound", -1.0),
        ("delta", 0.0),
        ("delta", 1.5),
        ("scale", -0.1),
        ("link", "exponential"),
    ],
)
def test_fields_out_of_range(make, field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        make(**{"link": Bernoulli(), "norm_bound": 2.0, field: value})


@pytest.mark.parametrize(
    "field, value", [("ridge", 0.0), ("ridge", "free"), ("constants", "private")]
)
def test_rsglincb_fields_out_of_range(field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        RSGLinCB(Bernoulli(), 2.0, **{field: value})


@pytest.mark.parametrize("make", [GLMUCB, RSGLinCB])
def test_needs_a_horizon(make):
    with pytest.raises(ValueError, match="horizon must be an integer of at least 1, because"):
        make(Bernoulli(), 2.0).init(1, X3, None, Streams(0, [0]).at(-1), **TKWARGS)


@pytest.mark.parametrize("make", [GLMUCB, RSGLinCB])
def test_validate_names_the_invalid_argument(make):
    learner = make(Bernoulli(), 2.0)
    learner.validate(X3, torch.tensor([1]), torch.tensor([1.0]))
    with pytest.raises(ValueError, match="norm"):
        learner.validate(2 * X3, None, None)
    with pytest.raises(
        ValueError, match=r"reward must be 0 or 1 \(a number from 0 to 1 with.*, got 0.5"
    ):
        learner.validate(X3, torch.tensor([1]), torch.tensor([0.5]))


@pytest.mark.parametrize("make", [GLMUCB, RSGLinCB])
@pytest.mark.parametrize(
    "arms",
    [torch.zeros(1, 3, 2), torch.ones(1, 1, 1), torch.full((1, 4, 2), 0.5)],
    ids=["zero arms", "K=d=1", "duplicates"],
)
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_degenerate(make, arms, reward):
    states, actions = feed(make(Bernoulli(), 2.0), [reward] * 40, arms.double())
    assert set(actions) == {0} and states[-1].fit.theta.isfinite().all()
