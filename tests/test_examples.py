"""The examples in docstrings run and print what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in ("paperlib", "companion")
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module, monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted and not found.failed
