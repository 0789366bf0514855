"""SLSQP as an independent oracle: it agrees with the certified decisions, it can disagree, and its run time."""

import numpy as np
import pytest

from companion.glbomd.experiments.settings import methods
from companion.glbomd.experiments.slsqp import SLSQPDecisions, against_certified, slsqp_seconds
from paperlib.glbomd.learners.ofuglb import OFUGLB
from paperlib.glbomd.model.links import Bernoulli
from paperlib.glbomd.problems import SphereArms
from paperlib.play import play


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


def test_slsqp_agrees_with_the_certified_decisions():
    found = against_certified(OFUGLB(Bernoulli(), 3.0), SphereArms(norm=3.0), 40, every=4)
    assert (
        found["rounds"].tolist() == list(range(4, 41, 4))
        and np.median(found["seconds"]) > np.median(found["certified"]) > 0
    )
    clear = found["margin"] > 1e-5
    assert clear.sum() > 5 and found["same"][clear].all()


def test_slsqp_is_timed_in_turns_with_another_learner():
    runs = {
        run: played
        for run, played in methods(SphereArms(norm=3)).items()
        if run[0] in ("OFUGLB", "GLB-OMD")
    }
    found = slsqp_seconds(runs, 40, 4, 3)
    assert all(seconds.shape == (3, 10) for seconds in found.values())
    assert (found.typical(("OFUGLB", 3)) > found.typical(("GLB-OMD", 3))).all() and (
        found["GLB-OMD", 3] > 0
    ).all()


def test_slsqp_detects_a_wrong_decision():
    """Check that the probe can disagree, by passing it a round with another arm."""
    disagreements = []

    class Liar(SLSQPDecisions):
        def __call__(self, seen):
            out = super().__call__(seen._replace(action=(seen.action + 1) % 20))
            disagreements.append(float(out[0, 1]))
            return out

    play(
        OFUGLB(Bernoulli(), 3.0),
        SphereArms(norm=3.0),
        10,
        1,
        record=[5, 10],
        probes={"x": Liar(OFUGLB(Bernoulli(), 3.0))},
    )
    assert disagreements == [0.0, 0.0]
