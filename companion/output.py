"""What is written for readers: where it goes, and numbers as JSON and as text."""

import dataclasses
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from paperlib.core.files import write_atomically
from .project import figures

FOLDERS = {"quick": "quick", "paper": "", "custom": "custom"}  # below that of all figures


def folder(profile: str) -> Path:
    """The folder of figures and verdicts: ``figures/`` for the paper profile, ``figures/quick/`` for the quick one.

    Runs with parameters that no profile declares write to ``figures/custom/``. The environment variable
    PAPERLIB_FIGURES names another folder instead of ``figures/``.

    Raises:
        ValueError: an unknown profile.
    """
    if profile not in FOLDERS:
        raise ValueError(f"profile={profile!r}; allowed: {', '.join(FOLDERS)}")
    return figures() / FOLDERS[profile]


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


def write_json(path: Path, content: Any) -> None:
    """Write ``plain(content)`` atomically."""
    text = json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def write_text(path: Path, text: str) -> None:
    """Write ``text`` atomically, in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` atomically, and say so in the file that PAPERLIB_WRITTEN names: the workflow asks what a notebook wrote."""
    write_atomically(path, lambda file: file.write(content))
    if said := os.environ.get("PAPERLIB_WRITTEN"):
        with open(said, "a") as file:
            file.write(f"{Path(path).resolve()}\n")


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
