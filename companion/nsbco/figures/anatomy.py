"""Figures, tables and verdicts of the notebook on the parts of MASTER: base learner, schedule, tests and constants."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco.problems.paths import Abrupt
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.nsbco.theory import bounds as statements
from paperlib.nsbco.theory import constants as theory

from ...figures import charts
from ...figures.drawing import (
    Drawing,
    band_note,
    legend,
    line_style,
    panels,
    regret_panel,
    style_context,
)
from ...study import Study
from ...styles import COLORS, Style
from ...verdicts import Verdict
from ..errata import e16
from ..experiments import anatomy, stationary
from ..experiments import regret as detection
from ..experiments.settings import STILL
from ..proofs import ascent, schedule
from .shared import horizon_label, interval_text, log2

GRAY = COLORS["gray"]
SHOWN_PATHS = 20  # trials of Algorithm 2 in the panel of the required bonus


def _horizon(trace: Trace) -> int:
    """Return the last round of a run."""
    return int(trace.rounds[-1])


def _static_baseline() -> dict:
    """Return the line of the static baseline, without an entry in the legend."""
    return line_style("static baseline") | {"label": None}


# ---- Regret on stationary functions ------------------------------------------------------------------------


def print_regret(
    runs: Mapping[str, Trace], slopes: Mapping[str, stats.Interval], first: int, power: int
) -> None:
    """Print slope, mean and variation of the regret on stationary functions, and the bonus that optimism requires.

    Args:
        runs: learner -> trace.
        slopes: learner -> log-log slope of mean regret.
        first, power: the slopes are from 2^first to 2^power.
    """
    for name, slope in slopes.items():
        regret = runs[name].last()
        ratio = float(stationary.spread(regret))
        print(
            f"{name:12s} slope {interval_text(slope)} from 2^{first} to 2^{power}; mean regret {format_number(regret.mean())}, 95 % quantile / median {format_number(ratio)}"
        )
    print(f"static baseline  {format_number(STILL * 2**power)}")
    for k in sorted({min(12, power), min(15, power), power}):
        worst = runs["Algorithm 2"].at(2**k, "worst")
        percent = lambda b: format_number(100 * stationary.optimistic_in(worst, b).estimate)
        enough = ", ".join(f"b_0 = {b:g} suffices in {percent(b)} % of trials" for b in (1.0, 2.0))
        print(
            f"T = 2^{k}: 95 % quantile of the largest sqrt(t) (f* - mean) {format_number(float(np.quantile(worst, 0.95)))}; {enough}"
        )


def draw_stationary(
    runs: Mapping[str, Trace], literal: Mapping[str, Trace], given: Mapping[float, Trace]
) -> Drawing:
    """Draw regret on stationary functions, the effect of a wrong L, and the bonus that optimism requires.

    Args:
        runs: learner -> trace; Algorithm 2 with the probes "now" and "worst" of ``Shortfall``.
        literal: noise -> trace of Algorithm 2 in the paper's units.
        given: value of L that Algorithm 2 is given -> trace.
    """
    alone, few = runs["Algorithm 2"], len(next(iter(given.values())).trials)
    fig, axes = panels(3, height=2.7, width_ratios=[1.15, 0.9, 1.05])
    left, middle, right = axes[0]
    how = {"title": "(a) regret", "log_x": True, "log_y": True, "labels": False}
    numbers = {"regret": regret_panel(left, runs, **how)}
    numbers |= _regret_in_units(left, literal, runs["KW"].rounds)
    found = _regret_by_bound(middle, given)
    paths = _required_bonus(right, alone)
    numbers |= {
        "L": {"L": list(given), "regret": list(found.values())},
        "shortfall": {"rounds": alone.rounds, "paths": paths},
    }
    legend(fig, columns=4)
    mean = {L: x.estimate for L, x in found.items()}
    return Drawing(
        fig,
        trials={"a": len(alone.trials), "units": few, "b": few, "c": SHOWN_PATHS},
        numbers=numbers,
        caption=f"Stationary functions (V_T = 0, no changes). (a) Mean regret against rounds; the thin black lines use the paper's units, h = 1 and N_0 = 16, with the noise given in the legend, {few} trials. {band_note(runs)} (b) Regret of Algorithm 2 against the value of L that it is given; the other figures use L = 2 (vertical line), the least valid L is 1.5, and the functions are the same for all values. Whiskers: 95 % t-intervals over {few} trials. (c) Square root of t times the difference between the best value and the mean reward, for twenty trials of Algorithm 2. The optimistic estimate r-bar is the mean reward plus b_0 / sqrt(t); it is at least the best value while a path stays below b_0.",
        alt=f"Three line plots. On log axes, the regret of Algorithm 2, Kiefer-Wolfowitz and EGS grows about as the square root of the rounds, far below the straight line of the static baseline. The regret against L is lowest at L = {min(mean, key=mean.get):g} and highest at L = {max(mean, key=mean.get):g}. Of twenty noisy paths {int((alone['worst'][:SHOWN_PATHS, -1] <= 2).sum())} stay below 2.",
    )


def _regret_in_units(ax: Axes, literal: Mapping[str, Trace], t: np.ndarray) -> dict[str, dict]:
    """Add the static baseline, the runs in the paper's units and a guide with slope 1/2; return the means."""
    numbers, guide = {}, 0.06 * t**0.5
    with style_context():
        ax.plot(t, STILL * t, **line_style("static baseline"))
        thin = line_style("Algorithm 2") | {"marker": None, "linewidth": 0.8}
        for (name, trace), dashes in zip(literal.items(), ("--", "-.")):
            mean = trace["regret"].mean(0)
            seen = mean > 0  # on a log axis; the first query may hit the maximizer
            line = thin | {"linestyle": dashes, "label": f"Algorithm 2, {name}"}
            ax.plot(trace.rounds[seen], mean[seen], **line)
            numbers[name] = {"rounds": trace.rounds, "mean": mean, "n": len(trace.trials)}
        ax.set(xlim=(1, t[-1]), ylim=(0.02, STILL * t[-1] * 1.5))
        ax.plot(t, guide, color=GRAY, linewidth=0.7, linestyle=(0, (5, 3)), zorder=1)
        words = {**charts.SMALL, "ha": "right", "va": "top", "color": GRAY}
        ax.annotate("$\\sqrt{t}$", (t[-1], guide[-1]), (-4, -3), **words)
    return numbers


