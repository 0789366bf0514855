"""Figures, tables and verdicts of the notebook on theory: sizes of Figure 1, Table 1, practical constants and errata."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from paperlib import stats
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import first_informative, unit_ball

from ...figures.charts import lines_across
from ...figures.drawing import Drawing, band_note, legend, line_style, panels
from ...study import Study
from ...verdicts import Verdict
from .. import errata
from ..experiments.growth import TABLE_1
from ..experiments.losses import averaged, by_epoch, last_quarter, late, learns, ratio
from ..experiments.settings import recorded
from ..proofs.lemmas import rule_of_thumb
from .losses import average_panel

# ---- Theorem 1 at the sizes of Figure 1, and Table 1 --------------------------------------------------------


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


def print_table_1(whole: Mapping[tuple[str, int], stats.Interval]) -> None:
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


# ---- Errata -------------------------------------------------------------------------------------------------


def show_erratum(id: str) -> None:
    """Print the numbers that demonstrate an erratum, and this package's resolution."""
    erratum = next(erratum for erratum in errata.ERRATA if erratum.id == id)
    numbers = erratum.function().items()
    print(", ".join(f"{name}: {format_number(value)}" for name, value in numbers))
    print("here:", erratum.resolution)
