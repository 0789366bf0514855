"""Real data as arms: the data sets of a run, their learners, and a line style for each curve."""

import math

import pytest

from companion.bkb.experiments.settings import (
    ARM_SETS,
    QBARS,
    RKHS_1D,
    arm_sets,
    parity_learners,
    real_learners,
    sketch_name,
    warm_learners,
)
from companion.bkb.problems.real import BUNDLED, FETCHED, TableArms
from companion.datasets import registry
from companion.figures import drawing
from paperlib.bkb import BKB, Confidence, ExactGPUCB, LazyBKB, WarmRKHS


def test_real_learners_are_lazy_on_the_large_sets(monkeypatch):
    small = real_learners(TableArms("digits"))
    assert list(small) == ["GP-UCB", "BKB", "SoR", "RFF 100", "uniform"] and isinstance(
        small["SoR"], BKB
    )
    assert isinstance(small["GP-UCB"], ExactGPUCB) and small["BKB"].confidence == Confidence(
        0.3, 3.0, scale=0.2
    )
    monkeypatch.setattr(TableArms, "__post_init__", lambda self: None)  # no file is read
    for name in ("abalone", "california_housing"):
        large = real_learners(TableArms(name, gamma=0.1))
        assert (
            isinstance(large["LazyBKB"], LazyBKB)
            and large["LazyBKB"].threshold == 2
            and large["LazyBKB"].confidence.scale == 0.5
        )
        assert (
            isinstance(large["SoR"], LazyBKB)
            and large["SoR"].variance == "sor"
            and "BKB" not in large
        )
    assert ARM_SETS.keys() == set(BUNDLED + FETCHED)


def test_all_drawn_lines_have_a_style():
    names = [
        *parity_learners(RKHS_1D),
        *warm_learners(WarmRKHS(), 5),
        *real_learners(TableArms("diabetes")),
        "LazyBKB",
    ]
    rows_only = {sketch_name(q, "arms") for q in QBARS} - {"BKB, arms"}
    assert set(names) - rows_only <= drawing.registered_styles().keys()


def test_exact_runs_fit_into_memory():
    """8 bytes per trial, arm and round, in a buffer that is copied to twice its size, stay below 2 GiB."""
    arms = {
        "diabetes": (442, 600),
        "digits": (1797, 400),
        "abalone": (4177, 1000),
        "california_housing": (20640, 1000),
    }
    for name, (A, T) in arms.items():
        rows = 2 ** math.ceil(math.log2(T))
        assert 1.5 * 8 * ARM_SETS[name].chunk * A * rows < 2**30


def test_data_sets_by_profile(monkeypatch):
    def missing(name):
        if name == "abalone":
            raise FileNotFoundError(name)

    monkeypatch.setattr(registry, "fetch", missing)
    assert arm_sets("bundled") == (
        ["diabetes", "digits"],
        dict.fromkeys(["abalone", "california_housing"], "bundled data only"),
    )
    assert arm_sets("auto") == (
        ["diabetes", "digits", "california_housing"],
        {"abalone": "the file is not available"},
    )
    with pytest.raises(FileNotFoundError):
        arm_sets("real")
    monkeypatch.setattr(registry, "fetch", lambda name: None)
    assert (
        arm_sets("real")
        == arm_sets("auto")
        == (["diabetes", "digits", "abalone", "california_housing"], {})
    )
    with pytest.raises(
        ValueError, match="data must be one of 'bundled', 'auto', 'real', got 'none'"
    ):
        arm_sets("none")


def test_bundled_data_are_never_downloaded(monkeypatch):
    monkeypatch.setattr(registry, "fetch", lambda name: pytest.fail("a download"))
    assert arm_sets("bundled")[0] == ["diabetes", "digits"]
