"""Tests of ``Optimizer``: batches, existing data, failures, interrupts and damaged files."""

import json
import sys
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest
import torch
from toy import Index

from paperlib.asktell import AskTell, Optimizer
from paperlib.core.contracts import Tags
from paperlib.core.trees import list_leaves

ARMS = np.eye(4)


class Drawn(NamedTuple):
    total: torch.Tensor  # R x d
    rounds: int


@dataclass(frozen=True)
class Walk:
    """Learner that chooses a random point of the square in the context's dimension, and sums up the points."""

    own_actions: bool = True
    wants = "loss"

    @property
    def tags(self):
        return Tags(own_actions=self.own_actions)

    def init(self, trials, box, horizon, draw, **tkwargs):
        return Drawn(torch.zeros(trials, box[0].shape[1], **tkwargs), 0)

    def select(self, state, box, draw):
        return draw.uniform("point", state.total.shape[1]), state

    def update(self, state, box, point, loss, draw):
        return Drawn(state.total + point * loss.unsqueeze(1), state.rounds + 1)


BOX = (torch.ones(2, dtype=torch.float64),)


def everything(user):
    """Return everything that a call may change, comparable with ``==``."""
    now = user._now
    values = [
        x.view if hasattr(x, "view") and not isinstance(x, torch.Tensor) else x
        for _, x in list_leaves(now.state)
    ]
    pending = None if now.pending is None else id(now.pending)
    plain = [x.tolist() if isinstance(x, torch.Tensor) else x for x in values]
    return plain, now.rounds, now.skipped, pending, now.warned, now.late, now.failures


def played(user, rounds, skip=lambda t: False):
    """Run some rounds with arbitrary losses; the rounds of ``skip`` fail."""
    asked = []
    for t in range(rounds):
        asked.append(user.ask())
        user.fail(asked[-1], np.nan) if skip(t) else user.tell(asked[-1], float(t % 3))
    return asked


# ---- batches and existing data --------------------------------------------------------------------


def test_a_batch_equals_its_entries_one_after_another():
    one, two = Optimizer(Index(), ARMS), Optimizer(Index(), ARMS)
    one.tell([2, 0, 2], [1.0, 0.0, 0.5])
    for arm, reward in ((2, 1.0), (0, 0.0), (2, 0.5)):
        two.tell(arm, reward)
    assert everything(one) == everything(two)


def test_a_batch_of_points_is_rows():
    one, two, points = (
        Optimizer(Walk(), BOX),
        Optimizer(Walk(), BOX),
        np.random.default_rng(0).random((3, 2)),
    )
    one.tell(points, [1.0, 2.0, 3.0])
    for point, loss in zip(points, (1.0, 2.0, 3.0)):
        two.tell(point, loss)
    assert everything(one) == everything(two) and one.rounds == 3


