"""Figure 2: statistics of the runs on f1, f2, f3 and the teacher, and their panels.

Phase I without the learner: GO-UCB with the paper's settings stays near the best point of Phase I. A few trials have nearly all of its regret
on f1. Therefore we simulate the best of n uniform points without the learner, and add the learner's difference on paired
trials. The interval is Theorem 4 of Maurer & Pontil, "Empirical Bernstein Bounds and Sample-Variance Penalization" (2009).

Ties of GP-UCB, GP-EI and GP-PI: these methods choose the same points if points are not scaled, because their acquisitions are then constant.
The prior's lengthscales are near 1/3, and points of a box of side 10 in 20 dimensions are about 18 apart. Therefore the posterior equals the
prior except near the observations, and all three methods take the first of their common candidates.

Shapes: R trials, T' recorded rounds, N draws or points, d dimensions.
"""

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.core.contracts import Problem
from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.goucb.learners.gp import GP
from paperlib.goucb.learners.search import History
from paperlib.maths.bounds import Bounds

from ...figures.drawing import regret_panel
from ...figures.text import interval_text
from ...store.results import cached_call
from ...store.timing import shared_lock

Runs = dict[str, dict[str, Trace]]  # function -> learner -> trace with every round
UNIFORM = "uniform"
WINDOW = 10  # rounds at each end of Phase II that the test of linearity compares
FLAT = 8  # last rounds that the test of flatness averages
SOON = 3  # first rounds of Phase II that the claim "soon after Phase I" omits
RESAMPLES = 2000  # bootstrap samples of the trials that a band is computed from
BLOCK = 100_000  # draws of Phase I per stored file
POOR = 10  # a point is poor if its gap exceeds this multiple of the noise
PARTS = 3  # intervals that are combined, for Bonferroni's correction
POINTS = 256  # points where the acquisitions are compared


def between(trace: Trace, first: int, last: int) -> np.ndarray:
    """Return the regret of rounds ``first``..``last``, counted from 1, R."""
    return trace.at(last) - trace.at(first - 1)


