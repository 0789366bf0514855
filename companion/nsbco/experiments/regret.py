"""Regret against T, against V_T and under a misspecified V_T: which runs, what is read off them, and which changes were found.

A cell is a path, by name, with a horizon. Paths stretch with T, therefore each cell is a run of its own. A change at c: round c,
counted from 0, is the first of the new segment. A restart at t comes after t observed rounds, so that t > c knows of the change.
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

from ...figures.charts import errorbars, power_label
from ...figures.drawing import QUARTILES, line_style, style_context
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
RULES = ("GLR", "KWtrack", "D-LS")  # simpler than MASTER, and without its theorem
REFERENCES = ("full information", "static baseline")
RIVALS = tuple(  # that observe rewards and do not know V_T
    name for name in learners() if name not in REFERENCES and "oracle" not in name
)
ORACLE, ASSUMED = "Algorithm 2, oracle", "kappa "  # kappa = 1, and the name of any other
RESAMPLES = 2000
ROWS = 256  # trials in one batch, at most, unless one path has more

# Paths by name -----------------------------------------------------------------------------------------------


def kind(name: str) -> str:
    """Return the word of a path's name: "abrupt" of "abrupt5"."""
    return name.rstrip("0123456789.")


def problem(name: str) -> QuadraticDrift:
    """Return REF on a path: "abrupt5" has five segments, "rotation4", "triangle8" and "sinusoid10" have V_T = 4, 8, 10.

    Raises:
        ValueError: a name without a path, or a number that its path refuses.
    """
    word = kind(name)
    of = name.removeprefix(word)
    if word == "abrupt" and of.isdecimal():
        return QuadraticDrift(Abrupt(int(of)))
    if word in WAVES and of.count(".") < 2 and of.strip("."):
        return QuadraticDrift(WAVES[word](float(of)))
    if name not in PATHS:
        allowed = f"{', '.join(PATHS)}, or abrupt, {', '.join(WAVES)} with a number"
        raise ValueError(f"name={name!r}; allowed: {allowed}")
    return QuadraticDrift(PATHS[name])


def title(name: str) -> str:
    """Return a path in words, with its V_T where that is a number of its own, and the number of its changes where that is one."""
    word = kind(name)
    of = name.removeprefix(word)
    if word == "abrupt":
        return f"abrupt, {changes(name)}, $V_T = {int(of) - 1}$"
    return WORDS.get(name, f"{word}, $V_T = {of}$")


def changes(name: str) -> str:
    """Return how often f_t changes, in words."""
    if kind(name) == "abrupt":
        return f"{int(name.removeprefix('abrupt')) - 1} changes"
    return "0 changes" if name == "stationary" else "changes in every round"


