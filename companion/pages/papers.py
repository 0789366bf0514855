"""Pages of results as Markdown: one per paper, all claims, the first page, run times. GitHub and the site show the same pages.

A page shows the claims, statements and errata of the ledger. It shows the figures of a profile below the notebooks that
saved them. Each of these has an anchor, and links lead in both directions.
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from paperlib.core import linalg
from paperlib.core.text import format_number
from paperlib.stats import HEAVY_TAIL

from .. import output, reported
from ..output import profile_dir
from ..papers import heading, paper_module, papers, topics
from ..verdicts import Finding, disjoint, short_id, statements
from ..workflow import plan as workflow
from .markdown import anchor, chip, escape, render

NUMBERS = re.compile(r"Figures? ([\d a-z,()-]+)")  # finds "1a-b" in "Experiments, Figures 1a-b"
PANELS = re.compile(r"(\d+)(?:([a-z])(?:-([a-z]))?)?")
SIZES = {
    "quick": "The verdicts are the recorded ones, from the paper profile. The numbers of a quick run come from small sizes and are not verdicts.",
    "paper": "",
    "replication": "The verdicts are the recorded ones. The numbers come from the replication of the paper profile, which has other seeds.",
    "custom": "The verdicts are the recorded ones, from the paper profile. The numbers of a custom run come from parameters that no profile declares, and are not verdicts.",
}


# ---- Figures and notebooks ---------------------------------------------------------------------------------


class Saved(NamedTuple):
    """A saved figure, with the content of its JSON file."""

    paper: str  # its folder
    about: dict  # its JSON

    @property
    def name(self) -> str:
        return self.about["figure"]

    @property
    def title(self) -> str:
        """Title on the paper's page."""
        page = paper_module(self.paper, "page") if self.paper in topics() else None
        return page.FIGURES.get(self.name, self.name) if page else self.name

    @property
    def anchor(self) -> str:
        return self.name.lower().replace("_", "-")

    @property
    def notebook(self) -> str:
        """Stem of the notebook that saved it, see ``Study.save``; "" for a figure of the benchmarks."""
        return self.about["parameters"].get("notebook", "")

    def shows(self, claims: list[dict]) -> list[dict]:
        """Return the claims that the figure shows.

        They are those that its JSON lists, and those whose source names a figure of the paper called ``figure_<n>``. Parts of a
        claim are left out if the claim itself is included.
        """
        own = self.name.removeprefix("figure_")
        named = {claim["id"] for claim in self.about.get("claims") or []}
        named |= {claim["id"] for claim in claims if own in figures_in(claim["source"])}
        covered = {part for claim in claims if claim["id"] in named for part in claim["parts"]}
        return [claim for claim in claims if claim["id"] in named - covered]

    def statements(self) -> list[str]:
        """Return the names of the statements whose checks the figure shows, in order."""
        return [*dict.fromkeys(check["statement"] for check in self.about.get("checks") or [])]


def figures_in(source: str) -> set[str]:
    """Return the figures and panels that the source of a claim names: {"1", "1a", "1b"} for "Figures 1a-b"."""
    found = set()
    for number, first, last in PANELS.findall(" ".join(NUMBERS.findall(source))):
        letters = map(chr, range(ord(first), ord(last or first) + 1)) if first else ()
        found |= {number, *(number + letter for letter in letters)}
    return found


class Notebook(NamedTuple):
    """Parts of a notebook that pages show."""

    stem: str
    title: str  # Markdown of its first heading


def saved(paper: str, profile: str) -> dict[str, Saved]:
    """Return every figure in a paper's folder by the name of its file."""
    files = sorted((profile_dir(profile) / paper).glob("*.json"))
    # A save that was interrupted leaves no PNG.
    whole = [path for path in files if path.with_suffix(".png").exists()]
    return {path.stem: Saved(paper, json.loads(path.read_text())) for path in whole}


def notebooks(paper: str | None = None) -> list[Notebook]:
    """Return the notebooks of the project, or of one paper, in order."""
    found = []
    for stem in workflow.notebook_stems(paper):
        cells = json.loads(workflow.notebook_path(stem).read_text())["cells"]
        texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        title = next(texts, "").strip().split("\n")[0].lstrip("# ")
        found.append(Notebook(stem, title or stem))
    return found


# ---- Findings ----------------------------------------------------------------------------------------------


def by_id(claims: list[dict]) -> dict[str, dict]:
    """Return a paper's claims by their id within it."""
    return {short_id(claim["id"]): claim for claim in claims}


