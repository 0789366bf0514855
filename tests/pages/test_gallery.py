"""The gallery: what its pages say, that nothing on them is broken, and how a real browser sees them."""

import base64
import json
import os
import struct
import sys
import time
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import chromium, served, view
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from paperlib.pages import gallery
from paperlib.workflow import plan as workflow
from paperlib.pages.mathml import formulas, mathml
from paperlib.pages.notebooks import Picture
from paperlib.pages.notebooks import page as notebook_page
from paperlib.verdicts.verdict import Claim, Row

FIGURES = Path(__file__).resolve().parents[2] / "figures"
sys.path.insert(0, str(FIGURES.parent))
import run  # noqa: E402

PAGES = [FIGURES / "index.html", *sorted((FIGURES / "notebooks").glob("*.html"))]
VOID = {"meta", "link", "img", "br", "hr", "input", "wbr"}


class Page(HTMLParser):
    """Elements of a page with their attributes; `faults` grows where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.faults, self.text = [], [], [], ""
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open += [tag] if tag not in VOID else []

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes <{self.open[-1] if self.open else 'nothing'}>")
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]

    def handle_data(self, data):
        self.text += data

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


def address_fault(place, page, address):
    """Why an address on a page at `place` leads nowhere, or ""."""
    if address.startswith("data:"):
        return ""
    if ":" in address.split("/")[0] or address.startswith("/"):
        return f"{address} leaves the folder"
    name, _, fragment = address.partition("#")
    target = place.parent / unquote(name) if name else place
    if name and not target.is_file():
        return f"{address} does not exist"
    ids = page.ids if target == place or not fragment else Page(target.read_text()).ids
    return f"{address} is no place on its page" if fragment and unquote(fragment) not in ids else ""


def faults(place, text=None):
    """What is wrong with a page, one line each."""
    text = place.read_text() if text is None else text
    page = Page(text)
    found = list(page.faults)
    found += [f"id {id} is given twice" for id in {id for id in page.ids if page.ids.count(id) > 1}]
    for tag, attributes in page.elements:
        if tag == "html" and not attributes.get("lang"):
            found.append("no language")
        if tag == "img" and not (attributes.get("alt") or "").strip():
            found.append(f"{attributes['src'][:40]} has no alternative text")
        if (
            tag == "img"
            and not attributes["src"].startswith("data:")
            and not {"width", "height"} <= attributes.keys()
        ):
            found.append(f"{attributes['src']} has no size")
        sheet = (
            place.parent / attributes["href"]
            if tag == "link" and attributes.get("rel") == "stylesheet"
            else None
        )
        if tag in ("script", "iframe", "object") or (
            tag == "link" and not sheet and not attributes["href"].startswith("data:")
        ):
            found.append(f"<{tag}> loads something")
        if sheet and sheet.is_file():  # one that is missing or elsewhere is a wrong address, below
            found += [
                f"the style loads {what}"
                for what in ("@import", "url(")
                if what in sheet.read_text()
            ]
        if tag == "a" and not attributes.get("href"):
            found.append("a link without an address")
        outside = tag == "a" and attributes.get("href", "").startswith(("http://", "https://"))
        found += [
            fault
            for name in ("href", "src")
            if not outside
            and (fault := address_fault(place, page, attributes.get(name) or "data:"))
        ]
    found += [
        f"the style loads {what}"
        for what in ("@import", "url(")
        if what in text.partition("</style>")[0]
    ]
    return found


def png(width=4, height=3):
    """A small white PNG."""
    chunk = lambda kind, content: (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )
    rows = b"".join(b"\0" + b"\xff" * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def figure(place, name, **about):
    """A saved figure in a folder."""
    place.mkdir(parents=True, exist_ok=True)
    for ending, content in (
        (".png", png()),
        (".pdf", b"%PDF"),
        (
            ".json",
            json.dumps(
                {"figure": name, "caption": "A caption.", "alt": "Two lines.", **about}
            ).encode(),
        ),
    ):
        (place / f"{name}{ending}").write_bytes(content)


CLAIMS = [
    Row(
        Claim(
            "toy.C1.S3",
            "Figures 1a-b",
            'first <b>bold</b> & "quoted" (S=3)',
            "ratio",
            "below",
            2.0,
            "toy_1_plain",
        ),
        "holds",
        "C1.S3  holds (quick)  ratio 1.5 [1.4, 1.6], n 9",
        {},
    ),
    Row(
        Claim("toy.C1.S5", "Figure 1c", "first (S=5)", "ratio", "below", 2.0, "toy_1_plain"),
        "fails",
        "C1.S5  fails (quick)  ratio 2.5",
        {},
    ),
    Row(
        Claim(
            "toy.C1", "Figure 1", "first", "all parts", "parts", parts=("toy.C1.S3", "toy.C1.S5")
        ),
        "fails",
        "C1  fails (quick)  C1.S3 holds, C1.S5 fails",
        {},
    ),
    Row(
        Claim("toy.C2", "Table 1, Figures 1, 12", "second", "count", "equal", 3, "toy_1_plain"),
        "inconclusive",
        "C2  inconclusive (quick)",
        {},
    ),
    Row(
        Claim("toy.C3", "Section 2", "third", "count", "equal", 3, "toy_1_plain"),
        "not run",
        "C3  not run (quick)",
        {},
    ),
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A project in a folder of its own, with one notebook; returns the quick profile's folder of figures."""
    for name, where in (("ROOT", ""), ("RESULTS", "results"), ("FIGURES", "figures")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / where))
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Plain *toy* of $S$\n", "more"]}
    ]
    cells += [
        {
            "cell_type": "code",
            "metadata": {},
            "source": ['figures.save(\n  fig, "later", paper="toy")\nsave(1, 2)'],
            "outputs": [],
        }
    ]
    cells += [
        {"cell_type": "code", "metadata": {}, "source": ["%magic is no Python"], "outputs": []}
    ]
    cells += [
        {
            "cell_type": "code",
            "metadata": {},
            "source": ['figures.save(fig, "figure_1")'],
            "outputs": [],
        }
    ]
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/toy_1_plain.ipynb").write_text(
        json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    )
    return tmp_path / "figures/quick"


