"""Delayed rewards: each is attributed to the context in which its action was asked for."""

import dataclasses

import numpy as np
import pytest
import torch
from toy import Index

from companion.papers import paper_module, papers
from paperlib.asktell import AskTell, Optimizer
from paperlib.asktell.records import MOST, TrialState
from paperlib.bkb import Confidence, ContextualBKB, Matern
from paperlib.bkb import Optimizer as Search
from paperlib.core.contracts import Tags, tags_of
from paperlib.core.files import parse_npz, write_npz
from paperlib.core.linalg import Rows
from paperlib.core.trees import list_leaves
from paperlib.glbomd import GLBOMD, Bernoulli
from paperlib.learners.reference import UniformArm

A = np.array([[0.6, 0.0], [0.0, 0.8], [0.3, 0.3]])
B = np.array([[0.1, 0.7], [0.5, -0.5], [0.0, 0.2]])
NEEDS = r"^context must be .*tell\(action, feedback, context=...\).*, got None$"
LEARNER = ContextualBKB(Matern(2.5, 0.5), Confidence(0.1, 1.0))


def contextual(paper):
    """Yield the learners of the papers' test cases that allow changing arms, each once."""
    found = []
    for case in paper_module(paper, "cases").CASES.values():
        streams = case.learner, case.problem
        arms = "arms" in {f.name for f in dataclasses.fields(streams[1])}
        if arms and not tags_of(case.learner).fixed_arms and case.learner not in found:
            found.append(case.learner)
    return found


def numbers(user):
    """Return the learner's state as numbers."""
    plain = lambda x: x.view if isinstance(x, Rows) else x
    return {
        path: plain(leaf)
        for path, leaf in list_leaves(user.state)
        if isinstance(leaf, (torch.Tensor, Rows))
    }


def assert_equal(a, b):
    a, b = numbers(a), numbers(b)
    assert a.keys() == b.keys()
    for path, x in a.items():
        torch.testing.assert_close(x, b[path], rtol=0, atol=0, equal_nan=True)


def late(kind, learner, first=A, second=B, **options):
    """Ask in both contexts without telling a reward."""
    user = kind(learner, first, **options)
    return user, user.ask(first), user.ask(second)


@dataclasses.dataclass(frozen=True)
class Constant(Index):
    """Learner that always asks for arm 0."""

    def select(self, state, context, draw):
        return torch.zeros(1, dtype=torch.int64), state


@pytest.mark.parametrize("paper", [x for x in papers() if contextual(x)])
@pytest.mark.filterwarnings("ignore")
def test_a_late_reward_is_learned_with_the_features_of_its_own_context(paper):
    """Every contextual learner ends in the state of an immediate reward, with the draws of that round.

    An earlier version used the features of context B.
    """
    A, B = np.random.default_rng(0).uniform(-0.7, 0.7, (2, 16, 2))
    for learner in contextual(paper):
        user, first, second = late(AskTell, learner, A, B, horizon=64)
        before = user._now
        with pytest.raises(ValueError, match=NEEDS):
            user.tell(first, 1.0)
        assert user._now is before
        other = AskTell(learner, A, horizon=64)
        other.ask(A)
        other._now = other._now._replace(skipped=1, proposed=None, pending=None)
        user.tell(first, 1.0, context=A)
        other.tell(first, 1.0)
        assert_equal(user, other)
        user.tell(second, 0.0, context=B)
        other._now = other._now._replace(context=torch.tensor(B)[None])
        other.tell(second, 0.0)
        assert_equal(user, other)
        assert user.rounds == 2


def test_there_are_contextual_learners():
    assert sum(len(contextual(paper)) for paper in papers()) > 20