def findings(paper: str, profile: str, claims: dict[str, dict], page: str | None = "") -> list[str]:
    """Return the findings that ``claims.py`` declares, see ``finding``; an empty list except in the paper profile.

    Of several alternatives the first that agrees with the verdicts is taken. A finding is left out while a claim that it needs
    has not been run.
    """
    declared = getattr(paper_module(paper, "claims"), "FINDINGS", ()) if profile == "paper" else ()
    return _findings(declared, claims, page)


def outcome(paper: str, profile: str, claims: dict[str, dict], page: str | None = "") -> str:
    """Return the sentences of a paper's main result, with links to claims on ``page``; no links if ``page`` is None.

    As with findings, a sentence is left out while a claim that it rests on has not been run.
    """
    declared = paper_module(paper, "page").OUTCOME if profile == "paper" else ()
    text = " ".join(_findings(declared, claims, page))
    if page is None:
        return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return text.replace(f"docs/papers/{paper}.md#", f"{page}#")


def _findings(declared: tuple, claims: dict[str, dict], page: str | None) -> list[str]:
    """Return the texts of findings, or of the alternatives that agree with the verdicts, whose claims have been run."""
    ran = lambda id: id not in claims or claims[id]["verdict"] != "not run"
    taken = [choose_finding(entry, claims) for entry in declared]
    return [finding(one, claims, page) for one in taken if all(map(ran, one.rests))]


def choose_finding(entry: Finding | tuple[Finding, ...], claims: dict[str, dict]) -> Finding:
    """Return the finding, or the first of several alternatives that agrees with the verdicts; the last one if none does."""
    alternatives = (entry,) if isinstance(entry, Finding) else entry
    verdict = lambda id: claims.get(id, {}).get("verdict")
    borne_out = (f for f in alternatives if all(verdict(id) == v for id, v in f.rests.items()))
    return next(borne_out, alternatives[-1])


def digits_of(value: float, interval: Sequence[float]) -> int:
    """Return the number of significant digits of a heavy-tailed number: two, or more if its interval is narrower than a twentieth of it."""
    width = interval[1] - interval[0]
    narrow = 0 < width < abs(value) / 20
    return 2 + math.ceil(math.log10(abs(value) / 10 / width)) if narrow else 2


def finding(found: Finding, claims: dict[str, dict], page: str | None = "") -> str:
    """Return the text of a finding with its numbers, each a link to its claim on ``page``; no links if ``page`` is None.

    Raises:
        ValueError: a claim that it requires has another verdict now, is unknown, or has no number to show.
    """
    for id, verdict in found.rests.items():
        has = claims[id]["verdict"] if id in claims else "not declared"
        if has != verdict:
            raise ValueError(
                f"finding {found.text!r} requires the verdict {verdict!r} of {id}, got {has!r}. Correct the finding"
            )

    def shown(match: re.Match) -> str:
        value = claims.get(match[1], {}).get("statistic")
        if not isinstance(value, (int, float)):
            raise ValueError(
                f"finding {found.text!r} must show claims with one number, got {match[1]} with {value!r}"
            )
        interval = claims[match[1]].get("interval")
        heavy = (claims[match[1]].get("tail") or 0) > HEAVY_TAIL
        plain = "{:.3g}".format if match[2] else format_number
        if heavy:  # with other seeds the third digit of such a number differs, unless its interval is narrow
            plain = f"{{:.{digits_of(value, interval)}g}}".format
        show = lambda x: f"{plain(100 * x)} %" if match[2] else plain(x)
        text = show(value)
        undecided = claims[match[1]]["verdict"] == "inconclusive" and interval
        if heavy or undecided:
            text += " (95 % interval {} to {})".format(*map(show, interval))
        other = claims[match[1]].get("replication", {})
        if interval and other.get("interval") and disjoint(interval, other["interval"]):
            text += f" (with other seeds {show(other['statistic'])})"
        return text if page is None else f"[{text}]({page}#{anchor(match[1])})"

    return re.sub(r"\{([\w.]+?)(:%)?\}", shown, found.text)


# ---- Pages -------------------------------------------------------------------------------------------------


def statement_anchor(name: str) -> str:
    """Return the anchor of a statement; its prefix avoids a clash with a figure of the same name."""
    return f"theory-{anchor(name)}"


