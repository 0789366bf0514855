"""Tests of the statistics of the runs, on traces with a few numbers that were computed by hand."""

from importlib import metadata

import numpy as np
import pytest
from matplotlib import pyplot as plt

from companion.datasets.evaluations import evaluate
from companion.goucb import claims
from companion.goucb.experiments import settings, synthetic, tuning
from companion.goucb.problems.tuning import SPACES
from companion.goucb.styles import STYLES
from companion.store import Seconds
from paperlib import stats
from paperlib.core.trace import Trace
from paperlib.goucb.learners.gp import GP, GPOptimizeAcqf
from paperlib.goucb.probes import noisy_value, played
from paperlib.goucb.problems.synthetic import SigmoidSum
from paperlib.play import play


def traced(each, best=None, trials=None):
    """Return a trace with this regret per round, R x T."""
    each = np.atleast_2d(np.asarray(each, float))
    series = {"regret": each.cumsum(1)}
    if best is not None:
        series["best"] = np.atleast_2d(np.asarray(best, float))
    rounds = np.arange(1, each.shape[1] + 1)
    numbered = list(range(len(each)))
    return Trace(rounds, series, {}, rounds * 1e-3, numbered, {"learner": {"kind": "x"}})


def test_regret_between_rounds_counts_both_ends():
    trace = traced([[1, 2, 4, 8]])
    assert synthetic.between(trace, 2, 3).tolist() == [6.0]
    assert synthetic.between(trace, 1, 4).tolist() == [15.0] == trace.last().tolist()


def test_bend_is_one_for_linear_regret_and_compares_the_two_ends_of_phase_2():
    linear = traced(np.ones((4, 30)))
    assert synthetic.bend(linear, 5).estimate == 1.0
    each = np.ones((4, 30))
    each[:, :5] = 100.0  # regret of Phase I does not count
    each[:, 20:] = 0.25  # the last ten rounds
    assert synthetic.bend(traced(each), 5).estimate == 0.25
    each[:, 19] = 100.0  # the round before them does not count either
    assert synthetic.bend(traced(each), 5).estimate == 0.25
    short = traced(np.ones((4, 8)))  # three rounds at each end
    assert synthetic.bend(short, 2).estimate == 1.0


def test_flat_is_a_fraction_of_the_regret_of_uniform_points_in_as_many_rounds():
    uniform, found = traced(np.full((3, 30), 10.0)), np.full((3, 30), 10.0)
    found[:, 22:] = 0.5  # the last eight rounds
    assert synthetic.flat(traced(found), uniform).estimate == pytest.approx(0.05)


def test_agreement_counts_rounds_not_totals():
    a, b = traced([[1, 2, 4, 8], [1, 2, 4, 8]]), traced([[1, 5, 4, 8], [1, 2, 4, 8.5]])
    assert synthetic.agreement({"a": a, "b": b, "c": a}, ["a", "b", "c"]) == (6, 8)


def test_an_order_shows_ties():
    values = {"b": 2.0, "a": 1.0, "c, d": 2.0 + 1e-9, "e": 3.0}
    assert synthetic.order(values) == "a; b = c, d; e"
    assert synthetic.order({"a": 0.0}) == "a"


def test_simple_regrets_below_the_noise_are_ties():
    """With noise 0.01, the values 1e-12 and 3e-6 are not ranked."""
    values = {"a": 3e-6, "b": 1e-12, "c": 0.5, "d": 0.02}
    assert (
        synthetic.describe_values(values, 0.01)
        == "a, b below the noise level 0.0100; d 0.0200; c 0.500"
    )
    trace = traced(np.ones((5, 4)), best=np.full((5, 4), 1.0 - 1e-9))
    line = synthetic.table({"a": trace}, 2, 1.0, 0.01)[1]
    assert line.endswith("below 0.01") and "e-09" not in line


