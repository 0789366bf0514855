"""Dynamic pricing with a demand that drifts like a real price series. Pricing is the paper's motivating application.

With linear demand alpha_t - p, the revenue of a seller is 2 p*_t p - p^2. It is exactly quadratic in the price p, with a moving
optimal price and a moving optimal value. Only the drift of the optimum is real, not the demand. Let s be the logarithm of a price
series, mapped to [0, 1] by its least and largest value. Then theta = s - 1/2, p* = 1 + theta / 2, x = 2 (p - 1), and
f(x) = revenue - 0.8 = b - (x - theta)^2 / 4 with b = 0.2 + theta + theta^2 / 4.
This problem is our addition, because the paper has no experiment.
Shapes: R trials, D days.
"""

import functools
from dataclasses import field

import numpy as np

from paperlib.core.describe import frozen_dataclass
from paperlib.core.validation import check_in, check_integer, raise_invalid
from paperlib.nsbco.problems.paths import Path, on_first_axis
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ...datasets import registry as datasets

SERIES = ("google", "stocks")
# days of the table "stocks" that are used
FIRST, LAST = np.datetime64("2013-02-18"), np.datetime64("2017-11-27")
CUSTOMERS = 64  # per day


@functools.cache
def closes(series: str) -> np.ndarray:
    """Return closing prices, series x D: Google's from 2004 to 2008, or the complete series of the table "stocks", sorted by ticker.

    Raises:
        ValueError: an unknown name; ValueError, FileNotFoundError: as for ``datasets.load``.
    """
    check_in("series", series, SERIES)
    if series == "google":  # adjusted prices from Matplotlib's sample data
        from matplotlib.cbook import get_sample_data

        return get_sample_data("goog.npz")["price_data"]["adj_close"][None].astype(float)
    prices = datasets.load("stocks")
    close = prices.close[(prices.dates >= FIRST) & (prices.dates <= LAST)]
    whole_ones = ~np.isnan(close).any(0)
    return close[:, whole_ones][:, np.argsort(prices.tickers[whole_ones])].T


@frozen_dataclass
class Prices(Path):
    """Path theta = s - 1/2 with the level s of a price series, constant for the 64 customers of a day.

    Attributes:
        series: "google", one series for all trials; or "stocks", one series per trial, selected by the trial's seed modulo
            the number of series.
        days: number of days, from the first; None: all.
        data_checksum: SHA-256 of the table, part of the key of stored results; None for the data in Matplotlib.

    Raises:
        ValueError: a value out of range; ValueError, FileNotFoundError: as for ``datasets.load``.
    """

    series: str = "google"
    days: int | None = None
    data_checksum: str | None = field(init=False, default=None)
    values = (-0.2375, 0.7625)

    def __post_init__(self):
        check_in("series", self.series, SERIES)
        if self.days is not None:
            check_integer("days", self.days, 2)
        if self.series == "stocks":
            object.__setattr__(self, "data_checksum", datasets.checksum(self.series))

    @property
    def drawn(self):
        """Whether each trial has a separate series."""
        return self.series == "stocks"

    def begin(self, seeds, horizon, dim, reach, vary):
        """Return theta by day, R x D.

        Raises:
            ValueError: a horizon or a number of days beyond the end of the series, or a series that is constant in these days.
        """
        found = closes(self.series)
        if self.days is not None and self.days > found.shape[1]:
            raise_invalid("days", self.days, f"at most {found.shape[1]}, the length of the series")
        if dim != 1:
            raise_invalid("dim", dim, "1")
        log = np.log(found[[seed % len(found) for seed in seeds], : self.days])
        if horizon > log.shape[1] * CUSTOMERS:
            raise_invalid("horizon", horizon, f"at most {log.shape[1] * CUSTOMERS}")
        low, high = log.min(1, keepdims=True), log.max(1, keepdims=True)
        if still := [seed % len(found) for seed, flat in zip(seeds, low == high) if flat.all()]:
            raise_invalid(
                "days", self.days, f"larger, because series {still[0]} is constant in these days"
            )
        return (log - low) / (high - low) - 0.5

    def theta(self, part, t, horizon, dim, reach):
        """Return theta of the day of each round."""
        return on_first_axis(part[:, t // CUSTOMERS], dim)

    def value(self, part, t, horizon):
        """Return b = 0.2 + theta + theta^2 / 4."""
        theta = part[:, t // CUSTOMERS]
        return 0.2 + theta + theta**2 / 4


def pricing(series: str = "google", days: int | None = None) -> QuadraticDrift:
    """Return the revenue as a drifting quadratic with H = 1/2, a = 0.2 and L = 1."""
    return QuadraticDrift(Prices(series, days), 1, curvature=0.5, amplitude=0.2, smoothness=1.0)
