"""Tests of the theory's statements on runs and closed forms, and with deliberately wrong inputs, which must be flagged."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from pfbco_replay import F64, SETS, linear_task, record
from pfbco_runs import leader

from companion.pfbco.proofs import lemmas, replay
from companion.verdicts import statements
from paperlib.checks import Check, Expected, Reported, Statement
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.learners.wrapper import Doubling
from paperlib.maths.matrices import NuclearBall
from paperlib.maths.sets import Ball, SubSimplex
from paperlib.pfbco.learners.block import BlockPFBCO
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.pfbco import PFBCO, RegularizedLeader
from paperlib.pfbco.probes import Feasible, constants, gradient_norm, tracking_ratios
from paperlib.pfbco.problems.ball import BallLinear
from paperlib.pfbco.theory import bounds
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import Setting, unit_ball
from paperlib.play import play

RUNS = [(name, T, c) for name in SETS for T in (1, 2, 3, 40) for c in (0.1, 1.0)] + [
    ("ball", 257, 1.0),
    ("subsimplex", 257, 0.1),
]
LEADERS = (lemmas.be_the_leader, lemmas.lemma_6, lemmas.lemma_6_sharp)


def fails(check: Check) -> bool:
    return check.verdict == "fails"


# Checks of expectations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [None, np.nan, [1.0, np.nan]], ids=["none", "nan", "one nan"])
def test_a_mean_without_a_lower_limit_could_not_fail(lower):
    with pytest.raises(
        ValueError, match="a: lower must be numbers, which are lower limits of the mean, got "
    ):
        Expected("a", "b", "c", {}, [5.0, 6.0], 1.0, **({} if lower is None else {"lower": lower}))
    assert Expected("a", "b", "c", {}, [5.0, 6.0], 1.0, lower=[2.0, 0.5]).verdict == "fails"


def expected(values, bound) -> Expected:
    return Expected.over_trials("a", "b", "c", {}, values, bound)


def test_limits_are_for_the_mean_not_for_trials():
    values = np.array([[0.0], [4.0], [2.0], [2.0]])
    check = expected(values, 5.0)
    half = 4.540702858698419 * math.sqrt(8 / 3) / 2  # t_{0.99, 3} times the standard error
    assert check.observed == pytest.approx([2 + half]) and check.lower == pytest.approx([2 - half])
    assert check.verdict == "inconclusive" and expected(values, 2 + 1.01 * half).verdict == "holds"
    # The bound holds for the mean, although half of the trials exceed it.
    assert expected(np.tile([[0.0], [4.0]], (500, 1)), 2.5).verdict == "holds"
    assert fails(expected(values + 10, 5.0))
    assert (
        check.inputs["median bound / mean"] == 2.5
        and check.to_json()["coverage"] is None
        and "inconclusive" in str(check)
    )


def test_bounds_that_differ_by_trial():
    """If a trial has ten times the bound, it may have ten times the regret."""
    bound = np.array([[1.0], [10.0]] * 50)
    assert expected(0.9 * bound, bound).verdict == "holds" and expected(
        0.9 * bound, bound
    ).ratio == pytest.approx(0.9)
    assert fails(expected(1.1 * bound, bound))
    assert expected(np.full(100, 0.9), bound[:, 0]).bound.tolist() == [5.5]


@pytest.mark.parametrize(
    "values, bound, text",
    [
        ([[1.0]], 2.0, "two trials"),
        (
            [[1.0], [math.inf]],
            2.0,
            "a: values must be finite .* two trials, got 2 trials with 1 values that are not finite",
        ),
        ([[1.0], [2.0]], 0.0, "a: bound must be positive, got 0.0"),
    ],
    ids=["one", "infinite", "zero"],
)
def test_expectations_of_empty_samples_are_refused(values, bound, text):
    with pytest.raises(ValueError, match=text):
        expected(values, bound)


def test_one_entry_above_is_enough_to_fail():
    low, high = np.full((20, 1), 0.5), np.full((20, 1), 1.5)
    assert (
        fails(expected(np.hstack([low, high]), 1.0))
        and expected(np.hstack([low, low]), 1.0).verdict == "holds"
    )


# Assumptions ----------------------------------------------------------------------------------------------


def points(cset, trials=2, seed=0):
    """Return two points of the set, R x n each."""
    draw = Streams(seed, range(trials)).at(0)
    return cset.lmo(draw.normal("a", cset.dim)), 0.5 * cset.lmo(draw.normal("b", cset.dim))


@pytest.mark.parametrize("name", SETS)
def test_assumptions_on_every_set(name):
    cset = SETS[name]()
    a, b = points(cset)
    assert (
        bounds.assumption_balls(cset).verdict == bounds.assumption_diameter(cset).verdict == "holds"
    )
    assert bounds.assumption_convex(lambda y: (y**2).sum(1) / 2, a, b).verdict == "holds"
    assert fails(bounds.assumption_convex(lambda y: -(y**2).sum(1), a, b))


@pytest.mark.parametrize("name", SETS)
def test_false_constants_of_a_set_are_flagged(name):
    cset = SETS[name]()
    assert fails(bounds.assumption_balls(cset._replace(R=0.5 * cset.R))) and fails(
        bounds.assumption_diameter(cset._replace(D=0.3 * cset.D))
    )
    assert fails(bounds.assumption_balls(cset._replace(r=30.0)))


def test_an_inexact_oracle_is_not_certified():
    cset = NuclearBall.of(4, 3.0, exact=False, **F64)
    for check in (
        bounds.assumption_balls(cset),
        bounds.assumption_diameter(cset),
    ):
        assert isinstance(check, Reported) and "oracle" in check.remark
    # The inscribed ball is not inside the set over which the oracle minimizes.
    assert not bounds.assumption_balls(cset).held.all()
    assert fails(bounds.theorem_1(np.full((5, 1), 1e9), [10], unit_ball(1)))


def test_bounds_on_losses_and_gradients():
    losses = np.array([[0.5, -1.0], [2.0, 1.0]])
    assert (
        bounds.assumption_bounded(losses, np.array([1.0, 2.0])).verdict
        == bounds.assumption_bounded(losses, 2.0).verdict
        == "holds"
    )
    assert fails(bounds.assumption_bounded(losses, np.array([2.0, 1.0]))) and fails(
        bounds.assumption_bounded(losses, 1.0)
    )
    assert bounds.assumption_gradient(np.abs(losses), 2.0).verdict == "holds" and fails(
        bounds.assumption_gradient(np.abs(losses), np.array([0.9, 2.0]))
    )


def test_losses_that_depend_on_the_play_are_flagged():
    """The losses at a fixed point p are compared along two runs: <a_t, p>, and then with the sign of a_t chosen by the played point."""
    runs = [
        record(PFBCO(1.0), Ball.of(3, **F64), 20, seed=0),
        record(FKM(1.0), Ball.of(3, **F64), 20, seed=0),
    ]
    p = torch.tensor([0.3, -0.2, 0.5], **F64)
    oblivious = [played.a @ p for played in runs]
    adaptive = [
        (played.a * torch.sign((played.a * played.run.y).sum(2, keepdim=True))) @ p
        for played in runs
    ]
    assert not torch.equal(runs[0].run.y, runs[1].run.y)
    assert bounds.assumption_oblivious(*oblivious).verdict == "holds" and fails(
        bounds.assumption_oblivious(*adaptive)
    )


def test_exploration():
    assert (
        bounds.assumption_exploration(1.0, 1).verdict
        == bounds.assumption_exploration(2.0, 32).verdict
        == "holds"
    )
    assert (
        fails(bounds.assumption_exploration(2.1, 32))
        and fails(bounds.assumption_exploration(0.0, 5))
        and fails(bounds.assumption_exploration(-0.1, 5))
    )
    check = bounds.assumption_exploration(2.0, 32)
    assert (
        check.inputs == {"c": 2.0, "T": 32, "r": 1.0} and check.bound[1] == check.observed[1] == 1
    )


# Estimates ------------------------------------------------------------------------------------------------


def test_smoothing():
    """Closed forms: a linear loss equals its average; ||x||^2 / 2 increases by delta^2 n / (2 (n + 2)), with the sign of Jensen's inequality."""
    x = torch.tensor([[0.1, 0.2, -0.3], [0.5, 0.0, 0.5]], **F64)
    f, G, delta = (x**2).sum(1) / 2, 2.0, 0.3
    smoothed = lemmas.smoothed_quadratic((x**2).sum(1), delta, 3)
    assert (
        lemmas.smoothing(f, smoothed, delta, G).verdict
        == lemmas.smoothing(x[:, 0], x[:, 0], delta, 1.0).verdict
        == "holds"
    )
    assert fails(lemmas.smoothing(-f, -smoothed, delta, G))  # a concave loss
    assert fails(lemmas.smoothing(f, smoothed + delta * G, delta, G))  # a loss steeper than G
    inside = torch.randn(200_000, 3, generator=torch.Generator().manual_seed(0), **F64)
    inside = (
        inside
        / inside.norm(dim=1, keepdim=True)
        * torch.rand(200_000, 1, generator=torch.Generator().manual_seed(1), **F64) ** (1 / 3)
    )
    assert float(((x[0] + delta * inside) ** 2).sum(1).mean() / 2) == pytest.approx(
        float(smoothed[0]), abs=3e-4
    )


