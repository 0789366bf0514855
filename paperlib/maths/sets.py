"""Convex sets: linear minimization oracles and projections.

A set is a NamedTuple with methods, so it can be part of a context and is sliced by trials like a tensor. Its coordinates
are normalized: the set contains the unit ball about 0 (``r`` = 1), lies in the ball of radius ``R`` about 0, and has
diameter ``D``. Every set has four methods:

- ``lmo(c)`` minimizes <c, .> over the set (linear minimization oracle).
- ``project(z, scale)`` returns the closest point of ``scale`` times the set.
- ``contains(y)`` tests whether points lie in the set.
- ``to_native(y)`` returns the user's coordinates.

``OracleSet`` is an exception, because it is defined by its linear oracle and a ball inside: it has no ``project`` and no
``contains``. An oracle must pass ``check_oracle``. Polytopes are in ``polytopes``, sets of matrices in ``matrices``.
Sets of matrices compute eigenvalues (``eigh``), which may synchronize with a GPU. Three computations run on the host, trial by
trial: projections on polytopes, the oracle of a polytope without listed vertices, and the oracle of an ``OracleSet``.
Shapes: R trials, d dimensions; a leading 1 in a set's tensors means that the trials share it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from ..core.linalg import (
    Array,
    any_on_host,
    argmax_first,
    as_numpy_if_cpu,
    as_scalar,
    as_tensors,
    can_branch_on_values,
    dot,
    has_converged,
    masked_fill,
)
from ..core.streams import Streams
from ..core.validation import LARGEST, check_array, check_positive, check_size, raise_invalid

# Maximum number of Newton steps, which prevents an endless loop; convergence takes far fewer.
STEPS = 120
# Relative size of the last Newton step. Newton converges quadratically, so the error after this step is below rounding.
LAST = 1e-8
BLOCK = (
    4  # Newton steps on a device between two tests of convergence, because each test synchronizes
)
DIRECTIONS = 64  # number of directions that ``check_oracle`` tests
# Relative tolerance for a user's oracle, which may compute in single precision.
ORACLE_ROUNDING = 1e-6


class ConvexSet(Protocol):
    """Interface of a convex set that learners use; coordinates are normalized."""

    dim: int
    r: float  # radius of a ball about 0 that the set contains
    R: Tensor  # 1 or R, radius of a ball about 0 that contains the set
    D: Tensor  # 1 or R, diameter
    exact: bool  # True if ``lmo`` is the oracle of this set; False only for ``NuclearBall`` with the printed oracle

    def lmo(self, c: Tensor) -> Tensor: ...
    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor: ...
    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor: ...
    def to_native(self, y: Tensor) -> Tensor: ...


def project_scaled(closest: Callable[[Tensor], Tensor], z: Tensor, scale: float | Tensor) -> Tensor:
    """Return the closest point of ``scale`` K, s Pi_K(z / s), given the projection ``closest`` on K; 0 K is the origin.

    ``z``: R x d; ``scale``: a number, 1 or R.
    """
    s = torch.as_tensor(scale, dtype=z.dtype, device=z.device).reshape(-1, 1)
    return s * closest(masked_fill(z / s, s <= 0, 0.0))


def scalar_tensors(*values: float, **tkwargs) -> list[Tensor]:
    """Return one tensor of one element per value, shared by all trials; in double precision unless ``dtype`` is given."""
    return [torch.full((1,), value, **{"dtype": torch.float64} | tkwargs) for value in values]


def support_function(cset: ConvexSet, u: Tensor) -> Tensor:
    """Return the support function max over the set of <u, .>, computed by its oracle. ``u``: R x d. Returns R."""
    return (u * cset.lmo(-u)).sum(-1)


class Ball(NamedTuple):
    """The unit ball of d dimensions.

    Examples:
        >>> import torch
        >>> from paperlib.maths.sets import Ball
        >>> Ball.of(2).project(torch.tensor([[0.0, 3.0]])).tolist()
        [[0.0, 1.0]]
    """

    dim: int
    R: Tensor  # 1
    D: Tensor  # 1
    r: float = 1.0
    exact: bool = True

    @classmethod
    def of(cls, dim: int, **tkwargs) -> "Ball":
        """Build the ball of ``dim`` dimensions.

        Raises:
            ValueError: ``dim`` is below 1.
        """
        return cls(check_size("dim", dim), *scalar_tensors(1.0, 2.0, **tkwargs))

    def lmo(self, c: Tensor) -> Tensor:
        """Return -c / ||c||, and -e_1 for c = 0. ``c``: R x d."""
        size, limits = c.abs().amax(-1, keepdim=True), torch.finfo(c.dtype)
        far = (size > 0) & ((size < limits.tiny**0.25) | (size > limits.max**0.25))
        c = torch.where(far, c / size, c)  # scaled, because squares could underflow or overflow
        norm = torch.linalg.vector_norm(c, dim=-1, keepdim=True)
        first = torch.zeros_like(c)
        first[:, 0] = -1.0
        return torch.where(norm > 0, -c / torch.where(norm > 0, norm, 1.0), first)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Scale points outside the ball back to its surface. ``z``: R x d."""
        return project_scaled(
            lambda z: z / torch.linalg.vector_norm(z, dim=-1, keepdim=True).clamp(min=1.0), z, scale
        )

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """Return R bool, True where the point is in the set up to ``tolerance``."""
        return torch.linalg.vector_norm(y, dim=-1) <= 1 + tolerance

    def to_native(self, y: Tensor) -> Tensor:
        """Return y, because the normalized and the user's coordinates are equal."""
        return y


