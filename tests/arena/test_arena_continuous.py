"""Tests of the continuous field: sets and problems, adapters, declared information, and the learners of both tracks."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from facts import facts_read

from companion.arena import field
from companion.arena.adapters import BoxAdapter, Committed, ConcaveAdapter, LossAdapter
from companion.arena.continuous import (
    DRIFTING,
    LEARNERS,
    PROBLEMS,
    ROUGH,
    Facts,
    own_problem,
)
from companion.arena.entries import own_learner
from companion.arena.sets import Concave, Placed, Region, Turned, UniformInSet, uniform_point
from paperlib.core.contracts import Observed
from paperlib.core.streams import Streams
from paperlib.goucb.learners.presets import practical
from paperlib.goucb.learners.search import RepeatBest, UniformPoint
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.problems.synthetic import Rastrigin, StyblinskiTang, Teacher
from paperlib.maths.bounds import Bounds
from paperlib.maths.matrices import NuclearBall, Spectrahedron, smat
from paperlib.maths.sets import Ball, Box, SubSimplex
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.gradient import StaticBaseline
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares
from paperlib.nsbco.learners.presets import practical as practical_master
from paperlib.nsbco.learners.spsa import SPSA
from paperlib.nsbco.problems.paths import Abrupt, Level, Rotation, Triangle
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.pfbco.problems.ball import BallQuadratic
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
FIELD = {name: build() for name, build in PROBLEMS.items()}


def draws(trials=3, t=-1, seed=0):
    return Streams(seed, range(trials)).at(t)


def begun(problem, trials=3, horizon=100):
    return problem.init(trials, horizon, draws(trials), **TKWARGS)


def regret_at(problem, instance, x, t=0):
    """Return the regret at R points, R."""
    return problem.respond(instance, t, x, "reward", draws(len(x), t))[1]


def actions(learner, problem, horizon=40, trials=3):
    """Return the actions of a run, T x R x d."""
    streams = Streams(0, range(trials))
    instance = problem.init(trials, horizon, streams.at(-1), **TKWARGS)
    state = learner.init(trials, problem.context(instance, 0), horizon, streams.at(-1), **TKWARGS)
    found = []
    for t in range(horizon):
        context, draw = problem.context(instance, t), streams.at(t)
        action, state = learner.select(state, context, draw)
        feedback, _ = problem.respond(instance, t, action, learner.wants, draw)
        state = learner.update(state, context, action, feedback, draw)
        found.append(action)
    return torch.stack(found)


# ---- sets ---------------------------------------------------------------------------------------------------


class Region3(NamedTuple):
    cset: Any
    low: list
    high: list


@pytest.mark.parametrize(
    "case",
    [
        Region3(Ball.of(2), [-1, -1], [1, 1]),
        Region3(Box.of(2), [-1, -1], [1, 1]),
        Region3(SubSimplex.of(2), [-1, -1], [3, 3]),  # y = 2 n x - 1 with 0 <= x <= 1 and n = 2
        # A matrix with trace 1 has entries from 0 to 1 on its diagonal and from -1/2 to 1/2 elsewhere; k / rho is 2 + sqrt(2), and
        # the coordinates are svec(X) k / rho - svec(I).
        Region3(
            Spectrahedron.of(2, 1.0),
            [-1, -(1 + 2**0.5), -1],
            [1 + 2**0.5, 1 + 2**0.5, 1 + 2**0.5],
        ),
    ],
    ids=lambda case: type(case.cset).__name__,
)
def test_the_bounding_box_is_the_smallest(case):
    bounds = Region.of(case.cset).bounds
    torch.testing.assert_close(bounds.lo, torch.tensor([case.low], **TKWARGS))
    torch.testing.assert_close(bounds.hi, torch.tensor([case.high], **TKWARGS))


MANY = 40_000


def test_uniform_points_have_the_moments_of_the_uniform_distribution():
    sample = lambda cset: uniform_point(cset, draws(MANY), "test")
    near = lambda found, value: abs(float(found) - value) < 0.01
    box, ball = sample(Box.of(3)), sample(Ball.of(3))
    assert near(box.mean(), 0) and near(box.square().mean(), 1 / 3)
    # The norm of a uniform point of the ball has the density d r^{d - 1}.
    assert near(ball.mean(), 0) and near(ball.norm(dim=1).mean(), 3 / 4)
    simplex = SubSimplex.of(3)
    x = simplex.to_native(sample(simplex))  # Dirichlet distributed with four parameters of 1
    assert near(x.mean(), 1 / 4) and near(x.square().mean(), 2 / (4 * 5))
    matrices = Spectrahedron.of(2, 1.0)
    X = smat(matrices.to_native(sample(matrices)), 2)
    trace = X.diagonal(dim1=1, dim2=2).sum(1)
    assert near(trace.mean(), 3 / 4)
    # Given the trace, the other two coordinates are uniform in the disk with the radius trace / 2.
    inside = ((X[:, 0, 0] - X[:, 1, 1]) / 2) ** 2 + X[:, 0, 1] ** 2
    assert near((inside / trace**2).mean(), 1 / 8)


@pytest.mark.parametrize(
    "cset", [Ball.of(3), Box.of(3), SubSimplex.of(3), Spectrahedron.of(2, 1.0)]
)
def test_uniform_points_are_in_the_set(cset):
    assert bool(cset.contains(uniform_point(cset, draws(2000), "test")).all())


def test_uniform_points_of_an_unknown_set_are_refused():
    with pytest.raises(ValueError, match="^cset must be a Ball"):
        uniform_point(NuclearBall.of(2, 1.0), draws(), "test")


# ---- problems -----------------------------------------------------------------------------------------------


def test_a_linear_function_on_the_simplex_worked_by_hand():
    problem = Concave("simplex", 2, noise=0.0)
    instance = begun(problem, 1)
    # The vertices are (-1, -1), (3, -1) and (-1, 3). With g = (1/4, 1/2) their values are -3/4, 1/4 and 5/4.
    instance = instance._replace(
        slope=torch.tensor([[0.25, 0.5]], **TKWARGS), best=torch.tensor([1.25], **TKWARGS)
    )
    for x, value in (([-1.0, -1.0], -0.75), ([3.0, -1.0], 0.25), ([0.0, 0.0], 0.0)):
        reward, regret = problem.respond(
            instance, 0, torch.tensor([x], **TKWARGS), "reward", draws(1, 0)
        )
        assert (reward.item(), regret.item()) == (value, 1.25 - value)


def test_the_linear_function_is_best_at_a_vertex_and_at_most_1():
    problem = Concave("simplex", 2)
    instance = begun(problem, 50)
    vertices = torch.tensor([[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]], **TKWARGS)
    values = instance.slope @ vertices.mT
    torch.testing.assert_close(instance.best, values.amax(1))
    assert (
        values.abs().amax() <= 1 and instance.best.std() > 0.1
    )  # every trial has its own function


def test_a_quadratic_on_matrices_has_its_maximizer_inside_the_margin():
    problem = Concave("matrices", 2, curvature=0.5, margin=0.3)
    instance = begun(problem, 50)
    best = instance.slope / 0.5
    cset = instance.region.cset
    assert bool(cset.contains(best / 0.7).all()) and not bool(cset.contains(best / 0.5).all())
    x = uniform_point(cset, draws(50, seed=1), "other")
    # f(x) = f(best) - h ||x - best||^2 / 2
    torch.testing.assert_close(
        regret_at(problem, instance, x), 0.25 * (x - best).square().sum(1), rtol=1e-9, atol=1e-12
    )


def test_turned_paths_differ_by_trial_and_keep_norm_and_variation():
    plain, turned = QuadraticDrift(Rotation(4.0)), QuadraticDrift(Turned(Rotation(4.0)))
    part = turned.part([0, 1, 2], 500)
    theta = turned.centers(part, np.arange(500), 500)
    np.testing.assert_allclose(np.linalg.norm(theta, axis=2), 0.5, rtol=1e-12)
    assert abs(theta[0, 0] - theta[1, 0]).max() > 0.01
    before = plain.variation(plain.part([0], 500), 500)
    np.testing.assert_allclose(turned.variation(part, 500), np.repeat(before, 3), rtol=1e-9)


def test_a_turned_path_keeps_its_change_points_and_its_variation():
    problem = QuadraticDrift(Turned(Abrupt(3)))
    theta = problem.centers(problem.part([5], 300), np.arange(300), 300)[0]
    first, second = Abrupt(3).changes(5, 300)
    signs = np.sign(theta @ theta[0])
    assert (signs[:first] == 1).all() and (signs[first:second] == -1).all()
    assert (signs[second:] == 1).all()
    wave = QuadraticDrift(
        Turned(Triangle(6.0))
    )  # its number of periods is computed from the variation
    np.testing.assert_allclose(wave.variation(wave.part([0, 1], 300), 300), 6.0, rtol=1e-6)


@pytest.mark.parametrize("path", [Level(), None, Rotation])
def test_a_path_with_other_values_is_refused(path):
    with pytest.raises(ValueError, match="^path must be"):
        Turned(path)


def test_parts_of_a_box_are_mirrored_and_contain_the_maximizer():
    problem = Placed(Rastrigin(2, noise=0.0), part=0.5)
    instance = begun(problem, 200)
    best = -instance.middle / instance.side
    assert 0.7 < best.abs().amax() <= 0.8 and instance.side.unique().tolist() == [-0.5, 0.5]
    torch.testing.assert_close(
        regret_at(problem, instance, best), torch.zeros(200, **TKWARGS), rtol=0, atol=1e-9
    )
    whole = Placed(StyblinskiTang(1, noise=0.0))
    instance = begun(whole, 200)
    # The reward at the right end is f(5) = -125 or, mirrored, f(-5) = -100.
    right = whole.respond(instance, 0, torch.ones(200, 1, **TKWARGS), "reward", draws(200, 0))[0]
    assert right.unique().tolist() == [-125.0, -100.0]


@pytest.mark.parametrize("bad", [None, Rastrigin, "Rastrigin"])
def test_other_objects_than_problems_are_refused(bad):
    with pytest.raises(ValueError, match="^problem must be a problem"):
        Placed(bad)


@pytest.mark.parametrize("problem", [Placed(Rastrigin(2)), Concave()], ids=["placed", "concave"])
def test_problems_give_rewards_only(problem):
    with pytest.raises(ValueError, match="^wants must be"):
        problem.respond(begun(problem), 0, torch.zeros(3, 2), "gradient", draws(3, 0))


@pytest.mark.parametrize("field_name, value", [("part", 0.4), ("part", 1.1)])
def test_parts_out_of_range_are_refused(field_name, value):
    with pytest.raises(ValueError, match=f"^{field_name} must be"):
        Placed(Rastrigin(2), **{field_name: value})


@pytest.mark.parametrize(
    "bad", [{"cset": "ball"}, {"size": 0}, {"curvature": -1.0}, {"noise": -1.0}, {"margin": 1.0}]
)
def test_values_out_of_range_are_refused(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"^{name} must be"):
        Concave(**bad)


# ---- the field's problems and their declared information -------------------------------------------------------


def maximizer(problem, instance, t):
    """Return the maximizers of the field's problems in round t, R x d; None for the network, whose maximizer is not known."""
    if isinstance(problem, Concave):
        cset = instance.region.cset
        return (
            instance.slope / problem.curvature if problem.curvature else cset.lmo(-instance.slope)
        )
    inner = problem.problem
    if isinstance(inner, QuadraticDrift):
        return inner.theta(instance.inner, t).expand(instance.middle.shape)
    if isinstance(inner, Teacher):
        return None
    top = 0.0 if isinstance(inner, Rastrigin) else -2.903534027771177 / 5
    return (top - instance.middle) / instance.side


