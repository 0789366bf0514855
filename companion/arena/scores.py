"""Statistics of many learners on many problems, as Agarwal et al. (2021) recommend them.

Source: Agarwal, Schwarzer, Castro, Courville & Bellemare, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"
(2021): interquartile means with bootstrap intervals that resample the trials of each problem separately, and performance profiles.
scipy computes the intervals. The score of a trial is its normalized regret, which is 0 at best; uniform play
has the mean 1.
Letters: P problems, R trials.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import bootstrap, trim_mean

from paperlib.core.trace import Trace
from paperlib.stats import LEVEL, Interval

RESAMPLES = 2000
BATCH = 100  # resamples in memory at a time
TRIM = 0.25  # fraction of the scores that an interquartile mean omits on each side


def normalize(traces: Mapping[str, Trace], unit: str) -> dict[str, np.ndarray]:
    """Return the final regret of each trial divided by the mean final regret of the learner ``unit``, by learner, R each."""
    scale = traces[unit].last().mean()
    return {name: trace.last() / scale for name, trace in traces.items()}


def middle_mean(samples: Sequence[np.ndarray], axis: int = -1) -> Any:
    """Return the mean of the middle half of the scores of all problems together, along an axis."""
    return trim_mean(np.concatenate(samples, axis=axis), TRIM, axis=axis)


def interquartile_mean(samples: Sequence[np.ndarray]) -> Interval:
    """Return ``middle_mean`` with a bootstrap interval that resamples the trials of each problem separately.

    Args:
        samples: the scores of each problem, R each.

    Examples:
        >>> import numpy as np
        >>> from companion.arena.scores import interquartile_mean
        >>> interquartile_mean([np.array([0.0, 1.0, 2.0, 99.0])]).estimate
        1.5
    """
    pooled = lambda *each, axis: middle_mean(each, axis)
    found = bootstrap(
        samples,
        pooled,
        n_resamples=RESAMPLES,
        vectorized=True,
        batch=BATCH,
        confidence_level=LEVEL,
        method="percentile",
        rng=0,
    ).confidence_interval
    method = f"interquartile mean, {100 * LEVEL:g} % stratified bootstrap over trials"
    ends = float(found.low), float(found.high)
    return Interval(float(middle_mean(samples)), *ends, len(samples[0]), method)


def performance_profile(samples: Sequence[np.ndarray], at: np.ndarray) -> np.ndarray:
    """Return the fraction of trials whose score is at most each number in ``at``; problems count equally."""
    return np.mean([(x[:, None] <= at).mean(0) for x in samples], axis=0)
