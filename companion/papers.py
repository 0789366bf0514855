"""The papers' packages, discovered: who asks for something that every paper has imports them then, not before."""

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import companion
import paperlib


def papers() -> list[str]:
    """The papers' packages, by name: those of the companion that declare claims."""
    return sorted(
        found.name
        for found in pkgutil.iter_modules(companion.__path__)
        if (Path(found.module_finder.path) / found.name / "claims.py").exists()
    )


def heading(paper: str) -> tuple[str, str]:
    """Title and source as the docstring of a paper's package has them; "" for a source that it lacks.

    Each is on one line; the title, without its dot, is the package's name where there is no docstring.
    """
    text = inspect.getdoc(importlib.import_module(f"paperlib.{paper}")) or paper
    source = text.partition("\nSource: ")[2].split("\n\n")[0]
    return text.split("\n")[0].rstrip("."), " ".join(source.split())


def paper_module(paper: str, name: str) -> ModuleType | None:
    """Module ``name`` ("claims", "errata") of a paper's package in the companion, or None where it has none.

    Raises:
        ValueError: no such paper.
    """
    if paper not in papers():
        raise ValueError(f"paper={paper!r}; allowed: {', '.join(papers())}")
    full = f"companion.{paper}.{name}"
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name not in (full, full.rpartition(".")[0]):  # something that the paper needs
            raise
        return None  # there may not even be a folder for it


def statement_modules(paper: str) -> list[str]:
    """Return the modules that hold a paper's statements: those of ``theory`` in the library and ``proofs`` in the companion."""
    return [
        ".".join([package.__name__, *file.relative_to(root).with_suffix("").parts])
        for package, name in ((paperlib, "theory"), (companion, "proofs"))
        for root in package.__path__
        for pattern in (f"{name}.py", f"{name}/*.py")  # one file, or a folder
        for file in sorted((Path(root) / paper).glob(pattern))
        if file.name != "__init__.py"
    ]