def test_a_band_of_cumulative_regret_does_not_decrease():
    """One trial in five has all the regret. The lower end of a t-interval would then decrease between rounds, and be below 0."""
    each = np.concatenate([np.ones((5, 3)), np.zeros((5, 20))], 1)
    each[0, 3:] = 10.0
    trace = traced(each)
    t_band = stats.band(trace["regret"])
    assert (np.diff(t_band.low) < 0).any() and t_band.low.min() < 0
    _, low, high, _ = synthetic.bootstrap_band(trace["regret"])
    assert (np.diff(low) > -1e-9).all() and (np.diff(high) > -1e-9).all()
    assert (low <= t_band.estimate).all() and (t_band.estimate <= high).all() and low.min() >= 0
    figure, ax = plt.subplots()
    numbers = synthetic.band_panel(ax, {"GO-UCB": trace}, 3)["GO-UCB"]
    np.testing.assert_array_equal(numbers["low"], low)
    assert ax.get_ylim()[1] > high.max()
    folds = synthetic.band_panel(ax, {"GO-UCB": traced(each[:4])}, 3, folds=2)["GO-UCB"]
    units = np.stack([traced(each[:4])["regret"][k::2].mean(0) for k in (0, 1)])
    np.testing.assert_array_equal(folds["low"], synthetic.bootstrap_band(units).low)
    plt.close(figure)
    assert synthetic.band_note({"a": trace}).startswith(
        "Bands: pointwise 95 % bootstrap intervals of the mean over 5 trials; they are too narrow"
    )


# Phase I of f1 -----------------------------------------------------------------------------------------------


def test_draws_of_phase_1(monkeypatch, tmp_path):
    """Blocks are stored, their draws differ, and with one point the best point is this point."""
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setattr(synthetic, "BLOCK", 300)
    found = synthetic.simulate_first_phase(SigmoidSum(3), 1, 700, 5)
    np.testing.assert_array_equal(found["best"], found["uniform"])
    assert len(np.unique(found["best"])) == 700
    assert len(list(tmp_path.rglob("*.npz"))) == 3


def test_the_best_of_five_points_by_hand():
    found = synthetic.simulate_block(SigmoidSum(20, 0.0), 5, 2000, 0, 0)
    rng = np.random.default_rng([0, 0])
    f = 25 / (1 + np.exp(-(10 * rng.random((2000, 5, 20)) - 5).sum(2) - 1)) + 1
    np.testing.assert_allclose(found["best"], 26 - f.max(1), atol=1e-9)
    np.testing.assert_allclose(found["uniform"], 26 - f.mean(1), atol=1e-9)
    share = synthetic.poor_fraction(found, 0.01)
    assert share.estimate == (found["best"] > 0.1).mean() and 0.08 < share.estimate < 0.13


def test_the_best_point_has_the_largest_noisy_value():
    """With noise of a thousand times the range, the best point is a random one."""
    found = synthetic.simulate_block(SigmoidSum(3, 25_000.0), 5, 20_000, 0, 0)
    error = found["best"].std() / np.sqrt(20_000)
    assert found["best"].mean() == pytest.approx(found["uniform"].mean(), abs=5 * error)


def test_the_empirical_bernstein_interval_covers():
    rng = np.random.default_rng(0)
    samples = 25 * (rng.random((400, 3000)) < 0.02)
    covered = [x.low < 0.5 < x.high for x in (synthetic.bernstein(x, 25) for x in samples)]
    assert np.mean(covered) >= 0.95
    x = np.array([0.0, 1.0, 1.0, 2.0])
    half = synthetic.bernstein(x, 2.0).high - 1.0
    log = np.log(4 / 0.05)
    assert half == pytest.approx(np.sqrt(2 * (2 / 3) * log / 4) + 14 * log / 9)


def test_the_share_of_a_uniform_point_adds_the_learners_difference():
    found = {"best": np.full(200_000, 0.6), "uniform": np.full(200_000, 12.0)}
    repeated = traced(np.full((4, 6), 0.5))
    learner = traced(np.full((4, 6), 0.5) + np.array([[0, 0, 0, 0, 0.06, 0.06]] * 4))
    share = lambda rounds: synthetic.share_of_uniform(found, learner, repeated, rounds, 25.0)
    assert share(2).estimate == pytest.approx(0.66 / 12)
    assert share(6).estimate == pytest.approx(0.62 / 12)
    assert share(2).low < share(2).estimate < share(2).high and share(2).n == 4
    assert share(2).low > 0.05  # decided here; with 20 trials it would be open
    level = 1 - 0.05 / 3  # three intervals are combined
    best, uniform = (synthetic.bernstein(found[name], 25, level) for name in found)
    assert share(2).low == pytest.approx((best.low + 0.06) / uniform.high, rel=1e-12)
    assert share(2).high == pytest.approx((best.high + 0.06) / uniform.low, rel=1e-12)
    found = {name: x[:10] for name, x in found.items()}  # the mean of "uniform" may be 0
    assert share(2).low == 0 and share(2).high == np.inf


