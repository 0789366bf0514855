"""Figures, printed lines and verdicts of ``notebooks/goucb_3_tuning.ipynb``: tuning of three classifiers on three data sets."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ...figures.charts import dots_panel
from ...figures.drawing import Drawing, legend, line_style, panels, registered_styles
from ...figures.text import interval_text
from ...study import Study
from ...verdicts import Verdict
from ..claims import CLASSIFIERS
from ..claims import DATA as NAMES
from ..experiments import settings, synthetic, tuning
from ..experiments.settings import CONTROLS, PAPER
from ..experiments.tuning import Found
from ..problems.tuning import Tuning

GPS = PAPER[1:4]
OURS, RIVAL = "GO-UCB, practical", "GP-EI, modern"
BANDS = ("GO-UCB", "TuRBO-1")  # methods with a band; more bands would cover each other
LEFT_OUT = "this profile leaves out methods or data"
NOTHING = 1e-9  # simple regrets that differ by less than this are equal
FIRST, LAST = (24, 33), 9  # windows of the curvature: these rounds, and the last LAST + 1 rounds


class Sizes(NamedTuple):
    """Sizes of the runs."""

    n: int  # points of Phase I
    rounds: int  # T, rounds of Phase II
    folds: int  # folds of the cross-validation
    designs: int  # sets of points of Phase I for each fold
    field_designs: int  # the same for methods in current use

    @property
    def total(self) -> int:
        """Evaluations of both phases."""
        return self.n + self.rounds


def last_simple(trace: Trace) -> np.ndarray:
    """Return the simple regret at the end, R."""
    return trace["simple"][:, -1]


# Printed lines ----------------------------------------------------------------------------------------------


def print_choice(notes: dict[str, str], names: list[str]) -> None:
    """Print which tasks are run on other data than in the paper, and which methods are left out.

    Args:
        notes: notes on tasks, see ``experiments.tuning.choose``.
        names: methods in current use.
    """
    for task, note in notes.items():
        print(f"{task} is run {note}")
    for name in settings.lacking(names):
        print(
            f"{name} is left out: its package is not installed (it is part of the extra 'optimizers')"
        )


def remark(task: str, notes: dict[str, str]) -> str:
    """Return the note on a task that is run on other data than in the paper, in parentheses; otherwise ""."""
    return f" ({notes[task]})" if task in notes else ""


def print_first_phase(found: dict[str, Found], remarks: dict[str, str], sizes: Sizes) -> None:
    """Print the best accuracy of Phase I by fold, and whether it is the same for all methods."""
    for task, traces in found.items():
        start = [trace["best"][: sizes.folds, sizes.n - 1] for trace in traces.values()]
        equal = all((x == start[0]).all() for x in start)
        best = ", ".join(format_number(float(x)) for x in start[0])
        print(f"{task}{remarks[task]}: {sizes.total} evaluations, {len(traces)} methods")
        print(f"    best accuracy of Phase I by fold {best}, the same for all methods: {equal}")


def print_regret(
    runs: dict[str, Found], found: dict[str, Found], remarks: dict[str, str], folds: int
) -> None:
    """Print the best accuracy by fold, and for each method the cumulative and the simple regret at the end.

    Args:
        runs: task -> learner -> recorded trace.
        found: the same traces with regrets.
        remarks: see ``remark``.
        folds: folds of the cross-validation.
    """
    for task, traces in found.items():
        top = tuning.ceiling(runs[task], folds)[:folds]
        best = ", ".join(format_number(float(x)) for x in top)
        print(f"{task}{remarks[task]}: best accuracy by fold {best}")
        for name, trace in traces.items():
            cells = [tuning.clustered({task: of(trace)}, folds) for of in (Trace.last, last_simple)]
            print(f"  {name:20s}{interval_text(cells[0]):>28s}{interval_text(cells[1]):>30s}")


def print_failures(problems: dict[str, Tuning]) -> None:
    """Print the fits that raised an error and count as accuracy 0."""
    for task, problem in problems.items():
        for failure in tuning.failures(problem):
            print(f"{task}, a fit that failed and counts as accuracy 0: {failure}")


# Verdicts ---------------------------------------------------------------------------------------------------


def judge_paper_claims(
    study: Study, found: dict[str, Found], notes: dict[str, str], sizes: Sizes, decides: bool
) -> list[tuple[str, Verdict]]:
    """Judge each claim of the paper about one task.

    Args:
        study: the notebook's study.
        found: task -> learner -> trace with regrets.
        notes: notes on tasks, see ``experiments.tuning.choose``.
        sizes: sizes of the runs.
        decides: whether the runs have the paper's methods and data; otherwise the claims are recorded as not run.

    Returns:
        Pairs of a task and the verdict on a claim about it.
    """
    judged = []
    for id, task, statistic in _paper_claims(sizes):
        if decides and task in found:
            verdict = study.judge(f"goucb.{id}", statistic(found[task]))
        else:
            verdict = study.not_run(f"goucb.{id}", notes.get(task, LEFT_OUT))
        judged.append((task, verdict))
    return judged


def _paper_claims(sizes: Sizes) -> list[tuple[str, str, Callable[[Found], Any]]]:
    """Return id, task and statistic of each claim of the paper about one task."""
    folds, total = sizes.folds, sizes.total
    less = lambda found: tuning.greatest({"": found}, "GO-UCB", PAPER[1:], folds)
    similar = lambda found: tuning.similar(found, PAPER, folds)
    bend = lambda found, *window: tuning.bend(found, "TuRBO-1", GPS, folds, *window)
    curve = lambda found: tuning.regret_curvature(
        found, "TuRBO-1", folds, FIRST, (total - LAST, total)
    )
    return [
        ("C7.perceptron", "breast.perceptron", less),
        ("C7.boosting", "breast.boosting", less),
        ("C8", "breast.forest", similar),
        ("C10.before", "breast.perceptron", lambda found: bend(found, 1, 23, True)),
        ("C10.after", "breast.perceptron", lambda found: bend(found, 24, total, False)),
        ("C10.curve", "breast.perceptron", curve),
        *[
            (f"C11.{name}.{kind}", f"{name}.{kind}", less)
            for name in ("australian", "diabetes")
            for kind in CLASSIFIERS
        ],
    ]


def judge_our_claims(
    study: Study, found: dict[str, Found], folds: int, decides: bool
) -> list[Verdict]:
    """Judge our claims over all tasks together.

    Args:
        study: the notebook's study.
        found: task -> learner -> trace with regrets, the same trials for all learners.
        folds: folds of the cross-validation.
        decides: whether all nine tasks were run with the paper's methods and data.
    """
    search = [x for x in next(iter(found.values()), {}) if x not in (*CONTROLS, "GO-UCB")]
    compared = {
        "N4": (OURS, [RIVAL], Trace.last),
        "N5": (OURS, [RIVAL], last_simple),
        "N6": ("repeat-best", search, Trace.last),
    }
    return [
        study.judge(f"goucb.{id}", tuning.greatest(found, name, others, folds, of))
        if decides
        else study.not_run(f"goucb.{id}", "not all nine tasks were run")
        for id, (name, others, of) in compared.items()
    ]


def _decided(verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts that a figure shows: those on claims that were tested."""
    return [verdict for verdict in verdicts if verdict.verdict != "not run"]


