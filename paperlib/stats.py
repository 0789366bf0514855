"""Confidence intervals and tests over trials.

The unit of resampling is the whole trial. A learner's curve is resampled as a whole, and learners with common noise are
resampled together. Shapes: the leading dimension is R, the number of trials; T' is the number of recorded rounds.

Sources: Clopper & Pearson (1934), Efron & Tibshirani (1993, ch. 13: percentile intervals), Holm (1979), Wilcoxon (1945).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

LEVEL = 0.95  # default confidence level
RESAMPLES = 10_000  # default number of bootstrap resamples
UNDEFINED = "unbounded, because it does not exist"  # end of ``Interval.method`` of a statistic that does not exist
HEAVY_TAIL = 0.5  # largest share of ``tail_share`` of a distribution without heavy tails


class Interval(NamedTuple):
    """Estimate with its confidence interval; ``method`` names the quantity and the method.

    Examples:
        >>> from paperlib.stats import mean
        >>> interval = mean([1.0, 2.0, 3.0, 4.0])
        >>> interval.method
        'mean, 95 % t-interval over trials'
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        2.50 [0.45, 4.55]
    """

    estimate: float
    low: float
    high: float
    n: int  # trials (or repetitions)
    method: str
    tail: float = math.nan  # see ``tail_share``; NaN if unknown


class Band(NamedTuple):
    """Pointwise confidence intervals along a curve; each array has T' entries."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: int


class Test(NamedTuple):
    """One-sided test together with the test of the opposite alternative."""

    __test__ = False  # so that pytest does not collect this class
    statistic: float  # median of the tested values
    p: float  # p-value for the alternative "above zero"
    opposite: float  # p-value for the alternative "below zero"
    n: int
    method: str


def _trials(name: str, x, least: int = 1) -> np.ndarray:
    """Return ``x`` as a float array whose leading dimension is the trials.

    Raises:
        ValueError: fewer than ``least`` trials, or NaN.
    """
    x = np.asarray(x, float)
    if x.ndim < 1 or len(x) < least or np.isnan(x).any():
        raise ValueError(f"{name} must have at least {least} trials and no NaN, got {x!r}")
    return x


def _common(a, b) -> tuple[np.ndarray, np.ndarray]:
    """Return the first trials, which ``a`` and ``b`` have in common; they had the same noise."""
    a, b = _trials("a", a), _trials("b", b)
    n = min(len(a), len(b))
    return a[:n], b[:n]


def _half(x: np.ndarray, level: float) -> np.ndarray:
    """Return the half width of the t-interval of the mean over the first axis; infinite for a single trial."""
    n = len(x)
    if n < 2:
        return np.full(x.shape[1:], math.inf)
    return stdtrit(n - 1, (1 + _checked(level)) / 2) * x.std(0, ddof=1) / math.sqrt(n)


def tail_share(x, scale=None) -> float:
    """Return the share of the squared deviations from the mean in the 5 % of the trials with the largest deviations.

    It is about 0.3 for a normal distribution. Above ``HEAVY_TAIL`` the mean of a sample rests on few trials.

    Args:
        x: R.
        scale: R, values from which x was computed by subtraction; None: x. Deviations of at most 1e-9 times the largest of
            them are rounding errors.

    Returns:
        The share; NaN for fewer than 20 trials, or if x is constant up to rounding.

    Examples:
        >>> from paperlib.stats import tail_share
        >>> print(f"{tail_share([0.0, 1.0] * 19 + [0.0, 100.0]):.2f}")
        0.97
    """
    x = _trials("x", x)
    rounding = 1e-9 * np.abs(x if scale is None else scale).max()
    if len(x) < 20 or not np.isfinite(x).all() or np.ptp(x) <= rounding:
        return math.nan
    squares = np.sort(np.square((x - x.mean()) / np.ptp(x)))[::-1]
    whole, part = divmod(len(x), 20)
    return float((squares[:whole].sum() + part / 20 * squares[whole]) / squares.sum())


def _percent(level: float) -> str:
    return f"{100 * _checked(level):g} %"


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be above 0 and below 1, got {level!r}")
    return level


