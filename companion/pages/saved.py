"""Figures that a profile's runs left, the notebooks that drew them, and the claims and statements that they show."""

import ast
import json
import re
from contextlib import suppress
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
        covered = {part for claim in claims if claim["id"] in named for part in claim["parts"]}
        return [claim for claim in claims if claim["id"] in named - covered]

    def statements(self) -> list[str]:
        """Names of the statements of the theory that it shows, in order."""
        return [*dict.fromkeys(check["statement"] for check in self.about.get("checks") or [])]


class Notebook(NamedTuple):
    """What the pages need to know of a notebook."""

    stem: str
    title: str
    saves: dict[
        str, int
    ]  # pattern of a name under which its code saves a figure -> number of the cell
    words: dict[
        str, int
    ]  # the same of every string of its code: names that a loop hands to ``save`` are among them


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


def notebooks(paper: str | None = None) -> list[Notebook]:
    """The project's notebooks in order, or those of a paper."""
    found = []
    for stem in workflow.stems(paper):
        saves, words = {}, {}
        for i, cell in enumerate(workflow.code(stem)):
            with suppress(SyntaxError):
                nodes = [*ast.walk(ast.parse(cell["source"]))]
                saves = dict.fromkeys(_saves(nodes), i) | saves
                words = {x.value: i for x in nodes if _is_text(x)} | words
        cells = json.loads(workflow.notebook(stem).read_text())["cells"]
        found.append(Notebook(stem, title(cells) or stem, saves, words))
    return found


def drawn(paper: str, found: dict[str, Saved]) -> list[tuple[Notebook, list[Saved]]]:
    """A paper's notebooks with the figures of each, in the order in which its code saves them."""
    own = notebooks(paper)
    places = {name: _place(name, own) for name in found}
    mine = lambda i: sorted((at, name) for name, at in places.items() if at and at[0] == i)
    return [(n, [found[name] for _, name in mine(i)]) for i, n in enumerate(own)]


def _place(name: str, own: list[Notebook]) -> tuple[int, int] | None:
    """Which notebook and cell save a figure: the one whose call of ``save`` names it, else the first that says the name."""
    for i, n in enumerate(own):
        if cells := [cell for pattern, cell in n.saves.items() if re.fullmatch(pattern, name)]:
            return i, min(cells)
    return next(((i, n.words[name]) for i, n in enumerate(own) if name in n.words), None)


def title(cells: list) -> str:
    """A notebook's first heading, as Markdown."""
    text = next(("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"), "")
    return text.strip().split("\n")[0].lstrip("# ")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _saves(nodes: list[ast.AST]) -> list[str]:
    """Patterns of the names that code saves figures under by ``figures.save(fig, "name", ...)``, f-strings among them."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    saves = [call for call in calls if getattr(call.func, "attr", "") == "save"]
    names = [call.args[1] for call in saves if len(call.args) > 1]
    parts = [name.values if isinstance(name, ast.JoinedStr) else [name] for name in names]
    known = [some for some in parts if any(map(_is_text, some))]
    return ["".join(re.escape(x.value) if _is_text(x) else ".+" for x in some) for some in known]