# Figures ----------------------------------------------------------------------------------------------------


def draw_data_set(
    name: str,
    found: dict[str, Found],
    curves: list[str],
    sizes: Sizes,
    remarks: dict[str, str],
    judged: list[tuple[str, Verdict]],
    problems: dict[str, Tuning],
) -> Drawing:
    """Draw cumulative and simple regret on one data set, one row per classifier.

    Args:
        name: data set, a key of ``claims.DATA``.
        found: task -> learner -> trace with regrets; only tasks of this data set.
        curves: learners that are drawn, in addition to the controls.
        sizes: sizes of the runs.
        remarks: see ``remark``.
        judged: see ``judge_paper_claims``.
        problems: problem of each task.
    """
    fig, axes = panels(2, len(found), height=2.3)
    numbers, words = {}, []
    for row, (task, traces) in zip(axes, found.items()):
        shown = {x: traces[x] for x in [*curves, *CONTROLS]}
        letter, kind = CLASSIFIERS[task.partition(".")[2]]
        how = {"title": f"({letter}) {kind}", "folds": sizes.folds, "bands": BANDS}
        drawn = synthetic.twin_panels(row, shown, sizes.n, **how)
        numbers[task] = {"regret": drawn["cumulative"], "simple": drawn["simple"]}
        least = sorted(shown, key=lambda x: shown[x].last().mean())
        words.append(f"{kind}: {'; '.join(least)}")  # the names contain commas
    legend(fig, columns=4)
    first = next(iter(found))
    ends = f"Cumulative regret at the end, from the lowest to the highest. {'. '.join(words)}."
    caption = f"{NAMES[name]}{remarks[first]}: regret in accuracy on the held-out fold, relative to the best accuracy that any method found in the fold. Left: cumulative regret against evaluations. Right: simple regret of the incumbent. n = {sizes.n} (dotted line), T = {sizes.rounds}. {ends} Curves are means over {sizes.folds} folds in {sizes.designs} design{'s' * (sizes.designs > 1)} each. Bands, for GO-UCB and TuRBO-1 only: pointwise 95 % bootstrap intervals that resample folds. With few folds they are too narrow; therefore the claims use t-intervals over folds."
    alt = f"One row per classifier: curves of cumulative regret and of simple regret over {sizes.total} evaluations. {ends}"
    claims = _decided([verdict for x in found for task, verdict in judged if task == x])
    trials, checksum = sizes.folds * sizes.designs, problems[first].data_checksum
    return Drawing(fig, caption, alt, trials, numbers, claims, data_checksum=checksum)


