"""Growth of the regret with the horizon and with the dimension, measured and as stated in Table 1.

Source: Chen, Zhang & Karbasi (2019), Table 1, with attributions; ``since`` is our addition.
Letters: R trials, T' horizons, n dimensions. Each column of a regret, R x T', is a separate run.
"""

from typing import NamedTuple

import numpy as np

from paperlib import stats

from .losses import RESAMPLES

DOUBLINGS = 3  # number of doublings of the horizon in the fit of a slope


def local_slopes(regret: np.ndarray) -> list[stats.Interval]:
    """Return log2(R_2T / R_T) of the mean regrets, one interval per doubling.

    ``regret``: R x T'. Each horizon is twice the previous one, and trials share their random draws across all horizons.
    """
    slope = lambda mean: np.log2(mean[..., 1] / mean[..., 0])
    return [
        stats.bootstrap(regret[:, i : i + 2], slope, of="local slope", resamples=RESAMPLES)
        for i in range(regret.shape[1] - 1)
    ]


def _fitted(mean: np.ndarray) -> np.ndarray:
    """Return the least-squares log-log slope over doubling horizons. ``mean``: ... x (``DOUBLINGS`` + 1)."""
    return stats.slopes(np.arange(DOUBLINGS + 1), np.log2(mean))


def falling(regret: np.ndarray) -> stats.Interval:
    """Return the log-log slope of mean regret over the last doublings, minus the slope over equally many doublings before.

    ``regret``: R x T', as in ``local_slopes``.
    """
    return stats.bootstrap(
        regret[:, -2 * DOUBLINGS - 1 :],
        lambda mean: _fitted(mean[..., DOUBLINGS:]) - _fitted(mean[..., : DOUBLINGS + 1]),
        of=f"log-log slope over {DOUBLINGS} doublings minus slope over the {DOUBLINGS} before",
        resamples=RESAMPLES,
    )


def doubling_slope(horizons: np.ndarray, regret: np.ndarray, last: int = 6) -> stats.Interval:
    """Return the log-log slope of mean regret over the last doublings. ``regret``: R x T'."""
    return stats.growth(
        horizons, regret, first=np.asarray(horizons)[-last - 1 :][0], resamples=RESAMPLES
    )


def exponent_above(regret: np.ndarray, other: np.ndarray) -> stats.Interval:
    """Return the log-log slope of mean regret over the last doublings, minus the slope of another learner.

    The slow convergence of both slopes to their exponents mostly cancels in the difference. Therefore exponents that differ
    by 1/20 can be distinguished at horizons where each slope alone is still above its exponent.

    ``regret``, ``other``: R x T' each, as in ``local_slopes``, with trials that share their random draws.
    """
    last = slice(-DOUBLINGS - 1, None)
    return stats.bootstrap(
        np.concatenate([regret[:, last], other[:, last]], 1),
        lambda mean: _fitted(mean[..., : DOUBLINGS + 1]) - _fitted(mean[..., DOUBLINGS + 1 :]),
        of=f"difference of the log-log slopes over {DOUBLINGS} doublings",
        resamples=RESAMPLES,
    )


def line_residual(dims: list[int], regret: np.ndarray) -> stats.Interval:
    """Return the largest relative residual of a straight line in n fitted to the mean regrets.

    ``regret``: R x len(dims).
    """
    design = np.column_stack([np.ones(len(dims)), dims])
    project = lambda mean: mean @ (design @ np.linalg.pinv(design)).T
    return stats.bootstrap(
        regret,
        lambda mean: np.abs(project(mean) / mean - 1).max(-1),
        of="largest relative residual",
        resamples=RESAMPLES,
    )


class Kind(NamedTuple):
    """A class of algorithms: one row of Table 1."""

    feedback: str  # "full information" or "bandit"
    projection_free: bool
    regret: str  # as a formula
    source: str
    note: str = ""
    since: str = ""  # later result, published after the paper


TABLE_1 = (
    Kind("full information", False, "O(T^{1/2})", "Zinkevich (2003)"),
    Kind(
        "bandit",
        False,
        "O(T^{3/4})",
        "Flaxman, Kalai & McMahan (2005)",
        "for Lipschitz losses; O(T^{5/6}) otherwise",
    ),
    Kind(
        "bandit",
        False,
        "O~(T^{1/2})",
        "Bubeck et al. (2015, 2017), Hazan & Li (2016)",
        "up to logarithms",
    ),
    Kind("full information", True, "O(T^{3/4})", "Hazan & Kale (2012)"),
    Kind(
        "bandit",
        True,
        "O(T^{4/5})",
        "Chen, Zhang & Karbasi (2019)",
        "this paper",
        "O(T^{3/4}) expected regret with O(T) calls of the linear oracle (Garber & Kretzu, 2020)",
    ),
)
