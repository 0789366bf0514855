"""Panels along a setting, of two quantities, of dots and of bounds: they return the numbers that they show."""

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


def panel():
    _, axes = figures.panels(1)
    return axes[0, 0]


def test_sweep_panel_on_two_log_axes():
    ax, samples = panel(), {"MASTER": {4: np.array([1.0, 3.0]), 2: np.array([1.0, 1.0])}}
    known = {"static baseline": lambda T: T / 8}
    found = charts.sweep_panel(
        ax, samples, {}, known=known, log_y=True, labels={"MASTER": "ours"}, tick=charts.power_label
    )
    assert found["MASTER"]["setting"] == [2, 4] and found["MASTER"]["mean"] == [1.0, 2.0]
    assert found["MASTER"]["low"][1] < 0 < 3 < found["MASTER"]["high"][1]
    assert found["static baseline"] == {"setting": [2, 4], "mean": [0.25, 0.5]}
    assert ax.get_xscale() == ax.get_yscale() == "log"
    low, high = ax.get_ylim()
    assert 0 < low < 0.25 and high > 2.0
    assert "ours" in ax.get_legend_handles_labels()[1]
    assert {t.get_text() for t in ax.get_xticklabels()} == {"$2^{1}$", "$2^{2}$"}


def test_ticks_are_the_settings_counted_from_the_last():
    ax = panel()
    charts.sweep_panel(ax, {"GLR": {T: np.array([T, T + 1.0]) for T in (2, 4, 8)}}, {}, every=2)
    assert sorted(ax.get_xticks()) == [2, 8]


def test_slope_guides_do_not_change_the_axes():
    ax, samples = panel(), {"GLR": {T: np.array([T, T + 1.0]) for T in (16, 256)}}
    charts.sweep_panel(ax, samples, {}, log_y=True)
    before, lines = (ax.get_xlim(), ax.get_ylim()), len(ax.get_lines())
    charts.slope_guides(ax, {"1/2": 1 / 2, "2/3": 2 / 3}, "T")
    for line, slope in zip(ax.get_lines()[lines:], (1 / 2, 2 / 3), strict=True):
        x, y = (np.log(np.asarray(ends, float)) for ends in line.get_data())
        assert (y[1] - y[0]) / (x[1] - x[0]) == pytest.approx(slope)
    assert (ax.get_xlim(), ax.get_ylim()) == before
    assert [text.get_text() for text in ax.texts] == ["$T^{1/2}$", "$T^{2/3}$"]


def test_controls_are_drawn_at_their_means():
    ax = panel()
    controls = {"MASTER": np.array([9.0, 11.0, 10.0]), "GLR": np.array([1.0, 30.0])}
    found = charts.sweep_panel(ax, {"BoB": {1: LINE, 2: LINE}}, controls, log_y=True)
    assert found["MASTER"].estimate == 10
    heights = [line.get_ydata()[0] for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert {10, 15.5} <= set(heights) and ax.get_ylim()[1] > 15.5
    assert len(ax.patches) == 1  # an interval that reaches below zero has no band on a log axis


def test_an_interval_that_reaches_below_zero_reaches_the_foot_of_a_log_axis():
    ax = panel()
    charts.errorbars(ax, [1, 2], [stats.mean(LINE), stats.mean(np.array([0.0, 0.0]))])
    (_, _, (bars,)) = ax.containers[0]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    expected = stats.mean(LINE)
    assert ends == [pytest.approx([max(expected.low, 1e-9), expected.high]), [0.0, 0.0]]


@pytest.mark.parametrize("across", [False, True])
def test_ticks_of_a_short_axis_are_finer(across):
    ax = panel()
    ax.set(xscale="log", yscale="log")
    charts.extend_log_axis(ax, [1.0, 10.0], across)
    axis = ax.xaxis if across else ax.yaxis
    low, high = axis.get_view_interval()
    assert low < 1 and high > 10
    inside = [x for x in axis.get_majorticklocs() if low <= x <= high]
    assert inside == pytest.approx([1, 2, 5, 10])
    charts.extend_log_axis(ax, [1.0, 1e4], across)
    inside = [x for x in axis.get_majorticklocs() if 1 <= x <= 1e4]
    assert inside == pytest.approx([1, 10, 100, 1e3, 1e4])


def test_oracles_have_open_markers_and_unmarked_learners_crosses():
    dot = lambda name: charts.dot_style(name, figures.line_style(name))
    assert dot("EGS, oracle")["markerfacecolor"] == "white"
    assert "markerfacecolor" not in dot("EGS")
    assert dot("static baseline")["marker"] == "x"


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
    """Return (x, y, marker) of every dot on the axes."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0], line.get_marker())
        for line in ax.get_lines()
        if len(line.get_xdata()) == 1
    ]


def test_dots_are_in_rows_and_apart():
    fig, axes = figures.panels(1)
    numbers = charts.dots_panel(axes[0, 0], FOUND, LOOKS, line=0.6)
    assert numbers["one"]["second"] == {"estimate": 0.9, "low": 0.8, "high": 0.95}
    assert [tick.get_text() for tick in axes[0, 0].get_yticklabels()] == [
        "first",
        "second",
        "third",
    ]
    (a, b, c, d) = sorted(dots(axes[0, 0]), key=lambda dot: dot[1])
    # Dots that are alone in their rows lie exactly on the row.
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
    assert numbers["two"]["second"]["estimate"] == 3.0  # the number itself and not the edge
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
    assert 2500 < crossing < 2500 * 1.15  # 50 sqrt(T) < T from T = 2500 on, read from the grid
    labels = axes[0, 0].get_legend_handles_labels()[1]
    assert labels == ["uniform play", "bound", "tight", "largest possible"]


@pytest.mark.parametrize("right", [False, True])
def test_horizontal_lines_have_their_heights_and_names(right):
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
    # The name starts beyond the edge of the panel, where no curve is drawn.
    assert name.xyann[0] > 0


def test_controls_with_the_same_style_are_labelled():
    """UCB1 and the two Thompson rules are gray solid lines without a marker."""
    fig, axes = figures.panels(1)
    alike = ("UCB1", "Beta Thompson", "Laplace Thompson")
    controls = {name: LINE * i for i, name in enumerate((*alike, "uniform"), 1)}
    charts.sweep_panel(axes[0, 0], {"GLB-OMD": {0.1: LINE, 1.0: LINE}}, controls)
    named = {text.get_text() for text in axes[0, 0].texts}
    legend = axes[0, 0].get_legend_handles_labels()[1]
    assert named == {figures.line_style(name)["label"] for name in alike}
    assert figures.line_style("uniform")["label"] in legend and named.isdisjoint(legend)


def test_the_overview_names_curves_in_its_alternative_text_as_in_the_legend():
    covers = {"pfbco": {"ends": {"PF, sham": 0.945}}, "bkb": {"ends": {"BKB 1": 597.0}}}
    said = "pfbco (PF, sign-flipped feedback: 0.945); bkb (BKB 1: 597)"
    assert charts._ends_text(covers) == said
