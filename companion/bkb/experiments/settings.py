"""The regret experiments' problems with their numbers, one ``Confidence`` for learners that are compared, and statistics.

We added all of them, because the paper does not have a regret experiment. Each problem comes with the factor on the confidence
radius that its figures use, if this factor is not 1. Learners take F and xi from the problem, lambda = xi^2 and delta = 0.1.
Letters: R trials, T rounds.
"""

from paperlib import stats
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.problems import RKHS, WarmRKHS
from paperlib.core.trace import Trace

from ..problems.real import TableArms

NORM = 3.0  # F for learners where f has no known norm
QBAR = 5.0  # oversampling where nothing else is said
RESAMPLES = 2000  # of each bootstrap


def rkhs_1d() -> RKHS:
    """200 arms in [0, 1], a rough f and little noise."""
    return RKHS(200, 1, gamma=100.0, norm=3.0, noise=0.1)


def from_smooth_to_rough() -> dict[str, RKHS]:
    """Functions of one norm on the arms of ``rkhs_1d``, which is the last: the rougher, the more directions to learn."""
    known = {"arms": 200, "dim": 1, "norm": 3.0, "noise": 0.1}
    return {f"gamma = {gamma:g}": RKHS(**known, gamma=gamma) for gamma in (3.0, 10.0, 30.0, 100.0)}


def rkhs_2d() -> RKHS:
    """500 arms in the unit square, factor .3."""
    return RKHS(500, 2, gamma=20.0, norm=3.0, noise=0.3)


def dense_1d(arms: int) -> RKHS:
    """Many arms in [0, 1], a smooth f and much noise: a large sample of few directions."""
    return RKHS(arms, 1, gamma=10.0, norm=3.0, noise=1.0)


def dense_2d_hard(arms: int) -> RKHS:
    """Many arms in the unit square, a rough f and little noise, factor .2.

    There are nearly as many directions as played arms.
    """
    return RKHS(arms, 2, gamma=30.0, norm=3.0, noise=0.1)


def reference() -> RKHS:
    """64 arms on a grid of [0, 1]: where the bounds are compared with what happens."""
    return RKHS(64, 1, gamma=100.0, norm=3.0, noise=0.1, grid=True)


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
