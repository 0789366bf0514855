"""Figures, tables and verdicts of the notebook on theory: Theorem 1, and the growth of the regret."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import first_informative, unit_ball

from ...figures.drawing import Drawing, legend, line_style, panels, style_context
from ...figures.text import interval_text
from ...study import Study
from ...styles import COLORS
from ...verdicts import Verdict
from ..experiments.growth import DOUBLINGS, doubling_slope, exponent_above

Key = tuple[str, int]  # a learner and a dimension


# ---- Theorem 1: regret against the horizon ------------------------------------------------------------------


def print_bounds(checks: Mapping[Key, Check], horizons: Sequence[int]) -> None:
    """Print whether the regret is below each bound, at how many horizons the bound is informative, and its size.

    Args:
        checks: name and dimension -> check of the bound.
        horizons: the horizons of the checks.
    """
    for (_, n), check in checks.items():
        informative = len(check.inputs["informs"])
        times = format_number(check.inputs["median bound / mean"])
        print(
            f"n = {n}  {check}; below 2MT at {informative} of {len(horizons)} horizons; bound / mean {times}, median over horizons"
        )


def draw_horizons(
    regret: Mapping[Key, np.ndarray], horizons: Sequence[int], dims: Sequence[int]
) -> Drawing:
    """Draw mean regrets against the horizon with Theorem 1, one panel per dimension.

    Args:
        regret: learner and dimension -> R x T'.
        horizons: T' horizons.
        dims: dimensions of the panels, in which all learners ran.
    """
    fig, axes = panels(2, rows=-(-len(dims) // 2), height=2.7, sharey=True)
    numbers = {}
    for ax, n in zip(axes.flat, dims):
        means = {name: values.mean(0) for (name, at), values in regret.items() if at == n}
        numbers[f"n={n}"] = {"horizons": horizons, **_horizons_panel(ax, means, horizons, n)}
        ax.set(xlabel="horizon T" if ax in axes[-1] else "")
        ax.set(ylabel="regret" if ax in axes[:, 0] else "")
    legend(fig)
    first = ", ".join(
        f"{first_informative(theory.theorem_1, unit_ball(n))} (n = {n})" for n in dims
    )
    trials = len(regret["PF", dims[0]])
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Regret against the horizon T for linear losses on the unit ball, c = 1. Each horizon is a separate run. Curves are means over {trials} trials; standard errors are below 2 % from T = 64 on, smaller than the markers. Black lines: Theorem 1 as corrected and as printed. A bound is informative where it is below the largest possible regret, and vacuous elsewhere. Theorem 1, corrected, is informative from T = {first}.",
        alt="Line plots with log axes, one panel per dimension. Four curves of regret rise together. PF and the exact leader, drawn as a thin line on top, almost coincide; FKM is below them, and the block variant is lowest at the right. All fall below the dashed line of staying at the center. The two bounds are several times higher and cross the dotted line of the largest possible regret late or not at all.",
    )


def _horizons_panel(
    ax: Axes, means: Mapping[str, np.ndarray], horizons: Sequence[int], n: int
) -> dict[str, np.ndarray]:
    """Draw mean regrets and bounds in n dimensions against the horizon, and return all lines."""
    s, T = unit_ball(n), np.array(horizons)
    references = {
        "Theorem 1, corrected": (theory.theorem_1(s, T.astype(float)), "black", "-"),
        "Theorem 1, printed": (theory.theorem_1_printed(s, T.astype(float)), "black", "--"),
        "largest possible, $2MT$": (2 * T, "gray", ":"),
        "staying at the center, $T$": (T, "gray", (0, (5, 3))),
    }
    # A thin line in front, because PF's curve would cover the exact leader's.
    thin = {"linewidth": 0.7, "markersize": 2, "zorder": 9}
    with style_context():
        for name, mean in means.items():
            ax.plot(T, mean, **line_style(name) | (thin if name == "Leader" else {}))
        for label, (values, color, linestyle) in references.items():
            how = {"color": COLORS[color], "linestyle": linestyle, "linewidth": 0.9}
            ax.plot(T, values, label=label, **how, **{"zorder": 1} if color == "gray" else {})
        ax.set(title=f"n = {n}", xscale="log", yscale="log")
        ax.margins(x=0)
    return {**means, **{label: values for label, (values, *_) in references.items()}}


# ---- Growth of the regret -----------------------------------------------------------------------------------


def print_slopes(
    whole: Mapping[Key, stats.Interval],
    local: Mapping[Key, Sequence[stats.Interval]],
    horizons: Sequence[int],
) -> None:
    """Print log-log slopes of the regret.

    Args:
        whole: learner and dimension -> slope over the last six doublings.
        local: learner and dimension -> slope over each doubling.
        horizons: the horizons, each twice the previous one.
    """
    for (name, n), x in whole.items():
        first, last = (format_number(local[name, n][i].estimate) for i in (2, -1))
        print(
            f"{name:6s} n = {n}  slope {interval_text(x)}, local from {first} at T = 64 to {last} at {horizons[-2]}"
        )


def judge_slopes(study: Study, whole: Mapping[Key, stats.Interval]) -> list[Verdict]:
    """Judge the slope of PF's regret in each dimension, next to FKM's where FKM ran."""
    judged = []
    for name, n in whole:
        if name == "PF":
            beside = whole.get(("FKM", n))
            reason = f"FKM {format_number(beside.estimate)}" if beside else ""
            judged.append(study.judge(f"pfbco.C7.n{n}", whole[name, n], reason=reason))
    return judged


def judge_order(study: Study, ordered: Mapping[str, Mapping[int, Trace]]) -> Verdict:
    """Judge the difference of PF's and FKM's exponents. ``ordered``: learner -> horizon -> trace; empty without long horizons."""
    if not ordered["PF"]:
        reason = "its horizons, up to 2^19, are in the paper profile only"
        return study.not_run("pfbco.C7.order", reason)
    far = list(ordered["PF"])
    ends = {name: np.stack([x.last() for x in ordered[name].values()], 1) for name in ordered}
    alone = {name: format_number(doubling_slope(far, x, 3).estimate) for name, x in ends.items()}
    reason = f"separate slopes: PF {alone['PF']}, FKM {alone['FKM']}"
    return study.judge("pfbco.C7.order", exponent_above(ends["PF"], ends["FKM"]), reason=reason)


def judge_falling(
    study: Study, regret: Mapping[Key, np.ndarray], horizons: Sequence[int]
) -> Verdict:
    """Judge whether the slope of PF's regret still falls; it needs horizons up to 2^15."""
    if horizons[-1] < 2**15:
        reason = f"horizons up to {horizons[-1]} are too short for three and five dimensions; it is judged with horizons up to {2**15}"
        return study.not_run("pfbco.C7.falling", reason)
    of = f"log-log slope over {DOUBLINGS} doublings minus slope over the {DOUBLINGS} before"
    slower = {
        f"n = {n}": exponent_above(values, values[:, :-DOUBLINGS], of)
        for (name, n), values in regret.items()
        if name == "PF"
    }
    return study.judge("pfbco.C7.falling", stats.largest(slower))


