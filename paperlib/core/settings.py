"""Settings by trial: fields of learners and problems that hold one value for each trial of a run.

The rule: a field of a frozen dataclass that is a tensor with at least one dimension has one row a trial, and row i
is trial i's. It holds for the learner, the problem and every dataclass within their fields, a wrapper's base say,
also in tuples, lists and dictionaries. What all trials share is a number or a tensor without dimensions.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from .validation import whole


def listed(trials: int | Sequence[int] | np.ndarray) -> tuple[Sequence[int], int | None]:
    """Which trials are played, as Python's integers, and of how many, where a number says so.

    Raises:
        ValueError: neither a number nor a list of numbers, none at all, or one below 0.
    """
    if not isinstance(trials, (Sequence, np.ndarray)) or isinstance(trials, (str, bytes)):
        trials = whole("trials", trials)
        return range(trials), trials
    if np.size(trials) < 1:
        raise ValueError(f"trials={trials!r}; allowed: at least one trial")
    return [whole("trials", trial, least=0) for trial in trials], None


def for_trials(config: Any, trials: Any, total: int | None = None, name: str = "learner") -> Any:
    """The configuration that the given trials play: of every setting by trial their rows, in their order.

    Args:
        config: learner or problem; itself is returned where nothing in it varies by trial.
        trials: R trial numbers, 0, 1, ...
        total: trials of the whole run, which is then the number of rows; None where only a part of the run is
            known: then every trial asked for needs its row, and there may be more.
        name: what ``config`` is called in errors.

    Raises:
        ValueError: a setting with another number of rows.
    """
    if isinstance(config, dict):
        kids = {
            key: for_trials(kid, trials, total, f"{name}[{key!r}]") for key, kid in config.items()
        }
        return kids if any(kids[key] is not config[key] for key in kids) else config
    if isinstance(config, (tuple, list)):
        kids = [for_trials(kid, trials, total, f"{name}[{i}]") for i, kid in enumerate(config)]
        if all(new is old for new, old in zip(kids, config)):
            return config
        return type(config)(*kids) if hasattr(config, "_fields") else type(config)(kids)
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        return config
    changed = {}
    for field in dataclasses.fields(config):
        if not field.init:  # made from the other fields, and made again from their rows
            continue
        value, path = getattr(config, field.name), f"{name}.{field.name}"
        if isinstance(value, Tensor) and value.dim():
            part = _rows(value, trials, total, path)
        else:
            part = for_trials(value, trials, total, path)
        if part is not value:
            changed[field.name] = part
    return dataclasses.replace(config, **changed) if changed else config


def _rows(value: Tensor, trials: Any, total: int | None, name: str) -> Tensor:
    if min(trials) < 0:  # would count from the end
        raise ValueError(
            f"trials={trials!r}; allowed with {name}, which has a row a trial: 0, 1, ..."
        )
    rows, least = len(value), max(trials) + 1
    if rows < least if total is None else rows != total:
        allowed = f"at least {least}" if total is None else str(total)
        raise ValueError(
            f"{name}: {rows} rows; allowed: {allowed}, one for each trial of the run, or one number for all"
        )
    return value if list(trials) == list(range(rows)) else value[list(trials)]
