"""Which rounds are compared by their seconds, and from when on one learner needs less.

Letters: N trials, T rounds; m_t arms in the dictionary, U_t arms pulled so far. Index t - 1 of a
series is round t.
"""

import numpy as np


def while_small(size: np.ndarray, unique: np.ndarray) -> np.ndarray:
    """The last quarter of the rounds with U_t < m_t^2, increasing. ``size``, ``unique``: T each."""
    rounds = np.flatnonzero(unique < size**2)
    return rounds[-max(1, len(rounds) // 4) :]


def from_seven(size: np.ndarray) -> np.ndarray:
    """The rounds from the first t on after which t >= 7 m_t always. ``size``: m_t, T."""
    early = np.flatnonzero(np.arange(1, len(size) + 1) < 7 * size)
    return np.arange(early[-1] + 1 if len(early) else 0, len(size))


def while_alike(size: np.ndarray, unique: np.ndarray) -> np.ndarray:
    """The last 50 rounds with m_t^2 > U_t^2 / 2. ``size``, ``unique``: T each."""
    return np.flatnonzero(size**2 > unique**2 / 2)[-50:]


def crossover(first: np.ndarray, other: np.ndarray) -> int | None:
    """The first round from which on the first learner has needed less, however many are counted.

    In a trial it is where the seconds by which the learner is behind are the most; of single
    rounds some may stay above. Not if it does not need less by the end, or only in the last tenth
    of the rounds. Of the trials it is the median, which one slow round cannot move.

    Args:
        first, other: seconds of each round, N x T each.

    Returns:
        None where in most trials it never does.
    """
    T = min(first.shape[1], other.shape[1])
    behind = np.cumsum(first[:, :T] - other[:, :T], axis=1)
    behind = np.concatenate([np.zeros((len(behind), 1)), behind], axis=1)
    starts = T - behind[:, ::-1].argmax(1)
    # A crossover in the last tenth of the rounds could be chance.
    middle = np.median(np.where(starts < 0.9 * T, starts + 1.0, np.inf))
    return int(middle) if np.isfinite(middle) else None
