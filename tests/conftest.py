"""Which tests run, and in which order."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAST_NOTEBOOKS = ("00_tour", "linear_1_ellipsoid")  # the others are part of the slow suite


def pytest_collection_modifyitems(config, items):
    """Files with slow tests come first, so that no worker is left with them at the end. Cases that a change leaves alone are left out."""
    for item in items:
        if item.path.suffix == ".ipynb" and item.path.stem not in FAST_NOTEBOOKS:
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    if lines := os.environ.get("PAPERLIB_CHANGED"):
        same = unaffected({ROOT / line for line in lines.splitlines()})
        config.hook.pytest_deselected(items=[item for item in items if case_of(item) in same])
        items[:] = [item for item in items if case_of(item) not in same]


def case_of(item):
    """The case that a parametrized test is about ("glbomd.GLOC"), or None."""
    given = getattr(item, "callspec", None)
    return given and given.params.get("name")


def unaffected(changed):
    """Cases whose learner and problem use none of the changed files."""
    from companion.papers import paper_module, papers
    from companion.store import source_files

    if any(file.is_relative_to(ROOT / "tests") for file in changed):
        return set()
    return {
        f"{paper}.{name}"
        for paper in papers()
        for name, case in paper_module(paper, "cases").CASES.items()
        if not changed & {*source_files(case.learner, case.problem)}
    }
