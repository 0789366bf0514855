"""Additions of a notebook's ``Study`` to its figures and verdicts."""

import json

import pytest

from companion import figures
from companion.study import Study
from companion.workflow import declared

STEM = "linear_1_ellipsoid"


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Return the parameters of a quick run that writes to a separate folder."""
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    return {name: line.value for name, line in declared.read_parameters(STEM).items()}


def test_a_figure_stores_the_parameters_of_its_run(names, tmp_path):
    study = Study(STEM, names | {"device": "cpu", "seed": 7, "horizon": 60})
    fig, _ = figures.panels(1)
    study.save("one", figures.Drawing(fig, "A panel.", "Nothing.", trials=3))
    kept = json.loads((tmp_path / "custom/linear/one.json").read_text())
    assert (kept["paper"], kept["profile"], kept["seed"]) == ("linear", "custom", 7)
    assert kept["device"] == study.device == "cpu"
    assert kept["parameters"] == {"notebook": STEM, **study.parameters}
    assert study.parameters.keys() == names.keys() - {"profile", "device", "seed"}
    assert study.parameters["horizon"] == 60


def test_arguments_of_a_cell_override_values_of_the_study(names, tmp_path):
    study = Study(STEM, names)
    fig, _ = figures.panels(1)
    more = {"paper": "tour", "seed": 9, "parameters": {"packages": "none"}}
    study.save("one", figures.Drawing(fig, "A panel.", "Nothing.", trials=3), **more)
    kept = json.loads((tmp_path / "quick/tour/one.json").read_text())
    assert kept["seed"] == 9
    assert kept["parameters"] == {"notebook": STEM, "packages": "none"}


def test_verdicts_belong_to_the_profile(names, tmp_path):
    study = Study(STEM, names)
    assert study.judge("linear.C1", 1.0, (0.5, 1.5), 3).profile == "quick"
    names["profile"] = "custom"  # the kernel does this after a cell that changes a parameter
    assert study.not_run("linear.C1", "no data").profile == study.profile == "custom"
    assert (tmp_path / "quick/claims/linear.C1.json").exists()
    assert (tmp_path / "custom/claims/linear.C1.json").exists()
    with pytest.raises(ValueError, match="^id must be a claim with parts, got 'linear.C1'"):
        study.conclude("linear.C1")
