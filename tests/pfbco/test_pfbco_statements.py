"""Tests of the largest allowed losses and of statements along recorded runs, with deliberately wrong learners and problems."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from pfbco_runs import leader, loss_at

from companion.pfbco.errata import worst_on_interval
from companion.pfbco.experiments import settings
from companion.pfbco.experiments.statements import (
    along_leader,
    along_run,
    averages,
    joined,
    of_problems,
    parted,
    small_problems,
)
from companion.pfbco.problems.variants import Loud
from companion.pfbco.proofs import lemmas, replay
from companion.pfbco.proofs.replay import Replay
from paperlib.checks import Check, Reported
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.pfbco.learners.pfbco import PFBCO, RegularizedLeader, keep_on_zero_gradient
from paperlib.pfbco.model import step_size
from paperlib.pfbco.probes import KEPT, gradient_norm, recording_probes, tracking_ratios
from paperlib.pfbco.problems.ball import BallLinear, BallQuadratic
from paperlib.pfbco.problems.quadratic import QuadraticPolytope
from paperlib.pfbco.theory import constants as theory
from paperlib.play import play


def test_loud_losses_are_legal_and_as_large_as_can_be():
    inner = QuadraticPolytope(3, 2)
    problem = Loud(inner)
    instance = settings.instance(problem, 5, 4, 7)
    assert (
        torch.equal(instance.task.loss_bound, settings.instance(inner, 5, 4, 7).task.loss_bound)
        and len(set(instance.task.loss_bound.tolist())) == 4
    )
    y, draw = torch.zeros(4, 3, dtype=torch.float64), instance.streams.at(2)
    loss, gap = problem.respond(instance, 2, y, "loss", draw)
    assert (
        torch.equal(loss, instance.task.loss_bound)
        and torch.equal(loss, problem.respond(instance, 0, y + 0.1, "loss", draw)[0])
        and not gap.any()
    )
    assert (
        not problem.respond(instance, 2, y, "gradient", draw)[0].any()
        and problem.context(instance, 3) is instance.task
    )
    with pytest.raises(ValueError, match="wants"):
        problem.respond(instance, 2, y, "reward", draw)
    trace = play(PFBCO(0.5), problem, 5, 4, seed=7, record="all", probes={"norm": gradient_norm})
    assert trace["norm"] == pytest.approx(
        np.tile(3 * instance.task.loss_bound[:, None] / (0.5 * 5**-0.2), 5), rel=1e-12
    )


@pytest.mark.parametrize("rule", ["paper", "corrected"])
def test_loud_runs_reach_the_worst_of_all_directions(rule):
    """All sixteen sequences of signs occur in 200 trials; the printed rate violates the bound of its proof."""
    found = play(
        PFBCO(0.1, eta_rule=rule),
        Loud(BallLinear(1)),
        4,
        200,
        probes={"ratios": Probe(tracking_ratios, "max")},
    )["ratios"][:, -1, 0].max()
    assert found == pytest.approx(worst_on_interval(4, 0.1, rule)) and (found > 2) == (
        rule == "paper"
    )


def recorded(learner, problem, horizon, trials=3, seed=0):
    return play(
        learner, problem, horizon, trials, seed=seed, record="all", probes=recording_probes(problem)
    )


def leaders(learner, problem, horizon, seed=0):
    trace = play(learner, problem, horizon, 3, seed=seed, record="all", probes=KEPT)
    return {
        check.statement: check.verdict
        for check in along_leader(trace, settings.instance(problem, horizon, 3, seed).task.cset)
    }


def verdicts(learner, problem, horizon, c, seed=0, task=None):
    task = task or settings.instance(problem, horizon, 3, seed).task
    return {
        check.statement: check.verdict
        for check in along_run(recorded(learner, problem, horizon, seed=seed), task, c)
    }


@pytest.mark.parametrize("c", [0.1, 1.0])
@pytest.mark.parametrize("name", small_problems(1.0))
def test_every_statement_holds_on_every_problem(name, c):
    own = small_problems(c)[name]
    for problem in (own, Loud(own)):
        for horizon in (1, 2, 20):
            found = verdicts(PFBCO(c), problem, horizon, c)
            assert found.pop("Tracking, printed") == "reported"
            assert len(found) == 10 and set(found.values()) == {"holds"}, found
            ideal = leaders(RegularizedLeader(c), problem, horizon)
            assert set(ideal) == {
                "Accumulated estimates",
                "Be the leader",
                "Lemma 6",
                "Lemma 6, sharp",
            } and set(ideal.values()) == {"holds"}, ideal


def test_a_record_agrees_with_the_run():
    """The trace has the centers, points and constants per trial, and the losses at the points."""
    problem, learner, T = QuadraticPolytope(3, 2), PFBCO(0.5), 6
    trace, instance = recorded(learner, problem, T, seed=3), settings.instance(problem, T, 3, 3)
    run = Replay.of(trace, instance.task.cset)
    epoch = learner.constants(instance.task, T, instance.task.loss_bound)
    assert (
        torch.equal(run.eta, epoch.eta)
        and run.delta.shape == run.alpha.shape == (3,)
        and run.delta.tolist() == pytest.approx([0.5 * T**-0.2] * 3)
    )
    assert not run.x[:, 0].any() and torch.allclose(
        (run.y - run.x).norm(dim=2), run.delta.unsqueeze(1)
    )
    losses = torch.stack([loss_at(problem, instance, t, run.y[:, t]) for t in range(T)], 1)
    assert torch.equal(run.loss, losses)
    u = torch.stack([Streams(3, range(3)).at(t).sphere("direction", 3) for t in range(T)], 1)
    assert torch.allclose(run.y - run.x, run.delta[0] * u)
    steep = torch.stack(
        [
            problem.respond(instance, t, run.y[:, t], "gradient", instance.streams.at(t))[0].norm(
                dim=1
            )
            for t in range(T)
        ],
        1,
    )
    assert trace["steepness"][:, -1] == pytest.approx(steep.amax(1).numpy())


def test_a_record_with_gaps_is_refused():
    trace = play(PFBCO(0.5), BallLinear(2), 10, 2, record=[5, 10], probes=KEPT)
    with pytest.raises(ValueError, match="trace must contain all 10 rounds, got 2"):
        Replay.of(trace, settings.instance(BallLinear(2), 10, 2, 0).task.cset)


@dataclass(frozen=True)
class Outside(PFBCO):
    """A wrong learner: its exploration radius is three times the shrinkage of its set."""

    def constants(self, task, horizon, bound):
        epoch = super().constants(task, horizon, bound)
        return epoch._replace(delta=3 * epoch.delta)


def flagged(*args, **more):
    return {
        statement for statement, verdict in verdicts(*args, **more).items() if verdict == "fails"
    }


def test_broken_learners_and_false_bounds_are_flagged():
    loud = Loud(BallQuadratic(2))
    assert flagged(PFBCO(0.9), loud, 30, 0.9) == set()
    assert flagged(Outside(0.9), loud, 30, 0.9) == {"Feasibility", "Rates"}
    assert {"Tracking", "Leader's step"} <= flagged(PFBCO(1.0, scale=1e-3), loud, 200, 1.0)
    assert "Accumulated estimates" in flagged(PFBCO(0.9, sham=True), loud, 30, 0.9)
    task = settings.instance(loud, 30, 3, 0).task
    assert flagged(
        PFBCO(0.9), loud, 30, 0.9, task=task._replace(loss_bound=0.9 * task.loss_bound)
    ) == {"Assumption, bounded losses", "Estimate norm", "Rates"}
    own = BallQuadratic(2, distance=1.0)
    task = settings.instance(own, 30, 3, 0).task
    assert flagged(
        PFBCO(0.9), own, 30, 0.9, task=task._replace(grad_bound=0.4 * task.grad_bound)
    ) == {"Assumption, bounded gradients"}


@dataclass(frozen=True)
class Broken(PFBCO):
    """A copy of PFBCO's update whose gradient, step size and sum subclasses can replace."""

    def update(self, state, task, y, loss, draw):
        step, heard = self.estimate(state, task, loss, draw)
        gradient = self.seen(state, step)
        vertex = (1 - state.alpha).unsqueeze(1) * task.cset.lmo(gradient)
        v = keep_on_zero_gradient(self.tie, gradient, state.x, vertex)
        x = torch.lerp(state.x, v, self.share(state.rounds + 1))
        return state._replace(
            x=x, A=self.summed(state.A, step), rounds=state.rounds + 1, heard=heard
        )

    def seen(self, state, step):
        return self.gradient(state)

    def share(self, t):
        return step_size(t)

    def summed(self, A, step):
        return A + step


