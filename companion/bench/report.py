"""Run time and memory of every learner on this machine: ``python3 run.py bench`` calls this module.

The measurements of a device are stored in one file, without the machine's names and dates. The figures show the run time per round
against the number of trials, rounds, arms and dimensions, and memory. Only complete measurements, of the whole bench or of
all of a paper, go to ``bench/`` and ``figures/bench/``. A learner of a figure is its entry in that file, see ``entry``.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from paperlib.core.linalg import pick_device
from paperlib.core.text import format_number, to_json
from paperlib.core.validation import raise_invalid

from ..figures import drawing as figures
from ..figures.drawing import line_style, style_context
from ..output import profile_dir, project_dir, write_text
from ..papers import papers
from ..store.keys import versions
from ..store.progress import progress_line
from ..store.timing import exclusive_lock
from ..workflow.plan import profile_results
from . import measure as speed

AXES = {
    "trials": "trials in a batch",
    "played": "rounds played",
    "arms": "number of arms",
    "dim": "dimension",
}


# ---- Measurements ------------------------------------------------------------------------------------------


def measure(plan: speed.Plan, device: str, only: str | None = None) -> dict[str, dict]:
    """Return paper -> learner -> points, and the peak memory with the largest number of trials that was reached.

    Seconds are per round and trial, in ``select`` and ``update``. ``blocks`` is the number of repetitions that the statistics
    are based on, and a learner's ``base`` is the point where its axes cross. The call exits if a measurement fails, or if
    no point is reached.
    """
    found, subjects = {}, speed.subjects(only)
    with progress_line("bench", len(subjects), still=True) as shown, exclusive_lock():
        for subject in subjects:
            shown.begin(subject.name)
            try:
                points = speed.points(subject, plan)
                timed = {p: speed.time_block(subject.case, p, plan, device) for p in points}
                # Points that are not reached have no timing.
                if timed := {point: timing for point, timing in timed.items() if timing}:
                    most = max(point.trials for point in timed)
                    peak = speed.memory(subject, plan, device, most)
                    learner = entry(subject, timed, peak, plan)
                    found.setdefault(subject.paper, {})[subject.name] = learner
            except Exception as error:
                sys.exit(f"The bench failed for {subject.name} of {subject.paper}: {error!r}")
            shown.end()
    if not found:
        sys.exit(f"The bench failed: no measurement was completed within {speed.PATIENCE:g} s")
    return found


def entry(
    subject: speed.Subject,
    timed: dict[speed.Point, speed.Timing],
    peak: dict[str, Any],
    plan: speed.Plan,
) -> dict[str, Any]:
    """Return the entry that is stored for a learner."""
    return {
        "on_host": subject.on_host,
        "not_varied": speed.lacking(subject),
        "peak_memory": peak,
        "base": speed.base(subject, plan)._asdict(),
        "points": [summary(*item, plan.block) for item in timed.items()],
    }


def summary(point: speed.Point, timing: speed.Timing, block: int) -> dict[str, Any]:
    """Return statistics of the seconds per round and trial at a point."""
    seconds = np.array(timing.seconds) / (block * point.trials)
    low, median, high = np.quantile(seconds, (0.25, 0.5, 0.75))
    about = {"median": median, "iqr": high - low, "min": seconds.min()}
    sizes = {"blocks": len(seconds), "state_bytes": timing.state_bytes}
    return {**point._asdict(), **about, **sizes}


def described(
    found: dict[str, dict], plan: speed.Plan, device: str, profile: str
) -> dict[str, Any]:
    """Return the content of the file for a call: the result of ``measure``, and how it was measured.

    Args:
        found: the result of ``measure``.
        plan: the points of the bench.
        device: name of the device.
        profile: "paper" for all learners of a paper at full sizes, otherwise "quick".
    """
    return to_json(
        {
            "device": device,
            "threads": 1,
            "profile": profile,
            "versions": versions(),
            "plan": {"base": plan.base._asdict(), "along": plan.along, "block": plan.block},
            "papers": found,
        }
    )


def joined(report: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    """Return a report, completed by the papers of an earlier report of the same device that it has not measured.

    Raises:
        ValueError: the earlier report was measured with other versions or another plan.
    """
    for name in ("device", "threads", "profile", "versions", "plan"):
        if kept.get(name) != report[name]:
            raise_invalid(
                f"{name} of the earlier report",
                kept.get(name),
                f"{report[name]}, as in this measurement (otherwise measure all papers)",
            )
    found = kept["papers"] | report["papers"]
    order = [paper for paper in papers() if paper in found]
    return report | {"papers": {paper: found[paper] for paper in order}}


def write(report: dict[str, Any], path: Path) -> None:
    """Write JSON with one line per point, atomically."""
    text = json.dumps(report, indent=1, ensure_ascii=False)
    in_line = lambda inner: " ".join(inner[0].split())
    write_text(path, re.sub(r"[\[{][^\[\]{}]*[\]}]", in_line, text) + "\n")


# ---- The figure --------------------------------------------------------------------------------------------


def slug(name: str) -> str:
    """Return a file name from a device's name: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm|c)\)", "", name.lower())).strip("-")