def test_the_share_is_covered_where_some_trials_recover():
    """One trial in ten has regret 6, and GO-UCB recovers in a fifth of these: 0.48 of 12. With 20 trials the coverage is below one half."""
    rng = np.random.default_rng(0)
    found = {"best": 6.0 * (rng.random(200_000) < 0.1), "uniform": np.full(200_000, 12.0)}

    def covered(R):
        best = 6.0 * (rng.random(R) < 0.1)
        each = best * (rng.random(R) > 0.2) + 1e-3 * rng.normal(size=R)
        runs = [traced(np.stack([x, x], 1)) for x in (each, best)]
        share = synthetic.share_of_uniform(found, *runs, 1, 25.0)
        return share.low < 0.48 / 12 < share.high

    assert np.mean([covered(1000) for _ in range(200)]) >= 0.95
    assert np.mean([covered(20) for _ in range(200)]) < 0.5


def test_trials_that_do_not_recover_are_counted():
    each = np.array([[5, 5, 5], [5, 5, 0], [0, 0, 0], [0, 0, 5.0]])
    trace = traced(each, best=10 - each)
    assert synthetic.count_stuck(trace, 2, 10.0, 0.01) == (2, 1, 4)


# The three GP methods ----------------------------------------------------------------------------------------


def test_acquisitions_tie_on_points_that_are_not_scaled():
    sizes = {"fit_steps": 10, "candidates": 16, "top": 2, "steps": 2}
    for name in ("UCB", "EI", "PI"):
        raw = GP(5, "legacy-raw", name, **sizes)
        trace = play(
            raw,
            SigmoidSum(),
            horizon=6,
            trials=2,
            record="all",
            probes={"x": played, "y": noisy_value},
        )
        assert synthetic.tied_fraction(raw, trace, 5.0, 6).tolist() == [1.0, 1.0]
        scaled = GP(5, "legacy-scaled", name, **sizes)
        assert synthetic.tied_fraction(scaled, trace, 5.0, 6).max() < 0.1


def test_botorchs_own_search_chooses_other_points_than_the_batched_search():
    """Our search takes the first candidate for both acquisitions. BoTorch's search does not, and its points for the two may differ."""
    learners = [GP(5, "legacy-raw", name, fit_steps=12, steps=2) for name in ("UCB", "EI")]
    run = lambda learner: play(
        learner, SigmoidSum(), horizon=8, trials=2, record="all", probes={"x": played}
    )
    ours, own = map(run, learners), [run(GPOptimizeAcqf(gp)) for gp in learners]
    first, second = ours
    assert synthetic.agreeing_fraction([first, second], 5).tolist() == [1.0, 1.0]
    assert synthetic.agreeing_fraction([first, own[0]], 5).tolist() == [0.0, 0.0]
    assert synthetic.agreeing_fraction(own, 5).mean() < 1
    with pytest.raises(
        ValueError,
        match="restarts, raw_samples must be in increasing order, got restarts=3, raw_samples=2",
    ):
        GPOptimizeAcqf(GP(4, "legacy-raw", "EI"), 3, 2)


def test_spread_is_over_the_smallest_of_the_others():
    generator = np.random.default_rng(0)
    runs = {
        name: traced(scale * generator.standard_normal((200, 1)) + 100.0)
        for name, scale in (("a", 2.0), ("b", 1.0), ("c", 5.0))
    }
    found = synthetic.spread(runs, "a", ["b", "c"])
    assert found.low < 2.0 < found.high and 1.5 < found.estimate < 2.5


