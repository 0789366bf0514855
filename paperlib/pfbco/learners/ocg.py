"""Online conditional gradient with one noisy gradient per round: full information, not a bandit method.

Source: Hazan, Introduction to Online Convex Optimization, online conditional gradient; the noise follows the experiments
of Chen, Zhang & Karbasi (2019).
Shapes: R trials, n dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ..model import Task
from .onepoint import check_inputs, check_point, check_task
from .pfbco import keep_on_zero_gradient


class OCGState(NamedTuple):
    """State of ``StochOCG``; ``A`` is eta times the sum of the noisy gradients."""

    x: Tensor  # R x n
    x1: Tensor  # R x n
    A: Tensor  # R x n
    eta: Tensor  # 1 or R
    rounds: int  # t - 1, finished rounds of this epoch


@frozen_dataclass
class StochOCG:
    """Stochastic online conditional gradient: Frank-Wolfe on the regularized sum of noisy gradients; it plays x_t itself.

    The learning rate is eta = D / (2 G T^{3/4}), and the Frank-Wolfe step is sigma_t = min(1, 2 / sqrt(t)).

    Attributes:
        noise: standard deviation of the noise per coordinate; None: the dimension n, as in the paper's experiments.
        bound: the G in eta. "gradient" bounds the exact gradient; "noisy" is sqrt(G^2 + n noise^2).
        tie: as in ``PFBCO``.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.pfbco import BallLinear, Doubling, StochOCG
        >>> from paperlib.play import play
        >>> trace = play(Doubling(StochOCG()), BallLinear(2), horizon=255, trials=10)
        >>> round(float(trace.last().mean()) / 255, 1)  # regret per round; the center has 1.0
        0.5
    """

    noise: float | None = fields.nonnegative(None, optional=True)
    bound: str = fields.one_of(("gradient", "noisy"), "gradient")
    tie: str = fields.one_of(("stay", "vertex"), "stay")
    wants = "gradient"
    tags = Tags(own_actions=False)  # the gradient is observed at x_t only

    def validate(self, task: Task, action: Tensor | None, gradient: Tensor | None) -> None:
        """Check the bounds and the shapes of action and gradient.

        Raises:
            ValueError: a bound that is not finite and above 0, or an action or a gradient that does not have n numbers.
        """
        check_task(task)
        if action is not None:
            check_point(task, action)
        if gradient is not None and gradient.shape[1:] != (task.cset.dim,):
            raise ValueError(
                f"feedback must be a gradient of {task.cset.dim} numbers, got shape {tuple(gradient.shape[1:])}"
            )

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> OCGState:
        """Return the first state, with x_1 = 0.

        Raises:
            ValueError: no horizon.
            RuntimeError: the oracle's set does not lie between its inner and outer balls.
        """
        check_inputs(self, task, horizon)
        return self._begin(task, horizon, torch.zeros(trials, task.cset.dim, **tkwargs))

    def restart(self, state: OCGState, task: Task, horizon: int, draw: Draw) -> OCGState:
        """Start a new epoch at x_1 = 0."""
        return self._begin(task, horizon, torch.zeros_like(state.x))

    def deviation(self, dim: int) -> float:
        """Return the standard deviation of the noise per coordinate."""
        return float(dim if self.noise is None else self.noise)

    def _begin(self, task: Task, horizon: int, x1: Tensor) -> OCGState:
        n, G = task.cset.dim, task.grad_bound
        # The noise adds n noise^2 to the expected squared norm of a gradient. The paper does not state whether G includes it (E10).
        if self.bound == "noisy":
            G = (G**2 + n * self.deviation(n) ** 2).sqrt()
        return OCGState(x1, x1, torch.zeros_like(x1), task.cset.D / (2 * G) * horizon**-0.75, 0)

    def select(self, state: OCGState, task: Task, draw: Draw) -> tuple[Tensor, OCGState]:
        """Return x_t, R x n."""
        return state.x, state

    def update(
        self, state: OCGState, task: Task, x: Tensor, gradient: Tensor, draw: Draw
    ) -> OCGState:
        """Take a Frank-Wolfe step with the earlier gradients, then add this round's noisy gradient. ``gradient``: R x n."""
        t, n = state.rounds + 1, task.cset.dim
        # As in Algorithm 1, the step uses the gradients of earlier rounds only.
        direction = state.A + 2 * (state.x - state.x1)
        v = keep_on_zero_gradient(self.tie, direction, state.x, task.cset.lmo(direction))
        after = torch.lerp(state.x, v, min(1.0, 2 / t**0.5))
        # The learner adds the noise itself, so that the problem's gradients stay exact.
        heard = gradient + self.deviation(n) * draw.normal("gradient noise", n)
        A = torch.addcmul(state.A, state.eta.unsqueeze(1), heard)
        return state._replace(x=after, A=A, rounds=t)
