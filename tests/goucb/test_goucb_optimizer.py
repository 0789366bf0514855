"""Tests of ask/tell on named dimensions: failed evaluations are logged and the search continues; files, existing data, and bad input."""

import inspect
import math
import textwrap
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from paperlib.core.files import parse_npz, write_npz
from paperlib.core.trees import list_leaves
from paperlib.goucb.learners.acquisition import Linearized
from paperlib.goucb.learners.goucb import TrustRegion
from paperlib.goucb.learners.gp import GP
from paperlib.goucb.learners.oracle import LevenbergMarquardt
from paperlib.goucb.learners.presets import algorithm1, literal, practical
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.model.function import FunctionModel
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.model.space import Category, Integer, Real, Space
from paperlib.goucb.optimizer import POLICIES, Optimizer, minimize, policy_learner
from paperlib.linear import OFUL

SMALL = {
    "model": TwoLayerNet(3),
    "oracle": LevenbergMarquardt(2, 8, 3),
    "acquisition": Linearized(12, 4, 2, 3),
}
LEARNERS = {
    "practical": practical(3, **SMALL),
    "algorithm1": algorithm1(3, **SMALL),
    "gp": GP(3, "modern", "EI", fit_steps=3, candidates=8, around=2, top=2, steps=2),
    "turbo": TuRBO(3, candidates=20, fit_steps=3),
}
SPACE = Space(
    [
        Real("rate", 1e-4, 1.0, log=True),
        Real("shift", -2.0, 2.0),
        Integer("depth", 1, 6),
        Category("kernel", ["rbf", "poly", None]),
    ]
)


@dataclass(frozen=True)
class Blind:
    """Learner that discards its feedback."""

    wants = "reward"

    def init(self, trials, bounds, horizon, draw, **tkwargs):
        return (torch.zeros(trials, **tkwargs),)

    def select(self, state, bounds, draw):
        return draw.uniform("point", bounds.dim), state

    def update(self, state, bounds, action, reward, draw):
        return state


class Rising(TuRBO):
    """TuRBO with a model whose mean is the first coordinate."""

    def predict(self, state, bounds, x):
        return x[..., 0], torch.ones_like(x[..., 0])


class Odd(float):
    def __abs__(self):
        raise OverflowError("odd")


def f(x):
    """Return the objective, whose maximum is 0 at rate 0.01, shift 1, depth 4 and "poly"."""
    away = math.log10(x["rate"] / 0.01) ** 2 + (x["shift"] - 1) ** 2 + (x["depth"] - 4) ** 2 / 9
    return -away - (x["kernel"] != "poly")


def new(space=SPACE, learner=LEARNERS["practical"], **more):
    return Optimizer(space, learner=learner, **more)


def follow(search, rounds, answer=f):
    """Return the proposed points of ``rounds`` rounds."""
    asked = []
    for _ in range(rounds):
        asked.append(search.ask())
        search.tell(asked[-1], answer(asked[-1]))
    return asked


def numbers(search):
    """Return the learned state in a form that can be compared with ==."""
    view = lambda x: x.view if hasattr(x, "view") and not isinstance(x, torch.Tensor) else x
    plain = lambda x: x.tolist() if isinstance(x, torch.Tensor) else x
    now = search._now
    state = [(name, plain(view(x))) for name, x in list_leaves(now.state)]
    return state, now.rounds, now.skipped, now.failures


# ---- the search


@pytest.mark.parametrize("policy", POLICIES)
def test_points_are_of_the_space_and_the_same_for_the_same_seed(policy):
    runs = [new(learner=LEARNERS[policy], seed=seed) for seed in (0, 0, 1)]
    asked = [follow(search, 8) for search in runs]
    for x in asked[0]:
        assert list(x) == SPACE.names and SPACE.decode(SPACE.encode(x)) == x
        assert type(x["rate"]) is float and type(x["depth"]) is int
    assert asked[0] == asked[1] != asked[2]
    assert [entry.x for entry in runs[0].log] == asked[0]
    assert [entry.y for entry in runs[0].log] == [f(x) for x in asked[0]]


def test_the_first_points_are_those_of_all_policies():
    first = [follow(new(learner=learner), 3) for learner in LEARNERS.values()]
    assert all(points == first[0] for points in first)


def test_policies_are_the_learners_of_the_paper_and_its_baselines():
    every = TrustRegion(gain=0.0)
    assert policy_learner("practical", 5) == practical(5, trust=every)
    assert policy_learner("algorithm1", 5) == algorithm1(5)
    assert policy_learner("gp", 5) == GP(5, "modern", "EI")
    assert policy_learner("turbo", 5) == TuRBO(5, gain=0.0)
    assert Optimizer(SPACE).learner == TuRBO(8, gain=0.0)
    assert Optimizer(SPACE, "practical", n_init=2).learner == practical(2, trust=every)
    assert {inspect.signature(f).parameters["policy"].default for f in (Optimizer, minimize)} == {
        "turbo"
    }


