"""Tests of named dimensions: points survive encoding and decoding, values have equal parts, and errors name the bad input."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from paperlib.goucb.model.space import Category, Integer, Real, Space, snapped

MIXED = Space(
    [
        Real("width", -2.0, 5.0),
        Real("rate", 1e-6, 1e-2, log=True),
        Integer("depth", -3, 9),
        Category("kernel", ["rbf", "poly", None, True, 1, 1.0, (64, 64)]),
        Integer("seed", 0, 2**32 - 1),
    ]
)


def test_decoding_and_encoding_are_inverse_to_the_bit():
    rng = np.random.default_rng(0)
    for u in [np.zeros(MIXED.size), np.ones(MIXED.size), *rng.random((500, MIXED.size))]:
        x = MIXED.decode(snapped(u))
        again = MIXED.decode(MIXED.encode(x))
        assert again == x and [type(v) for v in again.values()] == [type(v) for v in x.values()]
        assert ((MIXED.encode(x) >= 0) & (MIXED.encode(x) <= 1)).all()
        assert MIXED.decode(MIXED.nearest(u)) == x
        assert (MIXED.nearest(u)[[0, 1, 2, -1]] == snapped(u)[[0, 1, 2, -1]]).all()
        assert (MIXED.nearest(u)[3:-1] == MIXED.encode(x)[3:-1]).all()


@pytest.mark.parametrize(
    "lo, hi, log",
    [
        (0.0, 1.0, False),
        (-1e30, 1e30, False),
        (0.1, 0.1 + 1e-4, False),
        (4096.1, 4097.3, False),
        (1e6, 1e6 + 1e-9, False),
        (0.0, 1e-300, False),
        (1e-30, 1e30, True),
        (0.1, 0.3, True),
        (1e-8, 1.001e-8, True),
    ],
)
def test_reals_of_any_range_come_back(lo, hi, log):
    space = Space([Real("x", lo, hi, log)])
    for u in np.random.default_rng(0).random(200):
        x = space.decode(snapped(np.array([u])))
        assert lo <= x["x"] <= hi and space.decode(space.encode(x)) == x
    assert [space.encode({"x": x}).item() for x in (lo, hi)] == [0.0, 1.0]
    ends = [space.decode(np.array([u]))["x"] for u in (0.0, 1.0)]
    assert ends == pytest.approx([lo, hi], rel=1e-11, abs=1e-12 * (hi - lo))


def test_given_values_keep_twelve_digits():
    space = Space([Real("x", -3.0, 4.0), Real("y", 1e-3, 1e3, log=True)])
    rng = np.random.default_rng(1)
    for x, y in zip(rng.uniform(-3, 4, 200), 10 ** rng.uniform(-3, 3, 200)):
        again = space.decode(space.encode({"x": x, "y": y}))
        assert again == {"x": round(x, 11), "y": float(f"{y:.12g}")}
    for x, y in [(0.1, 0.1), (-0.7, 0.003), (1 / 8, 30.0), (0.0, 1.0)]:
        assert space.decode(space.encode({"x": x, "y": y})) == {"x": x, "y": y}


def test_a_logarithm_has_equal_ratios():
    rate = Real("rate", 1e-4, 1.0, log=True)
    assert [rate.decode(u) for u in (0.25, 0.5, 0.75)] == pytest.approx([1e-3, 1e-2, 1e-1])
    assert rate.encode(1e-3) == pytest.approx(0.25)
    assert Real("rate", 1e-4, 1.0).decode(0.5) == pytest.approx(0.50005)


def test_integers_have_equal_parts_and_are_encoded_by_their_middles():
    """The mapping is the paper's: min(lo + floor(u (hi - lo + 1)), hi)."""
    integer = Integer("k", 2, 10)
    grid = (np.arange(9000) + 0.5) / 9000
    counts = np.bincount([integer.decode(u) for u in grid])
    assert counts.tolist() == [0, 0] + [1000] * 9
    assert integer.decode(1.0) == 10 and integer.encode(2) == pytest.approx(1 / 18)
    assert integer.encode(np.int64(3)) == integer.encode(3)


