"""Compare samplers of Optuna, those of ``paperlib.samplers`` among them: ``python -m companion.bench.samplers``.

Writes bench/samplers.json and figures/bench/samplers.{png,pdf,json}, which docs/guides/samplers.md shows. Finished studies are
kept, so that an interrupted call continues. The studies take about two hours on two cores, and the seconds per suggestion about
ten minutes on a machine without other work.
"""

import argparse
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import optuna
import torch

from .tuning import PROBLEMS, SAMPLERS, stored_study

SEEDS = 20
TRIALS = 120


def plays(sampler: str, problem: str) -> bool:
    return sampler != "BKB" or PROBLEMS[problem].finite


def begin() -> None:
    """Prepare a process: one thread, and no messages of Optuna."""
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")


def study_of(inputs: tuple[str, str, int]) -> np.ndarray:
    return stored_study(*inputs, trials=TRIALS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    # One seed after the other, so that an interrupted call has complete seeds.
    inputs = [
        (problem, sampler, seed)
        for seed in range(SEEDS)
        for problem in PROBLEMS
        for sampler in SAMPLERS
        if plays(sampler, problem)
    ]
    context = get_context("spawn")
    with ProcessPoolExecutor(options.jobs, context, begin) as pool:
        for i, each in enumerate(pool.map(study_of, inputs)):
            print(i, len(inputs), inputs[i], each[[29, 59, 119]], flush=True)


if __name__ == "__main__":
    sys.exit(main())
