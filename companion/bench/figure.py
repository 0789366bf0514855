"""The bench's figure: what a round costs against the number of trials, rounds, arms and dimensions, and memory.

A learner here is its entry in the report that ``report.distill`` makes.
"""

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from paperlib.core.text import number

from ..figures import drawing as figures
from ..figures.drawing import look, style
from .measure import PATIENCE

AXES = {
    "trials": "trials in a batch",
    "played": "rounds played",
    "arms": "arms",
    "dim": "dimensions",
}


def slug(name: str) -> str:
    """A file name from a device's name: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm|c)\)", "", name.lower())).strip("-")


def shown_name(name: str, learner: dict[str, Any]) -> str:
    """A learner's label, with a star where it works on the host."""
    return look(name)["label"] + "*" * learner["on_host"]


def along(learner: dict[str, Any], axis: str) -> list[dict]:
    """The points that differ from the learner's base in ``axis`` alone, in its order; none where it was not varied."""
    if axis in learner["not_varied"]:
        return []
    rest = AXES.keys() - {axis}
    beside = lambda point: all(point[name] == learner["base"][name] for name in rest)
    return sorted(filter(beside, learner["points"]), key=lambda point: point[axis])


def lines_panel(
    ax: Axes, learners: dict[str, dict], axis: str, quantity: str, *, title: str, ylabel: str
) -> dict[str, dict]:
    """A line a learner, both axes logarithmic, hidden where there is none; returns name -> axis and quantity, the plotted numbers."""
    numbers = {}
    with style():
        for name, learner in learners.items():
            points = along(learner, axis)
            if points:
                x, y = [point[axis] for point in points], [point[quantity] for point in points]
                ax.plot(x, y, **{**look(name), "label": shown_name(name, learner)})
                numbers[name] = {axis: x, quantity: y}
        ax.set(title=title, xlabel=AXES[axis], ylabel=ylabel, xscale="log", yscale="log")
        ticks = sorted({at for found in numbers.values() for at in found[axis]})
        ax.set_xticks(ticks, labels=map(str, ticks))
        low, high = ax.get_ylim()
        if high < 10 * low:  # else there may be no power of 10 to label
            ax.set_ylim(*(np.sqrt(low * high) * np.array([10**-0.5, 10**0.5])))
        ax.yaxis.set_major_locator(LogLocator(numticks=10))
        ax.minorticks_off()
        ax.set_visible(bool(numbers))
    return numbers


def memory_panel(ax: Axes, learners: dict[str, dict], *, title: str) -> dict[str, dict]:
    """A dot a learner: peak memory of the process, or of the tensors on a GPU; returns name -> trials and MB."""
    numbers = {}
    with style():
        for row, (name, learner) in enumerate(learners.items()):
            peak, how = learner["peak_memory"], look(name)
            size = peak["process"] if peak["device"] is None else peak["device"]
            megabytes = max(size, 4096) / 1e6  # one page: a log axis has no 0
            dot = {"color": how["color"], "marker": how["marker"] or "o", "markersize": 4}
            ax.plot(megabytes, row, linestyle="none", **dot)
            numbers[name] = {"trials": peak["trials"], "MB": megabytes}
        decades = np.log10([found["MB"] for found in numbers.values()])
        ends = np.floor(decades.min()) - 0.1, np.ceil(decades.max()) + 0.1
        ax.set(title=title, xlabel="peak memory, MB", xscale="log", xlim=[10**end for end in ends])
        ax.set_ylim(len(learners) - 0.4, -0.6)
        labels = [shown_name(*item) for item in learners.items()]
        ax.set_yticks(range(len(learners)), labels, fontsize=6)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    return numbers


def draw(report: dict[str, Any], paper: str) -> str:
    """Save a paper's figure, ``bench/<paper>_<device>``; returns its name."""
    learners, plan = report["papers"][paper], report["plan"]
    R, t, _, _ = plan["base"].values()
    fig, axes = figures.panels(3, 2, height=max(2.4, 0.18 * len(learners)))
    batch = f"{R} trials" + " (*: 1)" * _on_host(learners)
    titles = {
        "trials": f"(a) after {t} rounds",
        "played": f"(b) {batch}",
        "arms": f"(c) {batch}",
        "dim": f"(d) {batch}",
    }
    numbers = {}
    for ax, (axis, title) in zip(axes.flat, titles.items()):
        numbers[f"seconds, {axis}"] = lines_panel(
            ax, learners, axis, "median", title=title, ylabel="seconds a round and trial"
        )
    varied = [AXES[axis] for axis in titles if numbers[f"seconds, {axis}"]]
    numbers["state"] = lines_panel(
        axes[1, 1], learners, "played", "state_bytes", title="(e) state", ylabel="bytes a trial"
    )
    most = max(plan["along"]["trials"])
    numbers["peak"] = memory_panel(axes[1, 2], learners, title=f"(f) {most} trials, {t} rounds")
    where = f"{report['device']}, one thread"
    wide = max(len(shown_name(*item)) for item in learners.items()) > 28
    figures.legend(fig, columns=3 if wide else 6)
    fig.legends[0].set_title(where, {"size": 8})
    name = f"{paper}_{slug(report['device'])}"
    figures.save(
        fig,
        name,
        paper="bench",
        profile=report["profile"],
        seed=0,
        trials={name: learner["peak_memory"]["trials"] for name, learner in learners.items()},
        device=report["device"],
        numbers=numbers,
        parameters=plan,
        caption=caption(report, learners, where),
        alt=f"A line or a dot for each of {len(learners)} learners: seconds a round and trial against {', '.join(varied)}; bytes of state against rounds; peak memory.",
    )
    return name


def caption(report: dict[str, Any], learners: dict[str, dict], where: str) -> str:
    """What is shown, over how many repetitions, and what the star means where there is one."""
    _, t, K, d = report["plan"]["base"].values()
    points = [point for learner in learners.values() for point in learner["points"]]
    blocks = [point["blocks"] for point in points]
    spread = 100 * float(np.median([point["iqr"] / point["median"] for point in points]))
    gpu = any(learner["peak_memory"]["device"] is not None for learner in learners.values())
    peak = "Peak memory of a run" + (
        "'s tensors." if gpu else " beyond what it takes with one trial."
    )
    text = (
        f"Cost of a round in select and update, on {where}, torch {report['versions']['torch']}: medians over {min(blocks)} to {max(blocks)} repetitions of the same {report['plan']['block']} rounds "
        f"(typical interquartile range {number(spread)} % of the median), divided by the trials of the batch; K = {K} arms and d = {d} dimensions, {t} rounds played "
        f"before, where the axis says nothing else and the problem has arms and dimensions to vary. (e) Bytes of the state, a trial. (f) {peak}"
    )
    if any(_shortened(learner, report["plan"]) for learner in learners.values()):
        text += f" A line ends, and a learner has fewer trials in (f), where {PATIENCE:g} s of play did not get further."
    return text + " *: works on the host; one trial in (b) to (e)." * _on_host(learners)


def _shortened(learner: dict[str, Any], plan: dict[str, Any]) -> bool:
    """Whether the learner lacks a point that the plan asks for."""
    sizes = {
        axis: len(values)
        for axis, values in plan["along"].items()
        if axis not in learner["not_varied"]
    }
    return any(len(along(learner, axis)) < size for axis, size in sizes.items())


def _on_host(learners: dict[str, dict]) -> bool:
    return any(learner["on_host"] for learner in learners.values())
