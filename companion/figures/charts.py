"""Further panels: values along a setting, scatter plots, rows of dots, bounds with runs; reference lines.

``draw_overview`` draws all papers in one figure.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from paperlib import stats
from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ..output import profile_dir
from ..papers import paper_module, papers
from ..styles import COLORS, Cover, Style
from .drawing import END, QUARTILES, Drawing, line_style, line_styles, panels, style_context

# Style of a name next to a line or a point, some points away from it.
SMALL = {"textcoords": "offset points", "fontsize": 6.5, "zorder": 9}


def power_label(T: float) -> str:
    """Return the tick label of a horizon, for example $2^{12}$."""
    return f"$2^{{{round(math.log2(T))}}}$"


def errorbars(ax: Axes, at: Sequence[float], found: Iterable[stats.Interval], **how: Any) -> None:
    """Draw estimates with their intervals; an interval that reaches below zero ends at the bottom of a log axis.

    Args:
        at: places on the x axis.
        found: the intervals, in the order of ``at``.
        how: keywords for ``ax.errorbar``.
    """
    middle, low, high = np.array([x[:3] for x in found]).T
    # A log axis has no place for numbers below 0, therefore the lower end is at least 1e-9.
    ends = [(middle - np.maximum(low, 1e-9)).clip(min=0), high - middle]
    ax.errorbar(at, middle, ends, **{"elinewidth": 0.6, "capsize": 1.5} | how)


def extend_log_axis(ax: Axes, numbers: Iterable[float], across: bool = False) -> None:
    """Make the y axis, or the x axis with ``across``, logarithmic and wide enough for these numbers, with readable ticks."""
    numbers = list(numbers)
    low, high = 0.65 * min(numbers), 1.4 * max(numbers)
    axis = ax.xaxis if across else ax.yaxis
    with style_context():
        (ax.set_xlim if across else ax.set_ylim)(low, high)
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def slope_guides(ax: Axes, exponents: dict[str, float], letter: str) -> None:
    """Draw dashed lines that show the slopes of these exponents, from the bottom of the panel to its right edge.

    Args:
        ax: the panel, with both axes logarithmic.
        exponents: text of the exponent in the line's label -> exponent.
        letter: base of the power in the label.
    """
    gray = {"color": COLORS["gray"]}
    with style_context():
        (left, right), (foot, top) = ax.get_xlim(), ax.get_ylim()
        begin = left * (right / left) ** 0.55
        for name, exponent in exponents.items():
            end = foot * (right / begin) ** exponent
            dashes = {"linewidth": 0.6, "linestyle": (0, (5, 3)), "zorder": 0.5}
            ax.plot([begin, right], [foot, end], **dashes, **gray)
            where = {"va": "center", "annotation_clip": False, "gid": END}
            ax.annotate(f"${letter}^{{{name}}}$", (right, end), (4, 0), **where, **SMALL, **gray)
        ax.set(xlim=(left, right), ylim=(foot, top))


def dot_style(name: str, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a single point: an open marker for an oracle, a cross for a learner without a marker."""
    found = {"color": how["color"], "marker": how["marker"] or "x", "linestyle": "none"}
    return found | ({"markerfacecolor": "white"} if "oracle" in name else {})


def _interval(sample: Any) -> stats.Interval:
    """Return a sample's mean with its t-interval; an interval is returned as it is."""
    return sample if isinstance(sample, stats.Interval) else stats.mean(sample)


