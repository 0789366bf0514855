"""Figures, tables and verdicts of the notebook on theory, in the order of its sections."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import first_informative, unit_ball

from ...figures.charts import dots_panel, lines_across
from ...figures.drawing import (
    Drawing,
    band_note,
    legend,
    line_style,
    panels,
    style_context,
)
from ...study import Study
from ...styles import COLORS, Style
from ...verdicts import Verdict
from .. import errata
from ..experiments.growth import TABLE_1, doubling_slope, exponent_above, falling
from ..experiments.losses import averaged, by_epoch, last_quarter, late, learns, ratio
from ..experiments.settings import recorded
from ..proofs.lemmas import kappa_infinity, rule_of_thumb
from ..proofs.replay import Split
from .losses import average_panel

Key = tuple[str, int]  # a learner and a dimension
SHOWN = (64, 1024, 4096, 16384, 32768)  # horizons of the table of regrets


def _held(check: Check) -> str:
    """Return a check's verdict and the number of cases in which it held, as text."""
    return f"{check.verdict}, {int(check.held.sum())} of {check.held.size}"


def print_checks(checks: Mapping[str, Check] | Iterable[Check], before: str = "") -> None:
    """Print one line per check, with its remark. ``checks``: name -> check, or checks with the names of their statements."""
    named = checks.items() if isinstance(checks, Mapping) else ((x.statement, x) for x in checks)
    for name, check in named:
        print(f"{before}{name}  {_held(check)}" + f"  {check.remark}" * bool(check.remark))


# ---- 1. Theorem 1: regret against the horizon --------------------------------------------------------------


def print_bounds(
    theorems: Mapping[Key, Check], printed: Mapping[int, Check], horizons: Sequence[int]
) -> None:
    """Print whether PF's and FKM's regret is below its bounds, at how many horizons a bound is informative, and its size.

    Args:
        theorems: learner and dimension -> check of its bound.
        printed: dimension -> check of Theorem 1 as printed.
        horizons: the horizons of the checks.
    """
    for n, of_printed in printed.items():
        known = [check for key, check in theorems.items() if key[1] == n and key[0] != "Block"]
        for check in [*known, of_printed]:
            informative = len(check.inputs["informs"])
            times = format_number(check.inputs["median bound / mean"])
            print(
                f"n = {n}  {check}; below 2MT at {informative} of {len(horizons)} horizons; bound / mean {times}, median over horizons"
            )


def print_block_bounds(theorems: Mapping[Key, Check]) -> None:
    """Print whether the block variant's regret is below its bound, and the size of the bound."""
    for (name, n), check in theorems.items():
        if name == "Block":
            times = format_number(check.inputs["median bound / mean"])
            print(f"n = {n}  {check}; bound / mean {times}")


def print_regret(regret: Mapping[Key, np.ndarray], horizons: Sequence[int]) -> None:
    """Print mean regrets with their standard errors at some horizons. ``regret``: learner and dimension -> R x T'."""
    shown = [T for T in SHOWN if T in horizons]
    print("mean regret and its standard error, T =", *shown)
    for (name, n), values in regret.items():
        mean, error = values.mean(0), values.std(0, ddof=1) / len(values) ** 0.5
        at = [horizons.index(T) for T in shown]
        print(f"  {name:6s} n = {n} ", "  ".join(f"{mean[i]:.1f} ({error[i]:.1f})" for i in at))


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


