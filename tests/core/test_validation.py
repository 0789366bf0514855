"""Valid settings and data: numbers for which formulas remain finite. Values that only resemble numbers are rejected."""

import datetime
import fractions
import math

import numpy as np
import pytest
import torch

from companion.pfbco.problems.variants import Loud
from paperlib.asktell import AskTell
from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.posterior import nystrom_posterior
from paperlib.bkb.model.confidence import Confidence
from paperlib.core import validation as rules
from paperlib.glbomd.learners.controls import BetaThompson, LaplaceThompson
from paperlib.glbomd.learners.ecolog import ECOLog
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.learners.glmucb import GLMUCB
from paperlib.glbomd.learners.gloc import GLOC
from paperlib.glbomd.learners.ofuglb import OFUGLB
from paperlib.glbomd.learners.rsglincb import RSGLinCB
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson
from paperlib.glbomd.problems import FixedArms
from paperlib.linear.learners import OFUL
from paperlib.linear.problems import Circle
from paperlib.maths.gp import RBF
from paperlib.maths.matrices import NuclearBall
from paperlib.maths.polytopes import polytope
from paperlib.maths.sets import Ball
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.pfbco.optimizer import Optimizer
from paperlib.pfbco.problems.ball import BallLinear
from paperlib.play import play

HUGE = 10**400
ARMS = np.eye(3) / 2
double = lambda *x, **options: torch.tensor(x, dtype=torch.float64, **options)
RADIUS = Confidence(0.3, 1.0)

NO_NUMBERS = [
    *(HUGE, -HUGE, 10**5000, math.nan, math.inf, 5e-324, 1e-320, 1e-31, 1e31, 1e300, -1.0),
    *(True, None, "1", b"1", 1j, [], (), {}, object(), float, Bernoulli, len, [1.0]),
    *(fractions.Fraction(1, 3), datetime.date(2020, 1, 1), np.bool_(True), np.complex64(1)),
    *(np.timedelta64(1), np.datetime64("2020"), np.str_("1"), np.uint64(2**54), np.int64(-1)),
    *(np.longdouble("1e400"), np.float32(np.inf), np.float16(np.nan)),
    *(np.array(1.0), np.array([1.0]), np.ma.masked, np.ma.array([1.0], mask=[True]), 2**54),
    *(torch.tensor(1.0), double(1.0, 1.0), double(1.0, requires_grad=True), torch.tensor(1j)),
]


