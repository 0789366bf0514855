"""Pages of results: they are up to date, show the results, and every link has a target, on GitHub and on the site."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from axe_core_python.selenium import Axe
from browser import chromium, view
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion.pages import ledger, markdown, papers, readme, reference, site
from companion.pages.papers import notebooks, saved
from companion.papers import paper_module
from companion.papers import papers as names
from companion.verdicts import Finding, short_id
from companion.workflow import plan as workflow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("**/*.md")])


@pytest.fixture(scope="module")
def found():
    """Return the paper profile's ledger, gathered once."""
    return ledger.gather("paper")


# ---- Markdown -----------------------------------------------------------------------------------------------


def test_signs_are_escaped_but_in_code():
    assert markdown.escape("a_b | c < d") == r"a\_b \| c \< d"
    assert markdown.escape("``a_b`` x_y ``c|d``") == r"``a_b`` x\_y ``c\|d``"
    assert markdown.escape("`a_b` x_y `c`\nz") == r"`a_b` x\_y `c` z"


@pytest.mark.slow
def test_committed_pages_are_up_to_date():
    for name, text in site.generated("paper").items():
        assert (DOCS / name).read_text() == text, (
            f"docs/{name} is stale; python -m companion.pages.site write renews it"
        )


def anchors(path):
    """Return the anchors of a Markdown page or a notebook."""
    if path.suffix == ".ipynb":
        return {f"cell-id={cell['id']}" for cell in json.loads(path.read_text())["cells"]}
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slug = lambda head: re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
    return {slug(head) for head in heads} | {*re.findall(r'<a id="([^"]+)">', text)}


