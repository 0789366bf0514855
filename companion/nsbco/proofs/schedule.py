"""Algorithm 1: properties of its schedule, the first horizons at which a test can trigger, and statements along its runs.

In a block of order n, which has 2^n rounds, a window of order m <= n is scheduled with probability p_m = 2^{-(n-m)/2},
independently of all others. The shortest scheduled window that covers a round is active. Both follow from rho(t) = c / sqrt(t) for
any c.

The statements need per-round series of a run. "windows", "shares" and "runs" are about the random schedule and need a run without
restarts. The fraction of rounds of an order is compared with its expectation, up to five standard errors. These are known and not
estimated.
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

SCHEDULE = f"{PAPER}, Algorithm 1"
ERRORS = 5.0  # allowed deviation in standard errors
RARE = 1e-6  # failure probability of a two-sided binomial interval
TEST_1, TEST_2 = 9, 3  # multiples of rho-hat
UNITS = theory.literal()

# The schedule in numbers ----------------------------------------------------------------------------------


def window_chances(n: int) -> np.ndarray:
    """Return the probabilities p_0, ..., p_n that a window is scheduled in a block of order n."""
    return 2.0 ** (-(n - np.arange(n + 1)) / 2)


def expected_shares(n: int) -> np.ndarray:
    """Return the expected fraction of a block's rounds for orders m = 0, ..., n, p_m prod_{m' < m} (1 - p_m'), which sums to 1."""
    p = window_chances(n)
    return p * np.cumprod(np.append(1.0, 1 - p[:-1]))


def share_deviations(n: int) -> np.ndarray:
    """Return the standard deviation of the fractions of ``expected_shares`` in one block, n + 1 numbers.

    Two rounds whose shortest common window has order k share exactly the windows of order k and larger. If k <= m, order m is
    active in both with probability p_m prod_{m' < m} (1 - p_m') prod_{m' < min(k, m)} (1 - p_m'). If k > m, the two events are
    independent.
    """
    p, share = window_chances(n), expected_shares(n)
    # probability that no window of order below k is scheduled
    miss = np.cumprod(np.append(1.0, 1 - p[:-1]))
    # fraction of pairs of rounds whose shortest common window has order k = 0, 1, ..., n
    pairs = np.append(1.0, 2.0 ** np.arange(n)) / 2.0**n
    together = [
        sum(pairs[k] * (share[m] * miss[k] - share[m] ** 2) for k in range(m + 1))
        for m in range(n + 1)
    ]
    return np.sqrt(np.maximum(together, 0.0))


def expected_runs(n: int) -> float:
    """Return the expected number of runs in a block, which are spells of one thread without interruption.

    There are 2^{n-v-1} places in a block where windows up to order v < n end and start. At such a place the thread stays active
    if none of these windows is scheduled before or after it.
    """
    stays = np.cumprod(1 - window_chances(n)) ** 2
    return float(1 + sum(2.0 ** (n - v - 1) * (1 - stays[v]) for v in range(n)))


def most_runs(n: int) -> float:
    """Return 1 + 2 / (1 - 2^{-1/2}) 2^{n/2}, an upper bound on ``expected_runs`` of the order of the square root of the block length."""
    return 1 + 2 / (1 - 0.5**0.5) * 2 ** (n / 2)


# First horizons of tests and bounds, in the paper's units for d = 2 --------------------------------------

# Constants of Definition 2.1 by horizon: as printed, and the corrected b_0 with the printed ratios.
WEAK = {
    "printed": lambda T: theory.weak_printed(UNITS, T),
    "corrected": lambda T: theory.practical(float(theory.bonus_corrected(UNITS, T))),
}
BONUSES = {  # b_0 as a function of dimension and horizon
    "printed": lambda d, T: 2 * sum(theory.kappa_0(theory.literal(d), T)),
    "corrected": lambda d, T: float(theory.bonus_corrected(theory.literal(d), T)),
    "numeric": lambda d, T: theory.bonus_numeric(theory.literal(d), T),
}


def threshold(weak: Callable[[float], Weak], multiple: int = TEST_1) -> Callable[[float], float]:
    """Return a test's threshold for the longest window or block as a function of T, a multiple of rho-hat(T).

    Args:
        weak: constants of Definition 2.1 as a function of T.
        multiple: ``TEST_1`` or ``TEST_2``.
    """
    return lambda T: multiple * float(weak(T).hat(T, T))


def test_1_thresholds() -> dict[str, Callable[[float], float]]:
    """Return Test 1's threshold for the longest window, with printed, corrected, tight and practical constants."""
    return {
        "printed": threshold(WEAK["printed"]),
        "corrected": threshold(WEAK["corrected"]),
        "tight, b_0 = 2": threshold(lambda T: theory.practical(2.0)),
        "tight, b_0 = 1": threshold(lambda T: theory.practical(1.0)),
        "practical, A_1 = 1": lambda T: T**-0.5,
    }


def first_firing(gap: float = TRIVIAL) -> dict[str, float]:
    """Return the first T at which Test 1 can trigger if a window's mean exceeds U by at most ``gap``; no gap exceeds 2."""
    return {name: first_horizon(value, gap) for name, value in test_1_thresholds().items()}


def first_of_any(weak: Callable[[float], Weak]) -> dict[str, float]:
    """Return the first T at which each test can trigger, the earlier one first.

    Test 2 has the smaller multiple of rho-hat. Therefore it can trigger earlier than Test 1, whose T is also in ``first_firing``.
    """
    multiples = {"Test 2": TEST_2, "Test 1": TEST_1}
    return {name: first_horizon(threshold(weak, x), TRIVIAL) for name, x in multiples.items()}


def first_informative() -> dict[str, float]:
    """Return the first T at which b_0 / sqrt(T) < 2. From there on, r-bar_T is more informative than the trivial bound 1 on rewards."""
    return {
        name: first_horizon(lambda T: bonus(2, T) / math.sqrt(T), TRIVIAL)
        for name, bonus in BONUSES.items()
    }


def first_regret() -> dict[str, float]:
    """Return the first T at which C_1 V^{1/3} T^{2/3} < 2 T for V = 1, without logarithms, by constants and power of lambda."""
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
    """Return the power of d in C_1 if c_1 and lambda grow as d^{3/2}: 2 as printed, 3/2 corrected (E10)."""
    return 1.5 * (2 / 3 + power)


# Statements along runs ------------------------------------------------------------------------------------


def block(n: int) -> slice:
    """Return the rounds of the block of order n in a run without restarts."""
    return slice(2**n - 1, 2 ** (n + 1) - 1)


def blocks(horizon: int) -> range:
    """Return the orders of the complete blocks in T rounds."""
    return range((horizon + 1).bit_length() - 1)


def _offsets(horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of each round's block and the number of earlier rounds in it, T each, in a run without restarts."""
    n = np.array([(t + 1).bit_length() - 1 for t in range(horizon)])
    return n, np.arange(horizon) - (2**n - 1)


@statement("Algorithm 1, lowest order", f"{SCHEDULE}, lines 4 and 6")
def lowest_order(order: np.ndarray, live: np.ndarray) -> Check:
    """The shortest scheduled window that covers the round is active, windows are scheduled as a whole, and the window of the whole block always is.

    Args:
        order: order of the active thread, R x T.
        live: whether the window of order m that covers the round is scheduled, R x T x O; a run without restarts.
    """
    T, O = live.shape[1:]
    n, before = _offsets(T)
    # the window started in an earlier round
    within = (before[:, None] & ((1 << np.arange(O)) - 1)) != 0
    changed = live[:, 1:] != live[:, :-1]
    own = np.take_along_axis(live, n[None, :, None], 2)[..., 0]
    wrong = ((order != live.argmax(2)) | ~own).astype(float)
    # windows whose scheduling changes within the window
    wrong[:, 1:] += (changed & within[1:]).sum(2)
    return lowest_order.statement.check(
        "windows broken off, and rounds in which another order plays: 0", {"T": T}, wrong, 0.0
    )


@statement("Algorithm 1, windows", f"{SCHEDULE}, line 4")
def windows(live: np.ndarray) -> Check:
    """A window of order m in a block of order n is scheduled with probability rho(2^n) / rho(2^m) = 2^{-(n-m)/2}, independently of all others.

    The number of scheduled windows over all trials is binomial. It must be within quantiles that are valid for all pairs (n, m)
    with probability 1 - 1e-6. The check flags a probability without the square root. ``live``: as for ``lowest_order``.
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
    """Order m is active in a fraction p_m prod_{m' < m} (1 - p_m') of a block's rounds, in the mean over trials, up to five standard errors, in every block.

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
    """A block of 2^n rounds has 1 + sum_v 2^{n-v-1} (1 - prod_{m <= v} (1 - p_m)^2) = O(2^{n/2}) spells of one thread, in the mean over trials, up to five standard errors.

    ``order``: R x T, a run without restarts. The standard error is estimated from its trials, at least 20.
    """
    R, T = order.shape
    if R < 20:
        raise ValueError(
            f"order must have at least 20 trials, from which the standard error is estimated, got {R}"
        )
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
    """Return r-bar of the active thread, R x T, recomputed from the rewards of its order.

    Args:
        y, order: rewards, and order of the active thread, R x T.
        since: first round of the thread, R x T.
        bonus, clip: as for ``threads``.
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
    """r-bar_t = (mean of y + b_0 / sqrt(number of y)) over the rounds in which the active thread was active in its window, and no others.

    r-bar is clipped at 1 with ``clip``. The check flags a thread that forgets when it pauses, that uses the rewards of another
    thread, or that continues in the next window.

    Args:
        y, rbar: R x T, a run without restarts.
        order: order of the active thread, R x T.
        bonus: b_0.
        clip: as in the base.
    """
    T = order.shape[1]
    _, before = _offsets(T)
    opened = np.arange(T) - (before & ((1 << order) - 1))  # first round of the active window
    return threads.statement.check(
        "|r-bar_t - (mean of its own y + b_0 / sqrt(its rounds))| <= 1e-9",
        {"b_0": bonus, "T": T},
        np.abs(rbar - own_estimates(y, order, opened, bonus, clip)),
        ROUNDING,
    )


@statement("Algorithm 1, tests", f"{SCHEDULE}, Tests 1 and 2")
def tests(y: Any, rbar: Any, live: np.ndarray, restarts: Any, A1: float, A2: float) -> Check:
    """The run restarts in exactly the rounds in which a window's mean is at least U_t + A_1 / sqrt(2^m), or the block's mean of r-bar - y is at least A_2 / sqrt(t').

    The check recomputes all quantities but the random schedule. A statistic within 1e-9 of its threshold may go either way,
    because of rounding.

    Args:
        y, rbar: R x T.
        live: R x T x O, scheduled windows in each round.
        restarts: number of restarts up to each round, R x T.
        A1, A2: thresholds at length 1, including logarithms; the printed ones are 9 rho-hat(1) and 3 rho-hat(1).
    """
    (R, T), m = y.shape, np.arange(live.shape[2])
    failed = np.diff(restarts, axis=1, prepend=0) > 0
    n, before, total, excess = (np.zeros(R, int), np.zeros(R, int), np.zeros(R), np.zeros(R))
    U, opened, wrong = np.full(R, np.inf), np.zeros((R, len(m))), np.zeros((R, T))
    # whether a window of order m starts or ends at this place of the block
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
        "rounds that restart without a triggered test, or do not with one: 0",
        {"A_1": A1, "A_2": A2, "restarts": int(failed.sum())},
        wrong,
        0.0,
    )
