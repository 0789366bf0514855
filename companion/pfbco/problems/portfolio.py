"""Portfolio selection: the loss of a day is -log(r . x) over {x >= 0, sum x <= 1}, with daily price ratios r.

Source: Chen, Zhang & Karbasi (2019), the portfolio experiment of Figure 1, which also gives the window of days.
Letters: R trials, T days, K tickers, n stocks per trial.

There are two real price tables, and a synthetic market for machines without them. "stocks" has S&P 500 close prices from the
registry of ``datasets``, adjusted for splits but not for dividends and spin-offs. "stocks_adjusted" has adjusted close prices from
another source.

Wealth that x does not invest is lost, not kept as cash, so that -log(sum x) dominates the loss. The loss is unbounded on the set,
because the set contains x = 0. Therefore M and G are bounds over the points that Algorithm 1 visits (E6).
"""

import functools
import math
from dataclasses import field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Draw, Streams
from paperlib.core.validation import check_in
from paperlib.maths.sets import SubSimplex
from paperlib.pfbco.model import Task

from ...datasets import registry as datasets
from ...datasets.tables import Prices

REAL, SYNTHETIC = ("stocks", "stocks_adjusted"), "synthetic"
# The first day, which is the paper's, is a holiday; trading begins on the next day (E14).
FIRST, LAST = (np.datetime64("2013-02-18"), np.datetime64("2017-11-27"))
LEAST, MOST = 0.1, 10.0  # ratios outside this range are errors of the table
SHAPE = (1203, 470)  # shape of the synthetic market, as of "stocks"
DRIFT, FACTOR, OWN = 5e-4, 0.008, 0.014  # its daily log return: DRIFT + FACTOR m_t + OWN eps


class Market(NamedTuple):
    """Close prices divided by the close prices of the previous trading day."""

    tickers: np.ndarray  # K, text, sorted
    # T, datetime64[D], the later day of each ratio; for a synthetic market the numbers 1..T
    dates: np.ndarray
    ratios: np.ndarray  # T x K, not writeable


def choose(data: str = "auto", table: str = "stocks") -> str:
    """Return the table that a run can use: ``table``, or "synthetic", which every figure that uses it must name.

    Args:
        data: "auto" is the real table if it is available or can be downloaded, else the synthetic market; "real" is the real
            table; "synthetic" is the synthetic market.
        table: the real table, "stocks" or "stocks_adjusted".

    Raises:
        ValueError: another string, or a file that differs from the registry's.
        FileNotFoundError: with "real", if the table is not available.
    """
    check_in("data", data, ("auto", "real", SYNTHETIC))
    check_in("table", table, REAL)
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
    """Return the ratios of a table: "stocks" (1203 x 470), "stocks_adjusted" (1203 x 467) or "synthetic" (1203 x 470).

    Raises:
        ValueError: another table; ValueError, FileNotFoundError: as ``datasets.load``.
    """
    check_in("table", table, (*REAL, SYNTHETIC))
    found = synthetic() if table == SYNTHETIC else price_ratios(datasets.load(table))
    found.ratios.flags.writeable = False
    return found


def price_ratios(prices: Prices) -> Market:
    """Return the ratios within the window for the tickers with a price on every day, sorted by name.

    Tickers with missing prices are left out. Filling gaps of up to 5 days with the previous price would add BMY, ICE and ORCL to
    "stocks", and ESS and MMC to "stocks_adjusted". ``prices``: one row per date, one column per ticker.

    Raises:
        ValueError: fewer than two days or no complete ticker in the window, or a ratio outside (0.1, 10), by ticker and date.
    """
    inside = (prices.dates >= FIRST) & (prices.dates <= LAST)
    dates, close = prices.dates[inside], prices.close[inside]
    complete = ~np.isnan(close).any(0) & (len(close) > 0)
    if len(close) < 2 or not complete.any():
        raise ValueError(
            f"prices must have at least 2 days and 1 complete ticker from {FIRST} to {LAST}, got {len(close)} days and {complete.sum()} complete tickers"
        )
    # The complete tickers, sorted by name.
    order = np.flatnonzero(complete)[np.argsort(prices.tickers[complete])]
    tickers, close = prices.tickers[order], close[:, order]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = close[1:] / close[:-1]
    bad = np.argwhere(~((ratios > LEAST) & (ratios < MOST)))
    if len(bad):
        t, k = bad[0]
        raise ValueError(
            f"prices must be between {LEAST:g} and {MOST:g} times the price of the previous day, got {ratios[t, k]:g} times "
            f"for {tickers[k]} on {dates[t + 1]}"
        )
    return Market(tickers, dates[1:], ratios)


def synthetic() -> Market:
    """Return a one-factor market, log r = 5e-4 + 0.008 m_t + 0.014 eps with standard normal m_t and eps, from a fixed stream."""
    T, K = SHAPE
    draw = Streams(0, [0]).at(-1)
    factor = draw.normal("market factor", T, 1)[0].numpy()
    own = draw.normal("market own", T, K)[0].numpy()
    tickers = np.array([f"S{k:03d}" for k in range(1, K + 1)])
    return Market(tickers, np.arange(1, T + 1), np.exp(DRIFT + FACTOR * factor + OWN * own))


