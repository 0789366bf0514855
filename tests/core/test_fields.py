"""The constructor checks every declared range of a field. The invalid values are generated from the declarations."""

import dataclasses
import math

import pytest
import torch

from companion.papers import paper_module, papers
from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass


def parts(x, found):
    """Return a configuration and all configurations in its fields, one of each class."""
    if isinstance(x, (tuple, list)):
        for part in x:
            parts(part, found)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        found.setdefault(type(x), x)
        for f in dataclasses.fields(x):
            parts(getattr(x, f.name), found)


def instances():
    found = {}
    for paper in papers():
        for case in paper_module(paper, "cases").CASES.values():
            parts((case.learner, case.problem), found)
    return found


INSTANCES = instances()
DECLARED = [
    pytest.param(x, name, value, id=f"{kind.__name__}.{name}-{value}")
    for kind, x in INSTANCES.items()
    for name, declared in fields.declared_ranges(x).items()
    for value in declared.outside
]


@pytest.mark.parametrize("x, name, value", DECLARED)
def test_a_value_out_of_its_declared_range_is_refused(x, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be "):
        dataclasses.replace(x, **{name: value})


def test_most_classes_declare_ranges():
    assert len(DECLARED) > 300


@frozen_dataclass
class Mine:
    noise: float = fields.positive()
    size: int = fields.size(3, least=2)
    share: float = fields.number(0.5, 0.0, 1.0)
    loss: float = fields.nonnegative(0.0)
    delta: float = fields.probability(0.1)
    variant: str = fields.one_of(("paper", "public"), "paper")
    scale: float | torch.Tensor | None = fields.positive(None, by_trial=True, optional=True)

    def __post_init__(self):
        if self.size > 10:
            raise ValueError("after")


@pytest.mark.parametrize(
    "given",
    [
        {"noise": 0.0},
        {"noise": math.inf},
        {"noise": "1"},
        {"size": 1},
        {"size": 2.5},
        {"share": 1.01},
        {"share": -0.01},
        {"loss": -1e-9},
        {"delta": 0.0},
        {"delta": 1.01},
        {"variant": "other"},
        {"scale": torch.tensor([1.0, 0.0])},
    ],
)
def test_a_field_is_checked_by_its_declaration(given):
    (name,) = given
    with pytest.raises(ValueError, match=f"^{name} must be "):
        Mine(**{"noise": 1.0} | given)


def test_values_in_range_pass_and_the_class_checks_afterwards():
    Mine(1.0, 2, 1.0, 1.0, 1.0, "public", torch.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="noise"):
        Mine()
    with pytest.raises(ValueError, match="^noise must be"):
        Mine(0.0, 11)
    with pytest.raises(ValueError, match="^after"):
        Mine(1.0, 11)


def test_a_subclass_checks_its_own_fields_and_those_of_its_base():
    sub = frozen_dataclass(
        type("Sub", (Mine,), {"__annotations__": {"more": int}, "more": fields.whole(1)})
    )
    for given in ({"more": 0}, {"share": 2.0}):
        with pytest.raises(ValueError, match=f"^{next(iter(given))} must .*, got "):
            sub(1.0, **given)