def sweep_panel(
    ax: Axes,
    samples: dict[str, dict[float, Any]],
    controls: dict[str, Any],
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "regret",
    known: Mapping[str, Callable[[float], float]] | None = None,
    log_y: bool = False,
    tick: Callable[[float], str] = "{:g}".format,
    every: int = 1,
    labels: Mapping[str, str] | None = None,
) -> dict[str, dict]:
    """Draw means with 95 % t-intervals along a setting on a log axis.

    Controls, which do not have the setting, are horizontal lines with bands.

    Args:
        samples: name -> setting >= 0 -> sample over trials, or an interval; setting 0 is drawn at the left edge.
        controls: name -> sample over trials, or an interval.
        known: name -> setting -> an exactly known value, drawn as a line without an interval.
        log_y: whether the y axis is logarithmic too.
        tick: setting -> its tick label.
        every: label every ``every``-th setting, counted from the last one.
        labels: name -> label in the legend, instead of the learner's label.

    Returns:
        The plotted numbers: name -> setting, mean, low, high, n; for ``known`` name -> setting, mean; for controls name ->
        interval.
    """
    settings = sorted({setting for sample in samples.values() for setting in sample})
    # A log axis has no 0, therefore setting 0 is drawn at a third of the smallest positive setting.
    place = {x: x or next(above for above in settings if above > 0) / 3 for x in settings}
    numbers: dict[str, Any] = {}
    how = line_styles([*samples, *(known or {}), *controls])
    with style_context():
        for name, sample in samples.items():
            at = sorted(sample)
            found = [_interval(sample[x]) for x in at]
            line = how[name] | {"label": (labels or {}).get(name, how[name]["label"])}
            errorbars(ax, [place[x] for x in at], found, **line)
            mean, low, high, n = ([x[i] for x in found] for i in range(4))
            numbers[name] = {"setting": at, "mean": mean, "low": low, "high": high, "n": n}
        for name, value in (known or {}).items():
            numbers[name] = {"setting": settings, "mean": [value(x) for x in settings]}
            ax.plot([*place.values()], numbers[name]["mean"], **how[name])
        means = [x for found in numbers.values() for x in found["mean"]]
        line = lambda name: (how[name]["color"], how[name]["linestyle"])
        count = Counter(map(line, controls))
        for name, sample in controls.items():
            found = numbers[name] = _interval(sample)
            means.append(found.estimate)
            drawn = how[name] | {"marker": None}
            # Without markers some lines look the same and a legend cannot distinguish them, so the
            # lines are labelled.
            if count[line(name)] > 1:
                drawn |= {"label": None}
                box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2}
                words = {**SMALL, "color": drawn["color"], "bbox": box}
                left = (0, found.estimate)  # at the left edge of the panel, whatever its limits are
                ax.annotate(how[name]["label"], left, (2, 2), ax.get_yaxis_transform(), **words)
            ax.axhline(found.estimate, **drawn)
            # A band that reaches below zero cannot be drawn on a log axis.
            if found.low > 0:
                shade = {"color": how[name]["color"], "alpha": 0.15, "linewidth": 0, "zorder": 0.8}
                ax.axhspan(found.low, found.high, **shade)
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log")
        # The last setting always has a tick.
        shown = settings[(len(settings) - 1) % every :: every]
        ax.set_xticks([place[x] for x in shown], [tick(x) for x in shown])
        ax.minorticks_off()
        if log_y:
            ax.set_yscale("log")
            extend_log_axis(ax, means)
        else:
            ax.set_ylim(bottom=0)
    return numbers


