"""Tests of the learners and probes of Figure 1, of a run's price tables, and of the best matrix in hindsight."""

import numpy as np
import pytest
import torch
from pfbco_runs import loss_at

from companion.figures import drawing
from companion.pfbco.experiments import settings
from companion.pfbco.experiments.settings import (
    FIGURE,
    best_matrix_loss,
    learners,
    price_tables,
    recorded,
    watch,
)
from companion.pfbco.problems.portfolio import Portfolio
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco import (
    FKM,
    PFBCO,
    BallLinear,
    MatrixCompletion,
    QuadraticPolytope,
    RegularizedLeader,
    StochOCG,
)
from paperlib.pfbco.probes import FixedLoss
from paperlib.play import play


def test_learners_differ_as_their_names_state():
    found = learners(0.3)
    assert (
        all(isinstance(learner, Doubling) for learner in found.values())
        and set(FIGURE) <= found.keys()
    )
    bases = {name: learner.base for name, learner in found.items()}
    assert bases == {
        "PF": PFBCO(0.3),
        "PF, sham": PFBCO(0.3, sham=True),
        "FKM": FKM(0.3),
        "FKM, sham": FKM(0.3, sham=True),
        "FKM 2005": FKM(0.3, variant="2005"),
        "Unregularized": PFBCO(0.3, regularized=False),
        "StochOCG": StochOCG(),
        "Leader": RegularizedLeader(0.3),
    }
    small = {name: learner.base for name, learner in learners(1.0, scale=1.0).items()}
    assert {base.scale for name, base in small.items() if name != "StochOCG"} == {1.0} and small[
        "StochOCG"
    ] == StochOCG()
    assert all(drawing.line_style(name) for name in found)


def test_probes_sum_the_quantity_of_their_name():
    problem, horizon = QuadraticPolytope(3, 2), 9
    runs = {}
    for name, learner in learners(0.5).items():
        runs[name] = play(
            learner, problem, horizon, 2, record="all", probes=watch(problem, name, learner)
        )
    assert {name for name, run in runs.items() if "center" in run.series} == runs.keys() - {
        "StochOCG"
    }
    ours, instance = (
        runs["PF"],
        problem.init(2, horizon, Streams(0, range(2)).at(-1), dtype=torch.float64),
    )
    streams = Streams(0, range(2))
    at_center = sum(
        loss_at(problem, instance, t, torch.zeros(2, 3, dtype=torch.float64))
        for t in range(horizon)
    )
    np.testing.assert_allclose(ours["origin"][:, -1], at_center, rtol=1e-12)
    np.testing.assert_array_equal(
        ours["constants"],
        np.stack(
            [
                instance.task.loss_bound,
                instance.task.grad_bound,
                instance.task.cset.D,
                instance.task.cset.R,
            ],
            1,
        ),
    )
    delta = 0.5 * (2.0 ** np.floor(np.log2(np.arange(1, 10)))) ** -0.2
    losses = np.diff(ours["regret"], axis=1, prepend=0)
    np.testing.assert_allclose(ours["norm"], np.cumsum(3 / delta * np.abs(losses), 1), rtol=1e-12)
    assert not np.allclose(ours["center"], ours["regret"])
    noise = sum(
        3 * torch.linalg.vector_norm(streams.at(t).normal("gradient noise", 3), dim=1)
        for t in range(horizon)
    )
    np.testing.assert_allclose(runs["StochOCG"]["noise"][:, -1], noise, rtol=1e-12)


def test_fixed_points_of_a_portfolio():
    problem = Portfolio(4, "synthetic", 0.5)
    learner = learners(0.5)["PF"]
    run = play(learner, problem, 5, 3, record="all", probes=watch(problem, "PF", learner))
    instance = problem.init(3, 5, Streams(0, range(3)).at(-1), dtype=torch.float64)
    ratios = torch.stack([instance.relatives(t) for t in range(5)])
    np.testing.assert_allclose(run["uniform"][:, -1], -ratios.mean(-1).log().sum(0), atol=1e-12)
    np.testing.assert_allclose(
        run["origin"][:, -1], -(ratios.mean(-1) / 2).log().sum(0), atol=1e-12
    )


def test_fixed_loss_does_not_depend_on_the_learner():
    problem = BallLinear(3)
    found = [
        play(learner, problem, 6, 2, probes={"there": Probe(FixedLoss(problem, 0.4), "sum")})[
            "there"
        ]
        for learner in learners(0.5).values()
    ]
    assert all(np.array_equal(found[0], other) for other in found[1:]) and (found[0] != 0).all()


def test_recorded_rounds_include_the_rounds_of_the_claims():
    rounds = recorded(4095)
    assert (
        rounds == sorted(set(rounds))
        and {1, 3, 63, 256, 1023, 2047, 3072, 4095} <= set(rounds)
        and len(rounds) < 100
    )
    assert recorded(1) == [1] and recorded(1203)[-1] == 1203


def test_the_best_matrix_is_below_every_fixed_matrix_and_the_learners_need_not_be():
    for problem, horizon in (
        (MatrixCompletion(4, 3, "nuclear"), 40),
        (MatrixCompletion(4, 3, "paper_lmo"), 40),
        (MatrixCompletion(4, 3, "psd"), 40),
    ):
        best = best_matrix_loss(problem, horizon, 3, seed=4)
        instance, streams = (
            problem.init(3, horizon, Streams(4, range(3)).at(-1), dtype=torch.float64),
            Streams(4, range(3)),
        )
        points = [
            instance.task.cset.project(3 * streams.at(k).normal("test", instance.task.cset.dim))
            for k in range(20)
        ] + [torch.zeros(3, instance.task.cset.dim, dtype=torch.float64)]
        losses = np.stack(
            [
                sum(loss_at(problem, instance, t, y) for t in range(horizon)) / horizon
                for y in points
            ]
        )
        losses = np.where(np.isnan(losses), np.inf, losses)
        assert (
            best.shape == (3,)
            and (best <= losses.min(0) + 1e-4).all()
            and (best >= 0).all()  # losses are squares
            and (best < losses[-1]).all()
        )


def test_price_tables(monkeypatch):
    have = set()

    def choose(data, table):
        if table not in have and data == "real":
            raise FileNotFoundError(table)
        return table if table in have and data != "synthetic" else "synthetic"

    monkeypatch.setattr(settings, "choose", choose)
    assert price_tables("auto") == ({"synthetic market": "synthetic"}, "synthetic market")
    with pytest.raises(FileNotFoundError, match="stocks"):
        price_tables("real")
    have.add("stocks")
    assert price_tables("auto") == ({"close prices": "stocks"}, "no adjusted close prices")
    with pytest.raises(FileNotFoundError, match="stocks_adjusted"):
        price_tables("real")
    have.add("stocks_adjusted")
    assert (
        price_tables("auto")
        == price_tables("real")
        == ({"close prices": "stocks", "adjusted close prices": "stocks_adjusted"}, "")
    )
    assert price_tables("synthetic")[1] == "synthetic market"


def test_price_tables_refuse_other_values():
    with pytest.raises(
        ValueError, match="data must be one of 'auto', 'real', 'synthetic', got 'bundled'"
    ):
        price_tables("bundled")
