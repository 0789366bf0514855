"""How often Phase I finds nothing good, by Monte Carlo: GO-UCB as printed stays near the best of its first points (N1).

Twenty trials do not decide whether its regret on f1 is flat, because a few trials have nearly all of it. The best of n uniform points is
simulated without the learner, and the learner's difference to it is measured on paired trials.
Source of the interval: Maurer & Pontil, "Empirical Bernstein Bounds and Sample-Variance Penalization" (2009), Theorem 4.
Letters: N draws, R trials.
"""

import math
from typing import Any

import numpy as np
import torch

from paperlib import stats
from paperlib.core.trace import Trace

from ...store.results import once
from ...store.timing import computing
from .synthetic import between

BLOCK = 100_000  # draws that are stored as one file
POOR = 10  # times the noise: a gap above it is not good
PARTS = 3  # whose intervals are combined: Bonferroni's correction


def simulate_block(
    problem: Any, n: int, count: int, seed: int, block: int
) -> dict[str, np.ndarray]:
    """Draw ``count`` times n uniform points of the box [-5, 5]^d.

    Returns:
        Regret of the point with the best noisy value ("best"), and mean regret of the n points ("uniform"), N each.
    """
    with computing():
        rng = np.random.default_rng([seed, block])
        f = problem.of(None, 10 * torch.from_numpy(rng.random((count, n, problem.dim))) - 5).numpy()
        noisy = f + problem.noise * rng.normal(size=f.shape)
    gaps = problem.maximum - f
    best = np.take_along_axis(gaps, noisy.argmax(1)[:, None], 1)[:, 0]
    return {"best": best, "uniform": gaps.mean(1)}


def simulate(problem: Any, n: int, count: int, seed: int) -> dict[str, np.ndarray]:
    """``count`` draws, N each, in blocks that are computed or loaded: a run that was stopped goes on where it was."""
    sizes = [min(BLOCK, count - first) for first in range(0, count, BLOCK)]
    what = {"problem": problem, "n": n, "seed": seed}
    blocks = [
        once("first_phase", simulate_block, **what, count=size, block=block)
        for block, size in enumerate(sizes)
    ]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def bernstein(x: np.ndarray, width: float, level: float = stats.LEVEL) -> stats.Interval:
    """Return the mean with an interval that holds at every N for values in a range of ``width``."""
    N, log = len(x), math.log(4 / (1 - level))
    half = math.sqrt(2 * x.var(ddof=1) * log / N) + 7 * width * log / (3 * (N - 1))
    center = float(x.mean())
    return stats.Interval(center, center - half, center + half, N, "mean, empirical Bernstein")


def share_of_uniform(
    found: dict[str, np.ndarray], learner: Trace, repeated: Trace, rounds: int, width: float
) -> stats.Interval:
    """Return the learner's mean regret in the last ``rounds``, as a share of a uniform point's.

    It is that of the best of n uniform points, by Monte Carlo, plus the learner's difference to it on paired trials. The difference is
    large only in trials with a poor Phase I, so that the t-interval needs enough of these: a tenth of the trials on f1.

    Args:
        found: see ``simulate``.
        learner: GO-UCB's runs.
        repeated: runs that repeat the best point of Phase I, with the same points and noise.
        rounds: last rounds that count.
        width: of the range of f.
    """
    level = 1 - (1 - stats.LEVEL) / PARTS
    last = len(learner.rounds)
    window = lambda trace: between(trace, last - rounds + 1, last) / rounds
    best, uniform = (bernstein(found[name], width, level) for name in ("best", "uniform"))
    apart = stats.paired(window(learner), window(repeated), level)
    low, high = max(0.0, best.low + apart.low), best.high + apart.high
    method = f"share of a uniform point's mean regret, 95 % by Bonferroni: empirical Bernstein over {best.n} draws, and t over paired trials"
    estimate = max(0.0, best.estimate + apart.estimate) / uniform.estimate
    high = high / uniform.low if uniform.low > 0 else math.inf
    return stats.Interval(estimate, low / uniform.high, high, apart.n, method)


def poor_fraction(found: dict[str, np.ndarray], noise: float) -> stats.Interval:
    """Return the share of the draws in which no point is good: the best one's gap is above ten times the noise."""
    bad = found["best"] > POOR * noise
    return stats.proportion(int(bad.sum()), len(bad))


def count_stuck(learner: Trace, n: int, maximum: float, noise: float) -> tuple[int, int, int]:
    """Return in how many trials Phase I found nothing good, in how many of these the last round is not good either, and all trials."""
    limit, last = POOR * noise, len(learner.rounds)
    bad = maximum - learner["best"][:, n - 1] > limit
    return int(bad.sum()), int((bad & (between(learner, last, last) > limit)).sum()), len(bad)
