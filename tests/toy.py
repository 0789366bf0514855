"""A small problem and learner that use the reward noise and keep a growing history."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from paperlib.linalg import Rows


class World(NamedTuple):
    arms: Tensor   # 1 x K x d
    means: Tensor  # K


@dataclass(frozen=True)
class Coins:
    """Five coins; arms are their places on a line."""

    shift: float = 0.0

    def init(self, trials, horizon, draw, **tkwargs):
        places = torch.linspace(0.1, 0.9, 5, **tkwargs)
        return World(places.view(1, 5, 1), (places + self.shift).clamp(0, 1))

    def context(self, world, t):
        return world.arms

    def respond(self, world, t, action, wants, draw):
        mean = world.means[action]
        return (draw.uniform("reward") < mean).to(mean), world.means.max() - mean


class State(NamedTuple):
    pulls: Tensor    # R x 5
    earned: Tensor   # R x 5
    history: Rows    # R x n
    rounds: int


@dataclass(frozen=True)
class Optimist:
    """Mean plus ``width`` over the square root of the pulls; ``nap`` seconds of sleep a round."""

    width: float = 1.0
    nap: float = 0.0
    wants = "reward"

    def init(self, trials, context, horizon, draw, **tkwargs):
        zero = torch.zeros(trials, 5, **tkwargs)
        return State(zero, zero, Rows.empty(trials, **tkwargs), 0)

    def select(self, state, context, draw):
        if self.nap:
            time.sleep(self.nap)
        pulls = state.pulls + 1
        return (state.earned / pulls + self.width / pulls.sqrt()).argmax(1), state

    def update(self, state, context, action, feedback, draw):
        one = torch.nn.functional.one_hot(action, 5).to(feedback)
        return State(state.pulls + one, state.earned + one * feedback.unsqueeze(1), state.history.append(feedback), state.rounds + 1)
