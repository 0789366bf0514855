"""The ask/tell interface of Gaussian-process bandits: batches, posterior at unseen points, changing arms, save and load."""

import numpy as np
import pytest
import torch
from toy import Listed

from paperlib.asktell import AskTell
from paperlib.bkb import (
    BKB,
    RBF,
    Confidence,
    ContextualBKB,
    ExactGPUCB,
    FunctionKernel,
    LazyBKB,
    Linear,
    LinearGPUCB,
    Matern,
    Optimizer,
    Scripted,
    nystrom_posterior,
)
from paperlib.bkb.learners import bkb as learners
from paperlib.bkb.optimizer import PendingVariance

ARMS = np.linspace(0, 1, 60)[:, None]
KERNEL, RADIUS = RBF(30.0), Confidence(0.1, 2.0)
LEARNERS = {
    "BKB": BKB(KERNEL, RADIUS),
    "LazyBKB": LazyBKB(KERNEL, RADIUS),
    "ContextualBKB": ContextualBKB(KERNEL, RADIUS),
    "exact": ExactGPUCB(KERNEL, RADIUS),
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
    theirs = GaussianProcessRegressor(TheirRBF(1 / np.sqrt(60)), alpha=0.01, optimizer=None).fit(
        ARMS[played], f(ARMS[played])
    )
    points = np.linspace(-0.1, 1.1, 25)[:, None]
    mean, deviation = theirs.predict(points, return_std=True)
    found = user.posterior(points)
    # A dictionary with qbar = 5 only approximates the exact posterior.
    tolerance = 1e-6 if isinstance(learner, ExactGPUCB) else 0.05
    np.testing.assert_allclose(found.mean, mean, atol=tolerance)
    np.testing.assert_allclose(found.deviation, deviation, atol=tolerance)


@every
def test_a_batch_of_one_is_ask_and_arms_are_spread_in_a_larger_one(learner):
    user, again = (play(Optimizer(learner, ARMS), 6) for _ in range(2))
    assert user.ask(batch=1) == [again.ask()]
    batch = play(Optimizer(learner, ARMS), 6).ask(batch=4)
    assert len(batch) == 4 and len(set(batch)) >= 3
    before = user.rounds
    user.tell(batch, f(ARMS[batch]))
    assert user.rounds == before + len(batch)


MANY = np.random.default_rng(0).random((600, 2))
STEEP = Confidence(0.1, 2.0)  # k(x, x) is 100 lambda, so that one arm exceeds any threshold


@pytest.mark.parametrize("kind", [LazyBKB, BKB, ExactGPUCB])
def test_ask_returns_four_different_arms(kind):
    search = Optimizer(kind(Matern(2.5, 0.3), STEEP), MANY)
    for _ in range(15):
        batch = search.ask(batch=4)
        assert len(batch) == 4 and len(set(batch)) >= 3
        search.tell(batch, np.sin(5 * MANY[batch].sum(1)))
    assert search.rounds == 60 and np.sin(5 * MANY[search.best()].sum()) > 0.99


@pytest.mark.parametrize("kind, most", [(LazyBKB, 1), (BKB, 2)])
def test_a_batch_is_refitted_once(kind, most, monkeypatch):
    """The refit happens when the rewards arrive; BKB, which stores no embedding, computes one in ``ask``."""
    search, fits = play(Optimizer(kind(KERNEL, RADIUS), ARMS), 5), []
    fit = learners.fit_sketch
    monkeypatch.setattr(
        learners, "fit_sketch", lambda *args, **kw: fits.append(1) or fit(*args, **kw)
    )
    for _ in range(6):
        fits.clear()
        batch = search.ask(batch=8)
        search.tell(batch, f(ARMS[batch]))
        assert len(fits) <= most


@pytest.mark.parametrize("kind", [LazyBKB, BKB])
def test_a_batch_passed_at_once_gives_the_posterior_of_its_counters(kind):
    search = play(Optimizer(kind(KERNEL, RADIUS, qbar=1e9), ARMS), 5)
    batch = search.ask(batch=6)
    search.tell(batch, f(ARMS[batch]))
    exact = Optimizer(ExactGPUCB(KERNEL, RADIUS), ARMS)
    counts = search.state.n[0].numpy().astype(int)
    played = np.repeat(np.arange(60), counts)
    exact.tell(played, f(ARMS[played]))
    assert counts.sum() == 11 == search.rounds
    np.testing.assert_allclose(search.posterior().mean, exact.posterior().mean, atol=1e-6)
    np.testing.assert_allclose(search.posterior().deviation, exact.posterior().deviation, atol=1e-5)


@pytest.mark.parametrize("kind", [LazyBKB, BKB, ExactGPUCB])
def test_asks_without_tells_are_a_batch(kind):
    """Arms without a reward yet count as pending."""
    one, many = (play(Optimizer(kind(KERNEL, RADIUS), ARMS), 8) for _ in range(2))
    asked = [one.ask() for _ in range(4)]
    assert asked == many.ask(batch=4) == one.waiting and len(set(asked)) >= 3
    one.tell(asked[2], 0.5)
    assert one.waiting == [asked[0], asked[1], asked[3]]
    one.fail(asked[0], "no answer")
    one.tell(59, 0.1)  # an arm that was not asked for
    assert one.waiting == [asked[1], asked[3]]
    one.tell(one.waiting, [0.1, 0.2])
    assert one.waiting == [] and one.rounds == 12


def test_the_first_arms_of_a_search_are_drawn_one_by_one():
    search = Optimizer(BKB(KERNEL, RADIUS), ARMS, seed=1)
    batch = search.ask(batch=4)
    assert len(set(batch)) > 1 and search.ask() not in batch[:1]
    search.tell(batch, f(ARMS[batch]))
    assert search.rounds == 4


def test_within_a_batch_the_mean_stays_and_the_variance_shrinks():
    user = play(Optimizer(ExactGPUCB(KERNEL, RADIUS), ARMS), 5)
    state, arm = user.state, torch.tensor([40])
    after = user.learner.update(
        state, user.context, arm, state.mu[:, arm][:, 0], user._streams.at(5)
    )
    torch.testing.assert_close(after.mu, state.mu)
    assert bool((after.s2 <= state.s2).all()) and float(after.s2[0, 40]) < 0.6 * float(
        state.s2[0, 40]
    )


@pytest.mark.parametrize("kind", [BKB, LazyBKB])
def test_pending_arms_update_the_posterior_as_if_their_mean_was_observed(kind):
    """With every pull in the dictionary, the batch update equals the exact posterior, also for arms that were pulled before."""
    sketched = Optimizer(kind(KERNEL, RADIUS, qbar=1e9), ARMS)
    exact = Optimizer(ExactGPUCB(KERNEL, RADIUS), ARMS)
    for arm in (3, 20, 41, 55):
        for user in (sketched, exact):
            user.tell(arm, float(f(ARMS[arm])))
    hears = sketched._hearing(sketched.state, sketched.context, PendingVariance)
    ours, theirs = sketched.state, exact.state
    for arm in (10, 12, 3, 50):
        draw = sketched._streams.at(9)
        ours = sketched._believed(hears, ours, sketched.context, arm, draw)
        theirs = exact._believed(exact.learner.update, theirs, exact.context, arm, draw)
        torch.testing.assert_close(ours.s2, theirs.s2, rtol=0, atol=1e-9 * float(theirs.s2.max()))


def test_a_guaranteed_batch_ends_where_a_new_dictionary_is_due():
    lazy, eager = (
        play(Optimizer(LazyBKB(KERNEL, RADIUS, threshold=C), ARMS), 30) for C in (2.0, 1.0)
    )
    sizes = []
    for _ in range(10):
        batch = lazy.ask(batch=50, guaranteed=True)
        lazy.tell(batch, f(ARMS[batch]))
        sizes.append(len(batch))
    assert len(eager.ask(batch=50, guaranteed=True)) == 1 == min(sizes) < max(sizes)
    assert len(play(Optimizer(LazyBKB(KERNEL, RADIUS), ARMS), 3).ask(batch=9)) == 9
    # Arms are drawn at random before the first reward.
    assert len(Optimizer(LazyBKB(KERNEL, RADIUS), ARMS).ask(batch=9, guaranteed=True)) == 1
    with pytest.raises(
        ValueError, match="guaranteed must be False, because BKB has no threshold, got True"
    ):
        Optimizer(BKB(KERNEL, RADIUS), ARMS).ask(batch=2, guaranteed=True)


@pytest.mark.parametrize(
    "actions, feedback",
    [
        ([1, 99], [0.0, 0.0]),
        ([1, 2], [0.0, np.nan]),
        ([1, 2], [0.0]),
        ([1, 2], 0.0),
        ([1, 0.5], [0.0, 0.0]),
        ([1, 2], ["a", "b"]),
    ],
)
def test_an_invalid_batch_leaves_the_state_unchanged(actions, feedback):
    user = play(Optimizer(LazyBKB(KERNEL, RADIUS), ARMS), 5)
    before = user.state
    with pytest.raises(ValueError, match="action|feedback"):
        user.tell(actions, feedback)
    assert user.state is before and user.rounds == 5


@every
def test_save_and_load_go_on_where_they_were(learner, tmp_path):
    user = play(Optimizer(learner, ARMS), 12)
    user.save(tmp_path / "state.npz")
    again = Optimizer(learner, ARMS).restore(tmp_path / "state.npz")
    assert [play(user, 1).ask() for _ in range(8)] == [play(again, 1).ask() for _ in range(8)]


def test_other_arms_are_refused_by_learners_that_count_by_index(tmp_path):
    user = play(Optimizer(BKB(KERNEL, RADIUS), ARMS), 3)
    with pytest.raises(ValueError, match="other arms"):
        user.ask(ARMS[::-1].copy())
    assert user.rounds == 3 and isinstance(user.ask(), int)
    user.save(tmp_path / "state.npz")
    with pytest.raises(
        ValueError,
        match="^path must be a file saved by a learner with arms=.*, got '.*', saved by a learner with arms=",
    ):
        Optimizer(BKB(KERNEL, RADIUS), ARMS + 1.0).restore(tmp_path / "state.npz")


def test_arms_may_change_for_the_contextual_learner():
    user, rng, lost = Optimizer(ContextualBKB(KERNEL, RADIUS), ARMS), np.random.default_rng(0), []
    for t in range(40):
        arms = rng.random((5 + t % 3, 1))
        arm = user.ask(arms)
        user.tell(arm, f(arms[arm]))
        lost.append(f(arms).max() - f(arms[arm]))
    assert np.mean(lost[20:]) < 0.1 * np.mean(lost[:10])


def test_contextual_equals_bkb_with_fixed_arms_and_a_full_dictionary():
    a, b = (
        Optimizer(learner, ARMS, seed=5)
        for learner in (ContextualBKB(KERNEL, RADIUS, 1e9), BKB(KERNEL, RADIUS, 1e9))
    )
    for _ in range(30):
        arm = a.ask()
        assert arm == b.ask()
        a.tell(arm, f(ARMS[arm])), b.tell(arm, f(ARMS[arm]))


def test_bad_arguments():
    user = Optimizer(BKB(KERNEL, RADIUS), ARMS)
    for batch in (0, -1, 1.5, True):
        with pytest.raises(
            ValueError, match=r"^batch must be an integer from 1 to 2\^63 - 1, got "
        ):
            user.ask(batch=batch)
    with pytest.raises(ValueError, match="^rounds must be at least 1, got 0"):
        user.best()
    with pytest.raises(ValueError, match="points"):
        user.posterior(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="^points must .*, got "):
        user.posterior(np.full((3, 1), np.nan))
    with pytest.raises(ValueError, match="^learner must .*, got "):
        Optimizer(LinearGPUCB(RADIUS), ARMS)
    with pytest.warns(UserWarning, match="float32"):
        Optimizer(BKB(KERNEL, RADIUS), ARMS.astype(np.float32))


def repelling(X, Y):
    """Evaluate a function that is a covariance on the 64 arms that are checked, but not on all arms.

    Between any two of the other arms its value is -0.9.
    """
    near = (X.unsqueeze(-2) == Y.unsqueeze(-3)).all(-1)
    odd = (X[..., 1].unsqueeze(-1) + Y[..., 1].unsqueeze(-2)) == 2
    return torch.where(near, 1.0, torch.where(odd, -0.9, 0.0)).double()


def test_a_learner_that_fails_raises_and_stays_unchanged():
    looked_at = torch.linspace(0, 199, 64).long().numpy()
    odd = np.ones(200)
    odd[looked_at] = 0
    arms = np.stack([np.arange(200.0), odd], 1)
    user = Optimizer(BKB(FunctionKernel(repelling), RADIUS, root="cholesky"), arms)
    hidden = np.flatnonzero(odd)[:4]
    user.tell(hidden[:2], [1.0, 1.0])
    before = user.state
    with pytest.raises(
        RuntimeError, match="BKB fails in round 4 and ignores the feedback of this round"
    ):
        user.tell(hidden[2:], [1.0, 1.0])
    assert user.state is before and user.rounds == 2


def test_an_overflow_is_warned_of_once():
    user = Optimizer(BKB(KERNEL, RADIUS, qbar=1e9, capacity=8), ARMS)
    with pytest.warns(UserWarning, match="overflow") as caught:
        user.tell(list(range(0, 60, 4)), [0.0] * 15)
    assert len(caught) == 1


def test_posterior_maps_points_as_arms():
    user = Optimizer(BKB(RBF(3000.0), RADIUS), 10 * ARMS, prepare=lambda x: np.asarray(x) / 10)
    user.tell(30, 1.0)
    assert user.posterior(10 * ARMS[30:31]).mean[0] == pytest.approx(user.posterior().mean[30])
    assert user.posterior().mean[30] > 0.9


def test_feedback_goes_to_the_arms_asked_about_also_after_a_load(tmp_path):
    user = Optimizer(ContextualBKB(KERNEL, RADIUS), ARMS)
    user.tell(3, 0.0)
    user.ask(ARMS[::-1].copy())
    user.save(tmp_path / "state.npz")
    again = Optimizer(ContextualBKB(KERNEL, RADIUS), ARMS).restore(tmp_path / "state.npz")
    user.tell(0, 1.0), again.tell(0, 1.0)
    assert again.state.points.view[0, 1, 0] == user.state.points.view[0, 1, 0] == 1.0


def test_a_batch_beyond_the_pairs_of_gamma_leaves_the_state_unchanged():
    short = Confidence(0.1, 2.0, rule="gamma", gamma=((1, 2.0), (3, 4.0)))
    user = Optimizer(BKB(KERNEL, short), ARMS)
    before = user.state
    with pytest.raises(
        ValueError, match="gamma must contain a pair for t of at least 4, got pairs up to t = 3"
    ):
        user.tell([0, 10, 20, 30, 40, 50], [0.0] * 6)
    assert user.state is before and user.rounds == 0


def test_a_scripted_learner_keeps_the_rules_of_its_base(tmp_path):
    scripted = Scripted(LazyBKB(KERNEL, RADIUS), Listed((5, 6)), 2)
    user = AskTell(scripted, ARMS)
    assert [user.ask(), user.tell(5, 0.0), user.ask()] == [5, None, 6]
    user.tell(6, 1.0)
    with pytest.raises(ValueError, match="other arms"):
        user.ask(ARMS[::-1].copy())
    user.save(tmp_path / "state.npz")
    assert AskTell(scripted, ARMS).restore(tmp_path / "state.npz").ask() == user.ask()


@pytest.mark.parametrize(
    "learner",
    [BKB(KERNEL, RADIUS, 1e-3), LazyBKB(KERNEL, RADIUS, 1e-3), ContextualBKB(KERNEL, RADIUS, 1e-3)],
    ids=lambda x: type(x).__name__,
)
def test_an_empty_dictionary_is_no_error(learner):
    user = play(Optimizer(learner, ARMS), 30)
    mean, deviation = user.posterior()
    assert np.isfinite(mean).all() and np.isfinite(deviation).all()
    if not isinstance(learner, LazyBKB):
        assert user.learner.report(user.state)["dictionary"].item() <= 2


@pytest.mark.parametrize(
    "kernel", [Linear(), FunctionKernel(lambda X, Y: X @ Y.mT)], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize(
    "arms",
    [np.zeros((4, 2)), np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]])],
    ids=["zero", "one", "duplicates"],
)
def test_degenerate_arms(kernel, arms):
    for learner in (
        BKB(kernel, RADIUS),
        LazyBKB(kernel, RADIUS),
        ContextualBKB(kernel, RADIUS),
        ExactGPUCB(kernel, RADIUS),
    ):
        user = Optimizer(learner, arms)
        for t in range(6):
            arm = user.ask()
            user.tell(arm, 1.0)
            assert t == 0 or arm != 2  # the first arm is drawn at random
        mean, deviation = user.posterior()
        assert np.isfinite(mean).all() and np.isfinite(deviation).all()