class Page:
    """Page of one paper, as its template uses it.

    Args:
        name: the paper's package.
        found: the paper's part of ``ledger.gather``.
        profile: profile of the figures.
    """

    def __init__(self, name: str, found: dict, profile: str):
        self.name, self.found, self.profile = name, found, profile
        self.figures = saved(name, profile)
        self.claims = by_id(found["claims"])
        self.shown = {stem: figure.shows(found["claims"]) for stem, figure in self.figures.items()}

    def text(self) -> str:
        """Return the page as Markdown; parts and variants of a claim (``C5.S3`` of ``C5``) are folded."""
        title, source = heading(self.name)
        words = paper_module(self.name, "page")
        learners = [learner.rpartition(".") for learner in words.LEARNERS]
        is_part = lambda id: any(id.startswith(f"{other}.") for other in self.claims)
        is_ours = lambda id: self.claims[id]["source"].startswith("ours")
        whole, own = [id for id in self.claims if not is_part(id)], notebooks(self.name)
        by_stem = {notebook.stem: notebook for notebook in own}
        drawn = [(figure, by_stem.get(figure.notebook)) for figure in self.in_order()]
        return render(
            "paper",
            page=self,
            is_paper=self.name in papers(),
            found=self.found,
            title=title,
            source=source,
            says=inspect.cleandoc(words.SAYS),
            algorithm=words.ALGORITHM.strip(),
            theorem=getattr(words, "THEOREM", "").strip(),
            symbols=getattr(words, "SYMBOLS", {}),
            learners=[(f"`{name}`", code_link(module, name)[1]) for module, _, name in learners],
            about_profile=SIZES[self.profile],
            outcome=outcome(self.name, self.profile, self.claims),
            findings=findings(self.name, self.profile, self.claims),
            notebooks=own,
            terms=getattr(words, "TERMS", None),
            main=[each for each in drawn if each[0].name in words.MAIN],
            others=[each for each in drawn if each[0].name not in words.MAIN],
            theirs=[id for id in whole if not is_ours(id)],
            added=[id for id in whole if is_ours(id)],
            parts=[id for id in self.claims if is_part(id)],
        )

    def reported(self, figure: str) -> list[dict[str, str]]:
        """Return the paper's numbers and our numbers for a figure, or for the paper as a whole if it is ""."""
        return reported.rows(self.name, figure, self.profile)

    def in_order(self) -> list[Saved]:
        """Return the figures in the order of ``page.FIGURES``, the others after them."""
        titles = [*paper_module(self.name, "page").FIGURES]
        place = lambda name: titles.index(name) if name in titles else len(titles)
        return sorted(self.figures.values(), key=lambda figure: place(figure.name))

    def marks(self, figure: Saved) -> list[str]:
        """Return chips of the claims and links to the statements that a figure shows."""
        shown = by_id(self.shown[figure.name])
        chips = [chip(claim["verdict"], id, f"#{anchor(id)}") for id, claim in shown.items()]
        return chips + [
            f"[{escape(name)}](#{statement_anchor(name)})" for name in figure.statements()
        ]

    def seen_in(self, id: str) -> list[tuple[str, str]]:
        """Return links to the figures, statements and notebook of a claim, or of the claim that it is a part of."""
        claim = self.claims[id]
        whole = next((c for c in self.claims.values() if claim["id"] in c["parts"]), None)
        shows = lambda figure: any(c in self.shown[figure.name] for c in (claim, whole))
        theory = [(s["name"], f"#{statement_anchor(s['name'])}") for s in self.named(claim)]
        notebook = claim["notebook"]
        places = [("notebook", f"../notebooks/{notebook}.ipynb")] if notebook else []
        return self.figures_that(shows) + theory + places

    def figures_that(self, shows: Callable[[Saved], bool]) -> list[tuple[str, str]]:
        """Return links to the figures that ``shows`` selects."""
        return [(f.title, f"#{f.anchor}") for f in self.in_order() if shows(f)]

    def named(self, claim: dict) -> list[dict]:
        """Return the statements that a claim's source names, for example Theorem 4.1 for "ours, after Theorem 4.1"."""
        names = lambda name: re.search(rf"{re.escape(name)}(?![\w.]*\d)", claim["source"])
        return [s for s in self.found["statements"] if names(s["name"].split(",")[0])]

    def related(self, statement: dict) -> list[tuple[str, str]]:
        """Return links to the figures that show a statement, the claims that name it, and its code."""
        figures = self.figures_that(lambda figure: statement["name"] in figure.statements())
        naming = [id for id, claim in self.claims.items() if statement in self.named(claim)]
        (function,) = (s.function for s in statements(self.name) if s.name == statement["name"])
        claims = [(id, f"#{anchor(id)}") for id in naming]
        return [*figures, *claims, code_link(function.__module__, function.__name__)]

    def places(self, erratum: dict) -> list[tuple[str, str]]:
        """Return links to the cell and the code of an erratum: its function, otherwise its entry in ``errata.py``."""
        module = paper_module(self.name, "errata")
        (function,) = (e.function for e in module.ERRATA if e.id == erratum["id"])
        cell = f"../notebooks/{erratum['notebook']}.ipynb#cell-id={erratum['cell']}"
        where = [("cell", cell)] if erratum["notebook"] else []
        if function is None:
            return [*where, code_link(module.__name__, erratum["id"])]
        return [*where, code_link(function.__module__, function.__name__)]


