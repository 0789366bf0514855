"""A field of the arena: its problems and learners, the runs of all pairs in both tracks, and their normalized regrets."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from paperlib import stats
from paperlib.core.contracts import Learner, Problem
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace

from ..store.results import run
from .scores import interquartile_mean, middle_mean, normalize

OWN = "your problems"  # group of the problems of a user
UNIFORM = "uniform"  # the learner whose mean regret is the unit of the normalized regret
GRID = (0.01, 0.03, 0.1, 0.3, 1.0)  # candidates for the scale of every learner in the track "tuned"
TUNING_SEED = 10**6  # trial i of the tuning has the random numbers of trial TUNING_SEED + i
DELTA = 0.01  # failure probability of every confidence set


def first_context(problem: Problem, horizon: int = 1) -> Any:
    """Return the context of the first round for one trial, which shows the sizes of a problem."""
    draw = Streams(0, range(1)).at(-1)
    return problem.context(problem.init(1, horizon, draw, dtype=torch.float64), 0)


class ArenaProblem(Protocol):
    """Protocol of a problem of the arena.

    Attributes:
        problem: the environment.
        family: name of the model of the rewards, for example "logistic".
        group: problems whose scores are averaged.
        fixed: True if the context is the same in all rounds.
    """

    problem: Problem
    family: str
    group: str
    fixed: bool

    def known(self, horizon: int) -> Any:
        """Return the information that every learner receives."""


class ArenaLearner(NamedTuple):
    """A learner of the arena.

    Attributes:
        build: information and scale -> learner. The scale None means the constants of the theorem.
        covers: families of problems that its model covers.
        nearly: families that it plays although its model is wrong.
        fresh: True if it can play arms that change.
        scaled: False if it has no scale, so that it is equal in both tracks.
        peer: True for a learner of another library. It plays fewer trials, because its run time is proportional to their number, and an
            interrupted run starts again, because its state cannot be saved.
        own: True for a user's learner.
    """

    build: Callable[[Any, float | None], Learner]
    covers: tuple[str, ...]
    nearly: tuple[str, ...] = ()
    fresh: bool = False
    scaled: bool = True
    peer: bool = False
    own: bool = False

    def plays(self, problem: ArenaProblem) -> bool:
        """Return whether the learner plays a problem."""
        return problem.family in self.covers + self.nearly and (problem.fixed or self.fresh)


Traces = dict[str, dict[str, Trace]]  # problem -> learner -> trace


def compete(
    problems: Mapping[str, ArenaProblem],
    learners: Mapping[str, ArenaLearner],
    scales: Mapping[str, float | None],
    horizon: int,
    trials: int,
    seed: int,
    peer_trials: int | None = None,
    **how: Any,
) -> Traces:
    """Run every learner on every problem that it plays, with the same noise for all learners of a problem.

    Args:
        problems, learners: by name.
        scales: scale by learner; None for the constants of the theorem.
        horizon, trials, seed: see ``store.run``.
        peer_trials: number of trials of learners of other libraries, the first ones; None for all.
        how: further arguments of ``store.run``.
    """
    found = {}
    for name, problem in problems.items():
        known = problem.known(horizon)
        built = {
            learner: entry.build(known, scales[learner])
            for learner, entry in learners.items()
            if entry.plays(problem)
        }
        how = {"chunk": trials, "record": 50} | how
        peers = {learner: x for learner, x in built.items() if learners[learner].peer}
        others = {learner: x for learner, x in built.items() if learner not in peers}
        found[name] = run(problem.problem, others, horizon, trials, seed, **how)
        if peers:
            first = min(trials, peer_trials or trials)
            own = how | {"chunk": first, "every": math.inf}
            found[name] |= run(problem.problem, peers, horizon, first, seed, **own)
    return found


def tune(
    problems: Mapping[str, ArenaProblem],
    learners: Mapping[str, ArenaLearner],
    horizon: int,
    trials: int,
    seed: int,
    **how: Any,
) -> dict[float, Traces]:
    """Run the learners with each scale of ``GRID``, on other trials than those of a comparison with the same seed.

    Learners without a scale are left out. ``how``: further arguments of ``compete``.
    """
    entries = {name: entry for name, entry in learners.items() if entry.scaled or name == UNIFORM}
    play = lambda scale: compete(
        problems,
        entries,
        dict.fromkeys(entries, scale),
        horizon,
        trials,
        seed + TUNING_SEED,
        **how,
    )
    return {scale: play(scale) for scale in GRID}


def score_scales(tuning: Mapping[float, Traces]) -> dict[str, dict[float, float]]:
    """Return the interquartile mean of the normalized regret over all problems, learner -> scale -> mean."""
    found: dict[str, dict[float, float]] = {}
    for scale, traces in tuning.items():
        scores: dict[str, list[np.ndarray]] = {}
        for each in traces.values():
            for name, values in normalize(each, UNIFORM).items():
                scores.setdefault(name, []).append(values)
        for name in scores.keys() - {UNIFORM}:
            found.setdefault(name, {})[scale] = float(middle_mean(scores[name]))
    return found


def best_scales(tuning: Mapping[float, Traces]) -> dict[str, float]:
    """Return the scale with the lowest interquartile mean of the normalized regret over all problems, by learner."""
    scores = score_scales(tuning)
    return {name: min(found, key=found.get) for name, found in scores.items()}


class Outcome(NamedTuple):
    """Normalized regrets of a field.

    Attributes:
        problems, learners: by name.
        tracks: track -> problem -> learner -> normalized regret of each trial, R.
    """

    problems: Mapping[str, ArenaProblem]
    learners: Mapping[str, ArenaLearner]
    tracks: dict[str, dict[str, dict[str, np.ndarray]]]

    @classmethod
    def of(
        cls,
        problems: Mapping[str, ArenaProblem],
        learners: Mapping[str, ArenaLearner],
        tracks: Mapping[str, Traces],
    ) -> "Outcome":
        """Return the normalized regrets of the traces of each track."""
        scores = {
            track: {problem: normalize(found, UNIFORM) for problem, found in traces.items()}
            for track, traces in tracks.items()
        }
        return cls(problems, learners, scores)

    def groups(self) -> dict[str, list[str]]:
        """Return the problems of each group."""
        found: dict[str, list[str]] = {}
        for name, problem in self.problems.items():
            found.setdefault(problem.group, []).append(name)
        return found

    def complete(self, group: str) -> list[str]:
        """Return the learners that play all problems of a group. Only their means over the group are comparable."""
        played = [self.problems[name] for name in self.groups()[group]]
        return [name for name, entry in self.learners.items() if all(map(entry.plays, played))]

    def scores(self, track: str, group: str, learner: str) -> list[np.ndarray]:
        """Return the scores of a learner on each problem of a group, R each."""
        return [self.tracks[track][problem][learner] for problem in self.groups()[group]]

    def means(self, track: str, group: str) -> dict[str, stats.Interval]:
        """Return the interquartile mean of each learner that plays all problems of a group."""
        return {
            name: interquartile_mean(self.scores(track, group, name))
            for name in self.complete(group)
        }
