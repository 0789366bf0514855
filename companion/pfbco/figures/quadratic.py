"""Figure 1a and the tables of the notebook on quadratic losses."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ...figures.charts import lines_across
from ...figures.drawing import Drawing, band_note, legend, panels
from ..experiments.losses import average, averaged, caveat
from ..experiments.settings import FIGURE, recorded
from .losses import average_panel, final_losses

PROJECTIONS = ("FKM", "FKM, sham", "FKM 2005", "Leader")  # learners with exact projections
ENDS = (255, 1023, 4095, 16383)  # rounds after which StochOCG's loss is compared with PF's


def draw_figure_1a(traces: Mapping[float, dict[str, Trace]]) -> Drawing:
    """Draw the average losses for both values of c, and the methods with exact projections relative to the center.

    Args:
        traces: c -> learner -> trace.
    """
    fig, axes = panels(3, height=2.8)
    first = traces[0.1]
    rounds = recorded(horizon := int(first["PF"].rounds[-1]))
    center = float(first["PF"]["origin"][:, -1].mean() / horizon)
    lines, numbers = {"center": center, "least expected loss": 0.0}, {}
    for ax, (c, found), letter in zip(axes[0], traces.items(), "ab"):
        curves = averaged({name: found[name] for name in FIGURE}, rounds)
        numbers[f"c={c:g}"] = _losses_panel(ax, curves, f"({letter}) c = {c:g}", lines)
    numbers["projections"] = _projections_panel(axes[0, 2], first, rounds)
    axes[0, 1].set_ylabel("")
    legend(fig, columns=4)
    numbers["lines"] = lines
    numbers["final average loss"] = final_losses({f"c={c:g}": x for c, x in traces.items()})
    return Drawing(
        fig,
        trials=len(first["PF"].trials),
        numbers=numbers,
        caption=f"Quadratic losses on random polytopes in 10 dimensions. Average loss of the points played so far against the number of rounds, at c = 0.1 (a) and c = 1 (b). Panel (c): average loss of the methods with exact projections, minus the loss of staying at the center, at c = 0.1. Dotted lines: the loss of staying at the center, and the least expected loss. At c = 0.1, PF does not learn: {caveat(first)} (c = 0.1). {band_note(first)}",
        alt="Three line plots of average loss against rounds on a log axis. In the first two, PF rises for some tens of rounds and then falls, and the dashed curve of its control with sign-flipped feedback coincides with it. FKM stays flat on the line of the center and ends below PF, its control, the unregularized variant and StochOCG. The unregularized variant rises far above the others. StochOCG has a high peak and falls towards PF. In the third panel, whose vertical axis is strongly enlarged, FKM, its own control and the exact leader stay within a few hundredths of the center. FKM with the constants of 2005 has a higher loss at first and then falls to the level of the center.",
    )


def _losses_panel(
    ax: Axes, curves: dict[str, Trace], title: str, lines: Mapping[str, float]
) -> dict[str, dict]:
    """Draw average losses with dotted lines for the center and the least expected loss."""
    numbers = average_panel(ax, curves, title)
    for name, height in lines.items():
        lines_across(ax, {name: height}, right=height > 0, below=height > 0)
    ax.set_ylim(-0.15, 5.2)
    return numbers


def _projections_panel(ax: Axes, traces: dict[str, Trace], rounds: list[int]) -> dict[str, dict]:
    """Draw the average losses of the methods with exact projections, minus the loss of the center."""
    center = traces["PF"].thin(rounds)["origin"]
    curves = averaged({name: traces[name] for name in PROJECTIONS}, rounds, beside=center)
    title, ylabel = "(c) exact projections, c = 0.1", "loss minus center's loss"
    numbers = average_panel(ax, curves, title, ylabel)
    lines_across(ax, {"center": 0.0}, below=True)
    ax.set_ylim(-0.04, 0.14)
    return numbers


def print_loss_ratios(c: float, traces: dict[str, Trace]) -> None:
    """Print StochOCG's average loss divided by PF's after several numbers of rounds."""
    ours, other = traces["PF"], traces["StochOCG"]
    ratios = {
        T: average(other, T).mean() / average(ours, T).mean() for T in ENDS if T in ours.rounds
    }
    words = ", ".join(f"{format_number(x)} (T = {T})" for T, x in ratios.items())
    trials = len(ours.trials)
    print(f"StochOCG's average loss divided by PF's, c = {c:g}, {trials} trials: {words}")