@pytest.mark.parametrize("name", [name for name in FIELD if name != "network"])
def test_the_best_action_has_no_regret_and_is_within_the_margin(name):
    entry = FIELD[name]
    instance = begun(entry.problem, 20)
    for t in (0, 50, 99):
        best = maximizer(entry.problem, instance, t)
        regret = regret_at(entry.problem, instance, best, t)
        torch.testing.assert_close(
            regret, torch.zeros(20, **TKWARGS), rtol=0, atol=1e-7 * entry.facts.high
        )
        cset = entry.problem.context(instance, t).cset
        inside = best / (1 - entry.facts.margin) if entry.family != "linear" else best
        assert bool(cset.contains(inside, 1e-9).all())


@pytest.mark.parametrize("name", FIELD)
def test_the_declared_information_is_true(name):
    """Regrets at random points determine differences of the mean rewards, and these are within the declared bounds."""
    entry, trials = FIELD[name], 50
    instance, L = begun(entry.problem, trials), entry.facts.smoothness
    cset = entry.problem.context(instance, 0).cset
    largest = 0.0
    for k in range(40):
        x, y = (uniform_point(cset, draws(trials, k), purpose) for purpose in "xy")
        middle = (x + y) / 2
        if k % 2:  # near points show the local slope and curvature
            y = x + 0.05 * (y - x)
            middle = (x + y) / 2
        at = lambda z: -regret_at(entry.problem, instance, z, 10)
        f, g, h, apart = at(x), at(y), at(middle), (x - y).norm(dim=1)
        largest = max(largest, float((f - g).abs().amax()), float(-f.amin()))
        slope = (f - g).abs() / apart
        bend = 8 * (h - (f + g) / 2) / apart**2  # the mean curvature, negative in convex directions
        assert slope.amax() <= entry.facts.lipschitz * (1 + 1e-9)
        assert bend.abs().amax() <= L * (1 + 1e-6)
        if entry.family in ("quadratic", "unequal", "drifting"):
            assert bend.amin() >= entry.facts.concavity * (1 - 1e-6)
    width = entry.facts.high - entry.facts.low
    assert 0.2 * width < largest <= width  # a range that is far too wide would not be information


