"""What the regret experiments share: one ``Confidence`` for learners that are compared, statistics.

All are ours: the paper has no regret experiment. Letters: R trials, T rounds.
"""

from paperlib import stats
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.problems.synthetic import RKHS, WarmRKHS
from paperlib.core.trace import Trace

from ..problems.real import TableArms

NORM = 3.0  # F for learners where f has no known norm
QBAR = 5.0  # oversampling where nothing else is said
RESAMPLES = 2000  # of each bootstrap


def confidence(problem: RKHS | WarmRKHS | TableArms, scale: float = 1.0) -> Confidence:
    """The rule ``practical`` with xi and F of the problem, lambda = xi^2, delta = .1.

    ``scale``: factor on the radius.
    """
    return Confidence(problem.noise, getattr(problem, "norm", NORM), scale=scale)


def regret_ratio(trace: Trace, exact: Trace) -> stats.Interval:
    """Ratio of mean final regrets, bootstrap over the trials that both have."""
    return stats.ratio(trace.last(), exact.last(), of="final regrets", resamples=RESAMPLES)


def exponent(trace: Trace) -> stats.Interval:
    """Log-log slope of the mean regret from round T / 4 on, bootstrap over trials."""
    return stats.growth(
        trace.rounds, trace["regret"], first=trace.rounds[-1] / 4, resamples=RESAMPLES
    )