def links(text):
    """Return the addresses of links and images in Markdown, outside code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", text)


ON_GITHUB = "../../actions/workflows/"  # a link in README, relative to the repository on GitHub, whoever owns it


def broken(path):
    found, known = [], {}
    for link in links(path.read_text()):
        if re.match(r"https?:", link):
            continue
        if path == ROOT / "README.md" and link.startswith(ON_GITHUB):
            link = f".github/workflows/{link.removeprefix(ON_GITHUB).removesuffix('/badge.svg')}"
        place, _, mark = link.partition("#")
        target = (path.parent / unquote(place)).resolve() if place else path
        if not target.exists():
            found.append(f"{link}: no such file")
        elif target.is_dir() and DOCS in path.parents:
            found.append(f"{link}: a folder, to which Sphinx does not link")
        elif mark and target.suffix in (".md", ".ipynb"):
            if mark not in known.setdefault(target, anchors(target)):
                found.append(f"{link}: no such anchor")
        elif mark and not re.search(rf"\b(def|class) {mark}\b|\"{mark}\"", target.read_text()):
            found.append(f"{link}: no such name")
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_has_a_target(path):
    assert broken(path) == []


def test_broken_links_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "DOCS", tmp_path)
    (tmp_path / "folder").mkdir()
    page = tmp_path / "page.md"
    page.write_text(
        '# A head\n\n<a id="x"></a>[a](#a-head) [b](#x) [c](#y) [d](gone.md) [e](folder/)\n'
    )
    assert broken(page) == [
        "#y: no such anchor",
        "gone.md: no such file",
        "folder/: a folder, to which Sphinx does not link",
    ]


def test_the_page_shows_all_figures_of_the_bench_and_names_all_unmeasured_learners(found):
    text = papers.speed(found)
    pictures = {path.name for path in (ROOT / "figures" / "bench").glob("*.png")}
    shows = lambda page, name: f"../../figures/bench/{name}" in page
    assert len(pictures) > 1 and shows(papers.samplers(), "samplers.png")
    assert all(shows(text, name) for name in pictures - {"samplers.png"})
    assert all(f"\n## {paper}\n" in text for paper in names())
    assert "- all: the bench plays 3000" in text and "(../notebooks/goucb_5_cost.ipynb)" in text
    assert (
        "- QFF 40: it has 40^d features" in text
        and text.count("PF, one epoch; FKM, one epoch") == 1
    )


@pytest.mark.parametrize(
    "source, figures",
    [
        ("Section 5, Figures 1a-b", {"1", "1a", "1b"}),
        ("Appendix F.2, Figures 1a-b, 3a-b", {"1", "1a", "1b", "3", "3a", "3b"}),
        ("Figure 4b; we chose 3 methods", {"4", "4b"}),
        ("ours, after Theorem 2", set()),
    ],
)
def test_the_figures_in_a_source_are_found_with_their_panels(source, figures):
    assert papers.figures_in(source) == figures


@pytest.mark.parametrize("paper", names())
def test_a_page_links_in_both_directions(found, paper):
    """Links exist from claim to figure and back, from theorem to check, and from erratum to cell and code."""
    page = papers.Page(paper, found["papers"][paper], "paper")
    text = page.text()
    row = lambda id: next(x for x in text.split("\n") if f'<a id="{id}"></a>' in x)
    below = lambda figure: re.split(
        r'\n## |\n<a id="[\w-]+"></a>\n', text.split(f'<a id="{figure.anchor}"></a>\n')[1]
    )[0]
    for id, claim in page.claims.items():
        assert text.count(f'<a id="{papers.anchor(id)}"></a>') == 1
        for stem, shown in page.shown.items():
            if claim in shown:
                assert f"](#{page.figures[stem].anchor})" in row(papers.anchor(id))
                assert f"](#{papers.anchor(id)})" in below(page.figures[stem])
    for statement in page.found["statements"]:
        name = statement["name"]
        assert text.count(f'<a id="{papers.statement_anchor(name)}"></a>') == 1
        for figure in page.figures.values():
            if name in figure.statements():
                assert f"](#{figure.anchor})" in row(papers.statement_anchor(name))
                assert f"](#{papers.statement_anchor(name)})" in below(figure)
    for erratum in page.found["errata"]:
        row_of = row(papers.anchor(erratum["id"]))
        assert "[code](../../companion/" in row_of and (
            not erratum["cell"] or "#cell-id=" in row_of
        )


def test_reference_pages_name_every_public_class_and_function():
    page = "# T\n\n```{eval-rst}\n.. automodule:: paperlib.linear\n   :exclude-members: UniformArm\n```\n"
    text = reference.with_tables(page)
    assert reference.with_tables(text) == text and text.endswith(page.removeprefix("# T\n\n"))
    assert "| [`OFUL`](../../paperlib/linear/learners.py#OFUL) | " in text
    assert text.count("| [`") == 4 and "UniformArm`]" not in text
    for path in (ROOT / "docs/reference").glob("*.md"):
        text = path.read_text()
        assert text.count("<!-- names of") == text.count(".. automodule::")
        assert "names of" not in text or "| [`" in text


def test_the_page_of_claims_counts_unknown_tails():
    claim = {"id": "toy.C1", "parts": [], "n": 20, "interval": [0, 1], "exempt": "", "source": "", "sentence": "", "verdict": "holds", "statistic": 0, "side": "below", "method": "", "reason": ""}  # fmt: skip
    changed = [{}, {"n": 99}, {"n": 19}, {"n": 100}, {"tail": 0.3}, {"interval": None}, {"n": None}, {"exempt": "run time"}]  # fmt: skip
    paper = {"claims": [claim | change for change in changed], "replication": {}}
    text = papers.all_claims({"profile": "paper", "papers": {"toy": paper}})
    assert "For 2 claims with 20 to 99 trials the share is not known" in text
    paper = {"claims": [claim | {"tail": 0.3}], "replication": {}}
    assert "is not known" not in papers.all_claims({"profile": "paper", "papers": {"toy": paper}})


def test_a_finding_that_no_longer_holds_stops_the_pages_after_the_record(monkeypatch, capsys):
    def refuse():
        raise ValueError("finding 'x' requires another verdict")

    monkeypatch.setattr(readme, "main", refuse)
    assert site.main(["write"]) == 1
    assert capsys.readouterr().err == (
        "The pages were not written: finding 'x' requires another verdict\n"
    )


def test_all_claims_of_all_papers_are_in_one_table(found):
    text = papers.all_claims(found)
    table = text[text.index("| claim | verdict | paper |") :].splitlines()
    total = sum(len(paper["claims"]) for paper in found["papers"].values())
    assert sum(row.startswith("| ") for row in table) == total + 2
    counts = [paper["replication"] for paper in found["papers"].values()]
    row = "| {} | {} | {} | {} | {} |"
    kinds = ("replicated", "flipped", "exempt", "not repeated")
    for name, count in zip(found["papers"], counts):
        assert row.format(name, *(count.get(kind, 0) for kind in kinds)) in text
    assert "[C4.specialized.a](papers/pfbco.md#c4.specialized.a)" in text[: text.index(table[0])]
    assert (
        papers.all_claims({**found, "profile": "quick"}).count("small sizes and are not verdicts")
        == 1
    )


# ---- findings
# -----------------------------------------------------------------------------------------------

CLAIMS = {
    "C1": {"id": "toy.C1", "verdict": "holds", "statistic": 0.8367, "parts": ()},
    "C2.a": {"id": "toy.C2.a", "verdict": "fails", "statistic": 12.0, "parts": ()},
}


def test_a_finding_has_the_numbers_of_its_claims():
    found = Finding("Half, {C1:%}, and {C2.a} times.", {"C1": "holds"})
    assert (
        papers.finding(found, CLAIMS, "p.md")
        == "Half, [83.7 %](p.md#c1), and [12.0](p.md#c2.a) times."
    )


def test_a_finding_shows_how_uncertain_a_number_is():
    """A heavy-tailed or undecided number has its interval; a number that other seeds contradict has the second number."""
    heavy = {**CLAIMS["C2.a"], "interval": [9.876, 14.321], "tail": 0.7}
    said = papers.finding(Finding("{C2.a} times.", {}), {"C2.a": heavy}, None)
    assert said == "12 (95 % interval 9.9 to 14) times."
    share = {"C2.a": heavy | {"statistic": 0.9182, "interval": [0.8765, 0.9432]}}
    said = papers.finding(Finding("{C2.a:%}", {}), share, None)
    assert said == "92 % (95 % interval 88 % to 94 %)"
    narrow = {"C2.a": heavy | {"statistic": 1.0031, "interval": [0.9997, 1.0062]}}
    said = papers.finding(Finding("{C2.a} times.", {}), narrow, None)
    assert said == "1.003 (95 % interval 0.9997 to 1.006) times."
    usual = {"C2.a": heavy | {"tail": 0.4}}
    again = {"C2.a": usual["C2.a"] | {"replication": {"statistic": 15.0, "interval": [14.4, 15.6]}}}
    said = papers.finding(Finding("{C2.a} times.", {}), again, None)
    assert said == "12.0 (with other seeds 15.0) times."
    again["C2.a"]["replication"]["interval"] = [14.3, 15.7]
    assert papers.finding(Finding("{C2.a} times.", {}), again, None) == "12.0 times."
    assert papers.finding(Finding("{C2.a} times.", {}), usual, None) == "12.0 times."
    undecided = {"C2.a": usual["C2.a"] | {"verdict": "inconclusive"}}
    said = papers.finding(Finding("{C2.a} times.", {}), undecided, None)
    assert said == "12.0 (95 % interval 9.88 to 14.3) times."


@pytest.mark.parametrize("text", ["It is {C4}.", "It is {C3}."])
def test_a_finding_shows_only_numbers(text):
    without = {**CLAIMS, "C3": {"id": "toy.C3", "verdict": "holds", "statistic": None}}
    with pytest.raises(ValueError, match="^finding .* must show claims with one number, got "):
        papers.finding(Finding(text, {"C1": "holds"}), without)


def test_alternative_text_is_escaped():
    assert markdown.spoken("$f_1$ on [0, 1) | x") == "f\\_1 on \\[0, 1) \\| x"


@pytest.mark.parametrize("rests", [{"C1": "fails"}, {"C3": "holds"}])
def test_a_finding_that_contradicts_a_verdict_is_rejected(rests):
    with pytest.raises(ValueError, match="requires the verdict .* of C.*, got "):
        papers.finding(Finding("So it is.", rests), CLAIMS)


ALTERNATIVES = (
    Finding("It holds: {C1}.", {"C1": "holds"}),
    Finding("It is open.", {"C1": "inconclusive"}),
)


@pytest.mark.parametrize("verdict, text", [("holds", "It holds"), ("inconclusive", "It is open")])
def test_verdicts_choose_the_alternative(verdict, text):
    known = {"C1": {**CLAIMS["C1"], "verdict": verdict}}
    assert papers.finding(papers.choose_finding(ALTERNATIVES, known), known).startswith(text)


def test_alternatives_without_a_supported_finding_are_rejected():
    known = {"C1": {**CLAIMS["C1"], "verdict": "fails"}}
    with pytest.raises(ValueError, match="requires the verdict .* of C1, got "):
        papers.finding(papers.choose_finding(ALTERNATIVES, known), known)


def test_a_finding_waits_for_the_run_of_its_claims(monkeypatch):
    one = Finding("So it is.", {"C2.a": "fails"})
    declared = type("claims", (), {"FINDINGS": (ALTERNATIVES, one)})
    monkeypatch.setattr(papers, "paper_module", lambda *_: declared)
    said = ["It holds: [0.837](#c1).", "So it is."]
    assert papers.findings("toy", "paper", CLAIMS) == said
    waits = CLAIMS | {"C1": {**CLAIMS["C1"], "verdict": "not run"}}
    assert papers.findings("toy", "paper", waits) == said[1:]
    assert papers.findings("toy", "quick", CLAIMS) == []


def names_figure(stem, name):
    """Return whether a code cell of a notebook has the name of a figure as a string; in an f-string, a value may be any text."""
    code = "\n".join(cell["source"] for cell in workflow.code_cells(stem))
    pattern = lambda text: re.sub(r"\\\{.*?\\\}", ".+", re.escape(text))
    return any(re.fullmatch(pattern(text), name) for text in re.findall(r'"([^"\n]+)"', code))


@pytest.mark.parametrize("paper", names())
def test_every_figure_has_a_title_and_a_notebook_that_saves_it(paper):
    there, words = saved(paper, "paper"), paper_module(paper, "page")
    stems = {notebook.stem for notebook in notebooks(paper)}
    assert there.keys() == words.FIGURES.keys() and {*words.MAIN} <= there.keys()
    assert len({*words.FIGURES.values()}) == len(there)
    for name, figure in there.items():
        assert figure.notebook in stems and names_figure(figure.notebook, name), name


@pytest.mark.parametrize("paper", names())
def test_the_first_screen_of_a_page_has_the_algorithm_and_leads_to_its_code(found, paper):
    page = papers.Page(paper, found["papers"][paper], "paper").text()
    first = page.split("## What we found")[0]
    assert len(first.split()) < 520
    assert "**Problem.**" in first and "**Algorithm**" in first and "\n\n$$" in first
    assert "1. " in first and "(../../paperlib/" in first and "_0_step_by_step.ipynb)" in first
    # GitHub removes a backslash before punctuation, also within formulas.
    _, _, theorem = page.partition("## What the paper proves")
    assert not re.search(r"\\[{},;!%]", first + theorem.split("\n## ")[0])


@pytest.mark.parametrize("paper", names())
def test_every_explained_symbol_occurs_in_a_statement(found, paper):
    summaries = " ".join(each["summary"] for each in found["papers"][paper]["statements"])
    assert not re.search(r"``\w+``(, ``\w+``)*: |Arguments", summaries)  # for users of the code
    symbols = getattr(paper_module(paper, "page"), "SYMBOLS", {})
    alone = lambda symbol: re.search(rf"(?<![\w~^]){re.escape(symbol)}(?!\w)", summaries)
    assert [symbol for symbol in symbols if not alone(symbol)] == []


def test_figures_named_by_an_f_string_are_found_where_they_are_saved():
    """goucb_2 saves figures 2a to 2d in a loop."""
    assert all(names_figure("goucb_2_synthetic", f"figure_2{x}") for x in "abcd")
    assert not names_figure("goucb_2_synthetic", "figure_9")


@pytest.mark.parametrize("paper", names())
def test_findings_depend_on_verdicts(found, paper):
    module = paper_module(paper, "claims")
    assert module.FINDINGS
    known = {short_id(c["id"]): c for c in found["papers"][paper]["claims"]}
    assert all(papers.choose_finding(entry, known).rests for entry in module.FINDINGS)
    assert all(papers.findings(paper, "paper", known))


# ---- executed notebooks -------------------------------------------------------------------------------------

PNG = base64.b64encode(b"\x89PNG a picture").decode()
DIGEST = hashlib.sha256(b"\x89PNG a picture").hexdigest()


def ran():
    code = new_code_cell(
        "1 + 1", id="b", metadata={"tags": ["injected-parameters"]}, execution_count=7
    )
    code.outputs = [
        new_output("stream", name="stdout", text="2\n"),
        new_output("stream", name="stderr", text="a warning with /somewhere\n"),
        new_output(
            "display_data", data={"image/png": PNG, "text/plain": "<Image>"}, metadata={"w": 1}
        ),
        new_output("display_data", data={}),
        new_output("execute_result", data={"text/plain": "2"}, execution_count=7),
    ]
    return new_notebook(cells=[new_markdown_cell("[page](../docs/papers/toy.md)", id="a"), code])


def test_an_executed_notebook_is_stored_without_images_and_noise():
    source = ran()
    kept = site.published_notebook(source, {DIGEST: ("../../figures/toy/f.png", "a curve")})
    assert kept.cells[0].source == "[page](../papers/toy.md)"
    assert (
        kept.cells[1].metadata.tags == ["injected-parameters"]
        and kept.cells[1].execution_count == 1
    )
    assert [list(o.get("data", {"text": 0})) for o in kept.cells[1].outputs] == [
        ["text"],
        ["text/markdown"],
        ["text/plain"],
    ]
    assert kept.cells[1].outputs[1].data["text/markdown"] == "![a curve](../../figures/toy/f.png)"
    assert source == ran() and site.published_notebook(kept, {}).cells[1].source == "1 + 1"


def test_an_image_without_a_figure_is_removed():
    assert len(site.published_notebook(ran(), {}).cells[1].outputs) == 2


@pytest.mark.slow
def test_a_later_run_is_not_overwritten_by_an_older_one(tmp_path, monkeypatch):
    """A checkout may contain a copy that ran after the copy in results/; the time is in its text, not in its file time."""
    monkeypatch.setattr(workflow, "notebook_stems", lambda: ["toy_1"])
    monkeypatch.setattr(workflow, "profile_results", lambda profile: tmp_path)
    node, there = ran(), tmp_path / "there"
    there.mkdir()
    (tmp_path / "toy_1.done").touch()

    def made(day):
        node.metadata["papermill"] = {"end_time": f"2026-01-{day:02}T00:00:00+00:00"}
        nbformat.write(node, tmp_path / "toy_1.ipynb")
        return site.notebooks("paper", there)

    (there / "toy_1.ipynb").write_text(made(5)["toy_1"])
    assert made(4) == {} and made(5) and made(6)
    (there / "toy_1.ipynb").write_text(nbformat.writes(ran()))  # no time is known
    assert made(4)


def test_a_notebook_that_waits_for_its_run_shows_the_committed_outputs(tmp_path, monkeypatch):
    """Its copy is written again when the committed outputs change, until there is a run of the paper profile."""
    monkeypatch.setattr(workflow, "notebook_stems", lambda: ["toy_1"])
    monkeypatch.setattr(workflow, "profile_results", lambda profile: tmp_path / profile)
    monkeypatch.setattr(workflow, "notebook_path", lambda stem: tmp_path / f"{stem}.ipynb")
    there, node = tmp_path / "there", ran()
    there.mkdir()

    def made():
        nbformat.write(node, tmp_path / "toy_1.ipynb")
        return site.notebooks("paper", there).get("toy_1", "")

    first = made()
    assert site.QUICK in json.loads(first)["cells"][1]["source"]
    (there / "toy_1.ipynb").write_text(first)
    node.cells[0].source = "new text"
    assert "new text" in made() and made().count('"not-run"') == 1
    (there / "toy_1.ipynb").write_text(nbformat.writes(ran()))
    assert made() == ""  # the copy of a run stays


def test_committed_notebooks_have_no_error_and_only_described_pictures():
    """Figures are links to figures/. Only the step-by-step notebooks, which save no figures, contain pictures."""
    paths = sorted((DOCS / "notebooks").glob("*.ipynb"))
    assert [path.stem for path in paths] == workflow.notebook_stems()
    for path in paths:
        text = path.read_text()
        explains = path.stem.endswith("_0_step_by_step")
        cells = json.loads(text)["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        shown = [x for x in outputs if "image/png" in x.get("data", {})]
        assert bool(shown) == explains
        assert all(x["metadata"]["image/png"]["alt"] for x in shown)
        assert '"output_type": "error"' not in text
        assert len(text) < (1_000_000 if explains else 450_000)


# ---- guides -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in sorted((DOCS / "guides").glob("*.md"))])
def test_the_code_of_the_guides_runs(name, tmp_path):
    """All blocks of a page are run one after the other, as a reader would run them."""
    text = (DOCS / "guides" / f"{name}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if not blocks:
        pytest.skip("no code")
    (tmp_path / "guide.py").write_text("\n".join(blocks))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PAPERLIB_RESULTS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "guide.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


# ---- the site -----------------------------------------------------------------------------------------------


class Html(HTMLParser):
    """Ids, links and images of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.images = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found["id"]} if "id" in found else set()
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        if tag == "img":
            self.images.append(found)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("sphinx")
    out = tmp_path_factory.mktemp("site")
    assert site.build("paper", out) == 0
    return out


