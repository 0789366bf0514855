"""What a learner has after each round, for checks that rebuild it from arms and rewards alone. Letters: R trials, A arms."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ...core.rounds import Round
from .state import own, played
from .uneven import mask_after, s2_after


def reward(seen: Round) -> Tensor:
    """y_{t+1}, R. A probe, as those below."""
    return seen.feedback


def mean_after(seen: Round) -> Tensor:
    """mu_{t+1}, the learner's, R x A."""
    return own(seen.after).mu


def information_after(seen: Round) -> Tensor:
    """The learner's sum of ln(1 + s2_{s-1}(x_s)), R."""
    return own(seen.after).tally.information


def effective_after(seen: Round) -> Tensor:
    """The learner's sum of n s2_{t+1}, R."""
    return own(seen.after).tally.effective


@dataclass(frozen=True)
class OwnRadius:
    """beta_t as the learner computes it, R, with which the round's arm was chosen."""

    learner: Any  # one with ``radius(state)``

    def __call__(self, seen: Round) -> Tensor:
        return self.learner.radius(own(seen.before))


def own_numbers(learner: Any) -> dict[str, Callable]:
    """For ``theory.along.Own``, to be recorded in every round: arms, rewards, posterior, sums and radius; a dictionary where there is one."""
    known = {
        "arm": played,
        "reward": reward,
        "mean": mean_after,
        "s2": s2_after,
        "information": information_after,
        "effective": effective_after,
        "beta": OwnRadius(learner),
    }
    return known | ({"mask": mask_after} if hasattr(learner, "qbar") else {})