def scatter_panel(
    ax: Axes,
    pairs: dict[str, tuple[Any, Any]],
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
) -> dict[str, dict]:
    """Draw one point per learner: means with 95 % t-intervals along y, medians with quartiles along x.

    The x axis is logarithmic if the medians span a decade.

    Args:
        pairs: name -> sample along x (positive), sample along y.

    Returns:
        The plotted numbers: name -> x: quartiles, y: interval.
    """
    numbers, all_looks = {}, line_styles(pairs)
    with style_context():
        for name, (x, y) in pairs.items():
            low, middle, high = across = np.quantile(np.asarray(x, float), QUARTILES)
            numbers[name] = {"x": across, "y": stats.mean(y)}
            how = dot_style(name, all_looks[name]) | {
                "linewidth": 0.8,
                "markersize": 4.5,
                "xerr": [[middle - max(low, 1e-9)], [high - middle]],
                "label": all_looks[name]["label"],
            }
            errorbars(ax, [middle], [numbers[name]["y"]], **how, capsize=0)
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
        middles = [found["x"][1] for found in numbers.values()]
        decades = max(middles) > 10 * min(middles)
        ax.set_xscale("log" if decades else "linear")
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
    """Draw rows from the top; each row has one dot with its interval for every group that contains the row.

    Triangles at the edge represent dots beyond ``limits``.

    Args:
        found: group -> row -> estimate, low, high; rows are in the order of their first occurrence.
        looks: group -> style of its dots.
        line: a threshold, drawn as a vertical line.
        limits: of the x axis; an infinite limit is chosen automatically.

    Returns:
        The plotted numbers: group -> row -> estimate, low, high.
    """
    rows = list(dict.fromkeys(row for group in found.values() for row in group))
    with style_context():
        for name, values in found.items():
            how = looks[name]
            color = COLORS[how.color]
            own = dot_style(name, {"color": color, "marker": how.marker}) | {"markersize": 4}
            ax.plot([], [], label=how.label or name, **own)
            for row, (estimate, low, high) in values.items():
                # Dots of several groups in one row are placed side by side within 0.8 of the row's
                # height.
                beside = [group for group in found if row in found[group]]
                y = rows.index(row) + 0.8 * ((beside.index(name) + 0.5) / len(beside) - 0.5)
                at = min(max(estimate, limits[0]), limits[1])
                beyond = {"marker": ">" if at < estimate else "<"} if at != estimate else {}
                if at == estimate:
                    ax.plot([low, high], [y, y], color=color, linewidth=1.0)
                ax.plot([at], [y], clip_on=False, zorder=3, **own | beyond)
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
    """Draw the measured regret with its bounds and the trivial bound, on log axes that extend beyond the last round.

    Args:
        name: the learner, which determines the line style.
        trace: with "regret", R x T'.
        bounds: label -> horizon -> bound; at most three.
        trivial: horizon -> the largest regret that any learner can have.
        until: last horizon of the bounds.

    Returns:
        The plotted numbers: measured mean, and each bound on a grid of horizons.
    """
    if len(bounds) > 3:
        raise ValueError(f"bounds must contain at most 3 bounds, got {len(bounds)}")
    horizons = np.geomspace(trace.rounds[0], until, 121)
    band = stats.band(trace["regret"])
    numbers = {name: {"rounds": trace.rounds, "mean": band.estimate, "n": band.n}}
    with style_context():
        ax.plot(trace.rounds, band.estimate, **{**line_style(name), "marker": None})
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
    """Draw thin horizontal lines across a panel, behind its curves, each with its name.

    Args:
        lines: name -> height, in the panel's units.
        right: write the names at the right edge instead of the left edge.
        below: write the names under the lines instead of above them.
        outside: write the names to the right of the panel, where curves and bands do not cover them.

    Returns:
        The plotted numbers, ``lines``.
    """
    with style_context():
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


# ---- All papers in one figure ------------------------------------------------------------------------------

SHADES = {
    "holds": COLORS["green"],
    "inconclusive": COLORS["orange"],
    "fails": COLORS["vermilion"],
    "reported": "#c8c8c8",
    "not run": "#eeeeee",
}


