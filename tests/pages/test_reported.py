"""The numbers that the papers print: each is shown with a number of our committed results."""

import json
import re

import pytest

from companion import reported
from companion.output import project_dir
from companion.pages.markdown import TEMPLATES
from companion.papers import paper_module, papers
from companion.reported import NOTHING, Reported

PAPERS = papers()
# A number of three digits in a text, which comes from the record.
NUMBER = re.compile(r"(?<![\w.^])(?:\d\.\d\d+|\d\d\.\d+|0\.\d\d\d)(?![\w.]*\\cdot)")
FIELDS = ["quantity", "paper", "place", "here"]
# Beginnings of texts for which we need no number.
WORDS = ("not measured: ", "the same", "our reading")


@pytest.fixture
def declare(monkeypatch):
    """Replace the rows of all papers by the given ones."""

    def replace(*rows):
        monkeypatch.setattr(reported, "declared", lambda paper: rows)

    return replace


def row(here, figure="figure_1"):
    return Reported(figure, "regret of a method", "about 100", "Table 9", here)


def shown(here, profile="paper"):
    (found,) = reported.rows("glbomd", "figure_1", profile)
    return found["here"]


def figures(paper):
    """Return the names of the figures that have rows, in order; "" stands for the paper as a whole."""
    return [*dict.fromkeys(each.figure for each in reported.declared(paper))]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_rows_and_every_figure_of_a_row_exists(paper):
    assert reported.declared(paper)
    folder = project_dir() / "figures" / paper
    assert not [name for name in figures(paper) if name and not (folder / f"{name}.json").exists()]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_of_a_row_is_in_the_committed_results(paper):
    found = [each for figure in figures(paper) for each in reported.rows(paper, figure)]
    assert len(found) == len(reported.declared(paper))
    for each in found:
        assert list(each) == FIELDS and all(each.values()), each
        assert NOTHING not in each["here"] and not re.search(r"[{}]|nan", each["here"]), each


@pytest.mark.parametrize("paper", PAPERS)
def test_rows_differ_and_have_a_place_and_a_number_of_ours(paper):
    rows = reported.declared(paper)
    assert len({each.quantity for each in rows}) == len(rows)
    for each in rows:
        assert re.search(r"\{[^{}]+\}", each.here) or each.here.startswith(WORDS), each


@pytest.mark.parametrize("paper", PAPERS)
def test_a_number_that_a_profile_lacks_is_a_dash(paper, monkeypatch, tmp_path):
    """No run of the quick profile has written figures here; the claims have their recorded numbers."""
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    found = [each for figure in figures(paper) for each in reported.rows(paper, figure, "quick")]
    here = {each["quantity"]: each["here"] for each in found}
    for each in reported.declared(paper):
        places = re.findall(r"\{([^{}]+)\}", each.here)
        dashes = [place for place in places if not re.match(r"(claim|verdicts)\b", place)]
        assert here[each.quantity].count(NOTHING) == len(dashes), each


def test_numbers_of_claims_are_those_of_the_verdicts(declare):
    numbers = {
        each["id"]: each
        for each in json.loads((project_dir() / "figures" / "claims.json").read_text())["papers"][
            "glbomd"
        ]["claims"]
    }
    declare(
        row(
            "{claim('C11.slsqp')}; {claim('C14')[1]}; {claim('C14')}; {verdicts['C11.slsqp'].verdict}"
        )
    )
    slsqp, kappa = numbers["glbomd.C11.slsqp"], numbers["glbomd.C14"]["statistic"]
    all_of_them = ", ".join(map(str, kappa))
    assert shown("") == f"{slsqp['statistic']:.0f}; {kappa[1]}; {all_of_them}; {slsqp['verdict']}"


def test_paths_select_ends_positions_elements_and_ratios(declare):
    about = json.loads((project_dir() / "figures" / "glbomd" / "figure_1.json").read_text())
    curve = about["numbers"]["regret S=3"]
    ours, other = curve["GLB-OMD"]["mean"], curve["OFUGLB"]["mean"]
    i = curve["GLB-OMD"]["rounds"].index(1500)
    path = "numbers['regret S=3']['GLB-OMD']"
    texts = (
        f"{{{path} | final}}; {{{path} | at(1500)}}; {{{path}.mean[0]}}; {{{path}.mean | length}}",
        f"{{{path} | final / numbers['regret S=3'].OFUGLB | final}}; {{parameters.horizon}}",
    )
    declare(row("; ".join(texts)))
    expected = (ours[-1], ours[i], ours[0], len(ours), ours[-1] / other[-1], 3000)
    assert shown("") == "; ".join(map(reported.format_number, expected))


def test_percent_multiplies_and_other_figures_are_found_by_name(declare):
    declare(row("{0.25 | percent}; {figure('figure_3').parameters.horizon}; {trials['GLB-OMD']}"))
    assert shown("") == "25.0 %; 3000; 100"