def mean(x, level: float = LEVEL) -> Interval:
    """Return the mean over trials with a t-interval. ``x``: R.

    Examples:
        >>> from paperlib.stats import mean
        >>> interval = mean([1.0, 2.0, 3.0, 4.0])
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        2.50 [0.45, 4.55]
    """
    x = _trials("x", x)
    center, half = float(x.mean()), float(_half(x, level))
    method = f"mean, {_percent(level)} t-interval over trials"
    return Interval(center, center - half, center + half, len(x), method, tail_share(x))


def paired_difference(a, b, level: float = LEVEL) -> Interval:
    """Return the mean of a - b over the common trials with a t-interval.

    Args:
        a, b: R each. If one has more trials, its first ones are used.

    Examples:
        >>> from paperlib.stats import paired_difference
        >>> interval = paired_difference([3.0, 5.0, 7.0], [1.0, 2.0, 6.0])
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        2.00 [-0.48, 4.48]
    """
    a, b = _common(a, b)
    method = f"mean difference, {_percent(level)} t-interval over paired trials"
    return mean(a - b, level)._replace(method=method, tail=tail_share(a - b, a))


def band(curves, level: float = LEVEL) -> Band:
    """Return the mean curve with pointwise t-intervals over trials. ``curves``: R x T'.

    Examples:
        >>> from paperlib.stats import band
        >>> curves = [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]
        >>> band(curves).estimate.tolist()
        [2.0, 3.0, 4.0]
    """
    curves = _trials("curves", curves)
    center, half = curves.mean(0), _half(curves, level)
    return Band(center, center - half, center + half, len(curves))


def _unbounded(of: str, n: int, low: float = -math.inf) -> Interval:
    """Return the unbounded, inconclusive interval of a statistic that does not exist.

    For example, the logarithm of a mean below 0 does not exist.
    """
    return Interval(math.inf, low, math.inf, n, f"{of}, {UNDEFINED}")


def _resamples(n: int, seed: int, resamples: int) -> np.ndarray:
    """Return B x n trial numbers drawn with replacement; a pure function of the arguments."""
    return np.random.default_rng(seed).integers(0, n, (resamples, n))


def _bootstrapped(
    estimate: float, values: np.ndarray, n: int, of: str, level: float, over: str = "trials"
) -> Interval:
    """Return the estimate of ``n`` trials with percentiles of the ``values`` in the resamples."""
    shares = [(1 - _checked(level)) / 2, (1 + level) / 2]
    # np.quantile interpolates, which is undefined between infinities; order statistics are not.
    if np.isinf(values).any():
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

    The common trials are resampled jointly. Single values of b may be 0. If all values of b in a resample are 0, its ratio is
    infinite. If b has a value below 0, or all its values are 0, the rule follows Fieller: a denominator that may be 0 leaves
    the ratio unbounded. A resample whose mean of b is not above 0 then counts at both ends of the interval. Therefore both ends
    are infinite if the fraction of such resamples exceeds (1 - level) / 2.

    Args:
        a, b: R each.
        of, over: names of the quantity and of the trials, for ``method``.

    Raises:
        ValueError: a value of a that is not finite.

    Examples:
        >>> from paperlib.stats import ratio
        >>> interval = ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        2.00 [2.00, 2.00]
    """
    a, b = _common(a, b)
    if not np.isfinite(a).all():
        raise ValueError(f"a must contain finite numbers only, got {a[~np.isfinite(a)][0]}")
    rows = _resamples(len(a), seed, resamples)
    above, below = a[rows].mean(1), b[rows].mean(1)
    ratios = lambda else_: np.divide(above, below, out=np.full_like(above, else_), where=below > 0)
    estimate = a.mean() / b.mean() if b.mean() else math.inf
    of, over = f"ratio of {of}", f"{over} together"
    found = _bootstrapped(estimate, ratios(np.inf), len(a), of, level, over)
    if math.isfinite(estimate):
        found = found._replace(tail=tail_share(a - estimate * b, a))
    if (b < 0).any() or not b.any():
        low = _bootstrapped(estimate, ratios(-np.inf), len(a), of, level, over).low
        found = found._replace(low=low)
    return found


def bootstrap(
    x, statistic, *, of: str, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """Return a function of the mean over trials with a bootstrap percentile interval.

    Args:
        x: R x k.
        statistic: maps means, ... x k, to numbers, .... Resamples for which it is not finite are omitted. If it is not finite for
            the trials themselves, the interval is unbounded.
        of: name of the statistic, for ``method``.

    Examples:
        >>> import numpy as np
        >>> from paperlib.stats import bootstrap
        >>> scores = [[1.0, 4.0], [3.0, 6.0], [2.0, 8.0]]
        >>> interval = bootstrap(scores, lambda means: means[..., 1] - means[..., 0], of="difference")
        >>> print(f"{interval.estimate:.2f}", interval.n)
        4.00 3
    """
    x = _trials("x", x)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = statistic(x.mean(0))
        values = statistic(x[_resamples(len(x), seed, resamples)].mean(1))
    # With a non-finite estimate no percentile is meaningful, so the interval is unbounded.
    if not np.isfinite(estimate):
        return _unbounded(of, len(x))
    found = _bootstrapped(estimate, values[np.isfinite(values)], len(x), of, level)
    return found._replace(tail=tail_share(x)) if x.ndim == 1 else found


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
        of: name of the quantity, for ``method``.
        bounds: lower and upper bound of a single value, for example (0, 1) for a fraction. If all values are equal, the
            bootstrap interval would have width 0; with bounds the result is the exact interval of ``constant_mean``.

    Examples:
        >>> from paperlib.stats import bootstrap_mean
        >>> interval = bootstrap_mean([1.0] * 10, bounds=(0.0, 1.0))
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        1.00 [0.69, 1.00]
    """
    values = _trials("x", x)
    if bounds is not None and (values == values[0]).all():
        return constant_mean(float(values[0]), len(values), bounds, of=of, level=level)
    return bootstrap(x, lambda mean: mean, of=of, seed=seed, resamples=resamples, level=level)


