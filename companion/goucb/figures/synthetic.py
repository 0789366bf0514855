"""Figures, printed lines and verdicts of ``notebooks/goucb_2_synthetic.ipynb``: Figure 2 and the experiments that explain it.

Runs are given as function -> learner -> trace. The functions are "f1" to "f3" of the paper and "teacher", a random network.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paperlib import stats
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.goucb.problems.synthetic import Teacher

from ...figures.charts import dots_panel, sweep_panel
from ...figures.drawing import Drawing, legend, panels
from ...figures.text import interval_text
from ...study import Study
from ...styles import Style
from ...verdicts import Verdict
from ..experiments import settings, synthetic
from ..experiments.settings import CONTROLS, PAPER, RIVALS, SECOND, TWINS, Setting, Size
from ..experiments.synthetic import Runs

GPS = PAPER[1:4]
PAPERS = ("f1", "f2", "f3")  # the paper's functions
SHORT = {"f1": "$f_1$", "f2": "$f_2$", "f3": "$f_3$", "teacher": "the teacher"}
WORDS = {
    "f1": "$f_1$, a sigmoid of the sum of the coordinates",
    "f2": "$f_2$, Styblinski-Tang",
    "f3": "$f_3$, Rastrigin",
    "teacher": "A random network of 25 units on $[-1, 1]^{20}$",
}
STARTS = {
    "start": Style("vermilion", "o", label="GO-UCB by its start"),
    "control": Style("black", "D", label="control"),
}
LEFT_OUT = "the quick profile leaves out a method"
SLOPE = "log-log slope in d"


def has_runs(found: dict[str, Trace], names: Sequence[str]) -> bool:
    """Return whether all learners were run."""
    return set(names) <= set(found)


def find_maxima(
    functions: dict[str, Setting], trials: dict[str, int], seed: int
) -> dict[str, np.ndarray]:
    """Return f* of the trials by function, see ``experiments.synthetic.maxima``."""
    return {
        f: synthetic.maxima(setting.problem, setting.n + setting.T, trials[f], seed)
        for f, setting in functions.items()
    }


def print_table(runs: Runs, functions: dict[str, Setting], tops: dict[str, np.ndarray]) -> None:
    """Print regret of both phases, regret per round of Phase II and simple regret at the end, by function and learner."""
    for f, found in runs.items():
        problem, n, T, _ = functions[f]
        trials = len(next(iter(found.values())).trials)
        print(f"{f}, n = {n}, T = {T}, {trials} trials")
        for line in synthetic.table(found, n, tops[f], problem.noise):
            print("  " + line)


# Phase I on f1, and ties of the GP methods -------------------------------------------------------------------


class FirstPhase(NamedTuple):
    """Outcomes of Phase I on f1, by simulation without the learner, and the learner's outcomes after it."""

    drawn: dict[str, np.ndarray]  # see ``experiments.synthetic.simulate_first_phase``
    paired: dict[str, Trace]  # GO-UCB, and repeating the best point
    poor: stats.Interval  # fraction of draws without a good point
    bad: int  # trials without a good point
    still: int  # these trials without a good point in the last round
    trials: int  # all paired trials
    setting: Setting

    @property
    def stuck(self) -> str:
        """Sentence on the paired trials without a good point."""
        return f"there were {self.bad} such trials among {self.trials}, and in {self.still} of them the regret of GO-UCB's last round was still above {self.limit:g}"

    @property
    def limit(self) -> float:
        """Regret above which a point is poor."""
        return synthetic.POOR * self.setting.problem.noise

    def last_rounds(self, rounds: int) -> stats.Interval:
        """Return GO-UCB's mean regret in the last rounds, as a fraction of the mean regret of a uniform point."""
        width = self.setting.problem.maximum - 1  # 1 < f <= f*
        learner, repeated = self.paired["GO-UCB"], self.paired["repeat-best"]
        return synthetic.share_of_uniform(self.drawn, learner, repeated, rounds, width)


def summarize_first_phase(
    drawn: dict[str, np.ndarray], paired: dict[str, Trace], setting: Setting
) -> FirstPhase:
    """Return the outcomes of Phase I on f1; see ``FirstPhase`` for the arguments."""
    problem = setting.problem
    counts = synthetic.count_stuck(paired["GO-UCB"], setting.n, problem.maximum, problem.noise)
    poor = synthetic.poor_fraction(drawn, problem.noise)
    return FirstPhase(drawn, paired, poor, *counts, setting)