def test_estimates_are_unbiased():
    """The mean over a million directions is a for <a, x>, and x for ||x||^2 / 2; wrong factors are flagged."""
    draw, delta = torch.Generator().manual_seed(2), 0.4
    u = torch.randn(10**6, 3, generator=draw, **F64)
    u = u / u.norm(dim=1, keepdim=True)
    a, x = torch.tensor([0.6, -0.8, 0.1], **F64), torch.tensor([0.2, 0.1, -0.5], **F64)
    for loss, gradient in ((lambda y: y @ a, a), (lambda y: (y**2).sum(1) / 2, x)):
        estimates = lemmas.one_point(loss, x, u, delta)
        assert lemmas.unbiased_estimate(estimates, gradient).verdict == "holds"
        # The first estimates lack the factor n, and the second ones the factor 1 / delta.
        assert fails(lemmas.unbiased_estimate(estimates / 3, gradient))
        assert fails(lemmas.unbiased_estimate(estimates * delta, gradient))


@pytest.mark.parametrize("name, T, c", RUNS)
def test_every_statement_along_a_run_holds(name, T, c):
    """The losses include the largest allowed ones, so that no statement holds merely because the signal is weak."""
    for loss in (None, lambda a, y: torch.full_like(y[:, 0], 1.0)):
        played = record(PFBCO(c), SETS[name](), T, loss=loss)
        run, s = played.run, Setting.of(played.task, c)
        assert (
            lemmas.leader_step(run).verdict == lemmas.accumulated(run, played.A).verdict == "holds"
        )
        ideal = record(RegularizedLeader(c), SETS[name](), T, loss=loss)
        for statement in LEADERS:
            assert statement(ideal.run, ideal.star).verdict == "holds", statement(
                ideal.run, ideal.star
            )
        assert lemmas.accumulated(ideal.run, ideal.A).verdict == "holds"
        assert lemmas.estimate_norm(run.norms, s, float(run.delta)).verdict == "holds"
        assert lemmas.tracking(run.ratios).verdict == "holds", lemmas.tracking(run.ratios)
        distance = torch.stack(
            [(run.y[:, t] - run.cset.project(run.y[:, t])).norm(dim=1) for t in range(T)], 1
        )
        assert lemmas.feasibility(distance).verdict == "holds"


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("T", [2, 3, 16])
def test_tracking_for_any_tie_rule_of_the_oracle(name, T):
    """With a vertex at ties the first step moves to the vertex, which is the worst case of the recursion."""
    run = record(
        PFBCO(1.0, tie="vertex"), SETS[name](), T, loss=lambda a, y: torch.ones_like(y[:, 0])
    ).run
    check = lemmas.tracking(run.ratios)
    assert (
        check.verdict == "holds"
        and (run.ratios[..., 0].numpy() <= lemmas.worst_tracking(T) + 1e-9).all()
    )


