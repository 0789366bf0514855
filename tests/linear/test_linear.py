"""Compare OFUL with values by hand and a dense reference; test Theorem 2 and learners that violate it."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.verdicts import statements
from paperlib.asktell import AskTell
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.linear import OFUL, Circle, ConfidenceBall, FreshArms, UniformArm
from paperlib.linear.probes import Ellipsoid
from paperlib.linear.theory import theorem_2
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
DRAW = Streams(0, [0]).at(0)  # the learners draw no random numbers
X = torch.tensor([[[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]], **TKWARGS)


def run(learner, arms, rewards):
    """Return the pulled arms and the state after all rounds of one trial. ``arms``: T x K x d."""
    state, played = learner.init(1, arms[:1], None, DRAW, **TKWARGS), []
    for x, reward in zip(arms.split(1), rewards):
        arm, state = learner.select(state, x, DRAW)
        state = learner.update(state, x, arm, torch.tensor([reward], **TKWARGS), DRAW)
        played.append(arm.item())
    return played, state


def dense(learner, arms, rewards):
    """Return the same in NumPy from the paper's formulas, recomputing everything in each round."""
    played, xs, rs = [], np.empty((0, arms.shape[2])), np.array([])
    for offered, reward in zip(arms.numpy(), rewards):
        V = learner.ridge * np.eye(offered.shape[1]) + xs.T @ xs
        theta = np.linalg.solve(V, xs.T @ rs)
        ratio = np.linalg.slogdet(V)[1] - len(V) * math.log(learner.ridge)
        radius = (
            learner.noise * math.sqrt(2 * (ratio / 2 - math.log(learner.delta)))
            + math.sqrt(learner.ridge) * learner.norm_bound
        )
        widths = np.sqrt(np.sum(offered * np.linalg.solve(V, offered.T).T, 1))
        played.append(int(np.argmax(offered @ theta + learner.scale * radius * widths)))
        xs, rs = np.vstack([xs, offered[played[-1]]]), np.append(rs, reward)
    return played, np.linalg.solve(learner.ridge * np.eye(xs.shape[1]) + xs.T @ xs, xs.T @ rs), xs


@pytest.mark.parametrize("refresh", [4096, 7])
@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_oful_is_the_dense_reference(refresh, scale):
    rng = np.random.default_rng(3)
    arms, rewards = torch.tensor(rng.normal(size=(120, 6, 4))), rng.normal(size=120)
    learner = OFUL(0.5, 2.0, 0.1, ridge=0.3, scale=scale, refresh=refresh)
    played, state = run(learner, arms, rewards)
    expected, theta, xs = dense(learner, arms, rewards)
    V = 0.3 * np.eye(4) + xs.T @ xs
    assert played == expected and state.rounds == 120
    np.testing.assert_allclose(state.theta[0], theta, rtol=1e-9)
    np.testing.assert_allclose(state.covariance[0], np.linalg.inv(V), rtol=1e-8)
    np.testing.assert_allclose(
        state.log_det[0], np.linalg.slogdet(V)[1] - 4 * math.log(0.3), rtol=1e-12
    )


def test_radius_by_hand():
    """One arm of norm 1, pulled three times: det V_3 / det V_0 = 7/4, and 0.5 sqrt(2 ln(10 sqrt(7/4))) + 2 * 2 = 5.1363."""
    learner, one = OFUL(0.5, 2.0, 0.1, ridge=4.0), torch.tensor([[[1.0, 0.0]]] * 3, **TKWARGS)
    start = learner.init(1, one[:1], None, DRAW, **TKWARGS)
    np.testing.assert_allclose(learner.radius(start), 0.5 * math.sqrt(2 * math.log(10)) + 4)
    _, state = run(learner, one, (1.0, 0.0, 2.0))
    np.testing.assert_allclose(learner.radius(state), 5.136308, atol=1e-6)
    np.testing.assert_allclose(state.theta, [[3 / 7, 0.0]])


def test_radius_of_confidence_ball_by_hand():
    learner = ConfidenceBall(0.5, 0.1)
    start = learner.init(2, X.expand(2, -1, -1), None, None, **TKWARGS)
    assert learner.radius(start).tolist() == pytest.approx([0.5 * 8 / 3 * math.log(10)] * 2)
    _, state = run(learner, X.expand(2, -1, -1), (1.0, 0.0))
    # The expected radius is 0.5 sqrt(128 * 2 ln 3 ln 90).
    assert learner.radius(state).tolist() == pytest.approx([17.787270], abs=1e-6)


