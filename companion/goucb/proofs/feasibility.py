"""Statements about the balls of Phase II: that w* lies in them (Lemma 5.3), and what follows for regret (Lemmas 5.4 and 5.5).

Source: Liu & Wang (2023).
Letters: as in ``lemmas``; r_t = f* - f(x_t).
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check, Statement, statement, unless
from paperlib.goucb.theory.constants import PAPER, ROUNDING, Constants, Proof, stretch

from .lemmas import column, potential_bound
from .replay import Replay

# Lemma 5.3 ------------------------------------------------------------------------------------------------


@statement("Lemma 5.3, identity (13)", f"{PAPER}, proof of Lemma 5.3, (13)")
def identity_13(run: Replay) -> Check:
    """w_t - w* = Sigma_t^{-1} (sum g_i rho_i + sum g_i eta_i + lambda (w_0 - w*)), up to 1e-8.

    Flags what "Eq. (5), estimate" flags, and noise that was not heard.
    """
    return identity_13.statement.check(
        "||w_t - w* - Sigma_t^{-1} (...)|| <= 1e-8",
        run.inputs,
        torch.linalg.vector_norm(run.apart - run.along.identity, dim=2),
        ROUNDING,
    )


@statement("Lemma 5.3, Taylor", f"{PAPER}, proof of Lemma 5.3")
def remainder(run: Replay, curvature: Any) -> Check:
    """|rho_i| <= C_h / 2 ||w_i - w*||^2.

    Flags a C_h that does not hold where the estimates went (E5), and gradients that are none.

    ``curvature``: C_h, a number or R x 1.
    """
    return remainder.statement.check(
        "|rho_i| <= C_h / 2 ||w_i - w*||^2",
        run.inputs | {"C_h": float(column(curvature).max())},
        run.rho.abs(),
        column(curvature) / 2 * run.distance2[:, :-1].numpy() + 1e-12,
    )


@statement("Lemma 5.3", f"{PAPER}, Lemma 5.3, with all constants")
def containment(run: Replay, root: Any, delta: float, most: Any = math.inf) -> Check:
    """With probability 1 - delta, w* lies in all balls: ||w_t - w*||^2_{Sigma_t} <= beta_t.

    Vacuous where the balls hold all of W.

    Args:
        run: Phase II.
        root: sqrt(beta_t), a number or R x T.
        delta: failure probability.
        most: ||v - w_t||_{Sigma_t} of the farthest v in W, R x T, see ``Replay.far_corner2``.
    """
    check = containment.statement.check(
        "||w_t - w*||_{Sigma_t} <= sqrt(beta_t)",
        run.inputs,
        run.along.far2[:, :-1].sqrt(),
        root,
        delta,
    )
    return unless(bool((check.bound < np.asarray(most)).any()), check)


@statement("Lemma 5.3, localization", f"{PAPER}, proof of Lemma 5.3, with all constants")
def localization(run: Replay, c: Constants, p: Proof) -> Check:
    """With probability 1 - delta, ||w_t - w*|| <= R in all rounds, where lambda >= (3 / 2) C_h^2 R^2 T S.

    Vacuous where R is the diameter of W or more.

    Raises:
        ValueError: a lambda of the run below that of ``p``.
    """
    if float(run.ridge.min()) < p.ridge * (1 - ROUNDING):
        raise ValueError(f"ridge={float(run.ridge.min())}; allowed: at least {p.ridge}, as proved")
    check = localization.statement.check(
        "||w_t - w*||^2 <= R^2",
        run.inputs | {"R^2": p.far2, "beta_T": p.beta},
        run.distance2,
        p.far2,
        c.delta,
    )
    return unless(p.far2 < c.diameter2, check)


@statement("Functional containment", "ours, from Lemma 5.3 and Taylor's theorem")
def functional(
    run: Replay, root: Tensor, x: Tensor, rounds: Any, curvature: float, value: float, delta: float
) -> Check:
    """With probability 1 - delta, for all x: |f_x(w*) - f_x(w_t)| <= sqrt(beta_t) u_t(x) + beta_t C_h / (2 lambda).

    What Lemma 5.3 says of f, whichever of the equivalent parameters w* is. Vacuous where the bound is nowhere below 2 F.

    Args:
        run: Phase II.
        root: sqrt(beta_t), R x T.
        x: points to look at, N x d.
        rounds: t to look at.
        curvature: C_h.
        value: F.
        delta: failure probability.
    """
    found, bound, x = [], [], x.unsqueeze(0)
    true = run.model.value(run.truth, x.expand(len(run.w), -1, -1))
    for t in rounds:
        center, bonus = run.surface(t, x, root[:, t])
        found.append((true - center).abs())
        bound.append(bonus + (root[:, t].square() * curvature / (2 * run.ridge)).unsqueeze(1))
    check = functional.statement.check(
        "|f_x(w*) - f_x(w_t)| <= sqrt(beta_t) u_t(x) + beta_t C_h / (2 lambda)",
        run.inputs | {"points": x.shape[1], "rounds": list(rounds)},
        torch.stack(found, 2),
        torch.stack(bound, 2),
        delta,
    )
    return unless(bool((check.bound < 2 * value).any()), check)


# Lemmas 5.4 and 5.5 ---------------------------------------------------------------------------------------


def _inside(run: Replay, root: Tensor) -> Tensor:
    """R x T: whether w* lies in the ball of the round."""
    return run.along.far2[:, :-1].sqrt() <= root


def _instantaneous(
    of: Statement, run: Replay, root: Tensor, curvature: float, span: float, factor: float
) -> Check:
    inside = _inside(run, root)
    bound = 2 * root * run.along.u2.sqrt()
    bound = bound + factor * root.square() * curvature / run.ridge.view(-1, 1)
    check = of.check(
        f"r_t <= 2 sqrt(beta_t) u_t + {factor:g} beta_t C_h / lambda",
        run.inputs | {"C_h": curvature, "share with w* inside": float(inside.double().mean())},
        torch.where(inside, run.gaps, torch.zeros_like(run.gaps)),
        bound,
    )
    return unless(bool((inside & (bound < span)).any()), check)


@statement("Lemma 5.4", f"{PAPER}, Lemma 5.4, with half the remainder")
def lemma_5_4(run: Replay, root: Tensor, curvature: float, span: float) -> Check:
    """r_t <= 2 sqrt(beta_t) u_t + beta_t C_h / lambda in rounds with w* in the ball (E12), for the linearized acquisition, too.

    Flags points that do not maximize it. Vacuous where the bound is nowhere below the largest regret.

    Args:
        run: Phase II.
        root: sqrt(beta_t), R x T.
        curvature: C_h.
        span: the largest regret of a round, max f - min f.
    """
    return _instantaneous(lemma_5_4.statement, run, root, curvature, span, 1.0)


@statement("Lemma 5.4, printed", f"{PAPER}, Lemma 5.4")
def lemma_5_4_printed(run: Replay, root: Tensor, curvature: float, span: float) -> Check:
    """r_t <= 2 sqrt(beta_t) u_t + 2 beta_t C_h / lambda in rounds with w* in the ball. Arguments: as of ``lemma_5_4``."""
    return _instantaneous(lemma_5_4_printed.statement, run, root, curvature, span, 2.0)


def _squares(
    of: Statement, run: Replay, root: Tensor, span: float, formula: str, bound: Any
) -> Check:
    """sum r_t^2 of the trials with w* in all balls, R, against a bound, R x 1."""
    inside, trivial = _inside(run, root).all(1).numpy(), span**2 * run.rounds
    total = np.where(inside, run.gaps.square().sum(1).numpy(), 0.0)
    inputs = run.inputs | {"trials with w* inside": int(inside.sum())}
    check = of.check(formula, inputs, total, np.ravel(bound))
    return unless(bool((inside & (check.bound < trivial)).any()), check)


@statement("Lemma 5.5", f"{PAPER}, Lemma 5.5, corrected")
def lemma_5_5(run: Replay, root: Tensor, slope: Any, curvature: float, span: float) -> Check:
    """sum r_t^2 <= 8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2 in trials with w* in all balls (E4, E12).

    Flags what "Lemma 5.4" flags. Vacuous where the bound is nowhere below the largest sum.

    Args:
        slope: C_g, a number or R x 1.
        run, root, curvature, span: as of ``lemma_5_4``.
    """
    beta, ridge = column(root.square().amax(1)), column(run.ridge)
    first = 8 * beta * stretch(column(slope) ** 2 / ridge) * column(run.along.growth[:, -1])
    bound = first + 2 * (beta * curvature / ridge) ** 2 * run.rounds
    formula = "sum r_t^2 <= 8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2"
    return _squares(lemma_5_5.statement, run, root, span, formula, bound)


@statement("Lemma 5.5, printed", f"{PAPER}, Lemma 5.5")
def lemma_5_5_printed(
    run: Replay, root: Tensor, slope: Any, curvature: float, span: float
) -> Check:
    """sum r_t^2 <= 16 beta_T dw ln(1 + T C_g^2 / (dw lambda)) + 8 beta_T^2 C_h^2 T / lambda^2; its step is "Elliptical potential, printed".

    Arguments: as of ``lemma_5_5``.
    """
    beta, ridge = column(root.square().amax(1)), column(run.ridge)
    bound = 16 * beta * potential_bound(run, slope)[:, -1:]
    bound = bound + 8 * (beta * curvature / ridge) ** 2 * run.rounds
    formula = (
        "sum r_t^2 <= 16 beta_T dw ln(1 + T C_g^2 / (dw lambda)) + 8 beta_T^2 C_h^2 T / lambda^2"
    )
    return _squares(lemma_5_5_printed.statement, run, root, span, formula, bound)
