"""Figure and printed lines of ``notebooks/glbomd_1_logistic.ipynb``: regret and run time with logistic rewards."""

from collections.abc import Iterable, Mapping

import numpy as np

from paperlib import stats
from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, band_note
from ...store.seconds import Seconds
from ...study import Study
from ..experiments.slsqp import TOLERANCE
from ..styles import STYLES
from .shared import bars_note, draw_regret_and_run_time, overtaking, timed_size, trials_of

CLEAR = 1e-5  # margin between SLSQP's two best arms that exceeds its accuracy


def draw_figure_1(
    traces: Mapping[int, dict[str, Trace]], timed: Seconds, batch: Seconds
) -> Drawing:
    """Draw the regret at S = 3 and 5, and the run time of one trial."""
    fig, numbers = draw_regret_and_run_time(traces, timed, batch, "logistic", time_title="")
    return Drawing(
        fig,
        trials=trials_of(traces[3]),
        numbers=numbers,
        caption=f"Logistic bandits with 20 new arms per round in 5 dimensions. Cumulative regret against the round at S = 3 (a) and S = 5 (b), where S is the norm of theta*. GLM-UCB, GLOC and RS-GLinCB receive kappa at the true theta*, which is unknown in practice. Run time of {timed_size(timed)[1]} rounds of one trial on a log axis (c), also at S = 7. {bars_note(timed, batch)} A star marks methods that use our certified solver. They process one trial at a time, so they have no diamond. {band_note(traces[3])} OFUGLB ends with the lowest regret of the paper's methods and GLB-OMD with the second lowest.",
        alt="Two panels of regret curves for seven methods and three reference rules, and a bar chart. GLB-OMD's curve is below the curves of all other methods except OFUGLB, whose curve starts above and ends below it. GLM-UCB has the highest curve of the methods, at S = 5 close to uniform play. Greedy play has the lowest curve. GLB-OMD and GLOC have the shortest bars, on a log axis.",
    )


def print_slsqp(decisions: Mapping[str, Mapping[str, np.ndarray]], every: int) -> None:
    """Print SLSQP's run time compared with the certified solver's, and how often both choose the same arm."""
    print(f"SLSQP with tolerance {TOLERANCE:g}, on every round that {every} divides")
    for name, found in decisions.items():
        clear = found["margin"] > CLEAR
        slow, fast = found["seconds"].mean(), found["certified"].mean()
        print(
            f"{name}: SLSQP {1e3 * slow:.2f} ms per round, certified {1e3 * fast:.3f} ms: {slow / fast:.0f} times;",
            f"same arm in {int(found['same'][clear].sum())} of {int(clear.sum())} rounds with a margin above 1e-5",
        )


def print_overtaking(traces: Mapping[int, Mapping[str, Trace]]) -> None:
    """Print the round from which OFUGLB has less mean regret than GLB-OMD, for each norm S."""
    for S, found in traces.items():
        print(f"S={S}: {overtaking(found)}")


def run_time_ratios(
    seconds: Seconds, name: str, S: int, others: Iterable[str] | None = None
) -> dict[str, stats.Interval]:
    """Return the total run time of one method divided by that of each other method at one norm S."""
    others = seconds.names(S) if others is None else others
    return {other: seconds.ratio((name, S), (other, S), "sum") for other in others if other != name}


def print_run_time_claims(study: Study, S: int, statistics: Mapping[str, stats.Interval]) -> None:
    """Judge the claims on run time at one norm S, and print each verdict with the method that decides it."""
    for claim, interval in statistics.items():
        verdict = study.judge(f"glbomd.{claim}.S{S}", interval)
        # The method of an extreme interval ends with the name of the deciding method in parentheses.
        decisive = interval.method.rpartition("(")[2].rstrip(")")
        print(f"{verdict}{f', compared with {decisive}' if decisive in STYLES else ''}")
