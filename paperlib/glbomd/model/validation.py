"""Checks of settings and data. Constructors, problems, ``play`` and ask/tell call them, never the hot path.

Every ValueError names the argument, its value and what is allowed.
"""

from collections.abc import Collection
from typing import Any

from torch import Tensor

from ...core.describe import brief
from ...core.validation import CONDITION, one_of, positive, refuse, whole
from .links import FAMILIES, Link, Poisson, require


def ridge(value: float | str, names: Collection[str]) -> None:
    """Raise ValueError unless ``ridge`` is a finite number above 0 or one of the formulas ``names``."""
    if isinstance(value, str):
        one_of("ridge", value, names)
    else:
        positive("ridge", value)


def conditioned(name: str, value: Any, ridge: float, added: float) -> None:
    """Raise ValueError where a round may add more than 1e12 times lambda to a matrix, whose inverse would be rounding.

    Args:
        name: the field to be named, and its ``value``.
        ridge: lambda.
        added: the most that a round adds along an arm of norm 1.
    """
    if not added <= CONDITION * ridge:
        raise ValueError(
            f"{name}={brief(value)}: a round adds up to {added:g} to lambda = {ridge:g}; "
            f"allowed: link, norm_bound and ridge with which that is at most {CONDITION:g} times as much"
        )


def fitted(link: Link, reward: Tensor | None, ridge: float) -> None:
    """Raise ValueError for a count beyond 1e12 lambda: a fit's Hessian grows with it, and would be inverted to rounding."""
    if isinstance(link, Poisson) and reward is not None:
        most = CONDITION * ridge
        require(reward, reward <= most, f"counts up to {most:g} with ridge={ridge!r}")


def known_link(link: Any) -> None:
    """Raise ValueError unless ``link`` is one of the families of ``links``."""
    if not isinstance(link, Link) or type(link) is Link:
        names = ", ".join(kind.__name__ for kind in FAMILIES)
        allowed = f"an instance of {names}, families whose natural parameters cover the real line"
        refuse("link", link, allowed)


def needs_horizon(learner: Any, horizon: int | None) -> None:
    """Raise ValueError where a learner whose formulas contain T was not given it."""
    if horizon is None:
        raise ValueError(
            f"horizon=None; {type(learner).__name__} needs the number of rounds; allowed: integers, at least 1"
        )
    whole("horizon", horizon)
