"""Estimated gradient steps of diminishing size, one query a step.

Source: Besbes, Gur & Zeevi (2015), the estimated gradient step that they restart, in the one-point form of Flaxman, Kalai
& McMahan (2005) along a coordinate; constants of step and radius are our choice.
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
    """Every leaf has R rows of its own, so that trials can begin anew apart."""

    z: Tensor  # R x d
    i: Tensor  # R, the step that comes, 1, 2, ... since the start; no integer's type, whose powers torch rounds


@frozen_dataclass
class EGS(FromZero):
    """z <- P(z + (1 / (sigma i)) g_i) with g_i = d y_i sign / h_i e_j from one query at z + sign h_i e_j.

    Source: Besbes, Gur & Zeevi (2015); h_i = min(c_0, h i^{-1/4}), step 1 / (sigma i). It begins at 0.

    Attributes:
        h: > 0, of the radius h_i; 1 is better than 1/4 and 1/2 where f has curvature 1.

    Raises:
        ValueError: a value out of range.
    """

    h: float = fields.positive(1.0)

    def _begin(self, z: Tensor) -> EGSState:
        return EGSState(z, z.new_ones(len(z)))

    def _query(self, state: EGSState, task: Task, draw: Draw) -> tuple[Array, Array]:
        """sign e_j, R x d, drawn uniformly of the 2 d, and h_i, R; both ``light``."""
        d = state.z.shape[1]
        i, u, c0 = as_numpy_if_cpu(state.i, draw.uniform("explore"), task.margin)
        xp = np if isinstance(i, np.ndarray) else torch
        q = xp.floor(2 * d * u)
        sign = 1 - 2 * (q % 2)  # + where q is even
        return unit(q // 2, d) * sign[:, None], c0.clip(max=self.h * i**-0.25)

    def select(self, state: EGSState, task: Task, draw: Draw) -> tuple[Tensor, EGSState]:
        """x_t = z + sign h_i e_j. Returns R x d."""
        side, width = self._query(state, task, draw)
        return as_tensors(as_numpy_if_cpu(state.z)[0] + side * width[:, None])[0], state

    def update(self, state: EGSState, task: Task, x: Tensor, y: Tensor, draw: Draw) -> EGSState:
        """One step along the estimated gradient, back into X^o(c_0). ``y``: R."""
        side, width = self._query(state, task, draw)
        z, i, y, sigma = as_numpy_if_cpu(state.z, state.i, y, task.concavity)
        step = z.shape[1] * y / (width * sigma * i)
        moved, i = as_tensors(z + side * step[:, None], i + 1)
        return EGSState(task.inside(moved), i)
