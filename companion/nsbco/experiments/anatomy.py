"""The schedule, one run with two changes, what is read off them, and how they are drawn.

Source of the schedule's picture: Wei & Luo (2021), Figure 1.
Letters: R trials, T rounds, O orders m of windows of 2^m rounds, n the order of a block of 2^n rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import Rectangle

from paperlib.core.contracts import Learner
from paperlib.core.rounds import Probe
from paperlib.core.streams import stream_number, uniform
from paperlib.core.trace import Trace
from paperlib.learners.multiscale import SCHEDULE, STEP
from paperlib.nsbco.learners.presets import practical
from paperlib.nsbco.probes import LOG, Compared, center, live
from paperlib.nsbco.problems.paths import Abrupt
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ...figures.charts import SMALL
from ...figures.drawing import style
from ...styles import COLORS
from ..proofs.shares import chances

# ---- the run with two changes ------------------------------------------------------------------------------

RUN_HORIZON, RUN_SEED = 2**15, 8  # the path's seed is 8, too
RUN_PROBLEM = QuadraticDrift(Abrupt(3), 1, environment=8)
RUN_RESTARTS = [
    (9471, 1, 8),
    (24830, 1, 9),
]  # rounds heard, test, order; known from the specification


def watched(learner: Learner) -> dict[str, Probe]:
    """What the picture of a run shows, of every round."""
    return {"z": Probe(center), "live": Probe(live), "tests": Probe(Compared(learner)), "log": LOG}


@dataclass(frozen=True)
class Run:
    """One trial from inside, T rounds."""

    rounds: np.ndarray  # T, counted from 1
    z: np.ndarray  # T, first coordinate of the center of the thread that plays
    order: np.ndarray  # T, of its window
    block: np.ndarray  # T, order of the block
    rbar: np.ndarray  # T
    U: np.ndarray  # T
    second: np.ndarray  # T, what ``SecondTest`` says
    first: np.ndarray  # T x O, what ``FirstTest`` says
    restarts: list[tuple[int, int, int]]  # see ``logged``

    @classmethod
    def of(cls, trace: Trace, trial: int = 0) -> "Run":
        """From a run with ``watched``."""
        on, tests = trace["live"][trial] > 0, trace["tests"][trial]
        block = on.shape[1] - 1 - on[:, ::-1].argmax(1)  # its own window is always scheduled
        z, restarts = trace["z"][trial, :, 0], logged(trace)[trial]
        return cls(trace.rounds, z, on.argmax(1), block, *tests.T[:3], tests[:, 3:], restarts)


def logged(trace: Trace) -> list[list[tuple[int, int, int]]]:
    """Restarts by trial, as far as they were logged: rounds heard, test 1 or 2, order of Test 1's window, -1 for Test 2."""
    counts = np.minimum(trace["report.restarts"].astype(int), trace["log"].shape[1])
    rows = (log[:count].astype(int).tolist() for log, count in zip(trace["log"], counts))
    return [[(t, test, order - 1) for t, test, order in row] for row in rows]


@dataclass(frozen=True)
class Ends:
    """Windows that ended in a run of one trial."""

    rounds: np.ndarray  # N, counted from 1
    order: np.ndarray  # N
    margin: np.ndarray  # N, mean over the window - U_t - A_1 / sqrt(2^m): Test 1 fails from 0 on


def ended(first: np.ndarray, A1: float) -> Ends:
    """From what ``FirstTest`` recorded in every round, T x O."""
    at, order = np.isfinite(first).nonzero()
    return Ends(at + 1, order, (first[at, order] - A1) / 2.0 ** (order / 2))


def thresholds(horizon: int) -> tuple[float, float]:
    """A_1 and A_2 of ``practical`` for this horizon, logarithms included."""
    learner = practical()
    return float(learner.A1), float(learner.A2 * (np.log2(horizon) + 1))


# ---- the schedule ------------------------------------------------------------------------------------------


def scheduled(n: int, seeds: Sequence[int]) -> list[np.ndarray]:
    """Which windows of order m = 0, ..., n the block of order n has, R x 2^(n - m) bool each.

    The block is that of a run without restarts, from round 2^n - 1 on; the coins are those of ``Multiscale``.
    """
    seeds, first = np.asarray(seeds, np.uint64)[:, None], 2**n - 1
    found = []
    for m, p in enumerate(chances(n)):
        counter = STEP * (first + np.arange(2 ** (n - m)) * 2**m) + m
        found.append(uniform(seeds, stream_number(SCHEDULE), counter[None]) < p)
    return found


