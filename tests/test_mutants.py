"""The entries of ``mutants.toml`` apply to the present code. Otherwise a mutant would be skipped unnoticed."""

import re

import pytest
from mutants import ROOT, mutants

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