def constant_mean(
    value: float, n: int, bounds: tuple[float, float], *, of: str = "mean", level: float = LEVEL
) -> Interval:
    """Return the exact interval of a mean if all ``n`` trials gave the same ``value``.

    By the Clopper-Pearson interval for 0 of ``n``, at most a fraction q of all trials has another value. These trials shift the mean
    by at most q times the distance to either bound. For example, with bounds (0, 1) and value 1 it is the interval of ``n`` successes.
    """
    low, high = bounds
    if not low <= value <= high:
        raise ValueError(f"value must lie within bounds={bounds}, got {value}")
    q = proportion(0, n, level).high
    method = f"{of}, {_percent(level)} exact interval, all {n} trials equal"
    return Interval(value, value - q * (value - low), value + q * (high - value), n, method)


def positive_ratio(
    a, b, *, of: str = "means", over: str = "trials", level: float = LEVEL
) -> Interval:
    """Return the ratio of the means of a and b, whose values are above 0, with a t-interval of its logarithm.

    For few trials it is more reliable than the bootstrap of ``ratio``, whose percentiles are then too narrow. By the delta method, the
    variance of the logarithm of the ratio is that of the mean of a / mean(a) - b / mean(b). If a value is not above 0, the interval extends
    from 0 to infinity.

    Args:
        a, b: R each.
        of, over: names of the quantity and of the trials, for ``method``.

    Examples:
        >>> from paperlib.stats import positive_ratio
        >>> interval = positive_ratio([2.0, 4.0, 6.0], [1.0, 2.0, 4.0])
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        1.71 [1.07, 2.74]
    """
    a, b = _common(a, b)
    if not ((a > 0).all() and (b > 0).all()):
        return _unbounded(f"ratio of {of}", len(a), low=0.0)
    estimate = float(a.mean() / b.mean())
    half = float(_half(a / a.mean() - b / b.mean(), level))
    low, high = estimate * math.exp(-half), estimate * float(np.exp(half))
    method = f"ratio of {of}, {_percent(level)} t-interval over {over}"
    return Interval(estimate, low, high, len(a), method, tail_share(a - estimate * b, a))


