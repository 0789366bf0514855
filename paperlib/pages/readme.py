"""README's generated blocks: ``python -m paperlib.pages.readme`` writes what stands between their markers.

Everything comes from committed files: the papers' packages, ``bench/commands.json``, and ``figures/claims.json``,
which is gathered anew from the verdicts and figures that the paper profile's notebooks left.
"""

import inspect
import json
import sys
from importlib import import_module

from . import ledger
from .markdown import Text, block, table
from ..workflow import plan as workflow
from ..core.project import home
from ..output import write_text
from ..papers import heading, papers, room

MARK = "<!-- {0}: begin, written by python -m paperlib.pages.readme -->", "<!-- {0}: end -->"


def source(paper: str) -> str:
    """What a paper's package names as its source, on one line.

    Raises:
        ValueError: its docstring has no paragraph that begins with "Source:".
    """
    _, found = heading(paper)
    if not found:
        text = inspect.getdoc(import_module(f"paperlib.{paper}")) or ""
        raise ValueError(
            f"paperlib/{paper}/__init__.py has the docstring {text!r}; allowed: one with a paragraph 'Source: ...'"
        )
    return found.removesuffix(".")


def papers_block() -> str:
    """A row a paper: its package, its source, its notebooks."""
    link = lambda stem: f"[{stem.split('_', 1)[1]}](notebooks/{stem}.ipynb)"
    own = lambda paper: Text(", ".join(map(link, workflow.stems(paper))))
    rows = [(Text(f"`{paper}`"), source(paper), own(paper)) for paper in papers()]
    return table(("package", "paper", "notebooks"), rows)


def learners_block() -> str:
    """A row for each choice that a paper's package declares in ``CHOICES``: what one has, names in the package, why."""
    rows = []
    for paper in papers():
        module = import_module(f"paperlib.{paper}")
        for have, names, because in getattr(module, "CHOICES", []):
            for name in names:
                if not hasattr(module, name.split("(")[0]):
                    raise ValueError(
                        f"paperlib/{paper}/__init__.py: CHOICES names {name!r}; allowed: what the package has"
                    )
            take = ", ".join(f"`{paper}.{name}`" for name in names)
            rows.append((have, Text(take), Text(because)))
    return table(("you have", "take", "because"), rows)


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
    found = {"learners": learners_block(), "papers": papers_block(), "claims": block(claims)}
    for paper, declared in claims["papers"].items():
        if text := advice_block(paper, declared["claims"]):
            found[f"advice on {paper}"] = text
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
