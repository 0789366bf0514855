"""One static page of a profile's figures and verdicts: ``figures/index.html``, to be read without a network.

``python -m paperlib.pages.gallery [quick|paper|custom]`` writes it, and ``run.py figures`` does at its end. Everything on it is
found: papers are packages, figures the JSON files that ``figures.save`` writes, claims the declared ones with their
verdicts, notebooks those that name the figure. From equal files comes the equal page.
"""

import argparse
import ast
import hashlib
import json
import re
import struct
import sys
from collections import Counter
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import NamedTuple

from ..workflow import plan as workflow
from .markdown import MANY
from .mathml import formulas
from .notebooks import Picture, image, refresh, style, title
from ..output import FOLDERS, folder, write_text
from ..papers import heading, papers
from ..verdicts.verdict import Row, short, table
from .frame import CSS, SHEET, document

MARKS = {
    "holds": "✓",
    "fails": "✕",
    "inconclusive": "?",
    "vacuous here": "○",
    "reported": "•",
    "not run": "–",
}
SIZES = {
    "quick": "the quick profile's small sizes: a look, not a result",
    "paper": "the papers' own sizes",
    "custom": "parameters that no profile declares, not the same for all: a look, not a result",
}
NUMBERS = re.compile(r"Figures? ([\d a-z,-]+)")  # "Experiments, Figures 1a-b" names 1


class Saved(NamedTuple):
    """A saved figure."""

    about: dict  # its JSON
    picture: Picture
    digest: str  # SHA-256 of the PNG
    kinds: list[str]  # endings of the files to link

    @property
    def name(self) -> str:
        return self.about["figure"]

    @property
    def label(self) -> str:
        words = self.name.replace("_", " ")
        return words[:1].upper() + words[1:]  # the rest as it is: T is not t


class Paper(NamedTuple):
    """A section of the page: a paper's package, or a folder of figures without one."""

    name: str
    title: str
    source: str
    figures: list[Saved]
    rows: list[Row]


class Notebook(NamedTuple):
    """What the page needs to know of a notebook."""

    stem: str
    title: str
    saves: list[str]  # names of the figures that its code saves, in order
    page: str  # address of the executed notebook, "" where there is none


def saved(place: Path) -> list[Saved]:
    """Every figure in a folder with caption, alternative text and PNG, by name."""
    found = []
    for path in sorted(place.glob("*.json")):
        about, png = json.loads(path.read_text()), path.with_suffix(".png")
        known = isinstance(about, dict) and {"figure", "caption", "alt"} <= about.keys()
        if known and png.exists():
            content = png.read_bytes()
            width, height = struct.unpack(">II", content[16:24])  # of the PNG's header
            picture = Picture(f"{place.name}/{png.name}", about["alt"], width, height)
            kinds = [kind for kind in ("pdf", "json") if path.with_suffix(f".{kind}").exists()]
            found.append(Saved(about, picture, hashlib.sha256(content).hexdigest(), kinds))
    return found


def notebooks(place: Path) -> list[Notebook]:
    """The project's notebooks in order; those with a page under ``place`` know its address."""
    found = []
    for stem in workflow.stems():
        names, page = [], f"notebooks/{stem}.html"
        for cell in workflow.code(stem):
            with suppress(SyntaxError):
                names += _saves(cell["source"])
        cells = json.loads(workflow.notebook(stem).read_text())["cells"]
        address = page if (place / page).exists() else ""
        found.append(Notebook(stem, title(cells) or stem, names, address))
    return found


