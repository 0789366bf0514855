"""Checks of settings and data that learners of all papers share. Constructors and ask/tell call them, never the hot path.

Numbers lie between 1e-30 and 1e30: products of up to ten of them are normal numbers of float64, so that no square or
fourth power in a formula under- or overflows. Data may be 0, and as large.
Every ValueError names the argument, its value and what is allowed.
Any scalar of numpy counts as the Python number that it is. A function computes with what the check returns, Python's
number: ``horizon = whole("horizon", horizon)``. Fields of dataclasses are Python's before they are checked
(``describe.frozen``).
Shapes: R trials, K arms, d dimensions.
"""

from collections.abc import Collection
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .describe import short_repr, to_python

SMALLEST, LARGEST = 1e-30, 1e30
CONDITION = 1e12  # a precision beyond so many times its ridge is inverted to few digits, or to none
ROWS = (torch.float64, torch.float32, torch.int64)  # what values by trial come in
INT64 = (1 << 63) - 1  # the largest
MOST = 1 << 24  # arms, dimensions, features: more would not fit into a machine
SINGLE = 2.0**-23  # eps of float32, in which data often come


def norm_slack(dim: int) -> float:
    """Return by how much the norm of a vector of ``dim`` numbers may exceed 1 by rounding.

    Vectors normalized in float32 exceed it by at most (dim / 4 + 1) eps: a sum of squares is off by dim / 2 eps, the
    norm by half of that and a rounding, and each quotient by half an eps. Twice that is allowed, at most 1e-3.
    """
    return min((dim + 4) / 2 * SINGLE, 1e-3)


def raise_invalid(name: str, value: Any, allowed: str) -> None:
    """Raise the ValueError that names the argument, its value and what is allowed."""
    raise ValueError(f"{name}={short_repr(value)}; allowed: {allowed}")


def is_number(value: Any) -> bool:
    """Whether ``value`` is a number that formulas take: Python's or a scalar of numpy, an integer up to 2^53.

    Torch takes no integer beyond int64, and float64 holds none beyond 2^53 exactly.
    """
    value = to_python(value)
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= 1 << 53
    return isinstance(value, float)


def check_number(
    name: str,
    value: Any,
    least: float = -LARGEST,
    most: float = LARGEST,
    *,
    by_trial: bool = False,
    zero: bool = False,
) -> float | Tensor:
    """Return ``value``; raise ValueError unless it is a number from ``smallest`` to ``most``.

    Args:
        by_trial: whether it may also be a tensor of one such number a trial, R.
        zero: whether it may be 0, too.
    """
    if isinstance(value, Tensor):
        fits = by_trial and value.dim() == 1 and value.dtype in ROWS and not value.requires_grad
        # NaN lies in no range
        inside = lambda x: (x >= least) & (x <= most) | ((x == 0) & zero)
        # in float32 a bound just below 1 would be 1
        good = fits and (value.device.type == "meta" or bool(inside(value.double()).all()))
    else:
        value = to_python(value)
        good = is_number(value) and (least <= value <= most or (zero and value == 0))
    if not good:
        above = ", 0 or" if zero else " above 0," if least > 0 else ""
        trials = ", or a tensor of one for each trial" if by_trial else ""
        finite = "" if most == float("inf") else "finite "
        raise_invalid(name, value, f"a {finite}number{above} from {least:g} to {most:g}{trials}")
    return value


def check_positive(
    name: str,
    value: float | Tensor,
    least: float = SMALLEST,
    most: float = LARGEST,
    *,
    by_trial: bool = False,
) -> float | Tensor:
    """Return ``value``; raise ValueError unless it, a number or ``per_trial_column`` one for each, is above 0, and neither too small nor too large to compute with."""
    return check_number(name, value, least, most, by_trial=by_trial)


def check_nonnegative(
    name: str, value: float | Tensor, *, by_trial: bool = False
) -> float | Tensor:
    """Return ``value``; raise ValueError unless it is 0 or as ``check_positive`` allows."""
    return check_number(name, value, SMALLEST, by_trial=by_trial, zero=True)


def check_probability(name: str, value: float) -> float:
    """Return ``value``, a failure probability; raise ValueError unless it lies in (0, 1], and not below 1e-30."""
    return check_number(name, value, SMALLEST, 1.0)


