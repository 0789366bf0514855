"""Tests of the errata: their numbers, and completeness of the list."""

import itertools
import math

import numpy as np
import pytest
import torch
from pfbco_replay import F64, record

from companion.pfbco import errata as numbers
from companion.pfbco.errata import ERRATA
from paperlib.core.streams import Streams
from paperlib.maths.matrices import NuclearBall, smat
from paperlib.maths.sets import Ball, SubSimplex
from paperlib.pfbco.learners.ocg import StochOCG
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.pfbco.model import Task
from paperlib.pfbco.theory import constants as theory

EXPECTED = [
    (numbers.e3, {"printed": 2.0, "sharp": 0.5, "attained": 0.5}, 1e-12),
    (
        numbers.e4,
        {
            "f^ - f, least": 1 / 64,
            "f^ - f, largest": 1 / 64,
            "delta G": 0.25,
            "c G, printed": 3.0,
            "c G, corrected": 2.0,
        },
        1e-12,
    ),
    (numbers.e6, {"M, c=1": 2.81, "G, c=1": 1.30, "M, c=0.1": 5.11, "G, c=0.1": 13.0}, 2e-3),
    (numbers.e7, {"optimum": -10.0, "printed": 6.0}, 1e-9),
    (numbers.e8, {"stay": 0.5, "oracle": 0.05, "vertex e_1": 0.95, "oracle, StochOCG": 0.0}, 1e-9),
    (
        numbers.e9,
        {
            "about the origin": 0.0,
            "about its center": 0.2928932188,
            "D / r": 4.8284271247,
            "R / r": 2.6131259298,
        },
        1e-9,
    ),
    (
        numbers.e10,
        {"panel a": math.sqrt(5.8**2 + 1000) / 5.8, "panel c": math.sqrt(530**2 + 210**3) / 530},
        1e-12,
    ),
    (numbers.e13, {"delta": 0.25, "cost per round": 0.03125}, 1e-12),
    (numbers.e14, {"weekday, Monday = 1": 1, "number within the month": 3}, 0),
    (
        numbers.e15,
        {
            "at 0": 3510.0,
            "least": 3352.05,
            "largest": 3753.0,
            "mean nuclear norm of the data": 360.0,
            "radius": 18.0,
            "range, below": 0.045,
            "range, above": 0.069230769,
        },
        1e-7,
    ),
]


@pytest.mark.parametrize(
    "function, expected, tolerance", EXPECTED, ids=lambda x: getattr(x, "__name__", "")
)
def test_numbers(function, expected, tolerance):
    assert function() == pytest.approx(expected, rel=tolerance, abs=1e-12)


def test_all_are_listed():
    assert len(ERRATA) == 17


def test_worst_directions():
    """The exhaustive case of erratum `E1` agrees with the learner's worst run over trials that cover all sixteen sequences."""
    found = numbers.e1()
    assert found["paper rate"] == pytest.approx(3.085, abs=5e-4) and found["corrected rate"] < 1
    assert [
        found[f"limit of the printed rate, c={c}"] for c in ("1", "0.5", "0.1")
    ] == pytest.approx([2, 3.732051, 51.980762], abs=1e-6)
    for rule in ("paper", "corrected"):
        run = record(
            PFBCO(0.1, eta_rule=rule),
            Ball.of(1, **F64),
            4,
            trials=300,
            loss=lambda a, y: torch.ones_like(y[:, 0]),
        ).run
        signs = {tuple(row) for row in torch.sign(run.y - run.x).squeeze(2).tolist()}
        assert signs == set(itertools.product((-1.0, 1.0), repeat=4))
        assert float(run.ratios[..., 0].max()) == pytest.approx(found[f"{rule} rate"], rel=1e-9)
    assert (
        numbers.worst_on_interval(4, 1.0, "paper")
        == numbers.worst_on_interval(4, 1.0, "corrected")
        < 2
    )


