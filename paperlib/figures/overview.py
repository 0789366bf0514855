"""All papers at a glance: a panel of curves each, and how their claims came out."""

import json
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawing import looks, panels, style
from ..output import folder
from ..papers import papers, room
from ..styles import COLORS, Cover

SHADES = {
    "holds": COLORS["green"],
    "inconclusive": COLORS["orange"],
    "fails": COLORS["vermilion"],
    "reported": "#c8c8c8",
    "not run": "#eeeeee",
}


def overview(profile: str, counts: dict[str, dict[str, int]]) -> tuple[Figure, dict[str, Any]]:
    """The covers that papers declare in ``cases``, as far as their figures are there, and bars of verdicts.

    Args:
        profile: whose figures.
        counts: paper -> verdict -> how many tests.

    Returns:
        The figure, and its numbers: paper -> the curves drawn.
    """
    covers = {name: getattr(room(name, "cases"), "COVER", None) for name in papers()}
    known = {}
    for name, cover in covers.items():
        path = folder(profile) / name / f"{cover.figure}.json" if cover else None
        if path and path.exists():
            found = json.loads(path.read_text())["numbers"].get(cover.panel)
            if found:
                known[name] = {x: found[x] for x in cover.names if x in found}
    columns = -(-(len(known) + 1) // 2)
    fig, axes = panels(columns, 2, height=1.75)
    spots = iter(axes.flat)
    for name, curves in known.items():
        _curves(next(spots), name, covers[name], curves)
    _bars(next(spots), counts)
    for ax in spots:
        ax.set_axis_off()
    return fig, {**known, "counts": counts}


def _curves(ax: Axes, paper: str, cover: Cover, curves: dict[str, dict]) -> None:
    how = looks(curves)
    with style():
        for name, curve in curves.items():
            x = curve.get("rounds") or curve["setting"]
            y = curve.get("mean") or curve["estimate"]
            line = {**how[name], "marker": None}
            ax.plot(x, y, **line)
            ax.fill_between(x, curve["low"], curve["high"], color=line["color"], alpha=0.2, lw=0)
        if cover.log:
            ax.set(xscale="log", yscale="log")
        else:
            ax.set_ylim(bottom=0)
        ax.margins(x=0)
        ax.set_title(f"{paper}: {cover.title}", fontsize=7)
        ax.set_ylabel(cover.ylabel, fontsize=7)
        ax.tick_params(labelsize=6)
        ax.legend(fontsize=5.5, loc="upper left", handlelength=1.6, labelspacing=0.25)


def _bars(ax: Axes, counts: dict[str, dict[str, int]]) -> None:
    names = [*counts][::-1]
    left = np.zeros(len(names))
    with style():
        for verdict, color in SHADES.items():
            n = np.array([counts[name].get(verdict, 0) for name in names])
            if n.any():
                ax.barh(names, n, left=left, color=color, label=verdict, height=0.7)
                left += n
        ax.set_title("tests of claims", fontsize=7)
        ax.tick_params(labelsize=6)
        ax.grid(visible=False, axis="y")
        ax.legend(fontsize=5.5, ncols=1, loc="lower right", handlelength=1, labelspacing=0.25)
