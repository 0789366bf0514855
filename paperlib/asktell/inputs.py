"""Numbers and devices as users give them, and warnings at the line where they did."""

import math
import sys
import warnings
from collections.abc import Sized
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.describe import short_repr
from ..core.linalg import pick_device
from ..core.validation import check_array, raise_invalid


def resolve_device(device: str | torch.device | None) -> torch.device:
    """The device of that name; None: the CPU.

    Raises:
        ValueError: none on which numbers are computed, or one that is not here.
    """
    name = "cpu" if device is None else str(device) if isinstance(device, torch.device) else device
    allowed = "None, cpu, cuda, cuda:N, or such a torch.device"
    if not isinstance(name, str) or name.startswith("meta"):  # which holds no numbers
        raise_invalid("device", device, allowed)
    try:
        found = torch.device(pick_device(name))
    except RuntimeError as error:  # cuda:x
        raise ValueError(f"device={name!r}; allowed: {allowed}") from error
    if found.type != "cuda":
        return found
    index = torch.cuda.current_device() if found.index is None else found.index
    if index >= (count := torch.cuda.device_count()):
        raise_invalid("device", name, f"cuda:0..{count - 1}")
    return torch.device("cuda", index)  # also where another becomes the current one


def as_trial_tensor(name: str, value: Any, device: torch.device | str = "cpu") -> Tensor:
    """A copy of numbers of any shape, float64, led by the one trial, on a device.

    Raises:
        ValueError: no numbers (text, complex numbers, dates and ragged rows are none), or not
            finite; it says ``name``.
    """
    if getattr(value, "dtype", None) in (np.float32, torch.float32):
        warn_caller(f"{name} comes in float32 and is computed with in float64")
    return torch.from_numpy(check_array(name, value)).unsqueeze(0).to(device)


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
        raise ValueError(f"{name} must be one real number, got {short_repr(value)}") from error


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


def finite_number(name: str, value: Any) -> float:
    """The one finite number that ``value`` holds, see ``real_number``."""
    found = real_number(name, value)
    if not math.isfinite(found):
        raise ValueError(f"{name} must be finite, got {short_repr(value)}")
    return found


def count_dimensions(x: Any) -> int:
    """The number of dimensions of what may be an array: 2 for rows of unlike lengths."""
    try:
        return np.ndim(x)
    except Exception:  # a type outside this package may raise anything
        return 2


def list_entries(many: Any) -> list:
    """The entries of a list, an array, or a table; of what is none, or has no order, none."""
    if isinstance(many, (dict, set, frozenset, str, bytes)):
        return []
    try:  # a table iterates over the names of its columns
        return list(many.to_numpy() if hasattr(many, "to_numpy") else many)
    except Exception:  # a type outside this package may raise anything
        return []


def to_numpy(x: Tensor) -> np.ndarray:
    """A copy of a tensor in numpy, whatever device it is on."""
    return x.cpu().numpy().copy()


def warn_caller(message: str) -> None:
    """Warn at the line outside the package that called, however deep the call is in here."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paperlib."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, stacklevel=depth)
