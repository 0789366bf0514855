"""Tests of the closed forms of the theory: known numbers, special cases, monotonicity and invariance."""

import math

import numpy as np
import pytest
import torch

from companion.pfbco.proofs import lemmas
from paperlib.maths.sets import Ball, SubSimplex
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.pfbco.model import Task, step_size
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import Setting, unit_ball

# n, A, B, the corrected and the printed bound at T = 1000, and the horizons from which they are below 2 M T (four digits)
BALL = [
    (1, 9.619865, 0.707107, 2461.016, 2781.771, 2774, 4772),
    (2, 12.448292, 1.414214, 3216.100, 3670.701, 10210, 16810),
    (3, 15.276719, 2.121320, 3971.185, 4559.632, 28410, 44610),
    (5, 20.933573, 3.535534, 5481.353, 6337.493, 135900, 197300),
    (10, 35.075709, 7.071068, 9256.774, 10782.145, 1.756e6, 2.267e6),
]
# T, constants, c, bound / 2 M T, and the first horizon where the bound is informative
VACUITY = [
    (16383, (10, 29.7, 5.8, 14.6, 9.8), 1.0, 15.9, 1.4e10),
    (16383, (10, 29.7, 5.8, 14.6, 9.8), 0.1, 154, 1.2e15),
    (1203, (100, 2.81, 1.30, 282.8, 199.2), 1.0, 5.2e3, 3.3e21),
    (1203, (100, 5.11, 13.0, 282.8, 199.2), 0.1, 5.2e4, 3.3e26),
    (1023, (210, 9390.0, 552.0, 8.94, 4.47), 1.0, 353, 4.2e15),
    (1023, (210, 9390.0, 552.0, 8.94, 4.47), 0.1, 3.5e3, 4.1e20),
]


@pytest.mark.parametrize("n, A, B, corrected, printed, corrected_from, printed_from", BALL)
def test_theorem_1_on_the_unit_ball(n, A, B, corrected, printed, corrected_from, printed_from):
    s = unit_ball(n)
    assert theory.coefficients(s) == pytest.approx((A, B), abs=5e-7)
    for bound, value, known in (
        (theory.theorem_1, corrected, corrected_from),
        (theory.theorem_1_printed, printed, printed_from),
    ):
        first = theory.first_informative(bound, s)
        assert bound(s, 1000) == pytest.approx(value, abs=6e-4)
        assert first == pytest.approx(known, rel=4e-4)
        assert bound(s, first) < 2 * first and bound(s, first - 1) >= 2 * (first - 1)


def test_theorem_2():
    assert theory.DOUBLING == pytest.approx(2.3493435162, abs=1e-10)
    assert theory.theorem_2(unit_ball(2), 1023) == pytest.approx(
        2.3493435162 * (12.448292 + 1.414214) * 256, rel=1e-6
    )
    for n, first in ((1, 2.6e5), (2, 1.1e6), (3, 3.6e6)):
        assert theory.first_informative(theory.theorem_2, unit_ball(n)) == pytest.approx(
            first, rel=0.05
        )
    with pytest.raises(
        ValueError, match="c must be at most the inscribed radius 1, because.*, got 1.5"
    ):
        theory.theorem_2(unit_ball(1, 1.5), 10)


def test_doubling_adds_up():
    """If each epoch of length 2^m has regret beta T^{4/5}, the sum, with a complete last epoch, is below the bound after any t rounds."""
    for t in (1, 2, 3, 10, 1023, 1024, 10**6):
        epochs = sum(2 ** (0.8 * m) for m in range(t.bit_length()))
        assert epochs <= theory.DOUBLING * t**0.8 <= theory.DOUBLING * (t + 1) ** 0.8


