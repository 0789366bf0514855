"""Compare samplers of Optuna with those of ``paperlib.samplers``: ``python -m companion.bench.samplers``.

Writes figures/bench/samplers.{png,pdf,json}, which docs/guides/samplers.md shows. Finished studies are kept, so that an
interrupted call continues. The studies take some hours on two cores. The seconds per suggestion are measured at the end, in a few
minutes, when no other process of this project computes.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import optuna
import torch
from matplotlib.axes import Axes
from scipy.stats import quantile_test

from ..figures.drawing import legend, line_styles, panels, save, style_context
from ..store.progress import progress_line
from ..store.results import cached_call
from ..store.timing import exclusive_lock
from ..styles import Style
from .measure import device_name
from .tuning import PROBLEMS, SAMPLERS, play_study, time_suggestions

SEEDS, TRIALS = 20, 120
SHOWN = (30, 60, 120)  # numbers of trials of the table
FINISHED = (30, 100, 300)  # numbers of finished trials at which a suggestion is timed
LOWEST = 1e-4  # of the axis of regret
STYLES = {
    "RandomSampler": Style("gray", "x", linestyle=":"),
    "TPESampler": Style("sky", "s"),
    "CmaEsSampler": Style("green", "^"),
    "GPSampler": Style("blue", "D"),
    "TuRBOSampler": Style("purple", ">", emphasis=True),
    "GOUCBSampler": Style("vermilion", "o", emphasis=True),
    "BKBSampler": Style("orange", "P", emphasis=True),
}
CAPTION = (
    "Simple regret of samplers of Optuna: the best value so far minus the lowest possible value, against the number of trials. Lines: "
    "medians over {seeds} seeds. Bands: exact 95 % intervals of the median, pointwise. All samplers have their default settings. "
    "BKBSampler plays the two finite problems only. Values below {lowest:g} are drawn at {lowest:g}. In the problem with failures "
    "{failing:.0f} % of uniform points fail."
)
ALT = "Six panels with decreasing curves of simple regret over {trials} trials, one line per sampler. Lowest median at the end: {best}."


def plays(sampler: str, problem: str) -> bool:
    """Return whether a sampler accepts a problem."""
    return SAMPLERS[sampler].__name__ != "BKBSampler" or PROBLEMS[problem].finite


def begin() -> None:
    """Prepare a process: one thread, and no messages of Optuna."""
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")


def regrets_of(study: tuple[str, str, int]) -> np.ndarray:
    """Return the value of each trial minus the lowest value; a study is given by problem, sampler and seed, and NaN is a failure."""
    problem, sampler, seed = study
    inputs = {"problem": problem, "sampler": sampler, "seed": seed, "trials": TRIALS}
    values = cached_call(f"{problem}: {sampler}", play_study, **inputs)["values"]
    return values - PROBLEMS[problem].lowest()


def simple(regrets: np.ndarray) -> np.ndarray:
    """Return the simple regret after each trial, the least so far."""
    return np.minimum.accumulate(np.where(np.isnan(regrets), np.inf, regrets), axis=1)


def all_regrets(seeds: int, jobs: int) -> dict[str, dict[str, np.ndarray]]:
    """Return problem -> sampler -> regret of each trial, seeds x trials."""
    # One seed after the other, so that an interrupted call has complete seeds.
    studies = [
        (problem, sampler, seed)
        for seed in range(seeds)
        for problem in PROBLEMS
        for sampler in SAMPLERS
        if plays(sampler, problem)
    ]
    found = {problem: {} for problem in PROBLEMS}
    with (
        progress_line("studies", len(studies), still=True) as shown,
        ProcessPoolExecutor(jobs, get_context("spawn"), begin) as pool,
    ):
        for (problem, sampler, seed), regret in zip(studies, pool.map(regrets_of, studies)):
            shown.begin(f"{problem}, {sampler}, seed {seed}")
            found[problem].setdefault(SAMPLERS[sampler].__name__, []).append(regret)
            shown.end()
    return {
        problem: {sampler: np.array(rows) for sampler, rows in each.items()}
        for problem, each in found.items()
    }


def median(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return the median over the first axis with its exact 95 % interval."""
    intervals = [quantile_test(column).confidence_interval(0.95) for column in x.T]
    low, high = np.array(intervals).T
    return {"median": np.median(x, axis=0), "low": low, "high": high}


