"""How regret grows with the horizon and with the dimension.

Letters: R trials, T' horizons, n dimensions. Each column of a regret, R x T', is a run of its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paperlib import stats

from .losses import RESAMPLES


def _check_doubling(horizons: Sequence[int], regret: np.ndarray, least: int) -> None:
    T = np.asarray(horizons)
    if T.ndim != 1 or len(T) < least or (T[1:] != 2 * T[:-1]).any() or regret.shape[1:] != T.shape:
        many = f"at least {least}, " if least > 2 else ""
        raise ValueError(
            f"horizons={list(horizons)}, regret: shape {regret.shape}; allowed: {many}each twice the one before, a column each"
        )


def local_slopes(horizons: Sequence[int], regret: np.ndarray) -> list[stats.Interval]:
    """log2(R_2T / R_T) of the mean regrets, one for each doubling.

    ``regret``: R x T', trials that shared their draws over all horizons.

    Raises:
        ValueError: horizons that do not double, or another number of columns.
    """
    _check_doubling(horizons, regret, 2)
    slope = lambda mean: np.log2(mean[..., 1] / mean[..., 0])
    return [
        stats.bootstrap(regret[:, i : i + 2], slope, of="local slope", resamples=RESAMPLES)
        for i in range(len(horizons) - 1)
    ]


def falling(horizons: Sequence[int], regret: np.ndarray, doublings: int = 3) -> stats.Interval:
    """Log-log slope of mean regret over the last doublings less that over as many before.

    ``regret``: R x T', as in ``local_slopes``.

    Raises:
        ValueError: horizons that do not double, too few of them, or another number of columns.
    """
    _check_doubling(horizons, regret, 2 * doublings + 1)
    x = np.arange(doublings + 1) - doublings / 2
    slope = lambda mean: np.log2(mean) @ x / (x @ x)
    difference = lambda mean: slope(mean[..., doublings:]) - slope(mean[..., : doublings + 1])
    return stats.bootstrap(
        regret[:, -2 * doublings - 1 :],
        difference,
        of=f"log-log slope over {doublings} doublings less that over {doublings} before",
        resamples=RESAMPLES,
    )


def doubling_slope(horizons: np.ndarray, regret: np.ndarray, last: int = 6) -> stats.Interval:
    """Log-log slope of mean regret over the last doublings. ``regret``: R x T'."""
    return stats.growth(
        horizons, regret, first=np.asarray(horizons)[-last - 1 :][0], resamples=RESAMPLES
    )


def exponent_above(
    horizons: Sequence[int], regret: np.ndarray, other: np.ndarray, doublings: int = 3
) -> stats.Interval:
    """Log-log slope of mean regret over the last doublings less that of another learner.

    What slows both towards their exponents mostly cancels, so that orders a twentieth apart are
    told apart at horizons at which each slope alone is still above its own.

    Args:
        horizons: T', each twice the one before.
        regret, other: R x T' each, trials that shared their draws.

    Raises:
        ValueError: horizons that do not double, too few of them, or another number of columns.
    """
    for values in (regret, other):
        _check_doubling(horizons, values, doublings + 1)
    x = np.arange(doublings + 1) - doublings / 2
    slope = lambda mean: np.log2(mean) @ x / (x @ x)
    last = slice(-doublings - 1, None)
    return stats.bootstrap(
        np.concatenate([regret[:, last], other[:, last]], 1),
        lambda mean: slope(mean[..., : doublings + 1]) - slope(mean[..., doublings + 1 :]),
        of=f"log-log slope over {doublings} doublings less the other's",
        resamples=RESAMPLES,
    )


class Line(NamedTuple):
    """A straight line in the dimension."""

    intercept: float
    slope: float

    def at(self, dim):
        """Its height. ``dim``: a number or an array."""
        return self.intercept + self.slope * np.asarray(dim, float)


def line(dims: Sequence[int], regret: np.ndarray) -> Line:
    """Least squares through the mean regrets. ``regret``: R x len(dims).

    Raises:
        ValueError: fewer than two dimensions, or another number of columns.
    """
    if len(set(dims)) < 2 or regret.shape[1:] != (len(dims),):
        raise ValueError(
            f"dims={list(dims)}, regret: shape {regret.shape}; allowed: two dimensions or more, a column each"
        )
    slope, intercept = np.polyfit(np.asarray(dims, float), regret.mean(0), 1)
    return Line(float(intercept), float(slope))


def line_residual(dims: list[int], regret: np.ndarray) -> stats.Interval:
    """Largest relative residual of a straight line in n through the mean regrets.

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
