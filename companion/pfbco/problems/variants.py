"""Variants of a problem: with generic solvers instead of closed forms for its set, or with the constant loss M.

Shapes: R trials, n dimensions.
"""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from paperlib.core.contracts import Problem
from paperlib.core.describe import frozen_dataclass
from paperlib.core.extras import extra
from paperlib.core.streams import Draw
from paperlib.core.validation import check_in, raise_invalid
from paperlib.maths.matrices import NuclearBall, smat, svec
from paperlib.maths.polytopes import LinearProgram, Polytope
from paperlib.maths.sets import SubSimplex, project_scaled
from paperlib.pfbco.model import Task

ACCURACY = 1e-4  # tolerance of SCS, absolute and relative; Clarabel keeps its default, about 1e-8


def has_solvers() -> bool:
    """Return whether cvxpy and HiGHS, which are optional, are installed."""
    return all(find_spec(name) is not None for name in ("cvxpy", "highspy"))


class SolverSet(NamedTuple):
    """A set without closed forms: linear functions are minimized by HiGHS and points projected by cvxpy, trial by trial.

    Each program is set up once and solved again with new numbers. On matrices the oracle remains the eigenvector, because
    minimizing a linear function over them is not a linear program.
    """

    inner: Polytope | SubSimplex | NuclearBall

    def __getattr__(self, name: str) -> Any:
        """Return the dimension, the radii and the other members of the set that need no solver."""
        return getattr(self.inner, name)

    def lmo(self, c: Tensor) -> Tensor:
        """Return a vertex that minimizes <c, .>, by a linear program. ``c``: R x n."""
        if isinstance(self.inner, NuclearBall):
            return self.inner.lmo(c)
        return self._asked(lambda *rows: LinearProgram.of(*rows).solve, c)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Return the closest point by a convex program: Clarabel, or SCS for matrices. ``z``: R x n."""
        return project_scaled(self._closest, z, scale)

    def _closest(self, z: Tensor) -> Tensor:
        if not isinstance(self.inner, NuclearBall):
            return self._asked(_onto_polytope, z)
        # The nuclear norm of cvxpy needs the matrices, not their coordinates.
        solve = _onto_matrices(self.inner.p, self.inner.k / self.inner.rho)
        found = [solve(Z) for Z in smat(z, self.inner.p).cpu().numpy()]
        return svec(torch.from_numpy(np.stack(found)).to(z))

    def _asked(self, solver: Callable[..., Callable], x: Tensor) -> Tensor:
        """Return ``solver(C, e, n)(x)``, computed trial by trial on the host. ``x``: R x n."""
        found = [solver(*self._rows(i), self.dim)(row) for i, row in enumerate(x.cpu().numpy())]
        return torch.from_numpy(np.stack(found)).to(x)

    def _rows(self, i: int) -> tuple[bytes, bytes]:
        """Return C and e of a trial's set {y: C y <= e}, as bytes."""
        if isinstance(self.inner, SubSimplex):
            return _sub_simplex_rows(self.dim)
        parts = self.inner.normals, self.inner.offsets
        return tuple(x[i % len(x)].cpu().numpy().tobytes() for x in parts)


@functools.lru_cache(maxsize=8)
def _sub_simplex_rows(n: int) -> tuple[bytes, bytes]:
    """Return C and e of y_i >= -1, sum y <= n, as bytes."""
    return np.vstack([-np.eye(n), np.ones(n)]).tobytes(), np.append(np.ones(n), float(n)).tobytes()


@functools.lru_cache(maxsize=64)
def _onto_polytope(C: bytes, e: bytes, n: int) -> Callable[[np.ndarray], np.ndarray]:
    e = np.frombuffer(e)
    rows = scipy.sparse.csr_array(np.frombuffer(C).reshape(len(e), n))
    return _projection((n,), lambda cvxpy, y: [rows @ y <= e], solver="CLARABEL")


@functools.lru_cache(maxsize=8)
def _onto_matrices(p: int, k: float) -> Callable[[np.ndarray], np.ndarray]:
    within = lambda cvxpy, X: [cvxpy.normNuc(X) <= k]
    return _projection((p, p), within, solver="SCS", eps_abs=ACCURACY, eps_rel=ACCURACY)


def _projection(
    shape: tuple[int, ...], within: Callable[[Any, Any], list], **options
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the projection on the constraints ``within(cvxpy, x)``, set up once; matrices are symmetric."""
    with extra("solvers", "SolverSet"):
        import cvxpy
    x, z = cvxpy.Variable(shape, symmetric=len(shape) == 2), cvxpy.Parameter(shape)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x - z)), within(cvxpy, x))

    def solve(value: np.ndarray) -> np.ndarray:
        z.value = value
        problem.solve(**options)
        if problem.status != "optimal":
            raise RuntimeError(
                f"the status of the projection must be 'optimal', got {problem.status!r} from the solver {options['solver']}"
            )
        return np.asarray(x.value)

    return solve


@frozen_dataclass
class _Variant:
    """A problem that differs from a base problem in its set or in its losses.

    Attributes:
        problem: the base problem; its instance has a field ``task``.

    Raises:
        ValueError: an object that is not a problem.
    """

    problem: Problem

    def __post_init__(self):
        if isinstance(self.problem, type) or not hasattr(self.problem, "respond"):
            raise_invalid("problem", self.problem, "a problem, which is an instance with respond")

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> Any:
        """Return the instance of the base problem."""
        return self.problem.init(trials, horizon, draw, **tkwargs)

    def context(self, instance: Any, t: int) -> Task:
        """Return the context of the base problem."""
        return self.problem.context(instance, t)

    def respond(
        self, instance: Any, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the feedback and the gap of the base problem."""
        return self.problem.respond(instance, t, action, wants, draw)


@frozen_dataclass
class Solved(_Variant):
    """A problem with the same losses and bounds, with linear minimization and projections by generic solvers.

    A projection raises ImportError if cvxpy is not installed.
    """

    def context(self, instance: Any, t: int) -> Task:
        """Return the context of the base problem with its set as a ``SolverSet``."""
        task = super().context(instance, t)
        return task._replace(cset=SolverSet(task.cset))


@frozen_dataclass
class Loud(_Variant):
    """A problem on the same sets with the constant loss M.

    Its one-point estimates have the largest possible norm and carry no information.
    """

    def respond(
        self, instance: Any, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return M, R, or the gradient 0, R x n; and a regret of 0, because all points have the same loss."""
        check_in("wants", wants, ("loss", "gradient"))
        loss = instance.task.loss_bound.expand(len(action)).clone()
        return (loss if wants == "loss" else torch.zeros_like(action)), torch.zeros_like(loss)
