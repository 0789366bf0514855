"""Sizes of dictionaries against dense formulas and by hand, and what seconds are made of."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from paperlib import stats
from paperlib.bkb import BKB, RKHS, Confidence, ExactGPUCB, LazyBKB, UniformArm, cost
from paperlib.bkb.probes import ExpectedSize, Size, dictionary_size, played, unique_pulls
from paperlib.core import Trace
from paperlib.play import Probe, play
from paperlib.streams import Streams

PROBLEM = RKHS(arms=30, dim=1, gamma=40.0, norm=2.0, noise=0.2)
RADIUS = Confidence(PROBLEM.noise, PROBLEM.norm)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def trace(**series):
    series = {name.replace("_", " "): np.asarray(values, float) for name, values in series.items()}
    trials, rounds = next(iter(series.values())).shape
    return Trace(np.arange(1, 1 + rounds), series, {}, np.zeros(rounds), list(range(trials)), {})


# ---- dictionaries ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [BKB(PROBLEM.kernel, RADIUS), LazyBKB(PROBLEM.kernel, RADIUS), ExactGPUCB(PROBLEM.kernel, RADIUS)], ids=lambda x: type(x).__name__)
def test_the_effective_dimension_is_the_trace(learner):
    found = play(learner, PROBLEM, 40, 3, record="all", probes={"arm": played, "dimension": cost.ExactDimension(PROBLEM.kernel, RADIUS.lam)})
    arms = PROBLEM.init(1, 40, Streams(0, [0]).at(-1), dtype=torch.float64).arms[0].numpy()
    for trial in range(3):
        for t in (1, 7, 40):
            x = arms[found["arm"][trial, :t].astype(int)]
            K = np.exp(-PROBLEM.gamma * (x - x.T) ** 2)
            assert found["dimension"][trial, t - 1] == pytest.approx(np.trace(K @ np.linalg.inv(K + RADIUS.lam * np.eye(t))), rel=1e-9)


def test_arms_that_entered():
    """Arms of the first trial: best, five pulls in, six pulls out, one pull in, one out, three, none."""
    n = torch.tensor([[9.0, 5, 6, 1, 1, 3, 0], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.float64)
    mask = torch.tensor([[1, 1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1, 1]]).bool()
    means = torch.tensor([[2.0, 1, 1, 1, 1, 1, 1], [1, 2, 2, 1, 1, 1, 1]], dtype=torch.float64)
    seen = SimpleNamespace(after=SimpleNamespace(n=n, mask=mask, s2=torch.full_like(n, 0.1)), world=SimpleNamespace(means=means, best=means.amax(1)))
    found = cost.entered(seen).numpy()
    np.testing.assert_allclose(found, [[2, 1, 1.1, 2, 1, 0.2], [0, 0, 0, 5, 5, 0.5]])
    difference = cost.often_minus_once(found)
    assert difference.estimate == pytest.approx(1 / 2 - 6 / 7) and difference.low <= difference.estimate <= difference.high and difference.n == 2


def test_shares_of_often_and_once():
    same = np.tile([4.0, 1, 9, 10, 5, 9], (8, 1))
    found = cost.often_minus_once(same)
    assert (found.estimate, found.low, found.high) == (-0.25, -0.25, -0.25)
    rng = np.random.default_rng(0)
    inside = np.stack([np.full(40, 10), rng.binomial(10, 0.9, 40), np.zeros(40), np.full(40, 10), rng.binomial(10, 0.2, 40), np.zeros(40)], 1)
    found = cost.often_minus_once(inside)
    assert 0.6 < found.low < found.estimate < found.high < 0.8
    with pytest.raises(ValueError, match="some pulled once"):
        cost.often_minus_once(np.array([[1.0, 1, 1, 0, 0, 0]]))


def test_accuracy_and_steps():
    found = cost.accuracy(np.array([[1.0, 1.2, 1.0, 1.0], [1.0, 4.0, 9.0, 1.0]]))
    assert found == {"rounds": [5 / 8, 6 / 8, 6 / 8, 6 / 8, 7 / 8], "trials": [0.0, 0.5, 0.5, 0.5, 0.5]}
    assert cost.falls([0.1, 0.5, 0.5, 0.4, 0.9, 0.8]) == 2 and cost.falls([0, 0, 1, 1]) == 0


def test_expected_share_uses_the_round_before():
    """alpha = 3: the bounds are 1, 3 * 2 * 1 + 1, 3 * 2 * 2 + 1."""
    found = cost.expected_share(trace(expected_size=[[1.0, 3.5, 13.0]], dimension=[[1.0, 2.0, 50.0]]), qbar=2.0)
    np.testing.assert_allclose(found, [(1 + 0.5 + 1) / 3])


def test_excess_counts_rounds():
    assert cost.excess(np.array([[3, 3], [2, 1]]), np.array([[3, 2], [2, 2]]), np.array([[3, 4], [1, 1]])) == 2


def test_a_run_keeps_to_the_bounds():
    probes = {"dictionary": dictionary_size, "unique": unique_pulls, "dimension": cost.ExactDimension(PROBLEM.kernel, RADIUS.lam),
              "expected size": ExpectedSize(5.0), "size": Size(5.0), "entered": Probe(cost.entered, "final")}
    found = play(BKB(PROBLEM.kernel, RADIUS), PROBLEM, 60, 6, record="all", probes=probes)
    assert cost.excess(found["dictionary"], found["unique"], found["size"]) == 0
    assert (cost.expected_share(found, 5.0) < 1).all() and found["entered"].shape == (6, 6)
    assert (found["entered"][:, [1, 4]] <= found["entered"][:, [0, 3]]).all()


def test_mean_correlation():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))
    one = cost.mean_correlation({"a": (x, y)})
    assert one.estimate == pytest.approx(stats.spearman(x, y).estimate) and one.low < one.estimate < one.high
    both = cost.mean_correlation({"a": (x, y), "b": (x, np.exp(x))})
    assert both.estimate == pytest.approx((one.estimate + 1) / 2) and both.n == 30
    assert cost.mean_correlation({"a": (x, x), "b": (x[:9], x[:9] ** 3)}).low == pytest.approx(1)
    assert cost.mean_correlation({"a": (np.arange(4), [0, 0, 0, 1])}).low > 0.7  # constant resamples are left out
    for pair in ((np.ones(5), np.arange(5)), (np.arange(4), np.arange(5))):
        with pytest.raises(ValueError, match=r"pairs\['b'\]"):
            cost.mean_correlation({"a": (x, y), "b": pair})


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
    assert cost.crossover(np.full((3, 100), 30.5), np.stack([0.5 * t, t, 1.5 * t])) == 31  # means over trials


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
