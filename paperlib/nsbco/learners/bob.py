"""Bandit over bandits: choose the batch length of a restarted learner with EXP3.

Source: Cheung, Simchi-Levi & Zhu (2022), "Hedging the drift: learning to optimize under nonstationarity"; Auer et al.
(2002), EXP3. The version around Algorithm 2 is our addition.
Letters: R trials, J lengths.
"""

import functools
import math
from dataclasses import field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core.contracts import Learner
from ...core.describe import frozen_dataclass
from ...core.linalg import any_or_unknown
from ...core.streams import Draw
from ...core.trees import tree_where
from ...core.validation import check_integer, raise_invalid
from ..model.task import Task
from .ascent import GradientAscent
from .restarted import Restarting, fresh_state

GUARD = 1e-9  # tolerance for the rounding error of a length that is rounded down


class BOBState(NamedTuple):
    """State of the base, and of EXP3 over blocks."""

    base: Any
    weights: Tensor  # R x J, log-weights of the lengths in EXP3
    arm: Tensor  # R int64, index of the batch length of this block
    chance: Tensor  # R, probability of its draw
    heard: Tensor  # R, sum of y in this block
    rounds: int  # observed rounds
    horizon: int


class BlockPlan(NamedTuple):
    """Block length, batch lengths and exploration rate, which depend on T and d only."""

    block: int  # H = floor(d sqrt(T)), rounds of a block
    lengths: tuple[int, ...]  # floor(H^{j/q}), j = 0..q, q = ceil(ln H), without duplicates
    gamma: float  # fraction of uniform exploration in EXP3


@functools.lru_cache(maxsize=64)
def plan_blocks(horizon: int, dim: int) -> BlockPlan:
    """Return the plan for T rounds in d dimensions."""
    # The batch lengths are a geometric grid from 1 to the block length H.
    block = math.floor(dim * math.sqrt(horizon))
    q = max(1, math.ceil(math.log(block)))
    lengths = sorted({math.floor(block ** (j / q) + GUARD) for j in range(q + 1)})
    J, blocks = len(lengths), -(-horizon // block)
    gamma = min(1.0, math.sqrt(J * math.log(J) / ((math.e - 1) * blocks)))
    return BlockPlan(block, tuple(lengths), gamma)


@frozen_dataclass
class BanditOverBandit(Restarting):
    """Bandit over bandits: in each block of H rounds, restart the base every B rounds, with B drawn by EXP3.

    The reward of EXP3 is the mean reward of a block. The run needs a known horizon.

    Attributes:
        base: a learner with ``restart``, whose state consists of tensors with R rows; rewards in [-1, 1].

    Raises:
        ValueError: a base that cannot be restarted.

    Examples:
        >>> from paperlib.nsbco import Abrupt, BanditOverBandit, QuadraticDrift
        >>> from paperlib.nsbco.learners.bob import plan_blocks
        >>> from paperlib.play import play
        >>> plan_blocks(1000, 2).lengths
        (1, 2, 5, 12, 27, 63)
        >>> play(BanditOverBandit(), QuadraticDrift(Abrupt(5)), 200, 4, record=1)["regret"].shape
        (4, 1)
    """

    base: Learner = field(default_factory=GradientAscent)

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> BOBState:
        """Return the state before the first block.

        Raises:
            ValueError: no horizon, or a base whose trials share a part of the state.
        """
        if horizon is None:
            raise_invalid(
                "horizon", horizon, "a number of rounds, because BanditOverBandit requires it"
            )
        horizon = check_integer("horizon", horizon)
        base = fresh_state(self.base, trials, task, draw, **tkwargs)
        J = len(plan_blocks(horizon, task.cset.dim).lengths)
        weights = torch.zeros(trials, J, **tkwargs)
        zero, none = weights[:, 0], torch.zeros(trials, dtype=torch.int64, device=weights.device)
        return BOBState(base, weights, none, zero + 1, zero, 0, horizon)

    def select(self, state: BOBState, task: Task, draw: Draw) -> tuple[Tensor, BOBState]:
        """Draw a batch length at the start of a block, restart the base at the end of a batch, and return its action, R x d."""
        plan, (base, weights, arm, chance, *rest) = plan_blocks(state.horizon, task.cset.dim), state
        place = state.rounds % plan.block
        if place == 0:  # a block starts: draw its batch length from the weights of EXP3
            p = (1 - plan.gamma) * weights.softmax(1) + plan.gamma / len(plan.lengths)
            u = draw.uniform("arm", counter=lambda t: t // plan.block)
            arm = (p.cumsum(1)[:, :-1] <= u[:, None]).sum(1)
            chance = p.gather(1, arm[:, None])[:, 0]
        over = arm == 0  # index 0 is a batch of one round, which is over in every round
        for j, length in enumerate(plan.lengths[1:], 1):
            if place % length == 0:
                over = over | (arm == j)
        if any_or_unknown(over):
            base = tree_where(over, self.base.restart(base, task, None, draw), base)
        action, base = self.base.select(base, task, draw)
        return action, BOBState(base, weights, arm, chance, *rest)

    def update(
        self, state: BOBState, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> BOBState:
        """Update the base, and EXP3 at the end of a block. ``feedback``: R."""
        plan = plan_blocks(state.horizon, task.cset.dim)
        base = self.base.update(state.base, task, action, feedback, draw)
        heard, weights, rounds = state.heard + feedback, state.weights, state.rounds + 1
        if rounds % plan.block == 0:
            mean = ((heard / plan.block + 1) / 2).clamp(0.0, 1.0)
            # EXP3 needs rewards in [0, 1], weighted by the inverse of their probability.
            gain = plan.gamma / len(plan.lengths) * mean / state.chance
            weights = weights.scatter_add(1, state.arm[:, None], gain[:, None])
            heard = torch.zeros_like(heard)
        return BOBState(base, weights, state.arm, state.chance, heard, rounds, state.horizon)

    def restart(self, state: BOBState, task: Task, horizon: int | None, draw: Draw) -> BOBState:
        """Raise an error: the block length depends on the horizon of the whole run, which a restart would change.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "base must not be BanditOverBandit in a wrapper that restarts it, for example Doubling. Use BanditOverBandit "
            "without the wrapper and give the horizon"
        )
