"""The numbers that a paper prints, shown next to the numbers that we measured.

A paper declares them in ``<paper>/reported.py`` (a tuple ``REPORTED``). Our numbers are not typed there. They are filled in
from the claims and from the JSON files of the figures, so that they change with the results.
"""

import json
import re
from typing import Any, NamedTuple

import numpy as np

from paperlib.core.text import format_number

from .output import profile_dir
from .papers import paper_module
from .verdicts import Verdict, list_recorded, list_verdicts, short_id

NOTHING = "–"
CLAIM = re.compile(r"([A-Z][\w.]*)(?:/(\d+))?(?::([a-z%]+))?")  # "C11.slsqp", "C14/0", "C3:%"
OVER = " ÷ "  # separates the paths of a ratio
# Unit of a printed number -> (factor, text after the number).
UNITS = {
    "%": (100, " %"),
    "ms": (1000, ""),
    "us": (1e6, ""),
    "min": (1 / 60, ""),
    "h": (1 / 3600, ""),
}
# The lists that a curve may store; "final" is the last element of the first one that a curve has.
CURVES = ("mean", "value", "milliseconds", "estimate")
AXES = ("rounds", "setting", "T")  # the lists of positions that a curve may store


class Reported(NamedTuple):
    """A number printed in a paper, with the place of our number.

    In ``here``, braces contain the place of a number, and all other text is shown as it is:

    - "{C11.slsqp}" is the statistic of a claim and "{C14/0}" the first of several numbers. "{C11:verdict}" is its verdict,
      "{C11:reason}" its remark;
    - "{figure_1:regret S=3/OFUGLB/final}" is a path in the numbers of a figure's JSON file. The last step may be "final", the
      last value of a curve, "at 0.1", its value at this position of the horizontal axis, or "count", the length of a list.
      An integer selects an element of a list, and the name of a statement the first of its checks. If the numbers have no
      such key, the path begins in the file itself, for example "{figure_1:parameters/horizon}" or
      "{coverage:checks/Theorem 1/ratio}". A figure in another folder is "{tour/controls:...}";
    - "{figure_1:regret S=3/GLOC/final ÷ regret S=3/GLB-OMD/final}" is a ratio of two paths;
    - a unit at the end multiplies a number: "{C3:%}" and "{figure_1:share:%}" show percent, "ms" shows seconds as milliseconds.

    If we have no number, ``here`` gives the reason: "not measured: ...".
    """

    figure: str  # name of our figure, "figure_1"; "" for the paper as a whole
    quantity: str  # what the number is, with setting and unit
    paper: str  # the paper's value as text, with its precision
    place: str  # where it is printed, "Table 1"
    here: str  # template for our value
    read_off: bool = False  # the value was read off a curve


def declared(paper: str) -> tuple[Reported, ...]:
    """Return the numbers that a paper declares; an empty tuple if it has no module ``reported``."""
    return tuple(getattr(paper_module(paper, "reported"), "REPORTED", ()))


def figures(paper: str) -> list[str]:
    """Return the names of the figures that have rows, in order; "" stands for the paper as a whole."""
    return [*dict.fromkeys(row.figure for row in declared(paper))]


def rows(paper: str, figure: str, profile: str = "paper") -> list[dict[str, str]]:
    """Return the rows of one figure, with quantity, paper, place and here as text.

    Numbers of claims are the recorded ones in all profiles, as on the pages. Numbers of figures are those of ``profile``. Outside
    of the paper profile, a number that the run does not have is shown as a dash, because small runs have fewer settings.

    Raises:
        ValueError: a claim or a path that does not exist in the paper profile.
    """
    own = [row for row in declared(paper) if row.figure == figure]
    numbers = Numbers(paper, profile)
    return [
        {
            "quantity": row.quantity,
            "paper": row.paper + " (read off)" * row.read_off,
            "place": row.place,
            "here": numbers.fill(row),
        }
        for row in own
    ]


