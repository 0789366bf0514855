"""Conversion of the numbers and devices that users pass, and warnings that point at the user's line."""

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
    """Return the device of that name; None means the CPU.

    Raises:
        ValueError: a name that is not a device, the meta device (which holds no numbers), or an unavailable device.
    """
    name = "cpu" if device is None else str(device) if isinstance(device, torch.device) else device
    requirement = "None, 'cpu', 'cuda', 'cuda:N' with an integer N, or such a torch.device"
    if not isinstance(name, str) or name.startswith("meta"):  # the meta device holds no numbers
        raise_invalid("device", device, requirement)
    try:
        found = torch.device(pick_device(name))
    except RuntimeError as error:  # torch raises it for names such as cuda:x
        raise ValueError(f"device must be {requirement}, got {name!r}") from error
    if found.type != "cuda":
        return found
    index = torch.cuda.current_device() if found.index is None else found.index
    if index >= (count := torch.cuda.device_count()):
        raise_invalid("device", name, f"'cuda' or 'cuda:N' with N from 0 to {count - 1}")
    # With an explicit index the device stays the same if another one becomes the current device.
    return torch.device("cuda", index)


def as_trial_tensor(name: str, value: Any, device: torch.device | str = "cpu") -> Tensor:
    """Return a float64 copy of numbers of any shape on a device, with a leading trial dimension of 1.

    Raises:
        ValueError: values that are not finite real numbers, for example text, complex numbers, dates or ragged rows. The
            message contains ``name``.
    """
    if getattr(value, "dtype", None) in (np.float32, torch.float32):
        warn_caller(f"{name} has dtype float32 and is converted to float64 for the computation")
    return torch.from_numpy(check_array(name, value)).unsqueeze(0).to(device)


def real_number(name: str, value: Any) -> float:
    """Return the one real number that ``value`` holds.

    Accepted are Python's and numpy's numbers, ``Decimal``, ``Fraction`` and every other type with ``__float__``, and
    lists, arrays, tensors and columns of exactly one such number. For example, ``np.array([0.5])`` is 0.5. NaN and
    infinity are returned as they are. A number beyond the range of float64, such as ``10**400``, becomes infinity.

    Args:
        name: name of the argument in the message.

    Raises:
        ValueError: text, a Boolean, None, a date, a complex or masked number, or more or fewer than one number.
    """
    try:
        return _converted(_only(value))
    except Exception as error:  # a type of another package may raise any error
        raise ValueError(f"{name} must be one real number, got {short_repr(value)}") from error


def _only(value: Any) -> Any:
    """Return the single entry of a container, however nested; otherwise the value itself."""
    if isinstance(value, (list, tuple)):
        return _only(value[0]) if len(value) == 1 else value
    if isinstance(value, np.generic) or np.ma.is_masked(value) or not hasattr(value, "shape"):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "item"):  # a tensor or a column
        return value.item()
    return np.asarray(value).reshape(1)[0]  # ``item`` would convert dates to integers


def _converted(one: Any) -> float:
    # For the other kinds of numpy's scalars, ``float`` would drop imaginary parts and accept durations.
    other = isinstance(one, np.generic) and one.dtype.kind not in "iuf"
    if other or isinstance(one, (bool, Sized)):
        raise TypeError(f"{type(one).__name__} is not a real number")
    try:
        return float(one)
    except OverflowError:  # an integer or a Fraction may exceed float64
        return math.inf if one > 0 else -math.inf


def finite_number(name: str, value: Any) -> float:
    """Return the one finite number that ``value`` holds, see ``real_number``."""
    found = real_number(name, value)
    if not math.isfinite(found):
        raise ValueError(f"{name} must be finite, got {short_repr(value)}")
    return found


def count_dimensions(x: Any) -> int:
    """Return the number of dimensions of a value that may be an array; rows of different lengths give 2."""
    try:
        return np.ndim(x)
    except Exception:  # a type of another package may raise any error
        return 2


def list_entries(many: Any) -> list:
    """Return the entries of a list, an array or a table; an empty list for other values and for unordered collections."""
    if isinstance(many, (dict, set, frozenset, str, bytes)):
        return []
    try:  # a table is converted first, because it iterates over the names of its columns
        return list(many.to_numpy() if hasattr(many, "to_numpy") else many)
    except Exception:  # a type of another package may raise any error
        return []


def to_numpy(x: Tensor) -> np.ndarray:
    """Return a NumPy copy of a tensor on any device."""
    return x.cpu().numpy().copy()


def warn_caller(message: str) -> None:
    """Issue a warning that points at the calling line outside the package, however deep the call stack."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paperlib."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, stacklevel=depth)
