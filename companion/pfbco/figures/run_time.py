"""Figure, tables and verdicts of the notebook on the run time per round."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from paperlib import stats
from paperlib.core.contracts import Problem

from ...figures.charts import dots_panel
from ...figures.drawing import (
    DIAMOND,
    Drawing,
    legend,
    line_style,
    panels,
    style_context,
    time_panel,
)
from ...store.seconds import Seconds
from ...study import Study
from ...styles import Style
from ...verdicts import Verdict
from ..experiments.cost import microseconds
from ..styles import STYLES

LOOKS = {  # styles of the dots of ratios
    "FKM": STYLES["FKM"],
    "StochOCG": STYLES["StochOCG"],
    "FKM with solver": Style("purple", "P"),
    "both with solvers": Style("sky", "v"),
    "FKM in Figure 1d": Style("black", "x"),
}
MODES = {"paper_lmo": "-", "nuclear": "--"}  # oracles of the matrices -> line style
TICKS = (0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10)  # of the ratios against the size
NO_SOLVERS = "generic solvers are not installed"
Ratios = Mapping[str, Mapping[str, stats.Interval]]  # problem -> PF's name -> interval


def solver_ratios(by_solver: Seconds, solved: Iterable[str]) -> dict[str, dict]:
    """Return FKM's median run time with a generic solver divided by PF's, without and with a solver.

    Args:
        by_solver: run times with generic solvers.
        solved: names of the problems.

    Returns:
        problem -> "PF" and, where it was run, "PF, solver" -> ratio with its interval.
    """
    return {
        name: {
            ours: by_solver.ratio(("FKM, solver", name), (ours, name))
            for ours in ("PF", "PF, solver")
            if (ours, name) in by_solver
        }
        for name in solved
    }


# ---- Tables ------------------------------------------------------------------------------------------------


def print_rounds(timed: Seconds, answered: Seconds, batch: Seconds, trials: int) -> None:
    """Print microseconds per round of PF, FKM and StochOCG on each problem.

    Args:
        timed, answered: run times of one trial, without and with the time to compute the feedback.
        batch: run times of a batch of ``trials`` trials.
        trials: number of trials in the batch.
    """
    print("microseconds per round            PF      FKM StochOCG   FKM / PF  StochOCG / PF")
    for name in dict.fromkeys(setting for _, setting in timed):
        print(f"{name:12s} one trial, median    {microseconds(timed, name)}")
        print(f"{'':12s} one trial, mean      {microseconds(timed, name, 'mean')}")
        print(f"{'':12s} mean, with feedback  {microseconds(answered, name, 'mean')}")
        print(f"{'':12s} batch of {trials}, median  {microseconds(batch, name)}")


def print_calls(called: Seconds) -> None:
    """Print microseconds of single calls of the oracle and of the projection."""
    us = lambda call, name: f"{called.overall((call, name), scale=1e6):8.1f}"
    print("microseconds of one call      oracle  projection of a point outside")
    for name in dict.fromkeys(setting for _, setting in called):
        print(f"{name:28s}{us('lmo', name)}{us('project', name)}")


# ---- Figure ------------------------------------------------------------------------------------------------


def draw_time_per_round(
    problems: Mapping[str, Problem],
    timed: Seconds,
    batch: Seconds,
    growth: Seconds,
    by_solver: Seconds,
    sizes: Sequence[int],
    printed: Mapping[str, float],
) -> Drawing:
    """Draw the run times per round as bars, FKM's and StochOCG's run times relative to PF's, and these ratios against the size of the matrices.

    Args:
        problems: the problems of panels a, b and c by name; with synthetic prices the name of b ends with "synthetic".
        timed, batch: run times of one trial, and of a batch of trials.
        growth: run times on matrices, with settings "<size> <oracle>".
        by_solver: run times with generic solvers; empty if they are not installed.
        sizes: sizes p of the matrices.
        printed: FKM's run time divided by PF's in Figure 1d, by problem.
    """
    fig, axes = panels(3, height=3.1, width_ratios=[1.15, 1.2, 0.9])
    trials, over = (
        max(batch.trials.values()),
        solver_ratios(by_solver, printed if by_solver else ()),
    )
    numbers = {"milliseconds": _bars(axes[0, 0], timed, batch, trials)}
    numbers["ratios"] = _ratios(axes[0, 1], timed, over, printed)
    numbers |= _by_size(axes[0, 2], growth, sizes)
    legend(fig, columns=6)
    stocks = next(name for name in problems if name.startswith("b"))
    note = " (synthetic prices)" if stocks.endswith("synthetic") else ""
    size = lambda seconds: next(iter(seconds.values())).shape  # repetitions, rounds
    (repetitions, rounds), (size_repetitions, size_rounds) = size(timed), size(growth)
    solver_words = "Generic solvers were not installed and are left out"
    if by_solver:
        solver_repetitions, solver_rounds = size(by_solver)
        solver_words = f"The runs with generic solvers (HiGHS, Clarabel and SCS) have {solver_repetitions} repetitions of {solver_rounds} rounds"
    return Drawing(
        fig,
        trials=1,
        data_checksum=problems[stocks].data_checksum,
        numbers=numbers,
        caption=f"Run time per round on the problems of panels a, b{note} and c (oracle as printed, and exact), with one trial and one thread. Left: median over rounds; bars and whiskers are medians and quartiles over {repetitions} repetitions of {rounds} rounds. White diamonds: time per trial in a batch of {trials}. The axis is logarithmic, so only the ends of the bars are meaningful. Middle: median run time of FKM and StochOCG divided by PF's, without the time to compute the feedback. {solver_words}. Crosses: FKM's ratios in Figure 1d. Right: the same ratios against the size of the matrices, with specialized oracles, as printed (solid) and exact (dashed), {size_repetitions} repetitions of {size_rounds} rounds. Intervals: 95 % t-intervals over repetitions.",
        alt=f"Three panels. Left: bars of PF, FKM and StochOCG have similar heights on each problem. Middle: dots of run times relative to PF. FKM is near 1 with specialized oracles{', several times higher with a generic solver for the projection' if by_solver else ''}, and the crosses of the paper's figure are at 5 to 61. Right: lines of the ratios against the size of the matrices. FKM's ratio rises with the size.",
    )


def _bars(ax: Axes, timed: Seconds, batch: Seconds, trials: int) -> dict[str, dict]:
    """Draw the run times per round as bars, and the times per trial in a batch as diamonds."""
    bars, of_batch = timed.bars(scale=1e3), batch.bars(scale=1e3)
    numbers = time_panel(ax, bars, batch=of_batch, ylabel="run time per round (ms)")
    with style_context():
        ax.set_title("Specialized oracles", pad=22)
        ax.plot([], [], label=f"per trial in a batch of {trials}", **DIAMOND)
    return numbers


def _ratios(
    ax: Axes, timed: Seconds, over: Ratios, printed: Mapping[str, float]
) -> dict[str, dict]:
    """Draw FKM's and StochOCG's median run times divided by PF's, with specialized oracles and with generic solvers."""
    ratio = lambda name, setting: timed.ratio((name, setting), ("PF", setting))
    settings = dict.fromkeys(setting for _, setting in timed)
    found = {
        name: {setting: ratio(name, setting)[:3] for setting in settings}
        for name in ("FKM", "StochOCG")
    }
    for name, ours in (("FKM with solver", "PF"), ("both with solvers", "PF, solver")):
        if over:
            found[name] = {row: x[ours][:3] for row, x in over.items() if ours in x}
    found["FKM in Figure 1d"] = {row: (value,) * 3 for row, value in printed.items()}
    title, xlabel = "Median run time, PF = 1", "run time / PF's run time"
    return dots_panel(ax, found, LOOKS, title=title, xlabel=xlabel, line=1.0, log_x=True)


