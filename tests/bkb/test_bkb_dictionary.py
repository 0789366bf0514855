"""Sizes of dictionaries and the accuracy of their variance, compared with dense formulas and values computed by hand."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from companion.bkb.experiments import dictionary
from companion.store import Seconds
from paperlib.bkb import BKB, RKHS, Confidence, ExactGPUCB, LazyBKB
from paperlib.bkb.probes import (
    dictionary_size,
    exact_dimension,
    expected_size,
    kept_pulls,
    unique_pulls,
)
from paperlib.core.rounds import played_action
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.play import play

PROBLEM = RKHS(arms=30, dim=1, gamma=40.0, norm=2.0, noise=0.2)
RADIUS = Confidence(PROBLEM.noise, PROBLEM.norm)


def trace(**series):
    series = {name.replace("_", " "): np.asarray(values, float) for name, values in series.items()}
    trials, rounds = next(iter(series.values())).shape
    return Trace(np.arange(1, 1 + rounds), series, {}, np.zeros(rounds), list(range(trials)), {})


@pytest.mark.parametrize(
    "learner",
    [
        BKB(PROBLEM.kernel, RADIUS),
        LazyBKB(PROBLEM.kernel, RADIUS),
        ExactGPUCB(PROBLEM.kernel, RADIUS),
    ],
    ids=lambda x: type(x).__name__,
)
def test_the_effective_dimension_is_the_trace(learner):
    found = play(
        learner,
        PROBLEM,
        40,
        3,
        record="all",
        probes={
            "arm": played_action,
            "dimension": partial(exact_dimension, PROBLEM.kernel, RADIUS.lam),
        },
    )
    arms = PROBLEM.init(1, 40, Streams(0, [0]).at(-1), dtype=torch.float64).arms[0].numpy()
    for trial in range(3):
        for t in (1, 7, 40):
            x = arms[found["arm"][trial, :t].astype(int)]
            K = np.exp(-PROBLEM.gamma * (x - x.T) ** 2)
            assert found["dimension"][trial, t - 1] == pytest.approx(
                np.trace(K @ np.linalg.inv(K + RADIUS.lam * np.eye(t))), rel=1e-9
            )


def test_accuracy_and_steps():
    found = dictionary.accuracy(np.array([[1.0, 1.2, 1.0, 1.0], [1.0, 4.0, 9.0, 1.0]]))
    assert found == {
        "rounds": [5 / 8, 6 / 8, 6 / 8, 6 / 8, 7 / 8],
        "trials": [0.0, 0.5, 0.5, 0.5, 0.5],
    }
    assert (
        dictionary.falls([0.1, 0.5, 0.5, 0.4, 0.9, 0.8]) == 2
        and dictionary.falls([0, 0, 1, 1]) == 0
    )


def test_expected_share_uses_the_round_before_and_informative_bounds():
    """With alpha = 3 the bounds of rounds 41 and 61 are 3 * 2 * 5 + 1 and 3 * 2 * 6 + 1; the bound of round 21, 49, is vacuous."""
    found = Trace(
        np.array([20, 21, 40, 41, 60, 61]),
        {
            "expected size": np.array([[1.0, 2, 3, 15.5, 5, 18.5]]),
            "dimension": np.array([[8.0, 9, 5, 9, 6, 9]]),
        },
        {},
        np.zeros(6),
        [0],
        {},
    )
    np.testing.assert_allclose(dictionary.expected_share(found, qbar=2.0), [0.5])


def test_excess_counts_rounds():
    assert (
        dictionary.excess(
            np.array([[3, 3], [2, 1]]), np.array([[3, 2], [2, 2]]), np.array([[3, 4], [1, 1]])
        )
        == 2
    )


def test_growth_beside_the_effective_dimension():
    """From round 2 on the dictionary doubles and the dimension grows by half; later both grow by a third."""
    found = trace(
        dictionary=[[3.0, 4, 8], [2, 3, 4]],
        dimension=[[1.0, 2, 3], [5, 6, 8]],
        regret=[[1.0] * 3] * 2,
    )
    np.testing.assert_allclose(dictionary.growth_beside(found, 1.5), [4 / 3, 1.0])
    np.testing.assert_allclose(dictionary.growth_beside(found, 1), [8 / 9, 5 / 4])


def test_size_with_regret_ranks_the_problems_of_each_trial():
    sizes, regrets = [[1.0, 9, 4], [2, 9, 5], [3, 1, 5]], [[1.0, 7, 2], [2, 8, 9], [30, 9, 3]]
    found = dictionary.size_with_regret(
        [
            trace(dictionary=[[m] for m in ms], regret=[[r] for r in rs])
            for ms, rs in zip(sizes, regrets)
        ]
    )
    expected = [spearmanr([m[i] for m in sizes], [r[i] for r in regrets])[0] for i in range(3)]
    np.testing.assert_allclose(found, expected)
    assert found[0] == 1.0


def test_a_run_keeps_to_the_bounds():
    probes = {
        "dictionary": dictionary_size,
        "unique": unique_pulls,
        "dimension": partial(exact_dimension, PROBLEM.kernel, RADIUS.lam),
        "expected size": partial(expected_size, 5.0),
        "size": partial(kept_pulls, 5.0),
    }
    found = play(BKB(PROBLEM.kernel, RADIUS), PROBLEM, 400, 3, record="all", probes=probes)
    assert dictionary.excess(found["dictionary"], found["unique"], found["size"]) == 0
    assert (dictionary.expected_share(found, 5.0) < 1).all()


def test_decreases_count_the_steps_of_each_way_of_sampling():
    shares = {("pulls", qbar): [0, x] for qbar, x in zip((1.0, 2.0, 3.0), (0.5, 0.4, 0.3))}
    shares |= {("arms", qbar): [0, x] for qbar, x in zip((1.0, 2.0), (0.9, 0.8))}
    shares |= {("kept", qbar): [0, x] for qbar, x in zip((1.0, 2.0), (1.0, 0.0))}
    assert dictionary.decreases({key: {"rounds": found} for key, found in shares.items()}) == 3


def test_paired_rounds_contain_the_round_before():
    rounds = dictionary.paired_rounds(1000)
    assert (rounds[0], rounds[-1]) == (1, 1000) and len(rounds) == 100
    assert all(t - 1 in rounds for t in rounds[1::2])


def test_size_ratio_compares_the_problems_with_most_and_least_regret():
    found = [
        trace(dictionary=[[m], [m]], regret=[[r], [r]])
        for m, r in ((4.0, 5.0), (1.0, 2.0), (2.0, 9.0))
    ]
    assert dictionary.size_ratio(found).estimate == 2.0


def test_rounds_and_ratios_of_run_times():
    """On the rough problem the dictionary contains all pulled arms; on the smooth problem 2 arms, so that t >= 14 counts."""
    T = 70
    grow, two = np.minimum(np.arange(1.0, T + 1), 60)[None], np.full((1, T), 2.0)
    rough = {"BKB": trace(dictionary=grow, unique=grow), "LazyBKB": trace(dictionary=grow)}
    smooth = {"BKB": trace(dictionary=two, unique=grow), "LazyBKB": trace(dictionary=two)}
    sized = {"rough, 9 arms": rough, "smooth, 9 arms": smooth}
    alike, late = dictionary.rounds_while_alike(sized), dictionary.rounds_from_seven(sized)
    assert alike.keys() == {"rough, 9 arms"} and alike["rough, 9 arms"][0].tolist() == [
        *range(20, T)
    ]
    assert late.keys() == {"smooth, 9 arms"} and late["smooth, 9 arms"][0].tolist() == [
        *range(13, T)
    ]
    small = dictionary.rounds_while_small(sized)
    assert small["smooth, 9 arms"][0].tolist() == [2]  # the last of the rounds 1, 2 and 3
    names = ("GP-UCB, naive", "GP-UCB", "BKB", "LazyBKB")
    times = zip(names, (8.0, 4.0, 2.0, 1.0))
    seconds = Seconds({(name, "smooth, 9 arms"): np.full((2, T), x) for name, x in times}, {})
    rounds = {"smooth, 9 arms": late["smooth, 9 arms"] * 2}
    lazy = dictionary.lazy_ratios(seconds, rounds)
    estimates = {name: found.estimate for name, found in lazy.items()}
    assert estimates == {"smooth, 9 arms, GP-UCB": 0.25, "smooth, 9 arms, BKB": 0.5}
    crossed = dictionary.crossovers(seconds, ["smooth, 9 arms"])["smooth, 9 arms"]
    assert set(crossed.values()) == {1} and len(crossed) == 4