def test_the_example_of_the_docstring():
    """The example runs as it is written. It finds a better point than the best of its eight uniform points."""
    example = textwrap.dedent(inspect.getdoc(Optimizer).split("\n\n")[2])
    score = lambda rate, depth: -(math.log10(rate / 0.01) ** 2) - (depth - 4) ** 2
    names = {"Optimizer": Optimizer, "Space": Space, "Real": Real, "Integer": Integer, "f": score}
    exec(example, names)
    log = names["search"].log
    assert len(log) == 30 and max(entry.y for entry in log) > max(entry.y for entry in log[:8])
    assert score(**names["search"].recommend()) == max(entry.y for entry in log)


def test_a_value_asked_for_is_heard_at_the_point_that_was_meant():
    """Many coordinates decode to one integer. A value that was not proposed is recorded at the midpoint of the integer's part."""
    space = Space([Integer("k", 1, 4)])
    search, other = new(space), new(space)
    meant = search.space.encode(x := search.ask())
    search.tell(x, 1.0)
    other.tell(x, 1.0)
    at = [(search.state.x.view.item() + 1) / 2 for search in (search, other)]
    assert at[1] == meant and at[0] != meant and search.log == other.log


def test_asked_again_it_is_the_same():
    search = new()
    assert search.ask() == search.ask()
    follow(search, 4)
    assert search.ask() == search.ask()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "dimension",
    [
        Real("x", -1.0, 3.0),
        Real("x", 1e-3, 1.0, log=True),
        Integer("x", 0, 9),
        Category("x", ["a", "b"]),
    ],
    ids=lambda dimension: type(dimension).__name__,
)
def test_one_dimension(policy, dimension):
    search = new(Space([dimension]), LEARNERS[policy])
    follow(search, 6, lambda x: float(x["x"] == "a") if isinstance(x["x"], str) else -(x["x"] ** 2))
    assert len(search.log) == 6 and search.recommend() in [entry.x for entry in search.log]


# ---- invariance


def test_units_of_a_dimension_and_names_do_not_matter():
    one = Space([Real("a", -1.0, 1.0), Real("b", 0.25, 1.0)])
    two = Space([Real("c", -1024.0, 1024.0), Real("d", 1.0, 4.0)])
    first = follow(new(one), 10, lambda x: -(x["a"] ** 2) - x["b"])
    second = follow(new(two), 10, lambda x: -((x["c"] / 1024) ** 2) - x["d"] / 4)
    scaled = [[x["c"] / 1024, x["d"] / 4] for x in second]
    np.testing.assert_allclose(scaled, [[x["a"], x["b"]] for x in first], atol=1e-6)


def test_a_logarithmic_dimension_is_a_linear_one_of_exponents():
    log = follow(new(Space([Real("a", 1e-6, 1e2, log=True)])), 10, lambda x: -math.log10(x["a"]))
    line = follow(new(Space([Real("a", -6.0, 2.0)])), 10, lambda x: -x["a"])
    exponents = [math.log10(x["a"]) for x in log]
    np.testing.assert_allclose(exponents, [x["a"] for x in line], atol=1e-6)


def test_the_unit_of_answers_does_not_matter():
    one = follow(new(), 10)
    assert follow(new(), 10, lambda x: 2**20 * f(x)) == one


def test_minimizing_is_maximizing_the_negative():
    found = minimize(lambda x: -f(x), SPACE, 10, learner=LEARNERS["practical"], seed=3)
    search = new(seed=3)
    follow(search, 10)
    assert found.x == search.recommend() and found.y == -f(found.x)
    assert found.log == [entry._replace(y=-entry.y) for entry in search.log]
    assert found.y == min(entry.y for entry in found.log)


# ---- failures

FAILED = [math.nan, math.inf, -math.inf, 1e200, 10**400, Decimal("NaN")]
FAILED += [np.float32("nan"), torch.tensor(math.nan), [math.nan], np.array([np.inf])]
REFUSED = ["broken", "0.5", b"1", None, True, np.bool_(True), 1j, [1.0, 2.0], (), {}, object()]
REFUSED += [np.zeros(2), torch.zeros((), device="meta"), np.ma.masked, ValueError("no")]
REFUSED += [np.timedelta64(1), np.datetime64("2020")]


@pytest.mark.parametrize("y", FAILED, ids=lambda y: type(y).__name__)
@pytest.mark.parametrize("before", [0, 2, 5])
def test_what_is_no_finite_number_is_a_failed_evaluation(y, before):
    search = new()
    follow(search, before)
    x = search.ask()
    search.tell(x, y)
    (failure,) = search.failures
    assert failure.action == x and failure.round == before + 1 and failure.reason
    assert search.log[-1] == (x, None, failure.reason) and len(search.log) == before + 1
    # Before the first value there is no lowest value to pass on.
    assert search.rounds == (before + 1 if before else 0)
    if before:
        assert search.state.y.view[0, -1] == min(entry.y for entry in search.log[:-1])
    follow(search, 3)
    assert len(search.log) == before + 4 and search.log[-1].failure is None


