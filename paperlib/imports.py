"""Which files of the package stand behind a name: imports read from the source, not executed."""

import ast
from pathlib import Path

import paperlib


def module_file(name: str) -> Path | None:
    """The file of a module of the package, if there is one."""
    package, *rest = name.split(".")
    if package != "paperlib":
        return None
    for root in paperlib.__path__:
        path = Path(root).joinpath(*rest)
        for file in (path / "__init__.py", path.with_name(path.name + ".py")):
            if file.is_file():
                return file
    return None


def resolve(name: str) -> Path | None:
    """The file that stands behind a module, or behind a name that a package hands on; None outside the package."""
    if (file := module_file(name)) is not None:
        return file
    base, _, attribute = name.rpartition(".")
    home = module_file(base) if base else None
    if home is not None and home.name == "__init__.py":  # the names of a package stand in its modules
        for origin, local in _imports(home, handed_on=True):
            if local == attribute and origin != name:
                return resolve(origin)
    return home


def _imports(file: Path, handed_on: bool = False) -> list[tuple[str, str]]:
    """What a file imports from the package: (dotted name, local name)."""
    root = next(Path(root) for root in paperlib.__path__ if file.is_relative_to(root)) if inside(file) else None
    package = ["paperlib", *file.relative_to(root).parent.parts] if root else []
    found = []
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import) and not handed_on:
            found += [(alias.name, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level] if node.level else [])
            base = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                found.append((base if alias.name == "*" else f"{base}.{alias.name}", alias.asname or alias.name))
    return [(name, local) for name, local in found if name.split(".")[0] == "paperlib"]


def follow(file: Path | None, found: set[Path]) -> None:
    """Add a file and all it imports from the package to ``found``."""
    if file is None or file in found:
        return
    found.add(file)
    for name, _ in _imports(file):
        follow(resolve(name), found)


def inside(file: Path) -> bool:
    return any(file.is_relative_to(root) for root in paperlib.__path__)


def label(file: Path) -> str:
    """A file's name apart from where the package lies."""
    root = next((Path(root) for root in paperlib.__path__ if file.is_relative_to(root)), file.parent)
    return f"{root.name}/{file.relative_to(root).as_posix()}"
