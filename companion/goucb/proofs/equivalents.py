"""Parameters of the same network: w* is not identified, so that a distance to w* needs one of them to be chosen (E10).

Permuting hidden units, and (W1_j, b1_j, w2_j, b2) -> (-W1_j, -b1_j, -w2_j, b2 + w2_j), leave f_w as it is, by s(-z) = 1 - s(z).
Ours; the paper takes w* to be unique (Assumption 3.3).
Letters: h hidden units, d dimensions, dw = h d + 2 h + 1 parameters, R trials.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np


def changed(w: Any, hidden: int, order: Sequence[int], flips: Sequence[bool]) -> np.ndarray:
    """The equivalent with unit ``order[j]`` of w in place j, its signs changed where ``flips[j]``.

    Args:
        w: dw numbers.
        hidden: h.
        order: a permutation of 0, ..., h - 1.
        flips: h truth values.
    """
    W1, b1, w2, b2 = np.split(np.asarray(w, float), [-2 * hidden - 1, -hidden - 1, -1])
    # a row of each unit: W1_j, b1_j, w2_j
    units = np.column_stack([W1.reshape(hidden, -1), b1, w2])[list(order)]
    b2 = b2 + units[list(flips), -1].sum()
    units = np.where(np.array(flips)[:, None], -units, units)
    return np.concatenate([units[:, :-2].ravel(), units[:, -2], units[:, -1], b2])


def equivalents(w: Any, hidden: int) -> np.ndarray:
    """All 2^h h! of them, w first, as rows; for few units."""
    signs = list(itertools.product([False, True], repeat=hidden))
    orders = itertools.permutations(range(hidden))
    return np.stack([changed(w, hidden, order, flips) for order in orders for flips in signs])


def closest(star: Any, w: np.ndarray, hidden: int) -> np.ndarray:
    """The equivalent of w* nearest to each row of w in Euclidean distance, R x dw; to be taken once a trial, for w_0.

    Args:
        star: w*, dw numbers.
        w: R x dw.
        hidden: h.
    """
    found = equivalents(star, hidden)
    return found[((found - w[:, None]) ** 2).sum(2).argmin(1)]
