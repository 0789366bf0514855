"""Test problems with a known kernel: f from the kernel's RKHS, from its Gaussian process, linear, or zero.

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019), Figure 2 and the setting of Section 2. The paper has no
regret experiment; the other problems are our additions.
Letters: R trials, A arms, d dimensions, n centers, F norm of f, xi standard deviation of the noise.

The arms, 1 x A x d, are the same in all rounds and trials; each trial draws a separate f. The regret of a round is
max f - f(pulled arm), without noise. Each trial and round draws one normal number (purpose "noise") for the reward, whatever
the arm is. Therefore all learners receive the same noise.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.describe import frozen_dataclass
from ..core.linalg import argmax_first, arm_dot, take_mean
from ..core.streams import Draw, Streams
from ..core.trees import tree_where
from ..maths.gp import RBF, Kernel, Linear

ALL = 2000  # With at most this many arms, each arm is a center by default.
CENTERS = 200  # default number of centers for larger arm sets
# Multiple of k(x, x) that is added to K, so that a Gaussian process has a Cholesky factor. It adds 1e-5 of the
# process's standard deviation.
JITTER = 1e-10
ATTEMPTS = 10_000  # draws of f before an error is raised
SPECTRA = ("low", "poly", "flat")
CHUNK = 1 << 14  # number of arms whose kernel values are in memory at a time


class ArmsInstance(NamedTuple):
    """Problem instance: arms and a drawn f.

    If coefficients are given, f = sum_j c_j k(z_j, .) with ||f||^2 = c^T K_zz c.
    """

    arms: Tensor  # 1 x A x d
    means: Tensor  # R x A, or 1 x A if the trials share f: f of every arm
    best: Tensor  # R or 1, the largest mean
    coefficients: Tensor | None  # R x n, c
    centers: Tensor | None  # 1 x n x d, z


class FixedArms:
    """Base class of the problems. Subclasses are frozen dataclasses with a field ``noise`` whose ``init`` draws the instance."""

    noise: float

    def context(self, instance: ArmsInstance, t: int) -> Tensor:
        """Return the arms, 1 x A x d, the same in every round."""
        return instance.arms

    def respond(
        self, instance: ArmsInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return reward and regret of the arms ``action`` (R indices), R each."""
        mean = take_mean(instance.means, action)
        return mean + self.noise * draw.normal("noise"), instance.best - mean


class RBFArms(FixedArms):
    """Base class of the problems with the kernel exp(-gamma ||x - y||^2), where gamma is a field."""

    gamma: float

    @property
    def kernel(self) -> RBF:
        """Kernel for the learners; a drawn f has this kernel."""
        return RBF(self.gamma)


def even_grid(count: int, dim: int = 1, **tkwargs) -> Tensor:
    """Return the points i / (m - 1) of [0, 1]^d with m = count^{1/d} points per side, 1 x count x d."""
    side = round(count ** (1 / dim))
    line = torch.arange(side, **tkwargs) / max(side - 1, 1)
    return torch.cartesian_prod(*[line] * dim).reshape(1, count, dim)


def scale_function(
    kernel: Kernel, arms: Tensor, centers: Tensor, coefficients: Tensor, norm: float
) -> ArmsInstance:
    """Return the instance of f = sum_j c_j k(z_j, .), scaled to the given norm.

    Args:
        arms: 1 x A x d.
        centers: 1 x n x d, z.
        coefficients: R x n, c before scaling.
        norm: F = ||f||.
    """
    # ||f||^2 = c^T K_zz c, so that multiplying c by F / ||f|| gives the norm F.
    square = ((coefficients @ kernel(centers[0], centers[0])) * coefficients).sum(1, keepdim=True)
    coefficients = coefficients * (norm * square.rsqrt())
    means = torch.cat([coefficients @ kernel(centers[0], part) for part in arms[0].split(CHUNK)], 1)
    return ArmsInstance(arms, means, means.amax(1), coefficients, centers)