def shown_name(name: str, learner: dict[str, Any]) -> str:
    """Return a learner's label, with a star if it works on the host."""
    return line_style(name)["label"] + "*" * learner["on_host"]


def along(learner: dict[str, Any], axis: str) -> list[dict]:
    """Return the points that differ from the learner's base only in ``axis``, sorted; an empty list if it was not varied."""
    if axis in learner["not_varied"]:
        return []
    rest = AXES.keys() - {axis}
    beside = lambda point: all(point[name] == learner["base"][name] for name in rest)
    return sorted(filter(beside, learner["points"]), key=lambda point: point[axis])


def lines_panel(
    ax: Axes, learners: dict[str, dict], axis: str, quantity: str, *, title: str, ylabel: str
) -> dict[str, dict]:
    """Draw one line per learner on log axes; the panel is hidden if there is no line.

    Returns:
        The plotted numbers: name -> axis and quantity.
    """
    numbers = {}
    with style_context():
        for name, learner in learners.items():
            points = along(learner, axis)
            if points:
                x, y = [point[axis] for point in points], [point[quantity] for point in points]
                ax.plot(x, y, **{**line_style(name), "label": shown_name(name, learner)})
                numbers[name] = {axis: x, quantity: y}
        ax.set(title=title, xlabel=AXES[axis], ylabel=ylabel, xscale="log", yscale="log")
        ticks = sorted({at for found in numbers.values() for at in found[axis]})
        ax.set_xticks(ticks, labels=map(str, ticks))
        low, high = ax.get_ylim()
        if high < 10 * low:  # otherwise there may be no power of 10 to label
            ax.set_ylim(*(np.sqrt(low * high) * np.array([10**-0.5, 10**0.5])))
        ax.yaxis.set_major_locator(LogLocator(numticks=10))
        ax.minorticks_off()
        ax.set_visible(bool(numbers))
    return numbers


def memory_panel(ax: Axes, learners: dict[str, dict], *, title: str) -> dict[str, dict]:
    """Draw one dot per learner: the peak memory of the process, or of the tensors on a GPU.

    Returns:
        name -> trials and MB: the plotted numbers.
    """
    numbers = {}
    with style_context():
        for row, (name, learner) in enumerate(learners.items()):
            peak, how = learner["peak_memory"], line_style(name)
            size = peak["process"] if peak["device"] is None else peak["device"]
            megabytes = max(size, 4096) / 1e6  # at least one page, because a log axis has no 0
            dot = {"color": how["color"], "marker": how["marker"] or "o", "markersize": 4}
            ax.plot(megabytes, row, linestyle="none", **dot)
            numbers[name] = {"trials": peak["trials"], "MB": megabytes}
        decades = np.log10([found["MB"] for found in numbers.values()])
        ends = np.floor(decades.min()) - 0.1, np.ceil(decades.max()) + 0.1
        ax.set(title=title, xlabel="peak memory (MB)", xscale="log", xlim=[10**end for end in ends])
        ax.set_ylim(len(learners) - 0.4, -0.6)
        labels = [shown_name(*item) for item in learners.items()]
        ax.set_yticks(range(len(learners)), labels, fontsize=6)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    return numbers


