"""A problem and a learner that are small enough to verify by hand, for tests of the shared modules."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from paperlib.core.linalg import Rows


class Means(NamedTuple):
    """Problem instance: the unit vectors as arms, and their mean rewards."""

    arms: Tensor  # 1 x K x K
    mean: Tensor  # R x K


@dataclass(frozen=True)
class Coins:
    """Bernoulli bandit with K arms whose means are random per trial.

    From round ``broken`` on (0, 1, ...) the feedback is not finite.
    """

    arms: int = 4
    broken: int = 10**9

    def init(self, trials, horizon, draw, **tkwargs):
        return Means(torch.eye(self.arms, **tkwargs)[None], draw.uniform("problem", self.arms))

    def context(self, instance, t):
        return instance.arms

    def respond(self, instance, t, action, wants, draw):
        mean = instance.mean.gather(1, action.unsqueeze(1)).squeeze(1)
        reward = (draw.uniform("reward") < mean).to(mean)
        return reward / (t < self.broken), instance.mean.amax(1) - mean


class State(NamedTuple):
    plays: Tensor  # R x K
    total: Tensor  # R x K
    rewards: Rows  # R x t
    note: str
    rounds: int


@dataclass(frozen=True)
class Index:
    """Index policy with index mean plus bonus / sqrt(plays), and with an unused history; it sleeps ``nap`` seconds per round."""

    bonus: float = 1.0
    nap: float = 0.0
    wants = "reward"

    def init(self, trials, arms, horizon, draw, **tkwargs):
        zeros = torch.zeros(trials, arms.shape[1], **tkwargs)
        return State(zeros + 1, zeros, Rows.empty(trials, **tkwargs), "kept", 0)

    def select(self, state, arms, draw):
        if self.nap:
            time.sleep(self.nap)
        return (state.total / state.plays + self.bonus * state.plays.rsqrt()).argmax(1), state

    def update(self, state, arms, arm, reward, draw):
        at = arm.unsqueeze(1)
        plays = state.plays.scatter_add(1, at, torch.ones_like(reward).unsqueeze(1))
        total = state.total.scatter_add(1, at, reward.unsqueeze(1))
        return State(plays, total, state.rewards.append(reward), state.note, state.rounds + 1)

    def report(self, state):
        return {"plays": state.plays.sum(1)}


@dataclass(frozen=True)
class Listed:
    """Learner that plays listed arms, one per round, the same in all trials."""

    arms: tuple
    wants = "reward"

    def init(self, trials, arms, horizon, draw, **tkwargs):
        return torch.zeros(trials, **tkwargs)

    def select(self, state, arms, draw):
        return torch.full((len(state),), self.arms[draw.t]), state

    def update(self, state, arms, arm, reward, draw):
        return state
