"""Convex sets: compare oracles, projections, radii and diameters with values by hand, generic solvers and each other."""

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import torch
from example_sets import SETS, TKWARGS, TRIANGLE, l1_ball, l1_oracle, packings
from scipy.optimize import linprog

from paperlib.core.trees import tree_take
from paperlib.maths import matrices as sets_matrix
from paperlib.maths import polytopes as sets_polytope
from paperlib.maths.matrices import extreme_eigenpair, smat, svec
from paperlib.maths.polytopes import LinearProgram, chebyshev_ball, list_vertices, project_polytope
from paperlib.maths.sets import OracleSet, check_oracle, project_simplex, support_function
from paperlib.pfbco import Ball, NuclearBall, Spectrahedron, SubSimplex, oracle_set, polytope

RNG = np.random.default_rng(2)
every_set = pytest.mark.parametrize("name", SETS)
T = lambda *rows: torch.tensor(rows, **TKWARGS)


def directions(cset, count=40, seed=0):
    """Tensors of random rows, R x n each; some are sparse."""
    rng = np.random.default_rng(seed)
    R = len(cset.D)
    for k in range(count):
        c = torch.tensor(rng.normal(size=(R, cset.dim)))
        yield c * torch.tensor(rng.random((R, cset.dim)) < 0.5) if k % 4 == 3 else c


def dot(a, b):
    return (a * b).sum(-1)


# ---- Values by hand ----------------------------------------------------------------------------------------


def test_the_triangle():
    rho = 0.2928932188
    torch.testing.assert_close(TRIANGLE.center, T([rho, rho]), atol=1e-9, rtol=0)
    assert TRIANGLE.rho.item() == pytest.approx(rho, abs=1e-9)
    assert TRIANGLE.D.item() == pytest.approx(
        4.8284271247, abs=1e-8
    ) and TRIANGLE.R.item() == pytest.approx(2.6131259298, abs=1e-8)
    torch.testing.assert_close(
        TRIANGLE.to_native(TRIANGLE.lmo(T([-1.0, -2.0]))), T([0.0, 1.0]), atol=1e-9, rtol=0
    )
    there = (T([1.0, 1.0]) - TRIANGLE.center) / TRIANGLE.rho
    torch.testing.assert_close(
        TRIANGLE.to_native(TRIANGLE.project(there)), T([0.5, 0.5]), atol=1e-9, rtol=0
    )
    assert len(TRIANGLE.vertices[0]) == 3


def test_the_sub_simplex():
    cset = SubSimplex.of(4)
    assert cset.lmo(T([0.3, -0.2, 0.1, -0.5], [1, 2, 3, 4])).tolist() == [
        [-1, -1, -1, 7],
        [-1, -1, -1, -1],
    ]
    torch.testing.assert_close(
        cset.project(T([5, 5, 5, 5], [10, 0, 0, -5])), T([1.0, 1, 1, 1], [7, -1, -1, -1])
    )
    torch.testing.assert_close(cset.to_native(T([-1, -1, -1, 7])), T([0.0, 0, 0, 1]))
    large = SubSimplex.of(100)
    assert large.R.item() == pytest.approx(
        199.2485884517, abs=1e-10
    ) and large.D.item() == pytest.approx(282.8427124746, abs=1e-10)


def test_the_nuclear_ball():
    cset, C = NuclearBall.of(2, 2.0), svec(torch.diag(T(5.0, 3.0))[None])
    printed = NuclearBall.of(2, 2.0, exact=False)
    for ball, X, value in ((cset, [-2.0, 0.0], -10.0), (printed, [0.0, 2.0], 6.0)):
        answer = ball.to_native(ball.lmo(C))
        torch.testing.assert_close(answer, svec(torch.diag(T(*X))[None]))
        assert dot(C, answer).item() == pytest.approx(value)
    z = svec(torch.diag(T(3.0, -1.0))[None]) / cset.rho
    torch.testing.assert_close(cset.to_native(cset.project(z)), svec(torch.diag(T(2.0, 0.0))[None]))
    assert not printed.exact and cset.exact


def test_constants_of_the_experiments():
    """The experiments use p = 20 and k = 18."""
    nuclear, trace = NuclearBall.of(20, 18), Spectrahedron.of(20, 18)
    assert nuclear.dim == trace.dim == 210
    assert nuclear.rho == pytest.approx(4.0249223595, abs=1e-9) and trace.rho == pytest.approx(
        0.7355304021, abs=1e-9
    )
    assert nuclear.R.item() == pytest.approx(math.sqrt(20)) and nuclear.D.item() == pytest.approx(
        2 * math.sqrt(20)
    )
    assert trace.R.item() == pytest.approx(
        23.8734404, abs=1e-6
    ) and trace.D.item() == pytest.approx(34.6088266, abs=1e-6)


@pytest.mark.parametrize("p", [1, 2, 7])
def test_svec_is_an_isometry(p):
    X, Y = (x + x.mT for x in torch.tensor(RNG.normal(size=(2, 5, p, p))))
    assert dot(svec(X), svec(Y)).sub((X * Y).sum((1, 2))).abs().max() < 1e-13 and svec(X).shape == (
        5,
        p * (p + 1) // 2,
    )
    torch.testing.assert_close(smat(svec(X), p), X, atol=1e-14, rtol=0)