@pytest.mark.parametrize("horizon, constants, c, ratio, first", VACUITY)
def test_vacuity_in_the_papers_settings(horizon, constants, c, ratio, first):
    s, bound = Setting(*constants, c=c), theory.theorem_1
    found = theory.first_informative(bound, s)
    assert theory.vacuity_ratio(bound, s, horizon) == pytest.approx(ratio, rel=0.015)
    assert found == pytest.approx(first, rel=0.025)
    of_first_term = (s.dim * s.diameter / (math.sqrt(2) * s.c)) ** 5
    assert of_first_term < found < 2 * of_first_term
    assert theory.vacuity_ratio(bound, s, found * 2) < 1


def test_vacuity_is_for_the_worst_trial():
    s = Setting(10, np.array([29.7, 40.0]), np.array([5.8, 5.8]), np.array([14.6, 20.0]), 9.8, 1.0)
    worst = theory.first_informative(theory.theorem_1, Setting(10, 40.0, 5.8, 20.0, 9.8, 1.0))
    assert theory.first_informative(theory.theorem_1, s) == worst
    assert theory.first_informative(lambda s, T: 3 * theory.trivial_regret(s, T), s) is None


def test_worst_case_of_tracking():
    for T, worst in ((2, 2.095192), (4, 2.080964), (16, 2.024092), (64, 2.004776)):
        assert lemmas.worst_tracking(T).max() == pytest.approx(worst, abs=1e-6)
    assert lemmas.worst_tracking(1).tolist() == [0.0]
    assert 2 < lemmas.worst_tracking(4096).max() < 2.001
    assert (
        max(lemmas.worst_tracking(T).max() for T in range(1, 200))
        == lemmas.worst_tracking(2).max()
        < theory.KAPPA
    )


def test_worst_case_of_the_printed_rate():
    """Both rates agree at c = 1. Below, the printed rate approaches the limit of the recursion, and the corrected one does not depend on c."""
    assert [lemmas.kappa_infinity(c) for c in (1.0, 0.5, 0.1)] == pytest.approx(
        [2, 3.732051, 51.980762], abs=1e-6
    )
    assert np.array_equal(lemmas.worst_tracking(64, 1.0, "paper"), lemmas.worst_tracking(64, 1.0))
    assert np.array_equal(lemmas.worst_tracking(64, 0.1), lemmas.worst_tracking(64, 1.0))
    assert lemmas.worst_tracking(20000, 0.5, "paper")[-1] == pytest.approx(3.732051, rel=5e-3)
    assert lemmas.worst_tracking(100, 0.1, "paper").max() > 40


def test_induction():
    assert lemmas.induction_margin(np.arange(1, 11))[[0, 1, 2, 3, 9]] == pytest.approx(
        [0.096310, 0.033174, 0.021717, 0.018305, 0.015233], abs=6e-7
    )
    assert [t for t in range(1, 1000) if lemmas.induction_margin(t, 2.2) < 0] == [3, 4, 5]
    assert (
        lemmas.tail_margin(11) > 0 > lemmas.tail_margin(10)
        and (np.diff([lemmas.tail_margin(t) for t in range(11, 500)]) > 0).all()
    )
    t = np.arange(11, 10**5)
    assert (
        lemmas.induction_margin(t)
        >= np.array([lemmas.tail_margin(x) for x in t]) * t**-0.6 / math.sqrt(2.3)
    ).all()


def test_polynomial():
    t = np.arange(1, 10**6 + 1)
    assert (
        lemmas.induction_polynomial(t).min()
        == lemmas.induction_polynomial(1)
        == pytest.approx(0.383095, abs=1e-6)
    )
    assert (
        lemmas.induction_polynomial(1, 2.0) == pytest.approx(-0.936413, abs=1e-6)
        and (lemmas.induction_polynomial(t, 2.0) < 0).all()
    )


def test_sums_and_smoothing():
    for T in (1, 2, 10, 1000):
        assert lemmas.steps_total(T) <= 1.25 * T**0.8
    assert lemmas.steps_total(3) == pytest.approx(1 + 2**-0.2 + 3**-0.2)
    # 1 / 6 is the mean of v^2 / 2 on [-1, 1].
    assert lemmas.smoothed_quadratic(0.0, 1.0, 1) == pytest.approx(1 / 6)
    assert step_size(np.array([1.0, 32.0])) == pytest.approx(
        [step_size(1), step_size(32)]
    ) and step_size(32) == pytest.approx(0.25)


