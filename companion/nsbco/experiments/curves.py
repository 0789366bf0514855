"""Panels of the figures of regret: values along T, V_T or kappa on log axes, bands across, and rows of dots."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from paperlib import stats

from ...figures.charts import SMALL
from ...figures.drawing import END, look, style
from ...styles import COLORS

GUIDES = {"1/2": 0.5, "2/3": 2 / 3}  # exponents by their names


def power(T: float) -> str:
    """A horizon as a tick says it: 2^12."""
    return f"$2^{{{round(math.log2(T))}}}$"


def ticks(ax: Axes, settings: Sequence[float], say: Callable[[float], str]) -> None:
    """Ticks at these settings alone, in words."""
    ax.xaxis.set_major_locator(FixedLocator(list(settings)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: say(x)))
    ax.xaxis.set_minor_locator(NullLocator())


def along(
    ax: Axes,
    samples: dict[str, dict[float, Any]],
    *,
    title: str = "",
    xlabel: str = "$T$",
    ylabel: str = "",
    say: Callable[[float], str] = power,
    every: int = 1,
    nothing: Callable[[float], float] | None = None,
    labels: dict[str, str] | None = None,
) -> dict[str, dict]:
    """Means with 95 % t-intervals along a setting, both axes logarithmic.

    Args:
        samples: name -> setting > 0 -> sample over trials.
        say: what a tick of the setting says.
        every: which settings have a tick, counted from the last.
        nothing: setting -> the value of the static baseline, a thin line.
        labels: name -> what the legend says in place of the learner's label.

    Returns:
        The plotted numbers: name -> setting, mean, low, high, n.
    """
    numbers: dict[str, Any] = {}
    settings = sorted({x for sample in samples.values() for x in sample})
    with style():
        for name, sample in samples.items():
            at = sorted(sample)
            found = [stats.mean(sample[x]) for x in at]
            middle = np.array([x.estimate for x in found])
            low, high = (np.array([getattr(x, end) for x in found]) for end in ("low", "high"))
            # what reaches below zero reaches to the foot of a log axis
            ends = [middle - np.maximum(low, 1e-9), high - middle]
            how = look(name)
            how["label"] = (labels or {}).get(name, how["label"])
            ax.errorbar(at, middle, ends, elinewidth=0.6, capsize=1.2, **how)
            n = [x.n for x in found]
            numbers[name] = {"setting": at, "mean": middle, "low": low, "high": high, "n": n}
        means = [x for found in numbers.values() for x in found["mean"]]
        if nothing is not None:
            values = [nothing(x) for x in settings]
            ax.plot(settings, values, **look("static baseline"))
            numbers["static baseline"] = {"setting": settings, "mean": values}
            means += values
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log", yscale="log")
        reach(ax, means)
        ticks(ax, settings[::-1][::every], say)
        ax.margins(x=0.04)
    return numbers


def guides(ax: Axes, exponents: dict[str, float] = GUIDES, letter: str = "T") -> None:
    """How steep lines of these exponents are: dashes from the foot of the panel to its right edge, named there."""
    with style():
        left, right = ax.get_xlim()
        foot, top = ax.get_ylim()
        begin = left * (right / left) ** 0.55
        for name, exponent in exponents.items():
            end = foot * (right / begin) ** exponent
            dashes = {"linewidth": 0.6, "linestyle": (0, (5, 3)), "zorder": 0.5}
            ax.plot([begin, right], [foot, end], color=COLORS["gray"], **dashes)
            where = {"ha": "left", "va": "center", "annotation_clip": False, "gid": END}
            words = f"${letter}^{{{name}}}$"
            ax.annotate(words, (right, end), (4, 0), color=COLORS["gray"], **where, **SMALL)
        ax.set(xlim=(left, right), ylim=(foot, top))


def bands(ax: Axes, samples: dict[str, Any]) -> dict[str, Any]:
    """Learners that have no such setting as lines across the panel, with their 95 % t-intervals.

    Returns:
        The plotted numbers: name -> interval.
    """
    numbers = {}
    with style():
        for name, sample in samples.items():
            found = numbers[name] = stats.mean(sample)
            line = {**look(name), "marker": None}
            ax.axhline(found.estimate, **line)
            if found.low > 0:
                shade = {"color": line["color"], "alpha": 0.15, "linewidth": 0, "zorder": 0.8}
                ax.axhspan(found.low, found.high, **shade)
    return numbers


def reach(ax: Axes, numbers: Sequence[float], across: bool = False) -> None:
    """A log axis upward, or ``across``, that holds these numbers, with ticks that say them."""
    low, high = 0.65 * min(numbers), 1.4 * max(numbers)
    subs = (1.0, 2.0, 5.0) if high < 50 * low else (1.0,)
    axis = ax.xaxis if across else ax.yaxis
    with style():
        (ax.set_xlim if across else ax.set_ylim)(low, high)
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.set_minor_formatter(NullFormatter())


def marked(name: str) -> dict[str, Any]:
    """How a learner looks as a single point: open where it is an oracle, a cross where it has no marker."""
    how = look(name)
    found = {k: how[k] for k in ("color", "label", "zorder")}
    found |= {"marker": how["marker"] or "x", "linestyle": "none", "markersize": 4.5}
    return found | ({"markerfacecolor": "white"} if "oracle" in name else {})


def named(name: str) -> str:
    """A learner's label where nothing stands above it that it could be "the same" as."""
    return look(name)["label"].replace("the same", "discounted")


