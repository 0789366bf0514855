"""What a round costs: seconds measured alone on the machine, and from which round on one learner needs less than another.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
``python -m paperlib.bkb.cost ARMS ROUNDS`` prints CPU seconds and peak memory of one run in its own process.
Letters: N trials or repetitions, T rounds; m_t arms in the dictionary, U_t arms pulled so far. Index t - 1 of a series is round t.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
import torch

from ... import stats
from ...store import results as store, timing
from ...core.contracts import Learner, Problem
from ...play import play
from ...store.timing import peak_bytes
from ..model.confidence import Confidence
from ..learners.lazy import LazyBKB
from .settings import dense_1d

RESAMPLES = 2000  # of the bootstrap

# Which rounds ---------------------------------------------------------------------------------------------


def while_small(size: np.ndarray) -> np.ndarray:
    """The last quarter of the rounds with t < m_t^2, increasing. ``size``: m_t, T."""
    rounds = np.flatnonzero(np.arange(1, len(size) + 1) < size**2)
    return rounds[-max(1, len(rounds) // 4) :]


def from_seven(size: np.ndarray) -> np.ndarray:
    """The rounds from the first t on after which t >= 7 m_t always. ``size``: m_t, T."""
    early = np.flatnonzero(np.arange(1, len(size) + 1) < 7 * size)
    return np.arange(early[-1] + 1 if len(early) else 0, len(size))


def while_alike(size: np.ndarray, unique: np.ndarray, count: int = 50) -> np.ndarray:
    """The last ``count`` rounds with m_t^2 > U_t^2 / 2. ``size``, ``unique``: T each."""
    return np.flatnonzero(size**2 > unique**2 / 2)[-count:]


# Seconds --------------------------------------------------------------------------------------------------


def _trials(runs: dict[str, tuple[Learner, Problem]], horizon: int, trials: int, seed: int) -> dict[str, np.ndarray]:
    with timing.alone():
        found = [timing.seconds(runs, horizon, 1, seed=seed + i) for i in range(trials)]
    return {name: np.concatenate([trial[name] for trial in found]) for name in runs}


def time_runs(runs: dict[str, tuple[Learner, Problem]], horizon: int, trials: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Seconds of each round of ``trials`` trials, each played alone and once, name -> N x T; learners take turns; kept."""
    return store.once("time_runs", _trials, runs=runs, horizon=horizon, trials=trials, seed=seed)


def _batches(learner: Learner, problem: Problem, horizon: int, trials: tuple[int, ...], repetitions: int) -> dict[str, np.ndarray]:
    found: dict[str, list] = {str(R): [] for R in trials}
    with timing.alone():
        for _ in range(repetitions):
            for R in trials:
                found[str(R)].append(timing.seconds({"": (learner, problem)}, horizon, 1, R)[""][0].mean() / R)
    return {R: np.array(values) for R, values in found.items()}


def time_batches(learner: Learner, problem: Problem, horizon: int, trials: tuple[int, ...], repetitions: int) -> dict[int, np.ndarray]:
    """Mean seconds a round and trial, N, for each number of trials in one batch; repetitions are interleaved; kept."""
    found = store.once("batches", _batches, learner=learner, problem=problem, horizon=horizon, trials=trials, repetitions=repetitions)
    return {R: found[str(R)] for R in trials}


def binned(seconds: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Middle rounds and seconds of bins of ``width`` rounds, T // width each. ``seconds``: N x T.

    Of the rounds it is the mean, for a learner whose work comes in few rounds must not get these for nothing; of the
    trials the median.
    """
    bins = seconds.shape[1] // width
    return (np.arange(bins) + 0.5) * width, np.median(seconds[:, : bins * width].reshape(-1, bins, width).mean(2), axis=0)


def crossover(first: np.ndarray, other: np.ndarray) -> int | None:
    """The first round from which on the first learner has needed less, however many rounds are counted from there.

    In a trial it is where the seconds by which the learner is behind are the most; of single rounds some may stay above.
    Not if it does not need less by the end, or only in the last tenth of the rounds. Of the trials it is the median,
    which one slow round cannot move. None: in most trials it never does. ``first``, ``other``: N x T each.
    """
    T = min(first.shape[1], other.shape[1])
    behind = np.cumsum(first[:, :T] - other[:, :T], axis=1)
    behind = np.concatenate([np.zeros((len(behind), 1)), behind], axis=1)
    starts = T - behind[:, ::-1].argmax(1)
    middle = np.median(np.where(starts < 0.9 * T, starts + 1.0, np.inf))
    return int(middle) if np.isfinite(middle) else None


def seconds_ratio(a: np.ndarray, b: np.ndarray, rounds: list[np.ndarray]) -> stats.Interval:
    """Ratio of mean seconds over some rounds of each trial, as indices; bootstrap over trials. ``a``, ``b``: N x T."""
    above, below = (np.array([x[i, at].mean() for i, at in enumerate(rounds)]) for x in (a, b))
    return stats.ratio(above, below, of="mean seconds", resamples=RESAMPLES)


def time_growth(seconds: np.ndarray, bins: int = 20) -> stats.Interval:
    """Log-log slope of seconds a round over the last three quarters of the rounds, from medians of bins; bootstrap over trials. N x T."""
    middles, medians = timing.by_bin(seconds, max(1, seconds.shape[1] // bins))
    late = middles >= seconds.shape[1] / 4
    x = np.log(middles[late]) - np.log(middles[late]).mean()
    slopes = np.log(medians[:, late]) @ x / (x @ x)
    return stats.bootstrap_mean(slopes, of="log-log slope of seconds", resamples=RESAMPLES)


def _large_run(arms: int, rounds: int) -> dict[str, float]:
    command = [sys.executable, "-m", "paperlib.bkb.experiments.cost", str(arms), str(rounds)]
    with timing.alone():
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise RuntimeError(f"{arms} arms, {rounds} rounds: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def large_run(arms: int, rounds: int) -> dict[str, float]:
    """LazyBKB on ``dense_1d(arms)``, one trial, in a process of its own: cpu seconds and peak bytes of all that process did, dictionary, regret; kept."""
    return {name: float(value) for name, value in store.once("large_run", _large_run, arms=arms, rounds=rounds).items()}


def _report(arms: int, rounds: int) -> dict[str, float]:
    torch.set_num_threads(1)
    problem = dense_1d(arms)
    trace = play(LazyBKB(problem.kernel, Confidence(problem.noise, problem.norm)), problem, rounds, 1, record=1)
    last = {"dictionary": float(trace["report.dictionary"][0]), "regret": float(trace["regret"][0, -1])}
    return {"cpu": time.process_time(), "bytes": peak_bytes(), "seconds": float(trace.seconds[-1]), **last}


if __name__ == "__main__":
    print(json.dumps(_report(*map(int, sys.argv[1:]))))
