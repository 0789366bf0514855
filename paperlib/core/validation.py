"""Checks of settings and data that learners of all papers share. Constructors and ask/tell call them, never the hot path.

Every ValueError names the argument, its value and what is allowed.
Shapes: R trials, K arms, d dimensions.
"""

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from torch import Tensor


def _check(name: str, value: Any, allowed: str, inside) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if isinstance(value, Tensor):  # one value a trial, R
        good = value.device.type == "meta" or bool((value.isfinite() & inside(value)).all())
    else:
        good = number and math.isfinite(value) and bool(inside(value))
    if not good:
        raise ValueError(f"{name}={value!r}; allowed: {allowed}")


def positive(name: str, value: float | Tensor) -> None:
    """Raise ValueError unless ``value``, a number or one per trial, is finite and above 0."""
    _check(name, value, "a finite number above 0", lambda x: x > 0)


def nonnegative(name: str, value: float | Tensor) -> None:
    """Raise ValueError unless ``value``, a number or one per trial, is finite and at least 0."""
    _check(name, value, "a finite number, at least 0", lambda x: x >= 0)


def probability(name: str, value: float) -> None:
    """Raise ValueError unless ``value``, a failure probability, lies in (0, 1]."""
    _check(name, value, "a number in (0, 1]", lambda x: (x > 0) & (x <= 1))


def whole(name: str, value: int, least: int = 1) -> None:
    """Raise ValueError unless ``value`` is an integer, Python's or numpy's, >= ``least``; 20.0 is none."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r}; allowed: an integer, at least {least}")


def one_of(name: str, value: Any, allowed: Collection) -> None:
    """Raise ValueError unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r}; allowed: {', '.join(map(str, allowed))}")


def menu(arms: Tensor, arm: Tensor | None = None) -> None:
    """Check the arms on offer and the arm played.

    Args:
        arms: R x K x d or 1 x K x d with K, d >= 1, finite.
        arm: R indices in 0..K-1, or None.

    Raises:
        ValueError: an empty or non-finite set of arms, or an unknown index.
    """
    if not isinstance(arms, Tensor) or arms.dim() != 3 or 0 in arms.shape:
        shape = tuple(arms.shape) if isinstance(arms, Tensor) else type(arms).__name__
        raise ValueError(
            f"arms: {shape}; allowed: a tensor R x K x d or 1 x K x d with at least one arm and one dimension"
        )
    if arms.device.type == "meta":
        return
    finite("arms", arms)
    if arm is not None and not bool(((arm >= 0) & (arm < arms.shape[1])).all()):
        raise ValueError(f"arm={arm.tolist()}; allowed: 0..{arms.shape[1] - 1}")


def finite(name: str, values: Tensor) -> None:
    """Raise ValueError naming the first number that is not finite."""
    if values.device.type != "meta" and not bool(values.isfinite().all()):
        raise ValueError(
            f"{name}={values[~values.isfinite()][0].item()!r}; allowed: finite numbers"
        )