def test_rewards_are_nearly_always_within_the_reach():
    for name, entry in FIELD.items():
        known, instance = entry.known(100), begun(entry.problem, 500)
        cset = entry.problem.context(instance, 0).cset
        x = uniform_point(cset, draws(500, 1), "test")
        reward, _ = entry.problem.respond(instance, 0, x, "reward", draws(500, 0))
        outside = ((reward - known.center).abs() > known.reach).double().mean()
        assert outside <= 0.01, name


def test_the_information_of_the_disk_worked_by_hand():
    known = FIELD["quadratic, ball"].known(300)
    noise = 0.3 / 3**0.5  # standard deviation of uniform noise on [-0.3, 0.3]
    assert (known.low, known.high, known.dim, known.diameter, known.horizon) == (
        -0.625,
        0.5,
        2,
        2,
        300,
    )
    assert known.center == -0.0625
    assert known.noise == pytest.approx(noise)
    assert known.reach == pytest.approx(0.5625 + 3 * noise)


def test_the_standard_deviation_of_the_noise_is_the_declared_one():
    for entry in FIELD.values():
        streams, trials = Streams(0, range(2)), 2
        instance = entry.problem.init(trials, 500, streams.at(-1), **TKWARGS)
        x = torch.zeros(trials, entry.problem.context(instance, 0).cset.dim, **TKWARGS)
        pairs = [entry.problem.respond(instance, t, x, "reward", streams.at(t)) for t in range(500)]
        rewards, regrets = (torch.stack(part) for part in zip(*pairs))
        found = (rewards + regrets).std(0)
        torch.testing.assert_close(
            found, torch.full_like(found, entry.facts.noise), rtol=0.1, atol=0
        )


