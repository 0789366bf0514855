"""Anatomy of MASTER: one run with two changes, its schedule, and the calibration of its constants.

Source of the figure of the schedule: Wei & Luo (2021), Figure 1.
Letters: R trials, T rounds, O orders m of windows of 2^m rounds, n the order of a block of 2^n rounds.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import Rectangle

from paperlib import stats
from paperlib.core.contracts import Learner
from paperlib.core.rounds import Probe
from paperlib.core.streams import stream_number, uniform
from paperlib.core.trace import Trace
from paperlib.learners.multiscale import SCHEDULE, STEP, Multiscale
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg, printed
from paperlib.nsbco.probes import LOG, TestStatistics, center, live_windows
from paperlib.nsbco.problems.paths import Abrupt
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ...figures.charts import SMALL
from ...figures.drawing import style_context
from ...styles import COLORS
from ..proofs.schedule import BONUSES, window_chances

# ---- the run with two changes ------------------------------------------------------------------------------

RUN_HORIZON, RUN_SEED = 2**15, 8  # the seed of the path is 8 as well
RUN_PROBLEM = QuadraticDrift(Abrupt(3), 1, environment=8)


def watched(learner: Learner) -> dict[str, Probe]:
    """Return the probes that ``Run`` needs in every round."""
    return {
        "z": Probe(center),
        "live": Probe(live_windows),
        "tests": Probe(TestStatistics(learner)),
        "log": LOG,
    }


class Ends(NamedTuple):
    """Windows that ended in a run of one trial."""

    rounds: np.ndarray  # N, counted from 1
    order: np.ndarray  # N
    # N, mean over the window - U_t - A_1 / sqrt(2^m); Test 1 triggers if it is at least 0
    margin: np.ndarray


class Run(NamedTuple):
    """Internal quantities of one trial over T rounds."""

    rounds: np.ndarray  # T, counted from 1
    z: np.ndarray  # T, first coordinate of the center of the active thread
    order: np.ndarray  # T, order of its window
    block: np.ndarray  # T, order of the block
    rbar: np.ndarray  # T
    U: np.ndarray  # T
    theta: np.ndarray  # T, first coordinate of the maximizer
    best: np.ndarray  # T, f*_t
    regret: np.ndarray  # T, cumulative
    ends: Ends  # windows that ended
    changes: np.ndarray  # rounds of the changes, counted from 0
    # logged restarts: observed rounds, test 1 or 2, and the order of Test 1's window or -1 for Test 2
    restarts: list[tuple[int, int, int]]

    @property
    def marks(self) -> list[int]:
        """Return the number of observed rounds at each restart."""
        return [t for t, _, _ in self.restarts]


def first_trial(trace: Trace, problem: QuadraticDrift, A1: float) -> Run:
    """Return the first trial of a run with the probes of ``watched``. ``A1``: threshold of Test 1 at length 1."""
    on, tests, T = trace["live"][0] > 0, trace["tests"][0], len(trace.rounds)
    # the block's own window is always scheduled, therefore the largest scheduled order is the block's
    block = on.shape[1] - 1 - on[:, ::-1].argmax(1)
    at, order = np.isfinite(tests[:, 3:]).nonzero()
    ends = Ends(at + 1, order, (tests[at, 3 + order] - A1) / 2.0 ** (order / 2))
    log = trace["log"][0, : int(trace["report.restarts"][0])].astype(int).tolist()
    changes = problem.part([problem.environment], T)
    return Run(
        trace.rounds,
        trace["z"][0, :, 0],
        on.argmax(1),
        block,
        *tests.T[:2],
        problem.centers(changes, np.arange(T), T)[0, :, 0],
        np.broadcast_to(problem.path.value(None, np.arange(T), T)[0], T),
        trace["regret"][0],
        ends,
        changes[0],
        [(t, test, m - 1) for t, test, m in log],
    )


# ---- the schedule ------------------------------------------------------------------------------------------


def scheduled(n: int, seeds: Sequence[int]) -> list[np.ndarray]:
    """Return which windows of order m = 0, ..., n are scheduled in the block of order n, R x 2^(n - m) bool each.

    The block starts in round 2^n - 1 of a run without restarts. The random numbers are the same as in ``Multiscale``.
    """
    seeds, windows = np.asarray(seeds, np.uint64)[:, None], []
    for m, p in enumerate(window_chances(n)):
        counter = STEP * (2**n - 1 + np.arange(2 ** (n - m)) * 2**m) + m
        windows.append(uniform(seeds, stream_number(SCHEDULE), counter[None]) < p)
    return windows


def orders(windows: list[np.ndarray]) -> np.ndarray:
    """Return the order of the active window, R x 2^n: the shortest window that covers the round."""
    n, R = len(windows) - 1, len(windows[0])
    order = np.full((R, 2**n), n, np.int8)
    for m in range(n, -1, -1):
        order.reshape(R, -1, 2**m)[windows[m]] = m
    return order


def spells(order: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the first round, the number of rounds and the order of each uninterrupted spell of one order. ``order``: T."""
    begins = np.flatnonzero(np.diff(order, prepend=-1))
    ends = np.append(begins[1:], len(order))
    return [(int(a), int(b - a), int(order[a])) for a, b in zip(begins, ends)]


