"""Polytopes {x: C x <= d}, moved and scaled so that their largest inscribed ball is the unit ball about 0.

Shapes: R trials, n dimensions, q constraints, V vertices (the longest list; shorter ones repeat their last vertex).
Three computations run on the host: linear programs (``LinearProgram``), vertex enumeration (Qhull), and projections (an
active-set method, trial by trial). The oracle over listed vertices is one matrix product and a search, on any device.
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

BIGGEST = 1e300  # largest number in C or d, so that the norm of a row is finite, too
MOST = 20_000  # largest number of vertices; above it the oracle solves one linear program per call
# Largest dimension where vertices are listed. A box of 20 dimensions has 10^6 vertices, and Qhull takes a minute before they
# can be counted.
LISTED = 12
BLOCK = 1024  # number of vertices whose distances to all others are in memory at once
NARROWEST = 1e-9  # smallest inscribed radius of a nonempty interior


class Polytope(NamedTuple):
    """Polytope K = {y: C y <= e} in normalized coordinates, with x = center + rho y. Build it with ``polytope``."""

    dim: int
    normals: Tensor  # R x q x n, rows of C, each of norm 1
    offsets: Tensor  # R x q, e = (d - C center) / rho
    vertices: Tensor  # R x V x n; if V = 0, the oracle solves a linear program
    center: Tensor  # R x n, Chebyshev center
    rho: Tensor  # R, Chebyshev radius
    R: Tensor  # R, radius of a ball about 0 that contains K
    D: Tensor  # R, diameter
    r: float = 1.0
    exact: bool = True

    def lmo(self, c: Tensor) -> Tensor:
        """Return the first vertex that minimizes <c, .> up to rounding. ``c``: R x n.

        For c = 0 it is vertices[0], or the vertex of the first basis if a linear program is solved.
        """
        if self.vertices.shape[1] == 0:
            return self._solved(minimizing_vertex, c)
        if self.vertices.shape[0] == 1:
            return self.vertices[0].index_select(0, argmax_first(-(c @ self.vertices[0].mT)))
        i = argmax_first(-torch.bmm(self.vertices, c.unsqueeze(2)).squeeze(2))
        return self.vertices.gather(1, i.view(-1, 1, 1).expand(-1, 1, self.dim)).squeeze(1)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Return the exact closest point; computed on the host. ``z``: R x n."""
        return project_scaled(functools.partial(self._solved, project_polytope), z, scale)

    def _solved(self, solve: Callable[..., np.ndarray], x: Tensor) -> Tensor:
        """Return ``solve(C, e, x)``, computed on the host, trial by trial. ``x``: R x n."""
        C, e, rows = (part.detach().cpu().numpy() for part in (self.normals, self.offsets, x))
        found = [solve(C[i % len(C)], e[i % len(C)], row) for i, row in enumerate(rows)]
        return torch.from_numpy(np.stack(found)).to(x)

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """Return R bool, True where the point is in the set up to ``tolerance``."""
        return ((self.normals @ y.unsqueeze(2)).squeeze(2) - self.offsets).amax(1) <= tolerance

    def to_native(self, y: Tensor) -> Tensor:
        """Return x = center + rho y."""
        return self.center + self.rho.unsqueeze(1) * y