def agreement_text(found: dict[str, Trace]) -> str:
    """Return a sentence on how often the three GP methods have the same regret; "" if not all of them were run."""
    if not has_runs(found, GPS):
        return ""
    same, total = synthetic.agreement(found, GPS)
    return f"GP-UCB, GP-EI and GP-PI (raw) have the same regret in {same} of {total} rounds of all trials"


def constant_fractions(
    functions: dict[str, Setting], seen: dict[str, dict[str, Trace]], size: Size
) -> dict[str, dict[str, float]]:
    """Return the least fraction of points where an acquisition function attains its largest value, by function and GP method.

    Args:
        functions: functions with their budgets.
        seen: traces of one round of Phase II, with points and observations.
        size: sizes of the internal optimizers.
    """
    fractions = {}
    for f, setting in functions.items():
        side = 1.0 if f == "teacher" else 5.0
        every = settings.learners(setting.n, setting.F, size)
        fractions[f] = {
            name: min(
                float(synthetic.tied_fraction(every[name], seen[f][name], side, rounds).min())
                for rounds in (setting.n, setting.n + 1)
            )
            for name in GPS
        }
    return fractions


def _tied_points(fractions: dict[str, float]) -> int:
    """Return the least number of points where an acquisition function attains its largest value."""
    return round(min(fractions.values()) * synthetic.POINTS)


# Verdicts ---------------------------------------------------------------------------------------------------


def judge_figure_2(
    study: Study, functions: dict[str, Setting], runs: Runs, phase: FirstPhase
) -> dict[str, list[Verdict]]:
    """Judge the claims on each of the paper's functions; claims about methods that were left out are recorded as not run.

    Args:
        study: the notebook's study.
        functions: functions with their budgets.
        runs: runs of Figure 2.
        phase: outcomes of Phase I on f1.

    Returns:
        Function -> verdicts.
    """
    judged = {f: [] for f in runs}
    for f in PAPERS:
        judged[f] += _judge_order(study, f, runs[f])
        if f == "f1":
            judged[f] += _judge_f1(study, functions[f], runs[f], phase)
        else:
            judged[f].append(_judge_linear(study, f, functions[f].n, runs[f]))
    return judged


def _judge_order(study: Study, f: str, found: dict[str, Trace]) -> list[Verdict]:
    """Judge whether GO-UCB is below the paper's baselines, TuRBO below the GP methods, and GO-UCB below scaled GP methods."""
    compared = {
        "C1": ("GO-UCB", PAPER[1:], agreement_text(found)),
        "C4": ("TuRBO-1", GPS, agreement_text(found)),
        "N3": ("GO-UCB", RIVALS, ""),
    }
    verdicts = []
    for id, (name, others, reason) in compared.items():
        if has_runs(found, [name, *others]):
            test = synthetic.below(found, name, others)
            verdicts.append(study.judge(f"goucb.{id}.{f}", test, reason=reason))
        else:
            verdicts.append(study.not_run(f"goucb.{id}.{f}", LEFT_OUT))
    return verdicts


def _judge_f1(
    study: Study, setting: Setting, found: dict[str, Trace], phase: FirstPhase
) -> list[Verdict]:
    """Judge whether the regret of GO-UCB and TuRBO on f1 is flat, its error bar, and whether the GP methods have linear regret."""
    bends = {name: synthetic.bend(found[name], setting.n) for name in GPS}
    soon = phase.last_rounds(setting.T - synthetic.SOON)
    return [
        study.judge("goucb.C2.soon", soon),
        study.judge("goucb.C2.goucb", phase.last_rounds(synthetic.FLAT)),
        study.judge("goucb.N10", phase.poor, reason=phase.stuck),
        study.judge("goucb.C2.turbo", synthetic.flat(found["TuRBO-1"], found["uniform"])),
        study.judge("goucb.C2.bar", synthetic.spread(found, "GO-UCB", PAPER[1:])),
        study.judge("goucb.C3", synthetic.factor(bends), reason=agreement_text(found)),
    ]


def _judge_linear(study: Study, f: str, n: int, found: dict[str, Trace]) -> Verdict:
    """Judge whether the regret of all five methods is linear in the number of rounds."""
    if not has_runs(found, PAPER):
        return study.not_run(f"goucb.C5.{f}", LEFT_OUT)
    bends = {name: synthetic.bend(found[name], n) for name in PAPER}
    reason = "; ".join(f"{name} {format_number(x.estimate)}" for name, x in bends.items())
    return study.judge(f"goucb.C5.{f}", synthetic.factor(bends), reason=reason)


