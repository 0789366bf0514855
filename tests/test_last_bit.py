"""The simulation of another processor changes every number by one unit in the last place, and the comparison detects it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench import last_bit
from bench.last_bit import differing

ROOT = Path(__file__).resolve().parents[1]
# The test runs in a separate process, because the startup file patches the library.
CHECK = """
import runpy
from dataclasses import fields

import numpy as np
import torch

moved = runpy.run_path("tests/last_bit/profile_default/startup/perturb.py")["moved"]
x = np.random.default_rng(0).normal(size=10_000)
units = (moved(x) - x) / np.spacing(np.abs(x))
assert set(units.round().tolist()) == {-1.0, 1.0} and abs(units.mean()) < 0.1, units
still = np.array([0.0, 3.0, -2.0, np.inf])
assert (moved(still) == still).all() and np.isnan(moved(np.array([np.nan]))).all()
y = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
moved(2 * y).sum().backward()
assert y.grad.tolist() == [2.0, 2.0]

from companion.linear.cases import CASES
from paperlib.play import play

case, given, received = CASES["OFUL"], [], []

class Problem(type(case.problem)):
    def respond(self, *args):
        feedback, gap = super().respond(*args)
        given.append(feedback)
        return feedback, gap

class Learner(type(case.learner)):
    def update(self, state, context, action, feedback, draw):
        received.append(feedback)
        return super().update(state, context, action, feedback, draw)

copy = lambda kind, x: kind(**{f.name: getattr(x, f.name) for f in fields(x)})
play(copy(Learner, case.learner), copy(Problem, case.problem), 20, 3, 0)
moves = (torch.stack(received) - torch.stack(given)).abs()
assert (moves > 0).all() and (moves < 1e-14).all(), moves
"""


@pytest.mark.slow
def test_every_number_moves_by_one_unit_and_whole_numbers_stay():
    settings = {"PAPERLIB_LAST_BIT": "1", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", CHECK], check=True, cwd=ROOT, env=os.environ | settings)


def test_differences_are_found_by_path():
    curve = np.linspace(1, 2, 5).tolist()
    plain = {"a": {"mean": curve, "last": 1.0}, "b": [{"low": 1.0}, {"low": 2.0}], "c": "text"}
    assert differing(plain, plain) == []
    assert differing(plain, plain | {"c": "other"}) == ["c"]
    moved = plain | {"a": {"mean": [*curve[:-1], 2.00001], "last": 1.0}}
    assert differing(plain, moved) == ["a / mean"]
    assert differing(plain, plain | {"a": {"mean": [0.0] * 5, "last": 2.0}}) == ["a"]
    assert differing(plain, plain | {"b": [{"low": 1.0}, {"low": 2.1}]}) == ["b / 1 / low"]
    rounded = plain | {"a": {"mean": curve, "last": 1.000001}}
    assert differing(plain, rounded) == []


def test_a_partial_call_keeps_earlier_findings(tmp_path, monkeypatch):
    declared = tmp_path / "processor.json"
    declared.write_text('{"a/one": {"quick": ["old"]}, "b/two": {"quick": ["stays"], "paper": []}}')
    numbers = {"a/one": {"new": 1.0, "old": 2.0}}
    read = lambda place: (
        numbers if place.name == "as it is" else {"a/one": {"new": 1.1, "old": 2.0}}
    )
    figure = tmp_path / "figures" / "a" / "one.json"
    figure.parent.mkdir(parents=True)
    figure.write_text('{"figure": "one", "numbers": {"new": 1.0}}')
    places = {"DECLARED": declared, "FIGURES": tmp_path / "figures"}
    for name, replacement in (places | {"run": lambda *_: None, "figures": read}).items():
        monkeypatch.setattr(last_bit, name, replacement)
    every, found = list(last_bit.VARIATIONS), lambda: json.loads(declared.read_text())
    last_bit.main(tmp_path, every[:1], ["a"])
    two = {"b/two": {"quick": ["stays"], "paper": []}}
    assert found() == {"a/one": {"quick": ["new", "old"]}} | two
    last_bit.main(tmp_path, every, ["a"])
    assert found() == {"a/one": {"quick": ["new"]}} | two
    last_bit.main(tmp_path, every, [])
    assert found() == {"a/one": {"quick": ["new"]}, "b/two": {"quick": [], "paper": []}}
    about = json.loads(figure.read_text())
    assert about["numbers"] == {"new": 1.0} and about["processor"] == {"quick": ["new"]}


def test_two_records_differ_where_means_over_the_same_trials_do():
    curve = lambda mean, n, low=0.0: {"mean": mean, "low": low, "n": n}
    old = {"numbers": {"a": curve([1.0, 2.0], 20), "b": [{"estimate": 3.0, "n": 5}], "gone": 1}}
    new = {"numbers": {"a": curve([1.0, 2.1], 20, 0.5), "b": [{"estimate": 3.0, "n": 5}]}}
    assert last_bit.moved_in_record(old, new) == ["a / mean"]
    assert last_bit.moved_in_record(old, {"numbers": {"a": curve([9.0, 9.0], 10)}}) == []
    new["numbers"]["b"][0]["estimate"] = 3.1
    assert last_bit.moved_in_record(old, new) == ["a / mean", "b / 0 / estimate"]
