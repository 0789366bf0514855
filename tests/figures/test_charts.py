"""Panels along a setting, of one quantity against another, of dots and of bounds: what they return is what they show."""

import numpy as np
import pytest

from companion.figures import charts
from companion.figures import drawing as figures
from companion.styles import Style
from paperlib import stats
from paperlib.core.trace import Trace

LINE = np.array([1.0, 2.0, 4.0, 5.0])


def test_sweep_panel_returns_what_it_plots():
    fig, axes = figures.panels(1)
    sweep = {"GLB-OMD": {0.0: LINE, 0.1: LINE + 1, 1.0: LINE + 2}, "GLOC": {0.1: LINE}}
    numbers = charts.sweep_panel(axes[0, 0], sweep, {"uniform": LINE * 3})
    assert numbers["GLB-OMD"]["setting"] == [0.0, 0.1, 1.0] and numbers["GLOC"]["n"] == [4]
    np.testing.assert_allclose(numbers["GLB-OMD"]["mean"], [3, 4, 5])
    expected = stats.mean(LINE)
    np.testing.assert_allclose(
        [numbers["GLOC"]["low"][0], numbers["GLOC"]["high"][0]], [expected.low, expected.high]
    )
    assert numbers["uniform"].estimate == 9
    assert [t.get_text() for t in axes[0, 0].get_xticklabels()] == ["0", "0.1", "1"]


def test_sweep_panel_puts_zero_left_of_the_least_setting():
    fig, axes = figures.panels(1)
    charts.sweep_panel(axes[0, 0], {"GLB-OMD": {0.0: LINE, 0.3: LINE}}, {})
    assert axes[0, 0].get_xticks()[0] == pytest.approx(0.1)


def test_scatter_panel_returns_quartiles_and_interval():
    fig, axes = figures.panels(1)
    numbers = charts.scatter_panel(axes[0, 0], {"GLB-OMD": (LINE, 2 * LINE)})
    np.testing.assert_allclose(numbers["GLB-OMD"]["x"], [1.75, 3, 4.25])
    assert numbers["GLB-OMD"]["y"] == stats.mean(2 * LINE)


LOOKS = {"one": Style("vermilion", "o"), "two": Style("black", "s", label="the second")}
FOUND = {
    "one": {"first": (0.5, 0.4, 0.7), "second": (0.9, 0.8, 0.95)},
    "two": {"second": (3.0, 2.0, 4.0), "third": (0.01, 0.01, 0.02)},
}


def dots(ax):
    """(x, y, marker) of every dot on the axes."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0], line.get_marker())
        for line in ax.get_lines()
        if len(line.get_xdata()) == 1
    ]


def test_dots_stand_in_rows_and_apart():
    fig, axes = figures.panels(1)
    numbers = charts.dots_panel(axes[0, 0], FOUND, LOOKS, line=0.6)
    assert numbers["one"]["second"] == {"estimate": 0.9, "low": 0.8, "high": 0.95}
    assert [tick.get_text() for tick in axes[0, 0].get_yticklabels()] == [
        "first",
        "second",
        "third",
    ]
    (a, b, c, d) = sorted(dots(axes[0, 0]), key=lambda dot: dot[1])
    # alone in their rows: on the row
    assert (a[0], a[1]) == (0.5, 0.0) and (d[0], d[1]) == (0.01, 2.0)
    assert b[1] < 1 < c[1] and c[1] - b[1] == pytest.approx(0.4) and (b[0], c[0]) == (0.9, 3.0)
    low, high = axes[0, 0].get_ylim()
    assert low > high  # the first row is on top
    assert [text.get_text() for text in axes[0, 0].legend().get_texts()] == ["one", "the second"]


def test_dots_beyond_the_axis_are_triangles_at_its_edge():
    fig, axes = figures.panels(1)
    numbers = charts.dots_panel(axes[0, 0], FOUND, LOOKS, log_x=True, limits=(0.1, 1.0))
    assert {(x, marker) for x, _, marker in dots(axes[0, 0])} == {
        (0.5, "o"),
        (0.9, "o"),
        (1.0, ">"),
        (0.1, "<"),
    }
    assert axes[0, 0].get_xlim() == (0.1, 1.0) and axes[0, 0].get_xscale() == "log"
    assert numbers["two"]["second"]["estimate"] == 3.0  # the number, not the edge
    infinite = {"two": {"first": (np.inf, np.inf, np.inf)}}
    charts.dots_panel(axes[0, 0], infinite, LOOKS, log_x=True, limits=(0.1, 1.0))
    assert dots(axes[0, 0])[-1][::2] == (1.0, ">")


def test_bounds_reach_beyond_the_run():
    rounds = np.arange(10, 101, 10)
    regret = np.stack([k * np.sqrt(rounds) for k in (1.0, 3.0)])
    trace = Trace(rounds, {"regret": regret}, {}, np.zeros(10), [0, 1], {})
    fig, axes = figures.panels(1)
    numbers = charts.bound_panel(
        axes[0, 0],
        "uniform",
        trace,
        {"bound": lambda T: 50 * T**0.5, "tight": lambda T: 20 * T**0.5},
        lambda T: T,
        1e6,
    )
    assert (
        numbers["uniform"]["mean"] == pytest.approx(2 * np.sqrt(rounds))
        and numbers["uniform"]["n"] == 2
    )
    assert numbers["bound"]["rounds"][[0, -1]] == pytest.approx([10, 1e6])
    assert numbers["bound"]["value"] == pytest.approx(2.5 * numbers["tight"]["value"])
    crossing = numbers["bound"]["rounds"][
        np.argmax(numbers["bound"]["value"] < numbers["largest possible"]["value"])
    ]
    assert 2500 < crossing < 2500 * 1.15  # 50 sqrt(T) < T from T = 2500 on, read off the grid
    labels = axes[0, 0].get_legend_handles_labels()[1]
    assert labels == ["uniform play", "bound", "tight", "largest possible"]


@pytest.mark.parametrize("right", [False, True])
def test_lines_across_stand_at_their_heights_with_their_names(right):
    fig, axes = figures.panels(1)
    ax, lines = axes[0, 0], {"center": 0.7, "optimum": 0.0}
    ax.set_ylim(-1, 2)
    assert charts.lines_across(ax, lines, right=right) == lines
    assert [set(line.get_ydata()) for line in ax.get_lines()] == [{0.7}, {0.0}]
    charts.lines_across(ax, {"under": 1.0}, right=right, below=True)
    assert [(text.get_text(), text.xy, text.get_va()) for text in ax.texts] == [
        ("center", (int(right), 0.7), "bottom"),
        ("optimum", (int(right), 0.0), "bottom"),
        ("under", (int(right), 1.0), "top"),
    ]
    assert {text.get_ha() for text in ax.texts} == {"right" if right else "left"}
    charts.lines_across(ax, {"beside": 1.5}, right=right, outside=True)
    name = ax.texts[-1]
    assert (name.xy, name.get_ha(), name.get_va()) == ((1, 1.5), "left", "center")
    # beyond the edge, where no curve is
    assert name.xyann[0] > 0
