"""Ask and tell for Gaussian-process bandits: batches, posterior at unseen points, changing arms, save and load."""

import numpy as np
import pytest
import torch

from paperlib.bkb import BKB, OFUL, RBF, Confidence, ContextualBKB, ExactGPUCB, LazyBKB, Optimizer

ARMS = np.linspace(0, 1, 60)[:, None]
KERNEL, RADIUS = RBF(30.0), Confidence(0.1, 2.0)
LEARNERS = {
    "BKB": BKB(KERNEL, RADIUS), "LazyBKB": LazyBKB(KERNEL, RADIUS), "ContextualBKB": ContextualBKB(KERNEL, RADIUS), "exact": ExactGPUCB(KERNEL, RADIUS),
}
every = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def f(x):
    return np.sin(6 * x).sum(-1)


def play(user, rounds):
    for _ in range(rounds):
        arm = user.ask()
        user.tell(arm, f(ARMS[arm]))
    return user


@every
def test_it_finds_the_best_arm(learner):
    user = play(Optimizer(learner, ARMS, seed=3), 25)
    assert abs(user.best() - f(ARMS).argmax()) <= 2


@every
def test_posterior_at_unseen_points_agrees_with_scikit_learn(learner):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF as TheirRBF

    user = Optimizer(learner, ARMS, seed=1)
    played = np.random.default_rng(0).integers(0, 60, 12)
    user.tell(played, f(ARMS[played]))
    theirs = GaussianProcessRegressor(TheirRBF(1 / np.sqrt(60)), alpha=0.01, optimizer=None).fit(ARMS[played], f(ARMS[played]))
    points = np.linspace(-0.1, 1.1, 25)[:, None]
    mean, deviation = theirs.predict(points, return_std=True)
    found = user.posterior(points)
    tolerance = 1e-6 if isinstance(learner, ExactGPUCB) else 0.05  # of a dictionary with qbar = 5
    np.testing.assert_allclose(found.mean, mean, atol=tolerance)
    np.testing.assert_allclose(found.deviation, deviation, atol=tolerance)


@every
def test_a_batch_of_one_is_ask_and_arms_are_spread_in_a_larger_one(learner):
    user = play(Optimizer(learner, ARMS), 6)
    assert user.ask(batch=1) == [user.ask()]
    batch = user.ask(batch=4)
    assert 1 <= len(batch) <= 4 and len(set(batch)) == len(batch)
    if isinstance(learner, (BKB, ExactGPUCB)):
        assert len(batch) == 4
    before = user.rounds
    user.tell(batch, f(ARMS[batch]))
    assert user.rounds == before + len(batch)


def test_within_a_batch_the_mean_stays_and_the_variance_shrinks():
    user = play(Optimizer(ExactGPUCB(KERNEL, RADIUS), ARMS), 5)
    state, arm = user.state, torch.tensor([40])
    after = user.learner.update(state, user.context, arm, state.mu[:, arm][:, 0], user.streams.at(5))
    torch.testing.assert_close(after.mu, state.mu)
    assert bool((after.s2 <= state.s2).all()) and float(after.s2[0, 40]) < 0.6 * float(state.s2[0, 40])


def test_a_lazy_batch_ends_where_a_new_dictionary_is_due():
    lazy, eager = (play(Optimizer(LazyBKB(KERNEL, RADIUS, threshold=C), ARMS), 30) for C in (2.0, 1.0))
    sizes = [len(play(lazy, 1).ask(batch=50)) for _ in range(10)]
    assert len(eager.ask(batch=50)) == 1 < max(sizes) < 50


@pytest.mark.parametrize("actions, feedback", [([1, 99], [0.0, 0.0]), ([1, 2], [0.0, np.nan]), ([1, 2], [0.0]), ([1, 2], 0.0), ([1, 0.5], [0.0, 0.0]), ([1, 2], ["a", "b"])])
def test_nothing_is_learned_of_a_bad_batch(actions, feedback):
    user = play(Optimizer(LazyBKB(KERNEL, RADIUS), ARMS), 5)
    before = user.state
    with pytest.raises(ValueError, match="action|feedback"):
        user.tell(actions, feedback)
    assert user.state is before and user.rounds == 5


@every
def test_save_and_load_go_on_where_they_were(learner, tmp_path):
    user = play(Optimizer(learner, ARMS), 12)
    user.save(tmp_path / "state.npz")
    again = Optimizer(learner, ARMS).load(tmp_path / "state.npz")
    assert [play(user, 1).ask() for _ in range(8)] == [play(again, 1).ask() for _ in range(8)]


def test_other_arms_are_refused_by_learners_that_count_by_index(tmp_path):
    user = play(Optimizer(BKB(KERNEL, RADIUS), ARMS), 3)
    with pytest.raises(ValueError, match="other arms"):
        user.ask(ARMS[::-1].copy())
    assert user.rounds == 3 and isinstance(user.ask(), int)
    user.save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="was saved by"):
        Optimizer(BKB(KERNEL, RADIUS), ARMS + 1.0).load(tmp_path / "state.npz")


def test_arms_may_change_for_the_contextual_learner():
    user, rng, lost = Optimizer(ContextualBKB(KERNEL, RADIUS), ARMS), np.random.default_rng(0), []
    for t in range(40):
        arms = rng.random((5 + t % 3, 1))
        arm = user.ask(arms)
        user.tell(arm, f(arms[arm]))
        lost.append(f(arms).max() - f(arms[arm]))
    assert np.mean(lost[20:]) < 0.1 * np.mean(lost[:10])


def test_contextual_is_bkb_where_arms_stay_and_everything_is_kept():
    a, b = (Optimizer(learner, ARMS, seed=5) for learner in (ContextualBKB(KERNEL, RADIUS, 1e9), BKB(KERNEL, RADIUS, 1e9)))
    for _ in range(30):
        arm = a.ask()
        assert arm == b.ask()
        a.tell(arm, f(ARMS[arm])), b.tell(arm, f(ARMS[arm]))


def test_bad_arguments():
    user = Optimizer(BKB(KERNEL, RADIUS), ARMS)
    for batch in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="batch="):
            user.ask(batch=batch)
    with pytest.raises(ValueError, match="rounds=0"):
        user.best()
    with pytest.raises(ValueError, match="points"):
        user.posterior(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="points="):
        user.posterior(np.full((3, 1), np.nan))
    with pytest.raises(ValueError, match="learner="):
        Optimizer(OFUL(RADIUS), ARMS)
    with pytest.warns(UserWarning, match="float32"):
        Optimizer(BKB(KERNEL, RADIUS), ARMS.astype(np.float32))
