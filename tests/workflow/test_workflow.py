"""Test run.py, the Snakefile and companion.workflow on small notebooks in a separate folder."""

import contextlib
import errno
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion import imports, output
from companion.papers import topics
from companion.workflow import canonical, declared
from companion.workflow import plan as workflow

CODE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CODE))
import run  # noqa: E402

PARAMETERS = """profile: str = "quick"  # sizes
device: str = "auto"  # where
trials: int = 4  # number of trials
delta: float = 0.1  # failure probability
sizes: list[int] = [1, 2]  # some sizes
loose = 3  # without a type
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Make an empty project with notebooks, results and figures under tmp_path."""
    for name, folder in (("ROOT", ""), ("RESULTS", "results"), ("FIGURES", "figures")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / folder))
    monkeypatch.setattr(run, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def write(root, stem, source, profiles=None):
    """Write a notebook with the parameters above and one more cell, and optionally profiles.toml."""
    cells = [
        new_code_cell(PARAMETERS, id="p", metadata={"tags": ["parameters"]}),
        new_code_cell(source, id="x"),
    ]
    notebook = new_notebook(cells=cells)
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, root / "notebooks" / f"{stem}.ipynb")
    if profiles is not None:
        (root / "notebooks" / "profiles.toml").write_text(profiles)


# ---- Parameters of a notebook ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, kind, expected",
    [
        (3, int, 3),
        (3, float, 3.0),
        (1e-2, float, 0.01),
        (True, bool, True),
        ([1, 2], list[float], [1.0, 2.0]),
        ({"a": [1]}, dict[str, list[int]], {"a": [1]}),
    ],
)
def test_convert_accepts_matching_values(value, kind, expected):
    result = declared.convert(value, kind, "x")
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize(
    "value, kind",
    [
        ("1e-5", float),
        (True, int),
        (1, bool),
        (2.0, int),
        ([1, "a"], list[int]),
        (1, list[int]),
        ("a", dict),
    ],
)
def test_convert_rejects_other_values(value, kind):
    with pytest.raises(ValueError, match="^name.* must be of type .*, got .* of type "):
        declared.convert(value, kind, "name")


def test_settings_are_profile_device_and_the_profiles_table(root):
    write(root, "toy_1", "", "[toy_1.paper]\ntrials = 100\ndelta = 1\n")
    assert workflow.injected_settings("toy_1", "quick") == {"profile": "quick", "device": "auto"}
    values = declared.convert_all("toy_1", workflow.injected_settings("toy_1", "paper", "cpu"))
    assert (
        values == {"profile": "paper", "device": "cpu", "trials": 100, "delta": 1.0}
        and type(values["delta"]) is float
    )
    with pytest.raises(
        ValueError, match="^profile must be one of 'quick', 'paper', 'replication', got 'huge'"
    ):
        workflow.injected_settings("toy_1", "huge")


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "trails = 3",
            r"the parameter must be one of its parameters cell \(profile, device, trials.*, got 'trails'",
        ),
        ('delta = "1e-5"', "parameter 'delta' must be of type float, got '1e-5' of type str"),
        ("trials = 2.0", "parameter 'trials' must be of type int, got 2.0 of type float"),
        ("sizes = [1, 2.5]", r"parameter 'sizes'\[1\] must be of type int, got 2.5 of type float"),
        ("loose = 3", "parameter 'loose' must have a type annotation of .*, got None"),
    ],
)
def test_unknown_and_ill_typed_parameters_are_refused(root, line, message):
    write(root, "toy_1", "", f"[toy_1.paper]\n{line}\n")
    with pytest.raises(ValueError, match=message):
        declared.convert_all("toy_1", workflow.injected_settings("toy_1", "paper"))


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "timings = true",
            "keys must be among after, datasets, timing, shards, timeout, quick, paper, replication, got 'timings'",
        ),
        ("shards = 2.0", "shards must be of type int, got 2.0 of type float"),
        ("shards = 0", "shards must be at least 1, got 0"),
        ("timeout = 0", "timeout must be at least 1, got 0"),
        ('timing = "yes"', "timing must be of type bool, got 'yes' of type str"),
        ('after = ["toy_9"]', "after must name other notebooks, .*, got 'toy_9'"),
        ('after = ["toy_1"]', "after must name other notebooks, .*, got 'toy_1'"),
    ],
)
def test_a_wrong_section_is_refused(root, line, message):
    write(root, "toy_1", "", f"[toy_1]\n{line}\n")
    with pytest.raises(ValueError, match=message):
        workflow.read_section("toy_1")


def test_the_last_notebooks_come_after_all_others(root):
    for stem in ("00_tour", "toy_1", "toy_2", "99_claims", "99_more"):
        write(root, stem, "", '[toy_2]\nafter = ["toy_1"]\n[99_more]\nafter = ["99_claims"]\n')
    assert {stem: workflow.notebooks_before(stem) for stem in workflow.notebook_stems()} == {
        "00_tour": [],
        "toy_1": [],
        "toy_2": ["toy_1"],
        "99_claims": ["00_tour", "toy_1", "toy_2"],
        "99_more": ["00_tour", "99_claims", "toy_1", "toy_2"],
    }


# ---- Dependencies of a notebook ----------------------------------------------------------------------------