def _regret_by_bound(ax: Axes, given: Mapping[float, Trace]) -> dict[float, stats.Interval]:
    """Draw the regret of Algorithm 2 against the value of L that it is given, and return it."""
    horizon = _horizon(next(iter(given.values())))
    found = {L: stats.mean(trace.last()) for L, trace in given.items()}
    with style_context():
        how = line_style("Algorithm 2") | {"label": None}
        charts.errorbars(ax, list(found), found.values(), **how)
        ax.axhline(STILL * horizon, **_static_baseline())
        ax.axvline(2.0, color=GRAY, linewidth=0.6, zorder=1)
        title = f"(b) with a wrong $L$, {horizon_label(horizon)}"
        ax.set(title=title, xlabel="given $L$", ylabel="regret", xscale="log", yscale="log")
        ax.set_xticks([1, 2, 4, 16, 64], ["1", "2", "4", "16", "64"])
        ax.minorticks_off()
        charts.extend_log_axis(ax, [*(x.estimate for x in found.values()), STILL * horizon])
    return found


def _required_bonus(ax: Axes, alone: Trace) -> np.ndarray:
    """Draw sqrt(t) (f* - mean reward) of some trials of Algorithm 2, and return these paths."""
    paths = alone["now"][:SHOWN_PATHS]
    with style_context():
        ax.plot(alone.rounds, paths.T, color=COLORS["black"], linewidth=0.5, alpha=0.5)
        ax.set(title="(c) bonus required for optimism", xlabel="rounds", xscale="log")
        ax.set(ylabel="$\\sqrt{t}\\,(f^* - $mean$)$", xlim=(1, alone.rounds[-1]))
        ax.set(ylim=(min(0.0, paths.min()) - 0.1, max(2.3, paths.max() + 0.1)))
        charts.lines_across(ax, {"$b_0 = 2$": 2.0, "$b_0 = 1$": 1.0})
    return paths


# ---- Limits of the base learner ----------------------------------------------------------------------------

Ratios = dict[int, dict[str, stats.Interval]]  # log2 T -> bounds given to Algorithm 2 -> ratio


def ratio_to_static_baseline(remark: Mapping[int, Mapping[str, Trace]], alone: Trace) -> Ratios:
    """Return the regret of Algorithm 2 divided by the regret of the static baseline, by log2 T and given bounds.

    Args:
        remark: log2 T -> learner -> trace, with the bounds of Remark 3.2.
        alone: trace of Algorithm 2 with the true bounds; as many trials are used as ``remark`` has.
    """
    of = "regret over the static baseline's"
    ratio = lambda regret, k: stats.bootstrap_mean(regret / 2**k / STILL, of=of)
    found: Ratios = {}
    for k, runs in remark.items():
        regrets = {name: trace.last() for name, trace in runs.items()}
        count = min(map(len, regrets.values()))
        regrets["Algorithm 2"] = alone.at(2**k)[:count]
        found[k] = {name: ratio(regret, k) for name, regret in regrets.items()}
    return found


def print_ratios(ratios: Ratios) -> None:
    """Print the ratios of regret to the regret of the static baseline, measured, and computed without noise."""
    for k, found in ratios.items():
        each = ", ".join(f"{name} {interval_text(x)}" for name, x in found.items())
        print(f"T = 2^{k}: regret over the static baseline's: {each}")
    noiseless = {
        name.removeprefix("regret a round").strip(", "): format_number(value / STILL)
        for name, value in e16().items()
        if "regret" in name
    }
    each = "; ".join(f"{name}: {x}" for name, x in noiseless.items())
    print(f"without noise, computed: {each}")


def draw_limits(stuck: Mapping[str, Trace], ratios: Ratios) -> Drawing:
    """Draw regret under four changes, and the ratio to the static baseline when the bounds are unknown.

    Args:
        stuck: learner -> trace on the path with four changes.
        ratios: result of ``ratio_to_static_baseline``.
    """
    fig, axes = panels(2, height=2.6)
    left, right = axes[0]
    title = "(a) four changes, $V_T = 4$"
    numbers = {"changes": regret_panel(left, stuck, title=title, labels=False)}
    numbers |= _ratio_panel(right, ratios)
    legend(fig, columns=3)
    few, k = len(stuck["KW"].trials), log2(_horizon(stuck["KW"]))
    end = lambda name: format_number(stuck[name].last().mean())
    measured = lambda name: [found[name].estimate for found in ratios.values()]
    corrected = measured("N_0 corrected")
    return Drawing(
        fig,
        trials=few,
        numbers=numbers,
        caption=f"(a) Mean regret against rounds with five segments, four changes, V_T = 4, T = 2^{k}. {band_note(stuck)} (b) Ratio of regret to the regret of the static baseline (dotted) against the horizon, on stationary functions (V_T = 0), {few} trials, 95 % bootstrap. Black: Algorithm 2 with valid bounds. The other two curves: Algorithm 2 with L = ln T and sigma = c_0 = 1 / ln T as in Remark 3.2, once with the printed N_0 and c_0 increased to the N_0^(-1/4) that its first queries require, and once with the corrected N_0, which keeps queries in any such set.",
        alt=f"Two line plots. Left: the regret of Kiefer-Wolfowitz grows to {end('KW')}, with oracle restarts to {end('KW, oracle')}. Right: with the remark's constants and the corrected N_0, the ratio to the static baseline is between {format_number(min(corrected))} and {format_number(max(corrected))}; with the printed N_0 it is at most {format_number(max(measured('N_0 as printed')))}; with valid bounds it is at most {format_number(max(measured('Algorithm 2')))}.",
    )


def _ratio_panel(ax: Axes, ratios: Ratios) -> dict[str, dict]:
    """Draw the ratio to the static baseline against the horizon, one line for each set of given bounds."""
    given = "given powers of ln T, $N_0$"
    lines = {
        "N_0 as printed": {
            "marker": "s",
            "color": COLORS["orange"],
            "label": f"{given} as printed",
        },
        "N_0 corrected": {
            "marker": "D",
            "color": COLORS["vermilion"],
            "label": f"{given} corrected",
        },
        "Algorithm 2": line_style("Algorithm 2") | {"label": None},
    }
    horizons, numbers = [2**k for k in ratios], {}
    with style_context():
        for name, line in lines.items():
            found = [row[name] for row in ratios.values()]
            charts.errorbars(ax, horizons, found, **line)
            numbers[name] = {"T": horizons, "regret over the static baseline's": found}
        ax.axhline(1.0, **_static_baseline())
        ax.set(title="(b) stationary, bounds unknown", xlabel="$T$", xscale="log")
        ax.set(ylabel="regret / static baseline", ylim=(0, 1.2))
        ax.set_xticks(horizons, [charts.power_label(T) for T in horizons])
        ax.xaxis.minorticks_off()
    return numbers


