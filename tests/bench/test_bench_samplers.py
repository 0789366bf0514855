"""The benchmark of Optuna's samplers: its problems, its statistics, and its figure."""

import json

import numpy as np
import optuna
import pytest

from companion.bench import samplers, tuning
from companion.output import project_dir

FUNCTIONS = ("branin", "hartmann", "ackley", "mixed")
# The minimizers that the literature prints; the one of the mixed problem follows from its formula.
BEST = {
    "branin": {"x0": np.pi, "x1": 2.275},
    "hartmann": dict(
        zip(
            [f"x{i}" for i in range(6)],
            [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573],
        )
    ),
    "ackley": {f"x{i}": 0.0 for i in range(10)},
    "mixed": {f"x{i}": x for i, x in enumerate(tuning.CENTER)}
    | {"layers": 5, "width": 8, "material": "steel", "coated": False},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_problem_attains_its_lowest_value_and_no_point_is_below(name):
    problem = tuning.PROBLEMS[name]
    best = problem.objective(optuna.trial.FixedTrial(BEST[name]))
    assert best == pytest.approx(problem.lowest(), abs=1e-6)
    values = tuning.play_study(name, "random", seed=0, trials=200)["values"]
    assert np.nanmin(values) > problem.lowest()
    assert bool(np.isnan(values).any()) == (name == "mixed")


def test_the_trees_of_a_shorter_fit_are_the_first_trees_of_a_longer_one(monkeypatch):
    """The table of gradient boosting fits each setting once, with the most trees."""
    monkeypatch.setattr(tuning, "RATES", range(-3, -2))
    monkeypatch.setattr(tuning, "DEPTHS", range(2, 3))
    monkeypatch.setattr(tuning, "FRACTIONS", (0.7,))
    tables = []
    for trees in (range(10, 31, 10), range(10, 21, 10)):
        monkeypatch.setattr(tuning, "TREES", trees)
        tables.append(tuning.boosting_errors()["errors"][0, 0, 0])
    np.testing.assert_array_equal(tables[0][:2], tables[1])
    assert (np.diff(tables[0]) < 0).all()


def test_simple_regret_is_the_least_so_far_without_failures():
    regrets = np.array([[np.nan, 3.0, 4.0, 1.0, np.nan]])
    np.testing.assert_array_equal(samplers.simple(regrets), [[np.inf, 3.0, 3.0, 1.0, 1.0]])


def test_the_interval_of_the_median_has_order_statistics_as_ends():
    """With 20 values the exact 95 % interval is from the 6th to the 15th: P(6 <= Binomial(20, 1/2) <= 14) = 0.9586."""
    found = samplers.median(np.random.default_rng(0).permutation(20.0 + np.arange(20))[:, None])
    assert found["median"] == 29.5 and found["low"] == 25.0 and found["high"] == 34.0


def test_seconds_are_measured_while_a_study_runs_and_after_it_is_resumed():
    found = tuning.time_suggestions("TuRBO", "branin", (2, 9))
    assert found["running"].shape == found["resumed"].shape == (2,)
    # After eight trials the model is fitted, to all trials at once if the sampler is new.
    assert found["running"][0] < 0.1 * found["resumed"][1]


@pytest.mark.slow
def test_the_figure_has_all_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    rng = np.random.default_rng(0)
    regrets = {
        problem: {
            kind.__name__: rng.random((3, samplers.TRIALS))
            for name, kind in tuning.SAMPLERS.items()
            if samplers.plays(name, problem)
        }
        for problem in tuning.PROBLEMS
    }
    regrets["mixed"]["RandomSampler"][0, 0] = np.nan
    samplers.draw(regrets, [], "a machine")
    saved = json.loads((tmp_path / "bench/samplers.json").read_text())
    rows = (4 * 6 + 2 * 7) * len(samplers.SHOWN)
    assert len(saved["numbers"]["simple"]) == len(saved["numbers"]["mean"]) == rows
    last = next(row for row in saved["numbers"]["simple"] if row["trials"] == samplers.TRIALS)
    mean = next(row for row in saved["numbers"]["mean"] if row["trials"] == 30)
    first = regrets["branin"]["RandomSampler"][:, :30].mean(1)
    assert mean["median"] == pytest.approx(np.median(first))
    assert last["median"] == pytest.approx(np.median(regrets["branin"]["RandomSampler"].min(1)))
    assert saved["numbers"]["failed"]["RandomSampler"] == pytest.approx(1 / (3 * samplers.TRIALS))


def committed(table):
    """Return the committed medians of a table by the first word of a problem's title, sampler and number of trials."""
    numbers = json.loads((project_dir() / "figures/bench/samplers.json").read_text())
    rows = numbers["numbers"][table]
    return {
        (row["title"].split()[0].strip(","), row["sampler"], row["trials"]): row["median"]
        for row in rows
    }


def best(table, problem, trials):
    """Return the samplers with the lowest committed median."""
    found = {key[1]: x for key, x in committed(table).items() if key[::2] == (problem, trials)}
    return {name for name, x in found.items() if x == min(found.values())}


def test_the_guide_recommends_what_the_benchmark_found():
    """Each line corresponds to a sentence of docs/guides/optuna.md."""
    for trials in (60, 120):
        for problem in ("Branin", "Hartmann", "SVM", "boosting"):
            assert "GPSampler" in best("simple", problem, trials), problem
        for problem in ("Ackley", "10"):
            assert best("simple", problem, trials) == {"TuRBOSampler"}, problem
    failed = json.loads((project_dir() / "figures/bench/samplers.json").read_text())
    assert failed["numbers"]["failed"]["GPSampler"] > 0.5
    for problem in ("Branin", "Hartmann", "boosting"):
        assert best("mean", problem, 120) == {"GOUCBSampler"}, problem
    assert best("mean", "SVM", 120) == {"CmaEsSampler"}
    medians = committed("simple")
    for problem, sampler, trials in medians:
        if sampler in ("GPSampler", "TuRBOSampler", "BKBSampler", "TPESampler") and trials == 120:
            assert medians[problem, sampler, trials] < medians[problem, "GOUCBSampler", trials]
    for problem in ("SVM", "boosting"):
        assert best("mean", problem, 120) != {"BKBSampler"}
        assert best("simple", problem, 120) != {"BKBSampler"}
    seconds = {row["sampler"]: row["running"] for row in failed["numbers"]["seconds"]}
    assert max(seconds[name] for name in ("TPESampler", "CmaEsSampler", "BKBSampler")) < 0.05
