"""Figure and printed lines of ``notebooks/glbomd_2_poisson.ipynb``: regret and run time with Poisson rewards."""

from collections.abc import Mapping

from paperlib import stats
from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, band_note
from ...store.seconds import Seconds
from .shared import bars_note, draw_regret_and_run_time, overtaking, timed_size, trials_of


def draw_figure_2(
    traces: Mapping[int, dict[str, Trace]], timed: Seconds, batch: Seconds
) -> Drawing:
    """Draw the regret at S = 3 and 5 on a log axis, and the run time of one trial."""
    fig, numbers = draw_regret_and_run_time(
        traces, timed, batch, "Poisson", time_title="", log_y=True
    )
    return Drawing(
        fig,
        trials=trials_of(traces[3]),
        numbers=numbers,
        caption=f"Poisson bandits with 20 new arms per round in 5 dimensions. Cumulative regret against the round on a log axis at S = 3 (a) and S = 5 (b), where S is the norm of theta*. GLM-UCB, GLOC and RS-GLinCB receive kappa at the true theta*, which is unknown in practice. Run time of {timed_size(timed)[1]} rounds of one trial on a log axis (c). {bars_note(timed, batch)} A star marks the method that uses our certified solver. It processes one trial at a time, so it has no diamond. {band_note(traces[3])} OFUGLB's regret is about a tenth of GLB-OMD's, and greedy play has the lowest regret.",
        alt="Two panels of regret curves on a log axis, and a bar chart. OFUGLB's regret is about a tenth of GLB-OMD's, and only greedy play has less. The curves of GLM-UCB and RS-GLinCB coincide with the line of the arm with the largest norm, and GLOC's curve is just below it. GLB-OMD and GLOC have the shortest bars, on a log axis.",
    )


def print_comparison(traces: Mapping[int, Mapping[str, Trace]]) -> None:
    """Print when OFUGLB has less regret than GLB-OMD, and three regrets relative to the arm with the largest norm."""
    for S, found in traces.items():
        print(f"S={S}: {overtaking(found)}")
        for name in ("GLM-UCB", "RS-GLinCB", "GLOC"):
            ratio = stats.ratio(found[name].last(), found["longest"].last()).estimate
            print(f"   {name:10s} {ratio:.3f} times the regret of the arm with the largest norm")
