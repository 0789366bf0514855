"""Tests of the growth of regret with the horizon and the dimension, on known numbers."""

import numpy as np
import pytest

from companion.pfbco.experiments.growth import (
    doubling_slope,
    exponent_above,
    line_residual,
    local_slopes,
)

T = np.array([2**k for k in range(4, 12)])  # seven doublings; the first is not used


def test_local_slopes_of_a_power_law():
    T, factor = [16, 32, 64, 128], np.linspace(0.5, 1.5, 20)[:, None]
    for slope in local_slopes(factor * np.array(T) ** 0.8):
        assert (slope.estimate, slope.low, slope.high, slope.n) == (
            pytest.approx(0.8),
            pytest.approx(0.8),
            pytest.approx(0.8),
            20,
        )
    # Each trial is scaled by one factor, so the slope of the mean has no variance.
    bent = factor * np.array([1.0, 2.0, 3.0, 3.0])
    assert [x.estimate for x in local_slopes(bent)] == pytest.approx([1, np.log2(1.5), 0])
    noisy = local_slopes(np.column_stack([np.ones(20), np.linspace(1, 3, 20)]))[0]
    assert noisy.estimate == pytest.approx(1) and noisy.low < 0.99 and noisy.high > 1.01


def falling(regret):
    return exponent_above(regret, regret[:, :-3])


def test_a_falling_exponent():
    factor = np.linspace(0.5, 1.5, 20)[:, None]
    straight = falling(factor * T**0.8)
    assert (straight.estimate, straight.low, straight.high) == pytest.approx(
        (0, 0, 0), abs=1e-9
    ) and straight.n == 20
    # The kink at 2^8 is in the middle of the last six doublings.
    bent = np.where(T <= 256, T**0.9, 256**0.9 * (T / 256) ** 0.7)
    found = falling(factor * bent)
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (-0.2, -0.2, -0.2)
    ) and "3 doublings" in found.method


def test_trials_are_resampled():
    found = falling(np.where(np.arange(20)[:, None] % 2, T**0.9, 10 * T**0.7))
    assert found.low < found.estimate < found.high


def test_an_exponent_above_another():
    """The difference of slopes detects exponents 1/20 apart while both slopes still decrease, and equal exponents."""
    T = np.array([2**k for k in range(10, 17)])
    factor = np.linspace(0.9, 1.1, 20)[:, None]
    fall = 1 - 8 * T**-0.5  # increases both slopes
    slow, fast = factor * fall * T**0.75, factor * fall * T**0.8
    assert doubling_slope(T, slow).estimate > 0.775
    found = exponent_above(fast, slow)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.05, 0.05, 0.05))
    same = exponent_above(slow, slow)
    assert same[:3] == pytest.approx((0, 0, 0))
    assert same.n == 20 and "3 doublings" in same.method
    noisy = exponent_above(fast * np.where(np.arange(20)[:, None] % 2, 1, T**0.1), slow)
    assert noisy.low < noisy.estimate < noisy.high


def test_doubling_slope_and_line():
    rng = np.random.default_rng(0)
    T = 2.0 ** np.arange(4, 13)
    regret = rng.uniform(0.9, 1.1, (20, 1)) * T**0.8
    # The first regrets are far too large, but only the last six doublings are used.
    found = doubling_slope(T, np.where(T < 2**6, 1e6, regret))
    assert (
        found.estimate == pytest.approx(0.8)
        and found.low == pytest.approx(0.8)
        and found.high == pytest.approx(0.8)
    )
    straight = line_residual(
        [1, 2, 3, 5], rng.uniform(0.9, 1.1, (20, 1)) * np.array([4.0, 7.0, 10.0, 16.0])
    )
    assert straight.estimate == pytest.approx(0, abs=1e-12)
    assert (
        line_residual([1, 2, 3, 5], np.ones((20, 1)) * np.array([1.0, 4.0, 9.0, 25.0])).low > 0.02
    )