class Box(NamedTuple):
    """The cube [-1, 1]^d; scaled by s it is [-s, s]^d.

    Examples:
        >>> import torch
        >>> from paperlib.maths.sets import Box
        >>> Box.of(2).lmo(torch.tensor([[0.5, -2.0]])).tolist()
        [[-1.0, 1.0]]
    """

    dim: int
    R: Tensor  # 1, sqrt(d), at the corners
    D: Tensor  # 1, 2 sqrt(d)
    r: float = 1.0
    exact: bool = True
    to_native = Ball.to_native

    @classmethod
    def of(cls, dim: int, **tkwargs) -> "Box":
        """Build the cube of ``dim`` dimensions.

        Raises:
            ValueError: ``dim`` is below 1.
        """
        dim = check_size("dim", dim)
        return cls(dim, *scalar_tensors(math.sqrt(dim), 2 * math.sqrt(dim), **tkwargs))

    def lmo(self, c: Tensor) -> Tensor:
        """Return -sign(c), and -1 where a coordinate of c is 0. ``c``: R x d."""
        return torch.where(c < 0, 1.0, -1.0).to(c)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Clip each coordinate. ``z``: R x d."""
        return project_scaled(lambda z: z.clamp(-1.0, 1.0), z, scale)

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """Return R bool, True where the point is in the set up to ``tolerance``."""
        return y.abs().amax(-1) <= 1 + tolerance


class SubSimplex(NamedTuple):
    """The sub-simplex {x >= 0, sum x <= 1} in the coordinates y = 2 n x - 1.

    Examples:
        >>> import torch
        >>> from paperlib.maths.sets import SubSimplex
        >>> simplex = SubSimplex.of(2)
        >>> simplex.to_native(simplex.lmo(torch.tensor([[1.0, -1.0]]))).tolist()
        [[0.0, 1.0]]
    """

    dim: int  # n
    R: Tensor  # 1, sqrt(4 n^2 - 3 n), at the vertex 2 n e_i - 1
    D: Tensor  # 1, 2 sqrt(2) n
    r: float = 1.0
    exact: bool = True

    @classmethod
    def of(cls, dim: int, **tkwargs) -> "SubSimplex":
        """Build the sub-simplex of ``dim`` dimensions; in one dimension it is the interval [-1, 1].

        Raises:
            ValueError: ``dim`` is below 1.
        """
        dim = check_size("dim", dim)
        far, across = math.sqrt(4 * dim**2 - 3 * dim), 2 * math.sqrt(min(2, dim)) * dim
        return cls(dim, *scalar_tensors(far, across, **tkwargs))

    def lmo(self, c: Tensor) -> Tensor:
        """Return 2 n e_i - 1 for the first least c_i if it is negative, else -1, which is x = 0. ``c``: R x n."""
        i = argmax_first(-c).unsqueeze(1)
        least = c.gather(1, i)
        return torch.full_like(c, -1.0).scatter_add(
            1, i, torch.where(least < 0, 2.0 * self.dim, 0.0).to(c)
        )

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Return the closest point, by sorting. ``z``: R x n."""
        return project_scaled(
            lambda z: 2 * self.dim * project_sub_simplex((z + 1) / (2 * self.dim)) - 1, z, scale
        )

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """Return R bool, True where the point is in the set up to ``tolerance``."""
        return (y.amin(-1) >= -1 - tolerance) & (y.sum(-1) <= self.dim + tolerance * self.dim)

    def to_native(self, y: Tensor) -> Tensor:
        """Return x = (y + 1) / (2 n)."""
        return (y + 1) / (2 * self.dim)


