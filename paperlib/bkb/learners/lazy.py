"""LazyBKB: BKB that resamples its dictionary only when the variance may have shrunk by a given factor.

Between two samplings the posterior changes by rank-one updates.

Source: the criterion of Calandriello et al., "Near-linear time Gaussian process optimization with adaptive batching and
resparsification" (2020), with immediate feedback in every round.
Letters: R trials, A arms, M slots of the dictionary; V as in ``posterior``.
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
    """Pull counts, the dictionary, the embedding of all arms, and the posterior."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mask: Tensor  # R x A bool, the dictionary
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    Z: Tensor | Rows  # R x M x A, embedding; one tensor per trial on the CPU
    inverse: Tensor  # R x M x M, V^{-1}
    fallback: Tensor  # R x A, s2 when the dictionary was last sampled
    spent: Tensor  # R, sum of ``fallback`` at the arms pulled since then
    resamplings: Tensor  # R int64, how often the dictionary was sampled
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    overflow: Tensor  # R bool
    failed: Tensor  # R bool
    gram: Tensor | None  # 1 or R x A x A, K_XX, or None if it is large
    eigh: bool  # whether the square root of K_SS is computed by eigenvalues


def widen_embedding(Z: Tensor, slots: int) -> Tensor:
    """Pad the embedding with unused slots, whose features are zero. ``Z``: R x M x A."""
    return pad(Z, (0, 0, 0, max(slots - Z.shape[1], 0)))


def widen_precision(inverse: Tensor, slots: int, ridge: float) -> Tensor:
    """Pad V^{-1} with unused slots, which hold lambda on the diagonal of V."""
    more = max(slots - inverse.shape[1], 0)
    inverse = pad(inverse, (0, more, 0, more))
    inverse.diagonal(dim1=1, dim2=2)[:, inverse.shape[1] - more :] = 1 / ridge
    return inverse


def marked_trials(trials: Tensor) -> Tensor:
    """Return the indices of the marked trials; this reads the tensor's values. ``trials``: R bool.

    On the meta device, which has no values, all trials are returned.
    """
    if trials.device.type == "meta":
        return torch.arange(len(trials), device=trials.device)
    return trials.nonzero().squeeze(1)


@frozen_dataclass
class LazyBKB(Sketched):
    """BKB that samples a new dictionary only once 1 + sum_s s2_fb(x_s) reaches ``threshold``.

    s2_fb is the variance when the dictionary was last sampled, and the sum is over the rounds since then. For a fixed
    dictionary, 1 <= s2_fb(x) / s2_t(x) <= 1 + sum_s s2_fb(x_s) at every x. Therefore the variance has shrunk by less than
    the factor ``threshold`` whenever the dictionary is kept. With threshold 1, LazyBKB equals BKB bit for bit.

    Attributes:
        kernel, confidence, qbar, merge, variance, capacity, root: as for ``BKB``.
        threshold: C >= 1.
        refresh: number of rounds between recomputations of the posterior from the pull counts, which remove rounding drift.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import RKHS, Confidence, LazyBKB
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> learner = LazyBKB(problem.kernel, Confidence(noise=0.1, norm_bound=3.0), threshold=2.0)
        >>> trace = play(learner, problem, horizon=20, trials=2)
        >>> trace["report.resamplings"].shape  # how often each trial sampled a dictionary
        (2,)
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
        """Return the initial state, without a dictionary and with one unused slot. The horizon is not used."""
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
        """Add the observation by a rank-one update, O(A M), then resample where the criterion requires it.

        The trials whose variance may have shrunk too far sample a new dictionary and refit as BKB does.
        ``arm``, ``reward``: R.
        """
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        spent = state.spent + entry_of_arm(state.fallback, arm)
        # Departure: >= instead of >, so that threshold 1 also resamples after an arm of variance 0.
        # In the first round every trial resamples, because S_1 = {x_1} needs no criterion.
        expired = spent >= (self.threshold - 1 if state.tally.rounds else 0.0)
        inverse, mu, s2 = add_observation(state.Z, state.inverse, state.mu, state.s2, arm, reward)
        new = state._replace(n=pulls.n, ysum=pulls.ysum, mu=mu, s2=s2, inverse=inverse, spent=spent)
        rows = marked_trials(expired)
        # Only the expired trials sample and refit, O(A M^2) each; the others keep the rank-one update.
        if len(rows):
            # As in BKB, the probabilities use the variance before the new reward.
            mask = state.mask.index_put((rows,), self.sampled(state, pulls, draw, rows))
            new = self._renewed(new._replace(mask=mask), arms, rows)
            # The criterion compares later variances with the variance of this new dictionary.
            new = new._replace(
                fallback=new.fallback.index_put((rows,), new.s2[rows]),
                spent=new.spent.index_fill(0, rows, 0.0),
                resamplings=new.resamplings.index_add(0, rows, torch.ones_like(rows)),
            )
        # Trials without a new dictionary are recomputed from their pull counts regularly, against rounding drift.
        if (state.tally.rounds + 1) % self.refresh == 0:
            new = self._renewed(new, arms, marked_trials(~expired))
        return new._replace(tally=self.add_up(state, arm, pulls.n, new.s2))

    def _renewed(self, state: LazyState, arms: Tensor, rows: Tensor) -> LazyState:
        """Recompute the posterior of the trials ``rows`` from their dictionaries and pull counts."""
        if not len(rows):
            return state
        # If all trials resample, the tensors are replaced as a whole, without selecting and writing rows.
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
        if isinstance(state.Z, Rows):  # One tensor per trial: only the renewed trials are replaced.
            new["Z"] = split_trials(state.Z).put(rows, found.Z)
        elif every:
            new["Z"] = found.Z
        else:
            new["Z"] = widen_embedding(state.Z, slots).index_put(
                (rows,), widen_embedding(found.Z, slots)
            )
        return state._replace(**new)

    def report(self, state: LazyState) -> dict[str, Tensor]:
        """Report as ``BKB`` does, and how often the dictionary was sampled."""
        return super().report(state) | {"resamplings": state.resamplings}