# ---- Sequences that change arbitrarily ---------------------------------------------------------------------

# (sequence, learner) -> T -> stationary regret of each trial
FixedPoint = dict[tuple[str, str], dict[int, np.ndarray]]


def compare_with_best_fixed_point(
    changing: Mapping[tuple[str, int], Mapping[str, Trace]],
) -> FixedPoint:
    """Return the stationary regret, Eq. (26), by sequence and learner, and by horizon.

    ``changing``: (sequence, log2 T) -> learner -> trace.
    """
    found: FixedPoint = {}
    for (sequence, k), runs in changing.items():
        problem = stationary.SEQUENCES[sequence](2**k)
        for name, trace in runs.items():
            regret = stationary.stationary_regret(trace.last(), problem, 2**k)
            found.setdefault((sequence, name), {})[2**k] = regret
    return found


def print_stationary_regret(found: FixedPoint) -> None:
    """Print the mean stationary regret, one row for each sequence and learner, one column for each horizon."""
    horizons = next(iter(found.values()))
    print("stationary regret, mean" + "".join(f"{f'T = {T}':>14s}" for T in horizons))
    for (sequence, name), regrets in found.items():
        row = "".join(f"{format_number(x.mean()):>14s}" for x in regrets.values())
        print(f"  {sequence:6s} {name:14s}{row}")


def judge_stationary_regret(study: Study, found: FixedPoint) -> list[Verdict]:
    """Judge that the stationary regret of EGS grows slowly, and report MASTER's stationary regret per round."""
    horizons = [*found["fast", "EGS"]]
    growth = lambda regrets: stats.growth(
        horizons, np.stack([*regrets.values()], 1), horizons[0], resamples=2000
    )
    verdicts = []
    for sequence in stationary.SEQUENCES:
        regrets = found[sequence, "EGS"]
        means = {T: regret.mean() for T, regret in regrets.items()}
        negative = [f"{format_number(x)} at T = 2^{log2(T)}" for T, x in means.items() if x < 0]
        # A learner that follows the maximizer can have more reward than any fixed point.
        reason = f"the mean is negative, {', '.join(negative)}" if negative else ""
        verdicts.append(study.judge(f"nsbco.C14.{sequence}", growth(regrets), reason=reason))
    verdicts.append(study.conclude("nsbco.C14"))
    per_round = lambda name: stats.mean(found["fast", name][horizons[-1]] / horizons[-1])
    reason = f"T = 2^{log2(horizons[-1])}; EGS {format_number(per_round('EGS').estimate)}; the static baseline has 0"
    verdicts.append(study.judge("nsbco.C14.master", per_round("MASTER"), reason=reason))
    return verdicts


# ---- Queries that leave the set ----------------------------------------------------------------------------


def print_first_query(problem: QuadraticDrift) -> None:
    """Print the first query with the printed N_0, which is outside the set."""
    norm = np.linalg.norm(stationary.first_query(stationary.PRINTED, problem))
    print(f"N_0 as printed: {stationary.PRINTED.N0}; first query at norm {norm:.6f} of a unit ball")


def print_feasibility(
    feasible: Check, literal: Mapping[str, Trace], problem: QuadraticDrift
) -> None:
    """Print the check that all queries are feasible, its negative control, and the distances in runs in the paper's units."""
    printed = stationary.PRINTED
    query, edge = stationary.first_query(printed, problem), np.array(printed.start)
    control = ascent.feasibility(query[None, None], edge[None, None], stationary.task_of(problem))
    print(feasible)
    print("must fail:", control)
    for name, trace in literal.items():
        queries, centers = trace["outside"][:, -1].max(0)
        print(
            f"{name}: in {len(trace.trials)} trials of 2^{log2(_horizon(trace))} rounds a query is at most {format_number(queries)} outside the set, a center at most {format_number(centers)} outside the shrunk one"
        )


# ---- The schedule ------------------------------------------------------------------------------------------


class Schedules(NamedTuple):
    """Random schedules of a small block, which is drawn, and of a large block, whose fractions are averaged."""

    small: int  # order of the small block
    large: int  # order of the large block
    windows: list[np.ndarray]  # scheduled windows of the small block, by order
    order: np.ndarray  # order of the active window in each round of the small block
    mean: np.ndarray  # mean fraction of the large block's rounds by order
    formula: np.ndarray  # its expectation
    error: np.ndarray  # its standard error
    count: int  # number of schedules of the large block

    @property
    def largest_difference(self) -> float:
        """Return the largest difference between mean and formula."""
        return float(np.abs(self.mean - self.formula).max())


def sample_schedules(small: int, large: int, seed: int, count: int) -> Schedules:
    """Return one schedule of a block of 2^small rounds, and statistics of ``count`` schedules of a block of 2^large rounds."""
    windows = anatomy.scheduled(small, [seed])
    each = anatomy.played(anatomy.orders(anatomy.scheduled(large, range(seed, seed + count))))
    return Schedules(
        small,
        large,
        [of_order[0] for of_order in windows],
        anatomy.orders(windows)[0],
        each.mean(0),
        schedule.expected_shares(large),
        schedule.share_deviations(large) / count**0.5,
        count,
    )


def print_schedules(found: Schedules) -> None:
    """Print the number of windows, and the fraction of rounds by order with its formula."""
    windows = sum(int(of_order.sum()) for of_order in found.windows)
    rounds = np.bincount(found.order, minlength=found.small + 1).tolist()
    print(f"block of 2^{found.small} rounds: {windows} windows, rounds by order {rounds}")
    off = found.largest_difference
    errors = (np.abs(found.mean - found.formula) / found.error).max()
    print(
        f"blocks of 2^{found.large}: fractions differ by at most {off:.4f} ({'below' if off < 0.02 else 'not below'} 0.02), at most {errors:.1f} standard errors"
    )
    print("fraction by order, formula " + " ".join(f"{x:.4f}" for x in found.formula))
    print(f"fraction by order, {found.count} runs" + "".join(f" {x:.4f}" for x in found.mean))


