"""Figure, table and verdicts of the notebook on theory: practical constants."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ...figures.charts import lines_across
from ...figures.drawing import Drawing, band_note, legend, line_style, panels
from ...study import Study
from ...verdicts import Verdict
from ..experiments.losses import averaged, by_epoch, last_quarter, late, learns, ratio
from ..experiments.settings import recorded
from .losses import average_panel

# ---- Practical constants ------------------------------------------------------------------------------------

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