@pytest.mark.parametrize(
    "reason, words",
    [
        (ValueError("no memory"), "ValueError: no memory"),
        (math.nan, "nan"),
        ("broken", "broken"),
        ("0.5", "0.5"),
        (1e200, "1e+200"),
        (None, "None"),
        ([1.0, 2.0], "[1.0, 2.0]"),
    ],
)
def test_the_reason_is_named(reason, words):
    search = new()
    search.fail(search.ask(), reason)
    assert search.log[0].failure == words == search.failures[0].reason


@pytest.mark.parametrize("y", REFUSED, ids=lambda y: type(y).__name__)
def test_what_is_not_one_real_number_is_refused_by_name(y):
    """In earlier versions it counted as a failed evaluation without any message."""
    search = new()
    follow(search, 2)
    before = search._now
    with pytest.raises(ValueError, match="^y must be one real number, got .* Use fail"):
        search.tell(search.ask(), y)
    with pytest.raises(ValueError, match=r"answers\[1\] must be one real number"):
        search.observe([search.ask()] * 2, [1.0, y])
    assert search.state is before.state and search.rounds == 2 and not search.failures
    with pytest.raises(ValueError, match="the function's value must be one real number"):
        minimize(lambda x: y, SPACE, 3, learner=LEARNERS["turbo"])


@pytest.mark.parametrize(
    "y",
    [
        3,
        Decimal("0.5"),
        np.float32(0.5),
        np.int64(2),
        torch.tensor(0.25),
        np.array(1.5),
        np.array([1.5]),
        torch.tensor([[0.25]]),
        [0.5],
        Odd(1.0),
    ],
)
def test_numbers_of_any_kind_are_heard(y):
    search = new()
    search.tell(search.ask(), y)
    search.tell(search.ask(), Fraction(1, 2))
    number = float(np.asarray(y, float).ravel()[0])
    assert [entry.y for entry in search.log] == [number, 0.5] and not search.failures
    found = minimize(lambda x: y, SPACE, 1, learner=LEARNERS["turbo"])
    assert found.y == number


def test_after_a_failure_at_first_another_point_is_asked_for():
    search, points = new(), []
    for _ in range(5):
        points.append(search.ask())
        search.fail(points[-1], RuntimeError("down"))
    assert all(points[i] != points[j] for i in range(5) for j in range(i))
    assert search.rounds == 0 and [failure.round for failure in search.failures] == [1] * 5
    # They are the uniform points that a search with a larger n_init and no failures proposes.
    assert points == follow(new(learner=practical(9, **SMALL)), 5)
    follow(search, 4)
    assert [entry.x for entry in search.log[:5]] == points and search.rounds == 4