def toy(place):
    """The toy paper as the gallery would find it."""
    return gallery.Paper(
        "toy", "Toys & <games>", "A. Author (2025).", gallery.saved(place / "toy"), CLAIMS
    )


# ---- what is committed -------------------------------------------------------------------------------------


def test_committed_page_is_current(monkeypatch):
    for name in ("ROOT", "FIGURES", "RESULTS"):
        monkeypatch.delenv(f"PAPERLIB_{name}", raising=False)
    current = gallery.page("paper") == (FIGURES / "index.html").read_text()
    assert current, "figures/index.html is stale; `python -m paperlib.pages.gallery` writes it anew"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_committed_pages_are_sound(path):
    assert faults(path) == []


def test_committed_page_shows_every_figure_once():
    sources = [
        attributes["src"]
        for tag, attributes in Page((FIGURES / "index.html").read_text()).elements
        if tag == "img"
    ]
    assert sorted(sources) == sorted(
        str(path.relative_to(FIGURES))
        for path in FIGURES.glob("*/*.png")
        if path.parent.name != "quick"
    )


# ---- the checker itself ------------------------------------------------------------------------------------

GOOD = '<html lang="en"><head><style>p {}</style></head><body><p id="a"><a href="#a">x</a><img src="data:," alt="y"></p></body></html>'


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("</p>", "", "</body> closes <p>"),
        (' lang="en"', "", "no language"),
        (' alt="y"', "", "data:, has no alternative text"),
        (' alt="y"', ' alt=" "', "data:, has no alternative text"),
        ('src="data:,"', 'src="x.png"', "x.png has no size"),
        ("#a", "#b", "#b is no place on its page"),
        ("#a", "page.html#b", "page.html#b is no place on its page"),
        ("#a", "gone.pdf", "gone.pdf does not exist"),
        ("#a", "/etc", "/etc leaves the folder"),
        ('href="#a"', "", "a link without an address"),
        ("data:,", "https://example.org/x.png", "https://example.org/x.png leaves the folder"),
        ("<p ", '<p id="b"></p><p id="b"></p><p ', "id b is given twice"),
        ("<p ", "<script></script><p ", "<script> loads something"),
        ("p {}", "p { background: url(x) }", "the style loads url("),
        ("<style>", '<link rel="stylesheet" href="gone.css"><style>', "gone.css does not exist"),
        (
            "<style>",
            '<link rel="stylesheet" href="https://example.org/x.css"><style>',
            "https://example.org/x.css leaves the folder",
        ),
    ],
)
def test_the_checker_flags_a_broken_page(tmp_path, old, new, expected):
    path = tmp_path / "page.html"
    path.write_text(GOOD)
    assert faults(path) == []
    assert expected in faults(path, GOOD.replace(old, new))


