"""How large the dictionary is and how accurate its variance: probes, and statistics over trials.

Source: Calandriello et al. (2019), Theorem 3.1 and Section 4.
Letters: R trials, T rounds, A arms; m_t arms in the dictionary, U_t arms pulled so far, n pulls, d_eff effective
dimension, s2 scaled variance. Index t - 1 of a series is round t.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .. import stats
from ..core import Trace
from ..gp import Kernel, exact_posterior
from ..play import Round
from .probes import own
from .sketch import listed, points_at
from .theory import size_expected

RESAMPLES = 2000  # of the bootstrap
ALPHAS = (1.1, 1.5, 2.0, 3.0, 5.0)  # factors within which a variance may lie
OFTEN = 5         # pulls

# Probes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactDimension:
    """d_eff(t) = sum_i n_i s2_t(x_i) of the exact posterior after the round, R; O(U^3), from the counters alone."""

    kernel: Kernel
    ridge: float

    def __call__(self, seen: Round) -> Tensor:
        n = own(seen.after).n
        slots = listed(n > 0, max(int((n > 0).sum(1).max()), 1))
        count, points = n.gather(1, slots.index) * slots.valid, points_at(seen.context, slots.index)
        found = exact_posterior(self.kernel, points, count, torch.zeros_like(count), self.ridge, points)
        return (count * found.variance).sum(1) / self.ridge


def entered(seen: Round) -> Tensor:
    """Suboptimal arms after the round, R x 6: how many were pulled at least ``OFTEN`` times, how many of them are in the
    dictionary, their n s2 together; then the same of those pulled once."""
    after, world = own(seen.after), seen.world
    worse = world.means < world.best.unsqueeze(1)
    groups = [worse & (after.n >= OFTEN), worse & (after.n == 1)]
    return torch.stack([(group * of).sum(1) for group in groups for of in (1.0, after.mask, after.n * after.s2)], 1)


# Statistics over trials -----------------------------------------------------------------------------------


def accuracy(ratio: np.ndarray) -> dict[str, list[float]]:
    """Shares of rounds, and of trials in all their rounds, whose worst ratio of variances lies within each of ``ALPHAS``. ``ratio``: R x T."""
    return {
        "rounds": [float((ratio <= alpha).mean()) for alpha in ALPHAS],
        "trials": [float((ratio.max(1) <= alpha).mean()) for alpha in ALPHAS],
    }


def falls(shares) -> int:
    """Steps at which a sequence falls."""
    return int((np.diff(np.asarray(shares, float)) < 0).sum())


def expected_share(trace: Trace, qbar: float, eps: float = 0.5) -> np.ndarray:
    """Mean over rounds of the expected pulls in the dictionary / (alpha qbar d_eff(t - 1) + 1), R.

    ``trace``: with "expected size" and "dimension" of every round, R x T each.
    """
    before = np.pad(trace["dimension"][:, :-1], ((0, 0), (1, 0)))  # d_eff(0) = 0
    return (trace["expected size"] / size_expected(before, qbar, eps)).mean(1)


def excess(size: np.ndarray, unique: np.ndarray, drawn: np.ndarray) -> int:
    """Rounds, over all trials, in which the dictionary has more arms than were pulled, or than pulls were drawn. R x T each."""
    return int((size > np.minimum(unique, drawn)).sum())


def often_minus_once(counts: np.ndarray) -> stats.Interval:
    """Share in the dictionary among arms that were pulled often minus among those pulled once. ``counts``: R x 6, see ``entered``.

    Trials are resampled, their arms counted together; resamples without such arms are left out.

    Raises:
        ValueError: no arm was pulled often, or none once.
    """
    if not (counts[:, 0].any() and counts[:, 3].any()):
        raise ValueError(f"counts={counts.sum(0).tolist()}; allowed: some arms pulled often, some pulled once")
    share = lambda mean: mean[..., 1] / mean[..., 0] - mean[..., 4] / mean[..., 3]
    return stats.bootstrap(counts, share, of="difference of shares", resamples=RESAMPLES)
