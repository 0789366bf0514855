"""The analysis's tools, which need no run: quadrature, and Lemmas 8, 9, 10, 12 and 13.

Source: Zhang, Xu, Zhao & Sugiyama (2025), with its appendices.
Letters: as in ``constants``.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check, statement
from paperlib.glbomd.model.links import Link, loss
from paperlib.glbomd.theory.bounds import PAPER

NODES, WEIGHTS = (torch.from_numpy(x) for x in np.polynomial.hermite.hermgauss(80))
LOG_WEIGHTS = WEIGHTS.log() - 0.5 * np.log(np.pi)
LEGENDRE = tuple(torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(64))


def slope_integrals(link: Link, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """int_0^1 mu'(z_1 + v (z_2 - z_1)) dv, and the same with weight 1 - v, by 64 Gauss-Legendre points; shapes as the ends."""
    v, weight = (LEGENDRE[0] + 1) / 2, LEGENDRE[1] / 2
    slope = link.slope(start.unsqueeze(-1) + v * (end - start).unsqueeze(-1))
    return (slope * weight).sum(-1), (slope * weight * (1 - v)).sum(-1)


def mixed(link: Link, reward: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """-ln E e^{-l(z)} for z ~ N(mean, deviation^2), l the loss of ``reward``; all of one shape.

    80 Gauss-Hermite points around the peak of e^{-l} times the density, in the width of the peak: a large reward
    makes it far narrower than the density. Exact for Gaussian rewards.
    """
    deviation = deviation.clamp(min=1e-150)  # the zero arm has none
    g, variance = link.dispersion, deviation.square()
    # The peak solves mu(z) - r + g (z - mean) / variance = 0, whose left side increases in z. The root is between these two.
    far = mean + variance * (reward - link.mean(mean)) / g
    low, high = torch.minimum(mean, far), torch.maximum(mean, far)
    for _ in range(64):
        middle = (low + high) / 2
        left = link.mean(middle) - reward + g * (middle - mean) / variance < 0
        low, high = torch.where(left, middle, low), torch.where(left, high, middle)
    width = (link.slope(high) / g + 1 / variance).rsqrt()
    z = high.unsqueeze(-1) + 2**0.5 * width.unsqueeze(-1) * NODES
    log_density = -0.5 * ((z - mean.unsqueeze(-1)) / deviation.unsqueeze(-1)).square()
    exponents = LOG_WEIGHTS + NODES**2 + log_density - loss(link, z, reward.unsqueeze(-1))
    return -(torch.logsumexp(exponents, -1) + (width / deviation).log())


def expectation(f: Callable[[Tensor], Tensor], mean: Tensor, deviation: Tensor) -> Tensor:
    """E f(z) for z ~ N(mean, deviation^2), the same points."""
    z = mean.unsqueeze(-1) + 2**0.5 * deviation.unsqueeze(-1) * NODES
    return (LOG_WEIGHTS.exp() * f(z)).sum(-1)


@statement("Lemma 8", f"{PAPER}, Lemma 8, (37)")
def lemma_8(link: Link, norm_bound: float, points: int = 61, *, printed: bool = False) -> Check:
    """Self-concordance bounds integrals of the slope, on all pairs of a grid of [-S, S].

    With D = |z_1 - z_2|: (a) int mu' >= mu'(z) / (1 + R D) for z = z_1 and z = z_2; (b) mu'(z_1) / (2 + R D)
    <= int (1 - v) mu' <= e^{R^2 D^2} mu'(z_1).

    Args:
        link: the family.
        norm_bound: S.
        points: of the grid.
        printed: the lower half of (b) also for z_2, "by symmetry" that the weight 1 - v does not have: false (E8).
    """
    grid = torch.linspace(-norm_bound, norm_bound, points, dtype=torch.float64)
    start, end = (x.flatten() for x in torch.meshgrid(grid, grid, indexing="ij"))
    R, distance = link.self_concordance, (end - start).abs()
    plain, weighted = slope_integrals(link, start, end)
    sides = [
        (link.slope(start) / (1 + R * distance), plain),
        (link.slope(end) / (1 + R * distance), plain),
        (link.slope(start) / (2 + R * distance), weighted),
        (weighted, torch.exp((R * distance).square()) * link.slope(start)),
    ]
    if printed:
        sides.append((link.slope(end) / (2 + R * distance), weighted))
    observed, bound = (torch.stack(side, -1) for side in zip(*sides))
    lower = "mu'(z)/(2+RD)" if printed else "mu'(z_1)/(2+RD)"
    inputs = {"link": type(link).__name__, "S": norm_bound, "points": points}
    return lemma_8.statement.check(
        f"mu'(z)/(1+RD) <= int mu', {lower} <= int (1-v) mu' <= e^{{R^2 D^2}} mu'(z_1)",
        inputs,
        observed,
        bound,
    )


@statement("Lemma 9", f"{PAPER}, Lemma 9 (Ville)")
def lemma_9(log_martingale: Tensor, delta: float) -> Check:
    """A nonnegative supermartingale that starts at 1 exceeds 1 / delta at any time with probability at most delta.

    Args:
        log_martingale: its logarithm, R trials x T rounds.
        delta: in (0, 1).
    """
    return lemma_9.statement.check(
        "for all t: ln M_t <= ln(1/delta), with probability 1 - delta",
        {"delta": delta},
        log_martingale,
        math.log(1 / delta),
        delta,
    )


@statement("Lemma 10", f"{PAPER}, Lemma 10")
def lemma_10(eigenvalues: Sequence[float], step: float, exponent: float) -> Check:
    """E e^{c ||theta||_2^2} <= 4/3 for theta ~ N(0, eta H^{-1}), if H >= lambda I with lambda >= 32 d eta c / 7.

    The left side in closed form: the product of (1 - 2 c eta / l_i)^{-1/2} over the eigenvalues l_i of H, infinite
    where a factor is not positive.

    Args:
        eigenvalues: of H, all > 0.
        step: eta.
        exponent: c.
    """
    factors = 1 - 2 * exponent * step / np.asarray(eigenvalues, float)
    observed = float(np.prod(factors) ** -0.5) if (factors > 0).all() else math.inf
    inputs = {"d": len(factors), "smallest eigenvalue": float(np.min(eigenvalues))}
    inputs |= {"eta": step, "c": exponent}
    return lemma_10.statement.check(
        "prod (1 - 2 c eta / l_i)^{-1/2} <= 4/3", inputs, observed, 4 / 3
    )


@statement("Lemma 12", f"{PAPER}, Lemma 12")
def lemma_12(
    link: Link,
    reward: float,
    prior: tuple[float, float],
    other: tuple[float, float],
    points: int = 20001,
) -> Check:
    """The mix loss by a change of measure: -ln E_P e^{-l} = E_Q l + KL(Q || P) - KL(Q || P*), P* proportional to P e^{-l}.

    In one dimension. The left side by Gauss-Hermite around its peak, the right one by the trapezoidal rule with P* normalized on
    its grid, so that the two share no number.

    Args:
        link: the family, which with ``reward`` gives the loss l(z).
        reward: r.
        prior: mean and standard deviation of P.
        other: mean and standard deviation of Q.
        points: of the grid.

    Returns:
        Check of |left - right| against 1e-8.
    """
    mix = mixed(link, *(torch.tensor(x, dtype=torch.float64) for x in (reward, *prior)))
    span = [m + sign * 10 * s for m, s in (prior, other) for sign in (-1, 1)]
    z = torch.linspace(min(span), max(span), points, dtype=torch.float64)
    root = math.sqrt(2 * math.pi)
    log_normal = lambda mean, sd: -0.5 * ((z - mean) / sd) ** 2 - math.log(sd * root)
    log_p, log_q, l = log_normal(*prior), log_normal(*other), loss(link, z, torch.tensor(reward))
    width = float(z[1] - z[0])
    log_star = log_p - l - (torch.logsumexp(log_p - l, 0) + math.log(width))
    integral = lambda f: float((log_q.exp() * f).sum()) * width
    right = integral(l) + integral(log_q - log_p) - integral(log_q - log_star)
    inputs = {"link": type(link).__name__, "reward": reward, "P": prior, "Q": other}
    return lemma_12.statement.check(
        "|mix loss - (E_Q l + KL(Q||P) - KL(Q||P*))|", inputs, abs(float(mix) - right), 1e-8
    )


def gaussian_kl(
    mean: Tensor, covariance: Tensor, other_mean: Tensor, other_covariance: Tensor
) -> Tensor:
    """KL(N(mean, covariance) || N(other_mean, other_covariance)); means ... x d, covariances ... x d x d. Returns ..."""
    half, other = torch.linalg.cholesky(covariance), torch.linalg.cholesky(other_covariance)
    square = lambda x: torch.linalg.solve_triangular(other, x, upper=False).square().sum((-1, -2))
    log_diagonal = lambda root: root.diagonal(dim1=-2, dim2=-1).log()
    spread, shift = square(half), square((mean - other_mean).unsqueeze(-1))
    log_det = 2 * (log_diagonal(other) - log_diagonal(half)).sum(-1)
    return 0.5 * (spread + shift - mean.shape[-1] + log_det)


@statement("Lemma 13", f"{PAPER}, Lemma 13")
def lemma_13(mean: Tensor, other_mean: Tensor, precision: Tensor, spread: float) -> Check:
    """KL between Gaussians of equal covariance alpha H^{-1} is ||mean - other_mean||_H^2 / (2 alpha).

    The general formula against the special one that Lemma 6 uses. Means ... x d, ``precision`` H ... x d x d,
    ``spread`` alpha.

    Returns:
        Check of the relative difference against 1e-9.
    """
    covariance = spread * torch.linalg.inv(precision)
    move = mean - other_mean
    special = (move * (precision @ move.unsqueeze(-1)).squeeze(-1)).sum(-1) / (2 * spread)
    general = gaussian_kl(mean, covariance, other_mean, covariance)
    inputs = {"d": mean.shape[-1], "alpha": spread}
    return lemma_13.statement.check(
        "|KL - ||theta_{s+1} - theta_s||_H^2 / (2 alpha)| / (1 + KL)",
        inputs,
        (general - special).abs() / (1 + special),
        1e-9,
    )