class Early(Broken):
    """A mutant: it uses the round's estimate before its step."""

    def seen(self, state, step):
        return self.gradient(state) + step


class Late(Broken):
    """A mutant: it uses no estimate before round 3."""

    def seen(self, state, step):
        return self.gradient(state) - (state.A if state.rounds < 2 else 0)


class Half(Broken):
    """A mutant: its regularizer has half the weight."""

    def seen(self, state, step):
        return state.A + state.x - state.x1


class Tenth(Broken):
    """A mutant: it takes a tenth of each step."""

    def share(self, t):
        return step_size(t) / 10


class Uphill(Broken):
    """A mutant: the sign of the estimates is flipped."""

    def seen(self, state, step):
        return 2 * (state.x - state.x1) - state.A


class Outward(Broken):
    """A mutant: the sign of the regularizer is flipped."""

    def seen(self, state, step):
        return state.A - 2 * (state.x - state.x1)


class Against(Broken):
    """A mutant: the sign of the gradient is flipped."""

    def seen(self, state, step):
        return -self.gradient(state)


class Subtracted(Broken):
    """A mutant: it subtracts each estimate from its sum."""

    def summed(self, A, step):
        return A - step


class Slow(PFBCO):
    """A mutant: its learning rate is a tenth."""

    def constants(self, task, horizon, bound):
        epoch = super().constants(task, horizon, bound)
        return epoch._replace(eta=epoch.eta / 10)


