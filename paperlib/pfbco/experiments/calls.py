"""Seconds of single calls of a set's oracles. Nothing here is kept: ``cost.time_calls`` does that.

Shapes: P problems, N calls.
"""

import time
from collections.abc import Sequence

import numpy as np
import torch

from ...core.contracts import Problem
from ...core.streams import Streams
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
