"""The project's folder, and the folders for figures, verdicts and pages."""

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paperlib.core.files import CHECKOUT, write_atomically
from paperlib.core.text import to_json

log = logging.getLogger(__name__)

# Folders of the profiles, relative to the folder of all figures.
FOLDERS = {"quick": "quick", "paper": "", "replication": "replication", "custom": "custom"}


def project_dir() -> Path:
    """Return the project's folder: PAPERLIB_ROOT, otherwise the checkout, otherwise the working folder.

    The last case is an installed package, which has no checkout.
    """
    if given := os.environ.get("PAPERLIB_ROOT"):
        return Path(given).resolve()
    complete = all((CHECKOUT / name).is_file() for name in ("run.py", "Snakefile"))
    return CHECKOUT if complete else Path.cwd()


def figures_dir() -> Path:
    """Return the folder of figures and verdicts of all profiles: PAPERLIB_FIGURES, otherwise ``figures`` in the project's folder."""
    return Path(os.environ.get("PAPERLIB_FIGURES") or project_dir() / "figures")


def profile_dir(profile: str) -> Path:
    """Return the folder of a profile's figures and verdicts: ``figures/`` for "paper", ``figures/quick/`` for "quick".

    The replication writes to ``figures/replication/``, and runs with parameters that no profile declares to ``figures/custom/``.

    Raises:
        ValueError: an unknown profile.
    """
    if profile not in FOLDERS:
        raise ValueError(f"profile must be one of {', '.join(map(repr, FOLDERS))}, got {profile!r}")
    return figures_dir() / FOLDERS[profile]


def read_entries(top: Path) -> Iterator[dict]:
    """Yield the claims with their verdicts in ``claims.json`` of a folder; nothing if the file is missing, or damaged (with a warning)."""
    try:
        found = json.loads((top / "claims.json").read_bytes())["papers"].values()
        claims = [claim for paper in found for claim in paper["claims"]]
    except FileNotFoundError:
        return
    # Not a file, not JSON, JSON that is nested too deep, or not an object with these entries.
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        log.warning("%s is damaged, and its verdicts are counted as not run", top / "claims.json")
        return
    yield from claims


def write_json(path: Path, content: Any) -> None:
    """Write ``to_json(content)`` atomically."""
    text = json.dumps(to_json(content), indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def write_text(path: Path, text: str) -> None:
    """Write ``text`` atomically, in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` atomically, and append the path to the file that PAPERLIB_WRITTEN names.

    The workflow reads that file to learn which figures and verdicts a notebook wrote.
    """
    write_atomically(path, lambda file: file.write(content))
    if written := os.environ.get("PAPERLIB_WRITTEN"):
        with open(written, "a") as file:
            file.write(f"{Path(path).resolve()}\n")
