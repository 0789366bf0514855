"""What a notebook is given, and whether that is what the project declares for a profile.

A notebook's parameters cell is the quick profile; ``notebooks/profiles.toml`` holds what another profile changes. Both
count as git has them, staged or committed, for JupyterLab saves an edited cell unasked; where git does not know them,
they count as they lie there. A run with other parameters is a custom one, whoever started it: its figures and verdicts
go to ``figures/custom/``.
"""

import ast
import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from ..output import figures_dir, project_dir

PROFILES = ("quick", "paper")
CUSTOM = "custom"
FREE = ("profile", "device")  # parameters that decide where a run computes and writes, not what
KINDS = {kind.__name__: kind for kind in (bool, int, float, str, list, dict)}
PLAIN = {*KINDS.values(), type(None)}  # whose == is a bool
INJECTED = "# Parameters\n"  # how the cell begins that papermill puts behind the parameters cell


class Parameter(NamedTuple):
    """A line ``name: kind = value`` of a parameters cell."""

    kind: Any  # int, list[float], ...; None where the line has none that is known
    text: str  # of the kind
    value: Any


def notebook_path(stem: str) -> Path:
    """Path of a notebook, given its stem or any path to it."""
    return project_dir() / "notebooks" / f"{Path(stem).name.removesuffix('.ipynb')}.ipynb"


def read_present(path: Path) -> str:
    """A file's text as it lies there; "" where there is none."""
    return path.read_text() if path.exists() else ""


def read_committed(path: Path) -> str:
    """A file's text as git has it, staged or committed; as it lies there where git, if there is one, does not know it."""
    show = ["git", "show", f":./{path.name}"]
    try:
        found = subprocess.run(show, cwd=path.parent, capture_output=True)
    except OSError:  # no git, or no such folder
        return read_present(path)
    return read_present(path) if found.returncode else found.stdout.decode()


def read_parameters(stem: str, text: Callable[[Path], str] = read_present) -> dict[str, Parameter]:
    """What a notebook's parameters cell holds, by name; nothing where there is no notebook.

    Raises:
        ValueError: a value that is no literal.
    """
    cells = json.loads(text(notebook_path(stem)) or '{"cells": []}')["cells"]
    found = {}
    for cell in cells:
        if "parameters" in cell["metadata"].get("tags", []):
            for name, kind, value in _assignments("".join(cell["source"])):
                try:
                    literal = ast.literal_eval(value)
                except ValueError:
                    said = f"{stem}: parameter {name!r} is {ast.unparse(value)}; allowed: a literal"
                    raise ValueError(said) from None
                found[name] = Parameter(_kind(kind), kind, literal)
    return found


def _assignments(source: str) -> list[tuple[str, str, ast.expr]]:
    """Name, kind ("None" without one) and value of each assignment of a cell to a name; none if it is no plain Python."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return []
    found = []
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            typed = isinstance(node, ast.AnnAssign)
            kind = ast.unparse(node.annotation) if typed else "None"
            targets = [node.target] if typed else node.targets
            found += [(x.id, kind, node.value) for x in targets if isinstance(x, ast.Name)]
    return found


def _kind(text: str) -> Any:
    try:
        return eval(text, {"__builtins__": {}}, KINDS)
    except Exception:
        return None


def convert(value: Any, kind: Any, name: str) -> Any:
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


def convert_all(stem: str, values: dict) -> dict:
    """`values` with the types that the notebook's parameters cell declares.

    papermill itself only warns about an unknown parameter and checks no type.

    Raises:
        ValueError: the cell does not have a parameter, does not type it, or types it otherwise.
    """
    known, result = read_parameters(stem), {}
    for name, value in values.items():
        if name not in known:
            raise ValueError(
                f"{stem}: parameter {name!r} is not in its parameters cell, which has {', '.join(known) or 'none'}"
            )
        kind, text, _ = known[name]
        if kind is None:
            raise ValueError(
                f"{stem}: parameter {name!r} is declared as {text}; allowed types: {', '.join(KINDS)}, list[int], ..."
            )
        result[name] = convert(value, kind, f"{stem}: parameter {name!r}")
    return result


def profile_values(stem: str, profile: str, text: Callable[[Path], str] = read_present) -> dict:
    """The parameters of a profile that decide its results: those of the cell, and what profiles.toml changes."""
    cell = {name: line.value for name, line in read_parameters(stem, text).items()}
    sections = tomllib.loads(text(notebook_path(stem).parent / "profiles.toml"))
    cell |= sections.get(stem, {}).get(profile, {})
    return {name: value for name, value in cell.items() if name not in FREE}


def differences(stem: str, profile: str, given: dict) -> str:
    """Where `given` departs from what is declared for a profile, in words: "horizon 60, declared 10000"; "" if nowhere."""
    if not read_committed(notebook_path(stem)):
        return f"there is no notebook {stem} to compare with"
    apart = [
        f"{name} {given.get(name, 'not there')}, declared {value}"
        for name, value in profile_values(stem, profile, read_committed).items()
        if not (name in given and type(given[name]) in PLAIN and given[name] == value)
    ]
    return "; ".join(apart)


def output_place(stem: str, profile: str) -> str:
    """Where the workflow's run of a notebook belongs: to the profile, or to the custom runs."""
    return CUSTOM if differences(stem, profile, profile_values(stem, profile)) else profile


def resolve_profile(stem: str, names: dict[str, Any]) -> str:
    """The profile to which a notebook's figures and verdicts belong: "quick", "paper", or "custom" with other parameters.

    Every notebook calls it when its parameters are set, before anything is computed. A custom run is told so. In a
    kernel ``resolve_profile`` is looked at again after each cell, for the parameters cell may be changed and run once more.

    Args:
        stem: the notebook's name.
        names: its ``globals()``.

    Raises:
        ValueError: an unknown profile, a parameter of another type, or one that papermill was given and the notebook
            does not have.
    """
    asked, known = names.get("profile"), read_parameters(stem)
    history = names.get("In") or []  # the kernel's cells so far, this one the last
    if len(history) > 1 and history[-2].startswith(INJECTED):
        typed = (source for source in history[:-2] if not source.startswith(INJECTED))
        own = {name for source in typed for name, *_ in _assignments(source)} | known.keys()
        for name, *_ in _assignments(history[-2]):
            if name not in own:
                allowed = ", ".join(known or sorted(own))
                raise ValueError(f"{name}={names[name]!r}; allowed parameters of {stem}: {allowed}")
    if asked not in (*PROFILES, CUSTOM):
        raise ValueError(f"profile={asked!r}; allowed: {', '.join(PROFILES)}")
    for name, line in known.items():
        if name in names and line.kind:
            convert(names[name], line.kind, name)
    if "get_ipython" in names and stem not in _watched:
        _watched.add(stem)
        again = lambda *_: names.update(profile=_told(stem, names.get("profile"), names))
        names["get_ipython"]().events.register("post_run_cell", again)
    return _told(stem, asked, names)


_watched: set[str] = set()  # notebooks that run in this kernel


def _told(stem: str, asked: Any, names: dict[str, Any]) -> Any:
    """`asked`, or that this is a custom run, which is printed."""
    apart = differences(stem, asked, names) if asked in PROFILES else ""
    if apart:
        print(
            f"Not the {asked} profile ({apart}): figures and verdicts go to {figures_dir() / CUSTOM}"
        )
    return CUSTOM if apart else asked
