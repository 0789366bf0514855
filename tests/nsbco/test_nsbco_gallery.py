"""Tests of the gallery's learners, ratios and texts on hand-made runs."""

import numpy as np
import pytest
from ns_runs import run

from companion.nsbco.experiments import regret
from paperlib import stats

HORIZON = 64  # T^{2/3} = 16
STILL, JUMPS = ("stationary", HORIZON), ("abrupt5", HORIZON)


@pytest.fixture
def runs():
    return {
        STILL: {
            "kappa 0.01": run([1, 1]),
            "Algorithm 2": run([4, 4]),
            "MASTER": run([16, 16, 16], report_restarts=[0, 0, 0]),
            "GLR": run([5, 5], report_restarts=[0, 1]),
            "KW": run([20, 20]),
            "full information": run([0.1, 0.1]),
            "static baseline": run([8, 8]),
        },
        JUMPS: {
            "MASTER": run([32, 32], report_restarts=[1, 2]),
            "Algorithm 2": run([64, 64]),
            "GLR": run([8, 8], report_restarts=[4, 4]),
            "KW": run([10, 10]),
            "full information": run([1, 1]),
            "static baseline": run([8, 8]),
        },
    }


def test_kinds_of_paths():
    names = ["stationary", "abrupt5", "rotation32", "walk", "level", "abrupt33", "sinusoid10"]
    abrupt, smooth = regret.abrupt_and_smooth(names)
    assert abrupt == ["abrupt5", "abrupt33"] and smooth == ["rotation32", "walk", "sinusoid10"]


def test_figures_show_their_learners_in_order(runs):
    shown = regret.figure_learners(runs, "stationary", HORIZON)
    assert list(shown) == [
        "MASTER",
        "Algorithm 2",
        "KW",
        "GLR",
        "full information",
        "static baseline",
    ]


def test_simpler_rules_are_compared_by_ratios_of_mean_regret(runs):
    for found in runs.values():
        found |= {"KWtrack": run([2, 2]), "D-LS": run([64, 64])}
    found = regret.rules(runs, ["stationary", "abrupt5"], HORIZON)
    assert found["GLR"]["abrupt5"].estimate == pytest.approx(4)
    assert found["D-LS"]["stationary"].estimate == pytest.approx(0.25)
    assert regret.range_of_ratios(found["KWtrack"]) == "8.00 to 16.0 times"


def test_range_of_a_single_ratio():
    assert regret.range_of_ratios({"p": stats.Interval(2.0, 1.0, 3.0, 9, "")}) == "2.00 times"


def test_log_limits_include_the_largest_and_cut_at_three_decades():
    panel = {"p": {"a": np.array([1.0, 3.0]), "b": np.array([1e-9])}}
    low, high = regret.log_limits(panel)
    assert high == pytest.approx(3) and low == pytest.approx(3e-3)
    low, _ = regret.log_limits({"p": {"a": np.array([2.0]), "b": np.array([1.5])}})
    assert low == pytest.approx(1.0)


def test_least_regret_of_learners_without_extra_information(runs):
    assert regret.best(runs, JUMPS, ("MASTER", "GLR", "KW")) == "GLR"
    assert {"MASTER", "GLR", "BoB"} < {*regret.RIVALS}
    assert not {"KW, oracle", "full information", "static baseline"} & {*regret.RIVALS}


def test_caption_names_are_separated_only_by_commas():
    assert regret.caption_names(["EGS, oracle", "GLR"]) == "EGS (oracle), GLR"
    assert regret.caption_names([]) == "none"


def test_text_of_variations():
    found = regret.variations(["stationary", "abrupt3", "rotation4"], 64, 2, 0)
    assert found.startswith("stationary 0, 0 changes; abrupt3 2.00, 2 changes; rotation4 ")
    assert found.endswith("changes in every round")
