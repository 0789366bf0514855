"""Contract tests, which every learner of every paper must pass.

The ``cases`` module of a paper declares ``CASES: dict[str, ContractCase]``. Every case is tested with its number of rounds
and trials.
"""

import dataclasses
import importlib
import inspect
import json
import pkgutil
import warnings

import numpy as np
import pytest
import torch
from device_form import shortcuts
from torch.utils._python_dispatch import TorchDispatchMode
from toy import Coins, Index

import paperlib
from companion.papers import paper_module, topics
from paperlib.asktell import AskTell
from paperlib.bkb.model.slots import join_trials
from paperlib.core.contracts import ContractCase, tags_of
from paperlib.core.describe import describe
from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.core.trees import list_leaves, pack, tree_map, tree_take, unpack
from paperlib.learners.wrapper import Wrapper
from paperlib.play import play

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def discover() -> dict[str, ContractCase]:
    found = {}
    for topic in topics():
        found |= {
            f"{topic}.{name}": case for name, case in paper_module(topic, "cases").CASES.items()
        }
    return found


CASES = discover()
SYNCS = {name: case.syncs for name, case in CASES.items()}
# Learners from other libraries take seconds per test, so they belong to the slow suite.
THIRD_PARTY = ("gp", "botorch_default", "sequential")


def cases(names):
    """Return names for ``parametrize``; learners from other libraries are marked slow."""
    slow = lambda name: type(CASES[name].learner).__module__.split(".")[-1] in THIRD_PARTY
    return [pytest.param(name, marks=[pytest.mark.slow] * slow(name)) for name in names]


def kind(name):
    """Return the class of a case's learner, followed by the classes that it wraps."""
    learner, found = CASES[name].learner, []
    while learner is not None:
        found.append(type(learner))
        learner = getattr(learner, "base", None)
    return tuple(found)


def first_of_each_kind():
    """Return one case of each kind of learner, without the learners from other libraries."""
    first = {kind(name): name for name in reversed(CASES)}
    own = lambda name: kind(name)[0].__module__.split(".")[-1] not in THIRD_PARTY
    return [name for name in CASES if first[kind(name)] == name and own(name)]


every_learner = pytest.mark.parametrize("name", cases(CASES))
# These tests take the longest, and other parameters of a learner rarely change their outcome.
every_kind = pytest.mark.parametrize("name", first_of_each_kind())


def horizon(case):
    """Return a power of two above the number of rounds, for example 64 for 50."""
    return 1 << case.rounds.bit_length()