# ---- what a page says --------------------------------------------------------------------------------------


def test_only_whole_figures_are_taken(place):
    figure(place / "toy", "figure_1")
    figure(place / "toy", "lost")
    (place / "toy/lost.png").unlink()
    (place / "toy/numbers.json").write_text("[1, 2]")
    (found,) = gallery.saved(place / "toy")
    assert (found.label, found.picture) == (
        "Figure 1",
        Picture("toy/figure_1.png", "Two lines.", 4, 3),
    )


def test_text_is_escaped_and_nothing_breaks(place):
    figure(place / "toy", "figure_1", caption="a < b & <i>c</i>", alt='say "<hi>"')
    text = gallery.paper_html(toy(place), gallery.notebooks(place))
    page = Page(text)
    assert page.faults == [] and not {"i", "b", "hi", "games"} & {tag for tag, _ in page.elements}
    assert (
        "a < b & <i>c</i>" in page.text
        and "Toys & <games>" in page.text
        and 'first <b>bold</b> & "quoted"' in page.text
    )
    assert dict(page.elements)["img"]["alt"] == 'say "<hi>"'


def test_formulas_of_captions_are_drawn_and_names_keep_their_letters(place):
    figure(place / "toy", "regret_against_T", caption="Regret at $T^{2/3}$ & more.")
    (found,) = gallery.saved(place / "toy")
    text = gallery.figure_html(found, [])
    assert found.label == "Regret against T" and "$" not in text
    assert mathml("T^{2/3}") in text and "&amp; more." in text


def test_figures_stand_in_the_order_of_their_notebooks(place):
    for name in ("another", "figure_1", "later"):
        figure(place / "toy", name)
    (notebook,) = gallery.notebooks(place)
    assert notebook == gallery.Notebook(
        "toy_1_plain", "Plain *toy* of S", ["later", "figure_1"], ""
    )
    text = gallery.paper_html(toy(place), [notebook])
    assert [a["id"] for tag, a in Page(text).elements if tag == "figure"] == [
        "toy-later",
        "toy-figure_1",
        "toy-another",
    ]


def test_a_notebook_is_linked_where_its_page_is(place):
    (place / "notebooks").mkdir(parents=True)
    assert "Executed notebook" not in gallery.paper_html(toy(place), gallery.notebooks(place))
    (place / "notebooks/toy_1_plain.html").write_text("")
    assert 'href="notebooks/toy_1_plain.html"' in gallery.paper_html(
        toy(place), gallery.notebooks(place)
    )


def test_verdicts_are_counted_by_tests():
    assert (
        Page(gallery.counts(CLAIMS)).text.strip()
        == "Of 4 tests✓ 1 hold✕ 1 fail? 1 inconclusive– 1 not run"
    )
    assert gallery.counts([]) == ""


def test_a_figure_shows_its_claims_and_no_part_beside_its_whole(place):
    figure(place / "toy", "figure_1")
    figure(place / "toy", "figure_2", claims=[{"id": "toy.C3"}, {"id": "toy.C1.S5"}])
    figure(place / "toy", "other")
    first, second, other = gallery.saved(place / "toy")
    ids = lambda found: [row.claim.id for row in gallery.shown(found, CLAIMS)]
    assert (ids(first), ids(second), ids(other)) == (
        ["toy.C1", "toy.C2"],
        ["toy.C1.S5", "toy.C3"],
        [],
    )
    chips = [
        a
        for tag, a in Page(gallery.figure_html(second, CLAIMS)).elements
        if a.get("class", "").startswith("chip ")
    ]
    assert [(a["class"], a["href"], a["title"]) for a in chips] == [
        ("chip fails", "#claim-toy.C1.S5", "fails: first (S=5)"),
        ("chip not-run", "#claim-toy.C3", "not run: third"),
    ]


