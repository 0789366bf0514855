"""``run.py test --changed`` runs exactly the tests that a changed file may affect."""

import importlib.util
import subprocess
import sys
from argparse import Namespace

import pytest

from companion.papers import paper_module
from companion.workflow import changed
from paperlib.core.files import CHECKOUT

sys.path.insert(0, str(CHECKOUT))
import run

# We load it by path, because several files have this name.
spec = importlib.util.spec_from_file_location("tests_conftest", CHECKOUT / "tests/conftest.py")
conftest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conftest)

GLOC = CHECKOUT / "paperlib/glbomd/learners/gloc.py"


def names(files):
    return {str(file.relative_to(CHECKOUT)) for file in files}


def test_a_learner_affects_the_tests_that_import_it():
    found = names(changed.affected_tests([GLOC]))
    assert {"tests/test_contract.py", "tests/glbomd/test_glbomd_gloc_ecolog.py"} <= found
    assert not any(name.startswith("tests/nsbco/") for name in found)


def test_a_shared_module_affects_the_tests_of_every_paper():
    found = names(changed.affected_tests([CHECKOUT / "paperlib/core/linalg.py"]))
    folders = {name.split("/")[1] for name in found}
    assert {"linear", "glbomd", "bkb", "pfbco", "nsbco", "goucb"} <= folders


def test_a_test_file_affects_itself():
    own = CHECKOUT / "tests/workflow/test_changed.py"
    assert changed.affected_tests([own]) == [own]


def test_a_learner_affects_the_cases_that_use_it():
    cases = {
        f"{paper}.{name}"
        for paper in ("glbomd", "nsbco")
        for name in paper_module(paper, "cases").CASES
    }
    same = conftest.unaffected({GLOC})
    assert {name for name in cases if name.startswith("nsbco.")} <= same
    assert {name for name in cases if name.startswith("glbomd.GLOC")}.isdisjoint(same)
    assert "glbomd.GLB-OMD" in same
    assert conftest.unaffected({GLOC, CHECKOUT / "tests/test_contract.py"}) == set()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Make a git repository with one commit."""
    git = lambda *words: subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True
    )
    for name in ("kept.py", "edited.py", "removed.py", "page.md"):
        (tmp_path / name).write_text("a = 1\n")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    monkeypatch.setattr(changed, "CHECKOUT", tmp_path)
    return tmp_path


def test_python_files_that_differ_from_the_last_commit_are_changed(repository):
    assert changed.changed_files() == []
    for name in ("edited.py", "new.py", "ignored.py", "page.md"):
        (repository / name).write_text("a = 2\n")
    (repository / "removed.py").unlink()
    assert [file.name for file in changed.changed_files()] == ["edited.py", "new.py"]


@pytest.mark.parametrize("found", ["\n", "bench/conftest.py\n\n"])
def test_where_no_test_is_affected_none_runs(monkeypatch, capsys, found):
    """No pytest call is made, because pytest without a file would run the whole suite."""
    monkeypatch.setattr(run.subprocess, "run", lambda *_, **__: Namespace(stdout=found))
    monkeypatch.setattr(run, "call", lambda *_, **__: pytest.fail("pytest was called"))
    options = Namespace(slow=False, changed=True, rest=[])
    assert run.test("python", options) == 0
    assert capsys.readouterr().out.startswith("No test imports a Python file")