def part(case, count):
    """Return the number of rounds of the case times ``count`` / 50, at least 1."""
    return max(1, case.rounds * count // 50)


class Steps:
    """A learner and a problem that are advanced manually, round by round."""

    def __init__(self, case, trials=None, device="cpu"):
        trials, rounds = range(case.trials) if trials is None else trials, horizon(case)
        self.learner, self.problem = case.learner, case.problem
        self.streams, self.t = Streams(0, trials, device), 0
        tkwargs, key = {"dtype": torch.float64, "device": device}, self.streams.at(-1)
        with torch.no_grad():
            self.instance = self.problem.init(len(trials), rounds, key, **tkwargs)
            self.state = self.learner.init(len(trials), self.context(), rounds, key, **tkwargs)

    def context(self):
        return self.problem.context(self.instance, self.t)

    def step(self, count=1):
        with torch.no_grad():
            for _ in range(count):
                draw, context = self.streams.at(self.t), self.context()
                self.action, chosen = self.learner.select(self.state, context, draw)
                self.feedback, self.gap = self.problem.respond(
                    self.instance, self.t, self.action, self.learner.wants, draw
                )
                self.state = self.learner.update(chosen, context, self.action, self.feedback, draw)
                self.t += 1
        return self


def numbers(tree):
    return {
        path: leaf.view if isinstance(leaf, Rows) else leaf
        for path, leaf in list_leaves(tree)
        if isinstance(leaf, (torch.Tensor, Rows))
    }


def copy(tree):
    return {path: value.clone() for path, value in numbers(tree).items()}


def assert_close(a, b, tolerance=1e-9):
    a, b = numbers(a), numbers(b)
    assert a.keys() == b.keys()
    for path in a:
        torch.testing.assert_close(
            a[path],
            b[path],
            rtol=tolerance,
            atol=tolerance,
            msg=lambda text, path=path: f"{path}: {text}",
        )


def comparable(state):
    """Return the state in a form that is equal on the CPU and on a GPU.

    A dictionary of BKB that is stored in parts is combined into one tensor without unused slots. The rows of a sketch are
    eigenvectors, whose sign is arbitrary. Therefore their products are compared.
    """
    if hasattr(state, "Z") and hasattr(state, "inverse"):
        state = state._replace(Z=join_trials(state.Z, state.inverse.shape[1]))
    if hasattr(state, "sketch"):
        state = state._replace(sketch=state.sketch.mT @ state.sketch)
    return state


def test_every_package_declares_cases():
    assert CASES and all(isinstance(case, ContractCase) for case in CASES.values())
    assert all(case.rounds >= 1 and case.trials >= 2 for case in CASES.values())


@every_learner
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [1, 50])
def test_shapes_dtypes_device(name, device, count):
    case = CASES[name]
    run = Steps(case, device=device).step(part(case, count))
    assert run.action.shape[0] == case.trials and run.action.device.type == device
    for path, value in numbers(run.state).items():
        assert value.shape[0] in (1, case.trials), f"{path} has shape {tuple(value.shape)}"
        assert value.device.type == device and value.dtype in (
            torch.float64,
            torch.int64,
            torch.bool,
        ), path
        assert value.dtype != torch.float64 or not value.isnan().any(), path
    for quantity, value in (
        run.learner.report(run.state) if hasattr(run.learner, "report") else {}
    ).items():
        assert value.shape[0] == case.trials, quantity
    if hasattr(run.learner, "optimistic"):
        assert run.learner.optimistic(run.state).shape == (case.trials,)


@every_learner
@pytest.mark.parametrize("device", DEVICES)
def test_learners_and_problems_are_pure(name, device):
    run = Steps(CASES[name], device=device).step(part(CASES[name], 5))
    draw, context = run.streams.at(run.t), run.context()
    before, arms = copy(run.state), copy(context)
    with torch.no_grad():
        action, chosen = run.learner.select(run.state, context, draw)
        held = copy(chosen)
        feedback, _ = run.problem.respond(run.instance, run.t, action, run.learner.wants, draw)
        first = run.learner.update(chosen, context, action, feedback, draw)
        second = run.learner.update(chosen, context, action, feedback, draw)
    for now, then in [(run.state, before), (chosen, held), (context, arms)]:
        assert all(torch.equal(value, then[path]) for path, value in numbers(now).items())
    assert all(torch.equal(value, numbers(second)[path]) for path, value in numbers(first).items())