def draw(report: dict[str, Any], paper: str) -> str:
    """Save a paper's figure, ``bench/<paper>_<device>``; return its name."""
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
            ax, learners, axis, "median", title=title, ylabel="run time per round and trial (s)"
        )
    varied = [AXES[axis] for axis in titles if numbers[f"seconds, {axis}"]]
    numbers["state"] = lines_panel(
        axes[1, 1], learners, "played", "state_bytes", title="(e) state", ylabel="bytes per trial"
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
        alt=f"Line plots with a line for each of {len(learners)} learners: run time per round and trial against {', '.join(varied)}; size of the state against rounds played. A dot plot shows the peak memory of each learner.",
    )
    return name


def caption(report: dict[str, Any], learners: dict[str, dict], where: str) -> str:
    """Return the caption: the axes, the number of repetitions, and the meaning of the star if there is one."""
    plan, (_, t, K, d) = report["plan"], report["plan"]["base"].values()
    points = [point for learner in learners.values() for point in learner["points"]]
    blocks = [point["blocks"] for point in points]
    spread = 100 * float(np.median([point["iqr"] / point["median"] for point in points]))
    gpu = any(learner["peak_memory"]["device"] is not None for learner in learners.values())
    peak = "Peak memory of a run" + (
        "'s tensors." if gpu else " minus the peak memory of a short run with one trial."
    )
    text = (
        f"Run time per round in select and update, on {where}, torch {report['versions']['torch']}: medians over {min(blocks)} to {max(blocks)} repetitions of the same {plan['block']} rounds "
        f"(typical interquartile range {format_number(spread)} % of the median), divided by the number of trials in the batch. Unless a panel varies them, there are K = {K} arms and "
        f"d = {d} dimensions (if the problem has these), and {t} rounds were played before. (e) Size of the state in bytes per trial. (f) {peak}"
    )
    shortened = any(
        len(along(learner, axis)) < len(values)
        for learner in learners.values()
        for axis, values in plan["along"].items()
        if axis not in learner["not_varied"]
    )
    if shortened:
        text += f" A line ends early, and a learner has fewer trials in (f), if playing the rounds before a point takes longer than {speed.PATIENCE:g} s."
    return text + " *: the learner computes on the host, with one trial in (b) to (e)." * _on_host(
        learners
    )


def _on_host(learners: dict[str, dict]) -> bool:
    return any(learner["on_host"] for learner in learners.values())


# ---- The command -------------------------------------------------------------------------------------------


def main(argv: list[str] | None = None) -> int:
    """Measure every learner on this machine, store the numbers under the device's name, and draw them."""
    parser = argparse.ArgumentParser(prog="python -m companion.bench", description=main.__doc__)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument(
        "--quick", action="store_true", help="few and small points, to check that it works"
    )
    parser.add_argument("--only", metavar="NAME", help="a paper or a learner")
    options = parser.parse_args(argv)
    try:
        device = pick_device(options.device)
        speed.subjects(options.only)
    except ValueError as error:
        parser.error(str(error))
    full = speed.DEVICE if device.startswith("cuda") else speed.FULL
    plan = speed.QUICK if options.quick else full
    whole = options.only is None or options.only in papers()
    profile = "paper" if whole and not options.quick else "quick"
    found = measure(plan, device, options.only)
    report = described(found, plan, speed.device_name(device), profile)
    place = project_dir() if profile == "paper" else profile_results("quick")
    path, kept = place / "bench" / f"{slug(report['device'])}.json", report
    if profile == "paper" and options.only and path.exists():
        try:
            kept = joined(report, json.loads(path.read_text()))
        except ValueError as error:
            profile, path = "quick", profile_results("quick") / "bench" / path.name
            kept = report = report | {"profile": profile}
            print(
                f"Not merged with the earlier measurements of other papers: {error}",
                file=sys.stderr,
            )
    write(kept, path)
    print(f"Numbers: {path}")
    for paper in report["papers"]:
        print(f"Figure:  {profile_dir(profile) / 'bench' / draw(report, paper)}.pdf")
    return 0
