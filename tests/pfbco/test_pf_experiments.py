"""The learners and probes of Figure 1, and the statistics of average losses."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from paperlib.figures import drawing as figures
from paperlib import stats
from paperlib.core.trace import Trace
from paperlib.pfbco import FKM, PFBCO, BallLinear, Doubling, MatrixCompletion, Portfolio, QuadraticPolytope, RegularizedLeader, StochOCG
from paperlib.pfbco.experiments import summaries
from paperlib.pfbco.experiments import settings as e
from paperlib.pfbco.claims import CLAIMS, LEVEL
from paperlib.pfbco.problems.market import Choice
from paperlib.pfbco.probes import FixedLoss
from paperlib.core.rounds import Probe
from paperlib.play import play
from paperlib.core.streams import Streams
from paperlib.verdicts.verdict import claim, decide

RNG = np.random.default_rng(0)


def trace(losses, rounds=None, **series):
    """A run in which trial i loses losses[i, t] in round t, recorded at ``rounds``."""
    sums = np.cumsum(np.asarray(losses, float), 1)
    rounds = np.arange(1, 1 + sums.shape[1]) if rounds is None else np.asarray(rounds)
    series = {name: np.cumsum(np.asarray(x, float), 1)[:, rounds - 1] for name, x in series.items()}
    return Trace(rounds, {"regret": sums[:, rounds - 1], **series}, {}, np.zeros(len(rounds)), list(range(len(sums))), {})


def flat(levels, rounds=8):
    """A run of constant losses, one level a trial."""
    return trace(np.repeat(np.asarray(levels, float)[:, None], rounds, 1))


def test_learners_differ_in_what_they_are_named_for():
    found = e.learners(0.3)
    assert all(isinstance(learner, Doubling) for learner in found.values()) and set(e.FIGURE) <= found.keys()
    bases = {name: learner.base for name, learner in found.items()}
    assert bases == {
        "PF": PFBCO(0.3), "PF, sham": PFBCO(0.3, sham=True), "FKM": FKM(0.3), "FKM, sham": FKM(0.3, sham=True), "FKM 2005": FKM(0.3, variant="2005"),
        "Unregularized": PFBCO(0.3, regularized=False), "StochOCG": StochOCG(), "Leader": RegularizedLeader(0.3),
    }
    small = {name: learner.base for name, learner in e.learners(1.0, scale=1.0).items()}
    assert {base.scale for name, base in small.items() if name != "StochOCG"} == {1.0} and small["StochOCG"] == StochOCG()
    assert all(figures.look(name) for name in found)


def test_probes_sum_what_they_are_named_for():
    problem, horizon = QuadraticPolytope(3, 2), 9
    runs = {}
    for name, learner in e.learners(0.5).items():
        runs[name] = play(learner, problem, horizon, 2, record="all", probes=e.watch(problem, name, learner))
    assert {name for name, run in runs.items() if "center" in run.series} == runs.keys() - {"StochOCG"}
    ours, world = runs["PF"], problem.init(2, horizon, Streams(0, range(2)).at(-1), dtype=torch.float64)
    streams = Streams(0, range(2))
    at_center = sum(problem.loss(world, t, torch.zeros(2, 3, dtype=torch.float64), streams.at(t)) for t in range(horizon))
    np.testing.assert_allclose(ours["origin"][:, -1], at_center, rtol=1e-12)
    np.testing.assert_array_equal(ours["constants"], np.stack([world.task.loss_bound, world.task.grad_bound, world.task.cset.D, world.task.cset.R], 1))
    delta = 0.5 * (2.0 ** np.floor(np.log2(np.arange(1, 10)))) ** -0.2
    losses = np.diff(ours["regret"], axis=1, prepend=0)
    np.testing.assert_allclose(ours["norm"], np.cumsum(3 / delta * np.abs(losses), 1), rtol=1e-12)
    assert not np.allclose(ours["center"], ours["regret"])
    noise = sum(3 * torch.linalg.vector_norm(streams.at(t).normal("gradient noise", 3), dim=1) for t in range(horizon))
    np.testing.assert_allclose(runs["StochOCG"]["noise"][:, -1], noise, rtol=1e-12)


def test_fixed_points_of_a_portfolio():
    problem = Portfolio(4, "synthetic", 0.5)
    learner = e.learners(0.5)["PF"]
    run = play(learner, problem, 5, 3, record="all", probes=e.watch(problem, "PF", learner))
    world = problem.init(3, 5, Streams(0, range(3)).at(-1), dtype=torch.float64)
    ratios = torch.stack([world.relatives(t) for t in range(5)])
    np.testing.assert_allclose(run["uniform"][:, -1], -ratios.mean(-1).log().sum(0), atol=1e-12)
    np.testing.assert_allclose(run["origin"][:, -1], -(ratios.mean(-1) / 2).log().sum(0), atol=1e-12)


def test_fixed_loss_does_not_depend_on_who_plays():
    problem = BallLinear(3)
    found = [play(learner, problem, 6, 2, probes={"there": Probe(FixedLoss(problem, 0.4), "sum")})["there"] for learner in e.learners(0.5).values()]
    assert all(np.array_equal(found[0], other) for other in found[1:]) and (found[0] != 0).all()


def test_recorded_rounds_hold_what_the_claims_look_at():
    rounds = e.recorded(4095)
    assert rounds == sorted(set(rounds)) and {1, 3, 63, 256, 1023, 2047, 3072, 4095} <= set(rounds) and len(rounds) < 100
    assert e.recorded(1) == [1] and e.recorded(1203)[-1] == 1203


def test_averages_by_hand():
    run = trace([[4.0, 2.0, 0.0, 6.0], [1.0, 1.0, 1.0, 5.0]])
    np.testing.assert_allclose(e.average(run)[0], [4, 3, 2, 3])
    np.testing.assert_allclose(e.final(run), [3, 2])
    np.testing.assert_allclose(e.after(run, 2), [3, 1])
    np.testing.assert_allclose(e.between(run, 2, 4), [3, 3])
    np.testing.assert_allclose(e.between(run, 0, 2), [3, 1])
    with pytest.raises(ValueError, match="t=5"):
        e.after(run, 5)


@pytest.mark.parametrize("horizon, last", [(7, slice(3, 7)), (8, slice(3, 7)), (15, slice(7, 15))])
def test_last_whole_epochs(horizon, last):
    losses = RNG.normal(size=(3, horizon))
    now, before = e.last_epochs(trace(losses))
    np.testing.assert_allclose(now, losses[:, last].mean(1))
    np.testing.assert_allclose(before, losses[:, (last.start - 1) // 2 : last.start].mean(1))


def test_decline_is_of_the_mean_curve():
    losses = np.array([[1.0, 3.0, -1.0], [1.0, 1.0, 1.0]])  # averages 1 2 1 and 1 1 1, mean 1 1.5 1
    assert e.decline(trace(losses)).estimate == pytest.approx(1 / 1.5)
    rising = e.decline(trace(np.tile(np.arange(1.0, 9), (4, 1))))
    assert (rising.estimate, rising.low, rising.high) == (1, 1, 1) and decide(claim("pfbco.C1a.final"), 1, (1, 1)) == "fails"


def test_thin_and_averaged():
    losses = RNG.uniform(size=(2, 6))
    run = trace(losses, beside=losses / 2)
    few = e.thin(run, [2, 6])
    np.testing.assert_array_equal(few["regret"], run["regret"][:, [1, 5]])
    with pytest.raises(ValueError, match=r"rounds=\[7\]"):
        e.thin(run, [2, 7])
    plain = e.averaged({"PF": run}, [2, 6])["PF"]
    np.testing.assert_allclose(plain["average"][:, 1], losses.mean(1))
    less = e.averaged({"PF": run}, [2, 6], beside=few["beside"])["PF"]
    np.testing.assert_allclose(less["average"], plain["average"] / 2)


def runs(**shifts):
    """Twelve trials of one level each, and learners that lose so much more."""
    levels = RNG.uniform(1, 2, 12)
    return {name: flat(levels + np.asarray(shift)) for name, shift in shifts.items()}


def test_beats_wants_all_rivals_beaten():
    noise = RNG.uniform(0.01, 0.02, 12)
    found = runs(PF=0.0, FKM=0.1 + noise, Unregularized=noise, StochOCG=0.3 + noise)
    low = e.beats(found, "PF", e.RIVALS)
    assert low.p < LEVEL and low.opposite == 1 and low.n == 12
    high = e.beats(found, "StochOCG", ("PF", "FKM", "Unregularized"), largest=True)
    assert high.p < LEVEL
    middle = e.beats(found, "FKM", ("PF", "Unregularized", "StochOCG"))
    assert middle.p > 0.5 and middle.opposite < LEVEL  # one rival is below: the claim fails
    even = e.beats(runs(PF=0.0, FKM=np.where(np.arange(12) % 2, noise, -noise)), "PF", ("FKM",))
    assert even.p > LEVEL and even.opposite > LEVEL


def test_beats_counts_an_infinite_loss_as_the_largest():
    found = runs(PF=0.0, StochOCG=np.where(np.arange(12) < 6, np.inf, 0.1))
    assert e.beats(found, "PF", ("StochOCG",)).p < LEVEL
    both = {"PF": flat([np.inf] * 6), "StochOCG": flat([np.inf] * 6)}
    assert e.beats(both, "PF", ("StochOCG",)).p == 1


def test_learners_of_other_trials_are_not_compared():
    found = runs(PF=0.0, FKM=0.1)
    for trials in (range(1, 13), range(11)):
        other = replace(found["FKM"], trials=list(trials), series={"regret": found["FKM"]["regret"][: len(trials)]})
        for compare in (lambda: e.beats(found | {"FKM": other}, "PF", ("FKM",)), lambda: e.table(found | {"FKM": other})):
            with pytest.raises(ValueError, match="trials=.*allowed: the same"):
                compare()
    with pytest.raises(ValueError, match="12 and 11"):
        e.relative_difference(np.ones(12), np.ones(11))


def test_relative_difference():
    b = RNG.uniform(1, 2, 12)
    found = e.relative_difference(1.01 * b, b)
    assert found.estimate == pytest.approx(0.01) and found.low < 0.01 < found.high and found.n == 12
    assert decide(claim("pfbco.N1.a"), found.estimate, (found.low, found.high)) == "holds"
    apart = e.relative_difference(1.05 * b, b)
    assert decide(claim("pfbco.N1.a"), apart.estimate, (apart.low, apart.high)) == "fails"
    negative = e.relative_difference(-1.01 * b, -b)  # a loss below 0
    assert negative.estimate == pytest.approx(0.01) and negative.low < 0.01 < negative.high


def test_tables_must_agree():
    interval = lambda low, high: stats.Interval((low + high) / 2, low, high, 10, "x")
    of = lambda found: decide(claim("pfbco.C6.b"), found.estimate, (found.low, found.high))
    assert of(e.agreed({"a": interval(1.1, 1.2), "b": interval(1.3, 1.4)})) == "holds"
    assert of(e.agreed({"a": interval(1.1, 1.2), "b": interval(0.8, 0.9)})) == "inconclusive"
    assert of(e.agreed({"a": interval(0.7, 0.8), "b": interval(0.8, 0.9)})) == "fails"
    test = lambda p, opposite: stats.Test(0.1, p, opposite, 10, "w")
    mixed = e.agreed({"a": test(0.001, 1.0), "b": test(1.0, 0.001)})
    assert mixed.p == 1 and mixed.opposite == 1 and "(b)" in mixed.method
    assert e.agreed({"a": test(0.001, 1.0), "b": test(0.002, 1.0)}).p == 0.002
    assert e.agreed({"a": test(1.0, 0.001), "b": test(1.0, 0.002)}).opposite == 0.002


def test_noise_ratio():
    a, b = trace(np.ones((3, 4)), norm=np.full((3, 4), 6.0)), trace(np.ones((3, 4)), noise=np.full((3, 4), 2.0))
    assert e.noise_ratio(a, b)[:3] == (3, 3, 3)


def test_mean_norms_are_over_rounds_and_trials():
    ours = trace(np.ones((2, 4)), rounds=[1, 4], norm=[[1, 2, 3, 6], [5, 5, 5, 5]])
    theirs = trace(np.ones((3, 2)), noise=[[1, 3], [2, 2], [5, 5]])
    assert summaries.mean_norms({"PF": ours, "StochOCG": theirs}) == (4, 3)


def test_table_adjusts_over_the_figure_and_over_the_rest():
    noise = RNG.uniform(0.01, 0.02, 12)
    found = runs(PF=0.0, FKM=noise, **{"FKM 2005": noise, "Leader": noise, "PF, sham": noise})
    found["PF"] = trace(np.diff(found["PF"]["regret"], axis=1, prepend=0), center=np.full((12, 8), 0.5))
    rows, least = e.table(found), 2 / 2**12
    assert {name: row.p for name, row in rows.items()} == pytest.approx({"PF": None, "FKM": 2 * least, "PF, sham": 2 * least, "FKM 2005": 2 * least, "Leader": 2 * least})
    assert rows["PF"].difference is None and rows["FKM"].difference.estimate == pytest.approx(noise.mean())
    assert rows["PF"].center == 0.5 and rows["FKM"].center is None
    assert "centers 0.500" in str(rows["PF"]) and "difference" not in str(rows["PF"])
    assert f"p {2 * least:.2g}" in str(rows["FKM"]) and "centers" not in str(rows["FKM"])


def test_hindsight_is_below_every_fixed_point_and_the_learners_need_not_be():
    for problem, horizon in ((QuadraticPolytope(3, 2), 40), (Portfolio(5, "synthetic"), 40), (MatrixCompletion(4, 3, "nuclear"), 40), (MatrixCompletion(4, 3, "psd"), 40)):
        best = e.hindsight(problem, horizon, 3, seed=4)
        world, streams = problem.init(3, horizon, Streams(4, range(3)).at(-1), dtype=torch.float64), Streams(4, range(3))
        points = [world.task.cset.project(3 * streams.at(k).normal("test", world.task.cset.dim)) for k in range(20)] + [torch.zeros(3, world.task.cset.dim, dtype=torch.float64)]
        losses = np.stack([sum(problem.loss(world, t, y, streams.at(t)) for t in range(horizon)) / horizon for y in points])
        losses = np.where(np.isnan(losses), np.inf, losses)
        assert best.shape == (3,) and (best <= losses.min(0) + 1e-4).all() and (best < losses[-1]).all()


def test_price_tables(monkeypatch):
    have = set()

    def choose(data, table):
        if table not in have and data == "real":
            raise FileNotFoundError(table)
        return Choice(table if table in have and data != "synthetic" else "synthetic", "")

    monkeypatch.setattr(e, "choose", choose)
    assert e.price_tables("auto") == ({"synthetic market": "synthetic"}, "synthetic market")
    with pytest.raises(FileNotFoundError, match="stocks"):
        e.price_tables("real")
    have.add("stocks")
    assert e.price_tables("auto") == ({"close prices": "stocks"}, "no adjusted close prices")
    with pytest.raises(FileNotFoundError, match="stocks_adjusted"):
        e.price_tables("real")
    have.add("stocks_adjusted")
    assert e.price_tables("auto") == e.price_tables("real") == ({"close prices": "stocks", "adjusted close prices": "stocks_adjusted"}, "")
    assert e.price_tables("synthetic")[1] == "synthetic market"


def test_price_tables_refuse_another_word():
    with pytest.raises(ValueError, match="data='bundled'"):
        e.price_tables("bundled")


def test_doubling_slope_and_line():
    T = 2.0 ** np.arange(4, 13)
    regret = RNG.uniform(0.9, 1.1, (20, 1)) * T**0.8
    found = e.doubling_slope(T, np.where(T < 2**6, 1e6, regret))  # only the last six doublings count
    assert found.estimate == pytest.approx(0.8) and found.low == pytest.approx(0.8) and found.high == pytest.approx(0.8)
    line = e.line_residual([1, 2, 3, 5], RNG.uniform(0.9, 1.1, (20, 1)) * np.array([4.0, 7.0, 10.0, 16.0]))
    assert line.estimate == pytest.approx(0, abs=1e-12)
    assert e.line_residual([1, 2, 3, 5], np.ones((20, 1)) * np.array([1.0, 4.0, 9.0, 25.0])).low > 0.02


def test_without_feedback_pf_ends_where_it_ends_on_matrices():
    """N1 in small, on a set where it is certain: the printed oracle puts trace k (1 - alpha) into the matrix whatever is heard."""
    problem = MatrixCompletion(6, 5, "paper_lmo")
    run = {name: play(e.learners(0.1)[name], problem, 63, 8) for name in ("PF", "PF, sham", "FKM")}
    assert abs(e.relative_difference(e.final(run["PF"]), e.final(run["PF, sham"])).estimate) < 0.02
    assert e.beats(run, "FKM", ("PF",), largest=True).p < 0.01


def test_claims_of_figure_1_have_notebooks_that_begin_with_the_paper():
    assert {c.notebook for c in CLAIMS if not c.parts} <= {f"pfbco_{x}" for x in ("1_quadratic", "2_portfolio", "3_matrix_completion", "4_time", "5_theory")}
