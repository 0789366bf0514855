"""Tests of the pricing experiment: constants, the series of each trial, and comparisons."""

import numpy as np
import pytest

from companion.datasets import registry as datasets
from companion.nsbco.experiments import pricing
from companion.nsbco.problems import prices
from companion.nsbco.problems.prices import pricing as problem
from paperlib.core.rounds import played_action
from paperlib.core.trace import Trace
from paperlib.play import Probe, play
from paperlib.stats import proportion

STOCKS = pytest.mark.skipif(not datasets.available("stocks"), reason="the table is not at hand")


def trace(regret, **more):
    regret = np.asarray(regret, float)[:, None]
    return Trace(np.array([100]), {"regret": regret}, more, np.zeros(1), [*range(len(regret))], {})


def test_constants():
    found = pricing.rivals()
    assert found["GLR"].variance == pytest.approx(0.2**2 / 6)
    assert (found["KWtrack"].gain, found["KWtrack"].h) == (100.0, 0.35)
    # the width is about the fourth root of the noise variance; for a = 0.1 this is about 1/4
    assert found["KWtrack"].h == pytest.approx((0.2**2 / 3) ** 0.25, rel=0.05)
    assert (found["MASTER"].A1, found["MASTER"].A2, found["MASTER"].logarithmic) == (1, 3, ("A2",))
    base = found["Algorithm 2"]
    assert (base.h, base.bonus, found["oracle, 0.1 V_T"].kappa) == (0.25, 2.0, 0.1)
    assert not {"KW", "full information"} & found.keys()
    assert {*pricing.TABLED} <= found.keys()
    assert list(pricing.rivals("GLR", "MALG")) == ["GLR", "MALG"]


def test_the_whole_series():
    """Numbers of figure F11: T, V_T, and the regret of the static baseline."""
    variation, changes = pricing.drifts("google", 1047, [0])
    assert prices.closes("google").shape == (1, 1047) and 1047 * pricing.CUSTOMERS == 67008
    assert variation[0] == pytest.approx(12.737807, abs=1e-6)
    assert 1000 < changes[0] <= 1046
    theta = pricing.levels("google", 1047, [0])
    assert theta.min() == -0.5 and theta.max() == 0.5
    assert 64 * (theta**2).sum() / 4 == pytest.approx(1191, abs=0.5)


def test_prices_of_a_day():
    """A cumulative sum recorded after each day is converted to the mean over the day's customers."""
    days, probe = 3, Probe(played_action, "sum")
    record = [pricing.CUSTOMERS * day for day in range(1, days + 1)]
    learner = pricing.rivals()["KWtrack"]
    every = lambda record: play(
        learner, problem("google", days), 64 * days, 2, 1, record=record, probes={"x": probe}
    )
    whole, found = every("all")["x"][1, :, 0], pricing.daily(every(record), "x", 1)
    points = np.diff(whole, prepend=0.0)
    assert found == pytest.approx(points.reshape(days, 64).mean(1), abs=1e-12)


def test_means_over_days():
    middles, means = pricing.averaged(np.array([1.0, 3.0, 5.0, 7.0, 4.0]), 2)
    assert middles.tolist() == [1.5, 3.5, 5.0] and means.tolist() == [2.0, 6.0, 4.0]
    assert pricing.averaged(np.arange(3.0), 1)[1].tolist() == [0.0, 1.0, 2.0]


def test_ratios_and_shares():
    traces = {
        "static baseline": trace([2.0, 2.0, 4.0]),
        "KWtrack": trace([1.0, 3.0, 2.0]),
        "MASTER": trace([5.0, 6.0, 7.0]),
        "MALG": trace([4.0, 4.0, 4.0]),
    }
    assert pricing.relative(traces, "KWtrack").estimate == 0.75
    assert pricing.beats_doing_nothing(traces, "KWtrack") == proportion(2, 3)
    cost = pricing.tests_cost(traces)
    assert cost.estimate == 2.0 and cost.low < 2 < cost.high and cost.n == 3


def test_without_the_table(monkeypatch):
    def gone(name):
        raise FileNotFoundError(name)

    monkeypatch.setattr(pricing.datasets, "fetch", gone)
    count, lacking = pricing.table("auto", 5)
    assert count == 0 and "'stocks' is not at hand" in lacking
    with pytest.raises(FileNotFoundError):
        pricing.table("real", 5)
    with pytest.raises(ValueError, match="data must be one of 'auto', 'real', got 'synthetic'"):
        pricing.table("synthetic", 5)


def test_trial_i_uses_series_i(monkeypatch):
    """Trial i has series i for every seed of the run."""
    made = np.exp(np.random.default_rng(0).normal(size=(7, 4)).cumsum(1))
    monkeypatch.setattr(prices, "closes", lambda series: made)
    monkeypatch.setattr(pricing, "closes", lambda series: made)
    assert [pricing.aligned(seed) for seed in (0, 1, 7, 2000)] == [0, 7, 7, 2002]
    for seed in (0, 5, 2000):
        seeds = [pricing.aligned(seed) + trial for trial in range(7)]
        assert (pricing.levels("stocks", 4, seeds) == pricing.levels("stocks", 4, range(7))).all()
    variation, changes = pricing.drifts("stocks", 4, range(7))
    theta = pricing.levels("stocks", 4, range(7))
    # |c| + |v| with H = 1/2 and b = 0.2 + theta + theta^2 / 4 is 3/2 of every step
    assert variation == pytest.approx(1.5 * abs(np.diff(theta, axis=1)).sum(1))
    assert changes.tolist() == [3] * 7


@pytest.mark.slow
@STOCKS
def test_the_table():
    assert pricing.table("real", 10**6) == (470, "") and pricing.table("auto", 12)[0] == 12
    assert pricing.aligned(2000) == 2350 and prices.closes("stocks").shape[1] == 1204
    seeds = [pricing.aligned(2000) + trial for trial in range(470)]
    assert (
        pricing.levels("stocks", 20, seeds) == pricing.levels("stocks", 20, list(range(470)))
    ).all()