def test_no_context_is_needed_if_tell_precedes_the_next_context():
    user = AskTell(GLBOMD(Bernoulli(), 2.0), A)
    for t in range(4):
        user.ask(A if t % 2 else B)
        user.tell(user.ask(), 1.0)  # repeated ask, which returns the same arm
    user.ask(A)
    user.tell(user.ask(A.copy()), 1.0)  # equal arms are the same context
    user.ask(B)
    user.tell(user.ask(B), 1.0)
    user.tell(2, 1.0)  # an arm that was not asked for
    user.tell(user.ask(A), 1.0)


def other_than(arm):
    """Return an arm that was not asked for."""
    return (arm + 1) % len(A)


def test_a_reward_of_another_action_leaves_the_asked_action_open():
    user = AskTell(GLBOMD(Bernoulli(), 2.0), A)
    arm = user.ask(A)
    user.tell(other_than(arm), 0.0)
    user.ask(B)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(arm, 0.5)


def test_an_action_is_open_once_per_ask():
    user = AskTell(Constant(), A)
    assert user.ask() == user.ask() == 0  # one ask, repeated
    user.tell(1, 1.0)
    assert user.ask() == 0  # a second ask
    user.tell(0, 1.0)
    user.ask(B)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(0, 1.0)


@pytest.mark.parametrize("twice", ["asked twice", "loaded and asked again", "told at last"])
def test_repeated_asks_count_as_one_open_action(twice, tmp_path):
    user = AskTell(Constant(), A)
    if twice == "told at last":
        user.ask()
        user.tell(1, 1.0)
        user.tell(0, 1.0)
    user.ask()
    if twice == "loaded and asked again":
        user.save(tmp_path / "user.npz")
        user = AskTell.load(tmp_path / "user.npz", Constant())
    user.ask()
    user.tell(0, 1.0)
    user.ask(B)
    user.tell(0, 1.0)


def test_a_file_stores_the_number_of_open_copies_of_an_action(tmp_path):
    user = AskTell(Constant(), A)
    user.ask()
    user.tell(1, 1.0)
    user.ask()
    user.save(tmp_path / "user.npz")
    user = AskTell.load(tmp_path / "user.npz", Constant())
    user.tell(0, 1.0)
    user.ask(B)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(0, 1.0)


@pytest.mark.parametrize("told, needs", [([1], False), ([1, 2], False), ([], True)])
def test_an_older_file_stores_only_the_number_of_open_actions(told, needs, tmp_path):
    """With such a file, any reward answers a pending action."""
    user = AskTell(Constant(), A)
    user.ask()
    user.save(tmp_path / "new.npz")
    head, arrays = parse_npz((tmp_path / "new.npz").read_bytes())
    older = {name: x for name, x in head.items() if name not in ("asked", "checksum")}
    write_npz(tmp_path / "old.npz", older | {"untold": 1}, arrays)
    user = AskTell.load(tmp_path / "old.npz", Constant())
    for arm in told:
        user.tell(arm, 1.0)
    user.ask(B)
    if needs:
        with pytest.raises(ValueError, match=NEEDS):
            user.tell(0, 1.0)
    else:
        user.tell(0, 1.0)


def test_once_two_contexts_are_open_every_reward_needs_its_context():
    user, first, second = late(AskTell, GLBOMD(Bernoulli(), 2.0))
    user.tell(second, 1.0, context=B)
    user.tell(first, 1.0, context=A)
    third = user.ask(A)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(third, 1.0)
    user.tell(third, 1.0, context=A)
    assert user.rounds == 3


def test_a_reward_in_another_context_does_not_close_this_action():
    user, other = (AskTell(GLBOMD(Bernoulli(), 2.0), A) for _ in range(2))
    arm = user.ask(B)
    user.tell(0, 1.0, context=A)
    assert torch.equal(user.context[0], torch.tensor(B))
    user.tell(arm, 0.0)
    other.tell(0, 1.0)
    other.ask(B)
    other.tell(arm, 0.0)
    assert_equal(user, other)


