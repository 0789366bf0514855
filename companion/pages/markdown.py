"""Markdown of the pages: the Jinja2 templates of ``templates/``, and filters that format claims, verdicts and numbers."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from paperlib import stats
from paperlib.core.text import format_number

from ..verdicts import short_id

MARKS = {
    "holds": "✓",
    "fails": "✕",
    "inconclusive": "?",
    "by construction": "≡",
    "vacuous here": "○",
    "reported": "•",
    "not run": "–",
}
MANY = {"holds": "hold", "fails": "fail"}  # verdicts that have a plural
NOTHING = "–"


class Text(str):
    """Markdown that a notebook renders, and that is shown as plain text elsewhere."""

    def _repr_markdown_(self) -> str:
        return str(self)

    __repr__ = _repr_markdown_


def render(template: str, **names: Any) -> Text:
    """Fill in a template; paragraphs that are left out leave no blank lines."""
    text = TEMPLATES.get_template(f"{template}.md.j2").render(names)
    return Text(re.sub(r"\n{3,}", "\n\n", text).strip())


def escape(text: Any) -> str:
    """Escape the characters that have a meaning in Markdown."""
    # In code only the bar has a meaning, as the separator of a table's cells.
    parts = re.split(r"(``.+?``|`[^`]+`)", str(text).replace("\n", " "))
    signs = (r"\|", r"[\\|*_<$]")
    return "".join(re.sub(signs[i % 2 == 0], r"\\\g<0>", part) for i, part in enumerate(parts))


def prose(text: str) -> str:
    """Escape text that contains formulas between single dollars; the formulas stay unchanged."""
    parts = re.split(r"(\$[^$\n]+\$)", text)
    return "".join(part if i % 2 else escape(part) for i, part in enumerate(parts))


def spoken(text: str) -> str:
    """Return alternative text with formulas in a form for screen readers: "f_1", not "$f_1$"."""
    return re.sub(r"([\[\]])", r"\\\1", escape(re.sub(r"\$([^$\n]+)\$", r"\1", text)))


def anchor(id: str) -> str:
    """Return the anchor of a claim, a statement or an erratum, for example lemma-5.5-printed for "Lemma 5.5, printed"."""
    return re.sub(r"[^\w.]+", "-", id.lower()).strip("-")


def chip(verdict: str, text: str = "", to: str = "") -> str:
    """Return a verdict as a mark and a word, because color alone is not enough; ``to`` is the address of a link."""
    inside = f"`{MARKS[verdict]} {text or verdict}`"
    return f"[{inside}]({to})" if to else inside


def _counts(*counts: dict[str, int]) -> dict[str, str]:
    """Return verdict -> "3 hold", summed over several tables, in a fixed order."""
    total = sum(map(Counter, counts), Counter())
    plural = lambda v: v if total[v] == 1 else MANY.get(v, v)
    return {v: f"{total[v]} {plural(v)}" for v in MARKS if v in total}


def counted(counts: dict[str, int]) -> str:
    """Return counts as text in a fixed order, for example "3 hold, 1 fails"."""
    return ", ".join(_counts(counts).values())


def tally(*counts: dict[str, int]) -> str:
    """Return the summed counts of several tables as chips."""
    return " ".join(chip(verdict, text) for verdict, text in _counts(*counts).items())


def many(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun, for example "1 test" or "2 tests"."""
    return f"{n} {one if n == 1 else more or one + 's'}"


def declared(found: dict) -> str:
    """Return the number of claims, statements and errata that each paper declares; no run changes them."""
    kinds = {"claims": "claim", "statements": "statement", "errata": "erratum"}
    return "\n".join(
        f"{name}: " + ", ".join(many(len(paper[kind]), one, kind) for kind, one in kinds.items())
        for name, paper in found["papers"].items()
    )


def result(claim: dict) -> str:
    """Return two table cells: the statistic with its interval and remarks, and n.

    If a claim was not run, or is decided by its parts, its reason replaces the statistic. The remarks are the reason, the
    statistic with other seeds, the n that would decide an inconclusive claim, and the result of a run at other sizes.
    """
    shown = None if claim["reason"] else NOTHING
    if claim["statistic"] is not None:
        shown = _number(claim, claim["side"])
    n = NOTHING if claim["n"] is None else claim["n"]
    parts = [shown, claim["reason"], claim.get("run")]
    if "needed" in claim:
        count = f"about {claim['needed']:,}" if claim["needed"] <= 10**6 else "more than a million"
        parts.append(f"an n of {count} would decide it")
    if other := claim.get("replication"):
        text = _number(other, claim["side"])
        if "first" in claim:
            parts.append(f"{claim['first']} with these seeds")
            text = "; ".join(filter(None, (f"{other['verdict']}, {text}", other["reason"])))
        parts.append(f"other seeds: {text}")
    return f"{escape('; '.join(filter(None, parts)))} | {n}"


def _number(judged: dict, side: str) -> str:
    """Return the statistic of a verdict with its interval, as text."""
    if judged["method"].endswith(stats.UNDEFINED):
        return "does not exist"
    values = ", ".join(map(format_number, np.atleast_1d(judged["statistic"]).tolist()))
    ends = f" [{', '.join(map(format_number, judged['interval']))}]" if judged["interval"] else ""
    return ("p " if side == "test" else "") + values + ends


def value(x: float | str | None) -> str:
    """Return a number of a file as text, or a dash if it is None."""
    return NOTHING if x is None else format_number(x)


def tables(kind: str, found: dict) -> Text:
    """Return the tables of ``notebooks/99_claims.ipynb``, one per paper.

    "claims" have source, test, verdict, statistic, interval and n. "statements" have coverage, slack and the first informative
    round over the settings that meet their conditions. "errata" have links to their cells, relative to notebooks/.
    """
    return render("ledger", kind=kind, **found)


TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
FILTERS = (anchor, chip, counted, many, prose, result, short_id, spoken, tally, value)
TEMPLATES.filters |= {"md": escape} | {each.__name__: each for each in FILTERS}
TEMPLATES.globals["NOTHING"] = NOTHING
