"""Tests of practical constants: the options of each learner, and losses late in a run and per epoch."""

from dataclasses import replace

import numpy as np
import pytest

from companion.pfbco.experiments.losses import by_epoch, last_quarter, late, learns
from companion.pfbco.experiments.settings import practical_learners
from paperlib.core.trace import Trace
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco.problems.quadratic import QuadraticPolytope
from paperlib.play import play


def made(rounds, regret, **series):
    """Return a trace with these numbers."""
    regret = np.asarray(regret, float)
    return Trace(
        np.array(rounds),
        {"regret": regret, **series},
        {},
        np.zeros(len(rounds)),
        list(range(len(regret))),
        {},
    )


def test_practical_learners():
    found = practical_learners(0.7)
    assert all(
        isinstance(learner, Doubling) and learner.base.c == 0.7 for learner in found.values()
    )
    base = {name: learner.base for name, learner in found.items()}
    for name in ("PF", "PF, practical", "PF, warm"):
        assert base[f"{name}, sham"] == replace(base[name], sham=True) and not base[name].sham
    options = lambda learner: (learner.baseline, learner.scale, learner.warm_start)
    assert [
        options(base[name]) for name in ("PF", "PF, practical", "PF, warm", "FKM", "Block")
    ] == [
        (False, "task", False),
        (True, "spread", False),
        (True, "spread", True),
        (False, "task", False),
        (False, "task", False),
    ]


def test_quarters_and_epochs():
    losses = np.stack([np.arange(1.0, 16.0), np.ones(15)])
    trace = made(range(1, 16), losses.cumsum(1))
    assert last_quarter(trace).tolist() == [14.0, 1.0]  # mean over rounds 13, 14, 15
    found = by_epoch(trace)
    assert (
        found.rounds.tolist() == [1, 3, 7, 15]
        and found["epoch"][0].tolist() == [1.0, 2.5, 5.5, 11.5]
        and (found["epoch"][1] == 1).all()
    )
    # An incomplete epoch is left out.
    assert by_epoch(made(range(1, 13), losses.cumsum(1)[:, :12])).rounds.tolist() == [1, 3, 7]


def test_with_practical_constants_pf_learns():
    """PF with practical constants learns on a problem where theoretical constants learn almost nothing; its control does not learn."""
    problem, T = QuadraticPolytope(4, 4), 1023
    found = {
        name: play(learner, problem, T, 10, record="all")
        for name, learner in practical_learners(1.0).items()
        if name.startswith("PF")
    }
    quarter = {name: last_quarter(trace).mean() for name, trace in found.items()}
    assert quarter["PF, warm"] < 0.7 * quarter["PF, warm, sham"]
    assert quarter["PF"] > 0.9 * quarter["PF, sham"]


def runs():
    """Return traces of two trials and seven rounds, where the last quarter is round 7."""
    rounds, sums = range(1, 8), lambda *trials: np.cumsum(trials, axis=1)
    center = sums([1.0] * 6 + [4.0], [1.0] * 6 + [2.0])
    return {
        "PF": made(rounds, sums([1.0] * 6 + [3.0], [1.0] * 6 + [3.0]), center=center),
        "PF, sham": made(rounds, sums([1.0] * 6 + [8.0], [2.0] * 6 + [4.0])),
        "FKM": made(rounds, sums([1.0] * 7, [1.0] * 7)),
    }


def test_the_last_quarter_of_each_learner():
    traces = runs()
    assert last_quarter(traces["PF"], "center").tolist() == [4, 2]
    found = late(traces)
    assert list(found) == ["PF", "FKM"]
    # The paired difference is (-1 + 1) / 2 with its t-interval. The losses are 9 / 7 and 3; the control's are 15 / 7 and 6.
    assert found["PF"] == (
        "  1.29   3.00   +0.000 [-12.706, +12.706]   1   0.500 [0.375, 0.750]    2.14   6.00"
    )
    assert found["FKM"].split() == ["1.00", "1.00", "-2.000", "[-14.706,", "+10.706]", "0"]


def test_learning_is_the_ratio_to_the_control():
    found = learns(runs(), "PF")
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (0.5, 3 / 8, 3 / 4)
    ) and "90 %" in found.method