def judge_gap(study: Study, runs: Runs) -> Verdict:
    """Judge whether the gap between GO-UCB and the other methods is smaller on f3 than on f2."""
    if not all(has_runs(runs[f], PAPER) for f in ("f2", "f3")):
        return study.not_run("goucb.C6", LEFT_OUT)
    saved = {f: synthetic.saved(runs[f], "GO-UCB", PAPER[1:]) for f in ("f2", "f3")}
    words = ", ".join(f"{f} {interval_text(stats.mean(x))}" for f, x in saved.items())
    apart = stats.paired_difference(saved["f2"], saved["f3"])
    return study.judge("goucb.C6", apart, reason=words)


def judge_twins(study: Study, runs: Runs, paired: Runs) -> list[Verdict]:
    """Judge for both starts of the ascent whether GO-UCB's mean regret differs little from its control's.

    Args:
        paired: function -> runs of GO-UCB, repeat-best and uniform play, with more trials than ``runs``.
    """
    verdicts = []
    for id, (name, control), found in zip(("N1", "N2"), TWINS.items(), (paired, runs)):
        apart = {
            f: synthetic.apart(found[f], name, control)
            for f in PAPERS
            if has_runs(found[f], [name, control])
        }
        words = ", ".join(f"{f} {interval_text(x)}" for f, x in apart.items())
        verdicts.append(study.judge(f"goucb.{id}", synthetic.farthest(apart), reason=words))
    return verdicts


# Figure 2 ---------------------------------------------------------------------------------------------------


def draw_figure_2(
    f: str,
    setting: Setting,
    found: dict[str, Trace],
    top: np.ndarray,
    fractions: dict[str, float],
    phase: FirstPhase,
    claims: list[Verdict],
) -> Drawing:
    """Draw cumulative and simple regret on one function: the paper's methods, and the same methods in other settings.

    Args:
        f: name of the function.
        setting: the function with its budget.
        found: learner -> trace.
        top: f* of the trials.
        fractions: see ``constant_fractions``.
        phase: outcomes of Phase I on f1.
        claims: verdicts on the claims on this function.
    """
    problem, n, T, _ = setting
    groups = ([*PAPER, *CONTROLS], [*SECOND, "TuRBO-1", *CONTROLS])
    rows = [[name for name in group if name in found] for group in groups]
    rows = rows[: 2 if len(rows[1]) > len(CONTROLS) + 1 else 1]
    fig, axes = panels(2, len(rows), height=2.5)
    numbers: dict[str, Any] = {}
    for row, names, word in zip(axes, rows, ("the paper's methods", "other settings")):
        shown = synthetic.with_simple({name: found[name] for name in names}, top)
        log = f in ("f2", "f3") and word == "other settings"
        numbers[word] = synthetic.twin_panels(row, shown, n, title=word, log=log)
    legend(fig, columns=5)
    numbers["least share of points with the largest value"] = fractions
    if f == "f1":
        counts = {"trials": phase.trials, "poor": phase.bad, "poor in the last round": phase.still}
        numbers["Phase I"] = {"share of draws": phase.poor, **counts}
    ends = synthetic.order({name: found[name].last().mean() for name in rows[0]})
    two = f"Top: the paper's five methods and two controls. Bottom: other settings of these methods{', with cumulative regret on a logarithmic axis' * (f in ('f2', 'f3'))}."
    poor = f"In {100 * phase.poor.estimate:.1f} % of {phase.poor.n} draws of Phase I no point has a regret of at most {phase.limit:g}; {phase.stuck}."
    sentences = (
        f"{WORDS[f]}, d = 20, n = {n} (dotted line), T = {T}.",
        f"Left: cumulative regret against evaluations. Right: simple regret of the incumbent against evaluations; values below the noise's standard deviation of {problem.noise:g} are ties.",
        two * (len(rows) == 2),
        f"Cumulative regret at the end, from the lowest to the highest: {ends}.",
        _tie_note(found, fractions),
        poor * (f == "f1"),
        synthetic.band_note(found),
        "(The paper has no such panel.)"
        if f == "teacher"
        else "(The paper shows 1.96 standard errors over 5 trials.)",
    )
    alt = f"{2 * len(rows)} panels of increasing and decreasing curves over {n + T} evaluations: cumulative regret on the left, simple regret of the incumbent on the right. Cumulative regret at the end, from the lowest to the highest: {ends}."
    trials = len(found["uniform"].trials)
    return Drawing(fig, " ".join(filter(None, sentences)), alt, trials, numbers, claims)


