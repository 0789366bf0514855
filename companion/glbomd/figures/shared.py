"""Parts that several notebooks on GLB-OMD share: a figure of regret and run time, and printed lines."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from paperlib.core.trace import Trace

from ...figures.drawing import legend, panels, regret_panel, time_panel
from ...store.seconds import Seconds
from ..experiments.settings import ONE_TRIAL, crossing


def draw_regret_and_run_time(
    traces: Mapping[int, dict[str, Trace]],
    timed: Seconds,
    batch: Seconds,
    link: str,
    *,
    time_title: str,
    log_y: bool = False,
    widths: Sequence[float] = (1, 1, 1.15),
) -> tuple[Figure, dict[str, dict]]:
    """Draw the regret at two norms of theta* and the run time of one trial; return the figure and its numbers.

    Args:
        traces: norm S -> learner -> trace, for two norms.
        timed, batch: run times of one trial, and of a batch of trials.
        link: name of the link function in the titles.
    """
    fig, axes = panels(3, height=2.9, width_ratios=widths)
    numbers = {}
    for (S, found), ax, letter in zip(traces.items(), axes[0], "ab"):
        title = f"({letter}) {link}, S = {S}"
        numbers[f"regret S={S}"] = regret_panel(ax, found, title=title, labels=False, log_y=log_y)
    _, rounds = timed_size(timed)
    numbers["seconds"] = time_panel(
        axes[0, 2],
        timed.bars("sum", label="S = {}"),
        batch=batch.bars("mean", scale=rounds, label="S = {}"),
        title=f"(c) {time_title}{rounds} rounds, one trial",
        ylabel="run time (s)",
    )
    legend(fig, columns=5)
    return fig, numbers


def timed_size(timed: Seconds) -> tuple[int, int]:
    """Return the numbers of repetitions and of rounds of the first timed run."""
    return next(iter(timed.values())).shape


def bars_note(timed: Seconds, batch: Seconds, verb: str = "extrapolated from") -> str:
    """Return two sentences for the caption that explain the bars of run time and the diamonds."""
    return f"Bars are medians and error bars are quartiles over {timed_size(timed)[0]} repetitions. A diamond is the time per trial in a batch of 100 trials, {verb} {timed_size(batch)[1]} rounds."


def trials_of(traces: Mapping[str, Trace]) -> dict[str, int]:
    """Return the number of trials of each learner."""
    return {name: len(trace.trials) for name, trace in traces.items()}


def overtaking(traces: Mapping[str, Trace]) -> str:
    """Return the round from which OFUGLB's mean regret stays below GLB-OMD's, as text."""
    when = crossing(traces["OFUGLB"], traces["GLB-OMD"])
    if when:
        return f"OFUGLB's mean regret stays below GLB-OMD's from round {when}"
    return f"OFUGLB does not overtake GLB-OMD within {traces['OFUGLB'].rounds[-1]} rounds"


def print_missing_proofs(found: Mapping[str, Mapping[str, Trace]]) -> None:
    """Print how many decisions of the certified solver are without a proof, by setting and learner."""
    for setting, traces in found.items():
        for name in (name for name in ONE_TRIAL if name in traces):
            missing, horizon = traces[name]["report.uncertified"], traces[name].rounds[-1]
            passes = traces[name]["report.passes"].mean() / horizon
            print(
                f"{setting}  {name}: {int(missing.sum())} of {len(missing) * horizon} decisions without a proof, {passes:.2f} passes over the history per round"
            )


def print_warm_ups(found: Mapping[str, Mapping[str, Trace]]) -> None:
    """Print RS-GLinCB's mean number of fits and of warm-up rounds, by setting."""
    for setting, traces in found.items():
        trace = traces["RS-GLinCB"]
        fits, warm = trace["report.fits"].mean(), trace["report.warmups"].mean()
        rounds = trace.rounds[-1]
        print(f"{setting}: {fits:7.1f} fits and {warm:7.1f} warm-up rounds in {rounds} rounds")
