"""Convex sets of the arena: the context of the continuous field, uniform points, and problems on these sets.

Points are in the normalized coordinates of ``paperlib.maths.sets``: a set contains the unit ball around 0.
Shapes: R trials, d dimensions; a leading 1 means that the trials share a tensor.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.stats import ortho_group
from torch import Tensor

from paperlib.core import fields
from paperlib.core.contracts import Problem
from paperlib.core.describe import frozen_dataclass
from paperlib.core.linalg import dot
from paperlib.core.streams import Draw
from paperlib.core.validation import check_in, raise_invalid
from paperlib.learners.reference import NoState, ReferenceRule
from paperlib.maths.bounds import Bounds
from paperlib.maths.matrices import Spectrahedron, svec
from paperlib.maths.sets import Ball, Box, ConvexSet, SubSimplex, support_function
from paperlib.nsbco.problems.paths import STATIONARY, Path


class Region(NamedTuple):
    """Context of a round: a set, which all trials share, and the smallest box around it."""

    cset: ConvexSet
    bounds: Bounds

    @classmethod
    def of(cls, cset: ConvexSet) -> "Region":
        """Return the region of a set."""
        axes = torch.eye(cset.dim, dtype=cset.D.dtype, device=cset.D.device)
        sides = (-support_function(cset, -axes), support_function(cset, axes))
        return cls(cset, Bounds(*(side.unsqueeze(0) for side in sides)))


def uniform_point(cset: ConvexSet, draw: Draw, purpose: str) -> Tensor:
    """Draw a uniform point of a ball, a box, a sub-simplex or a spectrahedron, R x d.

    Args:
        cset: the set.
        draw: random numbers of the round.
        purpose: name of the random streams.

    Raises:
        ValueError: another set.

    Examples:
        >>> from companion.arena.sets import uniform_point
        >>> from paperlib.core.streams import Streams
        >>> from paperlib.maths.sets import SubSimplex
        >>> simplex = SubSimplex.of(3)
        >>> bool(simplex.contains(uniform_point(simplex, Streams(0, range(5)).at(0), "example")).all())
        True
    """
    d = cset.dim
    if isinstance(cset, Box):
        return 2 * draw.uniform(purpose, d) - 1
    if isinstance(cset, SubSimplex):
        # Independent exponential variables, divided by their sum, are uniform on the simplex with one more vertex.
        weights = -torch.log1p(-draw.uniform(purpose, d + 1))
        return 2 * d * (weights / weights.sum(1, keepdim=True))[:, :-1] - 1
    # A fraction rho^{1/d} of the way to the boundary, with rho uniform in [0, 1], makes the point uniform in the set.
    level = (draw.uniform(f"{purpose} level") ** (1 / d)).unsqueeze(1)
    if isinstance(cset, Ball):
        return level * draw.sphere(purpose, d)
    if not isinstance(cset, Spectrahedron):
        raise_invalid("cset", cset, "a Ball, a Box, a SubSimplex or a Spectrahedron")
    # The Wishart density with p + 1 degrees of freedom depends on the trace alone, so W / tr W is uniform.
    normal = draw.normal(purpose, cset.p, cset.p + 1)
    W = normal @ normal.mT
    point = level * svec(W) / W.diagonal(dim1=1, dim2=2).sum(1, keepdim=True)
    middle = svec(torch.eye(cset.p, dtype=W.dtype, device=W.device).unsqueeze(0))
    return cset.k / cset.rho * point - middle


@frozen_dataclass
class UniformInSet(ReferenceRule):
    """Random search: a uniform point of the set in every round.

    Examples:
        >>> from companion.arena.sets import Concave, UniformInSet
        >>> from paperlib.play import play
        >>> play(UniformInSet(), Concave("simplex", 3), horizon=10, trials=2)["regret"].shape
        (2, 10)
    """

    def validate(self, region: Region, action: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for a context that is not a ``Region``."""
        if not isinstance(region, Region):
            raise_invalid("context", region, "a Region of a set and its bounding box")

    def select(self, state: NoState, region: Region, draw: Draw) -> tuple[Tensor, NoState]:
        """Return uniform points, R x d (purpose "uniform play")."""
        return uniform_point(region.cset, draw, "uniform play"), state


