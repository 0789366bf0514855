"""Panels that no other figure has: a block of the schedule, a run from inside, tables as shades.

Letters: T rounds, O orders m of windows of 2^m rounds.
"""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import Rectangle

from ...figures.charts import SMALL
from ...figures.drawing import style
from ...styles import COLORS
from .anatomy import Ends, Run, spells

WIDE = 4096  # rounds of which every one is shown
MAP = matplotlib.colormaps["viridis_r"]  # of orders: short windows light, long ones dark
DOT = {"linestyle": "none", "rasterized": True, "markeredgewidth": 0, "antialiased": False}


# ---- the schedule ------------------------------------------------------------------------------------------


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


# ---- a run from inside -------------------------------------------------------------------------------------


def _events(ax: Axes, changes: Sequence[int], restarts: Sequence[int]) -> None:
    for i, t in enumerate(changes):
        dashes = {"linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}
        ax.axvline(t, color=COLORS["black"], label="" if i else "change", **dashes)
    for i, t in enumerate(restarts):
        label = "" if i else "restart"
        ax.axvline(t, color=COLORS["vermilion"], linewidth=0.9, zorder=1, label=label)


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
    t = run.rounds
    here = (t >= span[0]) & (t <= span[1])
    of = lambda name: getattr(run, name)[here]
    x, size = t[here], 1.4 if span[1] - span[0] > WIDE else 2.0
    some = slice(None, None, max(1, len(x) // WIDE))  # of the dots, which would cover each other
    dots = DOT | {"markersize": size, "marker": "o"}
    with style():
        for ax in axes:
            _events(ax, changes, restarts)
            ax.set_xlim(*span)
        place, which, values, test_1, test_2 = axes
        place.plot(
            x[some],
            of("z")[some],
            color=COLORS["sky"],
            label="center $z$ of the copy that plays",
            **dots,
        )
        place.plot(x, theta[here], color=COLORS["black"], label=r"maximizer $\theta_t$")
        place.set(ylim=(-0.62, 0.62))
        top = int(run.block.max()) + 0.5
        which.plot(
            x, of("block"), color=COLORS["gray"], drawstyle="steps-post", label="order of the block"
        )
        which.scatter(
            x[some],
            of("order")[some],
            s=size**2,
            antialiased=False,
            c=of("order")[some],
            cmap=MAP,
            vmin=0,
            vmax=top,
            linewidth=0,
            rasterized=True,
        )
        which.set(ylim=(-0.7, top + 0.5))
        values.plot(
            x[some],
            of("rbar")[some],
            color=COLORS["orange"],
            label=r"$\bar r_t$ of the copy that plays",
            **dots,
        )
        values.plot(x, best[here], color=COLORS["black"], label="best value $f^*_t$")
        values.plot(x, of("U"), color=COLORS["blue"], label="$U_t$, least in the block")
        values.set(ylim=(0.3, 1.05))
        inside = (ends.rounds >= span[0]) & (ends.rounds <= span[1])
        found = test_1.scatter(
            ends.rounds[inside],
            ends.margin[inside],
            s=2.6 * size**2,
            antialiased=False,
            c=ends.order[inside],
            cmap=MAP,
            vmin=0,
            vmax=top,
            linewidth=0,
            rasterized=True,
        )
        test_1.axhline(0, color=COLORS["vermilion"], linewidth=0.8, linestyle=(0, (1, 1)))
        ratio = run.second / A2
        test_2.plot(x, ratio[here], color=COLORS["purple"], linewidth=0.9)
        test_2.axhline(1, color=COLORS["vermilion"], linewidth=0.8, linestyle=(0, (1, 1)))
        test_2.set(ylim=(min(0.0, float(ratio.min())) - 0.05, 1.12), xlabel="rounds")
    return found


# ---- tables ------------------------------------------------------------------------------------------------


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
