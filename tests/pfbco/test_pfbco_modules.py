"""Tests of the modules' source: no duplicate names, no definitions that only tests use, and no long modules."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    str(path): path.read_text()
    for package in ("paperlib", "companion")
    for path in sorted((ROOT / package / "pfbco").rglob("*.py"))
}


def defined(text: str) -> list[str]:
    """Return the names of the functions and classes at the top level."""
    return [
        node.name
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]


@pytest.mark.parametrize("name", MODULES)
def test_no_name_twice(name):
    assert [key for key, count in Counter(defined(MODULES[name])).items() if count > 1] == []


@pytest.mark.parametrize("name", MODULES)
def test_no_module_is_long(name):
    """The length counts statements and lines of docstrings; it does not depend on the formatter."""
    assert ast.unparse(ast.parse(MODULES[name])).count("\n") <= 250


def test_definitions_are_used_beyond_tests():
    """Statements are listed by ``companion.verdicts.statements``, but a notebook must also use each of them."""
    text = "\n".join(
        [
            *MODULES.values(),
            *(path.read_text() for path in (ROOT / "notebooks").glob("pfbco_*.ipynb")),
        ]
    )
    words = Counter(re.findall(r"\w+", text))
    assert [
        name for module in MODULES.values() for name in defined(module) if words[name] < 2
    ] == []
