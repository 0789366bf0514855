"""Parameters of a notebook, and whether they equal the declared parameters of a profile.

A notebook's parameters cell is the quick profile; ``notebooks/profiles.toml`` lists the values that another profile
changes. For both, the version in git counts, staged or committed, because JupyterLab saves an edited cell without being
asked. Files that git does not know count as they are on disk. A run with other parameters is a custom run, even if
the workflow started it. Its figures and verdicts go to ``figures/custom/``.
"""

import ast
import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from ..output import figures_dir, project_dir

PROFILES = ("quick", "paper", "replication")
CUSTOM = "custom"
# Added to the seeds of the paper profile in its replication. No run has so many trials, and the
# arena's tuning adds a million.
FRESH = 100_000
# Parameters that decide where a run computes and writes, and do not change its results.
FREE = ("profile", "device")
KINDS = {kind.__name__: kind for kind in (bool, int, float, str, list, dict)}
PLAIN = {*KINDS.values(), type(None)}  # types whose == returns a bool
# Tags of the cells that set parameters. The folded cell of the second tag precedes the parameters cell, after
# which papermill inserts its own: it must come later than all values that it replaces.
TAGS = {"parameters", "more-parameters"}
# First line of the cell that papermill inserts after the parameters cell.
INJECTED = "# Parameters\n"


class Parameter(NamedTuple):
    """Line ``name: kind = value`` of a parameters cell."""

    kind: Any  # int, list[float], ...; None if the line has no known type
    text: str  # source text of the type
    value: Any


def notebook_path(stem: str) -> Path:
    """Return the path of a notebook, given its stem or any path to it."""
    return project_dir() / "notebooks" / f"{Path(stem).name.removesuffix('.ipynb')}.ipynb"


def read_present(path: Path) -> str:
    """Return a file's text as it is on disk; "" if it does not exist."""
    return path.read_text() if path.exists() else ""


def read_committed(path: Path) -> str:
    """Return a file's text as it is in git, staged or committed.

    If git is not installed or does not know the file, return the text on disk.
    """
    show = ["git", "show", f":./{path.name}"]
    try:
        found = subprocess.run(show, cwd=path.parent, capture_output=True)
    except OSError:  # no git, or no such folder
        return read_present(path)
    return read_present(path) if found.returncode else found.stdout.decode()


def read_parameters(stem: str, text: Callable[[Path], str] = read_present) -> dict[str, Parameter]:
    """Return the parameters in a notebook's parameters cells, by name; an empty dictionary if there is no notebook.

    Raises:
        ValueError: a value that is not a literal.
    """
    cells = json.loads(text(notebook_path(stem)) or '{"cells": []}')["cells"]
    found = {}
    for cell in cells:
        if TAGS & {*cell["metadata"].get("tags", [])}:
            for name, kind, value in _assignments("".join(cell["source"])):
                try:
                    literal = ast.literal_eval(value)
                except ValueError:
                    raise ValueError(
                        f"{stem}: parameter {name!r} must be a literal, got {ast.unparse(value)}"
                    ) from None
                found[name] = Parameter(_kind(kind), kind, literal)
    return found


def _assignments(source: str) -> list[tuple[str, str, ast.expr]]:
    """Return name, type ("None" without one) and value of each assignment of a cell to a name.

    A cell that is not plain Python has no assignments.
    """
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
    """Return `value` as type `kind`: an int is accepted for a float, no other type is converted.

    Raises:
        ValueError: it is of another type; the message starts with `name`.
    """
    outer, inner = get_origin(kind) or kind, get_args(kind)
    # TOML and Python users write 1 for 1.0.
    if outer is float and type(value) is int:
        return float(value)
    if type(value) is not outer:
        raise ValueError(
            f"{name} must be of type {getattr(kind, '__name__', kind)}, got {value!r} of type {type(value).__name__}"
        )
    if outer is list and inner:
        return [convert(item, inner[0], f"{name}[{i}]") for i, item in enumerate(value)]
    if outer is dict and inner:
        return {key: convert(item, inner[1], f"{name}.{key}") for key, item in value.items()}
    return value


def convert_all(stem: str, values: dict) -> dict:
    """Return `values` with the types that the notebook's parameters cell declares.

    papermill itself only warns about an unknown parameter, and checks no types.

    Raises:
        ValueError: the cell lacks a parameter, declares no type for it, or declares another type.
    """
    known, result = read_parameters(stem), {}
    for name, value in values.items():
        if name not in known:
            raise ValueError(
                f"{stem}: the parameter must be one of its parameters cell ({', '.join(known) or 'none'}), got {name!r}"
            )
        kind, text, _ = known[name]
        if kind is None:
            raise ValueError(
                f"{stem}: parameter {name!r} must have a type annotation of {', '.join(KINDS)}, list[int], ..., got {text}"
            )
        result[name] = convert(value, kind, f"{stem}: parameter {name!r}")
    return result


