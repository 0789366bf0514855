"""Regret against T, against V_T and under a misspecified V_T: which runs, and what is read off them.

A cell is a path, by name, with a horizon. Paths stretch with T, therefore each cell is a run of its own.
Letters: R trials, T rounds, V = V_T.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from paperlib import stats
from paperlib.core.contracts import Learner
from paperlib.core.rounds import Probe
from paperlib.core.trace import Trace
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.restarted import Restarted
from paperlib.nsbco.probes import LOG
from paperlib.nsbco.problems.paths import (
    Abrupt,
    Level,
    Rotation,
    Several,
    Sinusoid,
    Stationary,
    Triangle,
    Walk,
)
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ...store import results as store
from .settings import learners

Cell = tuple[str, int]  # a path's name, and T
Runs = dict[Cell, dict[str, Trace]]

PATHS = {"stationary": Stationary(), "walk": Walk(), "level": Level()}
WAVES = {"rotation": Rotation, "triangle": Triangle, "sinusoid": Sinusoid}  # by V_T
WORDS = {"stationary": "nothing moves", "walk": "random walk", "level": "only the level moves"}
SMOOTH = (*WAVES, "walk")  # whose maximizer moves all the time
CURVES = (  # the learners of the figure against T
    "Algorithm 2",
    "Algorithm 2, oracle",
    "EGS, oracle",
    "KW, oracle",
    "BoB",
    "MALG",
    "MASTER",
    "MASTERw",
    "GLR",
)
FEWER = tuple(name for name in CURVES if name not in ("EGS, oracle", "KW, oracle"))  # 17 segments
SWEEP = ("Algorithm 2", "Algorithm 2, oracle", "KWtrack", "SPSA", "GLR", "MALG", "MASTER")
BANDS = ("MASTER", "MASTERw", "MALG", "KWtrack", "SPSA", "GLR", "static baseline")
LOGGED = ("MASTER", "MASTERw", "GLR")  # they restart when a test fails, and log it
ORACLE, ASSUMED = "Algorithm 2, oracle", "kappa "  # kappa = 1, and the name of any other
RESAMPLES = 2000


def kind(name: str) -> str:
    """The word of a path's name: "abrupt" of "abrupt5"."""
    return name.rstrip("0123456789.")


def problem(name: str) -> QuadraticDrift:
    """REF on a path: "abrupt5" has five segments, "rotation4", "triangle8" and "sinusoid10" have V_T = 4, 8, 10.

    Raises:
        ValueError: a name without a path, or a number that its path refuses.
    """
    word = kind(name)
    of = name.removeprefix(word)
    if word == "abrupt" and of.isdecimal():
        return QuadraticDrift(Abrupt(int(of)))
    if word in WAVES and of.count(".") < 2 and of.strip("."):
        return QuadraticDrift(WAVES[word](float(of)))
    if word not in PATHS or of:
        allowed = f"{', '.join(PATHS)}, or abrupt, {', '.join(WAVES)} with a number"
        raise ValueError(f"name={name!r}; allowed: {allowed}")
    return QuadraticDrift(PATHS[word])


def title(name: str) -> str:
    """A path in words, with its V_T where that is a number of its own, and the number of its changes where that is one."""
    if name in WORDS:
        return WORDS[name]
    word, of = kind(name), name.removeprefix(kind(name))
    if word == "abrupt":
        return f"abrupt, {changes(name)}, $V_T = {int(of) - 1}$"
    return f"{word}, $V_T = {of}$"


def changes(name: str) -> str:
    """How often f_t changes, in words."""
    if kind(name) == "abrupt":
        return f"{int(name.removeprefix('abrupt')) - 1} changes"
    return "0 changes" if name == "stationary" else "changes in every round"


def part(name: str, horizon: int, trials: int, seed: int) -> np.ndarray:
    """The trials' paths, see ``QuadraticDrift.part``, which a trace does not keep: change points where they are abrupt."""
    return problem(name).part([*range(seed, seed + trials)], horizon)