class OracleSet(NamedTuple):
    """K = (K' - center) / radius for a set K' that is defined by its oracle. It has no projection.

    R and D are the values given to ``oracle_set``; otherwise they are bounds from the widths along the axes.
    """

    dim: int
    oracle: Callable[[np.ndarray], np.ndarray]  # n -> n, argmin over K' of <c, .>
    center: Tensor  # 1 x n
    radius: Tensor  # 1
    R: Tensor  # 1
    D: Tensor  # 1
    r: float = 1.0
    exact: bool = True

    def lmo(self, c: Tensor) -> Tensor:
        """Return the oracle's minimizers, computed trial by trial on the host. ``c``: R x n.

        Raises:
            RuntimeError: the oracle does not return n finite numbers.
        """
        found = np.stack([_answer(self.oracle, row) for row in c.detach().cpu().numpy()])
        return (torch.from_numpy(found).to(c) - self.center) / self.radius.unsqueeze(1)

    def to_native(self, y: Tensor) -> Tensor:
        """Return x = center + radius y."""
        return self.center + self.radius.unsqueeze(1) * y


def _answer(oracle: Callable[[np.ndarray], np.ndarray], c: np.ndarray) -> np.ndarray:
    """Call the oracle; raise RuntimeError unless it returns n finite numbers. NumPy would silently broadcast another shape."""
    answer = oracle(c.copy())  # a copy, so that the oracle cannot change the learner's gradient
    try:
        found = np.asarray(answer, float)
    except (TypeError, ValueError):
        found = np.empty(())
    if found.shape != c.shape or not np.isfinite(found).all():
        raise RuntimeError(
            f"oracle must return a point of the set, {len(c)} finite numbers, got {answer!r} for c={c!r}"
        )
    return found


def oracle_set(
    oracle: Callable[[np.ndarray], np.ndarray],
    center,
    radius: float,
    diameter: float | None = None,
    outer: float | None = None,
    **tkwargs,
) -> OracleSet:
    """Build a set from its linear oracle and a ball inside.

    Args:
        oracle: function of c, n numbers, that returns a point of the set that minimizes <c, .>.
        center: center of the ball, n numbers.
        radius: radius of the ball, > 0, in the user's units.
        diameter: diameter of the set, in the units of ``radius``. With None it is bounded by the widths along the axes.
            The bound may be sqrt(n) times too large, for example for the l1 ball. Learning rates are proportional to it.
        outer: radius of a ball about the center that contains the set. With None it is bounded by the same widths.

    Raises:
        ValueError: ``oracle`` is not a function or returns another shape, a number is invalid, or points of the set exceed
            ``diameter`` or ``outer``.
        RuntimeError: the oracle's results are not finite, or its set does not contain the ball. 64 directions are tested, with
            a relative tolerance of 1e-6, so that oracles in single precision pass.

    Examples:
        >>> import numpy as np
        >>> from paperlib.maths.sets import oracle_set
        >>> square = oracle_set(lambda c: -np.sign(c), center=[0.0, 0.0], radius=1.0)
        >>> round(square.D.item(), 3)  # the diagonal
        2.828
    """
    if not callable(oracle):
        raise_invalid("oracle", oracle, "a function of n numbers")
    radius = check_positive("radius", radius)
    tkwargs = {"dtype": torch.float64} | tkwargs
    middle = np.atleast_1d(check_array("center", center))
    if middle.ndim != 1 or not len(middle) or not (abs(middle) <= LARGEST).all():
        raise_invalid(
            "center",
            center,
            f"a list of at least one finite number, each at most {LARGEST:g} in absolute value",
        )
    n = len(middle)
    try:
        shape = np.shape(oracle(np.ones(n)))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"oracle must be a function of n numbers that returns n numbers, but it raised: {error}"
        ) from error
    if shape != (n,):
        raise ValueError(
            f"oracle must return points of shape ({n},), as the center, got shape {shape}"
        )
    row = lambda x: torch.as_tensor(np.asarray(x, float), **tkwargs).reshape(1, -1)
    guess = OracleSet(n, oracle, row(middle), row(radius)[0], row(np.inf)[0], row(np.inf)[0])
    axes = torch.eye(n, **tkwargs)
    tips, feet = guess.lmo(-axes), guess.lmo(axes)  # the extreme points along the axes
    up, down = tips.diagonal(), -feet.diagonal()
    found = guess._replace(
        R=torch.linalg.vector_norm(torch.maximum(up, down)).view(1),
        D=torch.linalg.vector_norm(up + down).view(1),
    )
    points = torch.cat([tips, feet])
    reach = {
        "diameter": ("D", diameter, lambda: torch.cdist(points, points).max()),
        "outer": ("R", outer, lambda: torch.linalg.vector_norm(points, dim=1).max()),
    }
    for name, (field, value, farthest) in reach.items():
        if value is not None:
            least = radius * farthest().item()
            if check_positive(name, value) < least * (1 - ORACLE_ROUNDING):
                raise ValueError(
                    f"{name} must be at least {least:.10g}, which points of the set attain, got {value!r}"
                )
            found = found._replace(**{field: row(value / radius)[0]})
    check_oracle(found)
    return found


