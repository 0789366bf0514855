"""Figures that a profile's runs left, the notebooks that drew them, and the claims and statements that they show."""

import ast
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..output import folder
from ..workflow import plan as workflow

NUMBERS = re.compile(r"Figures? ([\d a-z,()-]+)")  # "Experiments, Figures 1a-b" names 1


class Saved(NamedTuple):
    """A saved figure."""

    paper: str  # the folder it lies in
    about: dict  # its JSON
    kinds: list[str]  # endings of the files beside it

    @property
    def name(self) -> str:
        return self.about["figure"]

    @property
    def label(self) -> str:
        words = self.name.replace("_", " ")
        return words[:1].upper() + words[1:]  # the rest as it is: T is not t

    @property
    def anchor(self) -> str:
        """Of its heading, as GitHub and the site make it."""
        return re.sub(r"[^\w -]", "", self.label.lower()).replace(" ", "-")

    def shows(self, claims: list[dict]) -> list[dict]:
        """The claims that its JSON names, and those whose source names a figure of the paper called ``figure_<n>``.

        Where a claim and its parts are all there, the claim speaks for them.
        """
        own = self.name.removeprefix("figure_")
        digits = lambda source: {
            n for part in NUMBERS.findall(source) for n in re.findall(r"\d+", part)
        }
        named = {claim["id"] for claim in self.about.get("claims") or []}
        named |= {claim["id"] for claim in claims if own in digits(claim["source"])}
        covered = {
            part for claim in claims if claim["id"] in named for part in claim["parts"]
        }
        return [claim for claim in claims if claim["id"] in named - covered]

    def statements(self) -> list[str]:
        """Names of the statements of the theory that it shows, in order."""
        return [*dict.fromkeys(check["statement"] for check in self.about.get("checks") or [])]


class Notebook(NamedTuple):
    """What the pages need to know of a notebook."""

    stem: str
    title: str
    saves: list[str]  # names of the figures that its code saves, in order
    words: set[str]  # every string constant of its code: names that a loop hands to ``save`` are among them


def saved(paper: str, profile: str) -> dict[str, Saved]:
    """Every figure of a paper with caption, alternative text and PNG, by its file's name."""
    found = {}
    for path in sorted((folder(profile) / paper).glob("*.json")):
        about = json.loads(path.read_text())
        known = isinstance(about, dict) and {"figure", "caption", "alt"} <= about.keys()
        if known and path.with_suffix(".png").exists():
            kinds = [kind for kind in ("pdf", "json") if path.with_suffix(f".{kind}").exists()]
            found[path.stem] = Saved(paper, about, kinds)
    return found


def notebooks() -> list[Notebook]:
    """The project's notebooks in order."""
    found = []
    for stem in workflow.stems():
        saves, words = [], set()
        for cell in workflow.code(stem):
            with suppress(SyntaxError):
                nodes = [*ast.walk(ast.parse(cell["source"]))]
                saves += _saves(nodes)
                words |= {x.value for x in nodes if _is_text(x)}
        cells = json.loads(workflow.notebook(stem).read_text())["cells"]
        found.append(Notebook(stem, title(cells) or stem, saves, words))
    return found


def drawn(paper: str, found: dict[str, Saved]) -> list[tuple[Notebook, list[Saved]]]:
    """A paper's notebooks with the figures of each, in the order in which its code saves them."""
    left, own = dict(found), [n for n in notebooks() if n.stem.split("_")[0] == paper]
    named = {n.stem: [left.pop(x) for x in dict.fromkeys(n.saves) if x in left] for n in own}
    return [(n, named[n.stem] + [left.pop(x) for x in [*left] if x in n.words]) for n in own]


def title(cells: list) -> str:
    """A notebook's first heading, as Markdown."""
    text = next(("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"), "")
    return text.strip().split("\n")[0].lstrip("# ")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _saves(nodes: list[ast.AST]) -> list[str]:
    """Names of the figures that code saves by ``figures.save(fig, "name", ...)``."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    saves = [call for call in calls if getattr(call.func, "attr", "") == "save"]
    names = [call.args[1] for call in saves if len(call.args) > 1]
    return [name.value for name in names if _is_text(name)]
