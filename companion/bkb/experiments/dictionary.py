"""How large the dictionary is, how accurate its variance, and from when on it saves time: statistics over trials.

Source: Calandriello et al. (2019), Theorem 3.1 and Section 4.
Letters: R trials, N timed trials, T rounds; d_eff effective dimension, m_t arms in the dictionary, U_t arms pulled so far.
Index t - 1 of a series is round t.
"""

from collections.abc import Sequence

import numpy as np

from paperlib import stats
from paperlib.bkb.theory.constants import size_expected
from paperlib.core.trace import Trace

ALPHAS = (1.1, 1.5, 2.0, 3.0, 5.0)  # factors within which a variance may lie


def accuracy(ratio: np.ndarray) -> dict[str, list[float]]:
    """Shares whose worst ratio of variances lies within each of ``ALPHAS``. ``ratio``: R x T.

    Returns:
        "rounds", shares of rounds, and "trials", of trials in all their rounds.
    """
    return {
        "rounds": [float((ratio <= alpha).mean()) for alpha in ALPHAS],
        "trials": [float((ratio.max(1) <= alpha).mean()) for alpha in ALPHAS],
    }


def falls(shares) -> int:
    """Steps at which a sequence falls."""
    return int((np.diff(np.asarray(shares, float)) < 0).sum())


def expected_share(trace: Trace, qbar: float, eps: float = 0.5) -> np.ndarray:
    """Mean of the expected pulls in the dictionary / (alpha qbar d_eff(t - 1) + 1), R.

    Over the recorded rounds t with round t - 1 recorded too and a bound below t, the pulls that there are: it is vacuous in
    others.

    Args:
        trace: with "expected size" and "dimension", R x T' each.

    Raises:
        ValueError: a trial without such a round.
    """
    after = np.flatnonzero(np.diff(trace.rounds) == 1) + 1
    bound = size_expected(trace["dimension"][:, after - 1], qbar, eps)
    informs = bound < trace.rounds[after]
    if not informs.any(1).all():
        raise ValueError(
            f"trace: the bound is never below the rounds in {int((~informs.any(1)).sum())} of {len(informs)} trials; allowed: in none"
        )
    share = np.where(informs, trace["expected size"][:, after] / bound, 0.0)
    return share.sum(1) / informs.sum(1)


def excess(size: np.ndarray, unique: np.ndarray, drawn: np.ndarray) -> int:
    """Rounds of all trials in which the dictionary has more arms than were pulled, or drawn.

    Drawn are pulls, not arms. R x T each.
    """
    return int((size > np.minimum(unique, drawn)).sum())


def growth_beside(trace: Trace, rounds: float) -> np.ndarray:
    """How much faster the dictionary grows than the effective dimension, from a round to the last: m_T / m_t over d_T / d_t, R.

    ``trace``: with "dictionary" and "dimension"; ``rounds``: t, or the first recorded one behind it.
    """
    first = int(np.searchsorted(trace.rounds, rounds))
    grown = lambda series: series[:, -1] / series[:, first]
    return grown(trace["dictionary"]) / grown(trace["dimension"])


def size_with_regret(traces: Sequence[Trace]) -> np.ndarray:
    """Rank correlation over problems of m_T and R_T, trial by trial, R. ``traces``: one a problem, with "dictionary".

    Raises:
        ValueError: fewer than three problems, or a trial in which all dictionaries or all regrets are equal.
    """
    sizes, regrets = (
        np.stack([trace.last(name) for trace in traces], 1) for name in ("dictionary", "regret")
    )
    found = stats.rank_correlations(sizes, regrets)
    if len(traces) < 3 or not np.isfinite(found).all():
        raise ValueError(
            f"traces: {len(traces)}, {int(np.isnan(found).sum())} trials without an order; allowed: at least three, and an order in each trial"
        )
    return found


# Seconds --------------------------------------------------------------------------------------------------


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