def test_fingerprint_changes_with_code_alone(root):
    write(root, "toy_1", "x = 1")
    path, before = workflow.notebook_path("toy_1"), workflow.fingerprint("toy_1")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, new_markdown_cell("A title", id="m"))
    notebook.cells[2].update(outputs=[new_output("stream", text="1\n")], execution_count=5)
    nbformat.write(notebook, path)
    assert workflow.fingerprint("toy_1") == before
    write(root, "toy_1", "x = 2")
    assert workflow.fingerprint("toy_1") != before


def test_inputs_are_the_modules_used_directly_or_through_others(root, monkeypatch, tmp_path):
    # If a cell is not valid Python, it may import any module.
    write(root, "toy_1", "from paperlib import play\nfiles = !ls")
    assert {
        "paperlib.stats",
        "paperlib.glbomd",
        "paperlib.glbomd.learners.gloc",
    } <= set(workflow.cell_imports("toy_1"))
    assert {"play.py", "stats.py", "gloc.py", "plan.py"} <= {
        Path(path).name for path in workflow.input_files("toy_1")
    }
    write(
        root,
        "toy_1",
        "%matplotlib inline\nfrom paperlib import play\nif True:\n    !ls paperlib\n    import numpy",
    )
    assert workflow.cell_imports("toy_1") == ["paperlib.play"]
    write(
        root,
        "toy_1",
        "import numpy\nfrom paperlib import play\nif True:\n    from paperlib.stats import some_name",
    )
    assert workflow.cell_imports("toy_1") == ["paperlib.play", "paperlib.stats.some_name"]
    names = {Path(path).name for path in workflow.input_files("toy_1")}
    assert {"play.py", "stats.py", "trace.py", "streams.py"} <= names and "plan.py" not in names
    assert all((root / path).exists() for path in workflow.input_files("toy_1"))


@pytest.mark.parametrize(
    "source, whole",
    [
        ("from paperlib.pfbco import PFBCO", False),
        ("from paperlib.pfbco import *", True),
        ("from paperlib import pfbco", True),
        ("import paperlib.pfbco", True),
    ],
)
def test_an_imported_name_counts_as_the_module_that_defines_it(root, source, whole):
    write(root, "toy_1", source)
    names = {path.partition("/paperlib/")[2] for path in workflow.input_files("toy_1")}
    assert "pfbco/learners/pfbco.py" in names
    assert {"asktell/optimizer.py" in names, "pfbco/problems/ball.py" in names} == {whole}


def test_the_digest_changes_if_a_package_reexports_another_object(root, monkeypatch):
    write(root, "toy_1", "from paperlib.goucb import LevenbergMarquardt")
    digest = lambda: workflow.inputs_digest(
        workflow.input_files("toy_1"), workflow.cell_imports("toy_1")
    )
    before = digest()
    assert workflow.cell_imports("toy_1") == ["paperlib.goucb.learners.oracle.LevenbergMarquardt"]
    other = [("paperlib.goucb.learners.oracle.GradientDescent", "LevenbergMarquardt")]
    face = CODE / "paperlib" / "goucb" / "__init__.py"
    read = imports._imports
    monkeypatch.setattr(imports, "_imports", lambda f, *p: other if f == face else read(f, *p))
    assert digest() != before


@pytest.fixture(scope="module")
def used():
    """Return the files that each notebook of the project depends on: stem -> files, relative to the project's folder."""
    return {stem: {*workflow.input_files(stem)} for stem in workflow.notebook_stems()}


@pytest.mark.parametrize(
    "name, papers",
    {
        "companion/bkb/styles.py": ("bkb", "arena", "00", "99"),
        "companion/linear/styles.py": ("linear", "arena", "99"),
        "companion/styles.py": ("00", "99", *topics()),
        "companion/glbomd/cases.py": (),
        "companion/glbomd/claims.py": ("glbomd", "arena", "00", "99"),
        "paperlib/nsbco/optimizer.py": ("00",),
    }.items(),
)
def test_an_edit_renews_the_notebooks_that_use_it_and_no_others(used, name, papers):
    """This includes line styles, which are looked up by a paper's name, and modules that packages re-export."""
    renewed = {stem for stem, files in used.items() if name in files}
    assert renewed == {stem for stem in used if stem.split("_")[0] in papers}