def orders(windows: list[np.ndarray]) -> np.ndarray:
    """Order of the window that plays, R x 2^n: the shortest that covers the round."""
    n, R = len(windows) - 1, len(windows[0])
    found = np.full((R, 2**n), n, np.int8)
    for m in range(n, -1, -1):
        found.reshape(R, -1, 2**m)[windows[m]] = m
    return found


def played(order: np.ndarray) -> np.ndarray:
    """Share of a block's rounds that each order plays, R x (n + 1). ``order``: R x 2^n."""
    n = int(order.shape[1]).bit_length() - 1
    return np.stack([(order == m).mean(1) for m in range(n + 1)], 1)


def spells(order: np.ndarray) -> list[tuple[int, int, int]]:
    """First round, rounds and order of each spell of one order. ``order``: T."""
    begins = np.flatnonzero(np.diff(order, prepend=-1))
    ends = np.append(begins[1:], len(order))
    return [(int(a), int(b - a), int(order[a])) for a, b in zip(begins, ends)]


# ---- where changes may not fall ----------------------------------------------------------------------------


def marks(horizon: int, depth: int = 2) -> np.ndarray:
    """Rounds, counted from 0, at which a change would favor the schedule: multiples of T / 2^depth, and first rounds 2^n - 1 of blocks."""
    parts = horizon * np.arange(1, 2**depth) / 2**depth
    return np.unique(np.append(parts, 2.0 ** np.arange(int(horizon).bit_length()) - 1))


def dyadic(changes: np.ndarray, horizon: int, depth: int = 2) -> np.ndarray:
    """Whether a change falls on one of the ``marks``. ``changes``: rounds counted from 0, any shape."""
    return np.isin(changes, marks(horizon, depth))


# ---- panels that no other figure has -----------------------------------------------------------------------

WIDE = 4096  # rounds of which every one is shown
MAP = matplotlib.colormaps["viridis_r"]  # of orders: short windows light, long ones dark
DOT = {"linestyle": "none", "rasterized": True, "markeredgewidth": 0, "antialiased": False}


def block_panel(ax: Axes, windows: list[np.ndarray], order: np.ndarray, *, title: str = "") -> None:
    """A block as in Wei & Luo: scheduled windows outlined, the rounds that their thread plays filled.

    Args:
        windows: by order m, which windows are scheduled, 2^(n - m) bool.
        order: that plays, 2^n.
    """
    n = len(windows) - 1
    bar = lambda m, first, rounds, **how: ax.add_patch(
        Rectangle((first, m - 0.36), rounds, 0.72, **how)
    )
    with style():
        for m, hit in enumerate(windows):
            for z in range(len(hit)):
                edge = (
                    {"edgecolor": COLORS["black"], "linewidth": 0.9, "zorder": 3}
                    if hit[z]
                    else {"edgecolor": "#dddddd", "linewidth": 0.4, "zorder": 1}
                )
                bar(m, z * 2**m, 2**m, facecolor="none", **edge)
        for first, rounds, m in spells(order):
            bar(m, first, rounds, facecolor=COLORS["orange"], linewidth=0, zorder=2)
        ax.set(title=title, xlabel="round of the block", ylabel="order $m$ (length $2^m$)")
        ax.set(xlim=(-0.3, 2**n + 0.3), ylim=(-0.7, n + 0.7))
        ax.set_yticks(range(n + 1))
        ax.set_xticks(range(0, 2**n + 1, max(1, 2 ** (n - 3))))
        ax.grid(visible=False)


