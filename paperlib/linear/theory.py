"""Theorem 2 (the confidence ellipsoid) as a function that returns a ``Check``.

Letters: R trials, T' recorded rounds, S norm bound.
"""

import dataclasses

import numpy as np

from ..checks import Check, statement
from ..core.trace import Trace
from .probes import Ellipsoid

PAPER = "Abbasi-Yadkori, Pal & Szepesvari (2011)"


@statement("Theorem 2", f"{PAPER}, Theorem 2")
def theorem_2(trace: Trace, ellipsoid: Ellipsoid) -> Check:
    """With probability at least 1 - delta: ||theta_t - theta*||_{V_t} <= radius_t for all t, if the noise is R-sub-Gaussian and ||theta*|| <= S.

    radius_t is ``Ellipsoid.radius``. The ellipsoid is informative from the round where it has a smaller volume, in every trial,
    than the ball ||theta*|| <= S that is known in advance.

    Args:
        trace: with the probes "ratio" (the maximum of all rounds so far) and "half axis" of this ellipsoid, both R x T'.
        ellipsoid: has the noise and the norm of the problem.
    """
    large = np.flatnonzero((trace["half axis"] >= ellipsoid.norm_bound).any(0))
    # The bound must stay informative, so ``first`` follows the last round in which it is not.
    first = 0 if not len(large) else large[-1] + 1
    return theorem_2.statement.check(
        "for all t: ||theta_t - theta*||_{V_t} / radius_t <= 1, with probability 1 - delta",
        dataclasses.asdict(ellipsoid),
        trace["ratio"],
        1.0,
        ellipsoid.delta,
        trivial=ellipsoid.norm_bound,
        informative_from=int(trace.rounds[first]) if first < len(trace.rounds) else None,
    )
