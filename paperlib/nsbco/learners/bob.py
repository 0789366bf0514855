"""How long batches should be, learned by a bandit over bandits.

Source: Cheung, Simchi-Levi & Zhu (2022), "Hedging the drift: learning to optimize under nonstationarity"; Auer et al.
(2002), EXP3. Our form around Algorithm 2.
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

GUARD = 1e-9  # what rounding may take from a length that is rounded down


class BOBState(NamedTuple):
    """The base's state, and EXP3 over blocks."""

    base: Any
    weights: Tensor  # R x J, w
    arm: Tensor  # R int64, the length of this block, an index
    chance: Tensor  # R, with which probability it was drawn
    heard: Tensor  # R, sum of y in this block
    rounds: int  # rounds heard
    horizon: int


class BlockPlan(NamedTuple):
    """What follows from T and d."""

    block: int  # H = floor(d sqrt(T)), rounds of a block
    lengths: tuple[int, ...]  # floor(H^{j/q}), j = 0..q, q = ceil(ln H), each once
    gamma: float  # share of uniform play in EXP3


@functools.lru_cache(maxsize=64)
def plan_blocks(horizon: int, dim: int) -> BlockPlan:
    """The plan for T rounds in d dimensions."""
    block = math.floor(dim * math.sqrt(horizon))
    q = max(1, math.ceil(math.log(block)))
    lengths = sorted({math.floor(block ** (j / q) + GUARD) for j in range(q + 1)})
    J, blocks = len(lengths), -(-horizon // block)
    gamma = min(1.0, math.sqrt(J * math.log(J) / ((math.e - 1) * blocks)))
    return BlockPlan(block, tuple(lengths), gamma)


@frozen_dataclass
class BanditOverBandit(Restarting):
    """Blocks of H rounds; in each the base is begun anew every B rounds, with B drawn by EXP3 that hears a block's mean.

    Attributes:
        base: a learner with ``restart``, whose state holds tensors of R rows alone; answers in [-1, 1].

    Raises:
        ValueError: a base that cannot begin anew.
    """

    base: Learner = field(default_factory=GradientAscent)

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> BOBState:
        """Before the first block.

        Raises:
            ValueError: no horizon, or a base whose trials share something.
        """
        if horizon is None:
            raise_invalid("horizon", horizon, "a number of rounds: BanditOverBandit needs it")
        horizon = check_integer("horizon", horizon)
        base = fresh_state(self.base, trials, task, draw, **tkwargs)
        J = len(plan_blocks(horizon, task.cset.dim).lengths)
        weights = torch.zeros(trials, J, **tkwargs)
        zero, none = weights[:, 0], torch.zeros(trials, dtype=torch.int64, device=weights.device)
        return BOBState(base, weights, none, zero + 1, zero, 0, horizon)

    def select(self, state: BOBState, task: Task, draw: Draw) -> tuple[Tensor, BOBState]:
        """Draw a length where a block begins, begin the base anew where its batch is over; the base's choice, R x d."""
        plan, (base, weights, arm, chance, *rest) = plan_blocks(state.horizon, task.cset.dim), state
        place = state.rounds % plan.block
        if place == 0:
            p = (1 - plan.gamma) * weights.softmax(1) + plan.gamma / len(plan.lengths)
            u = draw.uniform("arm", counter=lambda t: t // plan.block)
            arm = (p.cumsum(1)[:, :-1] <= u[:, None]).sum(1)
            chance = p.gather(1, arm[:, None])[:, 0]
        over = arm == 0  # a batch of one round
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
        """The base hears; EXP3 does at a block's end. ``feedback``: R."""
        plan = plan_blocks(state.horizon, task.cset.dim)
        base = self.base.update(state.base, task, action, feedback, draw)
        heard, weights, rounds = state.heard + feedback, state.weights, state.rounds + 1
        if rounds % plan.block == 0:
            mean = ((heard / plan.block + 1) / 2).clamp(0.0, 1.0)
            gain = plan.gamma / len(plan.lengths) * mean / state.chance
            weights = weights.scatter_add(1, state.arm[:, None], gain[:, None])
            heard = torch.zeros_like(heard)
        return BOBState(base, weights, state.arm, state.chance, heard, rounds, state.horizon)

    def restart(self, state: BOBState, task: Task, horizon: int | None, draw: Draw) -> BOBState:
        """Refused: a draw belongs to a block of the whole run, whose length another horizon would change.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "base=BanditOverBandit restarted from outside, as Doubling does; allowed: BanditOverBandit alone, of "
            "known horizon"
        )