def test_other_bounds():
    assert theory.block_bound(unit_ball(2), 1024) == pytest.approx(2050, abs=0.5)
    for n, first in ((1, 410), (2, 1030)):
        assert theory.first_informative(theory.block_bound, unit_ball(n)) == pytest.approx(
            first, rel=5e-3
        )
    assert theory.fkm_bound(unit_ball(2), 10**4) == pytest.approx((4 + 2 + 1) * 1e3)
    assert theory.fkm_bound(unit_ball(2, 0.5), 10**4) == pytest.approx((8 + 1 + 0.5) * 1e3)


def test_block_bound_agrees_with_its_derivation():
    """The bound is D^2 / eta + (eta / 2) T (n^2 M^2 / delta^2 + K G^2) plus the other terms, exactly where sqrt(T) rounds up."""
    s = Setting(3, 2.0, 1.5, 2.5, 1.7, 0.4)
    for T in (1, 2, 3, 7, 8, 64, 1000, 1024):
        eta = math.sqrt(2) * 2.5 * T**-0.75 / math.sqrt((3 * 2 / 0.4) ** 2 + 1.5**2)
        delta, K = 0.4 * T**-0.25, max(1, round(math.sqrt(T)))
        leader = 2.5**2 / eta + eta / 2 * T * ((3 * 2 / delta) ** 2 + K * 1.5**2)
        exact = leader + 1.5 * 2.5 * T**0.75 + 2 * delta * 1.5 * T + delta * 1.7 * 1.5 * T
        assert exact <= theory.block_bound(s, T) * (1 + 1e-12)
        if K >= math.sqrt(T):
            assert theory.block_bound(s, T) == pytest.approx(exact, rel=1e-12)


def test_coefficients_agree_with_their_derivation():
    """The bound is D^2 / eta + (eta / 2) n^2 M^2 T / delta^2 + sqrt(kappa) (5 / 4) D G T^{4/5} + 2 delta G T + alpha R G T."""
    s, T = Setting(3, 2.0, 1.5, 2.5, 1.7, 0.4, 1.2), 1000
    eta, delta = 0.4 * 2.5 / (math.sqrt(2) * 3 * 2) * T**-0.8, 0.4 * T**-0.2
    leader = 2.5**2 / eta + eta / 2 * (3 * 2 / delta) ** 2 * T
    rest = (
        math.sqrt(2.3) * 1.25 * 2.5 * 1.5 * T**0.8
        + 2 * delta * 1.5 * T
        + delta / 1.2 * 1.7 * 1.5 * T
    )
    assert theory.leader_coefficients(s).at(T) == pytest.approx(leader)
    assert theory.theorem_1(s, T) == pytest.approx(leader + rest)


@pytest.mark.parametrize(
    "bound", [theory.theorem_1, theory.theorem_2, theory.fkm_bound, theory.block_bound]
)
def test_bounds_do_not_depend_on_units(bound):
    s = Setting(3, 2.0, 1.5, 2.5, 1.7, 0.4)
    longer = Setting(3, 2.0, 1.5 / 7, 2.5 * 7, 1.7 * 7, 0.4 * 7, 7.0)
    louder = Setting(3, 20.0, 15.0, 2.5, 1.7, 0.4)
    assert bound(longer, 500) == pytest.approx(bound(s, 500)) and bound(
        louder, 500
    ) == pytest.approx(10 * bound(s, 500))


def test_the_printed_bound_depends_on_units():
    """The first terms of the printed bound depend on the unit of length (E1)."""
    s = Setting(3, 2.0, 1.5, 2.5, 1.7, 1.0)
    assert theory.theorem_1_printed(
        Setting(3, 2.0, 1.5 / 7, 17.5, 11.9, 7.0, 7.0), 500
    ) != pytest.approx(theory.theorem_1_printed(s, 500), rel=0.1)


