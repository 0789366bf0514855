"""What the problems are built from: a world with f drawn, arms that stay the same, and functions in a kernel's space.

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019), Section 2.
Letters: R trials, A arms, d dimensions, n centers, F norm of f.

The arms stay the same in all rounds and trials, 1 x A x d. The regret of a round is max f - f(played arm), free of
noise. One normal a trial and round, purpose "noise", makes the reward, whatever the arm: all learners hear the same noise.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core.linalg import chosen_mean
from ...core.streams import Draw
from ...maths.gp import RBF, Kernel

CHUNK = 1 << 14  # arms whose kernel values are held at a time


class World(NamedTuple):
    """A problem with f drawn: f = sum_j c_j k(z_j, .) where coefficients are given, with ||f||^2 = c^T K_zz c."""

    arms: Tensor  # 1 x A x d
    means: Tensor  # R x A, or 1 x A where the trials share f: f of every arm
    best: Tensor  # R or 1, the largest of them
    coefficients: Tensor | None  # R x n, c
    centers: Tensor | None  # 1 x n x d, z


class FixedArms:
    """What the problems share. Subclasses are frozen dataclasses with a field ``noise``, and make the world."""

    noise: float

    def context(self, world: World, t: int) -> Tensor:
        """The arms, 1 x A x d, the same in every round."""
        return world.arms

    def respond(
        self, world: World, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Reward and regret of the arms ``action`` (R indices), R each."""
        mean = chosen_mean(world.means, action)
        return mean + self.noise * draw.normal("noise"), world.best - mean


class RBFArms(FixedArms):
    """Those with the kernel exp(-gamma ||x - y||^2), gamma a field."""

    gamma: float

    @property
    def kernel(self) -> RBF:
        """The kernel that learners are given; of a drawn f its own."""
        return RBF(self.gamma)


def even_grid(count: int, dim: int = 1, **tkwargs) -> Tensor:
    """The points i / (m - 1) of [0, 1]^d, m = count^{1/d} a side, 1 x count x d."""
    side = round(count ** (1 / dim))
    line = torch.arange(side, **tkwargs) / max(side - 1, 1)
    return torch.cartesian_prod(*[line] * dim).reshape(1, count, dim)


def expand(
    kernel: Kernel, arms: Tensor, centers: Tensor, coefficients: Tensor, norm: float
) -> World:
    """f = sum_j c_j k(z_j, .), scaled to the given norm.

    Args:
        arms: 1 x A x d.
        centers: 1 x n x d, z.
        coefficients: R x n, c before scaling.
        norm: F = ||f||.
    """
    square = ((coefficients @ kernel(centers[0], centers[0])) * coefficients).sum(1, keepdim=True)
    coefficients = coefficients * (norm * square.rsqrt())
    means = torch.cat([coefficients @ kernel(centers[0], part) for part in arms[0].split(CHUNK)], 1)
    return World(arms, means, means.amax(1), coefficients, centers)
