"""Growth of the regret with the horizon and with the dimension.

Letters: R trials, T' horizons, n dimensions. Each column of a regret, R x T', is a separate run.
"""

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


def doubling_slope(horizons: np.ndarray, regret: np.ndarray, last: int = 6) -> stats.Interval:
    """Return the log-log slope of mean regret over the last doublings. ``regret``: R x T'."""
    return stats.growth(
        horizons, regret, first=np.asarray(horizons)[-last - 1 :][0], resamples=RESAMPLES
    )


def exponent_above(
    regret: np.ndarray,
    other: np.ndarray,
    of: str = f"difference of the log-log slopes over {DOUBLINGS} doublings",
) -> stats.Interval:
    """Return the log-log slope of mean regret over the last doublings, minus the slope of another regret.

    The slow convergence of both slopes to their exponents mostly cancels in the difference. Therefore exponents that differ
    by 1/20 can be distinguished at horizons where each slope alone is still above its exponent.

    Args:
        regret, other: R x T' each, as in ``local_slopes``, with trials that share their random draws; ``other`` is another
            learner's regret, or the regret at earlier horizons.
        of: name of the statistic.
    """
    last = slice(-DOUBLINGS - 1, None)
    return stats.bootstrap(
        np.concatenate([regret[:, last], other[:, last]], 1),
        lambda mean: _fitted(mean[..., : DOUBLINGS + 1]) - _fitted(mean[..., DOUBLINGS + 1 :]),
        of=of,
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
