"""Figures, tables and verdicts of the notebook on regret: its growth, the benefit of the tests, and simpler rules."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from paperlib import stats
from paperlib.core.text import format_number

from ...figures import charts
from ...figures.drawing import Drawing, legend, line_style, panels
from ...figures.text import interval_text
from ...study import Study
from ...styles import COLORS
from ...verdicts import Verdict
from ..experiments import regret
from ..experiments.regret import Cell, Runs
from ..experiments.settings import STILL
from ..styles import STYLES
from .shared import horizon_text


class Counts(NamedTuple):
    """Numbers of trials of the runs."""

    trials: int  # of each run
    long: int  # of the runs with five segments
    still: int  # of MASTER on stationary functions

    @property
    def text(self) -> str:
        """Return the numbers of trials for a caption."""
        more = f" ({self.long} with five segments)" if self.long > self.trials else ""
        return f"{self.trials} trials{more}"


# ---- Regret against T --------------------------------------------------------------------------------------


class Growth(NamedTuple):
    """Statistics of the growth of regret with T."""

    few: list[Cell]  # cells with five segments, by increasing T
    many: list[Cell]  # cells with 17 segments
    first: int  # first T of the slopes
    slopes: dict[str, dict[str, stats.Interval]]  # learner -> path -> log-log slope
    factors: dict[Cell, stats.Interval]  # MASTER's R_T / (V_T^{1/3} T^{2/3})
    shares: dict[Cell, stats.Interval]  # fraction of the improvement that is due to the schedule
    still: stats.Interval  # MASTER's slope on stationary functions
    still_range: tuple[int, int]  # first and last T of this slope
    apart: stats.Interval  # slope of MALG minus slope of MASTER, five segments
    one_logarithm: float  # slope of T^{2/3} ln T at the horizons with five segments
    root_logarithm: float  # slope of sqrt(T) ln T at the horizons on stationary functions

    def others(self, name: str) -> str:
        """Return the slopes of a learner on other paths than the one with five segments, as text."""
        found = self.slopes[name].items()
        return ", ".join(f"{path} {interval_text(x)}" for path, x in found if path != "abrupt5")


def growth_in_T(runs: Runs, few: list[Cell], many: list[Cell], first: int) -> Growth:
    """Return the statistics of the growth of regret with T.

    Args:
        runs: traces by cell and learner.
        few, many: cells with five and with 17 segments, by increasing T.
        first: first T of the slopes.
    """
    horizons, still = [T for _, T in few], [("stationary", T) for _, T in many]
    still_horizons = [T for _, T in many]
    slopes = {
        name: {
            cells[0][0]: regret.slope(runs, cells, name, [T for _, T in cells], first)
            for cells in (few, many)
            if name in runs[cells[0]] and sum(T >= first for _, T in cells) > 1
        }
        for name in regret.CURVES
    }
    factors = {
        cell: stats.bootstrap_mean(
            regret.factor(runs[cell]["MASTER"].last(), V, cell[1]),
            of="mean factor",
            resamples=regret.RESAMPLES,
        )
        for cells, V in ((few, 4), (many, 16))
        for cell in cells
    }
    return Growth(
        few,
        many,
        first,
        slopes,
        factors,
        {cell: regret.schedule_share(runs, cell) for cell in (*few, *many)},
        regret.slope(runs, still, "MASTER", still_horizons, still_horizons[0]),
        (still_horizons[0], still_horizons[-1]),
        regret.slower(runs, few, "MASTER", "MALG", horizons, first),
        regret.with_logarithm(2 / 3, horizons, first),
        regret.with_logarithm(1 / 2, still_horizons, still_horizons[0]),
    )


def print_growth(growth: Growth, runs: Runs, counts: Counts) -> None:
    """Print slopes, factors, and the schedule's share of the improvement."""
    print(f"slopes from T = {horizon_text(growth.first)} on, mean regret over {counts.text}")
    for name, found in growth.slopes.items():
        each = "  ".join(f"{path} {interval_text(x)}" for path, x in found.items())
        print(f"  {name:20s}{each}")
    print(f"  MALG minus MASTER, five segments: {interval_text(growth.apart)}")
    print(f"  T^(2/3) ln T at these horizons: {format_number(growth.one_logarithm)}")
    begin, end = map(horizon_text, growth.still_range)
    print(
        f"  MASTER on stationary functions, from T = {begin} to {end}: {interval_text(growth.still)}; sqrt(T) ln T at these horizons: {format_number(growth.root_logarithm)}"
    )
    print("MASTER: factor of V_T^(1/3) T^(2/3), and the schedule's share of the improvement")
    for (path, T), found in growth.factors.items():
        share = "1, no test triggered in any trial"
        if regret.tested(runs, (path, T)):
            share = interval_text(growth.shares[path, T])
        print(f"  {path:9s} T = {horizon_text(T):5s} {interval_text(found):22s}  {share}")


