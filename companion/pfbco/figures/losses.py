"""Panels and printed lines on average losses that the notebooks of Figures 1a, 1b and 1c share."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.pfbco.theory.constants import Setting, first_informative, theorem_1, vacuity_ratio

from ...figures.drawing import regret_panel
from ..experiments.losses import loss_table, mean_norms


def average_panel(
    ax: Axes, traces: dict[str, Trace], title: str, ylabel: str = "average loss", **more: Any
) -> dict[str, dict]:
    """Draw the series "average" of traces against the rounds on a log axis; ``more``: keywords of ``regret_panel``."""
    how = {"series": "average", "log_x": True, "labels": False}
    return regret_panel(ax, traces, title=title, ylabel=ylabel, **how | more)


def print_losses(
    traces: dict[str, Trace], before: str = "  ", width: int = 15, skip: str = ""
) -> None:
    """Print one row of ``loss_table`` per learner.

    Args:
        traces: learner -> trace.
        before: text in front of a learner's name.
        width: width of the column of names.
        skip: a learner without a row, which still counts in Holm's correction.
    """
    for name, row in loss_table(traces).items():
        if name != skip:
            print(f"{before}{name:{width}s} {row}")


def constants_text(trace: Trace) -> str:
    """Return M, G, D and R of PF's trace as text, means over trials."""
    means = zip("MGDR", trace["constants"].mean(0))
    return "  ".join(f"{name} {format_number(x)}" for name, x in means)


def bound_text(trace: Trace, dim: int, c: float, digits: int = 2) -> str:
    """Return Theorem 1 divided by 2MT, and the first round where this ratio is below 1, as text.

    Args:
        trace: PF's trace with its constants.
        dim: dimension of the gradient estimates.
        c: exploration scale.
        digits: significant digits of the ratio.
    """
    setting = Setting.recorded(trace["constants"], dim, c)
    ratio = vacuity_ratio(theorem_1, setting, int(trace.rounds[-1]))
    first = first_informative(theorem_1, setting)
    return f"Theorem 1 over the trivial bound {ratio:.{digits}g}, below 1 from T = {first:.2g}"


def norms_text(traces: dict[str, Trace], digits: int = 3) -> str:
    """Return the mean norms of PF's estimates and of StochOCG's noise as text."""
    ours, noise = mean_norms(traces)
    return f"mean norm of estimates {ours:.{digits}g}, of the noise {noise:.{digits}g}"


def final_losses(tables: Mapping[str, dict[str, Trace]]) -> dict[str, dict]:
    """Return the final average losses of all learners for the numbers of a figure. ``tables``: name -> learner -> trace."""
    return {name: loss_table(traces) for name, traces in tables.items()}