@pytest.mark.parametrize(
    "here, part",
    [
        ("{numbers['regret S=4'].OFUGLB | final}", "regret S=4"),
        ("{numbers['regret S=3'].OFUGLB.last}", "last"),
        ("{numbers['regret S=3'].OFUGLB | at(1501)}", "1501"),
        ("{numbers['regret S=3'].OFUGLB.mean[300]}", "300"),
        ("{numbers['regret S=3'].OFUGLB}", "dict"),
        ("{numbers | final}", "index"),
        ("{figure('figure_9').numbers.regret | final}", "numbers"),
        ("{claim('C99')}", "C99"),
        ("{claim('C5')}", "NoneType"),
        ("{claim('C14')[6]}", "6"),
    ],
)
def test_a_wrong_place_names_the_row_and_the_expression(declare, here, part):
    declare(row(here))
    with pytest.raises(ValueError, match="regret of a method") as error:
        reported.rows("glbomd", "figure_1")
    assert here in str(error.value) and part in str(error.value).split("got")[1]


def test_an_unknown_path_is_a_dash_outside_of_the_paper_profile(declare, monkeypatch, tmp_path):
    (tmp_path / "quick" / "glbomd").mkdir(parents=True)
    (tmp_path / "quick" / "glbomd" / "figure_1.json").write_text(
        json.dumps({"numbers": {"a": {"mean": [1.0, 2.5], "rounds": [10, 20]}}})
    )
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    declare(row("{numbers.a | final}, {numbers.a | at(3000)}, {numbers.b | final}"))
    assert shown("", "quick") == f"2.50, {NOTHING}, {NOTHING}"


def test_values_that_were_read_off_are_marked_and_the_table_shows_the_place(declare):
    declare(row("{claim('C5.S3')} | times")._replace(read_off=True))
    rows = reported.rows("glbomd", "figure_1")
    assert rows[0]["paper"] == "about 100 (read off)"
    table = TEMPLATES.get_template("macros.md.j2").module.reported(rows)
    head, line, body = str(table).strip().split("\n")
    assert head == "| quantity | the paper | here |" and line == "| --- | --- | --- |"
    assert "about 100 (read off)<br><small>Table 9</small>" in body and r"\| times" in body


def test_no_rows_give_no_table():
    assert not str(TEMPLATES.get_template("macros.md.j2").module.reported([])).strip()


def closing_table(paper):
    """Return the section of a step-by-step notebook that sets the paper's statements beside our numbers."""
    path = project_dir() / "notebooks" / f"{paper}_0_step_by_step.ipynb"
    cells = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]
    text = next(cell for cell in cells if "| the paper reports | we measured" in cell)
    return text[text.index("## ") : text.rindex("## ")]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_table_of_a_step_by_step_notebook_has_the_recorded_verdicts_and_numbers(paper):
    text = closing_table(paper)
    record = json.loads((project_dir() / "figures" / "claims.json").read_text())
    claims = record["papers"][paper]["claims"]
    verdicts = {c["id"].split(".", 1)[1].lower(): c["verdict"] for c in claims}
    links = re.findall(r"\[([^\]]*)\]\(\.\./docs/papers/\w+\.md#([\w.-]+)\)", text)
    stated = {"holds", "fails", "inconclusive"}
    found = {id: words.split()[0] for words, id in links if id in verdicts}
    found = {id: word for id, word in found.items() if word in stated}
    assert found and found == {id: verdicts[id] for id in found}

    # The page of the paper is generated, so a number of three digits that it does not contain is out of date. A row's numbers
    # are in the lines of the claims that it links to.
    page = (project_dir() / "docs" / "papers" / f"{paper}.md").read_text()
    numbers = NUMBER.findall(text)
    assert [number for number in numbers if number not in page] == []
    for row in filter(re.compile(r"\| .*#").match, text.split("\n")):
        anchors = re.findall(r"\.md#([\w.-]+)\)", row)
        about = re.compile("|".join(rf'(?:id="|\(#){re.escape(id)}[").]' for id in anchors))
        places = "\n".join(filter(about.search, page.split("\n")))
        assert [n for n in NUMBER.findall(row) if n not in places] == [], row


@pytest.mark.parametrize("paper", PAPERS)
def test_explained_names_occur_in_legends_or_tables(paper):
    terms = getattr(paper_module(paper, "page"), "TERMS", {})
    styles = getattr(paper_module(paper, "styles"), "STYLES", {})
    page = (project_dir() / "docs" / "papers" / f"{paper}.md").read_text()
    page = page.replace("<summary>Names in figures and tables</summary>", "").split("\n")
    rows = {f"| {name} |" for name in terms}
    rest = "\n".join(line for line in page if not line.startswith(tuple(rows)))
    shown = [rest, *styles, *(style.label or "" for style in styles.values())]
    names = [name for term in terms for name in ([term] if term in styles else term.split(", "))]
    assert [name for name in names if not any(name in text for text in shown)] == []
