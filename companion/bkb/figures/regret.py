"""Tables, verdicts and figures of the notebook on the regret of BKB compared with exact GP-UCB."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.core.trace import Trace

from ...figures.charts import dots_panel
from ...figures.drawing import (
    Drawing,
    band_note,
    legend,
    line_style,
    panels,
    registered_styles,
    regret_panel,
    style_context,
)
from ...figures.text import interval_text
from ...study import Study
from ...verdicts import Verdict
from ..experiments.settings import (
    ARM_SETS,
    LATE,
    exponent,
    parity_ratios,
    regret_ratio,
    since,
)
from ..problems.real import TableArms

# Curves of the regret on both problems, from the back to the front.
CURVES = ["uniform", "BKB 1", "SoR", "DTC, fixed", "BKB 2", "RFF 200", "GP-UCB", "BKB"]
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # of the ratios of final regrets


def _plus_minus(regret: stats.Interval) -> str:
    """Return a mean regret and the half-width of its interval as text."""
    return f"{regret.estimate:6.1f} +- {regret.high - regret.estimate:5.1f}"


# ---- Regret compared with exact GP-UCB ---------------------------------------------------------------------


def draw_regret_parity(parity: Mapping[str, dict[str, Trace]]) -> Drawing:
    """Draw, for each problem, the mean regret and the final regrets relative to exact GP-UCB.

    Args:
        parity: "one dimension" and "two dimensions" -> learner -> trace.
    """
    fig, axes = panels(2, len(parity), height=2.75, width_ratios=[1.15, 1])
    numbers = {}
    for (left, right), (where, traces), letters in zip(axes, parity.items(), ("ab", "cd")):
        numbers[f"regret, {where}"] = _regrets(left, traces, f"({letters[0]}) {where}")
        numbers[f"ratio, {where}"] = _ratios(right, traces, f"({letters[1]}) {where}")
    legend(fig, columns=5)
    trials = {where: len(traces["GP-UCB"].trials) for where, traces in parity.items()}
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Left: mean cumulative regret on a log axis, {trials['one dimension']} trials in one dimension and {trials['two dimensions']} in two; bands: pointwise 95 % t-intervals of the mean. Right: final regret divided by the final regret of exact GP-UCB, as geometric mean with 95 % t-intervals over the same trials. Vermilion: one Bernoulli sample per pull; orange: one per arm. With oversampling of 5 or more, BKB has the regret of exact GP-UCB.",
        alt="Left: BKB's curve coincides with the curve of exact GP-UCB. BKB with qbar = 1 is far above them and below uniform play. Right: BKB's ratio decreases to one as qbar grows, with both ways of sampling. Random Fourier features and the subset of regressors on fixed arms are at or left of one; quadrature features are at one. The adaptive subset of regressors and BKB's variance on fixed arms are far to the right.",
    )


def _regrets(ax: Axes, traces: Mapping[str, Trace], title: str) -> dict[str, dict]:
    """Draw the mean regret of the learners in ``CURVES``, and return the mean regret of all learners."""
    shown = {name: traces[name] for name in CURVES}
    regret_panel(ax, shown, title=title, log_y=True, labels=False)
    _lighten(ax)
    next(line for line in ax.get_lines() if line.get_label() == "BKB").set_label("BKB, $\\bar q=5$")
    ax.set_ylim(bottom=0.1 * traces["GP-UCB"].last().mean())
    bands = {name: stats.band(trace["regret"]) for name, trace in traces.items()}
    return {name: {"rounds": traces[name].rounds, **band._asdict()} for name, band in bands.items()}


def _lighten(ax: Axes) -> None:
    """Make the bands of a panel more transparent, because many of them overlap."""
    for band in ax.collections:
        band.set_alpha(0.1)


def _ratios(ax: Axes, traces: dict[str, Trace], title: str) -> dict[str, dict]:
    """Draw the final regret of each learner relative to exact GP-UCB, and return the ratios."""
    ratios, known = parity_ratios(traces), registered_styles()
    # The rows already name the learners, therefore only the two ways of sampling are in the legend.
    looks = {name: known[name]._replace(label=f"_{name}", marker="o") for name in ratios}
    looks["BKB"] = looks["BKB"]._replace(label="BKB, one sample per pull")
    looks["BKB, arms"] = known["BKB, arms"]
    xlabel = "final regret / exact GP-UCB, geometric mean"
    numbers = dots_panel(ax, ratios, looks, line=1.0, log_x=True, title=title, xlabel=xlabel)
    low, high = ax.get_xlim()
    ax.set_xticks([tick for tick in TICKS if low <= tick <= high])
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    rows = [row.get_text() for row in ax.get_yticklabels()]
    labels = [row if row.startswith("BKB") else line_style(row)["label"] for row in rows]
    ax.set_yticks(range(len(rows)), labels)
    return numbers


def print_regrets(groups: Mapping[str, Mapping[str, Trace]]) -> None:
    """Print the mean final regret, the slope and the size of the final dictionary of every learner, by problem or data set."""
    for title, traces in groups.items():
        exact = traces["GP-UCB"]
        print(f"{title}, {exact.rounds[-1]} rounds of {len(exact.trials)} trials")
        for name, trace in traces.items():
            regret, slope = _plus_minus(stats.mean(trace.last())), interval_text(exponent(trace))
            print(f"    {name:16s} regret {regret}   slope {slope}{_dictionary(trace)}")


def _dictionary(trace: Trace) -> str:
    """Return the mean size of the final dictionary as text, with the number of empty ones; "" for a learner without a dictionary.

    If the run counted the pulled arms, their mean number follows the size.
    """
    if "report.dictionary" not in trace.final:
        return ""
    size, pulled = trace["report.dictionary"], trace.final.get("arms played")
    of = "" if pulled is None else f" of {pulled.mean():.1f} pulled arms"
    empty = int((size == 0).sum())
    return f"   dictionary {size.mean():5.1f}{of}, empty in {empty} of {len(size)} trials"


# ---- After a warm start ------------------------------------------------------------------------------------


def draw_warm_start(
    later: dict[str, Trace], lost: Mapping[str, np.ndarray], warm_rounds: int
) -> Drawing:
    """Draw the mean regret after the warm start, and the final regret of each trial with the stuck trials filled.

    Args:
        later: learner -> trace of the rounds after the warm start.
        lost: learner -> whether a trial is stuck, R bool.
        warm_rounds: number of rounds of the warm start.
    """
    fig, axes = panels(2, height=2.9)
    left, right = axes[0]
    title = "(a) regret after the warm start"
    numbers = {"regret": regret_panel(left, later, title=title, labels=False)}
    _lighten(left)
    numbers["final regrets"] = _each_trial(right, later, lost)
    legend(fig, columns=7)
    return Drawing(
        fig,
        trials=len(later["GP-UCB"].trials),
        numbers=numbers,
        caption=f"Regret after {warm_rounds} rounds of uniform play on the left half of the arms, with the confidence radius times 0.2. (a): mean cumulative regret. (b): final regret of each trial; filled dots are stuck trials, whose regret in the last {LATE} rounds is more than ten times the mean of exact GP-UCB. The subset of regressors and all numbers of Fourier features get stuck in some trials, the more the fewer features, and BKB in none. {band_note(later)}",
        alt="(a): the curves of exact GP-UCB and BKB coincide and are almost flat. The curves of the subset of regressors and of few Fourier features rise in straight lines with wide bands. (b): the dots of exact GP-UCB and BKB are close together and all hollow. The subset of regressors and few features have hollow dots at the same place and filled dots far to the right.",
    )


def _each_trial(
    ax: Axes, later: Mapping[str, Trace], lost: Mapping[str, np.ndarray]
) -> dict[str, dict]:
    """Draw one row of dots per learner with the final regret of each trial, and return the regrets and the stuck trials."""
    with style_context():
        for row, (name, trace) in enumerate(later.items()):
            color, regret = line_style(name)["color"], trace.last()
            height = row + np.linspace(-0.15, 0.15, len(regret))
            how = {"color": color, "markersize": 3, "markeredgewidth": 0.7}
            for chosen, fill in ((lost[name], color), (~lost[name], "none")):
                ax.plot(regret[chosen], height[chosen], "o", markerfacecolor=fill, **how)
        rounds = later["GP-UCB"].rounds[-1]
        ax.set(title="(b) each trial (filled: stuck)", xlabel=f"regret of {rounds} rounds")
        ax.set(xscale="log", ylim=(len(later) - 0.4, -0.6))
        ax.set_yticks(range(len(later)), [line_style(name)["label"] for name in later])
        ax.tick_params(axis="y", length=0)
    return {name: {"regret": x.last(), "stuck": lost[name]} for name, x in later.items()}


def print_radii(later: Mapping[str, Trace], wide: Mapping[str, Trace], warm_rounds: int) -> None:
    """Print the regret after the warm start with the radius times 0.2 (``later``) and times 1 (``wide``, with its warm start)."""
    for name, trace in wide.items():
        narrow = _plus_minus(stats.mean(later[name].last()))
        whole = _plus_minus(stats.mean(since(trace, warm_rounds).last()))
        print(
            f"{name:8s} regret after the warm start {narrow} with radius times 0.2, {whole} with radius times 1"
        )


# ---- Real data as arms -------------------------------------------------------------------------------------


def judge_real_arms(
    study: Study, real: Mapping[str, Mapping[str, Trace]], missing: Mapping[str, str]
) -> list[Verdict]:
    """Judge the claims on each data set; the claims on a data set that is not available are marked as not run.

    Args:
        real: data set -> learner -> trace.
        missing: data set -> reason why it was not run.
    """
    judged = []
    for name in ARM_SETS:
        claim = f"bkb.C10.{name.split('_')[0]}"
        if name in missing:
            judged += [
                study.not_run(f"{claim}.{part}", missing[name]) for part in ("parity", "sor")
            ]
        else:
            exact, traces = real[name]["GP-UCB"], real[name]
            sketch = next(traces[key] for key in ("BKB", "LazyBKB") if key in traces)
            judged.append(study.judge(f"{claim}.parity", regret_ratio(sketch, exact)))
            judged.append(study.judge(f"{claim}.sor", regret_ratio(traces["SoR"], exact)))
    return judged


def draw_real_arms(
    real: Mapping[str, dict[str, Trace]],
    problems: Mapping[str, TableArms],
    missing: Mapping[str, str],
) -> Drawing:
    """Draw the mean regret on each data set; ``missing``: data set -> reason why it was not run."""
    fig, axes = panels(2, -(-len(real) // 2), height=2.4)
    numbers, trials = {}, {name: len(traces["GP-UCB"].trials) for name, traces in real.items()}
    spaced = lambda names: ", ".join(name.replace("_", " ") for name in names)
    for ax, name, letter in zip(axes.flat, real, "abcd"):
        title = f"({letter}) {spaced([name])}, {trials[name]} trials"
        numbers[name] = regret_panel(ax, real[name], title=title, log_y=True, labels=False)
    legend(fig, columns=6)
    for ax in axes.flat[len(real) :]:
        ax.set_axis_off()
    sums = [f"{name} {x.data_checksum}" for name, x in problems.items() if x.data_checksum]
    return Drawing(
        fig,
        trials=trials,
        data_checksum=", ".join(sums) or None,
        numbers=numbers,
        caption=f"Real data as arms ({spaced(real)}{'; not run: ' + spaced(missing) if missing else ''}): mean cumulative regret on a log axis. BKB or LazyBKB stays close to exact GP-UCB, and the subset of regressors has far more regret. Bands: pointwise 95 % t-intervals of the mean over the number of trials in the titles.",
        alt="One panel per data set. On diabetes and digits, BKB's curve follows the curve of exact GP-UCB, and the curve of the adaptive subset of regressors ends far above both. On the other data sets, if they are shown, LazyBKB's curve follows exact GP-UCB in the same way.",
    )