# ---- 2. Growth of the regret -------------------------------------------------------------------------------


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
        slope = f"{format_number(x.estimate)} [{format_number(x.low)}, {format_number(x.high)}]"
        print(
            f"{name:6s} n = {n}  slope {slope}, local from {first} at T = 64 to {last} at {horizons[-2]}"
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
    slower = {f"n = {n}": falling(values) for (name, n), values in regret.items() if name == "PF"}
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


# ---- 3. Tracking -------------------------------------------------------------------------------------------

RULES = {"corrected": "corrected", "paper": "printed"}  # learning rates and their names
Errors = Mapping[tuple[str, float], np.ndarray]  # (learning rate, c) -> tracking error by horizon


def print_tracking(largest: Errors, allowed: Errors, epochs: Sequence[int]) -> None:
    """Print the largest tracking error in the runs, and the one that the one-step inequality allows, for each learning rate and c."""
    for (rule, c), values in largest.items():
        limit = f", limit {format_number(kappa_infinity(c))}" if rule == "paper" else ""
        most = f"{values.max():.3f} at T = {epochs[values.argmax()]}"
        print(
            f"rate {RULES[rule]:9s}  c = {c:<3g}  largest h / (D^2 sigma) {most}; the one-step inequality allows {format_number(allowed[rule, c].max())}{limit}"
        )


def draw_tracking(largest: Errors, allowed: Errors, epochs: Sequence[int], trials: int) -> Drawing:
    """Draw the tracking errors against the horizon, with the corrected and with the printed learning rate.

    Args:
        largest: largest error in the runs.
        allowed: largest error that the one-step inequality allows.
        epochs: the horizons.
        trials: number of trials.
    """
    fig, axes = panels(2, height=2.8)
    numbers = {}
    for ax, rule in zip(axes[0], RULES):
        numbers |= _tracking_panel(ax, rule, largest, allowed, epochs)
    left, right = axes[0]
    left.set(ylim=(0, 2.6), ylabel="largest $h_t / (D^2 \\sigma_t)$")
    lines_across(left, {"$\\kappa = 2$, printed": 2.0}, right=True, below=True)
    lines_across(left, {"$\\kappa = 2.3$": 2.3}, right=True)
    lines_across(right, {"$\\kappa = 2$, printed": 2.0}, below=True)
    for c in (0.5, 0.1):
        lines_across(right, {f"$\\kappa_\\infty({c:g})$": kappa_infinity(c)})
    legend(fig, columns=4)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Tracking error h_t / (D^2 sigma_t) against the horizon, where h_t is the difference of F_t between PF's center and the leader that it tracks: largest value over the rounds and {trials} trials of a run on [-1, 1] with the constant loss 1. Left: corrected learning rate. Right: printed rate, log axis. Gray: the worst case that the one-step inequality of the proof allows, which is the same for all c with the corrected rate; the colors of the triangles show c. Dotted lines: constants of the proof and, for the printed rate, limits of the worst case.",
        alt="Two line plots. Left: three curves are far below two dotted lines at 2 and 2.3; the gray curve starts above 2 and falls to it. Right: the curves for c = 1 and c = 0.5 stay below the dotted line at 2, and the curve for c = 0.1 starts above it; gray curves for c = 0.5 and 0.1 rise far higher, towards dotted lines at 3.7 and 52.",
    )


def _tracking_panel(
    ax: Axes, rule: str, largest: Errors, allowed: Errors, epochs: Sequence[int]
) -> dict[str, dict]:
    """Draw the tracking errors of one learning rate for three values of c, and return them with what the inequality allows."""
    looks = {1.0: ("blue", "s"), 0.5: ("green", "^"), 0.1: ("vermilion", "o")}
    printed, numbers = rule == "paper", {}
    gray = {"color": COLORS["gray"], "linewidth": 0.8, "zorder": 1}
    end = {"marker": "<", "linestyle": "none", "markersize": 3, "clip_on": False}
    with style_context():
        for c, (color, marker) in looks.items():
            how = {"color": COLORS[color], "marker": marker}
            ax.plot(epochs, largest[rule, c], label=f"largest in runs, c = {c:g}", **how)
            worst = allowed[rule, c]
            if printed or c == 1.0:  # the same for all c with the corrected rate
                ax.plot(epochs, worst, label="allowed by the one-step inequality", **gray)
            if printed:
                ax.plot(epochs[-1] * 1.2, worst[-1], color=COLORS[color], **end)
            found = {"T": epochs, "largest": largest[rule, c], "allowed": worst}
            numbers[f"{rule}, c={c:g}"] = found | {"limit": kappa_infinity(c)}
        ax.set(title=f"{RULES[rule]} rate", xlabel="horizon T", xscale="log")
        ax.set(yscale="log" if printed else "linear", xlim=(epochs[0], epochs[-1] * 1.2))
    return numbers


