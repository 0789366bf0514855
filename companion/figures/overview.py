"""All papers at a glance: a panel of curves each, and how their claims came out."""

import json
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..output import folder
from ..papers import papers, room
from ..styles import COLORS, Cover
from .drawing import looks, panels, style

SHADES = {
    "holds": COLORS["green"],
    "inconclusive": COLORS["orange"],
    "fails": COLORS["vermilion"],
    "reported": "#c8c8c8",
    "not run": "#eeeeee",
}


def overview(profile: str, counts: dict[str, dict[str, int]]) -> tuple[Figure, dict[str, Any]]:
    """The covers that papers declare in ``styles``, as far as their figures are there, and bars of verdicts.

    Args:
        profile: whose figures.
        counts: paper -> verdict -> how many tests.

    Returns:
        The figure, and its numbers: paper -> figure, trials, curves and their last values; "tests of claims" -> counts.
    """
    known = {name: found for name in papers() if (found := _cover(name, profile))}
    fig, axes = panels(-(-(len(known) + 1) // 2), 2, height=1.75)
    spots = iter(axes.flat)
    for name, found in known.items():
        _curves(next(spots), name, room(name, "styles").COVER, found["curves"])
    _bars(next(spots), counts)
    for ax in spots:
        ax.set_axis_off()
    return fig, {**known, "tests of claims": counts}


def _cover(paper: str, profile: str) -> dict[str, Any] | None:
    """What a paper's cover shows, None where it has none or its figure is not there."""
    cover = getattr(room(paper, "styles"), "COVER", None)
    path = folder(profile) / paper / f"{cover.figure}.json" if cover else None
    if path is None or not path.exists():
        return None
    about = json.loads(path.read_text())
    found = about["numbers"]
    for key in cover.panel.split("/"):
        found = found.get(key, {})
    curves = {name: _line(found[name]) for name in cover.names if name in found}
    ends = {name: line["mean"][-1] for name, line in curves.items()}
    about = {"figure": cover.figure, "trials": about["trials"]}
    return {**about, "curves": curves, "ends": ends} if curves else None


def _line(curve: dict) -> dict[str, list]:
    """A panel's curve under the names of ``regret_panel``: others have settings and estimates."""
    x = curve.get("rounds") or curve["setting"]
    y = curve.get("mean") or curve["estimate"]
    return {"rounds": x, "mean": y, "low": curve["low"], "high": curve["high"]}


def _curves(ax: Axes, paper: str, cover: Cover, curves: dict[str, dict]) -> None:
    how = looks(curves)
    with style():
        for i, (name, curve) in enumerate(curves.items()):
            # the later in front: a control beneath a wide line would not be seen
            line, x = {**how[name], "marker": None, "zorder": 2 + i}, curve["rounds"]
            ax.plot(x, curve["mean"], **line)
            ax.fill_between(x, curve["low"], curve["high"], color=line["color"], alpha=0.2, lw=0)
        if cover.log:
            ax.set(xscale="log", yscale="log")
        else:
            ax.set_ylim(bottom=0)
        ax.margins(x=0)
        ax.set_title(f"{paper}: {cover.title}", fontsize=7)
        ax.set_xlabel(cover.xlabel, fontsize=7)
        ax.set_ylabel(cover.ylabel, fontsize=7)
        ax.tick_params(labelsize=6)
        ax.legend(fontsize=5.5, loc="best", handlelength=1.6, labelspacing=0.25)


def _bars(ax: Axes, counts: dict[str, dict[str, int]]) -> None:
    names = [*counts][::-1]
    left = np.zeros(len(names))
    with style():
        for verdict, color in SHADES.items():
            n = np.array([counts[name].get(verdict, 0) for name in names])
            if n.any():
                ax.barh(names, n, left=left, color=color, label=verdict, height=0.7)
                left += n
        ax.set_title("what became of claims", fontsize=7)
        ax.tick_params(labelsize=6)
        ax.grid(visible=False, axis="y")
        most = max(sum(n.values()) for n in counts.values())
        ax.set_xlim(0, 1.3 * most)  # room for the legend
        ax.set_xlabel("claims", fontsize=7)
        ax.legend(fontsize=5.5, loc="center right", handlelength=1, labelspacing=0.25)