def test_replay_agrees_with_the_learners_state():
    """Estimates from points and losses agree with the learner's A; the exact leader's centers are the recomputed leaders."""
    cset = SubSimplex.of(4, **F64)
    run = record(RegularizedLeader(1.0), cset, 30).run
    assert (
        torch.allclose(run.x, run.leaders[:, :-1], atol=1e-12)
        and float(run.ratios.abs().max()) < 1e-9
    )
    assert torch.equal(record(PFBCO(1.0), cset, 3).run.leaders[:, 0], torch.zeros(2, 4, **F64))


def test_probes_give_the_same_numbers():
    """The values recorded by ``probes`` during a run satisfy the same checks as its replay."""
    probes = {
        "tracking": tracking_ratios,
        "feasible": Probe(Feasible(), "max"),
        "norm": gradient_norm,
        "constants": constants,
    }
    trace = play(PFBCO(1.0), BallLinear(2), 50, 4, record="all", probes=probes)
    assert (
        lemmas.tracking(trace["tracking"]).verdict
        == lemmas.feasibility(trace["feasible"]).verdict
        == "holds"
    )
    s = Setting.recorded(trace["constants"][:, -1], 2, 1.0)
    assert lemmas.estimate_norm(trace["norm"], s, 50**-0.2).verdict == "holds" and fails(
        lemmas.estimate_norm(2 * trace["norm"], s, 50**-0.2)
    )
    assert (
        lemmas.estimate_norm(
            trace["norm"], s._replace(loss_bound=1.0), np.full(50, 50**-0.2)
        ).verdict
        == "holds"
    )