@frozen_dataclass
class RKHS(RBFArms):
    """Functions of known RKHS norm: arms in [0, 1]^d, and one f per trial of norm exactly F.

    The kernel is exp(-gamma ||x - y||^2). f = sum_j c_j k(z_j, .) with c standard normal, then scaled to norm F (purpose
    "problem").

    Attributes:
        arms: A.
        dim: d.
        gamma: > 0, of the kernel.
        norm: F > 0.
        noise: xi >= 0.
        centers: number of arms that are centers z, drawn with the arms; None for all of up to 2000 arms, and 200 of more.
        grid: arms on an even grid instead of uniform arms; A must then be the d-th power of an integer.
        instance: seed of the arms, which all trials share.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import RKHS, UniformArm
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50, dim=2, gamma=20.0)
        >>> play(UniformArm(), problem, horizon=10, trials=3)["regret"].shape
        (3, 10)
    """

    arms: int = fields.size(200)
    dim: int = fields.size(1)
    gamma: float = fields.positive(100.0)
    norm: float = fields.positive(3.0)
    noise: float = fields.nonnegative(0.1)
    centers: int | None = fields.size(None, optional=True)
    grid: bool = fields.one_of((False, True), False)
    instance: int = fields.whole(0, least=0)

    def __post_init__(self):
        if self.centers is not None and self.centers > self.arms:
            raise ValueError(f"centers must be at most arms={self.arms}, got {self.centers!r}")
        if self.grid and round(self.arms ** (1 / self.dim)) ** self.dim != self.arms:
            raise ValueError(
                f"arms must be an integer to the power of dim={self.dim} with grid=True, got {self.arms!r}"
            )

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ArmsInstance:
        """Draw arms and centers from the instance's seed, and f from the trials' streams (purpose "problem")."""
        # Arms come from a separate stream, so that they do not depend on the seed of the run.
        shared = Streams(self.instance, [0], **tkwargs).at(-1)
        if self.grid:
            arms = even_grid(self.arms, self.dim, **tkwargs)
        else:
            arms = shared.uniform("problem arms", self.arms, self.dim)
        centers, count = arms, self.centers or (self.arms if self.arms <= ALL else CENTERS)
        if count < self.arms:
            centers = arms[:, shared.uniform("problem centers", self.arms)[0].argsort()[:count]]
        return scale_function(self.kernel, arms, centers, draw.normal("problem", count), self.norm)


class _Line(RBFArms):
    """Base class of the problems on a grid of [0, 1]. Subclasses have a field ``arms``, the number of arms."""

    arms: int

    @property
    def left(self) -> int:
        """Number of arms in [0, 0.5], which are the first ones."""
        return (self.arms + 1) // 2


@frozen_dataclass
class WarmRKHS(_Line):
    """Functions on a grid of [0, 1] whose best arm is outside a warm start in [0, 0.5].

    f is drawn as for ``RKHS``. Each trial repeats the draw until the best arm is above ``beyond`` and its value exceeds
    the largest value on [0, 0.5] by more than ``lead``. Play it after warm-start rounds on the first ``left`` arms.

    Attributes:
        arms: A.
        gamma: > 0, of the kernel.
        norm: F > 0.
        noise: xi >= 0.
        beyond: in (0, 1), at most 1 - 1e-6.
        lead: >= 0.

    Raises:
        ValueError: a value out of range; from ``init``: no draw meets the conditions.

    Examples:
        >>> from paperlib.bkb import LazyBKB, Confidence, WarmRKHS
        >>> from paperlib.play import play
        >>> problem = WarmRKHS(arms=51)
        >>> learner = LazyBKB(problem.kernel, Confidence(noise=0.1, norm_bound=3.0))
        >>> play(learner, problem, horizon=10, trials=2)["regret"].shape, problem.left
        ((2, 10), 26)
    """

    arms: int = fields.size(201, least=3)
    gamma: float = fields.positive(100.0)
    norm: float = fields.positive(3.0)
    noise: float = fields.nonnegative(0.1)
    beyond: float = fields.positive(0.6, most=1 - 1e-6)
    lead: float = fields.nonnegative(0.3)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ArmsInstance:
        """Draw f from the trials' streams (purposes "problem 0", "problem 1", ..., one per attempt)."""
        arms = even_grid(self.arms, **tkwargs)
        kept, done = None, torch.zeros(trials, dtype=torch.bool, device=arms.device)
        # Each attempt has its own purpose, so that a trial's f does not depend on the other trials.
        for attempt in range(ATTEMPTS):
            coefficients = draw.normal(f"problem {attempt}", self.arms)
            instance = scale_function(self.kernel, arms, arms, coefficients, self.norm)
            lead = instance.best - instance.means[:, : self.left].amax(1)
            good = (arms[0, argmax_first(instance.means), 0] > self.beyond) & (lead > self.lead)
            if kept is not None:
                instance = tree_where(done, kept, instance)  # Trials that are done keep their f.
            kept, done = instance, done | good
            if bool(done.all()):
                return kept
        raise ValueError(
            f"beyond and lead must be attained by one of {ATTEMPTS} random functions, got beyond={self.beyond!r}, lead={self.lead!r}, norm={self.norm!r}, gamma={self.gamma!r}. Decrease beyond or lead"
        )