# Problems ---------------------------------------------------------------------------------------------------


class PlacedInstance(NamedTuple):
    """Instance of the paper's problem, the region, and the part of a box that the trial plays."""

    inner: Any
    region: Region
    middle: Tensor  # R x d, in [-1, 1]^d
    side: Tensor  # R x d, half the side, negative where the part is mirrored


@frozen_dataclass
class Placed:
    """A paper's problem with a ``Region`` as context and points in normalized coordinates.

    A function on a box is the same in all trials of its paper. Here each trial plays a mirrored part of the box.

    Attributes:
        problem: a problem with rewards as feedback, whose context is an nsbco ``Task`` or a box (``Bounds``).
        part: side of the part of the box, relative to the box. Below 1 the part is moved by up to 0.8 (1 - part) half sides of the box.
            The maximizer must be the center of the box then, so that every part with ``part`` >= 4/9 contains it.

    Raises:
        ValueError: an object that is not a problem.

    Examples:
        >>> from companion.arena.sets import Placed, UniformInSet
        >>> from paperlib.goucb import Rastrigin
        >>> from paperlib.play import play
        >>> play(UniformInSet(), Placed(Rastrigin(2)), horizon=10, trials=3)["regret"].shape
        (3, 10)
    """

    problem: Problem
    part: float = fields.number(1.0, least=4 / 9, most=1.0)

    def __post_init__(self):
        if isinstance(self.problem, type) or not hasattr(self.problem, "respond"):
            raise_invalid("problem", self.problem, "a problem, which is an instance with respond")

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> PlacedInstance:
        """Return the instance of the paper's problem, its region, and the part (purposes "problem middle" and "problem mirror")."""
        inner = self.problem.init(trials, horizon, draw, **tkwargs)
        context = self.problem.context(inner, 0)
        cset = context.cset if hasattr(context, "cset") else Box.of(context.dim, **tkwargs)
        uniform = lambda purpose: 2 * draw.uniform(purpose, cset.dim) - 1
        middle = 0.8 * (1 - self.part) * uniform("problem middle")
        side = self.part * torch.where(uniform("problem mirror") < 0, -1.0, 1.0).to(middle)
        return PlacedInstance(inner, Region.of(cset), middle, side)

    def context(self, instance: PlacedInstance, t: int) -> Region:
        """Return the region, the same in all rounds."""
        return instance.region

    def respond(
        self, instance: PlacedInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the reward and the regret of the paper's problem, R each."""
        check_in("wants", wants, ("reward",))
        context = self.problem.context(instance.inner, t)
        if isinstance(context, Bounds):
            action = context.native(torch.addcmul(instance.middle, instance.side, action))
        return self.problem.respond(instance.inner, t, action, wants, draw)


@frozen_dataclass
class Turned(Path):
    """A path that is turned by a random orthogonal matrix in each trial, so that every trial has its own maximizers.

    Attributes:
        path: a path whose optimal value is constant.

    Raises:
        ValueError: a path whose optimal value changes, or another object.

    Examples:
        >>> from companion.arena.sets import Turned
        >>> from paperlib.nsbco import Abrupt, QuadraticDrift
        >>> problem = QuadraticDrift(Turned(Abrupt(2)))
        >>> part = problem.part([0, 1], 100)
        >>> theta = problem.centers(part, [0, 99], 100)
        >>> theta.shape, bool(abs(theta[:, 0] + theta[:, 1]).max() < 1e-12)  # the second segment has the opposite sign
        ((2, 2, 2), True)
    """

    path: Path = STATIONARY
    drawn, axis = True, False

    def __post_init__(self):
        if not isinstance(self.path, Path) or self.path.values != Path.values:
            raise_invalid("path", self.path, "a path of nsbco with a constant optimal value")

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return the matrix and the data of the path, R x (d^2 + k); the seeds determine the matrices."""
        turn = np.stack([ortho_group.rvs(dim, random_state=s % 2**32).ravel() for s in seeds])
        join = lambda part: np.hstack([turn[:1].repeat(len(part), 0), part])
        part = self.path.begin(seeds, horizon, dim, reach, lambda part: vary(join(part)))
        return np.hstack([turn, part.repeat(len(seeds) // len(part), 0)])

    def theta(self, part, t, horizon, dim, reach):
        """Return the turned centers, R x n x d."""
        turn, part = part[:, : dim * dim].reshape(-1, dim, dim), part[:, dim * dim :]
        return self.path.theta(part, t, horizon, dim, reach) @ turn


SETS = {
    "simplex": SubSimplex.of,
    "matrices": lambda p, **tkwargs: Spectrahedron.of(p, 1.0, **tkwargs),
}


class ConcaveInstance(NamedTuple):
    """The region, the gradient at 0, and the maximum over the set."""

    region: Region
    slope: Tensor  # R x d, g
    best: Tensor  # R


@frozen_dataclass
class Concave:
    """Stationary concave function f(x) = <g, x> - h ||x||^2 / 2 with Gaussian noise, with its own g in every trial.

    With h > 0 the maximizer g / h is (1 - margin) times a uniform point of the set. With h = 0 the function is linear, g is uniform on
    the sphere on which |f| <= 1 in the whole set, and a vertex is optimal.

    Attributes:
        cset: "simplex", {x >= 0, sum x <= 1}, or "matrices", the positive semidefinite matrices of trace at most 1.
        size: number of coordinates, or of rows of the matrices.
        curvature: h >= 0.
        noise: standard deviation of the noise.
        margin: distance of the maximizer from the boundary, relative to the set; only with h > 0.

    Examples:
        >>> from companion.arena.sets import Concave, UniformInSet
        >>> from paperlib.play import play
        >>> play(UniformInSet(), Concave("matrices", 3, curvature=0.1), horizon=10, trials=2)["regret"].shape
        (2, 10)
    """

    cset: str = fields.one_of(tuple(SETS), "simplex")
    size: int = fields.size(5)
    curvature: float = fields.nonnegative(0.0)
    noise: float = fields.nonnegative(0.2)
    margin: float = fields.number(0.5, least=1e-06, most=1 - 1e-06)

    def region(self, **tkwargs) -> Region:
        """Return the set with its bounding box."""
        return Region.of(SETS[self.cset](self.size, **tkwargs))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ConcaveInstance:
        """Return the set, g (purpose "problem"), and the maximum of f."""
        region = self.region(**tkwargs)
        cset = region.cset
        if self.curvature:
            top = (1 - self.margin) * uniform_point(cset, draw, "problem")
            slope = self.curvature * top
        else:
            slope = draw.sphere("problem", cset.dim) / cset.R
            top = cset.lmo(-slope)
        return ConcaveInstance(region, slope, self.value(slope, top))

    def value(self, slope: Tensor, x: Tensor) -> Tensor:
        """Return f(x) without noise, R. ``slope``, ``x``: R x d."""
        return dot(slope, x) - self.curvature / 2 * dot(x, x)

    def context(self, instance: ConcaveInstance, t: int) -> Region:
        """Return the region, the same in all rounds."""
        return instance.region

    def respond(
        self, instance: ConcaveInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the noisy reward and the regret, R each. ``action``: R x d."""
        check_in("wants", wants, ("reward",))
        f = self.value(instance.slope, action)
        return f + self.noise * draw.normal("reward"), instance.best - f