def draw_schedule(found: Schedules) -> Drawing:
    """Draw one block of the schedule, and the fraction of rounds by order."""
    fig, axes = panels(2, height=2.5, width_ratios=[1.5, 1])
    left, right = axes[0]
    title = f"(a) a block of $2^{found.small}$ rounds"
    anatomy.block_panel(left, found.windows, found.order, title=title)
    with style_context():
        m, mean = np.arange(found.large + 1), f"mean of {found.count} schedules"
        right.bar(m, found.mean, 0.75, color=COLORS["orange"], label=mean)
        right.plot(m, found.formula, "D", color=COLORS["black"], markersize=3, label="formula")
        right.set_xticks(range(0, found.large + 1, 2))
        right.set(title=f"(b) active order, block of $2^{{{found.large}}}$ rounds")
        right.set(xlabel="order $m$", ylabel="fraction of rounds")
        right.legend(loc="upper left")
    return Drawing(
        fig,
        trials=found.count,
        numbers={
            "windows": found.windows,
            "order": found.order,
            "formula": found.formula,
            "mean": found.mean,
            "standard error": found.error,
        },
        caption=f"The schedule of Algorithm 1, drawn as in Wei & Luo. (a) One block of {2**found.small} rounds. Each box is a window; scheduled windows are black. Filled: the rounds that a window's copy of the base plays, because no shorter scheduled window covers them. (b) Fraction of rounds played by windows of length 2^m. Bars: mean over {found.count} schedules. Diamonds: the formula p_m prod over m' < m of (1 - p_m') with p_m = 2^(-(n - m)/2), n = {found.large}. The largest difference is {found.largest_difference:.4f}.",
        alt=f"Left: a diagram of boxes in {found.small + 1} rows, short windows below long ones, with filled segments that do not overlap and cover all rounds. Right: bars of the fraction of rounds by order, highest at order {int(found.formula.argmax())}, with diamonds of the formula at their ends.",
    )


# ---- One run with two changes ------------------------------------------------------------------------------


class OneRun(NamedTuple):
    """Internal quantities of the run with two changes."""

    run: anatomy.Run
    ends: anatomy.Ends  # windows that ended
    changes: np.ndarray  # rounds of the changes, counted from 0
    ratio: np.ndarray  # T, statistic of Test 2 divided by its threshold
    A2: float
    regret: np.ndarray  # T, cumulative

    @property
    def marks(self) -> list[int]:
        """Return the number of observed rounds at each restart."""
        return [t for t, _, _ in self.run.restarts]


def examine_run(trace: Trace) -> OneRun:
    """Return the internal quantities of the run of ``anatomy.RUN_PROBLEM``, with the probes of ``anatomy.watched``."""
    problem, run = anatomy.RUN_PROBLEM, anatomy.first_trial(trace)
    A1, A2 = anatomy.thresholds(anatomy.RUN_HORIZON)
    changes = problem.part([problem.environment], anatomy.RUN_HORIZON)[0]
    ends = anatomy.ended(run.first, A1)
    return OneRun(run, ends, changes, run.second / A2, A2, trace["regret"][0])


def print_run(found: OneRun) -> None:
    """Print changes, restarts with the test that caused them, the statistics of the tests, and regret."""
    run, ends, changes = found.run, found.ends, found.changes
    print(f"changes before rounds {', '.join(str(c + 1) for c in changes)}")
    for t, test, m in run.restarts:
        late = t - changes[changes < t].max()
        margin = ends.margin[(ends.rounds == t) & (ends.order == m)][0]
        print(
            f"restart after {t} rounds: Test {test}, window of order {m} ({2**m} rounds), {late} rounds after the change; U_t {run.U[t - 1]:.3f}, margin {margin:.4f}"
        )
    expected = run.restarts == anatomy.RUN_RESTARTS
    print(f"restarts {'as expected' if expected else f'differ from {anatomy.RUN_RESTARTS}'}")
    quiet = np.isin(ends.rounds, found.marks, invert=True)
    print(
        f"{len(ends.rounds)} windows ended; the largest margin without a restart is {ends.margin[quiet].max():.3f}; Test 2 reaches {found.ratio.max():.3f} of its threshold"
    )
    print(f"regret {found.regret[-1]:.1f}; static baseline {STILL * anatomy.RUN_HORIZON:.1f}")


def draw_run(found: OneRun) -> Drawing:
    """Draw center, active order, optimistic estimates and both tests of the run in all rounds and around the first restart."""
    fig, axes = panels(2, 5, height=1.28, width_ratios=[1.7, 1], sharey="row", sharex="col")
    problem, T = anatomy.RUN_PROBLEM, anatomy.RUN_HORIZON
    changes, at, t = found.changes, found.marks, np.arange(T)
    theta = problem.centers(changes[None], t, T)[0, :, 0]
    best = np.broadcast_to(problem.path.value(None, t, T)[0], T)
    zoom = (int(changes[0]) - 700, at[0] + 700) if at else (1, T)
    for column, span in zip(axes.T, ((1, T), zoom)):
        dots = anatomy.run_column(
            column, found.run, found.ends, theta, best, found.A2, changes + 1, at, span
        )
    rows = ["center", "active\norder", "optimistic\nestimates", "Test 1:\nmargin", "Test 2:\nratio"]
    with style_context():
        axes[0, 0].set_title("(a) all rounds")
        axes[0, 1].set_title("(b) around the first change and restart")
        for ax, words in zip(axes[:, 0], rows):
            ax.set_ylabel(words)
        fig.align_ylabels(axes[:, 0])
        bar = fig.colorbar(dots, ax=axes[1:4, 1], pad=0.02, aspect=30)
        bar.set_label("order $m$ of the window", fontsize=7)
    legend(fig, columns=4)
    tests = {test for _, test, _ in found.run.restarts}
    return Drawing(
        fig,
        trials=1,
        numbers=_run_numbers(found),
        caption=f"One run of MASTER in one dimension, T = 2^15, V_T = 2, with two changes (dashed, before rounds {changes[0] + 1} and {changes[1] + 1}) and restarts (red) after {' and '.join(str(x) for x in at)} rounds, both by {'Test 1' if tests == {1} else 'several tests'}. Rows from top to bottom: maximizer and center of the active copy; order of its window and of the block; best value, optimistic estimates and their minimum in the block (dots: every eighth round on the left); margin of Test 1 at the ends of windows (the test triggers at 0 or above); statistic of Test 2 divided by its threshold. MASTER has regret {found.regret[-1]:.0f}, the static baseline {STILL * T:.0f}.",
        alt="Ten panels in two columns; the right column enlarges the first change. The maximizer jumps twice. Centers of new copies follow it, centers of old copies do not. The smallest optimistic estimate is above the best value until a change, then falls below it. A few hundred rounds later the margin of a window reaches zero and a restart follows. Test 2 stays below its threshold.",
    )


