"""Regret against T, against V_T and under a misspecified V_T: the runs, their statistics, and the detected changes.

A cell is a path, by name, with a horizon. Paths are scaled to the horizon T, therefore each cell needs a separate run. A change
at c means that round c, counted from 0, is the first round of the new segment. A restart at t happens after t observed rounds.
Therefore only a restart with t > c can be a reaction to the change.
Letters: R trials, T rounds, S segments, V = V_T.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.core.contracts import Learner
from paperlib.core.rounds import Probe
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.restarted import Restarted
from paperlib.nsbco.probes import LOG
from paperlib.nsbco.problems.paths import (
    Abrupt,
    Level,
    MixedPaths,
    Rotation,
    Sinusoid,
    Stationary,
    Triangle,
    Walk,
)
from paperlib.nsbco.problems.quadratic import QuadraticDrift

from ...figures.charts import power_label, sweep_panel
from ...figures.drawing import QUARTILES, style_context
from ...store import results as store
from .settings import learners

Cell = tuple[str, int]  # a path's name, and T
Runs = dict[Cell, dict[str, Trace]]

PATHS = {  # kind of path -> path, from the number in its name
    "stationary": Stationary,
    "abrupt": lambda segments: Abrupt(int(segments)),
    "rotation": lambda V: Rotation(float(V)),
    "triangle": lambda V: Triangle(float(V)),
    "sinusoid": lambda V: Sinusoid(float(V)),
    "walk": Walk,
    "level": Level,
}
WORDS = {"stationary": "stationary", "walk": "random walk", "level": "only the level changes"}
SMOOTH = ("rotation", "triangle", "sinusoid", "walk")  # paths whose maximizer moves continuously
CURVES = (  # learners of the figure against T
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
# learners on the path with 17 segments
FEWER = tuple(name for name in CURVES if name not in ("EGS, oracle", "KW, oracle"))
SWEEP = ("Algorithm 2", "Algorithm 2, oracle", "KWtrack", "SPSA", "GLR", "MALG", "MASTER")
BANDS = ("MASTER", "MASTERw", "MALG", "KWtrack", "SPSA", "GLR", "static baseline")
LOGGED = ("MASTER", "MASTERw", "GLR")  # learners that log their restarts by tests
RULES = ("GLR", "KWtrack", "D-LS")  # learners simpler than MASTER, without a theorem like MASTER's
REFERENCES = ("full information", "static baseline")
RIVALS = tuple(  # learners that observe rewards and do not know V_T
    name for name in learners() if name not in REFERENCES and "oracle" not in name
)
# name for kappa = 1, and prefix of the names for other kappa
ORACLE, ASSUMED = "Algorithm 2, oracle", "kappa "
RESAMPLES = 2000
ROWS = 256  # largest number of trials in one batch, unless a single path has more

# Paths by name -----------------------------------------------------------------------------------------------


def kind(name: str) -> str:
    """Return the kind of path in a path's name, for example "abrupt" for "abrupt5"."""
    return name.rstrip("0123456789.")


def problem(name: str) -> QuadraticDrift:
    """Return the reference problem on a path.

    For example, "abrupt5" has five segments, and "rotation4", "triangle8" and "sinusoid10" have V_T = 4, 8, 10.
    """
    word = kind(name)
    number = name.removeprefix(word)
    if word not in PATHS:
        raise ValueError(f"name must begin with one of {', '.join(PATHS)}, got {name!r}")
    return QuadraticDrift(PATHS[word](number) if number else PATHS[word]())


def title(name: str) -> str:
    """Return the title of a path, with V_T if it is a parameter of the path, and with the number of changes if they are abrupt."""
    word = kind(name)
    of = name.removeprefix(word)
    if word == "abrupt":
        return f"abrupt, {changes(name)}, $V_T = {int(of) - 1}$"
    return WORDS.get(name, f"{word}, $V_T = {of}$")


def changes(name: str) -> str:
    """Return a text with the number of changes of f_t."""
    if kind(name) == "abrupt":
        return f"{int(name.removeprefix('abrupt')) - 1} changes"
    return "0 changes" if name == "stationary" else "changes in every round"