# ---- adapters -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InOtherUnits:
    """A paper's problem as the arena plays it: a region as context, and the reward or minus the loss as center + unit times it."""

    problem: Any
    center: float
    unit: float
    of: str = "reward"

    def init(self, *arguments, **tkwargs):
        return self.problem.init(*arguments, **tkwargs)

    def context(self, instance, t):
        context = self.problem.context(instance, t)
        return Region.of(Box.of(context.dim) if isinstance(context, Bounds) else context.cset)

    def respond(self, instance, t, action, wants, draw):
        assert wants == "reward"
        feedback, regret = self.problem.respond(instance, t, action, self.of, draw)
        sign = -1 if self.of == "loss" else 1
        return self.center + self.unit * sign * feedback, regret


DRIFT = QuadraticDrift(Turned(Abrupt(2)), amplitude=0.2)


def same(adapted, base, problem, center, unit, of="reward", **how):
    """Compare the actions of an adapted learner in other units with the actions of the base on the paper's problem."""
    there = actions(adapted, InOtherUnits(problem, center, unit, of), **how)
    here = actions(base, problem, **how)
    assert (here[20:] - here[0]).abs().amax() > 0.1  # the base moves
    torch.testing.assert_close(there, here, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "base", [PFBCO(0.5), PFBCO(0.5, baseline=True, scale=0.3), FKM(0.5), FKM(variant="2005")]
)
def test_a_learner_of_losses_plays_the_same_actions(base):
    problem = BallQuadratic(3, 0.5)
    M, G = 1.5**2 / 2, 1.5
    adapted = replace(base, scale=0.3 / M) if base.scale == 0.3 else base
    adapted = LossAdapter(adapted, center=7.0, unit=4 * M, lipschitz=4 * G)
    same(adapted, base, problem, 7.0, 4.0, "loss")


