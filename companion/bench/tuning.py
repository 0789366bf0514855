"""Problems and studies of the benchmark of Optuna's samplers; see ``companion.bench.samplers``.

This file is separate from the report, because the stored studies are computed again when it changes.
"""

import math
import time
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import optuna
import torch
from botorch.test_functions import Ackley, Branin, Hartmann, SyntheticTestFunction

from paperlib.samplers import BKBSampler, GOUCBSampler, TuRBOSampler

from ..store.results import cached_call

SAMPLERS = {
    "random": optuna.samplers.RandomSampler,
    "TPE": optuna.samplers.TPESampler,
    "CMA-ES": optuna.samplers.CmaEsSampler,
    "GPSampler": optuna.samplers.GPSampler,
    "TuRBO": TuRBOSampler,
    "GO-UCB": GOUCBSampler,
    "BKB": BKBSampler,
}


class Failed(Exception):
    """An evaluation that failed."""


class Problem(NamedTuple):
    """A function to minimize, with its lowest value."""

    title: str
    objective: Callable[[optuna.Trial], float]
    lowest: Callable[[], float]
    finite: bool = False  # BKB plays finite problems only


# ---- Problems ----------------------------------------------------------------------------------------------


def floats(trial: optuna.Trial, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return parameters x0, x1, ... of a box."""
    return np.array([trial.suggest_float(f"x{i}", a, b) for i, (a, b) in enumerate(zip(low, high))])


def on_box(function: SyntheticTestFunction) -> Callable[[optuna.Trial], float]:
    """Return the objective of one of BoTorch's test functions on its box."""
    box = function.bounds.numpy()
    return lambda trial: function(torch.from_numpy(floats(trial, *box))).item()


CENTER = np.array([0.5, 0.5, 0.4, 0.8, 0.3, 0.7])
MATERIALS = {"steel": 0.0, "copper": 0.1, "glass": 0.2}


def mixed(trial: optuna.Trial) -> float:
    """Ten parameters of all kinds; more than half of the space fails, and the minimum is near that region."""
    x = floats(trial, np.zeros(6), np.ones(6))
    layers = trial.suggest_int("layers", 0, 7)
    width = trial.suggest_int("width", 1, 64, log=True)
    material = trial.suggest_categorical("material", list(MATERIALS))
    coated = trial.suggest_categorical("coated", [True, False])
    if x[:3].sum() > 1.5 or (material == "copper" and layers < 3):
        raise Failed
    ripples = 0.05 * (1 - np.cos(6 * np.pi * (x - CENTER))).sum()
    integers = ((layers - 5) / 7) ** 2 + (math.log2(width / 8) / 6) ** 2
    choices = MATERIALS[material] + (0.1 + 0.2 * x[3] if coated else 0.0)
    return float(((x - CENTER) ** 2).sum() + ripples + integers + choices)


# The grid of LIBSVM's guide, with step 1.
EXPONENTS_C, EXPONENTS_GAMMA = range(-5, 16), range(-15, 4)


def support_vectors(trial: optuna.Trial) -> float:
    table = cached_call("errors of a support vector machine", svc_errors)["errors"]
    c = trial.suggest_int("log2 C", EXPONENTS_C[0], EXPONENTS_C[-1])
    gamma = trial.suggest_int("log2 gamma", EXPONENTS_GAMMA[0], EXPONENTS_GAMMA[-1])
    return float(table[EXPONENTS_C.index(c), EXPONENTS_GAMMA.index(gamma)])


def svc_errors() -> dict[str, np.ndarray]:
    """Return the error of a support vector machine on Wisconsin breast cancer for all 399 settings, in five-fold cross-validation."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    inputs, labels = load_breast_cancer(return_X_y=True)
    score = lambda c, gamma: cross_val_score(
        make_pipeline(StandardScaler(), SVC(C=2.0**c, gamma=2.0**gamma)), inputs, labels
    ).mean()
    errors = [[1 - score(c, gamma) for gamma in EXPONENTS_GAMMA] for c in EXPONENTS_C]
    return {"errors": np.array(errors)}


TREES, DEPTHS, RATES = range(20, 201, 20), range(1, 7), range(-8, 1)
FRACTIONS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def boosting(trial: optuna.Trial) -> float:
    table = cached_call("errors of gradient boosting", boosting_errors)["errors"]
    rate = trial.suggest_int("log2 learning_rate", RATES[0], RATES[-1])
    depth = trial.suggest_int("max_depth", DEPTHS[0], DEPTHS[-1])
    fraction = trial.suggest_float("subsample", FRACTIONS[0], FRACTIONS[-1], step=0.1)
    trees = trial.suggest_int("n_estimators", TREES[0], TREES[-1], step=TREES.step)
    places = RATES.index(rate), DEPTHS.index(depth), round(10 * fraction) - 5, TREES.index(trees)
    return float(table[places])


def boosting_errors() -> dict[str, np.ndarray]:
    """Return the mean squared error of gradient boosting on the diabetes data for all 3,240 settings, relative to the variance."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import KFold

    inputs, targets = load_diabetes(return_X_y=True)
    errors = np.zeros((len(RATES), len(DEPTHS), len(FRACTIONS), len(TREES)))
    folds = list(KFold(5, shuffle=True, random_state=0).split(inputs))
    settings = product(enumerate(RATES), enumerate(DEPTHS), enumerate(FRACTIONS))
    for (i, rate), (j, depth), (k, fraction) in settings:
        for train, test in folds:
            model = GradientBoostingRegressor(
                learning_rate=2.0**rate,
                max_depth=depth,
                subsample=fraction,
                n_estimators=TREES[-1],
                random_state=0,
            ).fit(inputs[train], targets[train])
            # The first trees of a long fit are the trees of a shorter one.
            stages = np.stack(list(model.staged_predict(inputs[test])))[np.array(TREES) - 1]
            errors[i, j, k] += ((stages - targets[test]) ** 2).sum(axis=1)
    return {"errors": errors / len(targets) / targets.var()}


def smallest(name: str, table: Callable[[], dict[str, np.ndarray]]) -> float:
    """Return the smallest error of a stored table."""
    return float(cached_call(name, table)["errors"].min())


PROBLEMS = {
    # BoTorch has the lowest values to six digits.
    "branin": Problem("Branin, 2 dimensions", on_box(Branin()), lambda: 10 / (8 * math.pi)),
    "hartmann": Problem(
        "Hartmann, 6 dimensions", on_box(Hartmann(dim=6)), lambda: -3.322368011391339
    ),
    # On an interval that is not symmetric about the minimum, because some methods favor the center.
    "ackley": Problem(
        "Ackley, 10 dimensions", on_box(Ackley(dim=10, bounds=[(-5, 10)] * 10)), lambda: 0.0
    ),
    "mixed": Problem("10 mixed parameters, failures", mixed, lambda: 0.0),
    "svm": Problem(
        "SVM, 399 settings",
        support_vectors,
        lambda: smallest("errors of a support vector machine", svc_errors),
        finite=True,
    ),
    "boosting": Problem(
        "boosting, 3,240 settings",
        boosting,
        lambda: smallest("errors of gradient boosting", boosting_errors),
        finite=True,
    ),
}


# ---- Studies -----------------------------------------------------------------------------------------------


def play_study(problem: str, sampler: str, seed: int, trials: int) -> dict[str, Any]:
    """Return the values of a study's trials in their order; NaN is a failed trial."""
    study = optuna.create_study(sampler=SAMPLERS[sampler](seed=seed))
    study.optimize(PROBLEMS[problem].objective, n_trials=trials, catch=Failed)
    values = [math.nan if trial.value is None else trial.value for trial in study.trials]
    return {"values": np.array(values)}


def time_suggestions(sampler: str, problem: str, finished: tuple[int, ...]) -> dict[str, Any]:
    """Return the seconds of a suggestion with n finished trials, for each n.

    ``running`` is the median over the last ten suggestions of a study that one sampler has served from its start, and
    ``resumed`` the first suggestion of a new sampler, which observes all n trials.
    """
    objective = PROBLEMS[problem].objective
    study = optuna.create_study(sampler=SAMPLERS[sampler](seed=0))
    space = distributions(objective)
    seconds, running, resumed = [], [], []
    for n in range(1, max(finished) + 1):
        start = time.perf_counter()
        trial = study.ask(space)
        seconds.append(time.perf_counter() - start)
        study.tell(trial, objective(optuna.trial.FixedTrial(trial.params)))
        if n in finished:
            running.append(np.median(seconds[-10:]))
            again = optuna.create_study(sampler=SAMPLERS[sampler](seed=1))
            again.add_trials(study.trials)
            start = time.perf_counter()
            again.ask(space)
            resumed.append(time.perf_counter() - start)
    return {"running": np.array(running), "resumed": np.array(resumed)}


def distributions(objective: Callable[[optuna.Trial], float]) -> dict[str, Any]:
    """Return the distributions of an objective's parameters."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=1)
    return study.trials[0].distributions
