"""Portfolios that may leave wealth out: the loss of a day is -log(r . x) over {x >= 0, sum x <= 1}.

Source: Chen, Zhang & Karbasi (2019), the portfolio experiment of Figure 1.
Letters: R trials, T days, K tickers, n stocks a trial.

Wealth that x leaves out is lost, not kept as cash, so that -log(sum x) dominates the loss. It has no bound on the set, for
x = 0 belongs to it: M and G are those over the points that Algorithm 1 touches (E6).
"""

import math
from dataclasses import field
from typing import NamedTuple

import torch
from torch import Tensor

from paperlib.core import fields
from paperlib.core.describe import frozen
from paperlib.core.streams import Draw, Streams
from paperlib.core.validation import one_of
from paperlib.maths.sets import SubSimplex
from paperlib.pfbco.model import Task

from ...datasets import registry as datasets
from .market import REAL, SYNTHETIC, market


class PortfolioWorld(NamedTuple):
    """The market, and which of its stocks a trial holds."""

    task: Task
    streams: Streams
    ratios: Tensor  # 1 x T x K, of all tickers
    stocks: Tensor  # R x n, indices, ascending

    def relatives(self, t: int) -> Tensor:
        """r_t of each trial's stocks, R x n."""
        return self.ratios[0, t].take(self.stocks)

    def history(self, horizon: int) -> Tensor:
        """r_1, ..., r_T of each trial's stocks, R x T x n, for ``comparators.bcrp``."""
        return self.ratios[0, :horizon][:, self.stocks].transpose(0, 1)


@frozen
class Portfolio:
    """Stocks drawn per trial without replacement (purpose "problem"), the days of the market in their order.

    Attributes:
        stocks: n, at least 2.
        table: "stocks", "stocks_adjusted" or "synthetic", see ``market``.
        c: exploration scale for which M and G are made; that of the learners.
        allow_infinite: a loss of +inf (a portfolio without wealth) is recorded, so that the trial's running loss stays infinite,
            while the learner hears 0 in that round; False: it is heard, and ``play`` refuses it by round and trial.
        data_checksum: SHA-256 of the file, under which results are kept; None for the synthetic market.

    Raises:
        ValueError: a value out of range.
    """

    stocks: int = fields.size(100, least=2)
    table: str = fields.one_of((*REAL, SYNTHETIC), "stocks")
    c: float = fields.positive(0.1, 1e-20)  # G_eff grows like 1 / c
    allow_infinite: bool = fields.one_of((False, True), False)
    data_checksum: str | None = field(init=False, default=None)

    def __post_init__(self):
        found = None if self.table == SYNTHETIC else datasets.checksum(self.table)
        object.__setattr__(self, "data_checksum", found)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> PortfolioWorld:
        """The market and each trial's stocks.

        M_eff = -log(r_min w) and G_eff = r_max / (2 sqrt(n) r_min w), where w = alpha (1 - n^{-1/2}) / 2 is the least wealth
        that Algorithm 1 invests, alpha = c T^{-1/5}, and r_min and r_max are the extremes of the trial's own ratios.

        Raises:
            ValueError: fewer tickers than ``stocks``, fewer days than the horizon, or alpha above 1;
                ValueError, FileNotFoundError: as ``market``.
        """
        found = market(self.table).ratios
        T, K = found.shape
        if self.stocks > K:
            raise ValueError(
                f"stocks={self.stocks!r}; allowed: up to {K}, the complete tickers of {self.table!r}"
            )
        if horizon > T:
            raise ValueError(f"horizon={horizon!r}; allowed: up to {T} days of {self.table!r}")
        alpha = self.c * horizon**-0.2
        if alpha > 1 + 1e-12:
            raise ValueError(
                f"c={self.c!r}: alpha = {alpha:g} at horizon {horizon}; allowed: alpha up to 1"
            )
        ratios = torch.tensor(found, **tkwargs).unsqueeze(0)
        stocks = draw.uniform("problem", K).argsort(-1)[:, : self.stocks].sort(-1).values
        played, n = ratios[0, :horizon], self.stocks
        low, high = played.amin(0).take(stocks).amin(-1), played.amax(0).take(stocks).amax(-1)
        least = low * (alpha * (1 - n**-0.5) / 2)
        bound = torch.maximum(-least.log(), high.log())
        task = Task(SubSimplex.of(n, **tkwargs), bound, high / (2 * math.sqrt(n) * least))
        return PortfolioWorld(task, draw.streams, ratios, stocks)

    def context(self, world: PortfolioWorld, t: int) -> Task:
        """The set and the bounds."""
        return world.task

    def respond(
        self, world: PortfolioWorld, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Loss, -log(r_t . x), R, or gradient, -r_t / (2 n r_t . x), R x n; and the loss, +inf where wealth r_t . x is not above 0. ``action``: R x n."""
        one_of("wants", wants, ("loss", "gradient"))
        r = world.relatives(t)
        wealth = (r * world.task.cset.to_native(action)).sum(-1)
        loss = torch.where(wealth <= 0, torch.inf, -wealth.log())  # NaN stays NaN
        heard = loss if wants == "loss" else r / (-2 * self.stocks * wealth).unsqueeze(1)
        # Departure: a lost trial plays on and hears 0, instead of being frozen: a problem without a state knows nothing of
        # earlier rounds, and the trial's infinite sum is the same. Where that is not allowed, what is heard is infinite, also a
        # gradient at a wealth below 0, which would be finite.
        instead = 0.0 if self.allow_infinite else torch.inf
        heard = torch.where((loss == torch.inf).view(-1, *[1] * (heard.dim() - 1)), instead, heard)
        return heard, loss