def _methods_in(found: dict[str, Found]) -> list[str]:
    """Return the learners, which are the same in each task."""
    return list(next(iter(found.values())))


def draw_final_table(
    found: dict[str, Found], sizes: Sizes, said: str, together: list[Verdict]
) -> Drawing:
    """Draw the simple regret at the end as a table, one row per method and one column per task.

    Args:
        found: task -> learner -> trace with regrets, for methods in current use.
        sizes: sizes of the runs.
        said: remark on the data for the caption, in parentheses, or "".
        together: verdicts on the claims over all tasks together.
    """
    width, height = 1.6 + 0.62 * len(found), 0.6 + 0.28 * len(_methods_in(found))
    fig, axes = panels(1, width=width, height=height)
    heads = {}
    for task in found:
        name, _, kind = task.partition(".")
        heads[task] = f"{NAMES[name]}\n{kind}".replace("-", "-\n", 1)
    numbers = tuning.final_table(axes[0, 0], found, sizes.folds, heads)
    least = {}
    for task, traces in found.items():
        end = {name: last_simple(trace).mean() for name, trace in traces.items()}
        least[task] = [name for name in end if end[name] < min(end.values()) + NOTHING]
    named = {task: head.replace("-\n", "-").replace("\n", ", ") for task, head in heads.items()}
    words = "; ".join(f"{named[task]}: {' = '.join(names)}" for task, names in least.items())
    caption = f"Simple regret after {sizes.total} evaluations of methods in current use{said}, in percentage points of accuracy: means over {sizes.folds} folds in {sizes.field_designs} design{'s' * (sizes.field_designs > 1)} each, with half the width of the 95 % t-interval over folds. Bold: the lowest value of a task. Lowest by task: {words}."
    alt = f"A table of simple regret with a row per method and a column per task. Lowest by task: {words}."
    trials = sizes.folds * sizes.field_designs
    return Drawing(fig, caption, alt, trials, numbers, _decided(together))


def draw_ranks(found: dict[str, Found], sizes: Sizes, said: str) -> Drawing:
    """Draw the average rank of each method by cumulative and by simple regret; see ``draw_final_table``."""
    fig, axes = panels(2, height=2.6)
    numbers, words = {}, {}
    for ax, word, of in zip(axes[0], ("cumulative", "simple"), (Trace.last, last_simple)):
        ranks = tuning.ranks(found, _methods_in(found), of)
        ordered = numbers[word] = dict(sorted(ranks.items(), key=lambda entry: entry[1]))
        dots = {x: {line_style(x)["label"]: (rank,) * 3} for x, rank in ordered.items()}
        look = {"title": f"by {word} regret", "xlabel": "average rank"}
        dots_panel(ax, dots, registered_styles(), **look)
        words[word] = "; ".join(f"{x} {format_number(rank)}" for x, rank in ordered.items())
    ends = f"Cumulative: {words['cumulative']}. Simple: {words['simple']}."
    caption = f"Average rank of each method by cumulative regret (left) and by simple regret (right), over {len(found)} tasks, {sizes.folds} folds and {sizes.field_designs} design{'s' * (sizes.field_designs > 1)}{said}. Rank 1 is the lowest regret. {ends}"
    alt = f"Two panels with a dot at the average rank of each method. {ends}"
    return Drawing(fig, caption, alt, sizes.folds * sizes.field_designs, numbers)