def abrupt_and_smooth(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the paths with abrupt changes, and those on which the maximizer moves all the time."""
    abrupt = [path for path in paths if kind(path) == "abrupt"]
    return abrupt, [path for path in paths if kind(path) in SMOOTH]


def part(name: str, horizon: int, trials: int, seed: int) -> np.ndarray:
    """Return the trials' paths, see ``QuadraticDrift.part``, which a trace does not keep: change points where they are abrupt."""
    return problem(name).part([*range(seed, seed + trials)], horizon)


def variation(name: str, horizon: int, trials: int, seed: int) -> np.ndarray:
    """Return V_T, R; with the trials' own paths where they differ."""
    V = problem(name).variation(part(name, horizon, trials, seed), horizon)
    return np.broadcast_to(V, (trials,))


def variations(paths: Sequence[str], horizon: int, trials: int, seed: int) -> str:
    """Return V_T and the number of changes of each path, in words."""
    V = {path: float(variation(path, horizon, trials, seed).mean()) for path in paths}
    return "; ".join(f"{path} {format_number(V[path])}, {changes(path)}" for path in paths)


# Runs --------------------------------------------------------------------------------------------------------


def assumed(kappas: Sequence[float]) -> dict[float, str]:
    """Return the names of Algorithm 2 restarted as if V_T were kappa times what it is."""
    return {kappa: ORACLE if kappa == 1 else f"{ASSUMED}{kappa:g}" for kappa in kappas}


def learner(name: str) -> Learner:
    """Return one of ``settings.learners``, or of ``assumed``."""
    if name.startswith(ASSUMED):
        return Restarted(GradientAscent(), float(name.removeprefix(ASSUMED)))
    return learners(name)[name]


def watch(name: str) -> dict[str, Probe]:
    """Return the probe of the log, for a learner that keeps one."""
    return {"log": LOG} if name in LOGGED else {}


def together(*plans: dict[Cell, Sequence[str]]) -> dict[Cell, list[str]]:
    """Return all cells with the names of the learners that one of the plans asks for, each once, in the order in which they come."""
    names: dict[Cell, dict[str, None]] = {}
    for plan in plans:
        for cell, more in plan.items():
            names.setdefault(cell, {}).update(dict.fromkeys(more))
    return {cell: list(found) for cell, found in names.items()}


def trials_of(cell: Cell, name: str, few: Sequence[Cell], counts: dict[str, int]) -> int:
    """Return how many trials a learner is given in a cell.

    Args:
        few: the cells of the long runs.
        counts: "trials", of every run; "long", of those in ``few``; "still", of MASTER where nothing moves.
    """
    more = "long" if cell in few else "trials"
    if name == "MASTER" and cell[0] == "stationary":
        more = "still"
    return max(counts["trials"], counts[more])


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
        batch = QuadraticDrift(MixedPaths(paths, tuple(counts.values())))
        how = {"chunk": len(trials), "record": 1, "probes": watch(name), "device": device}
        trace = store.run(batch, {name: learner(name)}, T, trials, seed, **how)[name]
        if store.current_shard():
            continue
        for (path, count), end in zip(counts.items(), np.cumsum([*counts.values()]).tolist()):
            runs[path, T][name] = trace.part(end - count, end)
    # in the order of the plan; a shard has no traces
    return {cell: {name: runs[cell][name] for name in plan[cell] if runs[cell]} for cell in plan}


# What is read off them ---------------------------------------------------------------------------------------


def totals(runs: Runs, *places: tuple[Cell, str]) -> np.ndarray:
    """Return R_T of each learner in its cell, R x places: the first trials that all of them have."""
    regret = [runs[cell][name].last() for cell, name in places]
    return np.stack([x[: min(map(len, regret))] for x in regret], 1)


def slope(
    runs: Runs, cells: Sequence[Cell], name: str, along: Sequence[float], first: float
) -> stats.Interval:
    """Return the log-log slope of one learner's mean regret.

    Args:
        along: T or V_T of each cell, increasing.
        first: where the slope begins; what lies before is left out.
    """
    regret = totals(runs, *((cell, name) for cell in cells))
    return stats.growth(along, regret, first, resamples=RESAMPLES)


def slower(
    runs: Runs, cells: Sequence[Cell], name: str, than: str, along: Sequence[float], first: float
) -> stats.Interval:
    """Return by how much the log-log slope of ``than`` exceeds that of ``name``, bootstrap over the trials of both together."""
    late = [(cell, at) for cell, at in zip(cells, along) if at >= first]
    x = np.log([at for _, at in late])
    # the means of both learners side by side, one column per cell
    both = totals(runs, *((cell, one) for one in (than, name) for cell, _ in late))
    of = lambda mean: (
        stats.slopes(x, np.log(mean[..., : len(x)])) - stats.slopes(x, np.log(mean[..., len(x) :]))
    )
    return stats.bootstrap(both, of, of="difference of log-log slopes", resamples=RESAMPLES)


def with_logarithm(exponent: float, along: Sequence[float], first: float) -> float:
    """Return the log-log slope of T^exponent ln T at these horizons: what one logarithm adds to an exponent there."""
    x = np.log([T for T in along if T >= first])
    return exponent + float(stats.slopes(x, np.log(x)))


def factor(regret: np.ndarray, V: float, horizon: int) -> np.ndarray:
    """Return R_T / (V^{1/3} T^{2/3})."""
    return regret / (np.asarray(V) ** (1 / 3) * horizon ** (2 / 3))


def schedule_share(runs: Runs, cell: Cell) -> stats.Interval:
    """Return the part of MASTER's gain on Algorithm 2 alone that its schedule makes without a test.

    (R(Algorithm 2) - R(MALG)) / (R(Algorithm 2) - R(MASTER)) of the means; the rest is the tests'.
    """
    saved = totals(runs, (cell, "Algorithm 2"), (cell, "MALG"), (cell, "MASTER"))
    share = lambda mean: (mean[..., 0] - mean[..., 1]) / (mean[..., 0] - mean[..., 2])
    return stats.bootstrap(saved, share, of="schedule's share", resamples=RESAMPLES)


def tested(runs: Runs, cell: Cell) -> bool:
    """Return whether a test failed in some trial. Else MASTER is MALG in all of them, and a bootstrap of their ratio has no width."""
    return bool(np.diff(totals(runs, (cell, "MASTER"), (cell, "MALG"))).any())


def majority(share: stats.Interval) -> str:
    """Return whether a share is most of the whole, in words."""
    if share.low > 0.5:
        return "most"
    return "less than half" if share.high < 0.5 else "about half"


def ratio(runs: Runs, cell: Cell, above: str, below: str) -> stats.Interval:
    """Return the ratio of two learners' mean regret in a cell."""
    a, b = (runs[cell][name].last() for name in (above, below))
    return stats.ratio(a, b, of="mean regret", resamples=RESAMPLES)


def less(runs: Runs, cells: Sequence[Cell], method: str, baseline: str) -> stats.Test:
    """Test whether the method has less regret than the baseline, in all of the cells, Holm over them."""
    pair = lambda cell: totals(runs, (cell, method), (cell, baseline))
    return stats.combine_tests(
        stats.wilcoxon({cell[0]: np.diff(pair(cell))[:, 0] for cell in cells})
    )


# All learners on all paths -----------------------------------------------------------------------------------


def figure_learners(runs: Runs, path: str, horizon: int) -> dict[str, Trace]:
    """Return the learners of the figures on a path, without those that another figure had there."""
    found = runs[path, horizon]
    return {name: found[name] for name in learners() if name in found}


def restarts(trace: Trace, horizon: int) -> str:
    """Return how often a learner restarted in a run, in a table's words; "" where it never does, or not as a whole."""
    if "report.restarts" in trace.final:
        return f"{format_number(float(trace['report.restarts'].mean()))} by tests"
    if "report.batch" in trace.final:
        return (
            f"{format_number(float((np.ceil(horizon / trace['report.batch']) - 1).mean()))} by plan"
        )
    return ""


def table(runs: Runs, path: str, horizon: int, seed: int) -> list[str]:
    """Return the lines of table T3 for one path: a head with V_T and the number of changes, then one line per learner."""
    found = figure_learners(runs, path, horizon)
    V = variation(path, horizon, min(len(trace.trials) for trace in found.values()), seed)
    lines = [f"{path}: V_T {format_number(float(V.mean()))}, {changes(path)}"]
    for name, trace in found.items():
        x = stats.mean(trace.last())
        scaled = format_number(x.estimate / horizon ** (2 / 3))
        each = f"{format_number(x.estimate)} [{format_number(x.low)}, {format_number(x.high)}]"
        lines.append(f"  {name:20s} {scaled:>7s}  {each:26s} {restarts(trace, horizon)}".rstrip())
    return lines


def rules(runs: Runs, paths: Sequence[str], horizon: int) -> dict[str, dict[str, stats.Interval]]:
    """Return MASTER's mean regret over that of each simpler rule, by path."""
    return {
        rule: {path: ratio(runs, (path, horizon), "MASTER", rule) for path in paths}
        for rule in RULES
    }


def range_of_ratios(found: dict[str, stats.Interval]) -> str:
    """Return ratios over several paths in words, "2.1 to 9.3 times" or "2.1 times"."""
    ends = sorted({format_number(x.estimate) for x in found.values()}, key=float)
    return " to ".join(dict.fromkeys([ends[0], ends[-1]])) + " times"


def log_limits(samples: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Return the ends of a log axis for means of many panels: at most three decades below the largest."""
    means = [float(np.mean(x)) for panel in samples.values() for x in panel.values()]
    high = 1.5 * max(means)
    low = min((mean for mean in means if mean > 0), default=high)
    return max(low / 1.5, high / 1e3), high


def frontier(runs: Runs, still: str, moving: str, horizon: int) -> dict[str, tuple[Any, Any]]:
    """Return R_T on the path that does not change and on the one that does, of all learners that observe rewards; R each."""
    pair = lambda name: tuple(runs[path, horizon][name].last() for path in (still, moving))
    return {
        name: pair(name)
        for name in figure_learners(runs, moving, horizon)
        if name != "full information"
    }


def best(runs: Runs, cell: Cell, names: Sequence[str]) -> str:
    """Return which of the learners has the least mean regret in a cell."""
    return min(names, key=lambda name: runs[cell][name].last().mean())


def dominated(runs: Runs, still: str, moving: str, horizon: int, name: str) -> list[str]:
    """Return the learners that observe rewards and have less mean regret than this one on both paths."""
    mean = lambda path, other: runs[path, horizon][other].last().mean()
    below = lambda other: all(mean(path, other) < mean(path, name) for path in (still, moving))
    return [
        other
        for other in figure_learners(runs, moving, horizon)
        if other not in REFERENCES and below(other)
    ]


def caption_names(names: Sequence[str]) -> str:
    """Return learners in a caption: those that know V_T with that word in brackets, so that commas part names alone."""
    return ", ".join(name.replace(", oracle", " (oracle)") for name in names) or "none"


# Restarts compared with the changes of a path ----------------------------------------------------------------


class Detections(NamedTuple):
    """What a run's restarts did."""

    share: np.ndarray  # R, of the changes that a restart followed before the next change or the end
    delays: np.ndarray  # rounds from a change to the first restart after it, of all changes found
    needless: np.ndarray  # R, restarts that are not the first after a change


def restart_times(trace: Trace) -> list[np.ndarray]:
    """Return the observed rounds at each restart that was logged, by trial."""
    log, counts = trace["log"], trace["report.restarts"].astype(int)
    first = log[..., 0] if log.ndim == 3 else log  # MASTER logs the test, too
    return [row[:count].astype(int) for row, count in zip(first, counts)]


def match_restarts(
    restarts: list[np.ndarray], changes: np.ndarray, horizon: int, counts: np.ndarray
) -> Detections:
    """Compare restarts with changes.

    Args:
        restarts: observed rounds at each, by trial, increasing; as far as they were logged.
        changes: R x (S - 1), increasing, at least one.
        horizon: T.
        counts: R, how many restarts there were.
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
    """Return what a learner's restarts did in a cell with abrupt changes."""
    path, horizon = cell
    trace = runs[cell][name]
    changes = part(path, horizon, len(trace.trials), seed)  # the first round of each segment
    return match_restarts(restart_times(trace), changes, horizon, trace["report.restarts"])


def detected_share(found: Detections) -> stats.Interval:
    """Return the share of the changes that were found: bootstrap over trials, exact where it is the same in all of them."""
    return stats.bootstrap_mean(
        found.share, of="share of changes", bounds=(0.0, 1.0), resamples=RESAMPLES
    )


def false_alarms(trace: Trace) -> stats.Interval:
    """Return the share of trials with a restart, exact; where nothing moves each is one."""
    restarts = trace["report.restarts"]
    return stats.proportion(int((restarts > 0).sum()), len(restarts))


def delay_quartiles(found: Detections) -> np.ndarray:
    """Return the quartiles of the delays of changes that were found; none without any."""
    return np.quantile(found.delays, QUARTILES) if len(found.delays) else np.zeros(0)


def detection_panels(
    axes: Sequence[Axes], seen: dict[str, dict[int, Detections]], level: dict[str, dict[int, Any]]
) -> dict[str, dict]:
    """Draw the share found, the delay, and needless restarts against T: three panels.

    Args:
        seen: name -> T -> what was found, on a path with abrupt changes.
        level: name -> T -> restarts per run where only the level moves, R.

    Returns:
        The plotted numbers, by panel and name.
    """
    numbers: dict[str, dict] = {"share": {}, "delay": {}, "needless": {}, "needless, level": {}}
    with style_context():
        for name, found in seen.items():
            how = line_style(name)
            hidden = how | {"label": None}
            label = f"{how['label']}, only the level moves"
            dashed = how | {"linestyle": "--", "linewidth": 1.0, "label": label}
            for panel, ax, means, line in (
                ("share", axes[0], {T: detected_share(x) for T, x in found.items()}, how),
                (
                    "needless",
                    axes[2],
                    {T: stats.mean(x.needless) for T, x in found.items()},
                    hidden,
                ),
                (
                    "needless, level",
                    axes[2],
                    {T: stats.mean(x) for T, x in level[name].items()},
                    dashed,
                ),
            ):
                numbers[panel][name] = means
                errorbars(ax, [*means], means.values(), **line)
            delays = {T: delay_quartiles(x) for T, x in found.items() if len(x.delays)}
            numbers["delay"][name] = delays
            if delays:
                errorbars(axes[1], [*delays], [x[[1, 0, 2]] for x in delays.values()], **hidden)
        longest = [x[2] for delays in numbers["delay"].values() for x in delays.values()]
        axes[0].set(title="(a) changes found", ylabel="share of changes", ylim=(-0.04, 1.04))
        axes[1].set(title="(b) delay", ylabel="rounds, median", yscale="log")
        axes[1].set_ylim(0.8, max([10.0, *(2 * x for x in longest)]))
        if not longest:
            axes[1].text(0.5, 0.5, "none found", transform=axes[1].transAxes, ha="center")
        axes[2].set(title="(c) needless restarts", ylabel="restarts per run, linear below 1")
        axes[2].set_yscale("symlog", linthresh=1.0)
        axes[2].set_ylim(bottom=-0.1)
        horizons = {T for found in seen.values() for T in found}
        both = horizons.union(*level.values())
        for ax, at in zip(axes, map(sorted, (horizons, horizons, both))):
            ax.yaxis.set_major_formatter("{x:g}")
            ax.set(xlabel="$T$", xscale="log", xlim=(at[0] / 1.3, at[-1] * 1.3))
            shown = at[::-1][:: (len(at) + 4) // 5]
            ax.set_xticks(shown, [power_label(T) for T in shown])
            ax.xaxis.minorticks_off()
    return numbers
