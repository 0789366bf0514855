"""BKB with a dictionary that is thinned from round to round instead of resampled: a heuristic.

Source: Calandriello et al. (2019), end of Section 3. The authors leave open whether this dictionary is accurate, because
the pulled arms depend on it. Calandriello, Lazaric & Valko (2017), "Distributed Adaptive Sampling for Kernel Matrix
Approximation", thin in this way a stream that does not depend on the dictionary.
Letters: R trials, A arms, M slots of the dictionary; s2 the scaled variance, p the inclusion probability of a pull.
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

GONE = 1.0  # marks an arm outside the dictionary; larger than the uniform of any pull that is kept


@frozen_dataclass
class IncrementalBKB(Sketched):
    """BKB whose dictionary is thinned: a pull that is in it stays with probability p_{t+1} / p_t.

    A pull that has left the dictionary never returns. BKB, in contrast, draws all Bernoulli samples again in each round.
    Therefore an arm may be missing from its dictionary in one round and present in the next.
    Departure: p_t is the smallest min(1, qbar s2) since the pull, because the sketched variance may rise again.

    Attributes:
        kernel, confidence, qbar, variance, capacity, root: as for ``BKB``.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import RKHS, Confidence, IncrementalBKB
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> learner = IncrementalBKB(problem.kernel, Confidence(noise=0.1, norm_bound=3.0))
        >>> play(learner, problem, horizon=20, trials=2)["regret"].shape
        (2, 20)
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
        """Return the initial state with the empty dictionary S_0; the horizon is not used."""
        shared = self.undrawn(trials, arms)
        coin = torch.full_like(shared["n"], GONE)
        return BKBState(**shared, log_det=shared["tally"].information, coin=coin)

    def kept(self, state: BKBState, arm: Tensor, draw: Draw) -> tuple[Tensor, Tensor]:
        """Return S_{t+1} and its uniforms, R x A each.

        Each pull draws one uniform when it is made, and stays in the dictionary while this uniform is below p.
        """
        # Comparing one fixed uniform with a decreasing p keeps a pull with probability p_{t+1} / p_t.
        own = draw.uniform("dictionary").unsqueeze(1)
        coin = state.coin.scatter_reduce(1, arm.unsqueeze(1), own, "amin")
        # An arm is in the dictionary if any of its pulls is, which its smallest uniform decides.
        mask = coin < (self.qbar * state.s2).clamp(max=1.0)
        if state.tally.rounds == 0:  # S_1 = {x_1}
            mask = coin < GONE
        # The uniform of a pull that has left is forgotten, because the pull must not return.
        return mask, torch.where(mask, coin, GONE)

    def update(
        self, state: BKBState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> BKBState:
        """Run the loop of Algorithm 1 with ``kept`` instead of its sampling step. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        mask, coin = self.kept(state, arm, draw)
        return self.resketched(state, arms, arm, pulls, mask, coin=coin)