def check_oracle(cset: ConvexSet) -> None:
    """Check the assumption r B in K in R B with the oracle, along 64 directions of a fixed random stream.

    A set with ``exact=False`` is skipped, because its oracle belongs to another set.

    Raises:
        RuntimeError: the oracle's results are not finite, or the support function is outside [r, R].
    """
    if not cset.exact or cset.D.device.type == "meta":
        return
    R, n = len(cset.D), cset.dim
    slack = ORACLE_ROUNDING if isinstance(cset, OracleSet) else 1e-9
    for k in range(DIRECTIONS):
        u = Streams(0, [k], cset.D.device, cset.D.dtype).at(-1).sphere("probe", n).expand(R, n)
        h = support_function(cset, u)
        if not bool(h.isfinite().all()):
            raise RuntimeError("lmo must return points of the set, got numbers that are not finite")
        if not bool(((h >= cset.r - slack) & (h <= cset.R * (1 + slack) + slack)).all()):
            reach = f"{h.min().item():.10g} to {h.max().item():.10g}"
            raise RuntimeError(
                f"lmo must return points of a set with a support function from {cset.r:g} to {cset.R.max().item():.10g}, the radii of the inner and outer ball, got {reach} in one direction"
            )


def project_simplex(x: Tensor, total: float = 1.0) -> Tensor:
    """Return the closest point of {p >= 0, sum p = total}, by sorting. ``x``: R x n.

    Examples:
        >>> import torch
        >>> from paperlib.maths.sets import project_simplex
        >>> project_simplex(torch.tensor([[2.0, 0.0]])).tolist()
        [[1.0, 0.0]]
    """
    ordered = x.sort(-1, descending=True).values
    excess = (ordered.cumsum(-1) - total) / torch.arange(
        1, x.shape[-1] + 1, dtype=x.dtype, device=x.device
    )
    # At least one entry stays positive, also where the total is lost to rounding next to the largest entry.
    last = ((ordered > excess).sum(-1, keepdim=True) - 1).clamp(min=0)
    return (x - excess.gather(-1, last)).clamp(min=0.0)


def project_sub_simplex(x: Tensor, total: float = 1.0) -> Tensor:
    """Return the closest point of {p >= 0, sum p <= total}. ``x``: R x n."""
    inside = x.clamp(min=0.0)
    return torch.where(inside.sum(-1, keepdim=True) > total, project_simplex(x, total), inside)


class BallProjection(NamedTuple):
    """A point of the ball and the Lagrange multiplier of the ball's constraint (0 for points inside)."""

    point: Array  # R x d
    multiplier: Array  # R


def project_ball(point: Array, metric: Array, radius: float) -> Array:
    """Return the closest point of the Euclidean ball in the norm of a matrix, R x d; see ``ball_projection``."""
    outside = dot(point, point) > radius * radius
    if not any_on_host(outside):
        return point
    return ball_projection(point, metric, radius, outside).point


