"""Presets of MASTER, which is Algorithm 1 around Algorithm 2: printed, calibrated and other constants.

The proved constants are too large by orders of magnitude. ``calibrate`` (our addition) therefore computes constants from a sample
of your noise: it simulates by how much Algorithm 2's mean reward is below the best value of a stationary objective.

Source: Wang (2025), Algorithm 1, Lemma 3.1; Wei & Luo (2021) for the multiples in the tests.
All functions raise ValueError for a base other than ``GradientAscent`` and for numbers out of range.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.streams import Streams
from ...core.trees import list_leaves
from ...core.validation import (
    check_array,
    check_integer,
    check_positive,
    check_probability,
    raise_invalid,
)
from ...learners.multiscale import Multiscale
from ..model.task import Task
from .ascent import GradientAscent

BASE = GradientAscent()
MARGIN = 1.25  # ratio of the calibrated b_0 to the measured quantile


def check_ascent(base: GradientAscent) -> None:
    """Raise ValueError for a base other than Algorithm 2."""
    if not isinstance(base, GradientAscent):
        raise_invalid(
            "base", base, "a GradientAscent, because the tests use multiples of its bonus"
        )


def practical(base: GradientAscent = BASE, A1: float = 1.0, least_order: int = 0) -> Multiscale:
    """Return MASTER with calibrated constants: the base's b_0, A_1 = 1 and A_2 = 1.5 b_0 (log2 T + 1).

    Examples:
        >>> from paperlib.nsbco import GradientAscent, practical
        >>> practical(GradientAscent(bonus=2.0)).A2
        3.0
    """
    check_ascent(base)
    return Multiscale(base, A1, 1.5 * base.bonus, ("A2",), least_order)


def malg(base: GradientAscent = BASE, least_order: int = 0) -> Multiscale:
    """Return MALG, the multi-scale schedule without tests and therefore without restarts."""
    check_ascent(base)
    return Multiscale(base, math.inf, math.inf, (), least_order)


def printed(base: GradientAscent) -> Multiscale:
    """Return MASTER with the printed test thresholds 9 rho-hat and 3 rho-hat around a base with bonus 2 kappa_0.

    Here rho-hat(t) = 6 (log2 T + 1) rho(t) and rho(t) = 6 kappa_0 / sqrt(t). This function sets only the thresholds, as multiples
    of the base's bonus. The base of Lemma 3.1 is ``GradientAscent(h=1.0, bonus=2 * sum(kappa_0(literal(d), T)), clip=False)``,
    with both functions from ``theory.constants``; its N_0 is the corrected one (E1).
    """
    check_ascent(base)
    return Multiscale(base, 162 * base.bonus, 54 * base.bonus, ("A1", "A2"))


def single_scale(c: float | Tensor, base: GradientAscent = BASE) -> Multiscale:
    """Return MASTER with the printed ratios and rho(t) = c / sqrt(t), hence b_0 = c / 3; c: > 0, a number or one per trial."""
    check_ascent(base)
    c = check_positive(
        "c", c, 1e-29, 1e28, by_trial=True
    )  # the range keeps its multiples 54 c and 18 c valid thresholds
    if isinstance(c, Tensor) and not c.is_floating_point():
        c = c.double()  # torch would divide integers in float32
    return Multiscale(replace(base, bonus=c / 3), 54 * c, 18 * c, ("A1", "A2"))


class Calibration(NamedTuple):
    """Calibrated constants: b_0, A_1, and the factor of log2 T + 1 in A_2."""

    b0: float
    A1: float
    A2: float
    largest: np.ndarray  # N, the largest sqrt(t) (f* - mean of y) of each simulated trial

    def learner(self, base: GradientAscent = BASE, least_order: int = 0) -> Multiscale:
        """Return MASTER with these constants. ``base``: as for ``calibrate``.

        Raises:
            ValueError: a base other than Algorithm 2, or a value out of range.
        """
        check_ascent(base)
        return practical(replace(base, bonus=self.b0), self.A1, least_order)


def calibrate(
    task: Task,
    residuals: np.ndarray,
    horizon: int,
    base: GradientAscent = BASE,
    trials: int = 200,
    share: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """Calibrate MASTER's constants: simulate Algorithm 2 on a stationary problem with noise drawn from ``residuals``.

    The simulated objective is f(x) = -sigma ||x - theta||^2 / 2, where theta is the point of X^o(c_0) farthest from the start.
    b_0 is 1.25 times the ``share`` quantile over trials of the largest sqrt(t) (f* - mean of y), A_1 = b_0 / 2, and the factor
    in A_2 is 1.5 b_0.

    Args:
        task: the task of one trial, in unit coordinates.
        residuals: sample of the noise: rewards in [-1, 1] minus their mean, any number of them.
        horizon: rounds T.
        base: Algorithm 2; its bonus is not used.
        trials: number of simulated trials.
        share: quantile in (0, 1].
        seed: seed of the simulation.

    Returns:
        The constants; ``Calibration.learner`` builds MASTER with them.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.nsbco import Optimizer, ball, calibrate
        >>> task = Optimizer(ball([0.0], 1.0), concavity=0.5, smoothness=1.0, noise=0.1).context
        >>> found = calibrate(task, np.array([-0.1, 0.1]), 200, trials=20)
        >>> found.A1 == found.b0 / 2, found.largest.shape
        (True, (20,))
    """
    noise = check_array("residuals", residuals).ravel()
    if not len(noise) or abs(noise).max() > 2:
        raise_invalid("residuals", residuals, "at least one number, each from -2 to 2")
    horizon = check_integer("horizon", horizon)
    trials = check_integer("trials", trials, most=1 << 20)
    share = check_probability("share", share)
    check_ascent(base)
    base.validate(task, None, None)
    for path, leaf in list_leaves(task, "task"):
        if isinstance(leaf, Tensor) and leaf.shape[:1] != (1,):
            raise_invalid(path, leaf, "a tensor with one row, because the task has one trial")
    streams, noise = Streams(seed, range(trials)), torch.from_numpy(noise)
    start = base.start if base.start and any(base.start) else [-1.0] + [0.0] * (task.cset.dim - 1)
    away = torch.tensor([start], dtype=torch.float64)
    theta = (1 - task.margin[0]) * task.cset.lmo(away)[0]
    state = base.init(trials, task, horizon, streams.at(-1), dtype=torch.float64)
    largest = torch.full((trials,), -np.inf, dtype=torch.float64)
    with torch.no_grad():
        for t in range(horizon):
            draw = streams.at(t)
            x, state = base.select(state, task, draw)
            drawn = noise[(draw.uniform("reward") * len(noise)).long()]
            y = drawn - task.concavity / 2 * (x - theta).square().sum(1)
            state = base.update(state, task, x, y, draw)
            largest = torch.maximum(largest, -state.r / (t + 1) ** 0.5)
    # Without noise the shortfall can be 0 for a start at the maximizer, therefore b_0 is at least 1e-6.
    b0 = max(MARGIN * float(largest.quantile(share)), 1e-6)
    return Calibration(b0, b0 / 2, 1.5 * b0, largest.numpy())
