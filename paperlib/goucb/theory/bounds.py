"""Assumptions, guarantees of Phase I and theorems of the paper. Each is a function that returns a ``Check``.

The lemmas of the proofs, Assumption 3.3 on the reference problems and the bounds as stated in the paper are in
``companion.goucb.proofs``. If a bound is not below the trivial bound, no observation could violate it, and the check is
``checks.Vacuous``.
Source: Liu & Wang (2023).
Letters: as in ``constants``; R trials, N parameter vectors, M points.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ... import stats
from ...checks import Check, Expected, Statement, statement, vacuous_unless
from ..model.network import TwoLayerNet
from . import constants as theory
from .constants import PAPER, Constants

LEVEL = 0.98  # two-sided, 99 % on each side


def _judged(
    of: Statement,
    formula: str,
    inputs: dict[str, Any],
    observed: Any,
    bound: float,
    delta: float,
    trivial: float,
    first: int | None,
) -> Check:
    """Return the check; it is vacuous if the bound is not below the trivial one. ``first``: the value from which on it is below."""
    more = {"trivial": trivial, "informative_from": first}
    return vacuous_unless(
        bound < trivial, of.check(formula, inputs, observed, bound, delta, **more)
    )


# Assumptions ----------------------------------------------------------------------------------------------


@statement("Assumption 3.1", f"{PAPER}, Assumption 3.1")
def assumption_3_1(values: Any, fitted: Any, truth: Tensor, lo: float, hi: float) -> Check:
    """f(x_t) = f_{x_t}(w*) with w* in W.

    Detects a function outside the model family.

    Args:
        values: f(x_t) evaluated by the problem, R x T.
        fitted: f_{x_t}(w*), R x T.
        truth: w*, R x dw.
        lo, hi: W = [lo, hi]^dw.
    """
    off = np.abs(np.asarray(values, float) - np.asarray(fitted, float))
    outside = torch.maximum(lo - truth, truth - hi).amax(1, keepdim=True).numpy()
    return assumption_3_1.statement.check(
        "|f(x_t) - f_{x_t}(w*)| <= 1e-12, lo <= w* <= hi",
        {"lo": lo, "hi": hi},
        np.concatenate([off, outside], 1),
        np.concatenate([np.full_like(off, 1e-12), np.zeros_like(outside)], 1),
    )


@statement("Assumption 3.2", f"{PAPER}, Assumption 3.2")
def assumption_3_2(model: TwoLayerNet, w: Tensor, x: Tensor, c: Constants) -> Check:
    """|f_x(w)| <= F, ||grad f_x(w)|| <= C_g and ||Hess f_x(w)|| <= C_h on W.

    Args:
        model: the network.
        w: parameters in W, N x dw.
        x: points, M x d.
        c: constants; F, C_g and C_h are checked.
    """
    x = x.unsqueeze(0).expand(len(w), -1, -1)
    slope = model.gradient(model.features(w, x)).square().sum(2).sqrt()
    curvature = torch.linalg.eigvalsh(model.hessian(w, x)).abs().amax(2)
    return assumption_3_2.statement.check(
        "|f| <= F, ||grad f|| <= C_g, ||Hess f|| <= C_h",
        {"F": c.value, "C_g": c.slope, "C_h": c.curvature},
        torch.stack([model.value(w, x).abs(), slope, curvature], 2),
        [c.value, c.slope, c.curvature],
    )


# Phase I --------------------------------------------------------------------------------------------------


@statement("Lemma 5.1", f"{PAPER}, Lemma 5.1, with sigma and all constants")
def lemma_5_1(risk: Any, n: int, c: Constants) -> Check:
    """With probability 1 - delta / 2, E (f_x(w_0) - f_x(w*))^2 <= B_L (E6, E7).

    The check is vacuous if B_L is 4 F^2 or more. ``risk``: risk of w_0, R.
    """
    return _judged(
        lemma_5_1.statement,
        "L(w_0) <= B_L",
        {"n": n, "dw": c.parameters, "F": c.value, "sigma": c.noise},
        risk,
        theory.risk_bound(c, n),
        c.delta / 2,
        theory.trivial_risk(c),
        theory.risk_informs_from(c),
    )


@statement("Theorem 5.2", f"{PAPER}, Theorem 5.2, with all constants")
def theorem_5_2(far2: Any, n: int, c: Constants) -> Check:
    """With probability 1 - delta / 2, ||w_0 - w*||^2 <= 2 B_L / mu, by Lemma 5.1 and growth alone (E9).

    The check is vacuous if the bound is at least the squared diameter of W. ``far2``: ||w_0 - w*||^2, R.
    """
    return _judged(
        theorem_5_2.statement,
        "||w_0 - w*||^2 <= 2 B_L / mu",
        {"n": n, "mu": c.growth},
        far2,
        theory.start_bound(c, n),
        c.delta / 2,
        c.diameter2,
        theory.start_informs_from(c),
    )


@statement("Remark 4.4", f"{PAPER}, Remark 4.4")
def remark_4_4(regret: Any, n: int, value: float) -> Check:
    """The regret of Phase I is at most 2 F n, which is 2 F sqrt(T) for n = sqrt(T).

    Detects regret that counts rounds twice. "Theorem 5.2" checks the distance of w_0 from w*, and "Condition (8)" the required T.

    Args:
        regret: regret of Phase I, R.
        n: rounds of Phase I.
        value: F.
    """
    return remark_4_4.statement.check("R_n <= 2 F n", {"n": n, "F": value}, regret, 2 * value * n)


# Regret ---------------------------------------------------------------------------------------------------


@statement("Theorem 4.1", f"{PAPER}, Theorem 4.1, with all constants")
def theorem_4_1(regret: Any, n: int, T: int, c: Constants) -> Check:
    """With probability 1 - delta, R_{n + T} <= 2 F n + sqrt(T (8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2)), with lambda and beta_T of Lemma 5.3.

    The check is vacuous if the bound is 2 F (n + T) or more. ``regret``: regret of both phases, R.
    """
    return _judged(
        theorem_4_1.statement,
        "R_{n + T} <= 2 F n + sqrt(T sum r_t^2), sum r_t^2 by Lemma 5.5",
        {"n": n, "T": T},
        regret,
        theory.regret_bound(c, n, T),
        c.delta,
        theory.trivial_regret(c, n, T),
        theory.regret_informs_from(c),
    )


@statement("Remark 4.2, no regret", f"ours, after {PAPER}, Remark 4.2")
def exponent(regret: Any, horizons: Sequence[int]) -> Check:
    """Regret of Phase II grows slower than T: the 98 % bootstrap interval (over trials) of the slope of ln E[regret] in ln T lies below 1.

    Detects a learner that never learns. The regret of both phases would hide it: with n = sqrt(T) points of Phase I its slope is below 1, too.
    The check does not test whether the slope is 1/2, because this cannot be observed at feasible horizons.

    Args:
        regret: regret of Phase II, R x T', one column per horizon, each from a separate run; the column means must be above 0.
        horizons: T', at least 4, increasing.

    Raises:
        ValueError: fewer than 4 horizons, or another number of columns.
    """
    regret, T = np.asarray(regret, float), [int(t) for t in horizons]
    if len(T) < 4 or regret.ndim != 2 or regret.shape[1] != len(T):
        raise ValueError(
            f"regret must have one column for each of at least 4 horizons, got shape {regret.shape} with {len(T)} horizons"
        )
    found = stats.growth(T, regret, T[0], level=LEVEL)
    return exponent.statement.check(
        "slope of ln E sum r_t in ln T < 1",
        {"T": T, "slope": found.estimate, "trials": found.n},
        found.high,
        np.nextafter(1.0, 0.0),
        kind=Expected,
        lower=found.low,
        tolerance=0.0,
    )
