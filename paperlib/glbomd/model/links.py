"""Exponential families of rewards whose natural parameter may be any real number.

A reward r at natural parameter z has density exp((r z - m(z)) / g + h(r)), mean mu(z) = m'(z) and variance
g mu'(z). For example, 0/1 rewards have m(z) = ln(1 + e^z), so that mu is the logistic function. Every function
here is elementwise on float64 tensors of any shape and any device.

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
LARGEST_S = 69.0  # up to here e^S is at most 1e30, the largest hyper-parameter allowed
LARGEST_COUNT = 1e12  # largest Poisson reward; sums of squares stay exact enough to invert
# From this Poisson mean on, the three Cornish-Fisher terms are exact to 0.01 of a count, even 8 standard deviations
# from the mean. PyTorch's incomplete gamma function, in contrast, loses digits there beyond 4.5 standard deviations.
NORMAL_FROM = 2.0**20
WALK = 16  # steps of the masked form of the search for the quantile


class Link(ABC):
    """Base class of the reward families. Learners, problems and bounds use only this interface.

    Attributes:
        self_concordance: R, with |mu''| <= R mu' on the whole real line (Assumption 3).
        dispersion: g > 0, the factor of the reward's variance g mu'(z).
    """

    self_concordance: float = 1.0
    dispersion: float = 1.0

    @abstractmethod
    def log_partition(self, z: Tensor) -> Tensor:
        """Return the log-partition function m(z)."""

    @abstractmethod
    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        """Return mu(z) and mu'(z), which share most of their computation in most families.

        ``z``: a tensor, a NumPy array or a number; the results have the same type.
        """

    def mean(self, z: Tensor) -> Tensor:
        """Return the expected reward, mu(z) = m'(z)."""
        return self.mean_and_slope(z)[0]

    def slope(self, z: Tensor) -> Tensor:
        """Return the slope of the mean, mu'(z) = m''(z) > 0."""
        return self.mean_and_slope(z)[1]

    @abstractmethod
    def max_slope(self, norm_bound: float) -> float:
        """Return C_mu, the largest slope on [-S, S] (Assumption 2)."""

    @abstractmethod
    def min_slope(self, norm_bound: float) -> float:
        """Return c_mu, the smallest slope on [-S, S] (Assumption 2)."""

    @abstractmethod
    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        """Return rewards with the given means, as a monotone function of the uniforms.

        Bernoulli rewards are 1{u < mu}; the other families use the inverse CDF. Both arguments have the same shape.
        """

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """Return the ends of an interval for rewards whose natural parameter is in [-z, z]; by default the whole line.

        Each end is exceeded with probability at most e^-level. ``z``: at least 0, any shape.
        """
        return torch.full_like(z, -math.inf), torch.full_like(z, math.inf)

    def validate(self, reward: Tensor) -> None:
        """Check that rewards are in the family's support.

        Raises:
            ValueError: a reward outside the support.
        """
        requirement = f"finite and at most {LARGEST:g} in absolute value"
        check_rewards(reward, reward.abs() <= LARGEST, requirement)


def check_rewards(reward: Tensor, inside: Tensor, requirement: str) -> None:
    """Raise ValueError that names the first reward for which ``inside`` is False; ``requirement`` describes the support."""
    if reward.device.type != "meta" and not bool(inside.all()):
        raise_invalid("reward", reward[~inside].flatten()[0].item(), requirement)