def run_column(
    axes: Sequence[Axes],
    run: Run,
    ends: Ends,
    theta: np.ndarray,
    best: np.ndarray,
    A2: float,
    changes: Sequence[int],
    restarts: Sequence[int],
    span: tuple[int, int],
) -> PathCollection:
    """Five panels, one above the other, of the rounds ``span``: place, order, values, Test 1, Test 2. Returns the dots of Test 1.

    Args:
        run, ends: of one trial.
        theta, best: theta_t's first coordinate and f*_t, T.
        A2: threshold of Test 2 for one round.
    """
    place, which, values, test_1, test_2 = axes
    t, (first, last) = run.rounds, span
    here = (t >= first) & (t <= last)
    of = lambda name: getattr(run, name)[here]
    x, size = t[here], 1.4 if last - first > WIDE else 2.0
    some = slice(None, None, max(1, len(x) // WIDE))  # of the dots, which would cover each other
    top, ratio = int(run.block.max()) + 0.5, run.second / A2
    dots = DOT | {"markersize": size, "marker": "o"}
    shades = {"cmap": MAP, "vmin": 0, "vmax": top, "linewidth": 0}
    shades |= {"antialiased": False, "rasterized": True}
    dashed = {"label": "change", "color": COLORS["black"], "linestyle": (0, (4, 2))}
    solid = {"label": "restart", "color": COLORS["vermilion"]}
    limits = {place: (-0.62, 0.62), which: (-0.7, top + 0.5), values: (0.3, 1.05)}
    limits[test_2] = (min(0.0, float(ratio[here].min())) - 0.05, 1.12)
    level = {"color": COLORS["vermilion"], "linewidth": 0.8, "linestyle": (0, (1, 1))}
    with style():
        for ax in axes:
            # the legend of the figure has each label once
            for time, how in [*((t, dashed) for t in changes), *((t, solid) for t in restarts)]:
                ax.axvline(time, linewidth=0.9, zorder=1, **how)
            ax.set_xlim(*span)
        for ax, ylim in limits.items():
            ax.set_ylim(*ylim)
        words = "center $z$", r"$\bar r_t$"
        z, rbar = (dots | {"label": f"{word} of the copy that plays"} for word in words)
        place.plot(x[some], of("z")[some], color=COLORS["sky"], **z)
        place.plot(x, theta[here], color=COLORS["black"], label=r"maximizer $\theta_t$")
        steps = {"drawstyle": "steps-post", "label": "order of the block"}
        which.plot(x, of("block"), color=COLORS["gray"], **steps)
        which.scatter(x[some], of("order")[some], s=size**2, c=of("order")[some], **shades)
        values.plot(x[some], of("rbar")[some], color=COLORS["orange"], **rbar)
        values.plot(x, best[here], color=COLORS["black"], label="best value $f^*_t$")
        values.plot(x, of("U"), color=COLORS["blue"], label="$U_t$, least in the block")
        inside = (ends.rounds >= first) & (ends.rounds <= last)
        at, margin, order = (y[inside] for y in (ends.rounds, ends.margin, ends.order))
        found = test_1.scatter(at, margin, s=2.6 * size**2, c=order, **shades)
        test_1.axhline(0, **level)
        test_2.plot(x, ratio[here], color=COLORS["purple"], linewidth=0.9)
        test_2.axhline(1, **level)
        test_2.set_xlabel("rounds")
    return found


def heat_panel(
    ax: Axes,
    values: dict[float, dict[float, float]],
    *,
    title: str = "",
    format: str = "{:.2f}",
    least: float | None = None,
    most: float | None = None,
    ylabel: str = "$b_0$",
) -> dict[str, Any]:
    """A table as shades, each with its number: a row for every b_0, from the top, a column for every A_1.

    Returns:
        The plotted numbers.
    """
    rows, columns = list(values), list(next(iter(values.values())))
    shades = np.array([[values[row][column] for column in columns] for row in rows], float)
    low = shades.min() if least is None else least
    high = max(shades.max(), low + 1e-9) if most is None else most
    with style():
        ax.imshow(shades, cmap="Blues", vmin=low, vmax=low + 1.25 * (high - low), aspect="auto")
        for (i, j), value in np.ndenumerate(shades):
            dark = value > low + 0.8 * (high - low) and high > low + 1e-6
            words = {**SMALL, "ha": "center", "va": "center", "color": "white" if dark else "black"}
            ax.annotate(format.format(value), (j, i), (0, 0), **words)
        ax.set_xticks(range(len(columns)), [f"{c:g}" for c in columns])
        ax.set_yticks(range(len(rows)), [f"{row:g}" for row in rows])
        ax.set(title=title, xlabel="$A_1$", ylabel=ylabel)
        ax.tick_params(length=0)
        ax.grid(visible=False)
    return {"b_0": rows, "A_1": columns, "values": shades}