def test_saved_and_apart():
    runs = {
        "a": traced([[1.0], [3.0]]),
        "b": traced([[2.0], [8.0]]),
        "c": traced([[6.0], [4.0]]),
        "uniform": traced([[10.0], [10.0]]),
    }
    assert synthetic.saved(runs, "a", ["b", "c"]).tolist() == [0.75, 0.5]
    assert synthetic.apart(runs, "a", "b").estimate == pytest.approx(-0.3)


def test_simple_regret_takes_the_best_so_far_and_the_trials_own_maximum():
    trace = traced([[1, 1], [1, 1]], best=[[1.0, 2.0], [0.0, 5.0]])
    assert synthetic.simple(trace, 6.0).tolist() == [[5.0, 4.0], [6.0, 1.0]]
    assert synthetic.simple(trace, np.array([2.0, 5.0])).tolist() == [[1.0, 0.0], [5.0, 0.0]]


def test_growth_is_the_exponent():
    generator = np.random.default_rng(0)
    noise = generator.uniform(0.9, 1.1, 50)
    found = synthetic.growth({d: 3 * d**0.5 * noise for d in (5, 10, 20, 40)}, "slope")
    assert found.estimate == pytest.approx(0.5) and found.low <= 0.5 + 1e-9


# Tuning ------------------------------------------------------------------------------------------------------


def accuracies(values):
    """Return a trace as ``Tuning`` records it, with cumulative accuracy in place of regret, R x T."""
    values = np.asarray(values, float)
    return traced(values, best=np.maximum.accumulate(values, 1))


def test_regret_of_tuning_is_relative_to_the_best_of_all_learners_in_the_fold():
    found = {
        "a": accuracies([[0.5, 0.6], [0.9, 0.8], [0.7, 0.4], [0.9, 0.1]]),  # folds 0, 1, 0, 1
        "b": accuracies([[0.1, 0.2], [1.0, 0.9]]),  # fewer designs
    }
    assert tuning.ceiling(found, 2).tolist() == [0.7, 1.0]
    lost = tuning.regrets(found, 2)
    np.testing.assert_allclose(lost["a"].last(), [0.3, 0.3, 0.3, 1.0])
    np.testing.assert_allclose(lost["a"]["simple"][:, -1], [0.1, 0.1, 0.0, 0.1])
    np.testing.assert_allclose(lost["b"].last(), [1.1, 0.1])


def test_folds_count_and_designs_do_not():
    """With ten designs of two different folds, the t-interval is based on two numbers, not on twenty."""
    x = np.where(np.arange(20) % 2 == 0, 0.0, 1.0)
    found = tuning.clustered({"": x}, 2)
    assert (found.estimate, found.n) == (0.5, 2)
    assert found.high - 0.5 == pytest.approx(12.7062047 * 0.5)  # t with one degree of freedom
    five = tuning.clustered({"a.b": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}, 5)
    assert five.high - 3.0 == pytest.approx(2.7764451 * np.sqrt(2.5 / 5))


def test_classifiers_of_a_data_set_share_its_folds():
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    alone = tuning.clustered({"a.b": x}, 5)
    again = tuning.clustered({"a.b": x, "a.c": x}, 5)
    assert again == alone._replace(method=again.method)
    apart = tuning.clustered({"a.b": x, "d.b": x}, 5)  # eight degrees of freedom, half the variance
    assert apart.n == 10
    assert apart.high - 3.0 == pytest.approx(2.3060041 * np.sqrt(2.5 / 10))


def test_tasks_are_averaged_after_folds():
    found = tuning.clustered({"a.x": np.array([1.0, 1.0]), "b.x": np.array([3.0, 5.0])}, 2)
    assert found.estimate == 2.5
    equal = tuning.clustered({"a.x": np.ones(4)}, 2)
    assert (equal.low, equal.high) == (1.0, 1.0)


def test_the_interval_over_five_folds_covers():
    generator = np.random.default_rng(0)
    found = [tuning.clustered({"": x}, 5) for x in generator.standard_normal((2000, 5))]
    assert 0.935 < np.mean([x.low < 0 < x.high for x in found]) < 0.965


def test_the_greatest_difference_names_the_other():
    tasks = {"t": {name: traced([[x], [x]]) for name, x in (("a", 1.0), ("b", 3.0), ("c", 2.0))}}
    found = tuning.greatest(tasks, "a", ["b", "c"], 2)
    assert found.estimate == -1.0 and "(c)" in found.method


