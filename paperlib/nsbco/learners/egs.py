"""Estimated gradient steps (EGS) of diminishing size, with one query per step.

Source: Besbes, Gur & Zeevi (2015), who restart this estimated gradient step. The estimate has the one-point form of Flaxman, Kalai
& McMahan (2005) along a coordinate. We chose the constants of step and radius.
Shapes: R trials, d dimensions.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Array, as_numpy_if_cpu, as_tensors
from ...core.streams import Draw
from ..model.task import Task, unit
from .kiefer import FromZero


class EGSState(NamedTuple):
    """State with R separate rows in every leaf, so that trials can restart independently."""

    z: Tensor  # R x d
    i: Tensor  # R, the next step, 1, 2, ... since the start; a float, because torch computes powers of integers in float32


@frozen_dataclass
class EGS(FromZero):
    """EGS: z <- P(z + (1 / (sigma i)) g_i) with g_i = d y_i sign / h_i e_j from one query at z + sign h_i e_j.

    The coordinate j and the sign are random. The radius is h_i = min(c_0, h i^{-1/4}), the step is 1 / (sigma i), and z starts
    at 0.

    Source: Besbes, Gur & Zeevi (2015).

    Attributes:
        h: > 0, scale of the radius h_i; 1 is better than 1/4 and 1/2 for f with curvature 1.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.nsbco import EGS, QuadraticDrift, StaticBaseline
        >>> from paperlib.play import play
        >>> run = lambda learner: play(learner, QuadraticDrift(), 400, 4)["regret"][:, -1].mean()
        >>> bool(run(EGS()) < run(StaticBaseline()))
        True
    """

    h: float = fields.positive(1.0)

    def _begin(self, z: Tensor) -> EGSState:
        """Return the state at ``z``, R x d, before step 1."""
        return EGSState(z, z.new_ones(len(z)))

    def _query(self, state: EGSState, task: Task, draw: Draw) -> tuple[Array, Array]:
        """Return sign e_j, R x d, drawn uniformly from all 2 d, and h_i, R, both as NumPy arrays on the CPU."""
        d = state.z.shape[1]
        i, u, c0 = as_numpy_if_cpu(state.i, draw.uniform("explore"), task.margin)
        xp = np if isinstance(i, np.ndarray) else torch
        q = xp.floor(2 * d * u)
        sign = 1 - 2 * (q % 2)  # + where q is even
        return unit(q // 2, d) * sign[:, None], c0.clip(max=self.h * i**-0.25)

    def select(self, state: EGSState, task: Task, draw: Draw) -> tuple[Tensor, EGSState]:
        """Return the query x_t = z + sign h_i e_j, R x d."""
        side, width = self._query(state, task, draw)
        return as_tensors(as_numpy_if_cpu(state.z)[0] + side * width[:, None])[0], state

    def update(self, state: EGSState, task: Task, x: Tensor, y: Tensor, draw: Draw) -> EGSState:
        """Take one step along the estimated gradient and project onto X^o(c_0). ``y``: R."""
        # The same draw as in ``select`` gives the same direction again.
        side, width = self._query(state, task, draw)
        z, i, y, sigma = as_numpy_if_cpu(state.z, state.i, y, task.concavity)
        # The factor d compensates for estimating one random coordinate only.
        step = z.shape[1] * y / (width * sigma * i)
        moved, i = as_tensors(z + side * step[:, None], i + 1)
        return EGSState(task.inside(moved), i)