def points(
    ax: Axes,
    pairs: dict[str, tuple[Any, Any]],
    *,
    notes: Mapping[str, str] | None = None,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
) -> dict[str, dict]:
    """One point a learner, means with 95 % t-intervals both ways, on log axes; gray, where both are equal.

    Args:
        pairs: name -> sample along x, sample along y.
        notes: words beside the points of these learners, whose looks are much alike.

    Returns:
        The plotted numbers: name -> intervals x and y.
    """
    numbers = {}
    with style():
        for name, sample in pairs.items():
            x, y = (stats.mean(values) for values in sample)
            ends = [[[v.estimate - max(v.low, 1e-9)], [v.high - v.estimate]] for v in (y, x)]
            ax.errorbar(
                x.estimate,
                y.estimate,
                *ends,
                elinewidth=0.8,
                **marked(name) | {"label": named(name)},
            )
            numbers[name] = {"x": x, "y": y}
            if notes and name in notes:
                at = (x.estimate, y.estimate)
                ax.annotate(notes[name], at, (5, -7), textcoords="offset points", fontsize=6)
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log", yscale="log")
        means = {side: [found[side].estimate for found in numbers.values()] for side in "xy"}
        reach(ax, means["x"], across=True)
        reach(ax, means["y"])
        ends, both = (ax.get_xlim(), ax.get_ylim()), means["x"] + means["y"]
        equal = [min(both) / 2, max(both) * 2]
        ax.plot(equal, equal, color=COLORS["gray"], linewidth=0.6, zorder=0.5)
        ax.set(xlim=ends[0], ylim=ends[1])
    return numbers


def rows(
    ax: Axes,
    samples: dict[str, Any],
    *,
    title: str = "",
    xlabel: str = "",
    limits: tuple[float, float],
    line: str = "static baseline",
) -> dict[str, Any]:
    """A row a learner, from the top: its mean with a 95 % t-interval on a log axis, as a dot of its look.

    Args:
        limits: of the axis; a triangle at the edge lies beyond.
        line: whose mean is drawn across all rows.

    Returns:
        The plotted numbers: name -> interval.
    """
    numbers = {}
    with style():
        for i, (name, sample) in enumerate(samples.items()):
            found = numbers[name] = stats.mean(sample)
            dot = marked(name) | {"zorder": 3, "label": None}
            at = min(max(found.estimate, limits[0]), limits[1])
            if at != found.estimate:
                dot["marker"] = ">" if at < found.estimate else "<"
            ax.plot([at], [i], clip_on=False, **dot)
            ends = [max(found.low, limits[0]), min(found.high, limits[1])]
            ax.plot(ends, [i, i], color=dot["color"], linewidth=1.0)
        if line in numbers:
            dots = {"linewidth": 0.7, "linestyle": (0, (1, 2)), "zorder": 1}
            ax.axvline(numbers[line].estimate, color=COLORS["black"], **dots)
        if "MASTER" in samples:
            at = list(samples).index("MASTER") - 0.5
            shade = Rectangle((0, at), 1, 1, transform=ax.get_yaxis_transform(), zorder=0)
            shade.set(facecolor=COLORS["vermilion"], alpha=0.1, linewidth=0)
            ax.add_patch(shade)
        ax.set(title=title, xlabel=xlabel, xscale="log", xlim=limits)
        ax.set_ylim(len(samples) - 0.4, -0.6)
        ax.set_yticks(range(len(samples)), [look(name)["label"] for name in samples])
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_minor_formatter(NullFormatter())
    return numbers
