"""Projection-free bandit convex optimization in blocks of rounds, with regret of order T^{3/4}.

This variant is our addition, in the spirit of Garber & Kretzu (AISTATS 2020). Its bound is in ``theory.constants.block_bound``. We
did not compare it with the published algorithm line by line.
Shapes: R trials, n dimensions.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...core.describe import frozen_dataclass
from ...core.linalg import ROUNDING
from ...core.streams import Draw
from ..model import LossMoments, Task
from .onepoint import EpochConstants, OnePoint, OnePointState

MOST = 10_000  # largest number of Frank-Wolfe steps at the end of a block


class BlockState(NamedTuple):
    """State of ``BlockPFBCO``; ``A`` is eta times the sum of the estimates of finished blocks."""

    x: Tensor  # R x n, the block's center
    x1: Tensor  # R x n
    A: Tensor  # R x n
    block: Tensor  # R x n, eta times the sum of the estimates of this block
    eta: Tensor  # 1 or R
    delta: Tensor  # 1 or R
    alpha: Tensor  # 1 or R
    rounds: int  # t - 1, finished rounds of this epoch
    horizon: int  # of this epoch
    oracle: Tensor  # R, number of oracle calls so far
    heard: LossMoments


@frozen_dataclass
class BlockPFBCO(OnePoint):
    """Block variant of PFBCO: explore around one center for round(sqrt(T)) rounds, then minimize F.

    F is minimized by Frank-Wolfe with exact line search, up to a gap of D^2 T^{-1/2}. The constants are delta = c T^{-1/4} and
    eta = sqrt(2) D T^{-3/4} / sqrt(n^2 M^2 / c^2 + G^2). Each Frank-Wolfe step at the end of a block tests convergence, which
    depends on values. Therefore the learner runs on the host.

    Examples:
        >>> from paperlib.pfbco import BallLinear, BlockPFBCO, Doubling
        >>> from paperlib.play import play
        >>> trace = play(Doubling(BlockPFBCO(0.5)), BallLinear(2), horizon=255, trials=10)
        >>> round(float(trace.last().mean()) / 255, 1)  # regret per round; the center has 1.0
        0.7
    """

    def constants(self, task: Task, horizon: int, bound: Tensor) -> EpochConstants:
        """Return delta, alpha = delta / r and eta of an epoch of T rounds."""
        n = task.cset.dim
        delta = torch.full_like(task.cset.D[:1], self.c * horizon**-0.25)
        # sqrt(T) Q^2 bounds the second moment of a block's estimates per round, see ``theory.constants.block_bound``.
        Q = ((n * bound / self.c) ** 2 + task.grad_bound**2).sqrt()
        eta = math.sqrt(2) * task.cset.D * horizon**-0.75 / Q
        return EpochConstants(delta, delta / task.cset.r, eta)

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> BlockState:
        """Return the first state, as ``OnePoint.init``, with an empty block."""
        state = super().init(trials, task, horizon, draw, **tkwargs)
        return self._blocks(state, horizon, torch.zeros(trials, **tkwargs))

    def restart(self, state: BlockState, task: Task, horizon: int, draw: Draw) -> BlockState:
        """Start a new epoch, as ``OnePoint.restart``; the count of oracle calls continues."""
        return self._blocks(super().restart(state, task, horizon, draw), horizon, state.oracle)

    @staticmethod
    def _blocks(state: OnePointState, horizon: int, oracle: Tensor) -> BlockState:
        block = torch.zeros_like(state.x)
        return BlockState(**state._asdict(), block=block, horizon=horizon, oracle=oracle)

    def update(
        self, state: BlockState, task: Task, y: Tensor, loss: Tensor, draw: Draw
    ) -> BlockState:
        """Add the estimate to its block; at the end of the block, compute the next center. ``y``: R x n, as proposed; ``loss``: R.

        Raises:
            RuntimeError: Frank-Wolfe does not reach the gap within 10^4 steps.
        """
        step, heard = self.estimate(state, task, loss, draw)
        state = state._replace(block=state.block + step, rounds=state.rounds + 1, heard=heard)
        # The center is constant within a block of round(sqrt(T)) rounds.
        if state.rounds % max(1, round(math.sqrt(state.horizon))):
            return state
        A, gap = state.A + state.block, state.horizon**-0.5 * task.cset.D**2
        x, calls = minimize(task, state.x, state.x1, A, state.alpha, gap)
        return state._replace(x=x, A=A, block=torch.zeros_like(A), oracle=state.oracle + calls)

    def report(self, state: BlockState) -> dict[str, Tensor]:
        """Return ``above``, losses beyond M, and ``oracle``, calls of the linear oracle; R each."""
        return {"above": state.heard.above, "oracle": state.oracle}


def minimize(
    task: Task, x: Tensor, x1: Tensor, A: Tensor, alpha: Tensor, gap: Tensor
) -> tuple[Tensor, Tensor]:
    """Minimize <A, x> + ||x - x_1||^2 over (1 - alpha) K by Frank-Wolfe with exact line search, up to a gap of ``gap``.

    A converged trial is frozen, so a trial run alone gives the same result as in a batch. Returns R x n, and R oracle calls.
    """
    calls, moves = torch.zeros_like(x[:, 0]), torch.ones_like(x[:, 0], dtype=torch.bool)
    for _ in range(MOST):
        gradient = A + 2 * (x - x1)
        v = (1 - alpha).unsqueeze(1) * task.cset.lmo(gradient)
        slope = (gradient * (x - v)).sum(-1)
        calls = calls + moves
        # The slack is for a gap that is met exactly.
        moves = moves & (slope > gap * (1 + ROUNDING))
        if not bool(moves.any()):
            return x, calls
        # F is quadratic with Hessian 2 I, so the line search has a closed form.
        square = ((v - x) ** 2).sum(-1)
        s = torch.where(moves, (slope / (2 * square)).clamp(0.0, 1.0), 0.0)
        x = torch.lerp(x, v, s.unsqueeze(1))
    raise RuntimeError(
        f"Frank-Wolfe does not reach the gap {float(gap.max()):g} within {MOST} steps in {int(moves.sum())} of {len(x)} trials"
    )
