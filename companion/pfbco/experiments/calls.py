"""Run time of single calls: the oracles of a set, and the losses and gradients of a problem.

``cost`` caches these measurements. This file imports little, because any change to an imported file invalidates the cache.
Shapes: P problems, N calls or repetitions, T rounds.
"""

import time
from collections.abc import Sequence

import numpy as np
import torch

from paperlib.core.contracts import Problem
from paperlib.core.streams import Streams

from ...store.timing import exclusive_lock

TKWARGS = {"dtype": torch.float64, "device": "cpu"}


def time_oracles(problems: Sequence[Problem], count: int, seed: int) -> dict[str, np.ndarray]:
    """Measure ``count`` calls of both oracles on the set of one trial, alternating between the sets.

    The points are random and at distance 2 R from 0, so that every projection has to move its point.

    Returns:
        Seconds by "lmo" and "project": P x N each.
    """
    found = {call: np.empty((len(problems), count)) for call in ("lmo", "project")}
    with exclusive_lock(), torch.no_grad():
        streams = Streams(seed, [0])
        instances = [problem.init(1, 1, streams.at(-1), **TKWARGS) for problem in problems]
        sets = [problem.context(instance, 0).cset for problem, instance in zip(problems, instances)]
        for t in range(count):
            for i, cset in enumerate(sets):
                z = 2 * cset.R.unsqueeze(1) * streams.at(t).sphere(f"call {cset.dim}", cset.dim)
                for call, ask in (("lmo", cset.lmo), ("project", cset.project)):
                    ask(-z)  # warms the caches after the call of another set
                    start = time.perf_counter()
                    ask(z)
                    found[call][i, t] = time.perf_counter() - start
    return found


def time_answers(
    problems: Sequence[Problem], rounds: int, repetitions: int, seed: int
) -> dict[str, np.ndarray]:
    """Measure how long a problem computes the feedback at the center of one trial, alternating between the problems.

    The time to draw the round's random numbers is excluded, because it belongs to no learner. The time to compute the loss from
    them is included.

    Returns:
        Seconds by "loss" and "gradient": P x N x T each.
    """
    shape = len(problems), repetitions, rounds
    found = {wants: np.empty(shape) for wants in ("loss", "gradient")}
    with exclusive_lock(), torch.no_grad():
        for n in range(repetitions):
            for i, problem in enumerate(problems):
                streams = Streams(seed, [0])
                instance = problem.init(1, rounds, streams.at(-1), **TKWARGS)
                y = torch.zeros(1, problem.context(instance, 0).cset.dim, **TKWARGS)
                for t in range(rounds):
                    draw = streams.at(t)
                    # The first call draws the random numbers of the round, which the timed calls reuse.
                    problem.respond(instance, t, y, "loss", draw)
                    for wants, seconds in found.items():
                        start = time.perf_counter()
                        problem.respond(instance, t, y, wants, draw)
                        seconds[i, n, t] = time.perf_counter() - start
    return found
