"""Ties up to rounding: all learners use one rule, and no choice depends on the last bit."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from device_form import shortcuts

from companion.papers import paper_module
from paperlib.core.linalg import ROUNDING, argmax_first
from paperlib.glbomd import Bernoulli, RSGLinCB
from paperlib.maths.sets import SubSimplex
from paperlib.play import Probe, play

PACKAGE = Path(__file__).parents[1] / "paperlib"
OF_BOOLEANS = ("learners/multiscale.py",)  # Booleans are exact and have no ties up to rounding
# These learners distinguish equal arms by draws, or by index.
TOLD_APART = ("uniform", "Beta Thompson", "warm start", "UCB1")
CASES = {
    f"{paper}.{name}": case
    for paper in ("glbomd", "bkb", "linear")
    for name, case in paper_module(paper, "cases").CASES.items()
    if name not in TOLD_APART
}


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_first_best_is_the_first_within_rounding():
    up = 1 + 2.0**-52
    index = [
        [1.0, up, 0.5],
        [0.0, -1.0, 0.0],
        [-up, -1.0, -1.0],  # the largest index is negative
        [-np.inf, 2.0, 2.0 * up],  # an eliminated arm has index -inf
        [1.0, 1.0 + 3 * ROUNDING, 1.0],
    ]
    expected = [0, 0, 0, 1, 1]
    assert argmax_first(np.array(index)).tolist() == expected
    assert argmax_first(tensor(index)).tolist() == expected
    with shortcuts(False):
        found = argmax_first(tensor(index))
    assert found.tolist() == expected and found.dtype == torch.int64


def test_cancellation_leaves_ties():
    noise = [[2e-17, 3e-17, -1e-17]]
    for size, expected in ((0.0, 1), (1.0, 0)):
        assert argmax_first(np.array(noise), size).tolist() == [expected]
        assert argmax_first(tensor(noise), size).tolist() == [expected]
        with shortcuts(False):
            assert argmax_first(tensor(noise), size).tolist() == [expected]


@pytest.mark.parametrize("place", ["learners", "maths", "*/learners", "*/problems"])
def test_ties_are_broken_in_one_place(place):
    searches = {"argmax", "argmin", "nanargmax", "nanargmin"}
    found = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in sorted([*PACKAGE.glob(f"{place}/*.py"), *PACKAGE.glob(f"{place}.py")])
        if str(file.relative_to(PACKAGE)) not in OF_BOOLEANS
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in searches
    ]
    assert not found, f"an arm is found by core.linalg.argmax_first alone: {found}"


@dataclass(frozen=True)
class Twice:
    """Problem with every arm of another problem a second time, in reverse order.

    The processor may add the terms of equal arms in different orders.
    """

    problem: Any

    def init(self, trials, horizon, draw, **tkwargs):
        return self.problem.init(trials, horizon, draw, **tkwargs)

    def context(self, instance, t):
        arms = self.problem.context(instance, t)
        return torch.cat([arms, arms.flip(1)], 1)

    def respond(self, instance, t, action, wants, draw):
        last = 2 * self.problem.context(instance, t).shape[1] - 1
        return self.problem.respond(instance, t, torch.minimum(action, last - action), wants, draw)


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_of_two_equal_arms_the_first_is_played(name, trials):
    case = CASES[name]
    # The first arm of bkb is random.
    late = lambda seen: (seen.action >= seen.context.shape[1] // 2) & (seen.t > 0)
    run = play(case.learner, Twice(case.problem), 40, trials, probes={"second": Probe(late, "sum")})
    assert run["second"][:, -1].tolist() == [0.0] * trials


def test_the_determinant_test_does_not_depend_on_the_last_bit():
    """Two pulls of a unit arm multiply det(I) by exactly the factor of the test, 1 + 2 / 4, for every direction of the arm."""
    angle = torch.linspace(0, 3, 301, dtype=torch.float64)
    arms = torch.stack([angle.cos(), angle.sin()], 1).unsqueeze(1)
    learner = RSGLinCB(Bernoulli(), 1.0, ridge=1.0, scale=0.0)
    trials, draw = len(angle), None
    state = learner.init(trials, arms, 64, draw, dtype=torch.float64)
    switches = []
    for _ in range(4):
        arm, state = learner.select(state, arms, draw)
        switches.append(sorted(set(state.switches.tolist())))
        state = learner.update(state, arms, arm, torch.zeros(trials, dtype=torch.float64), draw)
    assert switches == [[1], [1], [2], [2]]


def test_least_coordinates_tie():
    c = tensor([[-1.0, -1.0 - 2.0**-52, 0.5]])
    simplex = SubSimplex.of(3)
    assert torch.equal(simplex.lmo(c), simplex.lmo(tensor([[-1.0, -1.0, 0.5]])))
