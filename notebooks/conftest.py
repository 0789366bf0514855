"""nbval leaves out a notebook whose committed outputs rest on data that cannot be had here."""

import json
from pathlib import Path

import pytest

from paperlib import datasets, workflow


def missing(path: Path) -> list[str]:
    """Data sets without which a notebook with ``data = "auto"`` computes something else than what is committed."""
    cells = json.loads(path.read_text())["cells"]
    given = "".join(line for cell in cells if "parameters" in cell["metadata"].get("tags", []) for line in cell["source"])
    if 'data: str = "auto"' not in given:
        return []
    return [name for name in workflow.section(path.stem).get("datasets", []) if not datasets.available(name)]


def pytest_collection_modifyitems(items):
    """Skip with the reason, cell by cell."""
    lacking = {path: missing(path) for path in {item.path for item in items if item.path.suffix == ".ipynb"}}
    for item in items:
        if names := lacking.get(item.path):
            item.add_marker(pytest.mark.skip(reason=f"{item.path.stem} is committed with data that are not here: {', '.join(names)}"))