@pytest.mark.parametrize(
    "action, feedback, match",
    [
        ([], [], r"action must be a list of at least one entry, got \[\]"),
        ([1, 2], [1.0], r"feedback must have 2 entries, as many as action, got \[1.0\]"),
        ([1, 2], 1.0, "feedback must have 2 entries, as many as actions?, got "),
        ([1, 9], [1.0, 1.0], r"^action\[1\] must be an index from 0 to 3, got 9"),
        ([1, 2], [1.0, np.nan], r"^feedback\[1\] must be finite, got nan$"),
        ([1, 2], [None, 1.0], r"^feedback\[0\] must be one real number, got None$"),
        ([1, 2], [1.0, "1"], r"^feedback\[1\] must be one real number, got '1'$"),
        ([1, 2], "11", "feedback must have 2 entries, as many as action, got '11'"),
        ([1, 2], [1.0, [1.0, 2.0]], r"^feedback\[1\] must"),
        ([1, 2], [1.0, 1j], r"^feedback\[1\] must"),
        (
            [1, [2, 3]],
            [1.0, 1.0],
            r"^action\[1\] must be the index of an arm, which is an integer, got \[2, 3\]",
        ),
        (
            [1, "2"],
            [1.0, 1.0],
            r"^action\[1\] must be the index of an arm, which is an integer, got '2'",
        ),
        (1, "1", "^feedback must be one real number, got '1'$"),
        (1, 10**400, "^feedback must be finite"),
        (1, [[1], [1, 2]], "^feedback must"),
        (1, b"1", "^feedback must"),
        (1, {}, "^feedback must"),
        (None, 1.0, "action must be the index of an arm, which is an integer, got None"),
        (1, torch.tensor(1j), "^feedback must"),
        (1, np.datetime64(1, "s"), "^feedback must"),
        (1, torch.tensor(np.nan, dtype=torch.float64), "^feedback must be finite"),
        ([1, 2], [1.0, object()], r"^feedback\[1\] must"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_rejected_feedback_does_not_change_the_learner(action, feedback, match):
    user = Optimizer(Index(), ARMS, horizon=2)
    user.tell(user.ask(), 1.0)
    user.ask()
    before = user._now
    with pytest.raises(ValueError, match=match):
        user.tell(action, feedback)
    assert user._now is before


def test_own_data_come_first_and_count_as_rounds():
    user, other = Optimizer(Index(), ARMS), Optimizer(Index(), ARMS)
    user.observe(np.array([3, 3, 1]), np.array([1.0, 1.0, 0.0]))
    other.tell([3, 3, 1], [1.0, 1.0, 0.0])
    assert (
        user.rounds == 3
        and everything(user) == everything(other)
        and user.ask() == other.ask() == 3
    )
    walk = Optimizer(Walk(), BOX)
    walk.observe(np.ones((2, 2)), [1.0, 2.0])
    assert walk.state.total.tolist() == [[3.0, 3.0]]
    for actions, feedback, match in (
        ([], [], r"actions must be a list of at least one entry, got \[\]"),
        (3, 1.0, "actions must be a list of at least one entry, got 3"),
        ([1, 2], [1.0], "feedback must have 2 entries, as many as actions?, got "),
    ):
        with pytest.raises(ValueError, match=match):
            user.observe(actions, feedback)
    with pytest.raises(
        ValueError, match="(?s)^actions must be the ones that .* actions that it chose itself, got "
    ):
        Optimizer(Walk(own_actions=False), BOX).observe(np.ones((2, 2)), [1.0, 2.0])


# ---- failures ------------------------------------------------------------------------------------


class Unprintable(Exception):
    """Exception whose text cannot be computed."""

    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "reason, said",
    [
        (RuntimeError("no power"), "RuntimeError: no power"),
        (np.nan, "nan"),
        (-np.inf, "-inf"),
        (None, "None"),
        ("text", "text"),
        (np.float64(np.nan), "nan"),
        (np.array(np.inf), "array(inf)"),
        ([1.0, 2.0], "[1.0, 2.0]"),
        (1j, "1j"),
        ([[1], [1, 2]], "[[1], [1, 2]]"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (Unprintable(), "Unprintable"),
    ],
)
def test_a_failure_is_recorded_without_feedback(reason, said):
    user = Optimizer(Index(), ARMS)
    user.tell(user.ask(), 1.0)
    before, arm = user.state, user.ask()
    user.fail(arm, reason)
    assert user.failures == [(2, arm, said)] and user.state is before and user.rounds == 1
    assert (
        user.failures[0].round == 2
        and user.failures[0].action == arm
        and user.failures[0].reason == said
    )


@pytest.mark.parametrize(
    "action, reason, instead, match",
    [
        (0, 1.0, None, "reason must be an exception, a message, or.*, got 1.0"),
        (0, True, None, "reason must be an exception, a message, or.*, got True"),
        (
            0,
            np.float64(0),
            None,
            "reason must be an exception, a message, or feedback that is not finite, got ",
        ),
        (
            0,
            torch.tensor(1.0),
            None,
            "reason must be an exception, a message, or feedback that is not finite, got ",
        ),
        (
            0,
            np.array([0.5]),
            None,
            "reason must be an exception, a message, or feedback that is not finite, got ",
        ),
        (
            0,
            [Decimal("0.5")],
            None,
            "reason must be an exception, a message, or feedback that is not finite, got ",
        ),
        (4, np.nan, None, "action must be an index from 0 to 3, got 4"),
        (0.5, np.nan, None, "action must be the index of an arm, which is an integer, got 0.5"),
        (0, np.nan, np.nan, "instead=nan.*feedback must be finite, got nan"),
        (0, np.nan, "1", "instead=.1."),
    ],
)
def test_a_rejected_failure_has_no_effect(action, reason, instead, match):
    user = Optimizer(Index(), ARMS)
    user.ask()
    before = user._now
    with pytest.raises(ValueError, match=match):
        user.fail(action, reason, instead)
    assert user._now is before


def test_a_random_learner_continues_with_its_next_draw_after_a_failure():
    """The random draws advance by one round, so the points are the same as without the failures."""
    plain = played(Optimizer(Walk(), BOX), 12)
    for skip in (lambda t: t == 0, lambda t: t % 2 == 0, lambda t: t % 2 == 1, lambda t: True):
        user = Optimizer(Walk(), BOX)
        assert np.array_equal(played(user, 12, skip), plain)
        failed = [t for t in range(12) if skip(t)]
        assert [x.action for x in user.failures] == [
            tuple(plain[t]) for t in failed
        ] and user.rounds == 12 - len(failed)
        assert user.state.rounds == user.rounds


def test_a_deterministic_learner_repeats_a_failed_point_unless_a_value_is_imputed():
    user = Optimizer(Index(), ARMS)
    user.tell([0, 1, 2, 3], [1.0, 0.0, 0.0, 0.0])
    for _ in range(3):
        assert user.ask() == 0
        user.fail(0, "down")
    user.fail(user.ask(), "down for good", instead=-5.0)
    assert user.ask() != 0 and user.rounds == 5 and [x.round for x in user.failures] == [5] * 4
    assert user.state.total[0, 0] == -4


def test_an_imputed_value_is_accepted_only_for_the_asked_action():
    user = Optimizer(Walk(own_actions=False), BOX)
    x = user.ask()
    with pytest.raises(
        ValueError,
        match="instead=1.0 is not valid feedback: action must .* actions that it chose itself, got array",
    ):
        user.fail(x + 1, np.nan, instead=1.0)
    assert not user.failures and np.array_equal(user.ask(), x)
    user.fail(x, np.nan, instead=1.0)
    assert user.rounds == 1 and len(user.failures) == 1


@pytest.mark.parametrize(
    "skip",
    [lambda t: t == 0, lambda t: t % 2 == 0, lambda t: True],
    ids=["first", "every second", "all"],
)
def test_failures_are_saved_and_the_search_goes_on_after_a_load(skip, tmp_path):
    user = Optimizer(Walk(), BOX, horizon=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        played(user, 9, skip)
    user.ask()
    user.save(tmp_path / "state.npz")
    again = Optimizer(Walk(), BOX, horizon=3).restore(tmp_path / "state.npz")
    user._now = user._now._replace(proposed=None, pending=None)
    assert everything(user) == everything(again) and again.failures == user.failures
    with warnings.catch_warnings():
        # The warning about the horizon was issued in the earlier rounds and is not repeated.
        warnings.simplefilter("ignore" if skip(1) else "error")
        assert np.array_equal(played(user, 5, skip), played(again, 5, skip))
    assert everything(user) == everything(again)


def test_the_repr_shows_the_progress():
    user = Optimizer(Index(bonus=2.0), ARMS, horizon=9)
    user.tell(user.ask(), 1.0)
    user.fail(0, "x")
    assert repr(user) == "Optimizer(Index(bonus=2.0), 4 arms, rounds=1, failures=1, horizon=9)"
    arm = user.ask()
    assert repr(user).endswith(f"rounds=1, failures=1, horizon=9, asked={arm})")
    walk = Optimizer(Walk(), BOX)
    assert repr(walk) == "Optimizer(Walk(), tuple, rounds=0, failures=0, horizon=None)"
    x = walk.ask()
    assert repr(walk).endswith(f"horizon=None, asked=({x[0]}, {x[1]}))")
    assert (
        repr(AskTell(Index(bonus=torch.ones(1, 2, 6)), ARMS))
        == "AskTell(Index(bonus=Tensor(torch.float32, shape=(1, 2, 6))), 4 arms, rounds=0, horizon=None)"
    )


def test_arguments_are_read_only_and_other_attributes_private():
    user = Optimizer(Index(), ARMS, horizon=9, seed=3)
    for name in ("learner", "horizon", "seed", "state", "context", "rounds", "failures"):
        with pytest.raises(AttributeError):
            setattr(user, name, None)
    assert all(name.startswith("_") for name in vars(user))


# ---- interrupts ----------------------------------------------------------------------------------


class Interrupt(BaseException):
    """Exception like KeyboardInterrupt, but pytest does not stop because of it."""


def interrupted(call, at):
    """Run ``call`` and interrupt it at the given line of the package. Return whether it was interrupted."""
    left = [at]

    def line(frame, event, arg):
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise Interrupt
        return line

    def enter(frame, event, arg):
        return (
            line
            if "paperlib" in frame.f_code.co_filename or "toy.py" in frame.f_code.co_filename
            else None
        )

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        call()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
        # An interrupt within the code of ``no_grad`` would leave gradients disabled for all later tests.
        torch.set_grad_enabled(True)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("what", ["tell", "batch", "observe", "fail", "instead", "ask", "load"])
@pytest.mark.filterwarnings("ignore:round 4 is beyond")
def test_an_interrupted_call_is_completed_or_has_no_effect(what, tmp_path):
    far = Optimizer(Index(), ARMS, horizon=3)
    far.tell([0, 1, 2, 3, 0], [1.0, 0.0, 1.0, 0.0, 0.5])
    far.fail(1, "down")
    far.save(tmp_path / "far.npz")
    calls = {
        "tell": lambda x: x.tell(2, 1.0),
        "batch": lambda x: x.tell([2, 1], [1.0, 0.0]),
        "observe": lambda x: x.observe([3, 3], [0.0, 1.0]),
        "fail": lambda x: x.fail(2, np.nan),
        "instead": lambda x: x.fail(2, np.nan, instead=0.0),
        "ask": lambda x: x.ask(),
        "load": lambda x: x.restore(tmp_path / "far.npz"),
    }

    def begun():
        user = Optimizer(Index(), ARMS, horizon=3)
        user.tell([0, 1], [1.0, 0.0])
        user.ask()
        return user

    done = begun()
    calls[what](done)
    for at in range(1, 4000):
        user = begun()
        before = user._now
        if not interrupted(lambda: calls[what](user), at):
            break
        if user._now is not before:
            assert (
                everything(user)[:3] == everything(done)[:3]
                and everything(user)[4:] == everything(done)[4:]
            )
        else:
            calls[what](user)  # the call can be repeated as if it had not been interrupted
            assert (
                everything(user)[:3] == everything(done)[:3]
                and everything(user)[4:] == everything(done)[4:]
            )
    assert 5 < at < 3999


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, MemoryError])
def test_an_error_within_a_batch_leaves_the_state_unchanged(error, monkeypatch):
    user = Optimizer(Index(), ARMS, horizon=1)
    user.ask()
    before, heard = user._now, []
    update = Index.update

    def broken(self, *args):
        heard.append(1)
        if len(heard) == 3:
            raise error
        return update(self, *args)

    monkeypatch.setattr(Index, "update", broken)
    with pytest.raises(error), pytest.warns(UserWarning, match="beyond horizon=1"):
        user.tell([0, 1, 2, 3], [1.0] * 4)
    assert user._now is before
    with pytest.warns(UserWarning, match="round 2 is beyond horizon=1"):
        user.tell([0, 1, 2, 3], [1.0] * 4)
    assert user.rounds == 4 and user.state.rewards.view.shape == (1, 4)


def test_a_warning_points_to_the_line_of_the_user():
    user = Optimizer(Index(), ARMS, horizon=1)
    with pytest.warns(UserWarning, match="beyond") as caught:
        user.tell([0, 1], [1.0, 1.0])
    assert caught[0].filename == __file__


# ---- files ---------------------------------------------------------------------------------------


def rewritten(path, change):
    """Rewrite the file with another head."""
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(str(arrays.pop("head")))
    change(head, arrays)
    with open(path, "wb") as file:
        np.savez(file, head=np.array(json.dumps(head)), **arrays)


def test_a_file_without_recorded_failures_is_read(tmp_path):
    user, new = Optimizer(Walk(), BOX), ("skipped", "warned", "late", "failures")
    new += ("checksum",)
    played(user, 6)
    user.save(tmp_path / "state.npz")
    rewritten(tmp_path / "state.npz", lambda head, arrays: [head.pop(name) for name in new])
    again = Optimizer(Walk(), BOX).restore(tmp_path / "state.npz")
    assert everything(again) == everything(user) and np.array_equal(
        played(user, 5), played(again, 5)
    )


def forget(head, arrays):
    """Remove the checksum, as in a file of version 0.1.0."""
    head.pop("checksum")


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda head, arrays: head.pop("rounds"), "KeyError: 'rounds'"),
        (lambda head, arrays: head.pop("plain"), "plain"),
        (lambda head, arrays: head["plain"].pop("state.note"), "state.note"),
        (lambda head, arrays: arrays.pop("state.plays"), "state.plays"),
        (lambda head, arrays: arrays.pop("state.rewards"), "state.rewards"),
        (lambda head, arrays: head.update(failures=3), "TypeError"),
        (lambda head, arrays: head.update(failures=[[1, 2]]), "ValueError"),
        (lambda head, arrays: head.update(plain=7), "TypeError"),
    ],
    ids=range(8),
)
@pytest.mark.parametrize("old", [False, True])
def test_a_truncated_file_is_rejected_with_its_name(old, change, match, tmp_path):
    path, user = tmp_path / "state.npz", Optimizer(Index(), ARMS)
    user.tell([0, 1], [1.0, 0.0])
    user.save(path)
    rewritten(path, change)
    if old:
        rewritten(path, forget)
    user.ask()
    before = user._now
    with pytest.raises(
        ValueError, match="^path must be a complete file that save wrote, got '.*state.npz'"
    ) as error:
        user.restore(path)
    assert user._now is before and (match if old else "checksum") in str(error.value)