def project_polytope(C: np.ndarray, e: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return argmin over {y: C y <= e} of ||y - z||, by Lawson and Hanson's least-distance programming.

    A distant point loses digits to rounding, so its projection is projected once more. The relative error of the distance is
    1e-8 at 10^6 inscribed radii and 1e-4 at 10^10. Beyond that, the result lies in the set, but is not the closest point.
    Source: Lawson & Hanson, Solving Least Squares Problems (1974), chapter 23.

    Args:
        C: normals, q x n.
        e: offsets, q.
        z: the point to project, n.

    Examples:
        >>> import numpy as np
        >>> from paperlib.maths.polytopes import project_polytope
        >>> C = np.vstack([np.eye(2), -np.eye(2)])  # the square [-1, 1]^2
        >>> project_polytope(C, np.ones(4), np.array([3.0, 0.5])).round(6).tolist()
        [1.0, 0.5]
    """
    for _ in range(2):
        over = C @ z - e
        far = over.max()
        if far <= 1e-12:
            break
        # We measure in units of the violation, because the last residual falls as 1 / distance^2.
        E = np.vstack([-C.T, over / far])
        f = np.zeros(len(E))
        f[-1] = 1.0
        u, _ = nnls(E, f)
        residual = E @ u - f
        z = z - far * residual[:-1] / residual[-1]
    return z


def chebyshev_ball(C: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the Chebyshev center and radius of {x: C x <= d}, the largest ball inside, by a linear program.

    ``C``: q x n; ``d``: q.

    Raises:
        ValueError: the largest ball inside has a radius of at most 1e-9, or the radius is unbounded.

    Examples:
        >>> import numpy as np
        >>> from paperlib.maths.polytopes import chebyshev_ball
        >>> C = np.vstack([np.eye(2), -np.eye(2)])
        >>> round(chebyshev_ball(C, np.array([4.0, 2.0, 0.0, 0.0]))[1], 6)  # the rectangle [0, 4] x [0, 2]
        1.0
    """
    # The variables are the center x and the radius r: maximize r subject to <C_i, x> + r ||C_i|| <= d_i.
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
        raise ValueError("C, d must describe a bounded polytope, got an unbounded one")
    if found.status != 0 or found.x[-1] <= NARROWEST:
        raise ValueError(
            f"C, d must describe a polytope whose largest inscribed ball has a radius above {NARROWEST:g}, got {max(0.0, found.x[-1]) if found.status == 0 else 0:g}"
        )
    return found.x[:-1], float(found.x[-1])


def list_vertices(C: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the vertices of {y: C y <= e}, V x n, by Qhull, unique to 1e-10. The origin must lie inside.

    Raises:
        ValueError: the polytope is unbounded, or so degenerate that Qhull fails.
    """
    if C.shape[1] == 1:  # Qhull needs at least two dimensions
        ends = e / C[:, 0]
        found = np.array(
            [[ends[C[:, 0] < 0].max(initial=-math.inf)], [ends[C[:, 0] > 0].min(initial=math.inf)]]
        )
    else:
        try:
            # Vertices at infinity raise an error below.
            with np.errstate(divide="ignore", invalid="ignore"):
                found = HalfspaceIntersection(
                    np.column_stack([C, -e]), np.zeros(C.shape[1])
                ).intersections
        except QhullError as error:
            raise ValueError(
                f"C, d must describe a bounded polytope, but Qhull found no vertices ({str(error).splitlines()[0]})"
            ) from error
    if not (abs(found) <= LARGEST).all():  # also False for numbers that are not finite
        raise ValueError(
            f"C, d must describe a bounded polytope that extends at most {LARGEST:g} times its inscribed radius, got a larger or unbounded one"
        )
    return np.unique(found.round(10) + 0.0, axis=0)


def polytope(C, d, *, most: int = MOST, **tkwargs) -> Polytope:
    """Build the polytopes {x: C x <= d} of R trials in normalized coordinates.

    Args:
        C: R x q x n, or q x n for a polytope that all trials share.
        d: R x q, or q.
        most: largest number of vertices to store. With more vertices, or above 12 dimensions, where vertices are not listed,
            the oracle solves linear programs, and D and R are upper bounds. With 0 it always does.

    Raises:
        ValueError: the shapes do not match, numbers are not finite, a row of C is zero, the interior is empty, or the set is
            unbounded.

    Examples:
        >>> import torch
        >>> from paperlib.maths.polytopes import polytope
        >>> triangle = polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])  # x >= 0, x_1 + x_2 <= 1
        >>> triangle.vertices.shape[1]
        3
        >>> y = triangle.lmo(torch.tensor([[-1.0, 0.0]], dtype=torch.float64))
        >>> triangle.to_native(y).round(decimals=6).abs().tolist()
        [[1.0, 0.0]]
    """
    most = check_integer("most", most, least=0)
    C, d = (check_array(name, x) for name, x in (("C", C), ("d", d)))
    C, d = (C[None], d[None]) if C.ndim == 2 and d.ndim == 1 else (C, d)
    if C.ndim != 3 or C.shape[:2] != d.shape or 0 in C.shape:
        raise ValueError(
            f"C, d must have the shapes R x q x n and R x q, or q x n and q, got {C.shape} and {d.shape}"
        )
    if not all((abs(x) <= BIGGEST).all() for x in (C, d)) or (C == 0).all(2).any():
        raise ValueError(
            f"C, d must contain numbers of at most {BIGGEST:g} in absolute value, and each row of C at least one number other than 0, got {max(float(abs(C).max()), float(abs(d).max())):g} as the largest absolute value and {int((C == 0).all(2).sum())} zero rows"
        )
    # The size is divided out first, because squares could underflow or overflow.
    size = np.abs(C).max(axis=2, keepdims=True)
    length = size * np.linalg.norm(C / size, axis=2, keepdims=True)
    with np.errstate(over="ignore"):  # an overflow raises an error below
        # Tolerances are absolute. Therefore each row is scaled to norm 1, so that its unit does not matter.
        C, d = C / length, d / length[:, :, 0]
    if not (abs(d) <= LARGEST).all():
        raise ValueError(
            f"C, d must describe constraints at a distance of at most {LARGEST:g} from 0, got {abs(d).max():g}"
        )
    offsets, vertices, *rest = zip(*(_one(c, b, most) for c, b in zip(C, d)))
    # If one trial has no listed vertices, all trials use linear programs.
    longest = max(map(len, vertices)) if all(map(len, vertices)) else 0
    pad = lambda v: (
        np.concatenate([v, np.repeat(v[-1:], longest - len(v), 0)]) if longest else v[:0]
    )
    stack = lambda values: torch.as_tensor(np.stack(values), **tkwargs)
    return Polytope(C.shape[2], *map(stack, (C, offsets, [*map(pad, vertices)], *rest)))


def _one(C: np.ndarray, d: np.ndarray, most: int) -> tuple[np.ndarray | float, ...]:
    """Return the fields of one trial's ``Polytope`` from ``offsets`` to ``D``."""
    center, rho = chebyshev_ball(C, d)
    offsets = (d - C @ center) / rho
    n = C.shape[1]
    vertices = list_vertices(C, offsets) if most and n <= LISTED else np.empty((0, n))
    if 0 < len(vertices) <= most:
        square = (vertices**2).sum(1)
        apart = max(
            (square[i : i + BLOCK, None] + square - 2 * vertices[i : i + BLOCK] @ vertices.T).max()
            # We go through blocks, because all pairs of 20,000 vertices need too much memory at once.
            for i in range(0, len(vertices), BLOCK)
        )
        return offsets, vertices, center, rho, np.sqrt(square.max()), np.sqrt(apart)
    # Without vertices we use the bounding box: its diagonal bounds the diameter, and its farthest corner the radius.
    high, low = (
        np.array([sign * _least(C, offsets, sign * row) for row in np.eye(n)])
        for sign in (-1.0, 1.0)
    )
    far, across = np.linalg.norm(np.maximum(high, -low)), np.linalg.norm(high - low)
    return offsets, np.empty((0, n)), center, rho, far, across


