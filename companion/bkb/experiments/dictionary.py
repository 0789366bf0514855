"""Statistics over trials of the dictionary: its size, the accuracy of its variance, and when it starts to save time.

Source: Calandriello et al. (2019), Theorem 3.1 and Section 4.
Letters: R trials, N timed trials, T rounds; d_eff effective dimension, m_t arms in the dictionary, U_t arms pulled so far.
Index t - 1 of a series belongs to round t.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from paperlib import stats
from paperlib.bkb.theory.constants import size_expected
from paperlib.core.trace import Trace

from ...store.seconds import Seconds
from .settings import RESAMPLES

# Factors for the accuracy of a sketched variance relative to the exact one.
ALPHAS = (1.1, 1.5, 2.0, 3.0, 5.0)


def accuracy(ratio: np.ndarray) -> dict[str, list[float]]:
    """Return the fractions of rounds and of trials whose worst variance ratio is within each of ``ALPHAS``.

    Args:
        ratio: worst ratio of the variances, R x T.

    Returns:
        "rounds", fractions of rounds, and "trials", fractions of trials that are within the factor in all their rounds.
    """
    return {
        "rounds": [float((ratio <= alpha).mean()) for alpha in ALPHAS],
        "trials": [float((ratio.max(1) <= alpha).mean()) for alpha in ALPHAS],
    }


def falls(shares) -> int:
    """Return the number of steps where a sequence decreases."""
    return int((np.diff(np.asarray(shares, float)) < 0).sum())


def decreases(shares: Mapping[tuple[str, float], Mapping[str, Sequence[float]]]) -> int:
    """Count the steps to a larger qbar at which fewer rounds have a variance within a factor of 1.5.

    Args:
        shares: unit of sampling and qbar -> ``accuracy``. The units pulls and arms count, each with increasing qbar.
    """
    within = ALPHAS.index(1.5)
    return sum(
        falls([found["rounds"][within] for (merge, _), found in shares.items() if merge == unit])
        for unit in ("pulls", "arms")
    )


def paired_rounds(horizon: int) -> list[int]:
    """Return 50 evenly spaced rounds and the round before each, because a bound uses the dimension of the round before."""
    even = np.unique(np.linspace(2, horizon, 50).astype(int))
    return sorted({*even.tolist(), *(even - 1).tolist()})


def expected_share(trace: Trace, qbar: float, eps: float = 0.5) -> np.ndarray:
    """Return the mean ratio of the expected pulls in the dictionary to the bound alpha qbar d_eff(t - 1) + 1, R.

    The mean is over the recorded rounds t where round t - 1 is recorded, too, and the bound is below t. In other rounds
    the bound is vacuous, because there are only t pulls.

    Args:
        trace: with "expected size" and "dimension", R x T' each; every trial must have such a round.
    """
    # The bound of round t needs d_eff(t - 1), so that round t - 1 must be recorded, too.
    after = np.flatnonzero(np.diff(trace.rounds) == 1) + 1
    bound = size_expected(trace["dimension"][:, after - 1], qbar, eps)
    informs = bound < trace.rounds[after]
    share = np.where(informs, trace["expected size"][:, after] / bound, 0.0)
    return share.sum(1) / informs.sum(1)


def excess(size: np.ndarray, unique: np.ndarray, drawn: np.ndarray) -> int:
    """Count the rounds of all trials where the dictionary has more arms than were pulled, or than pulls were sampled.

    Args:
        size: arms in the dictionary, R x T.
        unique: arms pulled so far, R x T.
        drawn: pulls, not arms, sampled into the dictionary, R x T.
    """
    return int((size > np.minimum(unique, drawn)).sum())


def growth(trace: Trace, name: str, rounds: float) -> np.ndarray:
    """Return the growth factor of a series from round t to the last round, R.

    Args:
        trace: with the series.
        name: name of the series.
        rounds: t; if it was not recorded, the first recorded round after it is used.
    """
    first = int(np.searchsorted(trace.rounds, rounds))
    return trace[name][:, -1] / trace[name][:, first]


def growth_beside(trace: Trace, rounds: float) -> np.ndarray:
    """Return the growth of the dictionary relative to the effective dimension from round t on, (m_T / m_t) / (d_T / d_t), R.

    Args:
        trace: with "dictionary" and "dimension".
        rounds: t, as for ``growth``.
    """
    return growth(trace, "dictionary", rounds) / growth(trace, "dimension", rounds)


def size_with_regret(traces: Sequence[Trace]) -> np.ndarray:
    """Return the rank correlation of m_T and R_T over problems, trial by trial, R.

    Args:
        traces: one trace per problem, with "dictionary".
    """
    sizes, regrets = (
        np.stack([trace.last(name) for trace in traces], 1) for name in ("dictionary", "regret")
    )
    return stats.rank_correlations(sizes, regrets)


def size_ratio(traces: Sequence[Trace]) -> stats.Interval:
    """Return m_T on the problem with the most regret divided by m_T on the problem with the least, with a bootstrap interval.

    Args:
        traces: one trace per problem, with "dictionary".
    """
    by_regret = sorted(traces, key=lambda trace: trace.last().mean())
    most, least = (trace.last("dictionary") for trace in (by_regret[-1], by_regret[0]))
    return stats.ratio(most, least, of="dictionaries", resamples=RESAMPLES)


# Run time -------------------------------------------------------------------------------------------------


def while_small(size: np.ndarray, unique: np.ndarray) -> np.ndarray:
    """Return the last quarter of the rounds with U_t < m_t^2, increasing. ``size``, ``unique``: T each."""
    rounds = np.flatnonzero(unique < size**2)
    return rounds[-max(1, len(rounds) // 4) :]


def from_seven(size: np.ndarray) -> np.ndarray:
    """Return the rounds from the first t on such that t >= 7 m_t always holds afterwards. ``size``: m_t, T."""
    early = np.flatnonzero(np.arange(1, len(size) + 1) < 7 * size)
    return np.arange(early[-1] + 1 if len(early) else 0, len(size))


def while_alike(size: np.ndarray, unique: np.ndarray) -> np.ndarray:
    """Return the last 50 rounds with m_t^2 > U_t^2 / 2. ``size``, ``unique``: T each."""
    return np.flatnonzero(size**2 > unique**2 / 2)[-50:]


def crossover(first: np.ndarray, other: np.ndarray) -> int | None:
    """Return the round from which the first learner saves time.

    Over the rounds from this one to any later one, the first learner needs less time in total than the other. Single later
    rounds may still be slower. In one trial, the first learner's lag, its total time minus the other's, is largest just before
    this round. The trial has no crossover if the lag is largest in the last tenth of the rounds, for example at the end. The
    result is the median over trials, which one slow round cannot change.

    Args:
        first, other: seconds of each round, N x T each.

    Returns:
        None if most trials have no crossover.
    """
    T = min(first.shape[1], other.shape[1])
    behind = np.cumsum(first[:, :T] - other[:, :T], axis=1)
    behind = np.concatenate([np.zeros((len(behind), 1)), behind], axis=1)
    # Reversed, argmax finds the last round with the largest lag.
    starts = T - behind[:, ::-1].argmax(1)
    # A crossover in the last tenth of the rounds could be chance.
    middle = np.median(np.where(starts < 0.9 * T, starts + 1.0, np.inf))
    return int(middle) if np.isfinite(middle) else None


EXACT = (
    "GP-UCB, naive",
    "GP-UCB",
)  # exact GP-UCB, refitted to its history and with rank-one updates
Sized = Mapping[
    str, Mapping[str, Trace]
]  # problem -> learner -> trace with "dictionary" and "unique"
Rounds = Mapping[str, Sequence[np.ndarray]]  # problem -> rounds of each trial, counted from 0


def crossovers(
    seconds: Seconds, problems: Sequence[str]
) -> dict[str, dict[tuple[str, str], int | None]]:
    """Return problem -> (BKB or LazyBKB, exact method) -> ``crossover`` of their run times."""
    return {
        problem: {
            (name, other): crossover(seconds[name, problem], seconds[other, problem])
            for name in ("BKB", "LazyBKB")
            for other in EXACT
        }
        for problem in problems
    }


def rounds_while_small(sized: Sized) -> Rounds:
    """Return ``while_small`` of BKB for each trial of each problem."""
    return {
        problem: [*map(while_small, found["BKB"]["dictionary"], found["BKB"]["unique"])]
        for problem, found in sized.items()
    }


def rounds_while_alike(sized: Sized) -> Rounds:
    """Return ``while_alike`` of BKB for each trial of each problem with a rough function."""
    return {
        problem: [*map(while_alike, found["BKB"]["dictionary"], found["BKB"]["unique"])]
        for problem, found in sized.items()
        if problem.startswith("rough")
    }


def rounds_from_seven(sized: Sized) -> Rounds:
    """Return ``from_seven`` of LazyBKB for each trial of the problems where every trial has at least 50 such rounds."""
    late = {name: [*map(from_seven, x["LazyBKB"]["dictionary"])] for name, x in sized.items()}
    return {name: rounds for name, rounds in late.items() if min(map(len, rounds)) >= 50}


def time_ratios(seconds: Seconds, a: str, b: str, rounds: Rounds) -> dict[str, stats.Interval]:
    """Return problem -> ratio of the mean run times of two learners in these rounds, with its t-interval over trials."""
    return {
        problem: seconds.ratio((a, problem), (b, problem), "mean", chosen, over="trials")
        for problem, chosen in rounds.items()
    }


def lazy_ratios(seconds: Seconds, late: Rounds) -> dict[str, stats.Interval]:
    """Return the ratio of LazyBKB's mean run time to exact GP-UCB's and to BKB's, by problem and method."""
    others = ("GP-UCB", "BKB")
    found = {other: time_ratios(seconds, "LazyBKB", other, late) for other in others}
    return {f"{problem}, {other}": found[other][problem] for problem in late for other in others}
