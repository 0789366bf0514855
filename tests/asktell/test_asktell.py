"""Tests of ``AskTell``: one trial of a learner on the user's problem."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from toy import Coins, Index

from paperlib.asktell import AskTell
from paperlib.glbomd import GLBOMD, Bernoulli
from paperlib.goucb import Bounds, UniformPoint
from paperlib.play import play

ARMS = np.eye(4)


def test_ask_and_tell_equal_play():
    record = {}

    def remember(seen):
        record[seen.t] = (int(seen.action), float(seen.feedback))
        return seen.feedback

    play(Index(), Coins(), 60, 1, record="all", probes={"x": remember})
    user = AskTell(Index(), ARMS)
    for t in range(60):
        assert user.ask() == record[t][0]
        user.tell(*record[t])


@pytest.mark.parametrize(
    "action, feedback, match",
    [
        (4, 1.0, "action must be an index from 0 to 3, got 4"),
        (-1, 1.0, "action must be an index from 0 to 3, got -1"),
        (0.5, 1.0, "index of an arm"),
        (3.5, 1.0, "action must be the index of an arm, which is an integer, got 3.5"),
        ("1", 1.0, "action must be the index of an arm, which is an integer, got '1'"),
        (True, 1.0, "action must be the index of an arm, which is an integer, got True"),
        (np.nan, 1.0, "action must be the index of an arm, which is an integer, got nan"),
        (0, np.nan, "^feedback must be finite, got nan$"),
        (0, np.inf, "^feedback must be finite, got inf$"),
        (0, "much", "^feedback must be one real number, got 'much'$"),
        (0, None, "^feedback must be one real number, got None$"),
        (0, [1, 0], r"^feedback must be one real number, got \[1, 0\]$"),
        (0, np.ones(2), "^feedback must be one real number, got array"),
    ],
)
def test_refused_feedback_leaves_the_learner_as_it_was(action, feedback, match):
    user = AskTell(Index(), ARMS)
    for _ in range(5):
        user.tell(user.ask(), 1.0)
    before, asked = user.state, user.ask()
    with pytest.raises(ValueError, match=match):
        user.tell(action, feedback)
    assert user.state is before and user.rounds == 5 and user.ask() == asked
    user.tell(asked, 0.0)
    assert user.rounds == 6


def test_refused_context_leaves_the_learner_as_it_was():
    user = AskTell(Index(), ARMS)
    user.tell(user.ask(), 1.0)
    with pytest.raises(
        ValueError, match=r"context must be an array of finite numbers, got ndarray\(float64,"
    ):
        user.ask(ARMS * np.nan)
    assert (
        user.rounds == 1
        and user.ask() == 0
        and torch.equal(user.context[0], torch.eye(4, dtype=torch.float64))
    )


def test_a_context_of_another_dimension_is_refused():
    user = AskTell(Index(), ARMS)
    user.tell(user.ask(), 1.0)
    with pytest.raises(
        ValueError, match=r"context must have d = 4 dimensions, as the first.*, got shape \(4, 3\)"
    ):
        user.ask(ARMS[:, :3])
    assert user.rounds == 1 and user.ask(ARMS[::-1].copy()) == 0


def test_a_file_of_another_size_is_refused(tmp_path):
    user = AskTell(Index(), ARMS)
    user.tell(user.ask(), 1.0)
    user.save(tmp_path / "state.npz")
    other = AskTell(Index(), np.eye(3))
    before = other.state
    with pytest.raises(
        ValueError,
        match=r"^path='.*' contains state.plays of shape \(1, 4\) .* of shape \[4, 4\], .* requires shape \(1, 3\)",
    ):
        other.restore(tmp_path / "state.npz")
    assert other.state is before and other.rounds == 0


def test_an_action_chosen_by_the_user_counts():
    user = AskTell(Index(), ARMS)
    user.tell(3, 1.0)  # without a preceding ask
    user.ask()
    user.tell(2, 1.0)
    assert user.state.plays.tolist() == [[1, 1, 2, 2]]


def test_a_loaded_object_continues_like_the_saved_one(tmp_path):
    one = AskTell(Index(), ARMS)
    for t in range(9):
        one.tell(one.ask(), float(t % 2))
    one.save(tmp_path / "state.npz")
    two = AskTell(Index(), ARMS).restore(tmp_path / "state.npz")
    for t in range(9):
        assert one.ask() == two.ask()
        one.tell(one.ask(), float(t % 3 == 0))
        two.tell(two.ask(), float(t % 3 == 0))
    with pytest.raises(ValueError, match="^path must be a file saved by a learner with .*, got "):
        AskTell(Index(bonus=3.0), ARMS).restore(tmp_path / "state.npz")


def test_a_file_of_another_seed_or_horizon_is_refused(tmp_path):
    AskTell(Index(), ARMS, horizon=9).save(tmp_path / "state.npz")
    AskTell(Index(), ARMS, horizon=9).restore(tmp_path / "state.npz")
    for settings in ({"horizon": 9, "seed": 1}, {"horizon": 8}, {}):
        with pytest.raises(
            ValueError, match="^path must be a file saved by a learner with .*, got "
        ):
            AskTell(Index(), ARMS, **settings).restore(tmp_path / "state.npz")


@pytest.mark.parametrize("arms", [ARMS.copy(), torch.eye(4, dtype=torch.float64)])
def test_a_context_is_copied(arms):
    user = AskTell(Index(), arms)
    arms *= 7
    assert user.context.max() == 1


def test_prepare_sees_every_context():
    user = AskTell(Index(), 2 * ARMS, prepare=lambda arms: arms / 2)
    assert user.context.max() == 1
    user.ask(4 * ARMS)
    assert user.context.max() == 2


def test_float32_is_cast_with_a_warning():
    with pytest.warns(UserWarning, match="float32"):
        user = AskTell(Index(), ARMS.astype(np.float32))
    assert user.context.dtype == torch.float64


class Offer(NamedTuple):
    arms: torch.Tensor
    bonus: torch.Tensor
    rule: Callable


@dataclass(frozen=True)
class Offered(Index):
    """Learner for contexts with several parts, one of which is a function."""

    def init(self, trials, offer, horizon, draw, **tkwargs):
        return super().init(trials, offer.arms, horizon, draw, **tkwargs)

    def select(self, state, offer, draw):
        assert (
            offer.arms.shape[0] == offer.bonus.shape[0] == 1
            and offer.arms.dim() == 3
            and offer.bonus.dim() == 2
        )
        return offer.rule(state.total / state.plays + offer.bonus).argmax(1), state

    def update(self, state, offer, arm, reward, draw):
        return super().update(state, offer.arms, arm, reward, draw)


def offer(*bonus):
    return Offer(
        torch.eye(4, dtype=torch.float64), torch.tensor(bonus, dtype=torch.float64), lambda x: x
    )


def test_parts_of_a_context_have_a_trial_dimension_and_are_copied():
    mine = offer(0.0, 2.0, 0.0, 1.0)
    user = AskTell(Offered(), mine)
    mine.bonus.mul_(0)
    assert user.ask() == 1
    user.tell(1, -5.0)
    assert user.ask() == 3 and user.ask(offer(9.0, 0, 0, 0)) == 0


def test_functions_of_a_context_are_not_written_and_the_rest_is(tmp_path):
    user = AskTell(Offered(), offer(0.0, 2.0, 0.0, 1.0))
    user.tell(user.ask(offer(0.0, 0.0, 3.0, 0.0)), 1.0)
    user.save(tmp_path / "state.npz")
    again = AskTell(Offered(), offer(0.0, 2.0, 0.0, 1.0))
    rule = again.context.rule
    again.restore(tmp_path / "state.npz")
    assert (
        again.context.rule is rule
        and again.context.bonus.tolist() == [[0, 0, 3, 0]]
        and again.ask() == user.ask() == 2
    )


def test_differences_to_another_learner_are_named(tmp_path):
    AskTell(Index(bonus=3.0), ARMS, seed=1).save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="learner.bonus=3.0") as error:
        AskTell(Index(), ARMS, seed=2).restore(tmp_path / "state.npz")
    said = str(error.value)
    assert (
        said.startswith(
            "path must be a file saved by a learner with learner.bonus=1.0, seed=2, got "
        )
        and said.endswith("saved by a learner with learner.bonus=3.0, seed=1")
        and "horizon" not in said
        and "kind" not in said
    )


@pytest.mark.parametrize("what", ["text", "empty", "array", "arrays", "half", "list"])
def test_files_without_a_saved_learner_are_rejected(what, tmp_path):
    path, user = tmp_path / "state.npz", AskTell(Index(), ARMS)
    user.save(path)
    whole = path.read_bytes()
    if what in ("array", "arrays", "list"):
        with open(path, "wb") as file:
            np.save(file, np.ones(3)) if what == "array" else np.savez(
                file, **({"x": np.ones(3)} if what == "arrays" else {"head": np.array("[1]")})
            )
    else:
        path.write_bytes({"text": b"hello", "empty": b"", "half": whole[: len(whole) // 2]}[what])
    before = user.state
    with pytest.raises(
        ValueError,
        match="path must be a complete file that save wrote, got ",
    ):
        user.restore(path)
    assert user.state is before
    with pytest.raises(FileNotFoundError):
        user.restore(tmp_path / "other.npz")


@pytest.mark.parametrize("path", [None, 1, 2.5, b"state.npz", ["state.npz"]])
def test_invalid_paths_are_rejected_by_name(path):
    user = AskTell(Index(), ARMS)
    for use in (user.save, user.restore):
        with pytest.raises(ValueError, match="path must be the name of a file or a Path, got "):
            use(path)


def test_the_first_round_beyond_the_horizon_gives_a_warning():
    user, free = AskTell(Index(), ARMS, horizon=3), AskTell(Index(), ARMS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            user.tell(user.ask(), 1.0)
        for _ in range(9):
            free.tell(free.ask(), 1.0)
    with pytest.warns(UserWarning, match="round 4 is beyond horizon=3") as caught:
        for _ in range(3):
            user.tell(user.ask(), 1.0)
    assert len(caught) == 1 and user.rounds == 6


def test_settings_with_several_trials_are_rejected():
    one = AskTell(GLBOMD(Bernoulli(), norm_bound=3.0, scale=torch.tensor([0.5])), ARMS)
    assert one.ask() == AskTell(GLBOMD(Bernoulli(), norm_bound=3.0, scale=0.5), ARMS).ask()
    with pytest.raises(
        ValueError, match="learner.scale must have one row per trial .*, which is 1, or .*, got 2$"
    ):
        AskTell(GLBOMD(Bernoulli(), norm_bound=3.0, scale=torch.tensor([0.5, 1.0])), ARMS)


def test_integers_of_numpy_are_integers(tmp_path):
    user = AskTell(Index(), ARMS, horizon=np.int64(9), seed=np.int64(2))
    user.save(tmp_path / "state.npz")
    assert AskTell(Index(), ARMS, horizon=9, seed=2).restore(tmp_path / "state.npz").rounds == 0


@pytest.mark.parametrize("horizon", [0, -5, "x", 2.5, True, [1]])
def test_invalid_horizons_are_rejected(horizon):
    with pytest.raises(ValueError, match=r"horizon must be an integer from 1 to 2\^63 - 1, got "):
        AskTell(Index(), ARMS, horizon=horizon)


def doing(name, function):
    """Return a learner with one method replaced by ``function``, which receives the return value of the original method."""
    whole = getattr(Index, name)
    return type("Odd", (Index,), {name: lambda self, *a: function(whole(self, *a))})()


@pytest.mark.parametrize(
    "learner, context, match",
    [
        (
            GLBOMD,
            ARMS,
            r"learner must be an instance, for example GLBOMD\(...\), got the class GLBOMD",
        ),
        ("GLBOMD", ARMS, "learner must be a learner with the attributes.*, got 'GLBOMD'"),
        (None, ARMS, "learner must be a learner with the attributes.*, got None"),
        (
            Coins(),
            ARMS,
            r"learner must be a learner with the attributes.*, got Coins\(\), a problem",
        ),
        (ARMS, Index(), r"learner must be a learner with the attributes.*, got ndarray\(float64,"),
        (
            Index(),
            np.ones(4),
            r"context must be arms of shape K x d with at least.*, got shape \(4,\)",
        ),
        (Index(), 3.0, r"context must be arms of shape K x d with at least.*, got shape \(\)"),
        (
            Index(),
            ARMS[None],
            r"context must be arms of shape K x d with at least.*, got shape \(1, 4, 4\)",
        ),
        (
            Index(),
            ARMS[:0],
            r"context must be arms of shape K x d with at least.*, got shape \(0, 4\)",
        ),
        (
            Index(),
            ARMS[:, :0],
            r"context must be arms of shape K x d with at least.*, got shape \(4, 0\)",
        ),
        (Index(), "arms", "context must be an array of numbers, got 'arms'"),
        (Index(), None, "context must be an array of numbers, got None"),
    ],
)
def test_invalid_learners_and_arms_are_rejected_in_one_line(learner, context, match):
    with pytest.raises(ValueError, match=match) as error:
        AskTell(learner, context)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "learner, match",
    [
        (doing("select", lambda both: 3), "Odd.select must return actions and a state, got 3"),
        (
            doing("select", lambda both: (1, both[1])),
            "Odd.select must return a tensor of 1 actions,.*, got 1",
        ),
        (
            doing("select", lambda both: (both[0] + 9, both[1])),
            "Odd.select must return a tensor of 1 actions, indices from",
        ),
        (
            doing("select", lambda both: (both[0] / 2, both[1])),
            "Odd.select must return a tensor of 1 actions, indices from",
        ),
        (
            doing("update", lambda state: None),
            "Odd.update must return a state of class State, got None",
        ),
    ],
    ids=["number", "pair", "beyond", "half", "nothing"],
)
def test_results_of_a_learner_are_checked(learner, match):
    user = AskTell(learner, ARMS)
    before = user._now
    for call in (lambda: user.tell(user.ask(), 1.0), lambda: user.tell(0, 1.0)):
        with pytest.raises(ValueError, match=match):
            call()
    assert user.state is before.state and user.rounds == 0


def test_later_arms_are_arms_too():
    user = AskTell(Index(), ARMS)
    for context in (np.ones(4), ARMS[None], (torch.ones(4),)):
        with pytest.raises(
            ValueError,
            match=r"context must be .*, got ",
        ):
            user.ask(context)
    assert user.ask() == 0


@pytest.mark.parametrize("value", [True, "1", 2**63])
def test_invalid_seeds_are_rejected(value):
    with pytest.raises(ValueError, match=r"seed must be an integer from 0 to 2\^63 - 1, got "):
        AskTell(Index(), ARMS, seed=value)


def test_a_box_does_not_change_between_rounds():
    box = lambda right: Bounds(torch.zeros(1).double(), torch.tensor([right]).double())
    search = AskTell(UniformPoint(3), box(1.0))
    search.tell(search.ask(), 1.0)
    search.ask(box(1.0))
    with pytest.raises(
        ValueError,
        match=r"^context must be the same box in all rounds, lo=.* hi=\[1\.0\], got lo=.* hi=\[2\.0\]",
    ):
        search.ask(box(2.0))