@pytest.mark.parametrize("policy", POLICIES)
def test_every_second_one_fails(policy):
    search, calls = new(learner=LEARNERS[policy]), []

    def answer(x):
        calls.append(x)
        return math.nan if len(calls) % 2 else f(x)

    follow(search, 12, answer)
    assert [entry.x for entry in search.log] == calls and len(search.failures) == 6
    assert [entry.y is None for entry in search.log] == [True, False] * 6
    assert search.rounds == 11  # the first evaluation failed before there was any value
    values = search.state.y.view[0].tolist()
    heard = [entry.y for entry in search.log[1:]]
    known = [y for y in heard if y is not None]
    lowest = [min(known[: i // 2 + 1]) for i in range(11)]
    assert values == [low if y is None else y for y, low in zip(heard, lowest)]
    assert f(search.recommend()) == max(known)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("fails", [lambda t: t < 2, lambda t: t % 2 == 0, lambda t: True])
def test_saved_and_loaded_it_goes_on_as_if_uninterrupted(policy, fails, tmp_path):
    def rounds(search, first, last):
        for t in range(first, last):
            x = search.ask()
            search.tell(x, math.nan if fails(t) else f(x))
        return search

    learner = LEARNERS[policy]
    one = rounds(new(learner=learner), 0, 12)
    for stop in (0, 1, 7):
        rounds(new(learner=learner), 0, stop).save(tmp_path / "run.npz")
        other = rounds(new(learner=learner).restore(tmp_path / "run.npz"), stop, 12)
        assert numbers(other) == numbers(one) and other.log == one.log
        assert other.ask() == one.ask()


def test_a_function_may_fail_in_every_way():
    ways = [OSError("disk"), math.nan, -math.inf, math.inf]

    def function(x):
        calls.append(dict(x))
        x.clear()  # the function may modify its argument
        way = ways[len(calls) % 8 // 2] if len(calls) % 2 else -f(calls[-1])
        if isinstance(way, Exception):
            raise way
        return way

    calls = []
    found = minimize(function, SPACE, 16, learner=LEARNERS["practical"], catch=OSError)
    assert [entry.x for entry in found.log] == calls and len(calls) == 16
    reasons = {entry.failure for entry in found.log}
    assert reasons == {None, "OSError: disk", "nan", "-inf", "inf"}
    assert found.y == min(-f(x) for x in calls[1::2]) == -f(found.x)


def test_where_all_evaluations_fail_it_says_so():
    with pytest.warns(UserWarning, match="all 4 evaluations failed, the last one with ZeroDiv"):
        found = minimize(
            lambda x: 1 / 0,
            SPACE,
            4,
            learner=LEARNERS["practical"],
            catch=(OSError, ArithmeticError),
        )
    assert found.x is None and found.y is None
    assert [entry.failure for entry in found.log] == ["ZeroDivisionError: division by zero"] * 4
    with pytest.warns(UserWarning, match="all 2 evaluations failed, the last one with nan"):
        minimize(lambda x: math.nan, SPACE, 2, learner=LEARNERS["turbo"])


def test_an_exception_of_the_function_is_raised_with_what_was_found():
    """For example, in earlier versions a function with another signature gave only failed evaluations, without any message."""
    with pytest.raises(TypeError) as raised:
        minimize(lambda rate, depth: 0.0, SPACE, 30, learner=LEARNERS["turbo"])
    assert raised.value.found == (None, None, [])
    calls = []

    def late(x):
        calls.append(dict(x))
        if len(calls) == 4:
            raise OSError("disk")
        return -f(x)

    for catch in ((), ValueError, (ValueError, KeyError)):
        calls.clear()
        with pytest.raises(OSError, match="disk") as raised:
            minimize(late, SPACE, 9, learner=LEARNERS["turbo"], catch=catch)
        assert [entry.x for entry in raised.value.found.log] == calls[:3]
        assert raised.value.found.y == min(-f(x) for x in calls[:3])
    calls.clear()
    with pytest.raises(ValueError, match="the function's value") as raised:
        minimize(
            lambda x: late(x) if len(calls) < 3 else "0.5", SPACE, 9, learner=LEARNERS["turbo"]
        )
    assert len(raised.value.found.log) == 3


def test_an_interrupt_is_no_failure():
    def function(x):
        raise KeyboardInterrupt

    for catch in ((), BaseException):
        found = minimize(function, Space([Real("a", 0.0, 1.0)]), 3, catch=catch)
        assert found == (None, None, [])


def test_a_number_is_no_reason():
    search = new()
    x = search.ask()
    with pytest.raises(ValueError, match="reason must be an exception, a message, or.*, got 0.5"):
        search.fail(x, 0.5)
    assert search.log == []


# ---- existing data


def test_existing_data_come_first_and_count():
    rng = np.random.default_rng(0)
    own = [SPACE.decode(u) for u in rng.random((4, SPACE.size))]
    search, other = new(), new()
    search.observe(own, [f(x) for x in own])
    for x in own:
        other.tell(x, f(x))
    assert numbers(search) == numbers(other) and search.rounds == 4
    assert [entry.x for entry in search.log] == own
    assert search.recommend() == max(own, key=f)
    search.predict(own)  # works because more than n_init = 3 values are known
    asked = search.ask()
    assert asked == other.ask() and asked != new().ask()


def test_existing_data_may_contain_failures():
    own = [SPACE.decode(u) for u in np.random.default_rng(0).random((4, SPACE.size))]
    search = new()
    search.observe(own, [math.nan, 2.0, math.inf, 1.0])
    assert [entry.y for entry in search.log] == [None, 2.0, None, 1.0]
    assert [entry.x for entry in search.log] == own
    assert search.state.y.view.tolist() == [[2.0, 2.0, 1.0]]


@pytest.mark.parametrize(
    "points, answers, match",
    [
        ([], [], r"^points must be a list of at least one entry, got \[\]"),
        ({"rate": 0.1}, [1.0], "^points must be a list of at least one entry, got "),
        (
            [SPACE.decode(np.zeros(SPACE.size))],
            [1.0, 2.0],
            r"^answers must have 1 entries, as many as points, got \[1.0, 2.0\]",
        ),
        ([SPACE.decode(np.zeros(SPACE.size))], ["two"], r"^answers\[0\] must be one real number"),
        (
            [SPACE.decode(np.zeros(SPACE.size)), {"rate": 2.0}],
            [1.0, 2.0],
            r"^points\[1\]: x must be a dict with the keys .*, got ",
        ),
        (
            [SPACE.decode(np.zeros(SPACE.size)), SPACE.decode(np.ones(SPACE.size)) | {"depth": 7}],
            [1.0, 2.0],
            r"points\[1\]: depth must be an integer from 1 to 6, got 7",
        ),
    ],
)
def test_existing_data_are_accepted_completely_or_not_at_all(points, answers, match):
    search = new()
    with pytest.raises(ValueError, match=match):
        search.observe(points, answers)
    assert search.log == [] and search.rounds == 0


# ---- recommendations


def test_the_model_recommends_among_points_that_gave_a_number():
    """The first value is the largest. At the point where the model is largest, the evaluation failed."""
    search = new(Space([Real("x", 0.0, 1.0)]), Rising(3))
    xs = [{"x": x} for x in np.linspace(0, 1, 9)]
    search.observe(xs, [3.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, math.nan])
    assert search.recommend() == xs[0] and search.recommend("model") == xs[7]
    search.tell({"x": 0.95}, 1.0)
    assert search.recommend("model") == {"x": 0.95}


def test_of_equals_the_first_is_recommended():
    search = new()
    asked = follow(search, 6, lambda x: 1.0)
    assert search.recommend() == asked[0]
    search.tell(search.ask(), math.nan)  # the learner receives 1 for it, too
    assert search.recommend() == asked[0]


def test_a_prediction_is_in_units_of_the_rewards():
    search = new(Space([Real("x", 0.0, 1.0)]), practical(3))
    xs = [{"x": x} for x in np.linspace(0, 1, 7)]
    search.observe(xs, [1000 + 50 * x["x"] for x in xs])
    mean, width = search.predict(xs)
    np.testing.assert_allclose(mean, [1000 + 50 * x["x"] for x in xs], atol=5)
    assert mean.shape == width.shape == (7,) and (width > 0).all()


@pytest.mark.parametrize(
    "call, match",
    [
        (
            lambda search: search.recommend(),
            "rounds must be at least 1, the number of values.*, got 0",
        ),
        (
            lambda search: search.recommend("best"),
            "how must be one of 'observed', 'model', 'uniform', got 'best'",
        ),
        (
            lambda search: search.predict([SPACE.decode(np.zeros(SPACE.size))]),
            "rounds must be at least 1, the number of values.*, got 0",
        ),
        (
            lambda search: follow(search, 2) and search.recommend("model"),
            "state.rounds must be at least n_init=3, got 2",
        ),
        (lambda search: search.predict([]), "points must be a list of at least one point, got "),
        (
            lambda search: search.predict(SPACE.decode(np.zeros(SPACE.size))),
            "points must be a list of at least one point, got ",
        ),
        (
            lambda search: search.predict([{"rate": 0.1}]),
            "^x must be a dict with the keys .*, got ",
        ),
    ],
)
def test_results_that_do_not_exist_yet_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call(new())


def test_a_learner_without_a_model_does_not_predict():
    search = new(learner=LEARNERS["turbo"])
    asked = follow(search, 4)
    with pytest.raises(
        ValueError,
        match=r"learner must be one with the method predict, for.*, got TuRBO\(n_init=3,",
    ):
        search.recommend("model")
    assert search.recommend() == max(asked, key=f)


# ---- files


def test_a_file_of_another_space_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    search = new()
    follow(search, 5)
    search.save(path)
    dimensions = list(SPACE.dimensions)
    others = [
        [Real("rate", 1e-4, 2.0, log=True), *dimensions[1:]],
        [Real("rate", 1e-4, 1.0), *dimensions[1:]],
        [*dimensions[:3], Category("kernel", ["rbf", "poly", "None"])],
        [*dimensions[:3], Category("kernel", ["poly", "rbf", None])],
        [dimensions[1], dimensions[0], *dimensions[2:]],
        dimensions[:3],
    ]
    for other in others:
        user = new(Space(other))
        with pytest.raises(ValueError, match=r"run\.npz.*saved by a learner with space\.\d"):
            user.restore(path)
        assert user.rounds == 0
    for user in (new(seed=1), new(learner=LEARNERS["gp"]), new(horizon=9)):
        with pytest.raises(ValueError, match=r"run\.npz"):
            user.restore(path)
    assert numbers(new(Space(dimensions)).restore(path)) == numbers(search)


def test_damaged_files_are_refused(tmp_path):
    search = new()
    follow(search, 6, lambda x: f(x) if x["kernel"] else math.nan)
    good, bad = tmp_path / "run.npz", tmp_path / "bad.npz"
    search.save(good)
    raw = good.read_bytes()
    rng = np.random.default_rng(0)
    contents = [b"", b"text", raw[:-1], raw[: len(raw) // 2]]
    for at in rng.integers(0, len(raw), 40):
        contents.append(raw[:at] + bytes([raw[at] ^ 64]) + raw[at + 1 :])
    refused = 0
    for content in contents:
        bad.write_bytes(content)
        user = new()
        try:
            user.restore(bad)
            assert numbers(user) == numbers(search)  # the changed byte has no effect
        except ValueError as error:
            assert "bad.npz" in str(error) and user.rounds == 0
            refused += 1
    assert refused > 30


# ---- bad input


@pytest.mark.parametrize(
    "make, match",
    [
        (
            lambda: Optimizer([Real("x", 0, 1)]),
            r"space must be a Space, for example Space\(\[Real\('x', 0.0, 1.0\)\]\), got ",
        ),
        (
            lambda: Optimizer({"x": (0, 1)}),
            r"space must be a Space, for example Space\(\[Real\('x', 0.0, 1.0\)\]\), got ",
        ),
        (
            lambda: Optimizer(SPACE, "literal"),
            "policy must be one of 'turbo', 'gp', 'practical', 'algorithm1', got 'literal'",
        ),
        (
            lambda: Optimizer(SPACE, None),
            "policy must be one of 'turbo', 'gp', 'practical', 'algorithm1', got None",
        ),
        (lambda: Optimizer(SPACE, n_init=0), "n_init must be an integer from 1 to 16777216, got 0"),
        (
            lambda: Optimizer(SPACE, n_init=2.5),
            "n_init must be an integer from 1 to 16777216, got 2.5",
        ),
        (
            lambda: Optimizer(SPACE, horizon=0),
            r"horizon must be an integer from 1 to 2\^63 - 1, got 0",
        ),
        (lambda: Optimizer(SPACE, seed=-1), r"seed must be an integer from 0 to 2\^63 - 1, got -1"),
        (
            lambda: Optimizer(SPACE, learner="gp"),
            "learner must be a learner with the attributes.*, got 'gp'",
        ),
        (
            lambda: Optimizer(SPACE, learner=practical),
            "learner must be a learner with the attributes.*, got ",
        ),
        (
            lambda: Optimizer(SPACE, learner=Blind()),
            r"learner must be one whose state has points x and values y, got Blind\(\)",
        ),
        (
            lambda: Optimizer(SPACE, learner=OFUL(0.1, 1.0)),
            "arms must be a tensor of shape R x K x d or 1 x K.*, got type Bounds",
        ),
        (
            lambda: Optimizer(SPACE, learner=literal(3, 26.0)),
            r"horizon must be at least n_init \+ 2 = 5, because.*, got None",
        ),
        (
            lambda: minimize(f, SPACE, 0),
            r"evaluations must be an integer from 1 to 2\^63 - 1, got 0",
        ),
        (
            lambda: minimize(f, SPACE, 2.0),
            r"evaluations must be an integer from 1 to 2\^63 - 1, got 2.0",
        ),
        (
            lambda: minimize(None, SPACE, 3),
            "function must be a function of a dict with the values by name, got None",
        ),
        (
            lambda: minimize(f, [Real("x", 0, 1)], 3),
            r"space must be a Space, for example Space\(\[Real\('x', 0.0, 1.0\)\]\), got ",
        ),
        (
            lambda: minimize(f, SPACE, 3, catch="all"),
            "catch must be a class of exceptions or a tuple of them, got 'all'",
        ),
        (
            lambda: minimize(f, SPACE, 3, catch=[OSError]),
            "catch must be a class of exceptions or a tuple of them, got ",
        ),
        (
            lambda: minimize(f, SPACE, 3, catch=OSError("disk")),
            "catch must be a class of exceptions or a tuple of them, got ",
        ),
    ],
)
def test_settings_out_of_range_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize(
    "change, match",
    [
        ({"rate": 2.0}, "rate must be a positive number from 0.0001 to 1, got 2.0"),
        ({"depth": "3"}, "depth must be an integer from 1 to 6, got '3'"),
        ({"kernel": "rb"}, "kernel must be one of 'rbf', 'poly', None, got 'rb'"),
    ],
)
@pytest.mark.parametrize("y", [1.0, math.nan])
def test_a_point_outside_is_refused_and_nothing_recorded(change, match, y):
    search = new()
    asked = follow(search, 4) and search.ask()
    before = search._now
    with pytest.raises(ValueError, match=match):
        search.tell(asked | change, y)
    with pytest.raises(ValueError, match="^x must be .*, got "):
        search.tell([asked], [y])
    assert search._now is before and search.ask() == asked


def test_repr_shows_the_settings():
    search = new()
    assert "rate, shift, depth, kernel" in repr(search) and "failures=0" in repr(search)
    search.ask()
    assert "asked={'rate':" in repr(search)


@pytest.mark.parametrize("policy", ["practical", "turbo"])
@pytest.mark.parametrize("rounds", [1, 5])
def test_a_point_asked_before_a_save_may_be_told_after_the_load(policy, rounds, tmp_path):
    """Many points decode to one integer or option. The loaded search must record the one that the learner proposed."""
    space = Space([Real("a", 0.0, 3.7), Integer("b", 1, 5), Category("c", ["u", "v", "w"])])
    value = lambda x: -((x["a"] - 1) ** 2) - (x["b"] - 3) ** 2 + (x["c"] == "v")
    begin = lambda: Optimizer(space, policy, 3)
    search = begin()
    for _ in range(rounds):
        x = search.ask()
        search.tell(x, value(x))
    x = search.ask()
    search.save(tmp_path / "running.npz")
    other = begin().restore(tmp_path / "running.npz")
    for one in (search, other):
        one.tell(x, value(x))
    assert torch.equal(search.state.x.view, other.state.x.view)
    assert search.ask() == other.ask()


def test_an_interrupt_returns_what_was_found():
    calls = []

    def function(x):
        calls.append(x)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return x["a"]

    found = minimize(function, Space([Real("a", 0.0, 1.0)]), 20)
    assert len(found.log) == 4 and found.y == min(entry.y for entry in found.log)


def test_an_exception_without_a_printable_message_is_a_failure_with_its_type():
    class Unprintable(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def function(x):
        raise Unprintable

    with pytest.warns(UserWarning, match="the last one with Unprintable"):
        found = minimize(function, Space([Real("a", 0.0, 1.0)]), 2, catch=Unprintable)
    assert [entry.failure for entry in found.log] == ["Unprintable"] * 2


def quadratic(x):
    return (x["shift"] - 1.0) ** 2


class Broken:
    """Learner that raises an error after three observations."""

    def __new__(cls):
        @dataclass(frozen=True)
        class Raises(TuRBO):
            def select(self, state, bounds, draw):
                if state.rounds == 3:
                    raise RuntimeError("no")
                return super().select(state, bounds, draw)

        return Raises(3, candidates=20, fit_steps=3)


def test_an_error_of_the_learner_loses_no_evaluation():
    with pytest.raises(RuntimeError, match="no") as raised:
        minimize(quadratic, SPACE, 10, learner=Broken())
    assert len(raised.value.found.log) == 3 and raised.value.found.y >= 0


def test_a_function_that_exits_has_failed():
    def leaves(x):
        if x["shift"] < 0:
            raise SystemExit(2)
        return quadratic(x)

    found = minimize(leaves, SPACE, 8, learner=LEARNERS["turbo"], catch=SystemExit)
    assert len(found.log) == 8
    with pytest.raises(SystemExit) as raised:
        minimize(leaves, SPACE, 8, learner=LEARNERS["turbo"])
    assert 0 < len(raised.value.found.log) < 8
    assert {entry.failure for entry in found.log} == {None, "SystemExit: 2"}


@pytest.mark.parametrize("policy", ["practical", "algorithm1", "turbo"])
def test_inference_mode_of_the_caller_changes_nothing(policy):
    def played(mode):
        search, asked = None, []
        with torch.inference_mode(mode):
            search = Optimizer(SPACE, learner=LEARNERS[policy])
            for _ in range(4):
                asked.append(search.ask())
                search.tell(asked[-1], -quadratic(asked[-1]))
        return [*asked, search.ask()]

    assert played(True) == played(False)


@pytest.mark.parametrize("policy", ["practical", "turbo"])
def test_a_search_can_be_taken_up_in_inference_mode(policy, tmp_path):
    search = Optimizer(SPACE, learner=LEARNERS[policy])
    for _ in range(3):
        point = search.ask()
        search.tell(point, -quadratic(point))
    search.save(tmp_path / "search")
    with torch.inference_mode():
        taken = Optimizer.load(tmp_path / "search", SPACE, learner=LEARNERS[policy])
        assert taken.ask() == search.restore(tmp_path / "search").ask()


@pytest.mark.parametrize("policy", POLICIES)
def test_existing_data_are_recorded_without_a_search(policy, monkeypatch):
    learner = LEARNERS[policy]
    one, other = (Optimizer(SPACE, learner=learner) for _ in range(2))
    points = [one.space.decode(u) for u in np.random.default_rng(0).random((5, SPACE.size))]
    answers = [-quadratic(x) for x in points]
    one.observe(points, answers)
    after = one.ask()
    for x, y in zip(points, answers):
        other.ask()  # the proposed point is not the one reported next
        other.tell(x, y)
    assert other.ask() == after
    monkeypatch.setattr(type(learner), "select", None)
    one.observe(points, answers)


def test_settings_that_cannot_be_saved_are_refused_at_first():
    model = FunctionModel(eval("lambda w, x: (w * w).sum() * x.sum()"), 3)
    with pytest.raises(ValueError, match="function"):
        Optimizer(SPACE, learner=practical(3, model))


def test_the_papers_output_is_a_query_of_phase_two():
    search = Optimizer(SPACE, learner=LEARNERS["practical"])
    for _ in range(3):
        search.tell(search.ask(), 1.0)
    with pytest.raises(
        ValueError, match="rounds must be above n_init=3, with a value after.*, got 3"
    ):
        search.recommend("uniform")
    drawn = set()
    for t in range(12):
        search.tell(search.ask(), float(t) if t % 3 else math.nan)
        heard = [repr(entry.x) for entry in search.log[3:] if entry.failure is None]
        if heard:
            assert search.recommend("uniform") == search.recommend("uniform")
            assert repr(search.recommend("uniform")) in heard
            drawn.add(heard.index(repr(search.recommend("uniform"))))
    assert len(drawn) > 2


# ---- points that are evaluated again


def test_a_repeated_evaluation_without_noise_is_warned_of_once(tmp_path):
    """GO-UCB stays at its incumbent. If the function has no noise, repeating that point gives no information."""
    search = new(Space([Category("c", ["a", "b"])]), LEARNERS["practical"])
    with pytest.warns(UserWarning, match='{.c.: .+} was evaluated again.*policy="turbo"') as said:
        follow(search, 9, lambda x: float(x["c"] == "a"))
    assert len(said) == 1 and said[0].filename == __file__
    search.save(tmp_path / "run.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        follow(new(search.space).restore(tmp_path / "run.npz"), 3, lambda x: float(x["c"] == "a"))


def test_a_learner_that_searches_is_not_told_to_choose_itself():
    search = new(Space([Integer("n", 1, 2)]), LEARNERS["turbo"])
    with pytest.warns(UserWarning, match="same value. If .* few points, fewer evaluations") as said:
        follow(search, 12, lambda x: float(x["n"]))
    assert len(said) == 1 and "policy" not in str(said[0].message)


@pytest.mark.filterwarnings("error")
def test_no_repetition_is_warned_of_with_noise_or_in_existing_data():
    rng, space = np.random.default_rng(0), Space([Category("c", ["a", "b"])])
    follow(new(space), 9, lambda x: rng.normal())
    follow(
        new(space), 9, lambda x: float(rng.random() < 0.5)
    )  # the values are 0 or 1, and the first repetition differs
    new(space).observe([{"c": "a"}] * 4, [1.0] * 4)
    follow(Optimizer(Space([Real("x", 0.0, 1.0)])), 9, lambda x: 1.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("answers", [(1.0,), (1.0, 0.0)], ids=["one answer", "two answers"])
def test_a_point_is_decoded_once_if_rewards_tie(answers, monkeypatch):
    """The functions are a constant, and one with values 0 and 1 whose noise is visible at a point with both values."""
    space = Space([Real("x", 0.0, 1.0), Category("c", ["a", "b"])])
    counts, search = [], new(space, LEARNERS["turbo"])
    decode = Space.decode
    monkeypatch.setattr(Space, "decode", lambda self, u: counts.append(1) or decode(self, u))
    same = {"x": 0.5, "c": "a"}
    search.observe([same] * len(answers), answers)
    decoded = []
    for t in range(30):
        x, before = search.ask(), len(counts)
        search.tell(x, answers[t % len(answers)])
        decoded.append(len(counts) - before)
    assert max(decoded[1:]) <= 4  # once for the new point, and for the proposed point twice


# ---- tables


def test_tables_and_their_rows_are_points():
    """A column of integers with a missing value, and a row with mixed types, contain floats."""
    pandas = pytest.importorskip("pandas")
    own = [SPACE.decode(u) for u in np.random.default_rng(0).random((5, SPACE.size))]
    answers = [f(x) for x in own]
    frame = pandas.DataFrame(own)
    frame["depth"] = frame["depth"].astype(float)
    one, other = new(), new()
    one.observe(own, answers)
    other.observe(frame, pandas.Series(answers, [f"run {i}" for i in range(5)]))
    assert numbers(one) == numbers(other) and one.log == other.log
    assert [type(entry.x["depth"]) for entry in other.log] == [int] * 5
    rows = new()
    for (_, row), y in zip(frame.iterrows(), answers, strict=True):
        rows.tell(row, y)
    assert numbers(rows) == numbers(one)
    for points in (frame, [row for _, row in frame.iterrows()], frame.to_dict("records")):
        np.testing.assert_array_equal(other.predict(points).mean, one.predict(own).mean)
    single = new()
    for i, y in enumerate(answers):
        single.tell(frame.iloc[[i]], y)
    assert numbers(single) == numbers(one)
    for call in (lambda x: single.tell(x, 1.0), lambda x: single.fail(x, "lost")):
        with pytest.raises(
            ValueError,
            match=r"^x must be one point, .* not with 2 rows \(use observe for several\), got ",
        ):
            call(frame.iloc[:2])
    other.fail(frame.iloc[[0]], "lost")
    assert other.failures[0].action == own[0]
    answers[2] = math.nan
    gap = new()
    gap.observe(frame, pandas.DataFrame({"loss": answers})["loss"])
    assert [entry.y is None for entry in gap.log] == [False, False, True, False, False]
    with pytest.raises(ValueError, match="depth must be an integer from 1 to 6, got 2.5"):
        gap.tell(frame.iloc[0].to_dict() | {"depth": 2.5}, 1.0)
    with pytest.raises(
        ValueError, match=r"^(points\[0\]: )?x must be a dict with the keys 'rate', .*, got "
    ):
        gap.observe(frame.assign(loss=answers), answers)


# ---- categories


def test_a_file_with_categories_as_ordered_numbers_is_refused(tmp_path):
    """Earlier versions used one coordinate per category."""
    search = new()
    follow(search, 4)
    search.save(good := tmp_path / "run.npz")
    head, arrays = parse_npz(good.read_bytes())
    head.pop("checksum")
    head["space"].pop("categories")
    write_npz(old := tmp_path / "old.npz", head, arrays)
    with pytest.raises(
        ValueError,
        match=r"^path must be .* with space\.categories='one coordinate for each option', got .*=None$",
    ):
        new().restore(old)
    plain = Space(SPACE.dimensions[:3])
    assert "categories" not in plain.settings()  # files of a space without categories stay readable


def test_an_option_is_recorded_in_the_middle_of_its_part():
    """Whichever point of the region the learner proposed, all pairs of options have the same distance, in any order of the options."""
    search = new(learner=LEARNERS["turbo"])
    follow(search, 8)
    heard = (search.state.x.view[0, :, 3:] + 1) / 2
    assert torch.allclose(heard.sort(1).values, torch.tensor([3 / 8, 3 / 8, 3 / 4]).double())