def test_an_action_is_one_of_its_own_context():
    user, *_ = late(AskTell, UniformArm())
    user.ask(np.eye(2))
    user.tell(2, 1.0, context=A)
    with pytest.raises(ValueError, match="action must be an index from 0 to 1, got 2"):
        user.tell(2, 1.0, context=np.eye(2))
    for bad in (np.eye(4), "A", np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="context"):
            user.tell(0, 1.0, context=bad)


def test_a_context_passed_to_tell_is_prepared():
    half = lambda arms: np.asarray(arms) / 2
    user, other = (
        AskTell(GLBOMD(Bernoulli(), 2.0), A, prepare=half),
        AskTell(GLBOMD(Bernoulli(), 2.0), A / 2),
    )
    user.ask(B)
    user.tell(0, 1.0, context=A)
    other.tell(0, 1.0)
    assert_equal(user, other)


@pytest.mark.parametrize("when", ["asked in one", "asked in two"])
def test_a_file_stores_open_actions(when, tmp_path):
    learner = GLBOMD(Bernoulli(), 2.0)
    user = AskTell(learner, A)
    user.ask(A)
    if when == "asked in two":
        user.ask(B)
    user.save(tmp_path / "user.npz")
    for again in (
        AskTell.load(tmp_path / "user.npz", learner),
        AskTell(learner, A).restore(tmp_path / "user.npz"),
    ):
        if when == "asked in one":
            AskTell(learner, A).restore(tmp_path / "user.npz").tell(0, 1.0)
            again.ask(B)
        with pytest.raises(ValueError, match=NEEDS):
            again.tell(0, 1.0)
        again.tell(0, 1.0, context=A)
        again.save(tmp_path / "again.npz")
        with pytest.raises(ValueError, match=NEEDS):
            AskTell.load(tmp_path / "again.npz", learner).tell(0, 1.0)


def test_each_further_context_has_its_own_draws():
    """With a common draw for all pending contexts, a uniform learner would choose the same arm in all of them."""
    user, arms = AskTell(UniformArm(), np.eye(8)), np.eye(8)
    asked = [user.ask(arms[np.roll(np.arange(8), t)]) for t in range(20)]
    assert len(set(asked)) > 3
    again = AskTell(UniformArm(), np.eye(8))
    assert [again.ask(arms[np.roll(np.arange(8), t)]) for t in range(20)] == asked


# ---- batches ---------------------------------------------------------------------------------------


def test_a_late_batch_is_learned_with_its_own_arms():
    user = Search(LEARNER, A)
    first, second = user.ask(A, batch=3), user.ask(B, batch=2)
    for call in (user.tell, user.observe):
        with pytest.raises(ValueError, match=NEEDS):
            call(first, [1.0, 0.0, 0.5])
    user.tell(first, [1.0, 0.0, 0.5], context=A)
    user.tell(second, [0.0, 1.0], context=B)
    points = np.vstack([A[first], B[second]])
    np.testing.assert_array_equal(user.state.points.view[0], points)


def test_a_batch_with_single_rewards_stays_open_until_the_last_reward():
    user = Search(LEARNER, A)
    first = user.ask(A, batch=2)
    user.tell(first[0], 1.0)
    user.ask(B)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(first[1], 1.0)
    user.tell(first[1], 1.0, context=A)
    np.testing.assert_array_equal(user.state.points.view[0], A[first])
    other = Search(LEARNER, A)
    for arm in other.ask(A, batch=2):
        other.tell(arm, 1.0)
    other.tell(other.ask(B), 1.0)


def test_a_batch_stays_open_if_its_rewards_include_another_arm():
    user = Search(LEARNER, A)
    first = user.ask(A, batch=2)
    other = next(arm for arm in range(len(A)) if arm not in first)
    user.tell([first[0], other], [1.0, 0.0])
    user.ask(B)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(first[1], 1.0)


