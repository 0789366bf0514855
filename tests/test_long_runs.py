"""10,000 rounds: quantities that learners update incrementally stay equal to their definitions, and the memory does not grow.

Each test also has a short version, so that the fast suite executes the same code.
"""

import gc
from pathlib import Path

import numpy as np
import pytest
import torch

from paperlib.bkb import RBF, Confidence, LazyBKB
from paperlib.bkb.problems import RKHS
from paperlib.core.streams import Streams
from paperlib.core.trees import state_bytes
from paperlib.glbomd import GLBOMD, Bernoulli, FixedArms, Poisson
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco import PFBCO
from paperlib.pfbco.problems.ball import BallLinear

DRIFT = 1e-8  # relative error
LONG = 10_000  # more than twice the longest period between two recomputations
runs = pytest.mark.parametrize(
    "rounds",
    [pytest.param(3000, id="short"), pytest.param(LONG, marks=pytest.mark.slow, id="long")],
)


def resident() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    if not Path("/proc/self/statm").exists():
        return 0
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def steps(learner, problem, rounds):
    """Yield (t, context, action, feedback, state before, state after) of one trial without storing them."""
    draws, tkwargs = Streams(0, range(1)), {"dtype": torch.float64, "device": "cpu"}
    with torch.no_grad():
        instance = problem.init(1, rounds, draws.at(-1), **tkwargs)
        state = learner.init(1, problem.context(instance, 0), rounds, draws.at(-1), **tkwargs)
        for t in range(rounds):
            draw, context = draws.at(t), problem.context(instance, t)
            action, chosen = learner.select(state, context, draw)
            feedback, _ = problem.respond(instance, t, action, learner.wants, draw)
            state = learner.update(chosen, context, action, feedback, draw)
            yield t, context, action, feedback, chosen, state


class Memory:
    """Size of the state and memory of the process, from the middle of a run to its end."""

    def __init__(self, rounds):
        self.rounds, self.states = rounds, []

    def look(self, t, state):
        if 2 * (t + 1) == self.rounds or t + 1 == self.rounds:
            gc.collect()
            self.states.append((state_bytes(state), resident()))

    def constant(self):
        (state, process), (last, end) = self.states
        return state == last and end - process < 8e6


def off(found, exact):
    """Return the largest error relative to the largest entry."""
    exact = np.asarray(exact, float)
    return float(np.abs(np.asarray(found) - exact).max() / np.abs(exact).max())


@runs
@pytest.mark.parametrize("link", [Bernoulli(), Poisson()], ids=["logistic", "Poisson"])
def test_glbomd_maintains_its_hessian_and_inverse(link, rounds):
    """The confidence radius is scaled by 0.05. The learner then concentrates on few arms, so that H is as ill-conditioned as possible."""
    learner = GLBOMD(link, 2.0, ridge="dim", scale=0.05)
    memory, exact, worst = Memory(rounds), np.eye(5, dtype=np.longdouble) * 5, 0.0
    for t, arms, arm, _, _, state in steps(learner, FixedArms(link, 2.0), rounds):
        x = arms[0, arm]
        weight = link.slope((x * state.theta).sum(1)).numpy().astype(np.longdouble)
        x = x.numpy().astype(np.longdouble)
        exact += weight * x.T * x
        if (t + 1) % learner.refresh == learner.refresh - 1 or t + 1 == rounds:
            inverse = np.linalg.inv(exact.astype(float))
            worst = max(worst, off(state.precision[0], exact), off(state.covariance[0], inverse))
        memory.look(t, state)
    assert worst < DRIFT and memory.constant()
    assert state.precision.mT.sub(state.precision).abs().max() < DRIFT


@runs
def test_lazybkb_maintains_its_posterior(rounds):
    """The posterior is updated by rank one for 256 rounds at a time.

    It is compared with a fit to the counters, and the counters are compared with the rounds.
    """
    learner = LazyBKB(RBF(30.0), Confidence(noise=0.3, norm_bound=2.0))
    problem = RKHS(arms=24, dim=1, gamma=30.0, norm=2.0, noise=0.3)
    memory, worst, widest = Memory(rounds), 0.0, 0
    plays, total = np.zeros(24), np.zeros(24, dtype=np.longdouble)
    information = np.longdouble(0)
    for t, arms, arm, reward, before, state in steps(learner, problem, rounds):
        plays[arm] += 1
        total[arm] += np.longdouble(reward.item())
        information += np.log1p(np.longdouble(before.s2[0, arm].item()))
        widest = max(widest, int(state.mask.sum()))
        if (t + 1) % (16 * 256) == 16 * 256 - 1 or t + 1 == rounds:
            fresh = learner._renewed(state, arms, torch.arange(1))
            worst = max(
                worst, off(state.mu, fresh.mu), float((state.s2 / fresh.s2 - 1).abs().max())
            )
        memory.look(t, state)
    assert worst < DRIFT
    assert np.array_equal(state.n[0], plays) and off(state.ysum[0], total) < DRIFT
    assert off(state.tally.information, float(information)) < DRIFT
    # The state grows only with the number of arms and the size of the dictionary.
    assert max(state.Z.n, state.inverse.shape[1]) <= 2 * widest and widest <= 24
    assert memory.states[1][1] - memory.states[0][1] < 8e6


@runs
def test_pfbco_with_doubling_maintains_its_sums(rounds):
    """A is eta times the sum of the epoch's gradient estimates; `heard` contains mean and standard deviation of all losses."""
    learner = Doubling(PFBCO(0.5))
    memory, worst, n = Memory(rounds), 0.0, 3
    A, losses = np.zeros(n, dtype=np.longdouble), []
    for t, _, y, loss, before, state in steps(learner, BallLinear(n), rounds):
        if state.epoch != before.epoch:
            A[:] = 0
            assert not state.base.A.any()
        else:
            # y = x + delta u and g = (n / delta) f u
            step = before.base.eta * loss * n / before.base.delta**2
            A += (step * (y - before.base.x)).numpy()[0].astype(np.longdouble)
        losses.append(loss.item())
        memory.look(t, state)
        if t + 1 == rounds or t + 2 == 2 << state.epoch:
            if A.any():
                worst = max(worst, off(state.base.A[0], A))
            worst = max(worst, abs(state.base.heard.mean.item() - np.mean(losses)) / np.std(losses) if t else 0.0)  # fmt: skip
    assert worst < DRIFT and memory.constant()
