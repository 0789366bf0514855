"""Wrappers behave like their base.

Scripted: the scripted actions are played, then the base continues with all observations.
Doubling: the horizons are 1, 2, 4, ...
"""

import re
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from inspect import cleandoc, getsource
from typing import NamedTuple

import numpy as np
import pytest
import torch
from toy import Coins, Index, Listed

from companion.papers import paper_module, papers
from paperlib.asktell import AskTell
from paperlib.bkb import BKB, RBF, Confidence
from paperlib.core.contracts import Learner, Tags, tags_of
from paperlib.core.describe import describe
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.core.trees import list_leaves, pack, tree_take, unpack
from paperlib.learners.multiscale import Multiscale
from paperlib.learners.reference import UniformArm
from paperlib.learners.wrapper import Doubling, Scripted, Wrapper
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
ACTIONS = (3, 3, 0, 2)
LISTED = Listed(ACTIONS)
ARM = {"arm": Probe(lambda seen: seen.action.double())}


def trace(learner, horizon=12, trials=3):
    return play(learner, Coins(4), horizon, trials, record="all", probes=ARM)


def steps(learner, count, trials=range(3), state=None, start=0):
    """Play rounds by hand, so that states can be inspected."""
    problem, streams = Coins(4), Streams(0, trials)
    instance = problem.init(len(trials), 12, streams.at(-1), **TKWARGS)
    arms = problem.context(instance, 0)
    state = (
        learner.init(len(trials), arms, 12, streams.at(-1), **TKWARGS) if state is None else state
    )
    heard = []
    for t in range(start, start + count):
        action, chosen = learner.select(state, arms, streams.at(t))
        reward, _ = problem.respond(instance, t, action, "reward", streams.at(t))
        state = learner.update(chosen, arms, action, reward, streams.at(t))
        heard.append((action, reward))
    return state, heard


def test_dictated_actions_come_before_the_actions_of_the_base():
    played = trace(Scripted(Index(), LISTED, 4))["arm"]
    np.testing.assert_array_equal(played[:, :4], [ACTIONS] * 3)
    base, heard = Index(), steps(Scripted(Index(), LISTED, 4), 12)[1]
    arms, draw = torch.eye(4, **TKWARGS)[None], Streams(0, range(3)).at(0)
    state = base.init(3, arms, 12, draw, **TKWARGS)
    # A base with equal observations chooses equal actions.
    for t, (action, reward) in enumerate(heard):
        own, _ = base.select(state, arms, draw)
        assert t < 4 or torch.equal(own, action)
        state = base.update(state, arms, action, reward, draw)
    assert len({tuple(x.tolist()) for x, _ in heard[4:]}) > 1
    np.testing.assert_array_equal(played[:, 4:].T, [x.tolist() for x, _ in heard[4:]])


def test_the_base_receives_every_round():
    state, heard = steps(Scripted(Index(), LISTED, 4), 6)
    assert state.rounds == state.base.rounds == 6
    torch.testing.assert_close(
        state.base.rewards.view, torch.stack([reward for _, reward in heard], 1)
    )
    counts = torch.stack([action for action, _ in heard], 1)
    torch.testing.assert_close(
        state.base.plays - 1, torch.stack([(counts == k).sum(1).double() for k in range(4)], 1)
    )
    assert Scripted(Index(), LISTED, 4).report(state)["plays"].tolist() == [10.0] * 3


def test_without_dictated_rounds_the_wrapper_equals_its_base():
    np.testing.assert_array_equal(
        trace(Scripted(Index(), Listed(()), 0))["arm"], trace(Index())["arm"]
    )


def test_a_learner_may_dictate_actions():
    """Five rounds of uniform play draw the same arms as ``UniformArm`` alone, and the base keeps the observations."""
    learner = Scripted(Index(), UniformArm(), 5)
    played, uniform = trace(learner)["arm"], trace(UniformArm())["arm"]
    np.testing.assert_array_equal(played[:, :5], uniform[:, :5])
    assert (played[:, 5:] != uniform[:, 5:]).any() and len(np.unique(uniform[:, :5])) > 2
    assert steps(learner, 7)[0].base.rounds == 7


