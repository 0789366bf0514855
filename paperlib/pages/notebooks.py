"""Executed notebooks as pages beside the gallery: figures are links to the files, formulas are MathML, nothing is loaded from elsewhere."""

import base64
import hashlib
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from ..workflow import plan as workflow
from ..output import write_text
from .mathml import formulas
from .frame import document

CSS = """
.notebook { max-width: 56rem; } .notebook h1 { font-size: clamp(1.7rem, 4.5vw, 2.3rem); margin-top: 1.4rem; } .notebook h2 { margin-top: 2.4rem; }
pre { margin: 0; padding: .8rem 1rem; overflow-x: auto; font: .8rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: .88em; overflow-wrap: anywhere; } pre code { overflow-wrap: normal; }
.input pre { background: var(--code); border-radius: 6px; } .code_cell { margin: 1.1rem 0; } .output pre { border-left: 3px solid var(--line); margin-top: .4rem; }
.output img { max-width: 100%; } .output .sheet { margin-top: .8rem; } .output_subarea, .text_cell_render { overflow-x: auto; }
math { font-size: 1.05em; } math[display=block] { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; } th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; }
"""


class Picture(NamedTuple):
    """A saved figure's picture, as a page may show it."""

    address: str  # relative to the folder of figures
    alt: str
    width: int  # pixels
    height: int


def image(picture: Picture, up: str = "") -> str:
    """A picture on its white sheet, a link to itself at full size; ``up`` leads to the folder of figures."""
    address = escape(up + picture.address)
    return (
        f'<a class="sheet" href="{address}"><img src="{address}" alt="{escape(picture.alt)}" width="{picture.width}" height="{picture.height}" '
        f'loading="lazy" decoding="async" style="max-width: {round(0.62 * picture.width)}px"></a>'
    )


def style() -> str:
    """What these pages add to the style sheet: their layout, and the colors of code, light and dark."""
    from pygments.formatters import HtmlFormatter

    light, dark = (
        HtmlFormatter(style=name, nobackground=True).get_style_defs(".highlight")
        for name in ("friendly", "github-dark")
    )
    return f"{CSS}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def page(notebook, pictures: dict[str, Picture]) -> str:
    """An executed notebook as HTML.

    Args:
        notebook: an nbformat node; it is not changed.
        pictures: saved figures by the SHA-256 of their PNG: outputs that show one become links to it. Others stay in the page.
    """
    import nbformat
    from nbconvert import HTMLExporter

    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = formulas(cell.source)
        for output in cell.get("outputs", []):
            png = output.get("data", {}).get("image/png", "")
            known = pictures.get(hashlib.sha256(base64.b64decode(png)).hexdigest()) if png else None
            if known:
                output.data = {"text/html": image(known, "../")}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    body, _ = exporter.from_notebook_node(notebook)
    # cells have the same anchors there
    body = re.sub(r'href="(\w+)\.ipynb(?=["#])', r'href="\1.html', body)
    back = '<nav class="wide notebook" aria-label="Pages"><ul><li><a href="../index.html">All figures</a></li></ul></nav>'
    body = f'{back}\n<main class="wide notebook">\n{body}\n</main>\n<footer class="wide notebook"></footer>'
    return document(title(notebook.cells), body, up="../")


def title(cells: list) -> str:
    """A notebook's first heading, as text."""
    text = next(("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"), "")
    return text.strip().split("\n")[0].lstrip("# ").replace("$", "")


def refresh(profile: str, folder: Path, pictures: dict[str, Picture]) -> None:
    """Write the page of every notebook that has run to its end since its page was written."""
    import nbformat

    for stem in workflow.stems():
        copy = workflow.results(profile) / f"{stem}.ipynb"
        target = folder / "notebooks" / f"{stem}.html"
        if not (copy.exists() and copy.with_suffix(".done").exists()):
            continue
        if not target.exists() or target.stat().st_mtime_ns < copy.stat().st_mtime_ns:
            write_text(target, page(nbformat.read(copy, as_version=4), pictures))
