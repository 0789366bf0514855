"""Selection and order of the tests."""

import os
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = ("test_reliability", "test_shards")  # minutes each
FAST_NOTEBOOKS = ("00_tour", "linear_1_ellipsoid")  # the others belong to the slow suite


def pytest_configure(config):
    """Give each worker its own lock for timings.

    A timing waits until all other processes with the same lock have paused. Tests compare no run times of notebooks,
    so that workers would wait for nothing.
    """
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        place = Path(tempfile.gettempdir()) / f"paperlib-tests-{os.getuid()}" / worker
        os.environ.setdefault("PAPERLIB_LOCKS", str(place))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a folder that the code takes for the project, with an empty folder of notebooks."""
    for name, folder in (("ROOT", ""), ("RESULTS", "results"), ("FIGURES", "figures")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / folder))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def pytest_collection_modifyitems(config, items):
    """Run the longest files first, then others with slow tests; omit test cases that a change does not affect.

    Otherwise a worker could start a slow file when all others have finished.
    """
    for item in items:
        if item.path.suffix == ".ipynb" and item.path.stem not in FAST_NOTEBOOKS:
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.stem not in LONGEST, item.path not in slow))
    if lines := os.environ.get("PAPERLIB_CHANGED"):
        same = unaffected({ROOT / line for line in lines.splitlines()})
        config.hook.pytest_deselected(items=[item for item in items if case_of(item) in same])
        items[:] = [item for item in items if case_of(item) not in same]


def case_of(item):
    """Return the name of the case of a parametrized test ("glbomd.GLOC"), or None."""
    given = getattr(item, "callspec", None)
    return given and given.params.get("name")


def unaffected(changed):
    """Return the cases whose learner and problem use none of the changed files."""
    from companion.papers import paper_module, topics
    from companion.store import source_files

    if any(file.is_relative_to(ROOT / "tests") for file in changed):
        return set()
    return {
        f"{topic}.{name}"
        for topic in topics()
        for name, case in paper_module(topic, "cases").CASES.items()
        if not changed & {*source_files(case.learner, case.problem)}
    }