class Numbers:
    """Numbers of one paper's results in one profile."""

    def __init__(self, paper: str, profile: str):
        self.paper, self.profile = paper, profile
        # A run at other sizes decides no claim, so its numbers are not shown.
        found = list_verdicts(profile, paper) if profile == "paper" else list_recorded(paper)
        self.claims = {short_id(verdict.id): verdict for verdict in found}
        self.files: dict[str, dict | None] = {}

    def fill(self, row: Reported) -> str:
        """Return the text of a row's ``here`` with its numbers."""

        def shown(match: re.Match) -> str:
            try:
                return self.number(match[1])
            except LookupError as error:
                raise ValueError(
                    f"row {row.quantity!r} of {self.paper} ({row.figure or 'the paper as a whole'}): {{{match[1]}}} must name a number, {error.args[0]}"
                ) from None

        return re.sub(r"\{([^{}]+)\}", shown, row.here)

    def number(self, place: str) -> str:
        """Return the number at a place as text.

        Raises:
            LookupError: there is no such number; its text says what there is.
        """
        if claim := CLAIM.fullmatch(place):
            return self.statistic(*claim.groups())
        figure, _, path = place.partition(":")
        path, _, unit = path.rpartition(":") if path.rpartition(":")[2] in UNITS else (path, "", "")
        about = self.file(figure)
        try:
            if about is None:
                raise LookupError(f"but figures/{self.folder(figure)}.json does not exist")
            values = [follow(about, part.strip()) for part in path.split(OVER)]
        except LookupError:
            if self.profile == "paper":
                raise
            return NOTHING
        return in_unit(values[0] / values[1] if len(values) == 2 else values[0], unit)

    def statistic(self, id: str, index: str | None, unit: str | None) -> str:
        """Return the statistic of a claim, one of its elements, or its verdict or remark if the unit names it."""
        if id not in self.claims:
            raise LookupError(f"but {self.paper} declares no claim {id}")
        verdict: Verdict = self.claims[id]
        if unit in ("verdict", "reason"):
            return getattr(verdict, unit) or NOTHING
        if verdict.verdict == "not run":
            return NOTHING
        if verdict.statistic is None:
            raise LookupError(f"but claim {id} has no statistic, because its parts decide it")
        values = np.atleast_1d(verdict.statistic).tolist()
        if index is not None and int(index) >= len(values):
            raise LookupError(f"but claim {id} has {len(values)} of them")
        chosen = values if index is None else [values[int(index)]]
        return ", ".join(in_unit(value, unit) for value in chosen)

    def folder(self, figure: str) -> str:
        """Return a figure's path in the folder of figures, without its suffix."""
        return figure if "/" in figure else f"{self.paper}/{figure}"

    def file(self, figure: str) -> dict | None:
        """Return the content of a figure's JSON file, or None if it does not exist in the profile."""
        if figure not in self.files:
            path = profile_dir(self.profile) / f"{self.folder(figure)}.json"
            self.files[figure] = json.loads(path.read_text()) if path.exists() else None
        return self.files[figure]


def in_unit(value: float | str, unit: str | None) -> str:
    """Return a number in a unit as text."""
    if not unit:
        return format_number(value)
    factor, text = UNITS[unit]
    return format_number(factor * value) + text


def follow(about: dict, path: str) -> float | str:
    """Return the number at a path of a figure's JSON file.

    Raises:
        LookupError: the path leads nowhere, or not to a number.
    """
    keys = path.split("/")
    value: Any = about.get("numbers") or {}
    if keys[0] not in value:
        value = about if keys[0] in about else value
    while keys:
        value, keys = step(value, keys, path)
    if isinstance(value, (dict, list)):
        raise LookupError(f"but {path!r} is not a number, it has {inside(value)}")
    return value


def step(value: Any, keys: list[str], path: str) -> tuple[Any, list[str]]:
    """Return the value one level deeper, and the keys that remain; a key of the file may itself contain slashes."""
    if isinstance(value, dict):
        for n in range(len(keys), 0, -1):
            if (key := "/".join(keys[:n])) in value:
                return value[key], keys[n:]
        if len(keys) == 1 and (found := of_curve(value, keys[0])) is not None:
            return found, []
    elif isinstance(value, list) and value:
        if keys[0] == "count":
            return len(value), keys[1:]
        if re.fullmatch(r"-?\d+|final", keys[0]):
            index = -1 if keys[0] == "final" else int(keys[0])
            if not -len(value) <= index < len(value):
                raise LookupError(f"but {path!r} selects element {index} of {len(value)}")
            return value[index], keys[1:]
        if found := [entry for entry in value if stated(entry) == keys[0]]:
            return found[0], keys[1:]
    raise LookupError(f"but {path!r} has no {keys[0]!r}, there is {inside(value)}")


def of_curve(curve: dict, key: str) -> float | None:
    """Return the last value of a curve for "final", or its value at a position for "at 0.1", or None if it lacks them."""
    values = next((curve[name] for name in CURVES if isinstance(curve.get(name), list)), [])
    if key == "final" and values:
        return values[-1]
    axis = next((curve[name] for name in AXES if isinstance(curve.get(name), list)), [])
    position = re.fullmatch(r"at (-?[\d.e+]+)", key)
    pairs = zip(axis, values) if position else ()
    return next((value for x, value in pairs if x == float(position[1])), None)


def stated(entry: Any) -> str | None:
    """Return the name of the statement that an entry of the list "checks" checks; None for other entries."""
    return entry.get("statement") if isinstance(entry, dict) else None


def inside(value: Any) -> str:
    """Return what a value of a JSON file contains, as a part of an error message."""
    if isinstance(value, dict):
        return ", ".join(map(repr, value)) or "nothing"
    if isinstance(value, list) and any(map(stated, value)):
        return ", ".join(repr(stated(entry)) for entry in value)
    return f"a list of {len(value)}" if isinstance(value, list) else repr(value)
