"""Embeddings stored per trial: which parts are copied, and that results equal the results of a single tensor."""

import pytest
import torch
from device_form import shortcuts

from paperlib.bkb import RBF, RKHS, Confidence, LazyBKB
from paperlib.bkb.learners.posterior import add_observation
from paperlib.bkb.model.slots import PerTrialRows, join_trials, split_trials
from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.core.trees import pack, tree_take, unpack
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
GIVEN = torch.tensor([[[1.0, 2.0], [0.0, 0.0]], [[3.0, 4.0], [5.0, 6.0]]], dtype=torch.float64)


def test_features_that_are_zero_everywhere_are_left_out_and_come_back():
    kept = PerTrialRows.of(GIVEN)
    assert [len(part) for part in kept.parts] == [1, 2] and kept.n == 2
    assert torch.equal(kept.view, GIVEN) and torch.equal(join_trials(kept, 3)[:, :2], GIVEN)
    assert join_trials(kept, 3).shape == (2, 3, 2) and not join_trials(kept, 3)[:, 2].any()
    assert len(PerTrialRows.of(torch.zeros(1, 3, 2)).parts[0]) == 1
    assert split_trials(kept) is kept and torch.equal(split_trials(Rows.of(GIVEN)).view, GIVEN)


def test_put_copies_only_its_argument():
    kept, rows = PerTrialRows.of(GIVEN), torch.full((1, 3, 2), 7.0, dtype=torch.float64)
    new = kept.put(torch.tensor([0]), rows)
    rows.zero_()
    assert new.parts[1] is kept.parts[1] and new.n == 3 and bool((new.parts[0] == 7).all())
    assert torch.equal(kept.view, GIVEN)


def test_trees_take_and_pack_them():
    kept = PerTrialRows.of(GIVEN)
    assert torch.equal(tree_take(kept, torch.tensor([1])).view, GIVEN[1:])
    arrays, plain = pack(kept)
    assert torch.equal(unpack(kept, arrays, plain).view, GIVEN)


def test_rank_one_by_trial_and_at_once_are_the_same():
    draw = torch.Generator().manual_seed(0)
    Z = torch.rand(3, 4, 9, generator=draw, dtype=torch.float64)
    Z[1, 2:] = 0  # one trial has fewer features
    V = Z @ Z.mT + 0.5 * torch.eye(4, dtype=torch.float64)
    given = torch.linalg.inv(V), torch.rand(3, 9, **TKWARGS), torch.rand(3, 9, **TKWARGS) + 1
    heard = torch.tensor([0, 3, 8]), torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    before = [x.clone() for x in given]
    one, batch = (
        add_observation(PerTrialRows.of(Z), *given, *heard),
        add_observation(Z, *given, *heard),
    )
    for x, y in zip(one, batch):
        torch.testing.assert_close(x, y, rtol=0, atol=1e-12)
    assert all(torch.equal(x, y) for x, y in zip(given, before))
    with shortcuts(False):
        for x, y in zip(add_observation(PerTrialRows.of(Z), *given, *heard), batch):
            assert torch.equal(x, y)


@pytest.mark.parametrize("root", ["cholesky", "eigh"])
def test_lazy_bkb_is_the_same_either_way(root):
    problem = RKHS(60, 1, gamma=30.0, noise=0.2)
    learner = LazyBKB(problem.kernel, Confidence(0.2, 3.0), root=root)
    one = play(learner, problem, 80, 3)
    with shortcuts(False):
        batch = play(learner, problem, 80, 3)
    assert (one["regret"][:, -1] > 0).all()
    torch.testing.assert_close(
        torch.tensor(one["regret"]), torch.tensor(batch["regret"]), rtol=0, atol=1e-9
    )


def test_a_trial_that_resamples_copies_no_other_trials_embedding():
    problem, R = RKHS(40, 1, gamma=30.0, noise=0.2), 6
    learner, draws = LazyBKB(RBF(30.0), Confidence(0.2, 3.0)), Streams(0, range(R))
    instance = problem.init(R, 60, draws.at(-1), **TKWARGS)
    arms = problem.context(instance, 0)
    state, some = learner.init(R, arms, 60, draws.at(-1), **TKWARGS), 0
    for t in range(60):
        action, chosen = learner.select(state, arms, draws.at(t))
        reward, _ = problem.respond(instance, t, action, "reward", draws.at(t))
        new = learner.update(chosen, arms, action, reward, draws.at(t))
        again = (new.resamplings > state.resamplings).tolist()
        same = [x is y for x, y in zip(new.Z.parts, state.Z.parts)]
        assert same == [not x for x in again]
        some, state = some + (0 < sum(again) < R), new
    assert some > 5
