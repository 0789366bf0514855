"""Intervals: known values, coverage, and rejection of meaningless inputs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from companion import verdicts
from paperlib import stats
from paperlib.stats import tail_share

rng = np.random.default_rng


def test_mean_is_the_textbook_t_interval():
    found = stats.mean([1.0, 2.0, 3.0, 4.0])
    # The first factor is the 0.975 quantile of the t distribution with 3 degrees of freedom.
    half = 3.182446305284263 * math.sqrt(5 / 3) / 2
    assert found.n == 4 and found.estimate == 2.5
    assert (found.low, found.high) == pytest.approx((2.5 - half, 2.5 + half), rel=1e-12)


def test_one_trial_gives_an_infinite_interval():
    found = stats.mean([3.0])
    assert found.estimate == 3.0 and found.low == -math.inf and found.high == math.inf


def test_mean_covers_at_its_level():
    x = rng(0).normal(size=(2000, 12))
    hits = sum(found.low <= 0 <= found.high for found in map(stats.mean, x))
    assert (
        stats.proportion(hits, 2000, 0.999).low <= 0.95 <= stats.proportion(hits, 2000, 0.999).high
    )


def test_pairs_use_the_common_first_trials():
    a, b = np.arange(10.0), np.arange(4.0) * 2
    assert stats.paired_difference(a, b)[:4] == stats.mean(a[:4] - b)[:4]
    assert stats.paired_difference(a, b).method.startswith("mean difference")


def test_pairing_removes_shared_noise():
    noise = 100 * rng(1).normal(size=50)
    a, b = noise + 1 + 0.1 * rng(2).normal(size=50), noise
    assert 0.9 < stats.paired_difference(a, b).low < stats.paired_difference(a, b).high < 1.1
    assert stats.mean(a).high - stats.mean(a).low > 20


def test_band_is_the_mean_at_every_round():
    curves = rng(3).normal(size=(7, 5)).cumsum(1)
    band = stats.band(curves)
    one = stats.mean(curves[:, 3])
    assert band.n == 7 and (band.estimate[3], band.low[3], band.high[3]) == pytest.approx(one[:3])


def test_ratio_resamples_both_together():
    a = rng(4).lognormal(1, 1, 40)
    found = stats.ratio(2 * a, a)
    assert found[:3] == pytest.approx((2, 2, 2)) and "together" in found.method
    other = stats.ratio(2 * a, a[::-1])
    assert other.low < 2 < other.high and other.high - other.low > 0.5


def test_ratio_tolerates_a_zero_among_the_denominators():
    """For example, a learner that starts with the best arm and never changes it has no regret."""
    found = stats.ratio([3.0, 3.0, 3.0, 3.0], [2.0, 0.0, 1.0, 1.0])
    assert found.estimate == 3 and found.low < 3 < found.high < np.inf
    assert stats.ratio([1.0, 1.0], [1.0, 0.0]).high == np.inf


def test_ratio_to_what_may_be_negative_is_unbounded():
    """Fieller's rule: if the interval of the denominator contains 0, the ratio may be any number."""
    for b in ([-1.0, 2.0, -1.0, 0.5], [0.0, 0.0, 0.0, 0.0], [-3.0, -2.0, -1.0, -2.0]):
        found = stats.ratio([1.0, 2.0, 3.0, 2.0], b)
        assert (found.low, found.high) == (-np.inf, np.inf) and not np.isnan(found.estimate)
    claim = verdicts.Claim("toy.C", "", "", "", "above", 1.0)
    assert verdicts.decide(claim, found.estimate, found[1:3]) == "inconclusive"


def test_ratios_without_a_logarithm_are_unbounded_and_inconclusive():
    logarithm = lambda mean: np.log(mean[..., 0])
    for found in (
        stats.growth([1, 2, 3], [[1.0, -2.0, -3.0], [1.0, 1.0, 1.0]]),
        stats.bootstrap([[-1.0], [0.5]], logarithm, of="logarithm"),
        stats.geometric_ratio([1.0, -1.0], [1.0, 1.0]),
    ):
        assert found.low <= 0 and found.high == np.inf and not np.isnan(found.estimate)
        for side, threshold in (("above", 1.0), ("below", 1.0), ("within", (0.5, 2.0))):
            claim = verdicts.Claim("toy.C", "", "", "", side, threshold)
            assert verdicts.decide(claim, found.estimate, found[1:3]) == "inconclusive"