def test_first_arm_is_the_longest_and_greedy_ties_go_to_the_lowest():
    arms = torch.tensor([[[0.1, 0.0], [0.0, 0.9], [0.5, 0.5]]], **TKWARGS)
    for learner, arm in (
        (OFUL(0.1, 1.0), 1),
        (ConfidenceBall(0.1), 1),
        (OFUL(0.1, 1.0, scale=0.0), 0),
    ):
        assert run(learner, arms, (0.0,))[0] == [arm]


@settings(max_examples=40, deadline=None)
@given(
    noise=st.floats(0.01, 5),
    norm=st.floats(0.1, 5),
    delta=st.floats(1e-6, 0.5),
    ridge=st.floats(0.01, 10),
    seed=st.integers(0, 2**32 - 1),
)
def test_radius_grows_and_stays_below_its_simpler_form(noise, norm, delta, ridge, seed):
    """For arms of norm at most 1, the second form of Theorem 2 is R sqrt(d ln((1 + t / lambda) / delta)) + lambda^{1/2} S."""
    learner = OFUL(noise, norm, delta, ridge)
    rng = np.random.default_rng(seed)
    arms = torch.tensor(rng.normal(size=(20, 4, 3)))
    arms /= torch.linalg.vector_norm(arms, dim=-1, keepdim=True)
    state = learner.init(1, arms[:1], None, DRAW, **TKWARGS)
    for t, x in enumerate(arms.split(1), 1):
        before = learner.radius(state)
        arm, state = learner.select(state, x, DRAW)
        state = learner.update(state, x, arm, torch.tensor([rng.normal()]), DRAW)
        simpler = noise * math.sqrt(3 * math.log((1 + t / ridge) / delta)) + math.sqrt(ridge) * norm
        assert before < learner.radius(state) <= simpler + 1e-12
    for harder in ({"noise": 2 * noise}, {"norm_bound": 2 * norm}, {"delta": delta / 2}):
        assert replace(learner, **harder).radius(state) > learner.radius(state)


# ---- Theorem 2 ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Doubled(OFUL):
    """OFUL that observes every reward doubled."""

    def update(self, state, arms, arm, reward, draw):
        return super().update(state, arms, arm, 2 * reward, draw)


@dataclass(frozen=True)
class Repeating(OFUL):
    """OFUL that counts every arm twice, but its reward once."""

    def update(self, state, arms, arm, reward, draw):
        once = super().update(state, arms, arm, reward, draw)
        return super().update(once, arms, arm, 0 * reward, draw)


def held(learner, ellipsoid):
    probes = {"ratio": Probe(ellipsoid.ratio, "max"), "half axis": ellipsoid.half_axis}
    return theorem_2(
        play(learner, FreshArms(3, noise=1.0, arms=5), 120, 100, record="all", probes=probes),
        ellipsoid,
    )


ELLIPSOID = Ellipsoid(noise=1.0, norm_bound=1.0, delta=0.05)


def test_theorem_2_holds():
    check = held(OFUL(1.0, 1.0, 0.05), ELLIPSOID)
    assert check.verdict == "holds" and check.by_trial.all() and 0.2 < check.ratio < 1
    assert [s.name for s in statements("linear")] == ["Theorem 2"]


@pytest.mark.parametrize(
    "learner, ellipsoid",
    [
        (Doubled(1.0, 1.0, 0.05), ELLIPSOID),
        (Repeating(1.0, 1.0, 0.05), ELLIPSOID),
        (OFUL(1.0, 1.0, 0.05), replace(ELLIPSOID, noise=0.2)),  # the noise exceeds the declared one
        # ||theta*|| exceeds the declared norm bound.
        (OFUL(1.0, 1.0, 0.05, ridge=400.0), replace(ELLIPSOID, norm_bound=0.5, ridge=400.0)),
    ],
)
def test_broken_learners_and_wrong_assumptions_are_flagged(learner, ellipsoid):
    assert held(learner, ellipsoid).verdict == "fails"