def test_answers_to_zero(monkeypatch):
    """For c = 0 every oracle has a fixed result.

    Ball: -e_1. Polytope: its first vertex. Sub-simplex and spectrahedron: the zero portfolio and matrix. Nuclear-norm ball:
    -k e_1 e_1^T, and k e_1 e_1^T with the printed oracle.
    """
    zero = lambda cset: torch.zeros(len(cset.D), cset.dim, **TKWARGS)
    assert Ball.of(3).lmo(torch.zeros(1, 3)).tolist() == [[-1, 0, 0]]
    assert SubSimplex.of(3).lmo(torch.zeros(1, 3)).tolist() == [[-1, -1, -1]]
    polytopes = SETS["packings"]
    assert torch.equal(polytopes.lmo(zero(polytopes)), polytopes.vertices[:, 0]) and torch.equal(
        TRIANGLE.lmo(zero(TRIANGLE)), TRIANGLE.vertices[:, 0]
    )
    monkeypatch.setattr(sets_matrix, "LARGE", {True: 30, False: 30})
    for p in (3, 30):  # dense, and Lanczos
        corner = torch.zeros(1, p, p, **TKWARGS)
        corner[0, 0, 0] = 2.0
        for cset, sign in (
            (NuclearBall.of(p, 2.0), -1),
            (NuclearBall.of(p, 2.0, exact=False), 1),
            (Spectrahedron.of(p, 2.0), 0),
        ):
            for trials in (1, 2):
                answer = cset.to_native(cset.lmo(zero(cset).expand(trials, -1)))
                torch.testing.assert_close(
                    answer, svec(sign * corner).expand(trials, -1), atol=1e-14, rtol=0
                )


# ---- All sets ----------------------------------------------------------------------------------------------


@every_set
def test_the_oracle_returns_the_minimizer(name):
    cset = SETS[name]
    inside = [cset.project(20 * z) for z in directions(cset, 30, seed=1)]
    for c in directions(cset):
        v = cset.lmo(c)
        assert cset.contains(v).all()
        assert all((dot(c, v) <= dot(c, z) + 1e-9).all() for z in inside)
        assert not cset.contains(1.001 * v).any() or (c == 0).all(1).any()


@every_set
def test_radii_and_diameter(name):
    cset = SETS[name]
    for u in directions(cset, 200):
        u = u / torch.linalg.vector_norm(u, dim=1, keepdim=True).clamp(min=1e-300)
        if (u == 0).all(1).any():
            continue
        h, across = support_function(cset, u), cset.lmo(u) - cset.lmo(-u)
        assert (h >= 1 - 1e-9).all() and (h <= cset.R + 1e-9).all()
        assert (torch.linalg.vector_norm(across, dim=1) <= cset.D + 1e-9).all() and (
            torch.linalg.vector_norm(cset.lmo(u), dim=1) <= cset.R + 1e-9
        ).all()


@pytest.mark.parametrize(
    "name",
    [
        "sub-simplex",
        "nuclear",
        "trace",
        "packings",
        "triangle",
        "ball",
        "segment",
        "one by one",
        "one by one, trace",
        "one stock",
    ],
)
def test_radii_and_diameter_are_attained(name):
    cset = SETS[name]
    if hasattr(cset, "vertices"):
        V = cset.vertices
        normals = cset.normals / torch.linalg.vector_norm(cset.normals, dim=2, keepdim=True)
        least = torch.stack(
            [support_function(cset, normals[:, i]) for i in range(normals.shape[1])], 1
        ).amin(1)
    elif name in ("nuclear", "trace") or "by one" in name:
        e = torch.eye(cset.p, **TKWARGS)
        V = torch.cat(
            [cset.lmo(svec(sign * torch.diag(row)[None])) for row in e for sign in (-1.0, 1.0)]
        )[None]
        least = support_function(cset, svec(e[None]) / math.sqrt(cset.p))
    else:
        V = torch.cat(
            [
                cset.lmo(sign * c[None])
                for c in torch.eye(cset.dim, **TKWARGS)
                for sign in (-1.0, 1.0)
            ]
        )[None]
        least = support_function(cset, -torch.eye(cset.dim, **TKWARGS)[:1])
    torch.testing.assert_close(least, torch.ones_like(least))
    torch.testing.assert_close(torch.linalg.vector_norm(V, dim=2).amax(1), cset.R)
    torch.testing.assert_close(torch.cdist(V, V).amax((1, 2)), cset.D, atol=1e-6, rtol=1e-6)


@every_set
@pytest.mark.parametrize("scale", [1.0, 0.3, "each"])
def test_a_projection_satisfies_the_variational_inequality(name, scale):
    """<z - P, v - P> <= 0 for all v in s K; the oracle gives the largest value."""
    cset = SETS[name]
    s = (
        torch.linspace(0.2, 0.9, len(cset.D), **TKWARGS)
        if scale == "each"
        else torch.full((len(cset.D),), scale, **TKWARGS)
    )
    for k, z in enumerate(directions(cset)):
        z = z * 10.0 ** (k % 5 - 1)
        P = cset.project(z, s if scale == "each" else scale)
        assert cset.contains(P / s.unsqueeze(1)).all()
        v = s.unsqueeze(1) * cset.lmo(P - z)
        assert (dot(z - P, v - P) <= 1e-8 * (1 + torch.linalg.vector_norm(z, dim=1))).all()