def test_ratio_tolerates_a_negative_denominator_entry():
    a, b = rng(7).normal(6, 1, 40), rng(8).normal(3, 1, 40)
    b[0] = -0.1
    found = stats.ratio(a, b)
    means = lambda x: x[stats._resamples(40, 0, stats.RESAMPLES)].mean(1)
    expected = np.quantile(means(a) / means(b), [0.025, 0.975])
    assert found[1:3] == pytest.approx(expected, rel=1e-12)
    # A few resamples without a ratio count at both ends, so that both ends move outwards.
    b = np.array([*np.full(11, 3.0), -20.0])
    share = (b[stats._resamples(12, 0, stats.RESAMPLES)].mean(1) <= 0).mean()
    found = stats.ratio(np.full(12, 2.0), b, level=1 - 3 * share)
    assert -np.inf < found.low < found.high < np.inf
    assert stats.ratio(np.full(12, 2.0), b, level=1 - share)[1:3] == (-np.inf, np.inf)


def test_ratio_repeats_bit_for_bit_and_heeds_its_seed():
    a, b = rng(5).gamma(3, size=30), rng(6).gamma(3, size=30)
    assert stats.ratio(a, b, seed=1) == stats.ratio(a, b, seed=1)
    assert stats.ratio(a, b, seed=1) != stats.ratio(a, b, seed=2)


def test_proportion_is_clopper_pearson():
    none = stats.proportion(0, 400)
    assert (none.low, none.high) == pytest.approx((0, 1 - 0.025 ** (1 / 400)), rel=1e-12)
    found = stats.proportion(331, 400)
    assert (round(found.low, 3), round(found.high, 3)) == (0.787, 0.863)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=50, deadline=None)
def test_proportion_inverts_the_binomial(kn):
    k, n = kn
    found = stats.proportion(k, n)
    assert found.low <= k / n <= found.high
    if k < n:
        assert scipy_stats.binom.cdf(k, n, found.high) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize("delta, n", [(0.1, 36), (0.05, 72), (0.01, 368)])
def test_trials_needed(delta, n):
    assert stats.trials_needed(delta) == n
    assert stats.proportion(n, n).low >= 1 - delta > stats.proportion(n - 1, n - 1).low


def test_slope_of_lines_is_exact():
    x = np.array([3.0, 5, 7, 9])
    found = stats.slope(x, np.outer([1.0, 2, 3], x) + 7)
    assert found.estimate == pytest.approx(2) and found.n == 3
    assert found[:3] == pytest.approx(stats.mean([1.0, 2, 3])[:3])


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_growth_finds_the_exponent(power):
    t = np.arange(1, 1001)
    curves = rng(7).gamma(9, 1 / 9, (60, 1)) * t**power
    found = stats.growth(t, curves)
    assert found[:3] == pytest.approx((power,) * 3)
    noisy = stats.growth(t, np.abs(curves + rng(8).normal(size=curves.shape)))
    assert noisy.low < noisy.estimate < noisy.high and abs(noisy.estimate - power) < 0.05


def test_growth_leaves_out_the_early_rounds():
    t = np.arange(1, 1001)
    curve = np.where(t < 100, t**1.0, 10 * t**0.5)[None]
    assert stats.growth(t, curve).estimate == pytest.approx(0.5)
    assert stats.growth(t, curve, first=1).estimate > 0.5


def test_holm_steps_down():
    assert stats.holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )
    assert stats.holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_wilcoxon_distinguishes_the_directions():
    shift = rng(9).normal(size=20) + 3
    found = stats.wilcoxon({"better": shift, "worse": -shift, "same": np.zeros(20)})
    assert found["better"].p < 1e-4 < 0.5 < found["better"].opposite
    assert found["worse"].opposite < 1e-4 < 0.5 < found["worse"].p
    assert found["same"].p == found["same"].opposite == 1
    alone = scipy_stats.wilcoxon(shift, alternative="greater").pvalue
    assert found["better"].p == pytest.approx(3 * alone)


