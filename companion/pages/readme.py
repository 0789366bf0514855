"""README's generated blocks: ``python -m companion.pages.readme`` writes what stands between their markers.

Everything comes from committed files: the papers' packages, ``bench/commands.json`` where there is one, and ``figures/claims.json``,
which is gathered anew from the verdicts and figures that the paper profile's notebooks left.
"""

import json
import re
import sys
from collections import Counter
from importlib import import_module

from ..output import write_text
from ..papers import heading, papers, room
from ..project import home
from ..verdicts.verdict import short
from . import ledger
from .markdown import Text, escape, table
from .papers import anchor, finding, findings, tally
from .saved import notebooks

MARK = "<!-- {0}: begin, written by python -m companion.pages.readme -->", "<!-- {0}: end -->"


def tally_block(claims: dict) -> str:
    """The verdicts of all papers' claims: of the papers' statements, and of our additions."""
    every = [paper["counts"] for paper in claims["papers"].values()]
    counts = {
        whose: sum((Counter(n[whose]) for n in every), Counter()) for whose in ("paper", "ours")
    }
    free = sum(n.pop("reported", 0) for n in counts.values())
    papers = f"{len(every)} paper{'s' * (len(every) != 1)}"
    stated, added = (f"{sum(counts[w].values())} ({tally(counts[w])})" for w in ("paper", "ours"))
    return (
        f"Tests of the statements of {papers}: {stated}. Tests of our additions: {added}. "
        f"{free} more numbers are reported without a test ([all claims](docs/claims.md))."
    )


def papers_block(claims: dict) -> str:
    """A row a paper: what it is, the first of its findings, how its claims came out, where to look."""
    rows = []
    for paper, found in claims["papers"].items():
        title, source = heading(paper)
        authors = source.split(', "')[0]
        known = {short(claim["id"]): claim for claim in found["claims"]}
        told = findings(paper, claims["profile"], known)
        page = f"docs/papers/{paper}.md"
        first = finding(told[0], known, page) if told else Text("")
        counts = Counter(found["counts"]["paper"]) + Counter(found["counts"]["ours"])
        places = (("figures", f"{page}#figures"), ("theory", f"{page}#theory"))
        own = next(iter(notebooks(paper)), None)
        links = [f"[{word}]({to})" for word, to in places]
        links += [f"[notebooks](notebooks/{own.stem}.ipynb)"] if own else []
        year = re.search(r"\d{4}", source.rsplit("(", 1)[-1])
        if not year:
            raise ValueError(
                f"paperlib/{paper}/__init__.py: source {source!r}; allowed: one that ends with its year"
            )
        name = Text(
            f"**[{paper}]({page})** {escape(title.split(':')[0])}<br><small>{escape(authors)}, {year[0]}</small>"
        )
        rows.append(
            (name, Text(f"{first}<br>[{tally(counts)}]({page}#claims) {' · '.join(links)}"))
        )
    return table(("paper", "what came out"), rows)


def learners_block(every: bool = True) -> str:
    """A row for each choice that a paper's package declares in ``CHOICES``: what one has, names in the package, why.

    ``every``: False for the first of each paper alone, without why.
    """
    rows = []
    for paper in papers():
        module = import_module(f"paperlib.{paper}")
        choices = getattr(module, "CHOICES", [])
        for have, names, because in choices if every else choices[:1]:
            for name in names:
                if not hasattr(module, name.split("(")[0]):
                    raise ValueError(
                        f"paperlib/{paper}/__init__.py: CHOICES names {name!r}; allowed: what the package has"
                    )
            take = [f"`{paper}.{name}`" for name in names]
            rows.append(
                (have, Text(", ".join(take)), Text(because)) if every else (have, Text(take[0]))
            )
    return table(("you have", "take", "because")[: 3 if every else 2], rows)


def choosing(claims: dict) -> str:
    """The guide to choosing a learner: every choice, then what each paper advises."""
    advice = (advice_block(paper, found["claims"]) for paper, found in claims["papers"].items())
    about = "A row says what one has, a learner, and why; the papers' pages hold the measurements that it rests on. None of them is the one to take where gradients can be had, or where an evaluation costs so little that a random search of thousands is affordable."
    parts = ["# Which learner for which problem", about, learners_block(), *filter(None, advice)]
    return "\n\n".join(parts) + "\n"


def measured_block(found: dict) -> str:
    """Return the time and memory of the commands, as ``bench/commands.py`` found them, in a sentence or two.

    ``found["first"]``: of `test` as the first call in a clone; without it the text says that nobody has measured it.
    """
    machine, commands, first = found["machine"], found["commands"], found.get("first")
    words = lambda seconds: f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds} s"
    took = "; ".join(f"{name} {words(x['seconds'])}" for name, x in commands.items())
    most = max(x["gib"] for x in (*commands.values(), *([first] if first else [])))
    alone = f"takes {words(first['seconds'])}" if first else "has not been measured"
    return f"Measured from a fresh clone, in this order, on {machine['cores']} cores ({machine['processor']}): {took}; memory at most {most:.1f} GiB. A first call of `test`, without the results of `figures`, {alone}."


def advice_block(paper: str, claims: list[dict]) -> str:
    """What a paper's ``theory.advice`` says of when its learners are the ones to take, and when not; "" without one."""
    module, known = room(paper, "advice"), {claim["id"]: claim for claim in claims}

    def link(match: re.Match) -> str:
        """ "(N4)" as a link to the claim, if that is one."""
        id = match[1]
        to = f"[{id}](../papers/{paper}.md#{anchor(id)})"
        return f"({to})" if f"{paper}.{id}" in known else match[0]

    return re.sub(r"\(([CN]\d[\w.]*)\)", link, module.advice(known)) if module else ""


def blocks(claims: dict) -> dict[str, str]:
    """Every block by its name. ``claims``: the content of ``figures/claims.json``."""
    found = {
        "tally": tally_block(claims),
        "papers": papers_block(claims),
        "learners": learners_block(every=False),
    }
    commands = home() / "bench" / "commands.json"  # measured on a quiet machine only
    known = commands.exists()
    found["measured"] = measured_block(json.loads(commands.read_text())) if known else ""
    return found


def replaced(text: str, name: str, new: str) -> str:
    """`text` with what stands between the markers of block `name` replaced.

    Raises:
        ValueError: not exactly one pair of its markers, in order.
    """
    begin, end = (mark.format(name) for mark in MARK)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed) or text.count(begin) + text.count(end) != 2:
        raise ValueError(
            f"README.md: {text.count(begin)} x {begin!r}, {text.count(end)} x {end!r}; allowed: one of each, in this order"
        )
    return f"{before}{begin}\n{new}\n{end}{after}"


def main() -> None:
    """Write figures/claims.json, and README.md's blocks from it and the other files."""
    path = home() / "README.md"
    text = path.read_text()
    for name, new in blocks(ledger.write("paper")).items():
        text = replaced(text, name, new)
    write_text(path, text)


if __name__ == "__main__":
    sys.exit(main())
