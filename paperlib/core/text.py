"""Numbers as JSON and as text."""

import dataclasses
import math
from typing import Any

import numpy as np

LETTERS = 1000  # of an error's text, at most


def to_json(x: Any) -> Any:
    """JSON form of numbers, arrays and records: seven significant digits; what is not finite becomes a string."""
    if hasattr(x, "to_json"):
        return to_json(x.to_json())
    if hasattr(x, "_asdict"):
        return to_json(x._asdict())
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {f.name: to_json(getattr(x, f.name)) for f in dataclasses.fields(x)}
    if isinstance(x, dict):
        return {str(key): to_json(value) for key, value in x.items()}
    if hasattr(x, "tolist"):  # arrays, tensors, numpy's numbers
        return to_json(x.tolist())
    if isinstance(x, (list, tuple, range)):
        return [to_json(value) for value in x]
    if isinstance(x, float):
        return float(f"{x:.7g}") if math.isfinite(x) else str(x)
    return x if isinstance(x, (bool, int, str, type(None))) else str(x)


def format_number(x: float | int | str) -> str:
    """Three significant digits, without exponent where that is short; integers below a million in full."""
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
    """Return class and text of an error, a long text cut; the class alone if its text cannot be computed."""
    try:
        text = str(error)
        return f"{type(error).__name__}: {text[:LETTERS]}{'...' if len(text) > LETTERS else ''}"
    except Exception:  # of a user's own class
        return type(error).__name__
