"""Parameters of the same network: w* is not identified, so that a distance to w* needs one of them to be chosen (E10).

Permuting hidden units, and (W1_j, b1_j, w2_j, b2) -> (-W1_j, -b1_j, -w2_j, b2 + w2_j), leave f_w as it is, by s(-z) = 1 - s(z).
Ours; the paper takes w* to be unique (Assumption 3.3).
Letters: h hidden units, d dimensions, dw = h d + 2 h + 1 parameters, R trials.
"""

import itertools
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...core.validation import array, refuse, size

BRUTE = 6  # units up to which all 2^h h! equivalents are looked at: 46,080


def _split(w: np.ndarray, hidden: int) -> tuple[np.ndarray, float]:
    """Units as rows (W1_j, b1_j, w2_j), h x (d + 2), and b2."""
    dim = (len(w) - 1) // hidden - 2
    if hidden * (dim + 2) + 1 != len(w) or dim < 1:
        refuse("w", w, f"h d + 2 h + 1 numbers with h = {hidden} and d at least 1")
    W1 = w[: hidden * dim].reshape(hidden, dim)
    b1, w2 = w[hidden * dim : -1].reshape(2, hidden)
    return np.column_stack([W1, b1, w2]), float(w[-1])


def _joined(units: np.ndarray, out: float) -> np.ndarray:
    return np.concatenate([units[:, :-2].ravel(), units[:, -2], units[:, -1], [out]])


def changed(w: Any, hidden: int, order: Any, flips: Any) -> np.ndarray:
    """The equivalent with unit ``order[j]`` of w in place j, its signs changed where ``flips[j]``.

    Args:
        w: dw numbers.
        hidden: h.
        order: a permutation of 0, ..., h - 1.
        flips: h truth values.

    Raises:
        ValueError: a length that is no network's.
    """
    units, out = _split(array("w", w), hidden)
    units, flips = units[np.asarray(order, int)], np.asarray(flips, bool)
    out += units[flips, -1].sum()
    return _joined(np.where(flips[:, None], -units, units), out)


def equivalents(w: Any, hidden: int) -> np.ndarray:
    """All 2^h h! of them, w first, as rows, for at most 6 units.

    Raises:
        ValueError: more units, or a length that is no network's.
    """
    hidden = size("hidden", hidden)
    if hidden > BRUTE:
        refuse("hidden", hidden, f"at most {BRUTE}, for there are 2^h h! equivalents")
    signs = list(itertools.product([False, True], repeat=hidden))
    orders = itertools.permutations(range(hidden))
    return np.stack([changed(w, hidden, order, flips) for order in orders for flips in signs])


def _assigned(star: np.ndarray, w: np.ndarray, hidden: int) -> np.ndarray:
    """By assignment with the cheaper sign of each pair, as if b2 did not couple them, then flips while they help."""
    (units, _), (target, _) = _split(star, hidden), _split(w, hidden)
    cost = lambda sign: ((sign * units[None] - target[:, None]) ** 2).sum(2)
    straight, flipped = cost(1.0), cost(-1.0)
    rows, order = linear_sum_assignment(np.minimum(straight, flipped))
    flips = (flipped < straight)[rows, order]
    far2 = lambda flips: ((changed(star, hidden, order, flips) - w) ** 2).sum()
    best = far2(flips)
    while True:
        tried = []
        for j in range(hidden):
            other = flips.copy()
            other[j] = ~other[j]
            tried.append((far2(other), j))
        least, j = min(tried)
        if not least < best:
            return changed(star, hidden, order, flips)
        flips[j], best = ~flips[j], least


def closest(star: Any, w: Any, hidden: int, exact: bool | None = None) -> np.ndarray:
    """The equivalent of w* nearest to w in Euclidean distance; to be taken once a trial, for w_0, and kept.

    Args:
        star: w*, dw numbers.
        w: dw numbers, or R x dw for one equivalent each.
        hidden: h.
        exact: whether all are looked at; None: for at most 6 units. Else by assignment and flips, which is at least near.

    Raises:
        ValueError: ``exact`` with more than 6 units, or lengths that are no network's.
    """
    star, w = array("star", star), array("w", w)
    if w.shape[-1:] != star.shape or star.ndim != 1:
        refuse("w", w.shape, f"{len(star)} numbers a row, as many as w*")
    rows = w.reshape(-1, len(star))
    if hidden <= BRUTE if exact is None else exact:
        all_of = equivalents(star, hidden)
        found = [all_of[((all_of - row) ** 2).sum(1).argmin()] for row in rows]
    else:
        found = [_assigned(star, row, hidden) for row in rows]
    return np.stack(found).reshape(w.shape)


def closest_sum(w: Any, hidden: int = 25) -> np.ndarray:
    """For f1 = 25 s(sum x + 1) + 1: W1, b1, b2 = 1 and the nearest w2 that adds up to 25, dw numbers or R x dw like w.

    There are others, with units of weight 0 for one.
    """
    w = array("w", w)
    found, w2 = np.ones_like(w), w[..., -hidden - 1 : -1]
    found[..., -hidden - 1 : -1] = w2 + (25 - w2.sum(-1, keepdims=True)) / hidden
    return found
