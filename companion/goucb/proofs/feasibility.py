"""Statements about the balls of Phase II: they contain w* (Lemma 5.3), and the consequences for regret (Lemmas 5.4 and 5.5).

The radius sqrt(beta_t) is the learner's.
Source: Liu & Wang (2023).
Letters: as in ``lemmas``; r_t = f* - f(x_t).
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check, Statement, statement, vacuous_unless
from paperlib.goucb.theory import constants
from paperlib.goucb.theory.constants import PAPER, ROUNDING, Constants, Proof

from .lemmas import potential_bound
from .phase_2 import Replay

# Lemma 5.3 ------------------------------------------------------------------------------------------------


@statement("Lemma 5.3, identity (13)", f"{PAPER}, proof of Lemma 5.3, (13)")
def identity_13(run: Replay) -> Check:
    """w_t - w* = Sigma_t^{-1} (sum g_i rho_i + sum g_i eta_i + lambda (w_0 - w*)), up to 1e-8.

    Detects the errors that "Eq. (5), estimate" detects, and noise that did not reach the learner.
    """
    return identity_13.statement.check(
        "||w_t - w* - Sigma_t^{-1} (...)|| <= 1e-8",
        run.inputs,
        torch.linalg.vector_norm(run.apart - run.along.identity, dim=2),
        ROUNDING,
    )


@statement("Lemma 5.3, Taylor", f"{PAPER}, proof of Lemma 5.3")
def remainder(run: Replay, curvature: float) -> Check:
    """|rho_i| <= C_h / 2 ||w_i - w*||^2.

    Detects a C_h that is invalid at some of the estimates (E5), and wrong gradients. ``curvature``: C_h.
    """
    return remainder.statement.check(
        "|rho_i| <= C_h / 2 ||w_i - w*||^2",
        run.inputs | {"C_h": curvature},
        run.rho.abs(),
        curvature / 2 * run.distance2[:, :-1] + 1e-12,
    )


@statement(
    "Lemma 5.3",
    f"{PAPER}, Lemma 5.3; in the runs the radius is the smallest that its proof gives, computed from the known w*",
)
def containment(run: Replay, delta: float, most: Any = math.inf) -> Check:
    """With probability 1 - delta, w* lies in all balls: ||w_t - w*||^2_{Sigma_t} <= beta_t.

    The check is vacuous if the balls contain all of W.

    Args:
        run: Phase II, with the learner's sqrt(beta_t).
        delta: failure probability.
        most: ||v - w_t||_{Sigma_t} of the farthest v in W, R x T, see ``Replay.far_corner2``.
    """
    check = containment.statement.check(
        "||w_t - w*||_{Sigma_t} <= sqrt(beta_t)",
        run.inputs,
        run.along.far2[:, :-1].sqrt(),
        run.radius,
        delta,
    )
    return vacuous_unless(bool((check.bound < np.asarray(most)).any()), check)


@statement("Lemma 5.3, localization", f"{PAPER}, proof of Lemma 5.3, with all constants")
def localization(run: Replay, c: Constants, p: Proof) -> Check:
    """With probability 1 - delta, ||w_t - w*|| <= R in all rounds, where lambda >= (3 / 2) C_h^2 R^2 T S.

    The check is vacuous if R is at least the diameter of W.

    Raises:
        ValueError: the run's lambda is below the lambda of ``p``.
    """
    if run.ridge < p.ridge * (1 - ROUNDING):
        raise ValueError(
            f"ridge must be at least {p.ridge}, because the proof covers only such values, got {run.ridge}"
        )
    check = localization.statement.check(
        "||w_t - w*||^2 <= R^2",
        run.inputs | {"R^2": p.far2, "beta_T": p.beta},
        run.distance2,
        p.far2,
        c.delta,
    )
    return vacuous_unless(p.far2 < c.diameter2, check)


@statement("Functional containment", "ours, from Lemma 5.3 and Taylor's theorem")
def functional(
    run: Replay, x: Tensor, rounds: Any, curvature: float, value: float, delta: float
) -> Check:
    """With probability 1 - delta: |f_x(w*) - f_x(w_t)| <= sqrt(beta_t) u_t(x) + beta_t C_h / (2 lambda) for all x.

    This is the consequence of Lemma 5.3 for f, and holds for each of the equivalent parameters w*. The check is vacuous if the bound is
    nowhere below 2 F.

    Args:
        run: Phase II, with the learner's sqrt(beta_t).
        x: the tested points, N x d.
        rounds: the tested t.
        curvature: C_h.
        value: F.
        delta: failure probability.
    """
    found, bound, x = [], [], x.unsqueeze(0)
    true = run.model.value(run.truth, x.expand(len(run.w), -1, -1))
    for t in rounds:
        center, bonus = run.surface(t, x)
        found.append((true - center).abs())
        bound.append(bonus + run.radius[:, t : t + 1].square() * curvature / (2 * run.ridge))
    check = functional.statement.check(
        "|f_x(w*) - f_x(w_t)| <= sqrt(beta_t) u_t(x) + beta_t C_h / (2 lambda)",
        run.inputs | {"points": x.shape[1], "rounds": list(rounds)},
        torch.stack(found, 2),
        torch.stack(bound, 2),
        delta,
    )
    return vacuous_unless(bool((check.bound < 2 * value).any()), check)


# Lemmas 5.4 and 5.5 ---------------------------------------------------------------------------------------


def _inside(run: Replay) -> Tensor:
    """Return whether w* lies in the ball of the round, R x T."""
    return run.along.far2[:, :-1].sqrt() <= run.radius


def _instantaneous(
    of: Statement, run: Replay, curvature: float, span: float, factor: float
) -> Check:
    """Compare r_t, in rounds with w* in the ball, R x T, with 2 sqrt(beta_t) u_t plus ``factor`` times the remainder."""
    inside, beta = _inside(run), run.radius.square()
    bound = 2 * run.radius * run.along.u2.sqrt() + factor * beta * curvature / run.ridge
    check = of.check(
        f"r_t <= 2 sqrt(beta_t) u_t + {factor:g} beta_t C_h / lambda",
        run.inputs | {"C_h": curvature, "share with w* inside": float(inside.double().mean())},
        torch.where(inside, run.gaps, torch.zeros_like(run.gaps)),
        bound,
    )
    return vacuous_unless(bool((inside & (bound < span)).any()), check)


@statement("Lemma 5.4", f"{PAPER}, Lemma 5.4, with half the remainder")
def lemma_5_4(run: Replay, curvature: float, span: float) -> Check:
    """r_t <= 2 sqrt(beta_t) u_t + beta_t C_h / lambda in rounds with w* in the ball (E12), for the linearized acquisition, too.

    Detects points that do not maximize the acquisition. The check is vacuous if the bound is nowhere below the largest regret.

    Args:
        run: Phase II, with the learner's sqrt(beta_t).
        curvature: C_h.
        span: the largest regret of a round, max f - min f.
    """
    return _instantaneous(lemma_5_4.statement, run, curvature, span, 1.0)


@statement("Lemma 5.4, printed", f"{PAPER}, Lemma 5.4")
def lemma_5_4_printed(run: Replay, curvature: float, span: float) -> Check:
    """r_t <= 2 sqrt(beta_t) u_t + 2 beta_t C_h / lambda in rounds with w* in the ball.

    Arguments: as in ``lemma_5_4``.
    """
    return _instantaneous(lemma_5_4_printed.statement, run, curvature, span, 2.0)


def _squares(of: Statement, run: Replay, span: float, formula: str, bound: Any) -> Check:
    """Compare sum r_t^2, in trials with w* in all balls, R, with a bound, R."""
    inside, trivial = _inside(run).all(1).numpy(), span**2 * run.rounds
    total = np.where(inside, run.gaps.square().sum(1).numpy(), 0.0)
    inputs = run.inputs | {"trials with w* inside": int(inside.sum())}
    check = of.check(formula, inputs, total, bound)
    return vacuous_unless(bool((inside & (check.bound < trivial)).any()), check)


@statement("Lemma 5.5", f"{PAPER}, Lemma 5.5, corrected")
def lemma_5_5(run: Replay, slope: float, curvature: float, span: float) -> Check:
    """sum r_t^2 <= 8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2 in trials with w* in all balls (E4, E12).

    Detects the errors that "Lemma 5.4" detects. The check is vacuous if the bound is nowhere below the largest possible sum.

    Args:
        slope: C_g.
        run, curvature, span: as in ``lemma_5_4``.
    """
    beta, growth = run.radius.square().amax(1).numpy(), run.along.growth[:, -1].numpy()
    bound = constants.square_sum(slope, curvature, run.rounds, beta, run.ridge, growth)
    formula = "sum r_t^2 <= 8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2"
    return _squares(lemma_5_5.statement, run, span, formula, bound)


@statement("Lemma 5.5, printed", f"{PAPER}, Lemma 5.5")
def lemma_5_5_printed(run: Replay, slope: float, curvature: float, span: float) -> Check:
    """sum r_t^2 <= 16 beta_T dw ln(1 + T C_g^2 / (dw lambda)) + 8 beta_T^2 C_h^2 T / lambda^2; its step is "Elliptical potential, printed".

    Arguments: as in ``lemma_5_5``.
    """
    beta = run.radius.square().amax(1).numpy()
    bound = 16 * beta * potential_bound(run, slope)[0, -1]
    bound = bound + 8 * (beta * curvature / run.ridge) ** 2 * run.rounds
    formula = (
        "sum r_t^2 <= 16 beta_T dw ln(1 + T C_g^2 / (dw lambda)) + 8 beta_T^2 C_h^2 T / lambda^2"
    )
    return _squares(lemma_5_5_printed.statement, run, span, formula, bound)
