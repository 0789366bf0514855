"""Sentences of findings that no claim supports, compared with the numbers of the figures."""

import json

import pytest

from companion.output import project_dir
from companion.pages import ledger


def ends(figure, *keys):
    """Return the last mean of each curve of a panel."""
    panel = json.loads((project_dir() / "figures" / f"{figure}.json").read_text())["numbers"]
    for key in keys:
        panel = panel[key]
    return {name: curve["mean"][-1] for name, curve in panel.items()}


@pytest.mark.parametrize("figure", ["figure_1", "figure_2"])
@pytest.mark.parametrize("S", [3, 5])
def test_greedy_play_is_best_where_arms_are_fresh(figure, S):
    regret = ends(f"glbomd/{figure}", f"regret S={S}")
    assert min(regret, key=regret.get) == "greedy" and len(regret) > 5


@pytest.mark.parametrize("S", [3, 5])
def test_greedy_play_is_not_where_they_never_change(S):
    regret = ends("glbomd/fixed_arms", f"S={S}")
    assert regret["greedy"] > regret["OFUGLB"]


@pytest.mark.parametrize("panel", "abc")
def test_three_rules_on_points_that_are_not_scaled_are_one(panel):
    regret = ends(f"goucb/figure_2{panel}", "the paper's methods", "cumulative")
    assert regret["GP-UCB, raw"] == regret["GP-EI, raw"] == regret["GP-PI, raw"]


def test_expected_improvement_with_other_settings_has_less_regret_than_go_ucb():
    for panel, better in (("b", ("GP-EI, scaled", "GP-EI, modern")), ("c", ("GP-EI, modern",))):
        ours = ends(f"goucb/figure_2{panel}", "the paper's methods", "cumulative")["GO-UCB"]
        others = ends(f"goucb/figure_2{panel}", "other settings", "cumulative")
        assert all(others[name] < ours for name in better)


def test_ofuls_regret_is_less_than_a_tenth_of_confidenceballs():
    regret = ends("linear/ellipsoid", "regret")
    assert 10 * regret["OFUL"] < regret["ConfidenceBall"]


def test_ofuls_radius_is_more_than_ten_times_its_error_at_the_end():
    radius, error = ends("linear/ellipsoid", "radius"), ends("linear/ellipsoid", "error")
    assert radius["OFUL"] > 10 * error["OFUL, error"] > 0


def test_glr_has_more_than_ten_times_the_needless_restarts_of_master():
    about = json.loads((project_dir() / "figures" / "nsbco" / "detection.json").read_text())
    needless = {
        name: found[str(2**18)]["estimate"]
        for name, found in about["numbers"]["needless, level"].items()
    }
    assert needless["GLR"] > 10 * needless["MASTER"] > 0


def test_at_c_1_pf_is_lowest_on_neither_set():
    claims = {c["id"]: c for c in ledger.gather("paper")["papers"]["pfbco"]["claims"]}
    for key in ("printed", "psd"):
        assert claims[f"pfbco.C3a.{key}.c1"]["statistic"] > 0.95
        loss = ends("pfbco/figure_1c", f"{key}, c=1, above zero")
        assert min(loss, key=loss.get) != "PF"