class PortfolioInstance(NamedTuple):
    """The market, and the stocks of each trial."""

    task: Task
    streams: Streams
    ratios: Tensor  # 1 x T x K, of all tickers
    stocks: Tensor  # R x n, indices, ascending

    def relatives(self, t: int) -> Tensor:
        """Return r_t of each trial's stocks, R x n."""
        return self.ratios[0, t].take(self.stocks)

    def history(self, horizon: int) -> Tensor:
        """Return r_1, ..., r_T of each trial's stocks, R x T x n, for ``comparators.bcrp``."""
        return self.ratios[0, :horizon][:, self.stocks].transpose(0, 1)


@frozen_dataclass
class Portfolio:
    """Portfolio selection of Figure 1b: each trial draws its stocks without replacement (purpose "problem").

    The days of the market are in their historical order.

    Attributes:
        stocks: n, at least 2.
        table: "stocks", "stocks_adjusted" or "synthetic".
        c: exploration scale of the learners, because M and G depend on it.
        allow_infinite: True records a loss of +inf (a portfolio without wealth), so the trial's summed loss stays infinite, and
            the learner observes 0 in that round. False passes it to the learner, and ``play`` raises an error with the round
            and the trial.
        data_checksum: SHA-256 of the file, which is part of the key of cached results; None for the synthetic market.

    Raises:
        ValueError: a value out of range.
    """

    stocks: int = fields.size(100, least=2)
    table: str = fields.one_of((*REAL, SYNTHETIC), "stocks")
    # The lower limit of c keeps G_eff finite, because it grows like 1 / c.
    c: float = fields.positive(0.1, 1e-20)
    allow_infinite: bool = fields.one_of((False, True), False)
    data_checksum: str | None = field(init=False, default=None)

    def __post_init__(self):
        found = None if self.table == SYNTHETIC else datasets.checksum(self.table)
        object.__setattr__(self, "data_checksum", found)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> PortfolioInstance:
        """Return the market and each trial's stocks, with the bounds M_eff and G_eff.

        M_eff = -log(r_min w) and G_eff = r_max / (2 sqrt(n) r_min w). Here w = alpha (1 - n^{-1/2}) / 2 is the smallest wealth
        that Algorithm 1 invests, alpha = c T^{-1/5}, and r_min and r_max are the smallest and largest ratio of the trial.

        Raises:
            ValueError: fewer tickers than ``stocks``, fewer days than the horizon, or alpha above 1;
                ValueError, FileNotFoundError: as ``market``.
        """
        found = market(self.table).ratios
        T, K = found.shape
        if self.stocks > K:
            raise ValueError(
                f"stocks must be at most {K}, the number of complete tickers of {self.table!r}, got {self.stocks!r}"
            )
        if horizon > T:
            raise ValueError(
                f"horizon must be at most {T}, the number of days of {self.table!r}, got {horizon!r}"
            )
        alpha = self.c * horizon**-0.2
        if alpha > 1 + 1e-12:
            raise ValueError(
                f"c must be so small that alpha is at most 1, got c={self.c!r} with alpha = {alpha:g} at horizon {horizon}"
            )
        ratios = torch.tensor(found, **tkwargs).unsqueeze(0)
        stocks = draw.uniform("problem", K).argsort(-1)[:, : self.stocks].sort(-1).values
        played, n = ratios[0, :horizon], self.stocks
        low, high = played.amin(0).take(stocks).amin(-1), played.amax(0).take(stocks).amax(-1)
        least = low * (alpha * (1 - n**-0.5) / 2)
        # The loss is between -log(r_max), because sum x <= 1, and -log of the smallest wealth.
        bound = torch.maximum(-least.log(), high.log())
        task = Task(SubSimplex.of(n, **tkwargs), bound, high / (2 * math.sqrt(n) * least))
        return PortfolioInstance(task, draw.streams, ratios, stocks)

    def context(self, instance: PortfolioInstance, t: int) -> Task:
        """Return the set and the bounds, the same in all rounds."""
        return instance.task

    def respond(
        self, instance: PortfolioInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the loss, -log(r_t . x), R, or its gradient, -r_t / (2 n r_t . x), R x n; and the loss.

        The loss is +inf where the wealth r_t . x is not above 0. ``action``: R x n.
        """
        check_in("wants", wants, ("loss", "gradient"))
        r = instance.relatives(t)
        wealth = (r * instance.task.cset.to_native(action)).sum(-1)
        loss = torch.where(wealth <= 0, torch.inf, -wealth.log())  # NaN stays NaN
        heard = loss if wants == "loss" else r / (-2 * self.stocks * wealth).unsqueeze(1)
        # Departure: a trial with an infinite loss continues and observes 0, instead of being frozen. A problem has no state, so
        # it does not know about earlier rounds, and the trial's sum is infinite either way. If infinite losses are not allowed,
        # the feedback is infinite. This includes the gradient at a wealth below 0, which would otherwise be finite.
        instead = 0.0 if self.allow_infinite else torch.inf
        heard = torch.where((loss == torch.inf).view(-1, *[1] * (heard.dim() - 1)), instead, heard)
        return heard, loss
