"""What seconds are made of, and from which round on one learner needs less than another."""

import numpy as np
import pytest

from paperlib.bkb import BKB, RKHS, Confidence, LazyBKB, UniformArm
from paperlib.bkb.experiments import cost
from paperlib.play import play

PROBLEM = RKHS(arms=30, dim=1, gamma=40.0, norm=2.0, noise=0.2)
RADIUS = Confidence(PROBLEM.noise, PROBLEM.norm)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


# ---- which rounds ------------------------------------------------------------------------------------------


def test_rounds_below_the_square():
    assert cost.while_small(np.full(40, 5)).tolist() == [18, 19, 20, 21, 22, 23]  # t = 1..24, of them the last six
    assert cost.while_small(np.full(12, 5)).tolist() == [9, 10, 11]
    assert cost.while_small(np.array([1, 2])).tolist() == [1] and not len(cost.while_small(np.ones(9)))


def test_rounds_from_seven_times_on():
    assert cost.from_seven(np.full(25, 3)).tolist() == [20, 21, 22, 23, 24]
    assert cost.from_seven(np.append(np.full(23, 3), [9, 3])).tolist() == [24]
    assert not len(cost.from_seven(np.full(5, 3))) and cost.from_seven(np.zeros(3)).tolist() == [0, 1, 2]


def test_rounds_in_which_nearly_all_are_in():
    assert cost.while_alike(np.array([1, 2, 3, 3]), np.array([1, 2, 4, 5])).tolist() == [0, 1, 2]  # 9 > 8, 9 < 12.5
    assert cost.while_alike(np.full(70, 4), np.full(70, 4)).tolist() == list(range(20, 70))


# ---- seconds -----------------------------------------------------------------------------------------------


def test_bins_keep_rare_work_and_drop_a_slow_trial():
    work = np.tile([1.0, 1, 1, 9], 2)
    hiccup = work.copy()
    hiccup[0] = 500
    middles, found = cost.binned(np.stack([work, hiccup, work]), 4)
    assert middles.tolist() == [2, 6] and found.tolist() == [3, 3]
    assert len(cost.binned(np.ones((1, 11)), 4)[0]) == 2


@pytest.mark.parametrize("first, other, when", [
    ([3, 3, 1, 1], [2, 2, 2, 2], 3), ([1, 1], [2, 2], 1), ([1, 3], [2, 2], None), ([2, 2], [2, 2], None), ([3, 1, 5], [2, 2], 2),
    ([5, 1, 1, 3, 1, 1], [2] * 6, 2),            # dear rounds that the cheap ones before have paid for
    ([5, 1, 1, 9, 1, 1], [2] * 6, 5),            # and one that they have not
    ([1.0] * 9 + [2], [3.0] * 9 + [1], 1), ([3] * 19 + [1], [2] * 20, None),  # the last round proves nothing
])
def test_crossover(first, other, when):
    assert cost.crossover(np.array([first], float), np.array([other], float)) == when


def test_crossover_of_growing_curves():
    t = np.arange(1.0, 101)
    assert cost.crossover(np.full((3, 100), 30.5), np.stack([0.5 * t, t, 99 * t])) == 31  # the median trial
    slow = np.stack([t, t, t])
    slow[0, 0] = 1e9  # one slow round of one trial moves nothing
    assert cost.crossover(np.full((3, 100), 30.5), slow) == 31
    assert cost.crossover(np.full((3, 100), 30.5), np.stack([t, 0 * t, 0 * t])) is None


def test_ratio_of_means():
    a, b = np.array([[9.0, 2, 2, 8], [9, 6, 2, 2]]), np.array([[9.0, 1, 1, 1], [9, 3, 1, 1]])
    found = cost.seconds_ratio(a, b, [np.array([1, 2, 3]), np.array([1])])  # means 4 and 6 against 1 and 3
    assert found.estimate == pytest.approx(10 / 4) and (found.low, found.high, found.n) == (2, 4, 2)
    assert found.method.startswith("ratio of mean seconds, 95 % bootstrap over trials")


def test_growth_of_seconds_sees_the_last_three_quarters():
    t = np.arange(1, 801)
    seconds = np.stack([np.where(t < 200, 1e9, c * t**1.5) for c in (1.0, 2.0, 3.0)])
    found = cost.time_growth(seconds)
    assert found.estimate == pytest.approx(1.5, abs=5e-3) and found.n == 3
    assert cost.time_growth(np.full((2, 8), 3.0)).estimate == pytest.approx(0)


def test_timed_runs_are_kept():
    runs = {"uniform": (UniformArm(), PROBLEM), "BKB": (BKB(PROBLEM.kernel, RADIUS), PROBLEM)}
    first = cost.time_runs(runs, 15, 2)
    assert all(first[name].shape == (2, 15) and (first[name] > 0).all() for name in runs)
    assert all(np.array_equal(cost.time_runs(runs, 15, 2)[name], first[name]) for name in runs)
    assert not np.array_equal(cost.time_runs(runs, 15, 2, seed=1)["BKB"], first["BKB"])


def test_batches():
    learner = LazyBKB(PROBLEM.kernel, RADIUS)
    found = cost.time_batches(learner, PROBLEM, 30, (1, 20), 2)
    assert list(found) == [1, 20] and all(x.shape == (2,) and (x > 0).all() for x in found.values())
    assert found[20].min() < found[1].max()  # a trial of twenty costs less than one alone
    assert np.array_equal(cost.time_batches(learner, PROBLEM, 30, (1, 20), 2)[20], found[20])


def test_a_run_in_a_process_of_its_own():
    found = cost.large_run(300, 30)
    assert 0 < found["seconds"] < found["cpu"] < 60 and 5e7 < found["bytes"] < 2**30
    again = play(LazyBKB(cost.dense_1d(300).kernel, Confidence(1.0, 3.0)), cost.dense_1d(300), 30, 1, record=1)
    assert found["regret"] == pytest.approx(again["regret"][0, -1]) and found["dictionary"] == again["report.dictionary"][0]
    assert cost.large_run(300, 30) == found
    with pytest.raises(RuntimeError, match=r"(?s)0 arms, 30 rounds: .*arms=0"):
        cost.large_run(0, 30)