@every_set
def test_points_inside_stay_and_scale_zero_is_the_origin(name):
    cset = SETS[name]
    for z in directions(cset, 10):
        inside = 0.7 * cset.project(5 * z)
        torch.testing.assert_close(cset.project(inside), inside, atol=1e-12, rtol=0)
        torch.testing.assert_close(cset.project(inside, 0.7), inside, atol=1e-9, rtol=0)
        assert torch.equal(cset.project(z, 0.0), torch.zeros_like(z)) and torch.equal(
            cset.project(z, torch.zeros(1)), torch.zeros_like(z)
        )


@every_set
def test_batched_equals_alone(name):
    cset = SETS[name]
    rows = 4 if len(cset.D) == 1 else len(cset.D)
    c = torch.tensor(RNG.normal(size=(rows, cset.dim)))
    for i in range(rows):
        one = tree_take(cset, [i]) if len(cset.D) > 1 else cset
        torch.testing.assert_close(one.lmo(c[[i]]), cset.lmo(c)[[i]], atol=1e-9, rtol=1e-9)
        torch.testing.assert_close(
            one.project(3 * c[[i]]), cset.project(3 * c)[[i]], atol=1e-9, rtol=1e-9
        )
        torch.testing.assert_close(one.to_native(c[[i]]), cset.to_native(c)[[i]])
        assert one.contains(c[[i]]).tolist() == cset.contains(c)[[i]].tolist()


@every_set
def test_native_coordinates(name):
    cset = SETS[name]
    x = torch.stack([cset.to_native(cset.lmo(c)) for c in directions(cset)], 1)
    if hasattr(cset, "normals"):
        d = cset.offsets * cset.rho.unsqueeze(1) + dot(cset.normals, cset.center.unsqueeze(1))
        assert ((x @ cset.normals.mT) <= d.unsqueeze(1) + 1e-8).all()
    elif isinstance(cset, SubSimplex):
        assert (x >= 0).all() and (x.sum(2) <= 1 + 1e-12).all()
    elif isinstance(cset, Ball):
        assert (torch.linalg.vector_norm(x, dim=2) <= 1 + 1e-12).all()
    else:
        values = torch.linalg.eigvalsh(smat(x[0], cset.p))
        assert (values.abs().sum(1) <= cset.k + 1e-9).all() and (
            isinstance(cset, NuclearBall) or (values >= -1e-9).all()
        )


@pytest.mark.parametrize("name", ["ball", "sub-simplex", "packings", "nuclear", "trace"])
def test_sizes_out_of_range_are_refused(name):
    for bad in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match="^(dim|p|most) must be an integer from .*, got "):
            {
                "ball": Ball.of,
                "sub-simplex": SubSimplex.of,
                "packings": lambda n: polytope(np.eye(2), np.ones(2), most=n or -1),
                "nuclear": lambda p: NuclearBall.of(p, 1.0),
                "trace": lambda p: Spectrahedron.of(p, 1.0),
            }[name](bad)
    if name in ("nuclear", "trace"):
        for k in (0.0, -1.0, math.nan, math.inf):
            with pytest.raises(ValueError, match="^k must be a positive number .*, got "):
                type(SETS[name]).of(3, k)


def test_sets_are_in_double_precision_by_default():
    for cset in (
        Ball.of(2),
        SubSimplex.of(2),
        NuclearBall.of(2, 1.0),
        Spectrahedron.of(2, 1.0),
        TRIANGLE,
        l1_ball(2),
    ):
        assert cset.R.dtype == cset.D.dtype == torch.float64
    assert SubSimplex.of(2, dtype=torch.float32).R.dtype == torch.float32


# ---- Simplexes ---------------------------------------------------------------------------------------------


def test_projection_on_simplexes_by_bisection():
    for n in (1, 2, 9):
        x = torch.tensor(RNG.normal(size=(50, n)) * 2)
        low, high = x.amax(1) - 5.0 - x.abs().sum(1), x.amax(1)
        for _ in range(200):
            middle = (low + high) / 2
            much = (x - middle.unsqueeze(1)).clamp(min=0).sum(1) > 1.5
            low, high = torch.where(much, middle, low), torch.where(much, high, middle)
        torch.testing.assert_close(
            project_simplex(x, 1.5), (x - low.unsqueeze(1)).clamp(min=0), atol=1e-10, rtol=0
        )


# ---- Polytopes ---------------------------------------------------------------------------------------------


def value(C, e, c):
    return linprog(c, C, e, bounds=[(None, None)] * len(c), method="highs").fun


def test_the_vertex_oracle_is_the_linear_program():
    cset = packings(1, 6, 5, seed=4)
    C, e = cset.normals[0].numpy(), cset.offsets[0].numpy()
    for c in RNG.normal(size=(200, 6)):
        assert dot(torch.tensor(c), cset.lmo(torch.tensor(c)[None])).item() == pytest.approx(
            value(C, e, c), abs=1e-8
        )


@pytest.mark.parametrize("highspy", [True, False])
def test_linear_programs_in_place_of_vertices(highspy, monkeypatch):
    if highspy:
        pytest.importorskip(
            "highspy", reason="without it linear programs are scipy's, tested beside"
        )
    else:
        monkeypatch.setitem(sys.modules, "highspy", None)
    LinearProgram.of.cache_clear()
    listed, solved = packings(2, 6, 5, seed=4), packings(2, 6, 5, seed=4, most=0)
    assert solved.vertices.shape == (2, 0, 6) and listed.vertices.shape[1] > 0
    for c in torch.tensor(RNG.normal(size=(60, 2, 6))):
        v = solved.lmo(c)
        assert solved.contains(v, 1e-8).all()
        torch.testing.assert_close(dot(c, v), dot(c, listed.lmo(c)), atol=1e-8, rtol=0)
    assert (
        LinearProgram(listed.normals[0].numpy(), listed.offsets[0].numpy()).solver is not None
    ) == highspy
    assert solved.contains(solved.lmo(torch.zeros(2, 6, **TKWARGS)), 1e-8).all()
    LinearProgram.of.cache_clear()


