"""Sphinx extension: formulas as MathML, which browsers draw without a script or a network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

# Replacements for commands that latex2mathml does not support, and for fences that it draws too
# large.
BEFORE = {r"\arg": r"\operatorname{arg}"}
AFTER = {
    "<mo>&#x02016;": '<mo stretchy="false">&#x02016;',
    'display="block">': 'display="block" tabindex="0">',
}


def mathml(tex: str, display: str) -> str:
    """Return a formula as a <math> element; a block can be reached with the keyboard, because it may need to scroll."""
    for old, new in BEFORE.items():
        tex = tex.replace(old, new)
    text = convert(tex, display=display)
    for old, new in AFTER.items():
        text = text.replace(old, new)
    return text


def _visit(display: str):
    def visit(self, node: nodes.Node) -> None:
        try:
            self.body.append(mathml(node.astext(), display))
        # Any error of the library becomes a warning that names the formula.
        except Exception as error:
            logging.getLogger(__name__).warning(
                "formula %r: %s", node.astext(), error, location=node
            )
        raise nodes.SkipNode

    return visit


def setup(app):
    app.add_html_math_renderer("mathml", (_visit("inline"), None), (_visit("block"), None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
