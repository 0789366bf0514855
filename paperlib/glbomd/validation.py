"""Checks of settings and data. Constructors, problems, ``play`` and ask/tell call them, never the hot path.

Every ValueError names the argument, its value and what is allowed.
"""

import math
from collections.abc import Collection
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from .links import FAMILIES, Link

NORM_SLACK = 1e-9  # arms may exceed norm 1 by rounding


def _check(name: str, value: Any, allowed: str, inside) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if isinstance(value, Tensor):  # one value a trial, R
        good = value.device.type == "meta" or bool((value.isfinite() & inside(value)).all())
    else:
        good = number and math.isfinite(value) and bool(inside(value))
    if not good:
        raise ValueError(f"{name}={value!r}; allowed: {allowed}")


def positive(name: str, value: float | Tensor) -> None:
    """Raise ValueError unless ``value``, a number or one per trial, is finite and above 0."""
    _check(name, value, "a finite number above 0", lambda x: x > 0)


def nonnegative(name: str, value: float | Tensor) -> None:
    """Raise ValueError unless ``value``, a number or one per trial, is finite and at least 0."""
    _check(name, value, "a finite number, at least 0", lambda x: x >= 0)


def probability(name: str, value: float) -> None:
    """Raise ValueError unless ``value``, a failure probability, lies in (0, 1]."""
    _check(name, value, "a number in (0, 1]", lambda x: (x > 0) & (x <= 1))


def whole(name: str, value: int, least: int = 1) -> None:
    """Raise ValueError unless ``value`` is an integer >= ``least``."""
    _check(name, value, f"an integer, at least {least}", lambda x: x >= least and float(x).is_integer())


def one_of(name: str, value: Any, allowed: Collection) -> None:
    """Raise ValueError unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r}; allowed: {', '.join(map(str, allowed))}")


def ridge(value: float | str, names: Collection[str]) -> None:
    """Raise ValueError unless ``ridge`` is a finite number above 0 or one of the formulas ``names``."""
    if isinstance(value, str):
        one_of("ridge", value, names)
    else:
        positive("ridge", value)


def known_link(link: Any) -> None:
    """Raise ValueError unless ``link`` is one of the families of ``links``."""
    if not isinstance(link, Link) or type(link) is Link:
        raise ValueError(f"link={link!r}; allowed: an instance of {', '.join(sorted({kind.__name__ for kind in FAMILIES.values()}))}, "
                         "families whose natural parameters cover the real line")


def needs_horizon(learner: Any, horizon: int | None) -> None:
    """Raise ValueError where a learner whose formulas contain T was not given it."""
    if horizon is None:
        raise ValueError(f"horizon=None; {type(learner).__name__} needs the number of rounds; allowed: integers, at least 1")


def validate(link: Link, arms: Tensor, arm: Tensor | None = None, reward: Tensor | None = None) -> None:
    """What a learner's ``validate`` checks: arms within Assumption 1, arm and reward within the model.

    Args:
        link: family of the rewards.
        arms: R x K x d or 1 x K x d with K, d >= 1, finite, ||x|| <= 1.
        arm: R indices in 0..K-1, or None.
        reward: R, in the family's support, or None.

    Raises:
        ValueError: an empty, non-finite or too long arm, an unknown index, a reward outside the support.
    """
    if not isinstance(arms, Tensor) or arms.dim() != 3 or 0 in arms.shape:
        shape = tuple(arms.shape) if isinstance(arms, Tensor) else type(arms).__name__
        raise ValueError(f"arms: {shape}; allowed: a tensor R x K x d or 1 x K x d with at least one arm and one dimension")
    if arms.device.type == "meta":
        return
    if not bool(arms.isfinite().all()):
        raise ValueError(f"arms={arms[~arms.isfinite()][0].item()!r}; allowed: finite numbers")
    longest = float(torch.linalg.vector_norm(arms, dim=-1).max())
    if longest > 1 + NORM_SLACK:
        raise ValueError(f"arms: largest norm {longest!r}; allowed: at most 1 (divide all arms, of all rounds, by one bound on their norms)")
    if arm is not None and not bool(((arm >= 0) & (arm < arms.shape[1])).all()):
        raise ValueError(f"arm={arm.tolist()}; allowed: 0..{arms.shape[1] - 1}")
    if reward is not None:
        link.validate(reward)
