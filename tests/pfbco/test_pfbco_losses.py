"""Tests of the statistics and tables of average losses."""

import numpy as np
import pytest

from companion.pfbco.claims import CLAIMS, LEVEL
from companion.pfbco.experiments.losses import (
    agreed,
    average,
    averaged,
    beats,
    caveat,
    decline,
    last_epochs,
    loss_table,
    mean_norms,
    noise_ratio,
    relative_difference,
)
from companion.pfbco.experiments.settings import RIVALS, learners
from companion.verdicts import decide, find_claim
from paperlib import stats
from paperlib.core.trace import Trace
from paperlib.pfbco.problems.completion import MatrixCompletion
from paperlib.play import play

RNG = np.random.default_rng(0)


def trace(losses, rounds=None, **series):
    """Return a trace where trial i has loss losses[i, t] in round t, recorded at ``rounds``."""
    sums = np.cumsum(np.asarray(losses, float), 1)
    rounds = np.arange(1, 1 + sums.shape[1]) if rounds is None else np.asarray(rounds)
    series = {name: np.cumsum(np.asarray(x, float), 1)[:, rounds - 1] for name, x in series.items()}
    return Trace(
        rounds,
        {"regret": sums[:, rounds - 1], **series},
        {},
        np.zeros(len(rounds)),
        list(range(len(sums))),
        {},
    )


def flat(levels, rounds=8):
    """Return a trace of constant losses, one level per trial."""
    return trace(np.repeat(np.asarray(levels, float)[:, None], rounds, 1))


def test_averages_by_hand():
    run = trace([[4.0, 2.0, 0.0, 6.0], [1.0, 1.0, 1.0, 5.0]])
    np.testing.assert_allclose(average(run), [3, 2])
    np.testing.assert_allclose(average(run, 2), [3, 1])
    np.testing.assert_allclose(average(run, 4, 2), [3, 3])
    np.testing.assert_allclose(average(run, 2, 0), [3, 1])
    with pytest.raises(ValueError, match=r"^rounds must be recorded rounds, got \[5\]"):
        average(run, 5)


