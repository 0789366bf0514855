"""Figures and tables of the notebook on theory: statements of the proof of Theorem 1, and the parts of the regret."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import unit_ball

from ...figures.charts import dots_panel, lines_across
from ...figures.drawing import Drawing, legend, line_style, panels, style_context
from ...figures.text import print_checks
from ...styles import COLORS, Style
from ..experiments.growth import doubling_slope
from ..proofs.lemmas import kappa_infinity
from ..proofs.replay import Split

# ---- Tracking -----------------------------------------------------------------------------------------------

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


# ---- The parts of the regret --------------------------------------------------------------------------------


def print_parts(
    parts: Mapping[int, Split], throughout: Sequence[Check], at_end: Sequence[Check]
) -> None:
    """Print the parts of the regret by horizon, and the checks of ``parted``."""
    print("mean over trials     T  ", "  ".join(f"{name:>8s}" for name in Split._fields))
    for T, split in parts.items():
        print(f"{T:22d}  ", "  ".join(f"{float(part.mean()):8.1f}" for part in split))
    print_checks("along the runs", throughout)
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


# ---- Statements along runs ----------------------------------------------------------------------------------

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
    runs = (f"{name} {len(checks)}" for name, checks in tracking.items())
    print_checks(f"runs: {', '.join(runs)}", statements.values())
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
