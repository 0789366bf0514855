"""Parameters that a profile declares, and the folder of a run with other parameters, however it is started."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import nbformat
import papermill
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from papermill.exceptions import PapermillExecutionError

from companion.arena.field import TUNING_SEED
from companion.pages import ledger, papers
from companion.verdicts import Verdict
from companion.workflow import canonical, declared, plan

CODE = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((CODE / "notebooks").glob("*.ipynb"))
PARAMETERS = """profile: str = "quick"  # sizes
device: str = "auto"  # where
horizon: int = 30  # rounds
delta: float = 0.1  # failure probability
sizes: list[int] = [1, 2]  # some sizes"""
FIRST = """import os
from companion import output
from companion.workflow import declared

profile = declared.resolve_profile("toy_1", globals())"""
LAST = """output.write_json(output.profile_dir(profile) / "toy" / "numbers.json", {"profile": profile, "horizon": horizon})
open("reached", "w").close()"""
PROFILES = "[toy_1.paper]\nhorizon = 100\ndelta = 1\n"


def cells(parameters=PARAMETERS):
    found = [
        new_code_cell(source, id=f"c{i}") for i, source in enumerate((parameters, FIRST, LAST))
    ]
    found[0].metadata.tags = ["parameters"]
    return found


def write(root, parameters=PARAMETERS):
    notebook = new_notebook(cells=cells(parameters))
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, root / "notebooks/toy_1.ipynb")


def git(root, *arguments):
    subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True)


@pytest.fixture
def root(project):
    (project / "notebooks/profiles.toml").write_text(PROFILES)
    write(project)
    return project