def test_bounds_without_vertices_hold_and_are_not_wide():
    listed, solved = packings(4, 6, 5, seed=9), packings(4, 6, 5, seed=9, most=0)
    for exact, bound in ((listed.D, solved.D), (listed.R, solved.R)):
        # The bounding box has the widths as its edges, so its diagonal is at most sqrt(n) D.
        assert (bound >= exact).all() and (bound <= math.sqrt(6) * exact).all()


def test_bounds_without_vertices_are_those_of_the_mirror_image():
    C, d = np.array([[-1.0, 0.0], [0.0, -1.0], [3.0, 1.0]]), np.array([0.0, 0.0, 1.0])
    one, other = polytope(C, d, most=0), polytope(-C, d, most=0)
    torch.testing.assert_close(one.D, other.D), torch.testing.assert_close(one.R, other.R)
    assert (one.R >= polytope(C, d).R).all()


def test_above_the_limit_all_trials_solve_programs():
    counts = [len(torch.unique(v, dim=0)) for v in packings(3, 4, 3).vertices]
    assert min(counts) < max(counts)
    assert packings(3, 4, 3, most=max(counts)).vertices.shape[1] == max(counts)
    assert packings(3, 4, 3, most=max(counts) - 1).vertices.shape[1] == 0


def test_a_failing_program_raises_an_error(monkeypatch):
    with pytest.raises(RuntimeError, match="linear program fails"):
        LinearProgram(np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2))
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(RuntimeError, match="linear program fails"):
        LinearProgram(np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2))


def asked_along_axes(n):
    """Costs with ties, such as the zero cost, and costs without ties."""
    rng = np.random.default_rng(6)
    return np.vstack(
        [
            np.zeros(n),
            np.eye(n),
            -np.eye(n),
            np.ones(n),
            rng.normal(size=(20, n)),
            1e-12 * rng.normal(size=(5, n)),
        ]
    )


@pytest.mark.parametrize("highspy", [True, False])
def test_the_solution_does_not_depend_on_earlier_calls(highspy, monkeypatch):
    """Results are bitwise equal and are vertices of the box, also if a whole face is optimal and if costs are tiny."""
    if highspy:
        pytest.importorskip(
            "highspy", reason="without it, scipy solves the linear programs, without warm starts"
        )
    else:
        monkeypatch.setitem(sys.modules, "highspy", None)
    C, e = np.vstack([np.eye(3), -np.eye(3)]), np.ones(6)
    costs, used = asked_along_axes(3), LinearProgram(C, e)
    alone = [LinearProgram(C, e).solve(c) for c in costs]
    for order in (
        range(len(costs)),
        *(np.random.default_rng(seed).permutation(len(costs)) for seed in (0, 1)),
    ):
        for i in order:
            np.testing.assert_array_equal(used.solve(costs[i]), alone[i])
    assert all(c @ x == pytest.approx(-np.abs(c).sum(), rel=1e-9) for c, x in zip(costs, alone))
    assert np.abs(used.solve(np.zeros(3))).tolist() == [1, 1, 1]
    assert not highspy or all(np.abs(x).tolist() == [1, 1, 1] for x in alone)
    used.solve(np.zeros(3))[:] = 9.0
    assert np.abs(used.solve(np.zeros(3))).max() == 1


def test_above_twelve_dimensions_no_vertices_are_listed(monkeypatch):
    box = lambda n: polytope(np.vstack([np.eye(n), -np.eye(n)]), np.ones(2 * n))
    assert box(8).vertices.shape[1] == 256 and sets_polytope.LISTED == 12
    monkeypatch.setattr(sets_polytope, "list_vertices", lambda C, e: pytest.fail("Qhull is asked"))
    large = box(20)
    assert (
        large.vertices.shape == (1, 0, 20)
        and large.D.item() == pytest.approx(2 * math.sqrt(20))
        and large.lmo(torch.ones(1, 20, **TKWARGS)).tolist() == [[-1.0] * 20]
    )


@pytest.mark.parametrize("size", [1e-200, 1e-10, 1e-3, 1e8, 1e200])
@pytest.mark.parametrize("most", [20_000, 0])
def test_the_unit_of_a_row_does_not_matter(size, most):
    """Scaling all rows or one row of (C, d) gives the same set, with the same members and projections."""
    C, d = np.array([[-1.0, 0.0], [0.0, -1.0], [3.0, 1.0]]), np.array([0.0, 0.0, 1.0])
    plain = polytope(C, d, most=most)
    close = lambda a, b: torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)
    close(torch.linalg.vector_norm(plain.normals, dim=2), torch.ones(1, 3, **TKWARGS))
    for unit in (np.full(3, size), np.array([1.0, size, 1.0])):
        other = polytope(unit[:, None] * C, unit * d, most=most)
        for field in ("normals", "offsets", "vertices", "center", "rho", "R", "D"):
            close(getattr(other, field), getattr(plain, field))
        outside = plain.lmo(T([-1.0, -1.0])) * 1.00005
        close(other.project(outside), plain.project(outside))
        assert not other.contains(outside).any() and other.contains(other.project(outside)).all()