def _run_numbers(found: OneRun) -> dict:
    """Return every 64th round of the run, and the ends of all but the shortest windows."""
    run, ends, every = found.run, found.ends, slice(None, None, 64)
    long = ends.order > 4
    return {
        "changes": found.changes,
        "restarts": run.restarts,
        "rounds": run.rounds[every],
        **{name: getattr(run, name)[every] for name in ("z", "order", "block", "rbar", "U")},
        "Test 1": {name: values[long] for name, values in ends._asdict().items()},
        "Test 2": found.ratio[every],
        "regret": found.regret[every],
        "static baseline": STILL * run.rounds[every],
    }


# ---- The constants as printed ------------------------------------------------------------------------------

GAPS = (2.0, 0.5)  # sizes of a change; 2 is the largest possible
TERMS = {  # terms of kappa_0: label and color
    "noise": ("noise", "sky"),
    "edge": ("edge, L", "gray"),
    "exploring": ("exploring", "green"),
    "distance": ("distance", "blue"),
    "drift": ("drift", "purple"),
}


def print_constants() -> None:
    """Print the terms of kappa_0, and the first horizons at which the tests can trigger and the bonus is informative."""
    terms = theory.kappa_0(theory.literal(2), 1e6)._asdict()
    each = ", ".join(f"{name} {x:.4g}" for name, x in terms.items())
    print(f"kappa_0 at T = 1e6, d = 2: {each}; sum {sum(terms.values()):.6g}")
    first = {gap: schedule.first_firing(gap) for gap in GAPS}
    sizes = "  ".join(f"{gap:g}" for gap in GAPS)
    print(f"first T at which Test 1 can trigger, for a change of size  {sizes}")
    for name in first[2.0]:
        print(f"  {name:20s}" + "".join(f"  {first[gap][name]:.4g}" for gap in GAPS))
    print("first T at which each test can trigger, for the largest change")
    for name, weak in schedule.WEAK.items():
        tests = schedule.first_of_any(weak).items()
        print(f"  {name:20s}  " + "  ".join(f"{test} {T:.4g}" for test, T in tests))
    informative = schedule.first_informative().items()
    each = ", ".join(f"{name} {x:.3g}" for name, x in informative)
    print(f"first T at which r-bar's bonus is informative: {each}")


class AsPrinted(NamedTuple):
    """Comparison of MASTER as printed with its schedule without tests."""

    equal: bool  # whether the regrets are equal in all rounds
    reached: dict[str, float]  # largest ratio of each test's statistic to its threshold
    silent: Check  # no test triggers
    control: Check  # the same with thresholds times 1e-9; must fail


def compare_as_printed(
    runs: Mapping[str, Trace], learners: Mapping[str, Multiscale], horizon: int
) -> AsPrinted:
    """Return the comparison of the runs of ``anatomy.as_printed``."""
    restarts = {name: trace["report.restarts"] for name, trace in runs.items()}
    return AsPrinted(
        bool((runs["printed"]["regret"] == runs["no tests"]["regret"]).all()),
        anatomy.share_reached(runs["printed"], learners["printed"], horizon),
        statements.no_false_alarm(restarts["printed"]),
        statements.no_false_alarm(restarts["times 1e-9"]),
    )


def print_as_printed(found: AsPrinted, runs: Mapping[str, Trace]) -> None:
    """Print whether MASTER as printed equals its schedule, how close the tests come to triggering, and the restarts."""
    trace = runs["printed"]
    print(
        f"T = 2^{log2(_horizon(trace))}, four changes, {len(trace.trials)} trials: regret of MASTER as printed and of its schedule without tests {'equal' if found.equal else 'differ'} in all rounds, bit for bit"
    )
    each = ", ".join(f"{x:.2g} of the threshold of {name}" for name, x in found.reached.items())
    print(
        f"as printed the statistics reach at most {each} (below 0: no window's mean comes near U_t, which includes the bonus)"
    )
    print(found.silent)
    print("must fail:", found.control)
    restarts = lambda trace: trace["report.restarts"].astype(int).tolist()
    each = ", ".join(f"{name} {restarts(trace)}" for name, trace in runs.items())
    print(f"restarts per trial: {each}")


def draw_constants(found: AsPrinted, trials: int) -> Drawing:
    """Draw the printed constants, the thresholds of the tests, and the first horizons at which Test 1 can trigger.

    Args:
        found: comparison of the runs with the printed constants.
        trials: number of trials of these runs.
    """
    fig, axes = panels(3, height=2.9, width_ratios=[1, 1, 0.95])
    left, middle, right = axes[0]
    numbers = _kappa_panel(left) | _thresholds_panel(middle) | _first_horizons_panel(right)
    kappa, first = numbers["sum"]["d = 2"], schedule.first_firing(GAPS[0])
    second = schedule.first_of_any(schedule.WEAK["printed"])["Test 2"]
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers
        | {"statistics, share of threshold": found.reached, "equal to no tests": found.equal},
        checks=[found.silent],
        caption=f"The constants of Lemma 3.1 in the paper's units (L = 2, sigma = 1, unit ball, c_0 = 1/2). (a) kappa_0 against the horizon for four dimensions, and its five terms for d = 2. (b) Thresholds of the tests at the longest window and block against the horizon, d = 2; no difference between a mean of rewards and an optimistic estimate can exceed the dotted line (for Test 2 with the estimate clipped at 1). (c) The first horizon at which Test 1 can trigger (Test 2 as printed: from T = {second:.2e} on), for a change of size 2, the largest possible, and of size 1/2. Rows: as printed; with our corrected constant; with a tight b_0 and the multiples 9 and 6 (log2 T + 1) of Algorithm 1; with the calibrated A_1 = 1 of our other figures.",
        alt=f"Two line plots on log axes and one dot plot. For d = 2 the printed constant grows from {kappa[0]:.0e} to {kappa[-1]:.0e}; the terms for distance and drift are nearly all of it. Test 1's printed threshold falls below 2 at T = {first['printed']:.1e}, Test 2's at {second:.1e}, the corrected one of Test 1 at {first['corrected']:.1e}, one with a tight bonus of 2 at {first['tight, b_0 = 2']:.1e}. The calibrated one is below 2 from the first rounds on.",
    )


def _legend_below(ax: Axes, x: float = 0.5, **more) -> None:
    """Draw the legend of a panel below it."""
    ax.legend(loc="upper center", bbox_to_anchor=(x, -0.24), fontsize=6.5, **more)