@pytest.fixture
def repository(root):
    """Return the same project in a git repository."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    git(root, "init", "-q"), git(root, "add", "notebooks")
    return root


def names(history=(), **changed):
    """Return the globals of a notebook in the calling cell."""
    given = {"profile": "quick", "device": "auto", "horizon": 30, "delta": 0.1, "sizes": [1, 2]}
    return {**given, **changed, "In": ["", PARAMETERS, *history, FIRST], "np": object()}


PAPER = {"profile": "paper", "horizon": 100, "delta": 1.0}


@pytest.mark.parametrize(
    "section, expected",
    [
        ({"paper": {"horizon": 100, "seed": 7}}, {"horizon": 100, "seed": 100_007}),
        ({"paper": {"seed": 7}, "replication": {"seed": 3}}, {"seed": 3}),
        ({"paper": {"horizon": 100}, "timing": True}, {"horizon": 100}),
        ({}, {}),
    ],
)
def test_the_replication_is_the_paper_profile_with_other_seeds(section, expected):
    assert declared.changed_values(section, "replication") == expected
    assert declared.changed_values(section, "paper") == section.get("paper", {})


def test_no_seed_of_the_replication_is_one_of_the_paper_profile():
    """Trial i has the seed ``seed + i``, and a tuning of the arena the seed ``seed + TUNING_SEED + i``."""
    sections = tomllib.loads((CODE / "notebooks/profiles.toml").read_text()).values()
    papers = [section["paper"] for section in sections if "seed" in section.get("paper", {})]
    most = max(
        p["seed"] + n for p in papers for n in p.values() if isinstance(n, int) and n < 10**5
    )
    assert most < declared.FRESH and 2 * declared.FRESH < TUNING_SEED


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({}, "quick"),
        ({"device": "cpu"}, "quick"),
        (PAPER, "paper"),
        (PAPER | {"delta": 1}, "paper"),  # papermill with -p delta 1
        ({"profile": "paper"}, "custom"),
        (PAPER | {"horizon": 60}, "custom"),
        (PAPER | {"sizes": [1]}, "custom"),
        ({"horizon": 100}, "custom"),
        ({"profile": "custom"}, "custom"),  # the cell runs a second time
    ],
)
def test_other_parameters_than_the_profiles_make_a_run_a_custom_one(
    root, changed, expected, capsys
):
    assert declared.resolve_profile("toy_1", names(**changed)) == expected
    said = capsys.readouterr().out
    assert ("Figures and verdicts, if this notebook saves any, go to" in said) == (
        expected == "custom" != changed.get("profile")
    )


def test_a_custom_run_prints_how_its_parameters_differ(root, capsys):
    declared.resolve_profile("toy_1", names(**PAPER | {"horizon": 60, "sizes": [5]}))
    assert (
        capsys.readouterr().out
        == f"Custom run, not the paper profile (horizon 60, declared 100; sizes [5], declared [1, 2]). Figures and verdicts, if this notebook saves any, go to {root / 'figures/custom'}\n"
    )


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"profile": "huge"}, "profile must be one of 'quick', 'paper', 'replication', got 'huge'"),
        ({"horizon": "1e2"}, "horizon must be of type int, got '1e2' of type str"),
        ({"sizes": [1, 2.5]}, r"sizes\[1\] must be of type int, got 2.5 of type float"),
    ],
)
def test_invalid_profiles_and_parameter_types_are_rejected(root, changed, message):
    with pytest.raises(ValueError, match=message):
        declared.resolve_profile("toy_1", names(**changed))


def test_an_unknown_parameter_from_papermill_is_rejected(root):
    injected = "# Parameters\nprofile = 'quick'\nhorizn = 100\n"
    message = "parameters of toy_1 must be profile, device, horizon, delta, sizes, got horizn=100"
    with pytest.raises(ValueError, match=message):
        declared.resolve_profile("toy_1", names([injected], horizn=100))
    # The user may define any name in a cell, and a copy of the notebook may declare other parameters.
    assert declared.resolve_profile("toy_1", names(["horizn = 100"], horizn=100)) == "quick"
    extended = ["horizn: int = 5  # new", injected]
    assert declared.resolve_profile("toy_1", names(extended, horizn=100)) == "quick"


def test_incomparable_parameters_make_a_run_custom(root):
    (root / "notebooks/toy_1.ipynb").unlink()
    assert declared.resolve_profile("toy_1", names()) == "custom"


def test_a_parameter_is_a_literal(root):
    write(root, PARAMETERS.replace("= 30", "= 3 * 10"))
    with pytest.raises(ValueError, match=r"'horizon' must be a literal, got 3 \* 10"):
        declared.read_parameters("toy_1")


def test_an_edited_cell_is_custom_until_git_has_it(repository):
    """JupyterLab also saves edits that were only tried out."""
    assert declared.output_place("toy_1", "quick") == "quick"
    write(repository, PARAMETERS.replace("= 30", "= 60"))
    assert declared.resolve_profile("toy_1", names(horizon=60)) == "custom"
    assert declared.resolve_profile("toy_1", names()) == "quick"
    assert (
        declared.resolve_profile("toy_1", names(**PAPER))
        == declared.output_place("toy_1", "paper")
        == "paper"
    )
    assert declared.output_place("toy_1", "quick") == "custom"
    with pytest.raises(ValueError, match="toy_1: horizon 60, declared 30. `git add` the notebook"):
        canonical.commit("toy_1")
    git(repository, "add", "notebooks")
    assert declared.resolve_profile("toy_1", names(horizon=60)) == "quick"
    assert declared.output_place("toy_1", "quick") == "quick"


def test_an_edited_profile_is_custom_until_git_has_it(repository):
    (repository / "notebooks/profiles.toml").write_text(PROFILES.replace("100", "60"))
    assert (
        declared.output_place("toy_1", "paper") == "custom"
        and declared.output_place("toy_1", "quick") == "quick"
    )
    assert declared.resolve_profile("toy_1", names(**PAPER | {"horizon": 60})) == "custom"
    git(repository, "add", "notebooks")
    assert declared.output_place("toy_1", "paper") == "paper"


# ---- In a kernel -------------------------------------------------------------------------------------------


def kept(root):
    """Return the files below figures/ with the profile that the toy notebook wrote into them."""
    return {
        str(path.relative_to(root / "figures")): json.loads(path.read_text())["profile"]
        for path in (root / "figures").rglob("*.json")
    }


def by_papermill(root, **parameters):
    """Run the notebook as ``papermill notebooks/toy_1.ipynb out.ipynb -p ...`` does."""
    papermill.execute_notebook(
        root / "notebooks/toy_1.ipynb",
        root / "out.ipynb",
        parameters=parameters,
        cwd=root / "notebooks",
        progress_bar=False,
    )


@pytest.mark.slow
def test_papermill_with_other_parameters_does_not_change_recorded_figures(root):
    by_papermill(root, **PAPER | {"horizon": 60})
    assert kept(root) == {"custom/toy/numbers.json": "custom"}
    by_papermill(root, **PAPER)
    assert kept(root) == {"custom/toy/numbers.json": "custom", "toy/numbers.json": "paper"}


@pytest.mark.slow
def test_papermill_with_an_unknown_parameter_fails_before_computing(root):
    with pytest.raises(
        PapermillExecutionError, match="the parameters of toy_1 must be .*, got horizn=100"
    ):
        by_papermill(root, profile="paper", horizn=100)
    assert not (root / "notebooks/reached").exists() and not kept(root)


@pytest.mark.slow
def test_a_parameters_cell_that_is_edited_and_run_once_more_is_custom(root):
    """In JupyterLab the user may skip the cell after the parameters."""
    notebook = new_notebook(cells=cells())
    again = new_code_cell(PARAMETERS.replace("= 30", "= 60"), id="d")
    notebook.cells += [again, new_code_cell(LAST, id="e")]
    NotebookClient(notebook, kernel_name="python3", timeout=300).execute(
        cwd=str(root / "notebooks")
    )
    assert kept(root) == {"quick/toy/numbers.json": "quick", "custom/toy/numbers.json": "custom"}
    assert "Custom run, not the quick profile (horizon 60, declared 30)" in again.outputs[0].text


# ---- Marks of custom runs ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_custom_verdicts_are_marked_and_on_no_other_page(root):
    assert str(Verdict("linear.C1", "holds", "custom", 1.0)).endswith(
        "custom run: 1, not a verdict"
    )
    verdict = {"id": "linear.C1", "verdict": "fails", "profile": "custom"}
    place = root / "figures/custom/claims/linear.C1.json"
    place.parent.mkdir(parents=True)
    place.write_text(
        json.dumps(verdict | {"statistic": 32, "interval": None, "n": None, "reason": ""})
    )
    said = {
        profile: ledger.gather(profile)["papers"]["linear"]["claims"][0]["verdict"]
        for profile in ("quick", "paper", "custom")
    }
    # There is no record, and a custom run does not write one.
    assert set(said.values()) == {"not run"}
    row = ledger.gather("custom")["papers"]["linear"]["claims"][0]
    assert row["run"] == "custom run: 32, not a verdict"
    assert "parameters that no profile declares" in papers.all_claims(ledger.gather("custom"))


# ---- The project's notebooks -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_asks_before_it_computes(path):
    folded = lambda cell: "more-parameters" in cell["tags"]
    sources = [cell["source"] for cell in plan.code_cells(path.stem) if not folded(cell)]
    call = f'study = Study("{path.stem}", globals())'
    assert sources[1].split("\n").count(call) == 1
    known = declared.read_parameters(path.stem)
    assert all(line.kind is not None for line in known.values())
    for source in sources[1:]:
        stored = {
            node.id
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        assert not stored & (known.keys() - {"profile", "device"}), "a parameter is another's name"


# ---- run.py ------------------------------------------------------------------------------------------------


def figures(root, *arguments):
    """Return the output of ``run.py figures``."""
    done = subprocess.run(
        [sys.executable, CODE / "run.py", "figures", *arguments],
        env={**os.environ, "PAPERLIB_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return SimpleNamespace(code=done.returncode, text=done.stdout)


@pytest.mark.slow
def test_a_custom_run_does_not_change_the_declared_results(repository):
    assert figures(repository).code == 0
    stamps = lambda: {
        str(path.relative_to(repository)): path.stat().st_mtime_ns
        for folder in ("results/quick/toy_1.*", "figures/quick/toy/*")
        for path in repository.glob(folder)
    }
    before = stamps()
    write(repository, PARAMETERS.replace("= 30", "= 60"))
    said = figures(repository, "--commit-notebooks")
    assert (
        said.code == 1 and "toy_1  is a custom run: horizon 60, declared 30 (`git add`" in said.text
    )
    assert "-  (custom)" in said.text and "(unchanged)" not in said.text
    assert f"Figures and verdicts are in {repository / 'figures/custom'}" in said.text
    assert "Not written back: toy_1: horizon 60, declared 30" in said.text
    assert stamps() == before and kept(repository)["custom/toy/numbers.json"] == "custom"
    git(repository, "checkout", "--", "notebooks")
    said = figures(repository)
    assert said.code == 0 and "(unchanged)" in said.text and "(custom)" not in said.text
    assert stamps() == before
