"""Run time per round: which runs are timed, and their medians.

Phase I costs nothing. Therefore a run has as many points of Phase I as there are observations, and its Phase II is timed.
"""

from paperlib.goucb.problems.synthetic import StyblinskiTang

from ...store.seconds import Seconds, time_runs
from .settings import learners

OURS, BATCHED, USERS = "GO-UCB, practical", "GP-UCB, modern", "BoTorch, default"
# learners that play many trials at once, and learners that play one trial after another
TOGETHER = (OURS, "GO-UCB, Algorithm 1", BATCHED, "GP-EI, modern", "GP-EI, raw", "TuRBO-1")
ALONE = (USERS, "qLogNEI, modern", "MAP-SAAS")


def timed(n: int, batches: list[int], rounds: int, repetitions: int, seed: int) -> Seconds:
    """Measure rounds of Phase II on f2 in 20 dimensions, in turns. The setting of a run is its number of trials at once.

    Args:
        n: observations before the first round that counts.
        batches: trials at once.
        rounds: number of rounds that count.
        repetitions: of each run.
        seed: of the runs.
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
    """Return the median milliseconds per round of one trial, by name and observations, of runs with ``batch`` trials at once."""
    names = next(iter(found.values())).names(batch)
    return {
        name: {n: seconds.overall((name, batch), scale=1e3) for n, seconds in found.items()}
        for name in names
    }
