"""Assumptions and theorems of the paper, each a function that returns a ``Check``.

Lemmas, what follows from Theorem 2 and the tables are in ``companion.glbomd.proofs``.
A bound takes estimates and matrices from a state by field name; it never imports a learner.
Source: Zhang, Xu, Zhao & Sugiyama (2025).
Letters: as in ``constants``; kappa = 1 / c_mu over the ball, kappa_opt the paper's kappa_*.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from ...checks import Check, informative_from, statement
from ...core.trace import Trace
from ..model.links import Link, kappa_ball
from ..model.setting import Setting
from .constants import PAPER, ROUNDING, regret_bound, regret_row, ridge_condition, shortfall


def _grid(reach: float) -> Tensor:
    """Points of [-reach, reach], both ends among them."""
    return torch.linspace(-reach, reach, 2001, dtype=torch.float64)


@statement("Assumption 1", f"{PAPER}, Assumption 1")
def assumption_1(arms: Tensor, truth: Tensor, norm_bound: float) -> Check:
    """||x|| <= 1 for every arm and ||theta*|| <= S. ``arms``: ... x d; ``truth``: ... x d."""
    lengths = [torch.linalg.vector_norm(x, dim=-1).flatten() for x in (arms, truth / norm_bound)]
    return assumption_1.statement.check(
        "||x|| <= 1, ||theta*|| / S <= 1", {"S": norm_bound}, torch.cat(lengths), 1.0
    )


@statement("Assumption 2", f"{PAPER}, Assumption 2")
def assumption_2(link: Link, norm_bound: float) -> Check:
    """c_mu <= mu'(z) <= C_mu on [-S, S]: on a grid with its ends."""
    slope = link.slope(_grid(norm_bound))
    low, high = link.min_slope(norm_bound), link.max_slope(norm_bound)
    inputs = {"link": type(link).__name__, "S": norm_bound, "c_mu": low, "C_mu": high}
    observed = torch.stack([slope, -slope], -1)
    return assumption_2.statement.check("c_mu <= mu'(z) <= C_mu", inputs, observed, [high, -low])


@statement("Assumption 3", f"{PAPER}, Assumption 3")
def assumption_3(link: Link, reach: float) -> Check:
    """|mu''(z)| <= R mu'(z), on a grid of [-reach, reach].

    The paper asks for it on [-S, S]; Theorem 1 needs it on the whole line, since the Gaussians P_s and Q_s have
    full support (erratum E3): call it with a large ``reach``, too.
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
def choice(behind: np.ndarray | Tensor, setting: Setting) -> Check:
    """X_t maximizes x^T theta_t + beta_t ||x||_{H_t^{-1}} over the arms, ties up to rounding.

    Args:
        behind: how far X_t is behind, R x T: what the probe ``Behind`` records in every round.
        setting: its radius.
    """
    return choice.statement.check(
        "(max_x index - index of X_t) / (max_x |index| + S), index x^T theta_t + beta_t ||x||_{H_t^{-1}}",
        setting.describe(),
        behind,
        ROUNDING,
    )


@statement("Theorem 1", f"{PAPER}, Theorem 1")
def theorem_1(ratio: np.ndarray | Tensor, setting: Setting) -> Check:
    """With probability 1 - delta, for all t: ||theta_t - theta*||_{H_t} <= beta_t.

    Proved for ridges from ``ridge_condition`` on; held against any, with a remark. It informs once the set is
    smaller, in volume, than the ball of radius S known beforehand, and that is at the earliest where det H_t is as
    large as rewards and arms can make it: lambda + C_mu (t - 1) / (g d) in all directions.

    Args:
        ratio: ||theta_t - theta*||_{H_t} / beta_t, R x T' (its maximum so far, or every round): what the probe
            ``RadiusRatio`` records, or ``Replay.error`` under the root.
        setting: its delta and ridge.
    """
    growth = setting.max_slope / (setting.link.dispersion * setting.dim)
    half_axis = lambda t: float(setting.radius(t)) / math.sqrt(setting.ridge + growth * (t - 1))
    return theorem_1.statement.check(
        "for all t: ||theta_t - theta*||_{H_t} / beta_t <= 1, with probability 1 - delta",
        setting.describe(),
        ratio,
        1.0,
        setting.delta,
        trivial=setting.norm_bound,
        informative_from=informative_from(half_axis, lambda t: setting.norm_bound),
        remark=shortfall(
            setting.ridge, ridge_condition(setting.link, setting.norm_bound, setting.dim)
        ),
    )


@statement("Theorem 2", f"{PAPER}, Theorem 2")
def theorem_2(trace: Trace, setting: Setting, kappa_opt: Callable[[int], float] | float) -> Check:
    """With probability 1 - delta, for all T: the regret is below G1- and G2-terms, see ``theory.regret_bound``.

    Args:
        trace: with "regret", R x T'.
        setting: as the learner's.
        kappa_opt: kappa_*, a number or a function of the horizon (the last recorded round's is used for the
            comparison with the trivial bound).
    """
    share = kappa_opt if callable(kappa_opt) else lambda T: kappa_opt
    bound = [regret_bound(setting, T, share(int(T))).bound for T in trace.rounds]
    last = int(trace.rounds[-1])
    row = regret_row(setting, last, share(last))
    link, S = setting.link, setting.norm_bound
    at_least_1 = {"g lambda": link.dispersion * setting.ridge, "kappa": kappa_ball(link, S)}
    remarks = [
        shortfall(setting.ridge, ridge_condition(setting.link, setting.norm_bound, setting.dim))
    ]
    remarks += [f"{name} = {value:.3g} < 1" for name, value in at_least_1.items() if value < 1]
    inputs = setting.describe() | {"kappa_opt": share(last), "G1": row.G1, "G2": row.G2}
    return theorem_2.statement.check(
        "for all T: Reg_T <= 2 G2 + 2 G1^2 R + 2 G1 sqrt(G1^2 R^2 + 2 G2 R + T / kappa_opt)",
        inputs,
        trace["regret"],
        np.array(bound),
        setting.delta,
        trivial=row.trivial,
        informative_from=row.informative_from,
        remark="; ".join(filter(None, remarks)),
    )
