"""A NumPy scalar is accepted as a Python number in every argument, and formulas compute with the Python number.

The tested arguments are found automatically: the fields of all learners and problems of the papers' test cases, with all
configurations in them, and the arguments of all subjects of ``fuzz``.
"""

import ast
import dataclasses
import inspect
import warnings
from pathlib import Path

import fuzz
import numpy as np
import pytest
import torch

import paperlib
from companion.papers import paper_module, papers
from companion.store import split_chunks
from paperlib import nsbco, pfbco
from paperlib.asktell import AskTell
from paperlib.core.describe import describe, short_repr
from paperlib.learners.reference import UniformArm
from paperlib.linear.problems import Circle
from paperlib.play import play

CODES = np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"
KINDS = [np.dtype(code).type for code in CODES]
ARMS = np.eye(3) / 2


def scalars(value):
    """Yield the value as every NumPy type that can hold it, with the Python number after rounding to that type."""
    for kind in KINDS:
        if isinstance(value, bool) != (kind is np.bool_):
            continue
        if isinstance(value, int) and not isinstance(value, bool) and issubclass(kind, np.floating):
            continue  # floats are not accepted in place of integers
        if isinstance(value, float) and not issubclass(kind, np.floating):
            continue
        try:
            with np.errstate(all="ignore"):
                scalar = kind(value)
        except OverflowError:  # the value exceeds a small integer type
            continue
        yield scalar, type(value)(scalar)


