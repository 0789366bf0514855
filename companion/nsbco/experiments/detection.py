"""Restarts held against the changes of a path: which changes were found, how late, and which restarts nobody needed.

Letters: R trials, S segments. A change at c: round c, counted from 0, is the first of the new segment. A restart at t
comes after t rounds have been heard, so that t > c knows of the change.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.core.trace import Trace

from ...figures.charts import errorbars, power
from ...figures.drawing import QUARTILES, look, style
from .regret import RESAMPLES, Runs, part


class Found(NamedTuple):
    """What a run's restarts did."""

    share: np.ndarray  # R, of the changes that a restart followed before the next change or the end
    delays: np.ndarray  # rounds from a change to the first restart after it, of all changes found
    needless: np.ndarray  # R, restarts that are not the first after a change


def times(trace: Trace) -> list[np.ndarray]:
    """Rounds heard at each restart that was logged, by trial."""
    log, counts = trace["log"], trace["report.restarts"].astype(int)
    first = log[..., 0] if log.ndim == 3 else log
    return [row[:count].astype(int) for row, count in zip(first, counts)]


def held_against(
    restarts: list[np.ndarray], changes: list[np.ndarray], horizon: int, counts: np.ndarray
) -> Found:
    """Restarts against changes.

    Args:
        restarts: rounds heard at each, by trial, increasing; as far as they were logged.
        changes: by trial, increasing, at least one.
        horizon: T.
        counts: R, how many restarts there were.
    """
    shares, delays, needless = [], [], []
    for at, where, count in zip(restarts, changes, counts):
        ends = [*where[1:], horizon]
        after = [at[(at > begin) & (at <= end)] for begin, end in zip(where, ends)]
        late = [int(times[0]) - int(c) for times, c in zip(after, where) if len(times)]
        shares.append(len(late) / len(where))
        delays += late
        needless.append(int(count) - len(late))
    return Found(np.array(shares), np.array(delays, int), np.array(needless, float))


def found(runs: Runs, name: str, cell: tuple[str, int], seed: int) -> Found:
    """What a learner's restarts did in a cell with abrupt changes."""
    path, horizon = cell
    trace = runs[cell][name]
    # the first round of each segment, by trial
    changes = list(part(path, horizon, len(trace.trials), seed))
    return held_against(times(trace), changes, horizon, trace["report.restarts"])


def share(found: Found) -> stats.Interval:
    """Return the share of the changes that were found: bootstrap over trials, exact where it is the same in all of them."""
    how = {"of": "share of changes", "bounds": (0.0, 1.0), "resamples": RESAMPLES}
    return stats.bootstrap_mean(found.share, **how)


def false_alarms(trace: Trace) -> stats.Interval:
    """Share of trials with a restart, exact; where nothing moves each is one."""
    restarts = trace["report.restarts"]
    return stats.proportion(int((restarts > 0).sum()), len(restarts))


def delay(found: Found) -> np.ndarray:
    """Quartiles of the delays of changes that were found; none without any."""
    return np.quantile(found.delays, QUARTILES) if len(found.delays) else np.zeros(0)


def panels(
    axes: Sequence[Axes], seen: dict[str, dict[int, Found]], level: dict[str, dict[int, Any]]
) -> dict[str, dict]:
    """Share found, delay, and needless restarts against T: three panels.

    Args:
        seen: name -> T -> what was found, on a path with abrupt changes.
        level: name -> T -> restarts a run where only the level moves, R.

    Returns:
        The plotted numbers, by panel and name.
    """
    numbers: dict[str, dict] = {"share": {}, "delay": {}, "needless": {}, "needless, level": {}}
    with style():
        for name, found in seen.items():
            how = look(name)
            hidden = how | {"label": None}
            label = f"{how['label']}, only the level moves"
            dashed = how | {"linestyle": "--", "linewidth": 1.0, "label": label}
            needless = {T: stats.mean(x.needless) for T, x in found.items()}
            alone = {T: stats.mean(x) for T, x in level[name].items()}
            for panel, ax, means, line in (
                ("share", axes[0], {T: share(x) for T, x in found.items()}, how),
                ("needless", axes[2], needless, hidden),
                ("needless, level", axes[2], alone, dashed),
            ):
                numbers[panel][name] = means
                errorbars(ax, [*means], means.values(), **line)
            delays = numbers["delay"][name] = {
                T: delay(x) for T, x in found.items() if len(x.delays)
            }
            if delays:
                errorbars(axes[1], [*delays], [x[[1, 0, 2]] for x in delays.values()], **hidden)
        longest = [x[2] for delays in numbers["delay"].values() for x in delays.values()]
        axes[0].set(title="(a) changes found", ylabel="share of changes", ylim=(-0.04, 1.04))
        axes[1].set(title="(b) delay", ylabel="rounds, median", yscale="log")
        axes[1].set_ylim(0.8, max([10.0, *(2 * x for x in longest)]))
        if not longest:
            axes[1].text(0.5, 0.5, "none found", transform=axes[1].transAxes, ha="center")
        axes[2].set(title="(c) needless restarts", ylabel="restarts per run, linear below 1")
        axes[2].set_yscale("symlog", linthresh=1.0)
        axes[2].set_ylim(bottom=-0.1)
        horizons = {T for found in seen.values() for T in found}
        both = horizons.union(*level.values())
        for ax, found in zip(axes, (horizons, horizons, both)):
            at = sorted(found)
            ax.yaxis.set_major_formatter("{x:g}")
            ax.set(xlabel="$T$", xscale="log", xlim=(at[0] / 1.3, at[-1] * 1.3))
            shown = at[::-1][:: (len(at) + 4) // 5]
            ax.set_xticks(shown, [power(T) for T in shown])
            ax.xaxis.minorticks_off()
    return numbers
