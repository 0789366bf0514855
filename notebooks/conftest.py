"""nbval runs a notebook whose committed outputs rest on data that are not here, but compares none of its cells."""

import json
import warnings
from pathlib import Path

from paperlib.datasets import registry as datasets
from paperlib.workflow import plan as workflow


def missing(path: Path) -> list[str]:
    """Data sets without which a notebook with ``data = "auto"`` computes something else than what is committed."""
    cells = json.loads(path.read_text())["cells"]
    given = "".join(
        line
        for cell in cells
        if "parameters" in cell["metadata"].get("tags", [])
        for line in cell["source"]
    )
    if 'data: str = "auto"' not in given:
        return []
    return [
        name
        for name in workflow.section(path.stem).get("datasets", [])
        if not datasets.available(name)
    ]


def pytest_collection_modifyitems(items):
    """Its cells still have to run, on what they fall back to."""
    lacking = {
        path: missing(path)
        for path in {item.path for item in items if item.path.suffix == ".ipynb"}
    }
    for path, names in lacking.items():
        if names:
            warnings.warn(
                f"{path.stem}: outputs are not compared, for they were made with data that are not here: {', '.join(names)}",
                stacklevel=1,
            )
    for item in items:
        if lacking.get(item.path):
            item.options["check"] = False
