"""What the pages of results need: chips of verdicts, anchors, and notebooks with their code folded away."""

import json
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

from companion.pages.markdown import MARKS

CLASSES = {mark: verdict.replace(" ", "-") for verdict, mark in MARKS.items()}
WORDS = {
    "quick": "Made from a run of the <strong>quick</strong> profile: small sizes, a look and not a result.",
    "custom": "Made from runs with <strong>parameters that no profile declares</strong>: a look and not a result.",
}


class Chips(SphinxTransform):
    """``✓ holds`` as a chip, and the tables that stack on a phone."""

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
            if heads[0] in ("claim", "id", "statement", "you have"):
                table["classes"] += ["stacked", *(["filtered"] if "whose" in heads else [])]


class Anchors(SphinxTransform):
    """``<a id="x"></a>``, which GitHub understands, as a target that links are held against."""

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
            # of one document: labels are shared by all, and two notebooks have a cell-01 each
            slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
            known = getattr(self.document, "myst_slugs", slugs)
            slugs[found[1]] = known[found[1]] = (node.line, found[1], "")


def notebook(app, name, source):
    """Code cells are folded away, all but the parameters, and each cell has the anchor that links name."""
    if "notebooks/" not in name or not source[0].lstrip().startswith("{"):
        return
    found = json.loads(source[0])
    cells, found["cells"] = found["cells"], []
    for cell in cells:
        mark = f'<a id="cell-id={cell["id"]}"></a>'
        if cell["cell_type"] == "markdown":
            cell["source"] = f"{mark}\n\n{''.join(cell['source'])}"
        else:
            found["cells"].append(
                {"cell_type": "markdown", "metadata": {}, "id": f"at-{cell['id']}", "source": mark}
            )
            tags = cell["metadata"].setdefault("tags", [])
            if not {"parameters", "injected-parameters"} & {*tags}:
                tags.append("hide-input")
            cell["outputs"] = [x for x in cell["outputs"] if x.get("name") != "stderr"]
        found["cells"].append(cell)
    source[0] = json.dumps(found)


def formulas(app, what, name, obj, options, lines):
    """|x| in docstrings is no substitution, and y_+ no reference."""
    plain = lambda text: re.sub(r"(?<=\w)_(?!\w)", r"\_", text.replace("|", "\\|"))
    split = (re.split(r"(``?[^`]+``?)", line) for line in lines)
    lines[:] = ["".join(x if i % 2 else plain(x) for i, x in enumerate(parts)) for parts in split]


def no_way_back(app, page, template, context, doctree):
    """Source pages link back to names as they are defined, where the reference has them as they are handed on."""
    if page.startswith("_modules/"):
        context["body"] = re.sub(r'<a class="viewcode-back".*?</a>', "", context["body"])


def profile(app, config):
    """Pages of another profile than the paper's say so above everything."""
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