def draw_overview(profile: str, found: dict[str, dict[str, Any]]) -> Drawing:
    """Draw one panel per paper with the curves of its ``COVER``, if its figure exists, and a panel with bars of verdicts.

    The numbers of the drawing are: paper -> figure, trials, curves and their last values; "tests of claims" -> counts.

    Args:
        profile: the profile of the figures.
        found: paper -> entry of the ledger, with "counts" of verdicts on the paper's claims and on our additions.
    """
    covers = {name: cover for name in papers() if (cover := _cover(name, profile))}
    counts = {
        name: Counter(paper["counts"]["paper"]) + Counter(paper["counts"]["ours"])
        for name, paper in found.items()
        if name in papers()
    }
    fig, axes = panels(-(-(len(covers) + 1) // 2), 2, height=1.75)
    spots = iter(axes.flat)
    for name, cover in covers.items():
        _curves(next(spots), name, paper_module(name, "styles").COVER, cover["curves"])
    _bars(next(spots), counts)
    for ax in spots:
        ax.set_axis_off()
    listed = "; ".join(f"{name}: {cover['figure']}" for name, cover in covers.items())
    caption = f"One figure of each paper in short form ({listed}): means over trials, with the bands of the original figures. Last panel: number of claims of each paper by verdict, including our additions."
    alt = f"Line plots for {len(covers)} papers. Values at the ends of the curves: {_ends_text(covers)}. A bar chart of the verdicts on the claims of each paper. Number of tested claims that hold: {_holds_text(counts)}."
    trials = {name: cover["trials"] for name, cover in covers.items()}
    return Drawing(fig, caption, alt, trials, {**covers, "tests of claims": counts})


def _ends_text(covers: dict[str, dict[str, Any]]) -> str:
    """Return the last value of each curve as text, by paper."""

    def named(learner: str) -> str:
        label = line_style(learner)["label"]
        return learner if "$" in label else label  # a text for screen readers has no formulas

    lists = {
        name: ", ".join(
            f"{named(learner)}: {format_number(y)}" for learner, y in cover["ends"].items()
        )
        for name, cover in covers.items()
    }
    return "; ".join(f"{name} ({text})" for name, text in lists.items())


def _holds_text(counts: dict[str, Counter]) -> str:
    """Return the number of tested claims that hold as text, by paper."""
    tested = {name: n.total() - n["reported"] - n["not run"] for name, n in counts.items()}
    return ", ".join(f"{name} {n['holds']} of {tested[name]}" for name, n in counts.items())


def _cover(paper: str, profile: str) -> dict[str, Any] | None:
    """Return the curves of a paper's cover; None if it declares none or its figure does not exist."""
    cover = getattr(paper_module(paper, "styles"), "COVER", None)
    path = profile_dir(profile) / paper / f"{cover.figure}.json" if cover else None
    if path is None or not path.exists():
        return None
    about = json.loads(path.read_text())
    found = about["numbers"]
    for key in cover.panel.split("/"):
        found = found.get(key, {})
    curves = {
        name: {
            # Panels other than ``regret_panel`` store settings and estimates instead of rounds and
            # means.
            "rounds": found[name].get("rounds") or found[name]["setting"],
            "mean": found[name].get("mean") or found[name]["estimate"],
            "low": found[name]["low"],
            "high": found[name]["high"],
        }
        for name in cover.names
        if name in found
    }
    if not curves:
        return None
    ends = {name: curve["mean"][-1] for name, curve in curves.items()}
    about = {"figure": cover.figure, "trials": about["trials"]}
    return {**about, "curves": curves, "ends": ends}


def _curves(ax: Axes, paper: str, cover: Cover, curves: dict[str, dict]) -> None:
    how = line_styles(curves)
    with style_context():
        for i, (name, curve) in enumerate(curves.items()):
            # Later curves are drawn in front, because a wide line would hide a control below it.
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
    with style_context():
        for verdict, color in SHADES.items():
            n = np.array([counts[name].get(verdict, 0) for name in names])
            if n.any():
                ax.barh(names, n, left=left, color=color, label=verdict, height=0.7)
                left += n
        ax.set_title("verdicts on the claims", fontsize=7)
        ax.tick_params(labelsize=6)
        ax.grid(visible=False, axis="y")
        most = max(sum(n.values()) for n in counts.values())
        ax.set_xlim(0, 1.5 * most)  # room for the legend
        ax.set_xlabel("number of claims", fontsize=7)
        ax.legend(fontsize=5.5, loc="center right", handlelength=1, labelspacing=0.25)
