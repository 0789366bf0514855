"""One arm set for all rounds. Letters: as in ``worlds``."""

import numpy as np
import torch

from ...core import fields
from ...core.describe import frozen
from ...core.linalg import inner
from ...core.streams import Draw
from ..model.links import Bernoulli, Link
from .worlds import Bandit, Moment, World, _check


@frozen
class FixedArms(Bandit):
    """One arm set for all rounds and a theta* per trial, uniform on the sphere of radius S.

    Fresh arms explore for whoever acts greedily; here exploring is the learner's own task.

    Attributes:
        link: family of the rewards.
        norm: S = ||theta*||_2.
        dim: d.
        arms: K.
        shape: "ball" or "sphere", where the arms are uniform.
        seed: of the arm set that the trials share.
        per_trial: every trial has an arm set of its own, from its streams; the context is then R x K x d.
    """

    link: Link = Bernoulli()
    norm: float = 3.0
    dim: int = 5
    arms: int = 20
    shape: str = fields.one_of(("ball", "sphere"), "ball")
    seed: int = 0
    per_trial: bool = fields.one_of((False, True), False)

    def __post_init__(self):
        _check(self)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The arm set and the trials' theta*, drawn from their streams (purpose "problem theta")."""
        if self.per_trial:
            v = draw.normal("problem direction", self.arms, self.dim)
            rho = draw.uniform("problem level", self.arms)
        else:
            generator = np.random.default_rng(self.seed)
            v = torch.tensor(generator.standard_normal((1, self.arms, self.dim)), **tkwargs)
            rho = torch.tensor(generator.random((1, self.arms)), **tkwargs)
        length = rho ** (1 / self.dim) if self.shape == "ball" else torch.ones_like(rho)
        arms = v * (length / torch.linalg.vector_norm(v, dim=-1)).unsqueeze(-1)
        theta = self.norm * draw.sphere("problem theta", self.dim)
        means = self.link.mean(inner(arms, theta))
        return World(theta, (Moment(arms, means, means.amax(1)),) * horizon)