def ball_projection(
    point: Array, metric: Array, radius: float, outside: Array | None = None
) -> BallProjection:
    """Return argmin over ||x||_2 <= radius of (x - point)^T A (x - point), by Newton's method on the secular equation.

    The stationarity condition is (A + nu I) x = A point with nu >= 0 and ||x|| = radius. 1 / ||x(nu)|| is concave and
    increasing in nu. Therefore Newton's method from nu = 0 increases monotonically and never overshoots.
    On the CPU only the rows outside are computed, each until it converges. This uses NumPy, whose calls on such small
    matrices cost less than torch's. On a device all rows are computed.

    Args:
        point: R x d.
        metric: A, symmetric positive definite, R x d x d.
        radius: radius of the ball, > 0.
        outside: R bool, the rows to project; the other rows are returned bitwise unchanged.

    Examples:
        >>> import torch
        >>> from paperlib.maths.sets import ball_projection
        >>> metric = torch.diag(torch.tensor([1.0, 4.0])).double().unsqueeze(0)
        >>> x = ball_projection(torch.tensor([[2.0, 2.0]]).double(), metric, radius=1.0).point
        >>> round(x.norm().item(), 6)
        1.0
    """
    if outside is None:
        outside = dot(point, point) > radius * radius
    if isinstance(point, Tensor) and can_branch_on_values(point):
        point, metric, outside = as_numpy_if_cpu(point, metric, outside)
        return BallProjection(*as_tensors(*ball_projection(point, metric, radius, outside)))
    if isinstance(point, np.ndarray):
        closest, multiplier = point.copy(), np.zeros_like(point[:, 0])
        found, nu = _closest(point[outside], metric[outside], radius)
        closest[outside], multiplier[outside] = found, np.ravel(nu)
        return BallProjection(closest, multiplier)
    x, nu = _closest_on_device(point, metric, radius, outside)
    return BallProjection(torch.where(outside.unsqueeze(1), x, point), nu.where(outside, 0.0))


def _closest(point: np.ndarray, metric: np.ndarray, radius: float):
    """Return the projections of rows outside the ball and their multipliers (R x 1 or a number), on the CPU.

    With A = Q diag(l) Q^T and w = Q^T point, x(nu) has the coordinates l w / (l + nu).
    """
    length, basis = np.linalg.eigh(metric)
    weighted = length * (point[:, None] @ basis)[:, 0]
    column = lambda x, y: as_scalar(dot(x, y)[:, None])
    least = as_scalar(length[:, :1])
    nu = least * 0.0
    moves = nu == 0
    for _ in range(STEPS):
        bent = length + nu
        x = weighted / bent
        square = column(x, x)
        # nu += (1/S - 1/n) / (p / n^3) with n = ||x(nu)||, p = sum x_i^2 / (l_i + nu)
        step = (np.sqrt(square) / radius - 1.0) * square / column(x, x / bent)
        # A converged row stays fixed. Therefore a trial gives the same result alone and in a batch.
        step = step * moves
        nu = nu + step
        moves = step > LAST * (least + nu)  # relative to the least eigenvalue of A + nu I
        if not np.any(moves):
            break
    x = weighted / (length + nu)
    # The last error in nu leaves ||x|| slightly off; rescaling puts x on the sphere.
    x = x * (radius / np.sqrt(column(x, x)))
    return (basis @ x[..., None])[..., 0], abs(nu)  # nu can be negative by rounding only


def _closest_on_device(point: Tensor, metric: Tensor, radius: float, outside: Tensor):
    """Solve the same equation with Cholesky factors of A + nu I, which need no synchronization.

    After each block of ``BLOCK`` Newton steps one synchronization tests whether the last step still moved a point.
    Converged rows are fixed points.
    """
    eye = torch.eye(point.shape[1], dtype=point.dtype, device=point.device)
    norm = lambda x: torch.linalg.vector_norm(x, dim=1, keepdim=True)
    x = point.unsqueeze(2)
    target = torch.bmm(metric, x)
    nu, factor = torch.zeros_like(x[:, :1]), torch.linalg.cholesky_ex(metric).L
    for _ in range(STEPS // BLOCK):
        for _ in range(BLOCK):
            # nu += (n/S - 1) n^2 / p with n = ||x(nu)||, p = x^T (A + nu I)^{-1} x = ||y||^2
            n, y = norm(x), torch.linalg.solve_triangular(factor, x, upper=False)
            nu = torch.addcmul(nu, n - radius, (n / norm(y)).square(), value=1 / radius)
            factor = torch.linalg.cholesky_ex(torch.addcmul(metric, nu, eye)).L
            last, x = x, torch.cholesky_solve(target, factor)
        moves = norm(x - last)[:, 0, 0] > LAST * radius
        if has_converged(moves & outside):
            break
    return (x * (radius / norm(x)))[..., 0], nu[:, 0, 0]
