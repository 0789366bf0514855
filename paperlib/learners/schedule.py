"""The random schedule of windows of lengths 1, 2, 4, ... in blocks of such lengths.

Source: Wei & Luo (2021), Procedure "MALG"; Wang (2025), Algorithm 1.
Letters: O orders m, n the order of a block.
"""

import functools
from typing import NamedTuple

import numpy as np
import torch

from ..core.linalg import Array


class Table(NamedTuple):
    """What follows from the number of orders alone."""

    past: Array  # O int64, 2^m - 1
    length: Array  # O int64, 2^m
    chance: Array  # O x O, probability that a window of order m (columns) is scheduled in a block of order n; -1: never
    share: Array  # O, 2^-m
    root: Array  # O, sqrt(2^m)


@functools.lru_cache(maxsize=64)
def table(orders: int, least: int, device: str | None) -> Table:
    """The schedule's numbers; ``device``: None for numpy."""
    m = range(orders)
    scheduled = lambda n, m: m == n or least <= m < n
    # rho(2^n) / rho(2^m) for rho(t) = c / sqrt(t): 1 for the block's own window, which covers every round
    chance = [[2 ** (-(n - i) / 2) if scheduled(n, i) else -1.0 for i in m] for n in m]
    found = Table(
        np.array([(1 << i) - 1 for i in m]),
        np.array([1 << i for i in m]),
        np.array(chance),
        np.array([0.5**i for i in m]),
        np.array([(2.0**i) ** 0.5 for i in m]),
    )
    return found if device is None else Table(*(torch.from_numpy(x).to(device) for x in found))


def first_true(mask: Array) -> Array:
    """The lowest order that holds, R; 0 where none does. ``mask``: R x O bool."""
    return mask.argmax(1) if isinstance(mask, np.ndarray) else mask.view(torch.uint8).argmax(1)
