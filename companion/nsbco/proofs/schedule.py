"""Algorithm 1: its schedule in numbers, when a test can fail at all, and statements along its runs.

In a block of order n, 2^n rounds, a window of order m <= n is scheduled with probability p_m = 2^{-(n-m)/2}, independently of
all others; the shortest that covers a round plays. All of it follows from rho(t) = c / sqrt(t), whatever c is.
The statements take series of every round of a run. "windows", "shares" and "runs" are about the random schedule, and ask for a
run without restarts. What an order plays is compared with its expectation at five standard errors that are known, not estimated.
Source: Wang (2025), Algorithm 1, Lemma 3.1, Theorem 3.4; Wei & Luo (2021).
Letters: R trials, T rounds, O orders m = 0, ..., n of windows of length 2^m in a block of 2^n rounds; else as in ``constants``.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

from paperlib.checks import Check, statement
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import PAPER, ROUNDING, TRIVIAL, Weak, first_horizon

from .ascent import series

SCHEDULE = f"{PAPER}, Algorithm 1"
ERRORS = 5.0  # standard errors
RARE = 1e-6  # failure probability of a two-sided binomial interval
TEST_1, TEST_2 = 9, 3  # multiples of rho-hat
UNITS = theory.literal()

# The schedule in numbers ----------------------------------------------------------------------------------


def window_chances(n: int) -> np.ndarray:
    """Return p_0, ..., p_n."""
    return 2.0 ** (-(n - np.arange(n + 1)) / 2)


def expected_shares(n: int) -> np.ndarray:
    """Return the share of a block's rounds that order m = 0, ..., n plays: p_m prod_{m' < m} (1 - p_m'). Sums to 1."""
    p = window_chances(n)
    return p * np.cumprod(np.append(1.0, 1 - p[:-1]))


def share_deviations(n: int) -> np.ndarray:
    """Return the standard deviation of those shares in one block, n + 1 numbers.

    Two rounds whose shortest common window has order k share the windows from order k on and no others. Both are
    played by order m with probability p_m prod_{m' < m} (1 - p_m') prod_{m' < min(k, m)} (1 - p_m') for k <= m, and
    independently of each other for k > m.
    """
    p, share = window_chances(n), expected_shares(n)
    miss = np.cumprod(np.append(1.0, 1 - p[:-1]))  # no order below k
    # share of rounds that are so close: k = 0, 1, ..., n
    pairs = np.append(1.0, 2.0 ** np.arange(n)) / 2.0**n
    together = [
        sum(pairs[k] * (share[m] * miss[k] - share[m] ** 2) for k in range(m + 1))
        for m in range(n + 1)
    ]
    return np.sqrt(np.maximum(together, 0.0))


def expected_runs(n: int) -> float:
    """Return the expected number of runs of a block, spells that one thread plays without a break.

    Between two rounds where windows up to order v end and begin, 2^{n-v-1} places for v < n, the thread stays if none of
    them is scheduled before and after.
    """
    stays = np.cumprod(1 - window_chances(n)) ** 2
    return float(1 + sum(2.0 ** (n - v - 1) * (1 - stays[v]) for v in range(n)))


def most_runs(n: int) -> float:
    """Return 1 + 2 / (1 - 2^{-1/2}) 2^{n/2}, at least ``expected_runs``: of the order of the root of the block."""
    return 1 + 2 / (1 - 0.5**0.5) * 2 ** (n / 2)


# When a test can fail, and from when on a bound informs: in the paper's units, for d = 2 ------------------

# Constants of Definition 2.1 by horizon: as printed, and the corrected b_0 with the printed ratios.
WEAK = {
    "printed": lambda T: theory.weak_printed(UNITS, T),
    "corrected": lambda T: theory.practical(float(theory.bonus_corrected(UNITS, T))),
}
BONUSES = {  # b_0 of dimension and horizon
    "printed": lambda d, T: 2 * sum(theory.kappa_0(theory.literal(d), T)),
    "corrected": lambda d, T: float(theory.bonus_corrected(theory.literal(d), T)),
    "numeric": lambda d, T: theory.bonus_numeric(theory.literal(d), T),
}


def threshold(weak: Callable[[float], Weak], multiple: int = TEST_1) -> Callable[[float], float]:
    """Return a test's multiple of rho-hat(T), its threshold for the longest window or block, as a function of T.

    Args:
        weak: constants at horizon T.
        multiple: ``TEST_1`` or ``TEST_2``.
    """
    return lambda T: multiple * float(weak(T).hat(T, T))


def test_1_thresholds() -> dict[str, Callable[[float], float]]:
    """Return Test 1's threshold at the longest window, by constants: printed, corrected, tight and practical."""
    return {
        "printed": threshold(WEAK["printed"]),
        "corrected": threshold(WEAK["corrected"]),
        "tight, b_0 = 2": threshold(lambda T: theory.practical(2.0)),
        "tight, b_0 = 1": threshold(lambda T: theory.practical(1.0)),
        "practical, A_1 = 1": lambda T: T**-0.5,
    }


def first_firing(gap: float = TRIVIAL) -> dict[str, float]:
    """Return the first T at which a window's mean can be so far above U that Test 1 fails: ``gap`` at most, of all changes 2."""
    return {name: first_horizon(value, gap) for name, value in test_1_thresholds().items()}


def first_of_any(weak: Callable[[float], Weak]) -> dict[str, float]:
    """Return the first T at which each test can fail, the earlier one first.

    Test 2 has the smaller multiple of rho-hat, therefore it can fail earlier than Test 1, whose T is that of ``first_firing``.
    """
    multiples = {"Test 2": TEST_2, "Test 1": TEST_1}
    return {name: first_horizon(threshold(weak, x), TRIVIAL) for name, x in multiples.items()}


def first_informative() -> dict[str, float]:
    """Return the first T at which b_0 / sqrt(T) < 2, so that r-bar_T says more than that rewards are at most 1."""
    return {
        name: first_horizon(lambda T: bonus(2, T) / math.sqrt(T), TRIVIAL)
        for name, bonus in BONUSES.items()
    }


def first_regret() -> dict[str, float]:
    """Return the first T at which C_1 V^{1/3} T^{2/3} < 2 T with V = 1, logarithms left out, by the power of lambda and the constants."""
    cases = {
        "printed constants, lambda^{1/3}": (theory.weak_printed, theory.CORRECTED),
        "printed constants, lambda^{2/3}": (theory.weak_printed, theory.PRINTED),
        "corrected constants, lambda^{1/3}": (theory.weak_corrected, theory.CORRECTED),
    }
    constant = lambda weak, power, T: theory.theorem_3_4(weak(UNITS, T), power).C1
    return {
        name: first_horizon(lambda T: constant(*case, T) * (1 / T) ** (1 / 3), TRIVIAL)
        for name, case in cases.items()
    }


def dimension_power(power: float) -> float:
    """Return the power of d in C_1 where c_1 and lambda grow as d^{3/2}: 2 as printed, 3/2 corrected (E10)."""
    return 1.5 * (2 / 3 + power)


# Statements along runs ------------------------------------------------------------------------------------


def block(n: int) -> slice:
    """Return the rounds of the block of order n in a run without restarts."""
    return slice(2**n - 1, 2 ** (n + 1) - 1)


def blocks(horizon: int) -> range:
    """Return the orders of the blocks that T rounds complete."""
    return range((horizon + 1).bit_length() - 1)


def _offsets(horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the block of each round and the rounds of it before, T each, without restarts."""
    n = np.array([(t + 1).bit_length() - 1 for t in range(horizon)])
    return n, np.arange(horizon) - (2**n - 1)


@statement("Algorithm 1, lowest order", f"{SCHEDULE}, lines 4 and 6")
def lowest_order(order: np.ndarray, live: np.ndarray) -> Check:
    """The shortest scheduled window that covers the round plays, a window is scheduled as a whole, and the block's own always is.

    Args:
        order: of the thread that played, R x T.
        live: whether the window of order m that covers the round is scheduled, R x T x O; a run without restarts.
    """
    T, O = live.shape[1:]
    n, before = _offsets(T)
    within = (before[:, None] & ((1 << np.arange(O)) - 1)) != 0  # this window began earlier
    changed = live[:, 1:] != live[:, :-1]
    own = np.take_along_axis(live, n[None, :, None], 2)[..., 0]
    wrong = ((order != live.argmax(2)) | ~own).astype(float)
    wrong[:, 1:] += (changed & within[1:]).sum(2)  # windows that break off
    return lowest_order.statement.check(
        "windows broken off, and rounds in which another order plays: 0", {"T": T}, wrong, 0.0
    )


@statement("Algorithm 1, windows", f"{SCHEDULE}, line 4")
def windows(live: np.ndarray) -> Check:
    """A window of order m in a block of order n is scheduled with probability rho(2^n) / rho(2^m) = 2^{-(n-m)/2}, apart from all others.

    Their number over all trials is binomial: within its quantiles, for all pairs but with probability 1e-6. A probability
    without the root is flagged. ``live``: as for ``lowest_order``.
    """
    R, T = live.shape[:2]
    pairs = [(n, m) for n in blocks(T) for m in range(n + 1)]
    found = np.array([live[:, block(n)][:, :: 2**m, m].sum() for n, m in pairs], float)
    places = np.array([R * 2 ** (n - m) for n, m in pairs])
    p = np.array([window_chances(n)[m] for n, m in pairs])
    tail = RARE / 2 / len(pairs)
    least, most = np.where(p < 1, binom.ppf([[tail], [1 - tail]], places, p), places)
    return windows.statement.check(
        "quantile <= scheduled windows <= quantile, expected 2^{(n-m)/2} a block",
        {"trials": R, "T": T, "pairs (n, m)": len(pairs)},
        np.stack([found, -found], 1),
        np.stack([most, -least], 1),
    )


@statement("Algorithm 1, shares", "ours, from Algorithm 1")
def shares(order: np.ndarray) -> Check:
    """Order m plays the share p_m prod_{m' < m} (1 - p_m') of a block's rounds: the mean over trials, up to five standard errors, in every block.

    ``order``: R x T, a run without restarts.
    """
    R, T = order.shape
    mean = lambda n: np.array([(order[:, block(n)] == m).mean() for m in range(n + 1)])
    off = [np.abs(mean(n) - expected_shares(n)) for n in blocks(T)]
    error = [ERRORS * share_deviations(n) / math.sqrt(R) + 1e-12 for n in blocks(T)]
    return shares.statement.check(
        "|mean share - p_m prod (1 - p_m')| <= 5 standard errors",
        {"trials": R, "T": T},
        np.concatenate(off),
        np.concatenate(error),
    )


@statement("Algorithm 1, runs", "ours, from Algorithm 1")
def runs(order: np.ndarray) -> Check:
    """A block of 2^n rounds has 1 + sum_v 2^{n-v-1} (1 - prod_{m <= v} (1 - p_m)^2) = O(2^{n/2}) spells of one thread: the mean over trials, up to five standard errors.

    ``order``: R x T, a run without restarts; at least 20 trials, of which the error is estimated.
    """
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
        {"trials": R, "T": T, "at most": [most_runs(n) for n in blocks(T)]},
        np.abs(counts.mean(0) - [expected_runs(n) for n in blocks(T)]),
        ERRORS * error + 1e-12,
    )


def own_estimates(
    y: np.ndarray, order: np.ndarray, since: np.ndarray, bonus: float, clip: bool
) -> np.ndarray:
    """Return r-bar of the thread that plays, R x T, from the rewards of its order alone.

    Args:
        y, order: rewards, and order of the thread that played, R x T.
        since: the round from which on the thread counts, R x T.
        bonus, clip: as of ``threads``.
    """
    so_far = lambda x: np.pad(x.cumsum(1), ((0, 0), (1, 0)))
    rbar = np.zeros(order.shape)
    for m in range(int(order.max()) + 1):
        mine = order == m
        count, total = (
            x[:, 1:] - np.take_along_axis(x, since, 1)
            for x in (so_far(1.0 * mine), so_far(mine * y))
        )
        own = np.maximum(count, 1.0)
        rbar[mine] = (total / own + bonus / np.sqrt(own))[mine]
    return np.minimum(rbar, 1.0) if clip else rbar


@statement("Algorithm 1, threads", f"{SCHEDULE}, lines 4 and 6")
def threads(y: Any, rbar: Any, order: np.ndarray, bonus: float, clip: bool = True) -> Check:
    """The thread that plays knows what was heard while it played in its window, and nothing else.

    r-bar_t is the mean of those answers + b_0 / sqrt(their number), at most 1 with ``clip``. A thread that forgets when it
    pauses, that hears what another played for, or that goes on in the next window, is flagged.

    Args:
        y, rbar: R x T, a run without restarts.
        order: of the thread that played, R x T.
        bonus: b_0.
        clip: as the base's.
    """
    y, rbar = series(y=y, rbar=rbar)
    T = order.shape[1]
    _, before = _offsets(T)
    opened = np.arange(T) - (before & ((1 << order) - 1))  # the round in which its window began
    return threads.statement.check(
        "|r-bar_t - (mean of its own y + b_0 / sqrt(its rounds))| <= 1e-9",
        {"b_0": bonus, "T": T},
        np.abs(rbar - own_estimates(y, order, opened, bonus, clip)),
        ROUNDING,
    )


@statement("Algorithm 1, tests", f"{SCHEDULE}, Tests 1 and 2")
def tests(y: Any, rbar: Any, live: np.ndarray, restarts: Any, A1: float, A2: float) -> Check:
    """The run restarts in exactly the rounds in which a window's mean is at least U_t + A_1 / sqrt(2^m), or the block's mean r-bar - y at least A_2 / sqrt(t').

    Everything but the coins is computed anew; a sum within 1e-9 of its threshold is left to rounding.

    Args:
        y, rbar: R x T.
        live: R x T x O, as it was in the round.
        restarts: how many there were up to the round, R x T.
        A1, A2: thresholds at length 1, logarithms included: for the printed ones 9 rho-hat(1) and 3 rho-hat(1).
    """
    y, rbar, restarts = series(y=y, rbar=rbar, restarts=restarts)
    (R, T), m = y.shape, np.arange(live.shape[2])
    failed = np.diff(restarts, axis=1, prepend=0) > 0
    n, before, total, excess = (np.zeros(R, int), np.zeros(R, int), np.zeros(R), np.zeros(R))
    U, opened, wrong = np.full(R, np.inf), np.zeros((R, len(m))), np.zeros((R, T))
    # whether a window of order m begins or ends there
    at_edge = lambda before: (before[:, None] & ((1 << m) - 1)) == 0
    for t in range(T):
        opened = np.where(at_edge(before), total[:, None], opened)
        U = np.minimum(U, rbar[:, t])
        total, excess, before = total + y[:, t], excess + rbar[:, t] - y[:, t], before + 1
        over = (total[:, None] - opened) / 2.0**m - U[:, None] - A1 / 2.0 ** (m / 2)
        test_1 = np.where(live[:, t] & at_edge(before), over, -np.inf).max(1)
        margin = np.maximum(test_1, excess / before - A2 / np.sqrt(before))
        wrong[:, t] = (failed[:, t] != (margin >= 0)) & (np.abs(margin) > 1e-9)
        full = before == 2**n
        n = np.where(failed[:, t], 0, n + full)
        begins = failed[:, t] | full
        before, total, excess = (np.where(begins, 0, x) for x in (before, total, excess))
        U = np.where(begins, np.inf, U)
    return tests.statement.check(
        "rounds that restart without a failed test, or do not with one: 0",
        {"A_1": A1, "A_2": A2, "restarts": int(failed.sum())},
        wrong,
        0.0,
    )