def bend(trace: Trace, n: int) -> stats.Interval:
    """Return the ratio of the regret of the last rounds to the regret of the first rounds of Phase II. It is 1 if regret grows linearly."""
    window = min(WINDOW, (len(trace.rounds) - n) // 2)
    rounds = len(trace.rounds)
    first, last = between(trace, n + 1, n + window), between(trace, rounds - window + 1, rounds)
    return stats.ratio(last, first, of="mean regret, last rounds over first")


def flat(trace: Trace, uniform: Trace) -> stats.Interval:
    """Return the mean regret of the last ``FLAT`` rounds as a fraction of a uniform point's mean regret."""
    total = len(trace.rounds)
    last, share = between(trace, total - FLAT + 1, total), uniform.last() * (FLAT / total)
    return stats.ratio(last, share, of="mean regret, last rounds over a uniform point's")


def below(found: dict[str, Trace], name: str, others: Sequence[str]) -> stats.Test:
    """Test whether ``name`` has less regret than each of the others."""
    differences = {other: found[other].last() - found[name].last() for other in others}
    return stats.combine_tests(stats.wilcoxon(differences))


def spread(found: dict[str, Trace], name: str, others: Sequence[str]) -> stats.Interval:
    """Return the standard deviation of the final regret, divided by the smallest one of the others, with a bootstrap interval over trials."""
    x = np.stack([found[other].last() for other in (name, *others)], 1)
    moments = np.concatenate([x, x**2], 1)
    k = x.shape[1]

    def statistic(means: np.ndarray) -> np.ndarray:
        variance = np.maximum(means[..., k:] - means[..., :k] ** 2, 0.0)
        return np.sqrt(variance[..., 0] / variance[..., 1:].min(-1))

    return stats.bootstrap(moments, statistic, of="ratio of standard deviations")


def saved(found: dict[str, Trace], name: str, others: Sequence[str]) -> np.ndarray:
    """Return the fraction of the others' mean regret that ``name`` saves, R."""
    mean = np.mean([found[other].last() for other in others], 0)
    return 1 - found[name].last() / mean


def agreement(found: dict[str, Trace], names: Sequence[str]) -> tuple[int, int]:
    """Count the rounds, over all trials, where ``names`` have the same regret because they choose the same point. Returns this number and the total."""
    increments = np.stack([np.diff(found[name]["regret"], axis=1, prepend=0.0) for name in names])
    # The increments are differences of cumulative sums, whose rounding errors differ.
    same = np.ptp(increments, 0) <= 1e-9 * (1 + np.abs(increments).max(0))
    return int(same.sum()), same.size


def apart(found: dict[str, Trace], a: str, b: str) -> stats.Interval:
    """Return the mean difference of two learners' regret, as a fraction of a uniform point's mean regret."""
    scale = found[UNIFORM].last().mean()
    return stats.paired_difference(found[a].last() / scale, found[b].last() / scale)


def farthest(intervals: dict[str, stats.Interval]) -> stats.Interval:
    """Return the largest absolute difference with its interval.

    The interval is within a band around 0 exactly if all intervals are. If it is above the band, at least one difference is outside.
    """
    sizes = {}
    for name, x in intervals.items():
        ends = sorted((abs(x.low), abs(x.high)))
        low = 0.0 if x.low <= 0 <= x.high else ends[0]
        sizes[name] = x._replace(estimate=abs(x.estimate), low=low, high=ends[1])
    return stats.largest(sizes)


def factor(ratios: dict[str, stats.Interval]) -> stats.Interval:
    """Return the ratio that is farthest from 1, up or down, expressed as a factor of at least 1."""
    far = farthest({name: stats.Interval(*np.log(x[:3]), *x[3:]) for name, x in ratios.items()})
    return stats.Interval(*map(float, np.exp(far[:3])), *far[3:])


def simple(trace: Trace, maximum: float | np.ndarray) -> np.ndarray:
    """Return the simple regret, R x T': f* minus the best noise-free value so far. ``maximum``: f*, one per trial or one for all."""
    return np.reshape(maximum, (-1, 1)) - trace["best"]


def with_simple(found: dict[str, Trace], maximum: Any) -> dict[str, Trace]:
    """Return the traces with an additional series "simple", the simple regret."""
    return {
        name: dataclasses.replace(trace, series={**trace.series, "simple": simple(trace, maximum)})
        for name, trace in found.items()
    }


def bootstrap_band(curves: np.ndarray, folds: int | None = None) -> stats.Band:
    """Return the mean curve with pointwise 95 % bootstrap intervals.

    Trials are resampled as a whole. Each resampled mean is nondecreasing if all curves are, and therefore so are both ends. The ends
    stay within the range of the curves. The ends of a t-interval can fall, and can lie below 0.

    Args:
        curves: R x T'.
        folds: trial i belongs to fold i % folds, and folds are resampled; None: trials are.
    """
    units = curves if folds is None else [curves[k::folds].mean(0) for k in range(folds)]
    n = len(units)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), RESAMPLES)
    low, high = np.quantile(counts @ np.asarray(units) / n, [0.025, 0.975], axis=0)
    return stats.band(curves)._replace(low=low, high=high)