@pytest.mark.parametrize(
    "rule", [rules.check_positive, rules.check_nonnegative, rules.check_probability]
)
@pytest.mark.parametrize("value", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_non_numbers_are_rejected(rule, value):
    with pytest.raises(
        ValueError, match="^setting must be (0 or )?a positive number from 1e-30 to 1(?s:.)*, got "
    ):
        rule("setting", value)


# every NumPy type of numbers
INTEGERS = [np.dtype(code).type for code in np.typecodes["AllInteger"]]
FLOATS = [np.dtype(code).type for code in np.typecodes["Float"]]


@pytest.mark.parametrize("value", [1, 1.0, 0.5, 1e-30, *(kind(1) for kind in INTEGERS + FLOATS)])
def test_numbers_are_accepted_and_returned_as_python_numbers(value):
    for rule in (rules.check_positive, rules.check_nonnegative, rules.check_probability):
        found = rule("setting", value)
        assert found == value and type(found) in (int, float)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_numpy_do_not_overflow(kind):
    most = int(min(np.iinfo(kind).max, 2**53))
    assert rules.check_positive("setting", kind(most)) ** 4 == most**4
    assert rules.check_integer("count", kind(most)) ** 4 == most**4


@pytest.mark.parametrize(
    "bad",
    [
        *(double(1.0, math.nan), double(1.0, -1.0), double(1e-320, 1.0), double(1.0, 1e300)),
        *(double(1.0, 2.0, requires_grad=True), torch.tensor([1j, 1j]), torch.ones(2, 2)),
        *(torch.tensor([True, True]), torch.ones(2, dtype=torch.float16), torch.tensor(1.0)),
    ],
    ids=range(10),
)
def test_values_by_trial_are_one_good_number_each(bad):
    rules.check_positive("scale", double(1.0, 2.0), by_trial=True)
    with pytest.raises(ValueError, match="^scale must be .* such number per trial, got "):
        rules.check_positive("scale", bad, by_trial=True)


def test_whole_numbers_are_pythons_or_numpys():
    for value in (3, *(kind(3) for kind in INTEGERS)):
        assert (
            type(rules.check_integer("count", value))
            is type(rules.check_size("count", value))
            is int
        )
    for value in (
        3.0,
        True,
        np.bool_(True),
        np.float32(3),
        np.timedelta64(3),
        HUGE,
        2**63,
        0,
        -5,
        "3",
        None,
    ):
        with pytest.raises(ValueError, match="^count must be an integer from 1 to .*, got "):
            rules.check_integer("count", value)
    with pytest.raises(ValueError, match="^count must be an integer from 1 to 16777216, got 1"):
        rules.check_size("count", 2**40)


def test_one_of_a_list_is_of_its_kind():
    for value in (1, 0, 1.0, np.int8(1), "True", None, np.array([True]), torch.tensor(True)):
        with pytest.raises(ValueError, match="^flag must be one of False, True, got "):
            rules.check_in("flag", value, (False, True))
    for value in (["a"], ("a",), np.array(["a", "b"]), torch.ones(2), b"a"):
        with pytest.raises(ValueError, match="^word must be one of 'a', 'b', got "):
            rules.check_in("word", value, ("a", "b"))
    for value in (np.float64(1.5), np.float16(1.5), np.longdouble(1.5)):
        assert type(rules.check_in("nu", value, (0.5, 1.5))) is float
    assert rules.check_in("flag", np.bool_(True), (False, True)) is True
    assert type(rules.check_in("word", np.str_("a"), ("a", "b"))) is str


@pytest.mark.parametrize(
    "bad",
    [
        *("a", ["1.0"], [1j], [np.complex64(1)], [HUGE], [None], [[1.0], [1.0, 2.0]], object()),
        *(np.ma.array([0.5], mask=[True]), np.ma.masked, [math.nan], [np.longdouble("1e400")]),
        *(np.array(["1"]), np.array(["1"], object), np.datetime64("2020"), torch.tensor([1j])),
    ],
    ids=range(16),
)
def test_arrays_are_of_finite_numbers(bad):
    with pytest.raises(ValueError, match="^data must be an array of (finite )?numbers, got "):
        rules.check_array("data", bad)
    np.testing.assert_array_equal(
        rules.check_array("data", [1, 2.5, np.float32(0.5)]), [1, 2.5, 0.5]
    )


SETTINGS = {
    "ridge": lambda: GLBOMD(Bernoulli(), 2.0, ridge=1e-320),
    "norm_bound": lambda: GLBOMD(Bernoulli(), 1e300),
    "norm_bound of kappa": lambda: GLOC(Bernoulli(), 70.0),
    "norm_bound of e^S": lambda: GLMUCB(Poisson(), 70.0),
    "norm_bound of a set": lambda: OFUGLB(Poisson(), 70.0),
    "delta": lambda: ECOLog(2.0, delta=5e-324),
    "delta of a ball": lambda: OFUL(0.1, 1.0, delta=5e-324),
    "loss_bound": lambda: Optimizer(Ball.of(2), loss_bound=1e-320),
    "qbar": lambda: BKB(RBF(1.0), RADIUS, qbar=1e-300),
    "counts": lambda: GLMUCB(Bernoulli(), 2.0, counts=2),
    "counts of two fits": lambda: RSGLinCB(Bernoulli(), 2.0, counts=2),
    "variance": lambda: Gaussian(True),
    "count": lambda: Binomial(1001),
    "fractional": lambda: Bernoulli("no"),
    "norm": lambda: Circle(norm=double(1.0, 2.0)),
    "kernel": lambda: BKB(RBF, RADIUS),
    "confidence": lambda: BKB(RBF(1.0), Confidence),
    "link": lambda: GLBOMD(Bernoulli, 2.0),
    "base": lambda: __import__("paperlib.learners.wrapper").learners.wrapper.Doubling(PFBCO),
    "problem": lambda: Loud(BallLinear),
    "ridge of the noise": lambda: Confidence(1e-20, 1.0),
    "gamma": lambda: Confidence(1.0, 1.0, gamma=((1, HUGE),)),
    "start": lambda: PFBCO(0.5, start=(HUGE, 0, 0)),
    "scale": lambda: OFUGLB(Bernoulli(), 2.0, scale=1e-9),
    "successes": lambda: BetaThompson(1e20, 1e18),
    "exact": lambda: NuclearBall.of(2, 1.0, exact="no"),
    "C": lambda: polytope([[HUGE], [-1.0]], [1.0, 1.0]),
    "d": lambda: polytope([[1.0], [-1.0]], np.ma.array([1.0, 1.0], mask=[0, 1])),
    "ridge beside the slopes": lambda: GLBOMD(Poisson(), 40.0, ridge="dim"),
    "link beside the ridge": lambda: GLMUCB(Gaussian(1e-20), 2.0),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_extreme_settings_are_refused_where_they_are_given(name):
    with pytest.raises(ValueError, match=f"^{name.split()[0]} must (?s:.)*, got "):
        SETTINGS[name]()


@pytest.mark.parametrize("horizon", ["x", 0, -5, True, HUGE, 2.0])
def test_a_horizon_is_a_number_of_rounds(horizon):
    with pytest.raises(ValueError, match="^horizon must .*, got "):
        AskTell(GLMUCB(Bernoulli(), 2.0), ARMS, horizon=horizon)


AT_BEGIN = {
    "arms": lambda: AskTell(OFUL(0.1, 1.0, ridge=1e-6), 1e6 * ARMS),
    "arms alone": lambda: AskTell(OFUL(0.1, 1.0), 1e300 * ARMS),
    "ridge": lambda: AskTell(BKB(RBF(1.0), Confidence(1.0, 1.0, 1e-20)), ARMS),
    "delta": lambda: play(
        RSGLinCB(Bernoulli(), 2.0, delta=1.0, constants="theory"), FixedArms(dim=3), 1, 2
    ),
    "ridge of the theory": lambda: play(
        RSGLinCB(Poisson(), 2.0, reward_bound=1e20, ridge="theory"), FixedArms(Poisson(), 1.0), 9, 2
    ),
    "scale": lambda: play(FKM(0.5, scale=1e-20), BallLinear(2), 2, 2),
    "context": lambda: AskTell(PFBCO(0.5), ARMS, horizon=3),
}


@pytest.mark.parametrize("name", AT_BEGIN)
def test_settings_that_depend_on_the_problem_are_checked_at_init(name):
    with pytest.raises(ValueError, match=f"^{name.split()[0]} must (?s:.)*, got "):
        AT_BEGIN[name]()


def test_data_beyond_a_fit_are_refused():
    user = AskTell(LaplaceThompson(Poisson(), ridge=1e-9), ARMS)
    with pytest.raises(
        ValueError, match="^reward must be a count of at most 1000 .*, got 1000000.0"
    ):
        user.tell(0, 1e6)
    user.tell(0, 1e3)
    assert bool(user.state.theta.isfinite().all())
    search = Optimizer(Ball.of(2), loss_bound=1e-9)
    search.ask()
    with pytest.raises(ValueError, match="^loss must be at most .* times loss_bound=.*, got "):
        search.tell(1e6)


def test_an_error_uses_the_name_of_the_points():
    arms, once = torch.eye(2, dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64)
    with pytest.raises(ValueError, match="^at must be finite .*, got nan"):
        nystrom_posterior(arms, RBF(1.0), once > 0, once, once, 1.0, at=arms * math.nan)