def _kappa_panel(ax: Axes) -> dict[str, dict]:
    """Draw kappa_0 against the horizon for four dimensions, and its terms for d = 2."""
    grid = np.geomspace(1e2, 1e12, 61)
    kappa = {d: [theory.kappa_0(theory.literal(d), T) for T in grid] for d in (1, 2, 5, 10)}
    terms = {name: [getattr(x, name) for x in kappa[2]] for name in TERMS}
    sums = {d: [sum(x) for x in values] for d, values in kappa.items()}
    black = {"color": COLORS["black"]}
    with style_context():
        for name, line in terms.items():
            label, color = TERMS[name]
            ax.plot(grid, line, color=COLORS[color], linewidth=0.9, label=f"term: {label}")
        for (d, line), dashes in zip(sums.items(), (":", "-", "-.", "--")):
            width, label = 1.8 if d == 2 else 0.9, f"$\\kappa_0$, d = {d}"
            ax.plot(grid, line, linestyle=dashes, linewidth=width, label=label, **black)
        ax.set(title="(a) $\\kappa_0$ as printed; terms: d = 2", xlabel="$T$")
        ax.set(xscale="log", yscale="log")
        _legend_below(ax, ncols=2)
    return {
        "terms, d = 2": {"T": grid, **terms},
        "sum": {"T": grid, **{f"d = {d}": line for d, line in sums.items()}},
    }


def _thresholds_panel(ax: Axes) -> dict[str, dict]:
    """Draw the thresholds of the tests at the longest window against the horizon."""
    far = np.geomspace(1e2, 1e36, 103)
    test_1 = schedule.test_1_thresholds()
    test_2 = schedule.threshold(schedule.WEAK["printed"], schedule.TEST_2)
    lines = {
        "Test 1, printed": (test_1["printed"], "vermilion", "-"),
        "Test 2, printed": (test_2, "vermilion", "--"),
        "Test 1, corrected": (test_1["corrected"], "orange", "-"),
        "Test 1, $b_0 = 2$": (test_1["tight, b_0 = 2"], "blue", "-"),
        "Test 1, $A_1 = 1$": (test_1["practical, A_1 = 1"], "green", "-"),
    }
    numbers = {name: [of(T) for T in far] for name, (of, _, _) in lines.items()}
    dotted = {"color": COLORS["black"], "linewidth": 0.8, "linestyle": (0, (1, 1))}
    shade = {"color": GRAY, "alpha": 0.2, "linewidth": 0}
    with style_context():
        for name, (_, color, dashes) in lines.items():
            ax.plot(far, numbers[name], color=COLORS[color], linestyle=dashes, label=name)
        ax.axhline(2.0, label="2: cannot be exceeded", **dotted)
        ax.axvspan(1e2, 2.0**20, label="horizons that we run", **shade)
        ax.set(title="(b) thresholds of the longest window", xlabel="$T$")
        ax.set(xscale="log", yscale="log", ylim=(1e-3, 1e13))
        ax.set_xticks([1e5, 1e15, 1e25, 1e35])
        ax.minorticks_off()
        _legend_below(ax, ncols=2, columnspacing=0.8, handlelength=1.6)
    return {"thresholds": {"T": far, **numbers}}


def _first_horizons_panel(ax: Axes) -> dict[str, dict]:
    """Draw the first horizon at which Test 1 can trigger, one row for each choice of the constants."""
    named = lambda name: name.replace("b_0", "$b_0$").replace("A_1", "$A_1$")
    dots = {
        f"change worth {gap:g}": {
            named(k): (x, x, x) for k, x in schedule.first_firing(gap).items()
        }
        for gap in GAPS
    }
    looks = {
        name: Style(color, marker, label=name.replace("worth", "of size"))
        for name, color, marker in zip(dots, ("black", "sky"), "oD")
    }
    how = {"title": "(c) when Test 1 can trigger", "xlabel": "first $T$", "limits": (0.3, 1e36)}
    numbers = charts.dots_panel(ax, dots, looks, log_x=True, **how)
    with style_context():
        ax.set_xticks([1, 1e10, 1e20, 1e30])
        ax.minorticks_off()
        _legend_below(ax, 0.3, ncols=1)
    return {"first T": numbers}


# ---- Calibrated constants ----------------------------------------------------------------------------------

Bonus = tuple[int, float]  # log2 T, b_0
Constants = tuple[int, float, float]  # log2 T, b_0, A_1
# log2 T -> quantity -> b_0 -> A_1 -> value
Tables = dict[int, dict[str, dict[float, dict[float, float]]]]


def calibration_tables(alarms: Mapping[Bonus, Trace], changes: Mapping[Constants, Trace]) -> Tables:
    """Return false alarms on stationary functions, and mean regret and restarts per run with four changes.

    Args:
        alarms: runs of the schedule without tests on stationary functions.
        changes: runs of MASTER with four changes.
    """
    tables: Tables = {}
    for (k, b, a), trace in changes.items():
        entries = {
            "false alarms": anatomy.alarms(alarms[k, b], b, a, 2**k).estimate,
            "regret": float(trace.last().mean()),
            "restarts": float(trace["report.restarts"].mean()),
        }
        for name, value in entries.items():
            tables.setdefault(k, {}).setdefault(name, {}).setdefault(b, {})[a] = value
    return tables


def _count(runs: Mapping) -> int:
    """Return the number of trials of the first of several runs."""
    return len(next(iter(runs.values())).trials)


def print_calibration(
    tables: Tables, alarms: Mapping[Bonus, Trace], changes: Mapping[Constants, Trace]
) -> None:
    """Print the tables of the calibration, and the least A_1 without false alarms; arguments as ``calibration_tables`` has them."""
    for k, of in tables.items():
        print(
            f"T = 2^{k}: fraction of {_count(alarms)} trials with a restart on stationary functions; rows b_0, columns A_1"
        )
        print(anatomy.table(of["false alarms"]))
        print(
            f"mean regret with four changes, {_count(changes)} trials; static baseline {STILL * 2**k:.0f}"
        )
        print(anatomy.table(of["regret"], "{:.0f}"))
        print("restarts per run with four changes")
        print(anatomy.table(of["restarts"], "{:.2f}"))
        for b in of["regret"]:
            need, second = anatomy.reached(alarms[k, b])
            least = float(np.quantile(need, 0.95))
            words = f"A_1 below {format_number(least)}" if least > 0 else "no A_1"
            reached = float(second.max() / (1.5 * b * (k + 1)))
            print(
                f"  b_0 = {b:g}: {words} has false alarms by Test 1 in more than 5 % of trials; Test 2 reaches {format_number(reached)} of its threshold"
            )