@pytest.mark.parametrize("horizon, last", [(7, slice(3, 7)), (8, slice(3, 7)), (15, slice(7, 15))])
def test_last_whole_epochs(horizon, last):
    losses = RNG.normal(size=(3, horizon))
    now, before = last_epochs(trace(losses))
    np.testing.assert_allclose(now, losses[:, last].mean(1))
    np.testing.assert_allclose(before, losses[:, (last.start - 1) // 2 : last.start].mean(1))


def test_decline_is_of_the_mean_curve():
    # The average losses are 1 2 1 and 1 1 1, with mean 1 1.5 1.
    losses = np.array([[1.0, 3.0, -1.0], [1.0, 1.0, 1.0]])
    assert decline(trace(losses)).estimate == pytest.approx(1 / 1.5)
    rising = decline(trace(np.tile(np.arange(1.0, 9), (4, 1))))
    assert (rising.estimate, rising.low, rising.high) == (1, 1, 1) and decide(
        find_claim("pfbco.C1a.final"), 1, (1, 1)
    ) == "fails"


def test_averaged():
    losses = RNG.uniform(size=(2, 6))
    run = trace(losses, beside=losses / 2)
    plain = averaged({"PF": run}, [2, 6])["PF"]
    np.testing.assert_allclose(plain["average"][:, 1], losses.mean(1))
    less = averaged({"PF": run}, [2, 6], beside=run.thin([2, 6])["beside"])["PF"]
    np.testing.assert_allclose(less["average"], plain["average"] / 2)


def runs(**shifts):
    """Return traces of twelve trials with constant losses; each learner's loss is shifted by its argument."""
    levels = RNG.uniform(1, 2, 12)
    return {name: flat(levels + np.asarray(shift)) for name, shift in shifts.items()}


@pytest.mark.slow
def test_beats_requires_all_baselines_to_be_worse():
    noise = RNG.uniform(0.01, 0.02, 12)
    found = runs(PF=0.0, FKM=0.1 + noise, Unregularized=noise, StochOCG=0.3 + noise)
    low = beats(found, "PF", RIVALS)
    assert low.p < LEVEL and low.opposite == 1 and low.n == 12
    high = beats(found, "StochOCG", ("PF", "FKM", "Unregularized"), largest=True)
    assert high.p < LEVEL
    middle = beats(found, "FKM", ("PF", "Unregularized", "StochOCG"))
    assert middle.p > 0.5 and middle.opposite < LEVEL  # one baseline is lower, so the claim fails
    even = beats(runs(PF=0.0, FKM=np.where(np.arange(12) % 2, noise, -noise)), "PF", ("FKM",))
    assert even.p > LEVEL and even.opposite > LEVEL


def test_relative_difference():
    b = RNG.uniform(1, 2, 12)
    found = relative_difference(1.01 * b, b)
    assert found.estimate == pytest.approx(0.01) and found.low < 0.01 < found.high and found.n == 12
    assert decide(find_claim("pfbco.N1.a"), found.estimate, (found.low, found.high)) == "holds"
    apart = relative_difference(1.05 * b, b)
    assert decide(find_claim("pfbco.N1.a"), apart.estimate, (apart.low, apart.high)) == "fails"
    negative = relative_difference(-1.01 * b, -b)  # a loss below 0
    assert negative.estimate == pytest.approx(0.01) and negative.low < 0.01 < negative.high
    share = relative_difference(1.01 * b, b, gain=b / 4)
    assert share[:3] == pytest.approx([4 * x for x in found[:3]]) and "gain" in share.method
    assert decide(find_claim("pfbco.N1.c"), share.estimate, (share.low, share.high)) == "fails"


def test_tables_must_agree():
    interval = lambda low, high: stats.Interval((low + high) / 2, low, high, 10, "x")
    of = lambda found: decide(find_claim("pfbco.C6.b.pf"), found.estimate, (found.low, found.high))
    assert of(agreed({"a": interval(1.1, 1.2), "b": interval(1.3, 1.4)})) == "holds"
    assert of(agreed({"a": interval(1.1, 1.2), "b": interval(0.8, 0.9)})) == "inconclusive"
    assert of(agreed({"a": interval(0.7, 0.8), "b": interval(0.8, 0.9)})) == "fails"
    test = lambda p, opposite: stats.Test(0.1, p, opposite, 10, "w")
    mixed = agreed({"a": test(0.001, 1.0), "b": test(1.0, 0.001)})
    assert mixed.p == 1 and mixed.opposite == 1 and "(b)" in mixed.method
    assert agreed({"a": test(0.001, 1.0), "b": test(0.002, 1.0)}).p == 0.002
    assert agreed({"a": test(1.0, 0.001), "b": test(1.0, 0.002)}).opposite == 0.002


def test_the_text_of_a_caveat():
    """The control's losses are 1.25 times PF's; the estimates have norm 6 and the noise norm 2."""
    ours = np.linspace(1, 2, 5)[:, None] * np.ones((5, 4)).cumsum(1)
    traces = {
        "PF": trace(ours, norm=np.full((5, 4), 6.0)),
        "PF, sham": trace(1.25 * ours),
        "StochOCG": trace(ours, noise=np.full((5, 4), 2.0)),
    }
    said = "the final loss of PF's control with sign-flipped feedback is within {} % of PF's, and the norm of PF's estimates is {} times the norm of StochOCG's noise"
    assert caveat(traces) == said.format("20.0", "3.00")
    near = traces | {"PF, sham": traces["PF"], "StochOCG": trace(ours, noise=np.full((5, 4), 1.5))}
    assert caveat(near) == said.format("0", "4.00") and caveat(near, traces) == said.format(
        "20.0", "3.00 to 4.00"
    )
    of_gain = caveat(traces, gain=average(traces["PF"]))
    assert "differs from PF's by 25.0 % of the largest possible gain," in of_gain


def test_noise_ratio():
    a, b = (
        trace(np.ones((3, 4)), norm=np.full((3, 4), 6.0)),
        trace(np.ones((3, 4)), noise=np.full((3, 4), 2.0)),
    )
    assert noise_ratio(a, b)[:3] == (3, 3, 3)


def test_mean_norms_are_over_rounds_and_trials():
    ours = trace(np.ones((2, 4)), rounds=[1, 4], norm=[[1, 2, 3, 6], [5, 5, 5, 5]])
    theirs = trace(np.ones((3, 2)), noise=[[1, 3], [2, 2], [5, 5]])
    assert mean_norms({"PF": ours, "StochOCG": theirs}) == (4, 3)


def test_table_adjusts_over_the_figure_and_over_the_rest():
    noise = RNG.uniform(0.01, 0.02, 12)
    found = runs(PF=0.0, FKM=noise, **{"FKM 2005": noise, "Leader": noise, "PF, sham": noise})
    found["PF"] = trace(
        np.diff(found["PF"]["regret"], axis=1, prepend=0), center=np.full((12, 8), 0.5)
    )
    rows, least = loss_table(found), 2 / 2**12
    assert {name: row.p for name, row in rows.items()} == pytest.approx(
        {
            "PF": None,
            "FKM": 2 * least,
            "PF, sham": 2 * least,
            "FKM 2005": 2 * least,
            "Leader": 2 * least,
        }
    )
    assert rows["PF"].difference is None and rows["FKM"].difference.estimate == pytest.approx(
        noise.mean()
    )
    assert rows["PF"].center == 0.5 and rows["FKM"].center is None
    assert "centers 0.500" in str(rows["PF"]) and "difference" not in str(rows["PF"])
    assert f"p {2 * least:.2g}" in str(rows["FKM"]) and "centers" not in str(rows["FKM"])


def test_without_feedback_pf_ends_where_it_ends_on_matrices():
    """A small version of `N1`. With the printed oracle the final trace is k (1 - alpha) for any feedback."""
    problem = MatrixCompletion(6, 5, "paper_lmo")
    run = {name: play(learners(0.1)[name], problem, 63, 8) for name in ("PF", "PF, sham", "FKM")}
    assert abs(relative_difference(average(run["PF"]), average(run["PF, sham"])).estimate) < 0.02
    assert beats(run, "FKM", ("PF",), largest=True).p < 0.01


def test_claims_of_figure_1_have_notebooks_that_start_with_the_paper():
    assert {c.notebook for c in CLAIMS if not c.parts} <= {
        f"pfbco_{x}"
        for x in ("1_quadratic", "2_portfolio", "3_matrix_completion", "4_time", "5_theory")
    }
