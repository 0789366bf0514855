"""Assumptions and theorems of the paper, as functions that return a ``Check``, and the constants in them.

The lemmas, the consequences of Theorem 2 and the tables are in ``companion.glbomd.proofs``.
A bound takes estimates and matrices from a state by field name; it never imports a learner.
Source: Zhang, Xu, Zhao & Sugiyama (2025), Theorems 1 and 2 with their appendices. Where our constant differs from the
printed one, ``printed=True`` gives the paper's constant, and the erratum is named.
Letters: S norm bound, R self-concordance, g dispersion, C_mu largest slope on [-S, S], kappa = 1 / c_mu over the ball,
kappa_opt the paper's kappa_*, eta = 1 + R S step size, alpha = 3 eta / 2 spread of the mix loss, lambda ridge, beta_t radius,
d dimensions, T horizon.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import ndtr
from torch import Tensor

from ...checks import Check, informative_from, statement, vacuous_unless
from ...core.trace import Trace
from ...core.validation import check_in
from ..model.links import Link, kappa_ball
from ..model.setting import Setting

PAPER = "Zhang, Xu, Zhao & Sugiyama (2025)"
ROUNDING = 1e-10  # allowed relative error of identities that involve sums of cancelling terms


def ridge_shortfall(ridge: float, least: float) -> str:
    """Return a remark if the ridge is smaller than ``least``, the condition of a statement; else an empty string."""
    if ridge >= least * (1 - 1e-9):
        return ""
    return f"ridge {ridge:.3g} is below the condition, {least:.3g}"


FORMS = ("theory", "free", "sharp")


def ridge_condition(link: Link, norm_bound: float, dim: int, form: str = "sharp") -> float:
    """Return the smallest ridge that Theorem 1 covers, the maximum of three conditions.

    Lemma 4b requires 6 eta R S C_mu / g, and Lemma 7 requires 2 C_mu / g. The one-dimensional integral of Lemma 7
    requires a multiple of eta R^2. The multiple is 14 d in the paper ("theory"), 14 by Lemma 7' ("free": the factor
    d is not needed, erratum E11), and 0.516... by the sharp form of Lemma 7' ("sharp").

    Raises:
        ValueError: an unknown form.

    Examples:
        >>> from paperlib.glbomd import Bernoulli
        >>> [ridge_condition(Bernoulli(), norm_bound=3.0, dim=5, form=form) for form in ("theory", "sharp")]
        [280.0, 18.0]
    """
    check_in("form", form, FORMS)
    R, g, C = link.self_concordance, link.dispersion, link.max_slope(norm_bound)
    eta = 1 + R * norm_bound
    factor = {"theory": 14.0 * dim, "free": 14.0, "sharp": 1.5 * sharp_width() ** -2}[form]
    return max(factor * eta * R**2, max(6 * eta * R * norm_bound, 2) * C / g)


@cache
def sharp_width() -> float:
    """Return x* of Lemma 7', the largest R sigma for which E D <= 2 sigma^2 mu' / g.

    Lemma 7 then needs lambda >= alpha R^2 / x*^2 = (3 / 2) eta R^2 / x*^2. For the proof see ``lemma_7_sharp`` in
    ``companion.glbomd.proofs.lemmas``.
    """
    # (2 e^{x^2/2} Phi(x) - 1 - x sqrt(2/pi)) / x^2 increases from 1/2 and equals 2 at x*, so the root is unique.
    excess = lambda x: (
        2 * math.exp(x * x / 2) * ndtr(x) - 1 - x * math.sqrt(2 / math.pi) - 2 * x * x
    )
    return brentq(excess, 0.5, 4, xtol=1e-15)


class RegretBound(NamedTuple):
    """Theorem 2's regret bound at one horizon."""

    G1: float  # factor of sqrt(T / kappa_opt), the leading term
    G2: float  # lower-order term, polylogarithmic in T
    bound: float  # the bound on Reg_T


