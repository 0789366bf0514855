"""Figures of a field of the arena: heat maps, interquartile means, performance profiles, and regret against run time."""

from collections.abc import Callable, Mapping
from string import ascii_lowercase
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from paperlib import stats

from ...figures.charts import dot_style, dots_panel, extend_log_axis
from ...figures.drawing import Drawing, legend, line_styles, panels, style_context
from ...store.seconds import Seconds
from ...styles import Style
from ..field import GRID, UNIFORM, Outcome
from ..scores import performance_profile
from ..styles import ARENA

PALE, DEEP = 0.03, 1.5  # normalized regrets at the ends of the color scale
MOST = 8  # learners in a panel of performance profiles
LOOKS = {"theory": Style("black", "s"), "tuned": Style("vermilion", "o")}
TRACKS = {
    "theory": "with the constants of the theorems",
    "tuned": "with one scale per learner, chosen on other trials",
}
SCORE = (
    "Normalized regret: regret divided by the mean regret of uniform play; 0 is the best possible."
)


def label(name: str) -> str:
    """Return the name of a learner in figures and tables."""
    return line_styles([name], ARENA)[name]["label"]


def lowest(found: Mapping[str, Mapping], value: Callable[[Any], float] = float) -> str:
    """Return the learner with the lowest value for each group or problem, as text. ``found``: group -> learner -> its numbers."""
    best = {group: min(each, key=lambda name: value(each[name])) for group, each in found.items()}
    return "; ".join(f"{group}: {label(name)}" for group, name in best.items())


def tell_trials(outcome: Outcome) -> str:
    """Return the number of trials and, if it is smaller, the number of trials of learners of other libraries."""
    counts: dict[bool, set[int]] = {}
    for scores in outcome.tracks["theory"].values():
        for name, each in scores.items():
            counts.setdefault(outcome.learners[name].peer, set()).add(len(each))
    text = f"{max(counts[False])} trials"
    if True in counts and counts[True] != counts[False]:
        text += f" ({max(counts[True])} trials of learners of other libraries)"
    return text


def draw_regret(outcome: Outcome, scales: Mapping[str, float | None]) -> Drawing:
    """Draw the mean normalized regret of each learner on each problem, one panel per track.

    ``scales``: scale of each learner in the track "tuned", None for a learner without a scale.
    """
    rows, columns = [*outcome.learners], [*outcome.problems]
    fig, axes = panels(1, 2, width=7.0, height=0.6 + 0.2 * len(rows))
    chosen = {name: scale for name, scale in scales.items() if scale is not None}
    numbers = {}
    for ax, (track, words), letter in zip(axes.flat, TRACKS.items(), "ab"):
        shown = chosen if track == "tuned" else {}
        numbers[track] = heat_panel(ax, outcome, track, f"({letter}) {words}", shown)
    trials = max(len(x) for x in outcome.tracks["theory"][columns[0]].values())
    return Drawing(
        fig,
        caption=f"Mean normalized regret of each learner (row) on each problem (column) over {tell_trials(outcome)}. {SCORE} Bold: the lowest mean of a problem. A star marks a learner whose model does not cover the problem. Empty: the learner did not play the problem. (a) Constants of the theorems. (b) One scale per learner, chosen on other trials. It is in parentheses; an exclamation mark marks an end of the grid, beyond which a scale may be better. Learners without a scale are equal in both panels.",
        alt="Two heat maps. "
        + " ".join(
            f"{track.capitalize()}, lowest mean by problem: {lowest(found)}."
            for track, found in numbers.items()
        ),
        trials=trials,
        numbers={**numbers, "scales": chosen},
    )


