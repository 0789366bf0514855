"""Tests of the probes: agreement with other recordings of a run, and deliberately wrong learners."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from pfbco_runs import loss_at
from scipy.optimize import LinearConstraint, minimize

from paperlib.core.rounds import Probe, Round
from paperlib.core.streams import Streams
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco import probes
from paperlib.pfbco.learners.block import BlockPFBCO
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.ocg import StochOCG
from paperlib.pfbco.learners.pfbco import PFBCO, RegularizedLeader
from paperlib.pfbco.problems.ball import BallLinear, BallQuadratic
from paperlib.pfbco.problems.quadratic import QuadraticPolytope
from paperlib.play import play

QP = QuadraticPolytope(3, 2)
PF = PFBCO(0.3)


def rounds(learner, problem, horizon=9, trials=3, seed=0):
    """Yield the rounds of a run as ``play`` passes them to probes."""
    streams, tkwargs = Streams(seed, range(trials)), {"dtype": torch.float64, "device": "cpu"}
    instance = problem.init(trials, horizon, streams.at(-1), **tkwargs)
    state = learner.init(trials, problem.context(instance, 0), horizon, streams.at(-1), **tkwargs)
    for t in range(horizon):
        draw, task = streams.at(t), problem.context(instance, t)
        action, before = learner.select(state, task, draw)
        feedback, _ = problem.respond(instance, t, action, learner.wants, draw)
        state = learner.update(before, task, action, feedback, draw)
        yield Round(t, instance, before, task, action, feedback, state)


@pytest.mark.parametrize("learner", [PF, Doubling(PF), Doubling(StochOCG()), StochOCG()], ids=repr)
@pytest.mark.parametrize("problem", [QP, BallQuadratic(2)], ids=repr)
def test_losses_of_center_and_of_played_point(learner, problem):
    for seen in rounds(learner, problem):
        draw, x = seen.instance.streams.at(seen.t), probes.own_state(seen.before).x
        center, played = (
            probes.CenterLoss(problem)(seen),
            loss_at(problem, seen.instance, seen.t, seen.action),
        )
        assert center.equal(problem.respond(seen.instance, seen.t, x, "loss", draw)[0])
        if learner.wants == "gradient":
            assert center.equal(played) and x.equal(seen.action)
        else:
            torch.testing.assert_close(played, seen.feedback)
            away = torch.linalg.vector_norm(seen.action - x, dim=1)
            assert bool(
                ((center - played).abs() <= seen.context.grad_bound * away * (1 + 1e-9)).all()
            ) and not center.equal(played)


def test_losses_of_centers_are_not_in_the_trace():
    trace = play(
        Doubling(PF),
        QP,
        30,
        3,
        probes={"center": Probe(probes.CenterLoss(QP), "sum")},
        record="all",
    )
    assert (trace["center"] != trace["regret"]).all()


@pytest.mark.parametrize(
    "learner", [PF, PFBCO(0.3, sham=True), FKM(0.3), BlockPFBCO(0.3)], ids=repr
)
def test_the_estimate_is_the_learners_increment(learner):
    for seen in rounds(learner, QP):
        found = probes.gradient_norm(seen)
        step, _ = learner.estimate(
            seen.before, seen.context, seen.feedback, seen.instance.streams.at(seen.t)
        )
        torch.testing.assert_close(found, torch.linalg.vector_norm(step, dim=1) / seen.before.eta)
        assert bool(
            (found <= seen.context.cset.dim * seen.context.loss_bound / seen.before.delta).all()
        )


@pytest.mark.parametrize("learner, deviation", [(StochOCG(), 3.0), (StochOCG(0.5), 0.5)], ids=repr)
def test_the_noise_is_the_learners_increment(learner, deviation):
    norms = []
    for seen in rounds(learner, QP, 200):
        heard = (seen.after.A - seen.before.A) / seen.before.eta.unsqueeze(1)
        norms.append(probes.NoiseNorm(learner)(seen))
        torch.testing.assert_close(
            norms[-1], torch.linalg.vector_norm(heard - seen.feedback, dim=1)
        )
    assert torch.stack(norms).square().mean().sqrt().item() == pytest.approx(
        deviation * 3**0.5, rel=0.1
    )


@pytest.mark.parametrize(
    "learner",
    [PF, Doubling(PF), FKM(0.3), Doubling(PFBCO(0.3, start=(0.1, 0.2, -0.1), scale=0.05))],
    ids=repr,
)
def test_tracking_is_measured_from_the_minimizer_of_a_generic_solver(learner):
    for seen in rounds(learner, QP, 12):
        state, cset = probes.own_state(seen.before), seen.context.cset
        assert state.rounds == (
            seen.t if state is seen.before else seen.t + 1 - 2 ** ((seen.t + 1).bit_length() - 1)
        )
        found = probes.tracking_ratios(seen)
        for i in range(3):
            A, x1, x, keep = (
                state.A[i].numpy(),
                state.x1[i].numpy(),
                state.x[i].numpy(),
                float(1 - state.alpha.max()),
            )
            F = lambda z: A @ z + ((z - x1) ** 2).sum()
            best = minimize(
                F,
                0 * x,
                jac=lambda z: A + 2 * (z - x1),
                method="SLSQP",
                constraints=LinearConstraint(
                    cset.normals[i].numpy(), ub=keep * cset.offsets[i].numpy()
                ),
                options={"ftol": 1e-15, "maxiter": 500},
            )
            D, t = cset.D[i].item(), state.rounds + 1
            assert found[i, 0].item() == pytest.approx(
                (F(x) - best.fun) / (D**2 * t**-0.4), abs=1e-7
            )
            assert found[i, 1].item() == pytest.approx(
                np.linalg.norm(x - best.x) / (D * t**-0.2), abs=1e-4
            )


def test_the_leader_is_tracked_exactly_and_a_static_learner_is_detected():
    worst = lambda learner, problem: play(
        learner, problem, 1024, 4, probes={"h": Probe(probes.tracking_ratios, "max")}, record=[1024]
    )["h"][:, -1]
    assert worst(RegularizedLeader(0.5), BallLinear(2)).max() < 1e-12
    following = worst(PFBCO(0.5), BallLinear(2))
    assert (
        (following[:, 0] > 0).all()
        and (following[:, 0] < 2.3).all()
        and (following[:, 1] < 2.3**0.5).all()
    )
    still = worst(Still(0.5, scale=1e-3), BallLinear(2))
    assert (still[:, 0] > 2.3).all() and (still[:, 1] > 2.3**0.5).all()


def test_tracking_keeps_its_digits_for_long_sums():
    """Direct subtraction in F_t(x_t) - F_t(x*_t) would lose the digits to cancellation."""
    seen = next(rounds(PFBCO(0.5), BallLinear(2), 1))
    A = torch.tensor([[4e12, 0.0]] * 3, dtype=torch.float64)
    state = seen.before._replace(x=torch.tensor([[-0.5 + 1e-9, 0.0]] * 3, dtype=torch.float64), A=A)
    found = probes.tracking_ratios(seen._replace(before=state))
    torch.testing.assert_close(
        found[:, 0], torch.full((3,), 1e-9 * 4e12 / 4, dtype=torch.float64), rtol=1e-5, atol=0
    )


@dataclass(frozen=True)
class Still(PFBCO):
    """A wrong learner: it observes losses but never moves its center."""

    def update(self, state, task, y, loss, draw):
        return super().update(state, task, y, loss, draw)._replace(x=state.x)


@dataclass(frozen=True)
class TooFar(PFBCO):
    """A wrong learner: its exploration radius is three times the shrinkage of its set."""

    def select(self, state, task, draw):
        y, state = super().select(state, task, draw)
        return state.x + 3 * (y - state.x), state


@dataclass(frozen=True)
class Unshrunk(PFBCO):
    """A wrong learner: it does not shrink the set."""

    def update(self, state, task, y, loss, draw):
        after = super().update(state._replace(alpha=0 * state.alpha), task, y, loss, draw)
        return after._replace(alpha=state.alpha)


@pytest.mark.parametrize("problem", [QP, BallLinear(2)], ids=repr)
@pytest.mark.parametrize(
    "learner", [PF, PFBCO(0.3, regularized=False), FKM(0.3), BlockPFBCO(0.3), StochOCG()], ids=repr
)
def test_points_of_right_learners_are_feasible(learner, problem):
    trace = play(
        Doubling(learner),
        problem,
        127,
        3,
        probes={"outside": Probe(probes.Feasible(), "max")},
        record=[127],
    )
    assert trace["outside"].shape == (3, 1, 2) and (trace["outside"] < 1e-9).all()


def test_points_of_broken_learners_are_not():
    outside = lambda learner: play(
        learner,
        BallLinear(2),
        255,
        3,
        probes={"outside": Probe(probes.Feasible(), "max")},
        record=[255],
    )["outside"][:, -1]
    far, unshrunk = (
        outside(TooFar(0.5, regularized=False)),
        outside(Unshrunk(0.5, regularized=False)),
    )
    assert (far[:, 0] < 1e-9).all() and (far[:, 1] > 0.1).all()
    assert (unshrunk[:, 0] > 0.1).all()
    delta = 0.5 * 255**-0.2
    assert (unshrunk[:, 0] <= delta + 1e-9).all() and (far[:, 1] <= 2 * delta + 1e-9).all()


@pytest.mark.parametrize("problem", [QP, BallQuadratic(2)], ids=repr)
def test_constants_agree_with_the_task(problem):
    seen = next(rounds(PF, problem))
    found, task = probes.constants(seen), seen.context
    assert found.shape == (3, 4)
    for column, value in zip(
        found.mT, (task.loss_bound, task.grad_bound, task.cset.D, task.cset.R)
    ):
        assert column.equal(value.expand(3))
