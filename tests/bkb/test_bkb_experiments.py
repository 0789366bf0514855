"""The regret experiments: line-ups at one radius, and what is read off their runs."""

import math

import numpy as np
import pytest

from paperlib.datasets import registry as datasets
from paperlib.figures import drawing as figures
from paperlib import stats
from paperlib.bkb import BKB, ExactGPUCB, LazyBKB, RFFUCB, TableArms, UniformArm, WarmRKHS
from paperlib.bkb.experiments import settings
from paperlib.bkb.experiments import regret as e
from paperlib.core.trace import Trace
from paperlib.play import play
from paperlib.verdicts.verdict import claim, decide


def trace(regret, rounds=None):
    regret = np.asarray(regret, float)
    rounds = np.arange(1, 1 + regret.shape[1]) if rounds is None else np.asarray(rounds)
    return Trace(rounds, {"regret": regret}, {}, np.zeros(len(rounds)), list(range(len(regret))), {})


def test_parity_learners_differ_in_what_they_are_named_for():
    problem = settings.rkhs_2d()
    learners = e.parity_learners(problem, scale=0.3)
    assert len(learners) == 17 and isinstance(learners.pop("uniform"), UniformArm)
    assert {learner.confidence for learner in learners.values()} == {e.confidence(problem, 0.3)}
    assert {learner.kernel for learner in learners.values()} == {problem.kernel}
    sketches = {(learner.qbar, learner.merge) for name, learner in learners.items() if isinstance(learner, BKB) and name != "SoR"}
    assert sketches == {(q, merge) for q in (1, 2, 3, 5, 10) for merge in ("pulls", "arms")}
    assert learners["BKB"] == BKB(problem.kernel, e.confidence(problem, 0.3)) and learners["BKB, arms"].merge == "arms"
    assert learners["BKB 2"].qbar == 2 and learners["BKB 10, arms"].qbar == 10
    assert learners["SoR"].qbar == 5 and learners["SoR"].variance == "sor"
    assert [(learners[name].size, learners[name].variance) for name in ("SoR, fixed", "DTC, fixed")] == [(20, "sor"), (20, "dtc")]
    assert [learners[name].size for name in ("RFF 50", "RFF 200")] == [50, 200]


def test_confidence_takes_noise_and_norm_from_the_problem():
    line, table = settings.rkhs_1d(), TableArms("diabetes")
    assert e.confidence(line) == e.Confidence(line.noise, line.norm) and e.confidence(line).lam == pytest.approx(0.01)
    assert e.confidence(table, 0.5) == e.Confidence(0.3, 3.0, scale=0.5)


def test_warm_learners_are_dictated_the_same_arms_of_the_left_half():
    problem = WarmRKHS(41)
    learners = e.warm_learners(problem, 6)
    assert list(learners) == ["GP-UCB", "BKB", "SoR", *(f"RFF {size}" for size in (20, 30, 50, 100))]
    assert all(learner.rounds == 6 and learner.actions.count == problem.left for learner in learners.values())
    assert {learner.base.confidence.scale for learner in learners.values()} == {0.2}
    assert all(isinstance(learners[f"RFF {size}"].base, RFFUCB) and learners[f"RFF {size}"].base.size == size for size in e.WARM_SIZES)
    actions = {name: play(learner, problem, 8, 3, record="all", probes={"arm": lambda seen: seen.action})["arm"] for name, learner in learners.items()}
    dictated = actions["GP-UCB"][:, :6]
    assert (dictated < problem.left).all() and all((found[:, :6] == dictated).all() for found in actions.values())


def test_real_learners_are_lazy_on_the_large_sets(monkeypatch):
    small = e.real_learners(TableArms("digits"))
    assert list(small) == ["GP-UCB", "BKB", "SoR", "RFF 100", "uniform"] and isinstance(small["SoR"], BKB)
    assert isinstance(small["GP-UCB"], ExactGPUCB) and small["BKB"].confidence == e.Confidence(0.3, 3.0, scale=0.2)
    monkeypatch.setattr(e.TableArms, "__post_init__", lambda self: None)  # no file is read
    for name in ("abalone", "california_housing"):
        large = e.real_learners(TableArms(name, gamma=0.1))
        assert isinstance(large["LazyBKB"], LazyBKB) and large["LazyBKB"].threshold == 2 and large["LazyBKB"].confidence.scale == 0.5
        assert isinstance(large["SoR"], LazyBKB) and large["SoR"].variance == "sor" and "BKB" not in large
    assert e.ARM_SETS.keys() == set(e.BUNDLED + e.FETCHED)


def test_all_lines_that_are_drawn_have_a_look():
    names = [*e.parity_learners(settings.rkhs_1d()), *e.warm_learners(WarmRKHS(), 5), *e.real_learners(TableArms("diabetes")), "LazyBKB"]
    rows_only = {e.sketch_name(q, "arms") for q in e.QBARS} - {"BKB, arms"}
    assert set(names) - rows_only <= figures.styles().keys()


def test_exact_runs_fit_into_memory():
    """8 bytes for each trial, arm and round, in a buffer that is copied to twice its size, stay below 2 GiB."""
    arms = {"diabetes": (442, 600), "digits": (1797, 400), "abalone": (4177, 1000), "california_housing": (20640, 1000)}
    for name, (A, T) in arms.items():
        rows = 2 ** math.ceil(math.log2(T))
        assert 1.5 * 8 * e.ARM_SETS[name].chunk * A * rows < 2**30


