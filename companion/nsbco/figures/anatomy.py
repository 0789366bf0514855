"""Figures, tables and verdicts of the notebook on the parts of MASTER: base learner, schedule, tests and constants."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.nsbco.problems.quadratic import QuadraticDrift

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
from ...figures.text import interval_text
from ...study import Study
from ...styles import COLORS, Style
from ...verdicts import Verdict
from ..experiments import anatomy, stationary
from ..experiments.settings import STILL
from ..proofs import ascent, schedule
from .shared import horizon_label, log2

GRAY = COLORS["gray"]


def _horizon(trace: Trace) -> int:
    """Return the last round of a run."""
    return int(trace.rounds[-1])


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
    """Draw regret on stationary functions, and the effect of a wrong L.

    Args:
        runs: learner -> trace.
        literal: noise -> trace of Algorithm 2 in the paper's units.
        given: value of L that Algorithm 2 is given -> trace.
    """
    few, t = len(next(iter(given.values())).trials), runs["KW"].rounds
    fig, axes = panels(2, height=2.7, width_ratios=[1.15, 0.9])
    left, right = axes[0]
    shown = {**runs, **{f"Algorithm 2, {noise}": trace for noise, trace in literal.items()}}
    how = {"title": "(a) regret", "log_x": True, "log_y": True, "labels": False}
    numbers = {"regret": regret_panel(left, shown, bands=runs, **how)}
    with style_context():
        left.plot(t, STILL * t, **line_style("static baseline"))
        # the first query may hit the maximizer, and a log axis has no place for regret 0
        left.set_yscale("log", nonpositive="mask")
        left.set(xlim=(1, t[-1]), ylim=(0.02, STILL * t[-1] * 1.5))
    charts.slope_guides(left, {"1/2": 0.5}, "t")
    numbers["L"] = _regret_by_bound(right, given)
    legend(fig, columns=4)
    best, worst = (of(given, key=lambda L: given[L].last().mean()) for of in (min, max))
    return Drawing(
        fig,
        trials={"a": len(runs["Algorithm 2"].trials), "units": few, "b": few},
        numbers=numbers,
        caption=f"Stationary functions (V_T = 0, no changes). (a) Mean regret against rounds; the lines with h = 1 use the paper's units, N_0 = 16, and the noise given in the legend, {few} trials. The dashed guide has slope 1/2. {band_note(runs)} (b) Regret of Algorithm 2 against the value of L that it is given; the other figures use L = 2 (vertical line), the least valid L is 1.5, and the functions are the same for all values. Whiskers: 95 % t-intervals over {few} trials.",
        alt=f"Two line plots. On log axes, the regret of Algorithm 2, Kiefer-Wolfowitz and EGS grows about as the square root of the rounds, far below the straight line of the static baseline. The regret against L is lowest at L = {best:g} and highest at L = {worst:g}.",
    )


def _regret_by_bound(ax: Axes, given: Mapping[float, Trace]) -> dict[str, dict]:
    """Draw the regret of Algorithm 2 against the value of L that it is given, and return the plotted numbers."""
    horizon = _horizon(next(iter(given.values())))
    title = f"(b) with a wrong $L$, {horizon_label(horizon)}"
    samples = {"Algorithm 2": {L: trace.last() for L, trace in given.items()}}
    known = {"static baseline": lambda L: STILL * horizon}
    how = {"title": title, "xlabel": "given $L$", "known": known, "log_y": True, "every": 4}
    numbers = charts.sweep_panel(ax, samples, {}, **how)
    with style_context():
        ax.axvline(2.0, color=GRAY, linewidth=0.6, zorder=1)
    return numbers


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
    """Print the ratios of regret to the regret of the static baseline."""
    for k, found in ratios.items():
        each = ", ".join(f"{name} {interval_text(x)}" for name, x in found.items())
        print(f"T = 2^{k}: regret over the static baseline's: {each}")


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
    names = ("N_0 as printed", "N_0 corrected", "Algorithm 2")
    lines = {name: {2**k: found[name] for k, found in ratios.items()} for name in names}
    given = "given powers of ln T, $N_0$"
    labels = {name: name.replace("N_0", given) for name in names}
    how = {"title": "(b) stationary, bounds unknown", "xlabel": "$T$", "labels": labels}
    how |= {"ylabel": "regret / static baseline", "tick": charts.power_label}
    return charts.sweep_panel(ax, lines, {}, known={"static baseline": lambda T: 1.0}, **how)


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


# ---- One run with two changes ------------------------------------------------------------------------------


def print_run(run: anatomy.Run) -> None:
    """Print changes, restarts with the test that caused them, the margins of Test 1, and regret."""
    ends, changes = run.ends, run.changes
    print(f"changes before rounds {', '.join(str(c + 1) for c in changes)}")
    for t, test, m in run.restarts:
        late = t - changes[changes < t].max()
        margin = ends.margin[(ends.rounds == t) & (ends.order == m)][0]
        print(
            f"restart after {t} rounds: Test {test}, window of order {m} ({2**m} rounds), {late} rounds after the change; U_t {run.U[t - 1]:.3f}, margin {margin:.4f}"
        )
    quiet = np.isin(ends.rounds, run.marks, invert=True)
    print(
        f"{len(ends.rounds)} windows ended; the largest margin without a restart is {ends.margin[quiet].max():.3f}"
    )
    print(f"regret {run.regret[-1]:.1f}; static baseline {STILL * anatomy.RUN_HORIZON:.1f}")


def draw_run(run: anatomy.Run) -> Drawing:
    """Draw center, active order, optimistic estimates and Test 1 of the run in all rounds and around the first restart."""
    fig, axes = panels(2, 4, height=1.28, width_ratios=[1.7, 1], sharey="row", sharex="col")
    changes, at, T = run.changes, run.marks, anatomy.RUN_HORIZON
    zoom = (int(changes[0]) - 700, at[0] + 700) if at else (1, T)
    for column, span in zip(axes.T, ((1, T), zoom)):
        dots = anatomy.run_column(column, run, span)
    rows = ["center", "active\norder", "optimistic\nestimates", "Test 1:\nmargin"]
    with style_context():
        axes[0, 0].set_title("(a) all rounds")
        axes[0, 1].set_title("(b) around the first change and restart")
        for ax, words in zip(axes[:, 0], rows):
            ax.set_ylabel(words)
        fig.align_ylabels(axes[:, 0])
        bar = fig.colorbar(dots, ax=axes[1:, 1], pad=0.02, aspect=30)
        bar.set_label("order $m$ of the window", fontsize=7)
    legend(fig, columns=4)
    tests, every, long = (
        {test for _, test, _ in run.restarts},
        slice(None, None, 64),
        run.ends.order > 4,
    )
    return Drawing(
        fig,
        trials=1,
        numbers={
            "changes": changes,
            "restarts": run.restarts,
            "rounds": run.rounds[every],
            **{name: getattr(run, name)[every] for name in ("z", "order", "block", "rbar", "U")},
            "Test 1": {name: values[long] for name, values in run.ends._asdict().items()},
            "regret": run.regret[every],
            "static baseline": STILL * run.rounds[every],
        },
        caption=f"One run of MASTER in one dimension, T = 2^15, V_T = 2, with two changes (dashed, before rounds {changes[0] + 1} and {changes[1] + 1}) and restarts (red) after {' and '.join(str(x) for x in at)} rounds, both by {'Test 1' if tests == {1} else 'several tests'}. Rows from top to bottom: maximizer and center of the active copy; order of its window and of the block; best value, optimistic estimates and their minimum in the block (dots: every eighth round on the left); margin of Test 1 at the ends of windows (the test triggers at 0 or above). MASTER has regret {run.regret[-1]:.0f}, the static baseline {STILL * T:.0f}.",
        alt="Eight panels in two columns; the right column enlarges the first change. The maximizer jumps twice. Centers of new copies follow it, centers of old copies do not. The smallest optimistic estimate is above the best value until a change, then falls below it. A few hundred rounds later the margin of a window reaches zero and a restart follows.",
    )


# ---- The constants as printed ------------------------------------------------------------------------------

GAPS = (2.0, 0.5)  # sizes of a change; 2 is the largest possible


def print_as_printed(runs: Mapping[str, Trace], silent: Check) -> None:
    """Print whether MASTER as printed equals its schedule, and the check that no test triggers."""
    trace = runs["printed"]
    equal = (trace["regret"] == runs["no tests"]["regret"]).all()
    print(
        f"T = 2^{log2(_horizon(trace))}, four changes, {len(trace.trials)} trials: regret of MASTER as printed and of its schedule without tests {'equal' if equal else 'differ'} in all rounds, bit for bit"
    )
    print(silent)


def draw_constants(silent: Check, trials: int) -> Drawing:
    """Draw the thresholds of the tests with printed constants, and the first horizons at which Test 1 can trigger.

    Args:
        silent: check that no test triggers in the runs with the printed constants.
        trials: number of trials of these runs.
    """
    fig, axes = panels(2, height=2.9, width_ratios=[1, 0.95])
    left, right = axes[0]
    numbers = _thresholds_panel(left) | _first_horizons_panel(right)
    first = schedule.first_firing(GAPS[0])
    second = schedule.first_of_any(schedule.WEAK["printed"])["Test 2"]
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        checks=[silent],
        caption=f"The constants of Lemma 3.1 in the paper's units (L = 2, sigma = 1, unit ball, c_0 = 1/2). (a) Thresholds of the tests at the longest window and block against the horizon, d = 2; no difference between a mean of rewards and an optimistic estimate can exceed the dotted line (for Test 2 with the estimate clipped at 1). (b) The first horizon at which Test 1 can trigger (Test 2 as printed: from T = {second:.2e} on), for a change of size 2, the largest possible, and of size 1/2. Rows: as printed; with our corrected constant; with a tight b_0 and the multiples 9 and 6 (log2 T + 1) of Algorithm 1; with the calibrated A_1 = 1 of our other figures.",
        alt=f"A line plot on log axes and a dot plot. Test 1's printed threshold falls below 2 at T = {first['printed']:.1e}, Test 2's at {second:.1e}, the corrected one of Test 1 at {first['corrected']:.1e}, one with a tight bonus of 2 at {first['tight, b_0 = 2']:.1e}. The calibrated one is below 2 from the first rounds on.",
    )


def _legend_below(ax: Axes, x: float = 0.5, **more) -> None:
    """Draw the legend of a panel below it."""
    ax.legend(loc="upper center", bbox_to_anchor=(x, -0.24), fontsize=6.5, **more)


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
        ax.set(title="(a) thresholds of the longest window", xlabel="$T$")
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
    how = {"title": "(b) when Test 1 can trigger", "xlabel": "first $T$", "limits": (0.3, 1e36)}
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


def print_calibration(tables: Tables, alarms: Mapping[Bonus, Trace]) -> None:
    """Print the least A_1 without false alarms for each horizon and b_0; arguments as ``calibration_tables`` has them."""
    for k, of in tables.items():
        print(f"T = 2^{k}, stationary functions, {_count(alarms)} trials")
        for b in of["regret"]:
            need, second = anatomy.reached(alarms[k, b])
            least = float(np.quantile(need, 0.95))
            words = f"A_1 below {format_number(least)}" if least > 0 else "no A_1"
            reached = float(second.max() / (1.5 * b * (k + 1)))
            print(
                f"  b_0 = {b:g}: {words} has false alarms by Test 1 in more than 5 % of trials; Test 2 reaches {format_number(reached)} of its threshold"
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


def print_one_scale(scaled: Scaled, scales: Sequence[float], worst: np.ndarray) -> None:
    """Print how often r-bar is optimistic, the restarts and the regret for each scale c.

    Args:
        scaled: runs on stationary functions and with four changes.
        scales: values of c.
        worst: R, largest ``Shortfall`` of Algorithm 2 alone.
    """
    for c in scales:
        name = f"c = {c:g}"
        valid = stationary.optimistic_in(worst, c / 3).estimate
        each = ", ".join(
            f"{format_number(runs[name]['report.restarts'].mean())} ({path})"
            for path, runs in scaled.items()
        )
        trace = scaled["four changes"][name]
        print(
            f"{name}, b_0 = c / 3: r-bar optimistic in {format_number(100 * valid)} % of trials of Algorithm 2 alone; restarts per run {each}; regret with four changes {format_number(trace.last().mean())}, static baseline {format_number(STILL * _horizon(trace))}"
        )


# ---- Changes at dyadic fractions of T ----------------------------------------------------------------------


def print_placed(placed: Mapping[str, Mapping[str, Trace]]) -> None:
    """Print mean regret and MASTER's restarts by the placement of the changes."""
    for words, runs in placed.items():
        each = ", ".join(
            f"{name} {interval_text(stats.mean(x.last()))}" for name, x in runs.items()
        )
        restarts = runs["MASTER"]["report.restarts"].mean()
        print(f"three changes {words}: {each}; MASTER restarts {format_number(restarts)} times")
