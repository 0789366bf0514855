"""Box constraints in the user's coordinates, which are the context of global optimization.

Shapes: R trials, N points, d dimensions; a leading 1 means that the trials share the box.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..core.validation import LARGEST, SINGLE, check_array, check_finite, raise_invalid

# Fractions of a side by which rounding may move a point outside the box.
OUTSIDE = 1e-9
MOST_OUTSIDE = 1e-3  # the largest tolerance, used where float32 has few numbers within the side


class Bounds(NamedTuple):
    """Box constraints lo <= x <= hi; ``scaled`` maps the box to [-1, 1]^d, and ``native`` maps it back.

    Examples:
        >>> import torch
        >>> from paperlib.maths.bounds import Bounds
        >>> bounds = Bounds.of([0, 10], [4, 20])
        >>> bounds.scaled(torch.tensor([[1.0, 15.0]])).tolist()
        [[-0.5, 0.0]]
        >>> bounds.native(torch.tensor([[-1.0, 1.0]])).tolist()
        [[0.0, 20.0]]
    """

    lo: Tensor  # 1 x d or R x d
    hi: Tensor  # 1 x d or R x d

    @classmethod
    def of(cls, lo: Any, hi: Any, **tkwargs) -> "Bounds":
        """Build one box for all trials from two lists of d numbers.

        Raises:
            ValueError: the lists do not have d numbers each, or do not form a box (see ``check_bounds``).
        """
        sides = [check_array(name, values) for name, values in (("lo", lo), ("hi", hi))]
        if sides[0].ndim != 1 or sides[0].shape != sides[1].shape:
            raise_invalid("(lo, hi)", (lo, hi), "two lists of d numbers")
        to = {"dtype": torch.float64} | tkwargs
        bounds = cls(*(torch.as_tensor(side).unsqueeze(0).to(**to) for side in sides))
        check_bounds(bounds)
        return bounds

    @classmethod
    def cube(cls, dim: int, half: float = 1.0, **tkwargs) -> "Bounds":
        """Return the cube [-half, half]^dim."""
        side = torch.full((1, dim), half, **{"dtype": torch.float64} | tkwargs)
        return cls(-side, side)

    @property
    def dim(self) -> int:
        """Number of dimensions, d."""
        return self.lo.shape[-1]

    def _along(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return (self.lo.unsqueeze(1), self.hi.unsqueeze(1)) if x.dim() == 3 else (self.lo, self.hi)

    def scaled(self, x: Tensor) -> Tensor:
        """Map points of the box to [-1, 1]^d; points outside are clamped. ``x``: R x d or R x N x d."""
        lo, hi = self._along(x)
        return (2 * ((x - lo) / (hi - lo)) - 1).clamp(-1.0, 1.0)

    def native(self, u: Tensor) -> Tensor:
        """Map points of [-1, 1]^d to the box. ``u``: R x d or R x N x d."""
        lo, hi = self._along(u)
        # The result is clamped because lo + (hi - lo) may round past hi.
        return torch.minimum(torch.maximum(lo + (hi - lo) * ((u + 1) / 2), lo), hi)


def check_bounds(bounds: Any, x: Tensor | None = None, name: str = "action") -> None:
    """Check that ``bounds`` is a box, and that the points ``x`` lie in it.

    Args:
        bounds: the box to check.
        x: points, R x d, or None to check the box only.
        name: name of the points in error messages.

    Raises:
        ValueError: ``bounds`` is not a ``Bounds`` of two tensors 1 x d or R x d with d >= 1; a bound is not finite or exceeds
            1e30 in absolute value; lo >= hi in a coordinate; the points have another shape, are not finite, or lie outside.
    """
    if not isinstance(bounds, Bounds):
        raise_invalid(
            "bounds", bounds, "a paperlib.maths.bounds.Bounds, for example Bounds.of([0.0], [1.0])"
        )
    lo, hi = bounds
    good = isinstance(lo, Tensor) and isinstance(hi, Tensor) and lo.shape == hi.shape
    if not (good and lo.dim() == 2 and 0 not in lo.shape and lo.is_floating_point()):
        shapes = [tuple(side.shape) if isinstance(side, Tensor) else side for side in bounds]
        requirement = "two tensors lo and hi of shape 1 x d or R x d with d at least 1"
        raise_invalid("bounds", shapes, requirement)
    if x is not None and not isinstance(x, Tensor):
        raise_invalid(name, x, "a tensor")
    if x is not None and not (x.dim() == 2 and x.shape[1] == bounds.dim and len(lo) in (1, len(x))):
        R = "R" if len(lo) == 1 else len(lo)
        raise_invalid(f"{name}.shape", tuple(x.shape), f"{R} x {bounds.dim}")
    if lo.device.type == "meta":  # meta tensors have shapes but no values to check
        return
    for side, values in (("lo", lo), ("hi", hi)):
        check_finite(side, values, LARGEST)
    if bool((lo >= hi).any()):
        row, j = (lo >= hi).nonzero()[0].tolist()
        raise_invalid(f"lo[{j}]", lo[row, j].item(), f"smaller than hi[{j}]={hi[row, j].item()!r}")
    if x is None or x.device.type == "meta":
        return
    # Data often come in float32, so the tolerance includes its rounding error, up to MOST_OUTSIDE.
    side, single = hi - lo, SINGLE * torch.maximum(lo.abs(), hi.abs())
    slack = OUTSIDE * side + torch.minimum(single, MOST_OUTSIDE * side)
    inside = (x >= lo - slack) & (x <= hi + slack)
    if not bool(inside.all()):
        row, j = (~inside).nonzero()[0].tolist()
        sides = (side.expand(len(x), -1)[row, j].item() for side in bounds)
        raise_invalid(
            f"{name}[{row}, {j}]", x[row, j].item(), "a number from {!r} to {!r}".format(*sides)
        )
