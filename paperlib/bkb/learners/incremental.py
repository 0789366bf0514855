"""BKB with a dictionary that is thinned from round to round instead of sampled anew: a heuristic.

Source: Calandriello et al. (2019), end of Section 3, who leave open whether it is accurate: the arms that are played
depend on the dictionary. It is how Calandriello, Lazaric & Valko (2017), "Distributed Adaptive Sampling for Kernel
Matrix Approximation", thin a stream that does not.
Letters: R trials, A arms, M slots of the dictionary; s2 the scaled variance, p inclusion probability of a pull.
"""

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...maths.gp import Kernel
from ..model.confidence import Confidence
from .bkb import BKB, VARIANCES, BKBState, Sketched
from .posterior import ROOTS
from .ucb import PullCounts

GONE = 1.0  # larger than any coin that is kept


@frozen_dataclass
class IncrementalBKB(Sketched):
    """A pull that is in the dictionary stays with probability p_{t+1} / p_t; one that has left never returns.

    BKB tosses all coins again in each round, so that it may lack an arm in one round and have it in the next.
    Departure: p_t is the least min(1, qbar s2) that the pull has had. The sketched variance may rise again.

    Attributes:
        kernel, confidence, qbar, variance, capacity, root: as for ``BKB``.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence
    qbar: float = fields.positive(5.0)
    variance: str = fields.one_of(VARIANCES, "dtc")
    capacity: int | str = "auto"
    root: str = fields.one_of(ROOTS, "auto")
    looks = BKB.looks

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> BKBState:
        """S_0 is empty; the horizon is not used."""
        shared = self.undrawn(trials, arms)
        coin = torch.full_like(shared["n"], GONE)
        return BKBState(**shared, log_det=shared["tally"].information, coin=coin)

    def kept(self, state: BKBState, arm: Tensor, draw: Draw) -> tuple[Tensor, Tensor]:
        """S_{t+1} and its coins, R x A each. A pull stays while its coin, tossed when it was played, is below p."""
        own = draw.uniform("dictionary").unsqueeze(1)
        coin = state.coin.scatter_reduce(1, arm.unsqueeze(1), own, "amin")
        mask = coin < (self.qbar * state.s2).clamp(max=1.0)
        if state.tally.rounds == 0:  # S_1 = {x_1}
            mask = coin < GONE
        return mask, torch.where(mask, coin, GONE)

    def update(
        self, state: BKBState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> BKBState:
        """Algorithm 1's loop with ``kept`` for its sampling. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        mask, coin = self.kept(state, arm, draw)
        return self.resketched(state, arms, arm, pulls, mask, coin=coin)