@dataclass(frozen=True)
class Outside(PFBCO):
    """A wrong learner: its exploration radius is three times the shrinkage of its set."""

    def constants(self, task, horizon, bound):
        epoch = super().constants(task, horizon, bound)
        return epoch._replace(delta=3 * epoch.delta)


def test_broken_learners_are_flagged():
    cset, one = Ball.of(1, **F64), lambda a, y: torch.ones_like(y[:, 0])
    distance = lambda run: (run.y.norm(dim=2) - 1).clamp(min=0)
    assert lemmas.feasibility(distance(record(PFBCO(0.9), cset, 20).run)).verdict == "holds"
    assert fails(lemmas.feasibility(distance(record(Outside(0.9), cset, 20).run)))
    # Here c < 1, and 200 trials cover all sequences of four signs.
    printed = lambda T: record(PFBCO(0.1, eta_rule="paper"), cset, T, trials=200, loss=one).run
    assert fails(lemmas.tracking(printed(4).ratios)) and float(
        printed(4).ratios[..., 0].max()
    ) == pytest.approx(3.0852048979)
    assert (
        lemmas.leader_step(printed(16)).verdict == "holds"
        and fails(lemmas.leader_step(printed(4)))
        and fails(lemmas.leader_step(printed(1)))
    )
    lazy = record(PFBCO(1.0), cset, 200, loss=lambda a, y: y[:, 0]).run
    assert lemmas.tracking(lazy.ratios).verdict == "holds"
    # The learning rate is a thousand times too large.
    strong = record(PFBCO(1.0, scale=1e-3), cset, 200, loss=lambda a, y: y[:, 0]).run
    assert fails(lemmas.tracking(strong.ratios)) and fails(lemmas.leader_step(strong))
    task = linear_task(cset)
    loud = record(PFBCO(1.0), cset, 20, loss=lambda a, y: 2 * torch.ones_like(y[:, 0]))
    assert fails(lemmas.estimate_norm(loud.run.norms, Setting.of(task, 1.0), float(loud.run.delta)))


def test_printed_step_of_the_leader():
    """In a run of one round, the printed rate satisfies the bound from c = 2^{1/5} / 4 = 0.2872, where it is attained; the corrected rate does for all c."""
    first = 2**0.2 / 4
    check = lambda c, rule: lemmas.leader_step(
        record(
            PFBCO(c, eta_rule=rule),
            Ball.of(1, **F64),
            1,
            loss=lambda a, y: torch.ones_like(y[:, 0]),
        ).run
    )
    assert (
        first == pytest.approx(0.2872, abs=5e-5)
        and check(first, "paper").ratio == pytest.approx(1)
        and check(1.001 * first, "paper").verdict == "holds"
    )
    assert fails(check(0.999 * first, "paper")) and check(0.1, "corrected").verdict == "holds"


