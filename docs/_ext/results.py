"""Sphinx extension for the pages of results: chips of verdicts, anchors, and notebooks with folded code."""

import json
import re
from html import escape

from docutils import nodes
from sphinx.transforms import SphinxTransform

from companion.pages.markdown import MARKS

CLASSES = {mark: verdict.replace(" ", "-") for verdict, mark in MARKS.items()}
WORDS = {
    "quick": "These pages show a run of the <strong>quick</strong> profile. Its sizes are small, and it decides no claim.",
    "custom": "These pages show runs with <strong>parameters that no profile declares</strong>. They decide no claim.",
}


class Chips(SphinxTransform):
    """Turn ``✓ holds`` into a chip, and mark the tables that are stacked on a phone."""

    default_priority = 700

    def apply(self, **kwargs):
        for node in self.document.findall(nodes.literal):
            mark, _, rest = node.astext().partition(" ")
            if mark in CLASSES and rest:
                node["classes"] += ["chip", CLASSES[mark]]
        for table in self.document.findall(nodes.table):
            heads = [
                entry.astext() for entry in next(table.findall(nodes.row)).findall(nodes.entry)
            ]
            if heads[0] in ("claim", "id", "statement", "your problem"):
                table["classes"] += ["stacked", *(["filtered"] if "origin" in heads else [])]


class Anchors(SphinxTransform):
    """Turn ``<a id="x"></a>``, which GitHub understands, into a target against which Sphinx checks links."""

    default_priority = 690

    def apply(self, **kwargs):
        for node in list(self.document.findall(nodes.raw)):
            found = re.fullmatch(r'<a id="([^"]+)">(</a>)?', node.astext().strip())
            if not found:
                continue
            after = node.parent.children[node.parent.index(node) + 1 :][:1]
            if not found[2] and after and after[0].astext().strip() == "</a>":
                node.parent.remove(after[0])
            node.replace_self(nodes.target("", "", ids=[found[1]]))
            # Slugs are registered per document, because labels are global and two notebooks each
            # have a cell-01.
            slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
            known = getattr(self.document, "myst_slugs", slugs)
            slugs[found[1]] = known[found[1]] = (node.line, found[1], "")


def notebook(app, name, source):
    """Fold the code cells of a notebook, except the parameters, and give each cell the anchor that links use.

    The code of a step-by-step notebook is not folded, because the notebook explains it.
    """
    if "notebooks/" not in name or not source[0].lstrip().startswith("{"):
        return
    found = json.loads(source[0])
    cells, found["cells"] = found["cells"], []
    for cell in cells:
        mark = f'<a id="cell-id={cell["id"]}"></a>'
        if cell["cell_type"] == "markdown":
            # MyST reads a displayed formula only in a paragraph of its own, unlike Jupyter and GitHub.
            text = re.sub(r"(?m)^(\$\$.+\$\$)$", r"\n\1\n", "".join(cell["source"]))
            cell["source"] = f"{mark}\n\n{text}"
        else:
            found["cells"].append(
                {"cell_type": "markdown", "metadata": {}, "id": f"at-{cell['id']}", "source": mark}
            )
            tags = cell["metadata"].setdefault("tags", [])
            if not name.endswith("_step_by_step") and not {"parameters", "injected-parameters"} & {
                *tags
            }:
                tags.append("hide-input")
            cell["outputs"] = [described(x) for x in cell["outputs"] if x.get("name") != "stderr"]
        found["cells"].append(cell)
    source[0] = json.dumps(found)


def described(output):
    """Return an output whose image, if it has an alternative text, is HTML, because MyST-NB would drop the text."""
    data, about = output.get("data", {}), output.get("metadata", {}).get("image/png", {})
    if "image/png" in data and "alt" in about:
        source = "data:image/png;base64," + "".join(data["image/png"]).replace("\n", "")
        image = f'<img alt="{escape(about["alt"])}" width="{about["width"]}" src="{source}">'
        return output | {"data": {"text/html": image}, "metadata": {}}
    return output


def formulas(app, what, name, obj, options, lines):
    """Escape ``|x|`` in docstrings, which is not a substitution, and ``y_+``, which is not a reference."""
    plain = lambda text: re.sub(r"(?<=\w)_(?!\w)", r"\_", text.replace("|", "\\|"))
    split = (re.split(r"(``?[^`]+``?)", line) for line in lines)
    lines[:] = ["".join(x if i % 2 else plain(x) for i, x in enumerate(parts)) for parts in split]


def no_way_back(app, page, template, context, doctree):
    """Remove the links from source pages back to the reference.

    They use the names under which objects are defined, whereas the reference lists the names under which they are re-exported.
    """
    if page.startswith("_modules/"):
        context["body"] = re.sub(r'<a class="viewcode-back".*?</a>', "", context["body"])


def profile(app, config):
    """Add an announcement to the pages of every profile other than the paper's."""
    if words := WORDS.get(config.profile):
        config.html_theme_options["announcement"] = words


def setup(app):
    app.add_config_value("profile", "paper", "html")
    app.connect("config-inited", profile)
    app.connect("autodoc-process-docstring", formulas, priority=900)
    app.connect("html-page-context", no_way_back)
    app.connect("source-read", notebook)
    app.add_transform(Chips)
    app.add_transform(Anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
