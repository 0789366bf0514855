"""LazyBKB: the dictionary is kept until the variance may have shrunk by a factor, and updated by rank one meanwhile.

Source: the criterion of Calandriello et al., "Near-linear time Gaussian process optimization with adaptive batching and
resparsification" (2020), with the feedback of every round heard at once.
Letters: R trials, A arms, M slots of the dictionary; P = V^{-1}.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..core import take
from ..gp import Kernel
from ..linalg import may_look
from ..streams import Draw
from ..validation import one_of, positive, whole
from .bkb import MERGES, Sketched
from .confidence import Confidence, Tally
from .regression import absorb
from .sketch import CHUNK
from .ucb import Pulls, of_arm


class State(NamedTuple):
    """Counters, the dictionary, the embedding of all arms, and the posterior."""

    n: Tensor              # R x A, pulls
    ysum: Tensor           # R x A, sums of rewards
    mask: Tensor           # R x A bool, the dictionary
    mu: Tensor             # R x A
    s2: Tensor             # R x A
    Z: Tensor              # R x M x A, embedding
    inverse: Tensor        # R x M x M, P
    fallback: Tensor       # R x A, s2 when the dictionary was last sampled
    spent: Tensor          # R, sum of ``fallback`` at the arms played since
    resamplings: Tensor    # R int64, how often the dictionary was sampled
    tally: Tally
    copies: Tensor | None  # 1 or R x A, first equal arm
    overflow: Tensor       # R bool
    failed: Tensor         # R bool
    eigh: bool             # the root


def widened(Z: Tensor, inverse: Tensor, slots: int, ridge: float) -> tuple[Tensor, Tensor]:
    """The same with more slots, all unused: no feature, and lambda on V's diagonal."""
    more = slots - Z.shape[1]
    if more <= 0:
        return Z, inverse
    inverse = pad(inverse, (0, more, 0, more))
    inverse.diagonal(dim1=1, dim2=2)[:, -more:] = 1 / ridge
    return pad(Z, (0, 0, 0, more)), inverse


@dataclass(frozen=True)
class LazyBKB(Sketched):
    """BKB that samples a new dictionary only once 1 + sum_s s2_fb(x_s) reaches ``threshold``.

    s2_fb is the variance when the dictionary was last sampled, the sum over the rounds since: for a fixed dictionary
    1 <= s2_fb(x) / s2_t(x) <= 1 + sum_s s2_fb(x_s) at every x. With threshold 1 it is BKB, bit for bit.

    Attributes:
        kernel, confidence, qbar, merge, variance, capacity, root, chunk: as for ``BKB``.
        threshold: C >= 1.
        refresh: rounds after which the posterior is computed anew from the counters, against drift.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence
    qbar: float = 5.0
    merge: str = "pulls"
    threshold: float = 2.0
    variance: str = "dtc"
    capacity: int | str = "auto"
    root: str = "auto"
    refresh: int = 256
    chunk: int = CHUNK
    syncs = "per round"  # which trials sample a new dictionary is read each round

    def __post_init__(self):
        super().__post_init__()
        positive("qbar", self.qbar)
        one_of("merge", self.merge, MERGES)
        positive("threshold", self.threshold)
        if self.threshold < 1:
            raise ValueError(f"threshold={self.threshold!r}; allowed: at least 1")
        whole("refresh", self.refresh)

    def init(self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """No dictionary; one unused slot. The horizon is not used."""
        shared = self.prior(trials, arms)
        none, zero = shared["n"] > 0, shared["tally"].information
        inverse = torch.full((trials, 1, 1), 1 / self.confidence.lam, **tkwargs)
        return State(**shared, mask=none, Z=shared["n"].unsqueeze(1), inverse=inverse, fallback=shared["s2"], spent=zero,
                     resamplings=torch.zeros_like(zero, dtype=torch.int64), overflow=none[:, 0], failed=none[:, 0],
                     eigh=self.root_of(arms, shared["tally"]))

    def update(self, state: State, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw) -> State:
        """Between resamplings O(A M); trials whose variance may have shrunk too far do BKB's round. ``arm``, ``reward``: R."""
        pulls = Pulls(state.n, state.ysum).add(arm, reward)
        spent = state.spent + of_arm(state.fallback, arm)
        expired = spent >= (self.threshold - 1 if state.tally.rounds else 0.0)  # S_1 = {x_1}: there is no dictionary yet
        due = (state.tally.rounds + 1) % self.refresh == 0
        looks = may_look(expired) or expired.device.type == "cuda"
        rows = expired.nonzero().squeeze(1) if looks else None  # None: all are computed, and those expired are taken
        if rows is not None and len(rows) < len(expired) or rows is None:
            inverse, mu, s2 = absorb(state.Z, state.inverse, state.mu, state.s2, arm, reward)
            state_now = state._replace(n=pulls.n, ysum=pulls.ysum, mu=mu, s2=s2, inverse=inverse, spent=spent)
        else:
            state_now = state._replace(n=pulls.n, ysum=pulls.ysum)
        if rows is None or len(rows):
            state_now = self._renew(state_now, arms, self.sampled(state, pulls, draw), expired, rows, True)
        if due:
            state_now = self._renew(state_now, arms, state_now.mask, ~expired, (~expired).nonzero().squeeze(1) if looks else None, False)
        return state_now._replace(tally=self.add_up(state, arm, pulls.n, state_now.s2))

    def _renew(self, state: State, arms: Tensor, mask: Tensor, which: Tensor, rows: Tensor | None, sampled: bool) -> State:
        """The posterior of the trials ``which`` computed from their counters and ``mask``; ``sampled``: a new dictionary."""
        if rows is not None and not len(rows):
            return state
        rounds, R = state.tally.rounds + 1, len(which)
        part = (lambda x: x) if rows is None or len(rows) == R else (lambda x: take(x, rows))
        tally = state.tally._replace(kappa2=part(state.tally.kappa2))
        found = self.fitted(part(arms), part(mask), Pulls(part(state.n), part(state.ysum)), tally, state.eigh, rounds, keep=True)
        Z, inverse, lam = found.Z, torch.cholesky_inverse(found.factor), self.confidence.lam
        if rows is not None and len(rows) == R:
            put = lambda old, new: new
        else:
            slots = max(Z.shape[1], state.Z.shape[1])
            Z, inverse = widened(Z, inverse, slots, lam)
            state = state._replace(**dict(zip(("Z", "inverse"), widened(state.Z, state.inverse, slots, lam))))
            if rows is None:
                put = lambda old, new: torch.where(which.view(-1, *[1] * (old.dim() - 1)), new, old)
            else:
                put = lambda old, new: old.index_put((rows,), new)
        state = state._replace(
            mu=put(state.mu, found.mu), s2=put(state.s2, found.s2), Z=put(state.Z, Z), inverse=put(state.inverse, inverse),
            overflow=put(state.overflow, part(state.overflow) | found.overflow), failed=put(state.failed, part(state.failed) | found.failed),
        )
        if not sampled:
            return state
        return state._replace(
            mask=put(state.mask, part(mask)), fallback=put(state.fallback, found.s2), spent=put(state.spent, torch.zeros_like(part(state.spent))),
            resamplings=put(state.resamplings, part(state.resamplings) + 1),
        )

    def report(self, state: State) -> dict[str, Tensor]:
        """As for ``BKB``, and how often the dictionary was sampled."""
        return {"dictionary": state.mask.sum(1), "resamplings": state.resamplings, "overflow": state.overflow, "failed": state.failed}
