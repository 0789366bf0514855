"""Where figures, verdicts and pages are written."""

import json
import os
from pathlib import Path
from typing import Any

from paperlib.core.files import write_atomically
from paperlib.core.text import plain

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
