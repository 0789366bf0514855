"""LazyBKB: the dictionary is kept until the variance may have shrunk by a factor, and updated by rank one meanwhile.

Source: the criterion of Calandriello et al., "Near-linear time Gaussian process optimization with adaptive batching and
resparsification" (2020), with the feedback of every round heard at once.
Letters: R trials, A arms, M slots of the dictionary; P = V^{-1}.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Rows, can_branch_on_values
from ...core.streams import Draw
from ...core.trees import tree_take
from ...maths.gp import Kernel
from ..model.confidence import Confidence, RoundSums
from ..model.slots import PerTrialRows, split_trials
from .bkb import MERGES, VARIANCES, Sketched
from .posterior import ROOTS, add_observation
from .ucb import PullCounts, entry_of_arm


class LazyState(NamedTuple):
    """Counters, the dictionary, the embedding of all arms, and the posterior."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mask: Tensor  # R x A bool, the dictionary
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    Z: Tensor | Rows  # R x M x A, embedding; apart by trial where code may look
    inverse: Tensor  # R x M x M, P
    fallback: Tensor  # R x A, s2 when the dictionary was last sampled
    spent: Tensor  # R, sum of ``fallback`` at the arms played since
    resamplings: Tensor  # R int64, how often the dictionary was sampled
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    overflow: Tensor  # R bool
    failed: Tensor  # R bool
    gram: Tensor | None  # 1 or R x A x A, K_XX, where it is small
    eigh: bool  # the root


def widen_embedding(Z: Tensor, slots: int) -> Tensor:
    """The embedding with more slots, all unused: no feature. ``Z``: R x M x A."""
    return pad(Z, (0, 0, 0, max(slots - Z.shape[1], 0)))


def widen_precision(inverse: Tensor, slots: int, ridge: float) -> Tensor:
    """P with more slots, all unused: lambda on V's diagonal."""
    more = max(slots - inverse.shape[1], 0)
    inverse = pad(inverse, (0, more, 0, more))
    inverse.diagonal(dim1=1, dim2=2)[:, inverse.shape[1] - more :] = 1 / ridge
    return inverse


def marked_trials(trials: Tensor) -> Tensor:
    """The trials that are marked, as indices; a look at the tensor. ``trials``: R bool. On the meta device all of them."""
    if trials.device.type == "meta":
        return torch.arange(len(trials), device=trials.device)
    return trials.nonzero().squeeze(1)


@frozen_dataclass
class LazyBKB(Sketched):
    """BKB that samples a new dictionary only once 1 + sum_s s2_fb(x_s) reaches ``threshold``.

    s2_fb is the variance when the dictionary was last sampled, the sum over the rounds since: for a fixed dictionary
    1 <= s2_fb(x) / s2_t(x) <= 1 + sum_s s2_fb(x_s) at every x. With threshold 1 it is BKB, bit for bit.

    Attributes:
        kernel, confidence, qbar, merge, variance, capacity, root: as for ``BKB``.
        threshold: C >= 1.
        refresh: rounds after which the posterior is computed anew from the counters, against drift.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence
    qbar: float = fields.positive(5.0)
    merge: str = fields.one_of(MERGES, "pulls")
    threshold: float = fields.number(2.0, least=1.0)
    variance: str = fields.one_of(VARIANCES, "dtc")
    capacity: int | str = "auto"
    root: str = fields.one_of(ROOTS, "auto")
    refresh: int = fields.whole(256)
    looks = True  # which trials sample a new dictionary is read in each round

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> LazyState:
        """No dictionary; one unused slot. The horizon is not used."""
        shared = self.undrawn(trials, arms)
        zero = shared["tally"].information
        inverse = torch.full((trials, 1, 1), 1 / self.confidence.lam, **tkwargs)
        empty = shared["n"].unsqueeze(1)
        return LazyState(
            **shared,
            Z=PerTrialRows.of(empty) if can_branch_on_values(empty) else empty,
            inverse=inverse,
            fallback=shared["s2"],
            spent=zero,
            resamplings=torch.zeros_like(zero, dtype=torch.int64),
        )

    def update(
        self, state: LazyState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> LazyState:
        """Rank one, O(A M); then BKB's round for the trials whose variance may have shrunk too far. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        spent = state.spent + entry_of_arm(state.fallback, arm)
        # Departure: >= for >, so that threshold 1 samples also after an arm of variance 0; S_1 = {x_1} comes before any dictionary
        expired = spent >= (self.threshold - 1 if state.tally.rounds else 0.0)
        inverse, mu, s2 = add_observation(state.Z, state.inverse, state.mu, state.s2, arm, reward)
        new = state._replace(n=pulls.n, ysum=pulls.ysum, mu=mu, s2=s2, inverse=inverse, spent=spent)
        rows = marked_trials(expired)
        if len(rows):
            mask = state.mask.index_put((rows,), self.sampled(state, pulls, draw, rows))
            new = self._renewed(new._replace(mask=mask), arms, rows)
            # the new variance is the fallback from now on
            new = new._replace(
                fallback=new.fallback.index_put((rows,), new.s2[rows]),
                spent=new.spent.index_fill(0, rows, 0.0),
                resamplings=new.resamplings.index_add(0, rows, torch.ones_like(rows)),
            )
        if (state.tally.rounds + 1) % self.refresh == 0:
            new = self._renewed(new, arms, marked_trials(~expired))
        return new._replace(tally=self.add_up(state, arm, pulls.n, new.s2))

    def _renewed(self, state: LazyState, arms: Tensor, rows: Tensor) -> LazyState:
        """The posterior of the trials ``rows`` computed from their dictionaries and counters."""
        if not len(rows):
            return state
        every, lam = len(rows) == len(state.spent), self.confidence.lam
        part = (lambda x: x) if every else (lambda x: tree_take(x, rows))
        pulls = PullCounts(part(state.n), part(state.ysum))
        tally = state.tally._replace(kappa2=part(state.tally.kappa2))
        found = self.fitted(
            part(arms),
            part(state.mask),
            pulls,
            tally,
            state.eigh,
            tally.rounds + 1,
            keep=True,
            gram=part(state.gram),
        )
        new = {
            "mu": found.mu,
            "s2": found.s2,
            "inverse": torch.cholesky_inverse(found.factor),
            "overflow": part(state.overflow) | found.overflow,
            "failed": part(state.failed) | found.failed,
        }
        if not every:
            # The new dictionaries may need more slots than the other trials have, or fewer.
            slots = max(new["inverse"].shape[1], state.inverse.shape[1])
            inverse = widen_precision(state.inverse, slots, lam)
            new["inverse"] = widen_precision(new["inverse"], slots, lam)
            old = state._replace(inverse=inverse)._asdict()
            new = {name: old[name].index_put((rows,), value) for name, value in new.items()}
        if isinstance(state.Z, Rows):
            new["Z"] = split_trials(state.Z).put(rows, found.Z)
        elif every:
            new["Z"] = found.Z
        else:
            new["Z"] = widen_embedding(state.Z, slots).index_put(
                (rows,), widen_embedding(found.Z, slots)
            )
        return state._replace(**new)

    def report(self, state: LazyState) -> dict[str, Tensor]:
        """As for ``BKB``, and how often the dictionary was sampled."""
        return super().report(state) | {"resamplings": state.resamplings}
