"""Where the project's folder is, and its figures."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from paperlib.core.files import CHECKOUT


def home() -> Path:
    """The project's folder: PAPERLIB_ROOT, else the checkout; of an installed package, which has none, the working folder."""
    if own := os.environ.get("PAPERLIB_ROOT"):
        return Path(own).resolve()
    ours = all((CHECKOUT / name).is_file() for name in ("run.py", "Snakefile"))
    return CHECKOUT if ours else Path.cwd()


def figures() -> Path:
    """Folder of figures and verdicts of all profiles: PAPERLIB_FIGURES, else ``figures`` in the project's folder."""
    return Path(os.environ.get("PAPERLIB_FIGURES") or home() / "figures")


def entries(top: Path) -> Iterator[dict]:
    """Yield the claims with their verdicts in ``claims.json`` of a folder; none where it is missing or damaged."""
    try:
        found = json.loads((top / "claims.json").read_bytes())["papers"].values()
        claims = [claim for paper in found for claim in paper["claims"]]
    # no file, no JSON, one nested too deep, or no object with these entries
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return
    yield from claims