def test_an_option_is_the_largest_of_its_categorys_coordinates():
    """Of equal coordinates the first counts. The center of an option is the mean of the points that decode to it."""
    category = Category("c", ["a", "b", "c"])
    assert [category.decode(u) for u in np.eye(3)] == list("abc") and category.decode(
        [0.5] * 3
    ) == "a"
    assert category.encode("b").tolist() == [3 / 8, 3 / 4, 3 / 8]
    u = np.random.default_rng(0).random((40000, 3))
    of_b = u[[category.decode(x) == "b" for x in u]]
    assert len(of_b) == pytest.approx(40000 / 3, rel=0.02)
    np.testing.assert_allclose(of_b.mean(0), category.encode("b"), atol=0.01)
    assert Category("k", [7]).encode(7).tolist() == [0.5] and Category("k", [7]).decode([0.0]) == 7
    apart = [np.abs(category.encode(x) - category.encode(y)).sum() for x, y in ("ab", "bc", "ac")]
    assert apart == [apart[0]] * 3


def test_a_point_has_a_coordinate_for_each_option():
    assert MIXED.size == 11 == len(MIXED.encode(GOOD))
    with pytest.raises(ValueError, match="11 coordinates"):
        MIXED.decode(np.zeros(5))
    many = [Category(f"c{i}", list(range(1000))) for i in range(5)]
    with pytest.raises(
        ValueError,
        match="^the number of coordinates of dimensions must be at most 4096 .*, got 5000",
    ):
        Space(many)


def test_equal_values_of_other_types_are_other_options():
    options = MIXED.dimensions[3]
    assert [options.decode(options.encode(x)) for x in (True, 1, 1.0)] == [True, 1, 1.0]
    assert len({tuple(options.encode(x)) for x in (True, 1, 1.0)}) == 3


def test_values_of_a_table_are_the_options_and_integers_that_they_were():
    """A column with a missing value contains floats, and NaN for None."""
    sizes, kernel = Category("k", [16, 32, "auto"]), Category("c", ["rbf", None])
    assert sizes.decode(sizes.encode(32.0)) == 32 == sizes.decode(sizes.encode(np.float32(32)))
    assert kernel.decode(kernel.encode(np.nan)) is None
    assert Integer("n", 1, 9).encode(3.0) == Integer("n", 1, 9).encode(np.float32(3)) == 2.5 / 9
    for one, x in ((sizes, 32.5), (sizes, True), (Category("k", [1, True]), 1.5), (sizes, np.nan)):
        with pytest.raises(ValueError, match=f"^{one.name} must .*, got "):
            one.encode(x)
    for x in (3.5, np.nan, np.inf, 10.0, True, "3"):
        with pytest.raises(ValueError, match="^n must be an integer from 1 to 9, got "):
            Integer("n", 1, 9).encode(x)


