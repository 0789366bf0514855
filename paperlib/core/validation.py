"""Checks of settings and data that the learners of all papers share.

Constructors and ask/tell call these functions; the loop over rounds does not.

Settings lie between 1e-30 and 1e30 in absolute value. Products of up to ten such numbers are normal float64 numbers, so that
no square or fourth power in a formula under- or overflows. Data may also be 0, and have the same upper bound.

Every ValueError contains the argument, the requirement and the value, for example "noise must be positive, got -1.0". Every NumPy scalar is accepted as a Python number. A function
computes with the return value of the check, which is a Python number: ``horizon = check_integer("horizon", horizon)``. Fields of
dataclasses are converted to Python numbers before they are checked (``describe.frozen_dataclass``).
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
CONDITION = 1e12  # a precision matrix above this multiple of its ridge has an inverse with few or no correct digits
ROWS = (torch.float64, torch.float32, torch.int64)  # dtypes of per-trial settings
INT64 = (1 << 63) - 1  # the largest int64
MOST = 1 << 24  # largest number of arms, dimensions or features; more would not fit into memory
SINGLE = 2.0**-23  # eps of float32, the precision of much data


def norm_slack(dim: int) -> float:
    """Return the amount by which the norm of a vector of ``dim`` numbers may exceed 1 because of rounding.

    The norm of a vector that was normalized in float32 exceeds 1 by at most (dim / 4 + 1) eps. The relative error of the sum of squares
    is dim / 2 eps, the error of the norm is half of that plus a rounding, and each quotient adds half an eps. The tolerance is twice this
    bound, and at most 1e-3.
    """
    return min((dim + 4) / 2 * SINGLE, 1e-3)


def raise_invalid(name: str, value: Any, requirement: str) -> None:
    """Raise a ValueError with the argument, the requirement and the value.

    The requirement completes the sentence "<name> must be ...", for example "positive" or "at least 1".
    """
    raise ValueError(f"{name} must be {requirement}, got {short_repr(value)}")


def list_options(options: Collection) -> str:
    """Return the options for a message.

    Examples:
        >>> from paperlib.core.validation import list_options
        >>> list_options(("a", "b")), list_options(("a",))
        ("one of 'a', 'b'", "'a'")
    """
    listed = ", ".join(map(repr, options))
    return f"one of {listed}" if len(options) > 1 else listed


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a Python or NumPy number for use in formulas; integers are at most 2^53 in absolute value.

    Torch does not accept integers beyond int64, and float64 does not represent all integers beyond 2^53 exactly.
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
    """Return ``value``; raise ValueError unless it is a number from ``least`` to ``most``.

    Args:
        by_trial: whether a tensor with one such number per trial, R, is also allowed.
        zero: whether 0 is also allowed.

    Examples:
        >>> import numpy as np
        >>> from paperlib.core.validation import check_number
        >>> check_number("scale", np.float32(0.5), least=0.1, most=1.0)
        0.5
        >>> check_number("scale", 2, least=0.1, most=1.0)
        Traceback (most recent call last):
            ...
        ValueError: scale must be a positive number from 0.1 to 1, got 2
    """
    if isinstance(value, Tensor):
        fits = by_trial and value.dim() == 1 and value.dtype in ROWS and not value.requires_grad
        # Every comparison with NaN is False, so NaN is rejected.
        inside = lambda x: (x >= least) & (x <= most) | ((x == 0) & zero)
        # Compare in float64, because float32 would round a bound just below 1 to 1.
        good = fits and (value.device.type == "meta" or bool(inside(value.double()).all()))
    else:
        value = to_python(value)
        good = is_number(value) and (least <= value <= most or (zero and value == 0))
    if not good:
        kind = f"{'0 or ' if zero else ''}a {'positive ' if least > 0 else ''}number"
        trials = ", or a tensor with one such number per trial" if by_trial else ""
        raise_invalid(name, value, f"{kind} from {least:g} to {most:g}{trials}")
    return value


def check_positive(
    name: str,
    value: float | Tensor,
    least: float = SMALLEST,
    most: float = LARGEST,
    *,
    by_trial: bool = False,
) -> float | Tensor:
    """Return ``value``; raise ValueError unless it is a number from ``least`` to ``most``, by default from 1e-30 to 1e30.

    With ``by_trial``, a tensor with one such number per trial is also allowed.
    """
    return check_number(name, value, least, most, by_trial=by_trial)


def check_nonnegative(
    name: str, value: float | Tensor, *, by_trial: bool = False
) -> float | Tensor:
    """Return ``value``; raise ValueError unless it is 0 or a value that ``check_positive`` accepts."""
    return check_number(name, value, SMALLEST, by_trial=by_trial, zero=True)


def check_probability(name: str, value: float) -> float:
    """Return ``value``, a failure probability; raise ValueError unless it lies in [1e-30, 1]."""
    return check_number(name, value, SMALLEST, 1.0)


def check_coordinates(name: str, values: Any) -> tuple[float, ...]:
    """Return ``values``; raise ValueError unless it is a tuple of at least one number, each of absolute value up to 1e30."""
    values = to_python(values)
    good = isinstance(values, tuple) and len(values) > 0
    if not (good and all(is_number(x) and -LARGEST <= x <= LARGEST for x in values)):
        raise_invalid(name, values, f"None or a tuple of numbers from {-LARGEST:g} to {LARGEST:g}")
    return values


def check_integer(name: str, value: int, least: int = 1, most: int = INT64) -> int:
    """Return ``value``; raise ValueError unless it is an integer from ``least`` to ``most``. A float such as 20.0 is rejected."""
    value = to_python(value)
    good = isinstance(value, int) and not isinstance(value, bool)
    if not (good and least <= value <= most):
        largest = "2^63 - 1" if most == INT64 else most
        raise_invalid(name, value, f"an integer from {least} to {largest}")
    return value


def check_size(name: str, value: int, least: int = 1) -> int:
    """Return ``value``; raise ValueError unless it is an integer from ``least`` to 2^24, a possible number of entries of a tensor."""
    return check_integer(name, value, least, MOST)


def check_in(name: str, value: Any, allowed: Collection) -> Any:
    """Return ``value``; raise ValueError unless it is one of ``allowed`` (strings, numbers or Booleans; 1 is not True)."""
    value = to_python(value)
    same = lambda x: isinstance(x, bool) == isinstance(value, bool) and x == value
    if not (isinstance(value, (str, int, float)) and any(map(same, allowed))):
        raise_invalid(name, value, list_options(allowed))
    return value


def check_array(name: str, values: Any) -> np.ndarray:
    """Return a float64 copy of finite numbers of any shape.

    Raises:
        ValueError: other values, for example text, complex numbers, dates, ragged or masked arrays. The message contains ``name``.
    """
    try:
        given = np.array(_detached(values))
        if isinstance(values, np.ma.MaskedArray) or given.dtype.kind not in "biufO":
            raise TypeError(f"arrays of dtype {given.dtype} are not supported")
        if given.dtype == object and not all(isinstance(x, Real) for x in given.flat):
            raise TypeError("not all entries are numbers")  # NumPy would convert text to numbers
        with np.errstate(over="ignore"):  # an overflow to inf is rejected below
            found = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers, got {short_repr(values)}") from error
    if not np.isfinite(found).all():
        raise_invalid(name, values, "an array of finite numbers")
    return found


def _detached(values: Any) -> Any:
    """Return the values without gradients, because NumPy cannot convert tensors that require them; also within lists."""
    if isinstance(values, Tensor):
        return values.detach().cpu().numpy()
    if isinstance(values, (list, tuple)) and any(
        isinstance(x, (Tensor, list, tuple)) for x in values
    ):
        return [_detached(x) for x in values]
    return values


def check_arms(arms: Tensor, arm: Tensor | None = None, name: str = "arms") -> None:
    """Check the available arms and the index of the pulled arm.

    Args:
        arms: R x K x d or 1 x K x d with K, d >= 1, numbers of absolute value up to 1e30.
        arm: R indices in 0..K-1, or None.
        name: name of the arms in messages.

    Raises:
        ValueError: an empty or non-finite set of arms, or an unknown index.
    """
    if not isinstance(arms, Tensor) or arms.dim() != 3 or 0 in arms.shape:
        is_tensor = isinstance(arms, Tensor)
        given = f"shape {tuple(arms.shape)}" if is_tensor else f"type {type(arms).__name__}"
        raise ValueError(
            f"{name} must be a tensor of shape R x K x d or 1 x K x d with at least one arm and one dimension, got {given}"
        )
    if arms.device.type == "meta":
        return
    check_finite(name, arms, LARGEST)
    if arm is not None and not bool(((arm >= 0) & (arm < arms.shape[1])).all()):
        raise ValueError(
            f"arm must contain indices from 0 to {arms.shape[1] - 1}, got {arm.tolist()}"
        )


def check_finite(name: str, values: Tensor, most: float | None = None) -> None:
    """Raise ValueError with the first number that is not finite, or exceeds ``most`` in absolute value."""
    if values.device.type == "meta":
        return
    inside = values.isfinite() if most is None else values.abs() <= most
    if not bool(inside.all()):
        limit = "" if most is None else f" and at most {most:g} in absolute value"
        raise_invalid(name, values[~inside][0].item(), f"finite{limit}")
