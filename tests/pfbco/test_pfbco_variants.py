"""Tests of sets with generic solvers, compared with the closed forms."""

import sys

import numpy as np
import pytest
import torch

from companion.pfbco.problems import variants as s
from companion.pfbco.problems.portfolio import Portfolio
from paperlib.core.streams import Streams
from paperlib.learners.wrapper import Doubling
from paperlib.maths.matrices import NuclearBall
from paperlib.maths.polytopes import polytope
from paperlib.maths.sets import SubSimplex
from paperlib.pfbco import FKM, PFBCO, MatrixCompletion, QuadraticPolytope, StochOCG
from paperlib.play import play

solvers = pytest.mark.skipif(not s.has_solvers(), reason="cvxpy or highspy is not installed")
PROBLEM = QuadraticPolytope(3, 2)
GENERATOR = np.random.default_rng(0)
C = np.concatenate([-np.eye(3), np.eye(3), GENERATOR.uniform(size=(2, 3))])
SETS = {
    "polytope": polytope(np.stack([C, C + 0.1 * np.eye(8, 3)]), np.ones((2, 8))),
    "shared polytope": polytope(C, np.ones(8)),
    "sub-simplex": SubSimplex.of(4),
    "nuclear ball": NuclearBall.of(3, 2.0),
    "printed": NuclearBall.of(3, 2.0, exact=False),
}


def points(cset, scale):
    return scale * torch.as_tensor(GENERATOR.normal(size=(2, cset.dim)))


@solvers
@pytest.mark.parametrize("name", SETS)
def test_solvers_find_the_closest_point(name):
    cset = SETS[name]
    asked = s.SolverSet(cset)
    tolerance = 2e-3 if isinstance(cset, NuclearBall) else 1e-5
    for scale in (1.0, 0.4):
        for far in (0.2, 3.0, 5.0):
            z = points(cset, far)
            torch.testing.assert_close(
                asked.project(z, scale), cset.project(z, scale), atol=tolerance, rtol=0
            )
    assert (
        (asked.dim, asked.r, asked.exact) == (cset.dim, 1.0, cset.exact)
        and asked.D is cset.D
        and asked.R is cset.R
    )


@solvers
@pytest.mark.parametrize("name", SETS)
def test_solvers_minimize_linear_functions(name):
    cset = SETS[name]
    for _ in range(5):
        c = points(cset, 1.0)
        found = s.SolverSet(cset).lmo(c)
        torch.testing.assert_close((found * c).sum(1), (cset.lmo(c) * c).sum(1), atol=1e-8, rtol=0)
        assert not cset.exact or cset.contains(found, 1e-7).all()


@solvers
@pytest.mark.parametrize(
    "problem",
    [PROBLEM, Portfolio(4, "synthetic"), MatrixCompletion(3, 2)],
    ids=["polytope", "portfolio", "matrices"],
)
def test_learners_play_alike_with_solvers(problem):
    for learner in (PFBCO(0.1), FKM(0.1), StochOCG()):
        first, second = (
            play(Doubling(learner), p, 12, 2)["regret"] for p in (problem, s.Solved(problem))
        )
        np.testing.assert_allclose(second, first, rtol=1e-3)


@solvers
def test_solved_uses_solvers_and_keeps_the_losses():
    problem, solved = MatrixCompletion(3, 2, "nuclear"), s.Solved(MatrixCompletion(3, 2, "nuclear"))
    streams = Streams(0, range(2))
    instances = [
        p.init(2, 5, streams.at(-1), dtype=torch.float64, device="cpu") for p in (problem, solved)
    ]
    before, after = problem.context(instances[0], 0), solved.context(instances[1], 0)
    assert isinstance(after.cset, s.SolverSet) and after.loss_bound.equal(before.loss_bound)
    y = points(before.cset, 0.3)
    asked = [
        p.respond(w, 2, y, "loss", streams.at(2)) for p, w in zip((problem, solved), instances)
    ]
    assert asked[0][0].equal(asked[1][0]) and asked[0][1].equal(asked[1][1])


def test_without_solvers(monkeypatch):
    monkeypatch.setattr(s, "find_spec", lambda name: None)
    assert not s.has_solvers()
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    for made in (s._onto_polytope, s._onto_matrices):
        made.cache_clear()
    for name in ("shared polytope", "nuclear ball"):
        with pytest.raises(ImportError, match="solvers"):
            s.SolverSet(SETS[name]).project(points(SETS[name], 3.0))


@solvers
def test_a_program_that_fails_is_an_error():
    solve = s._projection((), lambda cvxpy, x: [x >= 1, x <= 0], solver="CLARABEL")
    with pytest.raises(
        RuntimeError,
        match="the status of the projection must be 'optimal', got 'infeasible' from the",
    ):
        solve(np.array(0.5))
