"""Tests of ``load``, which builds an object from a file, a learner and, unless it consists of arrays, a context."""

import json

import numpy as np
import pytest
import torch
from toy import Index

from paperlib import bkb, glbomd, goucb, linear, nsbco, pfbco
from paperlib.asktell import AskTell, Optimizer
from paperlib.asktell.trial import _differing
from paperlib.core.files import parse_npz
from paperlib.maths.bounds import Bounds

ARMS = np.random.default_rng(1).normal(size=(7, 2)) / 4
DISK = pfbco.oracle_set(lambda c: -c / max(np.linalg.norm(c), 1e-300), [0.0, 0.0], 1.0)
BALL = nsbco.ball([1.0, 2.0], 2.0)
ALONE = (pfbco.Optimizer, nsbco.Optimizer)  # their ``tell`` takes no action
LEARNERS = [Index(), linear.OFUL(0.1, 1.0), glbomd.GLBOMD(glbomd.Bernoulli(), 2.0)]
LEARNERS += [glbomd.UCB1(), bkb.LazyBKB(bkb.RBF(3.0), bkb.Confidence(0.1, 2.0))]
LEARNERS += [bkb.ContextualBKB(bkb.RBF(3.0), bkb.Confidence(0.1, 2.0))]
PAPERS = {
    "pfbco": (pfbco.Optimizer, (DISK,), {"loss_bound": 2.0, "seed": 3}),
    "nsbco": (nsbco.Optimizer, (BALL, 0.25, 0.5, 0.035), {"policy": "master", "seed": 3}),
}


def go_on(user, rounds=4):
    seen = []
    for t in range(rounds):
        seen.append(action := user.ask())
        user.tell(t % 2) if isinstance(user, ALONE) else user.tell(action, t % 2)
    return [np.asarray(x).tolist() for x in seen]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda x: type(x).__name__)
def test_a_file_and_its_learner_are_enough_where_the_context_is_arms(learner, tmp_path):
    kind = bkb.Optimizer if hasattr(learner, "predict") else AskTell
    user = kind(learner, ARMS, horizon=40, seed=3)
    go_on(user)
    user.save(path := tmp_path / "state.npz")
    again = kind.load(path, learner)
    assert type(again) is kind and (again.rounds, again.horizon, again.seed) == (4, 40, 3)
    assert torch.equal(again.context, user.context) and go_on(again) == go_on(user)
    again.save(path)  # the loaded trial can be saved like the original one
    assert kind(learner, ARMS, 40, 3).restore(path).rounds == 8


@pytest.mark.parametrize("paper", PAPERS)
def test_an_optimizer_is_built_of_its_arguments_and_restored(paper, tmp_path):
    kind, arguments, named = PAPERS[paper]
    user = kind(*arguments, **named)
    go_on(user)
    user.save(path := tmp_path / "state.npz")
    again = kind.load(path, *arguments, **named)
    assert type(again) is kind and again.rounds == 4 and go_on(again) == go_on(user)
    with pytest.raises(
        ValueError,
        match="^path must be a file saved by a learner with seed=4, got '.*', saved by .* seed=3$",
    ):
        kind.load(path, *arguments, **named | {"seed": 4})
    others = {
        "pfbco": ((pfbco.Ball.of(2),), {"loss_bound": 2.0}, "set="),
        "nsbco": ((nsbco.ball([1.0, 2.0], 3.0), *arguments[1:]), {"policy": "master"}, "domain"),
    }
    there, settings, match = others[paper]
    with pytest.raises(
        ValueError, match=f"^path must be a file saved by .*, saved by a learner with {match}"
    ):
        kind.load(path, *there, **settings, seed=3)


def test_the_first_sizes_are_used_if_arms_were_added(tmp_path):
    user = AskTell(glbomd.GLBOMD(glbomd.Bernoulli(), 2.0), ARMS)
    for arms in (ARMS[:4], np.vstack([ARMS, ARMS / 2])):
        user.tell(user.ask(arms), 1.0)
        user.save(path := tmp_path / "state.npz")
        again = AskTell.load(path, user.learner)
        assert again.context.shape == user.context.shape and again._first.shape == (1, 7, 2)
        assert go_on(again) == go_on(AskTell(user.learner, ARMS).restore(path))


def test_prepare_is_not_applied_to_a_context_from_a_file(tmp_path):
    half = lambda arms: arms / 2
    AskTell(glbomd.UCB1(), ARMS, prepare=half).save(path := tmp_path / "state.npz")
    assert AskTell.load(path, glbomd.UCB1(), prepare=half).rounds == 0  # UCB1 recognizes its arms
    user = AskTell(Index(), ARMS, prepare=half)
    user.save(path)
    again = AskTell.load(path, Index(), prepare=half)
    assert torch.equal(again.context, user.context)
    again.ask(4 * ARMS)
    assert torch.equal(again.context[0], torch.from_numpy(2 * ARMS))
    assert torch.equal(AskTell.load(path, Index(), ARMS, prepare=half).context, user.context)


