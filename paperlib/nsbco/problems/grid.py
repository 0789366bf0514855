"""A drifting quadratic on a grid of arms, where the best arm in hindsight is known exactly.

Ours, for Lemma 4.1: any bandit algorithm for finitely many arms can be made weakly non-stationary.
Shapes: R trials or 1 where they share a tensor, K arms.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from ...core.linalg import chosen_mean
from ...core.streams import Draw
from ...core.validation import one_of, refuse
from .paths import STATIONARY, Path
from .quadratic import QuadraticDrift

STORED = 1 << 24  # numbers, at most, of a table of means


class World(NamedTuple):
    """Arms, and the means of all rounds."""

    arms: Tensor  # 1 x K x 1
    means: Tensor  # R or 1 x T x K
    variation: Tensor  # R or 1, V_T = sum over t of max over arms of |f_{t+1} - f_t|


@frozen
class GridDrift:
    """f_t(x) = b_t - (x - theta_t)^2 / 2 on K points evenly spaced in [-1, 1], with uniform noise.

    Attributes:
        path: how theta_t and b_t move.
        arms: K >= 1.
        amplitude: of the noise.
        environment: as of ``QuadraticDrift``.

    Raises:
        ValueError: a value out of range.
    """

    path: Path = STATIONARY
    arms: int = fields.size(5)
    amplitude: float = 0.1
    environment: int | None = None

    def __post_init__(self):
        self.line()  # checks the rest

    def line(self) -> QuadraticDrift:
        """The same on the whole interval."""
        return QuadraticDrift(self.path, 1, amplitude=self.amplitude, environment=self.environment)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The means of all arms in all rounds.

        Raises:
            ValueError: more of them than memory should hold.
        """
        paths = trials if self.path.drawn and self.environment is None else 1
        if horizon * int(self.arms) * paths > STORED:
            most = STORED // (self.arms * paths)
            refuse("horizon", horizon, f"at most {most} with {self.arms} arms, {paths} paths")
        line, t = self.line(), np.arange(horizon)
        part = line.init(trials, horizon, draw, **tkwargs).path
        points = np.linspace(-1.0, 1.0, self.arms)
        theta = line.centers(part, t, horizon)  # R x T x 1
        means = line.path.value(part, t, horizon)[:, :, None] - (points - theta) ** 2 / 2
        V = abs(np.diff(means, axis=1)).max(2).sum(1)
        tensor = lambda x: torch.from_numpy(np.ascontiguousarray(x)).to(**tkwargs)
        return World(tensor(points[None, :, None]), tensor(means), tensor(V))

    def context(self, world: World, t: int) -> Tensor:
        """The arms, 1 x K x 1."""
        return world.arms

    def respond(
        self, world: World, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """y_t and the best arm's mean less the played one's, R each. ``action``: R indices."""
        one_of("wants", wants, ("reward",))
        means = world.means[:, t]
        f = chosen_mean(means, action)
        return f + self.amplitude * (2 * draw.uniform("reward") - 1), means.amax(1) - f
