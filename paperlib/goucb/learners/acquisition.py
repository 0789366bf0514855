"""Where Phase II asks next: the point whose value is largest over the ball of parameters.

Source: Liu & Wang (2023), Algorithm 1, step 5, and Appendix D.1.
Shapes: R trials, N points, d dimensions, dw parameters. Points of the search are u in [-1, 1]^d.
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
TINY = 1e-300  # absolute, next to the least float: it keeps roots and ratios finite at 0, and changes no other number


class AcquisitionSurface(NamedTuple):
    """What is to be maximized, and where."""

    model: Model
    w: Tensor  # R x dw, the ball's center
    ellipsoid: Ellipsoid
    radius: Tensor  # R, sqrt(beta)
    frame: Bounds  # the box in the coordinates that the model sees
    lo: Tensor  # R x d, where to search, within [-1, 1]^d
    hi: Tensor  # R x d
    spread: Tensor  # R x 1, standard deviation of points around the incumbent
    incumbent: Tensor  # R x d
    last: Tensor  # R x d, the point asked last


class Choice(NamedTuple):
    """The point, and what its search did."""

    u: Tensor  # R x d
    ratio: Tensor  # R, largest ||w - center||^2_Sigma / beta on the way; 1 where the maximum over the ball is in closed form
    moved: Tensor  # R, from the first point to the last in the model's coordinates; 0 where many starts compete


class Acquisition(Protocol):
    """Chooses a point, R x d."""

    def maximizer(self, surface: AcquisitionSurface, draw: Draw) -> Choice: ...


@frozen_dataclass
class Linearized:
    """a(x) = f_x(w) + sqrt(beta) ||grad f_x(w)||_{Sigma^{-1}}: the maximum over the ball of the model linearized at its center.

    Exact where f is linear in w; else off by at most beta C_h / (2 lambda), by Taylor's theorem (ours).
    Uniform points in the box, points around the incumbent and the incumbent itself compete; the best are improved by Adam and
    compete again.

    Attributes:
        candidates: >= 1, uniform points.
        around: >= 0, normal points around the incumbent.
        top: >= 1, points that are improved.
        steps: >= 0, of Adam.
        rate: > 0, its step size, in units of half a side.

    Raises:
        ValueError: a value out of range.
    """

    candidates: int = fields.size(128)
    around: int = fields.size(32, least=0)
    top: int = fields.size(8)
    steps: int = fields.size(40, least=0)
    rate: float = fields.positive(0.05)

    def score(self, surface: AcquisitionSurface, u: Tensor) -> Tensor:
        """a at R x N x d, R x N."""
        model, w, x = surface.model, surface.w, surface.frame.native(u)
        width = surface.ellipsoid.square(model.features(w, x)).clamp(min=TINY).sqrt()
        return model.value(w, x) + surface.radius.unsqueeze(1) * width

    def maximizer(self, surface: AcquisitionSurface, draw: Draw) -> Choice:
        """The best of all points, the first of equals."""
        u = maximize_from_points(
            lambda u: self.score(surface, u), self.raw(surface, draw), surface, self
        )
        nothing = torch.zeros_like(surface.radius)
        return Choice(u, nothing + 1, nothing)

    def raw(self, surface: AcquisitionSurface, draw: Draw) -> Tensor:
        """The points that compete first, R x N x d."""
        lo, hi, dim = surface.lo.unsqueeze(1), surface.hi.unsqueeze(1), surface.lo.shape[1]
        best = surface.incumbent.unsqueeze(1)
        points = [lo + (hi - lo) * draw.uniform("candidates", self.candidates, dim)]
        if self.around:
            normal = draw.normal("jitter", self.around, dim)
            points.append(best + surface.spread.unsqueeze(1) * normal)
        points.append(best)
        return torch.minimum(torch.maximum(torch.cat(points, 1), lo), hi)


@frozen_dataclass
class Sphere(Linearized):
    """The maximum of f_x over the ball by fixed-point steps w = center + sqrt(beta) Sigma^{-1} g / ||g||_{Sigma^{-1}}, g the gradient at w.

    On wide balls the steps may end in a cycle: the best w on the way is kept.

    Attributes:
        turns: >= 1, such steps.
    """

    turns: int = fields.size(60)

    def score(self, surface: AcquisitionSurface, u: Tensor) -> Tensor:
        """f_x at the best step's w, R x N, differentiable in u with w held fixed (envelope theorem)."""
        model, (trials, N, dim) = surface.model, u.shape
        x = surface.frame.native(u).reshape(trials * N, 1, dim)
        with torch.no_grad():
            copies = lambda part: part.repeat_interleave(N, 0)
            far = surface.ellipsoid
            far = far._replace(
                features=copies(far.features), ridge=copies(far.ridge), factor=copies(far.factor)
            )
            center, radius = copies(surface.w), copies(surface.radius).unsqueeze(1)
            w = best = center
            top = model.value(w, x.detach())
            for _ in range(self.turns):
                features = model.features(w, x.detach())
                toward = far.solve(features)
                length = safe_sqrt(model.forward(features, toward)).clamp(min=TINY)
                w = center + radius * toward / length
                f = model.value(w, x.detach())
                best, top = torch.where(f > top, w, best), torch.maximum(f, top)
        return model.value(best, x).view(trials, N)


@frozen_dataclass
class Joint:
    """Plain gradient ascent on x and w at once, as printed: w clipped to the ball and x to the box after each step; the last x.

    Source: Liu & Wang (2023), Appendix D.1; where x begins is not printed and decides most of the outcome (E13).

    Attributes:
        steps: >= 1; the paper's 2000.
        rate: > 0, step size in the model's coordinates; the paper's 1e-4.
        start: "incumbent", "uniform", "last" or "center".

    Raises:
        ValueError: a value out of range, or an unknown start.
    """

    steps: int = fields.size(2000)
    rate: float = fields.positive(0.0001)
    start: str = fields.one_of(STARTS, "incumbent")

    def maximizer(self, surface: AcquisitionSurface, draw: Draw) -> Choice:
        """The last x, and how far w and x came."""
        model, frame, ellipsoid = surface.model, surface.frame, surface.ellipsoid
        x = begun = frame.native(self._start(surface, draw)).unsqueeze(1)
        lo, hi = (frame.native(side).unsqueeze(1) for side in (surface.lo, surface.hi))
        w, center, beta = surface.w, surface.w, surface.radius.square()
        one = torch.ones_like(x[:, :, 0])
        ratio = torch.zeros_like(beta)
        for _ in range(self.steps):
            uphill = model.adjoint(model.features(w, x), one)
            along = x + self.rate * model.slope(w, x)
            x = torch.minimum(torch.maximum(along, lo), hi)
            w = w + self.rate * uphill
            q = ellipsoid.norm2(w - center)
            ratio = torch.maximum(ratio, q / beta.clamp(min=TINY))
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