def judge_block(
    study: Study, regret: Mapping[Key, np.ndarray], horizons: Sequence[int]
) -> list[Verdict]:
    """Judge the slope of the block variant's regret over five doublings, in the dimensions where it ran."""
    reason, judged = "the block variant is not run in this dimension", []
    for n in (1, 2, 5):
        id, values = f"pfbco.N3.n{n}", regret.get(("Block", n))
        judged.append(
            study.not_run(id, reason)
            if values is None
            else study.judge(id, doubling_slope(horizons, values, 5))
        )
    return judged


def draw_growth(
    local: Mapping[Key, Sequence[stats.Interval]],
    horizons: Sequence[int],
    at_last: np.ndarray,
    dims: Sequence[int],
) -> Drawing:
    """Draw local slopes of PF by dimension, local slopes of all learners in two dimensions, and PF's regret against the dimension.

    Args:
        local: learner and dimension -> slope over each doubling.
        horizons: the horizons, each twice the previous one.
        at_last: PF's regret at the last horizon, R x len(dims).
        dims: dimensions of ``at_last``.
    """
    fig, axes = panels(3, height=2.7)
    by_dim = _styles_by_dim(dims)
    of_pf = {f"PF, n={n}": (local["PF", n], how) for n, how in by_dim.items()}
    in_two = {
        f"{name}, n=2": (x, line_style(name) | {"label": f"{line_style(name)['label']}, n = 2"})
        for (name, n), x in local.items()
        if n == 2
    }
    numbers = _slopes_panel(axes[0, 0], of_pf, horizons, "(a) PF")
    axes[0, 0].set_ylabel("$\\log_2(R_{2T} / R_T)$")
    numbers |= _slopes_panel(axes[0, 1], in_two, horizons, "(b) n = 2")
    title = f"(c) T = {horizons[-1]}"
    numbers["dimension"] = _dimension_panel(axes[0, 2], at_last, by_dim, title)
    legend(fig, columns=4)
    trials = len(at_last)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Growth of mean regret over {trials} trials, c = 1. (a) Local slope of PF's regret between a horizon and its double, by dimension. (b) Local slopes of all learners in two dimensions. Dotted line: 4/5, the exponent of Theorem 1, which is also a lower limit of PF's exponent. FKM's limit is 3/4, which its slopes at these horizons do not show. (c) PF's regret at T = {horizons[-1]} against the dimension, with 95 % t-intervals and a fitted straight line.",
        alt="Three panels. First: PF's local slopes fall with the horizon towards the dotted line at 4/5, later in higher dimensions. Second: in two dimensions, the slopes of the block variant and FKM are below the slopes of PF and the exact leader. Third: regret at the last horizon increases with the dimension along a straight line.",
    )


