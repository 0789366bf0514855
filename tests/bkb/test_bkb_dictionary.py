"""Sizes of dictionaries and the accuracy of their variance: against dense formulas and by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from paperlib.bkb import BKB, RKHS, Confidence, ExactGPUCB, LazyBKB
from paperlib.bkb.experiments import dictionary
from paperlib.bkb.probes.dictionary import ExactDimension, entered
from paperlib.bkb.probes.state import ExpectedSize, Size, dictionary_size, played, unique_pulls
from paperlib.core.trace import Trace
from paperlib.core.rounds import Probe
from paperlib.play import play
from paperlib.core.streams import Streams

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
        probes={"arm": played, "dimension": ExactDimension(PROBLEM.kernel, RADIUS.lam)},
    )
    arms = PROBLEM.init(1, 40, Streams(0, [0]).at(-1), dtype=torch.float64).arms[0].numpy()
    for trial in range(3):
        for t in (1, 7, 40):
            x = arms[found["arm"][trial, :t].astype(int)]
            K = np.exp(-PROBLEM.gamma * (x - x.T) ** 2)
            assert found["dimension"][trial, t - 1] == pytest.approx(
                np.trace(K @ np.linalg.inv(K + RADIUS.lam * np.eye(t))), rel=1e-9
            )


def test_arms_that_entered():
    """Arms of the first trial: best, five pulls in, six pulls out, one pull in, one out, three, none."""
    n = torch.tensor([[9.0, 5, 6, 1, 1, 3, 0], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.float64)
    mask = torch.tensor([[1, 1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1, 1]]).bool()
    means = torch.tensor([[2.0, 1, 1, 1, 1, 1, 1], [1, 2, 2, 1, 1, 1, 1]], dtype=torch.float64)
    seen = SimpleNamespace(
        after=SimpleNamespace(n=n, mask=mask, s2=torch.full_like(n, 0.1)),
        world=SimpleNamespace(means=means, best=means.amax(1)),
    )
    found = entered(seen).numpy()
    np.testing.assert_allclose(found, [[2, 1, 1.1, 2, 1, 0.2], [0, 0, 0, 5, 5, 0.5]])
    difference = dictionary.often_minus_once(found)
    assert (
        difference.estimate == pytest.approx(1 / 2 - 6 / 7)
        and difference.low <= difference.estimate <= difference.high
        and difference.n == 2
    )


def test_shares_of_often_and_once():
    same = np.tile([4.0, 1, 9, 10, 5, 9], (8, 1))
    found = dictionary.often_minus_once(same)
    assert (found.estimate, found.low, found.high) == (-0.25, -0.25, -0.25)
    rng = np.random.default_rng(0)
    inside = np.stack(
        [
            np.full(40, 10),
            rng.binomial(10, 0.9, 40),
            np.zeros(40),
            np.full(40, 10),
            rng.binomial(10, 0.2, 40),
            np.zeros(40),
        ],
        1,
    )
    found = dictionary.often_minus_once(inside)
    assert 0.6 < found.low < found.estimate < found.high < 0.8
    with pytest.raises(ValueError, match="some pulled once"):
        dictionary.often_minus_once(np.array([[1.0, 1, 1, 0, 0, 0]]))


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


def test_expected_share_uses_the_round_before():
    """alpha = 3: the bounds are 1, 3 * 2 * 1 + 1, 3 * 2 * 2 + 1."""
    found = dictionary.expected_share(
        trace(expected_size=[[1.0, 3.5, 13.0]], dimension=[[1.0, 2.0, 50.0]]), qbar=2.0
    )
    np.testing.assert_allclose(found, [(1 + 0.5 + 1) / 3])


def test_excess_counts_rounds():
    assert (
        dictionary.excess(
            np.array([[3, 3], [2, 1]]), np.array([[3, 2], [2, 2]]), np.array([[3, 4], [1, 1]])
        )
        == 2
    )


def test_a_run_keeps_to_the_bounds():
    probes = {
        "dictionary": dictionary_size,
        "unique": unique_pulls,
        "dimension": ExactDimension(PROBLEM.kernel, RADIUS.lam),
        "expected size": ExpectedSize(5.0),
        "size": Size(5.0),
        "entered": Probe(entered, "final"),
    }
    found = play(BKB(PROBLEM.kernel, RADIUS), PROBLEM, 60, 6, record="all", probes=probes)
    assert dictionary.excess(found["dictionary"], found["unique"], found["size"]) == 0
    assert (dictionary.expected_share(found, 5.0) < 1).all() and found["entered"].shape == (6, 6)
    assert (found["entered"][:, [1, 4]] <= found["entered"][:, [0, 3]]).all()