def detected_changes(
    runs: Mapping[int, Trace], problem: QuadraticDrift, seed: int
) -> dict[int, detection.Detections]:
    """Return the restarts of each run compared with the changes of its path. ``runs``: log2 T -> trace."""
    found = {}
    for k, trace in runs.items():
        changes = problem.part([*range(seed, seed + len(trace.trials))], 2**k)
        times, counts = detection.restart_times(trace), trace["report.restarts"]
        found[k] = detection.match_restarts(times, changes, 2**k, counts)
    return found


def print_detected(detected: Mapping[int, detection.Detections]) -> None:
    """Print the fraction of detected changes and the number of unnecessary restarts at each horizon."""
    for k, found in detected.items():
        print(
            f"b_0 = 2, A_1 = 1, T = 2^{k}: {interval_text(detection.detected_share(found))} of changes detected, unnecessary restarts {format_number(found.needless.mean())} per run"
        )


def draw_calibration(
    tables: Tables, alarms: Mapping[Bonus, Trace], changes: Mapping[Constants, Trace]
) -> Drawing:
    """Draw false alarms, regret and restarts against b_0 and A_1; arguments as ``calibration_tables`` has them."""
    rows = len({b for _, b in alarms})
    fig, axes = panels(3, len(tables), height=2.2 + 0.2 * (rows > 3))
    numbers, letters = {}, iter("abcdef")
    for row, (k, of) in zip(axes, tables.items()):
        columns = {
            "false alarms": ("false alarms, stationary", "{:.2f}", 1.0),
            "regret": ("regret, four changes", "{:.0f}", STILL * 2**k),
            "restarts": ("restarts per run, four changes", "{:.1f}", None),
        }
        for ax, (name, (words, form, most)) in zip(row, columns.items()):
            ylabel = f"$b_0$, {horizon_label(2**k)}" if ax is row[0] else "$b_0$"
            title = f"({next(letters)}) {words}"
            how = {"title": title, "format": form, "most": most, "ylabel": ylabel}
            numbers[f"{name}, 2^{k}"] = anatomy.heat_panel(ax, of[name], **how)
    above = lambda trace: stats.mean(trace.last()).high - trace.last().mean()
    values = lambda name: [
        x for of in tables.values() for row in of[name].values() for x in row.values()
    ]
    alarm, restarts = values("false alarms"), values("restarts")
    return Drawing(
        fig,
        trials={"false alarms": _count(alarms), "four changes": _count(changes)},
        numbers=numbers | {"static baseline": {f"2^{k}": STILL * 2**k for k in tables}},
        caption=f"Calibration of MASTER: b_0 of the optimistic estimates (rows) against A_1 of Test 1 (columns), with A_2 = 1.5 b_0 (log_2 T + 1). False alarms: fraction of {_count(alarms)} trials with a restart on stationary functions (V_T = 0). Regret and restarts: mean regret and restarts per run with four changes (V_T = 4), {_count(changes)} trials. Shades of regret range from 0 to the regret of the static baseline, so differences within noise have one shade: 95 % t-intervals extend up to {format_number(max(map(above, changes.values())))} beyond the means. The static baseline has regret {' and '.join(f'{STILL * 2**k:.0f}' for k in tables)}. The other notebooks use b_0 = 2 and A_1 = 1; the figure by dimension uses other b_0.",
        alt=f"Heat maps with numbers. False alarms are between {min(alarm):.2f} and {max(alarm):.2f}; restarts with four changes are between {min(restarts):.1f} and {max(restarts):.1f} per run.",
    )


# ---- One scale for all constants ---------------------------------------------------------------------------

Scaled = Mapping[str, Mapping[str, Trace]]  # path -> "c = 0.03" -> trace


def _restarts(runs: Mapping[str, Trace], scales: Sequence[float]) -> list[np.ndarray]:
    """Return the number of restarts of each run, R, for each scale c."""
    return [runs[f"c = {c:g}"]["report.restarts"] for c in scales]


def print_one_scale(scaled: Scaled, scales: Sequence[float], worst: np.ndarray) -> None:
    """Print how often r-bar is optimistic, the restarts and the regret for each scale c.

    Args:
        scaled: runs on stationary functions and with four changes.
        scales: values of c.
        worst: R, largest ``Shortfall`` of Algorithm 2 alone.
    """
    for i, c in enumerate(scales):
        valid = stationary.optimistic_in(worst, c / 3).estimate
        each = ", ".join(
            f"{format_number(_restarts(runs, scales)[i].mean())} ({name})"
            for name, runs in scaled.items()
        )
        trace = scaled["four changes"][f"c = {c:g}"]
        print(
            f"c = {c:g}, b_0 = c / 3: r-bar optimistic in {format_number(100 * valid)} % of trials of Algorithm 2 alone; restarts per run {each}; regret with four changes {format_number(trace.last().mean())}, static baseline {format_number(STILL * _horizon(trace))}"
        )


def draw_detected_and_one_scale(
    detected: Mapping[int, detection.Detections],
    scaled: Scaled,
    scales: Sequence[float],
    worst: np.ndarray,
) -> Drawing:
    """Draw the fraction of detected changes, and restarts and optimism with one scale c; arguments as ``print_one_scale`` has them.

    ``detected``: log2 T -> restarts compared with changes.
    """
    fig, axes = panels(3, height=2.4)
    left, middle, right = axes[0]
    share = _detected_panel(left, detected)
    restarts = {name: _restarts(runs, scales) for name, runs in scaled.items()}
    _restarts_panel(
        middle, restarts, scales, _horizon(scaled["four changes"][f"c = {scales[0]:g}"])
    )
    every, valid = _optimism_panel(right, worst)
    trials = len(next(iter(detected.values())).share)
    at = lambda i: max(line[i].mean() for line in restarts.values())
    return Drawing(
        fig,
        trials=trials,
        numbers={
            "found": share,
            "c": scales,
            "restarts": restarts,
            "optimistic": {"c": every, "share": valid},
        },
        caption=f"(a) Fraction of the four changes (V_T = 4) that are followed by a restart before the next change, against the horizon; 95 % bootstrap over {trials} trials. (b) Restarts per run with one scale c for all constants, on stationary functions (where every restart is unnecessary) and with four changes; {trials} trials. (c) Fraction of {len(worst)} trials of Algorithm 2 alone in which r-bar with b_0 = c / 3 is never below the best value up to T.",
        alt=f"Three line plots. The fraction of changes detected is {', '.join(f'{x.estimate:.2f}' for x in share.values())} for the horizons shown. With one scale, restarts fall from {at(0):.1f} per run at c = {scales[0]:g} to {at(-1):.1f} at c = {scales[-1]:g}. The fraction of trials with an optimistic estimate rises from {valid[0]:.2f} at c = {every[0]:g} to {valid[-1]:.2f} at c = {every[-1]:g}.",
    )