@pytest.mark.slow
@pytest.mark.parametrize("paper", names())
def test_a_step_by_step_notebook_shows_formulas_code_and_pictures(built, paper):
    stem = f"{paper}_0_step_by_step"
    cells = json.loads((DOCS / "notebooks" / f"{stem}.ipynb").read_text())["cells"]
    text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    pictures = sum("image/png" in x.get("data", {}) for c in cells for x in c.get("outputs", []))
    html = (built / "docs" / "notebooks" / f"{stem}.html").read_text()
    assert html.count('display="block"') == text.count("$$") / 2 > 0
    assert html.count("data:image/png;base64,") == pictures > 2
    assert "Show the code" not in html


@pytest.mark.slow
def test_the_built_site_is_whole(built):
    pages = {
        path: Html(path.read_text())
        for path in built.glob("**/*.html")
        if "_static" not in path.parts
    }
    assert len(pages) > 60
    faults = []
    for path, page in pages.items():
        for link in page.links:
            place, _, mark = link.partition("#")
            place = place.partition("?")[0]
            if re.match(r"(https?|mailto|data|javascript):", link):
                continue
            target = (path.parent / unquote(place)).resolve() if place else path
            if not target.exists():
                faults.append(f"{path.name}: {link}")
            elif mark and target in pages and unquote(mark) not in pages[target].ids | {""}:
                faults.append(f"{path.name}: {link}, no such anchor")
        faults += [f"{path.name}: a picture without words" for x in page.images if not x.get("alt")]
        text = path.read_text()
        faults += [
            f"{path.name}: loads {x}"
            for x in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', text)
        ]
    assert faults == []