def test_one_difference_above_refutes_whatever_the_others_do():
    """The regret of a exceeds the regret of b beyond doubt. The difference to c is unknown, which must not hide this."""
    a, b, c = ([[x] for x in row] for row in ([1.0, 1.1], [0.4, 0.5], [-9.0, 9.0]))
    tasks = {"t": {"a": traced(a), "b": traced(b), "c": traced(c)}}
    assert tuning.greatest(tasks, "a", ["b", "c"], 2).low > 0


def test_the_farthest_is_a_size_and_hides_none_that_is_outside():
    interval = lambda low, high: synthetic.stats.Interval((low + high) / 2, low, high, 5, "mean")
    found = synthetic.farthest({"a": interval(-0.3, 0.3), "b": interval(-0.28, -0.26)})
    assert (found.low, found.high) == (0.26, 0.3)
    assert synthetic.farthest({"a": interval(-0.1, 0.2)}).low == 0.0


def test_the_factor_is_of_the_ratio_farthest_from_1_up_or_down():
    interval = lambda x: synthetic.stats.Interval(x, x / 1.1, x * 1.1, 5, "ratio")
    found = synthetic.factor({"a": interval(0.5), "b": interval(1.6)})
    assert (found.estimate, found.low, found.high) == pytest.approx((2.0, 2 / 1.1, 2.2))


def test_similar_finds_the_pair_that_is_farthest_apart():
    runs = {name: traced([[x], [x]]) for name, x in (("a", 1.0), ("b", 4.0), ("c", 2.0))}
    runs["uniform"] = traced([[10.0], [10.0]])
    found = tuning.similar(runs, ["a", "b", "c"], 2)
    assert found.estimate == pytest.approx(0.3) and "a - b" in found.method


def test_bend_of_tuning_is_of_the_rounds_named():
    runs = {
        "a": traced([[1.0, 2.0, 7.0]] * 2),
        "b": traced([[1.0, 4.0, 9.0]] * 2),
        "c": traced([[1.0, 8.0, 9.0]] * 2),
        "uniform": traced([[10.0] * 3] * 2),
    }
    assert tuning.bend(runs, "a", ["b", "c"], 2, 2, 2, share=False).estimate == -4.0
    assert tuning.bend(runs, "a", ["b", "c"], 2, 2, 3, share=True).estimate == pytest.approx(-0.3)


def test_a_regret_line_is_curved_if_late_rounds_have_less_regret():
    straight, curved = traced([[1.0, 2.0, 2.0, 2.0]] * 4), traced([[1.0, 4.0, 2.0, 1.0]] * 4)
    bent = lambda trace: tuning.regret_curvature({"a": trace}, "a", 2, (2, 2), (4, 4)).estimate
    assert bent(straight) == 0.0 and bent(curved) == -3.0


def test_the_table_of_final_values_marks_the_least():
    runs = {name: traced(np.ones((4, 3)), best=np.zeros((4, 3))) for name in ("TuRBO-1", "uniform")}
    for name, end in (("TuRBO-1", 0.012), ("uniform", 0.03)):
        runs[name].series["simple"] = np.full((4, 3), end)
    figure, ax = plt.subplots()
    numbers = tuning.final_table(ax, {"breast.forest": runs}, 2, {"breast.forest": "head"})
    assert numbers["breast.forest"]["TuRBO-1"].estimate == pytest.approx(0.012)
    weights = {text.get_text().split("\n")[0]: text.get_fontweight() for text in ax.texts}
    assert weights["1.20"] == "bold" and weights["3.00"] == "normal" and "head" in weights
    plt.close(figure)


def test_ranks_share_ties():
    tasks = {
        "t": {"a": traced([[1.0]]), "b": traced([[1.0]]), "c": traced([[0.0]])},
        "u": {"a": traced([[1.0]]), "b": traced([[2.0]]), "c": traced([[3.0]])},
    }
    assert tuning.ranks(tasks, ["a", "b", "c"], Trace.last) == {"a": 1.75, "b": 2.25, "c": 2.0}


# Settings and panels -----------------------------------------------------------------------------------------


