"""Polytopes {x: C x <= d}, moved and scaled so that their largest inscribed ball is the unit ball about 0.

Shapes: R trials, n dimensions, q constraints, V vertices (the longest list; shorter ones repeat their last vertex).
Work on the host: linear programs (``LinearProgram``), Qhull's vertices and projections (an active-set method, trial by
trial). The oracle over vertices is one product and a search, on any device.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import linprog, nnls
from scipy.spatial import HalfspaceIntersection, QhullError
from torch import Tensor

from ..core.linalg import argmax_first
from ..core.validation import LARGEST, check_array, check_integer
from .sets import project_scaled

BIGGEST = 1e300  # number in C or d, whose row's length is one, too
MOST = 20_000  # vertices; above it the oracle solves a linear program a call
LISTED = 12  # dimensions; above it vertices are not listed: a box of 20 has 10^6, over which Qhull takes a minute before they can be counted
BLOCK = 1024  # vertices whose distances to all are held at once
NARROWEST = 1e-9  # inscribed radius below which the interior counts as empty


class Polytope(NamedTuple):
    """K = {y: C y <= e}, with x = center + rho y."""

    dim: int
    normals: Tensor  # R x q x n, rows of C, each of length 1
    offsets: Tensor  # R x q, e = (d - C center) / rho
    vertices: Tensor  # R x V x n; V = 0: the oracle solves a linear program
    center: Tensor  # R x n, Chebyshev center
    rho: Tensor  # R, its radius
    R: Tensor  # R
    D: Tensor  # R
    r: float = 1.0
    exact: bool = True

    def lmo(self, c: Tensor) -> Tensor:
        """The first vertex of least <c, .> up to rounding; vertices[0] for c = 0, or a program's own. ``c``: R x n."""
        if self.vertices.shape[1] == 0:
            return self._solved(minimizing_vertex, c)
        if self.vertices.shape[0] == 1:
            return self.vertices[0].index_select(0, argmax_first(-(c @ self.vertices[0].mT)))
        i = argmax_first(-torch.bmm(self.vertices, c.unsqueeze(2)).squeeze(2))
        return self.vertices.gather(1, i.view(-1, 1, 1).expand(-1, 1, self.dim)).squeeze(1)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Closest point, exact, on the host. ``z``: R x n."""
        return project_scaled(functools.partial(self._solved, project_polytope), z, scale)

    def _solved(self, solve: Callable[..., np.ndarray], x: Tensor) -> Tensor:
        """``solve(C, e, x)`` on the host, trial by trial. ``x``: R x n."""
        C, e, rows = (part.detach().cpu().numpy() for part in (self.normals, self.offsets, x))
        found = [solve(C[i % len(C)], e[i % len(C)], row) for i, row in enumerate(rows)]
        return torch.from_numpy(np.stack(found)).to(x)

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """R bool."""
        return ((self.normals @ y.unsqueeze(2)).squeeze(2) - self.offsets).amax(1) <= tolerance

    def to_native(self, y: Tensor) -> Tensor:
        """x = center + rho y."""
        return self.center + self.rho.unsqueeze(1) * y


def project_polytope(C: np.ndarray, e: np.ndarray, z: np.ndarray) -> np.ndarray:
    """argmin over {y: C y <= e} of ||y - z||, by Lawson and Hanson's least-distance programming.

    A point far away loses digits to rounding: its answer is projected once more. What it gives up of the distance is
    1e-8 of it at 10^6 inscribed radii and 1e-4 at 10^10; beyond, the answer lies in the set, but is not the closest.
    Source: Lawson & Hanson, Solving Least Squares Problems (1974), chapter 23.

    Args:
        C: q x n.
        e: q.
        z: n.
    """
    for _ in range(2):
        over = C @ z - e
        far = over.max()
        if far <= 1e-12:
            break
        # in units of the violation: the last residual falls as 1 / distance^2
        E = np.vstack([-C.T, over / far])
        f = np.zeros(len(E))
        f[-1] = 1.0
        u, _ = nnls(E, f)
        residual = E @ u - f
        z = z - far * residual[:-1] / residual[-1]
    return z


def chebyshev_ball(C: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, float]:
    """Chebyshev center and radius of {x: C x <= d}: the largest ball inside, by a linear program. ``C``: q x n; ``d``: q.

    Raises:
        ValueError: no ball of radius above 1e-9 fits, or balls of any radius do.
    """
    n = C.shape[1]
    cost = np.zeros(n + 1)
    cost[-1] = -1.0
    found = linprog(
        cost,
        np.column_stack([C, np.linalg.norm(C, axis=1)]),
        d,
        bounds=[(None, None)] * n + [(0, None)],
        method="highs",
    )
    if found.status == 3:
        raise ValueError("C, d: the polytope is unbounded; allowed: bounded ones")
    if found.status != 0 or found.x[-1] <= NARROWEST:
        raise ValueError(
            f"C, d: the largest ball inside has radius {found.x[-1] if found.status == 0 else 0:g}; allowed: a radius above {NARROWEST:g}"
        )
    return found.x[:-1], float(found.x[-1])


def list_vertices(C: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Vertices of {y: C y <= e} with 0 inside, V x n, by Qhull, unique to 1e-10.

    Raises:
        ValueError: unbounded, or so degenerate that Qhull gives up.
    """
    if C.shape[1] == 1:  # Qhull wants two dimensions
        ends = e / C[:, 0]
        found = np.array(
            [[ends[C[:, 0] < 0].max(initial=-math.inf)], [ends[C[:, 0] > 0].min(initial=math.inf)]]
        )
    else:
        try:
            # vertices at infinity are refused below
            with np.errstate(divide="ignore", invalid="ignore"):
                found = HalfspaceIntersection(
                    np.column_stack([C, -e]), np.zeros(C.shape[1])
                ).intersections
        except QhullError as error:
            raise ValueError(
                f"C, d: Qhull finds no vertices ({str(error).splitlines()[0]}); allowed: bounded polytopes"
            ) from error
    if not (abs(found) <= LARGEST).all():  # nor what is not finite
        raise ValueError(
            f"C, d: the polytope is unbounded, or reaches beyond {LARGEST:g} of its inscribed radius; allowed: bounded ones"
        )
    return np.unique(found.round(10) + 0.0, axis=0)


