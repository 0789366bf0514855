"""Dynamic pricing on real series: learners and their constants, data, and comparisons.

The data are one price series of Google, shared by all trials, and a table of stocks with one series per trial.
Letters: R trials, T rounds, D days.
"""

import numpy as np

from paperlib import stats
from paperlib.core.contracts import Learner
from paperlib.core.trace import Trace
from paperlib.core.validation import check_in
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.restarted import Restarted
from paperlib.nsbco.learners.spsa import SPSA

from ...datasets import registry as datasets
from ..problems.prices import CUSTOMERS, closes, pricing
from .settings import learners

NOISE = 0.2  # a, noise amplitude of the revenue
WIDTH = 0.35  # h of the two learners with constant gain: about the fourth root of the noise's variance, a^2 / 3
TABLE = "stocks"
KAPPAS = (0.01, 0.1, 10.0)  # ratios of the assumed to the true V_T; the oracle has 1
CHUNK = 235  # series per batch: half of the series in the table
OTHERS = ("full information", "SW-LS", "KW", "KW, oracle")  # learners that are not run on prices
TABLED = (
    "MASTER",
    "MALG",
    "Algorithm 2",
    "KWtrack",
    "SPSA",
    "GLR",
    "D-LS",
    "static baseline",
)  # learners on the table of stocks


def rivals(*names: str) -> dict[str, Learner]:
    """Return the learners of the figures by name, with settings for the prices.

    The settings are the noise variance of GLR and the width of the two trackers. The constants are h = 1/4,
    N_0 = 1, b_0 = 2, A_1 = 1 and A_2 = 3 (log2 T + 1). The finite differences have steps of 1 / sigma.
    """
    own = {
        "KWtrack": KieferWolfowitz(100.0, h=WIDTH),
        "SPSA": SPSA(h=WIDTH),
        "GLR": GLR(variance=NOISE**2 / 6),
    }
    found = {name: x for name, x in learners().items() if name not in OTHERS} | own
    found |= {f"oracle, {kappa:g} V_T": Restarted(GradientAscent(), kappa) for kappa in KAPPAS}
    return {name: found[name] for name in names or found}


def table(data: str, series: int) -> tuple[int, str]:
    """Return the number of series of the table of stocks that a run can use, and the reason if it is 0.

    Args:
        data: "auto" uses the table if it is available or can be downloaded, and else no series; "real" raises without the table.
        series: largest number of series.

    Raises:
        ValueError: an unknown value of ``data``, or a file with a checksum other than the registry's.
        FileNotFoundError: ``data`` is "real" and the table is not available.
    """
    check_in("data", data, ("auto", "real"))
    try:
        datasets.fetch(TABLE)
    except FileNotFoundError:
        if data == "real":
            raise
        return 0, f"the table {TABLE!r} is not at hand"
    return min(series, len(closes(TABLE))), ""


def aligned(seed: int) -> int:
    """Return the first seed, at least ``seed``, that gives trial i the series i.

    The series of a trial is its seed modulo the number of series.
    """
    count = len(closes(TABLE))
    return -(-seed // count) * count


def levels(series: str, days: int, seeds: list[int]) -> np.ndarray:
    """Return theta by day, R x D."""
    return pricing(series, days).part(seeds, days * CUSTOMERS)


def drifts(series: str, days: int, seeds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return V_T, and the number of days on which the level differs from the previous day, R each."""
    path = levels(series, days, seeds)
    moved = (np.diff(path, axis=1) != 0).sum(1)
    return pricing(series, days).variation(path, days * CUSTOMERS), moved


def daily(trace: Trace, name: str, trial: int = 0) -> np.ndarray:
    """Return the mean over each day's customers, D, of a cumulative sum that was recorded after each day."""
    total = trace[name][trial].reshape(len(trace.rounds), -1)[:, 0]
    return np.diff(total, prepend=0.0) / np.diff(trace.rounds, prepend=0)


def averaged(days: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles, in days counted from 1, and the means of blocks of ``width`` days; the last block may be shorter."""
    starts = np.arange(0, len(days), width)
    ends = np.append(starts[1:], len(days))
    return (starts + 1 + ends) / 2, np.add.reduceat(days, starts) / (ends - starts)


def relative(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Return the ratio of a learner's mean regret to the static baseline's, with a bootstrap over trials."""
    return stats.ratio(traces[name].last(), traces["static baseline"].last(), of="mean regret")


def beats_doing_nothing(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Return the fraction of trials where a learner has less regret than the static baseline, with the exact interval."""
    less = traces[name].last() < traces["static baseline"].last()
    return stats.proportion(int(less.sum()), len(less))


def tests_cost(traces: dict[str, Trace]) -> stats.Interval:
    """Return the paired difference of regret between MASTER and its schedule alone (MALG)."""
    return stats.paired_difference(traces["MASTER"].last(), traces["MALG"].last())