def _by_size(ax: Axes, growth: Seconds, sizes: Sequence[int]) -> dict[str, dict]:
    """Draw FKM's and StochOCG's median run times divided by PF's against the size of the matrices."""
    numbers = {}
    with style_context():
        for name in ("FKM", "StochOCG"):
            for mode, linestyle in MODES.items():
                runs = [((name, f"{p} {mode}"), ("PF", f"{p} {mode}")) for p in sizes]
                found = [growth.ratio(*pair) for pair in runs]
                middle, low, high = np.array([x[:3] for x in found]).T
                how = line_style(name) | {"linestyle": linestyle, "label": None}
                ends = [middle - low, high - middle]
                ax.errorbar(sizes, middle, ends, elinewidth=0.6, capsize=1.5, **how)
                numbers[f"{name} / PF, {mode}"] = {"p": sizes, "ratio": found}
        ax.axhline(1.0, color="black", linewidth=0.8, zorder=1)
        ax.set(title="Matrices of size $p$", xlabel="$p$", ylabel="run time / PF's run time")
        ax.set(xscale="log", yscale="log", ylim=(0.4, None))
        for axis, ticks in ((ax.xaxis, sizes), (ax.yaxis, TICKS)):
            axis.set_major_locator(FixedLocator(ticks))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_locator(NullLocator())
    return numbers


