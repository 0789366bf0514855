"""Figure 1c and the tables of the notebook on matrix completion."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from paperlib.core.trace import Trace

from ...figures.charts import lines_across
from ...figures.drawing import Drawing, band_note, legend, panels
from ..experiments.losses import averaged, caveat
from ..experiments.settings import FIGURE, recorded
from .losses import average_panel, final_losses

Runs = Mapping[tuple[str, float], dict[str, Trace]]  # (oracle, c) -> learner -> trace
TITLES = {
    "printed": "oracle as printed",
    "exact": "exact oracle",
    "psd": "$X \\succeq 0$, tr $X \\leq 18$",
}
EXPECTED = {"$X = 0$": 3510.0, "$X = 0.9 I$": 3352.05}  # expected losses of fixed matrices


def draw_figure_1c(traces: Runs, zero: np.ndarray, gain: np.ndarray) -> Drawing:
    """Draw one column per oracle: the average losses at c = 0.1, and below them the losses minus the loss of X = 0 for both values of c.

    Args:
        traces: the runs.
        zero: summed loss of X = 0 in each trial, R x T'.
        gain: the largest possible gain over X = 0 of each trial, R.
    """
    fig, axes = panels(3, 3, height=2.2)
    scales, numbers = list(dict.fromkeys(c for _, c in traces)), {"lines": EXPECTED}
    rounds = recorded(int(traces["printed", 0.1]["PF"].rounds[-1]))
    for column, (key, title) in enumerate(TITLES.items()):
        ax, first = axes[0, column], traces[key, 0.1]
        curves = averaged({name: first[name] for name in FIGURE}, rounds)
        words = f"({'abc'[column]}) {title}, c = 0.1"
        numbers[f"{key}, c=0.1"] = average_panel(ax, curves, words)
        ax.set_ylim(3150, 3850)
        lines_across(ax, EXPECTED, outside=True)
        for row, c in enumerate(scales, 1):
            names = [*FIGURE] + ["FKM 2005", "Leader"] * (c == 0.1)
            found = {name: traces[key, c][name] for name in names}
            curves = averaged(found, rounds, beside=zero)
            words = f"({'abcdefghi'[3 * row + column]}) {title}, c = {c:g}"
            numbers[f"{key}, c={c:g}, above zero"] = _above_zero(axes[row, column], curves, words)
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")
    legend(fig, columns=4)
    numbers["final average loss"] = final_losses(
        {f"{key}, c={c:g}": found for (key, c), found in traces.items()}
    )
    shown = {name: traces["psd", 0.1][name] for name in FIGURE}
    return Drawing(
        fig,
        trials=len(gain),
        numbers=numbers,
        caption=f"Matrix completion, 20 x 20, rank 18. Top: average loss of the points played so far against the number of rounds, at c = 0.1; the bands of the first rounds, mostly noise common to all curves, are cut. Middle and bottom: average loss minus the loss of X = 0 in the same rounds, at c = 0.1 (middle, with the exact leader and FKM with the constants of 2005) and c = 1 (bottom). Columns: the linear oracle as printed, the exact oracle of the nuclear-norm ball, and positive semidefinite matrices of bounded trace. Only the first is the paper's, and it is not the exact oracle of the paper's set. With it, {caveat(traces['printed', 0.1], gain=gain)} (c = 0.1). Dotted lines: expected loss at X = 0 and at the best matrix, 0.9 I. {band_note(shown)}",
        alt="Nine line plots of average loss against rounds on a log axis. In the first row all curves share a large common noise, and its bands fill the panels for about the first ten rounds. With the oracle as printed, PF, its control with sign-flipped feedback and StochOCG fall below FKM, which stays at the loss of X = 0 with the exact leader. With the exact oracle, PF and FKM both stay near the loss of X = 0 and only StochOCG falls. With positive semidefinite matrices, all curves start far below the loss of X = 0; at c = 0.1, PF, its control and FKM end below StochOCG, and the unregularized variant ends highest. PF and its control coincide in every panel.",
    )


def _above_zero(ax: Axes, curves: dict[str, Trace], title: str) -> dict[str, dict]:
    """Draw average losses minus the loss of X = 0, with dotted lines for fixed matrices."""
    numbers = average_panel(ax, curves, title, "loss minus loss of $X = 0$")
    ax.set_ylim(-195, 130)
    above = {name: loss - EXPECTED["$X = 0$"] for name, loss in EXPECTED.items()}
    lines_across(ax, above, below=True)
    return numbers
