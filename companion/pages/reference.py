"""Tables of the reference pages: every public name with the first sentence of its docstring and a link to its code.

GitHub does not run Sphinx, so a page would be empty there without its table.
"""

import importlib
import inspect
import re
from types import ModuleType

from .markdown import render

TABLE = "<!-- names of {0} -->", "<!-- end of names -->"
# Matches a block of Sphinx that documents a module, with the table before it if there is one.
BLOCK = re.compile(
    r"(?:<!-- names of [\w.]+ -->.*?<!-- end of names -->\n\n)?"
    r"(?P<block>```\{eval-rst\}\n\.\. automodule:: (?P<module>[\w.]+)\n(?P<options>(?: +:[^\n]*\n)*)```)",
    re.DOTALL,
)


def with_tables(text: str) -> str:
    """Return a reference page with a table of names before each block that documents a module."""

    def table(found: re.Match) -> str:
        left_out = re.search(r":exclude-members: (.*)", found["options"])
        names = re.split(r",\s*", left_out[1]) if left_out else []
        rows = [row for row in public_names(found["module"]) if row["name"] not in names]
        begin, end = (mark.format(found["module"]) for mark in TABLE)
        return f"{begin}\n{render('reference', rows=rows)}\n{end}\n\n{found['block']}"

    return BLOCK.sub(table, text)


def public_names(module: str) -> list[dict[str, str]]:
    """Return the public classes and functions of a module in the order of its ``__all__`` or of its code.

    Each has its name, the address of its code relative to docs/reference/, and the first sentence of its docstring.
    """
    found = importlib.import_module(module)
    rows = []
    for name in getattr(found, "__all__", None) or own_names(found):
        thing = getattr(found, name)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        place = f"../../{thing.__module__.replace('.', '/')}.py#{thing.__name__}"
        rows.append({"name": name, "code": place, "first": first_sentence(thing)})
    return rows


def own_names(module: ModuleType) -> list[str]:
    """Return the public names that a module itself defines, in the order of its code."""
    own = lambda thing: getattr(thing, "__module__", None) == module.__name__
    return [name for name, thing in vars(module).items() if own(thing) and name[0] != "_"]


def first_sentence(thing: object) -> str:
    """Return the first paragraph of a docstring up to its first full stop."""
    paragraph = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[^.\W])\.\s|(?<=\))\.\s", paragraph)[0].rstrip(".")
