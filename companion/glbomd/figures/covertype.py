"""Figures and printed lines of ``notebooks/glbomd_4_covertype.ipynb``: the clusters of Covertype as arms."""

from collections.abc import Mapping

import numpy as np

from paperlib.core.trace import Trace

from ...datasets.covertype import CovertypeArms
from ...figures.charts import scatter_panel, sweep_panel
from ...figures.drawing import (
    DOUBLE,
    Drawing,
    band_note,
    legend,
    panels,
    regret_panel,
    time_panel,
    trial_note,
)
from ...store.seconds import Seconds
from .shared import bars_note, trials_of

METHODS = ("GLM-UCB", "GLOC", "RS-GLinCB", "OFULog-r", "ECOLog", "OFUGLB", "GLB-OMD")
FACTOR = 0.05  # the shrink factor of the paper's figure, which we chose
COMPARED = ("GLB-OMD", "ECOLog", "GLOC", "GLM-UCB")  # each at its best factor

Sweep = dict[str, dict[float, np.ndarray]]  # learner -> shrink factor -> final regret of each trial


def print_clusters(table: CovertypeArms) -> None:
    """Print the sizes and mean rewards of the clusters, and the rank of the arm with the largest norm."""
    counts, means = table.counts, table.mean
    print(
        f"{len(means)} clusters of {counts.min()} to {counts.max()} rows, {counts.sum()} in all\n"
        f"mean rewards from {means.min():.6f} to {means.max():.6f}, average {means.mean():.6f}"
    )
    longest = int(np.linalg.norm(table.arms, axis=1).argmax())
    rank = int((means > means[longest]).sum()) + 1
    print(
        f"the arm with the largest norm is number {longest}; it is number {rank} of {len(means)} by mean reward"
    )


def draw_figure_4(
    traces: Mapping[float, dict[str, Trace]],
    controls: Mapping[str, Trace],
    timed: Seconds,
    batch: Seconds,
    checksum: str,
) -> Drawing:
    """Draw the regret at the shrink factors 0.05 and 1, the run time per round, and regret against run time.

    Args:
        traces: shrink factor -> learner -> trace.
        controls: control -> trace.
        timed, batch: run times at the factor 0.05, of one trial and of a batch of trials.
        checksum: SHA-256 of the data.
    """
    fig, axes = panels(4, height=2.9, width=DOUBLE * 1.25)
    numbers = {}
    for factor, ax, letter in zip((FACTOR, 1.0), axes[0, ::3], ("a", "d, added")):
        lines = {name: traces[factor][name] for name in METHODS}
        lines |= {"greedy": traces[0.0]["GLB-OMD"]}
        lines |= {name: controls[name] for name in ("uniform", "longest")}
        title = f"({letter}) shrink factor {factor:g}"
        numbers[f"regret, factor {factor}"] = regret_panel(ax, lines, title=title, labels=False)
    numbers["milliseconds"] = time_panel(
        axes[0, 1],
        timed.bars("mean", scale=1e3),
        batch=batch.bars("mean", scale=1e3),
        title="(b) run time, one trial",
        ylabel="run time per round (ms)",
    )
    milliseconds = {name: timed.typical((name, FACTOR), "mean", scale=1e3) for name in METHODS}
    numbers["regret against time"] = scatter_panel(
        axes[0, 2],
        {name: (milliseconds[name], traces[FACTOR][name].last()) for name in METHODS},
        title=f"(c) shrink factor {FACTOR:g}",
        xlabel="run time per round (ms)",
        ylabel="regret",
    )
    legend(fig, columns=8)
    return Drawing(
        fig,
        trials=trials_of(traces[FACTOR]),
        data_checksum=checksum,
        numbers=numbers,
        caption=f"Covertype, real data, with 60 clusters as arms. Cumulative regret against the round with all confidence sets shrunk to 0.05 of their size (a); we chose this factor because the paper does not report one. Run time per round of one trial on a log axis (b). {bars_note(timed, batch, 'measured over')} A star marks methods that use our certified solver. They process one trial at a time, so they have no diamond. Final regret against run time per round (c). Cumulative regret with the confidence sets of the theory (d), which is our addition. We chose the seed of the clustering because it gives the paper's range of mean rewards. {band_note(traces[FACTOR])} At factor 0.05, OFUGLB and GLB-OMD have the lowest regret, and GLB-OMD has the shortest run time.",
        alt="Four panels. At shrink factor 0.05, GLB-OMD and OFUGLB have the lowest regret curves, and the curves of GLM-UCB and OFULog-r end above uniform play. GLB-OMD has the shortest bar of run time. In the scatter plot of regret against run time, GLB-OMD is in the corner of low regret and short run time. At factor 1, all methods except OFUGLB end close to uniform play or above it.",
    )


def final_regrets(traces: Mapping[float, Mapping[str, Trace]]) -> Sweep:
    """Return the final regret of each method at its shrink factors."""
    return {
        name: {factor: found[name].last() for factor, found in traces.items() if name in found}
        for name in METHODS
    }


def draw_sweep(
    sweep: Sweep,
    traces: Mapping[float, Mapping[str, Trace]],
    controls: Mapping[str, Trace],
    checksum: str,
) -> Drawing:
    """Draw the final regret of each method against the shrink factor of all confidence sets; see ``draw_figure_4``."""
    fig, axes = panels(1, width=DOUBLE * 0.75, height=3.0)
    trials = trials_of(traces[FACTOR])
    numbers = sweep_panel(
        axes[0, 0],
        sweep,
        {name: trace.last() for name, trace in controls.items()},
        xlabel="shrink factor of all confidence sets",
        ylabel=f"regret after {controls['uniform'].rounds[-1]} rounds",
    )
    axes[0, 0].tick_params(axis="x", rotation=45)
    legend(fig, columns=5)
    return Drawing(
        fig,
        trials=trials,
        data_checksum=checksum,
        numbers=numbers,
        caption=f"Covertype, real data: final regret against the common shrink factor of all confidence sets. Horizontal lines are controls without confidence sets. Error bars: 95 % t-intervals of the mean over {trial_note(trials)}. The order of the methods depends on the factor. GLB-OMD has its lowest mean regret at 0.05; OFUGLB has nearly the same at 0.05 and 0.1.",
        alt="One curve per method. For most methods, regret rises steeply towards factor 1. The best factor differs between the methods; it is 0.05 for GLB-OMD. The order of the methods changes along the axis.",
    )


def print_best_factors(sweep: Sweep, controls: Mapping[str, Trace]) -> None:
    """Print the lowest mean regret of each method over the shrink factors, and the regret of the controls."""
    least = {}
    for name, found in sweep.items():
        means = {factor: values.mean() for factor, values in found.items()}
        best = min(means, key=means.get)
        least[name] = means[best]
        print(f"{name:10s} regret {means[best]:6.1f} at factor {best:g}, of {len(means)} tried")
    for name, trace in controls.items():
        print(f"{name:18s} regret {trace.last().mean():6.1f}")
    close = [least[name] for name in COMPARED]
    print(
        f"GLB-OMD, ECOLog, GLOC and GLM-UCB, each at its best factor: the largest regret is {max(close) / min(close):.2f} times the smallest"
    )
