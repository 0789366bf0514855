"""Rewards that contradict the model declared to a learner.

The rule: a reward contradicts the model if it lies outside an interval that contains the reward of its action with
probability at least 1 - FALSE_ALARM / (t (t + 1)) in round t, whatever function the model allows. These probabilities
add up to FALSE_ALARM over all rounds. Therefore a trial whose rewards follow the model is warned of with probability at
most FALSE_ALARM, however many rounds it has and however its actions are chosen.

The rule looks at one reward at a time. It cannot detect a norm bound or a noise level that is too large, a norm bound
that is too small but within the noise, or a noise level that is too small within the range that the norm bound allows.
Letters: R trials, t the round, counted from 1.
"""

import math
from typing import NamedTuple

from torch import Tensor

FALSE_ALARM = 1e-6  # probability of a warning in a trial whose rewards follow the model
SLACK = 1e-9  # relative; a mean may exceed its bound by rounding


class Observed(NamedTuple):
    """The feedback of one round, for a learner's ``caution``."""

    action: Tensor  # R, or R x d
    feedback: Tensor  # R
    round: int  # t

    @property
    def level(self) -> float:
        """ln(2 / p) with p = FALSE_ALARM / (t (t + 1)): either tail of an interval has probability at most e^-level."""
        return math.log(2 * self.round * (self.round + 1) / FALSE_ALARM)

    def deviation(self, noise: float) -> float:
        """Largest plausible size of ``noise``-sub-Gaussian noise: noise sqrt(2 level)."""
        return noise * math.sqrt(2 * self.level)

    def contradicts(
        self, low: Tensor, high: Tensor, declared: str, name: str = "reward"
    ) -> str | None:
        """Return a warning if a trial's feedback lies outside its interval.

        Args:
            low, high: ends of the interval, R or 1.
            declared: the arguments that the interval follows from.
            name: name of the feedback.
        """
        outside = (self.feedback < low - SLACK * low.abs()) | (
            self.feedback > high + SLACK * high.abs()
        )
        if not bool(outside.any()):
            return None
        first = int(outside.nonzero()[0, 0])
        value, low, high = (
            float(x.expand_as(self.feedback)[first]) for x in (self.feedback, low, high)
        )
        return (
            f"{name}={value!r} in round {self.round} contradicts {declared}, with which it lies between {low:.4g} and "
            f"{high:.4g}; check the unit of {name}, or change these arguments (a trial that follows its model is "
            f"warned of with probability at most {FALSE_ALARM:g})"
        )