@pytest.mark.parametrize(
    "base",
    [
        KieferWolfowitz(),
        SPSA(),
        DiscountedLeastSquares(16),
        GLR(variance=0.01),
        practical_master(GradientAscent()),
    ],
    ids=lambda base: type(base).__name__,
)
def test_a_learner_of_concave_rewards_plays_the_same_actions(base):
    adapted = ConcaveAdapter(base, -3.0, 8.0, smoothness=16.0, concavity=8.0, margin=0.5)
    same(adapted, base, DRIFT, -3.0, 8.0)


@pytest.mark.parametrize(
    "base",
    [
        UniformPoint(4),
        RepeatBest(4),
        TuRBO(4, candidates=16, fit_steps=2),
        practical(4, TwoLayerNet(3)),
    ],
    ids=lambda base: type(base).__name__,
)
def test_a_learner_on_a_box_plays_the_same_actions(base):
    problem = Teacher(2, hidden=3, starts=8, steps=5)
    adapted = BoxAdapter(base, center=4.0, unit=2.0)
    there = actions(adapted, InOtherUnits(problem, 4.0, 2.0), 8)
    torch.testing.assert_close(there, actions(base, problem, 8), rtol=0, atol=1e-6)


def test_the_static_baseline_stays_at_the_center():
    adapted = ConcaveAdapter(StaticBaseline())
    assert not actions(adapted, Placed(DRIFT), 5).any()


def test_points_outside_the_set_are_projected_and_learned_as_projected():
    problem = Concave("simplex", 3)
    adapted, region = BoxAdapter(UniformPoint(4)), problem.region()
    state = adapted.init(200, region, 10, draws(200), **TKWARGS)
    raw, _ = adapted.base.select(state.base, region.bounds, draws(200, 0))
    point, state = adapted.select(state, region, draws(200, 0))
    torch.testing.assert_close(point, region.cset.project(raw), rtol=0, atol=1e-12)
    assert 0 < region.cset.contains(raw).sum() < 200 and bool(region.cset.contains(point).all())
    state = adapted.update(state, region, point, point[:, 0], draws(200, 0))
    learned = region.bounds.native(state.base.x.view[:, 0])
    torch.testing.assert_close(learned, point, rtol=0, atol=1e-12)