@pytest.mark.parametrize("actions", [LISTED, UniformArm()])
def test_a_running_state_can_be_sliced(actions):
    learner = Scripted(Index(), actions, 4)
    middle, _ = steps(learner, 2)
    whole, _ = steps(learner, 5, state=middle, start=2)
    part, _ = steps(learner, 5, trials=[2, 0], state=tree_take(middle, [2, 0]), start=2)
    torch.testing.assert_close(part.base.plays, tree_take(whole, [2, 0]).base.plays)
    torch.testing.assert_close(part.base.rewards.view, whole.base.rewards.view[[2, 0]])
    assert part.rounds == 7


def test_selecting_and_updating_leave_the_state_alone():
    state, _ = steps(Scripted(Index(), LISTED, 4), 3)
    before = state.base.plays.clone()
    steps(Scripted(Index(), LISTED, 4), 3, state=state, start=3)
    assert state.rounds == 3 and torch.equal(state.base.plays, before)


@dataclass(frozen=True)
class Wary(Index):
    """Learner that rejects more than three arms, and needs losses."""

    wants = "loss"

    def validate(self, context, action, feedback):
        if context.shape[1] > 3:
            raise ValueError("arms must be three")


def test_scripted_has_the_members_of_its_base():
    learner = Scripted(Wary(), Listed((0,)), 1)
    assert learner.wants == "loss"
    assert Scripted(UniformArm(), Listed((0,)), 1).report(None) == {}
    with pytest.raises(ValueError, match="three"):
        trace(learner)
    with pytest.raises(ValueError, match="three"):
        trace(Scripted(Index(), Wary(), 1))


@pytest.mark.parametrize(
    "field, value",
    [
        ("rounds", -1),
        ("rounds", 4.0),
        ("actions", (3, 3, 0, 2)),
        ("actions", None),
        ("actions", UniformArm),
    ],
)
def test_fields_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        replace(Scripted(Index(), LISTED, 4), **{field: value})


# ---- Doubling ----------------------------------------------------------------------------------------------


class Count(NamedTuple):
    arm: torch.Tensor  # R
    horizon: int
    rounds: int
    ever: int  # number of rounds of all epochs, if epochs start by ``restart``


@dataclass(frozen=True)
class Fixed:
    """Learner that needs the horizon, and always plays the arm drawn at the start of an epoch."""

    wants = "reward"

    def init(self, trials, arms, horizon, draw, **tkwargs):
        return Count((4 * draw.uniform("arm")).long(), horizon, 0, 0)

    def select(self, state, arms, draw):
        return state.arm, state

    def update(self, state, arms, arm, reward, draw):
        return state._replace(rounds=state.rounds + 1, ever=state.ever + 1)

    def report(self, state):
        return {"rounds": torch.full((3,), float(state.rounds))}


@dataclass(frozen=True)
class Restarted(Fixed):
    """Learner that carries its number of rounds over."""

    def restart(self, state, arms, horizon, draw):
        return Count((state.arm + 1) % 4, horizon, 0, state.ever)


def epochs(learner, count, **kwargs):
    """Return the state before each round, and after the last one."""
    states, state = [], None
    for t in range(count + 1):
        state, _ = steps(learner, 0 if t == 0 else 1, state=state, start=max(t - 1, 0), **kwargs)
        states.append(state)
    return states


def test_horizons_double():
    """T = 10 gives epochs of 1, 2, 4 and 3 rounds with horizons 1, 2, 4, 8."""
    states = epochs(Doubling(Fixed()), 10)
    assert [s.base.horizon for s in states] == [1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8]
    assert [s.base.rounds for s in states] == [0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3]
    assert [s.epoch for s in states] == [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3] and [
        s.rounds for s in states
    ] == list(range(11))
    assert [s.base.ever for s in states] == [s.base.rounds for s in states]


