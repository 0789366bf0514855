"""README's generated blocks: ``python -m paperlib.pages.readme`` writes what stands between their markers.

Everything comes from committed files: the papers' packages, ``bench/commands.json``, and ``figures/claims.json``,
which is gathered anew from the verdicts and figures that the paper profile's notebooks left.
"""

import json
import sys
from collections import Counter
from importlib import import_module

from . import ledger
from .markdown import Text, escape, table
from .papers import finding, tally
from ..core.project import home
from ..output import write_text
from ..papers import heading, papers, room
from ..verdicts.verdict import short

MARK = "<!-- {0}: begin, written by python -m paperlib.pages.readme -->", "<!-- {0}: end -->"


def papers_block(claims: dict) -> str:
    """A row a paper: what it is, how its claims came out, the first of its findings, where to look."""
    rows = []
    for paper, found in claims["papers"].items():
        title, source = heading(paper)
        known = {short(claim["id"]): claim for claim in found["claims"]}
        told = getattr(room(paper, "claims"), "FINDINGS", ())
        first = finding(told[0], known, f"docs/papers/{paper}.md") if told else Text("")
        counts = Counter(found["counts"]["paper"]) + Counter(found["counts"]["ours"])
        page = f"docs/papers/{paper}.md"
        links = f"[figures]({page}#figures), [claims]({page}#claims), [theory]({page}#theory)"
        name = Text(f"**[{paper}]({page})**: {escape(title)}<br><small>{escape(source)}</small>")
        rows.append((name, Text(f"{first}<br>{tally(counts)}<br>{links}")))
    return table(("paper", "what came out"), rows)


def learners_block(every: bool = True) -> str:
    """A row for each choice that a paper's package declares in ``CHOICES``: what one has, names in the package, why.

    ``every``: False for the first of each paper alone.
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
            take = ", ".join(f"`{paper}.{name}`" for name in names)
            rows.append((have, Text(take), Text(because)))
    return table(("you have", "take", "because"), rows)


def choosing(claims: dict) -> str:
    """The guide to choosing a learner: every choice, then what each paper advises."""
    advice = (advice_block(paper, found["claims"]) for paper, found in claims["papers"].items())
    about = "A row says what one has, a learner, and why; the papers' pages hold the measurements that it rests on. None of them is the one to take where gradients can be had, or where an evaluation costs so little that a random search of thousands is affordable."
    parts = ["# Which learner for which problem", about, learners_block(), *filter(None, advice)]
    return "\n\n".join(parts) + "\n"


def measured_block(found: dict) -> str:
    """Seconds and memory of the commands, as ``bench/commands.py`` found them."""
    machine = found["machine"]
    rows = [
        (name, f"{took['seconds']} s", f"{took['gib']:.1f} GiB")
        for name, took in found["commands"].items()
    ]
    about = f"Measured from a fresh clone, in this order, on {machine['cores']} cores ({machine['processor']}) with {machine['memory_gib']} GiB; memory is the sum over all processes:"
    return f"{about}\n\n{table(('command', 'time', 'memory at most'), rows)}"


def advice_block(paper: str, claims: list[dict]) -> str:
    """What a paper's ``theory.advice`` says of when its learners are the ones to take, and when not; "" without one."""
    module = room(paper, "theory.advice")
    return module.advice({claim["id"]: claim for claim in claims}) if module else ""


def blocks(claims: dict) -> dict[str, str]:
    """Every block by its name. ``claims``: the content of ``figures/claims.json``."""
    found = {"papers": papers_block(claims), "learners": learners_block(every=False)}
    commands = home() / "bench" / "commands.json"
    if commands.exists():  # measured on a quiet machine only
        found["measured"] = measured_block(json.loads(commands.read_text()))
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