def polytope(C, d, *, most: int = MOST, **tkwargs) -> Polytope:
    """The polytopes {x: C x <= d} of R trials, in normalized coordinates.

    Args:
        C: R x q x n, or q x n for one that the trials share.
        d: R x q, or q.
        most: with more vertices than this, or above 12 dimensions, where none are listed, the oracle solves linear
            programs, and D and R are upper bounds; 0: always so.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, a constraint without a normal, an empty interior, or an unbounded set.
    """
    most = check_integer("most", most, least=0)
    C, d = (check_array(name, x) for name, x in (("C", C), ("d", d)))
    C, d = (C[None], d[None]) if C.ndim == 2 and d.ndim == 1 else (C, d)
    if C.ndim != 3 or C.shape[:2] != d.shape or 0 in C.shape:
        raise ValueError(
            f"C: {C.shape}, d: {d.shape}; allowed: R x q x n and R x q, or q x n and q"
        )
    if not all((abs(x) <= BIGGEST).all() for x in (C, d)) or (C == 0).all(2).any():
        raise ValueError(
            f"C, d: a number beyond {BIGGEST:g} or a row of C is 0; allowed: smaller numbers and rows with a normal"
        )
    size = np.abs(C).max(axis=2, keepdims=True)  # first: squares would under- or overflow
    length = size * np.linalg.norm(C / size, axis=2, keepdims=True)
    with np.errstate(over="ignore"):  # to what is refused below
        # tolerances are absolute: a row's unit must not matter
        C, d = C / length, d / length[:, :, 0]
    if not (abs(d) <= LARGEST).all():
        raise ValueError(
            f"C, d: a constraint is {abs(d).max():g} away from 0; allowed: up to {LARGEST:g}"
        )
    offsets, vertices, *rest = zip(*(_one(c, b, most) for c, b in zip(C, d)))
    # where one trial's are not listed, none are
    longest = max(map(len, vertices)) if all(map(len, vertices)) else 0
    pad = lambda v: (
        np.concatenate([v, np.repeat(v[-1:], longest - len(v), 0)]) if longest else v[:0]
    )
    stack = lambda values: torch.as_tensor(np.stack(values), **tkwargs)
    return Polytope(C.shape[2], *map(stack, (C, offsets, [*map(pad, vertices)], *rest)))