def abrupt_and_smooth(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the paths with abrupt changes, and the paths whose maximizer moves continuously."""
    abrupt = [path for path in paths if kind(path) == "abrupt"]
    return abrupt, [path for path in paths if kind(path) in SMOOTH]


def part(name: str, horizon: int, trials: int, seed: int) -> np.ndarray:
    """Recompute the trials' paths, which a trace does not store; for abrupt paths, these are the change points.

    See ``QuadraticDrift.part``.
    """
    return problem(name).part([*range(seed, seed + trials)], horizon)


def variation(name: str, horizon: int, trials: int, seed: int) -> np.ndarray:
    """Return V_T of each trial's path, R."""
    V = problem(name).variation(part(name, horizon, trials, seed), horizon)
    return np.broadcast_to(V, (trials,))


def variations(paths: Sequence[str], horizon: int, trials: int, seed: int) -> str:
    """Return a text with V_T and the number of changes of each path."""
    V = {path: float(variation(path, horizon, trials, seed).mean()) for path in paths}
    return "; ".join(f"{path} {format_number(V[path])}, {changes(path)}" for path in paths)


# Runs --------------------------------------------------------------------------------------------------------


def assumed(kappas: Sequence[float]) -> dict[float, str]:
    """Return the names of Algorithm 2 with restarts for an assumed variation of kappa times the true V_T."""
    return {kappa: ORACLE if kappa == 1 else f"{ASSUMED}{kappa:g}" for kappa in kappas}


def learner(name: str) -> Learner:
    """Return the learner with a name of ``settings.learners`` or of ``assumed``."""
    if name.startswith(ASSUMED):
        return Restarted(GradientAscent(), float(name.removeprefix(ASSUMED)))
    return learners(name)[name]


def watch(name: str) -> dict[str, Probe]:
    """Return the probe of the restart log, for learners that have a log."""
    return {"log": LOG} if name in LOGGED else {}


def together(*plans: dict[Cell, Sequence[str]]) -> dict[Cell, list[str]]:
    """Merge plans: return all cells with the learners of any plan, without duplicates and in order of first appearance."""
    names: dict[Cell, dict[str, None]] = {}
    for plan in plans:
        for cell, more in plan.items():
            names.setdefault(cell, {}).update(dict.fromkeys(more))
    return {cell: list(found) for cell, found in names.items()}


def trials_of(cell: Cell, name: str, few: Sequence[Cell], counts: dict[str, int]) -> int:
    """Return the number of trials of a learner in a cell.

    Args:
        cell: path and horizon.
        name: learner.
        few: cells of the long runs.
        counts: numbers of trials: "trials" for every run, "long" for the runs in ``few``, and "still" for MASTER on the stationary
            path.
    """
    more = "long" if cell in few else "trials"
    if name == "MASTER" and cell[0] == "stationary":
        more = "still"
    return max(counts["trials"], counts[more])


def batches(plan: dict[Cell, dict[str, int]]) -> Iterator[tuple[str, int, dict[str, int]]]:
    """Yield the batches of runs that are played together: a learner, T, and the number of trials of each path.

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
    """Play every learner in every cell; the paths of one learner and horizon are played in one batch.

    Args:
        plan: trials of each learner in each cell.
        seed: trial i of each path draws what trial 0 of ``seed + i`` draws.
        device: see ``play``.

    Returns:
        Traces with the last round only. In a shard there are no traces, see ``store.run``.
    """
    runs: Runs = {cell: {} for cell in plan}
    for name, T, counts in batches(plan):
        paths = tuple(problem(path).path for path in counts)
        trials = [trial for count in counts.values() for trial in range(count)]
        batch = QuadraticDrift(MixedPaths(paths, tuple(counts.values())))
        how = {"chunk": len(trials), "record": 1, "probes": watch(name), "device": device}
        trace = store.run(batch, {name: learner(name)}, T, trials, seed, **how)[name]
        if store.current_shard():
            continue
        for (path, count), end in zip(counts.items(), np.cumsum([*counts.values()]).tolist()):
            runs[path, T][name] = trace.part(end - count, end)
    # Sort by the plan. A shard has no traces.
    return {cell: {name: runs[cell][name] for name in plan[cell] if runs[cell]} for cell in plan}


# Statistics of runs -------------------------------------------------------------------------------------------


def totals(runs: Runs, *places: tuple[Cell, str]) -> np.ndarray:
    """Return R_T of each learner in its cell, R x places. R counts the first trials, which all of them have."""
    regret = [runs[cell][name].last() for cell, name in places]
    return np.stack([x[: min(map(len, regret))] for x in regret], 1)


def slope(
    runs: Runs, cells: Sequence[Cell], name: str, along: Sequence[float], first: float
) -> stats.Interval:
    """Return the log-log slope of one learner's mean regret.

    Args:
        runs: traces by cell and learner.
        cells: cells of the slope.
        name: learner.
        along: T or V_T of each cell, increasing.
        first: first T or V_T of the slope; smaller ones are left out.
    """
    regret = totals(runs, *((cell, name) for cell in cells))
    return stats.growth(along, regret, first, resamples=RESAMPLES)


def slower(
    runs: Runs, cells: Sequence[Cell], name: str, than: str, along: Sequence[float], first: float
) -> stats.Interval:
    """Return the log-log slope of ``than`` minus the slope of ``name``, with a bootstrap over paired trials."""
    late = [(cell, at) for cell, at in zip(cells, along) if at >= first]
    x = np.log([at for _, at in late])
    # the means of both learners, one column per cell, in one array so that trials stay paired
    both = totals(runs, *((cell, one) for one in (than, name) for cell, _ in late))
    of = lambda mean: (
        stats.slopes(x, np.log(mean[..., : len(x)])) - stats.slopes(x, np.log(mean[..., len(x) :]))
    )
    return stats.bootstrap(both, of, of="difference of log-log slopes", resamples=RESAMPLES)


def with_logarithm(exponent: float, along: Sequence[float], first: float) -> float:
    """Return the log-log slope of T^exponent ln T at these horizons, which shows the effect of one logarithm on an exponent."""
    x = np.log([T for T in along if T >= first])
    return exponent + float(stats.slopes(x, np.log(x)))


def factor(regret: np.ndarray, V: float, horizon: int) -> np.ndarray:
    """Return R_T / (V^{1/3} T^{2/3})."""
    return regret / (np.asarray(V) ** (1 / 3) * horizon ** (2 / 3))


def schedule_share(runs: Runs, cell: Cell) -> stats.Interval:
    """Return the fraction of MASTER's improvement over Algorithm 2 that is due to its schedule without tests.

    The fraction is (R(Algorithm 2) - R(MALG)) / (R(Algorithm 2) - R(MASTER)) of the means. The rest is due to the tests.
    """
    saved = totals(runs, (cell, "Algorithm 2"), (cell, "MALG"), (cell, "MASTER"))
    share = lambda mean: (mean[..., 0] - mean[..., 1]) / (mean[..., 0] - mean[..., 2])
    return stats.bootstrap(saved, share, of="schedule's share", resamples=RESAMPLES)


def tested(runs: Runs, cell: Cell) -> bool:
    """Return whether a test triggered in some trial.

    If not, MASTER equals MALG in all trials, and a bootstrap of their ratio has no width.
    """
    return bool(np.diff(totals(runs, (cell, "MASTER"), (cell, "MALG"))).any())


def ratio(runs: Runs, cell: Cell, above: str, below: str) -> stats.Interval:
    """Return the ratio of two learners' mean regret in a cell."""
    a, b = (runs[cell][name].last() for name in (above, below))
    return stats.ratio(a, b, of="mean regret", resamples=RESAMPLES)


def less(runs: Runs, cells: Sequence[Cell], method: str, baseline: str) -> stats.Test:
    """Test whether the method has less regret than the baseline in all of the cells, with Holm's correction over the cells."""
    pair = lambda cell: totals(runs, (cell, method), (cell, baseline))
    return stats.combine_tests(
        stats.wilcoxon({cell[0]: np.diff(pair(cell))[:, 0] for cell in cells})
    )


# All learners on all paths -----------------------------------------------------------------------------------


def figure_learners(runs: Runs, path: str, horizon: int) -> dict[str, Trace]:
    """Return the traces of the figures' learners on a path, without learners that only another figure needs."""
    found = runs[path, horizon]
    return {name: found[name] for name in learners() if name in found}


def rules(runs: Runs, paths: Sequence[str], horizon: int) -> dict[str, dict[str, stats.Interval]]:
    """Return the ratio of MASTER's mean regret to each simpler learner's mean regret, by path."""
    return {
        rule: {path: ratio(runs, (path, horizon), "MASTER", rule) for path in paths}
        for rule in RULES
    }


def range_of_ratios(found: dict[str, stats.Interval]) -> str:
    """Return a text with the range of ratios over several paths, for example "2.1 to 9.3 times" or "2.1 times"."""
    ends = sorted({format_number(x.estimate) for x in found.values()}, key=float)
    return " to ".join(dict.fromkeys([ends[0], ends[-1]])) + " times"


def log_limits(samples: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Return the limits of a log axis for the means of many panels, at most three decades below the largest."""
    means = [float(np.mean(x)) for panel in samples.values() for x in panel.values()]
    high = 1.5 * max(means)
    low = min((mean for mean in means if mean > 0), default=high)
    return max(low / 1.5, high / 1e3), high


def best(runs: Runs, cell: Cell, names: Sequence[str]) -> str:
    """Return the learner with the least mean regret in a cell."""
    return min(names, key=lambda name: runs[cell][name].last().mean())


def caption_names(names: Sequence[str]) -> str:
    """Return the names of learners for a caption, with "(oracle)" for those that know V_T, so that commas only separate names."""
    return ", ".join(name.replace(", oracle", " (oracle)") for name in names) or "none"


# Restarts compared with the changes of a path ----------------------------------------------------------------


class Detections(NamedTuple):
    """Statistics of restarts compared with changes."""

    share: np.ndarray  # R, fraction of the changes with a restart before the next change or the end
    # of all detected changes: rounds from the change to the first restart after it
    delays: np.ndarray
    needless: np.ndarray  # R, number of restarts that are not the first after a change


def restart_times(trace: Trace) -> list[np.ndarray]:
    """Return the observed rounds at each logged restart, by trial."""
    log, counts = trace["log"], trace["report.restarts"].astype(int)
    first = log[..., 0] if log.ndim == 3 else log  # MASTER logs the test as well
    return [row[:count].astype(int) for row, count in zip(first, counts)]


def match_restarts(
    restarts: list[np.ndarray], changes: np.ndarray, horizon: int, counts: np.ndarray
) -> Detections:
    """Compare restarts with changes.

    Args:
        restarts: observed rounds at each logged restart, by trial, increasing.
        changes: R x (S - 1), increasing, at least one.
        horizon: T.
        counts: R, number of restarts, including those that were not logged.
    """
    delays, caught = [], np.zeros(len(changes))
    for trial, (at, begins) in enumerate(zip(restarts, changes)):
        ends = [*begins[1:], horizon]
        after = [at[(at > c) & (at <= end)] - c for c, end in zip(begins, ends)]
        late = [int(rounds[0]) for rounds in after if len(rounds)]
        caught[trial] = len(late)
        delays += late
    return Detections(caught / changes.shape[1], np.array(delays, int), counts - caught)


def detections(runs: Runs, name: str, cell: Cell, seed: int) -> Detections:
    """Compare a learner's restarts with the changes in a cell with abrupt changes."""
    path, horizon = cell
    trace = runs[cell][name]
    changes = part(path, horizon, len(trace.trials), seed)  # the first round of each segment
    return match_restarts(restart_times(trace), changes, horizon, trace["report.restarts"])


def detected_share(found: Detections) -> stats.Interval:
    """Return the fraction of detected changes, with a bootstrap over trials, or the exact interval if it is equal in all trials."""
    return stats.bootstrap_mean(
        found.share, of="share of changes", bounds=(0.0, 1.0), resamples=RESAMPLES
    )


def false_alarms(trace: Trace) -> stats.Interval:
    """Return the fraction of trials with a restart, with the exact interval; on a stationary path every restart is a false alarm."""
    restarts = trace["report.restarts"]
    return stats.proportion(int((restarts > 0).sum()), len(restarts))


def delay_quartiles(found: Detections) -> stats.Interval:
    """Return the median delay of detected changes, of which there must be one, with the quartiles as the interval."""
    low, middle, high = map(float, np.quantile(found.delays, QUARTILES))
    return stats.Interval(middle, low, high, len(found.delays), "quartiles")


def detection_panels(
    axes: Sequence[Axes], seen: dict[str, dict[int, Detections]], level: dict[str, dict[int, Any]]
) -> dict[str, dict]:
    """Draw the fraction of detected changes, the delay, and the restarts if only the level changes against T in three panels.

    Args:
        axes: three axes.
        seen: name -> T -> detections on a path with abrupt changes.
        level: name -> T -> restarts per run on a path where only the level changes, R.

    Returns:
        The plotted numbers and the number of unnecessary restarts in ``seen``, by name and T.
    """
    each = lambda of: {name: {T: of(x) for T, x in found.items()} for name, found in seen.items()}
    numbers = {
        "share": each(detected_share),
        "delay": {
            name: {T: delay_quartiles(x) for T, x in found.items() if len(x.delays)}
            for name, found in seen.items()
        },
        "needless": each(lambda x: stats.mean(x.needless)),
        "needless, level": {
            name: {T: stats.mean(x) for T, x in found.items()} for name, found in level.items()
        },
    }
    delays = {name: found for name, found in numbers["delay"].items() if found}
    every = (max(map(len, seen.values())) + 4) // 5
    panel = lambda ax, found, **how: sweep_panel(
        ax, found, {}, xlabel="$T$", tick=power_label, every=every, **how
    )
    highest = lambda found: max(x.high for of in found.values() for x in of.values())
    panel(axes[0], numbers["share"], title="(a) detected changes", ylabel="fraction of changes")
    axes[0].set_ylim(-0.04, 1.04)
    panel(axes[1], delays, title="(b) delay", ylabel="rounds, median", log_y=bool(delays))
    if delays:
        axes[1].set_ylim(0.8, 2 * highest(delays))
    else:
        axes[1].text(0.5, 0.5, "none detected", transform=axes[1].transAxes, ha="center")
    title, ylabel = "(c) only the level changes", "restarts per run, linear below 1"
    panel(axes[2], numbers["needless, level"], title=title, ylabel=ylabel)
    with style_context():
        axes[2].set_yscale("symlog", linthresh=1.0)
        axes[2].set_ylim(-0.1, 2 * max(1.0, highest(numbers["needless, level"])))
        axes[2].yaxis.set_major_formatter("{x:g}")
    return numbers