class Near(PFBCO):
    """A mutant: its exploration radius is half."""

    def select(self, state, task, draw):
        y, state = super().select(state, task, draw)
        return (y + state.x) / 2, state


MUTANTS = {
    Early: {"Frank-Wolfe step"},
    Late: {"Frank-Wolfe step"},
    Half: {"Frank-Wolfe step"},
    Tenth: {"Frank-Wolfe step"},
    Uphill: {"Frank-Wolfe step"},
    Outward: {"Frank-Wolfe step"},
    Against: {"Frank-Wolfe step"},
    Subtracted: {"Accumulated estimates", "Frank-Wolfe step"},
    Slow: {"Rates"},
    Near: {"Accumulated estimates", "Exploration step", "Frank-Wolfe step"},
}


def test_the_unbroken_copy_is_the_algorithm():
    for problem in small_problems(0.9).values():
        assert flagged(Broken(0.9), problem, 30, 0.9) == set()


@pytest.mark.parametrize("name", ["ball, linear", "polytope", "sub-simplex", "nuclear ball"])
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda x: x.__name__)
def test_mutants_are_detected_by_the_statements_of_the_notebooks(mutant, name):
    """A statement detects each mutant; the bounds of tracking and of the lemmas have too much slack for most of them."""
    c = 1.0
    for problem in (small_problems(c)[name], Loud(small_problems(c)[name])):
        assert MUTANTS[mutant] <= flagged(mutant(c), problem, 30, c)


@dataclass(frozen=True)
class Wild(RegularizedLeader):
    """A wrong leader: its regularizer has an eighth of the stated weight."""

    def update(self, state, task, y, loss, draw):
        after = super().update(state, task, y, loss, draw)
        return after._replace(x=leader(task, state.x1, 8 * after.A, state.alpha))


@dataclass(frozen=True)
class Drawn(RegularizedLeader):
    """A wrong leader: it minimizes with a multiple of its sum."""

    by: float = 1.0

    def update(self, state, task, y, loss, draw):
        after = super().update(state, task, y, loss, draw)
        return after._replace(x=leader(task, state.x1, self.by * after.A, state.alpha))


@pytest.mark.parametrize(
    "by, name",
    [(2.0, "Lemma 6, sharp"), (0.5, "Be the leader"), (-1.0, "Be the leader")],
    ids=["half the regularizer", "twice the regularizer", "sign"],
)
def test_mutant_leaders_are_detected(by, name):
    problem = Loud(BallLinear(3))
    assert "fails" not in leaders(Drawn(1.0), problem, 30).values()
    assert leaders(Drawn(1.0, by=by), problem, 30)[name] == "fails"


def test_the_leaders_own_points_are_judged():
    """The leader's centers are checked, including the one after the last round. A run of one round has no other."""
    loud = Loud(BallQuadratic(2))
    for horizon, wrong in ((1, {"Lemma 6, sharp"}), (30, {"Lemma 6", "Lemma 6, sharp"})):
        assert {
            name
            for name, verdict in leaders(Wild(0.1), loud, horizon).items()
            if verdict == "fails"
        } == wrong
    assert leaders(RegularizedLeader(1.0, sham=True), loud, 30)["Accumulated estimates"] == "fails"


