"""Rewards whose uniforms are given. Letters: as in ``worlds``."""

from typing import Any

import torch
from torch import Tensor

from ...core.describe import frozen
from ...core.streams import Draw
from ...core.validation import array, refuse
from .worlds import World


@frozen(eq=False)
class GivenUniforms:
    """A problem whose reward uniforms are given, by trial: row i is that of trial i of the run.

    Attributes:
        problem: any problem of this room.
        uniforms: trials x rounds in [0, 1); a run may be shorter, not longer.
    """

    problem: Any
    uniforms: Tensor

    def __post_init__(self):
        if isinstance(self.problem, type) or not hasattr(self.problem, "respond"):
            refuse("problem", self.problem, "a problem")
        object.__setattr__(self, "uniforms", torch.from_numpy(array("uniforms", self.uniforms)))
        if self.uniforms.dim() != 2 or not bool(((self.uniforms >= 0) & (self.uniforms < 1)).all()):
            raise ValueError(
                f"uniforms: shape {tuple(self.uniforms.shape)}; allowed: trials x rounds, numbers in [0, 1)"
            )

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The problem's world with these uniforms.

        Raises:
            ValueError: not one row per trial, or fewer columns than rounds.
        """
        rows, columns = self.uniforms.shape
        if rows != trials or columns < horizon:
            raise ValueError(
                f"uniforms: shape {rows} x {columns}; allowed for this run: {trials} x at least {horizon}"
            )
        world = self.problem.init(trials, horizon, draw, **tkwargs)
        uniforms = self.uniforms[:, :horizon].to(**tkwargs)
        return world._replace(uniforms=uniforms.T.contiguous().unbind(0))

    def context(self, world: World, t: int) -> Tensor:
        """As the problem's."""
        return self.problem.context(world, t)

    def respond(
        self, world: World, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """As the problem's, from the given uniforms."""
        return self.problem.respond(world, t, action, wants, draw)
