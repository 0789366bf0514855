"""Exponential families with natural parameters on the whole line.

A reward r at natural parameter z has density exp((r z - m(z)) / g + h(r)), mean mu(z) = m'(z) and variance
g mu'(z). Every function here is elementwise on float64 tensors of any shape and any device.

Source: Zhang, Xu, Zhao & Sugiyama (2025), Section 2, Assumptions 2 and 3.
Letters: m log-partition function, mu mean, g dispersion, R self-concordance (|mu''| <= R mu'), S norm bound.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from scipy.special import expit, ndtri, pdtr
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Array, can_branch_on_values
from ...core.streams import CLIP
from ...core.validation import LARGEST, raise_invalid

LARGEST_Z = 700.0  # e^z and its square roots stay finite in float64
LARGEST_S = 69.0  # e^S is at most 1e30, as settings are
LARGEST_COUNT = 1e12  # of a Poisson reward; sums of squares stay exact enough to invert
# Poisson means from which three Cornish-Fisher terms are exact to .01 of a count even 8 deviations out; there the
# library's incomplete gamma function loses digits beyond 4.5 deviations.
NORMAL_FROM = 2.0**20
WALK = 16  # steps of the masked form


class Link(ABC):
    """A family: what learners, problems and bounds need to know about the reward.

    Attributes:
        self_concordance: R, |mu''| <= R mu' on the whole line (Assumption 3).
        dispersion: g > 0.
    """

    self_concordance: float = 1.0
    dispersion: float = 1.0

    @abstractmethod
    def log_partition(self, z: Tensor) -> Tensor:
        """m(z)."""

    @abstractmethod
    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        """mu(z) and mu'(z) of a tensor, a numpy array or a number, of the same kind; most families share the work."""

    def mean(self, z: Tensor) -> Tensor:
        """mu(z) = m'(z), the expected reward."""
        return self.mean_and_slope(z)[0]

    def slope(self, z: Tensor) -> Tensor:
        """mu'(z) = m''(z) > 0."""
        return self.mean_and_slope(z)[1]

    @abstractmethod
    def max_slope(self, norm_bound: float) -> float:
        """C_mu, the largest slope on [-S, S] (Assumption 2)."""

    @abstractmethod
    def min_slope(self, norm_bound: float) -> float:
        """c_mu, the smallest slope on [-S, S] (Assumption 2)."""

    @abstractmethod
    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        """Reward with the given mean as a monotone function of the uniform (Bernoulli 1{u < mu}, else inverse CDF). Both of one shape."""

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """Ends of an interval for the rewards at natural parameters from -z to z; by default the whole line.

        Each end is exceeded with probability at most e^-level. ``z``: at least 0, any shape.
        """
        return torch.full_like(z, -math.inf), torch.full_like(z, math.inf)

    def validate(self, reward: Tensor) -> None:
        """Check that rewards lie in the support.

        Raises:
            ValueError: a reward that the family never gives.
        """
        check_rewards(reward, reward.abs() <= LARGEST, f"finite numbers, up to {LARGEST:g} in size")


def check_rewards(reward: Tensor, inside: Tensor, allowed: str) -> None:
    """Raise ValueError naming the first reward for which ``inside`` is False."""
    if reward.device.type != "meta" and not bool(inside.all()):
        raise ValueError(f"reward={reward[~inside].flatten()[0].item()!r}; allowed: {allowed}")


