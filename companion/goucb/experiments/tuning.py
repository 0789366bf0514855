"""Figures 3 to 5: regret of tuning runs relative to the best accuracy that any method found, and intervals over folds.

Trial i of a run is fold i % folds and design i // folds. Designs of one fold share its data. Therefore only folds count as independent.
Shapes: R trials, T' recorded rounds.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import rankdata, t

from paperlib import stats
from paperlib.core.trace import Trace
from paperlib.core.validation import check_in

from ...figures.drawing import line_style, style_context
from ..problems.tuning import BUNDLED, Tuning
from . import synthetic

Found = dict[
    str, Trace
]  # learner -> trace with series "regret", which is cumulative accuracy, and "best", accuracy so far


def ceiling(found: Found, folds: int) -> np.ndarray:
    """Return the best accuracy of each fold, over all learners and designs.

    Raises:
        ValueError: trial 0 of a run does not have fold 0.
    """
    best = np.zeros(folds)
    for name, trace in found.items():
        seed = trace.about.get("seed", 0)
        if seed % folds:
            raise ValueError(f"seed of {name} must be a multiple of folds={folds}, got {seed}")
        np.maximum.at(best, np.arange(len(trace.trials)) % folds, trace.last("best"))
    return best


def regrets(found: Found, folds: int) -> Found:
    """Return traces with "regret" relative to the fold's best accuracy, and with a series "simple"."""
    best = ceiling(found, folds)
    lost = {}
    for name, trace in found.items():
        top = best[np.arange(len(trace.trials)) % folds, None]
        # The recorded series "regret" is the sum of accuracies, because the best accuracy is
        # unknown during a run.
        regret = {"regret": top * trace.rounds - trace["regret"], "simple": top - trace["best"]}
        lost[name] = dataclasses.replace(trace, series={**trace.series, **regret})
    return lost


def clustered(samples: dict[str, np.ndarray], folds: int, of: str = "mean") -> stats.Interval:
    """Return the mean over tasks of the mean over trials, with a 95 % t-interval over the folds of each data set.

    Only folds of a data set count as independent, because designs and classifiers on a fold share its rows. Data sets differ in variance.
    With several data sets, the degrees of freedom are therefore Satterthwaite's. (A percentile bootstrap over five folds covers 84 %.)

    Args:
        samples: task -> R; in a task "data.classifier" the part before the point names the data set.
        folds: >= 2, of each data set.
        of: description of the quantity.
    """
    by_data: dict[str, list[np.ndarray]] = {}
    for task, x in samples.items():
        means = np.array([x[k::folds].mean() for k in range(folds)])
        by_data.setdefault(task.partition(".")[0], []).append(means)
    share = np.array([len(x) for x in by_data.values()]) / len(samples)
    units = np.array([np.mean(x, 0) for x in by_data.values()])  # data sets x folds
    center = float(share @ units.mean(1))
    parts = share**2 * units.var(1, ddof=1) / folds
    half = 0.0
    if parts.any():
        freedom = parts.sum() ** 2 / (parts**2 / (folds - 1)).sum()
        half = float(t.ppf(0.975, freedom) * np.sqrt(parts.sum()))
    tasks = "" if len(samples) == 1 else f" of {len(samples)} tasks"
    method = f"{of}, 95 % t-interval over {folds} folds of each data set{tasks}"
    # n counts what is independent: the folds.
    return stats.Interval(center, center - half, center + half, folds * len(by_data), method)


def greatest(
    tasks: dict[str, Found],
    name: str,
    others: Sequence[str],
    folds: int,
    of: Callable[[Trace], np.ndarray] = Trace.last,
) -> stats.Interval:
    """Return the largest of the differences between ``name`` and each of the others in one quantity, over all tasks together.

    ``name`` has less regret than all others exactly if the value is below 0, and more than at least one if it is above 0.
    """
    apart = lambda other: {task: of(runs[name]) - of(runs[other]) for task, runs in tasks.items()}
    found = {other: clustered(apart(other), folds, "mean difference") for other in others}
    return stats.largest(found)


def similar(found: Found, names: Sequence[str], folds: int) -> stats.Interval:
    """Return the largest absolute difference of regret over all pairs, as a fraction of a uniform point's regret."""
    scale = found[synthetic.UNIFORM].last().mean()
    apart = lambda a, b: {"": (found[a].last() - found[b].last()) / scale}
    pairs = {
        f"{a} - {b}": clustered(apart(a, b), folds, "fraction of a uniform point's")
        for a, b in itertools.combinations(names, 2)
    }
    return synthetic.farthest(pairs)


