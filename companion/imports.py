"""Files of the two packages, and of a user's own modules, behind a name. Imports are read from the source, not executed."""

import ast
import functools
import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

import companion
import paperlib

PACKAGES = {"paperlib": paperlib, "companion": companion}
INSTALLED = tuple(
    {
        os.path.join(os.path.realpath(sysconfig.get_path(kind)), "")
        for kind in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)


def package_roots() -> list[tuple[str, str]]:
    """Return name and folder of the library and of the companion."""
    return [(name, root) for name, package in PACKAGES.items() for root in package.__path__]


def module_file(name: str) -> Path | None:
    """Return the file of a module of the library or the companion, or None if it does not exist."""
    package, *rest = name.split(".")
    if package not in PACKAGES:
        return None
    for root in PACKAGES[package].__path__:
        path = os.path.join(root, *rest)
        # This function is called often, therefore a Path is created only for a file that exists.
        for file in (os.path.join(path, "__init__.py"), f"{path}.py"):
            if os.path.isfile(file):
                return Path(file)
    return None


def origin(name: str) -> str:
    """Return the dotted name under which a name is defined, because a package may re-export it from one of its modules.

    For example, ``paperlib.pfbco.PFBCO`` gives ``paperlib.pfbco.learners.pfbco.PFBCO``. Other names are returned unchanged.
    """
    # Only an ``__init__.py`` re-exports names; every other module defines its own.
    base, _, attribute = name.rpartition(".")
    home = module_file(base) if base and module_file(name) is None else None
    if home is not None and home.name == "__init__.py":
        for source, local in _imports(home):
            if local == attribute and source != name:
                return origin(source)
    return name


def resolve_file(name: str) -> Path | None:
    """Return the file of a module, or the file that defines a name; None outside the package."""
    name = origin(name)
    base = name.rpartition(".")[0]
    return module_file(name) or (module_file(base) if base else None)


def _own_files(name: str) -> list[tuple[Path, list[str]]]:
    """Return the user's files behind a dotted name, starting at its outermost package, each with the names of its package.

    For installed modules the list is empty.
    """
    found, path, parts = [], None, name.split(".")
    for i in range(1, len(parts) + 1):
        module = ".".join(parts[:i])
        loaded = getattr(sys.modules.get(module), "__spec__", None)
        spec = loaded or PathFinder.find_spec(module, path)
        if spec is None or (spec.origin and os.path.realpath(spec.origin).startswith(INSTALLED)):
            break
        path = spec.submodule_search_locations
        if spec.origin and spec.origin.endswith(".py"):
            found.append((Path(spec.origin), parts[: i if path is not None else i - 1]))
        if path is None:
            break
    return found


Statement = tuple[int | None, str | None, list[tuple[str, str | None]]]


@functools.cache
def digest(text: bytes, name: str) -> str:
    """Return the SHA-256 of the code of a Python source text, in hexadecimal.

    The digest is of the syntax tree: comments, docstrings, line breaks and redundant parentheses do not change it.

    Raises:
        SyntaxError: the text is not Python; ``name`` stands for the file.
    """
    tree = ast.parse(text, name)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            code = node.body[ast.get_docstring(node, clean=False) is not None :]
            node.body = code or [ast.Pass()]  # the docstring may be the whole body
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@functools.cache
def import_statements(text: bytes, name: str) -> list[Statement]:
    """Return the import statements of a Python source text, including those within functions.

    An import statement is its level (None for ``import x``), its module, and its names, each with the name after ``as``.

    Raises:
        SyntaxError: the text is not Python; ``name`` stands for the file.
    """
    found, nodes = [], [ast.parse(text, name)]
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [(alias.name, alias.asname) for alias in node.names]
            found.append((getattr(node, "level", None), getattr(node, "module", None), names))
        # An expression contains no statement, and omitting expressions is ten times as fast.
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, ())
            nodes += inner if isinstance(inner, list) else ()
    return found


def imported_names(
    statements: Iterable[Statement], package: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return the names that import statements in a file of ``package`` import: (dotted name, local name in the file)."""
    found = []
    for level, module, names in statements:
        if level is None:
            found += [(name, name) for name, _ in names]
            continue
        above = package[: len(package) + 1 - level] if level else ()
        base = ".".join(filter(None, (*above, module)))
        found += [
            (base if name == "*" else f"{base}.{name}", asname or name) for name, asname in names
        ]
    return found


def _imports(file: Path, package: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the names that a file imports, see ``imported_names``; for a file of the two packages only names from there.

    Args:
        package: names of the package of a file outside the two packages.
    """
    statements = import_statements(file.read_bytes(), str(file))
    for top, root in package_roots():
        if file.is_relative_to(root):
            found = imported_names(statements, (top, *file.relative_to(root).parent.parts))
            return [(name, local) for name, local in found if name.split(".")[0] in PACKAGES]
    return imported_names(statements, package)


def packages(files: Iterable[Path]) -> set[str]:
    """Return the top-level packages that files import, except the standard library and the user's own modules.

    These packages are installed, or they are missing.
    """
    texts = [(file.read_bytes(), str(file)) for file in files]
    # A relative import is of the same package, therefore only absolute imports matter here.
    absolute = [one for text in texts for one in import_statements(*text) if not one[0]]
    found = {(name.split(".")[0], name) for name, _ in imported_names(absolute)}
    known = PACKAGES.keys() | sys.stdlib_module_names
    return {top for top, name in found if top not in known and not _own_files(name)}


def add_imports(file: Path | None, found: set[Path], package: Sequence[str] = ()) -> None:
    """Add a file and the files that it imports, directly or through others, to ``found``.

    For a file of the two packages these are files of the two packages. For another file they include the user's own modules.

    Args:
        package: see ``_imports``.
    """
    if file is None or file in found:
        return
    found.add(file)
    for name, _ in _imports(file, package):
        add_imports_of_name(name, found)


def add_imports_of_name(name: str, found: set[Path]) -> None:
    """Add the files behind a dotted name, and the files that they import, to ``found``; see ``add_imports``."""
    if name.split(".")[0] in PACKAGES:
        add_imports(resolve_file(name), found)
        return
    for file, package in _own_files(name):
        add_imports(file, found, package)


def is_inside(file: Path) -> bool:
    return any(file.is_relative_to(root) for _, root in package_roots())


def file_label(file: Path) -> str:
    """Return a file's name relative to the packages, independent of where they are installed."""
    root = next(
        (Path(root) for _, root in package_roots() if file.is_relative_to(root)), file.parent
    )
    return f"{root.name}/{file.relative_to(root).as_posix()}"
