"""Learners in the figures, and their constants."""

from companion.glbomd.experiments import settings
from paperlib.glbomd.model.links import Bernoulli, Poisson
from paperlib.glbomd.problems import SphereArms


def test_settings_of_the_figures():
    logistic, counts = (
        settings.paper_learners(SphereArms(Bernoulli(), 3)),
        settings.paper_learners(SphereArms(Poisson(), 3)),
    )
    assert list(logistic) == [
        "GLM-UCB",
        "GLOC",
        "RS-GLinCB",
        "OFUGLB",
        "OFULog-r",
        "ECOLog",
        "GLB-OMD",
        "greedy",
        "uniform",
        "longest",
    ]
    assert logistic.keys() - counts.keys() == {"OFULog-r", "ECOLog"}
    assert round(logistic["GLM-UCB"].kappa) == 21 and round(counts["GLOC"].kappa) == 18
    assert counts["RS-GLinCB"].reward_bound == 100 and logistic["GLM-UCB"].reward_bound == 1
    assert logistic["GLB-OMD"].ridge == "dim" and logistic["greedy"].scale == 0
    assert settings.trial_counts(logistic, 9, 5, 3) == {
        n: 5 if n in settings.FITTED else 3 if n in settings.ONE_TRIAL else 9 for n in logistic
    }
    assert all(learner.scale == 0.05 for learner in settings.covertype_learners(0.05).values())
