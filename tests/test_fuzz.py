"""Random calls with valid and invalid values on all subjects of ``fuzz``."""

import math

import fuzz
import pytest
from fuzz import Subject, call, calls, finite

from companion.papers import paper_module, papers
from paperlib.bkb import problems

PARTS = range(20)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Make problems that draw until a condition holds give up earlier."""
    monkeypatch.setattr(problems, "ATTEMPTS", 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", PARTS)
def test_750_random_calls_work_or_raise_a_clear_error(seed):
    """15,000 calls in total."""
    assert calls(750, seed) == []


@pytest.mark.slow
def test_default_arguments_of_all_subjects_work():
    for subject in fuzz.subjects():
        assert call(subject, {}) is None, subject


def test_every_learner_is_tried():
    tried = {subject.make for subject in fuzz.subjects()}
    for paper in papers():
        for case in paper_module(paper, "cases").CASES.values():
            for learner in (case.learner, getattr(case.learner, "base", None)):
                assert type(learner) in tried or learner is None or not fuzz.fields(learner)


def raises(error):
    def make(x):
        raise error

    return make


@pytest.mark.parametrize(
    "make, value, said",
    [
        (lambda x: x, math.nan, "is not finite"),
        (lambda x: math.exp(x), 1e3, "OverflowError"),
        (lambda x: 1 / x, 0.0, "ZeroDivisionError"),
        (raises(ValueError("math domain error")), 1.0, "names nothing"),
        (raises(TypeError("must be real number, not str")), "a", "names nothing"),
        (raises(AttributeError("x")), None, "AttributeError"),
        (raises(ValueError("x must be a number, got nan")), math.nan, None),
    ],
)
def test_a_failing_call_is_detected(make, value, said):
    found = call(Subject(make, {"x": 1.0}, lambda made: finite(made, "x")), {"x": value})
    assert found is None if said is None else said in found
