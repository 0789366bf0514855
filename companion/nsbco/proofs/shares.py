"""Numbers of the schedule: which windows are likely, which thread plays, and how often another one takes over.

In a block of order n, 2^n rounds, a window of order m <= n is scheduled with probability p_m = 2^{-(n-m)/2} apart from all
others; the shortest that covers a round plays. All of it follows from rho(t) = c / sqrt(t), whatever c is.
Source: Wang (2025), Algorithm 1; Wei & Luo (2021).
"""

import numpy as np


def chances(n: int) -> np.ndarray:
    """p_0, ..., p_n."""
    return 2.0 ** (-(n - np.arange(n + 1)) / 2)


def shares(n: int) -> np.ndarray:
    """The share of a block's rounds that order m = 0, ..., n plays: p_m prod_{m' < m} (1 - p_m'). Sums to 1."""
    p = chances(n)
    return p * np.cumprod(np.append(1.0, 1 - p[:-1]))


def share_deviations(n: int) -> np.ndarray:
    """Standard deviation of those shares in one block, n + 1 numbers.

    Two rounds whose shortest common window has order k see the same coins from order k on and others below: they are
    both played by order m with probability p_m prod_{m' < m} (1 - p_m') prod_{m' < min(k, m)} (1 - p_m') for k <= m, and
    apart from each other for k > m.
    """
    p, share = chances(n), shares(n)
    miss = np.cumprod(np.append(1.0, 1 - p[:-1]))  # no order below k
    pairs = (
        np.append(1.0, 2.0 ** np.arange(n)) / 2.0**n
    )  # share of rounds that are so close: k = 0, 1, ..., n
    together = [
        sum(pairs[k] * (share[m] * miss[k] - share[m] ** 2) for k in range(m + 1))
        for m in range(n + 1)
    ]
    return np.sqrt(np.maximum(together, 0.0))


def windows(n: int) -> np.ndarray:
    """Expected number of scheduled windows of order m = 0, ..., n in a block: 2^{(n-m)/2}."""
    return 2.0 ** (n - np.arange(n + 1)) * chances(n)


def runs(n: int) -> float:
    """Expected number of runs of a block, spells that one thread plays without a break.

    Between two rounds where windows up to order v end and begin, 2^{n-v-1} places for v < n, the thread stays if none of
    them is scheduled before and after.
    """
    stays = np.cumprod(1 - chances(n)) ** 2
    return float(1 + sum(2.0 ** (n - v - 1) * (1 - stays[v]) for v in range(n)))


def runs_most(n: int) -> float:
    """1 + 2 / (1 - 2^{-1/2}) 2^{n/2}, at least ``runs``: of the order of the root of the block."""
    return 1 + 2 / (1 - 0.5**0.5) * 2 ** (n / 2)