def heat_panel(
    ax: Axes, outcome: Outcome, track: str, title: str, scales: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Draw one heat map; return problem -> learner -> mean normalized regret. ``scales``: numbers after the learners' names."""
    rows, columns = [*outcome.learners], [*outcome.problems]
    found = {
        problem: {name: float(x.mean()) for name, x in scores.items()}
        for problem, scores in outcome.tracks[track].items()
    }
    grid = np.array([[found[c].get(row, np.nan) for c in columns] for row in rows])
    with style_context():
        norm = LogNorm(PALE, DEEP, clip=True)
        ax.pcolormesh(np.ma.masked_invalid(grid), cmap="cividis_r", norm=norm, edgecolor="white")
        for j, column in enumerate(columns):
            for i, row in enumerate(rows):
                if row not in found[column]:
                    continue
                value = grid[i, j]
                nearly = outcome.problems[column].family in outcome.learners[row].nearly
                ax.text(
                    j + 0.5,
                    i + 0.5,
                    f"{value:.2f}" + "*" * nearly,
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if norm(value) > 0.6 else "black",
                    fontweight="bold" if value == np.nanmin(grid[:, j]) else "normal",
                )
        looks = line_styles(rows, ARENA)
        mark = lambda scale: f" ({scale:g}{'!' * (scale in (GRID[0], GRID[-1]))})"
        marks = {row: mark(scales[row]) if row in scales else "" for row in rows}
        labels = [looks[row]["label"] + marks[row] for row in rows]
        ax.set_yticks(np.arange(len(rows)) + 0.5, labels)
        ax.set_xticks(np.arange(len(columns)) + 0.5, [c.replace(" ", "\n") for c in columns])
        ax.tick_params(length=0, labelsize=6.5)
        ax.set_title(title)
        ax.grid(visible=False)
        ax.invert_yaxis()
        for spine in ax.spines.values():
            spine.set_visible(False)
    return found


def group_panels(groups: list[str], height: float) -> tuple[Figure, list[tuple[Axes, str]]]:
    """Return a figure with a panel per group, up to three in a row, and each panel with its letter."""
    columns = min(3, len(groups))
    fig, axes = panels(columns, -(-len(groups) // columns), width=7.0, height=height)
    for ax in axes.flat[len(groups) :]:
        ax.set_axis_off()
    return fig, list(zip(axes.flat, ascii_lowercase))


def draw_means(outcome: Outcome) -> Drawing:
    """Draw the interquartile mean of each learner in both tracks, one panel per group of problems."""
    groups = [*outcome.groups()]
    most = max(len(outcome.complete(group)) for group in groups)
    fig, axes = group_panels(groups, 0.9 + 0.17 * most)
    numbers, names = {}, line_styles(outcome.learners, ARENA)
    for (ax, letter), group in zip(axes, groups):
        found = {track: outcome.means(track, group) for track in TRACKS}
        order = sorted(found["tuned"], key=lambda name: found["tuned"][name].estimate)
        rows = {
            track: {names[name]["label"]: each[name][:3] for name in order}
            for track, each in found.items()
        }
        numbers[group] = found
        dots_panel(ax, rows, LOOKS, title=f"({letter}) {group}", line=1.0, log_x=True)
        ends = [x for each in found.values() for interval in each.values() for x in interval[1:3]]
        extend_log_axis(ax, ends, across=True)
        ax.set_xlabel("normalized regret")
    legend(fig, columns=2)
    trials = {group: next(iter(numbers[group]["theory"].values())).n for group in groups}
    first = lowest({group: numbers[group]["tuned"] for group in groups}, lambda x: x.estimate)
    return Drawing(
        fig,
        caption=f"Interquartile means of the normalized regret over the problems of a group, with 95 % stratified bootstrap intervals over {tell_trials(outcome)} per problem. {SCORE} Vertical line: uniform play. Only learners that play all problems of a group are shown.",
        alt=f"One dot and interval per learner and track. Lowest with tuned scales: {first}.",
        trials=trials,
        numbers=numbers,
    )


def draw_profiles(outcome: Outcome) -> Drawing:
    """Draw the performance profiles of both tracks, one column per group of problems."""
    groups = [*outcome.groups()]
    fig, axes = panels(len(groups), 2, width=7.0, height=2.2, sharex=True, sharey=True)
    at, numbers = np.geomspace(0.01, 2.0, 200), {}
    for row, track in zip(axes, TRACKS):
        for ax, group in zip(row, groups):
            names = outcome.complete(group)
            curves = {
                name: performance_profile(outcome.scores(track, group, name), at) for name in names
            }
            numbers.setdefault(track, {})[group] = curves
            drawn = first_learners(outcome, track, group)
            with style_context():
                for name, how in line_styles(names, ARENA).items():
                    if name in drawn:
                        ax.plot(at, curves[name], **how | {"marker": None})
                ax.set(xscale="log", title=f"{group}\n{track}", ylim=(0, 1.02))
                ax.margins(x=0)
    for ax in axes[-1]:
        ax.set_xlabel("normalized regret")
    for ax in axes[:, 0]:
        ax.set_ylabel("fraction of trials")
    legend(fig, columns=4)
    own = ", and your own" if any(entry.own for entry in outcome.learners.values()) else ""
    return Drawing(
        fig,
        caption=f"Performance profiles: the fraction of trials whose normalized regret is at most the number on the horizontal axis; higher curves are better. {SCORE} Upper row: constants of the theorems. Lower row: one scale per learner, chosen on other trials. Each panel shows uniform play and the {MOST} learners with the lowest interquartile mean among those that play all problems of the group{own}.",
        alt=f"{2 * len(groups)} panels with increasing curves, one per learner. "
        + first_to_half(numbers, at),
        trials=len(outcome.scores("theory", groups[0], UNIFORM)[0]),
        numbers={"normalized regret": at, **numbers},
    )


def first_learners(outcome: Outcome, track: str, group: str) -> set[str]:
    """Return the learners with the lowest interquartile means of a group, uniform play, and the learners of the user."""
    means = outcome.means(track, group)
    order = sorted(means, key=lambda name: means[name].estimate)
    own = {name for name in means if outcome.learners[name].own}
    return {*order[:MOST], UNIFORM} | own


def first_to_half(profiles: dict[str, dict[str, dict[str, np.ndarray]]], at: np.ndarray) -> str:
    """Return the learner of each panel whose median normalized regret is lowest, as a sentence."""
    half = lambda curve: at[min(np.searchsorted(curve, 0.5), len(at) - 1)]
    by_panel = {
        f"{track}, {group}": found
        for track, groups in profiles.items()
        for group, found in groups.items()
    }
    return f"First curve to reach half of the trials: {lowest(by_panel, half)}."


def draw_cost(outcome: Outcome, seconds: Mapping[str, Seconds], rounds: int) -> Drawing:
    """Draw the interquartile mean with tuned scales against the run time per round, one panel per group.

    Args:
        seconds: group -> run times of its learners, for the setting ``group``.
        rounds: number of rounds of each measurement.
    """
    groups = [*outcome.groups()]
    fig, axes = group_panels(groups, 2.5)
    numbers = {}
    for (ax, letter), group in zip(axes, groups):
        numbers[group] = {}
        found = outcome.means("tuned", group)
        with style_context():
            for name, how in line_styles(found, ARENA).items():
                micro = seconds[group].typical((name, group), "mean", scale=1e6)
                low, middle, high = np.quantile(micro, (0.25, 0.5, 0.75))
                mean: stats.Interval = found[name]
                numbers[group][name] = {"microseconds": [low, middle, high], "regret": mean}
                ax.errorbar(
                    middle,
                    mean.estimate,
                    [[mean.estimate - mean.low], [mean.high - mean.estimate]],
                    [[middle - low], [high - middle]],
                    elinewidth=0.6,
                    label=how["label"],
                    **dot_style(name, how),
                )
            ax.set(
                xscale="log",
                yscale="log",
                xlabel="run time per round (µs)",
                ylabel="normalized regret",
                title=f"({letter}) {group}",
            )
            ax.margins(x=0.15)
        extend_log_axis(ax, [each["regret"].estimate for each in numbers[group].values()])
    legend(fig, columns=4)
    cheapest = lowest(numbers, lambda each: each["microseconds"][1])
    return Drawing(
        fig,
        caption=f"Interquartile mean of the normalized regret with tuned scales (vertical, with 95 % intervals) against the mean run time per round of one trial (horizontal: median and quartiles over repetitions) in the first {rounds:,} rounds of the first problem of the group, on one core. Lower left is better. {SCORE}",
        alt=f"One point per learner. Cheapest: {cheapest}.",
        trials=len(outcome.scores("tuned", groups[0], UNIFORM)[0]),
        numbers=numbers,
    )