def test_the_oracle_of_the_ball_handles_tiny_and_huge_costs():
    for size in (1e-320, 1e-200, 1e-3, 1e200):
        torch.testing.assert_close(
            Ball.of(2).lmo(T([0.0, size], [size, -size])),
            T([0.0, -1.0], [-math.sqrt(0.5), math.sqrt(0.5)]),
        )
    assert Ball.of(2, dtype=torch.float32).lmo(torch.tensor([[0.0, 1e-30]])).tolist() == [[0, -1]]


@pytest.mark.parametrize("trials", [1, 2])
def test_matrices_that_are_not_finite_have_no_eigenpair(trials):
    for most in (True, False):
        with pytest.raises(ValueError, match="C must be finite, got nan"):
            extreme_eigenpair(torch.full((trials, 4, 4), math.nan, **TKWARGS), most)


@pytest.mark.parametrize(
    "C, d, match",
    [
        ("a", [1.0], "C must be an array of numbers, got 'a'"),
        ([[1.0], [-1.0]], "b", "d must be an array of numbers, got 'b'"),
        (
            [[1.0], [1.0, 2.0]],
            [1.0, 1.0],
            r"C must be an array of numbers, got \[\[1.0\], \[1.0, 2.0\]\]",
        ),
        (None, None, "C must be an array of numbers, got None"),
    ],
    ids=range(4),
)
def test_polytopes_are_of_numbers(C, d, match):
    with pytest.raises(ValueError, match=match):
        polytope(C, d)


@pytest.mark.parametrize(
    "oracle, center, match",
    [
        (3, [0.0, 0.0], "oracle must be a function of n numbers, got 3"),
        (l1_oracle, "abc", "center must be an array of numbers, got 'abc'"),
        (l1_oracle, [], r"center must be a list of at least one finite.*, got \[\]"),
        (l1_oracle, [[0.0, 0.0]], "center must be a"),
        (l1_oracle, [math.nan], "center must be a"),
        (l1_oracle, None, "center must be an array of numbers, got None"),
    ],
    ids=range(6),
)
def test_sets_by_an_oracle_are_of_a_function_and_numbers(oracle, center, match):
    with pytest.raises(ValueError, match=match):
        oracle_set(oracle, center, 0.5)


def test_an_oracle_in_single_precision_passes():
    """The ball inside the l1 ball of three dimensions touches it along the diagonal; an oracle rounded inward misses that point."""
    for n in (2, 3):
        single = oracle_set(
            lambda c: (l1_oracle(c) * (1 - 6e-8)).astype(np.float32),
            np.zeros(n),
            np.float32(1 / np.sqrt(n)).item(),
        )
        touching = single._replace(
            oracle=lambda c: -c / np.linalg.norm(c) * (1 - 1e-7) * single.radius.item()
        )
        check_oracle(touching._replace(R=torch.full((1,), 1.0, **TKWARGS)))
        with pytest.raises(
            RuntimeError,
            match="lmo must return points of a set with a support.*, got 0.99999 to 0.99999 in",
        ):
            check_oracle(
                touching._replace(
                    oracle=lambda c: -c / np.linalg.norm(c) * (1 - 1e-5) * single.radius.item()
                )
            )


@pytest.mark.parametrize(
    "answer",
    [
        np.ones(1),
        np.float64(0.7),
        np.ones(2),
        np.array([0.1, np.nan, 0]),
        np.full(3, np.inf),
        None,
        "abc",
        [[1.0, 2.0, 3.0]],
    ],
    ids=range(8),
)
def test_an_invalid_oracle_result_is_rejected_in_every_call(answer):
    cset = l1_ball(3)
    later = cset._replace(oracle=lambda c: answer if c[0] > 0.5 else l1_oracle(c))
    later.lmo(T([0.0, 1.0, 0.0]))
    with pytest.raises(
        RuntimeError,
        match="oracle must return a point of the set, 3 finite numbers, got ",
    ):
        later.lmo(T([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]))


def test_an_oracle_cannot_change_its_argument():
    def spoils(c):
        answer = l1_oracle(c)
        c[:] = 9.0
        return answer

    c = T([0.0, 1.0, 0.0])
    l1_ball(3)._replace(oracle=spoils).lmo(c)
    assert c.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("far", [1e-3, 1.0, 1e2, 1e4, 1e6])
def test_the_least_distance_projection_against_all_vertices(far):
    """<z - P, v - P> <= 0 for every vertex v, also for a distant z, where the last residual is tiny."""
    cset = packings(1, 6, 5, seed=3)
    C, e, V = (x[0].numpy() for x in (cset.normals, cset.offsets, cset.vertices))
    moved = 0
    for _ in range(60):
        z = V[RNG.integers(len(V))] + far * RNG.normal(size=6)
        P = project_polytope(C, e, z)
        moved += (P != z).any()
        assert (C @ P - e).max() <= 1e-11
        assert ((V - P) @ (z - P)).max() <= 1e-8 * max(1.0, far)
    assert moved > 30