# ---- 4. The parts of the regret ----------------------------------------------------------------------------


def print_parts(
    parts: Mapping[int, Split], throughout: Sequence[Check], at_end: Sequence[Check]
) -> None:
    """Print the parts of the regret by horizon, and the checks of ``parted``."""
    print("mean over trials     T  ", "  ".join(f"{name:>8s}" for name in Split._fields))
    for T, split in parts.items():
        print(f"{T:22d}  ", "  ".join(f"{float(part.mean()):8.1f}" for part in split))
    print_checks(throughout)
    for T, check in zip(parts, at_end):
        print(f"T = {T:5d}  {check}")


def print_anytime(anytime: Mapping[int, Trace], theorem_2: Mapping[int, Check]) -> None:
    """Print the checks of Theorem 2 by dimension, with the regret of the anytime form and its slope."""
    for n, check in theorem_2.items():
        trace = anytime[n]
        last = int(trace.rounds[-1])
        ends = [2**m - 1 for m in range(4, (last + 1).bit_length())]
        slope = format_number(doubling_slope(ends, trace.thin(ends)["regret"]).estimate)
        regret = f"regret after {last} rounds {trace['regret'][:, -1].mean():.0f}"
        print(f"n = {n}  {check}; {regret}, slope over six epochs {slope}")


def draw_parts(parts: Mapping[int, Split], trace: Trace) -> Drawing:
    """Draw the parts of the regret against the horizon, and the regret of the anytime form with Theorem 2, in two dimensions.

    Args:
        parts: horizon -> parts of the regret.
        trace: run of the anytime form.
    """
    fig, axes = panels(2, height=2.7)
    numbers = {"parts": _parts_panel(axes[0, 0], parts)} | _anytime_panel(axes[0, 1], trace)
    legend(fig)
    trials = len(trace.trials)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Linear losses on the unit disc, c = 1, means over {trials} trials. (a) Regret and its parts against the horizon; exploration, whose mean is 0, is left out. (b) Regret of the anytime form, the bound of Theorem 2, and the largest possible regret, against the number of rounds. The smaller set and the leader's regret are the two large parts.",
        alt="Two line plots. Left: regret increases with the horizon; the cost of the smaller set and the leader's own regret are the two large parts, and tracking is small. Right, log axes: the regret is below the dotted line of the largest possible regret, and the bound is far above it.",
    )


def _parts_panel(ax: Axes, parts: Mapping[int, Split]) -> dict[str, Any]:
    """Draw the mean regret and its parts against the horizon."""
    looks = {
        "regret": ("black", "o", "regret"),
        "leader": ("blue", "s", "leader's regret"),
        "shrink": ("green", "^", "smaller set"),
        "tracking": ("vermilion", "D", "tracking"),
    }
    numbers: dict[str, Any] = {"T": list(parts)}
    with style_context():
        for name, (color, marker, label) in looks.items():
            numbers[name] = [float(getattr(split, name).mean()) for split in parts.values()]
            ax.plot(numbers["T"], numbers[name], color=COLORS[color], marker=marker, label=label)
        ax.axhline(0, color=COLORS["gray"], linewidth=0.6, zorder=1)
        ax.set(title="(a) parts of the regret, n = 2", xlabel="horizon T", xscale="log")
        ax.set_ylabel("mean over trials")
        ax.set_xticks(numbers["T"], labels=[str(T) for T in parts])
        ax.minorticks_off()
    return numbers


def _anytime_panel(ax: Axes, trace: Trace) -> dict[str, dict]:
    """Draw the mean regret of the anytime form with Theorem 2 and the largest possible regret."""
    rounds, mean, numbers = trace.rounds, trace["regret"].mean(0), {}
    lines = {
        "Theorem 2": (theory.theorem_2(unit_ball(2), rounds), "black", "-"),
        "largest possible, $2MT$": (2 * rounds, "gray", ":"),
    }
    own = {"marker": None, "label": "PF, anytime, n = 2"}
    with style_context():
        ax.plot(rounds, mean, **line_style("PF") | own)
        for label, (values, color, linestyle) in lines.items():
            ax.plot(rounds, values, color=COLORS[color], linestyle=linestyle, label=label)
            numbers[label] = {"rounds": rounds, "value": values}
        ax.set(title="(b) anytime form", xlabel="rounds", ylabel="regret")
        ax.set(xscale="log", yscale="log")
        ax.margins(x=0)
    return numbers | {"anytime": {"rounds": rounds, "mean": mean}}


