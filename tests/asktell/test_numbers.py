"""Values that hold exactly one real number, and values that do not."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from paperlib.asktell.inputs import real_number

pandas = pytest.importorskip("pandas")


class Half:
    """Number of a type of another package."""

    def __float__(self):
        return 0.5


class Bad:
    """Object whose every method raises an error."""

    def __float__(self):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


HALVES = [
    0.5,
    Decimal("0.5"),
    Fraction(1, 2),
    Half(),
    *(kind(0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)),
    np.array(0.5),
    np.array([0.5], np.float32),
    np.array([[0.5]]),
    np.array([Decimal("0.5")], object),
    np.ma.array([0.5], mask=[False]),
    torch.tensor(0.5),
    torch.tensor([[0.5]], dtype=torch.bfloat16),
    torch.tensor([0.5], requires_grad=True),
    [0.5],
    (np.array([0.5]),),
    pandas.Series([0.5]),
    pandas.Series([0.5], ["loss"], "Float64"),
    pandas.DataFrame({"loss": [0.5]}),
]
THREES = [3, np.uint8(3), np.int16(3), torch.tensor(3), np.array([3]), pandas.Series([3])]
NONE = [
    "0.5",
    b"0.5",
    np.str_("0.5"),
    ["0.5"],
    np.array(["0.5"]),
    pandas.Series(["0.5"]),
    True,
    np.bool_(True),
    torch.tensor(True),
    np.array([False]),
    pandas.Series([True]),
    None,
    pandas.NA,
    pandas.Series([None], dtype="Int64"),
    np.ma.masked,
    np.ma.array([0.5], mask=[True]),
    0.5 + 0j,
    np.complex128(0.5),
    torch.tensor(0.5 + 0j),
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "ns"),
    np.array([3], "m8[ns]"),
    pandas.Series([pandas.Timedelta(3)]),
    datetime.timedelta(3),
    [],
    [0.5, 0.5],
    (),
    np.zeros(2),
    np.zeros(0),
    np.zeros(1, [("a", float)]),
    torch.zeros(2),
    torch.zeros(1, device="meta"),
    pandas.Series([0.5, 0.5]),
    {0.5},
    {"loss": 0.5},
    object(),
    float,
    Bad(),
    Decimal("sNaN"),
]


@pytest.mark.filterwarnings("error")  # because NumPy would warn of an imaginary part that it drops
@pytest.mark.parametrize("values, number", [(HALVES, 0.5), (THREES, 3.0)])
def test_containers_of_one_real_number_are_accepted(values, number):
    for value in values:
        found = real_number("y", value)
        assert type(found) is float and found == number, value


def test_nan_and_infinity_are_returned_and_too_large_numbers_are_infinite():
    for value in (math.nan, np.float32("nan"), Decimal("NaN"), torch.tensor(math.nan), [math.nan]):
        assert math.isnan(real_number("y", value))
    for value in (
        -math.inf,
        np.array([-np.inf]),
        Decimal("-inf"),
        -(10**400),
        Fraction(-(10**400)),
    ):
        assert real_number("y", value) == -math.inf
    assert real_number("y", 10**400) == math.inf


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", NONE, ids=lambda value: type(value).__name__)
def test_values_without_exactly_one_number_are_rejected_by_name(value):
    with pytest.raises(ValueError, match="^y must be one real number, got "):
        real_number("y", value)


def test_a_list_that_contains_itself_is_rejected():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="y must be one real number"):
        real_number("y", endless)
