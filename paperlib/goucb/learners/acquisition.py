"""Acquisition rules of Phase II: select the point whose optimistic value over the ball of parameters is largest.

Source: Liu & Wang (2023), Algorithm 1, step 5, and Appendix D.1.
Shapes: R trials, N points, d dimensions, dw parameters. The search uses points u in [-1, 1]^d.
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import safe_sqrt
from ...core.streams import Draw
from ...maths.bounds import Bounds
from ..model.network import Model
from .climb import maximize_from_points
from .ellipsoid import Ellipsoid

STARTS = ("incumbent", "uniform", "last", "center")
TINY = 1e-300  # absolute, near the smallest float: it keeps roots and ratios finite at 0 and changes no other number


class AcquisitionSurface(NamedTuple):
    """The function to maximize and the region to search."""

    model: Model
    w: Tensor  # R x dw, the ball's center
    ellipsoid: Ellipsoid
    radius: Tensor  # R, sqrt(beta)
    frame: Bounds  # the box in the model's coordinates
    lo: Tensor  # R x d, corners of the region to search, within [-1, 1]^d
    hi: Tensor  # R x d
    spread: Tensor  # R x 1, standard deviation of points around the incumbent
    incumbent: Tensor  # R x d
    last: Tensor  # R x d, the most recent point


class Choice(NamedTuple):
    """The selected point, and diagnostics of its search."""

    u: Tensor  # R x d
    ratio: Tensor  # R, largest ||w - center||^2_Sigma / beta along the path; 1 if the maximum over the ball is in closed form
    moved: Tensor  # R, distance from the first to the last point in the model's coordinates; 0 with multiple starts


class Acquisition(Protocol):
    """Interface of an acquisition rule, which selects a point, R x d."""

    def maximizer(self, surface: AcquisitionSurface, draw: Draw) -> Choice: ...


@frozen_dataclass
class Linearized:
    """UCB of the linearized model: a(x) = f_x(w) + sqrt(beta) ||grad f_x(w)||_{Sigma^{-1}}.

    This is the maximum over the ball of the model linearized at the ball's center. It is exact if f is linear in w. Otherwise Taylor's
    theorem bounds its error by beta C_h / (2 lambda) (our addition).
    The search evaluates uniform points in the box, points around the incumbent and the incumbent itself. Adam improves the best of them,
    and the best point overall is selected.

    Attributes:
        candidates: >= 1, uniform points.
        around: >= 0, normal points around the incumbent.
        top: >= 1, points that Adam improves.
        steps: >= 0, Adam steps.
        rate: > 0, step size of Adam, in units of half a side.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib import play
        >>> from paperlib.goucb import LevenbergMarquardt, Linearized, Rastrigin, TwoLayerNet, algorithm1
        >>> search = Linearized(candidates=8, around=4, top=1, steps=3)
        >>> learner = algorithm1(3, TwoLayerNet(3), oracle=LevenbergMarquardt(1, 5), acquisition=search)
        >>> play.play(learner, Rastrigin(2), horizon=5, trials=2)["regret"].shape
        (2, 5)
    """

    candidates: int = fields.size(128)
    around: int = fields.size(32, least=0)
    top: int = fields.size(8)
    steps: int = fields.size(40, least=0)
    rate: float = fields.positive(0.05)

    def score(self, surface: AcquisitionSurface, u: Tensor) -> Tensor:
        """Return a(u), R x N. ``u``: R x N x d."""
        model, w, x = surface.model, surface.w, surface.frame.native(u)
        # The lower limit keeps the gradient of the root finite at width 0.
        width = surface.ellipsoid.square(model.features(w, x)).clamp(min=TINY).sqrt()
        return model.value(w, x) + surface.radius.unsqueeze(1) * width

    def maximizer(self, surface: AcquisitionSurface, draw: Draw) -> Choice:
        """Return the best of all points, the first if several are equal."""
        u = maximize_from_points(
            lambda u: self.score(surface, u), self.raw(surface, draw), surface, self
        )
        nothing = torch.zeros_like(surface.radius)
        return Choice(u, nothing + 1, nothing)

    def raw(self, surface: AcquisitionSurface, draw: Draw) -> Tensor:
        """Return the initial points of the search, R x N x d."""
        lo, hi, dim = surface.lo.unsqueeze(1), surface.hi.unsqueeze(1), surface.lo.shape[1]
        best = surface.incumbent.unsqueeze(1)
        points = [lo + (hi - lo) * draw.uniform("candidates", self.candidates, dim)]
        if self.around:
            normal = draw.normal("jitter", self.around, dim)
            points.append(best + surface.spread.unsqueeze(1) * normal)
        points.append(best)
        # Normal points may leave the region, so all points are clipped to it.
        return torch.minimum(torch.maximum(torch.cat(points, 1), lo), hi)


@frozen_dataclass
class Sphere(Linearized):
    """Maximum of f_x over the ball, without linearization, by fixed-point iteration.

    The iteration is w = center + sqrt(beta) Sigma^{-1} g / ||g||_{Sigma^{-1}}, where g is the gradient at w. On wide balls it may end in a
    cycle, therefore the best w found is kept.

    Attributes:
        turns: >= 1, iterations.

    Examples:
        >>> from paperlib.goucb import Sphere, algorithm1
        >>> learner = algorithm1(8, acquisition=Sphere(turns=30))
        >>> learner.acquisition
        Sphere(turns=30)
    """

    turns: int = fields.size(60)

    def score(self, surface: AcquisitionSurface, u: Tensor) -> Tensor:
        """Return f_x at the best w of the iteration, R x N.

        The result is differentiable in u, with w held fixed (envelope theorem).
        """
        model, (trials, N, dim) = surface.model, u.shape
        x = surface.frame.native(u).reshape(trials * N, 1, dim)
        with torch.no_grad():
            copies = lambda part: part.repeat_interleave(N, 0)
            far = surface.ellipsoid
            # Every point has its own w, so the ball is repeated N times and (trial, point) pairs
            # act as trials.
            far = far._replace(
                features=copies(far.features), ridge=copies(far.ridge), factor=copies(far.factor)
            )
            center, radius = copies(surface.w), copies(surface.radius).unsqueeze(1)
            w = best = center
            top = model.value(w, x.detach())
            for _ in range(self.turns):
                # A maximizer on the ball's boundary is a fixed point of this step, with g taken at
                # the maximizer itself.
                features = model.features(w, x.detach())
                toward = far.solve(features)
                length = safe_sqrt(model.forward(features, toward)).clamp(min=TINY)
                w = center + radius * toward / length

                f = model.value(w, x.detach())
                best, top = torch.where(f > top, w, best), torch.maximum(f, top)
        return model.value(best, x).view(trials, N)


@frozen_dataclass
class Joint:
    """Joint gradient ascent on x and w, as stated in the paper. After each step w is projected onto the ball and x onto the box; the last x is used.

    Source: Liu & Wang (2023), Appendix D.1. The paper does not state the starting point of x, which decides most of the outcome (E13).

    Attributes:
        steps: >= 1; the paper uses 2000.
        rate: > 0, step size in the model's coordinates; the paper uses 1e-4.
        start: "incumbent", "uniform", "last" or "center".

    Raises:
        ValueError: a value is out of range, or the start is unknown.

    Examples:
        >>> from paperlib.goucb import Joint, literal
        >>> literal(5, value_bound=26.0, start="uniform").acquisition == Joint(start="uniform")
        True
    """

    steps: int = fields.size(2000)
    rate: float = fields.positive(0.0001)
    start: str = fields.one_of(STARTS, "incumbent")

    def maximizer(self, surface: AcquisitionSurface, draw: Draw) -> Choice:
        """Return the last x, and the distances that x and w moved."""
        model, frame, ellipsoid = surface.model, surface.frame, surface.ellipsoid
        x = begun = frame.native(self._start(surface, draw)).unsqueeze(1)
        lo, hi = (frame.native(side).unsqueeze(1) for side in (surface.lo, surface.hi))
        w, center, beta = surface.w, surface.w, surface.radius.square()
        one = torch.ones_like(x[:, :, 0])
        ratio = torch.zeros_like(beta)
        for _ in range(self.steps):
            # Both gradients are taken at the old (x, w), before either is updated.
            uphill = model.adjoint(model.features(w, x), one)
            along = x + self.rate * model.slope(w, x)
            x = torch.minimum(torch.maximum(along, lo), hi)
            w = w + self.rate * uphill
            q = ellipsoid.norm2(w - center)
            ratio = torch.maximum(ratio, q / beta.clamp(min=TINY))
            # Scale w back to the boundary of the ball in the norm of Sigma if it has left the ball.
            shrink = (beta / q.clamp(min=TINY)).clamp(max=1.0).sqrt()
            w = center + (w - center) * shrink.unsqueeze(1)
        x, begun = x.squeeze(1), begun.squeeze(1)
        return Choice(frame.scaled(x), ratio, torch.linalg.vector_norm(x - begun, dim=1))

    def _start(self, surface: AcquisitionSurface, draw: Draw) -> Tensor:
        if self.start == "uniform":
            return 2 * draw.uniform("ascent", surface.lo.shape[1]) - 1
        if self.start == "center":
            return torch.zeros_like(surface.incumbent)
        return surface.incumbent if self.start == "incumbent" else surface.last
