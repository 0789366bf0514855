"""Discovery of the papers' packages; a paper's modules are imported only when they are requested."""

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import companion
import paperlib


def papers() -> list[str]:
    """Return the names of the papers' packages, which are the folders of the companion that declare claims."""
    return sorted(
        found.name
        for found in pkgutil.iter_modules(companion.__path__)
        if (Path(found.module_finder.path) / found.name / "claims.py").exists()
    )


def heading(paper: str) -> tuple[str, str]:
    """Return title and source from the docstring of a paper's package; "" for a missing source.

    Each is on one line. The title has no final dot; without a docstring it is the package's name.
    """
    text = inspect.getdoc(importlib.import_module(f"paperlib.{paper}")) or paper
    source = text.partition("\nSource: ")[2].split("\n\n")[0]
    return text.split("\n")[0].rstrip("."), " ".join(source.split())


def paper_module(paper: str, name: str) -> ModuleType | None:
    """Return module ``name`` ("claims", "errata") of a paper's package in the companion, or None if it has none.

    Raises:
        ValueError: no such paper.
    """
    if paper not in papers():
        raise ValueError(f"paper must be one of {', '.join(map(repr, papers()))}, got {paper!r}")
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
