"""Trees joined by trial: where, take and scatter, and what trials share."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paperlib.core.linalg import Rows
from paperlib.core.trees import refuse_shared, scatter, shared, state_bytes, take, where

ROWS = st.integers(1, 5)


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
    """Every row is told from every other by its numbers, which begin at ``first``."""
    row = first + torch.arange(trials, dtype=torch.float64)
    inner = Inner(torch.stack([row, row + 0.25], 1), row.long())
    history = Rows.of(row.view(-1, 1, 1).expand(-1, 2, 2) + torch.arange(2.0).view(1, 2, 1) / 8)
    return State(inner, history, (row > 2, None), "kept", float("nan"))._replace(**fields)


def rows(tree):
    """Every trial's numbers, in Python."""
    parts = tree.base.theta, tree.base.clock, tree.history.view, tree.pair[0]
    return list(zip(*(part.tolist() for part in parts)))


# ---- where ---------------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_where_takes_rows_of_the_first_where_the_mask_holds(mask):
    a, b = state(len(mask)), state(len(mask), 100.0)
    found = where(torch.tensor(mask), a, b)
    assert rows(found) == [x if m else y for m, x, y in zip(mask, rows(a), rows(b))]
    assert type(found) is State and found.name == "kept" and found.pair[1] is None
    assert found.base.clock.dtype == torch.int64
    assert rows(a) == rows(state(len(mask))) and rows(b) == rows(state(len(mask), 100.0))


def test_where_by_hand():
    found = where(torch.tensor([True, False, False]), state(3), state(3, 10.0))
    assert found.base.clock.tolist() == [0, 11, 12]
    assert found.history.view[:, 1, 0].tolist() == [0.125, 11.125, 12.125]


def test_where_gives_what_was_shared_rows_of_its_own():
    mask, one, other = torch.tensor([True, False]), torch.ones(1, 3), torch.zeros(1, 3)
    assert where(mask, (one,), (other,))[0].tolist() == [[1, 1, 1], [0, 0, 0]]
    assert where(mask, (one,), (torch.full((2, 3), 5.0),))[0].tolist() == [[1, 1, 1], [5, 5, 5]]
    assert where(mask, (one,), (one,))[0] is one


def test_joined_histories_go_on_apart():
    a, b = state(2), state(2, 10.0)
    found = where(torch.tensor([True, False]), a, b)
    longer = found.history.append(torch.full((2, 2), 7.0, dtype=torch.float64))
    assert longer.n == 3 and a.history.n == found.history.n == 2
    assert a.history.append(torch.zeros(2, 2)).view[0, 2].tolist() == [0, 0]
    assert longer.view[0, 2].tolist() == [7, 7]


# ---- take and scatter ----------------------------------------------------------------------------


@given(ROWS, st.data())
def test_scatter_replaces_the_given_trials_and_no_other(trials, data):
    index = data.draw(st.lists(st.integers(0, trials - 1), unique=True, max_size=trials))
    tree, other = state(trials), state(len(index), 100.0)
    found, expected = scatter(tree, torch.tensor(index, dtype=torch.int64), other), rows(tree)
    for at, row in zip(index, rows(other)):
        expected[at] = row
    assert rows(found) == expected and rows(tree) == rows(state(trials)) and type(found) is State


@given(st.integers(2, 5), st.data())
def test_what_was_taken_can_be_put_back(trials, data):
    index = data.draw(st.lists(st.integers(0, trials - 1), unique=True, min_size=1))
    tree, other = state(trials), state(trials, 100.0)
    pairs = enumerate(zip(rows(tree), rows(other)))
    expected = [x if i in index else y for i, (x, y) in pairs]
    assert rows(scatter(other, index, take(tree, index))) == expected
    assert rows(scatter(tree, index, take(tree, index))) == rows(tree)


def test_scatter_puts_a_tree_on_another_order_of_itself():
    tree = state(3)
    assert rows(scatter(tree, [2, 0, 1], tree)) == [rows(tree)[i] for i in (1, 2, 0)]


