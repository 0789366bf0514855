"""Intervals over trials.

Shapes: R trials lead, T' recorded rounds. Whole trials are the unit: a learner's curve is resampled as a
whole, and learners that shared their noise are resampled together. Sources: Clopper & Pearson (1934),
Efron & Tibshirani (1993, ch. 13: percentile intervals), Holm (1979), Wilcoxon (1945).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

LEVEL = 0.95
RESAMPLES = 10_000


class Interval(NamedTuple):
    """An estimate with its interval; ``method`` says what it is and how it was found."""

    estimate: float
    low: float
    high: float
    n: int  # trials (or repetitions)
    method: str


class Band(NamedTuple):
    """Pointwise intervals along a curve, each of T' numbers."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: int


class Test(NamedTuple):
    """A one-sided test, and the same test of the opposite."""

    __test__ = False  # no test case of pytest's
    statistic: float  # median of the values tested
    p: float  # evidence for "above zero": small when it holds
    opposite: float  # evidence for "below zero"
    n: int
    method: str


def _trials(name: str, x, least: int = 1) -> np.ndarray:
    """``x`` as floats with trials in front.

    Raises:
        ValueError: fewer than ``smallest`` trials, or NaN.
    """
    x = np.asarray(x, float)
    if x.ndim < 1 or len(x) < least or np.isnan(x).any():
        raise ValueError(f"{name}={x!r}; allowed: at least {least} trials, no NaN")
    return x


def _common(a, b) -> tuple[np.ndarray, np.ndarray]:
    """The first trials that both have: they heard the same noise."""
    a, b = _trials("a", a), _trials("b", b)
    n = min(len(a), len(b))
    return a[:n], b[:n]


def _half(x: np.ndarray, level: float) -> np.ndarray:
    """Half width of the t-interval of the mean over the first axis; infinite for a single trial."""
    n = len(x)
    if n < 2:
        return np.full(x.shape[1:], math.inf)
    return stdtrit(n - 1, (1 + level) / 2) * x.std(0, ddof=1) / math.sqrt(n)


def _percent(level: float) -> str:
    return f"{100 * level:g} %"


def mean(x, level: float = LEVEL) -> Interval:
    """Mean over trials with a t-interval. ``x``: R."""
    x = _trials("x", x)
    center, half = float(x.mean()), float(_half(x, level))
    method = f"mean, {_percent(level)} t-interval over trials"
    return Interval(center, center - half, center + half, len(x), method)


def paired_difference(a, b, level: float = LEVEL) -> Interval:
    """Mean of a - b over the trials both have, with a t-interval. ``a``, ``b``: R each."""
    a, b = _common(a, b)
    method = f"mean difference, {_percent(level)} t-interval over paired trials"
    return mean(a - b, level)._replace(method=method)


def band(curves, level: float = LEVEL) -> Band:
    """Mean curve with pointwise t-intervals over trials. ``curves``: R x T'."""
    curves = _trials("curves", curves)
    center, half = curves.mean(0), _half(curves, level)
    return Band(center, center - half, center + half, len(curves))


def _unbounded(of: str, n: int, low: float = -math.inf) -> Interval:
    """The interval of a statistic that does not exist for these trials, such as the logarithm of a mean below 0: it decides nothing."""
    return Interval(math.inf, low, math.inf, n, f"{of}, unbounded, because it does not exist")


def _resamples(n: int, seed: int, resamples: int) -> np.ndarray:
    """B x n trial numbers drawn with replacement; a pure function of the arguments."""
    return np.random.default_rng(seed).integers(0, n, (resamples, n))


def _bootstrapped(
    estimate: float, values: np.ndarray, n: int, of: str, level: float, over: str = "trials"
) -> Interval:
    """The estimate of ``n`` trials with the percentiles of its ``values`` in the resamples."""
    shares = [(1 - level) / 2, (1 + level) / 2]
    if np.isinf(values).any():  # no interpolation between infinities
        low, high = (np.sort(values)[math.ceil(share * len(values)) - 1] for share in shares)
    else:
        low, high = np.quantile(values, shares)
    method = f"{of}, {_percent(level)} bootstrap over {over}"
    return Interval(float(estimate), float(low), float(high), n, method)


