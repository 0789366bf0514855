"""Committed notebooks are in canonical form. A checker reports faults of a notebook, and is tested itself."""

import ast
import copy
import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion import verdicts
from companion.pages import papers as pages
from companion.papers import papers
from companion.verdicts import claims
from companion.workflow import declared
from companion.workflow import plan as workflow
from companion.workflow.canonical import canonical

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
FIGURES = NOTEBOOKS.parent / "figures"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
PARAMETER = re.compile(r"[A-Za-z]\w*: [\w\[\], ]+ = [^=#]+  # [^=]+")
JUDGES = re.compile(r"\b(judge\w*|conclude|not_run)\(")
ABSOLUTE = re.compile(r"(?<![\w.:/\\])(?:/[A-Za-z][\w.-]*/|[A-Z]:\\)")
NOISE = re.compile(r"\w*Warning\b|Traceback \(most recent")
LIMIT = 1_500_000  # bytes
TOUR = "00_tour"
SHOWN = 8  # parameters in the parameters cell; more are in a folded cell before it


def tagged(notebook, tag):
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def texts(cell):
    """Return all texts in the outputs of a cell."""
    for output in cell.outputs:
        yield output.get("text", "")
        for kind, value in output.get("data", {}).items():
            if not kind.startswith("image/"):
                yield value if isinstance(value, str) else json.dumps(value)


def code_lines(cell):
    return [line for line in cell.source.splitlines() if line.strip() and not line.startswith("#")]


def parameters_faults(notebook):
    cells = tagged(notebook, "parameters")
    if len(cells) != 1:
        return [f"{len(cells)} cells are tagged parameters; it must be one"]
    lines = code_lines(cells[0])
    more = tagged(notebook, "more-parameters")
    if len(more) > 1 or any(
        notebook.cells.index(cell) > notebook.cells.index(cells[0]) for cell in more
    ):
        return ["the cell tagged more-parameters must be one, before the parameters cell"]
    if len(lines) > SHOWN:
        return [
            f"{len(lines)} parameters in the parameters cell, at most {SHOWN}: move some to a cell tagged more-parameters"
        ]
    lines += [line for cell in more for line in code_lines(cell)]
    faults = [
        f"parameter not written as `name: type = value  # comment`: {line}"
        for line in lines
        if not PARAMETER.fullmatch(line)
    ]
    for begin in ('profile: str = "quick"  #', 'device: str = "auto"  #'):
        if not any(line.startswith(begin) for line in lines):
            faults.append(f"no parameter {begin!r}")
    return faults


