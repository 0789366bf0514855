"""Fresh arms each round, uniform in the unit ball.

Source: Zhang, Xu, Zhao & Sugiyama (2025), Figures 1-3. Letters: as in ``worlds``.
"""

import numpy as np
import torch

from ...core import fields
from ...core.describe import frozen
from ...core.linalg import first_best
from ...core.streams import Draw
from ..model.links import Bernoulli, Link
from .worlds import Known, Moment, Redrawn, World, _check, sphere_instance


@frozen
class SphereArms(Known):
    """K fresh arms each round, uniform in the unit ball, and theta* on the sphere of radius S.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figures 1-3. One instance serves all trials, which differ in
    their reward noise alone; its draws do not depend on S, and a shorter horizon is a prefix.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d.
        arms: K.
        seed: of the instance.
        redraw: draw theta* and the arms afresh in every trial, from the trial's own streams: ours, because
            one instance cannot support a general claim. Oracle quantities are then undefined.
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = 5
    arms: int = 20
    seed: int = 109832
    redraw: bool = fields.one_of((False, True), False)

    def __post_init__(self):
        _check(self)

    def natural(self, horizon: int) -> np.ndarray:
        """z = x^T theta* of all arms, T x K.

        Raises:
            ValueError: ``redraw`` is on: every trial has its own.
        """
        if self.redraw:
            raise ValueError(
                "redraw=True; allowed: False, for quantities of one instance that all trials share"
            )
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        return arms @ (self.norm * theta)

    def longest_regret(self, horizon: int) -> float:
        """Total regret of always playing the longest arm."""
        _, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        means = self.means(horizon)
        longest = first_best((arms * arms).sum(2))
        return float((means.max(1) - means[np.arange(horizon), longest]).sum())

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The instance, or R of them, for ``horizon`` rounds."""
        if self.redraw:
            rounds = Redrawn(self.link, self.norm, self.dim, self.arms, draw.streams, horizon)
            return World(rounds.theta, rounds)
        theta, arms = sphere_instance(self.dim, self.arms, self.seed, horizon)
        values = (self.norm * theta, arms, self.means(horizon))
        theta, arms, means = (torch.tensor(x, **tkwargs) for x in values)
        rounds = map(Moment, arms.split(1), means.split(1), means.amax(1).split(1))
        return World(theta.unsqueeze(0), tuple(rounds))
