"""Tests of the price ratios, of the portfolios' losses and bounds, and of portfolios that lose all wealth."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from pfbco_runs import gradient_at, loss_at

from companion.datasets import registry as datasets
from companion.datasets.tables import Prices
from companion.pfbco.problems.portfolio import Portfolio, choose, market, price_ratios
from paperlib.core.describe import describe
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.ocg import StochOCG
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
SMALL = Portfolio(stocks=6, table="synthetic")
# The window contains 12 of these 16 days.
DAYS = np.arange("2013-02-14", "2013-03-02", dtype="datetime64[D]")


def instance_of(problem, trials=4, horizon=50, seed=0):
    trials = range(trials) if isinstance(trials, int) else trials
    return problem.init(len(trials), horizon, Streams(seed, trials).at(-1), **TKWARGS)


def real(table):
    if not datasets.available(table):
        pytest.skip(f"the file of {table!r} is not here")
    return table


# ---- prices to ratios --------------------------------------------------------------------------------------


def prices(**columns):
    close = np.column_stack([np.asarray(column, float) for column in columns.values()])
    return Prices(DAYS, np.array(list(columns)), close)


def test_ratios_are_of_the_window_and_of_complete_tickers_in_order():
    rising, gap, before = np.arange(1.0, 17), np.full(16, 2.0), np.full(16, 3.0)
    gap[8] = before[2] = np.nan
    found = price_ratios(prices(Z=rising, GAP=gap, A=before))
    assert found.tickers.tolist() == ["A", "Z"]  # a missing price before the window is ignored
    assert (
        found.dates[0] == np.datetime64("2013-02-19")
        and found.dates[-1] == DAYS[-1]
        and len(found.dates) == 11
    )
    np.testing.assert_allclose(found.ratios[:, 1], np.arange(6.0, 17) / np.arange(5.0, 16))
    assert (found.ratios[:, 0] == 1).all()


def test_a_ticker_with_a_gap_is_left_out():
    columns = {name: np.arange(1.0, 17) for name in ("TWO", "FULL", "FIRST")}
    columns["TWO"][6:8] = columns["FIRST"][4] = np.nan
    assert price_ratios(prices(**columns)).tickers.tolist() == ["FULL"]


@pytest.mark.parametrize("value", [0.5, 100.0, 0.0, -1.0, np.inf])
def test_an_impossible_ratio_is_named(value):
    wrong = np.full(16, 10.0)
    wrong[9] = value
    with pytest.raises(
        ValueError, match="prices must be between 0.1 and 10 times the price of the"
    ):
        price_ratios(prices(GOOD=np.ones(16), BAD=wrong))


def test_prices_without_a_window_are_refused():
    late = Prices(DAYS + np.timedelta64(4000, "D"), np.array(["A"]), np.ones((16, 1)))
    with pytest.raises(
        ValueError,
        match="prices must have at least 2 days and 1 complete.*, got 0 days and 0 complete",
    ):
        price_ratios(late)


def test_the_synthetic_market_has_its_law():
    found = market("synthetic")
    assert found.ratios.shape == (1203, 470) and found is market("synthetic")
    logs = np.log(found.ratios)
    factor = logs.mean(1)  # the individual parts average out over 470 tickers
    assert factor.std() == pytest.approx(0.008, rel=0.06) and factor.mean() == pytest.approx(
        5e-4, abs=6e-4
    )
    assert (logs - factor[:, None]).std() == pytest.approx(0.014, rel=0.01)
    with pytest.raises(ValueError, match="read-only"):
        found.ratios[0, 0] = 1
    with pytest.raises(
        ValueError,
        match="table must be one of 'stocks', 'stocks_adjusted', 'synthetic', got 'bonds'",
    ):
        market("bonds")


@pytest.mark.slow
def test_a_missing_table_is_replaced_by_name_or_missed_aloud(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path)
    assert choose("auto") == "synthetic" == choose("synthetic", "stocks_adjusted")
    with pytest.raises(FileNotFoundError, match="How to get it"):
        choose("real")
    market.cache_clear()
    with pytest.raises(FileNotFoundError, match="How to get it"):
        instance_of(Portfolio())
    market.cache_clear()
    with pytest.raises(
        ValueError, match="data must be one of 'auto', 'real', 'synthetic', got 'guess'"
    ):
        choose("guess")
    with pytest.raises(ValueError, match="^table must be one of .*, got 'synthetic'"):
        choose("real", "synthetic")


# The numbers of complete tickers were counted independently of this code.
@pytest.mark.slow
@pytest.mark.parametrize(
    "table, complete, least, most",
    [
        ("stocks", 470, ("NI", "2015-07-02", 0.374), ("LNT", "2016-05-20", 2.01)),
        ("stocks_adjusted", 467, ("DLPH", "2017-11-21", 0.494), ("DXC", "2015-11-30", 1.70)),
    ],
)
def test_the_real_tables(table, complete, least, most):
    found = market(real(table))
    assert choose("auto", table) == table and found.ratios.shape == (1203, complete)
    assert found.dates[0] == np.datetime64("2013-02-20") and found.dates[-1] == np.datetime64(
        "2017-11-27"
    )
    assert (found.tickers[:-1] < found.tickers[1:]).all()
    # BHF has the prices of an unrelated stock, which do not cover the whole window.
    assert "BHF" not in found.tickers
    for extreme, (ticker, date, ratio) in ((np.argmin, least), (np.argmax, most)):
        t, k = np.unravel_index(extreme(found.ratios), found.ratios.shape)
        assert (found.tickers[k], str(found.dates[t])) == (ticker, date) and found.ratios[
            t, k
        ] == pytest.approx(ratio, abs=5e-3)


# ---- the problem -------------------------------------------------------------------------------------------


def test_losses_and_gradients_are_those_of_the_drawn_stocks():
    instance, all_ratios = instance_of(SMALL), market("synthetic").ratios
    y = instance.task.cset.project(
        3 * torch.randn(4, 6, generator=torch.Generator().manual_seed(0), **TKWARGS), 0.9
    )
    for t in (0, 17):
        loss, gap = SMALL.respond(instance, t, y, "loss", instance.streams.at(t))
        gradient, same = SMALL.respond(instance, t, y, "gradient", instance.streams.at(t))
        assert loss.equal(gap) and loss.equal(same)
        for row in range(4):
            r, x = all_ratios[t, instance.stocks[row]], (y[row].numpy() + 1) / 12
            assert loss[row].item() == pytest.approx(-np.log(r @ x), rel=1e-12)
            slope = [
                (loss_at(SMALL, instance, t, y + h) - loss_at(SMALL, instance, t, y - h))[
                    row
                ].item()
                / 2e-6
                for h in 1e-6 * torch.eye(6, **TKWARGS)
            ]
            np.testing.assert_allclose(gradient[row], slope, rtol=1e-5)
    np.testing.assert_array_equal(instance.history(20)[:, 17], instance.relatives(17))
    with pytest.raises(ValueError, match="wants must be one of 'loss', 'gradient', got 'reward'"):
        SMALL.respond(instance, 0, y, "reward", None)


def test_stocks_are_drawn_without_replacement_and_evenly():
    instance = instance_of(replace(SMALL, stocks=100), 300)
    assert all(len(set(row.tolist())) == 100 for row in instance.stocks) and bool(
        (instance.stocks.diff(dim=1) > 0).all()
    )
    counts = np.bincount(instance.stocks.flatten(), minlength=470)
    # The binomial standard deviation is 7.1.
    assert (
        len(counts) == 470
        and counts.mean() == pytest.approx(300 * 100 / 470)
        and 5 < counts.std() < 9.5
    )


def test_a_trial_is_the_same_alone():
    batch, alone = instance_of(SMALL, 5, seed=20), instance_of(SMALL, 1, seed=23)
    assert tree_take(batch, [3]).stocks.equal(alone.stocks)
    torch.testing.assert_close(tree_take(batch, [3]).task.loss_bound, alone.task.loss_bound)
    assert (
        batch.ratios.equal(alone.ratios) and len({tuple(row.tolist()) for row in batch.stocks}) == 5
    )


@pytest.mark.parametrize("c", [0.1, 1.0])
def test_bounds_are_those_of_the_points_that_are_touched(c):
    problem, T = replace(SMALL, c=c), 63
    instance, ratios = instance_of(problem, 4, T), market("synthetic").ratios[:T]
    for row in range(4):
        r = ratios[:, instance.stocks[row]]
        wealth = r.min() * c * T**-0.2 * (1 - 6**-0.5) / 2
        assert instance.task.loss_bound[row].item() == pytest.approx(-np.log(wealth))
        assert instance.task.grad_bound[row].item() == pytest.approx(
            6**0.5 * r.max() / (12 * wealth)
        )
    for learner in (PFBCO(c), PFBCO(c, tie="vertex"), PFBCO(c, sham=True), FKM(c)):
        trace = play(
            Doubling(learner),
            problem,
            T,
            4,
            record=1,
            probes={
                "steepest": Probe(
                    lambda seen: gradient_at(problem, seen.instance, seen.t, seen.action).norm(
                        dim=-1
                    ),
                    "max",
                ),
                "invested": Probe(
                    lambda seen: seen.context.cset.to_native(seen.action).sum(-1), "min"
                ),
            },
        )
        assert not trace["report.above"].any()
        if isinstance(learner, PFBCO):
            assert (trace["steepest"][:, -1] <= instance.task.grad_bound.numpy()).all()
            assert (trace["invested"][:, -1] >= c * T**-0.2 * (1 - 6**-0.5) / 2).all()


@pytest.mark.parametrize(
    "horizon, epoch, settled", [(1203, 1024, 1e-9), (700, 512, 1e-9), (300, 256, 1e-4)]
)
def test_what_is_invested_at_the_end_does_not_depend_on_the_losses(horizon, epoch, settled):
    invested = {
        "x": Probe(lambda seen: seen.context.cset.to_native(seen.after.base.x).sum(-1), "final")
    }
    for learner in (PFBCO(), PFBCO(sham=True)):
        found = play(
            Doubling(learner),
            Portfolio(100, "synthetic"),
            horizon,
            3,
            seed=5,
            record=1,
            probes=invested,
        )["x"]
        np.testing.assert_allclose(found, 1 - 0.1 * epoch**-0.2 / 2, atol=settled)
    if horizon == 1203:
        np.testing.assert_allclose(found, 0.9875, atol=1e-9)


# ---- portfolios without wealth -----------------------------------------------------------------------------


def test_an_infinite_loss_is_refused_by_round_and_trial():
    with pytest.raises(ValueError, match=r"feedback must be finite, got \[inf, inf, inf, inf,"):
        play(Doubling(StochOCG(tie="vertex")), SMALL, 10, 3, seed=7)
    # Trial 2 is the first trial of a later chunk.
    with pytest.raises(ValueError, match="^feedback must be finite, got .* in round 3, trial 2$"):
        play(Doubling(StochOCG(tie="vertex")), SMALL, 10, range(2, 4), seed=5)


@pytest.mark.parametrize("wants", ["loss", "gradient"])
@pytest.mark.parametrize("value", [-1.0, -1.1], ids=["no wealth", "debts"])
def test_an_infinite_loss_reaches_the_learner(wants, value):
    """Only the row without wealth gets infinite feedback, even where its gradient would be finite."""
    y = torch.tensor([[0.0], [0.0], [value], [0.0]], **TKWARGS).expand(4, 6)
    heard, gap = SMALL.respond(instance_of(SMALL), 0, y, wants, None)
    assert gap.isposinf().tolist() == [False, False, True, False] and heard.reshape(
        4, -1
    ).isfinite().all(1).tolist() == [True, True, False, True]


@pytest.mark.parametrize("wants", ["loss", "gradient"])
def test_an_infinite_loss_may_be_recorded(wants):
    problem = replace(SMALL, allow_infinite=True)
    instance = instance_of(problem)
    y = torch.zeros(4, 6, **TKWARGS)
    y[1] = -1.0
    heard, gap = problem.respond(instance, 0, y, wants, None)
    assert (
        gap.isinf().tolist() == [False, True, False, False]
        and bool(gap[1] > 0)
        and not heard[1].any()
        and heard.isfinite().all()
    )
    before, _ = SMALL.respond(instance, 0, y[[0, 0, 2, 3]], wants, None)
    assert heard[[0, 2, 3]].equal(before[[0, 2, 3]])
    y[2] = torch.nan  # NaN is not a loss, and is not recorded as infinite
    assert problem.respond(instance, 0, y, wants, None)[0][2].isnan().all()


def test_a_lost_trial_stays_lost():
    problem = replace(SMALL, allow_infinite=True)
    regret = play(Doubling(StochOCG(tie="vertex")), problem, 40, 3, record="all")["regret"]
    assert np.isfinite(regret[:, :2]).all() and np.isposinf(regret[:, 2:]).all()
    kept = play(Doubling(PFBCO(tie="vertex")), problem, 40, 3)["regret"]
    assert np.isfinite(kept).all()  # exploration keeps PF from losing all wealth


# ---- the figures of the paper's setting --------------------------------------------------------------------

LEARNERS = {
    "PF": lambda c: PFBCO(c),
    "sham": lambda c: PFBCO(c, sham=True),
    "Unregularized": lambda c: PFBCO(c, regularized=False),
    "FKM": lambda c: FKM(c),
    "FKM, M = 1": lambda c: FKM(c, scale=1.0),
    "StochOCG": lambda c: StochOCG(),
}
# Mean final average losses over ten trials, measured once with another random number generator. The tolerances are four to five
# standard errors.
MEASURED = [
    (
        "stocks",
        0.1,
        {
            "PF": (0.02892, 2e-4),
            "sham": (0.02893, 2e-4),
            "Unregularized": (0.02906, 5e-4),
            "FKM": (0.350, 0.03),
            "FKM, M = 1": (0.0607, 6e-3),
            "StochOCG": (0.0116, 4e-4),
        },
        (5.19, 13.5),
    ),
    (
        "stocks",
        1.0,
        {
            "PF": (0.18467, 2e-4),
            "sham": (0.18473, 2e-4),
            "Unregularized": (0.18471, 4e-4),
            "FKM": (0.219, 0.02),
            "FKM, M = 1": (0.150, 4e-3),
            "StochOCG": (0.0117, 5e-4),
        },
        (2.89, 1.35),
    ),
    (
        "stocks_adjusted",
        0.1,
        {"PF": (0.02881, 2e-4), "FKM": (0.339, 0.02), "StochOCG": (0.0116, 4e-4)},
        None,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "table, c, expected, bounds", MEASURED, ids=["stocks, c .1", "stocks, c 1", "adjusted, c .1"]
)
def test_average_losses_of_real_portfolios(table, c, expected, bounds):
    problem, T = Portfolio(table=real(table), c=c), 1203
    for name, (mean, within) in expected.items():
        found = play(Doubling(LEARNERS[name](c)), problem, T, 10, record=1)["regret"][:, -1] / T
        assert found.mean() == pytest.approx(mean, abs=within), name
    if bounds:
        task = instance_of(problem, 10, T).task
        assert task.loss_bound.mean().item() == pytest.approx(
            bounds[0], abs=0.3
        ) and task.grad_bound.mean().item() == pytest.approx(bounds[1], rel=0.3)


# ---- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem, horizon, match",
    [
        (SMALL, 1204, "horizon must be at most 1203, the number of days.*, got 1204"),
        (replace(SMALL, stocks=471), 5, "stocks must be at most 470, the number of.*, got 471"),
        (
            replace(SMALL, c=1.5),
            5,
            "c must be so small that alpha is at most 1, got c=1.5 with alpha =",
        ),
    ],
    ids=["horizon", "stocks", "c"],
)
def test_more_than_the_market_has_is_refused(problem, horizon, match):
    with pytest.raises(ValueError, match=match):
        instance_of(problem, 2, horizon)


@pytest.mark.parametrize(
    "field, value",
    [
        ("stocks", 1),
        ("stocks", 2.5),
        ("table", "bonds"),
        ("c", 0.0),
        ("c", float("nan")),
        ("allow_infinite", 2),
    ],
)
def test_portfolio_fields_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        replace(SMALL, **{field: value})


def test_the_configuration_names_the_file():
    assert Portfolio().data_checksum == datasets.checksum("stocks") and datasets.checksum(
        "stocks"
    ) in str(describe(Portfolio()))
    assert SMALL.data_checksum is None
