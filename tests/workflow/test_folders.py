"""Folders of results and figures: named by the user, for a read-only checkout, and without a checkout."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from reliable import Space

from companion import output
from companion.store import results as store
from companion.workflow import declared, plan

CODE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CODE))
import run  # noqa: E402

NAMES = ("ROOT", "RESULTS", "FIGURES")
TOY = [
    'profile: str = "quick"  # sizes\ndevice: str = "auto"  # where',
    """from companion import output
from companion.workflow import declared
profile = declared.resolve_profile("toy_1", globals())
output.write_json(output.profile_dir(profile) / "toy" / "a.json", {})""",
]


@pytest.fixture
def bare(monkeypatch):
    """Remove all variables that name a folder."""
    for name in NAMES:
        monkeypatch.delenv(f"PAPERLIB_{name}", raising=False)


@pytest.fixture
def checkout(tmp_path):
    """Make a small copy of the project, with one notebook."""
    code = tmp_path / "code"
    for name in ("paperlib", "companion", "data"):
        shutil.copytree(CODE / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run.py", "Snakefile", "requirements.lock"):
        shutil.copy2(CODE / name, code)
    notebook = new_notebook(cells=[new_code_cell(source) for source in TOY])
    notebook.cells[0].metadata.tags = ["parameters"]
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    (code / "notebooks").mkdir()
    nbformat.write(notebook, code / "notebooks/toy_1.ipynb")
    return code


def files(folder):
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*")}


# ---- A package without a checkout --------------------------------------------------------------------------


def test_a_checkout_is_the_projects_folder(bare, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert output.project_dir() == CODE
    assert (
        store.results_dir() == CODE / "results/cache"
        and plan.profile_results("quick") == CODE / "results/quick"
    )
    assert output.profile_dir("custom") == CODE / "figures/custom"
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    assert output.profile_dir("paper") == tmp_path / "figures"


def test_an_installed_package_writes_to_the_working_folder(bare, monkeypatch, tmp_path):
    (tmp_path / "run.py").write_text("")  # belongs to another package in the same folder
    monkeypatch.setattr(output, "CHECKOUT", tmp_path)
    monkeypatch.chdir(tmp_path)
    for work in (tmp_path / "a", tmp_path / "b"):
        work.mkdir()
        monkeypatch.chdir(work)
        assert output.project_dir() == work
        assert (
            store.results_dir() == work / "results/cache"
            and plan.profile_results("x") == work / "results/x"
        )
        assert output.profile_dir("quick") == work / "figures/quick"
        assert declared.notebook_path("toy_1") == work / "notebooks/toy_1.ipynb"


@pytest.mark.slow
def test_no_file_is_written_into_site_packages(bare, tmp_path):
    """Test a copy in site-packages, where pip installs it."""
    site, work = tmp_path / "site-packages", tmp_path / "work"
    for name in ("paperlib", "companion"):
        shutil.copytree(CODE / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    work.mkdir()
    code = """