@every_learner
@pytest.mark.parametrize("device", DEVICES)
def test_alone_equals_batched(name, device):
    case = CASES[name]
    # A trial in the middle differs from the first and from the last one, whose values others could receive.
    batch, middle = Steps(case, device=device).step(case.rounds), [case.trials // 2]
    alone = Steps(case, trials=middle, device=device).step(case.rounds)
    assert_close(alone.state, tree_take(batch.state, middle))


@every_kind
def test_permuted_trials_give_permuted_results(name):
    case = CASES[name]
    order = [case.trials - 1, *range(case.trials - 1)]
    a = play(case.learner, case.problem, part(case, 40), case.trials, record="all")
    b = play(case.learner, case.problem, part(case, 40), order, record="all")
    np.testing.assert_allclose(a["regret"][order], b["regret"], rtol=1e-9, atol=1e-9)


@every_kind
@pytest.mark.parametrize("device", DEVICES)
def test_a_running_state_can_be_sliced(name, device):
    case = CASES[name]
    ends = [case.trials - 1, 0]
    batch = Steps(case, device=device).step(part(case, 20))
    two = Steps(case, trials=ends, device=device)
    two.state, two.t = tree_take(batch.state, ends), batch.t
    two.step(part(case, 5)), batch.step(part(case, 5))
    assert_close(two.state, tree_take(batch.state, ends))


def base(learner):
    """Return the learner that a wrapper restarts, or the learner itself."""
    return learner.base if isinstance(learner, Wrapper) else learner


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [n for n in CASES if hasattr(base(CASES[n].learner), "restart")])
def test_a_restart_gives_fresh_rows_for_all_trials(name, device):
    case = CASES[name]
    run = Steps(case, device=device).step(part(case, 20))
    learner = base(case.learner)
    state = run.state if learner is case.learner else run.state.base
    before, kinds = (
        copy(state),
        lambda tree: [(path, type(leaf)) for path, leaf in list_leaves(tree)],
    )
    with torch.no_grad():
        fresh = learner.restart(state, run.context(), horizon(case), run.streams.at(run.t))
    assert all(torch.equal(value, before[path]) for path, value in numbers(state).items())
    assert type(fresh) is type(state) and kinds(fresh) == kinds(state)
    assert any(value.shape[0] == case.trials for value in numbers(fresh).values())
    for path, value in numbers(fresh).items():
        assert value.shape[0] in (1, case.trials), path
        assert value.shape[1:] == before[path].shape[1:], path
        assert (value.dtype, value.device) == (before[path].dtype, before[path].device), path


@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU here")
@every_learner
def test_a_gpu_has_the_same_state_as_the_cpu(name):
    """The CPU and the GPU have the same random draws (see ``core.streams``).

    Few rounds are compared, because a tie may be broken differently.
    """
    case = CASES[name]
    cpu, gpu = (Steps(case, device=device).step(part(case, 10)) for device in ("cpu", "cuda"))
    there = comparable(tree_map(lambda x: x.cpu(), gpu.state))
    assert_close(comparable(cpu.state), there, tolerance=1e-7)


@every_kind
def test_shortcuts_do_not_change_results(name):
    case = CASES[name]
    on = Steps(case).step(case.rounds)
    with shortcuts(False):
        off = Steps(case).step(case.rounds)
    assert_close(comparable(on.state), comparable(off.state))


def test_a_sketch_is_compared_up_to_the_signs_of_its_rows():
    """The sign of an eigenvector is arbitrary, and a GPU library may return the opposite one."""
    state = Steps(CASES["bkb.SOFUL 6"]).step(10).state
    flipped = state._replace(sketch=-state.sketch)
    assert_close(comparable(state), comparable(flipped))
    with pytest.raises(AssertionError):
        assert_close(comparable(state), comparable(state._replace(sketch=2 * state.sketch)))


@pytest.mark.parametrize("name", cases(n for n in CASES if SYNCS[n] != "host"))
def test_runs_on_meta(name):
    """On the meta device, a tensor left on the CPU or a branch on a value raises an error."""
    case, tkwargs = CASES[name], {"dtype": torch.float64, "device": "meta"}
    run = Steps(case).step()
    context, feedback = (
        tree_map(lambda x: x.to("meta"), tree) for tree in (run.context(), run.feedback)
    )
    draw = Streams(0, range(case.trials), "meta")
    with torch.no_grad():
        state = case.learner.init(case.trials, context, horizon(case), draw.at(-1), **tkwargs)
        for t in range(3):
            action, chosen = case.learner.select(state, context, draw.at(t))
            state = case.learner.update(chosen, context, action, feedback, draw.at(t))
    assert all(value.device.type == "meta" for value in numbers(state).values())


class NoLook(TorchDispatchMode):
    """Mode that raises an error if a value of a tensor is moved to Python, or if a shape depends on values."""

    looks = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.__name__
        masks = name.startswith(("index.", "index_put")) and any(
            x is not None and x.dtype == torch.bool for x in args[1]
        )
        if masks or any(name.startswith(look) for look in self.looks):
            raise AssertionError(f"host synchronization in {function}")
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", cases(n for n in CASES if SYNCS[n] is None))
def test_no_host_synchronization(name):
    run = Steps(CASES[name]).step(2)
    draw, context, arm = run.streams.at(run.t), run.context(), run.action
    with torch.no_grad(), shortcuts(False), NoLook():
        _, chosen = run.learner.select(run.state, context, draw)
        run.learner.update(chosen, context, arm, run.feedback, draw)