# ---- Verdicts ----------------------------------------------------------------------------------------------


def judge_ratios(
    study: Study,
    ids: str,
    seconds: Seconds,
    learner: str,
    printed: Mapping[str, float],
    word: str,
    of: str = "mean",
) -> list[Verdict]:
    """Judge a learner's run time relative to PF's on the problem of each panel.

    Args:
        ids: id of the claims, with a placeholder for the panel.
        seconds: run times of the learner and of PF.
        learner: its name.
        printed: the problems of panels a, b and c.
        word: table of prices, if it is not a real one.
        of: "mean" or "median" run time per round.
    """
    judged = []
    for panel, name in zip("abc", printed):
        ratio = seconds.ratio((learner, name), ("PF", name), of)
        judged.append(study.judge(ids.format(panel), ratio, reason=_prices(panel, word)))
    return judged


def judge_solvers(
    study: Study, by_solver: Seconds, printed: Mapping[str, float], word: str
) -> list[Verdict]:
    """Judge FKM's run time relative to PF's with generic solvers, by means; arguments as for ``judge_ratios``."""
    judged = []
    for panel, name in zip("abc", printed):
        id = f"pfbco.C4.solver.{panel}"
        if by_solver:
            # PF with a solver, where it was run
            ours = next(x for x in ("PF, solver", "PF") if (x, name) in by_solver)
            pair = ("FKM, solver", name), (ours, name)
            ratio = by_solver.ratio(*pair, "mean")
            reasons = filter(None, (f"compared with {ours}", _prices(panel, word)))
            judged.append(study.judge(id, ratio, reason=", ".join(reasons)))
        else:
            judged.append(study.not_run(id, NO_SOLVERS))
    return judged


def _prices(panel: str, word: str) -> str:
    """Return a remark on the prices of panel b, if they are not real."""
    return f"{word} prices" if panel == "b" and word else ""


def judge_calls(study: Study, called: Seconds) -> list[Verdict]:
    """Judge how expensive one projection is relative to one linear minimization on matrices."""
    judged, oracle = [], called.overall(("lmo", "c, printed"))
    for key, name in (("specialized", "c, printed"), ("solver", "c, printed, solver")):
        id, run = f"pfbco.C10.{key}", ("project", name)
        if run in called:
            ratio, count = called.overall(run) / oracle, called[run].size
            judged.append(study.judge(id, ratio, n=count))
        else:
            judged.append(study.not_run(id, NO_SOLVERS))
    return judged
