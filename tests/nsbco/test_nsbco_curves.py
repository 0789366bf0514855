"""Panels of the figures of regret: what they draw, and the numbers that they return."""

import numpy as np
import pytest

from companion.figures import panels
from companion.nsbco.experiments import curves


@pytest.fixture
def ax():
    _, axes = panels()
    return axes[0, 0]


def test_curves_along_a_setting(ax):
    samples = {"MASTER": {4: np.array([1.0, 3.0]), 2: np.array([1.0, 1.0])}}
    found = curves.along(ax, samples, nothing=lambda T: T / 8, labels={"MASTER": "ours"})
    assert found["MASTER"]["setting"] == [2, 4]
    assert found["MASTER"]["mean"].tolist() == [1.0, 2.0]
    assert found["MASTER"]["low"][1] < 0 < 3 < found["MASTER"]["high"][1]
    assert found["static baseline"]["mean"] == [0.25, 0.5]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    low, high = ax.get_ylim()
    assert 0 < low < 0.25 and high > 2.0
    assert [handle.get_label() for handle in ax.get_legend_handles_labels()[0]]
    assert "ours" in ax.get_legend_handles_labels()[1]


def test_ticks_are_the_settings_counted_from_the_last(ax):
    curves.along(ax, {"GLR": {T: np.array([T, T + 1.0]) for T in (2, 4, 8)}}, every=2)
    assert list(ax.get_xticks()) == [8, 2] or list(ax.get_xticks()) == [2, 8]
    assert curves.power(8) == "$2^{3}$"


def test_guides_have_their_slopes_and_move_no_axis(ax):
    curves.along(ax, {"GLR": {T: np.array([T, T + 1.0]) for T in (16, 256)}})
    before = ax.get_xlim(), ax.get_ylim()
    lines = len(ax.get_lines())
    curves.guides(ax)
    for line, slope in zip(ax.get_lines()[lines:], (1 / 2, 2 / 3), strict=True):
        x, y = (np.log(np.asarray(ends, float)) for ends in line.get_data())
        assert (y[1] - y[0]) / (x[1] - x[0]) == pytest.approx(slope)
    assert (ax.get_xlim(), ax.get_ylim()) == before
    assert [text.get_text() for text in ax.texts] == ["$T^{1/2}$", "$T^{2/3}$"]


def test_bands_stand_at_the_mean(ax):
    ax.set_yscale("log")
    found = curves.bands(ax, {"MASTER": np.array([9.0, 11.0, 10.0]), "GLR": np.array([1.0, 30.0])})
    assert found["MASTER"].estimate == 10
    heights = [line.get_ydata()[0] for line in ax.get_lines()]
    assert heights == [10, 15.5]
    assert len(ax.patches) == 1  # an interval that reaches below zero has no band on a log axis


@pytest.mark.parametrize("across", [False, True])
def test_ticks_of_a_short_axis_are_finer(ax, across):
    ax.set(xscale="log", yscale="log")
    curves.reach(ax, [1.0, 10.0], across)
    axis = ax.xaxis if across else ax.yaxis
    low, high = axis.get_view_interval()
    assert low < 1 and high > 10
    inside = [x for x in axis.get_majorticklocs() if low <= x <= high]
    assert inside == pytest.approx([1, 2, 5, 10])
    curves.reach(ax, [1.0, 1e4], across)
    inside = [x for x in axis.get_majorticklocs() if 1 <= x <= 1e4]
    assert inside == pytest.approx([1, 10, 100, 1e3, 1e4])


def test_points_are_means_both_ways(ax):
    pairs = {"GLR": ([1.0, 3.0], [10.0, 30.0]), "KW, oracle": ([4.0, 4.0], [5.0, 5.0])}
    found = curves.points(ax, pairs)
    assert (found["GLR"]["x"].estimate, found["GLR"]["y"].estimate) == (2, 20)
    assert ax.get_xlim()[1] > 4 and ax.get_ylim()[1] > 20
    x, y = ax.get_lines()[-1].get_data()
    assert list(x) == list(y)  # where both are equal


def test_oracles_are_open_and_what_has_no_marker_gets_a_cross():
    assert curves.marked("EGS, oracle")["markerfacecolor"] == "white"
    assert "markerfacecolor" not in curves.marked("EGS")
    assert curves.marked("static baseline")["marker"] == "x"


def test_rows_begin_at_the_top_and_point_beyond_the_edge(ax):
    samples = {"MASTER": [1.0, 1.0], "GLR": [1e-6, 1e-6], "static baseline": [2.0, 2.0]}
    found = curves.rows(ax, samples, limits=(0.01, 5.0))
    assert found["GLR"].estimate == 1e-6
    assert ax.get_yticklabels()[0].get_text() == "MASTER"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    beyond = [line for line in ax.get_lines() if line.get_marker() == "<"]
    assert len(beyond) == 1 and list(beyond[0].get_xdata()) == [0.01]
    assert any(list(line.get_xdata()) == [2.0, 2.0] for line in ax.get_lines())