def test_batches_in_several_contexts_share_no_draw(monkeypatch):
    """The arms of the first batch are random. With equal draws, batches from equal arms would be equal."""
    user, drawn = Search(LEARNER, A), []
    at = user._streams.at
    monkeypatch.setattr(user._streams, "at", lambda t: drawn.append(t) or at(t))
    for arms, batch in ((A, 3), (B, 2), (A, 4)):
        user.ask(arms, batch=batch)
    assert drawn == list(range(9))


def test_a_late_failure_needs_its_context_too():
    user, first, second = late(Search, LEARNER)
    with pytest.raises(ValueError, match=NEEDS):
        user.fail(first, "lost")
    user.fail(first, "lost", context=A)
    user.fail(second, "lost", 0.0, context=B)
    assert user.rounds == 1 and [x.action for x in user.failures] == [first, second]
    np.testing.assert_array_equal(user.state.points.view[0], B[[second]])


def test_own_data_of_another_context_leave_an_action_open():
    user = Search(LEARNER, A)
    arm = user.ask(B)
    user.observe([0, 1], [1.0, 0.0], context=A)
    user.observe([2], [1.0])
    user.ask(A)
    with pytest.raises(ValueError, match=NEEDS):
        user.tell(arm, 1.0)


# ---- learners that reject delayed feedback, or cannot receive it --------------------------------------


@dataclasses.dataclass(frozen=True)
class Own(Index):
    """Learner that attributes feedback to the action that it drew itself."""

    tags = Tags(own_actions=False)


def test_learners_that_use_their_own_draws_accept_only_the_last_context():
    user, first, second = late(Optimizer, Own())
    with pytest.raises(
        ValueError,
        match=r"^context must be the one of the last ask\(\), because Own learns only .*, got array",
    ):
        user.tell(first, 1.0, context=A)
    user.tell(second, 1.0, context=B)
    assert user.rounds == 1


def test_arms_that_stay_are_one_context():
    learner = type("Fixed", (Index,), {"tags": Tags(fixed_arms=True)})()
    user = Optimizer(learner, A)
    user.ask(A), user.ask(A.copy())
    user.tell(0, 1.0)
    user.tell(1, 1.0, context=A)
    with pytest.raises(ValueError, match="other arms"):
        user.tell(1, 1.0, context=B)


# Points -----------------------------------------------------------------------------------------------------


def told_back(x):
    """Return copies of a point in forms that a user may pass: rounded for a table, or in another precision."""
    return [x.round(4), x.round(6), x.astype(np.float32)]


@pytest.mark.parametrize("copy", range(3))
def test_a_rounded_copy_of_a_point_counts_as_the_point(copy):
    now = TrialState(None, None).with_asked([(0.123456789, -0.5), (0.2, 0.3)])
    played = told_back(np.array([[0.123456789, -0.5]]))[copy]
    assert now.settled(torch.tensor(played)).untold == (((0.2, 0.3), 1),)


def test_another_point_does_not_close_the_open_action():
    asked = (((0.123456789, -0.5), 1),)
    now = TrialState(None, None).with_asked([asked[0][0]])
    for x in ([0.125, -0.5], [0.123456789, 0.5], [0.0, 0.0]):
        assert now.settled(torch.tensor([x])).untold == asked


def test_the_nearest_of_two_points_is_settled():
    now = TrialState(None, None).with_asked([(1.0, 0.0), (1.0004, 0.0)])
    assert now.settled(torch.tensor([[1.0003, 0.0]])).untold == (((1.0, 0.0), 1),)


def test_open_actions_are_limited():
    now = TrialState(None, None)
    for t in range(300):
        now = now.with_asked([(float(t), 1.0)])._replace(rounds=t + 1)
    assert len(now.untold) == MOST and sum(count for _, count in now.untold) == 300
    assert dict(now.untold)[None] == 300 - (MOST - 1) and ((299.0, 1.0), 1) in now.untold
    assert now.turned(Constant()).skipped == 300
