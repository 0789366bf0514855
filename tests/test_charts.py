"""Panels along a setting and of one quantity against another: what they return is what they show."""

import numpy as np
import pytest

from paperlib import charts, figures, stats

LINE = np.array([1.0, 2.0, 4.0, 5.0])


def test_sweep_panel_returns_what_it_plots():
    fig, axes = figures.panels(1)
    sweep = {"GLB-OMD": {0.0: LINE, 0.1: LINE + 1, 1.0: LINE + 2}, "GLOC": {0.1: LINE}}
    numbers = charts.sweep_panel(axes[0, 0], sweep, {"uniform": LINE * 3})
    assert numbers["GLB-OMD"]["setting"] == [0.0, 0.1, 1.0] and numbers["GLOC"]["n"] == [4]
    np.testing.assert_allclose(numbers["GLB-OMD"]["mean"], [3, 4, 5])
    expected = stats.mean(LINE)
    np.testing.assert_allclose([numbers["GLOC"]["low"][0], numbers["GLOC"]["high"][0]], [expected.low, expected.high])
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