from toy import Coins, Index
from companion import output, store, verdicts
store.run(Coins(), {"index": Index()}, 5, 2)
verdicts.judge("linear.C1", 1.0, (0.5, 1.5), 3, "quick")
output.write_json(output.profile_dir("quick") / "toy" / "a.json", {})
import paperlib; print(paperlib.__file__)
"""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{CODE / 'tests'}"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    before = files(site)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith(str(site)), done.stderr
    assert files(site) == before
    found = {str(path.parent.relative_to(work)) for path in work.rglob("*.*") if path.is_file()}
    assert found == {"results/cache", "figures/quick/claims", "figures/quick/toy"}


# ---- Clean -------------------------------------------------------------------------------------------------


@pytest.fixture
def home(bare, monkeypatch, tmp_path):
    """Make a project folder for run.py."""
    monkeypatch.setattr(run, "ROOT", tmp_path / "home")
    monkeypatch.setattr(run, "VENV", tmp_path / "home/.venv")
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def fill(top, names):
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def left(top):
    return {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}


FIGURES = ["figures/a/b.png", "figures/quick/a/b.png", "figures/custom/a/b.png"]


def test_clean_removes_files_that_can_be_recreated(home, capsys):
    fill(home, ["results/cache/0.npz", "results/quick/a.done", ".snakemake/x", ".venv/x", *FIGURES])
    fill(home, ["paperlib/__pycache__/a.pyc", "figures/replication/claims/a.json"])
    assert run.clean(False) == 0
    assert left(home) == {"figures/a/b.png", "figures/custom/a/b.png", ".venv/x"}
    assert capsys.readouterr().out.splitlines() == [
        "removed results",
        "removed figures/quick",
        "removed figures/replication/claims",
        "removed .snakemake",
    ]
    run.clean(True)
    assert left(home) == {"figures/a/b.png", "figures/custom/a/b.png"}


def test_clean_empties_a_link_to_results_and_leaves_it(home, tmp_path):
    (tmp_path / "large/disk").mkdir(parents=True)
    (home / "results").symlink_to(tmp_path / "large/disk")
    fill(home, ["results/cache/0.npz", "results/quick/a.done", "results/thesis.tex"])
    assert run.clean(False) == 0
    assert left(tmp_path / "large/disk") == {"thesis.tex"} and (home / "results").is_symlink()


def test_clean_respects_user_folders_and_their_other_files(home, monkeypatch, tmp_path, capsys):
    mine, pictures = tmp_path / "mine", tmp_path / "pictures"
    monkeypatch.setenv("PAPERLIB_RESULTS", str(mine))
    monkeypatch.setenv("PAPERLIB_FIGURES", str(pictures))
    ours = ["0" * 64 + ".npz", "1" * 64 + ".part.npz", "quick/a.done", "custom/a.log", "setup.log"]
    fill(mine, [*ours, "thesis.tex", "data.npz", "quick.txt"])
    fill(pictures, ["a/b.png", "quick/a/b.png", "custom/a/b.png"])
    fill(home, ["results/cache/0.npz", *FIGURES])
    assert run.clean(False) == 0
    assert left(mine) == {"thesis.tex", "data.npz", "quick.txt"}
    assert left(pictures) == {"a/b.png", "custom/a/b.png"}
    assert left(home) == {"results/cache/0.npz", *FIGURES}  # files of other calls remain
    said = capsys.readouterr().out.splitlines()
    assert f"removed {pictures / 'quick'}" in said and f"removed {mine / 'setup.log'}" in said
    assert f"removed 2 stored results in {mine}" in said


# ---- A read-only checkout ----------------------------------------------------------------------------------


def test_with_a_read_only_checkout_working_files_are_next_to_the_results(
    home, monkeypatch, tmp_path
):
    assert run.desk() == home
    monkeypatch.setattr(run.os, "access", lambda path, mode: False)
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "mine"))
    assert run.desk() == tmp_path / "mine"
    with run.one_at_a_time():
        assert (tmp_path / "mine/.run.lock").exists() and not left(home)
    made = []

    def make(python):
        made.append(python)
        python.parent.mkdir(parents=True)
        (python.parents[1] / "lib/python3/site-packages").mkdir(parents=True)
        python.write_text("")

    monkeypatch.delenv("PAPERLIB_PYTHON", raising=False)
    for name in ("PYTHONPATH", "PYTHONHOME"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(run, "LOCK", tmp_path / "lock")
    run.LOCK.write_text("a==1\n")
    monkeypatch.setattr(run, "make_environment", make)
    assert run.environment() == run.environment() == str(tmp_path / "mine/.venv/bin/python")
    assert made == [tmp_path / "mine/.venv/bin/python"] and not left(home)
    # A complete environment in the project folder is used.
    shutil.copytree(tmp_path / "mine/.venv", home / ".venv")
    assert run.environment() == str(home / ".venv/bin/python") and len(made) == 1


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
def test_a_read_only_checkout_works_with_other_folders(bare, checkout, tmp_path, named):
    environment = {**os.environ, "PAPERLIB_PYTHON": sys.executable, "PAPERLIB_LOCKS": str(tmp_path)}
    if named:
        environment |= {
            "PAPERLIB_RESULTS": str(tmp_path / "mine"),
            "PAPERLIB_FIGURES": str(tmp_path / "pictures"),
        }
    before = files(checkout)
    with Space(
        f"mount --bind {checkout} {checkout} && mount -o remount,ro,bind {checkout}"
    ) as space:

        def call(*arguments):
            done = subprocess.run(
                [*space.prefix, sys.executable, checkout / "run.py", *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert "Traceback" not in done.stdout, done.stdout
            return done.returncode, done.stdout

        code, said = call("figures")
        if not named:
            assert code == 1 and "Read-only file system" in said
            assert (
                "set PAPERLIB_RESULTS and PAPERLIB_FIGURES to folders that can be written" in said
            )
            return
        assert code == 0 and f"Figures and verdicts are in {tmp_path / 'pictures/quick'}" in said
        assert json.loads((tmp_path / "mine/quick/toy_1.done").read_text())["products"]
        code, said = call("figures")
        assert code == 0 and "(unchanged)" in said
        code, said = call("clean")
        assert code == 0 and f"removed {tmp_path / 'pictures/quick'}" in said
    assert files(checkout) == before
    assert left(tmp_path / "mine") <= {".run.lock"} and not left(tmp_path / "pictures")