def ratio(
    a,
    b,
    *,
    of: str = "means",
    over: str = "trials",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the ratio of the means of a and b with a bootstrap percentile interval.

    The trials that both have are resampled for both at once. Single values of b may be 0; where a resample's are all
    0 its ratio is infinite. Where b has values below 0, or nothing but 0, the rule is Fieller's: a denominator that may be 0 leaves
    the ratio unbounded. A resample whose mean of b is not above 0 then counts at both ends of the interval, so that both are
    infinite if more than (1 - level) / 2 of the resamples are such.

    Args:
        a, b: R each.
        of, over: what they are, in words.

    Raises:
        ValueError: a value of a that is not finite.
    """
    a, b = _common(a, b)
    if not np.isfinite(a).all():
        raise ValueError(f"a has {a[~np.isfinite(a)][0]}; allowed: finite numbers")
    rows = _resamples(len(a), seed, resamples)
    above, below = a[rows].mean(1), b[rows].mean(1)
    ratios = lambda else_: np.divide(above, below, out=np.full_like(above, else_), where=below > 0)
    estimate = a.mean() / b.mean() if b.mean() else math.inf
    of, over = f"ratio of {of}", f"{over} together"
    found = _bootstrapped(estimate, ratios(np.inf), len(a), of, level, over)
    if (b < 0).any() or not b.any():
        low = _bootstrapped(estimate, ratios(-np.inf), len(a), of, level, over).low
        found = found._replace(low=low)
    return found


def bootstrap(
    x, statistic, *, of: str, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """A function of the mean over trials with a bootstrap percentile interval.

    Args:
        x: R x k.
        statistic: maps means, ... x k, to numbers, ...; resamples for which it is not finite are left out. Where it is not finite
            for the trials themselves, the interval is unbounded.
        of: what it is, in words.
    """
    x = _trials("x", x)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = statistic(x.mean(0))
        values = statistic(x[_resamples(len(x), seed, resamples)].mean(1))
    if not np.isfinite(estimate):
        return _unbounded(of, len(x))
    return _bootstrapped(estimate, values[np.isfinite(values)], len(x), of, level)


def bootstrap_mean(
    x,
    *,
    of: str = "mean",
    bounds: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the mean over trials with a bootstrap percentile interval, for samples far from normal.

    Args:
        x: R.
        of: what it is, in words.
        bounds: of a single value, such as (0, 1) of a share. A bootstrap of equal values would have no width, and they get
            the exact interval in its place.
    """
    values = _trials("x", x)
    if bounds is not None and (values == values[0]).all():
        return constant_mean(float(values[0]), len(values), bounds, of=of, level=level)
    return bootstrap(x, lambda mean: mean, of=of, seed=seed, resamples=resamples, level=level)


def constant_mean(
    value: float, n: int, bounds: tuple[float, float], *, of: str = "mean", level: float = LEVEL
) -> Interval:
    """Return the exact interval of a mean of which ``n`` trials all gave the same ``value``.

    By Clopper and Pearson's interval for 0 of ``n``, at most a fraction q of all trials gives another value. Those trials move the mean
    by at most q times the distance to either bound. For the bounds (0, 1) and the value 1 it is the interval of ``n`` successes.
    """
    low, high = bounds
    if not low <= value <= high:
        raise ValueError(f"value must lie within bounds={bounds}, got {value}")
    q = proportion(0, n, level).high
    method = f"{of}, {_percent(level)} exact interval, all {n} trials equal"
    return Interval(value, value - q * (value - low), value + q * (high - value), n, method)


def geometric_ratio(a, b, level: float = LEVEL) -> Interval:
    """Geometric mean of a / b over the trials both have, with the t-interval of the mean logarithm. ``a``, ``b``: R each.

    A value that is not above 0 has no logarithm: the interval is then from 0 to infinity.
    """
    a, b = _common(a, b)
    if not ((a > 0).all() and (b > 0).all()):
        return _unbounded("geometric mean ratio", len(a), low=0.0)
    *logarithms, n, _ = mean(np.log(a / b), level)
    method = f"geometric mean ratio, {_percent(level)} t-interval over paired trials"
    return Interval(*map(math.exp, logarithms), n, method)


def rank_correlations(x, y) -> np.ndarray:
    """Rank correlation (Spearman's) along the last axis, NaN where one is constant. ``x``, ``y``: ... x k, no NaN."""
    from scipy.stats import rankdata  # takes a second to import

    ranks = [rankdata(values, axis=-1) for values in (x, y)]
    a, b = (rank - rank.mean(-1, keepdims=True) for rank in ranks)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def smallest(intervals: dict[str, Interval]) -> Interval:
    """The interval of the smallest: all lie above a number exactly when it does, one lies below when it does."""
    return _extreme(intervals, "least", min)


def largest(intervals: dict[str, Interval]) -> Interval:
    """The interval of the largest: all lie below a number exactly when it does, one lies above when it does."""
    return _extreme(intervals, "greatest", max)


def _extreme(intervals: dict[str, Interval], word: str, pick) -> Interval:
    name = pick(intervals, key=lambda k: intervals[k].estimate)
    estimates, lows, highs, counts, _ = zip(*intervals.values())
    method = f"{word} {intervals[name].method} ({name})"
    return Interval(pick(estimates), pick(lows), pick(highs), min(counts), method)


def proportion(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Share of successes with the exact (Clopper-Pearson) interval."""
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"successes={successes}, n={n}; allowed: 0 <= successes <= n, n >= 1")
    from scipy.stats import binomtest  # takes a second to import

    exact = binomtest(int(successes), int(n)).proportion_ci(level, method="exact")
    method = f"share, {_percent(level)} Clopper-Pearson"
    return Interval(successes / n, float(exact.low), float(exact.high), int(n), method)


def trials_needed(delta: float, level: float = LEVEL) -> int:
    """The fewest trials of which none may fail for ``proportion``'s interval to lie at or above 1 - delta.

    Its lower end is then ((1 - level) / 2)^(1 / n).
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta}; allowed: between 0 and 1")
    return math.ceil(math.log((1 - level) / 2) / math.log1p(-delta))


def slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least-squares slope of each row of ``y``, ... x T', on ``x``, T'."""
    x = x - x.mean()
    return y @ x / (x @ x)


def slope(x, y, level: float = LEVEL) -> Interval:
    """Least-squares slope per trial, and its mean with a t-interval. ``x``: T'; ``y``: R x T'."""
    x, y = _trials("x", x, least=2), _trials("y", y)
    method = f"slope, {_percent(level)} t-interval over trials"
    return mean(slopes(x, np.atleast_2d(y)), level)._replace(method=method)


def growth(
    rounds,
    curves,
    first: float | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Growth exponent: slope of the log of the mean curve on log t, with a bootstrap over whole trials.

    Args:
        rounds: T', increasing.
        curves: R x T', cumulative.
        first: rounds before this one are left out; default a tenth of the last.

    Returns:
        The interval, unbounded where the mean curve is not positive throughout.

    Raises:
        ValueError: fewer than two rounds left.
    """
    rounds, curves = _trials("rounds", rounds, least=2), _trials("curves", curves)
    late = rounds >= (rounds[-1] / 10 if first is None else first)
    x, late_curves = np.log(rounds[late]), curves[:, late]
    if late.sum() < 2:
        raise ValueError(f"first={first}; allowed: at least two rounds from there on")
    R = len(curves)
    if (late_curves.mean(0) <= 0).any():
        return _unbounded("log-log slope", R)
    counts = [np.bincount(row, minlength=R) for row in _resamples(R, seed, resamples)]
    means = np.stack(counts) @ late_curves / R
    # a resample of trials that all stand at zero has no logarithm
    means = means[(means > 0).all(1)]
    estimate = slopes(x, np.log(late_curves.mean(0)))
    return _bootstrapped(estimate, slopes(x, np.log(means)), R, "log-log slope", level)


def holm(p: dict[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment: with all p below alpha, none is false with probability >= 1 - alpha."""
    adjusted, worst = {}, 0.0
    for rank, name in enumerate(sorted(p, key=p.get)):
        worst = max(worst, min(1.0, (len(p) - rank) * p[name]))
        adjusted[name] = worst
    return {name: adjusted[name] for name in p}


def wilcoxon(differences: dict[str, np.ndarray]) -> dict[str, Test]:
    """One-sided Wilcoxon signed-rank tests of paired differences, Holm over all that are passed together.

    ``differences``: name -> R, the baseline's value minus the method's. Differences that are all zero
    are evidence of nothing (p = 1).
    """
    from scipy.stats import wilcoxon as signed_rank  # takes a second to import

    values = {name: _trials(name, d) for name, d in differences.items()}
    test = lambda d, side: float(signed_rank(d, alternative=side).pvalue) if d.any() else 1.0
    above = holm({name: test(d, "greater") for name, d in values.items()})
    below = holm({name: test(d, "less") for name, d in values.items()})
    method = f"Wilcoxon signed-rank, one-sided, Holm over {len(values)}"
    return {
        name: Test(float(np.median(d)), above[name], below[name], len(d), method)
        for name, d in values.items()
    }


def combine_tests(tests: dict[str, Test]) -> Test:
    """All tests as one: it holds when each of them does, its opposite when one of theirs does."""
    name, worst = max(tests.items(), key=lambda item: item[1].p)
    opposite, n = min(t.opposite for t in tests.values()), min(t.n for t in tests.values())
    return Test(worst.statistic, worst.p, opposite, n, f"{worst.method}, weakest against {name}")