def judge_growth(study: Study, runs: Runs, growth: Growth) -> list[Verdict]:
    """Judge the claims on the growth of regret with T, and on the benefit of the tests at the largest T."""
    last, last_many, slopes = growth.few[-1], growth.many[-1], growth.slopes
    judge = lambda id, *found, **more: study.judge(f"nsbco.{id}", *found, **more)
    logarithm = f"T^(2/3) ln T has slope {format_number(growth.one_logarithm)}"
    order = "; ".join(filter(None, (growth.others("MASTER"), logarithm)))
    root = f"sqrt(T) ln T has slope {format_number(growth.root_logarithm)} at these horizons"
    factor = (
        f"17 segments, T = {horizon_text(last_many[1])}: {interval_text(growth.factors[last_many])}"
    )
    oracle, others = "Algorithm 2, oracle", growth.others
    return [
        judge("C1a", slopes["MASTER"]["abrupt5"], reason=order),
        judge("C1e", growth.still, reason=root),
        judge("C1c", growth.factors[last], reason=factor),
        judge("C1d.few", regret.less(runs, [last], "MASTER", "MALG")),
        judge("C1d.many", regret.less(runs, [last_many], "MASTER", "MALG")),
        judge("C2.slope", slopes[oracle]["abrupt5"], reason=others(oracle)),
        judge("C2.egs", slopes["EGS, oracle"]["abrupt5"]),
        judge("C5", slopes["Algorithm 2"]["abrupt5"], reason=others("Algorithm 2")),
        judge("C6.order", regret.less(runs, [last], "MASTER", "BoB")),
        judge("C6.slope", slopes["BoB"]["abrupt5"], reason=others("BoB")),
        judge("N1", regret.ratio(runs, last, "MASTER", "MALG")),
        judge("N2", regret.ratio(runs, last, "MASTERw", "MASTER")),
        judge("N9", growth.apart),
        judge("N10", growth.shares[last]),
    ]


def draw_regret_against_T(runs: Runs, growth: Growth, counts: Counts) -> Drawing:
    """Draw regret against T with four and with 16 changes, and divided by V_T^{1/3} T^{2/3}."""
    fig, axes = panels(2, 2, height=2.7)
    numbers: dict[str, Any] = {}
    for column, cells, V, letters in zip(axes.T, (growth.few, growth.many), (4, 16), ("ac", "bd")):
        numbers |= _growth_column(column, runs, cells, V, letters)
    legend(fig, columns=4)
    last = growth.few[-1]
    ends = {name: runs[last][name].last().mean() for name in regret.CURVES}
    order, idle = sorted(ends, key=ends.get, reverse=True), STILL * last[1]
    worse = [name for name, x in ends.items() if x > idle]
    place = f"below {regret.caption_names(worse)}" if worse else "above all of them"
    slope = lambda name: interval_text(growth.slopes[name]["abrupt5"])
    return Drawing(
        fig,
        trials=counts._asdict(),
        numbers=numbers
        | {
            "slopes": growth.slopes,
            "slope, nothing moves": growth.still,
            "schedule's slope less MASTER's": growth.apart,
            "factors": {f"{path} {T}": x for (path, T), x in growth.factors.items()},
        },
        caption=f"Regret against the horizon on paths with 4 (a, c) and 16 abrupt changes (b, d), for learners that know neither the times nor the amount of the changes, and for oracles that know $V_T$ (dashed). Lower panels: regret divided by $V_T^{{1/3}} T^{{2/3}}$, which is constant for the rate of Theorem 3.4. Every horizon has separate runs. Where no test has triggered, MASTER's line covers the line of MALG, its schedule without tests. Gray dashes in (a, b): slopes of $T^{{1/2}}$ and $T^{{2/3}}$. Dotted: the static baseline, with regret 1/8 per round. With five segments, from $T$ = {horizon_text(growth.first)} on, the slope of mean regret is {slope('MASTER')} for MASTER, {slope('MALG')} for MALG, and {format_number(growth.one_logarithm)} for $T^{{2/3}} \\ln T$. At $T$ = {horizon_text(last[1])} MASTER has {interval_text(regret.ratio(runs, last, 'MASTER', 'MALG'))} times the regret of MALG. Bars: 95 % t-intervals of the mean over {counts.text}.",
        alt=f"Four line plots on log axes: regret rises with the horizon, along lines of different slope. With five segments, at the largest horizon, from the most regret to the least: {regret.caption_names(order)}; the static baseline is {place}.",
    )