@pytest.mark.slow
def test_from_a_paper_to_code_in_four_clicks(built):
    """Figure, claim, theorem, code: each step is a link on the page that the previous step opened."""
    page = Html((built / "docs/papers/nsbco.html").read_text())
    text = (built / "docs/papers/nsbco.html").read_text()
    assert "regret-against-t" in page.ids and "#c1a" in page.links and "c1a" in page.ids
    row = text[text.index('id="c1a"') :].split("</tr>")[0]
    theorem = re.search(r'href="#(theory-theorem-3.4[\w-]*)"', row)[1]
    row = text[text.index(f'id="{theorem}"') :].split("</tr>")[0]
    file, name = re.search(r'href="(\.\./code/[\w.]+\.html)#(\w+)"', row).groups()
    assert name in Html((built / "docs/papers" / file).resolve().read_text()).ids


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as found:
        found.set_script_timeout(120)  # axe on a page of hundreds of rows, on a busy machine
        yield found


EVERY = [(390, False), (390, True), (1440, False), (1440, True)]
LOOKED_AT = {
    "index": EVERY,
    "papers/pfbco": EVERY[2:3],
    "claims": EVERY[1:2],
    "guides/own-experiment": EVERY[1:3],
    "reference/linear": EVERY[1:3],
    "notebooks/nsbco_4_theory": EVERY[1:2],
}
STILL = "document.head.append(Object.assign(document.createElement('style'), {textContent: '* { transition: none !important; animation: none !important }'}))"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page, width, dark", [(page, *how) for page, hows in LOOKED_AT.items() for how in hows]
)
def test_a_browser_reports_no_error(built, browser, page, width, dark):
    """No console message, no horizontal scrolling, and no violation of WCAG A or AA."""
    view(browser, width, dark)
    browser.get(f"file://{built}/docs/{page}.html")
    faults = [x for x in browser.get_log("browser") if x["level"] != "INFO"]
    wide, shown = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert faults == [] and wide <= shown
    # Colors in a transition, or in the animation of a folded part that opens, have an undefined contrast.
    browser.execute_script(STILL)
    # axe sees no contents of a folded part
    browser.execute_script(
        "for (const part of document.querySelectorAll('details')) part.open = true"
    )
    found = Axe().run(browser, options={"runOnly": ["wcag2a", "wcag2aa"]})["violations"]
    assert [f"{x['id']}: {x['nodes'][0]['html'][:200]}" for x in found] == []


