"""Seconds of single calls: of a set's oracles, and of what a problem answers. Nothing here is kept: ``cost`` does that.

Shapes: P problems, N calls or repetitions, T rounds.
"""

import time
from collections.abc import Sequence

import numpy as np
import torch

from paperlib.core.contracts import Problem
from paperlib.core.streams import Streams

from ...store.timing import alone


def time_oracles(problems: Sequence[Problem], count: int, seed: int) -> dict[str, np.ndarray]:
    """Seconds of each of ``count`` calls on the set of one trial, all sets in turns.

    The points are random and lie at twice the radius R, so that every projection has something
    to do.

    Returns:
        "lmo" and "project": P x N each.
    """
    found = {call: np.empty((len(problems), count)) for call in ("lmo", "project")}
    with alone(), torch.no_grad():
        streams = Streams(seed, [0])
        first = {"dtype": torch.float64, "device": "cpu"}
        worlds = [problem.init(1, 1, streams.at(-1), **first) for problem in problems]
        sets = [problem.context(world, 0).cset for problem, world in zip(problems, worlds)]
        for t in range(count):
            for i, cset in enumerate(sets):
                z = 2 * cset.R.unsqueeze(1) * streams.at(t).sphere(f"call {cset.dim}", cset.dim)
                for call, ask in (("lmo", cset.lmo), ("project", cset.project)):
                    ask(-z)  # what another set's call has pushed out of the caches is back
                    start = time.perf_counter()
                    ask(z)
                    found[call][i, t] = time.perf_counter() - start
    return found


def time_answers(
    problems: Sequence[Problem], rounds: int, repetitions: int, seed: int
) -> dict[str, np.ndarray]:
    """Seconds in which a problem computes what is heard at the center, of one trial, all problems in turns.

    Drawing the round's randomness is not counted, for it belongs to no learner; making the loss out
    of it is.

    Returns:
        "loss" and "gradient": P x N x T each.
    """
    found = {
        wants: np.empty((len(problems), repetitions, rounds)) for wants in ("loss", "gradient")
    }
    with alone(), torch.no_grad():
        for n in range(repetitions):
            for i, problem in enumerate(problems):
                streams = Streams(seed, [0])
                world = problem.init(1, rounds, streams.at(-1), dtype=torch.float64, device="cpu")
                y = torch.zeros(1, problem.context(world, 0).cset.dim, dtype=torch.float64)
                for t in range(rounds):
                    draw = streams.at(t)
                    problem.respond(world, t, y, "loss", draw)  # what is drawn is there now
                    for wants, seconds in found.items():
                        start = time.perf_counter()
                        problem.respond(world, t, y, wants, draw)
                        seconds[i, n, t] = time.perf_counter() - start
    return found
