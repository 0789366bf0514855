"""The information gain gamma_T: how much T observations can tell about f.

gamma_T = max over multisets of T arms of 1/2 ln det(I + K / lambda). The greedy design bounds it from below; its
concave relaxation to fractions of pulls bounds it from above, with a certificate that holds at any iterate, and so does
T gamma_1, which is smaller while T is.
Source: Calandriello et al. (2019), Section 2; Titterington (1976) for the multiplicative updates.
Letters: A arms, d dimensions, n_i pulls of arm i, s2_i scaled variance, T horizon, lambda ridge.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from scipy.stats import poisson
from torch import Tensor

from paperlib.core.linalg import first_best
from paperlib.maths.gp import RBF, Kernel

ITERATIONS = 5000  # of the multiplicative updates, at most


class Gain(NamedTuple):
    """gamma_T between its bounds."""

    horizon: int
    lower: float  # of the greedy design
    upper: float  # certified


def _gram(kernel: Kernel, arms: Tensor) -> Tensor:
    """K, A x A. ``arms``: A x d or 1 x A x d."""
    points = arms.reshape(arms.shape[-2:])
    return kernel(points, points)


def _fit(gram: Tensor, n: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """ln det(I + sum_i n_i phi_i phi_i^T / lambda), and s2 of all arms, A. ``n``: A, fractions allowed."""
    root = n.sqrt()
    eye = torch.eye(len(n), dtype=gram.dtype, device=gram.device)
    factor = torch.linalg.cholesky_ex(ridge * eye + root.unsqueeze(1) * gram * root).L
    half = torch.linalg.solve_triangular(factor, root.unsqueeze(1) * gram, upper=False)
    s2 = (gram.diagonal() - half.square().sum(0)).clamp(min=0) / ridge
    return 2 * factor.diagonal().log().sum() - len(n) * math.log(ridge), s2


def uniform_dimension(kernel: Kernel, arms: Tensor, horizon: float, ridge: float) -> float:
    """d_eff = sum_i n_i s2_i of the uniform design: every arm T / A times."""
    gram = _gram(kernel, arms)
    n = torch.full_like(gram.diagonal(), horizon / len(gram))
    _, s2 = _fit(gram, n, ridge)
    return float((n * s2).sum())


def greedy(kernel: Kernel, arms: Tensor, ridge: float, horizons: Sequence[int]) -> dict[int, float]:
    """1/2 ln det of the design that pulls the arm of largest variance, ties to the smallest index: at most gamma_T.

    Args:
        arms: A x d or 1 x A x d.
        ridge: lambda.
        horizons: T, any number of them.

    Returns:
        T -> value, ascending.
    """
    covariance, found, total = _gram(kernel, arms).clone(), {}, 0.0
    for t in range(1, max(horizons) + 1):
        variance = covariance.diagonal()
        best = int(first_best(variance[None]))
        total += 0.5 * math.log1p(float(variance[best]) / ridge)
        row = covariance[best] / (variance[best] + ridge).sqrt()
        covariance.addr_(row, row, alpha=-1.0)
        if t in horizons:
            found[t] = total
    return found


def _relax(
    gram: Tensor, ridge: float, horizon: float, n: Tensor, gap: float
) -> tuple[float, Tensor]:
    """A certified upper bound on gamma_T, and the fractional design behind it, from a first design ``n``."""
    # T gamma_1: determinants are below their diagonal's product
    best = 0.5 * horizon * math.log1p(float(gram.diagonal().max()) / ridge)
    n = n * (horizon / n.sum())
    for _ in range(ITERATIONS):
        log_det, s2 = _fit(gram, n, ridge)
        total = (n * s2).sum()
        # g is concave with gradient s2 / 2: g(m) <= g(n) + 1/2 sum_i (m_i - n_i) s2_i for all m with sum T
        slack = 0.5 * float(horizon * s2.max() - total)
        best = min(best, 0.5 * float(log_det) + slack)
        if slack <= gap or 0.5 * float(log_det) >= best:
            break
        n = n * s2 * (horizon / total)
    return best, n


def upper(
    kernel: Kernel, arms: Tensor, ridge: float, horizons: Sequence[int], gap: float = 0.01
) -> dict[int, float]:
    """Certified upper bounds on gamma_T by the concave relaxation; each horizon starts from the last one's design.

    Args:
        arms: A x d or 1 x A x d.
        ridge: lambda.
        horizons: T, any number of them.
        gap: between relaxation and certificate, at which the updates stop; the bound holds wherever they do.

    Returns:
        T -> bound, ascending.
    """
    gram, found = _gram(kernel, arms), {}
    n = torch.ones_like(gram.diagonal())
    for T in sorted(set(horizons)):
        # an arm that has left the support could not come back
        found[T], n = _relax(gram, ridge, T, n + 1e-3 * n.mean(), gap)
    return found


def information_gain(
    kernel: Kernel, arms: Tensor, ridge: float, horizons: Sequence[int], gap: float = 0.01
) -> list[Gain]:
    """gamma_T between greedy and certified bound. ``gap``: as for ``upper``."""
    low = greedy(kernel, arms, ridge, horizons)
    high = upper(kernel, arms, ridge, horizons, gap)
    return [Gain(T, low[T], high[T]) for T in low]


def gamma_pairs(
    kernel: Kernel, arms: Tensor, ridge: float, horizon: int
) -> tuple[tuple[int, float], ...]:
    """Pairs (t, upper bound on gamma_t) for ``Confidence(rule="gamma", gamma=...)``, t growing by a tenth up to the horizon."""
    times = [1]
    while times[-1] < horizon:
        times.append(min(max(times[-1] + 1, int(times[-1] * 1.1)), horizon))
    return tuple(upper(kernel, arms, ridge, times).items())


def gamma_at(kernel: Kernel, arms: Tensor, ridge: float) -> Callable[[int], float]:
    """T -> upper bound on gamma_T, for any T: what ``constants.informative_horizons`` asks for."""
    gram = _gram(kernel, arms)
    return lambda T: _relax(gram, ridge, T, torch.ones_like(gram.diagonal()), gap=0.05)[0]


def worst_of_gaussian(kernel: RBF, arms: Tensor, ridge: float, horizon: int) -> float:
    """A bound in closed form on ln det(I + K_T / lambda), so on 2 gamma_T, for k(x, y) = exp(-gamma ||x - y||^2): O(ln(T)^{d + 1}).

    Of Taylor's series of exp(2 gamma <x, y>) the terms below degree j span D = C(j - 1 + d, d) features, and the rest of
    k(x, x) = 1 is at most P(N >= j), N Poisson with mean 2 gamma rho^2 and rho the arms' largest distance from their middle,
    each dimension by its own gamma.
    As ln det is concave and grows with K, ln det <= D ln(1 + T / (lambda D)) + (T / lambda) P(N >= j): the smallest over j.

    Args:
        kernel: its gamma.
        arms: A x d or 1 x A x d.
        ridge: lambda.
        horizon: T.
    """
    points = arms.reshape(arms.shape[-2:])
    middle = (points.amax(0) + points.amin(0)) / 2
    d = points.shape[1]
    stretched = (points - middle) * points.new_tensor(kernel.gammas(d)).sqrt()  # gamma = 1 then
    mean, scaled = 2 * float(stretched.square().sum(1).max()), horizon / ridge
    best = horizon * math.log1p(1 / ridge)  # of the diagonal alone
    degree = 1
    while (features := math.comb(degree - 1 + d, d)) <= horizon:
        explained = features * math.log1p(scaled / features)
        best = min(best, explained + scaled * float(poisson.sf(degree - 1, mean)))
        if explained >= best:  # it grows with the degree
            break
        degree += 1
    return best