def test_a_base_with_restart_may_carry_over_state():
    states = epochs(Doubling(Restarted()), 10)
    assert [s.base.ever for s in states] == list(range(11)) and [
        s.base.horizon for s in states[:4]
    ] == [1, 2, 2, 4]
    assert torch.equal(states[7].base.arm, (states[0].base.arm + 3) % 4)


def test_a_base_without_restart_has_new_draws_in_each_epoch():
    states = epochs(Doubling(Fixed()), 7)
    draws = Streams(0, range(3))
    for first in (1, 3, 7):  # drawn with the randomness of the last round of the previous epoch
        assert torch.equal(states[first].base.arm, (4 * draws.at(first - 1).uniform("arm")).long())


def test_a_running_epoch_can_be_sliced_and_saved():
    middle, _ = steps(Doubling(Index()), 5)
    whole, _ = steps(Doubling(Index()), 6, state=middle, start=5)
    part, _ = steps(Doubling(Index()), 6, trials=[2, 0], state=tree_take(middle, [2, 0]), start=5)
    torch.testing.assert_close(part.base.plays, tree_take(whole, [2, 0]).base.plays)
    arrays, plain = pack(middle)
    again, _ = steps(
        Doubling(Index()), 6, state=unpack(steps(Doubling(Index()), 0)[0], arrays, plain), start=5
    )
    assert torch.equal(again.base.plays, whole.base.plays) and (again.rounds, again.epoch) == (
        11,
        3,
    )


def test_updating_leaves_the_state_alone_where_an_epoch_ends():
    state, _ = steps(Doubling(Index()), 6)
    before = state.base.plays.clone()
    after, _ = steps(Doubling(Index()), 1, state=state, start=6)
    assert (
        state.rounds == 6
        and state.epoch == 2
        and torch.equal(state.base.plays, before)
        and after.epoch == 3
        and after.base.rounds == 0
    )


def test_doubling_has_the_members_of_its_base():
    learner = Doubling(Wary())
    assert learner.wants == "loss" and not learner.tags.fixed_arms
    with pytest.raises(ValueError, match="three"):
        trace(learner)
    assert (
        Doubling(UniformArm()).report(steps(Doubling(UniformArm()), 1)[0]) == {}
        and Doubling(Index()).caution(None) is None
    )
    assert Doubling(Fixed()).report(steps(Doubling(Fixed()), 5)[0])["rounds"].tolist() == [2.0] * 3
    assert trace(Doubling(Fixed()))["report.rounds"].tolist() == [5.0] * 3  # of 12 rounds


@dataclass(frozen=True)
class Own(Index):
    """Learner that attributes feedback to the action that it drew itself."""

    tags = Tags(own_actions=False)


def test_a_base_that_learns_only_from_its_own_actions():
    assert (
        Doubling(Index()).tags.own_actions
        and not Doubling(Own()).tags.own_actions
        and not Doubling(Doubling(Own())).tags.own_actions
    )
    for base in (Own(), Doubling(Own())):
        with pytest.raises(
            ValueError,
            match="^base must be a learner that can learn from actions of other learners, got ",
        ):
            Scripted(base, LISTED, 4)
    with pytest.raises(ValueError, match="learns only from actions that it chose itself, got "):
        AskTell(Doubling(Own()), np.eye(4)).tell(3, 1.0)


def test_doubling_may_be_scripted():
    learner = Scripted(Doubling(Index()), LISTED, 4)
    np.testing.assert_array_equal(trace(learner)["arm"][:, :4], [ACTIONS] * 3)
    assert steps(learner, 5)[0].base.epoch == 2


# ---- All wrappers ------------------------------------------------------------------------------------------

WRAPPERS = {Doubling: Doubling, Scripted: lambda base: Scripted(base, LISTED, 4)}
NAMES = [kind.__name__ for kind in WRAPPERS]
every_wrapper = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=NAMES)