def code_link(module: str, name: str) -> tuple[str, str]:
    """Return a link to a name in a file of a package."""
    return "code", f"../../{module.replace('.', '/')}.py#{name}"


def home(found: dict) -> str:
    """Return the first page: a card per paper with its main result, and starting points."""
    # A card is a link and may contain no links, therefore page is None.
    first = {
        name: outcome(name, found["profile"], by_id(paper["claims"]), page=None)
        for name, paper in found["papers"].items()
    }
    overview = saved("overview", found["profile"]).get("overview")
    about = SIZES[found["profile"]]
    return render("index", **found, first=first, overview=overview, about_profile=about)


def speed(found: dict) -> str:
    """Return the page of run times: the figures of the benchmark, the learners left out with the reasons, and the times on a GPU."""
    measured, parts = saved("bench", found["profile"]), []
    stems = {n.stem: f"[{n.title}](../notebooks/{n.stem}.ipynb)" for n in notebooks()}
    link = lambda why: re.sub(r"\w+", lambda word: stems.get(word[0], escape(word[0])), why)
    for name in papers():
        cases, left_out = paper_module(name, "cases"), {}
        for learner, why in getattr(cases, "UNMEASURED", {}).items():
            left_out.setdefault(link(why), []).append(learner)
        figures = [f for stem, f in measured.items() if stem.split("_")[0] == name]
        parts.append(
            {"name": name, "figures": figures, "left_out": left_out, "cases": len(cases.CASES)}
        )
    gpu = json.loads((output.project_dir() / "bench" / "cpu_and_cuda.json").read_text())
    return render("speed", papers=parts, gpu=gpu, rule=linalg)


def samplers() -> str:
    """Return the page of the benchmark of Optuna's samplers."""
    # The benchmark has one size, so that a page of the quick profile shows the committed figure.
    figure = saved("bench", "paper").get("samplers")
    if figure is None:
        return render("samplers", saved=None)
    numbers = figure.about["numbers"]
    regret = {name: _sampler_tables(numbers[name]) for name in ("simple", "mean")}
    seconds = {
        sampler: list(rows)
        for sampler, rows in groupby(numbers["seconds"], key=itemgetter("sampler"))
    }
    finished = [cell["finished"] for cell in next(iter(seconds.values()))]
    return render(
        "samplers",
        saved=figure,
        regret=regret,
        failed=numbers["failed"],
        seconds=seconds,
        finished=finished,
    )


def _sampler_tables(rows: list[dict]) -> list[tuple[str, list[int], dict[str, list[dict]]]]:
    """Return each problem's title, numbers of trials, and rows by sampler; the least median of a column is marked ``best``."""
    found = []
    for title, of_problem in groupby(rows, key=itemgetter("title")):
        cells = {}
        for row in of_problem:
            cells.setdefault(row["sampler"], []).append(row)
        for column in zip(*cells.values()):
            least = min(cell["median"] for cell in column)
            for cell in column:
                cell["best"] = cell["median"] == least
        found.append((title, [cell["trials"] for cell in next(iter(cells.values()))], cells))
    return found


def all_claims(found: dict) -> str:
    """Return one table of the claims of all papers, which a script of the site filters."""
    exempt: dict[str, dict[str, list[str]]] = {}  # reason -> paper -> ids
    for name, paper in found["papers"].items():
        for claim in paper["claims"]:
            if not claim["parts"] and claim["exempt"] not in ("", "reported"):
                by_paper = exempt.setdefault(claim["exempt"], {})
                by_paper.setdefault(name, []).append(short_id(claim["id"]))
    few = lambda claim: 20 <= (claim["n"] or 0) < 100 and claim["interval"] and not claim["exempt"]
    every = (claim for paper in found["papers"].values() for claim in paper["claims"])
    unknown = sum(bool(few(claim)) and "tail" not in claim for claim in every)
    about = {"exempt": exempt, "unknown": unknown, "about_profile": SIZES[found["profile"]]}
    return render("claims", **found, **about)
