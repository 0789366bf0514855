"""Discovery of the papers' packages; a paper's modules are imported only when they are requested."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import companion
import paperlib


def topics() -> list[str]:
    """Return the names of the folders of the companion that declare claims: the papers, then the arena."""
    found = {
        path.parent.name for root in companion.__path__ for path in Path(root).glob("*/claims.py")
    }
    return sorted(found, key=lambda name: (title_module(name).startswith("companion"), name))


def papers() -> list[str]:
    """Return the names of the papers' packages, which are the topics with a package of the same name in the library."""
    return [name for name in topics() if title_module(name).startswith("paperlib")]


def title_module(topic: str) -> str:
    """Return the module whose docstring has the title of a topic: the library's package of a paper, otherwise ``page``."""
    known = any((Path(root) / topic / "__init__.py").exists() for root in paperlib.__path__)
    return f"paperlib.{topic}" if known else f"companion.{topic}.page"


def heading(topic: str) -> tuple[str, str]:
    """Return title and source from the docstring of a topic's ``title_module``; "" for a missing source.

    Each is on one line. The title has no final dot; without a docstring it is the package's name.
    """
    text = inspect.getdoc(importlib.import_module(title_module(topic))) or topic
    source = text.partition("\nSource: ")[2].split("\n\n")[0]
    return text.split("\n")[0].rstrip("."), " ".join(source.split())


def paper_module(paper: str, name: str) -> ModuleType | None:
    """Return module ``name`` ("claims", "errata") of a topic's package in the companion, or None if it has none.

    Raises:
        ValueError: no such topic.
    """
    if paper not in topics():
        raise ValueError(f"paper must be one of {', '.join(map(repr, topics()))}, got {paper!r}")
    full = f"companion.{paper}.{name}"
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        # The missing module is one that the paper's module imports.
        if error.name not in (full, full.rpartition(".")[0]):
            raise
        return None  # the paper's folder may also be missing


def statement_modules(paper: str) -> list[str]:
    """Return the modules that contain a paper's statements: ``theory`` in the library and ``proofs`` in the companion."""
    return [
        ".".join([package.__name__, *file.relative_to(root).with_suffix("").parts])
        for package, name in ((paperlib, "theory"), (companion, "proofs"))
        for root in package.__path__
        for pattern in (f"{name}.py", f"{name}/*.py")  # a single file or a folder
        for file in sorted((Path(root) / paper).glob(pattern))
        if file.name != "__init__.py"
    ]