def variation(name: str, horizon: int, trials: int, seed: int) -> np.ndarray:
    """V_T, R; with the trials' own paths where they differ."""
    V = problem(name).variation(part(name, horizon, trials, seed), horizon)
    return np.broadcast_to(V, (trials,))


# Runs --------------------------------------------------------------------------------------------------------


def assumed(kappas: Sequence[float]) -> dict[float, str]:
    """Names of Algorithm 2 restarted as if V_T were kappa times what it is."""
    return {kappa: ORACLE if kappa == 1 else f"{ASSUMED}{kappa:g}" for kappa in kappas}


def learner(name: str) -> Learner:
    """One of ``settings.learners``, or of ``assumed``."""
    if name.startswith(ASSUMED):
        return Restarted(GradientAscent(), float(name.removeprefix(ASSUMED)))
    return learners(name)[name]


def watch(name: str) -> dict[str, Probe]:
    """The log of a learner that keeps one."""
    return {"log": LOG} if name in LOGGED else {}


def together(*plans: dict[Cell, Sequence[str]]) -> dict[Cell, list[str]]:
    """All cells with the names of the learners that one of the plans asks for, each once, in the order in which they come."""
    found: dict[Cell, dict[str, None]] = {}
    for plan in plans:
        for cell, names in plan.items():
            found.setdefault(cell, {}).update(dict.fromkeys(names))
    return {cell: list(names) for cell, names in found.items()}


ROWS = 256  # trials in one batch, at most, unless one path has more


def batches(plan: dict[Cell, dict[str, int]]) -> Iterator[tuple[str, int, dict[str, int]]]:
    """Yield the runs that are played as one batch: a learner, T, and the number of trials of each path.

    Args:
        plan: trials of each learner in each cell.
    """
    cells_of: dict[tuple[str, int], dict[str, int]] = {}
    for (path, T), counts in plan.items():
        for name, count in counts.items():
            cells_of.setdefault((name, T), {})[path] = count
    for (name, T), counts in cells_of.items():
        batch: dict[str, int] = {}
        for path, count in counts.items():
            if batch and sum(batch.values()) + count > ROWS:
                yield name, T, batch
                batch = {}
            batch[path] = count
        yield name, T, batch


def play_all(plan: dict[Cell, dict[str, int]], seed: int, device: str) -> Runs:
    """Play every learner in every cell, the paths of one learner and horizon together.

    Args:
        plan: trials of each learner in each cell.
        seed: trial i of each path draws what trial 0 of ``seed + i`` draws.
        device: see ``play``.

    Returns:
        Traces of the last round. In a shard there are none, see ``store.run``.
    """
    runs: Runs = {cell: {} for cell in plan}
    for name, T, counts in batches(plan):
        paths = tuple(problem(path).path for path in counts)
        trials = [trial for count in counts.values() for trial in range(count)]
        together = QuadraticDrift(Several(paths, tuple(counts.values())))
        how = {"chunk": len(trials), "record": 1, "probes": watch(name), "device": device}
        trace = store.run(together, {name: learner(name)}, T, trials, seed, **how)[name]
        if store.shard():
            continue
        for (path, count), end in zip(counts.items(), np.cumsum([*counts.values()]).tolist()):
            runs[path, T][name] = trace.part(end - count, end)
    # in the order of the plan; a shard has no traces
    return {cell: {name: runs[cell][name] for name in plan[cell] if runs[cell]} for cell in plan}


# What is read off them ---------------------------------------------------------------------------------------


def totals(runs: Runs, *places: tuple[Cell, str]) -> np.ndarray:
    """R_T of each learner in its cell, R x places: the first trials that all of them have."""
    found = [runs[cell][name].last() for cell, name in places]
    return np.stack([x[: min(map(len, found))] for x in found], 1)