def test_a_tuple_of_tensors_is_saved_and_a_named_tuple_must_be_passed(tmp_path):
    class Pair(Index):
        def init(self, trials, both, horizon, draw, **tkwargs):
            return super().init(trials, both[0], horizon, draw, **tkwargs)

    arms, more = torch.from_numpy(ARMS), torch.ones(2)
    user = AskTell(Pair(), (arms, more))
    user.save(path := tmp_path / "pair.npz")
    assert torch.equal(AskTell.load(path, Pair()).context[1], more[None])
    AskTell(Pair(), (arms, lambda x: x)).save(path)
    box = Bounds(torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64))
    Optimizer(goucb.GP(3, "modern", "EI"), box).save(other := tmp_path / "box.npz")
    for file, learner, context in (
        (path, Pair(), (arms, len)),
        (other, goucb.GP(3, "modern", "EI"), box),
    ):
        with pytest.raises(
            ValueError, match="context must be the one that the saved learner.*, got None"
        ):
            AskTell.load(file, learner)
        assert AskTell.load(file, learner, context).rounds == 0


def test_files_of_another_learner_are_rejected(tmp_path):
    AskTell(Index(bonus=3.0), ARMS, horizon=9, seed=1).save(path := tmp_path / "state.npz")
    load = lambda *a, **k: AskTell.load(path, *a, **k)
    assert load(Index(bonus=3.0), horizon=9, seed=1).rounds == 0
    for settings, match in (
        ({"learner": Index()}, r" with learner.bonus=1.0, got .* with learner.bonus=3.0$"),
        ({"learner": glbomd.UCB1()}, "learner.kind="),
        ({"seed": 2}, " with seed=2, got .* with seed=1$"),
        ({"horizon": 8}, " with horizon=8, got .* with horizon=9$"),
        ({"context": np.eye(3)[:, :2]}, "contains state.plays of shape"),
        ({"context": np.eye(7)}, "first context has 7 dimensions, .*, got "),
    ):
        with pytest.raises(ValueError, match=f"^path( must|=).*{match}"):
            load(**{"learner": Index(bonus=3.0)} | settings)
    with pytest.raises(
        ValueError,
        match=r"learner must be an instance, for example Index\(...\), got the class Index",
    ):
        load(Index)
    with pytest.raises(FileNotFoundError):
        AskTell.load(tmp_path / "none.npz", Index())
    with pytest.raises(ValueError, match="^path must be the name of a file or a Path, got None"):
        AskTell.load(None, Index())


def test_arms_of_a_learner_that_counts_by_index_are_known_again(tmp_path):
    AskTell(glbomd.UCB1(), ARMS).save(path := tmp_path / "state.npz")
    assert AskTell.load(path, glbomd.UCB1(), ARMS).rounds == 0
    with pytest.raises(
        ValueError,
        match="^path must be a file saved by a learner with arms=.*, got '.*', saved by a learner with arms=",
    ):
        AskTell.load(path, glbomd.UCB1(), ARMS / 2)


HEADS = {"horizon": "x", "seed": -1, "first": [10**9, 10**9], "plain": None, "rounds": -1}
ODD = [("head", *item) for item in HEADS.items()]
ODD += [("head", "first", [0, 2]), ("head", "first", ["7", 2]), ("head", "seed", True)]
ODD += [("array", "context", x) for x in (np.ones(()), np.ones((1, 7)), np.full((1, 7, 2), np.nan))]


@pytest.mark.parametrize("part, name, value", ODD)
def test_damaged_files_are_refused_by_name(part, name, value, tmp_path):
    user = AskTell(Index(), ARMS, horizon=40)
    go_on(user)
    user.save(path := tmp_path / "state.npz")
    head, arrays = parse_npz(path.read_bytes())
    (head if part == "head" else arrays)[name] = value
    with open(path, "wb") as file:
        np.savez(file, head=np.array(json.dumps(head)), **arrays)
    with pytest.raises(
        ValueError, match="^path must be a complete file that save wrote, got '.*state.npz'"
    ):
        AskTell.load(path, Index())


@pytest.mark.parametrize("cut", [0, 1, 100, 1000])
def test_half_a_file_is_refused(cut, tmp_path):
    AskTell(Index(), ARMS).save(path := tmp_path / "state.npz")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(
        ValueError, match="^path must be a complete file that save wrote, got '.*state.npz'"
    ):
        AskTell.load(path, Index())


def test_files_of_earlier_versions_have_functions_without_their_captured_values():
    function = {"kind": "lambda x: factor * x", "captured": {"factor": 2.0}, "defaults": []}
    here = {"learner": {"rule": function}}
    assert _differing({"learner": {"rule": function["kind"]}}, here) == {}
    assert list(_differing({"learner": {"rule": "lambda x: x"}}, here)) == ["learner.rule"]
    other = {"learner": {"rule": function | {"captured": {"factor": 3.0}}}}
    assert list(_differing(other, here)) == ["learner.rule.captured.factor"]
