"""What a dictionary and a round cost: probes, statistics over trials, and seconds measured alone on the machine.

Seconds are kept with the results and are of this machine; ``python3 run.py clean`` forgets them.
``python -m paperlib.bkb.cost ARMS ROUNDS`` prints CPU seconds and peak memory of one run in its own process.
Letters: R trials, N repetitions, T rounds, A arms; m_t arms in the dictionary, U_t arms pulled so far, n pulls,
d_eff effective dimension, s2 scaled variance. Index t - 1 of a series is round t.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor

from .. import stats, store, timing
from ..core import Learner, Problem, Trace
from ..gp import Kernel, exact_posterior
from ..play import Round, play
from ..speed import peak_bytes
from .confidence import Confidence
from .lazy import LazyBKB
from .probes import own
from .settings import dense_1d
from .sketch import listed, points_at
from .theory import size_expected

RESAMPLES = 2000  # of the bootstrap
ALPHAS = (1.1, 1.5, 2.0, 3.0, 5.0)  # factors within which a variance may lie
OFTEN = 5         # pulls

# Probes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactDimension:
    """d_eff(t) = sum_i n_i s2_t(x_i) of the exact posterior after the round, R; O(U^3), from the counters alone."""

    kernel: Kernel
    ridge: float

    def __call__(self, seen: Round) -> Tensor:
        n = own(seen.after).n
        slots = listed(n > 0, max(int((n > 0).sum(1).max()), 1))
        count, points = n.gather(1, slots.index) * slots.valid, points_at(seen.context, slots.index)
        found = exact_posterior(self.kernel, points, count, torch.zeros_like(count), self.ridge, points)
        return (count * found.variance).sum(1) / self.ridge


def entered(seen: Round) -> Tensor:
    """Suboptimal arms after the round, R x 6: how many were pulled at least ``OFTEN`` times, how many of them are in the
    dictionary, their n s2 together; then the same of those pulled once."""
    after, world = own(seen.after), seen.world
    worse = world.means < world.best.unsqueeze(1)
    groups = [worse & (after.n >= OFTEN), worse & (after.n == 1)]
    return torch.stack([(group * of).sum(1) for group in groups for of in (1.0, after.mask, after.n * after.s2)], 1)


# Statistics over trials -----------------------------------------------------------------------------------


def accuracy(ratio: np.ndarray) -> dict[str, list[float]]:
    """Shares of rounds, and of trials in all their rounds, whose worst ratio of variances lies within each of ``ALPHAS``. ``ratio``: R x T."""
    return {
        "rounds": [float((ratio <= alpha).mean()) for alpha in ALPHAS],
        "trials": [float((ratio.max(1) <= alpha).mean()) for alpha in ALPHAS],
    }


def falls(shares) -> int:
    """Steps at which a sequence falls."""
    return int((np.diff(np.asarray(shares, float)) < 0).sum())


def expected_share(trace: Trace, qbar: float, eps: float = 0.5) -> np.ndarray:
    """Mean over rounds of the expected pulls in the dictionary / (alpha qbar d_eff(t - 1) + 1), R.

    ``trace``: with "expected size" and "dimension" of every round, R x T each.
    """
    before = np.pad(trace["dimension"][:, :-1], ((0, 0), (1, 0)))  # d_eff(0) = 0
    return (trace["expected size"] / size_expected(before, qbar, eps)).mean(1)


def excess(size: np.ndarray, unique: np.ndarray, drawn: np.ndarray) -> int:
    """Rounds, over all trials, in which the dictionary has more arms than were pulled, or than pulls were drawn. R x T each."""
    return int((size > np.minimum(unique, drawn)).sum())


def _interval(estimate: float, samples: np.ndarray, n: int, method: str) -> stats.Interval:
    low, high = np.quantile(samples[np.isfinite(samples)], [0.025, 0.975])
    return stats.Interval(float(estimate), float(low), float(high), n, f"{method}, 95 % bootstrap over trials")


def often_minus_once(counts: np.ndarray, seed: int = 0) -> stats.Interval:
    """Share in the dictionary among arms that were pulled often minus among those pulled once. ``counts``: R x 6, see ``entered``.

    Trials are resampled; their arms are counted together.

    Raises:
        ValueError: no arm was pulled often, or none once.
    """
    share = lambda c: c[..., 1] / c[..., 0] - c[..., 4] / c[..., 3]
    total = counts.sum(0)
    if not (total[0] and total[3]):
        raise ValueError(f"counts={total.tolist()}; allowed: some arms pulled often, some pulled once")
    rows = np.random.default_rng(seed).integers(0, len(counts), (RESAMPLES, len(counts)))
    with np.errstate(divide="ignore", invalid="ignore"):  # resamples without such arms are left out
        return _interval(share(total), share(counts[rows].sum(1)), len(counts), "difference of shares")


def _correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rank correlation along the last axis, NaN where one is constant."""
    a, b = (ranks - ranks.mean(-1, keepdims=True) for ranks in (rankdata(x, axis=-1), rankdata(y, axis=-1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def mean_correlation(pairs: dict[str, tuple[np.ndarray, np.ndarray]], seed: int = 0) -> stats.Interval:
    """Mean over problems of the rank correlation over trials; trials are resampled within each problem.

    Resamples in which a quantity is constant have no correlation and are left out.

    Args:
        pairs: problem -> two quantities, one number a trial each.

    Raises:
        ValueError: a quantity that is the same in all trials of a problem.
    """
    rng = np.random.default_rng(seed)
    estimates, samples = [], []
    for name, (x, y) in pairs.items():
        x, y = np.asarray(x, float), np.asarray(y, float)
        if len(x) != len(y) or np.ptp(x) == 0 or np.ptp(y) == 0:
            raise ValueError(f"pairs[{name!r}]: {len(x)} and {len(y)} trials, ranges {np.ptp(x)} and {np.ptp(y)}; allowed: as many, and neither constant")
        rows = rng.integers(0, len(x), (RESAMPLES, len(x)))
        estimates.append(_correlations(x, y))
        samples.append(_correlations(x[rows], y[rows]))
    return _interval(np.mean(estimates), np.mean(samples, 0), min(len(x) for x, _ in pairs.values()), "mean rank correlation")


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

    It is where the seconds by which it is behind are the most; of single rounds some may stay above. None: it does not
    need less by the end, or only in the last tenth of the rounds. ``first``, ``other``: N x T each, means over the trials are taken.
    """
    T = min(first.shape[1], other.shape[1])
    behind = np.append(0.0, np.cumsum(first[:, :T].mean(0) - other[:, :T].mean(0)))
    start = T - int(behind[::-1].argmax())
    return start + 1 if start < 0.9 * T else None


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
    command = [sys.executable, "-m", "paperlib.bkb.cost", str(arms), str(rounds)]
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
