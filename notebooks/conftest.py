"""Settings for nbval: do not compare outputs that depend on missing data; optionally round as another processor would."""

import json
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest

from companion.datasets import registry as datasets
from companion.store.results import results_dir
from companion.workflow import declared
from companion.workflow import plan as workflow


def missing(path: Path) -> list[str]:
    """Return the missing data sets that a notebook with ``data = "auto"`` needs to reproduce its committed outputs."""
    cells = json.loads(path.read_text())["cells"]
    given = "".join(
        line
        for cell in cells
        if declared.TAGS & {*cell["metadata"].get("tags", [])}
        for line in cell["source"]
    )
    if 'data: str = "auto"' not in given:
        return []
    return [
        name
        for name in workflow.read_section(path.stem).get("datasets", [])
        if not datasets.available(name)
    ]


def pytest_collection_modifyitems(items):
    """Do not compare the outputs of notebooks with missing data; their cells still run, on the fallback data."""
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


LOCKS = tempfile.TemporaryDirectory()  # of this worker, until it ends


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let no timing of a notebook wait for other workers, because the tests compare no run times.

    With PAPERLIB_LAST_BIT = 1, 2, ... in the environment, start a notebook's kernel as ``tests/last_bit`` describes. The
    perturbed results are stored separately, because results are found by their configuration and code alone.
    """
    if item.path.suffix != ".ipynb":
        return (yield)
    pattern = os.environ.get("PAPERLIB_LAST_BIT")
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("PAPERLIB_LOCKS", LOCKS.name)
        if not pattern:
            return (yield)
        # A copy, because IPython writes its history into this folder.
        shutil.copytree(item.path.parents[1] / "tests" / "last_bit", folder, dirs_exist_ok=True)
        patch.setenv("IPYTHONDIR", folder)
        patch.setenv("PAPERLIB_RESULTS", str(results_dir() / f"last_bit_{pattern}"))
        return (yield)