@pytest.mark.slow
def test_a_link_opens_the_folded_part_of_a_page(built, browser):
    view(browser, 1440, False)
    shown = "return document.getElementById(arguments[0]).closest('details').open"
    browser.get(f"file://{built}/docs/papers/bkb.html#c4.p1")
    assert browser.execute_script(shown, "c4.p1") and not browser.execute_script(shown, "e1")
    browser.get(f"file://{built}/docs/papers/bkb.html#e1")  # a change within the page
    assert browser.execute_script(shown, "e1")


@pytest.mark.slow
def test_the_table_of_claims_is_searched_and_filtered(built, browser):
    view(browser, 1440, False)
    browser.get(f"file://{built}/docs/claims.html")
    shown = lambda: browser.execute_script(
        "return [...document.querySelectorAll('table.filtered tbody tr')].filter(r => !r.hidden).length"
    )
    folded = shown()
    browser.find_element("css selector", "form.filter [name=parts]").click()
    every = shown()
    assert every > folded > 0
    browser.find_element("css selector", "form.filter select[name=paper]").send_keys("pfbco")
    own = shown()
    browser.find_element("css selector", "form.filter input[type=search]").send_keys("sham")
    assert every > own > 0 and "paper=pfbco" in browser.current_url
    browser.get(browser.current_url)
    assert shown() < own


@pytest.mark.slow
def test_the_table_of_claims_is_sorted_by_numbers(built, browser):
    view(browser, 1440, False)
    browser.get(f"file://{built}/docs/claims.html?parts=shown")
    head = "[...document.querySelectorAll('table.filtered th')].find(h => h.textContent.startsWith('number'))"
    browser.execute_script(f"{head}.querySelector('button').click()")
    column = (
        "document.querySelectorAll('table.filtered tbody tr')].map(r => r.cells[5].textContent)"
    )
    cells = browser.execute_script(f"return [...{column}")
    shown = [re.match(r"(?:p )?(-?[\d.e+-]+)", x) for x in cells]
    numbers = [float(x[1]) for x in shown if x and re.search(r"\d", x[1])]
    assert sum(x.startswith("p ") for x in cells) > 20
    assert len(numbers) > 100 and numbers == sorted(numbers)
