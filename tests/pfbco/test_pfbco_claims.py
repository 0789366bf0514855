"""Tests of the verdicts that small runs decide, with the notebooks' statistics; they include failures of the paper's sentences."""

import pytest

from companion import verdicts
from companion.pfbco.experiments.losses import average, beats, ratio, relative_difference
from companion.pfbco.experiments.settings import (
    FIGURE,
    RIVALS,
    best_matrix_loss,
    learners,
    recorded,
)
from companion.pfbco.problems.portfolio import Portfolio
from paperlib import stats
from paperlib.pfbco import MatrixCompletion, QuadraticPolytope
from paperlib.pfbco.probes import FixedLoss
from paperlib.play import Probe, play

REST = ("PF", "Unregularized", "StochOCG")
PANELS = {
    "a": (QuadraticPolytope(dim=10, rows=10), 1023),
    "b": (Portfolio(100, "synthetic", 0.1), 1203),
    "c": (MatrixCompletion(20, 18, "paper_lmo"), 255),
}
EXPECTED = {
    "C1c": ("a", "holds", lambda run: beats(run, "FKM", REST)),
    "C1d": (
        "a",
        "holds",
        lambda run: ratio(average(run["Unregularized"]), average(run["Unregularized"], 64)),
    ),
    "C2a": ("b", "holds", lambda run: beats(run, "FKM", REST, largest=True)),
    "C2b": ("b", "fails", lambda run: beats(run, "PF", RIVALS)),
    "C3b.printed": ("c", "holds", lambda run: beats(run, "FKM", REST, largest=True)),
} | {
    f"N1.{panel}": (
        panel,
        "holds",
        lambda run: relative_difference(average(run["PF"]), average(run["PF, sham"])),
    )
    for panel in "ab"
}
EXPECTED["N1.c"] = (
    "c",
    "holds",
    lambda run: relative_difference(
        average(run["PF"]),
        average(run["PF, sham"]),
        gain=average(run["PF"], name="origin")
        - best_matrix_loss(MatrixCompletion(20, 18), 255, 10),
    ),
)


@pytest.fixture(scope="module")
def panels():
    """Return a function that plays each panel's learners at c = 0.1 with ten trials, on first use."""
    found = {}

    def get(panel):
        if panel not in found:
            problem, horizon = PANELS[panel]
            known = learners(0.1)
            found[panel] = {
                name: play(
                    known[name],
                    problem,
                    horizon,
                    10,
                    record=recorded(horizon),
                    probes={"origin": Probe(FixedLoss(problem), "sum")} if name == "PF" else {},
                )
                for name in FIGURE
            }
        return found[panel]

    return get


@pytest.mark.slow
@pytest.mark.parametrize("id", EXPECTED)
def test_robust_verdicts_in_small(id, panels, tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    panel, verdict, statistic = EXPECTED[id]
    assert (
        verdicts.judge(f"pfbco.{id}", statistic(panels(panel)), profile="quick").verdict == verdict
    )


@pytest.mark.parametrize(
    "trials, verdict", [(50, "holds"), (49, "inconclusive"), (46, "inconclusive"), (39, "fails")]
)
def test_the_fraction_of_declining_trials_is_judged_by_its_interval(
    trials, verdict, tmp_path, monkeypatch
):
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    share = stats.proportion(trials, 50)
    assert verdicts.judge("pfbco.C1a.epochs", share, profile="quick").verdict == verdict
