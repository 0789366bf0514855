"""Tests of joining trees by trial, and of leaves that trials share."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paperlib.core.linalg import Rows
from paperlib.core.trees import check_unshared, state_bytes, tree_where


class Inner(NamedTuple):
    theta: torch.Tensor  # R x 2
    clock: torch.Tensor  # int64, R


class State(NamedTuple):
    base: Inner
    history: Rows  # R x 2 x 2
    pair: tuple
    name: str
    rate: float


def state(trials, first=0.0, **fields):
    """Return a state whose rows all have different numbers, starting at ``first``."""
    row = first + torch.arange(trials, dtype=torch.float64)
    inner = Inner(torch.stack([row, row + 0.25], 1), row.long())
    history = Rows.of(row.view(-1, 1, 1).expand(-1, 2, 2) + torch.arange(2.0).view(1, 2, 1) / 8)
    return State(inner, history, (row > 2, None), "kept", float("nan"))._replace(**fields)


def rows(tree):
    """Return the numbers of each trial as Python lists."""
    parts = tree.base.theta, tree.base.clock, tree.history.view, tree.pair[0]
    return list(zip(*(part.tolist() for part in parts)))


# ---- tree_where ----------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_where_takes_rows_of_the_first_where_the_mask_holds(mask):
    a, b = state(len(mask)), state(len(mask), 100.0)
    found = tree_where(torch.tensor(mask), a, b)
    assert rows(found) == [x if m else y for m, x, y in zip(mask, rows(a), rows(b))]
    assert type(found) is State and found.name == "kept" and found.pair[1] is None
    assert found.base.clock.dtype == torch.int64
    assert rows(a) == rows(state(len(mask))) and rows(b) == rows(state(len(mask), 100.0))


def test_where_by_hand():
    found = tree_where(torch.tensor([True, False, False]), state(3), state(3, 10.0))
    assert found.base.clock.tolist() == [0, 11, 12]
    assert found.history.view[:, 1, 0].tolist() == [0.125, 11.125, 12.125]


def test_where_gives_shared_tensors_one_row_per_trial():
    mask, one, other = torch.tensor([True, False]), torch.ones(1, 3), torch.zeros(1, 3)
    assert tree_where(mask, (one,), (other,))[0].tolist() == [[1, 1, 1], [0, 0, 0]]
    assert tree_where(mask, (one,), (torch.full((2, 3), 5.0),))[0].tolist() == [
        [1, 1, 1],
        [5, 5, 5],
    ]
    assert tree_where(mask, (one,), (one,))[0] is one


def test_joined_histories_continue_separately():
    a, b = state(2), state(2, 10.0)
    found = tree_where(torch.tensor([True, False]), a, b)
    longer = found.history.append(torch.full((2, 2), 7.0, dtype=torch.float64))
    assert longer.n == 3 and a.history.n == found.history.n == 2
    assert a.history.append(torch.zeros(2, 2)).view[0, 2].tolist() == [0, 0]
    assert longer.view[0, 2].tolist() == [7, 7]


# ---- trees that cannot be joined -----------------------------------------------------------------

LONGER = state(2).history.append(torch.zeros(2, 2, dtype=torch.float64))
TRUE, CLOCK = torch.tensor([True, True]), torch.arange(2)
NARROW, MANY = torch.ones(2, 1, dtype=torch.float64), torch.ones(3, 2, dtype=torch.float64)
UNLIKE = {
    "lengths": (
        {"history": LONGER},
        r"state.history must have the same dtype and shape .*, got .*\(2, 2, 2\) and .*\(2, 3, 2\)",
    ),
    "plain": (
        {"name": "other"},
        "state.name must have one value, which all trials share, got 'kept' and 'other'",
    ),
    "number": (
        {"rate": 1.0},
        "state.rate must have one value, which all trials share, got nan and 1.0",
    ),
    "kind": ({"rate": 1}, "state.rate must have the same type in both trees, got float and int"),
    "parts": (
        {"pair": (TRUE,)},
        "the two trees must have the same structure, but only one of them has state.pair.1",
    ),
    "none": (
        {"pair": (TRUE, 1)},
        "state.pair.1 must have the same type in both trees, got NoneType and int",
    ),
    "dtype": (
        {"pair": (torch.ones(2), None)},
        "state.pair.0 must have the same dtype .*, got .*bool.*float32",
    ),
    "shape": (
        {"base": Inner(NARROW, CLOCK)},
        r"state.base.theta must have the same dtype and shape .*, got .*\(2, 2\).*\(2, 1\)",
    ),
    "rows": (
        {"base": Inner(MANY, CLOCK)},
        r"state.base.theta must have .* with 2 rows or 1, got .*\(3, 2\)",
    ),
}


@pytest.mark.parametrize("fields, said", UNLIKE.values(), ids=UNLIKE)
def test_trees_with_different_structure_are_rejected_by_path(fields, said):
    with pytest.raises(ValueError, match=said):
        tree_where(torch.tensor([True, False]), state(2), state(2, **fields))


@pytest.mark.parametrize("trials", [2, 4])
def test_rows_for_other_trials_are_refused(trials):
    shape = rf"shape \({trials}, 2\)"
    with pytest.raises(
        ValueError,
        match=f"state.base.theta must have .* with 3 rows or 1, got .*{shape} and .*{shape}",
    ):
        tree_where(torch.tensor([True] * 3), state(trials), state(trials))


# ---- leaves that trials share --------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree, trials, shared",
    [
        (state(3), 3, "state.history, state.name, state.rate. "),
        (
            (torch.ones(1, 2), torch.ones(3), torch.tensor(1.0), 4, None),
            3,
            "state.0, state.2, state.3. ",
        ),
        (state(3).base, 2, "state.theta, state.clock. "),
    ],
)
def test_shared_leaves_are_named(tree, trials, shared):
    with pytest.raises(
        ValueError, match=f"^base must be a learner .*, got Own, whose trials share {shared}"
    ):
        check_unshared("Own", tree, trials)


def test_a_base_with_shared_tensors_is_rejected():
    check_unshared("Own", state(3).base, 3)
    with pytest.raises(
        ValueError,
        match="^base must be a learner .* with 3 rows.*, got Clocked, whose trials share state.1. ",
    ):
        check_unshared("Clocked", (torch.ones(3), 5), 3)


def test_bytes_count_only_stored_rows():
    assert state_bytes(state(3)) == 3 * (2 * 8 + 8 + 4 * 8 + 1)
