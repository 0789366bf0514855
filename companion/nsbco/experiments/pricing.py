"""Dynamic pricing on real series: who plays with which constants, which series there are, and what is compared.

One series of Google's, the same in all trials, and a table of stocks, one series per trial.
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

NOISE = 0.2  # a, of a revenue
WIDTH = 0.35  # h of the two trackers with constant gain: about the fourth root of the noise's variance, a^2 / 3
TABLE = "stocks"
KAPPAS = (0.01, 0.1, 10.0)  # how wrong V_T is taken to be, beside the oracle's 1
CHUNK = 235  # series a batch: half of those in the table
OTHERS = ("full information", "SW-LS", "KW", "KW, oracle")  # not played on prices
SHOWN = (
    "MASTER",
    "MALG",
    "Algorithm 2",
    "Algorithm 2, oracle",
    "EGS",
    "BoB",
    "KWtrack",
    "SPSA",
    "GLR",
    "static baseline",
)  # the lines of a panel
TABLED = (
    "MASTER",
    "MALG",
    "Algorithm 2",
    "KWtrack",
    "SPSA",
    "GLR",
    "D-LS",
    "static baseline",
)  # played on the table of stocks


def rivals(*names: str) -> dict[str, Learner]:
    """Return learners by name as in all figures, but for what belongs to the prices: the noise level given to GLR, and the width of the two trackers.

    h = 1/4, N_0 = 1, b_0 = 2, A_1 = 1, A_2 = 3 (log2 T + 1); steps of 1 / sigma for the finite differences.
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
    """Return how many series of the table of stocks a run can have, and why none, where none.

    Args:
        data: "auto", where the table is at hand or can be had, else none; "real", which fails without.
        series: how many at most.

    Raises:
        ValueError: another word, or a file that is not the registry's; FileNotFoundError: "real", and it cannot be had.
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
    """Return the first seed from ``seed`` on with which trial i has series i: a series is the trial's own seed, modulo their number."""
    count = len(closes(TABLE))
    return -(-seed // count) * count


def levels(series: str, days: int, seeds: list[int]) -> np.ndarray:
    """Return theta by day, R x D."""
    return pricing(series, days).part(seeds, days * CUSTOMERS)


def drifts(series: str, days: int, seeds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return V_T, and the number of days with another level than the day before; R each."""
    path = levels(series, days, seeds)
    moved = (np.diff(path, axis=1) != 0).sum(1)
    return pricing(series, days).variation(path, days * CUSTOMERS), moved


def daily(trace: Trace, name: str, trial: int = 0) -> np.ndarray:
    """Return a sum over all rounds, recorded after each day, as the mean of a day's customers: D."""
    total = trace[name][trial].reshape(len(trace.rounds), -1)[:, 0]
    return np.diff(total, prepend=0.0) / np.diff(trace.rounds, prepend=0)


def averaged(days: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return means over blocks of ``width`` days, the last one shorter where they do not fill it, and the middle of each, in days counted from 1."""
    starts = np.arange(0, len(days), width)
    ends = np.append(starts[1:], len(days))
    return (starts + 1 + ends) / 2, np.add.reduceat(days, starts) / (ends - starts)


def relative(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Return regret over that of the static baseline: the ratio of means, with a bootstrap over trials."""
    return stats.ratio(traces[name].last(), traces["static baseline"].last(), of="mean regret")


def beats_doing_nothing(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Return the share of the trials in which a learner has less regret than the static baseline, exact interval."""
    less = traces[name].last() < traces["static baseline"].last()
    return stats.proportion(int(less.sum()), len(less))


def tests_cost(traces: dict[str, Trace]) -> stats.Interval:
    """Return the regret of MASTER less that of its schedule alone, paired."""
    return stats.paired_difference(traces["MASTER"].last(), traces["MALG"].last())
