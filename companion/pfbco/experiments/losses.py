"""Average losses of learners: compared with baselines and controls, per epoch, and in tables.

Letters: R trials, T rounds, T' recorded rounds.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.stats

from paperlib import stats
from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ...figures.text import interval_text
from .settings import FIGURE

RESAMPLES = 2000  # resamples of each bootstrap


def average(
    trace: Trace, last: int | None = None, first: int = 0, name: str = "regret"
) -> np.ndarray:
    """Return the mean loss in the rounds after ``first`` up to ``last``, R; by default over all rounds.

    Args:
        trace: a trace with the summed loss.
        last, first: recorded rounds; 0 is before the first round.
        name: series with the summed loss; "regret" is the series of the played points.

    Raises:
        ValueError: a round that is not recorded.
    """
    last = int(trace.rounds[-1]) if last is None else last
    return (trace.at(last, name) - trace.at(first, name)) / (last - first)


def last_epochs(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean loss in the last complete epoch and in the epoch before it; R each."""
    m = (int(trace.rounds[-1]) + 1).bit_length() - 1
    last, middle, first = (2**k - 1 for k in (m, m - 1, m - 2))
    return average(trace, last, middle), average(trace, middle, first)


def decline(trace: Trace) -> stats.Interval:
    """Return the ratio of the last to the largest value of the mean curve of average losses."""
    return stats.bootstrap(
        trace["regret"] / trace.rounds,
        lambda mean: mean[..., -1] / mean.max(-1),
        of="last / largest",
        resamples=RESAMPLES,
    )


def ratio(
    a: np.ndarray, b: np.ndarray, of: str = "average losses", level: float = stats.LEVEL
) -> stats.Interval:
    """Return the ratio of means, with a bootstrap that resamples the trials of both jointly. ``a``, ``b``: R each."""
    return stats.ratio(a, b, of=of, resamples=RESAMPLES, level=level)


def beats(
    traces: dict[str, Trace], name: str, rivals: tuple[str, ...], largest: bool = False
) -> stats.Test:
    """Test whether a learner's final average loss is below the losses of all baselines (``largest``: above them).

    The result is the weakest of the comparisons. ``traces``: with the same trials.
    """
    sign = -1.0 if largest else 1.0
    return stats.combine_tests(
        stats.wilcoxon(
            {rival: sign * (average(traces[rival]) - average(traces[name])) for rival in rivals}
        )
    )


def relative_difference(
    a: np.ndarray, b: np.ndarray, gain: np.ndarray | None = None
) -> stats.Interval:
    """Return the mean of a - b divided by the mean of b, with the t-interval of the paired differences.

    ``a``, ``b``: R each, the same trials. ``gain``: the largest possible gain of each trial; with it, the difference is divided
    by the mean gain instead.
    """
    found, base = stats.paired_difference(a, b), float((b if gain is None else gain).mean())
    estimate, *ends = (x / base for x in found[:3])
    of = "relative mean difference" if gain is None else "mean difference relative to the gain"
    words = f"{of}, 95 % t-interval over paired trials"
    return stats.Interval(estimate, *sorted(ends), len(a), words, found.tail)


def agreed(found: dict[str, stats.Interval] | dict[str, stats.Test]) -> stats.Interval | stats.Test:
    """Combine the results on several data sets.

    The combination holds if all hold, fails if all fail, and is inconclusive otherwise.
    """
    first, n = next(iter(found.values())), min(x.n for x in found.values())
    if isinstance(first, stats.Test):
        name, worst = max(found.items(), key=lambda item: item[1].p)
        opposite = max(test.opposite for test in found.values())
        return worst._replace(opposite=opposite, n=n, method=f"{worst.method} ({name})")
    low, high = min(x.low for x in found.values()), max(x.high for x in found.values())
    method = f"{first.method}, hull over {', '.join(found)}"
    return first._replace(low=low, high=high, n=n, method=method)


def averaged(
    traces: dict[str, Trace], rounds: list[int], beside: np.ndarray | None = None
) -> dict[str, Trace]:
    """Return the traces at some rounds with the series "average", the average loss so far.

    ``beside``: R x T', the summed loss of a fixed point, which is subtracted.
    """
    found = {name: trace.thin(rounds) for name, trace in traces.items()}
    for name, trace in found.items():
        loss = (trace["regret"] - (0.0 if beside is None else beside)) / trace.rounds
        found[name] = replace(trace, series={**trace.series, "average": loss})
    return found


def noise_ratio(ours: Trace, theirs: Trace) -> stats.Interval:
    """Return the ratio of the mean norms of PF's estimates and StochOCG's noise; all rounds have equal weight."""
    return ratio(ours.last("norm"), theirs.last("noise"), of="mean norms")


