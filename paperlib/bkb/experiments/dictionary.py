"""How large the dictionary is and how accurate its variance: statistics over trials.

Source: Calandriello et al. (2019), Theorem 3.1 and Section 4.
Letters: R trials, T rounds; d_eff effective dimension. Index t - 1 of a series is round t.
"""

import numpy as np

from ... import stats
from ...core.trace import Trace
from ..theory.constants import size_expected
from .regret import RESAMPLES

ALPHAS = (1.1, 1.5, 2.0, 3.0, 5.0)  # factors within which a variance may lie


def accuracy(ratio: np.ndarray) -> dict[str, list[float]]:
    """Shares whose worst ratio of variances lies within each of ``ALPHAS``. ``ratio``: R x T.

    Returns:
        "rounds", shares of rounds, and "trials", of trials in all their rounds.
    """
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
    """Rounds of all trials in which the dictionary has more arms than were pulled, or drawn.

    Drawn are pulls, not arms. R x T each.
    """
    return int((size > np.minimum(unique, drawn)).sum())


def often_minus_once(counts: np.ndarray) -> stats.Interval:
    """Share in the dictionary among arms pulled often minus that among those pulled once.

    Trials are resampled, their arms counted together; resamples without such arms are left out.
    ``counts``: R x 6, see the probe ``entered``.

    Raises:
        ValueError: no arm was pulled often, or none once.
    """
    if not (counts[:, 0].any() and counts[:, 3].any()):
        raise ValueError(
            f"counts={counts.sum(0).tolist()}; allowed: some arms pulled often, some pulled once"
        )
    share = lambda mean: mean[..., 1] / mean[..., 0] - mean[..., 4] / mean[..., 3]
    return stats.bootstrap(counts, share, of="difference of shares", resamples=RESAMPLES)
