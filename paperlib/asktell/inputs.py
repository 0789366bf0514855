"""Numbers and devices as users give them, and warnings at the line where they did."""

import sys
import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.linalg import pick_device
from ..core.validation import array, refuse


def placed(device: str | torch.device | None) -> torch.device:
    """The device of that name; None: the CPU.

    Raises:
        ValueError: none on which numbers are computed, or one that is not here.
    """
    name = "cpu" if device is None else str(device) if isinstance(device, torch.device) else device
    allowed = "None, cpu, cuda, cuda:N, or such a torch.device"
    if not isinstance(name, str) or name.startswith("meta"):  # which holds no numbers
        refuse("device", device, allowed)
    try:
        found = torch.device(pick_device(name))
    except RuntimeError as error:  # cuda:x
        raise ValueError(f"device={name!r}; allowed: {allowed}") from error
    if found.type != "cuda":
        return found
    index = torch.cuda.current_device() if found.index is None else found.index
    if index >= (count := torch.cuda.device_count()):
        refuse("device", name, f"cuda:0..{count - 1}")
    return torch.device("cuda", index)  # also where another becomes the current one


def number(name: str, value: Any, device: torch.device | str = "cpu") -> Tensor:
    """A copy of numbers of any shape, float64, led by the one trial, on a device.

    Raises:
        ValueError: no numbers (text, complex numbers, dates and ragged rows are none), or not
            finite; it says ``name``.
    """
    if getattr(value, "dtype", None) in (np.float32, torch.float32):
        warn(f"{name} comes in float32 and is computed with in float64")
    return torch.from_numpy(array(name, value)).unsqueeze(0).to(device)


def dimensions(x: Any) -> int:
    """The number of dimensions of what may be an array: 2 for rows of unlike lengths."""
    try:
        return np.ndim(x)
    except Exception:  # a type outside this package may raise anything
        return 2


def entries(many: Any) -> list:
    """The entries of a list, an array, or a table; of what is none, or has no order, none."""
    if isinstance(many, (dict, set, frozenset, str, bytes)):
        return []
    try:  # a table iterates over the names of its columns
        return list(many.to_numpy() if hasattr(many, "to_numpy") else many)
    except Exception:  # a type outside this package may raise anything
        return []


def host(x: Tensor) -> np.ndarray:
    """A copy of a tensor in numpy, whatever device it is on."""
    return x.cpu().numpy().copy()


def warn(message: str) -> None:
    """Warn at the line outside the package that called, however deep the call is in here."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paperlib."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, stacklevel=depth)