def test_the_projection_is_that_of_a_generic_solver():
    cvxpy = pytest.importorskip(
        "cvxpy", reason="cvxpy is optional; the variational inequality is tested above"
    )
    cset = packings(1, 5, 4, seed=6)
    for z in RNG.normal(size=(5, 5)) * 4:
        y = cvxpy.Variable(5)
        cvxpy.Problem(
            cvxpy.Minimize(cvxpy.sum_squares(y - z)),
            [cset.normals[0].numpy() @ y <= cset.offsets[0].numpy()],
        ).solve(solver="CLARABEL")
        np.testing.assert_allclose(cset.project(torch.tensor(z)[None])[0], y.value, atol=1e-6)


def test_duplicate_constraints_and_vertices():
    C, d = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]), np.array([0.0, 0.0, 1.0])
    twice = polytope(np.vstack([C, C, 2 * C, [[1.0, 1.0]]]), np.concatenate([d, d, 2 * d, [5.0]]))
    for field in ("R", "D", "rho", "center"):
        torch.testing.assert_close(getattr(twice, field), getattr(TRIANGLE, field))
    torch.testing.assert_close(twice.vertices, TRIANGLE.vertices)
    repeated = TRIANGLE._replace(vertices=TRIANGLE.vertices[:, [0, 0, 1, 2, 2]])
    for c in directions(TRIANGLE):
        torch.testing.assert_close(twice.lmo(c), TRIANGLE.lmo(c))
        torch.testing.assert_close(repeated.lmo(c), TRIANGLE.lmo(c))
        torch.testing.assert_close(
            twice.project(9 * c), TRIANGLE.project(9 * c), atol=1e-12, rtol=0
        )