def geometric_ratio(a, b, level: float = LEVEL) -> Interval:
    """Return the geometric mean of a / b over the common trials, with the t-interval of the mean logarithm. ``a``, ``b``: R each.

    If a value is not above 0, its logarithm does not exist. The interval then extends from 0 to infinity.

    Examples:
        >>> from paperlib.stats import geometric_ratio
        >>> interval = geometric_ratio([2.0, 8.0], [1.0, 1.0])
        >>> print(f"{interval.estimate:.2f}")
        4.00
    """
    a, b = _common(a, b)
    if not ((a > 0).all() and (b > 0).all()):
        return _unbounded("geometric mean ratio", len(a), low=0.0)
    *logarithms, n, _, tail = mean(np.log(a / b), level)
    method = f"geometric mean ratio, {_percent(level)} t-interval over paired trials"
    return Interval(*map(math.exp, logarithms), n, method, tail)


def rank_correlations(x, y) -> np.ndarray:
    """Return Spearman's rank correlation along the last axis, NaN where x or y is constant. ``x``, ``y``: ... x k, no NaN.

    Examples:
        >>> from paperlib.stats import rank_correlations
        >>> print(f"{rank_correlations([1.0, 5.0, 9.0], [3.0, 2.0, 1.0]):.1f}")
        -1.0
    """
    from scipy.stats import rankdata  # takes a second to import

    ranks = [rankdata(values, axis=-1) for values in (x, y)]
    a, b = (rank - rank.mean(-1, keepdims=True) for rank in ranks)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def smallest(intervals: dict[str, Interval]) -> Interval:
    """Return the interval of the smallest quantity; its ends are the smallest ends of all intervals.

    It lies above a number exactly if all intervals do, and below a number exactly if at least one interval does.
    """
    return _extreme(intervals, "least", min)


def largest(intervals: dict[str, Interval]) -> Interval:
    """Return the interval of the largest quantity; its ends are the largest ends of all intervals.

    It lies below a number exactly if all intervals do, and above a number exactly if at least one interval does.
    """
    return _extreme(intervals, "greatest", max)


def _extreme(intervals: dict[str, Interval], word: str, pick) -> Interval:
    name = pick(intervals, key=lambda k: intervals[k].estimate)
    estimates, lows, highs, counts, _, tails = zip(*intervals.values())
    method = f"{word} {intervals[name].method} ({name})"
    tail = np.fmax.reduce(tails)  # ignores NaN
    return Interval(pick(estimates), pick(lows), pick(highs), min(counts), method, float(tail))