@frozen_dataclass
class Bernoulli(Link):
    """Logistic model with rewards 0 or 1: m = ln(1 + e^z), mu = 1 / (1 + e^-z), R = 1, g = 1.

    R = 1 is the supremum of |mu''| / mu' = |1 - 2 mu| over the whole line; on [-S, S] the supremum is tanh(S / 2).

    Examples:
        >>> import torch
        >>> from paperlib.glbomd import Bernoulli
        >>> link = Bernoulli()
        >>> link.mean(torch.tensor(0.0)).item(), link.max_slope(3.0)
        (0.5, 0.25)
    """

    fractional: bool = fields.one_of(
        (False, True), False
    )  # whether rewards strictly between 0 and 1 are accepted

    def log_partition(self, z: Tensor) -> Tensor:
        # torch's softplus is linear above 20, which would cause an error of 2e-9.
        return torch.logaddexp(z, torch.zeros_like(z))

    def mean(self, z: Tensor) -> Tensor:
        return torch.sigmoid(z)

    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        sigmoid = torch.sigmoid if isinstance(z, Tensor) else expit
        p = sigmoid(z)
        return p, p * sigmoid(-z)  # p (1 - p), without the cancellation of 1 - p for large z

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
            check_rewards(reward, (reward >= 0) & (reward <= 1), "a number from 0 to 1")
        else:
            requirement = "0 or 1 (a number from 0 to 1 with fractional=True)"
            check_rewards(reward, (reward == 0) | (reward == 1), requirement)


_ONE = Bernoulli()


@frozen_dataclass
class Poisson(Link):
    """Poisson model with rewards 0, 1, 2, ...: m = mu = mu' = e^z, R = 1, g = 1.

    Examples:
        >>> import torch
        >>> from paperlib.glbomd import Poisson
        >>> mean = torch.full((3,), 4.0, dtype=torch.float64)
        >>> Poisson().sample(mean, torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)).tolist()
        [2.0, 4.0, 7.0]
    """

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
        """Return 0 and mu + sqrt(2 mu level) + level / 3.

        The upper end follows because a centered count is sub-gamma with variance factor mu and scale 1/3.

        Source: Boucheron, Lugosi & Massart (2013), "Concentration Inequalities", Section 2.4.
        """
        mean = self.mean(z)
        return torch.zeros_like(z), mean + (2 * level * mean).sqrt() + level / 3

    def validate(self, reward: Tensor) -> None:
        inside = (reward >= 0) & (reward.floor() == reward) & (reward <= LARGEST_COUNT)
        check_rewards(reward, inside, f"an integer from 0 to {LARGEST_COUNT:g}")


@frozen_dataclass
class Gaussian(Link):
    """Linear model: m = z^2 / 2, mu = z, mu' = 1, R = 0, where g is the variance of the noise.

    Examples:
        >>> from paperlib.glbomd import Gaussian
        >>> link = Gaussian(variance=0.25)
        >>> link.dispersion, link.self_concordance
        (0.25, 0.0)
    """

    variance: float = fields.positive(1.0)  # g > 0, in squared units of the reward
    self_concordance = 0.0

    @property
    def dispersion(self) -> float:
        return self.variance

    def log_partition(self, z: Tensor) -> Tensor:
        return 0.5 * z * z

    def mean_and_slope(self, z: Array | float) -> tuple[Array, Array]:
        return z, z**0  # z**0 is one in every entry and has the type and shape of z

    def max_slope(self, norm_bound: float) -> float:
        return 1.0

    def min_slope(self, norm_bound: float) -> float:
        return 1.0

    def sample(self, mean: Tensor, uniform: Tensor) -> Tensor:
        return mean + math.sqrt(self.variance) * torch.special.ndtri(uniform.clamp(CLIP, 1 - CLIP))

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """Return -z - sqrt(2 g level) and z + sqrt(2 g level), because the noise is sqrt(g)-sub-Gaussian."""
        most = z + math.sqrt(2 * self.variance * level)
        return -most, most


