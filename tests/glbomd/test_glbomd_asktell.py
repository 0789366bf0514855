"""GLB-OMD through ask/tell with user-defined data: one call per step, rejected inputs without side effects, warnings."""

import warnings

import numpy as np
import pytest
import torch

from paperlib.asktell import AskTell
from paperlib.glbomd import (
    GLBOMD,
    GLMUCB,
    GLOC,
    OFUGLB,
    Bernoulli,
    ECOLog,
    Gaussian,
    OFULogR,
    Poisson,
    RSGLinCB,
)

ARMS = np.array([[0.6, 0.8], [1.0, 0.0], [-0.5, 0.5]])
REWARDS = (1, 0, 0, 1, 1, 0)


def test_the_listed_run_by_ask_and_tell():
    with warnings.catch_warnings(record=True):
        user = AskTell(GLBOMD(Bernoulli(), 2.0, delta=0.05, ridge=2.0), ARMS)
    played = []
    for reward in REWARDS:
        played.append(user.ask(ARMS))
        user.tell(played[-1], reward)
    assert played == [0, 1, 0, 1, 1, 0]
    np.testing.assert_allclose(user.state.theta[0], [0.2332041964, -0.5137839330], atol=1e-9)


@pytest.mark.parametrize(
    "link, feedback",
    [
        (Bernoulli(), 0.5),
        (Bernoulli(), 2),
        (Bernoulli(), np.nan),
        (Poisson(), -1),
        (Poisson(), 1.5),
        (Poisson(), np.inf),
        (Gaussian(), np.nan),
    ],
)
def test_a_refused_reward_leaves_the_learner_as_it_was(link, feedback):
    user = AskTell(GLBOMD(link, 2.0), ARMS)
    for _ in range(3):
        user.tell(user.ask(), 1)
    before, arm = user.state, user.ask()
    with pytest.raises(ValueError, match="^(reward|feedback) must be .*, got "):
        user.tell(arm, feedback)
    assert user.state is before and user.ask() == arm
    user.tell(arm, 0)
    assert user.rounds == 4 and torch.isfinite(user.state.theta).all()


@pytest.mark.parametrize("arms", [2 * ARMS, np.zeros((0, 2)), ARMS[0], np.full((2, 2), np.nan)])
def test_refused_arms(arms):
    user = AskTell(GLBOMD(Bernoulli(), 2.0), ARMS)
    user.tell(user.ask(), 1)
    before = user.state
    with pytest.raises(ValueError, match="arms|context"):
        user.ask(arms)
    assert user.state is before and user.ask(ARMS) in range(3)


def test_fractional_rewards_on_request():
    user = AskTell(GLBOMD(Bernoulli(fractional=True), 2.0), ARMS)
    user.tell(user.ask(), 0.5)
    assert user.rounds == 1


def test_warnings_where_the_theorem_does_not_reach():
    with pytest.warns(UserWarning, match="Theorem 1 requires"):
        AskTell(GLBOMD(Bernoulli(), 3.0, ridge="dim"), ARMS)
    with pytest.warns(UserWarning, match="they lose coverage"):
        AskTell(GLBOMD(Poisson(), 3.0, ridge="dim"), ARMS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ridge in ("sharp", "free", "theory"):
            AskTell(GLBOMD(Bernoulli(), 3.0, ridge=ridge), ARMS)
            AskTell(GLBOMD(Poisson(), 3.0, ridge=ridge), ARMS)


@pytest.mark.parametrize("learner", [GLMUCB(Bernoulli(), 2.0), RSGLinCB(Bernoulli(), 2.0)])
def test_learners_that_need_a_horizon_raise_an_error(learner):
    with pytest.raises(ValueError, match="horizon must be an integer of at least 1, because"):
        AskTell(learner, ARMS)
    user = AskTell(learner, ARMS, horizon=50)
    user.tell(user.ask(), 1)


@pytest.mark.parametrize(
    "learner", [GLBOMD(Bernoulli(), 2.0), OFUGLB(Bernoulli(), 2.0), OFULogR(2.0), ECOLog(2.0)]
)
def test_save_and_load_go_on_alike(learner, tmp_path):
    def rounds(user, seed, count):
        generator, arms = np.random.default_rng(seed), []
        for _ in range(count):
            x = generator.normal(size=(6, 2))
            arms.append(user.ask(x / np.linalg.norm(x, axis=1, keepdims=True)))
            user.tell(arms[-1], int(generator.random() < 0.5))
        return arms

    user = AskTell(learner, ARMS)
    rounds(user, 0, 20)
    user.save(tmp_path / "state.npz")
    again = AskTell(learner, ARMS).restore(tmp_path / "state.npz")
    assert rounds(user, 1, 15) == rounds(again, 1, 15)


def test_rescaled_arms_are_the_scaled_model():
    user, scaled = (
        AskTell(GLBOMD(Bernoulli(), 6.0), 2.5 * ARMS, prepare=lambda arms: arms / 2.5),
        AskTell(GLBOMD(Bernoulli(), 6.0), ARMS),
    )
    for reward in REWARDS:
        arm = user.ask(2.5 * ARMS)
        assert arm == scaled.ask(ARMS)
        user.tell(arm, reward), scaled.tell(arm, reward)
    with pytest.raises(
        ValueError, match="arms must have norms of at most 1, got a norm of 1.2000000000000002"
    ):
        user.ask(3 * ARMS)


@pytest.mark.parametrize(
    "make",
    [lambda S: GLBOMD(Poisson(), S), lambda S: GLOC(Poisson(), S), lambda S: OFUGLB(Poisson(), S)],
)
def test_norms_for_which_nothing_is_finite_are_refused(make):
    make(20.0)
    with pytest.raises(
        ValueError, match="norm_bound must be a number for which C_mu, the.*, got 750.0"
    ):
        make(750.0)