def test_the_synchronization_test_can_fail():
    x = torch.arange(3.0)
    for look in (
        lambda: x.sum().item(),
        lambda: bool(x.any()),
        lambda: x[x > 1],
        lambda: x.nonzero(),
    ):
        with pytest.raises(AssertionError, match="host synchronization"), NoLook():
            look()


@every_learner
def test_configuration_round_trip(name):
    learner = CASES[name].learner
    fields = {f.name: getattr(learner, f.name) for f in dataclasses.fields(learner)}
    again = type(learner)(**fields)
    assert describe(again) == describe(learner) == json.loads(json.dumps(describe(learner)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        learner.anything = 1


@every_learner
def test_state_round_trip(name, tmp_path):
    case = CASES[name]
    run, fresh = Steps(case).step(part(case, 20)), Steps(case)
    arrays, plain = pack(run.state)
    np.savez(tmp_path / "state.npz", **arrays)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        fresh.state, fresh.t = unpack(fresh.state, file, json.loads(json.dumps(plain))), run.t
    run.step(part(case, 10)), fresh.step(part(case, 10))
    assert_close(run.state, fresh.state, tolerance=0)


@every_learner
def test_non_finite_feedback_is_refused(name):
    case, instance = CASES[name], Steps(CASES[name], trials=[0])
    context = tree_map(lambda x: x[0], instance.context())
    user = AskTell(case.learner, context, horizon=horizon(case))
    for bad in (np.nan, np.inf):
        before, action = user.state, user.ask()
        with pytest.raises(
            ValueError, match="^feedback must be (an array of finite numbers|finite), got "
        ):
            user.tell(action, bad)
        assert user.state is before and user.rounds == 0


@every_learner
def test_a_saved_learner_continues_after_loading(name, tmp_path):
    case = CASES[name]
    run = Steps(case, trials=[0])
    arms = lambda t: tree_map(lambda x: x[0], run.problem.context(run.instance, t))
    begun = lambda: AskTell(case.learner, arms(0), horizon=horizon(case))

    def on(user, begin, end):
        asked = []
        for t in range(begin, end):
            action = user.ask(arms(t))
            asked.append(np.asarray(action).tolist())
            played = torch.as_tensor(action)[None]
            heard = run.problem.respond(
                run.instance, t, played, user.learner.wants, run.streams.at(t)
            )[0]
            user.tell(action, heard[0].numpy() if heard.dim() > 1 else heard.item())
        return asked

    user, half, end = begun(), part(case, 12), part(case, 18)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        on(user, 0, half)
        user.save(tmp_path / "state.npz")
        again = begun().restore(tmp_path / "state.npz")
        assert on(user, half, end) == on(again, half, end)
    assert_close(user.state, again.state, tolerance=0)


BAD_FIELDS = [
    (name, field, value)
    for name, case in CASES.items()
    for field, values in case.refused.items()
    for value in values
]


@pytest.mark.parametrize(
    "name, field, value", BAD_FIELDS, ids=[f"{n}-{f}={v}" for n, f, v in BAD_FIELDS]
)
def test_fields_out_of_range_are_refused(name, field, value):
    with pytest.raises(ValueError, match=rf"^(\w+, )*{field}(, \w+)* must .*, got "):
        dataclasses.replace(CASES[name].learner, **{field: value})


# ---- learners that identify arms by index --------------------------------------------------------


def with_switches(cases):
    """Yield every case, also with each Boolean setting of its learner inverted, because it may switch to counting by index."""
    for name, case in cases.items():
        yield name, case
        for field in dataclasses.fields(case.learner):
            value = getattr(case.learner, field.name)
            if isinstance(value, bool):
                try:
                    other = dataclasses.replace(case.learner, **{field.name: not value})
                except ValueError:  # for example, the link does not support it
                    continue
                yield f"{name}, {field.name}={not value}", case._replace(learner=other)


ON_ARMS = {
    name: case
    for name, case in with_switches(CASES)
    if isinstance(Steps(case, trials=[0]).context(), torch.Tensor)
}


def counts_by_index(case):
    """Return whether the state or the actions depend on the positions of the arms and not only on their features.

    Two learners receive the same rewards for the same arms. For one of them the order of the arms changes in every round.
    """
    straight, shuffled = Steps(case), Steps(case)
    rng, asked = np.random.default_rng(0), []
    with torch.no_grad():
        for t in range(part(case, 16)):
            draw, arms = straight.streams.at(t), straight.problem.context(straight.instance, t)
            order, arm = rng.permutation(arms.shape[1]), int(rng.integers(arms.shape[1]))
            asked += [case.learner.select(run.state, arms, draw)[0] for run in (straight, shuffled)]
            told = torch.full((case.trials,), arm)
            heard, _ = case.problem.respond(straight.instance, t, told, case.learner.wants, draw)
            there = torch.full_like(told, int(np.argsort(order)[arm]))
            for run, menu, index in ((straight, arms, told), (shuffled, arms[:, order], there)):
                _, chosen = case.learner.select(run.state, menu, draw)
                run.state = case.learner.update(chosen, menu, index, heard, draw)
    try:
        assert_close(straight.state, shuffled.state, tolerance=1e-6)
    except AssertionError:
        return True
    return any(not torch.equal(a, b) for a, b in zip(asked[::2], asked[1::2]))


@dataclasses.dataclass(frozen=True)
class Shuffled:
    """Problem whose arms are in another order in each round."""

    problem: object

    def init(self, trials, horizon, draw, **tkwargs):
        return self.problem.init(trials, horizon, draw, **tkwargs)

    def context(self, instance, t):
        return self.problem.context(instance, t).roll(t, 1)

    def respond(self, instance, t, action, wants, draw):
        arms = self.problem.context(instance, t).shape[1]
        return self.problem.respond(instance, t, (action - t) % arms, wants, draw)


@pytest.mark.parametrize("name", ON_ARMS)
def test_learners_that_count_by_index_have_the_tag_fixed_arms(name):
    case = ON_ARMS[name]
    counts, arms = counts_by_index(case), Steps(case, trials=[0]).context()[0]
    assert tags_of(case.learner).fixed_arms == counts
    user = AskTell(case.learner, arms, horizon=horizon(case))
    if not counts:
        user.ask(arms.flip(0))
        play(case.learner, Shuffled(case.problem), 2, case.trials)
        return
    with pytest.raises(
        ValueError,
        match="^context must contain the same arms .* counts pulls by index, got other arms",
    ):
        user.ask(arms.flip(0))
    with pytest.raises(
        ValueError,
        match="^problem must have the same arms .* by index, got .* other arms in round 2 than in the first",
    ):
        play(case.learner, Shuffled(case.problem), 2, case.trials)


def test_a_missing_tag_fixed_arms_is_detected():
    assert counts_by_index(ContractCase(Index(), Coins())) and not tags_of(Index()).fixed_arms


def learner_classes():
    """Yield every class of the package that is a learner: a dataclass with ``update`` that is not abstract."""
    for found in pkgutil.walk_packages(paperlib.__path__, "paperlib."):
        if ".learners" in found.name:  # a package, or the module of a small paper
            for kind in vars(importlib.import_module(found.name)).values():
                own = getattr(kind, "__module__", "") == found.name and isinstance(kind, type)
                made = own and dataclasses.is_dataclass(kind) and not inspect.isabstract(kind)
                if made and hasattr(kind, "update"):
                    yield kind


def test_every_learner_has_a_case():
    held, found = set(), [case.learner for case in CASES.values()]
    while found:
        learner = found.pop()
        held.add(type(learner))
        found += [getattr(learner, name) for name in ("base", "actions") if hasattr(learner, name)]
    assert sorted(kind.__name__ for kind in learner_classes() if kind not in held) == []