def changed_values(section: dict, profile: str) -> dict:
    """Return the parameters that a profile changes, from a notebook's section of profiles.toml.

    The replication has the values of the paper profile, except the seed. Its own table takes precedence.
    """
    if profile != "replication":
        return section.get(profile, {})
    paper = section.get("paper", {})
    seed = {"seed": paper["seed"] + FRESH} if "seed" in paper else {}
    return paper | seed | section.get(profile, {})


def profile_values(stem: str, profile: str, text: Callable[[Path], str] = read_present) -> dict:
    """Return the parameters of a profile that decide its results: the values in the cell, as changed by profiles.toml."""
    cell = {name: line.value for name, line in read_parameters(stem, text).items()}
    sections = tomllib.loads(text(notebook_path(stem).parent / "profiles.toml"))
    cell |= changed_values(sections.get(stem, {}), profile)
    return {name: value for name, value in cell.items() if name not in FREE}


def differences(stem: str, profile: str, given: dict) -> str:
    """Return how `given` differs from the declared parameters of a profile, as text; "" if it does not differ.

    For example, "horizon 60, declared 10000".
    """
    if not read_committed(notebook_path(stem)):
        return f"there is no notebook {stem} to compare with"
    apart = [
        f"{name} {given.get(name, 'not there')}, declared {value}"
        for name, value in profile_values(stem, profile, read_committed).items()
        # Compare plain types only, because == of an array is not a bool.
        if not (name in given and type(given[name]) in PLAIN and given[name] == value)
    ]
    return "; ".join(apart)


def output_place(stem: str, profile: str) -> str:
    """Return the profile that the workflow's run of a notebook belongs to, or "custom"."""
    return CUSTOM if differences(stem, profile, profile_values(stem, profile)) else profile


def resolve_profile(stem: str, names: dict[str, Any]) -> str:
    """Return the profile that a notebook's figures and verdicts belong to.

    It is the profile of the run, or "custom" with other parameters. Every notebook calls this function after its parameters are
    set and before anything is computed. A custom run prints a note. In a kernel the profile is determined again after each
    cell, because the parameters cell may be changed and run once more.

    Args:
        stem: the notebook's name.
        names: its ``globals()``.

    Raises:
        ValueError: an unknown profile, a parameter of another type, or a parameter that was passed to papermill and that
            the notebook does not have.
    """
    asked, known = names.get("profile"), read_parameters(stem)
    history = names.get("In") or []  # the kernel's cells so far, the current one last
    # papermill's injected cell directly precedes the current cell; its parameters must be ones of
    # the notebook.
    if len(history) > 1 and history[-2].startswith(INJECTED):
        typed = (source for source in history[:-2] if not source.startswith(INJECTED))
        own = {name for source in typed for name, *_ in _assignments(source)} | known.keys()
        for name, *_ in _assignments(history[-2]):
            if name not in own:
                listed = ", ".join(known or sorted(own))
                raise ValueError(
                    f"the parameters of {stem} must be {listed}, got {name}={names[name]!r}"
                )
    if asked not in (*PROFILES, CUSTOM):
        raise ValueError(f"profile must be one of {', '.join(map(repr, PROFILES))}, got {asked!r}")
    for name, line in known.items():
        if name in names and line.kind:
            convert(names[name], line.kind, name)
    if "get_ipython" in names and stem not in _watched:
        _watched.add(stem)
        again = lambda *_: names.update(
            profile=_profile_or_custom(stem, names.get("profile"), names)
        )
        names["get_ipython"]().events.register("post_run_cell", again)
    return _profile_or_custom(stem, asked, names)


_watched: set[str] = set()  # notebooks that run in this kernel, each registered once


def _profile_or_custom(stem: str, asked: Any, names: dict[str, Any]) -> Any:
    """Return `asked`, or "custom" after printing how the parameters differ."""
    apart = differences(stem, asked, names) if asked in PROFILES else ""
    if apart:
        print(
            f"Custom run, not the {asked} profile ({apart}). Figures and verdicts, if this notebook saves any, go to {figures_dir() / CUSTOM}"
        )
    return CUSTOM if apart else asked
