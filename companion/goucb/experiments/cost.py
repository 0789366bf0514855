"""What a round costs: which runs are timed, and what is read off them.

Phase I is free, so that a run has as many points of it as there shall be observations, and its Phase II is timed.
"""

from collections.abc import Sequence

from paperlib.core.contracts import Learner
from paperlib.goucb.learners.botorch_default import MAPSAAS, BoTorchDefault
from paperlib.goucb.learners.gp import GP, QLogNEI
from paperlib.goucb.learners.presets import algorithm1, practical
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.problems.synthetic import StyblinskiTang

from ...store.seconds import Seconds, time_runs

OURS, BATCHED, USERS = "GO-UCB, practical", "GP-UCB, modern", "BoTorch, default"


def together(n: int) -> dict[str, Learner]:
    """What plays many trials at once, with n points of Phase I."""
    return {
        OURS: practical(n),
        "GO-UCB, Algorithm 1": algorithm1(n),
        BATCHED: GP(n, "modern", "UCB"),
        "GP-EI, modern": GP(n, "modern", "EI"),
        "GP-EI, raw": GP(n, "legacy-raw", "EI"),
        "TuRBO-1": TuRBO(n),
    }


def alone(n: int) -> dict[str, Learner]:
    """What plays one trial after another."""
    return {USERS: BoTorchDefault(n), "qLogNEI, modern": QLogNEI(n), "MAP-SAAS": MAPSAAS(n)}


def timed(n: int, batches: Sequence[int], rounds: int, repetitions: int, seed: int = 0) -> Seconds:
    """Seconds of rounds of Phase II on f2 in 20 dimensions, in turns; a run's setting is how many trials it plays at once.

    Args:
        n: observations before the first round that counts.
        batches: trials at once.
        rounds: that count.
        repetitions: of each run.
        seed: of the runs.
    """
    runs = {(name, R): learner for R in batches for name, learner in together(n).items()}
    runs |= {(name, 1): learner for name, learner in alone(n).items()}
    found = time_runs(
        {run: (learner, StyblinskiTang()) for run, learner in runs.items()},
        n + rounds,
        repetitions,
        trials={run: run[1] for run in runs},
        seed=seed,
    )
    return Seconds({run: x[:, n:] for run, x in found.items()}, found.trials)


def along(found: dict[int, Seconds], batch: int) -> dict[str, dict[int, float]]:
    """Median milliseconds per round of one trial by name and observations, of the runs that played ``batch`` trials at once."""
    names: dict[str, dict[int, float]] = {}
    for n, seconds in found.items():
        for name, R in seconds:
            if R == batch:
                names.setdefault(name, {})[n] = seconds.overall((name, R), scale=1e3)
    return names
