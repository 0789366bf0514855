"""Statements about Algorithm 1: who plays, which windows there are, and when the tests must have failed.

All take series of every round of a run; "windows", "shares" and "runs" are about coins, and ask for one without restarts.
What an order plays is compared with its expectation at five standard errors that are known, not estimated.
Source: Wang (2025), Algorithm 1; Wei & Luo (2021).
Letters: R trials, T rounds, O orders m = 0, ..., n of windows of length 2^m in a block of 2^n rounds, p_m as in ``shares``.
"""

import math
from typing import Any

import numpy as np
from scipy.stats import binom

from paperlib.checks import Check, statement
from paperlib.nsbco.theory.constants import PAPER, ROUNDING

from . import shares as numbers
from .lemmas import series

SCHEDULE = f"{PAPER}, Algorithm 1"
ERRORS = 5.0  # standard errors
RARE = 1e-6  # failure probability of a two-sided binomial interval


def block(n: int) -> slice:
    """The rounds of the block of order n in a run without restarts."""
    return slice(2**n - 1, 2 ** (n + 1) - 1)


def blocks(horizon: int) -> range:
    """Orders of the blocks that T rounds complete."""
    return range((horizon + 1).bit_length() - 1)


def _offsets(horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Order of the block of each round and rounds of it before, T each, without restarts."""
    t = np.arange(horizon)
    n = np.array([(i + 1).bit_length() - 1 for i in range(horizon)])
    return n, t - (2**n - 1)


@statement("Algorithm 1, lowest order", f"{SCHEDULE}, lines 4 and 6")
def lowest_order(order: Any, live: Any) -> Check:
    """The shortest scheduled window that covers the round plays, a window is scheduled as a whole, and the block's own always is.

    Args:
        order: of the thread that played, R x T.
        live: whether the window of order m that covers the round is scheduled, R x T x O; a run without restarts.
    """
    live, order = np.asarray(live, bool), np.asarray(order)
    T, O = live.shape[1:]
    n, before = _offsets(T)
    m = np.arange(O)
    within = (before[:, None] & ((1 << m) - 1)) != 0  # this window began earlier
    same = live[:, 1:] == live[:, :-1]
    broken = (~same & within[1:]).sum(2)
    wrong = (order != live.argmax(2)) | ~np.take_along_axis(live, n[None, :, None], 2)[..., 0]
    wrong = wrong.astype(float)
    wrong[:, 1:] += broken
    formula = "windows broken off, and rounds in which another order plays: 0"
    return lowest_order.statement.check(formula, {"T": T}, wrong, 0.0)


@statement("Algorithm 1, windows", f"{SCHEDULE}, line 4")
def windows(live: Any) -> Check:
    """A window of order m in a block of order n is scheduled with probability rho(2^n) / rho(2^m) = 2^{-(n-m)/2}, apart from all others.

    Their number over all trials is binomial: within its quantiles, for all pairs but with probability 1e-6. A probability
    without the root is flagged. ``live``: as for ``lowest_order``.
    """
    live = np.asarray(live, bool)
    R, T = live.shape[:2]
    pairs = [(n, m) for n in blocks(T) for m in range(n + 1)]
    found, least, most = [], [], []
    for n, m in pairs:
        N, p = R * 2 ** (n - m), numbers.chances(n)[m]
        found.append(int(live[:, block(n)][:, :: 2**m, m].sum()))
        ends = binom.ppf([RARE / 2 / len(pairs), 1 - RARE / 2 / len(pairs)], N, p)
        least.append(ends[0] if p < 1 else N)
        most.append(ends[1] if p < 1 else N)
    found = np.array(found, float)
    return windows.statement.check(
        "quantile <= scheduled windows <= quantile, expected 2^{(n-m)/2} a block",
        {"trials": R, "T": T, "pairs (n, m)": len(pairs)},
        np.stack([found, -found], 1),
        np.stack([most, -np.array(least, float)], 1),
    )


@statement("Algorithm 1, shares", "ours, from Algorithm 1")
def shares(order: Any) -> Check:
    """Order m plays the share p_m prod_{m' < m} (1 - p_m') of a block's rounds: the mean over trials, up to five standard errors, in every block.

    ``order``: R x T, a run without restarts.
    """
    order = np.asarray(order)
    R, T = order.shape
    off, error = [], []
    for n in blocks(T):
        here = order[:, block(n)]
        mean = np.array([(here == m).mean() for m in range(n + 1)])
        off.append(np.abs(mean - numbers.shares(n)))
        error.append(ERRORS * numbers.share_deviations(n) / math.sqrt(R) + 1e-12)
    return shares.statement.check(
        "|mean share - p_m prod (1 - p_m')| <= 5 standard errors",
        {"trials": R, "T": T},
        np.concatenate(off),
        np.concatenate(error),
    )


@statement("Algorithm 1, runs", "ours, from Algorithm 1")
def runs(order: Any) -> Check:
    """A block of 2^n rounds has 1 + sum_v 2^{n-v-1} (1 - prod_{m <= v} (1 - p_m)^2) = O(2^{n/2}) spells of one thread: the mean over trials, up to five standard errors.

    ``order``: R x T, a run without restarts; at least 20 trials, of which the error is estimated.
    """
    order = np.asarray(order)
    R, T = order.shape
    if R < 20:
        raise ValueError(f"order: {R} trials; allowed: at least 20, of which an error is estimated")
    _, before = _offsets(T)
    begins = (before & ((1 << order) - 1)) == 0
    begins[:, 1:] |= order[:, 1:] != order[:, :-1]
    counts = np.stack([begins[:, block(n)].sum(1) for n in blocks(T)], 1)
    error = counts.std(0, ddof=1) / math.sqrt(R)
    return runs.statement.check(
        "|mean number of runs - expectation| <= 5 standard errors",
        {"trials": R, "T": T, "at most": [numbers.runs_most(n) for n in blocks(T)]},
        np.abs(counts.mean(0) - [numbers.runs(n) for n in blocks(T)]),
        ERRORS * error + 1e-12,
    )


@statement("Algorithm 1, threads", f"{SCHEDULE}, lines 4 and 6")
def threads(y: Any, rbar: Any, order: Any, bonus: float, clip: bool = True) -> Check:
    """The thread that plays knows what was heard while it played in its window, and nothing else.

    r-bar_t is the mean of those answers + b_0 / sqrt(their number), at most 1 with ``clip``. A thread that forgets when it
    pauses, that hears what another played for, or that goes on in the next window, is flagged.

    Args:
        y, rbar: R x T, a run without restarts.
        order: of the thread that played, R x T.
        bonus: b_0.
        clip: as the base's.
    """
    (y, rbar), order = series(y=y, rbar=rbar), np.asarray(order)
    R, T = order.shape
    _, before = _offsets(T)
    so_far = lambda x: np.concatenate([np.zeros((R, 1)), x.cumsum(1)], 1)
    known = np.zeros((R, T))
    for m in range(int(order.max()) + 1):
        mine = order == m
        count, total = so_far(1.0 * mine), so_far(mine * y)
        opened = np.arange(T) - (before & ((1 << m) - 1))  # the round in which this window began
        own = np.maximum(count[:, 1:] - count[:, opened], 1.0)
        bar = (total[:, 1:] - total[:, opened]) / own + bonus / np.sqrt(own)
        known[mine] = bar[mine]
    known = np.minimum(known, 1.0) if clip else known
    return threads.statement.check(
        "|r-bar_t - (mean of its own y + b_0 / sqrt(its rounds))| <= 1e-9",
        {"b_0": bonus, "T": T},
        np.abs(rbar - known),
        ROUNDING,
    )


@statement("Algorithm 1, tests", f"{SCHEDULE}, Tests 1 and 2")
def tests(y: Any, rbar: Any, live: Any, restarts: Any, A1: float, A2: float) -> Check:
    """The run restarts in exactly the rounds in which a window's mean is at least U_t + A_1 / sqrt(2^m), or the block's mean r-bar - y at least A_2 / sqrt(t').

    Everything but the coins is computed anew; a sum within 1e-9 of its threshold is left to rounding.

    Args:
        y, rbar: R x T.
        live: R x T x O, as it was in the round.
        restarts: how many there were up to the round, R x T.
        A1, A2: thresholds at length 1, logarithms included: for the printed ones 9 rho-hat(1) and 3 rho-hat(1).
    """
    y, rbar, restarts = series(y=y, rbar=rbar, restarts=restarts)
    live = np.asarray(live, bool)
    (R, T), m = y.shape, np.arange(live.shape[2])
    failed = np.diff(restarts, axis=1, prepend=0) > 0
    n, before, total, excess = (np.zeros(R, int), np.zeros(R, int), np.zeros(R), np.zeros(R))
    U, opened, wrong = np.full(R, np.inf), np.zeros((R, len(m))), np.zeros((R, T))
    for t in range(T):
        opened = np.where((before[:, None] & ((1 << m) - 1)) == 0, total[:, None], opened)
        U = np.minimum(U, rbar[:, t])
        total, excess, before = total + y[:, t], excess + rbar[:, t] - y[:, t], before + 1
        ends = live[:, t] & ((before[:, None] & ((1 << m) - 1)) == 0)
        over = (total[:, None] - opened) / 2.0**m - U[:, None] - A1 / 2.0 ** (m / 2)
        margin = np.maximum(
            np.where(ends, over, -np.inf).max(1), excess / before - A2 / np.sqrt(before)
        )
        wrong[:, t] = (failed[:, t] != (margin >= 0)) & (np.abs(margin) > 1e-9)
        full = before == 2**n
        n = np.where(failed[:, t], 0, n + full)
        over = failed[:, t] | full
        before, total, excess = (
            np.where(over, 0, before),
            np.where(over, 0, total),
            np.where(over, 0, excess),
        )
        U = np.where(over, np.inf, U)
    formula = "rounds that restart without a failed test, or do not with one: 0"
    return tests.statement.check(
        formula, {"A_1": A1, "A_2": A2, "restarts": int(failed.sum())}, wrong, 0.0
    )
