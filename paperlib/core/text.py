"""Conversion of numbers to JSON and to text."""

import dataclasses
import math
from typing import Any

import numpy as np

LETTERS = 1000  # maximum number of characters of an error's text


def to_json(x: Any) -> Any:
    """Return numbers, arrays and records in JSON types.

    Floats are rounded to seven significant digits. Numbers that are not finite become strings.
    """
    if hasattr(x, "to_json"):
        return to_json(x.to_json())
    if hasattr(x, "_asdict"):
        return to_json(x._asdict())
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {f.name: to_json(getattr(x, f.name)) for f in dataclasses.fields(x)}
    if isinstance(x, dict):
        return {str(key): to_json(value) for key, value in x.items()}
    if hasattr(x, "tolist"):  # arrays, tensors, NumPy scalars
        return to_json(x.tolist())
    if isinstance(x, (list, tuple, range)):
        return [to_json(value) for value in x]
    if isinstance(x, float):
        return float(f"{x:.7g}") if math.isfinite(x) else str(x)
    return x if isinstance(x, (bool, int, str, type(None))) else str(x)


def format_number(x: float | int | str) -> str:
    """Return a number with three significant digits; integers below a million in absolute value are shown in full.

    Absolute values below 0.001 and from a million on have an exponent.

    Examples:
        >>> from paperlib.core.text import format_number
        >>> format_number(0.012345), format_number(31416), format_number(2.5e7)
        ('0.0123', '31416', '2.50e+07')
    """
    if isinstance(x, (bool, np.bool_, str)):
        return str(x)
    if isinstance(x, (int, np.integer)) and abs(x) < 1_000_000:
        return str(int(x))
    x = float(x)
    if not math.isfinite(x):
        return str(x)
    if x == 0:
        return "0"
    if not 1e-3 <= abs(x) < 1e6:
        return f"{x:.2e}"
    return f"{x:.{max(0, 2 - math.floor(math.log10(abs(x))))}f}"


def format_error(error: BaseException) -> str:
    """Return class and text of an error. A long text is truncated; if the text cannot be computed, return the class alone."""
    try:
        text = str(error)
        return f"{type(error).__name__}: {text[:LETTERS]}{'...' if len(text) > LETTERS else ''}"
    except Exception:  # ``__str__`` of a user-defined class may fail
        return type(error).__name__
