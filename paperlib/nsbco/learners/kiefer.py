"""Two-sided finite differences, one step after all coordinates: stochastic approximation as it is taught.

Source: Kiefer & Wolfowitz (1952); step 1 / (sigma i) and width i^{-1/4} for concave f with noise; the form of constant gain
tracks a moving maximizer.
Shapes: R trials, d dimensions.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    Array,
    any_or_unknown,
    as_numpy_if_cpu,
    as_tensors,
    masked_fill,
    per_trial_values,
)
from ...core.streams import Draw
from ...core.validation import LARGEST
from ..model.task import OwnQueries, Task, unit


def tracking_gain(
    dim: int, concavity: float, smoothness: float, noise: float, drift: float, h: float
) -> float:
    """The constant gain K with the least regret where the maximizer moves by ``drift`` in every round (ours).

    For curvature sigma in all directions the regret per round is A / sqrt(K) + B K^2. The first term is noise and
    exploration, A = d s^2 / (8 sigma h^2) + sigma h^2 / 2. The second is the lag of 2 d K rounds, B = 2 sigma (d drift)^2.
    The minimum is at K = (A / (4 B))^{2/5}. K is at least L / sigma, so that a step is at most 1 / L.

    Args:
        dim: d.
        concavity, smoothness: sigma and L.
        noise: s, the standard deviation of a reward.
        drift: > 0, distance per round.
        h: of the width.
    """
    A = dim * noise**2 / (8 * concavity * h**2) + concavity * h**2 / 2
    B = 2 * concavity * (dim * drift) ** 2
    return min(LARGEST, max(smoothness / concavity, (A / (4 * B)) ** 0.4))


class FromZero(OwnQueries):
    """Begins and restarts at 0; ``_begin`` of a subclass makes the state that stands at a point."""

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> Any:
        """Return the state at 0; the horizon is not used."""
        return self._begin(torch.zeros(trials, task.cset.dim, **tkwargs))

    def restart(self, state: Any, task: Task, horizon: int | None, draw: Draw) -> Any:
        """Return the state at 0; a difference that is not complete is lost."""
        return self._begin(torch.zeros_like(state.z))


@frozen_dataclass
class FiniteDifferences(FromZero):
    """Stochastic approximation by finite differences.

    Attributes:
        gain: K > 0, a number or one per trial; None: what the subclass takes in its place.
        h: > 0, of the width of a difference.

    Raises:
        ValueError: a value out of range.
    """

    gain: float | Tensor | None = fields.positive(None, by_trial=True, optional=True)
    h: float = fields.positive(0.25)


class KieferWolfowitzState(NamedTuple):
    """Every leaf has R rows of its own, so that trials can begin anew apart."""

    z: Tensor  # R x d
    g: Tensor  # R x d, coordinates of the estimated gradient so far
    up: Tensor  # R, y_+, what was heard at z + delta_i e_j
    i: Tensor  # R, the iteration, 1, 2, ... since the start; no integer's type, whose powers torch rounds
    k: Tensor  # R int64, rounds of this iteration, of 2 d


@frozen_dataclass
class KieferWolfowitz(FiniteDifferences):
    """z <- P(z + (1 / (sigma i)) g) with g_j = (y_+ - y_-) / (2 delta_i), every 2 d rounds.

    delta_i = min(c_0, h i^{-1/4}). With ``gain`` K step and width are those of i = K in every iteration: KWtrack, which never
    settles and therefore follows what moves. Its memory is 2 d K rounds, 200 d with K = 100: what moves faster needs a smaller
    K, see ``tracking_gain``. It begins at 0.

    Attributes:
        h: > 0, of the width delta_i.
        gain: K > 0, a number or one a trial; None: steps diminish.

    Raises:
        ValueError: a value out of range.
    """

    def rounds_before_step(self, task: Task, step: int = 1) -> int:
        """Rounds before the first move of the center, or a later one: 2 d each."""
        return 2 * task.cset.dim * step

    def _begin(self, z: Tensor) -> KieferWolfowitzState:
        zero = z.new_zeros(len(z))
        return KieferWolfowitzState(z, z, zero, zero + 1, torch.zeros_like(zero, dtype=torch.int64))

    def _clock(self, i: Array) -> Array | float:
        """i, or K in its place."""
        if self.gain is None:
            return i
        K = per_trial_values(self.gain)
        whole = isinstance(self.gain, Tensor) and not self.gain.is_floating_point()
        return K + 0.0 * i if whole else K  # of whole numbers torch takes powers in float32

    def _width(self, task: Task, i: Array) -> Array:
        """delta_i, R or 1."""
        return as_numpy_if_cpu(task.margin)[0].clip(max=self.h * self._clock(i) ** -0.25)

    def select(
        self, state: KieferWolfowitzState, task: Task, draw: Draw
    ) -> tuple[Tensor, KieferWolfowitzState]:
        """x_t = z + delta_i e_1, z - delta_i e_1, z + delta_i e_2, .... Returns R x d."""
        z, i, k = as_numpy_if_cpu(state.z, state.i, state.k)
        sign = 1 - 2 * (k & 1)  # + first
        x = z + unit(k >> 1, z.shape[1]) * (sign * self._width(task, i))[:, None]
        return as_tensors(x)[0], state

    def update(
        self, state: KieferWolfowitzState, task: Task, x: Tensor, y: Tensor, draw: Draw
    ) -> KieferWolfowitzState:
        """A coordinate after two rounds, a step after 2 d. ``y``: R."""
        z, g, up, i, k, y, sigma = as_numpy_if_cpu(*state, y, task.concavity)
        xp = np if isinstance(z, np.ndarray) else torch
        second = (k & 1) == 1
        here = unit(k >> 1, z.shape[1]) & second[:, None]
        slope = (up - y) / (2 * self._width(task, i))
        g, up, k = xp.where(here, slope[:, None], g), xp.where(second, up, y), k + 1
        done = k == 2 * z.shape[1]
        if any_or_unknown(done):
            step = 1 / (sigma * self._clock(i))
            moved = task.inside(as_tensors(z + g * step[:, None])[0])
            z = xp.where(done[:, None], as_numpy_if_cpu(moved)[0], z)
            i, k = i + done, masked_fill(k, done, 0)
        return KieferWolfowitzState(*as_tensors(z, g, up, i, k))
