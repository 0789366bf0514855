"""One real number, whatever type holds it."""

import math
from collections.abc import Sized
from typing import Any

import numpy as np

from ..core.describe import brief


def real_number(name: str, value: Any) -> float:
    """Return the one real number that ``value`` holds.

    Accepted are Python's and numpy's numbers, ``Decimal``, ``Fraction`` and every other type with ``__float__``, and
    lists, arrays, tensors and columns of exactly one such number. For example, ``np.array([0.5])`` is 0.5. NaN and
    infinity are returned as they are. A number beyond the range of float64, such as ``10**400``, becomes infinity.

    Args:
        name: of the argument, for the message.

    Raises:
        ValueError: text, a truth value, None, a date, a complex or masked number, or more or fewer than one number.
    """
    try:
        return _converted(_only(value))
    except Exception as error:  # a type outside this package may raise anything
        raise ValueError(f"{name} must be one real number, got {brief(value)}") from error


def _only(value: Any) -> Any:
    """The entry of a container of one, however nested; else the value itself."""
    if isinstance(value, (list, tuple)):
        return _only(value[0]) if len(value) == 1 else value
    if isinstance(value, np.generic) or np.ma.is_masked(value) or not hasattr(value, "shape"):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "item"):  # a tensor or a column
        return value.item()
    return np.asarray(value).reshape(1)[0]  # ``item`` would make integers of dates


def _converted(one: Any) -> float:
    # of numpy's other kinds, ``float`` would drop imaginary parts and read durations
    other = isinstance(one, np.generic) and one.dtype.kind not in "iuf"
    if other or isinstance(one, (bool, Sized)):
        raise TypeError(f"{type(one).__name__} is not a real number")
    try:
        return float(one)
    except OverflowError:  # of an integer or a Fraction
        return math.inf if one > 0 else -math.inf
