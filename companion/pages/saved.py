"""Figures that a profile's runs left, the notebooks that drew them, and the claims and statements that they show."""

import json
import re
from typing import NamedTuple

from ..output import folder
from ..workflow import plan as workflow

NUMBERS = re.compile(r"Figures? ([\d a-z,()-]+)")  # "Experiments, Figures 1a-b" names 1
SAVE = re.compile(r'\.save\(\s*[^,()]+,\s*f?"([^"]+)"')  # with the name of the figure


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
    code: list[str]  # sources of its code cells


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
        cells = json.loads(workflow.notebook(stem).read_text())["cells"]
        code = [cell["source"] for cell in workflow.code(stem)]
        found.append(Notebook(stem, title(cells) or stem, code))
    return found


def drawn(paper: str, found: dict[str, Saved]) -> list[tuple[Notebook, list[Saved]]]:
    """A paper's notebooks with the figures of each, in the order in which its code saves them."""
    own = notebooks(paper)
    places = sorted((*at, name) for name in found if (at := place(name, own)))
    return [(n, [found[name] for at, _, name in places if at == i]) for i, n in enumerate(own)]


def place(name: str, own: list[Notebook]) -> tuple[int, int] | None:
    """Which notebook and cell save a figure: the one whose call of ``save`` names it, else the first that says the name."""
    # of an f-string, for example f"figure_2{panel}", any text may stand for a value
    pattern = lambda text: re.sub(r"\\\{.*?\\\}", ".+", re.escape(text))
    saves = lambda source: any(re.fullmatch(pattern(text), name) for text in SAVE.findall(source))
    says = lambda source: f'"{name}"' in source  # a loop may hand the name to ``save``
    for shows in (saves, says):
        for i, notebook in enumerate(own):
            for cell, source in enumerate(notebook.code):
                if shows(source):
                    return i, cell
    return None


def title(cells: list) -> str:
    """A notebook's first heading, as Markdown."""
    text = next(("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"), "")
    return text.strip().split("\n")[0].lstrip("# ")