# ---- 5. Statements along runs ------------------------------------------------------------------------------

Along = Mapping[str, Mapping[tuple[str, bool], Sequence[Check]]]  # as of ``by_statement``
KINDS = {  # style of each set
    "ball, linear": Style("sky", "o"),
    "ball, quadratic": Style("blue", "s"),
    "polytope": Style("vermilion", "^"),
    "sub-simplex": Style("green", "D"),
    "nuclear ball": Style("purple", "P"),
    "spectrahedron": Style("orange", "X"),
}
ROWS = (  # statements in the figure
    "Tracking",
    "Lemma 6",
    "Lemma 6, sharp",
    "Leader's step",
    "Estimate norm",
    "Assumption, bounded losses",
    "Assumption, bounded gradients",
)


def print_statements(along: Along, statements: Mapping[str, Check]) -> None:
    """Print the number of runs, the joined check of every statement, and the largest tracking error on each problem."""
    title = lambda name, loud: name + ", loss M" * loud
    tracking = {title(*key): checks for key, checks in along["Tracking"].items()}
    print("runs:", *(f"{name} {len(checks)}" for name, checks in tracking.items()), sep="  ")
    print_checks(statements)
    worst = {
        name: max(check.observed[..., 0].max() for check in checks)
        for name, checks in tracking.items()
    }
    words = (f"{name} {format_number(x)}" for name, x in worst.items())
    print("largest h / (D^2 sigma):", *words, sep="  ")


def draw_statements(along: Along, trials: int) -> Drawing:
    """Draw the largest ratio of the observed value to its bound for each statement and problem. ``trials``: per run."""
    fig, axes = panels(2, height=3.2, sharey=True)
    numbers = {}
    for ax, loud, title in zip(
        axes[0], (False, True), ("losses of the problem", "constant loss M")
    ):
        worst = {
            name: {row: (max(check.ratio for check in along[row][name, loud]),) * 3 for row in ROWS}
            for name in KINDS
        }
        how = {"title": title, "xlabel": "largest observed / bound"}
        numbers[title] = dots_panel(ax, worst, KINDS, line=1.0, limits=(0.0, 1.05), **how)
    legend(fig, columns=6)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Statements along runs on six problems, with {trials} trials per run and c = 0.1 and 1. Dots: largest ratio of the observed value to its bound, over all runs, rounds and trials. Left: losses of the problem, T from 1 to 257. Right: constant loss M, T from 1 to 64. Lemma 6 is checked along runs of the exact leader, the other statements along runs of PF. Equalities are not drawn. A dot to the right of the line would violate its statement; there is none.",
        alt="Two dot plots with one row per statement and one dot per set. Tracking is below half of its bound, and the printed form of Lemma 6 is at a quarter. The sharp form of Lemma 6 touches the line at one. With the constant loss, the norm of the estimates and the bound on losses touch it too, and gradients are zero. No dot is beyond the line.",
    )


# ---- 6. Theorem 1 at the sizes of Figure 1, and Table 1 ----------------------------------------------------


def print_vacuity() -> None:
    """Print Theorem 1 divided by the largest possible regret for each panel of Figure 1, and from which horizon it is smaller."""
    print("panel      T    c   corrected / 2MT   informative from     rule   printed / 2MT")
    for panel in errata.PANELS:
        for c in (1.0, 0.1):
            s, T = errata.panel(panel, c)
            corrected = format_number(theory.vacuity_ratio(theory.theorem_1, s, T))
            first, rule = first_informative(theory.theorem_1, s), rule_of_thumb(s)
            # The printed bound raises an error for c below 1.
            other = "refused: c < 1"
            if c >= 1:
                other = format_number(theory.vacuity_ratio(theory.theorem_1_printed, s, T))
            print(
                f"{panel:>5s}  {T:5d}  {c:3g}   {corrected:>15s}   {first:16.2g}   {rule:6.2g}   {other}"
            )