def regret_bound(
    setting: Setting,
    horizon: float,
    kappa_opt: float,
    *,
    printed: bool = False,
    tight: bool = False,
) -> RegretBound:
    """Return the bound of Theorem 2: with probability 1 - delta and every T, Reg_T <= ``bound``.

    Proof idea: Reg_T <= G1 sqrt(W) + 2 G2 with W = sum mu'(X_t^T theta*) <= T / kappa_opt + R Reg_T; solve this for
    Reg_T. The paper splits the rounds into two sets and applies the Cauchy-Schwarz inequality to each set. ``tight``
    applies it once to all rounds and solves the quadratic inequality exactly (erratum E18).

    Args:
        setting: the ridge has to satisfy Theorem 1's condition, and g lambda >= 1 (Lemma 11).
        horizon: T >= 1, possibly very large.
        kappa_opt: 1 / mean_t mu'(x_{t,*}^T theta*).
        printed: divide by the dispersion, as printed, instead of multiplying by it (erratum E6).
        tight: use the form with a single Cauchy-Schwarz inequality.
    """
    link, S, d, R = setting.link, setting.norm_bound, setting.dim, setting.link.self_concordance
    g, C, kappa, T = link.dispersion, setting.max_slope, kappa_ball(link, S), float(horizon)
    factor = 1 / g if printed else g
    # Departure: Eqs. (30), (33) and (35) divide by g. Here it is multiplied by g, because
    # ||x||_{H^{-1}} = sqrt(g) ||x||_{(g H)^{-1}} (erratum E6).
    growth = math.log1p(T * C / (g * d * setting.ridge))  # Eq. (31), by Lemma 11
    G1 = 2 * setting.radius(T) * math.sqrt(factor * 2 * d * (1 + C) * growth)
    # Departure: Eq. (32) lacks the factor kappa, which follows from Lemma 11 with z = X / sqrt(kappa) (erratum E17).
    growth = math.log1p(T / (g * kappa * d * setting.ridge))
    G2 = 8 * kappa * d * R * C * factor * setting.radius(T + 1) ** 2 * growth
    share = T / kappa_opt
    if tight:
        bound = 2 * G2 + G1**2 * R / 2 + G1 * math.sqrt(G1**2 * R**2 / 4 + 2 * G2 * R + share)
    else:
        bound = 2 * G2 + 2 * G1**2 * R + 2 * G1 * math.sqrt(G1**2 * R**2 + 2 * G2 * R + share)
    return RegretBound(G1, G2, bound)


def trivial_regret(link: Link, norm_bound: float, horizon: float) -> float:
    """Return the trivial regret bound that holds for every learner, (mu(S) - mu(-S)) T."""
    low, high = link.mean(torch.tensor([-norm_bound, norm_bound], dtype=torch.float64)).tolist()
    return (high - low) * horizon


class RegretRow(NamedTuple):
    """One row of the table with the values of Theorem 2."""

    ridge: float
    first_radius: float
    last_radius: float
    G1: float
    G2: float
    bound: float
    trivial: float
    informative_from: int | None


def regret_row(setting: Setting, horizon: int, kappa_opt: float, **form) -> RegretRow:
    """Evaluate Theorem 2, and find the first horizon where its bound is below the trivial (mu(S) - mu(-S)) T."""
    found = regret_bound(setting, horizon, kappa_opt, **form)
    radii = setting.radius(1), setting.radius(horizon)
    gap = trivial_regret(setting.link, setting.norm_bound, 1)
    first = informative_from(
        lambda T: regret_bound(setting, T, kappa_opt, **form).bound, lambda T: gap * T
    )
    return RegretRow(setting.ridge, *radii, *found, gap * horizon, first)


# Assumptions and theorems -------------------------------------------------------------------------------------


def _grid(reach: float) -> Tensor:
    """Return 2001 equidistant points of [-reach, reach], including both ends."""
    return torch.linspace(-reach, reach, 2001, dtype=torch.float64)


@statement("Assumption 1", f"{PAPER}, Assumption 1")
def assumption_1(arms: Tensor, truth: Tensor, norm_bound: float) -> Check:
    """||x|| <= 1 for every arm x, and ||theta*|| <= S.

    ``arms``: ... x d; ``truth``: theta*, ... x d.
    """
    lengths = [torch.linalg.vector_norm(x, dim=-1).flatten() for x in (arms, truth / norm_bound)]
    return assumption_1.statement.check(
        "||x|| <= 1, ||theta*|| / S <= 1", {"S": norm_bound}, torch.cat(lengths), 1.0
    )


@statement("Assumption 2", f"{PAPER}, Assumption 2")
def assumption_2(link: Link, norm_bound: float) -> Check:
    """c_mu <= mu'(z) <= C_mu for all z in [-S, S]; checked on a grid that contains both ends."""
    slope = link.slope(_grid(norm_bound))
    low, high = link.min_slope(norm_bound), link.max_slope(norm_bound)
    inputs = {"link": type(link).__name__, "S": norm_bound, "c_mu": low, "C_mu": high}
    observed = torch.stack([slope, -slope], -1)
    return assumption_2.statement.check("c_mu <= mu'(z) <= C_mu", inputs, observed, [high, -low])


@statement("Assumption 3", f"{PAPER}, Assumption 3")
def assumption_3(link: Link, reach: float) -> Check:
    """|mu''(z)| <= R mu'(z) for all z in [-reach, reach]; checked on a grid.

    The paper assumes it on [-S, S]. Theorem 1 needs it on the whole line, because the Gaussians P_s and Q_s have
    full support (erratum E3). Therefore check it with a large ``reach``, too.
    """
    R = link.self_concordance
    with torch.enable_grad():
        z = _grid(reach).requires_grad_()
        slope = link.slope(z)
        (second,) = torch.autograd.grad(slope.sum(), z)
    inputs = {"link": type(link).__name__, "reach": reach, "R": R}
    return assumption_3.statement.check(
        "|mu''(z)| <= R mu'(z)", inputs, second.abs(), R * slope.detach()
    )