@frozen_dataclass
class Bernoulli(Link):
    """Logistic model, rewards 0 or 1: m = ln(1 + e^z), mu = 1 / (1 + e^-z), R = 1, g = 1.

    R = 1 is the supremum of |mu''| / mu' = |1 - 2 mu| over the line; on [-S, S] it is tanh(S / 2).
    """

    fractional: bool = fields.one_of(
        (False, True), False
    )  # whether rewards strictly between 0 and 1 are accepted

    def log_partition(self, z: Tensor) -> Tensor:
        # torch's softplus is linear above 20 and loses 2e-9
        return torch.logaddexp(z, torch.zeros_like(z))

    def mean(self, z: Tensor) -> Tensor:
        return torch.sigmoid(z)

    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        sigmoid = torch.sigmoid if isinstance(z, Tensor) else expit
        p = sigmoid(z)
        return p, p * sigmoid(-z)  # p (1 - p) without cancellation

    def max_slope(self, norm_bound: float) -> float:
        return 0.25

    def min_slope(self, norm_bound: float) -> float:
        return (
            1 / (2 + 2 * math.cosh(norm_bound)) if norm_bound < LARGEST_Z else math.exp(-norm_bound)
        )

    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        return (uniform < mean).to(mean)

    def validate(self, reward: Tensor) -> None:
        if self.fractional:
            check_rewards(reward, (reward >= 0) & (reward <= 1), "[0, 1]")
        else:
            allowed = "0 or 1 (all of [0, 1] with fractional=True)"
            check_rewards(reward, (reward == 0) | (reward == 1), allowed)


_ONE = Bernoulli()


@frozen_dataclass
class Poisson(Link):
    """Counts: m = mu = mu' = e^z, R = 1, g = 1."""

    def log_partition(self, z: Tensor) -> Tensor:
        return torch.exp(z)

    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        mean = torch.exp(z) if isinstance(z, Tensor) else np.exp(z)
        return mean, mean

    def max_slope(self, norm_bound: float) -> float:
        return math.exp(norm_bound) if norm_bound < LARGEST_Z else math.inf

    def min_slope(self, norm_bound: float) -> float:
        return math.exp(-norm_bound)

    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        return poisson_quantile(mean, uniform)

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """From 0 to mu + sqrt(2 mu level) + level / 3, because a centered count is sub-gamma with variance factor mu and scale 1/3.

        Source: Boucheron, Lugosi & Massart (2013), "Concentration Inequalities", Section 2.4.
        """
        mean = self.mean(z)
        return torch.zeros_like(z), mean + (2 * level * mean).sqrt() + level / 3

    def validate(self, reward: Tensor) -> None:
        inside = (reward >= 0) & (reward.floor() == reward) & (reward <= LARGEST_COUNT)
        check_rewards(reward, inside, f"0, 1, 2, ..., up to {LARGEST_COUNT:g}")


@frozen_dataclass
class Gaussian(Link):
    """Linear model: m = z^2 / 2, mu = z, mu' = 1, R = 0, g the variance of the noise."""

    variance: float = fields.positive(1.0)  # g > 0, in squared units of the reward
    self_concordance = 0.0

    @property
    def dispersion(self) -> float:
        return self.variance

    def log_partition(self, z: Tensor) -> Tensor:
        return 0.5 * z * z

    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        return z, z**0  # ones of the kind and shape of z

    def max_slope(self, norm_bound: float) -> float:
        return 1.0

    def min_slope(self, norm_bound: float) -> float:
        return 1.0

    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        return mean + math.sqrt(self.variance) * torch.special.ndtri(uniform.clamp(CLIP, 1 - CLIP))

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """-z - sqrt(2 g level) to z + sqrt(2 g level), because the noise is sqrt(g)-sub-Gaussian."""
        most = z + math.sqrt(2 * self.variance * level)
        return -most, most