def band_panel(
    ax: Axes,
    traces: dict[str, Trace],
    n: int,
    *,
    bands: Sequence[str] | None = None,
    folds: int | None = None,
    **rest: Any,
) -> dict[str, dict]:
    """Draw ``figures.regret_panel`` with bootstrap bands, on an axis that contains them, and a line where Phase I ends.

    Args:
        n: evaluations of Phase I.
        folds: see ``bootstrap_band``.
        ax, traces, bands, rest: see ``regret_panel``.
    """
    interval = partial(bootstrap_band, folds=folds)
    numbers = regret_panel(ax, traces, bands=bands, interval=interval, labels=False, **rest)
    tops = [curve["mean"].max() for curve in numbers.values()]
    tops += [numbers[name]["high"].max() for name in numbers if bands is None or name in bands]
    ax.set_ylim(top=1.05 * max(tops))
    ax.axvline(n + 0.5, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    ax.set_xlabel("evaluations $t$")
    return numbers


def band_note(traces: dict[str, Trace]) -> str:
    """Return a sentence for the caption that defines the bands of ``band_panel`` and gives the number of trials."""
    trials = sorted({len(trace.trials) for trace in traces.values()})
    count = " to ".join(map(str, dict.fromkeys((trials[0], trials[-1]))))
    words = f"Bands: pointwise 95 % bootstrap intervals of the mean over {count} trials"
    return f"{words}; they are too narrow if few trials have most of the regret."


def twin_panels(
    row: Sequence[Axes],
    found: dict[str, Trace],
    n: int,
    *,
    title: str,
    log: bool = False,
    **rest: Any,
) -> dict[str, dict]:
    """Draw cumulative regret on the left and simple regret on the right, with a line where Phase I ends.

    Args:
        found: traces with a series "simple".
        n: evaluations of Phase I.
        log: whether the axis of cumulative regret is logarithmic.
        rest: see ``band_panel``.

    Returns:
        The plotted numbers.
    """
    left = {"title": title, "log_y": log, "ylabel": "cumulative regret"}
    right = {"title": "incumbent", "series": "simple", "ylabel": "simple regret"}
    return {
        "cumulative": band_panel(row[0], found, n, **left, **rest),
        "simple": band_panel(row[1], found, n, **right, **rest),
    }


def table(found: dict[str, Trace], n: int, maximum: Any, noise: float) -> list[str]:
    """Return lines with cumulative regret, regret per round of Phase II and final simple regret with t-intervals, one line per learner.

    A simple regret with an interval below the noise's standard deviation is not printed, because such values are ties.
    """
    heads = ("cumulative", "per round, Phase II", "simple")
    lines = ["".join([f"{'':24s}", *[f"{head:>34s}" for head in heads]])]
    for name, trace in found.items():
        late = between(trace, n + 1, len(trace.rounds)) / (len(trace.rounds) - n)
        cells = (trace.last(), late, simple(trace, maximum)[:, -1])
        texts = [interval_text(stats.mean(cell)) for cell in cells]
        if stats.mean(cells[-1]).high < noise:
            texts[-1] = f"below {noise:g}"
        lines.append("".join([f"{name:24s}", *[f"{text:>34s}" for text in texts]]))
    return lines


def describe_values(values: dict[str, float], noise: float) -> str:
    """List names with their values in increasing order. Values below the noise's standard deviation are ties and are not ranked."""
    tied = [name for name in values if values[name] < noise]
    rest = sorted((name for name in values if values[name] >= noise), key=values.get)
    words = [f"{', '.join(tied)} below the noise level {format_number(noise)}"] if tied else []
    return "; ".join(words + [f"{name} {format_number(values[name])}" for name in rest])


def growth(samples: dict[int, np.ndarray], of: str) -> stats.Interval:
    """Return the log-log slope of the mean over trials as a function of a setting. ``samples``: setting -> R.

    The bootstrap resamples trials jointly over all settings.
    """
    x = np.log(np.array(list(samples), float))
    y = np.stack(list(samples.values()), 1)
    return stats.bootstrap(y, lambda means: stats.slopes(x, np.log(means)), of=of)


def order(values: dict[str, float]) -> str:
    """List names by increasing value. Names whose values differ by at most a millionth of the largest value are joined by "="."""
    names = sorted(values, key=values.get)
    near = 1e-6 * max(map(abs, values.values()))
    rest = (f"{' = ' if values[b] - values[a] <= near else '; '}{b}" for a, b in pairwise(names))
    return names[0] + "".join(rest)


def maxima(problem: Problem, horizon: int, trials: int, seed: int) -> np.ndarray:
    """Return f* of the trials of a run, R or 1, which a trace does not store."""
    draw = Streams(seed, range(trials)).at(-1)
    return problem.init(trials, horizon, draw, dtype=torch.float64, device="cpu").best.numpy()


# Phase I without the learner --------------------------------------------------------------------------------


def simulate_block(
    problem: Any, n: int, count: int, seed: int, block: int
) -> dict[str, np.ndarray]:
    """Draw n uniform points of the box [-5, 5]^d, ``count`` times.

    Returns:
        Regret of the point with the best noisy value ("best"), and mean regret of the n points ("uniform"), N each.
    """
    with shared_lock():
        rng = np.random.default_rng([seed, block])
        f = problem.of(None, 10 * torch.from_numpy(rng.random((count, n, problem.dim))) - 5).numpy()
        noisy = f + problem.noise * rng.normal(size=f.shape)
    gaps = problem.maximum - f
    best = np.take_along_axis(gaps, noisy.argmax(1)[:, None], 1)[:, 0]
    return {"best": best, "uniform": gaps.mean(1)}


def simulate_first_phase(problem: Any, n: int, count: int, seed: int) -> dict[str, np.ndarray]:
    """Return ``count`` draws of Phase I, N each, in blocks that are computed or loaded. An interrupted run resumes."""
    sizes = [min(BLOCK, count - first) for first in range(0, count, BLOCK)]
    blocks = [
        cached_call(
            "first_phase", simulate_block, problem=problem, n=n, count=size, seed=seed, block=block
        )
        for block, size in enumerate(sizes)
    ]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def bernstein(x: np.ndarray, width: float, level: float = stats.LEVEL) -> stats.Interval:
    """Return the mean with an empirical Bernstein interval, which is valid at every N for values in a range of ``width``."""
    N, log = len(x), math.log(4 / (1 - level))
    half = math.sqrt(2 * x.var(ddof=1) * log / N) + 7 * width * log / (3 * (N - 1))
    center = float(x.mean())
    return stats.Interval(center, center - half, center + half, N, "mean, empirical Bernstein")


def share_of_uniform(
    found: dict[str, np.ndarray], learner: Trace, repeated: Trace, rounds: int, width: float
) -> stats.Interval:
    """Return the learner's mean regret in the last ``rounds``, as a fraction of a uniform point's mean regret.

    The estimate is the regret of the best of n uniform points, by Monte Carlo, plus the learner's difference to it on paired trials. The
    difference is large only in trials with a poor Phase I. Therefore the t-interval needs enough of these: they are a tenth of the trials on f1.

    Args:
        found: see ``simulate_first_phase``.
        learner: GO-UCB's runs.
        repeated: runs that repeat the best point of Phase I, with the same points and noise.
        rounds: last rounds that count.
        width: width of the range of f.
    """
    level = 1 - (1 - stats.LEVEL) / PARTS
    last = len(learner.rounds)
    window = lambda trace: between(trace, last - rounds + 1, last) / rounds
    best, uniform = (bernstein(found[name], width, level) for name in ("best", "uniform"))
    apart = stats.paired_difference(window(learner), window(repeated), level)
    # Regret is not negative, so the interval is clipped at 0.
    low, high = max(0.0, best.low + apart.low), best.high + apart.high
    method = f"fraction of a uniform point's mean regret, 95 % by Bonferroni: empirical Bernstein over {best.n} draws, and t over paired trials"
    estimate = max(0.0, best.estimate + apart.estimate) / uniform.estimate
    high = high / uniform.low if uniform.low > 0 else math.inf
    return stats.Interval(estimate, low / uniform.high, high, apart.n, method)


def poor_fraction(found: dict[str, np.ndarray], noise: float) -> stats.Interval:
    """Return the fraction of draws of Phase I without a good point: the best point's gap is above ten times the noise."""
    bad = found["best"] > POOR * noise
    return stats.proportion(int(bad.sum()), len(bad))


def count_stuck(learner: Trace, n: int, maximum: float, noise: float) -> tuple[int, int, int]:
    """Return the number of trials whose Phase I found no good point, how many of these still have none in the last round, and all trials."""
    limit, last = POOR * noise, len(learner.rounds)
    bad = maximum - learner["best"][:, n - 1] > limit
    return int(bad.sum()), int((bad & (between(learner, last, last) > limit)).sum()), len(bad)


# Ties of the three acquisitions ------------------------------------------------------------------------------


def tied_fraction(learner: GP, trace: Trace, side: float, rounds: int) -> np.ndarray:
    """Return the fraction of 256 uniform points where the acquisition equals its largest value among them exactly, R.

    Args:
        learner: the Gaussian-process method.
        trace: trace with the points "x", R x T' x d, and observations "y", R x T', of every round.
        side: half the side of the box around 0.
        rounds: number of observations of the learner.
    """
    x, y = (torch.from_numpy(trace[name][:, :rounds].copy()) for name in ("x", "y"))
    bounds = Bounds.cube(x.shape[2], side, dtype=x.dtype)
    state = History(Rows.of(bounds.scaled(x)), Rows.of(y), rounds)
    u = 2 * torch.from_numpy(np.random.default_rng(0).random((POINTS, x.shape[2]))) - 1
    points = learner._frame(bounds).native(u).unsqueeze(1).expand(-1, len(x), -1).unsqueeze(2)
    with torch.no_grad():
        value = learner.criterion(learner.fitted(state, bounds))(points)
    return (value == value.amax(0)).double().mean(0).numpy()


def agreeing_fraction(traces: list[Trace], n: int) -> np.ndarray:
    """Return the fraction of the rounds of Phase II where all learners choose the same point, R. ``traces``: with the points "x"."""
    points = [trace["x"][:, n:] for trace in traces]
    return np.all([x == points[0] for x in points], axis=(0, 3)).mean(1)
