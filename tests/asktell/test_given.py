"""Actions, feedback, reasons and paths in the forms that users pass.

For example, tables, batches with one invalid entry, float32 numbers and gradients.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from toy import Coins, Index

from paperlib import bkb, glbomd, goucb, linear, nsbco, pfbco
from paperlib.asktell import AskTell, Optimizer
from paperlib.core.validation import check_array, norm_slack
from paperlib.maths.bounds import Bounds, check_bounds
from paperlib.play import play

pd = pytest.importorskip("pandas")

ARMS = np.eye(4) / 2
LEARNER = bkb.LazyBKB(bkb.Matern(2.5, 0.5), bkb.Confidence(0.1, 1.0))
DISK = nsbco.ball([0.0, 0.0], 1.0)
BOX = Bounds(torch.zeros(1).double(), torch.ones(1).double())
HALF = [
    0.5,
    Decimal("0.5"),
    Fraction(1, 2),
    np.float16(0.5),
    np.array([0.5]),
    torch.tensor([[0.5]]),
]
HALF += [torch.tensor(0.5, requires_grad=True), [0.5], pd.Series([0.5]), pd.DataFrame({"y": [0.5]})]
NONE = ["0.5", True, None, [0.5, 0.5], 0.5 + 0j, np.datetime64("2020"), {}]


def users():
    """Return an ask/tell object of every paper with numerical feedback, and a function that tells its feedback."""
    return {
        "asktell": (AskTell(Index(), ARMS), lambda user, y: user.tell(user.ask(), y)),
        "bkb": (bkb.Optimizer(LEARNER, ARMS), lambda user, y: user.tell(user.ask(), y)),
        "linear": (
            AskTell(linear.OFUL(0.1, 1.0), ARMS),
            lambda user, y: user.tell(user.ask(), y),
        ),
        "glbomd": (
            AskTell(glbomd.GLBOMD(glbomd.Gaussian(1.0), 1.0), ARMS),
            lambda user, y: user.tell(user.ask(), y),
        ),
        "goucb": (Optimizer(goucb.TuRBO(3), BOX), lambda user, y: user.tell(user.ask(), y)),
        "nsbco": (nsbco.Optimizer(DISK, 0.25, 0.5, 0.1), lambda u, y: (u.ask(), u.tell(y))),
        "pfbco": (pfbco.Optimizer(pfbco.Ball.of(2)), lambda u, y: (u.ask(), u.tell(y))),
    }


@pytest.mark.parametrize("name", users())
@pytest.mark.filterwarnings("error")
def test_feedback_is_one_real_number_of_any_type(name):
    states = []
    for y in HALF:
        user, tell = users()[name]
        tell(user, y)
        states.append(user.state)
        assert user.rounds == 1
    for state in states:
        assert repr(state) == repr(states[0])
    for y in NONE:
        user, tell = users()[name]
        with pytest.raises(ValueError, match="must be one real number, got"):
            tell(user, y)
        assert user.rounds == 0


# ---- tables ----------------------------------------------------------------------------------------


def test_an_index_may_come_as_a_float_from_a_table():
    """A column with a missing entry contains floats, and so does every row of a table with such a column."""
    table = pd.DataFrame({"arm": [3, 0, 2], "reward": [1.0, 0.0, 0.5]})
    user, other = (Optimizer(Index(), ARMS) for _ in range(2))
    for _, row in table.iterrows():
        assert isinstance(row.arm, float)
        user.tell(row.arm, row.reward)
    other.tell([3, 0, 2], [1.0, 0.0, 0.5])
    assert repr(user.state) == repr(other.state)
    for bad in (2.5, np.nan, np.inf, -1.0, 4.0):
        with pytest.raises(
            ValueError,
            match="^action must be (the index of an arm, which is an integer|an index from 0 to 3), got ",
        ):
            user.tell(bad, 1.0)


@pytest.mark.parametrize("call", ["tell", "observe"])
def test_columns_of_a_table_are_batches(call):
    table = pd.DataFrame({"arm": [3.0, 0.0, 2.0], "reward": [1.0, 0.0, 0.5]}, index=[7, 8, 9])
    plain = bkb.Optimizer(LEARNER, ARMS)
    plain.observe([3, 0, 2], [1.0, 0.0, 0.5])
    for arms, rewards in (
        (table.arm, table.reward),
        (table[["arm"]], table[["reward"]]),
        (table.arm.astype("Int64"), table.reward.astype("Float64")),
        (table.arm.to_numpy(), torch.tensor(table.reward.to_numpy())),
    ):
        user = bkb.Optimizer(LEARNER, ARMS)
        getattr(user, call)(arms, rewards)
        assert user.rounds == 3 and repr(user.state) == repr(plain.state)
    missing = table.arm.where(table.arm > 0)
    with pytest.raises(
        ValueError, match=r"^actions?\[1\] must be the index of an arm, .*, got nan"
    ):
        getattr(bkb.Optimizer(LEARNER, ARMS), call)(missing, table.reward)


def test_arms_and_points_may_be_tables():
    arms = pd.DataFrame(ARMS, columns=list("abcd"))
    user, plain = bkb.Optimizer(LEARNER, arms), bkb.Optimizer(LEARNER, ARMS)
    user.tell(0, 1.0), plain.tell(0, 1.0)
    np.testing.assert_array_equal(user.posterior(arms).mean, plain.posterior().mean)
    np.testing.assert_array_equal(user.posterior(arms[1:]).mean, plain.posterior(ARMS[1:]).mean)


# ---- batches with one invalid entry ------------------------------------------------------------------


@pytest.mark.parametrize(
    "at, arm, reward, match",
    [
        (17, 1, math.nan, r"^feedback\[17\] must be finite, got nan$"),
        (999, 1, "x", r"^feedback\[999\] must be one real number, got 'x'$"),
        (3, 4, 1.0, r"^actions\[3\] must be an index from 0 to 3, got 4$"),
        (500, 1, 1e31, r"^actions\[500\], feedback\[500\]: reward must be.*, got 1e\+31"),
    ],
)
def test_a_bad_entry_is_named_before_anything_is_computed(at, arm, reward, match, monkeypatch):
    user, computed = bkb.Optimizer(LEARNER, ARMS), []
    monkeypatch.setattr(type(LEARNER), "update", lambda *args: computed.append(args))
    monkeypatch.setattr(type(LEARNER), "select", lambda *args: computed.append(args))
    arms, rewards = [1] * 1000, [1.0] * 1000
    arms[at], rewards[at] = arm, reward
    with pytest.raises(ValueError, match=match):
        user.observe(arms, rewards)
    assert user.rounds == 0 and not computed


def test_a_bad_entry_of_points_is_named():
    search = Optimizer(goucb.TuRBO(3), BOX)
    with pytest.raises(ValueError, match=r"^actions\[2\], feedback\[2\]: action"):
        search.observe([[0.1], [0.2], [3.0]], [1.0, 2.0, 3.0])
    assert not search.rounds


# ---- float32 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 100, 1000])
@pytest.mark.filterwarnings("ignore:context has dtype float32")
def test_arms_normalized_in_float32_are_taken(dim):
    rng = np.random.default_rng(dim)
    arms = rng.normal(size=(200, dim)).astype(np.float32)
    for norm in (
        np.linalg.norm(arms, axis=1, keepdims=True),
        # Sequential summation has the largest rounding error.
        np.sqrt(np.add.accumulate(arms * arms, axis=1)[:, -1:]),
        torch.linalg.vector_norm(torch.from_numpy(arms), dim=1, keepdim=True).numpy(),
    ):
        unit = arms / norm
        assert unit.dtype == np.float32 and (dim == 1 or (unit.astype(float) ** 2).sum(1).max() > 1)
        for given in (unit, unit.astype(float), torch.from_numpy(unit), unit.tolist()):
            AskTell(glbomd.GLBOMD(glbomd.Bernoulli(), 1.0), given)
    with pytest.raises(ValueError, match="arms must have norms of at most 1, got "):
        AskTell(
            glbomd.GLBOMD(glbomd.Bernoulli(), 1.0), unit.astype(float) * (1 + 2 * norm_slack(dim))
        )


def test_points_on_the_border_in_float32_are_inside():
    bounds = Bounds.of([0.1, -0.3], [0.3, 0.7])
    for side in bounds:
        check_bounds(bounds, side.float().double())
    with pytest.raises(ValueError, match="action"):
        check_bounds(bounds, bounds.hi + 1e-6)


def test_rules_without_features_take_arms_of_any_norm():
    for learner in (glbomd.UCB1(), glbomd.BetaThompson()):
        user = AskTell(learner, 100 * ARMS)
        user.tell(user.ask(), 1)
        with pytest.raises(
            ValueError, match="^reward must be (0 or 1|a number from 0 to 1).*, got 2.0"
        ):
            user.tell(0, 2.0)
        with pytest.raises(ValueError, match="^action must be an index from 0 to 3, got 4"):
            user.tell(4, 1)


# ---- gradients, reasons, paths -----------------------------------------------------------------------


def test_tensors_that_require_a_gradient_are_numbers():
    one = lambda x: torch.tensor(x, requires_grad=True, dtype=torch.float64)
    disk = lambda c: -c / max(float(np.linalg.norm(c)), 1e-300)
    made = (
        nsbco.ball([one(0.0), one(1.0)], one(2.0)),
        nsbco.box([one(0.0)], one([1.0])),
        nsbco.Optimizer(DISK, 0.25, 0.5, 0.1, y_range=(one(-1.0), one(1.0))),
        Bounds.of([one(0.0)], [one(1.0)]),
        pfbco.polytope([[one(1.0)], [one(-1.0)]], (one(1.0), one(1.0))),
        pfbco.oracle_set(disk, [one(0.0), one(0.0)], 1.0),
        AskTell(Index(), [[one(1.0), one(0.0)], [one(0.0), one(1.0)]]),
    )
    assert made[0].center.tolist() == [0.0, 1.0] and made[1].scale.tolist() == [0.5]
    np.testing.assert_array_equal(check_array("x", [[one(1.0)], [2.0]]), [[1.0], [2.0]])
    for call, name in (
        (lambda: nsbco.ball([one(math.nan)]), "center"),
        (lambda: nsbco.box([one(1.0)], [one(0.0)]), "upper"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must be "):
            call()


class Silent:
    """Object whose text and number cannot be computed."""

    def __repr__(self):
        raise RuntimeError("no text")

    __str__ = __array__ = __float__ = __repr__


class Number(Silent, float):
    """Number whose text cannot be computed."""

    __float__ = float.__float__


def test_unprintable_values_are_reasons_and_are_rejected_by_name():
    user = Optimizer(Index(), ARMS)
    user.fail(user.ask(), Silent())
    assert user.failures[0].reason == "<Silent>"
    with pytest.raises(
        ValueError, match="^reason must be an exception, a message, or.*, got <Number>"
    ):
        user.fail(0, Number(1.0))
    calls = {
        "action": lambda x: user.tell(x, 1.0),
        "feedback": lambda x: user.tell(0, x),
        "instead": lambda x: user.fail(0, "down", instead=x),
        "actions": lambda x: user.observe(x, [1.0]),
        "context": lambda x: user.tell(0, 1.0, context=x),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^{name}.*Silent"):
            call(Silent())
    for name in ("nsbco", "pfbco"):
        user, tell = users()[name]
        user.ask()
        user.fail(Silent())
        with pytest.raises(ValueError, match="must be one real number, got <Silent>"):
            tell(user, Silent())


def test_saving_to_a_folder_is_rejected(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    user = AskTell(Index(), ARMS)
    for call in (
        lambda: user.save(folder),
        lambda: user.save(str(folder)),
        lambda: play(Index(), Coins(), 2, 2, checkpoint=folder),
    ):
        with pytest.raises(IsADirectoryError) as error:
            call()
        assert "partial" not in str(error.value) and str(folder) in str(error.value)
    with pytest.raises(IsADirectoryError, match="path must be the name of a file, got a folder"):
        user.save(folder)
    assert not list(folder.iterdir())