def test_other_invalid_input_is_rejected():
    user = Optimizer(BKB(KERNEL, RADIUS), ARMS)
    for call, match in (
        (lambda: user.tell([], []), r"action must be a list of at least one entry, got \[\]"),
        (lambda: user.posterior(np.zeros((0, 1))), "points"),
        (lambda: user.tell(True, 1.0), "^action must be the index of an arm, .*, got True"),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    for bad in (
        dict(noise=torch.tensor([0.1, 0.2])),
        dict(gamma=((1, "a"),)),
        dict(gamma=(1, 2)),
        dict(gamma=((3, 1.0), (1, 2.0))),
    ):
        with pytest.raises(ValueError, match=f"^{next(iter(bad))} must .*, got "):
            Confidence(**{"noise": 0.1, "norm_bound": 1.0} | bad)
    for learner in (BKB, LazyBKB, ContextualBKB):
        with pytest.raises(ValueError, match="^qbar must .*, got "):
            learner(KERNEL, RADIUS, torch.tensor([1.0, 2.0]))


def test_features_far_from_the_origin_are_no_problem():
    arms = np.random.default_rng(0).random((30, 9))
    near, far = (
        play_at(Optimizer(BKB(RBF(1.0), RADIUS), offset + arms), arms) for offset in (0.0, 1e6)
    )
    assert near == far


def play_at(user, arms):
    arms_played = []
    for _ in range(10):
        arms_played.append(user.ask())
        user.tell(arms_played[-1], f(arms[arms_played[-1]]))
    return arms_played


def test_contextual_sampling_follows_algorithm_1():
    """Every pull, including the newest, is kept with probability min(1, qbar s2_t), where s2_t is the variance before it."""
    learner, user = (
        ContextualBKB(KERNEL, RADIUS, 1.0),
        Optimizer(ContextualBKB(KERNEL, RADIUS, 1.0), ARMS, seed=2),
    )
    kept = torch.zeros(1, 0, dtype=torch.bool)
    for t in range(40):
        arm = user.ask()
        pulls = torch.cat([user.state.points.view, user.context[:, [arm]]], 1)
        if t == 0:
            expected = torch.ones(1, 1, dtype=torch.bool)
        else:
            state = user.state
            one = torch.ones_like(state.rewards.view)
            s2 = nystrom_posterior(
                state.points.view, KERNEL, kept, one, state.rewards.view, RADIUS.lam, at=pulls
            ).s2
            expected = (
                user._streams.at(t).uniform("dictionary of 64", 64)[:, : t + 1] < learner.qbar * s2
            )
        user.tell(arm, f(ARMS[arm]))
        kept = user.state.kept.view
        assert torch.equal(kept, expected)
    assert 0 < kept.sum() < 40


@pytest.mark.parametrize(
    "skip", [lambda t: t == 0, lambda t: t % 2 == 0], ids=["first", "every second"]
)
@every
def test_a_search_with_failures_goes_on_also_after_a_load(learner, skip, tmp_path):
    user = Optimizer(learner, ARMS, seed=3)
    for t in range(40):
        arm = user.ask()
        user.fail(arm, TimeoutError("late")) if skip(t) else user.tell(arm, f(ARMS[arm]))
        if t == 20:
            user.save(tmp_path / "state.npz")
            user = Optimizer(learner, ARMS, seed=3).restore(tmp_path / "state.npz")
    assert (
        abs(user.best() - f(ARMS).argmax()) <= 2 and user.failures[0].reason == "TimeoutError: late"
    )
    assert user.rounds + len(
        user.failures
    ) == 40 and f"failures={len(user.failures)}, horizon=None" in repr(user)


def test_an_arm_that_always_fails_is_dropped_if_a_number_is_passed_instead():
    user, best = Optimizer(LazyBKB(KERNEL, RADIUS), ARMS, seed=3), int(f(ARMS).argmax())
    for _ in range(40):
        arm = user.ask()
        user.fail(arm, np.nan, instead=-1.0) if arm == best else user.tell(arm, f(ARMS[arm]))
    assert 1 <= len(user.failures) <= 5 and user.rounds == 40


def test_one_arm_of_a_batch_may_fail():
    user = play(Optimizer(ExactGPUCB(KERNEL, RADIUS), ARMS), 6)
    batch = user.ask(batch=3)
    user.tell(batch[:2], f(ARMS[batch[:2]]))
    user.fail(batch[2], None)
    assert (
        user.rounds == 8
        and user.failures == [(9, batch[2], "None")]
        and len(user.ask(batch=2)) == 2
    )


def test_existing_data_are_observed_before_the_first_ask():
    arms = np.arange(0, 60, 6)
    user, other = Optimizer(BKB(KERNEL, RADIUS), ARMS), Optimizer(BKB(KERNEL, RADIUS), ARMS)
    user.observe(arms, f(ARMS[arms]))
    other.tell(arms, f(ARMS[arms]))
    assert (
        user.rounds == 10 and user.ask() == other.ask() and abs(user.best() - f(ARMS).argmax()) <= 3
    )