def _tie_note(found: dict[str, Trace], fractions: dict[str, float]) -> str:
    """Return a sentence for the caption on the agreement of the three GP methods; "" if not all of them were run."""
    if not has_runs(found, GPS):
        return ""
    count = _tied_points(fractions)
    cause = f", because each acquisition function attains its largest value at {count} of {synthetic.POINTS} uniform points, and the three methods share their candidates"
    return f"{agreement_text(found)}{cause * (2 * count > synthetic.POINTS)}."


# The paper's settings ---------------------------------------------------------------------------------------


def measure_inertness(
    runs: Runs, functions: dict[str, Setting]
) -> dict[tuple[str, str], dict[str, float]]:
    """Return by function and learner how far the fit, the parameters of the search, and the points move."""
    inert = {}
    for f, name in itertools.product(PAPERS, TWINS):
        if name in runs[f]:
            trace = runs[f][name]
            inert[f, name] = {
                "change": float(trace["change"].max()),
                "ratio": float(trace["ratio"].max()),
                "moved": float(trace["moved"][:, functions[f].n :].mean()),
            }
    return inert


def print_inertness(inert: dict[tuple[str, str], dict[str, float]]) -> None:
    """Print the result of ``measure_inertness`` as a table."""
    print(
        f"{'':28s}{'change by the fit':>20s}{'largest q / beta':>20s}{'a search moves x by':>22s}"
    )
    for (f, name), x in inert.items():
        print(
            f"{f} {name:25s}{format_number(x['change']):>20s}{format_number(x['ratio']):>20s}{format_number(x['moved']):>22s}"
        )


def draw_starts(
    started: Runs,
    runs: Runs,
    inert: dict[tuple[str, str], dict[str, float]],
    trials: int,
    claims: list[Verdict],
) -> Drawing:
    """Draw the regret of GO-UCB with the paper's settings for each start of the ascent.

    Args:
        started: function -> start -> trace.
        runs: runs of Figure 2; the figure shows their controls.
        inert: see ``measure_inertness``.
        trials: trials of each start.
        claims: verdicts on the claims that compare GO-UCB with its controls.
    """
    fig, axes = panels(3, height=2.4, sharey=True)
    numbers: dict[str, Any] = {"inertness": {f"{f}, {name}": x for (f, name), x in inert.items()}}
    interval = lambda trace: stats.mean(trace.last()[:trials])[:3]
    listed = lambda found: ", ".join(f"{x} {format_number(y[0])}" for x, y in found.items())
    words = {}
    for ax, f in zip(axes[0], started):
        found = {
            "start": {name: interval(trace) for name, trace in started[f].items()},
            "control": {name: interval(runs[f][name]) for name in CONTROLS},
        }
        words[f] = f"{listed(found['start'])}; controls: {listed(found['control'])}"
        look = {"title": SHORT[f], "xlabel": "cumulative regret", "limits": (0.0, math.inf)}
        shown = dots_panel(ax, found, STARTS, **look)
        numbers[f] = {"dots": shown["start"], "lines": shown["control"]}
    legend(fig, columns=2)
    caption = f"Cumulative regret (x-axis) of GO-UCB with the paper's settings, by the start of its ascent (rows). The last two starts are uniform points with all initial weights 1, which makes the network equal to $f_1$, or with weights uniform in [0, 1]. Diamonds: two controls, which repeat the best of the first n points (repeat-best) or evaluate uniform points (uniform). All values are means over the same {trials} trials. {'. '.join(f'{SHORT[f]}: {x}' for f, x in words.items())}. $f_3$ has its maximum at the center of the box. Bars: 95 % t-intervals over these trials."
    alt = f"Three panels of cumulative regret, with a dot for each start and a diamond for each control. {'. '.join(f'{f}: {x}' for f, x in words.items())}."
    return Drawing(fig, caption, alt, trials, numbers, claims)


# Other settings and methods ---------------------------------------------------------------------------------


def draw_kappa(swept: dict[tuple[str, str, float], Trace], runs: Runs, trials: int) -> Drawing:
    """Draw the regret of the practical setting against kappa, with and without its trust region.

    Args:
        swept: (function, learner, kappa) -> trace.
        runs: runs of Figure 2; the figure shows their controls.
        trials: trials of each kappa.
    """
    fig, axes = panels(2, height=2.8)
    numbers, words = {}, []
    samples: dict[str, dict[str, dict[float, np.ndarray]]] = {}
    for (f, name, kappa), trace in swept.items():
        samples.setdefault(f, {}).setdefault(name, {})[kappa] = trace.last()
    for ax, (f, found) in zip(axes[0], samples.items()):
        controls = {name: runs[f][name].last()[:trials] for name in CONTROLS}
        labels = {"title": SHORT[f], "xlabel": r"$\kappa$", "ylabel": "cumulative regret"}
        numbers[f] = sweep_panel(ax, found, controls, **labels)
        for name, sample in found.items():
            means = [x.mean() for x in sample.values()]
            words.append(
                f"{f}, {'with' if name == 'GO-UCB, practical' else 'without'} trust region {format_number(min(means))} to {format_number(max(means))}"
            )
    legend(fig, columns=4)
    ends = "Mean regret at the best and at the worst"
    caption = f"Cumulative regret of the practical setting against $\\kappa$ on a logarithmic axis (0 is at its left end), with and without its trust region. Horizontal lines with bands: controls. {ends} $\\kappa$: {'; '.join(words)}. Bars: 95 % t-intervals of the mean over {trials} trials."
    alt = f"Two panels of cumulative regret against kappa. {ends} kappa: {'; '.join(words)}."
    return Drawing(fig, caption, alt, trials, numbers)