def bend(
    found: Found, name: str, others: Sequence[str], folds: int, first: int, last: int, share: bool
) -> stats.Interval:
    """Return the regret of rounds ``first``..``last`` minus the mean of the others'; with ``share`` as a fraction of a uniform point's."""
    window = lambda trace: synthetic.between(trace, first, last)
    x = window(found[name]) - np.mean([window(found[other]) for other in others], 0)
    if share:
        x = x / window(found[synthetic.UNIFORM]).mean()
    return clustered({"": x}, folds, "mean difference")


def regret_curvature(
    found: Found, name: str, folds: int, first: tuple[int, int], last: tuple[int, int]
) -> stats.Interval:
    """Return the regret of rounds ``last[0]``..``last[1]`` minus the regret of rounds ``first[0]``..``first[1]``. It is below 0 if the regret curve flattens."""
    x = synthetic.between(found[name], *last) - synthetic.between(found[name], *first)
    return clustered({"": x}, folds, "mean difference")


def ranks(
    tasks: dict[str, Found], names: Sequence[str], of: Callable[[Trace], np.ndarray]
) -> dict[str, float]:
    """Return the mean rank of each name over tasks and trials, with 1 for the smallest value. Equal values share their rank."""
    values = [[of(traces[name]) for name in names] for traces in tasks.values()]
    mean = rankdata(np.concatenate(values, 1), axis=0).mean(1)
    return dict(zip(names, map(float, mean)))


def final_table(
    ax: Axes, tasks: dict[str, Found], folds: int, heads: dict[str, str]
) -> dict[str, dict[str, stats.Interval]]:
    """Draw the final simple regret as a table, one row per method and one column per task, in percent of accuracy.

    The smallest value of each task is bold.

    Args:
        ax: axes, which will show only the table.
        tasks: task -> learner -> trace with the series "simple", the same learners in each task.
        folds: of each data set.
        heads: task -> head of its column.

    Returns:
        The numbers, as fractions: task -> learner -> interval.
    """
    numbers = {
        task: {name: clustered({"": x.last("simple")}, folds) for name, x in found.items()}
        for task, found in tasks.items()
    }
    names = list(next(iter(tasks.values())))
    with style_context():
        ax.set_axis_off()
        ax.set(xlim=(-2.6, len(tasks) - 0.5), ylim=(len(names) - 0.5, -2.2))
        for row, name in enumerate(names):
            ax.text(-2.6, row, line_style(name)["label"], va="center", fontsize=7)
        for column, (task, found) in enumerate(numbers.items()):
            ax.text(column, -1.3, heads[task], ha="center", va="center", fontsize=6.5)
            cells = {name: f"{100 * x.estimate:.2f}" for name, x in found.items()}
            least = min(cells.values(), key=float)
            for row, name in enumerate(names):
                half = 100 * (found[name].high - found[name].estimate)
                how = {"fontsize": 6, "fontweight": "bold" if cells[name] == least else "normal"}
                text = f"{cells[name]}\n\N{PLUS-MINUS SIGN} {half:.2f}"
                ax.text(column, row, text, ha="center", va="center", **how)
        ax.axhline(-0.5, color="0.6", linewidth=0.6)
    return numbers


DATA = {"breast": "breast_cancer", "australian": "australian", "diabetes": "pima"}


def choose(
    tasks: Sequence[str], data: str, folds: int = 5, split: int = 0
) -> tuple[dict[str, Tuning], dict[str, str]]:
    """Return the problem of each task, and a note for each task that uses other data than the paper.

    Args:
        tasks: data set and classifier of each, for example "breast.forest".
        data: "bundled": the table that scikit-learn ships replaces every other; "real": the tables of the paper.
        folds, split: see ``Tuning``.

    Raises:
        ValueError: another value of ``data`` or of a task.
    """
    check_in("data", data, ("bundled", "real"))
    problems, notes = {}, {}
    for task in tasks:
        name, _, classifier = task.partition(".")
        table = DATA[check_in("data set of a task", name, DATA)]
        if data == "bundled":
            notes[task] = f"on {BUNDLED}, which scikit-learn ships, not on {table}"
            table = BUNDLED
        problems[task] = Tuning(table, classifier, folds, split=split)
    return problems, notes


def failures(problem: Tuning) -> list[str]:
    """Return the stored fits that raised an error and count as accuracy 0: fold, hyperparameters and error of each."""
    files = problem.files()
    for file in files:
        file.load()
    return [
        f"fold {fold}, {entry.parameters}: {entry.error}"
        for fold, file in enumerate(files)
        for entry in file.entries()
        if entry.error is not None
    ]
