"""Table, statistics and figure of the notebook on linear bandits."""

from collections.abc import Mapping

import numpy as np

from paperlib import stats
from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, band_note, legend, panels, regret_panel
from ..experiments.settings import RESAMPLES

# Curves from the back to the front.
CURVES = ["uniform", "SOFUL 6", "SOFUL 15", "CBRAP 6", "CBRAP 15", "OFUL, ridge", "BKB"]

# Spectrum and factor on the confidence radius -> learner -> trace.
Runs = Mapping[tuple[str, float], Mapping[str, Trace]]


def same_regret(traces: Mapping[str, Trace], name: str) -> np.ndarray:
    """Return the trials where a learner has exactly OFUL's final regret, R bool."""
    return traces[name].last() == traces["OFUL, ridge"].last()


def ratio_to_oful(traces: Mapping[str, Trace], name: str) -> stats.Interval:
    """Return the mean final regret of a learner divided by OFUL's, with a bootstrap interval over trials."""
    return stats.ratio(traces[name].last(), traces["OFUL, ridge"].last(), resamples=RESAMPLES)


def draw_linear_regret(runs: Runs) -> Drawing:
    """Draw the mean regret of every learner: one column of panels per spectrum, one row per factor on the radius."""
    spectra, scales = ([*dict.fromkeys(keys)] for keys in zip(*runs))
    fig, axes = panels(len(spectra), len(scales), height=2.5)
    numbers = {}
    for row, scale in zip(axes, scales):
        for ax, spectrum in zip(row, spectra):
            numbers[f"{spectrum}, radius times {scale:g}"] = regret_panel(
                ax,
                {name: runs[spectrum, scale][name] for name in CURVES},
                title=f"{spectrum} spectrum, radius times {scale:g}",
                log_y=True,  # the regrets differ by a factor of 100
                labels=False,
            )
    numbers["final regret"] = {
        f"{spectrum}, {scale:g}": {name: stats.mean(trace.last()) for name, trace in traces.items()}
        for (spectrum, scale), traces in runs.items()
    }
    legend(fig, columns=7)
    return Drawing(
        fig,
        trials=len(runs["flat", 1.0]["BKB"].trials),
        numbers=numbers,
        caption=f"Linear bandits with 200 arms in 30 dimensions and three spectra: mean cumulative regret on a log axis. Upper row: confidence radius times 0.2; lower row: OFUL's radius of the theory, which BKB and CBRAP share, and SOFUL's own. BKB has the linear kernel and qbar = 5; with the spectra poly and flat, BKB and OFUL pull the same arms. SOFUL with 6 rows has far more regret than OFUL in all panels. {band_note(runs['flat', 1.0])}",
        alt="Six panels of regret curves on log axes. BKB's curves coincide with OFUL's or are close to them. SOFUL's curves with 6 rows rise far above OFUL's in all panels. CBRAP's curve with 6 dimensions is far above OFUL's in the upper right panel.",
    )


def print_regrets(runs: Runs) -> None:
    """Print the mean final regret of every learner, then BKB's dictionary size and how often BKB has exactly OFUL's regret."""
    for (spectrum, scale), traces in runs.items():
        means = "  ".join(f"{name} {trace.last().mean():.3g}" for name, trace in traces.items())
        print(f"{spectrum:4s} radius times {scale:<3g} {means}")
    for (spectrum, scale), traces in runs.items():
        counts = "  ".join(
            f"{name}: {traces[name].last('dictionary').mean():.0f} arms in the dictionary, OFUL's regret in {int(same_regret(traces, name).sum())} of {len(traces[name].trials)} trials"
            for name in ("BKB", "BKB 2")
        )
        print(f"{spectrum:4s} radius times {scale:<3g} {counts}")