@frozen_dataclass
class Binomial(Link):
    """Binomial model with the number of successes in n tries as reward: m = n ln(1 + e^z), R = 1, g = 1.

    Departure: the paper states that rewards in [0, n] have self-concordance n (erratum E2). Here it is 1,
    because |mu''| / mu' = |1 - 2 p| for every n.

    Examples:
        >>> from paperlib.glbomd import Binomial
        >>> link = Binomial(count=8)
        >>> link.self_concordance, link.max_slope(3.0)
        (1.0, 2.0)
    """

    count: int = fields.whole(1, most=1000)  # n, tries per round, at most 1000

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
        """Return the smallest k with F(k) >= u, as the number of k < n with F(k) < u, from n + 1 log-probabilities."""
        n, k = self.count, torch.arange(self.count + 1, dtype=mean.dtype, device=mean.device)
        p = (mean / n).unsqueeze(-1)
        log_choose = math.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
        log_pmf = log_choose + torch.special.xlogy(k, p) + torch.special.xlog1py(n - k, -p)
        below = log_pmf.exp().cumsum(-1)[..., :-1] < uniform.clamp(CLIP, 1 - CLIP).unsqueeze(-1)
        return below.sum(-1).to(mean)

    def interval(self, z: Tensor, level: float) -> tuple[Tensor, Tensor]:
        """Return Hoeffding's interval around the smallest and the largest mean, clipped to [0, n]."""
        half = math.sqrt(self.count * level / 2)
        low, high = self.mean(-z) - half, self.mean(z) + half
        return low.clamp(min=0.0), high.clamp(max=float(self.count))

    def validate(self, reward: Tensor) -> None:
        inside = (reward >= 0) & (reward <= self.count) & (reward.floor() == reward)
        check_rewards(reward, inside, f"an integer from 0 to {self.count}")


# Departure: the paper lists the exponential distribution, with R = 0. It is left out, because its natural parameter is
# restricted to z < 0 and its ratio |mu''| / mu' = 2 / |z| is unbounded there (erratum E3).
FAMILIES = (Bernoulli, Binomial, Gaussian, Poisson, Link)  # Link: a subclass that the user defines


def known_link(link: Any, families: tuple[type[Link], ...] = FAMILIES) -> None:
    """Raise ValueError unless ``link`` is an instance of one of the families."""
    if not isinstance(link, families):
        names = ", ".join(kind.__name__ for kind in families)
        names = f"one of {names}" if len(families) > 1 else names
        requirement = f"an instance of {names} (a family on the real line)"
        raise_invalid("link", link, requirement)


def kappa_ball(link: Link, norm_bound: float) -> float:
    """Return kappa = 1 / c_mu over arms in the unit ball and ||theta|| <= S, the paper's definition (Section 2)."""
    smallest = link.min_slope(norm_bound)
    return 1 / smallest if smallest > 0 else math.inf


def link_loss(link: Link, z: Tensor, reward: Tensor) -> Tensor:
    """Return (m(z) - r z) / g, the part of the negative log-likelihood that depends on z."""
    return (link.log_partition(z) - reward * z) / link.dispersion


def poisson_quantile(mean: Tensor, uniform: Tensor) -> Tensor:
    """Return the Poisson quantile, the smallest k >= 0 with F(k; mean) >= u, as ``scipy.stats.poisson.ppf`` does.

    The search starts at the sum of three Cornish-Fisher terms. This start is usually the quantile itself and is at
    most 12 counts off; from there the search moves by single counts, comparing the CDF with u. For means of 2^20 or
    more the start is returned.
    On the CPU the search stops when no row moves any more. On other devices all rows take ``WALK`` steps, so that
    no host synchronization is needed; steps after the quantile is reached change nothing.

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
    # F(k; mean) = Q(k + 1, mean), where Q is the regularized upper incomplete gamma function.
    for _ in range(WALK):
        up = torch.special.gammaincc(k + 1, mean) < u
        down = torch.special.gammaincc(k, mean) >= u  # k = 0 needs no special case: Q(0, mean) = 0
        k = torch.where(large, k, k + up.to(k) - down.to(k))
    return k


def _poisson_walk(mean: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Compute ``poisson_quantile`` on the host, with NumPy."""
    u = np.clip(uniform.astype(np.float64), CLIP, 1 - CLIP)
    w = ndtri(u)
    # The terms are mean, standard deviation and skewness, minus half a count because F jumps at the integers.
    k = np.maximum(np.ceil(mean + np.sqrt(mean) * w + (w * w - 4) / 6), 0.0)
    moves = small = mean < NORMAL_FROM
    while np.any(moves):
        up = small & (pdtr(k, mean) < u)
        down = small & (pdtr(k - 1, mean) >= u)  # F(-1) is NaN here, so k = 0 takes no step down
        k, moves = k + up - down, up | down
    return k
