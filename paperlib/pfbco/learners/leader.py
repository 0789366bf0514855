"""The exact regularized leader, which Algorithm 1 tracks by Frank-Wolfe steps.

Source: Chen, Zhang & Karbasi (2019), the minimizer of (5), which they leave aside as no cheaper than a projection.
Shapes: R trials, n dimensions.
"""

from torch import Tensor

from ...core.describe import frozen
from ...core.streams import Draw
from ...core.validation import one_of
from ..model.task import Task
from .onepoint import State
from .pfbco import PFBCO


@frozen
class RegularizedLeader(PFBCO):
    """Plays x*_t + delta u with x*_t = argmin over (1 - alpha) K of F_t, the projection of x_1 - A / 2.

    It takes no Frank-Wolfe step, so that it has no ties to break.

    Raises:
        ValueError: ``regularized=False`` or ``tie="vertex"``.
    """

    projects = True

    def __post_init__(self):
        super().__post_init__()
        if not self.regularized:
            raise ValueError(
                "regularized=False; allowed: True, for F_t has no single minimizer without"
            )
        one_of("tie", self.tie, ("stay",))

    def update(self, state: State, task: Task, y: Tensor, loss: Tensor, draw: Draw) -> State:
        """The estimate of this round, then the next leader. ``y``: R x n, as proposed; ``loss``: R."""
        step, heard = self.estimate(state, task, loss, draw)
        A = state.A + step
        x = task.cset.project(state.x1 - A / 2, 1 - state.alpha)
        return state._replace(x=x, A=A, rounds=state.rounds + 1, heard=heard)