def test_rewards_are_rescaled_as_worked_by_hand():
    rewards = torch.tensor([1.0, 5.0, 9.0], **TKWARGS)
    concave = ConcaveAdapter(StaticBaseline(), center=3.0, unit=4.0)
    assert concave.rescale(rewards).tolist() == [-0.5, 0.5, 1.0]  # the last one is clipped
    loss = LossAdapter(PFBCO(0.5), center=3.0, unit=4.0, lipschitz=6.0)
    assert loss.rescale(rewards).tolist() == [0.5, -0.5, -1.5]
    task = loss.translate(Region.of(Ball.of(2)))
    assert (task.loss_bound.item(), task.grad_bound.item()) == (1.0, 1.5)
    task = replace(concave, smoothness=2.0, concavity=1.0, margin=0.25).translate(
        Region.of(Ball.of(2))
    )
    assert [float(x) for x in task[1:]] == [0.25, 0.5, 0.25, 0.0]


def test_adapters_validate_and_warn_in_the_units_of_the_base():
    region, zero = Region.of(Ball.of(2)), torch.zeros(1, 2, **TKWARGS)
    loss = LossAdapter(PFBCO(0.5), center=3.0, unit=4.0)
    with pytest.raises(ValueError, match="^context must be a Region"):
        loss.validate(loss.translate(region), None, None)
    loss.validate(region, zero, torch.tensor([7.0], **TKWARGS))
    with pytest.raises(ValueError, match="^action must be a point of 2 numbers"):
        loss.validate(region, torch.zeros(1, 3, **TKWARGS), None)
    of = lambda reward: Observed(zero, torch.tensor([reward], **TKWARGS), 1)
    observed = lambda reward: loss.caution(region, 10, of(reward))
    assert observed(7.0) is None  # the loss -1, the bound
    assert "loss_bound=1.0" in observed(7.1)


@pytest.mark.parametrize(
    "build, name",
    [
        (lambda: ConcaveAdapter(SPSA(), smoothness=1.0, concavity=1.0), "concavity"),
        (lambda: ConcaveAdapter(SPSA(), margin=1.0), "margin"),
        (lambda: ConcaveAdapter(SPSA(), unit=0.0), "unit"),
        (lambda: LossAdapter(PFBCO(), lipschitz=0.0), "lipschitz"),
        (lambda: LossAdapter(PFBCO), "base"),
        (lambda: Committed(UniformInSet(), 0), "explore"),
    ],
)
def test_invalid_adapters_are_refused(build, name):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        build()


def test_random_search_refuses_other_contexts():
    with pytest.raises(ValueError, match="^context must be a Region"):
        UniformInSet().validate(Bounds.cube(2), None, None)


class Echo:
    """Learner that plays (t, 0) / 10 in round t, and whose state is the horizon and the clock."""

    wants = "reward"

    def init(self, trials, context, horizon, draw, **tkwargs):
        return (horizon, 0)

    def select(self, state, context, draw):
        return torch.tensor([[state[1] / 10, 0.0]] * 2, **TKWARGS), state

    def update(self, state, context, action, feedback, draw):
        return (state[0], state[1] + 1)


def test_a_committed_learner_repeats_the_point_with_the_largest_reward():
    learner = Committed(Echo(), 3)
    state = learner.init(2, None, 100, draws(2), **TKWARGS)
    assert state.base == (3, 0)  # the base's horizon is the number of rounds in which it chooses
    rewards, played = [(1, 5), (3, 2), (2, 2), (0, 9), (9, 0)], []
    for pair in rewards:
        action, state = learner.select(state, None, draws(2))
        played.append(action[:, 0].tolist())
        state = learner.update(state, None, action, torch.tensor(pair, **TKWARGS), draws(2))
    assert played == [[0.0, 0.0], [0.1, 0.1], [0.2, 0.2], [0.1, 0.0], [0.1, 0.0]]
    assert state.base == (3, 3) and state.rounds == 5


# ---- learners ---------------------------------------------------------------------------------------------------

PAIRS = [
    pytest.param(entry, learner, id=f"{name}-{problem}")
    for problem, entry in FIELD.items()
    for name, learner in LEARNERS.items()
    if learner.plays(entry)
]


