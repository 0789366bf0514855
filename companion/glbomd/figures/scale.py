"""Figures and printed lines of ``notebooks/glbomd_3_scale.ipynb``: regret and run time as the norm of theta* grows."""

from collections.abc import Mapping

import numpy as np

from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, band_note, line_style, panels, style_context
from ...store.seconds import Seconds
from .shared import bars_note, draw_regret_and_run_time, timed_size, trials_of

WIDTH = 100  # rounds per bin of the run time against the round


def draw_figure_3(
    traces: Mapping[int, dict[str, Trace]], timed: Seconds, batch: Seconds
) -> Drawing:
    """Draw the logistic regret at S = 7 and 9, and the run time of one Poisson trial at every norm."""
    large = {S: traces[S] for S in (7, 9)}
    fig, numbers = draw_regret_and_run_time(
        large, timed, batch, "logistic", time_title="Poisson, ", widths=(1, 1, 1)
    )
    return Drawing(
        fig,
        trials=trials_of(traces[7]),
        numbers=numbers,
        caption=f"Cumulative regret against the round in logistic bandits at S = 7 (a) and S = 9 (b), where S is the norm of theta*. Run time of {timed_size(timed)[1]} rounds of one trial in Poisson bandits on a log axis (c), one bar per S. {bars_note(timed, batch)} A star marks the method that uses our certified solver. It processes one trial at a time, so it has no diamond. {band_note(traces[7])} Of the paper's methods, OFUGLB has the lowest regret and GLB-OMD the second lowest; GLM-UCB and RS-GLinCB are as bad as uniform play.",
        alt="Two panels of regret curves, and a bar chart. GLM-UCB and RS-GLinCB follow the line of uniform play, while OFUGLB and GLB-OMD stay close to zero. The chart has four bars, one per norm, for each of three methods: GLB-OMD has the shortest bars and OFUGLB the longest.",
    )


def draw_time_per_round(timed: Seconds) -> Drawing:
    """Draw the median run time per round against the round, for one Poisson trial at S = 3."""
    fig, axes = panels(1)
    ax, numbers = axes[0, 0], {}
    with style_context():
        for name in ("GLOC", "OFUGLB", "GLB-OMD"):
            middles, medians = timed.bins((name, 3), WIDTH)
            milliseconds = 1e3 * np.median(medians, 0)
            ax.plot(middles, milliseconds, **line_style(name))
            numbers[name] = {"rounds": middles, "milliseconds": milliseconds}
        ax.set(xlabel="rounds", ylabel="run time per round (ms)", ylim=(0, None))
        ax.set_title("Poisson, S = 3, one trial")
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return Drawing(
        fig,
        trials=1,
        numbers=numbers,
        caption=f"Run time per round against the round in Poisson bandits at S = 3, for one trial, where S is the norm of theta*. The curves are medians over bins of {WIDTH} rounds and {timed_size(timed)[0]} repetitions. There are no bands, because the variation comes from the machine. OFUGLB has the longest run time and GLB-OMD the shortest, and no curve rises steadily.",
        alt="Three curves. OFUGLB's is the highest and GLB-OMD's the lowest. The curves of GLOC and OFUGLB fall over the first few hundred rounds. After that, all three vary without a steady rise.",
    )
