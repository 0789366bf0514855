"""Figure 1b, the tables and the verdicts of the notebook on portfolios."""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from paperlib import stats
from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ...figures.charts import lines_across
from ...figures.drawing import Drawing, band_note, legend, panels
from ...study import Study
from ...verdicts import Verdict
from ..experiments.losses import agreed, average, averaged, caveat
from ..experiments.settings import FIGURE, recorded
from ..problems.portfolio import Portfolio, market
from .losses import average_panel, final_losses

Runs = Mapping[tuple[str, float], dict[str, Trace]]  # (title of a table, c) -> learner -> trace
FIXED = {"y = 0": "origin", "uniform portfolio": "uniform"}  # fixed portfolios -> series
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)  # of the loss minus the uniform portfolio's
STOCKS = 100  # stocks of a trial, the dimension of the problem


def _fixed_losses(trace: Trace) -> dict[str, float]:
    """Return the average losses of the fixed portfolios, means over trials. ``trace``: PF's."""
    return {name: float(trace[key][:, -1].mean() / trace.rounds[-1]) for name, key in FIXED.items()}


def draw_figure_1b(tables: Mapping[str, str], traces: Runs, unit: Runs) -> Drawing:
    """Draw one column of panels per price table: the average losses for both values of c, and the losses minus the uniform portfolio's.

    Args:
        tables: title -> name of the price table.
        traces: the runs with M as a bound on the losses.
        unit: the runs with M = 1.
    """
    fig, axes = panels(len(tables), 3, height=2.3)
    scales, numbers = list(dict.fromkeys(c for _, c in traces)), {}
    letter = lambda row, column: f"({'abcdef'[row * len(tables) + column]})"
    for column, title in enumerate(tables):
        first = traces[title, 0.1]
        lines = _fixed_losses(first["PF"])
        for row, c in enumerate(scales):
            name = f"{title}, c={c:g}"
            found = traces[title, c] | {"FKM, M=1": unit[title, c]["FKM"]}
            words = f"{letter(row, column)} {title}, c = {c:g}"
            numbers[name] = _losses_panel(axes[row, column], found, words, c == 0.1, lines)
        words = f"{letter(2, column)} {title}, c = 0.1, log axis"
        numbers[f"{title}, above uniform"] = _above_uniform(axes[2, column], first, words)
        numbers[f"{title}, lines"] = lines
    legend(fig, columns=4 if len(tables) > 1 else 2)
    numbers["final average loss"] = final_losses(
        {f"{title}, c={c:g}": found for (title, c), found in traces.items()}
    )
    sums = {table: Portfolio(STOCKS, table).data_checksum for table in tables.values()}
    at = [traces[title, 0.1] for title in tables]
    return Drawing(
        fig,
        trials=len(at[0]["PF"].trials),
        data_checksum=", ".join(f"{table} {x}" for table, x in sums.items() if x) or None,
        numbers=numbers,
        caption=f"Portfolios of 100 stocks, {', '.join(tables)}. Average loss of the points played so far against the number of rounds. Top: c = 0.1, with the exact leader, FKM with the constants of 2005, and FKM with M = 1 in place of the bound. Middle: c = 1, with FKM with M = 1. Bottom: average loss minus the loss of the uniform portfolio, at c = 0.1. Dotted lines: half of the wealth in equal parts, and the uniform portfolio. The curves differ mainly in the fraction of wealth invested, and PF does not learn: {caveat(*at)} (c = 0.1). {band_note(at[-1])}",
        alt="Line plots of average loss against rounds on a log axis. All curves start at about 0.7. PF, its control with sign-flipped feedback and the unregularized variant fall together; StochOCG falls faster. At c = 0.1, FKM levels off far above them, FKM with M = 1 comes close to them, and the exact leader and FKM with the constants of 2005 stay at 0.69. At c = 1, FKM ends above PF, FKM with M = 1 ends below PF, and StochOCG ends far below all others. In the bottom panels, with a logarithmic vertical axis, StochOCG's curve is the lowest, and the curves of PF, its control with sign-flipped feedback and the unregularized variant coincide.",
    )


def _losses_panel(
    ax: Axes, traces: dict[str, Trace], title: str, more: bool, lines: Mapping[str, float]
) -> dict[str, dict]:
    """Draw average losses with dotted lines for fixed portfolios.

    Args:
        more: whether FKM with the constants of 2005 and the exact leader are drawn too.
        lines: name -> average loss of a fixed portfolio.
    """
    names = [*FIGURE, "FKM, M=1"] + ["FKM 2005", "Leader"] * more
    rounds = recorded(int(traces["PF"].rounds[-1]))
    numbers = average_panel(ax, averaged({name: traces[name] for name in names}, rounds), title)
    ax.set_ylim(-0.06, 0.85)
    for name, height in lines.items():
        lines_across(ax, {name: height}, right=height > 0.1)
    return numbers


def _above_uniform(ax: Axes, traces: dict[str, Trace], title: str) -> dict[str, dict]:
    """Draw average losses minus the loss of the uniform portfolio on a log axis."""
    rounds, uniform = recorded(int(traces["PF"].rounds[-1])), traces["PF"]["uniform"]
    above = averaged({name: traces[name] for name in FIGURE}, rounds, beside=uniform)
    numbers = average_panel(ax, above, title, "loss minus uniform portfolio", log_y=True)
    limits = ax.get_ylim()
    ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylim(limits)
    return numbers


def print_tables(tables: Mapping[str, str]) -> None:
    """Print the size and the extreme ratios of each price table."""
    for title, table in tables.items():
        found = market(table)
        days, tickers = found.ratios.shape
        extremes = []
        for pick in (np.argmin, np.argmax):
            t, k = np.unravel_index(pick(found.ratios), found.ratios.shape)
            ratio = format_number(found.ratios[t, k])
            extremes.append(f"{ratio} ({found.tickers[k]}, {found.dates[t]})")
        print(f"{title}: {days} ratios of {tickers} tickers, from {extremes[0]} to {extremes[1]}")


def print_fixed_losses(title: str, trace: Trace, ties: dict[str, Trace]) -> None:
    """Print the average losses of fixed portfolios, and of the learners with the other tie rule.

    Args:
        title: title of the table.
        trace: PF's, with the losses of the fixed portfolios.
        ties: learner -> trace, with the other tie rule.
    """
    found = {name: format_number(loss) for name, loss in _fixed_losses(trace).items()}
    found |= {name: _mean_or_infinite(average(x)) for name, x in ties.items()}
    print(f"{title}:", ", ".join(f"{name} {text}" for name, text in found.items()))


def _mean_or_infinite(loss: np.ndarray) -> str:
    """Return the mean of average losses, or the number of trials where it is infinite, as text. ``loss``: R."""
    if np.isfinite(loss).all():
        return format_number(loss.mean())
    return f"infinite in {np.isinf(loss).sum()} of {len(loss)} trials"


def judge_tables(
    study: Study,
    missing: str,
    id: str,
    runs: Mapping[str, dict[str, Trace]],
    statistic: Callable[[dict[str, Trace]], stats.Interval | stats.Test],
    reason: str = "",
) -> Verdict:
    """Judge a claim by its statistic on all price tables; it is inconclusive if they disagree.

    Args:
        missing: reason why claims about both real tables are not judged; "" if both are available.
        id: the claim.
        runs: title of the table -> learner -> trace.
        statistic: a function of the traces on one table.
        reason: a remark to show after the verdict.
    """
    if missing:
        return study.not_run(id, missing)
    found = agreed({title: statistic(traces) for title, traces in runs.items()})
    return study.judge(id, found, reason=reason)