def names_set(source):
    """Return the names that the code of a cell assigns; names within comprehensions and functions are local."""
    tree = ast.parse(source)
    own = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    own += (ast.FunctionDef, ast.ClassDef)
    found, left = set(), [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        left += [child for child in ast.iter_child_nodes(node) if not isinstance(child, own)]
    return found


def overwritten(notebook):
    """Yield the parameters that a later cell overwrites, because results saved after it belong to a custom run."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    parameters = set()
    for count, cell in enumerate(cells, 1):
        if declared.TAGS & {*cell.metadata.get("tags", [])}:
            parameters |= names_set(cell.source) - {*declared.FREE}
        else:
            for name in sorted(parameters & names_set(cell.source)):
                yield f"code cell {count} gives the parameter {name} a value"


def cell_faults(cell, count):
    where, tags = f"code cell {count}", cell.metadata.get("tags", [])
    if cell.execution_count != count:
        yield f"{where} has execution count {cell.execution_count}"
    if any(
        line.rstrip().endswith(";")
        for line in cell.source.splitlines()
        if not line.lstrip().startswith("#")
    ):
        yield f"{where} has a line that ends with ';'"
    if JUDGES.search(cell.source) and not {"nbval-check-output", "timing", "claims"} & set(tags):
        yield f"{where} judges claims without the tag nbval-check-output (or timing, where seconds decide, or claims, where chance may)"
    if "nbval-check-output" in tags and not cell.outputs:
        yield f"{where} is to be compared but has no output"
    if any(output.output_type == "error" for output in cell.outputs):
        yield f"{where} holds an error"
    if any(output.get("name") == "stderr" for output in cell.outputs):
        yield f"{where} holds stderr"
    if any(ABSOLUTE.search(text) for text in texts(cell)):
        yield f"{where} prints an absolute path"
    if any(NOISE.search(text) for text in texts(cell)):
        yield f"{where} prints a warning or a traceback"


def faults(notebook, size=0, computes=True):
    """Return the reasons why a notebook must not be committed, one line each; an empty list for a valid notebook."""
    found = parameters_faults(notebook)
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        found.append("kernelspec is not python3")
    if "papermill" in notebook.metadata or any(
        "papermill" in cell.metadata for cell in notebook.cells
    ):
        found.append("papermill metadata")
    if "widgets" in notebook.metadata:
        found.append("widget state")
    if tagged(notebook, "injected-parameters"):
        found.append("an injected cell")
    if computes and not tagged(notebook, "experiment"):
        found.append("no cell is tagged experiment")
    for count, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        found += cell_faults(cell, count)
    found += overwritten(notebook)
    if size > LIMIT:
        found.append(f"{size} bytes; at most {LIMIT}")
    if not found and canonical(notebook, notebook) != notebook:
        found.append("not in canonical form: run.py figures --commit-notebooks writes it")
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_committed_notebook_is_canonical(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert (
        faults(notebook, path.stat().st_size, computes=not path.stem.startswith(workflow.LAST))
        == []
    )


@pytest.mark.parametrize("profile", declared.PROFILES)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_profiles_fit_the_parameters_cell(path, profile):
    values = workflow.injected_settings(path.stem, profile)
    assert declared.convert_all(path.stem, values) == values


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_paper_profile_names_every_parameter(path):
    """Otherwise a smaller value for quick runs would change the results of the paper profile."""
    named = workflow.read_section(path.stem).get("paper", {}).keys()
    assert named == declared.read_parameters(path.stem).keys() - {*declared.FREE}


def differing(stem: str, recorded: dict) -> dict:
    """Return the recorded parameters that differ from the paper profile: name -> (recorded, present value)."""
    now = declared.profile_values(stem, "paper")
    common = recorded.keys() & now.keys()
    return {name: (recorded[name], now[name]) for name in common if recorded[name] != now[name]}


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted({path.parent.name for path in FIGURES.glob("*/*.png")}))
def test_the_paper_profile_has_the_parameters_of_the_committed_figures(folder):
    for name, figure in pages.saved(folder, "paper").items():
        if folder not in ("bench", "overview"):  # no notebook with parameters draws them
            assert differing(figure.notebook, figure.about["parameters"]) == {}, name


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_paper_profile_has_the_parameters_of_the_committed_runs(path):
    """Parameters that are missing in the JSON of a figure are in the executed notebook."""
    executed = FIGURES.parent / "docs" / "notebooks" / path.name
    cells = json.loads(executed.read_text())["cells"]
    assert not {"not-run"} & {cell["id"] for cell in cells}
    recorded = {}
    for cell in cells:
        source = "".join(cell["source"])
        if declared.TAGS & {*cell["metadata"].get("tags", [])} or source.startswith(
            declared.INJECTED
        ):
            found = declared._assignments(source)
            recorded |= {name: ast.literal_eval(value) for name, _, value in found}
    assert recorded["profile"] == "paper"
    assert differing(path.stem, recorded) == {}


def test_another_parameter_than_the_record_has_is_found(monkeypatch):
    values = {"horizon": 2047, "trials": 50}
    monkeypatch.setattr(declared, "profile_values", lambda stem, profile: values)
    recorded = {"horizon": 4095, "trials": 50, "packages": {}}
    assert differing("pfbco_1_quadratic", recorded) == {"horizon": (4095, 2047)}


def test_profiles_name_existing_notebooks():
    sections = tomllib.loads((NOTEBOOKS / "profiles.toml").read_text())
    assert set(sections) <= {path.stem for path in PATHS}


def sample():
    """Return a small notebook without faults."""
    parameters = 'profile: str = "quick"  # sizes\ndevice: str = "auto"  # where\nsteps: list[int] = [1, 2]  # two of them'
    cells = [
        new_markdown_cell("# Title", id="a"),
        new_code_cell(parameters, id="b", execution_count=1, metadata={"tags": ["parameters"]}),
        new_code_cell("result = 1", id="c", execution_count=2, metadata={"tags": ["experiment"]}),
        new_code_cell(
            'judge("C1", result)',
            id="d",
            execution_count=3,
            metadata={"tags": ["nbval-check-output"]},
            outputs=[
                new_output(
                    "stream",
                    name="stdout",
                    text="C1  holds  and/or 1/2, see https://example.org/a/b\n",
                )
            ],
        ),
    ]
    notebook = new_notebook(cells=cells)
    return canonical(notebook, notebook)


def test_the_checker_accepts_a_good_notebook():
    assert faults(sample()) == []


def _tags(cell, *tags):
    cell.metadata["tags"] = list(tags)


def _output(cell, *args, **kwargs):
    cell.outputs.append(new_output(*args, **kwargs))


BREAKS = {
    "0 cells are tagged parameters": lambda nb: _tags(nb.cells[1]),
    "2 cells are tagged parameters": lambda nb: _tags(nb.cells[2], "parameters", "experiment"),
    "parameter not written": lambda nb: nb.cells[1].update(
        source=nb.cells[1].source + "\nseeds = 4  # untyped"
    ),
    "parameter not written as": lambda nb: nb.cells[1].update(
        source=nb.cells[1].source + "\nseeds: int = 4"
    ),
    "parameter not": lambda nb: nb.cells[1].update(
        source=nb.cells[1].source + "\nseeds: int = 4  # a second = sign"
    ),
    "11 parameters in the parameters cell": lambda nb: nb.cells[1].update(
        source=nb.cells[1].source + "".join(f"\nx{i}: int = {i}  # one" for i in range(8))
    ),
    "the cell tagged more-parameters must be one": lambda nb: _tags(
        nb.cells[2], "more-parameters", "experiment"
    ),
    "no parameter 'device": lambda nb: nb.cells[1].update(source='profile: str = "quick"  # sizes'),
    "kernelspec is not python3": lambda nb: nb.metadata.kernelspec.update(name="my-env"),
    "papermill metadata": lambda nb: nb.metadata.update(papermill={"duration": 1.0}),
    "papermill": lambda nb: nb.cells[2].metadata.update(papermill={"status": "completed"}),
    "widget state": lambda nb: nb.metadata.update(widgets={}),
    "an injected cell": lambda nb: _tags(nb.cells[2], "injected-parameters", "experiment"),
    "no cell is tagged experiment": lambda nb: _tags(nb.cells[2]),
    "code cell 2 has execution count 7": lambda nb: nb.cells[2].update(execution_count=7),
    "code cell 2 has a line that ends with ';'": lambda nb: nb.cells[2].update(
        source="f(1);  \nx = 1"
    ),
    "code cell 2 gives the parameter steps a value": lambda nb: nb.cells[2].update(
        source="for steps in range(3):\n    pass"
    ),
    "code cell 3 judges claims": lambda nb: _tags(nb.cells[3]),
    "code cell 3 is to be compared": lambda nb: nb.cells[3].update(outputs=[]),
    "code cell 2 holds an error": lambda nb: _output(
        nb.cells[2], "error", ename="E", evalue="", traceback=[]
    ),
    "code cell 2 holds stderr": lambda nb: _output(nb.cells[2], "stream", name="stderr", text="x"),
    "code cell 2 prints an absolute path": lambda nb: _output(
        nb.cells[2], "stream", name="stdout", text="in /some/where"
    ),
    "code cell 2 prints a warning": lambda nb: _output(
        nb.cells[2], "execute_result", data={"text/plain": "UserWarning: x"}, execution_count=2
    ),
    "code cell 2 prints": lambda nb: _output(
        nb.cells[2], "stream", name="stdout", text="Traceback (most recent call last)"
    ),
    "not in canonical form": lambda nb: nb.metadata.language_info.update(version="3.11.7"),
}


@pytest.mark.parametrize("expected", BREAKS)
def test_the_checker_flags_a_broken_notebook(expected):
    notebook = copy.deepcopy(sample())
    BREAKS[expected](notebook)
    assert any(fault.startswith(expected) for fault in faults(notebook))


def test_the_checker_flags_a_large_file():
    assert faults(sample(), LIMIT + 1) == [f"{LIMIT + 1} bytes; at most {LIMIT}"]


# A printed claim consists of the recorded verdict, the claim's sentence, the recorded number and the number of the quick run.
PRINTED = re.compile(
    r"^([A-Z][a-z ]+: (.+)\n     at the paper's sizes: .+)\n     quick run: .+$", re.MULTILINE
)
QUICK = re.compile(r"(?:holds|fails|inconclusive) \((?:quick|custom)\)")


def printed(path: Path) -> str:
    """Return the text of all outputs of a notebook."""
    cells = json.loads(path.read_text())["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return "\n".join("".join(output.get("text", "")) for output in outputs)


def printed_claims(path: Path) -> list[tuple[str, str]]:
    """Return id and printed record of each claim in the outputs of a paper's notebook; the others print none in this form."""
    paper = path.stem.split("_")[0]
    if paper not in papers():
        return []
    ids = {c.sentence: c.id for c in claims(paper).values()}
    assert len(ids) == len(claims(paper))  # otherwise a sentence does not identify its claim
    return [(ids[sentence], record) for record, sentence in PRINTED.findall(printed(path))]


def test_each_claim_is_judged_once_in_its_notebook():
    for paper in papers():
        judged = {
            path.stem: sorted(id for id, _ in printed_claims(path))
            for path in NOTEBOOKS.glob(f"{paper}_*.ipynb")
        }
        declared = {
            stem: sorted(c.id for c in claims(paper).values() if c.notebook == stem)
            for stem in judged
        }
        assert judged == declared
        assert {c.notebook for c in claims(paper).values() if not c.parts} <= judged.keys()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_committed_notebook_prints_only_recorded_verdicts(path):
    assert not QUICK.search(printed(path))
    for id, record in printed_claims(path):
        assert record == str(verdicts.of_record(id))


def test_printed_claims_are_found(tmp_path):
    text = [
        "Holds: its regret is smaller\n",
        "     at the paper's sizes: 1.05\n",
        "     quick run: ratio 1.1, n 5, not a verdict\n",
        "about C6.S3  holds\n",
        "Not run: another\n     at the paper's sizes: no data\n     quick run: 3, not a verdict; a remark\n",
    ]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": [{"outputs": [{"text": text}]}, {}]}))
    assert PRINTED.findall(printed(path)) == [
        ("Holds: its regret is smaller\n     at the paper's sizes: 1.05", "its regret is smaller"),
        ("Not run: another\n     at the paper's sizes: no data", "another"),
    ]
    assert QUICK.search("C1  holds (quick)  1.2") and not QUICK.search("".join(text))


TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")  # links in Markdown, without images


def title(path: Path) -> str:
    """Return the first heading of a page or a notebook."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    return TITLE.search(text)[1]


def links(stem: str) -> str:
    """Return the text of a notebook's last cell: links to its paper's page and to the next notebook, with their titles.

    Notebooks that summarize all others come last; the link after them leads back to the tour. The tour leads to the shortest
    paper, and to all papers, see ``table_of_papers``.
    """
    stems = sorted(
        workflow.notebook_stems(), key=lambda stem: (stem.startswith(workflow.LAST), stem)
    )
    after = [*stems[1:], stems[0]][stems.index(stem)]
    if stem == TOUR:
        after = "linear_0_step_by_step"
    pages = {"00": "papers/index", "99": "claims"}
    page = pages.get(stem.split("_")[0], f"papers/{stem.split('_')[0]}")
    up = f"[{title(NOTEBOOKS.parent / 'docs' / f'{page}.md')}](../docs/{page}.md)"
    return f"Back to {up}. Next: [{title(NOTEBOOKS / f'{after}.ipynb')}]({after}.ipynb)."


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_links_of_the_last_cell_lead_to_the_paper_and_the_next_notebook(path):
    last = json.loads(path.read_text())["cells"][-1]
    assert (last["cell_type"], last["id"]) == ("markdown", "links")
    text = "".join(last["source"])
    if path.stem == TOUR:
        assert text.startswith(links(TOUR)) and table_of_papers(text) == {
            f"{paper}_0_step_by_step.ipynb" for paper in papers()
        }
    else:
        assert text == links(path.stem)


def table_of_papers(text: str) -> set[str]:
    """Return the notebooks in the table "You have | read" of the tour's last cell; each link has the notebook's title."""
    rows = re.findall(r"^\| [^|]+ \| \[([^]]+)\]\((\w+\.ipynb)\) \|$", text, re.MULTILINE)
    assert all(name == title(NOTEBOOKS / file) for name, file in rows)
    return {file for _, file in rows}


def test_the_tour_ends_each_section_with_a_link_to_a_step_by_step_notebook():
    cells = json.loads((NOTEBOOKS / f"{TOUR}.ipynb").read_text())["cells"][:-1]
    text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    parts = re.split(r"^#{2,3} (.+)$", text, flags=re.MULTILINE)
    ends = {head: part.strip().split("\n")[-1] for head, part in zip(parts[1::2], parts[2::2])}
    # The first section has one part per problem.
    (first,) = (head for head in ends if head.startswith("1. "))
    assert ends.pop(first) and len(ends) == 10
    for head, end in ends.items():
        assert end.startswith("Read on: ") and "_0_step_by_step.ipynb)" in end, head


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_links_of_a_notebook_exist(path):
    cells = json.loads(path.read_text())["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    there = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    assert there and [link for link in there if not (path.parent / link).is_file()] == []