def test_data_sets_by_profile(monkeypatch):
    def missing(name):
        if name == "abalone":
            raise FileNotFoundError(name)

    monkeypatch.setattr(datasets, "fetch", missing)
    assert e.arm_sets("bundled") == (["diabetes", "digits"], dict.fromkeys(["abalone", "california_housing"], "bundled data only"))
    assert e.arm_sets("auto") == (["diabetes", "digits", "california_housing"], {"abalone": "the file could not be had"})
    with pytest.raises(FileNotFoundError):
        e.arm_sets("real")
    monkeypatch.setattr(datasets, "fetch", lambda name: None)
    assert e.arm_sets("real") == e.arm_sets("auto") == (["diabetes", "digits", "abalone", "california_housing"], {})
    with pytest.raises(ValueError, match="data='none'"):
        e.arm_sets("none")


def test_bundled_data_are_never_looked_for(monkeypatch):
    monkeypatch.setattr(datasets, "fetch", lambda name: pytest.fail("a download"))
    assert e.arm_sets("bundled")[0] == ["diabetes", "digits"]


def test_ratio_of_final_regrets():
    found = e.regret_ratio(trace([[1, 8], [0, 4]]), trace([[9, 2], [9, 4]]))
    assert found.estimate == 2 and (found.low, found.high) == (1, 4) and found.n == 2
    assert found == stats.ratio([8, 4], [2, 4], of="final regrets", resamples=2000)


def test_parity_ratios_are_grouped_by_coin():
    traces = {name: trace([[1, 2.0 * k], [1, 3.0 * k]]) for k, name in enumerate(e.parity_learners(settings.rkhs_1d()), 1)}
    found = e.parity_ratios(traces)
    assert list(found) == ["BKB", "BKB, arms", "SoR", "SoR, fixed", "DTC, fixed", "RFF 50", "RFF 200", "uniform"]
    rows = ["BKB, $\\bar q$ = 1", "BKB, $\\bar q$ = 2", "BKB, $\\bar q$ = 3", "BKB, $\\bar q$ = 5", "BKB, $\\bar q$ = 10"]
    assert list(found["BKB"]) == list(found["BKB, arms"]) == rows and list(found["uniform"]) == ["uniform"]
    for name, (group, row) in {"BKB 1": ("BKB", rows[0]), "BKB": ("BKB", rows[3]), "BKB, arms": ("BKB, arms", rows[3]), "SoR": ("SoR", "SoR")}.items():
        assert found[group][row] == pytest.approx([list(traces).index(name) + 1.0] * 3)


def test_exponent_is_of_the_last_three_quarters():
    t = np.arange(1, 401)
    curve = np.where(t < 100, 50.0, 5 * t**0.5)
    found = e.exponent(trace([curve, 2 * curve]))
    assert found.estimate == pytest.approx(0.5) and found.low == pytest.approx(0.5) and found.n == 2


def test_after_counts_anew():
    run = trace([[1, 2, 4, 8], [0, 0, 3, 9]], rounds=[2, 4, 6, 10])
    later = e.after(run, 4)
    assert later.rounds.tolist() == [2, 6] and later["regret"].tolist() == [[2, 6], [3, 9]] and len(later.seconds) == 2
    assert e.after(run, 0)["regret"].tolist() == run["regret"].tolist() and later.trials == run.trials
    for rounds, named in ((3, "t=3"), (10, "rounds=10")):
        with pytest.raises(ValueError, match=named):
            e.after(run, rounds)


@pytest.mark.parametrize("horizon, warm", [(150, 215), (1000, 215), (100, 0), (300, 0)])
def test_watched_rounds_suffice(horizon, warm):
    rounds = e.watched(horizon, warm)
    assert rounds[0] >= 1 and rounds[-1] == warm + horizon and len(rounds) <= 102
    run = trace([np.cumsum(np.full(len(rounds), 1.0))], rounds)
    assert e.after(run, warm).rounds[-1] == horizon and e.late_loss(e.after(run, warm)).shape == (1,)
    assert all(type(t) is int for t in rounds)


def test_stuck_trials_lose_ten_times_the_exact_mean():
    t = np.arange(1, 301)
    exact = trace([0.02 * t, np.minimum(t, 200.0)])  # .02 and 0 a round at the end: .01 in the mean
    assert e.late_loss(exact).tolist() == pytest.approx([0.02, 0.0])
    assert e.late_loss(exact, 200).tolist() == pytest.approx([0.02, 0.5]) and e.late_loss(exact, 300)[1] == pytest.approx(200 / 300)
    other = trace([0.09 * t, 0.11 * t, np.where(t > 200, 200.0, t)])
    assert e.stuck(other, exact).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="t=200"):
        e.late_loss(trace(exact["regret"][:, 2::3], t[2::3]))


def test_no_stuck_trial_decides_nothing():
    none, some = stats.proportion(0, 8), stats.proportion(1, 8)
    assert [decide(claim("bkb.C9.stuck.sor"), x.estimate, (x.low, x.high)) for x in (none, some)] == ["inconclusive", "holds"]


def test_a_small_run_has_what_the_notebook_reads():
    problem = WarmRKHS(31)
    learners = e.warm_learners(problem, 10)
    runs = {name: e.after(play(learners[name], problem, 120, 3, record=e.watched(110, 10)), 10) for name in ("GP-UCB", "BKB")}
    assert e.final(runs["BKB"]).shape == (3,) and e.regret_ratio(runs["BKB"], runs["GP-UCB"]).n == 3
    assert e.stuck(runs["GP-UCB"], runs["GP-UCB"]).dtype == bool
