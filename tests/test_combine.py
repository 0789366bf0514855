"""Scripted: what is dictated is played, then the base goes on with all that it heard."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from toy import Coins, Index

from paperlib.combine import Scripted
from paperlib.core import take
from paperlib.play import Probe, play
from paperlib.reference import UniformArm
from paperlib.streams import Streams

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
ACTIONS = (3, 3, 0, 2)
ARM = {"arm": Probe(lambda seen: seen.action.double())}


def trace(learner, horizon=12, trials=3):
    return play(learner, Coins(4), horizon, trials, record="all", probes=ARM)


def steps(learner, count, trials=range(3), state=None, start=0):
    """Rounds played by hand, so that states can be looked at."""
    problem, streams = Coins(4), Streams(0, trials)
    world = problem.init(len(trials), 12, streams.at(-1), **TKWARGS)
    arms = problem.context(world, 0)
    state = learner.init(len(trials), arms, 12, streams.at(-1), **TKWARGS) if state is None else state
    heard = []
    for t in range(start, start + count):
        action, chosen = learner.select(state, arms, streams.at(t))
        reward, _ = problem.respond(world, t, action, "reward", streams.at(t))
        state = learner.update(chosen, arms, action, reward, streams.at(t))
        heard.append((action, reward))
    return state, heard


def test_dictated_actions_come_first_then_the_bases_own():
    played = trace(Scripted(Index(), ACTIONS, 4))["arm"]
    np.testing.assert_array_equal(played[:, :4], [ACTIONS] * 3)
    base, heard = Index(), steps(Scripted(Index(), ACTIONS, 4), 12)[1]
    arms, draw = torch.eye(4, **TKWARGS)[None], Streams(0, range(3)).at(0)
    state = base.init(3, arms, 12, draw, **TKWARGS)
    for t, (action, reward) in enumerate(heard):  # a base told the same chooses the same
        own, _ = base.select(state, arms, draw)
        assert t < 4 or torch.equal(own, action)
        state = base.update(state, arms, action, reward, draw)
    assert len({tuple(x.tolist()) for x, _ in heard[4:]}) > 1
    np.testing.assert_array_equal(played[:, 4:].T, [x.tolist() for x, _ in heard[4:]])


def test_the_base_hears_every_round():
    state, heard = steps(Scripted(Index(), ACTIONS, 4), 6)
    assert state.rounds == state.base.rounds == 6
    torch.testing.assert_close(state.base.rewards.view, torch.stack([reward for _, reward in heard], 1))
    counts = torch.stack([action for action, _ in heard], 1)
    torch.testing.assert_close(state.base.plays - 1, torch.stack([(counts == k).sum(1).double() for k in range(4)], 1))
    assert Scripted(Index(), ACTIONS, 4).report(state)["plays"].tolist() == [10.0] * 3


def test_no_dictated_round_is_the_base():
    np.testing.assert_array_equal(trace(Scripted(Index(), (), 0))["arm"], trace(Index())["arm"])


def test_a_learner_may_dictate():
    """Uniform play for five rounds draws what uniform play draws, and leaves the base what it learned."""
    learner = Scripted(Index(), UniformArm(), 5)
    played, uniform = trace(learner)["arm"], trace(UniformArm())["arm"]
    np.testing.assert_array_equal(played[:, :5], uniform[:, :5])
    assert (played[:, 5:] != uniform[:, 5:]).any() and len(np.unique(uniform[:, :5])) > 2
    assert steps(learner, 7)[0].base.rounds == 7


@pytest.mark.parametrize("actions", [ACTIONS, UniformArm()])
def test_a_running_state_can_be_sliced(actions):
    learner = Scripted(Index(), actions, 4)
    middle, _ = steps(learner, 2)
    whole, _ = steps(learner, 5, state=middle, start=2)
    part, _ = steps(learner, 5, trials=[2, 0], state=take(middle, [2, 0]), start=2)
    torch.testing.assert_close(part.base.plays, take(whole, [2, 0]).base.plays)
    torch.testing.assert_close(part.base.rewards.view, whole.base.rewards.view[[2, 0]])
    assert part.rounds == 7


def test_selecting_and_updating_leave_the_state_alone():
    state, _ = steps(Scripted(Index(), ACTIONS, 4), 3)
    before = state.base.plays.clone()
    steps(Scripted(Index(), ACTIONS, 4), 3, state=state, start=3)
    assert state.rounds == 3 and torch.equal(state.base.plays, before)


@dataclass(frozen=True)
class Wary(Index):
    """Refuses more than three arms, looks at its tensors, and wants losses."""

    wants = "loss"
    syncs = "per round"

    def validate(self, context, action, feedback):
        if context.shape[1] > 3:
            raise ValueError("arms: allowed: three")


def test_it_is_what_its_base_is():
    learner = Scripted(Wary(), (0,), 1)
    assert learner.wants == "loss" and learner.syncs == "per round" and Scripted(Index(), (0,), 1).syncs is None
    assert Scripted(UniformArm(), (0,), 1).report(None) == {}
    with pytest.raises(ValueError, match="three"):
        trace(learner)
    with pytest.raises(ValueError, match="three"):
        trace(Scripted(Index(), Wary(), 1))


@pytest.mark.parametrize(
    "field, value",
    [("rounds", -1), ("rounds", 4.0), ("rounds", 3), ("rounds", 5), ("actions", (0, 1)), ("actions", (0, 1, 2, -1)), ("actions", (0, 1, 2, 1.5)),
     ("actions", [3, 3, 0, 2]), ("actions", None)],
)
def test_fields_out_of_range_are_refused(field, value):
    named = "actions" if (field, value) in (("rounds", 3), ("rounds", 5)) else field
    with pytest.raises(ValueError, match=f"{named}=.*allowed"):
        replace(Scripted(Index(), ACTIONS, 4), **{field: value})


def test_an_arm_past_the_last_is_refused_before_the_first_round():
    with pytest.raises(ValueError, match="actions=4; allowed: 0..3"):
        trace(Scripted(Index(), (0, 4), 2))
    trace(Scripted(Index(), (0, 3), 2))
