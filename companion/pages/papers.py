"""A page a paper, and one of all claims, as Markdown that GitHub and the site show alike.

Everything on them is found: what a paper's ``claims.py`` declares, the verdicts and figures that a profile's runs
left, the statements of its ``theory.bounds`` and its errata. Each has an anchor, and links lead both ways.
"""

import inspect
import json
import re

from paperlib.core import linalg
from paperlib.core.text import number

from .. import output
from ..papers import heading, room
from ..verdicts import Finding, short, statements
from .markdown import anchor, chip, escape, render
from .saved import Saved, drawn, notebooks, saved

SIZES = {
    "quick": "Verdicts are those of record, from the paper profile. Numbers of a quick run come from small sizes and are not verdicts.",
    "paper": "",
    "custom": "Verdicts are those of record, from the paper profile. Numbers of a custom run come from parameters that no profile declares, and are not verdicts.",
}


def checked(name: str) -> str:
    """The anchor of a statement: a figure may have the name of one."""
    return f"theory-{anchor(name)}"


def by_id(claims: list[dict]) -> dict[str, dict]:
    """A paper's claims by their id within it."""
    return {short(claim["id"]): claim for claim in claims}


def findings(paper: str, profile: str, claims: dict[str, dict]) -> list[Finding]:
    """Return the sentences about a paper's results that ``claims.py`` declares, for the paper profile only.

    Of alternatives the first that the verdicts bear out is taken. A finding is left out while a claim that it needs has not
    been run.
    """
    declared = getattr(room(paper, "claims"), "FINDINGS", ()) if profile == "paper" else ()
    ran = lambda id: id not in claims or claims[id]["verdict"] != "not run"
    return [one for entry in declared if all(map(ran, (one := chosen(entry, claims)).rests))]


def chosen(entry: Finding | tuple[Finding, ...], claims: dict[str, dict]) -> Finding:
    """The finding, or the first of several alternatives that rests on verdicts as they are; the last where none does."""
    if isinstance(entry, Finding):
        return entry
    verdict = lambda id: claims.get(id, {}).get("verdict")
    borne_out = (f for f in entry if all(verdict(id) == v for id, v in f.rests.items()))
    return next(borne_out, entry[-1])


def finding(found: Finding, claims: dict[str, dict], page: str = "") -> str:
    """A finding with its numbers, each a link to the claim that holds it, on ``page``.

    Raises:
        ValueError: a claim that it rests on has another verdict by now, or one that it shows has no number, or there is none of that name.
    """
    for id, verdict in found.rests.items():
        has = claims[id]["verdict"] if id in claims else "not declared"
        if has != verdict:
            raise ValueError(
                f"finding {found.text!r} rests on {id}: {verdict!r}, which is {has!r} now; allowed: findings that the verdicts bear out"
            )

    def shown(match: re.Match) -> str:
        value = claims.get(match[1], {}).get("statistic")
        if not isinstance(value, (int, float)):
            raise ValueError(
                f"finding {found.text!r} shows {match[1]}, whose number is {value!r}; allowed: claims with one number"
            )
        text = f"{100 * value:.3g} %" if match[2] else number(value)
        return f"[{text}]({page}#{anchor(match[1])})"

    return re.sub(r"\{([\w.]+?)(:%)?\}", shown, found.text)


def first_finding(paper: str, found: dict, profile: str, page: str = "") -> str:
    """The first of a paper's findings, "" without one."""
    claims = by_id(found["claims"])
    return next((finding(f, claims, page) for f in findings(paper, profile, claims)), "")