@frozen_dataclass
class GPDraw(_Line):
    """Draws of a Gaussian process on a grid of [0, 1], one per trial, with the kernel exp(-gamma (x - y)^2) of unit variance.

    Source: Figure 2; we read the paper's "bandwidth 100" as gamma. The figure evaluates only the first ``left`` arms.

    Attributes:
        arms: A.
        gamma: > 0, of the kernel.
        noise: xi >= 0.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import GPDraw, UniformArm
        >>> from paperlib.play import play
        >>> play(UniformArm(), GPDraw(arms=51), horizon=10, trials=3)["regret"].shape
        (3, 10)
    """

    arms: int = fields.size(1001, least=3)
    gamma: float = fields.positive(100.0)
    noise: float = fields.nonnegative(0.1)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ArmsInstance:
        """Draw f = L z with L L^T = K + 1e-10 I and z from the trials' streams (purpose "problem").

        The instance has no coefficients, because f is not in the kernel's RKHS and therefore has no norm.
        """
        arms = even_grid(self.arms, **tkwargs)
        # Without jitter K has no Cholesky factor, because it is singular up to rounding on a fine grid.
        K = self.kernel(arms[0], arms[0]) + JITTER * torch.eye(self.arms, **tkwargs)
        means = draw.normal("problem", self.arms) @ torch.linalg.cholesky(K).mT
        return ArmsInstance(arms, means, means.amax(1), None, None)


@frozen_dataclass
class LinearArms(FixedArms):
    """Linear functions: arms from N(0, diag(spectrum)), and one theta* per trial on the sphere of radius F.

    The arms are scaled so that the largest norm is 1.

    Attributes:
        spectrum: "low" for five ones, then 1e-3; "poly" for 1 / j; "flat" for ones.
        arms: A.
        dim: d.
        norm: F = ||theta*||_2 > 0.
        noise: xi >= 0.
        instance: seed of the arms, which all trials share.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import LinearArms, UniformArm
        >>> from paperlib.play import play
        >>> play(UniformArm(), LinearArms("poly", arms=50, dim=5), horizon=10, trials=3)["regret"].shape
        (3, 10)
    """

    spectrum: str = fields.one_of(SPECTRA, "low")
    arms: int = fields.size(200)
    dim: int = fields.size(30)
    norm: float = fields.positive(1.0)
    noise: float = fields.nonnegative(0.1)
    instance: int = fields.whole(0, least=0)
    kernel = Linear()  # of f

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ArmsInstance:
        """Draw the arms from the instance's seed, and theta* from the trials' streams (purpose "problem theta").

        The centers are the coordinate axes, so that theta* is the vector of coefficients.
        """
        j = torch.arange(1, self.dim + 1, **tkwargs)
        spectrum = {
            "low": torch.where(j <= 5, 1.0, 1e-3),
            "poly": 1 / j,
            "flat": torch.ones_like(j),
        }[self.spectrum]
        shared = Streams(self.instance, [0], **tkwargs).at(-1)
        arms = shared.normal("problem arms", self.arms, self.dim) * spectrum.sqrt()
        # A common factor makes the largest norm 1 and keeps the shape of the spectrum.
        arms = arms / torch.linalg.vector_norm(arms, dim=-1).amax()
        theta = self.norm * draw.sphere("problem theta", self.dim)
        means = arm_dot(arms, theta)
        return ArmsInstance(
            arms, means, means.amax(1), theta, torch.eye(self.dim, **tkwargs).unsqueeze(0)
        )


@frozen_dataclass
class SizedRBF:
    """Kernel s(x) s(y) exp(-gamma ||x - y||^2), where the last coordinate of a point is its size s.

    Attributes:
        gamma: > 0.
    """

    gamma: float = fields.positive(30.0)

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        return (
            RBF(self.gamma)(X[..., :-1], Y[..., :-1])
            * X[..., -1].unsqueeze(-1)
            * Y[..., -1].unsqueeze(-2)
        )

    def diag(self, X: Tensor) -> Tensor:
        return X[..., -1].square()


@frozen_dataclass
class UnevenArms(FixedArms):
    """Arms in the unit square with sizes uniform on [0.05, 1], the same in all trials; f = 0, so that rewards are noise.

    On these arms, BKB with the theory's oversampling drops pulls within hundreds of rounds, because k(x, x) goes down to
    0.0025. With k(x, x) = 1, in contrast, every pull is kept while t + lambda <= qbar, and a check of Theorem 3.1 could
    not fail.

    Attributes:
        arms: A.
        noise: xi >= 0.
        instance: seed of the arms.

    Raises:
        ValueError: a value out of range.
    """

    arms: int = fields.size(300)
    noise: float = fields.nonnegative(1.0)
    instance: int = fields.whole(0, least=0)
    kernel = SizedRBF()  # of these arms

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ArmsInstance:
        """Draw the arms, 1 x A x 3, from the instance's seed."""
        u = Streams(self.instance, [0], **tkwargs).at(-1).uniform("problem arms", self.arms, 3)
        arms = torch.cat([u[..., :2], 0.05 + 0.95 * u[..., 2:]], 2)
        # f = 0: the arms that a learner pulls depend on noise and variance alone.
        zero = torch.zeros(1, self.arms, **tkwargs)
        return ArmsInstance(arms, zero, zero[:, 0], None, None)