@pytest.mark.parametrize("entry, learner", PAIRS)
def test_every_pair_runs_in_both_tracks(entry, learner):
    known = entry.known(12)
    cset = entry.problem.context(begun(entry.problem, 2), 0).cset
    for scale in (None, 0.1) if learner.scaled else (None,):
        x = actions(learner.build(known, scale), entry.problem, 12, 2)
        assert bool(cset.contains(x.flatten(0, 1), 1e-9).all())


def test_the_scale_changes_every_learner_that_has_one():
    known = FIELD["quadratic, ball"].known(100)
    for name, learner in LEARNERS.items():
        built = {repr(learner.build(known, scale)) for scale in field.GRID}
        assert len(built) == (len(field.GRID) if learner.scaled else 1), name


def test_learners_read_the_information_that_their_builders_need():
    known = FIELD["quadratic, ball"].known(100)
    read = {name: sorted(facts_read(learner, known)) for name, learner in LEARNERS.items()}
    bounds = ["center", "concavity", "margin", "reach", "smoothness"]
    assert read["PF"] == read["FKM"] == ["center", "lipschitz", "reach"]
    assert read["GLR"] == sorted([*bounds, "noise"])
    assert read["SPSA"] == sorted([*bounds, "dim"])
    assert read["MASTER"] == read["KW"] == read["static baseline"] == bounds
    assert read["D-LS"] == sorted([*bounds, "horizon"])
    assert read["GO-UCB"] == read["TuRBO"] == ["center", "explore", "reach"]
    assert read["explore-then-commit"] == ["horizon"] and read["uniform"] == []


def test_only_learners_of_moving_maximizers_cover_drift_and_goucb_does_not_play_it():
    drifting = [entry for entry in FIELD.values() if entry.group == DRIFTING]
    assert len(drifting) == 2
    for entry in drifting:
        covered = {name for name, learner in LEARNERS.items() if entry.family in learner.covers}
        assert covered == {"GLR", "MASTER", "D-LS", "uniform"}
        assert not LEARNERS["GO-UCB"].plays(entry) and not LEARNERS["TuRBO"].plays(entry)
    rough = [entry for entry in FIELD.values() if entry.group == ROUGH]
    assert len(rough) == 3 and all(learner.plays(e) for e in rough for learner in LEARNERS.values())


def mean_regrets(problem, names, horizon, scale):
    entry = FIELD[problem]
    known = entry.known(horizon)
    final = lambda learner: play(learner, entry.problem, horizon, 10, record=1).last().mean()
    scales = {name: scale if LEARNERS[name].scaled else None for name in names}
    found = {name: final(LEARNERS[name].build(known, scales[name])) for name in names}
    return {name: found[name] / found["uniform"] for name in names}


def test_learners_that_know_the_curvature_are_far_below_uniform_play():
    names = ("PF", "KW", "SPSA", "D-LS", "static baseline", "uniform")
    found = mean_regrets("quadratic, ball", names, 500, 0.1)
    assert max(found[name] for name in ("PF", "KW", "SPSA")) < 0.2 and found["D-LS"] < 0.1
    # theta has norm 1/2, and a uniform point has the mean square norm 1/2: (1/4) / (1/4 + 1/2) = 1/3
    assert found["static baseline"] == pytest.approx(1 / 3, abs=0.05)


def test_tracking_learners_are_better_than_the_static_baseline_under_drift():
    names = ("KW", "SPSA", "D-LS", "static baseline", "uniform")
    found = mean_regrets("rotation, ball", names, 1000, 0.1)
    assert max(found["KW"], found["SPSA"]) < 0.75 * found["static baseline"]