def _saves(source: str) -> list[str]:
    """Names of the figures that code saves by ``figures.save(fig, "name", ...)``."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    saves = [call for call in calls if getattr(call.func, "attr", "") == "save"]
    names = [call.args[1] for call in saves if len(call.args) > 1]
    return [name.value for name in names if isinstance(name, ast.Constant)]


def collect(profile: str) -> list[Paper]:
    """Every paper, then folders of figures that belong to none; what has neither figure nor claim is left out."""
    place = folder(profile)
    others = sorted(
        {path.parent.name for path in place.glob("*/*.json")}
        - {"claims", "notebooks", *FOLDERS, *papers()}
    )
    found = []
    for name in papers() + others:
        if name in papers():
            (about, source), rows = heading(name), table(profile, name)
        else:
            about, source, rows = name.replace("_", " ").capitalize(), "", []
        found.append(Paper(name, about, source, saved(place / name), rows))
    return [paper for paper in found if paper.figures or paper.rows]


def chip(verdict: str, text: str, says: str = "", href: str = "") -> str:
    """A verdict as a word and a mark, never by color alone; ``says`` is its tooltip and is read aloud."""
    said = escape(f"{verdict}: {says}")
    spoken = f'<span class="hidden"> {said}</span>' if says else ""
    attributes = f'class="chip {verdict.replace(" ", "-")}"'
    attributes += f' title="{said}"' if says else ""
    inside = f'<span aria-hidden="true">{MARKS[verdict]}</span> {escape(text)}{spoken}'
    if href:
        return f'<a {attributes} href="#{escape(href)}">{inside}</a>'
    return f"<span {attributes}>{inside}</span>"


def chips(items: list[str], label: str) -> str:
    """A labeled list of chips; nothing for none."""
    inside = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="chips" aria-label="{escape(label)}">{inside}</ul>\n' if items else ""


def _said(found: Counter) -> dict[str, str]:
    """Verdict -> "3 hold", in a fixed order."""
    return {verdict: f"{found[verdict]} {MANY[verdict]}" for verdict in MARKS if found[verdict]}


def counts(rows: list[Row]) -> str:
    """How many tests came out how; claims that are decided by their parts are not counted again."""
    found = Counter(row.verdict for row in rows if not row.claim.parts)
    total = [f'<span class="count">Of {found.total()} tests</span>'] if found else []
    return chips(total + [chip(*said) for said in _said(found).items()], "Verdicts")


def shown(figure: Saved, rows: list[Row]) -> list[Row]:
    """The claims that a figure's JSON names, and those whose source names a figure of the paper called ``figure_<n>``.

    Where a claim and its parts are all there, the claim speaks for them.
    """
    own = figure.name.removeprefix("figure_")
    named = {claim["id"] for claim in figure.about.get("claims") or []}
    named |= {
        row.claim.id
        for row in rows
        if own
        in {n for part in NUMBERS.findall(row.claim.source) for n in re.findall(r"\d+", part)}
    }
    covered = {part for row in rows if row.claim.id in named for part in row.claim.parts}
    return [row for row in rows if row.claim.id in named - covered]


def checks(figure: Saved) -> list[str]:
    """One chip for each statement of the theory that the figure shows; checks beyond a statement's conditions, with a remark, do not count against it."""
    found: dict[str, tuple[Counter, Counter]] = {}
    for check in figure.about.get("checks") or []:
        within, beyond = found.setdefault(check["statement"], (Counter(), Counter()))
        place = beyond if check["remark"] else within
        place[check["verdict"]] += 1
    said = lambda verdicts: ", ".join(_said(verdicts).values())
    result = []
    for statement, (within, beyond) in found.items():
        from_worst = ("fails", "inconclusive", "holds", "vacuous here")
        worst = next((verdict for verdict in from_worst if within[verdict]), "reported")
        parts = [said(within), f"beyond its conditions {said(beyond)}" if beyond else ""]
        result.append(chip(worst, f"{statement}: {'; '.join(filter(None, parts))}"))
    return result


def figure_html(figure: Saved, rows: list[Row]) -> str:
    """Picture, caption, verdicts and files of one figure."""
    stem = figure.picture.address.removesuffix(".png")
    items = [
        chip(row.verdict, short(row.claim.id), row.claim.sentence, f"claim-{row.claim.id}")
        for row in shown(figure, rows)
    ] + checks(figure)
    links = [
        f'<a href="{escape(stem)}.{kind}">{kind.upper()}<span class="hidden"> of {escape(figure.label)}</span></a>'
        for kind in figure.kinds
    ]
    return (
        f'<figure id="{escape(stem.replace("/", "-"))}">\n{image(figure.picture)}\n<figcaption>\n<p><span class="label">{escape(figure.label)}.</span> '
        f'{formulas(escape(figure.about["caption"]))}</p>\n{chips(items, f"Verdicts at {figure.label}")}<p class="links">{" · ".join(links)}</p>\n</figcaption>\n</figure>'
    )


