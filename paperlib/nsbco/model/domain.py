"""A ball or a box of one's own, mapped to the set of unit size.

Shapes: d dimensions.
"""

from typing import Any, NamedTuple

import numpy as np

from ...core.validation import LARGEST, SMALLEST, array, refuse

NARROWEST = 1e-9  # least half width over the center's size


class Domain(NamedTuple):
    """{center + scale u} with u in the unit ball or the box [-1, 1]^d."""

    kind: str  # "ball" or "box"
    center: np.ndarray  # d
    scale: np.ndarray  # d, of a ball its radius in every place

    def native(self, u: np.ndarray) -> np.ndarray:
        """From unit coordinates to one's own."""
        return self.center + self.scale * u


def _sized(name: str, value: Any, scale: np.ndarray) -> None:
    if not ((scale >= SMALLEST) & (scale <= LARGEST)).all():
        refuse(name, value, f"numbers from {SMALLEST:g} to {LARGEST:g}")


def _told_apart(name: str, value: Any, center: np.ndarray, scale: np.ndarray) -> None:
    if not (scale >= NARROWEST * abs(center)).all():
        refuse(name, value, f"at least {NARROWEST:g} of the center's size, so that points differ")


def checked(domain: "Domain") -> "Domain":
    """A copy.

    Raises:
        ValueError: a center or scale out of range, or a ball of several radii.
    """
    center, scale = _vector("domain.center", domain.center), _vector("domain.scale", domain.scale)
    if len(center) != len(scale) or (domain.kind == "ball" and (scale != scale[0]).any()):
        refuse("domain.scale", domain.scale, f"{len(center)} numbers, those of a ball all equal")
    _sized("domain.scale", domain.scale, scale)
    _told_apart("domain.scale", domain.scale, center, scale)
    return Domain(domain.kind, center, scale)


def _vector(name: str, value: Any) -> np.ndarray:
    found = array(name, value)
    if found.ndim != 1 or not found.size or not (abs(found) <= LARGEST).all():
        refuse(name, value, f"one or more numbers up to {LARGEST:g} in size, in a list")
    return found


def ball(center: Any, radius: float = 1.0) -> Domain:
    """The ball about a point.

    Args:
        center: d numbers.
        radius: > 0.

    Raises:
        ValueError: a value out of range.
    """
    middle, size = _vector("center", center), array("radius", radius)
    if size.ndim:
        refuse("radius", radius, "one number")
    _sized("radius", radius, size)
    _told_apart("radius", radius, middle, size)
    return Domain("ball", middle, np.full(len(middle), float(size)))


def box(lower: Any, upper: Any) -> Domain:
    """All points between two corners.

    Args:
        lower, upper: d numbers each.

    Raises:
        ValueError: corners of unlike lengths, or not one below the other.
    """
    low, high = _vector("lower", lower), _vector("upper", upper)
    if len(low) != len(high) or not (low < high).all():
        refuse("upper", upper, f"{len(low)} numbers above lower={low.tolist()}")
    center, scale = (low + high) / 2, (high - low) / 2
    _sized("upper", upper, scale)
    _told_apart("upper", upper, center, scale)
    for _ in range(4):  # rounding may not lead out
        outside = (center + scale > high) | (center - scale < low)
        scale = np.where(outside, np.nextafter(scale, 0.0), scale)
    return Domain("box", center, scale)