@statement("Algorithm 1, choice", f"{PAPER}, Algorithm 1 and Eq. (6)")
def assumption_choice(behind: np.ndarray | Tensor, setting: Setting) -> Check:
    """X_t maximizes x^T theta_t + beta_t ||x||_{H_t^{-1}} over the arms, with ties up to rounding.

    Args:
        behind: the gap between the largest index and the index of X_t, R x T, as the probe ``OptimismGap`` records it.
        setting: the setting, whose radius defines the index.
    """
    return assumption_choice.statement.check(
        "(max_x index - index of X_t) / (max_x |index| + S), index x^T theta_t + beta_t ||x||_{H_t^{-1}}",
        setting.describe(),
        behind,
        ROUNDING,
    )


@statement("Theorem 1", f"{PAPER}, Theorem 1")
def theorem_1(ratio: np.ndarray | Tensor, setting: Setting) -> Check:
    """With probability 1 - delta: ||theta_t - theta*||_{H_t} <= beta_t for all t. The ridge is the printed one, or a smaller one that our proof covers (E11).

    The theorem is proved for ridges that are at least ``ridge_condition``. It is checked for any ridge, with a remark
    if the ridge is smaller. It is informative from the first round where the confidence set has a smaller volume
    than the known ball of radius S. At the earliest, this is when det H_t is as large as rewards and arms allow:
    lambda + C_mu (t - 1) / (g d) in all directions.

    Args:
        ratio: ||theta_t - theta*||_{H_t} / beta_t, R x T' (its maximum so far, or every round). It is recorded by the
            probe ``RadiusRatio``; the square root of ``Replay.error`` is its numerator.
        setting: the setting, with delta and the ridge.
    """
    growth = setting.max_slope / (setting.link.dispersion * setting.dim)
    # The geometric mean of the ellipsoid's half axes is computed for the largest possible det H_t, and compared with S.
    half_axis = lambda t: float(setting.radius(t)) / math.sqrt(setting.ridge + growth * (t - 1))
    return theorem_1.statement.check(
        "for all t: ||theta_t - theta*||_{H_t} / beta_t <= 1, with probability 1 - delta",
        setting.describe(),
        ratio,
        1.0,
        setting.delta,
        trivial=setting.norm_bound,
        informative_from=informative_from(half_axis, lambda t: setting.norm_bound),
        remark=ridge_shortfall(
            setting.ridge, ridge_condition(setting.link, setting.norm_bound, setting.dim)
        ),
    )


@statement("Theorem 2", f"{PAPER}, Theorem 2")
def theorem_2(trace: Trace, setting: Setting, kappa_opt: Callable[[int], float] | float) -> Check:
    """With probability 1 - delta: Reg_T <= 2 G2 + 2 G1^2 R + 2 G1 sqrt(G1^2 R^2 + 2 G2 R + T / kappa_*) for all T.

    G1 and G2 are computed by ``regret_bound``.

    Args:
        trace: with "regret", R x T'.
        setting: the setting of the learner.
        kappa_opt: kappa_*, a number or a function of the horizon. The value at the last recorded round is used for the
            comparison with the trivial bound.
    """
    share = kappa_opt if callable(kappa_opt) else lambda T: kappa_opt
    bound = [regret_bound(setting, T, share(int(T))).bound for T in trace.rounds]
    last = int(trace.rounds[-1])
    row = regret_row(setting, last, share(last))
    link, S = setting.link, setting.norm_bound
    at_least_1 = {"g lambda": link.dispersion * setting.ridge, "kappa": kappa_ball(link, S)}
    remarks = [
        ridge_shortfall(
            setting.ridge, ridge_condition(setting.link, setting.norm_bound, setting.dim)
        )
    ]
    remarks += [f"{name} = {value:.3g} < 1" for name, value in at_least_1.items() if value < 1]
    inputs = setting.describe() | {"kappa_opt": share(last), "G1": row.G1, "G2": row.G2}
    found = theorem_2.statement.check(
        "for all T: Reg_T <= 2 G2 + 2 G1^2 R + 2 G1 sqrt(G1^2 R^2 + 2 G2 R + T / kappa_opt)",
        inputs,
        trace["regret"],
        np.array(bound),
        setting.delta,
        trivial=row.trivial,
        informative_from=row.informative_from,
        remark="; ".join(filter(None, remarks)),
    )
    largest = trivial_regret(link, S, np.asarray(trace.rounds))
    return vacuous_unless((np.array(bound) < largest).any(), found)