def test_smoothness():
    found = numbers.e2()
    assert (found["F"], found["printed bound"]) == (0.25, 0.125)
    assert found["least polynomial, 3"] == pytest.approx(0.383095, abs=1e-6) and found[
        "polynomial, 2, t=1"
    ] == pytest.approx(-0.936413, abs=1e-6)
    assert found["largest polynomial, 2"] < 0
    assert [found[f"worst tracking, T={T}"] for T in (2, 4, 16, 64)] == pytest.approx(
        [2.095192, 2.080964, 2.024092, 2.004776], abs=1e-6
    )
    assert found["least margin up to t=10, kappa=2.2"] < 0 and found[
        "least margin up to t=10, kappa=2.3"
    ] == pytest.approx(0.015233, abs=1e-6)
    assert found["D G, corrected"] == pytest.approx(1.895719, abs=1e-6) and found[
        "D G, corrected"
    ] / found["D G, printed"] == pytest.approx(1.072, abs=5e-4)
    assert found["A, panel a, corrected"] > found["A, panel a, printed"]


@pytest.mark.parametrize(
    "diameter, certified", [(7.0, True), (7.7, True), (8.0, False), (14.6, False), (283.0, False)]
)
def test_where_the_printed_coefficient_is_not_proved(diameter, certified):
    """The corrected A is at most the printed A up to D = 7.8 c."""
    s = theory.Setting(10, 29.7, 5.8, diameter, 9.8, 1.0)
    assert (theory.coefficients(s).A <= theory.coefficients_printed(s).A) == certified


def test_first_ties():
    """Erratum `E8` on the learners: their invested wealth after one round."""
    cset = SubSimplex.of(4, **F64)
    task, streams = Task(cset, torch.ones(1, **F64), torch.ones(1, **F64)), Streams(0, [0])
    invested = {}
    for name, learner, heard in (
        ("stay", PFBCO(0.1), torch.ones(1, **F64)),
        ("oracle", PFBCO(0.1, tie="vertex"), torch.ones(1, **F64)),
        ("oracle, StochOCG", StochOCG(tie="vertex"), torch.ones(1, 4, **F64)),
    ):
        state = learner.init(1, task, 1, streams.at(-1), **F64)
        y, state = learner.select(state, task, streams.at(0))
        invested[name] = float(
            cset.to_native(learner.update(state, task, y, heard, streams.at(0)).x).sum()
        )
    found = numbers.e8()
    assert invested == pytest.approx({name: found[name] for name in invested}, abs=1e-12)


def test_caps_of_fkm():
    found = numbers.e11()
    assert [found[f"panel {x}"] for x in "abc"] == pytest.approx([750, 3.2e6, 9e4], rel=0.1)


def test_vacuity_at_the_experiments_sizes():
    found = numbers.e12()
    for name, ratio, first in (
        ("a, c=1", 15.9, 1.4e10),
        ("a, c=0.1", 154, 1.2e15),
        ("b, c=1", 5.2e3, 3.3e21),
        ("b, c=0.1", 5.2e4, 3.3e26),
        ("c, c=1", 353, 4.2e15),
        ("c, c=0.1", 3.5e3, 4.1e20),
    ):
        assert found[f"ratio, {name}"] == pytest.approx(ratio, rel=0.015) and found[
            f"informative from, {name}"
        ] == pytest.approx(first, rel=0.025)


def test_range_of_matrix_completion():
    """The expected losses of all matrices of the ball are in the range; the mean nuclear norm is the mean trace."""
    found, rng = numbers.e15(), np.random.default_rng(0)
    ball = NuclearBall.of(20, 18.0, **F64)
    y = ball.project(
        torch.from_numpy(rng.normal(size=(300, ball.dim)) * rng.uniform(0, 3, size=(300, 1)))
    )
    X = smat(ball.to_native(y), 20)
    mean = (((X - 18 * torch.eye(20, **F64)) ** 2).sum((1, 2)) + 18 * 20 * 21) / 4
    assert found["least"] - 1e-9 <= float(mean.min()) and float(mean.max()) <= found["largest"]
    N = rng.normal(size=(2000, 18, 20))
    assert (N**2).sum((1, 2)).mean() == pytest.approx(
        found["mean nuclear norm of the data"], rel=0.01
    )
