"""Lemmas about the mix loss, and the inequalities and integrals behind them.

Lemmas 8, 9, 10, 12 and 13 need no run; Lemmas 5, 6, 7 and 7' are about one. A loss depends on theta through X_s^T theta alone,
which is a Gaussian number: every expectation is a one-dimensional quadrature.
Source: Zhang, Xu, Zhao & Sugiyama (2025), with its appendices; Lemma 7' is our addition.
Letters: as in ``constants``; P_s = N(theta_s, alpha H_s^{-1}), m_s = -ln E_{P_s} e^{-l_s} the mix loss,
Q_s = N(theta_{s+1}, alpha H_s^{-1}), M_s = lambda / 2 I + sum over tau <= s of the Hessian of l_tau at theta_{tau+1},
D the Bregman divergence of l_s.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check, statement
from paperlib.glbomd.model.links import Link, loss
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.theory.constants import PAPER, sharp_width, shortfall

from .lemmas import Replay

NODES, WEIGHTS = (torch.from_numpy(x) for x in np.polynomial.hermite.hermgauss(80))
LOG_WEIGHTS = WEIGHTS.log() - 0.5 * np.log(np.pi)
LEGENDRE = tuple(torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(64))
BLOCK = 1 << 15  # rounds of all trials of a block


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
    return lemma_8.statement.check(
        f"mu'(z)/(1+RD) <= int mu', {lower} <= int (1-v) mu' <= e^{{R^2 D^2}} mu'(z_1)",
        {"link": type(link).__name__, "S": norm_bound, "points": points},
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
    least = float(np.min(eigenvalues))
    return lemma_10.statement.check(
        "prod (1 - 2 c eta / l_i)^{-1/2} <= 4/3",
        {"d": len(factors), "smallest eigenvalue": least, "eta": step, "c": exponent},
        observed,
        4 / 3,
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
    return lemma_12.statement.check(
        "|mix loss - (E_Q l + KL(Q||P) - KL(Q||P*))|",
        {"link": type(link).__name__, "reward": reward, "P": prior, "Q": other},
        abs(float(mix) - right),
        1e-8,
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
    return lemma_13.statement.check(
        "|KL - ||theta_{s+1} - theta_s||_H^2 / (2 alpha)| / (1 + KL)",
        {"d": mean.shape[-1], "alpha": spread},
        (general - special).abs() / (1 + special),
        1e-9,
    )


# The mix loss along a run ---------------------------------------------------------------------------------


def _in_blocks(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Apply a function to few trials at a time, because the quadrature's nodes take 80 times the memory. ``tensors``: R x T."""
    parts = (x.split(max(1, BLOCK // x.shape[1])) for x in tensors)
    return torch.cat([function(*part) for part in zip(*parts)])


def mix_loss(run: Replay) -> Tensor:
    """m_s for every round, R x T."""
    deviation = (run.setting.spread * run.width2).sqrt()
    return _in_blocks(partial(mixed, run.setting.link), run.reward, run.start_z, deviation)


def expected_divergence(run: Replay) -> Tensor:
    """E_{Q_s} D(theta, theta_{s+1}) for every round, R x T."""
    link, deviation = run.setting.link, (run.setting.spread * run.width2).sqrt()

    def divergence(center: Tensor, z: Tensor) -> Tensor:
        tangent = link.log_partition(center) + link.mean(center) * (z - center)
        return (link.log_partition(z) - tangent) / link.dispersion

    expected = lambda mean, sd: expectation(partial(divergence, mean.unsqueeze(-1)), mean, sd)
    return _in_blocks(expected, run.next_z, deviation)


def quadrature_ridge(setting: Setting, form: str) -> float:
    """The ridge that Lemma 7 asks for: max{k alpha R^2, 2 C_mu / g}, k = 64 d / 7, 64 / 7 or 0.344...."""
    R, g = setting.link.self_concordance, setting.link.dispersion
    factor = {"theory": 64 * setting.dim / 7, "free": 64 / 7, "sharp": sharp_width() ** -2}[form]
    return max(factor * setting.spread * R**2, 2 * setting.max_slope / g)


def log_martingale(run: Replay) -> Tensor:
    """L*_t - sum_{s<=t} m_s, R x T: its exponential is a nonnegative martingale with mean 1."""
    return run.true_loss - mix_loss(run).cumsum(1)


@statement("Lemma 5", f"{PAPER}, Lemma 5")
def lemma_5(run: Replay) -> Check:
    """The truth is not much worse than the mix loss: P(exists t: L*_t - sum_{s<=t} m_s >= ln(1/delta)) <= delta.

    e^{L* - sum m} is a nonnegative martingale with mean 1, for any estimates that do not look ahead; Lemma 9.
    Observed: L*_t - sum m_s, R x T, to hold in all rounds of a trial at once.
    """
    setting, delta = run.setting, run.setting.delta
    return lemma_5.statement.check(
        "for all t: L*_t - sum_{s<=t} m_s <= ln(1/delta), with probability 1 - delta",
        setting.describe(),
        log_martingale(run),
        math.log(1 / delta),
        delta,
    )


@statement("Lemma 6", f"{PAPER}, Lemma 6, informally Lemma 3")
def lemma_6(run: Replay, *, tight: bool = False) -> Check:
    """The mix loss is not much worse than the estimates after their update.

    sum m_s <= L+ + S_DH / (2 alpha) + 2 d alpha ln(2 + 2 C_mu t / (lambda g)), under Lemma 7's condition on the
    ridge. With alpha = 3 eta / 2 the last term has 3 d eta; the informal Lemma 3 prints half of it (erratum E5).

    Args:
        run: the run.
        tight: ln(1 + 2 C_mu t / (d lambda g)) instead, which the proof gives by trace and determinant (erratum E10).
    """
    setting, d, alpha = run.setting, run.setting.dim, run.setting.spread
    growth = 2 * setting.max_slope * run.rounds / (setting.ridge * setting.link.dispersion)
    log, text = torch.log(2 + growth), "ln(2 + 2 C_mu t / (lambda g))"
    if tight:
        log, text = torch.log1p(growth / d), "ln(1 + 2 C_mu t / (d lambda g))"
    return lemma_6.statement.check(
        f"sum m_s <= L+ + S_DH / (2 alpha) + 2 d alpha {text}",
        setting.describe(),
        mix_loss(run).cumsum(1),
        run.next_loss + run.moved / (2 * alpha) + 2 * d * alpha * log,
        remark=shortfall(setting.ridge, quadrature_ridge(setting, "sharp")),
    )


def _lemma_7(name: str, source: str, run: Replay, form: str, factor: float) -> Check:
    setting = run.setting
    # ln det M_s - ln det M_{s-1} by the determinant lemma; M_{s-1} = H_s - (lambda / 2) I
    gain = torch.log1p(run.curvature * run.width_square(shift=setting.ridge / 2))
    least = quadrature_ridge(setting, form)
    return Check(
        name,
        source,
        f"E_Qs D(theta, theta_{{s+1}}) <= {factor:g} alpha (ln det M_s - ln det M_{{s-1}})",
        setting.describe() | {"least ridge": least},
        expected_divergence(run),
        factor * setting.spread * gain,
        remark=shortfall(setting.ridge, least),
    )


@statement("Lemma 7", f"{PAPER}, Lemma 7")
def lemma_7(run: Replay, *, printed: bool = False) -> Check:
    """Curvature costs little: E_{Q_s} D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}).

    Under lambda >= max{64 d alpha R^2 / 7, 2 C_mu / g}. ``printed``: the factor alpha of (22), where the lemma and
    the sum over rounds have 2 alpha (erratum E7).
    """
    return _lemma_7("Lemma 7", lemma_7.statement.source, run, "theory", 1.0 if printed else 2.0)


@statement("Lemma 7', free of d", "ours, in place of Lemma 7")
def lemma_7_free(run: Replay) -> Check:
    """Lemma 7's inequality under lambda >= max{64 alpha R^2 / 7, 2 C_mu / g}: the factor d is not needed.

    Proof. D depends on theta through u = X_s^T (theta - theta_{s+1}) alone, and under Q_s u ~ N(0, sigma^2) with
    sigma^2 = alpha ||X_s||_{H_s^{-1}}^2 <= alpha / lambda. By Lemma 8 (b) D <= u^2 e^{R^2 u^2} mu'(z_1) / g with
    z_1 = X_s^T theta_{s+1}. By Cauchy-Schwarz E u^2 e^{R^2 u^2} <= sqrt(E u^4) sqrt(E e^{2 R^2 u^2}) =
    sqrt(3) sigma^2 (1 - 4 R^2 sigma^2)^{-1/4}, and R^2 sigma^2 <= 7/64 makes the last factor at most
    (16/9)^{1/4} = sqrt(4/3): in all E D <= 2 sigma^2 mu'(z_1) / g. The rest is as in ``lemma_7_sharp``. The paper
    bounds |u| by ||theta - theta_{s+1}||_2 first, a d-dimensional Gaussian, and pays d for it in Lemma 10.
    """
    return _lemma_7("Lemma 7', free of d", "ours", run, "free", 2.0)


@statement("Lemma 7', sharp", "ours, in place of Lemma 7")
def lemma_7_sharp(run: Replay) -> Check:
    """Lemma 7's inequality under lambda >= max{0.344... alpha R^2, 2 C_mu / g}, the constant being a root.

    Claim. Let |mu''| <= R mu' on the line, ||X_s|| <= 1, theta ~ Q_s = N(theta_{s+1}, alpha H_s^{-1}). Let x* > 0
    solve psi(x) = 2 x^2 with psi(x) = 2 e^{x^2/2} Phi(x) - 1 - x sqrt(2/pi), Phi the normal distribution
    function: x* = 1.704.... If lambda >= max{alpha R^2 / x*^2, 2 C_mu / g} and ||theta_{s+1}|| <= S, then
    E D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}).

    Proof. (1) One dimension. With z_1 = X_s^T theta_{s+1} and u = X_s^T (theta - theta_{s+1}), Taylor's formula with
    integral remainder gives D = (u^2 / g) int_0^1 (1 - v) mu'(z_1 + v u) dv. As |(ln mu')'| <= R,
    mu'(z_1 + w) <= mu'(z_1) e^{R |w|}, hence

        D <= (mu'(z_1) / g) u^2 int_0^1 (1 - v) e^{R |u| v} dv = mu'(z_1) (e^{R|u|} - 1 - R|u|) / (g R^2),

    read as mu'(z_1) u^2 / (2 g) for R = 0.
    (2) Expectation. u ~ N(0, sigma^2) with sigma^2 = alpha ||X_s||_{H_s^{-1}}^2 <= alpha / lambda, since H_s >= lambda I.
    With N standard normal and x = R sigma, E e^{x|N|} = 2 e^{x^2/2} Phi(x) and E |N| = sqrt(2/pi), so
    E D <= mu'(z_1) psi(x) / (g R^2).
    (3) The root. psi(x) / x^2 = sum over k >= 2 of E|N|^k x^{k-2} / k! is a power series with positive coefficients:
    it increases strictly from 1/2 at x = 0 to infinity and equals 2 at exactly one x*; psi(x) <= 2 x^2 iff x <= x*.
    Now x^2 = R^2 sigma^2 <= R^2 alpha / lambda <= x*^2 by the condition, so E D <= 2 sigma^2 mu'(z_1) / g
    = 2 alpha tr(H_s^{-1} A) with A = mu'(z_1) X_s X_s^T / g, the Hessian of l_s at theta_{s+1}. (R = 0: E D is a
    quarter of that, without a condition.)
    (4) Determinants. A <= (C_mu / g) I <= (lambda / 2) I as |z_1| <= S, so M_s = H_s - (lambda / 2) I + A <= H_s and
    tr(H_s^{-1} A) <= tr(M_s^{-1} (M_s - M_{s-1})) <= ln det M_s - ln det M_{s-1}, ln det being concave. QED.

    Summed over rounds this is Lemma 6; with Lemmas 4b and 5, Theorem 1 holds for
    lambda = max{0.516... eta R^2, 6 eta R S C_mu / g, 2 C_mu / g}.
    """
    return _lemma_7("Lemma 7', sharp", "ours", run, "sharp", 2.0)