def check_coordinates(name: str, values: Any) -> tuple[float, ...]:
    """Return ``values``; raise ValueError unless they are a tuple of one or more numbers, up to 1e30 in size."""
    values = to_python(values)
    good = isinstance(values, tuple) and len(values) > 0
    if not (good and all(is_number(x) and -LARGEST <= x <= LARGEST for x in values)):
        raise_invalid(name, values, f"None, or a tuple of numbers from {-LARGEST:g} to {LARGEST:g}")
    return values


def check_integer(name: str, value: int, least: int = 1, most: int = INT64) -> int:
    """Return ``value``; raise ValueError unless it is an integer from ``smallest`` to ``most``; 20.0 is none."""
    value = to_python(value)
    good = isinstance(value, int) and not isinstance(value, bool)
    if not (good and least <= value <= most):
        upto = "below 2^63" if most == INT64 else f"at most {most}"
        raise_invalid(name, value, f"an integer, at least {least}, {upto}")
    return value


def check_size(name: str, value: int, least: int = 1) -> int:
    """Return ``value``; raise ValueError unless it is a whole number of which tensors may have as many entries."""
    return check_integer(name, value, least, MOST)


def check_in(name: str, value: Any, allowed: Collection) -> Any:
    """Return ``value``; raise ValueError unless it is one of ``allowed``, words, numbers or truth values; 1 is not True."""
    value = to_python(value)
    same = lambda x: isinstance(x, bool) == isinstance(value, bool) and x == value
    if not (isinstance(value, (str, int, float)) and any(map(same, allowed))):
        raise_invalid(name, value, ", ".join(map(str, allowed)))
    return value


def check_array(name: str, values: Any) -> np.ndarray:
    """A copy of finite numbers of any shape, float64.

    Raises:
        ValueError: no such numbers: text, complex numbers, dates, ragged or masked arrays are none; it says ``qualified_name``.
    """
    try:
        given = np.array(_detached(values))
        if isinstance(values, np.ma.MaskedArray) or given.dtype.kind not in "biufO":
            raise TypeError(f"{given.dtype} is no kind of number here")
        if given.dtype == object and not all(isinstance(x, Real) for x in given.flat):
            raise TypeError("not all of them are numbers")  # numpy would read text
        with np.errstate(over="ignore"):  # to what is refused below
            found = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}={short_repr(values)}; allowed: numbers") from error
    if not np.isfinite(found).all():
        raise_invalid(name, values, "finite numbers")
    return found


def _detached(values: Any) -> Any:
    """The same without gradients, which numpy does not read; also in a list that holds tensors."""
    if isinstance(values, Tensor):
        return values.detach().cpu().numpy()
    if isinstance(values, (list, tuple)) and any(
        isinstance(x, (Tensor, list, tuple)) for x in values
    ):
        return [_detached(x) for x in values]
    return values


def check_arms(arms: Tensor, arm: Tensor | None = None, name: str = "arms") -> None:
    """Check the arms on offer and the arm played.

    Args:
        arms: R x K x d or 1 x K x d with K, d >= 1, numbers up to 1e30 in size.
        arm: R indices in 0..K-1, or None.
        name: what the arms are called.

    Raises:
        ValueError: an empty or non-finite set of arms, or an unknown index.
    """
    if not isinstance(arms, Tensor) or arms.dim() != 3 or 0 in arms.shape:
        shape = tuple(arms.shape) if isinstance(arms, Tensor) else type(arms).__name__
        raise ValueError(
            f"{name}: {shape}; allowed: a tensor R x K x d or 1 x K x d with at least one arm and one dimension"
        )
    if arms.device.type == "meta":
        return
    check_finite(name, arms, LARGEST)
    if arm is not None and not bool(((arm >= 0) & (arm < arms.shape[1])).all()):
        raise ValueError(f"arm={arm.tolist()}; allowed: 0..{arms.shape[1] - 1}")


def check_finite(name: str, values: Tensor, most: float | None = None) -> None:
    """Raise ValueError naming the first number that is not finite, or beyond ``most`` in size."""
    if values.device.type == "meta":
        return
    inside = values.isfinite() if most is None else values.abs() <= most
    if not bool(inside.all()):
        upto = "" if most is None else f", up to {most:g} in size"
        raise_invalid(name, values[~inside][0].item(), f"finite numbers{upto}")
