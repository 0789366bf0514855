"""Inducing arms chosen once: the classical sparse approximations that BKB is held against.

Source: Calandriello et al. (2019), Section 3 on fixed inducing points; Quinonero-Candela & Rasmussen (2005).
Letters: R trials, A arms, M inducing arms; P = V^{-1}.
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
        size: M, inducing arms.
        variance: "dtc" over-explores what the dictionary misses, "sor" never looks there.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence
    size: int = fields.size(20)
    variance: str = fields.one_of(VARIANCES, "dtc")
    root: str = fields.one_of(ROOTS, "auto")

    @property
    def capacity(self) -> int:
        """Slots of the dictionary."""
        return self.size

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> RegressionState:
        """Draws the dictionary; the horizon is not used."""
        shared = self.prior(trials, arms)
        mask = self.dictionary(arms.shape[1], draw)
        eigh = self.root_of(arms, shared["tally"])
        found = self.fitted(
            arms, mask, PullCounts(shared["n"], shared["ysum"]), shared["tally"], eigh, 1, keep=True
        )
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
        """The arms with the smallest of A uniforms, R x A bool."""
        order = draw.uniform("inducing arms", arms).argsort(1)
        return torch.zeros_like(order, dtype=torch.bool).scatter_(1, order[:, : self.size], True)

    def update(
        self, state: RegressionState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> RegressionState:
        """One more observation in the same span. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        inverse, mu, s2 = add_observation(state.Z, state.inverse, state.mu, state.s2, arm, reward)
        failed, rounds = state.failed, state.tally.rounds + 1
        # Rank-one updates drift, so the posterior is recomputed from the counters now and then.
        if rounds % REFRESH == 0:
            found = self.fitted(arms, state.mask, pulls, state.tally, state.eigh, rounds, keep=True)
            mu, s2, inverse = found.mu, found.s2, torch.cholesky_inverse(found.factor)
            failed = failed | found.failed
        return self.heard(state, arm, pulls, mu, s2, inverse=inverse, failed=failed)

    def report(self, state: RegressionState) -> dict[str, Tensor]:
        """Size of the dictionary, and whether K_SS failed to factor (then play raises)."""
        return {"dictionary": state.mask.sum(1), "failed": state.failed}
