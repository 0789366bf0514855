"""The entries of ``mutants.toml`` apply to the present code. Otherwise a mutant would be skipped unnoticed."""

import ast
import re

import pytest
from mutants import ROOT, drawn, mutants, numbers

KEYS = {"paper", "change", "file", "old", "new", "tests"}


def ids(mutant):
    """Return the id of an entry for pytest's report."""
    return f"{mutant['paper']}: {mutant['change']}"


@pytest.mark.parametrize("mutant", mutants(), ids=ids)
def test_an_entry_changes_one_place_and_names_tests_that_exist(mutant):
    assert mutant.keys() - {"survives"} == KEYS
    assert (ROOT / mutant["file"]).read_text().count(mutant["old"]) == 1
    assert mutant["new"] != mutant["old"]
    for file, _, name in (test.partition("::") for test in mutant["tests"]):
        text = (ROOT / file).read_text()
        function = name.partition("[")[0]  # the name without the test's parameters
        assert not name or re.search(rf"^def {function}\(", text, re.MULTILINE), name


def test_each_entry_has_its_own_description():
    assert len({ids(mutant) for mutant in mutants()}) == len(mutants())


def test_numbers_of_formulas_are_found(tmp_path):
    """Indices, positions, tolerances, defaults of arguments and 0 are left out."""
    (tmp_path / "code.py").write_text(
        "def f(x, n=7):\n"
        "    y = 2 * x[3] + x.sum(4) / 5.5 + 0\n"
        "    return solve(y, xtol=6.0, scale=8) + stack([9 * y], 1).view(-1, 10)\n"
    )
    assert sorted(x.value for x in numbers(tmp_path / "code.py")) == [2, 5.5, 8, 9]


@pytest.mark.parametrize(
    "paper, count",
    [("goucb", 20), ("bkb", 20), ("pfbco", 20), ("nsbco", 20), ("glbomd", 20), ("linear", 2)],
)
def test_a_drawn_change_doubles_one_number(paper, count):
    entries = drawn(paper, count, 0)
    assert len({entry["change"] for entry in entries}) == count
    assert drawn(paper, count, 0) == entries
    constants = lambda text: [
        x.value for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Constant)
    ]
    for entry in entries:
        before, after = constants((ROOT / entry["file"]).read_text()), constants(entry["text"])
        ((old, new),) = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert new == 2 * old and entry["tests"]
