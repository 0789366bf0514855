"""Helpers of the tests of PF-BCO: learners advanced round by round on losses that the test defines."""

from typing import Any, NamedTuple

import numpy as np
import torch
from example_sets import TKWARGS

from paperlib.core.streams import Streams
from paperlib.pfbco import Task

KAPPA = 2.3


def task(cset, bound=1.0, grad=1.0):
    number = lambda x: torch.as_tensor(x, **TKWARGS).reshape(-1)
    return Task(cset, number(bound), number(grad))


def leader(task, x1, A, alpha):
    """Return the minimizer over (1 - alpha) K of <A, x> + ||x - x_1||^2, R x n."""
    return task.cset.project(x1 - A / 2, 1 - alpha)


def loss_at(problem, instance, t, y):
    """Return the loss of round t at the points ``y``, R. ``y``: R x n."""
    return problem.respond(instance, t, y, "loss", instance.streams.at(t))[0]


def gradient_at(problem, instance, t, y):
    """Return the gradient of the loss of round t at the points ``y``, R x n."""
    return problem.respond(instance, t, y, "gradient", instance.streams.at(t))[0]


class Drawn:
    """Given directions, R x n, in place of a ``Draw``; ``signs``: the random signs of the sham control, R."""

    def __init__(self, u, signs=None):
        self.u, self.signs = torch.as_tensor(u, **TKWARGS), signs

    def sphere(self, purpose, dim):
        assert purpose == "direction" and self.u.shape[1] == dim
        return self.u

    def uniform(self, purpose):
        return torch.where(torch.as_tensor(self.signs) < 0, 0.25, 0.75).to(self.u)


class Run(NamedTuple):
    """A recorded run: ``states[t]``, after t rounds, chose ``played[t]``, R x n, and observed `heard[t]`, R (x n)."""

    states: list
    played: list
    heard: list
    draws: Any

    def base(self, t):
        """Return the learner's state, without ``Doubling``."""
        state = self.states[t]
        return state.base if hasattr(state, "base") else state

    def centers(self):
        """Return all centers, (T + 1) x R x n."""
        return torch.stack([self.base(t).x for t in range(len(self.states))])


def run(learner, context, f, rounds, trials=range(3), horizon="rounds", seed=0, draws=None):
    """Play ``rounds`` rounds of ``f(t, y)``, which returns losses, R, or gradients, R x n; ``draws``: a list of ``Drawn``."""
    streams = Streams(seed, trials)
    at = streams.at if draws is None else draws.__getitem__
    with torch.no_grad():
        states, played, heard = (
            [
                learner.init(
                    len(trials),
                    context,
                    rounds if horizon == "rounds" else horizon,
                    streams.at(-1),
                    **TKWARGS,
                )
            ],
            [],
            [],
        )
        for t in range(rounds):
            y, chosen = learner.select(states[-1], context, at(t))
            feedback = f(t, y)
            states.append(learner.update(chosen, context, y, feedback, at(t)))
            played.append(y), heard.append(feedback)
    return Run(states, played, heard, streams)


def directions(streams, rounds, n, trial, purpose="direction"):
    """Return u_1, ..., u_T of a trial as a NumPy array, T x n."""
    return np.array([streams.at(t).sphere(purpose, n)[trial].numpy() for t in range(rounds)])


def linear(n, trials=3, seed=5, offset=0.0):
    """Return losses <a_t, y> + offset with a new unit vector per round and trial; ``y``: R x n."""
    a = np.random.default_rng(seed).normal(size=(4096, trials, n))
    a = torch.tensor(a / np.linalg.norm(a, axis=2, keepdims=True))
    return lambda t, y: (a[t, : len(y)] * y).sum(1) + offset
