"""Run times per round of runs that take turns on one machine, and statistics of them.

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

Run = tuple[str, Any]  # a learner's name, and the setting that it was timed in
STATISTICS = {"median": np.median, "mean": np.mean, "sum": np.sum}


def _statistic(of: str) -> Callable:
    check_in("of", of, STATISTICS)
    return STATISTICS[of]


class Seconds(dict[Run, np.ndarray]):
    """Run time in seconds of each round of one batch of trials, N x T, by run; ``a | b`` has the runs of both.

    Args:
        rounds: run -> N x T; N and T may differ between runs.
        trials: run -> number of trials that were played as one batch; 1 for a run that it does not contain.

    Examples:
        >>> import numpy as np
        >>> from companion.store import Seconds
        >>> run = ("GLB-OMD", 20)  # a learner's name and a setting
        >>> seconds = Seconds({run: np.array([[2.0, 4.0, 6.0], [4.0, 4.0, 4.0]])}, {run: 2})
        >>> seconds.typical(run).tolist()  # median per repetition, divided by the 2 trials of the batch
        [2.0, 2.0]
        >>> seconds.overall(run, of="sum")
        12.0
    """

    def __init__(self, rounds: Mapping[Run, np.ndarray], trials: Mapping[Run, int]):
        super().__init__(rounds)
        self.trials = dict(trials)

    def __or__(self, other: "Seconds") -> "Seconds":
        return Seconds({**self, **other}, self.trials | other.trials)

    __ior__ = __or__  # the ``|=`` of a dictionary would lose ``trials``

    def names(self, setting: Any) -> list[str]:
        """Return the learners that were timed in a setting."""
        return [name for name, where in self if where == setting]

    def typical(
        self,
        run: Run,
        of: str = "median",
        rounds: Sequence[np.ndarray] | None = None,
        scale: float = 1.0,
    ) -> np.ndarray:
        """Return a statistic of the rounds of each repetition, per trial of the batch, N.

        Args:
            run: learner and setting.
            of: "median", "mean" or "sum".
            rounds: for each repetition the indices of the rounds to use, counted from 0; all rounds by default.
            scale: factor on the result, for example 1000 for milliseconds.

        Raises:
            ValueError: another statistic.
        """
        statistic, rows = _statistic(of), self[run]
        if rounds is not None:
            rows = [row[at] for row, at in zip(rows, rounds, strict=True)]
        return scale * np.array([statistic(row) for row in rows]) / self.trials.get(run, 1)

    def overall(self, run: Run, of: str = "median", scale: float = 1.0) -> float:
        """Return the same statistic over all rounds of all repetitions together."""
        return float(scale * _statistic(of)(self[run]) / self.trials.get(run, 1))

    def ratio(
        self,
        a: Run,
        b: Run,
        of: str = "median",
        rounds: Sequence[np.ndarray] | None = None,
        over: str = "repetitions",
    ) -> stats.Interval:
        """Return the ratio of the typical run times of two runs, averaged over the repetitions that they share.

        Its logarithm has a t-interval. A bootstrap of few repetitions would be too narrow.

        Args:
            a, b: the runs in the numerator and in the denominator.
            of, rounds: as for ``typical``.
            over: name of the repetitions, for example "trials" if each repetition had its own draws.
        """
        above, below = (self.typical(run, of, rounds) for run in (a, b))
        return stats.positive_ratio(above, below, of=f"{of} seconds", over=over)

    def bins(self, run: Run, width: int, of: str = "median") -> tuple[np.ndarray, np.ndarray]:
        """Return the middle rounds of bins of ``width`` rounds, and a statistic of each bin, N x T // width.

        Raises:
            ValueError: bins that are wider than the number of rounds, or another statistic.
        """
        repetitions, T = self[run].shape
        if not 1 <= width <= T:
            raise ValueError(f"width must be an integer from 1 to {T}, got {width}")
        count = T // width
        parts = self[run][:, : count * width].reshape(repetitions, count, width)
        return (np.arange(count) + 0.5) * width, _statistic(of)(parts, axis=2)

    def growth(
        self,
        run: Run,
        width: int | None = None,
        first: float | None = None,
    ) -> stats.Interval:
        """Return the mean of the least-squares slopes of log seconds on log t, from the medians of bins, with a t-interval.

        Args:
            run: learner and setting.
            width: rounds per bin; default: a twentieth of all rounds.
            first: bins with an earlier middle are left out; default: a quarter of all rounds.
        """
        T = self[run].shape[1]
        middles, medians = self.bins(run, max(1, T // 20) if width is None else width)
        # The first rounds are left out, because fixed costs dominate in them and flatten the slope.
        late = middles >= (T / 4 if first is None else first)
        return stats.slope(np.log(middles[late]), np.log(medians[:, late]))

    def bars(
        self, of: str = "median", scale: float = 1.0, label: str = "{}"
    ) -> dict[str, dict[str, np.ndarray]]:
        """Return name -> setting -> ``typical``, N, as ``figures.time_panel`` takes it.

        Args:
            of, scale: as for ``typical``.
            label: format of a setting, for example "S = {}".
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
    """Time runs that take turns, with exclusive use of the machine, and store the measurements with the results.

    Stored measurements belong to this machine. The same call on it returns them, whatever names the runs have;
    ``python3 run.py clean`` removes them.

    Args:
        runs: (learner's name, setting) -> learner and problem.
        horizon, repetitions, seed, anew: as for ``timing.time_rounds``.
        trials: number of trials that are played as one batch; one number for all runs, or a number by run.

    Raises:
        ValueError: a run without a number of trials.
    """
    counts = values_by_name(trials, runs)
    played = {"runs": list(runs.values()), "trials": [counts[run] for run in runs]}
    how = {"horizon": horizon, "repetitions": repetitions, "seed": seed, "anew": anew}
    found = cached_call("time_runs", time_rounds, **played, **how)
    return Seconds(dict(zip(runs, found["seconds"])), counts)