def both(value):
    """Yield pairs of a setting with NumPy scalars and the same setting with Python numbers."""
    if isinstance(value, str):
        yield np.str_(value), value
    elif isinstance(value, (bool, int, float)):
        yield from scalars(value)
    elif isinstance(value, tuple) and value and all(type(x) in (int, float) for x in value):
        for pairs in zip(*(list(scalars(float(x))) for x in value)):
            yield tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def outcome(make):
    """Return the result of a call: the configuration, or the text of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = make()
    except ValueError as error:
        return "refused", str(error)
    return "made", repr(made), describe(made) if dataclasses.is_dataclass(made) else None


def within(x):
    """Yield a configuration and all configurations in its fields."""
    if isinstance(x, (tuple, list)):
        for kid in x:
            yield from within(kid)
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        yield x
        for value in fuzz.fields(x).values():
            yield from within(value)


def configurations():
    """Yield every configuration of the test cases once."""
    found = {}
    for paper in papers():
        for case in paper_module(paper, "cases").CASES.values():
            for x in (*within(case.learner), *within(case.problem)):
                found.setdefault(f"{type(x).__name__} {short_repr(x)} {describe(x)}", x)
    return list(found.values())


CONFIGURATIONS = configurations()
TYPES = sorted({type(x) for x in CONFIGURATIONS}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_a_field_takes_a_scalar_of_numpy_as_the_python_number(kind):
    for x in CONFIGURATIONS:
        if type(x) is not kind:
            continue
        for name, value in fuzz.fields(x).items():
            for ours, plain in both(value):
                made = outcome(lambda: dataclasses.replace(x, **{name: ours}))
                assert made == outcome(lambda: dataclasses.replace(x, **{name: plain})), (
                    name,
                    ours,
                )
                assert plain != value or made[0] == "made", (name, ours)


def test_arithmetic_of_fields_is_pythons():
    for x in CONFIGURATIONS:
        for name, value in fuzz.fields(x).items():
            for ours, plain in both(value):
                if plain == value:
                    stored = getattr(dataclasses.replace(x, **{name: ours}), name)
                    assert type(stored) is type(plain), (x, name, ours)


CALLS = {
    i: subject
    for i, subject in enumerate(fuzz.subjects())
    if not dataclasses.is_dataclass(subject.make)
}


@pytest.mark.parametrize("i", CALLS)
def test_calls_accept_numpy_scalars_as_python_numbers(i):
    make, given, _ = CALLS[i]
    for name, value in given.items():
        for ours, plain in both(value):
            made = outcome(lambda: make(**given | {name: ours}))
            assert made == outcome(lambda: make(**given | {name: plain})), (name, ours)


DISK = nsbco.ball([0.0, 0.0], 1.0)
BEGIN = {  # with a value for every number that has no default
    AskTell: {"learner": UniformArm(), "context": ARMS, "horizon": 9},
    nsbco.Optimizer: {
        "domain": DISK,
        "concavity": 0.25,
        "smoothness": 0.5,
        "noise": 0.0625,
        "y_range": (-2.0, 2.0),
        "horizon": 9,
    },
    pfbco.Optimizer: {"cset": pfbco.Ball.of(2), "loss_bound": 2.0, "horizon": 8},
}


@pytest.mark.parametrize("kind", BEGIN, ids=lambda kind: kind.__module__)
def test_an_optimizer_takes_a_scalar_of_numpy_as_the_python_number(kind):
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(kind).parameters.items()
        if type(parameter.default) in (int, float, bool, tuple)
    }
    told = {"feedback": 0.5} if kind is AskTell else {}
    for name, value in (defaults | BEGIN[kind]).items():
        for ours, plain in both(value):
            if plain != value:
                continue
            users = [kind(**BEGIN[kind] | {name: x}) for x in (ours, plain)]
            assert users[0]._settings() == users[1]._settings() and repr(users[0]) == repr(users[1])
            asked = [user.ask() for user in users]
            np.testing.assert_equal(*asked)
            for user, action in zip(users, asked):
                one = (action,) if kind is AskTell else ()
                user.tell(*one, *told.values() or (0.5,))
            np.testing.assert_equal(*(user.ask() for user in users))


@pytest.mark.parametrize("kind", [x for x in KINDS if issubclass(x, np.integer)])
def test_play_and_store_take_integers_of_numpy(kind):
    run = lambda number: play(
        UniformArm(), Circle(arms=3), number(6), number(2), number(3), record=number(2)
    )
    there, here = run(kind), run(int)
    np.testing.assert_array_equal(there["regret"], here["regret"])
    assert there.about == here.about and there.trials == here.trials
    assert split_chunks(kind(100), kind(60)) == [range(60), range(60, 100)]
    assert play(UniformArm(), Circle(arms=3), 2, np.array([0, 1], kind)).trials == [0, 1]


def test_settings_of_small_kinds_are_computed_with_in_float64():
    """An int16 overflows from 182^2 on, and a float32 rounds to seven digits."""
    user = pfbco.Optimizer(pfbco.Ball.of(2), loss_bound=np.float32(0.1), horizon=np.int16(30000))
    same = pfbco.Optimizer(pfbco.Ball.of(2), loss_bound=float(np.float32(0.1)), horizon=30000)
    assert user.loss_bound == same.loss_bound and type(user.horizon) is int
    for name, x in zip(user.state._fields, user.state):
        y = getattr(same.state, name)
        assert not isinstance(x, torch.Tensor) or torch.equal(x, y)


# ---- source code -----------------------------------------------------------------------------------

CHECKS = {
    f"check_{kind}"
    for kind in (
        "number",
        "positive",
        "nonnegative",
        "probability",
        "integer",
        "size",
        "coordinates",
    )
}
CHECKS |= {"check_open_interval"}
FILES = list(Path(paperlib.__file__).parent.rglob("*.py"))


def checks(tree):
    """Return the calls of checks that the file imports."""
    imports = [x for x in ast.walk(tree) if isinstance(x, ast.ImportFrom)]
    names = {
        name.name
        for x in imports
        if (x.module or "").endswith(("validation", "confidence"))
        for name in x.names
    }
    called = lambda x: isinstance(x, ast.Call) and isinstance(x.func, ast.Name)
    return [x for x in ast.walk(tree) if called(x) and x.func.id in CHECKS & names]


def dropped(tree):
    """Yield checks of an argument, ``check_positive("c", c)``, whose result is discarded in a function that computes with the argument."""
    calls = checks(tree)
    for function in [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]:
        nodes = list(ast.walk(function))
        used = [x for x in nodes if isinstance(x, ast.Name)]
        for line in [x for x in nodes if isinstance(x, ast.Expr) and x.value in calls]:
            name, value = line.value.args[:2]
            if isinstance(name, ast.Constant) and isinstance(value, ast.Name):
                later = [x for x in used if x.id == value.id and x.lineno > line.end_lineno]
                if later and name.value == value.id:
                    yield f"{function.name}: {ast.unparse(line)}"


def unfrozen(tree):
    """Yield dataclasses that check their fields without converting them to Python numbers first."""
    calls = checks(tree)
    for kind in [x for x in ast.walk(tree) if isinstance(x, ast.ClassDef)]:
        names = {ast.unparse(x).split("(")[0] for x in kind.decorator_list}
        plain = bool(names & {"dataclass", "dataclasses.dataclass"})
        made = [x for x in kind.body if getattr(x, "name", "") == "__post_init__"]
        if plain and any(node in calls for x in made for node in ast.walk(x)):
            yield kind.name


@pytest.mark.parametrize("find", [dropped, unfrozen])
def test_checked_values_become_python_numbers(find):
    found = [(path.name, x) for path in FILES for x in find(ast.parse(path.read_text()))]
    assert found == []


def test_a_check_whose_result_is_dropped_is_found():
    known = "from validation import check_positive\n"
    code = f"{known}def f(c):\n    {{}}check_positive('c', c)\n    return c**2"
    assert list(dropped(ast.parse(code.format("")))) == ["f: check_positive('c', c)"]
    assert list(dropped(ast.parse(code.format("c = ")))) == []
    code = (
        f"{known}@{{}}\nclass A:\n    def __post_init__(self):\n        check_positive('c', self.c)"
    )
    assert list(unfrozen(ast.parse(code.format("dataclass(frozen=True)")))) == ["A"]
    assert list(unfrozen(ast.parse(code.format("frozen_dataclass")))) == []
