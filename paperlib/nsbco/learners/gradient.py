"""Two references: what bandit feedback costs, and what it costs to do nothing.

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
from ...learners.reference import NoState as Heard
from ...learners.reference import ReferenceRule
from ..model.task import Task, check_point, check_round, check_task

ANYTIME = 33  # block lengths without a horizon: 2^32 rounds


class FullInformationState(NamedTuple):
    """An expert for each block length 2^m, m = 0..O - 1; the last block never ends."""

    z: Tensor  # R x O x d, where the experts stand
    logs: Tensor  # R x O, of their weights
    rounds: int  # rounds heard


@frozen_dataclass
class FullInformation:
    """Projected gradient ascent, begun anew on every dyadic block, with exponential weights over the blocks that are open.

    It hears the gradient g of f_t where it plays, x, and takes h(z) = <g, z - x> - sigma / 2 ||z - x||^2, which is at least
    f_t(z) - f_t(x), for the function. The expert of a block begins where the learner stands, climbs h with step 1 / (sigma i)
    in the block's round i, and is weighted by exp of alpha times its sum of h(z), what it is ahead of the learner since it
    began; alpha = sigma / (L + sigma (1 - c_0) B_X)^2, with which exp(alpha h) is concave on X^o(c_0). The sum of exp over all
    blocks, about 2 T, therefore never grows: in none of them is the learner more than ln(2 T) / alpha behind its expert.
    No rival of learners that hear rewards.
    """

    wants = "gradient"

    def validate(self, task: Task, action: Tensor | None, gradient: Tensor | None) -> None:
        """Check the task, points and gradients.

        Raises:
            ValueError: what is no task, a point outside the set, or a gradient that is not finite or of another shape.
        """
        check_task(task)
        if action is not None:
            check_point(task, action)
        if gradient is not None:
            if gradient.dim() != 2 or gradient.shape[1] != task.cset.dim:
                shape = tuple(gradient.shape)
                raise ValueError(f"gradient: shape {shape}; allowed: R x {task.cset.dim}")
            check_finite("gradient", gradient)

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> FullInformationState:
        """All experts at 0, with equal weights; the horizon says how many."""
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
        orders = ANYTIME if horizon is None else horizon.bit_length() + 1
        z = torch.zeros(trials, orders, task.cset.dim, **tkwargs)
        return FullInformationState(z, z[:, :, 0], 0)

    def select(
        self, state: FullInformationState, task: Task, draw: Draw
    ) -> tuple[Tensor, FullInformationState]:
        """The experts' weighted mean, R x d."""
        return self._mean(state.z, state.logs), state

    def _mean(self, z: Tensor, logs: Tensor) -> Tensor:
        return (logs.softmax(1)[:, :, None] * z).sum(1)

    def update(
        self, state: FullInformationState, task: Task, x: Tensor, g: Tensor, draw: Draw
    ) -> FullInformationState:
        """Experts are weighed and climb; those whose blocks end begin anew. ``x``, ``g``: R x d."""
        z, t = state.z, state.rounds + 1
        R, O, _ = z.shape
        sigma = task.concavity[:, None]
        away = z - x[:, None]
        ahead = (away * g[:, None]).sum(2) - sigma / 2 * away.square().sum(2)
        slope = task.smoothness + task.concavity * (1 - task.margin) * task.cset.D  # of h, at most
        logs = state.logs + sigma / slope[:, None] ** 2 * ahead
        i = (t - 1) % (1 << torch.arange(O, device=z.device)) + 1  # rounds of each block
        z = z + (g[:, None] - sigma[:, :, None] * away) / (sigma * i)[:, :, None]
        rows = torch.arange(R, device=z.device).repeat_interleave(O)
        z = tree_take(task, rows).inside(z.flatten(0, 1)).view_as(z)
        ended = min((t & -t).bit_length(), O - 1)  # lengths that divide t: the lowest orders
        fresh = self._mean(z, logs)[:, None].expand(-1, ended, -1)
        z = torch.cat([fresh, z[:, ended:]], 1)
        logs = torch.cat([torch.zeros_like(logs[:, :ended]), logs[:, ended:]], 1)
        return FullInformationState(z, logs, t)


@frozen_dataclass
class StaticBaseline(ReferenceRule):
    """Plays 0 and learns nothing."""

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task, points and answers against the model.

        Raises:
            ValueError: what is no task, a point outside the set, or answers outside [-1, 1].
        """
        check_round(task, action, y)

    def select(self, state: Heard, task: Task, draw: Draw) -> tuple[Tensor, Heard]:
        """0, R x d."""
        return state.total.new_zeros(len(state.total), task.cset.dim), state
