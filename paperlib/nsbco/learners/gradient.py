"""Two reference learners for the figures: one with full information (gradients), and a static baseline.

Source: Hazan & Seshadhri (2009), "Efficient learning algorithms for changing environments", in the form of Adamskiy,
Koolen, Chernov & Vovk (2012), "A closer look at adaptive regret"; Hazan, Agarwal & Kale (2007) for the experts; Daniely,
Gonen & Shalev-Shwartz (2015) for dyadic blocks.
Letters: R trials, d dimensions, O block lengths.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...core.trees import tree_take
from ...core.validation import check_finite, check_integer
from ...learners.reference import NoState, ReferenceRule
from ..model.task import Task, check_point, check_round, check_task

ANYTIME = 33  # number of block lengths without a horizon, enough for 2^32 rounds


class FullInformationState(NamedTuple):
    """One expert for each block length 2^m, m = 0..O - 1; the last block never ends."""

    z: Tensor  # R x O x d, points of the experts
    logs: Tensor  # R x O, logarithms of their weights
    rounds: int  # observed rounds


@frozen_dataclass
class FullInformation:
    """Projected gradient ascent restarted on every dyadic block, with exponential weights over the active blocks.

    The feedback is the gradient g of f_t at the played point x. The learner replaces f_t(z) - f_t(x) by its upper bound
    h(z) = <g, z - x> - sigma / 2 ||z - x||^2. The expert of a block starts at the learner's point and ascends h with step
    1 / (sigma i) in the block's round i. Its weight is exp of alpha times its sum of h(z), its lead over the learner since the
    start of the block.

    With alpha = sigma / (L + sigma (1 - c_0) B_X)^2 the function exp(alpha h) is concave on X^o(c_0). Therefore the sum of the
    weights over all blocks, about 2 T, never grows, and the learner is at most ln(2 T) / alpha behind the expert of any block.

    This learner is a reference and not a baseline, because it observes gradients instead of rewards.

    Examples:
        >>> from paperlib.nsbco import FullInformation, QuadraticDrift, Rotation, StaticBaseline
        >>> from paperlib.play import play
        >>> run = lambda learner: play(learner, QuadraticDrift(Rotation(1.0)), 40, 1)["regret"][:, -1].mean()
        >>> bool(run(FullInformation()) < 0.2 * run(StaticBaseline()))
        True
    """

    wants = "gradient"

    def validate(self, task: Task, action: Tensor | None, gradient: Tensor | None) -> None:
        """Check the task, points and gradients.

        Raises:
            ValueError: an invalid task, a point outside the set, or a gradient that is not finite or has a wrong shape.
        """
        check_task(task)
        if action is not None:
            check_point(task, action)
        if gradient is not None:
            if gradient.dim() != 2 or gradient.shape[1] != task.cset.dim:
                shape = tuple(gradient.shape)
                raise ValueError(f"gradient must have shape R x {task.cset.dim}, got shape {shape}")
            check_finite("gradient", gradient)

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> FullInformationState:
        """Return the state with all experts at 0 and equal weights; the horizon determines the number of experts."""
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
        orders = ANYTIME if horizon is None else horizon.bit_length() + 1
        z = torch.zeros(trials, orders, task.cset.dim, **tkwargs)
        return FullInformationState(z, z[:, :, 0], 0)

    def select(
        self, state: FullInformationState, task: Task, draw: Draw
    ) -> tuple[Tensor, FullInformationState]:
        """Return the weighted mean of the experts, R x d."""
        return self._mean(state.z, state.logs), state

    def _mean(self, z: Tensor, logs: Tensor) -> Tensor:
        """Return the weighted mean of the experts, R x d."""
        return (logs.softmax(1)[:, :, None] * z).sum(1)

    def update(
        self, state: FullInformationState, task: Task, x: Tensor, g: Tensor, draw: Draw
    ) -> FullInformationState:
        """Update the weights, move the experts, and restart those whose blocks end. ``x``, ``g``: R x d."""
        z, t = state.z, state.rounds + 1
        R, O, _ = z.shape
        sigma = task.concavity[:, None]
        # the upper bound h(z) on f_t(z) - f_t(x) for each expert
        away = z - x[:, None]
        ahead = (away * g[:, None]).sum(2) - sigma / 2 * away.square().sum(2)
        # upper bound on ||grad h||
        slope = task.smoothness + task.concavity * (1 - task.margin) * task.cset.D
        logs = state.logs + sigma / slope[:, None] ** 2 * ahead
        i = (t - 1) % (1 << torch.arange(O, device=z.device)) + 1  # the round within each block
        z = z + (g[:, None] - sigma[:, :, None] * away) / (sigma * i)[:, :, None]
        rows = torch.arange(R, device=z.device).repeat_interleave(O)
        z = tree_take(task, rows).inside(z.flatten(0, 1)).view_as(z)
        # number of block lengths that divide t; these are the lowest orders
        ended = min((t & -t).bit_length(), O - 1)
        # Experts whose block ends restart at the current point with weight 1.
        fresh = self._mean(z, logs)[:, None].expand(-1, ended, -1)
        z = torch.cat([fresh, z[:, ended:]], 1)
        logs = torch.cat([torch.zeros_like(logs[:, :ended]), logs[:, ended:]], 1)
        return FullInformationState(z, logs, t)


@frozen_dataclass
class StaticBaseline(ReferenceRule):
    """Static baseline: play 0 in every round.

    Examples:
        >>> from paperlib.nsbco import QuadraticDrift, StaticBaseline
        >>> from paperlib.play import play
        >>> play(StaticBaseline(), QuadraticDrift(), 8, 1)["regret"][0, -1]  # 8 rounds of (1/2)^2 / 2
        np.float64(1.0)
    """

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task, points and rewards against the model.

        Raises:
            ValueError: an invalid task, a point outside the set, or rewards outside [-1, 1].
        """
        check_round(task, action, y)

    def select(self, state: NoState, task: Task, draw: Draw) -> tuple[Tensor, NoState]:
        """Return 0, R x d."""
        return state.total.new_zeros(len(state.total), task.cset.dim), state
