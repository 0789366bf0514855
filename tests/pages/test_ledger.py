"""Ledger of claims, statements and errata: its contents, and that the committed files are up to date with it."""

import copy
import functools
import json
import sys
from pathlib import Path

import pytest

import companion
import paperlib
from companion import verdicts
from companion.output import write_json
from companion.pages import ledger
from companion.pages import markdown as ledger_text
from companion.pages.readme import by_page, replace_block
from companion.papers import papers
from companion.workflow import plan as workflow
from paperlib import stats
from paperlib.checks import Check

ROOT = Path(__file__).resolve().parents[2]
TOY = {
    "__init__": '"""A toy | of a paper.\n\nMore."""\n',
    "claims": """
from companion.verdicts import Claim
say = lambda id, side, threshold=None, **more: Claim(f"toy.{id}", "Figure 1", "theta* | at most twice", "a test", side, threshold, "toy_1", **more)
own = Claim("toy.C3.x", "ours, after Figure 1", "theta* | at most twice", "a test", "reported", None, "toy_1")
CLAIMS = [say("C1.a", "below", 2), say("C1.b", "below", 2), say("C1", "parts", parts=("toy.C1.a", "toy.C1.b")), say("C2", "above", 0), own]
""",
    "theory/__init__": "",
    "theory/bounds": '''
from paperlib.checks import Check, statement

@statement("Theorem 1", "Toy (2020)")
def theorem_1(x) -> Check:
    """Covers."""

@statement("Theorem 2", "Toy (2020)")
def theorem_2(x) -> "Check":
    """Never held against anything."""

@statement("Table 1", "Toy (2020)")
def table_1() -> tuple:
    """Orders."""
''',
    "errata": """
from typing import NamedTuple
class Erratum(NamedTuple):
    id: str
    where: str
    problem: str
    resolution: str
ERRATA = [Erratum("E1", "(1)", "a sign", "the other"), Erratum("E2", "(2)", "a 2", "a 3"), Erratum("E12", "(3)", "x", "y"), Erratum("E3", "(4)", "x", "y")]
""",
}
CELLS = [
    {
        "cell_type": "code",
        "id": "list",
        "source": [],
        "outputs": [{"text": ["E1  (1): a sign\n", "E12  (3): x\n"]}, {"data": {}}],
    },
    {"cell_type": "markdown", "id": "bold", "source": ["**E1, E2.** A sign", " and a number."]},
]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Add a paper `toy` with a notebook, and a paper `bare` without optional modules, to the real ones."""
    for paper, rooms in {"toy": TOY, "bare": {"__init__": "", "claims": "CLAIMS = []"}}.items():
        folder = tmp_path / "extra" / paper
        folder.mkdir(parents=True)
        for name, text in rooms.items():
            (folder / f"{name}.py").parent.mkdir(exist_ok=True)
            (folder / f"{name}.py").write_text(text)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/toy_1.ipynb").write_text(json.dumps({"cells": CELLS}))
    for package in (paperlib, companion):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / "extra")])
    for name, folder in (("ROOT", ""), ("FIGURES", "figures")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / folder))
    yield tmp_path
    for name in [m for m in sys.modules if m.split(".")[1:2] in (["toy"], ["bare"])]:
        del sys.modules[name]


def coverage(misses, remark="", start=None):
    """Return a check of Theorem 1 over 400 trials, of which ``misses`` violate the bound."""
    observed = [[0.5]] * (400 - misses) + [[1.5]] * misses
    return Check(
        "Theorem 1",
        "",
        "a <= b",
        {},
        observed,
        1.0,
        delta=0.05,
        trivial=9.0,
        informative_from=start,
        remark=remark,
    )


def judged(toy):
    """Write some verdicts and checks, as the notebooks write them; return the ledger."""
    verdicts.judge("toy.C1.a", 1.2345, (1.2, 1.3), 100, "paper")
    verdicts.judge(
        "toy.C1.b", stats.Interval(3.0, 2.5, 3.5, 7, "ratio, bootstrap"), profile="paper"
    )
    verdicts.judge("toy.C3.x", 32.0, profile="paper", reason="at t = 9")
    write_json(
        toy / "figures/toy/one.json",
        {
            "checks": [
                coverage(0, start=5),
                coverage(4, start=2_000_000),
                coverage(400, "ridge 5 is below  the condition, 18"),
            ]
        },
    )
    write_json(toy / "figures/toy/two.json", {"checks": [Check("Unknown", "", "", {}, 1.0, 2.0)]})
    write_json(toy / "figures/toy/other.json", {"every": 1})
    return ledger.write("paper")


def test_claims_are_joined_with_their_verdicts(toy):
    paper = judged(toy)["papers"]["toy"]
    found = {c["id"]: c for c in paper["claims"]}
    assert list(found) == ["toy.C1.a", "toy.C1.b", "toy.C1", "toy.C2", "toy.C3.x"]
    assert [c["verdict"] for c in found.values()] == [
        "holds",
        "fails",
        "fails",
        "not run",
        "reported",
    ]
    assert (
        paper["counts"]
        == {"paper": {"holds": 1, "fails": 1, "not run": 1}, "ours": {"reported": 1}}
        and paper["title"] == "A toy | of a paper"
    )
    a = found["toy.C1.a"]
    assert (
        a["source"],
        a["test"],
        a["threshold"],
        a["statistic"],
        a["interval"],
        a["n"],
        a["notebook"],
    ) == ("Figure 1", "a test", 2, 1.2345, [1.2, 1.3], 100, "toy_1")
    assert found["toy.C1"]["reason"] == "C1.a holds, C1.b fails"


def test_statements_are_joined_with_the_figures_checks(toy):
    theorem, unchecked, table = judged(toy)["papers"]["toy"]["statements"]
    assert theorem["within"] == {"holds": 2} and theorem["beyond"] == {"fails": 1}
    assert theorem["coverage"]["estimate"] == 0.99 and (theorem["ratio"], theorem["slack"]) == (
        1.5,
        -0.5,
    )
    assert theorem["informative_from"] == [5, 2_000_000]
    assert [(c["figure"], c["remark"]) for c in theorem["checks"]] == [
        ("one", ""),
        ("one", ""),
        ("one", "ridge 5 is below  the condition, 18"),
    ]
    assert (
        unchecked["checkable"]
        and not unchecked["checks"]
        and unchecked["coverage"] is unchecked["slack"] is unchecked["informative_from"] is None
    )
    assert not table["checkable"]


def test_a_bound_that_is_never_informative_sorts_last(toy):
    write_json(toy / "figures/toy/one.json", {"checks": [coverage(0), coverage(0, start=7)]})
    assert ledger.gather("paper")["papers"]["toy"]["statements"][0]["informative_from"] == [
        7,
        "never",
    ]
    assert "| 7 to never |" in ledger_text.tables("statements", ledger.gather("paper"))


def test_errata_lead_to_their_cells(toy):
    errata = ledger.gather("quick")["papers"]["toy"]["errata"]
    assert [(e["id"], e["notebook"], e["cell"]) for e in errata] == [
        ("E1", "toy_1", "bold"),
        ("E2", "toy_1", "bold"),
        ("E12", "toy_1", "list"),
        ("E3", None, None),
    ]
    shown = ledger_text.tables("errata", ledger.gather("quick"))
    assert "| [E2](toy_1.ipynb#cell-id=bold) | (2) |" in shown and "| E3 |" in shown


def test_a_paper_without_optional_modules_adds_no_entries(toy):
    found = judged(toy)
    assert found["papers"]["bare"] == {
        "title": "bare",
        "counts": {"paper": {}, "ours": {}},
        "replication": {},
        "claims": [],
        "statements": [],
        "errata": [],
    }
    shown = [
        ledger_text.tables("claims", found),
        ledger_text.tables("statements", found),
        ledger_text.tables("errata", found),
    ]
    assert not any("bare" in text for text in shown)


def test_a_quick_run_shows_recorded_verdicts_and_its_own_numbers(toy):
    paper = judged(toy)
    verdicts.judge("toy.C1.a", 9.0, (8.0, 9.5), 5, "quick")
    quick = ledger.write("quick")
    said = lambda found: [(c["id"], c["verdict"]) for c in found["papers"]["toy"]["claims"]]
    assert said(quick) == said(paper)
    counts = [found["papers"]["toy"]["counts"] for found in (quick, paper)]
    assert counts[0] == counts[1]
    rows = ledger_text.tables("claims", quick)
    assert "1.23 [1.20, 1.30]; quick run: 9.00 [8.00, 9.50], n 5, not a verdict | 100 |" in rows
    assert "at t = 9; quick run: not run |" in rows and "quick run" not in ledger_text.tables(
        "claims", paper
    )
    assert json.loads((toy / "figures/quick/claims.json").read_text())["profile"] == "quick"
    assert json.loads((toy / "figures/claims.json").read_text())["profile"] == "paper"
    assert "recorded verdict" in rows


def test_declarations_do_not_depend_on_runs(toy):
    before = ledger_text.declared(ledger.gather("paper"))
    assert (
        ledger_text.declared(judged(toy)) == before
        and "toy: 5 claims, 3 statements, 4 errata" in before.splitlines()
    )


def test_tables_show_the_results(toy):
    found = judged(toy)
    rows = ledger_text.tables("claims", found).splitlines()
    assert (
        "| C1.a | Figure 1 | theta\\* \\| at most twice | a test | holds | 1.23 [1.20, 1.30] | 100 |"
        in rows
    )
    assert (
        "| C3.x | our addition, after Figure 1 | theta\\* \\| at most twice | a test | reported | 32.0; at t = 9 | – |"
        in rows
    )
    assert (
        "3 tests of the paper's claims: 1 holds, 1 fails, 1 not run; 1 test of our additions: 1 reported"
        in rows
    )
    rows = ledger_text.tables("statements", found).splitlines()
    assert (
        "| Theorem 1 | Covers. | 2 hold | 0.990 [0.975, 0.997], n 400 | 1.50 | -0.500 | 5 to 2.00e+06 | 1 fails |"
        in rows
    )
    assert any(
        row.startswith("| Theorem 2 | Never held against anything. | not checked |") for row in rows
    )
    assert any(row.startswith("| Table 1 | Orders. | quoted, not checked |") for row in rows)


# ---- committed files
# ----------------------------------------------------------------------------------------


@pytest.fixture
def committed(monkeypatch):
    """Return figures/claims.json of the checkout, whatever folders the environment names."""
    for name in ("ROOT", "FIGURES"):
        monkeypatch.delenv(f"PAPERLIB_{name}", raising=False)
    return json.loads((ROOT / "figures/claims.json").read_text())


def stale(found, texts):
    """Return a message for each file that differs from the verdicts' files, the figures' checks and the notebooks.

    ``texts``: the pages with generated blocks, by their paths.
    """
    parts = {"figures/claims.json": found == ledger.to_json(ledger.gather("paper"))}
    for page, blocks in by_page(found).items():
        new = functools.reduce(
            lambda t, block: replace_block(t, *block), blocks.items(), texts[page]
        )
        parts[page] = texts[page] == new
    return [
        f"{name} is stale; python -m companion.pages.readme writes it anew"
        for name, good in parts.items()
        if not good
    ]


@pytest.fixture
def texts(committed):
    return {page: (ROOT / page).read_text() for page in by_page(committed)}


def test_committed_ledger_is_up_to_date(committed, texts):
    assert committed["profile"] == "paper"
    assert stale(committed, texts) == []


def test_an_outdated_ledger_is_detected(committed, texts):
    changed = copy.deepcopy(committed)
    changed["papers"]["bkb"]["counts"]["paper"]["holds"] += 1
    names = [line.split()[0] for line in stale(changed, texts)]
    assert names == ["figures/claims.json", "README.md"]
    typed = texts["README.md"].replace("fail` ", "hold` ", 1)
    assert typed != texts["README.md"]
    found = stale(committed, texts | {"README.md": typed})
    assert [line.split()[0] for line in found] == ["README.md"]


def test_every_declared_claim_is_in_the_ledger(committed):
    for paper in papers():
        assert [c["id"] for c in committed["papers"][paper]["claims"]] == [*verdicts.claims(paper)]


def test_figures_and_the_ledger_hold_the_same_verdicts(committed):
    """A figure has the verdict of its own run, which a replication, also of a part, may have changed.

    Claims that had another id when a figure was drawn are not compared, because only the ledger counts for them.
    """
    claims = {
        c["id"]: c | {"verdict": c.get("first", c["verdict"])}
        for paper in committed["papers"].values()
        for c in paper["claims"]
    }
    first = {id: verdicts.Verdict(id, c["verdict"], "paper") for id, c in claims.items()}
    for c in (c for c in claims.values() if c["parts"]):
        known = verdicts.claims(c["id"].split(".")[0])
        judged = verdicts._judged(known[c["id"]], known, "paper", first)
        c.update(verdict=judged.verdict, reason=judged.reason)
    shown = [
        verdict
        for paper in papers()
        for path in (ROOT / "figures" / paper).glob("*.json")
        for verdict in json.loads(path.read_text()).get("claims", [])
        if verdict["id"] in claims
    ]
    assert len(shown) > 100
    of_record = ("first", "replication")  # a figure has one run
    differs = lambda v, key: key not in of_record and v[key] != claims[v["id"]].get(key)
    assert [v["id"] for v in shown if any(differs(v, key) for key in v)] == []


def test_every_check_belongs_to_something_declared(committed):
    for paper in papers():
        names = {s["name"] for s in committed["papers"][paper]["statements"]}
        for path in (ROOT / "figures" / paper).glob("*.json"):
            assert {
                check["statement"] for check in json.loads(path.read_text()).get("checks", [])
            } <= names, path.name


def test_every_erratum_links_to_a_cell_that_mentions_it(committed):
    for paper in committed["papers"].values():
        for erratum in paper["errata"]:
            cells = json.loads(workflow.notebook_path(erratum["notebook"]).read_text())["cells"]
            (cell,) = [c for c in cells if c["id"] == erratum["cell"]]
            said = " ".join(
                [
                    *cell["source"],
                    *(line for o in cell.get("outputs", []) for line in o.get("text", [])),
                ]
            )
            words = said.replace(",", " ").replace("*", " ").replace(".", " ").split()
            assert erratum["id"] in words or f"#{erratum['id'].lower()})" in said