def test_every_name_of_the_figures_has_a_learner_and_a_style():
    every = settings.learners(3, 26.0)
    known = STYLES.keys() | {"uniform"}
    assert every.keys() <= known
    used = {
        *settings.PAPER,
        *settings.SECOND,
        *settings.RIVALS,
        *settings.CONTROLS,
        *settings.OWN,
        *settings.ALONG,
        *settings.TWINS,
        *settings.TWINS.values(),
    }
    assert used <= every.keys()
    for full in (False, True):
        for names in settings.plan(full).values():
            assert set(names) <= every.keys() and len(set(names)) == len(names)


def test_optional_optimizers_are_left_out_by_name(monkeypatch):
    names = ["GP-EI, modern", "TPE", "scikit-optimize"]
    assert settings.lacking(names) == []
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    assert settings.lacking(names) == ["TPE", "scikit-optimize"]


def test_steps_times_rate_of_the_printed_ascent_do_not_depend_on_the_size():
    for ascent in (50, 2000):
        printed = settings.learners(3, 26.0, settings.Size(ascent))["GO-UCB"].acquisition
        assert printed.steps * printed.rate == pytest.approx(0.2)


def test_the_tasks_equal_the_tasks_of_the_claims():
    assert tuning.DATA.keys() == claims.DATA.keys()
    assert list(SPACES) == list(claims.CLASSIFIERS)


@pytest.mark.parametrize(
    "task, message",
    [
        ("breast", "classifier must be one of"),
        ("breast.tree", "classifier must be one of"),
        ("iris.forest", "data set of a task must be one of"),
        ("", "data set of a task must be one of"),
    ],
)
def test_an_unknown_task_is_refused(task, message):
    with pytest.raises(ValueError, match=message):
        tuning.choose([task], "bundled")


def test_panels_return_what_they_draw():
    runs = {
        name: traced(np.ones((3, 12)), best=np.zeros((3, 12))) for name in ("GO-UCB", "uniform")
    }
    fig, axes = plt.subplots(1, 2)
    runs = synthetic.with_simple(runs, 2.0)
    numbers = synthetic.twin_panels(axes, runs, 4, title="x")
    assert numbers["simple"]["GO-UCB"]["mean"].tolist() == [2.0] * 12
    plt.close(fig)


def test_cost_along_observations_compares_runs_of_one_batch_size():
    from companion.goucb.experiments import cost

    rounds = {(cost.OURS, 1): 4.0, (cost.OURS, 20): 40.0, (cost.USERS, 1): 9.0}
    seconds = Seconds(
        {run: np.full((2, 3), x) for run, x in rounds.items()}, {run: run[1] for run in rounds}
    )
    assert cost.by_observations({10: seconds}, 20) == {cost.OURS: {10: 2000.0}}
    assert cost.by_observations({10: seconds}, 1) == {
        cost.OURS: {10: 4000.0},
        cost.USERS: {10: 9000.0},
    }


@pytest.mark.slow
def test_failures_are_of_the_stored_evaluations(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    problem = tuning.Tuning("wdbc", "boosting", folds=2)
    first, second = problem.files()
    evaluate([(first, {"n_estimators": 2}), (second, {"loss": "none"})])
    (failure,) = tuning.failures(problem)
    assert failure.startswith("fold 1, {'loss': 'none'}: InvalidParameterError")


def test_a_seed_that_shifts_the_folds_is_refused():
    shifted = traced(np.ones((2, 4)), np.ones((2, 4)))
    shifted.about["seed"] = 3
    with pytest.raises(ValueError, match="seed of a must be a multiple of folds=2, got 3"):
        tuning.regrets({"a": shifted}, 2)


def test_versions_name_what_is_not_installed(monkeypatch):
    found = settings.versions()
    assert found == {package: metadata.version(package) for package in found}
    monkeypatch.setattr(settings, "find_spec", lambda module: None)
    assert set(settings.versions().values()) == {None}


def test_turbo_runs_in_small_batches():
    assert [settings.chunk(name, 20) for name in ("TuRBO-1", "GP-EI, raw")] == [5, 20]
    assert settings.chunk("TuRBO-1", 2) == 2
