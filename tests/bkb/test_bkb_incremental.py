"""The thinned dictionary, compared with a direct simulation, and with BKB if every pull is kept."""

import numpy as np
import pytest
import torch

from paperlib.bkb import BKB, RBF, RKHS, Confidence, IncrementalBKB
from paperlib.core.streams import Streams
from paperlib.play import Probe, play

PROBLEM, RADIUS = RKHS(arms=30, gamma=50.0, noise=0.2), Confidence(0.2, 3.0)
KERNEL = RBF(50.0)
SEEN = {
    "mask": Probe(lambda seen: seen.after.mask.double()),
    "coin": Probe(lambda seen: seen.after.coin),
    "s2": Probe(lambda seen: seen.before.s2),
    "arm": Probe(lambda seen: seen.action.double()),
}


@pytest.fixture(scope="module")
def trace():
    return play(IncrementalBKB(KERNEL, RADIUS, 2.0), PROBLEM, 120, 4, 0, record="all", probes=SEEN)


def test_a_pull_stays_while_its_random_number_is_below_the_least_probability_so_far(trace):
    for trial in range(4):
        streams, pulls = Streams(trial, [0]), []  # arm, uniform, whether it is in the dictionary
        for t in range(120):
            coin = float(streams.at(t).uniform("dictionary")[0])
            pulls.append([int(trace["arm"][trial, t]), coin, True])
            for pull in pulls:
                p = min(1.0, 2.0 * trace["s2"][trial, t, pull[0]]) if t else 1.0
                pull[2] &= pull[1] < p
            kept = {arm for arm, _, inside in pulls if inside}
            assert set(np.flatnonzero(trace["mask"][trial, t])) == kept


def test_a_removed_arm_returns_only_by_a_new_pull(trace):
    back = (np.diff(trace["mask"], axis=1) > 0).nonzero()
    assert len(back[0]) and (trace["arm"][back[0], back[1] + 1] == back[2]).all()
    assert (np.diff(trace["mask"], axis=1) < 0).any()


def test_with_a_large_qbar_nothing_leaves_and_it_is_bkb():
    ours, fresh = (
        play(learner, PROBLEM, 60, 3, 0, record="all")["regret"]
        for learner in (IncrementalBKB(KERNEL, RADIUS, 1e9), BKB(KERNEL, RADIUS, 1e9))
    )
    np.testing.assert_array_equal(ours, fresh)


def test_the_fraction_that_stays_is_the_ratio_of_probabilities():
    learner, draw = IncrementalBKB(KERNEL, RADIUS, 1.0), Streams(0, range(20_000)).at(5)
    arms = torch.zeros(1, 2, 1, dtype=torch.float64)
    state = learner.init(20_000, arms, None, draw, dtype=torch.float64)
    arm = torch.zeros(20_000, dtype=torch.int64)
    state = state._replace(tally=state.tally._replace(rounds=1))
    with_p = lambda s, p: s._replace(s2=torch.full_like(s.s2, p))
    mask, coin = learner.kept(with_p(state, 0.8), arm, draw)
    assert mask[:, 0].double().mean() == pytest.approx(0.8, abs=0.015)
    other = torch.ones_like(arm)  # a pull of another arm than the first
    again, _ = learner.kept(with_p(state._replace(coin=coin), 0.2), other, draw)
    assert again[mask[:, 0], 0].double().mean() == pytest.approx(0.25, abs=0.015)
    assert not again[~mask[:, 0], 0].any()