def test_joined_checks():
    check = lambda observed, bound=1.0, kind=Check: kind("a", "b", "c", {"T": 3}, observed, bound)
    good, bad = check([[0.5, 0.7], [0.2, 0.9]]), check([0.5, 2.0], [1.0, 1.5])
    both = joined([good, bad])
    assert (both.verdict, int(both.held.sum()), both.held.size, both.inputs) == (
        "fails",
        5,
        6,
        {"runs": 2},
    ) and both.ratio == pytest.approx(4 / 3)
    assert (
        joined([good, good]).verdict == "holds"
        and joined([check([2.0], kind=Reported)] * 2).verdict == "reported"
    )


def test_recorded_parts_sum_to_the_regret():
    """The parts of a recorded run sum to the regret that ``play`` counted; the parts with other losses do not."""
    problem, T = BallLinear(2), 32
    trace, instance = (
        play(PFBCO(1.0), problem, T, 8, record="all", probes=KEPT),
        settings.instance(problem, T, 8, 0),
    )
    parts = lambda instance: replay.split(
        Replay.of(trace, instance.task.cset),
        instance.vector.unsqueeze(1),
        instance.best,
        trace["regret"][:, -1],
    )
    assert (
        parts(instance).regret.tolist() == trace["regret"][:, -1].tolist()
        and lemmas.decomposition(parts(instance), theory.unit_ball(2), T).verdict == "holds"
    )
    elsewhere = parts(settings.instance(problem, T, 8, 100))  # with other random seeds
    assert lemmas.decomposition(elsewhere, theory.unit_ball(2), T).verdict == "fails"


def test_parts_by_horizon():
    problem = BallLinear(2)
    recorded = {T: play(PFBCO(1.0), problem, T, 5, record="all", probes=KEPT) for T in (8, 16)}
    parts, throughout, at_end = parted(recorded, problem, 5, 0)
    assert (
        list(parts) == [8, 16]
        and parts[16].regret.tolist() == recorded[16]["regret"][:, -1].tolist()
    )
    assert [check.statement for check in throughout] == [
        "Decomposition",
        "Accumulated estimates",
        "Unbiased estimate",
    ] and {check.verdict for check in throughout} == {"holds"}
    assert [check.inputs["T"] for check in at_end] == [8, 16]
    assert parted(recorded, problem, 5, 100)[1][0].verdict == "fails"  # the losses of other trials


class Lopsided(PFBCO):
    """A wrong learner: it never explores along -e_1, and estimates from the directions that it used."""

    def select(self, state, task, draw):
        return super().select(state, task, OneSided(draw))

    def estimate(self, state, task, loss, draw):
        return super().estimate(state, task, loss, OneSided(draw))


class OneSided:
    """Random directions with a first coordinate of at least 0."""

    def __init__(self, draw):
        self.draw = draw

    def sphere(self, purpose, dim):
        u = self.draw.sphere(purpose, dim).clone()
        u[:, 0] = u[:, 0].abs()
        return u


def test_directions_that_omit_one_are_detected():
    problem = BallLinear(2)
    check = lambda learner: parted(
        {256: play(learner, problem, 256, 40, record="all", probes=KEPT)}, problem, 40, 0
    )[1]
    assert {x.statement: x.verdict for x in check(PFBCO(1.0))}["Unbiased estimate"] == "holds"
    found = {x.statement: x.verdict for x in check(Lopsided(1.0))}
    assert found["Unbiased estimate"] == "fails" and found["Accumulated estimates"] == "holds"


class Cap(BallQuadratic):
    """Concave losses: the negative quadratic losses."""

    def values(self, instance, y):
        loss, gradient = super().values(instance, y)
        return -loss, -gradient


def test_sets_and_losses_of_problems():
    found = of_problems({"a": BallLinear(3), "b": BallQuadratic(3)}, 4, 0)
    assert [check.verdict for check in found] == ["holds"] * 3 and found[2].held.size == 8
    assert [check.verdict for check in of_problems({"a": BallLinear(3), "b": Cap(3)}, 4, 0)] == [
        "holds",
        "holds",
        "fails",
    ]


def test_averages(monkeypatch):
    assert [check.verdict for check in averages()] == ["holds", "holds"]
    one_point = lemmas.one_point
    monkeypatch.setattr(lemmas, "one_point", lambda *args: 1.1 * one_point(*args))
    assert [check.verdict for check in averages()] == ["holds", "fails"]
