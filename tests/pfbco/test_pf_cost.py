"""How seconds are taken, and the sets that are asked by solvers."""

import numpy as np
import pytest
import torch

from paperlib.combine import Doubling
from paperlib.pfbco import FKM, PFBCO, BallLinear, MatrixCompletion, Portfolio, QuadraticPolytope, StochOCG, cost
from paperlib.play import Probe, play
from paperlib.sets import Ball, SubSimplex
from paperlib.sets_matrix import NuclearBall
from paperlib.sets_polytope import polytope
from paperlib.streams import Streams

solvers = pytest.mark.skipif(not cost.has_solvers(), reason="cvxpy or highspy is not installed")
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


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def points(cset, scale):
    return scale * torch.as_tensor(GENERATOR.normal(size=(2, cset.dim)))


# ---- solvers -----------------------------------------------------------------------------------------------


@solvers
@pytest.mark.parametrize("name", SETS)
def test_solvers_find_the_closest_point(name):
    cset = SETS[name]
    asked = cost.SolverSet.of(cset)
    tolerance = 2e-3 if isinstance(cset, NuclearBall) else 1e-5
    for scale in (1.0, 0.4):
        for far in (0.2, 3.0, 5.0):
            z = points(cset, far)
            torch.testing.assert_close(asked.project(z, scale), cset.project(z, scale), atol=tolerance, rtol=0)
    assert (asked.dim, asked.r, asked.exact) == (cset.dim, 1.0, cset.exact) and asked.D is cset.D and asked.R is cset.R


@solvers
@pytest.mark.parametrize("name", SETS)
def test_solvers_minimize_linear_functions(name):
    cset = SETS[name]
    for _ in range(5):
        c = points(cset, 1.0)
        found = cost.SolverSet.of(cset).lmo(c)
        torch.testing.assert_close((found * c).sum(1), (cset.lmo(c) * c).sum(1), atol=1e-8, rtol=0)
        assert not cset.exact or cset.contains(found, 1e-7).all()


def test_solver_sets_of_other_kinds():
    with pytest.raises(ValueError, match="cset=Ball; allowed: Polytope, SubSimplex or NuclearBall"):
        cost.SolverSet.of(Ball.of(2))


@solvers
@pytest.mark.parametrize("problem", [PROBLEM, Portfolio(4, "synthetic"), MatrixCompletion(3, 2)], ids=["polytope", "portfolio", "matrices"])
def test_learners_play_alike_with_solvers(problem):
    for learner in (PFBCO(0.1), FKM(0.1), StochOCG()):
        first, second = (play(Doubling(learner), p, 12, 2)["regret"] for p in (problem, cost.Solved(problem)))
        np.testing.assert_allclose(second, first, rtol=1e-3)


@solvers
def test_solved_asks_solvers_and_keeps_the_losses():
    problem, solved = MatrixCompletion(3, 2, "nuclear"), cost.Solved(MatrixCompletion(3, 2, "nuclear"))
    streams = Streams(0, range(2))
    worlds = [p.init(2, 5, streams.at(-1), dtype=torch.float64, device="cpu") for p in (problem, solved)]
    before, after = problem.context(worlds[0], 0), solved.context(worlds[1], 0)
    assert isinstance(after.cset, cost.SolverSet) and after.loss_bound.equal(before.loss_bound)
    y = points(before.cset, 0.3)
    assert solved.loss(worlds[1], 2, y, streams.at(2)).equal(problem.loss(worlds[0], 2, y, streams.at(2)))


def test_without_solvers(monkeypatch):
    monkeypatch.setattr(cost, "find_spec", lambda name: None)
    assert not cost.has_solvers()
    with pytest.raises(ImportError, match="cvxpy and highspy"):
        cost.Solved(PROBLEM)


@solvers
def test_a_program_that_fails_is_an_error():
    import cvxpy

    x, z = cvxpy.Variable(), cvxpy.Parameter()
    solve = cost._solver(cvxpy.Problem(cvxpy.Minimize(cvxpy.square(x - z)), [x >= 1, x <= 0]), x, z, solver="CLARABEL")
    with pytest.raises(RuntimeError, match="CLARABEL: the projection ends as 'infeasible'"):
        solve(np.array(0.5))


# ---- seconds -----------------------------------------------------------------------------------------------


def test_methods_by_learner_and_setting():
    runs = cost.methods({"a": PROBLEM}, ("PF", "FKM"), 0.2, suffix=", solver")
    assert list(runs) == [("PF, solver", "a"), ("FKM, solver", "a")]
    assert runs["FKM, solver", "a"] == (Doubling(FKM(0.2)), PROBLEM)
    assert list(cost.methods({"a": PROBLEM, "b": PROBLEM})) == [(name, setting) for setting in "ab" for name in cost.METHODS]


def test_timed_runs_are_kept():
    runs = cost.methods({"a": PROBLEM}, ("PF", "FKM"))
    first = cost.time_runs(runs, 12, 2, trials=3)
    assert list(first) == list(runs) and all(x.shape == (2, 12) and (x > 0).all() for x in first.values())
    again = cost.time_runs(runs, 12, 2, trials=3)
    assert all(np.array_equal(again[key], first[key]) for key in runs)
    assert not np.array_equal(cost.time_runs(runs, 12, 2, trials=3, seed=1)["PF", "a"], first["PF", "a"])


