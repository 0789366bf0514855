"""Tests of trees of tensors, traces and histories of rows."""

import functools
import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy import Coins, Index

from companion import store
from paperlib.core.contracts import declared_size
from paperlib.core.describe import describe
from paperlib.core.linalg import (
    Rows,
    add_rank_one,
    arm_dot,
    arm_quadratic,
    as_scalar,
    pick_device,
    take_arm,
)
from paperlib.core.trace import Trace
from paperlib.core.trees import pack, tree_take, unpack
from paperlib.glbomd import SphereArms
from paperlib.learners.reference import UniformArm
from paperlib.play import play


class Inner(NamedTuple):
    theta: torch.Tensor
    rows: Rows


class Outer(NamedTuple):
    base: Inner
    shared: torch.Tensor
    rounds: int
    name: str | None
    pair: tuple


def tree(trials=3):
    rows = Rows.empty(trials, 2, dtype=torch.float64)
    for k in range(70):
        rows = rows.append(torch.full((trials, 2), float(k), dtype=torch.float64))
    return Outer(
        Inner(torch.arange(6.0).reshape(trials, 2), rows),
        torch.ones(1, 4),
        5,
        None,
        (torch.arange(trials), 1.5),
    )


def test_take_keeps_what_is_shared():
    part = tree_take(tree(), [2, 0])
    assert (
        part.base.theta.tolist() == [[4, 5], [0, 1]]
        and part.shared.shape == (1, 4)
        and part.pair[0].tolist() == [2, 0]
    )
    assert part.base.rows.view.shape == (2, 70, 2) and part.rounds == 5 and part.name is None


def test_pack_and_unpack_are_inverse(tmp_path):
    full = tree()
    arrays, plain = pack(full)
    np.savez(tmp_path / "state.npz", **arrays)
    empty = Outer(
        Inner(torch.zeros(3, 2), Rows.empty(3, 2, dtype=torch.float64)),
        torch.zeros(1, 4),
        0,
        None,
        (torch.zeros(3), 0.0),
    )
    back = unpack(empty, np.load(tmp_path / "state.npz"), json.loads(json.dumps(plain)))
    assert torch.equal(back.base.rows.view, full.base.rows.view) and torch.equal(
        back.base.theta, full.base.theta
    )
    assert (
        back.rounds == 5
        and back.name is None
        and back.pair[1] == 1.5
        and back.pair[0].dtype == torch.int64
    )


def test_pack_rejects_values_it_cannot_store():
    with pytest.raises(
        ValueError, match=r"state.base must be a tensor, Rows, int, float,.*, got \{'a': 1\}"
    ):
        pack(tree()._replace(base={"a": 1}))


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5)), max_size=80))
def test_rows_behave_like_lists(steps):
    """Appending to an earlier state never changes another state. Python lists are the reference."""
    states = [(Rows.empty(2, dtype=torch.float64), [])]
    for back, value in steps:
        rows, reference = states[max(0, len(states) - 1 - back)]
        states.append(
            (rows.append(torch.tensor([value, -value], dtype=torch.float64)), reference + [value])
        )
    for rows, reference in states:
        assert rows.view[0].tolist() == reference and (-rows.view[1]).tolist() == reference


def test_describe_is_json_and_distinguishes_configurations():
    @dataclass(frozen=True)
    class Config:
        rate: float
        f: object = torch.sigmoid
        table: torch.Tensor = torch.zeros(2)

    one = describe(Config(0.1))
    assert json.loads(json.dumps(one)) == one and one != describe(Config(0.2))
    assert describe(functools.partial(min, 3)) != describe(functools.partial(min, 4))
    with pytest.raises(
        ValueError,
        match="a configuration must consist of numbers, strings,.*, got <object object at",
    ):
        describe(object())


def trace(trials, seconds=1.0, seed=0):
    values = np.arange(len(trials) * 2.0).reshape(len(trials), 2)
    return Trace(
        np.array([1, 5]),
        {"regret": values},
        {"end": values[:, 0]},
        np.array([seconds, seconds]),
        list(trials),
        {"seed": seed, "trials": list(trials)},
    )


def test_trace_saves_loads_and_merges(tmp_path):
    a, b = trace([0, 1]), trace([2, 3, 4], seconds=2.0)
    a.save(tmp_path / "a.npz")
    again = Trace.load(tmp_path / "a.npz")
    assert again.equal(a) and again.about == a.about and not again.equal(b)
    both = Trace.merge([a, b])
    assert (
        both["regret"].shape == (5, 2)
        and both["end"].shape == (5,)
        and both.trials == [0, 1, 2, 3, 4]
        and both.seconds.tolist() == [3, 3]
    )
    assert "5 trials" in repr(both)
    with pytest.raises(ValueError, match="chunks of one run"):
        Trace.merge([a, trace([2], seed=1)])


def test_seconds_do_not_count_for_equality():
    assert trace([0], seconds=1.0).equal(trace([0], seconds=9.0))


@pytest.mark.parametrize("shared", [True, False])
def test_products_over_arms(shared):
    generator = torch.Generator().manual_seed(0)
    arms = torch.randn(1 if shared else 3, 4, 2, generator=generator, dtype=torch.float64)
    v = torch.randn(3, 2, generator=generator, dtype=torch.float64)
    A = torch.randn(3, 2, 2, generator=generator, dtype=torch.float64)
    full, index = arms.expand(3, 4, 2), torch.tensor([0, 3, 1])
    torch.testing.assert_close(arm_dot(arms, v), torch.einsum("rkd,rd->rk", full, v))
    torch.testing.assert_close(
        arm_quadratic(arms, A), torch.einsum("rkd,rde,rke->rk", full, A, full)
    )
    assert torch.equal(take_arm(arms, index), full[torch.arange(3), index])
    torch.testing.assert_close(
        add_rank_one(A, v, torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64))[1],
        A[1] + 2 * torch.outer(v[1], v[1]),
    )


