"""The one-line ``repr`` of configurations, which shows the settings that differ from the defaults."""

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest
import torch

from companion.papers import paper_module, papers
from companion.store.keys import content_key
from paperlib import glbomd
from paperlib.core.describe import LONG, describe, frozen_dataclass, short_repr

PARTS = {
    f"{paper}, {name}, {what}": getattr(case, what)
    for paper in papers()
    for name, case in paper_module(paper, "cases").CASES.items()
    for what in ("learner", "problem")
}
every_part = pytest.mark.parametrize("name", PARTS)


@frozen_dataclass
class Inner:
    width: float = 1.0
    pair: tuple = (1, 2)


@frozen_dataclass
class Outer:
    first: int
    base: Inner = dataclasses.field(default_factory=Inner)
    other: Inner = Inner(2.0)
    many: torch.Tensor | None = None
    start: torch.Tensor = torch.tensor([1.5, 2.0], dtype=torch.float64)
    nan: float = float("nan")
    rule: object = len
    kept: str | None = dataclasses.field(init=False, default=None)
    hidden: int = dataclasses.field(repr=False, default=0)

    def __post_init__(self):
        object.__setattr__(self, "kept", "found")


@dataclasses.dataclass(frozen=True)
class Plain:
    base: Inner
    width: float = 1.0


@frozen_dataclass(eq=False)
class Own:
    first: int = 0

    def __repr__(self):
        return "mine"


def nested(x):
    """Return a configuration and the configurations in its fields."""
    if isinstance(x, (tuple, list)):
        return [part for kid in x for part in nested(kid)]
    if not dataclasses.is_dataclass(x) or isinstance(x, type):
        return []
    return [x, *nested([getattr(x, f.name) for f in dataclasses.fields(x)])]


@every_part
def test_the_repr_of_learners_and_problems_shows_non_default_settings(name):
    text = repr(PARTS[name])
    assert "\n" not in text and len(text) <= LONG == 200
    assert text.startswith(type(PARTS[name]).__name__ + "(") and " at 0x" not in text
    for part in nested(PARTS[name]):
        text, told = repr(part), []
        for field in dataclasses.fields(part):
            made = field.default_factory is not dataclasses.MISSING
            default = field.default_factory() if made else field.default
            value = getattr(part, field.name)
            same = type(value) is type(default) and describe(value) == describe(default)
            if field.init and not same:
                told.append(f"{field.name}={short_repr(value)}")
        whole = f"{type(part).__name__}({', '.join(told)})"
        assert text == (whole if len(whole) <= LONG else f"{whole[: LONG - 3]}...")


@every_part
def test_copies_and_pickles_equal_the_original(name):
    part = PARTS[name]
    for again in (dataclasses.replace(part), pickle.loads(pickle.dumps(part)), copy.copy(part)):
        assert type(again) is type(part) and repr(again) == repr(part)
        assert describe(again) == describe(part) and content_key({"x": again}) == content_key(
            {"x": part}
        )
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.anything = 1


@pytest.mark.parametrize(
    "x, text",
    [
        (Outer(1), "Outer(first=1)"),
        (Outer(1, Inner(1)), "Outer(first=1, base=Inner(width=1))"),
        (Outer(True, Inner(pair=(1,))), "Outer(first=True, base=Inner(pair=(1,)))"),
        (Outer(1, other=Inner()), "Outer(first=1, other=Inner())"),
        (Outer(1, start=torch.tensor([1.5, 2.0]).double()), "Outer(first=1)"),
        (Outer(1, rule=max, hidden=3), "Outer(first=1, rule=max)"),
        (Outer(1, many=torch.zeros(40, 3)), "(first=1, many=Tensor(torch.float32, shape=(40, 3)))"),
        (Outer(1, many=np.zeros(2)), "Outer(first=1, many=array([0., 0.]))"),
        (Outer(1, rule=short_repr), "Outer(first=1, rule=short_repr)"),
        (Outer(1, rule=(short_repr, max)), "Outer(first=1, rule=(short_repr, max))"),
        (Outer(1, rule=(short_repr,)), "Outer(first=1, rule=(short_repr,))"),
        (Plain(Inner()), "Plain(base=Inner(), width=1.0)"),
        ((Inner(), Inner(3.0)), "(Inner(), Inner(width=3.0))"),
        (Own(1), "mine"),
        (glbomd.GLBOMD(glbomd.Bernoulli(), 3.0), "GLBOMD(link=Bernoulli(), norm_bound=3.0)"),
    ],
)
def test_the_text_of_a_configuration(x, text):
    assert repr(x).endswith(text)


def test_a_default_has_its_kind():
    # The field is shown because its dtype, float32, differs from the default's.
    assert "start" in repr(Outer(1, start=torch.tensor([1.5, 2.0])))


def test_a_frozen_class_is_a_dataclass():
    assert [f.name for f in dataclasses.fields(Inner)] == ["width", "pair"]
    assert Inner() == Inner(1.0) and hash(Inner()) == hash(Inner(1.0)) and Own() != Own()
    assert list(inspect.signature(Inner).parameters) == ["width", "pair"]
    assert frozen_dataclass.__dataclass_transform__  # for static type checkers


def captures(value, default=0):
    def probe(seen, added=default):
        return probe, value, added

    return probe


class Kernel:
    def of(self, x):
        return x


@dataclasses.dataclass(frozen=True)
class Scaled:
    scale: float

    def of(self, x):
        return self.scale * x


def test_a_function_is_described_with_the_values_that_it_captures():
    assert describe(captures(1.0)) == describe(captures(1.0))
    assert describe(captures(1.0)) != describe(captures(2.0))
    assert describe(captures(1.0, default=1)) != describe(captures(1.0, default=2))
    assert describe(Scaled(1.0).of) != describe(Scaled(2.0).of)
    many = np.arange(2000.0)
    assert describe(captures(many)) != describe(captures(many + 1))
    assert len(str(describe(captures(many)))) < 1000
    assert describe(captures(torch.tensor(many))) != describe(captures(torch.tensor(many) + 1))


def test_functions_that_capture_each_other_have_one_description():
    def make(added):
        def f(x):
            return g(x)

        def g(x):
            return f(x) + added

        return f

    deeper = lambda f: describe(f)
    assert describe(make(1)) == deeper(make(1)) != describe(make(2))
    assert len(str(describe(make(1)))) < 1000


def test_a_captured_object_that_is_no_configuration_is_described_by_its_class():
    assert describe(captures(Kernel()))["captured"]["value"] == f"{__name__}.Kernel"
    assert describe(Kernel().of)["self"] == f"{__name__}.Kernel"


def test_a_function_without_captured_values_is_described_by_its_source():
    alone = lambda seen: seen
    assert describe(alone) == "    alone = lambda seen: seen\n"
