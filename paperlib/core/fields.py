"""Fields of frozen dataclasses with the range that their constructor checks.

``describe.frozen`` runs the checks before ``__post_init__``, and ``tests/core/test_fields.py`` tries values outside of each declared
range. For example, a learner with a positive noise level and one of two variants::

    @frozen
    class Mine:
        noise: float = positive()
        variant: str = one_of(("paper", "public"), "paper")

Every function takes the default last or as ``default``; without one the field is required. ``call_optional`` fields may be None, too.
``per_trial_column`` fields may be a tensor of one number per trial.
"""

import dataclasses
import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from . import validation
from .validation import INT64, LARGEST, MOST, SMALLEST

MISSING = dataclasses.MISSING


class Range(NamedTuple):
    """What a field declares."""

    check: Callable[[str, Any], Any]  # raises ValueError for a value out of range
    outside: tuple  # values that it refuses


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
    """A number from ``smallest`` to ``most``, which may be inf; with ``zero`` also 0."""
    check = lambda name, x: validation.check_number(
        name, x, least, most, by_trial=by_trial, zero=zero
    )
    # values just outside of each end, for the tests of refusals
    below = (least - abs(least) / 2 - 1,) if least > -LARGEST else ()
    above = (2 * most + 1, math.inf) if most < math.inf else ()
    return _field(check, (*below, *above, math.nan, True, "1"), default, optional)


def positive(default: Any = MISSING, least: float = SMALLEST, **options: Any) -> Any:
    """A number above 0. ``options``: as for ``as_scalar``."""
    return number(default, least, **options)


def nonnegative(default: Any = MISSING, **options: Any) -> Any:
    """A number of at least 0. ``options``: as for ``as_scalar``."""
    return number(default, SMALLEST, zero=True, **options)


def probability(default: Any = MISSING, **options: Any) -> Any:
    """A failure probability, in (0, 1]. ``options``: as for ``as_scalar``."""
    return number(default, SMALLEST, 1.0, **options)


def whole(
    default: Any = MISSING, least: int = 1, most: int = INT64, *, optional: bool = False
) -> Any:
    """An integer from ``smallest`` to ``most``."""
    check = lambda name, x: validation.check_integer(name, x, least, most)
    return _field(check, (least - 1, least + 0.5, math.nan, True), default, optional)


def size(default: Any = MISSING, least: int = 1, *, optional: bool = False) -> Any:
    """A number of entries of a tensor, at least ``smallest``."""
    return whole(default, least, MOST, optional=optional)


def one_of(allowed: Collection, default: Any = MISSING) -> Any:
    """One of some words, numbers or truth values; 1 is not True."""
    check = lambda name, x: validation.check_in(name, x, allowed)
    near = [
        x
        for x in (None, 0, 1)
        if not any(x is y or (type(x) is type(y) and x == y) for y in allowed)
    ]
    return _field(check, ("no such option", *near), default)


def declared_ranges(x: Any) -> dict[str, Range]:
    """The declared ranges of a dataclass or an instance of one, by field."""
    return {f.name: f.metadata["range"] for f in dataclasses.fields(x) if "range" in f.metadata}