@dataclass(frozen=True)
class Full(Index):
    """Learner with every optional method except ``restart``, which no wrapper forwards."""

    wants = "loss"

    def validate(self, context, action, feedback):
        raise ValueError(f"heard {context} {action} {feedback}")

    def caution(self, context, horizon=None, observed=None):
        return f"mind {context} for {horizon}, {observed}"

    def optimistic(self, state):
        return state.total.amax(1) + 1


# For each tag a value that is not the default.
OTHERS = {"fixed_arms": True, "derived": ("total",), "own_actions": False, "prepares": False}
# The result of each optional method of a wrapper around ``Full``.
RETURNS = {
    "report": lambda learner, state: learner.report(state)["plays"].tolist(),
    "optimistic": lambda learner, state: learner.optimistic(state).tolist(),
    "validate": lambda learner, state: _raised(lambda: learner.validate(7, 8, 9)),
    "caution": lambda learner, state: [learner.caution(7, 9, 3), learner.caution(7)],
}


def _raised(call):
    with pytest.raises(ValueError, match="heard") as caught:
        call()
    return str(caught.value)


def test_the_contract_lists_every_optional_member():
    text = cleandoc(Learner.__doc__)
    *methods, tags = re.findall(r"^- ``(\w+)", text, re.MULTILINE)
    assert methods == ["report", "validate", "caution"] and tags == "tags"
    # Only restartable learners have ``optimistic``.
    assert RETURNS.keys() == {*methods, "optimistic"}
    assert OTHERS.keys() == {*Tags._fields}
    assert all(OTHERS[name] != default for name, default in Tags()._asdict().items())


def test_every_wrapper_is_tested_here():
    shared = "paperlib.learners."  # a paper's wrappers need its learners; its cases test them
    ours = {kind for kind in Wrapper.__subclasses__() if kind.__module__.startswith(shared)}
    # Multiscale requires more of its base; tests/nsbco/test_nsbco_multiscale.py tests it.
    assert ours - {Multiscale} == set(WRAPPERS)


@every_wrapper
@pytest.mark.parametrize("name", OTHERS)
def test_every_tag_is_the_bases(wrap, name):
    base = type("Base", (Index,), {"tags": Tags(**{name: OTHERS[name]})})()
    if wrap is WRAPPERS[Scripted] and name == "own_actions":
        pytest.skip(
            "Scripted refuses a base that learns of its learns only from actions that it chose itself, got "
        )
    expected = ("base.total",) if name == "derived" else OTHERS[name]
    assert wrap(base).tags == Tags(**{name: expected})
    assert wrap(Index()).tags == Tags()
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        wrap(base).other


@every_wrapper
def test_an_error_inside_a_property_surfaces(wrap):
    """Errors inside properties of a base, of a wrapped base and of a wrapper are raised; a default value would hide them."""
    broken = property(lambda self: self.misspelled)
    base = Index()
    wrapped = wrap(base)
    kinds = [type("Broken", (kind,), {"tags": broken}) for kind in (Index, type(wrapped))]
    own = {f.name: getattr(wrapped, f.name) for f in fields(wrapped)}
    with pytest.raises(AttributeError, match="no attribute 'misspelled'"):
        tags_of(wrap(kinds[0]()))
    with pytest.raises(AttributeError, match="no attribute 'misspelled'"):
        tags_of(kinds[1](**own))


@every_wrapper
@pytest.mark.parametrize("name", RETURNS)
def test_every_optional_method_is_the_bases(wrap, name):
    learner = wrap(Full())
    state, _ = steps(learner, 6)
    assert learner.wants == "loss"
    assert RETURNS[name](learner, state) == RETURNS[name](learner.base, state.base)


@every_wrapper
def test_a_wrapper_lacks_optional_members_that_its_base_lacks(wrap):
    plain = wrap(UniformArm())
    assert plain.report(steps(plain, 1)[0]) == {} and plain.caution(None) is None
    assert not hasattr(plain, "optimistic")
    wrap(Index()).validate(torch.eye(4)[None], None, None)


