"""The warm start: the given actions of each learner, the rest of the run, and trials that are stuck."""

import numpy as np
import pytest
from bkb_traces import trace

from companion.bkb.experiments.settings import (
    WARM_SIZES,
    late_loss,
    regret_ratio,
    since,
    stuck,
    warm_learners,
    watched,
)
from companion.verdicts import find_claim
from paperlib.bkb import RFFUCB, WarmRKHS
from paperlib.play import play


def test_warm_learners_get_the_same_prescribed_arms_of_the_left_half():
    problem = WarmRKHS(41)
    learners = warm_learners(problem, 6)
    assert list(learners) == [
        "GP-UCB",
        "BKB",
        "SoR",
        *(f"RFF {size}" for size in (20, 30, 50, 100)),
    ]
    assert all(
        learner.rounds == 6 and learner.actions.count == problem.left
        for learner in learners.values()
    )
    assert {learner.base.confidence.scale for learner in learners.values()} == {0.2}
    assert all(
        isinstance(learners[f"RFF {size}"].base, RFFUCB)
        and learners[f"RFF {size}"].base.size == size
        for size in WARM_SIZES
    )
    actions = {
        name: play(learner, problem, 8, 3, record="all", probes={"arm": lambda seen: seen.action})[
            "arm"
        ]
        for name, learner in learners.items()
    }
    dictated = actions["GP-UCB"][:, :6]
    assert (dictated < problem.left).all() and all(
        (found[:, :6] == dictated).all() for found in actions.values()
    )


def test_since_counts_rounds_and_regret_from_zero():
    run = trace([[1, 2, 4, 8], [0, 0, 3, 9]], rounds=[2, 4, 6, 10])
    later = since(run, 4)
    assert (
        later.rounds.tolist() == [2, 6]
        and later["regret"].tolist() == [[2, 6], [3, 9]]
        and len(later.seconds) == 2
    )
    assert since(run, 0)["regret"].tolist() == run["regret"].tolist() and later.trials == run.trials
    with pytest.raises(ValueError, match=r"^rounds must be recorded rounds, got \[3\]"):
        since(run, 3)


@pytest.mark.parametrize("horizon, warm", [(150, 215), (1000, 215), (100, 0), (300, 0)])
def test_watched_rounds_suffice(horizon, warm):
    rounds = watched(horizon, warm)
    assert rounds[0] >= 1 and rounds[-1] == warm + horizon and len(rounds) <= 102
    run = trace([np.cumsum(np.full(len(rounds), 1.0))], rounds)
    assert since(run, warm).rounds[-1] == horizon and late_loss(since(run, warm)).shape == (1,)
    assert all(type(t) is int for t in rounds)


def test_stuck_trials_have_ten_times_the_exact_mean_regret():
    t = np.arange(1, 301)
    # The regret grows by 0.02 and 0 per round at the end. The mean is 0.01.
    exact = trace([0.02 * t, np.minimum(t, 200.0)])
    assert late_loss(exact).tolist() == pytest.approx([0.02, 0.0])
    assert late_loss(exact, 200).tolist() == pytest.approx([0.02, 0.5]) and late_loss(exact, 300)[
        1
    ] == pytest.approx(200 / 300)
    other = trace([0.09 * t, 0.11 * t, np.where(t > 200, 200.0, t)])
    assert stuck(other, exact).tolist() == [False, True, False]
    with pytest.raises(ValueError, match=r"^rounds must be recorded rounds, got \[200\]"):
        late_loss(trace(exact["regret"][:, 2::3], t[2::3]))


def test_that_some_trial_is_stuck_decides_nothing():
    for key in ("sor", "rff20"):
        said = find_claim(f"bkb.C9.stuck.{key}")
        assert said.side == "reported" and said.id not in find_claim("bkb.C9").parts


def test_a_small_run_has_the_numbers_that_the_notebook_reads():
    problem = WarmRKHS(31)
    learners = warm_learners(problem, 10)
    runs = {
        name: since(play(learners[name], problem, 120, 3, record=watched(110, 10)), 10)
        for name in ("GP-UCB", "BKB")
    }
    assert runs["BKB"].last().shape == (3,) and regret_ratio(runs["BKB"], runs["GP-UCB"]).n == 3
    assert stuck(runs["GP-UCB"], runs["GP-UCB"]).dtype == bool
