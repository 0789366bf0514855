"""From a notebook to its results: what it is given and what it depends on.

The Snakefile asks ``stems``, ``section``, ``shards``, ``after``, ``settings``, ``fingerprint``, ``inputs`` and ``digest``; its
jobs run in ``workflow.jobs``. A notebook is called by its stem (``glbomd_1_logistic``); its own parameters
cell is the quick profile, and ``notebooks/profiles.toml`` holds what another profile changes.
"""

import ast
import contextlib
import hashlib
import json
import os
import re
import tomllib
from pathlib import Path
from typing import get_args, get_origin

from ..core.files import CHECKOUT, PACKAGE
from ..core.imports import follow, resolve
from ..papers import papers

PROFILES = ("quick", "paper")
SECTION = {  # of a notebook in profiles.toml
    "after": list[str],  # notebooks whose results it reuses
    "datasets": list[str],  # names in the registry
    "timing": bool,  # it runs alone, on one thread
    "shards": int,  # see ``shards``
    **dict.fromkeys(PROFILES, dict),  # parameters
}
KINDS = {kind.__name__: kind for kind in (bool, int, float, str, list, dict)}
STEM = r"[a-z0-9]+_\w+"  # as in run.py: JupyterLab's Untitled and -Copy1 are no part of the project
LARGE = 10_000_000  # bytes; hashing more would slow down every call
LAST = "99_"  # begins the stems of notebooks that show what all others left


def root() -> Path:
    """The project's folder; ``PAPERLIB_ROOT`` names another one."""
    return Path(os.environ.get("PAPERLIB_ROOT") or CHECKOUT).resolve()


def results(profile: str) -> Path:
    """Folder of executed copies, logs and ``.done`` files (``PAPERLIB_RESULTS``, else results/)."""
    return Path(os.environ.get("PAPERLIB_RESULTS") or root() / "results") / profile


def notebook(stem: str) -> Path:
    """Path of a notebook, given its stem or any path to it."""
    return root() / "notebooks" / f"{Path(stem).name.removesuffix('.ipynb')}.ipynb"


def stems(paper: str | None = None) -> list[str]:
    """Every notebook of the project, or of a paper, in order; those with names of another form are not."""
    found = sorted(path.stem for path in (root() / "notebooks").glob("*.ipynb"))
    of = rf"{paper}_\w+" if paper else STEM
    return [stem for stem in found if re.fullmatch(of, stem)]


def section(stem: str) -> dict:
    """A notebook's section of profiles.toml, checked; for its keys see ``SECTION``.

    Raises:
        ValueError: a key, a type or a notebook in ``after`` is unknown.
    """
    path = root() / "notebooks" / "profiles.toml"
    found = tomllib.loads(path.read_text()).get(stem, {}) if path.exists() else {}
    here = f"profiles.toml [{stem}]"
    for key, value in found.items():
        if key not in SECTION:
            raise ValueError(f"{here}: unknown key {key!r}; allowed: {', '.join(SECTION)}")
        convert(value, SECTION[key], f"{here}: {key}")
    if found.get("shards", 1) < 1:
        raise ValueError(f"{here}: shards is {found['shards']}; it must be at least 1")
    for other in found.get("after", []):
        if other not in stems() or other == stem:
            raise ValueError(f"{here}: after names {other!r}; there are {', '.join(stems())}")
    return found


def shards(stem: str, profile: str) -> int:
    """Jobs among which a notebook's chunks are shared before it runs itself: in the quick profile 1, which means none."""
    return section(stem).get("shards", 1) if profile == "paper" else 1


def after(stem: str) -> list[str]:
    """Notebooks that run before this one: those that its section names; before one of the last, all that are not."""
    before = {*section(stem).get("after", [])}
    if stem.startswith(LAST):
        before.update(other for other in stems() if not other.startswith(LAST))
    return sorted(before)


def settings(stem: str, profile: str, device: str = "auto") -> dict:
    """What is injected into a notebook: profile, device, and its table in profiles.toml."""
    if profile not in PROFILES:
        raise ValueError(f"profile is {profile!r}; allowed: {', '.join(PROFILES)}")
    return {"profile": profile, "device": device, **section(stem).get(profile, {})}


def convert(value, kind, name: str):
    """`value` as type `kind`: an int may stand for a float, nothing else is converted.

    Raises:
        ValueError: it is of another type; the message begins with `name`.
    """
    outer, inner = get_origin(kind) or kind, get_args(kind)
    if outer is float and type(value) is int:
        return float(value)
    if type(value) is not outer:
        raise ValueError(
            f"{name} is {value!r}, a {type(value).__name__}; expected {getattr(kind, '__name__', kind)}"
        )
    if outer is list and inner:
        return [convert(item, inner[0], f"{name}[{i}]") for i, item in enumerate(value)]
    if outer is dict and inner:
        return {key: convert(item, inner[1], f"{name}.{key}") for key, item in value.items()}
    return value


def checked(stem: str, values: dict) -> dict:
    """`values` with the types that the notebook's parameters cell declares.

    papermill itself only warns about an unknown parameter and checks no type.

    Raises:
        ValueError: the cell does not have a parameter, does not type it, or types it otherwise.
    """
    import papermill

    known = papermill.inspect_notebook(str(notebook(stem)))
    result = {}
    for name, value in values.items():
        if name not in known:
            raise ValueError(
                f"{stem}: parameter {name!r} is not in its parameters cell, which has {', '.join(known) or 'none'}"
            )
        declared = known[name]["inferred_type_name"]
        try:
            kind = eval(declared, {"__builtins__": {}}, KINDS)
        except Exception:
            kind = None
        if kind is None:
            raise ValueError(
                f"{stem}: parameter {name!r} is declared as {declared}; allowed types: {', '.join(KINDS)}, list[int], ..."
            )
        result[name] = convert(value, kind, f"{stem}: parameter {name!r}")
    return result


