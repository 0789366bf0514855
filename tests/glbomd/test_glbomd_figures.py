"""Functions behind the notebooks' cells: numbers and printed lines that they compute from traces and run times."""

import numpy as np
import pytest

from companion.glbomd.experiments.settings import ONLINE
from companion.glbomd.figures import covertype, logistic, shared, theory
from companion.store.seconds import Seconds
from paperlib import stats
from paperlib.core.trace import Trace


def trace(regret, rounds=(5, 10), **series):
    """Return a trace with this cumulative regret, R x T'."""
    regret = np.asarray(regret, float)
    trials = list(range(len(regret)))
    return Trace(
        np.array(rounds), {"regret": regret, **series}, {}, np.zeros(len(rounds)), trials, {}
    )


def growing(held, rounds=(1, 2, 4, 8)):
    """Return a trace of one trial with the size of the state in bytes."""
    memory = np.asarray(held, float)[None, :, None]
    return trace([np.zeros(len(rounds))], rounds, memory=memory)


@pytest.fixture
def timed():
    """Two repetitions of four rounds: GLOC takes twice and OFUGLB five times GLB-OMD's run time."""
    cost = {"GLB-OMD": 1.0, "GLOC": 2.0, "OFUGLB": 5.0}
    runs = {(name, S): np.full((2, 4), x * S) for S in (3, 5) for name, x in cost.items()}
    return Seconds(runs, dict.fromkeys(runs, 1))


def test_overtaking_names_the_round_or_the_horizon():
    ours = trace([[2, 4]])
    later = shared.overtaking({"OFUGLB": trace([[3, 3]]), "GLB-OMD": ours})
    assert later == "OFUGLB's mean regret stays below GLB-OMD's from round 10"
    never = shared.overtaking({"OFUGLB": trace([[1, 5]]), "GLB-OMD": ours})
    assert never == "OFUGLB does not overtake GLB-OMD within 10 rounds"


def test_decisions_without_a_proof_are_counted_over_all_rounds(capsys):
    reports = {"report.uncertified": np.array([0, 1]), "report.passes": np.array([20, 30])}
    found = trace([[1, 2], [1, 2]], **reports)
    shared.print_missing_proofs({"S=3": {"OFUGLB": found, "GLB-OMD": trace([[1, 2]])}})
    expected = (
        "S=3  OFUGLB: 1 of 20 decisions without a proof, 2.50 passes over the history per round\n"
    )
    assert capsys.readouterr().out == expected


def test_fits_and_warm_ups_are_means_over_trials(capsys):
    reports = {"report.fits": np.array([2, 5]), "report.warmups": np.array([0, 1])}
    shared.print_warm_ups({"S=3": {"RS-GLinCB": trace([[1, 2], [1, 2]], **reports)}})
    expected = "S=3:     3.5 fits and     0.5 warm-up rounds in 10 rounds\n"
    assert capsys.readouterr().out == expected


def test_the_caption_has_the_sizes_of_the_timed_runs(timed):
    assert shared.timed_size(timed) == (2, 4)
    batch = Seconds({("GLOC", 3): np.full((1, 7), 50.0)}, {("GLOC", 3): 100})
    assert "over 2 repetitions" in shared.bars_note(timed, batch)
    assert shared.bars_note(timed, batch).endswith("extrapolated from 7 rounds.")


def test_run_time_ratios_compare_with_each_other_method(timed):
    found = logistic.run_time_ratios(timed, "GLOC", 3)
    assert {name: ratio.estimate for name, ratio in found.items()} == {"GLB-OMD": 2, "OFUGLB": 0.4}
    assert [*logistic.run_time_ratios(timed, "GLB-OMD", 5, ("GLOC",))] == ["GLOC"]


class Judge:
    """A study that returns the id of a claim as its verdict."""

    def judge(self, id, statistic):
        return id


def test_only_a_claim_that_compares_several_methods_names_the_decisive_one(timed, capsys):
    ratios = logistic.run_time_ratios(timed, "GLOC", 3)
    several = stats.largest(ratios)
    logistic.print_run_time_claims(Judge(), 3, {"C1": several, "C27": ratios["OFUGLB"]})
    assert capsys.readouterr().out == "glbomd.C1.S3, compared with GLB-OMD\nglbomd.C27.S3\n"


def test_a_method_has_final_regrets_at_the_factors_at_which_it_was_run():
    traces = {
        1.0: {name: trace([[1, 2]]) for name in covertype.METHODS},
        0.0: {"GLOC": trace([[1, 3]])},
    }
    sweep = covertype.final_regrets(traces)
    assert [*sweep] == [*covertype.METHODS]
    assert {x: values.tolist() for x, values in sweep["GLOC"].items()} == {1.0: [2.0], 0.0: [3.0]}
    assert [*sweep["OFUGLB"]] == [1.0]


def test_shares_are_relative_to_the_mean_of_uniform_play():
    found = {"dim, 1.0": trace([[1, 2], [1, 4]]), "uniform": trace([[0, 1], [0, 3]])}
    shares = theory.shares_of_uniform({"toy": found}, {"toy": ["dim"]}, [1.0])
    assert shares["toy"]["dim"][1.0].tolist() == [1.0, 2.0]


def test_growth_of_states_and_histories():
    held = dict.fromkeys(ONLINE, growing([8, 8, 8, 8])) | {"GLOC": growing([8, 8, 8, 16])}
    grown = theory.state_growth(held)
    assert grown.pop("GLOC") == 8 and set(grown.values()) == {0}
    histories = ("GLM-UCB", "OFUGLB", "OFULog-r", "RS-GLinCB")
    slopes = theory.history_slopes(dict.fromkeys(histories, growing([10, 13, 19, 31])))
    assert [*slopes] == [*histories] and [*slopes.values()] == pytest.approx([1.0] * 4)


def test_the_ratio_of_radii_grows_like_a_root_of_a_logarithm_only_at_enormous_rounds():
    factor, slope = theory.radius_ratio(3, 1e250, 1e300)
    assert factor > 1 and slope == pytest.approx(0.485, abs=1e-3)
    assert theory.radius_ratio(3, 1e2, 3000)[1] < 0