def test_wrappers_that_change_the_state_in_select_declare_it():
    """Even with a base whose ``prepares`` is False, ask/tell must call the ``select`` of such a wrapper."""
    for name in papers():  # imports the paper's wrappers
        paper_module(name, "cases")
    kinds = _wrappers_of("paperlib.")
    own = {kind.__name__ for kind in kinds if "prepares=True" in getsource(kind)}
    assert own == {"Multiscale", "Restarting"}


def _wrappers_of(room):
    found, new = set(), {Wrapper}
    while new := {kind for parent in new for kind in parent.__subclasses__()}:
        found |= new
    return {kind for kind in found if kind.__module__.startswith(room)}


class Counting(Index):
    """Learner with ``prepares=False`` that counts the calls of ``select``."""

    tags = Tags(prepares=False)
    asked = 0

    def select(self, state, arms, draw):
        type(self).asked += 1
        return super().select(state, arms, draw)


@every_wrapper
def test_a_wrapper_learns_from_an_action_of_the_user_without_select(wrap):
    Counting.asked = 0
    user = AskTell(wrap(Counting()), np.eye(4))
    user.tell(1, 1.0), user.tell(1, 1.0)  # Doubling starts an epoch in the second round
    assert Counting.asked == 0 and user.state.base.plays[0, 1] > 1


GRID = np.random.default_rng(0).random((60, 2))
KERNELIZED = BKB(RBF(30.0), Confidence(0.1, 2.0))
AROUND = {
    "alone": KERNELIZED,
    "Scripted": Scripted(KERNELIZED, Listed((0, 1)), 2),
    "Scripted by it": Scripted(KERNELIZED, KERNELIZED, 2),
    "Scripted twice": Scripted(Scripted(KERNELIZED, Listed((0,)), 1), Listed((0, 1)), 2),
    "Doubling": Doubling(KERNELIZED),
}


@pytest.mark.parametrize("name", AROUND)
def test_quantities_derived_from_the_arms_are_not_saved(name, tmp_path):
    user, path = AskTell(AROUND[name], GRID), tmp_path / "state.npz"
    for _ in range(4):
        user.tell(user.ask(), 0.5)
    assert any(key.endswith(".gram") for key, _ in list_leaves(user.state))
    user.save(path)
    with np.load(path) as file:
        assert not [key for key in file.files if key.endswith(".gram")]
        assert all(file[key].size < len(GRID) ** 2 for key in file.files)
    again = AskTell.load(path, AROUND[name])
    for _ in range(5):
        assert again.ask() == user.ask()
        again.tell(again.ask(), 0.25), user.tell(user.ask(), 0.25)


@dataclass(frozen=True)
class Slow(Index):
    """Learner that counts arms by index."""

    tags = Tags(fixed_arms=True)


def test_scripted_respects_a_learner_that_dictates():
    learner = Scripted(Index(), Slow(), 3)
    assert learner.tags.fixed_arms and not Scripted(Index(), Index(), 3).tags.fixed_arms
    with pytest.raises(ValueError, match="the same arms"):
        AskTell(learner, np.eye(4)).ask(np.eye(4)[::-1].copy())


@every_wrapper
def test_a_wrapper_is_described_by_all_its_fields(wrap):
    learner = wrap(Index(2.0))
    about = describe(learner)
    assert list(about) == ["kind", *(field.name for field in fields(learner))]
    assert list(about)[1] == "base" and about["base"] == describe(Index(2.0))
    assert about["kind"] == f"{type(learner).__module__}.{type(learner).__name__}"
    with pytest.raises(FrozenInstanceError):
        learner.base = Index()


@every_wrapper
@pytest.mark.parametrize("base", [None, 3, Index, "PF", Coins()], ids=lambda x: type(x).__name__)
def test_a_base_is_a_learner(wrap, base):
    with pytest.raises(ValueError, match="base must be a learner with the method update, got "):
        wrap(base)