def test_checks_are_summed_up_by_statement(place):
    verdicts = [
        ("Theorem 1", "holds"),
        ("Theorem 1", "fails"),
        ("Lemma 2", "holds"),
        ("Lemma 2", "inconclusive"),
        ("Lemma 4", "vacuous here"),
    ]
    beyond = [("Lemma 2", "fails"), ("Lemma 3", "fails")]
    checks = [
        {"statement": statement, "verdict": verdict, "remark": ""}
        for statement, verdict in verdicts
    ]
    figure(
        place / "toy",
        "other",
        checks=checks
        + [
            {"statement": statement, "verdict": verdict, "remark": "ridge 1 is small"}
            for statement, verdict in beyond
        ],
    )
    (found,) = gallery.saved(place / "toy")
    first, second, fourth, third = gallery.checks(found)
    assert 'class="chip fails"' in first and Page(first).text == "✕ Theorem 1: 1 hold, 1 fail"
    assert (
        'class="chip inconclusive"' in second
        and Page(second).text == "? Lemma 2: 1 hold, 1 inconclusive; beyond its conditions 1 fail"
    )
    assert (
        'class="chip reported"' in third
        and Page(third).text == "• Lemma 3: beyond its conditions 1 fail"
    )
    assert (
        'class="chip vacuous-here"' in fourth and Page(fourth).text == "○ Lemma 4: 1 vacuous here"
    )


def test_every_claim_is_listed_below_its_own(place):
    text = gallery.claims_html(toy(place))
    assert list(Page(text).ids) == [
        f"claim-toy.{id}" for id in ("C1", "C1.S3", "C1.S5", "C2", "C3")
    ]
    assert (
        "ratio 1.5 [1.4, 1.6], n 9 · Figures 1a-b · test: ratio" in text and "(quick)" not in text
    )


def test_the_whole_page_of_a_quick_run(place):
    figure(place / "toy", "figure_1")
    path = gallery.write("quick")
    assert path == place / "index.html" and faults(path) == []
    page = Page(path.read_text())
    assert "quick profile's small sizes" in page.text and "Toy" in page.text
    assert gallery.write("quick").read_text() == gallery.page("quick") == path.read_text()


def test_a_folder_that_cannot_be_written_is_one_line(place, capsys):
    place.parent.mkdir()
    place.write_text("a file where the folder should be")
    assert gallery.main(["quick"]) == 1
    assert capsys.readouterr().err.startswith("The gallery was not written: ")


def test_run_writes_the_page_only_when_something_is_newer(place, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(run, "call", lambda argv, **_: calls.append(argv) or 0)
    assert run.gallery("python", "quick") == 0 and calls == []  # nothing to show
    figure(place / "toy", "figure_1")
    run.gallery("python", "quick")
    assert calls == [["python", "-m", "paperlib.pages.gallery", "quick"]]
    (place / "index.html").touch()
    run.gallery("python", "quick")
    assert len(calls) == 1
    done = tmp_path / "results/quick/toy_1_plain.done"
    done.parent.mkdir(parents=True)
    done.touch()
    os.utime(done, (time.time() + 9, time.time() + 9))
    run.gallery("python", "quick")
    assert len(calls) == 2


# ---- executed notebooks ------------------------------------------------------------------------------------


def executed(tmp_path):
    """Results of a notebook that shows a saved figure and one that is not saved."""
    show = lambda content, **data: new_output(
        "display_data",
        data={"image/png": base64.b64encode(content).decode(), **data},
        metadata={"image/png": {"alt": "three dots"}},
    )
    outputs = [
        show(png()),
        show(png(9, 9)),
        new_output("stream", name="stderr", text="a warning"),
        new_output("stream", name="stdout", text="1 < 2"),
    ]
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Plain toy\nwith $\\lambda \\ge 1$"),
            new_code_cell("x = 1 < 2", outputs=outputs),
        ]
    )
    folder = tmp_path / "results/quick"
    folder.mkdir(parents=True)
    (folder / "toy_1_plain.ipynb").write_text(json.dumps(notebook))
    return notebook


def test_a_notebook_becomes_a_page_with_links_to_its_figures(place, tmp_path):
    figure(place / "toy", "figure_1")
    executed(tmp_path)
    gallery.write("quick")
    assert not (place / "notebooks").exists()  # no .done: it has not run to its end
    (tmp_path / "results/quick/toy_1_plain.done").write_text("{}")
    gallery.write("quick")
    path = place / "notebooks/toy_1_plain.html"
    page = Page(path.read_text())
    assert faults(path) == [] and faults(place / "index.html") == []
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    assert images[0]["src"] == "../toy/figure_1.png" and images[0]["alt"] == "Two lines."
    assert images[1]["src"].startswith("data:image/png") and images[1]["alt"] == "three dots"
    assert "a warning" not in page.text and "1 < 2" in page.text and "<math" in path.read_text()


