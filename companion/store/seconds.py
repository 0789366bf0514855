"""What rounds cost: seconds of runs that took turns on one machine, and what is read off them.

Letters: N repetitions, T rounds. A run is named by its learner's name and a setting.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paperlib import stats
from paperlib.core.contracts import Learner, Problem
from paperlib.core.validation import check_in

from .results import cached_call, values_by_name
from .timing import time_rounds

Run = tuple[str, Any]  # a learner's name, and the setting in which it was timed
STATISTICS = {"median": np.median, "mean": np.mean, "sum": np.sum}


def _statistic(of: str) -> Callable:
    check_in("of", of, STATISTICS)
    return STATISTICS[of]


class Seconds(dict[Run, np.ndarray]):
    """Seconds of each round of one batch of trials, N x T, by run; ``a | b`` has the runs of both.

    Args:
        rounds: run -> N x T; runs may differ in both.
        trials: run -> how many were played as one batch; one where it is not named.
    """

    def __init__(self, rounds: Mapping[Run, np.ndarray], trials: Mapping[Run, int]):
        super().__init__(rounds)
        self.trials = dict(trials)

    def __or__(self, other: "Seconds") -> "Seconds":
        return Seconds({**self, **other}, self.trials | other.trials)

    __ior__ = __or__  # that of a dictionary would leave out how many trials were played

    def names(self, setting: Any) -> list[str]:
        """Learners that were timed in a setting."""
        return [name for name, where in self if where == setting]

    def typical(
        self,
        run: Run,
        of: str = "median",
        rounds: Sequence[np.ndarray] | None = None,
        scale: float = 1.0,
    ) -> np.ndarray:
        """A statistic of the rounds of each repetition, for one trial of the batch, N.

        Args:
            run: learner and setting.
            of: "median", "mean" or "sum".
            rounds: for each repetition the rounds that count, as indices from 0; all without it.
            scale: what a second is worth, 1000 for milliseconds.

        Raises:
            ValueError: another statistic.
        """
        statistic, rows = _statistic(of), self[run]
        if rounds is not None:
            rows = [row[at] for row, at in zip(rows, rounds, strict=True)]
        return scale * np.array([statistic(row) for row in rows]) / self.trials.get(run, 1)

    def overall(self, run: Run, of: str = "median", scale: float = 1.0) -> float:
        """The same statistic of all rounds of all repetitions together."""
        return float(scale * _statistic(of)(self[run]) / self.trials.get(run, 1))

    def ratio(
        self,
        a: Run,
        b: Run,
        of: str = "median",
        rounds: Sequence[np.ndarray] | None = None,
        over: str = "repetitions",
        resamples: int = stats.RESAMPLES,
    ) -> stats.Interval:
        """Ratio of what two runs typically took, with a bootstrap over the repetitions they share.

        Args:
            a, b: the runs above and below.
            of, rounds: as for ``typical``.
            over: what the repetitions are, in words: "trials" where each had its own draws.
            resamples: of the bootstrap.
        """
        above, below = (self.typical(run, of, rounds) for run in (a, b))
        return stats.ratio(above, below, of=f"{of} seconds", over=over, resamples=resamples)

    def bins(self, run: Run, width: int, of: str = "median") -> tuple[np.ndarray, np.ndarray]:
        """Middle rounds of bins of ``width`` rounds, and a statistic of each bin, N x T // width.

        Raises:
            ValueError: bins that are wider than the run is long, or another statistic.
        """
        repetitions, T = self[run].shape
        if not 1 <= width <= T:
            raise ValueError(f"width={width}; allowed: 1..{T}")
        count = T // width
        parts = self[run][:, : count * width].reshape(repetitions, count, width)
        return (np.arange(count) + 0.5) * width, _statistic(of)(parts, axis=2)

    def growth(
        self,
        run: Run,
        width: int | None = None,
        first: float | None = None,
        resamples: int | None = None,
    ) -> stats.Interval:
        """Least-squares slope of log seconds on log t, from medians of bins, in each repetition.

        Args:
            run: learner and setting.
            width: rounds of a bin; default a twentieth of all.
            first: bins whose middle is earlier are left out; default a quarter of all rounds.
            resamples: of a bootstrap over the repetitions; without it a t-interval.
        """
        T = self[run].shape[1]
        middles, medians = self.bins(run, max(1, T // 20) if width is None else width)
        late = middles >= (T / 4 if first is None else first)
        x, y = np.log(middles[late]), np.log(medians[:, late])
        if resamples is None:
            return stats.slope(x, y)
        of = "log-log slope of seconds"
        return stats.bootstrap_mean(stats.slopes(x, y), of=of, resamples=resamples)

    def bars(
        self, of: str = "median", scale: float = 1.0, label: str = "{}"
    ) -> dict[str, dict[str, np.ndarray]]:
        """Name -> setting -> ``typical``, N, for ``figures.time_panel``.

        Args:
            of, scale: as for ``typical``.
            label: how a setting is written, "S = {}".
        """
        found: dict[str, dict[str, np.ndarray]] = {}
        for name, setting in self:
            sample = self.typical((name, setting), of, scale=scale)
            found.setdefault(name, {})[label.format(setting)] = sample
        return found


def time_runs(
    runs: Mapping[Run, tuple[Learner, Problem]],
    horizon: int,
    repetitions: int,
    *,
    trials: int | Mapping[Run, int] = 1,
    seed: int = 0,
    anew: bool = False,
) -> Seconds:
    """Seconds of runs that take turns, alone on the machine; kept with the results.

    Kept measurements are of this machine: the same call on it returns them, whatever the runs
    are called; ``python3 run.py clean`` forgets them.

    Args:
        runs: (learner's name, setting) -> learner and problem.
        horizon, repetitions, seed, anew: as for ``timing.time_rounds``.
        trials: played as one batch, for all or by run.

    Raises:
        ValueError: a run without a number of trials.
    """
    counts = values_by_name(trials, runs)
    played = {"runs": list(runs.values()), "trials": [counts[run] for run in runs]}
    how = {"horizon": horizon, "repetitions": repetitions, "seed": seed, "anew": anew}
    found = cached_call("time_runs", time_rounds, **played, **how)
    return Seconds(dict(zip(runs, found["seconds"])), counts)
