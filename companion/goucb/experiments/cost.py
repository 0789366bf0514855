"""Run time per round: the runs that are timed, and their medians.

Phase I costs nearly nothing. Therefore a run has as many points of Phase I as there should be observations, and its Phase II is timed.
"""

from paperlib.goucb.problems.synthetic import StyblinskiTang

from ...store.seconds import Seconds, time_runs
from .settings import learners

OURS, BATCHED, USERS = "GO-UCB, practical", "GP-UCB, modern", "BoTorch, default"
# TOGETHER handle many trials at once; ALONE handle one trial after another.
TOGETHER = (OURS, "GO-UCB, Algorithm 1", BATCHED, "GP-EI, modern", "GP-EI, raw", "TuRBO-1")
ALONE = (USERS, "qLogNEI, modern", "MAP-SAAS")


def timed(n: int, batches: list[int], rounds: int, repetitions: int, seed: int) -> Seconds:
    """Measure the run time of rounds of Phase II on f2 in 20 dimensions, alternating between learners. Runs are keyed by learner and number of trials.

    Args:
        n: observations before the first round that counts.
        batches: numbers of trials that are played at once.
        rounds: number of rounds that count.
        repetitions: repetitions of each run.
        seed: seed of the runs.
    """
    every = learners(n, 1.0)
    runs = [(name, R) for R in batches for name in TOGETHER] + [(name, 1) for name in ALONE]
    found = time_runs(
        {(name, R): (every[name], StyblinskiTang()) for name, R in runs},
        n + rounds,
        repetitions,
        trials={(name, R): R for name, R in runs},
        seed=seed,
    )
    return Seconds({run: x[:, n:] for run, x in found.items()}, found.trials)


def by_observations(found: dict[int, Seconds], batch: int) -> dict[str, dict[int, float]]:
    """Return the median milliseconds per round and trial, by name and number of observations, for runs with ``batch`` trials at once."""
    names = next(iter(found.values())).names(batch)
    return {
        name: {n: seconds.overall((name, batch), scale=1e3) for n, seconds in found.items()}
        for name in names
    }
