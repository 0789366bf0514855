"""Statistics of measured run times (per round, ratios, bins, growth, bars), and their storage."""

import math

import numpy as np
import pytest
from toy import Coins, Index

from companion.store import Seconds, time_runs

A, B = ("a", 3), ("b", 3)
FOUND = Seconds(
    {
        A: np.array([[1e-3, 2e-3, 9e-3], [4e-3, 4e-3, 40e-3]]),
        B: np.array([[4e-3, 4e-3, 8e-3], [6e-3, 8e-3, 100e-3]]),
    },
    {A: 1, B: 1},
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def test_statistics_of_rounds():
    assert FOUND.typical(A) == pytest.approx([2e-3, 4e-3])
    assert FOUND.typical(A, "mean", scale=1e3) == pytest.approx([4, 16])
    assert FOUND.typical(A, "sum", [np.array([0, 1]), np.array([2])]) == pytest.approx(
        [3e-3, 40e-3]
    )
    assert FOUND.overall(A) == pytest.approx(4e-3) and FOUND.overall(A, "mean") == pytest.approx(
        10e-3
    )
    with pytest.raises(ValueError, match="^of must be one of 'median', 'mean', 'sum', got 'mode'"):
        FOUND.typical(A, "mode")


def test_a_trial_of_a_batch():
    batch = Seconds(FOUND, {A: 10, B: 1})
    assert batch.typical(A) == pytest.approx([2e-4, 4e-4]) and batch.overall(
        A, scale=1e6
    ) == pytest.approx(400)


def test_ratios():
    found = FOUND.ratio(B, A)
    assert (found.estimate, found.low, found.high, found.n) == (
        pytest.approx(2),
        pytest.approx(2),
        pytest.approx(2),
        2,
    )
    assert found.method == "ratio of median seconds, 95 % t-interval over repetitions"
    mean = FOUND.ratio(B, A, "mean")  # means 16 / 3 and 38, compared with 4 and 16
    assert mean.estimate == pytest.approx((16 + 114) / (12 + 48))
    # The residuals are 16 / 65 - 12 / 30 and its negative; the t-quantile for one degree of freedom is 12.7062.
    assert math.log(mean.high / mean.estimate) == pytest.approx(
        12.7062 * (12 / 30 - 16 / 65), rel=1e-5
    )
    assert mean.low * mean.high == pytest.approx(mean.estimate**2)


def test_ratio_over_some_rounds_of_each_trial():
    found = Seconds(
        {A: np.array([[9.0, 2, 2, 8], [9, 6, 2, 2]]), B: np.array([[9.0, 1, 1, 1], [9, 3, 1, 1]])},
        {},
    )
    ratio = found.ratio(A, B, "mean", [np.array([1, 2, 3]), np.array([1])], over="trials")
    assert ratio.estimate == pytest.approx(10 / 4) and ratio.n == 2
    assert ratio.method.endswith("ratio of mean seconds, 95 % t-interval over trials")


def test_bins():
    found = Seconds({A: np.arange(10.0)[None].repeat(2, 0), B: np.ones((1, 11))}, {})
    middles, medians = found.bins(A, 5)
    assert middles.tolist() == [2.5, 7.5] and medians.tolist() == [[2, 7], [2, 7]]
    assert len(found.bins(B, 4)[0]) == 2
    with pytest.raises(ValueError, match="^width must be an integer from 1 to .*, got 11"):
        found.bins(A, 11)


def test_bins_keep_rare_work_and_drop_a_slow_trial():
    work = np.tile([1.0, 1, 1, 9], 2)
    hiccup = work.copy()
    hiccup[0] = 500
    middles, means = Seconds({A: np.stack([work, hiccup, work])}, {}).bins(A, 4, "mean")
    assert middles.tolist() == [2, 6] and np.median(means, axis=0).tolist() == [3, 3]


def test_growth_sees_the_last_three_quarters():
    t = np.arange(1, 801)
    found = Seconds(
        {
            A: np.stack([np.where(t < 200, 1e9, c * t**1.5) for c in (1.0, 2.0, 3.0)]),
            B: np.full((2, 8), 3.0),
        },
        {},
    )
    for slope in (
        found.growth(A),
        found.growth(A, width=100, first=300),
    ):
        assert slope.estimate == pytest.approx(1.5, abs=5e-3) and slope.n == 3
    assert found.growth(B).estimate == pytest.approx(0)


def test_growth_is_the_mean_exponent_and_ignores_outliers():
    t = np.arange(1, 1201)
    taken = np.stack([1e-4 * (t / 1000) ** p for p in (0.9, 1.0, 1.1)])
    taken[:, 400] = 1.0
    found = Seconds({A: taken}, {}).growth(A, width=100, first=300)
    assert (
        found.estimate == pytest.approx(1.0, abs=2e-3)
        and found.n == 3
        and found.low < 0.9
        and found.high > 1.1
    )
    start = Seconds({A: np.where(t < 300, 1.0, 1e-4) * np.ones((2, 1))}, {})
    # The first rounds are excluded.
    assert start.growth(A, width=100, first=300).estimate == pytest.approx(0, abs=1e-9)


def test_bars_by_learner_and_setting():
    found = FOUND.bars(scale=1e3, label="S = {}")
    assert found["a"]["S = 3"] == pytest.approx([2.0, 4.0]) and found["b"][
        "S = 3"
    ] == pytest.approx([4.0, 8.0])
    assert FOUND.bars()["a"].keys() == {"3"}
    batch = Seconds({("uniform", 3): np.full((1, 4), 2.0)}, {("uniform", 3): 5})
    assert batch.bars("mean", scale=10) == {"uniform": {"3": 4.0}}


def test_runs_of_both():
    other = Seconds({("a", 5): np.ones((1, 4))}, {("a", 5): 2})
    both = FOUND | other
    assert list(both) == [A, B, ("a", 5)] and both.trials["a", 5] == 2 and ("b", 5) not in both
    joined = FOUND
    joined |= other
    assert list(joined) == list(both) and joined.trials == both.trials and len(FOUND) == 2
    assert both.names(3) == ["a", "b"] and both.names(5) == ["a"]


def test_timed_runs_are_stored():
    runs = {("one", 3): (Index(), Coins()), ("two", 3): (Index(2.0), Coins())}
    first = time_runs(runs, 12, 2, trials=3)
    assert list(first) == list(runs) and all(
        x.shape == (2, 12) and (x > 0).all() for x in first.values()
    )
    again = time_runs({(name.upper(), 3): run for (name, _), run in runs.items()}, 12, 2, trials=3)
    assert np.array_equal(again["ONE", 3], first["one", 3])  # the names of the runs do not matter
    assert not np.array_equal(time_runs(runs, 12, 2, trials=3, seed=1)["one", 3], first["one", 3])
    assert not np.array_equal(
        time_runs(runs, 12, 2, trials=3, anew=True)["one", 3], first["one", 3]
    )


def test_batches_of_several_sizes():
    runs = {("one", R): (Index(), Coins()) for R in (1, 200)}
    found = time_runs(runs, 30, 2, trials={run: run[1] for run in runs})
    assert found.typical(("one", 200), "mean").min() < found.typical(("one", 1), "mean").max()
    with pytest.raises(
        ValueError,
        match="^trials must be a number or a dictionary with one number for each .*, got {}",
    ):
        time_runs(runs, 30, 2, trials={})