def regret_panel(ax: Axes, regrets: dict[str, np.ndarray], title: str) -> dict[str, dict]:
    """Draw the medians and intervals of one problem, and return them."""
    numbers, styles = {}, line_styles(regrets, STYLES)
    with style_context():
        for name, regret in regrets.items():
            numbers[name] = curve = median(simple(regret))
            rounds = np.arange(1, regret.shape[1] + 1)
            low, middle, high = (
                np.maximum(curve[key], LOWEST) for key in ("low", "median", "high")
            )
            ax.plot(rounds, middle, markevery=20, **styles[name])
            shade = {"color": styles[name]["color"], "alpha": 0.15, "linewidth": 0}
            ax.fill_between(rounds, low, high, **shade)
        ax.set(title=title, yscale="log", xlabel="trials", ylabel="simple regret")
        least = min(curve["median"].min() for curve in numbers.values())
        ax.set_ylim(bottom=max(LOWEST, 0.7 * least))
        ax.margins(x=0)
    return numbers


def lowest(curves: dict[str, dict]) -> list[str]:
    """Return the samplers with the lowest median after the last trial; several if they are equal."""
    least = min(curve["median"][-1] for curve in curves.values())
    return [name for name, curve in curves.items() if curve["median"][-1] == least]


def draw(regrets: dict[str, dict[str, np.ndarray]], seconds: list[dict], where: str) -> None:
    """Save the figure with the numbers of all tables."""
    fig, axes = panels(3, 2, height=2.4)
    curves = {
        problem: regret_panel(ax, regrets[problem], PROBLEMS[problem].title)
        for ax, problem in zip(axes.flat, PROBLEMS)
    }
    legend(fig, columns=4)
    best = "; ".join(
        f"{PROBLEMS[problem].title}: {' and '.join(lowest(found))}"
        for problem, found in curves.items()
    )
    uniform = regrets["mixed"]["RandomSampler"]
    save(
        fig,
        "samplers",
        paper="bench",
        profile="paper",
        parameters={"trials": TRIALS, "optuna": optuna.__version__, "machine": where},
        seed=0,
        trials=len(uniform),
        caption=CAPTION.format(
            seeds=len(uniform), lowest=LOWEST, failing=100 * np.isnan(uniform).mean()
        ),
        alt=ALT.format(trials=TRIALS, best=best),
        numbers={
            "simple": table(regrets, lambda x, n: simple(x)[:, n - 1]),
            "mean": table(regrets, lambda x, n: np.nanmean(x[:, :n], axis=1)),
            "failed": {name: np.isnan(x).mean() for name, x in regrets["mixed"].items()},
            "seconds": seconds,
        },
    )


def table(
    regrets: dict[str, dict[str, np.ndarray]], statistic: Callable[[np.ndarray, int], np.ndarray]
) -> list[dict[str, Any]]:
    """Return the medians over seeds of a statistic after n trials, with their intervals, one row per problem, sampler and n."""
    rows = []
    for problem, found in regrets.items():
        for sampler, regret in found.items():
            for n in SHOWN:
                about = {"title": PROBLEMS[problem].title, "sampler": sampler, "trials": n}
                numbers = median(statistic(regret, n)[:, None])
                rows.append(about | {name: float(x[0]) for name, x in numbers.items()})
    return rows


def all_seconds() -> list[dict]:
    """Return the rows of the table of run times."""
    rows = []
    for sampler in SAMPLERS:
        problem = "ackley" if plays(sampler, "ackley") else "boosting"
        inputs = {"sampler": sampler, "problem": problem, "finished": FINISHED}
        with exclusive_lock():
            found = cached_call(f"seconds of {sampler}", time_suggestions, **inputs)
        about = {"sampler": SAMPLERS[sampler].__name__, "problem": problem}
        rows += [
            about | {"finished": n, "running": float(a), "resumed": float(b)}
            for n, a, b in zip(FINISHED, found["running"], found["resumed"])
        ]
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Play the studies that are missing, measure the run times, and save the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="studies at a time")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="studies per problem and sampler")
    options = parser.parse_args(arguments)
    begin()
    regrets = all_regrets(options.seeds, options.jobs)
    draw(regrets, all_seconds(), device_name("cpu"))


if __name__ == "__main__":
    sys.exit(main())