def draw_field(today: Runs, functions: dict[str, Setting], trials: int, seed: int) -> Drawing:
    """Draw the simple regret of methods in current use against evaluations, one panel per function.

    Args:
        today: function -> learner -> trace.
        functions: functions with their budgets.
        trials, seed: of these runs.
    """
    columns = min(2, len(today))
    fig, axes = panels(columns, math.ceil(len(today) / columns), height=2.3)
    numbers, words = {}, []
    for ax, (f, found) in zip(axes.flat, today.items()):
        problem, n, T, _ = functions[f]
        top = synthetic.maxima(problem, n + T, trials, seed)
        shown = synthetic.with_simple(found, top)
        look = {"title": SHORT[f], "series": "simple", "ylabel": "simple regret"}
        numbers[f] = {"evaluations": synthetic.band_panel(ax, shown, n, **look)}
        ends = {name: float(x.last("simple").mean()) for name, x in shown.items()}
        words.append(f"{SHORT[f]}: {synthetic.describe_values(ends, problem.noise)}")
    legend(fig, columns=2 * columns)
    caption = f"Simple regret of GO-UCB practical and of methods in current use against evaluations. Simple regret at the end: {'. '.join(words)}. {synthetic.band_note(next(iter(today.values())))}"
    alt = f"One panel per function with decreasing curves of simple regret against evaluations. At the end: {'. '.join(words)}."
    return Drawing(fig, caption, alt, trials, numbers)


def slopes_in_dimension(along: dict[int, dict[str, Trace]]) -> dict[str, stats.Interval]:
    """Return the log-log slope of mean cumulative regret in d, by learner. ``along``: d -> learner -> trace."""
    return {
        name: synthetic.growth({d: found[name].last() for d, found in along.items()}, SLOPE)
        for name in settings.ALONG
    }


def draw_dimension(
    along: dict[int, dict[str, Trace]],
    slopes: dict[str, stats.Interval],
    rounds: int,
    trials: int,
    seed: int,
    claims: list[Verdict],
) -> Drawing:
    """Draw cumulative and simple regret against the dimension.

    Args:
        along: d -> learner -> trace.
        slopes: see ``slopes_in_dimension``.
        rounds: T.
        trials, seed: of these runs.
        claims: verdicts on the claims.
    """
    fig, axes = panels(2, height=2.7)
    active = min(along)
    cumulative = lambda trace, d: trace.last()

    def simple(trace: Trace, d: int) -> np.ndarray:
        """Return the simple regret at the end, R."""
        top = synthetic.maxima(Teacher(d, active=active), 10 + rounds, trials, seed)
        return synthetic.simple(trace, top)[:, -1]

    numbers: dict[str, Any] = {}
    for ax, word, of in zip(axes[0], ("cumulative", "simple"), (cumulative, simple)):
        samples = {
            name: {d: of(found[name], d) for d, found in along.items()} for name in settings.ALONG
        }
        ylabel = f"{word} regret"
        numbers[ylabel] = sweep_panel(ax, samples, {}, xlabel="dimension $d$", ylabel=ylabel)
    legend(fig, columns=3)
    words = "; ".join(f"{name} {interval_text(x)}" for name, x in slopes.items())
    caption = f"Cumulative regret (left) and simple regret (right) against the dimension $d$ on a logarithmic axis, on a teacher network that depends on {active} of the $d$ coordinates; n = 10, T = {rounds}. Log-log slope of mean cumulative regret in $d$: {words}. Bars: 95 % t-intervals of the mean over {trials} trials."
    alt = f"Two panels of regret against the dimension, cumulative on the left and simple on the right. Log-log slopes of cumulative regret: {words}."
    return Drawing(fig, caption, alt, trials, numbers | {"slopes": slopes}, claims)