def _one(C: np.ndarray, d: np.ndarray, most: int) -> tuple[np.ndarray | float, ...]:
    """Of one trial's polytope all but C, as ``Polytope`` has it."""
    center, rho = chebyshev_ball(C, d)
    offsets = (d - C @ center) / rho
    n = C.shape[1]
    vertices = list_vertices(C, offsets) if most and n <= LISTED else np.empty((0, n))
    if 0 < len(vertices) <= most:
        square = (vertices**2).sum(1)
        apart = max(
            (square[i : i + BLOCK, None] + square - 2 * vertices[i : i + BLOCK] @ vertices.T).max()
            for i in range(0, len(vertices), BLOCK)  # not all pairs of 20 000 at once
        )
        return offsets, vertices, center, rho, np.sqrt(square.max()), np.sqrt(apart)
    # A box around: a width a coordinate bounds the diameter, its farthest corner the radius.
    high, low = (
        np.array([sign * _least(C, offsets, sign * row) for row in np.eye(n)])
        for sign in (-1.0, 1.0)
    )
    far, across = np.linalg.norm(np.maximum(high, -low)), np.linalg.norm(high - low)
    return offsets, np.empty((0, n)), center, rho, far, across


def _least(C: np.ndarray, e: np.ndarray, c: np.ndarray) -> float:
    found = linprog(c, C, e, bounds=[(None, None)] * len(c), method="highs")
    if found.status != 0:  # 0 is inside, so that there is no other reason
        raise ValueError("C, d: the polytope is unbounded; allowed: bounded ones")
    return found.fun


class LinearProgram:
    """min <c, y> over {y: C y <= e}; with highspy each c starts from one basis.

    That basis is of the vertex for a c of its own, found once: started from the last answer's, a solver would return
    another minimizer of a face after another c, and a learner's run would hang on what was solved before it.
    """

    def __init__(self, C: np.ndarray, e: np.ndarray):
        self.C, self.e, self.solver, self.basis = C, e, None, None
        q, n = C.shape
        generic = np.cos(np.arange(n) ** 2 + 1.0)  # along no axis: its minimizer is one vertex
        try:
            import highspy
        except ImportError:
            self.first = self._minimize(generic)
            return  # scipy's, from scratch each time
        self.solver, self.columns = highspy.Highs(), np.arange(n, dtype=np.int32)
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        # variables without bounds, and rows with upper ones only
        anywhere, below = np.full(n, math.inf), np.full(q, -math.inf)
        self.solver.addVars(n, -anywhere, anywhere)
        places = np.tile(self.columns, q)
        starts = n * np.arange(q, dtype=np.int32)
        self.solver.addRows(q, below, e, q * n, starts, places, C.ravel())
        self.first = self._minimize(generic)
        self.basis = self.solver.getBasis()

    @classmethod
    @functools.lru_cache(maxsize=256)
    def of(cls, C: bytes, e: bytes, n: int) -> "LinearProgram":
        """The program of a polytope, kept from call to call."""
        e = np.frombuffer(e)
        return cls(np.frombuffer(C).reshape(len(e), n), e)

    def solve(self, c: np.ndarray) -> np.ndarray:
        """A minimizer, n: a vertex, the same for the same c; for c = 0 that of the first basis.

        Raises:
            RuntimeError: the solver fails.
        """
        size = np.abs(c).max()
        # its tolerances are absolute
        return self._minimize(c / size) if size > 0 else self.first.copy()

    def _minimize(self, c: np.ndarray) -> np.ndarray:
        if self.solver is None:
            found = linprog(c, self.C, self.e, bounds=[(None, None)] * len(c), method="highs")
            if found.status != 0:
                raise RuntimeError(f"the linear program fails: {found.message}")
            return found.x
        self.solver.changeColsCost(len(c), self.columns, np.ascontiguousarray(c))
        if self.basis is not None:
            self.solver.setBasis(self.basis)
        self.solver.run()
        status = self.solver.modelStatusToString(self.solver.getModelStatus())
        if status != "Optimal":
            raise RuntimeError(f"the linear program fails: {status}")
        return np.array(self.solver.getSolution().col_value)


def minimizing_vertex(C: np.ndarray, e: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A vertex of least <c, .> over {y: C y <= e}, n, by the polytope's ``LinearProgram``."""
    return LinearProgram.of(C.tobytes(), e.tobytes(), len(c)).solve(c)