def _detected_panel(
    ax: Axes, detected: Mapping[int, detection.Detections]
) -> dict[int, stats.Interval]:
    """Draw the fraction of detected changes against the horizon, and return it."""
    share = {k: detection.detected_share(found) for k, found in detected.items()}
    horizons = [2**k for k in share]
    with style_context():
        charts.errorbars(ax, horizons, share.values(), **line_style("MASTER"))
        ax.set(title="(a) detected, $b_0 = 2$, $A_1 = 1$", xlabel="$T$", xscale="log")
        ax.set(ylabel="fraction of changes", ylim=(-0.04, 1.04))
        ax.set_xticks(horizons, [charts.power_label(T) for T in horizons])
        ax.xaxis.minorticks_off()
    return share


def _restarts_panel(
    ax: Axes, restarts: Mapping[str, list[np.ndarray]], scales: Sequence[float], horizon: int
) -> None:
    """Draw the restarts per run against the scale c."""
    four = {"color": COLORS["black"], "linewidth": 0.7, "linestyle": (0, (1, 2))}
    drawn = (("blue", "s", "-"), ("vermilion", "o", "--"))
    with style_context():
        for (name, line), (color, marker, dashes) in zip(restarts.items(), drawn):
            how = {"color": COLORS[color], "marker": marker, "linestyle": dashes}
            ax.plot(scales, [x.mean() for x in line], label=name, **how)
        ax.axhline(4.0, label="4, the changes", **four)
        ax.set(title=f"(b) one scale, {horizon_label(horizon)}", xlabel="$c$", xscale="log")
        ax.set_ylabel("restarts per run, linear below 1")
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set_ylim(-0.1, max(60.0, 8 * ax.get_ylim()[1]))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.legend(loc="upper right")
        ax.set_xticks(scales, [f"{c:g}" for c in scales])
        ax.xaxis.minorticks_off()


def _optimism_panel(ax: Axes, worst: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Draw the fraction of trials with an optimistic estimate against the scale c; return both."""
    every = np.geomspace(1e-2, 10.0, 31)
    valid = [stationary.optimistic_in(worst, c / 3).estimate for c in every]
    with style_context():
        ax.plot(every, valid, color=COLORS["black"])
        ax.set(title="(c) is $\\bar r$ optimistic?", xlabel="$c$", xscale="log")
        ax.set(ylabel="fraction of trials", ylim=(-0.04, 1.04))
    return every, valid


# ---- Changes at dyadic fractions of T ----------------------------------------------------------------------


def print_coincidences(
    drawn: Mapping[tuple[int, int], int], seed: int, changes: np.ndarray, dyadic_power: int
) -> None:
    """Print how many random change points are on quarters of T or in a block's first round.

    Args:
        drawn: (number of segments, T) -> number of trials of the runs with random change points.
        seed: first seed of their paths.
        changes: change points of the run with two changes.
        dyadic_power: log2 of the horizon of the path with changes at quarters of T.
    """
    hits = {
        (segments, T): anatomy.dyadic(
            QuadraticDrift(Abrupt(segments)).part([*range(seed, seed + count)], T), T
        )
        for (segments, T), count in sorted(drawn.items())
    }
    chance = sum(hit.size * len(anatomy.marks(T)) / T for (_, T), hit in hits.items())
    found, total = (sum(map(of, hits.values())) for of in (np.sum, np.size))
    print(
        f"random change points on quarters of T or a block's first round: {found} of {total}, expected by chance {format_number(chance)}"
    )
    quarters = 2**dyadic_power * np.arange(1, 4) / 4
    here = anatomy.dyadic(changes, anatomy.RUN_HORIZON).sum()
    there = anatomy.dyadic(quarters, 2**dyadic_power).sum()
    print(
        f"in the run of section 3: {here} of {len(changes)}; in the dyadic path: {there} of {len(quarters)}"
    )


def print_placed(placed: Mapping[str, Mapping[str, Trace]]) -> None:
    """Print mean regret and MASTER's restarts by the placement of the changes."""
    for words, runs in placed.items():
        each = ", ".join(f"{name} {format_number(x.last().mean())}" for name, x in runs.items())
        restarts = runs["MASTER"]["report.restarts"].mean()
        print(f"three changes {words}: {each}; MASTER restarts {format_number(restarts)} times")


def draw_dyadic_trap(placed: Mapping[str, Mapping[str, Trace]]) -> Drawing:
    """Draw mean regret with changes at random times and at quarters of T.

    ``placed``: placement of the changes -> learner -> trace, random times first.
    """
    fig, axes = panels(1, height=1.9)
    ax = axes[0, 0]
    label = lambda name: line_style(name)["label"]
    means = {
        words: {label(name): stats.mean(trace.last())[:3] for name, trace in runs.items()}
        for words, runs in placed.items()
    }
    looks = {name: Style(*how) for name, how in zip(means, (("black", "o"), ("vermilion", "D")))}
    trace = next(iter(placed.values()))["MASTER"]
    title = f"three changes, $V_T = 3$, {horizon_label(_horizon(trace))}"
    how = {"title": title, "xlabel": "regret", "limits": (0, np.inf)}
    numbers = charts.dots_panel(ax, means, looks, **how)
    with style_context():
        ax.legend(loc="upper center", bbox_to_anchor=(0.3, -0.25), ncols=2)
        ax.locator_params(axis="x", nbins=5)
    random, quarters = placed.values()
    mean = lambda runs, name: runs[name].last().mean()
    ratio = mean(quarters, "MALG") / mean(random, "MALG")
    text = lambda runs: " and ".join(format_number(mean(runs, x)) for x in ("MASTER", "MALG"))
    return Drawing(
        fig,
        trials=len(trace.trials),
        numbers=numbers,
        caption=f"Effect of change points at quarters of T: mean regret with three changes (V_T = 3) at random times (drawn) and at T/4, T/2, 3T/4, {len(trace.trials)} trials, 95 % t-intervals. With changes at quarters of T, the schedule without tests has {format_number(ratio)} times its regret with changes at random times.",
        alt=f"Dot plot with one row per learner. With changes at quarters of T, MASTER and MALG have regret {text(quarters)}, with changes at random times {text(random)}.",
    )