def test_a_page_is_written_again_after_a_new_run_only(place, tmp_path):
    figure(place / "toy", "figure_1")
    executed(tmp_path)
    (tmp_path / "results/quick/toy_1_plain.done").write_text("{}")
    gallery.write("quick")
    path = place / "notebooks/toy_1_plain.html"
    path.write_text("kept")
    gallery.write("quick")
    assert path.read_text() == "kept"
    copy = workflow.results("quick") / "toy_1_plain.ipynb"
    copy.touch()
    gallery.write("quick")
    assert path.read_text() != "kept"


def test_the_executed_notebook_is_not_changed(tmp_path):
    notebook = executed(tmp_path)
    before = json.dumps(notebook)
    notebook_page(notebook, {})
    assert json.dumps(notebook) == before


@pytest.mark.parametrize(
    "tex, expected",
    [
        ("x", "<mi>x</mi>"),
        ("-1.5", "<mrow><mo>−</mo><mn>1.5</mn></mrow>"),
        ("\\theta_*", "<msub><mi>θ</mi><mrow><mo>*</mo></mrow></msub>"),
        ("G_1^2", "<msubsup><mi>G</mi><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        ("\\mu'", "<msup><mi>μ</mi><mrow><mo>′</mo></mrow></msup>"),
        ("\\frac{a}{b}", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        ("\\sqrt{a<b}", "<msqrt><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow></msqrt>"),
        ("\\text{for all } t", "<mrow><mtext>for&#160;all&#160;</mtext><mi>t</mi></mrow>"),
    ],
)
def test_formulas_are_drawn_by_the_browser(tex, expected):
    assert mathml(tex) == f'<math display="inline">{expected}</math>'


@pytest.mark.parametrize("tex", ["\\unheard", "{a", "a_", "a}"])
def test_a_formula_beyond_the_reader_stays_as_code(tex):
    with pytest.raises(ValueError, match="command|formula"):
        mathml(tex)
    assert formulas(f"so ${tex}$.") == f"so <code>{tex}</code>."


def test_code_is_no_formula():
    assert (
        formulas("`$a$` and ``` $b$ ``` and $$c$$")
        == '`$a$` and ``` $b$ ``` and <math display="block"><mi>c</mi></math>'
    )


def test_every_formula_of_the_notebooks_can_be_read():
    texts = [
        "".join(cell["source"])
        for path in FIGURES.parent.glob("notebooks/*.ipynb")
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "markdown"
    ]
    assert [text for text in texts if formulas(text).count("<code>")] == []


# ---- in a browser ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A browser and the address of the committed figures."""
    with chromium(tmp_path_factory.mktemp("chromium")) as browser, served(FIGURES) as address:
        yield browser, address


LOADED = """const done = arguments[0]; for (const i of document.images) i.loading = "eager";
Promise.all([...document.images].map(i => i.decode().catch(() => null))).then(() => done([...document.images].map(i => [i.src, i.naturalWidth, i.alt])));"""


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_browser_finds_nothing_wrong(site, path, width, dark):
    browser, address = site
    view(browser, width, dark)
    browser.get(f"{address}/{path.relative_to(FIGURES).as_posix()}")
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    images = browser.execute_async_script(LOADED)
    assert (
        bool(images) == ("<img" in path.read_text())
        and [image for image in images if not (image[1] > 0 and image[2].strip())] == []
    )
    links = browser.execute_script(
        "return [...new Set([...document.links].map(a => a.href.split('#')[0]))]"
    )
    statuses = browser.execute_async_script(
        "const [urls, done] = arguments; Promise.all(urls.map(u => fetch(u, {method: 'HEAD'}).then(r => [u, r.status]))).then(done)",
        links,
    )
    assert [status for status in statuses if status[1] != 200] == []
    scroll, screen = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert scroll <= screen <= width
    background = browser.execute_script(
        "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    assert max(background) < 60 if dark else min(background) > 220
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_a_chip_leads_to_its_claim_by_keyboard(site):
    from selenium.webdriver.common.keys import Keys

    browser, address = site
    view(browser, 390, False)
    browser.get(f"{address}/index.html")
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        chip = browser.switch_to.active_element
        if chip.get_attribute("class").startswith("chip"):
            break
    assert chip.value_of_css_property("outline-style") == "solid"
    chip.send_keys(Keys.ENTER)
    # its details opened
    assert (
        browser.execute_script(
            "return document.querySelector(':target').getBoundingClientRect().height"
        )
        > 0
    )