class Slow:
    """A set of which every call is known to take a while, and which notes what it is asked."""

    R = torch.tensor([2.0], dtype=torch.float64)
    dim = 2

    def __init__(self):
        self.asked = []

    def lmo(self, c):
        self.asked.append(c)

    def project(self, z):
        self.asked.append(z)
        cost.time.sleep(0.01)


class OnSlow:
    """A problem on that set."""

    def __init__(self):
        self.cset = Slow()

    def init(self, trials, horizon, draw, **tkwargs):
        return None

    def context(self, world, t):
        return self


def test_single_calls_are_timed_outside_the_set():
    problem = OnSlow()
    found = cost._calls({"slow": problem}, 4, 0)
    assert {key: len(x) for key, x in found.items()} == {"slow|lmo": 4, "slow|project": 4}
    assert (found["slow|project"] >= 0.01).all() and (found["slow|lmo"] < 0.01).any()
    assert all(torch.linalg.vector_norm(z).item() == pytest.approx(4.0) for z in problem.cset.asked)  # twice the radius


def test_single_calls_are_kept():
    problems = {"a": PROBLEM, "b": MatrixCompletion(3, 2)}
    first = cost.time_calls(problems, 3)
    assert {name: set(found) for name, found in first.items()} == {"a": {"lmo", "project"}, "b": {"lmo", "project"}}
    assert np.array_equal(cost.time_calls(problems, 3)["b"]["lmo"], first["b"]["lmo"])
    with pytest.raises(ValueError, match="count=0"):
        cost.time_calls(problems, 0)


TIMED = {("PF", "a"): np.array([[1e-3, 2e-3, 9e-3], [4e-3, 4e-3, 40e-3]]), ("FKM", "a"): np.array([[4e-3, 4e-3, 8e-3], [6e-3, 8e-3, 100e-3]])}


def test_medians_of_rounds_by_repetition():
    assert cost.typical(TIMED["PF", "a"]) == pytest.approx([2e-3, 4e-3])
    found = cost.bars(TIMED)
    assert found["PF"]["a"] == pytest.approx([2.0, 4.0]) and found["FKM"]["a"] == pytest.approx([4.0, 8.0])
    assert cost.diamonds(TIMED, 10) == {"PF": {"a": pytest.approx(0.3)}, "FKM": {"a": pytest.approx(0.6)}}


def test_ratios_over_repetitions():
    found = cost.median_ratio(TIMED["FKM", "a"], TIMED["PF", "a"])
    assert (found.estimate, found.low, found.high, found.n) == (pytest.approx(2), pytest.approx(2), pytest.approx(2), 2)
    assert found.method == "ratio of median seconds, 95 % bootstrap over repetitions together"
    mean = cost.mean_ratio(TIMED["FKM", "a"], TIMED["PF", "a"])  # means 4 and 16 against 16 / 3 and 38
    assert mean.estimate == pytest.approx((16 + 114) / (12 + 48)) and (mean.low, mean.high) == (pytest.approx(16 / 12), pytest.approx(114 / 48))
    assert mean.method.startswith("ratio of mean seconds")


# ---- how often ---------------------------------------------------------------------------------------------


class Point:
    """A state as far as the probe reads one."""

    def __init__(self, x):
        self.x, self.eta, self.delta, self.alpha = x, *(torch.tensor([value], dtype=torch.float64) for value in (0.5, 0.2, 0.1))


def test_steps_that_leave_the_set():
    streams, cset = Streams(0, range(200)), Ball.of(2)
    u = streams.at(3).sphere("direction", 2)
    seen = type("Round", (), {})()
    seen.context, seen.world, seen.t = type("T", (), {"cset": cset}), type("W", (), {"streams": streams}), 3
    seen.before, seen.feedback = Point(torch.zeros(200, 2, dtype=torch.float64)), torch.linspace(-0.4, 0.4, 200, dtype=torch.float64)
    # A step of length eta |f| n / delta = 5 |f| from 0, against a ball of radius 1 - alpha = .9.
    assert cost.Leaves()(seen).tolist() == (5 * seen.feedback.abs() > 0.9).tolist()
    seen.before = Point(-0.8 * u)
    assert cost.Leaves()(seen).tolist() == ((-0.8 - 5 * seen.feedback).abs() > 0.9).tolist()


def test_the_probe_counts_the_rounds_in_which_the_projection_moves():
    problem, learner = BallLinear(2), Doubling(FKM(0.5))
    trace = play(learner, problem, 40, 3, record="all", probes={"leaves": Probe(cost.Leaves(), "sum"), "far": Probe(lambda seen: torch.linalg.vector_norm(seen.after.base.x, dim=1) / (1 - seen.after.base.alpha))})
    steps, far = np.diff(trace["leaves"], axis=1, prepend=0), trace["far"]
    inside = np.array([t for t in range(40) if (t + 2) & (t + 1)])  # the last round of an epoch is followed by a new start
    assert 0 < trace["leaves"][:, -1].mean() < 40
    np.testing.assert_array_equal(steps[:, inside] == 1, far[:, inside] > 1 - 1e-9)
