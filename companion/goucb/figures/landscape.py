"""Figure and printed lines of ``notebooks/goucb_1_landscape.ipynb``: the landscape of a risk that satisfies Assumption 3.3."""

import numpy as np
from matplotlib.axes import Axes

from paperlib.checks import Check
from paperlib.core.text import format_number

from ...figures.drawing import Drawing, legend, panels, style_context
from ...styles import COLORS
from ..proofs.growth import TRUTH, Landscape

NEAR = 2.5  # half the width of the panel near w*, in units of r_0
DASHED = {"linestyle": "--", "linewidth": 0.8, "zorder": 1}
DOTTED = {"color": COLORS["gray"], "linestyle": ":", "linewidth": 0.8, "zorder": 0}


def print_landscape(shape: Landscape) -> None:
    """Print r_0, the curvature at w*, the range of convexity, and the local minima."""
    minima = shape.minima()
    print(
        f"r_0 {format_number(shape.switch)}, L''(w*) {shape.bend(TRUTH):.2f}, convex for |w - w*| < {shape.convex_within:.4f}"
    )
    print(f"{len(minima)} local minima: " + ", ".join(f"{x:.5f}" for x in minima))


def draw_figure_1(shape: Landscape, w: np.ndarray, check: Check) -> Drawing:
    """Draw the risk and its lower bounds on all of W and near w*. ``check``: the growth condition on the grid ``w``."""
    minima = shape.minima()
    fig, axes = panels(2, height=2.6)
    near = np.abs(w - TRUTH) <= NEAR * shape.switch
    _panel(axes[0, 0], shape, w, minima, "(a) on $W = [0, 1]$")
    _panel(axes[0, 1], shape, w[near], minima, "(b) near $w^*$")
    axes[0, 0].set_ylabel("risk")
    legend(fig)
    numbers = {
        "w": w,
        "L": shape.risk(w),
        "lower bound": shape.lower(w),
        "minima": minima,
        "r_0": shape.switch,
        "convex within": shape.convex_within,
    }
    caption = f"Risk against the parameter w, on W = [0, 1] (left) and near w* (right), for mu = {shape.mu:g}, tau = {shape.tau:g}, gamma = {shape.gamma:g}. The formula is our addition, because the paper's figure has none. Solid: the risk, and the smaller of the two lower bounds of Assumption 3.3; dashed: each lower bound outside its range; dotted: the distance r_0 at which the two are equal. Dots: {len(minima)} local minima. The risk satisfies the growth condition of Assumption 3.3, but is convex only for |w - w*| < {shape.convex_within:.3f}, less than r_0 = {shape.switch:.4f}. The assumption also requires mu to be below the number of weights, here 1, and self-concordance; this drawing illustrates the growth only."
    alt = f"Two line plots of the risk. Left: over the unit interval, a curve with {len(minima)} local minima, symmetric about the global minimum at one half. It rises in waves to both sides and stays above the smaller of a parabola and a power of the distance. Right: the same near the middle, where the curve and its lower bounds look like parabolas."
    return Drawing(fig, caption, alt, trials=1, numbers=numbers, checks=[check])


def _panel(ax: Axes, shape: Landscape, x: np.ndarray, minima: np.ndarray, title: str) -> None:
    """Draw the risk, its lower bound, both branches of the bound, and the local minima at the points ``x``."""
    inside = np.abs(x - TRUTH) <= shape.switch
    parabola = np.where(inside, np.nan, shape.near(x))
    power = np.where(inside, shape.far(x), np.nan)
    found = minima[(minima >= x[0]) & (minima <= x[-1])]
    lower = {
        "color": COLORS["vermilion"],
        "linewidth": 1.4,
        "label": "lower bound of Assumption 3.3",
    }
    with style_context():
        ax.plot(x, shape.risk(x), color=COLORS["black"], label="$L(w)$")
        ax.plot(x, shape.lower(x), **lower)
        ax.plot(x, parabola, color=COLORS["blue"], label="$\\mu |w - w^*|^2 / 2$", **DASHED)
        ax.plot(x, power, color=COLORS["green"], label="$\\tau |w - w^*|^\\gamma / 2$", **DASHED)
        for side in (-1, 1):
            ax.axvline(TRUTH + side * shape.switch, **DOTTED)
        ax.plot(found, shape.risk(found), ".", color=COLORS["black"], markersize=4)
        ax.set(title=title, xlabel="$w$", ylim=(0, 1.1 * shape.risk(x).max()), xlim=(x[0], x[-1]))
