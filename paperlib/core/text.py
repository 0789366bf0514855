"""Numbers as JSON and as text."""

import dataclasses
import math
from typing import Any

import numpy as np


def plain(x: Any) -> Any:
    """JSON form of numbers, arrays and records: seven significant digits; what is not finite becomes a string."""
    if hasattr(x, "to_json"):
        return plain(x.to_json())
    if hasattr(x, "_asdict"):
        return plain(x._asdict())
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {f.name: plain(getattr(x, f.name)) for f in dataclasses.fields(x)}
    if isinstance(x, dict):
        return {str(key): plain(value) for key, value in x.items()}
    if hasattr(x, "tolist"):  # arrays, tensors, numpy's numbers
        return plain(x.tolist())
    if isinstance(x, (list, tuple, range)):
        return [plain(value) for value in x]
    if isinstance(x, float):
        return float(f"{x:.7g}") if math.isfinite(x) else str(x)
    return x if isinstance(x, (bool, int, str, type(None))) else str(x)


def number(x: float | int | str) -> str:
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