def print_ball_bounds(dims: Sequence[int] = (1, 2, 3, 5, 10)) -> None:
    """Print the coefficients of Theorem 1 on the unit ball with c = 1, its bounds, and the horizons from which they are informative."""
    print(
        "ball, c = 1     A      B   corrected and printed at T = 1000   informative from      Theorem 2 from"
    )
    for n in dims:
        s = unit_ball(n)
        A, B = theory.coefficients(s)
        bounds = theory.theorem_1(s, 1000), theory.theorem_1_printed(s, 1000)
        first = [
            format_number(first_informative(bound, s))
            for bound in (theory.theorem_1, theory.theorem_1_printed, theory.theorem_2)
        ]
        print(
            f"n = {n:2d}   {A:10.4f}  {B:6.4f}   {bounds[0]:13.1f}  {bounds[1]:13.1f}   {first[0]:>10s} {first[1]:>10s}  {first[2]:>10s}"
        )


def print_table_1(whole: Mapping[Key, stats.Interval]) -> None:
    """Print the paper's Table 1 with the slopes measured in two dimensions. ``whole``: learner and dimension -> slope."""
    slope = lambda name: format_number(whole[name, 2].estimate)
    measured = {"Flaxman": "FKM", "Chen": "PF"}
    for row in TABLE_1:
        kind = "projection-free" if row.projection_free else "projections"
        source = ", ".join(filter(None, (row.source, row.note)))
        name = next((name for start, name in measured.items() if source.startswith(start)), None)
        beside = f"  measured {line_style(name)['label']} {slope(name)}" if name else ""
        print(f"{row.feedback:16s}  {kind:15s}  {row.regret:10s} {source}{beside}")
        if row.since:
            print(
                f"{'':16s}  since: {row.since}; measured for our block variant, in the same spirit, {slope('Block')}"
            )


# ---- 7. Practical constants --------------------------------------------------------------------------------

VERSIONS = {  # panel -> curves: line style -> learner
    "(a) the theory's constants": {"PF": "PF", "PF, sham": "PF, sham"},
    "(b) practical constants": {
        "PF, practical": "PF, practical",
        "PF, sham": "PF, practical, sham",
    },
    "(c) practical, warm start": {"PF, warm": "PF, warm", "PF, sham": "PF, warm, sham"},
}


def print_practical(practical: Mapping[int, dict[str, Trace]]) -> None:
    """Print average losses over all rounds and over the last quarter. ``practical``: rounds -> learner -> trace."""
    for T, traces in practical.items():
        print(
            f"{len(traces['PF'].trials)} trials of {T} rounds: average loss over all rounds, and over the last quarter; the latter minus the loss of the center, paired, with its 95 % interval and the number of trials above 0;"
        )
        print(
            "  ratio to the control over the last quarter, with its 90 % interval, and both losses of the control"
        )
        for name, row in late(traces).items():
            print(f"  {name:16s} {row}")
        center = format_number(traces["PF"]["center"][:, -1].mean() / T)
        quarter = format_number(last_quarter(traces["PF"], "center").mean())
        print(
            f"  staying at the center {center}, over the last quarter {quarter}; least expected loss 0"
        )


def judge_practical(study: Study, traces: dict[str, Trace]) -> Verdict:
    """Judge whether PF with practical constants and without a warm start learns; it needs 50 trials."""
    if (trials := len(traces["PF"].trials)) >= 50:
        return study.judge("pfbco.N2", learns(traces, "PF, practical"))
    reason = f"{trials} trials are too few without a warm start; it is judged with 50"
    return study.not_run("pfbco.N2", reason)


