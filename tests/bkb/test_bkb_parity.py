"""The learners of the parity figure, and their regret relative to exact GP-UCB."""

import pytest
import torch
from bkb_traces import trace

from companion.bkb.experiments.settings import (
    NODES,
    RKHS_1D,
    RKHS_2D,
    confidence,
    parity_learners,
    parity_ratios,
)
from paperlib.bkb import BKB, QFFUCB, IncrementalBKB, UniformArm
from paperlib.core.streams import Streams


def test_parity_learners_have_the_settings_of_their_names():
    problem = RKHS_2D
    learners = parity_learners(problem, scale=0.3)
    assert len(learners) == 19 and isinstance(learners.pop("uniform"), UniformArm)
    assert {learner.confidence for learner in learners.values()} == {confidence(problem, 0.3)}
    assert {learner.kernel for learner in learners.values()} == {problem.kernel}
    sketches = {
        (learner.qbar, learner.merge)
        for name, learner in learners.items()
        if isinstance(learner, BKB) and name != "SoR"
    }
    assert sketches == {(q, merge) for q in (1, 2, 3, 5, 10) for merge in ("pulls", "arms")}
    assert (
        learners["BKB"] == BKB(problem.kernel, confidence(problem, 0.3))
        and learners["BKB, arms"].merge == "arms"
    )
    assert learners["BKB 2"].qbar == 2 and learners["BKB 10, arms"].qbar == 10
    assert learners["SoR"].qbar == 5 and learners["SoR"].variance == "sor"
    assert [
        (learners[name].size, learners[name].variance) for name in ("SoR, fixed", "DTC, fixed")
    ] == [(20, "sor"), (20, "dtc")]
    assert [learners[name].size for name in ("RFF 50", "RFF 200", "QFF 25")] == [50, 200, 25]
    assert "QFF 80" in parity_learners(RKHS_1D)
    assert learners["BKB, incremental"] == IncrementalBKB(problem.kernel, confidence(problem, 0.3))


@pytest.mark.parametrize("problem, fewer", [(RKHS_1D, 60), (RKHS_2D, 15)], ids=["1-d", "2-d"])
def test_quadrature_has_nodes_enough_for_the_kernel(problem, fewer):
    context = {"dtype": torch.float64, "device": "cpu"}
    arms = problem.context(problem.init(2, 1, Streams(0, range(2)).at(-1), **context), 0)[:1]

    def error(size):
        Z = QFFUCB(problem.kernel, confidence(problem), size).features(arms, None)[0]
        return float((Z.mT @ Z - problem.kernel(arms, arms)[0]).abs().max())

    assert error(NODES[problem.dim]) <= 4e-4 and error(fewer) > 0.05


def test_parity_ratios_are_grouped_by_sampling():
    traces = {
        name: trace([[1, 2.0 * k], [1, 3.0 * k]])
        for k, name in enumerate(parity_learners(RKHS_1D), 1)
    }
    found = parity_ratios(traces)
    assert list(found) == [
        "BKB",
        "BKB, arms",
        "BKB, incremental",
        "SoR",
        "SoR, fixed",
        "DTC, fixed",
        "RFF 50",
        "RFF 200",
        "QFF 80",
        "uniform",
    ]
    rows = [
        "BKB, $\\bar q$ = 1",
        "BKB, $\\bar q$ = 2",
        "BKB, $\\bar q$ = 3",
        "BKB, $\\bar q$ = 5",
        "BKB, $\\bar q$ = 10",
    ]
    assert list(found["BKB"]) == list(found["BKB, arms"]) == rows and list(found["uniform"]) == [
        "uniform"
    ]
    for name, (group, row) in {
        "BKB 1": ("BKB", rows[0]),
        "BKB": ("BKB", rows[3]),
        "BKB, arms": ("BKB, arms", rows[3]),
        "SoR": ("SoR", "SoR"),
    }.items():
        assert found[group][row] == pytest.approx([list(traces).index(name) + 1.0] * 3)