def caveat(*tables: dict[str, Trace], gain: np.ndarray | None = None) -> str:
    """Return the caveat to a ranking of losses: the distance of PF's control with sign-flipped feedback, and the relative size of StochOCG's noise.

    ``tables``: learners' traces, on one or more data sets. ``gain``: as in ``relative_difference``.
    """
    away = [
        abs(relative_difference(average(traces["PF"]), average(traces["PF, sham"]), gain).estimate)
        for traces in tables
    ]
    longer = [noise_ratio(traces["PF"], traces["StochOCG"]).estimate for traces in tables]
    times = " to ".join(dict.fromkeys(map(format_number, (min(longer), max(longer)))))
    apart = f"{format_number(100 * max(away))} %"
    near = (
        f"is within {apart} of PF's"
        if gain is None
        else f"differs from PF's by {apart} of the largest possible gain"
    )
    return f"the final loss of PF's control with sign-flipped feedback {near}, and the norm of PF's estimates is {times} times the norm of StochOCG's noise"


def mean_norms(found: dict[str, Trace]) -> tuple[float, float]:
    """Return the mean norms of PF's estimates and of StochOCG's noise, over rounds and trials."""
    return _a_round(found["PF"], "norm"), _a_round(found["StochOCG"], "noise")


def _a_round(trace: Trace, name: str) -> float:
    """Return the mean over rounds and trials of a series of sums over rounds."""
    return float(trace.last(name).mean() / trace.rounds[-1])


class Row(NamedTuple):
    """Row of a table of final average losses, for one learner."""

    loss: stats.Interval
    center: float | None  # average loss of its centers, mean over trials
    difference: stats.Interval | None  # its loss minus PF's, paired
    p: float | None  # two-sided Wilcoxon, adjusted by Holm's method

    def __str__(self) -> str:
        words = [interval_text(self.loss)]
        if self.difference is not None:
            words.append(f"difference {interval_text(self.difference)}, p {self.p:.2g}")
        if self.center is not None:
            words.append(f"centers {format_number(self.center)}")
        return "  ".join(words)


def loss_table(traces: dict[str, Trace]) -> dict[str, Row]:
    """Return the average losses of all learners, each compared with PF's.

    Holm's method is applied separately to the learners of the figure and to the other learners.
    """
    test = lambda d: float(scipy.stats.wilcoxon(d).pvalue) if d.any() else 1.0
    # The curves of the figure are one family of comparisons; the additional learners are another.
    ours, adjusted = traces["PF"], {}
    others = {name: trace for name, trace in traces.items() if name != "PF"}
    for inside in (True, False):
        family = {name: x for name, x in others.items() if (name in FIGURE) == inside}
        adjusted |= stats.holm(
            {name: test(average(x) - average(ours)) for name, x in family.items()}
        )
    found = {}
    for name, trace in traces.items():
        center = _a_round(trace, "center") if "center" in trace.series else None
        difference = (
            None if name == "PF" else stats.paired_difference(average(trace), average(ours))
        )
        found[name] = Row(stats.mean(average(trace)), center, difference, adjusted.get(name))
    return found


# With practical constants ----------------------------------------------------------------------------------


def last_quarter(trace: Trace, name: str = "regret") -> np.ndarray:
    """Return the mean loss over the last quarter of the rounds, R; T + 1 must be a power of two.

    ``name``: series with the summed loss; "center" is the loss of staying at the center.
    """
    T = int(trace.rounds[-1])
    return average(trace, T, 3 * (T + 1) // 4, name)


def by_epoch(trace: Trace) -> Trace:
    """Return the trace at the ends of its epochs, 2^m - 1, with the mean loss per epoch as the series "epoch"."""
    ends = [2**m - 1 for m in range(1, (int(trace.rounds[-1]) + 1).bit_length())]
    loss = np.stack([average(trace, last, first) for first, last in zip([0, *ends], ends)], 1)
    return replace(trace.thin(ends), series={"epoch": loss})


def learns(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Return a learner's mean loss over the last quarter, divided by the mean loss of its control with sign-flipped feedback, with a 90 % interval."""
    ours, control = last_quarter(traces[name]), last_quarter(traces[f"{name}, sham"])
    return ratio(ours, control, "last quarters", level=0.9)


def late(traces: dict[str, Trace]) -> dict[str, str]:
    """Return a table row on the last quarter of the rounds, for every learner except the controls.

    The columns are:

    - the average loss over all rounds, and over the last quarter;
    - the loss over the last quarter minus the loss of the center in the same rounds, paired, with its interval and the number of
      trials where it is above 0;
    - the ratio of the loss over the last quarter to the control's, and both losses of the control.

    ``traces``: of one problem, with equal trials and rounds; PF's trace has the center's summed loss as "center".
    """
    center, lines = last_quarter(traces["PF"], "center"), {}
    both = lambda trace: " ".join(
        f"{format_number(loss.mean()):>6s}" for loss in (average(trace), last_quarter(trace))
    )
    # A control has no row: it is in the row of its learner.
    for name in (name for name in traces if not name.endswith(", sham")):
        quarter, control = last_quarter(traces[name]), traces.get(f"{name}, sham")
        beyond, above = stats.paired_difference(quarter, center), int((quarter > center).sum())
        lines[name] = (
            f"{both(traces[name])}   {beyond.estimate:+.3f} [{beyond.low:+.3f}, {beyond.high:+.3f}] {above:3d}"
        )
        if control is not None:
            lines[name] += f"   {interval_text(learns(traces, name))}  {both(control)}"
    return lines