def test_several_at_once_are_as_weak_as_the_weakest():
    make = lambda low, high: stats.Interval((low + high) / 2, low, high, 9, "mean difference, t")
    assert stats.smallest({"x": make(1, 5), "y": make(2, 3)})[1:3] == (1, 3)
    assert (
        stats.largest({"x": make(1, 5), "y": make(2, 3)}).method
        == "greatest mean difference, t (x)"
    )
    shift = rng(9).normal(size=20) + 3
    assert stats.combine_tests(stats.wilcoxon({"a": shift, "b": -shift})).opposite < 1e-4


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.mean([]),
        lambda: stats.mean([1.0, math.nan]),
        lambda: stats.ratio([1.0, np.inf], [1.0, 1.0]),
        lambda: stats.ratio([1.0, np.nan], [1.0, 1.0]),
        lambda: stats.proportion(5, 4),
        lambda: stats.trials_needed(0),
        lambda: stats.growth([1, 2, 3], np.ones((2, 3)), first=3),
        lambda: stats.slope([1.0], [[1.0]]),
    ],
)
def test_invalid_samples_are_rejected(call):
    with pytest.raises(ValueError, match="^(x|a|rounds|n|delta|first) must .*, got "):
        call()


def test_bootstrap_mean_covers_and_is_a_function_of_its_seed():
    x = np.random.default_rng(1).exponential(size=200)
    found = stats.bootstrap_mean(x, of="gap", resamples=2000)
    assert (
        found == stats.bootstrap_mean(x, of="gap", resamples=2000)
        and found.estimate == x.mean()
        and found.method.startswith("gap")
    )
    assert found.high - found.low == pytest.approx(2 * 1.96 * x.std() / np.sqrt(200), rel=0.1)


def test_a_constant_share_has_the_exact_interval():
    """A bootstrap of equal values would return [1, 1]."""
    for value, successes in ((1.0, 20), (0.0, 0)):
        found = stats.bootstrap_mean([value] * 20, of="share", bounds=(0, 1))
        exact = stats.proportion(successes, 20)
        assert found[:4] == pytest.approx(exact[:4]) and "exact" in found.method
    assert stats.bootstrap_mean([1.0] * 20, bounds=(0, 1)).low == pytest.approx(0.025 ** (1 / 20))
    half = stats.bootstrap_mean([0.5] * 20, bounds=(0, 1))
    assert (half.high - 0.5) == pytest.approx(0.5 - half.low) and half.low > 0.4
    varied = [1.0] * 19 + [0.0]
    assert stats.bootstrap_mean(varied, bounds=(0, 1)) == stats.bootstrap_mean(varied)
    with pytest.raises(ValueError, match="value must lie within bounds"):
        stats.bootstrap_mean([2.0] * 3, bounds=(0, 1))


def test_geometric_ratio_of_paired_trials():
    b = np.array([1.0, 2.0, 8.0])
    found = stats.geometric_ratio(3 * b, b)
    assert (found.estimate, found.low, found.high) == pytest.approx((3, 3, 3))
    assert stats.geometric_ratio([1, 4], [1, 1]).estimate == pytest.approx(2)
    assert stats.geometric_ratio([1.0, 1.0], [0.0, 1.0])[1:3] == (0, np.inf)


def test_rank_correlations():
    noise = np.random.default_rng(0).normal(size=(2, 5, 9))
    found = stats.rank_correlations(*noise)
    for i in range(5):
        assert found[i] == pytest.approx(scipy_stats.spearmanr(*noise[:, i]).statistic)
    x = np.arange(4.0)
    assert stats.rank_correlations(x, np.exp(x)) == 1 and stats.rank_correlations(x, -x) == -1
    assert np.isnan(stats.rank_correlations(x, np.ones(4)))


def test_bootstrap_of_a_function_of_means():
    x = np.array([[1.0, 2.0], [3.0, 2.0], [0.0, 0.0]])
    found = stats.bootstrap(x, lambda mean: mean[..., 0] / mean[..., 1], of="ratio", resamples=500)
    assert (
        found.estimate == 1
        and (found.low, found.high) == (0.5, 1.5)
        and found.method.startswith("ratio")
    )