@pytest.mark.parametrize("name", ["ball", "subsimplex", "polytope"])
def test_false_leaders_are_flagged(name):
    # The learning rate is large, so that leaders reach the boundary.
    run = record(PFBCO(1.0, scale=0.01), SETS[name](), 60).run
    assert (
        lemmas.be_the_leader(run, run.leaders).verdict
        == lemmas.lemma_6_sharp(run, run.leaders).verdict
        == "holds"
    )
    stuck = run.x[:, :1].expand_as(run.leaders)
    assert fails(lemmas.be_the_leader(run, stuck))
    zero = torch.zeros_like(run.g[:, :1])
    # The leaders without the regularizer are vertices.
    vertices = torch.stack(
        [run.cset.lmo(row) for row in torch.cat([zero, run.g.cumsum(1)], 1).unbind(1)], 1
    )
    slow = record(PFBCO(1.0), SETS[name](), 60).run
    assert fails(lemmas.lemma_6(slow, vertices)) and fails(lemmas.lemma_6_sharp(slow, vertices))
    doubled = slow.leaders * 2
    # Only the sharp constant detects doubled leaders.
    assert lemmas.lemma_6(slow, doubled).verdict == "holds" and fails(
        lemmas.lemma_6_sharp(slow, doubled)
    )


@dataclass(frozen=True)
class Late(RegularizedLeader):
    """A wrong leader: it ignores the estimate of the last round."""

    def update(self, state, task, y, loss, draw):
        return (
            super()
            .update(state, task, y, loss, draw)
            ._replace(
                x=state.x1 if state.rounds == 0 else leader(task, state.x1, state.A, state.alpha)
            )
        )


@dataclass(frozen=True)
class Hasty(RegularizedLeader):
    """A wrong leader: it adds three times its estimates."""

    def estimate(self, state, task, loss, draw):
        step, heard = super().estimate(state, task, loss, draw)
        return 3 * step, heard


@dataclass(frozen=True)
class Wild(RegularizedLeader):
    """A wrong leader: its regularizer has an eighth of the stated weight."""

    def update(self, state, task, y, loss, draw):
        after = super().update(state, task, y, loss, draw)
        return after._replace(x=leader(task, state.x1, 8 * after.A, state.alpha))


def test_leaders_that_compute_something_else_are_flagged():
    cset, one = Ball.of(3, **F64), lambda a, y: torch.ones_like(y[:, 0])
    verdicts = lambda learner: [
        fails(statement(played.run, played.star))
        for played in [record(learner, cset, 60, loss=one)]
        for statement in LEADERS
    ]
    assert verdicts(RegularizedLeader(1.0)) == [False, False, False]
    assert (
        verdicts(Late(1.0)) == [True, False, False]
        and verdicts(Hasty(1.0)) == [False, False, True]
        and verdicts(Wild(1.0)) == [False, True, True]
    )


def test_estimates_that_differ_from_the_run_are_flagged():
    cset = Ball.of(3, **F64)
    check = lambda played: lemmas.accumulated(played.run, played.A)
    for learner in (PFBCO(1.0), RegularizedLeader(0.3), PFBCO(1.0, regularized=False)):
        assert check(record(learner, cset, 30)).verdict == "holds"
    for learner in (PFBCO(1.0, sham=True), Hasty(1.0), PFBCO(1.0, baseline=True)):
        assert fails(check(record(learner, cset, 30)))
    first = record(PFBCO(1.0), cset, 1)
    assert not first.A.any() and fails(lemmas.accumulated(first.run, first.A + 1e-9))


# Tracking in closed form ----------------------------------------------------------------------------------


def test_closed_forms():
    assert (
        lemmas.polynomial().verdict
        == lemmas.sum_of_steps([1, 2, 10, 1000, 10**5]).verdict
        == lemmas.tracking_induction().verdict
        == "holds"
    )
    assert not lemmas.polynomial(1000, 2.0).held.any() and fails(lemmas.tracking_induction(2.2))
    assert (
        lemmas.tracking_induction(2.2).held[:2].all()
        and not lemmas.tracking_induction(2.2).held[2:5].any()
    )
    assert lemmas.tracking_recursion([1, 2, 3, 4, 16, 64, 1000]).verdict == "holds"
    assert (
        fails(lemmas.tracking_recursion([2, 4], kappa=2.0))
        and fails(lemmas.tracking_recursion([64], 0.1, "paper"))
        and fails(lemmas.tracking_recursion([64], 0.5, "paper"))
    )