def test_settings_distinguish_spaces():
    one = Space([Real("x", 0, 1), Integer("k", 1, 3)])
    same = Space((Real("x", np.float64(0.0), 1.0), Integer("k", np.int64(1), 3)))
    assert one == same and one.settings() == same.settings()
    for other in (
        [Integer("k", 1, 3), Real("x", 0, 1)],
        [Real("x", 0, 1)],
        [Real("y", 0, 1), Integer("k", 1, 3)],
        [Real("x", 0, 2), Integer("k", 1, 3)],
    ):
        assert Space(other).settings() != one.settings()
    pair = [Space([Category("c", options)]) for options in ([0, 1], [False, True])]
    assert pair[0].settings() != pair[1].settings()


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: Real("C", 1.0, 1.0), "C.lo must be smaller than C.hi=1.0, got 1.0"),
        (lambda: Real("C", 2.0, 1.0), "C.lo must be smaller than C.hi=1.0, got "),
        (
            lambda: Real("C", math.nan, 1.0),
            r"C.lo must be a number from -1e\+30 to 1e\+30, got nan",
        ),
        (
            lambda: Real("C", 0.0, math.inf),
            r"C.hi must be a number from -1e\+30 to 1e\+30, got inf",
        ),
        (lambda: Real("C", 0.0, 1e31), r"C.hi must be a number from -1e\+30 to 1e\+30, got "),
        (lambda: Real("C", "0", 1.0), r"C.lo must be a number from -1e\+30 to 1e\+30, got '0'"),
        (lambda: Real("C", 0.0, None), r"C.hi must be a number from -1e\+30 to 1e\+30, got None"),
        (lambda: Real("C", False, 1.0), r"C.lo must be a number from -1e\+30 to 1e\+30, got False"),
        (
            lambda: Real("C", 0.0, 1.0, log=True),
            r"C.lo must be a positive number from 1e-30 to 1e\+30, got 0.0",
        ),
        (
            lambda: Real("C", -1.0, 1.0, log=True),
            r"C.lo must be a positive number from 1e-30 to 1e\+30, got -1.0",
        ),
        (lambda: Real("C", 1.0, 2.0, log="yes"), "C.log must be one of False, True, got 'yes'"),
        (lambda: Real("", 0.0, 1.0), "name must be a string that is not empty, got ''"),
        (lambda: Real(3, 0.0, 1.0), "name must be a string that is not empty, got 3"),
        (lambda: Integer("k", 3, 3), "k.lo must be smaller than k.hi=3, got "),
        (lambda: Integer("k", 4, 3), "k.lo must be smaller than k.hi=3, got "),
        (
            lambda: Integer("k", 1.0, 3),
            "k.lo must be an integer from -9007199254740992 to.*, got 1.0",
        ),
        (
            lambda: Integer("k", 1, math.inf),
            "k.hi must be an integer from -9007199254740992 to.*, got inf",
        ),
        (
            lambda: Integer("k", 0, 2**32),
            r"k.hi must be below lo \+ 4294967296, for example.*, got 4294967296",
        ),
        (
            lambda: Category("c", []),
            r"c.options must be a list of at least one option,.*, got \[\]",
        ),
        (
            lambda: Category("c", "abc"),
            "c.options must be a list of at least one option,.*, got 'abc'",
        ),
        (
            lambda: Category("c", ["a", "a"]),
            r"c.options must be a list without duplicates, got \('a', 'a'\)",
        ),
        (
            lambda: Category("c", [math.nan]),
            "c.options must be a list of at least one option, each a",
        ),
        (
            lambda: Category("c", [math.sin]),
            "c.options must be a list of at least one option, each a",
        ),
        (lambda: Category("c", [["a"]]), "c.options must be a list of at least one option, each a"),
        (lambda: Category(None, ["a"]), "name must be a string that is not empty, got None"),
        (lambda: Space([]), r"dimensions must be a list of at least one Real,.*, got \[\]"),
        (
            lambda: Space(Real("x", 0, 1)),
            "dimensions must be a list of at least one Real, Integer or",
        ),
        (
            lambda: Space([("x", 0, 1)]),
            "dimensions must be a list of at least one Real, Integer or",
        ),
        (lambda: Space([Real]), "dimensions must be a list of at least one Real, Integer or"),
        (
            lambda: Space([Real("x", 0, 1), Integer("x", 0, 1)]),
            "name must be different for each dimension, got 'x'",
        ),
    ],
)
def test_spaces_out_of_range_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()


GOOD = {"width": 0.0, "rate": 1e-3, "depth": 4, "kernel": "rbf", "seed": 7}


