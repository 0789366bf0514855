"""Result of a simulation."""

import dataclasses
import json
import os
from collections.abc import Sequence

import numpy as np

from .extras import extra
from .files import write_atomically


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Result of ``play``: the recorded rounds of all trials.

    Attributes:
        rounds: T', the recorded rounds, counted from 1.
        series: name -> R x T' (x k); "regret" is the cumulative regret.
        final: name -> R (x k), computed once after the last round.
        seconds: T', cumulative run time of ``select`` and ``update`` in seconds: all trials of a chunk together, summed over
            chunks. ``equal`` ignores it.
        trials: the trials, in the order of the rows.
        about: learner, problem, horizon, seed, device, versions.

    Examples:
        >>> import numpy as np
        >>> from paperlib.core.trace import Trace
        >>> regret = np.array([[1.0, 2.0], [3.0, 5.0]])
        >>> trace = Trace(np.array([10, 20]), {"regret": regret}, {}, np.zeros(2), [0, 1], {})
        >>> trace.at(10).tolist(), trace.last().tolist()
        ([1.0, 3.0], [2.0, 5.0])
    """

    rounds: np.ndarray
    series: dict[str, np.ndarray]
    final: dict[str, np.ndarray]
    seconds: np.ndarray
    trials: list[int]
    about: dict

    def __getitem__(self, name: str) -> np.ndarray:
        return self.series[name] if name in self.series else self.final[name]

    def __repr__(self) -> str:
        learner = self.about.get("learner", {}).get("kind", "?").rsplit(".", 1)[-1]
        regret = f", regret {self['regret'][:, -1].mean():.6g}" if "regret" in self.series else ""
        return f"Trace({learner}, {len(self.trials)} trials, {self.rounds[-1]} rounds{regret})"

    def equal(self, other: "Trace") -> bool:
        """Return whether trials, rounds and numbers are equal bit for bit; ``seconds`` are not compared."""
        same = lambda a, b: (
            a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)
        )
        return (
            self.trials == other.trials
            and np.array_equal(self.rounds, other.rounds)
            and same(self.series, other.series)
            and same(self.final, other.final)
        )

    def to_pandas(self):
        """Return a pandas DataFrame in long form: one row per trial and recorded round, one column per series.

        Returns:
            Columns "trial", "round", then the series. A series with k numbers per round has the columns "name.0" to "name.k-1".

        Raises:
            ValueError: two columns with the same name.
        """
        with extra("tables", "Trace.to_pandas"):
            import pandas
        # A series R x T' flattens with the round as the fastest index, which `repeat` and `tile` follow.
        R, T = len(self.trials), len(self.rounds)
        columns = {"trial": np.repeat(self.trials, T), "round": np.tile(self.rounds, R)}
        for name, x in self.series.items():
            parts = x.reshape(R * T, -1).T
            named = (
                {name: parts[0]} if x.ndim == 2 else {f"{name}.{i}": y for i, y in enumerate(parts)}
            )
            if twice := columns.keys() & named.keys():
                raise ValueError(
                    f"the columns of series {name!r} must have names that no other series uses, got {sorted(twice)}"
                )
            columns |= named
        return pandas.DataFrame(columns)

    def last(self, name: str = "regret") -> np.ndarray:
        """Return a series after the last round, R (x k); for "regret" it is the total regret."""
        return self.series[name][:, -1]

    def at(self, t: int, name: str = "regret") -> np.ndarray:
        """Return a series after round ``t``, R (x k); for t = 0 it is 0.

        Raises:
            ValueError: the round was not recorded.
        """
        if t == 0:
            return np.zeros_like(self.series[name][:, 0])
        return self.series[name][:, self._places([t])[0]]

    def thin(self, rounds: Sequence[int]) -> "Trace":
        """Return the trace restricted to some of its recorded rounds.

        Raises:
            ValueError: a round that was not recorded.
        """
        at = self._places(rounds)
        return dataclasses.replace(
            self,
            rounds=self.rounds[at],
            series={name: x[:, at] for name, x in self.series.items()},
            seconds=self.seconds[at],
        )

    def part(self, first: int, last: int) -> "Trace":
        """Return rows ``first`` .. ``last - 1``. ``seconds`` remains the run time of all rows."""
        rows = lambda kind: {name: x[first:last] for name, x in kind.items()}
        return dataclasses.replace(
            self,
            series=rows(self.series),
            final=rows(self.final),
            trials=self.trials[first:last],
        )

    def _places(self, rounds: Sequence[int]) -> np.ndarray:
        if missing := sorted({int(t) for t in rounds} - {int(t) for t in self.rounds}):
            raise ValueError(
                f"rounds must be recorded rounds, got {missing}. The recorded rounds are {self.rounds.tolist()}"
            )
        return np.searchsorted(self.rounds, np.asarray(rounds, int))

    def save(self, path: str | os.PathLike) -> None:
        """Write the trace to one npz file, without pickle."""
        arrays = {f"series.{k}": v for k, v in self.series.items()} | {
            f"final.{k}": v for k, v in self.final.items()
        }
        # JSON in a string array, because pickle would execute code when a file is loaded.
        head = np.array(json.dumps({"about": self.about, "trials": self.trials}))
        write_atomically(
            path,
            lambda file: np.savez(
                file, head=head, rounds=self.rounds, seconds=self.seconds, **arrays
            ),
        )

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Trace":
        """Return the trace in a file that ``save`` wrote."""
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            part = lambda prefix: {
                k.removeprefix(prefix): file[k] for k in file.files if k.startswith(prefix)
            }
            return cls(
                file["rounds"],
                part("series."),
                part("final."),
                file["seconds"],
                head["trials"],
                head["about"],
            )

    @classmethod
    def merge(cls, parts: Sequence["Trace"]) -> "Trace":
        """Concatenate chunks of the same run along the trials.

        Raises:
            ValueError: chunks of different runs or with different recorded rounds.
        """
        # Chunks differ in their trials, so these are not compared.
        first, about = parts[0], {k: v for k, v in parts[0].about.items() if k != "trials"}
        for part in parts[1:]:
            if {
                k: v for k, v in part.about.items() if k != "trials"
            } != about or not np.array_equal(part.rounds, first.rounds):
                raise ValueError(
                    f"parts must be chunks of one run with equal learner, problem, horizon, seed and rounds, got {list(parts)!r}"
                )
        join = lambda kind: {
            k: np.concatenate([getattr(p, kind)[k] for p in parts]) for k in getattr(first, kind)
        }
        return cls(
            first.rounds,
            join("series"),
            join("final"),
            sum(p.seconds for p in parts),
            [trial for p in parts for trial in p.trials],
            about,
        )
