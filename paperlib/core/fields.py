"""Dataclass fields with a declared range, which the constructor checks.

``describe.frozen_dataclass`` runs the checks before ``__post_init__``, and ``tests/core/test_fields.py`` tests values outside each
declared range. For example, a learner with a positive noise level and one of two variants:

    >>> from paperlib.core.describe import frozen_dataclass
    >>> from paperlib.core.fields import one_of, positive
    >>> @frozen_dataclass
    ... class Example:
    ...     noise: float = positive()
    ...     variant: str = one_of(("paper", "public"), "paper")
    >>> Example(0.5)
    Example(noise=0.5)

Every function takes the argument ``default``; a field without a default is required. With ``optional=True`` the field may be None, too.
With ``by_trial=True`` it may be a tensor of one number per trial.
"""

import dataclasses
import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from . import validation
from .validation import INT64, LARGEST, MOST, SMALLEST

MISSING = dataclasses.MISSING


class Range(NamedTuple):
    """Declared range of a field."""

    check: Callable[[str, Any], Any]  # raises ValueError for a value out of range
    outside: tuple  # examples of values that it rejects


def _field(check: Callable, outside: tuple, default: Any, optional: bool = False) -> Any:
    declared = (lambda name, x: None if x is None else check(name, x)) if optional else check
    metadata = {"range": Range(declared, outside)}
    return dataclasses.field(default=default, metadata=metadata)


def number(
    default: Any = MISSING,
    least: float = -LARGEST,
    most: float = LARGEST,
    *,
    by_trial: bool = False,
    zero: bool = False,
    optional: bool = False,
) -> Any:
    """Declare a number from ``least`` to ``most``, which may be inf. With ``zero``, 0 is also allowed."""
    check = lambda name, x: validation.check_number(
        name, x, least, most, by_trial=by_trial, zero=zero
    )
    # Values outside each end; the tests of invalid values use them.
    below = (least - abs(least) / 2 - 1,) if least > -LARGEST else ()
    above = (2 * most + 1, math.inf) if most < math.inf else ()
    return _field(check, (*below, *above, math.nan, True, "1"), default, optional)


def positive(default: Any = MISSING, least: float = SMALLEST, **options: Any) -> Any:
    """Declare a number above 0. ``options``: as for ``number``."""
    return number(default, least, **options)


def nonnegative(default: Any = MISSING, **options: Any) -> Any:
    """Declare a number of at least 0. ``options``: as for ``number``."""
    return number(default, SMALLEST, zero=True, **options)


def probability(default: Any = MISSING, **options: Any) -> Any:
    """Declare a failure probability, in (0, 1]. ``options``: as for ``number``."""
    return number(default, SMALLEST, 1.0, **options)


def whole(
    default: Any = MISSING, least: int = 1, most: int = INT64, *, optional: bool = False
) -> Any:
    """Declare an integer from ``least`` to ``most``."""
    check = lambda name, x: validation.check_integer(name, x, least, most)
    return _field(check, (least - 1, least + 0.5, math.nan, True), default, optional)


def size(default: Any = MISSING, least: int = 1, *, optional: bool = False) -> Any:
    """Declare a number of entries of a tensor, at least ``least``."""
    return whole(default, least, MOST, optional=optional)


def one_of(allowed: Collection, default: Any = MISSING) -> Any:
    """Declare one of several strings, numbers or Booleans; 1 does not count as True."""
    check = lambda name, x: validation.check_in(name, x, allowed)
    near = [
        x
        for x in (None, 0, 1)
        if not any(x is y or (type(x) is type(y) and x == y) for y in allowed)
    ]
    return _field(check, ("no such option", *near), default)


def declared_ranges(x: Any) -> dict[str, Range]:
    """Return the declared ranges of a dataclass or its instance, by field."""
    return {f.name: f.metadata["range"] for f in dataclasses.fields(x) if "range" in f.metadata}
