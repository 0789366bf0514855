"""Named dimensions of a search, and the unit cube that a learner sees in their place.

A real or an integer is one coordinate of the cube, a category one for each option.
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
    raise_invalid,
)

DIGITS = 12  # of a real: values of one's own that have no more come back to the bit
STEPS = 2.0**52  # to a side; points of this grid come through the maps between cubes to the bit
SHOWN = 20  # options in a message
VALUES = 1 << 32  # most of an integer dimension: each has steps of its own
MOST = 1 << 12  # coordinates of a space
ENCODING = "one coordinate for each option"  # of categories; files of earlier versions have none


@dataclass(frozen=True)
class Real:
    """A number, of twelve digits: of the side, or with ``log`` its own.

    Attributes:
        name: of the dimension.
        lo: least value; with ``log`` above 0.
        hi: largest value, above ``lo``.
        log: whether ratios count, instead of differences.

    Raises:
        ValueError: a value out of range.
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
            apart = (
                f"ends that differ within {DIGITS} digits; a Real without log holds narrower ones"
            )
            raise_invalid(f"{self.name}.lo, {self.name}.hi", (self.lo, self.hi), apart)

    def decode(self, u: float) -> float:
        """The value at ``u`` in [0, 1]."""
        if self.log:
            x = float(f"{self.lo ** (1 - u) * self.hi**u:.{DIGITS}g}")
        else:
            side = self.hi - self.lo
            x = round(self.lo + side * u, DIGITS - math.ceil(math.log10(side)))
        return min(max(x, self.lo), self.hi)  # rounding may lead past

    def encode(self, x: float) -> float:
        """The ``u`` of a value, which may lie outside by the rounding of float32.

        Raises:
            ValueError: no number from ``lo`` to ``hi``.
        """
        x = _plain(x)
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
    """An integer; each has an equal part of the side.

    Attributes:
        name: of the dimension.
        lo: least value.
        hi: largest value, above ``lo``, of at most 2^32 values.

    Raises:
        ValueError: a value out of range.
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
                f"{self.name}.hi", self.hi, f"below lo + {VALUES}; a Real holds more values"
            )

    def decode(self, u: float) -> int:
        """The value at ``u`` in [0, 1]."""
        return min(self.lo + int(u * (self.hi - self.lo + 1)), self.hi)

    def encode(self, x: int) -> float:
        """The middle of a value's part; 3.0, as a table's column with a missing value has it, is 3.

        Raises:
            ValueError: no integer from ``lo`` to ``hi``.
        """
        x = _plain(x)
        x = int(x) if isinstance(x, float) and x.is_integer() else x
        check_integer(self.name, x, self.lo, self.hi)
        return (int(x) - self.lo + 0.5) / (self.hi - self.lo + 1)


@dataclass(frozen=True)
class Category:
    """One of several options, without an order: each has a coordinate of its own, and the largest coordinate decides.

    Attributes:
        name: of the dimension.
        options: text, numbers, truth values, None, or tuples of these, in a list or an array, such as a table's
            ``Series.unique()``; 1, 1.0 and True are three.

    Raises:
        ValueError: a value out of range.
    """

    name: str
    options: tuple

    def __post_init__(self):
        _check_name(self.name)
        given = self.options.tolist() if hasattr(self.options, "tolist") else self.options
        given = to_python(given) if isinstance(given, (tuple, list)) else ()
        if not given or not all(map(_is_option, given)):
            allowed = (
                "one or more options in a list: text, finite numbers, True, False, None, or tuples"
            )
            raise_invalid(f"{self.name}.options", self.options, allowed)
        object.__setattr__(self, "options", tuple(given))
        if len(set(map(repr, given))) < len(given):
            raise_invalid(f"{self.name}.options", self.options, "each option once")

    @property
    def size(self) -> int:
        """Coordinates: one for each option."""
        return len(self.options)

    def decode(self, u: np.ndarray) -> Any:
        """The option of the largest coordinate, the first of equals."""
        return self.options[int(np.argmax(u))]

    def encode(self, x: Any) -> np.ndarray:
        """The middle of an option's part: k / (k + 1) at its coordinate, half of that at the other k - 1.

        This is the one-hot vector, shrunk so that a trust region around one option contains points of the others. A number of another type counts where one option alone equals it: in a table 32 may have become 32.0, and None NaN.

        Raises:
            ValueError: none of the options.
        """
        x = _plain(x)
        x = None if isinstance(x, float) and math.isnan(x) else x
        # by their text: 1, 1.0 and True are equal, and so are tuples of them
        found = [type(option) is type(x) and repr(option) == repr(x) for option in self.options]
        if True not in found and type(x) in (int, float):
            found = [type(option) in (int, float) and option == x for option in self.options]
        if found.count(True) != 1:
            more = ", ..." if len(self.options) > SHOWN else ""
            raise_invalid(self.name, x, ", ".join(map(repr, self.options[:SHOWN])) + more)
        return (1 + np.array(found, float)) * self.size / (2 * (self.size + 1))


@dataclass(frozen=True)
class Space:
    """What a search is over: points are dicts of values by name.

    Attributes:
        dimensions: one or more of ``Real``, ``Integer`` and ``Category``, each with a name of its own.

    Raises:
        ValueError: no such list.
    """

    dimensions: tuple[Real | Integer | Category, ...]

    def __post_init__(self):
        given = self.dimensions if isinstance(self.dimensions, (tuple, list)) else ()
        if not given or not all(isinstance(x, (Real, Integer, Category)) for x in given):
            raise_invalid(
                "dimensions", self.dimensions, "a list of Real, Integer and Category, not empty"
            )
        object.__setattr__(self, "dimensions", tuple(given))
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise_invalid("name", twice[0], "another name for each dimension")
        if self.size > MOST:
            raise_invalid(
                "dimensions", self.size, f"at most {MOST} coordinates: each option has one"
            )

    @property
    def names(self) -> list[str]:
        """Of the dimensions, in order."""
        return [dimension.name for dimension in self.dimensions]

    @property
    def size(self) -> int:
        """d, the cube's coordinates."""
        return sum(dimension.size for dimension in self.dimensions)

    def decode(self, u: np.ndarray) -> dict[str, Any]:
        """The point at ``u`` in [0, 1]^d."""
        one = lambda x, part: x.decode(part if isinstance(x, Category) else float(part[0]))
        return {x.name: one(x, part) for x, part in self._parts(u)}

    def encode(self, x: Mapping[str, Any]) -> np.ndarray:
        """A ``u`` that decodes to ``x``, reals rounded to their digits.

        Raises:
            ValueError: other names, or a value outside its dimension.
        """
        if not isinstance(x, Mapping) or set(x) != set(self.names):
            raise_invalid("x", x, f"a dict of values of {', '.join(self.names)}")
        return snapped(np.hstack([one.encode(x[one.name]) for one in self.dimensions]))

    def nearest(self, u: np.ndarray) -> np.ndarray:
        """The point of the grid next to ``u``, with its options in the middle of their parts; it decodes to the same values."""
        one = lambda x, part: x.encode(x.decode(part)) if isinstance(x, Category) else part
        return snapped(np.hstack([one(x, part) for x, part in self._parts(u)]))

    def _parts(self, u: np.ndarray) -> list[tuple[Real | Integer | Category, np.ndarray]]:
        """Each dimension with its coordinates."""
        if len(u) != self.size:
            raise_invalid("u", u, f"{self.size} coordinates")
        ends = np.cumsum([x.size for x in self.dimensions])
        return list(zip(self.dimensions, np.split(np.asarray(u, float), ends[:-1])))

    def settings(self) -> dict[str, str]:
        """What tells it from another, by position; and how categories are encoded, where there are any."""
        told = {str(i): repr(dimension) for i, dimension in enumerate(self.dimensions, 1)}
        if any(isinstance(x, Category) for x in self.dimensions):
            told["categories"] = ENCODING
        return told


def snapped(u: np.ndarray) -> np.ndarray:
    """The nearest point of the grid, d."""
    return np.round(u * STEPS) / STEPS


def _plain(x: Any) -> Any:
    """Return Python's own number for numpy's, a Decimal or a Fraction."""
    if isinstance(x, (Decimal, Fraction)):
        with suppress(OverflowError):  # what is too large for a float is refused as it is
            return float(x)
    return to_python(x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x)


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise_invalid("name", name, "text, not empty")


def _check_order(name: str, lo: float, hi: float) -> None:
    if not lo < hi:
        raise_invalid(f"{name}.lo, {name}.hi", (lo, hi), "lo below hi")


def _is_option(x: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(_is_option, x))
    return type(x) in PLAIN and (not isinstance(x, float) or math.isfinite(x))