# ---- calibration of b_0 and A_1 ----------------------------------------------------------------------------


def reached(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest A_1 and A_2 with which a test would have triggered during the run, R each.

    ``trace``: with "tests", the running maximum of ``probes.TestStatistics``.
    """
    most = trace["tests"][:, -1]
    return most[:, 3:].max(1), most[:, 2]


def alarms(trace: Trace, bonus: float, multiple: float, horizon: int) -> stats.Interval:
    """Return the fraction of trials where MASTER with b_0 and A_1 would have restarted, with the exact interval.

    ``trace``: run of the schedule alone with this b_0, as for ``reached``. Until the first restart MASTER plays the same points, for
    every A_1.
    """
    first, second = reached(trace)
    fired = (first >= multiple) | (second >= 1.5 * bonus * (math.log2(horizon) + 1))
    return stats.proportion(int(fired.sum()), len(fired))


def as_printed(horizon: int) -> dict[str, Multiscale]:
    """Return MASTER with the constants of Lemma 3.1 for this horizon and d = 2, and its schedule without tests.

    r-bar is not clipped, as printed (E12).
    """
    base = GradientAscent(bonus=BONUSES["printed"](2, horizon), clip=False)
    return {"printed": printed(base), "no tests": malg(base)}


# ---- panels of these figures only --------------------------------------------------------------------------

WIDE = 4096  # largest number of rounds that are all shown


def block_panel(ax: Axes, windows: list[np.ndarray], order: np.ndarray, *, title: str = "") -> None:
    """Draw a block as in Wei & Luo: outlines are scheduled windows, filled bars are the active rounds of their thread.

    Args:
        ax: axes of the panel.
        windows: by order m, which windows are scheduled, 2^(n - m) bool.
        order: order of the active window, 2^n.
        title: title of the panel.
    """
    n = len(windows) - 1
    bar = lambda m, first, rounds, **how: ax.add_patch(
        Rectangle((first, m - 0.36), rounds, 0.72, **how)
    )
    edges = {
        True: {"edgecolor": COLORS["black"], "linewidth": 0.9, "zorder": 3},
        False: {"edgecolor": "#dddddd", "linewidth": 0.4, "zorder": 1},
    }
    with style_context():
        for m, hits in enumerate(windows):
            for z, hit in enumerate(hits):
                bar(m, z * 2**m, 2**m, facecolor="none", **edges[bool(hit)])
        for first, rounds, m in spells(order):
            bar(m, first, rounds, facecolor=COLORS["orange"], linewidth=0, zorder=2)
        ax.set(title=title, xlabel="round of the block", ylabel="order $m$ (length $2^m$)")
        ax.set(xlim=(-0.3, 2**n + 0.3), ylim=(-0.7, n + 0.7), yticks=range(n + 1))
        ax.set_xticks(range(0, 2**n + 1, max(1, 2 ** (n - 3))))
        ax.grid(visible=False)


def run_column(axes: Sequence[Axes], run: Run, span: tuple[int, int]) -> PathCollection:
    """Draw a column of four panels for the rounds ``span``: center, order, values, Test 1. Return the dots of Test 1.

    Args:
        axes: four axes, from the top.
        run: quantities of one trial.
        span: first and last round.
    """
    place, which, values, test_1 = axes
    first, last = span
    here = (run.rounds >= first) & (run.rounds <= last)
    x, z, order, block, rbar, U, theta, best = (part[here] for part in run[:8])
    size = 1.4 if last - first > WIDE else 2.0
    # plot only some of the dots, because they would cover each other
    some = slice(None, None, max(1, len(x) // WIDE))
    top = int(run.block.max()) + 0.5
    dots = {"linestyle": "none", "marker": "o", "markersize": size, "markeredgewidth": 0}
    plain = {"rasterized": True, "antialiased": False}
    # short windows are light, long windows are dark
    shades = {"cmap": "viridis_r", "vmin": 0, "vmax": top, "linewidth": 0} | plain
    dashed = {"label": "change", "color": COLORS["black"], "linestyle": (0, (4, 2))}
    solid = {"label": "restart", "color": COLORS["vermilion"]}
    level = {"color": COLORS["vermilion"], "linewidth": 0.8, "linestyle": (0, (1, 1))}
    with style_context():
        for ax in axes:
            # the figure's legend removes duplicate labels
            for time, how in [
                *((t + 1, dashed) for t in run.changes),
                *((t, solid) for t in run.marks),
            ]:
                ax.axvline(time, linewidth=0.9, zorder=1, **how)
            ax.set_xlim(*span)
        for ax, at, y, color, word in (
            (place, x, z, "sky", "center $z$"),
            (values, x, rbar, "orange", r"$\bar r_t$"),
        ):
            label = f"{word} of the active copy"
            ax.plot(at[some], y[some], color=COLORS[color], label=label, **dots, **plain)
        place.plot(x, theta, color=COLORS["black"], label=r"maximizer $\theta_t$")
        place.set_ylim(-0.62, 0.62)
        which.step(x, block, where="post", color=COLORS["gray"], label="order of the block")
        which.scatter(x[some], order[some], s=size**2, c=order[some], **shades)
        which.set_ylim(-0.7, top + 0.5)
        values.plot(x, best, color=COLORS["black"], label="best value $f^*_t$")
        values.plot(x, U, color=COLORS["blue"], label="$U_t$, minimum in the block")
        values.set_ylim(0.3, 1.05)
        inside = (run.ends.rounds >= first) & (run.ends.rounds <= last)
        at, of, margin = (part[inside] for part in run.ends)
        found = test_1.scatter(at, margin, s=2.6 * size**2, c=of, **shades)
        test_1.axhline(0, **level)
        test_1.set_xlabel("rounds")
    return found


def heat_panel(
    ax: Axes,
    values: dict[float, dict[float, float]],
    *,
    title: str = "",
    format: str = "{:.2f}",
    most: float | None = None,
    ylabel: str = "$b_0$",
) -> dict[str, Any]:
    """Draw a heat map with the number in each cell: one row per b_0, from the top, and one column per A_1.

    Args:
        ax: axes of the panel.
        values: numbers by b_0 and A_1.
        title, ylabel: texts of the panel.
        format: format of a number.
        most: number of the darkest shade; None: the largest number.

    Returns:
        The plotted numbers.
    """
    rows, columns = list(values), list(next(iter(values.values())))
    shades = np.array([[values[row][column] for column in columns] for row in rows], float)
    high = max(shades.max(), 1e-9) if most is None else most
    with style_context():
        ax.imshow(shades, cmap="Blues", vmin=0.0, vmax=1.25 * high, aspect="auto")
        for (i, j), value in np.ndenumerate(shades):
            color = "white" if value > 0.8 * high and high > 1e-6 else "black"
            words = {**SMALL, "ha": "center", "va": "center", "color": color}
            ax.annotate(format.format(value), (j, i), (0, 0), **words)
        ax.set_xticks(range(len(columns)), [f"{c:g}" for c in columns])
        ax.set_yticks(range(len(rows)), [f"{row:g}" for row in rows])
        ax.set(title=title, xlabel="$A_1$", ylabel=ylabel)
        ax.tick_params(length=0)
        ax.grid(visible=False)
    return {"b_0": rows, "A_1": columns, "values": shades}
