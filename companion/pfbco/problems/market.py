"""Daily price ratios of stocks: two real tables, and a market made up where neither is at hand.

Source: "stocks", S&P 500 closes from the registry of ``datasets``, adjusted for splits but not for dividends and spin-offs;
"stocks_adjusted", adjusted closes collected elsewhere; the window is that of Chen, Zhang & Karbasi (2019).
Letters: T ratios, K tickers.
"""

import functools
from typing import NamedTuple

import numpy as np

from paperlib.core.streams import Streams
from paperlib.core.validation import one_of

from ...datasets import registry as datasets
from ...datasets.tables import Prices

REAL, SYNTHETIC = ("stocks", "stocks_adjusted"), "synthetic"
# the first is a holiday: trading begins the day after
FIRST, LAST = (np.datetime64("2013-02-18"), np.datetime64("2017-11-27"))
LEAST, MOST = 0.1, 10.0  # a ratio outside is a fault of the table
SHAPE = (1203, 470)  # of the synthetic market, as that of "stocks"
DRIFT, FACTOR, OWN = 5e-4, 0.008, 0.014  # its daily log return: DRIFT + FACTOR m_t + OWN eps


class Market(NamedTuple):
    """Closing prices over those of the trading day before."""

    tickers: np.ndarray  # K, text, sorted
    # T, datetime64[D], the later day of a ratio; of a synthetic market the numbers 1..T
    dates: np.ndarray
    ratios: np.ndarray  # T x K, not writeable


def choose(data: str = "auto", table: str = "stocks") -> str:
    """Which table a run can use: ``table``, or "synthetic", which every figure of it has to name.

    Args:
        data: "auto", the real table where it is at hand or can be downloaded, else the synthetic market; "real", the real
            one; "synthetic".
        table: the real one, "stocks" or "stocks_adjusted".

    Raises:
        ValueError: another word, or a file that is not the registry's; FileNotFoundError: "real", and it cannot be had.
    """
    one_of("data", data, ("auto", "real", SYNTHETIC))
    one_of("table", table, REAL)
    if data != SYNTHETIC:
        try:
            datasets.fetch(table)
            return table
        except FileNotFoundError:
            if data == "real":
                raise
    return SYNTHETIC


@functools.cache
def market(table: str = "stocks") -> Market:
    """Ratios of a table: "stocks" (1203 x 470), "stocks_adjusted" (1203 x 467) or "synthetic" (1203 x 470).

    Raises:
        ValueError: another table; ValueError, FileNotFoundError: as ``datasets.load``.
    """
    one_of("table", table, (*REAL, SYNTHETIC))
    found = synthetic() if table == SYNTHETIC else price_ratios(datasets.load(table))
    found.ratios.flags.writeable = False
    return found


def price_ratios(prices: Prices) -> Market:
    """Ratios within the window, of the tickers that have a price on each of its days, in the order of their names.

    A ticker with any gap is left out. Bridging gaps of up to 5 days by the last price before would admit BMY, ICE and ORCL to
    "stocks", ESS and MMC to "stocks_adjusted". ``prices``: dates down, tickers across.

    Raises:
        ValueError: fewer than two days or no complete ticker in the window, or a ratio outside (0.1, 10), by ticker and date.
    """
    inside = (prices.dates >= FIRST) & (prices.dates <= LAST)
    dates, close = prices.dates[inside], prices.close[inside]
    complete = ~np.isnan(close).any(0) & (len(close) > 0)
    if len(close) < 2 or not complete.any():
        raise ValueError(
            f"prices: {len(close)} days, {complete.sum()} complete tickers from {FIRST} to {LAST}; allowed: at least two days and one ticker"
        )
    # of the complete tickers, by name
    order = np.flatnonzero(complete)[np.argsort(prices.tickers[complete])]
    tickers, close = prices.tickers[order], close[:, order]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = close[1:] / close[:-1]
    bad = np.argwhere(~((ratios > LEAST) & (ratios < MOST)))
    if len(bad):
        t, k = bad[0]
        raise ValueError(
            f"prices: {tickers[k]} on {dates[t + 1]} is at {ratios[t, k]:g} times the price of the day before; "
            f"allowed: between {LEAST:g} and {MOST:g} times"
        )
    return Market(tickers, dates[1:], ratios)


def synthetic() -> Market:
    """A market of one factor, log r = 5e-4 + .008 m_t + .014 eps with standard normal m_t and eps, from a fixed stream."""
    T, K = SHAPE
    draw = Streams(0, [0]).at(-1)
    factor = draw.normal("market factor", T, 1)[0].numpy()
    own = draw.normal("market own", T, K)[0].numpy()
    tickers = np.array([f"S{k:03d}" for k in range(1, K + 1)])
    return Market(tickers, np.arange(1, T + 1), np.exp(DRIFT + FACTOR * factor + OWN * own))
