"""Further kinds of panels: values along a setting, one quantity against another, rows of dots, bounds over runs; and reference lines."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from paperlib import stats
from paperlib.core.trace import Trace

from ..styles import COLORS, Style
from .drawing import QUARTILES, look, looks, style

# a name on a line, some points off
SMALL = {"textcoords": "offset points", "fontsize": 6.5, "zorder": 9}


def sweep_panel(
    ax: Axes,
    samples: dict[str, dict[float, Any]],
    controls: dict[str, Any],
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "regret",
) -> dict[str, dict]:
    """Means with 95 % t-intervals along a setting on a log axis; controls, which have no such setting, as lines across.

    Args:
        samples: name -> setting >= 0 -> sample over trials; 0 stands at the left edge.
        controls: name -> sample over trials.

    Returns:
        The plotted numbers: name -> setting, mean, low, high, n; for controls name -> interval.
    """
    every = sorted({setting for sample in samples.values() for setting in sample})
    least = min(setting for setting in every if setting > 0)
    numbers: dict[str, Any] = {}
    how = looks([*controls, *samples])
    with style():
        for name, sample in controls.items():
            found = numbers[name] = stats.mean(sample)
            line = {**how[name], "marker": None, "linewidth": 0.8, "zorder": 1}
            ax.plot([least / 3, max(every)], [found.estimate] * 2, **{**line, "label": None})
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2}
            words = {**SMALL, "color": COLORS["gray"], "bbox": box}
            ax.annotate(line["label"], (least / 3, found.estimate), (2, 2), **words)
        for name, sample in samples.items():
            settings = sorted(sample)
            found = [stats.mean(sample[setting]) for setting in settings]
            middle = np.array([x.estimate for x in found])
            ends = np.abs(np.array([(x.low, x.high) for x in found]).T - middle)
            at = [setting or least / 3 for setting in settings]
            ax.errorbar(at, middle, ends, elinewidth=0.6, capsize=1.5, **how[name])
            numbers[name] = {
                "setting": settings,
                "mean": middle,
                "low": middle - ends[0],
                "high": middle + ends[1],
                "n": [x.n for x in found],
            }
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log")
        above = [setting for setting in every if setting > 0]
        labels = ["0", *(f"{setting:g}" for setting in above)]
        ax.set_xticks([least / 3, *above], labels=labels, rotation=45)
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return numbers


def scatter_panel(
    ax: Axes,
    pairs: dict[str, tuple[Any, Any]],
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
) -> dict[str, dict]:
    """One point a learner, x on a log axis where it spans a decade: medians with quartiles across, means with 95 % t-intervals upward.

    Args:
        pairs: name -> sample along x (positive), sample along y.

    Returns:
        The plotted numbers: name -> quartiles of x, interval of y.
    """
    numbers, all_looks = {}, looks(pairs)
    with style():
        for name, (x, y) in pairs.items():
            low, middle, high = np.quantile(np.asarray(x, float), QUARTILES)
            found = stats.mean(y)
            how = {**all_looks[name], "linestyle": "none", "linewidth": 0.8, "markersize": 5}
            up = [[found.estimate - found.low], [found.high - found.estimate]]
            across = [[middle - low], [high - middle]]
            ax.errorbar(middle, found.estimate, up, across, **how)
            numbers[name] = {"x": [low, middle, high], "y": found}
        middles = [found["x"][1] for found in numbers.values()]
        decades = max(middles) > 10 * min(middles)
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log" if decades else "linear")
        ax.margins(x=0.1)
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_ylim(bottom=0)
        if not decades:
            ax.set_xlim(left=0)
    return numbers


def dots_panel(
    ax: Axes,
    found: dict[str, dict[str, tuple[float, float, float]]],
    looks: dict[str, Style],
    *,
    title: str = "",
    xlabel: str = "",
    line: float | None = None,
    log_x: bool = False,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> dict[str, dict]:
    """Rows from the top, in each a dot with its interval for every group that has one; triangles at the edge lie beyond ``limits``.

    Args:
        found: group -> row -> estimate, low, high; rows come in the order in which they first appear.
        looks: group -> how its dots look.
        line: a threshold, drawn across.
        limits: of the x axis; infinite: as the dots need.

    Returns:
        The plotted numbers: group -> row -> estimate, low, high.
    """
    rows = list(dict.fromkeys(row for group in found.values() for row in group))
    with style():
        for name, values in found.items():
            how = looks[name]
            color = COLORS[how.color]
            dot = {"color": color, "linestyle": "none", "markersize": 4}
            ax.plot([], [], marker=how.marker, label=how.label or name, **dot)
            for row, (estimate, low, high) in values.items():
                beside = [group for group in found if row in found[group]]
                y = rows.index(row) + 0.8 * ((beside.index(name) + 0.5) / len(beside) - 0.5)
                at = min(max(estimate, limits[0]), limits[1])
                marker = how.marker if at == estimate else ">" if at < estimate else "<"
                if at == estimate:
                    ax.plot([low, high], [y, y], color=color, linewidth=1.0)
                ax.plot([at], [y], marker=marker, clip_on=False, zorder=3, **dot)
        if line is not None:
            ax.axvline(line, color=COLORS["black"], linewidth=0.8, zorder=1)
        ax.set(title=title, xlabel=xlabel, xscale="log" if log_x else "linear")
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(*(end if math.isfinite(end) else None for end in limits))
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(axis="y", length=0)
    return {
        group: {row: dict(zip(("estimate", "low", "high"), value)) for row, value in values.items()}
        for group, values in found.items()
    }


def bound_panel(
    ax: Axes,
    name: str,
    trace: Trace,
    bounds: dict[str, Callable[[float], float]],
    trivial: Callable[[float], float],
    until: float,
    *,
    title: str = "",
) -> dict[str, dict]:
    """Measured regret under its bounds and under the trivial one, on log axes that reach on to where no run goes.

    Args:
        name: the learner's, which says how its line looks.
        trace: with "regret", R x T'.
        bounds: label -> horizon -> bound; at most three.
        trivial: horizon -> what any rule suffers at most.
        until: last horizon of the bounds.

    Returns:
        The plotted numbers: measured mean, and each bound on a grid of horizons.
    """
    if len(bounds) > 3:
        raise ValueError(f"bounds: {len(bounds)} of them; allowed: at most 3")
    horizons = np.geomspace(trace.rounds[0], until, 121)
    band = stats.band(trace["regret"])
    numbers = {name: {"rounds": trace.rounds, "mean": band.estimate, "n": band.n}}
    with style():
        ax.plot(trace.rounds, band.estimate, **{**look(name), "marker": None})
        lines = [*zip(bounds.items(), ("-", "--", "-.")), (("largest possible", trivial), ":")]
        for (label, bound), linestyle in lines:
            values = np.array([bound(T) for T in horizons])
            color = COLORS["gray" if linestyle == ":" else "black"]
            ax.plot(horizons, values, color=color, linestyle=linestyle, label=label)
            numbers[label] = {"rounds": horizons, "value": values}
        ax.axvline(trace.rounds[-1], color=COLORS["gray"], linewidth=0.6, zorder=1)
        ax.set(title=title, xlabel="rounds", ylabel="regret", xscale="log", yscale="log")
        ax.margins(x=0)
    return numbers


def lines_across(
    ax: Axes,
    lines: dict[str, float],
    *,
    right: bool = False,
    below: bool = False,
    outside: bool = False,
) -> dict[str, float]:
    """Thin lines across a panel, behind its curves, each with its name on it (``below``: under it) at the left or (``right``) at the right edge.

    Args:
        lines: name -> height, in the panel's units.
        outside: the names stand beside the panel, at its right, where curves and bands would cover them.

    Returns:
        The plotted numbers, ``lines``.
    """
    with style():
        for name, height in lines.items():
            dots = {"linewidth": 0.7, "linestyle": (0, (1, 2)), "zorder": 1}
            ax.axhline(height, color=COLORS["black"], **dots)
            ax.annotate(
                name,
                (1 if right or outside else 0, height),
                (2, 0) if outside else (-2 if right else 2, -2 if below else 1.5),
                xycoords=("axes fraction", "data"),
                color=COLORS["black"],
                ha="right" if right and not outside else "left",
                va="center" if outside else "top" if below else "bottom",
                **SMALL,
            )
    return lines