class Page:
    """The page of one paper, of its part of ``ledger.gather``: what its template asks for."""

    def __init__(self, name: str, found: dict, profile: str):
        self.name, self.found, self.profile = name, found, profile
        self.figures = saved(name, profile)
        self.claims = by_id(found["claims"])
        self.shown = {stem: figure.shows(found["claims"]) for stem, figure in self.figures.items()}

    def text(self) -> str:
        """The page as Markdown; parts and variants of a claim (C5.S3 of C5) are folded away."""
        title, source = heading(self.name)
        is_part = lambda id: any(id.startswith(f"{other}.") for other in self.claims)
        return render(
            "paper",
            page=self,
            found=self.found,
            title=title,
            source=source,
            says=inspect.cleandoc(getattr(room(self.name, "claims"), "SAYS", "")),
            about_profile=SIZES[self.profile],
            findings=[
                finding(f, self.claims) for f in findings(self.name, self.profile, self.claims)
            ],
            notebooks=notebooks(self.name),
            drawn=drawn(self.name, self.figures),
            whole=[id for id in self.claims if not is_part(id)],
            parts=[id for id in self.claims if is_part(id)],
        )

    def marks(self, figure: Saved) -> list[str]:
        """Chips of the claims and links to the statements that a figure shows."""
        shown = by_id(self.shown[figure.name])
        chips = [chip(claim["verdict"], id, f"#{anchor(id)}") for id, claim in shown.items()]
        names = figure.statements()
        return chips + [f"[{escape(name)}](#{checked(name)})" for name in names]

    def seen_in(self, id: str) -> list[tuple[str, str]]:
        """Where a claim, or the claim that it is a part of, is seen: figures, statements and its notebook."""
        claim = self.claims[id]
        whole = next((c for c in self.claims.values() if claim["id"] in c["parts"]), None)
        shows = lambda figure: any(c in self.shown[figure.name] for c in (claim, whole))
        theory = [(s["name"], f"#{checked(s['name'])}") for s in self.named(claim)]
        notebook = claim["notebook"]
        places = [("notebook", f"../notebooks/{notebook}.ipynb")] if notebook else []
        return self._links(shows) + theory + places

    def _links(self, shows) -> list[tuple[str, str]]:
        return [(f.label, f"#{f.anchor}") for f in self.figures.values() if shows(f)]

    def named(self, claim: dict) -> list[dict]:
        """The statements that a claim's source names: "ours, after Theorem 4.1"."""
        says = lambda name: re.search(rf"{re.escape(name)}(?![\w.]*\d)", claim["source"])
        return [s for s in self.found["statements"] if says(s["name"].split(",")[0])]

    def related(self, statement: dict) -> list[tuple[str, str]]:
        """Figures that show a statement, claims that name it, and its code."""
        figures = self._links(lambda figure: statement["name"] in figure.statements())
        claims = [
            (id, f"#{anchor(id)}") for id, c in self.claims.items() if statement in self.named(c)
        ]
        (function,) = (s.function for s in statements(self.name) if s.name == statement["name"])
        return [*figures, *claims, code(function.__module__, function.__name__)]

    def places(self, erratum: dict) -> list[tuple[str, str]]:
        """Cell and code of an erratum: its function, else its entry in ``errata.py``."""
        module = room(self.name, "errata")
        (function,) = (e.function for e in module.ERRATA if e.id == erratum["id"])
        cell = f"../notebooks/{erratum['notebook']}.ipynb#cell-id={erratum['cell']}"
        where = [("cell", cell)] if erratum["notebook"] else []
        own = (
            (function.__module__, function.__name__)
            if function
            else (module.__name__, erratum["id"])
        )
        return [*where, code(*own)]


def code(module: str, name: str) -> tuple[str, str]:
    """A link to a name in a file of the package."""
    return "code", f"../../{module.replace('.', '/')}.py#{name}"


def home(found: dict) -> str:
    """The first page: a card a paper with its first finding, and where to begin."""
    profile = found["profile"]
    first = {name: first_finding(name, paper, profile) for name, paper in found["papers"].items()}
    # a card is a link itself
    first = {name: re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text) for name, text in first.items()}
    overview = saved("overview", profile).get("overview")
    return render("index", **found, first=first, overview=overview, about_profile=SIZES[profile])


def speed(found: dict) -> str:
    """What a round costs: the bench's figures of each paper, which learners it leaves out, with the reason, and the times on a GPU."""
    measured, papers = saved("bench", found["profile"]), []
    stems = {n.stem: f"[{n.title}](../notebooks/{n.stem}.ipynb)" for n in notebooks()}
    link = lambda why: re.sub(r"\w+", lambda word: stems.get(word[0], escape(word[0])), why)
    for name in found["papers"]:
        cases, left_out = room(name, "cases"), {}
        for learner, why in getattr(cases, "UNMEASURED", {}).items():
            left_out.setdefault(link(why), []).append(learner)
        figures = [f for stem, f in measured.items() if stem.split("_")[0] == name]
        papers.append(
            {"name": name, "figures": figures, "left_out": left_out, "cases": len(cases.CASES)}
        )
    gpu = json.loads((output.home() / "bench" / "cpu_and_cuda.json").read_text())
    times = {}
    for row in gpu["rows"]:
        times.setdefault((row["learner"], row["dim"]), []).append(row)
    return render("speed", papers=papers, gpu=gpu, times=times, rule=linalg)


def all_claims(found: dict) -> str:
    """One table of the claims of all papers, which a script of the site filters."""
    return render("claims", **found, about_profile=SIZES[found["profile"]])