def _least(C: np.ndarray, e: np.ndarray, c: np.ndarray) -> float:
    found = linprog(c, C, e, bounds=[(None, None)] * len(c), method="highs")
    if found.status != 0:  # The program is feasible, because 0 is inside.
        raise ValueError("C, d must describe a bounded polytope, got an unbounded one")
    return found.fun


class LinearProgram:
    """Solver of min <c, y> over {y: C y <= e}; with highspy every call starts from the same basis.

    The basis belongs to the minimizer of a fixed generic c and is computed once. If the solver started from the basis of the
    previous call, its result on a face with several minimizers would depend on the previous c. Then a run of a learner
    would depend on the programs solved before it.

    Examples:
        >>> import numpy as np
        >>> from paperlib.maths.polytopes import LinearProgram
        >>> square = LinearProgram(np.vstack([np.eye(2), -np.eye(2)]), np.ones(4))
        >>> square.solve(np.array([1.0, -2.0])).tolist()
        [-1.0, 1.0]
    """

    def __init__(self, C: np.ndarray, e: np.ndarray):
        self.C, self.e, self.solver, self.basis = C, e, None, None
        q, n = C.shape
        # This direction is parallel to no axis, so that its minimizer is a single vertex.
        generic = np.cos(np.arange(n) ** 2 + 1.0)
        try:
            import highspy
        except ImportError:
            self.first = self._minimize(generic)
            return  # without highspy, scipy solves every program from scratch
        self.solver, self.columns = highspy.Highs(), np.arange(n, dtype=np.int32)
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        # The variables are unbounded, and the rows have upper bounds only.
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
        """Return the cached program of a polytope."""
        e = np.frombuffer(e)
        return cls(np.frombuffer(C).reshape(len(e), n), e)

    def solve(self, c: np.ndarray) -> np.ndarray:
        """Return a minimizing vertex, n. Equal c give equal vertices; c = 0 gives the vertex of the first basis.

        Raises:
            RuntimeError: the solver fails.
        """
        size = np.abs(c).max()
        # The solver's tolerances are absolute, so c is scaled to size 1.
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
    """Return a vertex that minimizes <c, .> over {y: C y <= e}, n, with the polytope's cached ``LinearProgram``."""
    return LinearProgram.of(C.tobytes(), e.tobytes(), len(c)).solve(c)