def test_tail_share_of_known_samples():
    squares = np.array([1.0] * 38 + [4.0, 9.0])  # 40 trials: the two largest have 13 of 51
    signs = np.resize([1.0, -1.0], 40)
    x = signs * np.sqrt(squares)
    deviations = np.sort((x - x.mean()) ** 2)
    assert tail_share(x) == pytest.approx(deviations[-2:].sum() / deviations.sum())
    assert tail_share(x) == pytest.approx(13 / 51, abs=0.01)
    # With 30 trials, 5 % are the largest deviation and half of the second one.
    x = np.array([0.0] * 15 + [1.0] * 13 + [5.0, 9.0])
    squares = np.sort((x - x.mean()) ** 2)[::-1]
    expected = (squares[0] + squares[1] / 2) / squares.sum()
    assert tail_share(x) == pytest.approx(expected) and tail_share(1e200 * x) == pytest.approx(
        expected
    )
    assert math.isnan(tail_share(np.ones(40))) and math.isnan(tail_share(np.arange(19.0)))
    assert math.isnan(tail_share(np.array([0.0] * 39 + [np.inf])))
    a = 1 + np.arange(40.0)
    assert math.isnan(stats.ratio(a, a / 3).tail)  # equal ratios; the residuals are rounding errors
    assert math.isnan(stats.paired_difference(a, a * (1 + 1e-15)).tail)


def test_tail_share_separates_normal_from_heavy_tails():
    draws = rng(0)
    share = lambda draw: np.mean([tail_share(draw(50)) > stats.HEAVY_TAIL for _ in range(200)])
    assert share(draws.standard_normal) <= 0.02 and share(draws.standard_cauchy) > 0.9
    assert share(lambda n: np.exp(2 * draws.standard_normal(n))) > 0.9


def test_intervals_have_the_tail_share_of_their_trials():
    a, b = np.exp(rng(1).standard_normal((2, 60)))
    assert stats.mean(a).tail == stats.bootstrap_mean(a).tail == tail_share(a)
    assert stats.paired_difference(a, b).tail == tail_share(a - b)
    assert stats.ratio(a, b).tail == tail_share(a - a.mean() / b.mean() * b)
    assert stats.geometric_ratio(a, b).tail == tail_share(np.log(a / b))
    each = {"a": stats.mean(a), "b": stats.mean(b), "few": stats.mean(a[:5])}
    assert stats.largest(each).tail == max(tail_share(a), tail_share(b))


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
@pytest.mark.parametrize(
    "of",
    [
        lambda level: stats.mean([1.0, 2.0], level),
        lambda level: stats.band([[1.0], [2.0]], level),
        lambda level: stats.ratio([1.0, 2.0], [1.0, 2.0], level=level),
        lambda level: stats.proportion(1, 2, level),
        lambda level: stats.slope([1.0, 2.0], [[1.0, 2.0]], level),
        lambda level: stats.trials_needed(0.1, level),
    ],
)
def test_a_level_is_a_probability(of, level):
    with pytest.raises(ValueError, match="^level must be above 0 and below 1, got"):
        of(level)


def test_holm_takes_p_values_only():
    with pytest.raises(ValueError, match="^p must contain p-values from 0 to 1 only, got {'b': 2}"):
        stats.holm({"a": 0.5, "b": 2})


def test_positive_ratio_covers_in_few_trials():
    """With five trials, the t-interval contains the true ratio about as often as it states; the bootstrap does less often."""
    noise = rng(3)
    inside, bootstrapped = 0, 0
    for _ in range(400):
        a, b = np.exp(noise.normal(0, 0.3, (2, 5))) * [[2.0], [1.0]]
        found = stats.positive_ratio(a, b)
        inside += found.low <= 2 <= found.high
        other = stats.ratio(a, b, resamples=500)
        bootstrapped += other.low <= 2 <= other.high
    assert found.estimate == pytest.approx(a.mean() / b.mean())
    assert 0.92 < inside / 400 < 0.98 and bootstrapped / 400 < 0.9


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_positive_ratio_of_other_values_is_unbounded(value):
    found = stats.positive_ratio([1.0, 2.0], [1.0, value])
    assert found[1:3] == (0, math.inf) and found.method.endswith(stats.UNDEFINED)
