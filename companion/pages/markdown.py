"""The ledger as Markdown: the tables of ``notebooks/99_claims.ipynb``, and README's block between its markers."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paperlib.core.text import number

from ..verdicts.verdict import short
from .ledger import float_of

# verdicts in the plural
MANY = {
    "holds": "hold",
    "fails": "fail",
    "inconclusive": "inconclusive",
    "by construction": "by construction",
    "vacuous here": "vacuous here",
    "reported": "reported",
    "not run": "not run",
}
NOTHING = "–"


class Text(str):
    """Markdown: rendered by a notebook, and readable where it is not."""

    def _repr_markdown_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; cells with Markdown of their own are ``Text``, in all others its signs are escaped."""
    cells = ([x if isinstance(x, Text) else escape(str(x)) for x in row] for row in rows)
    lines = [head, ["---"] * len(head), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    # in code a table's bar alone has a meaning
    parts = re.split(r"(``.+?``|`[^`]+`)", text.replace("\n", " "))
    signs = (r"\|", r"[\\|*_<$]")
    return "".join(re.sub(signs[i % 2 == 0], r"\\\g<0>", part) for i, part in enumerate(parts))


def prose(text: str) -> str:
    """The same for text with formulas, which stand between single dollars."""
    parts = re.split(r"(\$[^$\n]+\$)", text)
    return "".join(part if i % 2 else escape(part) for i, part in enumerate(parts))


def spoken(text: str) -> str:
    """Alternative text, in which formulas are read out: "f_1", not "$f_1$"."""
    return re.sub(r"([\[\]])", r"\\\1", escape(re.sub(r"\$([^$\n]+)\$", r"\1", text)))


def counted(counts: dict[str, int]) -> str:
    """ "3 hold, 1 fails", in a fixed order."""
    return ", ".join(
        f"{counts[verdict]} {verdict if counts[verdict] == 1 else many}"
        for verdict, many in MANY.items()
        if verdict in counts
    )


def declared(found: dict) -> str:
    """How many claims, statements and errata each paper declares: what no run changes."""
    kinds = {"claims": "claim", "statements": "statement", "errata": "erratum"}
    return "\n".join(
        f"{name}: " + ", ".join(many(len(paper[kind]), one, kind) for kind, one in kinds.items())
        for name, paper in found["papers"].items()
    )


def tests(paper: dict) -> str:
    """ "3 tests of its sentences: 2 hold, 1 fails; 1 test of ours: 1 holds"; claims that parts decide are no tests of their own."""
    whose = {"paper": "of its sentences", "ours": "of ours"}
    return "; ".join(
        f"{many(sum(n.values()), 'test')} {whose[kind]}: {counted(n)}"
        for kind, n in paper["counts"].items()
        if n
    )


def many(n: int, one: str, more: str | None = None) -> str:
    """ "1 test", "2 tests"."""
    return f"{n} {one if n == 1 else more or one + 's'}"


def figure(claim: dict) -> str:
    """Statistic with its interval; of a parent the verdicts of its parts; of a claim not run the reason."""
    if claim["statistic"] is None:
        return claim["reason"] or NOTHING
    value = ", ".join(number(v) for v in np.atleast_1d(claim["statistic"]).tolist())
    sign = "p " if claim["side"] == "test" else ""
    ends = f" [{', '.join(map(number, claim['interval']))}]" if claim["interval"] else ""
    return sign + value + ends


def _read_with(claim: dict) -> str:
    """The figure, behind it what the verdict is to be read with, and what a run at other sizes came to."""
    parts = (figure(claim), claim["reason"], claim.get("run"))
    return "; ".join(dict.fromkeys(filter(None, parts)))


def _count(claim: dict) -> str:
    return NOTHING if claim["n"] is None else str(claim["n"])


def row(claim: dict, *cells: str) -> tuple:
    """Cells of a claim: id, those asked for, its number with what it is to be read with, n."""
    return (
        short(claim["id"]),
        *(claim[cell] for cell in cells),
        _read_with(claim),
        _count(claim),
    )


def claims_tables(found: dict) -> Text:
    """Every claim with source, test, verdict, statistic, interval and n: one table a paper."""
    mark = "" if found["profile"] == "paper" else " of record"
    head = ("id", "source", "claim", "test", "verdict" + mark, "statistic [interval]", "n")
    cells = ("source", "sentence", "test", "verdict")
    rows = lambda paper: [row(c, *cells) for c in paper["claims"]]
    return _by_paper(found, "claims", lambda paper: f"{tests(paper)}\n\n{table(head, rows(paper))}")


def coverage(statement: dict) -> str:
    """Lowest coverage with its interval and the number of trials."""
    if (share := statement["coverage"]) is None:
        return NOTHING
    estimate, low, high = (number(share[key]) for key in ("estimate", "low", "high"))
    return f"{estimate} [{low}, {high}], n {share['n']}"


def start(statement: dict) -> str:
    """First round at which the bound is informative; a range where the settings differ."""
    ends = statement["informative_from"]
    return NOTHING if ends is None else " to ".join(dict.fromkeys(map(number, ends)))


def worst(x: float | str | None) -> str:
    """The largest ratio or least slack of a statement as text."""
    return NOTHING if x is None else number(float_of(x))


def statements_tables(found: dict) -> Text:
    """Every statement with coverage, slack and the first informative round, over the settings that meet its conditions."""
    head = (
        "statement",
        "what",
        "checks",
        "lowest coverage",
        "largest observed / bound",
        "least slack",
        "informative from",
        "beyond its conditions",
    )
    rows = lambda paper: [
        (
            s["name"],
            s["summary"],
            (counted(s["within"]) or "not checked") if s["checkable"] else "shown as it stands",
            coverage(s),
            worst(s["ratio"]),
            worst(s["slack"]),
            start(s),
            counted(s["beyond"]) or NOTHING,
        )
        for s in paper["statements"]
    ]
    return _by_paper(found, "statements", lambda paper: table(head, rows(paper)))


def errata_tables(found: dict) -> Text:
    """Every erratum, its id a link to its cell, relative to notebooks/."""
    to = lambda e: Text(f"[{e['id']}]({e['notebook']}.ipynb#cell-id={e['cell']})")
    row = lambda e: (to(e) if e["notebook"] else e["id"], e["where"], e["problem"], e["resolution"])
    head = ("id", "where", "problem", "here")
    return _by_paper(found, "errata", lambda paper: table(head, map(row, paper["errata"])))


def _by_paper(found: dict, kind: str, text) -> Text:
    papers = [(name, paper) for name, paper in found["papers"].items() if paper[kind]]
    parts = [f"**{name}**: {paper['title']}\n\n{text(paper)}" for name, paper in papers]
    return Text("\n\n".join(parts))