@frozen_dataclass
class Binomial(Link):
    """Successes of n tries: m = n ln(1 + e^z), R = 1, g = 1.

    Departure: the paper says that rewards in [0, n] have self-concordance n (erratum E2); here it is 1,
    because |mu''| / mu' = |1 - 2 p| whatever n is.
    """

    count: int = fields.whole(1, most=1000)  # n, tries a round, at most 1000

    def log_partition(self, z: Tensor) -> Tensor:
        return self.count * _ONE.log_partition(z)

    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        p, slope = _ONE.mean_and_slope(z)
        return self.count * p, self.count * slope

    def max_slope(self, norm_bound: float) -> float:
        return 0.25 * self.count

    def min_slope(self, norm_bound: float) -> float:
        return self.count * _ONE.min_slope(norm_bound)

    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        """Smallest k with F(k) >= u: counts the k < n with F(k) < u, from n + 1 log-probabilities."""
        n, k = self.count, torch.arange(self.count + 1, dtype=mean.dtype, device=mean.device)
        p = (mean / n).unsqueeze(-1)
        log_choose = math.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
        log_pmf = log_choose + torch.special.xlogy(k, p) + torch.special.xlog1py(n - k, -p)
        below = log_pmf.exp().cumsum(-1)[..., :-1] < uniform.clamp(CLIP, 1 - CLIP).unsqueeze(-1)
        return below.sum(-1).to(mean)

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """Hoeffding's inequality around the least and the largest mean, within 0 to n."""
        half = math.sqrt(self.count * level / 2)
        low, high = self.mean(-z) - half, self.mean(z) + half
        return low.clamp(min=0.0), high.clamp(max=float(self.count))

    def validate(self, reward: Tensor) -> None:
        inside = (reward >= 0) & (reward <= self.count) & (reward.floor() == reward)
        check_rewards(reward, inside, f"0, 1, ..., {self.count}")


# Departure: the paper lists the exponential distribution with R = 0; its ratio 2 / |z| is unbounded, and z < 0 (E3).
FAMILIES = (Bernoulli, Binomial, Gaussian, Poisson, Link)  # or a class of the user's on Link


def known_link(link: Any, families: tuple[type[Link], ...] = FAMILIES) -> None:
    """Raise ValueError unless ``link`` is an instance of one of the families."""
    if not isinstance(link, families):
        names = ", ".join(kind.__name__ for kind in families)
        raise_invalid("link", link, f"an instance of {names} (a family on the real line)")


def kappa_ball(link: Link, norm_bound: float) -> float:
    """kappa = 1 / c_mu over unit arms and ||theta|| <= S, the paper's definition (Section 2)."""
    smallest = link.min_slope(norm_bound)
    return 1 / smallest if smallest > 0 else math.inf


def link_loss(link: Link, z: Tensor, reward: Tensor) -> Tensor:
    """(m(z) - r z) / g, the part of the negative log-likelihood that depends on z."""
    return (link.log_partition(z) - reward * z) / link.dispersion


def poisson_quantile(mean: Tensor, uniform: Tensor) -> Tensor:
    """Smallest k >= 0 with F(k; mean) >= u, as ``scipy.stats.poisson.ppf``; from means of 2^20 on the start itself.

    Three Cornish-Fisher terms give a start that is right as a rule and at most 12 counts off, from which
    the CDF decides. On the CPU the walk ends once no row moves; elsewhere all rows take ``WALK`` steps, of
    which those after the answer change nothing, and no host synchronization happens.

    Args:
        mean: > 0, any shape.
        uniform: same shape, in [0, 1); clamped to [2^-53, 1 - 2^-53].
    """
    if can_branch_on_values(mean):
        return torch.from_numpy(_poisson_walk(mean.numpy(), uniform.numpy()))
    u = uniform.clamp(CLIP, 1 - CLIP)
    w = torch.special.ndtri(u)
    k = (mean + mean.sqrt() * w + (w * w - 4) / 6).ceil().clamp(min=0)
    large = mean >= NORMAL_FROM
    # F(k; mean) = Q(k + 1, mean), the regularized upper incomplete gamma function
    for _ in range(WALK):
        up = torch.special.gammaincc(k + 1, mean) < u
        down = torch.special.gammaincc(k, mean) >= u  # F(-1) = 0 comes out of itself
        k = torch.where(large, k, k + up.to(k) - down.to(k))
    return k


def _poisson_walk(mean: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """The same on the host."""
    u = np.clip(uniform.astype(np.float64), CLIP, 1 - CLIP)
    w = ndtri(u)
    # Mean, deviation and skewness; half a count less because F jumps at the integers.
    k = np.maximum(np.ceil(mean + np.sqrt(mean) * w + (w * w - 4) / 6), 0.0)
    moves = small = mean < NORMAL_FROM
    while np.any(moves):
        up = small & (pdtr(k, mean) < u)
        down = small & (pdtr(k - 1, mean) >= u)  # F(-1) is NaN, which is no step down
        k, moves = k + up - down, up | down
    return k