@pytest.mark.parametrize(
    "field, factor", [("loss_bound", 2), ("grad_bound", 2), ("diameter", 2), ("outer", 2)]
)
@pytest.mark.parametrize(
    "bound",
    [
        theory.theorem_1,
        theory.theorem_1_printed,
        theory.theorem_2,
        theory.fkm_bound,
        theory.block_bound,
    ],
)
def test_bounds_increase_with_each_constant(bound, field, factor):
    s = unit_ball(2)
    assert bound(s._replace(**{field: factor * getattr(s, field)}), 100) >= bound(s, 100) and bound(
        s._replace(dim=3), 100
    ) > bound(s, 100)
    assert bound(s, 101) > bound(s, 100)


def test_the_printed_bound_is_refused_below_1():
    """With the printed rate eta n M / (delta D) <= T^{-3/5} / sqrt(2) needs c >= 1 for every inscribed radius."""
    step = lambda s, T: (
        (s.diameter / (math.sqrt(2) * s.dim * s.loss_bound) * T**-0.8)
        * (s.dim * s.loss_bound / (s.c * T**-0.2 * s.diameter))
    )
    for c, inner in ((0.99, 1.0), (0.7, 0.5), (0.1, 0.05)):
        s = Setting(1, 1.0, 1.0, 2.0, 1.0, c, inner)
        assert step(s, 10) > 10**-0.6 / math.sqrt(2)
        with pytest.raises(
            ValueError, match="^c must be at least 1, because the paper's bound .* E1.*, got "
        ):
            theory.theorem_1_printed(s, 10)
    for c, inner in ((1.0, 1.0), (1.0, 2.0), (1.5, 2.0)):
        s = Setting(1, 1.0, 1.0, 4.0, 2.0, c, inner)
        assert step(s, 10) <= 10**-0.6 / math.sqrt(2) * (1 + 1e-12)
        assert theory.theorem_1_printed(s, 10) > 0


def test_settings_from_tasks_and_records():
    shared = Setting.of(
        Task(Ball.of(3, dtype=torch.float64), torch.full((1,), 2.0), torch.ones(1)), 0.5
    )
    assert shared == Setting(3, 2.0, 1.0, 2.0, 1.0, 0.5) and shared.unit == 0.5
    each = Setting.of(
        Task(SubSimplex.of(100, dtype=torch.float64), torch.tensor([2.0, 3.0]), torch.ones(2)), 0.1
    )
    assert each.loss_bound.tolist() == [2, 3] and (each.outer, each.diameter) == pytest.approx(
        (199.2485884517, 282.8427124746), abs=1e-9
    )
    found = Setting.recorded([[2.0, 1.0, 4.0, 3.0], [3.0, 1.0, 5.0, 3.5]], 7, 0.1)
    assert (found.dim, found.c) == (7, 0.1) and [x.tolist() for x in found[1:5]] == [
        [2, 3],
        [1, 1],
        [4, 5],
        [3, 3.5],
    ]
    assert theory.theorem_1(found, 100).shape == (2,)


def test_step_of_an_estimate_agrees_with_the_learner():
    """b = eta n M / (delta D) of both rates agrees with the learner's constants."""
    task = Task(SubSimplex.of(5, dtype=torch.float64), torch.full((1,), 3.0), torch.ones(1))
    for c, rule in ((0.3, "corrected"), (0.3, "paper"), (1.0, "paper")):
        epoch = PFBCO(c, eta_rule=rule).constants(task, 50, task.loss_bound)
        b = float(epoch.eta * 5 * 3 / (epoch.delta * task.cset.D))
        assert lemmas.estimate_step(50, c, rule) == pytest.approx(b)


def test_a_scale_of_zero_is_refused():
    with pytest.raises(
        ValueError, match=r"c must be a positive number from 1e-30 to 1e\+30, got 0.0"
    ):
        theory.theorem_1(Setting(1, 1.0, 1.0, 2.0, 1.0, 0.0), 5)