def slope(
    runs: Runs, cells: Sequence[Cell], name: str, along: Sequence[float], first: float
) -> stats.Interval:
    """Log-log slope of one learner's mean regret.

    Args:
        along: T or V_T of each cell, increasing.
        first: where the slope begins; what lies before is left out.
    """
    found = totals(runs, *((cell, name) for cell in cells))
    return stats.growth(along, found, first, resamples=RESAMPLES)


def slower(
    runs: Runs, cells: Sequence[Cell], name: str, than: str, along: Sequence[float], first: float
) -> stats.Interval:
    """By how much the log-log slope of ``than`` exceeds that of ``name``, bootstrap over the trials of both together."""
    late = [(cell, at) for cell, at in zip(cells, along) if at >= first]
    x = np.log([at for _, at in late])
    # the means of both learners side by side, one column per cell
    both = totals(runs, *((cell, one) for one in (than, name) for cell, _ in late))
    of = lambda mean: (
        stats.slopes(x, np.log(mean[..., : len(x)])) - stats.slopes(x, np.log(mean[..., len(x) :]))
    )
    return stats.bootstrap(both, of, of="difference of log-log slopes", resamples=RESAMPLES)


def with_logarithm(exponent: float, along: Sequence[float], first: float) -> float:
    """The log-log slope of T^exponent ln T at these horizons: what one logarithm adds to an exponent there."""
    x = np.log([T for T in along if T >= first])
    return exponent + float(stats.slopes(x, np.log(x)))


def factor(regret: np.ndarray, V: float | np.ndarray, horizon: int) -> np.ndarray:
    """R_T / (V^{1/3} T^{2/3})."""
    return regret / (np.asarray(V) ** (1 / 3) * horizon ** (2 / 3))


def schedule_share(runs: Runs, cell: Cell) -> stats.Interval:
    """Of what MASTER saves against Algorithm 2 alone, the part that its schedule saves without a test.

    (R(Algorithm 2) - R(MALG)) / (R(Algorithm 2) - R(MASTER)) of the means; the rest is the tests'.
    """
    saved = totals(runs, (cell, "Algorithm 2"), (cell, "MALG"), (cell, "MASTER"))
    share = lambda mean: (mean[..., 0] - mean[..., 1]) / (mean[..., 0] - mean[..., 2])
    return stats.bootstrap(saved, share, of="schedule's share", resamples=RESAMPLES)


def tested(runs: Runs, cell: Cell) -> bool:
    """Whether a test failed in some trial. Else MASTER is MALG in all of them, and a bootstrap of their ratio has no width."""
    return bool(np.diff(totals(runs, (cell, "MASTER"), (cell, "MALG"))).any())


def ratio(runs: Runs, cell: Cell, above: str, below: str) -> stats.Interval:
    """Ratio of two learners' mean regret in a cell."""
    a, b = (runs[cell][name].last() for name in (above, below))
    return stats.ratio(a, b, of="mean regret", resamples=RESAMPLES)


def less(runs: Runs, cells: Sequence[Cell], method: str, baseline: str) -> stats.Test:
    """Whether the method has less regret than the baseline, in all of the cells, Holm over them."""
    pair = lambda cell: totals(runs, (cell, method), (cell, baseline))
    return stats.weakest(stats.wilcoxon({cell[0]: np.diff(pair(cell))[:, 0] for cell in cells}))


def trials_of(cell: Cell, name: str, few: Sequence[Cell], counts: dict[str, int]) -> int:
    """How many trials a learner is given in a cell.

    Args:
        few: the cells of the long runs.
        counts: "trials", of every run; "long", of those in ``few``; "still", of MASTER where nothing moves.
    """
    if name == "MASTER" and cell[0] == "stationary":
        return max(counts["trials"], counts["still"])
    return max(counts["trials"], counts["long"]) if cell in few else counts["trials"]


def majority(share: stats.Interval) -> str:
    """Whether a share is most of the whole, in words."""
    if share.low > 0.5:
        return "most"
    return "less than half" if share.high < 0.5 else "about half"
