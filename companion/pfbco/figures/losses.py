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


def print_losses(title: str, traces: dict[str, Trace]) -> None:
    """Print a title with the numbers of trials and rounds, and one row of ``loss_table`` per learner."""
    print(f"{title}, {len(traces['PF'].trials)} trials of {traces['PF'].rounds[-1]} rounds")
    for name, row in loss_table(traces).items():
        print(f"  {name:15s} {row}")


def print_bounds(
    title: str, traces: dict[str, Trace], dim: int, c: float, theorem: bool = True
) -> None:
    """Print PF's constants, Theorem 1 divided by the trivial bound, and the mean norms of estimates and noise.

    Args:
        title: text in front.
        traces: learner -> trace, with the constants in PF's.
        dim: dimension of the gradient estimates.
        c: exploration scale.
        theorem: whether Theorem 1 applies to the runs.
    """
    trace, (ours, noise) = traces["PF"], mean_norms(traces)
    found = zip("MGDR", trace["constants"].mean(0))
    print(f"{title}, means over trials:", *(f"{name} {format_number(x)}" for name, x in found))
    if theorem:
        setting = Setting.recorded(trace["constants"], dim, c)
        ratio = vacuity_ratio(theorem_1, setting, int(trace.rounds[-1]))
        first = first_informative(theorem_1, setting)
        print(f"  Theorem 1 over the trivial bound {ratio:.2g}, below 1 from T = {first:.2g}")
    print(f"  mean norm of estimates {ours:.2g}, of the noise {noise:.2g}")


def final_losses(tables: Mapping[str, dict[str, Trace]]) -> dict[str, dict]:
    """Return the final average losses of all learners for the numbers of a figure. ``tables``: name -> learner -> trace."""
    return {name: loss_table(traces) for name, traces in tables.items()}
