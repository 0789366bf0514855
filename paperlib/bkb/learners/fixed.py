"""GP-UCB on inducing arms chosen once: the classical sparse approximations that BKB is compared with.

Source: Calandriello et al. (2019), Section 3 on fixed inducing points; Quinonero-Candela & Rasmussen (2005).
Letters: R trials, A arms, M inducing arms.
"""

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...maths.gp import Kernel
from ..model.confidence import Confidence
from .bkb import VARIANCES, Sketched
from .posterior import REFRESH, ROOTS, RegressionState, add_observation
from .ucb import PullCounts


@frozen_dataclass
class FixedDictionary(Sketched):
    """GP-UCB on inducing arms that are drawn once, uniformly without replacement, and never changed.

    Attributes:
        kernel, confidence, root: as for ``BKB``.
        size: M, number of inducing arms.
        variance: "dtc" or "sor". DTC over-explores outside the span of the dictionary, because its variance stays large
            there. SoR never explores there, because its variance is 0 in those directions.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import RKHS, Confidence, FixedDictionary
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> learner = FixedDictionary(problem.kernel, Confidence(noise=0.1, norm_bound=3.0), size=10)
        >>> play(learner, problem, horizon=20, trials=2)["report.dictionary"].tolist()
        [10, 10]
    """

    kernel: Kernel
    confidence: Confidence
    size: int = fields.size(20)
    variance: str = fields.one_of(VARIANCES, "dtc")
    root: str = fields.one_of(ROOTS, "auto")

    @property
    def capacity(self) -> int:
        """Number of slots of the dictionary."""
        return self.size

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> RegressionState:
        """Draw the dictionary and return the initial state; the horizon is not used."""
        shared = self.prior(trials, arms)
        mask = self.dictionary(arms.shape[1], draw)
        eigh = self.root_of(arms, shared["tally"])
        found = self.fitted(
            arms, mask, PullCounts(shared["n"], shared["ysum"]), shared["tally"], eigh, 1, keep=True
        )
        # The prior in the span of the dictionary replaces k(x, x) / lambda, which matters for "sor".
        shared |= {"mu": found.mu, "s2": found.s2}
        return RegressionState(
            **shared,
            mask=mask,
            Z=found.Z,
            inverse=torch.cholesky_inverse(found.factor),
            failed=found.failed,
            eigh=eigh,
        )

    def dictionary(self, arms: int, draw: Draw) -> Tensor:
        """Return the arms with the ``size`` smallest of A uniforms, R x A bool: a draw without replacement."""
        order = draw.uniform("inducing arms", arms).argsort(1)
        return torch.zeros_like(order, dtype=torch.bool).scatter_(1, order[:, : self.size], True)

    def update(
        self, state: RegressionState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> RegressionState:
        """Add one observation; the span of the dictionary stays the same. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        inverse, mu, s2 = add_observation(state.Z, state.inverse, state.mu, state.s2, arm, reward)
        failed, rounds = state.failed, state.tally.rounds + 1
        # Rank-one updates accumulate rounding errors, so the posterior is recomputed from the counts regularly.
        if rounds % REFRESH == 0:
            found = self.fitted(arms, state.mask, pulls, state.tally, state.eigh, rounds, keep=True)
            mu, s2, inverse = found.mu, found.s2, torch.cholesky_inverse(found.factor)
            failed = failed | found.failed
        return self.heard(state, arm, pulls, mu, s2, inverse=inverse, failed=failed)

    def report(self, state: RegressionState) -> dict[str, Tensor]:
        """Report the dictionary's size, and whether K_SS had no factor (then ``play`` raises)."""
        return {"dictionary": state.mask.sum(1), "failed": state.failed}
