"""What a round costs at one trial: the operations that torch dispatches, the same on every machine.

A call from Python costs microseconds whatever it computes, and a round of a bandit computes little else.
"""

import statistics

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from paperlib.core import linalg
from paperlib.core.streams import Streams
from paperlib.glbomd import Bernoulli, Gaussian, Poisson
from paperlib.glbomd.model.links import Link
from paperlib.papers import room

ROUNDS = 24
# select and update of a middle round, as they are: who can do with fewer writes the lower number here
LIMITS = {
    "glbomd.GLB-OMD": (4, 9),
    "glbomd.GLB-OMD, Poisson": (4, 9),
    "glbomd.GLOC": (8, 15),
    "glbomd.GLOC, public": (8, 15),
    "glbomd.ECOLog": (23, 211),
    "glbomd.GLM-UCB": (132, 50),
    "glbomd.RS-GLinCB": (52, 28),
    "glbomd.OFUGLB": (22, 20),
    "glbomd.OFULog-r": (22, 20),
    "glbomd.UCB1": (18, 6),
    "linear.OFUL": (22, 28),
    "linear.ConfidenceBall": (19, 28),
}


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.number += 1
        return operation(*args, **(kwargs or {}))


def dispatches(learner, problem):
    """Medians over rounds of ``select`` and of ``update``."""
    draws, tkwargs = Streams(0, range(1)), {"dtype": torch.float64, "device": "cpu"}
    with torch.no_grad():
        world = problem.init(1, ROUNDS, draws.at(-1), **tkwargs)
        state = learner.init(1, problem.context(world, 0), ROUNDS, draws.at(-1), **tkwargs)
        counts = []
        for t in range(ROUNDS):
            draw, context = draws.at(t), problem.context(world, t)
            with Count() as select:
                action, state = learner.select(state, context, draw)
            feedback, _ = problem.respond(world, t, action, learner.wants, draw)
            with Count() as update:
                state = learner.update(state, context, action, feedback, draw)
            counts.append((select.number, update.number))
    return tuple(statistics.median_low(column) for column in zip(*counts))


@pytest.mark.parametrize("name", LIMITS)
def test_a_round_takes_no_more_dispatches_than_it_did(name):
    paper, case = name.split(".")
    case = room(paper, "cases").CASES[case]
    select, update = dispatches(case.learner, case.problem)
    most = LIMITS[name]
    assert select <= most[0] and update <= most[1], f"{name}: {(select, update)}, at most {most}"


class Own(Link):
    """A family of a user's own, in torch alone."""

    log_partition = mean = slope = lambda self, z: torch.exp(z)
    max_slope = min_slope = lambda self, norm_bound: 1.0
    sample = None


@pytest.mark.parametrize("link", [Bernoulli(), Poisson(), Gaussian(), Own()])
def test_mean_and_slope_are_found_together(link):
    z = torch.linspace(-40, 40, 81, dtype=torch.float64)
    mean, slope = link.mean_and_slope(z)
    for kind, expected in (("mean", link.mean(z)), ("slope", link.slope(z))):
        found = {"mean": mean, "slope": slope}[kind]
        torch.testing.assert_close(found, expected, rtol=1e-15, atol=0)
    for found, expected in zip(link.mean_and_slope(z.numpy()), (mean, slope)):
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-14)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("trials", [1, 3])
def test_arrays_and_tensors_give_the_same(trials, shared):
    draw = torch.Generator().manual_seed(0)
    random = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=draw)
    arms, vector, matrix = random(1 if shared else trials, 7, 4), random(trials, 4), random(trials, 4, 4)  # fmt: skip
    index = torch.arange(trials) * 2
    matrix = matrix @ matrix.mT
    for f, of in (
        (linalg.inner, (arms, vector)),
        (linalg.quadratic, (arms, matrix)),
        (linalg.width, (arms, matrix)),
        (linalg.apply, (matrix, vector)),
        (linalg.chosen, (arms, index)),
        (linalg.dot, (vector, 2 * vector)),
        (linalg.log, (matrix.abs(),)),
    ):
        light = linalg.light(*of)
        assert all(isinstance(x, np.ndarray) for x in light)
        assert all(x.ctypes.data == y.data_ptr() for x, y in zip(light, of)), "no copies"
        (found,) = linalg.tensors(f(*light))
        torch.testing.assert_close(found, f(*of), rtol=1e-13, atol=1e-13)
    with linalg.shortcuts(False):
        assert linalg.light(arms, matrix) == (arms, matrix)