def test_scatter_gives_what_was_shared_rows_of_its_own_unless_it_is_the_same():
    one, own = torch.ones(1, 2), torch.arange(3.0)
    found = scatter((one, own), [1], (torch.zeros(1, 2), torch.tensor([9.0])))
    assert found[0].tolist() == [[1, 1], [0, 0], [1, 1]] and found[1].tolist() == [0, 9, 2]
    assert one.tolist() == [[1, 1]]
    again = scatter((one, own), [2, 0], take((one, own), [2, 0]))
    assert again[0] is one and torch.equal(again[1], own)
    both = scatter((own,), [0, 2], (torch.tensor([9.0]),))
    assert both[0].tolist() == [9, 1, 9]  # one row for two trials


def test_scatter_takes_a_slice_or_a_mask():
    for trials in (slice(1, 3), torch.tensor([False, True, True])):
        assert scatter(state(3), trials, state(2, 10.0)).base.clock.tolist() == [0, 10, 11]


# ---- what cannot be joined -----------------------------------------------------------------------

LONGER = state(2).history.append(torch.zeros(2, 2, dtype=torch.float64))
TRUE, CLOCK = torch.tensor([True, True]), torch.arange(2)
NARROW, MANY = torch.ones(2, 1, dtype=torch.float64), torch.ones(3, 2, dtype=torch.float64)
UNLIKE = {
    "lengths": ({"history": LONGER}, "state.history=2 and 3 past rows; allowed: as many"),
    "plain": ({"name": "other"}, "state.name='kept' and 'other'; allowed: one value"),
    "number": ({"rate": 1.0}, "state.rate=nan and 1.0; allowed: one value"),
    "kind": ({"rate": 1}, "state.rate=float and int; allowed: trees of one structure"),
    "parts": ({"pair": (TRUE,)}, "state.pair=2 and 1 parts; allowed: trees of one structure"),
    "none": ({"pair": (TRUE, 1)}, "state.pair.1=NoneType and int; allowed: trees of one structure"),
    "dtype": ({"pair": (torch.ones(2), None)}, "state.pair.0=.*bool.*float32.*allowed: the same"),
    "shape": ({"base": Inner(NARROW, CLOCK)}, r"state.base.theta=.*\(2,\).*\(1,\).*; allowed: the"),
    "rows": ({"base": Inner(MANY, CLOCK)}, "state.base.theta=.*3.* rows; allowed: 2, one a trial"),
}


@pytest.mark.parametrize("fields, said", UNLIKE.values(), ids=UNLIKE)
def test_trees_that_are_unlike_are_refused_by_path(fields, said):
    with pytest.raises(ValueError, match=said):
        where(torch.tensor([True, False]), state(2), state(2, **fields))
    with pytest.raises(ValueError, match=said.split("=")[0]):
        scatter(state(2), [1, 0], state(2, **fields))


@pytest.mark.parametrize("trials", [2, 4])
def test_rows_for_other_trials_are_refused(trials):
    with pytest.raises(ValueError, match=f"state.base.theta={trials} and 3 rows; allowed: 3, one"):
        scatter(state(5), [0, 1, 2], state(trials))
    with pytest.raises(ValueError, match=f"state.base.theta={trials} and {trials} rows; allow.*3"):
        where(torch.tensor([True] * 3), state(trials), state(trials))


# ---- what trials share ---------------------------------------------------------------------------


def test_shared_leaves_are_named():
    assert shared(state(3), 3) == ["state.history", "state.name", "state.rate"]
    several = torch.ones(1, 2), torch.ones(3), torch.tensor(1.0), 4, None
    assert shared(several, 3) == ["state.0", "state.2", "state.3"]
    assert shared(state(3).base, 3) == []
    assert shared(state(3).base, 2, "context") == ["context.theta", "context.clock"]


def test_a_base_that_shares_is_refused_by_name():
    refuse_shared("Own", state(3).base, 3)
    with pytest.raises(ValueError, match="base=Clocked.*share state.1; allowed .*3 rows"):
        refuse_shared("Clocked", (torch.ones(3), 5), 3)


def test_bytes_are_those_of_rows_so_far():
    assert state_bytes(state(3)) == 3 * (2 * 8 + 8 + 4 * 8 + 1)