def test_a_false_sum_is_flagged(monkeypatch):
    monkeypatch.setattr(lemmas, "steps_total", lambda T: T**0.85)
    assert fails(lemmas.sum_of_steps([10, 1000]))


def test_printed_tracking_is_reported():
    ratios = np.full((2, 3, 2), 1.0)
    ratios[0, 0] = [2.09, 1.445]
    check = lemmas.tracking_printed(ratios)
    assert (
        isinstance(check, Reported)
        and check.verdict == "reported"
        and "E2" in check.remark
        and check.held.sum() == 10
    )
    assert lemmas.tracking(ratios).verdict == "holds" and fails(lemmas.tracking(ratios + 0.3))


# Parts of the regret --------------------------------------------------------------------------------------


def fixed(trials=60, T=128, dim=2, c=1.0):
    """Play one fixed linear loss per trial; return the parts of the regret, the constants and the horizon."""
    a = Streams(9, range(trials)).at(0).sphere("fixed", dim)
    run = record(PFBCO(c), Ball.of(dim, **F64), T, trials, loss=lambda _, y: (a * y).sum(1)).run
    return replay.split(run, a.unsqueeze(1), -a, run.loss.sum(1) + T), unit_ball(dim, c), T


def test_decomposition():
    parts, s, T = fixed()
    assert lemmas.decomposition(parts, s, T).verdict == "holds"
    # Up to T = 1024 the losses of two points of (1 - alpha) K cannot differ by as much as the bound.
    assert lemmas.leader_regret(parts, s, T).verdict == "vacuous here"
    longer, s, T = fixed(T=2048)
    assert lemmas.leader_regret(longer, s, T).verdict == "holds"
    parts, s, T = fixed()
    assert float(parts.shrink.mean()) == pytest.approx(T * T**-0.2) and torch.allclose(
        parts.regret, sum(parts[1:])
    )
    assert abs(float(parts.explore.mean())) < 5 * float(parts.explore.std()) / 60**0.5
    regret = float(parts.regret.mean())
    trace = play(PFBCO(1.0), BallLinear(2), T, 60)
    assert regret == pytest.approx(trace["regret"][:, -1].mean(), rel=0.05)


def test_false_parts_are_flagged():
    parts, s, T = fixed(20)
    for name in parts._fields:
        assert fails(
            lemmas.decomposition(parts._replace(**{name: getattr(parts, name) + 1e-3}), s, T)
        )
    assert fails(
        lemmas.decomposition(
            parts._replace(shrink=parts.shrink * 1.1, regret=parts.regret + 0.1 * parts.shrink),
            s,
            T,
        )
    )
    assert fails(lemmas.leader_regret(parts._replace(leader=parts.leader + 1e5), s, T))


# Theorems -------------------------------------------------------------------------------------------------


def regrets(learner, horizons, trials=40, dim=1):
    return np.stack(
        [play(learner, BallLinear(dim), T, trials)["regret"][:, -1] for T in horizons], 1
    )


def test_theorem_1():
    T = [1, 16, 64, 512]
    for dim, c in ((1, 1.0), (2, 1.0), (2, 0.3)):
        check = bounds.theorem_1(regrets(PFBCO(c), T, dim=dim), T, unit_ball(dim, c))
        assert (
            check.verdict == "vacuous here"  # no run can violate it at any of the four horizons
            and check.inputs["informs"] == []
            and check.observed.shape == (4,)
            and check.remark == ""
            and check.inputs["trials"] == 40
        )
        if c == 1:
            assert (
                3 < check.inputs["median bound / mean"] < 12
                and check.informative_from
                == theory.first_informative(theory.theorem_1, unit_ball(dim))
                and check.trivial == 1024
            )


def test_theorem_1_where_it_is_informative():
    """One horizon with a bound below 2 M T is enough, because a run could violate the bound there."""
    T = [512, 4096]
    check = bounds.theorem_1(regrets(PFBCO(1.0), T, 10), T, unit_ball(1))
    assert check.verdict == "holds" and check.inputs["informs"] == [4096]
    assert (
        bounds.theorem_1(regrets(PFBCO(1.0), T[:1], 10), T[:1], unit_ball(1)).verdict
        == "vacuous here"
    )


