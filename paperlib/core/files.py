"""Where the package and its checkout lie, and files that are moved into place whole."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parent


def write_atomically(path: str | os.PathLike, write: Callable[[Any], None]) -> None:
    """Let ``write`` fill a binary file under a temporary name, then move it to ``path``."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
