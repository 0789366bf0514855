"""Named dimensions of a search space, and their encoding in the unit cube, where the learner works.

A real or an integer dimension takes one coordinate of the cube, a categorical dimension one for each option.
Shapes: d coordinates.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ...core.describe import PLAIN, to_python
from ...core.validation import (
    SINGLE,
    check_in,
    check_integer,
    check_number,
    check_positive,
    list_options,
    raise_invalid,
)

DIGITS = 12  # of a real value; your values with no more digits are recovered exactly
STEPS = 2.0**52  # grid steps per side; the maps between cubes reproduce points of this grid exactly
SHOWN = 20  # options listed in an error message
VALUES = 1 << 32  # most values of an integer dimension, so that each spans several grid steps
MOST = 1 << 12  # most coordinates of a space
ENCODING = "one coordinate for each option"  # of categories; files of earlier versions lack it


@dataclass(frozen=True)
class Real:
    """Real-valued dimension. Values have twelve digits: relative to ``hi - lo``, or with ``log`` twelve significant digits.

    Attributes:
        name: name of the dimension.
        lo: smallest value; above 0 with ``log``.
        hi: largest value, above ``lo``.
        log: whether the dimension is searched on a logarithmic scale, for example for a learning rate between 1e-5 and 1.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import Real
        >>> Real("rate", 1e-4, 1.0, log=True).decode(0.5)
        0.01
    """

    name: str
    lo: float
    hi: float
    log: bool = False
    size = 1  # coordinates

    def __post_init__(self):
        _check_name(self.name)
        log = check_in(f"{self.name}.log", self.log, (False, True))
        object.__setattr__(self, "log", log)
        for side in ("lo", "hi"):
            (check_positive if self.log else check_number)(
                f"{self.name}.{side}", getattr(self, side)
            )
            object.__setattr__(self, side, float(getattr(self, side)))
        _check_order(self.name, self.lo, self.hi)
        if self.log and not self.lo < self.decode(0.5) < self.hi:
            requirement = f"smaller than {self.name}.hi={self.hi!r} when both have {DIGITS} digits (with log=False they may be closer)"
            raise_invalid(f"{self.name}.lo", self.lo, requirement)

    def decode(self, u: float) -> float:
        """Return the value at ``u`` in [0, 1]."""
        if self.log:
            x = float(f"{self.lo ** (1 - u) * self.hi**u:.{DIGITS}g}")
        else:
            side = self.hi - self.lo
            x = round(self.lo + side * u, DIGITS - math.ceil(math.log10(side)))
        return min(max(x, self.lo), self.hi)  # rounding may exceed the range

    def encode(self, x: float) -> float:
        """Return the ``u`` of a value. The value may exceed the range by the rounding error of float32.

        Raises:
            ValueError: ``x`` is not a number between ``lo`` and ``hi``.
        """
        x = _plain(x)
        # A value that was rounded to float32 may be slightly outside the range.
        single = SINGLE * max(abs(self.lo), abs(self.hi))
        plain_number = isinstance(x, (int, float)) and not isinstance(x, bool)
        if plain_number and self.lo - single <= x <= self.hi + single:
            x = min(max(x, self.lo), self.hi)
        check_number(self.name, x, self.lo, self.hi)
        if self.log:
            return math.log(x / self.lo) / math.log(self.hi / self.lo)
        return (x - self.lo) / (self.hi - self.lo)


@dataclass(frozen=True)
class Integer:
    """Integer dimension. Every value gets an equal part of the unit interval.

    Attributes:
        name: name of the dimension.
        lo: smallest value.
        hi: largest value, above ``lo``; at most 2^32 values in all.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import Integer
        >>> depth = Integer("depth", 1, 4)
        >>> depth.decode(0.3), depth.encode(2)
        (2, 0.375)
    """

    name: str
    lo: int
    hi: int
    size = 1  # coordinates

    def __post_init__(self):
        _check_name(self.name)
        for side in ("lo", "hi"):
            check_integer(f"{self.name}.{side}", getattr(self, side), -(1 << 53), 1 << 53)
            object.__setattr__(self, side, int(getattr(self, side)))
        _check_order(self.name, self.lo, self.hi)
        if self.hi - self.lo >= VALUES:
            raise_invalid(
                f"{self.name}.hi",
                self.hi,
                f"below lo + {VALUES}, for example below {self.lo + VALUES} with lo={self.lo} (use a Real for more values)",
            )

    def decode(self, u: float) -> int:
        """Return the value at ``u`` in [0, 1]."""
        return min(self.lo + int(u * (self.hi - self.lo + 1)), self.hi)

    def encode(self, x: int) -> float:
        """Return the midpoint of a value's part of the unit interval.

        A float such as 3.0 counts as 3, because a table's column with a missing value contains floats.

        Raises:
            ValueError: ``x`` is not an integer between ``lo`` and ``hi``.
        """
        x = _plain(x)
        x = int(x) if isinstance(x, float) and x.is_integer() else x
        check_integer(self.name, x, self.lo, self.hi)
        return (int(x) - self.lo + 0.5) / (self.hi - self.lo + 1)


@dataclass(frozen=True)
class Category:
    """Categorical dimension with unordered options. Each option has one coordinate; the option with the largest coordinate is selected.

    Attributes:
        name: name of the dimension.
        options: strings, numbers, booleans, None, or tuples of these, in a list or an array, for example a table's
            ``Series.unique()``. The options 1, 1.0 and True are distinct.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.goucb import Category
        >>> loss = Category("loss", ["hinge", "log"])
        >>> loss.decode(np.array([0.2, 0.7]))
        'log'
        >>> loss.encode("hinge").round(3).tolist()
        [0.667, 0.333]
    """

    name: str
    options: tuple

    def __post_init__(self):
        _check_name(self.name)
        given = self.options.tolist() if hasattr(self.options, "tolist") else self.options
        given = to_python(given) if isinstance(given, (tuple, list)) else ()
        if not given or not all(map(_is_option, given)):
            requirement = "a list of at least one option, each a string, a finite number, True, False, None, or a tuple of these"
            raise_invalid(f"{self.name}.options", self.options, requirement)
        object.__setattr__(self, "options", tuple(given))
        if len(set(map(repr, given))) < len(given):
            raise_invalid(f"{self.name}.options", self.options, "a list without duplicates")

    @property
    def size(self) -> int:
        """Number of coordinates: one for each option."""
        return len(self.options)

    def decode(self, u: np.ndarray) -> Any:
        """Return the option with the largest coordinate, the first if several are equal."""
        return self.options[int(np.argmax(u))]

    def encode(self, x: Any) -> np.ndarray:
        """Return the center of an option's region: k / (k + 1) at its coordinate, half of that at the other k - 1.

        This is the one-hot vector, shrunk so that a trust region around one option contains points of the others.
        A number of another type is accepted if exactly one option equals it. For example, a table may have turned 32 into 32.0, or None into NaN.

        Raises:
            ValueError: ``x`` is not one of the options.
        """
        x = _plain(x)
        x = None if isinstance(x, float) and math.isnan(x) else x
        # Compare by type and repr, because Python treats 1, 1.0 and True as equal, also in tuples.
        found = [type(option) is type(x) and repr(option) == repr(x) for option in self.options]
        if True not in found and type(x) in (int, float):
            found = [type(option) in (int, float) and option == x for option in self.options]
        if found.count(True) != 1:
            more = ", ..." if len(self.options) > SHOWN else ""
            raise_invalid(self.name, x, list_options(self.options[:SHOWN]) + more)
        # k / (k + 1) for the option itself, and k / (2 (k + 1)) for the others.
        return (1 + np.array(found, float)) * self.size / (2 * (self.size + 1))


@dataclass(frozen=True)
class Space:
    """Search space: an ordered list of named dimensions. Points are dicts that map names to values.

    Attributes:
        dimensions: one or more of ``Real``, ``Integer`` and ``Category``, with distinct names.

    Raises:
        ValueError: ``dimensions`` is not such a list.

    Examples:
        >>> from paperlib.goucb import Category, Integer, Real, Space
        >>> space = Space([Real("rate", 0.0, 1.0), Integer("depth", 1, 8), Category("loss", ["hinge", "log"])])
        >>> space.names, space.size
        (['rate', 'depth', 'loss'], 4)
        >>> u = space.encode({"rate": 0.25, "depth": 3, "loss": "log"})
        >>> space.decode(u)
        {'rate': 0.25, 'depth': 3, 'loss': 'log'}
    """

    dimensions: tuple[Real | Integer | Category, ...]

    def __post_init__(self):
        given = self.dimensions if isinstance(self.dimensions, (tuple, list)) else ()
        if not given or not all(isinstance(x, (Real, Integer, Category)) for x in given):
            raise_invalid(
                "dimensions",
                self.dimensions,
                "a list of at least one Real, Integer or Category",
            )
        object.__setattr__(self, "dimensions", tuple(given))
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise_invalid("name", twice[0], "different for each dimension")
        if self.size > MOST:
            raise_invalid(
                "the number of coordinates of dimensions",
                self.size,
                f"at most {MOST} (each option of a Category has one)",
            )

    @property
    def names(self) -> list[str]:
        """Names of the dimensions, in order."""
        return [dimension.name for dimension in self.dimensions]

    @property
    def size(self) -> int:
        """Number of coordinates of the unit cube, d."""
        return sum(dimension.size for dimension in self.dimensions)

    def decode(self, u: np.ndarray) -> dict[str, Any]:
        """Return the point at ``u`` in [0, 1]^d."""
        one = lambda x, part: x.decode(part if isinstance(x, Category) else float(part[0]))
        return {x.name: one(x, part) for x, part in self._parts(u)}

    def encode(self, x: Mapping[str, Any]) -> np.ndarray:
        """Return a ``u`` that decodes to ``x``, with real values rounded to their digits.

        Raises:
            ValueError: the names differ from those of the space, or a value is outside its dimension.
        """
        if not isinstance(x, Mapping) or set(x) != set(self.names):
            raise_invalid("x", x, f"a dict with the keys {', '.join(map(repr, self.names))}")
        return snapped(np.hstack([one.encode(x[one.name]) for one in self.dimensions]))

    def nearest(self, u: np.ndarray) -> np.ndarray:
        """Return the grid point nearest to ``u``, with each option at the center of its region. It decodes to the same values as ``u``."""
        one = lambda x, part: x.encode(x.decode(part)) if isinstance(x, Category) else part
        return snapped(np.hstack([one(x, part) for x, part in self._parts(u)]))

    def _parts(self, u: np.ndarray) -> list[tuple[Real | Integer | Category, np.ndarray]]:
        """Return each dimension with its coordinates."""
        if len(u) != self.size:
            raise_invalid("u", u, f"an array of {self.size} coordinates")
        ends = np.cumsum([x.size for x in self.dimensions])
        return list(zip(self.dimensions, np.split(np.asarray(u, float), ends[:-1])))

    def settings(self) -> dict[str, str]:
        """Return the settings that identify the space: its dimensions by position, and the encoding if any dimension is categorical."""
        told = {str(i): repr(dimension) for i, dimension in enumerate(self.dimensions, 1)}
        if any(isinstance(x, Category) for x in self.dimensions):
            told["categories"] = ENCODING
        return told


def snapped(u: np.ndarray) -> np.ndarray:
    """Return the nearest point of the grid, d."""
    return np.round(u * STEPS) / STEPS


def _plain(x: Any) -> Any:
    """Return a Python number for a NumPy number, a Decimal or a Fraction."""
    if isinstance(x, (Decimal, Fraction)):
        with suppress(OverflowError):  # a number too large for a float is left to the range check
            return float(x)
    return to_python(x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x)


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise_invalid("name", name, "a string that is not empty")


def _check_order(name: str, lo: float, hi: float) -> None:
    if not lo < hi:
        raise_invalid(f"{name}.lo", lo, f"smaller than {name}.hi={hi!r}")


def _is_option(x: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(_is_option, x))
    return type(x) in PLAIN and (not isinstance(x, float) or math.isfinite(x))
