"""Generated blocks of README and of the guide to the commands: ``python -m companion.pages.readme`` writes the text between their markers.

All content comes from committed files: the papers' packages, ``bench/commands.json`` if it exists, and
``figures/claims.json``. The last one is gathered again from the verdicts and figures that the paper profile's notebooks wrote.
"""

import json
import re
import sys
from collections import Counter
from importlib import import_module

from ..bench.notebooks import cost_file
from ..output import project_dir, write_text
from ..papers import heading, paper_module, papers, topics
from ..workflow.plan import notebook_stems
from . import ledger
from .markdown import anchor, render
from .papers import by_id, notebooks, outcome

MARK = "<!-- {0}: begin, written by python -m companion.pages.readme -->", "<!-- {0}: end -->"


def tally(claims: dict) -> dict:
    """Return the counts of verdicts of all papers: on the papers' statements, on our additions, and numbers without a test.

    "tested" counts the papers with a test of one of their statements, "elsewhere" our additions about no paper. "repeated" and
    "differ" count the verdicts that were repeated with other seeds, and those of them that differ.
    """
    counts = [paper["counts"] for paper in claims["papers"].values()]
    stated, added = (
        sum((Counter(n[whose]) for n in counts), Counter()) for whose in ("paper", "ours")
    )
    reported = stated.pop("reported", 0) + added.pop("reported", 0)
    others = {*topics()} - {*papers()}
    tested = sum(any(v != "reported" for v in n["paper"]) for n in counts)
    again = sum((Counter(paper["replication"]) for paper in claims["papers"].values()), Counter())
    about = [claims["papers"][name]["counts"]["ours"] for name in others & {*claims["papers"]}]
    return {
        "tested": tested,
        "papers": len({*claims["papers"]} - others),
        "stated": stated,
        "added": added,
        "elsewhere": sum(sum(n.values()) - n.get("reported", 0) for n in about),
        "reported": reported,
        "repeated": again["replicated"] + again["flipped"],
        "differ": again["flipped"],
    }


def papers_block(claims: dict) -> str:
    """Return a row per paper: title, outcome, verdicts on its claims, links."""
    rows = []
    for name in papers():
        paper = claims["papers"][name]
        title, source = heading(name)
        year = re.search(r"\d{4}", source.rsplit("(", 1)[-1])
        page = f"docs/papers/{name}.md"
        rows.append(
            {
                "name": name,
                "page": page,
                "title": title.split(":")[0],
                "authors": source.split(', "')[0],
                "year": year[0],
                "outcome": outcome(name, claims["profile"], by_id(paper["claims"]), page),
                "counts": paper["counts"],
                "notebooks": notebooks(name),
            }
        )
    return render("block_papers", rows=rows)


def learners_block(every: bool = True, claims: dict[str, list[dict]] | None = None) -> str:
    """Return a row for each choice that a paper's package declares in ``CHOICES``: the problem, learners, the reason.

    Args:
        every: if False, only the first row of each paper, without the reason.
        claims: recorded claims by topic; the results of the arena that bear on a row are added to its reason.
    """
    rows, arena = [], {claim["id"]: claim for claim in (claims or {}).get("arena", [])}
    evidence = paper_module("arena", "advice").evidence
    for paper in papers():
        module = import_module(f"paperlib.{paper}")
        for have, names, because in getattr(module, "CHOICES", [])[: None if every else 1]:
            if arena and (results := evidence(f"{paper}.{names[0]}", arena)):
                because += f"<br><small>In the arena:<br>{linked('arena', results, arena)}</small>"
            rows.append((have, [f"`{paper}.{name}`" for name in names], because))
    return render("block_learners", choices=rows, every=every)


def choosing_page(claims: dict) -> str:
    """Return the guide to choosing a learner: every choice, then the advice of each paper."""
    known = {paper: found["claims"] for paper, found in claims["papers"].items()}
    advice = [advice_block(paper, found) for paper, found in known.items()]
    return render("choosing", learners=learners_block(claims=known), advice="\n\n".join(advice))


def advice_block(paper: str, claims: list[dict]) -> str:
    """Return the text of a paper's ``advice.py`` on when to use its learners, with links to claims; "" if it has none."""
    module, known = paper_module(paper, "advice"), {claim["id"]: claim for claim in claims}
    return linked(paper, module.advice(known), known) if module else ""


def linked(paper: str, text: str, known: dict[str, dict]) -> str:
    """Return ``text`` in which each "(N4)" is a link to the claim of a paper, if there is such a claim."""

    def link(match: re.Match) -> str:
        id = match[1]
        to = f"[{id}](../papers/{paper}.md#{anchor(id)})"
        return f"({to})" if f"{paper}.{id}" in known else match[0]

    return re.sub(r"\(([CN]\d[\w.]*)\)", link, text)


def blocks(claims: dict) -> dict[str, str]:
    """Return every block by its name; ``claims`` is the content of ``figures/claims.json``."""
    commands = project_dir() / "bench" / "commands.json"  # measured only on a quiet machine
    measured = (
        render("block_measured", **json.loads(commands.read_text())) if commands.exists() else ""
    )
    return {
        "tally": render("block_tally", **tally(claims)),
        "verdicts": render("block_verdicts", **tally(claims)),
        "papers": papers_block(claims),
        "learners": learners_block(every=False),
        "measured": measured,
    }


def costs_block() -> str:
    """Return the CPU time and memory of each notebook in the paper profile, the longest first; "" if none was measured."""
    path = cost_file()
    known = json.loads(path.read_bytes()) if path.exists() else {}
    order = sorted(known, key=lambda stem: -known[stem]["seconds"])
    rows = [(stem, known[stem]) for stem in order if known[stem]["seconds"] >= 60]
    lacking = [stem for stem in notebook_stems() if stem not in known]
    return render("block_costs", rows=rows, known=known, lacking=lacking) if rows else ""


def by_page(claims: dict) -> dict[str, dict[str, str]]:
    """Return the blocks of each page that has some, by the page's path and the block's name."""
    return {"README.md": blocks(claims), "docs/guides/commands.md": {"costs": costs_block()}}


def replace_block(text: str, name: str, new: str) -> str:
    """Return ``text`` with the content between the markers of block ``name`` replaced.

    Raises:
        ValueError: the markers do not occur exactly once, in order.
    """
    begin, end = (mark.format(name) for mark in MARK)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed) or text.count(begin) + text.count(end) != 2:
        raise ValueError(
            f"the page must contain {begin!r} and {end!r} once each, in this order, got {text.count(begin)} and {text.count(end)} of them"
        )
    return f"{before}{begin}\n{new}\n{end}{after}"


def main() -> None:
    """Write figures/claims.json, and from it and the other files the blocks of README.md and of the guide to the commands."""
    for page, found in by_page(ledger.write("paper")).items():
        path = project_dir() / page
        text = path.read_text()
        for name, new in found.items():
            text = replace_block(text, name, new)
        write_text(path, text)


if __name__ == "__main__":
    sys.exit(main())
