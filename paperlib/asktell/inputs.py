"""Numbers as users give them, and warnings at the line where they did."""

import sys
import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.validation import array

TKWARGS = {"dtype": torch.float64, "device": "cpu"}


def number(name: str, value: Any) -> Tensor:
    """A copy of numbers of any shape, float64, led by the one trial.

    Raises:
        ValueError: no numbers (text, complex numbers, dates and ragged rows are none), or not
            finite; it says ``name``.
    """
    if getattr(value, "dtype", None) in (np.float32, torch.float32):
        warn(f"{name} comes in float32 and is computed with in float64")
    return torch.from_numpy(array(name, value)).unsqueeze(0)


def warn(message: str) -> None:
    """Warn at the line outside the package that called, however deep the call is in here."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paperlib."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, stacklevel=depth)