def claims_html(paper: Paper) -> str:
    """Every claim with its sentence, source and verdict, its variants below it, folded away."""
    if not paper.rows:
        return ""
    rows = {row.claim.id: row for row in paper.rows}
    nearest = sorted(rows, key=len, reverse=True)
    parent = lambda id: next((other for other in nearest if id.startswith(f"{other}.")), "")
    above = {id: parent(id) for id in rows}

    def item(row: Row) -> str:
        c = row.claim
        below = "".join(item(other) for id, other in rows.items() if above[id] == c.id)
        line = re.sub(r"^ \((?:quick|custom)\)", "", row.line.partition(row.verdict)[2]).strip()
        words = [c.source] if c.parts else [line, c.source, f"test: {c.test}"]
        return (
            f'<li id="claim-{escape(c.id)}">{chip(row.verdict, f"{short(c.id)} {row.verdict}")} {escape(c.sentence)}'
            f"<p><small>{escape(' · '.join(filter(None, words)))}</small></p>{f'<ul>{below}</ul>' if below else ''}</li>\n"
        )

    top = "".join(item(row) for id, row in rows.items() if not above[id])
    return f'<details>\n<summary>Every claim with its test and its numbers</summary>\n<ul class="claims">\n{top}</ul>\n</details>\n'


def paper_html(paper: Paper, known: list[Notebook]) -> str:
    """A paper's section: what it is, its figures notebook by notebook, its claims."""
    parts = [
        f'<section class="paper" id="{escape(paper.name)}" aria-labelledby="{escape(paper.name)}-title">\n<h2 id="{escape(paper.name)}-title">{escape(paper.title)}</h2>'
    ]
    parts += [f'<p class="source">{escape(paper.source)}</p>'] if paper.source else []
    parts.append(counts(paper.rows))
    left = {figure.name: figure for figure in paper.figures}
    for notebook in (n for n in known if n.stem.split("_")[0] == paper.name):
        mine = [left.pop(name) for name in dict.fromkeys(notebook.saves) if name in left]
        judged = [row for row in paper.rows if row.claim.notebook == notebook.stem]
        if mine or judged:
            called, link = escape(notebook.title), ""
            if notebook.page:
                link = f'<p class="links"><a href="{escape(notebook.page)}">Executed notebook<span class="hidden">: {called}</span></a></p>'
            parts.append(f'<section class="group">\n<h3>{called}</h3>\n{link}')
            parts += [figure_html(figure, paper.rows) for figure in mine] + ["</section>"]
    parts += [figure_html(figure, paper.rows) for figure in left.values()]
    return "\n".join([*parts, claims_html(paper) + "</section>"])


def page(profile: str) -> str:
    """The whole page of a profile."""
    place = folder(profile)
    known, found = notebooks(place), collect(profile)
    links, own = [(f"#{paper.name}", paper.title) for paper in found], {p.name for p in found}
    links += [(n.page, n.title) for n in known if n.page and n.stem.split("_")[0] not in own]
    if (place / "claims.json").exists():
        links.append(("claims.json", "All verdicts as JSON"))
    listed = "".join(f'<li><a href="{escape(to)}">{escape(text)}</a></li>' for to, text in links)
    sizes = SIZES[profile]
    lead = f"Papers on bandits and global optimization as running code: each figure computed anew at {sizes}, and each claim, declared before it is judged, with what became of it."
    body = (
        '<a class="skip" href="#papers">Skip to the figures</a>\n<header class="wide">\n<h1>Figures and verdicts</h1>\n'
        f'<p class="lead soft">{escape(lead)}</p>\n<nav aria-label="On this page"><ul>\n{listed}\n</ul></nav>\n</header>\n<main class="wide" id="papers">\n'
        + "\n".join(paper_html(paper, known) for paper in found)
        + '\n</main>\n<footer class="wide">A claim holds or fails when the whole interval of its statistic lies on one side of its threshold; otherwise it is inconclusive. '
        f"Written by paperlib from the {escape(profile)} profile's files.</footer>"
    )
    return document("Figures and verdicts", body, description=lead)


def write(profile: str) -> Path:
    """Write the style sheet, the pages of the notebooks that ran, then ``index.html``; returns its path."""
    place = folder(profile)
    figures = [figure for paper in collect(profile) for figure in paper.figures]
    write_text(place / SHEET, CSS + style())
    refresh(profile, place, {figure.digest: figure.picture for figure in figures})
    write_text(place / "index.html", page(profile))
    return place / "index.html"


def main(argv: list[str]) -> int:
    """Write the page of a profile, by default the paper profile's."""
    parser = argparse.ArgumentParser(
        prog="python -m paperlib.pages.gallery", description=main.__doc__
    )
    parser.add_argument("profile", nargs="?", choices=FOLDERS, default="paper")
    try:
        print(f"The gallery is {write(parser.parse_args(argv).profile)}")
    except OSError as error:
        print(f"The gallery was not written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
