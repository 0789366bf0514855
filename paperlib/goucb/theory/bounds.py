"""Assumptions, guarantees of Phase I and theorems of the paper, each a function that returns a ``Check``.

The lemmas of the proofs are in ``companion.goucb.proofs``. Where a bound is no less than what holds without it nothing could
break it, and the check is ``checks.Vacuous``. Printed bounds have a universal constant
that the paper does not give; with 1 for it they are reported, not judged.
Source: Liu & Wang (2023).
Letters: as in ``constants``; R trials, N parameter vectors, M points.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ... import stats
from ...checks import ByConstruction, Check, Expected, Reported, statement, unless
from ..model.network import TwoLayerNet
from . import constants as theory
from . import printed, vacuity
from .constants import PAPER, ROUNDING, Constants
from .growth import Risk
from .landscape import Landscape
from .replay import Replay

LEVEL = 0.98  # two-sided, 99 % on each side

# Assumptions ----------------------------------------------------------------------------------------------


@statement("Assumption 3.1", f"{PAPER}, Assumption 3.1")
def assumption_3_1(values: Any, run: Replay, lo: float, hi: float) -> Check:
    """f(x_t) = f_{x_t}(w*) with w* in W.

    Flags a function that the family does not hold.

    Args:
        values: f(x_t) by the problem, R x T.
        lo, hi: W = [lo, hi]^dw.
    """
    off = np.abs(np.asarray(values, float) - run.true.numpy())
    outside = torch.maximum(lo - run.truth, run.truth - hi).amax(1, keepdim=True).numpy()
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
        w: parameters of W, N x dw.
        x: points, M x d.
        c: its F, C_g and C_h.
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


@statement("Assumption 3.2, where the estimates are", "ours, what the proofs need")
def assumption_3_2_along(run: Replay, slope: float, curvature: float) -> Check:
    """The bounds on the network between w* and the estimates, which leave W, are at most C_g and C_h (E5).

    Flags the constants of W, on which the paper assumes them.
    """
    formula, inputs = "C_g, C_h of |w2| along the run", {"C_g": slope, "C_h": curvature}
    found = torch.cat([run.slope, run.curvature], 1)
    return assumption_3_2_along.statement.check(formula, inputs, found, [slope, curvature])


@statement("Assumption 3.3, growth", f"{PAPER}, Assumption 3.3")
def growth_condition(risk: Risk, growth: float, w: Any, nearest: bool = False) -> Check:
    """(mu / 2) ||w - w*||^2 <= L(w) on W, the first of two branches; holds by construction for the mu of ``Risk.on_box``.

    That mu is the least 2 L(w) / ||w - w*||^2 that a search over W finds. Flags a mu that is local, and any mu where W has two
    parameters of one function (E10).

    Args:
        risk: L.
        growth: mu.
        w: parameters of W, N x dw.
        nearest: whether w* is the nearest of the parameters of f in W, not one of them for all.
    """
    w = np.asarray(w, float)
    stars = risk.stars if nearest else risk.stars[:1]
    far2 = ((w[:, None] - stars) ** 2).sum(2).min(1)
    formula, inputs = "(mu / 2) ||w - w*||^2 <= L(w)", {"mu": growth, "parameters of f": len(stars)}
    bound = risk.value(w) + 1e-12
    kind = ByConstruction if nearest and growth <= risk.on_box.mu else Check
    return growth_condition.statement.check(formula, inputs, growth / 2 * far2, bound, kind=kind)


@statement("Assumption 3.3, self-concordance", f"{PAPER}, Assumption 3.3")
def self_concordance(risk: Risk, c: float) -> Check:
    """(1 - c)^2 H <= Hess L(w) <= (1 - c)^{-2} H for ||w - w*||_H <= c: by eigenvalues relative to H, at such w.

    Fails on references A and B for every c that was tried (E8). The proofs do not need it (E9).
    """
    found = risk.relative(risk.around(c))
    formula, ends = "(1 - c)^2 <= eigenvalues <= (1 - c)^{-2}", [-((1 - c) ** 2), (1 - c) ** -2]
    return self_concordance.statement.check(formula, {"c": c}, found * [-1.0, 1.0], ends)


@statement("Figure 1", f"{PAPER}, Figure 1 and Assumption 3.3")
def figure_1(landscape: Landscape, w: Any) -> Check:
    """min{(mu / 2) |v|^2, (tau / 2) |v|^gamma} <= L(w), v = w - w*. ``w``: in [0, 1], any shape."""
    inputs = {"mu": landscape.mu, "tau": landscape.tau, "gamma": landscape.gamma}
    formula = "min{(mu / 2) v^2, (tau / 2) |v|^gamma} <= L"
    return figure_1.statement.check(formula, inputs, landscape.lower(w), landscape.risk(w))


# Phase I --------------------------------------------------------------------------------------------------


@statement("Eq. (2), oracle", f"{PAPER}, (2)")
def oracle(found: Any, at_truth: Any) -> Check:
    """sum (f_{w_0}(x_i) - y_i)^2 <= sum (f_{w*}(x_i) - y_i)^2, which is all that Lemma 5.1 as corrected uses of w_0.

    Flags a fit that ends in a worse minimum, or does not move.

    Args:
        found: squared error of w_0, R.
        at_truth: of w*, R.
    """
    formula, bound = "squared error of w_0 <= that of w*", np.asarray(at_truth, float) + 1e-10
    return oracle.statement.check(formula, {"trials": len(bound)}, found, bound)


@statement("Lemma 5.1", f"{PAPER}, Lemma 5.1, with sigma and all constants")
def lemma_5_1(risk: Any, n: int, c: Constants) -> Check:
    """With probability 1 - delta / 2, E (f_x(w_0) - f_x(w*))^2 <= B_L (E6, E7).

    Vacuous where B_L is 4 F^2 or more. ``risk``: of w_0, R.
    """
    bound, most = theory.risk_bound(c, n), vacuity.trivial_risk(c)
    first = vacuity.risk_informs_from(c)
    rest = {"trivial": most, "informative_from": first}
    inputs = {"n": n, "dw": c.parameters, "F": c.value, "sigma": c.noise}
    check = lemma_5_1.statement.check("L(w_0) <= B_L", inputs, risk, bound, c.delta / 2, **rest)
    return unless(bound < most, check)


@statement("Lemma 5.1, printed", f"{PAPER}, Lemma 5.1, with constant 1")
def lemma_5_1_printed(risk: Any, n: int, c: Constants) -> Check:
    """L(w_0) <= dw F^2 iota / n: reported, not judged. ``risk``: of w_0, R."""
    formula, of = "L(w_0) <= dw F^2 iota / n", lemma_5_1_printed.statement
    return of.check(formula, {"n": n}, risk, printed.risk(c, n), c.delta / 2, kind=Reported)


@statement("Theorem 5.2", f"{PAPER}, Theorem 5.2, with all constants")
def theorem_5_2(far2: Any, n: int, c: Constants) -> Check:
    """With probability 1 - delta / 2, ||w_0 - w*||^2 <= 2 B_L / mu, by Lemma 5.1 and growth alone (E9).

    Vacuous where the bound is the diameter of W or more. ``far2``: R.
    """
    bound, first = theory.start_bound(c, n), vacuity.start_informs_from(c)
    rest = {"trivial": c.diameter2, "informative_from": first}
    formula, inputs = "||w_0 - w*||^2 <= 2 B_L / mu", {"n": n, "mu": c.growth}
    check = theorem_5_2.statement.check(formula, inputs, far2, bound, c.delta / 2, **rest)
    return unless(bound < c.diameter2, check)


@statement("Theorem 5.2, printed", f"{PAPER}, Theorem 5.2, with constant 1")
def theorem_5_2_printed(far2: Any, n: int, c: Constants) -> Check:
    """||w_0 - w*||^2 <= dw F^2 iota / (mu n): reported, not judged. ``far2``: R."""
    formula, of = "||w_0 - w*||^2 <= dw F^2 iota / (mu n)", theorem_5_2_printed.statement
    return of.check(formula, {"n": n}, far2, printed.start(c, n), c.delta / 2, kind=Reported)


@statement("Condition (8)", f"{PAPER}, (8), with constant 1")
def condition_8(c: Constants, T: int, zeta: float, radius: float = 0.5) -> Check:
    """dw^2 F^4 iota^2 max{...}^2 < T for n = sqrt(T): reported, not judged, because the paper's constant is not given.

    The maximum contains zeta / (mu c^2), and no c passes "Assumption 3.3, self-concordance" on references A and B.

    Args:
        c: constants.
        T: rounds of Phase II.
        zeta: largest eigenvalue of Hess L(w*).
        radius: c of self-concordance.
    """
    least = printed.horizon(c, vacuity.first_phase(T), zeta, radius)
    first = vacuity.condition_from(c, zeta, radius)
    inputs = {"T": T, "zeta": zeta, "c": radius, "least T": first}
    formula, of = "dw^2 F^4 iota^2 max{...}^2 < T", condition_8.statement
    return of.check(formula, inputs, least, T, kind=Reported)


@statement("Remark 4.4", f"{PAPER}, Remark 4.4")
def remark_4_4(regret: Any, n: int, value: float) -> Check:
    """The regret of Phase I is at most 2 F n, which is 2 F sqrt(T) for n = sqrt(T).

    Flags regret that counts rounds twice. That w_0 is near w* is "Theorem 5.2", and what it asks of T is "Condition (8)".

    Args:
        regret: of Phase I, R.
        n: rounds of Phase I.
        value: F.
    """
    return remark_4_4.statement.check("R_n <= 2 F n", {"n": n, "F": value}, regret, 2 * value * n)


# Regret ---------------------------------------------------------------------------------------------------


@statement("Theorem 4.1, sum", f"{PAPER}, proof of Theorem 4.1")
def square_sum(regret: Any, run: Replay, n: int, value: float) -> Check:
    """R_{n + T} <= 2 F n + sqrt(T sum r_t^2): a step of the proof.

    Flags regret that counts rounds twice or f beyond F.

    Args:
        regret: of both phases, R.
        run: Phase II.
        n: rounds of Phase I.
        value: F.
    """
    bound = 2 * value * n + (run.rounds * run.gaps.square().sum(1)).sqrt()
    formula = "R_{n + T} <= 2 F n + sqrt(T sum r_t^2)"
    return square_sum.statement.check(formula, run.inputs | {"n": n}, regret, bound)


@statement("Theorem 4.1", f"{PAPER}, Theorem 4.1, with all constants")
def theorem_4_1(regret: Any, n: int, T: int, c: Constants) -> Check:
    """With probability 1 - delta, R_{n + T} <= 2 F n + sqrt(T (8 beta_T kappa_K l_T + 2 beta_T^2 C_h^2 T / lambda^2)), with lambda and beta_T of Lemma 5.3.

    Vacuous where the bound is 2 F (n + T) or more. ``regret``: of both phases, R.
    """
    bound, most = theory.regret_bound(c, n, T), vacuity.trivial_regret(c, n, T)
    first = vacuity.regret_informs_from(c)
    rest = {"trivial": most, "informative_from": first}
    formula = "R_{n + T} <= 2 F n + sqrt(T sum r_t^2), sum r_t^2 by Lemma 5.5"
    check = theorem_4_1.statement.check(formula, {"n": n, "T": T}, regret, bound, c.delta, **rest)
    return unless(bound < most, check)


@statement("Theorem 4.1, printed", f"{PAPER}, Theorem 4.1, with constant 1 and C_lambda = 1")
def theorem_4_1_printed(regret: Any, T: int, c: Constants) -> Check:
    """R <= sqrt(T) F + sqrt(T beta_T dw + T beta_T^2 / lambda^2) with beta_T of (7) and lambda = sqrt(T): reported, not judged (E2). ``regret``: R."""
    bound = printed.regret(c, T, printed.beta_order(c, T, T), T**0.5)
    formula = "R <= sqrt(T) F + sqrt(T beta_T dw + T beta_T^2 / lambda^2)"
    of = theorem_4_1_printed.statement
    return of.check(formula, {"T": T}, regret, bound, c.delta, kind=Reported)


@statement("Remark 4.2", f"{PAPER}, Remark 4.2")
def remark_4_2(run: Replay, best: float) -> Check:
    """The expected gap of a query drawn uniformly from Phase II is sum r_t / T, and no r_t is below 0.

    Flags f* that is no maximum, and rounds that are lost.

    ``best``: f*.
    """
    gaps = best - run.true
    off = (run.gaps.mean(1) - gaps.mean(1)).abs()
    return remark_4_2.statement.check(
        "|E[f* - f(x^)] - sum r_t / T| <= 1e-8, r_t >= -1e-8",
        run.inputs,
        torch.cat([off.unsqueeze(1), -gaps], 1),
        ROUNDING,
    )


@statement("Remark 4.3", f"{PAPER}, Remark 4.3; the inequality is ours, from (4)")
def remark_4_3(run: Replay) -> Check:
    """||w_t - w_0||^2 <= sum_{i < t} e_i^2 / lambda, in which e_i is the error of the linear model of query i at w_0.

    It follows from (4) for every lambda > 0, because w_t minimizes (4) and the ridge is centered at w_0. It flags a ridge that is
    centered elsewhere. It does not test whether lambda of order sqrt(T) is needed, as the remark says.
    """
    moved = run.w - run.w[:, :1]
    error = run.y - run.value + (run.g * moved[:, :-1]).sum(2)
    bound = error.square().cumsum(1) / run.ridge.view(-1, 1) + ROUNDING
    formula = "||w_t - w_0||^2 <= sum_{i < t} e_i^2 / lambda"
    return remark_4_3.statement.check(formula, run.inputs, moved[:, 1:].square().sum(2), bound)


@statement("Remark 4.2, no regret", f"{PAPER}, Remark 4.2")
def exponent(regret: Any, horizons: Sequence[int]) -> Check:
    """Regret of Phase II grows slower than T: the 98 % interval of the slope of its ln E in ln T, by bootstrap over trials, lies below 1.

    Flags a learner that never learns, which the regret of both phases hides: with n = sqrt(T) points of Phase I its slope is below 1, too.
    That the slope is 1/2 is not to be seen at horizons that can be run.

    Args:
        regret: of Phase II, R x T', a column a horizon, each a run of its own; its means above 0.
        horizons: T', at least 4, increasing.

    Raises:
        ValueError: fewer than 4 horizons, or another number of columns.
    """
    regret, T = np.asarray(regret, float), [int(t) for t in horizons]
    if len(T) < 4 or regret.ndim != 2 or regret.shape[1] != len(T):
        raise ValueError(
            f"regret: shape {regret.shape}, {len(T)} horizons; allowed: R x T', a column for each of 4 horizons or more"
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