def judge_longer(study: Study, traces: dict[str, Trace] | None) -> list[Verdict]:
    """Judge PF with practical constants in the longer run. ``traces``: learner -> trace; None without a longer run."""
    ids = ("pfbco.N2.long", "pfbco.N2.center")
    if traces is None:
        return [study.not_run(id, "the longer run is in the paper profile only") for id in ids]
    ours, center = last_quarter(traces["PF, warm"]), last_quarter(traces["PF"], "center")
    found = learns(traces, "PF, practical"), ratio(ours, center, "last quarters")
    return [study.judge(id, statistic) for id, statistic in zip(ids, found)]


def draw_practical(traces: dict[str, Trace]) -> Drawing:
    """Draw the average losses of PF with three sets of constants, each with its control, and the mean losses per epoch.

    Args:
        traces: learner -> trace.
    """
    T = int(traces["PF"].rounds[-1])
    shown = averaged(traces, recorded(T))
    epochs = {name: by_epoch(traces[name]) for name in ("PF, warm", "FKM", "Block")}
    fig, axes = panels(2, rows=2, height=2.2, sharex=True, sharey=True)
    numbers = {}
    for ax, (title, names) in zip(axes.flat, VERSIONS.items()):
        curves = {style: shown[name] for style, name in names.items()}
        numbers[title] = average_panel(
            ax, curves, title, "average loss" if ax in axes[:, 0] else ""
        )
    title, words = "(d) mean loss per epoch", "mean loss per epoch"
    numbers["by epoch"] = average_panel(axes[1, 1], epochs, title, words, series="epoch")
    center = float(traces["PF"]["center"][:, -1].mean() / T)
    top = max(curve["high"].max() for panel in numbers.values() for curve in panel.values())
    _finish(fig, axes, center, top)
    mean = {name: shown[name]["average"][:, -1].mean() for name in ("PF, practical", "PF, warm")}
    behind = ", ".join(
        f"{format_number(x)} ({line_style(name)['label']})" for name, x in mean.items()
    )
    final = {name: float(trace["epoch"][:, -1].mean()) for name, trace in epochs.items()}
    lowest = final["PF, warm"] < 0.8 * min(final["FKM"], final["Block"])
    return Drawing(
        fig,
        trials=len(traces["PF"].trials),
        numbers=numbers | {"center": center},
        caption=f"Average loss against the number of rounds on the quadratic problem, c = 1, {T} rounds. (a) to (c): PF with three sets of constants, each with a control that has the same constants and sign-flipped feedback. (d): mean loss in each epoch of the third version, of FKM and of the block variant; the latter two have the theory's constants. Dotted line: loss of staying at the center, {format_number(center)}. The least expected loss is 0. Averaged over all rounds, the loss is {behind}. {band_note({name: traces[name] for name in ('PF', 'FKM')})}",
        alt=f"Four line plots of loss against rounds on a log axis. With the theory's constants, PF and its control nearly coincide. With practical constants, PF's curve separates late from its control and falls. With a warm start it falls further, while its control rises away from the center. In each epoch, FKM and the block variant stay near the line of the center; PF with a warm start has a higher loss from the third epoch on, and {'falls far below them in the last epochs' if lowest else 'falls towards them in the last epochs'}.",
    )


def _finish(fig: Figure, axes: np.ndarray, center: float, top: float) -> None:
    """Give the panels the line of the center, equal limits and one legend."""
    for ax in axes.flat:
        lines_across(ax, {"center": center}, below=True)
        ax.set_ylim(0, 1.05 * top)
        for curve in ax.get_lines():
            if curve.get_label() == line_style("PF, sham")["label"]:
                curve.set_label("control of the panel (sign-flipped feedback)")
    for ax in axes[0]:
        ax.set_xlabel("")
    legend(fig)


# ---- 8. Errata ---------------------------------------------------------------------------------------------


def show_erratum(id: str) -> None:
    """Print the numbers that demonstrate an erratum, and this package's resolution."""
    erratum = next(erratum for erratum in errata.ERRATA if erratum.id == id)
    numbers = erratum.function().items()
    print(", ".join(f"{name}: {format_number(value)}" for name, value in numbers))
    print("here:", erratum.resolution)