def test_the_ellipsoid_is_the_learners_and_becomes_informative():
    learner = OFUL(1.0, 1.0, 0.05, ridge=0.5)
    ellipsoid = Ellipsoid(1.0, 1.0, 0.05, ridge=0.5)
    probes = {
        "ratio": Probe(ellipsoid.ratio, "max"),
        "half axis": ellipsoid.half_axis,
        "radius": ellipsoid.radius,
        "own": lambda seen: learner.radius(seen.after),
        "V": lambda seen: seen.after.precision.flatten(1),
    }
    trace = play(learner, FreshArms(2, noise=1.0, arms=5), 200, 4, record="all", probes=probes)
    np.testing.assert_allclose(trace["radius"], trace["own"], rtol=1e-12)
    half_axes = trace["radius"][..., None] / np.sqrt(
        np.linalg.eigvalsh(trace["V"].reshape(4, 200, 2, 2))
    )
    np.testing.assert_allclose(trace["half axis"], np.sqrt(half_axes.prod(-1)), rtol=1e-9)
    first = theorem_2(trace, ellipsoid).informative_from
    volume = half_axes.prod(-1).max(0)
    assert 1 < first < 200 and volume[first - 2] >= 1 > volume[first - 1 :].max()
    assert theorem_2(trace, replace(ellipsoid, norm_bound=0.01)).informative_from is None


# ---- Problems ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem", [Circle(norm=0.5, noise=0.2, arms=12), FreshArms(3, 0.5, 0.2, 6)]
)
def test_problems_match_their_description(problem):
    streams = Streams(7, range(2000))
    instance = problem.init(2000, 9, streams.at(-1), **TKWARGS)
    arms, again, later = (problem.context(instance, t) for t in (2, 2, 3))
    assert torch.equal(arms, again) and torch.equal(arms, later) == isinstance(problem, Circle)
    for vectors, norm in ((arms, 1.0), (instance.theta, 0.5)):
        norms = torch.linalg.vector_norm(vectors, dim=-1)
        torch.testing.assert_close(norms, torch.full_like(norms, norm))
    means = (arms * instance.theta[:, None]).sum(-1)
    reward, gap = problem.respond(instance, 2, torch.full((2000,), 4), "reward", streams.at(2))
    other, _ = problem.respond(instance, 2, torch.full((2000,), 1), "reward", streams.at(2))
    torch.testing.assert_close(gap, means.amax(1) - means[:, 4])
    # The noise belongs to the round and not to the arm.
    torch.testing.assert_close(reward - means[:, 4], other - means[:, 1])
    assert (reward - means[:, 4]).std().item() == pytest.approx(0.2, rel=0.06)


def test_oful_learns_and_uniform_play_does_not():
    total = {
        learner: play(learner, Circle(arms=16), 300, 10)["regret"][:, -1].mean()
        for learner in (OFUL(0.1, 1.0), UniformArm())
    }
    assert total[OFUL(0.1, 1.0)] < 0.1 * total[UniformArm()]
    assert total[UniformArm()] == pytest.approx(300, rel=0.1)


# ---- Invalid arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2,), (0, 2), (3, 0), (1, 3, 2)])
def test_arms_of_another_shape_are_refused(shape):
    with pytest.raises(
        ValueError, match="context must be arms of shape K x d with at least one arm"
    ):
        AskTell(OFUL(0.1, 1.0), np.ones(shape))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_that_are_not_finite_are_refused(bad):
    with pytest.raises(
        ValueError, match=r"arms must be finite and at most 1e\+30 in absolute value, got "
    ):
        OFUL(0.1, 1.0).validate(bad * X, None, None)
    with pytest.raises(ValueError, match="^reward must be finite .*, got "):
        OFUL(0.1, 1.0).validate(X, torch.tensor([0]), torch.tensor([bad]))


@pytest.mark.parametrize("learner", [OFUL(0.1, 1.0), ConfidenceBall(0.1), UniformArm()])
def test_telling_an_unknown_arm_is_refused(learner):
    user = AskTell(learner, X[0].numpy())
    for arm in (3, -1):
        with pytest.raises(ValueError, match="^action must be an index from 0 to 2, got "):
            user.tell(arm, 1.0)
    assert user.rounds == 0