def test_device_names():
    assert pick_device("cpu") == pick_device("auto") == "cpu"
    with pytest.raises(
        ValueError, match="device must be 'auto', 'cpu', 'cuda' or 'cuda:N'.*, got 'tpu'"
    ):
        pick_device("tpu")


def test_auto_takes_cuda_for_many_trials_of_a_known_size_alone(monkeypatch):
    large = {"trials": 4000, "arms": 20, "dim": 5}
    assert pick_device("auto", **large) == "cuda" or not torch.cuda.is_available()
    for here in (False, True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda here=here: here)
        assert pick_device("auto", **large) == ("cuda" if here else "cpu")
        for small in ({}, large | {"dim": None}, large | {"trials": None}, large | {"trials": 20}):
            assert pick_device("auto", **small) == "cpu"
    assert pick_device("auto", 3017, 20, 5) == "cpu" and pick_device("auto", 3018, 20, 5) == "cuda"
    # Products in 50 dimensions take more time on the CPU.
    assert pick_device("auto", 100, 20, 50) == "cuda"
    assert pick_device("cuda") == "cuda" and pick_device("cpu", **large) == "cpu"


def test_auto_is_settled_by_the_size_of_what_is_played(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    asked, picked = [], lambda *size: asked.append(size) or "cpu"
    monkeypatch.setattr("paperlib.play.pick_device", picked)
    monkeypatch.setattr("companion.store.results.pick_device", picked)
    problem = SphereArms(dim=3, arms=4)
    play(UniformArm(), problem, 2, 5, device="auto")
    play(UniformArm(), Coins(), 2, 5, device="auto")
    assert asked == [("auto", 5, 4, 3), ("auto", 5, *declared_size(Coins()))]
    learners, trials = {"few": UniformArm(), "many": UniformArm()}, {"few": 2, "many": 9}
    asked.clear()
    store.run(problem, learners, 2, trials, chunk=6, device="auto")
    assert asked[0] == ("auto", 6, 4, 3)  # the size of one batch, for any number of trials
    assert {size[0] for size in asked[1:]} == {"cpu"}


def test_toys_are_configurations():
    assert describe(Coins()) != describe(Coins(5)) and describe(Index())["kind"] == "toy.Index"


def test_describe_distinguishes_precision():
    assert (
        describe(torch.zeros(2)) != describe(torch.zeros(2, dtype=torch.float64))
        and describe(np.float64(1.5)) == 1.5
    )


def test_a_function_without_a_source_cannot_be_described():
    names = {"__name__": "__main__"}
    # as if typed at Python's prompt
    exec(compile("probe = lambda round: round.t", "<stdin>", "exec"), names)
    with pytest.raises(
        ValueError,
        match="a function of a configuration must be defined in.*, got <function <lambda> at",
    ):
        describe(names["probe"])


def test_a_trace_is_read_at_its_rounds():
    trace = Trace(
        np.array([2, 5, 9]),
        {"regret": np.arange(6.0).reshape(2, 3)},
        {},
        np.array([0.1, 0.2, 0.4]),
        [0, 1],
        {},
    )
    assert (
        trace.last().tolist() == [2.0, 5.0]
        and trace.at(5).tolist() == [1.0, 4.0]
        and trace.at(0).tolist() == [0.0, 0.0]
    )
    thin = trace.thin([2, 9])
    assert (
        thin.rounds.tolist() == [2, 9]
        and thin["regret"].tolist() == [[0.0, 2.0], [3.0, 5.0]]
        and thin.seconds.tolist() == [0.1, 0.4]
    )
    with pytest.raises(
        ValueError,
        match=r"^rounds must be recorded rounds, got \[3\]. The recorded rounds are \[2, 5, 9\]",
    ):
        trace.at(3)


def test_a_trace_in_long_form_has_a_row_a_trial_and_round():
    series = {"regret": np.array([[1.0, 2.0], [3.0, 4.0]]), "m": np.arange(8.0).reshape(2, 2, 2)}
    trace = Trace(np.array([5, 9]), series, {}, np.zeros(2), [7, 3], {})
    table = trace.to_pandas()
    assert list(table) == ["trial", "round", "regret", "m.0", "m.1"]
    assert table.values.tolist() == [
        [7, 5, 1, 0, 1],
        [7, 9, 2, 2, 3],
        [3, 5, 3, 4, 5],
        [3, 9, 4, 6, 7],
    ]


@pytest.mark.parametrize("name", ["trial", "round", "m.1"])
def test_two_columns_of_one_name_are_refused(name):
    series = {"m": np.zeros((1, 2, 2)), name: np.zeros((1, 2))}
    with pytest.raises(
        ValueError, match=f"^the columns of series '{name[:1]}.* must have names .*, got .*{name}"
    ):
        Trace(np.array([1, 2]), series, {}, np.zeros(2), [0], {}).to_pandas()


def test_one_number_is_a_float_and_several_stay_an_array():
    """Arithmetic with floats is faster than with arrays of one number."""
    one, two = np.array([0.5]), np.array([0.5, 1.0])
    assert type(as_scalar(one)) is float and as_scalar(one) == 0.5
    assert as_scalar(two) is two and as_scalar(tensor := torch.ones(1)) is tensor