def test_a_pyramid_has_its_apex_once():
    """Four facets meet in one vertex in three dimensions, and the vertex is listed once."""
    C = np.array([[1.0, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [0, 0, -1]])
    assert len(polytope(C, np.array([1.0, 1, 1, 1, 0])).vertices[0]) == 5


def test_a_segment():
    segment = SETS["segment"]  # 0 <= x <= 3
    assert (segment.rho.item(), segment.center.item(), segment.R.item(), segment.D.item()) == (
        1.5,
        1.5,
        1.0,
        2.0,
    )
    assert (
        segment.vertices.tolist() == [[[-1.0], [1.0]]]
        and segment.lmo(T([2.0])).item() == -1
        and segment.project(T([7.0])).item() == pytest.approx(1.0)
    )


@pytest.mark.parametrize("most", [20_000, 0])
@pytest.mark.parametrize(
    "C, d",
    [
        ([[1.0], [2.0]], [1.0, 1.0]),
        ([[1.0, 0], [-1, 0]], [1.0, 1]),
        ([[1.0, 0], [-1, 0], [0, 1]], [1.0, 1, 1]),
        ([[-1.0, 0], [0, -1]], [0.0, 0]),
    ],
    ids=["half line", "strip", "half strip", "cone"],
)
def test_unbounded_polytopes_are_refused(C, d, most):
    with pytest.raises(ValueError, match="C, d must describe a bounded polytope"):
        polytope(C, d, most=most)


def test_a_polytope_that_reaches_too_far_is_refused():
    """A corner at 1e300 would overflow when it is rounded."""
    C = np.array([[1.0, 0.0], [-1e300, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    with pytest.raises(
        ValueError,
        match="C, d must describe a bounded polytope that.*, got a larger or unbounded one",
    ):
        polytope(C, np.ones(4))


@pytest.mark.parametrize(
    "C, d, match",
    [
        (
            [[1.0], [-1.0]],
            [0.0, 0.0],
            "^C, d must describe a polytope whose largest inscribed ball .*, got 0$",
        ),
        (
            [[1.0], [-1.0]],
            [-1.0, 0.5],
            "C, d must describe a polytope whose largest inscribed ball",
        ),
        (
            [[1.0], [-1.0]],
            [1e-10, 1e-10],
            "C, d must describe a polytope whose largest inscribed ball",
        ),
        (
            [[1.0], [0.0]],
            [1.0, 1.0],
            r"^C, d must contain .*, got 1 as the largest absolute value and 1 zero rows$",
        ),
        (
            [[1.0], [math.nan]],
            [1.0, 1.0],
            r"C must be an array of finite numbers, got \[\[1.0\], \[nan\]\]",
        ),
        (
            [[1.0], [-1.0]],
            [1.0, math.inf],
            r"d must be an array of finite numbers, got \[1.0, inf\]",
        ),
        (
            [[1.0], [-1.0]],
            [1.0],
            r"C, d must have the shapes R x q x n and R x q, or q x n and q, got \(1, 2, 1\) and \(1, 1\)",
        ),
        (
            [1.0, -1.0],
            [1.0, 1.0],
            "C, d must have the shapes R x q x n and R x q, or q x n and q, got ",
        ),
        (
            np.zeros((0, 2)),
            np.zeros(0),
            "C, d must have the shapes R x q x n and R x q, or q x n and q, got ",
        ),
    ],
    ids=range(9),
)
def test_invalid_polytopes_are_rejected(C, d, match):
    with pytest.raises(ValueError, match=match):
        polytope(C, d)


def test_the_inscribed_ball_and_corners_of_a_box():
    C, d = np.vstack([np.eye(3), -np.eye(3)]), np.array([1.0, 2, 3, 1, 2, 3])
    center, rho = chebyshev_ball(C, d)
    assert rho == pytest.approx(1.0) and center[0] == pytest.approx(0.0)
    found = list_vertices(C, d)
    assert sorted(map(tuple, found.tolist())) == sorted(
        (a, b, c) for a in (-1, 1) for b in (-2, 2) for c in (-3, 3)
    )


def test_distances_between_many_vertices(monkeypatch):
    """The diameter does not depend on the blocks of vertices in which it is computed."""
    whole = packings(1, 5, 4, seed=8).D
    monkeypatch.setattr(sets_polytope, "BLOCK", 7)
    assert torch.equal(packings(1, 5, 4, seed=8).D, whole)


# ---- Matrices ----------------------------------------------------------------------------------------------

SPECTRA = {
    "random": RNG.normal(size=6),
    "repeated": [-3.0, -3.0, 1.0, 0.0, 3.0, 3.0],
    "identity": [1.0] * 6,
    "minus identity": [-1.0] * 6,
    "rank one": [0.0, 0, 0, 0, 0, 2.0],
    "positive": [1.0, 2, 3, 4, 5, 6],
}


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_oracles_over_matrices_by_their_values(spectrum):
    """With repeated eigenvalues any minimizer is valid, so values are compared: -k max |l|, k min(0, l_min), printed: k l_min."""
    values = np.array(SPECTRA[spectrum])
    Q = np.linalg.qr(RNG.normal(size=(6, 6)))[0]
    C = svec(torch.tensor(Q * values @ Q.T)[None])
    for cset, least in (
        (NuclearBall.of(6, 2.0), -2 * np.abs(values).max()),
        (NuclearBall.of(6, 2.0, exact=False), 2 * values.min()),
        (Spectrahedron.of(6, 2.0), 2 * min(0.0, values.min())),
    ):
        for rows in (1, 3):
            answers = cset.to_native(cset.lmo(C.expand(rows, -1)))
            torch.testing.assert_close(
                dot(C, answers), torch.full((rows,), least, **TKWARGS), atol=1e-9, rtol=0
            )


@pytest.mark.parametrize("most", [True, False])
@pytest.mark.parametrize(
    "kind", ["random", "identity", "minus identity", "signs", "rank one", "repeated", "zero"]
)
def test_lanczos_is_the_dense_factorization(kind, most, monkeypatch):
    monkeypatch.setitem(sets_matrix.LARGE, most, 100)
    p = 110
    values = {
        "random": RNG.normal(size=p),
        "identity": np.ones(p),
        "minus identity": -np.ones(p),
        "signs": np.where(np.arange(p) % 2, 1.0, -1.0),
        "rank one": np.eye(p)[0],
        "repeated": np.repeat(np.linspace(-1, 2, 11), 10),
        "zero": np.zeros(p),
    }[kind]
    Q = np.linalg.qr(RNG.normal(size=(p, p)))[0]
    C = torch.tensor(Q * values @ Q.T)[None]
    C = (C + C.mT) / 2
    # A batch is factored completely, without Lanczos.
    (one, v), (two, w) = (extreme_eigenpair(C, most), extreme_eigenpair(C.expand(2, -1, -1), most))
    assert abs(one.item()) == pytest.approx(abs(two[0].item()), abs=1e-8)
    for value, vector in ((one, v), (two[:1], w[:1])):
        torch.testing.assert_close(
            (C @ vector.unsqueeze(2)).squeeze(2), value.unsqueeze(1) * vector, atol=1e-8, rtol=0
        )
        assert torch.linalg.vector_norm(vector).item() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["nuclear", "trace"])
def test_matrix_projections_are_those_of_a_generic_solver(kind):
    cvxpy = pytest.importorskip(
        "cvxpy", reason="cvxpy is optional; the variational inequality is tested above"
    )
    cset = SETS[kind]
    for z in RNG.normal(size=(3, cset.dim)) * 3:
        X = cvxpy.Variable((4, 4), symmetric=True)
        Z = smat(cset.to_native(torch.tensor(z)[None]), 4)[0].numpy()
        inside = [cvxpy.normNuc(X) <= 3] if kind == "nuclear" else [X >> 0, cvxpy.trace(X) <= 3]
        cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(X - Z)), inside).solve(
            solver="SCS", eps=1e-9, max_iters=50_000
        )
        found = smat(cset.to_native(cset.project(torch.tensor(z)[None])), 4)[0]
        np.testing.assert_allclose(found, X.value, atol=1e-5)


# ---- Sets given by an oracle -------------------------------------------------------------------------------


def test_a_set_by_its_oracle():
    # The set contains the ball of radius 0.9 / sqrt(3) about the center.
    cset = oracle_set(l1_oracle, [0.1, 0.0, 0.0], 0.5)
    assert isinstance(cset, OracleSet) and cset.dim == 3 and not hasattr(cset, "project")
    torch.testing.assert_close(
        cset.to_native(cset.lmo(T([0.0, 3.0, -1.0], [-5.0, 0, 0]))), T([0.0, -1, 0], [1.0, 0, 0])
    )
    # The width is 2 along each axis, in units of 0.5; the farthest point is at 1.1 along the first axis.
    assert cset.D.item() == pytest.approx(4 * math.sqrt(3)) and cset.R.item() == pytest.approx(
        2 * math.sqrt(1.1**2 + 2)
    )
    for u in torch.nn.functional.normalize(torch.tensor(RNG.normal(size=(100, 1, 3))), dim=2):
        assert (
            1 <= support_function(cset, u).item() <= cset.R.item()
            and torch.linalg.vector_norm(cset.lmo(u) - cset.lmo(-u)).item() <= cset.D.item()
        )


def test_an_interval_by_its_oracle():
    cset = oracle_set(lambda c: np.where(c < 0, 3.0, -1.0), [1.0], 2.0)
    assert (cset.D.item(), cset.R.item(), cset.dim) == (2.0, 1.0, 1)


@pytest.mark.parametrize("n", [2, 5])
def test_diameter_and_outer_radius_of_an_oracle_set_may_be_given(n):
    """The l1 ball has D = 2 and R = 1; the bounds from the widths along the axes are sqrt(n) times as large."""
    known = oracle_set(l1_oracle, np.zeros(n), 0.25, diameter=2.0, outer=1)
    assert known.D.tolist() == [8.0] and known.R.tolist() == [4.0]
    guessed = oracle_set(l1_oracle, np.zeros(n), 0.25, outer=3.0)
    assert guessed.D.item() == pytest.approx(8 * math.sqrt(n)) and guessed.R.tolist() == [12.0]
    c = torch.ones(1, n, **TKWARGS)
    assert torch.equal(known.lmo(c), guessed.lmo(c))


@pytest.mark.parametrize(
    "told, match",
    [
        (
            {"diameter": 1.99},
            "diameter must be at least 2, which points of the set attain, got 1.99",
        ),
        ({"outer": 0.9}, "outer must be at least 1, which points of the set attain, got 0.9"),
        ({"diameter": -1.0}, r"diameter must be a positive number from 1e-30 to 1e\+30, got -1.0"),
        ({"outer": math.inf}, r"outer must be a positive number from 1e-30 to 1e\+30, got inf"),
        ({"outer": "a"}, r"outer must be a positive number from 1e-30 to 1e\+30, got 'a'"),
    ],
    ids=lambda x: str(x)[:12],
)
def test_sizes_that_points_of_the_set_exceed_are_rejected(told, match):
    with pytest.raises(ValueError, match=match):
        oracle_set(l1_oracle, np.zeros(3), 0.25, **told)


@pytest.mark.parametrize(
    "oracle, center, radius, error, match",
    [
        # maximizes instead of minimizing
        (
            lambda c: -l1_oracle(c),
            np.zeros(3),
            0.5,
            RuntimeError,
            "lmo must return points of a set with a support function from ",
        ),
        # The ball is not inside: the largest has radius 0.577.
        (
            l1_oracle,
            np.zeros(3),
            0.7,
            RuntimeError,
            "lmo must return points of a set with a support function from ",
        ),
        (
            l1_oracle,
            [0.9, 0.9, 0.9],
            0.1,
            RuntimeError,
            "lmo must return points of a set with a support function from ",
        ),
        (lambda c: c * np.nan, np.zeros(3), 0.5, RuntimeError, "3 finite numbers"),
        (
            lambda c: (
                np.full(3, np.nan) if c[0] > 1.2 * abs(c[1:]).sum() and c[1] else l1_oracle(c)
            ),
            np.zeros(3),
            0.5,
            RuntimeError,
            "3 finite numbers",
        ),  # NaN, but not along the axes
        (
            lambda c: np.zeros(2),
            np.zeros(3),
            0.5,
            ValueError,
            r"oracle must return points of shape \(3,\), as the center, got shape \(2,\)",
        ),
        (l1_oracle, [0.0, math.nan, 0.0], 0.5, ValueError, "center must be a"),
        (l1_oracle, np.zeros((1, 3)), 0.5, ValueError, "center must be a"),
        (
            l1_oracle,
            np.zeros(3),
            0.0,
            ValueError,
            r"radius must be a positive number from 1e-30 to 1e\+30, got ",
        ),
        (
            l1_oracle,
            np.zeros(3),
            math.inf,
            ValueError,
            r"radius must be a positive number from 1e-30 to 1e\+30, got ",
        ),
    ],
    ids=range(10),
)
def test_invalid_oracles_are_rejected(oracle, center, radius, error, match):
    with pytest.raises(error, match=match):
        oracle_set(oracle, center, radius)


def test_the_probe_may_miss_a_wrong_oracle_in_high_dimensions():
    class Lying(NamedTuple):
        dim: int
        R: torch.Tensor
        D: torch.Tensor
        r: float
        exact: bool
        lmo: Callable

    for p in (2, 20):
        printed = NuclearBall.of(p, 2.0, exact=False)
        check_oracle(printed)
        h = support_function(printed, -svec(torch.eye(p, **TKWARGS)[None]) / math.sqrt(p)).item()
        # The results of the printed oracle have a positive trace, so part of the ball is not below them.
        assert h == pytest.approx(-1.0)
        lying = Lying(printed.dim, printed.R, printed.D, 1.0, True, printed.lmo)
        if p == 2:
            with pytest.raises(
                RuntimeError,
                match="lmo must return points of a set with a support function from ",
            ):
                check_oracle(lying)
        else:
            check_oracle(lying)  # in 210 dimensions no random direction detects it


@every_set
def test_every_set_passes_the_probe_and_one_that_is_too_large_or_small_does_not(name):
    cset = SETS[name]
    check_oracle(cset)
    with pytest.raises(
        RuntimeError, match="lmo must return points of a set with a support function from "
    ):
        check_oracle(cset._replace(R=cset.R * 0.3))
    with pytest.raises(
        RuntimeError, match="lmo must return points of a set with a support function from "
    ):
        check_oracle(cset._replace(r=1e3))