def code(stem: str) -> list[dict]:
    """Tags and source of a notebook's code cells: the part of the file that decides its results."""
    cells = json.loads(notebook(stem).read_text())["cells"]
    return [
        {"tags": cell["metadata"].get("tags", []), "source": "".join(cell["source"])}
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def fingerprint(stem: str) -> str:
    """SHA-256 of the code cells: equal after a change of outputs, text cells or file times."""
    return hashlib.sha256(json.dumps(code(stem)).encode()).hexdigest()


def imports(stem: str) -> list[str]:
    """What a notebook's cells import from paperlib, as dotted names, and what is found by name: claims and other rooms.

    Lines of IPython's own (%, !) are left out; a cell that is no Python even so stands for the whole package.
    """
    names = {f"paperlib.{stem.split('_')[0]}.claims"}
    if stem.startswith(LAST):
        rooms = ("claims", "theory.bounds", "errata")
        names |= {f"paperlib.{paper}.{room}" for paper in papers() for room in rooms}
    for cell in code(stem):
        lines = cell["source"].splitlines()
        python = ["" if line.lstrip().startswith(("%", "!")) else line for line in lines]
        try:
            tree = ast.parse("\n".join(python))
        except SyntaxError:  # it may import anything: rather run too often than miss an edit
            names |= everything()
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return sorted(name for name in names if name.split(".")[0] == "paperlib")


def everything() -> set[str]:
    """Every module of the package, as dotted names."""
    paths = (path.relative_to(CHECKOUT).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return {".".join(path.parts).removesuffix(".__init__") for path in paths}


def inputs(stem: str) -> list[str]:
    """Files that a notebook's results depend on, beside its own cells and settings.

    They are the package's modules that it uses, directly or through others, the tables that the
    project ships where one of them reads data, and those of its data sets that are on this machine.
    """
    found = {root() / "requirements.lock"} if (root() / "requirements.lock").exists() else set()
    # read, not executed: a call with nothing to do need not wait for torch
    for name in imports(stem):
        follow(resolve(name), found)
    paths = sorted(found)
    if any(path.is_relative_to(PACKAGE / "datasets") for path in paths):
        tables = (CHECKOUT / "data").glob("*")
        paths += sorted(path for path in tables if path.suffix in {".csv", ".toml", ".json"})
    for name in section(stem).get("datasets", []):
        # here: Snakemake asks often, and few notebooks have any
        from ..datasets import registry as datasets

        # a file with a wrong checksum: the notebook refuses it
        with contextlib.suppress(ValueError):
            paths += filter(None, [datasets.find(name)])
    return [
        str(path.relative_to(root()) if path.is_relative_to(root()) else path) for path in paths
    ]


def digest(files: list[str]) -> str:
    """SHA-256 over names and contents of ``inputs``: what file times miss, an edit during a run or a ``cp -p``.

    Of a large file size and time stand for the content: it is a data set, whose SHA-256 ``datasets.find`` has checked.
    """
    total = hashlib.sha256()
    for name in files:
        stat = (path := root() / name).stat()
        large = f"{stat.st_size} {stat.st_mtime_ns}".encode()
        text = large if stat.st_size > LARGE else path.read_bytes()
        total.update(f"{name} {hashlib.sha256(text).hexdigest()}\n".encode())
    return total.hexdigest()


def figures() -> Path:
    """Folder of figures and verdicts of all profiles (``PAPERLIB_FIGURES``, else figures/)."""
    return Path(os.environ.get("PAPERLIB_FIGURES") or root() / "figures")


def products(written: Path) -> dict[str, str]:
    """Figures and verdicts that `written` names, a line each: path relative to their folder -> SHA-256."""
    lines = written.read_text().splitlines() if written.exists() else []
    place = figures().resolve()
    paths = {Path(line).relative_to(place) for line in lines if Path(line).is_relative_to(place)}
    return {str(path): _sha256(place / path) for path in sorted(paths)}


def _sha256(path: Path) -> str:
    """Of a file's content; "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def outcome(done: Path) -> dict | None:
    """What a ``.done`` file says; None where there is none, or none that can be read."""
    try:
        found = json.loads(done.read_bytes())
        known = isinstance(found["seconds"], (int, float)) and isinstance(found["products"], dict)
        return found if known else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget_incomplete(stem: str, profile: str) -> str:
    """Drop a notebook's ``.done`` file when it is damaged, or a figure or verdict is not what the notebook wrote.

    Returns:
        Why, in a line; "" where nothing was dropped.
    """
    done = results(profile) / f"{stem}.done"
    if not done.exists():
        return ""
    if (found := outcome(done)) is None:
        why = f"{done.name} is damaged"
    else:
        other = [
            name for name, sha in found["products"].items() if _sha256(figures() / name) != sha
        ]
        if not other:
            return ""
        why = f"{', '.join(other[:3])}{' and others are' if other[3:] else ' is' if len(other) == 1 else ' are'} not what it wrote"
    done.unlink()
    return f"  {stem}  runs again: {why}"
