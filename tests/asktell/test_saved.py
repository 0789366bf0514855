"""Files of earlier versions are loaded, and the learners continue.

Version 0.1.0 wrote the files in ``saved/`` after ``ten_rounds``. Its classes were defined in other modules
(``paperlib.glbomd.glbomd.GLBOMD``, ``paperlib.combine.Doubling``).
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from paperlib import bkb, glbomd, goucb, pfbco
from paperlib.asktell import AskTell, Optimizer
from paperlib.asktell.trial import _differing
from paperlib.core.describe import configs_equal, describe

SAVED = Path(__file__).parent / "saved"
# the next action of version 0.1.0
ASKED = {"glbomd": 3, "bkb": 4, "pfbco": [0.2144616361100558, 0.24323582300375376]}


def glbomd_user(norm=3.0):
    i = np.arange(12.0)
    arms = np.stack([np.cos(i), np.sin(i)], 1)
    return AskTell(glbomd.GLBOMD(glbomd.Bernoulli(), norm), arms, horizon=100, seed=1)


def bkb_user():
    learner = bkb.LazyBKB(bkb.Matern(2.5, 0.2), bkb.Confidence(0.1, norm_bound=1.0), 5.0)
    return bkb.Optimizer(learner, np.linspace(0, 1, 12)[:, None], seed=1)


def pfbco_user():
    triangle = pfbco.polytope(np.vstack([-np.eye(2), np.ones((1, 2))]), np.array([0.0, 0.0, 1.0]))
    return pfbco.Optimizer(triangle, loss_bound=2.0, seed=1)


USERS = {"glbomd": glbomd_user, "bkb": bkb_user, "pfbco": pfbco_user}


def ten_rounds(user):
    for _ in range(10):
        action = user.ask()
        if isinstance(user, pfbco.Optimizer):
            user.tell(float(np.sum((action - 0.3) ** 2)))
        else:
            user.tell(action, float(action % 2))
    return user


@pytest.mark.parametrize("name", ["glbomd", "bkb"])
def test_a_learner_saved_by_0_1_0_continues_unchanged(name):
    user = USERS[name]().restore(SAVED / f"{name}.npz")
    assert user.rounds == 10
    np.testing.assert_allclose(user.ask(), ASKED[name], rtol=1e-9)
    np.testing.assert_allclose(ten_rounds(USERS[name]()).ask(), ASKED[name], rtol=1e-9)


def test_old_files_of_pf_without_the_last_epoch_are_rejected():
    """The present optimizer needs the last finished epoch, which the file does not contain."""
    with pytest.raises(
        ValueError,
        match="^path must be a file saved by a learner with .*, saved by a learner with learner.base.kind=",
    ):
        pfbco_user().restore(SAVED / "pfbco.npz")
    np.testing.assert_allclose(ten_rounds(pfbco_user()).ask(), ASKED["pfbco"], rtol=1e-9)


@pytest.mark.parametrize("kind", [AskTell, Optimizer])
def test_files_of_the_removed_optimizer_of_goucb_are_rejected(kind):
    """Its learner on the unit cube equals the one given here, but the file does not contain the user's units."""
    learner, path = goucb.TuRBO(3, gain=0.0), SAVED / "goucb.npz"
    box = goucb.Bounds(torch.zeros(1).double(), torch.ones(1).double())
    user = kind(learner, box, seed=1)
    for load in (
        lambda: kind.load(path, learner, box),
        lambda: user.restore(path),
        lambda: pfbco_user().restore(path),
    ):
        with pytest.raises(
            ValueError,
            match="goucb.npz', saved by goucb.Optimizer, which was removed. .*paperlib.samplers",
        ):
            load()
    assert user.rounds == 0


def test_another_learner_is_refused_by_what_differs():
    with pytest.raises(ValueError, match="norm_bound=3.0") as error:
        glbomd_user(norm=2.0).restore(SAVED / "glbomd.npz")
    assert "kind" not in str(error.value)
    with pytest.raises(
        ValueError,
        match="^path must be a file saved by a learner with .*, got '.*', saved by a learner with",
    ):
        bkb_user().restore(SAVED / "glbomd.npz")


@pytest.mark.parametrize(
    "there, here, equal",
    [
        ("paperlib.glbomd.glbomd.GLBOMD", "paperlib.glbomd.GLBOMD", True),
        ("paperlib.combine.Doubling", "paperlib.learners.wrapper.Doubling", True),
        ("paperlib.glbomd.reference.LongestArm", "paperlib.learners.reference.LongestArm", True),
        ("paperlib.bkb.features.OFUL", "paperlib.linear.OFUL", False),
        ("paperlib.glbomd.glbomd.GLBOMD", "paperlib.glbomd.GLOC", False),
        ("mine.old.Learner", "mine.Learner", False),
        ("paperlib.gp.RBF", 1.0, False),
        (None, None, True),
        (1.0, 2.0, False),
    ],
)
def test_a_class_is_described_by_paper_and_name(there, here, equal):
    assert configs_equal(there, here) == configs_equal(here, there) == equal


def test_errors_use_the_public_name_of_a_class():
    kinds = json.dumps([describe(user().learner) for user in USERS.values()])
    for kind in (
        "paperlib.glbomd.GLBOMD",
        "paperlib.glbomd.Bernoulli",
        "paperlib.bkb.LazyBKB",
        "paperlib.bkb.Confidence",
        "paperlib.maths.gp.Matern",
        "paperlib.pfbco.PFBCO",
        "paperlib.learners.wrapper.Doubling",
    ):
        assert f'"{kind}"' in kinds


@pytest.mark.parametrize(
    "value, differing", [(False, {}), (True, {"learner.start_at_zero": (True, None)})]
)
def test_a_removed_option_matters_only_if_it_changed_the_learner(value, differing):
    there = {"learner": {"norm_bound": 1.0, "start_at_zero": value}}
    assert _differing(there, {"learner": {"norm_bound": 1.0}}) == differing