def test_a_damaged_optimizer_file_is_read_correctly_or_rejected_without_effect(tmp_path):
    path, rng, refused = tmp_path / "state.npz", np.random.default_rng(0), 0
    saved = Optimizer(Index(), ARMS)
    played(saved, 7, lambda t: t % 3 == 0)
    saved.save(path)
    whole, expected = path.read_bytes(), everything(saved)
    for mutation in range(400):
        raw = bytearray(whole)
        if mutation % 4 == 0:
            raw = raw[: rng.integers(len(raw))]
        else:
            for _ in range(mutation % 4):
                raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(raw))
        user = Optimizer(Index(), ARMS)
        user.ask()
        before = user._now
        try:
            user.restore(path)
        except ValueError as error:
            refused += 1
            assert (
                user._now is before
                and f"complete file that save wrote, got {str(path)!r}" in str(error)
            )
        else:
            assert everything(user) == expected
    assert refused > 200


@pytest.mark.parametrize("many", [{0: 1.0, 1: 2.0}, {1.0, 2.0}, b"ab", "ab"])
def test_unordered_values_and_text_are_rejected_as_batches(many):
    user = Optimizer(Index(), ARMS)
    with pytest.raises(ValueError, match="feedback must have 2 entries, as many as actions?, got "):
        user.tell([0, 1], many)
    assert user.rounds == 0