def _styles_by_dim(dims: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the line styles of PF by dimension: PF's own style in two dimensions, and shades of gray."""
    shades = {1: ("0.7", "<", ":"), 3: ("0.45", "^", "-."), 5: ("0.15", ">", "--")}
    found = {n: line_style("PF") | {"label": f"PF, n = {n}"} for n in dims}
    for n, (gray, marker, linestyle) in shades.items():
        found[n] |= {"color": gray, "marker": marker, "linestyle": linestyle, "linewidth": 1.1}
    return found


def _slopes_panel(
    ax: Axes,
    slopes: Mapping[str, tuple[Sequence[stats.Interval], Mapping[str, Any]]],
    horizons: Sequence[int],
    title: str,
) -> dict[str, dict]:
    """Draw local slopes against the doubled horizon. ``slopes``: name of the numbers -> slopes, line style."""
    to, numbers = np.array(horizons[1:]), {}
    with style_context():
        for name, (found, how) in slopes.items():
            estimate, low, high = ([x[i] for x in found] for i in range(3))
            ax.plot(to, estimate, **how | {"markersize": 3})
            numbers[name] = {"T": to, "slope": estimate, "low": low, "high": high}
        ax.set(title=title, xlabel="horizon 2T", xscale="log", ylim=(0.55, 1.03))
        ax.axhline(0.8, color=COLORS["black"], linewidth=0.8, linestyle=":", zorder=1)
        below = {"textcoords": "offset points", "va": "top", "fontsize": 6.5}
        ax.annotate("4/5", (to[0], 0.8), (0, -2), **below)
    return numbers


def _dimension_panel(
    ax: Axes, at_last: np.ndarray, by_dim: Mapping[int, Mapping[str, Any]], title: str
) -> dict[str, Any]:
    """Draw PF's regret at the last horizon against the dimension, with a fitted straight line."""
    dims, found = tuple(by_dim), [stats.mean(column) for column in at_last.T]
    mean, low, high = ([x[i] for x in found] for i in range(3))
    slope, intercept = np.polyfit(dims, at_last.mean(0), 1)
    ends = np.array([0.5, 5.5])
    with style_context():
        ax.plot(ends, intercept + slope * ends, color=COLORS["gray"], linewidth=0.8, zorder=1)
        for (n, style), x in zip(by_dim.items(), found):
            how = {"color": style["color"], "marker": style["marker"], "markersize": 4}
            sides = [[x.estimate - x.low], [x.high - x.estimate]]
            ax.errorbar(n, x.estimate, sides, capsize=2, **how)
        ax.set(title=title, xlabel="dimension n", ylabel="regret", ylim=(0, None), xticks=dims)
    line = {"intercept": float(intercept), "slope": float(slope)}
    return {"n": dims, "mean": mean, "low": low, "high": high, "line": line}
