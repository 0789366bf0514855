"""The numbers that a paper prints, shown next to the numbers that we measured.

A paper declares them in ``<paper>/reported.py`` (a tuple ``REPORTED``). Our numbers are not typed there. They are filled in
from the claims and from the JSON files of the figures, so that they change with the results.
"""

import json
import re
from typing import Any, NamedTuple

import jinja2

from paperlib.core.text import format_number

from .output import profile_dir
from .papers import paper_module
from .verdicts import list_recorded, list_verdicts, short_id

NOTHING = "–"
EXPRESSION = re.compile(r"\{([^{}]+)\}")
# The lists that a curve may store; "final" is the last element of the first one that a curve has.
CURVES = ("mean", "value", "milliseconds", "estimate")
AXES = ("rounds", "setting", "T")  # the lists of positions that a curve may store


class Reported(NamedTuple):
    """A number printed in a paper, with the place of our number.

    In ``here``, braces contain an expression of Jinja, and all other text is shown as it is. The expression may use:

    - the entries of the figure's JSON file: "{parameters.horizon}" and "{numbers['regret S=3'].GLOC.mean[0]}";
    - ``figure``, the JSON file of another figure of the paper: "{figure('figure_1').parameters.horizon}";
    - ``claim``, the statistic of a claim: "{claim('C11.slsqp')}", and "{claim('C14')[0]}" for the first of several numbers;
    - ``verdicts``, the verdicts by claim: "{verdicts['C1a'].reason}";
    - the filters ``final``, the last value of a curve or of a list, ``at(0.1)``, its value at this position of the horizontal axis,
      and ``percent``: "{claim('C3') | percent}". A filter comes before a division:
      "{numbers['regret S=3'].GLOC | final / numbers['regret S=3']['GLB-OMD'] | final}".

    If we have no number, ``here`` gives the reason: "not measured: ...".
    """

    figure: str  # name of our figure, "figure_1"; "" for the paper as a whole
    quantity: str  # what the number is, with setting and unit
    paper: str  # the paper's value as text, with its precision
    place: str  # where it is printed, "Table 1"
    here: str  # our value, with expressions in braces
    read_off: bool = False  # the value was read off a curve


def declared(paper: str) -> tuple[Reported, ...]:
    """Return the numbers that a paper declares; an empty tuple if it has no module ``reported``."""
    return tuple(getattr(paper_module(paper, "reported"), "REPORTED", ()))


def rows(paper: str, figure: str, profile: str = "paper") -> list[dict[str, str]]:
    """Return the rows of one figure, with quantity, paper, place and here as text.

    Numbers of claims are the recorded ones in all profiles, as on the pages. Numbers of figures are those of ``profile``. Outside
    of the paper profile, a number that the run does not have is shown as a dash, because small runs have fewer settings.

    Raises:
        ValueError: an expression that is not a number in the paper profile.
    """
    # A run at other sizes decides no claim, so its numbers are not shown.
    found = list_verdicts(profile, paper) if profile == "paper" else list_recorded(paper)
    verdicts = {short_id(verdict.id): verdict for verdict in found}

    def claim(id: str) -> Any:
        ran = verdicts[id].verdict != "not run"
        return verdicts[id].statistic if ran else NOTHING

    def read(name: str) -> dict:
        path = profile_dir(profile) / paper / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else {}

    names = read(figure) | {"figure": read, "claim": claim, "verdicts": verdicts}
    return [
        {
            "quantity": row.quantity,
            "paper": row.paper + " (read off)" * row.read_off,
            "place": row.place,
            "here": fill(row, names, strict=profile == "paper"),
        }
        for row in declared(paper)
        if row.figure == figure
    ]


def fill(row: Reported, names: dict[str, Any], strict: bool) -> str:
    """Return the text of a row's ``here`` with its numbers; if not ``strict``, a dash replaces an unknown number."""

    def shown(match: re.Match) -> str:
        evaluate = ENVIRONMENT.compile_expression(match[1], undefined_to_none=False)
        try:
            value = evaluate(names)
            return ", ".join(map(format_number, value if isinstance(value, list) else [value]))
        except (jinja2.UndefinedError, LookupError, TypeError) as error:
            if not strict:
                return NOTHING
            raise ValueError(
                f"row {row.quantity!r} ({row.figure or 'the paper as a whole'}): {match[0]} must be a number, got {error!r}"
            ) from None

    return EXPRESSION.sub(shown, row.here)


def final(curve: dict | list[float]) -> float:
    """Return the last value of a curve or of a list."""
    return (curve if isinstance(curve, list) else _values(curve, CURVES))[-1]


def at(curve: dict, position: float) -> float:
    """Return the value of a curve at a position of its horizontal axis."""
    return dict(zip(_values(curve, AXES), _values(curve, CURVES)))[position]


def _values(curve: dict, names: tuple[str, ...]) -> list[float]:
    found = [curve[name] for name in names if isinstance(curve.get(name), list)]
    return found[0]


def percent(value: float | str) -> str:
    """Return a number in percent as text."""
    return value if value == NOTHING else f"{format_number(100 * value)} %"


ENVIRONMENT = jinja2.Environment(undefined=jinja2.StrictUndefined)
ENVIRONMENT.filters |= {"final": final, "at": at, "percent": percent}