def test_the_field_competes_and_tunes(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    problems = {"quadratic, ball": FIELD["quadratic, ball"]}
    learners = {name: LEARNERS[name] for name in ("PF", "D-LS", "uniform")}
    traces = field.compete(problems, learners, dict.fromkeys(learners), 40, 4, 0)
    assert {name: len(t.last()) for name, t in traces["quadratic, ball"].items()} == dict.fromkeys(
        learners, 4
    )
    tuned = field.score_scales(field.tune(problems, learners, 40, 4, 0))
    assert {name: set(x) for name, x in tuned.items()} == {
        name: {*field.GRID} for name in ("PF", "D-LS")
    }
    assert all(math.isfinite(x) for each in tuned.values() for x in each.values())


@pytest.mark.parametrize("horizon, rounds", [(5, 12), (100, 12), (301, 31), (9000, 50)])
def test_learners_of_goucb_choose_in_a_tenth_of_the_rounds(horizon, rounds):
    known = FIELD["quadratic, box"].known(horizon)
    assert LEARNERS["TuRBO"].build(known, None).base.explore == rounds == known.explore


# ---- Entries of a user -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hill:
    """Maximize -|x| on a box of the user's units."""

    low, high, noise = -2.0, 0.0, 0.1

    def init(self, trials, horizon, draw, **tkwargs):
        return torch.zeros(trials, 1, **tkwargs)

    def context(self, instance, t):
        return Bounds(torch.tensor([[-2.0]]).to(instance), torch.tensor([[2.0]]).to(instance))

    def respond(self, instance, t, action, wants, draw):
        value = -abs(action[:, 0])
        return value + self.noise * draw.normal("reward"), -value


def test_a_problem_of_a_user_on_a_box():
    entry = own_problem(Hill)
    assert entry.group == field.OWN and entry.family == "smooth"
    assert entry.facts == Facts(-2.0, 0.0, 0.1, 1.0, 2.0, 0.2, 0.2)
    known = entry.known(30)
    assert (known.dim, known.horizon) == (1, 30)
    players = [name for name, learner in LEARNERS.items() if learner.plays(entry)]
    assert players == [*LEARNERS]
    for name in ("explore-then-commit", "PF", "KW", "MASTER", "static baseline", "TuRBO"):
        regret = play(LEARNERS[name].build(known, None), entry.problem, 8, 2)["regret"]
        assert regret.shape == (2, 8) and (regret >= 0).all()
    # Uniform points have the mean regret 1.
    last = play(UniformInSet(), entry.problem, 50, 100).last() / 50
    assert abs(last.mean() - 1) < 0.05


def test_a_problem_of_a_user_may_state_more_and_have_another_set():
    @dataclass(frozen=True)
    class Mine(Concave):
        low, high, smoothness = -1.0, 1.0, 0.7

    entry = own_problem(Mine("simplex", 3))
    assert entry.family == "other set" and entry.problem == Mine("simplex", 3)
    assert entry.facts == Facts(-1.0, 1.0, 0.2, 1.0, 0.7, pytest.approx(0.07), 0.5)
    players = [name for name, learner in LEARNERS.items() if learner.plays(entry)]
    assert players == [*LEARNERS]


class Reversed(Hill):
    low, high = 1.0, 1.0


class NoSet(Hill):
    def context(self, instance, t):
        return instance


@pytest.mark.parametrize(
    "thing, message",
    [
        (UniformInSet(), "problem"),
        (Concave("simplex", 3), "attributes low < high"),
        (Reversed(), "attributes low < high"),
        (NoSet(), "Region, a box"),
    ],
)
def test_a_problem_of_a_user_without_range_or_set_is_rejected(thing, message):
    with pytest.raises(ValueError, match=message):
        own_problem(thing)


def test_a_learner_of_a_user_gets_the_declared_facts():
    entry = own_learner(
        lambda noise, dim, scale=0.5: KieferWolfowitz(1 + noise + dim + scale), "continuous"
    )
    known = FIELD["quadratic, box"].known(30)
    assert entry.scaled and entry.build(known, None) == KieferWolfowitz(6.5 + known.noise)
    assert entry.build(known, 0.1) == KieferWolfowitz(6.1 + known.noise)
    assert facts_read(entry, known) == ["noise", "dim"]
    with pytest.raises(ValueError, match="'kernel' of .* must have a default.*low, high.*dim"):
        own_learner(lambda kernel: UniformInSet(), "continuous")