@pytest.mark.parametrize(
    "change, match",
    [
        ({"width": 5.1}, "width must be a number from -2 to 5, got 5.1"),
        ({"width": math.nan}, "width must be a number from -2 to 5, got nan"),
        ({"width": math.inf}, "width must be a number from -2 to 5, got inf"),
        ({"width": "0"}, "width must be a number from -2 to 5, got '0'"),
        ({"width": True}, "width must be a number from -2 to 5, got True"),
        ({"rate": 0.0}, "rate must be a positive number from 1e-06 to 0.01, got 0.0"),
        ({"depth": 10}, "depth must be an integer from -3 to 9, got 10"),
        ({"depth": 4.5}, "depth must be an integer from -3 to 9, got 4.5"),
        ({"kernel": "cubic"}, "kernel must be one of 'rbf', 'poly', None, True,.*, got 'cubic'"),
        ({"kernel": 0}, "kernel must be one of 'rbf', 'poly', None, True,.*, got 0"),
        (
            {"other": 1},
            r"x must be a dict with the keys 'width', 'rate',.*, got \{'width': 0.0, 'rate':",
        ),
    ],
)
def test_points_outside_are_refused(change, match):
    MIXED.encode(GOOD)
    with pytest.raises(ValueError, match=match):
        MIXED.encode(GOOD | change)


@pytest.mark.parametrize("x", [None, 3, [0.0] * 5, "width", {}, {"width": 0.0}])
def test_values_that_are_not_points_are_refused(x):
    with pytest.raises(
        ValueError, match="x must be a dict with the keys 'width', 'rate', 'depth',"
    ):
        MIXED.encode(x)


def test_tuples_are_distinguished_by_their_elements():
    options = Category("c", [(1, 0), (True, False), (1.0, 0.0), 0.0, -0.0])
    decoded = [options.decode(options.encode(x)) for x in options.options]
    assert list(map(repr, decoded)) == list(map(repr, options.options))


@pytest.mark.parametrize("x", [np.float32(0.5), np.float16(0.5), np.array(0.5)])
def test_numbers_of_numpy_are_numbers(x):
    assert Real("x", 0, 1).encode(x) == 0.5


def test_integers_of_numpy_are_numbers():
    assert Real("x", 0, 1e6).encode(np.int64(50000)) == 0.05
    assert Integer("n", 0, 200).encode(np.uint8(3)) == Integer("n", 0, 200).encode(3)
    with pytest.raises(ValueError, match="n must be an integer from 0 to 200, got True"):
        Integer("n", 0, 200).encode(np.bool_(True))


def test_a_message_does_not_list_a_million_options():
    with pytest.raises(
        ValueError, match="c must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,.*, got 'no'"
    ) as refused:
        Category("c", range(10**6) and list(range(10**6))).encode("no")
    assert len(str(refused.value)) < 200


def test_a_logarithm_needs_ends_that_its_digits_tell_apart():
    with pytest.raises(
        ValueError, match="x.lo must be smaller than x.hi=1.000000000001.*, got 1.0"
    ):
        Real("x", 1.0, 1.0 + 1e-12, log=True)
    assert Real("x", 1.0, 1.0 + 1e-12).decode(1.0) == 1.0 + 1e-12


@pytest.mark.parametrize("lo, hi, log", [(-1.0, 0.1, False), (0.1, 0.7, True)])
def test_ends_that_come_back_in_float32_are_the_ends(lo, hi, log):
    side = Real("x", lo, hi, log)
    for u, end in ((0.0, lo), (1.0, hi)):
        assert side.encode(np.float32(end)) == pytest.approx(u, abs=1e-6)
        assert 0 <= side.encode(np.float32(end)) <= 1
    inside = hi - 1e-9
    assert side.encode(inside) < 1
    for far in (lo - 1e-6, hi + 1e-6, math.nan, True, 10**400, Fraction(10**400)):
        with pytest.raises(ValueError, match="^x must be a (positive )?number from .*, got "):
            side.encode(far)


def test_exact_numbers_are_encoded_as_numbers():
    assert Real("x", 0.0, 1.0).encode(Decimal("0.25")) == 0.25
    assert Real("x", 0.0, 1.0).encode(Fraction(1, 4)) == 0.25
    assert Integer("n", 1, 8).encode(Decimal(3)) == Integer("n", 1, 8).encode(3)