def _growth_column(
    column: Sequence[Axes], runs: Runs, cells: list[Cell], V: int, letters: str
) -> dict[str, dict]:
    """Draw the regret of one path against T, above the regret divided by V^{1/3} T^{2/3}."""
    path, first = cells[0][0], letters[0] == "a"
    found = {
        name: {T: runs[path, T][name].last() for _, T in cells}
        for name in regret.CURVES
        if name in runs[cells[0]]
    }
    scale = lambda x, T: regret.factor(x, V, T)
    over = {name: {T: scale(x, T) for T, x in sample.items()} for name, sample in found.items()}
    title = regret.title(path)
    how = {"tick": charts.power_label, "every": (len(cells) + 5) // 6, "log_y": True}
    above = {
        "title": f"({letters[0]}) {title}",
        "ylabel": "regret $R_T$" if first else "",
        "known": {"static baseline": lambda T: STILL * T},
    }
    below = {
        "title": f"({letters[1]}) {title}",
        "xlabel": "$T$",
        "ylabel": "$R_T / (V_T^{1/3} T^{2/3})$" if first else "",
        "known": {"static baseline": lambda T: float(scale(STILL * T, T))},
    }
    numbers = {path: charts.sweep_panel(column[0], found, {}, **above, **how)}
    charts.slope_guides(column[0], {"1/2": 1 / 2, "2/3": 2 / 3}, "T")
    numbers[f"{path}, factor"] = charts.sweep_panel(column[1], over, {}, **below, **how)
    return numbers


# ---- Regret against V_T ------------------------------------------------------------------------------------

Sweep = Mapping[float, Cell]  # V_T -> cell


def slopes_in_V(runs: Runs, sweep: Sweep, first: float) -> dict[str, stats.Interval]:
    """Return the log-log slope of each learner's mean regret in V_T, from ``first`` on."""
    cells, along = [*sweep.values()], [*sweep]
    return {name: regret.slope(runs, cells, name, along, first) for name in regret.SWEEP}


def print_slopes_in_V(
    abrupt: Mapping[str, stats.Interval],
    rotating: Mapping[str, stats.Interval],
    first: float,
    horizon: int,
    counts: Counts,
) -> None:
    """Print the slopes in V_T with abrupt changes and with a rotation."""
    print(f"slopes in V_T from {first} on, T = {horizon_text(horizon)}, {counts.text}")
    for name, slope in abrupt.items():
        print(
            f"  {name:20s} abrupt {interval_text(slope):22s} rotation {interval_text(rotating[name])}"
        )


def draw_regret_against_V(
    runs: Runs,
    sweeps: tuple[Sweep, Sweep],
    slopes: tuple[Mapping[str, stats.Interval], Mapping[str, stats.Interval]],
    first: float,
    counts: Counts,
) -> Drawing:
    """Draw regret against V_T with abrupt changes and with a rotation.

    Args:
        runs: traces by cell and learner.
        sweeps: cells by V_T, with abrupt changes and with a rotation.
        slopes: slopes in V_T of each learner on both paths.
        first: first V_T of the slopes.
        counts: numbers of trials.
    """
    fig, axes = panels(2, height=2.9)
    words = ("abrupt changes, $V_T$ of them", "rotation, changes in every round")
    horizon, numbers = next(iter(sweeps[0].values()))[1], {}
    for ax, sweep, letter, word in zip(axes[0], sweeps, "ab", words):
        found = {
            name: {V: runs[cell][name].last() for V, cell in sweep.items()} for name in regret.SWEEP
        }
        how = {
            "title": f"({letter}) {word}",
            "xlabel": "$V_T$",
            "ylabel": "regret $R_T$" if letter == "a" else "",
            "known": {"static baseline": lambda V: STILL * horizon},
            "log_y": True,
        }
        numbers[word] = charts.sweep_panel(ax, found, {}, **how)
        charts.slope_guides(ax, {"1/3": 1 / 3}, "V_T")
    legend(fig, columns=4)
    abrupt, rotating = slopes
    ends = [[*sweep.values()][-1] for sweep in sweeps]
    least = [regret.caption_names([regret.best(runs, cell, regret.SWEEP)]) for cell in ends]
    number = lambda found, name: format_number(found[name].estimate)
    return Drawing(
        fig,
        trials=counts._asdict(),
        numbers=numbers | {"slopes, abrupt": abrupt, "slopes, rotation": rotating},
        caption=f"Regret at $T$ = {horizon_text(horizon)} against $V_T$, on log axes. From $V_T$ = {first} on, the slope of MASTER's mean regret is {interval_text(abrupt['MASTER'])} with abrupt changes and {interval_text(rotating['MASTER'])} with a rotation. The slopes of MALG, its schedule without tests, are {interval_text(abrupt['MALG'])} and {interval_text(rotating['MALG'])}. The upper bound of Theorem 3.4 has slope 1/3 (gray dashes), up to logarithms. Dotted: the static baseline, with regret 1/8 per round. Bars: 95 % t-intervals of the mean over {counts.text}.",
        alt=f"Two line plots on log axes, regret against the variation. Abrupt changes: MASTER's line rises with slope {number(abrupt, 'MASTER')}, the line of its schedule without tests with {number(abrupt, 'MALG')}; {least[0]} has the least regret at the largest variation. Rotation: slopes {number(rotating, 'MASTER')} and {number(rotating, 'MALG')}; {least[1]} has the least regret there.",
    )


# ---- A wrong V_T -------------------------------------------------------------------------------------------


def judge_misspecified(
    study: Study, runs: Runs, cell: Cell, assumed: Mapping[float, str]
) -> list[Verdict]:
    """Judge that a V_T that is a hundred times too small or too large costs regret."""
    ratio = lambda name: interval_text(regret.ratio(runs, cell, name, "MASTER"))
    each = ", ".join(f"kappa {kappa:g} {ratio(name)}" for kappa, name in assumed.items())
    reason = f"ratio to MASTER's mean regret: {each}"
    small, large = (regret.less(runs, [cell], assumed[1.0], assumed[x]) for x in (0.01, 100.0))
    return [
        study.judge("nsbco.C2.eased", small, reason=reason),
        study.judge("nsbco.C2.wrong", large),
    ]


def draw_misspecification(
    runs: Runs, cells: Sequence[Cell], assumed: Mapping[float, str], counts: Counts
) -> Drawing:
    """Draw regret against the ratio of the assumed to the true V_T, one panel per path."""
    fig, axes = panels(2, (len(cells) + 1) // 2, height=2.5)
    numbers, below = {}, []
    for ax, cell, letter in zip(axes.flat, cells, "abcdef"):
        found, path = runs[cell], cell[0]
        sample = {kappa: found[name].last() for kappa, name in assumed.items()}
        numbers[path] = charts.sweep_panel(
            ax,
            {regret.ORACLE: sample},
            {name: found[name].last() for name in regret.BANDS},
            title=f"({letter}) {regret.title(path)}",
            xlabel=r"$\kappa$, assumed $V_T$ / true $V_T$",
            ylabel="regret $R_T$",
            log_y=True,
            labels={regret.ORACLE: r"Algorithm 2, restarts for $\kappa V_T$"},
        )
        master = found["MASTER"].last().mean()
        less = [f"{kappa:g}" for kappa, x in sample.items() if x.mean() < master] or ["none"]
        below.append(f"{regret.kind(path)}: {', '.join(less)}")
    for ax in axes.flat[len(cells) :]:
        ax.set_axis_off()
    legend(fig, columns=4)
    return Drawing(
        fig,
        trials=counts._asdict(),
        numbers=numbers,
        caption=f"Regret at $T$ = {horizon_text(cells[0][1])} of Algorithm 2 with restarts for an assumed variation of $\\kappa$ times the true $V_T$, against $\\kappa$. Horizontal lines: learners that are not given $V_T$. Of the values {', '.join(f'{k:g}' for k in assumed)}, the following $\\kappa$ have less mean regret than MASTER: {'; '.join(below)}. Bars and bands: 95 % t-intervals of the mean over {counts.trials} trials.",
        alt=f"{len(cells)} line plots of regret against kappa on log axes, with horizontal lines for learners that do not use kappa. Values of kappa with less regret than MASTER: {'; '.join(below)}.",
    )


# ---- Detected changes --------------------------------------------------------------------------------------

Seen = Mapping[str, Mapping[Cell, regret.Detections]]  # learner -> cell -> detections
Level = Mapping[str, Mapping[int, Any]]  # learner -> T -> restarts per run


def print_detections(seen: Seen, level: Level) -> None:
    """Print detected changes, delays and unnecessary restarts, and restarts on the path where only the level changes."""
    print("five segments       detected               delay  unnecessary restarts per run")
    for name, found in seen.items():
        for (_, T), x in found.items():
            delay = format_number(regret.delay_quartiles(x).estimate) if len(x.delays) else "-"
            share, needless = regret.detected_share(x), stats.mean(x.needless)
            print(
                f"  {name:7s} T = {horizon_text(T):5s} {interval_text(share):22s} {delay:>6s}  {interval_text(needless)}"
            )
    print("only the level changes: restarts per run, all of them unnecessary")
    for name, found in level.items():
        for T, x in found.items():
            print(f"  {name:7s} T = {horizon_text(T):5s} {interval_text(stats.mean(x))}")


def draw_detection(seen: Seen, level: Level, counts: Counts) -> Drawing:
    """Draw detected changes, their delay, and unnecessary restarts against T."""
    fig, axes = panels(3, height=2.6)
    by_horizon = {name: {T: x for (_, T), x in found.items()} for name, found in seen.items()}
    numbers = regret.detection_panels(axes[0], by_horizon, level)
    legend(fig, columns=4)
    T, T_level = (max(found) for found in (by_horizon["MASTER"], level["MASTER"]))
    medians = {name: x[T].estimate for name, x in numbers["delay"].items() if T in x}
    listed = lambda texts: ", ".join(f"{name} {text}" for name, text in texts.items())
    delays = listed({name: f"{format_number(x)} rounds" for name, x in medians.items()})
    at = lambda panel, T: listed({name: interval_text(x[T]) for name, x in numbers[panel].items()})
    shares, needless = at("share", T), at("needless, level", T_level)
    return Drawing(
        fig,
        trials=counts._asdict(),
        numbers=numbers,
        caption=f"Restarts of MASTER and GLR against the horizon, five segments. (a) Fraction of the changes that are detected before the next change, 95 % bootstrap over {counts.long} trials (exact Clopper-Pearson intervals where all trials agree); at $T$ = {horizon_text(T)}: {shares}. (b) Median delay of the detected changes with quartiles, if any change is detected; at $T$ = {horizon_text(T)}: {delays}. (c) Restarts per run on the path where only the level changes, all of them unnecessary, with 95 % t-intervals, on an axis that is linear below 1 and logarithmic above; at $T$ = {horizon_text(T_level)}: {needless}.",
        alt=f"Three line plots against the horizon. Fraction of changes detected at the largest horizon: {shares}. Median delay: {delays}. Unnecessary restarts if only the level changes: {needless}.",
    )


# ---- All learners on all paths -----------------------------------------------------------------------------


def judge_simpler_rules(
    study: Study, runs: Runs, paths: Sequence[str], horizon: int
) -> list[Verdict]:
    """Judge that simpler rules have less regret than MASTER on the paths where they are meant to."""
    abrupt, smooth = regret.abrupt_and_smooth(paths)
    verdicts = []
    for id, on, rule in (
        ("N3", abrupt, "GLR"),
        ("N4", smooth, "KWtrack"),
        ("N6", [*abrupt, *smooth], "D-LS"),
    ):
        times = regret.range_of_ratios(regret.rules(runs, on, horizon)[rule])
        less = regret.less(runs, [(path, horizon) for path in on], rule, "MASTER")
        reason = f"MASTER's mean regret is {times} {rule}'s"
        verdicts.append(study.judge(f"nsbco.{id}", less, reason=reason))
    return verdicts


def draw_gallery(
    runs: Runs, paths: Sequence[str], horizon: int, counts: Counts, seed: int
) -> Drawing:
    """Draw R_T / T^{2/3} of all learners, one panel per path."""
    fig, axes = panels(3, -(-len(paths) // 3), height=2.75, sharey=True, width=7.2)
    samples = {
        path: {
            name: trace.last() / horizon ** (2 / 3)
            for name, trace in regret.figure_learners(runs, path, horizon).items()
        }
        for path in paths
    }
    limits, numbers = regret.log_limits(samples), {}
    for i, (ax, path) in enumerate(zip(axes.flat, paths)):
        numbers[path] = {name: stats.mean(x) for name, x in samples[path].items()}
        title = f"({'abcdefghijkl'[i]}) {regret.title(path)}"
        xlabel = "$R_T / T^{2/3}$" if i + 3 >= len(paths) else ""
        _gallery_panel(ax, numbers[path], title=title, xlabel=xlabel, limits=limits)
    for ax in axes.flat[len(paths) :]:
        ax.set_axis_off()
    least = {path: regret.best(runs, (path, horizon), regret.RIVALS) for path in paths}
    words = "; ".join(f"{path} {name}" for path, name in least.items())
    adapting = regret.ratio(runs, ("stationary", horizon), "MASTER", "Algorithm 2")
    return Drawing(
        fig,
        trials=counts._asdict(),
        numbers=numbers,
        caption=f"$R_T / T^{{2/3}}$ at $T$ = {horizon_text(horizon)} for all learners (rows) on all paths (panels), on a log axis. Vertical dotted line: the static baseline. Open marks: oracles, which know $V_T$. Full information observes gradients. W is the window of discounted or sliding least squares. A triangle at an edge marks a value beyond it. $V_T$ and changes: {regret.variations(paths, horizon, counts.trials, seed)}. The least mean regret of the learners that observe rewards and do not know $V_T$: {words}. On stationary functions MASTER has {format_number(adapting.estimate)} times the regret of Algorithm 2 alone. Bars: 95 % t-intervals of the mean over {counts.text}; MASTER on stationary functions has {max(counts.trials, counts.still)} trials.",
        alt=f"{len(paths)} dot plots with one row per learner and a dot for its regret. Least regret of the learners that observe rewards and are not given V_T: {words}.",
    )


def _gallery_panel(ax: Axes, found: Mapping[str, stats.Interval], **how: Any) -> None:
    """Draw one row per learner, and highlight MASTER's row and the static baseline."""
    rows = {name: {line_style(name)["label"]: x[:3]} for name, x in found.items()}
    charts.dots_panel(ax, rows, {name: STYLES[name] for name in found}, log_x=True, **how)
    dotted = {"linewidth": 0.7, "linestyle": (0, (1, 2)), "zorder": 1}
    ax.axvline(found["static baseline"].estimate, color=COLORS["black"], **dotted)
    at = [*found].index("MASTER")
    ax.axhspan(at - 0.5, at + 0.5, color=COLORS["vermilion"], alpha=0.1, linewidth=0, zorder=0)
    ax.xaxis.set_minor_formatter(NullFormatter())


# ---- Simpler rules -----------------------------------------------------------------------------------------


def print_simpler_rules(runs: Runs, paths: Sequence[str], horizon: int) -> None:
    """Print the ratio of MASTER's mean regret to the mean regret of three simpler rules."""
    ratios = regret.rules(runs, paths, horizon)
    print(f"MASTER over                {'':4s}" + "".join(f"{x:24s}" for x in ratios).rstrip())
    for path in paths:
        row = "  ".join(f"{interval_text(found[path]):22s}" for found in ratios.values())
        print(f"  {path:12s}{row.rstrip()}")