def proportion(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Return the fraction of successes with the exact (Clopper-Pearson) interval.

    Examples:
        >>> from paperlib.stats import proportion
        >>> interval = proportion(9, 10)
        >>> print(f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]")
        0.90 [0.55, 1.00]
    """
    if not 0 <= successes <= n or n < 1:
        raise ValueError(
            f"n must be at least 1 and successes from 0 to n, got n={n}, successes={successes}"
        )
    from scipy.stats import binomtest  # takes a second to import

    exact = binomtest(int(successes), int(n)).proportion_ci(_checked(level), method="exact")
    method = f"share, {_percent(level)} Clopper-Pearson"
    return Interval(successes / n, float(exact.low), float(exact.high), int(n), method)


def trials_needed(delta: float, level: float = LEVEL) -> int:
    """Return the smallest n for which ``proportion(n, n)`` is at least 1 - delta, that is, with no failed trial.

    The lower end of the interval is then ((1 - level) / 2)^(1 / n).

    Examples:
        >>> from paperlib.stats import trials_needed
        >>> trials_needed(0.05)
        72
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must be above 0 and below 1, got {delta}")
    return math.ceil(math.log((1 - _checked(level)) / 2) / math.log1p(-delta))


def slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the least-squares slope of each row of ``y``, ... x T', on ``x``, T'."""
    x = x - x.mean()
    return y @ x / (x @ x)


def slope(x, y, level: float = LEVEL) -> Interval:
    """Return the mean of the least-squares slopes of the trials with a t-interval. ``x``: T'; ``y``: R x T'.

    Examples:
        >>> from paperlib.stats import slope
        >>> interval = slope([1.0, 2.0, 3.0], [[1.0, 2.0, 3.0], [0.0, 3.0, 6.0]])
        >>> print(f"{interval.estimate:.2f}")
        2.00
    """
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
    """Return the growth exponent of the mean curve with a bootstrap over whole trials.

    The exponent is the slope of the logarithm of the mean curve on log t.

    Args:
        rounds: T', increasing.
        curves: R x T', cumulative.
        first: rounds before this one are omitted; the default is a tenth of the last round.

    Returns:
        The interval. It is unbounded if the mean curve is not positive in all rounds that are used.

    Raises:
        ValueError: fewer than two rounds remain.

    Examples:
        >>> import numpy as np
        >>> from paperlib.stats import growth
        >>> rounds = np.arange(1, 101)
        >>> curves = np.outer([1.0, 2.0, 3.0], rounds**0.5)
        >>> print(f"{growth(rounds, curves).estimate:.2f}")
        0.50
    """
    rounds, curves = _trials("rounds", rounds, least=2), _trials("curves", curves)
    late = rounds >= (rounds[-1] / 10 if first is None else first)
    x, late_curves = np.log(rounds[late]), curves[:, late]
    if late.sum() < 2:
        raise ValueError(
            f"first must be a round with at least two recorded rounds from it on, got {first}"
        )
    R = len(curves)
    if (late_curves.mean(0) <= 0).any():
        return _unbounded("log-log slope", R)
    counts = [np.bincount(row, minlength=R) for row in _resamples(R, seed, resamples)]
    means = np.stack(counts) @ late_curves / R
    # A resample whose mean curve is zero somewhere has no logarithm, so it is omitted.
    means = means[(means > 0).all(1)]
    estimate = slopes(x, np.log(late_curves.mean(0)))
    return _bootstrapped(estimate, slopes(x, np.log(means)), R, "log-log slope", level)


def holm(p: dict[str, float]) -> dict[str, float]:
    """Return the p-values after Holm's step-down adjustment.

    If you reject every hypothesis whose adjusted p-value is below alpha, no true hypothesis is rejected with probability at
    least 1 - alpha.

    Raises:
        ValueError: a p-value that is not from 0 to 1.

    Examples:
        >>> from paperlib.stats import holm
        >>> holm({"a": 0.25, "b": 0.125})
        {'a': 0.25, 'b': 0.25}
    """
    if odd := {name: x for name, x in p.items() if not 0 <= x <= 1}:
        raise ValueError(f"p must contain p-values from 0 to 1 only, got {odd}")
    adjusted, worst = {}, 0.0
    # The smallest p is multiplied by the number of hypotheses, the next by one fewer, and so on;
    # the running maximum keeps the adjusted values in the order of the original ones.
    for rank, name in enumerate(sorted(p, key=p.get)):
        worst = max(worst, min(1.0, (len(p) - rank) * p[name]))
        adjusted[name] = worst
    return {name: adjusted[name] for name in p}


def wilcoxon(differences: dict[str, np.ndarray]) -> dict[str, Test]:
    """Return one-sided Wilcoxon signed-rank tests of paired differences, with Holm's adjustment over all of them.

    Args:
        differences: name -> R, the baseline's value minus the method's. If all differences are zero, p = 1.

    Examples:
        >>> import numpy as np
        >>> from paperlib.stats import wilcoxon
        >>> tests = wilcoxon({"UCB": np.arange(1.0, 11.0), "greedy": np.arange(-4.0, 6.0)})
        >>> {name: bool(test.p < 0.05) for name, test in tests.items()}
        {'UCB': True, 'greedy': False}
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
    """Combine tests into one: ``p`` is the largest of their p-values, ``opposite`` the smallest of their opposite ones.

    Therefore the combined test is significant if every test is, and its opposite if the opposite of at least one test is.
    """
    name, worst = max(tests.items(), key=lambda item: item[1].p)
    opposite, n = min(t.opposite for t in tests.values()), min(t.n for t in tests.values())
    return Test(worst.statistic, worst.p, opposite, n, f"{worst.method}, weakest against {name}")