def test_an_edited_style_in_a_copy_of_the_project_runs_a_notebook_again(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("paperlib", "companion", "notebooks"):
        shutil.copytree(CODE / name, tmp_path / name, ignore=ignored)
    (tmp_path / "data").symlink_to(CODE / "data")
    look = """from companion.workflow import plan
for stem in ("linear_1_ellipsoid", "glbomd_1_logistic"):
    print(plan.inputs_digest(plan.input_files(stem), plan.cell_imports(stem)))"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PAPERLIB_")}
    environment["PYTHONPATH"] = str(tmp_path)
    command = [sys.executable, "-c", look]
    digests = lambda: subprocess.check_output(command, cwd=tmp_path, env=environment).split()
    before, styles = digests(), tmp_path / "companion" / "linear" / "styles.py"
    styles.write_text(styles.read_text().replace('"OFUL": Style("blue"', '"OFUL": Style("green"'))
    after = digests()
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


def test_inputs_hold_the_claims_of_the_notebooks_paper_and_its_data(root, monkeypatch, tmp_path):
    from companion.datasets import registry as datasets

    write(
        root, "glbomd_9", "from companion import datasets", '[glbomd_9]\ndatasets = ["covertype"]\n'
    )
    monkeypatch.setattr(datasets, "find", lambda name: tmp_path / f"{name}.data")
    found = workflow.input_files("glbomd_9")
    assert {"claims.py", "covtype_arms.csv", "covertype.data"} <= {
        Path(path).name for path in found
    }
    monkeypatch.setattr(datasets, "find", lambda name: None)
    assert set(found) - set(workflow.input_files("glbomd_9")) == {"covertype.data"}


def test_a_change_affects_the_notebooks_that_use_the_file_and_no_others(root):
    write(root, "toy_1", "from paperlib import stats")
    write(root, "toy_2", "from companion import datasets")
    files = ("stats.py", "covtype_arms.csv")
    used = lambda stem: {Path(path).name for path in workflow.input_files(stem)} & {*files}
    assert [used("toy_1"), used("toy_2")] == [{"stats.py"}, {"covtype_arms.csv"}]


def test_the_digest_of_inputs_is_that_of_names_and_contents(root, monkeypatch):
    small, large = root / "a.py", root / "large.data"
    small.write_text("a = 1\n"), large.write_text("0" * 40)
    monkeypatch.setattr(workflow, "LARGE", 20)
    files, stamp = ["a.py", str(large)], small.stat().st_mtime_ns
    before = workflow.inputs_digest(files)
    os.utime(small)
    assert workflow.inputs_digest(files) == before != workflow.inputs_digest(files[:1])
    small.write_text("a = 2\n")
    os.utime(small, ns=(stamp, stamp))  # cp -p preserves the time stamp
    assert workflow.inputs_digest(files) != before
    small.write_text("a = 1\n")
    assert workflow.inputs_digest(files) == before
    os.utime(large, ns=(0, 0))  # a large file is not read, so its time stamp counts
    assert workflow.inputs_digest(files) != before


def test_a_quick_notebook_runs_again_if_its_recorded_verdicts_change(root):
    (root / "figures").mkdir()
    of = lambda name: {"claims": [{"id": f"{name}.C1", "verdict": "holds"}]}
    content = {"papers": {name: of(name) for name in ("toy", "other")}}
    (root / "figures/claims.json").write_text(json.dumps(content))
    (found,) = workflow.recorded_verdicts("toy_1", "quick")
    assert json.loads(found) == {"id": "toy.C1", "verdict": "holds"}
    assert len(workflow.recorded_verdicts("99_claims", "quick")) == 2
    # The paper profile writes the records, so it does not depend on them.
    assert workflow.recorded_verdicts("toy_1", "paper") == []


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"papers": 1}', "\xff\xfe", "[" * 100_000])
def test_a_damaged_file_of_claims_has_no_recorded_verdicts(root, content):
    (root / "figures").mkdir()
    (root / "figures/claims.json").write_bytes(content.encode("latin-1"))
    assert workflow.recorded_verdicts("toy_1", "quick") == []


def test_inputs_of_the_last_notebooks_hold_what_every_paper_declares(root):
    write(root, "99_x", "from companion.pages import ledger")
    assert {"ledger.py", "claims.py", "bounds.py", "errata.py", "styles.py", "__init__.py"} <= {
        Path(path).name for path in workflow.input_files("99_x")
    }


@pytest.fixture
def finished(root):
    """Make a notebook that has run and written a figure and a verdict."""
    results, figures = root / "results/quick", root / "figures/quick"
    results.mkdir(parents=True)
    written = results / "toy_1.written"
    os.environ["PAPERLIB_WRITTEN"] = str(written)
    try:
        output.write_bytes(figures / "toy/a.png", b"a picture")
        output.write_json(figures / "claims/toy.C1.json", {"verdict": "holds"})
        output.write_json(root / "elsewhere.json", {})
    finally:
        del os.environ["PAPERLIB_WRITTEN"]
    (figures / "toy/of_another.png").write_bytes(b"beside it")
    made = workflow.list_products(written)
    assert list(made) == ["quick/claims/toy.C1.json", "quick/toy/a.png"]
    done = results / "toy_1.done"
    done.write_text(json.dumps({"seconds": 1.0, "products": made}))
    assert workflow.forget_incomplete("toy_1", "quick") == "" and done.exists()
    return done


@pytest.mark.parametrize("name", ["toy/a.png", "claims/toy.C1.json"])
@pytest.mark.parametrize("content", [None, b"", b"other numbers"])
def test_a_notebook_runs_again_if_its_output_is_missing_or_changed(root, finished, name, content):
    product = root / "figures/quick" / name
    product.unlink() if content is None else product.write_bytes(content)
    said = workflow.forget_incomplete("toy_1", "quick")
    assert said == f"  toy_1  runs again: quick/{name} differs from the notebook's last output"
    assert not finished.exists()
    assert workflow.forget_incomplete("toy_1", "quick") == ""  # the message appears once


@pytest.mark.parametrize(
    "content",
    [
        *("", "{}", "[]", "null", "\x00", '{"seconds": 1', "\xff\xfe", "[" * 100_000),
        *('{"seconds": NaN, "products": {}}', '{"seconds": true, "products": {}}'),
    ],
)
def test_a_damaged_done_file_counts_as_missing(root, finished, content, capsys):
    finished.write_bytes(content.encode("latin-1"))
    assert run.table(["toy_1"], "quick", 0) == ["toy_1"]
    assert "toy_1           -  no result" in capsys.readouterr().out.splitlines()
    said = workflow.forget_incomplete("toy_1", "quick")
    assert said == "  toy_1  runs again: toy_1.done is damaged" and not finished.exists()


def test_a_done_file_with_other_products_than_files_is_dropped(root, finished):
    for products in ({"x" * 5000: ""}, ["a.png"], "a.png"):
        finished.write_text(json.dumps({"seconds": 1, "products": products}))
        said = workflow.forget_incomplete("toy_1", "quick")
        assert said == "  toy_1  runs again: toy_1.done is damaged" and not finished.exists()


@pytest.mark.parametrize("content", ["", "{}", "[]", "\xff\xfe", '{"verdict": '])
def test_a_damaged_verdict_is_named_and_not_counted(root, finished, content, capsys):
    path = root / "figures/quick/claims/toy.C1.json"
    path.write_bytes(content.encode("latin-1"))
    assert run.table(["toy_1"], "quick", 0) == []
    lines = capsys.readouterr().out.splitlines()
    assert f"{path} is damaged: not counted" in lines
    assert "toy_1         1.0  -" in lines


# ---- Committed form of notebooks ---------------------------------------------------------------------------


def test_canonical_takes_the_outputs_and_leaves_the_machine_out(root):
    source = new_notebook(
        cells=[
            new_markdown_cell("# T", id="t"),
            new_code_cell("0", id="m", metadata={"tags": ["more-parameters"]}),
            new_code_cell("1", id="a", metadata={"tags": ["parameters"], "collapsed": True}),
        ]
    )
    source.cells.append(new_code_cell("2", id="b"))
    ran = nbformat.from_dict(json.loads(json.dumps(source)))
    ran.metadata.update(
        papermill={"duration": 1},
        widgets={},
        kernelspec={"name": "other"},
        language_info={"name": "python", "version": "3.99"},
    )
    ran.cells.insert(
        3,
        new_code_cell("profile = 1", metadata={"tags": ["injected-parameters"]}, execution_count=2),
    )
    outputs = [
        new_output("stream", name="stderr", text="warn"),
        new_output("stream", name="stdout", text="h"),
        new_output("stream", name="stdout", text="i"),  # the split depends on timing
    ]
    outputs.append(
        new_output(
            "execute_result",
            data={"text/plain": "2", "application/vnd.jupyter.widget-view+json": {}},
            execution_count=3,
        )
    )
    ran.cells[4].update(outputs=outputs, execution_count=3)
    result = canonical.canonical(source, ran)
    nbformat.validate(result)
    assert [cell.id for cell in result.cells] == ["t", "m", "a", "b"] and [
        cell.get("execution_count") for cell in result.cells
    ] == [None, 1, 2, 3]
    assert result.cells[1].metadata == {
        "tags": ["more-parameters"],
        "jupyter": {"source_hidden": True},
    }
    assert result.cells[2].metadata == {"tags": ["parameters"]} and set(result.metadata) == {
        "kernelspec",
        "language_info",
    }
    assert [output.output_type for output in result.cells[3].outputs] == [
        "stream",
        "execute_result",
    ]
    assert result.cells[3].outputs[0].text == "hi"
    assert result.cells[3].outputs[1].execution_count == 3 and result.cells[3].outputs[1].data == {
        "text/plain": "2"
    }
    assert canonical.canonical(result, result) == result
    ran.cells[4].outputs += [new_output("display_data"), new_output("display_data", {"a/b": "c"})]
    kept = (
        canonical.canonical(source, ran).cells[3].outputs
    )  # a progress line leaves an empty output
    assert [output.get("data") for output in kept] == [None, {"text/plain": "2"}, {"a/b": "c"}]
    ran.cells[4].source = "3"
    with pytest.raises(ValueError, match="must have the same code cells as the notebook"):
        canonical.canonical(source, ran)
    ran.cells[4].update(
        source="2", outputs=[new_output("error", ename="E", evalue="no", traceback=[])]
    )
    with pytest.raises(ValueError, match="code cell 3 raised E: no. "):
        canonical.canonical(source, ran)


# ---- run.py ------------------------------------------------------------------------------------------------


def test_only_names_a_paper_or_a_notebook(root):
    for stem in ("toy_1", "toy_2", "zoo_1", "00_tour"):
        write(root, stem, "")
    assert run.chosen(None) == ["00_tour", "toy_1", "toy_2", "zoo_1"]
    assert run.chosen(["toy"]) == ["toy_1", "toy_2"] and run.chosen(["zoo", "toy_2.ipynb"]) == [
        "zoo_1",
        "toy_2",
    ]
    with pytest.raises(
        SystemExit,
        match="--only must be a paper or a notebook, got to. Papers: toy, zoo. Notebooks: 00_tour, toy_1, toy_2, zoo_1.",
    ):
        run.chosen(["to"])


def test_notebooks_with_jupyterlab_default_names_are_ignored(root, capsys):
    for stem in ("00_tour", "toy_1", "toy_1-Copy1", "Untitled", "Untitled_1", "toy"):
        write(root, stem, "")
    assert (
        run.chosen(None) == workflow.notebook_stems() == ["00_tour", "toy_1"]
        and run.STEM == workflow.STEM
    )
    assert (
        capsys.readouterr().out
        == "Not run, because their names do not have the form glbomd_1_logistic: Untitled, Untitled_1, toy, toy_1-Copy1\n"
    )
    with pytest.raises(SystemExit, match="--only must be a paper or a notebook, got toy_1-Copy1. "):
        run.chosen(["toy_1-Copy1"])


@pytest.fixture
def main(root, monkeypatch):
    """Return run.main such that it makes no environment and does not change the signal handlers of this process."""
    for name in ("JUPYTER_PREFER_ENV_PATH", "PYDEVD_DISABLE_FILE_VALIDATION"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(run, "environment", lambda: "python")
    monkeypatch.setattr(run.signal, "signal", lambda *_: None)
    monkeypatch.setattr(run, "call", lambda *args, **kwargs: 0)
    return run.main


def test_folders_that_a_user_names_are_those_of_the_call(main, root, monkeypatch):
    (root / "deep").mkdir()
    monkeypatch.chdir(root / "deep")
    for name, folder in {
        "ROOT": "..",
        "RESULTS": "out",
        "FIGURES": "../pictures",
        "LOCKS": ".",
    }.items():
        monkeypatch.setenv(f"PAPERLIB_{name}", folder)
    monkeypatch.setenv("PAPERLIB_DATA", "")
    assert main(["data"]) == 0
    found = {name: os.environ[f"PAPERLIB_{name}"] for name in run.FOLDERS}
    assert found == {
        "ROOT": str(root),
        "RESULTS": str(root / "deep/out"),
        "FIGURES": str(root / "pictures"),
        "DATA": "",
        "LOCKS": str(root / "deep"),
    }


@pytest.mark.parametrize(
    "argv",
    [
        ["figures", "--frobnicate"],
        ["figures", "--profile", "huge"],
        ["figures", "--cluster", "nowhere"],
        ["figures", "--jobs", "0"],
        ["figures", "--commit-notebooks", "--profile", "paper"],
        ["docs", "--frobnicate"],
        ["data", "--frobnicate"],
        ["bench", "--frobnicate"],
        ["clean", "--frobnicate"],
        [],
    ],
)
def test_wrong_arguments_end_the_call_with_the_usage_of_its_command(argv, capsys):
    with pytest.raises(SystemExit) as end:
        run.parse(argv)
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(f"usage: run.py {argv[0]} [-h]" if argv else "usage:")


def test_help_names_every_command_and_option(capsys):
    """The help of run.py lists all commands and options; the help of a command lists the options of that command."""
    with pytest.raises(SystemExit):
        run.parse(["--help"])
    whole = capsys.readouterr().out
    for name, command in run.parser().commands.items():
        (usage,) = re.findall(
            rf"^    python3 run.py {name}(.*(?:\n {{10,}}.*)*)", whole, re.MULTILINE
        )
        options = [o for action in command._actions for o in action.option_strings if o[1] == "-"]
        assert [o for o in options if o not in usage] == ["--help"], name
        assert all(o in command.format_help() for o in options)


def test_pytest_arguments_are_passed_on_and_slow_tests_wait_for_their_switch(monkeypatch):
    called, patterns = [], []
    monkeypatch.setattr(run, "call", lambda argv, **kwargs: called.append(argv))
    monkeypatch.setattr(run, "cores", lambda: 2)
    plain = {name: x for name, x in os.environ.items() if name != "PAPERLIB_LAST_BIT"}
    monkeypatch.setattr(os, "environ", plain)
    for slow in ([], ["--slow"]):
        run.test("python", run.parse(["test", *slow, "-k", "stats", "-s"]))
        patterns.append(os.environ.get("PAPERLIB_LAST_BIT"))
    assert patterns == [None, "1"]  # the slow suite simulates another processor
    assert [argv[-3:] for argv in called] == [["-k", "stats", "-s"]] * 2
    assert [argv[-5:-3] == ["-m", "not slow"] for argv in called] == [
        True,
        False,
    ] and "--slow" not in called[1]
    assert [argv[argv.index("-n") + 1] for argv in called] == [2, 3]


def test_the_environment_is_created_if_missing_outdated_or_incomplete(root, monkeypatch):
    made = []

    def make(python):
        made.append(python)
        (root / ".venv/lib/python3.11/site-packages").mkdir(parents=True, exist_ok=True)
        python.parent.mkdir(exist_ok=True)
        python.write_text("")

    monkeypatch.delenv("PAPERLIB_PYTHON", raising=False)
    monkeypatch.setattr(run, "VENV", root / ".venv")
    monkeypatch.setattr(run, "LOCK", root / "requirements.lock")
    monkeypatch.setattr(run, "make_environment", make)
    run.LOCK.write_text("a==1\n")
    monkeypatch.setenv("PYTHONPATH", "of another Python")
    monkeypatch.setenv("PYTHONHOME", "of another Python")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "elsewhere")
    assert run.environment() == run.environment() == str(made[0]) and len(made) == 1
    assert "PYTHONPATH" not in os.environ and "PYTHONHOME" not in os.environ
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert os.environ["PYTHONPYCACHEPREFIX"] == str(root / ".venv/pycache")
    assert (root / ".venv/lib/python3.11/site-packages/paperlib.pth").read_text() == f"{root}\n"
    run.LOCK.write_text("a==2\n")
    run.environment()
    assert len(made) == 2
    (root / ".venv/.ready").unlink()  # installation was interrupted
    run.environment()
    assert len(made) == 3
    monkeypatch.setattr(sys, "version", "3.99.0 (other)")
    run.environment()
    assert len(made) == 4
    monkeypatch.setenv("PAPERLIB_PYTHON", "python-of-my-own")
    monkeypatch.setenv("PYTHONPATH", "mine")
    assert run.environment() == "python-of-my-own" and len(made) == 4
    assert os.environ["PYTHONPATH"] == os.pathsep.join((str(CODE), "mine"))


def test_a_typo_in_profiles_is_one_clear_line(root):
    write(root, "toy_1", "", "[toy_1]\nshards = \n")
    with pytest.raises(SystemExit, match=r"profiles.toml is not valid TOML: .*line 2"):
        run.figures("python", run.parse(["figures"]))


def test_a_failed_installation_is_reported_and_leaves_no_stamp(root, monkeypatch, capsys):
    monkeypatch.setattr(run, "VENV", root / ".venv")
    monkeypatch.setattr(run, "LOCK", root / "requirements.lock")
    monkeypatch.setattr(run.sys, "_base_executable", shutil.which("false"), raising=False)
    monkeypatch.delenv("PAPERLIB_PYTHON", raising=False)
    run.LOCK.write_text("")
    with pytest.raises(
        SystemExit, match="Making .venv failed at `-m venv`. The whole output is in .*setup.log"
    ):
        run.environment()
    assert not (root / ".venv/.ready").exists()


def test_the_table_shows_seconds_verdicts_and_failures(root, capsys):
    for name, content in {
        "results/quick/toy_1.done": {"seconds": 12.34, "products": {}},
        "results/quick/toy_2.log": "a long story\ncell 3: ValueError: no",
        "figures/quick/claims/toy.C1.json": {"verdict": "holds", "notebook": "toy_1"},
        "figures/quick/claims/toy.C2.json": {"verdict": "holds", "notebook": "toy_1"},
        "figures/quick/claims/toy.C3.json": {"verdict": "fails", "notebook": "toy_1"},
        "figures/quick/claims/toy.C4.json": {"verdict": "holds", "notebook": "toy_2"},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content if isinstance(content, str) else json.dumps(content))
    assert run.table(["toy_1", "toy_2", "toy_3"], "quick", 0) == ["toy_2", "toy_3"]
    lines = capsys.readouterr().out.splitlines()
    assert "toy_1        12.3  3 without a verdict" in lines
    assert (
        "toy_2 has no result: cell 3: ValueError: no" in lines
        and "toy_3 has no result: it was not reached" in lines
    )


def test_the_table_of_the_paper_profile_alone_shows_verdicts(root, capsys):
    for place in ("", "quick/"):
        for id, verdict in (("C1", "holds"), ("C2", "fails")):
            path = root / f"figures/{place}claims/toy.{id}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"verdict": verdict, "notebook": "toy_1"}))
    for profile, words in (("paper", "1 fails, 1 holds"), ("quick", "2 without a verdict")):
        done = root / "results" / profile / "toy_1.done"
        done.parent.mkdir(parents=True)
        done.write_text('{"seconds": 1}')
        assert run.table(["toy_1"], profile, 0) == []
        assert f"toy_1         1.0  {words}" in capsys.readouterr().out.splitlines()


def test_a_planned_notebook_that_was_not_reached_has_no_result(root, capsys):
    folder = root / "results/quick"
    folder.mkdir(parents=True)
    for stem in ("toy_1", "toy_2", "toy_3"):
        (folder / f"{stem}.done").write_text('{"seconds": 1}')
        os.utime(folder / f"{stem}.done", (0, 0))
    log, jobs = (
        folder / "snakemake.log",
        "Building DAG of jobs...\nJob stats:\njob          count\n---------  -------\ntoy_2              1\ntotal              1\n\n",
    )
    log.write_text(jobs)
    assert run.table(["toy_1", "toy_2", "toy_3"], "quick", time.time() - 60) == ["toy_2"]
    lines = capsys.readouterr().out.splitlines()
    assert (
        "toy_1         1.0  -  (unchanged)" in lines and "toy_2           -  no new result" in lines
    )
    assert (
        "toy_2 has no result: it was not reached, because a notebook before it failed or the call was stopped; its stored result is from an earlier call"
        in lines
    )
    os.utime(log, (0, 0))  # the log of another call
    assert run.table(["toy_1", "toy_2", "toy_3"], "quick", time.time() - 60) == []


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_pages_are_written_only_after_a_call_of_the_paper_profile(root, monkeypatch, code, profile):
    write(root, "toy_1", "")
    called = []
    monkeypatch.setattr(
        run,
        "call",
        lambda argv, **kwargs: called.append(argv[2]) or (code if argv[2] == "snakemake" else 0),
    )
    monkeypatch.setattr(run, "table", lambda *_: [])
    call = run.parse(["figures", "--profile", profile])
    assert run.figures("python", call) == code
    assert called == ["snakemake"]  # figures in a folder of the user have no pages in docs/
    monkeypatch.delenv("PAPERLIB_FIGURES")
    assert run.figures("python", call) == code
    assert called[1:] == ["snakemake"] + ["companion.pages.site"] * (profile == "paper")


@pytest.mark.parametrize(
    "number, error, message",
    [
        (errno.EWOULDBLOCK, SystemExit, "Another run.py works in"),
        (errno.ENOLCK, OSError, "No locks"),
    ],
)
def test_a_file_system_without_locks_is_not_reported_as_in_use(
    root, monkeypatch, number, error, message
):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(run.fcntl, "flock", refuse)
    with pytest.raises(error, match=message), run.one_at_a_time():
        pass


def call(*arguments, **kwargs):
    environment = {**os.environ, "PAPERLIB_PYTHON": sys.executable}
    return subprocess.Popen(
        [sys.executable, CODE / "run.py", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **kwargs,
    )


@pytest.mark.slow
def test_figures_runs_what_changed_and_reports_what_failed(root):
    profiles = '[toy_2]\nafter = ["toy_1"]\ntiming = true\n'
    write(root, "toy_1", "print(profile, delta)", profiles)
    write(
        root,
        "toy_2",
        "import os\nprint(os.environ['OMP_NUM_THREADS'])\nassert trials < 9, 'too many'",
    )
    stamps = lambda: {
        path.name: path.stat().st_mtime_ns for path in root.glob("results/quick/*.done")
    }

    first = call("figures", "--commit-notebooks")
    time.sleep(0.5)
    second = call("clean")
    assert (
        second.communicate()[0].startswith(f"Another run.py works in {root}")
        and second.returncode == 1
    )
    text = first.communicate(timeout=200)[0]
    assert first.returncode == 0, text
    before = stamps()
    assert set(before) == {"toy_1.done", "toy_2.done"}
    cells = nbformat.read(root / "notebooks/toy_2.ipynb", as_version=4).cells
    assert cells[1].outputs[0].text == "1\n" and len(cells) == 2
    assert "TCP without encryption" not in (root / "results/quick/toy_1.log").read_text()

    # The notebooks have outputs now, and one section of the profiles changes. Only that notebook runs again, and it fails.
    (root / "notebooks/profiles.toml").write_text(profiles + "quick = { trials = 9 }\n")
    third = call("figures", "--jobs", "2")
    text = third.communicate(timeout=200)[0]
    assert third.returncode == 1
    assert "AssertionError: too many" in text and str(root / "results/quick/toy_2.log") in text
    assert stamps() == {"toy_1.done": before["toy_1.done"]}


@pytest.mark.slow
def test_notebooks_after_a_failure_are_not_run_and_not_committed(root):
    write(root, "toy_1", "1", '[toy_2]\nafter = ["toy_1"]\n')
    write(root, "toy_2", "2")
    assert call("figures").wait(200) == 0
    write(root, "toy_1", "raise OSError('never')")
    process = call("figures", "--commit-notebooks")
    text = process.communicate(timeout=200)[0]
    assert process.returncode == 1 and "toy_2 has no result: it was not reached, because" in text, (
        text
    )
    assert not nbformat.read(root / "notebooks/toy_2.ipynb", as_version=4).cells[1].outputs


@pytest.mark.slow
def test_a_stopped_call_stops_its_processes(root):
    write(
        root, "toy_1", "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(300)"
    )
    process, pid = call("figures"), root / "notebooks" / "pid"
    deadline = time.monotonic() + 100
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    deadline, kernel = time.monotonic() + 30, int(pid.read_text())
    while psutil.pid_exists(kernel) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not psutil.pid_exists(kernel)


class Terminal:
    """A ``run.py`` process on its own pseudo-terminal, which also sends key presses."""

    def __init__(self, *arguments, **environment):
        self.begun = time.monotonic()
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.environ.update(environment)
            # This is the default on a terminal; under nohup and a shell's & the signal would be ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(sys.executable, [sys.executable, str(CODE / "run.py"), *arguments])

    def until(self, word, seconds):
        """Return the output up to the appearance of `word`, and the seconds since the start."""
        text, end = b"", time.monotonic() + seconds
        while word not in text:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            assert ready, f"{word} not within {seconds} s: {text}"
            text += os.read(self.terminal, 4096)
        return text.decode(), time.monotonic() - self.begun

    def stop(self):
        """Send Ctrl-C and return the exit status."""
        os.write(self.terminal, b"\x03")
        with contextlib.suppress(OSError):  # the terminal is closed
            while os.read(self.terminal, 4096):
                pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


OPENINGS = {
    "figures": "Checking data sets and notebooks",
    "test": "Starting pytest",
    "lab": "Starting JupyterLab",
    "docs": "Building the pages",
    "data": "Checking data sets",
    "bench": "Starting the benchmark",
}


@pytest.fixture
def mute(root, tmp_path):
    """Make a fake Python that never finishes starting; it writes its process id and arguments to a file."""
    write(root, "toy_1", "")
    script = tmp_path / "python"
    script.write_text(
        f"#!/bin/sh\necho $$ $* > {tmp_path}/begun.new\nmv {tmp_path}/begun.new {tmp_path}/begun\nexec sleep 300\n"
    )
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("command", OPENINGS)
def test_a_command_prints_immediately_and_ctrl_c_stops_all_its_processes(command, mute, tmp_path):
    call = Terminal(command, PAPERLIB_PYTHON=str(mute))
    said, seconds = call.until(b"\n", 30)
    assert said.startswith(OPENINGS[command]) and seconds < 2
    begun = tmp_path / "begun"
    deadline = time.monotonic() + 20
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert call.stop() == 130
    child = int(begun.read_text().split()[0])
    assert not psutil.pid_exists(child), begun.read_text()


def test_creating_the_environment_prints_immediately(root, tmp_path):
    (root / "requirements.lock").write_text("")
    call = Terminal("test", PAPERLIB_PYTHON="")
    said, seconds = call.until(b"\n", 30)
    assert said.startswith("Creating .venv from requirements.lock") and seconds < 2
    assert call.stop() == 130 and not (root / ".venv/.ready").exists()


@pytest.mark.parametrize("command", OPENINGS)
def test_an_interpreter_without_the_packages_is_one_clear_line(command, root, tmp_path):
    """The line appears before anything runs, because a table of older results would look like success."""
    write(root, "toy_1", "")
    (root / "results/quick").mkdir(parents=True)
    (root / "results/quick/toy_1.done").write_text('{"seconds": 1, "products": {}}')
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without site-packages
    bare.chmod(0o755)
    for python, why in ((bare, "it lacks "), (tmp_path / "none", "it cannot be started: No such")):
        environment = {**os.environ, "PAPERLIB_PYTHON": str(python)}
        found = subprocess.run(
            [sys.executable, CODE / "run.py", command],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert found.returncode == 1 and found.stdout.count("\n") == 1, found.stdout
        assert found.stderr.startswith(f"PAPERLIB_PYTHON={python} cannot run `{command}`: {why}")
        assert found.stderr.count("\n") == 1 and "requirements.lock" in found.stderr


def test_a_command_has_time_to_clean_up_after_ctrl_c(tmp_path, root):
    script, done = tmp_path / "python", tmp_path / "tidied"
    code = f"import time\ntry:\n    print('ready', flush=True); time.sleep(300)\nexcept KeyboardInterrupt:\n    time.sleep(1); open({str(done)!r}, 'w')"
    # This stand-in only handles ``-m`` calls; the check for missing packages succeeds at once.
    script.write_text(f'#!/bin/sh\n[ $1 = -m ] || exit 0\nexec {sys.executable} -c "{code}"\n')
    script.chmod(0o755)
    call = Terminal("test", PAPERLIB_PYTHON=str(script))
    call.until(b"ready", 30)
    assert call.stop() == 130 and done.exists()


LONG = f"""import os, pathlib, sys, threading
sys.path.insert(0, {str(CODE / "tests")!r})
from toy import Coins, Index
from companion import store
file, end = pathlib.Path(os.environ["PAPERLIB_PROGRESS"]), threading.Event()
said = [f"at first {{file.exists()}}"]
def look():
    while not end.wait(0.05):
        said.append(file.read_text() if file.exists() else "")
watch = threading.Thread(target=look)
watch.start()
traces = store.run(Coins(), {{"a": Index(nap=0.05)}}, 40, 1)
end.set()
watch.join()
number = file.with_suffix(".seen").write_text("\\n".join(said))"""


@pytest.mark.slow
def test_a_job_writes_its_progress_to_a_file_and_not_to_its_copy(root, monkeypatch):
    monkeypatch.setenv("PAPERLIB_LOCKS", str(root))  # do not wait for timings of other processes
    write(root, "toy_1", LONG)
    file = root / "results/quick/toy_1.progress"
    file.parent.mkdir(parents=True)
    file.write_text("of a try that was killed")
    command = [sys.executable, "-m", "companion.workflow.jobs", "toy_1", "quick"]
    assert subprocess.run(command, cwd=CODE).returncode == 0 and not file.exists()
    said = file.with_suffix(".seen").read_text()
    assert said.startswith("at first False")
    assert re.search(r"^Coins: a, 1 of 1, round \d+ of 40, about \d s left$", said, re.MULTILINE)
    copy = nbformat.read(root / "results/quick/toy_1.ipynb", as_version=4)
    assert [cell.outputs for cell in copy.cells if cell.cell_type == "code"] == [[]] * 3
    assert "Coins" not in file.with_suffix(".log").read_text()


def test_progress_of_an_earlier_call_is_not_shown(tmp_path):
    file = tmp_path / "toy_1.progress"
    file.write_text("Coins: a, 1 of 4")
    assert run.read_progress(file, time.time() - 60) == "Coins: a, 1 of 4"
    assert (
        run.read_progress(file, time.time() + 60) == run.read_progress(tmp_path / "none", 0) == ""
    )


@pytest.mark.parametrize("ignored", [False, True])
def test_a_lost_connection_stops_a_call_without_nohup(ignored):
    code = f"""import os, signal, sys
sys.path.insert(0, {str(CODE)!r})
import run
signal.signal(signal.SIGHUP, signal.{"SIG_IGN" if ignored else "SIG_DFL"})
run.one_at_a_time = lambda: os.kill(os.getpid(), signal.SIGHUP) or sys.exit(7)
run.main(["clean"])"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == (7 if ignored else 129)


@pytest.mark.parametrize("group", [False, True])
def test_a_command_that_ignores_sigterm_is_killed(monkeypatch, tmp_path, group):
    ready, begun = tmp_path / "ready", []
    start = subprocess.Popen
    monkeypatch.setattr(
        run.subprocess,
        "Popen",
        lambda *args, **kwargs: begun.append(start(*args, **kwargs)) or begun[0],
    )
    monkeypatch.setattr(run, "GRACE", 0.5)

    def interrupt(*_):
        if not ready.exists():
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            return
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        deaf = f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open({str(ready)!r}, 'w'); time.sleep(300)"
        with pytest.raises(KeyboardInterrupt):
            run.call([sys.executable, "-c", deaf], group=group)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert begun[0].returncode == -signal.SIGKILL
