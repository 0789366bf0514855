"""A worker of tests/test_samplers_parallel.py: ``python optuna_worker.py URL SAMPLER TRIALS SECONDS``.

It evaluates trials of the study "shared" until TRIALS of them are complete. One evaluation takes SECONDS.
"""

import sys
import time
import warnings

import optuna
import torch
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback

from paperlib import samplers

HEARTBEAT, GRACE = 1, 3  # seconds


def storage_of(url: str) -> optuna.storages.BaseStorage:
    """Return the database of a URL, or the journal of a file."""
    if "://" in url:
        beat = {"heartbeat_interval": HEARTBEAT, "grace_period": GRACE}
        return optuna.storages.RDBStorage(url, **beat)
    return optuna.storages.JournalStorage(JournalFileBackend(url))


def main() -> None:
    url, name, trials, seconds = sys.argv[1:]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # heartbeats are experimental
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    step = 0.05 if name == "BKBSampler" else None

    def objective(trial: optuna.Trial) -> float:
        x, y = (trial.suggest_float(axis, -1, 1, step=step) for axis in ("x", "y"))
        time.sleep(float(seconds))
        return (x - 0.3) ** 2 + (y + 0.4) ** 2

    sampler = getattr(samplers, name)(n_startup_trials=4, seed=0)
    study = optuna.load_study(study_name="shared", storage=storage_of(url), sampler=sampler)
    study.optimize(objective, callbacks=[MaxTrialsCallback(int(trials))])


if __name__ == "__main__":
    main()
