"""Tests of the learners with ask/tell on a box: seeds, units, existing data, failed evaluations, predictions and files."""

import numpy as np
import pytest
import torch

from paperlib.asktell import Optimizer
from paperlib.core.trees import list_leaves
from paperlib.goucb import GP, Bounds, LevenbergMarquardt, Linearized, TuRBO, TwoLayerNet
from paperlib.goucb.learners.presets import algorithm1, literal, practical
from paperlib.linear import OFUL

SMALL = {
    "model": TwoLayerNet(3),
    "oracle": LevenbergMarquardt(2, 8, 3),
    "acquisition": Linearized(12, 4, 2, 3),
}
LEARNERS = {
    "practical": practical(3, **SMALL),
    "algorithm1": algorithm1(3, **SMALL),
    "gp": GP(3, "modern", "EI", fit_steps=3, candidates=8, around=2, top=2, steps=2),
    "turbo": TuRBO(3, candidates=20, fit_steps=3),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def box(lo, hi):
    """Return the box of one trial, without the trial dimension."""
    return Bounds(*(torch.tensor(side, dtype=torch.float64) for side in (lo, hi)))


BOX = box([-4.0, -2.0], [0.0, 2.0])


def f(x):
    """Return the objective, whose maximum is 0 at (-2, 1)."""
    return -((x[0] + 2) ** 2) - (x[1] - 1) ** 2


def new(learner=LEARNERS["practical"], where=BOX, **more):
    return Optimizer(learner, where, **more)


def follow(search, rounds, answer=f):
    """Return the proposed points of ``rounds`` rounds."""
    asked = []
    for _ in range(rounds):
        asked.append(search.ask())
        search.tell(asked[-1], answer(asked[-1]))
    return np.array(asked)


def numbers(search):
    """Return the learned state in a form that can be compared with ==."""
    view = lambda x: x.view if hasattr(x, "view") and not isinstance(x, torch.Tensor) else x
    plain = lambda x: x.tolist() if isinstance(x, torch.Tensor) else x
    now = search._now
    state = [(name, plain(view(x))) for name, x in list_leaves(now.state)]
    return state, now.rounds, now.skipped, now.failures


def own_points(count):
    return list(np.random.default_rng(0).uniform([-4, -2], [0, 2], (count, 2)))


# ---- the search


@every_learner
def test_points_are_in_the_box_and_the_same_for_the_same_seed(name):
    asked = [follow(new(LEARNERS[name], seed=seed), 8) for seed in (0, 0, 1)]
    lo, hi = (side.numpy() for side in BOX)
    assert ((asked[0] >= lo) & (asked[0] <= hi)).all()
    assert np.array_equal(asked[0], asked[1]) and not np.array_equal(asked[0], asked[2])


def test_the_first_points_are_those_of_all_learners():
    first = [follow(new(learner), 3) for learner in LEARNERS.values()]
    assert all(np.array_equal(points, first[0]) for points in first)


@every_learner
def test_asked_again_it_is_the_same(name):
    search = new(LEARNERS[name])
    np.testing.assert_array_equal(search.ask(), search.ask())
    follow(search, 4)
    np.testing.assert_array_equal(search.ask(), search.ask())


@every_learner
def test_one_dimension(name):
    asked = follow(new(LEARNERS[name], box([-1.0], [3.0])), 6, lambda x: -(x[0] ** 2))
    assert asked.shape == (6, 1) and asked.min() >= -1 and asked.max() <= 3


@every_learner
def test_units_of_a_dimension_do_not_matter(name):
    one, two = box([-1.0, 0.25], [1.0, 1.0]), box([-1024.0, 1.0], [1024.0, 4.0])
    first = follow(new(LEARNERS[name], one), 10, lambda x: -(x[0] ** 2) - x[1])
    second = follow(new(LEARNERS[name], two), 10, lambda x: -((x[0] / 1024) ** 2) - x[1] / 4)
    np.testing.assert_allclose(second / [1024, 4], first, atol=1e-6)


# ---- failed evaluations


def test_after_a_failure_at_first_another_point_is_asked_for():
    search, points = new(), []
    for _ in range(5):
        points.append(search.ask())
        search.fail(points[-1], RuntimeError("down"))
    assert search.rounds == 0 and [failure.round for failure in search.failures] == [1] * 5
    # They are the uniform points that a search with a larger n_init and no failures proposes.
    np.testing.assert_array_equal(points, follow(new(practical(9, **SMALL)), 5))
    follow(search, 4)
    assert search.rounds == 4


@every_learner
def test_a_failed_evaluation_counts_with_the_value_that_replaces_it(name):
    search, values = new(LEARNERS[name]), []
    for t in range(12):
        x = search.ask()
        if t % 2:
            search.fail(x, "down", instead=min(values))
            values.append(min(values))
        else:
            search.tell(x, f(x))
            values.append(f(x))
    assert search.state.y.view[0].tolist() == values
    assert search.rounds == 12 and len(search.failures) == 6


@every_learner
@pytest.mark.parametrize("fails", [lambda t: t < 2, lambda t: t % 2 == 0])
def test_saved_and_loaded_it_goes_on_as_if_uninterrupted(name, fails, tmp_path):
    def rounds(search, first, last):
        for t in range(first, last):
            x = search.ask()
            search.fail(x, "down") if fails(t) else search.tell(x, f(x))
        return search

    learner, path = LEARNERS[name], tmp_path / "run.npz"
    one = rounds(new(learner), 0, 12)
    for stop in (0, 1, 7):
        rounds(new(learner), 0, stop).save(path)
        other = rounds(Optimizer.load(path, learner, BOX), stop, 12)
        assert numbers(other) == numbers(one)
        np.testing.assert_array_equal(other.ask(), one.ask())


@every_learner
@pytest.mark.parametrize("rounds", [1, 5])
def test_a_point_asked_before_a_save_may_be_told_after_the_load(name, rounds, tmp_path):
    search, path = new(LEARNERS[name]), tmp_path / "running.npz"
    follow(search, rounds)
    x = search.ask()
    search.save(path)
    other = new(LEARNERS[name]).restore(path)
    for one in (search, other):
        one.tell(x, f(x))
    assert torch.equal(search.state.x.view, other.state.x.view)
    np.testing.assert_array_equal(search.ask(), other.ask())


def test_files_of_another_seed_learner_or_horizon_are_refused(tmp_path):
    search, path = new(), tmp_path / "run.npz"
    follow(search, 4)
    search.save(path)
    for user in (new(seed=1), new(LEARNERS["gp"]), new(horizon=9)):
        with pytest.raises(ValueError, match=r"run\.npz"):
            user.restore(path)
        assert user.rounds == 0


# ---- existing data


@every_learner
def test_existing_data_come_first_and_count(name):
    own = own_points(4)
    search, told, asked = (new(LEARNERS[name]) for _ in range(3))
    search.observe(own, [f(x) for x in own])
    for x in own:
        told.tell(x, f(x))
        asked.ask()  # the proposed point is not the one reported next
        asked.tell(x, f(x))
    assert search.rounds == 4 and numbers(search) == numbers(told)
    np.testing.assert_array_equal(search.ask(), told.ask())
    np.testing.assert_array_equal(search.ask(), asked.ask())
    assert not np.array_equal(search.ask(), new(LEARNERS[name]).ask())


@every_learner
def test_existing_data_are_recorded_without_a_search(name, monkeypatch):
    search, own = new(LEARNERS[name]), own_points(5)
    monkeypatch.setattr(type(LEARNERS[name]), "select", None)
    search.observe(own, [f(x) for x in own])
    assert search.rounds == 5


def test_a_point_outside_is_refused_and_nothing_recorded():
    search = new()
    follow(search, 4)
    asked, before = search.ask(), search._now
    for call in (lambda x: search.tell(x, 1.0), lambda x: search.observe([asked, x], [1.0, 1.0])):
        with pytest.raises(ValueError, match="action.* must "):
            call(np.array([-2.0, 2.5]))
    with pytest.raises(ValueError, match="action.*shape"):
        search.tell(np.array([-2.0]), 1.0)
    assert search._now is before
    np.testing.assert_array_equal(search.ask(), asked)


# ---- predictions


@pytest.mark.parametrize("learner", [practical(3), GP(3, "modern", "EI")], ids=["practical", "gp"])
def test_a_prediction_is_in_units_of_the_rewards(learner):
    search = new(learner, box([0.0], [1.0]))
    xs = np.linspace(0, 1, 7)
    search.observe(xs[:, None], 1000 + 50 * xs)
    at = torch.from_numpy(xs)[None, :, None]
    mean, width = learner.predict(search.state, search.context, at)
    np.testing.assert_allclose(mean[0], 1000 + 50 * xs, atol=5)
    assert mean.shape == width.shape == (1, 7) and bool((width > 0).all())


@pytest.mark.parametrize(
    "name, rounds, match",
    [
        ("practical", 2, "state.rounds must be at least n_init=3, got 2"),
        ("gp", 0, "state.rounds must be at least 1, got 0"),
    ],
)
def test_a_prediction_without_a_model_is_refused(name, rounds, match):
    search = new(LEARNERS[name])
    follow(search, rounds)
    with pytest.raises(ValueError, match=match):
        search.learner.predict(search.state, search.context, torch.zeros(1, 1, 2).double())


# ---- other settings


@pytest.mark.parametrize(
    "learner, match",
    [
        (OFUL(0.1, 1.0), "arms must be a tensor of shape R x K x d or 1 x K.*, got type Bounds"),
        (literal(3, 26.0), r"horizon must be at least n_init \+ 2 = 5, because.*, got None"),
        (practical, "learner must be a learner with the attributes.*, got "),
    ],
)
def test_learners_that_cannot_start_are_refused(learner, match):
    with pytest.raises(ValueError, match=match):
        new(learner)


@every_learner
def test_inference_mode_of_the_caller_changes_nothing(name, tmp_path):
    def played(mode):
        with torch.inference_mode(mode):
            search = new(LEARNERS[name])
            asked = follow(search, 4)
            search.save(tmp_path / "search.npz")
            taken = Optimizer.load(tmp_path / "search.npz", LEARNERS[name], BOX)
            return [*asked, search.ask(), taken.ask()]

    np.testing.assert_array_equal(played(True), played(False))