@dataclass(frozen=True)
class Uphill(PFBCO):
    """A wrong learner: it maximizes, because it uses the negative loss."""

    def estimate(self, state, task, loss, draw):
        return super().estimate(state, task, -loss, draw)


@dataclass(frozen=True)
class UphillBlock(BlockPFBCO):
    """The block variant with the negative loss."""

    def estimate(self, state, task, loss, draw):
        return super().estimate(state, task, -loss, draw)


@dataclass(frozen=True)
class UphillFKM(FKM):
    """FKM with the negative loss."""

    def estimate(self, state, task, loss, draw):
        return super().estimate(state, task, -loss, draw)


@pytest.mark.slow
def test_a_learner_that_climbs_is_flagged():
    """The late horizon has an informative bound; at the early one no regret can violate the bound."""
    early, late = 256, 8192
    assert (
        bounds.theorem_1(regrets(Uphill(1.0), [early], 10), [early], unit_ball(1)).verdict
        == "vacuous here"
    )
    assert fails(bounds.theorem_1(regrets(Uphill(1.0), [late], 10), [late], unit_ball(1)))
    T, s = [64, 2048], unit_ball(1)
    assert (
        bounds.block_variant(regrets(BlockPFBCO(1.0), T), T, s).verdict
        == bounds.fkm(regrets(FKM(1.0), T), T, s).verdict
        == "holds"
    )
    assert fails(bounds.block_variant(regrets(UphillBlock(1.0), T[1:], 10), T[1:], s)) and fails(
        bounds.fkm(regrets(UphillFKM(1.0), T[1:], 10), T[1:], s)
    )


def test_theorem_1_as_printed():
    T = [64, 256]
    regret = regrets(PFBCO(1.0), T)
    check = bounds.theorem_1_printed(regret, T, unit_ball(1))
    assert isinstance(check, Reported) and "E2" in check.remark and check.held.all()
    with pytest.raises(ValueError, match="E1"):
        bounds.theorem_1_printed(regret, T, unit_ball(1, 0.1))


def test_theorem_2():
    trace = play(Doubling(PFBCO(1.0)), BallLinear(2), 500, 40, record=[1, 2, 3, 10, 63, 255, 300])
    check = bounds.theorem_2(trace["regret"], trace.rounds, unit_ball(2))
    assert (
        check.verdict == "vacuous here"
        and check.ratio < 0.15
        and check.informative_from == pytest.approx(1.1e6, rel=0.05)
    )
    # With constants that are too small, the check must fail.
    assert fails(
        bounds.theorem_2(trace["regret"], trace.rounds, Setting(2, 0.01, 0.01, 2.0, 1.0, 1.0))
    )
    with pytest.raises(
        ValueError,
        match=r"regret must have shape R x 7, one column per horizon, got shape \(40, 8\)",
    ):
        bounds.theorem_2(trace["regret"], trace.rounds[1:], unit_ball(2))


def test_constants_by_trial():
    s = Setting(1, np.array([1.0, 10.0] * 20), np.array([1.0, 10.0] * 20), 2.0, 1.0, 1.0)
    regret = regrets(PFBCO(1.0), [64]) * np.array([[1.0], [10.0]] * 20)
    check = bounds.theorem_1(regret, [64], s)
    assert check.verdict == "vacuous here" and check.bound[0] == pytest.approx(
        5.5 * theory.theorem_1(unit_ball(1), 64)
    )
    assert check.inputs["median bound / mean"] == pytest.approx(
        bounds.theorem_1(regrets(PFBCO(1.0), [64]), [64], unit_ball(1)).inputs[
            "median bound / mean"
        ]
    )


# The list of statements -------------------------------------------------------------------------------------


def test_statements_are_listed_and_named_once():
    found = statements("pfbco")
    names = [s.name for s in found]
    assert len(found) == len(set(names)) == 32 and all(
        isinstance(s, Statement) and s.source and s.summary for s in found
    )
    assert {
        "Theorem 1",
        "Theorem 1, printed",
        "Theorem 2",
        "Lemma 6",
        "Lemma 6, sharp",
        "Tracking",
        "Block variant",
    } <= set(names)
    assert sum(name.startswith("Assumption") for name in names) == 7
    assert all(s.function.__annotations__["return"] is Check for s in found)
